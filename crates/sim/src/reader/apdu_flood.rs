//! The pieces of a flood in the packets of Miura MPI and VIPA.

use super::device::Device;
use super::flood::Flood;
use super::objects;
use pos_reader_link::apdu_link::{self, Nad};

/// The values of a family.
pub(super) struct ApduFlood {
    /// The template of a message about a card.
    pub(super) card: u32,
    /// The code of a text in a device status message (C3).
    pub(super) text: u8,
}

/// Appends the next piece.
pub(super) fn piece(family: &ApduFlood, device: &mut Device, flood: Flood, bytes: &mut Vec<u8>) {
    match flood {
        Flood::Status => {
            let text = format!("NO {}", device.next_random());
            say(bytes, true, &objects::template(0xE6, &[(0xC3, &[family.text]), (0xC4, text.as_bytes())]));
        }
        Flood::Cards => {
            for slot in [0x03, 0x00] {
                say(bytes, true, &objects::template(family.card, &[(0x48, &[slot, 0x00])]));
            }
        }
        Flood::Keys => say(bytes, true, &objects::template(0xE0, &[(0xDFA205, &[0x0D])])),
        Flood::Answers => say(bytes, false, &[]),
        Flood::Garbage => bytes.extend(device.next_random().to_be_bytes()),
        Flood::Partial => bytes.extend([0x01, 0x40, 0xFE, 0xE6]),
        Flood::Huge => {
            let packets = apdu_link::chain(Nad::Reader, true, &[0xE6; 2 * apdu_link::MAX_APDU], apdu_link::MAX_APDU);
            // The last packet is missing.
            bytes.extend(packets.into_iter().flatten().next().into_iter().flatten());
        }
    }
}

fn say(bytes: &mut Vec<u8>, unsolicited: bool, body: &[u8]) {
    let message = [body, &[0x90, 0x00]].concat();
    let packets = apdu_link::chain(Nad::Reader, unsolicited, &message, apdu_link::MAX_APDU);
    packets.into_iter().flatten().for_each(|packet| bytes.extend(packet));
}
