//! The exit codes of the verbs. Codes below 7 are outcomes; codes from 64 are those of sysexits. One list holds them
//! all, so each code has one meaning.

use std::process::ExitCode;

use super::daemon;
use super::failure::Code;
use crate::agent;
use crate::config;
use crate::till::{ProblemType, SaleState, SaleView};
use pos_terms::transaction::OutcomeWord;

/// Defines the enum of exit codes and the table of their meanings. The help shows the doc comments of the variants.
macro_rules! exits {
    ($(#[$outer:meta])* pub enum $exits:ident { $($(#[doc = $meaning:literal])+ $name:ident = $number:literal,)+ }) => {
        $(#[$outer])*
        pub enum $exits {
            $($(#[doc = $meaning])+ $name = $number,)+
        }

        impl $exits {
            /// Each exit code with its meaning.
            const TABLE: &[(Self, &str)] = &[$((Self::$name, concat!($($meaning),+)),)+];
        }
    };
}

exits! {
/// The exit code of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done; for a sale: charged in full.
    Success = 0,
    /// Not charged: declined by the bank or the card.
    Declined = 1,
    /// Not charged: cancelled by the customer or the till.
    Cancelled = 2,
    /// The gateway may hold an approval, which is being reversed.
    Unconfirmed = 3,
    /// Charged in part.
    PartiallyApproved = 4,
    /// Not charged: an approval, or a possible approval, was reversed.
    Reversed = 5,
    /// A capture, refund, credit or reversal has no answer yet; the agent is completing it.
    UnconfirmedFinishing = 6,
    /// Wrong usage (`EX_USAGE`).
    Usage = 64,
    /// The reference does not match the known transactions, a parameter breaks a rule, or a file does not match the
    /// journal (`EX_DATAERR`).
    Data = 65,
    /// Not charged: not sent, or the agent could not be reached (`EX_UNAVAILABLE`).
    NotSent = 69,
    /// A fault in the program (`EX_SOFTWARE`).
    Software = 70,
    /// The journal, a file or the till's socket cannot be used (`EX_IOERR`).
    Io = 74,
    /// From the doctor only: everything works, but something will fail later (`EX_TEMPFAIL`).
    Attention = 75,
    /// Not permitted (`EX_NOPERM`).
    NoPermission = 77,
    /// The configuration is wrong (`EX_CONFIG`).
    Config = 78,
}
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Returns all exit codes, for the help of the program.
pub(super) fn table() -> String {
    lines(|_| true)
}

/// Returns the help of a verb that moves money: the text `before`, followed by the verb's exit codes.
pub(super) fn of_money(before: &str) -> String {
    let before = if before.is_empty() { String::new() } else { format!("{before}\n\n") };
    format!("{before}Exit codes:\n{}", lines(|exit| exit != Exit::Attention))
}

/// Returns the help of a verb whose own exit codes are at the end of `before`. The exit codes of faults follow them.
pub(super) fn and_of_faults(before: &str) -> String {
    format!("{before}\n{}", lines(|exit| exit as u8 >= Exit::Usage as u8 && exit != Exit::Attention))
}

fn lines(has: impl Fn(Exit) -> bool) -> String {
    let rows = Exit::TABLE.iter().filter(|(exit, _)| has(*exit)).map(|(exit, meaning)| {
        // The help leaves out the sysexits names, which the manual gives for programmers.
        let meaning = meaning.trim().trim_end_matches('.');
        let meaning = meaning.split_once(" (`EX_").map_or(meaning, |(words, _)| words);
        format!("  {:>2}  {meaning}", *exit as u8)
    });
    rows.collect::<Vec<_>>().join("\n")
}

impl Exit {
    /// Returns the exit code for the current state of a sale.
    pub(super) fn of(sale: &SaleView) -> Self {
        match (sale.state, sale.outcome) {
            (SaleState::Ended, Some(outcome)) => outcome.into(),
            (SaleState::UnconfirmedFinishing, _) => Self::UnconfirmedFinishing,
            _ => Self::Unconfirmed,
        }
    }
}

impl From<OutcomeWord> for Exit {
    fn from(outcome: OutcomeWord) -> Self {
        match outcome {
            OutcomeWord::Approved => Self::Success,
            OutcomeWord::PartiallyApproved => Self::PartiallyApproved,
            OutcomeWord::Declined => Self::Declined,
            OutcomeWord::Cancelled => Self::Cancelled,
            OutcomeWord::NotSent => Self::NotSent,
            OutcomeWord::Reversed => Self::Reversed,
        }
    }
}

/// The reason why a verb stopped early: an exit code, a code for programs, and a sentence for people.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Stop {
    exit: Exit,
    code: Code,
    message: String,
}

impl Stop {
    pub(super) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, code: exit.into(), message: message.into() }
    }

    /// Creates a stop whose code is more specific than its exit code.
    pub(super) fn coded(code: impl Into<Code>, message: impl Into<String>) -> Self {
        let code = code.into();
        Self { exit: code.exit(), code, message: message.into() }
    }

    /// Returns the code for programs.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// Returns the exit code.
    #[must_use]
    pub fn exit(&self) -> Exit {
        self.exit
    }
}

impl From<config::Error> for Stop {
    fn from(error: config::Error) -> Self {
        let exit = match &error {
            config::Error::Unreadable { cause, .. } if cause.kind() == std::io::ErrorKind::PermissionDenied => {
                Exit::NoPermission
            }
            _ => Exit::Config,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<agent::Error> for Stop {
    fn from(error: agent::Error) -> Self {
        let exit = match &error {
            agent::Error::Money { .. }
            | agent::Error::SupervisorAbove { .. }
            | agent::Error::Gateway(_)
            | agent::Error::Reader(_)
            | agent::Error::Sockets(_) => Exit::Config,
            agent::Error::Journal(_) => return Self::coded(ProblemType::Journal, error.to_string()),
            agent::Error::Till(_) => Exit::Io,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<daemon::Error> for Stop {
    fn from(error: daemon::Error) -> Self {
        let code = match &error {
            daemon::Error::Closed { .. } => Code::NotPermitted,
            daemon::Error::Unreachable { .. } => Code::NoDaemon,
            daemon::Error::Lost { .. } => Code::DaemonLost,
            daemon::Error::NoPin { .. } => Code::Cancelled,
            daemon::Error::Refused { code, .. } => Code::of_daemon(code),
        };
        Self::coded(code, error.to_string())
    }
}
