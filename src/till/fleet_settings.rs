//! The requests about settings and command keys that a fleet gives.

use pos_fleet_terms::Reported;
use tokio::sync::oneshot;

use super::FleetRefused;

/// A request about the fleet's settings and keys. Each gets the terminal's report.
#[derive(Debug)]
pub enum FleetSettingsRequest {
    /// Report only.
    Report {
        /// The report.
        reply: oneshot::Sender<Result<Reported, FleetRefused>>,
    },
    /// Judge settings.
    Settings {
        /// The signed document, as JSON.
        envelope: Vec<u8>,
        /// The report.
        reply: oneshot::Sender<Result<Reported, FleetRefused>>,
    },
    /// Judge keys.
    Keys {
        /// The signed document, as JSON.
        envelope: Vec<u8>,
        /// The report.
        reply: oneshot::Sender<Result<Reported, FleetRefused>>,
    },
    /// Take the server's acknowledgement of the journal.
    Acknowledged {
        /// The identity of the journal.
        journal: String,
        /// The greatest number of an entry that the server has, with all entries before it.
        number: i64,
        /// The report.
        reply: oneshot::Sender<Result<Reported, FleetRefused>>,
    },
}
