//! Decides which command may run now, and carries out those without a card: identity, clock, display, switches, key
//! status, ABORT and RESET (readers: 3.2).

use super::answers::answer;
use super::message::{Command, StatusWord};
use super::{Antenna, card_events, contact, contactless, identity, manual_entry, pin, session};
use crate::reader::device::Device;
use crate::reader::kernel::Running;
use crate::reader::number_entry::TypedFor;
use crate::reader::objects;
use crate::reader::script::ScriptEvent;

const RESET: u16 = 0xD000;
const ABORT: u16 = 0xD0FF;
const CARD_STATUS: u16 = 0xD060;
const KEYBOARD: u16 = 0xD061;
const CLOCK: u16 = 0xDD10;
const DISPLAY: u16 = 0xD201;
const DISPLAY_TEXT: u16 = 0xD202;
const LANGUAGE: u16 = 0xD2D0;
const KEY_STATUS: u16 = 0xC411;
const CONFIGURATION: u16 = 0xD001;
const NUMERIC: u16 = 0xD204;
const MANUAL_PAN: u16 = 0xD214;
const START: u16 = 0xDED1;
const CONTINUE: u16 = 0xDED2;
const PIN_ENTRY: u16 = 0xDED5;
const ONLINE_PIN: u16 = 0xDED6;
const CONTACTLESS_STATUS: u16 = 0xC000;
const CONTACTLESS_OPEN: u16 = 0xC001;
const CONTACTLESS_CLOSE: u16 = 0xC002;
const CONTACTLESS_START: u16 = 0xC0A0;
const CONTACTLESS_CONTINUE: u16 = 0xC0A1;
const CONTACTLESS_CANCEL: u16 = 0xC0C0;

/// The commands that the protocol's description lists, and that this reader does not have (readers: 3.2).
const NOT_SUPPORTED: &[u16] = &[
    0x00A4, 0x00B0, 0x00D6, 0x00AA, 0x00AB, 0x00BB, 0x00C0, 0x00C3, 0x00C4, 0x00D0, 0x00DA, 0x00CA, 0x00A5, 0xC010,
    0xC0FD, 0xC0FE, 0xC40A, 0xC410, 0xC413, 0xC420, 0xC421, 0xC422, 0xC425, 0xC426, 0xD003, 0xD004, 0xD005, 0xD00A,
    0xD024, 0xD05F, 0xD062, 0xD063, 0xD064, 0xD203, 0xD205, 0xD20A, 0xD210, 0xD220, 0xD2A1, 0xD2A2, 0xD2A3, 0xD2A4,
    0xD2A5, 0xD2C0, 0xD2E0, 0xD2F1, 0xD2F3, 0xDD00, 0xDE01, 0xDED7, 0xDEFF,
];

/// Handles a message of the host.
pub(super) fn message(device: &mut Device, bytes: &[u8]) {
    let code = bytes.first_chunk().map(|code| u16::from_be_bytes(*code));
    let parsed = Command::parse(bytes);
    let has_arc = parsed.and_then(|command| command.elements()).is_ok_and(|all| objects::value(all, 0x8A).is_some());
    let is_answer_of_issuer = has_arc && matches!(code, Some(CONTINUE | CONTACTLESS_CONTINUE));
    let is_abort = matches!(code, Some(ABORT | CONTACTLESS_CANCEL));
    if !device.command_arrives(code, is_abort, is_answer_of_issuer) {
        return;
    }
    let done = parsed.and_then(|command| {
        may_run(device, &command)?;
        carry_out(device, &command)
    });
    match done {
        Ok(Some(body)) => answer(device, &body, StatusWord::OK),
        Ok(None) => {}
        Err(sw) => answer(device, &[], sw),
    }
    if matches!(device.kernel.running, Running::Number(_)) {
        device.happens(ScriptEvent::Number);
    }
}

/// Returns whether the command may run beside the running one.
fn may_run(device: &mut Device, command: &Command<'_>) -> Result<(), StatusWord> {
    let is_active = session(device).antenna == Antenna::Active;
    let is_pin = matches!(device.kernel.running, Running::Pin(_));
    match command.code {
        RESET | ABORT | CONTACTLESS_CANCEL => Ok(()),
        PIN_ENTRY if is_pin => Ok(()),
        ONLINE_PIN if is_pin && command.p2 == pin::CANCEL => Ok(()),
        CARD_STATUS | KEYBOARD | CLOCK | DISPLAY | DISPLAY_TEXT | LANGUAGE | KEY_STATUS | CONTACTLESS_STATUS
            if is_active =>
        {
            Ok(())
        }
        // After 9F35, the host may start the second tap with a new command.
        CONTACTLESS_START if is_active && session(device).phone_is_ready => Ok(()),
        _ if is_active => Err(StatusWord::WRONG_ORDER),
        _ if device.kernel.is_idle() => Ok(()),
        _ => Err(StatusWord::BUSY),
    }
}

/// Carries out a command. Returns the body of its answer; `None` if the answer is sent elsewhere or later.
fn carry_out(device: &mut Device, command: &Command<'_>) -> Result<Option<Vec<u8>>, StatusWord> {
    match command.code {
        RESET => reset(device, command).map(Some),
        CONFIGURATION => Ok(Some(identity::configuration(device))),
        ABORT => {
            abort(device);
            Ok(None)
        }
        CARD_STATUS => {
            card_events::card_status(device, command);
            Ok(None)
        }
        KEYBOARD => match command.p1 {
            0x00 | 0x07 => {
                session(device).keys = command.p1 == 0x07;
                Ok(Some(Vec::new()))
            }
            _ => Err(StatusWord::WRONG_P1),
        },
        CLOCK => clock(device, command).map(Some),
        DISPLAY => display(device, command).map(Some),
        DISPLAY_TEXT => show(device, command.data).map(Some),
        LANGUAGE => Ok(Some(objects::template(0xE0, &[(LANGUAGE_TAG, b"en")]))),
        KEY_STATUS => key_status(device, command).map(Some),
        NUMERIC => numeric(device, command).map(|()| None),
        MANUAL_PAN => manual_entry::start(device, command).map(|()| None),
        START => contact::start(device, command).map(|()| None),
        CONTINUE => contact::continue_transaction(device, command).map(|()| None),
        PIN_ENTRY => pin::entry_control(device, command).map(|()| None),
        ONLINE_PIN => pin::online(device, command).map(|()| None),
        CONTACTLESS_STATUS => contactless::status(device, command).map(Some),
        CONTACTLESS_OPEN => Ok(Some(contactless::open(device, Antenna::Open))),
        CONTACTLESS_CLOSE => Ok(Some(contactless::open(device, Antenna::Closed))),
        CONTACTLESS_START => contactless::start(device, command).map(|()| None),
        CONTACTLESS_CONTINUE => contactless::continue_transaction(device, command).map(|()| None),
        CONTACTLESS_CANCEL => {
            contactless::cancel(device);
            Ok(None)
        }
        code if NOT_SUPPORTED.contains(&code) => Err(StatusWord::NOT_SUPPORTED),
        _ => Err(StatusWord::UNKNOWN_INSTRUCTION),
    }
}

/// The tag of a language. UNCERTAIN: the description names no tag for VIPA, so this is Miura's.
const LANGUAGE_TAG: u32 = 0xDFA20C;

/// Handles RESET. A soft reset ends all running steps; a reboot or restart also clears the switches and closes the
/// antenna. The connection stays, as over RS-232.
fn reset(device: &mut Device, command: &Command<'_>) -> Result<Vec<u8>, StatusWord> {
    const INFO: u8 = 0x01;
    const NO_INFO: u8 = 0x20;
    if command.p1 > 0x02 {
        return Err(StatusWord::WRONG_P1);
    }
    device.reset();
    let antenna = session(device).antenna;
    session(device).antenna = if antenna == Antenna::Closed { antenna } else { Antenna::Open };
    session(device).phone_is_ready = false;
    if command.p1 != 0 {
        let link = std::mem::take(&mut session(device).link);
        *session(device) = super::Session { link, ..super::Session::default() };
    }
    if command.p2 & INFO == 0 || command.p2 & NO_INFO != 0 {
        return Ok(Vec::new());
    }
    Ok(identity::info(device))
}

/// Handles ABORT. The aborted command is answered after the ABORT. A wait for a tap was already answered, so it goes
/// on.
fn abort(device: &mut Device) {
    let is_tap = matches!(device.kernel.running, Running::Tap(_));
    if !is_tap {
        device.race_before_abort();
    }
    answer(device, &[], StatusWord::OK);
    if is_tap || device.kernel.is_idle() {
        return;
    }
    // A PIN that the host has asked for after the card's decision leaves the transaction open.
    let is_lone_pin = matches!(&device.kernel.running, Running::Pin(entry) if entry.transaction().is_none());
    if is_lone_pin {
        let waiting = device.kernel.awaiting_host.take();
        device.end_running_command();
        device.kernel.awaiting_host = waiting;
    } else {
        device.end_running_command();
    }
}

/// Sets or reads the clock. UNCERTAIN: the meaning of P1, so it is not checked (readers: 3.2).
fn clock(device: &mut Device, command: &Command<'_>) -> Result<Vec<u8>, StatusWord> {
    if command.data.is_empty() {
        let (date, time) = device.clock.split_at(3);
        return Ok(objects::template(0xE0, &[(0x9A, date), (0x9F21, time)]));
    }
    let elements = command.elements()?;
    let date: [u8; 3] = objects::need(elements, 0x9A)?;
    let time: [u8; 3] = objects::need(elements, 0x9F21)?;
    device.clock = [date[0], date[1], date[2], time[0], time[1], time[2]];
    Ok(Vec::new())
}

/// Shows a text of the language file, or with index 00 the text in the command.
fn display(device: &mut Device, command: &Command<'_>) -> Result<Vec<u8>, StatusWord> {
    let text = match command.p1 {
        0x00 => return show(device, command.data),
        0x01 => "WELCOME",
        0x02 => "PROCESSING",
        0x0D => "INSERT CARD",
        0x0E => "REMOVE CARD",
        // The texts of these two indices are not published.
        0x14 | 0x2B => "PLEASE WAIT",
        _ => return Err(StatusWord::WRONG_P1),
    };
    device.display.show(text);
    Ok(Vec::new())
}

/// Shows a text. A 09 centres its line, which this display does not; a 0D before it has no effect.
fn show(device: &mut Device, text: &[u8]) -> Result<Vec<u8>, StatusWord> {
    if text.is_empty() {
        return Err(StatusWord::DATA_MISSING);
    }
    let text: Vec<u8> = text.iter().copied().filter(|c| !matches!(c, 0x09 | 0x0D)).collect();
    device.display.show(&String::from_utf8_lossy(&text));
    Ok(Vec::new())
}

/// Returns the KSNs of the key sets. UNCERTAIN: IV and check block are only named, so they are random here.
fn key_status(device: &mut Device, command: &Command<'_>) -> Result<Vec<u8>, StatusWord> {
    /// The security slots that the description mentions.
    const SLOTS: [u8; 3] = [0x02, 0x05, 0x0B];
    let (card, pin) = (device.keys.reports_card_key(), device.keys.reports_pin_key());
    if !SLOTS.contains(&command.p1) || !(card || pin) {
        return Err(StatusWord::NO_KEYS);
    }
    let (card_ksn, pin_ksn) = device.keys.next_ksns();
    let mut inner = Vec::new();
    if pin {
        objects::put(&mut inner, 0xDFED03, &pin_ksn);
    }
    objects::put(&mut inner, 0xDFEC46, &[command.p1]);
    if card {
        objects::put(&mut inner, 0xDFDF11, &card_ksn);
        objects::put(&mut inner, 0xDFDF12, &device.random_bytes());
        objects::put(&mut inner, 0xDFDF10, &device.random_bytes());
    }
    Ok(objects::object(0xE0, &inner))
}

/// Asks for an amount.
fn numeric(device: &mut Device, command: &Command<'_>) -> Result<(), StatusWord> {
    let elements = command.elements()?;
    let _prompts: [u8; 6] = objects::need(elements, 0xDFA206)?;
    let _format: [u8; 2] = objects::need(elements, 0xDFA207)?;
    device.display.amount = None;
    device.ask_for_digits("ENTER AMOUNT", TypedFor::Amount);
    Ok(())
}
