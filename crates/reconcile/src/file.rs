//! The settlement file as lines: a header that defines the columns, and one record on each following line (interface:
//! Reconciliation file).
//!
//! A record ends with its line, even inside quotes. An unclosed quote therefore does not swallow the following rows,
//! and the line numbers are those that an editor shows. The document does not mention quotes. `"a;b"` and
//! `"say ""hi"""` are read as usual. `row.rs` defines the meaning of a value.

use std::fmt;
use std::io::{self, BufRead, Read};

use chrono::NaiveDate;

use super::row::{Column, RowFault, SettlementRow};
use pos_gateway_model::{self as parameter, Format, Need};

/// The maximum length of a line, in bytes. The document's columns take about 9 KiB if each is at its longest and in
/// four-byte characters.
const LONGEST_LINE: usize = 16 * 1024;
/// The maximum number of columns in a header: four times that of the document.
const MOST_COLUMNS: usize = 150;
/// The separator of fields after their quotes are removed: the ASCII unit separator, which no text contains.
const UNIT_SEPARATOR: char = '\u{1F}';

/// The reason why a file cannot be reconciled at all.
#[derive(Debug, thiserror::Error)]
pub enum HeaderError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// The first line is not text of an acceptable length.
    #[error("line 1, the header, {0}")]
    Header(RowFault),
    /// A required column is missing in the header.
    #[error(
        "line 1, the header, lacks {}; use the reconciliation file from the gateway, separated by semicolons, with its header",
        names.join(", ")
    )]
    Missing {
        /// All missing columns.
        names: Vec<&'static str>,
    },
    /// A column occurs twice, so it is unknown which one counts.
    #[error("line 1, the header, names {name} twice; keep one of the columns")]
    Twice {
        /// The name of the column.
        name: &'static str,
    },
    /// There are more columns than any such file has.
    #[error("line 1, the header, has more than {MOST_COLUMNS} columns; use the reconciliation file from the gateway")]
    TooManyColumns,
}

/// A file whose header has been read.
#[derive(Debug)]
pub struct SettlementFile<R> {
    lines: Lines<R>,
    /// The column of each field in a line.
    columns: Vec<FileColumn>,
    unquoted: String,
}

/// A column of this file.
#[derive(Debug)]
struct FileColumn {
    /// The column, or `None` if it is not used.
    column: Option<Column>,
    /// The document's definition of the column, if no other code checks its values.
    documented: Option<&'static parameter::Row>,
    /// The first line with an invalid value, and the number of such lines.
    wrong: Option<(u64, u64)>,
}

impl FileColumn {
    fn named(name: &str) -> Self {
        let column = Column::named(name);
        let is_judged = column.is_some_and(Column::is_judged);
        let name = match column {
            Some(column) => column.name(),
            None => name.trim_ascii(),
        };
        let mut rows = parameter::all().map(|known| known.row);
        let documented = rows.find(|row| !is_judged && row.column.is_some_and(|known| known == name));
        Self { column, documented, wrong: None }
    }

    /// Records a value that the document does not permit. An optional value may be missing. Of the required values,
    /// only our own reference may be missing, because the payment id can replace it.
    fn judge(&mut self, value: &str, line: u64) {
        let Some(row) = self.documented else { return };
        let fits = match value {
            "" => row.need != Need::Required || self.column == Some(Column::TransactionId),
            // A list of payments. The document does not define its separator.
            _ if row.name.contains("[n]") => value.split(',').all(|one| row.format.fits(one.trim_ascii())),
            _ => row.format.fits(value),
        };
        if !fits {
            let (first, lines) = self.wrong.unwrap_or((line, 0));
            self.wrong = Some((first, lines + 1));
        }
    }
}

/// A column whose values are not as documented. The values are not repeated, because they may include the holder of an
/// account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongColumn {
    /// The name of the column.
    pub name: &'static str,
    /// The documented format.
    pub must_be: Format,
    /// The first line with such a value.
    pub line: u64,
    /// The number of lines with such a value.
    pub lines: u64,
}

impl fmt::Display for WrongColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} must be {}", self.name, self.must_be)?;
        if self.lines > 1 { write!(f, ", but is not on {} lines", self.lines) } else { Ok(()) }
    }
}

/// One record of the file.
#[derive(Debug)]
pub struct SettlementLine<'a> {
    /// The line number, counted from 1; the header is line 1.
    pub number: u64,
    /// The parsed row.
    pub row: Result<SettlementRow<'a>, RowFault>,
}

impl<R: BufRead> SettlementFile<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// See [`HeaderError`].
    pub fn open(input: R) -> Result<Self, HeaderError> {
        let mut lines = Lines { input, bytes: Vec::new(), number: 0 };
        let header = match lines.next()? {
            Some(header) => header.map_err(HeaderError::Header)?,
            None => "",
        };
        let header = header.strip_prefix('\u{FEFF}').unwrap_or(header);
        let mut unquoted = String::new();
        let (header, separator) = fields(header, &mut unquoted).map_err(HeaderError::Header)?;
        let columns: Vec<_> = header.split(separator).take(MOST_COLUMNS + 1).map(FileColumn::named).collect();
        if columns.len() > MOST_COLUMNS {
            return Err(HeaderError::TooManyColumns);
        }
        let known = || columns.iter().filter_map(|found| found.column);
        let has = |column| known().filter(|found| *found == column).count();
        if let Some(twice) = known().find(|column| has(*column) > 1) {
            return Err(HeaderError::Twice { name: twice.name() });
        }
        let mut missing: Vec<_> =
            Column::NEEDED.iter().filter(|column| has(**column) == 0).map(|column| column.name()).collect();
        if has(Column::TransactionId) + has(Column::UniqueId) == 0 {
            missing.push("TransactionId or UniqueID");
        }
        if !missing.is_empty() {
            return Err(HeaderError::Missing { names: missing });
        }
        Ok(Self { lines, columns, unquoted })
    }

    /// Returns whether the rows contain our own reference, which names the terminal.
    #[must_use]
    pub fn has_transaction_ids(&self) -> bool {
        self.columns.iter().any(|found| found.column == Some(Column::TransactionId))
    }

    /// Returns the columns with values that the document does not permit, in the lines read so far.
    pub fn wrong_columns(&self) -> impl Iterator<Item = WrongColumn> {
        self.columns.iter().filter_map(|column| {
            let ((line, lines), row) = (column.wrong?, column.documented?);
            Some(WrongColumn { name: row.column?, must_be: row.format, line, lines })
        })
    }

    /// Returns the next record, or `None` at the end of the file. Empty lines are skipped.
    ///
    /// # Errors
    /// Returns an error if reading the file fails. An invalid line is not such an error.
    #[allow(clippy::should_implement_trait, reason = "a row borrows the line it stands in, which no Iterator can say")]
    pub fn next(&mut self) -> io::Result<Option<SettlementLine<'_>>> {
        let Some(line) = self.lines.next_that_is_not_empty()? else {
            return Ok(None);
        };
        let row = std::str::from_utf8(&self.lines.bytes)
            .map_err(|_| RowFault::NotUtf8)
            .and_then(|text| if line.too_long { Err(RowFault::TooLong { most: LONGEST_LINE }) } else { Ok(text) })
            .and_then(|text| fields(text, &mut self.unquoted))
            .and_then(|(text, separator)| {
                let mut values = [""; Column::COUNT];
                let mut found = 0_usize;
                for value in text.split(separator) {
                    if let Some(FileColumn { column: Some(column), .. }) = self.columns.get(found) {
                        values[*column as usize] = value.trim_ascii();
                    }
                    found += 1;
                }
                // One field too many or too few would shift all following fields, so an amount would be read from the
                // wrong column.
                if found != self.columns.len() {
                    return Err(RowFault::Fields { found, expected: self.columns.len() });
                }
                for (column, value) in self.columns.iter_mut().zip(text.split(separator)) {
                    column.judge(value.trim_ascii(), line.number);
                }
                SettlementRow::read(&values)
            });
        Ok(Some(SettlementLine { number: line.number, row }))
    }
}

/// A reader of lines with a bounded length, for any file.
#[derive(Debug)]
struct Lines<R> {
    input: R,
    /// The current line, without its line end.
    bytes: Vec<u8>,
    number: u64,
}

struct Counted {
    number: u64,
    too_long: bool,
}

impl<R: BufRead> Lines<R> {
    fn next(&mut self) -> io::Result<Option<Result<&str, RowFault>>> {
        let Some(Counted { too_long, .. }) = self.read()? else {
            return Ok(None);
        };
        if too_long {
            return Ok(Some(Err(RowFault::TooLong { most: LONGEST_LINE })));
        }
        Ok(Some(std::str::from_utf8(&self.bytes).map_err(|_| RowFault::NotUtf8)))
    }

    fn next_that_is_not_empty(&mut self) -> io::Result<Option<Counted>> {
        loop {
            match self.read()? {
                Some(Counted { too_long: false, .. }) if self.bytes.is_empty() => {}
                line => return Ok(line),
            }
        }
    }

    /// Reads one line. A line that is too long is discarded.
    fn read(&mut self) -> io::Result<Option<Counted>> {
        let mut too_long = false;
        loop {
            self.bytes.clear();
            // This includes room for the line end.
            let most = LONGEST_LINE as u64 + 2;
            let length = self.input.by_ref().take(most).read_until(b'\n', &mut self.bytes)?;
            if length == 0 && !too_long {
                return Ok(None);
            }
            let ended = self.bytes.pop_if(|last| *last == b'\n').is_some();
            if ended {
                self.bytes.pop_if(|last| *last == b'\r');
            }
            too_long |= self.bytes.len() > LONGEST_LINE;
            if ended || length == 0 || !too_long {
                break;
            }
        }
        if too_long {
            self.bytes.clear();
        }
        self.number += 1;
        Ok(Some(Counted { number: self.number, too_long }))
    }
}

/// Returns the line in a form that can be split, and the separator.
fn fields<'a>(line: &'a str, unquoted: &'a mut String) -> Result<(&'a str, char), RowFault> {
    if !line.contains('"') {
        return Ok((line, ';'));
    }
    unquoted.clear();
    let mut rest = line;
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            rest = unquote(quoted, unquoted)?;
        } else {
            let (field, _) = rest.split_at(rest.find(';').unwrap_or(rest.len()));
            unquoted.push_str(field);
            rest = &rest[field.len()..];
        }
        match rest.strip_prefix(';') {
            Some(next) => {
                unquoted.push(UNIT_SEPARATOR);
                rest = next;
            }
            None => return Ok((unquoted, UNIT_SEPARATOR)),
        }
    }
}

/// Reads one field after its opening quote. Returns the rest of the line after its closing quote, which is empty or
/// begins with `;`.
fn unquote<'a>(mut rest: &'a str, field: &mut String) -> Result<&'a str, RowFault> {
    loop {
        let (text, behind) = rest.split_once('"').ok_or(RowFault::Quote)?;
        field.push_str(text);
        match behind.strip_prefix('"') {
            Some(doubled) => {
                field.push('"');
                rest = doubled;
            }
            None if behind.is_empty() || behind.starts_with(';') => return Ok(behind),
            None => return Err(RowFault::Quote),
        }
    }
}

/// Returns the date at the start of a text: `2026-11-20`, either alone or before a time (interface: date).
#[must_use]
pub fn date(text: &str) -> Option<NaiveDate> {
    let (day, time) = text.split_at_checked(10)?;
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *day.as_bytes() else {
        return None;
    };
    let number = |digits: &[u8]| {
        let digit = |sum: u32, digit: &u8| digit.is_ascii_digit().then(|| sum * 10 + u32::from(*digit - b'0'));
        digits.iter().try_fold(0, digit)
    };
    let year = number(&[y1, y2, y3, y4]).filter(|year| (1900..2100).contains(year))?;
    let is_whole = time.is_empty() || time.starts_with([' ', 'T']);
    NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, number(&[m1, m2])?, number(&[d1, d2])?).filter(|_| is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Result<Vec<String>, RowFault> {
        let mut unquoted = String::new();
        let (text, separator) = fields(line, &mut unquoted)?;
        Ok(text.split(separator).map(str::to_owned).collect())
    }

    #[test]
    fn quotes_are_read_within_their_line() {
        assert_eq!(split("a;b;").unwrap(), ["a", "b", ""]);
        assert_eq!(split(r#""a;b";"say ""hi""";c"d"#).unwrap(), ["a;b", "say \"hi\"", "c\"d"]);
        assert_eq!(split(r#"x;"""#).unwrap(), ["x", ""]);
        for wrong in [r#""a;b"#, r#""a"b;c"#, r#"a;""#, "\"\"\""] {
            assert_eq!(split(wrong), Err(RowFault::Quote), "{wrong}");
        }
    }

    #[test]
    fn a_line_has_a_longest_length_and_is_counted_all_the_same() {
        let long = |length: usize| format!("{}\r\nb\n", "x".repeat(length));
        for (text, expected) in [
            (long(LONGEST_LINE), vec![(1, false, LONGEST_LINE), (2, false, 1)]),
            (long(LONGEST_LINE + 1), vec![(1, true, 0), (2, false, 1)]),
            (long(LONGEST_LINE * 5), vec![(1, true, 0), (2, false, 1)]),
            ("a\n\n\r\nb".to_owned(), vec![(1, false, 1), (2, false, 0), (3, false, 0), (4, false, 1)]),
            ("x".repeat(LONGEST_LINE * 3), vec![(1, true, 0)]),
        ] {
            let mut lines = Lines { input: text.as_bytes(), bytes: Vec::new(), number: 0 };
            let mut found = Vec::new();
            while let Some(Counted { number, too_long }) = lines.read().unwrap() {
                found.push((number, too_long, lines.bytes.len()));
            }
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn dates_are_those_of_the_document() {
        let day = NaiveDate::from_ymd_opt(2026, 11, 20);
        for good in ["2026-11-20", "2026-11-20 23:59:59", "2026-11-20T23:59:59Z"] {
            assert_eq!(date(good), day, "{good}");
        }
        for wrong in
            ["", "20.11.2026", "2026-11-2", "2026-13-01", "2026-02-30", "1826-11-20", "2026-11-200", "2026-1١-20"]
        {
            assert_eq!(date(wrong), None, "{wrong}");
        }
    }
}
