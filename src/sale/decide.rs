//! What may happen next: transitions on the pair of state and event, up to the outcome. What follows an unknown outcome
//! is in `reversing`.

use std::time::Duration;

use crate::card::{CardFacts, FirstAnswer};
use crate::money::Amount;
use crate::transaction::{Kind, PaymentId};

use super::back_off;
use super::record::Payment;
use super::{
    ARC_APPROVE, Action, Answer, Approval, ApprovedAmount, CardAnswer, Deadlines, Event, ForChip, HostFacts, Now,
    Outcome, Paper, Poll, Reason, Record, Refusal, Sale, State, Step, Throttled, Why,
};

/// How often a pending payment is asked for: a person decides in a banking app, seconds matter little.
const POLL_EVERY: Duration = Duration::from_secs(1);

impl Sale {
    /// What `event` means for this sale. An event that means nothing in the present state gives an empty step.
    pub fn handle(&mut self, event: Event, now: Now, deadlines: Deadlines) -> Step {
        self.decide(event, now, deadlines).at(now)
    }

    fn decide(&mut self, event: Event, now: Now, deadlines: Deadlines) -> Step {
        if self.is_held() {
            return self.handle_held(event, now);
        }
        match (&self.state, event) {
            (_, Event::OldCopy { why }) => self.hold(why),
            (State::Waiting, Event::Proceed) if !self.order.kind().needs_card() => {
                Step::write([Record::Asked { card: None, again_unix_ms: None }]).then([Action::Ask, Action::Tell])
            }
            (State::Waiting, Event::TipTyped { tip }) if self.volatile.typing => self.tip_typed(tip),
            (State::Waiting, Event::CardRead { facts, first_answer }) if !self.volatile.typing => {
                self.card_read(facts, first_answer)
            }
            (State::Waiting, Event::NoCard { why }) => self.given_up(why),
            (State::Waiting, Event::ReaderLost) => self.given_up(Reason::ReaderLost.into()),
            (State::Waiting, Event::Restarted) => self.given_up(Reason::TerminalRestarted.into()),
            (State::Waiting, Event::CancelAsked { by }) if !self.volatile.cancelling => {
                self.volatile.cancelling = true;
                self.volatile.cancelled_by = by;
                Step::act([Action::StopReader])
            }

            (State::Asked, Event::Answered(answer)) => self.answered(answer, now, deadlines),
            (State::Asked, Event::CannotAsk { why }) if self.doubted => self.confirm(why),
            (State::Asked, Event::CannotAsk { why }) => self.end(Outcome::NotSent { why }, None),
            (State::Asked, Event::DeadlinePassed) => self.ask_again(now),
            (State::Asked, Event::Restarted) => self.unknown(Reason::RestartedBeforeAnswer, None),
            // A request that the gateway did not process need not be made again.
            (State::Asked, Event::CancelAsked { by }) if self.waits_to_ask_again() => {
                self.volatile.cancelled_by = by;
                self.cancelled()
            }
            // It is on its way once more: without time for it again it is not sent another time.
            (State::Asked, Event::CancelAsked { by }) if self.volatile.throttled.is_some() => {
                self.volatile.cancelling = true;
                self.volatile.cancelled_by = by;
                Step::none()
            }
            (State::Asked, Event::ReaderLost | Event::CardSaid { .. }) if self.waits_to_ask_again() => {
                self.volatile.card_open = false;
                self.end(Outcome::NotSent { why: Reason::CardGone.into() }, None)
            }
            // The host may still approve: wait for its answer, but the card can no longer confirm.
            (State::Asked, Event::ReaderLost | Event::CardSaid { .. }) => {
                self.volatile.card_open = false;
                Step::none()
            }

            (State::AtChip { payment, approved }, Event::CardSaid { confirmed: true, facts }) => {
                let payment = Payment { id: payment.clone(), amount: *approved };
                self.volatile.card_open = false;
                self.charged(payment, facts.map(|facts| *facts), now, deadlines)
            }
            (State::AtChip { .. }, Event::CardSaid { confirmed: false, facts }) => {
                self.volatile.card_open = false;
                let step = self.unconfirmed_by_card(Reason::CardRefused);
                with_card(step, facts)
            }
            (State::AtChip { .. }, Event::ReaderLost) => {
                self.volatile.card_open = false;
                self.unconfirmed_by_card(Reason::CardLost)
            }
            (State::AtChip { .. }, Event::Restarted) => self.unconfirmed_by_card(Reason::RestartedBeforeCard),

            (State::AtSignature { .. }, event) => self.handle_signature(event, now, deadlines),

            // The outcome is final; the card's last cryptogram goes on the receipt.
            (State::Ended(_), Event::CardSaid { facts, .. }) if self.volatile.card_open => {
                self.volatile.card_open = false;
                with_card(Step::none(), facts).then([Action::Print(Paper::Copies)])
            }
            (State::Ended(_), Event::ReaderLost) if self.volatile.card_open => {
                self.volatile.card_open = false;
                Step::act([Action::Print(Paper::Copies)])
            }

            (State::Reversing(_), event) => self.handle_reversing(event, now, deadlines),
            (State::Confirming(_), event) => self.handle_confirming(event, now, deadlines),
            _ => Step::none(),
        }
    }

    /// What is charged from here on is amount and tip together.
    fn tip_typed(&mut self, tip: Option<Amount>) -> Step {
        if self.volatile.cancelling {
            return self.cancelled();
        }
        let total = match tip {
            None => self.order.amount,
            Some(tip) => match self.order.amount.plus(tip) {
                Ok(total) => total,
                Err(error) => return self.given_up(Reason::TipNotPossible.with(error)),
            },
        };
        self.volatile.typing = false;
        Step::write([Record::TipTyped { tip, total }]).then([Action::Arm, Action::Tell])
    }

    fn card_read(&mut self, facts: CardFacts, first_answer: FirstAnswer) -> Step {
        self.volatile.card_open = true;
        if self.volatile.cancelling {
            // Read in the moment of the cancel: never sent, never kept for the next sale (design: invariant 5).
            return self.cancelled();
        }
        match first_answer {
            // A credit's AAC is the normal answer (design: path of a sale, 7).
            FirstAnswer::Declined if self.order.kind().card_has_a_say() => {
                let mut step = self.end(Outcome::Declined { why: Reason::CardDeclined.into() }, None);
                step.records.insert(0, Record::CardFinal { card: facts });
                step
            }
            FirstAnswer::Declined | FirstAnswer::GoOnline => {
                Step::write([Record::Asked { card: Some(facts), again_unix_ms: None }])
                    .then([Action::Ask, Action::Tell])
            }
        }
    }

    fn answered(&mut self, answer: Answer, now: Now, deadlines: Deadlines) -> Step {
        let polling = self.volatile.poll.is_some();
        match answer {
            // Not carried out this time, perhaps because an earlier request without an answer was: only a look can
            // tell.
            Answer::Declined(refusal) | Answer::Throttled(refusal) if self.doubted => self.confirm(refusal.why),
            Answer::NotSent { why } if self.doubted => self.confirm(why),
            Answer::Approved(ref approval) if self.is_another(&approval.id) => self.another_payment(&approval.id),
            Answer::Pending { ref id } if self.is_another(id) => self.another_payment(id),
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
            Answer::Pending { id } => {
                let until = match &self.volatile.poll {
                    Some(poll) => poll.until,
                    None => now.monotonic + deadlines.pending,
                };
                if now.monotonic >= until {
                    return self.unknown(Reason::NotDecidedInTime, None);
                }
                let first = self.volatile.poll.is_none();
                self.volatile.poll = Some(Poll { payment: id.clone(), at: now.monotonic + POLL_EVERY, until });
                let step = if first { Step::write([Record::Pending { payment: id }]) } else { Step::none() };
                step.then([Action::Tell])
            }
            // A question for a pending payment that got no answer says nothing about the payment.
            Answer::Throttled(_) | Answer::NotSent { .. } | Answer::Unknown { .. } if polling => {
                let Some(poll) = &mut self.volatile.poll else { return Step::none() };
                if now.monotonic >= poll.until {
                    return self.unknown(Reason::NotDecidedInTime, None);
                }
                poll.at = now.monotonic + POLL_EVERY;
                Step::none()
            }
            Answer::Throttled(refusal) => self.throttled(*refusal, now, deadlines),
            Answer::NotSent { why } => self.end(Outcome::NotSent { why }, None),
            Answer::Unknown { why } => self.unknown(why, None),
            Answer::NotOurs { why } => self.unknown(why.clone(), None).alarm(why),
        }
    }

    /// Whether an answer names another payment than the pending one that was asked for. One that names none proves
    /// nothing.
    fn is_another(&self, id: &PaymentId) -> bool {
        self.volatile.poll.as_ref().is_some_and(|poll| poll.payment != *id)
    }

    fn another_payment(&mut self, id: &PaymentId) -> Step {
        let why = Reason::AnotherPaymentAnswered.with(id);
        self.unknown(why.clone(), None).alarm(why)
    }

    /// Nobody knows whether the money moved: a payment is reversed, what was decided before is looked up and carried
    /// out.
    fn unknown(&mut self, why: impl Into<Why>, host: Option<HostFacts>) -> Step {
        if self.order.kind().is_undone_when_unknown() { self.reverse(why, None, host) } else { self.confirm(why) }
    }

    /// Too many requests, not processed: this alone permits to send it again (design: result codes), a little later, as
    /// long as the cardholder's patience and the chip's last.
    fn throttled(&mut self, refusal: Refusal, now: Now, deadlines: Deadlines) -> Step {
        if self.volatile.cancelling {
            return self.cancelled();
        }
        let throttled = self.volatile.throttled.get_or_insert(Throttled {
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
        self.end(Outcome::NotSent { why: refusal.why }, Some(refusal.facts))
    }

    pub(super) fn waits_to_ask_again(&self) -> bool {
        self.volatile.throttled.as_ref().is_some_and(|throttled| throttled.at.is_some())
    }

    fn ask_again(&mut self, now: Now) -> Step {
        if let Some(throttled) =
            self.volatile.throttled.as_mut().filter(|it| it.at.is_some_and(|at| at <= now.monotonic))
        {
            throttled.at = None;
            let again_unix_ms = (self.tries > 1).then_some(now.unix_ms);
            return Step::write([Record::Asked { card: self.card.clone(), again_unix_ms }]).then([Action::Ask]);
        }
        match &mut self.volatile.poll {
            Some(poll) if now.monotonic >= poll.at => {
                // The answer sets the next time; until then nothing is due.
                poll.at = Duration::MAX;
                Step::act([Action::Poll { payment: poll.payment.clone() }])
            }
            _ => Step::none(),
        }
    }

    fn approved(&mut self, approval: Approval, now: Now, deadlines: Deadlines) -> Step {
        let Approval { id, amount, for_chip, facts } = approval;
        let asked = self.amount;
        let approved = match amount {
            // Absent fields prove nothing.
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
        if contradicts_approval(&for_chip) {
            let why = Reason::ChipContradicted;
            return if self.order.kind().is_undone_when_unknown() {
                self.reverse(why, Some(payment), Some(facts))
            } else {
                self.confirm(why)
            };
        }
        if approved != asked && self.order.kind().till_may_refuse_a_part() && !self.order.accept_partial {
            return self.reverse(Reason::PartialNotTaken.with(approved), Some(payment), Some(facts));
        }
        let by_chip =
            self.order.kind().card_has_a_say() && self.card.as_ref().is_some_and(|card| card.entry.card_confirms());
        let host_approved = Record::HostApproved { payment: payment.id.clone(), approved, host: facts };
        if !by_chip {
            let step = self.charged(payment, None, now, deadlines);
            let mut step = self.alarm_of_a_part(step, approved);
            step.records.insert(0, host_approved);
            if self.volatile.card_open {
                // The paper waits for the card's last word.
                step.actions.retain(|action| !matches!(action, Action::Print(_)));
                let answer =
                    CardAnswer { arc: arc_of(&for_chip), issuer_authentication: None, scripts: heapless::Vec::new() };
                step.actions.insert(0, Action::AnswerCard(Box::new(answer)));
            }
            return step;
        }
        if !self.volatile.card_open {
            let mut step = self.reverse(Reason::CardLost, Some(payment), None);
            step.records.insert(0, host_approved);
            return step;
        }
        let answer = CardAnswer {
            arc: arc_of(&for_chip),
            issuer_authentication: for_chip.issuer_authentication,
            scripts: for_chip.scripts,
        };
        Step::write([host_approved]).then([Action::AnswerCard(Box::new(answer))])
    }

    /// Not what was asked for: a payment goes back; what cannot be undone is for a person.
    fn approved_wrongly(&mut self, why: Why, payment: Option<Payment>, facts: HostFacts) -> Step {
        if self.order.kind().is_undone_when_unknown() {
            return self.reverse(why.clone(), payment, Some(facts)).alarm(why);
        }
        let mut step = self.confirm(why.clone()).alarm(why.clone());
        step.records.push(Record::Quarantined { why });
        step
    }

    /// No gateway should reverse a part of what it was asked for. The till hears the part, and can have the rest
    /// reversed.
    pub(super) fn alarm_of_a_part(&self, step: Step, amount: Amount) -> Step {
        match self.order.kind() {
            Kind::Reversal if amount != self.amount => step.alarm(Reason::ReversedInPart.with(amount)),
            _ => step,
        }
    }

    fn declined(&mut self, refusal: Refusal) -> Step {
        let ended = Record::Ended {
            outcome: Outcome::Declined { why: refusal.why },
            host: Some(refusal.facts),
            card: None,
            by: None,
            at_unix_ms: None,
        };
        // An issuer may decline and still send scripts (EMV Book 3, 10.10).
        let answer = CardAnswer { scripts: refusal.for_chip.scripts, ..CardAnswer::decline() };
        Step::write([ended]).then(self.answer_card(answer)).then([Action::Tell])
    }

    /// Cancelled at the till, or by a terminal that is being stopped.
    fn cancelled(&mut self) -> Step {
        let reason = if self.volatile.cancelled_by.is_some() { Reason::TillCancelled } else { Reason::TerminalStopped };
        self.end(Outcome::Cancelled { why: reason.into() }, None)
    }

    /// Nothing was sent: the customer or the till gave up, or the terminal could not go on.
    fn given_up(&mut self, why: Why) -> Step {
        match why.reason {
            Reason::TillCancelled => self.cancelled(),
            reason if reason.is_terminals_fault() => self.end(Outcome::NotSent { why }, None),
            _ => self.end(Outcome::Cancelled { why }, None),
        }
    }

    /// Ends the sale without a charge; an open card is told, and the receipt waits for its last word. Where no card was
    /// read, nobody needs a receipt.
    fn end(&mut self, outcome: Outcome, host: Option<HostFacts>) -> Step {
        let by = self.volatile.cancelled_by.clone().filter(|_| matches!(outcome, Outcome::Cancelled { .. }));
        let step = Step::write([Record::Ended { outcome, host, card: None, by, at_unix_ms: None }]);
        let never_read = self.order.kind().needs_card() && self.card.is_none() && !self.volatile.card_open;
        let step = if never_read { step } else { step.then(self.answer_card(CardAnswer::decline())) };
        step.then([Action::Tell])
    }

    /// The card's answer when a card is there; else the receipt, which has no card to wait for.
    pub(super) fn answer_card(&self, answer: CardAnswer) -> [Action; 1] {
        let print = Action::Print(Paper::Copies);
        if self.volatile.card_open { [Action::AnswerCard(Box::new(answer))] } else { [print] }
    }

    /// Reverses the payment of [`State::AtChip`].
    fn unconfirmed_by_card(&mut self, why: Reason) -> Step {
        let State::AtChip { payment, approved } = &self.state else {
            return Step::none();
        };
        let payment = Payment { id: payment.clone(), amount: *approved };
        self.reverse(why, Some(payment), None)
    }
}

/// The card's last word, written first.
pub(super) fn with_card(mut step: Step, facts: Option<Box<CardFacts>>) -> Step {
    if let Some(facts) = facts {
        step.records.insert(0, Record::CardFinal { card: *facts });
    }
    step
}

pub(super) fn outcome_of(approved: Amount, asked: Amount) -> Outcome {
    if approved == asked { Outcome::Approved } else { Outcome::PartiallyApproved { amount: approved } }
}

/// Authorisation response codes that approve: 00, and ISO 8583's 10 (partial), 11 (VIP), 08 (with identification).
fn approves(arc: [u8; 2]) -> bool {
    matches!(&arc, b"00" | b"08" | b"10" | b"11")
}

fn contradicts_approval(for_chip: &ForChip) -> bool {
    for_chip.arc.is_some_and(|arc| !approves(arc))
}

fn says_approve(for_chip: &ForChip) -> bool {
    for_chip.arc.is_some_and(approves)
}

/// The host's own code when it sent one, else 00: a malformed answer leaves the result alone to decide.
fn arc_of(for_chip: &ForChip) -> [u8; 2] {
    for_chip.arc.unwrap_or(ARC_APPROVE)
}
