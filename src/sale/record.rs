//! What the journal keeps of a sale. Nothing here is forbidden to keep: no track, no PIN block, no KSN, no expiry date
//! (design: invariant 7). Records are only ever added to, and old ones must stay readable.

use serde::{Deserialize, Serialize};

use crate::card::CardFacts;
use crate::money::Amount;

use super::{HostFacts, ReceiptOutcome};

/// The terms of a sale; they never change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// The journal's counter (interface: `pos.transactionSequenceNumber`).
    pub number: u64,
    /// The till. Together with `reference` the key of the sale.
    pub till: String,
    /// The till's own reference.
    pub reference: String,
    /// What to charge, before a tip.
    pub amount: Amount,
    /// The cardholder is asked for a tip at the reader, before the card.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ask_tip: bool,
    /// Acquirer-assigned terminal id.
    pub terminal_id: String,
    /// Our reference at the gateway: terminal id, number and 128 random bits (design: Decisions).
    pub merchant_transaction_id: String,
    /// When it began, milliseconds since 1970, UTC. For people; order is by `number`.
    pub started_unix_ms: i64,
    /// The same for the receipt, local: `2026-11-20 12:34:56`.
    pub local_time: String,
}

/// One entry of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Record {
    /// The sale began.
    Started {
        /// Its terms.
        order: Order,
    },
    /// The cardholder was asked for a tip: what is charged is now this.
    TipTyped {
        /// The tip; none was given when it is absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tip: Option<Amount>,
        /// Amount and tip together.
        total: Amount,
    },
    /// The payment is about to be sent: from here the money may have moved.
    Asked {
        /// The card.
        card: CardFacts,
    },
    /// The host approved; the chip is about to hear it.
    HostApproved {
        /// Payment id.
        payment: String,
        /// How much.
        approved: Amount,
        /// What the host said.
        host: HostFacts,
    },
    /// Approved, and the cardholder signs: somebody at the counter must compare the signature.
    SignatureAsked {
        /// The payment, which is reversed when the signature is refused.
        payment: Payment,
        /// The card's last word, when this record brings it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        card: Option<CardFacts>,
    },
    /// The outcome is not known, or the card did not confirm: nothing may stay charged.
    Reversing {
        /// What happened.
        why: String,
        /// The payment, when its id and amount are known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payment: Option<Payment>,
        /// What the host said, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<HostFacts>,
    },
    /// A reversal is about to be sent.
    ReversalAsked {
        /// The payment to reverse.
        payment: Payment,
    },
    /// The gateway confirmed a reversal.
    ReversalDone {
        /// The payment that was reversed.
        payment: String,
        /// Id of the reversal.
        reversal: String,
    },
    /// Retrying cannot mend it; it is shown, and retried daily.
    Quarantined {
        /// Why.
        why: String,
    },
    /// The card's last word after a final outcome, for the receipt.
    CardFinal {
        /// Its facts.
        card: CardFacts,
    },
    /// The end.
    Ended {
        /// How.
        outcome: Outcome,
        /// What the host said, when this record brings it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<HostFacts>,
        /// The card's last word, when this record brings it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        card: Option<CardFacts>,
    },
}

/// A payment at the gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment {
    /// Its id.
    pub id: String,
    /// Its amount.
    pub amount: Amount,
}

/// How a sale ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Outcome {
    /// Charged in full.
    Approved,
    /// Charged in part; never silently taken as full (design: invariant 4).
    PartiallyApproved {
        /// This much.
        amount: Amount,
    },
    /// Not charged: the host or the card declined, or the gateway refused the request.
    Declined {
        /// Why.
        why: String,
    },
    /// Not charged: given up before anything was sent.
    Cancelled {
        /// Why.
        why: String,
    },
    /// Not charged: the gateway cannot have read the request.
    NotSent {
        /// Why.
        why: String,
    },
    /// Not charged: what was or may have been charged was taken back.
    Reversed {
        /// What had happened.
        why: String,
    },
}

impl Outcome {
    pub(super) fn on_receipt(&self) -> ReceiptOutcome {
        match self {
            Self::Approved => ReceiptOutcome::Approved,
            Self::PartiallyApproved { amount } => ReceiptOutcome::PartiallyApproved(*amount),
            Self::Declined { why } => ReceiptOutcome::Declined(why.clone()),
            Self::NotSent { why } => ReceiptOutcome::Declined(format!("not sent: {why}")),
            Self::Cancelled { why } => ReceiptOutcome::Cancelled(why.clone()),
            Self::Reversed { why } => ReceiptOutcome::Reversed(why.clone()),
        }
    }
}
