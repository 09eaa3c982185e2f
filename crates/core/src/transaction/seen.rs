//! A sale as it is seen from one moment. Two sales that are the same in this form go on in the same way, whatever the
//! clocks say: times are told relative to now, and what has grown beyond the last thing that it decides is told as
//! that.
//!
//! The explorer recognises by it a state that it has seen. The core decides nothing by it.

use std::time::Duration;

use super::resolution::WATCHED_ABSENCE;
use super::state::State;
use super::{Deadlines, Now, Transaction};

/// So long a time counts to the millisecond: longer than every wait between two requests that must be apart.
const EXACT_S: u64 = 64;

/// The moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    now: Now,
    deadlines: Deadlines,
}

impl Moment {
    /// How long it is until then; nothing when it is due. What is never due stays so.
    pub(super) fn until(self, at: &mut Duration) {
        if *at != Duration::MAX {
            *at = at.saturating_sub(self.now.monotonic);
        }
    }

    /// How long ago that was, as far as it decides anything: to the millisecond within a minute, then by powers of two,
    /// and by the thresholds of an absence.
    pub(super) fn since(self, at: &mut Duration) {
        *at = self.coarse(self.now.monotonic.saturating_sub(*at));
    }

    /// How long ago that was by the wall clock, in milliseconds.
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
    /// The sale as it is seen from this moment.
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
