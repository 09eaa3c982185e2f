//! Tills: the one language that every way in is translated into, and the ways in.
//!
//! A till asks with a [`Command`] and hears a [`SaleView`] or a [`Refused`]; whoever listens hears every [`Progress`].
//! Tills know money and words, no devices: what a step means is decided elsewhere. [`serve()`] opens the ways in;
//! `http` is the JSON interface on a Unix socket and on loopback TCP.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use pos_core::counter::Close;
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{PaymentId, ReceiptCopy, Reference, SaleNumber, Taken, Who};

mod closes;
pub mod http;
mod lines_to_print;
mod operators;
mod problem;
mod progress_log;
mod receipt_view;
mod refused;
mod rights;
mod sale_view;
mod serve;
mod service_view;
mod status;
mod till_side;
mod totals;
mod wanted;

pub use closes::{CloseAsked, CloseView, ShownClose, WhichClose};
pub use lines_to_print::{LineAlign, LineCode, LineStyle, LineToPrint};
pub use operators::{
    ApprovalView, ConfirmedView, OperatorCommand, OperatorRefused, OperatorView, OperatorsView, SessionView,
};
pub use problem::{ProblemType, ProblemView};
pub use progress_log::{Announced, Missed, NoProgressId, ProgressId, ProgressListener, ProgressLog};
pub use receipt_view::{ReceiptRowIs, ReceiptRowView, ReceiptView};
pub use refused::Refused;
pub use rights::{Caller, Denied, Permit, Presence, SignedIn, Verb};
pub use sale_view::{CancelView, Cancelled, CardView, LaterView, SaleState, SaleView, ToConfirm};
pub use serve::{Error, Served, serve};
pub use service_view::{Health, HealthView, LogLevel, LogView, PortView, PrintView};
pub use status::{
    Attention, AttentionView, ClockState, ClockView, ConfigFileView, GatewayState, GatewayView, JournalState,
    JournalView, KeysView, PrinterState, PrinterView, ReaderState, ReaderView, StatusView, TipsView, WaitsView,
};
pub use till_side::TillSide;
pub use totals::TotalsView;
pub use wanted::Wanted;

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
    /// The same of training: of what is in its journal, to the trainer instead of reader and gateway.
    InTraining(Box<Self>),
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
    /// The sales with a number above `above` and below `below`, newest first, at most `limit`.
    ListNewest {
        /// The till's name; `None` is every till's.
        till: Option<String>,
        /// Sequence number to end before.
        above: SaleNumber,
        /// Sequence number to begin under.
        below: SaleNumber,
        /// Only those whose reference has this in it.
        reference: Option<String>,
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
    /// Close the day, or hear of the close that this reference has made.
    Close {
        /// What is wanted.
        wish: CloseAsked,
        /// The close, once it is recorded.
        reply: oneshot::Sender<Result<CloseView, Refused>>,
    },
    /// One close, as its caller may see it.
    ShowClose {
        /// Which.
        which: WhichClose,
        /// Who asks: what other tills call their transactions is not told to every one.
        permit: Permit,
        /// The close and its slip.
        reply: oneshot::Sender<Result<ShownClose, Refused>>,
    },
    /// Closes with a number below this, the newest first, at most `limit`.
    ListCloses {
        /// The number to begin under.
        below: u64,
        /// At most so many.
        limit: u32,
        /// The closes.
        reply: oneshot::Sender<Result<Vec<Close>, Refused>>,
    },
    /// Print a close again, marked as a duplicate.
    PrintClose {
        /// Which.
        which: WhichClose,
        /// It is on its way.
        reply: oneshot::Sender<Result<PrintView, Refused>>,
    },
    /// Let an amount be typed at the reader; nothing is begun by it.
    TypeAmount {
        /// Its currency.
        currency: Currency,
        /// What was typed.
        reply: oneshot::Sender<Result<Amount, Refused>>,
    },
    /// Whoever waited for an amount may have given up: then the reader asks no more.
    NoAmountWanted,
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
    /// Say whether the till takes what was approved.
    Confirm {
        /// The till's name.
        till: String,
        /// The reference.
        reference: Reference,
        /// What it takes.
        taken: Taken,
        /// Who says so.
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
    /// A receipt, to be read.
    Receipt {
        /// The till's name.
        till: String,
        /// The reference.
        reference: Reference,
        /// Whose copy.
        copy: ReceiptCopy,
        /// Characters of a line; `None`: as on the terminal's paper.
        width: Option<u8>,
        /// It says that it is a duplicate.
        duplicate: bool,
        /// The receipt.
        reply: oneshot::Sender<Result<Box<ReceiptView>, Refused>>,
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
    /// Show a text of the till's own on the reader, between sales.
    ShowText {
        /// Lines of it end with a line feed.
        text: String,
        /// The reader has it.
        reply: oneshot::Sender<Result<(), Refused>>,
    },
    /// Print lines of the till's own, which are no receipt of this terminal.
    PrintLines {
        /// From the top.
        lines: Vec<LineToPrint>,
        /// They are on paper, as far as the printer tells.
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

impl Command {
    /// Answers that it is not carried out; of what has no such answer the till hears that nobody answers.
    pub fn refuse(self, refused: Refused) {
        match self {
            Self::InTraining(command) => command.refuse(refused),
            Self::Begin { reply, .. }
            | Self::Show { reply, .. }
            | Self::Latest { reply, .. }
            | Self::Cancel { reply, .. }
            | Self::Signature { reply, .. }
            | Self::Confirm { reply, .. } => drop(reply.send(Err(refused))),
            Self::List { reply, .. } | Self::ListNewest { reply, .. } => drop(reply.send(Err(refused))),
            Self::Receipt { reply, .. } => drop(reply.send(Err(refused))),
            Self::Print { reply, .. } | Self::PrintLines { reply, .. } => drop(reply.send(Err(refused))),
            _ => {}
        }
    }
}

/// The ends of the till's wires that the agent holds.
#[derive(Debug)]
pub struct Wires {
    /// What the tills ask, in their order.
    pub commands: mpsc::Receiver<Command>,
    /// Where every step is announced.
    pub progress: ProgressLog,
}

/// One step that a cashier should see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The till whose sale it is; empty for the terminal itself.
    pub till: String,
    /// The sale's reference; empty for the terminal itself.
    pub reference: String,
    /// The step as a word for programs: `present-card`, `insert-card`, `pin-entry`, `authorising`, `remove-card`,
    /// `confirm-needed`, `ended`, `alarm`, …
    pub step: String,
    /// The step as a sentence for people, without control bytes.
    pub text: String,
    /// The sale is one of training.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub training: bool,
    /// The sale as it now stands, with steps that change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale: Option<Box<SaleView>>,
}
