//! Checks a small valid journal with any changed bytes. Opening it returns the journal or an error and never panics. A
//! refused file stays unchanged. A journal that passes verification contains only what was written.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use pos_core::transaction::Record;
use pos_journal::{Db, Reading};
use pos_terms::transaction::SaleNumber;
use serde_json::json;
use tempfile::TempDir;

/// 2026-11-20, 12:00 UTC.
const NOON: i64 = 1_795_176_000_000;
/// The number of bytes in an edit: three for a file and an offset in it, and one for the change.
const EDIT: usize = 4;
/// A number of edits that is enough to damage everything that is read when a journal is opened.
const MOST_EDITS: usize = 64;

/// A journal with an ended and an open sale, as after a power cut. Part of it is still in the WAL.
struct Good {
    journal: Vec<u8>,
    wal: Vec<u8>,
    /// The orders in the journal by number.
    orders: Vec<String>,
}

static GOOD: LazyLock<Good> = LazyLock::new(make);

fn make() -> Good {
    let folder = folder();
    let path = folder.path().join("journal.db");
    drop(Db::open(&path).expect("a new journal"));
    let mut db = Db::open(&path).expect("a good journal").0;
    let step = |value: serde_json::Value| -> Record { serde_json::from_value(value).expect("a record") };
    for number in 1..=2 {
        let order = json!({
            "number": number, "till": "till-1", "reference": format!("T-{number}"),
            "amount": {"minor": 1234, "currency": "EUR"}, "terminalId": "12345678",
            "merchantTransactionId": format!("12345678-{number}-0123456789abcdef0123456789abcdef"),
            "startedUnixMs": NOON, "localTime": "2026-11-20 13:00:00",
        });
        let started = step(json!({"kind": "started", "order": order}));
        db.write(SaleNumber::new(number), 0, NOON, &[started]).expect("a step");
        db.write(SaleNumber::new(number), 1, NOON + 1000, &[step(json!({"kind": "asked"}))]).expect("a step");
    }
    let host = json!({"id": "b".repeat(32), "code": "000.000.000"});
    let ended = step(json!({"kind": "ended", "outcome": {"is": "approved"}, "host": host}));
    db.write(SaleNumber::new(1), 2, NOON + 2000, &[ended]).expect("a step");
    let wal = fs::read(path.with_extension("db-wal")).expect("a journal has a WAL");
    let used = wal.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let orders = orders(&db).expect("a good journal");
    Good { journal: fs::read(&path).expect("a file of the test"), wal: wal[..used].to_vec(), orders }
}

/// Creates a folder in memory, where syncs cost nothing.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    folder.expect("a folder for the journal")
}

fn orders(db: &Db) -> Option<Vec<String>> {
    Some(db.list(None, SaleNumber::BEFORE_ALL, 100).ok()?.iter().map(|sale| format!("{:?}", sale.order())).collect())
}

/// Checks that the conditions above hold for these bytes. The remainder after the last whole edit determines how much
/// of the WAL exists.
pub fn holds(bytes: &[u8]) {
    let (mut journal, mut wal) = (GOOD.journal.clone(), GOOD.wal.clone());
    let edits = bytes.chunks_exact(EDIT);
    if let [first, ..] = edits.remainder() {
        wal.truncate(wal.len() * usize::from(*first) / 255);
    }
    for edit in edits.take(MOST_EDITS) {
        let place = usize::from(edit[1]) << 8 | usize::from(edit[2]);
        let file = if edit[0] % 2 == 0 { &mut journal } else { &mut wal };
        if let Some(length) = std::num::NonZeroUsize::new(file.len()) {
            let place = (usize::from(edit[0] >> 1) << 16 | place) % length;
            file[place] ^= edit[3];
        }
    }
    let folder = folder();
    let path = folder.path().join("journal.db");
    fs::write(&path, &journal).expect("a file of the test");
    fs::write(path.with_extension("db-wal"), &wal).expect("a file of the test");
    match Db::open(&path) {
        Ok((db, _)) => {
            let listed = orders(&db);
            drop(db);
            let verdict = Reading::open(&path).and_then(|mut book| book.verify());
            if let (Some(listed), Ok(verdict)) = (listed, verdict)
                && verdict.altered.is_none()
            {
                // The journal's end may be missing, because hashes without a secret cannot reveal that.
                for order in listed {
                    assert!(GOOD.orders.contains(&order), "nobody wrote {order}");
                }
            }
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert!(fs::read(&path).expect("a file of the test") == journal, "{error}, and yet the file was changed");
        }
    }
}
