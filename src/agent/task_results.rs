//! What a task of the agent brings back to the loop, and what it carries on the way.

use std::time::Duration;

use tokio::sync::oneshot;

use crate::till::{OperatorCommand, Refused, SaleView, Wanted};
use pos_core::counter::PinDigest;
use pos_core::training::Scene;
use pos_core::transaction::{Answer, Inquiry, ReversalAnswer, Transaction};
use pos_terms::transaction::SaleNumber;

use super::close_count::Counted;
use super::counting::Counting;

/// What a task brings back.
pub(super) enum TaskResult {
    Warmed,
    Probed {
        probed: Result<pos_gateway::Probed, pos_gateway::Fault>,
    },
    /// The gateway, of a transaction.
    Said {
        sale: SaleNumber,
        said: GatewaySaid,
    },
    References {
        found: Result<pos_gateway::Found, String>,
    },
    /// A transaction of before that a till's wish follows.
    LookedUp {
        wish: Box<WaitingWish>,
        inquiry: Inquiry,
    },
    /// References that the gateway holds: which of them does the journal not know?
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
    /// The trainer's scene.
    Played {
        sale: SaleNumber,
        scene: Scene,
    },
    Pin(Box<PinReckoned>),
    Listed {
        sales: Result<Vec<Transaction>, pos_journal::Error>,
        reply: oneshot::Sender<Result<Vec<SaleView>, Refused>>,
    },
}

/// What the gateway said of a transaction.
pub(super) enum GatewaySaid {
    /// To its request, after this time.
    Paid { answer: Answer, took: Duration },
    /// What became of a pending payment.
    Polled(Answer),
    /// What it holds under its references.
    Inquired(Inquiry),
    /// To the reversal of this reference.
    Reversed { reference: String, reversal: ReversalAnswer },
}

/// A wish that waits for the look-up of the transaction that it follows.
pub(super) struct WaitingWish {
    pub(super) wanted: Wanted,
    pub(super) of: SaleNumber,
    pub(super) reply: oneshot::Sender<Result<SaleView, Refused>>,
}

/// A digest was reckoned: what was asked, and what came of it.
pub(super) enum PinReckoned {
    /// Whether the PIN is right.
    LookedAt { asked: OperatorCommand, right: bool },
    /// What is to be kept of a new PIN; nothing, when that thread ended.
    Made { asked: OperatorCommand, made: Option<PinDigest> },
}

impl PinReckoned {
    /// The command that is confirmed, if the PIN is right.
    pub(super) fn confirms(&self) -> Option<&Wanted> {
        match self {
            Self::LookedAt { asked: OperatorCommand::Approve { wanted, .. }, right: true } => Some(wanted),
            _ => None,
        }
    }
}
