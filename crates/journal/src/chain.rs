//! The chain: every entry contains a hash over itself and the entry before it.
//!
//! ```text
//! hash(n) = SHA-256( hash(n-1) || field || field || … )      each field with its length before it, eight bytes, big-endian
//! ```
//!
//! An entry is a row of `step` or of `mark`. `entry` numbers both in the order of their commits, from 1. The hash
//! before the first entry is 32 zero bytes. The fields of a step are `step`, entry, id, sale, unix_ms and records. The
//! fields of a mark are `mark`, entry, unix_ms and what. The list of fields never changes, so a column that is added
//! later is not hashed. The contents of `sale` are also in the transaction's first record, and are checked against it.
//!
//! The hash uses no secret. It reveals rows that were altered, removed, inserted or moved, unless every later hash was
//! recomputed too. A recomputed chain, or one with its end cut off, can be detected only with an earlier [`Head`] that
//! was kept elsewhere. That entry must still have the same hash.

use ring::digest::{Context, SHA256};
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::Error;
use super::db::failed;
use pos_terms::transaction::{OperatorName, Who};

/// A SHA-256 hash.
pub(super) type Hash = [u8; 32];

/// The end of the chain: the number and the hash of its last entry. A shop can keep it outside the terminal to detect a
/// recomputed chain.
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

/// The hashed fields of a row of `step`.
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

    /// Returns the entry for this step, which follows this head.
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

    /// Returns the entry for this mark, which follows this head.
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

    /// Returns the entry with this number, if it is known. An entry is known if it is in the file, or if it is the last
    /// of a range of removed entries.
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

/// An entry about the journal itself, not a step of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(super) enum Mark {
    /// Steps that an earlier version wrote without a hash were entered just before this mark.
    EnteredLater {
        /// The number of these steps.
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
        /// The number added to the transactions' numbers.
        added: u64,
        /// The first entry of these transactions in this journal.
        first: i64,
        /// The last of these entries that a close of day in that journal had counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        closed: Option<i64>,
        /// The identities of that journal: its own, and those of the journals that it had adopted.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        identities: Vec<String>,
    },
    /// A person confirmed that this journal belongs to the terminal, although the terminal has sold with another
    /// journal.
    Accepted {
        /// The person who confirmed this.
        by: String,
    },
    /// This journal turned out to be an outdated copy, because the gateway held references that it does not contain.
    /// Transactions that were open at that time wait for a person.
    OldCopy {
        /// All findings, including earlier ones.
        #[serde(flatten)]
        found: super::OldCopyFound,
    },
    /// The journal began without a transaction. Earlier transactions at the gateway belong to another journal.
    Begun {
        /// The time of the gateway's clock, in milliseconds since 1970.
        gateway: i64,
    },
    /// From this entry on, this is the card reader.
    Reader {
        /// The reader's own description and its configuration.
        #[serde(flatten)]
        reader: super::KnownReader,
    },
    /// Earlier entries have times from a clock that was ahead. A clock that shows an earlier time is therefore not
    /// wrong.
    ClockSetBack {
        /// The latest of those times, in milliseconds since 1970.
        latest: i64,
        /// The actual time, in milliseconds since 1970.
        now: i64,
        /// The person or device that set the clock back.
        by: String,
    },
    /// A close of day was made. Its content is in the table `close`.
    Close {
        /// The number of the close.
        number: u64,
        /// The hash of the close's content.
        sha256: String,
    },
    /// An operator was added.
    OperatorAdded {
        /// The operator's name.
        name: OperatorName,
        /// The operator's role, as a word.
        role: String,
        /// The author of the change.
        by: Who,
    },
    /// An operator was removed.
    OperatorRemoved {
        /// The operator's name.
        name: OperatorName,
        /// The author of the change.
        by: Who,
    },
    /// An operator received a new PIN. Neither the PIN nor its digest is ever in the chain.
    OperatorPinSet {
        /// The operator's name.
        name: OperatorName,
        /// The author of the change.
        by: Who,
    },
    /// An operator may try the PIN again immediately.
    OperatorUnlocked {
        /// The operator's name.
        name: OperatorName,
        /// The author of the change.
        by: Who,
    },
    /// A command of the fleet was accepted. It acts after this mark is on the disk.
    FleetCommand {
        /// The command's id.
        id: String,
        /// The kind, as a word.
        kind: String,
        /// SHA-256 of the signing key's bytes.
        key: String,
        /// The key's name.
        key_name: String,
        /// The counter of the key.
        counter: u64,
        /// The person or program that gave the command.
        author: String,
        /// SHA-256 of the signed document.
        sha256: String,
        /// The till, if the command concerns a transaction.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        till: Option<String>,
        /// The till's reference of the transaction.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
    },
    /// The fleet's settings were begun, kept, returned or refused.
    FleetSettings {
        /// The facts.
        #[serde(flatten)]
        change: super::FleetChange,
    },
    /// The fleet's command keys were replaced or refused.
    FleetKeys {
        /// The facts.
        #[serde(flatten)]
        change: super::FleetChange,
    },
    /// Old transactions were removed.
    Pruned {
        /// The number of transactions.
        transactions: u64,
        /// The number of their steps.
        steps: u64,
        /// The hash over all gaps after this removal.
        gaps: String,
    },
}

impl Mark {
    /// Writes the mark as the entry after `head`, and returns the new head.
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
        // The expected values were computed with Python's hashlib and struct.pack(">Q", …), from the description in the
        // module documentation.
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
