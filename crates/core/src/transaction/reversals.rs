//! What the records say about a reversal: what happened, what was asked for, and what was confirmed.

use pos_terms::money::Amount;
use pos_terms::transaction::PaymentId;

use super::resolution::Unconfirmed;
use super::{Action, Cause, Payment, Record};

/// What is recorded of a payment that is to go back.
#[derive(Clone, Debug)]
pub(super) struct RecordedReversal {
    pub(super) unconfirmed: Unconfirmed,
    /// The payment when the gateway named it; else it must be looked up.
    pub(super) known: Option<Payment>,
    /// The gateway answered another amount than was asked for: how much is booked a look alone tells.
    pub(super) in_doubt: bool,
    /// A reversal that was sent (or was about to be) and is not confirmed.
    pub(super) open: Option<ReversalRequest>,
    /// What was sent before it, of other payments, and has no answer either.
    pub(super) unanswered: Vec<ReversalRequest>,
    /// What was confirmed.
    pub(super) confirmed: Vec<ConfirmedReversal>,
    /// Every payment of which a reversal was asked for, with the amount of the first request.
    pub(super) asked: Vec<Payment>,
    /// How many references were given to reversals.
    references: u32,
    /// A person has decided that what is found stays.
    pub(super) keep: bool,
}

/// A reversal under one reference.
#[derive(Clone, Debug)]
pub(super) struct ReversalRequest {
    /// The payment, and how much of it.
    pub(super) payment: Payment,
    /// Its own reference at the gateway.
    pub(super) reference: String,
    /// How often it was sent.
    pub(super) tries: u32,
}

/// A reversal that the gateway confirmed.
#[derive(Clone, Debug)]
pub(super) struct ConfirmedReversal {
    /// The payment.
    pub(super) payment: PaymentId,
    /// Id of the reversal.
    pub(super) id: PaymentId,
    /// Its own reference.
    pub(super) reference: String,
    /// How much.
    pub(super) amount: Amount,
}

impl ReversalRequest {
    /// It was written down before, and leaves without a second record: it was not tried once more.
    pub(super) fn leaves(&self) -> Action {
        let Payment { id, amount } = self.payment.clone();
        Action::Reverse { payment: id, amount, reference: self.reference.clone() }
    }

    /// Whether it is for all that is left.
    pub(super) fn is_whole(&self, rest: &Payment) -> bool {
        self.payment.id == rest.id && self.payment.amount == rest.amount
    }

    /// Whether it is for no more than is left.
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

    /// `of_sale` is the sale's own reference, under which earlier programs sent its reversals.
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
                        // Of the same payment only what cannot come any more is followed by another request.
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

    /// Each reversal has a reference of its own (interface: `merchantTransactionId`), made of the sale's.
    pub(super) fn next_reference(&self, of_sale: &str) -> String {
        reversal_reference(of_sale, self.references + 1)
    }

    /// What is left of the payment that the answer named, by what was confirmed alone; `None` when that is nothing.
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

/// What is left of an amount; `None` when that is nothing.
pub(super) fn less(amount: Amount, minor: u64) -> Option<Amount> {
    let left = amount.minor().checked_sub(minor)?;
    Amount::from_minor(left, amount.currency()).ok()
}
