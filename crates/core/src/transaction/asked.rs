//! A request without its answer: when a pending payment is asked for, and when a request that the gateway did not
//! process is made again. Nothing is sent twice here that may have been carried out.

use std::time::Duration;

use pos_terms::transaction::PaymentId;

use super::back_off;
use super::finishing::Finishing;
use super::resolution::Resolution;
use super::seen::Moment;
use super::state::{Cancel, State};
use super::{Action, Cause, Deadlines, Event, HostFacts, Now, Outcome, Reason, Record, Step, Transaction};

/// How often a pending payment is asked for: a person decides in a banking app, seconds matter little.
const POLL_EVERY: Duration = Duration::from_secs(1);

/// The state: the request is on its way, or pending, or about to be made again.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    pub(super) volatile: VolatileAsked,
}

/// What a power cut may forget.
#[derive(Clone, Debug, Default)]
pub(super) struct VolatileAsked {
    /// A pending payment to ask for again: its id, when, and until when.
    pub(super) poll: Option<Poll>,
    /// The gateway had too many requests: when to ask again.
    pub(super) throttled: Option<Throttled>,
    /// How far the looks had come that led to this request; they go on from there when it has no answer either.
    pub(super) before: Resolution,
}

#[derive(Clone, Debug)]
pub(super) struct Poll {
    pub(super) payment: PaymentId,
    /// Where the customer must act.
    redirect: Option<String>,
    at: Duration,
    until: Duration,
}

/// A request that the gateway certainly did not process, to be made again.
#[derive(Clone, Debug)]
pub(super) struct Throttled {
    tries: u32,
    /// `None` while it is on its way again.
    at: Option<Duration>,
    until: Duration,
}

impl Asked {
    /// Sent again, because looks did not show it.
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

    /// Whether the gateway did not process it and it has not left again.
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
            // A request that the gateway did not process need not be made again.
            Event::CancelAsked { by } if asked.waits_to_ask_again() => {
                self.volatile.cancel = Some(Cancel { by });
                self.cancelled()
            }
            // It is on its way once more: without time for it again it is not sent another time.
            Event::CancelAsked { by } if asked.volatile.throttled.is_some() => {
                self.volatile.cancel = Some(Cancel { by });
                Step::none()
            }
            Event::ReaderLost | Event::CardSaid { .. } if asked.waits_to_ask_again() => {
                self.volatile.card_open = false;
                self.end(Outcome::NotSent { why: Reason::CardGone.into() }, None)
            }
            // The host may still approve: wait for its answer, but the card can no longer confirm.
            Event::ReaderLost | Event::CardSaid { .. } => {
                self.volatile.card_open = false;
                Step::none()
            }
            _ => Step::none(),
        }
    }

    /// The pending payment that is being asked for.
    pub(super) fn polled(&self) -> Option<&Poll> {
        match &self.state {
            State::Asked(asked) => asked.volatile.poll.as_ref(),
            _ => None,
        }
    }

    /// Where the customer must act before the gateway decides: this is neither approved nor declined.
    #[must_use]
    pub fn customer_acts_at(&self) -> Option<&str> {
        self.polled()?.redirect.as_deref()
    }

    /// Until when a pending payment is asked for.
    #[must_use]
    pub fn pending_until(&self) -> Option<Duration> {
        self.polled().map(|poll| poll.until)
    }

    /// Not decided: asked for again, as long as the cardholder's patience and the chip's last.
    pub(super) fn pending(&mut self, id: PaymentId, redirect: Option<String>, now: Now, deadlines: Deadlines) -> Step {
        let State::Asked(Asked { volatile }) = &mut self.state else { return Step::none() };
        let first = volatile.poll.is_none();
        // A later answer need not repeat it.
        let redirect = redirect.or_else(|| volatile.poll.as_mut().and_then(|poll| poll.redirect.take()));
        let until = volatile.poll.as_ref().map_or(now.monotonic + deadlines.pending, |poll| poll.until);
        if now.monotonic >= until {
            return self.unknown(Reason::NotDecidedInTime, None);
        }
        volatile.poll = Some(Poll { payment: id.clone(), redirect, at: now.monotonic + POLL_EVERY, until });
        let step = if first { Step::write([Record::Pending { payment: id }]) } else { Step::none() };
        step.then([Action::Tell])
    }

    /// A question for a pending payment that got no answer says nothing about the payment.
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

    /// Too many requests, not processed: this alone permits to send it again (design: result codes), a little later, as
    /// long as the cardholder's patience and the chip's last. The refund of a rest is sent again when nothing of it has
    /// left the board, too.
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
        // What is owed to the customer is looked up, and tried for as long as it takes.
        if self.order.gives_rest { self.confirm(why) } else { self.end(Outcome::NotSent { why }, facts) }
    }

    /// A deadline has passed.
    pub(super) fn ask_again(&mut self, now: Now) -> Step {
        let State::Asked(Asked { volatile }) = &mut self.state else { return Step::none() };
        if let Some(throttled) = volatile.throttled.as_mut().filter(|it| it.at.is_some_and(|at| at <= now.monotonic)) {
            throttled.at = None;
            let card = self.card.clone();
            return Step::write([Record::Asked { card, again_unix_ms: None }]).then([Action::Ask]);
        }
        match &mut volatile.poll {
            Some(poll) if now.monotonic >= poll.at => {
                // The answer sets the next time; until then nothing is due.
                poll.at = Duration::MAX;
                Step::act([Action::Poll { payment: poll.payment.clone() }])
            }
            _ => Step::none(),
        }
    }
}
