//! The printer's reports about its state: the questions DLE EOT n, and the meaning of the answers. This module is pure.
//!
//! | n | question about | relevant bits |
//! |---|---|---|
//! | 1 | the printer | 3 offline |
//! | 2 | the reason why it is offline | 2 cover open, 5 stopped without paper, 6 error |
//! | 3 | the error | 3 cutter, 5 cannot recover, 6 recovers automatically |
//! | 4 | the paper | 2 and 3 near its end, 5 and 6 out of paper |
//!
//! Each answer is one byte of the form `0xx1xx10` (Epson's ESC/POS reference, DLE EOT). It does not identify its
//! question, so the questions are sent one at a time. The printer answers them immediately, even while it prints. It
//! answers GS r 1 when all earlier data has been printed, with a byte of the form `0xx0xxxx`. This answer tells the
//! agent that the receipt is finished.

/// The questions, in order. The answers go to [`Condition::from_answers`].
pub const QUESTIONS: [[u8; 3]; 4] = [[0x10, 0x04, 1], [0x10, 0x04, 2], [0x10, 0x04, 3], [0x10, 0x04, 4]];

/// GS r 1: the question that is answered when all earlier data has been printed.
pub const TELL_WHEN_DONE: [u8; 3] = [0x1D, 0x72, 1];

/// Returns whether a byte is an answer to one of [`QUESTIONS`].
#[must_use]
pub fn is_answer(byte: u8) -> bool {
    byte & 0b1001_0011 == 0b0001_0010
}

/// Returns whether a byte is the answer to [`TELL_WHEN_DONE`].
#[must_use]
pub fn is_done(byte: u8) -> bool {
    byte & 0b1001_0000 == 0
}

/// The printer's condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The printer can print.
    Fine,
    /// The printer can print, but not for much longer.
    PaperNearEnd,
    /// The printer cannot print.
    Trouble(Trouble),
}

/// The reason why the printer cannot print. The words complete the phrase "the printer is …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The cover is open.
    #[error("open: close its cover")]
    CoverOpen,
    /// The paper is out.
    #[error("out of paper: put a roll in")]
    PaperOut,
    /// Paper is stuck in the cutter.
    #[error("jammed at the cutter: switch it off, remove the paper from the cutter, switch it on")]
    Cutter,
    /// An error needs a technician, or a restart.
    #[error("out of order: switch it off and on; if that does not help, have it repaired")]
    Broken,
    /// The printer pauses, usually because the print head is too hot.
    #[error("pausing, because its print head is too hot or its power supply is too weak: it resumes automatically")]
    Pausing,
    /// The printer gives no reason.
    #[error("off-line: press its FEED button, or switch it off and on; if it prints anyway, set status = false")]
    Offline,
}

impl Condition {
    /// Reads the answers to [`QUESTIONS`], in order. Of several problems, returns the one to solve first.
    #[must_use]
    pub fn from_answers(answers: [u8; 4]) -> Self {
        let [printer, offline, error, paper] = answers;
        let any = |byte: u8, bits: u8| byte & bits != 0;
        // An open cover moves the paper off its sensor. The state of the paper is known only when the cover is closed.
        let trouble = if any(offline, 1 << 2) {
            Trouble::CoverOpen
        } else if any(paper, 0b0110_0000) || any(offline, 1 << 5) {
            Trouble::PaperOut
        } else if any(error, 1 << 3) {
            Trouble::Cutter
        } else if any(error, 1 << 5) {
            Trouble::Broken
        } else if any(error, 1 << 6) {
            Trouble::Pausing
        } else if any(printer, 1 << 3) || any(offline, 1 << 6) {
            Trouble::Offline
        } else if any(paper, 0b0000_1100) {
            return Self::PaperNearEnd;
        } else {
            return Self::Fine;
        };
        Self::Trouble(trouble)
    }
}

#[cfg(test)]
mod tests {
    //! The bits come from the table of DLE EOT and are never edited to make a test pass.
    use super::*;

    #[test]
    fn each_bit_means_what_the_table_says() {
        let trouble = Condition::Trouble;
        for (answers, condition) in [
            ([0x12, 0x12, 0x12, 0x12], Condition::Fine),
            // A receipt does not depend on the drawer, the feed button, waiting to be online, or paper fed by hand.
            ([0x16, 0x1A, 0x12, 0x12], Condition::Fine),
            ([0x12, 0x12, 0x12, 0x1E], Condition::PaperNearEnd),
            ([0x1A, 0x16, 0x12, 0x12], trouble(Trouble::CoverOpen)),
            ([0x1A, 0x16, 0x12, 0x7E], trouble(Trouble::CoverOpen)),
            ([0x1A, 0x32, 0x12, 0x7E], trouble(Trouble::PaperOut)),
            ([0x12, 0x12, 0x12, 0x72], trouble(Trouble::PaperOut)),
            ([0x1A, 0x52, 0x1A, 0x12], trouble(Trouble::Cutter)),
            ([0x1A, 0x52, 0x32, 0x12], trouble(Trouble::Broken)),
            ([0x1A, 0x52, 0x52, 0x12], trouble(Trouble::Pausing)),
            ([0x1A, 0x52, 0x16, 0x12], trouble(Trouble::Offline)),
            ([0x1A, 0x12, 0x12, 0x12], trouble(Trouble::Offline)),
        ] {
            assert_eq!(Condition::from_answers(answers), condition, "{answers:02X?}");
        }
    }

    #[test]
    fn the_two_kinds_of_answer_cannot_be_taken_for_each_other() {
        for byte in 0..=u8::MAX {
            assert!(!(is_answer(byte) && is_done(byte)), "{byte:02X}");
        }
        assert!([0x12, 0x16, 0x1A, 0x1E, 0x32, 0x52, 0x72, 0x7E].into_iter().all(is_answer));
        assert!(![0x00, 0x10, 0x13, 0x92, 0x02, 0xFF, b'U'].into_iter().any(is_answer));
        assert!([0x00, 0x03, 0x0C, 0x0F].into_iter().all(is_done));
        assert!(![0x12, 0x10, 0x80, 0xFF].into_iter().any(is_done));
    }
}
