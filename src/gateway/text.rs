//! Texts from the gateway made harmless: what is left can be printed, logged and shown (design: invariant 9).

use crate::card::mask_pans;

/// Most characters of one text (interface: Point of sale, up to 2048).
pub(super) const MAX_TEXT: usize = 2048;

/// Whether line feeds are part of the text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// They are kept (`pos.statusText`).
    Keep,
    /// They become spaces.
    Join,
}

/// `text` without control characters (C0, DEL, C1) and without characters that show nothing and change how others are shown
/// (direction marks, zero-width characters), at most [`MAX_TEXT`] characters; `None` when nothing is left.
pub(super) fn clean(text: &str, lines: Lines) -> Option<String> {
    let cleaned: String = text
        .chars()
        .filter_map(|c| match c {
            '\n' if lines == Lines::Keep => Some('\n'),
            '\n' | '\t' => Some(' '),
            c if c.is_control() || is_invisible(c) => None,
            c => Some(c),
        })
        .take(MAX_TEXT)
        .collect();
    // Whoever wrote a PAN into it, it goes no further.
    let cleaned = mask_pans(&cleaned);
    (!cleaned.trim().is_empty()).then_some(cleaned)
}

fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_printer_or_a_terminal_is_left() {
        let given = "Dank\u{1B}@e\r\nfür\u{9B}2J Ihren\u{202E} Ein\u{200B}kauf\u{7F}\0\t!";
        assert_eq!(clean(given, Lines::Keep).as_deref(), Some("Dank@e\nfür2J Ihren Einkauf !"));
        assert_eq!(clean(given, Lines::Join).as_deref(), Some("Dank@e für2J Ihren Einkauf !"));
        assert_eq!(clean("\u{1B}\r\n ", Lines::Keep), None);
        assert_eq!(clean(&"x".repeat(5000), Lines::Keep).unwrap().len(), MAX_TEXT);
    }
}
