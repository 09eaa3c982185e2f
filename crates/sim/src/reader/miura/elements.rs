//! The template of a decision: the elements that Miura's lists name, in their order (readers: 2.5, 2.6, 2.13).

use crate::reader::deck::{Tap, padded};
use crate::reader::emv_transaction::{Decision, EmvTransaction, Interface};
use crate::reader::keys::{Sealed, bytes};
use crate::reader::objects;

/// The contents of ARQCDOL.CFG (readers: 2.5), plus 9F42 and 5F2D for cards of other currencies and languages.
const ARQC_DOL: &[u32] = &[
    0x4F, 0x50, 0x57, 0x5A, 0x5F20, 0x5F24, 0x5F28, 0x5F2A, 0x5F2D, 0x5F30, 0x5F34, 0x82, 0x84, 0x95, 0x9A, 0x9B, 0x9C,
    0x9F02, 0x9F03, 0x9F06, 0x9F09, 0x9F10, 0x9F12, 0x9F1A, 0x9F1C, 0x9F1E, 0x9F26, 0x9F27, 0x9F33, 0x9F34, 0x9F35,
    0x9F36, 0x9F37, 0x9F41, 0x9F42, 0xDF28, 0xDF30, 0xDFAE02, 0xDFAE03, 0xDFAE04, 0xDFAE05, 0xDFAE57, 0xDFAE5A,
];
/// The contents of TCDOL.CFG (readers: 2.5). 8A and 9B are as in the E3 of 2.13. 5F2A is added so that an offline
/// approval can be checked, and 5F2D for the cardholder's language.
const TC_DOL: &[u32] = &[
    0x8A, 0x4F, 0x50, 0x57, 0x5A, 0x5F20, 0x5F24, 0x5F28, 0x5F2A, 0x5F2D, 0x5F30, 0x5F34, 0x82, 0x84, 0x95, 0x9A, 0x9B,
    0x9C, 0x9F02, 0x9F03, 0x9F06, 0x9F09, 0x9F10, 0x9F12, 0x9F1A, 0x9F1C, 0x9F1E, 0x9F26, 0x9F27, 0x9F33, 0x9F34,
    0x9F35, 0x9F36, 0x9F37, 0x9F41, 0x9F5B, 0xDF28, 0xDF30, 0xDFAE02, 0xDFAE03, 0xDFAE57, 0xDFAE5A,
];
/// The contents of AACDOL.CFG: those of ARQCDOL without 9B, 9F41 and DFAE57 (readers: 2.5). 8A is as in the E5 of 2.13.
/// 5F2D is added for the cardholder's language.
const AAC_DOL: &[u32] = &[
    0x8A, 0x4F, 0x50, 0x57, 0x5A, 0x5F20, 0x5F24, 0x5F28, 0x5F2A, 0x5F2D, 0x5F30, 0x5F34, 0x82, 0x84, 0x95, 0x9A, 0x9C,
    0x9F02, 0x9F03, 0x9F06, 0x9F09, 0x9F10, 0x9F12, 0x9F1A, 0x9F1C, 0x9F1E, 0x9F26, 0x9F27, 0x9F33, 0x9F34, 0x9F35,
    0x9F36, 0x9F37, 0xDF28, 0xDF30, 0xDFAE02, 0xDFAE03, 0xDFAE5A,
];

/// DF30, kernel and mode. `0301` was seen for Visa in EMV mode. The second byte for magstripe mode is UNCERTAIN
/// (readers: 10).
const KERNEL_EMV: [u8; 2] = [0x03, 0x01];
const KERNEL_MAGSTRIPE: [u8; 2] = [0x03, 0x02];
/// Kernel 2, Mastercard. The value is derived by analogy, so it is UNCERTAIN.
const KERNEL_MASTERCARD: [u8; 2] = [0x02, 0x01];
/// The part of an AID that identifies Mastercard.
const MASTERCARD_RID: &[u8] = &[0xA0, 0x00, 0x00, 0x00, 0x04];

/// Makes the template of a decision with its elements. `card_data` has one or two blocks.
pub(super) fn answer(
    transaction: &EmvTransaction,
    decision: Decision,
    arc: Option<[u8; 2]>,
    card_data: &[Sealed],
    pin: Option<&Sealed>,
) -> Vec<u8> {
    let (tag, dol) = match decision {
        Decision::Approved => (0xE3, TC_DOL),
        Decision::Online => (0xE4, ARQC_DOL),
        Decision::Declined => (0xE5, AAC_DOL),
    };
    let mut all = transaction.signed(decision);
    put_own(&mut all, transaction);
    if let Some(arc) = arc {
        objects::put(&mut all, 0x8A, &arc);
    }
    if let Some(pin) = pin {
        objects::put(&mut all, 0xDFAE04, &pin.data);
        objects::put(&mut all, 0xDFAE05, &pin.ksn);
    }
    if let Some(first) = card_data.first() {
        objects::put(&mut all, 0xDFAE02, &first.data);
        objects::put(&mut all, 0xDFAE03, &first.ksn);
    }
    let mut inner = transaction.listed(&all, dol);
    // The device's lists contain it twice (readers: 2.5, 2.13).
    for again in card_data.iter().skip(1) {
        objects::put(&mut inner, 0xDFAE02, &again.data);
        objects::put(&mut inner, 0xDFAE03, &again.ksn);
    }
    objects::object(tag, &inner)
}

/// Appends the elements that only Miura has: the kernel, the CVM status, and the card data that are not encrypted.
fn put_own(all: &mut Vec<u8>, transaction: &EmvTransaction) {
    let card = transaction.card;
    if transaction.interface == Interface::Contactless {
        let kernel = match card.tap {
            Tap::Magstripe => KERNEL_MAGSTRIPE,
            _ if transaction.application.aid.starts_with(MASTERCARD_RID) => KERNEL_MASTERCARD,
            _ => KERNEL_EMV,
        };
        objects::put(all, 0xDF30, &kernel);
    }
    objects::put(all, 0xDF28, &[0x00]);
    // Track 2 has the PAN masked, and all following characters in clear (readers: 2.13).
    let masked = card.track2_equivalent().replacen(card.pan, &card.masked_pan('F'), 1);
    objects::put(all, 0xDFAE57, &bytes(&masked));
    objects::put(all, 0xDFAE5A, &bytes(&padded(card.masked_pan('F'))));
    if !transaction.is_secured() {
        objects::put(all, 0x57, &bytes(&card.track2_equivalent()));
        objects::put(all, 0x5A, &bytes(&card.pan_digits()));
    }
}
