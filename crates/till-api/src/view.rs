//! What the terminal tells a till. Fields and words that this program does not know are passed over.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::begin::{Kind, OnSilence};
use crate::problem::ProblemType;

/// A transaction.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Sale {
    /// The till's name.
    pub till: String,
    /// The till's reference.
    pub reference: String,
    /// In the journal, which counts all tills' together.
    pub number: u64,
    /// The same on four digits.
    #[serde(default)]
    pub receipt_number: u16,
    /// What kind.
    pub kind: Kind,
    /// The reference of the earlier transaction, or its payment id, or `number 17` when it is another till's.
    pub of: Option<String>,
    /// What can still be captured or refunded; told when one is asked for.
    pub left: Option<String>,
    /// What was asked for, as `12.34`.
    pub amount: String,
    /// On top of it.
    pub tip: Option<String>,
    /// ISO 4217.
    pub currency: String,
    /// Where it stands.
    pub state: State,
    /// How it ended; absent while it has not.
    pub outcome: Option<Outcome>,
    /// What was approved.
    pub approved_amount: Option<String>,
    /// What the till is to confirm.
    pub to_confirm: Option<ToConfirm>,
    /// One word of the agent's closed list.
    pub reason: Option<String>,
    /// One sentence for the cashier.
    #[serde(default)]
    pub text: String,
    /// The last step that was announced, while it is under way.
    pub step: Option<String>,
    /// Seconds that are left of the present wait.
    pub left_s: Option<u64>,
    /// UTC, RFC 3339.
    pub started_at: String,
    /// The same; absent while it has not ended.
    pub ended_at: Option<String>,
    /// Whether the reference was known already.
    #[serde(default)]
    pub replayed: bool,
    /// The gateway's payment id.
    pub payment_id: Option<String>,
    /// The gateway's result code.
    pub code: Option<String>,
    /// The issuer's approval code.
    pub approval_code: Option<String>,
    /// The card, as far as it may be shown.
    pub card: Option<Card>,
    /// The bank's own words.
    pub status_text: Option<String>,
    /// Under which the gateway keeps the card.
    pub registration: Option<String>,
    /// The till's own texts.
    #[serde(default)]
    pub till_data: BTreeMap<String, String>,
}

/// Where a transaction stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// No card yet.
    WaitingForCard,
    /// The gateway is asked, or the card answered.
    InProgress,
    /// The signature is to be compared.
    AwaitingSignature,
    /// Approved by the bank; the till has to say that it takes it.
    AwaitingTill,
    /// Nobody knows; it is being taken back.
    Unconfirmed,
    /// Nobody knows; it is being finished.
    UnconfirmedFinishing,
    /// It has an outcome.
    Ended,
    /// One that this program does not know: not ended.
    #[serde(other)]
    Other,
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// In full.
    Approved,
    /// In part.
    PartiallyApproved,
    /// By bank or card.
    Declined,
    /// By customer or till, before anything was sent.
    Cancelled,
    /// No payment exists.
    NotSent,
    /// It was taken back.
    Reversed,
    /// One that this program does not know.
    #[serde(other)]
    Other,
}

/// What a till is to confirm.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToConfirm {
    /// What the bank approved, as `12.34`.
    pub amount: String,
    /// What becomes of it otherwise.
    pub on_silence: OnSilence,
}

/// A card as a till may see it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Card {
    /// `pos.entryMode`: `ICC`, `NFC_ICC`, `NFC_MAGSTRIPE`, `MAGSTRIPE`, `MAGSTRIPE_AS_FALLBACK`, `MANUAL`.
    pub entry_mode: String,
    /// Brand or application name.
    pub brand: Option<String>,
    /// Last four digits.
    pub last4: Option<String>,
    /// Application identifier, hexadecimal.
    pub aid: Option<String>,
    /// How the cardholder was verified: `online-pin`, `signature`, `none`, ….
    pub verification: Option<String>,
}

/// A refusal: a problem details object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// HTTP status.
    pub status: u16,
    /// One word of a closed list.
    pub code: String,
    /// For people.
    #[serde(default)]
    pub detail: String,
    /// The till of the transaction that it is about.
    pub till: Option<String>,
    /// Its reference.
    pub reference: Option<String>,
}

impl Problem {
    /// Which one of the closed list; `None` for a word of a later agent.
    #[must_use]
    pub fn known(&self) -> Option<ProblemType> {
        ProblemType::of_code(&self.code)
    }

    /// Whether it is this one.
    #[must_use]
    pub fn is(&self, problem: ProblemType) -> bool {
        self.code == problem.code()
    }
}

/// Whose copy of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Copy {
    /// The customer's.
    Customer,
    /// The shop's.
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
    /// Whose copy.
    pub copy: Copy,
    /// ISO 639-1.
    #[serde(default)]
    pub language: String,
    /// Lines.
    pub text: String,
    /// Its parts from the top.
    #[serde(default)]
    pub rows: Vec<Row>,
}

/// A part of a receipt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// How it is shown.
    pub is: RowIs,
    /// What it says, of a pair the label.
    #[serde(default)]
    pub text: String,
    /// The value of a pair.
    #[serde(default)]
    pub value: String,
}

/// How a part of a receipt is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RowIs {
    /// A line across.
    Rule,
    /// At the left.
    Left,
    /// In the middle.
    Centred,
    /// Bold.
    Bold,
    /// Large.
    Large,
    /// An amount, large.
    Amount,
    /// A label and its value.
    Pair,
    /// The bank's lines.
    Status,
    /// Room for a signature.
    SignatureLine,
    /// One that this program does not know: as text at the left.
    #[serde(other)]
    Other,
}

/// An amount that was typed at the reader.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Typed {
    /// As `12.34`.
    pub amount: String,
}

/// How the terminal stands.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Of the program.
    pub version: String,
    /// Terminal id.
    pub terminal_id: String,
    /// The shop's lines.
    #[serde(default)]
    pub merchant: Vec<String>,
    /// ISO 4217.
    pub currency: Option<String>,
    /// The same by its number, as 978.
    pub currency_number: Option<u16>,
    /// Decimals of its minor unit.
    pub currency_decimals: Option<u8>,
    /// The tills that whoever asked speaks for; none when the agent does not tell.
    #[serde(default)]
    pub tills: Vec<String>,
    /// The longest waits.
    pub waits: Option<Waits>,
    /// A sale with a card can be approved.
    pub ready: bool,
    /// One is at the reader.
    pub busy: bool,
    /// State of the reader: `ready`, or why it is not.
    pub reader: Reader,
    /// State of the gateway.
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
    /// A word of the agent's.
    pub state: String,
    /// Who it is.
    pub model: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
    /// The card of the last payment is still in it.
    #[serde(default)]
    pub card_left: bool,
}

/// The gateway.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Gateway {
    /// A word of the agent's.
    pub state: String,
}

/// The clock.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Clock {
    /// Local, RFC 3339; absent when none can be right.
    pub time: Option<String>,
}

/// A printer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Printer {
    /// A word of the agent's: `ready`, `paper-out`, ….
    pub state: String,
}

/// The longest waits, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Waits {
    /// For a card.
    pub card_s: u64,
    /// For the gateway.
    pub answer_s: u64,
    /// For the signature.
    pub signature_s: u64,
}

/// A close of day.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Close {
    /// Counted from 1.
    pub number: u64,
    /// The reference by which it was made, where it has one.
    pub reference: Option<String>,
    /// It was made before, under this reference.
    #[serde(default)]
    pub replayed: bool,
    /// What it covers, as far as a till sees it.
    pub period: Period,
    /// The number of the first transaction that it counts; absent where it counts none.
    pub first_number: Option<u64>,
    /// The number of the last one.
    pub last_number: Option<u64>,
    /// Taken and given, by currency.
    #[serde(default)]
    pub net: Vec<Turnover>,
    /// Taken and given by the card's brand.
    #[serde(default)]
    pub brands: Vec<Turnover>,
    /// By kind and card scheme.
    #[serde(default)]
    pub schemes: Vec<Sum>,
    /// By kind.
    #[serde(default)]
    pub kinds: Vec<Sum>,
    /// By till.
    #[serde(default)]
    pub tills: Vec<Turnover>,
    /// Each till's own sums; none in a close of an earlier agent.
    #[serde(default)]
    pub own: Vec<OwnSums>,
    /// What it does not count yet.
    #[serde(default)]
    pub open: Vec<OpenItem>,
    /// Why it is not printed although that was wanted.
    pub not_printed: Option<String>,
}

impl Close {
    /// The same with the sums of one till alone. None where an earlier agent has made it, which kept no more than what
    /// each till took and gave.
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

/// What a close counts of one till, as the agent's `TillSums`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OwnSums {
    /// The till.
    pub till: String,
    /// The number of its first transaction that is counted.
    pub first_number: u64,
    /// The number of the last one.
    pub last_number: u64,
    /// Taken and given by the card's brand.
    pub brands: Vec<Turnover>,
    /// By kind and card scheme.
    pub schemes: Vec<Sum>,
}

/// Something that a close does not count yet.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpenItem {
    /// Why: `pre-authorisation`, `unconfirmed`, ….
    pub is: String,
    /// Its number in the journal.
    pub number: u64,
    /// Its till; absent where the caller may not see it.
    pub till: Option<String>,
}

/// When a close begins and ends.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Period {
    /// When the close before was made, RFC 3339 with offset.
    pub from: Option<String>,
    /// When this one was made.
    pub to: String,
}

/// Taken and given in one currency.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Turnover {
    /// The brand; absent where all are together.
    pub name: Option<String>,
    /// ISO 4217.
    pub currency: String,
    /// Transactions that moved money.
    pub count: u64,
    /// As `12.34`.
    pub taken: String,
    /// As `12.34`.
    pub given: String,
    /// With a minus when more was given.
    pub net: String,
}

/// One line of a close.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sum {
    /// What kind.
    pub kind: Kind,
    /// The card's brand; absent where all are together.
    pub scheme: Option<String>,
    /// ISO 4217.
    pub currency: String,
    /// How many.
    pub count: u64,
    /// As `12.34`.
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
