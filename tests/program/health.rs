//! `pos-agent health` with the real program. After an update, a device counts only if it answered before the update.
//! Every fault is reported with its exit code. The journal needs little data for this.
//!
//! To simulate an earlier program, the tests change the program's name in its row of the journal while no agent runs.

use std::fs::File;
use std::path::PathBuf;
use std::process::Output;

use crate::counter::till::program;
use pos_sim::shop::{Options, Shop};
use pos_test_kit::within;
use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::process::Child;

/// A board: the simulated shop, and the program as a separate process.
struct Board {
    shop: Shop,
    agent: Option<Child>,
}

impl Board {
    async fn open() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self { shop: Shop::open(Options::default()).await.unwrap(), agent: None }
    }

    /// Starts the program and waits until it answers.
    async fn start(&mut self) {
        let log = File::options().create(true).append(true).open(self.shop.folder().join("log")).unwrap();
        let config = self.shop.config();
        self.agent = Some(program(&["run", "--config", config.to_str().unwrap()]).stderr(log).spawn().unwrap());
        self.until("the agent answers", |found| check(found, "agent").0 == "good").await;
    }

    async fn until(&self, what: &str, wanted: impl Fn(&Value) -> bool) {
        let asked = async { while !wanted(&self.found("0").await.1) {} };
        within(what, asked).await;
    }

    /// Ends the program as systemd or a power cut does.
    async fn end(&mut self, signal: Signal) {
        let mut agent = self.agent.take().unwrap();
        let id = Pid::from_raw(agent.id().unwrap().cast_signed()).unwrap();
        kill_process(id, signal).unwrap();
        within("the end of the agent", agent.wait()).await.unwrap();
    }

    fn journal(&self) -> PathBuf {
        self.shop.folder().join("journal.db")
    }

    /// Changes the journal, which then says that another program ran last.
    fn update(&self) {
        let journal = Connection::open(self.journal()).unwrap();
        let rows = journal.execute("UPDATE program SET name = '0.0.1, built before' WHERE before = 0", []).unwrap();
        assert_eq!(rows, 1);
    }

    async fn health(&self, arguments: &[&str]) -> Output {
        let mut command = program(&[&["health"], arguments].concat());
        command.arg("--socket").arg(self.shop.socket());
        within("the verb", command.output()).await.unwrap()
    }

    /// Returns the exit code and the findings as JSON.
    async fn found(&self, wait: &str) -> (i32, Value) {
        let output = self.health(&["--json", "--wait", wait]).await;
        let json = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        (code(&output), json)
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.shop.folder().join("log")).unwrap()
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// Returns the state and the text of one check. Both are empty if the check could not be made.
fn check<'a>(found: &'a Value, what: &str) -> (&'a str, &'a str) {
    let check = found["checks"].as_array().unwrap().iter().find(|check| check["what"] == what);
    check.map_or(("", ""), |check| (check["state"].as_str().unwrap(), check["text"].as_str().unwrap()))
}

#[tokio::test]
async fn without_an_agent_it_says_so_and_waits_only_as_long_as_it_was_told() {
    let board = Board::open().await;
    let output = board.health(&[]).await;
    assert_eq!(code(&output), 69);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("agent    BAD") && said.contains("systemctl status pos-agent"), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "nothing was waited for");
    let output = board.health(&["--wait", "1", "--json"]).await;
    assert_eq!(code(&output), 69);
    let progress = String::from_utf8(output.stderr).unwrap();
    assert!(progress.contains("waiting, ") && progress.contains("no agent answers at"), "{progress}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["healthy"], check(&found, "agent").0), (&false.into(), "bad"));
    for wrong in [&["--wait", "soon"][..], &["--wait", "-1"], &["--wait", "3601"], &["--wait"], &["reader"]] {
        let output = board.health(wrong).await;
        assert_eq!((code(&output), output.stdout.is_empty()), (64, true), "{wrong:?}: {output:?}");
    }
}

#[tokio::test]
async fn a_first_program_is_good_and_a_restart_has_nothing_to_prove_again() {
    let mut board = Board::open().await;
    board.start().await;
    let (exit, found) = board.found("40").await;
    assert_eq!(exit, 0, "{found}");
    assert!(found["program"].as_str().unwrap().starts_with(env!("CARGO_PKG_VERSION")), "{found}");
    assert_eq!((&found["before"], check(&found, "journal").0), (&Value::Null, "good"));
    board
        .until("both have answered", |found| check(found, "reader").0 == "good" && check(found, "gateway").0 == "good")
        .await;
    // The reader is unplugged and the power is cut. The next start of the same program is good immediately.
    board.end(Signal::TERM).await;
    board.shop.reader.unplug();
    board.start().await;
    let (exit, found) = board.found("40").await;
    assert_eq!((exit, check(&found, "reader").0), (0, "good"), "proven once: {found}");
    board.end(Signal::KILL).await;
}

#[tokio::test]
async fn a_reader_that_answered_before_the_update_counts_and_one_that_did_not_does_not() {
    let mut board = Board::open().await;
    board.start().await;
    board
        .until("both have answered", |found| check(found, "reader").0 == "good" && check(found, "gateway").0 == "good")
        .await;
    board.end(Signal::TERM).await;
    board.update();
    // The new program does not find the reader. As far as the program can know, the update is the cause.
    board.shop.reader.unplug();
    board.start().await;
    let (exit, found) = board.found("1").await;
    assert_eq!((exit, check(&found, "reader").0), (69, "bad"), "{found}");
    assert_eq!(found["before"], "0.0.1, built before");
    assert!(check(&found, "reader").1.contains("no reader at"), "{found}");
    let output = board.health(&["--wait", "1"]).await;
    let (said, progress) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(
        said.contains("reader   BAD") && progress.contains("left: reader: answered the previous program"),
        "{said}{progress}"
    );
    // A restart does not change this, even after a kill.
    board.end(Signal::KILL).await;
    board.start().await;
    assert_eq!(board.found("1").await.0, 69, "{}", board.log());
    // The reader is plugged in again.
    board.shop.reader.replug().unwrap();
    let (exit, found) = board.found("40").await;
    assert_eq!((exit, check(&found, "reader").0), (0, "good"), "{found}");
    board.end(Signal::TERM).await;

    // Once a device has answered, the next start does not require it again.
    board.shop.reader.unplug();
    board.start().await;
    let (exit, found) = board.found("0").await;
    assert_eq!((exit, check(&found, "reader").0), (0, "good"), "it has nothing to prove again: {found}");

    // The reader is unplugged while the earlier program runs, so the next program is not at fault.
    board.shop.reader.replug().unwrap();
    board.until("the reader is back", |found| check(found, "reader").1.contains("serial")).await;
    board.shop.reader.unplug();
    board.until("the reader is gone", |found| check(found, "reader").1.contains("no reader at")).await;
    board.end(Signal::TERM).await;
    board.update();
    board.start().await;
    let (exit, found) = board.found("40").await;
    assert_eq!((exit, check(&found, "reader").0), (0, "not-counted"), "{found}");
    board.end(Signal::TERM).await;
}

#[tokio::test]
async fn the_same_holds_for_the_gateway() {
    let mut board = Board::open().await;
    board.shop.gateway.set_offline(true).await.unwrap();
    board.start().await;
    board.until("the reader has answered", |found| check(found, "reader").0 == "good").await;
    board.end(Signal::TERM).await;
    board.update();
    board.start().await;
    let (exit, found) = board.found("40").await;
    assert_eq!((exit, check(&found, "gateway").0), (0, "not-counted"), "{found}");
    // The gateway becomes reachable while this program runs. It is unreachable under the next program.
    board.shop.gateway.set_offline(false).await.unwrap();
    board.until("the gateway has answered", |found| check(found, "gateway").0 == "good").await;
    board.end(Signal::TERM).await;
    board.update();
    board.shop.gateway.set_offline(true).await.unwrap();
    board.start().await;
    let (exit, found) = board.found("1").await;
    assert_eq!((exit, check(&found, "gateway").0), (69, "bad"), "{found}");
    board.end(Signal::TERM).await;
}

/// Checks a journal that can be opened but not written, because another program holds a lock.
#[tokio::test]
async fn a_journal_that_takes_no_writes_is_named_and_good_again_when_it_does() {
    let mut board = Board::open().await;
    board.start().await;
    assert_eq!(board.found("40").await.0, 0);
    // The agent ends as in a power cut, so the next start has no other record to write.
    board.end(Signal::KILL).await;
    let other = Connection::open(board.journal()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    board.start().await;
    let (exit, found) = board.found("2").await;
    assert_eq!((exit, check(&found, "journal").0), (74, "bad"), "{found}: {}", board.log());
    assert!(check(&found, "journal").1.contains("locked"), "{found}");
    other.execute_batch("COMMIT").unwrap();
    let (exit, found) = board.found("40").await;
    assert_eq!((exit, check(&found, "journal").0), (0, "good"), "{found}");
    board.end(Signal::TERM).await;
}
