//! PIN entry: ONLINE PIN, the commands that end it, and its events (readers: 3.2, 3.3).

use super::answers::{answer, unsolicited};
use super::message::{Command, StatusWord};
use crate::reader::deck::{Card, DECK};
use crate::reader::device::Device;
use crate::reader::family::{Failure, LonePin, PinNews};
use crate::reader::objects::{self, object, template};
use crate::reader::pin_entry::PinPurpose;

/// P2 of ONLINE PIN: start or cancel.
const START: u8 = 0x00;
pub(super) const CANCEL: u8 = 0x01;
/// C3 in an event: a PIN is requested.
const PIN_REQUESTED: u8 = 0x0C;
/// DFA20A in an event: the PIN is right.
const PIN_OK: u8 = 0x03;

/// Handles ONLINE PIN. P1 is a key slot of the host; this reader has its PIN key in every slot.
pub(super) fn online(device: &mut Device, command: &Command<'_>) -> Result<(), StatusWord> {
    match command.p2 {
        START => {}
        // `may_run` lets it through only during a PIN entry, or when no command is running.
        CANCEL if device.kernel.is_idle() => return Err(StatusWord::WRONG_ORDER),
        CANCEL => {
            end_entry(device, |device| device.pin_given_up(Failure::Aborted));
            return Ok(());
        }
        _ => return Err(StatusWord::WRONG_FORMAT),
    }
    let elements = command.elements()?;
    let _try: [u8; 1] = objects::need(elements, 0xDFEC05)?;
    let _least: Option<[u8; 1]> = objects::get(elements, 0xDFED04)?;
    let _most: [u8; 1] = objects::need(elements, 0xDFED05)?;
    let _amount: [u8; 6] = objects::need(elements, 0xDFDF17)?;
    let _currency = objects::value(elements, 0xDFDF24).ok_or(StatusWord::DATA_MISSING)?;
    let _exponent: [u8; 1] = objects::need(elements, 0xDFDF1C)?;
    if !device.keys.reports_pin_key() {
        return Err(StatusWord::NO_KEYS);
    }
    let last = last_card(device);
    let (card, pan) = match objects::value(elements, 0x5A) {
        None => last.map(|card| (card, card.pan.to_owned())).ok_or(StatusWord::NO_CARD)?,
        Some(value) => {
            let pan = digits(value).ok_or(StatusWord::INVALID_DATA)?;
            // The holder of an unknown card types the PIN of the last card, or of the first card of the deck.
            let known = DECK.iter().find(|card| card.pan == pan).or(last).or(DECK.first());
            (known.ok_or(StatusWord::INVALID_DATA)?, pan)
        }
    };
    device.ask_for_pin(PinPurpose::Alone { card, pan });
    Ok(())
}

/// Handles VERIFY PIN during a PIN entry: bypass or cancel.
pub(super) fn entry_control(device: &mut Device, command: &Command<'_>) -> Result<(), StatusWord> {
    if device.kernel.is_idle() {
        return Err(StatusWord::WRONG_ORDER);
    }
    match (command.p1, command.p2) {
        (0xFF, 0x01) => end_entry(device, Device::bypass_pin),
        (0x00, 0x00) => end_entry(device, |device| device.pin_given_up(Failure::Aborted)),
        _ => return Err(StatusWord::WRONG_P1),
    }
    Ok(())
}

/// Answers the ending command first. If the cardholder has just finished, the PIN's answer comes before it.
fn end_entry(device: &mut Device, end: impl FnOnce(&mut Device)) {
    device.race_before_abort();
    answer(device, &[], StatusWord::OK);
    end(device);
}

/// Returns the card of the current transaction, or the one that was read last.
fn last_card(device: &Device) -> Option<&'static Card> {
    let in_transaction = device.kernel.awaiting_host.as_ref().map(|transaction| transaction.card);
    in_transaction.or(device.kernel.slot).or(device.kernel.last_swipe)
}

/// Reads a PAN in BCD. Masked digits are refused.
fn digits(value: &[u8]) -> Option<String> {
    let hex = hex::encode_upper(value);
    let digits = hex.strip_suffix('F').unwrap_or(&hex);
    let is_pan = (12..=19).contains(&digits.len()) && digits.bytes().all(|c| c.is_ascii_digit());
    is_pan.then(|| digits.to_owned())
}

/// Reports a step of the PIN entry. Single digits are not reported.
pub(super) fn news(device: &mut Device, news: PinNews) {
    let tries = match news {
        PinNews::Asked { digits: 1.., .. } => return,
        PinNews::Asked { tries, .. } => tries,
        PinNews::Wrong { tries } => Some(tries),
        PinNews::Accepted => None,
    };
    let text: &[u8] = match news {
        PinNews::Asked { .. } => b"ENTER PIN",
        PinNews::Wrong { .. } => b"INCORRECT PIN",
        PinNews::Accepted => b"PIN OK",
    };
    let mut inner = object(0xC3, &[PIN_REQUESTED]);
    objects::put(&mut inner, 0xC4, text);
    if let Some(tries) = tries {
        objects::put(&mut inner, 0xC5, &[tries]);
    }
    if news == PinNews::Accepted {
        objects::put(&mut inner, 0xDFA20A, &[PIN_OK]);
    }
    unsolicited(device, &object(0xE6, &inner), StatusWord::OK);
}

/// Answers ONLINE PIN.
pub(super) fn ended(device: &mut Device, pin: LonePin) {
    let settings = device.options.vipa;
    let (body, sw) = match pin {
        LonePin::Entered(sealed) if settings.pin_in_ff7f => {
            let block = template(0xFF7F, &[(0xDFDF10, &sealed.data), (0xDFDF11, &sealed.ksn)]);
            (object(0xE0, &block), StatusWord::OK)
        }
        LonePin::Entered(sealed) => {
            (template(0xE0, &[(0xDFED6C, &sealed.data), (0xDFED03, &sealed.ksn)]), StatusWord::OK)
        }
        LonePin::Bypassed if settings.bypass_is_empty => (Vec::new(), StatusWord::OK),
        LonePin::Bypassed => (Vec::new(), StatusWord::PIN_BYPASSED),
        LonePin::GivenUp => (Vec::new(), StatusWord::CANCELLED),
        LonePin::NoKey => (Vec::new(), StatusWord::NO_KEYS),
    };
    answer(device, &body, sw);
}
