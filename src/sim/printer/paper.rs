//! The command language of receipt printers, read: bytes in any split become lines of text on paper.
//!
//! It knows the commands of the manuals that receipts use, more than the agent sends, and none of the agent's code. What it
//! does not know is put on the paper as `<1B 3F>` and counted. Size and weight of letters are not shown, but a double-wide
//! letter takes the room of two, and a line that is too long goes on in the next one, as on paper.

use std::fmt::Write;

/// The paper and the state of the print head.
#[derive(Debug)]
pub struct Paper {
    columns: usize,
    /// The beginning of a command whose rest has not come yet.
    command: Vec<u8>,
    code_page: Option<&'static str>,
    align: Align,
    double_width: bool,
    /// The line that is being set, and the room it takes.
    line: String,
    room: usize,
    lines: Vec<String>,
    cut: Vec<String>,
    errors: usize,
}

#[derive(Clone, Copy, Debug)]
enum Align {
    Left,
    Centre,
    Right,
}

/// What the bytes so far are.
enum Reading {
    /// The beginning of a command.
    Incomplete,
    /// One whole command or character.
    Whole,
    /// Nothing that this printer knows.
    Unknown,
}

impl Paper {
    /// An empty roll of `columns` characters.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self {
            columns: columns.max(1),
            command: Vec::new(),
            code_page: Some(PAGE_437),
            align: Align::Left,
            double_width: false,
            line: String::new(),
            room: 0,
            lines: Vec::new(),
            cut: Vec::new(),
            errors: 0,
        }
    }

    /// Prints bytes; returns what the printer sends back.
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

    /// The receipts cut since the last call.
    pub fn take_cut(&mut self) -> Vec<String> {
        std::mem::take(&mut self.cut)
    }

    /// The lines on the paper since the last cut.
    #[must_use]
    pub fn uncut(&self) -> String {
        self.lines.concat()
    }

    /// Commands and bytes that were not understood.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Carries out the whole command in `self.command`.
    fn obey(&mut self, answer: &mut Vec<u8>) {
        match *self.command.as_slice() {
            [LF] => self.end_line(),
            [HT] => self.tab(),
            [ESC, b'@'] => self.initialise(),
            [ESC, b't', n] => self.code_page(n),
            [ESC, b'a', n] => self.align(n),
            [ESC, b'!', n] => self.double_width = n & 0x20 != 0,
            [ESC, b'd', n] => self.feed_lines(usize::from(n)),
            [ESC, b'J', _] if !self.line.is_empty() => self.end_line(),
            [GS, b'!', n] => self.double_width = n & 0xF0 != 0,
            [GS, b'V', ..] => self.cut(),
            // On line, no error, paper there.
            [DLE, EOT, _] => answer.push(0x12),
            [GS, b'r', _] => answer.push(0x00),
            // Weight, underline, spacing, font, colours, drawer, status reports: nothing that shows in text.
            [ESC | GS, ..] | [CR] => {}
            [byte] => self.character(byte),
            _ => {}
        }
    }

    fn initialise(&mut self) {
        self.code_page = Some(PAGE_437);
        self.align = Align::Left;
        self.double_width = false;
        self.line.clear();
        self.room = 0;
    }

    fn code_page(&mut self, n: u8) {
        self.code_page = match n {
            0 => Some(PAGE_437),
            19 => Some(PAGE_858),
            _ => None,
        };
        if self.code_page.is_none() {
            self.show_unknown();
        }
    }

    /// Takes effect at the beginning of a line only.
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
        let upper_half = || self.code_page?.chars().nth(usize::from(byte) - 0x80);
        match byte {
            b' '..=b'~' => self.set(char::from(byte)),
            0x80.. => match upper_half() {
                Some(c) => self.set(c),
                None => self.show_unknown(),
            },
            _ => self.show_unknown(),
        }
    }

    fn set(&mut self, c: char) {
        let needs = if self.double_width { 2 } else { 1 };
        if self.room + needs > self.columns && self.room > 0 {
            self.end_line();
        }
        self.line.push(c);
        self.room += needs;
    }

    /// To the next multiple of eight characters.
    fn tab(&mut self) {
        for _ in 0..8 - self.line.chars().count() % 8 {
            self.set(' ');
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let text = line.trim_end();
        let free = self.columns.saturating_sub(text.chars().count());
        let indent = match self.align {
            _ if text.is_empty() => 0,
            Align::Left => 0,
            Align::Centre => free / 2,
            Align::Right => free,
        };
        self.lines.push(format!("{}{text}\n", " ".repeat(indent)));
        self.room = 0;
    }

    fn feed_lines(&mut self, count: usize) {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.lines.extend(std::iter::repeat_n("\n".to_owned(), count));
    }

    fn cut(&mut self) {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.cut.push(self.lines.concat());
        self.lines.clear();
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

/// How far the command has come, by the manuals' lists of its parameters.
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
        [GS, b'!' | b'B' | b'a' | b'r' | b'b', ..] => 3,
        [GS, b'L' | b'W' | b'P', ..] => 4,
        [GS, b'V'] => return Reading::Incomplete,
        [GS, b'V', 0 | 1 | b'0' | b'1'] => 3,
        // Function B and C feed n first.
        [GS, b'V', 65 | 66 | 97 | 98, ..] => 4,
        [DLE, EOT, ..] => 3,
        [ESC | GS | DLE, ..] => return Reading::Unknown,
        _ => 1,
    };
    if bytes.len() < whole_at { Reading::Incomplete } else { Reading::Whole }
}

/// 80 to FF of code page 437.
const PAGE_437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
    └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}";

/// 80 to FF of code page 858.
const PAGE_858: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐\
    └┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈ€ÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{AD}±‗¾¶§÷¸°¨·¹³²■\u{A0}";

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
    fn each_cut_ends_a_receipt() {
        let mut paper = Paper::new(16);
        paper.feed(b"one\n\x1DVB\x00two\n\x1DV\x01thr");
        assert_eq!(paper.take_cut(), ["one\n", "two\n"]);
        assert_eq!(paper.uncut(), "");
        assert_eq!(paper.feed(&[DLE, EOT, 1]), [0x12]);
    }
}
