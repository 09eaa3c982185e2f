//! The transition for each pair of state and event. `asked` contains the transitions of a request, and `gateway_answer`
//! the meaning of its answer. `reversing` and `finishing` contain the steps after an unknown outcome.

use pos_terms::card::{CardFacts, FirstAnswer};
use pos_terms::money::Amount;

use super::state::{Cancel, State, VolatileWaiting, Waiting};
use super::{
    Action, CardAnswer, Cause, Deadlines, Event, HostFacts, Now, Outcome, Paper, Payment, Reason, Record, Step,
    Transaction,
};

impl Transaction {
    /// Applies an event to this transaction. An event that has no meaning in the current state gives an empty step.
    pub fn handle(&mut self, event: Event, now: Now, deadlines: Deadlines) -> Step {
        self.volatile.entering = None;
        self.decide(event, now, deadlines).at(now)
    }

    fn decide(&mut self, event: Event, now: Now, deadlines: Deadlines) -> Step {
        if self.is_held() {
            return self.handle_held(event);
        }
        match (&self.state, event) {
            (_, Event::OldCopy { why }) => self.hold(why),
            (State::Waiting(_), event) => self.handle_waiting(event),
            (State::Asked(_), event) => self.handle_asked(event, now, deadlines),
            (State::AtChip(chip), event) if chip.in_doubt => self.handle_part(event, now, deadlines),
            (State::AtChip(chip), event) => {
                let payment = chip.payment.clone();
                self.handle_chip(payment, event, now, deadlines)
            }
            (State::AtSignature(_), event) => self.handle_signature(event, now, deadlines),
            (State::AwaitingTill(_), event) => self.handle_awaiting_till(event, now, deadlines),
            (State::Reversing(_), event) => self.handle_reversing(event, now, deadlines),
            (State::Finishing(_), event) => self.handle_confirming(event, now, deadlines),
            (State::Ended(_), event) => self.handle_ended(event),
        }
    }

    fn handle_waiting(&mut self, event: Event) -> Step {
        let State::Waiting(Waiting { volatile: VolatileWaiting { typing } }) = self.state else { return Step::none() };
        match event {
            // Nothing has been sent yet. The refund continues, because it is owed to the customer.
            Event::Restarted if self.order.gives_rest => self.handle_waiting(Event::Proceed),
            Event::CancelAsked { .. } if self.order.gives_rest => Step::none(),
            Event::Proceed if !self.order.kind().needs_card() => {
                Step::write([Record::Asked { card: None, again_unix_ms: None }]).then([Action::Ask, Action::Tell])
            }
            Event::TipTyped { tip } if typing => self.tip_typed(tip),
            Event::CardRead { facts, first_answer } if !typing => self.card_read(facts, first_answer),
            Event::NoCard { why } => self.given_up(why),
            Event::ReaderLost => self.given_up(Reason::ReaderLost.into()),
            Event::Restarted => self.given_up(Reason::TerminalRestarted.into()),
            Event::CancelAsked { by } if self.volatile.cancel.is_none() => {
                self.volatile.cancel = Some(Cancel { by });
                Step::act([Action::StopReader])
            }
            _ => Step::none(),
        }
    }

    /// Handles events after the gateway approved. If the chip does not confirm the payment, it is reversed.
    fn handle_chip(&mut self, payment: Payment, event: Event, now: Now, deadlines: Deadlines) -> Step {
        match event {
            Event::CardSaid { confirmed: true, facts } => {
                self.volatile.card_open = false;
                self.charged(payment, facts.map(|facts| *facts), now, deadlines)
            }
            Event::CardSaid { confirmed: false, facts } => {
                self.volatile.card_open = false;
                with_card(self.reverse(Reason::CardRefused, Some(payment), None), facts)
            }
            Event::ReaderLost => {
                self.volatile.card_open = false;
                self.reverse(Reason::CardLost, Some(payment), None)
            }
            Event::Restarted => self.reverse(Reason::RestartedBeforeCard, Some(payment), None),
            _ => Step::none(),
        }
    }

    /// Handles events after the end. The outcome is final, but the card's last cryptogram is still added to the
    /// receipt.
    fn handle_ended(&mut self, event: Event) -> Step {
        match event {
            Event::CardSaid { facts, .. } if self.volatile.card_open => {
                self.volatile.card_open = false;
                with_card(Step::none(), facts).then([Action::Print(Paper::Copies)])
            }
            Event::ReaderLost if self.volatile.card_open => {
                self.volatile.card_open = false;
                Step::act([Action::Print(Paper::Copies)])
            }
            _ => Step::none(),
        }
    }

    /// Records the typed tip. After this, the amount to charge includes the tip.
    fn tip_typed(&mut self, tip: Option<Amount>) -> Step {
        if self.volatile.cancel.is_some() {
            return self.cancelled();
        }
        let total = match tip {
            None => self.order.amount,
            Some(tip) => match self.order.amount.plus(tip) {
                Ok(total) => total,
                Err(error) => return self.given_up(Reason::TipNotPossible.with(error)),
            },
        };
        if let State::Waiting(waiting) = &mut self.state {
            waiting.volatile.typing = false;
        }
        Step::write([Record::TipTyped { tip, total }]).then([Action::Arm, Action::Tell])
    }

    fn card_read(&mut self, facts: CardFacts, first_answer: FirstAnswer) -> Step {
        self.volatile.card_open = true;
        if self.volatile.cancel.is_some() {
            // The card was read at the moment of the cancel. Its data is never sent, and never kept for the next
            // transaction (design: invariant 5).
            return self.cancelled();
        }
        match first_answer {
            // A credit's AAC is the normal answer (design: path of a sale, 7).
            FirstAnswer::Declined if self.order.kind().card_may_decline() => {
                let why = Reason::CardDeclined.into();
                self.end(Outcome::Declined { why }, None).after(Record::CardFinal { card: facts })
            }
            FirstAnswer::Declined | FirstAnswer::GoOnline => {
                Step::write([Record::Asked { card: Some(facts), again_unix_ms: None }])
                    .then([Action::Ask, Action::Tell])
            }
        }
    }

    /// Ends a transaction that the till or a stopping terminal cancelled.
    pub(super) fn cancelled(&self) -> Step {
        let by = self.volatile.cancel.as_ref().and_then(|cancel| cancel.by.as_ref());
        let reason = if by.is_some() { Reason::TillCancelled } else { Reason::TerminalStopped };
        self.end(Outcome::Cancelled { why: reason.into() }, None)
    }

    /// Ends a transaction before anything was sent, because the customer or the till cancelled or the terminal could
    /// not continue.
    fn given_up(&self, why: Cause) -> Step {
        match why.reason {
            Reason::TillCancelled => self.cancelled(),
            reason if reason.is_terminals_fault() => self.end(Outcome::NotSent { why }, None),
            _ => self.end(Outcome::Cancelled { why }, None),
        }
    }

    /// Ends the transaction without a charge. If a card is waiting, it gets its answer, and the receipt is printed
    /// after the card's final answer. Without a card, no receipt is printed.
    pub(super) fn end(&self, outcome: Outcome, host: Option<HostFacts>) -> Step {
        let by = self.volatile.cancel.clone().and_then(|cancel| cancel.by);
        let by = by.filter(|_| matches!(outcome, Outcome::Cancelled { .. }));
        let step = Step::write([Record::Ended { outcome, host, card: None, by, at_unix_ms: None }]);
        let never_read = self.order.kind().needs_card() && self.card.is_none() && !self.volatile.card_open;
        let step = if never_read { step } else { step.then(self.answer_card(CardAnswer::decline())) };
        step.then([Action::Tell])
    }

    /// Answers the card, or prints the receipt if there is no card to wait for.
    pub(super) fn answer_card(&self, answer: CardAnswer) -> [Action; 1] {
        let print = Action::Print(Paper::Copies);
        if self.volatile.card_open { [Action::AnswerCard(Box::new(answer))] } else { [print] }
    }
}

/// Writes the final card data before the step's own records.
pub(super) fn with_card(step: Step, facts: Option<Box<CardFacts>>) -> Step {
    match facts {
        Some(card) => step.after(Record::CardFinal { card: *card }),
        None => step,
    }
}

pub(super) fn outcome_of(approved: Amount, asked: Amount) -> Outcome {
    if approved == asked { Outcome::Approved } else { Outcome::PartiallyApproved { amount: approved } }
}
