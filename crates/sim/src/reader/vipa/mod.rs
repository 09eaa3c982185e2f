//! Verifone VIPA (readers: 3): its packets, commands, answers and events. The card, the cardholder and the kernel are
//! those of every family.
//!
//! Where the protocol is silent, this reader behaves as follows:
//! - While a command waits for the cardholder, all other commands are refused with 9FFF. Exceptions are ABORT, RESET
//!   and
//!   the commands that end a PIN entry.
//! - A wait for a tap is no running command. It has no time limit. Insertion, swipe and ABORT do not end it: only
//!   CANCEL CONTACTLESS and RESET do.
//! - A chip that is read ends with 9F23 if the card is pulled.
//! - The answers to RESET and CONFIGURATION have no outer template. The others have E0, except for E1 of the
//!   contactless status.

use self::answers::{answer, finish, unsolicited};
use self::link::{Heard, Link};
use self::message::StatusWord;
use super::apdu_flood::{self, ApduFlood};
use super::cardholder::Key;
use super::deck::{Application, Card};
use super::device::Device;
use super::emv_transaction::{Decision, EmvTransaction, Interface};
use super::family::{Failure, FamilySession, LonePin, PinNews, Protocol};
use super::flood::Flood;
use super::keys::{NoKey, Sealed};
use super::objects::template;

mod answers;
mod card_events;
mod commands;
mod contact;
mod contactless;
mod elements;
mod identity;
mod link;
mod manual_entry;
mod masked;
mod message;
mod pin;
mod sealed;

/// The behaviour that differs between versions of VIPA, or that the protocol's description leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VipaSettings {
    /// True if the answer to ONLINE PIN is an encrypted block FF7F; otherwise, it has DFED6C and DFED03 (readers: 3.2).
    pub pin_in_ff7f: bool,
    /// True if an online PIN is entered before the E4, which then contains the PIN block; otherwise, the host asks for
    /// it after the E4. UNCERTAIN (readers: 3.3).
    pub pin_in_e4: bool,
    /// True if a bypassed PIN is answered by 9000 without a body; otherwise, by 9015.
    pub bypass_is_empty: bool,
    /// The value of C0 that approves. UNCERTAIN: the comment in the vendor's file says 01, and the names of its
    /// constants say 00 (readers: 3.3).
    pub approves: u8,
    /// True if the answer to CARD STATUS is flagged as unsolicited (readers: 3.2).
    pub status_is_unsolicited: bool,
}

impl Default for VipaSettings {
    fn default() -> Self {
        Self {
            pin_in_ff7f: false,
            pin_in_e4: false,
            bypass_is_empty: false,
            approves: 0x01,
            status_is_unsolicited: false,
        }
    }
}

/// The family.
pub(super) struct Vipa;

/// The state of the conversation with the host.
#[derive(Default)]
pub(super) struct Session {
    link: Link,
    /// The bits of CARD STATUS: 0 unsolicited, 1 ATR, 2 to 4 tracks (D060).
    card_status: u8,
    /// True if keys are reported (D061, or P2 of D060).
    keys: bool,
    antenna: Antenna,
    /// True if the phone at the antenna has already verified its owner.
    phone_is_ready: bool,
    /// True if the host's choice of an application was also its decision, so no E2 follows.
    decides_at_once: Option<bool>,
    /// The elements of a card number that are still to be typed (D214).
    prompts: Vec<u8>,
}

/// The contactless part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Antenna {
    #[default]
    Closed,
    /// Opened by C001.
    Open,
    /// START CONTACTLESS was answered, and its result is not sent yet.
    Active,
}

fn session(device: &mut Device) -> &mut Session {
    let FamilySession::Vipa(session) = &mut device.session else { unreachable!("a VIPA reader has a VIPA session") };
    session
}

impl Protocol for Vipa {
    fn hear(&self, device: &mut Device, bytes: &[u8]) {
        let now = device.now;
        let mut heard = Vec::new();
        session(device).link.take(bytes, now, |one| heard.push(one));
        for one in heard {
            match one {
                Heard::Message(bytes) => commands::message(device, &bytes),
                Heard::Fault(sw) => {
                    device.counters.faults += 1;
                    answer(device, &[], sw);
                }
            }
            device.run_due();
        }
    }

    fn is_mid_packet(&self, device: &Device) -> bool {
        matches!(&device.session, FamilySession::Vipa(session) if session.link.is_unfinished())
    }

    fn forget_input(&self, device: &mut Device) {
        session(device).link = Link::default();
    }

    /// The protocol describes no message for a reboot, so this reader sends none.
    fn powering_off(&self, _device: &mut Device) {}

    fn powered_on(&self, _device: &mut Device) {}

    fn inserted(&self, device: &mut Device, _waited: bool) {
        card_events::slot_event(device);
    }

    fn removed(&self, device: &mut Device) {
        card_events::slot_event(device);
    }

    /// The host has the display, so its text stays while a sale is open.
    fn text_after_removal(&self, device: &mut Device) -> Option<&'static str> {
        (!device.kernel.sale_is_open).then_some("WELCOME")
    }

    fn swiped(&self, device: &mut Device, card: &'static Card, _waited: bool) {
        card_events::swiped(device, card);
    }

    fn accepts_tap(&self, device: &mut Device, card: &'static Card) -> bool {
        contactless::accepts_tap(device, card)
    }

    fn idle_key(&self, device: &mut Device, key: Key) {
        if session(device).keys {
            unsolicited(device, &template(0xE0, &[(0xDFA205, &[key.code()])]), StatusWord::OK);
        }
    }

    fn choosing(&self, device: &mut Device) {
        let event = template(0xE6, &[(0xC3, &[0x03]), (0xC4, b"APPLICATION SELECTION")]);
        unsolicited(device, &event, StatusWord::OK);
    }

    fn offers(&self, device: &mut Device, candidates: &[Application]) {
        finish(device, &elements::candidates(candidates), StatusWord::OK);
    }

    fn chip_read(&self, device: &mut Device, transaction: EmvTransaction) {
        contact::chip_read(device, transaction);
    }

    fn asks_online_pin_later(&self, device: &Device) -> bool {
        !device.options.vipa.pin_in_e4
    }

    fn pin_news(&self, device: &mut Device, news: PinNews) {
        pin::news(device, news);
    }

    fn lone_pin(&self, device: &mut Device, pin: LonePin) {
        pin::ended(device, pin);
    }

    fn decided(
        &self,
        device: &mut Device,
        transaction: &EmvTransaction,
        decision: Decision,
        pin: Option<&Sealed>,
    ) -> Result<(), NoKey> {
        if transaction.interface == Interface::Contactless {
            return contactless::decided(device, transaction, decision, pin);
        }
        answers::finish_with_card(device, &elements::decision(transaction, decision, None, &[], pin));
        Ok(())
    }

    fn concluded(&self, device: &mut Device, transaction: &EmvTransaction, decision: Decision, arc: [u8; 2]) {
        let body = elements::decision(transaction, decision, Some(arc), &[], None);
        match transaction.interface {
            Interface::Contact => answer(device, &body, StatusWord::OK),
            Interface::Contactless => unsolicited(device, &body, StatusWord::OK),
        }
    }

    fn amount_typed(&self, device: &mut Device, digits: &str) {
        answer(device, &template(0xE0, &[(0xDFA208, digits.as_bytes())]), StatusWord::OK);
    }

    fn card_element_typed(&self, device: &mut Device) {
        manual_entry::element_typed(device);
    }

    fn failed(&self, device: &mut Device, failure: Failure) {
        session(device).decides_at_once = None;
        if session(device).antenna == Antenna::Active {
            session(device).antenna = Antenna::Open;
            return unsolicited(device, &[], failure.into());
        }
        answer(device, &[], failure.into());
    }

    fn flood(&self, device: &mut Device, flood: Flood, bytes: &mut Vec<u8>) {
        apdu_flood::piece(&ApduFlood { card: 0xE0, text: 0x0C }, device, flood, bytes);
    }
}
