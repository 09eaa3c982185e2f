//! Tests that the files that `pos-docs` writes into the repository are up to date.

use std::path::Path;
use std::process::Command;

/// Runs `pos-docs` at the root of the repository.
fn check(words: &[&str]) {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let told = Command::new(env!("CARGO_BIN_EXE_pos-docs")).args(words).current_dir(root).output();
    let told = told.expect("the program starts");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
}

#[test]
fn the_tables_of_the_manual_are_as_the_program_is() {
    check(&["manual", "--check", "docs/src"]);
}

#[test]
fn the_description_of_the_interface_is_as_the_program_is() {
    check(&["openapi", "--check", "src/till/http/openapi.json"]);
}
