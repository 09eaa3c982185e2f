//! The program: arguments in, exit code out. What a verb does is in `pos_agent::cli`.

use std::process::ExitCode;

use clap::Parser;
use pos_agent::cli::{Arguments, Exit};

fn main() -> ExitCode {
    let exit = match Arguments::try_parse() {
        Ok(arguments) => arguments.run(),
        Err(error) => {
            // Nobody is left to tell when the terminal is gone.
            let _ = error.print();
            // `--help` and `--version` are answers, everything else is wrong usage.
            if error.use_stderr() { Exit::Usage } else { Exit::Success }
        }
    };
    exit.into()
}
