//! The resolution of an unknown outcome. The agent looks up, and reverses or sends again, until the gateway has given
//! the outcome (design: path of a sale, 9).
//!
//! This module holds the rules that `reversing` and `finishing` share:
//! - how long the agent waits between two look-ups;
//! - when an absence is trusted;
//! - when the cashier gets a receipt that says "not confirmed";
//! - when a person must decide.
//!
//! Those two modules decide what follows from the result of a look-up.

use std::time::Duration;

use pos_terms::money::Amount;

use super::back_off;
use super::seen::Moment;
use super::{Action, Cause, Deadlines, Event, Now, Paper, Reason, Record, Standing, Step};

/// The wait between retries in quarantine. A daily look-up notices a correction that a person made at the gateway.
const QUARANTINE_WAIT: Duration = Duration::from_secs(24 * 3600);

/// The time for which consecutive look-ups must not reach the gateway before a person is alarmed. At boot there is no
/// network for some seconds, and a network that fails in a shop usually works again within a minute.
const UNREACHED_ALARM: Duration = Duration::from_secs(60);

/// The number of look-ups without the request that are required before it is sent again. The request may still be on
/// its way when the first look-up is answered.
const LOOKS_BEFORE_SENDING: u32 = 2;

/// The time for which one process must have observed an absence before it can be final.
pub(super) const WATCHED_ABSENCE: Duration = Duration::from_secs(3600);

/// The recorded part of the state.
#[derive(Clone, Debug)]
pub(super) struct Unconfirmed {
    /// The cause.
    pub(super) why: Cause,
    /// The cause that cannot be resolved by retrying.
    pub(super) quarantined: Option<Cause>,
}

impl Unconfirmed {
    pub(super) fn new(why: Cause) -> Self {
        Self { why, quarantined: None }
    }

    /// Returns the standing. `trouble` is the reason why the last attempt did not resolve the outcome.
    pub(super) fn standing<'a>(&'a self, trouble: Option<&'a Cause>) -> Standing<'a> {
        Standing::Unconfirmed { why: &self.why, trouble, quarantined: self.quarantined.as_ref() }
    }

    pub(super) fn apply(&mut self, record: &Record) {
        if let Record::Quarantined { why } = record {
            self.quarantined = Some(why.clone());
        }
    }
}

/// The part of the state that a power cut may erase.
#[derive(Clone, Debug, Default)]
pub(super) struct Resolution {
    /// The time of the next attempt; `None` while a query or a request is on its way.
    due: Option<Duration>,
    /// The number of consecutive attempts without a result. Each makes the next wait longer.
    tries: u32,
    /// The time for which look-ups have not shown the request.
    pub(super) absence: Absence,
    /// True if the receipt "not confirmed" was printed.
    printed: bool,
    /// The reason why the last attempt did not resolve the outcome.
    trouble: Option<Cause>,
    unreached: Unreached,
}

/// The time for which look-ups have not reached the gateway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Unreached {
    /// The latest look-up reached it, or there was none.
    #[default]
    No,
    /// No look-up has reached it since this time.
    Since(Duration),
    /// No look-up has reached it for so long that a person was alarmed.
    Alarmed,
}

impl Resolution {
    pub(super) fn due(&self) -> Option<Duration> {
        self.due
    }

    pub(super) fn trouble(&self) -> Option<&Cause> {
        self.trouble.as_ref()
    }

    /// See [`super::Transaction::seen_from`]. The number of attempts matters only until the wait reaches its full
    /// length.
    pub(super) fn seen_from(&mut self, seen: Moment) {
        if let Some(due) = &mut self.due {
            seen.until(due);
            if self.tries > back_off::MOST_TRIES && !due.is_zero() {
                *due = back_off::LONGEST;
            }
        }
        self.tries = self.tries.min(back_off::MOST_TRIES);
        self.absence.seen_from(seen);
        if let Unreached::Since(since) = &mut self.unreached {
            seen.since(since);
        }
    }

    /// Returns whether to look up now: after a restart, when an attempt is due, or at a good moment for a retry. If it
    /// waits for a person, it is retried only after a restart or when it is due.
    pub(super) fn goes_on_at(&self, event: &Event, now: Now, recorded: &Unconfirmed) -> bool {
        match event {
            Event::Restarted => true,
            Event::DeadlinePassed => self.due.is_some_and(|due| due <= now.monotonic),
            Event::RetryNow => self.due.is_some() && recorded.quarantined.is_none(),
            _ => false,
        }
    }

    /// Records that a query or a request is being sent. No attempt is due until it is answered.
    ///
    /// A request sent before it is due does not lengthen the wait. Otherwise, ten sales within a minute without a
    /// network would delay the next look-up by five minutes.
    pub(super) fn leaves(&mut self, now: Now) {
        if self.due.take().is_some_and(|due| due > now.monotonic) {
            self.tries = self.tries.saturating_sub(1);
        }
    }

    /// Schedules the next attempt, after a wait that grows with each attempt. The first time, the cashier gets a
    /// receipt that says "not confirmed".
    pub(super) fn wait(&mut self, reference: &str, now: Now, trouble: impl Into<Cause>) -> Step {
        self.trouble = Some(trouble.into());
        self.tries = self.tries.saturating_add(1);
        self.due = Some(now.monotonic + back_off::wait(reference, self.tries));
        Step::act(self.receipt())
    }

    /// Handles a query that was not answered with a list. A person is alarmed once for each cause, because the query
    /// may never be answered.
    pub(super) fn cannot_ask(&mut self, reference: &str, now: Now, why: Cause) -> Step {
        let new = self.trouble.as_ref() != Some(&why) || matches!(self.unreached, Unreached::Since(_));
        self.reached();
        let step = self.wait(reference, now, why.clone());
        if new { step.alarm(why) } else { step }
    }

    /// Handles a query that did not reach the gateway. A person is alarmed if this lasts, once.
    pub(super) fn not_reached(&mut self, reference: &str, now: Now, why: Cause) -> Step {
        let step = self.wait(reference, now, why.clone());
        match self.unreached {
            Unreached::No => self.unreached = Unreached::Since(now.monotonic),
            Unreached::Since(since) if now.monotonic.saturating_sub(since) >= UNREACHED_ALARM => {
                self.unreached = Unreached::Alarmed;
                return step.alarm(why);
            }
            Unreached::Since(_) | Unreached::Alarmed => {}
        }
        step
    }

    /// Records that the gateway answered a query.
    pub(super) fn reached(&mut self) {
        self.unreached = Unreached::No;
    }

    /// Quarantines a transaction that cannot be resolved by retrying. It is recorded and reported once for each cause,
    /// and looked up again daily.
    pub(super) fn quarantine(&mut self, recorded: &Unconfirmed, now: Now, why: Cause) -> Step {
        self.due = Some(now.monotonic + QUARANTINE_WAIT);
        if recorded.quarantined.as_ref() == Some(&why) {
            return Step::none();
        }
        Step::write([Record::Quarantined { why: why.clone() }]).then([Action::Tell]).alarm(why)
    }

    /// Returns the receipt "not confirmed", unless it was already printed.
    pub(super) fn receipt(&mut self) -> Option<Action> {
        let first = !std::mem::replace(&mut self.printed, true);
        first.then_some(Action::Print(Paper::Copies))
    }
}

/// The time for which look-ups have not shown a request, as far as this process has observed it. A request is absent
/// when no look-up has shown it during the whole time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Absence {
    /// The number of consecutive look-ups without the request.
    looks: u32,
    /// The time when the first of these look-ups was answered.
    since: Option<Duration>,
}

impl Absence {
    /// Resets the absence, because a look-up showed the request or it is sent again.
    pub(super) fn ends(&mut self) {
        *self = Self::default();
    }

    /// Counts one more look-up that did not show the request.
    pub(super) fn looked(&mut self, now: Now) {
        self.looks += 1;
        self.since.get_or_insert(now.monotonic);
    }

    /// See [`super::Transaction::seen_from`].
    pub(super) fn seen_from(&mut self, seen: Moment) {
        self.looks = self.looks.min(LOOKS_BEFORE_SENDING);
        if let Some(since) = &mut self.since {
            seen.since(since);
        }
    }

    /// Returns the duration of the absence. The absence begins now if no look-up was answered earlier.
    pub(super) fn lasts(&mut self, now: Now) -> Duration {
        now.monotonic.saturating_sub(*self.since.get_or_insert(now.monotonic))
    }

    /// Returns whether the absence is long enough to repeat a request that may be repeated safely. Until then, a slow
    /// gateway may still carry out the request.
    pub(super) fn is_quiet(&mut self, now: Now, deadlines: Deadlines) -> bool {
        self.looks >= LOOKS_BEFORE_SENDING && self.lasts(now) >= deadlines.resend
    }

    /// Returns whether the absence is final, which means that a request sent at `sent_unix_ms` can no longer arrive.
    /// The request must be old enough by the wall clock. As that clock may have jumped, this process must also have
    /// observed the absence for `WATCHED_ABSENCE`. If this process itself has observed the whole time, the wall clock
    /// is ignored. The transaction may have begun under a clock that was a year ahead.
    pub(super) fn is_final(&mut self, sent_unix_ms: i64, now: Now, deadlines: Deadlines) -> bool {
        let age_ms = now.unix_ms.saturating_sub(sent_unix_ms);
        let old = u128::try_from(age_ms).unwrap_or(0) >= deadlines.absence_final.as_millis();
        let watched = self.lasts(now);
        watched >= deadlines.absence_final || (old && watched >= WATCHED_ABSENCE)
    }
}

/// Alarms a person if the gateway reversed only a part of the requested amount. A gateway should never do that.
pub(super) fn alarm_of_a_part(step: Step, done: Amount, asked: Amount) -> Step {
    if done == asked { step } else { step.alarm(Reason::ReversedInPart.with(done)) }
}
