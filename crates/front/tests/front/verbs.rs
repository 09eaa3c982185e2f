//! The command line.

use std::process::Command;

use crate::process::config;
use crate::stand_in::front;

#[tokio::test]
async fn the_certificate_is_shown_with_what_a_browser_would_compare() {
    let (front, _agent) = front("").await;
    let shown = String::from_utf8(front.verb(&["certificate"]).stdout).unwrap();
    for part in ["CA           ", "certificate  ", "until        20", "kasse.local", "127.0.0.1", "localhost"] {
        assert!(shown.contains(part), "{shown}");
    }
    let by_http =
        front.client().get(front.http_url("/front/certificate.pem")).send().await.unwrap().text().await.unwrap();
    assert_eq!(by_http.as_bytes(), front.verb(&["certificate", "--pem"]).stdout.as_slice());
    assert!(!by_http.contains("PRIVATE"));
}

#[tokio::test]
async fn a_configuration_is_checked_whole_and_a_front_that_is_away_is_named() {
    let (front, _agent) = front("").await;
    assert!(front.verb(&["check"]).status.success());
    let other = tempfile::tempdir().unwrap();
    let file = config(other.path());
    std::fs::write(&file, "tils = []\n[listen]\nhttp = [\"0.0.0.0:80\"]").unwrap();
    let run = |arguments: &[&str]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_pos-front"));
        program.args(arguments).args(["--config", file.to_str().unwrap()]).output().unwrap()
    };
    let said = run(&["check"]);
    assert_eq!(said.status.code(), Some(78));
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.lines().count() == 2 && said.contains("tils: ") && said.contains("listen.http: "), "{said}");
    let at = |name: &str| other.path().join(name).display().to_string();
    let good =
        format!("control = {:?}\nstate = {:?}\n[listen]\nhttp = [\"127.0.0.1:0\"]", at("none.sock"), at("state"));
    std::fs::write(&file, good).unwrap();
    let said = run(&["status"]);
    assert_eq!(said.status.code(), Some(69));
    assert!(String::from_utf8(said.stderr).unwrap().contains("systemctl status pos-front"));
}
