//! The responses of a NEO2 reader and their status bytes (readers: 4.1, 4.3).

use super::session;
use crate::reader::device::Device;
use pos_reader_link::neo2_link::{Neo2Direction, Neo2Frame, encode_frame};

pub(super) const OK: u8 = 0x00;
pub(super) const WRONG_HEADER: u8 = 0x01;
pub(super) const UNKNOWN_COMMAND: u8 = 0x02;
pub(super) const UNKNOWN_SUB: u8 = 0x03;
pub(super) const WRONG_CRC: u8 = 0x04;
pub(super) const WRONG_PARAMETER: u8 = 0x05;
pub(super) const NOT_SUPPORTED: u8 = 0x06;
pub(super) const MALFORMED: u8 = 0x07;
pub(super) const TIMED_OUT: u8 = 0x08;
pub(super) const FAILED: u8 = 0x0A;
pub(super) const NOT_ALLOWED: u8 = 0x0B;
/// The card asks for the issuer's decision.
pub(super) const ONLINE_REQUESTED: u8 = 0x23;
/// The first of two responses: the command has begun.
pub(super) const BEGUN: u8 = 0x63;

/// ACTIVATE. Its last response can be asked for again.
const ACTIVATE: u8 = 0x02;
/// The commands with two responses: contact EMV, and PIN entry.
const CONTACT: u8 = 0x60;
pub(super) const PIN_PAD: u8 = 0x62;

/// Accepts a command that is answered later. Some commands have a first response.
pub(super) fn accept(device: &mut Device, command: u8, has_contacts: bool) {
    session(device).pending = Some(command);
    let is_activate = command == ACTIVATE && has_contacts && device.options.neo2.activate_has_two_responses;
    if is_activate || matches!(command, CONTACT | PIN_PAD) {
        respond(device, command, BEGUN, &[], false);
    }
}

/// Sends the response to the accepted command, and ends the command.
pub(super) fn finish(device: &mut Device, status: u8, data: &[u8]) {
    end(device, status, data, false);
}

/// Sends the response with card data.
pub(super) fn finish_with_card(device: &mut Device, status: u8, data: &[u8]) {
    end(device, status, data, true);
}

fn end(device: &mut Device, status: u8, data: &[u8], card: bool) {
    device.kernel.end_command();
    session(device).is_fallback = false;
    let Some(command) = session(device).pending.take() else { return };
    if command == ACTIVATE && card {
        session(device).last_result = Some((status, data.to_vec()));
    }
    respond(device, command, status, data, card);
}

/// Sends a response.
pub(super) fn respond(device: &mut Device, command: u8, status: u8, data: &[u8], card: bool) {
    let frame = Neo2Frame { header: session(device).header, command, sub_or_status: status, data };
    let bytes = encode_frame(Neo2Direction::Response, &frame).expect("the elements of a card fit into a frame");
    device.send(bytes.to_vec(), card);
}

/// Sends a text of the kernel to the host, which must answer it (61-01). UNCERTAIN: the form of the data. Here they are
/// a mode, which asks for no key, and the text.
pub(super) fn text_for_host(device: &mut Device, text: &str) {
    const NO_KEY: u8 = 0x01;
    let data = [&[NO_KEY][..], text.as_bytes()].concat();
    let frame = Neo2Frame { header: session(device).header, command: 0x61, sub_or_status: 0x01, data: &data };
    let bytes = encode_frame(Neo2Direction::Command, &frame).expect("a text fits into a frame");
    device.send(bytes.to_vec(), false);
}
