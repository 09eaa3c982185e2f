//! Transactions for tests of the journal, written step by step as the agent writes them, and the commands that read the
//! journal.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pos_core::transaction::Record;
use pos_journal::{Db, Error, Journal, Opened, Reading, Verdict};
use pos_terms::transaction::SaleNumber;
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

pub const DAY: i64 = 24 * 3600 * 1000;
/// 2026-11-20, 12:00 UTC.
pub const NOON: i64 = 1_795_176_000_000;

pub fn record(value: Value) -> Record {
    serde_json::from_value(value).unwrap()
}

pub fn started(number: u64, reference: &str) -> Record {
    record(json!({"kind": "started", "order": order(number, reference)}))
}

pub fn order(number: u64, reference: &str) -> Value {
    json!({
        "number": number, "till": "till-1", "reference": reference, "amount": {"minor": 1234, "currency": "EUR"},
        "terminalId": "12345678", "merchantTransactionId": format!("12345678-{number}-{reference}-aabbccddeeff"),
        "startedUnixMs": NOON, "localTime": "2026-11-20 13:00:00",
    })
}

/// Returns a refund of an earlier transaction of this journal.
pub fn refund(number: u64, reference: &str, of: u64) -> Record {
    let mut order = order(number, reference);
    order["kind"] = json!({"is": "refund", "of": {"payment": "a".repeat(32), "number": of}});
    record(json!({"kind": "started", "order": order}))
}

pub fn asked() -> Record {
    record(json!({"kind": "asked"}))
}

pub fn reversing() -> Record {
    record(json!({"kind": "reversing", "why": "no answer"}))
}

pub fn ended() -> Record {
    record(
        json!({"kind": "ended", "outcome": {"is": "approved"}, "host": {"id": "b".repeat(32), "code": "000.000.000"}}),
    )
}

/// Writes a whole transaction in three steps.
pub fn sell(db: &mut Db, number: u64, reference: &str, unix_ms: i64) {
    end(db, number, started(number, reference), unix_ms);
}

pub fn end(db: &mut Db, number: u64, started: Record, unix_ms: i64) {
    db.write(SaleNumber::new(number), 0, unix_ms, &[started]).unwrap();
    db.write(SaleNumber::new(number), 1, unix_ms + 1000, &[asked()]).unwrap();
    db.write(SaleNumber::new(number), 2, unix_ms + 2000, &[ended()]).unwrap();
}

/// Writes a transaction whose reversal is in progress.
pub fn leave_open(db: &mut Db, number: u64, reference: &str, unix_ms: i64) {
    db.write(SaleNumber::new(number), 0, unix_ms, &[started(number, reference)]).unwrap();
    db.write(SaleNumber::new(number), 1, unix_ms, &[asked()]).unwrap();
    db.write(SaleNumber::new(number), 2, unix_ms, &[reversing()]).unwrap();
}

pub fn file(dir: &TempDir) -> PathBuf {
    dir.path().join("journal.db")
}

pub fn open(path: &Path) -> Db {
    until_free(path);
    Db::open(path).unwrap().0
}

pub fn open_journal(path: &Path) -> Result<(Journal, Opened), Error> {
    until_free(path);
    Journal::open(path)
}

/// Waits until the journal's lock is free. While another test starts a program, that program briefly holds the locks of
/// this process.
pub fn until_free(path: &Path) {
    for _ in 0..10_000 {
        if !pos_journal::is_held(path) {
            return;
        }
        std::thread::yield_now();
    }
}

/// Runs SQL with a program other than the agent.
pub fn sql(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

pub fn number(path: &Path, sql: &str) -> i64 {
    Connection::open(path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

pub fn verify(path: &Path) -> Verdict {
    Reading::open(path).unwrap().verify().unwrap()
}

/// Checks that the journal is unchanged.
pub fn well(path: &Path) -> Verdict {
    let verdict = verify(path);
    assert_eq!(verdict.altered, None, "{verdict:?}");
    verdict
}

/// Runs `pos-agent journal …` with the real program.
pub fn verb(arguments: &[&str], journal: &Path) -> Output {
    until_free(journal);
    verb_beside_the_agent(arguments, journal)
}

/// Runs `pos-agent journal …` while an agent holds the journal.
pub fn verb_beside_the_agent(arguments: &[&str], journal: &Path) -> Output {
    let mut command = Command::new(crate::agent());
    command.arg("journal").args(arguments).arg("--journal").arg(journal).env_remove("RUST_LOG").output().unwrap()
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
