//! A swiped card in a transaction: the rules for its service code, and ONLINE PIN (readers: 2.9).

use std::time::Duration;

use super::card_read::SwipedCard;
use super::completing::AwaitingHost;
use super::line::{CARDHOLDER, CommandPurpose, ReaderLine};
use super::message::{MpiCommand, OnlinePinAnswer, StatusWord, TransactionData};
use super::next::Next;
use super::sale::{SaleAtReader, SaleNext, SaleStage};
use crate::{EntryRequest, NoCard, ReaderProgress};
use pos_terms::card::{EntryMode, SealedPin};
use pos_terms::emv::track2::PinRule;

/// The card name that ONLINE PIN shows (50).
const PIN_LABEL: &[u8] = b"CARD";
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
                let TransactionData { amount, currency, .. } = TransactionData::from(&self.arm);
                let command = MpiCommand::OnlinePin {
                    amount,
                    currency,
                    label: PIN_LABEL,
                    masked_track2: swipe.masked_track2.expose(),
                };
                line.ask(CommandPurpose::OnlinePin, &command, CARDHOLDER, now);
                line.progress(self.number(), ReaderProgress::PinEntry { digits: None });
                self.stage = SaleStage::Pin { swipe, entry };
                Next::Stay(self)
            }
            (PinRule::IfPinPad, false) | (PinRule::NotAsked, _) => self.present_swipe(line, *swipe, entry, None, now),
        }
    }

    pub(super) fn pin_answered(
        self: Box<Self>,
        line: &mut ReaderLine,
        swipe: SwipedCard,
        entry: EntryMode,
        body: &[u8],
        status: StatusWord,
        now: Duration,
    ) -> SaleNext {
        let required = swipe.pin_rule() == PinRule::Required;
        match (status, OnlinePinAnswer::parse(body)) {
            (StatusWord::OK, Ok(OnlinePinAnswer::Entered(entered))) => match entered.to_pin() {
                Some(pin) => {
                    line.progress(self.number(), ReaderProgress::PinDone);
                    self.present_swipe(line, swipe, entry, Some(pin), now)
                }
                None => self.unreadable(line, "its PIN block is malformed", now),
            },
            (StatusWord::OK, Ok(OnlinePinAnswer::Cancelled)) | (StatusWord::CANCELLED, _) => {
                self.end(line, NoCard::CancelledAtReader, now)
            }
            (StatusWord::OK, Ok(OnlinePinAnswer::Bypassed)) | (StatusWord::NO_PIN_KEY, _) if !required => {
                self.present_swipe(line, swipe, entry, None, now)
            }
            (StatusWord::OK, Ok(OnlinePinAnswer::Bypassed)) | (StatusWord::NO_PIN_KEY, _) => {
                self.unreadable(line, NEEDS_PIN, now)
            }
            (StatusWord::CONTACTLESS_TIMEOUT, _) => self.end(line, NoCard::TimedOut, now),
            (StatusWord::OK, _) => self.unreadable(line, "the PIN entry failed", now),
            (StatusWord::NOT_READY | StatusWord::NOT_ALLOWED, _) => Next::reader_has_lost_it(status),
            (status, _) => self.unreadable(line, status.words(), now),
        }
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
