//! A transaction as tills see it: its state, its outcome, the approved amount, and the card as far as it may be shown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use pos_terms::transaction::{Kind, OnSilence, OutcomeWord, PaymentId, Reference, SaleNumber, Who};

/// The state of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SaleState {
    /// Waiting for a card.
    WaitingForCard,
    /// The request is at the gateway, or the card is getting the answer.
    InProgress,
    /// Approved; the signature on the slip must be compared and accepted or refused.
    AwaitingSignature,
    /// The bank approved; the till must still confirm that it takes it ([`SaleView::to_confirm`]).
    AwaitingTill,
    /// The gateway may hold an approval, so the transaction is being reversed (design: invariant 3). The shop may take
    /// a new one under a new reference immediately.
    Unconfirmed,
    /// It is not known yet whether a capture, refund, credit or reversal was carried out: it is being finished. Do not
    /// repeat it; ask again.
    UnconfirmedFinishing,
    /// Ended; [`SaleView::outcome`] has the result.
    Ended,
}

impl SaleState {
    /// Returns the code for programs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WaitingForCard => "waiting-for-card",
            Self::InProgress => "in-progress",
            Self::AwaitingSignature => "awaiting-signature",
            Self::AwaitingTill => "awaiting-till",
            Self::Unconfirmed => "unconfirmed",
            Self::UnconfirmedFinishing => "unconfirmed-finishing",
            Self::Ended => "ended",
        }
    }

    /// Returns whether the gateway's action is still unknown.
    #[must_use]
    pub fn is_unconfirmed(self) -> bool {
        matches!(self, Self::Unconfirmed | Self::UnconfirmedFinishing)
    }
}

/// A transaction as tills see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SaleView {
    /// The till's name.
    pub till: String,
    /// The till's reference.
    pub reference: Reference,
    /// The author of the request; absent when that was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Who>,
    /// Sequence number in the journal.
    pub number: SaleNumber,
    /// The number with four digits, for tills that have no room for more: `number`, counted from 1 to 9999 repeatedly.
    /// Zero when the agent is an earlier one.
    #[serde(default)]
    pub receipt_number: u16,
    /// True if it is training: no card was read and no money moves. Absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub training: bool,
    /// The kind of transaction.
    #[serde(default)]
    pub kind: Kind,
    /// The reference of the earlier transaction if it is this journal's, otherwise its payment id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The amount that can still be captured of a pre-authorisation, or refunded of a payment; only in the view of one
    /// transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
    /// The transactions that refer to it, oldest first: captures, refunds and reversals; only in the view of one
    /// transaction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<LaterView>,
    /// The refund of the rest, for a sale of which its till took a part. `approved` does not mean that the rest is
    /// refunded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Box<LaterView>>,
    /// The requested amount, as `12.34`.
    pub amount: String,
    /// The requested tip, named by the till or typed at the reader; it is charged in addition to `amount`. The approved
    /// sum covers `amount` first: of a partial approval only the excess is a tip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip: Option<String>,
    /// ISO 4217.
    pub currency: String,
    /// The state.
    pub state: SaleState,
    /// The outcome; absent until it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeWord>,
    /// The approved amount, with `partially-approved` and `approved`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_amount: Option<String>,
    /// The amount that the till must confirm, with `awaiting-till`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_confirm: Option<ToConfirm>,
    /// Why it ended so, or why it is unconfirmed: a code of a closed list (`pos-agent reasons`). Absent with
    /// `approved`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why it is not resolved yet, as a code of the same list: with `unconfirmed` and `unconfirmed-finishing`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsettled: Option<String>,
    /// One sentence for the cashier.
    pub text: String,
    /// The last step that was announced, as the code of the events; only while it is in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The address where the customer must act before the gateway decides. Until then the outcome is neither approved
    /// nor declined, and the agent keeps asking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_url: Option<String>,
    /// Until when it waits for a card, an answer, a signature or its till: UTC, RFC 3339. Absent when there is no such
    /// limit, for example while a PIN is entered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The number of seconds left of that at the time of this view, for a clock that differs from the terminal's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_s: Option<u64>,
    /// The number of seconds that it waits in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_s: Option<u64>,
    /// The task for a person: it is unconfirmed, and the agent takes no further step except one attempt per day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_person: Option<String>,
    /// When it began, UTC, RFC 3339.
    pub started_at: String,
    /// When it ended, UTC, RFC 3339; absent until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// True if the reference was known already (design: invariant 1).
    pub replayed: bool,
    /// The gateway's payment id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_id: Option<PaymentId>,
    /// The gateway's `result.code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The issuer's approval code (`pos.clearing.authorizationIssuerCode`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_code: Option<String>,
    /// The card, as far as it may be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<CardView>,
    /// `pos.statusText`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_text: Option<String>,
    /// The registration under which the gateway keeps the card, if requested; or the one that was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<String>,
    /// The till's own texts, as it sent them (`tillData`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub till_data: BTreeMap<String, String>,
    /// The gateway's other fields, by their flat names; only in the view of one transaction.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answer: BTreeMap<String, String>,
}

/// The confirmation that a till owes, and its deadline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToConfirm {
    /// The amount that the bank approved; it may be less than the requested amount if the till takes a part.
    pub amount: String,
    /// The deadline, UTC, RFC 3339; after a start of the terminal the till has its full time again.
    pub until: String,
    /// The action if the till does not answer in time.
    pub on_silence: OnSilence,
}

/// A transaction that refers to an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LaterView {
    /// Sequence number in the journal.
    pub number: SaleNumber,
    /// Its reference; absent when another till began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// The kind of transaction.
    pub kind: Kind,
    /// The approved amount, otherwise the requested one.
    pub amount: String,
    /// ISO 4217.
    pub currency: String,
    /// The state.
    pub state: SaleState,
    /// The outcome; absent until it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeWord>,
}

/// The answer to a cancel: whether it came in time, and the transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CancelView {
    /// The result as a code for programs.
    pub cancel: Cancelled,
    /// The result as one sentence for people.
    pub cancel_text: String,
    /// The transaction in its present state.
    #[serde(flatten)]
    pub sale: SaleView,
}

/// The result of a cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Cancelled {
    /// In time: nothing is charged.
    InTime,
    /// Too late: the request had left, or the transaction had ended. Its outcome is final.
    TooLate,
}

impl From<SaleView> for CancelView {
    /// Converts the transaction in its state after the cancel.
    fn from(sale: SaleView) -> Self {
        let (cancel, cancel_text) = match (sale.state, sale.outcome) {
            (SaleState::Ended, Some(OutcomeWord::Cancelled)) => {
                (Cancelled::InTime, "cancelled in time: nothing is charged".to_owned())
            }
            (SaleState::Ended, _) => {
                (Cancelled::TooLate, format!("too late: the sale has ended; the outcome is: {}", sale.text))
            }
            (SaleState::AwaitingSignature, _) => {
                let text = "too late: it is approved and waits for the signature check; refuse the signature to reverse \
                            the payment";
                (Cancelled::TooLate, text.to_owned())
            }
            (SaleState::AwaitingTill, _) => {
                let text = "too late: it waits for the till's confirmation; to reverse the payment, confirm that nothing \
                            is taken";
                (Cancelled::TooLate, text.to_owned())
            }
            _ => {
                let reference = &sale.reference;
                let text = format!("too late: the request was sent; ask for the outcome under reference {reference}");
                (Cancelled::TooLate, text)
            }
        };
        Self { cancel, cancel_text, sale }
    }
}

/// A card as far as tills may see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CardView {
    /// `pos.entryMode`.
    pub entry_mode: String,
    /// Brand or application name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    /// Last four digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last4: Option<String>,
    /// Application identifier (AID, tag 4F), in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aid: Option<String>,
    /// The chip's last cryptogram, as `TC 1122334455667788` (EMV Book 3, 5.2: TC, ARQC, AAC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cryptogram: Option<String>,
    /// The cardholder verification that the card reports (EMV Book 4, A4): `online-pin`, `offline-pin`, `signature`,
    /// `offline-pin-and-signature`, `consumer-device`, `none`. Only an approval proves that a PIN was right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<String>,
}
