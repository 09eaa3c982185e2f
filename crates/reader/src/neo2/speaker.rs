//! The session's questions as commands of NEO2.

use std::time::Duration;

use super::message::{
    Activation, ContactStart, Fallback, HostResponse, Interfaces, KeySlot, ManualFlags, Neo2Command, TransactionTerms,
    icc_data,
};
use super::settings::Neo2Settings;
use crate::capability::Capability;
use crate::card_answer::CardElements;
use crate::config::TipEntry;
use crate::family::{
    CommandFrames, CommandPurpose, Decision, Encoded, OwnTag, ReaderQuestion, Speaker, StartUpStep, TransactionData,
};
use crate::outbox::Frame;
use pos_reader_link::apdu_link::EncodeError;
use pos_terms::card::{MAX_SEALED, Wiped};
use pos_terms::emv::{Tag, TlvError};

/// The capabilities of a NEO2 reader.
pub const CAPABILITIES: &[Capability] = &[
    Capability::TypedCard,
    Capability::TypedVerificationValue,
    Capability::DateApart,
    Capability::ConfigurationFiles,
    Capability::EndsWait,
    Capability::PinAfterCard,
];

/// The steps of the start-up. With the poll mode "on demand", the reader waits for a card only when it is asked.
const STARTUP: &[StartUpStep] = &[
    StartUpStep::Abort,
    StartUpStep::Identity,
    StartUpStep::Firmware,
    StartUpStep::Keys,
    StartUpStep::PinKey,
    StartUpStep::Encryption,
    StartUpStep::Contactless,
    StartUpStep::Configuration,
    StartUpStep::Clock,
];

/// The entries of a typed card: one command asks for everything.
const TYPED_PARTS: &[u32] = &[2];
const TYPED_PARTS_WITH_VERIFICATION_VALUE: &[u32] = &[3];
/// The digits of a PIN (ISO 9564-1), and the text that the reader shows with it.
const MIN_PIN: u8 = 4;
const MAX_PIN: u8 = 12;
const PIN_TEXT: &[u8] = b"ENTER PIN";
/// The seconds that the reader waits for the next command of a chip's dialogue. The gateway answers within a minute,
/// and the agent always answers the card.
const NEXT_COMMAND_S: u16 = 300;
/// The seconds that 60-10 waits for the card, which is in the slot.
const CARD_S: u16 = 5;
/// The seconds of a typed card: the reader's longest time.
const LONGEST_S: u16 = 300;

/// Writes the commands of NEO2.
pub(super) struct Neo2Speaker(pub(super) Neo2Settings);

impl Speaker for Neo2Speaker {
    fn protocol(&self) -> &'static str {
        "ID TECH NEO2"
    }

    fn can(&self, capability: Capability) -> bool {
        CAPABILITIES.contains(&capability)
    }

    fn startup(&self) -> &'static [StartUpStep] {
        STARTUP
    }

    fn encode(&self, question: &ReaderQuestion<'_>, _extended: bool) -> Result<Encoded, EncodeError> {
        encoded(&match *question {
            ReaderQuestion::StartUp(step) => step_command(step),
            ReaderQuestion::Abort(Some(CommandPurpose::OnlinePin)) => Neo2Command::CancelKeypad,
            ReaderQuestion::Abort(_) => Neo2Command::Cancel,
            ReaderQuestion::CardStatus => Neo2Command::Ping,
            ReaderQuestion::ClockSet(time) => Neo2Command::SetTime(time),
            ReaderQuestion::DateSet(time) => Neo2Command::SetDate(time),
            ReaderQuestion::ClockGet => Neo2Command::GetTime,
            ReaderQuestion::KeyStatus => Neo2Command::Ksn(KeySlot { key: KeySlot::DATA, slot: 0 }),
            ReaderQuestion::AnyCard { transaction, contactless, wait, .. } => {
                let (stripe, slot) = (Interfaces::STRIPE, Interfaces::CONTACT);
                Neo2Command::Activate(Activation {
                    timeout_s: u8::try_from(seconds(wait).max(1)).unwrap_or(u8::MAX),
                    terms: terms(&transaction),
                    interfaces: Some(if contactless { Interfaces::ALL } else { stripe.and(slot) }),
                    fallback: Some(Fallback { is_allowed: true, next_command_s: NEXT_COMMAND_S }),
                })
            }
            ReaderQuestion::Start(transaction) => Neo2Command::StartContact(ContactStart {
                fallback: true,
                card_s: CARD_S,
                next_command_s: NEXT_COMMAND_S,
                terms: terms(&transaction),
            }),
            // A card that does not go on is left without its answer, which ends the dialogue.
            ReaderQuestion::Decide { decision: Decision::Refuse, .. } => Neo2Command::Cancel,
            ReaderQuestion::Decide { .. } => Neo2Command::Authenticate { next_command_s: None },
            ReaderQuestion::Host { answer, .. } => Neo2Command::ApplyHostResponse(HostResponse {
                arc: answer.arc,
                authentication: answer.authentication,
                scripts: answer.scripts,
            }),
            ReaderQuestion::OnlinePin { .. } => {
                Neo2Command::EncryptedPin { most: MAX_PIN, least: MIN_PIN, message: PIN_TEXT }
            }
            ReaderQuestion::TypedCard { timeout, .. } => Neo2Command::ManualPan {
                timeout_s: u16::try_from(seconds(timeout)).unwrap_or(LONGEST_S).clamp(1, LONGEST_S),
                flags: match self.0.verification_value {
                    true => ManualFlags::WITH_VERIFICATION_VALUE,
                    false => ManualFlags::PAN_AND_EXPIRY,
                },
            },
            // The session does not ask what the family cannot do.
            ReaderQuestion::Show(_)
            | ReaderQuestion::Amount { .. }
            | ReaderQuestion::Tip { .. }
            | ReaderQuestion::ForgetTyped => return Err(EncodeError::TooShort { bytes: 0 }),
        })
    }

    /// Continues with each chip. The reader selects the application.
    fn decide<'a>(&self, _found: &CardElements<'a>) -> Decision<'a> {
        Decision::Proceed
    }

    fn typed_parts(&self) -> Option<&'static [u32]> {
        match self.0 {
            Neo2Settings { manual_entry: false, .. } => None,
            Neo2Settings { verification_value: true, .. } => Some(TYPED_PARTS_WITH_VERIFICATION_VALUE),
            Neo2Settings { verification_value: false, .. } => Some(TYPED_PARTS),
        }
    }

    fn keeps_typed(&self) -> bool {
        false
    }

    fn tip_entry(&self) -> TipEntry {
        TipEntry::default()
    }

    fn kind_of(&self, _tag: Tag) -> OwnTag {
        OwnTag::Other
    }

    fn for_host(&self, elements: &[u8], _masked_too: bool, private: &[Tag]) -> Result<Wiped<MAX_SEALED>, TlvError> {
        icc_data(elements, private)
    }
}

/// The data of a transaction. Date and time are the reader's own ([`TransactionTerms::at`]).
fn terms(transaction: &TransactionData) -> TransactionTerms {
    TransactionTerms {
        transaction_type: transaction.transaction_type,
        amount: transaction.amount,
        other_amount: Some([0; 6]),
        currency: Some(transaction.currency),
        at: None,
    }
}

fn step_command(step: StartUpStep) -> Neo2Command<'static> {
    match step {
        StartUpStep::Identity => Neo2Command::SerialNumber,
        StartUpStep::Firmware => Neo2Command::FirmwareVersion,
        StartUpStep::Configuration => Neo2Command::KernelVersion,
        StartUpStep::PinKey => Neo2Command::Ksn(KeySlot { key: KeySlot::PIN, slot: 0 }),
        StartUpStep::Encryption => Neo2Command::EncryptionSwitch,
        StartUpStep::Contactless => Neo2Command::PollMode { on_demand: true },
        // The session asks the other steps by questions of their own.
        _ => Neo2Command::Cancel,
    }
}

/// Returns a command in pieces of one write each. They are written one after another without a pause.
pub(super) fn encoded(command: &Neo2Command<'_>) -> Result<Encoded, EncodeError> {
    let frame = command.encode().map_err(|_| EncodeError::TooLong { bytes: super::message::MAX_COMMAND_DATA })?;
    let too_long = EncodeError::TooLong { bytes: frame.len() };
    let mut frames = CommandFrames::new();
    for piece in frame.chunks(Frame::new().capacity()) {
        let piece = Frame::from_slice(piece).map_err(|_| too_long)?;
        frames.push(piece).map_err(|_| too_long)?;
    }
    Ok(Encoded { name: command.name(), frames })
}

fn seconds(time: Duration) -> u64 {
    time.as_secs()
}
