//! What the journal keeps of a sale. Nothing here is forbidden to keep: no track, no PIN block, no KSN, no expiry date
//! (design: invariant 7). Records are only ever added to, and old ones must stay readable.

use serde::{Deserialize, Serialize};

use crate::card::CardFacts;
use crate::money::Amount;

use super::{HostFacts, ReceiptOutcome, Why};

/// What kind of transaction: what the gateway is asked for, and whether a card is needed (design: Reading the interface
/// documents, payment types at the counter).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Kind {
    /// A card pays (DB).
    #[default]
    Sale,
    /// A card's money is reserved (PA); captures take it.
    PreAuthorisation,
    /// A card gets money without an earlier payment (CD).
    Credit,
    /// Stored card data pay (DB with a registration).
    ByRegistration {
        /// The registration's id.
        registration: String,
    },
    /// What was reserved is taken, in whole or in part (CP).
    Capture {
        /// The pre-authorisation.
        of: Earlier,
    },
    /// What was paid goes back, in whole or in part (RF).
    Refund {
        /// The payment.
        of: Earlier,
    },
    /// An earlier transaction is undone (RV).
    Reversal {
        /// The transaction.
        of: Earlier,
    },
    /// More is reserved under an earlier pre-authorisation (PA with `referenceUuid`).
    Increment {
        /// The pre-authorisation.
        of: Earlier,
    },
    /// What was reserved is reserved anew (PA with `referenceUuid`).
    Reauthorisation {
        /// The pre-authorisation.
        of: Earlier,
    },
}

/// An earlier transaction that a later one refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Earlier {
    /// Its payment id at the gateway.
    pub payment: String,
    /// Its number in this journal, when it is there: then what is left of it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
}

impl Kind {
    fn is_sale(&self) -> bool {
        *self == Self::Sale
    }

    /// Whether a card is presented at the reader.
    #[must_use]
    pub fn needs_card(&self) -> bool {
        matches!(self, Self::Sale | Self::PreAuthorisation | Self::Credit)
    }

    /// `paymentType` at the gateway.
    #[must_use]
    pub fn payment_type(&self) -> &'static str {
        match self {
            Self::Sale | Self::ByRegistration { .. } => "DB",
            Self::PreAuthorisation | Self::Increment { .. } | Self::Reauthorisation { .. } => "PA",
            Self::Credit => "CD",
            Self::Capture { .. } => "CP",
            Self::Refund { .. } => "RF",
            Self::Reversal { .. } => "RV",
        }
    }

    /// The earlier transaction, for the kinds that have one.
    #[must_use]
    pub fn of(&self) -> Option<&Earlier> {
        match self {
            Self::Sale | Self::PreAuthorisation | Self::Credit | Self::ByRegistration { .. } => None,
            Self::Capture { of }
            | Self::Refund { of }
            | Self::Reversal { of }
            | Self::Increment { of }
            | Self::Reauthorisation { of } => Some(of),
        }
    }

    /// Whether an unknown outcome is reversed. Captures, refunds and reversals are carried out instead: they were
    /// decided, and undoing them is no safer than finishing them (design: path of a sale, 9). A credit stands as it is
    /// found: money that was paid out is not taken back by itself (design: invariant 11).
    #[must_use]
    pub fn is_undone_when_unknown(&self) -> bool {
        !matches!(self, Self::Capture { .. } | Self::Refund { .. } | Self::Reversal { .. } | Self::Credit)
    }

    /// Whether a lower approval is the till's to take or to leave: here somebody stands at the counter, and what is
    /// missing must be settled another way. What was decided before (captures, refunds, …) takes what it gets, and says
    /// so.
    #[must_use]
    pub fn till_may_refuse_a_part(&self) -> bool {
        self.is_undone_when_unknown()
    }

    /// Whether the card has a say after the host's approval. A refund's AAC is the normal answer (design: path of a
    /// sale, 7).
    #[must_use]
    pub fn card_has_a_say(&self) -> bool {
        matches!(self, Self::Sale | Self::PreAuthorisation)
    }
}

/// Who asked for something: a till by its token, or a program at the socket by the user that it runs as. Absent in
/// records of before this was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Who {
    /// The till whose token was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The user's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
}

/// The terms of a transaction; they never change. The word sale stands for every kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// What kind of transaction.
    #[serde(default, skip_serializing_if = "Kind::is_sale")]
    pub kind: Kind,
    /// Parameters of the till for the gateway, checked; names and values as they are sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<(String, String)>,
    /// The journal's counter (interface: `pos.transactionSequenceNumber`).
    pub number: u64,
    /// The till. Together with `reference` the key of the sale.
    pub till: String,
    /// The till's own reference.
    pub reference: String,
    /// Who asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Who>,
    /// What to charge, before a tip.
    pub amount: Amount,
    /// The cardholder is asked for a tip at the reader, before the card.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ask_tip: bool,
    /// The card number is typed on the reader instead of presenting the card.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub manual: bool,
    /// The till can take an approval of less than the amount, and have the rest paid another way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accept_partial: bool,
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
    /// The gateway has not decided, and named the payment that it will be asked for: until the end nothing may follow
    /// it.
    Pending {
        /// Payment id.
        payment: String,
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
        why: Why,
        /// The payment, when its id and amount are known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payment: Option<Payment>,
        /// What the host said, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<HostFacts>,
        /// Who caused it, when a person did: by refusing the signature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Who>,
    },
    /// Nobody knows what became of a capture, refund or reversal: it is looked up, and carried out if it was not.
    Confirming {
        /// What happened.
        why: Why,
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
        payment: String,
        /// Id of the reversal.
        reversal: String,
        /// How much was reversed; all that was asked for when it is absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amount: Option<Amount>,
    },
    /// This journal was found to be an old copy: what became of the sale since, it does not know. Nothing goes on until
    /// a person has decided.
    Held {
        /// Why.
        why: Why,
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
        why: Why,
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
        /// Who caused it, when a person did: by a cancel, or by accepting the signature.
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

/// Whether two ids are of one payment at the gateway. They are written in hexadecimal digits as a rule, and a gateway
/// may write them in either case (interface: identifiers): two payments are never told apart by that alone.
#[must_use]
pub fn is_same_payment(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
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
    /// Not charged: the bank or the card declined.
    Declined {
        /// Why.
        why: Why,
    },
    /// Not charged: the customer or the till gave up before anything was sent.
    Cancelled {
        /// Why.
        why: Why,
    },
    /// Not charged, no payment exists: nothing left the terminal, or the gateway did not process it.
    NotSent {
        /// Why.
        why: Why,
    },
    /// Not charged: what was or may have been charged was taken back, or never came.
    Reversed {
        /// What had happened.
        why: Why,
    },
}

impl Outcome {
    /// As programs write it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::PartiallyApproved { .. } => "partially-approved",
            Self::Declined { .. } => "declined",
            Self::Cancelled { .. } => "cancelled",
            Self::NotSent { .. } => "not-sent",
            Self::Reversed { .. } => "reversed",
        }
    }

    /// Why nothing is charged; `None` when something is.
    #[must_use]
    pub fn why(&self) -> Option<&Why> {
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
