//! The handling of a capture, refund, reversal, credit or stored-card request without an answer. The agent looks it up
//! and, if it was not carried out, sends it again, for as long as needed (design: path of a sale, 9).
//!
//! Such a transaction is finished, because reversing it would be no safer. If a look-up shows it as approved or
//! declined, it ends with that outcome. If a look-up does not show it, the agent records the next attempt and sends it
//! again under the same reference. Each is carried out **at most once** (design: invariant 11). The time of the next
//! attempt therefore depends on the harm that a late request could do:
//!
//! | | sent again |
//! |---|---|
//! | reversal | after `resend-after-s`, because reversing twice does no harm |
//! | capture, refund | when its absence is final; after `resend-after-s` if the gateway refuses repeated references |
//! | credit, storing a card | never, because the card is gone; a final absence means that it was not carried out |
//! | deleting a card | after `resend-after-s`, because deleting twice does no harm |
//!
//! Once the outcome is unknown, an answer to a request ends the transaction only if it is an approval. A second attempt
//! that is declined or not sent does not prove that the first was not carried out. A listed decline ends the
//! transaction only when every attempt is listed as declined, or when no other attempt can still arrive.

use pos_terms::money::Amount;
use pos_terms::transaction::{Kind, PaymentId};

use super::asked::Asked;
use super::decide::outcome_of;
use super::look_up;
use super::resolution::{Resolution, Unconfirmed, alarm_of_a_part};
use super::state::State;
use super::{
    Action, Answer, ApprovedAmount, CardAnswer, Cause, Deadlines, Event, HostFacts, Inquiry, ListedState,
    ListedTransaction, Now, Outcome, Paper, Payment, Reason, Record, Step, Transaction,
};

/// The state in which the agent finishes a transaction.
#[derive(Clone, Debug)]
pub(super) struct Finishing {
    /// The recorded part of the state.
    pub(super) recorded: Unconfirmed,
    /// The part of the state that a power cut may erase.
    pub(super) volatile: Resolution,
}

impl Finishing {
    pub(super) fn new(why: Cause) -> Self {
        Self { recorded: Unconfirmed::new(why), volatile: Resolution::default() }
    }

    /// Returns to this state if the repeated request has no answer either.
    pub(super) fn again(why: Cause, asked: &Asked) -> Self {
        Self { recorded: Unconfirmed::new(why), volatile: asked.volatile.before.clone() }
    }
}

impl Transaction {
    /// Begins to look up. The step writes the record first, then tells the till and asks the gateway.
    pub(super) fn confirm(&mut self, why: impl Into<Cause>) -> Step {
        let query = self.query(None);
        let step = Step::write([Record::Confirming { why: why.into() }]);
        // The card of a credit has not received its answer yet.
        let waits = self.volatile.card_open && matches!(self.state, State::Asked(_));
        step.then(waits.then(|| Action::AnswerCard(Box::new(CardAnswer::decline())))).then([Action::Tell, query])
    }

    pub(super) fn handle_confirming(&mut self, event: Event, now: Now, deadlines: Deadlines) -> Step {
        if matches!(event, Event::CardSaid { .. } | Event::ReaderLost) {
            self.volatile.card_open = false;
            return Step::none();
        }
        let State::Finishing(Finishing { recorded, volatile }) = &self.state else { return Step::none() };
        let mut resolution = volatile.clone();
        let step = CarryingOut { sale: self, recorded, resolution: &mut resolution, now, deadlines }.go_on(event);
        if let State::Finishing(finishing) = &mut self.state {
            finishing.volatile = resolution;
        }
        step
    }

    /// Handles an answer with less than the requested amount. The agent tells the till the amount that a look-up shows.
    /// It never sends the request again, because the payment id is known.
    pub(super) fn confirm_part(&mut self, part: &Payment) -> Step {
        let named = (!self.was_listed).then(|| Record::Pending { payment: part.id.clone() });
        let mut step = self.confirm(Reason::AnotherAmountApproved.with(part.amount));
        step.records.splice(0..0, named);
        step
    }

    /// Alarms a person if only a part was carried out. No gateway should reverse only a part of the request. The till
    /// receives the reversed amount, and can reverse the rest. No till waits for the refund of a rest, so a person must
    /// handle it.
    pub(super) fn alarm_if_done_in_part(&self, step: Step, amount: Amount) -> Step {
        match self.order.kind() {
            Kind::Reversal => alarm_of_a_part(step, amount, self.amount),
            Kind::Refund if self.order.gives_rest && amount != self.amount => {
                step.alarm(Reason::RestGivenBackInPart.with(amount))
            }
            _ => step,
        }
    }
}

/// The data for the rules at one moment. The rules cannot change the recorded part.
struct CarryingOut<'a> {
    sale: &'a Transaction,
    recorded: &'a Unconfirmed,
    resolution: &'a mut Resolution,
    now: Now,
    deadlines: Deadlines,
}

impl CarryingOut<'_> {
    fn go_on(&mut self, event: Event) -> Step {
        match event {
            event if self.resolution.goes_on_at(&event, self.now, self.recorded) => {
                self.resolution.leaves(self.now);
                Step::act([self.sale.query(None)])
            }
            Event::Inquired(Inquiry::CannotAsk { why }) => {
                self.resolution.cannot_ask(self.sale.our_reference(), self.now, why)
            }
            Event::Inquired(Inquiry::NotReached { why }) => {
                self.resolution.not_reached(self.sale.our_reference(), self.now, why)
            }
            Event::Inquired(Inquiry::Payments(found)) => {
                self.resolution.reached();
                self.looked(&found)
            }
            // A late answer to an earlier request still gives its result.
            Event::Answered(Answer::Approved(approval)) if self.is_a_part(approval.amount) => {
                self.resolution.leaves(self.now);
                let named = (!self.sale.was_listed).then_some(Record::Pending { payment: approval.id });
                Step::write(named).then([self.sale.query(None)])
            }
            Event::Answered(Answer::Approved(approval)) => {
                self.carried_out(&approval.id, approval.amount, Some(approval.facts))
            }
            _ => Step::none(),
        }
    }

    /// Returns whether an answer names less than the requested amount. Such an answer does not show how much is booked.
    fn is_a_part(&self, amount: ApprovedAmount) -> bool {
        let said = look_up::said(amount, self.sale.amount);
        self.sale.order.kind().moves_money() && said.is_some_and(|said| said.minor() < self.sale.amount.minor())
    }

    fn looked(&mut self, found: &[ListedTransaction]) -> Step {
        let (kind, reference) = (self.sale.order.kind().payment_type(), self.sale.our_reference());
        let is_ours = |one: &&ListedTransaction| one.reference.as_deref() == Some(reference);
        let same_kind = || found.iter().filter(|one| one.payment_type == kind);
        if same_kind().any(|one| one.reference.is_none()) {
            return self.needs_a_person(Reason::WhoseIsNotSaid);
        }
        let another = |one: &&ListedTransaction| one.payment_type != kind && one.state != ListedState::Declined;
        if let Some(strange) = found.iter().filter(another).find(is_ours) {
            // A listed transaction has this reference, so the transaction is not absent, but its effect is unknown.
            return self.needs_a_person(look_up::another_kind(strange));
        }
        let ours: Vec<_> = same_kind().filter(is_ours).collect();
        let in_state = |state: ListedState| ours.iter().filter(move |one| one.state == state);
        let undecided = in_state(ListedState::Undecided).next();
        let unclear = in_state(ListedState::Unclear).next();
        let mut approved = in_state(ListedState::Approved);
        match (approved.next(), approved.next()) {
            // A second attempt may still be approved, or may already be charged. A person must then be alarmed.
            (Some(_), None) if undecided.or(unclear).is_some() => {}
            (Some(done), None) => return self.carried_out(&done.id, done.amount, None),
            // Deleting the stored card twice does no harm.
            (Some(done), Some(_)) if self.sale.order.kind() == Kind::ForgetCard => {
                return self.carried_out(&done.id, done.amount, None);
            }
            (Some(one), Some(two)) => {
                return self.needs_a_person(Reason::DoneTwice.with(format_args!("{}, {}", one.id, two.id)));
            }
            (None, _) => {}
        }
        if ours.iter().any(|one| one.state != ListedState::Declined) {
            self.resolution.absence.ends();
        }
        if let Some(one) = undecided {
            // This is recorded once, because a transaction that the gateway has received cannot be absent later.
            let listed = (!self.sale.was_listed).then(|| Record::Pending { payment: one.id.clone() });
            let mut step = self.look_later(Reason::NotDecidedYet);
            step.records.extend(listed);
            return step;
        }
        if let Some(one) = unclear {
            return self.needs_a_person(Reason::CodeUnknown.with(&one.id));
        }
        self.absent(u32::try_from(ours.len()).unwrap_or(u32::MAX))
    }

    /// Handles a list that shows only declined attempts, or none. The transaction ends, waits, or is sent again.
    fn absent(&mut self, declined: u32) -> Step {
        let Self { sale, now, deadlines, .. } = *self;
        self.resolution.absence.looked(now);
        let nothing_comes = self.resolution.absence.is_final(sale.asked_unix_ms, now, deadlines);
        if declined >= sale.tries.max(1) || (declined > 0 && nothing_comes) {
            let said = (self.recorded.why.reason == Reason::DeclineInDoubt).then(|| self.recorded.why.detail.clone());
            return self.declined(said.flatten());
        }
        // A transaction that a person must handle is not sent again.
        if let Some(why) = &self.recorded.quarantined {
            return self.needs_a_person(why.clone());
        }
        if declined > 0 {
            return self.look_later(Reason::EarlierTryOpen);
        }
        if sale.was_listed {
            return if nothing_comes {
                self.needs_a_person(Reason::NotListedAnyMore)
            } else {
                self.look_later(Reason::NotListedYet)
            };
        }
        let quiet = self.resolution.absence.is_quiet(now, deadlines);
        let a_look_shows_it = match sale.order.kind() {
            Kind::ForgetCard => false,
            Kind::StoreCard => deadlines.lists_registrations,
            _ => true,
        };
        if self.recorded.why.reason == Reason::DeclineInDoubt && a_look_shows_it {
            // The gateway declined. The request is not repeated, and the decline becomes final after the full time.
            if !nothing_comes {
                return self.look_later(Reason::NotListedYet);
            }
            return self.declined(self.recorded.why.detail.clone());
        }
        let may_go = match sale.order.kind() {
            Kind::Reversal | Kind::ForgetCard => quiet,
            Kind::StoreCard if nothing_comes && !deadlines.lists_registrations => {
                return self.needs_a_person(Reason::NotListedAnyMore);
            }
            Kind::Credit | Kind::StoreCard if nothing_comes => {
                return self.confirmed(Outcome::NotSent { why: Reason::NeverReceived.into() }, None);
            }
            Kind::Credit | Kind::StoreCard => false,
            _ => nothing_comes || (quiet && deadlines.refuses_repeats),
        };
        if !may_go {
            return self.look_later(Reason::NotListedYet);
        }
        self.resolution.leaves(self.now);
        self.resolution.absence.ends();
        Step::write([Record::Asked { card: None, again_unix_ms: Some(now.unix_ms) }]).then([Action::Ask])
    }

    fn declined(&self, said: Option<String>) -> Step {
        let why = Cause { reason: Reason::BankDeclined, detail: said };
        let alarm = self.sale.rest_stays(&why);
        self.confirmed(Outcome::Declined { why }, None).then(alarm)
    }

    fn carried_out(&mut self, id: &PaymentId, amount: ApprovedAmount, host: Option<HostFacts>) -> Step {
        let asked = self.sale.amount;
        let amount = match amount {
            _ if !self.sale.order.kind().moves_money() => asked,
            ApprovedAmount::NotSaid => asked,
            ApprovedAmount::Said(said) if said.currency() == asked.currency() && said.minor() <= asked.minor() => said,
            ApprovedAmount::Said(_) | ApprovedAmount::Unreadable => {
                return self.needs_a_person(look_up::another_amount(id));
            }
        };
        let host = host.unwrap_or_else(|| HostFacts { id: Some(id.clone()), ..self.sale.host.clone() });
        let step = self.confirmed(outcome_of(amount, asked), Some(host));
        self.sale.alarm_if_done_in_part(step, amount)
    }

    fn confirmed(&self, outcome: Outcome, host: Option<HostFacts>) -> Step {
        let ended =
            Step::write([Record::Ended { outcome, host, card: None, by: None, at_unix_ms: None }]).then([Action::Tell]);
        // If the card is still open, the receipt is printed after its final answer.
        if self.sale.volatile.card_open { ended } else { ended.then([Action::Print(Paper::Copies)]) }
    }

    fn needs_a_person(&mut self, why: impl Into<Cause>) -> Step {
        self.resolution.quarantine(self.recorded, self.now, why.into())
    }

    fn look_later(&mut self, trouble: impl Into<Cause>) -> Step {
        self.resolution.wait(self.sale.our_reference(), self.now, trouble)
    }
}
