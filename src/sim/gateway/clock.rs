//! The gateway's clock: that of the system, one that was set and goes on, or one that stands still. Every time that it
//! answers and books is this clock's.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// What time it is.
#[derive(Debug, Default)]
pub(super) struct Clock {
    ahead: TimeDelta,
    stands_at: Option<DateTime<Utc>>,
}

impl Clock {
    /// A clock that shows `at` now and goes on; without it the system's.
    pub(super) fn new(at: Option<DateTime<Utc>>) -> Self {
        Self { ahead: at.map_or_else(TimeDelta::zero, |at| at - Utc::now()), stands_at: None }
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        self.stands_at.unwrap_or_else(|| Utc::now() + self.ahead)
    }

    /// How long until it shows this time; `None` while it stands still before it.
    pub(super) fn until(&self, at: DateTime<Utc>) -> Option<Duration> {
        let left = (at - self.now()).to_std().unwrap_or_default();
        (left.is_zero() || self.stands_at.is_none()).then_some(left)
    }

    /// Stops it at this time.
    pub(super) fn stop_at(&mut self, at: DateTime<Utc>) {
        self.stands_at = Some(at);
    }
}
