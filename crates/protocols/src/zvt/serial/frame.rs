//! The frame: `10 02 <message, every 10 doubled> 10 03 crcLo crcHi` (ZVT PA00P016, 3). The checksum covers the message
//! before doubling, and one `03`. The bytes of the checksum are not doubled. Single bytes between frames are
//! acknowledgements: `06` positive, `15` negative.

use super::crc;
use crate::zvt::apdu::{Apdu, ApduError, LONGEST};

const DLE: u8 = 0x10;
const STX: u8 = 0x02;
const ETX: u8 = 0x03;
/// Positive acknowledgement: the frame was received.
pub const ACK: u8 = 0x06;
/// Negative acknowledgement: the frame was damaged or incomplete.
pub const NAK: u8 = 0x15;

/// Maximum length of a message with its header, in bytes.
const MAX_MESSAGE: usize = LONGEST + 5;

/// Puts a message into its frame.
#[must_use]
pub fn encode(apdu: &Apdu) -> Vec<u8> {
    let message = apdu.encode();
    let mut out = Vec::with_capacity(message.len() + 8);
    out.extend([DLE, STX]);
    for byte in &message {
        if *byte == DLE {
            out.push(DLE);
        }
        out.push(*byte);
    }
    out.extend([DLE, ETX]);
    out.extend(crc::next(crc::crc(&message), ETX).to_le_bytes());
    out
}

/// An event in the received bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A complete frame.
    Frame(Apdu),
    /// The peer received the previous frame.
    Ack,
    /// The peer did not receive the previous frame completely.
    Nak,
    /// A damaged frame, or bytes outside of any frame.
    Bad(FrameError),
}

/// The reason why bytes are not a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The checksum is wrong.
    #[error("frame with checksum {found:04X} instead of {wanted:04X}")]
    Checksum {
        /// The computed checksum.
        wanted: u16,
        /// The received checksum.
        found: u16,
    },
    /// The checksum is right, but the content is not exactly one message.
    #[error("frame with an incomplete message: {0}")]
    Message(#[from] ApduError),
    /// The frame is longer than any message.
    #[error("frame longer than a message can be")]
    TooLong,
    /// A DLE is followed by a byte that is not allowed there.
    #[error("frame with {byte:02X} after DLE")]
    Escape {
        /// The byte after DLE.
        byte: u8,
    },
    /// The line was silent inside the frame for T1.
    #[error("frame broken off")]
    BrokenOff,
    /// Bytes that belong to no frame.
    #[error("bytes outside of any frame")]
    Noise,
}

/// The position in the bytes.
enum Position {
    /// Between frames.
    Outside,
    /// After a DLE between frames.
    OutsideDle,
    /// In a message.
    Inside,
    /// After a DLE in a message.
    InsideDle,
    /// After DLE ETX.
    Checksum,
    /// After the first byte of the checksum.
    ChecksumHigh(u8),
    /// In noise, where a `06` is not an acknowledgement. Silence or a new frame ends this state.
    Lost,
    /// After a DLE in noise.
    LostDle,
}

/// A finder of frames in a byte stream. It keeps at most one message, and allocates memory only for received bytes.
pub struct Frames {
    position: Position,
    message: Vec<u8>,
}

impl Default for Frames {
    fn default() -> Self {
        Self::new()
    }
}

impl Frames {
    /// Creates a finder that is between frames.
    #[must_use]
    pub const fn new() -> Self {
        Self { position: Position::Outside, message: Vec::new() }
    }

    /// Takes bytes from the front of `chunk` until there is an event. Call this function until it returns `None`.
    pub fn next(&mut self, chunk: &mut &[u8]) -> Option<Heard> {
        while let Some((byte, rest)) = chunk.split_first() {
            *chunk = rest;
            if let Some(heard) = self.byte(*byte) {
                return Some(heard);
            }
        }
        None
    }

    fn byte(&mut self, byte: u8) -> Option<Heard> {
        match (&self.position, byte) {
            (Position::Outside, ACK) => return Some(Heard::Ack),
            (Position::Outside, NAK) => return Some(Heard::Nak),
            (Position::Outside | Position::OutsideDle, DLE) => self.position = Position::OutsideDle,
            // This also applies inside a frame: a single DLE before STX can only begin a new frame.
            (Position::OutsideDle | Position::InsideDle | Position::LostDle, STX) => {
                self.message.clear();
                self.position = Position::Inside;
            }
            (Position::Outside | Position::OutsideDle, _) => return Some(self.lose(FrameError::Noise)),
            (Position::Inside, DLE) => self.position = Position::InsideDle,
            (Position::Inside, _) | (Position::InsideDle, DLE) => {
                if self.message.len() == MAX_MESSAGE {
                    return Some(self.lose(FrameError::TooLong));
                }
                self.message.push(byte);
                self.position = Position::Inside;
            }
            (Position::InsideDle, ETX) => self.position = Position::Checksum,
            (Position::InsideDle, _) => return Some(self.lose(FrameError::Escape { byte })),
            (Position::Checksum, _) => self.position = Position::ChecksumHigh(byte),
            (Position::ChecksumHigh(low), _) => return Some(self.end(u16::from_le_bytes([*low, byte]))),
            (Position::Lost, DLE) => self.position = Position::LostDle,
            (Position::Lost | Position::LostDle, _) => self.position = Position::Lost,
        }
        None
    }

    fn lose(&mut self, why: FrameError) -> Heard {
        self.message = Vec::new();
        self.position = Position::Lost;
        Heard::Bad(why)
    }

    fn end(&mut self, found: u16) -> Heard {
        self.position = Position::Outside;
        let message = std::mem::take(&mut self.message);
        let wanted = crc::next(crc::crc(&message), ETX);
        if found != wanted {
            return Heard::Bad(FrameError::Checksum { wanted, found });
        }
        match Apdu::decode(&message) {
            Ok(apdu) => Heard::Frame(apdu),
            Err(error) => Heard::Bad(error.into()),
        }
    }

    /// Returns whether a frame has begun but not ended.
    #[must_use]
    pub const fn is_inside(&self) -> bool {
        !matches!(self.position, Position::Outside | Position::Lost | Position::LostDle)
    }

    /// Returns whether the finder is between frames and not in noise.
    #[must_use]
    pub const fn is_outside(&self) -> bool {
        matches!(self.position, Position::Outside)
    }

    /// Handles a silence of T1, after which a new frame can begin. Returns an error if the silence broke off a frame.
    pub fn silence(&mut self) -> Option<FrameError> {
        let broken = self.is_inside();
        *self = Self::new();
        broken.then_some(FrameError::BrokenOff)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::zvt::apdu::Control;

    fn heard(bytes: &[u8]) -> Vec<Heard> {
        let (mut frames, mut chunk, mut found) = (Frames::new(), bytes, Vec::new());
        while let Some(heard) = frames.next(&mut chunk) {
            found.push(heard);
        }
        found
    }

    #[test]
    fn a_frame_is_found_behind_an_acknowledgement() {
        let bytes = hex::decode("061002800000 1003F51F15".replace(' ', "")).unwrap();
        assert_eq!(heard(&bytes), [Heard::Ack, Heard::Frame(Apdu::ok()), Heard::Nak]);
    }

    #[test]
    fn bytes_of_a_broken_frame_are_no_acknowledgement() {
        // DLE 41 ends the frame. The 06 and 15 after it belong to that frame.
        let bytes = hex::decode("1002041041 0615 1002800000 1003F51F".replace(' ', "")).unwrap();
        let broken = Heard::Bad(FrameError::Escape { byte: 0x41 });
        assert_eq!(heard(&bytes), [broken, Heard::Frame(Apdu::ok())]);
        assert_eq!(heard(b"\x40\x06\x06"), [Heard::Bad(FrameError::Noise)]);
    }

    #[test]
    fn a_new_beginning_inside_a_frame_begins_anew() {
        let bytes = hex::decode("10020600 1002800000 1003F51F".replace(' ', "")).unwrap();
        assert_eq!(heard(&bytes), [Heard::Frame(Apdu::ok())]);
    }

    #[test]
    fn a_frame_whose_message_has_another_length_is_bad() {
        let message = [0x06, 0x0F, 0x02, 0x00];
        let mut bytes = vec![DLE, STX];
        bytes.extend(message);
        bytes.extend([DLE, ETX]);
        bytes.extend(crc::next(crc::crc(&message), ETX).to_le_bytes());
        let why = FrameError::Message(ApduError::Length { control: Control::COMPLETION, announced: 2, there: 1 });
        assert_eq!(heard(&bytes), [Heard::Bad(why)]);
    }

    #[test]
    fn a_frame_without_end_is_cut() {
        let mut bytes = vec![DLE, STX];
        bytes.resize(MAX_MESSAGE + 100, 0x41);
        assert_eq!(heard(&bytes), [Heard::Bad(FrameError::TooLong)]);
    }

    proptest! {
        #[test]
        fn frames_come_back_wherever_they_are_split(
            data in prop::collection::vec(prop_oneof![Just(DLE), Just(ETX), any::<u8>()], 0..300),
            cut in 0_usize..700,
        ) {
            let apdu = Apdu::new(Control(0x10, 0x10), data);
            let bytes = encode(&apdu);
            let (mut first, mut second) = bytes.split_at(cut.min(bytes.len()));
            let mut frames = Frames::new();
            let found = [frames.next(&mut first), frames.next(&mut second)];
            prop_assert_eq!(found.into_iter().flatten().collect::<Vec<_>>(), [Heard::Frame(apdu)]);
            prop_assert!(frames.is_outside());
        }

        #[test]
        fn no_changed_byte_makes_another_message(data in prop::collection::vec(any::<u8>(), 0..40), at in 0_usize..90, to: u8) {
            let apdu = Apdu::new(Control::AUTHORISATION, data);
            let mut bytes = encode(&apdu);
            let at = at % bytes.len();
            // A DLE that is added or lost changes the bytes of the frame. The checksum then misses one error in 65,536.
            prop_assume!(bytes[at] != DLE && to != DLE);
            bytes[at] = to;
            for heard in heard(&bytes) {
                prop_assert!(!matches!(heard, Heard::Frame(other) if other != apdu));
            }
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(prop_oneof![Just(DLE), Just(STX), Just(ETX), any::<u8>()], 0..300)) {
            prop_assert!(heard(&bytes).len() <= bytes.len());
        }
    }
}
