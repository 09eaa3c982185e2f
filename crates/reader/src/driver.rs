//! The selection of a reader's family. Only this file names the families. The configuration names one of them, and the
//! task that owns the port runs a session with it.
//!
//! A new family needs a module next to `miura`, a line in each part of this file, and a name in the configuration. Its
//! settings implement [`Family`](crate::family::Family).

use super::ReaderSettings;
use super::miura::MiuraSettings;
use super::session::ReaderSession;
use crate::config::{self, ReaderProtocol};

pub use super::outbox::{Frame, PortAction};

/// A family of readers, with its own settings.
#[derive(Clone, Debug)]
pub enum ReaderFamily {
    /// Miura MPI.
    Miura(MiuraSettings),
}

impl ReaderFamily {
    /// Returns the family that the configuration names.
    #[must_use]
    pub fn of(section: &config::Reader) -> Self {
        match section.protocol {
            ReaderProtocol::MiuraMpi => Self::Miura(MiuraSettings::of(section)),
        }
    }

    /// Creates a session with a reader of this family.
    pub(super) fn session(self, settings: ReaderSettings) -> ReaderSession {
        match self {
            Self::Miura(miura) => ReaderSession::new(settings, miura),
        }
    }
}

impl Default for ReaderFamily {
    /// Returns the default family, for a device at a port without a configured reader.
    fn default() -> Self {
        Self::Miura(MiuraSettings::default())
    }
}
