//! A parser of the receipt printers' command language. It turns bytes, in chunks of any size, into lines of text and a
//! drawing.
//!
//! It knows the manuals' commands for receipts, including some that the agent never sends, and shares no code with the
//! agent. An unknown byte or command is counted, and appears on the paper as `<1B 3F>`. The text does not show the size
//! or weight of letters. As on paper, a double-width letter takes two columns, and a line that is too long continues on
//! the next line. The text shows the size of a picture and the content of a code. The drawing also shows only the
//! content of a code, except for a QR code.

use std::fmt::Write;

use super::bars::Bars;
use super::code_page::Page;
use super::drawing::{Align, Cell, Strip};

/// The paper and the state of the print head.
#[derive(Debug)]
pub struct Paper {
    columns: usize,
    /// The beginning of a command whose rest has not arrived.
    command: Vec<u8>,
    code_page: Option<Page>,
    align: Align,
    bold: bool,
    /// The scale factors for width and height.
    size: (usize, usize),
    qr: Qr,
    bars: Bars,
    pdf417: Vec<u8>,
    /// The cells of the current line, and their width.
    line: Vec<Cell>,
    room: usize,
    /// The lines since the last cut.
    lines: Vec<String>,
    strips: Vec<Strip>,
    cut: Vec<Receipt>,
    errors: usize,
    /// The number of lines printed since the roll was inserted.
    fed: usize,
}

/// A piece of paper that was cut off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// The text on the piece, as a person reads it.
    pub text: String,
    /// The picture of the piece.
    pub(super) strips: Vec<Strip>,
}

/// The settings of GS ( k.
#[derive(Clone, Debug)]
struct Qr {
    module: usize,
    level: u8,
    content: Vec<u8>,
}

impl Default for Qr {
    fn default() -> Self {
        Self { module: 3, level: b'0', content: Vec::new() }
    }
}

/// The completeness of a command.
enum Reading {
    /// The beginning of a command, without its end.
    Incomplete,
    /// A whole command or character.
    Whole,
    /// An unknown command.
    Unknown,
}

impl Paper {
    /// Makes an empty roll with `columns` characters per line.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self {
            columns: columns.max(1),
            command: Vec::new(),
            code_page: Some(Page::FIRST),
            align: Align::Left,
            bold: false,
            size: (1, 1),
            qr: Qr::default(),
            bars: Bars::default(),
            pdf417: Vec::new(),
            line: Vec::new(),
            room: 0,
            lines: Vec::new(),
            strips: Vec::new(),
            cut: Vec::new(),
            errors: 0,
            fed: 0,
        }
    }

    /// Prints bytes, and returns the printer's answers to them.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut answer = Vec::new();
        for byte in bytes {
            self.command.push(*byte);
            match read(&self.command) {
                Reading::Incomplete => continue,
                Reading::Whole => self.obey(&mut answer),
                Reading::Unknown => self.show_unknown(),
            }
            self.command.clear();
        }
        answer
    }

    /// Loses power. Settings and incomplete commands are lost, but the print stays on the paper.
    pub fn power_off(&mut self) {
        self.command.clear();
        self.initialise();
    }

    /// Returns the receipts cut since the last call.
    pub fn take_cut(&mut self) -> Vec<Receipt> {
        std::mem::take(&mut self.cut)
    }

    /// Returns the lines on the paper since the last cut.
    #[must_use]
    pub fn uncut(&self) -> String {
        self.lines.concat()
    }

    /// Returns the number of unknown commands and bytes.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Returns the number of lines printed so far.
    #[must_use]
    pub fn fed(&self) -> usize {
        self.fed
    }

    /// Carries out the whole command in `self.command`.
    fn obey(&mut self, answer: &mut Vec<u8>) {
        match *self.command.as_slice() {
            [LF] => self.end_line(),
            [HT] => self.tab(),
            [ESC, b'@'] => self.initialise(),
            [ESC, b't', n] => self.code_page(n),
            [ESC, b'a', n] => self.align(n),
            [ESC, b'E' | b'G', n] => self.bold = n & 1 != 0,
            [ESC, b'!', n] => {
                self.bold = n & 0x08 != 0;
                self.size = (if n & 0x20 != 0 { 2 } else { 1 }, if n & 0x10 != 0 { 2 } else { 1 });
            }
            [ESC, b'd', n] => self.feed_lines(usize::from(n)),
            [ESC, b'J', _] if !self.line.is_empty() => self.end_line(),
            [GS, b'!', n] => self.size = (usize::from(n >> 4) % 8 + 1, usize::from(n & 0x07) + 1),
            [GS, b'V', ..] => self.cut(),
            [GS, b'v', b'0', _, xl, xh, yl, yh, ..] => self.raster(word(xl, xh), word(yl, yh)),
            [GS, b'(', b'k', _, _, b'1', function, ..] => self.qr(function),
            [GS, b'(', b'k', _, _, b'0', function, ..] => self.pdf417(function),
            [GS, b'w', module @ 2..=6] => self.bars.module = usize::from(module),
            [GS, b'w', _] => self.show_unknown(),
            [GS, b'k', kind, _, ..] => self.bar_code(kind),
            // The printer has enough paper.
            [GS, b'r', _] => answer.push(0x00),
            // These commands were answered on arrival, or have no visible effect: underline, spacing, font, colours,
            // drawer, status reports.
            [ESC | GS | DLE, ..] | [CR] => {}
            [byte] => self.character(byte),
            _ => {}
        }
    }

    fn initialise(&mut self) {
        self.code_page = Some(Page::FIRST);
        self.align = Align::Left;
        self.bold = false;
        self.size = (1, 1);
        self.qr = Qr::default();
        self.bars = Bars::default();
        self.pdf417.clear();
        self.line.clear();
        self.room = 0;
    }

    fn code_page(&mut self, n: u8) {
        self.code_page = Page::by_number(n);
        if self.code_page.is_none() {
            self.show_unknown();
        }
    }

    /// Sets the alignment, which takes effect only at the beginning of a line.
    fn align(&mut self, n: u8) {
        if !self.line.is_empty() {
            return;
        }
        match n {
            0 | b'0' => self.align = Align::Left,
            1 | b'1' => self.align = Align::Centre,
            2 | b'2' => self.align = Align::Right,
            _ => self.show_unknown(),
        }
    }

    fn character(&mut self, byte: u8) {
        match byte {
            b' '..=b'~' => self.set(char::from(byte)),
            0x80.. => match self.code_page.and_then(|page| page.character(byte)) {
                Some(c) => self.set(c),
                None => self.show_unknown(),
            },
            _ => self.show_unknown(),
        }
    }

    fn set(&mut self, c: char) {
        let (wide, high) = self.size;
        if self.room + wide > self.columns && self.room > 0 {
            self.end_line();
        }
        self.line.push(Cell { c, bold: self.bold, wide, high });
        self.room += wide;
    }

    /// Moves to the next column that is a multiple of eight.
    fn tab(&mut self) {
        for _ in 0..8 - self.line.len() % 8 {
            self.set(' ');
        }
    }

    fn end_line(&mut self) {
        let cells = std::mem::take(&mut self.line);
        let text: String = cells.iter().map(|cell| cell.c).collect();
        self.put_line(text.trim_end());
        self.strips.push(Strip::Text { cells, align: self.align });
        self.room = 0;
    }

    fn put_line(&mut self, text: &str) {
        let free = self.columns.saturating_sub(text.chars().count());
        let indent = match self.align {
            _ if text.is_empty() => 0,
            Align::Left => 0,
            Align::Centre => free / 2,
            Align::Right => free,
        };
        self.lines.push(format!("{}{text}\n", " ".repeat(indent)));
        self.fed += 1;
    }

    fn feed_lines(&mut self, count: usize) {
        if !self.line.is_empty() {
            self.end_line();
        }
        for _ in 0..count {
            self.end_line();
        }
    }

    /// Prints a picture, which begins on a new line.
    fn raster(&mut self, bytes_in_row: usize, rows: usize) {
        if !self.line.is_empty() {
            self.end_line();
        }
        let bits = self.command[8..].to_vec();
        self.put_line(&format!("[picture of {} x {rows} dots]", bytes_in_row * 8));
        self.strips.push(Strip::Picture { bytes_in_row, bits, align: self.align });
    }

    fn qr(&mut self, function: u8) {
        let parameters = self.command[7..].to_vec();
        match (function, parameters.as_slice()) {
            (b'A', [b'2', 0]) => {}
            (b'C', [module @ 1..=16]) => self.qr.module = usize::from(*module),
            (b'E', [level @ b'0'..=b'3']) => self.qr.level = *level,
            (b'P', [b'0', content @ ..]) if !content.is_empty() => self.qr.content = content.to_vec(),
            (b'Q', [b'0']) if !self.qr.content.is_empty() => {
                let Qr { module, level, content } = self.qr.clone();
                // The control characters are replaced, because terminals also show this text.
                let says = String::from_utf8_lossy(&content).replace(char::is_control, "\u{FFFD}");
                self.put_line(&format!("[QR {says}]"));
                self.strips.push(Strip::Qr { content, level, module, align: self.align });
            }
            _ => self.show_unknown(),
        }
    }

    /// Handles the functions of PDF417. The stored code is printed as one line of text. Its control characters are
    /// replaced, because terminals also show this text.
    fn pdf417(&mut self, function: u8) {
        let parameters = self.command[7..].to_vec();
        match (function, parameters.as_slice()) {
            (b'A', [0..=30]) | (b'C', [2..=8]) | (b'D', [2..=8]) | (b'E', [b'0', b'0'..=b'8'] | [b'1', 1..=40]) => {}
            (b'P', [b'0', content @ ..]) if !content.is_empty() => self.pdf417 = content.to_vec(),
            (b'Q', [b'0']) if !self.pdf417.is_empty() => {
                let says = String::from_utf8_lossy(&self.pdf417).replace(char::is_control, "\u{FFFD}");
                self.told(&format!("[PDF417 {says}]"));
            }
            _ => self.show_unknown(),
        }
    }

    fn bar_code(&mut self, kind: u8) {
        let dots = if self.columns == 42 { 512 } else { self.columns * 12 };
        match self.bars.read(kind, &self.command[4..], dots) {
            Some((name, says)) => self.told(&format!("[{name} {says}]")),
            None => self.show_unknown(),
        }
    }

    /// Prints the content of a code.
    fn told(&mut self, text: &str) {
        self.put_line(text);
        let cells = text.chars().map(|c| Cell { c, bold: false, wide: 1, high: 1 }).collect();
        self.strips.push(Strip::Text { cells, align: self.align });
    }

    fn cut(&mut self) {
        if !self.line.is_empty() {
            self.end_line();
        }
        let text = self.lines.concat();
        self.lines.clear();
        self.cut.push(Receipt { text, strips: std::mem::take(&mut self.strips) });
    }

    fn show_unknown(&mut self) {
        self.errors += 1;
        let mut shown = String::new();
        for byte in &self.command {
            let separator = if shown.is_empty() { '<' } else { ' ' };
            write!(shown, "{separator}{byte:02X}").expect("a string takes all text");
        }
        shown.push('>');
        shown.chars().for_each(|c| self.set(c));
    }
}

const EOT: u8 = 0x04;
const HT: u8 = 0x09;
const LF: u8 = 0x0A;
const CR: u8 = 0x0D;
const DLE: u8 = 0x10;
const ESC: u8 = 0x1B;
const GS: u8 = 0x1D;

/// The limits are wider than any paper, and longer than any picture on a receipt. A command beyond them counts as a
/// mistake.
const MOST_IN_ROW: usize = 128;
const MOST_ROWS: usize = 2400;

fn word(low: u8, high: u8) -> usize {
    usize::from(u16::from_le_bytes([low, high]))
}

/// Returns the completeness of a command, by the parameter lists in the manuals.
fn read(bytes: &[u8]) -> Reading {
    let whole_at = match *bytes {
        [ESC | GS | DLE] => return Reading::Incomplete,
        [ESC, b'@' | b'2', ..] => 2,
        [
            ESC,
            b't' | b'a' | b'E' | b'G' | b'-' | b'!' | b'd' | b'J' | b'3' | b'R' | b'M' | b' ' | b'{' | b'r' | b'V',
            ..,
        ] => 3,
        [ESC, b'p', ..] => 5,
        [GS, b'!' | b'B' | b'a' | b'r' | b'b' | b'h' | b'w' | b'H' | b'f', ..] => 3,
        // In function B, the length comes before the content.
        [GS, b'k', 65..=79, length, ..] => 4 + usize::from(length),
        [GS, b'k'] | [GS, b'k', 65..=79] => return Reading::Incomplete,
        [GS, b'L' | b'W' | b'P', ..] => 4,
        [GS, b'V'] | [GS, b'('] | [GS, b'v'] => return Reading::Incomplete,
        [GS, b'V', 0 | 1 | b'0' | b'1'] => 3,
        // Functions B and C feed the paper by n first.
        [GS, b'V', 65 | 66 | 97 | 98, ..] => 4,
        [GS, b'v', b'0', 0..=3, xl, xh, yl, yh, ..] => {
            let (x, y) = (word(xl, xh), word(yl, yh));
            if !(1..=MOST_IN_ROW).contains(&x) || !(1..=MOST_ROWS).contains(&y) {
                return Reading::Unknown;
            }
            8 + x * y
        }
        [GS, b'v', b'0'] | [GS, b'v', b'0', 0..=3, ..] => return Reading::Incomplete,
        // The cn of PDF417 is 0, and the cn of a QR code is 1. After pL pH come cn, fn and the parameters of fn.
        [GS, b'(', b'k', low, high, b'0' | b'1', ..] if word(low, high) >= 3 => 5 + word(low, high),
        [GS, b'(', b'k'] | [GS, b'(', b'k', _] | [GS, b'(', b'k', _, _] => return Reading::Incomplete,
        [DLE, EOT, ..] => 3,
        [ESC | GS | DLE, ..] => return Reading::Unknown,
        _ => 1,
    };
    if bytes.len() < whole_at { Reading::Incomplete } else { Reading::Whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(bytes: &[u8]) -> (String, usize) {
        let mut paper = Paper::new(16);
        for byte in bytes {
            paper.feed(&[*byte]);
        }
        (paper.uncut(), paper.errors())
    }

    #[test]
    fn lines_are_set_as_the_commands_say() {
        let (text, errors) =
            printed(b"\x1B@a\n\x1Ba\x01mid\n\x1Ba2right\n\x1Ba0\x1BE\x01bold\x1BE\x00\n\x1Bd\x02z\r\n");
        assert_eq!(text, "a\n      mid\n           right\nbold\n\n\nz\n");
        assert_eq!(errors, 0);
    }

    #[test]
    fn code_pages_change_the_upper_half() {
        assert_eq!(printed(b"\x9B\xD5\n").0, "¢╒\n");
        assert_eq!(printed(b"\x1Bt\x13\x9B\xD5\xBD\n").0, "ø€¢\n");
        assert_eq!(printed(b"\x1Bt\x13\x1B@\xD5\n").0, "╒\n");
        assert_eq!(printed(b"\x1Bt\x12\x88\n\x1Bt\x11\x91\n\x1Bt\x0E\x89\n\x1Bt\x10\x80\n").0, "ł\nС\nΚ\n€\n");
    }

    #[test]
    fn too_long_a_line_goes_on_in_the_next_and_wide_letters_take_two() {
        assert_eq!(printed(b"12345678901234567\n").0, "1234567890123456\n7\n");
        assert_eq!(printed(b"\x1D!\x11123456789\n").0, "12345678\n9\n");
    }

    #[test]
    fn what_is_not_known_is_shown_and_counted() {
        let (text, errors) = printed(b"a\x1B?b\x07\n\x7F\x1Bt\x63\n\xE9\n");
        assert_eq!(text, "a<1B 3F>b<07>\n<7F><1B 74 63>\n<E9>\n");
        assert_eq!(errors, 5);
    }

    #[test]
    fn pictures_and_qr_codes_are_told_in_text() {
        // The second row of the picture has the byte value of a line feed.
        assert_eq!(printed(b"\x1Dv0\x00\x01\x00\x02\x00\x81\x0Az\n"), ("[picture of 8 x 2 dots]\nz\n".to_owned(), 0));
        let qr = printed(
            b"\x1D(k\x04\x001A2\x00\x1D(k\x03\x001C\x06\x1D(k\x03\x001E1\x1D(k\x06\x001P0A=B\x1D(k\x03\x001Q0x\n",
        );
        assert_eq!(qr, ("[QR A=B]\nx\n".to_owned(), 0));
        let steers = printed(b"\x1D(k\x07\x001P0A\x1B\nB\x1D(k\x03\x001Q0x\n");
        assert_eq!(steers, ("[QR A\u{FFFD}\u{FFFD}B]\nx\n".to_owned(), 0));
        // No stored code, an unknown size, and a picture without rows.
        assert_eq!(printed(b"\x1D(k\x03\x001Q0\x1D(k\x03\x001C\x11\x1Dv0\x00\x01\x00\x00\x00\n").1, 3);
    }

    #[test]
    fn bar_codes_are_told_in_text_and_those_that_are_not_drawn_are_errors() {
        let ean8 = b"\x1Dh\x50\x1Dw\x02\x1DH\x02\x1Dk\x44\x0896385074x\n";
        assert_eq!(printed(ean8), ("[EAN-8 96385074]\nx\n".to_owned(), 0));
        assert_eq!(printed(b"\x1Dk\x44\x0896385075").1, 1);
        assert_eq!(printed(b"\x1Dw\x07").1, 1);
        let pdf417 = b"\x1D(k\x03\x000A\x00\x1D(k\x04\x000E1\x01\x1D(k\x05\x000P0AB\x1D(k\x03\x000Q0";
        assert_eq!(printed(pdf417), ("[PDF417 AB]\n".to_owned(), 0));
        assert_eq!(printed(b"\x1D(k\x03\x000Q0").1, 1);
    }

    #[test]
    fn each_cut_ends_a_receipt() {
        let mut paper = Paper::new(16);
        paper.feed(b"one\n\x1DVB\x00two\n\x1DV\x01thr");
        let texts: Vec<String> = paper.take_cut().into_iter().map(|receipt| receipt.text).collect();
        assert_eq!(texts, ["one\n", "two\n"]);
        assert_eq!(paper.uncut(), "");
        assert_eq!(paper.feed(&[GS, b'r', 1]), [0x00]);
    }
}
