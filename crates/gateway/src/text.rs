//! Cleans texts from the gateway, so that they can be printed, logged and shown safely (design: invariant 9).

use pos_terms::card::mask_pans;

/// The maximum number of characters in one text (interface: Point of sale).
pub(super) const MAX_TEXT: usize = 2048;

/// The maximum number of lines in one text: as many as the longest text fills on paper of 32 characters. Without this
/// limit, a text of line feeds would print metres of paper.
pub(super) const MAX_LINES: usize = 64;

/// The handling of line feeds in a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LineFeeds {
    /// Line feeds are kept (`pos.statusText`).
    Keep,
    /// Line feeds become spaces.
    Join,
}

/// Returns `text` without control characters (C0, DEL, C1) and without invisible characters that change how others are
/// shown (direction marks, zero-width characters). The result has at most [`MAX_TEXT`] characters; it is `None` if
/// nothing is left.
pub(super) fn clean(text: &str, lines: LineFeeds) -> Option<String> {
    let cleaned: String = text
        .chars()
        .filter_map(|c| match c {
            '\n' if lines == LineFeeds::Keep => Some('\n'),
            '\n' | '\t' => Some(' '),
            c if c.is_control() || is_invisible(c) => None,
            c => Some(c),
        })
        .collect();
    // PANs are masked before the text is cut, because a PAN across the cut would not be recognised.
    let cleaned: String = mask_pans(&cleaned).chars().take(MAX_TEXT).collect();
    (!cleaned.trim().is_empty()).then_some(cleaned)
}

/// Cleans like [`clean`], but keeps line feeds, for paper and for people. It keeps at most [`MAX_LINES`] lines and
/// marks a text that it cuts.
pub(super) fn clean_lines(text: &str) -> Option<String> {
    let text = clean(text, LineFeeds::Keep)?;
    let Some((cut, _)) = text.match_indices('\n').nth(MAX_LINES - 1) else { return Some(text) };
    // The mark is at the end of the last kept line.
    Some(format!("{}\u{2026}", text[..cut].trim_end()))
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
        assert_eq!(clean(given, LineFeeds::Keep).as_deref(), Some("Dank@e\nfür2J Ihren Einkauf !"));
        assert_eq!(clean(given, LineFeeds::Join).as_deref(), Some("Dank@e für2J Ihren Einkauf !"));
        assert_eq!(clean("\u{1B}\r\n ", LineFeeds::Keep), None);
        assert_eq!(clean(&"x".repeat(5000), LineFeeds::Keep).unwrap().len(), MAX_TEXT);
    }

    #[test]
    fn a_text_of_line_feeds_has_an_end_that_says_so() {
        let cut = clean_lines(&"a\n".repeat(1000)).unwrap();
        assert_eq!(cut.lines().count(), MAX_LINES);
        assert!(cut.ends_with("a\n a\u{2026}".replace(' ', "").as_str()));
        let whole = vec!["line"; MAX_LINES].join("\n");
        assert_eq!(clean_lines(&whole), Some(whole));
    }

    #[test]
    fn a_card_number_across_the_cut_is_masked_too() {
        let text = format!("{}4761739001010119", "x".repeat(MAX_TEXT - 14));
        assert!(clean(&text, LineFeeds::Keep).unwrap().ends_with("x476173******01"));
    }
}
