//! APDUs: class, instruction, length and data. The connection may split an APDU anywhere (ZVT PA00P015, 2.1).
//!
//! This module does not interpret APDUs. [`command`](super::command) interprets the messages of a till, and
//! [`answer`](super::answer) those of a terminal.

use std::fmt;

/// Maximum length of the data, in bytes. The extended length field has two bytes.
pub const LONGEST: usize = 65_535;
/// Size in bytes of the length prefix that some tills send before each APDU, high byte first.
const LENGTH_BEFORE: u8 = 2;
/// The byte that announces an extended length field.
const EXTENDED: u8 = 0xFF;

/// Class and instruction of an APDU. In an answer, these are its CCRC and APRC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Control(pub u8, pub u8);

macro_rules! controls {
    ($($name:ident = $class:literal $instruction:literal, $words:literal;)*) => {
        impl Control {
            $(#[doc = concat!($words, ".")] pub const $name: Self = Self($class, $instruction);)*

            /// Returns the human-readable name, or `None` for an unknown command.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match (self.0, self.1) {
                    $(($class, $instruction) => Some($words),)*
                    (0x84, 0x00) => Some("positive answer"),
                    (0x84, _) => Some("negative answer"),
                    _ => None,
                }
            }
        }
    };
}

controls! {
    TIME_FOR_TILL = 0x04 0x01, "date and time for the till";
    STATUS = 0x04 0x0F, "status information";
    INTERMEDIATE = 0x04 0xFF, "intermediate status";
    STATUS_ENQUIRY = 0x05 0x01, "status enquiry";
    REGISTRATION = 0x06 0x00, "registration";
    AUTHORISATION = 0x06 0x01, "authorisation";
    LOG_OFF = 0x06 0x02, "log-off";
    BOOK_TIP = 0x06 0x0C, "book tip";
    COMPLETION = 0x06 0x0F, "completion";
    TOTALS = 0x06 0x10, "turnover totals";
    REPRINT = 0x06 0x12, "reprint a range of receipts";
    RESET = 0x06 0x18, "reset";
    PRINT_CONFIGURATION = 0x06 0x1A, "print system configuration";
    ABORT = 0x06 0x1E, "aborted";
    REPEAT_RECEIPT = 0x06 0x20, "repeat receipt";
    TELEPHONE = 0x06 0x21, "telephone authorisation";
    PRE_AUTHORISATION = 0x06 0x22, "pre-authorisation";
    PARTIAL_REVERSAL = 0x06 0x23, "partial reversal of a pre-authorisation";
    BOOK_TOTAL = 0x06 0x24, "book total";
    PRE_AUTHORISATION_REVERSAL = 0x06 0x25, "reversal of a pre-authorisation";
    REVERSAL = 0x06 0x30, "reversal";
    REFUND = 0x06 0x31, "refund";
    END_OF_DAY = 0x06 0x50, "end of day";
    DIAGNOSIS = 0x06 0x70, "diagnosis";
    SELF_TEST = 0x06 0x79, "self-test";
    DISPLAY_TEXT_OLD = 0x06 0x85, "display text, from old tills";
    SET_TIME = 0x06 0x91, "set date and time";
    INITIALISATION = 0x06 0x93, "initialisation";
    TILL_ABORT = 0x06 0xB0, "abort";
    READ_CARD = 0x06 0xC0, "read card";
    PRINT_LINE = 0x06 0xD1, "print line";
    PRINT_BLOCK = 0x06 0xD3, "print text block";
    DISPLAY_TEXT = 0x06 0xE0, "display text";
    DISPLAY_KEY = 0x06 0xE1, "display text and read a key";
    DISPLAY_NUMBER = 0x06 0xE2, "display text and read a number";
    LANGUAGE = 0x08 0x30, "select language";
    READER = 0x08 0x50, "select reader";
    OK = 0x80 0x00, "positive answer";
}

impl Control {
    /// Returns whether this is the answer to an APDU rather than a command.
    #[must_use]
    pub const fn is_answer(self) -> bool {
        matches!(self.0, 0x80 | 0x84)
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02X} {:02X}", self.0, self.1)
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// One APDU. Its data may be secret, so `Debug` shows only their length.
#[derive(Clone, PartialEq, Eq)]
pub struct Apdu {
    /// Class and instruction.
    pub control: Control,
    /// The data, at most [`LONGEST`] bytes.
    pub data: Vec<u8>,
}

impl fmt::Debug for Apdu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {} bytes", self.control, self.data.len())
    }
}

/// The reason why bytes are not an APDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApduError {
    /// The announced length differs from the number of bytes.
    #[error("{control} announces {announced} bytes of data, but has {there}")]
    Length {
        /// Class and instruction.
        control: Control,
        /// The announced length in bytes.
        announced: usize,
        /// The number of bytes present.
        there: usize,
    },
    /// The head is incomplete.
    #[error("{there} bytes are too few for an APDU, which has at least class, instruction and length")]
    NoHead {
        /// The number of bytes present.
        there: usize,
    },
}

impl Apdu {
    /// Creates an APDU with data. Data beyond [`LONGEST`] are cut off.
    #[must_use]
    pub fn new(control: Control, mut data: Vec<u8>) -> Self {
        data.truncate(LONGEST);
        Self { control, data }
    }

    /// Creates an APDU without data.
    #[must_use]
    pub const fn empty(control: Control) -> Self {
        Self { control, data: Vec::new() }
    }

    /// Encodes the APDU with a length prefix.
    #[must_use]
    pub fn encode_with_length(&self) -> Vec<u8> {
        let apdu = self.encode();
        // The longest APDU exceeds the largest length by five bytes. For this APDU, the till must use the length inside
        // it.
        let length = u16::try_from(apdu.len()).unwrap_or(u16::MAX);
        [&length.to_be_bytes()[..], &apdu].concat()
    }

    /// Creates `80 00 00`.
    #[must_use]
    pub const fn ok() -> Self {
        Self::empty(Control::OK)
    }

    /// Creates `84 xx 00`.
    #[must_use]
    pub const fn refused(code: u8) -> Self {
        Self::empty(Control(0x84, code))
    }

    /// Encodes the APDU, with the short form of the length if that is sufficient.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![self.control.0, self.control.1];
        match u8::try_from(self.data.len()) {
            Ok(length) if length < EXTENDED => bytes.push(length),
            _ => {
                // Little-endian, unlike the lengths of TLVs.
                let [low, high] = u16::try_from(self.data.len()).unwrap_or(u16::MAX).to_le_bytes();
                bytes.extend([EXTENDED, low, high]);
            }
        }
        bytes.extend(&self.data);
        bytes
    }

    /// Reads exactly one APDU.
    ///
    /// # Errors
    /// Fails if the bytes are not exactly one APDU.
    pub fn decode(bytes: &[u8]) -> Result<Self, ApduError> {
        let (control, head, announced) = head(bytes).ok_or(ApduError::NoHead { there: bytes.len() })?;
        let data = bytes.get(head..).unwrap_or_default();
        if data.len() == announced {
            Ok(Self { control, data: data.to_vec() })
        } else {
            Err(ApduError::Length { control, announced, there: data.len() })
        }
    }
}

/// Reads class and instruction, the length of the head, and the length of the data. Returns `None` if the head is
/// incomplete.
fn head(bytes: &[u8]) -> Option<(Control, usize, usize)> {
    let [class, instruction, length, rest @ ..] = bytes else { return None };
    let control = Control(*class, *instruction);
    if *length != EXTENDED {
        return Some((control, 3, usize::from(*length)));
    }
    let [low, high, ..] = rest else { return None };
    Some((control, 5, usize::from(u16::from_le_bytes([*low, *high]))))
}

/// A splitter of a byte stream into APDUs. The stream may arrive in pieces of any size, and the splitter keeps at most
/// one APDU.
#[derive(Default)]
pub struct Splitter {
    waiting: Vec<u8>,
    before: LengthBefore,
}

/// The state of the length prefix that some tills send before each APDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LengthBefore {
    /// No byte has arrived yet.
    #[default]
    Unknown,
    /// This till sends no length prefix.
    Never,
    /// This many bytes of the prefix are still to come.
    ToCome(u8),
    /// The prefix has arrived, but its APDU has not.
    Passed,
}

impl fmt::Debug for Splitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of an APDU", self.waiting.len())
    }
}

impl Splitter {
    /// Takes bytes from the front until an APDU is complete. Call this function until it returns `None`.
    ///
    /// Some tills send a length prefix before each APDU. The first byte of a connection shows this, because no APDU
    /// begins with 00. The length inside the APDU is decisive.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Option<Apdu> {
        loop {
            if self.waiting.is_empty() && !self.passes_length(bytes) {
                return None;
            }
            let wanted = match head(&self.waiting) {
                Some((control, head, length)) if self.waiting.len() == head + length => {
                    let data = self.waiting.split_off(head);
                    self.waiting.clear();
                    if self.has_lengths() {
                        self.before = LengthBefore::ToCome(LENGTH_BEFORE);
                    }
                    return Some(Apdu { control, data });
                }
                Some((_, head, length)) => head + length,
                None => self.waiting.len() + 1,
            };
            let (taken, rest) = bytes.split_at(bytes.len().min(wanted - self.waiting.len()));
            if taken.is_empty() {
                return None;
            }
            self.waiting.extend_from_slice(taken);
            *bytes = rest;
        }
    }

    /// Skips the length prefix of an APDU. Returns `false` if part of the prefix is still missing.
    fn passes_length(&mut self, bytes: &mut &[u8]) -> bool {
        if let (LengthBefore::Unknown, Some(first)) = (self.before, bytes.first()) {
            self.before = if *first == 0 { LengthBefore::ToCome(LENGTH_BEFORE) } else { LengthBefore::Never };
        }
        while let LengthBefore::ToCome(left) = self.before {
            let Some((_, rest)) = bytes.split_first() else { return false };
            *bytes = rest;
            self.before = if left == 1 { LengthBefore::Passed } else { LengthBefore::ToCome(left - 1) };
        }
        true
    }

    /// Returns whether the till sends length prefixes. Such a till also expects a prefix before each APDU it receives.
    #[must_use]
    pub fn has_lengths(&self) -> bool {
        matches!(self.before, LengthBefore::ToCome(_) | LengthBefore::Passed)
    }

    /// Returns whether part of an APDU has arrived.
    #[must_use]
    pub fn is_inside(&self) -> bool {
        !self.waiting.is_empty() || matches!(self.before, LengthBefore::ToCome(1) | LengthBefore::Passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(chunks: &[&[u8]]) -> Vec<Apdu> {
        let mut splitter = Splitter::default();
        let mut found = Vec::new();
        for chunk in chunks {
            let mut left = *chunk;
            found.extend(std::iter::from_fn(|| splitter.next(&mut left)));
        }
        found
    }

    #[test]
    fn a_length_before_each_apdu_is_found_by_itself() {
        let sent = [Apdu::ok(), Apdu::new(Control::AUTHORISATION, vec![4; 300]), Apdu::empty(Control::LOG_OFF)];
        let stream: Vec<u8> = sent.iter().flat_map(Apdu::encode_with_length).collect();
        for size in 1..20 {
            let chunks: Vec<&[u8]> = stream.chunks(size).collect();
            assert_eq!(all(&chunks), sent, "in pieces of {size}");
        }
        let mut splitter = Splitter::default();
        assert_eq!(splitter.next(&mut &stream[..1]), None);
        assert!(splitter.is_inside() && splitter.has_lengths());
        assert!(!Splitter::default().has_lengths());
    }

    fn apdus() -> impl Strategy<Value = Apdu> {
        let data = prop_oneof![
            4 => prop::collection::vec(any::<u8>(), 0..20),
            1 => prop::collection::vec(any::<u8>(), 250..300),
        ];
        (1..=u8::MAX, any::<u8>(), data)
            .prop_map(|(class, instruction, data)| Apdu::new(Control(class, instruction), data))
    }

    proptest! {
        #[test]
        fn a_stream_is_the_same_however_it_is_divided(
            apdus in prop::collection::vec(apdus(), 0..5), cut in any::<prop::sample::Index>(), size in 1..40_usize,
        ) {
            let stream: Vec<u8> = apdus.iter().flat_map(Apdu::encode).collect();
            let cut = cut.index(stream.len() + 1);
            prop_assert_eq!(&all(&[&stream[..cut], &stream[cut..]]), &apdus);
            prop_assert_eq!(&all(&stream.chunks(size).collect::<Vec<_>>()), &apdus);
        }

        #[test]
        fn what_is_written_is_what_is_read(apdu in apdus()) {
            prop_assert_eq!(Apdu::decode(&apdu.encode()), Ok(apdu));
        }
    }

    #[test]
    fn lengths_are_extended_only_where_they_must_be_and_taken_wherever_they_are() {
        for (count, head) in [(0, vec![0]), (254, vec![254]), (255, vec![0xFF, 255, 0]), (256, vec![0xFF, 0, 1])] {
            let apdu = Apdu::new(Control::STATUS, vec![7; count]);
            assert_eq!(apdu.encode()[2..2 + head.len()], head);
        }
        assert_eq!(Apdu::decode(&[0x80, 0, 0xFF, 0, 0]), Ok(Apdu::ok()));
        let longest = Apdu::new(Control::STATUS, vec![7; LONGEST + 1]).encode();
        assert_eq!((longest.len(), &longest[2..5]), (LONGEST + 5, &[0xFF; 3][..]));
        assert_eq!(all(&[&longest[..]])[0].data.len(), LONGEST);
        assert!(matches!(Apdu::decode(&[4, 15, 2, 0x27]), Err(ApduError::Length { announced: 2, there: 1, .. })));
        assert!(matches!(Apdu::decode(&[4, 15, 1, 0x27, 0]), Err(ApduError::Length { announced: 1, there: 2, .. })));
        assert_eq!(Apdu::decode(&[4, 15]), Err(ApduError::NoHead { there: 2 }));
    }
}
