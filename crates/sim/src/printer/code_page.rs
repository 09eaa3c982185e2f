//! The characters of a printer above 7F, for each code page. They come from `oem_cp` and `encoding_rs`, not from the
//! agent's tables.

use encoding_rs::Encoding;
use oem_cp::code_table as oem;

/// A code page by its number (Epson's ESC/POS reference, ESC t).
#[derive(Clone, Copy, Debug)]
pub(super) enum Page {
    /// A complete page, on which each byte is a character.
    Oem(&'static [char; 128]),
    /// A page on which some bytes print nothing.
    Gaps(&'static [Option<char>; 128]),
    Windows(&'static Encoding),
}

impl Page {
    /// PC437.
    pub(super) const FIRST: Self = Self::Oem(&oem::DECODING_TABLE_CP437);

    pub(super) fn by_number(n: u8) -> Option<Self> {
        Some(match n {
            0 => Self::FIRST,
            2 => Self::Oem(&oem::DECODING_TABLE_CP850),
            13 => Self::Gaps(&oem::DECODING_TABLE_CP857),
            14 => Self::Oem(&oem::DECODING_TABLE_CP737),
            16 => Self::Windows(encoding_rs::WINDOWS_1252),
            17 => Self::Oem(&oem::DECODING_TABLE_CP866),
            18 => Self::Oem(&oem::DECODING_TABLE_CP852),
            19 => Self::Oem(&oem::DECODING_TABLE_CP858),
            33 => Self::Oem(&oem::DECODING_TABLE_CP775),
            45 => Self::Windows(encoding_rs::WINDOWS_1250),
            46 => Self::Windows(encoding_rs::WINDOWS_1251),
            47 => Self::Windows(encoding_rs::WINDOWS_1253),
            48 => Self::Windows(encoding_rs::WINDOWS_1254),
            51 => Self::Windows(encoding_rs::WINDOWS_1257),
            _ => return None,
        })
    }

    /// Returns the character of a byte from 80 upwards; `None` if the page has none.
    pub(super) fn character(self, byte: u8) -> Option<char> {
        let place = usize::from(byte).checked_sub(0x80)?;
        match self {
            Self::Oem(table) => Some(table[place]),
            Self::Gaps(table) => table[place],
            Self::Windows(encoding) => {
                let text = encoding.decode_without_bom_handling_and_without_replacement(std::slice::from_ref(&byte))?;
                // The library returns C1 controls where the Windows page has no character.
                text.chars().next().filter(|c| !c.is_control())
            }
        }
    }
}
