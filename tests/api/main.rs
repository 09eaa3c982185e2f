//! The interface for tills judged by programs that nobody here wrote.
//!
//! | | what it shows |
//! |---|---|
//! | `described` | every answer is as the description says, whatever is asked |
//! | `schemathesis` | what the program that asks has to know beside the description |
//!
//! They need Python's packages, so a plain `cargo test` leaves them out and says so; `.ci/run` installs them and runs
//! them (lap "the interface as described"), where their absence is a failure.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::program;

mod described;
