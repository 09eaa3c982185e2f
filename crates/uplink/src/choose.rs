//! Chooses what of each entry leaves the terminal, and fills batches.

use pos_fleet_terms::Batch;
use pos_till_api::{Entries, JournalEntry};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The greatest size of a batch's entries in bytes. Several batches fit into a broker's queue for one terminal.
const LARGEST_BATCH: usize = 32 * 1024;
/// The standings of a transaction that the server shows: an outcome, an unknown one, or a task for a person.
const SHOWN: [&str; 3] = ["ended", "unconfirmed", "needs-a-person"];
/// The fields that stay of an entry that is too large for a batch.
const KEPT: [&str; 5] = ["is", "at", "number", "till", "what"];
/// The greatest size of one of these fields, in bytes.
const LARGEST_KEPT: usize = 200;
/// The fields that stay of a close of day that is too large for a batch: its sums by kind and currency.
const SUMS: [&str; 4] = ["number", "day", "kinds", "net"];
/// The greatest size of these sums, in bytes. Those of ten currencies are smaller.
const LARGEST_SUMS: usize = 8 * 1024;

/// The entries that leave the terminal with their content. The others leave with number and hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kinds {
    /// Outcomes, unknown outcomes, closes, and what else is about the journal itself.
    #[default]
    Outcomes,
    /// Every entry.
    All,
}

impl Kinds {
    /// Fills a batch with the first of these entries, which follow the entry `after`. It leaves the rest for the next.
    #[must_use]
    pub fn batch(self, after: i64, read: Entries) -> Batch {
        let mut batch = Batch { journal: read.journal, after, entries: Vec::new() };
        let mut size = 0;
        for entry in read.entries {
            let mut entry = self.chosen(entry);
            let mut more = size_of(&entry);
            if more > LARGEST_BATCH {
                entry = shortened(entry);
                more = size_of(&entry);
            }
            size += more;
            if batch.entries.len() == Batch::MOST || (size > LARGEST_BATCH && !batch.entries.is_empty()) {
                break;
            }
            batch.entries.push(entry);
        }
        batch
    }

    fn chosen(self, entry: JournalEntry) -> JournalEntry {
        let standing = entry.content.get("facts").and_then(|facts| facts["standing"].as_str());
        match self == Self::All || entry.is() != Some("step") || standing.is_some_and(|it| SHOWN.contains(&it)) {
            true => entry,
            false => JournalEntry { content: Map::new(), ..entry },
        }
    }
}

/// Leaves out the content of an entry that is too large, and says so. The sums of a close stay, because the server
/// shows the money of all shops.
fn shortened(mut entry: JournalEntry) -> JournalEntry {
    let sums = entry.content.remove("close").and_then(sums);
    entry.content.retain(|name, value| KEPT.contains(&name.as_str()) && value.to_string().len() < LARGEST_KEPT);
    entry.content.extend(sums.map(|sums| ("close".to_owned(), sums)));
    entry.content.insert("leftOut".to_owned(), Value::from("size"));
    entry
}

/// Returns the sums of a close by kind and currency, unless they are large themselves.
fn sums(close: Value) -> Option<Value> {
    let Value::Object(mut close) = close else { return None };
    close.retain(|name, _| SUMS.contains(&name.as_str()));
    let sums = Value::Object(close);
    (sums.to_string().len() < LARGEST_SUMS).then_some(sums)
}

/// Returns the number of bytes of an entry in a message.
fn size_of(entry: &JournalEntry) -> usize {
    serde_json::to_vec(entry).map_or(usize::MAX, |bytes| bytes.len() + 1)
}

#[cfg(test)]
mod tests {
    use pos_fleet_terms::write;
    use pos_till_api::LastEntry;
    use serde_json::json;

    use super::*;

    fn entry(number: i64, content: Value) -> JournalEntry {
        let Value::Object(content) = content else { panic!("{content}") };
        JournalEntry { entry: number, hash: format!("{number:064x}"), content }
    }

    fn read(entries: Vec<JournalEntry>) -> Entries {
        let last = LastEntry { entry: 900, hash: "0".repeat(64) };
        Entries { journal: "5f0c".to_owned(), last, entries }
    }

    #[test]
    fn a_step_on_the_way_leaves_its_content_at_the_terminal() {
        let step = |standing: &str| json!({ "is": "step", "number": 17, "facts": { "standing": standing } });
        let mark = json!({ "is": "mark", "what": { "is": "close" } });
        let removed = json!({ "is": "removed", "first": 1 });
        let all = vec![
            entry(3, removed),
            entry(4, step("in-progress")),
            entry(5, step("unconfirmed")),
            entry(6, step("needs-a-person")),
            entry(7, step("ended")),
            entry(8, mark),
        ];
        let batch = Kinds::Outcomes.batch(2, read(all.clone()));
        let has_content = |batch: &Batch| batch.entries.iter().map(|it| !it.content.is_empty()).collect::<Vec<_>>();
        assert_eq!(has_content(&batch), [true, false, true, true, true, true]);
        assert_eq!(Kinds::All.batch(2, read(all.clone())).entries, all);
        assert!(write(&batch).is_ok());
    }

    #[test]
    fn a_batch_ends_before_its_size_and_every_entry_fits_into_one() {
        let with = |bytes: usize| json!({ "is": "mark", "at": "now", "what": "x".repeat(bytes) });
        let mut left: Vec<_> = (1..=40).map(|number| entry(number, with(2_000))).collect();
        left.extend([entry(41, with(200_000)), entry(42, with(10))]);
        let mut after = 0;
        let mut batches = 0;
        while after < 42 {
            let batch = Kinds::All.batch(after, read(left.clone()));
            assert!(write(&batch).unwrap().len() < LARGEST_BATCH + 200);
            after = batch.last();
            left.retain(|entry| entry.entry > after);
            batches += 1;
        }
        assert_eq!(batches, 3);
        let large = Kinds::All.batch(40, read(vec![entry(41, with(200_000))]));
        assert_eq!(
            large.entries[0].content,
            *json!({ "is": "mark", "at": "now", "leftOut": "size" }).as_object().unwrap()
        );
    }

    #[test]
    fn a_large_close_keeps_its_sums_and_huge_sums_are_left_out() {
        let what = json!({ "is": "close", "number": 7, "sha256": "ab".repeat(32) });
        let close = |sum: &str, open: usize| {
            let (kinds, net) = (json!([{ "kind": "sale", "sum": sum }]), json!([{ "net": "12.34" }]));
            json!({ "number": 7, "day": "2026-11-20", "kinds": kinds, "net": net, "open": "x".repeat(open) })
        };
        let sent = |close: Value| {
            let mark = json!({ "is": "mark", "at": "now", "what": what, "close": close });
            let batch = Kinds::Outcomes.batch(40, read(vec![entry(41, mark)]));
            assert!(write(&batch).is_ok());
            Value::Object(batch.entries[0].content.clone())
        };
        assert!(sent(close("12.34", 10_000))["leftOut"].is_null());
        let cut = sent(close("12.34", 100_000));
        assert_eq!((&cut["what"], &cut["leftOut"]), (&what, &json!("size")));
        assert_eq!((&cut["close"]["kinds"][0]["sum"], &cut["close"]["open"]), (&json!("12.34"), &Value::Null));
        let gone = sent(close(&"1".repeat(100_000), 0));
        assert_eq!((&gone["what"], gone.get("close")), (&what, None));
    }
}
