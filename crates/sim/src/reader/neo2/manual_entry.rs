//! MANUAL PAN: the cardholder types the number, the expiry and, if asked, the security code (readers: 4.2).

use super::responses::{OK, WRONG_PARAMETER, accept, finish, finish_with_card};
use super::{failures, sealed, session};
use crate::reader::device::Device;
use crate::reader::family::Failure;
use crate::reader::keys::{NoKey, bytes};
use crate::reader::number_entry::{CODE, EXPIRY, NUMBER, TypedFor};
use crate::reader::objects;

/// The flag that asks for the security code. UNCERTAIN: the flags are only named.
const ASK_CODE: u8 = 0x01;
/// 9F39 of a typed card, by the codes of ISO 8583. UNCERTAIN.
const TYPED: u8 = 0x01;

/// Handles MANUAL PAN: a time-out and flags, two bytes each. The cardholder has no time limit here.
pub(super) fn start(device: &mut Device, data: &[u8]) -> Result<(), u8> {
    let &[_, _, _, flags] = data else { return Err(WRONG_PARAMETER) };
    accept(device, 0x83, false);
    if device.keys.encrypts_card_data && !device.keys.card_keys_are_left() {
        failures::failed(device, Failure::NoCardKey);
        return Ok(());
    }
    device.kernel.typed_card.clear();
    session(device).prompts = if flags & ASK_CODE != 0 { vec![CODE, EXPIRY, NUMBER] } else { vec![EXPIRY, NUMBER] };
    ask_next(device);
    Ok(())
}

/// Asks for the next element. Returns whether there was one.
fn ask_next(device: &mut Device) -> bool {
    let Some(element) = session(device).prompts.pop() else { return false };
    let question = match element {
        NUMBER => "ENTER CARD NUMBER",
        EXPIRY => "ENTER EXPIRY YYMM",
        _ => "ENTER SECURITY CODE",
    };
    device.ask_for_digits(question, TypedFor::CardElement(element));
    true
}

/// Asks for the next element, or answers after the last one. The security code does not leave the reader, because no
/// element for it is described.
pub(super) fn element_typed(device: &mut Device) {
    if ask_next(device) {
        return;
    }
    let typed = std::mem::take(&mut device.kernel.typed_card);
    let find = |code| typed.iter().find(|(element, _)| *element == code).map_or("", |(_, digits)| digits.as_str());
    let expiry = find(EXPIRY);
    if expiry.len() != 4 {
        return device.fail(Failure::InvalidNumber);
    }
    match sealed::typed_pan(&mut device.keys, find(NUMBER)) {
        Ok(mut out) => {
            objects::put(&mut out, 0x5F24, &bytes(&format!("{expiry}31")));
            objects::put(&mut out, 0x9F39, &[TYPED]);
            let out = sealed::attributed(device, sealed::OF_SWIPE, out);
            finish_with_card(device, OK, &out);
        }
        Err(NoKey) => finish(device, super::responses::FAILED, &[]),
    }
}
