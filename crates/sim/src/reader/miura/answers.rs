//! Miura's answers and unsolicited messages, split into packets (readers: 2.1, 2.3).

use super::message::StatusWord;
use crate::reader::device::Device;
use crate::reader::objects;
use pos_reader_link::apdu_link::{self, Nad};

/// Sends the answer to the running command, and ends the command.
pub(super) fn finish(device: &mut Device, body: &[u8], sw: StatusWord) {
    device.kernel.end_command();
    answer(device, body, sw);
}

/// Sends an answer.
pub(super) fn answer(device: &mut Device, body: &[u8], sw: StatusWord) {
    if device.options.chatter {
        chatter(device);
    }
    packets(device, body, sw, false, false);
}

/// Sends an answer with card data.
pub(super) fn finish_with_card(device: &mut Device, body: &[u8]) {
    device.kernel.end_command();
    if device.options.chatter {
        chatter(device);
    }
    packets(device, body, StatusWord::OK, false, true);
}

/// Sends an unsolicited message.
pub(super) fn event(device: &mut Device, body: &[u8]) {
    packets(device, body, StatusWord::OK, true, false);
}

/// Sends an unsolicited message with card data.
pub(super) fn event_with_card(device: &mut Device, body: &[u8]) {
    packets(device, body, StatusWord::OK, true, true);
}

/// Sends unsolicited messages that a driver must ignore: a beep, a status without text, and a printer message.
fn chatter(device: &mut Device) {
    event(device, &objects::template(0xE6, &[(0xC3, &[0xCB]), (0xC4, b"Success beep")]));
    event(device, &objects::template(0xE6, &[(0xC3, &[0xC0])]));
    event(device, &objects::template(0xE6, &[(0xDFA401, &[0x03])]));
}

fn packets(device: &mut Device, body: &[u8], sw: StatusWord, unsolicited: bool, card: bool) {
    let message = [body, &sw.0.to_be_bytes()].concat();
    let packets = apdu_link::chain(Nad::Reader, unsolicited, &message, device.options.chain_size);
    let mut bytes = Vec::new();
    for packet in packets.expect("a status word is long enough for a packet") {
        let last = packet.get(1).is_some_and(|pcb| pcb & 1 == 0);
        bytes.extend(packet);
        if !last && device.options.chatter {
            // Packets with the other NAD may come between the packets of a chain (readers: 2.1).
            let barcode = [&objects::template(0xE1, &[(0xDFAB01, b"something")])[..], &[0x90, 0x00]].concat();
            let other = apdu_link::chain(Nad::Base, true, &barcode, apdu_link::MAX_APDU);
            other.expect("long enough for a packet").for_each(|packet| bytes.extend(packet));
        }
    }
    device.send(bytes, card);
}
