//! Help texts in 80 columns, which every terminal window has.

use std::io::{self, Write as _};

/// The longest line.
const COLUMNS: usize = 79;
/// The last column at which a description may begin. After it, the lines would be too short.
const LAST_BEGIN: usize = 40;

/// Writes a help text to standard output, or a fault of the command line to standard error. A closed output makes no
/// difference.
pub fn tell(text: &str, is_fault: bool) {
    let text = fitted(text);
    let _ = if is_fault { io::stderr().write_all(text.as_bytes()) } else { io::stdout().write_all(text.as_bytes()) };
}

/// Breaks the lines that are too long. A broken line continues below its description. A fault stays on one line, as in
/// every other message.
fn fitted(text: &str) -> String {
    let mut fitted = String::with_capacity(text.len());
    for line in text.lines() {
        let columns = if line.starts_with("error: ") { usize::MAX } else { COLUMNS };
        let begin = description(line);
        let mut column = 0;
        for word in line.split_inclusive(' ') {
            let width = word.trim_end().chars().count();
            if width > 0 && column > begin && column + width > columns {
                fitted.truncate(fitted.trim_end_matches(' ').len());
                fitted.push('\n');
                fitted.extend(std::iter::repeat_n(' ', begin));
                column = begin;
            }
            fitted.push_str(word);
            column += word.chars().count();
        }
        fitted.push('\n');
    }
    fitted
}

/// Returns the column at which a line's description begins: after the first gap in the line, as in a list of options.
/// In a line without a gap, it is the first word.
fn description(line: &str) -> usize {
    let word = line.len() - line.trim_start().len();
    let gap = line[word..].find("  ").map(|gap| &line[word + gap..]);
    let begin = gap.map_or(word, |gap| line.len() - gap.trim_start().len());
    if begin > LAST_BEGIN { word } else { begin }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_continues_below_its_description() {
        let wide = "a".repeat(40);
        for (before, first, indent) in [
            ("", 8, 0),
            ("          ", 7, 10),
            ("      --json  ", 6, 14),
            ("   7  ", 7, 6),
            // The gap is too far to the right for another column.
            (&format!("  {wide}  "), 3, 2),
        ] {
            let words = |count: usize| vec!["nine-word"; count].join(" ");
            let broken = format!("{before}{}\n{:indent$}{}\n", words(first), "", words(10 - first));
            assert_eq!(fitted(&format!("{before}{}", words(10))), broken);
        }
    }

    #[test]
    fn a_text_that_fits_and_a_word_that_cannot_be_broken_stay() {
        let fits = "Usage: x [OPTIONS]\n\nOptions:\n      --a <B>\n          The …\n          \n          [0]\n";
        assert_eq!(fitted(fits), fits);
        let word = "x".repeat(100);
        assert_eq!(fitted(&format!("  {word} {word}")), format!("  {word}\n  {word}\n"));
        let fault = format!("error: {}\n", "a fault ".repeat(20));
        assert_eq!(fitted(&fault), fault);
        let umlauts = "ü".repeat(COLUMNS);
        assert_eq!(fitted(&umlauts), format!("{umlauts}\n"));
    }
}
