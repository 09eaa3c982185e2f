//! The program: arguments in, exit code out. What a verb does is in `pos_agent::cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    pos_agent::cli::run(std::env::args_os().collect()).into()
}
