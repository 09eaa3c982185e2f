//! What time it is for the certificates and the tickets of TLS, as far as is known.
//!
//! What it is not: a clock. The agent gives one; without an agent there is the system's, which is not believed when it
//! is earlier than a floor (build time, last record): a board without a battery boots in 1970 (design: invariant 8).

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rustls::time_provider::TimeProvider;
use rustls_pki_types::UnixTime;

/// The time, or what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// A clock that can be right says so.
    Known(SystemTime),
    /// No clock can be right; it is this or later.
    AtLeast(SystemTime),
}

impl Time {
    /// The earliest time it can be.
    #[must_use]
    pub fn earliest(self) -> SystemTime {
        match self {
            Self::Known(time) | Self::AtLeast(time) => time,
        }
    }
}

/// Gives the time when it is asked.
#[derive(Clone)]
pub struct CertificateClock(Arc<dyn Fn() -> Time + Send + Sync>);

impl CertificateClock {
    /// A clock that asks `source`.
    pub fn new(source: impl Fn() -> Time + Send + Sync + 'static) -> Self {
        Self(Arc::new(source))
    }

    /// The time now.
    #[must_use]
    pub fn time(&self) -> Time {
        (self.0)()
    }

    /// Seconds since 1970 of the earliest time it can be.
    pub(super) fn unix_s(&self) -> i64 {
        i64::try_from(unix(self.time().earliest()).as_secs()).unwrap_or(i64::MAX)
    }
}

/// The system's clock, not believed before this time.
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

/// For the tickets of TLS; certificates are looked at in `verifier`.
impl TimeProvider for CertificateClock {
    fn current_time(&self) -> Option<UnixTime> {
        Some(unix(self.time().earliest()))
    }
}

pub(super) fn unix(time: SystemTime) -> UnixTime {
    UnixTime::since_unix_epoch(time.duration_since(UNIX_EPOCH).unwrap_or_default())
}
