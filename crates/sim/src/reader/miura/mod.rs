//! Miura MPI (readers: 2): its packets, commands, answers and events. The card, the cardholder and the kernel are those
//! of every family.
//!
//! Where the protocol is silent, this reader behaves as follows. RESET ends a running command without an answer to that
//! command. If the card is pulled during START, the command ends with 9F41. CONTINUE without the card is answered with
//! 9F23. While a command runs, every other command except ABORT and RESET is refused with 9F26.

use pos_reader_link::apdu_link::{Decoder, Nad, Received};

use self::answers::{answer, event, finish, finish_with_card};
use self::message::{Command, StatusWord};
use super::apdu_flood::{self, ApduFlood};
use super::cardholder::Key;
use super::deck::{Application, Card};
use super::device::Device;
use super::emv_transaction::{Decision, EmvTransaction, Interface};
use super::family::{Failure, FamilySession, LonePin, PinNews, Protocol};
use super::flood::Flood;
use super::kernel::Running;
use super::keys::{NoKey, Sealed};
use super::objects::{object, template};
use super::script::ScriptEvent;

mod answers;
mod card_events;
mod commands;
mod elements;
mod message;
mod number_entry;
mod sealed;
mod transaction;

/// The codes of ABORT, RESET and CONTINUE TRANSACTION.
const ABORT: u16 = 0xD0FF;
const RESET: u16 = 0xD000;
const CONTINUE: u16 = 0xDED2;

/// The one-byte bodies of the answer to ONLINE PIN (readers: 2.9).
const PIN_CANCELLED: u8 = 0x08;
const PIN_BYPASSED: u8 = 0x0C;

/// The DFA102 value of "PIN OK" (readers: 2.13).
const PIN_OK: u8 = 0x02;

/// The family.
pub(super) struct Miura;

/// The state of the conversation with the host.
#[derive(Default)]
pub(super) struct Session {
    decoder: Decoder,
    /// The bits of CARD STATUS: 0 unsolicited, 1 ATR, 2 to 4 tracks (D060).
    card_status: u8,
    /// True if keys are reported (D061).
    keys: bool,
    /// True if the typed card number must be encrypted immediately (D25A).
    seals_at_once: bool,
}

fn session(device: &mut Device) -> &mut Session {
    let FamilySession::Miura(session) = &mut device.session else { unreachable!("a Miura reader has a Miura session") };
    session
}

impl Protocol for Miura {
    fn hear(&self, device: &mut Device, bytes: &[u8]) {
        let mut messages = Vec::new();
        let mut faults = 0;
        session(device).decoder.feed(bytes, |received| match received {
            Received::Message(message) => messages.push((message.nad, message.unsolicited, message.bytes.to_vec())),
            Received::Fault(_) => faults += 1,
        });
        device.counters.faults += faults;
        for message in messages {
            match message {
                (Nad::Reader, false, bytes) => self::message(device, &bytes),
                // Packets for the retail base and unsolicited messages are faults, because hosts never send them here.
                _ => device.counters.faults += 1,
            }
            device.run_due();
        }
    }

    fn is_mid_packet(&self, device: &Device) -> bool {
        matches!(&device.session, FamilySession::Miura(session) if session.decoder.is_unfinished())
    }

    fn forget_input(&self, device: &mut Device) {
        session(device).decoder = Decoder::default();
    }

    /// It is not published whether a device sends this when its firmware crashes. This device does, so the agent gets
    /// both messages of a reboot.
    fn powering_off(&self, device: &mut Device) {
        event(device, &template(0xE6, &[(0xC3, &[0x0A]), (0xC4, b"Powering Off")]));
    }

    fn powered_on(&self, device: &mut Device) {
        event(device, &template(0xE6, &[(0xC3, &[0x01]), (0xC4, b"Powered On")]));
    }

    fn inserted(&self, device: &mut Device, waited: bool) {
        let events_first = device.options.events_first;
        if waited && !events_first {
            finish(device, &[], StatusWord::CARD_INSERTED);
        }
        card_events::slot_event(device);
        if waited && events_first {
            finish(device, &[], StatusWord::CARD_INSERTED);
        }
    }

    fn removed(&self, device: &mut Device) {
        card_events::slot_event(device);
    }

    fn swiped(&self, device: &mut Device, card: &'static Card, waited: bool) {
        card_events::swiped(device, card, waited);
    }

    fn idle_key(&self, device: &mut Device, key: Key) {
        if session(device).keys {
            event(device, &template(0xE0, &[(0xDFA205, &[key.code()])]));
        }
    }

    fn choosing(&self, device: &mut Device) {
        event(device, &template(0xE6, &[(0xC3, &[0x03]), (0xC4, b"Application selection")]));
    }

    /// Sends the list of candidates. The grouping on a real device is not published. Here each candidate has an
    /// application template (61).
    fn offers(&self, device: &mut Device, candidates: &[Application]) {
        let each = candidates.iter();
        let inner: Vec<u8> =
            each.flat_map(|one| template(0x61, &[(0x4F, one.aid), (0x50, one.label.as_bytes())])).collect();
        finish(device, &object(0xE2, &inner), StatusWord::OK);
    }

    fn pin_news(&self, device: &mut Device, news: PinNews) {
        match news {
            // If the chip checks the PIN, the report includes the remaining tries (C5; readers: 2.4).
            PinNews::Asked { digits, tries } => {
                let digits = [digits];
                let mut objects: Vec<(u32, &[u8])> = vec![(0xC3, &[0x02]), (0xC4, b"ENTER PIN"), (0xDFA201, &digits)];
                let tries = tries.map(|tries| [tries]);
                if let Some(tries) = &tries {
                    objects.push((0xC5, tries));
                }
                event(device, &template(0xE6, &objects));
            }
            // The event is identical to the captured one, bit for bit (readers: 2.13).
            PinNews::Accepted => {
                event(device, &template(0xE6, &[(0xC3, &[0x02]), (0xC4, b"PIN OK"), (0xDFA102, &[PIN_OK])]));
            }
            PinNews::Wrong { tries } => {
                event(device, &template(0xE6, &[(0xC3, &[0x02]), (0xC4, b"INCORRECT PIN"), (0xC5, &[tries])]));
            }
        }
    }

    fn lone_pin(&self, device: &mut Device, pin: LonePin) {
        match pin {
            LonePin::Entered(sealed) => {
                let body = template(0xE1, &[(0xDFAE04, &sealed.data), (0xDFAE05, &sealed.ksn)]);
                finish(device, &body, StatusWord::OK);
            }
            LonePin::Bypassed => finish(device, &[PIN_BYPASSED], StatusWord::OK),
            LonePin::GivenUp => finish(device, &[PIN_CANCELLED], StatusWord::OK),
            LonePin::NoKey => finish(device, &[], StatusWord::NO_PIN_KEY),
        }
    }

    fn decided(
        &self,
        device: &mut Device,
        transaction: &EmvTransaction,
        decision: Decision,
        pin: Option<&Sealed>,
    ) -> Result<(), NoKey> {
        // A contactless answer contains the encrypted block twice (readers: 2.13).
        let blocks = if transaction.interface == Interface::Contactless { 2 } else { 1 };
        let sealed = device.keys.seal_card_data(transaction, blocks)?;
        finish_with_card(device, &elements::answer(transaction, decision, None, &sealed, pin));
        Ok(())
    }

    fn concluded(&self, device: &mut Device, transaction: &EmvTransaction, decision: Decision, arc: [u8; 2]) {
        // If the last key was used up after E4, the card's decision is sent without encrypted data. The behaviour of a
        // real device is UNCERTAIN.
        let sealed = device.keys.seal_card_data(transaction, 1).unwrap_or_default();
        finish(device, &elements::answer(transaction, decision, Some(arc), &sealed, None), StatusWord::OK);
    }

    fn amount_typed(&self, device: &mut Device, digits: &str) {
        finish(device, &template(0xE1, &[(0xDFA208, digits.as_bytes())]), StatusWord::OK);
    }

    fn card_element_typed(&self, device: &mut Device) {
        number_entry::card_element_typed(device);
    }

    fn failed(&self, device: &mut Device, failure: Failure) {
        answer(device, &[], failure.into());
    }

    fn flood(&self, device: &mut Device, flood: Flood, bytes: &mut Vec<u8>) {
        apdu_flood::piece(&ApduFlood { card: 0xE1, text: 0xC0 }, device, flood, bytes);
    }
}

/// Handles a message of the host.
fn message(device: &mut Device, bytes: &[u8]) {
    let code = bytes.first_chunk().map(|code| u16::from_be_bytes(*code));
    let is_answer_of_issuer = code == Some(CONTINUE);
    if !device.command_arrives(code, code == Some(ABORT), is_answer_of_issuer) {
        return;
    }
    let command = match Command::parse(bytes) {
        Ok(command) => command,
        Err(sw) => return answer(device, &[], sw),
    };
    if command.extended && !device.options.extended_apdu {
        return answer(device, &[], StatusWord::WRONG_LENGTH);
    }
    match (command.code, &device.kernel.running) {
        (ABORT, _) => abort(device),
        (RESET, _) | (_, Running::Nothing) => {
            commands::carry_out(device, &command);
            if matches!(device.kernel.running, Running::Number(_)) {
                device.happens(ScriptEvent::Number);
            }
        }
        _ => answer(device, &[], StatusWord::NOT_ALLOWED),
    }
}

/// Handles ABORT, which is answered before the command that it ends (readers: 2.8).
fn abort(device: &mut Device) {
    device.race_before_abort();
    device.kernel.sale_is_open = false;
    device.display.amount = None;
    answer(device, &[], StatusWord::OK);
    device.end_running_command();
}
