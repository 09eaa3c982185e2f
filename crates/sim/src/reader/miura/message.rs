//! Parses Miura's commands, and defines its status words (readers: 2.1, 2.11).
//!
//! It shares only the packet code with the agent (`pos_reader_link`, which is checked against frozen captures). The
//! code for their content is separate, so a misreading of the protocol cannot hide on both sides.

use crate::reader::objects::{self, ElementFault};
use pos_terms::emv::{Tag, tlv};

/// A status word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatusWord(pub(super) u16);

impl StatusWord {
    pub(super) const OK: Self = Self(0x9000);
    pub(super) const WRONG_LENGTH: Self = Self(0x6700);
    pub(super) const UNKNOWN_COMMAND: Self = Self(0x6D00);
    pub(super) const INVALID_PARAMETER: Self = Self(0x9F0F);
    pub(super) const INVALID_INPUT: Self = Self(0x9F14);
    pub(super) const INVALID_DATA: Self = Self(0x9F21);
    pub(super) const NOT_READY: Self = Self(0x9F22);
    pub(super) const NO_CARD: Self = Self(0x9F23);
    pub(super) const BAD_CARD: Self = Self(0x9F25);
    pub(super) const NOT_ALLOWED: Self = Self(0x9F26);
    pub(super) const DATA_MISSING: Self = Self(0x9F27);
    pub(super) const UNSUPPORTED_CARD: Self = Self(0x9F28);
    pub(super) const CARD_READ_ERROR: Self = Self(0x9F30);
    pub(super) const CANCELLED: Self = Self(0x9F41);
    pub(super) const TIMED_OUT: Self = Self(0x9F42);
    pub(super) const CARD_INSERTED: Self = Self(0x9F43);
    pub(super) const CARD_SWIPED: Self = Self(0x9F44);
    pub(super) const INSERT_CARD: Self = Self(0x9FC3);
    pub(super) const NO_PIN_KEY: Self = Self(0x9FE0);
    pub(super) const NOTHING_TYPED: Self = Self(0x9FE2);
    pub(super) const NO_KEY_LEFT: Self = Self(0x9FE5);
}

/// A received command: CLA INS P1 P2 [Lc data].
#[derive(Clone, Copy)]
pub(super) struct Command<'a> {
    /// CLA and INS.
    pub(super) code: u16,
    pub(super) p1: u8,
    /// True if Lc has three bytes and begins with 00.
    pub(super) extended: bool,
    pub(super) data: &'a [u8],
}

impl<'a> Command<'a> {
    /// Parses a command. Either Lc and data are both present, or both are missing. A single byte after P2 is an Le
    /// (readers: 2.1).
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, StatusWord> {
        let (&[cla, ins, p1, _p2], rest) = bytes.split_first_chunk().ok_or(StatusWord::WRONG_LENGTH)?;
        let mut extended = false;
        let data = match rest {
            [] | [_] => &[],
            [0, high, low, data @ ..] if data.len() == usize::from(u16::from_be_bytes([*high, *low])) => {
                extended = true;
                data
            }
            [lc, data @ ..] if data.len() == usize::from(*lc) || data.len() == usize::from(*lc) + 1 => {
                &data[..usize::from(*lc)]
            }
            _ => return Err(StatusWord::WRONG_LENGTH),
        };
        Ok(Self { code: u16::from_be_bytes([cla, ins]), p1, extended, data })
    }

    /// Returns the elements of the command's E0 template.
    pub(super) fn elements(&self) -> Result<&'a [u8], StatusWord> {
        let mut objects = tlv::walk(self.data);
        match (objects.next(), objects.next()) {
            (Some(Ok(object)), None) if object.tag == Tag(0xE0) => {
                tlv::visit(object.value, &mut |_| {}).map_err(|_| StatusWord::INVALID_DATA)?;
                Ok(object.value)
            }
            (None, _) => Err(StatusWord::DATA_MISSING),
            _ => Err(StatusWord::INVALID_DATA),
        }
    }
}

impl From<ElementFault> for StatusWord {
    fn from(fault: ElementFault) -> Self {
        match fault {
            ElementFault::Missing => Self::DATA_MISSING,
            ElementFault::Malformed => Self::INVALID_DATA,
        }
    }
}

/// Returns the element `tag` of a command, which must have `N` bytes.
pub(super) fn need<const N: usize>(elements: &[u8], tag: u32) -> Result<[u8; N], StatusWord> {
    Ok(objects::need(elements, tag)?)
}

/// Returns the element `tag`, which must have `N` bytes if it is present.
pub(super) fn get<const N: usize>(elements: &[u8], tag: u32) -> Result<Option<[u8; N]>, StatusWord> {
    Ok(objects::get(elements, tag)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::objects::{object, template};

    #[test]
    fn a_command_comes_apart() {
        // START TRANSACTION for 4.56 GBP, copied by hand from documents (readers: 2.13).
        let bytes =
            hex::decode("DED1000028E0269C01009F02060000000004569A032501319F2103123456DFA2040101DFA20301005F2A020826");
        let bytes = bytes.unwrap();
        let command = Command::parse(&bytes).unwrap();
        assert_eq!((command.code, command.p1), (0xDED1, 0));
        let elements = command.elements().unwrap();
        assert_eq!(need::<6>(elements, 0x9F02), Ok([0, 0, 0, 0, 4, 0x56]));
        assert_eq!(need::<1>(elements, 0xDFA204), Ok([1]));
        assert_eq!(need::<6>(elements, 0x9F03), Err(StatusWord::DATA_MISSING));
        assert_eq!(need::<2>(elements, 0x9F02), Err(StatusWord::INVALID_DATA));
    }

    #[test]
    fn a_long_command_says_its_length_in_three_bytes() {
        let bytes = [&[0xDE, 0xD2, 0, 0, 0, 0x01, 0x02][..], &[0xAA; 0x102]].concat();
        let command = Command::parse(&bytes).unwrap();
        assert_eq!((command.code, command.extended, command.data.len()), (0xDED2, true, 0x102));
        assert_eq!(Command::parse(&bytes[..100]).err(), Some(StatusWord::WRONG_LENGTH));
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

    #[test]
    fn lengths_take_their_shortest_form() {
        for (len, head) in [(0x7F, &[0x50, 0x7F][..]), (0x80, &[0x50, 0x81, 0x80]), (0x123, &[0x50, 0x82, 1, 0x23])] {
            assert!(object(0x50, &vec![0; len]).starts_with(head));
        }
        assert_eq!(template(0xE1, &[(0xDFAE01, &[7])]), [0xE1, 5, 0xDF, 0xAE, 1, 1, 7]);
    }
}
