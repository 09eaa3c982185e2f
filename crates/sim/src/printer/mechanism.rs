//! The inside of the printer: its buffer, its sensors, its status answers as in the manuals (DLE EOT), and its
//! printing.

use std::collections::VecDeque;

use super::paper::Paper;
use super::{Options, Sensors, StatusAnswers};

/// The inside of the printer.
#[derive(Debug)]
pub(super) struct Mechanism {
    pub(super) name: String,
    pub(super) paper: Paper,
    pub(super) status_answers: StatusAnswers,
    pub(super) sensors: Sensors,
    /// Bytes that have arrived but are not printed yet.
    pub(super) buffer: VecDeque<u8>,
    /// The last two bytes that arrived. DLE EOT n is answered immediately, at any position in the data.
    heard: [u8; 2],
    /// The number of bytes until the printer dies, if a test requests that.
    pub(super) die_after: Option<usize>,
    /// The line at which the paper runs out, if a test requests that.
    pub(super) out_after: Option<usize>,
}

/// The size of the buffer, as in a typical printer. While the buffer is full, the printer accepts no data.
pub(super) const BUFFER: usize = 4096;
const DLE: u8 = 0x10;
const EOT: u8 = 0x04;

impl Mechanism {
    /// Makes a printer with paper that has printed nothing.
    pub(super) fn new(name: String, options: &Options) -> Self {
        Self {
            name,
            paper: Paper::new(usize::from(options.columns)),
            status_answers: options.status_answers,
            sensors: options.sensors,
            buffer: VecDeque::new(),
            heard: [0; 2],
            die_after: None,
            out_after: None,
        }
    }

    /// Accepts bytes from the connection, and returns the immediate answer.
    pub(super) fn arrive(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut answers = Vec::new();
        for byte in bytes {
            if self.heard == [DLE, EOT] {
                answers.extend(self.answer(*byte));
            }
            self.heard = [self.heard[1], *byte];
            self.buffer.push_back(*byte);
        }
        answers
    }

    /// Answers DLE EOT n by the table in the manuals. Bits 1 and 4 are always set.
    fn answer(&self, n: u8) -> Vec<u8> {
        let Sensors { paper_out, paper_near_end, cover_open, cutter_jammed } = self.sensors;
        let bit = |set: bool, bits: u8| if set { bits } else { 0 };
        let offline = paper_out || cover_open || cutter_jammed;
        let said = match n {
            1 => bit(offline, 0x08),
            2 => bit(cover_open, 0x04) | bit(paper_out, 0x20) | bit(cutter_jammed, 0x40),
            3 => bit(cutter_jammed, 0x08),
            4 => bit(paper_near_end || paper_out, 0x0C) | bit(paper_out, 0x60),
            _ => return Vec::new(),
        };
        match self.status_answers {
            StatusAnswers::Answers | StatusAnswers::AnswersStateOnly => vec![0x12 | said],
            StatusAnswers::Silent => Vec::new(),
            StatusAnswers::Garbage => vec![0xFF, b'U', 0x00, 0x80],
        }
    }

    pub(super) fn can_print(&self) -> bool {
        let Sensors { paper_out, cover_open, cutter_jammed, .. } = self.sensors;
        !self.buffer.is_empty() && !paper_out && !cover_open && !cutter_jammed
    }

    /// Prints up to `most` bytes of the buffer. Returns the answer, and whether the printer is still alive.
    pub(super) fn print(&mut self, most: usize) -> (Vec<u8>, bool) {
        let mut answers = Vec::new();
        for _ in 0..most {
            if !self.can_print() {
                break;
            }
            if self.die_after.as_mut().is_some_and(|left| left.checked_sub(1).map(|less| *left = less).is_none()) {
                self.die_after = None;
                return (answers, false);
            }
            let byte = self.buffer.pop_front().into_iter().collect::<Vec<_>>();
            let said = self.paper.feed(&byte);
            if self.status_answers == StatusAnswers::Answers {
                answers.extend(said);
            }
            if self.out_after.is_some_and(|lines| self.paper.fed() >= lines) {
                self.out_after = None;
                self.sensors.paper_out = true;
            }
        }
        (answers, true)
    }
}

#[cfg(test)]
mod tests {
    //! These bits are copied by hand from the table of DLE EOT.
    use super::*;

    #[test]
    fn it_answers_by_the_manuals_table() {
        let answers = |sensors| {
            let options = Options { sensors, ..Options::default() };
            let mut mechanism = Mechanism::new(String::new(), &options);
            mechanism.arrive(b"text\x10\x04\x01\x10\x04\x02\x10\x04\x03\x10\x04\x04\x10\x04\x09")
        };
        let none = Sensors::default();
        assert_eq!(answers(none), [0x12, 0x12, 0x12, 0x12]);
        assert_eq!(answers(Sensors { paper_near_end: true, ..none }), [0x12, 0x12, 0x12, 0x1E]);
        assert_eq!(answers(Sensors { paper_out: true, ..none }), [0x1A, 0x32, 0x12, 0x7E]);
        assert_eq!(answers(Sensors { cover_open: true, ..none }), [0x1A, 0x16, 0x12, 0x12]);
        assert_eq!(answers(Sensors { cutter_jammed: true, ..none }), [0x1A, 0x52, 0x1A, 0x12]);
    }
}
