//! The gateway's answers as the transaction understands them. This module defines their meaning only. The gateway
//! module handles the protocol.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use pos_terms::money::Amount;
use pos_terms::transaction::PaymentId;

use super::Cause;

/// The result of one request for a payment (design: path of a sale, 6). A decline is an outcome, not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Approved in full or in part; [`Approval::amount`] says which.
    Approved(Box<Approval>),
    /// The issuer declined, or the gateway refused the request. No money moved.
    Declined(Box<Refusal>),
    /// Declined by its code, but without the HTTP status of a decline (HTTP 400). It is trusted only when a look-up
    /// confirms it.
    DeclinedInDoubt(Box<Refusal>),
    /// Not decided yet. The agent asks again with this id.
    Pending {
        /// The payment to ask about.
        id: PaymentId,
        /// The address where the customer must act meanwhile: https, at most 2048 characters of visible ASCII.
        redirect: Option<String>,
    },
    /// Too many requests. The request was not processed (result code 800.120.100).
    Throttled(Box<Refusal>),
    /// The request cannot have been read, because the failure came before the TLS handshake was complete. Or the
    /// gateway says that it did not process it.
    NotSent {
        /// The cause.
        why: Cause,
    },
    /// It is unknown whether money moved: time-out, broken connection, unreadable answer, 5xx, or an unknown result
    /// code.
    Unknown {
        /// The cause.
        why: Cause,
    },
    /// The answer cannot belong to this request: it is of another kind of transaction, or has another id. It says
    /// nothing about this request, and a person must be alarmed.
    NotOurs {
        /// The mismatch.
        why: Cause,
    },
}

/// An approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// The gateway's payment id, 32 letters and digits.
    pub id: PaymentId,
    /// The approved amount, when the gateway names one that can be read. A missing field does not prove another amount.
    pub amount: ApprovedAmount,
    /// The issuer's data for the chip.
    pub for_chip: ForChip,
    /// The facts that the receipt and the journal keep.
    pub facts: HostFacts,
}

/// The `amount` and `currency` of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovedAmount {
    /// The gateway names none.
    NotSaid,
    /// The gateway names this amount.
    Said(Amount),
    /// The gateway names an amount that cannot be read, or one in an unknown currency.
    Unreadable,
}

/// A decline or a refused request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The cause.
    pub why: Cause,
    /// The issuer's data for the chip.
    pub for_chip: ForChip,
    /// The facts that the receipt and the journal keep.
    pub facts: HostFacts,
}

/// The parsed `pos.iccDataResponse` (design: path of a sale, 7). Parts that cannot be read are left out, and
/// `malformed` is then true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForChip {
    /// Authorisation response code (8A).
    pub arc: Option<[u8; 2]>,
    /// Issuer authentication data (91).
    pub issuer_authentication: Option<heapless::Vec<u8, 16>>,
    /// Issuer scripts (71, 72), as whole TLVs one after the other.
    pub scripts: heapless::Vec<u8, 512>,
    /// True if the field was present but could not be read completely.
    pub malformed: bool,
}

/// The facts about a payment that the gateway sends and that card rules allow to keep. The texts contain no control
/// bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HostFacts {
    /// The payment id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<PaymentId>,
    /// `result.code`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// `result.description`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `paymentBrand`, or `brandResult`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    /// `card.bin`, six digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bin: Option<String>,
    /// `card.last4Digits`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last4: Option<String>,
    /// `pos.statusText`: extra receipt text. Line feeds are kept, and every other control byte is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_text: Option<String>,
    /// `pos.clearing.authorizationAcquirerCode`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acquirer_code: Option<String>,
    /// `pos.clearing.authorizationIssuerCode`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_code: Option<String>,
    /// `pos.clearing.identifier`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clearing_identifier: Option<String>,
    /// `pos.merchantId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merchant_id: Option<String>,
    /// `pos.timestamp` as sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pos_timestamp: Option<String>,
    /// `timestamp` as sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// `ndc`, the gateway's id of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ndc: Option<String>,
    /// All other allowed fields of the answer, by flat names: `registrationId`, `descriptor`, `resultDetails.…`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub more: BTreeMap<String, String>,
}

/// The result of a query by `merchantTransactionId`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inquiry {
    /// The gateway answered. The list may be empty, which means "not there (yet)".
    Payments(Vec<ListedTransaction>),
    /// The gateway could not be asked: no connection, 401, 404, 5xx, or an unreadable answer. This says nothing about
    /// the payment.
    CannotAsk {
        /// The cause.
        why: Cause,
    },
}

/// One transaction in the list of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTransaction {
    /// The payment id.
    pub id: PaymentId,
    /// `paymentType`: DB, RV, …
    pub payment_type: String,
    /// Amount and currency.
    pub amount: ApprovedAmount,
    /// The gateway's decision.
    pub state: ListedState,
    /// The `merchantTransactionId` of the transaction, when the gateway names it.
    pub reference: Option<String>,
    /// The payment that a reversal refers to (`referencedId`).
    pub refers_to: Option<PaymentId>,
}

/// The state of a listed transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedState {
    /// Approved.
    Approved,
    /// Declined.
    Declined,
    /// Pending.
    Undecided,
    /// An unknown code, or none. It may be charged, and waiting does not clarify it.
    Unclear,
}

/// The result of a request to reverse a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReversalAnswer {
    /// The gateway reversed an amount; [`ApprovedAmount`] says how much.
    Done {
        /// The id of the reversal.
        id: PaymentId,
        /// The reversed amount, as the gateway names it.
        amount: ApprovedAmount,
    },
    /// The gateway refused the reversal.
    Refused {
        /// The gateway's reason.
        why: Cause,
    },
    /// The request cannot have been read.
    NotSent {
        /// The cause.
        why: Cause,
    },
    /// It was not sent, because the payment may have been given back otherwise. A look-up must come first.
    HeldBack {
        /// The cause.
        why: Cause,
        /// True if a look-up was made and another one cannot clarify more.
        for_person: bool,
    },
    /// The result is unknown. The agent looks up before it sends again.
    Unknown {
        /// The cause.
        why: Cause,
    },
}
