//! The elements of a transaction's responses (readers: 4.3, 4.4). UNCERTAIN: whether a real reader sends them in one
//! list, as here.

use super::sealed::{self, OF_CHIP, OF_TAP, OF_TAP_MAGSTRIPE};
use crate::reader::device::Device;
use crate::reader::emv_transaction::{Decision, EmvTransaction, Interface};
use crate::reader::keys::{NoKey, Sealed};
use crate::reader::objects;

/// The result code DFEE25. Some names are UNCERTAIN.
pub(super) const RESULT: u32 = 0xDFEE25;
const APPROVED: [u8; 2] = [0x00, 0x02];
const DECLINED: [u8; 2] = [0x00, 0x03];
const GO_ONLINE: [u8; 2] = [0x00, 0x04];
const STARTED: [u8; 2] = [0x00, 0x10];
pub(super) const SWIPED: [u8; 2] = [0x00, 0x11];
pub(super) const FALLBACK: [u8; 2] = [0x00, 0x07];

/// 9F39, the entry mode, and DFEE30, the interface.
const CHIP: u8 = 0x05;
const TAP: u8 = 0x07;
const TAP_MAGSTRIPE: u8 = 0x91;
const CONTACTS: u8 = 0x01;
const ANTENNA: u8 = 0x00;

/// The elements of a started transaction.
const STARTED_LIST: &[u32] = &[0x50, 0x5F20, 0x5F24, 0x5F28, 0x5F2D, 0x5F34, 0x82, 0x84, 0x9F06];
/// The elements of a decision. No list is published, so these are the elements that a gateway needs.
const DECISION_LIST: &[u32] = &[
    0x4F, 0x50, 0x5F20, 0x5F24, 0x5F28, 0x5F2A, 0x5F2D, 0x5F30, 0x5F34, 0x82, 0x84, 0x8A, 0x95, 0x9A, 0x9B, 0x9C,
    0x9F02, 0x9F03, 0x9F06, 0x9F09, 0x9F10, 0x9F1A, 0x9F1E, 0x9F26, 0x9F27, 0x9F33, 0x9F34, 0x9F35, 0x9F36, 0x9F37,
    0x9F41, 0x9F42, 0x9F5B,
];

/// Returns the response to START: the chip is read, and has not decided yet.
pub(super) fn started(device: &Device, transaction: &EmvTransaction) -> Vec<u8> {
    let list = transaction.listed(&transaction.open_elements(), STARTED_LIST);
    sealed::attributed(device, OF_CHIP, [objects::object(RESULT, &STARTED), list].concat())
}

/// Returns the card's first decision, with its encrypted data.
pub(super) fn decision(
    device: &mut Device,
    transaction: &EmvTransaction,
    decision: Decision,
    pin: Option<&Sealed>,
) -> Result<Vec<u8>, NoKey> {
    let (origin, mode, interface) = match transaction.interface {
        Interface::Contact => (OF_CHIP, CHIP, CONTACTS),
        Interface::Contactless if transaction.is_magstripe_mode() => (OF_TAP_MAGSTRIPE, TAP_MAGSTRIPE, ANTENNA),
        Interface::Contactless => (OF_TAP, TAP, ANTENNA),
    };
    let result = match decision {
        Decision::Approved => APPROVED,
        Decision::Online => GO_ONLINE,
        Decision::Declined => DECLINED,
    };
    let mut out = objects::object(RESULT, &result);
    out.extend(sealed::card_elements(&mut device.keys, transaction.card)?);
    out.extend(transaction.listed(&transaction.signed(decision), DECISION_LIST));
    objects::put(&mut out, 0x9F39, &[mode]);
    out.extend(interface_group(interface));
    if let Some(pin) = pin {
        objects::put(&mut out, 0x99, &pin.data);
        objects::put(&mut out, 0xDFEE51, &pin.ksn);
    }
    Ok(sealed::attributed(device, origin, out))
}

/// Returns the group FFEE01 with the interface, as in published frames.
pub(super) fn interface_group(interface: u8) -> Vec<u8> {
    objects::template(0xFFEE01, &[(0xDFEE30, &[interface])])
}

/// Returns the card's decision after the issuer's answer.
pub(super) fn conclusion(device: &Device, transaction: &EmvTransaction, decision: Decision, arc: [u8; 2]) -> Vec<u8> {
    let result = if decision == Decision::Approved { APPROVED } else { DECLINED };
    let all = [objects::object(0x8A, &arc), transaction.signed(decision)].concat();
    let elements = [objects::object(RESULT, &result), transaction.listed(&all, DECISION_LIST)].concat();
    sealed::attributed(device, OF_CHIP, elements)
}
