//! The elements of a reader's messages that a recording may keep. An element that is not known here may be card data,
//! so only its tag and its length are recorded.

use std::fmt;

use pos_terms::emv::{Tag, pan, tag};

/// Maximum number of digits in a row in a masked card number. Issuer numbers have up to eight.
const MASKED_RUN: usize = 8;
/// The number of digits of a track after its separator that are recorded: expiry date and service code.
const AFTER_SEPARATOR: usize = 7;
/// Minimum length of a value that a note shows as a text. A shorter one is a number more often.
const SHORTEST_TEXT: usize = 4;
/// Maximum number of bytes of a value in a note.
const NOTED: usize = 64;

/// The content of a part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartContent {
    /// Other parts, which follow.
    Inside,
    /// No card data. Recorded, unless it looks like a card number.
    Kept,
    /// A masked card number or track 2 in ASCII. Recorded if it is masked, without the digits after the service code.
    MaskedText,
    /// The same with two digits in each byte.
    MaskedDigits,
    /// Sealed card data or a sealed PIN. Recorded as zeros.
    Sealed,
    /// Anything else. Recorded as zeros.
    Hidden,
}

/// An element of the table of a family: tag, name and content.
pub(crate) type KnownElement = (Tag, &'static str, PartContent);

/// A part of a message.
#[derive(Clone, Copy)]
pub struct RecordedPart<'a> {
    /// The bytes before the value, such as tag and length. They are recorded.
    pub head: &'a [u8],
    /// The tag, if the part is an element.
    pub tag: Option<Tag>,
    /// The name.
    pub name: &'static str,
    /// The value.
    pub value: &'a [u8],
    /// The content of the value.
    pub content: PartContent,
}

impl<'a> RecordedPart<'a> {
    /// Creates a part that is no element.
    #[must_use]
    pub fn of(name: &'static str, value: &'a [u8], content: PartContent) -> Self {
        Self { head: &[], tag: None, name, value, content }
    }

    /// Returns whether the value has only zeros.
    pub(super) fn is_zeros(&self) -> bool {
        !self.value.is_empty() && self.value.iter().all(|byte| *byte == 0)
    }

    /// Returns the value as it is recorded, or `None` if it is recorded as zeros.
    #[must_use]
    pub fn recorded(&self) -> Option<Vec<u8>> {
        match self.content {
            PartContent::Kept => (!looks_like_pan(self.value)).then(|| self.value.to_vec()),
            // Such a value was clear, and its zeros come from a recording.
            PartContent::MaskedText if self.is_zeros() => None,
            PartContent::MaskedText => {
                let digit = |byte: u8| (byte & 0x7F).is_ascii_digit();
                masked_copy(self.value.iter().copied(), digit, b'=', b'0')
            }
            PartContent::MaskedDigits => {
                let nibbles = self.value.iter().flat_map(|byte| [byte >> 4, byte & 0x0F]);
                let nibbles = masked_copy(nibbles, |nibble| nibble < 10, 0x0D, 0)?;
                Some(nibbles.as_chunks::<2>().0.iter().map(|[high, low]| high << 4 | low).collect())
            }
            PartContent::Inside | PartContent::Sealed | PartContent::Hidden => None,
        }
    }
}

/// Returns a masked card number or track 2 without the digits after the service code, which include the security code
/// of the stripe. Returns `None` if it is not masked.
fn masked_copy(
    characters: impl Iterator<Item = u8>,
    is_digit: impl Fn(u8) -> bool,
    separator: u8,
    zero: u8,
) -> Option<Vec<u8>> {
    let (mut run, mut after) = (0, None);
    let mut copy = Vec::new();
    for character in characters {
        let is_digit = is_digit(character);
        match &mut after {
            Some(after) if is_digit => {
                *after += 1;
                copy.push(if *after > AFTER_SEPARATOR { zero } else { character });
                continue;
            }
            Some(_) => {}
            None if character == separator => after = Some(0),
            None => run = if is_digit { run + 1 } else { 0 },
        }
        if run > MASKED_RUN {
            return None;
        }
        copy.push(character);
    }
    Some(copy)
}

/// Shows the part without card data.
impl fmt::Display for RecordedPart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tag) = self.tag {
            write!(f, "{tag} ")?;
        }
        f.write_str(self.name)?;
        let length = self.value.len();
        match (self.content, self.recorded()) {
            (PartContent::Inside, _) => Ok(()),
            (PartContent::Sealed, _) => write!(f, ": {length} sealed bytes"),
            (_, None) => write!(f, ": {length} bytes, not recorded"),
            (_, Some(recorded)) => {
                f.write_str(": ")?;
                let shown = &recorded[..length.min(NOTED)];
                if shown.len() >= SHORTEST_TEXT && shown.iter().all(|byte| matches!(byte, b' '..=b'~')) {
                    write!(f, "\"{}\"", String::from_utf8_lossy(shown))?;
                } else {
                    f.write_str(&hex::encode_upper(shown))?;
                }
                if length > NOTED { f.write_str("…") } else { Ok(()) }
            }
        }
    }
}

/// Returns whether a value that should have no card data has a card number, in ASCII or as digits.
fn looks_like_pan(value: &[u8]) -> bool {
    let text: String = value.iter().map(|byte| char::from(byte & 0x7F)).collect();
    let is_text = value.iter().all(|byte| matches!(byte & 0x7F, b' '..=b'~'));
    pan::is_in(&text) || (!is_text && pan::is_in(&hex::encode_upper(value)))
}

/// Returns the name and the content of an element. `own` is the table of the family.
pub(crate) fn known(tag: Tag, own: &[KnownElement]) -> (&'static str, PartContent) {
    let found = own.iter().chain(EMV).find(|(known, ..)| *known == tag);
    found.map_or(("unknown", PartContent::Hidden), |(_, name, content)| (*name, *content))
}

use PartContent::{Hidden, Inside, Kept};

/// The elements with the same meaning in every family (EMV Book 3, Annex A).
const EMV: &[KnownElement] = &[
    (tag::AID_CARD, "application identifier", Kept),
    (tag::APPLICATION_LABEL, "application label", Kept),
    (tag::TRACK1_EQUIVALENT, "track 1", Hidden),
    (tag::TRACK2_EQUIVALENT, "track 2", Hidden),
    (tag::PAN, "card number", Hidden),
    (tag::CARDHOLDER_NAME, "cardholder name", Hidden),
    (tag::EXPIRY_DATE, "expiry date", Hidden),
    (Tag(0x5F25), "effective date", Kept),
    (Tag(0x5F28), "issuer country", Kept),
    (tag::CURRENCY_CODE, "currency", Kept),
    (tag::LANGUAGE_PREFERENCE, "language preference", Kept),
    (Tag(0x5F30), "service code", Kept),
    (tag::PAN_SEQUENCE_NUMBER, "card sequence number", Kept),
    (tag::CURRENCY_EXPONENT, "currency exponent", Kept),
    (tag::RESPONSE_TEMPLATE_2, "card response", Inside),
    (tag::AIP, "application interchange profile", Kept),
    (tag::DF_NAME, "dedicated file name", Kept),
    (Tag(0x87), "application priority", Kept),
    (tag::AUTHORISATION_RESPONSE_CODE, "authorisation response code", Kept),
    (Tag(0x8E), "list of verification methods", Kept),
    (Tag(0x8F), "CA key index", Kept),
    (Tag(0x94), "application file locator", Kept),
    (tag::TVR, "terminal verification results", Kept),
    (tag::TRANSACTION_PIN_DATA, "PIN data", Hidden),
    (tag::TRANSACTION_DATE, "transaction date", Kept),
    (tag::TSI, "transaction status information", Kept),
    (tag::TRANSACTION_TYPE, "transaction type", Kept),
    (tag::AMOUNT_AUTHORISED, "amount", Kept),
    (tag::AMOUNT_OTHER, "other amount", Kept),
    (tag::AID_TERMINAL, "application identifier of the terminal", Kept),
    (Tag(0x9F07), "application usage control", Kept),
    (Tag(0x9F08), "application version of the card", Kept),
    (tag::APPLICATION_VERSION, "application version of the terminal", Kept),
    (Tag(0x9F0D), "issuer action code, default", Kept),
    (Tag(0x9F0E), "issuer action code, denial", Kept),
    (Tag(0x9F0F), "issuer action code, online", Kept),
    (tag::ISSUER_APPLICATION_DATA, "issuer application data", Kept),
    (tag::ISSUER_CODE_TABLE_INDEX, "issuer code table", Kept),
    (tag::APPLICATION_PREFERRED_NAME, "application preferred name", Kept),
    (Tag(0x9F15), "merchant category", Kept),
    (Tag(0x9F16), "merchant identifier", Kept),
    (tag::TERMINAL_COUNTRY_CODE, "terminal country", Kept),
    (Tag(0x9F1B), "floor limit", Kept),
    (Tag(0x9F1C), "terminal identifier", Kept),
    (tag::IFD_SERIAL_NUMBER, "serial number of the reader", Kept),
    (tag::TRACK1_DISCRETIONARY, "track 1 discretionary data", Hidden),
    (tag::TRACK2_DISCRETIONARY, "track 2 discretionary data", Hidden),
    (tag::TRANSACTION_TIME, "transaction time", Kept),
    (tag::APPLICATION_CRYPTOGRAM, "application cryptogram", Kept),
    (tag::CRYPTOGRAM_INFORMATION, "cryptogram information", Kept),
    (tag::TERMINAL_CAPABILITIES, "terminal capabilities", Kept),
    (tag::CVM_RESULTS, "cardholder verification results", Kept),
    (tag::TERMINAL_TYPE, "terminal type", Kept),
    (tag::ATC, "application transaction counter", Kept),
    (tag::UNPREDICTABLE_NUMBER, "unpredictable number", Kept),
    (tag::POS_ENTRY_MODE, "entry mode", Kept),
    (Tag(0x9F40), "additional terminal capabilities", Kept),
    (tag::TRANSACTION_SEQUENCE_COUNTER, "transaction sequence counter", Kept),
    (Tag(0x9F42), "application currency", Kept),
    (Tag(0x9F53), "transaction category", Kept),
    (Tag(0x9F66), "terminal transaction qualifiers", Kept),
    (tag::TRACK2_CONTACTLESS_MSD, "track 2 of magstripe mode", Hidden),
    (Tag(0x9F6C), "card transaction qualifiers", Kept),
    (Tag(0x9F6E), "form factor", Kept),
    (tag::TRACK1_CLEAR, "clear track 1", Hidden),
    (tag::TRACK2_CLEAR, "clear track 2", Hidden),
    (tag::TRACK3_CLEAR, "clear track 3", Hidden),
    (Tag(0xE2), "the card asks for a decision", Inside),
    (Tag(0xE3), "the card approves", Inside),
    (Tag(0xE4), "the card goes online", Inside),
    (Tag(0xE5), "the card declines", Inside),
];

#[cfg(test)]
mod tests {
    use super::*;
    use PartContent::{MaskedDigits, MaskedText};

    fn recorded(hex: &str, content: PartContent) -> Option<String> {
        let value = hex::decode(hex.replace(' ', "")).unwrap();
        RecordedPart::of("", &value, content).recorded().map(hex::encode_upper)
    }

    #[test]
    fn a_masked_copy_is_recorded_without_the_security_code_of_the_stripe() {
        for (value, content, kept) in [
            ("374245AAAAA1006D2412201AAAAAAAAAAAAAAA", MaskedDigits, Some("374245AAAAA1006D2412201AAAAAAAAAAAAAAA")),
            ("476173FFFFFFFFF2234D151220114524040F", MaskedDigits, Some("476173FFFFFFFFF2234D151220100000000F")),
            ("476173FFFFFF0119", MaskedDigits, Some("476173FFFFFF0119")),
            ("374245001751006D2412201AAAAAAAAAAAAAAA", MaskedDigits, None),
            ("374245001751006F", MaskedDigits, None),
            ("3431 2A2A 3D 32353034323031 313233 3F", MaskedText, Some("34312A2A3D323530343230313030303F")),
            ("3B 343130303339 AAAAAAAAAAAA 39393736 3D", MaskedText, Some("3B343130303339AAAAAAAAAAAA393937363D")),
            ("3B 343130303339 303030303030 39393736 3D", MaskedText, None),
        ] {
            let expected = kept.map(|kept| kept.replace(' ', ""));
            assert_eq!(recorded(value, content), expected, "{value}");
        }
    }

    #[test]
    fn a_card_number_is_recorded_nowhere() {
        for (value, is_kept) in [
            ("000000001234", true),
            ("FFFF9876543210E00001", true),
            (&hex::encode("VISA CREDIT"), true),
            (&hex::encode("CARD 4761739001010119 REFUSED"), false),
            ("4761739001010119", false),
            ("374245001751006F", false),
        ] {
            assert_eq!(recorded(value, PartContent::Kept).is_some(), is_kept, "{value}");
        }
    }
}
