//! The program, which passes its arguments to `pos_agent::cli` and returns the exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    pos_agent::cli::run(std::env::args_os().collect()).into()
}
