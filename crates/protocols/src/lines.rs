//! Wrapping of texts for printing.

/// Wraps a text into lines of at most `width` characters, at spaces if possible.
#[must_use]
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        while !word.is_empty() {
            let used = lines.last().map_or(0, |line| line.chars().count());
            let gap = usize::from(used > 0);
            if used + gap + word.len() <= width || used == 0 {
                let rest = word.split_off(word.len().min(width - used - gap));
                if let Some(line) = lines.last_mut() {
                    line.push_str(if gap > 0 { " " } else { "" });
                    line.extend(word);
                }
                word = rest;
                if word.is_empty() {
                    break;
                }
            }
            lines.push(String::new());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_divided_at_spaces_where_there_are_any() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("a reference-without-spaces", 10), ["a", "reference-", "without-sp", "aces"]);
        assert_eq!(wrapped("", 10), [""]);
    }
}
