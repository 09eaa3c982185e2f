//! The chain: every entry of the book holds a hash over itself and over the entry before it.
//!
//! ```text
//! hash(n) = SHA-256( hash(n-1) || field || field || … )      each field with its length before it, eight bytes, big-endian
//! ```
//!
//! An entry is a row of `step` or of `mark`; `entry` counts both in the order of their commits, from 1; before the
//! first there are 32 zero bytes. The fields of a step are `step`, entry, id, sale, unix_ms, records; of a mark `mark`,
//! entry, unix_ms, what. They never change: a later column is not among them. What stands in `sale` is in the sale's
//! first record too, and is held against it.
//!
//! A hash without a secret shows that somebody altered, took out, put in or moved rows, and did not reckon every later
//! hash anew. Who does that, or cuts off the end, is found only by whoever kept an earlier [`Head`] somewhere else:
//! entry n must still have that hash.

use ring::digest::{Context, SHA256};
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::Error;
use super::db::failed;
use pos_terms::transaction::{OperatorName, Who};

/// A SHA-256.
pub(super) type Hash = [u8; 32];

/// How far the book goes: the number and the hash of its last entry. To be kept elsewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The entry, counted from 1 in the order of commits; 0 of an empty book.
    pub entry: i64,
    /// Its hash.
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
    /// Before the first entry.
    pub(super) const BEGINNING: Self = Self { entry: 0, hash: [0; 32] };

    /// The hash as text.
    #[must_use]
    pub fn hex(&self) -> String {
        hex::encode(self.hash)
    }

    /// The entry after this one, when it is this step.
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

    /// The entry after this one, when it is this mark.
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

    /// The last entry that is in the file.
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

    /// The entry of this number, when it is known: it is in the file, or the last one of what was taken out.
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

/// What the book says about itself, beside the steps of sales.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(super) enum Mark {
    /// Steps that an earlier program wrote, without a hash, were entered just before this.
    EnteredLater {
        /// How many.
        steps: u64,
    },
    /// The entries from `first` on, up to this one, are the transactions of another journal.
    Adopted {
        /// Its file.
        file: String,
        /// Its last entry.
        entries: i64,
        /// The hash of that.
        head: String,
        /// How many transactions.
        transactions: u64,
        /// What was added to their numbers.
        added: u64,
        /// Their first entry here.
        first: i64,
        /// The last entry here of those that a close of day of that journal had counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        closed: Option<i64>,
        /// Its identities: its own, and those of the journals that it had taken over.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        identities: Vec<String>,
    },
    /// A person says that this journal is the terminal's, although the terminal has sold on another one.
    Accepted {
        /// Who says so.
        by: String,
    },
    /// This journal was found to be an old copy of itself: the gateway held references that it did not know. What was
    /// open then waits for a person.
    OldCopy {
        /// What was found, with what was found before.
        #[serde(flatten)]
        found: super::OldCopyFound,
    },
    /// The journal has begun, without a transaction: what the gateway holds from before is another journal's.
    Begun {
        /// What time it was at the gateway, by its own clock, milliseconds since 1970.
        gateway: i64,
    },
    /// The card reader is this one from now on.
    Reader {
        /// Who it says that it is, and its configuration.
        #[serde(flatten)]
        reader: super::KnownReader,
    },
    /// What was written before this has times of a clock that was ahead: that a clock is earlier does not make it
    /// wrong.
    ClockSetBack {
        /// The latest of those times, milliseconds since 1970.
        latest: i64,
        /// What time it was, milliseconds since 1970.
        now: i64,
        /// Who says so.
        by: String,
    },
    /// A close of day was made; its content is in the table `close`.
    Close {
        /// Its number.
        number: u64,
        /// Hash of its content.
        sha256: String,
    },
    /// There is a new operator.
    OperatorAdded {
        /// The name.
        name: OperatorName,
        /// The role, as a word.
        role: String,
        /// Who added it.
        by: Who,
    },
    /// An operator is none any more.
    OperatorRemoved {
        /// The name.
        name: OperatorName,
        /// Who removed it.
        by: Who,
    },
    /// An operator has another PIN. Which, and what is kept of it, is never in the book.
    OperatorPinSet {
        /// The name.
        name: OperatorName,
        /// Who set it.
        by: Who,
    },
    /// An operator may try its PIN again at once.
    OperatorUnlocked {
        /// The name.
        name: OperatorName,
        /// Who unlocked it.
        by: Who,
    },
    /// Old transactions were taken out.
    Pruned {
        /// How many.
        transactions: u64,
        /// How many of their steps.
        steps: u64,
        /// Hash over all gaps in the book, as they are from now on.
        gaps: String,
    },
}

impl Mark {
    /// Writes it as the entry after `head`, and gives back that one.
    pub(super) fn write(&self, connection: &Connection, head: Head, unix_ms: i64) -> Result<Head, Error> {
        let what = serde_json::to_string(self).map_err(failed)?;
        let next = head.then_mark(unix_ms, &what);
        let put = "INSERT INTO mark(entry, unix_ms, what, chain) VALUES (?1, ?2, ?3, ?4)";
        connection.execute(put, params![next.entry, unix_ms, what, next.hash]).map_err(failed)?;
        Ok(next)
    }
}

/// A row of `gap`: the entries from `first` to `last` were taken out, and the last of them had this hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) chain: Hash,
}

/// A hash over all gaps, in their order.
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
        // Python's hashlib and struct.pack(">Q", …), from the words of the module's head.
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
