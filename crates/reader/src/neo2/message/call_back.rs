//! The call-backs: commands that the reader sends to the host while a chip's transaction runs (readers: 4.2). A reader
//! without display or keypad lets the host show texts and menus.
//!
//! A call-back comes in a frame of the reader's direction, with a sub-command instead of a status. The reader waits for
//! the answer.

use super::command::Neo2Command;
use super::error::Neo2MessageError;
use pos_reader_link::neo2_link::Neo2Frame;

const GROUP: u8 = 0x61;
const DISPLAY: u8 = 0x01;
const PIN: u8 = 0x02;
const STRIPE: u8 = 0x03;

/// Between two lines of a text.
const SEPARATOR: u8 = 0x1C;
/// Maximum number of lines of a text (NEO 2 Interface Developer's Guide 2019, 8.4.25).
const MAX_LINES: usize = 16;

/// A call-back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "one or two call-backs for each chip; a box would only hide the lines")]
pub enum CallBack<'a> {
    /// 61-01: show a text or a menu.
    Display(DisplayRequest<'a>),
    /// 61-02: let the cardholder enter a PIN at another keypad. The agent has none, so it answers with
    /// [`Neo2Command::RefusePin`].
    Pin,
    /// 61-03: read a stripe with another reader. The agent has none.
    Stripe,
}

/// A text or a menu to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayRequest<'a> {
    /// What to do with the lines.
    pub mode: DisplayMode,
    /// The lines. A message with an index has no text of its own.
    pub lines: heapless::Vec<DisplayLine<'a>, MAX_LINES>,
}

/// The mode of a text (NEO 2 Interface Developer's Guide 2019, 8.4.25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisplayMode {
    /// A menu. The reader waits for the chosen line.
    Menu,
    /// A text. The reader waits for a key.
    WithKey,
    /// A text without an answer.
    Text,
    /// A menu of languages. The reader waits for the chosen line.
    Languages,
    /// Clear the display.
    Clear,
    /// Lights and touches, which the agent does not show.
    Other(u8),
}

impl DisplayMode {
    const fn of(byte: u8) -> Self {
        match byte {
            0x01 => Self::Menu,
            0x02 => Self::WithKey,
            0x03 => Self::Text,
            0x08 => Self::Languages,
            0x10 => Self::Clear,
            other => Self::Other(other),
        }
    }

    /// Returns the mode's byte, for the answer.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::Menu => 0x01,
            Self::WithKey => 0x02,
            Self::Text => 0x03,
            Self::Languages => 0x08,
            Self::Clear => 0x10,
            Self::Other(byte) => byte,
        }
    }

    /// Returns whether the reader waits for a choice or a key.
    #[must_use]
    pub const fn wants_answer(self) -> bool {
        matches!(self, Self::Menu | Self::WithKey | Self::Languages)
    }
}

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisplayLine<'a> {
    /// The number of the line, from 1.
    pub number: u8,
    /// Its content.
    pub content: LineContent<'a>,
}

/// The content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineContent<'a> {
    /// A text in ASCII.
    Text(&'a [u8]),
    /// The number of a message that the reader's manual lists.
    Message(u8),
}

impl<'a> CallBack<'a> {
    /// Reads a frame from the reader. Returns `None` if the frame is a response, which has no data with a status other
    /// than 00.
    ///
    /// # Errors
    /// Fails if the text has wrong lengths.
    pub fn parse(frame: &Neo2Frame<'a>) -> Result<Option<Self>, Neo2MessageError> {
        if frame.command != GROUP || frame.data.is_empty() {
            return Ok(None);
        }
        Ok(match frame.sub_or_status {
            DISPLAY => Some(Self::Display(DisplayRequest::parse(frame.data)?)),
            PIN => Some(Self::Pin),
            STRIPE => Some(Self::Stripe),
            _ => None,
        })
    }
}

impl<'a> DisplayRequest<'a> {
    /// Reads mode, timeout, language and lines. The first three have a length of two bytes, low byte first.
    fn parse(data: &'a [u8]) -> Result<Self, Neo2MessageError> {
        let (mode, mut rest) = data.split_first().ok_or(Neo2MessageError::Length { bytes: data.len() })?;
        let mode = DisplayMode::of(*mode);
        let mut lines = heapless::Vec::new();
        if matches!(mode, DisplayMode::Clear | DisplayMode::Other(_)) {
            return Ok(Self { mode, lines });
        }
        let _timeout = field(&mut rest)?;
        let _language = field(&mut rest)?;
        for line in field(&mut rest)?.split(|byte| *byte == SEPARATOR).filter(|line| !line.is_empty()) {
            let (number, text) = line.split_first().ok_or(Neo2MessageError::Field("line"))?;
            let content = match (number & 0x80 != 0, text) {
                (true, [message]) => LineContent::Message(*message),
                (true, _) => return Err(Neo2MessageError::Field("line")),
                (false, text) => LineContent::Text(text),
            };
            let line = DisplayLine { number: number & 0x7F, content };
            lines.push(line).map_err(|_| Neo2MessageError::Field("line"))?;
        }
        Ok(Self { mode, lines })
    }

    /// Returns the answer: the number of the chosen line, or `None` for a cancellation.
    #[must_use]
    pub fn answer(&self, line: Option<u8>) -> Neo2Command<'static> {
        Neo2Command::Displayed { mode: self.mode.byte(), choice: line }
    }
}

fn field<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], Neo2MessageError> {
    let length = Neo2MessageError::Length { bytes: rest.len() };
    let (&[low, high], after) = rest.split_first_chunk().ok_or(length)?;
    let (field, later) = after.split_at_checked(usize::from(u16::from_le_bytes([low, high]))).ok_or(length)?;
    *rest = later;
    Ok(field)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_reader_link::neo2_link::HeaderKind;

    fn parse(sub_or_status: u8, data: &[u8]) -> Result<Option<CallBack<'_>>, Neo2MessageError> {
        CallBack::parse(&Neo2Frame { header: HeaderKind::Vivotech2, command: GROUP, sub_or_status, data })
    }

    #[test]
    fn a_menu_has_lines_and_a_choice() {
        let menu = |lines: &[u8]| {
            let length = u8::try_from(lines.len()).unwrap();
            [&[0x01, 2, 0, 30, 0, 2, 0][..], b"EN", &[length, 0], lines, &[2, 0, 0xFF, 0xFF]].concat()
        };
        let data = menu(b"\x01VISA\x1C\x02DEBIT\x1C\x83\x07");
        let Ok(Some(CallBack::Display(request))) = parse(DISPLAY, &data) else { panic!("a menu") };
        let text = |number, text| DisplayLine { number, content: LineContent::Text(text) };
        let message = DisplayLine { number: 3, content: LineContent::Message(7) };
        assert_eq!(request.lines[..], [text(1, &b"VISA"[..]), text(2, b"DEBIT"), message]);
        assert!(request.mode.wants_answer());
        assert_eq!(request.answer(Some(2)), Neo2Command::Displayed { mode: 0x01, choice: Some(2) });
        // A message without its number.
        assert!(parse(DISPLAY, &menu(b"\x01VISA\x1C\x83")).is_err());
    }

    #[test]
    fn a_text_of_wrong_lengths_is_refused() {
        assert_eq!(
            parse(DISPLAY, &[0x10]),
            Ok(Some(CallBack::Display(DisplayRequest { mode: DisplayMode::Clear, lines: heapless::Vec::new() })))
        );
        for data in [&[0x03][..], &[0x03, 0, 0], &[0x03, 0, 0, 0, 0, 5, 0, 1], &[0x03, 0xFF, 0xFF, 0]] {
            assert!(parse(DISPLAY, data).is_err(), "{data:02X?}");
        }
        let lines = b"\x01A\x1C".repeat(MAX_LINES + 1);
        let data = [&[0x03, 0, 0, 0, 0, u8::try_from(lines.len()).unwrap(), 0][..], &lines].concat();
        assert!(parse(DISPLAY, &data).is_err());
        assert_eq!(parse(PIN, &[1]), Ok(Some(CallBack::Pin)));
        assert_eq!(parse(STRIPE, &[1]), Ok(Some(CallBack::Stripe)));
        for (status, data) in [(0x00, &[][..]), (0x00, &[1]), (0x01, &[]), (0x05, &[])] {
            assert_eq!(parse(status, data), Ok(None));
        }
        let other = Neo2Frame { header: HeaderKind::Vivotech2, command: 0x60, sub_or_status: DISPLAY, data: &[1] };
        assert_eq!(CallBack::parse(&other), Ok(None));
    }
}
