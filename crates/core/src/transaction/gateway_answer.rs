//! The meaning of the gateway's answer to a request. An approval is compared with the requested amount. A decline ends
//! the transaction. An answer that proves nothing leaves the outcome unknown.

use pos_terms::transaction::PaymentId;

use super::action::ARC_APPROVE;
use super::{
    Action, Answer, Approval, ApprovedAmount, CardAnswer, Cause, Deadlines, ForChip, HostFacts, Now, Outcome, Payment,
    Reason, Record, Refusal, Step, Transaction,
};

impl Transaction {
    pub(super) fn answered(&mut self, answer: Answer, now: Now, deadlines: Deadlines) -> Step {
        match answer {
            // The request was not carried out this time, perhaps because an earlier one without an answer was carried
            // out. Only a look-up can clarify this.
            Answer::Declined(refusal) | Answer::Throttled(refusal) if self.doubted => self.confirm(refusal.why),
            Answer::NotSent { why } if self.doubted => self.confirm(why),
            Answer::Approved(ref approval) if self.is_another(&approval.id) => self.another_payment(&approval.id),
            Answer::Pending { ref id, .. } if self.is_another(id) => self.another_payment(id),
            Answer::Declined(ref refusal)
                if let Some(id) = refusal.facts.id.as_ref().filter(|id| self.is_another(id)) =>
            {
                self.another_payment(id)
            }
            Answer::Approved(approval) => self.approved(*approval, now, deadlines),
            Answer::Declined(refusal) if says_approve(&refusal.for_chip) => {
                self.unknown(Reason::ChipContradicted, Some(refusal.facts))
            }
            Answer::Declined(refusal) => self.declined(*refusal),
            Answer::DeclinedInDoubt(refusal) => {
                let Refusal { why, facts, .. } = *refusal;
                self.unknown(Cause { reason: Reason::DeclineInDoubt, ..why }, Some(facts))
            }
            Answer::Pending { id, redirect } => self.pending(id, redirect, now, deadlines),
            Answer::Throttled(_) | Answer::NotSent { .. } | Answer::Unknown { .. } if self.polled().is_some() => {
                self.poll_again(now)
            }
            Answer::Throttled(refusal) => self.throttled(refusal.why, Some(refusal.facts), now, deadlines),
            Answer::NotSent { why } if self.order.gives_rest && why.reason != Reason::RequestNotPossible => {
                self.throttled(why, None, now, deadlines)
            }
            Answer::NotSent { why } => self.not_sent(why),
            Answer::Unknown { why } => self.unknown(why, None),
            Answer::NotOurs { why } => self.unknown(why.clone(), None).alarm(why),
        }
    }

    /// Returns whether an answer names a payment other than the pending one. An answer without an id does not.
    fn is_another(&self, id: &PaymentId) -> bool {
        self.polled().is_some_and(|poll| poll.payment != *id)
    }

    fn another_payment(&mut self, id: &PaymentId) -> Step {
        let why = Reason::AnotherPaymentAnswered.with(id);
        self.unknown(why.clone(), None).alarm(why)
    }

    /// Handles an unknown outcome. A payment is reversed. A capture, refund, reversal or credit is looked up and
    /// finished.
    pub(super) fn unknown(&mut self, why: impl Into<Cause>, host: Option<HostFacts>) -> Step {
        if self.order.kind().is_undone_when_unknown() { self.reverse(why, None, host) } else { self.confirm(why) }
    }

    fn approved(&mut self, approval: Approval, now: Now, deadlines: Deadlines) -> Step {
        let Approval { id, amount, for_chip, facts } = approval;
        let asked = self.amount;
        let approved = match amount {
            _ if !self.order.kind().moves_money() => asked,
            // A missing field does not prove that the amount differs.
            ApprovedAmount::NotSaid => asked,
            ApprovedAmount::Said(said) if said.currency() == asked.currency() && said.minor() <= asked.minor() => said,
            ApprovedAmount::Said(said) => {
                let why = Reason::AnotherAmountApproved.with(said);
                return self.approved_wrongly(why, Some(Payment { id, amount: said }), facts);
            }
            ApprovedAmount::Unreadable => {
                return self.approved_wrongly(Reason::AmountUnreadable.into(), None, facts);
            }
        };
        let payment = Payment { id, amount: approved };
        let is_part = self.is_another_amount(&payment);
        if contradicts_approval(&for_chip) {
            let why = Reason::ChipContradicted;
            return if self.order.kind().is_undone_when_unknown() {
                self.reverse(why, Some(payment), Some(facts))
            } else {
                self.confirm(why)
            };
        }
        match self.order.kind().till_may_refuse_a_part() {
            true if is_part && self.order.accept_partial => {
                self.part_approved(payment, facts, for_chip, now, deadlines)
            }
            true if is_part => self.reverse(Reason::PartialNotTaken.with(approved), Some(payment), Some(facts)),
            false if is_part => self.confirm_part(&payment),
            _ => self.stands_approved(payment, facts, for_chip, now, deadlines),
        }
    }

    /// Handles an approval of exactly the requested amount. If the card must confirm, it receives the answer first.
    /// Otherwise the transaction continues immediately.
    pub(super) fn stands_approved(
        &mut self,
        payment: Payment,
        facts: HostFacts,
        for_chip: ForChip,
        now: Now,
        deadlines: Deadlines,
    ) -> Step {
        let approved = payment.amount;
        let by_chip =
            self.order.kind().card_has_a_say() && self.card.as_ref().is_some_and(|card| card.entry.card_confirms());
        let host_approved = Record::HostApproved { payment: payment.id.clone(), approved, host: facts };
        if !by_chip {
            let step = self.charged(payment, None, now, deadlines);
            let mut step = self.alarm_if_done_in_part(step, approved).after(host_approved);
            if self.volatile.card_open {
                // The receipt waits for the card's final answer.
                step.actions.retain(|action| !matches!(action, Action::Print(_)));
                let answer =
                    CardAnswer { arc: arc_of(&for_chip), issuer_authentication: None, scripts: heapless::Vec::new() };
                step.actions.insert(0, Action::AnswerCard(Box::new(answer)));
            }
            return step;
        }
        if !self.volatile.card_open {
            return self.reverse(Reason::CardLost, Some(payment), None).after(host_approved);
        }
        let answer = CardAnswer {
            arc: arc_of(&for_chip),
            issuer_authentication: for_chip.issuer_authentication,
            scripts: for_chip.scripts,
        };
        Step::write([host_approved]).then([Action::AnswerCard(Box::new(answer))])
    }

    /// Returns whether a payment has an amount other than the requested one. The answer is then trusted only after a
    /// look-up.
    pub(super) fn is_another_amount(&self, payment: &Payment) -> bool {
        payment.amount != self.amount
    }

    /// Handles an approval that differs from the request. A payment is reversed. A person must handle a transaction
    /// that cannot be reversed.
    fn approved_wrongly(&mut self, why: Cause, payment: Option<Payment>, facts: HostFacts) -> Step {
        if self.order.kind().is_undone_when_unknown() {
            return self.reverse(why.clone(), payment, Some(facts)).alarm(why);
        }
        let mut step = self.confirm(why.clone()).alarm(why.clone());
        step.records.push(Record::Quarantined { why });
        step
    }

    fn declined(&mut self, refusal: Refusal) -> Step {
        let alarm = self.rest_stays(&refusal.why);
        let ended = Record::Ended {
            outcome: Outcome::Declined { why: self.as_told(refusal.why) },
            host: Some(refusal.facts),
            card: None,
            by: None,
            at_unix_ms: None,
        };
        // An issuer may decline and still send scripts (EMV Book 3, 10.10).
        let answer = CardAnswer { scripts: refusal.for_chip.scripts, ..CardAnswer::decline() };
        Step::write([ended]).then(self.answer_card(answer)).then([Action::Tell]).then(alarm)
    }

    /// Returns the cause of a decline in a form that this customer can act on. A customer who has inserted the card is
    /// not asked to insert it.
    fn as_told(&self, why: Cause) -> Cause {
        let was_tapped = self.card.as_ref().is_some_and(|card| card.entry.is_contactless());
        match why.reason {
            Reason::InsertAndPin if !was_tapped => Cause { reason: Reason::BankDeclined, ..why },
            _ => why,
        }
    }

    /// Ends a transaction whose request was not processed.
    pub(super) fn not_sent(&self, why: Cause) -> Step {
        let alarm = self.rest_stays(&why);
        self.end(Outcome::NotSent { why }, None).then(alarm)
    }

    /// Returns the alarm for a sale of which the rest is not refunded.
    pub(super) fn rest_stays(&self, why: &Cause) -> Option<Action> {
        self.order.gives_rest.then(|| Action::Alarm { why: Reason::RestNotGivenBack.with(why) })
    }
}

/// Returns whether an authorisation response code is an approval: 00, or 08 (with identification), 10 (partial) or 11
/// (VIP) from ISO 8583.
fn approves(arc: [u8; 2]) -> bool {
    matches!(&arc, b"00" | b"08" | b"10" | b"11")
}

fn contradicts_approval(for_chip: &ForChip) -> bool {
    for_chip.arc.is_some_and(|arc| !approves(arc))
}

fn says_approve(for_chip: &ForChip) -> bool {
    for_chip.arc.is_some_and(approves)
}

/// Returns the issuer's own code if it sent one, or else 00. If the field is malformed, only the gateway's result
/// decides.
fn arc_of(for_chip: &ForChip) -> [u8; 2] {
    for_chip.arc.unwrap_or(ARC_APPROVE)
}
