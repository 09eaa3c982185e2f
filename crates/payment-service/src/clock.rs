//! The gateway's clock: that of the system, one that was set and goes on, or one that stands still. Every time that it
//! answers and books is this clock's.

use std::time::Duration;

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

    /// How long until it shows this time; `None` while it stands still before it.
    pub(super) fn until(&self, at: DateTime<Utc>) -> Option<Duration> {
        let left = (at - self.now()).to_std().unwrap_or_default();
        (left.is_zero() || self.stands_at.is_none()).then_some(left)
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

/// Returns after so long; without an end it never does.
pub(super) async fn waited(wait: Option<Duration>) {
    match wait {
        Some(wait) => tokio::time::sleep(wait).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_stands_still_never_comes_to_a_later_time() {
        let noon: DateTime<Utc> = "2026-11-20T12:00:00Z".parse().unwrap();
        let minute = TimeDelta::minutes(1);
        let mut clock = Clock::new(Some(noon));
        let left = clock.until(noon + minute).unwrap();
        assert!(left <= Duration::from_secs(60) && left > Duration::from_secs(30), "{left:?}");
        clock.stop_at(noon);
        assert_eq!(clock.until(noon + minute), None);
        assert_eq!(clock.until(noon), Some(Duration::ZERO));
        assert_eq!(clock.until(noon - minute), Some(Duration::ZERO));
    }
}
