//! VIPA's own tags (readers: 3.2 to 3.5).

use pos_terms::emv::Tag;

macro_rules! tags {
    ($($(#[$doc:meta])* $name:ident = $value:literal;)*) => { $($(#[$doc])* pub const $name: Tag = Tag($value);)* };
}

tags! {
    /// Card status, two bytes.
    CARD_STATUS = 0x48;
    /// The decision about an E2, and whether a transaction is approved.
    DECISION = 0xC0;
    /// The acquirer's index.
    ACQUIRER = 0xC2;
    /// Device status code.
    STATUS_CODE = 0xC3;
    /// Device status text.
    STATUS_TEXT = 0xC4;
    /// The number of PIN tries left at the chip.
    PIN_TRIES = 0xC5;
    /// Command data.
    COMMAND_DATA = 0xE0;
    /// The reader itself, in the answer to RESET.
    DEVICE = 0xEE;
    /// One program of the reader.
    PROGRAM = 0xEF;
    /// Sealed card data, with their KSN and initial value.
    SEALED = 0xFF7F;
    /// Tokens of the card number.
    TOKENS = 0xFF7C;
    /// Model or name of a program.
    NAME = 0xDF0D;
    /// Version.
    VERSION = 0xDF7F;
    /// Tamper state of the reader.
    TAMPER = 0xDF8101;
    /// State of the protection against removal.
    REMOVAL_PROTECTION = 0xDF8102;
    /// Key pressed.
    KEY = 0xDFA205;
    /// Indices of prompts.
    PROMPTS = 0xDFA206;
    /// Number format: the numbers of integer and fraction digits.
    NUMBER_FORMAT = 0xDFA207;
    /// Numeric data.
    NUMERIC_DATA = 0xDFA208;
    /// The result of a PIN entry.
    PIN_RESULT = 0xDFA20A;
    /// Suppresses the reader's own display.
    SUPPRESS_DISPLAY = 0xDFA214;
    /// The style of the PIN entry.
    PIN_STYLE = 0xDFA218;
    /// The name of a screen for typing.
    SCREEN = 0xDFAA01;
    /// Masked number of a typed card.
    TYPED_PAN = 0xDFDB01;
    /// Verification value of a typed card.
    TYPED_VERIFICATION_VALUE = 0xDFDB02;
    /// Masked track 1, or number of a typed card in older versions.
    MASKED_TRACK1 = 0xDFDB05;
    /// Masked track 2.
    MASKED_TRACK2 = 0xDFDB06;
    /// Masked number of a typed card, in older versions.
    TYPED_PAN_OLDER = 0xDFDB04;
    /// The state of the encryption. Zeros mean success.
    SEALED_STATUS = 0xDFDB0F;
    /// The key's slot and the version of the encryption.
    SEALED_SLOT = 0xDFDB0E;
    /// Ciphertext of card data.
    SRED_DATA = 0xDFDF10;
    /// KSN of card data.
    SRED_KSN = 0xDFDF11;
    /// Initial value of the cipher.
    SRED_IV = 0xDFDF12;
    /// The amount that the PIN entry shows.
    PIN_AMOUNT = 0xDFDF17;
    /// The decimals of that amount.
    PIN_EXPONENT = 0xDFDF1C;
    /// The currency's letters that the PIN entry shows.
    PIN_CURRENCY = 0xDFDF24;
    /// PIN entry: whether this is a further try.
    PIN_TRY = 0xDFEC05;
    /// The slot of a key.
    KEY_SLOT = 0xDFEC46;
    /// KSN of the PIN.
    PIN_KSN = 0xDFED03;
    /// Minimum number of PIN digits.
    PIN_MIN = 0xDFED04;
    /// Maximum number of PIN digits.
    PIN_MAX = 0xDFED05;
    /// KSN of the PIN, in other versions.
    PIN_KSN_OTHER = 0xDFED0D;
    /// Sealed PIN block.
    PIN_BLOCK = 0xDFED6C;
}
