//! A card number typed on the reader, which seals it, in the parts that the family needs (readers: 2.9, 3.2, 4.2). The
//! settings must allow it and the order must request it. If it ends early, the session lets the reader delete the typed
//! data.

use std::time::Duration;

use super::completing::AwaitingHost;
use super::line::{ABORT_ANSWER, PLAIN_ANSWER, ReaderLine};
use super::next::Next;
use super::sale::{SaleAtReader, SaleNext, SaleStage};
use crate::card_read;
use crate::family::{CommandAnswer, FailureKind, ReaderQuestion, TypedCard};
use crate::{NoCard, NotEncrypting, ReaderProgress};

impl SaleAtReader {
    /// Asks for a card number to be typed.
    pub(super) fn type_card(self: Box<Self>, line: &mut ReaderLine, now: Duration) -> SaleNext {
        if line.speaker.typed_parts().is_none() {
            return self.end(line, NoCard::ManualEntryOff, now);
        }
        line.progress(self.number(), ReaderProgress::TypeCard);
        self.part(line, 0, now)
    }

    fn part(mut self: Box<Self>, line: &mut ReaderLine, part: usize, now: Duration) -> SaleNext {
        let Some(entries) = line.speaker.typed_parts().and_then(|parts| parts.get(part)) else {
            return self.damaged_entry(line, now);
        };
        let patience = match entries {
            0 => PLAIN_ANSWER,
            // The reader's own time-out must come before the session's.
            entries => self.arm.card_timeout * *entries + ABORT_ANSWER,
        };
        let (amount, timeout) = (self.arm.amount, self.arm.card_timeout);
        line.ask(&ReaderQuestion::TypedCard { part, amount, timeout }, patience, now);
        self.stage = SaleStage::Manual(part);
        Next::Stay(self)
    }

    pub(super) fn manual_answered(
        self: Box<Self>,
        line: &mut ReaderLine,
        part: usize,
        answer: CommandAnswer<'_>,
        now: Duration,
    ) -> SaleNext {
        let is_last = line.speaker.typed_parts().is_none_or(|parts| part + 1 >= parts.len());
        let failure = match answer {
            CommandAnswer::Done if !is_last => return self.part(line, part + 1, now),
            CommandAnswer::Typed(typed) if is_last => return self.sealed(line, typed, now),
            CommandAnswer::Failed(failure) => failure,
            _ => return self.damaged_entry(line, now),
        };
        match failure.kind {
            FailureKind::StateLost => Next::reader_has_lost_it(failure),
            // Nothing was typed, and the reader has no command to delete it.
            FailureKind::UnknownCommand => self.end(line, NoCard::ManualEntryUnknown, now),
            FailureKind::Cancelled => self.end(line, NoCard::CancelledAtReader, now),
            FailureKind::NoKey if is_last => self.no_key_left(line, now),
            FailureKind::TimedOut => self.end(line, NoCard::TimedOut, now),
            FailureKind::Damaged => self.damaged_entry(line, now),
            _ => self.unreadable(line, failure.words, now),
        }
    }

    fn damaged_entry(&self, line: &mut ReaderLine, now: Duration) -> SaleNext {
        self.unreadable(line, "the reader's answer was damaged", now)
    }

    /// Takes the sealed card number.
    fn sealed(self: Box<Self>, line: &mut ReaderLine, typed: TypedCard, now: Duration) -> SaleNext {
        if typed.is_clear {
            return Next::Distrust;
        }
        match card_read::typed(typed) {
            Some(presented) => self.present(line, presented, AwaitingHost::swipe(now)),
            None => Self::not_encrypting(line, NotEncrypting::Nothing),
        }
    }

    /// Sends the command that deletes the typed data, if the reader has one.
    pub(super) fn forget_typed(&self, line: &mut ReaderLine, now: Duration) {
        if line.speaker.keeps_typed() {
            line.ask(&ReaderQuestion::ForgetTyped, PLAIN_ANSWER, now);
        }
    }
}
