//! The till's answer whether it takes the approved amount (`"confirm":"till"`). Gateway, chip and cardholder have
//! already agreed.
//!
//! The money has moved, so nothing is unknown here. When the till does not take it, the payment is reversed. When the
//! till takes it, the transaction ends as approved. When the till takes a part, it also ends as approved, and the rest
//! is refunded. The refund begins in the same commit, so a power cut can neither lose it nor create two. When the till
//! does not answer in time, its request says what happens. After a restart the till has the full time again, because it
//! may have been cut off too.
//!
//! The signature comes first: the till cannot take a payment whose signature is unchecked. This module does not decide
//! who may answer (`till`), or how long that may take (`config`).

use std::time::Duration;

use pos_terms::card::CardFacts;
use pos_terms::money::Amount;
use pos_terms::transaction::{Earlier, Kind, OnSilence, Operation, Taken, Who};

use super::decide::{outcome_of, with_card};
use super::state::{Entering, State};
use super::{Action, Deadlines, Event, Now, Order, Paper, Payment, Reason, Record, Step, Transaction};

/// The state in which the till's answer is awaited.
#[derive(Clone, Debug)]
pub(super) struct AwaitingTill {
    /// The approved payment. It is reversed when the till does not take it.
    pub(super) payment: Payment,
    /// True if the slip was signed. The merchant's copy is then printed already.
    pub(super) signed: bool,
    pub(super) volatile: VolatileAwaitingTill,
}

/// The part that a power cut may forget.
#[derive(Clone, Debug, Default)]
pub(super) struct VolatileAwaitingTill {
    /// The deadline for the till's answer.
    pub(super) until: Option<Duration>,
}

impl AwaitingTill {
    pub(super) fn new(payment: Payment, signed: bool) -> Self {
        Self { payment, signed, volatile: VolatileAwaitingTill::default() }
    }
}

/// The reason why a part cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartMisfit {
    /// The till's answer is not awaited.
    #[error("it does not wait for its till")]
    NotAwaited,
    /// A reservation has no rest that could be refunded.
    #[error("a pre-authorisation is confirmed as a whole or not at all; capture the needed part later")]
    NotOfReservation,
    /// The amount is not a part of the approved amount.
    #[error("{part} is not a part of {approved}; send all to keep the whole amount")]
    NoPart {
        /// The amount that the till wants to take.
        part: Amount,
        /// The approved amount.
        approved: Amount,
    },
}

impl Transaction {
    /// Continues after gateway, card and cardholder have agreed: ends the transaction, or first asks the till. `by`
    /// accepted the signature.
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

    /// Ends the transaction as approved, with its receipts.
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
        // A card that has not given its final answer prints all copies afterwards.
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

    /// Returns the amount to refund when the till takes this part.
    ///
    /// # Errors
    /// When the till cannot take it.
    pub fn rest_of(&self, part: Amount) -> Result<Amount, PartMisfit> {
        let payment = self.awaited().ok_or(PartMisfit::NotAwaited)?;
        if self.order.kind() != Kind::Sale {
            return Err(PartMisfit::NotOfReservation);
        }
        let approved = payment.amount;
        approved.less(part).ok_or(PartMisfit::NoPart { part, approved })
    }

    /// Takes a part: the transaction ends as approved, and a refund gives back the rest. The journal writes both
    /// together. The refund takes its number, its references and its times from `names`.
    ///
    /// # Errors
    /// When the till cannot take it.
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

    /// Returns the payment for which the till's answer is awaited.
    fn awaited(&self) -> Option<&Payment> {
        match &self.state {
            State::AwaitingTill(awaiting) if !self.is_held() => Some(&awaiting.payment),
            _ => None,
        }
    }
}
