//! A swiped card in a transaction: the rules for its service code. Also the online PIN, which a chip card may need too
//! (readers: 2.9, 3.3).

use std::time::Duration;

use super::completing::AwaitingHost;
use super::line::{CARDHOLDER, ReaderLine};
use super::next::Next;
use super::sale::{AfterAbort, SaleAtReader, SaleNext, SaleStage};
use crate::card_read::SwipedCard;
use crate::family::{CommandAnswer, FailureKind, PinAnswer, ReaderQuestion, TransactionData};
use crate::{EntryRequest, NoCard, ReaderProgress};
use pos_terms::card::{EntryMode, Presented, SealedPin};
use pos_terms::emv::track2::PinRule;

const NEEDS_PIN: &str = "it needs a PIN, which this reader could not take";

impl SaleAtReader {
    /// Takes a swiped card whose track was read.
    pub(super) fn swiped(
        mut self: Box<Self>,
        line: &mut ReaderLine,
        swipe: Box<SwipedCard>,
        now: Duration,
    ) -> SaleNext {
        if self.arm.entry == EntryRequest::Chip && !self.chip_failed {
            return self.wait(line, now);
        }
        if swipe.has_chip() && !self.chip_failed {
            line.progress(self.number(), ReaderProgress::InsertCard);
            return self.wait(line, now);
        }
        let entry = if self.chip_failed { EntryMode::MagstripeAsFallback } else { EntryMode::Magstripe };
        let pin_key = line.identity.as_ref().is_some_and(|identity| identity.pin_key);
        match (swipe.pin_rule(), pin_key) {
            (PinRule::Required, false) => self.unreadable(line, NEEDS_PIN, now),
            (PinRule::Required | PinRule::IfPinPad, true) => {
                self.ask_pin(line, Some(swipe.masked_track2()), now);
                self.stage = SaleStage::Pin { swipe, entry };
                Next::Stay(self)
            }
            (PinRule::IfPinPad, false) | (PinRule::NotAsked, _) => self.present_swipe(line, *swipe, entry, None, now),
        }
    }

    fn ask_pin(&self, line: &mut ReaderLine, masked_track2: Option<&[u8]>, now: Duration) {
        let transaction = TransactionData::from(&self.arm);
        line.ask(&ReaderQuestion::OnlinePin { transaction, masked_track2 }, CARDHOLDER, now);
        line.progress(self.number(), ReaderProgress::PinEntry { digits: None });
    }

    pub(super) fn pin_answered(
        self: Box<Self>,
        line: &mut ReaderLine,
        swipe: SwipedCard,
        entry: EntryMode,
        answer: CommandAnswer<'_>,
        now: Duration,
    ) -> SaleNext {
        let required = swipe.pin_rule() == PinRule::Required;
        let failure = match answer {
            CommandAnswer::Pin(PinAnswer::Entered(entered)) => {
                return match entered {
                    Some(pin) => {
                        line.progress(self.number(), ReaderProgress::PinDone);
                        self.present_swipe(line, swipe, entry, Some(pin), now)
                    }
                    None => self.unreadable(line, "its PIN block is malformed", now),
                };
            }
            CommandAnswer::Pin(PinAnswer::Cancelled) => return self.end(line, NoCard::CancelledAtReader, now),
            CommandAnswer::Pin(PinAnswer::Bypassed) if required => return self.unreadable(line, NEEDS_PIN, now),
            CommandAnswer::Pin(PinAnswer::Bypassed) => return self.present_swipe(line, swipe, entry, None, now),
            CommandAnswer::Failed(failure) => failure,
            _ => return self.unreadable(line, "the PIN entry failed", now),
        };
        match failure.kind {
            FailureKind::Cancelled => self.end(line, NoCard::CancelledAtReader, now),
            FailureKind::NoKey if required => self.unreadable(line, NEEDS_PIN, now),
            FailureKind::NoKey => self.present_swipe(line, swipe, entry, None, now),
            FailureKind::TimedOut => self.end(line, NoCard::TimedOut, now),
            FailureKind::StateLost => Next::reader_has_lost_it(failure),
            FailureKind::Damaged => self.unreadable(line, "the PIN entry failed", now),
            _ => self.unreadable(line, failure.words, now),
        }
    }

    /// Asks for the online PIN of a chip card that names this method. The family's readers do not ask for it while they
    /// read the chip.
    pub(super) fn ask_chip_pin(
        self: Box<Self>,
        line: &mut ReaderLine,
        presented: Presented,
        awaiting: AwaitingHost,
        now: Duration,
    ) -> SaleNext {
        self.ask_pin(line, None, now);
        self.at(SaleStage::ChipPin { presented: Box::new(presented), awaiting })
    }

    /// Takes the PIN of a chip card. Without it, nothing is sent, and the waiting card hears "declined".
    pub(super) fn chip_pin_answered(
        mut self: Box<Self>,
        line: &mut ReaderLine,
        mut presented: Box<Presented>,
        awaiting: AwaitingHost,
        answer: CommandAnswer<'_>,
        now: Duration,
    ) -> SaleNext {
        let unreadable = |cause: &str| NoCard::Unreadable { cause: cause.to_owned() };
        let why = match answer {
            CommandAnswer::Pin(PinAnswer::Entered(entered)) => match entered {
                Some(pin) => {
                    line.progress(self.number(), ReaderProgress::PinDone);
                    presented.pin = Some(pin);
                    return self.present(line, *presented, awaiting);
                }
                None => unreadable("its PIN block is malformed"),
            },
            CommandAnswer::Pin(PinAnswer::Cancelled) => NoCard::CancelledAtReader,
            CommandAnswer::Pin(PinAnswer::Bypassed) => NoCard::PinMissing,
            CommandAnswer::Failed(failure) => match failure.kind {
                FailureKind::Cancelled => NoCard::CancelledAtReader,
                FailureKind::TimedOut => NoCard::TimedOut,
                FailureKind::NoKey => NoCard::PinMissing,
                FailureKind::StateLost => return Next::reader_has_lost_it(failure),
                FailureKind::Damaged => unreadable("the PIN entry failed"),
                _ => unreadable(failure.words),
            },
            _ => unreadable("the PIN entry failed"),
        };
        self.card_waits = true;
        self.stage = SaleStage::Stopping { then: AfterAbort::End(why) };
        self.line_is_free(line, now)
    }

    fn present_swipe(
        self: Box<Self>,
        line: &mut ReaderLine,
        swipe: SwipedCard,
        entry: EntryMode,
        pin: Option<SealedPin>,
        now: Duration,
    ) -> SaleNext {
        self.present(line, swipe.present(entry, pin), AwaitingHost::swipe(now))
    }
}
