//! The reader while nothing is asked of it: each minute a question that shows whether it is still there and what is in
//! its slot, and the clock when it is due. A cable that was pulled out of a dock, or a reader that hangs, is found
//! before the next customer finds it.

use std::time::Duration;

use super::line::{CARD_STATUS_ON, CommandPurpose, PLAIN_ANSWER, PendingAnswer, ReaderLine};
use super::message::MpiCommand;
use super::next::Next;

/// How often an idle reader is asked. Short enough that a lost one is told before somebody wants to pay, long enough to
/// let a board sleep.
pub(super) const CHECK: Duration = Duration::from_secs(60);

/// The next question is due, or the last one was not answered.
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
        line.ask(CommandPurpose::CardStatus, &CARD_STATUS_ON, PLAIN_ANSWER, now);
    }
    Next::Idle
}

/// Sets the reader's clock when it must be. Only a trusted clock may set it (design: invariant 8).
pub(super) fn set_clock(line: &mut ReaderLine, now: Duration) {
    line.clock_is_due = false;
    if let Some(time) = (line.settings.clock)()
        && line.clock.must_be_set(time, now)
    {
        line.clock.set(time, now);
        line.ask(CommandPurpose::ClockSet, &MpiCommand::ClockSet(time), PLAIN_ANSWER, now);
    }
}
