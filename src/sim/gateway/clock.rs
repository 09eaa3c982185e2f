//! The gateway's clock: that of the system, one that was set and goes on, or one that stands still. Every time that it
//! answers and books is this clock's.

use chrono::{DateTime, TimeDelta, Utc};

/// What time it is.
#[derive(Debug, Default)]
pub(super) struct Clock {
    ahead: TimeDelta,
    stands_at: Option<DateTime<Utc>>,
    /// The moment that is made up for, while it is.
    lives_through: Option<DateTime<Utc>>,
}

impl Clock {
    /// A clock that shows `at` now and goes on; without it the system's.
    pub(super) fn new(at: Option<DateTime<Utc>>) -> Self {
        Self { ahead: at.map_or_else(TimeDelta::zero, |at| at - Utc::now()), ..Self::default() }
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        self.lives_through.or(self.stands_at).unwrap_or_else(|| Utc::now() + self.ahead)
    }

    /// Whether somebody has stopped it.
    pub(super) fn stands(&self) -> bool {
        self.stands_at.is_some()
    }

    /// Shows this moment, which was missed, until it is told `None`.
    pub(super) fn lives_through(&mut self, at: Option<DateTime<Utc>>) {
        self.lives_through = at;
    }

    /// Lets it go on from this time.
    pub(super) fn go_on_from(&mut self, at: DateTime<Utc>) {
        *self = Self::new(Some(at));
    }

    /// Stops it at this time.
    pub(super) fn stop_at(&mut self, at: DateTime<Utc>) {
        self.stands_at = Some(at);
    }
}
