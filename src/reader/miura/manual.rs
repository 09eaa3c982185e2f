//! A card number that is typed on the reader, which seals it (readers: 2.9): D2E0 in three steps, or D25A. Only where
//! the settings allow it and the order asks for it. Whatever ends it early, the reader is told to forget what was
//! typed.

use std::time::Duration;

use super::completing::Reading;
use super::line::{ABORT_ANSWER, Ask, Line, PLAIN_ANSWER};
use super::message::{Command, Money, SecureData, Status, TypedCard};
use super::number::{AMOUNT_LINE, prompts_of};
use super::reading;
use super::sale::{Sale, Stage};
use super::session::{State, distrust, lost};
use crate::reader::{ManualEntry, ManualEntryCommand, NoCard, NotEncrypting, Step};

/// P2 for the card number: backlight, light of the keys, digits in groups. Bit 4 (perhaps a check of the last digit) is
/// UNCERTAIN and left out: a mistyped number is declined by its issuer.
const PAN_FLAGS: u8 = 0x0B;
/// P2 for the other elements: backlight, light of the keys.
const FLAGS: u8 = 0x03;
/// What is under way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// D2E0: what was typed before is forgotten.
    Clear,
    Pan,
    Expiry,
    VerificationValue,
    /// D2E0: everything is sealed. D25A: its one command.
    Seal,
}

impl Sale {
    /// Has a card number typed.
    pub(super) fn type_card(mut self: Box<Self>, line: &mut Line, now: Duration) -> State {
        let Some(manual) = line.settings.manual_entry else {
            return self.end(line, NoCard::ManualEntryOff, now);
        };
        line.step(self.number(), Step::TypeCard);
        match manual.command {
            ManualEntryCommand::D2E0 => self.part(line, Part::Clear, now),
            ManualEntryCommand::D25A => {
                let command = Command::SecurePan { prompts: prompts_of(line.settings.prompts.card_number) };
                // It may ask for the number and the date one after the other.
                line.ask(Ask::TypedCard, &command, self.arm.card_timeout * 2 + ABORT_ANSWER, now);
                self.stage = Stage::Manual(Part::Seal);
                State::Sale(self)
            }
        }
    }

    fn part(mut self: Box<Self>, line: &mut Line, part: Part, now: Duration) -> State {
        let prompts = line.settings.prompts;
        let ask = |element, flags, prompts: [u16; 3]| {
            let money = Money {
                currency: self.arm.amount.currency().to_bcd(),
                exponent: self.arm.amount.currency().exponent(),
                amount: self.arm.amount.to_bcd(),
                line: AMOUNT_LINE,
            };
            let timeout = Some(u16::try_from(self.arm.card_timeout.as_secs()).unwrap_or(u16::MAX));
            SecureData::Ask { element, flags, prompts: prompts_of(prompts), money: Some(money), timeout }
        };
        let (command, patience) = match part {
            Part::Clear => (SecureData::Clear, PLAIN_ANSWER),
            // The reader's own time-out must come before ours.
            Part::Pan => (ask(SecureData::PAN, PAN_FLAGS, prompts.card_number), self.arm.card_timeout + ABORT_ANSWER),
            Part::Expiry => (ask(SecureData::EXPIRY, FLAGS, prompts.expiry), self.arm.card_timeout + ABORT_ANSWER),
            Part::VerificationValue => (
                ask(SecureData::VERIFICATION_VALUE, FLAGS, prompts.verification_value),
                self.arm.card_timeout + ABORT_ANSWER,
            ),
            Part::Seal => (SecureData::Encrypt, PLAIN_ANSWER),
        };
        line.ask(Ask::TypedCard, &Command::SecureData(command), patience, now);
        self.stage = Stage::Manual(part);
        State::Sale(self)
    }

    pub(super) fn manual_answered(
        self: Box<Self>,
        line: &mut Line,
        part: Part,
        body: &[u8],
        status: Status,
        now: Duration,
    ) -> State {
        let verification_value =
            matches!(line.settings.manual_entry, Some(ManualEntry { verification_value: true, .. }));
        match (status, part) {
            (Status::OK, Part::Clear) => self.part(line, Part::Pan, now),
            (Status::OK, Part::Pan) => self.part(line, Part::Expiry, now),
            (Status::OK, Part::Expiry) if verification_value => self.part(line, Part::VerificationValue, now),
            (Status::OK, Part::Expiry | Part::VerificationValue) => self.part(line, Part::Seal, now),
            (Status::OK, Part::Seal) => self.sealed(line, body, now),
            (Status::NOT_READY | Status::NOT_ALLOWED, _) => lost(line, status, now),
            (Status::UNKNOWN_INSTRUCTION | Status::UNKNOWN_CLASS, _) => {
                // Nothing was typed, and there is nothing that forgets.
                self.end(line, NoCard::ManualEntryUnknown, now)
            }
            (Status::CANCELLED, _) => self.end(line, NoCard::CancelledAtReader, now),
            (Status::NO_PIN_KEY | Status::NOT_ENCRYPTED, Part::Seal) => self.no_key_left(line, now),
            (Status::CONTACTLESS_TIMEOUT, _) => self.end(line, NoCard::TimedOut, now),
            (status, _) => {
                let cause = in_words(status).to_owned();
                self.end(line, NoCard::Unreadable { cause }, now)
            }
        }
    }

    /// The sealed card number came.
    fn sealed(self: Box<Self>, line: &mut Line, body: &[u8], now: Duration) -> State {
        let Ok(typed) = TypedCard::parse(body) else {
            let cause = "the reader's answer was damaged".to_owned();
            return self.end(line, NoCard::Unreadable { cause }, now);
        };
        if reading::is_clear_typed_pan(&typed) {
            return distrust(line, now);
        }
        match reading::typed(&typed) {
            Some(presented) => {
                let reading = Reading::swipe(now);
                self.present(line, presented, reading, now)
            }
            None => self.not_encrypting(line, NotEncrypting::Nothing, now),
        }
    }

    /// Sends the command that forgets, where there is one.
    pub(super) fn forget_typed(&self, line: &mut Line, now: Duration) {
        let keeps = matches!(line.settings.manual_entry, Some(ManualEntry { command: ManualEntryCommand::D2E0, .. }));
        if keeps {
            line.ask(Ask::Forget, &Command::SecureData(SecureData::Clear), PLAIN_ANSWER, now);
        }
    }
}

/// A status word of the commands for typing, whose E0 to ED mean something else than elsewhere (readers: 2.9).
pub(super) fn in_words(status: Status) -> &'static str {
    match status.0 {
        0x9FE0 => "it has no keys to seal it with",
        0x9FE1 => "wrong parameters for its keys",
        0x9FE2 => "nothing was typed",
        0x9FE3 | 0x9FE4 => "its keys cannot be loaded",
        0x9FE5 => "it could not be sealed",
        0x9FE6 => "its data are malformed",
        0x9FED => "the reader does not allow it",
        0x9F14 => "what was typed is no card number or date",
        _ => status.words(),
    }
}
