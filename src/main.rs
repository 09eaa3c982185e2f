//! The program: arguments in, exit code out. `pos_agent::cli` implements the verbs.

use std::process::ExitCode;

fn main() -> ExitCode {
    pos_agent::cli::run(std::env::args_os().collect()).into()
}
