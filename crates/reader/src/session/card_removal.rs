//! The steps after a transaction: the result on the display, and "remove card" until the slot is empty. If a
//! transaction ended for lack of a key, the agent also asks the reader which keys it still has.

use std::time::Duration;

use super::display::{DisplayRow, display};
use super::line::{PLAIN_ANSWER, PendingAnswer, ReaderLine};
use super::next::{Next, SaleOver};
use crate::family::{CommandAnswer, CommandPurpose, ReaderQuestion};
use crate::{ReaderProgress, Unready};

/// The interval of the question whether a card is still in the slot. The message about its removal may be lost.
const REMOVE_CHECK: Duration = Duration::from_secs(30);

/// A finished transaction. Its card may still be in the slot, or the display is being changed.
pub(super) struct CardRemoval {
    check_at: Duration,
}

impl CardRemoval {
    /// Shows the result, and asks the customer to remove a card in the slot.
    pub(super) fn start(line: &mut ReaderLine, over: SaleOver, now: Duration) -> Self {
        let SaleOver { sale, result, language, ask_for_keys } = over;
        let rows: Vec<DisplayRow> = result.into_iter().chain(line.slot.then_some(DisplayRow::RemoveCard)).collect();
        if !rows.is_empty() {
            display(line, &rows, language, now);
        }
        if line.slot {
            line.progress(sale, ReaderProgress::RemoveCard);
        }
        if ask_for_keys {
            line.ask(&ReaderQuestion::KeyStatus, PLAIN_ANSWER, now);
        }
        Self { check_at: now + REMOVE_CHECK }
    }

    /// Takes the reader's answer about its remaining keys. Other answers have no effect.
    pub(super) fn answered(
        self,
        line: &mut ReaderLine,
        pending: PendingAnswer,
        answer: &CommandAnswer<'_>,
    ) -> Next<Self> {
        if pending.purpose != CommandPurpose::KeyStatus {
            return Next::Stay(self);
        }
        match answer {
            CommandAnswer::NotYet => {
                line.wait_on(pending);
                Next::Stay(self)
            }
            CommandAnswer::Keys(keys) if keys.card => {
                if let (Some(identity), Some(pin)) = (&mut line.identity, keys.pin) {
                    identity.pin_key = pin;
                }
                Next::Stay(self)
            }
            CommandAnswer::Keys(_) => Next::StartAnew(Unready::NoCardKey { serial: line.serial() }),
            _ => Next::StartAnew(Unready::Restarting { cause: "it did not report its keys".to_owned() }),
        }
    }

    pub(super) fn timeout(
        mut self,
        line: &mut ReaderLine,
        overdue: Option<PendingAnswer>,
        now: Duration,
    ) -> Next<Self> {
        if let Some(pending) = overdue {
            return Next::unanswered(pending.name);
        }
        if now >= self.check_at {
            self.check_at = now + REMOVE_CHECK;
            if line.is_free() {
                line.ask(&ReaderQuestion::CardStatus, PLAIN_ANSWER, now);
            }
        }
        Next::Stay(self)
    }

    pub(super) fn deadline(&self) -> Duration {
        self.check_at
    }
}
