//! ID TECH NEO2, also named ViVOtech2 (readers: 4): its frames, commands and responses. The card, the cardholder and
//! the kernel are those of every family.
//!
//! Where the protocol is silent, this reader behaves as follows:
//! - ACTIVATE with the contact interface also starts the chip, and its response is that of START. So its element DFEF3C
//!   has the parameters that START has.
//! - An online PIN of a chip or a tap is entered before the result, which then has the elements 99 and DFEE51.
//! - CANCEL is answered, and the command that it ends is not. With a setting, that command is answered after it.
//! - The reader sends nothing that no command has asked for.
//!
//! Some facts are from ID TECH's public guide for NEO 2 (80139403-002, 2019) and from the frames in ID TECH's public
//! tests: the attribution byte before the elements, the forms of the key commands, and the first byte of the last
//! command of a chip.

use pos_reader_link::neo2_link::HeaderKind;

use self::link::Link;
use self::responses::{finish, finish_with_card};
use super::cardholder::Key;
use super::deck::{Application, Card};
use super::device::Device;
use super::emv_transaction::{Decision, EmvTransaction, Interface, StartTerms};
use super::family::{Failure, FamilySession, LonePin, PinNews, Protocol};
use super::flood::Flood;
use super::keys::{NoKey, Sealed};

mod activate;
mod commands;
mod contact;
mod elements;
mod failures;
mod flood;
mod link;
mod manual_entry;
mod pin;
mod responses;
mod sealed;
mod swipe;

/// The behaviour that the protocol's description leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neo2Settings {
    /// True if a cancelled command gets a response too, after that of CANCEL.
    pub answers_cancelled: bool,
    /// True if an attribution byte stands before the elements of a response.
    pub attributes: bool,
    /// True if ACTIVATE with the contact interface has a first response, as START has.
    pub activate_has_two_responses: bool,
    /// True if the masked track 2 shows the service code. In the published masked tracks, it is hidden.
    pub shows_service_code: bool,
    /// True if the kernel sends its texts to the host (61-01) and waits for the host's answer before it goes on.
    pub sends_texts: bool,
}

impl Default for Neo2Settings {
    fn default() -> Self {
        Self {
            answers_cancelled: false,
            attributes: true,
            activate_has_two_responses: false,
            shows_service_code: false,
            sends_texts: false,
        }
    }
}

/// The family.
pub(super) struct Neo2;

/// The state of the conversation with the host.
pub(super) struct Session {
    link: Link,
    /// The header of the last command, which the response repeats.
    header: HeaderKind,
    /// The CMD of the command whose response is not sent yet.
    pending: Option<u8>,
    /// The terms of the last command that waited for a card.
    terms: Option<StartTerms>,
    /// The interfaces of ACTIVATE: bit 0 stripe, bit 1 antenna, bit 2 contacts.
    interfaces: u8,
    /// True if a card may be swiped after its chip has failed.
    allows_fallback: bool,
    /// True if the chip has failed, and a swipe is expected.
    is_fallback: bool,
    /// True if the reader polls by itself (01-01), so ACTIVATE is not allowed.
    polls_itself: bool,
    /// The elements that the host has set (04-02).
    configuration: Vec<u8>,
    /// The last response to ACTIVATE with data, for GET RESULT.
    last_result: Option<(u8, Vec<u8>)>,
    /// The card of the last transaction, whose PAN a PIN entry may use.
    last_card: Option<&'static Card>,
    /// The elements of a card number that are still to be typed.
    prompts: Vec<u8>,
    /// The transaction that goes on when the host has answered a text.
    waits_for_host: Option<EmvTransaction>,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            link: Link::default(),
            header: HeaderKind::default(),
            pending: None,
            terms: None,
            interfaces: 0,
            allows_fallback: false,
            is_fallback: false,
            polls_itself: false,
            configuration: commands::default_configuration(),
            last_result: None,
            last_card: None,
            prompts: Vec::new(),
            waits_for_host: None,
        }
    }
}

fn session(device: &mut Device) -> &mut Session {
    let FamilySession::Neo2(session) = &mut device.session else { unreachable!("a NEO2 reader has a NEO2 session") };
    session
}

impl Protocol for Neo2 {
    fn hear(&self, device: &mut Device, bytes: &[u8]) {
        let now = device.now;
        let mut heard = Vec::new();
        session(device).link.take(bytes, now, |one| heard.push(one));
        for one in heard {
            match one {
                link::Heard::Command(command) => commands::command(device, &command),
                link::Heard::Fault { command, status } => {
                    device.counters.faults += 1;
                    if let Some(command) = command {
                        responses::respond(device, command, status, &[], false);
                    }
                }
            }
            device.run_due();
        }
    }

    fn is_mid_packet(&self, device: &Device) -> bool {
        matches!(&device.session, FamilySession::Neo2(session) if session.link.is_unfinished())
    }

    fn forget_input(&self, device: &mut Device) {
        session(device).link = Link::default();
    }

    fn powering_off(&self, _device: &mut Device) {}

    fn powered_on(&self, _device: &mut Device) {}

    fn inserted(&self, device: &mut Device, waited: bool) {
        if waited {
            contact::card_inserted(device);
        }
    }

    /// The reader has no events, so the host does not hear of a removal.
    fn removed(&self, _device: &mut Device) {}

    fn text_after_removal(&self, device: &mut Device) -> Option<&'static str> {
        Some(if session(device).is_fallback { "SWIPE CARD" } else { "WELCOME" })
    }

    fn swiped(&self, device: &mut Device, card: &'static Card, waited: bool) {
        if waited {
            swipe::swiped(device, card);
        }
    }

    fn accepts_tap(&self, device: &mut Device, _card: &'static Card) -> bool {
        session(device).interfaces & activate::ANTENNA != 0
    }

    fn idle_key(&self, _device: &mut Device, _key: Key) {}

    fn choosing(&self, _device: &mut Device) {}

    /// The cardholder always chooses on this reader, so the host is never asked.
    fn offers(&self, _device: &mut Device, _candidates: &[Application]) {}

    fn chip_read(&self, device: &mut Device, transaction: EmvTransaction) {
        contact::chip_read(device, transaction);
    }

    /// Single digits are not reported.
    fn pin_news(&self, _device: &mut Device, _news: PinNews) {}

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
        let data = elements::decision(device, transaction, decision, pin)?;
        session(device).last_card = Some(transaction.card);
        let is_online = decision == Decision::Online && !transaction.is_magstripe_mode();
        let status = match transaction.interface {
            Interface::Contactless if is_online => responses::ONLINE_REQUESTED,
            Interface::Contact | Interface::Contactless => responses::OK,
        };
        finish_with_card(device, status, &data);
        Ok(())
    }

    fn concluded(&self, device: &mut Device, transaction: &EmvTransaction, decision: Decision, arc: [u8; 2]) {
        let data = elements::conclusion(device, transaction, decision, arc);
        finish(device, responses::OK, &data);
    }

    /// No command asks for an amount.
    fn amount_typed(&self, _device: &mut Device, _digits: &str) {}

    fn card_element_typed(&self, device: &mut Device) {
        manual_entry::element_typed(device);
    }

    fn failed(&self, device: &mut Device, failure: Failure) {
        failures::failed(device, failure);
    }

    fn flood(&self, device: &mut Device, flood: Flood, bytes: &mut Vec<u8>) {
        flood::piece(device, flood, bytes);
    }
}
