//! The chain: every entry holds a hash over itself and over the entry before it.
//!
//! ```text
//! hash(n) = SHA-256( hash(n-1) || field || field || … )      each field with its length before it, eight bytes, big-endian
//! ```
//!
//! An entry is a row of `step` or of `mark`. `entry` counts both in the order of their commits, from 1. Before the
//! first there are 32 zero bytes. The fields of a step are `step`, entry, id, sale, unix_ms, records; of a mark `mark`,
//! entry, unix_ms, what. They never change: a later column is not hashed. The contents of `sale` are in the
//! transaction's first record too, and are checked against it.
//!
//! A hash without a secret shows that a person altered, removed, inserted or moved rows without recomputing every later
//! hash. A recomputed chain, or one with its end cut off, can be detected only with an earlier [`Head`] that was kept
//! elsewhere. Entry n must still have that hash.

use ring::digest::{Context, SHA256};
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::Error;
use super::db::failed;
use pos_terms::transaction::{OperatorName, Who};

/// A SHA-256 hash.
pub(super) type Hash = [u8; 32];

/// The end of the chain: the number and the hash of its last entry. It is meant to be kept elsewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The entry, counted from 1 in the order of commits; 0 in an empty journal.
    pub entry: i64,
    /// The hash of the entry.
    pub hash: [u8; 32],
}

impl std::fmt::Debug for Head {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.entry, self.hex())
    }
}

/// A row of `step` as it is hashed.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepRow<'a> {
    pub(super) id: i64,
    pub(super) sale: i64,
    pub(super) unix_ms: i64,
    pub(super) records: &'a str,
}

impl Head {
    /// The state before the first entry.
    pub(super) const BEGINNING: Self = Self { entry: 0, hash: [0; 32] };

    /// Returns the hash as text.
    #[must_use]
    pub fn hex(&self) -> String {
        hex::encode(self.hash)
    }

    /// Returns the next entry, for this step.
    pub(super) fn then_step(&self, row: StepRow<'_>) -> Self {
        let (entry, id, sale, at) = (self.entry + 1, row.id, row.sale, row.unix_ms);
        self.then(&[
            b"step",
            &entry.to_be_bytes(),
            &id.to_be_bytes(),
            &sale.to_be_bytes(),
            &at.to_be_bytes(),
            row.records.as_bytes(),
        ])
    }

    /// Returns the next entry, for this mark.
    pub(super) fn then_mark(&self, unix_ms: i64, what: &str) -> Self {
        let entry = self.entry + 1;
        self.then(&[b"mark", &entry.to_be_bytes(), &unix_ms.to_be_bytes(), what.as_bytes()])
    }

    fn then(&self, fields: &[&[u8]]) -> Self {
        let mut context = Context::new(&SHA256);
        context.update(&self.hash);
        for field in fields {
            context.update(&(field.len() as u64).to_be_bytes());
            context.update(field);
        }
        Self { entry: self.entry + 1, hash: finish(context) }
    }

    /// Reads the last entry of the file.
    pub(super) fn read(connection: &Connection) -> Result<Self, Error> {
        let last = |sql: &str| {
            let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Hash>(1)?));
            connection.prepare_cached(sql).and_then(|mut select| select.query_row([], row).optional()).map_err(failed)
        };
        let step = last("SELECT entry, chain FROM step WHERE entry IS NOT NULL ORDER BY entry DESC LIMIT 1")?;
        let mark = last("SELECT entry, chain FROM mark ORDER BY entry DESC LIMIT 1")?;
        let last = step.into_iter().chain(mark).max_by_key(|(entry, _)| *entry);
        Ok(last.map_or(Self::BEGINNING, |(entry, hash)| Self { entry, hash }))
    }

    /// Returns the entry with this number, when it is known: it is in the file, or is the last one of removed entries.
    pub(super) fn at(connection: &Connection, entry: i64) -> Result<Option<Self>, Error> {
        if entry == 0 {
            return Ok(Some(Self::BEGINNING));
        }
        let hash = connection
            .prepare_cached(
                "SELECT chain FROM step WHERE entry = ?1 UNION ALL SELECT chain FROM mark WHERE entry = ?1
                 UNION ALL SELECT chain FROM gap WHERE last = ?1",
            )
            .and_then(|mut select| select.query_row([entry], |row| row.get::<_, Hash>(0)).optional());
        Ok(hash.map_err(failed)?.map(|hash| Self { entry, hash }))
    }
}

/// An entry about the journal itself, apart from the steps of transactions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(super) enum Mark {
    /// Steps of an earlier version, written without a hash, were entered just before this mark.
    EnteredLater {
        /// The number of steps.
        steps: u64,
    },
    /// The entries from `first` up to this one are the transactions of another journal.
    Adopted {
        /// The file of that journal.
        file: String,
        /// The last entry of that journal.
        entries: i64,
        /// The hash of that entry.
        head: String,
        /// The number of transactions.
        transactions: u64,
        /// The number added to their numbers.
        added: u64,
        /// Their first entry here.
        first: i64,
        /// The last of their entries here that a close of day of that journal had counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        closed: Option<i64>,
        /// The identities of that journal: its own, and those of the journals that it had adopted.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        identities: Vec<String>,
    },
    /// A person confirmed that this journal belongs to the terminal, although the terminal has sold on another one.
    Accepted {
        /// The person.
        by: String,
    },
    /// This journal turned out to be an outdated copy: the gateway held references that it did not know. Transactions
    /// that were open then wait for a person.
    OldCopy {
        /// The findings, together with earlier ones.
        #[serde(flatten)]
        found: super::OldCopyFound,
    },
    /// The journal began without a transaction. Earlier transactions at the gateway belong to another journal.
    Begun {
        /// The gateway's time by its own clock, in milliseconds since 1970.
        gateway: i64,
    },
    /// This is the card reader from here on.
    Reader {
        /// The reader's own description and its configuration.
        #[serde(flatten)]
        reader: super::KnownReader,
    },
    /// Earlier entries have times of a clock that was ahead. A clock with an earlier time is therefore not wrong.
    ClockSetBack {
        /// The latest of those times, in milliseconds since 1970.
        latest: i64,
        /// The actual time, in milliseconds since 1970.
        now: i64,
        /// The person or device that set the clock back.
        by: String,
    },
    /// A close of day was made; its content is in the table `close`.
    Close {
        /// The number of the close.
        number: u64,
        /// The hash of its content.
        sha256: String,
    },
    /// An operator was added.
    OperatorAdded {
        /// The name.
        name: OperatorName,
        /// The role, as a word.
        role: String,
        /// The author.
        by: Who,
    },
    /// An operator was removed.
    OperatorRemoved {
        /// The name.
        name: OperatorName,
        /// The author.
        by: Who,
    },
    /// An operator has another PIN. Neither the PIN nor its digest is ever in the chain.
    OperatorPinSet {
        /// The name.
        name: OperatorName,
        /// The author.
        by: Who,
    },
    /// An operator may try the PIN again immediately.
    OperatorUnlocked {
        /// The name.
        name: OperatorName,
        /// The author.
        by: Who,
    },
    /// Old transactions were removed.
    Pruned {
        /// The number of transactions.
        transactions: u64,
        /// The number of their steps.
        steps: u64,
        /// The hash over all gaps, as they are from here on.
        gaps: String,
    },
}

impl Mark {
    /// Writes the mark as the entry after `head`, and returns that entry.
    pub(super) fn write(&self, connection: &Connection, head: Head, unix_ms: i64) -> Result<Head, Error> {
        let what = serde_json::to_string(self).map_err(failed)?;
        let next = head.then_mark(unix_ms, &what);
        let put = "INSERT INTO mark(entry, unix_ms, what, chain) VALUES (?1, ?2, ?3, ?4)";
        connection.execute(put, params![next.entry, unix_ms, what, next.hash]).map_err(failed)?;
        Ok(next)
    }
}

/// A row of `gap`: the entries from `first` to `last` were removed, and the last of them had this hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) chain: Hash,
}

/// The hash over all gaps, in their order.
pub(super) struct GapsHash(Context);

impl GapsHash {
    pub(super) fn new() -> Self {
        Self(Context::new(&SHA256))
    }

    pub(super) fn add(&mut self, gap: &Gap) {
        self.0.update(&gap.first.to_be_bytes());
        self.0.update(&gap.last.to_be_bytes());
        self.0.update(&gap.chain);
    }

    pub(super) fn hex(self) -> String {
        hex::encode(finish(self.0))
    }
}

fn finish(context: Context) -> Hash {
    let mut hash = [0; 32];
    hash.copy_from_slice(context.finish().as_ref());
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_that_another_program_reckons() {
        // Computed with Python's hashlib and struct.pack(">Q", …), from the description in the module head.
        let row = StepRow { id: 7 << 20, sale: 7, unix_ms: 1_800_000_000_000, records: "[]" };
        let step = Head::BEGINNING.then_step(row);
        assert_eq!(step.entry, 1);
        assert_eq!(step.hex(), "30278a2d61c86c35b460e6c70d404cf12f615fb12695ed0b5117ac67b7cca1cc");
        let mark = step.then_mark(0, r#"{"is":"entered-later","steps":1}"#);
        assert_eq!(mark.entry, 2);
        assert_eq!(mark.hex(), "d493f06654283979ec4aa411eae7280fdd2f32ff2fb77ea4e271c64bb9156846");
        assert_eq!(
            serde_json::to_string(&Mark::EnteredLater { steps: 1 }).unwrap(),
            r#"{"is":"entered-later","steps":1}"#
        );
    }
}
