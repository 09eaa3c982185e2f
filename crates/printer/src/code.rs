//! A till's own bar codes and QR codes: their valid content, the check that they fit the paper, and the printer's
//! commands that draw them. This module is pure.
//!
//! | bytes | command | use |
//! |---|---|---|
//! | `1D 68 n` | GS h: height in dots | bar codes |
//! | `1D 77 n` | GS w: dots of the narrowest bar | as wide as the paper allows |
//! | `1D 48 02` | GS H: the content as text below the bars | for typing it |
//! | `1D 6B m n …` | GS k: print a bar code; m 65 UPC-A, 67 EAN-13, 68 EAN-8, 70 Interleaved 2 of 5, 73 Code 128 | |
//! | `1D 28 6B pL pH 30 fn …` | GS ( k: PDF417; fn 65 columns, 67 width, 68 height, 69 correction, 80 store, 81 print | |
//! | `1D 28 6B pL pH 31 fn …` | GS ( k: QR code; fn 65 model, 67 size, 69 correction, 80 store, 81 print | |
//!
//! If a code is too wide or has a wrong digit, a printer prints nothing and reports nothing. So this module refuses
//! such a code. Code 128 uses only set B, with one byte for each character. Set C has two digits in a byte and would
//! put bytes below 20 into the job. A printer takes `10 04` as a question at any position.

use std::fmt;

use thiserror::Error;

const GS: u8 = 0x1D;

/// The width in dots of one character of the usual font, which gives the width of the paper.
const DOTS_OF_A_COLUMN: usize = 12;
/// The height of a bar code in dots: 10 mm.
const HEIGHT: u8 = 80;
/// The width in dots of the narrowest bar: the first if the paper has room, otherwise the second.
const BARS: [u8; 2] = [3, 2];
/// Maximum number of bytes of a PDF417 code. At worst it takes 231 codewords with their correction, and the narrowest
/// paper has room for 360 in 90 rows.
const MOST_OF_PDF417: usize = 200;
/// Maximum number of bytes of a QR code of versions 4, 8 and 14, for each level (ISO/IEC 18004, table 7). The first
/// number of each entry is the size of a module in dots, with which the code is at most 294 dots wide.
const QR_SIZES: [(u8, [usize; 4]); 3] = [(8, [78, 62, 46, 34]), (6, [192, 152, 108, 84]), (4, [458, 362, 258, 194])];

/// The kind of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeKind {
    /// EAN-8: seven digits and their check digit.
    Ean8,
    /// EAN-13: twelve digits and their check digit.
    Ean13,
    /// UPC-A: eleven digits and their check digit.
    UpcA,
    /// Interleaved 2 of 5: pairs of digits.
    Code25,
    /// Code 128: printable ASCII.
    Code128,
    /// PDF417: any text.
    Pdf417,
    /// QR code: any text.
    Qr(QrLevel),
}

/// The part of a QR code that may be damaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QrLevel {
    /// L: 7 %.
    Low,
    /// M: 15 %, for example through a crease or a stain.
    #[default]
    Medium,
    /// Q: 25 %.
    Quartile,
    /// H: 30 %.
    High,
}

/// The reason why a code cannot be printed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CodeError {
    /// The content does not consist of the digits of this code.
    #[error("{kind} takes {digits}")]
    Digits {
        /// The code.
        kind: CodeKind,
        /// The required number.
        digits: &'static str,
    },
    /// The check digit does not match the other digits.
    #[error("the check digit of this {kind} is {right}; correct the check digit, or omit it")]
    CheckDigit {
        /// The code.
        kind: CodeKind,
        /// The correct digit.
        right: u8,
    },
    /// The content contains characters that the code cannot represent.
    #[error("{kind} takes {characters}")]
    Characters {
        /// The code.
        kind: CodeKind,
        /// The characters that the code can represent.
        characters: &'static str,
    },
    /// The content is empty or too long.
    #[error("{kind} takes 1 to {most} {of} on this printer's paper")]
    Length {
        /// The code.
        kind: CodeKind,
        /// The maximum.
        most: usize,
        /// The unit: bytes, digits or characters.
        of: &'static str,
    },
}

/// A code that the printer prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    kind: CodeKind,
    content: String,
    /// The width in dots of the narrowest bar of a bar code.
    bar: u8,
}

impl Code {
    /// Checks a code for paper of `columns` characters, and adds a missing check digit.
    ///
    /// # Errors
    /// Returns [`CodeError`].
    pub fn new(kind: CodeKind, content: &str, columns: u8) -> Result<Self, CodeError> {
        let dots = usize::from(columns) * DOTS_OF_A_COLUMN;
        let code = |content: String| Ok(Self { kind, content, bar: BARS[0] });
        match kind {
            CodeKind::Ean8 => code(checked(kind, content, 7, "7 digits, or 8 with the check digit")?),
            CodeKind::Ean13 => code(checked(kind, content, 12, "12 digits, or 13 with the check digit")?),
            CodeKind::UpcA => code(checked(kind, content, 11, "11 digits, or 12 with the check digit")?),
            CodeKind::Code25 => {
                if !content.len().is_multiple_of(2) || !content.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(CodeError::Digits { kind, digits: "an even number of digits" });
                }
                let most = (2..=256).step_by(2).take_while(|digits| bar(dots, code25(*digits)).is_some()).last();
                fits(kind, content.len(), most.unwrap_or_default(), "digits")?;
                let bar = bar(dots, code25(content.len())).unwrap_or(BARS[1]);
                Ok(Self { kind, content: content.to_owned(), bar })
            }
            CodeKind::Code128 => {
                if !content.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
                    return Err(CodeError::Characters { kind, characters: "ASCII letters, digits and signs" });
                }
                let most = (1..=256).take_while(|characters| bar(dots, code128(*characters)).is_some()).last();
                fits(kind, content.len(), most.unwrap_or_default(), "characters")?;
                let bar = bar(dots, code128(content.len())).unwrap_or(BARS[1]);
                Ok(Self { kind, content: content.to_owned(), bar })
            }
            CodeKind::Pdf417 | CodeKind::Qr(_) => {
                if content.contains(char::is_control) {
                    return Err(CodeError::Characters { kind, characters: "text without control characters" });
                }
                let most = match kind {
                    CodeKind::Qr(level) => QR_SIZES[QR_SIZES.len() - 1].1[level.place()],
                    _ => MOST_OF_PDF417,
                };
                fits(kind, content.len(), most, "bytes (UTF-8)")?;
                code(content.to_owned())
            }
        }
    }

    /// Returns the content with its check digit.
    #[must_use]
    pub fn content(&self) -> &str {
        &self.content
    }

    /// Appends the commands that print the code.
    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        let content = self.content.as_bytes();
        match self.kind {
            CodeKind::UpcA => bars(65, self.bar, content, bytes),
            CodeKind::Ean13 => bars(67, self.bar, content, bytes),
            CodeKind::Ean8 => bars(68, self.bar, content, bytes),
            CodeKind::Code25 => bars(70, self.bar, content, bytes),
            CodeKind::Code128 => {
                // This is set B. A brace begins a command, so a brace in the content is doubled.
                let content = format!("{{B{}", self.content.replace('{', "{{"));
                bars(73, self.bar, content.as_bytes(), bytes);
            }
            CodeKind::Pdf417 => pdf417(content, bytes),
            CodeKind::Qr(level) => qr(content, level, bytes),
        }
    }
}

impl QrLevel {
    fn place(self) -> usize {
        self as usize
    }
}

impl fmt::Display for CodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ean8 => "EAN-8",
            Self::Ean13 => "EAN-13",
            Self::UpcA => "UPC-A",
            Self::Code25 => "Code 25",
            Self::Code128 => "Code 128",
            Self::Pdf417 => "PDF417",
            Self::Qr(_) => "a QR code",
        })
    }
}

fn fits(kind: CodeKind, length: usize, most: usize, of: &'static str) -> Result<(), CodeError> {
    if (1..=most).contains(&length) { Ok(()) } else { Err(CodeError::Length { kind, most, of }) }
}

/// Checks that the content has `count` digits, and adds or checks the check digit. From the right, the weights are 3
/// and 1 (GS1 General Specifications, 7.9).
fn checked(kind: CodeKind, content: &str, count: usize, digits: &'static str) -> Result<String, CodeError> {
    let is_long_enough = content.len() == count || content.len() == count + 1;
    if !is_long_enough || !content.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(CodeError::Digits { kind, digits });
    }
    let (body, given) = content.split_at(count);
    let weighted = body.bytes().rev().zip([3, 1].into_iter().cycle());
    let sum: u32 = weighted.map(|(digit, weight)| u32::from(digit - b'0') * weight).sum();
    let right = u8::try_from((10 - sum % 10) % 10).expect("one digit");
    match given {
        "" => Ok(format!("{body}{right}")),
        _ if given.as_bytes() == [b'0' + right] => Ok(content.to_owned()),
        _ => Err(CodeError::CheckDigit { kind, right }),
    }
}

/// Returns the width in dots of the narrowest bar with which a code fits, or `None` if no width fits.
fn bar(dots: usize, width: impl Fn(usize) -> usize) -> Option<u8> {
    BARS.into_iter().find(|bar| width(usize::from(*bar)) <= dots)
}

/// Returns the width in dots of an Interleaved 2 of 5 code: start, digits, end. Printers draw its wide bars with 5 or 8
/// dots.
fn code25(digits: usize) -> impl Fn(usize) -> usize {
    move |narrow| {
        let wide = if narrow == 2 { 5 } else { 8 };
        4 * narrow + digits * (3 * narrow + 2 * wide) + wide + 2 * narrow
    }
}

/// Returns the width in dots of a Code 128: start, characters, check character, end.
fn code128(characters: usize) -> impl Fn(usize) -> usize {
    move |module| ((characters + 2) * 11 + 13) * module
}

fn bars(kind: u8, module: u8, content: &[u8], bytes: &mut Vec<u8>) {
    bytes.extend([GS, b'h', HEIGHT, GS, b'w', module, GS, b'H', 2]);
    let length = u8::try_from(content.len()).expect("no paper has room for a bar code of 255 characters");
    bytes.extend([GS, b'k', kind, length]);
    bytes.extend(content);
}

/// Appends function `code` of GS ( k and its parameters.
fn function(family: u8, code: u8, parameters: &[u8], bytes: &mut Vec<u8>) {
    let length = u16::try_from(parameters.len() + 2).expect("a code has at most 458 bytes").to_le_bytes();
    bytes.extend([GS, b'(', b'k', length[0], length[1], family, code]);
    bytes.extend(parameters);
}

/// Appends a PDF417 code with as many columns as the paper has room for. Its bars have 2 dots and its rows 6, and it
/// has a tenth more codewords for correction.
fn pdf417(content: &[u8], bytes: &mut Vec<u8>) {
    function(b'0', b'A', &[0], bytes);
    function(b'0', b'C', &[2], bytes);
    function(b'0', b'D', &[3], bytes);
    function(b'0', b'E', &[b'1', 1], bytes);
    function(b'0', b'P', &[&b"0"[..], content].concat(), bytes);
    function(b'0', b'Q', b"0", bytes);
}

/// Appends a QR code of model 2.
pub(super) fn qr(content: &[u8], level: QrLevel, bytes: &mut Vec<u8>) {
    let fitting = QR_SIZES.iter().find(|(_, most)| content.len() <= most[level.place()]);
    let module = fitting.map_or(4, |(module, _)| *module);
    function(b'1', b'A', b"2\0", bytes);
    function(b'1', b'C', &[module], bytes);
    function(b'1', b'E', &[b"0123"[level.place()]], bytes);
    function(b'1', b'P', &[&b"0"[..], content].concat(), bytes);
    function(b'1', b'Q', b"0", bytes);
}

#[cfg(test)]
mod tests {
    //! The golden bytes come from the printers' command tables and are never edited to make a test pass.
    use super::*;

    fn hex_of(kind: CodeKind, content: &str, columns: u8) -> String {
        let mut bytes = Vec::new();
        Code::new(kind, content, columns).unwrap().encode(&mut bytes);
        hex::encode_upper(bytes)
    }

    fn refused(kind: CodeKind, content: &str) -> String {
        Code::new(kind, content, 32).unwrap_err().to_string()
    }

    #[test]
    fn each_code_byte_for_byte() {
        let bars = |rest: &str| format!("1D6850 1D7703 1D4802 {rest}").replace(' ', "");
        // The content is 400638133393 with the check digit 1.
        let ean13 = bars("1D6B 43 0D 34303036333831333333393331");
        assert_eq!(hex_of(CodeKind::Ean13, "400638133393", 32), ean13);
        assert_eq!(hex_of(CodeKind::Ean13, "4006381333931", 32), ean13);
        assert_eq!(hex_of(CodeKind::Ean8, "9638507", 32), bars("1D6B 44 08 3936333835303734"));
        assert_eq!(hex_of(CodeKind::UpcA, "03600029145", 32), bars("1D6B 41 0C 303336303030323931343532"));
        assert_eq!(hex_of(CodeKind::Code25, "1234", 32), bars("1D6B 46 04 31323334"));
        assert_eq!(hex_of(CodeKind::Code128, "A{1", 32), bars("1D6B 49 06 7B42 41 7B7B 31"));
        let pdf417 = "1D286B0300304100 1D286B0300304302 1D286B0300304403 1D286B040030453101 1D286B0500305030 4142 1D286B0300305130";
        assert_eq!(hex_of(CodeKind::Pdf417, "AB", 32), pdf417.replace(' ', ""));
        let qr = "1D286B040031413200 1D286B0300314308 1D286B0300314533 1D286B0500315030 C3A9 1D286B0300315130";
        assert_eq!(hex_of(CodeKind::Qr(QrLevel::High), "é", 32), qr.replace(' ', ""));
    }

    #[test]
    fn a_check_digit_is_added_or_must_be_right() {
        for (kind, content, whole) in [
            (CodeKind::Ean13, "590123412345", "5901234123457"),
            (CodeKind::Ean8, "7351353", "73513537"),
            (CodeKind::UpcA, "123456789999", "123456789999"),
            (CodeKind::Ean13, "000000000000", "0000000000000"),
        ] {
            assert_eq!(Code::new(kind, content, 32).unwrap().content(), whole);
        }
        assert_eq!(
            refused(CodeKind::Ean13, "5901234123456"),
            "the check digit of this EAN-13 is 7; correct the check digit, or omit it"
        );
        for content in ["", "12345678901", "12345678901234", "59012341234A", "５90123412345"] {
            assert_eq!(refused(CodeKind::Ean13, content), "EAN-13 takes 12 digits, or 13 with the check digit");
        }
        assert_eq!(refused(CodeKind::Code25, "123"), "Code 25 takes an even number of digits");
        assert_eq!(refused(CodeKind::Code25, "12A4"), "Code 25 takes an even number of digits");
    }

    #[test]
    fn what_has_no_room_is_refused_with_what_has() {
        // With the wide bar there is room for 8 characters, and with the narrow one for 14. Codes wider than the
        // paper's 384 dots are refused.
        assert!(hex_of(CodeKind::Code128, "12345678", 32).contains("1D7703"));
        assert!(hex_of(CodeKind::Code128, "123456789", 32).contains("1D7702"));
        assert!(Code::new(CodeKind::Code128, &"x".repeat(14), 32).is_ok());
        let most = "Code 128 takes 1 to 14 characters on this printer's paper";
        assert_eq!(refused(CodeKind::Code128, &"x".repeat(15)), most);
        assert_eq!(refused(CodeKind::Code128, ""), most);
        assert!(Code::new(CodeKind::Code128, &"x".repeat(22), 48).is_ok());
        assert_eq!(refused(CodeKind::Code25, &"12".repeat(12)), "Code 25 takes 1 to 22 digits on this printer's paper");
        assert!(refused(CodeKind::Pdf417, &"x".repeat(201)).contains("1 to 200 bytes"));
        for (level, most) in
            [(QrLevel::Low, 458), (QrLevel::Medium, 362), (QrLevel::Quartile, 258), (QrLevel::High, 194)]
        {
            assert!(Code::new(CodeKind::Qr(level), &"x".repeat(most), 32).is_ok());
            assert!(refused(CodeKind::Qr(level), &"x".repeat(most + 1)).contains(&format!("1 to {most} bytes")));
        }
    }

    #[test]
    fn no_control_byte_gets_through() {
        for kind in [CodeKind::Code128, CodeKind::Pdf417, CodeKind::Qr(QrLevel::Medium), CodeKind::Code25] {
            for content in ["a\u{1B}@", "12\n34", "\u{10}\u{04}\u{01}", "\u{85}", "\u{7F}"] {
                assert!(Code::new(kind, content, 48).is_err(), "{kind} {content:?}");
            }
        }
        assert!(Code::new(CodeKind::Code128, "é", 48).is_err());
    }
}
