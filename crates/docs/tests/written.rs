//! Tests that the files that `pos-docs` writes into the repository are up to date.

use std::fs;
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
fn there_is_a_man_page_for_each_verb_and_for_each_key_of_the_configuration() {
    let folder = concat!(env!("CARGO_TARGET_TMPDIR"), "/man");
    check(&["man", folder]);
    let page = |name: &str| fs::read_to_string(Path::new(folder).join(name)).unwrap();
    for name in ["pos-agent.1", "pos-agent-journal-set-clock-back.1", "pos-front-pair-approve.1"] {
        assert!(page(name).contains(".SH NAME"), "{name}");
    }
    assert!(page("pos-agent-sale.1").contains(".SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\nDone;"));
    let configuration = page("pos-agent-config.toml.5");
    let manual = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/configure.md")).unwrap();
    let keys: Vec<_> = manual.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |")).collect();
    assert!(keys.len() > 100, "{}", keys.len());
    for (key, _) in keys {
        assert!(configuration.contains(&format!("\n\\fB{}\\fR\n", key.replace('-', "\\-"))), "{key}");
    }
}

#[test]
fn the_description_of_the_interface_is_as_the_program_is() {
    check(&["openapi", "--check", "src/till/http/openapi.json"]);
    check(&["interface", "--check", "clients/openapi.json"]);
}
