//! The events that report cards: insertion, removal and swipe (readers: 3.2, 3.5).

use super::answers::{answer, unsolicited, unsolicited_with_card};
use super::message::{Command, StatusWord};
use super::{masked, sealed, session};
use crate::reader::deck::{Card, Chip};
use crate::reader::device::Device;
use crate::reader::keys::NoKey;
use crate::reader::objects;

/// The answer to reset of every chip in the deck, as in a computed event (readers: 2.13).
const ATR: [u8; 9] = [0x3B, 0x65, 0x00, 0x00, 0x20, 0x63, 0xCB, 0x68, 0x00];

/// The bits of P1 in CARD STATUS, which are those of Miura (readers: 3.2).
const UNSOLICITED: u8 = 0x01;
const WITH_ATR: u8 = 0x02;
const TRACK_1: u8 = 0x04;
const TRACK_2: u8 = 0x08;
/// The bits of P2 that switch key events on.
const KEYS: u8 = 0x03;

/// Handles CARD STATUS. The first reply has the current state.
pub(super) fn card_status(device: &mut Device, command: &Command<'_>) {
    session(device).card_status = command.p1;
    session(device).keys = command.p2 & KEYS != 0;
    let status = slot_status(device);
    if device.options.vipa.status_is_unsolicited {
        unsolicited(device, &status, StatusWord::OK);
    } else {
        answer(device, &status, StatusWord::OK);
    }
}

/// Reports the state of the slot if the agent has switched that on.
pub(super) fn slot_event(device: &mut Device) {
    if session(device).card_status & UNSOLICITED != 0 {
        let status = slot_status(device);
        unsolicited(device, &status, StatusWord::OK);
    }
}

/// Reports a swipe if the agent has switched that on.
pub(super) fn swiped(device: &mut Device, card: &Card) {
    if session(device).card_status & UNSOLICITED == 0 {
        return;
    }
    // Without a key, the swipe is lost.
    if let Ok(event) = swipe_event(device, card) {
        unsolicited_with_card(device, &event);
    }
}

fn slot_status(device: &mut Device) -> Vec<u8> {
    let card = device.kernel.slot;
    let answers = card.is_some_and(|card| !matches!(card.chip, Chip::None | Chip::Mute));
    let mut inner = objects::object(0x48, &[u8::from(card.is_some()) | (u8::from(answers) << 1), 0x00]);
    if answers && session(device).card_status & WITH_ATR != 0 {
        objects::put(&mut inner, 0x63, &ATR);
    }
    objects::object(0xE0, &inner)
}

/// Returns the masked tracks and the encrypted block, or the clear tracks on a reader without an SRED key.
fn swipe_event(device: &mut Device, card: &Card) -> Result<Vec<u8>, NoKey> {
    let switches = session(device).card_status;
    let tracks = (switches & TRACK_1 != 0, switches & TRACK_2 != 0);
    let in_slot = u8::from(device.kernel.slot.is_some());
    let mut inner = objects::object(0x48, &[in_slot, 0x01 | (u8::from(tracks.0) << 1) | (u8::from(tracks.1) << 2)]);
    let is_secured = device.keys.encrypts_card_data;
    if tracks.0 && is_secured {
        objects::put(&mut inner, 0xDFDB05, &masked::track1(card));
    } else if tracks.0 {
        objects::put(&mut inner, 0x5F21, masked::track1_with_lrc(card).as_bytes());
    }
    if tracks.1 && is_secured {
        objects::put(&mut inner, 0xDFDB06, &masked::track2(card));
    } else if tracks.1 {
        objects::put(&mut inner, 0x5F22, card.track2().as_bytes());
    }
    if is_secured {
        inner.extend(sealed::swipe(device, card, tracks)?);
    }
    Ok(objects::object(0xE0, &inner))
}
