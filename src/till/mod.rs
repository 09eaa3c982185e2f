//! Tills: the connections for tills, and the command language into which each connection translates its requests.
//!
//! A till sends a [`Command`] and gets a [`SaleView`] or a [`Refused`]. Each listener gets every [`Progress`]. This
//! module knows money and texts but no devices. Other modules decide the meaning of a step. [`serve()`] opens the
//! connections, and `http` is the JSON interface on a Unix socket and on loopback TCP.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use pos_core::counter::Close;
use pos_journal::Entries;
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{PaymentId, ReceiptCopy, Reference, SaleNumber, Taken, Who};

mod closes;
mod fleet;
mod fleet_settings;
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
pub use fleet::{CommandEnd, FleetConnection, FleetOrder, FleetRefused, FleetRequest, FleetTaken};
pub use fleet_settings::FleetSettingsRequest;
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
pub use serve::{Error, Served, ServedTerminal, serve};
pub use service_view::{Health, HealthView, LogLevel, LogView, PortView, PrintView};
pub use status::{
    Attention, AttentionView, ClockState, ClockView, ConfigFileView, GatewayState, GatewayView, JournalState,
    JournalView, KeysView, PrinterState, PrinterView, ReaderState, ReaderView, StatusView, TipsView, WaitsView,
};
pub use till_side::TillSide;
pub use totals::TotalsView;
pub use wanted::Wanted;

/// A till's request, with the channel for the answer.
#[derive(Debug)]
pub enum Command {
    /// Begin a sale or another transaction, or return its state if the reference is known.
    Begin {
        /// The request.
        wanted: Box<Wanted>,
        /// The transaction, once it is recorded.
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    },
    /// The same command for training, with the training journal and the trainer instead of reader and gateway.
    InTraining(Box<Self>),
    /// Show the transaction of one reference.
    Show {
        /// The till's name.
        till: String,
        /// The reference.
        reference: Reference,
        /// The transaction in its current state.
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    },
    /// Show the latest transaction of a till.
    Latest {
        /// The till's name.
        till: String,
        /// The transaction in its current state.
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    },
    /// List the transactions with a number above `since`, oldest first, at most `limit`.
    List {
        /// The till's name, or `None` for all tills.
        till: Option<String>,
        /// The number after which the list or count begins.
        since: SaleNumber,
        /// The greatest number of transactions to list.
        limit: u32,
        /// The transactions.
        reply: oneshot::Sender<Result<Vec<SaleView>, Refused>>,
    },
    /// List the transactions with a number above `above` and below `below`, newest first, at most `limit`.
    ListNewest {
        /// The till's name, or `None` for all tills.
        till: Option<String>,
        /// The number above which transactions are listed.
        above: SaleNumber,
        /// The number below which the list begins.
        below: SaleNumber,
        /// Only transactions whose reference contains this text.
        reference: Option<String>,
        /// The greatest number of transactions to list.
        limit: u32,
        /// The transactions.
        reply: oneshot::Sender<Result<Vec<SaleView>, Refused>>,
    },
    /// Count the transactions after a number.
    Totals {
        /// The till's name, or `None` for all tills.
        till: Option<String>,
        /// The number after which the list or count begins.
        since: SaleNumber,
        /// The numbers of the transactions that had no outcome at the last count.
        carried: Vec<SaleNumber>,
        /// The sums.
        reply: oneshot::Sender<Result<TotalsView, Refused>>,
    },
    /// Close the day, or return the close that already has this reference.
    Close {
        /// The request.
        wish: CloseAsked,
        /// The close, once it is recorded.
        reply: oneshot::Sender<Result<CloseView, Refused>>,
    },
    /// Show one close, limited to the caller's rights.
    ShowClose {
        /// The choice of the close.
        which: WhichClose,
        /// The caller's permit. Without the right, the caller does not see the references of other tills.
        permit: Permit,
        /// The close and its slip.
        reply: oneshot::Sender<Result<ShownClose, Refused>>,
    },
    /// List closes with a number below this one, newest first, at most `limit`.
    ListCloses {
        /// The number below which the list begins.
        below: u64,
        /// The greatest number of closes to list.
        limit: u32,
        /// The closes.
        reply: oneshot::Sender<Result<Vec<Close>, Refused>>,
    },
    /// Read the journal's entries after this one, in their order, at most `limit`.
    ListEntries {
        /// The number of the entry.
        after: i64,
        /// The greatest number of entries to read.
        limit: u32,
        /// The entries.
        reply: oneshot::Sender<Result<Entries, Refused>>,
    },
    /// Print a close again, marked as a duplicate.
    PrintClose {
        /// The choice of the close.
        which: WhichClose,
        /// The print job in the printer's queue.
        reply: oneshot::Sender<Result<PrintView, Refused>>,
    },
    /// Let an amount be typed at the reader. This begins no transaction.
    TypeAmount {
        /// The amount's currency.
        currency: Currency,
        /// The typed amount.
        reply: oneshot::Sender<Result<Amount, Refused>>,
    },
    /// Stop asking for an amount at the reader, if the caller that waited for it has disconnected.
    NoAmountWanted,
    /// Cancel a transaction.
    Cancel {
        /// The till's name.
        till: String,
        /// The reference.
        reference: Reference,
        /// The author of the cancel.
        by: Who,
        /// The transaction in its state after the cancel, which [`CancelView`] interprets.
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    },
    /// Report whether the signature on the slip matches the card's.
    Signature {
        /// The till's name.
        till: String,
        /// The reference.
        reference: Reference,
        /// True if the signature matches. Otherwise the payment is reversed.
        accepted: bool,
        /// The author of the decision.
        by: Who,
        /// The transaction in its current state. Repeating the same decision changes nothing.
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    },
    /// Confirm how much of the approved amount the till accepts.
    Confirm {
        /// The till's name.
        till: String,
        /// The reference.
        reference: Reference,
        /// The part that the till accepts.
        taken: Taken,
        /// The author of the confirmation.
        by: Who,
        /// The transaction in its current state. Repeating the same decision changes nothing.
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    },
    /// Resolve an open transaction in a journal that was found to be an outdated copy.
    Settle {
        /// The transaction's number.
        number: SaleNumber,
        /// True to keep the payment. Otherwise the payment is reversed.
        keep: bool,
        /// The author of the decision.
        by: Who,
        /// The transaction in its current state.
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    },
    /// Show a receipt.
    Receipt {
        /// The till's name.
        till: String,
        /// The reference.
        reference: Reference,
        /// The merchant's or the customer's copy.
        copy: ReceiptCopy,
        /// The number of characters per line, or `None` for that of the terminal's paper.
        width: Option<u8>,
        /// True to mark the receipt as a duplicate.
        duplicate: bool,
        /// The receipt.
        reply: oneshot::Sender<Result<Box<ReceiptView>, Refused>>,
    },
    /// Print a receipt, marked as a duplicate unless it is the first print on demand.
    Print {
        /// The till's name.
        till: String,
        /// The reference.
        reference: Reference,
        /// The merchant's or the customer's copy.
        copy: ReceiptCopy,
        /// The print job in the printer's queue.
        reply: oneshot::Sender<Result<PrintView, Refused>>,
    },
    /// Show a till's own text on the reader, between transactions.
    ShowText {
        /// The text, with lines separated by line feeds.
        text: String,
        /// The answer once the reader has the text.
        reply: oneshot::Sender<Result<(), Refused>>,
    },
    /// Print a till's own lines, which are not a receipt of this terminal.
    PrintLines {
        /// The lines, from the top.
        lines: Vec<LineToPrint>,
        /// The answer once the lines are on paper, as far as the printer reports this.
        reply: oneshot::Sender<Result<PrintView, Refused>>,
    },
    /// Show a payment from the gateway's current data.
    Payment {
        /// The payment's id.
        id: PaymentId,
        /// The payment's fields, by their flat names.
        reply: oneshot::Sender<Result<BTreeMap<String, String>, Refused>>,
    },
    /// Show the payments that match filters at the gateway.
    Query {
        /// The interface's query parameters.
        filters: Vec<(String, String)>,
        /// Each payment's fields, by their flat names.
        reply: oneshot::Sender<Result<Vec<BTreeMap<String, String>>, Refused>>,
    },
    /// Change the log level for a limited time.
    Log {
        /// The level, or `None` for the level of the start.
        level: Option<LogLevel>,
        /// The duration.
        lasts: Duration,
        /// The author of the change.
        by: Who,
        /// The changed level that applies, or `None` for the level of the start.
        reply: oneshot::Sender<Result<Option<LogView>, Refused>>,
    },
    /// A command about operators.
    Operators(OperatorCommand),
    /// A request of the program that connects the terminal to its fleet.
    Fleet(FleetRequest),
    /// A request of that program about settings and keys.
    FleetSettings(FleetSettingsRequest),
    /// Return the metrics as text for machines.
    Metrics {
        /// The text in OpenMetrics format.
        reply: oneshot::Sender<String>,
    },
    /// Return the terminal's status.
    Status {
        /// The caller's permit. The status contains only the transactions that the caller may see.
        permit: Permit,
        /// The status.
        reply: oneshot::Sender<StatusView>,
    },
}

impl Command {
    /// Returns whether the caller of a request for a receipt has left.
    #[must_use]
    pub fn is_abandoned_receipt(&self) -> bool {
        match self {
            Self::Receipt { reply, .. } => reply.is_closed(),
            Self::Print { reply, .. } => reply.is_closed(),
            _ => false,
        }
    }

    /// Answers that the command is not carried out. If the answer cannot be a refusal, the caller gets no answer.
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

/// The agent's side of the channels to the tills.
#[derive(Debug)]
pub struct Wires {
    /// The commands of the tills, in the order in which they arrived.
    pub commands: mpsc::Receiver<Command>,
    /// The log that announces the steps.
    pub progress: ProgressLog,
}

/// One step for the cashier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The till of the transaction. Empty for the terminal itself.
    pub till: String,
    /// The transaction's reference. Empty for the terminal itself.
    pub reference: String,
    /// The step as a code for programs, such as `present-card`, `insert-card`, `pin-entry`, `authorising`,
    /// `remove-card`, `confirm-needed`, `ended`, `alarm`, …
    pub step: String,
    /// The step as a sentence for people, without control characters.
    pub text: String,
    /// True for a training transaction.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub training: bool,
    /// The transaction in its current state. Present only with steps that change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale: Option<Box<SaleView>>,
}
