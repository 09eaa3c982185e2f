//! Text from outside (the gateway's `pos.statusText`, a card's label, a till's reference), made safe to show and to
//! print (design: invariant 9). The gateway client already removes control bytes; this module is the second barrier.
//!
//! This module does not encode text, because the printer handles code pages.

/// Removes control characters, bidirectional controls and zero-width characters from a text. Line feeds stay; tabs and
/// all kinds of spaces become a space. Typographic quotes and dashes become their ASCII forms. A receipt printer has no
/// others, and paper and screen must show the same text.
#[must_use]
pub fn text(outside: &str) -> String {
    let mut clean = String::with_capacity(outside.len());
    for c in outside.chars() {
        match c {
            '\n' | '\u{2028}' | '\u{2029}' => clean.push('\n'),
            '\t' | '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => {
                clean.push(' ')
            }
            '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}' => clean.push('\''),
            '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{201F}' => clean.push('"'),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => clean.push('-'),
            '\u{2026}' => clean.push_str("..."),
            c if c.is_control() || takes_no_room(c) => {}
            c => clean.push(c),
        }
    }
    clean
}

/// Cleans a text like [`text`], but on one line: line feeds become spaces.
#[must_use]
pub fn line(outside: &str) -> String {
    text(outside).replace('\n', " ").trim().to_owned()
}

/// Checks for invisible characters. Bidirectional controls could make `12.00` read as `00.21`. The others could hide
/// text, or make a line longer than it looks (Unicode: `Bidi_Control`, `Default_Ignorable_Code_Point`).
fn takes_no_room(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_bytes_and_hidden_characters_are_removed() {
        assert_eq!(text("PAY\u{1B}@ \u{7}20\u{7F}\u{9B}1m\r\nTHANKS\0"), "PAY@ 201m\nTHANKS");
        assert_eq!(text("\u{202E}00.21\u{202C} \u{2066}x\u{2069}\u{200E}\u{61C}"), "00.21 x");
        assert_eq!(text("a\u{200B}b\u{FEFF}c\u{AD}d\u{E0041}"), "abcd");
    }

    #[test]
    fn spaces_quotes_and_dashes_become_ascii() {
        assert_eq!(text("a\tb\u{A0}c\u{3000}d"), "a b c d");
        assert_eq!(text("“It’s” – 1…2 — „x‚"), "\"It's\" - 1...2 - \"x'");
        assert_eq!(line(" a\n\nb \u{2028}"), "a  b");
    }
}
