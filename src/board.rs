//! The known boards: the ports of their readers and printers, their udev rules, and the additions to their systemd
//! unit.
//!
//! The boards are compiled into the program. They are small, and so `pos-agent setup` works as soon as the program is
//! copied to the board. A board that is not among them has its own file in the same form, which is given by its path.
//!
//! The module `config` defines the configuration, and `cli::setup` is the command that uses the boards.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// A board in the folder `board/`.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The name of the board's folder.
    pub name: &'static str,
    /// The content of `board.toml`.
    pub text: &'static str,
    /// The content of `README.md`, with the sources of the facts.
    pub readme: &'static str,
    /// The content of `udev.rules`, with stable names for the board's own ports.
    pub rules: &'static str,
    /// The content of `pos-agent.service.d/board.conf`, if the board needs additions to the unit.
    pub unit: Option<&'static str>,
}

macro_rules! known {
    ($name:literal) => {
        known!($name, None)
    };
    ($name:literal with a drop-in) => {
        known!($name, Some(include_str!(concat!("../board/", $name, "/pos-agent.service.d/board.conf"))))
    };
    ($name:literal, $unit:expr) => {
        Known {
            name: $name,
            text: include_str!(concat!("../board/", $name, "/board.toml")),
            readme: include_str!(concat!("../board/", $name, "/README.md")),
            rules: include_str!(concat!("../board/", $name, "/udev.rules")),
            unit: $unit,
        }
    };
}

/// All boards in the folder `board/`, sorted by name.
pub const KNOWN: [Known; 7] = [
    known!("beaglebone-black" with a drop-in),
    known!("generic-aarch64"),
    known!("generic-armv7"),
    known!("imx6ull-evk" with a drop-in),
    known!("qemu-virt"),
    known!("raspberry-pi"),
    known!("stm32mp157-dk2" with a drop-in),
];

/// The facts about a board, from its `board.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Board {
    /// The name for people.
    pub title: String,
    /// The prefixes of `/proc/device-tree/model` that identify the board.
    #[serde(default)]
    pub models: Vec<String>,
    /// True if the program was run on the real board.
    #[serde(default)]
    pub tried_on_hardware: bool,
    /// The ports to check for a reader, the most likely first.
    pub reader_ports: Vec<String>,
    /// The reader's line speed, in baud.
    pub reader_baud: u32,
    /// The ports to check for a printer, the most likely first.
    pub printer_ports: Vec<String>,
    /// The number of characters per line of the printer.
    pub printer_columns: u8,
    /// The driver of the board's hardware watchdog.
    pub watchdog: Option<String>,
    /// The longest time-out of the watchdog, in seconds.
    pub watchdog_longest_s: Option<u32>,
    /// The serial ports of the board, each with its description.
    #[serde(default)]
    pub serial: BTreeMap<String, String>,
}

/// The reason why a board cannot be found or loaded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The list has no board with this name.
    #[error(
        "there is no board {name}; to list the boards, run: pos-agent boards; give your own file with its path, \
        for example ./board.toml"
    )]
    Unknown {
        /// The given name.
        name: String,
    },
    /// The file cannot be read.
    #[error("{}: cannot be read: {cause}; give the path of a board file, or a name from pos-agent boards", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        #[source]
        cause: io::Error,
    },
    /// The file does not describe a board.
    #[error("{file}: {what}; compare the file with the output of pos-agent boards generic-armv7 --file")]
    Malformed {
        /// The file.
        file: String,
        /// The fault, with its position.
        what: String,
    },
}

/// Returns the known board with this name.
///
/// # Errors
/// Returns [`Error::Unknown`].
pub fn known(name: &str) -> Result<&'static Known, Error> {
    KNOWN.iter().find(|known| known.name == name).ok_or_else(|| Error::Unknown { name: name.to_owned() })
}

/// Loads a board by its name, or from a file if the argument contains a `/`.
///
/// # Errors
/// Returns any [`Error`].
pub fn load(name: &str) -> Result<Board, Error> {
    if !name.contains('/') {
        return parse(known(name)?.text, name);
    }
    let unreadable = |cause| Error::Unreadable { file: name.into(), cause };
    parse(&fs::read_to_string(name).map_err(unreadable)?, name)
}

/// Returns the known board that matches this model (`/proc/device-tree/model`).
#[must_use]
pub fn recognised(model: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| {
        let board = known.board();
        board.models.iter().any(|beginning| model.starts_with(beginning.as_str()))
    })
}

/// Returns this board's model from the device tree, or `None` if there is no device tree.
#[must_use]
pub fn model() -> Option<String> {
    let bytes = fs::read(Path::new("/proc/device-tree/model")).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned())
}

impl Known {
    /// Returns the facts about the board.
    ///
    /// # Panics
    /// Never panics, because a test parses each of the files.
    #[must_use]
    pub fn board(&self) -> Board {
        parse(self.text, self.name).expect("tests/rules/boards.rs parses every board")
    }
}

fn parse(text: &str, name: &str) -> Result<Board, Error> {
    toml::from_str(text).map_err(|error| {
        let line =
            text.bytes().take(error.span().map_or(0, |span| span.start)).filter(|byte| *byte == b'\n').count() + 1;
        let what = format!("line {line}: {}", error.message().replace(['\n', '\r'], " "));
        Error::Malformed { file: name.to_owned(), what }
    })
}
