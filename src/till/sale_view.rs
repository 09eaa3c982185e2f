//! A sale as tills see it: where it stands, how it ended, what was approved, the card as far as it may be shown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use pos_terms::transaction::{Kind, OnSilence, OutcomeWord, PaymentId, Reference, SaleNumber, Who};

/// Where a sale stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SaleState {
    /// Waiting for a card.
    WaitingForCard,
    /// The gateway was asked, or the card is being answered.
    InProgress,
    /// Approved; the signature on the slip is to be compared and accepted or refused.
    AwaitingSignature,
    /// The bank approved; the till has yet to confirm that it takes it ([`SaleView::to_confirm`]).
    AwaitingTill,
    /// The gateway may hold an approval of something that is undone when nobody knows: it is being taken back (design:
    /// invariant 3). The shop may take a new one under a new reference at once.
    Unconfirmed,
    /// Nobody knows yet whether a capture, refund, credit or reversal was carried out: it is being finished. Not to be
    /// repeated; ask again.
    UnconfirmedFinishing,
    /// Ended; [`SaleView::outcome`] tells how.
    Ended,
}

impl SaleState {
    /// As programs write it.
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

    /// Whether nobody knows yet what the gateway did.
    #[must_use]
    pub fn is_unconfirmed(self) -> bool {
        matches!(self, Self::Unconfirmed | Self::UnconfirmedFinishing)
    }
}

/// A sale as tills see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SaleView {
    /// The till's name.
    pub till: String,
    /// The till's reference.
    pub reference: Reference,
    /// Who asked for it; absent when that was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Who>,
    /// Sequence number in the journal.
    pub number: SaleNumber,
    /// The number on four digits, for tills that have no room for more: `number`, counted from 1 to 9999 again and
    /// again. Zero when the agent is an earlier one.
    #[serde(default)]
    pub receipt_number: u16,
    /// It is training: no card was read for it and no money moves. Absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub training: bool,
    /// What kind of transaction.
    #[serde(default)]
    pub kind: Kind,
    /// The reference of the earlier transaction, when it is this journal's, else its payment id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// What can still be captured of a pre-authorisation, or refunded of a payment; told when one sale is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
    /// What refers to it, oldest first: what was captured, refunded or reversed of it; told when one sale is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<LaterView>,
    /// The refund of the rest, of a sale of which its till took a part: `approved` does not say that the rest is back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Box<LaterView>>,
    /// What was asked for, as `12.34`.
    pub amount: String,
    /// The tip that was asked for, named by the till or typed at the reader; it is charged on top of `amount`. What was
    /// approved pays for `amount` first: of a part only what is above that is a tip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip: Option<String>,
    /// ISO 4217.
    pub currency: String,
    /// Where it stands.
    pub state: SaleState,
    /// How it ended; absent while it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeWord>,
    /// What was approved, with `partially-approved` and `approved`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_amount: Option<String>,
    /// What the till is to confirm, with `awaiting-till`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_confirm: Option<ToConfirm>,
    /// Why it ended so, or why nobody knows: one word of a closed list (`pos-agent reasons`). Absent with `approved`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why it is not settled yet, as a word of the same list: with `unconfirmed` and `unconfirmed-finishing`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsettled: Option<String>,
    /// One sentence for the cashier.
    pub text: String,
    /// The last step that was announced of it, in the word of the events; while it is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Where the customer must act before the gateway decides: neither approved nor declined, and asked for until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_url: Option<String>,
    /// Until when it waits for a card, an answer, a signature or its till: UTC, RFC 3339. Absent when there is no such
    /// limit, as while a PIN is entered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// How many seconds of that were left when this was told, for a clock that is not the terminal's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_s: Option<u64>,
    /// How many seconds it waits in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_s: Option<u64>,
    /// Unconfirmed, and nothing goes on by itself: what a person must see to. It is tried again once a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_person: Option<String>,
    /// When it began, UTC, RFC 3339.
    pub started_at: String,
    /// When it ended, UTC, RFC 3339; absent while it has not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// Whether this answers a reference that was known already (design: invariant 1).
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
    /// The registration under which the gateway keeps the card, when that was asked for; or which was forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<String>,
    /// The till's own texts, as it sent them (`tillData`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub till_data: BTreeMap<String, String>,
    /// What else the gateway said, by its own flat names; told when one sale is asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answer: BTreeMap<String, String>,
}

/// What a till is to confirm, and until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToConfirm {
    /// What the bank approved; it may be less than the amount where the till takes a part.
    pub amount: String,
    /// UTC, RFC 3339; after a start of the terminal the till has all its time again.
    pub until: String,
    /// What becomes of it when the till says nothing until then.
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
    /// What kind of transaction.
    pub kind: Kind,
    /// How much: what was approved, else what was asked for.
    pub amount: String,
    /// ISO 4217.
    pub currency: String,
    /// Where it stands.
    pub state: SaleState,
    /// How it ended; absent while it has not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeWord>,
}

/// The answer to a cancel: whether it came in time, and the sale.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CancelView {
    /// For programs.
    pub cancel: Cancelled,
    /// For people: one sentence.
    pub cancel_text: String,
    /// The sale as it stands.
    #[serde(flatten)]
    pub sale: SaleView,
}

/// Whether a cancel came in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Cancelled {
    /// Nothing is charged.
    InTime,
    /// The request had left, or the sale had ended: its outcome stands.
    TooLate,
}

impl From<SaleView> for CancelView {
    /// From the sale as it stands after the cancel was carried out.
    fn from(sale: SaleView) -> Self {
        let (cancel, cancel_text) = match (sale.state, sale.outcome) {
            (SaleState::Ended, Some(OutcomeWord::Cancelled)) => {
                (Cancelled::InTime, "cancelled in time: nothing is charged".to_owned())
            }
            (SaleState::Ended, _) => {
                (Cancelled::TooLate, format!("too late: the sale had ended; the outcome is: {}", sale.text))
            }
            (SaleState::AwaitingSignature, _) => {
                let text =
                    "too late: it is approved and waits for its signature; refuse that, and the payment is reversed";
                (Cancelled::TooLate, text.to_owned())
            }
            (SaleState::AwaitingTill, _) => {
                let text = "too late: it waits for its till; say that nothing is taken, and the payment is reversed";
                (Cancelled::TooLate, text.to_owned())
            }
            _ => {
                let reference = &sale.reference;
                let text = format!("too late: the request had left; the outcome will be under reference {reference}");
                (Cancelled::TooLate, text)
            }
        };
        Self { cancel, cancel_text, sale }
    }
}

/// A card as tills may see it.
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
    /// How the cardholder was verified, as the card says it (EMV Book 4, A4): `online-pin`, `offline-pin`, `signature`,
    /// `offline-pin-and-signature`, `consumer-device`, `none`. Only an approval proves that a PIN was right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<String>,
}
