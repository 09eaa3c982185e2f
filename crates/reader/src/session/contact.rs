//! A transaction with the chip in the slot: its start, and the reader's requests for decisions (readers: 2.5, 2.7,
//! 3.3).

use std::time::Duration;

use super::display::{DisplayRow, display};
use super::line::{CARDHOLDER, ReaderLine};
use super::next::Next;
use super::sale::{AfterAbort, SaleAtReader, SaleNext, SaleStage};
use crate::capability::Capability;
use crate::card_answer::{AnswerTemplate, TransactionAnswer};
use crate::card_read::ChipInterface;
use crate::family::{CommandFailure, FailureKind, ReaderQuestion, TransactionData};
use crate::{NoCard, ReaderProgress};

/// Maximum number of chip starts of one transaction. A card that was removed or failed may be tried again.
const MAX_CHIP_STARTS: u8 = 5;
/// The number of failed insertions after which a swipe is accepted, where the reader does not decide it (readers: 3.3).
const FAILED_INSERTIONS: u8 = 3;
/// Maximum number of requests for a decision (E2) in one dialogue. A Miura reader that makes the selection asks for
/// none (readers: 2.5). A VIPA reader asks once or twice (readers: 3.3).
const MAX_DECISIONS: u8 = 8;

impl SaleAtReader {
    pub(super) fn start_chip(mut self: Box<Self>, line: &mut ReaderLine, now: Duration) -> SaleNext {
        if self.chip_starts == MAX_CHIP_STARTS {
            return self.unreadable(line, "it failed too often", now);
        }
        self.chip_starts += 1;
        self.tapped = false;
        self.tries_left = None;
        self.stage = SaleStage::Chip { decisions: 0 };
        line.progress(self.number(), ReaderProgress::ReadingCard);
        line.ask(&ReaderQuestion::Start(TransactionData::from(&self.arm)), CARDHOLDER, now);
        Next::Stay(self)
    }

    pub(super) fn chip_answered(
        mut self: Box<Self>,
        line: &mut ReaderLine,
        answer: Result<TransactionAnswer<'_>, CommandFailure>,
        decisions: u8,
        now: Duration,
    ) -> SaleNext {
        let failure = match answer {
            Ok(answer) => return self.chip_read(line, &answer, decisions, now),
            Err(failure) => failure,
        };
        match failure.kind {
            FailureKind::Cancelled => self.end(line, NoCard::CancelledAtReader, now),
            FailureKind::SwipeInstead => {
                self.chip_failed = true;
                self.watch(line, ReaderProgress::SwipeCard, &[DisplayRow::RemoveCard, DisplayRow::SwipeCard], now)
            }
            FailureKind::InsertAgain if self.chip_starts >= FAILED_INSERTIONS => {
                self.chip_failed = true;
                self.watch(line, ReaderProgress::SwipeCard, &[DisplayRow::RemoveCard, DisplayRow::SwipeCard], now)
            }
            // The reader reports the next insertion only in the answer to a wait.
            FailureKind::InsertAgain if !line.speaker.can(Capability::SlotEvents) => {
                line.progress(self.number(), ReaderProgress::InsertCard);
                self.wait(line, now)
            }
            FailureKind::InsertAgain => {
                line.progress(self.number(), ReaderProgress::InsertCard);
                display(line, &[DisplayRow::RemoveCard, DisplayRow::InsertCard], self.language, now);
                self.at(SaleStage::Watching)
            }
            FailureKind::NoCard => {
                line.slot = false;
                line.progress(self.number(), ReaderProgress::TryAgain);
                self.wait(line, now)
            }
            FailureKind::Damaged => self.damaged(line, now),
            FailureKind::StateLost => Next::reader_has_lost_it(failure),
            FailureKind::NoKey => self.no_key_left(line, now),
            _ => self.unreadable(line, failure.words, now),
        }
    }

    /// Takes a chip's answer: a request for a decision, or the card's own decision.
    pub(super) fn chip_read(
        self: Box<Self>,
        line: &mut ReaderLine,
        answer: &TransactionAnswer<'_>,
        decisions: u8,
        now: Duration,
    ) -> SaleNext {
        match answer.template {
            AnswerTemplate::Decision => self.decide(line, answer, decisions, now),
            _ => self.read(line, answer, ChipInterface::Contact, now),
        }
    }

    /// Answers a request for a decision. From a list of applications, the family takes the first, which has the highest
    /// priority.
    ///
    /// UNCERTAIN: the form of the list, and that its first application has the highest priority. A cardholder who
    /// wanted another application sees the used one on the receipt. The amount does not change.
    fn decide(
        mut self: Box<Self>,
        line: &mut ReaderLine,
        answer: &TransactionAnswer<'_>,
        decisions: u8,
        now: Duration,
    ) -> SaleNext {
        self.hear_language(answer);
        self.report_language(line);
        if decisions == MAX_DECISIONS {
            let why = NoCard::Unreadable { cause: "the reader asks for too many decisions".to_owned() };
            return self.stop(line, AfterAbort::End(why), now);
        }
        let Ok(found) = answer.elements.as_ref() else { return self.damaged(line, now) };
        let decision = line.speaker.decide(found);
        line.ask(&ReaderQuestion::Decide { transaction: TransactionData::from(&self.arm), decision }, CARDHOLDER, now);
        self.at(SaleStage::Chip { decisions: decisions + 1 })
    }

    /// Stops the transaction after a damaged answer, because the card may be waiting for the gateway's answer.
    pub(super) fn damaged(mut self: Box<Self>, line: &mut ReaderLine, now: Duration) -> SaleNext {
        let why = NoCard::Unreadable { cause: "the reader's answer was damaged".to_owned() };
        self.card_waits = true;
        self.stop(line, AfterAbort::End(why), now)
    }
}
