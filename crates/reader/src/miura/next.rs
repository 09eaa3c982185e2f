//! What follows from what a stage of the session has heard. A stage says it, the session carries it out: so no stage
//! knows the session, nor another one that does not belong to its own work.

use super::display::DisplayRow;
use super::message::StatusWord;
use crate::{ReaderLanguage, Unready};
use pos_terms::transaction::SaleNumber;

/// What follows in a stage `S`.
pub(super) enum Next<S> {
    /// The stage goes on.
    Stay(S),
    /// The reader waits for the next order.
    Idle,
    /// The sale is over; its card may still be in the slot.
    SaleOver(SaleOver),
    /// No payments can be taken. The start-up begins anew on the same connection and asks for everything again, the
    /// keys among it.
    StartAnew(Unready),
    /// No payments can be taken. The port is closed, and opened again after a while.
    Reopen(Unready),
    /// The reader sends card data in clear: nothing of it is kept, nothing more is asked of it.
    Distrust,
}

/// What is left to do at the reader after a sale.
pub(super) struct SaleOver {
    pub(super) sale: SaleNumber,
    /// What the cardholder is shown.
    pub(super) result: Option<DisplayRow>,
    pub(super) language: ReaderLanguage,
    /// The reader said that it has no key left: it is asked which it still holds.
    pub(super) ask_for_keys: bool,
}

impl<S> Next<S> {
    /// The reader answers that it is in another state than it must be in (9F22, 9F26): it has restarted, and its word
    /// about that was lost or never sent.
    pub(super) fn reader_has_lost_it(status: StatusWord) -> Self {
        let cause = format!("the reader has lost what it was doing ({})", status.words());
        Self::StartAnew(Unready::Restarting { cause })
    }

    /// A command that must be answered was not.
    pub(super) fn unanswered(command: &str) -> Self {
        Self::Reopen(Unready::Restarting { cause: format!("no answer to {command}") })
    }

    /// The same for a stage that holds this one.
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
