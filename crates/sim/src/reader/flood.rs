//! A reader that sends data without end, as fast as its connection allows, because it is broken or made to block a
//! terminal.

use super::device::{Device, OutgoingBytes};
use pos_reader_link::apdu_link;

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
            self.protocol().flood(self, flood, &mut bytes);
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
