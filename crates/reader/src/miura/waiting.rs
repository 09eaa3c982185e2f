//! A transaction that waits for a card. Contactless runs while the driver watches for an inserted or swiped card. The
//! first card ends the other waits (readers: 2.3, 2.6).

use std::time::Duration;

use super::card_read::{ChipInterface, SwipedCard, UnusableSwipe};
use super::display::{DisplayRow, display};
use super::line::{CommandPurpose, ReaderLine};
use super::message::{AnswerTemplate, CardStatus, MpiCommand, StatusWord, TransactionAnswer, TransactionData};
use super::next::Next;
use super::sale::{SaleAtReader, SaleNext, SaleStage};
use crate::{EntryRequest, NoCard, NotEncrypting, ReaderLanguage, ReaderProgress};

/// The wait for the swipe's own message after its 9F44.
const SWIPE_AFTER_STATUS: Duration = Duration::from_secs(2);
/// The wait for 9F43 or 9F44 after the card's own message. Also the wait for the end of START or CONTINUE after the
/// card was removed.
const STATUS_AFTER_CARD: Duration = Duration::from_secs(5);
/// The shortest real contactless wait. A shorter wait must not be repeated immediately, because that would be a loop.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);

impl SaleAtReader {
    /// Waits for a card, on every interface that may be used.
    pub(super) fn wait(mut self: Box<Self>, line: &mut ReaderLine, now: Duration) -> SaleNext {
        if now >= self.until {
            return self.end(line, NoCard::TimedOut, now);
        }
        if line.slot {
            return self.start_chip(line, now);
        }
        if self.arm.entry == EntryRequest::Chip {
            return self.watch(line, ReaderProgress::InsertCard, &[DisplayRow::InsertCard], now);
        }
        self.stage = SaleStage::Contactless { since: now, swipe: None };
        // Only a shop with a language other than English sends it. A reader that does not know the element thus cannot
        // disturb other shops.
        let language = Some(line.settings.language).filter(|language| *language != ReaderLanguage::English);
        let language = language.and_then(|language| language.code().as_bytes().try_into().ok());
        let command =
            MpiCommand::StartContactless { transaction: TransactionData::from(&self.arm), language, timeout: None };
        line.ask(CommandPurpose::Contactless, &command, self.until - now, now);
        Next::Stay(self)
    }

    /// Continues without contactless.
    pub(super) fn watch(
        mut self: Box<Self>,
        line: &mut ReaderLine,
        progress: ReaderProgress,
        rows: &[DisplayRow],
        now: Duration,
    ) -> SaleNext {
        if line.slot && !self.chip_failed {
            return self.start_chip(line, now);
        }
        line.progress(self.number(), progress);
        self.stage = SaleStage::Watching;
        display(line, rows, self.language, now);
        Next::Stay(self)
    }

    pub(super) fn contactless_answered(
        self: Box<Self>,
        line: &mut ReaderLine,
        answer: Result<TransactionAnswer<'_>, StatusWord>,
        since: Duration,
        swipe: Option<Box<SwipedCard>>,
        now: Duration,
    ) -> SaleNext {
        let status = match answer {
            Ok(answer) if answer.template != AnswerTemplate::Decision => {
                return self.read(line, &answer, ChipInterface::Contactless, now);
            }
            Ok(_) => StatusWord::OK,
            Err(status) => status,
        };
        match (status, swipe) {
            (StatusWord::OK, _) => self.damaged(line, now),
            (StatusWord::NOT_READY | StatusWord::NOT_ALLOWED, _) => Next::reader_has_lost_it(status),
            (StatusWord::NO_PIN_KEY | StatusWord::NOT_ENCRYPTED, _) => self.no_key_left(line, now),
            (StatusWord::CANCELLED, _) => self.end(line, NoCard::CancelledAtReader, now),
            (StatusWord::CARD_INSERTED, _) => {
                line.slot = true;
                self.start_chip(line, now)
            }
            (_, Some(swipe)) => self.swiped(line, swipe, now),
            (StatusWord::CARD_SWIPED, None) => self.at(SaleStage::SwipeDue { until: now + SWIPE_AFTER_STATUS }),
            // The reader's own time-out may be shorter than the driver's.
            (StatusWord::CONTACTLESS_TIMEOUT, None) if now >= self.until || now - since >= SHORTEST_WAIT => {
                self.wait(line, now)
            }
            (StatusWord::OTHER_CARD, None) => {
                self.watch(line, ReaderProgress::TryAgain, &[DisplayRow::TryAgain, DisplayRow::InsertOrSwipe], now)
            }
            // 9FC1, 9FC3, and every fault of the contactless part.
            (_, None) => self.watch(line, ReaderProgress::InsertCard, &[DisplayRow::InsertOrSwipe], now),
        }
    }

    /// Takes the message that a card was inserted, removed or swiped.
    pub(super) fn card_status(
        mut self: Box<Self>,
        line: &mut ReaderLine,
        status: &CardStatus<'_>,
        was_in: bool,
        now: Duration,
    ) -> SaleNext {
        let inserted = status.card_in() && !was_in;
        match (std::mem::take(&mut self.stage), status.swiped()) {
            // 9F44 or 9F43 ends the contactless wait. If neither comes, the driver ends it.
            (SaleStage::Contactless { since, swipe }, true) => {
                let swipe = match SwipedCard::new(status) {
                    Ok(new) => Some(Box::new(new)),
                    Err(UnusableSwipe::Unreadable) => swipe,
                    Err(UnusableSwipe::NotSealed) => return Self::not_encrypting(line, NotEncrypting::Nothing),
                };
                line.hurry(STATUS_AFTER_CARD, now);
                self.at(SaleStage::Contactless { since, swipe })
            }
            (stage @ SaleStage::Contactless { .. }, false) if inserted => {
                line.hurry(STATUS_AFTER_CARD, now);
                self.at(stage)
            }
            (stage @ (SaleStage::Watching | SaleStage::SwipeDue { .. }), true) => match SwipedCard::new(status) {
                Ok(swipe) => self.swiped(line, Box::new(swipe), now),
                Err(UnusableSwipe::NotSealed) => Self::not_encrypting(line, NotEncrypting::Nothing),
                Err(UnusableSwipe::Unreadable) => {
                    line.progress(self.number(), ReaderProgress::TryAgain);
                    match stage {
                        SaleStage::SwipeDue { .. } => self.wait(line, now),
                        stage => self.at(stage),
                    }
                }
            },
            (SaleStage::Watching | SaleStage::SwipeDue { .. }, false) if inserted => self.start_chip(line, now),
            // The removed card sends nothing more. The reader's message about it may be lost, so the driver waits only
            // a short time for it.
            (stage @ (SaleStage::Chip { .. } | SaleStage::Completing(_)), false) if was_in && !status.card_in() => {
                line.hurry(STATUS_AFTER_CARD, now);
                self.at(stage)
            }
            // The failed card has been removed, and the reader may show its own text again. So the request is shown
            // again.
            (stage @ SaleStage::Watching, false) if was_in && !status.card_in() && self.chip_failed => {
                display(line, &[DisplayRow::SwipeCard], self.language, now);
                self.at(stage)
            }
            (stage, _) => self.at(stage),
        }
    }
}
