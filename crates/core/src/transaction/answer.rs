//! The vocabulary of the gateway's answers as the sale understands them. Meaning only: how they travel is the gateway
//! module's business.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use pos_terms::money::Amount;
use pos_terms::transaction::PaymentId;

use super::Cause;

/// What became of one request for a payment (design: path of a sale, 6). Declined is an outcome, not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The host approved, in full or in part: [`Approval::amount`] tells.
    Approved(Box<Approval>),
    /// The host declined, or the gateway refused the request: the money has not moved.
    Declined(Box<Refusal>),
    /// Declined by its code, and not in the way in which failures come (HTTP 400): believed once a look shows it.
    DeclinedInDoubt(Box<Refusal>),
    /// Not decided yet; ask again with this id.
    Pending {
        /// The payment to ask for.
        id: PaymentId,
        /// Where the customer must act meanwhile: https, at most 2048 characters of visible ASCII.
        redirect: Option<String>,
    },
    /// Too many requests; not processed (result code 800.120.100).
    Throttled(Box<Refusal>),
    /// The request cannot have been read, as the failure came before the TLS handshake was complete; or the gateway
    /// says that it did not process it.
    NotSent {
        /// What happened.
        why: Cause,
    },
    /// Nobody knows whether the money moved: time-out, cut line, garbage, 5xx, a code no rule knows.
    Unknown {
        /// What happened.
        why: Cause,
    },
    /// An answer that cannot be to this request: of another kind of transaction, or with the id of another one. It
    /// proves nothing about this request, and a person must hear of it.
    NotOurs {
        /// What is wrong with it.
        why: Cause,
    },
}

/// An approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// The gateway's payment id, 32 letters and digits.
    pub id: PaymentId,
    /// The amount approved, when the gateway says one that can be read; absent fields prove nothing.
    pub amount: ApprovedAmount,
    /// What the issuer wants the chip to hear.
    pub for_chip: ForChip,
    /// What the receipt and the journal keep.
    pub facts: HostFacts,
}

/// The `amount` and `currency` of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovedAmount {
    /// The gateway names none.
    NotSaid,
    /// The gateway names this one.
    Said(Amount),
    /// The gateway names one that cannot be read, or in an unknown currency.
    Unreadable,
}

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub why: Cause,
    /// What the issuer wants the chip to hear.
    pub for_chip: ForChip,
    /// What the receipt and the journal keep.
    pub facts: HostFacts,
}

/// `pos.iccDataResponse`, read (design: path of a sale, 7). Whatever cannot be read is left out and `malformed` says
/// so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForChip {
    /// Authorisation response code (8A).
    pub arc: Option<[u8; 2]>,
    /// Issuer authentication data (91).
    pub issuer_authentication: Option<heapless::Vec<u8, 16>>,
    /// Issuer scripts (71, 72), whole TLVs one after the other.
    pub scripts: heapless::Vec<u8, 512>,
    /// The field was there and could not be read as a whole.
    pub malformed: bool,
}

/// What the gateway told about a payment and card rules allow to keep. Texts are free of control bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HostFacts {
    /// Payment id.
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
    /// `pos.statusText`: extra receipt text; line feeds are kept, every other control byte is removed.
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
    /// Whatever else it said and may be kept, by flat names: `registrationId`, `descriptor`, `resultDetails.…`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub more: BTreeMap<String, String>,
}

/// What a query by `merchantTransactionId` found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inquiry {
    /// The gateway answered; the list may be empty, which means "not there (yet)".
    Payments(Vec<ListedTransaction>),
    /// The gateway could not be asked: no connection, 401, 404, 5xx, garbage. It proves nothing.
    CannotAsk {
        /// What happened.
        why: Cause,
    },
}

/// One transaction of a query's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTransaction {
    /// Payment id.
    pub id: PaymentId,
    /// `paymentType`: DB, RV, …
    pub payment_type: String,
    /// Amount and currency.
    pub amount: ApprovedAmount,
    /// What became of it.
    pub state: ListedState,
    /// Whose it is: its `merchantTransactionId`, when the gateway names it.
    pub reference: Option<String>,
    /// The payment it refers to (`referencedId`), for a reversal.
    pub refers_to: Option<PaymentId>,
}

/// What became of a listed transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedState {
    /// Approved.
    Approved,
    /// Declined.
    Declined,
    /// Pending.
    Undecided,
    /// A code no rule knows, or none: it may be charged, and waiting will not tell.
    Unclear,
}

/// What became of a request to reverse a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReversalAnswer {
    /// The gateway reversed something: [`ApprovedAmount`] tells how much.
    Done {
        /// Id of the reversal.
        id: PaymentId,
        /// How much was reversed, as the gateway says it.
        amount: ApprovedAmount,
    },
    /// The gateway refused it.
    Refused {
        /// Why, as it says.
        why: Cause,
    },
    /// The request cannot have been read.
    NotSent {
        /// What happened.
        why: Cause,
    },
    /// It was not sent, for something else may have given the payment back: look before it is.
    HeldBack {
        /// What happened.
        why: Cause,
        /// A look was made, and another one will not tell more.
        for_person: bool,
    },
    /// Nobody knows; look it up before sending again.
    Unknown {
        /// What happened.
        why: Cause,
    },
}
