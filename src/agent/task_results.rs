//! The results that the agent's tasks return to the loop, with their data.

use std::time::Duration;

use tokio::sync::oneshot;

use crate::till::{OperatorCommand, Refused, SaleView, Wanted};
use pos_core::counter::PinDigest;
use pos_core::training::TrainingEvent;
use pos_core::transaction::{Answer, Inquiry, ReversalAnswer, Transaction};
use pos_terms::transaction::SaleNumber;

use super::close_count::Counted;
use super::counting::Counting;
use super::fleet::ArchiveMade;

/// The result of a task.
pub(super) enum TaskResult {
    Warmed,
    Probed {
        probed: Result<pos_gateway::Probed, pos_gateway::Fault>,
    },
    /// The gateway's first list by date takes too long for the requests that wait for it.
    ListIsLate,
    /// The gateway's report about a transaction.
    Said {
        sale: SaleNumber,
        said: GatewaySaid,
    },
    References {
        found: Result<pos_gateway::Found, String>,
    },
    /// The look-up of the earlier transaction that a till's request follows.
    LookedUp {
        wish: Box<WaitingWish>,
        inquiry: Inquiry,
    },
    /// References that the gateway holds. The unknown ones among them are to be found.
    SomeReferences {
        references: Vec<String>,
        reply: oneshot::Sender<Result<Vec<String>, String>>,
    },
    Counted {
        page: Result<Vec<Transaction>, pos_journal::Error>,
        counting: Box<Counting>,
    },
    CloseCounted {
        counted: Box<Result<Counted, pos_journal::Error>>,
    },
    /// An event of the trainer's scenario.
    Played {
        sale: SaleNumber,
        event: TrainingEvent,
    },
    Pin(Box<PinReckoned>),
    /// The support archive that a command of the fleet asked for.
    ArchiveMade(ArchiveMade),
    Listed {
        sales: Result<Vec<Transaction>, pos_journal::Error>,
        reply: oneshot::Sender<Result<Vec<SaleView>, Refused>>,
    },
}

/// The gateway's report about a transaction.
pub(super) enum GatewaySaid {
    /// The answer to the transaction's request, and the time it took.
    Paid { answer: Answer, took: Duration },
    /// The outcome of a pending payment.
    Polled(Answer),
    /// The payments with the transaction's references.
    Inquired(Inquiry),
    /// The answer to the reversal with this reference.
    Reversed { reference: String, reversal: ReversalAnswer },
}

/// A request that waits while the transaction that it follows is looked up.
pub(super) struct WaitingWish {
    pub(super) wanted: Wanted,
    pub(super) of: SaleNumber,
    pub(super) reply: oneshot::Sender<Result<SaleView, Refused>>,
}

/// A computed digest, with its command and result.
pub(super) enum PinReckoned {
    /// A PIN was checked: `right` is the result.
    LookedAt { asked: OperatorCommand, right: bool },
    /// The digest of a new PIN was made: it is `None` if the thread ended early.
    Made { asked: OperatorCommand, made: Option<PinDigest> },
}

impl PinReckoned {
    /// Returns the command to confirm, if the PIN is right.
    pub(super) fn confirms(&self) -> Option<&Wanted> {
        match self {
            Self::LookedAt { asked: OperatorCommand::Approve { wanted, .. }, right: true } => Some(wanted),
            _ => None,
        }
    }
}
