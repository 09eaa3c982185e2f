//! Tills: the one language that every way in is translated into, and the ways in.
//!
//! A till asks with a [`Command`] and hears a [`SaleView`] or a [`Refused`]; whoever listens hears every [`Progress`].
//! Tills know money and words, no devices: what a step means is decided elsewhere. [`serve`] opens the ways in; `http`
//! is the JSON interface on a Unix socket and on loopback TCP.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::money::{Amount, Currency};
use crate::transaction::{Kind, OutcomeWord, PaymentId, ReceiptCopy, Reference, SaleNumber, Who};

pub mod http;
mod operators;
mod rights;
mod serve;
mod status;
mod totals;
mod wanted;

pub use operators::{ApprovalView, OperatorCommand, OperatorRefused, OperatorView, OperatorsView, SessionView};
pub use rights::{Caller, Denied, Permit, Presence, SignedIn, Verb};
pub use serve::{Error, Served, serve};
pub use status::{
    Attention, AttentionView, ClockState, ClockView, ConfigFileView, GatewayState, GatewayView, JournalState,
    JournalView, KeysView, PrinterState, PrinterView, ReaderState, ReaderView, StatusView,
};
pub use totals::{Sum, TotalsView};
pub use wanted::{EarlierName, Field, FieldMisfit, RequestFields, Wanted, WantedTransaction};

/// What a till asks, with the place for the answer.
#[derive(Debug)]
pub enum Command {
    /// Begin a sale or another transaction, or hear what became of it when the reference is known.
    Begin {
        /// What is wanted.
        wanted: Box<Wanted>,
        /// The sale as it stands once it is recorded.
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    },
    /// The sale of one reference.
    Show {
        /// The till's name.
        till: String,
        /// The reference.
        reference: Reference,
        /// The sale as it stands.
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    },
    /// The latest transaction of a till.
    Latest {
        /// The till's name.
        till: String,
        /// The sale as it stands.
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    },
    /// The sales with a number above `since`, oldest first, at most `limit`.
    List {
        /// The till's name; `None` is every till's.
        till: Option<String>,
        /// Sequence number to start after.
        since: SaleNumber,
        /// At most so many.
        limit: u32,
        /// The sales.
        reply: oneshot::Sender<Result<Vec<SaleView>, Refused>>,
    },
    /// Count for the closing of a day.
    Totals {
        /// The till's name; `None` is every till's.
        till: Option<String>,
        /// Sequence number to start after.
        since: SaleNumber,
        /// Numbers that had no end the last time.
        carried: Vec<SaleNumber>,
        /// The sums.
        reply: oneshot::Sender<Result<TotalsView, Refused>>,
    },
    /// Let an amount be typed at the reader; nothing is begun by it.
    TypeAmount {
        /// Its currency.
        currency: Currency,
        /// What was typed.
        reply: oneshot::Sender<Result<Amount, Refused>>,
    },
    /// Stop a sale.
    Cancel {
        /// The till's name.
        till: String,
        /// The reference.
        reference: Reference,
        /// Who asks.
        by: Who,
        /// The sale as it then stands; [`CancelView`] says what that means.
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    },
    /// Tell whether the signature on the slip is the card's.
    Signature {
        /// The till's name.
        till: String,
        /// The reference.
        reference: Reference,
        /// It is; otherwise the payment is reversed.
        accepted: bool,
        /// Who found that.
        by: Who,
        /// The sale as it stands. The same answer once more changes nothing.
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    },
    /// Tell what becomes of an open sale of a journal that was found to be an old copy.
    Settle {
        /// The sale's number.
        number: SaleNumber,
        /// What was paid stays; otherwise it is reversed.
        keep: bool,
        /// Who decided.
        by: Who,
        /// The sale as it stands.
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    },
    /// A receipt as text.
    Receipt {
        /// The till's name.
        till: String,
        /// The reference.
        reference: Reference,
        /// Whose copy.
        copy: ReceiptCopy,
        /// Lines separated by line feeds.
        reply: oneshot::Sender<Result<String, Refused>>,
    },
    /// Print a receipt again, marked as a duplicate.
    Print {
        /// The till's name.
        till: String,
        /// The reference.
        reference: Reference,
        /// Whose copy.
        copy: ReceiptCopy,
        /// It is on its way.
        reply: oneshot::Sender<Result<PrintView, Refused>>,
    },
    /// A payment as the gateway knows it now.
    Payment {
        /// Its id.
        id: PaymentId,
        /// Its fields by their flat names.
        reply: oneshot::Sender<Result<BTreeMap<String, String>, Refused>>,
    },
    /// The payments that the gateway finds by filters.
    Query {
        /// The interface's query parameters.
        filters: Vec<(String, String)>,
        /// The fields of each by their flat names.
        reply: oneshot::Sender<Result<Vec<BTreeMap<String, String>>, Refused>>,
    },
    /// Log more or less for a while.
    Log {
        /// How much; `None`: as the program was started.
        level: Option<LogLevel>,
        /// For how long.
        lasts: Duration,
        /// Who asks.
        by: Who,
        /// What is logged now; `None`: as the program was started.
        reply: oneshot::Sender<Result<Option<LogView>, Refused>>,
    },
    /// Who stands at the counter.
    Operators(OperatorCommand),
    /// What is counted and measured, as text for machines.
    Metrics {
        /// OpenMetrics.
        reply: oneshot::Sender<String>,
    },
    /// The terminal's state.
    Status {
        /// Who asks: of the sales that it does not hear of it is told nothing.
        permit: Permit,
        /// The state.
        reply: oneshot::Sender<StatusView>,
    },
}

/// The ends of the till's wires that the agent holds.
#[derive(Debug)]
pub struct Wires {
    /// What the tills ask, in their order.
    pub commands: mpsc::Receiver<Command>,
    /// Where every step is announced.
    pub progress: broadcast::Sender<Progress>,
}

/// One step that a cashier should see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The till whose sale it is; empty for the terminal itself.
    pub till: String,
    /// The sale's reference; empty for the terminal itself.
    pub reference: String,
    /// The step as a word for programs: `present-card`, `insert-card`, `pin-entry`, `authorising`, `remove-card`,
    /// `ended`, `alarm`, …
    pub step: String,
    /// The step as a sentence for people, without control bytes.
    pub text: String,
    /// The sale as it now stands, with steps that change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale: Option<Box<SaleView>>,
}

/// Where a sale stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SaleState {
    /// Waiting for a card.
    WaitingForCard,
    /// The gateway was asked, or the card is being answered.
    InProgress,
    /// Approved; the signature on the slip is to be compared and accepted or refused.
    AwaitingSignature,
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
    /// What was asked for, as `12.34`.
    pub amount: String,
    /// The tip that the cardholder typed at the reader; it is charged on top of `amount`.
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
    /// Why it ended so, or why nobody knows: one word of a closed list (`pos-agent reasons`). Absent with `approved`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why it is not settled yet, as a word of the same list: with `unconfirmed` and `unconfirmed-finishing`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsettled: Option<String>,
    /// One sentence for the cashier.
    pub text: String,
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
    /// The registration under which the gateway keeps the card, when that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<String>,
    /// What else the gateway said, by its own flat names; told when one sale is asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answer: BTreeMap<String, String>,
}

/// A transaction that refers to an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// How much is logged, when it is not as the program was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogLevel {
    /// What happens to each sale, and what is wrong.
    Info,
    /// What each device says and is told, without what is in it.
    Debug,
    /// Everything that any part of the program says.
    Trace,
}

impl LogLevel {
    /// As it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// How much is logged, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogView {
    /// How much.
    pub level: LogLevel,
    /// After so many seconds it is again as the program was started.
    pub left_s: u64,
}

/// What shows whether an update is good: what answers under this program, and what did under the one before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HealthView {
    /// This program: its version, and when it was built.
    pub program: String,
    /// The one before it on this board; absent when it is the first one that the journal knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Why the journal cannot be written, with the remedy; absent when this program has written it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
    /// The card reader.
    pub reader: Health,
    /// The gateway.
    pub gateway: Health,
}

/// Whether a device speaks for an update or against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    /// It has answered under this program.
    Answered,
    /// It answered under the program before, and has not yet under this one.
    Awaited,
    /// It did not answer under the program before either, as far as that is known: no fault of this one.
    NotCounted,
}

/// The port where tills with a token connect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PortView {
    /// Its address.
    pub address: String,
    /// Why nobody can connect there, and what to do; it is tried again by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// A receipt that is on its way to a printer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PrintView {
    /// The printer's name.
    pub printer: String,
    /// Its state, as [`PrinterView::state`].
    pub state: PrinterState,
    /// The same as words for people, as [`PrinterView::text`].
    pub text: String,
    /// How many receipts wait there, this one included.
    pub waiting: usize,
}

/// Why a command is not carried out. Nothing was recorded and nothing was charged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The reference is known with another amount or currency, or was asked for with something else.
    #[error(
        "reference {reference} is a sale of {known} already, and was asked for in another way; use a new reference for another one"
    )]
    AmountDiffers {
        /// The reference.
        reference: Reference,
        /// What it was for.
        known: String,
    },
    /// Another sale is under way.
    #[error("the terminal is busy with sale {reference} of till {till}; wait for it or cancel it")]
    Busy {
        /// Its till.
        till: String,
        /// Its reference.
        reference: Reference,
    },
    /// Another till's sale is under way; which, is not this till's business.
    #[error("the terminal is busy with a sale of another till; try again when that has ended")]
    BusyElsewhere,
    /// No sale can be taken now.
    #[error("no sale can be taken: {why}")]
    NotReady {
        /// Why, with the remedy.
        why: String,
    },
    /// The caller may not.
    #[error("{0}")]
    Denied(#[from] Denied),
    /// Something about an operator.
    #[error("{0}")]
    Operator(#[from] OperatorRefused),
    /// Nobody waits for a signature.
    #[error("no signature is waited for: {stands}")]
    NoSignatureAwaited {
        /// How the sale stands, in words.
        stands: String,
    },
    /// The sale has not ended, and its receipt comes at its end.
    #[error("the sale {stands}; its receipt comes when it has ended")]
    NoReceiptYet {
        /// How it stands, as words behind "the sale".
        stands: &'static str,
    },
    /// The earlier transaction does not allow it.
    #[error("{why}")]
    NotPossible {
        /// Why, with the remedy.
        why: String,
    },
    /// A parameter for the gateway cannot be sent.
    #[error("{name}: {why}")]
    Parameter {
        /// Its name.
        name: String,
        /// What is wrong; never the value.
        why: String,
    },
    /// The amount cannot be charged here.
    #[error("{why}")]
    Amount {
        /// Why, with the remedy.
        why: String,
    },
    /// The terminal has another currency.
    #[error(
        "{wanted} cannot be charged here: this terminal takes {terminal} and no other currency; leave the currency out, or \
         see [terminal] currency"
    )]
    Currency {
        /// What was wanted.
        wanted: Currency,
        /// What the terminal has.
        terminal: String,
    },
    /// The till has none yet.
    #[error("till {till} has no transaction yet")]
    NoneYet {
        /// The till.
        till: String,
    },
    /// No sale has this reference.
    #[error("no sale of till {till} has the reference {reference}")]
    NoSuchSale {
        /// The till.
        till: String,
        /// The reference.
        reference: Reference,
    },
    /// A receipt cannot be printed.
    #[error("the receipt cannot be printed: {why}")]
    Printer {
        /// Why, with the remedy.
        why: String,
    },
    /// The gateway does not answer the question.
    #[error("the gateway does not answer: {why}")]
    Gateway {
        /// Why, with the remedy.
        why: String,
    },
    /// The journal cannot be read or written.
    #[error("the journal cannot be used: {why}")]
    Journal {
        /// Why, with the remedy.
        why: String,
    },
}

impl Refused {
    /// As somebody may hear it who `hears` of some tills: without the references of the others.
    #[must_use]
    pub fn told_to(self, hears: impl Fn(&str) -> bool) -> Self {
        match self {
            Self::Busy { till, .. } if !hears(&till) => Self::BusyElsewhere,
            told => told,
        }
    }
}
