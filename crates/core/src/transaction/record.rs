//! The journal's records of a transaction. They contain no data that must not be kept: no track, no PIN block, no KSN,
//! no expiry date (design: invariant 7). Records are only added, and old records must stay readable.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use pos_terms::card::CardFacts;
use pos_terms::money::Amount;
use pos_terms::transaction::{
    Kind, OnSilence, Operation, OutcomeWord, PaymentId, Reference, SaleNumber, Taken, TrainingResult, Who,
};

use super::{Cause, HostFacts, ReceiptOutcome};

/// The terms of a transaction of any kind. They never change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// The kind of transaction, and what it refers to.
    #[serde(rename = "kind", default, skip_serializing_if = "Operation::is_sale")]
    pub operation: Operation,
    /// The till's parameters for the gateway, already checked, with the names and values that are sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<(String, String)>,
    /// The journal's counter (interface: `pos.transactionSequenceNumber`).
    pub number: SaleNumber,
    /// The till. Together with `reference` it is the key of the transaction.
    pub till: String,
    /// The till's own reference.
    pub reference: Reference,
    /// The person or program that requested the transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Who>,
    /// The amount to charge, before a tip.
    pub amount: Amount,
    /// True if the cardholder is asked for a tip at the reader, before the card.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ask_tip: bool,
    /// The tip that the till named with the amount. It is charged in addition to the amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip: Option<Amount>,
    /// True if the card number is typed on the reader, and no card is presented.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub manual: bool,
    /// True if only the chip is read, because the till requested this or the issuer demanded it at the previous
    /// attempt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chip_alone: bool,
    /// True if the till accepts an approval of less than the amount. The rest is then paid in another way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accept_partial: bool,
    /// Set if the till must confirm that it accepts the approved amount, before the approval is reported. The value
    /// says what happens if the till does not answer in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub till_confirms: Option<OnSilence>,
    /// True if this transaction refunds the rest of a sale of which the till accepted a part. No till waits for it, so
    /// it continues automatically until the gateway has decided.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gives_rest: bool,
    /// True if the till prints the receipts. The terminal then prints only the slip to sign.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub till_prints: bool,
    /// The till's own data, returned with the transaction.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub till_data: BTreeMap<String, String>,
    /// The training result, for a training transaction. No card is read for it, and it sends nothing to the gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingResult>,
    /// The terminal id assigned by the acquirer.
    pub terminal_id: String,
    /// The mark by which the agent recognises the gateway account of the transaction. Earlier versions did not write
    /// it, and a training transaction has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The gateway reference: terminal id, number and 128 random bits (design: Decisions).
    pub merchant_transaction_id: String,
    /// The time of the beginning, in milliseconds since 1970, UTC. It is only for people to read; `number` gives the
    /// order.
    pub started_unix_ms: i64,
    /// The local time of the beginning, for the receipt: `2026-11-20 12:34:56`.
    pub local_time: String,
}

impl Order {
    /// Returns the kind of transaction.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.operation.kind()
    }
}

/// One entry of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Record {
    /// The transaction began.
    Started {
        /// The order.
        order: Order,
    },
    /// The cardholder was asked for a tip, and the amount to charge is final.
    TipTyped {
        /// The tip; absent if none was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tip: Option<Amount>,
        /// The sum of amount and tip.
        total: Amount,
    },
    /// The request is about to be sent, so money may move from this point. The record is written again before the
    /// request is sent again. This happens only when the gateway did not process the request, or when look-ups did not
    /// find it.
    Asked {
        /// The card, if one was read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        card: Option<CardFacts>,
        /// The time at which the request is sent again after it had no answer, in milliseconds since 1970, UTC. Its
        /// absence counts from this time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        again_unix_ms: Option<i64>,
    },
    /// The gateway named the payment, but its decision or the amount is not known yet. No follow-up is allowed before
    /// the transaction ends.
    Pending {
        /// The payment id.
        payment: PaymentId,
    },
    /// The gateway approved, and the chip is about to receive the answer. For a partial approval this record is written
    /// twice: with the answer, and after a look-up has shown that exactly this amount is booked.
    HostApproved {
        /// The payment id.
        payment: PaymentId,
        /// The approved amount.
        approved: Amount,
        /// The gateway's data about the payment.
        host: HostFacts,
    },
    /// The gateway approved, and the cardholder signs. A person at the counter must compare the signature.
    SignatureAsked {
        /// The payment. It is reversed if the signature is refused.
        payment: Payment,
        /// The final card data, if this record contains it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        card: Option<CardFacts>,
    },
    /// The gateway approved, and the till is asked whether it accepts the amount. The approval is not reported before
    /// the till has answered.
    TillAsked {
        /// The payment. It is reversed if the till does not accept it.
        payment: Payment,
        /// The final card data, if this record contains it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        card: Option<CardFacts>,
        /// The person who accepted the signature, if the cardholder signed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Who>,
    },
    /// The till answered whether it accepts the amount. If this record is missing, the till did not answer in time.
    TillSaid {
        /// The amount that the till accepts.
        taken: Taken,
        /// The person or program that answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Who>,
    },
    /// The outcome is unknown, or the card did not confirm. Nothing may stay charged.
    Reversing {
        /// The cause.
        why: Cause,
        /// The payment, if its id and amount are known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payment: Option<Payment>,
        /// The gateway's data about the payment, if it answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<HostFacts>,
        /// The person who caused the reversal, by refusing the signature or the amount.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Who>,
    },
    /// The outcome of a capture, refund or reversal is unknown. It is looked up, and sent again if it was not carried
    /// out.
    Confirming {
        /// The cause.
        why: Cause,
    },
    /// A reversal is about to be sent. The record is written again before it is sent again, under the same reference.
    ReversalAsked {
        /// The payment to reverse, with the amount to reverse.
        payment: Payment,
        /// The reversal's own gateway reference. Earlier versions gave it none, and sent the transaction's reference
        /// instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
    },
    /// The gateway confirmed a reversal.
    ReversalDone {
        /// The reversed payment.
        payment: PaymentId,
        /// The payment id of the reversal.
        reversal: PaymentId,
        /// The reversed amount. If it is absent, the full requested amount was reversed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amount: Option<Amount>,
    },
    /// This journal turned out to be an outdated copy, so it does not know what happened to the transaction later. The
    /// transaction waits until a person has decided.
    Held {
        /// The cause.
        why: Cause,
    },
    /// A person has decided.
    Settled {
        /// True if the payment is kept; otherwise it is reversed.
        keep: bool,
        /// The person.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Who>,
    },
    /// The transaction cannot be resolved by retrying. It is shown to a person, and looked up again daily.
    Quarantined {
        /// The cause.
        why: Cause,
    },
    /// The final card data, recorded after the outcome, for the receipt.
    CardFinal {
        /// The card data.
        card: CardFacts,
    },
    /// The transaction ended.
    Ended {
        /// The outcome.
        outcome: Outcome,
        /// The gateway's data about the payment, if this record contains it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<HostFacts>,
        /// The final card data, if this record contains it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        card: Option<CardFacts>,
        /// The person who caused the end, by cancelling, by accepting the signature, or by accepting the amount.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Who>,
        /// The time of the end, in milliseconds since 1970, UTC. Earlier versions kept it only in the journal's row. It
        /// is only for people to read; the journal gives the order.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_unix_ms: Option<i64>,
    },
}

impl Record {
    /// Returns the name of the record's kind, as the journal writes it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Started { .. } => "started",
            Self::TipTyped { .. } => "tip-typed",
            Self::Asked { .. } => "asked",
            Self::Pending { .. } => "pending",
            Self::HostApproved { .. } => "host-approved",
            Self::SignatureAsked { .. } => "signature-asked",
            Self::TillAsked { .. } => "till-asked",
            Self::TillSaid { .. } => "till-said",
            Self::Reversing { .. } => "reversing",
            Self::Confirming { .. } => "confirming",
            Self::ReversalAsked { .. } => "reversal-asked",
            Self::ReversalDone { .. } => "reversal-done",
            Self::Held { .. } => "held",
            Self::Settled { .. } => "settled",
            Self::Quarantined { .. } => "quarantined",
            Self::CardFinal { .. } => "card-final",
            Self::Ended { .. } => "ended",
        }
    }
}

/// A payment at the gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment {
    /// The payment id.
    pub id: PaymentId,
    /// The amount.
    pub amount: Amount,
}

/// The outcome of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Outcome {
    /// Charged in full.
    Approved,
    /// Charged in part. It is never silently treated as full (design: invariant 4).
    PartiallyApproved {
        /// The charged amount.
        amount: Amount,
    },
    /// Not charged, because the issuer or the card declined.
    Declined {
        /// The cause.
        why: Cause,
    },
    /// Not charged, because the customer or the till cancelled before anything was sent.
    Cancelled {
        /// The cause.
        why: Cause,
    },
    /// Not charged, because nothing left the terminal or the gateway did not process the request. No payment exists.
    NotSent {
        /// The cause.
        why: Cause,
    },
    /// Not charged, because the charge was reversed or, as it turned out, never made.
    Reversed {
        /// The cause of the reversal.
        why: Cause,
    },
}

impl Outcome {
    /// Returns the word that programs use.
    #[must_use]
    pub fn word(&self) -> OutcomeWord {
        match self {
            Self::Approved => OutcomeWord::Approved,
            Self::PartiallyApproved { .. } => OutcomeWord::PartiallyApproved,
            Self::Declined { .. } => OutcomeWord::Declined,
            Self::Cancelled { .. } => OutcomeWord::Cancelled,
            Self::NotSent { .. } => OutcomeWord::NotSent,
            Self::Reversed { .. } => OutcomeWord::Reversed,
        }
    }

    /// Returns the reason why nothing is charged, or `None` if an amount is charged.
    #[must_use]
    pub fn why(&self) -> Option<&Cause> {
        match self {
            Self::Approved | Self::PartiallyApproved { .. } => None,
            Self::Declined { why } | Self::Cancelled { why } | Self::NotSent { why } | Self::Reversed { why } => {
                Some(why)
            }
        }
    }

    pub(super) fn on_receipt(&self) -> ReceiptOutcome {
        match self {
            Self::Approved => ReceiptOutcome::Approved,
            Self::PartiallyApproved { amount } => ReceiptOutcome::PartiallyApproved(*amount),
            Self::Declined { why } => ReceiptOutcome::Declined(why.clone()),
            Self::NotSent { why } => ReceiptOutcome::NotSent(why.clone()),
            Self::Cancelled { why } => ReceiptOutcome::Cancelled(why.clone()),
            Self::Reversed { why } => ReceiptOutcome::Reversed(why.clone()),
        }
    }
}
