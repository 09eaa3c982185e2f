//! Why a command is not carried out, with the facts; what a till hears of it is a problem of a closed list
//! ([`ProblemType`](super::ProblemType)).

use super::{Denied, OperatorRefused, WhichClose};
use pos_terms::money::Currency;
use pos_terms::transaction::Reference;

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
    /// The reader asked for an amount, and got none.
    #[error("{why}")]
    NothingTyped {
        /// Why.
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
    /// Nobody waits for the till to confirm it, or it has said something else.
    #[error("no confirmation is waited for: {stands}")]
    NoConfirmationAwaited {
        /// What was said before, and how the sale stands, in words.
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
    /// The tip cannot be charged.
    #[error("{why}")]
    Tip {
        /// Why, with the remedy.
        why: String,
    },
    /// Nobody may train here.
    #[error(
        "training is switched off at this terminal; to allow it, set allowed = true in [training] of the configuration"
    )]
    TrainingOff,
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
    /// There is no such close of day.
    #[error("{}", no_close(*.which))]
    NoSuchClose {
        /// The one that was meant.
        which: WhichClose,
    },
    /// A line of a till's own cannot be printed.
    #[error("lines[{at}]: {why}")]
    Line {
        /// Which of its lines, from 0.
        at: usize,
        /// Why, with the remedy.
        why: String,
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

fn no_close(which: WhichClose) -> String {
    match which {
        WhichClose::Last => "no day was closed yet; pos-agent close makes a close".to_owned(),
        WhichClose::Open => "the next close is not made yet; pos-agent close makes it".to_owned(),
        WhichClose::Number(number) => {
            format!("there is no close {number}; GET /v1/closes, or pos-agent close list, names them")
        }
    }
}
