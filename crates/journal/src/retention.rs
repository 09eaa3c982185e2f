//! The retention of settled transactions, and the removal of old ones.
//!
//! Retention counts **days on which the terminal took a transaction**, not the time of a clock. The journal records
//! each such date once, with its first transaction. It keeps all transactions from the `keep-days`-th latest such day
//! on. A clock that jumps a year ahead adds one day, and deletes nothing. To remove a day's transactions too early, the
//! clock would have to show as many different dates as are kept. For a shop that closes on Sundays, 400 days cover 15
//! months.
//!
//! A transaction is removed together with all transactions that refer to it (its family), or not at all. If only a
//! refund were removed, the remaining amount would be wrong. A transaction that is open, quarantined or unreadable is
//! kept, with its family. A transaction that ended after the last close of day is kept until a close has counted it.
//! `gap` records the removed entries, with the hash from which the chain continues. The latest mark contains the hash
//! over all gaps.

use rusqlite::{Connection, OptionalExtension, Transaction as SqlTransaction, params};

use super::chain::{Gap, GapsHash, Hash, Mark};
use super::db::{Db, STEPS_OF_SALE, failed, put};
use super::open::MILLISECONDS_OF_A_DAY;
use super::{Error, payments, receipts};
use pos_core::transaction::{Record, Transaction};

/// The number of families that are removed in one SQLite transaction. The removal runs between two transactions of the
/// terminal and costs one sync.
const AT_ONCE: u32 = 16;

/// The state of retention between two transactions.
#[derive(Debug, Default)]
pub(super) struct Retention {
    /// The number of days with transactions for which transactions are kept; `None` keeps all.
    keep_days: Option<u32>,
    /// The date of the latest transaction, in days since 1970.
    date: Option<i64>,
    /// The number below which transactions may be removed; `None` if it must be determined again.
    bound: Option<i64>,
    /// The number up to which removable transactions have been searched for.
    looked_at: i64,
}

impl Retention {
    /// Records that a transaction began. Only the first transaction of a date is stored.
    pub(super) fn began(&mut self, transaction: &Connection, sale: i64, unix_ms: i64) -> Result<(), Error> {
        let date = unix_ms.div_euclid(MILLISECONDS_OF_A_DAY);
        if self.date != Some(date) {
            put(transaction, "INSERT OR IGNORE INTO day(date, first) VALUES (?1, ?2)", params![date, sale])?;
            // If the write fails, this day is not counted, and more transactions are kept.
            *self = Self { keep_days: self.keep_days, date: Some(date), ..Self::default() };
        }
        Ok(())
    }

    fn bound(&mut self, connection: &Connection) -> Result<i64, Error> {
        let Some(keep_days) = self.keep_days else { return Ok(0) };
        if let Some(bound) = self.bound {
            return Ok(bound);
        }
        let sql = "SELECT first FROM day ORDER BY first DESC LIMIT 1 OFFSET ?1";
        let bound = connection.query_row(sql, [keep_days.saturating_sub(1)], |row| row.get(0)).optional();
        let bound = bound.map_err(failed)?.unwrap_or(0);
        self.bound = Some(bound);
        Ok(bound)
    }
}

/// A transaction to remove.
struct Leaving {
    number: i64,
    entries: Vec<(i64, Hash)>,
    steps: Vec<Vec<Record>>,
}

impl Db {
    /// Returns the number of dates after this time on which transactions began.
    pub(super) fn days_after(&self, unix_ms: i64) -> Result<u64, Error> {
        let date = unix_ms.div_euclid(MILLISECONDS_OF_A_DAY);
        let days = self.connection.query_row("SELECT count(*) FROM day WHERE date > ?1", [date], |row| row.get(0));
        days.map(i64::unsigned_abs).map_err(failed)
    }

    /// Sets the number of latest days for which transactions are kept; `None` keeps all.
    pub fn keep_days(&mut self, days: Option<u32>) {
        self.retention = Retention { keep_days: days, ..Retention::default() };
    }

    /// Removes a few of the transactions that are old enough, and returns the number removed. It is called between
    /// transactions, until it returns zero.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written. Nothing was then removed.
    pub fn prune(&mut self) -> Result<u64, Error> {
        let bound = self.retention.bound(&self.connection)?;
        while self.retention.looked_at < bound {
            let roots = self.numbers(
                "SELECT number FROM sale WHERE number > ?1 AND number < ?2 AND settled = 1 AND NOT EXISTS
                 (SELECT 1 FROM sale AS earlier WHERE earlier.number = sale.earlier) ORDER BY number LIMIT ?3",
                params![self.retention.looked_at, bound, AT_ONCE],
            )?;
            let mut leaving = Vec::new();
            for root in &roots {
                leaving.extend(self.family(*root, bound)?.into_iter().flatten());
            }
            if !leaving.is_empty() {
                self.take_out(&leaving, bound)?;
            }
            self.retention.looked_at = match roots.last() {
                Some(last) if roots.len() == AT_ONCE as usize => *last,
                _ => bound,
            };
            if !leaving.is_empty() {
                return Ok(leaving.len() as u64);
            }
        }
        Ok(0)
    }

    /// Returns a transaction and all that refer to it, if all of them can be removed.
    fn family(&self, root: i64, bound: i64) -> Result<Option<Vec<Leaving>>, Error> {
        let members = self.numbers(
            "WITH RECURSIVE family(number) AS
             (VALUES(?1) UNION SELECT sale.number FROM sale JOIN family ON sale.earlier = family.number)
             SELECT number FROM family",
            [root],
        )?;
        let mut leaving = Vec::new();
        for number in members {
            let settled = "SELECT settled FROM sale WHERE number = ?1";
            let settled: i64 = self.connection.query_row(settled, [number], |row| row.get(0)).map_err(failed)?;
            // A transaction that cannot be read is not known to be settled.
            let steps = if number < bound && settled == 1 { self.steps(number).ok() } else { None };
            let steps = steps.filter(|steps| Transaction::replay(steps).is_some_and(|sale| sale.is_settled()));
            let Some(steps) = steps else { return Ok(None) };
            let Some(entries) = self.entries(number)? else { return Ok(None) };
            if self.waits_for_a_close(&steps, &entries)? {
                return Ok(None);
            }
            leaving.push(Leaving { number, entries, steps });
        }
        Ok(Some(leaving))
    }

    /// Returns whether the transaction ended after the last close, so that the next close counts it. Returns false if
    /// there is no close.
    fn waits_for_a_close(&self, steps: &[Vec<Record>], entries: &[(i64, Hash)]) -> Result<bool, Error> {
        let Some(closed_to) = self.closed_to()? else { return Ok(false) };
        let ended = steps.iter().position(|step| step.iter().any(|record| matches!(record, Record::Ended { .. })));
        Ok(ended.and_then(|place| entries.get(place)).is_some_and(|(entry, _)| *entry > closed_to))
    }

    /// Returns the entries of a transaction, if each of its steps is an entry.
    fn entries(&self, number: i64) -> Result<Option<Vec<(i64, Hash)>>, Error> {
        let sql = "SELECT entry, chain FROM step WHERE id >= ?1 AND id < ?2 ORDER BY id";
        let mut select = self.connection.prepare_cached(sql).map_err(failed)?;
        let first = number.saturating_mul(STEPS_OF_SALE);
        let rows = select.query_map([first, first.saturating_add(STEPS_OF_SALE)], |row| {
            Ok(row.get::<_, Option<i64>>(0)?.zip(row.get::<_, Option<Hash>>(1)?))
        });
        rows.and_then(Iterator::collect).map_err(failed)
    }

    fn take_out(&mut self, leaving: &[Leaving], bound: i64) -> Result<(), Error> {
        let head = self.take_head()?;
        let transaction = self.connection.transaction().map_err(failed)?;
        let mut gone: Vec<(i64, Hash)> = leaving.iter().flat_map(|one| one.entries.clone()).collect();
        let steps = gone.len() as u64;
        for Leaving { number, steps, .. } in leaving {
            let first = number.saturating_mul(STEPS_OF_SALE);
            let end = first.saturating_add(STEPS_OF_SALE);
            put(&transaction, "DELETE FROM step WHERE id >= ?1 AND id < ?2", params![first, end])?;
            put(&transaction, "DELETE FROM sale WHERE number = ?1", params![number])?;
            payments::forget(&transaction, *number, steps)?;
        }
        receipts::forget(&transaction, bound)?;
        put(&transaction, "DELETE FROM day WHERE first < ?1", params![bound])?;
        gone.extend(marks_of_earlier_prunings(&transaction, bound)?);
        gone.sort_unstable();
        for (entry, chain) in gone {
            add_to_gaps(&transaction, entry, chain)?;
        }
        let mark = Mark::Pruned { transactions: leaving.len() as u64, steps, gaps: gaps_hash(&transaction)? };
        let head = mark.write(&transaction, head, self.last_unix_ms)?;
        transaction.commit().map_err(failed)?;
        self.written += leaving.len() as u64;
        self.head = Some(head);
        Ok(())
    }
}

/// Removes the marks of earlier removals before the first day that is kept. The next such mark covers their gaps.
fn marks_of_earlier_prunings(transaction: &SqlTransaction<'_>, bound: i64) -> Result<Vec<(i64, Hash)>, Error> {
    let sql = "SELECT entry, chain, what FROM mark WHERE entry < (SELECT entry FROM step WHERE id = ?1)";
    let mut select = transaction.prepare_cached(sql).map_err(failed)?;
    let marks = select.query_map([bound.saturating_mul(STEPS_OF_SALE)], |row| {
        Ok(((row.get::<_, i64>(0)?, row.get::<_, Hash>(1)?), row.get::<_, String>(2)?))
    });
    let marks: Vec<_> = marks.and_then(Iterator::collect).map_err(failed)?;
    let mut gone = Vec::new();
    for (entry, what) in marks {
        if matches!(serde_json::from_str(&what), Ok(Mark::Pruned { .. })) {
            put(transaction, "DELETE FROM mark WHERE entry = ?1", params![entry.0])?;
            gone.push(entry);
        }
    }
    Ok(gone)
}

/// Adds one entry to the gaps. Adjacent gaps are merged.
fn add_to_gaps(transaction: &SqlTransaction<'_>, entry: i64, chain: Hash) -> Result<(), Error> {
    let select = |sql: &str, at: i64| {
        let read = |row: &rusqlite::Row<'_>| Ok(Gap { first: row.get(0)?, last: row.get(1)?, chain: row.get(2)? });
        transaction.prepare_cached(sql).and_then(|mut select| select.query_row([at], read).optional()).map_err(failed)
    };
    let before = select("SELECT first, last, chain FROM gap WHERE first < ?1 ORDER BY first DESC LIMIT 1", entry)?;
    let after = select("SELECT first, last, chain FROM gap WHERE first = ?1", entry.saturating_add(1))?;
    let first = before.filter(|gap| gap.last == entry - 1).map_or(entry, |gap| gap.first);
    let (last, chain) = after.map_or((entry, chain), |gap| (gap.last, gap.chain));
    if after.is_some() {
        put(transaction, "DELETE FROM gap WHERE first = ?1", params![entry + 1])?;
    }
    put(transaction, "INSERT OR REPLACE INTO gap(first, last, chain) VALUES (?1, ?2, ?3)", params![first, last, chain])
}

fn gaps_hash(connection: &Connection) -> Result<String, Error> {
    let mut hash = GapsHash::new();
    let mut select = connection.prepare_cached("SELECT first, last, chain FROM gap ORDER BY first").map_err(failed)?;
    let mut rows = select.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let gap = || -> rusqlite::Result<Gap> { Ok(Gap { first: row.get(0)?, last: row.get(1)?, chain: row.get(2)? }) };
        hash.add(&gap().map_err(failed)?);
    }
    Ok(hash.hex())
}
