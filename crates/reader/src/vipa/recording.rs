//! VIPA's elements in a recording (readers: 3.2 to 3.5).

use super::message::{has_clear_card_data, tags};
use crate::apdu::ATR;
use crate::apdu_recording::ApduRecording;
use crate::recording::{KnownElement, PartContent};
use PartContent::{Hidden, Kept, MaskedDigits, MaskedText, Sealed};
use pos_reader_link::apdu_link::Profile;
use pos_terms::emv::tag;

/// The line of a VIPA reader.
pub(crate) static RECORDING: ApduRecording =
    ApduRecording { profile: Profile::Vipa, own: OWN, is_clear: has_clear_card_data };

const OWN: &[KnownElement] = &[
    (tags::CARD_STATUS, "card status", Kept),
    (ATR, "answer to reset", Kept),
    (tags::DECISION, "decision", Kept),
    (tags::ACQUIRER, "acquirer", Kept),
    (tags::STATUS_CODE, "device status", Kept),
    (tags::STATUS_TEXT, "text", Kept),
    (tags::PIN_TRIES, "PIN tries left", Kept),
    (tags::COMMAND_DATA, "command data", Kept),
    (tags::DEVICE, "reader", Kept),
    (tags::PROGRAM, "program", Kept),
    (tags::SEALED, "sealed card data", Kept),
    (tags::TOKENS, "tokens", Kept),
    (tags::NAME, "name", Kept),
    (tags::VERSION, "version", Kept),
    (tags::TAMPER, "tamper state", Kept),
    (tags::REMOVAL_PROTECTION, "protection against removal", Kept),
    (tags::KEY, "key pressed", Kept),
    (tags::NUMERIC_DATA, "typed amount", Kept),
    (tags::PIN_RESULT, "result of the PIN entry", Kept),
    (tag::TRACK2_EQUIVALENT, "masked track 2", MaskedDigits),
    (tag::PAN, "masked card number", MaskedDigits),
    (tags::TYPED_PAN, "masked number of a typed card", MaskedText),
    (tags::TYPED_PAN_OLDER, "masked number of a typed card", MaskedText),
    (tags::TYPED_VERIFICATION_VALUE, "verification value", Hidden),
    // A track 1 has the cardholder's name.
    (tags::MASKED_TRACK1, "masked track 1", Hidden),
    (tags::MASKED_TRACK2, "masked track 2", MaskedText),
    (tags::SEALED_STATUS, "state of the encryption", Kept),
    (tags::SEALED_SLOT, "key slot", Kept),
    (tags::KEY_SLOT, "key slot", Kept),
    (tags::SRED_DATA, "sealed card", Sealed),
    (tags::SRED_KSN, "KSN of the sealed card", Kept),
    (tags::SRED_IV, "initial value", Kept),
    (tags::PIN_BLOCK, "sealed PIN", Sealed),
    (tags::PIN_KSN, "KSN of the PIN", Kept),
    (tags::PIN_KSN_OTHER, "KSN of the PIN", Kept),
];
