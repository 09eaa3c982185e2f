//! The result of a stage of the session. A stage returns it, and the session carries it out. So a stage depends neither
//! on the session nor on unrelated stages.

use super::display::DisplayRow;
use crate::family::CommandFailure;
use crate::{ReaderLanguage, Unready};
use pos_terms::transaction::SaleNumber;

/// The result of a stage `S`.
pub(super) enum Next<S> {
    /// The stage continues.
    Stay(S),
    /// The reader waits for the next order.
    Idle,
    /// The transaction is over, but its card may still be in the slot.
    SaleOver(SaleOver),
    /// No payments can be taken. The start-up begins again on the same connection and repeats all questions, including
    /// the one about the keys.
    StartAnew(Unready),
    /// No payments can be taken. The port is closed and, after a while, opened again.
    Reopen(Unready),
    /// The reader sends clear card data. The agent keeps none of it and sends no further command.
    Distrust,
}

/// The remaining work at the reader after a transaction.
pub(super) struct SaleOver {
    pub(super) sale: SaleNumber,
    /// The result for the cardholder.
    pub(super) result: Option<DisplayRow>,
    pub(super) language: ReaderLanguage,
    /// The reader reported that it has no key left. The agent asks which keys it still has.
    pub(super) ask_for_keys: bool,
}

impl<S> Next<S> {
    /// Returns the result for a reader in an impossible state. It must have restarted, and its message about the
    /// restart was lost or never sent.
    pub(super) fn reader_has_lost_it(failure: CommandFailure) -> Self {
        let cause = format!("the reader lost its state ({})", failure.words);
        Self::StartAnew(Unready::Restarting { cause })
    }

    /// Returns the result for a required answer that did not come.
    pub(super) fn unanswered(command: &str) -> Self {
        Self::Reopen(Unready::Restarting { cause: format!("no answer to {command}") })
    }

    /// Turns the result into that of the stage that contains this one.
    pub(super) fn map<T>(self, hold: impl FnOnce(S) -> T) -> Next<T> {
        match self {
            Self::Stay(stage) => Next::Stay(hold(stage)),
            Self::Idle => Next::Idle,
            Self::SaleOver(over) => Next::SaleOver(over),
            Self::StartAnew(why) => Next::StartAnew(why),
            Self::Reopen(why) => Next::Reopen(why),
            Self::Distrust => Next::Distrust,
        }
    }
}
