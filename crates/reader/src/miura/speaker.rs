//! The session's questions as commands of Miura MPI.

use super::message::{
    AMOUNT_LINE, CardElements, ContinueData, GetDynamicTip, GetNumericData, GetSecureData, MAX_INTEGER_DIGITS,
    MessageError, MpiCommand, ResetKind, ShownAmount, prompts_of, tags,
};
use super::settings::{ManualEntry, MiuraSettings};
use crate::apdu_framing;
use crate::capability::Capability;
use crate::config::{ManualEntryCommand, TipEntry};
use crate::family::{Decision, Encoded, HostAnswer, OwnTag, ReaderQuestion, Speaker, StartUpStep};
use pos_reader_link::apdu_link::EncodeError;
use pos_terms::emv::Tag;
use pos_terms::money::Amount;
use std::time::Duration;

/// The capabilities of a Miura reader.
pub const CAPABILITIES: &[Capability] = &[
    Capability::TypedCard,
    Capability::TypedVerificationValue,
    Capability::ChoiceOfTypingCommand,
    Capability::AmountEntry,
    Capability::TipEntry,
    Capability::Texts,
    Capability::ClockReading,
    Capability::ConfigurationFiles,
    Capability::SlotEvents,
    Capability::EndsWait,
    Capability::TellsTap,
    Capability::LongCommands,
];

/// The steps of the start-up (readers: 2.14).
const STARTUP: &[StartUpStep] = &[
    StartUpStep::Abort,
    StartUpStep::Identity,
    StartUpStep::Keys,
    StartUpStep::Capabilities,
    StartUpStep::Configuration,
    StartUpStep::Clock,
    StartUpStep::CardEvents,
    StartUpStep::Keypad,
];

/// The entries of each part of a typed card. GET SECURE DATA deletes earlier data, asks for number and expiry date,
/// with or without the verification value, and seals. GET SECURE PAN may ask for the number and then for the date.
const D2E0_PARTS: &[u32] = &[0, 1, 1, 0];
const D2E0_PARTS_WITH_VERIFICATION_VALUE: &[u32] = &[0, 1, 1, 1, 0];
const D25A_PARTS: &[u32] = &[2];

/// CARD STATUS with all messages: unsolicited messages, ATR, three tracks.
const CARD_STATUS_ON: MpiCommand<'static> = MpiCommand::CardStatus { flags: 0x1F };
/// The card name that ONLINE PIN shows (50).
const PIN_LABEL: &[u8] = b"CARD";
/// C0 for an E2 that offers no application (a referral, for which a person should telephone). The answer is "no",
/// because the agent cannot decide it. UNCERTAIN: the vendor's source uses 01 as yes and 00 as no, but does not explain
/// them (readers: 2.7).
const DECIDED_NO: u8 = 0x00;
const DECIDED_YES: u8 = 0x01;
/// P2 for the card number: backlight, key light, digits in groups. Bit 4 (perhaps a check of the last digit) is
/// UNCERTAIN and left out, because the issuer declines a mistyped number.
const PAN_FLAGS: u8 = 0x0B;
/// P2 for the other elements: backlight, key light.
const FLAGS: u8 = 0x03;

/// Writes the commands of Miura MPI.
pub(super) struct MiuraSpeaker(pub(super) MiuraSettings);

impl Speaker for MiuraSpeaker {
    fn protocol(&self) -> &'static str {
        "Miura MPI"
    }

    fn can(&self, capability: Capability) -> bool {
        CAPABILITIES.contains(&capability)
    }

    fn startup(&self) -> &'static [StartUpStep] {
        STARTUP
    }

    fn encode(&self, ask: &ReaderQuestion<'_>, extended: bool) -> Result<Encoded, EncodeError> {
        match *ask {
            ReaderQuestion::StartUp(step) => step_command(step).encoded(extended),
            ReaderQuestion::Abort(_) => MpiCommand::Abort.encoded(extended),
            ReaderQuestion::CardStatus => CARD_STATUS_ON.encoded(extended),
            // The time is set with the date.
            ReaderQuestion::ClockSet(time) | ReaderQuestion::DateSet(time) => {
                MpiCommand::ClockSet(time).encoded(extended)
            }
            ReaderQuestion::ClockGet => MpiCommand::ClockGet.encoded(extended),
            ReaderQuestion::KeyStatus => MpiCommand::P2peStatus.encoded(extended),
            // A text outside ASCII is sent and marked as UTF-8.
            ReaderQuestion::Show(text) => {
                MpiCommand::DisplayText { light: true, utf8: !text.is_ascii(), text: text.as_bytes() }.encoded(extended)
            }
            ReaderQuestion::AnyCard { transaction, language, .. } => {
                let language = language.and_then(|language| language.code().as_bytes().try_into().ok());
                MpiCommand::StartContactless { transaction, language, timeout: None }.encoded(extended)
            }
            ReaderQuestion::Start(transaction) => MpiCommand::StartTransaction(transaction).encoded(extended),
            ReaderQuestion::Decide { decision, .. } => MpiCommand::Continue(match decision {
                Decision::Choose(choice) => ContinueData::Choose(choice),
                Decision::Proceed => ContinueData::Decision(DECIDED_YES),
                Decision::Refuse => ContinueData::Decision(DECIDED_NO),
            })
            .encoded(extended),
            ReaderQuestion::Host { answer: HostAnswer { arc, authentication, scripts }, .. } => {
                MpiCommand::Continue(ContinueData::Host { arc, authentication, scripts }).encoded(extended)
            }
            ReaderQuestion::OnlinePin { transaction, masked_track2 } => MpiCommand::OnlinePin {
                amount: transaction.amount,
                currency: transaction.currency,
                label: PIN_LABEL,
                masked_track2: masked_track2.unwrap_or_default(),
            }
            .encoded(extended),
            ReaderQuestion::Amount { currency, timeout } => MpiCommand::GetNumeric(GetNumericData {
                light: true,
                prompts: prompts_of(self.0.prompts.amount),
                format: [MAX_INTEGER_DIGITS, currency.exponent()],
                // There is no amount yet, but the customer must see the currency.
                money: Some(ShownAmount {
                    currency: currency.to_bcd(),
                    exponent: currency.exponent(),
                    amount: [0; 6],
                    line: AMOUNT_LINE,
                }),
                timeout: Some(seconds(timeout)),
            })
            .encoded(extended),
            ReaderQuestion::Tip { base, percentages, other, .. } => {
                self.tip(base, percentages, other).encoded(extended)
            }
            ReaderQuestion::TypedCard { part, amount, timeout } => {
                self.typed_card(part, amount, timeout).encoded(extended)
            }
            ReaderQuestion::ForgetTyped => MpiCommand::SecureData(GetSecureData::Clear).encoded(extended),
        }
    }

    /// Takes the first application. An E2 without an application is answered with "no".
    fn decide<'a>(&self, found: &CardElements<'a>) -> Decision<'a> {
        found.application.map_or(Decision::Refuse, Decision::Choose)
    }

    fn typed_parts(&self) -> Option<&'static [u32]> {
        Some(match self.0.manual_entry? {
            ManualEntry { command: ManualEntryCommand::D25A, .. } => D25A_PARTS,
            ManualEntry { verification_value: true, .. } => D2E0_PARTS_WITH_VERIFICATION_VALUE,
            ManualEntry { verification_value: false, .. } => D2E0_PARTS,
        })
    }

    fn keeps_typed(&self) -> bool {
        matches!(self.0.manual_entry, Some(ManualEntry { command: ManualEntryCommand::D2E0, .. }))
    }

    fn tip_entry(&self) -> TipEntry {
        self.0.tip_entry
    }

    fn kind_of(&self, tag: Tag) -> OwnTag {
        match tag {
            tags::SRED_DATA | tags::SRED_KSN | tags::PIN_BLOCK | tags::PIN_KSN => OwnTag::Sealed,
            tags::MASKED_TRACK1
            | tags::MASKED_TRACK2
            | tags::MASKED_TRACK1_ICC
            | tags::MASKED_TRACK2_ICC
            | tags::MASKED_PAN
            | tags::MASKED_TRACK2_MSD => OwnTag::Masked,
            _ => OwnTag::Other,
        }
    }
}

impl MiuraSpeaker {
    /// Fills the four choices of GET DYNAMIC TIP with the percentages, "other" if it is wanted and fits, and blanks.
    fn tip(&self, base: Amount, offered: &[u8], other: bool) -> MpiCommand<'static> {
        let mut percentages = [GetDynamicTip::BLANK; 4];
        let choices = offered.iter().copied().chain(other.then_some(GetDynamicTip::OTHER));
        percentages.iter_mut().zip(choices).for_each(|(place, choice)| *place = choice);
        MpiCommand::GetTip(GetDynamicTip {
            total: self.0.tip_entry == TipEntry::Total,
            percentages,
            template: self.0.prompts.tip_template,
            currency: base.currency().to_bcd(),
            exponent: base.currency().exponent(),
            amount: base.to_bcd(),
        })
    }

    fn typed_card(&self, part: usize, amount: Amount, timeout: Duration) -> MpiCommand<'static> {
        let prompts = self.0.prompts;
        let ask = |element, flags, prompts: [u16; 3]| {
            let money = ShownAmount {
                currency: amount.currency().to_bcd(),
                exponent: amount.currency().exponent(),
                amount: amount.to_bcd(),
                line: AMOUNT_LINE,
            };
            let (prompts, money, timeout) = (prompts_of(prompts), Some(money), Some(seconds(timeout)));
            MpiCommand::SecureData(GetSecureData::Ask { element, flags, prompts, money, timeout })
        };
        let parts = self.typed_parts().unwrap_or_default();
        if std::ptr::eq(parts, D25A_PARTS) {
            return MpiCommand::SecurePan { prompts: prompts_of(prompts.card_number) };
        }
        match part {
            0 => MpiCommand::SecureData(GetSecureData::Clear),
            1 => ask(GetSecureData::PAN, PAN_FLAGS, prompts.card_number),
            2 => ask(GetSecureData::EXPIRY, FLAGS, prompts.expiry),
            3 if parts.len() > D2E0_PARTS.len() => {
                ask(GetSecureData::VERIFICATION_VALUE, FLAGS, prompts.verification_value)
            }
            _ => MpiCommand::SecureData(GetSecureData::Encrypt),
        }
    }
}

fn step_command(step: StartUpStep) -> MpiCommand<'static> {
    match step {
        StartUpStep::Identity => MpiCommand::Reset(ResetKind::Soft),
        StartUpStep::Capabilities => MpiCommand::GetDeviceInfo,
        StartUpStep::Configuration => MpiCommand::GetConfiguration,
        StartUpStep::Keypad => MpiCommand::Keyboard { keys: 1, light: 1 },
        // The session asks the other steps by questions of their own.
        StartUpStep::Abort
        | StartUpStep::Keys
        | StartUpStep::Clock
        | StartUpStep::CardEvents
        | StartUpStep::Contactless
        | StartUpStep::Firmware
        | StartUpStep::PinKey
        | StartUpStep::Encryption => MpiCommand::Abort,
    }
}

impl MpiCommand<'_> {
    fn encoded(&self, extended: bool) -> Result<Encoded, EncodeError> {
        let packets = self.packets(extended).map_err(|error| match error {
            MessageError::Encode(error) => error,
            // No other error is possible for a command that this file has built, except a full buffer.
            _ => EncodeError::TooLong { bytes: 0 },
        })?;
        apdu_framing::encoded(self.name(), &packets)
    }
}

fn seconds(time: Duration) -> u16 {
    u16::try_from(time.as_secs()).unwrap_or(u16::MAX)
}
