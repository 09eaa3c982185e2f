//! The gateway's clock: the system clock, a clock that was set and runs, or a stopped clock. The gateway uses it for
//! every time that it returns or books.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// The clock.
#[derive(Debug, Default)]
pub(super) struct Clock {
    ahead: TimeDelta,
    stands_at: Option<DateTime<Utc>>,
    /// The missed time that the clock shows while the gateway catches up.
    lives_through: Option<DateTime<Utc>>,
}

impl Clock {
    /// Makes a clock that starts at `at` and runs; without `at`, it is the system clock.
    pub(super) fn new(at: Option<DateTime<Utc>>) -> Self {
        Self { ahead: at.map_or_else(TimeDelta::zero, |at| at - Utc::now()), ..Self::default() }
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        self.lives_through.or(self.stands_at).unwrap_or_else(|| Utc::now() + self.ahead)
    }

    /// Returns the duration until the clock shows this time; `None` if the clock is stopped at an earlier time.
    pub(super) fn until(&self, at: DateTime<Utc>) -> Option<Duration> {
        let left = (at - self.now()).to_std().unwrap_or_default();
        (left.is_zero() || self.stands_at.is_none()).then_some(left)
    }

    /// Returns whether the clock is stopped.
    pub(super) fn stands(&self) -> bool {
        self.stands_at.is_some()
    }

    /// Shows this missed time until a call with `None`.
    pub(super) fn lives_through(&mut self, at: Option<DateTime<Utc>>) {
        self.lives_through = at;
    }

    /// Sets the clock to this time and lets it run.
    pub(super) fn go_on_from(&mut self, at: DateTime<Utc>) {
        *self = Self::new(Some(at));
    }

    /// Stops the clock at this time.
    pub(super) fn stop_at(&mut self, at: DateTime<Utc>) {
        self.stands_at = Some(at);
    }
}

/// Waits for this duration; without one, it never returns.
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
