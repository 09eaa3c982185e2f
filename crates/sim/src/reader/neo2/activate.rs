//! ACTIVATE, which waits for a card on several interfaces, GET RESULT and CANCEL (readers: 4.2).

use std::time::Duration;

use super::responses::{self, FAILED, NOT_ALLOWED, OK, WRONG_PARAMETER, respond};
use super::{contact, session};
use crate::reader::device::Device;
use crate::reader::emv_transaction::StartTerms;
use crate::reader::family::Failure;
use crate::reader::objects::{self, ElementFault};
use pos_terms::emv::tlv;

/// The bits of DFEF37.
pub(super) const STRIPE: u8 = 0x01;
pub(super) const ANTENNA: u8 = 0x02;
pub(super) const CONTACTS: u8 = 0x04;

/// Handles ACTIVATE: a timeout in seconds, and TLVs. A timeout of zero means no limit.
pub(super) fn activate(device: &mut Device, data: &[u8]) -> Result<(), u8> {
    if session(device).polls_itself {
        return Err(NOT_ALLOWED);
    }
    let (seconds, elements) = data.split_first().ok_or(WRONG_PARAMETER)?;
    let [interfaces] = element(elements, 0xDFEF37)?;
    if interfaces == 0 || interfaces & !(STRIPE | ANTENNA | CONTACTS) != 0 {
        return Err(WRONG_PARAMETER);
    }
    // The fallback flag and the time-out of the next command.
    let allows_fallback =
        objects::get::<3>(elements, 0xDFEF3C).map_err(|_| WRONG_PARAMETER)?.is_some_and(|[flag, ..]| flag == 1);
    let terms = terms(device, elements)?;
    device.display.amount = Some(terms.money());
    responses::accept(device, 0x02, interfaces & CONTACTS != 0);
    session(device).last_result = None;
    wait(device, terms, interfaces, u64::from(*seconds), allows_fallback);
    Ok(())
}

/// Waits for a card on these interfaces. A card that is already in the slot is read at once.
pub(super) fn wait(device: &mut Device, terms: StartTerms, interfaces: u8, seconds: u64, allows_fallback: bool) {
    session(device).terms = Some(terms);
    session(device).interfaces = interfaces;
    session(device).allows_fallback = allows_fallback;
    session(device).is_fallback = false;
    if let Err(failure) = device.open_sale() {
        return device.fail(failure);
    }
    device.display.show(match interfaces {
        CONTACTS => "INSERT CARD",
        STRIPE => "SWIPE CARD",
        _ => "INSERT, TAP OR SWIPE",
    });
    device.wait_for_tap(terms, (seconds > 0).then(|| Duration::from_secs(seconds)));
    if device.kernel.slot.is_some() && interfaces & CONTACTS != 0 {
        contact::card_inserted(device);
    }
}

/// Waits for a swipe after a failed chip, in the same command.
pub(super) fn wait_for_fallback(device: &mut Device) {
    session(device).interfaces = STRIPE;
    session(device).allows_fallback = false;
    session(device).is_fallback = true;
    device.display.show("REMOVE CARD\nSWIPE CARD");
    if let Some(terms) = session(device).terms {
        device.wait_for_tap(terms, Some(Duration::from_secs(FALLBACK_SECONDS)));
    }
}

/// The time for a swipe after a failed chip. The protocol gives no time.
const FALLBACK_SECONDS: u64 = 30;

/// Handles GET RESULT: the last result of ACTIVATE, once.
pub(super) fn result(device: &mut Device) {
    match session(device).last_result.take() {
        Some((status, data)) => respond(device, 0x03, status, &data, true),
        None => respond(device, 0x03, FAILED, &[], false),
    }
}

/// Handles CANCEL. If a card wins the race, its response comes first.
pub(super) fn cancel(device: &mut Device, command: u8) {
    device.race_before_abort();
    device.run_due();
    respond(device, command, OK, &[], false);
    device.kernel.sale_is_open = false;
    if session(device).waits_for_host.take().is_some() {
        return device.fail(Failure::Aborted);
    }
    device.end_running_command();
}

/// Reads the terms of a transaction. Elements that the host leaves out have the reader's own values.
pub(super) fn terms(device: &mut Device, elements: &[u8]) -> Result<StartTerms, u8> {
    tlv::visit(elements, &mut |_| {}).map_err(|_| responses::MALFORMED)?;
    let clock = device.clock;
    let currency = objects::get(&session(device).configuration, 0x5F2A).ok().flatten();
    let [kind] = element(elements, 0x9C)?;
    Ok(StartTerms {
        kind,
        amount: element(elements, 0x9F02)?,
        other: optional(elements, 0x9F03)?.unwrap_or_default(),
        date: optional(elements, 0x9A)?.unwrap_or([clock[0], clock[1], clock[2]]),
        currency: optional(elements, 0x5F2A)?.or(currency).ok_or(WRONG_PARAMETER)?,
        country: optional(elements, 0x9F1A)?,
    })
}

fn element<const N: usize>(elements: &[u8], tag: u32) -> Result<[u8; N], u8> {
    objects::need(elements, tag).map_err(|_: ElementFault| WRONG_PARAMETER)
}

fn optional<const N: usize>(elements: &[u8], tag: u32) -> Result<Option<[u8; N]>, u8> {
    objects::get(elements, tag).map_err(|_: ElementFault| WRONG_PARAMETER)
}
