//! Miura's elements in a recording (readers: 2.4).

use super::message::{has_clear_card_data, tags};
use crate::apdu_recording::ApduRecording;
use crate::recording::{KnownElement, PartContent};
use PartContent::{Hidden, Kept, MaskedDigits, MaskedText, Sealed};
use pos_reader_link::apdu_link::Profile;

/// The line of a Miura reader.
pub(crate) static RECORDING: ApduRecording =
    ApduRecording { profile: Profile::Miura, own: OWN, is_clear: has_clear_card_data };

const OWN: &[KnownElement] = &[
    (tags::CARD_STATUS, "card status", Kept),
    (tags::ATR, "answer to reset", Kept),
    (tags::DECISION, "decision", Kept),
    (tags::STATUS_CODE, "device status", Kept),
    (tags::STATUS_TEXT, "text", Kept),
    (tags::PIN_TRIES, "PIN tries left", Kept),
    (tags::COMMAND_DATA, "command data", Kept),
    (tags::ANSWER_DATA, "answer data", Kept),
    (tags::STATUS_TEMPLATE, "device status message", Kept),
    (tags::CONFIGURATION, "configuration file", Kept),
    (tags::SOFTWARE, "software", Kept),
    (tags::NAME, "name", Kept),
    (tags::VERSION, "version", Kept),
    (tags::CVM_STATUS, "verification status", Kept),
    (tags::KERNEL_MODE, "contactless kernel and mode", Kept),
    (tags::PIN_DIGITS_1, "number of PIN digits", Kept),
    (tags::PIN_STATUS_1, "PIN entry status", Kept),
    (tags::PIN_DIGITS_2, "number of PIN digits", Kept),
    (tags::PIN_STATUS_2, "PIN entry status", Kept),
    (tags::KEY, "key pressed", Kept),
    (tags::NUMERIC_DATA, "typed amount", Kept),
    (tags::PRINTER_STATUS, "printer status", Kept),
    (tags::P2PE_STATUS, "keys", Kept),
    (tags::SRED_DATA, "sealed card", Sealed),
    (tags::SRED_KSN, "KSN of the sealed card", Kept),
    (tags::PIN_BLOCK, "sealed PIN", Sealed),
    (tags::PIN_KSN, "KSN of the PIN", Kept),
    // A track 1 has the cardholder's name.
    (tags::MASKED_TRACK1, "masked track 1", Hidden),
    (tags::MASKED_TRACK1_ICC, "masked track 1 of the chip", Hidden),
    (tags::MASKED_TRACK2, "masked track 2", MaskedText),
    (tags::MASKED_TRACK2_ICC, "masked track 2 of the chip", MaskedDigits),
    (tags::MASKED_TRACK2_MSD, "masked track 2 of magstripe mode", MaskedDigits),
    (tags::MASKED_PAN, "masked card number", MaskedDigits),
];
