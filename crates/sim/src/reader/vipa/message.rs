//! Parses VIPA's commands, and defines its status words (readers: 3.1, 3.6).

use crate::reader::family::Failure;
use crate::reader::objects::ElementFault;
use pos_terms::emv::{Tag, tlv};

/// A status word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatusWord(pub(super) u16);

impl StatusWord {
    pub(super) const OK: Self = Self(0x9000);
    pub(super) const PIN_BYPASSED: Self = Self(0x9015);
    pub(super) const WRONG_LENGTH: Self = Self(0x6700);
    pub(super) const WRONG_LRC: Self = Self(0x9F01);
    pub(super) const WRONG_NAD: Self = Self(0x9F02);
    pub(super) const CHAINING: Self = Self(0x9F08);
    pub(super) const WRONG_TYPE: Self = Self(0x9F09);
    pub(super) const NO_LEN: Self = Self(0x9F0C);
    pub(super) const UNKNOWN_INSTRUCTION: Self = Self(0x9F0F);
    pub(super) const WRONG_P1: Self = Self(0x9F10);
    pub(super) const NOT_SUPPORTED: Self = Self(0x9F11);
    pub(super) const WRONG_FORMAT: Self = Self(0x9F14);
    pub(super) const NO_KEYS: Self = Self(0x9F19);
    pub(super) const INVALID_DATA: Self = Self(0x9F21);
    pub(super) const NOT_READY: Self = Self(0x9F22);
    pub(super) const NO_CARD: Self = Self(0x9F23);
    pub(super) const WRONG_ORDER: Self = Self(0x9F24);
    pub(super) const BAD_CARD: Self = Self(0x9F25);
    pub(super) const DATA_MISSING: Self = Self(0x9F27);
    pub(super) const UNSUPPORTED_CARD: Self = Self(0x9F28);
    pub(super) const INVALID_CARD: Self = Self(0x9F2D);
    pub(super) const ZERO_AMOUNT: Self = Self(0x9F32);
    pub(super) const CHIP_ONLY: Self = Self(0x9F34);
    pub(super) const CONSUMER_CVM: Self = Self(0x9F35);
    pub(super) const CANCELLED: Self = Self(0x9F41);
    pub(super) const ABORTED: Self = Self(0x9F43);
    pub(super) const LINE_ENCRYPTION: Self = Self(0x9F53);
    pub(super) const BUSY: Self = Self(0x9FFF);
}

impl From<ElementFault> for StatusWord {
    fn from(fault: ElementFault) -> Self {
        match fault {
            ElementFault::Missing => Self::DATA_MISSING,
            ElementFault::Malformed => Self::INVALID_DATA,
        }
    }
}

impl From<Failure> for StatusWord {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NoCard | Failure::CardPulled => Self::NO_CARD,
            // The protocol's description has no code for a mute chip alone. The host may allow a swipe after several
            // such insertions (readers: 3.3).
            Failure::UnreadableChip => Self::BAD_CARD,
            Failure::UnsupportedCard => Self::UNSUPPORTED_CARD,
            Failure::BlockedCard => Self::INVALID_CARD,
            Failure::NeedsContacts => Self::CHIP_ONLY,
            // No code for a time-out is described.
            Failure::Cancelled | Failure::TimedOut | Failure::NotEntered => Self::CANCELLED,
            // The description allows 9F41 and 9F43. This reader sends 9F43 for the host, and 9F41 for a person.
            Failure::Aborted => Self::ABORTED,
            Failure::NoCardKey | Failure::NoPinKey => Self::NO_KEYS,
            Failure::InvalidNumber => Self::WRONG_FORMAT,
        }
    }
}

/// A received command: `CLA INS P1 P2 [Lc data] [Le]`.
#[derive(Clone, Copy)]
pub(super) struct Command<'a> {
    /// CLA and INS.
    pub(super) code: u16,
    pub(super) p1: u8,
    pub(super) p2: u8,
    pub(super) data: &'a [u8],
}

impl<'a> Command<'a> {
    /// Parses a command. Lc has one byte, and is FF for all data longer than 254 bytes. Le is optional.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, StatusWord> {
        let (&[cla, ins, p1, p2], rest) = bytes.split_first_chunk().ok_or(StatusWord::WRONG_LENGTH)?;
        let data = match rest {
            [] | [_] => &[],
            [0xFF, data @ ..] if data.len() >= 0xFF => data,
            [lc, data @ ..] if data.len() == usize::from(*lc) || data.len() == usize::from(*lc) + 1 => {
                &data[..usize::from(*lc)]
            }
            _ => return Err(StatusWord::WRONG_LENGTH),
        };
        Ok(Self { code: u16::from_be_bytes([cla, ins]), p1, p2, data })
    }

    /// Returns the elements of the command's E0 template. After a saturated Lc, an Le may follow the template.
    pub(super) fn elements(&self) -> Result<&'a [u8], StatusWord> {
        let template = match tlv::walk(self.data).next() {
            None => return Err(StatusWord::DATA_MISSING),
            Some(Ok(object)) if object.tag == Tag(0xE0) => object,
            Some(_) => return Err(StatusWord::INVALID_DATA),
        };
        let le = usize::from(self.data.len() > 0xFF);
        if self.data.len() - template.raw.len() > le {
            return Err(StatusWord::INVALID_DATA);
        }
        tlv::visit(template.value, &mut |_| {}).map_err(|_| StatusWord::INVALID_DATA)?;
        Ok(template.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::objects;

    // Copied by hand from documents (readers: 3.7). Never edit it to make a test pass.
    const START: &str = "DED1000036E0349C01009F02060000000032509F03060000000000009A032103039F21031957249F1A0208405F2A020840DFA2140101DFA2180100";

    #[test]
    fn a_command_comes_apart() {
        let bytes = hex::decode(START).unwrap();
        let command = Command::parse(&bytes).unwrap();
        assert_eq!((command.code, command.p1, command.p2), (0xDED1, 0, 0));
        let elements = command.elements().unwrap();
        assert_eq!(objects::need::<6>(elements, 0x9F02), Ok([0, 0, 0, 0, 0x32, 0x50]));
        assert_eq!(objects::need::<2>(elements, 0x9F1A), Ok([0x08, 0x40]));
    }

    #[test]
    fn a_long_command_has_a_saturated_length() {
        let inner = [&[0x71, 0x82, 0x01, 0x10][..], &[0; 0x110]].concat();
        let data = objects::object(0xE0, &inner);
        for le in [&[][..], &[0]] {
            let bytes = [&[0xDE, 0xD2, 0, 0, 0xFF][..], &data, le].concat();
            assert_eq!(Command::parse(&bytes).unwrap().elements(), Ok(&inner[..]));
        }
        let more = [&[0xDE, 0xD2, 0, 0, 0xFF][..], &data, &[0, 0]].concat();
        assert_eq!(Command::parse(&more).unwrap().elements(), Err(StatusWord::INVALID_DATA));
    }

    #[test]
    fn what_is_no_command_is_refused() {
        assert_eq!(Command::parse(&[0xD0, 0, 0]).err(), Some(StatusWord::WRONG_LENGTH));
        assert_eq!(Command::parse(&[0xD2, 1, 0, 1, 5, 0x41]).err(), Some(StatusWord::WRONG_LENGTH));
        let elements = |bytes: &[u8]| Command::parse(bytes).unwrap().elements().err();
        assert_eq!(elements(&[0xDE, 0xD2, 0, 0]), Some(StatusWord::DATA_MISSING));
        assert_eq!(elements(&[0xDE, 0xD2, 0, 0, 4, 0xE0, 5, 0x8A, 2]), Some(StatusWord::INVALID_DATA));
        assert_eq!(elements(&[0xDE, 0xD2, 0, 0, 4, 0xE1, 2, 0x8A, 0]), Some(StatusWord::INVALID_DATA));
    }
}
