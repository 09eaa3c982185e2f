//! The handling of an unknown outcome: look up, reverse, and look up again, for as long as needed (design: path of a
//! sale, 9).
//!
//! This module never sends a payment. Each reversal has its own reference, is recorded before it is sent, and keeps its
//! reference when it is sent again. A reversal with an unknown result is looked up first. The amount to reverse is
//! computed from the look-up (`still_charged`). After a partial reversal, the rest is therefore reversed under a new
//! reference. A payment counts as absent only when an answered query does not list it, and only after a configurable
//! time.

use std::time::Duration;

use pos_terms::money::Amount;
use pos_terms::transaction::PaymentId;

use super::look_up;
use super::resolution::{Absence, Resolution, alarm_of_a_part};
use super::reversals::{RecordedReversal, ReversalRequest, reversal_reference};
use super::seen::Moment;
use super::state::{Entering, State};
use super::{
    Action, ApprovedAmount, CardAnswer, Cause, Deadlines, Event, HostFacts, Inquiry, Now, Outcome, Paper, Payment,
    Reason, Record, ReversalAnswer, Step, Transaction,
};

/// The time for which the result of a look-up is valid for a request that could not be sent. Afterwards, the payment
/// may have been given back in another way.
pub const FRESH: Duration = Duration::from_secs(10);

/// The state in which a payment is reversed.
#[derive(Clone, Debug)]
pub(super) struct Reversing {
    /// The recorded part of the state.
    pub(super) recorded: RecordedReversal,
    pub(super) volatile: VolatileReversing,
}

/// The part of the state that a power cut may erase.
#[derive(Clone, Debug, Default)]
pub(super) struct VolatileReversing {
    /// The time of the next look-up, and how long look-ups have not shown the open reversal.
    pub(super) resolution: Resolution,
    /// True if the reversal certainly never reached the gateway. It may then be sent again without a look-up.
    pub(super) certainly_unsent: bool,
    /// True if a look-up must come before the next request, even if the reversal was never sent.
    pub(super) look_first: bool,
    /// The time when the amount of the request was computed. Without a look-up, it is the time of the first attempt to
    /// send that failed.
    pub(super) reckoned: Option<Duration>,
    /// The approved amount of the payment to reverse, from the list or answer that gave the remaining amount.
    pub(super) whole: Option<Amount>,
    /// The payments that look-ups showed as charged. A list that omits one of them does not end the transaction.
    pub(super) seen: Vec<Payment>,
    /// True if a look-up showed the payment before the reversal began. The amount to reverse then comes from another
    /// look-up, not from the answer.
    pub(super) was_shown: bool,
    /// The time of the first look-up that did not show the payment, while no later one has shown it. It matters if the
    /// answer named another amount.
    pub(super) unshown: Option<Duration>,
    /// The reason why the gateway refused the last reversal. If a look-up then shows the payment as still charged, a
    /// person must handle it.
    pub(super) refused: Option<Cause>,
    /// The time for which look-ups have shown no payment other than declined ones.
    pub(super) payment_absence: Absence,
    /// An approved payment that look-ups do not list, with the duration of its absence. Other payments may be listed.
    pub(super) not_listed: Option<(PaymentId, Absence)>,
}

impl VolatileReversing {
    /// See [`Transaction::seen_from`].
    pub(super) fn seen_from(&mut self, seen: Moment) {
        self.resolution.seen_from(seen);
        if let Some(reckoned) = &mut self.reckoned {
            seen.since(reckoned);
        }
        if let Some(unshown) = &mut self.unshown {
            seen.since(unshown);
        }
        self.payment_absence.seen_from(seen);
        if let Some((_, absence)) = &mut self.not_listed {
            absence.seen_from(seen);
        }
    }
}

impl Reversing {
    pub(super) fn new(why: Cause, known: Option<Payment>, in_doubt: bool) -> Self {
        Self { recorded: RecordedReversal::new(why, known, in_doubt), volatile: VolatileReversing::default() }
    }
}

impl Transaction {
    /// Begins a reversal. The step writes the record first, then declines the card, tells the till and asks the
    /// gateway.
    pub(super) fn reverse(&mut self, why: impl Into<Cause>, payment: Option<Payment>, host: Option<HostFacts>) -> Step {
        let whole = payment.as_ref().map(|payment| payment.amount);
        let begun = VolatileReversing { certainly_unsent: true, whole, ..VolatileReversing::default() };
        self.volatile.entering = Some(Entering::Reversing(begun));
        let reversing = Record::Reversing { why: why.into(), payment: payment.clone(), host, by: None };
        let mut step = Step::write([reversing]);
        // The card is declined only if it has no answer yet. In the state AtChip it already has one.
        if self.card_waits() {
            step = step.then([Action::AnswerCard(Box::new(CardAnswer::decline()))]);
        }
        step = step.then([Action::Tell]);
        match payment {
            Some(payment) if !self.is_another_amount(&payment) => {
                step.and(ask_reversal(payment, reversal_reference(self.our_reference(), 1)))
            }
            _ => step.then([self.query(None)]),
        }
    }

    pub(super) fn handle_reversing(&mut self, event: Event, now: Now, deadlines: Deadlines) -> Step {
        match event {
            Event::CardSaid { facts, .. } => {
                self.volatile.card_open = false;
                return Step::write(facts.map(|card| Record::CardFinal { card: *card }));
            }
            Event::ReaderLost => {
                self.volatile.card_open = false;
                return Step::none();
            }
            _ => {}
        }
        let State::Reversing(Reversing { recorded, volatile }) = &self.state else { return Step::none() };
        let mut volatile = volatile.clone();
        let step = Undoing { sale: self, recorded, volatile: &mut volatile, now, deadlines }.go_on(event);
        if let State::Reversing(reversing) = &mut self.state {
            reversing.volatile = volatile;
        }
        step
    }

    /// Looks up again after a person has decided. A reversal that was never sent still counts as never sent.
    pub(super) fn reverse_anew(&mut self) -> Step {
        let State::Reversing(Reversing { recorded, volatile }) = &mut self.state else { return Step::none() };
        let certainly_unsent = volatile.certainly_unsent;
        *volatile = VolatileReversing { certainly_unsent, look_first: true, ..VolatileReversing::default() };
        let own = recorded.open.as_ref().map(|open| open.reference.clone());
        Step::act([self.query(own.as_deref())])
    }

    /// Returns the approved amount of the payment that is being reversed. Returns `None` if the amount has not been
    /// learned since the last restart.
    #[must_use]
    pub fn whole_to_reverse(&self) -> Option<Amount> {
        match &self.state {
            State::Reversing(reversing) => reversing.volatile.whole,
            _ => None,
        }
    }

    /// Returns the gateway reference of the transaction.
    pub(super) fn our_reference(&self) -> &str {
        &self.order.merchant_transaction_id
    }

    /// Returns the query about the transaction and, with `own`, about a reversal that it requested.
    pub(super) fn query(&self, own: Option<&str>) -> Action {
        let own = own.filter(|own| *own != self.our_reference());
        let unanswered = match &self.state {
            State::Reversing(reversing) => reversing.recorded.unanswered.as_slice(),
            _ => &[],
        };
        let unanswered = unanswered.iter().map(|one| one.reference.as_str());
        let references = [self.our_reference()].into_iter().chain(own).chain(unanswered).map(str::to_owned);
        Action::Query { references: references.collect() }
    }
}

/// The data for the rules at one moment. The rules cannot change the recorded part.
pub(super) struct Undoing<'a> {
    pub(super) sale: &'a Transaction,
    pub(super) recorded: &'a RecordedReversal,
    pub(super) volatile: &'a mut VolatileReversing,
    pub(super) now: Now,
    pub(super) deadlines: Deadlines,
}

impl Undoing<'_> {
    fn go_on(&mut self, event: Event) -> Step {
        match event {
            event if self.volatile.resolution.goes_on_at(&event, self.now, &self.recorded.unconfirmed) => {
                self.try_again()
            }
            Event::Inquired(inquiry) => self.inquired(inquiry),
            Event::ReversalAnswered { reference, reversal } => self.reversal_answered(&reference, reversal),
            _ => Step::none(),
        }
    }

    fn inquired(&mut self, inquiry: Inquiry) -> Step {
        if !matches!(inquiry, Inquiry::Payments(_)) {
            self.volatile.unshown.get_or_insert(self.now.monotonic);
        }
        let (resolution, reference) = (&mut self.volatile.resolution, self.sale.our_reference());
        match inquiry {
            Inquiry::Payments(found) => {
                resolution.reached();
                self.looked(&found)
            }
            Inquiry::CannotAsk { why } => resolution.cannot_ask(reference, self.now, why),
            Inquiry::NotReached { why } => resolution.not_reached(reference, self.now, why),
        }
    }

    /// Sends the reversal if it certainly was not sent before. Otherwise looks up first. This is also the case after
    /// replay, because a power cut may have interrupted a request. The rest of a payment is reversed only after a new
    /// look-up. The earlier look-up may have shown a transaction that is undecided, or that a person must handle.
    fn try_again(&mut self) -> Step {
        if let Some(answered) = self.answered_and_unshown() {
            self.volatile.resolution.leaves(self.now);
            self.volatile.certainly_unsent = true;
            return self.ask_anew(answered, self.recorded.next_reference(self.sale.our_reference()));
        }
        let volatile = &mut *self.volatile;
        volatile.resolution.leaves(self.now);
        let fresh = volatile.reckoned.is_some_and(|at| self.now.monotonic.saturating_sub(at) <= FRESH);
        match &self.recorded.open {
            Some(open) if volatile.certainly_unsent && fresh && !volatile.look_first && !self.recorded.keep => {
                Step::act([open.leaves()])
            }
            open => Step::act([self.sale.query(open.as_ref().map(|open| open.reference.as_str()))]),
        }
    }

    /// Returns the payment of the answer if the answer named another amount and look-ups have not shown the payment for
    /// `resend`. This amount is then reversed, limited to the requested amount. Any rest waits for a look-up that shows
    /// it.
    fn answered_and_unshown(&self) -> Option<Payment> {
        let is = self.recorded;
        let lasts = |since: Duration| self.now.monotonic.saturating_sub(since) >= self.deadlines.resend;
        let untouched = is.open.is_none() && is.confirmed.is_empty();
        let goes =
            is.in_doubt && untouched && !self.volatile.was_shown && !is.keep && is.unconfirmed.quarantined.is_none();
        let Payment { id, amount } = is.known.as_ref().filter(|_| goes && self.volatile.unshown.is_some_and(lasts))?;
        let asked = self.sale.amount;
        let is_more = amount.currency() == asked.currency() && amount.minor() > asked.minor();
        Some(Payment { id: id.clone(), amount: if is_more { asked } else { *amount } })
    }

    fn reversal_answered(&mut self, reference: &str, reversal: ReversalAnswer) -> Step {
        // The answer belongs to an earlier request (before a restart, or for another payment) and says nothing about
        // this one. The agent looks up.
        let Some(asked) = self.recorded.open.as_ref().filter(|asked| asked.reference == reference) else {
            return self.wait(Reason::StrayAnswer);
        };
        let is_known = |id: &PaymentId| self.recorded.confirmed.iter().any(|done| done.id == *id);
        match reversal {
            ReversalAnswer::Done { id, .. } if is_known(&id) => {
                self.volatile.certainly_unsent = false;
                self.wait(Reason::StrayAnswer.with(id))
            }
            ReversalAnswer::Done { id, amount } => match look_up::said(amount, asked.payment.amount) {
                Some(said) if said.minor() <= asked.payment.amount.minor() => {
                    self.reversed(asked, id, said, amount != ApprovedAmount::NotSaid)
                }
                _ => {
                    self.volatile.certainly_unsent = false;
                    self.quarantine(look_up::another_amount(&id))
                }
            },
            ReversalAnswer::NotSent { why } => {
                self.volatile.reckoned.get_or_insert(self.now.monotonic);
                self.wait(why)
            }
            ReversalAnswer::HeldBack { why, for_person } => {
                self.volatile.look_first = true;
                if for_person { self.quarantine(why) } else { self.wait(why) }
            }
            ReversalAnswer::Unknown { why } => {
                self.volatile.certainly_unsent = false;
                self.wait(why)
            }
            ReversalAnswer::Refused { why } => {
                self.volatile.certainly_unsent = false;
                self.volatile.refused = Some(why);
                Step::act([self.sale.query(Some(reference))])
            }
        }
    }

    /// Handles a confirmed reversal. The next step is the end, a request for the rest of a known payment, or another
    /// look-up. A look-up also follows if the answer names no amount.
    fn reversed(&mut self, asked: &ReversalRequest, id: PaymentId, amount: Amount, is_said: bool) -> Step {
        let record = Record::ReversalDone { payment: asked.payment.id.clone(), reversal: id, amount: Some(amount) };
        let mut after = self.recorded.clone();
        after.apply(&record, self.sale.our_reference());
        let done = alarm_of_a_part(Step::write([record]), amount, asked.payment.amount);
        let named = after.known.as_ref().is_some_and(|known| known.id == asked.payment.id);
        // A look-up had shown that a part was given back in another way. Only another look-up shows the remaining
        // amount.
        let was_all = self.recorded.known_rest().is_some_and(|rest| rest.amount == asked.payment.amount);
        done.and(match after.known_rest() {
            // A look-up found the payment, or more than the answered amount may be booked. The agent looks up again,
            // because every approved match must be reversed.
            _ if !named || !is_said || after.in_doubt || !was_all => Step::act([self.sale.query(None)]),
            None => self.end_reversed(),
            Some(rest) => {
                self.volatile.certainly_unsent = true;
                self.ask_anew(rest, after.next_reference(self.sale.our_reference()))
            }
        })
    }

    pub(super) fn ask_anew(&mut self, payment: Payment, reference: String) -> Step {
        self.volatile.look_first = false;
        ask_reversal(payment, reference)
    }

    pub(super) fn quarantine(&mut self, why: impl Into<Cause>) -> Step {
        let resolution = &mut self.volatile.resolution;
        let receipt = resolution.receipt();
        let step = resolution.quarantine(&self.recorded.unconfirmed, self.now, why.into());
        if step.records.is_empty() { step } else { step.then(receipt) }
    }

    pub(super) fn wait(&mut self, trouble: impl Into<Cause>) -> Step {
        self.volatile.resolution.wait(self.sale.our_reference(), self.now, trouble)
    }

    pub(super) fn end_reversed(&self) -> Step {
        self.end(Outcome::Reversed { why: self.recorded.unconfirmed.why.clone() })
    }

    pub(super) fn end(&self, outcome: Outcome) -> Step {
        let ended = Step::write([Record::Ended { outcome, host: None, card: None, by: None, at_unix_ms: None }])
            .then([Action::Tell]);
        // If the card is still open, the receipt is printed after its final answer.
        if self.sale.volatile.card_open { ended } else { ended.then([Action::Print(Paper::Copies)]) }
    }
}

fn ask_reversal(payment: Payment, reference: String) -> Step {
    let asked = Record::ReversalAsked { payment: payment.clone(), reference: Some(reference.clone()) };
    Step::write([asked]).then([Action::Reverse { payment: payment.id, amount: payment.amount, reference }])
}
