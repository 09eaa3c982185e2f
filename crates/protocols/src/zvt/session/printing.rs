//! Printing on the terminal's printer for the till (`06 D1`, `06 D3`), and texts for the terminal's display (`06 E0`).
//! The session collects lines up to the one marked as the last, and prints them as one slip.
//!
//! If the till sends no last line, or continues with another command, the collected lines are printed anyway.

use std::time::Duration;

use crate::zvt::answer::attribute;
use crate::zvt::bmp::Fields;
use crate::zvt::command::Command;
use crate::zvt::text::Charset;
use crate::zvt::tlv;
use pos_till_api::{Align, MOST_LINES, PrintLine, Style};

/// Time to wait for the next line.
const NEXT_LINE: Duration = Duration::from_secs(2);
/// The attribute of `06 D1` for paper feeds (ZVT PA00P015, 3.1.2).
const FEEDS: u8 = 0xFF;
/// The reserved bit. Alone, it does not mark a last line.
const RESERVED: u8 = 0x80;
/// Maximum number of feeds in one command. A larger number is a mistake, or would empty the roll.
const MOST_FEEDS: u8 = 20;

/// Maximum length of a line in bytes. With its indent, such a line is not too long for the terminal. On any paper it
/// fills several lines.
const LONGEST: usize = 240;

/// Maximum number of characters in a text to show: more than any reader can display.
const MOST_SHOWN: usize = 500;

/// Lines collected until the last line of their slip.
#[derive(Debug, Default)]
pub(super) struct LinesOfTill {
    lines: Vec<PrintLine>,
    until: Option<Duration>,
}

/// The error of a block with more lines than fit on the slip. No line of the slip is kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl LinesOfTill {
    /// Adds the lines of a command. Returns all lines after the last one, or if there is no room for more.
    ///
    /// # Errors
    /// Returns [`TooLong`] if a line would otherwise be lost silently.
    pub(super) fn add(
        &mut self,
        command: &Command,
        charset: Charset,
        now: Duration,
    ) -> Result<Option<Vec<PrintLine>>, TooLong> {
        let is_last = match command {
            Command::PrintLine { attribute, text } => self.line(*attribute, text, charset),
            Command::PrintBlock(fields) => self.block(fields, charset)?,
            _ => false,
        };
        self.until = Some(now + NEXT_LINE);
        Ok(if is_last || self.lines.len() >= MOST_LINES { Some(self.take()) } else { None })
    }

    /// Removes and returns the collected lines.
    pub(super) fn take(&mut self) -> Vec<PrintLine> {
        self.until = None;
        let mut lines = std::mem::take(&mut self.lines);
        lines.truncate(MOST_LINES);
        lines
    }

    /// Returns the deadline for the next line, or `None` if no lines are collected.
    pub(super) fn until(&self) -> Option<Duration> {
        self.until
    }

    /// Adds one line and returns whether it is the last one.
    fn line(&mut self, looks: u8, text: &[u8], charset: Charset) -> bool {
        if looks == FEEDS {
            let feeds = text.first().copied().unwrap_or(1).min(MOST_FEEDS);
            self.lines.extend((0..feeds).map(|_| PrintLine::default()));
            return false;
        }
        let is_last = looks & RESERVED != 0 && looks != RESERVED;
        // The last line of most tills is empty.
        if !(is_last && text.is_empty()) {
            self.lines.push(line(looks, text, charset));
        }
        is_last
    }

    /// Adds a block `25 { 09 attribute, 07 text, … }`. An attribute applies until the next one.
    fn block(&mut self, fields: &Fields, charset: Charset) -> Result<bool, TooLong> {
        let (mut looks, mut is_last) = (attribute::NORMAL, false);
        for object in tlv::walk(fields.tlv(&[0x25]).unwrap_or_default()).map_while(Result::ok) {
            match object.tag {
                0x09 => {
                    looks = object.value.first().copied().unwrap_or(attribute::NORMAL);
                    is_last |= looks & RESERVED != 0 && looks != RESERVED;
                }
                0x07 if self.lines.len() >= MOST_LINES => {
                    self.take();
                    return Err(TooLong);
                }
                0x07 => self.lines.push(line(looks, object.value, charset)),
                _ => {}
            }
        }
        Ok(is_last)
    }
}

/// Reads the text of `06 E0`: its lines are F1 to F8, or the texts of TLV 24.
pub(super) fn text_to_show(fields: &Fields, charset: Charset) -> String {
    let lines = (0xF1..=0xF8).filter_map(|bmp| fields.get(bmp).map(<[u8]>::to_vec));
    let texts = tlv::walk(fields.tlv(&[0x24]).unwrap_or_default()).map_while(Result::ok);
    let texts = texts.filter(|object| object.tag == 0x07).map(|object| object.value.to_vec());
    let lines: Vec<String> = lines.chain(texts).map(|text| charset.decode(&text)).collect();
    lines.join("\n").chars().take(MOST_SHOWN).collect()
}

/// Builds one line with the style of its attribute.
fn line(looks: u8, text: &[u8], charset: Charset) -> PrintLine {
    let centred = looks & attribute::CENTRE != 0;
    let indent = if centred { 0 } else { usize::from(looks & 0x0F) };
    // In the attribute of a last line, these bits have another meaning: they say whose copy ends.
    let (centred, indent) = if looks & RESERVED == 0 { (centred, indent) } else { (false, 0) };
    let style = match looks {
        _ if looks & RESERVED != 0 => Style::Plain,
        _ if looks & attribute::WIDE != 0 => Style::Big,
        _ if looks & attribute::HIGH != 0 => Style::Tall,
        _ => Style::Plain,
    };
    PrintLine {
        text: format!("{}{}", " ".repeat(indent), charset.decode(text.get(..LONGEST).unwrap_or(text))),
        align: if centred { Align::Centre } else { Align::Left },
        style,
        ..PrintLine::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zvt::apdu::{Apdu, Control};

    fn command(control: Control, data: &[u8]) -> Command {
        Command::read(&Apdu::new(control, data.to_vec())).unwrap()
    }

    #[test]
    fn lines_are_collected_up_to_the_last_one() {
        let mut waiting = LinesOfTill::default();
        let mut add =
            |data: &[u8]| waiting.add(&command(Control::PRINT_LINE, data), Charset::default(), Duration::from_secs(7));
        for data in [&b"\x40VOUCHER"[..], b"\x70BIG", b"\x03indented", b"\x00", b"\xFF\x02", b"\x80reserved"] {
            assert_eq!(add(data), Ok(None));
        }
        let lines = add(b"\x81").unwrap().unwrap();
        let shown: Vec<_> = lines.iter().map(|line| (line.text.as_str(), line.align, line.style)).collect();
        let plain = |text| (text, Align::Left, Style::Plain);
        let expected = [
            ("VOUCHER", Align::Centre, Style::Plain),
            ("BIG", Align::Centre, Style::Big),
            plain("   indented"),
            plain(""),
            plain(""),
            plain(""),
            plain("reserved"),
        ];
        assert_eq!(shown, expected);
        assert_eq!(waiting.until(), None);
    }

    #[test]
    fn a_block_has_its_attributes_and_may_be_one_of_several() {
        let mut waiting = LinesOfTill::default();
        let first = [0x06, 0x10, 0x1F, 0x07, 1, 2, 0x25, 0x0A, 0x09, 1, 0x40, 0x07, 1, b'A', 0x07, 2, b'B', b'C'];
        let last = [0x06, 0x08, 0x25, 0x06, 0x07, 1, b'D', 0x09, 1, 0x81];
        let now = Duration::from_secs(1);
        assert_eq!(waiting.add(&command(Control::PRINT_BLOCK, &first), Charset::default(), now), Ok(None));
        assert_eq!(waiting.until(), Some(Duration::from_secs(3)));
        let lines = waiting.add(&command(Control::PRINT_BLOCK, &last), Charset::default(), now).unwrap().unwrap();
        let shown: Vec<_> = lines.iter().map(|line| (line.text.as_str(), line.align)).collect();
        assert_eq!(shown, [("A", Align::Centre), ("BC", Align::Centre), ("D", Align::Left)]);
    }

    #[test]
    fn a_text_to_show_has_its_lines() {
        let text = |data: &[u8]| match command(Control::DISPLAY_TEXT, data) {
            Command::DisplayText(fields) => text_to_show(&fields, Charset::default()),
            other => panic!("{other:?}"),
        };
        assert_eq!(text(b"\xF0\x05\xF2\xF0\xF3two\xF1\xF0\xF3one"), "one\ntwo");
        assert_eq!(text(&[0x06, 7, 0x24, 5, 0x07, 3, b'o', b'n', b'e']), "one");
        assert_eq!(text(&[]), "");
    }

    #[test]
    fn a_till_that_never_ends_its_slip_fills_no_memory() {
        let mut waiting = LinesOfTill::default();
        let feeds = command(Control::PRINT_LINE, &[0xFF, 0xFF]);
        let printed = (0..11).find_map(|_| waiting.add(&feeds, Charset::default(), Duration::ZERO).unwrap()).unwrap();
        assert_eq!(printed.len(), MOST_LINES);
        let mut lines = vec![0x25, 0x82, 0x02, 0x5B];
        lines.extend([0x07, 1, b'x'].repeat(MOST_LINES + 1));
        let mut block = vec![0x06, 0x82, 0x02, 0x5F];
        block.extend(lines);
        let block = command(Control::PRINT_BLOCK, &block);
        assert_eq!(waiting.add(&block, Charset::default(), Duration::ZERO), Err(TooLong));
        assert!(waiting.take().is_empty() && waiting.until().is_none());
    }
}
