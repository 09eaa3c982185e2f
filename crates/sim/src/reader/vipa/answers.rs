//! VIPA's answers and unsolicited messages, split into packets (readers: 3.1).

use super::message::StatusWord;
use crate::reader::device::Device;
use crate::reader::objects::template;
use pos_reader_link::apdu_link::{self, Nad};

/// Sends the answer to the running command, and ends the command.
pub(super) fn finish(device: &mut Device, body: &[u8], sw: StatusWord) {
    device.kernel.end_command();
    answer(device, body, sw);
}

/// Sends an answer with card data, and ends the command.
pub(super) fn finish_with_card(device: &mut Device, body: &[u8]) {
    device.kernel.end_command();
    chatter(device);
    packets(device, body, StatusWord::OK, false, true);
}

/// Sends an answer.
pub(super) fn answer(device: &mut Device, body: &[u8], sw: StatusWord) {
    chatter(device);
    packets(device, body, sw, false, false);
}

/// Sends an unsolicited message, which an event or a contactless result can be.
pub(super) fn unsolicited(device: &mut Device, body: &[u8], sw: StatusWord) {
    packets(device, body, sw, true, false);
}

/// Sends an unsolicited message with card data.
pub(super) fn unsolicited_with_card(device: &mut Device, body: &[u8]) {
    packets(device, body, StatusWord::OK, true, true);
}

/// Sends unsolicited messages that a driver must ignore: a key and a status without text.
fn chatter(device: &mut Device) {
    if device.options.chatter {
        unsolicited(device, &template(0xE6, &[(0xC3, &[0x02])]), StatusWord::OK);
        unsolicited(device, &template(0xE0, &[(0xDFA205, &[0x7F])]), StatusWord::OK);
    }
}

fn packets(device: &mut Device, body: &[u8], sw: StatusWord, is_unsolicited: bool, card: bool) {
    let message = [body, &sw.0.to_be_bytes()].concat();
    let packets = apdu_link::chain(Nad::Reader, is_unsolicited, &message, device.options.chain_size);
    let bytes = packets.expect("a status word is long enough for a packet").flatten().collect();
    device.send(bytes, card);
}
