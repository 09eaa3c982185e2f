//! The terminal's answers to a till. Unknown fields are ignored, and unknown words are accepted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::begin::{Kind, OnSilence};
use crate::problem::ProblemType;

/// A transaction.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Sale {
    /// The name of the till.
    pub till: String,
    /// The till's reference.
    pub reference: String,
    /// The number in the journal, which counts the transactions of all tills.
    pub number: u64,
    /// The same number with four digits.
    #[serde(default)]
    pub receipt_number: u16,
    /// The kind of transaction.
    pub kind: Kind,
    /// The earlier transaction: its reference, its payment ID, or `number 17` if it belongs to another till.
    pub of: Option<String>,
    /// The amount that can still be captured or refunded. It is present if a single transaction is requested.
    pub left: Option<String>,
    /// The requested amount, such as `12.34`.
    pub amount: String,
    /// The tip in addition to the amount.
    pub tip: Option<String>,
    /// The currency, ISO 4217.
    pub currency: String,
    /// The state.
    pub state: State,
    /// The outcome, absent until there is one.
    pub outcome: Option<Outcome>,
    /// The approved amount.
    pub approved_amount: Option<String>,
    /// The approval that the till must confirm.
    pub to_confirm: Option<ToConfirm>,
    /// The reason, as a word from the agent's closed list.
    pub reason: Option<String>,
    /// A sentence for the cashier.
    #[serde(default)]
    pub text: String,
    /// The last reported step, while the transaction is in progress.
    pub step: Option<String>,
    /// The remaining seconds of the present wait.
    pub left_s: Option<u64>,
    /// The start in UTC, in RFC 3339.
    pub started_at: String,
    /// The end in UTC, in RFC 3339. It is absent until the transaction has ended.
    pub ended_at: Option<String>,
    /// `true` if the reference was already known.
    #[serde(default)]
    pub replayed: bool,
    /// The gateway's payment ID.
    pub payment_id: Option<String>,
    /// The gateway's result code.
    pub code: Option<String>,
    /// The issuer's approval code.
    pub approval_code: Option<String>,
    /// The card data that a till is permitted to see.
    pub card: Option<Card>,
    /// The issuer's own words.
    pub status_text: Option<String>,
    /// The ID under which the gateway keeps the stored card.
    pub registration: Option<String>,
    /// The till's own texts.
    #[serde(default)]
    pub till_data: BTreeMap<String, String>,
}

/// Entries of the journal's chain.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Entries {
    /// The identity of the journal.
    pub journal: String,
    /// The last entry of the journal.
    pub last: LastEntry,
    /// The entries, in their order.
    pub entries: Vec<JournalEntry>,
}

/// The end of the chain.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LastEntry {
    /// The number of the entry, 0 in an empty journal.
    pub entry: i64,
    /// The hash of the entry, in hexadecimal.
    pub hash: String,
}

/// An entry of the journal's chain. A caller copies its content without reading all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JournalEntry {
    /// The number of the entry. For a range of removed entries, that of the last one.
    pub entry: i64,
    /// The hash of the entry, in hexadecimal.
    pub hash: String,
    /// The content. `is` names its kind. It is empty where a copy has number and hash only.
    #[serde(flatten)]
    pub content: Map<String, Value>,
}

impl JournalEntry {
    /// Returns the word for the kind of entry.
    #[must_use]
    pub fn is(&self) -> Option<&str> {
        self.content.get("is").and_then(Value::as_str)
    }

    /// Returns the first entry of a range of removed ones.
    #[must_use]
    pub fn first(&self) -> Option<i64> {
        self.content.get("first").filter(|_| self.is() == Some("removed")).and_then(Value::as_i64)
    }
}

/// The state of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The terminal waits for a card.
    WaitingForCard,
    /// The card or the gateway is being asked.
    InProgress,
    /// The cashier must compare the signature.
    AwaitingSignature,
    /// The issuer has approved, and the till must confirm that it takes the approval.
    AwaitingTill,
    /// The outcome is unknown, and the agent reverses the payment.
    Unconfirmed,
    /// The outcome is unknown, and the agent finishes the transaction.
    UnconfirmedFinishing,
    /// The transaction has an outcome.
    Ended,
    /// A state that this version does not know. It counts as not ended.
    #[serde(other)]
    Other,
}

/// The outcome of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The full amount was approved.
    Approved,
    /// Part of the amount was approved.
    PartiallyApproved,
    /// The issuer or the card declined.
    Declined,
    /// The customer or the till cancelled before anything was sent.
    Cancelled,
    /// No payment exists.
    NotSent,
    /// The payment was reversed.
    Reversed,
    /// An outcome that this version does not know.
    #[serde(other)]
    Other,
}

/// An approval that the till must confirm.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToConfirm {
    /// The amount that the issuer approved, such as `12.34`.
    pub amount: String,
    /// The agent's action if the till does not confirm the approval.
    pub on_silence: OnSilence,
}

/// The card data that a till is permitted to see.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Card {
    /// `pos.entryMode`: `ICC`, `NFC_ICC`, `NFC_MAGSTRIPE`, `MAGSTRIPE`, `MAGSTRIPE_AS_FALLBACK`, `MANUAL`.
    pub entry_mode: String,
    /// The brand or application name.
    pub brand: Option<String>,
    /// The last four digits.
    pub last4: Option<String>,
    /// The application identifier, in hexadecimal.
    pub aid: Option<String>,
    /// How the cardholder was verified: `online-pin`, `signature`, `none`, ….
    pub verification: Option<String>,
}

/// A refusal, as a problem details object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// A word from the closed list.
    pub code: String,
    /// The human-readable explanation.
    #[serde(default)]
    pub detail: String,
    /// The till whose transaction the refusal concerns.
    pub till: Option<String>,
    /// The reference of that transaction.
    pub reference: Option<String>,
}

impl Problem {
    /// Returns the problem type, or `None` for a word from a later agent version.
    #[must_use]
    pub fn known(&self) -> Option<ProblemType> {
        ProblemType::of_code(&self.code)
    }

    /// Returns whether the refusal has this problem type.
    #[must_use]
    pub fn is(&self, problem: ProblemType) -> bool {
        self.code == problem.code()
    }
}

/// The copy of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Copy {
    /// The customer's.
    Customer,
    /// The merchant's.
    Merchant,
}

impl Copy {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Customer => "customer",
            Self::Merchant => "merchant",
        }
    }
}

/// A receipt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// The copy.
    pub copy: Copy,
    /// The language, ISO 639-1.
    #[serde(default)]
    pub language: String,
    /// The receipt as lines of text.
    pub text: String,
    /// The parts of the receipt, from top to bottom.
    #[serde(default)]
    pub rows: Vec<Row>,
}

/// A part of a receipt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// The style of the part.
    pub is: RowIs,
    /// The text, or the label of a pair.
    #[serde(default)]
    pub text: String,
    /// The value of a pair.
    #[serde(default)]
    pub value: String,
}

/// The style of a part of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RowIs {
    /// A horizontal rule.
    Rule,
    /// Left-aligned text.
    Left,
    /// Centred text.
    Centred,
    /// Bold.
    Bold,
    /// Large.
    Large,
    /// An amount, large.
    Amount,
    /// A label and its value.
    Pair,
    /// The gateway's lines.
    Status,
    /// Space for a signature.
    SignatureLine,
    /// A style that this version does not know. It is shown as text at the left edge.
    #[serde(other)]
    Other,
}

/// An amount that was typed at the reader.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Typed {
    /// The amount, such as `12.34`.
    pub amount: String,
}

/// The status of the terminal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The agent's version.
    pub version: String,
    /// The terminal ID.
    pub terminal_id: String,
    /// The shop's lines.
    #[serde(default)]
    pub merchant: Vec<String>,
    /// The currency, ISO 4217.
    pub currency: Option<String>,
    /// The number of the currency, such as 978.
    pub currency_number: Option<u16>,
    /// The number of decimals of the currency.
    pub currency_decimals: Option<u8>,
    /// The caller's tills. The list is empty if the agent does not name them.
    #[serde(default)]
    pub tills: Vec<String>,
    /// The maximum waits.
    pub waits: Option<Waits>,
    /// `true` if a payment by card can be approved.
    pub ready: bool,
    /// `true` if a transaction is at the reader.
    pub busy: bool,
    /// The state of the reader: `ready`, or the reason why it is not ready.
    pub reader: Reader,
    /// The state of the gateway.
    pub gateway: Gateway,
    /// The printers.
    pub printers: Vec<Printer>,
    /// The clock.
    pub clock: Clock,
}

/// The reader.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Reader {
    /// The state, as a word of the agent.
    pub state: String,
    /// The model.
    pub model: Option<String>,
    /// The reader's serial number.
    pub serial: Option<String>,
    /// `true` if the card of the last payment is still in the reader.
    #[serde(default)]
    pub card_left: bool,
}

/// The gateway.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Gateway {
    /// The state, as a word of the agent.
    pub state: String,
}

/// The clock.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Clock {
    /// The local time, in RFC 3339. It is absent if the agent has no reliable time.
    pub time: Option<String>,
}

/// A printer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Printer {
    /// The state, as a word of the agent: `ready`, `paper-out`, ….
    pub state: String,
}

/// The maximum waits, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Waits {
    /// The wait for a card.
    pub card_s: u64,
    /// The wait for the gateway.
    pub answer_s: u64,
    /// The wait for the signature.
    pub signature_s: u64,
}

/// A close of day.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Close {
    /// The number of the close, counted from 1.
    pub number: u64,
    /// The reference of the close, if it has one.
    pub reference: Option<String>,
    /// `true` if the close already existed under this reference.
    #[serde(default)]
    pub replayed: bool,
    /// The period of the close, as far as a till sees it.
    pub period: Period,
    /// The number of the first transaction in the close, absent if there is none.
    pub first_number: Option<u64>,
    /// The number of the last transaction in the close, absent if there is none.
    pub last_number: Option<u64>,
    /// The amounts taken and given, by currency.
    #[serde(default)]
    pub net: Vec<Turnover>,
    /// The amounts taken and given, by card brand.
    #[serde(default)]
    pub brands: Vec<Turnover>,
    /// The sums by kind and card scheme.
    #[serde(default)]
    pub schemes: Vec<Sum>,
    /// The sums by kind.
    #[serde(default)]
    pub kinds: Vec<Sum>,
    /// The amounts taken and given, by till.
    #[serde(default)]
    pub tills: Vec<Turnover>,
    /// The sums of each till. The list is empty in a close by an earlier agent version.
    #[serde(default)]
    pub own: Vec<OwnSums>,
    /// The transactions that the close does not count yet.
    #[serde(default)]
    pub open: Vec<OpenItem>,
    /// The reason why the close was not printed, although this was requested.
    pub not_printed: Option<String>,
}

impl Close {
    /// Returns the close with the sums of only one till. Returns `None` for a close by an earlier agent version, which
    /// kept only the amounts that each till took and gave.
    #[must_use]
    pub fn of_till(&self, till: &str) -> Option<Self> {
        let is_its = |turnover: &&Turnover| turnover.name.as_deref() == Some(till);
        let net = self.tills.iter().filter(is_its).cloned().map(|net| Turnover { name: None, ..net }).collect();
        let own = self.own.iter().find(|own| own.till == till);
        if own.is_none() && self.own.is_empty() && self.tills.iter().any(|turnover| is_its(&turnover)) {
            return None;
        }
        Some(Self {
            first_number: own.map(|own| own.first_number),
            last_number: own.map(|own| own.last_number),
            net,
            brands: own.map(|own| own.brands.clone()).unwrap_or_default(),
            schemes: own.map(|own| own.schemes.clone()).unwrap_or_default(),
            kinds: Vec::new(),
            ..self.clone()
        })
    }
}

/// The sums of one till in a close, in the form of the agent's `TillSums`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OwnSums {
    /// The till.
    pub till: String,
    /// The number of the till's first counted transaction.
    pub first_number: u64,
    /// The number of the till's last counted transaction.
    pub last_number: u64,
    /// The amounts taken and given, by card brand.
    pub brands: Vec<Turnover>,
    /// The sums by kind and card scheme.
    pub schemes: Vec<Sum>,
}

/// An item that a close does not count yet.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpenItem {
    /// The reason: `pre-authorisation`, `unconfirmed`, ….
    pub is: String,
    /// The number in the journal.
    pub number: u64,
    /// The till, absent if the caller is not permitted to see it.
    pub till: Option<String>,
}

/// The period of a close.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Period {
    /// The time of the previous close, in RFC 3339 with offset.
    pub from: Option<String>,
    /// The time of this close, in RFC 3339 with offset.
    pub to: String,
}

/// The amounts taken and given in one currency.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Turnover {
    /// The brand or till, absent for the total.
    pub name: Option<String>,
    /// The currency, ISO 4217.
    pub currency: String,
    /// The number of transactions that moved money.
    pub count: u64,
    /// The amount taken, such as `12.34`.
    pub taken: String,
    /// The amount given, such as `12.34`.
    pub given: String,
    /// The amount taken minus the amount given. It is negative if more was given.
    pub net: String,
}

/// One sum of a close.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sum {
    /// The kind of transaction.
    pub kind: Kind,
    /// The card scheme, absent for the total.
    pub scheme: Option<String>,
    /// The currency, ISO 4217.
    pub currency: String,
    /// The number of transactions.
    pub count: u64,
    /// The sum, such as `12.34`.
    pub sum: String,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Sales {
    pub(crate) sales: Vec<Sale>,
    pub(crate) next: Option<String>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Cancelled {
    pub(crate) cancel: String,
    #[serde(flatten)]
    pub(crate) sale: Box<Sale>,
}
