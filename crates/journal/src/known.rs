//! What an old copy of the journal is known by: until when it knows, and whether one of our references at the gateway
//! is in it.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Error;
use super::chain::Mark;
use super::db::{Db, STEPS_OF_SALE, failed, put};
use super::open::MILLISECONDS_OF_A_DAY;
use pos_terms::transaction::SaleNumber;

/// What a journal was found not to know, when it was an old copy of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OldCopyFound {
    /// The highest number in the references that it did not know: its numbers go on above it.
    pub above: SaleNumber,
    /// The highest number of its own at that time: what became of these transactions since, it does not know.
    pub before: SaleNumber,
    /// The references, each by its number and half of its random digits.
    pub references: BTreeSet<String>,
}

/// What another board's journal became here.
struct Taken {
    /// Its first entry here.
    first: i64,
    /// The entry of the mark behind its last one.
    mark: i64,
    /// What was added to its numbers.
    added: i64,
}

impl Db {
    /// The wall clock of the last thing that this journal knows, in milliseconds since 1970: what it does not know
    /// happened later. `None` without a transaction. While a transaction is open that was taken over from another
    /// journal, it is the last thing that the other one knew, when that is earlier: its own board may have gone on
    /// after the copy was made.
    ///
    /// Times after `not_after` were written by a clock that was ahead, and say nothing.
    pub(super) fn known_until(&self, open: &[SaleNumber], not_after: i64) -> Result<Option<i64>, Error> {
        if self.is_empty()? {
            return Ok(None);
        }
        // A look for an old copy that had no answer goes on from where it began, over any number of starts.
        let unanswered = "SELECT whole_until FROM about";
        let unanswered: Option<i64> =
            self.connection.query_row(unanswered, [], |row| row.get(0)).optional().map_err(failed)?.flatten();
        let last = if self.last_unix_ms <= not_after {
            self.last_unix_ms
        } else {
            let last = "SELECT unix_ms FROM step WHERE unix_ms <= ?1 ORDER BY id DESC LIMIT 1";
            let last = self.connection.query_row(last, [not_after], |row| row.get(0)).optional();
            last.map_err(failed)?.unwrap_or_default()
        };
        let mut until = unanswered.map_or(last, |until| until.min(last));
        for Taken { first, mark, .. } in self.taken()? {
            let mut is_open = false;
            for number in open {
                let id = i64::try_from(*number).map_err(failed)?.saturating_mul(STEPS_OF_SALE);
                let begun = "SELECT entry FROM step WHERE id = ?1";
                let begun: Option<Option<i64>> =
                    self.connection.query_row(begun, [id], |row| row.get(0)).optional().map_err(failed)?;
                is_open |= begun.flatten().is_some_and(|entry| (first..mark).contains(&entry));
            }
            if is_open {
                let last =
                    "SELECT coalesce(max(unix_ms), 0) FROM step WHERE entry >= ?1 AND entry < ?2 AND unix_ms <= ?3";
                let last = self.connection.query_row(last, [first, mark, not_after], |row| row.get(0));
                until = until.min(last.map_err(failed)?);
            }
        }
        Ok(Some(until))
    }

    /// [`Self::known_until`] of all that is open, or is not marked as settled yet.
    pub(super) fn known_until_at_most(&self, not_after: i64) -> Result<Option<i64>, Error> {
        let open = self.numbers("SELECT number FROM sale WHERE settled = 0", [])?;
        self.known_until(
            &open.iter().map(|number| SaleNumber::new(number.unsigned_abs())).collect::<Vec<_>>(),
            not_after,
        )
    }

    /// The ids of the terminals that may have sent, since this time, what this journal does not know: that of its
    /// latest transaction, and those of all with a number since then. Of each journal that was taken over and knew of
    /// that time it is the id of the latest transaction in it.
    pub(super) fn terminals_since(&self, unix_ms: i64) -> Result<BTreeSet<String>, Error> {
        let date = unix_ms.div_euclid(MILLISECONDS_OF_A_DAY);
        let sql = "SELECT coalesce((SELECT min(first) FROM day WHERE date >= ?1), max(number), 0) FROM sale";
        let since: i64 = self.connection.query_row(sql, [date], |row| row.get(0)).map_err(failed)?;
        let mut numbers = self.numbers("SELECT number FROM sale WHERE number >= ?1", [since])?;
        for Taken { first, mark, .. } in self.taken()? {
            let sql = "SELECT id / ?4 FROM step WHERE entry >= ?1 AND entry < ?2 AND id % ?4 = 0
                       AND (SELECT unix_ms FROM step WHERE entry < ?2 ORDER BY entry DESC LIMIT 1) >= ?3
                       ORDER BY entry DESC LIMIT 1";
            numbers.extend(self.numbers(sql, params![first, mark, unix_ms, STEPS_OF_SALE])?);
        }
        let mut begun = self.connection.prepare("SELECT records FROM step WHERE id = ?1").map_err(failed)?;
        let mut ids = BTreeSet::new();
        for number in numbers {
            let records = begun.query_row([number.saturating_mul(STEPS_OF_SALE)], |row| row.get::<_, String>(0));
            let records = records.optional().map_err(failed)?.and_then(|text| serde_json::from_str(&text).ok());
            let id = records.as_ref().and_then(|records: &Value| records.pointer("/0/order/terminalId")?.as_str());
            ids.extend(id.map(str::to_owned));
        }
        Ok(ids)
    }

    /// Whether a transaction of this journal sent a request under this reference at the gateway
    /// (`merchantTransactionId`).
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn knows(&self, reference: &str) -> Result<bool, Error> {
        let taken = self.taken()?;
        // Terminal, number, random digits, and which reversal it is.
        let number = reference.split('-').nth(1).and_then(|number| number.parse::<i64>().ok());
        for added in std::iter::once(0).chain(taken.iter().map(|taken| taken.added)) {
            let first = number.and_then(|number| number.checked_add(added)?.checked_mul(STEPS_OF_SALE));
            let Some(first) = first else { continue };
            let sql = "SELECT records FROM step WHERE id >= ?1 AND id < ?2 AND instr(records, ?3) > 0";
            if self.any_holds(sql, params![first, first.saturating_add(STEPS_OF_SALE), reference], reference)? {
                return Ok(true);
            }
        }
        // A journal that was taken over may itself have taken one over: then nobody knows how much was added.
        let sql = "SELECT records FROM step WHERE instr(records, ?1) > 0";
        Ok(!taken.is_empty() && self.any_holds(sql, params![reference], reference)?)
    }

    /// From when on a look for an old copy is under way; `None` when it was answered. It is no part of the book.
    pub(super) fn look_from(&self, unix_ms: Option<i64>) -> Result<(), Error> {
        put(&self.connection, "UPDATE about SET whole_until = ?1 WHERE whole_until IS NOT ?1", params![unix_ms])
    }

    /// Writes into the book that this journal was found to be an old copy.
    pub(super) fn mark_old_copy(&mut self, found: &OldCopyFound, unix_ms: i64) -> Result<(), Error> {
        self.mark(&Mark::OldCopy { found: found.clone() }, unix_ms)
    }

    /// What was found before, when this journal was an old copy.
    pub(super) fn old_copy(&self) -> Result<OldCopyFound, Error> {
        old_copy(&self.connection)
    }

    fn any_holds(&self, sql: &str, parameters: impl rusqlite::Params, reference: &str) -> Result<bool, Error> {
        let mut select = self.connection.prepare_cached(sql).map_err(failed)?;
        let mut rows = select.query(parameters).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let text = row.get_ref(0).map_err(failed)?;
            let records = text.as_str().ok().and_then(|text| serde_json::from_str(text).ok());
            if records.is_some_and(|records| holds(&records, reference)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Writes into the book that it has begun, unless it has a transaction or says so already.
    pub(super) fn begin(&mut self, gateway_unix_ms: i64, unix_ms: i64) -> Result<(), Error> {
        if !self.is_empty()? || self.began()?.is_some() {
            return Ok(());
        }
        self.mark(&Mark::Begun { gateway: gateway_unix_ms }, unix_ms)
    }

    /// What time it was at the gateway when this journal began; `None` when that was not written, or another one was
    /// taken over, which began earlier.
    pub(super) fn began(&self) -> Result<Option<i64>, Error> {
        let mut select = self.connection.prepare_cached("SELECT what FROM mark ORDER BY entry").map_err(failed)?;
        let mut rows = select.query([]).map_err(failed)?;
        let mut began = None;
        while let Some(row) = rows.next().map_err(failed)? {
            let what: String = row.get(0).map_err(failed)?;
            match serde_json::from_str(&what) {
                Ok(Mark::Begun { gateway }) => began = began.or(Some(gateway)),
                Ok(Mark::Adopted { .. }) => return Ok(None),
                _ => {}
            }
        }
        Ok(began)
    }

    /// Whether it has no transaction.
    fn is_empty(&self) -> Result<bool, Error> {
        Ok(self.number("SELECT count(*) FROM (SELECT 1 FROM sale LIMIT 1)")? == 0)
    }

    pub(super) fn has_taken(&self) -> Result<bool, Error> {
        Ok(!self.taken()?.is_empty())
    }

    fn taken(&self) -> Result<Vec<Taken>, Error> {
        let sql = "SELECT entry, what FROM mark ORDER BY entry";
        let mut select = self.connection.prepare_cached(sql).map_err(failed)?;
        let mut rows = select.query([]).map_err(failed)?;
        let mut taken = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let (mark, what): (i64, String) = row.get(0).and_then(|mark| Ok((mark, row.get(1)?))).map_err(failed)?;
            if let Ok(Mark::Adopted { first, added, .. }) = serde_json::from_str(&what) {
                taken.push(Taken { first, mark, added: i64::try_from(added).map_err(failed)? });
            }
        }
        Ok(taken)
    }
}

/// What a journal was found not to know, as its latest mark of that says.
pub(super) fn old_copy(connection: &Connection) -> Result<OldCopyFound, Error> {
    let mut select = connection.prepare("SELECT what FROM mark ORDER BY entry DESC").map_err(failed)?;
    let mut rows = select.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let what: String = row.get(0).map_err(failed)?;
        if let Ok(Mark::OldCopy { found }) = serde_json::from_str(&what) {
            return Ok(found);
        }
    }
    Ok(OldCopyFound::default())
}

/// Whether a record has this reference as one of ours, whatever the field is called: later requests of a transaction
/// have their own. What the till or the gateway said under whatever name is not ours.
fn holds(records: &Value, reference: &str) -> bool {
    match records {
        Value::String(text) => text == reference,
        Value::Array(values) => values.iter().any(|value| holds(value, reference)),
        Value::Object(fields) => fields.iter().any(|(name, value)| match name.as_str() {
            "order" => value.get("merchantTransactionId").and_then(Value::as_str) == Some(reference),
            "host" => false,
            _ => holds(value, reference),
        }),
        _ => false,
    }
}
