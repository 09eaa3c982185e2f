//! A transaction that waits for a card on every interface. The first card ends the other waits (readers: 2.3, 2.6,
//! 3.4).

use std::time::Duration;

use super::display::{DisplayRow, display};
use super::line::ReaderLine;
use super::next::{Next, SaleOver};
use super::sale::{AfterAbort, SaleAtReader, SaleNext, SaleStage};
use crate::capability::Capability;
use crate::card_answer::{AnswerTemplate, TransactionAnswer};
use crate::card_read::{ChipInterface, SwipedCard, UnusableSwipe};
use crate::family::{CommandFailure, FailureKind, ReaderQuestion, TransactionData};
use crate::{EntryRequest, NoCard, NotEncrypting, ReaderLanguage, ReaderProgress};

/// The wait for the swipe's own message after the end of the contactless wait.
const SWIPE_AFTER_STATUS: Duration = Duration::from_secs(2);
/// The wait for the end of the contactless wait after the card's own message. Also the wait for the end of the dialogue
/// with the chip after the card was removed.
const STATUS_AFTER_CARD: Duration = Duration::from_secs(5);
/// The shortest real contactless wait. A shorter wait must not be repeated immediately, because that would be a loop.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);

/// Maximum number of taps that a card or phone may ask for in quick succession. A phone asks for one more, after its
/// holder has confirmed the payment on it.
const MAX_SECOND_TAPS: u8 = 5;

/// Maximum number of early refusals of a wait in a row.
const MAX_REFUSALS: u8 = 3;

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
        self.ask_any_card(line, language, true, now);
        Next::Stay(self)
    }

    fn ask_any_card(&self, line: &mut ReaderLine, language: Option<ReaderLanguage>, contactless: bool, now: Duration) {
        let (transaction, wait) = (TransactionData::from(&self.arm), self.until.saturating_sub(now));
        line.ask(&ReaderQuestion::AnyCard { transaction, language, contactless, wait }, wait, now);
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
        if !line.speaker.can(Capability::SlotEvents) {
            // Without a command, this family's readers report no card.
            self.stage = SaleStage::Contactless { since: now, swipe: None };
            self.ask_any_card(line, None, false, now);
        }
        Next::Stay(self)
    }

    pub(super) fn contactless_answered(
        mut self: Box<Self>,
        line: &mut ReaderLine,
        answer: Result<TransactionAnswer<'_>, CommandFailure>,
        since: Duration,
        swipe: Option<Box<SwipedCard>>,
        now: Duration,
    ) -> SaleNext {
        let failure = match answer {
            Ok(answer) if answer.elements.as_ref().is_ok_and(|found| found.inserted) => {
                return self.inserted_at_once(line, &answer, now);
            }
            Ok(answer) if answer.template != AnswerTemplate::Decision => {
                self.tapped = true;
                return self.read(line, &answer, ChipInterface::Contactless, now);
            }
            Ok(_) => CommandFailure::DAMAGED,
            Err(failure) => failure,
        };
        match (failure.kind, swipe) {
            (FailureKind::Damaged, _) => {
                self.tapped = true;
                self.damaged(line, now)
            }
            (FailureKind::StateLost, _) => Next::reader_has_lost_it(failure),
            (FailureKind::NoKey, _) => self.no_key_left(line, now),
            (FailureKind::Cancelled, _) => self.end(line, NoCard::CancelledAtReader, now),
            (FailureKind::Inserted, _) => {
                line.slot = line.speaker.can(Capability::SlotEvents);
                self.start_chip(line, now)
            }
            (_, Some(swipe)) => self.swiped(line, swipe, now),
            (FailureKind::Swiped, None) => self.at(SaleStage::SwipeDue { until: now + SWIPE_AFTER_STATUS }),
            // The reader's own time-out may be shorter than the session's.
            (FailureKind::TimedOut, None) if now >= self.until || now - since >= SHORTEST_WAIT => self.wait(line, now),
            // A cardholder needs some time to present the card again, so this is no loop.
            (FailureKind::TapAgain, None) if now - since >= SHORTEST_WAIT || self.second_taps < MAX_SECOND_TAPS => {
                self.second_taps = self.second_taps.saturating_add(1);
                line.progress(self.number(), ReaderProgress::TryAgain);
                self.wait(line, now)
            }
            (FailureKind::OtherCard, None) => {
                self.watch(line, ReaderProgress::TryAgain, &[DisplayRow::TryAgain, DisplayRow::InsertOrSwipe], now)
            }
            // The reader refuses to wait, without a reason that the session knows. Its keys may be used up.
            (_, None) if !line.speaker.can(Capability::SlotEvents) && self.is_refused_again(since, now) => {
                let why = NoCard::Unreadable { cause: failure.words.to_owned() };
                Next::SaleOver(SaleOver { ask_for_keys: true, ..self.over(line, why, now) })
            }
            // The card must be inserted or swiped, or the contactless part is faulty.
            (_, None) => self.watch(line, ReaderProgress::InsertCard, &[DisplayRow::InsertOrSwipe], now),
        }
    }

    /// Counts the refusals that came too early for a cardholder. Returns whether there are too many.
    fn is_refused_again(&mut self, since: Duration, now: Duration) -> bool {
        self.refusals = if now - since < SHORTEST_WAIT { self.refusals.saturating_add(1) } else { 0 };
        self.refusals > MAX_REFUSALS
    }

    /// Takes the answer of a chip whose dialogue began during the wait on every interface.
    fn inserted_at_once(
        mut self: Box<Self>,
        line: &mut ReaderLine,
        answer: &TransactionAnswer<'_>,
        now: Duration,
    ) -> SaleNext {
        self.chip_starts = self.chip_starts.saturating_add(1);
        line.progress(self.number(), ReaderProgress::ReadingCard);
        self.chip_read(line, answer, 0, now)
    }

    /// Takes a swipe that came as the answer to the wait on every interface.
    pub(super) fn swipe_answered(
        mut self: Box<Self>,
        line: &mut ReaderLine,
        swiped: Result<SwipedCard, UnusableSwipe>,
        now: Duration,
    ) -> SaleNext {
        match swiped {
            Ok(swipe) => {
                self.chip_failed |= swipe.is_fallback();
                self.swiped(line, Box::new(swipe), now)
            }
            Err(UnusableSwipe::NotSealed) => Self::not_encrypting(line, NotEncrypting::Nothing),
            Err(UnusableSwipe::Unreadable) => {
                line.progress(self.number(), ReaderProgress::TryAgain);
                self.wait(line, now)
            }
        }
    }

    /// Takes the message that a card was inserted, removed or swiped.
    pub(super) fn card_status(
        mut self: Box<Self>,
        line: &mut ReaderLine,
        swiped: Option<Result<SwipedCard, UnusableSwipe>>,
        was_in: bool,
        now: Duration,
    ) -> SaleNext {
        let card_in = line.slot;
        let inserted = card_in && !was_in;
        match (std::mem::take(&mut self.stage), swiped) {
            (SaleStage::Contactless { since, swipe }, Some(swiped)) => {
                let swipe = match swiped {
                    Ok(new) => Some(Box::new(new)),
                    Err(UnusableSwipe::Unreadable) => swipe,
                    Err(UnusableSwipe::NotSealed) => return Self::not_encrypting(line, NotEncrypting::Nothing),
                };
                self.card_ends_wait(line, since, swipe, now)
            }
            (SaleStage::Contactless { since, swipe }, None) if inserted => self.card_ends_wait(line, since, swipe, now),
            (stage @ (SaleStage::Watching | SaleStage::SwipeDue { .. }), Some(swiped)) => match swiped {
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
            (SaleStage::Watching | SaleStage::SwipeDue { .. }, None) if inserted => self.start_chip(line, now),
            // The removed card sends nothing more. The reader's message about it may be lost, so the driver waits only
            // a short time for it.
            (stage @ (SaleStage::Chip { .. } | SaleStage::ChipPin { .. } | SaleStage::Completing(_)), None)
                if was_in && !card_in =>
            {
                line.hurry(STATUS_AFTER_CARD, now);
                self.at(stage)
            }
            // The failed card has been removed, and the reader may show its own text again. So the request is shown
            // again.
            (stage @ SaleStage::Watching, None) if was_in && !card_in && (self.chip_failed || self.chip_starts > 0) => {
                let row = if self.chip_failed { DisplayRow::SwipeCard } else { DisplayRow::InsertCard };
                display(line, &[row], self.language, now);
                self.at(stage)
            }
            (stage, _) => self.at(stage),
        }
    }

    /// Ends the contactless wait after an insertion or a swipe. Some readers end it themselves. If they do not, the
    /// session ends it after a while.
    fn card_ends_wait(
        self: Box<Self>,
        line: &mut ReaderLine,
        since: Duration,
        swipe: Option<Box<SwipedCard>>,
        now: Duration,
    ) -> SaleNext {
        if line.speaker.can(Capability::EndsWait) {
            line.hurry(STATUS_AFTER_CARD, now);
            return self.at(SaleStage::Contactless { since, swipe });
        }
        match swipe {
            Some(swipe) => self.stop(line, AfterAbort::Swiped(swipe), now),
            None if line.slot => self.stop(line, AfterAbort::StartChip, now),
            // The stripe was not read. The wait goes on.
            None => self.at(SaleStage::Contactless { since, swipe }),
        }
    }
}
