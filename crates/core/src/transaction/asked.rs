//! A request without an answer: when the agent asks about a pending payment, and when it repeats a request that the
//! gateway did not process. This module never resends a request that may have been carried out.

use std::time::Duration;

use pos_terms::transaction::PaymentId;

use super::back_off;
use super::finishing::Finishing;
use super::resolution::Resolution;
use super::seen::Moment;
use super::state::{Cancel, State};
use super::{Action, Cause, Deadlines, Event, HostFacts, Now, Outcome, Reason, Record, Step, Transaction};

/// The interval between queries about a pending payment. The cardholder decides in a banking app, so a delay of a
/// second does not matter.
const POLL_EVERY: Duration = Duration::from_secs(1);

/// The state of a request that is on its way, pending, or about to be repeated.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    pub(super) volatile: VolatileAsked,
}

/// The part of the state that a power cut may erase.
#[derive(Clone, Debug, Default)]
pub(super) struct VolatileAsked {
    /// The query about a pending payment: its id, its next time, and its deadline.
    pub(super) poll: Option<Poll>,
    /// Set after the gateway had too many requests. It holds the time of the next attempt.
    pub(super) throttled: Option<Throttled>,
    /// The progress of the look-ups that led to this request. They continue from there if this request has no answer
    /// either.
    pub(super) before: Resolution,
}

#[derive(Clone, Debug)]
pub(super) struct Poll {
    pub(super) payment: PaymentId,
    /// The address where the customer must act.
    redirect: Option<String>,
    at: Duration,
    until: Duration,
}

/// A request that the gateway certainly did not process and that is to be repeated.
#[derive(Clone, Debug)]
pub(super) struct Throttled {
    tries: u32,
    /// The time of the next attempt; `None` while the request is on its way again.
    at: Option<Duration>,
    until: Duration,
}

impl Asked {
    /// Returns the state of a request that is sent again because look-ups did not find it.
    pub(super) fn again(finishing: &Finishing) -> Self {
        Self { volatile: VolatileAsked { before: finishing.volatile.clone(), ..VolatileAsked::default() } }
    }

    pub(super) fn due(&self) -> Option<Duration> {
        let throttled = self.volatile.throttled.as_ref().and_then(|throttled| throttled.at);
        self.volatile.poll.as_ref().map(|poll| poll.at).into_iter().chain(throttled).min()
    }

    /// See [`Transaction::seen_from`].
    pub(super) fn seen_from(&mut self, seen: Moment) {
        let VolatileAsked { poll, throttled, before } = &mut self.volatile;
        for at in poll.iter_mut().flat_map(|poll| [&mut poll.at, &mut poll.until]) {
            seen.until(at);
        }
        for at in throttled.iter_mut().flat_map(|it| it.at.iter_mut().chain([&mut it.until])) {
            seen.until(at);
        }
        before.seen_from(seen);
    }

    /// Returns whether the request waits to be sent again after the gateway did not process it.
    pub(super) fn waits_to_ask_again(&self) -> bool {
        self.volatile.throttled.as_ref().is_some_and(|throttled| throttled.at.is_some())
    }
}

impl Transaction {
    pub(super) fn handle_asked(&mut self, event: Event, now: Now, deadlines: Deadlines) -> Step {
        let State::Asked(asked) = &self.state else { return Step::none() };
        match event {
            Event::Answered(answer) => self.answered(answer, now, deadlines),
            Event::CannotAsk { why } if self.doubted => self.confirm(why),
            Event::CannotAsk { why } => self.not_sent(why),
            Event::DeadlinePassed => self.ask_again(now),
            Event::Restarted => self.unknown(Reason::RestartedBeforeAnswer, None),
            Event::CancelAsked { .. } if self.order.gives_rest => Step::none(),
            // A request that the gateway did not process need not be repeated.
            Event::CancelAsked { by } if asked.waits_to_ask_again() => {
                self.volatile.cancel = Some(Cancel { by });
                self.cancelled()
            }
            // The request is on its way again. If the gateway does not process it this time either, the transaction
            // ends as cancelled.
            Event::CancelAsked { by } if asked.volatile.throttled.is_some() => {
                self.volatile.cancel = Some(Cancel { by });
                Step::none()
            }
            Event::ReaderLost | Event::CardSaid { .. } if asked.waits_to_ask_again() => {
                self.volatile.card_open = false;
                self.end(Outcome::NotSent { why: Reason::CardGone.into() }, None)
            }
            // The gateway may still approve. The agent waits for its answer, but the card can no longer confirm.
            Event::ReaderLost | Event::CardSaid { .. } => {
                self.volatile.card_open = false;
                Step::none()
            }
            _ => Step::none(),
        }
    }

    /// Returns the query about the pending payment.
    pub(super) fn polled(&self) -> Option<&Poll> {
        match &self.state {
            State::Asked(asked) => asked.volatile.poll.as_ref(),
            _ => None,
        }
    }

    /// Returns the address where the customer must act before the gateway decides. Until then the payment is neither
    /// approved nor declined.
    #[must_use]
    pub fn customer_acts_at(&self) -> Option<&str> {
        self.polled()?.redirect.as_deref()
    }

    /// Returns the deadline of the queries about a pending payment.
    #[must_use]
    pub fn pending_until(&self) -> Option<Duration> {
        self.polled().map(|poll| poll.until)
    }

    /// Handles an undecided payment. The agent asks again for as long as the cardholder and the chip can wait.
    pub(super) fn pending(&mut self, id: PaymentId, redirect: Option<String>, now: Now, deadlines: Deadlines) -> Step {
        let State::Asked(Asked { volatile }) = &mut self.state else { return Step::none() };
        let first = volatile.poll.is_none();
        // A later answer may omit the address.
        let redirect = redirect.or_else(|| volatile.poll.as_mut().and_then(|poll| poll.redirect.take()));
        let until = volatile.poll.as_ref().map_or(now.monotonic + deadlines.pending, |poll| poll.until);
        if now.monotonic >= until {
            return self.unknown(Reason::NotDecidedInTime, None);
        }
        volatile.poll = Some(Poll { payment: id.clone(), redirect, at: now.monotonic + POLL_EVERY, until });
        let step = if first { Step::write([Record::Pending { payment: id }]) } else { Step::none() };
        step.then([Action::Tell])
    }

    /// Schedules the next query after a query without an answer. A missing answer says nothing about the payment.
    pub(super) fn poll_again(&mut self, now: Now) -> Step {
        let State::Asked(Asked { volatile: VolatileAsked { poll: Some(poll), .. } }) = &mut self.state else {
            return Step::none();
        };
        if now.monotonic >= poll.until {
            return self.unknown(Reason::NotDecidedInTime, None);
        }
        poll.at = now.monotonic + POLL_EVERY;
        Step::none()
    }

    /// Handles the answer that the gateway had too many requests. Only this answer permits sending the request again
    /// (design: result codes). The agent waits a little, and repeats it for as long as the cardholder and the chip can
    /// wait. A refund of the part that the till did not accept is also repeated if no part of it left the terminal.
    pub(super) fn throttled(&mut self, why: Cause, facts: Option<HostFacts>, now: Now, deadlines: Deadlines) -> Step {
        if self.volatile.cancel.is_some() {
            return self.cancelled();
        }
        let State::Asked(Asked { volatile }) = &mut self.state else { return Step::none() };
        let throttled = volatile.throttled.get_or_insert(Throttled {
            tries: 0,
            at: None,
            until: now.monotonic + deadlines.pending,
        });
        let apart = back_off::apart(&self.order.merchant_transaction_id, throttled.tries, Duration::from_secs(1));
        let at = now.monotonic + Duration::from_millis(500 << throttled.tries.min(5)) + apart;
        throttled.tries = throttled.tries.saturating_add(1);
        if at < throttled.until {
            throttled.at = Some(at);
            return Step::none();
        }
        // A refund that is owed to the customer is looked up, and retried for as long as needed.
        if self.order.gives_rest { self.confirm(why) } else { self.end(Outcome::NotSent { why }, facts) }
    }

    /// Continues after a deadline has passed.
    pub(super) fn ask_again(&mut self, now: Now) -> Step {
        let State::Asked(Asked { volatile }) = &mut self.state else { return Step::none() };
        if let Some(throttled) = volatile.throttled.as_mut().filter(|it| it.at.is_some_and(|at| at <= now.monotonic)) {
            throttled.at = None;
            let card = self.card.clone();
            return Step::write([Record::Asked { card, again_unix_ms: None }]).then([Action::Ask]);
        }
        match &mut volatile.poll {
            Some(poll) if now.monotonic >= poll.at => {
                // The answer sets the time of the next query. Until then nothing is due.
                poll.at = Duration::MAX;
                Step::act([Action::Poll { payment: poll.payment.clone() }])
            }
            _ => Step::none(),
        }
    }
}
