//! Read access to the journal for a program that runs in addition to the agent. It reads transaction by transaction,
//! with at most one in memory.
//!
//! It takes no lock, writes nothing and does not block the agent, because a WAL allows reads and commits at the same
//! time. Data that is written after the start of the read is not visible.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::db::{BUSY, STEPS_OF_SALE, failed, unreadable};
use super::open::{oldest_reader, refused};
use super::{Error, lock, open};
use pos_core::transaction::Record;
use pos_terms::transaction::SaleNumber;

/// A journal open for reading.
#[derive(Debug)]
pub struct Reading {
    pub(super) connection: Connection,
}

impl Reading {
    /// Opens an existing journal.
    ///
    /// # Errors
    /// Returns [`Error::Open`], [`Error::Damaged`] or [`Error::Format`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        let path = &lock::real(path)?;
        lock::has_one_name(path)?;
        let name = path.display().to_string();
        let refused = |error: rusqlite::Error| refused(&name, &error);
        if path.metadata().is_ok_and(|facts| facts.len() == 0) {
            open::look_at(path)?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(refused)?;
        connection.busy_timeout(BUSY).and_then(|()| open::plan_once(&connection)).map_err(refused)?;
        // A small cache is enough, because each page is read once.
        connection.execute_batch("PRAGMA query_only=ON; PRAGMA cache_size=-512;").map_err(refused)?;
        oldest_reader(&connection, &name)?;
        Ok(Self { connection })
    }

    /// Returns the number of the latest transaction, or 0 if there is none.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn last_number(&self) -> Result<SaleNumber, Error> {
        let number = self.connection.query_row("SELECT coalesce(max(number), 0) FROM sale", [], |row| row.get(0));
        number.map(|number: i64| SaleNumber::new(number.unsigned_abs())).map_err(failed)
    }

    /// Passes the records of the latest `most` transactions to `take`, step by step, oldest transaction first. It ends
    /// early if `take` does.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn latest<E>(
        &mut self,
        most: u64,
        mut take: impl FnMut(&[Vec<Record>]) -> Result<(), E>,
    ) -> Result<Result<(), E>, Error> {
        // Both queries see the same moment of the journal.
        let moment = self.connection.transaction().map_err(failed)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let first: i64 = moment
            .query_row("SELECT coalesce(max(number), 0) - ?1 + 1 FROM sale", [most], |row| row.get(0))
            .map_err(failed)?;
        let mut select = moment.prepare("SELECT id, records FROM step WHERE id >= ?1 ORDER BY id").map_err(failed)?;
        let mut rows = select.query([first.saturating_mul(STEPS_OF_SALE)]).map_err(failed)?;
        let (mut sale, mut steps) = (0, Vec::new());
        while let Some(row) = rows.next().map_err(failed)? {
            let id: i64 = row.get(0).map_err(failed)?;
            if id / STEPS_OF_SALE != sale && !steps.is_empty() {
                if let Err(stopped) = take(&steps) {
                    return Ok(Err(stopped));
                }
                steps.clear();
            }
            sale = id / STEPS_OF_SALE;
            let text = row.get_ref(1).map_err(failed)?.as_str().map_err(|error| unreadable(id, &error))?;
            steps.push(serde_json::from_str(text).map_err(|error| unreadable(id, &error))?);
        }
        if steps.is_empty() { Ok(Ok(())) } else { Ok(take(&steps)) }
    }
}
