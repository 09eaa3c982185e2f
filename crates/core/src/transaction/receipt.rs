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
    /// True for a training transaction, for which no card was read and no money moves.
    pub training: bool,
    /// The till's reference.
    pub reference: Reference,
    /// The requested amount, including the tip.
    pub amount: Amount,
    /// The tip included in the amount. In a partial approval, this is the part above the order's amount.
    pub tip: Option<Amount>,
    /// The outcome.
    pub outcome: ReceiptOutcome,
    /// The card, if one was read.
    pub card: Option<CardFacts>,
    /// The gateway's data about the payment, if the gateway was asked.
    pub host: HostFacts,
    /// The operator who requested the transaction, as known to the agent or as named by the till.
    pub operator: Option<String>,
    /// The supervisor who confirmed the transaction.
    pub supervisor: Option<String>,
    /// The transaction that this one refers to, if the journal contains it. The caller sets it, because this module
    /// cannot read the journal.
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

    /// Returns whether the customer has paid for goods or services: a sale that is approved, in full or in part. A
    /// capture is not one, because it ends a reservation.
    #[must_use]
    pub fn is_of_approved_sale(&self) -> bool {
        matches!(self.kind, Kind::Sale | Kind::ByRegistration) && self.outcome.is_charged()
    }
}

/// An earlier transaction, on the receipt of a transaction that refers to it, such as a refund or a void.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// The number of the earlier transaction.
    pub number: SaleNumber,
    /// The reference of the earlier transaction, if it belongs to this till.
    pub reference: Option<Reference>,
    /// The local date and time of the earlier transaction.
    pub local_time: String,
    /// The brand of the earlier transaction's card.
    pub brand: Option<String>,
    /// The last four digits of the earlier transaction's card number.
    pub last4: Option<String>,
}

impl Original {
    /// Returns the facts of an earlier receipt that a later one shows. A refund of a capture names the card of the
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
    /// Approved in part, with the approved amount.
    PartiallyApproved(Amount),
    /// Not charged, with the cause.
    Declined(Cause),
    /// Charged and then reversed, or reversed before it was charged, with the cause.
    Reversed(Cause),
    /// Not known yet, with the cause. The transaction is being reversed or finished, depending on its kind.
    Unconfirmed(Cause),
    /// Cancelled before anything was sent, with the cause.
    Cancelled(Cause),
    /// Not sent or not processed, so that no payment exists, with the cause.
    NotSent(Cause),
}

impl ReceiptOutcome {
    /// Returns whether money was charged, reserved or paid out.
    #[must_use]
    pub fn is_charged(&self) -> bool {
        matches!(self, Self::Approved | Self::PartiallyApproved(_))
    }
}
