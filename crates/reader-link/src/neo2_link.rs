//! The link layer of ID TECH NEO2, also named ViVOtech2: header, command, length, data, CRC (readers: 4.1). It handles
//! only bytes. The code for this reader family interprets the data. The simulated reader also uses this module, and
//! frozen frames check it.
//!
//! ```text
//! "ViVOtech2" 00 · CMD · SUB in a command, STATUS in a response · LEN high, low · DATA · CRC-16 over all before it
//! ```
//!
//! The link has no acknowledgements, sequence numbers or repetitions, so damaged data are lost. [`Neo2Decoder::feed`]
//! drops bytes up to the next valid frame, and reports how many it dropped. A caller that waits for an answer can then
//! give up.

use zeroize::Zeroize;

/// The header of most frames.
const VIVOTECH2: [u8; HEADER] = *b"ViVOtech2\0";
/// The header of newer frames. UNCERTAIN: what differs is not published (readers: 4.1). The manual draws a few commands
/// with it, in the same layout (NEO 2 Interface Developer's Guide 2019, 8.24.10), so both have one layout here.
const VIVOPAY_V3: [u8; HEADER] = *b"ViVOpayV3\0";

/// The length of a header, with its zero byte.
const HEADER: usize = 10;
/// Header, CMD, SUB or STATUS, LEN.
pub const HEAD: usize = HEADER + 4;
const CRC: usize = 2;

/// Maximum length of a frame's data. LEN could name 65,535 bytes. The longest known answer has a chip's elements (about
/// 600 bytes), three tracks both masked and encrypted (about 900), and their tags. A peer cannot make the decoder keep
/// more than one frame of this length.
pub const MAX_DATA: usize = 4096;
/// Maximum length of a frame.
pub const MAX_FRAME: usize = HEAD + MAX_DATA + CRC;
/// Length of a frame without data.
pub const MIN_FRAME: usize = HEAD + CRC;

/// 61-xx, the commands that the reader sends to the host: texts and menus (readers: 4.2). UNCERTAIN: the order of their
/// CRC bytes. The manual draws these frames as commands, so the low byte comes first (NEO 2 Interface Developer's Guide
/// 2019, 8.4.32). The decoder of responses accepts both orders for this command byte only.
const CALL_BACK: u8 = 0x61;

/// The bytes of one frame.
pub type EncodedFrame = heapless::Vec<u8, MAX_FRAME>;

/// The direction of frames. It determines the order of the CRC bytes, and the meaning of the second byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neo2Direction {
    /// From the host to the reader. The CRC has its low byte first, and the second byte is a sub-command.
    Command,
    /// From the reader to the host. The CRC has its high byte first, and the second byte is a status.
    Response,
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderKind {
    /// `ViVOtech2`.
    #[default]
    Vivotech2,
    /// `ViVOpayV3`.
    VivopayV3,
}

impl HeaderKind {
    const ALL: [Self; 2] = [Self::Vivotech2, Self::VivopayV3];

    const fn bytes(self) -> &'static [u8; HEADER] {
        match self {
            Self::Vivotech2 => &VIVOTECH2,
            Self::VivopayV3 => &VIVOPAY_V3,
        }
    }
}

/// An event from [`Neo2Decoder::feed`].
#[derive(Debug, PartialEq, Eq)]
pub enum Neo2Received<'a> {
    /// A complete frame with a correct CRC.
    Frame(Neo2Frame<'a>),
    /// Data were lost.
    Fault(Neo2LinkFault),
}

/// A complete frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Neo2Frame<'a> {
    /// The header.
    pub header: HeaderKind,
    /// CMD. A response repeats that of its command.
    pub command: u8,
    /// SUB in a command, STATUS in a response.
    pub sub_or_status: u8,
    /// The data, at most [`MAX_DATA`] bytes. They are wiped after the call that delivers them.
    pub data: &'a [u8],
}

// The data may contain card data, so `Debug` shows only their length.
impl std::fmt::Debug for Neo2Frame<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { header, command, sub_or_status, data } = self;
        write!(f, "Neo2Frame({header:?}, {command:02X}-{sub_or_status:02X}, {} bytes)", data.len())
    }
}

/// The reason for a loss on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Neo2LinkFault {
    /// Bytes that belong to no valid frame, counted up to the next valid frame or [`Neo2Decoder::silence`]. If there
    /// are [`MIN_FRAME`] bytes or more, they may have been a frame.
    #[error("{bytes} bytes of no frame")]
    Garbage {
        /// The number of bytes.
        bytes: usize,
    },
}

/// The reason why data cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Neo2EncodeError {
    /// The data are longer than [`MAX_DATA`].
    #[error("{bytes} bytes of data are too many for a frame")]
    TooLong {
        /// The length in bytes.
        bytes: usize,
    },
}

/// Builds a frame with the usual header.
///
/// # Errors
/// Returns [`Neo2EncodeError::TooLong`] if `data` has more than [`MAX_DATA`] bytes.
pub fn encode(
    direction: Neo2Direction,
    command: u8,
    sub_or_status: u8,
    data: &[u8],
) -> Result<EncodedFrame, Neo2EncodeError> {
    encode_frame(direction, &Neo2Frame { header: HeaderKind::default(), command, sub_or_status, data })
}

/// Builds a frame with any header.
///
/// # Errors
/// Returns [`Neo2EncodeError::TooLong`] if the data have more than [`MAX_DATA`] bytes.
pub fn encode_frame(direction: Neo2Direction, frame: &Neo2Frame<'_>) -> Result<EncodedFrame, Neo2EncodeError> {
    let Neo2Frame { header, command, sub_or_status, data } = *frame;
    let too_long = Neo2EncodeError::TooLong { bytes: data.len() };
    let length = u16::try_from(data.len()).ok().filter(|_| data.len() <= MAX_DATA).ok_or(too_long)?;
    let [high, low] = length.to_be_bytes();
    let mut out = EncodedFrame::new();
    for part in [&header.bytes()[..], &[command, sub_or_status, high, low], data] {
        out.extend_from_slice(part).map_err(|_| too_long)?;
    }
    let check = check_bytes(crc(&out), direction);
    out.extend_from_slice(&check).map_err(|_| too_long)?;
    Ok(out)
}

/// A decoder that accepts bytes in pieces of any size and delivers complete frames of one direction.
pub struct Neo2Decoder {
    direction: Neo2Direction,
    input: heapless::Vec<u8, MAX_FRAME>,
    /// Bytes dropped since the last valid frame but not yet reported.
    dropped: usize,
}

impl Neo2Decoder {
    /// Creates a decoder for frames of `direction`. A driver decodes responses, and a simulated reader decodes
    /// commands.
    #[must_use]
    pub const fn new(direction: Neo2Direction) -> Self {
        Self { direction, input: heapless::Vec::new(), dropped: 0 }
    }

    /// Takes `bytes` and calls `on` for each frame and fault in them, in order.
    pub fn feed(&mut self, mut bytes: &[u8], mut on: impl FnMut(Neo2Received<'_>)) {
        while !bytes.is_empty() {
            // After `scan`, the input holds less than a whole frame, so each round takes at least one byte.
            let (now, later) = bytes.split_at(bytes.len().min(MAX_FRAME - self.input.len()));
            self.input.extend_from_slice(now).expect("cut to the free space");
            bytes = later;
            self.scan(false, &mut on);
        }
    }

    /// Handles a long silence, which ends an unfinished frame. Without this, a length that is too great would hide the
    /// next frames.
    pub fn silence(&mut self, mut on: impl FnMut(Neo2Received<'_>)) {
        self.scan(true, &mut on);
        self.report_dropped(&mut on);
    }

    /// Returns whether data are unfinished. Only then does [`Self::silence`] have an effect.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        !self.input.is_empty() || self.dropped > 0
    }

    /// Delivers the frames in `input`. With `last`, also drops data that only more bytes could complete.
    fn scan(&mut self, last: bool, on: &mut impl FnMut(Neo2Received<'_>)) {
        let mut at = 0;
        while at < self.input.len() {
            match first_frame(&self.input[at..], self.direction) {
                FirstFrame::Incomplete if !last => break,
                // Only one byte is dropped, even if a whole frame has a wrong CRC. If its LEN is wrong, a valid frame
                // may begin inside it.
                FirstFrame::Incomplete | FirstFrame::Wrong => {
                    self.dropped += 1;
                    at += 1;
                }
                FirstFrame::Frame { header, length } => {
                    self.report_dropped(on);
                    let data = at + HEAD..at + HEAD + length;
                    on(Neo2Received::Frame(Neo2Frame {
                        header,
                        command: self.input[at + HEADER],
                        sub_or_status: self.input[at + HEADER + 1],
                        data: &self.input[data],
                    }));
                    at += frame_length(length);
                }
            }
        }
        if at > 0 {
            let kept = self.input.len() - at;
            self.input.copy_within(at.., 0);
            self.input[kept..].zeroize();
            self.input.truncate(kept);
        }
    }

    fn report_dropped(&mut self, on: &mut impl FnMut(Neo2Received<'_>)) {
        if self.dropped > 0 {
            on(Neo2Received::Fault(Neo2LinkFault::Garbage { bytes: self.dropped }));
            self.dropped = 0;
        }
    }
}

impl Drop for Neo2Decoder {
    fn drop(&mut self) {
        self.input.as_mut_slice().zeroize();
    }
}

/// The start of received bytes, as [`first_frame`] finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstFrame {
    /// More bytes are needed.
    Incomplete,
    /// No frame begins here.
    Wrong,
    /// A frame with a correct CRC. Its data begin after [`HEAD`] bytes.
    Frame {
        /// The header.
        header: HeaderKind,
        /// The length of the data.
        length: usize,
    },
}

/// Finds the frame at the start of received bytes.
#[must_use]
pub fn first_frame(bytes: &[u8], direction: Neo2Direction) -> FirstFrame {
    let begin = &bytes[..bytes.len().min(HEADER)];
    let Some(header) = HeaderKind::ALL.into_iter().find(|header| header.bytes().starts_with(begin)) else {
        return FirstFrame::Wrong;
    };
    let Some(&[high, low]) = bytes.get(HEAD - 2..HEAD).and_then(|length| length.first_chunk()) else {
        return FirstFrame::Incomplete;
    };
    let length = usize::from(u16::from_be_bytes([high, low]));
    if length > MAX_DATA {
        return FirstFrame::Wrong;
    }
    match bytes.get(..frame_length(length)) {
        Some(frame) if is_correct(frame, direction) => FirstFrame::Frame { header, length },
        Some(_) => FirstFrame::Wrong,
        None => FirstFrame::Incomplete,
    }
}

/// Returns the length of a frame with so many bytes of data.
#[must_use]
pub const fn frame_length(data: usize) -> usize {
    HEAD + data + CRC
}

/// Returns CMD, and SUB or STATUS, of a frame that [`first_frame`] has found.
#[must_use]
pub fn codes(frame: &[u8]) -> [u8; 2] {
    frame.get(HEADER..).and_then(|codes| codes.first_chunk()).copied().unwrap_or_default()
}

/// Sets the CRC of a whole frame whose data were changed.
pub fn renew_crc(frame: &mut [u8], direction: Neo2Direction) {
    if let Some((checked, check)) = frame.split_last_chunk_mut::<CRC>() {
        *check = check_bytes(crc(checked), direction);
    }
}

fn check_bytes(crc: u16, direction: Neo2Direction) -> [u8; CRC] {
    match direction {
        Neo2Direction::Command => crc.to_le_bytes(),
        Neo2Direction::Response => crc.to_be_bytes(),
    }
}

fn is_correct(frame: &[u8], direction: Neo2Direction) -> bool {
    let Some((checked, check)) = frame.split_last_chunk::<CRC>() else { return false };
    let right = crc(checked);
    let is_call_back = direction == Neo2Direction::Response && frame.get(HEADER) == Some(&CALL_BACK);
    *check == check_bytes(right, direction) || (is_call_back && *check == right.to_le_bytes())
}

/// CRC-16/CCITT-FALSE: polynomial 1021, start FFFF, not reflected, no final XOR (readers: 4.1).
fn crc(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xFFFF, |crc: u16, byte| {
        let [high, _] = crc.to_be_bytes();
        (crc << 8) ^ CRC_OF_BYTE[usize::from(high ^ byte)]
    })
}

/// The effect of each byte on the CRC. A card's answer has up to a thousand bytes, and is checked before the request.
const CRC_OF_BYTE: [u16; 256] = {
    const POLYNOMIAL: u16 = 0x1021;
    let mut table = [0; 256];
    let mut byte: u16 = 0;
    while byte < 256 {
        let mut crc = byte << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ POLYNOMIAL };
            bit += 1;
        }
        table[byte as usize] = crc;
        byte += 1;
    }
    table
};
