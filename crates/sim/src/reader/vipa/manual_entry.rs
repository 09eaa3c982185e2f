//! MANUAL PAN: the cardholder types the number, the expiry and the security code, one after the other (readers: 3.2).

use super::answers::answer;
use super::message::{Command, StatusWord};
use super::{masked, sealed, session};
use crate::reader::device::Device;
use crate::reader::keys::NoKey;
use crate::reader::number_entry::{CODE, EXPIRY, NUMBER, TypedFor};
use crate::reader::objects;

/// The bits of P1: PAN, expiry, security code. Bit 2 would ask for an effective date.
const ASK_NUMBER: u8 = 0x01;
const ASK_EXPIRY: u8 = 0x02;
const ASK_CODE: u8 = 0x08;

/// Handles MANUAL PAN. Each prompt needs its screen (DFAA01).
pub(super) fn start(device: &mut Device, command: &Command<'_>) -> Result<(), StatusWord> {
    if command.p1 & ASK_NUMBER == 0 || command.p1 & !(ASK_NUMBER | ASK_EXPIRY | ASK_CODE) != 0 {
        return Err(StatusWord::WRONG_P1);
    }
    let elements = command.elements()?;
    objects::value(elements, 0xDFAA01).ok_or(StatusWord::DATA_MISSING)?;
    if device.keys.encrypts_card_data && !device.keys.card_keys_are_left() {
        return Err(StatusWord::NO_KEYS);
    }
    device.kernel.typed_card.clear();
    let wanted = [(ASK_CODE, CODE), (ASK_EXPIRY, EXPIRY), (ASK_NUMBER, NUMBER)];
    session(device).prompts = wanted.into_iter().filter(|(bit, _)| command.p1 & bit != 0).map(|(_, one)| one).collect();
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

/// Asks for the next element, or answers after the last one.
pub(super) fn element_typed(device: &mut Device) {
    if ask_next(device) {
        return;
    }
    match body(device) {
        Ok(body) => answer(device, &body, StatusWord::OK),
        Err(NoKey) => answer(device, &[], StatusWord::NO_KEYS),
    }
}

/// Encrypts the typed digits, and deletes them. The security code is never shown, and the expiry is in clear.
fn body(device: &mut Device) -> Result<Vec<u8>, NoKey> {
    let typed = std::mem::take(&mut device.kernel.typed_card);
    let find = |code| typed.iter().find(|(element, _)| *element == code).map(|(_, digits)| digits.as_str());
    let is_secured = device.keys.encrypts_card_data;
    let mut inner = Vec::new();
    let number = find(NUMBER).unwrap_or_default();
    objects::put(&mut inner, 0xDFDB01, &if is_secured { masked::digits(number) } else { number.as_bytes().to_vec() });
    if let Some(code) = find(CODE) {
        let hidden = if is_secured { vec![0xAA; code.len()] } else { code.as_bytes().to_vec() };
        objects::put(&mut inner, 0xDFDB02, &hidden);
    }
    if let Some(expiry) = find(EXPIRY) {
        objects::put(&mut inner, 0xDFDB03, expiry.as_bytes());
    }
    if is_secured {
        inner.extend(sealed::typed(device, &typed)?);
    }
    Ok(objects::object(0xE0, &inner))
}
