//! The entries of the chain by number, as a program copies them to another place.

use std::path::Path;

use pos_journal::{ChainEntry, Content, Entries};
use serde_json::json;
use tempfile::TempDir;

use crate::book::{NOON, ended, file, leave_open, open, open_journal, sell, sql, well};
use pos_terms::transaction::SaleNumber;

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
    assert_eq!(mark.content, Content::Mark { at: "1970-01-01T00:00:00.000Z".to_owned(), what: None });
    assert!(!format!("{read:?}").contains("4111"));
}
