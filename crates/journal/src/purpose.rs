//! What a journal is for: payments, or training. The record about itself that is made with the file (`about.journal`)
//! says so, and both kinds of agent refuse the other's: what was trained never was a payment, and must never be
//! settled, captured or given back at the gateway.
//!
//! A journal of an earlier program has no such record. Then its transactions tell: one real transaction makes it a
//! journal of payments, and one that holds nothing but training is training's. The next start writes the record. An
//! earlier program need not know the column, so the format stays.

use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chain::Mark;
use super::db::{failed, put};
use super::{Error, pin_salt};

/// The form of the record; a later one is read by what it has of this one.
const VERSION: u32 = 1;

/// The record.
#[derive(Serialize, Deserialize)]
struct About {
    version: u32,
    /// What the journal is for.
    of: Purpose,
    /// What no other journal is called.
    identity: String,
}

/// What a journal is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Payments at the gateway.
    Payments,
    /// Training: nothing in it ever was.
    Training,
}

impl Purpose {
    /// Refuses a journal of the other kind.
    pub(super) fn must_be(self, found: Option<Self>, name: &str) -> Result<(), Error> {
        match found {
            Some(found) if found != self => Err(Error::OfAnotherPurpose { path: name.to_owned(), found }),
            _ => Ok(()),
        }
    }
}

impl std::fmt::Display for Purpose {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Payments => "a journal of payments",
            Self::Training => "a journal of training, and nothing in it ever was a payment",
        })
    }
}

/// What a journal says of itself; nothing, when an earlier program made it.
fn written(connection: &Connection) -> Result<Option<About>, Error> {
    if !has_column(connection)? {
        return Ok(None);
    }
    let text = connection.query_row("SELECT journal FROM about", [], |row| row.get::<_, Option<String>>(0)).optional();
    // What cannot be read is told by the transactions.
    Ok(text.map_err(failed)?.flatten().and_then(|text| serde_json::from_str(&text).ok()))
}

fn has_column(connection: &Connection) -> Result<bool, Error> {
    let sql = "SELECT count(*) FROM pragma_table_info('about') WHERE name = 'journal'";
    connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|found| found == 1).map_err(failed)
}

/// What a journal is for, by what it says, or else by its transactions; nothing, when it has none of either.
pub(super) fn found(connection: &Connection) -> Result<Option<Purpose>, Error> {
    written(connection)?.map_or_else(|| by_its_transactions(connection), |about| Ok(Some(about.of)))
}

fn by_its_transactions(connection: &Connection) -> Result<Option<Purpose>, Error> {
    let sql = "SELECT records FROM sale JOIN step ON step.id = sale.number * 1048576 ORDER BY number";
    let mut select = connection.prepare(sql).map_err(failed)?;
    let mut rows = select.query([]).map_err(failed)?;
    let mut found = None;
    while let Some(row) = rows.next().map_err(failed)? {
        // What cannot be read is some transaction, and the safe word for that is a payment.
        let records = row.get_ref(0).map_err(failed)?.as_str().ok().and_then(|text| serde_json::from_str(text).ok());
        let trained = records.is_some_and(|records: Value| records.pointer("/0/order/training").is_some());
        if !trained {
            return Ok(Some(Purpose::Payments));
        }
        found = Some(Purpose::Training);
    }
    Ok(found)
}

/// Writes the record into a journal that has none, with an identity that no other journal has.
pub(super) fn enter(connection: &Connection, purpose: Purpose) -> Result<(), Error> {
    if written(connection)?.is_some() {
        return Ok(());
    }
    if !has_column(connection)? {
        connection.execute_batch("ALTER TABLE about ADD COLUMN journal TEXT").map_err(failed)?;
    }
    let about = About { version: VERSION, of: purpose, identity: hex::encode(pin_salt()?) };
    let about = serde_json::to_string(&about).map_err(failed)?;
    put(connection, "UPDATE about SET journal = ?1", [about])
}

/// The identities that a journal has: its own, and those of the journals that it has taken over.
pub(super) fn identities(connection: &Connection) -> Result<Vec<String>, Error> {
    let mut all: Vec<_> = written(connection)?.into_iter().map(|about| about.identity).collect();
    let mut select = connection.prepare("SELECT what FROM mark ORDER BY entry").map_err(failed)?;
    let mut rows = select.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let what: String = row.get(0).map_err(failed)?;
        if let Ok(Mark::Adopted { identities, .. }) = serde_json::from_str(&what) {
            all.extend(identities);
        }
    }
    Ok(all)
}
