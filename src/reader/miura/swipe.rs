//! A sale's swiped card: the rules of its service code, ONLINE PIN (readers: 2.9).

use std::time::Duration;

use super::completing::Reading;
use super::line::{Ask, CARDHOLDER, Line};
use super::message::{Command, OnlinePinAnswer, Status, Terms};
use super::reading::{self, PinRule, Swipe};
use super::sale::{Sale, Stage};
use super::session::{State, lost};
use crate::card::{EntryMode, SealedPin};
use crate::reader::{NoCard, Step};

/// What ONLINE PIN shows for the card (50).
const PIN_LABEL: &[u8] = b"CARD";
const NEEDS_PIN: &str = "it needs a PIN, which this reader could not take";

impl Sale {
    /// A card was swiped and read.
    pub(super) fn swiped(mut self: Box<Self>, line: &mut Line, swipe: Box<Swipe>, now: Duration) -> State {
        if swipe.has_chip() && !self.chip_failed {
            line.step(self.number(), Step::InsertCard);
            return self.wait(line, now);
        }
        let entry = if self.chip_failed { EntryMode::MagstripeAsFallback } else { EntryMode::Magstripe };
        let pin_key = line.identity.as_ref().is_some_and(|identity| identity.pin_key);
        match (swipe.pin_rule(), pin_key) {
            (PinRule::Required, false) => self.unreadable(line, NEEDS_PIN, now),
            (PinRule::Required | PinRule::IfPossible, true) => {
                let Terms { amount, currency, .. } = Terms::from(&self.arm);
                let command = Command::OnlinePin {
                    amount,
                    currency,
                    label: PIN_LABEL,
                    masked_track2: swipe.masked_track2.expose(),
                };
                line.ask(Ask::OnlinePin, &command, CARDHOLDER, now);
                line.step(self.number(), Step::PinEntry { digits: None });
                self.stage = Stage::Pin { swipe, entry };
                State::Sale(self)
            }
            (PinRule::IfPossible, false) | (PinRule::No, _) => self.present_swipe(line, *swipe, entry, None, now),
        }
    }

    pub(super) fn pin_answered(
        self: Box<Self>,
        line: &mut Line,
        swipe: Swipe,
        entry: EntryMode,
        body: &[u8],
        status: Status,
        now: Duration,
    ) -> State {
        let required = swipe.pin_rule() == PinRule::Required;
        match (status, OnlinePinAnswer::parse(body)) {
            (Status::OK, Ok(OnlinePinAnswer::Entered(entered))) => match reading::own_pin(entered) {
                Some(pin) => {
                    line.step(self.number(), Step::PinDone);
                    self.present_swipe(line, swipe, entry, Some(pin), now)
                }
                None => self.unreadable(line, "its PIN block is malformed", now),
            },
            (Status::OK, Ok(OnlinePinAnswer::Cancelled)) | (Status::CANCELLED, _) => {
                self.end(line, NoCard::CancelledAtReader, now)
            }
            (Status::OK, Ok(OnlinePinAnswer::Bypassed)) | (Status::NO_PIN_KEY, _) if !required => {
                self.present_swipe(line, swipe, entry, None, now)
            }
            (Status::OK, Ok(OnlinePinAnswer::Bypassed)) | (Status::NO_PIN_KEY, _) => {
                self.unreadable(line, NEEDS_PIN, now)
            }
            (Status::CONTACTLESS_TIMEOUT, _) => self.end(line, NoCard::TimedOut, now),
            (Status::OK, _) => self.unreadable(line, "the PIN entry failed", now),
            (Status::NOT_READY | Status::NOT_ALLOWED, _) => lost(line, status, now),
            (status, _) => self.unreadable(line, status.words(), now),
        }
    }

    fn present_swipe(
        self: Box<Self>,
        line: &mut Line,
        swipe: Swipe,
        entry: EntryMode,
        pin: Option<SealedPin>,
        now: Duration,
    ) -> State {
        self.present(line, swipe.present(entry, pin), Reading::swipe(now), now)
    }
}
