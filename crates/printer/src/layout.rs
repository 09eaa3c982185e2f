//! Turns the rows of a receipt into lines that fit the paper. This module is pure. The same lines go to the printer and
//! to the screen.
//!
//! This module decides about width, line breaks and size. It contains no texts ([`super::receipt`]), no printer
//! commands and no code pages. A [`Page`] is the same for paper of any width. So it can be stored, and a later copy has
//! the same words as the first one.

use serde::{Deserialize, Serialize};

use super::code::Code;
use pos_words::clean;

/// The narrowest paper for which lines are laid out. A smaller number of characters counts as this one. The narrowest
/// real printers have 32 characters, and a line of the big size needs half of that.
pub const MIN_COLUMNS: u8 = 24;

/// Maximum number of lines of `pos.statusText`. The interface's longest text fills that many lines on paper of 32
/// characters, about a hand's length. A text that contains only line feeds must not print metres of paper.
const STATUS_LINES: usize = 64;
/// Maximum number of lines of any other text from outside: a reason, a brand, a code.
const OTHER_LINES: usize = 8;
/// The end of a text that was cut. Printers have no `…`.
const CUT: &str = "...";

/// One line on paper. Its text has no control characters and is not wider than the paper. For a code, the text is the
/// content of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintedLine {
    text: String,
    align: Align,
    style: Style,
    code: Option<Code>,
}

/// The horizontal position of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left edge.
    Left,
    /// In the middle.
    Centre,
    /// At the right edge.
    Right,
}

/// The style of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Normal text.
    Plain,
    /// Bold.
    Bold,
    /// Bold, double height.
    Tall,
    /// Bold, double height and double width. A character takes two columns.
    Big,
}

/// One copy of a receipt, independent of the paper's width.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    rows: Vec<ReceiptRow>,
    /// The word at both ends of a copy that was, or may have been, printed before.
    duplicate: String,
}

/// A part of a receipt. Texts from outside are cleaned when they become lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiptRow {
    /// A line across the paper.
    Rule,
    /// Text at the left edge, wrapped.
    Left(String),
    /// Text in the middle, wrapped. An empty text has no line.
    Centred(String),
    /// The same as `Centred`, in bold.
    Bold(String),
    /// The same as `Centred`, as big as the paper allows.
    Large(String),
    /// An amount, as big as the paper allows and never broken.
    Amount(String),
    /// A label at the left edge, and its value at the right edge.
    Pair(String, String),
    /// The gateway's own lines, with a rule above them.
    Status(String),
    /// Space for a signature, with a word above it.
    SignatureLine(String),
}

/// A till's own line, independent of the paper's width. It is not part of a receipt of this terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TillLine {
    /// The text. An empty text gives an empty line. Leading spaces are kept.
    pub text: String,
    /// The value at the right edge of the same line, if there is room. `text` is then its label.
    pub value: String,
    /// The position of `text`, if there is no `value`.
    pub align: Align,
    /// The style, if there is no `value`.
    pub style: Style,
    /// A code instead of `text`.
    pub code: Option<Code>,
}

/// Returns a till's own lines on paper of `columns` characters. Each is wrapped, and empty lines are kept.
#[must_use]
pub fn till_lines(lines: &[TillLine], columns: u8) -> Vec<PrintedLine> {
    let mut setter = Setter { columns: usize::from(columns.max(MIN_COLUMNS)), lines: Vec::new() };
    for line in lines {
        setter.till_line(line);
    }
    setter.lines
}

impl Page {
    pub(super) fn new(duplicate: &str) -> Self {
        Self { rows: Vec::new(), duplicate: duplicate.to_owned() }
    }

    pub(super) fn push(&mut self, row: ReceiptRow) {
        self.rows.push(row);
    }

    /// Returns the lines on paper of `columns` characters.
    #[must_use]
    pub fn lines(&self, columns: u8) -> Vec<PrintedLine> {
        let mut setter = Setter { columns: usize::from(columns.max(MIN_COLUMNS)), lines: Vec::new() };
        for row in &self.rows {
            setter.set(row);
        }
        setter.lines
    }

    /// Returns the rows without forbidden characters, and without rows that become empty.
    #[must_use]
    pub fn rows(&self) -> Vec<ReceiptRow> {
        self.rows.iter().filter_map(ReceiptRow::cleaned).collect()
    }

    /// Returns a copy with the duplicate mark, for a page that was, or may have been, printed before. The mark is at
    /// both ends, so that it remains when one end is torn off. The copy thus cannot be taken for a second transaction.
    #[must_use]
    pub fn as_duplicate(&self) -> Self {
        let mark = || ReceiptRow::Large(self.duplicate.clone());
        let rows = [mark()].into_iter().chain(self.rows.iter().cloned()).chain([mark()]).collect();
        Self { rows, duplicate: self.duplicate.clone() }
    }
}

impl ReceiptRow {
    /// Returns the row with the text that its lines will have, or `None` if it has no lines.
    fn cleaned(&self) -> Option<Self> {
        let line = |text: &str| Some(clean::line(text)).filter(|text| !text.is_empty());
        Some(match self {
            Self::Rule => Self::Rule,
            Self::Left(text) => Self::Left(line(text)?),
            Self::Centred(text) => Self::Centred(line(text)?),
            Self::Bold(text) => Self::Bold(line(text)?),
            Self::Large(text) => Self::Large(line(text)?),
            Self::Amount(text) => Self::Amount(line(text)?),
            Self::Pair(label, value) => Self::Pair(clean::line(label), clean::line(value)),
            Self::Status(text) => Self::Status(Some(clean::text(text)).filter(|text| !text.trim().is_empty())?),
            Self::SignatureLine(word) => Self::SignatureLine(clean::line(word)),
        })
    }
}

impl PrintedLine {
    /// Creates a line of text and removes forbidden characters. The caller limits its width.
    pub(super) fn new(text: &str, align: Align, style: Style) -> Self {
        let text = clean::text(text).replace('\n', " ").trim_end().to_owned();
        Self { text, align, style, code: None }
    }

    /// Returns the code, if the line has one instead of text.
    #[must_use]
    pub fn code(&self) -> Option<&Code> {
        self.code.as_ref()
    }

    /// Returns the text, without control characters and trailing spaces.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the position.
    #[must_use]
    pub fn align(&self) -> Align {
        self.align
    }

    /// Returns the style.
    #[must_use]
    pub fn style(&self) -> Style {
        self.style
    }

    /// Returns the number of columns that the line takes.
    #[must_use]
    pub fn width(&self) -> usize {
        width(&self.text) * if self.style == Style::Big { 2 } else { 1 }
    }
}

/// The lines laid out so far.
struct Setter {
    columns: usize,
    lines: Vec<PrintedLine>,
}

impl Setter {
    fn set(&mut self, row: &ReceiptRow) {
        match row {
            ReceiptRow::Rule => self.rule(),
            ReceiptRow::Left(text) => {
                for line in wrap_to(OTHER_LINES, &clean::line(text), self.columns) {
                    self.left(&line);
                }
            }
            ReceiptRow::Centred(text) => self.centred(text, Style::Plain),
            ReceiptRow::Bold(text) => self.outcome(text),
            ReceiptRow::Large(text) if width(&clean::line(text)) * 2 <= self.columns => self.centred(text, Style::Big),
            ReceiptRow::Large(text) => self.centred(text, Style::Tall),
            ReceiptRow::Amount(amount) => self.amount(amount),
            ReceiptRow::Pair(label, value) => self.pair(label, value),
            ReceiptRow::Status(text) => self.status(text),
            ReceiptRow::SignatureLine(word) => {
                self.left(word);
                self.left("");
                self.left("");
                self.left(&format!("X{}", "_".repeat(self.columns - 1)));
            }
        }
    }

    fn till_line(&mut self, line: &TillLine) {
        let TillLine { text, value, align, style, code } = line;
        if let Some(code) = code {
            let line = PrintedLine::new(code.content(), *align, Style::Plain);
            return self.lines.push(PrintedLine { code: Some(code.clone()), ..line });
        }
        if !value.is_empty() {
            return self.pair(&clean::line(text), value);
        }
        let text = clean::text(text).replace('\n', " ");
        let room = if *style == Style::Big { self.columns / 2 } else { self.columns };
        let lines = wrap_to(OTHER_LINES, &text, room);
        if lines.is_empty() {
            self.left("");
        }
        for line in lines {
            let line = if *align == Align::Left { line.as_str() } else { line.trim() };
            self.lines.push(PrintedLine::new(line, *align, *style));
        }
    }

    fn status(&mut self, text: &str) {
        let lines = wrap_to(STATUS_LINES, &clean::text(text), self.columns);
        if !lines.is_empty() {
            self.rule();
        }
        self.lines.extend(lines.iter().map(|line| PrintedLine::new(line, Align::Left, Style::Plain)));
    }

    fn left(&mut self, text: &str) {
        self.lines.push(PrintedLine::new(text, Align::Left, Style::Plain));
    }

    fn rule(&mut self) {
        self.left(&"-".repeat(self.columns));
    }

    /// Adds text in the middle, wrapped. An empty text adds no line.
    fn centred(&mut self, text: &str, style: Style) {
        for line in wrap_to(OTHER_LINES, &clean::line(text), self.columns) {
            self.lines.push(PrintedLine::new(line.trim(), Align::Centre, style));
        }
    }

    /// Adds the words of an outcome. If they do not fit on one line, they are broken after the comma: on a line of its
    /// own, the last word of "NOT CONFIRMED, BEING REVERSED" would be a different outcome.
    fn outcome(&mut self, text: &str) {
        let text = clean::line(text);
        match text.split_once(", ") {
            Some((first, rest)) if width(&text) > self.columns && width(first) < self.columns => {
                self.centred(&format!("{first},"), Style::Bold);
                self.centred(rest, Style::Bold);
            }
            _ => self.centred(&text, Style::Bold),
        }
    }

    fn amount(&mut self, amount: &str) {
        let style = if width(amount) * 2 <= self.columns { Style::Big } else { Style::Tall };
        self.lines.push(PrintedLine::new(amount, Align::Centre, style));
    }

    /// Adds a label and its value on one line, or on separate lines if they do not fit.
    fn pair(&mut self, label: &str, value: &str) {
        let value = clean::line(value);
        let room = self.columns.saturating_sub(width(label));
        if width(&value) < room {
            return self.left(&format!("{label}{value:>room$}"));
        }
        self.left(label);
        for line in wrap_to(OTHER_LINES, &value, self.columns) {
            let right = self.columns;
            self.left(&format!("{:>right$}", line.trim()));
        }
    }
}

/// Returns the number of characters, which all have the same width on a receipt printer.
fn width(text: &str) -> usize {
    text.chars().count()
}

/// Wraps like [`wrap`], to at most `most` lines. A text that was cut ends with a mark.
fn wrap_to(most: usize, text: &str, columns: usize) -> Vec<String> {
    let mut lines = wrap(text, columns);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            let kept: String = last.chars().take(columns - CUT.len()).collect();
            *last = format!("{}{CUT}", kept.trim_end());
        }
    }
    lines
}

/// Breaks text into lines of at most `columns` characters. A line that fits stays unchanged, including its spaces. A
/// longer line is broken between words, and a word that is longer than the paper is broken too. To save paper, several
/// empty lines become one, and empty lines at the ends are removed.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for source in text.split('\n').map(str::trim_end) {
        if source.is_empty() {
            if lines.last().is_some_and(|last| !last.is_empty()) {
                lines.push(String::new());
            }
        } else if width(source) <= columns {
            lines.push(source.to_owned());
        } else {
            break_between_words(source, columns, &mut lines);
        }
    }
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

fn break_between_words(source: &str, columns: usize, lines: &mut Vec<String>) {
    let mut line = String::new();
    for word in source.split_whitespace() {
        if !line.is_empty() {
            if width(&line) + 1 + width(word) <= columns {
                line.push(' ');
                line.push_str(word);
                continue;
            }
            lines.push(std::mem::take(&mut line));
        }
        for c in word.chars() {
            if width(&line) == columns {
                lines.push(std::mem::take(&mut line));
            }
            line.push(c);
        }
    }
    lines.push(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setter(columns: usize) -> Setter {
        Setter { columns, lines: Vec::new() }
    }

    #[test]
    fn text_is_broken_between_words_and_long_words_inside() {
        for (text, lines) in [
            ("one two three", vec!["one two", "three"]),
            ("a  b", vec!["a  b"]),
            ("  x   12.00", vec!["x 12.00"]),
            ("abcdefghijkl", vec!["abcdefgh", "ijkl"]),
            ("ab cdefghijklm n", vec!["ab", "cdefghij", "klm n"]),
            ("\n\na\n\n\n\nb\n\n", vec!["a", "", "b"]),
            ("", vec![]),
            (" \n ", vec![]),
        ] {
            assert_eq!(wrap(text, 8), lines, "{text:?}");
        }
    }

    #[test]
    fn a_text_takes_only_so_much_paper_and_says_that_it_was_cut() {
        let status = |text: &str| {
            let mut page = setter(32);
            page.status(text);
            // These are the lines without the rule above them.
            page.lines.iter().skip(1).map(|line| line.text().to_owned()).collect::<Vec<_>>()
        };
        let long = status(&"a\n".repeat(1024));
        assert_eq!((long.len(), long.last().map(String::as_str)), (STATUS_LINES, Some("a...")));
        let whole = status(&"x".repeat(2048));
        assert!(whole.len() == STATUS_LINES && whole.iter().all(|line| line.len() == 32 && !line.ends_with(CUT)));
        let wide = status(&"x".repeat(2049));
        assert!(
            wide.len() == STATUS_LINES && wide.last().is_some_and(|last| last.len() == 32 && last.ends_with("x..."))
        );

        let mut page = setter(32);
        page.centred(&"no ".repeat(700), Style::Plain);
        page.pair("Brand", &"x".repeat(2000));
        assert_eq!(page.lines.len(), 2 * OTHER_LINES + 1);
        assert!(page.lines.iter().all(|line| line.width() <= 32));
    }

    #[test]
    fn a_tills_own_lines_are_wrapped_and_keep_their_empty_ones() {
        let line = |text: &str, value: &str, align, style| TillLine {
            text: text.to_owned(),
            value: value.to_owned(),
            align,
            style,
            code: None,
        };
        let lines = [
            line("  two in", "", Align::Left, Style::Plain),
            line("", "", Align::Centre, Style::Bold),
            line("VOUCHER of the shop", "", Align::Centre, Style::Big),
            line("\u{1B}@right\n", "", Align::Right, Style::Plain),
            line("Points", "120", Align::Left, Style::Plain),
        ];
        let printed = till_lines(&lines, 24);
        let texts: Vec<_> = printed.iter().map(|line| (line.text(), line.align(), line.style())).collect();
        let expected = [
            ("  two in", Align::Left, Style::Plain),
            ("", Align::Left, Style::Plain),
            ("VOUCHER of", Align::Centre, Style::Big),
            ("the shop", Align::Centre, Style::Big),
            ("@right", Align::Right, Style::Plain),
            ("Points               120", Align::Left, Style::Plain),
        ];
        assert_eq!(texts, expected);
        let long = till_lines(&[line(&"x ".repeat(2000), "", Align::Left, Style::Big)], 32);
        assert_eq!(long.len(), OTHER_LINES);
        assert!(long.iter().all(|line| line.width() <= 32), "{long:?}");
    }

    #[test]
    fn a_label_and_its_value_share_a_line_only_with_a_space_between() {
        let mut page = setter(10);
        page.pair("Name", "12345");
        page.pair("Name", "123456");
        page.pair("Name", "123456789AB");
        let text: Vec<_> = page.lines.iter().map(PrintedLine::text).collect();
        assert_eq!(text, ["Name 12345", "Name", "    123456", "Name", "123456789A", "         B"]);
    }

    #[test]
    fn the_largest_amount_is_not_broken_on_narrow_paper() {
        let mut page = setter(32);
        page.amount("999999999.99 EUR");
        page.amount("9999999999.99 EUR");
        let styles: Vec<_> = page.lines.iter().map(|line| (line.style(), line.width())).collect();
        assert_eq!(styles, [(Style::Big, 32), (Style::Tall, 17)]);
    }

    #[test]
    fn a_page_that_was_kept_is_the_same_on_any_paper() {
        let rows = [
            ReceiptRow::Large("Shop".to_owned()),
            ReceiptRow::Rule,
            ReceiptRow::Pair("Date".to_owned(), "20.11.2026".to_owned()),
            ReceiptRow::Amount("12,34 EUR".to_owned()),
            ReceiptRow::Status("one\ntwo".to_owned()),
            ReceiptRow::SignatureLine("Unterschrift:".to_owned()),
        ];
        let page = Page { rows: rows.to_vec(), duplicate: "KOPIE".to_owned() };
        let kept: Page = serde_json::from_str(&serde_json::to_string(&page).unwrap()).unwrap();
        assert_eq!(kept, page);
        for columns in [32, 42] {
            let lines = kept.as_duplicate().lines(columns);
            assert_eq!(lines, page.as_duplicate().lines(columns));
            assert_eq!([lines.first(), lines.last()].map(|line| line.map(PrintedLine::text)), [Some("KOPIE"); 2]);
        }
    }
}
