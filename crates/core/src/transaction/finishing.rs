//! The handling of a capture, refund, reversal, credit, or stored-card request without an answer: look up, and carry it
//! out if it was not, for as long as needed (design: path of a sale, 9).
//!
//! Reversing such a transaction would be no safer than finishing it, so it is finished. Found approved, it is done;
//! found declined, it is declined. When it is not found, it is sent again under the same reference, and recorded first.
//! Each is carried out **at most once** (design: invariant 11). The time of the next attempt therefore depends on the
//! harm that a late request could do:
//!
//! | | sent again |
//! |---|---|
//! | reversal | after `resend-after-s`: reversing twice does no harm |
//! | capture, refund | when its absence is final; after `resend-after-s` if the gateway refuses repeated references |
//! | credit, a card to store | never, because the card is gone; when its absence is final it was not carried out |
//! | a card to delete | after `resend-after-s`: deleting twice does no harm |
//!
//! Once the outcome is unknown, only an approval as the answer to a request ends it. A second attempt that is declined
//! or not sent does not exclude that the first was carried out. A listed decline ends it only when every attempt is
//! listed as declined, or when none can arrive any more.

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

/// The state in which a transaction is finished.
#[derive(Clone, Debug)]
pub(super) struct Finishing {
    /// The recorded part.
    pub(super) recorded: Unconfirmed,
    /// The part that a power cut may forget.
    pub(super) volatile: Resolution,
}

impl Finishing {
    pub(super) fn new(why: Cause) -> Self {
        Self { recorded: Unconfirmed::new(why), volatile: Resolution::default() }
    }

    /// Returns to this state when the repeated request has no answer either.
    pub(super) fn again(why: Cause, asked: &Asked) -> Self {
        Self { recorded: Unconfirmed::new(why), volatile: asked.volatile.before.clone() }
    }
}

impl Transaction {
    /// Begins to look up. The record is written first. Then the till is told and the gateway is asked.
    pub(super) fn confirm(&mut self, why: impl Into<Cause>) -> Step {
        let query = self.query(None);
        let step = Step::write([Record::Confirming { why: why.into() }]);
        // The card of a credit has not been answered yet.
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

    /// Handles an answer with less than requested. The till hears the amount that a look-up shows. The payment id is
    /// known, so the request is never sent again.
    pub(super) fn confirm_part(&mut self, part: &Payment) -> Step {
        let named = (!self.was_listed).then(|| Record::Pending { payment: part.id.clone() });
        let mut step = self.confirm(Reason::AnotherAmountApproved.with(part.amount));
        step.records.splice(0..0, named);
        step
    }

    /// Alarms a person when only a part was carried out. No gateway should reverse only a part of the request. The till
    /// hears the part, and can have the rest reversed. No till hears of the refund of a rest, so a person must.
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

/// The data for the rules at one moment. The recorded part is read-only here.
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
            Event::Inquired(Inquiry::Payments(found)) => self.looked(&found),
            // An answer to an earlier request gives its result, however late.
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

    /// Returns whether an answer names less than requested. Such an answer does not show how much is booked.
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
            // It has our reference, so it is not absent, but its effect is unknown.
            return self.needs_a_person(look_up::another_kind(strange));
        }
        let ours: Vec<_> = same_kind().filter(is_ours).collect();
        let in_state = |state: ListedState| ours.iter().filter(move |one| one.state == state);
        let undecided = in_state(ListedState::Undecided).next();
        let unclear = in_state(ListedState::Unclear).next();
        let mut approved = in_state(ListedState::Approved);
        match (approved.next(), approved.next()) {
            // A second one may be approved, or may be charged already. A person must then be alarmed.
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
            // Recorded once: a transaction that the gateway has received cannot be absent later.
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

    /// Handles a list with only this many declined attempts: the end, a wait, or the request again.
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
            // The gateway declined. The request is not repeated, and in the end the decline is valid.
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
        // A card that is still open prints after its final answer.
        if self.sale.volatile.card_open { ended } else { ended.then([Action::Print(Paper::Copies)]) }
    }

    fn needs_a_person(&mut self, why: impl Into<Cause>) -> Step {
        self.resolution.quarantine(self.recorded, self.now, why.into())
    }

    fn look_later(&mut self, trouble: impl Into<Cause>) -> Step {
        self.resolution.wait(self.sale.our_reference(), self.now, trouble)
    }
}
