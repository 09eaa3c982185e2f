//! VIPA's status words (readers: 3.6). Some codes of Miura have another meaning here.

use crate::family::{CommandFailure, FailureKind};

/// The two status bytes of an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct VipaStatus(pub u16);

macro_rules! statuses {
    ($($name:ident = $value:literal, $kind:ident, $words:literal;)*) => {
        impl VipaStatus {
            $(#[doc = $words] pub const $name: Self = Self($value);)*

            /// Returns the human-readable meaning.
            #[must_use]
            pub fn words(self) -> &'static str {
                match self { $(Self::$name => $words,)* _ => "unknown status" }
            }

            /// Returns the meaning for the session.
            fn kind(self) -> FailureKind {
                match self { $(Self::$name => FailureKind::$kind,)* _ => FailureKind::Other }
            }
        }
    };
}

statuses! {
    OK = 0x9000, Damaged, "done";
    PIN_BYPASSED = 0x9015, Other, "PIN bypassed";
    WRONG_LENGTH = 0x6700, Other, "wrong length";
    UNKNOWN_INSTRUCTION = 0x6D00, UnknownCommand, "unknown command";
    UNKNOWN_CLASS = 0x6E00, UnknownCommand, "unknown class of commands";
    WRONG_LRC = 0x9F01, Damaged, "the reader received a damaged packet";
    WRONG_ADDRESS = 0x9F02, Damaged, "the reader received a packet for another device";
    INTERNAL = 0x9F0D, Other, "internal error";
    INTERNAL_2 = 0x9F0E, Other, "internal error";
    INSTRUCTION = 0x9F0F, UnknownCommand, "unknown command";
    PARAMETER = 0x9F10, Other, "invalid parameter";
    NOT_SUPPORTED = 0x9F11, UnknownCommand, "command not supported";
    SELECTION = 0x9F12, Other, "wrong method of application selection";
    FILE = 0x9F13, Other, "file error";
    FORMAT = 0x9F14, InvalidInput, "invalid format";
    NO_KEYS = 0x9F19, NoKey, "no encryption keys";
    INVALID_DATA = 0x9F21, Other, "invalid data";
    NOT_READY = 0x9F22, StateLost, "terminal not ready";
    NO_CARD = 0x9F23, NoCard, "no card in the slot";
    INVALID_ORDER = 0x9F24, StateLost, "command not allowed now";
    BAD_CARD = 0x9F25, InsertAgain, "bad card";
    LOGIC = 0x9F26, StateLost, "error in the order of commands";
    DATA_MISSING = 0x9F27, Other, "data missing";
    UNSUPPORTED_CARD = 0x9F28, SwipeInstead, "unsupported card, swipe allowed";
    CANDIDATES = 0x9F29, Other, "the list of applications is missing";
    CONFIGURATION = 0x9F2A, Other, "a configuration file is missing";
    ACTION_CODES = 0x9F2B, Other, "terminal action codes are missing";
    SELECT_FAILED = 0x9F2C, Other, "no application could be selected";
    INVALID_CARD = 0x9F2D, Other, "invalid card";
    NO_PARAMETERS = 0x9F2E, Other, "parameters are missing";
    DATA_LIST = 0x9F2F, Other, "a list of elements is missing";
    COLLISION = 0x9F31, TapAgain, "more than one card was tapped";
    ZERO_AMOUNT = 0x9F32, Other, "an amount of zero is not possible with a tap";
    OTHER_INTERFACE = 0x9F33, OtherInterface, "insert or swipe the card";
    CHIP_ONLY = 0x9F34, OtherInterface, "insert the card";
    CONFIRM_ON_PHONE = 0x9F35, TapAgain, "confirm on the phone and tap again";
    CARD_LEFT = 0x9F36, TapAgain, "the card was not removed from the field";
    TAP_AGAIN = 0x9F37, TapAgain, "tap the card again";
    KEY_HASH = 0x9F40, Other, "wrong hash of a key";
    CANCELLED = 0x9F41, Cancelled, "cancelled";
    CASHBACK = 0x9F42, Other, "cashback not allowed";
    CANCELLED_BY_CUSTOMER = 0x9F43, Cancelled, "cancelled by the customer";
    BATTERY = 0x9F44, Other, "the battery is empty";
    BACKSPACE = 0x9F45, Cancelled, "left with the correction key";
    SECURITY = 0x9F50, Other, "refused for security";
    CLEAR_REFUSED = 0x9F51, Other, "clear data refused for security";
    ENCRYPTION = 0x9F53, Other, "the data could not be encrypted";
    ENCRYPTION_2 = 0x9F54, Other, "the data could not be encrypted";
    ENCRYPTION_3 = 0x9F55, Other, "the data could not be encrypted";
    WRONG_PIN = 0x9F60, Other, "wrong PIN";
    BUSY = 0x9FFF, StateLost, "the reader is busy";
}

impl VipaStatus {
    /// Returns the status as the reason why a command has no result.
    pub(in crate::vipa) fn failure(self) -> CommandFailure {
        // 9F03 to 9F0C: the reader received a wrong block, length or type of APDU.
        let is_of_link = matches!(self.0, 0x9F03..=0x9F0C);
        let kind = if is_of_link { FailureKind::Damaged } else { self.kind() };
        CommandFailure { kind, code: self.0, words: self.words() }
    }
}

impl std::fmt::Debug for VipaStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04X} {}", self.0, self.words())
    }
}
