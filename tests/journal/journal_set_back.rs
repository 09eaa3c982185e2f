//! Times that a wrong clock wrote in the journal. The tests show the errors that such times cause, and which of
//! them remain after the clock has been set back.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use crate::book::{self, DAY, NOON, asked, end, file, open, open_journal, record, said, sell, until_free, well};
use pos_core::transaction::{Deadlines, Event, Inquiry, Now, Transaction};
use pos_journal::{CLOCKS_DIFFER_MS, Db, Error, Opened, adopt, inspect};
use pos_terms::transaction::SaleNumber;
use serde_json::json;
use tempfile::TempDir;

const YEAR: i64 = 365 * DAY;
const HOUR: u64 = 3600;

/// Opens the journal and closes it again. Returns what the opening found.
fn opened(path: &Path) -> Opened {
    until_free(path);
    Db::open(path).unwrap().1
}

/// Writes a transaction that began at this time and is being reversed.
fn leave_open(db: &mut Db, number: u64, reference: &str, unix_ms: i64) {
    let mut order = book::order(number, reference);
    order["startedUnixMs"] = unix_ms.into();
    db.write(SaleNumber::new(number), 0, unix_ms, &[record(json!({"kind": "started", "order": order}))]).unwrap();
    db.write(SaleNumber::new(number), 1, unix_ms, &[asked()]).unwrap();
    db.write(SaleNumber::new(number), 2, unix_ms, &[book::reversing()]).unwrap();
}

/// Returns whether the gateway's answer "not there" is final for a process that has been watching for slightly more
/// than an hour.
fn is_final(sale: &mut Transaction, unix_ms: i64) -> bool {
    let hours = |hours| Duration::from_secs(hours * HOUR);
    let deadlines = Deadlines {
        resend: hours(1),
        refuses_repeats: true,
        lists_registrations: true,
        pending: hours(1),
        absence_final: hours(24),
        signature: None,
        till: Duration::ZERO,
    };
    for monotonic in [Duration::ZERO, hours(1)] {
        let now = Now { monotonic, unix_ms: unix_ms + i64::try_from(monotonic.as_millis()).unwrap() };
        let step = sale.handle(Event::Inquired(Inquiry::Payments(Vec::new())), now, deadlines);
        if !step.records().is_empty() {
            return true;
        }
    }
    false
}

#[test]
fn a_mark_in_the_book_takes_the_floor_back_and_nothing_else() {
    let dir = TempDir::new().unwrap();
    sell(&mut open(&file(&dir)), 1, "one", NOON);
    sell(&mut open(&file(&dir)), 2, "two", NOON + YEAR);
    let before = opened(&file(&dir));
    assert_eq!((before.last_unix_ms, before.first_unix_ms), (NOON + YEAR + 2000, NOON));
    let now = NOON + DAY;
    let set_back = open(&file(&dir)).set_clock_back(now, "J. Doe").unwrap();
    assert_eq!((set_back.latest_unix_ms, set_back.now_unix_ms), (NOON + YEAR + 2000, now));
    let after = opened(&file(&dir));
    assert_eq!((after.last_unix_ms, after.first_unix_ms), (now - CLOCKS_DIFFER_MS, NOON));
    // Later records count again. Earlier records stay unchanged.
    sell(&mut open(&file(&dir)), 3, "three", now + 10_000);
    assert_eq!(opened(&file(&dir)).last_unix_ms, now + 12_000);
    let verdict = well(&file(&dir));
    assert_eq!((verdict.transactions, verdict.marks), (3, 1));
    let found = inspect(&file(&dir)).unwrap().sales.unwrap();
    assert_eq!((found.latest.unix_ms, found.latest.number), (now + 12_000, Some(3)));
    assert_eq!(found.set_back.unwrap().by, "J. Doe");
    // The clock can be set back again only if the journal contains another record from a later time. This writes a
    // second mark. Without such a record, nothing is set back.
    let nothing = open(&file(&dir)).set_clock_back(now + DAY, "J. Doe").unwrap_err();
    assert!(matches!(nothing, Error::ClockStays { .. }), "{nothing}");
    sell(&mut open(&file(&dir)), 4, "four", now + YEAR);
    open(&file(&dir)).set_clock_back(now + DAY, "the reader's clock and the gateway's").unwrap();
    assert_eq!(opened(&file(&dir)).last_unix_ms, now + DAY - CLOCKS_DIFFER_MS);
    assert_eq!(well(&file(&dir)).marks, 2);
}

#[test]
fn what_is_open_since_before_is_neither_final_too_early_nor_never() {
    let dir = TempDir::new().unwrap();
    // The transaction began a minute before the clock was set back, with a clock that was a year ahead.
    leave_open(&mut open(&file(&dir)), 1, "one", NOON + YEAR - 60_000);
    let mut never = opened(&file(&dir)).unsettled.remove(0);
    assert!(!is_final(&mut never, NOON + 300 * DAY), "a terminal that is switched off each night waits for a year");
    open(&file(&dir)).set_clock_back(NOON, "J. Doe").unwrap();
    let replayed = || opened(&file(&dir)).unsettled.remove(0);
    assert!(!is_final(&mut replayed(), NOON + 22 * DAY / 24));
    assert!(is_final(&mut replayed(), NOON + DAY - 3_599_000));
    // A transaction that began afterwards has its true age. A later mark does not change its time.
    leave_open(&mut open(&file(&dir)), 2, "two", NOON + 10 * DAY);
    let later = || opened(&file(&dir)).unsettled.remove(1);
    assert!(!is_final(&mut later(), NOON + 10 * DAY + 22 * DAY / 24));
    assert!(is_final(&mut later(), NOON + 11 * DAY));
}

#[test]
fn a_request_that_is_made_again_afterwards_is_as_young_as_it_is() {
    let dir = TempDir::new().unwrap();
    {
        let mut db = open(&file(&dir));
        sell(&mut db, 1, "one", NOON);
        let mut order = book::order(2, "two");
        order["startedUnixMs"] = (NOON + YEAR).into();
        order["kind"] = json!({"is": "refund", "of": {"payment": "a".repeat(32), "number": 1}});
        let confirming = || record(json!({"kind": "confirming", "why": "no answer"}));
        db.write(SaleNumber::new(2), 0, NOON + YEAR, &[record(json!({"kind": "started", "order": order}))]).unwrap();
        db.write(SaleNumber::new(2), 1, NOON + YEAR, &[asked()]).unwrap();
        db.write(SaleNumber::new(2), 2, NOON + YEAR, &[confirming()]).unwrap();
        db.set_clock_back(NOON + DAY, "J. Doe").unwrap();
        let again = record(json!({"kind": "asked", "againUnixMs": NOON + 3 * DAY}));
        db.write(SaleNumber::new(2), 3, NOON + 3 * DAY, &[again]).unwrap();
        db.write(SaleNumber::new(2), 4, NOON + 3 * DAY, &[confirming()]).unwrap();
    }
    let replayed = || opened(&file(&dir)).unsettled.remove(0);
    let resent = |sale: &mut Transaction, unix_ms| {
        let deadlines = Deadlines {
            resend: Duration::ZERO,
            refuses_repeats: false,
            lists_registrations: true,
            pending: Duration::ZERO,
            absence_final: Duration::from_secs(24 * HOUR),
            signature: None,
            till: Duration::ZERO,
        };
        [Duration::ZERO, Duration::from_secs(HOUR)].iter().any(|monotonic| {
            let now = Now { monotonic: *monotonic, unix_ms };
            let step = sale.handle(Event::Inquired(Inquiry::Payments(Vec::new())), now, deadlines);
            !step.records().is_empty()
        })
    };
    assert!(!resent(&mut replayed(), NOON + 3 * DAY + 23 * DAY / 24), "its second request may still be on its way");
    assert!(resent(&mut replayed(), NOON + 4 * DAY));
}

#[test]
fn an_old_copy_is_looked_for_from_the_last_time_that_can_be_right() {
    let dir = TempDir::new().unwrap();
    {
        let mut db = open(&file(&dir));
        sell(&mut db, 1, "one", NOON);
        sell(&mut db, 2, "two", NOON + YEAR);
    }
    // The copy is made at this point. It is restored five days later with a correct clock.
    let (journal, opened_as) = open_journal(&file(&dir)).unwrap();
    assert_eq!(opened_as.known_until_unix_ms, Some(NOON + YEAR + 2000));
    assert_eq!(journal.known_until(NOON + 6 * DAY).unwrap(), Some(NOON + 2000), "the sale of before is what it knows");
    drop(journal);
    open(&file(&dir)).set_clock_back(NOON + 5 * DAY, "J. Doe").unwrap();
    assert_eq!(opened(&file(&dir)).known_until_unix_ms, Some(NOON + 2000), "not since the clock was set back");
    // New sales do not shorten the period either, as long as the gateway has not answered.
    sell(&mut open(&file(&dir)), 3, "three", NOON + 5 * DAY);
    assert_eq!(opened(&file(&dir)).known_until_unix_ms, Some(NOON + 2000));
    let (journal, _) = open_journal(&file(&dir)).unwrap();
    journal.look_from(None).unwrap();
    drop(journal);
    assert_eq!(opened(&file(&dir)).known_until_unix_ms, Some(NOON + 5 * DAY + 2000));

    // Another board's journal whose clock was ahead when it was copied. The look-up also covers everything that board
    // has done since.
    let theirs = TempDir::new().unwrap();
    {
        let mut db = open(&file(&theirs));
        sell(&mut db, 1, "their-one", NOON - 3 * DAY);
        end(&mut db, 2, book::started(2, "their-two"), NOON + YEAR);
    }
    until_free(&file(&theirs));
    until_free(&file(&dir));
    adopt(&file(&dir), &file(&theirs), None, NOON + 5 * DAY).unwrap();
    assert_eq!(opened(&file(&dir)).known_until_unix_ms, Some(NOON - 3 * DAY + 2000));
}

#[test]
fn days_are_kept_as_before_when_the_clock_is_set_back() {
    let dir = TempDir::new().unwrap();
    let mut db = open(&file(&dir));
    for day in 0..20_u64 {
        sell(&mut db, day + 1, &format!("R{day}"), NOON + i64::try_from(day).unwrap() * DAY);
    }
    sell(&mut db, 21, "ahead", NOON + YEAR);
    db.set_clock_back(NOON + 20 * DAY, "J. Doe").unwrap();
    sell(&mut db, 22, "right", NOON + 20 * DAY);
    db.keep_days(Some(20));
    let gone: u64 = std::iter::from_fn(|| Some(db.prune().unwrap())).take_while(|gone| *gone > 0).sum();
    assert_eq!(gone, 2, "the year that the clock was ahead is one day");
    drop(db);
    let (db, reopened) = Db::open(&file(&dir)).unwrap();
    assert_eq!(reopened.last_unix_ms, NOON + 20 * DAY + 2000);
    drop(db);
    assert_eq!(well(&file(&dir)).transactions, 20, "the mark stays when what was written around it has left");
}

// ---- The command

fn set_clock_back(journal: &Path, today: &str) -> Output {
    until_free(journal);
    let mut command = Command::new(env!("CARGO_BIN_EXE_pos-agent"));
    command.args(["journal", "set-clock-back", "--by", "J. Doe", "--today", today, "--journal"]).arg(journal);
    command.env_remove("RUST_LOG").output().unwrap()
}

#[test]
fn a_technician_sets_the_clock_back_and_the_book_says_who() {
    let dir = TempDir::new().unwrap();
    let (now, today) = (chrono::Utc::now().timestamp_millis(), chrono::Utc::now().date_naive());
    let date = |days| (today + chrono::TimeDelta::days(days)).to_string();
    sell(&mut open(&file(&dir)), 1, "one", now - DAY);
    let output = set_clock_back(&file(&dir), &date(0));
    assert_eq!(output.status.code(), Some(65), "{}", said(&output));
    assert!(said(&output).contains("nothing shows that the clock is wrong"), "{}", said(&output));
    sell(&mut open(&file(&dir)), 2, "two", now + YEAR);
    // If the operator gives a different day from the board's, the operator must first check the board's clock. While
    // the agent runs, the command is refused.
    let output = set_clock_back(&file(&dir), &date(2));
    assert_eq!(output.status.code(), Some(65), "{}", said(&output));
    assert!(said(&output).contains("set the clock first (timedatectl set-time)"), "{}", said(&output));
    let running = open(&file(&dir));
    let output = set_clock_back(&file(&dir), &date(0));
    assert_eq!(output.status.code(), Some(74), "{}", said(&output));
    assert!(said(&output).contains("is in use by another pos-agent"), "{}", said(&output));
    drop(running);
    assert_eq!(opened(&file(&dir)).last_unix_ms, now + YEAR + 2000, "nothing has changed");

    let output = set_clock_back(&file(&dir), &date(0));
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("the agent accepts an earlier clock again"), "{}", said(&output));
    assert!(opened(&file(&dir)).last_unix_ms < now + DAY);
    let by = inspect(&file(&dir)).unwrap().sales.unwrap().set_back.unwrap().by;
    assert!(by.starts_with("J. Doe (user "), "{by}");
    let verdict = well(&file(&dir));
    assert!(said(&output).contains(&verdict.head.unwrap().hex()), "{}", said(&output));
    book::sql(&file(&dir), "UPDATE mark SET what = replace(what, 'J. Doe', 'R. Roe')");
    assert!(book::verify(&file(&dir)).altered.is_some(), "it is in the chain");
    let missing = dir.path().join("other.db");
    assert_eq!(set_clock_back(&missing, &date(0)).status.code(), Some(65));
    assert!(!missing.exists());
    // A whole transaction follows as usual.
    end(&mut open(&file(&dir)), 3, book::started(3, "three"), now);
}
