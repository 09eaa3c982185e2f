//! The contents of a receipt, as data. The printer module lays it out; this module knows nothing about paper.

use pos_terms::card::CardFacts;
use pos_terms::money::Amount;
use pos_terms::transaction::{Kind, Reference, SaleNumber};

use super::{Cause, HostFacts};

/// One receipt. The printer module decides which copy shows which contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The kind of transaction.
    pub kind: Kind,
    /// The terminal id.
    pub terminal_id: String,
    /// The local date and time of the transaction, `2026-11-20 12:34:56`.
    pub local_time: String,
    /// The sequence number of the transaction in the journal.
    pub number: SaleNumber,
    /// True if it is training: no card was read and no money moves.
    pub training: bool,
    /// The till's reference.
    pub reference: Reference,
    /// The requested amount, including the tip.
    pub amount: Amount,
    /// The tip in it. In a partial approval, it is what is above the order's amount.
    pub tip: Option<Amount>,
    /// The outcome.
    pub outcome: ReceiptOutcome,
    /// The card, if one was read.
    pub card: Option<CardFacts>,
    /// The facts from the gateway, if it was asked.
    pub host: HostFacts,
    /// The operator who asked for it, as the agent knows it or as the till named it.
    pub operator: Option<String>,
    /// The supervisor who confirmed it.
    pub supervisor: Option<String>,
    /// The transaction that this one refers to, as far as the journal knows it. The caller with access to the journal
    /// fills it in.
    pub original: Option<Original>,
}

impl Receipt {
    /// Returns the amount that was charged, or would have been.
    #[must_use]
    pub fn charged(&self) -> Amount {
        match self.outcome {
            ReceiptOutcome::PartiallyApproved(part) => part,
            _ => self.amount,
        }
    }
}

/// An earlier transaction, on the receipt of a transaction that refers to it, such as a refund or a void.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// Its number.
    pub number: SaleNumber,
    /// Its reference, when the transaction belongs to this till.
    pub reference: Option<Reference>,
    /// Its local date and time.
    pub local_time: String,
    /// The brand of its card.
    pub brand: Option<String>,
    /// The last four digits of its card.
    pub last4: Option<String>,
}

impl Original {
    /// Returns what a later receipt shows of an earlier one. A refund of a capture names the card of the
    /// pre-authorisation.
    #[must_use]
    pub fn of(earlier: Receipt) -> Self {
        let Receipt { number, reference, local_time, card, host, original, .. } = earlier;
        let (its_brand, its_last4) = original.map(|its| (its.brand, its.last4)).unwrap_or_default();
        let pan = card.as_ref().and_then(|card| card.pan.as_ref());
        Self {
            number,
            reference: Some(reference),
            local_time,
            brand: host.brand.or_else(|| card.as_ref()?.label.clone()).or(its_brand),
            last4: pan.map(|pan| pan.last4().to_owned()).or(host.last4).or(its_last4),
        }
    }
}

/// The outcome in the form that the receipt shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceiptOutcome {
    /// Approved in full.
    Approved,
    /// Approved in part: this amount.
    PartiallyApproved(Amount),
    /// Not charged, with the cause.
    Declined(Cause),
    /// Charged and then reversed, or reversed before it was charged, with the cause.
    Reversed(Cause),
    /// Not known yet. It is being reversed or finished, depending on its kind.
    Unconfirmed(Cause),
    /// Cancelled before anything was sent, with the cause.
    Cancelled(Cause),
    /// No payment exists: nothing was sent or processed. With the cause.
    NotSent(Cause),
}
