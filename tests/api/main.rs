//! The interface for tills, checked by third-party programs.
//!
//! | Part | Subject |
//! |---|---|
//! | `described` | every answer matches the description, for any request |
//! | `schemathesis` | the checking program's settings, which the description does not contain |
//!
//! These tests need Python packages. A plain `cargo test` therefore leaves them out and says so. `.ci/run` installs the
//! packages and runs the tests (lap "the interface as described"), and a missing package is a failure there.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::program;

mod described;
