//! What stands on a receipt, as data. The printer module lays it out; nothing here knows paper.

use crate::card::CardFacts;
use crate::money::Amount;

use super::{HostFacts, Kind};

/// One receipt; the merchant's and the customer's copy differ in their last line and the signature line only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// What kind of transaction.
    pub kind: Kind,
    /// Terminal id.
    pub terminal_id: String,
    /// Local date and time of the sale, `2026-11-20 12:34:56`.
    pub local_time: String,
    /// Sequence number of the sale in the journal.
    pub number: u64,
    /// The till's reference.
    pub reference: String,
    /// What was asked for, the tip included.
    pub amount: Amount,
    /// The tip in it, when one was typed.
    pub tip: Option<Amount>,
    /// What came of it.
    pub outcome: ReceiptOutcome,
    /// The card, when one was read.
    pub card: Option<CardFacts>,
    /// What the host said, when it was asked.
    pub host: HostFacts,
}

/// The outcome as the receipt says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceiptOutcome {
    /// Approved in full.
    Approved,
    /// Approved in part: this much.
    PartiallyApproved(Amount),
    /// Not charged, and why.
    Declined(String),
    /// Charged and taken back, or reversed before it was charged, and why.
    Reversed(String),
    /// Nobody knows yet: it is being reversed.
    Unconfirmed(String),
    /// Cancelled before anything was sent, and why.
    Cancelled(String),
}

/// Whose copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copy {
    /// Kept by the shop; carries the signature line.
    Merchant,
    /// Handed to the customer.
    Customer,
}

impl Copy {
    /// As programs write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Merchant => "merchant",
            Self::Customer => "customer",
        }
    }
}
