//! The boards of `board/`. Every file of every board is parsed by the rules of the program that reads it, and every
//! statement about a board has its source.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a helper of a test fails the test, and says what it did not ask"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use pos_agent::board::{KNOWN, Known, load, recognised};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pos-agent"));
    command.args(arguments).stdin(Stdio::null()).env_remove("RUST_LOG").env_remove("CREDENTIALS_DIRECTORY");
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

const CA: &str = "-----BEGIN CERTIFICATE-----\nMIIBAAA=\n-----END CERTIFICATE-----\n";

#[test]
fn every_folder_is_known_and_every_known_board_is_listed_and_shown() {
    let folders: BTreeSet<String> =
        fs::read_dir("board").unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let known: BTreeSet<String> = KNOWN.iter().map(|known| known.name.to_owned()).collect();
    assert_eq!(folders, known, "board/ and src/board.rs");
    let list = said(&run(&["boards"]));
    assert_eq!(list.lines().count(), KNOWN.len());
    for known in &KNOWN {
        let folder = Path::new("board").join(known.name);
        let line = list.lines().find(|line| line.starts_with(&format!("{} ", known.name))).unwrap();
        assert!(line.contains(&known.board().title) && line.contains("not tried on hardware"), "{line}");
        let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
        assert_eq!(said(&run(&["boards", known.name])), read("README.md"));
        assert_eq!(said(&run(&["boards", known.name, "--rules"])), read("udev.rules"));
        assert_eq!(said(&run(&["boards", known.name, "--file"])), read("board.toml"));
        assert_eq!(known.unit.is_some(), folder.join("pos-agent.service.d").exists(), "{}", known.name);
        let unit = run(&["boards", known.name, "--unit"]);
        match known.unit {
            Some(_) => assert_eq!(said(&unit), read("pos-agent.service.d/board.conf")),
            None => assert_eq!(unit.status.code(), Some(65)),
        }
    }
    assert_eq!(run(&["boards", "toaster"]).status.code(), Some(64));
    assert_eq!(run(&["boards", "--rules"]).status.code(), Some(64));
}

/// Writes each board's files below a folder that does not exist yet, as below /etc of a new board.
#[test]
fn a_boards_files_are_written_to_their_places_and_an_earlier_file_is_kept() {
    for known in &KNOWN {
        let folder = tempfile::tempdir().unwrap();
        let etc = folder.path().join("etc");
        let write = || said(&run(&["boards", known.name, &format!("--write={}", etc.display())]));
        let rules = etc.join("udev/rules.d/99-pos-agent-board.rules");
        let drop_in = etc.join("systemd/system/pos-agent.service.d/board.conf");
        let told = write();
        assert!(told.contains(&format!("Written: {}\n", rules.display())) && told.contains("daemon-reload"), "{told}");
        assert_eq!(fs::read_to_string(&rules).unwrap(), known.rules);
        assert_eq!(fs::read_to_string(&drop_in).ok().as_deref(), known.unit, "{}", known.name);
        // A second time, nothing is left to do.
        let told = write();
        assert!(told.contains(&format!("Already there: {}\n", rules.display())) && !told.contains("Written"), "{told}");
        fs::write(&rules, "# a technician's\n").unwrap();
        let told = write();
        let kept = rules.with_file_name("99-pos-agent-board.rules.old");
        assert!(told.contains(&format!("Written: {}; the old one is {}\n", rules.display(), kept.display())), "{told}");
        assert_eq!(fs::read_to_string(&kept).unwrap(), "# a technician's\n");
        assert_eq!(fs::read_to_string(&rules).unwrap(), known.rules);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let refused = run(&["boards", KNOWN[0].name, &format!("--write={}", file.display())]);
    let error = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(74), "{error}");
    assert!(
        error.contains("file/udev/rules.d/99-pos-agent-board.rules") && error.contains("check the path"),
        "{error}"
    );
    assert_eq!(run(&["boards", "--write"]).status.code(), Some(64));
    assert_eq!(run(&["boards", KNOWN[0].name, "--rules", "--write"]).status.code(), Some(64));
}

/// Checks that the board's ports and speeds follow the configuration's rules. `setup` makes a configuration from them,
/// and `check` accepts it.
#[test]
fn what_setup_makes_of_each_board_is_a_good_configuration() {
    for known in &KNOWN {
        let board = known.board();
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(path("ca.pem"), CA).unwrap();
        fs::write(path("token"), "0123456789abcdef").unwrap();
        let (config, columns) = (path("config.toml"), board.printer_columns.to_string());
        for (n, (reader, printer)) in board.reader_ports.iter().zip(&board.printer_ports).enumerate() {
            let again: &[&str] = if n == 0 { &[] } else { &["--replace"] };
            let output = run(&[
                &["setup", "--yes", "--no-doctor", "--board", known.name, "--config", &config][..],
                &["--terminal-id", "12345678", "--merchant", "Example Shop", "--currency", "EUR"],
                &["--gateway-url", "https://gateway.example", "--entity-id", "00000000000000000000000000000000"],
                &["--ca-file", &path("ca.pem"), "--token-file", &path("token"), "--mode", "external"],
                &["--reader", reader, "--printer", printer],
                again,
            ]
            .concat());
            said(&output);
            let checked = said(&run(&["check", &config]));
            assert!(checked.contains(&format!("reader    {reader}, miura-mpi\n")), "{checked}");
            assert!(checked.contains(&format!("printer   {printer}\n")), "{checked}");
            let text = fs::read_to_string(&config).unwrap();
            assert!(text.contains(&format!("columns = {columns}\n")), "{text}");
            assert!(text.contains(&format!("baud = {}\n", board.reader_baud)), "{text}");
        }
    }
}

#[test]
fn a_board_is_recognised_by_what_its_device_tree_calls_it() {
    for (model, name) in [
        ("Raspberry Pi 4 Model B Rev 1.4", "raspberry-pi"),
        ("STMicroelectronics STM32MP157C-DK2 Discovery Board", "stm32mp157-dk2"),
        ("Freescale i.MX6 UltraLiteLite 14x14 EVK Board", "imx6ull-evk"),
        ("TI AM335x BeagleBone Black", "beaglebone-black"),
        ("linux,dummy-virt", "qemu-virt"),
    ] {
        assert_eq!(recognised(model).map(|known| known.name), Some(name));
    }
    assert!(recognised("Toaster").is_none());
    assert!(recognised("").is_none());
}

#[test]
fn a_file_of_ones_own_is_read_and_its_mistakes_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("board.toml");
    let name = file.to_str().unwrap();
    fs::write(&file, KNOWN[0].text).unwrap();
    assert_eq!(load(name).unwrap().title, KNOWN[0].board().title);
    fs::write(&file, "title = \"Mine\"\nspeed = 3\n").unwrap();
    let error = load(name).unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("speed") && error.contains("pos-agent boards"), "{error}");
    assert!(load("/nowhere/board.toml").unwrap_err().to_string().contains("cannot be read"));
    assert!(load("toaster").unwrap_err().to_string().contains("there is no board toaster"));
}

/// Checks that the README has a table of facts, each with a source, and that the table contains the board file's
/// values.
#[test]
fn every_fact_has_a_source_and_what_was_not_tried_says_so() {
    for Known { name, readme, text, .. } in &KNOWN {
        let board = load(name).unwrap();
        assert_eq!(readme.contains("Not tried on hardware"), !board.tried_on_hardware, "{name}");
        let rows: Vec<Vec<&str>> = readme
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
            .map(|row| row.split(" | ").collect())
            .collect();
        assert_eq!(rows[0], ["fact", "value", "source"], "{name}");
        assert!(rows.len() > 6, "{name}");
        for row in &rows {
            assert!(row.len() == 3 && row.iter().all(|cell| !cell.trim().is_empty()), "{name}: {row:?}");
        }
        for device in board.serial.keys() {
            assert!(readme.contains(device), "{name}: {device} is in no row");
        }
        if let Some(driver) = &board.watchdog {
            assert!(readme.contains(driver), "{name}: {driver}");
        }
        assert!(text.lines().count() < 60, "{name}");
    }
}

/// Returns the classes of serial ports that a unit file permits.
fn classes(unit: &str) -> BTreeSet<String> {
    unit.lines()
        .filter_map(|line| line.strip_prefix("DeviceAllow=char-")?.strip_suffix(" rw"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_unit_lets_the_agent_open_every_port_that_a_board_has() {
    let unit = fs::read_to_string("systemd/pos-agent.service").unwrap();
    let usual = classes(&unit);
    assert!(usual.contains("ttyS"), "{usual:?}");
    for known in &KNOWN {
        let mut allowed = usual.clone();
        allowed.extend(classes(known.unit.unwrap_or_default()));
        for device in known.board().serial.keys() {
            let name = device.strip_prefix("/dev/").unwrap();
            // A name that is only a link can lead to several ports.
            if name != "serial0" {
                let class = name.trim_end_matches(|c: char| c.is_ascii_digit());
                assert!(allowed.contains(class), "{}: {device} is not let through", known.name);
            }
        }
    }
}

// ---- udev rules
// -----------------------------------------------------------------------------------------------------------

/// The keys that the project's rules may contain.
const MATCHES: &[&str] = &["SUBSYSTEM", "KERNEL", "SYMLINK", "ATTRS{idVendor}", "ATTRS{idProduct}", "ATTRS{serial}"];

/// One `KEY op "value"` part of a rule.
#[derive(Debug, PartialEq)]
struct Part<'a> {
    key: &'a str,
    op: &'a str,
    value: &'a str,
}

/// Returns the parts of a rule, or the fault in it (udev(7), "Rules files").
fn parts(rule: &str) -> Result<Vec<Part<'_>>, String> {
    let mut parts = Vec::new();
    let mut rest = rule;
    loop {
        let at = rest.find(['=', '!', '+', '-', ':']).ok_or_else(|| format!("no operator: {rest}"))?;
        let (key, after) = rest.split_at(at);
        let op = ["==", "!=", "+=", "-=", ":=", "="].into_iter().find(|op| after.starts_with(op));
        let op = op.ok_or_else(|| format!("no operator: {after}"))?;
        let value = after[op.len()..].strip_prefix('"').ok_or_else(|| format!("no quote behind {key}{op}"))?;
        let (value, after) = value.split_once('"').ok_or_else(|| format!("no end of {key}"))?;
        parts.push(Part { key, op, value });
        rest = match after.strip_prefix(", ") {
            Some(rest) => rest,
            None if after.is_empty() => return Ok(parts),
            None => return Err(format!("no comma and space behind {key}: {after}")),
        };
    }
}

/// Checks that a rule does only what the project's rules do: it gives one tty one of the project's two names.
fn judge(rule: &str) -> Result<String, String> {
    let parts = parts(rule)?;
    let (last, others) = parts.split_last().ok_or("empty")?;
    // Only the agent's user may use the port.
    let rights = [Part { key: "OWNER", op: "=", value: "pos-agent" }, Part { key: "MODE", op: "=", value: "0600" }];
    let conditions = others.strip_suffix(&rights).ok_or("does not make the port the agent's alone")?;
    if last.key != "SYMLINK" || last.op != "+=" || !["pos/reader", "pos/printer"].contains(&last.value) {
        return Err(format!("gives no name of ours: {last:?}"));
    }
    if conditions.first() != Some(&Part { key: "SUBSYSTEM", op: "==", value: "tty" }) {
        return Err("is not about a tty".to_owned());
    }
    let narrow = &conditions[1..];
    let fits = |part: &Part<'_>| part.op == "==" && MATCHES.contains(&part.key) && !part.value.is_empty();
    if narrow.is_empty() || !narrow.iter().all(fits) {
        return Err(format!("is for every tty, or holds a condition that is not known: {narrow:?}"));
    }
    // A pattern that matches every port would give many ports the same name.
    if narrow.iter().any(|part| part.key == "KERNEL" && part.value.contains(['*', '?', '['])) {
        return Err("fits more than one port".to_owned());
    }
    Ok(last.value.to_owned())
}

/// Returns the rules of a file, including those that are commented out.
fn rules(text: &str) -> Vec<&str> {
    let rule = |line: &&str| !line.is_empty() && !line.starts_with("# ") && *line != "#";
    text.lines().filter(rule).map(|line| line.trim_start_matches('#')).collect()
}

#[test]
fn every_rule_gives_one_port_one_name() {
    for known in &KNOWN {
        let rules = rules(known.rules);
        assert!(!rules.is_empty(), "{}", known.name);
        for rule in rules {
            judge(rule).unwrap_or_else(|why| panic!("{}: {rule}: {why}", known.name));
        }
    }
    let names: BTreeSet<_> = rules(board("qemu-virt").rules).into_iter().map(|rule| judge(rule).unwrap()).collect();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["pos/printer", "pos/reader"]);
}

fn board(name: &str) -> &'static Known {
    KNOWN.iter().find(|known| known.name == name).unwrap()
}

#[test]
fn a_wrong_rule_is_found() {
    for wrong in [
        r#"SUBSYSTEM="tty", KERNEL=="ttyS1", OWNER="pos-agent", MODE="0600", SYMLINK+="pos/printer""#,
        r#"SUBSYSTEM=="tty", KERNEL=="ttyS1", OWNER="pos-agent", MODE="0600", SYMLINK="pos/printer""#,
        r#"SUBSYSTEM=="tty", KERNEL=="ttyS1", OWNER="pos-agent", MODE="0600", SYMLINK+="pos/drawer""#,
        r#"SUBSYSTEM=="tty", KERNEL=="ttyS1" SYMLINK+="pos/printer""#,
        r#"SUBSYSTEM=="tty", KERNEL=="ttyS1, OWNER="pos-agent", MODE="0600", SYMLINK+="pos/printer""#,
        r#"SUBSYSTEM=="tty", KERNAL=="ttyS1", OWNER="pos-agent", MODE="0600", SYMLINK+="pos/printer""#,
        r#"SUBSYSTEM=="tty", KERNEL=="ttyS*", OWNER="pos-agent", MODE="0600", SYMLINK+="pos/printer""#,
        r#"SUBSYSTEM=="tty", OWNER="pos-agent", MODE="0600", SYMLINK+="pos/printer""#,
        r#"KERNEL=="ttyS1", OWNER="pos-agent", MODE="0600", SYMLINK+="pos/printer""#,
        r#"SUBSYSTEM=="tty", KERNEL=="ttyS1", SYMLINK+="pos/printer""#,
        r#"SUBSYSTEM=="tty", KERNEL=="ttyS1", OWNER="pos-agent", MODE="0666", SYMLINK+="pos/printer""#,
    ] {
        assert!(judge(wrong).is_err(), "{wrong}");
    }
}
