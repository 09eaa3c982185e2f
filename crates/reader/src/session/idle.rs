//! The idle reader. A question each minute checks the connection and the slot, and sets the clock if it is due. A lost
//! cable or a hung reader is thus found before the next customer pays.

use std::time::Duration;

use super::line::{PLAIN_ANSWER, PendingAnswer, ReaderLine};
use super::next::Next;
use crate::LocalTime;
use crate::capability::Capability;
use crate::family::ReaderQuestion;

/// The interval of the question. It is short enough to report a lost reader before a customer wants to pay, and long
/// enough for the board to sleep.
pub(super) const CHECK: Duration = Duration::from_secs(60);

/// Asks the next question when it is due. Gives up if the last one was not answered.
pub(super) fn timeout(line: &mut ReaderLine, overdue: Option<PendingAnswer>, now: Duration) -> Next<()> {
    if let Some(pending) = overdue {
        return Next::unanswered(pending.name);
    }
    if line.clock_is_due {
        set_clock(line, now);
    }
    if now >= line.check_at {
        line.check_at = now + CHECK;
        set_clock(line, now);
        line.ask(&ReaderQuestion::CardStatus, PLAIN_ANSWER, now);
    }
    Next::Idle
}

/// Sets the reader's clock if necessary. Only a trusted clock may set it (design: invariant 8).
pub(super) fn set_clock(line: &mut ReaderLine, now: Duration) {
    line.clock_is_due = false;
    if let Some(time) = (line.settings.clock)()
        && line.clock.must_be_set(time, now)
    {
        ask_to_set(line, time, now);
    }
}

/// Sets the reader's clock if the board's clock is trusted (design: invariant 8). Otherwise asks for the reader's own
/// time.
pub(super) fn ask_clock(line: &mut ReaderLine, now: Duration) {
    match (line.settings.clock)() {
        Some(time) => ask_to_set(line, time, now),
        None => line.ask(&ReaderQuestion::ClockGet, PLAIN_ANSWER, now),
    }
}

fn ask_to_set(line: &mut ReaderLine, time: LocalTime, now: Duration) {
    line.clock.set(time, now);
    if line.speaker.can(Capability::DateApart) {
        line.ask(&ReaderQuestion::DateSet(time), PLAIN_ANSWER, now);
    }
    line.ask(&ReaderQuestion::ClockSet(time), PLAIN_ANSWER, now);
}
