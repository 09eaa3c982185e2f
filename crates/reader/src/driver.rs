//! The door to the families of readers: the one file that knows which there are. The task that owns the port asks a
//! `Driver` and hears what to do with the port; the configuration names the family.
//!
//! A new family is a module beside `miura`, a variant of [`ReaderFamily`] and `Driver`, and its name in the
//! configuration. A driver does no I/O and asks no clock: bytes, orders and time go in, [`PortAction`]s and a deadline
//! come out.

use std::time::Duration;

use super::miura::{MiuraSession, MiuraSettings};
use super::{ReaderOrder, ReaderSettings};
use crate::config::{self, ReaderProtocol};

pub use super::outbox::{Frame, PortAction};

/// What a reader speaks, with the settings that only such readers have.
#[derive(Clone, Debug)]
pub enum ReaderFamily {
    /// Miura MPI.
    Miura(MiuraSettings),
}

impl ReaderFamily {
    /// The family that the configuration names.
    #[must_use]
    pub fn of(section: &config::Reader) -> Self {
        match section.protocol {
            ReaderProtocol::MiuraMpi => Self::Miura(MiuraSettings::of(section)),
        }
    }
}

impl Default for ReaderFamily {
    /// What a device at a port is taken for while nobody has configured a reader.
    fn default() -> Self {
        Self::Miura(MiuraSettings::default())
    }
}

/// One reader of any family.
///
/// After each call of `opened`, `closed`, `order`, `bytes` or `timeout`, [`Self::poll`] is to be called until it is
/// empty; then bytes, an order or [`Self::deadline`] are to be waited for. `now` is the time since any fixed moment.
pub(super) enum Driver {
    Miura(MiuraSession),
}

impl Driver {
    /// A driver whose port is not open yet.
    pub(super) fn new(settings: ReaderSettings, family: ReaderFamily) -> Self {
        match family {
            ReaderFamily::Miura(miura) => Self::Miura(MiuraSession::new(settings, miura)),
        }
    }

    /// The port is open.
    pub(super) fn opened(&mut self, now: Duration) {
        match self {
            Self::Miura(session) => session.opened(now),
        }
    }

    /// The port could not be opened, or was closed by the other end.
    pub(super) fn closed(&mut self, cause: &str) {
        match self {
            Self::Miura(session) => session.closed(cause),
        }
    }

    /// The agent wants something.
    pub(super) fn order(&mut self, order: ReaderOrder, now: Duration) {
        match self {
            Self::Miura(session) => session.order(order, now),
        }
    }

    /// Bytes came.
    pub(super) fn bytes(&mut self, bytes: &[u8], now: Duration) {
        match self {
            Self::Miura(session) => session.bytes(bytes, now),
        }
    }

    /// [`Self::deadline`] has passed (or not: then nothing happens).
    pub(super) fn timeout(&mut self, now: Duration) {
        match self {
            Self::Miura(session) => session.timeout(now),
        }
    }

    /// When to call [`Self::timeout`].
    pub(super) fn deadline(&self) -> Option<Duration> {
        match self {
            Self::Miura(session) => session.deadline(),
        }
    }

    /// The next thing to do.
    pub(super) fn poll(&mut self) -> Option<PortAction> {
        match self {
            Self::Miura(session) => session.poll(),
        }
    }
}
