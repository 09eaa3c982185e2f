//! Decides which command may run now, and carries out those without a card: ping, identity, poll mode, configuration,
//! clock, texts and keys (readers: 4.2).

use super::link::Command;
use super::responses::{
    FAILED, MALFORMED, NOT_ALLOWED, NOT_SUPPORTED, OK, UNKNOWN_COMMAND, UNKNOWN_SUB, WRONG_PARAMETER, respond,
};
use super::{activate, contact, manual_entry, pin, session};
use crate::reader::device::Device;
use crate::reader::kernel::Running;
use crate::reader::objects;
use crate::reader::script::ScriptEvent;
use pos_terms::emv::tlv;

const PING: u16 = 0x1801;
const VERSION: u16 = 0x2900;
const KERNEL: u16 = 0x2906;
const SERIAL: u16 = 0x1201;
const POLL_MODE: u16 = 0x0101;
const USER_INTERFACE: u16 = 0x0102;
const ACTIVATE: u16 = 0x0240;
const RESULT: u16 = 0x0340;
const CANCEL: u16 = 0x0501;
const GET_CONFIGURATION: u16 = 0x0302;
const SET_CONFIGURATION: u16 = 0x0402;
const START: u16 = 0x6010;
const AUTHENTICATE: u16 = 0x6011;
const APPLY: u16 = 0x6012;
const TEXT: u16 = 0x6101;
const MENU: u16 = 0x6102;
const PIN_CANCEL: u16 = 0x6200;
const ENCRYPTED_PIN: u16 = 0x6201;
const SIGNED_TEXT: u16 = 0x6205;
const KSN: u16 = 0x810A;
const KEY_STATE: u16 = 0x810B;
const KEY_INFO: u16 = 0x810C;
const MANUAL_PAN: u16 = 0x8341;
const ENCRYPTION: u16 = 0xC737;
const ATTRIBUTION: u16 = 0xC7A3;
const TIME: u16 = 0x2501;
const DATE: u16 = 0x2503;

/// The commands that the protocol's description lists, and that this reader does not have (readers: 4.2).
const MISSING: &[u16] = &[0x0201, 0x3001, 0x3003, 0x6006, 0x6016, 0x6202, 0x6203, 0x6204, 0x810D, 0x2C01];

/// The firmware and kernel of this simulator.
const FIRMWARE: &[u8] = b"SIM NEO2 V1.00.000";
const KERNELS: &[u8] = b"SIM EMV L2 V1.00";

/// The reader's own currency, which a host may replace (04-02).
pub(super) fn default_configuration() -> Vec<u8> {
    objects::object(0x5F2A, &[0x08, 0x26])
}

/// Handles a command of the host.
pub(super) fn command(device: &mut Device, command: &Command) {
    let code = u16::from_be_bytes([command.cmd, command.sub]);
    session(device).header = command.header;
    let is_abort = matches!(code, CANCEL | PIN_CANCEL);
    if !device.command_arrives(Some(code), is_abort, code == APPLY) {
        return;
    }
    // The host's answer to a text is no command, so it gets no response.
    if code == TEXT && session(device).waits_for_host.is_some() {
        return contact::text_answered(device);
    }
    let is_busy = session(device).pending.is_some();
    let done = if is_busy && !is_abort { Err(NOT_ALLOWED) } else { carry_out(device, code, &command.data) };
    match done {
        Ok(Some(data)) => respond(device, command.cmd, OK, &data, false),
        Ok(None) => {}
        Err(status) => respond(device, command.cmd, status, &[], false),
    }
    if matches!(device.kernel.running, Running::Number(_)) {
        device.happens(ScriptEvent::Number);
    }
}

/// Carries out a command. Returns the data of its response; `None` if the response is sent elsewhere or later.
fn carry_out(device: &mut Device, code: u16, data: &[u8]) -> Result<Option<Vec<u8>>, u8> {
    match code {
        PING => Ok(Some(Vec::new())),
        VERSION => Ok(Some(FIRMWARE.to_vec())),
        KERNEL => Ok(Some(KERNELS.to_vec())),
        SERIAL => Ok(Some(device.options.serial.clone().into_bytes())),
        POLL_MODE => poll_mode(device, data).map(Some),
        USER_INTERFACE => one_byte(data).map(|_| Some(Vec::new())),
        ACTIVATE => activate::activate(device, data).map(|()| None),
        RESULT => {
            activate::result(device);
            Ok(None)
        }
        CANCEL => {
            activate::cancel(device, 0x05);
            Ok(None)
        }
        GET_CONFIGURATION => Ok(Some(session(device).configuration.clone())),
        SET_CONFIGURATION => set_configuration(device, data).map(Some),
        START => contact::start(device, data).map(|()| None),
        AUTHENTICATE => contact::authenticate(device, data).map(|()| None),
        APPLY => contact::apply(device, data).map(|()| None),
        TEXT | MENU | SIGNED_TEXT => show(device, data).map(Some),
        PIN_CANCEL => {
            activate::cancel(device, 0x62);
            Ok(None)
        }
        ENCRYPTED_PIN => pin::start(device, data).map(|()| None),
        KSN => ksn(device).map(Some),
        KEY_STATE => key_state(device, data).map(Some),
        KEY_INFO => Ok(Some(key_info(device))),
        MANUAL_PAN => manual_entry::start(device, data).map(|()| None),
        // Bit 0 is for stripes, and bit 1 for chips.
        ENCRYPTION => Ok(Some(vec![if device.keys.encrypts_card_data { 0x03 } else { 0x00 }])),
        ATTRIBUTION => attribution(device).map(Some),
        TIME => set_clock(device, data, 3).map(Some),
        DATE => set_clock(device, data, 0).map(Some),
        code if MISSING.contains(&code) => Err(NOT_SUPPORTED),
        code => Err(unknown(code)),
    }
}

/// Returns the status for an unknown command: unknown as a whole, or only its second byte.
fn unknown(code: u16) -> u8 {
    const KNOWN: [u8; 14] = [0x01, 0x02, 0x03, 0x04, 0x05, 0x12, 0x18, 0x25, 0x29, 0x60, 0x61, 0x62, 0x81, 0x83];
    let [cmd, _] = code.to_be_bytes();
    if KNOWN.contains(&cmd) || cmd == 0xC7 { UNKNOWN_SUB } else { UNKNOWN_COMMAND }
}

fn one_byte(data: &[u8]) -> Result<u8, u8> {
    match *data {
        [byte] => Ok(byte),
        _ => Err(WRONG_PARAMETER),
    }
}

/// Sets the poll mode: 00 by itself, 01 on demand.
fn poll_mode(device: &mut Device, data: &[u8]) -> Result<Vec<u8>, u8> {
    match one_byte(data)? {
        mode @ (0x00 | 0x01) => {
            session(device).polls_itself = mode == 0x00;
            Ok(Vec::new())
        }
        _ => Err(WRONG_PARAMETER),
    }
}

/// Replaces the elements of the configuration that the host names.
fn set_configuration(device: &mut Device, data: &[u8]) -> Result<Vec<u8>, u8> {
    tlv::visit(data, &mut |_| {}).map_err(|_| MALFORMED)?;
    if data.is_empty() {
        return Err(WRONG_PARAMETER);
    }
    let new: Vec<_> = tlv::walk(data).flatten().map(|object| object.tag).collect();
    let kept = tlv::walk(&session(device).configuration).flatten().filter(|object| !new.contains(&object.tag));
    let kept: Vec<u8> = kept.flat_map(|object| object.raw.to_vec()).collect();
    session(device).configuration = [&kept[..], data].concat();
    Ok(Vec::new())
}

/// Shows a text. UNCERTAIN: the bytes before and after it, so only its readable part is shown.
fn show(device: &mut Device, data: &[u8]) -> Result<Vec<u8>, u8> {
    let is_text = |c: &u8| c.is_ascii_graphic() || matches!(c, b' ' | b'\n');
    let text: String = data.iter().filter(|c| is_text(c)).map(|c| char::from(*c)).collect();
    if text.is_empty() {
        return Err(WRONG_PARAMETER);
    }
    device.display.show(&text);
    Ok(Vec::new())
}

/// Returns the next KSN of the card data. UNCERTAIN: the command is only named.
fn ksn(device: &Device) -> Result<Vec<u8>, u8> {
    let (card, _) = device.keys.next_ksns();
    if device.keys.reports_card_key() && !card.is_empty() { Ok(card) } else { Err(FAILED) }
}

/// Returns the state of a key and its next KSN. The data are the key's use and a slot of two bytes, which is 0.
fn key_state(device: &Device, data: &[u8]) -> Result<Vec<u8>, u8> {
    const FOR_PIN: u8 = 0x01;
    const FOR_CARD_DATA: u8 = 0x02;
    const UNUSED: u8 = 0x00;
    const VALID: u8 = 0x01;
    const END_OF_LIFE: u8 = 0x02;
    const NOT_AVAILABLE: u8 = 0xFF;
    let &[usage, 0, 0] = data else { return Err(WRONG_PARAMETER) };
    let (card, pin) = device.keys.next_ksns();
    let (is_there, ksn) = match usage {
        FOR_PIN => (device.keys.holds_pin_key, pin),
        FOR_CARD_DATA => (device.keys.encrypts_card_data, card),
        _ => return Ok(vec![NOT_AVAILABLE]),
    };
    Ok(match (is_there, u8::try_from(ksn.len())) {
        (false, _) => vec![UNUSED],
        (true, Ok(length @ 1..)) => [&[VALID, length][..], &ksn].concat(),
        (true, _) => vec![END_OF_LIFE],
    })
}

/// Returns the keys. UNCERTAIN: their form. Here each key has a byte for its use and one for its presence.
fn key_info(device: &Device) -> Vec<u8> {
    vec![0x01, u8::from(device.keys.reports_card_key()), 0x02, u8::from(device.keys.reports_pin_key())]
}

/// Returns the attribution of the data key: bits 2 and 1 are 00 for TDES and 01 for AES.
fn attribution(device: &Device) -> Result<Vec<u8>, u8> {
    let (card, _) = device.keys.next_ksns();
    if device.keys.reports_card_key() { Ok(vec![if card.len() == 12 { 0x02 } else { 0x00 }]) } else { Err(FAILED) }
}

/// Sets the time HHMM or HHMMSS, or the date YYYYMMDD, as BCD. UNCERTAIN: the commands are only named.
fn set_clock(device: &mut Device, data: &[u8], at: usize) -> Result<Vec<u8>, u8> {
    let new = match (at, data) {
        (0, [_, year, month, day]) => [*year, *month, *day],
        (3, [hour, minute]) => [*hour, *minute, 0],
        (3, [hour, minute, second]) => [*hour, *minute, *second],
        _ => return Err(WRONG_PARAMETER),
    };
    device.clock[at..at + 3].copy_from_slice(&new);
    Ok(Vec::new())
}
