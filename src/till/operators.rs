//! Commands about operators: list them, sign in and out, confirm, add, remove, set a PIN and unlock. A PIN is only in
//! requests, never in answers, and cannot be printed.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::{Caller, Refused, SignedIn, Wanted};
use pos_core::counter::{Approved, NoApproval, Pin, PinPlace, Role, TokenDigest};
use pos_terms::transaction::{Kind, OperatorName, PaymentId, Reference, SaleNumber, Who};
use pos_words::{Message, Sentence};

/// A command about operators, and the channel for the answer.
#[derive(Debug)]
pub enum OperatorCommand {
    /// List the operators.
    List {
        /// The operators.
        reply: oneshot::Sender<OperatorsView>,
    },
    /// Sign in.
    SignIn {
        /// The operator's name.
        name: OperatorName,
        /// The PIN.
        pin: Pin,
        /// The sign-in source: a till or a user.
        from: Who,
        /// The network location that the source states for the PIN, if any.
        place: Option<PinPlace>,
        /// The session.
        reply: oneshot::Sender<Result<SessionView, Refused>>,
    },
    /// Find the operator of a session.
    Session {
        /// The session's token.
        token: TokenDigest,
        /// The sign-in source: a till or a user.
        from: Who,
        /// True if the session is used for more than a read.
        commands: bool,
        /// The signed-in operator.
        reply: oneshot::Sender<Result<SignedIn, Refused>>,
    },
    /// Sign out.
    SignOut {
        /// The session's token.
        token: TokenDigest,
        /// The sign-in source: a till or a user.
        from: Who,
        /// The answer once this is done.
        reply: oneshot::Sender<Result<(), Refused>>,
    },
    /// Let a supervisor confirm one command of a cashier.
    Approve {
        /// The supervisor.
        name: OperatorName,
        /// The supervisor's PIN.
        pin: Pin,
        /// The command, as it will be sent. The agent resolves its operation and amount.
        wanted: Box<Wanted>,
        /// The sign-in source: a till or a user.
        from: Who,
        /// The network location that the source states for the PIN, if any.
        place: Option<PinPlace>,
        /// The approval to send with the command.
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
        /// The author.
        by: Caller,
        /// The operator.
        reply: oneshot::Sender<Result<OperatorView, Refused>>,
    },
    /// Give an operator a new PIN.
    SetPin {
        /// The name.
        name: OperatorName,
        /// The PIN.
        pin: Pin,
        /// The author.
        by: Caller,
        /// The operator.
        reply: oneshot::Sender<Result<OperatorView, Refused>>,
    },
    /// Remove an operator.
    Remove {
        /// The name.
        name: OperatorName,
        /// The author.
        by: Caller,
        /// The answer once this is done.
        reply: oneshot::Sender<Result<(), Refused>>,
    },
    /// Let an operator, and every sign-in source, try a PIN again immediately.
    Unlock {
        /// The name.
        name: OperatorName,
        /// The author.
        by: Caller,
        /// The operator.
        reply: oneshot::Sender<Result<OperatorView, Refused>>,
    },
}

/// The operators of the terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
pub struct OperatorsView {
    /// True if an operator must be signed in for anything that moves money.
    pub required: bool,
    /// The number of digits of each PIN. Absent if it is not fixed.
    #[serde(default, rename = "pinDigits", skip_serializing_if = "Option::is_none")]
    pub pin_digits: Option<u8>,
    /// The operators, in the order of their names.
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
    /// The number of seconds for which the PIN is locked after wrong attempts. Absent if the PIN can be tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locked_s: Option<u64>,
    /// True if the PIN was set with a key that this board does not have. It must then be set again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_pin: bool,
}

/// A new session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    /// The value to send as `Pos-Session`. Only this answer contains it.
    pub session: String,
    /// The signed-in operator.
    pub operator: OperatorName,
    /// The operator's role.
    pub role: Role,
    /// The number of seconds without a command after which the session ends.
    pub idle_lock_s: u64,
    /// The number of wrong PINs that were tried for this operator since the last sign-in.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wrong_before: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A supervisor's approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalView {
    /// The value to send once as `Pos-Supervisor`. Only this answer contains it.
    pub approval: String,
    /// The supervisor who confirmed the command.
    pub supervisor: OperatorName,
    /// The number of seconds for which the approval is valid.
    pub good_for_s: u64,
    /// The only command for which the approval is valid.
    #[serde(rename = "for")]
    pub command: ConfirmedView,
}

/// The command that a supervisor confirms, as resolved by the terminal. It is to be shown to the supervisor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConfirmedView {
    /// The kind.
    pub kind: Kind,
    /// The command's reference.
    pub reference: Reference,
    /// The whole sum that is charged or paid out, including a tip that the till names.
    pub amount: String,
    /// The currency.
    pub currency: String,
    /// The number of the earlier transaction in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<SaleNumber>,
    /// The id of the earlier transaction at the gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment: Option<PaymentId>,
    /// The stored card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<String>,
    /// True if the cardholder is asked for a tip in addition to the amount.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_tip: bool,
    /// True if the card number is typed.
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

/// The reason why a command about an operator is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorRefused {
    /// No operator has this name and this PIN. The message does not say which of the two is wrong.
    WrongPin,
    /// Too many wrong PINs.
    Locked {
        /// The time for which the PIN is locked.
        wait: Duration,
    },
    /// Other PINs are being checked.
    PinUnderWay,
    /// The session does not exist, belongs to another source, or has ended.
    SessionEnded,
    /// A supervisor must confirm.
    SupervisorNeeded {
        /// The command.
        command: Box<Approved>,
    },
    /// The given approval is not valid for this command.
    NotApproved {
        /// The reason why it is not valid.
        why: Sentence,
    },
    /// The operator who would confirm the command is no supervisor.
    NoSupervisor {
        /// The operator.
        name: OperatorName,
    },
    /// No operator has this name.
    Unknown {
        /// The name.
        name: OperatorName,
    },
    /// An operator has this name already.
    Exists {
        /// The name.
        name: OperatorName,
    },
    /// The greatest number of operators exists already.
    TooMany {
        /// The greatest number.
        most: usize,
    },
    /// The new PIN does not have the configured length.
    PinLength {
        /// The number of digits.
        digits: u8,
    },
}

/// Rounds a wait up to whole seconds.
fn seconds(wait: &Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

impl OperatorRefused {
    /// Makes the refusal of an approval that is not valid for this command.
    #[must_use]
    pub fn not_approved(found: NoApproval<'_>, command: &Approved) -> Self {
        let why = match found {
            NoApproval::Unknown => Message::ApprovalUnknown.into(),
            NoApproval::OtherCaller => Message::ApprovalOtherTill.into(),
            NoApproval::OtherOperator => Message::ApprovalOtherOperator.into(),
            NoApproval::Other(given) => Message::ApprovalOtherCommand.with("approved", given).with("command", command),
        };
        Self::NotApproved { why }
    }

    /// Checks that a new PIN has the configured number of digits, if that is fixed.
    ///
    /// # Errors
    /// Returns [`Self::PinLength`] if it has a different number of digits.
    pub fn check_length(pin: &Pin, digits: Option<u8>) -> Result<(), Self> {
        match digits.filter(|digits| pin.digits().len() != usize::from(*digits)) {
            Some(digits) => Err(Self::PinLength { digits }),
            None => Ok(()),
        }
    }

    /// Returns the sentence for people.
    #[must_use]
    pub fn sentence(&self) -> Sentence {
        match self {
            Self::WrongPin => Message::OperatorWrongPin.into(),
            Self::Locked { wait } => Message::OperatorLocked.with("seconds", seconds(wait).to_string()),
            Self::PinUnderWay => Message::OperatorPinUnderWay.into(),
            Self::SessionEnded => Message::OperatorSessionEnded.into(),
            Self::SupervisorNeeded { command } => Message::OperatorSupervisorNeeded.with("command", &**command),
            Self::NotApproved { why } => Message::OperatorNotApproved.with("why", why.clone()),
            Self::NoSupervisor { name } => Message::OperatorNoSupervisor.with("name", name.as_str()),
            Self::Unknown { name } => Message::OperatorUnknown.with("name", name.as_str()),
            Self::Exists { name } => Message::OperatorExists.with("name", name.as_str()),
            Self::TooMany { most } => Message::OperatorTooMany.with("most", most.to_string()),
            Self::PinLength { digits } => Message::OperatorPinLength.with("digits", digits.to_string()),
        }
    }

    /// Returns the number of seconds after which to try again, if known.
    #[must_use]
    pub fn retry_after_s(&self) -> Option<u64> {
        match self {
            Self::Locked { wait } => Some(seconds(wait)),
            Self::PinUnderWay => Some(1),
            _ => None,
        }
    }
}

impl fmt::Display for OperatorRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sentence().fmt(f)
    }
}
