//! Tests of the command line.

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
    std::fs::remove_file(&file).unwrap();
    for verb in ["status", "check", "run"] {
        let said = run(&[verb]);
        assert_eq!(said.status.code(), Some(78));
        let said = String::from_utf8(said.stderr).unwrap();
        assert!(said.contains("front.toml: does not exist; run pos-agent setup as root"), "{verb}: {said}");
    }
}

/// Tries `--config FILE` before and after the verbs of `pair`, and after `status`.
#[tokio::test]
async fn the_configuration_may_be_named_before_a_verb_of_pair_and_after_it() {
    let (front, _agent) = front("").await;
    let file = config(front.folder.path());
    let file = file.to_str().unwrap();
    let run = |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_pos-front")).args(arguments).output().unwrap();
    for arguments in [
        &["pair", "list", "--config", file][..],
        &["pair", "--config", file, "list"],
        &["pair", "open", "--config", file],
        &["status", "--config", file],
    ] {
        let said = run(arguments);
        assert!(said.status.success(), "{arguments:?}: {said:?}");
    }
    let said = run(&["pair", "list", "--config", file]);
    assert!(String::from_utf8(said.stdout).unwrap().starts_with("open for "));
    assert_eq!(run(&["pair", "approve", "123456", "--config", file]).status.code(), Some(65));
    let help = String::from_utf8(run(&["pair", "list", "--help"]).stdout).unwrap();
    assert!(help.contains("--config <FILE>"), "{help}");
}

#[test]
fn the_help_of_every_verb_fits_80_columns() {
    assert!(pos_test_kit::help::fits_80_columns(env!("CARGO_BIN_EXE_pos-front")) > 10);
}

#[tokio::test]
async fn a_user_who_may_not_use_the_control_socket_is_told_who_may() {
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    if !rustix::process::geteuid().is_root() {
        eprintln!("only root can become another user: not tested");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &std::path::Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    open(folder.path(), 0o755);
    let at = |name: &str| folder.path().join(name);
    let _socket = std::os::unix::net::UnixListener::bind(at("control.sock")).unwrap();
    // Another process makes the copy. If this process wrote the file, a program that another test starts could keep it
    // open, and the copy could not be run.
    assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_pos-front")).arg(at("pos-front")).status().unwrap().success());
    let settings =
        format!("control = {:?}\nstate = {:?}\n[listen]\nhttp = [\"127.0.0.1:0\"]", at("control.sock"), at("state"));
    std::fs::write(at("front.toml"), settings).unwrap();
    for (mode, says) in [(0o600, "run this command as root"), (0o660, "usermod -aG daemon nobody")] {
        open(&at("control.sock"), mode);
        chown(at("control.sock"), None, Some(1)).unwrap();
        let mut program = Command::new(at("pos-front"));
        let said =
            program.args(["pair", "list", "--config"]).arg(at("front.toml")).uid(65534).gid(65534).output().unwrap();
        assert_eq!(said.status.code(), Some(69), "{said:?}");
        let said = String::from_utf8(said.stderr).unwrap();
        assert!(said.contains("this user may not use ") && said.contains(says), "{said}");
    }
}
