//! The stored receipts, as they were first composed. A later copy is identical word for word, even after a change of
//! the program, the language or the shop's lines.
//!
//! They are not part of the chain: no hash covers them, and no decision depends on them. A receipt is written when the
//! next transaction begins, or when the program ends, so it needs no separate sync. A receipt that is lost in a power
//! cut is composed again, usually by the same program. Journals written by earlier versions have no receipts.

use rusqlite::{Connection, OptionalExtension, Transaction as SqlTransaction, params};

use super::db::{Db, failed, put};
use super::{Error, Journal};
use pos_terms::transaction::{ReceiptCopy, SaleNumber};

/// A receipt that is not written yet.
#[derive(Clone, Debug)]
pub(super) struct WaitingReceipt {
    sale: i64,
    copy: &'static str,
    page: String,
}

impl Journal {
    /// Stores a copy of a receipt, unless one is stored already.
    pub fn keep_receipt(&mut self, sale: SaleNumber, copy: ReceiptCopy, page: String) {
        self.db.keep_receipt(sale, copy, page);
    }

    /// Returns the stored copy of a receipt.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn receipt(&self, sale: SaleNumber, copy: ReceiptCopy) -> Result<Option<String>, Error> {
        self.db.receipt(sale, copy)
    }

    /// Writes the waiting receipts. It is called when no further transaction will begin.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub fn write_receipts(&mut self) -> Result<(), Error> {
        self.db.write_receipts()
    }
}

impl Db {
    /// See [`Journal::keep_receipt`].
    pub fn keep_receipt(&mut self, sale: SaleNumber, copy: ReceiptCopy, page: String) {
        // No transaction has a number that SQLite cannot store.
        if let Ok(sale) = i64::try_from(sale) {
            self.receipts.push(WaitingReceipt { sale, copy: copy.as_str(), page });
        }
    }

    /// See [`Journal::receipt`].
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn receipt(&self, sale: SaleNumber, copy: ReceiptCopy) -> Result<Option<String>, Error> {
        let (sale, copy) = (i64::try_from(sale).map_err(failed)?, copy.as_str());
        let sql = "SELECT page FROM receipt WHERE sale = ?1 AND copy = ?2";
        let mut select = self.connection.prepare_cached(sql).map_err(failed)?;
        let written = select.query_row(params![sale, copy], |row| row.get(0)).optional().map_err(failed)?;
        let waits = || self.receipts.iter().find(|waiting| (waiting.sale, waiting.copy) == (sale, copy));
        Ok(written.or_else(|| waits().map(|waiting| waiting.page.clone())))
    }

    /// See [`Journal::write_receipts`].
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub fn write_receipts(&mut self) -> Result<(), Error> {
        if self.receipts.is_empty() {
            return Ok(());
        }
        let transaction = self.connection.transaction().map_err(failed)?;
        write(&transaction, &self.receipts)?;
        transaction.commit().map_err(failed)?;
        self.receipts.clear();
        Ok(())
    }
}

/// Writes the waiting receipts as part of another SQLite transaction.
pub(super) fn write(transaction: &Connection, waiting: &[WaitingReceipt]) -> Result<(), Error> {
    for WaitingReceipt { sale, copy, page } in waiting {
        let sql = "INSERT OR IGNORE INTO receipt(sale, copy, page) VALUES (?1, ?2, ?3)";
        put(transaction, sql, params![sale, copy, page])?;
    }
    Ok(())
}

/// Removes receipts whose transaction was removed, by this version or by one that does not know receipts.
pub(super) fn forget(transaction: &SqlTransaction<'_>, bound: i64) -> Result<(), Error> {
    let sql =
        "DELETE FROM receipt WHERE sale < ?1 AND NOT EXISTS (SELECT 1 FROM sale WHERE sale.number = receipt.sale)";
    put(transaction, sql, params![bound])
}

/// Adopts the receipts of another journal from this transaction number on, and raises their numbers.
pub(super) fn take(transaction: &SqlTransaction<'_>, theirs: &Connection, added: i64, since: i64) -> Result<(), Error> {
    let mut select = theirs.prepare("SELECT sale, copy, page FROM receipt WHERE sale >= ?1").map_err(failed)?;
    let mut rows = select.query([since]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let read = || -> rusqlite::Result<(i64, String, String)> { Ok((row.get(0)?, row.get(1)?, row.get(2)?)) };
        let (sale, copy, page) = read().map_err(failed)?;
        let sql = "INSERT OR IGNORE INTO receipt(sale, copy, page) VALUES (?1, ?2, ?3)";
        put(transaction, sql, params![sale.saturating_add(added), copy, page])?;
    }
    Ok(())
}
