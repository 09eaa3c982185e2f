//! `pos-docs` writes the files that the packages contain in addition to the programs. Man pages and shell completions
//! come from the programs' command line definitions. The licences cover everything that is built into a package's
//! programs. The tables of the manual are made from the agent. `packages/build` runs `pos-docs`, which is
//! never installed on a board.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use pos_agent::till::http::description;
use serde_json::Value;

mod examples;
/// The command line of the fleet's server is included from its source file, because it has no library.
#[path = "../../fleet/src/arguments.rs"]
#[allow(dead_code, reason = "what is typed there is read by the fleet's server alone")]
mod fleet_arguments;
mod front_interface;
mod licences;
mod man;
mod manual;
/// The same for the uplink.
#[path = "../../uplink/src/arguments.rs"]
#[allow(dead_code, reason = "what is typed there is read by the uplink alone")]
mod uplink_arguments;

/// Man pages, shell completions and licences of the programs, for their packages.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    work: Work,
}

#[derive(Subcommand)]
enum Work {
    /// Write a man page for each program and each of its verbs, and one for the configuration
    Man {
        /// The folder for the pages
        folder: PathBuf,
    },
    /// Write completions for bash, zsh and fish
    Completions {
        /// The folder for the completions
        folder: PathBuf,
    },
    /// Write the licences of all packages that are built into the programs
    Licences {
        /// The target, for example `armv7-unknown-linux-gnueabihf`
        target: String,
        /// The file to write
        file: PathBuf,
        /// The programs
        #[arg(default_values = ["pos-agent", "pos-front"])]
        programs: Vec<String>,
    },
    /// Update the tables in the manual's pages
    Manual {
        /// The folder with the pages
        folder: PathBuf,
        /// Write nothing, and fail if a table does not match the program
        #[arg(long)]
        check: bool,
    },
    /// Write the description of the whole interface, of the agent and the front, which a release contains
    Interface {
        /// The file to write
        file: PathBuf,
        /// Write nothing, and fail if the file does not match the program
        #[arg(long)]
        check: bool,
    },
    /// Write the description of the agent's interface (OpenAPI 3.1), which the agent serves
    Openapi {
        /// The file to write
        file: PathBuf,
        /// Write nothing, and fail if the file does not match the program
        #[arg(long)]
        check: bool,
    },
}

fn main() -> ExitCode {
    let done: Result<(), Box<dyn Error>> = match Cli::parse().work {
        Work::Man { folder } => man::write(&folder),
        Work::Completions { folder } => completions(&folder).map_err(Into::into),
        Work::Licences { target, file, programs } => licences::write(&target, &file, &programs).map_err(Into::into),
        Work::Manual { folder, check } => manual::update(&folder, check),
        Work::Interface { file, check } => openapi(&front_interface::complete(description::document()), &file, check),
        Work::Openapi { file, check } => openapi(&description::document(), &file, check),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[allow(clippy::print_stderr, reason = "a program speaks to a person")]
            {
                eprintln!("pos-docs: {error}");
            }
            ExitCode::FAILURE
        }
    }
}

/// Writes the description with one path per line. This makes it readable, and the agent that serves it hardly larger.
fn openapi(document: &Value, file: &Path, check: bool) -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    write_open(&mut text, document, 3);
    text.push('\n');
    if fs::read_to_string(file).is_ok_and(|written| written == text) {
        return Ok(());
    }
    if check {
        let file = file.display();
        let verb = if document["paths"]["/front/pair"].is_null() { "openapi" } else { "interface" };
        let run = format!("cargo run --package pos-docs -- {verb} {file}");
        return Err(format!("{file}: does not match the program; run: {run}").into());
    }
    Ok(fs::write(file, text)?)
}

/// Writes JSON with one line per member, down to a depth.
fn write_open(text: &mut String, value: &Value, depth: usize) {
    let Some(object) = value.as_object().filter(|object| depth > 0 && !object.is_empty()) else {
        text.push_str(&value.to_string());
        return;
    };
    let mut before = "{\n";
    for (name, member) in object {
        text.push_str(before);
        text.push_str(&format!("{}:", Value::from(name.as_str())));
        write_open(text, member, depth - 1);
        before = ",\n";
    }
    text.push_str("\n}");
}

/// Returns the command lines of all programs.
fn programs() -> [clap::Command; 4] {
    [
        pos_agent::cli::Arguments::command(),
        pos_front::command(),
        uplink_arguments::Arguments::command(),
        fleet_arguments::Arguments::command(),
    ]
}

fn completions(folder: &PathBuf) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for mut command in programs() {
        let name = command.get_name().to_owned();
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            clap_complete::generate_to(shell, &mut command, &name, folder)?;
        }
    }
    Ok(())
}
