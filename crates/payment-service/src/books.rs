//! The gateway's books: payments, stored accounts and refusals. They are an SQLite database, in memory or in a file
//! that survives a restart.
//!
//! An entry is written in one database transaction before the answer is sent. The books hold no card number, only the
//! first six and the last four digits. They do not record used keys and cryptograms, because a simulated reader also
//! starts again.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row, named_params, params};
use serde_json::Value;

use super::balance::Balance;
use super::database::{Books, json, method, strange};
use super::entry::{Kind, LedgerEntry, State};
use super::envelope::text;
use super::ledger::Ledger;
use super::redirect_book;
use super::registration_book::{self, Registration, store};
use super::schedule::rows;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS payment (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        reference TEXT,
        amount TEXT NOT NULL,
        currency TEXT NOT NULL,
        state TEXT NOT NULL,
        code TEXT NOT NULL,
        refers_to TEXT,
        entry_mode TEXT,
        parameters TEXT NOT NULL,
        practice TEXT,
        is_last INTEGER NOT NULL,
        captures INTEGER,
        at INTEGER NOT NULL,
        short_id TEXT NOT NULL,
        answer TEXT NOT NULL,
        hidden INTEGER NOT NULL,
        later_in INTEGER,
        later TEXT,
        first_reversal INTEGER,
        registration TEXT,
        instruction TEXT,
        method TEXT NOT NULL,
        details TEXT NOT NULL,
        account TEXT
    ) STRICT;
    CREATE INDEX IF NOT EXISTS payment_reference ON payment (reference) WHERE reference IS NOT NULL;
    CREATE INDEX IF NOT EXISTS payment_at ON payment (at);
    CREATE INDEX IF NOT EXISTS payment_refers_to ON payment (refers_to) WHERE refers_to IS NOT NULL;
    CREATE INDEX IF NOT EXISTS payment_registration ON payment (registration) WHERE registration IS NOT NULL;
    CREATE TABLE IF NOT EXISTS refusal (n INTEGER PRIMARY KEY, why TEXT NOT NULL) STRICT;
";

/// Columns that database files of earlier versions lack, each with the value for existing rows.
const ADDED: &[(&str, &str, &str)] = &[
    ("payment", "method", "TEXT NOT NULL DEFAULT 'CC'"),
    ("payment", "details", "TEXT NOT NULL DEFAULT '[]'"),
    ("registration", "method", "TEXT NOT NULL DEFAULT 'CC'"),
    ("registration", "shown", "TEXT NOT NULL DEFAULT '{}'"),
    ("registration", "first", "TEXT"),
    ("payment", "account", "TEXT"),
    ("registration", "account", "TEXT"),
    ("registered_as", "at", "INTEGER NOT NULL DEFAULT 0"),
];

/// An entry together with the answer about it.
#[derive(Clone)]
pub(super) struct Booking {
    pub entry: LedgerEntry,
    /// The booking time, in seconds since 1970.
    pub at: i64,
    pub short_id: String,
    pub answer: Value,
    /// The number of look-ups that will not find the entry.
    pub hidden: u8,
    /// The number of look-ups until the entry is approved, and its answer after that.
    pub later: Option<(u8, Value)>,
    /// The cents that choose the outcome of the entry's first reversal.
    pub first_reversal: Option<u8>,
    /// The id of the stored card that the payment used or created.
    pub registration: Option<String>,
    /// The fields of `standingInstruction.*`.
    pub instruction: Option<Value>,
    /// `last4Digits`, `bankCode` and `holder` of a bank account, for the settlement.
    pub account: Option<Value>,
}

/// The filter of a query.
#[derive(Default)]
pub(super) struct SearchFilter<'a> {
    pub reference: Option<&'a str>,
    pub frame: Option<(i64, i64)>,
    /// The kinds as one text, with a comma before and after each.
    pub kinds: Option<String>,
    /// The means of payment as one text, with a comma before and after each.
    pub methods: Option<String>,
    pub short_id: Option<&'a str>,
    pub with_linked: bool,
    pub limit: u32,
}

impl Books {
    /// Opens the file, or creates it if it is missing. Without a file, the books are in memory.
    pub(super) fn open(file: Option<&Path>) -> rusqlite::Result<Self> {
        let db = match file {
            Some(file) => Connection::open(file)?,
            None => Connection::open_in_memory()?,
        };
        db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")?;
        db.execute_batch(SCHEMA)?;
        db.execute_batch(rows::SCHEMA)?;
        db.execute_batch(redirect_book::SCHEMA)?;
        db.execute_batch(registration_book::SCHEMA)?;
        for (table, column, what) in ADDED {
            let known = "SELECT EXISTS (SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2)";
            if !db.query_row(known, [table, column], |row| row.get::<_, bool>(0))? {
                db.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {column} {what}"))?;
            }
        }
        Ok(Self(db))
    }

    /// Returns the entry with this id.
    pub(super) fn find(&self, id: &str) -> rusqlite::Result<Option<Booking>> {
        self.0.prepare_cached("SELECT * FROM payment WHERE id = ?")?.query_row([id], booking).optional()
    }

    /// Returns the entries that refer to this entry, in booking order.
    pub(super) fn following(&self, id: &str) -> rusqlite::Result<Vec<LedgerEntry>> {
        let mut rows = self.0.prepare_cached("SELECT * FROM payment WHERE refers_to = ? ORDER BY n")?;
        rows.query_map([id], entry)?.collect()
    }

    /// Returns the payments made with this stored card, in booking order.
    pub(super) fn with_registration(&self, id: &str) -> rusqlite::Result<Vec<Booking>> {
        let mut rows = self.0.prepare_cached("SELECT * FROM payment WHERE registration = ? ORDER BY n")?;
        rows.query_map([id], booking)?.collect()
    }

    /// Books an entry, together with a new stored card if there is one. If approved reversals leave nothing of a
    /// payment, the payment and its increments are marked as reversed.
    pub(super) fn enter(&mut self, new: &Booking, stored: Option<&Registration>) -> rusqlite::Result<()> {
        let takes_back = new.entry.kind == Kind::Reversal && new.entry.state == State::Approved;
        if stored.is_none() && !takes_back {
            // SQLite executes a single statement as one transaction.
            return insert(&self.0, new);
        }
        let transaction = self.0.transaction()?;
        insert(&transaction, new)?;
        if let Some(stored) = stored {
            store(&transaction, stored)?;
        }
        if takes_back {
            take_back(&transaction, &new.entry)?;
        }
        transaction.commit()
    }

    /// Saves the entry's state after one more look-up. If this look-up decides the entry, the entry becomes approved.
    pub(super) fn asked(&mut self, booking: &Booking, decided: bool) -> rusqlite::Result<()> {
        let transaction = self.0.transaction()?;
        let later = booking.later.as_ref();
        transaction
            .prepare_cached("UPDATE payment SET hidden = ?, later_in = ?, answer = ? WHERE id = ?")?
            .execute(params![booking.hidden, later.map(|(left, _)| *left), text(&booking.answer), booking.entry.id])?;
        if decided {
            transaction
                .prepare_cached("UPDATE payment SET state = ? WHERE id = ?")?
                .execute([State::Approved.as_str(), &booking.entry.id])?;
            if booking.entry.kind == Kind::Reversal {
                take_back(&transaction, &booking.entry)?;
            }
        }
        transaction.commit()
    }

    /// Clears the outcome that was set for the first reversal of an entry.
    pub(super) fn take_first_reversal(&mut self, id: &str) -> rusqlite::Result<()> {
        self.0.prepare_cached("UPDATE payment SET first_reversal = NULL WHERE id = ?")?.execute([id])?;
        Ok(())
    }

    /// Returns the entries that match a query, in booking order, and then their follow-ups.
    pub(super) fn search(&self, wanted: &SearchFilter<'_>) -> rusqlite::Result<Vec<Booking>> {
        const MATCHES: &str =
            "(:reference IS NULL OR reference = :reference) AND (:from IS NULL OR at BETWEEN :from AND :to)
            AND (:kinds IS NULL OR instr(:kinds, ',' || kind || ','))
            AND (:methods IS NULL OR instr(:methods, ',' || method || ',')) AND (:short_id IS NULL OR short_id = :short_id)";
        let (from, to) = wanted.frame.unzip();
        // A search by reference uses the index explicitly. Because of the OR, SQLite's optimizer would not use it.
        let index = if wanted.reference.is_some() { "reference = :reference AND " } else { "" };
        let linked = "UNION SELECT payment.n, 1 FROM payment JOIN found ON payment.refers_to =
            (SELECT id FROM payment AS parent WHERE parent.n = found.n)";
        let sql = format!(
            "WITH RECURSIVE found (n, depth) AS (SELECT n, 0 FROM payment WHERE {index}{MATCHES} {})
             SELECT payment.* FROM payment JOIN (SELECT n, min(depth) AS depth FROM found GROUP BY n) USING (n)
             ORDER BY depth, at, n LIMIT :limit",
            if wanted.with_linked { linked } else { "" },
        );
        let parameters = named_params! {
            ":reference": wanted.reference, ":from": from, ":to": to, ":kinds": wanted.kinds,
            ":methods": wanted.methods,
            ":short_id": wanted.short_id, ":limit": wanted.limit,
        };
        self.0.prepare_cached(&sql)?.query_map(parameters, booking)?.collect()
    }

    /// Returns the id and reference of each card that was stored without a payment and matches a query. A missing
    /// reference is empty.
    pub(super) fn stored_alone(
        &self,
        wanted: &SearchFilter<'_>,
        most: usize,
    ) -> rusqlite::Result<Vec<(String, String)>> {
        let (from, to) = wanted.frame.unzip();
        self.0
            .prepare_cached(
                "SELECT id, reference FROM registered_as JOIN registration USING (id)
                 WHERE (:reference IS NULL OR reference = :reference) AND (:from IS NULL OR at BETWEEN :from AND :to)
                    AND (:methods IS NULL OR instr(:methods, ',' || method || ','))
                 ORDER BY registered_as.rowid LIMIT :most",
            )?
            .query_map(
                named_params! {
                    ":reference": wanted.reference, ":from": from, ":to": to, ":methods": wanted.methods,
                    ":most": i64::try_from(most).unwrap_or(i64::MAX),
                },
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?
            .collect()
    }

    /// Returns the entries booked between two times (in seconds), in booking order.
    pub(super) fn between(&self, seconds: (i64, i64)) -> rusqlite::Result<Vec<Booking>> {
        let mut rows = self.0.prepare_cached("SELECT * FROM payment WHERE at BETWEEN ? AND ? ORDER BY at, n")?;
        rows.query_map(seconds, booking)?.collect()
    }

    /// Counts the entries booked between two times (in seconds).
    pub(super) fn count_between(&self, seconds: (i64, i64)) -> rusqlite::Result<u32> {
        let mut row = self.0.prepare_cached("SELECT count(*) FROM payment WHERE at BETWEEN ? AND ?")?;
        row.query_row(seconds, |row| row.get(0))
    }

    /// Returns the booking times of the first and the last entry.
    pub(super) fn first_and_last(&self) -> rusqlite::Result<Option<(i64, i64)>> {
        let mut row = self.0.prepare_cached("SELECT min(at), max(at) FROM payment")?;
        let (first, last): (Option<i64>, Option<i64>) = row.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(first.zip(last))
    }

    /// Returns the number of entries.
    pub(super) fn count(&self) -> rusqlite::Result<i64> {
        self.0.prepare_cached("SELECT coalesce(max(n), 0) FROM payment")?.query_row([], |row| row.get(0))
    }

    /// Records the reason why a request was refused.
    pub(super) fn refuse(&mut self, why: &str) -> rusqlite::Result<()> {
        self.0.prepare_cached("INSERT INTO refusal (why) VALUES (?)")?.execute([why])?;
        Ok(())
    }

    /// Returns whether an entry or a stored card has this reference.
    pub(super) fn knows(&self, reference: &str) -> rusqlite::Result<bool> {
        self.0
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM payment WHERE reference = ?1)
                    OR EXISTS (SELECT 1 FROM registered WHERE reference = ?1)",
            )?
            .query_row([reference], |row| row.get(0))
    }

    /// Returns a copy of all entries and refusals.
    pub(super) fn ledger(&self) -> rusqlite::Result<Ledger> {
        let mut rows = self.0.prepare_cached("SELECT * FROM payment ORDER BY n")?;
        let entries = rows.query_map([], entry)?.collect::<rusqlite::Result<_>>()?;
        let mut rows = self.0.prepare_cached("SELECT why FROM refusal ORDER BY n")?;
        let refusals = rows.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        Ok(Ledger { entries, refusals })
    }
}

/// Writes the entry, but not the related changes.
fn insert(db: &Connection, new: &Booking) -> rusqlite::Result<()> {
    let Booking { entry, later, .. } = new;
    db
        .prepare_cached(
            "INSERT INTO payment (id, kind, reference, amount, currency, state, code, refers_to, entry_mode, parameters,
                practice, is_last, captures, at, short_id, answer, hidden, later_in, later, first_reversal, registration,
                instruction, method, details, account)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            entry.id,
            entry.kind.as_str(),
            entry.merchant_transaction_id,
            entry.amount,
            entry.currency,
            entry.state.as_str(),
            entry.code,
            entry.refers_to,
            entry.entry_mode,
            entry.parameters.join("&"),
            entry.practice,
            entry.is_last,
            entry.captures,
            new.at,
            new.short_id,
            text(&new.answer),
            new.hidden,
            later.as_ref().map(|(questions, _)| *questions),
            later.as_ref().map(|(_, answer)| text(answer)),
            new.first_reversal,
            new.registration,
            new.instruction.as_ref().map(Value::to_string),
            entry.method.as_str(),
            serde_json::to_string(&entry.details).unwrap_or_default(),
            new.account.as_ref().map(text),
        ])?;
    Ok(())
}

/// Marks the payment of a reversal, with its increments, as reversed if nothing of the payment is left.
fn take_back(db: &Connection, reversal: &LedgerEntry) -> rusqlite::Result<()> {
    let mut of = db.prepare_cached("SELECT * FROM payment WHERE id = ?")?;
    let Some(payment) = of.query_row([&reversal.refers_to], entry).optional()? else { return Ok(()) };
    let mut after = db.prepare_cached("SELECT * FROM payment WHERE refers_to = ? ORDER BY n")?;
    let after: Vec<LedgerEntry> = after.query_map([&payment.id], entry)?.collect::<rusqlite::Result<_>>()?;
    if !Balance::of(&payment, after.iter()).is_reversed {
        return Ok(());
    }
    db.prepare_cached(
        "UPDATE payment SET state = 'reversed' WHERE state = 'approved' AND (id = ?1
            OR (refers_to = ?1 AND practice = 'INCREMENTAL_AUTH'))",
    )?
    .execute([&reversal.refers_to])?;
    Ok(())
}

fn entry(row: &Row<'_>) -> rusqlite::Result<LedgerEntry> {
    let (kind, state): (String, String) = (row.get("kind")?, row.get("state")?);
    let (parameters, details): (String, String) = (row.get("parameters")?, row.get("details")?);
    Ok(LedgerEntry {
        id: row.get("id")?,
        kind: Kind::ALL.into_iter().find(|known| known.as_str() == kind).ok_or_else(|| strange("kind"))?,
        merchant_transaction_id: row.get("reference")?,
        amount: row.get("amount")?,
        currency: row.get("currency")?,
        state: State::ALL.into_iter().find(|known| known.as_str() == state).ok_or_else(|| strange("state"))?,
        code: row.get("code")?,
        refers_to: row.get("refers_to")?,
        entry_mode: row.get("entry_mode")?,
        parameters: parameters.split('&').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        method: method(row)?,
        details: serde_json::from_str(&details).map_err(|_| strange("details"))?,
        practice: row.get("practice")?,
        is_last: row.get("is_last")?,
        captures: row.get("captures")?,
    })
}

fn booking(row: &Row<'_>) -> rusqlite::Result<Booking> {
    let later_in: Option<u8> = row.get("later_in")?;
    Ok(Booking {
        entry: entry(row)?,
        at: row.get("at")?,
        short_id: row.get("short_id")?,
        answer: json(row, "answer")?.unwrap_or_default(),
        hidden: row.get("hidden")?,
        later: later_in.zip(json(row, "later")?),
        first_reversal: row.get("first_reversal")?,
        registration: row.get("registration")?,
        instruction: json(row, "instruction")?,
        account: json(row, "account")?,
    })
}
