//! A transaction as tills see it: its state, its outcome, the approved amount, and the data of the card that may be
//! shown.

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
    /// Approved, but the signature on the slip must be compared, and accepted or refused.
    AwaitingSignature,
    /// Approved by the bank, but the till must still confirm how much it accepts ([`SaleView::to_confirm`]).
    AwaitingTill,
    /// The gateway may hold an approval, so the transaction is being reversed (design: invariant 3). The shop may
    /// immediately begin a new one with a new reference.
    Unconfirmed,
    /// It is not known yet whether a capture, refund, credit or reversal was carried out, and it is being finished. Do
    /// not repeat it, but ask for its state again.
    UnconfirmedFinishing,
    /// Ended, with the result in [`SaleView::outcome`].
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

    /// Returns whether it is still unknown what the gateway did.
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
    /// The author of the request. Absent if it was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Who>,
    /// The sequence number in the journal.
    pub number: SaleNumber,
    /// The number with at most four digits, for tills that cannot store more. It is `number`, which starts again at 1
    /// after 9999. Zero if the agent is an earlier version.
    #[serde(default)]
    pub receipt_number: u16,
    /// True for a training transaction, for which no card was read and no money moves. Absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub training: bool,
    /// The kind of transaction.
    #[serde(default)]
    pub kind: Kind,
    /// The reference of the earlier transaction if it is in this journal, otherwise its payment id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The amount of a pre-authorisation that can still be captured, or of a payment that can still be refunded.
    /// Present only in the view of a single transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
    /// The transactions that refer to this one, oldest first: captures, refunds and reversals. Present only in the view
    /// of a single transaction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<LaterView>,
    /// The refund of the rest, if the till accepted only a part of the sale. The outcome `approved` does not mean that
    /// the rest is refunded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Box<LaterView>>,
    /// The requested amount, such as `12.34`.
    pub amount: String,
    /// The requested tip, which the till named or the customer typed at the reader. It is charged in addition to
    /// `amount`. The approved sum covers `amount` first, so in a partial approval only the excess is a tip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip: Option<String>,
    /// The currency (ISO 4217).
    pub currency: String,
    /// The state.
    pub state: SaleState,
    /// The outcome. Absent until the transaction has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeWord>,
    /// The approved amount, if the outcome is `partially-approved` or `approved`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_amount: Option<String>,
    /// The amount that the till must confirm, if the state is `awaiting-till`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_confirm: Option<ToConfirm>,
    /// The reason for the outcome, or why the transaction is unconfirmed, as a code of a closed list (see
    /// `pos-agent reasons`). Absent with `approved`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The reason why the transaction is not resolved yet, as a code of the same list. Present only with `unconfirmed`
    /// and `unconfirmed-finishing`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsettled: Option<String>,
    /// One sentence for the cashier.
    pub text: String,
    /// The last step that was announced, as its code in the events. Present only while the transaction is in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The cardholder's language (ISO 639-1), if the card names one that the terminal has. Absent after the card is
    /// removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The web address where the customer must act before the gateway decides. Until then, there is no outcome, and the
    /// agent keeps asking the gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_url: Option<String>,
    /// The end of the wait for a card, an answer, a signature or the till (UTC, RFC 3339). Absent if there is no limit,
    /// for example while a PIN is entered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The number of seconds left of the wait at the time of this view, for callers whose clock differs from the
    /// terminal's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_s: Option<u64>,
    /// The length of the whole wait, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_s: Option<u64>,
    /// The task for a person. The transaction is unconfirmed, and the agent only makes one attempt per day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_person: Option<String>,
    /// The time when the transaction began (UTC, RFC 3339).
    pub started_at: String,
    /// The time when the transaction ended (UTC, RFC 3339). Absent until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// True if the reference was already known (design: invariant 1).
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
    /// The data of the card that may be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<CardView>,
    /// `pos.statusText`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_text: Option<String>,
    /// The id of the stored card, if the request was to store or to delete one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<String>,
    /// True if the terminal prints the customer's copy only on demand. Absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub receipt_on_demand: bool,
    /// The receipt's address on the shop's server, once the transaction has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt_url: Option<String>,
    /// The till's own texts, as the till sent them (`tillData`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub till_data: BTreeMap<String, String>,
    /// The gateway's other fields, by their flat names. Present only in the view of a single transaction.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answer: BTreeMap<String, String>,
}

/// The confirmation that is expected from a till, and its deadline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToConfirm {
    /// The amount that the bank approved. It may be less than the requested amount if the till accepts a partial
    /// approval.
    pub amount: String,
    /// The deadline (UTC, RFC 3339). After a restart of the terminal, the till has the full time again.
    pub until: String,
    /// The action if the till does not answer in time.
    pub on_silence: OnSilence,
}

/// A transaction that refers to an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LaterView {
    /// The sequence number in the journal.
    pub number: SaleNumber,
    /// The reference. Absent if another till began the transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// The kind of transaction.
    pub kind: Kind,
    /// The approved amount, or else the requested one.
    pub amount: String,
    /// The currency (ISO 4217).
    pub currency: String,
    /// The state.
    pub state: SaleState,
    /// The outcome. Absent until the transaction has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeWord>,
}

/// The answer to a cancel: whether the cancel came in time, and the transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CancelView {
    /// The result as a code for programs.
    pub cancel: Cancelled,
    /// The result as one sentence for people.
    pub cancel_text: String,
    /// The transaction in its current state.
    #[serde(flatten)]
    pub sale: SaleView,
}

/// The result of a cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Cancelled {
    /// The cancel came in time, so nothing is charged.
    InTime,
    /// The cancel came too late, because the request had been sent or the transaction had ended. Its outcome is final.
    TooLate,
}

impl From<SaleView> for CancelView {
    /// Converts a transaction, in its state after the cancel, to the answer.
    fn from(sale: SaleView) -> Self {
        let (cancel, cancel_text) = match (sale.state, sale.outcome) {
            (SaleState::Ended, Some(OutcomeWord::Cancelled)) => {
                (Cancelled::InTime, "cancelled in time: nothing is charged".to_owned())
            }
            (SaleState::Ended, _) => {
                (Cancelled::TooLate, format!("too late: the sale has ended; the outcome is: {}", sale.text))
            }
            (SaleState::AwaitingSignature, _) => {
                let text = "too late: the sale is approved and is waiting for the signature check; to reverse the \
                    payment, refuse the signature";
                (Cancelled::TooLate, text.to_owned())
            }
            (SaleState::AwaitingTill, _) => {
                let text = "too late: the sale is waiting for the till's confirmation; to reverse the payment, confirm \
                    that nothing is taken";
                (Cancelled::TooLate, text.to_owned())
            }
            _ => {
                let reference = &sale.reference;
                let text = format!(
                    "too late: the request has been sent; ask for the outcome under reference \
                    {reference}"
                );
                (Cancelled::TooLate, text)
            }
        };
        Self { cancel, cancel_text, sale }
    }
}

/// The data of a card that tills may see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CardView {
    /// `pos.entryMode`.
    pub entry_mode: String,
    /// The brand or the name of the application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    /// The last four digits of the card number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last4: Option<String>,
    /// The application identifier (AID, tag 4F), in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aid: Option<String>,
    /// The chip's last cryptogram, such as `TC 1122334455667788` (EMV Book 3, 5.2: TC, ARQC, AAC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cryptogram: Option<String>,
    /// The cardholder verification that the card reports (EMV Book 4, A4): `online-pin`, `offline-pin`, `signature`,
    /// `offline-pin-and-signature`, `consumer-device`, `none`. Only an approval proves that a PIN was right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<String>,
}
