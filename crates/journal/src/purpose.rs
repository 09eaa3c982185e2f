//! The purpose of a journal: payments or training. It is in a record that is created with the file (`about.journal`).
//! An agent refuses a journal with the other purpose. A training transaction never was a payment, and must never be
//! resolved, captured or given back at the gateway.
//!
//! A journal created by an earlier version has no such record, so its transactions decide. One real transaction makes
//! it a journal of payments. If it has only training transactions, it is a training journal. The next start writes the
//! record. An earlier version can ignore the column, so the format is unchanged.

use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chain::Mark;
use super::db::{failed, put};
use super::{Error, pin_salt};

/// The version of the record. From a record with a later version, only the known fields are read.
const VERSION: u32 = 1;

/// The record about the journal.
#[derive(Serialize, Deserialize)]
struct About {
    version: u32,
    /// The purpose of the journal.
    of: Purpose,
    /// The unique identity of the journal.
    identity: String,
}

/// The purpose of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Payments at the gateway.
    Payments,
    /// Training, without any transaction at the gateway.
    Training,
}

impl Purpose {
    /// Refuses a journal with the other purpose.
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
            Self::Training => "a journal of training, without any payments",
        })
    }
}

/// Returns the record about the journal, or `None` if an earlier version created the journal.
fn written(connection: &Connection) -> Result<Option<About>, Error> {
    if !has_column(connection)? {
        return Ok(None);
    }
    let text = connection.query_row("SELECT journal FROM about", [], |row| row.get::<_, Option<String>>(0)).optional();
    // If the record cannot be read, the transactions decide.
    Ok(text.map_err(failed)?.flatten().and_then(|text| serde_json::from_str(&text).ok()))
}

fn has_column(connection: &Connection) -> Result<bool, Error> {
    let sql = "SELECT count(*) FROM pragma_table_info('about') WHERE name = 'journal'";
    connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|found| found == 1).map_err(failed)
}

/// Returns the purpose from the record, or else from the transactions. Returns `None` if the journal has neither.
pub(super) fn found(connection: &Connection) -> Result<Option<Purpose>, Error> {
    written(connection)?.map_or_else(|| by_its_transactions(connection), |about| Ok(Some(about.of)))
}

fn by_its_transactions(connection: &Connection) -> Result<Option<Purpose>, Error> {
    let sql = "SELECT records FROM sale JOIN step ON step.id = sale.number * 1048576 ORDER BY number";
    let mut select = connection.prepare(sql).map_err(failed)?;
    let mut rows = select.query([]).map_err(failed)?;
    let mut found = None;
    while let Some(row) = rows.next().map_err(failed)? {
        // An unreadable transaction counts as a payment, which is the safe choice.
        let records = row.get_ref(0).map_err(failed)?.as_str().ok().and_then(|text| serde_json::from_str(text).ok());
        let trained = records.is_some_and(|records: Value| records.pointer("/0/order/training").is_some());
        if !trained {
            return Ok(Some(Purpose::Payments));
        }
        found = Some(Purpose::Training);
    }
    Ok(found)
}

/// Writes the record, with a unique identity, into a journal that has none.
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

/// Returns the identity of a journal.
pub(super) fn identity(connection: &Connection) -> Result<String, Error> {
    Ok(written(connection)?.map(|about| about.identity).unwrap_or_default())
}

/// Returns the identities of a journal: its own, and those of the journals that it has adopted.
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
