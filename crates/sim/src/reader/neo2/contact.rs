//! The contact transaction: START (60-10), AUTHENTICATE (60-11) and APPLY HOST RESPONSE (60-12), each with two
//! responses (readers: 4.2).

use super::responses::{self, NOT_ALLOWED, OK, WRONG_PARAMETER, finish};
use super::{activate, elements, session};
use crate::reader::device::Device;
use crate::reader::emv_transaction::EmvTransaction;
use crate::reader::family::Failure;
use crate::reader::objects;
use pos_terms::emv::tlv;

/// The CMD of all three commands.
const CMD: u8 = 0x60;

/// Handles START: a fallback flag, two time-outs in seconds, and TLVs. It waits for the card.
pub(super) fn start(device: &mut Device, data: &[u8]) -> Result<(), u8> {
    let (&[fallback, high, low, _, _], tlvs) = data.split_first_chunk().ok_or(WRONG_PARAMETER)?;
    let terms = activate::terms(device, tlvs)?;
    device.display.amount = Some(terms.money());
    responses::accept(device, CMD, true);
    let seconds = u64::from(u16::from_be_bytes([high, low]));
    activate::wait(device, terms, activate::CONTACTS, seconds, fallback == 1);
    Ok(())
}

/// Starts the chip of a card that was inserted while the reader waited for it.
pub(super) fn card_inserted(device: &mut Device) {
    if session(device).interfaces & activate::CONTACTS == 0 {
        return;
    }
    let Some(terms) = session(device).terms else { return };
    device.kernel.end_command();
    if let Err(failure) = device.start_chip(terms, false) {
        device.fail(failure);
    }
}

/// Answers START. The host must then let the card decide.
pub(super) fn chip_read(device: &mut Device, transaction: EmvTransaction) {
    let data = elements::started(device, &transaction);
    finish(device, OK, &data);
    device.kernel.awaiting_decision = Some(transaction);
}

/// Handles AUTHENTICATE. UNCERTAIN: its data. In a published frame, they are a flag that forces the issuer's decision,
/// and a time-out of two bytes. All data are accepted here.
pub(super) fn authenticate(device: &mut Device, _data: &[u8]) -> Result<(), u8> {
    let transaction = device.kernel.awaiting_decision.take().ok_or(NOT_ALLOWED)?;
    responses::accept(device, CMD, true);
    if device.kernel.slot != Some(transaction.card) {
        device.fail(Failure::NoCard);
        return Ok(());
    }
    if device.options.neo2.sends_texts {
        session(device).waits_for_host = Some(transaction);
        responses::text_for_host(device, "PLEASE WAIT");
        return Ok(());
    }
    device.verify_or_decide(transaction);
    Ok(())
}

/// Goes on after the host has answered a text.
pub(super) fn text_answered(device: &mut Device) {
    if let Some(transaction) = session(device).waits_for_host.take() {
        device.verify_or_decide(transaction);
    }
}

/// Handles APPLY HOST RESPONSE. UNCERTAIN: its layout. In a published frame, a byte 01 comes before the TLVs 8A and 91.
/// It may be left out here.
pub(super) fn apply(device: &mut Device, data: &[u8]) -> Result<(), u8> {
    let data = data.strip_prefix(&[0x01]).or_else(|| data.strip_prefix(&[0x00])).unwrap_or(data);
    tlv::visit(data, &mut |_| {}).map_err(|_| responses::MALFORMED)?;
    let arc = objects::need(data, 0x8A).map_err(|_| WRONG_PARAMETER)?;
    let transaction = device.kernel.take_awaiting_host(false).ok_or(NOT_ALLOWED)?;
    responses::accept(device, CMD, true);
    device.issuer_answers(transaction, arc, data.to_vec());
    Ok(())
}
