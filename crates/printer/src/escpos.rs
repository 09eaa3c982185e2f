//! Turns a receipt into ESC/POS, the command language of receipt printers. This module is pure. It takes lines, a
//! picture and a QR code, and returns bytes.
//!
//! | bytes | command | use |
//! |---|---|---|
//! | `1B 40` | ESC @: initialise | first, so that no setting from the previous job remains |
//! | `1B 74 n` | ESC t: code page | by its number; none for ASCII |
//! | `1B 61 n` | ESC a: 0 left, 1 centre | position of a line, the logo and the QR code |
//! | `1B 45 n` | ESC E: bold | |
//! | `1D 21 n` | GS !: size, width in the high and height in the low four bits | the amount |
//! | `0A` | LF: print the line | |
//! | `1D 76 30 0 xL xH yL yH …` | GS v 0: raster picture, x in bytes, y in dots | the logo |
//! | `1D 6B …`, `1D 28 6B …` | GS k, GS ( k: bar codes and QR codes ([`super::code`]) | the customer's; a till's |
//! | `1D 56 41/42 n` | GS V A/B: feed to the cutter and n more, cut through or leave one point | the end |
//! | `1B 64 n` | ESC d: feed n lines | the end, without a cutter |
//!
//! Every such printer knows these commands, and others would only reduce the choice of printers. The crate `escpos` is
//! not suitable: it owns the port and blocks, and it returns an error where a `?` is wanted. A character that the code
//! page cannot print becomes `?`. No outside character can become a control byte. Text is sent as 20 to 7E and, by the
//! code page's table, 80 to FF.

use crate::config::{CodePage, Cut};
use crate::logo::Logo;

use super::code::{self, QrLevel};
use super::code_page;
use super::layout::{Align, PrintedLine, Style};

const ESC: u8 = 0x1B;
const GS: u8 = 0x1D;
const LF: u8 = 0x0A;

/// The replacement for a character that is not in the code page.
const REPLACEMENT: u8 = b'?';
/// The space above and below a QR code, in lines. Four modules must stay white (ISO/IEC 18004, 9.1), which is at most
/// 32 dots, and two lines are 60 dots. The sides have enough space. The widest code takes 294 of at least 384 dots, and
/// needs 16 on each side.
const QUIET: [u8; 2] = [LF; 2];
/// Number of lines from the print head to the edge where paper is torn off. 5 lines of 30 dots are 19 mm, and printers
/// need 12 to 18 mm.
const TO_THE_EDGE: u8 = 5;

/// The content of one sheet of paper.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sheet<'a> {
    /// The picture at the head.
    pub logo: Option<&'a Logo>,
    /// The lines of the receipt.
    pub lines: &'a [PrintedLine],
    /// The content of the QR code at the foot. It has at most 362 bytes, which the configuration ensures.
    pub qr: Option<&'a str>,
    /// The paper still has the beginning of another receipt, which is cut off first.
    pub after_a_torn_one: bool,
}

/// The printer's variant of the commands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dialect {
    /// The code page: the characters of the bytes above 7F.
    pub code_page: CodePage,
    /// The number of the code page at this printer, if it differs from Epson's.
    pub code_page_number: Option<u8>,
    /// How the paper is cut.
    pub cut: Cut,
}

/// Returns the bytes that print the sheet and cut the paper.
#[must_use]
pub fn encode(sheet: &Sheet<'_>, dialect: &Dialect) -> Vec<u8> {
    let mut bytes = vec![ESC, b'@'];
    if sheet.after_a_torn_one {
        cut(dialect.cut, &mut bytes);
    }
    if let Some(number) = code_page::number(dialect.code_page).map(|usual| dialect.code_page_number.unwrap_or(usual)) {
        bytes.extend([ESC, b't', number]);
    }
    let (mut align, mut style) = (Align::Left, Style::Plain);
    if let Some(logo) = sheet.logo {
        turn(&mut align, Align::Centre, &mut bytes);
        raster(logo, &mut bytes);
    }
    for line in sheet.lines {
        turn(&mut align, line.align(), &mut bytes);
        if line.style() != style {
            set_style(style, line.style(), &mut bytes);
            style = line.style();
        }
        if let Some(code) = line.code() {
            bytes.extend(QUIET);
            code.encode(&mut bytes);
            bytes.extend(QUIET);
            continue;
        }
        bytes.extend(line.text().chars().map(|c| byte(c, dialect.code_page)));
        bytes.push(LF);
    }
    set_style(style, Style::Plain, &mut bytes);
    if let Some(content) = sheet.qr {
        turn(&mut align, Align::Centre, &mut bytes);
        bytes.extend(QUIET);
        code::qr(content.as_bytes(), QrLevel::Medium, &mut bytes);
        bytes.extend(QUIET);
    }
    cut(dialect.cut, &mut bytes);
    bytes
}

fn turn(from: &mut Align, to: Align, bytes: &mut Vec<u8>) {
    if *from != to {
        *from = to;
        let edge = match to {
            Align::Left => 0,
            Align::Centre => 1,
            Align::Right => 2,
        };
        bytes.extend([ESC, b'a', edge]);
    }
}

fn set_style(from: Style, to: Style, bytes: &mut Vec<u8>) {
    let bold = |style| u8::from(style != Style::Plain);
    let size = |style| match style {
        Style::Plain | Style::Bold => 0x00,
        Style::Tall => 0x01,
        Style::Big => 0x11,
    };
    if bold(from) != bold(to) {
        bytes.extend([ESC, b'E', bold(to)]);
    }
    if size(from) != size(to) {
        bytes.extend([GS, b'!', size(to)]);
    }
}

fn raster(logo: &Logo, bytes: &mut Vec<u8>) {
    let [x, y] = [logo.width().div_ceil(8), logo.height()]
        .map(|dots| u16::try_from(dots).expect("a logo has at most 576 x 384 dots").to_le_bytes());
    bytes.extend([GS, b'v', b'0', 0, x[0], x[1], y[0], y[1]]);
    bytes.extend(logo.rows());
}

fn cut(cut: Cut, bytes: &mut Vec<u8>) {
    match cut {
        Cut::Partial => bytes.extend([GS, b'V', b'B', 0]),
        Cut::Full => bytes.extend([GS, b'V', b'A', 0]),
        Cut::None => bytes.extend([ESC, b'd', TO_THE_EDGE]),
    }
}

/// Returns the byte of a character. It is never below 20 and never 7F.
fn byte(c: char, page: CodePage) -> u8 {
    match c {
        ' '..='~' => u8::try_from(c).expect("ASCII"),
        _ => code_page::byte(c, page).unwrap_or(REPLACEMENT),
    }
}

#[cfg(test)]
mod tests {
    //! The golden bytes come from the printers' command tables (Epson's ESC/POS reference) and are never edited to make
    //! a test pass.
    use super::*;
    use crate::logo::logo_file;

    fn hex_of(sheet: &Sheet<'_>, dialect: Dialect) -> String {
        hex::encode_upper(encode(sheet, &dialect))
    }

    #[test]
    fn a_short_receipt_byte_for_byte() {
        let lines = [
            PrintedLine::new("CAFÉ", Align::Centre, Style::Plain),
            PrintedLine::new("1.00 EUR", Align::Centre, Style::Big),
            PrintedLine::new("OK", Align::Centre, Style::Bold),
            PrintedLine::new("x", Align::Left, Style::Plain),
        ];
        let expected = [
            "1B40",                // ESC @
            "1B7413",              // ESC t 19
            "1B6101 43414690 0A",  // ESC a 1, É is 90 in PC858
            "1B4501 1D2111",       // ESC E 1, GS ! 17
            "312E303020455552 0A", //
            "1D2100 4F4B 0A",      // GS ! 0, still bold
            "1B6100 1B4500 78 0A", // ESC a 0, ESC E 0
            "1D564200",            // GS V B 0
        ];
        let sheet = Sheet { lines: &lines, ..Sheet::default() };
        assert_eq!(hex_of(&sheet, Dialect::default()), expected.concat().replace(' ', ""));
    }

    #[test]
    fn a_logo_byte_for_byte() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "P1 10 2 0111100111 0100000100").unwrap();
        let logo = logo_file(file.path()).unwrap();
        let lines = [PrintedLine::new("x", Align::Left, Style::Plain)];
        let expected = [
            "1B40",               // ESC @
            "1B6101",             // ESC a 1
            "1D763000 0200 0200", // GS v 0, m = 0, x = 2 bytes, y = 2 dots
            "79C0 4100",          // the rows; white beyond the width
            "1B6100 78 0A",       // ESC a 0
            "1D564200",           // GS V B 0
        ];
        let sheet = Sheet { logo: Some(&logo), lines: &lines, ..Sheet::default() };
        let dialect = Dialect { code_page: CodePage::Ascii, ..Dialect::default() };
        assert_eq!(hex_of(&sheet, dialect), expected.concat().replace(' ', ""));
    }

    #[test]
    fn a_qr_code_byte_for_byte() {
        let expected = [
            "1B40",                        // ESC @
            "1B6101 0A0A",                 // ESC a 1, four white modules
            "1D286B 0400 31 41 32 00",     // GS ( k function 165: model 2
            "1D286B 0300 31 43 08",        // function 167: 8 dots
            "1D286B 0300 31 45 31",        // function 169: level M
            "1D286B 0600 31 50 30 413D42", // function 180: store "A=B", 3 + 3 parameters
            "1D286B 0300 31 51 30",        // function 181: print
            "0A0A",                        // four white modules
            "1D564200",                    // GS V B 0
        ];
        let dialect = Dialect { code_page: CodePage::Ascii, ..Dialect::default() };
        let sheet = Sheet { qr: Some("A=B"), ..Sheet::default() };
        assert_eq!(hex_of(&sheet, dialect), expected.concat().replace(' ', ""));
        for (length, module, parameters) in
            [(62, "08", "4100"), (63, "06", "4200"), (152, "06", "9B00"), (153, "04", "9C00"), (362, "04", "6D01")]
        {
            let content = "x".repeat(length);
            let bytes = hex_of(&Sheet { qr: Some(&content), ..Sheet::default() }, dialect);
            assert!(bytes.contains(&format!("1D286B03003143{module}")), "{length}");
            assert!(bytes.contains(&format!("1D286B{parameters}315030")), "{length}");
        }
    }

    #[test]
    fn the_paper_is_cut_as_the_printer_can() {
        for (cut, bytes) in [(Cut::Partial, "1D564200"), (Cut::Full, "1D564100"), (Cut::None, "1B6405")] {
            let dialect = Dialect { code_page: CodePage::Ascii, cut, ..Dialect::default() };
            assert_eq!(hex_of(&Sheet::default(), dialect), format!("1B40{bytes}"));
            // The rest of the interrupted receipt is cut off first.
            let sheet = Sheet { after_a_torn_one: true, ..Sheet::default() };
            assert_eq!(hex_of(&sheet, dialect), format!("1B40{bytes}{bytes}"));
        }
    }

    #[test]
    fn the_code_page_is_chosen_as_the_printer_numbers_it() {
        for (code_page, code_page_number, start) in [
            (CodePage::Ascii, None, "1B401D"),
            (CodePage::Cp437, None, "1B401B74001D"),
            (CodePage::Cp850, None, "1B401B74021D"),
            (CodePage::Cp857, None, "1B401B740D1D"),
            (CodePage::Cp737, None, "1B401B740E1D"),
            (CodePage::Wpc1252, None, "1B401B74101D"),
            (CodePage::Cp866, None, "1B401B74111D"),
            (CodePage::Cp852, None, "1B401B74121D"),
            (CodePage::Cp858, None, "1B401B74131D"),
            (CodePage::Cp775, None, "1B401B74211D"),
            (CodePage::Wpc1250, None, "1B401B742D1D"),
            (CodePage::Wpc1251, None, "1B401B742E1D"),
            (CodePage::Wpc1253, None, "1B401B742F1D"),
            (CodePage::Wpc1254, None, "1B401B74301D"),
            (CodePage::Wpc1257, None, "1B401B74331D"),
            (CodePage::Wpc1252, Some(71), "1B401B74471D"),
        ] {
            let dialect = Dialect { code_page, code_page_number, ..Dialect::default() };
            assert!(hex_of(&Sheet::default(), dialect).starts_with(start), "{code_page:?}");
        }
    }

    #[test]
    fn no_character_becomes_a_control_byte() {
        for page in
            [CodePage::Ascii, CodePage::Cp437, CodePage::Cp858, CodePage::Cp866, CodePage::Wpc1252, CodePage::Wpc1257]
        {
            for c in ('\0'..='\u{FFFF}').chain(['\u{1F600}', char::MAX]) {
                let byte = byte(c, page);
                assert!(byte >= 0x20 && byte != 0x7F, "{c:?}");
                assert!(c != '?' || byte == b'?');
            }
        }
    }
}
