//! The entries of the chain by number, for a program that copies them to another place.
//!
//! A copy must not contain more than an export: each entry has the facts that the export chooses (`export.rs`). A copy
//! cannot prove the hash of an entry, because the hash covers the whole record. It proves that two copies of one entry
//! are the same, and that no entry is missing.

use rusqlite::{Row, params};
use serde::Serialize;
use serde_json::Value;

use pos_core::counter::Close;
use pos_core::transaction::Transaction;

use super::Error;
use super::chain::{Hash, Head, Mark};
use super::closes::vouched;
use super::db::{STEPS_OF_SALE, failed};
use super::export::{exported_facts, exported_records, time};
use super::purpose::identity;
use super::snapshot::Snapshot;

/// The greatest size in bytes of a close's content that an entry carries whole. Fifty of them fit into an answer.
const LARGEST_CLOSE: usize = 64 * 1024;

/// Entries of the chain, with the journal that contains them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entries {
    /// The identity of the journal. Another journal has another sequence of entries.
    pub journal: String,
    /// The end of the chain at that moment.
    pub last: Head,
    /// The entries in their order. A range of removed entries is one of them.
    pub entries: Vec<ChainEntry>,
}

/// An entry of the chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "docs", derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ChainEntry {
    /// The number of the entry. For a range of removed entries, that of the last one.
    pub entry: i64,
    /// The hash of the entry, in hexadecimal.
    pub hash: String,
    /// The content.
    #[serde(flatten)]
    pub content: Content,
}

/// The content of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "docs", derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(tag = "is", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Content {
    /// A step of a transaction.
    Step {
        /// The time of the step, in UTC (RFC 3339).
        at: String,
        /// The number of the transaction.
        number: i64,
        /// The till of the transaction.
        till: String,
        /// The till's reference.
        reference: String,
        /// What the step recorded, one object for each record.
        records: Value,
        /// The facts of the transaction after the step, as in an export. Absent if this version cannot read them.
        #[serde(skip_serializing_if = "Option::is_none")]
        facts: Option<Value>,
    },
    /// An entry about the journal itself.
    Mark {
        /// The time of the entry, in UTC (RFC 3339).
        at: String,
        /// What the entry says. Absent if this version cannot read it.
        #[serde(skip_serializing_if = "Option::is_none")]
        what: Option<Value>,
        /// The content of the close, if the entry is one. Absent if its content is damaged, or if this version cannot
        /// read it. A close of more than 64 KiB comes without `open` and `own`.
        #[serde(skip_serializing_if = "Option::is_none")]
        close: Option<Box<Close>>,
    },
    /// Entries that were removed because the time for which the shop keeps them was over.
    Removed {
        /// The number of the first of them.
        first: i64,
    },
}

/// A row of the three tables that contain the chain.
struct ChainRow {
    entry: i64,
    hash: Hash,
    /// The position of a step, or the first entry of a range of removed entries.
    id: Option<i64>,
    unix_ms: Option<i64>,
    /// The content of a mark.
    what: Option<String>,
}

impl ChainRow {
    const SELECT: &str = "SELECT entry, chain, id, unix_ms, NULL FROM step WHERE entry > ?1
        UNION ALL SELECT entry, chain, NULL, unix_ms, what FROM mark WHERE entry > ?1
        UNION ALL SELECT last, chain, first, NULL, NULL FROM gap WHERE last > ?1
        ORDER BY 1 LIMIT ?2";

    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let (entry, hash, id) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Self { entry, hash, id, unix_ms: row.get(3)?, what: row.get(4)? })
    }
}

/// Leaves out the lists that grow with the shop's open transactions and tills, if the content of a close is large. The
/// sums stay.
fn bounded(close: Close, bytes: usize) -> Close {
    if bytes > LARGEST_CLOSE { Close { open: Vec::new(), own: Vec::new(), ..close } } else { close }
}

impl Snapshot {
    /// Returns at most `limit` entries after this one, in their order.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn entries_after(&self, entry: i64, limit: u32) -> Result<Entries, Error> {
        let connection = self.connection();
        let mut select = connection.prepare_cached(ChainRow::SELECT).map_err(failed)?;
        let rows = select.query_map(params![entry, limit], ChainRow::of).map_err(failed)?;
        let entries = rows.map(|row| self.entry(row.map_err(failed)?)).collect::<Result<_, Error>>()?;
        Ok(Entries { journal: identity(connection)?, last: Head::read(connection)?, entries })
    }

    fn entry(&self, row: ChainRow) -> Result<ChainEntry, Error> {
        let content = match row {
            ChainRow { what: Some(what), unix_ms, .. } => {
                // A mark of a later version is not shown, because its fields are not known.
                let mark: Option<Mark> = serde_json::from_str(&what).ok();
                let close = match &mark {
                    Some(Mark::Close { number, sha256 }) => vouched(self.connection(), *number, sha256)?,
                    _ => None,
                };
                Content::Mark {
                    at: time(unix_ms.unwrap_or_default()),
                    what: mark.and_then(|mark| serde_json::to_value(mark).ok()),
                    close: close.map(|(close, bytes)| Box::new(bounded(close, bytes))),
                }
            }
            ChainRow { id: Some(id), unix_ms: Some(unix_ms), .. } => self.step(id, unix_ms)?,
            ChainRow { id, .. } => Content::Removed { first: id.unwrap_or(row.entry) },
        };
        Ok(ChainEntry { entry: row.entry, hash: hex::encode(row.hash), content })
    }

    /// Reads the steps of the transaction up to this one.
    fn step(&self, id: i64, unix_ms: i64) -> Result<Content, Error> {
        let connection = self.connection();
        let number = id / STEPS_OF_SALE;
        let key = "SELECT till, reference FROM sale WHERE number = ?1";
        let mut select = connection.prepare_cached(key).map_err(failed)?;
        let (till, reference) = select.query_row([number], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed)?;
        let steps = "SELECT records FROM step WHERE id >= ?1 AND id <= ?2 ORDER BY id";
        let mut select = connection.prepare_cached(steps).map_err(failed)?;
        let texts = select
            .query_map([number.saturating_mul(STEPS_OF_SALE), id], |row| row.get::<_, String>(0))
            .and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>)
            .map_err(failed)?;
        let steps: Option<Vec<_>> = texts.iter().map(|records| serde_json::from_str(records).ok()).collect();
        let last = texts.last().and_then(|records| serde_json::from_str(records).ok()).unwrap_or_default();
        Ok(Content::Step {
            at: time(unix_ms),
            number,
            till,
            reference,
            records: exported_records(unix_ms, last).map_err(failed)?,
            facts: steps
                .and_then(|steps| Transaction::replay(&steps))
                .map(|sale| exported_facts(&sale))
                .transpose()
                .map_err(failed)?,
        })
    }
}
