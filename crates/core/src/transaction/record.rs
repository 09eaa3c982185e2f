//! What the journal keeps of a sale. Nothing here is forbidden to keep: no track, no PIN block, no KSN, no expiry date
//! (design: invariant 7). Records are only ever added to, and old ones must stay readable.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use pos_terms::card::CardFacts;
use pos_terms::money::Amount;
use pos_terms::transaction::{
    Kind, Lesson, OnSilence, Operation, OutcomeWord, PaymentId, Reference, SaleNumber, Taken, Who,
};

use super::{Cause, HostFacts, ReceiptOutcome};

/// The terms of a transaction; they never change. The word sale stands for every kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// What kind of transaction, and what it is about.
    #[serde(rename = "kind", default, skip_serializing_if = "Operation::is_sale")]
    pub operation: Operation,
    /// Parameters of the till for the gateway, checked; names and values as they are sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<(String, String)>,
    /// The journal's counter (interface: `pos.transactionSequenceNumber`).
    pub number: SaleNumber,
    /// The till. Together with `reference` the key of the sale.
    pub till: String,
    /// The till's own reference.
    pub reference: Reference,
    /// Who asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Who>,
    /// What to charge, before a tip.
    pub amount: Amount,
    /// The cardholder is asked for a tip at the reader, before the card.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ask_tip: bool,
    /// The tip that the till named with the amount; it is charged on top of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip: Option<Amount>,
    /// The card number is typed on the reader instead of presenting the card.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub manual: bool,
    /// The chip alone is read: the till wants it so, or the issuer asked for it at the try before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chip_alone: bool,
    /// The till can take an approval of less than the amount, and have the rest paid another way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accept_partial: bool,
    /// The till confirms that it takes what was approved, before anybody is told that it is; and what becomes of it
    /// when the till says nothing in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub till_confirms: Option<OnSilence>,
    /// It gives back the rest of a sale of which its till took a part. Nobody waits for it at a till, so it goes on by
    /// itself until the gateway has decided.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gives_rest: bool,
    /// The till prints the receipts: the terminal prints none by itself but the slip that is signed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub till_prints: bool,
    /// The till's own, which come back with the sale.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub till_data: BTreeMap<String, String>,
    /// It is training, and so is to come out: no card is read for it, and nothing of it leaves the board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<Lesson>,
    /// Acquirer-assigned terminal id.
    pub terminal_id: String,
    /// The mark of the account at the gateway that is asked. Earlier programs did not write it; nothing is asked for
    /// training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Our reference at the gateway: terminal id, number and 128 random bits (design: Decisions).
    pub merchant_transaction_id: String,
    /// When it began, milliseconds since 1970, UTC. For people; order is by `number`.
    pub started_unix_ms: i64,
    /// The same for the receipt, local: `2026-11-20 12:34:56`.
    pub local_time: String,
}

impl Order {
    /// What kind of transaction.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.operation.kind()
    }
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
    /// The request is about to be sent: from here the money may have moved. Written anew before it is sent again, which
    /// only a gateway that did not process it allows.
    Asked {
        /// The card, when one was read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        card: Option<CardFacts>,
        /// When, milliseconds since 1970, UTC, if it is sent again after it had no answer: its absence counts from
        /// here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        again_unix_ms: Option<i64>,
    },
    /// The gateway named the payment, and it is not known yet what it decided, or how much it did: until the end
    /// nothing may follow it.
    Pending {
        /// Payment id.
        payment: PaymentId,
    },
    /// The host approved; the chip is about to hear it. Of a part it is written twice: as it is answered, and once a
    /// look has shown that just this is booked.
    HostApproved {
        /// Payment id.
        payment: PaymentId,
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
    /// Approved, and the till is asked whether it takes it. Nobody is told that it is approved before the till has said
    /// so.
    TillAsked {
        /// The payment, which is reversed when the till does not take it.
        payment: Payment,
        /// The card's last word, when this record brings it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        card: Option<CardFacts>,
        /// Who accepted the signature, when the cardholder signed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Who>,
    },
    /// The till has said whether it takes it. Without this record before the end it said nothing in time.
    TillSaid {
        /// What it takes.
        taken: Taken,
        /// Who said it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Who>,
    },
    /// The outcome is not known, or the card did not confirm: nothing may stay charged.
    Reversing {
        /// What happened.
        why: Cause,
        /// The payment, when its id and amount are known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payment: Option<Payment>,
        /// What the host said, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<HostFacts>,
        /// Who caused it, when a person did: by refusing the signature, or by not taking it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Who>,
    },
    /// Nobody knows what became of a capture, refund or reversal: it is looked up, and carried out if it was not.
    Confirming {
        /// What happened.
        why: Cause,
    },
    /// A reversal is about to be sent. Written anew before it is sent again, under the same reference.
    ReversalAsked {
        /// The payment to reverse, and how much of it.
        payment: Payment,
        /// The reversal's own reference at the gateway. Earlier programs gave it none: they sent the sale's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
    },
    /// The gateway confirmed a reversal.
    ReversalDone {
        /// The payment that was reversed.
        payment: PaymentId,
        /// Id of the reversal.
        reversal: PaymentId,
        /// How much was reversed; all that was asked for when it is absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amount: Option<Amount>,
    },
    /// This journal was found to be an old copy: what became of the sale since, it does not know. Nothing goes on until
    /// a person has decided.
    Held {
        /// Why.
        why: Cause,
    },
    /// A person has decided.
    Settled {
        /// What was paid stays; otherwise it is reversed.
        keep: bool,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Who>,
    },
    /// Retrying cannot mend it; it is shown, and retried daily.
    Quarantined {
        /// Why.
        why: Cause,
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
        /// Who caused it, when a person did: by a cancel, by accepting the signature, or by taking it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Who>,
        /// When, milliseconds since 1970, UTC; earlier programs left it to the journal's row. For people; order is by
        /// the journal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_unix_ms: Option<i64>,
    },
}

impl Record {
    /// Its kind, as the journal writes it.
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
    /// Its id.
    pub id: PaymentId,
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
    /// Not charged: the bank or the card declined.
    Declined {
        /// Why.
        why: Cause,
    },
    /// Not charged: the customer or the till gave up before anything was sent.
    Cancelled {
        /// Why.
        why: Cause,
    },
    /// Not charged, no payment exists: nothing left the terminal, or the gateway did not process it.
    NotSent {
        /// Why.
        why: Cause,
    },
    /// Not charged: what was or may have been charged was taken back, or never came.
    Reversed {
        /// What had happened.
        why: Cause,
    },
}

impl Outcome {
    /// As programs write it.
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

    /// Why nothing is charged; `None` when something is.
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
