//! A transaction as it is seen from one moment. Two transactions that are equal in this form continue in the same way,
//! regardless of the clocks. Times are relative to the moment. A time beyond the last threshold that it affects is
//! replaced by that threshold.
//!
//! The explorer uses this form to recognise a state that it has visited. The core bases no decision on it.

use std::time::Duration;

use super::resolution::WATCHED_ABSENCE;
use super::state::State;
use super::{Deadlines, Now, Transaction};

/// Times up to this many seconds count to the millisecond. It is longer than every wait between two requests that must
/// be apart.
const EXACT_S: u64 = 64;

/// The moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    now: Now,
    deadlines: Deadlines,
}

impl Moment {
    /// Replaces a time by the duration until then, which is zero when it is due. A time that is never due stays so.
    pub(super) fn until(self, at: &mut Duration) {
        if *at != Duration::MAX {
            *at = at.saturating_sub(self.now.monotonic);
        }
    }

    /// Replaces a time by its age, as far as the age decides anything. It is exact to the millisecond within a minute,
    /// then rounded to powers of two and to the thresholds of an absence.
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
