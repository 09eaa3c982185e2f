//! A transaction with the chip in the slot: START TRANSACTION, and the reader's requests for decisions (readers: 2.5,
//! 2.7).

use std::time::Duration;

use super::card_read::ChipInterface;
use super::display::DisplayRow;
use super::line::{CARDHOLDER, CommandPurpose, ReaderLine};
use super::message::{AnswerTemplate, ContinueData, MpiCommand, StatusWord, TransactionAnswer, TransactionData};
use super::next::Next;
use super::sale::{AfterAbort, SaleAtReader, SaleNext, SaleStage};
use crate::{NoCard, ReaderProgress};

/// Maximum number of chip starts of one transaction. A card that was removed or failed may be tried again.
const MAX_CHIP_STARTS: u8 = 5;
/// Maximum number of E2 for one START. If the reader makes the selection, there should be none (readers: 2.5).
const MAX_DECISIONS: u8 = 8;
/// C0 for an E2 that offers no application (a referral, for which a person should telephone). The answer is "no",
/// because the agent cannot decide it. UNCERTAIN: the vendor's source uses 01 as yes and 00 as no, but does not explain
/// them (readers: 2.7).
const DECIDED_NO: u8 = 0x00;

impl SaleAtReader {
    pub(super) fn start_chip(mut self: Box<Self>, line: &mut ReaderLine, now: Duration) -> SaleNext {
        if self.chip_starts == MAX_CHIP_STARTS {
            return self.unreadable(line, "it failed too often", now);
        }
        self.chip_starts += 1;
        self.tries_left = None;
        self.stage = SaleStage::Chip { decisions: 0 };
        line.progress(self.number(), ReaderProgress::ReadingCard);
        line.ask(
            CommandPurpose::Start,
            &MpiCommand::StartTransaction(TransactionData::from(&self.arm)),
            CARDHOLDER,
            now,
        );
        Next::Stay(self)
    }

    pub(super) fn chip_answered(
        mut self: Box<Self>,
        line: &mut ReaderLine,
        answer: Result<TransactionAnswer<'_>, StatusWord>,
        decisions: u8,
        now: Duration,
    ) -> SaleNext {
        match answer {
            Ok(answer) if answer.template == AnswerTemplate::Decision => self.decide(line, &answer, decisions, now),
            Ok(answer) => self.read(line, &answer, ChipInterface::Contact, now),
            Err(StatusWord::CANCELLED) => self.end(line, NoCard::CancelledAtReader, now),
            Err(StatusWord::UNSUPPORTED_CARD | StatusWord::CARD_READ_ERROR) => {
                self.chip_failed = true;
                self.watch(line, ReaderProgress::SwipeCard, &[DisplayRow::RemoveCard, DisplayRow::SwipeCard], now)
            }
            Err(StatusWord::NO_CARD) => {
                line.slot = false;
                line.progress(self.number(), ReaderProgress::TryAgain);
                self.wait(line, now)
            }
            Err(StatusWord::OK) => self.damaged(line, now),
            Err(status @ (StatusWord::NOT_READY | StatusWord::NOT_ALLOWED)) => Next::reader_has_lost_it(status),
            Err(StatusWord::NO_PIN_KEY | StatusWord::NOT_ENCRYPTED) => self.no_key_left(line, now),
            Err(status) => self.unreadable(line, status.words(), now),
        }
    }

    /// Answers an E2 with the first application, which has the highest priority, or with "no" if there is none.
    /// Normally the reader makes the selection itself.
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
        let decision = match answer.elements.as_ref().map(|found| found.application) {
            Ok(Some(choice)) => ContinueData::Choose(choice),
            Ok(None) => ContinueData::Decision(DECIDED_NO),
            Err(_) => return self.damaged(line, now),
        };
        line.ask(CommandPurpose::Continue, &MpiCommand::Continue(decision), CARDHOLDER, now);
        self.at(SaleStage::Chip { decisions: decisions + 1 })
    }

    /// Stops the transaction after a damaged answer, because the card may be waiting for the gateway's answer.
    pub(super) fn damaged(mut self: Box<Self>, line: &mut ReaderLine, now: Duration) -> SaleNext {
        let why = NoCard::Unreadable { cause: "the reader's answer was damaged".to_owned() };
        self.card_waits = true;
        self.stop(line, AfterAbort::End(why), now)
    }
}
