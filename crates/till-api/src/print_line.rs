//! A till's own lines for the terminal's printer.

use serde::Serialize;

/// Maximum number of lines in one request.
pub const MOST_LINES: usize = 200;

/// One line, in the form of the agent's `LineToPrint`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PrintLine {
    /// The text. An empty text is an empty line.
    pub text: String,
    /// The text at the right edge of the same line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// The alignment.
    pub align: Align,
    /// The style.
    pub style: Style,
    /// The kind of code as which the text is printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<PrintCode>,
}

impl PrintLine {
    /// Maximum number of characters in a text that the agent accepts.
    pub const LONGEST: usize = 256;

    /// Splits the line into lines that the agent accepts. A longer text continues in the next line, if possible at a
    /// space. A code always stays on one line.
    #[must_use]
    pub fn in_parts(self) -> Vec<Self> {
        if self.code.is_some() {
            return vec![self];
        }
        let Self { text, value, align, style, .. } = self;
        let line = |text, align| Self { text, align, style, ..Self::default() };
        let mut lines: Vec<Self> = parts(&text).into_iter().map(|text| line(text, align)).collect();
        let mut values = parts(&value).into_iter();
        if let (Some(last), Some(first)) = (lines.last_mut(), values.next()) {
            last.value = first;
        }
        lines.extend(values.map(|text| line(text, Align::Right)));
        lines
    }

    /// Creates a plain line at the left edge.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// Splits a text into pieces that are not too long. An empty text is one piece.
fn parts(text: &str) -> Vec<String> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((longest, _)) = rest.char_indices().nth(PrintLine::LONGEST) {
        let (head, _) = rest.split_at(longest);
        let (piece, from) = match head.rfind(' ').filter(|at| *at > 0) {
            Some(at) => (&head[..at], at + 1),
            None => (head, longest),
        };
        parts.push(piece.to_owned());
        rest = &rest[from..];
    }
    parts.push(rest.to_owned());
    parts
}

/// The alignment of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Align {
    /// At the left edge.
    #[default]
    Left,
    /// In the middle.
    Centre,
    /// At the right edge.
    Right,
}

/// The style of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// Normal.
    #[default]
    Plain,
    /// Bold.
    Bold,
    /// Bold and twice as high.
    Tall,
    /// Bold, twice as high and twice as wide.
    Big,
}

/// A bar code or QR code, in the form of the agent's `LineCode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrintCode {
    /// EAN-8.
    #[serde(rename = "ean-8")]
    Ean8,
    /// EAN-13.
    #[serde(rename = "ean-13")]
    Ean13,
    /// UPC-A.
    UpcA,
    /// Interleaved 2 of 5.
    #[serde(rename = "code-25")]
    Code25,
    /// Code 128.
    #[serde(rename = "code-128")]
    Code128,
    /// PDF417.
    #[serde(rename = "pdf-417")]
    Pdf417,
    /// QR code, level M.
    Qr,
    /// QR code, level L.
    QrLow,
    /// QR code, level Q.
    QrQuartile,
    /// QR code, level H.
    QrHigh,
}

impl PrintCode {
    /// All kinds of code.
    pub const ALL: [Self; 10] = [
        Self::Ean8,
        Self::Ean13,
        Self::UpcA,
        Self::Code25,
        Self::Code128,
        Self::Pdf417,
        Self::Qr,
        Self::QrLow,
        Self::QrQuartile,
        Self::QrHigh,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_goes_on_in_the_next_one_and_loses_nothing() {
        let words = "word ".repeat(120);
        let lines = PrintLine { value: "9,99".to_owned(), ..PrintLine::plain(words.trim_end()) }.in_parts();
        assert!(lines.iter().all(|line| line.text.chars().count() <= PrintLine::LONGEST));
        let again: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(again.join(" "), words.trim_end());
        assert_eq!((lines.len(), lines.last().map(|line| line.value.as_str())), (3, Some("9,99")));
        // A text without a space is cut between characters.
        let lines = PrintLine::plain("ü".repeat(257)).in_parts();
        assert_eq!(lines.iter().map(|line| line.text.chars().count()).collect::<Vec<_>>(), [256, 1]);
        assert_eq!(PrintLine::default().in_parts(), [PrintLine::default()]);
    }
}
