//! The byte of each character in each code page, and the pages' numbers for ESC t.
//!
//! The tables are Unicode's own (`MAPPINGS/VENDORS/MICSFT`; PC858 is PC850 with the euro sign). They cover 80 to FF,
//! with sixteen characters per row. A byte without a character is `\u{FFFD}`. The numbers are Epson's. The setting
//! `code-page-number` is for other makers, which use other numbers.

use crate::config::CodePage;

/// Returns the byte of a character outside ASCII, or `None` if the page does not contain the character.
pub(super) fn byte(c: char, page: CodePage) -> Option<u8> {
    let place = rows(page)?.iter().flat_map(|row| row.chars()).position(|known| known == c)?;
    u8::try_from(0x80 + place).ok().filter(|_| c != UNDEFINED)
}

/// Returns the number of a page for ESC t (Epson's ESC/POS reference, ESC t), or `None` for ASCII, which is the same on
/// every page.
pub(super) fn number(page: CodePage) -> Option<u8> {
    match page {
        CodePage::Ascii => None,
        CodePage::Cp437 => Some(0),
        CodePage::Cp850 => Some(2),
        CodePage::Cp857 => Some(13),
        CodePage::Cp737 => Some(14),
        CodePage::Wpc1252 => Some(16),
        CodePage::Cp866 => Some(17),
        CodePage::Cp852 => Some(18),
        CodePage::Cp858 => Some(19),
        CodePage::Cp775 => Some(33),
        CodePage::Wpc1250 => Some(45),
        CodePage::Wpc1251 => Some(46),
        CodePage::Wpc1253 => Some(47),
        CodePage::Wpc1254 => Some(48),
        CodePage::Wpc1257 => Some(51),
    }
}

/// The table entry for a byte that prints no defined character.
const UNDEFINED: char = '\u{FFFD}';

/// Each row has sixteen characters.
type Rows = [&'static str; 8];

fn rows(page: CodePage) -> Option<&'static Rows> {
    match page {
        CodePage::Ascii => None,
        CodePage::Cp437 => Some(&CP437),
        CodePage::Cp737 => Some(&CP737),
        CodePage::Cp775 => Some(&CP775),
        CodePage::Cp850 => Some(&CP850),
        CodePage::Cp852 => Some(&CP852),
        CodePage::Cp857 => Some(&CP857),
        CodePage::Cp858 => Some(&CP858),
        CodePage::Cp866 => Some(&CP866),
        CodePage::Wpc1250 => Some(&WPC1250),
        CodePage::Wpc1251 => Some(&WPC1251),
        CodePage::Wpc1252 => Some(&WPC1252),
        CodePage::Wpc1253 => Some(&WPC1253),
        CodePage::Wpc1254 => Some(&WPC1254),
        CodePage::Wpc1257 => Some(&WPC1257),
    }
}

/// PC437.
const CP437: Rows = [
    "ÇüéâäàåçêëèïîìÄÅ",
    "ÉæÆôöòûùÿÖÜ¢£¥₧ƒ",
    "áíóúñÑªº¿⌐¬½¼¡«»",
    "░▒▓│┤╡╢╖╕╣║╗╝╜╛┐",
    "└┴┬├─┼╞╟╚╔╩╦╠═╬╧",
    "╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀",
    "αßΓπΣσµτΦΘΩδ∞φε∩",
    "≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}",
];

/// PC737.
const CP737: Rows = [
    "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠ",
    "ΡΣΤΥΦΧΨΩαβγδεζηθ",
    "ικλμνξοπρσςτυφχψ",
    "░▒▓│┤╡╢╖╕╣║╗╝╜╛┐",
    "└┴┬├─┼╞╟╚╔╩╦╠═╬╧",
    "╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀",
    "ωάέήϊίόύϋώΆΈΉΊΌΎ",
    "Ώ±≥≤ΪΫ÷≈°∙·√ⁿ²■\u{A0}",
];

/// PC775.
const CP775: Rows = [
    "ĆüéāäģåćłēŖŗīŹÄÅ",
    "ÉæÆōöĢ¢ŚśÖÜø£Ø×¤",
    "ĀĪóŻżź”¦©®¬½¼Ł«»",
    "░▒▓│┤ĄČĘĖ╣║╗╝ĮŠ┐",
    "└┴┬├─┼ŲŪ╚╔╩╦╠═╬Ž",
    "ąčęėįšųūž┘┌█▄▌▐▀",
    "ÓßŌŃõÕµńĶķĻļņĒŅ’",
    "\u{AD}±“¾¶§÷„°∙·¹³²■\u{A0}",
];

/// PC850.
const CP850: Rows = [
    "ÇüéâäàåçêëèïîìÄÅ",
    "ÉæÆôöòûùÿÖÜø£Ø×ƒ",
    "áíóúñÑªº¿®¬½¼¡«»",
    "░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐",
    "└┴┬├─┼ãÃ╚╔╩╦╠═╬¤",
    "ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀",
    "ÓßÔÒõÕµþÞÚÛÙýÝ¯´",
    "\u{AD}±‗¾¶§÷¸°¨·¹³²■\u{A0}",
];

/// PC852.
const CP852: Rows = [
    "ÇüéâäůćçłëŐőîŹÄĆ",
    "ÉĹĺôöĽľŚśÖÜŤťŁ×č",
    "áíóúĄąŽžĘę¬źČş«»",
    "░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐",
    "└┴┬├─┼Ăă╚╔╩╦╠═╬¤",
    "đĐĎËďŇÍÎě┘┌█▄ŢŮ▀",
    "ÓßÔŃńňŠšŔÚŕŰýÝţ´",
    "\u{AD}˝˛ˇ˘§÷¸°¨˙űŘř■\u{A0}",
];

/// PC857.
const CP857: Rows = [
    "ÇüéâäàåçêëèïîıÄÅ",
    "ÉæÆôöòûùİÖÜø£ØŞş",
    "áíóúñÑĞğ¿®¬½¼¡«»",
    "░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐",
    "└┴┬├─┼ãÃ╚╔╩╦╠═╬¤",
    "ºªÊËÈ\u{FFFD}ÍÎÏ┘┌█▄¦Ì▀",
    "ÓßÔÒõÕµ\u{FFFD}×ÚÛÙìÿ¯´",
    "\u{AD}±\u{FFFD}¾¶§÷¸°¨·¹³²■\u{A0}",
];

/// PC858: PC850 with the euro sign at D5.
const CP858: Rows = [
    "ÇüéâäàåçêëèïîìÄÅ",
    "ÉæÆôöòûùÿÖÜø£Ø×ƒ",
    "áíóúñÑªº¿®¬½¼¡«»",
    "░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐",
    "└┴┬├─┼ãÃ╚╔╩╦╠═╬¤",
    "ðÐÊËÈ€ÍÎÏ┘┌█▄¦Ì▀",
    "ÓßÔÒõÕµþÞÚÛÙýÝ¯´",
    "\u{AD}±‗¾¶§÷¸°¨·¹³²■\u{A0}",
];

/// PC866.
const CP866: Rows = [
    "АБВГДЕЖЗИЙКЛМНОП",
    "РСТУФХЦЧШЩЪЫЬЭЮЯ",
    "абвгдежзийклмноп",
    "░▒▓│┤╡╢╖╕╣║╗╝╜╛┐",
    "└┴┬├─┼╞╟╚╔╩╦╠═╬╧",
    "╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀",
    "рстуфхцчшщъыьэюя",
    "ЁёЄєЇїЎў°∙·√№¤■\u{A0}",
];

/// WPC1250.
const WPC1250: Rows = [
    "€\u{FFFD}‚\u{FFFD}„…†‡\u{FFFD}‰Š‹ŚŤŽŹ",
    "\u{FFFD}‘’“”•–—\u{FFFD}™š›śťžź",
    "\u{A0}ˇ˘Ł¤Ą¦§¨©Ş«¬\u{AD}®Ż",
    "°±˛ł´µ¶·¸ąş»Ľ˝ľż",
    "ŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎ",
    "ĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢß",
    "ŕáâăäĺćçčéęëěíîď",
    "đńňóôőö÷řůúűüýţ˙",
];

/// WPC1251.
const WPC1251: Rows = [
    "ЂЃ‚ѓ„…†‡€‰Љ‹ЊЌЋЏ",
    "ђ‘’“”•–—\u{FFFD}™љ›њќћџ",
    "\u{A0}ЎўЈ¤Ґ¦§Ё©Є«¬\u{AD}®Ї",
    "°±Ііґµ¶·ё№є»јЅѕї",
    "АБВГДЕЖЗИЙКЛМНОП",
    "РСТУФХЦЧШЩЪЫЬЭЮЯ",
    "абвгдежзийклмноп",
    "рстуфхцчшщъыьэюя",
];

/// WPC1252.
const WPC1252: Rows = [
    "€\u{FFFD}‚ƒ„…†‡ˆ‰Š‹Œ\u{FFFD}Ž\u{FFFD}",
    "\u{FFFD}‘’“”•–—˜™š›œ\u{FFFD}žŸ",
    "\u{A0}¡¢£¤¥¦§¨©ª«¬\u{AD}®¯",
    "°±²³´µ¶·¸¹º»¼½¾¿",
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏ",
    "ÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞß",
    "àáâãäåæçèéêëìíîï",
    "ðñòóôõö÷øùúûüýþÿ",
];

/// WPC1253.
const WPC1253: Rows = [
    "€\u{FFFD}‚ƒ„…†‡\u{FFFD}‰\u{FFFD}‹\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}",
    "\u{FFFD}‘’“”•–—\u{FFFD}™\u{FFFD}›\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}",
    "\u{A0}΅Ά£¤¥¦§¨©\u{FFFD}«¬\u{AD}®―",
    "°±²³΄µ¶·ΈΉΊ»Ό½ΎΏ",
    "ΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟ",
    "ΠΡ\u{FFFD}ΣΤΥΦΧΨΩΪΫάέήί",
    "ΰαβγδεζηθικλμνξο",
    "πρςστυφχψωϊϋόύώ\u{FFFD}",
];

/// WPC1254.
const WPC1254: Rows = [
    "€\u{FFFD}‚ƒ„…†‡ˆ‰Š‹Œ\u{FFFD}\u{FFFD}\u{FFFD}",
    "\u{FFFD}‘’“”•–—˜™š›œ\u{FFFD}\u{FFFD}Ÿ",
    "\u{A0}¡¢£¤¥¦§¨©ª«¬\u{AD}®¯",
    "°±²³´µ¶·¸¹º»¼½¾¿",
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏ",
    "ĞÑÒÓÔÕÖ×ØÙÚÛÜİŞß",
    "àáâãäåæçèéêëìíîï",
    "ğñòóôõö÷øùúûüışÿ",
];

/// WPC1257.
const WPC1257: Rows = [
    "€\u{FFFD}‚\u{FFFD}„…†‡\u{FFFD}‰\u{FFFD}‹\u{FFFD}¨ˇ¸",
    "\u{FFFD}‘’“”•–—\u{FFFD}™\u{FFFD}›\u{FFFD}¯˛\u{FFFD}",
    "\u{A0}\u{FFFD}¢£¤\u{FFFD}¦§Ø©Ŗ«¬\u{AD}®Æ",
    "°±²³´µ¶·ø¹ŗ»¼½¾æ",
    "ĄĮĀĆÄÅĘĒČÉŹĖĢĶĪĻ",
    "ŠŃŅÓŌÕÖ×ŲŁŚŪÜŻŽß",
    "ąįāćäåęēčéźėģķīļ",
    "šńņóōõö÷ųłśūüżž˙",
];

#[cfg(test)]
mod tests {
    //! The expected bytes come from the pages' charts and are never edited to make a test pass.
    use super::*;

    const PAGES: [CodePage; 14] = [
        CodePage::Cp437,
        CodePage::Cp737,
        CodePage::Cp775,
        CodePage::Cp850,
        CodePage::Cp852,
        CodePage::Cp857,
        CodePage::Cp858,
        CodePage::Cp866,
        CodePage::Wpc1250,
        CodePage::Wpc1251,
        CodePage::Wpc1252,
        CodePage::Wpc1253,
        CodePage::Wpc1254,
        CodePage::Wpc1257,
    ];

    #[test]
    fn words_of_the_languages_that_the_pages_are_for() {
        for (page, word, bytes) in [
            (CodePage::Cp437, "Grüße", "47 72 81 E1 65"),
            (CodePage::Cp737, "Καλημέρα", "89 98 A2 9E A3 E2 A8 98"),
            (CodePage::Cp775, "Ačiū", "41 D1 69 D7"),
            (CodePage::Cp850, "Façade ñ", "46 61 87 61 64 65 20 A4"),
            (CodePage::Cp852, "Zażółć gęślą jaźń", "5A 61 BE A2 88 86 20 67 A9 98 6C A5 20 6A 61 AB E4"),
            (CodePage::Cp857, "Teşekkür ığİ", "54 65 9F 65 6B 6B 81 72 20 8D A7 98"),
            (CodePage::Cp858, "5 €", "35 20 D5"),
            (CodePage::Cp866, "Спасибо, ё", "91 AF A0 E1 A8 A1 AE 2C 20 F1"),
            (CodePage::Wpc1250, "Děkuji, łódź", "44 EC 6B 75 6A 69 2C 20 B3 F3 64 9F"),
            (CodePage::Wpc1251, "Дякую, їжак", "C4 FF EA F3 FE 2C 20 BF E6 E0 EA"),
            (CodePage::Wpc1252, "Œuvre à 5 €", "8C 75 76 72 65 20 E0 20 35 20 80"),
            (CodePage::Wpc1253, "Ευχαριστώ", "C5 F5 F7 E1 F1 E9 F3 F4 FE"),
            (CodePage::Wpc1254, "İyi günler ş", "DD 79 69 20 67 FC 6E 6C 65 72 20 FE"),
            (CodePage::Wpc1257, "Paldies, lūdzu", "50 61 6C 64 69 65 73 2C 20 6C FB 64 7A 75"),
        ] {
            let printed = word.chars().map(|c| if c.is_ascii() { c as u8 } else { byte(c, page).unwrap() });
            let bytes = hex::decode(bytes.replace(' ', "")).unwrap();
            assert_eq!(printed.collect::<Vec<u8>>(), bytes, "{word}");
        }
    }

    #[test]
    fn letters_that_one_page_has_and_another_has_not() {
        for (c, cp437, cp858) in [
            ('é', Some(0x82), Some(0x82)),
            ('¢', Some(0x9B), Some(0xBD)),
            ('¥', Some(0x9D), Some(0xBE)),
            ('°', Some(0xF8), Some(0xF8)),
            ('€', None, Some(0xD5)),
            ('Ø', None, Some(0x9D)),
            ('À', None, Some(0xB7)),
            ('╡', Some(0xB5), None),
            ('Ω', Some(0xEA), None),
            ('ł', None, None),
            ('日', None, None),
            ('\u{FFFD}', None, None),
        ] {
            assert_eq!((byte(c, CodePage::Cp437), byte(c, CodePage::Cp858)), (cp437, cp858), "{c}");
            assert_eq!(byte(c, CodePage::Ascii), None, "{c}");
        }
        assert!(PAGES.iter().all(|page| byte('\u{FFFD}', *page).is_none()));
    }

    #[test]
    fn the_tables_have_sixteen_to_a_row_and_none_twice() {
        for page in PAGES {
            let rows = rows(page).unwrap();
            assert!(rows.iter().all(|row| row.chars().count() == 16), "{page:?}");
            let all: Vec<char> = rows.iter().flat_map(|row| row.chars()).filter(|c| *c != UNDEFINED).collect();
            let different: std::collections::HashSet<&char> = all.iter().collect();
            assert_eq!(different.len(), all.len(), "{page:?}");
        }
    }
}
