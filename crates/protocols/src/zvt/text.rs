//! Texts in the character sets that a till may choose (TLV 14 of the registration). The default is CP437, the set of
//! old printers. Encoding drops control characters and replaces each character outside the set with `?`.

/// A character set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// 7 bits.
    Ascii,
    /// ISO 8859-1.
    Latin1,
    /// ISO 8859-15, with the euro sign.
    Latin9,
    /// UTF-8.
    Utf8,
    /// Code page 437.
    #[default]
    Cp437,
}

/// The positions where ISO 8859-15 differs from ISO 8859-1.
const LATIN_9: [(u8, char); 8] =
    [(0xA4, '€'), (0xA6, 'Š'), (0xA8, 'š'), (0xB4, 'Ž'), (0xB8, 'ž'), (0xBC, 'Œ'), (0xBD, 'œ'), (0xBE, 'Ÿ')];

/// The upper half of code page 437.
const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀\
                     αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}";

impl Charset {
    /// All character sets.
    const ALL: [Self; 5] = [Self::Ascii, Self::Latin1, Self::Latin9, Self::Utf8, Self::Cp437];

    /// Finds a set by its number in TLV 14. Returns `None` for an unsupported set.
    #[must_use]
    pub fn from_tag14(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.tag14() == number)
    }

    /// Returns the set's number in TLV 14.
    #[must_use]
    pub fn tag14(self) -> u8 {
        match self {
            Self::Ascii => 0x00,
            Self::Latin1 => 0x01,
            Self::Latin9 => 0x0F,
            Self::Utf8 => 0xFE,
            Self::Cp437 => 0xFF,
        }
    }

    /// Encodes a text in this set.
    #[must_use]
    pub fn encode(self, text: &str) -> Vec<u8> {
        let printable = text.chars().filter(|c| !c.is_control());
        if self == Self::Utf8 {
            return printable.collect::<String>().into_bytes();
        }
        printable.map(|c| self.byte(c).unwrap_or(b'?')).collect()
    }

    fn byte(self, c: char) -> Option<u8> {
        if c.is_ascii() {
            return u8::try_from(c).ok();
        }
        match self {
            Self::Ascii | Self::Utf8 => None,
            Self::Latin1 => u8::try_from(c).ok(),
            Self::Latin9 => match LATIN_9.iter().find(|(_, known)| *known == c) {
                Some((byte, _)) => Some(*byte),
                None => u8::try_from(c).ok().filter(|byte| LATIN_9.iter().all(|(taken, _)| taken != byte)),
            },
            Self::Cp437 => CP437.chars().position(|known| known == c).and_then(|n| u8::try_from(n + 0x80).ok()),
        }
    }

    /// Decodes bytes in this set.
    #[must_use]
    pub fn decode(self, bytes: &[u8]) -> String {
        let read = |byte: &u8| match (self, *byte) {
            (_, 0x00..=0x7E) => Some(char::from(*byte)),
            (Self::Latin9, byte) => {
                Some(LATIN_9.iter().find(|(known, _)| *known == byte).map_or(char::from(byte), |(_, c)| *c))
            }
            (Self::Cp437, byte @ 0x80..) => CP437.chars().nth(usize::from(byte & 0x7F)),
            (Self::Ascii, 0x80..) => Some('\u{FFFD}'),
            (_, byte) => Some(char::from(byte)),
        };
        let text = match self {
            Self::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
            _ => bytes.iter().filter_map(read).collect(),
        };
        text.chars().filter(|c| !c.is_control()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_has_its_bytes() {
        assert_eq!(CP437.chars().count(), 128);
        for (set, bytes) in [
            (Charset::Cp437, &b"Stra\xE1e \x80\x9A ?"[..]),
            (Charset::Latin1, b"Stra\xDFe \xC7\xDC ?"),
            (Charset::Latin9, b"Stra\xDFe \xC7\xDC \xA4"),
            (Charset::Ascii, b"Stra?e ?? ?"),
        ] {
            assert_eq!(set.encode("Stra\u{7}ße ÇÜ €"), bytes, "{set:?}");
            assert_eq!(Charset::from_tag14(set.tag14()), Some(set));
        }
        assert_eq!(Charset::Utf8.encode("ß\n€"), "ß€".as_bytes());
        assert_eq!(Charset::Cp437.decode(b"Stra\xE1e\0\x1B"), "Straße");
        assert_eq!(Charset::Latin9.decode(b"\xA4\x85"), "€");
        for set in [Charset::Latin1, Charset::Latin9, Charset::Cp437] {
            for byte in 0x20..=0xFF {
                let text = set.decode(&[byte]);
                assert!(text.is_empty() || set.encode(&text) == [byte], "{set:?} {byte:02X} {text}");
            }
        }
        assert_eq!(Charset::from_tag14(0x02), None);
    }
}
