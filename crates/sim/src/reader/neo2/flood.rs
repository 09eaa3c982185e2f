//! The pieces of a flood in NEO2's frames.

use super::responses::OK;
use crate::reader::device::Device;
use crate::reader::flood::Flood;
use pos_reader_link::neo2_link::{Neo2Direction, encode};

/// The status of an event of the user interface (readers: 4.3).
const UI_EVENT: u8 = 0x0E;

/// Appends the next piece. A NEO2 reader has no events for cards and keys, so those floods are responses that no
/// command has asked for.
pub(super) fn piece(device: &mut Device, flood: Flood, bytes: &mut Vec<u8>) {
    match flood {
        Flood::Status => {
            let text = format!("NO {}", device.next_random());
            say(bytes, 0x01, UI_EVENT, text.as_bytes());
        }
        Flood::Cards => say(bytes, 0x02, OK, &[0x9F, 0x39, 0x01, 0x90]),
        Flood::Keys => say(bytes, 0x62, OK, &[0x01]),
        Flood::Answers => say(bytes, 0x18, OK, &[]),
        Flood::Garbage => bytes.extend(device.next_random().to_be_bytes()),
        Flood::Partial => bytes.extend(b"ViVOtech2\0\x02\0"),
        // The frame names a length that never comes.
        Flood::Huge => bytes.extend([&b"ViVOtech2\0\x02\0\x0F\xFF"[..], &[0xE6; 254]].concat()),
    }
}

fn say(bytes: &mut Vec<u8>, command: u8, status: u8, data: &[u8]) {
    bytes.extend(encode(Neo2Direction::Response, command, status, data).into_iter().flatten());
}
