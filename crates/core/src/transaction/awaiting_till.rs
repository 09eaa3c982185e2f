//! The till's confirmation that it accepts the approved amount (`"confirm":"till"`). The gateway, the chip and the
//! cardholder have already agreed.
//!
//! The money has moved, so nothing is unknown here. If the till refuses the amount, the payment is reversed. If the
//! till accepts it, the transaction ends as approved. If the till accepts a part, the transaction also ends as
//! approved, and the rest is refunded. The refund begins in the same commit, so a power cut can neither lose it nor
//! create two refunds. The request says what happens if the till does not answer in time. After a restart the till
//! again has the full time, because it may have lost its connection or its power too.
//!
//! The signature comes first: the till cannot accept a payment whose signature is unchecked. Other modules decide who
//! may answer (`till`) and how long the answer may take (`config`).

use std::time::Duration;

use pos_terms::card::CardFacts;
use pos_terms::money::Amount;
use pos_terms::transaction::{Earlier, Kind, OnSilence, Operation, Taken, Who};

use super::decide::{outcome_of, with_card};
use super::state::{Entering, State};
use super::{Action, Deadlines, Event, Now, Order, Paper, Payment, Reason, Record, Step, Transaction};

/// The state in which the agent waits for the till's answer.
#[derive(Clone, Debug)]
pub(super) struct AwaitingTill {
    /// The approved payment. It is reversed if the till does not accept it.
    pub(super) payment: Payment,
    /// True if the cardholder signed the slip. The merchant's copy has then already been printed.
    pub(super) signed: bool,
    pub(super) volatile: VolatileAwaitingTill,
}

/// The part of the state that a power cut may erase.
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

/// The reason why the till cannot accept a part of the amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartMisfit {
    /// The transaction does not wait for the till's answer.
    #[error("it is not waiting for its till")]
    NotAwaited,
    /// The transaction is a reservation, of which no part can be refunded.
    #[error("a pre-authorisation is confirmed as a whole or not at all; capture the needed part later")]
    NotOfReservation,
    /// The amount is not a part of the approved amount.
    #[error("{part} is not a part of {approved}; send all to keep the whole amount")]
    NoPart {
        /// The amount that the till wants to accept.
        part: Amount,
        /// The approved amount.
        approved: Amount,
    },
}

impl Transaction {
    /// Continues after the gateway, the card and the cardholder have agreed: asks the till if required, or ends the
    /// transaction. `by` is the person who accepted the signature.
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
        // If the card has not given its final answer, all copies are printed after that answer.
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

    /// Returns the amount to refund if the till accepts this part.
    ///
    /// # Errors
    /// Returns the reason why the till cannot accept this part.
    pub fn rest_of(&self, part: Amount) -> Result<Amount, PartMisfit> {
        let payment = self.awaited().ok_or(PartMisfit::NotAwaited)?;
        if self.order.kind() != Kind::Sale {
            return Err(PartMisfit::NotOfReservation);
        }
        let approved = payment.amount;
        approved.less(part).ok_or(PartMisfit::NoPart { part, approved })
    }

    /// Accepts a part: the transaction ends as approved, and a refund gives back the rest. The journal writes both
    /// together. `names` provides the number, the references and the times of the refund.
    ///
    /// # Errors
    /// Returns the reason why the till cannot accept this part.
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

    /// Returns the payment that waits for the till's answer.
    fn awaited(&self) -> Option<&Payment> {
        match &self.state {
            State::AwaitingTill(awaiting) if !self.is_held() => Some(&awaiting.payment),
            _ => None,
        }
    }
}
