//! Closes of day in the journal. The mark of a close is an entry of the chain and names the SHA-256 of its content. The
//! content is in the table `close`, so the marks stay short. Both are written in one SQLite transaction, so a close is
//! never incomplete.
//!
//! Closes are never removed. Transactions that ended since the last close are also kept, at any age, until a close has
//! counted them (`retention.rs`). In a journal without any close, they are removed without being counted.

use ring::digest::{SHA256, digest};
use rusqlite::{Connection, OptionalExtension, params};

use super::chain::Mark;
use super::db::{Db, failed, put};
use super::{Error, Journal};
use pos_core::counter::Close;
use pos_terms::transaction::Reference;

impl Journal {
    /// Returns the close with this number.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn close(&self, number: u64) -> Result<Option<Close>, Error> {
        self.db.one_close("WHERE number = ?1", params![i64::try_from(number).unwrap_or(i64::MAX)])
    }

    /// Returns the latest close.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn last_close(&self) -> Result<Option<Close>, Error> {
        self.db.last_close()
    }

    /// Returns the close that a till requested under this reference.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn close_of(&self, till: &str, reference: &Reference) -> Result<Option<Close>, Error> {
        self.db.one_close("WHERE till = ?1 AND reference = ?2", params![till, reference.as_str()])
    }
}

impl Db {
    /// Writes a close. When it returns, the close is on the disk.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written. The close then does not exist.
    pub fn write_close(&mut self, close: &Close, unix_ms: i64) -> Result<(), Error> {
        let number = i64::try_from(close.number).map_err(failed)?;
        let content = serde_json::to_string(close).map_err(failed)?;
        let head = self.take_head()?;
        // The savepoint is a part of the SQLite transaction of several entries, or a separate transaction.
        let transaction = self.connection.savepoint().map_err(failed)?;
        let mark = Mark::Close { number: close.number, sha256: sha256(&content) };
        let next = mark.write(&transaction, head, unix_ms)?;
        let reference = close.reference.as_ref().map(Reference::as_str);
        put(
            &transaction,
            "INSERT INTO close(number, till, reference, to_entry, content) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![number, close.till, reference, close.period.to_entry, content],
        )?;
        transaction.commit().map_err(failed)?;
        self.head = Some(next);
        self.written += 1;
        self.in_place()
    }

    /// Returns the latest close.
    pub(super) fn last_close(&self) -> Result<Option<Close>, Error> {
        self.one_close("ORDER BY number DESC LIMIT 1", [])
    }

    /// Returns at most `limit` closes with a number below this one, newest first.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn closes(&self, below: u64, limit: u32) -> Result<Vec<Close>, Error> {
        let below = i64::try_from(below).unwrap_or(i64::MAX);
        let sql = "SELECT number, content FROM close WHERE number < ?1 ORDER BY number DESC LIMIT ?2";
        let mut select = self.connection.prepare_cached(sql).map_err(failed)?;
        let rows = select.query_map(params![below, limit], |row| Ok((row.get(0)?, row.get(1)?)));
        let rows: Vec<(i64, String)> = rows.and_then(Iterator::collect).map_err(failed)?;
        rows.iter().map(|(number, content)| read(*number, content)).collect()
    }

    fn one_close(&self, which: &str, values: impl rusqlite::Params) -> Result<Option<Close>, Error> {
        let sql = format!("SELECT number, content FROM close {which}");
        let mut select = self.connection.prepare_cached(&sql).map_err(failed)?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
        let found = select.query_row(values, row).optional().map_err(failed)?;
        found.map(|(number, content)| read(number, &content)).transpose()
    }

    /// Returns the last entry that the closes cover, or `None` if there is no close.
    pub(super) fn closed_to(&self) -> Result<Option<i64>, Error> {
        closed_to(&self.connection)
    }
}

/// Returns the last entry that the closes of a journal cover, or `None` if it has no close.
pub(super) fn closed_to(connection: &Connection) -> Result<Option<i64>, Error> {
    let mut select = connection.prepare_cached("SELECT max(to_entry) FROM close").map_err(failed)?;
    select.query_row([], |row| row.get(0)).map_err(failed)
}

/// Returns whether the content of a close has the hash that its mark names, or `None` if the content is missing.
pub(super) fn has_hash(connection: &Connection, number: u64, hash: &str) -> rusqlite::Result<Option<bool>> {
    Ok(content(connection, number)?.map(|content| sha256(&content) == hash))
}

/// Returns the close that a mark names, and the size of its content in bytes. Returns `None` if the content does not
/// have the mark's hash, or if this version cannot read it. The chain vouches only for a content with this hash.
pub(super) fn vouched(connection: &Connection, number: u64, hash: &str) -> Result<Option<(Close, usize)>, Error> {
    let content = content(connection, number).map_err(failed)?.filter(|content| sha256(content) == hash);
    Ok(content.and_then(|content| Some((serde_json::from_str(&content).ok()?, content.len()))))
}

fn content(connection: &Connection, number: u64) -> rusqlite::Result<Option<String>> {
    let mut select = connection.prepare_cached("SELECT content FROM close WHERE number = ?1")?;
    select.query_row([i64::try_from(number).unwrap_or(i64::MAX)], |row| row.get(0)).optional()
}

fn sha256(content: &str) -> String {
    hex::encode(digest(&SHA256, content.as_bytes()))
}

fn read(number: i64, content: &str) -> Result<Close, Error> {
    serde_json::from_str(content)
        .map_err(|error| Error::UnreadableClose { number: number.unsigned_abs(), cause: error.to_string() })
}
