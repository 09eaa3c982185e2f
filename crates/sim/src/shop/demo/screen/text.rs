//! Breaks text for the screen between words, never inside a word. This file does not depend on the shop.

/// Breaks a text between words into lines of at most `width` characters. A word is broken only if it is longer than a
/// line.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        while !word.is_empty() {
            let line = lines.last_mut().expect("there is always a line");
            let used = line.chars().count();
            let blank = usize::from(used > 0);
            if used + blank + word.len() <= width {
                if blank == 1 {
                    line.push(' ');
                }
                line.extend(word.drain(..));
            } else if used > 0 {
                lines.push(String::new());
            } else {
                line.extend(word.drain(..width));
            }
        }
    }
    lines
}

/// Does the same as [`wrap`], with at most `rows` lines. A longer text ends with ` …` after a whole word.
pub(super) fn wrap_within(text: &str, width: usize, rows: usize) -> Vec<String> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let mut lines = wrap(text, width);
    while lines.len() > rows && words.pop().is_some() {
        lines = wrap(&format!("{} …", words.join(" ")), width);
    }
    lines
}

/// Turns a text into a sentence with a full stop at its end. The first letter becomes a capital, unless the first word
/// is a reference.
pub(super) fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut letters = text.chars();
    let is_word = text.split_whitespace().next().is_some_and(|word| !word.contains(|c: char| c.is_ascii_digit()));
    let capital = |first: char| if is_word { first.to_uppercase().to_string() } else { first.to_string() };
    let first = letters.next().map(capital).unwrap_or_default();
    let stop = if text.is_empty() || text.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

/// Returns the first visible row of a list of `length` with `rows` rows, so that the selected row is visible.
pub(super) fn window(chosen: usize, length: usize, rows: usize) -> usize {
    chosen.saturating_sub(rows / 2).min(length.saturating_sub(rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_between_words_and_loses_nothing() {
        assert_eq!(wrap("Insert, tap or swipe the card", 12), ["Insert, tap", "or swipe the", "card"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("ab", 0), ["a", "b"]);
    }

    #[test]
    fn what_is_left_out_is_left_out_after_a_whole_word() {
        assert_eq!(wrap_within("one two three", 7, 2), ["one two", "three"]);
        assert_eq!(wrap_within("one two three four", 7, 2), ["one two", "three …"]);
        assert_eq!(wrap_within("one two three", 9, 1), ["one two …"]);
        assert_eq!(wrap_within("one two three", 8, 1), ["one …"]);
    }

    #[test]
    fn a_remark_becomes_a_sentence() {
        assert_eq!(sentence("the reader is gone; plug it in"), "The reader is gone; plug it in.");
        assert_eq!(sentence("Is it? It is!"), "Is it? It is!");
        assert_eq!(sentence(" über"), "Über.");
        assert_eq!(sentence("demo-1: it holds no money"), "demo-1: it holds no money.");
        assert_eq!(sentence(""), "");
    }

    #[test]
    fn the_chosen_one_is_in_the_window() {
        for chosen in 0..14 {
            let first = window(chosen, 14, 5);
            assert!((first..first + 5).contains(&chosen) && first + 5 <= 14, "{chosen}: {first}");
        }
        assert_eq!(window(3, 4, 10), 0);
    }
}
