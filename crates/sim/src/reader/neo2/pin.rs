//! ENCRYPTED PIN outside a transaction (readers: 4.2).

use super::failures::{EXHAUSTED, KEY_CANCEL, NO_KEY, PIN_OK, WRONG_PAN, WRONG_PARAMETER as WRONG_PIN_PARAMETER};
use super::responses::{self, FAILED, OK, PIN_PAD, WRONG_PARAMETER, finish};
use super::session;
use crate::reader::deck::DECK;
use crate::reader::device::Device;
use crate::reader::family::LonePin;
use crate::reader::pin_entry::PinPurpose;

/// The key types: the PAN is the reader's own, or comes with the command.
const OWN_PAN: u8 = 0x01;
const GIVEN_PAN: u8 = 0x11;

/// Handles ENCRYPTED PIN: key type, length of the PAN, PAN in ASCII, greatest and smallest length of a PIN, and a
/// message. Wrong contents are reported by the state in the second response.
pub(super) fn start(device: &mut Device, data: &[u8]) -> Result<(), u8> {
    let [kind, length, rest @ ..] = data else { return Err(WRONG_PARAMETER) };
    let Some((pan, &[most, least, ..])) = rest.split_at_checked(usize::from(*length)) else {
        return Err(WRONG_PARAMETER);
    };
    responses::accept(device, PIN_PAD, false);
    let last = session(device).last_card;
    let state = match (device.keys.holds_pin_key, device.keys.pin_keys_are_left()) {
        (false, _) => Some(NO_KEY),
        (true, false) => Some(EXHAUSTED),
        (true, true) if !(4..=12).contains(&least) || least > most || most > 12 => Some(WRONG_PIN_PARAMETER),
        (true, true) => None,
    };
    if let Some(state) = state {
        finish(device, FAILED, &[state]);
        return Ok(());
    }
    let digits = std::str::from_utf8(pan).unwrap_or_default();
    let is_pan = (12..=19).contains(&digits.len()) && digits.bytes().all(|c| c.is_ascii_digit());
    let found = match (*kind, last) {
        (OWN_PAN, Some(card)) if pan.is_empty() => Some((card, card.pan.to_owned())),
        // The holder of an unknown card types the PIN of the last card, or of the first card of the deck.
        (GIVEN_PAN, _) if is_pan => {
            let known = DECK.iter().find(|card| card.pan == digits).or(last).or(DECK.first());
            known.map(|card| (card, digits.to_owned()))
        }
        _ => None,
    };
    match found {
        Some((card, pan)) => device.ask_for_pin(PinPurpose::Alone { card, pan }),
        None => finish(device, FAILED, &[WRONG_PAN]),
    }
    Ok(())
}

/// Sends the second response: the state and, with a PIN, KSN and block as hexadecimal digits. UNCERTAIN: a bypassed PIN
/// is not described. Here it is the good state without KSN and block.
pub(super) fn ended(device: &mut Device, pin: LonePin) {
    match pin {
        LonePin::Entered(sealed) => {
            let text = hex::encode_upper(&sealed.ksn) + &hex::encode_upper(&sealed.data);
            finish(device, OK, &[&[PIN_OK], text.as_bytes()].concat());
        }
        LonePin::Bypassed => finish(device, OK, &[PIN_OK]),
        LonePin::GivenUp => finish(device, FAILED, &[KEY_CANCEL]),
        LonePin::NoKey => finish(device, FAILED, &[NO_KEY]),
    }
}
