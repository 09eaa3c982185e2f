//! The states of a transaction. Each state is a struct, so a field exists only in the state in which it has a meaning.
//!
//! Only `Transaction::apply` changes the recorded data, both live and in replay. A field named `volatile` holds data
//! that a power cut may erase. `apply` creates this data with its state, or moves it to the next state, and never
//! changes it.

use pos_terms::card::CardFacts;
use pos_terms::transaction::Who;

use super::asked::Asked;
use super::awaiting_till::{AwaitingTill, VolatileAwaitingTill};
use super::finishing::Finishing;
use super::part::VolatilePart;
use super::reversing::{Reversing, VolatileReversing};
use super::signature::{AtSignature, VolatileSignature};
use super::{HostFacts, Outcome, Payment, Reason, Record, Transaction};

/// The state of a transaction.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a sale has one, in its own place")]
pub(super) enum State {
    Waiting(Waiting),
    Asked(Asked),
    AtChip(AtChip),
    AtSignature(AtSignature),
    AwaitingTill(AwaitingTill),
    Reversing(Reversing),
    Finishing(Finishing),
    Ended(Outcome),
}

/// The state that waits for a card, or for the request if no card is needed.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    pub(super) volatile: VolatileWaiting,
}

#[derive(Clone, Debug, Default)]
pub(super) struct VolatileWaiting {
    /// True while the cardholder is asked for a tip. The card is read afterwards.
    pub(super) typing: bool,
}

/// The state after the gateway approved. The chip must still confirm, or a partial approval is looked up first.
#[derive(Clone, Debug)]
pub(super) struct AtChip {
    /// The approved payment.
    pub(super) payment: Payment,
    /// True if the payment is a part of the requested amount, and no look-up has shown yet that exactly this part is
    /// booked.
    pub(super) in_doubt: bool,
    pub(super) volatile: VolatilePart,
}

/// Data that a power cut may erase and that more than one state needs. Outside `Transaction::apply`, only this data and
/// the states' own `volatile` fields change.
#[derive(Clone, Debug, Default)]
pub(super) struct Volatile {
    /// True if the card waits for its answer, or has its answer and has not confirmed it. This may be so in any later
    /// state. The receipt is printed after the last cryptogram.
    pub(super) card_open: bool,
    /// A request to cancel. The reader was told to stop, or a request that was not processed is not sent again.
    pub(super) cancel: Option<Cancel>,
    /// The volatile part of the state that the current step enters.
    pub(super) entering: Option<Entering>,
}

/// A request to cancel.
#[derive(Clone, Debug)]
pub(super) struct Cancel {
    /// The person or program; `None` if the terminal is being stopped.
    pub(super) by: Option<Who>,
}

/// The initial volatile data of a state that a step enters. After a power cut this data is missing, and the state
/// begins without it.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "it moves into the sale's state at once")]
pub(super) enum Entering {
    AtSignature(VolatileSignature),
    AwaitingTill(VolatileAwaitingTill),
    Reversing(VolatileReversing),
    Part(VolatilePart),
}

impl Transaction {
    pub(super) fn apply_step(&mut self, records: &[Record]) {
        self.steps += u32::from(!records.is_empty());
        for record in records {
            self.apply(record);
        }
        match (&mut self.state, self.volatile.entering.take()) {
            (State::AtSignature(signature), Some(Entering::AtSignature(begun))) => signature.volatile = begun,
            (State::AwaitingTill(awaiting), Some(Entering::AwaitingTill(begun))) => awaiting.volatile = begun,
            (State::Reversing(reversing), Some(Entering::Reversing(begun))) => reversing.volatile = begun,
            (State::AtChip(chip), Some(Entering::Part(begun))) => chip.volatile = begun,
            _ => {}
        }
    }

    /// Applies a record to the transaction. Only this function changes the state, both live and in replay.
    fn apply(&mut self, record: &Record) {
        match record {
            // The first record created the transaction.
            Record::Started { .. } => {}
            Record::TipTyped { tip, total } => {
                self.tip = *tip;
                self.amount = *total;
            }
            Record::Asked { card, again_unix_ms } => {
                self.learn(card.as_ref(), None);
                // A request that the gateway did not process (throttled) is not a new attempt.
                if self.tries == 0 || matches!(self.state, State::Finishing(_)) {
                    self.tries += 1;
                }
                self.asked_unix_ms = again_unix_ms.unwrap_or(self.begun_unix_ms);
                match &mut self.state {
                    State::Asked(_) => {}
                    State::Finishing(before) => self.state = State::Asked(Asked::again(before)),
                    _ => self.state = State::Asked(Asked::default()),
                }
            }
            Record::HostApproved { payment, approved, host } => {
                self.host = host.clone();
                let payment = Payment { id: payment.clone(), amount: *approved };
                // The record is written a second time when a look-up has shown the payment.
                let was_looked_up = matches!(self.state, State::AtChip(_));
                let in_doubt = !was_looked_up && self.is_another_amount(&payment);
                self.state = State::AtChip(AtChip { payment, in_doubt, volatile: VolatilePart::default() });
            }
            Record::SignatureAsked { payment, card } => {
                self.learn(card.as_ref(), None);
                self.state = State::AtSignature(AtSignature::new(payment.clone()));
            }
            Record::TillAsked { payment, card, by: _ } => {
                let signed = matches!(self.state, State::AtSignature(_));
                if signed {
                    self.signature = Some(true);
                }
                self.learn(card.as_ref(), None);
                self.state = State::AwaitingTill(AwaitingTill::new(payment.clone(), signed));
            }
            Record::TillSaid { taken, by: _ } => self.till_said = Some(*taken),
            Record::Reversing { why, payment, host, by } => {
                if matches!(self.state, State::AtSignature(_)) && by.is_some() {
                    self.signature = Some(false);
                }
                self.learn(None, host.as_ref());
                self.decline_was_doubted |= why.reason == Reason::DeclineInDoubt;
                let in_doubt = payment.as_ref().is_some_and(|payment| self.is_another_amount(payment));
                self.state = State::Reversing(Reversing::new(why.clone(), payment.clone(), in_doubt));
            }
            Record::Confirming { why } => {
                self.doubted = true;
                self.decline_was_doubted |= why.reason == Reason::DeclineInDoubt;
                let finishing = match &self.state {
                    State::Asked(asked) => Finishing::again(why.clone(), asked),
                    _ => Finishing::new(why.clone()),
                };
                self.state = State::Finishing(finishing);
            }
            Record::ReversalAsked { .. } | Record::ReversalDone { .. } | Record::Quarantined { .. } => {
                match &mut self.state {
                    State::Reversing(reversing) => {
                        reversing.recorded.apply(record, &self.order.merchant_transaction_id);
                    }
                    State::Finishing(finishing) => finishing.recorded.apply(record),
                    _ => {}
                }
            }
            // The gateway holds the transaction under this id.
            Record::Pending { .. } => self.was_listed = true,
            Record::Held { why } => self.held = Some(why.clone()),
            Record::Settled { keep, by: _ } => {
                self.held = None;
                self.decided = true;
                if let State::Reversing(reversing) = &mut self.state {
                    reversing.recorded.keep = *keep;
                }
            }
            Record::CardFinal { card } => self.card = Some(card.clone()),
            Record::Ended { outcome, host, card, by, at_unix_ms } => {
                self.ended_unix_ms = *at_unix_ms;
                if matches!(self.state, State::AtSignature(_)) && by.is_some() {
                    self.signature = Some(true);
                }
                self.learn(card.as_ref(), host.as_ref());
                self.state = State::Ended(outcome.clone());
            }
        }
    }

    /// Stores the data from the card and the gateway that a record contains.
    fn learn(&mut self, card: Option<&CardFacts>, host: Option<&HostFacts>) {
        if let Some(card) = card {
            self.card = Some(card.clone());
        }
        if let Some(host) = host {
            self.host = host.clone();
        }
    }
}
