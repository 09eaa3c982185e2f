//! The marks about settings and command keys from the fleet.
//!
//! The file of the overlay can be removed by a person. The marks remain, so a version that this terminal has begun is
//! not begun again by an old message.

use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use super::chain::Mark;
use super::db::{Db, failed};
use super::open::has_chain;
use super::{Error, Journal};

/// A step on the way of settings or keys from the fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FleetStep {
    /// A trial of the settings begins.
    Begun,
    /// The terminal keeps the settings, or uses the keys.
    Kept,
    /// The terminal went back to the settings before.
    Returned,
    /// The terminal went back, because the server did not acknowledge. It tries again later.
    Unheard,
    /// The terminal refused the settings or the keys.
    Refused,
}

/// A change of the settings or keys from the fleet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetChange {
    /// What the terminal did.
    pub step: FleetStep,
    /// The version of the document.
    pub version: u64,
    /// SHA-256 of the document, in hexadecimal.
    pub sha256: String,
    /// The person who gave it, as the document says.
    pub author: String,
    /// The names of the keys that signed it.
    pub keys: Vec<String>,
    /// The reason, if the terminal went back or refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Db {
    /// Writes a mark about settings from the fleet. Returns its entry.
    fn mark_fleet_settings(&mut self, change: &FleetChange, unix_ms: i64) -> Result<i64, Error> {
        self.mark(&Mark::FleetSettings { change: change.clone() }, unix_ms)?;
        Ok(self.head.map_or(0, |head| head.entry))
    }

    /// Writes a mark about keys from the fleet.
    fn mark_fleet_keys(&mut self, change: &FleetChange, unix_ms: i64) -> Result<(), Error> {
        self.mark(&Mark::FleetKeys { change: change.clone() }, unix_ms)
    }
}

/// Returns the latest change of this kind in the chain.
fn latest(connection: &Connection, is: &str) -> Result<Option<FleetChange>, Error> {
    if !has_chain(connection)? {
        return Ok(None);
    }
    let sql = "SELECT what FROM mark WHERE what LIKE ?1 ORDER BY entry DESC LIMIT 1";
    let found = connection.query_row(sql, [format!("{{\"is\":\"{is}\",%")], |row| row.get::<_, String>(0));
    let found = found.optional().map_err(failed)?;
    Ok(found.and_then(|what| match serde_json::from_str(&what) {
        Ok(Mark::FleetSettings { change } | Mark::FleetKeys { change }) => Some(change),
        _ => None,
    }))
}

impl Journal {
    /// Writes a mark about settings from the fleet. Returns its entry.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub fn mark_fleet_settings(&mut self, change: &FleetChange, unix_ms: i64) -> Result<i64, Error> {
        self.db.mark_fleet_settings(change, unix_ms)
    }

    /// Writes a mark about command keys from the fleet.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub fn mark_fleet_keys(&mut self, change: &FleetChange, unix_ms: i64) -> Result<(), Error> {
        self.db.mark_fleet_keys(change, unix_ms)
    }

    /// Returns the latest change of the settings from the fleet.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn latest_fleet_settings(&self) -> Result<Option<FleetChange>, Error> {
        latest(&self.db.connection, "fleet-settings")
    }

    /// Returns the latest change of the command keys from the fleet.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn latest_fleet_keys(&self) -> Result<Option<FleetChange>, Error> {
        latest(&self.db.connection, "fleet-keys")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_change_of_each_kind_is_found_and_the_chain_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let (mut journal, _) = Journal::open(&path).unwrap();
        assert_eq!(journal.latest_fleet_settings().unwrap(), None);
        let change = |step, version| FleetChange {
            step,
            version,
            sha256: "ab".repeat(32),
            author: "ann".to_owned(),
            keys: vec!["config a".to_owned()],
            why: (step == FleetStep::Returned).then(|| "no-reader".to_owned()),
        };
        let first = journal.mark_fleet_settings(&change(FleetStep::Begun, 7), 1).unwrap();
        let second = journal.mark_fleet_settings(&change(FleetStep::Returned, 7), 2).unwrap();
        assert_eq!((first, second), (1, 2));
        journal.mark_fleet_keys(&change(FleetStep::Kept, 3), 3).unwrap();
        assert_eq!(journal.latest_fleet_settings().unwrap(), Some(change(FleetStep::Returned, 7)));
        assert_eq!(journal.latest_fleet_keys().unwrap(), Some(change(FleetStep::Kept, 3)));
    }
}
