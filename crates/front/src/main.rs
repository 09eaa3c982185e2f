//! The program, which passes its arguments to `pos_front::run` and returns the exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    pos_front::run(std::env::args_os())
}
