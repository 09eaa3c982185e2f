//! The recorded data about a reversal: the cause, the requests, and the confirmations.

use pos_terms::money::Amount;
use pos_terms::transaction::PaymentId;

use super::resolution::Unconfirmed;
use super::{Action, Cause, Payment, Record};

/// The recorded data about a payment that is to be reversed.
#[derive(Clone, Debug)]
pub(super) struct RecordedReversal {
    pub(super) unconfirmed: Unconfirmed,
    /// The payment, if the gateway named it; otherwise it must be looked up.
    pub(super) known: Option<Payment>,
    /// True if the gateway's answer named an amount other than the requested one. Only a look-up then shows how much is
    /// booked.
    pub(super) in_doubt: bool,
    /// The reversal that was sent, or was about to be sent, and is not confirmed.
    pub(super) open: Option<ReversalRequest>,
    /// Earlier reversals of other payments that have no answer.
    pub(super) unanswered: Vec<ReversalRequest>,
    /// The confirmed reversals.
    pub(super) confirmed: Vec<ConfirmedReversal>,
    /// Every payment whose reversal was requested, with the amount of the first request.
    pub(super) asked: Vec<Payment>,
    /// The number of references given to reversals.
    references: u32,
    /// True if a person decided to keep the payment that a look-up finds.
    pub(super) keep: bool,
}

/// A reversal request under one reference.
#[derive(Clone, Debug)]
pub(super) struct ReversalRequest {
    /// The payment, with the amount to reverse.
    pub(super) payment: Payment,
    /// The reversal's own gateway reference.
    pub(super) reference: String,
    /// The number of times that the request was sent.
    pub(super) tries: u32,
}

/// A reversal that the gateway confirmed.
#[derive(Clone, Debug)]
pub(super) struct ConfirmedReversal {
    /// The reversed payment.
    pub(super) payment: PaymentId,
    /// The id of the reversal.
    pub(super) id: PaymentId,
    /// The reversal's own gateway reference.
    pub(super) reference: String,
    /// The reversed amount.
    pub(super) amount: Amount,
}

impl ReversalRequest {
    /// Returns the action that sends the request. No second record is written, because the request is already recorded
    /// and this does not count as another attempt.
    pub(super) fn leaves(&self) -> Action {
        let Payment { id, amount } = self.payment.clone();
        Action::Reverse { payment: id, amount, reference: self.reference.clone() }
    }

    /// Returns whether the request covers the whole remaining amount.
    pub(super) fn is_whole(&self, rest: &Payment) -> bool {
        self.payment.id == rest.id && self.payment.amount == rest.amount
    }

    /// Returns whether the request covers no more than the remaining amount.
    pub(super) fn is_within(&self, rest: &Payment) -> bool {
        self.payment.id == rest.id
            && self.payment.amount.currency() == rest.amount.currency()
            && self.payment.amount.minor() <= rest.amount.minor()
    }
}

impl RecordedReversal {
    pub(super) fn new(why: Cause, known: Option<Payment>, in_doubt: bool) -> Self {
        Self {
            unconfirmed: Unconfirmed::new(why),
            known,
            in_doubt,
            open: None,
            unanswered: Vec::new(),
            confirmed: Vec::new(),
            asked: Vec::new(),
            references: 0,
            keep: false,
        }
    }

    /// Applies a record. `of_sale` is the transaction's own reference, under which earlier versions sent its reversals.
    pub(super) fn apply(&mut self, record: &Record, of_sale: &str) {
        match record {
            Record::ReversalAsked { payment, reference } => {
                let reference = reference.as_deref().unwrap_or(of_sale);
                match &mut self.open {
                    Some(open) if open.reference == reference => open.tries += 1,
                    _ => {
                        self.references += 1;
                        if !self.asked.iter().any(|one| one.id == payment.id) {
                            self.asked.push(payment.clone());
                        }
                        let reference = reference.to_owned();
                        let asked = ReversalRequest { payment: payment.clone(), reference, tries: 1 };
                        let before = self.open.replace(asked);
                        // A further request for the same payment is made only when the earlier one can no longer
                        // arrive.
                        self.unanswered.extend(before.filter(|one| one.payment.id != payment.id));
                        self.unanswered.retain(|one| one.payment.id != payment.id);
                    }
                }
                self.unconfirmed.quarantined = None;
            }
            Record::ReversalDone { payment, reversal, amount } => {
                let Some(open) = self.open.take() else { return };
                let amount = amount.unwrap_or(open.payment.amount);
                let (payment, id) = (payment.clone(), reversal.clone());
                self.confirmed.push(ConfirmedReversal { payment, id, reference: open.reference, amount });
            }
            record => self.unconfirmed.apply(record),
        }
    }

    /// Returns the next reversal reference. Each reversal has its own reference (interface: `merchantTransactionId`),
    /// derived from the transaction's.
    pub(super) fn next_reference(&self, of_sale: &str) -> String {
        reversal_reference(of_sale, self.references + 1)
    }

    /// Returns the remaining amount of the payment that the answer named, counting only confirmed reversals. Returns
    /// `None` if nothing is left.
    pub(super) fn known_rest(&self) -> Option<Payment> {
        let known = self.known.as_ref()?;
        let back = self.confirmed.iter().filter(|done| done.payment == known.id).map(|done| done.amount.minor()).sum();
        let left = less(known.amount, back)?;
        Some(Payment { id: known.id.clone(), amount: left })
    }
}

pub(super) fn reversal_reference(of_sale: &str, nth: u32) -> String {
    format!("{of_sale}-r{nth}")
}

/// Subtracts `minor` from an amount. Returns `None` if nothing is left.
pub(super) fn less(amount: Amount, minor: u64) -> Option<Amount> {
    let left = amount.minor().checked_sub(minor)?;
    Amount::from_minor(left, amount.currency()).ok()
}
