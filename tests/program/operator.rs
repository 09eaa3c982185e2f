//! `pos-agent operator` as a technician types it, and verbs that need an operator's sign-in. The tests run with the
//! agent, and with the journal alone. A typed PIN is never printed.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pos_journal::Db;
use pos_sim::reader::{CardEntry, WaitsFor, card};
use pos_sim::shop::Options;
use pos_test_kit::within;
use serde_json::Value;

use crate::program::{Terminal, own_address};

const PIN: &str = "862435";

/// Runs a verb with this text as its standard input.
fn typed(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pos-agent"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env_remove("RUST_LOG")
        .env_remove("CREDENTIALS_DIRECTORY")
        .spawn()
        .unwrap();
    // A verb that fails before its first question has already ended.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    for said in [&output.stdout, &output.stderr] {
        assert!(!String::from_utf8_lossy(said).contains(PIN), "{output:?}");
    }
    output
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), output.stderr.as_slice()].concat()).into_owned()
}

/// Writes a configuration for a stopped agent, next to the journal.
fn stopped(folder: &Path, with_journal: bool) -> PathBuf {
    let journal = folder.join("journal.db");
    if with_journal {
        drop(Db::open(&journal).unwrap());
    }
    let config = folder.join("config.toml");
    fs::write(&config, configured(folder)).unwrap();
    config
}

/// Returns settings that can be read. No test opens the devices in them.
fn configured(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "[terminal]\nid = \"12345678\"\nmerchant = [\"Shop\"]\ncurrency = \"EUR\"\n\
         [reader]\nprotocol = \"miura-mpi\"\nport = \"/dev/null\"\n\
         [gateway]\nurl = \"https://bank.test\"\nentity-id = \"8a8294174b7ecb28014b9699220015ca\"\n\
         token-file = \"{folder}/token\"\nca-file = \"{folder}/ca.pem\"\n\
         [till]\nsocket = \"{folder}/till.sock\"\n[journal]\npath = \"{folder}/journal.db\"\n"
    )
}

/// A stopped agent's configuration fixes the length of PINs as a running agent does.
#[test]
fn without_the_agent_a_pin_has_the_length_that_is_fixed() {
    let folder = tempfile::tempdir().unwrap();
    let config = stopped(folder.path(), true);
    fs::write(&config, format!("{}[operators]\npin-digits = 6\n", configured(folder.path()))).unwrap();
    let config = config.to_str().unwrap();
    let operator =
        |arguments: &[&str], input: &str| typed(&[&["operator"], arguments, &["--config", config]].concat(), input);
    let add = ["add", "Anna", "--role", "cashier", "--pin-stdin"];
    let refused = operator(&add, "5519");
    assert!(code(&refused) != 0 && said(&refused).contains("must have 6 digits"), "{refused:?}");
    assert_eq!(code(&operator(&add, "551902")), 0);
    let refused = operator(&["pin", "Anna", "--pin-stdin"], "55190284");
    assert!(code(&refused) != 0 && said(&refused).contains("must have 6 digits"), "{refused:?}");
    let listed = operator(&["list", "--json"], "");
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["pinDigits"], 6);
}

#[test]
fn without_the_agent_the_journal_is_changed_and_its_chain_says_who_did_it() {
    let folder = tempfile::tempdir().unwrap();
    let config = stopped(folder.path(), true);
    let config = config.to_str().unwrap();
    let operator =
        |arguments: &[&str], input: &str| typed(&[&["operator"], arguments, &["--config", config]].concat(), input);
    let listed = operator(&["list"], "");
    assert!(said(&listed).contains("no operators"), "{listed:?}");
    let added = operator(&["add", "Anna", "--role", "cashier", "--pin-stdin"], &format!("{PIN}\n"));
    assert_eq!((code(&added), said(&added).trim()), (0, "Anna was added"));
    let again = operator(&["add", "anna", "--role", "technician", "--pin-stdin"], PIN);
    assert_eq!(code(&again), 65, "{again:?}");
    for (pin, why) in [("1234", "too easy to guess"), ("12a4", "4 to 12 digits"), ("", "stopped")] {
        let refused = operator(&["pin", "Anna", "--pin-stdin"], pin);
        assert!(code(&refused) != 0 && said(&refused).contains(why), "{refused:?}");
    }
    assert_eq!(code(&operator(&["pin", "Anna"], PIN)), 64, "nobody is there, and --pin-stdin was not said");
    assert_eq!(code(&operator(&["pin", "Anna", "--pin-stdin"], PIN)), 0);
    let unknown = operator(&["unlock", "Ben", "--json"], "");
    assert_eq!(code(&unknown), 65, "{unknown:?}");
    let error: Value = serde_json::from_slice(&unknown.stdout).unwrap();
    assert_eq!(error["error"]["code"], "no-such-operator");
    let listed = operator(&["list", "--json"], "");
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["operators"], serde_json::json!([{ "name": "Anna", "role": "cashier" }]));
    assert_eq!(code(&operator(&["remove", "Anna"], "")), 0);
    let history = operator(&["history", "--json"], "");
    let done: Vec<Value> =
        String::from_utf8(history.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let words: Vec<&str> = done.iter().map(|one| one["done"].as_str().unwrap()).collect();
    assert_eq!(words, ["added", "pin-set", "removed"]);
    assert!(done.iter().all(|one| one["by"]["uid"] == rustix::process::getuid().as_raw()), "{done:?}");
    let verified = typed(&["journal", "verify", "--config", config], "");
    assert_eq!(code(&verified), 0, "{verified:?}");
}

#[test]
fn without_an_agent_and_a_journal_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let config = stopped(folder.path(), false);
    let arguments =
        ["operator", "add", "Anna", "--role", "cashier", "--pin-stdin", "--config", config.to_str().unwrap()];
    let refused = typed(&arguments, PIN);
    assert_eq!(code(&refused), 69, "{refused:?}");
    assert!(!folder.path().join("journal.db").exists() && !folder.path().join("journal.db.pin-key").exists());
}

#[tokio::test]
async fn a_cashier_takes_a_sale_at_the_shell() {
    let options = Options {
        config: vec![("[journal]".to_owned(), "[operators]\nrequired = true\n[journal]".to_owned())],
        ..Options::default()
    };
    let terminal = Terminal::start(options, own_address(41)).await;
    terminal.until_status("ready", |status| status.ready).await;
    let socket = terminal.shop.socket();
    let verb = |arguments: &[&str], input: &str| {
        let socket = socket.to_str().unwrap();
        let arguments: Vec<String> = arguments.iter().chain(&["--socket", socket]).map(|it| (*it).to_owned()).collect();
        let input = input.to_owned();
        tokio::task::spawn_blocking(move || typed(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), &input))
    };
    let added = verb(&["operator", "add", "Anna", "--role", "cashier", "--pin-stdin", "--json"], PIN).await.unwrap();
    let view: Value = serde_json::from_slice(&added.stdout).unwrap_or_else(|_| panic!("{added:?}"));
    assert_eq!(view, serde_json::json!({ "name": "Anna", "role": "cashier" }));
    let refused = verb(&["sale", "12.34"], "").await.unwrap();
    assert_eq!(code(&refused), 77, "{refused:?}");
    assert!(said(&refused).contains("--operator NAME"), "{refused:?}");
    let wrong = verb(&["sale", "12.34", "--operator", "Anna", "--json"], "551902\n").await.unwrap();
    let error: Value = serde_json::from_slice(&wrong.stdout).unwrap_or_else(|_| panic!("{wrong:?}"));
    assert_eq!((code(&wrong), &error["error"]["code"]), (77, &"wrong-pin".into()));
    let sale = verb(&["sale", "12.34", "--operator", "anna", "--reference", "r", "--json"], &format!("{PIN}\n"));
    within("the reader asking for a card", terminal.shop.reader.waits_for(WaitsFor::Card)).await;
    terminal.shop.reader.present(card("tap").unwrap(), CardEntry::Tap);
    let sale = within("the sale", sale).await.unwrap();
    let view: Value = serde_json::from_slice(&sale.stdout).unwrap_or_else(|_| panic!("{sale:?}"));
    assert_eq!((code(&sale), &view["by"]["operator"]), (0, &"Anna".into()), "{sale:?}");
    // A request with a wrong role is refused, and nothing of it is carried out.
    let settle = verb(&["settle", "1", "--keep", "--operator", "Anna"], PIN).await.unwrap();
    assert_eq!(code(&settle), 77, "{settle:?}");
    for _ in 0..5 {
        assert_eq!(code(&verb(&["status", "--operator", "Anna"], "110395").await.unwrap()), 77);
    }
    assert_eq!(code(&verb(&["status", "--operator", "Anna"], PIN).await.unwrap()), 69, "locked");
    let listed = verb(&["operator", "list"], "").await.unwrap();
    assert!(said(&listed).contains("locked for"), "{listed:?}");
    assert_eq!(code(&verb(&["operator", "unlock", "Anna"], "").await.unwrap()), 0);
    assert_eq!(code(&verb(&["status", "--operator", "Anna"], PIN).await.unwrap()), 0);
    assert_eq!(code(&verb(&["operator", "remove", "Anna"], "").await.unwrap()), 0);
}
