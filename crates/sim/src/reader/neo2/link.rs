//! The input of a NEO2 reader. It finds the frames of the host, and names a fault as a status (readers: 4.1, 4.3). The
//! shared decoder checks each frame.

use std::time::Duration;

use super::responses;
use pos_reader_link::neo2_link::{HeaderKind, MAX_DATA, MIN_FRAME, Neo2Decoder, Neo2Direction, Neo2Received};

const HEADERS: [&[u8]; 2] = [b"ViVOtech2\0", b"ViVOpayV3\0"];
/// The positions of CMD and LEN.
const CMD: usize = 10;
const LEN: usize = 12;

/// The time after which the reader drops an unfinished frame. The protocol gives no time.
const PATIENCE: Duration = Duration::from_secs(1);

/// A frame of the host.
pub(super) struct Command {
    pub(super) header: HeaderKind,
    pub(super) cmd: u8,
    pub(super) sub: u8,
    pub(super) data: Vec<u8>,
}

/// A result of the input.
pub(super) enum Heard {
    Command(Command),
    /// A damaged frame with its CMD, or bytes of no frame, which get no response.
    Fault {
        command: Option<u8>,
        status: u8,
    },
}

/// The unfinished input.
#[derive(Default)]
pub(super) struct Link {
    input: Vec<u8>,
    last_byte: Duration,
}

impl Link {
    /// Takes bytes, and calls `on` for each frame and each fault.
    pub(super) fn take(&mut self, bytes: &[u8], now: Duration, mut on: impl FnMut(Heard)) {
        if now.saturating_sub(self.last_byte) > PATIENCE {
            self.input.clear();
        }
        self.last_byte = now;
        self.input.extend(bytes);
        loop {
            let dropped = self.drop_garbage();
            if dropped > 0 {
                on(Heard::Fault { command: None, status: responses::WRONG_HEADER });
            }
            let Some(&[high, low]) = self.input.get(LEN..LEN + 2).and_then(|length| length.first_chunk()) else {
                return;
            };
            let length = usize::from(u16::from_be_bytes([high, low]));
            let command = Some(self.input[CMD]);
            if length > MAX_DATA {
                self.input.clear();
                return on(Heard::Fault { command, status: responses::MALFORMED });
            }
            let whole = MIN_FRAME + length;
            if self.input.len() < whole {
                return;
            }
            let frame: Vec<u8> = self.input.drain(..whole).collect();
            on(checked(&frame).unwrap_or(Heard::Fault { command, status: responses::WRONG_CRC }));
        }
    }

    /// Drops bytes up to the next header or its beginning. Returns their number.
    fn drop_garbage(&mut self) -> usize {
        let begins = |rest: &[u8]| HEADERS.iter().any(|header| rest.starts_with(header) || header.starts_with(rest));
        let at = (0..self.input.len()).find(|at| begins(&self.input[*at..])).unwrap_or(self.input.len());
        self.input.drain(..at).count()
    }

    pub(super) fn is_unfinished(&self) -> bool {
        !self.input.is_empty()
    }
}

/// Returns the command in a whole frame, unless its CRC is wrong.
fn checked(frame: &[u8]) -> Option<Heard> {
    let mut command = None;
    Neo2Decoder::new(Neo2Direction::Command).feed(frame, |received| {
        if let Neo2Received::Frame(frame) = received {
            command = Some(Heard::Command(Command {
                header: frame.header,
                cmd: frame.command,
                sub: frame.sub_or_status,
                data: frame.data.to_vec(),
            }));
        }
    });
    command
}
