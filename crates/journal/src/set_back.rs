//! The handling of times that a wrong clock wrote, after the clock is set back.
//!
//! The journal's latest time is a lower limit (floor): a clock that shows an earlier time is wrong. A single record
//! with a time from a clock that was a year ahead would therefore stop the terminal for a year. When the clock is set
//! back, a mark in the chain records the old time, the new time and the author. Two callers may set it back: the agent
//! (if the reader and the gateway agree), and a technician with `pos-agent journal set-clock-back`.
//!
//! Entries before the mark keep their times on receipts and in exports. After the mark, these times are used as
//! follows:
//!
//! | value | after the mark |
//! |---|---|
//! | the floor | the time of the mark, or of the latest step after it |
//! | the age of a request, for an absence that may be final | the request counts as sent at the time of the mark at the latest: `Transaction::clock_was_set_back` |
//! | the time from which the agent checks for an outdated copy | the latest time that can be correct, until the gateway has answered |
//! | the days that are kept | unchanged, because days are counted and not computed from times |

use rusqlite::{Connection, OptionalExtension, params};

use super::chain::Mark;
use super::db::{Db, STEPS_OF_SALE, failed};
use super::open::{self, MILLISECONDS_OF_A_DAY};
use super::{Error, Journal};
use pos_core::transaction::Transaction;

/// The largest difference, in milliseconds, at which two clocks still count as equal. Answers take seconds, and a
/// receipt shows minutes.
pub const CLOCKS_DIFFER_MS: i64 = 5 * 60 * 1000;
/// The number of latest transactions whose records are searched for the latest time.
const RECENT_SALES: i64 = 100;

/// A correction of the clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetBack {
    /// The latest time that was written earlier, in milliseconds since 1970.
    pub latest_unix_ms: i64,
    /// The actual time, in milliseconds since 1970.
    pub now_unix_ms: i64,
    /// The person or device that set the clock back.
    pub by: String,
    /// The position in the chain.
    pub(super) entry: i64,
}

/// The latest time in the chain that counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latest {
    /// Milliseconds since 1970; zero in an empty journal.
    pub unix_ms: i64,
    /// The transaction that wrote the time; `None` if a mark wrote it.
    pub number: Option<i64>,
}

/// Returns all corrections in the chain, oldest first.
pub(super) fn all(connection: &Connection) -> Result<Vec<SetBack>, Error> {
    let mut all = Vec::new();
    if !open::has_chain(connection)? {
        return Ok(all);
    }
    let mut select = connection.prepare_cached("SELECT entry, what FROM mark ORDER BY entry").map_err(failed)?;
    let mut rows = select.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let what: String = row.get(1).map_err(failed)?;
        if let Ok(Mark::ClockSetBack { latest, now, by }) = serde_json::from_str(&what) {
            let entry = row.get(0).map_err(failed)?;
            all.push(SetBack { latest_unix_ms: latest, now_unix_ms: now, by, entry });
        }
    }
    Ok(all)
}

/// Returns the latest time that was written after the clock was last set back. It searches only the latest
/// transactions, because a search of all transactions would make the start slow. They contain the latest records,
/// except for some reversals.
pub(super) fn latest(connection: &Connection, after: Option<&SetBack>) -> Result<Latest, Error> {
    let last = connection.query_row("SELECT coalesce(max(number), 0) FROM sale", [], |row| row.get::<_, i64>(0));
    let recent = last.map_err(failed)?.saturating_sub(RECENT_SALES).saturating_mul(STEPS_OF_SALE);
    let entered = if after.is_some() { "(entry IS NULL OR entry > ?2)" } else { "?2 IS NULL" };
    let sql = format!("SELECT unix_ms, sale FROM step WHERE id >= ?1 AND {entered} ORDER BY unix_ms DESC LIMIT 1");
    let written = connection
        .query_row(&sql, params![recent, after.map(|set_back| set_back.entry)], |row| {
            Ok(Latest { unix_ms: row.get(0)?, number: Some(row.get(1)?) })
        })
        .optional();
    let written = written.map_err(failed)?.unwrap_or_default();
    let marked = after.map_or(0, |set_back| set_back.now_unix_ms.saturating_sub(CLOCKS_DIFFER_MS));
    Ok(if written.unix_ms >= marked { written } else { Latest { unix_ms: marked, number: None } })
}

impl Db {
    /// Writes a mark that the time is `now_unix_ms`, and that all later times in the journal came from a clock that was
    /// ahead.
    ///
    /// # Errors
    /// Returns [`Error::ClockStays`] if no time in the journal is later, or an error if the journal cannot be written.
    /// Nothing has then changed.
    pub fn set_clock_back(&mut self, now_unix_ms: i64, by: &str) -> Result<SetBack, Error> {
        let latest = latest(&self.connection, self.set_backs.last())?;
        if latest.unix_ms <= now_unix_ms.saturating_add(CLOCKS_DIFFER_MS) {
            let why = "no record is later than the clock: nothing shows that the clock is wrong".to_owned();
            return Err(Error::ClockStays { why });
        }
        // If this journal is an outdated copy, the missing transactions happened after the latest time that can be
        // correct.
        let known = self.known_until_at_most(now_unix_ms.saturating_add(MILLISECONDS_OF_A_DAY))?;
        let head = self.take_head()?;
        let transaction = self.connection.transaction().map_err(failed)?;
        let mark = Mark::ClockSetBack { latest: latest.unix_ms, now: now_unix_ms, by: by.to_owned() };
        let head = mark.write(&transaction, head, now_unix_ms)?;
        if let Some(known) = known {
            let sql = "UPDATE about SET whole_until = min(coalesce(whole_until, ?1), ?1)";
            transaction.execute(sql, params![known]).map_err(failed)?;
        }
        transaction.commit().map_err(failed)?;
        self.head = Some(head);
        let (latest_unix_ms, by, entry) = (latest.unix_ms, by.to_owned(), head.entry);
        let set_back = SetBack { latest_unix_ms, now_unix_ms, by, entry };
        self.set_backs.push(set_back.clone());
        self.last_unix_ms = now_unix_ms.saturating_sub(CLOCKS_DIFFER_MS);
        Ok(set_back)
    }

    /// Returns the transaction with this number in its current state. The replay sets the clock back at the same points
    /// as in live operation.
    pub(super) fn replay_through(&self, number: i64, first: i64) -> Result<Option<Transaction>, Error> {
        let steps = self.steps(number)?;
        let (mut sale, mut done) = (None, 0);
        for set_back in &self.set_backs {
            let sql = "SELECT count(*) FROM step WHERE id >= ?1 AND id < ?2 AND entry < ?3";
            let range = params![first, first.saturating_add(STEPS_OF_SALE), set_back.entry];
            let before =
                self.connection.prepare_cached(sql).map_err(failed)?.query_row(range, |row| row.get::<_, u32>(0));
            let before = (before.map_err(failed)? as usize).clamp(done, steps.len());
            let until_then = match sale.take() {
                None => Transaction::replay(&steps[..before]),
                Some(sale) => Some(Transaction::replay_on(sale, &steps[done..before])),
            };
            // A transaction that began after the correction is not affected.
            if let Some(mut until_then) = until_then {
                until_then.clock_was_set_back(set_back.now_unix_ms);
                (sale, done) = (Some(until_then), before);
            }
        }
        Ok(match sale {
            None => Transaction::replay(&steps),
            Some(sale) => Some(Transaction::replay_on(sale, &steps[done..])),
        })
    }
}

impl Journal {
    /// Writes a mark that the time is `now_unix_ms`, and that all later times in the journal came from a clock that was
    /// ahead.
    ///
    /// # Errors
    /// Returns the errors of [`Db::set_clock_back`].
    pub fn set_clock_back(&mut self, now_unix_ms: i64, by: &str) -> Result<SetBack, Error> {
        self.db.set_clock_back(now_unix_ms, by)
    }

    /// Returns the wall-clock time of the latest data in this journal, up to `not_after_unix_ms`. Later times came from
    /// a clock that was ahead, and are ignored.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn known_until(&self, not_after_unix_ms: i64) -> Result<Option<i64>, Error> {
        self.db.known_until_at_most(not_after_unix_ms)
    }
}
