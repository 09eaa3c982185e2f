//! The session's questions as commands of VIPA.

use super::message::{ContinueTerms, NO_CASHBACK, OnlinePinTerms, VipaCommand, tags};
use super::settings::VipaSettings;
use crate::apdu::MessageError;
use crate::apdu_framing;
use crate::capability::Capability;
use crate::card_answer::CardElements;
use crate::config::TipEntry;
use crate::family::{CommandPurpose, Decision, Encoded, OwnTag, ReaderQuestion, Speaker, StartUpStep, TransactionData};
use crate::typed_amount::{MAX_INTEGER_DIGITS, prompts_of};
use pos_reader_link::apdu_link::EncodeError;
use pos_terms::emv::Tag;
use pos_terms::money::Currency;

/// The capabilities of a VIPA reader.
pub const CAPABILITIES: &[Capability] = &[
    Capability::TypedCard,
    Capability::AmountEntry,
    Capability::Texts,
    Capability::ClockReading,
    Capability::ConfigurationFiles,
    Capability::SlotEvents,
    Capability::PinAfterCard,
    Capability::TellsTap,
    Capability::Connects,
];

/// The steps of the start-up.
const STARTUP: &[StartUpStep] = &[
    StartUpStep::Abort,
    StartUpStep::Identity,
    StartUpStep::Keys,
    StartUpStep::Clock,
    StartUpStep::Contactless,
    StartUpStep::CardEvents,
];

/// C0: continue with the transaction, or end it. UNCERTAIN: the vendor's documentation and its program name the values
/// the other way round (readers: 3.3, C0). A card that gets the wrong one declines, so no money moves.
const GO_ON: u8 = 0x01;
const END: u8 = 0x00;
/// P1 of MANUAL PAN: number and expiry date.
const NUMBER_AND_EXPIRY: u8 = 0x03;
/// The entries of a typed card: one command asks for number and expiry date.
const TYPED_PARTS: &[u32] = &[2];
/// DFED04 and DFED05: the digits of a PIN (ISO 9564-1).
const MIN_PIN: u8 = 4;
const MAX_PIN: u8 = 12;

/// Writes the commands of VIPA.
pub(super) struct VipaSpeaker(pub(super) VipaSettings);

impl Speaker for VipaSpeaker {
    fn protocol(&self) -> &'static str {
        "Verifone VIPA"
    }

    fn can(&self, capability: Capability) -> bool {
        CAPABILITIES.contains(&capability)
    }

    fn startup(&self) -> &'static [StartUpStep] {
        STARTUP
    }

    fn encode(&self, question: &ReaderQuestion<'_>, _extended: bool) -> Result<Encoded, EncodeError> {
        let country = self.0.country;
        match *question {
            ReaderQuestion::StartUp(step) => encoded(&step_command(step)),
            ReaderQuestion::Abort(Some(CommandPurpose::AnyCard | CommandPurpose::Host { contactless: true })) => {
                encoded(&VipaCommand::CancelContactless)
            }
            ReaderQuestion::Abort(_) => encoded(&VipaCommand::Abort),
            ReaderQuestion::CardStatus => encoded(&VipaCommand::CardStatus),
            // The time is set with the date.
            ReaderQuestion::ClockSet(time) | ReaderQuestion::DateSet(time) => encoded(&VipaCommand::ClockSet(time)),
            ReaderQuestion::ClockGet => encoded(&VipaCommand::ClockGet),
            ReaderQuestion::KeyStatus => {
                let (slot, host) = self.0.security;
                encoded(&VipaCommand::SecurityConfiguration { slot, host })
            }
            ReaderQuestion::Show(text) => encoded(&VipaCommand::Show { text: ascii(text).as_bytes() }),
            ReaderQuestion::AnyCard { transaction, .. } => {
                encoded(&VipaCommand::StartContactless { transaction, other: Some(NO_CASHBACK), country })
            }
            ReaderQuestion::Start(transaction) => encoded(&VipaCommand::Start { transaction, country }),
            ReaderQuestion::Decide { transaction, decision } => {
                let terms = self.terms(&transaction);
                encoded(&VipaCommand::Continue(match decision {
                    Decision::Choose(choice) => ContinueTerms { choice: Some(choice), ..ContinueTerms::default() },
                    Decision::Proceed => ContinueTerms { decision: Some(GO_ON), ..terms },
                    Decision::Refuse => ContinueTerms { decision: Some(END), ..terms },
                }))
            }
            ReaderQuestion::Host { transaction, answer, contactless } => {
                let decision = Some(if is_approved(answer.arc) { GO_ON } else { END });
                let terms = ContinueTerms { host: Some(answer), decision, ..self.terms(&transaction) };
                if contactless {
                    // A tap's command has no amount (readers: 3.4).
                    return encoded(&VipaCommand::ContinueContactless(ContinueTerms { money: None, ..terms }));
                }
                encoded(&VipaCommand::Continue(terms))
            }
            ReaderQuestion::OnlinePin { transaction, .. } => {
                let currency = Currency::from_bcd(transaction.currency);
                encoded(&VipaCommand::OnlinePin(OnlinePinTerms {
                    host: self.0.pin_host,
                    min: Some(MIN_PIN),
                    max: MAX_PIN,
                    amount: transaction.amount,
                    currency: currency.map_or("", Currency::code).as_bytes(),
                    exponent: currency.map_or(0, Currency::exponent),
                    pan: None,
                }))
            }
            ReaderQuestion::Amount { currency, .. } => encoded(&VipaCommand::Numeric {
                prompts: prompts_of(self.0.prompts.amount),
                format: [MAX_INTEGER_DIGITS, currency.exponent()],
            }),
            ReaderQuestion::TypedCard { .. } => {
                let screen = self.0.manual_entry.as_deref().unwrap_or_default().as_bytes();
                encoded(&VipaCommand::ManualPan { parts: NUMBER_AND_EXPIRY, screen })
            }
            // The session does not ask what the family cannot do.
            ReaderQuestion::Tip { .. } | ReaderQuestion::ForgetTyped => Err(EncodeError::TooShort { bytes: 0 }),
        }
    }

    /// Chooses the first of several applications, and continues with a card that has one. An E2 without an application
    /// is not continued.
    fn decide<'a>(&self, found: &CardElements<'a>) -> Decision<'a> {
        match found.application {
            Some(choice) if found.several_applications => Decision::Choose(choice),
            Some(_) => Decision::Proceed,
            None => Decision::Refuse,
        }
    }

    fn typed_parts(&self) -> Option<&'static [u32]> {
        self.0.manual_entry.as_ref().map(|_| TYPED_PARTS)
    }

    fn keeps_typed(&self) -> bool {
        false
    }

    fn tip_entry(&self) -> TipEntry {
        TipEntry::default()
    }

    fn kind_of(&self, tag: Tag) -> OwnTag {
        match tag {
            tags::SEALED
            | tags::SRED_DATA
            | tags::SRED_KSN
            | tags::SRED_IV
            | tags::PIN_BLOCK
            | tags::PIN_KSN
            | tags::PIN_KSN_OTHER
            | tags::TOKENS => OwnTag::Sealed,
            tags::MASKED_TRACK1 | tags::MASKED_TRACK2 => OwnTag::Masked,
            _ => OwnTag::Other,
        }
    }
}

impl VipaSpeaker {
    fn terms(&self, transaction: &TransactionData) -> ContinueTerms<'_> {
        ContinueTerms {
            money: Some((transaction.amount, transaction.currency, self.0.country)),
            acquirer: Some(self.0.acquirer.as_bytes()),
            ..ContinueTerms::default()
        }
    }
}

/// The response codes with which a card is told that the gateway has approved.
fn is_approved(arc: [u8; 2]) -> bool {
    matches!(&arc, b"00" | b"08" | b"10" | b"11")
}

fn step_command(step: StartUpStep) -> VipaCommand<'static> {
    match step {
        StartUpStep::Identity => VipaCommand::Reset,
        StartUpStep::Contactless => VipaCommand::ContactlessOpen,
        // The session asks the other steps by questions of their own.
        _ => VipaCommand::Abort,
    }
}

fn encoded(command: &VipaCommand<'_>) -> Result<Encoded, EncodeError> {
    let packets = command.packets().map_err(|error| match error {
        MessageError::Encode(error) => error,
        // No other error is possible for a command that this file has built, except a full buffer.
        _ => EncodeError::TooLong { bytes: 0 },
    })?;
    apdu_framing::encoded(command.name(), &packets)
}

/// Writes a text without letters outside ASCII and without control characters other than line feeds. UNCERTAIN: the
/// reader's code page is not published.
fn ascii(text: &str) -> String {
    let plain = |c: char| match c {
        'À' | 'Á' | 'Â' | 'Ä' | 'Ą' => 'A',
        'à' | 'á' | 'â' | 'ä' | 'ą' => 'a',
        'Ć' | 'Ç' => 'C',
        'ć' | 'ç' => 'c',
        'È' | 'É' | 'Ê' | 'Ë' | 'Ę' => 'E',
        'è' | 'é' | 'ê' | 'ë' | 'ę' => 'e',
        'Ì' | 'Í' | 'Î' | 'Ï' => 'I',
        'ì' | 'í' | 'î' | 'ï' => 'i',
        'Ł' => 'L',
        'ł' => 'l',
        'Ń' | 'Ñ' => 'N',
        'ń' | 'ñ' => 'n',
        'Ò' | 'Ó' | 'Ô' | 'Ö' => 'O',
        'ò' | 'ó' | 'ô' | 'ö' => 'o',
        'Ś' => 'S',
        'ś' | 'ß' => 's',
        'Ù' | 'Ú' | 'Û' | 'Ü' => 'U',
        'ù' | 'ú' | 'û' | 'ü' => 'u',
        'Ź' | 'Ż' => 'Z',
        'ź' | 'ż' => 'z',
        c if matches!(c, '\n' | ' '..='~') => c,
        _ => '?',
    };
    text.chars().map(plain).collect()
}
