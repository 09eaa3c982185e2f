//! The gateway's answers, in the form that the transaction uses. This module defines only their meaning; the gateway
//! module handles the protocol.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use pos_terms::money::Amount;
use pos_terms::transaction::PaymentId;

use super::Cause;

/// The result of one request for a payment (design: path of a sale, 6). A decline is an outcome, not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Approved in full or in part. [`Approval::amount`] gives the approved amount.
    Approved(Box<Approval>),
    /// The issuer declined, or the gateway refused the request. No money moved.
    Declined(Box<Refusal>),
    /// Declined according to its result code, but not with the HTTP status that proves a decline (400). The decline is
    /// trusted only when a look-up confirms it.
    DeclinedInDoubt(Box<Refusal>),
    /// Not decided yet. The agent asks again with this id.
    Pending {
        /// The payment to ask about.
        id: PaymentId,
        /// The address where the customer must act meanwhile. It is an https address of at most 2048 visible ASCII
        /// characters.
        redirect: Option<String>,
    },
    /// Too many requests. The request was not processed (result code 800.120.100).
    Throttled(Box<Refusal>),
    /// The gateway cannot have read the request, because the connection failed before the TLS handshake was complete.
    /// Or the gateway says that it did not process the request.
    NotSent {
        /// The cause.
        why: Cause,
    },
    /// It is unknown whether money moved. The cause is a time-out, a broken connection, an unreadable answer, a 5xx
    /// status or an unknown result code.
    Unknown {
        /// The cause.
        why: Cause,
    },
    /// The answer cannot belong to this request, because it names another kind of transaction or another id. It says
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
    /// The approved amount, as the gateway names it. If the field is missing, the amount is not assumed to differ from
    /// the request.
    pub amount: ApprovedAmount,
    /// The issuer's data for the chip.
    pub for_chip: ForChip,
    /// The data for the receipt and the journal.
    pub facts: HostFacts,
}

/// The `amount` and `currency` of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovedAmount {
    /// The gateway names no amount.
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
    /// The data for the receipt and the journal.
    pub facts: HostFacts,
}

/// The parsed `pos.iccDataResponse` (design: path of a sale, 7). It omits parts that cannot be read, and `malformed` is
/// then true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForChip {
    /// Authorisation response code (8A).
    pub arc: Option<[u8; 2]>,
    /// Issuer authentication data (91).
    pub issuer_authentication: Option<heapless::Vec<u8, 16>>,
    /// Issuer scripts (71, 72), as complete TLVs in sequence.
    pub scripts: heapless::Vec<u8, 512>,
    /// True if the field was present but could not be read completely.
    pub malformed: bool,
}

/// The data about a payment that the gateway sends and that card rules allow the agent to keep. The texts contain no
/// control bytes, except line feeds in `status_text`.
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
    /// All other allowed fields of the answer, under flat names: `registrationId`, `descriptor`, `resultDetails.…`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub more: BTreeMap<String, String>,
}

/// The result of a query by `merchantTransactionId`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inquiry {
    /// The gateway answered. An empty list means that the payment is not there, or not there yet.
    Payments(Vec<ListedTransaction>),
    /// The gateway gave no list: it is not the expected one, the connection broke, the HTTP status was 401, 404 or 5xx,
    /// or the answer was unreadable. This says nothing about the payment.
    CannotAsk {
        /// The cause.
        why: Cause,
    },
    /// No connection to the gateway could be opened, as before there is a network at boot. This says nothing about the
    /// payment, and nothing about the gateway.
    NotReached {
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
    /// An unknown result code, or none. The transaction may be charged, and waiting does not show whether it is.
    Unclear,
}

/// The result of a request to reverse a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReversalAnswer {
    /// The gateway reversed an amount, which [`ApprovedAmount`] gives.
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
    /// The gateway cannot have read the request.
    NotSent {
        /// The cause.
        why: Cause,
    },
    /// The reversal was not sent, because the payment may have been given back in another way. A look-up must come
    /// first.
    HeldBack {
        /// The cause.
        why: Cause,
        /// True if a look-up was made and another one would show nothing new.
        for_person: bool,
    },
    /// The result is unknown. The agent looks up before it sends again.
    Unknown {
        /// The cause.
        why: Cause,
    },
}
