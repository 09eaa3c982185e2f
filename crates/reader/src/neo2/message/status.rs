//! The status of a response, and the result code of a transaction (readers: 4.3).

/// The status byte of a response.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ResponseStatus(pub u8);

/// DFEE25: the result of a step of a transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ResultCode(pub u16);

macro_rules! codes {
    ($of:ident, $digits:literal, $unknown:literal, $($name:ident = $value:literal, $words:literal;)*) => {
        impl $of {
            $(#[doc = $words] pub const $name: Self = Self($value);)*

            /// Returns the human-readable meaning.
            #[must_use]
            pub fn words(self) -> &'static str {
                match self { $(Self::$name => $words,)* _ => $unknown }
            }
        }

        impl std::fmt::Debug for $of {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!("{:0", $digits, "X} {}"), self.0, self.words())
            }
        }
    };
}

codes! {
    ResponseStatus, "2", "unknown status",
    OK = 0x00, "done";
    WRONG_HEADER = 0x01, "wrong header";
    UNKNOWN_COMMAND = 0x02, "unknown command";
    UNKNOWN_SUB_COMMAND = 0x03, "unknown sub-command";
    WRONG_CRC = 0x04, "wrong check bytes";
    WRONG_PARAMETER = 0x05, "wrong parameter";
    UNSUPPORTED_PARAMETER = 0x06, "parameter not supported";
    MALFORMED = 0x07, "malformed data";
    TIMEOUT = 0x08, "no card or no answer in time";
    FAILED = 0x0A, "failed";
    COMMAND_NOT_ALLOWED = 0x0B, "command not allowed now";
    SUB_COMMAND_NOT_ALLOWED = 0x0C, "sub-command not allowed now";
    OVERFLOW = 0x0D, "data too long for the reader";
    UI_EVENT = 0x0E, "event for the display";
    // From the manual (NEO 2 Interface Developer's Guide 2019, 2.1.5).
    TAMPERED = 0x1D, "the reader was opened";
    ONLINE_REQUESTED = 0x23, "the card asks for the issuer";
    NO_DATA = 0x60, "no data";
    FULL = 0x61, "memory full";
    // From the manual (the same guide, 8.4.8).
    FLASH = 0x62, "memory error";
    FIRST_RESPONSE = 0x63, "the command runs, and its answer follows";
}

impl ResponseStatus {
    /// Returns whether a second response with the data follows, for a command 60-10 to 60-12 or 62-xx (readers: 4.1).
    /// UNCERTAIN: whether 62-xx says so with 63 or with 00 and no data. The manual calls it "ACK" (NEO 2 Interface
    /// Developer's Guide 2019, 8.24.1).
    #[must_use]
    pub fn is_first_of_two(self, data: &[u8]) -> bool {
        self == Self::FIRST_RESPONSE || (self == Self::OK && data.is_empty())
    }
}

codes! {
    ResultCode, "4", "unknown result",
    // UNCERTAIN: the names of the result codes. The manual's list is not complete (readers: 4.3).
    APPROVED = 0x0002, "approved by the card";
    DECLINED = 0x0003, "declined by the card";
    GO_ONLINE = 0x0004, "the card asks for the issuer";
    STARTED = 0x0010, "the transaction has started";
    // From a capture of a swipe (tests/golden).
    SWIPED = 0x0011, "a card was swiped";
}

impl ResultCode {
    /// Returns whether the code is an error. UNCERTAIN: that these are all codes from 3000 to 3FFF (readers: 4.3).
    #[must_use]
    pub fn is_error(self) -> bool {
        matches!(self.0, 0x3000..=0x3FFF)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_words_for_people() {
        for (status, shown) in [
            (ResponseStatus::OK, "00 done"),
            (ResponseStatus::TIMEOUT, "08 no card or no answer in time"),
            (ResponseStatus(0x99), "99 unknown status"),
        ] {
            assert_eq!(format!("{status:?}"), shown);
        }
        assert_eq!(format!("{:?}", ResultCode::GO_ONLINE), "0004 the card asks for the issuer");
        assert_eq!(format!("{:?}", ResultCode(0x3001)), "3001 unknown result");
        assert!(ResultCode(0x3001).is_error() && !ResultCode::DECLINED.is_error());
        assert!(ResponseStatus::FIRST_RESPONSE.is_first_of_two(&[]) && ResponseStatus::OK.is_first_of_two(&[]));
        assert!(!ResponseStatus::OK.is_first_of_two(&[0]) && !ResponseStatus::NO_DATA.is_first_of_two(&[]));
    }
}
