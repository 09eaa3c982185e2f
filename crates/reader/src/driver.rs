//! The selection of a reader's family. Only this file knows the families. The task that owns the port asks a `Driver`
//! for its next action on the port. The configuration names the family.
//!
//! A new family needs a module next to `miura`, a variant of [`ReaderFamily`] and `Driver`, and a name in the
//! configuration. A driver does no I/O and reads no clock. It takes bytes, orders and the time, and returns
//! [`PortAction`]s and a deadline.

use std::time::Duration;

use super::miura::{MiuraSession, MiuraSettings};
use super::{ReaderOrder, ReaderSettings};
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
}

impl Default for ReaderFamily {
    /// Returns the default family, for a device at a port without a configured reader.
    fn default() -> Self {
        Self::Miura(MiuraSettings::default())
    }
}

/// One reader, of any family.
///
/// After each call of `opened`, `closed`, `order`, `bytes` or `timeout`, call [`Self::poll`] until it returns `None`.
/// Then wait for bytes, an order or [`Self::deadline`]. `now` is the time since any fixed moment.
pub(super) enum Driver {
    Miura(MiuraSession),
}

impl Driver {
    /// Creates a driver whose port is not open yet.
    pub(super) fn new(settings: ReaderSettings, family: ReaderFamily) -> Self {
        match family {
            ReaderFamily::Miura(miura) => Self::Miura(MiuraSession::new(settings, miura)),
        }
    }

    /// Records that the port is open.
    pub(super) fn opened(&mut self, now: Duration) {
        match self {
            Self::Miura(session) => session.opened(now),
        }
    }

    /// Records that the port could not be opened, or that the other end closed it.
    pub(super) fn closed(&mut self, cause: &str) {
        match self {
            Self::Miura(session) => session.closed(cause),
        }
    }

    /// Takes an order from the agent.
    pub(super) fn order(&mut self, order: ReaderOrder, now: Duration) {
        match self {
            Self::Miura(session) => session.order(order, now),
        }
    }

    /// Takes received bytes.
    pub(super) fn bytes(&mut self, bytes: &[u8], now: Duration) {
        match self {
            Self::Miura(session) => session.bytes(bytes, now),
        }
    }

    /// Handles the passing of [`Self::deadline`]. Before the deadline it does nothing.
    pub(super) fn timeout(&mut self, now: Duration) {
        match self {
            Self::Miura(session) => session.timeout(now),
        }
    }

    /// Returns the time at which to call [`Self::timeout`].
    pub(super) fn deadline(&self) -> Option<Duration> {
        match self {
            Self::Miura(session) => session.deadline(),
        }
    }

    /// Returns the next action.
    pub(super) fn poll(&mut self) -> Option<PortAction> {
        match self {
            Self::Miura(session) => session.poll(),
        }
    }
}
