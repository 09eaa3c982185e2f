//! The books of stored accounts.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use super::database::{Books, json, method};
use super::envelope::text;
use super::masked_card::MaskedCard;
use super::method::Method;

pub(super) const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS registration (
        id TEXT PRIMARY KEY,
        bin TEXT NOT NULL,
        last4 TEXT NOT NULL,
        expiry TEXT,
        payment TEXT,
        is_deleted INTEGER NOT NULL DEFAULT 0,
        method TEXT NOT NULL,
        shown TEXT NOT NULL,
        first TEXT,
        account TEXT
    ) STRICT;
    CREATE TABLE IF NOT EXISTS registered (reference TEXT PRIMARY KEY) STRICT;
    CREATE TABLE IF NOT EXISTS registered_as (
        reference TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL
    ) STRICT;
";

/// A stored account: a card, a bank account, or another means of payment.
pub(super) struct Registration {
    pub id: String,
    pub method: Method,
    /// The masked card, if the account is a card.
    pub masked_card: Option<MaskedCard>,
    /// The other fields that an answer shows.
    pub shown: Value,
    /// The fields of a bank account that the settlement contains.
    pub account: Option<Value>,
    /// The agreement that was made with another service.
    pub first: Option<Value>,
    /// The id of the payment that stored it.
    pub payment: Option<String>,
    pub is_deleted: bool,
}

impl Books {
    /// Stores an account. `asked` is set if the request had no other purpose, so that a query finds the account. It
    /// holds the request's reference, if there is one, and its time in seconds.
    pub(super) fn store(&mut self, new: &Registration, asked: Option<(Option<&str>, i64)>) -> rusqlite::Result<()> {
        let transaction = self.0.transaction()?;
        store(&transaction, new)?;
        if let Some((reference, at)) = asked {
            transaction
                .prepare_cached("INSERT OR IGNORE INTO registered (reference) SELECT ?1 WHERE ?1 IS NOT NULL")?
                .execute([reference])?;
            transaction
                .prepare_cached("INSERT INTO registered_as (reference, id, at) VALUES (?, ?, ?)")?
                .execute(params![reference.unwrap_or_default(), new.id, at])?;
        }
        transaction.commit()
    }

    /// Returns the stored card with this id.
    pub(super) fn registration(&self, id: &str) -> rusqlite::Result<Option<Registration>> {
        self.0.prepare_cached("SELECT * FROM registration WHERE id = ?")?.query_row([id], registration).optional()
    }

    /// Deletes a stored card, which can then pay no longer.
    pub(super) fn delete_registration(&mut self, id: &str) -> rusqlite::Result<()> {
        self.0.prepare_cached("UPDATE registration SET is_deleted = 1 WHERE id = ?")?.execute([id])?;
        Ok(())
    }
}

/// Writes a stored account.
pub(super) fn store(db: &Connection, new: &Registration) -> rusqlite::Result<()> {
    let card = new.masked_card.as_ref();
    db.prepare_cached(
        "INSERT INTO registration (id, bin, last4, expiry, payment, is_deleted, method, shown, first, account)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        new.id,
        card.map_or("", |card| card.bin.as_str()),
        card.map_or("", |card| card.last4.as_str()),
        card.and_then(|card| card.expiry.as_deref()),
        new.payment,
        new.is_deleted,
        new.method.as_str(),
        text(&new.shown),
        new.first.as_ref().map(text),
        new.account.as_ref().map(text),
    ])?;
    Ok(())
}

fn registration(row: &Row<'_>) -> rusqlite::Result<Registration> {
    let (bin, last4): (String, String) = (row.get("bin")?, row.get("last4")?);
    let expiry = row.get("expiry")?;
    Ok(Registration {
        id: row.get("id")?,
        method: method(row)?,
        masked_card: (!bin.is_empty()).then_some(MaskedCard { bin, last4, expiry }),
        shown: json(row, "shown")?.unwrap_or_default(),
        account: json(row, "account")?,
        first: json(row, "first")?,
        payment: row.get("payment")?,
        is_deleted: row.get("is_deleted")?,
    })
}
