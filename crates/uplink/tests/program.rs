//! The program's command line, as a technician uses it.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::fs;
use std::process::{Command, Output};

use tempfile::TempDir;

fn uplink(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pos-uplink")).args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn the_help_fits_a_console_and_names_every_verb() {
    for arguments in
        [&["--help"][..], &["run", "--help"], &["check", "--help"], &["enrol", "--help"], &["status", "--help"]]
    {
        let output = uplink(arguments);
        assert!(output.status.success(), "{arguments:?}");
        let help = said(&output);
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    }
    let help = said(&uplink(&["--help"]));
    assert!(["run", "check", "enrol", "status"].iter().all(|verb| help.contains(verb)), "{help}");
    assert_eq!(uplink(&["sell"]).status.code(), Some(64));
}

#[test]
fn a_wrong_configuration_is_named_with_its_key_and_the_exit_code_78() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("uplink.toml");
    let config = file.to_str().unwrap();
    for verb in ["run", "check", "status"] {
        let output = uplink(&[verb, "--config", config]);
        assert_eq!(output.status.code(), Some(78), "{verb}");
        assert!(said(&output).contains("uplink.toml: cannot be read"), "{}", said(&output));
    }
    let ca = dir.path().join("ca.pem");
    let good = format!(
        "org = \"corner\"\nterminal = \"t-1\"\nca = \"{}\"\nstate = \"{}\"\nbroker = {{ host = \"b\" }}\n\
         enrol = {{ host = \"localhost\", port = 1 }}\n",
        ca.display(),
        dir.path().join("state").display(),
    );
    fs::write(&file, good.replace("org =", "organisation =")).unwrap();
    let output = uplink(&["check", "--config", config]);
    assert_eq!(output.status.code(), Some(78));
    assert!(said(&output).contains("unknown field `organisation`"), "{}", said(&output));
    fs::write(&file, good).unwrap();
    let output = uplink(&["check", "--config", config]);
    assert!(output.status.code() == Some(78) && said(&output).contains("ca.pem"), "{}", said(&output));
}

#[test]
fn without_a_certificate_the_status_says_how_to_get_one() {
    let dir = TempDir::new().unwrap();
    let (file, ca) = (dir.path().join("uplink.toml"), dir.path().join("ca.pem"));
    let state = dir.path().join("state");
    let text = format!(
        "org = \"corner\"\nterminal = \"t-1\"\nca = \"{}\"\nstate = \"{}\"\nbroker = {{ host = \"b\" }}\n\
         enrol = {{ host = \"localhost\", port = 1 }}\n",
        ca.display(),
        state.display(),
    );
    fs::write(&file, text).unwrap();
    let output = uplink(&["status", "--config", file.to_str().unwrap()]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("certificate: none; it needs a code: pos-uplink enrol CODE"), "{}", said(&output));
    // A look changes nothing.
    assert!(!state.exists());
    let output = uplink(&["enrol", "AAAAA-AAAAA-AAAAA-AAAAA", "--config", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(69), "{}", said(&output));
    assert!(!said(&output).contains("AAAAA"), "the code is not repeated: {}", said(&output));
}
