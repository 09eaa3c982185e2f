//! The status word (SW1 SW2) that ends every answer (readers: 2.11).

/// The two status bytes of an answer (readers: 2.11).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StatusWord(pub u16);

macro_rules! statuses {
    ($($name:ident = $value:literal, $words:literal;)*) => {
        impl StatusWord {
            $(#[doc = $words] pub const $name: Self = Self($value);)*

            /// Returns the human-readable meaning.
            #[must_use]
            pub fn words(self) -> &'static str {
                match self { $(Self::$name => $words,)* _ => "unknown status" }
            }
        }
    };
}

statuses! {
    OK = 0x9000, "done";
    WRONG_LENGTH = 0x6700, "wrong length";
    WRONG_PARAMETERS = 0x6A86, "wrong parameters";
    UNKNOWN_INSTRUCTION = 0x6D00, "unknown command";
    UNKNOWN_CLASS = 0x6E00, "unknown class of commands";
    INTERNAL = 0x9F0D, "internal error";
    INVALID_PARAMETER = 0x9F0F, "invalid parameter";
    INVALID_INPUT = 0x9F14, "invalid input";
    CONFIGURATION = 0x9F15, "wrong configuration file";
    INVALID_DATA = 0x9F21, "invalid data";
    NOT_READY = 0x9F22, "terminal not ready";
    NO_CARD = 0x9F23, "no card in the slot";
    BAD_CARD = 0x9F25, "bad card, swipe not allowed";
    NOT_ALLOWED = 0x9F26, "command not allowed now";
    DATA_MISSING = 0x9F27, "data missing";
    UNSUPPORTED_CARD = 0x9F28, "unsupported card, swipe allowed";
    FILE_MISSING = 0x9F2A, "file missing";
    CARD_READ_ERROR = 0x9F30, "card read error, swipe allowed";
    INVALID_ISSUER_KEY = 0x9F40, "invalid issuer key";
    CANCELLED = 0x9F41, "cancelled";
    CONTACTLESS_TIMEOUT = 0x9F42, "no card was tapped in time";
    CARD_INSERTED = 0x9F43, "a card was inserted";
    CARD_SWIPED = 0x9F44, "a card was swiped";
    ELEMENT_MISSING = 0x9F88, "mandatory element missing";
    INSERT_OR_SWIPE = 0x9FC1, "insert or swipe the card";
    OTHER_CARD = 0x9FC2, "insert or swipe the card, or present another one";
    INSERT = 0x9FC3, "insert the card";
    CONTACTLESS_HARDWARE = 0x9FCF, "contactless hardware error";
    NO_PIN_KEY = 0x9FE0, "no PIN key";
    NOT_ENCRYPTED = 0x9FE5, "no encryption key left";
}

impl std::fmt::Debug for StatusWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04X} {}", self.0, self.words())
    }
}
