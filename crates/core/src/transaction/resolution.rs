//! The pursuit of what nobody knows yet: looked up, and reversed or sent again, until the gateway has said what became
//! of it (design: path of a sale, 9).
//!
//! How long is waited between two looks, when an absence is believed, when somebody gets a receipt that says "not
//! confirmed", and when a person must look: the same for what is undone (`reversing`) and for what is carried out
//! (`finishing`). What is done with what a look shows is theirs.

use std::time::Duration;

use pos_terms::money::Amount;

use super::back_off;
use super::seen::Moment;
use super::{Action, Cause, Deadlines, Event, Now, Paper, Reason, Record, Standing, Step};

/// What is quarantined is retried daily: what a person mended at the gateway is then noticed.
const QUARANTINE_WAIT: Duration = Duration::from_secs(24 * 3600);

/// Looks that must not show a request before it is sent again: one may be on its way while the first look is answered.
const LOOKS_BEFORE_SENDING: u32 = 2;

/// How long an absence must have been watched by one process before it can be final.
pub(super) const WATCHED_ABSENCE: Duration = Duration::from_secs(3600);

/// What the records say of it.
#[derive(Clone, Debug)]
pub(super) struct Unconfirmed {
    /// What happened.
    pub(super) why: Cause,
    /// Retrying cannot mend it.
    pub(super) quarantined: Option<Cause>,
}

impl Unconfirmed {
    pub(super) fn new(why: Cause) -> Self {
        Self { why, quarantined: None }
    }

    /// How it stands; `trouble` is why the last try did not settle it.
    pub(super) fn standing<'a>(&'a self, trouble: Option<&'a Cause>) -> Standing<'a> {
        Standing::Unconfirmed { why: &self.why, trouble, quarantined: self.quarantined.as_ref() }
    }

    pub(super) fn apply(&mut self, record: &Record) {
        if let Record::Quarantined { why } = record {
            self.quarantined = Some(why.clone());
        }
    }
}

/// What a power cut may forget of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Resolution {
    /// When to go on; `None` while a question or a request is on its way.
    due: Option<Duration>,
    /// What settled nothing, in a row: each makes the next wait longer.
    tries: u32,
    /// How long looks have not shown the request.
    pub(super) absence: Absence,
    /// The receipt "not confirmed" was printed.
    printed: bool,
    /// Why the last try did not settle it.
    trouble: Option<Cause>,
}

impl Resolution {
    pub(super) fn due(&self) -> Option<Duration> {
        self.due
    }

    pub(super) fn trouble(&self) -> Option<&Cause> {
        self.trouble.as_ref()
    }

    /// See [`super::Sale::seen_from`]: how often it was tried counts until the wait grows no longer.
    pub(super) fn seen_from(&mut self, seen: Moment) {
        if let Some(due) = &mut self.due {
            seen.until(due);
            if self.tries > back_off::MOST_TRIES && !due.is_zero() {
                *due = back_off::LONGEST;
            }
        }
        self.tries = self.tries.min(back_off::MOST_TRIES);
        self.absence.seen_from(seen);
    }

    /// Whether to look now: at a start, in time, or in a good moment, which what waits for a person has none of.
    pub(super) fn goes_on_at(&self, event: &Event, now: Now, recorded: &Unconfirmed) -> bool {
        match event {
            Event::Restarted => true,
            Event::DeadlinePassed => self.due.is_some_and(|due| due <= now.monotonic),
            Event::RetryNow => self.due.is_some() && recorded.quarantined.is_none(),
            _ => false,
        }
    }

    /// A question or a request leaves: nothing is due until it is answered.
    pub(super) fn leaves(&mut self) {
        self.due = None;
    }

    /// Goes on later, less and less often. The cashier gets a receipt that says "not confirmed" the first time.
    pub(super) fn wait(&mut self, reference: &str, now: Now, trouble: impl Into<Cause>) -> Step {
        self.trouble = Some(trouble.into());
        self.tries = self.tries.saturating_add(1);
        self.due = Some(now.monotonic + back_off::wait(reference, self.tries));
        Step::act(self.receipt())
    }

    /// The question itself is not answered. It may never be, so somebody must hear of it; once for each reason.
    pub(super) fn cannot_ask(&mut self, reference: &str, now: Now, why: Cause) -> Step {
        let new = self.trouble.as_ref() != Some(&why);
        let step = self.wait(reference, now, why.clone());
        if new { step.alarm(why) } else { step }
    }

    /// Retrying cannot mend it: written and told once for each reason, and looked at again daily.
    pub(super) fn quarantine(&mut self, recorded: &Unconfirmed, now: Now, why: Cause) -> Step {
        self.due = Some(now.monotonic + QUARANTINE_WAIT);
        if recorded.quarantined.as_ref() == Some(&why) {
            return Step::none();
        }
        Step::write([Record::Quarantined { why: why.clone() }]).then([Action::Tell]).alarm(why)
    }

    /// The receipt "not confirmed", unless it was printed.
    pub(super) fn receipt(&mut self) -> Option<Action> {
        let first = !std::mem::replace(&mut self.printed, true);
        first.then_some(Action::Print(Paper::Copies))
    }
}

/// How long looks have not shown something, as far as this process has watched. Absent is what no look has shown for
/// all of the time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Absence {
    /// Looks in a row.
    looks: u32,
    /// When the first of them was answered.
    since: Option<Duration>,
}

impl Absence {
    /// A look showed it, or it leaves anew.
    pub(super) fn ends(&mut self) {
        *self = Self::default();
    }

    /// One more look did not show it.
    pub(super) fn looked(&mut self, now: Now) {
        self.looks += 1;
        self.since.get_or_insert(now.monotonic);
    }

    /// See [`super::Sale::seen_from`].
    pub(super) fn seen_from(&mut self, seen: Moment) {
        self.looks = self.looks.min(LOOKS_BEFORE_SENDING);
        if let Some(since) = &mut self.since {
            seen.since(since);
        }
    }

    /// How long; from now on, if no look was answered before.
    pub(super) fn lasts(&mut self, now: Now) -> Duration {
        now.monotonic.saturating_sub(*self.since.get_or_insert(now.monotonic))
    }

    /// Long enough for a request that may be sent again without harm. A gateway that is slow may still carry out what
    /// it has read.
    pub(super) fn is_quiet(&mut self, now: Now, deadlines: Deadlines) -> bool {
        self.looks >= LOOKS_BEFORE_SENDING && self.lasts(now) >= deadlines.resend
    }

    /// What was sent at that time of the wall clock and is not there now will not come any more: it is old enough by
    /// that clock, and, since that clock may have jumped, it was not there for a good while of this process either.
    /// What this process itself has watched for all of the time needs no wall clock: a sale may have begun under one
    /// that was a year ahead.
    pub(super) fn is_final(&mut self, sent_unix_ms: i64, now: Now, deadlines: Deadlines) -> bool {
        let age_ms = now.unix_ms.saturating_sub(sent_unix_ms);
        let old = u128::try_from(age_ms).unwrap_or(0) >= deadlines.absence_final.as_millis();
        let watched = self.lasts(now);
        watched >= deadlines.absence_final || (old && watched >= WATCHED_ABSENCE)
    }
}

/// No gateway should reverse a part of what it was asked for.
pub(super) fn alarm_of_a_part(step: Step, done: Amount, asked: Amount) -> Step {
    if done == asked { step } else { step.alarm(Reason::ReversedInPart.with(done)) }
}
