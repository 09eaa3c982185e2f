//! A card number typed on the reader, which seals it (readers: 2.9), with D2E0 in three steps or with D25A. The
//! settings must allow it and the order must request it. If it ends early, the driver lets the reader delete the typed
//! data.

use std::time::Duration;

use super::card_read;
use super::completing::AwaitingHost;
use super::line::{ABORT_ANSWER, CommandPurpose, PLAIN_ANSWER, ReaderLine};
use super::message::{
    AMOUNT_LINE, GetSecureData, MpiCommand, ShownAmount, StatusWord, TypedCardAnswer, is_clear_typed_pan, prompts_of,
};
use super::next::Next;
use super::sale::{ManualEntryPart, SaleAtReader, SaleNext, SaleStage};
use super::settings::ManualEntry;
use crate::config::ManualEntryCommand;
use crate::{NoCard, NotEncrypting, ReaderProgress};

/// P2 for the card number: backlight, key light, digits in groups. Bit 4 (perhaps a check of the last digit) is
/// UNCERTAIN and left out, because the issuer declines a mistyped number.
const PAN_FLAGS: u8 = 0x0B;
/// P2 for the other elements: backlight, key light.
const FLAGS: u8 = 0x03;

impl SaleAtReader {
    /// Asks for a card number to be typed.
    pub(super) fn type_card(mut self: Box<Self>, line: &mut ReaderLine, now: Duration) -> SaleNext {
        let Some(manual) = line.miura.manual_entry else {
            return self.end(line, NoCard::ManualEntryOff, now);
        };
        line.progress(self.number(), ReaderProgress::TypeCard);
        match manual.command {
            ManualEntryCommand::D2E0 => self.part(line, ManualEntryPart::ForgetEarlier, now),
            ManualEntryCommand::D25A => {
                let command = MpiCommand::SecurePan { prompts: prompts_of(line.miura.prompts.card_number) };
                // The command may ask for the number and then for the date.
                line.ask(CommandPurpose::TypedCard, &command, self.arm.card_timeout * 2 + ABORT_ANSWER, now);
                self.stage = SaleStage::Manual(ManualEntryPart::Seal);
                Next::Stay(self)
            }
        }
    }

    fn part(mut self: Box<Self>, line: &mut ReaderLine, part: ManualEntryPart, now: Duration) -> SaleNext {
        let prompts = line.miura.prompts;
        let ask = |element, flags, prompts: [u16; 3]| {
            let money = ShownAmount {
                currency: self.arm.amount.currency().to_bcd(),
                exponent: self.arm.amount.currency().exponent(),
                amount: self.arm.amount.to_bcd(),
                line: AMOUNT_LINE,
            };
            let timeout = Some(u16::try_from(self.arm.card_timeout.as_secs()).unwrap_or(u16::MAX));
            GetSecureData::Ask { element, flags, prompts: prompts_of(prompts), money: Some(money), timeout }
        };
        let (command, patience) = match part {
            ManualEntryPart::ForgetEarlier => (GetSecureData::Clear, PLAIN_ANSWER),
            // The reader's own time-out must come before the driver's.
            ManualEntryPart::Pan => {
                (ask(GetSecureData::PAN, PAN_FLAGS, prompts.card_number), self.arm.card_timeout + ABORT_ANSWER)
            }
            ManualEntryPart::Expiry => {
                (ask(GetSecureData::EXPIRY, FLAGS, prompts.expiry), self.arm.card_timeout + ABORT_ANSWER)
            }
            ManualEntryPart::VerificationValue => (
                ask(GetSecureData::VERIFICATION_VALUE, FLAGS, prompts.verification_value),
                self.arm.card_timeout + ABORT_ANSWER,
            ),
            ManualEntryPart::Seal => (GetSecureData::Encrypt, PLAIN_ANSWER),
        };
        line.ask(CommandPurpose::TypedCard, &MpiCommand::SecureData(command), patience, now);
        self.stage = SaleStage::Manual(part);
        Next::Stay(self)
    }

    pub(super) fn manual_answered(
        self: Box<Self>,
        line: &mut ReaderLine,
        part: ManualEntryPart,
        body: &[u8],
        status: StatusWord,
        now: Duration,
    ) -> SaleNext {
        let verification_value = matches!(line.miura.manual_entry, Some(ManualEntry { verification_value: true, .. }));
        match (status, part) {
            (StatusWord::OK, ManualEntryPart::ForgetEarlier) => self.part(line, ManualEntryPart::Pan, now),
            (StatusWord::OK, ManualEntryPart::Pan) => self.part(line, ManualEntryPart::Expiry, now),
            (StatusWord::OK, ManualEntryPart::Expiry) if verification_value => {
                self.part(line, ManualEntryPart::VerificationValue, now)
            }
            (StatusWord::OK, ManualEntryPart::Expiry | ManualEntryPart::VerificationValue) => {
                self.part(line, ManualEntryPart::Seal, now)
            }
            (StatusWord::OK, ManualEntryPart::Seal) => self.sealed(line, body, now),
            (StatusWord::NOT_READY | StatusWord::NOT_ALLOWED, _) => Next::reader_has_lost_it(status),
            (StatusWord::UNKNOWN_INSTRUCTION | StatusWord::UNKNOWN_CLASS, _) => {
                // Nothing was typed, and the reader has no command to delete it.
                self.end(line, NoCard::ManualEntryUnknown, now)
            }
            (StatusWord::CANCELLED, _) => self.end(line, NoCard::CancelledAtReader, now),
            (StatusWord::NO_PIN_KEY | StatusWord::NOT_ENCRYPTED, ManualEntryPart::Seal) => self.no_key_left(line, now),
            (StatusWord::CONTACTLESS_TIMEOUT, _) => self.end(line, NoCard::TimedOut, now),
            (status, _) => {
                let cause = in_words(status).to_owned();
                self.end(line, NoCard::Unreadable { cause }, now)
            }
        }
    }

    /// Takes the sealed card number.
    fn sealed(self: Box<Self>, line: &mut ReaderLine, body: &[u8], now: Duration) -> SaleNext {
        let Ok(typed) = TypedCardAnswer::parse(body) else {
            let cause = "the reader's answer was damaged".to_owned();
            return self.end(line, NoCard::Unreadable { cause }, now);
        };
        if is_clear_typed_pan(typed.masked_pan) {
            return Next::Distrust;
        }
        match card_read::typed(&typed) {
            Some(presented) => self.present(line, presented, AwaitingHost::swipe(now)),
            None => Self::not_encrypting(line, NotEncrypting::Nothing),
        }
    }

    /// Sends the command that deletes the typed data, if the reader has one.
    pub(super) fn forget_typed(&self, line: &mut ReaderLine, now: Duration) {
        let keeps = matches!(line.miura.manual_entry, Some(ManualEntry { command: ManualEntryCommand::D2E0, .. }));
        if keeps {
            line.ask(CommandPurpose::Forget, &MpiCommand::SecureData(GetSecureData::Clear), PLAIN_ANSWER, now);
        }
    }
}

/// Describes a status word of the commands for typing, where E0 to ED have other meanings (readers: 2.9).
pub(super) fn in_words(status: StatusWord) -> &'static str {
    match status.0 {
        0x9FE0 => "it has no keys to encrypt with",
        0x9FE1 => "wrong parameters for its keys",
        0x9FE2 => "nothing was typed",
        0x9FE3 | 0x9FE4 => "its keys cannot be loaded",
        0x9FE5 => "it could not be encrypted",
        0x9FE6 => "its data are malformed",
        0x9FED => "the reader does not allow it",
        0x9F14 => "the typed value is not a card number or date",
        _ => status.words(),
    }
}
