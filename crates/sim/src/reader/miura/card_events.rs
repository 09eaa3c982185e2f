//! The events that report cards to the agent: insertion, removal and swipe (readers: 2.2, 2.3, 2.6).

use super::answers::{event, event_with_card, finish};
use super::message::StatusWord;
use super::session;
use crate::reader::deck::{Card, Chip};
use crate::reader::device::Device;
use crate::reader::keys::NoKey;
use crate::reader::objects;

/// The answer to reset of every chip in the deck, as in a computed event (readers: 2.13).
const ATR: [u8; 9] = [0x3B, 0x65, 0x00, 0x00, 0x20, 0x63, 0xCB, 0x68, 0x00];

/// The bits of P1 in CARD STATUS (readers: 2.2).
const UNSOLICITED: u8 = 0x01;
const WITH_ATR: u8 = 0x02;
const TRACK_1: u8 = 0x04;
const TRACK_2: u8 = 0x08;

/// Handles CARD STATUS, whose answer is the unsolicited message (readers: 2.2).
pub(super) fn card_status(device: &mut Device, bits: u8) {
    session(device).card_status = bits;
    let status = slot_status(device);
    event(device, &status);
}

/// Reports the current card status if the agent has switched that on.
pub(super) fn slot_event(device: &mut Device) {
    if session(device).card_status & UNSOLICITED != 0 {
        let status = slot_status(device);
        event(device, &status);
    }
}

/// Reports a swipe, and ends a wait for a tap.
pub(super) fn swiped(device: &mut Device, card: &Card, waited: bool) {
    let is_on = session(device).card_status & UNSOLICITED != 0;
    let report = if is_on { swipe_event(device, card).ok() } else { None };
    let events_first = device.options.events_first;
    if waited && !events_first {
        finish(device, &[], StatusWord::CARD_SWIPED);
    }
    if let Some(report) = report {
        event_with_card(device, &report);
    }
    if waited && events_first {
        finish(device, &[], StatusWord::CARD_SWIPED);
    }
}

fn slot_status(device: &mut Device) -> Vec<u8> {
    let card = device.kernel.slot;
    let answers = card.is_some_and(|card| !matches!(card.chip, Chip::None | Chip::Mute));
    let b1 = u8::from(card.is_some()) | (u8::from(answers) << 1);
    let mut inner = objects::object(0x48, &[b1, 0x00]);
    if answers && session(device).card_status & WITH_ATR != 0 {
        objects::put(&mut inner, 0x63, &ATR);
    }
    objects::object(0xE1, &inner)
}

/// Reports the tracks that the agent has switched on. They are encrypted, or in clear on a device without an SRED key.
fn swipe_event(device: &mut Device, card: &Card) -> Result<Vec<u8>, NoKey> {
    let switches = session(device).card_status;
    let on = |bit| switches & bit != 0;
    let track1 = on(TRACK_1).then(|| card.track1());
    let track2 = on(TRACK_2).then(|| card.track2());
    let b1 = u8::from(device.kernel.slot.is_some());
    let b2 = 0x01 | (u8::from(track1.is_some()) << 1) | (u8::from(track2.is_some()) << 2);
    let mut inner = objects::object(0x48, &[b1, b2]);
    if device.keys.encrypts_card_data {
        let sealed = device.keys.seal_swipe(track1.as_deref(), track2.as_deref())?;
        objects::put(&mut inner, 0xDFAE02, &sealed.data);
        objects::put(&mut inner, 0xDFAE03, &sealed.ksn);
        objects::put(&mut inner, 0xDFAE22, card.masked_track2().as_bytes());
    } else {
        for (tag, track) in [(0x5F21, track1), (0x5F22, track2)] {
            if let Some(track) = track {
                objects::put(&mut inner, tag, track.as_bytes());
            }
        }
    }
    Ok(objects::object(0xE1, &inner))
}
