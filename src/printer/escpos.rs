//! Lines to ESC/POS, the command language of receipt printers. Pure: lines in, bytes out.
//!
//! | bytes | command | here |
//! |---|---|---|
//! | `1B 40` | ESC @: initialise | first, so that nothing of the job before is left |
//! | `1B 74 n` | ESC t: code page | CP437 is 0, CP858 is 19; none for ASCII |
//! | `1B 61 n` | ESC a: 0 left, 1 centre | where a line stands |
//! | `1B 45 n` | ESC E: bold | |
//! | `1D 21 n` | GS !: size, width in the high and height in the low four bits | the amount |
//! | `0A` | LF: print the line | |
//! | `1D 56 42 n` | GS V B: feed to the cutter and n more, cut leaving one point | end |
//!
//! Seven commands that every such printer knows; more would only narrow the choice of printers. What the code page cannot
//! print becomes `?`, and no character from outside can become a control byte: what is emitted for text is 20 to 7E and, by
//! the code page's table, 80 to FF.

use crate::config::CodePage;

use super::layout::{Align, Line, Style};

const ESC: u8 = 0x1B;
const GS: u8 = 0x1D;
const LF: u8 = 0x0A;

/// What stands for a character that the code page does not have.
const REPLACEMENT: u8 = b'?';

/// The bytes that print the lines and cut the paper.
#[must_use]
pub fn encode(lines: &[Line], code_page: CodePage) -> Vec<u8> {
    let mut bytes = vec![ESC, b'@'];
    match code_page {
        CodePage::Ascii => {}
        CodePage::Cp437 => bytes.extend([ESC, b't', 0]),
        CodePage::Cp858 => bytes.extend([ESC, b't', 19]),
    }
    let (mut align, mut style) = (Align::Left, Style::Plain);
    for line in lines {
        if line.align() != align {
            align = line.align();
            bytes.extend([ESC, b'a', u8::from(align == Align::Centre)]);
        }
        if line.style() != style {
            set_style(style, line.style(), &mut bytes);
            style = line.style();
        }
        bytes.extend(line.text().chars().map(|c| byte(c, code_page)));
        bytes.push(LF);
    }
    bytes.extend([GS, b'V', b'B', 0]);
    bytes
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

/// The byte of a character; never below 20, never 7F.
fn byte(c: char, code_page: CodePage) -> u8 {
    let upper_half: &[&str; 8] = match code_page {
        _ if matches!(c, ' '..='~') => return u8::try_from(c).expect("ASCII"),
        CodePage::Ascii => return REPLACEMENT,
        CodePage::Cp437 => &CP437,
        CodePage::Cp858 => &CP858,
    };
    let place = upper_half.iter().flat_map(|row| row.chars()).position(|known| known == c);
    place.and_then(|place| u8::try_from(0x80 + place).ok()).unwrap_or(REPLACEMENT)
}

/// 80 to FF of PC437, sixteen to a row. FF is the no-break space.
const CP437: [&str; 8] = [
    "ÇüéâäàåçêëèïîìÄÅ",
    "ÉæÆôöòûùÿÖÜ¢£¥₧ƒ",
    "áíóúñÑªº¿⌐¬½¼¡«»",
    "░▒▓│┤╡╢╖╕╣║╗╝╜╛┐",
    "└┴┬├─┼╞╟╚╔╩╦╠═╬╧",
    "╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀",
    "αßΓπΣσµτΦΘΩδ∞φε∩",
    "≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}",
];

/// 80 to FF of PC858: PC850 with the euro sign at D5. F0 is the soft hyphen, FF the no-break space.
const CP858: [&str; 8] = [
    "ÇüéâäàåçêëèïîìÄÅ",
    "ÉæÆôöòûùÿÖÜø£Ø×ƒ",
    "áíóúñÑªº¿®¬½¼¡«»",
    "░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐",
    "└┴┬├─┼ãÃ╚╔╩╦╠═╬¤",
    "ðÐÊËÈ€ÍÎÏ┘┌█▄¦Ì▀",
    "ÓßÔÒõÕµþÞÚÛÙýÝ¯´",
    "\u{AD}±‗¾¶§÷¸°¨·¹³²■\u{A0}",
];

#[cfg(test)]
mod tests {
    //! The golden bytes are typed from the printers' command tables and are never edited to make a test pass.
    use super::*;

    #[test]
    fn a_short_receipt_byte_for_byte() {
        let lines = [
            Line::new("CAFÉ", Align::Centre, Style::Plain),
            Line::new("1.00 EUR", Align::Centre, Style::Big),
            Line::new("OK", Align::Centre, Style::Bold),
            Line::new("x", Align::Left, Style::Plain),
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
        assert_eq!(hex::encode_upper(encode(&lines, CodePage::Cp858)), expected.concat().replace(' ', ""));
    }

    #[test]
    fn the_code_page_is_chosen_as_the_printer_numbers_it() {
        for (code_page, start) in
            [(CodePage::Ascii, "1b401d"), (CodePage::Cp437, "1b401b74001d"), (CodePage::Cp858, "1b401b74131d")]
        {
            assert!(hex::encode(encode(&[], code_page)).starts_with(start));
        }
    }

    #[test]
    fn letters_above_7f_by_the_code_pages() {
        for (c, cp437, cp858) in [
            ('é', 0x82, 0x82),
            ('Ü', 0x9A, 0x9A),
            ('ß', 0xE1, 0xE1),
            ('ñ', 0xA4, 0xA4),
            ('£', 0x9C, 0x9C),
            ('¢', 0x9B, 0xBD),
            ('¥', 0x9D, 0xBE),
            ('°', 0xF8, 0xF8),
            ('€', b'?', 0xD5),
            ('Ø', b'?', 0x9D),
            ('À', b'?', 0xB7),
            ('Í', b'?', 0xD6),
            ('ã', b'?', 0xC6),
            ('╡', 0xB5, b'?'),
            ('Ω', 0xEA, b'?'),
            ('ł', b'?', b'?'),
            ('日', b'?', b'?'),
        ] {
            assert_eq!((byte(c, CodePage::Cp437), byte(c, CodePage::Cp858)), (cp437, cp858), "{c}");
            assert_eq!(byte(c, CodePage::Ascii), b'?', "{c}");
        }
    }

    #[test]
    fn no_character_becomes_a_control_byte() {
        for code_page in [CodePage::Ascii, CodePage::Cp437, CodePage::Cp858] {
            for c in ('\0'..='\u{FFFF}').chain(['\u{1F600}', char::MAX]) {
                let byte = byte(c, code_page);
                assert!(byte >= 0x20 && byte != 0x7F, "{c:?}");
                assert!(c != '?' || byte == b'?');
            }
        }
    }

    #[test]
    fn the_tables_have_sixteen_to_a_row_and_none_twice() {
        for table in [CP437, CP858] {
            assert!(table.iter().all(|row| row.chars().count() == 16));
            let different: std::collections::HashSet<char> = table.iter().flat_map(|row| row.chars()).collect();
            assert_eq!(different.len(), 128);
        }
    }
}
