//! The interface for tills, checked by third-party programs.
//!
//! | | what it shows |
//! |---|---|
//! | `described` | every answer matches the description, for any request |
//! | `schemathesis` | settings of the checking program that the description does not contain |
//!
//! They need Python packages, so a plain `cargo test` leaves them out and says so. `.ci/run` installs the packages and
//! runs the tests (lap "the interface as described"); there a missing package is a failure.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::program;

mod described;
