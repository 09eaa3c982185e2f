//! What stands on a receipt, as data. The printer module lays it out; nothing here knows paper.

use pos_terms::card::CardFacts;
use pos_terms::money::Amount;
use pos_terms::transaction::{Kind, Reference, SaleNumber};

use super::{Cause, HostFacts};

/// One receipt. What stands on which copy is the printer's business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// What kind of transaction.
    pub kind: Kind,
    /// Terminal id.
    pub terminal_id: String,
    /// Local date and time of the sale, `2026-11-20 12:34:56`.
    pub local_time: String,
    /// Sequence number of the sale in the journal.
    pub number: SaleNumber,
    /// It is training: no card was read and no money moves.
    pub training: bool,
    /// The till's reference.
    pub reference: Reference,
    /// What was asked for, the tip included.
    pub amount: Amount,
    /// The tip in it; of a part that was approved, what is above the sale's own amount.
    pub tip: Option<Amount>,
    /// What came of it.
    pub outcome: ReceiptOutcome,
    /// The card, when one was read.
    pub card: Option<CardFacts>,
    /// What the host said, when it was asked.
    pub host: HostFacts,
    /// The operator who asked for it, by the agent's knowledge or the till's word.
    pub operator: Option<String>,
    /// The supervisor who confirmed it.
    pub supervisor: Option<String>,
    /// The transaction that this one refers to, as far as the journal knows it; filled in by whoever has the journal.
    pub original: Option<Original>,
}

impl Receipt {
    /// What was charged, or would have been.
    #[must_use]
    pub fn charged(&self) -> Amount {
        match self.outcome {
            ReceiptOutcome::PartiallyApproved(part) => part,
            _ => self.amount,
        }
    }
}

/// An earlier transaction, on the receipt of a refund, a void or another one that refers to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// Its number.
    pub number: SaleNumber,
    /// Its reference, when that is this till's.
    pub reference: Option<Reference>,
    /// Its local date and time.
    pub local_time: String,
    /// Brand of its card.
    pub brand: Option<String>,
    /// The last four digits of its card.
    pub last4: Option<String>,
}

impl Original {
    /// What a later receipt says of an earlier one. A refund of a capture names the card of the pre-authorisation.
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

/// The outcome as the receipt says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceiptOutcome {
    /// Approved in full.
    Approved,
    /// Approved in part: this much.
    PartiallyApproved(Amount),
    /// Not charged, and why.
    Declined(Cause),
    /// Charged and taken back, or reversed before it was charged, and why.
    Reversed(Cause),
    /// Nobody knows yet: it is being undone, or finished, as its kind says.
    Unconfirmed(Cause),
    /// Cancelled before anything was sent, and why.
    Cancelled(Cause),
    /// No payment exists: nothing was sent or processed, and why.
    NotSent(Cause),
}
