//! The facts that reveal an outdated copy of the journal: the time of its latest data, and whether it contains a
//! gateway reference of this terminal.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Error;
use super::chain::Mark;
use super::db::{Db, STEPS_OF_SALE, failed, put};
use super::open::MILLISECONDS_OF_A_DAY;
use pos_terms::transaction::SaleNumber;

/// The findings about an outdated copy of the journal: the references that are missing from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OldCopyFound {
    /// The highest number in the missing references. New numbers continue above it.
    pub above: SaleNumber,
    /// The highest number in the journal when the findings were made. The journal does not know what happened later to
    /// the transactions up to this number.
    pub before: SaleNumber,
    /// The references, each identified by its number and half of its random digits.
    pub references: BTreeSet<String>,
}

/// The position of another terminal's adopted journal in this one.
struct Taken {
    /// The first adopted entry in this journal.
    first: i64,
    /// The entry of the mark that follows the last adopted entry.
    mark: i64,
    /// The number added to the adopted transactions' numbers.
    added: i64,
}

impl Db {
    /// Returns the wall-clock time of the latest data in this journal, in milliseconds since 1970. Missing transactions
    /// happened later. Returns `None` if the journal has no transaction. While an adopted transaction is open, the
    /// latest time in the adopted journal counts if it is earlier. The adopted journal's terminal may have continued
    /// after the copy was made.
    ///
    /// Times after `not_after` came from a clock that was ahead, and are ignored.
    pub(super) fn known_until(&self, open: &[SaleNumber], not_after: i64) -> Result<Option<i64>, Error> {
        if self.is_empty()? {
            return Ok(None);
        }
        // An unanswered check for an outdated copy is repeated from the same time, after any number of restarts.
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

    /// Returns [`Self::known_until`] for all transactions that are not marked as settled.
    pub(super) fn known_until_at_most(&self, not_after: i64) -> Result<Option<i64>, Error> {
        let open = self.numbers("SELECT number FROM sale WHERE settled = 0", [])?;
        self.known_until(
            &open.iter().map(|number| SaleNumber::new(number.unsigned_abs())).collect::<Vec<_>>(),
            not_after,
        )
    }

    /// Returns the ids of the terminals that may have sent transactions since this time that are missing from this
    /// journal. These are the ids in all transactions since that day, or in the latest transaction if there are none.
    /// Each adopted journal with data from that time adds the id in its latest transaction.
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

    /// Returns whether a transaction of this journal sent a request under this gateway reference
    /// (`merchantTransactionId`).
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn knows(&self, reference: &str) -> Result<bool, Error> {
        let taken = self.taken()?;
        // A reference consists of the terminal, the number, random digits, and the number of the reversal.
        let number = reference.split('-').nth(1).and_then(|number| number.parse::<i64>().ok());
        for added in std::iter::once(0).chain(taken.iter().map(|taken| taken.added)) {
            let first = number.and_then(|number| number.checked_add(added)?.checked_mul(STEPS_OF_SALE));
            let Some(first) = first else { continue };
            let sql = "SELECT records FROM step WHERE id >= ?1 AND id < ?2 AND instr(records, ?3) > 0";
            if self.any_holds(sql, params![first, first.saturating_add(STEPS_OF_SALE), reference], reference)? {
                return Ok(true);
            }
        }
        // An adopted journal may itself have adopted another one. The number that was added is then unknown.
        let sql = "SELECT records FROM step WHERE instr(records, ?1) > 0";
        Ok(!taken.is_empty() && self.any_holds(sql, params![reference], reference)?)
    }

    /// Stores the start time of the check for an outdated copy that is in progress, or `None` if it was answered. The
    /// value is not part of the chain.
    pub(super) fn look_from(&self, unix_ms: Option<i64>) -> Result<(), Error> {
        put(&self.connection, "UPDATE about SET whole_until = ?1 WHERE whole_until IS NOT ?1", params![unix_ms])
    }

    /// Writes a mark that this journal is an outdated copy.
    pub(super) fn mark_old_copy(&mut self, found: &OldCopyFound, unix_ms: i64) -> Result<(), Error> {
        self.mark(&Mark::OldCopy { found: found.clone() }, unix_ms)
    }

    /// Returns the earlier findings about an outdated copy.
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

    /// Writes a mark that the journal has begun, unless it has a transaction or such a mark.
    pub(super) fn begin(&mut self, gateway_unix_ms: i64, unix_ms: i64) -> Result<(), Error> {
        if !self.is_empty()? || self.began()?.is_some() {
            return Ok(());
        }
        self.mark(&Mark::Begun { gateway: gateway_unix_ms }, unix_ms)
    }

    /// Returns the gateway's time when this journal began. Returns `None` if it was not recorded, or if this journal
    /// has adopted another one, which began earlier.
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

    /// Returns whether the journal has no transaction.
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

/// Returns the findings about an outdated copy from the latest mark of that kind.
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

/// Returns whether a record contains this reference as one that the agent sent. It may be in any field, because later
/// requests of a transaction have their own references. Data from the till or the gateway does not count.
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
