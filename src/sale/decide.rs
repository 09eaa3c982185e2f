//! What may happen next: transitions on the pair of state and event, up to the outcome. What follows an unknown outcome is in
//! `reversing`.

use std::time::Duration;

use crate::card::{CardFacts, FirstAnswer};
use crate::money::Amount;

use super::record::Payment;
use super::{
    ARC_APPROVE, Action, Answer, Approval, ApprovedAmount, CardAnswer, Deadlines, Event, ForChip, HostFacts, Now,
    Outcome, Paper, Poll, Record, Refusal, Sale, State, Step,
};

/// How often a pending payment is asked for: a person decides in a banking app, seconds matter little.
const POLL_EVERY: Duration = Duration::from_secs(1);

impl Sale {
    /// What `event` means for this sale. An event that means nothing in the present state gives an empty step.
    pub fn handle(&mut self, event: Event, now: Now, deadlines: Deadlines) -> Step {
        match (&self.state, event) {
            (State::Waiting, Event::TipTyped { tip }) if self.volatile.typing => self.tip_typed(tip),
            (State::Waiting, Event::CardRead { facts, first_answer }) if !self.volatile.typing => {
                self.card_read(facts, first_answer)
            }
            (State::Waiting, Event::NoCard { why }) => self.end(Outcome::Cancelled { why }, None),
            (State::Waiting, Event::ReaderLost) => self.cancelled("the reader went away before a card was read"),
            (State::Waiting, Event::Restarted) => self.cancelled("the terminal was restarted before a card was read"),
            (State::Waiting, Event::CancelAsked) if !self.volatile.cancelling => {
                self.volatile.cancelling = true;
                Step::act([Action::StopReader])
            }

            (State::Asked, Event::Answered(answer)) => self.answered(answer, now, deadlines),
            (State::Asked, Event::CannotAsk { why }) => self.end(Outcome::NotSent { why }, None),
            (State::Asked, Event::DeadlinePassed) => self.poll_again(now),
            (State::Asked, Event::Restarted) => {
                self.reverse("the terminal was restarted before the gateway's answer was kept", None, None)
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
                let step = self.unconfirmed_by_card("the card refused after the host had approved");
                with_card(step, facts)
            }
            (State::AtChip { .. }, Event::ReaderLost) => {
                self.volatile.card_open = false;
                self.unconfirmed_by_card("the card or the reader was lost before it confirmed the approval")
            }
            (State::AtChip { .. }, Event::Restarted) => {
                self.unconfirmed_by_card("the terminal was restarted before the card confirmed the approval")
            }

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
            _ => Step::none(),
        }
    }

    /// What is charged from here on is amount and tip together.
    fn tip_typed(&mut self, tip: Option<Amount>) -> Step {
        if self.volatile.cancelling {
            return self.cancelled("cancelled at the till");
        }
        let total = match tip {
            None => self.order.amount,
            Some(tip) => match self.order.amount.plus(tip) {
                Ok(total) => total,
                Err(error) => return self.cancelled(&format!("amount and tip together cannot be charged: {error}")),
            },
        };
        self.volatile.typing = false;
        Step::write([Record::TipTyped { tip, total }]).then([Action::Arm, Action::Tell])
    }

    fn card_read(&mut self, facts: CardFacts, first_answer: FirstAnswer) -> Step {
        self.volatile.card_open = true;
        if self.volatile.cancelling {
            // Read in the moment of the cancel: never sent, never kept for the next sale (design: invariant 5).
            return self.cancelled("cancelled at the till");
        }
        match first_answer {
            FirstAnswer::Declined => {
                let why = "the card declined".to_owned();
                let mut step = self.end(Outcome::Declined { why }, None);
                step.records.insert(0, Record::CardFinal { card: facts });
                step
            }
            FirstAnswer::GoOnline => Step::write([Record::Asked { card: facts }]).then([Action::Ask, Action::Tell]),
        }
    }

    fn answered(&mut self, answer: Answer, now: Now, deadlines: Deadlines) -> Step {
        let polling = self.volatile.poll.is_some();
        match answer {
            Answer::Approved(approval) => self.approved(*approval, now, deadlines),
            Answer::Declined(refusal) if says_approve(&refusal.for_chip) => {
                let why = "the gateway declined, but its answer to the chip says approved";
                self.reverse(why, None, Some(refusal.facts))
            }
            Answer::Declined(refusal) => self.declined(*refusal),
            Answer::Pending { id } => {
                let until = match &self.volatile.poll {
                    Some(poll) => poll.until,
                    None => now.monotonic + deadlines.pending,
                };
                if now.monotonic >= until {
                    return self.reverse("the gateway did not decide in time", None, None);
                }
                self.volatile.poll = Some(Poll { payment: id, at: now.monotonic + POLL_EVERY, until });
                Step::act([Action::Tell])
            }
            // A question for a pending payment that got no answer says nothing about the payment.
            Answer::Throttled(_) | Answer::NotSent { .. } | Answer::Unknown { .. } if polling => {
                let Some(poll) = &mut self.volatile.poll else { return Step::none() };
                if now.monotonic >= poll.until {
                    return self.reverse("the gateway did not decide in time", None, None);
                }
                poll.at = now.monotonic + POLL_EVERY;
                Step::none()
            }
            Answer::Throttled(refusal) => {
                let why = format!("the gateway has too many requests ({}); try again", refusal.reason);
                self.end(Outcome::NotSent { why }, Some(refusal.facts))
            }
            Answer::NotSent { why } => self.end(Outcome::NotSent { why }, None),
            Answer::Unknown { why } => self.reverse(&why, None, None),
        }
    }

    fn poll_again(&mut self, now: Now) -> Step {
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
                let why = format!("the gateway approved {said} instead of {asked}");
                return self.reverse(&why, Some(Payment { id, amount: said }), Some(facts));
            }
            ApprovedAmount::Unreadable => {
                return self.reverse("the gateway approved an amount that cannot be read", None, Some(facts));
            }
        };
        let payment = Payment { id, amount: approved };
        if contradicts_approval(&for_chip) {
            let why = "the gateway approved, but its answer to the chip says declined";
            return self.reverse(why, Some(payment), Some(facts));
        }
        let by_chip = self.card.as_ref().is_some_and(|card| card.entry.card_confirms());
        let host_approved = Record::HostApproved { payment: payment.id.clone(), approved, host: facts };
        if !by_chip {
            let mut step = self.charged(payment, None, now, deadlines);
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
            let mut step = self.reverse("the card was gone when the host approved", Some(payment), None);
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

    fn declined(&mut self, refusal: Refusal) -> Step {
        let ended =
            Record::Ended { outcome: Outcome::Declined { why: refusal.reason }, host: Some(refusal.facts), card: None };
        // An issuer may decline and still send scripts (EMV Book 3, 10.10).
        let answer = CardAnswer { scripts: refusal.for_chip.scripts, ..CardAnswer::decline() };
        Step::write([ended]).then(self.answer_card(answer)).then([Action::Tell])
    }

    fn cancelled(&mut self, why: &str) -> Step {
        self.end(Outcome::Cancelled { why: why.to_owned() }, None)
    }

    /// Ends the sale without a charge; an open card is told, and the receipt waits for its last word. Where no card was
    /// read, nobody needs a receipt.
    fn end(&mut self, outcome: Outcome, host: Option<HostFacts>) -> Step {
        let step = Step::write([Record::Ended { outcome, host, card: None }]);
        let never_read = self.card.is_none() && !self.volatile.card_open;
        let step = if never_read { step } else { step.then(self.answer_card(CardAnswer::decline())) };
        step.then([Action::Tell])
    }

    /// The card's answer when a card is there; else the receipt, which has no card to wait for.
    pub(super) fn answer_card(&self, answer: CardAnswer) -> [Action; 1] {
        let print = Action::Print(Paper::Copies);
        if self.volatile.card_open { [Action::AnswerCard(Box::new(answer))] } else { [print] }
    }

    /// Reverses the payment of [`State::AtChip`].
    fn unconfirmed_by_card(&mut self, why: &str) -> Step {
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
