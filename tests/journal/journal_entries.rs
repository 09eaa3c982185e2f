//! The entries of the chain by number, as a program copies them to another place.

use std::path::Path;

use pos_journal::{ChainEntry, Content, Entries};
use serde_json::json;
use tempfile::TempDir;

use crate::book::{NOON, ended, file, leave_open, open, open_journal, sell, sql, well};
use pos_core::counter::{Close, ClosePeriod, OpenItem, OpenKind, Sum, Turnover};
use pos_terms::transaction::{Kind, SaleNumber};

/// Reads at most `limit` entries after this one.
async fn after(path: &Path, entry: i64, limit: u32) -> Entries {
    let (journal, _) = open_journal(path).unwrap();
    journal.at_one_moment(move |moment| moment.entries_after(entry, limit)).await.unwrap()
}

/// Writes a sale, and one whose reversal is in progress and that ends later.
fn written(path: &Path) {
    let mut db = open(path);
    sell(&mut db, 1, "one", NOON);
    leave_open(&mut db, 2, "two", NOON + 10_000);
    db.write(SaleNumber::new(2), 3, NOON + 31_000, &[ended()]).unwrap();
}

fn facts(entry: &ChainEntry) -> &serde_json::Value {
    let Content::Step { facts: Some(facts), .. } = &entry.content else { panic!("{entry:?}") };
    facts
}

#[tokio::test]
async fn every_entry_is_read_once_in_its_order_and_with_its_hash() {
    let dir = TempDir::new().unwrap();
    written(&file(&dir));
    let head = well(&file(&dir)).head.unwrap();
    let (mut all, mut last) = (Vec::new(), 0);
    while last < head.entry {
        let read = after(&file(&dir), last, 3).await;
        assert_eq!(read.last, head);
        assert!((1..=3).contains(&read.entries.len()));
        last = read.entries.last().unwrap().entry;
        all.extend(read.entries);
    }
    let numbers: Vec<_> = all.iter().map(|entry| entry.entry).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(all[6].hash, head.hex());
    let read = after(&file(&dir), head.entry, 3).await;
    assert_eq!((read.entries.as_slice(), read.last), (&[][..], head));
    assert_eq!(read.journal.len(), 32, "{}", read.journal);
    // A step has the facts of its own moment.
    let standings: Vec<_> = all.iter().map(|entry| facts(entry)["standing"].as_str().unwrap()).collect();
    assert_eq!(
        standings,
        ["waiting-for-card", "in-progress", "ended", "waiting-for-card", "in-progress", "unconfirmed", "ended"]
    );
    let Content::Step { at, number, till, reference, records, .. } = &all[5].content else { panic!("{all:?}") };
    assert_eq!((at.as_str(), *number), ("2026-11-20T12:00:10.000Z", 2));
    assert_eq!((till.as_str(), reference.as_str()), ("till-1", "two"));
    assert_eq!((&records[0]["is"], &records[0]["why"]), (&json!("reversing"), &json!("no answer")), "{records}");
}

#[tokio::test]
async fn what_was_removed_is_one_entry_also_for_a_caller_that_has_a_part_of_it() {
    let dir = TempDir::new().unwrap();
    written(&file(&dir));
    sql(
        &file(&dir),
        "INSERT INTO gap SELECT 1, 3, chain FROM step WHERE entry = 3; DELETE FROM step WHERE entry < 4;
         DELETE FROM sale WHERE number = 1",
    );
    for has in [0, 1, 2] {
        let read = after(&file(&dir), has, 2).await;
        assert_eq!((read.entries[0].entry, &read.entries[0].content), (3, &Content::Removed { first: 1 }));
        assert_eq!(read.entries[1].entry, 4);
    }
    assert_eq!(after(&file(&dir), 3, 1).await.entries[0].entry, 4);
}

#[tokio::test]
async fn what_a_later_version_wrote_has_a_number_and_a_hash() {
    let dir = TempDir::new().unwrap();
    written(&file(&dir));
    sql(
        &file(&dir),
        "INSERT INTO mark VALUES (8, 0, '{\"is\":\"of-later\",\"secret\":\"4111111111111111\"}', zeroblob(32));
         UPDATE step SET records = '[{\"kind\":\"of-later\",\"secret\":\"4111111111111111\"}]' WHERE entry = 3",
    );
    let read = after(&file(&dir), 2, 9).await;
    let [step, .., mark] = read.entries.as_slice() else { panic!("{read:?}") };
    let Content::Step { records, facts: None, .. } = &step.content else { panic!("{step:?}") };
    assert_eq!(records, &json!([]));
    assert_eq!(mark.content, Content::Mark { at: "1970-01-01T00:00:00.000Z".to_owned(), what: None, close: None });
    assert!(!format!("{read:?}").contains("4111"));
}

/// A close with one sale, and this number of open transactions.
fn close(number: u64, open: u64) -> Close {
    let period = ClosePeriod { after_entry: 0, to_entry: 7, from: None, to: "2026-11-20T13:00:00+01:00".to_owned() };
    let (terminal, day, till) = ("12345678".to_owned(), "2026-11-20".to_owned(), "till-1".to_owned());
    let (currency, sum) = ("EUR".to_owned(), "12.34".to_owned());
    let net = Turnover {
        name: None,
        currency: currency.clone(),
        count: 1,
        taken_count: Some(1),
        given_count: Some(0),
        taken: sum.clone(),
        given: "0.00".to_owned(),
        net: sum.clone(),
    };
    let item = |number| OpenItem {
        is: OpenKind::Unconfirmed,
        number: SaleNumber::new(number),
        till: Some("till-1".to_owned()),
        reference: None,
        kind: Some(Kind::Sale),
        amount: Some("80.00".to_owned()),
        currency: Some("EUR".to_owned()),
    };
    Close {
        net: vec![net],
        kinds: vec![Sum { kind: Kind::Sale, scheme: None, currency, count: 1, sum }],
        open: (1..=open).map(item).collect(),
        ..Close::empty(number, terminal, day, period, till)
    }
}

#[tokio::test]
async fn the_mark_of_a_close_carries_what_the_close_says_if_its_hash_vouches_for_it() {
    let dir = TempDir::new().unwrap();
    written(&file(&dir));
    let mut db = open(&file(&dir));
    let large = close(2, 1_000);
    for close in [close(1, 1), large.clone(), close(3, 1)] {
        db.write_close(&close, NOON + 60_000).unwrap();
    }
    drop(db);
    sql(&file(&dir), "UPDATE close SET content = replace(content, '12.34', '99.99') WHERE number = 3");
    let read = after(&file(&dir), 7, 9).await;
    let carried = |at: usize| {
        let Content::Mark { what: Some(what), close, .. } = &read.entries[at].content else { panic!("{read:?}") };
        assert_eq!((&what["is"], &what["number"]), (&json!("close"), &json!(at + 1)));
        close.as_deref().cloned()
    };
    assert_eq!(carried(0), Some(close(1, 1)));
    // A close that grows with the shop is cut to its sums.
    assert_eq!(carried(1), Some(Close { open: Vec::new(), ..large }));
    // The chain does not vouch for the changed content.
    assert_eq!(carried(2), None);
    let shown = serde_json::to_value(&read.entries[0]).unwrap();
    assert_eq!((&shown["is"], &shown["close"]["kinds"][0]["sum"]), (&json!("mark"), &json!("12.34")));
}
