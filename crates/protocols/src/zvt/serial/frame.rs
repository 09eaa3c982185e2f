//! The frame: `10 02 <message, every 10 doubled> 10 03 crcLo crcHi` (ZVT PA00P016, 3). The checksum is over the
//! undoubled message and one `03`; its own bytes are not doubled. Between frames stand single bytes: `06` yes, `15` no.

use super::crc;
use crate::zvt::apdu::{Apdu, ApduError, LONGEST};

const DLE: u8 = 0x10;
const STX: u8 = 0x02;
const ETX: u8 = 0x03;
/// The frame was received.
pub const ACK: u8 = 0x06;
/// The frame was not received whole.
pub const NAK: u8 = 0x15;

/// Longest message: header and data.
const MAX_MESSAGE: usize = LONGEST + 5;

/// A message in its frame.
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

/// What was found in the bytes of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A whole frame.
    Frame(Apdu),
    /// The frame before was received.
    Ack,
    /// The frame before was not received whole.
    Nak,
    /// A frame that is not whole, or bytes outside of any.
    Bad(FrameError),
}

/// Why bytes are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The checksum is another.
    #[error("frame with checksum {found:04X} where {wanted:04X} belongs")]
    Checksum {
        /// The right one.
        wanted: u16,
        /// The one that came.
        found: u16,
    },
    /// The checksum is right, and yet it is not one message.
    #[error("frame without a whole message: {0}")]
    Message(#[from] ApduError),
    /// Longer than a message can be.
    #[error("frame longer than a message can be")]
    TooLong,
    /// A DLE with something behind it that does not belong there.
    #[error("frame with {byte:02X} behind DLE")]
    Escape {
        /// What stood there.
        byte: u8,
    },
    /// The line fell silent inside the frame (T1).
    #[error("frame broken off")]
    BrokenOff,
    /// Bytes that belong to no frame.
    #[error("bytes outside of any frame")]
    Noise,
}

/// Where in the bytes we are.
enum Place {
    /// Between frames.
    Outside,
    /// Behind a DLE between frames.
    OutsideDle,
    /// In a message.
    Inside,
    /// Behind a DLE in a message.
    InsideDle,
    /// Behind DLE ETX.
    Checksum,
    /// Behind the first byte of the checksum.
    ChecksumHigh(u8),
    /// In bytes that mean nothing: a `06` among them is no acknowledgement. Ends with silence or a new frame.
    Lost,
    /// Behind a DLE there.
    LostDle,
}

/// Finds frames in bytes as they come. It holds at most one message, and grows with the bytes that came.
pub struct Frames {
    place: Place,
    message: Vec<u8>,
}

impl Default for Frames {
    fn default() -> Self {
        Self::new()
    }
}

impl Frames {
    /// Between frames.
    #[must_use]
    pub const fn new() -> Self {
        Self { place: Place::Outside, message: Vec::new() }
    }

    /// Takes from the front of `chunk` until something was found; call it again until there is nothing.
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
        match (&self.place, byte) {
            (Place::Outside, ACK) => return Some(Heard::Ack),
            (Place::Outside, NAK) => return Some(Heard::Nak),
            (Place::Outside | Place::OutsideDle, DLE) => self.place = Place::OutsideDle,
            // Also inside a frame: a single DLE before STX can only be a new beginning.
            (Place::OutsideDle | Place::InsideDle | Place::LostDle, STX) => {
                self.message.clear();
                self.place = Place::Inside;
            }
            (Place::Outside | Place::OutsideDle, _) => return Some(self.lose(FrameError::Noise)),
            (Place::Inside, DLE) => self.place = Place::InsideDle,
            (Place::Inside, _) | (Place::InsideDle, DLE) => {
                if self.message.len() == MAX_MESSAGE {
                    return Some(self.lose(FrameError::TooLong));
                }
                self.message.push(byte);
                self.place = Place::Inside;
            }
            (Place::InsideDle, ETX) => self.place = Place::Checksum,
            (Place::InsideDle, _) => return Some(self.lose(FrameError::Escape { byte })),
            (Place::Checksum, _) => self.place = Place::ChecksumHigh(byte),
            (Place::ChecksumHigh(low), _) => return Some(self.end(u16::from_le_bytes([*low, byte]))),
            (Place::Lost, DLE) => self.place = Place::LostDle,
            (Place::Lost | Place::LostDle, _) => self.place = Place::Lost,
        }
        None
    }

    fn lose(&mut self, why: FrameError) -> Heard {
        self.message = Vec::new();
        self.place = Place::Lost;
        Heard::Bad(why)
    }

    fn end(&mut self, found: u16) -> Heard {
        self.place = Place::Outside;
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

    /// A frame has begun and not ended.
    #[must_use]
    pub const fn is_inside(&self) -> bool {
        !matches!(self.place, Place::Outside | Place::Lost | Place::LostDle)
    }

    /// Nothing is expected of the line: neither the rest of a frame nor the end of noise.
    #[must_use]
    pub const fn is_outside(&self) -> bool {
        matches!(self.place, Place::Outside)
    }

    /// The line has been silent for T1: whatever comes next begins anew. Says whether a frame was broken off.
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
        // DLE 41 ends the frame; the 06 and 15 behind it belonged to it.
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
            // Where a DLE comes or goes the frame has other bytes, and the checksum is good for one in 65,536.
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
