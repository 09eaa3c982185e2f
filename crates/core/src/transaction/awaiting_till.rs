//! The till's word: host, chip and cardholder are content, and the till that asked for it has yet to say whether it
//! takes the sale (`"confirm":"till"`).
//!
//! The money has moved already, so nothing is unknown here: not taken, the payment is reversed; taken, the sale ends as
//! approved. Taken in part it ends as approved too, and the rest is refunded: the refund is begun in the same commit,
//! so that no power cut can lose it or make two. A till that says nothing in time has said what its request left for
//! that case. After a start the till has all its time again, for it may have been cut off as well.
//!
//! A signature comes before it: what nobody compared is not the till's to take. What this is not: who may answer
//! (`till`), or how long it may take (`config`).

use std::time::Duration;

use pos_terms::card::CardFacts;
use pos_terms::money::Amount;
use pos_terms::transaction::{Earlier, Kind, OnSilence, Operation, Taken, Who};

use super::decide::{outcome_of, with_card};
use super::state::{Entering, State};
use super::{Action, Deadlines, Event, Now, Order, Paper, Payment, Reason, Record, Step, Transaction};

/// The state.
#[derive(Clone, Debug)]
pub(super) struct AwaitingTill {
    /// What was approved, and is reversed when the till does not take it.
    pub(super) payment: Payment,
    /// The slip was signed: the merchant's copy is printed already.
    pub(super) signed: bool,
    pub(super) volatile: VolatileAwaitingTill,
}

/// What a power cut may forget.
#[derive(Clone, Debug, Default)]
pub(super) struct VolatileAwaitingTill {
    /// Until when the till must have said it.
    pub(super) until: Option<Duration>,
}

impl AwaitingTill {
    pub(super) fn new(payment: Payment, signed: bool) -> Self {
        Self { payment, signed, volatile: VolatileAwaitingTill::default() }
    }
}

/// Why a part cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartMisfit {
    /// Nobody waits for the till's word.
    #[error("it does not wait for its till")]
    NotAwaited,
    /// A reservation has no rest that could be refunded.
    #[error("a pre-authorisation is taken as a whole or not at all; capture the part that is needed later")]
    NotOfReservation,
    /// It is no part.
    #[error("{part} is no part of {approved}; say all if nothing is to be given back")]
    NoPart {
        /// What the till wants to take.
        part: Amount,
        /// What was approved.
        approved: Amount,
    },
}

impl Transaction {
    /// Host, card and cardholder are content: the end, or first the till's word. `by` accepted the signature.
    pub(super) fn agreed(
        &mut self,
        payment: Payment,
        card: Option<CardFacts>,
        by: Option<Who>,
        now: Now,
        deadlines: Deadlines,
    ) -> Step {
        if self.order.till_confirms.is_some() {
            let begun = VolatileAwaitingTill { until: Some(now.monotonic + deadlines.till) };
            self.volatile.entering = Some(Entering::AwaitingTill(begun));
            return Step::write([Record::TillAsked { payment, card, by }]).then([Action::Tell]);
        }
        self.stands(payment.amount, card, by)
    }

    /// The end as approved, with its receipts.
    fn stands(&self, approved: Amount, card: Option<CardFacts>, by: Option<Who>) -> Step {
        let outcome = outcome_of(approved, self.amount);
        let signed = match &self.state {
            State::AtSignature(_) => true,
            State::AwaitingTill(awaiting) => awaiting.signed,
            _ => false,
        };
        let paper = if signed { Paper::AfterSignature } else { Paper::Copies };
        let step =
            Step::write([Record::Ended { outcome, host: None, card, by, at_unix_ms: None }]).then([Action::Tell]);
        // A card that has not had its last word prints all of it then.
        let waits = self.volatile.card_open && matches!(self.state, State::AtSignature(_) | State::AwaitingTill(_));
        if waits { step } else { step.then([Action::Print(paper)]) }
    }

    pub(super) fn handle_awaiting_till(&mut self, event: Event, now: Now, deadlines: Deadlines) -> Step {
        let State::AwaitingTill(AwaitingTill { payment, volatile, .. }) = &mut self.state else { return Step::none() };
        match event {
            Event::TillAnswered { taken, by } => {
                let payment = payment.clone();
                let (said, step) = if taken {
                    (Taken::All, self.stands(payment.amount, None, by.clone()))
                } else {
                    (Taken::Nothing, self.reverse(Reason::NotTaken, Some(payment), None).by(by.clone()))
                };
                step.after(Record::TillSaid { taken: said, by })
            }
            Event::DeadlinePassed if volatile.until.is_some_and(|until| until <= now.monotonic) => {
                let payment = payment.clone();
                match self.order.till_confirms {
                    Some(OnSilence::Keep) => self.stands(payment.amount, None, None),
                    _ => self.reverse(Reason::TillSilent, Some(payment), None),
                }
            }
            Event::Restarted => {
                volatile.until = Some(now.monotonic + deadlines.till);
                Step::act([Action::Tell])
            }
            Event::CardSaid { facts, .. } if self.volatile.card_open => {
                self.volatile.card_open = false;
                with_card(Step::none(), facts)
            }
            Event::ReaderLost => {
                self.volatile.card_open = false;
                Step::none()
            }
            _ => Step::none(),
        }
    }

    /// What is given back when the till takes this part.
    ///
    /// # Errors
    /// When it cannot take it.
    pub fn rest_of(&self, part: Amount) -> Result<Amount, PartMisfit> {
        let payment = self.awaited().ok_or(PartMisfit::NotAwaited)?;
        if self.order.kind() != Kind::Sale {
            return Err(PartMisfit::NotOfReservation);
        }
        let approved = payment.amount;
        approved.less(part).ok_or(PartMisfit::NoPart { part, approved })
    }

    /// The till takes a part: the sale ends as approved, and a refund gives back the rest. The journal writes both
    /// together. Of `names` the refund has its number, its references and its times.
    ///
    /// # Errors
    /// When it cannot take it.
    pub fn take_part(
        &mut self,
        part: Amount,
        names: Order,
        by: Option<Who>,
        now: Now,
    ) -> Result<(Step, Self, Step), PartMisfit> {
        let amount = self.rest_of(part)?;
        let payment = self.awaited().ok_or(PartMisfit::NotAwaited)?.clone();
        let of = Earlier { payment: payment.id, number: Some(self.order.number) };
        let refund = Order {
            operation: Operation::Refund { of },
            parameters: Vec::new(),
            by: by.clone(),
            amount,
            gives_rest: true,
            till_prints: self.order.till_prints,
            till_data: self.order.till_data.clone(),
            ask_tip: false,
            tip: None,
            manual: false,
            accept_partial: false,
            till_confirms: None,
            ..names
        };
        self.volatile.entering = None;
        let said = Record::TillSaid { taken: Taken::Part { amount: part }, by: by.clone() };
        let ends = self.stands(payment.amount, None, by).after(said).at(now);
        let (back, begins) = Self::begin(refund);
        Ok((ends, back, begins))
    }

    /// The payment for which the till's word is waited for.
    fn awaited(&self) -> Option<&Payment> {
        match &self.state {
            State::AwaitingTill(awaiting) if !self.is_held() => Some(&awaiting.payment),
            _ => None,
        }
    }
}
