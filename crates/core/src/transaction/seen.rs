//! A transaction as it is seen from one moment: all times are relative to that moment. Two transactions that are equal
//! in this form continue in the same way, regardless of the clocks. A time beyond the last threshold that matters for
//! it is replaced with that threshold.
//!
//! The explorer uses this form to recognise a state that it has visited. The core bases no decision on it.

use std::time::Duration;

use super::resolution::WATCHED_ABSENCE;
use super::state::State;
use super::{Deadlines, Now, Transaction};

/// Durations below this number of seconds keep their milliseconds. It is longer than any required wait between two
/// requests.
const EXACT_S: u64 = 64;

/// The moment to which times are relative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    now: Now,
    deadlines: Deadlines,
}

impl Moment {
    /// Replaces a time with the duration until it is due, which is zero if it is past. A time that is never due is
    /// unchanged.
    pub(super) fn until(self, at: &mut Duration) {
        if *at != Duration::MAX {
            *at = at.saturating_sub(self.now.monotonic);
        }
    }

    /// Replaces a time with its age, at the precision that matters for decisions. Below `EXACT_S` the age is exact.
    /// Above, it is rounded down to a power of two or to a threshold of an absence.
    pub(super) fn since(self, at: &mut Duration) {
        *at = self.coarse(self.now.monotonic.saturating_sub(*at));
    }

    /// Returns the age by the wall clock, in milliseconds.
    fn age_ms(self, unix_ms: i64) -> i64 {
        let age = u64::try_from(self.now.unix_ms.saturating_sub(unix_ms)).unwrap_or(0);
        i64::try_from(self.coarse(Duration::from_millis(age)).as_millis()).unwrap_or(i64::MAX)
    }

    fn coarse(self, since: Duration) -> Duration {
        let thresholds = [self.deadlines.absence_final, WATCHED_ABSENCE];
        if let Some(passed) = thresholds.into_iter().find(|threshold| since >= *threshold) {
            return passed;
        }
        match since.as_secs() {
            0..EXACT_S => since,
            seconds => Duration::from_secs(1 << seconds.ilog2()),
        }
    }
}

impl Transaction {
    /// Returns the transaction as it is seen from this moment.
    #[must_use]
    pub fn seen_from(&self, now: Now, deadlines: Deadlines) -> Self {
        let seen = Moment { now, deadlines };
        let mut sale = self.clone();
        sale.steps = 0;
        sale.ended_unix_ms = sale.ended_unix_ms.map(|_| 0);
        sale.begun_unix_ms = seen.age_ms(sale.begun_unix_ms);
        sale.asked_unix_ms = seen.age_ms(sale.asked_unix_ms);
        match &mut sale.state {
            State::Asked(asked) => asked.seen_from(seen),
            State::AtChip(chip) => chip.volatile.seen_from(seen),
            State::AtSignature(signature) => signature.volatile.until.iter_mut().for_each(|until| seen.until(until)),
            State::AwaitingTill(awaiting) => awaiting.volatile.until.iter_mut().for_each(|until| seen.until(until)),
            State::Reversing(reversing) => reversing.volatile.seen_from(seen),
            State::Finishing(finishing) => finishing.volatile.seen_from(seen),
            State::Waiting(_) | State::Ended(_) => {}
        }
        sale
    }
}
