//! Sets the reader's clock from the board's clock, if the board's clock is trusted (design: invariant 8).
//!
//! The reader's clock is set at each start-up. Later it is set while the reader is idle, in three cases: the board's
//! clock has become trusted, it has jumped, or a day has passed. An untrusted board clock never sets the reader's
//! clock.

use std::time::Duration;

use crate::LocalTime;

/// The time after which the reader's clock is set again. A quartz drifts by a second or two in a day, and 9A must
/// change at midnight.
const SET_EACH: Duration = Duration::from_secs(24 * 3600);
/// The smallest difference that counts as a jump and not as drift of the board's quartz. A jump comes from a person who
/// sets the clock, or from summer time.
const JUMP_S: u64 = 30;

/// The time at which the reader's clock was set, and its value.
#[derive(Default)]
pub(super) struct ClockSetting(Option<(Duration, LocalTime)>);

impl ClockSetting {
    /// Records that the clock is being set.
    pub(super) fn set(&mut self, time: LocalTime, now: Duration) {
        self.0 = Some((now, time));
    }

    /// Forgets the setting. The reader has restarted, so its clock is unknown.
    pub(super) fn forget(&mut self) {
        self.0 = None;
    }

    /// Checks whether the clock must be set to the board's time.
    pub(super) fn must_be_set(&self, time: LocalTime, now: Duration) -> bool {
        let Some((at, set_to)) = self.0 else { return true };
        let passed = now.saturating_sub(at);
        let expected = set_to.seconds() + passed.as_secs();
        passed >= SET_EACH || time.seconds().abs_diff(expected) > JUMP_S
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_a_day_and_after_a_jump() {
        let noon = LocalTime { year: 25, month: 1, day: 31, hour: 12, minute: 0, second: 0 };
        let at = |seconds| Duration::from_secs(seconds);
        let mut clock = ClockSetting::default();
        assert!(clock.must_be_set(noon, at(5)), "it was never set");
        clock.set(noon, at(5));
        assert!(!clock.must_be_set(noon, at(5)));
        let later = LocalTime { minute: 10, ..noon };
        assert!(!clock.must_be_set(later, at(605)));
        assert!(!clock.must_be_set(LocalTime { second: 30, ..later }, at(605)));
        assert!(clock.must_be_set(LocalTime { second: 31, ..later }, at(605)), "the board's clock was put forward");
        assert!(clock.must_be_set(LocalTime { hour: 11, ..later }, at(605)), "the end of summer time");
        let tomorrow = LocalTime { month: 2, day: 1, ..noon };
        assert!(!clock.must_be_set(LocalTime { hour: 11, minute: 59, second: 59, ..tomorrow }, at(5 + 86_399)));
        assert!(clock.must_be_set(tomorrow, at(5 + 86_400)), "a day is over");
        clock.forget();
        assert!(clock.must_be_set(tomorrow, at(5 + 86_400)));
    }
}
