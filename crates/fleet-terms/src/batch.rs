//! A batch of the journal's entries. Its check is the same at both ends.

use pos_till_api::JournalEntry;
use serde::{Deserialize, Serialize};

use crate::message::{Bounded, MessageError};

/// The greatest number of entries in a batch.
const MOST_ENTRIES: usize = 200;
/// The length of a hash in hexadecimal.
const HASH_DIGITS: usize = 64;

/// Entries of a journal, in their order and without a gap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// The identity of the journal.
    pub journal: String,
    /// The number of the entry before the first one, 0 at the journal's begin.
    pub after: i64,
    /// The entries. One that the shop's choice leaves out has its number and its hash only.
    pub entries: Vec<JournalEntry>,
}

impl Batch {
    /// The greatest number of entries in a batch.
    pub const MOST: usize = MOST_ENTRIES;

    /// Returns the number of the last entry.
    #[must_use]
    pub fn last(&self) -> i64 {
        self.entries.last().map_or(self.after, |entry| entry.entry)
    }

    fn check(&self) -> Result<(), BatchFault> {
        if !(1..=MOST_ENTRIES).contains(&self.entries.len()) {
            return Err(BatchFault::Count(self.entries.len()));
        }
        let is_identity = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
        if self.after < 0 || !(1..=HASH_DIGITS).contains(&self.journal.len()) || !self.journal.bytes().all(is_identity)
        {
            return Err(BatchFault::Journal);
        }
        let mut before = self.after;
        for entry in &self.entries {
            // A range of removed entries may begin before the cursor: the shop has removed more entries since.
            let begins = entry.first().unwrap_or(entry.entry);
            if entry.entry <= before || begins > before.saturating_add(1) {
                return Err(BatchFault::Order { before, entry: entry.entry });
            }
            let is_hash = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            if entry.hash.len() != HASH_DIGITS || !entry.hash.bytes().all(is_hash) {
                return Err(BatchFault::Hash(entry.entry));
            }
            before = entry.entry;
        }
        Ok(())
    }
}

impl Bounded for Batch {
    fn check(&self) -> Result<(), MessageError> {
        Ok(Self::check(self)?)
    }
}

/// The reason why entries are no batch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchFault {
    /// The number of entries.
    #[error("a batch has 1 to {MOST_ENTRIES} entries, not {0}")]
    Count(usize),
    /// The journal's identity or the number before the first entry.
    #[error("the journal's identity is hexadecimal, and the number before the first entry is not negative")]
    Journal,
    /// An entry does not follow the one before.
    #[error("entry {entry} does not follow entry {before}")]
    Order {
        /// The number of the entry before.
        before: i64,
        /// The number of the entry.
        entry: i64,
    },
    /// The hash of an entry.
    #[error("the hash of entry {0} is not {HASH_DIGITS} lower-case hexadecimal digits")]
    Hash(i64),
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{LARGEST, read, write};

    fn entry(number: i64, content: &Value) -> JournalEntry {
        let mut whole = json!({ "entry": number, "hash": format!("{number:064x}") });
        whole.as_object_mut().unwrap().extend(content.as_object().unwrap().clone());
        serde_json::from_value(whole).unwrap()
    }

    fn batch(after: i64, entries: Vec<JournalEntry>) -> Batch {
        Batch { journal: "5f0c7d1e".to_owned(), after, entries }
    }

    fn refused(batch: &Batch) -> String {
        let bytes = serde_json::to_vec(batch).unwrap();
        let read = read::<Batch>(&bytes).unwrap_err().to_string();
        assert_eq!(write(batch).unwrap_err().to_string(), read);
        read
    }

    #[test]
    fn a_batch_is_read_as_it_was_written_with_what_a_later_version_adds() {
        let step = json!({ "is": "step", "at": "2026-11-20T10:00:07.250Z", "facts": { "later": [1, null] } });
        let sent = batch(40, vec![entry(41, &json!({})), entry(42, &step)]);
        assert_eq!(read::<Batch>(&write(&sent).unwrap()).unwrap(), sent);
        assert_eq!(sent.last(), 42);
        // An entry that is left out has two fields only.
        assert_eq!(serde_json::to_value(&sent.entries[0]).unwrap().as_object().unwrap().len(), 2);
    }

    #[test]
    fn entries_follow_each_other_and_a_range_of_removed_ones_may_begin_before_the_cursor() {
        let removed = |first: i64, last: i64| entry(last, &json!({ "is": "removed", "first": first }));
        let plain = |number: i64| entry(number, &json!({}));
        for (after, entries) in [
            (0, vec![plain(1), plain(2)]),
            (0, vec![removed(1, 40), plain(41)]),
            (20, vec![removed(1, 40)]),
            (40, vec![removed(41, 60)]),
        ] {
            assert!(write(&batch(after, entries)).is_ok(), "after {after}");
        }
        for (after, entries, why) in [
            (0, vec![plain(2)], "entry 2 does not follow entry 0"),
            (0, vec![plain(1), plain(3)], "entry 3 does not follow entry 1"),
            (0, vec![plain(1), plain(1)], "entry 1 does not follow entry 1"),
            (5, vec![plain(5)], "entry 5 does not follow entry 5"),
            (5, vec![removed(7, 9)], "entry 9 does not follow entry 5"),
            (i64::MAX, vec![plain(i64::MIN)], "entry -9223372036854775808 does not follow entry 9223372036854775807"),
        ] {
            assert_eq!(refused(&batch(after, entries)), why);
        }
    }

    #[test]
    fn too_many_a_wrong_hash_and_a_wrong_journal_are_refused_by_name() {
        assert_eq!(refused(&batch(0, vec![])), "a batch has 1 to 200 entries, not 0");
        let many = (1..=201).map(|number| entry(number, &json!({}))).collect();
        assert_eq!(refused(&batch(0, many)), "a batch has 1 to 200 entries, not 201");
        for hash in ["", "ab", &"G".repeat(64), &"A".repeat(64), &"a".repeat(65)] {
            let wrong = JournalEntry { hash: hash.to_owned(), ..entry(1, &json!({})) };
            assert_eq!(refused(&batch(0, vec![wrong])), "the hash of entry 1 is not 64 lower-case hexadecimal digits");
        }
        for journal in ["", "'; drop table entry", &"a".repeat(65)] {
            let wrong = Batch { journal: journal.to_owned(), ..batch(0, vec![entry(1, &json!({}))]) };
            assert!(refused(&wrong).starts_with("the journal's identity"), "{journal}");
        }
    }

    #[test]
    fn huge_and_deep_bytes_are_refused() {
        assert_eq!(read::<Batch>(&vec![b' '; LARGEST + 1]).unwrap_err().to_string(), "49153 bytes are more than 49152");
        let deep = "[".repeat(LARGEST);
        assert!(read::<Batch>(deep.as_bytes()).is_err());
        let deep = format!(r#"{{"journal":"a","after":0,"entries":[{{"entry":1,"hash":"","x":{}"#, "[".repeat(40_000));
        assert!(read::<Batch>(deep.as_bytes()).unwrap_err().to_string().starts_with("recursion limit exceeded"));
    }
}
