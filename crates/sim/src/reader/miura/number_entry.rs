//! The commands that ask for digits: an amount, a tip, or a card number, which leaves the reader only in encrypted form
//! (readers: 2.9, 2.10).

use super::answers::{answer, finish};
use super::message::{self, Command, StatusWord};
use super::session;
use crate::reader::device::Device;
use crate::reader::display::CommandMoney;
use crate::reader::keys::NoKey;
use crate::reader::number_entry::{CODE, EXPIRY, NUMBER, TypedFor};
use crate::reader::objects;

pub(super) fn get_numeric(device: &mut Device, command: &Command<'_>) -> Result<(), StatusWord> {
    let elements = command.elements()?;
    let _prompts: [u8; 6] = message::need(elements, 0xDFA206)?;
    let _format: [u8; 2] = message::need(elements, 0xDFA207)?;
    device.display.amount = None;
    device.ask_for_digits("ENTER AMOUNT", TypedFor::Amount);
    Ok(())
}

/// Handles GET DYNAMIC TIP. Returns the typed value unchanged: a tip or (P1 00) the total. Percentages are not
/// computed.
pub(super) fn get_tip(device: &mut Device, command: &Command<'_>) -> Result<(), StatusWord> {
    let elements = command.elements()?;
    let _percentages: [u8; 4] = message::need(elements, 0xDFA217)?;
    device.display.amount = Some(CommandMoney::read(elements)?);
    device.ask_for_digits(if command.p1 == 0 { "ENTER TOTAL" } else { "ENTER TIP" }, TypedFor::Amount);
    Ok(())
}

pub(super) fn get_secure_pan(device: &mut Device, command: &Command<'_>) -> Result<(), StatusWord> {
    let elements = command.elements()?;
    let [element] = message::need(elements, 0xDFA210)?;
    let _prompts: [u8; 6] = message::need(elements, 0xDFA206)?;
    device.kernel.typed_card.clear();
    session(device).seals_at_once = true;
    device.ask_for_digits("ENTER CARD NUMBER", TypedFor::CardElement(element));
    Ok(())
}

pub(super) fn get_secure_data(device: &mut Device, command: &Command<'_>) -> Result<(), StatusWord> {
    match command.p1 {
        0x00 => {
            device.kernel.typed_card.clear();
            answer(device, &[], StatusWord::OK);
        }
        0x01 => {
            let elements = command.elements()?;
            let [element] = message::need(elements, 0xDFA210)?;
            let _prompts: [u8; 6] = message::need(elements, 0xDFA206)?;
            let question = match element {
                NUMBER => "ENTER CARD NUMBER",
                EXPIRY => "ENTER EXPIRY YYMM",
                CODE => "ENTER SECURITY CODE",
                _ => return Err(StatusWord::INVALID_PARAMETER),
            };
            session(device).seals_at_once = false;
            device.ask_for_digits(question, TypedFor::CardElement(element));
        }
        0x02 => {
            let body = seal_typed_card(device)?;
            answer(device, &body, StatusWord::OK);
        }
        _ => return Err(StatusWord::INVALID_PARAMETER),
    }
    Ok(())
}

/// Answers the command whose element was typed.
pub(super) fn card_element_typed(device: &mut Device) {
    match session(device).seals_at_once.then(|| seal_typed_card(device)) {
        None => finish(device, &[], StatusWord::OK),
        Some(Ok(body)) => finish(device, &body, StatusWord::OK),
        Some(Err(sw)) => finish(device, &[], sw),
    }
}

/// Encrypts the typed digits and then deletes them.
fn seal_typed_card(device: &mut Device) -> Result<Vec<u8>, StatusWord> {
    let typed = std::mem::take(&mut device.kernel.typed_card);
    let pan = typed.iter().find(|(element, _)| *element == NUMBER).map(|(_, digits)| digits.clone());
    let pan = pan.ok_or(StatusWord::NOTHING_TYPED)?;
    let (first, last) = (&pan[..6], &pan[pan.len() - 4..]);
    let masked = format!("{first}{}{last}", "*".repeat(pan.len() - 10));
    let sealed = device.keys.seal_typed(&typed).map_err(|NoKey| StatusWord::NO_KEY_LEFT)?;
    Ok(objects::template(0xE1, &[(0xDFA208, masked.as_bytes()), (0xDFAE02, &sealed.data), (0xDFAE03, &sealed.ksn)]))
}
