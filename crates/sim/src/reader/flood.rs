//! A reader that sends data without end, as fast as its connection allows, because it is broken or made to block a
//! terminal.

use super::device::{Device, OutgoingBytes};
use super::message;
use pos_reader_link::apdu_link::{self, Nad};

/// The size of a chunk in bytes, which is one read of the other side. When a flood ends, at most this much stays
/// unread.
const PIECE: usize = 1024;

/// The content of a flood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flood {
    /// Device status messages, each with a new text, so that the cashier sees a change each time.
    Status,
    /// A card that is inserted and removed again and again.
    Cards,
    /// The enter key.
    Keys,
    /// Answers without a command.
    Answers,
    /// Bytes outside any packet.
    Garbage,
    /// Beginnings of packets.
    Partial,
    /// One message of many packets, without a last packet.
    Huge,
}

/// The names of the floods in a script.
pub const FLOODS: &[(&str, Flood)] = &[
    ("status", Flood::Status),
    ("cards", Flood::Cards),
    ("keys", Flood::Keys),
    ("answers", Flood::Answers),
    ("garbage", Flood::Garbage),
    ("partial", Flood::Partial),
    ("huge", Flood::Huge),
];

impl Device {
    /// Returns the next chunk of the flood, if there is one. [`Device::output`] does not include it, because that
    /// output has an end.
    pub fn flood(&mut self) -> Option<OutgoingBytes> {
        let flood = self.faults.flood.filter(|_| !self.faults.is_off())?;
        let mut bytes = Vec::with_capacity(PIECE + apdu_link::MAX_PACKET);
        while bytes.len() < PIECE {
            match flood {
                Flood::Status => {
                    let text = format!("NO {}", self.next_random());
                    let status = message::template(0xE6, &[(0xC3, &[0xC0]), (0xC4, text.as_bytes())]);
                    say(&mut bytes, true, &status);
                }
                Flood::Cards => {
                    for slot in [0x03, 0x00] {
                        say(&mut bytes, true, &message::template(0xE1, &[(0x48, &[slot, 0x00])]));
                    }
                }
                Flood::Keys => say(&mut bytes, true, &message::template(0xE0, &[(0xDFA205, &[0x0D])])),
                Flood::Answers => say(&mut bytes, false, &[]),
                Flood::Garbage => bytes.extend(self.next_random().to_be_bytes()),
                Flood::Partial => bytes.extend([0x01, 0x40, 0xFE, 0xE6]),
                Flood::Huge => {
                    let packets =
                        apdu_link::chain(Nad::Reader, true, &[0xE6; 2 * apdu_link::MAX_APDU], apdu_link::MAX_APDU);
                    // The last packet is missing.
                    bytes.extend(packets.into_iter().flatten().next().into_iter().flatten());
                }
            }
        }
        self.faults.flooded += bytes.len() as u64;
        Some(OutgoingBytes { bytes, card: false })
    }

    /// Returns the number of flood bytes that were taken so far.
    #[must_use]
    pub fn flooded(&self) -> u64 {
        self.faults.flooded
    }
}

fn say(bytes: &mut Vec<u8>, unsolicited: bool, body: &[u8]) {
    let message = [body, &[0x90, 0x00]].concat();
    let packets = apdu_link::chain(Nad::Reader, unsolicited, &message, apdu_link::MAX_APDU);
    packets.into_iter().flatten().for_each(|packet| bytes.extend(packet));
}
