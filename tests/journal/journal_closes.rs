//! Closes of day in the journal. Each close is one entry of the chain, written in full or not at all. Transactions that
//! no close has counted stay in the journal. Transactions that another board's closes have counted are not counted
//! again.

use std::path::Path;

use crate::book::{DAY, NOON, file, leave_open, number, open, open_journal, sell, sql, verify, well};
use chrono::DateTime;
use pos_core::counter::{Close, ClosePeriod};
use pos_journal::{Db, LastClose, adopt, inspect};
use pos_terms::transaction::{Reference, SaleNumber};
use tempfile::TempDir;

fn close(number: u64, after_entry: i64, to_entry: i64) -> Close {
    let period = ClosePeriod { after_entry, to_entry, from: None, to: "2026-11-20T13:00:00+01:00".to_owned() };
    let (terminal, day, till) = ("12345678".to_owned(), "2026-11-20".to_owned(), "till-1".to_owned());
    let reference = Some(Reference::parse(format!("Z{number}")).unwrap());
    Close { reference, ..Close::empty(number, terminal, day, period, till) }
}

/// Makes a close with every transaction in the journal.
fn closed(db: &mut Db, number: u64) -> Close {
    let close = close(number, 0, db.head().unwrap().entry);
    db.write_close(&close, NOON).unwrap();
    close
}

fn prune(db: &mut Db) -> u64 {
    std::iter::from_fn(|| Some(db.prune().unwrap())).take_while(|gone| *gone > 0).sum()
}

#[test]
fn a_close_is_an_entry_of_the_chain_and_comes_back_as_it_was() {
    let dir = TempDir::new().unwrap();
    let mut db = open(&file(&dir));
    sell(&mut db, 1, "R1", NOON);
    let first = closed(&mut db, 1);
    sell(&mut db, 2, "R2", NOON);
    let second = closed(&mut db, 2);
    // A close's number and a till's reference can be used only once.
    assert!(db.write_close(&close(2, 0, 9), NOON).is_err());
    let again = Close { number: 3, ..second.clone() };
    assert!(db.write_close(&again, NOON).is_err());
    assert_eq!(db.closes(u64::MAX, 10).unwrap(), [second.clone(), first.clone()]);
    assert_eq!(db.closes(2, 10).unwrap(), [first]);
    assert_eq!(db.closes(u64::MAX, 1).unwrap(), std::slice::from_ref(&second));
    sell(&mut db, 3, "R3", NOON);
    drop(db);
    let verdict = well(&file(&dir));
    assert_eq!((verdict.closes, verdict.marks, verdict.steps), (2, 2, 9));
    let (journal, _) = open_journal(&file(&dir)).unwrap();
    assert_eq!(journal.last_close().unwrap(), Some(second.clone()));
    assert_eq!(journal.close_of("till-1", second.reference.as_ref().unwrap()).unwrap(), Some(second));
    assert_eq!(journal.close(7).unwrap(), None);
}

#[test]
fn a_close_that_was_altered_taken_out_or_put_in_is_found() {
    for (change, why) in [
        ("UPDATE close SET content = replace(content, 'till-1', 'till-2') WHERE number = 2", "this close was changed"),
        ("DELETE FROM close WHERE number = 1", "is missing"),
        (
            "INSERT INTO close SELECT 3, till, NULL, to_entry, content FROM close WHERE number = 1",
            "is not in the chain",
        ),
        ("UPDATE mark SET what = replace(what, '\"number\":2', '\"number\":1')", "this mark was changed"),
    ] {
        let dir = TempDir::new().unwrap();
        let mut db = open(&file(&dir));
        sell(&mut db, 1, "R1", NOON);
        closed(&mut db, 1);
        closed(&mut db, 2);
        drop(db);
        well(&file(&dir));
        sql(&file(&dir), change);
        let altered = verify(&file(&dir)).altered.unwrap_or_else(|| panic!("{change}: not found"));
        assert!(altered.why.contains(why), "{change}: {}", altered.why);
    }
}

/// Writes 100 days with one sale each; 90 days are kept.
fn a_hundred_days(path: &Path) -> Db {
    let mut db = open(path);
    for sale in 1..=100_u64 {
        sell(&mut db, sale, &format!("R{sale}"), NOON + i64::try_from(sale).unwrap() * DAY);
    }
    db.keep_days(Some(90));
    db
}

#[test]
fn what_no_close_has_counted_stays_however_old_it_is() {
    let dir = TempDir::new().unwrap();
    let mut db = open(&file(&dir));
    sell(&mut db, 1, "R1", NOON + DAY);
    closed(&mut db, 1);
    drop(db);
    let mut db = open(&file(&dir));
    for sale in 2..=100_u64 {
        sell(&mut db, sale, &format!("R{sale}"), NOON + i64::try_from(sale).unwrap() * DAY);
    }
    db.keep_days(Some(90));
    assert_eq!(prune(&mut db), 1, "the one that the close has counted");
    closed(&mut db, 2);
    // Retention runs again the next day.
    sell(&mut db, 101, "R101", NOON + 101 * DAY);
    assert_eq!(prune(&mut db), 10);
    drop(db);
    assert_eq!(well(&file(&dir)).closes, 2, "closes stay");
    // In a shop that never closes, retention removes all transactions that are old enough.
    let dir = TempDir::new().unwrap();
    assert_eq!(prune(&mut a_hundred_days(&file(&dir))), 10);
}

/// Returns the transactions that the journal's next close counts, each with its number. The flag is set if another
/// journal's close has counted the transaction.
fn ended(path: &Path) -> Vec<(u64, bool)> {
    let (journal, _) = open_journal(path).unwrap();
    let after = journal.last_close().unwrap().map_or(0, |close| close.period.to_entry);
    let read = journal.at_one_moment(move |book| {
        let mut found = Vec::new();
        book.ended_after(after, |ended| {
            found.push((ended.sale.unwrap().order().number.get(), ended.counted_elsewhere));
            Ok(())
        })?;
        Ok(found)
    });
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(read).unwrap()
}

#[test]
fn what_another_boards_close_had_counted_is_not_counted_here_again() {
    let (old, new) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut db = open(&file(&old));
    sell(&mut db, 1, "R1", NOON);
    sell(&mut db, 2, "R2", NOON);
    closed(&mut db, 1);
    sell(&mut db, 3, "R3", NOON);
    drop(db);
    assert_eq!(ended(&file(&old)), [(3, false)]);
    let mut db = open(&file(&new));
    sell(&mut db, 1, "N1", NOON);
    leave_open(&mut db, 2, "N2", NOON);
    drop(db);
    adopt(&file(&new), &file(&old), None, NOON).unwrap();
    assert_eq!(ended(&file(&new)), [(1, false), (3, true), (4, true), (5, false)]);
    well(&file(&new));
}

#[test]
fn a_journal_of_before_is_brought_up_to_closes() {
    let dir = TempDir::new().unwrap();
    let mut db = open(&file(&dir));
    sell(&mut db, 1, "R1", NOON);
    drop(db);
    sql(&file(&dir), "DROP TABLE close; UPDATE about SET format = 6;");
    assert_eq!(well(&file(&dir)).closes, 0, "beside a program that has not opened it yet");
    let mut db = open(&file(&dir));
    assert_eq!(number(&file(&dir), "SELECT format FROM about"), 7);
    assert_eq!(number(&file(&dir), "PRAGMA user_version"), 2, "the earlier program may go on with it");
    closed(&mut db, 1);
    sell(&mut db, 2, "R2", NOON);
    assert_eq!(
        db.find("till-1", &Reference::parse("R2").unwrap()).unwrap().unwrap().order().number,
        SaleNumber::new(2)
    );
    drop(db);
    well(&file(&dir));
}

/// Checks that `doctor` reports a shop that no longer makes closes.
#[test]
fn how_many_days_were_sold_on_since_the_latest_close_is_seen() {
    let dir = TempDir::new().unwrap();
    let mut db = open(&file(&dir));
    sell(&mut db, 1, "R1", NOON);
    let seen = || inspect(&file(&dir)).unwrap().sales.unwrap().closed;
    assert_eq!(seen(), None);
    let first = closed(&mut db, 1);
    let at = DateTime::parse_from_rfc3339(&first.period.to).unwrap().timestamp_millis();
    for (n, later) in [(2, 0), (3, DAY), (4, DAY), (5, 3 * DAY)] {
        sell(&mut db, n, &format!("R{n}"), at + later);
    }
    assert_eq!(seen(), Some(LastClose { number: 1, at: first.period.to, days_since: 2 }));
}
