//! What is asked about operators: who they are, to sign in and out, to confirm, to add and remove them. A PIN is in the
//! question alone, never in an answer, and cannot be printed.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::{Caller, Refused, SignedIn, Wanted};
use pos_core::counter::{Approved, NoApproval, Pin, PinPlace, Role, TokenDigest};
use pos_terms::transaction::{Kind, OperatorName, PaymentId, Reference, SaleNumber, Who};

/// What is asked, with the place for the answer.
#[derive(Debug)]
pub enum OperatorCommand {
    /// Who the operators are.
    List {
        /// The operators.
        reply: oneshot::Sender<OperatorsView>,
    },
    /// Sign in.
    SignIn {
        /// Who says to be it.
        name: OperatorName,
        /// Its PIN.
        pin: Pin,
        /// At which till, or as which user.
        door: Who,
        /// From which place in that user's network.
        place: Option<PinPlace>,
        /// The session.
        reply: oneshot::Sender<Result<SessionView, Refused>>,
    },
    /// Whose session this is.
    Session {
        /// Of which token.
        token: TokenDigest,
        /// At which till, or as which user.
        door: Who,
        /// It is used for more than a look.
        commands: bool,
        /// Who is signed in.
        reply: oneshot::Sender<Result<SignedIn, Refused>>,
    },
    /// Sign out.
    SignOut {
        /// Of which token.
        token: TokenDigest,
        /// At which till, or as which user.
        door: Who,
        /// Done.
        reply: oneshot::Sender<Result<(), Refused>>,
    },
    /// A supervisor confirms one command of a cashier.
    Approve {
        /// The supervisor.
        name: OperatorName,
        /// Its PIN.
        pin: Pin,
        /// The command, as it will be sent; the agent finds out what it comes to.
        wanted: Box<Wanted>,
        /// At which till, or as which user.
        door: Who,
        /// From which place in that user's network.
        place: Option<PinPlace>,
        /// What the command is to be sent with.
        reply: oneshot::Sender<Result<ApprovalView, Refused>>,
    },
    /// Add an operator.
    Add {
        /// The name.
        name: OperatorName,
        /// The role.
        role: Role,
        /// The PIN.
        pin: Pin,
        /// Who adds it.
        by: Caller,
        /// The operator.
        reply: oneshot::Sender<Result<OperatorView, Refused>>,
    },
    /// Give an operator another PIN.
    SetPin {
        /// The name.
        name: OperatorName,
        /// The PIN.
        pin: Pin,
        /// Who gives it.
        by: Caller,
        /// The operator.
        reply: oneshot::Sender<Result<OperatorView, Refused>>,
    },
    /// Remove an operator.
    Remove {
        /// The name.
        name: OperatorName,
        /// Who removes it.
        by: Caller,
        /// Done.
        reply: oneshot::Sender<Result<(), Refused>>,
    },
    /// Let an operator, and every till, try a PIN again at once.
    Unlock {
        /// The name.
        name: OperatorName,
        /// Who unlocks it.
        by: Caller,
        /// The operator.
        reply: oneshot::Sender<Result<OperatorView, Refused>>,
    },
}

/// The operators of the terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
pub struct OperatorsView {
    /// Whether somebody must be signed in for what moves money.
    pub required: bool,
    /// In the order of their names.
    pub operators: Vec<OperatorView>,
}

/// An operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OperatorView {
    /// The name.
    pub name: OperatorName,
    /// The role.
    pub role: Role,
    /// For so many seconds nobody may try its PIN, after wrong ones; absent when its PIN can be tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locked_s: Option<u64>,
    /// Its PIN was set with a key that this board does not have: it is to be set anew.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_pin: bool,
}

/// A session that was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    /// To be sent as `Pos-Session`; shown once.
    pub session: String,
    /// Who is signed in.
    pub operator: OperatorName,
    /// As what.
    pub role: Role,
    /// After so many seconds without a command it ends.
    pub idle_lock_s: u64,
    /// Wrong PINs that were tried for this operator since it signed in last.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wrong_before: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A supervisor's word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalView {
    /// To be sent as `Pos-Supervisor`, once; shown once.
    pub approval: String,
    /// Who confirmed.
    pub supervisor: OperatorName,
    /// It is good for so many seconds.
    pub good_for_s: u64,
    /// For this alone.
    #[serde(rename = "for")]
    pub command: ConfirmedView,
}

/// What a supervisor confirms, as the terminal has resolved it: to be shown to the supervisor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConfirmedView {
    /// The kind.
    pub kind: Kind,
    /// The command's reference.
    pub reference: Reference,
    /// All that is charged or given, with the tip that the till names.
    pub amount: String,
    /// In which currency.
    pub currency: String,
    /// The earlier transaction's number in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<SaleNumber>,
    /// The earlier transaction's id at the gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment: Option<PaymentId>,
    /// The stored card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<String>,
    /// The cardholder is asked for a tip on top of the amount.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_tip: bool,
    /// The card number is typed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub typed: bool,
}

impl From<&Approved> for ConfirmedView {
    fn from(command: &Approved) -> Self {
        let of = command.transaction.of();
        Self {
            kind: command.transaction.kind(),
            reference: command.reference.clone(),
            amount: command.amount.decimal(),
            currency: command.amount.currency().code().to_owned(),
            number: of.and_then(|of| of.number),
            payment: of.map(|of| of.payment.clone()),
            registration: command.transaction.registration().map(str::to_owned),
            asks_tip: command.asks_tip,
            typed: command.manual,
        }
    }
}

/// Why something about an operator is not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OperatorRefused {
    /// No operator has this name and this PIN; which of the two is wrong, is not said.
    #[error("the name or the PIN is wrong")]
    WrongPin,
    /// Too many wrong PINs.
    #[error(
        "too many wrong PINs: nobody may try again for {} s; a supervisor or a technician can unlock it at once (pos-agent operator \
         unlock NAME)",
        seconds(.wait)
    )]
    Locked {
        /// For how long.
        wait: Duration,
    },
    /// Others are being looked at.
    #[error("another PIN is being looked at; try again")]
    PinUnderWay,
    /// There is no such session, or not here, or it has ended.
    #[error(
        "nobody is signed in with this session: it has ended, or is another till's; sign in again (POST /v1/sessions)"
    )]
    SessionEnded,
    /// A supervisor must confirm.
    #[error(
        "{command} needs a supervisor: let one confirm it (POST /v1/approvals) and send that as Pos-Supervisor, or sign in"
    )]
    SupervisorNeeded {
        /// What was asked.
        command: Box<Approved>,
    },
    /// What came as a supervisor's word is none for this command.
    #[error("no supervisor has confirmed this command: {why}")]
    NotApproved {
        /// Why the word does not count.
        why: String,
    },
    /// It is no supervisor who would confirm.
    #[error("{name} is no supervisor, and cannot confirm it")]
    NoSupervisor {
        /// Who.
        name: OperatorName,
    },
    /// Nobody has this name.
    #[error("there is no operator {name}; pos-agent operator list shows them")]
    Unknown {
        /// The name.
        name: OperatorName,
    },
    /// Somebody has this name.
    #[error("there is an operator {name} already; give it another PIN (pos-agent operator pin), or remove it first")]
    Exists {
        /// The name.
        name: OperatorName,
    },
    /// There are as many as there may be.
    #[error("there are {most} operators, and no more can be added; remove one first")]
    TooMany {
        /// So many.
        most: usize,
    },
}

/// Whole seconds; a part of one is one.
fn seconds(wait: &Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

impl OperatorRefused {
    /// A supervisor's word that is none for this command.
    #[must_use]
    pub fn not_approved(found: NoApproval<'_>, command: &Approved) -> Self {
        let why = match found {
            NoApproval::Unknown => "the approval was used, has ended, or is older than two minutes".to_owned(),
            NoApproval::OtherDoor => "the approval was given at another till".to_owned(),
            NoApproval::OtherOperator => "the approval was given to another operator".to_owned(),
            NoApproval::Other(given) => format!("the approval is for {given}, and this is {command}"),
        };
        Self::NotApproved { why }
    }

    /// After how many seconds to try again, where that is known.
    #[must_use]
    pub fn retry_after_s(&self) -> Option<u64> {
        match self {
            Self::Locked { wait } => Some(seconds(wait)),
            Self::PinUnderWay => Some(1),
            _ => None,
        }
    }
}
