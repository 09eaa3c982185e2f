//! The contactless commands. START CONTACTLESS is answered immediately, and its result is an unsolicited message
//! (readers: 3.4).

use super::answers::{answer, unsolicited, unsolicited_with_card};
use super::message::{Command, StatusWord};
use super::{Antenna, elements, sealed, session};
use crate::reader::deck::{Card, Cvm, Tap};
use crate::reader::device::Device;
use crate::reader::emv_transaction::{Decision, EmvTransaction, StartTerms};
use crate::reader::keys::{NoKey, Sealed};
use crate::reader::objects::{self, template};
use crate::reader::script::ScriptEvent;

/// P1 of START CONTACTLESS: payment. The other bits are not supported.
const PAYMENT: u8 = 0x01;

/// Whether CANCEL CONTACTLESS is followed by an unsolicited answer even if no wait was cancelled. UNCERTAIN: the
/// description says that one unsolicited answer follows, and not when.
const ANSWERS_IDLE_CANCEL: bool = false;

/// Handles CONTACTLESS STATUS: the number of antennas, or the description of the antenna. UNCERTAIN: the form of the
/// number, which is one byte here.
pub(super) fn status(device: &mut Device, command: &Command<'_>) -> Result<Vec<u8>, StatusWord> {
    let is_open = u8::from(session(device).antenna != Antenna::Closed);
    match command.p1 {
        0x00 => Ok(vec![1]),
        0x01 => Ok(template(
            0xE1,
            &[
                (0xDFC020, b"SIM CTLS"),
                (0xDFC021, device.options.serial.as_bytes()),
                (0xDFC022, b"1.0.0"),
                (0xDFC023, &[is_open]),
                (0xDFC028, b"K2 K3"),
            ],
        )),
        _ => Err(StatusWord::WRONG_P1),
    }
}

/// Opens or closes the antenna.
pub(super) fn open(device: &mut Device, to: Antenna) -> Vec<u8> {
    session(device).antenna = to;
    Vec::new()
}

/// Handles START CONTACTLESS. A zero amount is refused by the unsolicited result, not by the answer.
pub(super) fn start(device: &mut Device, command: &Command<'_>) -> Result<(), StatusWord> {
    if session(device).antenna == Antenna::Closed {
        return Err(StatusWord::NOT_READY);
    }
    if command.p1 & !PAYMENT != 0 {
        return Err(StatusWord::WRONG_P1);
    }
    let elements = command.elements()?;
    let terms = terms(elements)?;
    device.display.amount = Some(terms.money());
    device.open_sale()?;
    answer(device, &[], StatusWord::OK);
    if terms.amount == [0; 6] {
        device.kernel.sale_is_open = false;
        unsolicited(device, &[], StatusWord::ZERO_AMOUNT);
        return Ok(());
    }
    session(device).antenna = Antenna::Active;
    let is_second = session(device).phone_is_ready;
    device.display.show(if is_second { "TAP AGAIN" } else { "INSERT, TAP OR SWIPE" });
    device.wait_for_tap(terms, None);
    Ok(())
}

/// Reads the elements that both START commands need.
pub(super) fn terms(elements: &[u8]) -> Result<StartTerms, StatusWord> {
    let country = objects::need(elements, 0x9F1A)?;
    Ok(StartTerms { country: Some(country), ..StartTerms::read(elements)? })
}

/// Returns whether a tap starts the transaction. A phone that verifies its owner needs a second tap.
pub(super) fn accepts_tap(device: &mut Device, card: &Card) -> bool {
    let is_ready = std::mem::take(&mut session(device).phone_is_ready);
    if card.tap != Tap::Emv(Cvm::OwnDevice) || is_ready {
        return true;
    }
    session(device).phone_is_ready = true;
    unsolicited(device, &[], StatusWord::CONSUMER_CVM);
    device.display.show("USE YOUR PHONE\nTAP AGAIN");
    device.happens(ScriptEvent::Waiting);
    false
}

/// Sends the result of a tap.
pub(super) fn decided(
    device: &mut Device,
    transaction: &EmvTransaction,
    decision: Decision,
    pin: Option<&Sealed>,
) -> Result<(), NoKey> {
    let block = if transaction.is_secured() { sealed::chip(device, transaction.card)? } else { Vec::new() };
    session(device).antenna = Antenna::Open;
    device.kernel.end_command();
    unsolicited_with_card(device, &elements::decision(transaction, decision, None, &block, pin));
    Ok(())
}

/// Handles CONTINUE CONTACTLESS with the issuer's answer. The result is unsolicited.
pub(super) fn continue_transaction(device: &mut Device, command: &Command<'_>) -> Result<(), StatusWord> {
    let elements = command.elements()?;
    let arc = objects::need(elements, 0x8A)?;
    objects::value(elements, 0xC2).ok_or(StatusWord::DATA_MISSING)?;
    let [decision] = objects::need(elements, 0xC0)?;
    let mut transaction = device.kernel.take_awaiting_host(true).ok_or(StatusWord::WRONG_ORDER)?;
    if decision != device.options.vipa.approves {
        transaction.host_declines();
    }
    answer(device, &[], StatusWord::OK);
    device.issuer_answers(transaction, arc, elements.to_vec());
    Ok(())
}

/// Handles CANCEL CONTACTLESS. It is answered first, and then the cancelled wait. If a card wins the race, its result
/// is that one unsolicited answer.
pub(super) fn cancel(device: &mut Device) {
    let was_active = session(device).antenna == Antenna::Active;
    if was_active {
        device.race_before_abort();
    }
    answer(device, &[], StatusWord::OK);
    session(device).phone_is_ready = false;
    if session(device).antenna == Antenna::Active {
        // The sale stays open for a card that is in the slot.
        let stays_open = device.kernel.sale_is_open && device.kernel.slot.is_some();
        device.end_running_command();
        device.kernel.sale_is_open = stays_open;
    } else if !was_active && ANSWERS_IDLE_CANCEL {
        unsolicited(device, &[], StatusWord::ABORTED);
    }
}
