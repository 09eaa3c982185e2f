//! The reason why a command is not carried out, with the facts. The till gets a problem of a closed list
//! ([`ProblemType`](super::ProblemType)).

use super::{Denied, OperatorRefused, WhichClose};
use pos_terms::money::Currency;
use pos_terms::transaction::Reference;

/// The reason why a command is not carried out. Nothing was recorded and nothing was charged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The reference is known with another amount or currency, or for a different request.
    #[error(
        "reference {reference} is a sale of {known} already, and was asked for in another way; use a new reference for another one"
    )]
    AmountDiffers {
        /// The reference.
        reference: Reference,
        /// The amount or kind of the known transaction.
        known: String,
    },
    /// Another transaction is in progress.
    #[error("the terminal is busy with sale {reference} of till {till}; wait for it or cancel it")]
    Busy {
        /// Its till.
        till: String,
        /// Its reference.
        reference: Reference,
    },
    /// Another till's transaction is in progress; this till may not see which.
    #[error("the terminal is busy with a sale of another till; try again when that has ended")]
    BusyElsewhere,
    /// No transaction can be taken at this moment.
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
    /// The caller lacks the right.
    #[error("{0}")]
    Denied(#[from] Denied),
    /// A command about an operator is refused.
    #[error("{0}")]
    Operator(#[from] OperatorRefused),
    /// No signature is awaited.
    #[error("no signature is waited for: {stands}")]
    NoSignatureAwaited {
        /// The transaction's state, in words.
        stands: String,
    },
    /// No confirmation of the till is awaited, or it has given a different one.
    #[error("no confirmation is waited for: {stands}")]
    NoConfirmationAwaited {
        /// The earlier answer, and the transaction's state, in words.
        stands: String,
    },
    /// The transaction has not ended; its receipt comes at its end.
    #[error("the sale {stands}; its receipt comes when it has ended")]
    NoReceiptYet {
        /// Its state, as words that follow "the sale".
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
        /// The fault; never the value.
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
    /// Training is not allowed here.
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
        /// The requested currency.
        wanted: Currency,
        /// The terminal's currency.
        terminal: String,
    },
    /// The till has no transaction yet.
    #[error("till {till} has no transaction yet")]
    NoneYet {
        /// The till.
        till: String,
    },
    /// No transaction has this reference.
    #[error("no sale of till {till} has the reference {reference}")]
    NoSuchSale {
        /// The till.
        till: String,
        /// The reference.
        reference: Reference,
    },
    /// The close of day does not exist.
    #[error("{}", no_close(*.which))]
    NoSuchClose {
        /// The requested close.
        which: WhichClose,
    },
    /// A till's own line cannot be printed.
    #[error("lines[{at}]: {why}")]
    Line {
        /// The index of the line, from 0.
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
    /// The gateway does not answer the request.
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
    /// Limits the facts to a caller who `hears` of some tills: without the references of the others.
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
