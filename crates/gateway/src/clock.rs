//! The time for checking certificates and for TLS tickets, as far as it is known.
//!
//! This module is not a clock; the agent provides one. Without an agent, the system's clock is used. A time before a
//! floor (build time, last record) is not trusted, because a board without a battery boots in 1970 (design: invariant
//! 8).

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rustls::time_provider::TimeProvider;
use rustls_pki_types::UnixTime;

/// The time, or a lower bound of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// The time of a clock that can be right.
    Known(SystemTime),
    /// No clock can be right, but the time is this or later.
    AtLeast(SystemTime),
}

impl Time {
    /// Returns the earliest possible time.
    #[must_use]
    pub fn earliest(self) -> SystemTime {
        match self {
            Self::Known(time) | Self::AtLeast(time) => time,
        }
    }
}

/// A source of the time.
#[derive(Clone)]
pub struct CertificateClock(Arc<dyn Fn() -> Time + Send + Sync>);

impl CertificateClock {
    /// Creates a clock that asks `source`.
    pub fn new(source: impl Fn() -> Time + Send + Sync + 'static) -> Self {
        Self(Arc::new(source))
    }

    /// Returns the time now.
    #[must_use]
    pub fn time(&self) -> Time {
        (self.0)()
    }

    /// Returns the earliest possible time, in seconds since 1970.
    pub(super) fn unix_s(&self) -> i64 {
        i64::try_from(unix(self.time().earliest()).as_secs()).unwrap_or(i64::MAX)
    }
}

/// Creates the system's clock with this time as its earliest value.
impl From<SystemTime> for CertificateClock {
    fn from(floor: SystemTime) -> Self {
        Self::new(move || {
            #[allow(clippy::disallowed_methods, reason = "without an agent there is only the system's clock")]
            let now = SystemTime::now();
            if now < floor { Time::AtLeast(floor) } else { Time::Known(now) }
        })
    }
}

impl fmt::Debug for CertificateClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CertificateClock({:?})", self.time())
    }
}

/// The time for TLS tickets; `verifier` checks certificates.
impl TimeProvider for CertificateClock {
    fn current_time(&self) -> Option<UnixTime> {
        Some(unix(self.time().earliest()))
    }
}

pub(super) fn unix(time: SystemTime) -> UnixTime {
    UnixTime::since_unix_epoch(time.duration_since(UNIX_EPOCH).unwrap_or_default())
}
