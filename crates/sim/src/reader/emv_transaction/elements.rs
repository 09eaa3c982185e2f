//! The output elements of an EMV transaction: all clear data of the kernel and the card, the cryptogram over them, and
//! the template of a decision. They follow the reader's lists (readers: 2.5, 2.6, 2.13).

use super::{Decision, EmvTransaction, Interface, Verified};
use crate::reader::deck::{Cvm, Tap, padded};
use crate::reader::keys::{Sealed, bytes};
use crate::reader::message;

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

impl EmvTransaction {
    /// Makes the template of a decision with its elements, in the order of the lists above. `card_data` has one or two
    /// blocks.
    pub(in super::super) fn template(
        &self,
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
        let mut all = self.signed(decision);
        if let Some(arc) = arc {
            message::put(&mut all, 0x8A, &arc);
        }
        if let Some(pin) = pin {
            message::put(&mut all, 0xDFAE04, &pin.data);
            message::put(&mut all, 0xDFAE05, &pin.ksn);
        }
        if let Some(first) = card_data.first() {
            message::put(&mut all, 0xDFAE02, &first.data);
            message::put(&mut all, 0xDFAE03, &first.ksn);
        }
        let mut inner = Vec::new();
        let [a, b, c, d, e] = self.tvr;
        let tvr = [a, b, c, d, e | self.late];
        for tag in dol {
            match message::value(&all, *tag) {
                Some(_) if *tag == 0x95 => message::put(&mut inner, 0x95, &tvr),
                Some(value) => message::put(&mut inner, *tag, value),
                None => {}
            }
        }
        // The device's lists contain it twice (readers: 2.5, 2.13).
        for again in card_data.iter().skip(1) {
            message::put(&mut inner, 0xDFAE02, &again.data);
            message::put(&mut inner, 0xDFAE03, &again.ksn);
        }
        message::object(tag, &inner)
    }

    /// Returns all clear elements, with a decision's cryptogram over them.
    pub(super) fn signed(&self, decision: Decision) -> Vec<u8> {
        let mut all = self.open_elements();
        if self.interface == Interface::Contactless && self.card.tap == Tap::Magstripe {
            message::put(&mut all, 0xDF30, &KERNEL_MAGSTRIPE);
            return all;
        }
        if self.interface == Interface::Contactless {
            let mastercard = self.application.aid.starts_with(MASTERCARD_RID);
            message::put(&mut all, 0xDF30, if mastercard { &KERNEL_MASTERCARD } else { &KERNEL_EMV });
        } else {
            message::put(&mut all, 0x9B, &self.tsi);
        }
        let [a, b, c] = self.cvr;
        message::put(&mut all, 0x9F10, &[0x06, 0x01, 0x12, 0x03, a, b, c]);
        message::put(&mut all, 0x9F36, &self.atc);
        message::put(&mut all, 0x95, &self.tvr);
        message::put(&mut all, 0x9F34, &self.cvm_results());
        let cryptogram = self.key().cryptogram(&all).expect("every element the cryptogram covers has been put in");
        let tapped = self.interface == Interface::Contactless;
        let information = match decision {
            // A tapped card keeps its ARQC, because the card is gone when the issuer has answered.
            _ if tapped => 0x80,
            Decision::Approved => 0x40,
            Decision::Online => 0x80,
            Decision::Declined => 0x00,
        };
        message::put(&mut all, 0x9F26, &cryptogram);
        message::put(&mut all, 0x9F27, &[information]);
        all
    }

    fn open_elements(&self) -> Vec<u8> {
        let Self { card, application, terminal, terms, .. } = self;
        let mut all = Vec::new();
        let mut put = |tag: u32, value: &[u8]| message::put(&mut all, tag, value);
        let capabilities = if terminal.pin_key { [0xE0, 0xF8, 0xC8] } else { [0xE0, 0xB8, 0xC8] };
        put(0x4F, application.aid);
        put(0x50, application.label.as_bytes());
        put(0x5F20, card.holder.as_bytes());
        put(0x5F24, &[&bytes(card.expiry)[..], &[0x31]].concat());
        put(0x5F28, &card.country.unwrap_or(terminal.country));
        put(0x5F2A, &terms.currency);
        if let Some(languages) = card.languages {
            put(0x5F2D, languages.as_bytes());
        }
        put(0x5F30, &bytes(&format!("0{}", card.service_code)));
        put(0x5F34, &[card.psn]);
        put(0x82, if self.interface == Interface::Contact { &[0x18, 0x00] } else { &[0x20, 0x00] });
        put(0x84, application.aid);
        put(0x9A, &terms.date);
        put(0x9C, &[terms.kind]);
        put(0x9F02, &terms.amount);
        put(0x9F03, &terms.other);
        put(0x9F06, application.aid);
        put(0x9F09, &[0x00, 0x8C]);
        put(0x9F1A, &terminal.country);
        put(0x9F1C, terminal.serial.as_bytes());
        put(0x9F1E, terminal.serial.as_bytes());
        put(0x9F33, &capabilities);
        put(0x9F35, &[0x22]);
        put(0x9F37, &self.unpredictable);
        put(0x9F41, &self.sequence);
        if let Some(currency) = &card.currency {
            put(0x9F42, currency);
        }
        if !self.script_results.is_empty() {
            put(0x9F5B, &self.script_results);
        }
        put(0xDF28, &[0x00]);
        put(0xDFAE57, &self.masked_track2());
        put(0xDFAE5A, &bytes(&padded(card.masked_pan('F'))));
        if !terminal.secured {
            put(0x57, &bytes(&card.track2_equivalent()));
            put(0x5A, &bytes(&card.pan_digits()));
        }
        all
    }

    /// Returns track 2 with the PAN masked and all following characters in clear (readers: 2.13).
    fn masked_track2(&self) -> Vec<u8> {
        bytes(&self.card.track2_equivalent().replacen(self.card.pan, &self.card.masked_pan('F'), 1))
    }

    /// Returns the CVM results: method, condition, result (EMV Book 4, A4).
    fn cvm_results(&self) -> [u8; 3] {
        match (self.verified, self.interface) {
            // Online PIN: the terminal does not know the result (00); if the PIN was bypassed, the result is failed
            // (01).
            (Verified::PinEntered, _) => [0x42, 0x03, 0x00],
            (Verified::PinBypassed, _) if self.cvm() == Cvm::OnlinePin => [0x42, 0x03, 0x01],
            // Enciphered PIN checked by the chip, as in a captured transaction (readers: 2.13).
            (Verified::PinBypassed | Verified::PinTriesExceeded, _) => [0x44, 0x03, 0x01],
            (Verified::PinRight, _) => [0x44, 0x03, 0x02],
            // Signature: only the cashier can know the result later (00).
            (Verified::NotAsked, _) if self.cvm() == Cvm::Signature => [0x1E, 0x03, 0x00],
            // Verified by the cardholder's device, as coded by kernel 2 (EMV Contactless Book C-2, CVM selection).
            (Verified::NotAsked, _) if self.cvm() == Cvm::OwnDevice => [0x01, 0x00, 0x02],
            // No CVM: always successful (02).
            (Verified::NotAsked, Interface::Contact) => [0x1F, 0x03, 0x02],
            (Verified::NotAsked, Interface::Contactless) => [0x1F, 0x00, 0x02],
        }
    }
}
