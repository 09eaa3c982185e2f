//! The journal at one moment, for code that reads a large part of it. The read has its own thread and connection while
//! the agent continues to write. Later writes are not visible.

use std::ops::RangeInclusive;

use rusqlite::{OptionalExtension, params};

use super::chain::{Head, Mark};
use super::db::{Db, STEPS_OF_SALE, failed};
use super::{Error, Journal, SetAside};
use pos_core::counter::Close;
use pos_core::transaction::Transaction;
use pos_terms::transaction::{PaymentId, Reference, SaleNumber};

/// The journal at one moment.
#[derive(Debug)]
pub struct Snapshot {
    db: Db,
    last_entry: i64,
}

/// A transaction that has ended.
#[derive(Debug)]
pub struct Ended {
    /// The transaction, or its number if this version cannot read it.
    pub sale: Result<Transaction, SaleNumber>,
    /// True if a close in another terminal's journal had counted the transaction before that journal was adopted.
    pub counted_elsewhere: bool,
}

/// The condition for a step that ends its transaction. Quotes inside a text are escaped, so only a record's kind can
/// match.
const IS_END: &str = "instr(records, '\"kind\":\"ended\"') > 0";

/// Returns the condition for a row of `sale` that is marked as settled although none of its steps is an end.
fn is_settled_without_an_end() -> String {
    let its_steps = format!("id >= number * {STEPS_OF_SALE} AND id < (number + 1) * {STEPS_OF_SALE}");
    format!("settled = 1 AND NOT EXISTS (SELECT 1 FROM step WHERE {its_steps} AND {IS_END})")
}

impl Journal {
    /// Reads the journal in its current state.
    ///
    /// # Errors
    /// Returns an error of `read`, or an error if the journal cannot be read.
    pub fn at_one_moment<T: Send + 'static, F>(
        &self,
        read: F,
    ) -> impl Future<Output = Result<T, Error>> + Send + use<T, F>
    where
        F: FnOnce(&mut Snapshot) -> Result<T, Error> + Send + 'static,
    {
        let beside = self.db.beside(&self.path);
        async move {
            let reading = tokio::task::spawn_blocking(move || read(&mut Snapshot::of(beside()?)?));
            reading.await.map_err(|_| Error::Failed { cause: "the reading thread ended".to_owned() })?
        }
    }
}

impl Snapshot {
    fn of(db: Db) -> Result<Self, Error> {
        // The first query determines the moment that is read.
        db.connection.execute_batch("BEGIN").map_err(failed)?;
        let last_entry = Head::read(&db.connection)?.entry;
        Ok(Self { db, last_entry })
    }

    pub(super) fn connection(&self) -> &rusqlite::Connection {
        &self.db.connection
    }

    /// Returns the last entry of the chain.
    #[must_use]
    pub fn last_entry(&self) -> i64 {
        self.last_entry
    }

    /// Returns the latest close.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn last_close(&self) -> Result<Option<Close>, Error> {
        self.db.last_close()
    }

    /// Passes each transaction whose end was written after this entry to `take`, in the order of the ends.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn ended_after(&self, entry: i64, mut take: impl FnMut(Ended) -> Result<(), Error>) -> Result<(), Error> {
        let elsewhere = self.counted_elsewhere()?;
        let sql = format!("SELECT sale, entry FROM step WHERE entry > ?1 AND entry <= ?2 AND {IS_END} ORDER BY entry");
        let mut select = self.db.connection.prepare(&sql).map_err(failed)?;
        let mut rows = select.query(params![entry, self.last_entry]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let (number, at): (i64, i64) = row.get(0).and_then(|number| Ok((number, row.get(1)?))).map_err(failed)?;
            let counted_elsewhere = elsewhere.iter().any(|counted| counted.contains(&at));
            take(Ended { sale: self.readable(number)?, counted_elsewhere })?;
        }
        Ok(())
    }

    /// Returns the transaction with this number, if its end was written up to this entry.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn ended_by(&self, number: SaleNumber, entry: i64) -> Result<Option<Ended>, Error> {
        let number = i64::try_from(number).map_err(failed)?;
        let first = number.saturating_mul(STEPS_OF_SALE);
        let sql = format!("SELECT entry FROM step WHERE id >= ?1 AND id < ?2 AND entry <= ?3 AND {IS_END}");
        let mut select = self.db.connection.prepare_cached(&sql).map_err(failed)?;
        let range = params![first, first.saturating_add(STEPS_OF_SALE), entry];
        let at: Option<i64> = select.query_row(range, |row| row.get(0)).optional().map_err(failed)?;
        let Some(at) = at else { return Ok(None) };
        let counted_elsewhere = self.counted_elsewhere()?.iter().any(|counted| counted.contains(&at));
        Ok(Some(Ended { sale: self.readable(number)?, counted_elsewhere }))
    }

    /// Returns the transactions with a step after this entry that are marked as settled but have no end. A journal with
    /// such a transaction is damaged.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn settled_without_an_end(&self, entry: i64) -> Result<Vec<SaleNumber>, Error> {
        let since = "number IN (SELECT sale FROM step WHERE entry > ?1 AND entry <= ?2)";
        let is_damaged = is_settled_without_an_end();
        let sql = format!("SELECT number FROM sale WHERE {since} AND {is_damaged} ORDER BY number");
        let numbers = self.db.numbers(&sql, params![entry, self.last_entry])?;
        Ok(numbers.into_iter().map(|number| SaleNumber::new(number.unsigned_abs())).collect())
    }

    /// Returns whether the transaction with this number is marked as settled but has no end. A journal with such a
    /// transaction is damaged.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn is_settled_without_an_end(&self, number: SaleNumber) -> Result<bool, Error> {
        let number = i64::try_from(number).map_err(failed)?;
        let sql = format!("SELECT number FROM sale WHERE number = ?1 AND {}", is_settled_without_an_end());
        Ok(!self.db.numbers(&sql, params![number])?.is_empty())
    }

    /// Returns the transaction with this number, or `None` if it does not exist or this version cannot read it.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn number(&self, number: SaleNumber) -> Result<Option<Transaction>, Error> {
        if self.db.key(number)?.is_none() {
            return Ok(None);
        }
        Ok(self.readable(i64::try_from(number).map_err(failed)?)?.ok())
    }

    /// Returns the till and the reference of the transaction with this number.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn key(&self, number: SaleNumber) -> Result<Option<(String, Reference)>, Error> {
        self.db.key(number)
    }

    /// Returns the transactions without an outcome: those that this version can read, and those that it cannot read.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn open(&mut self) -> Result<(Vec<Transaction>, Vec<SetAside>), Error> {
        self.db.open_transactions()
    }

    /// Returns the transactions that refer to a transaction by its number or its payment id.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn later(&self, number: SaleNumber, payment: Option<&PaymentId>) -> Result<Vec<Transaction>, Error> {
        let mut sales = self.db.later(number)?;
        if let Some(payment) = payment {
            sales.extend(self.db.referring_to(payment)?);
        }
        Ok(sales)
    }

    fn readable(&self, number: i64) -> Result<Result<Transaction, SaleNumber>, Error> {
        match self.db.replay(number) {
            Ok(sale) => Ok(Ok(sale)),
            Err(Error::Unreadable { .. }) => Ok(Err(SaleNumber::new(number.unsigned_abs()))),
            Err(error) => Err(error),
        }
    }

    /// Returns the adopted entries that closes in the other journals had counted.
    fn counted_elsewhere(&self) -> Result<Vec<RangeInclusive<i64>>, Error> {
        let mut select = self.db.connection.prepare("SELECT what FROM mark ORDER BY entry").map_err(failed)?;
        let mut rows = select.query([]).map_err(failed)?;
        let mut ranges = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let what: String = row.get(0).map_err(failed)?;
            if let Ok(Mark::Adopted { first, closed: Some(closed), .. }) = serde_json::from_str(&what) {
                ranges.push(first..=closed);
            }
        }
        Ok(ranges)
    }
}
