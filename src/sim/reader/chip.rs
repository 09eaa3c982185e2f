//! A payment between the reader's EMV kernel and a card: what is signed, what the card answers, which elements come out
//! (readers: 2.5, 2.6; EMV Book 3). No messages and no keys of the reader here.

use super::deck::{Application, Card, Cvm, First, Second, Tap};
use super::sealing::{Sealed, bytes};
use super::wire::{self, Sw};
use crate::sim::keys::TEST_IMK_AC;
use crate::sim::keys::cryptogram::{CSU_APPROVED, CardKey, Issuer};

/// What START asked for.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    pub(super) kind: u8,
    pub(super) amount: [u8; 6],
    pub(super) other: [u8; 6],
    pub(super) date: [u8; 3],
    pub(super) currency: [u8; 2],
}

impl Terms {
    /// Reads the elements that START and START CONTACTLESS have in common.
    pub(super) fn read(elements: &[u8]) -> Result<Self, Sw> {
        // Demanded, but in none of the lists of elements that come out.
        let _time: [u8; 3] = wire::need(elements, 0x9F21)?;
        Ok(Self {
            kind: wire::need::<1>(elements, 0x9C)?[0],
            amount: wire::need(elements, 0x9F02)?,
            other: wire::get(elements, 0x9F03)?.unwrap_or_default(),
            date: wire::need(elements, 0x9A)?,
            currency: wire::need(elements, 0x5F2A)?,
        })
    }

    /// What the cardholder sees of them.
    pub(super) fn money(&self) -> wire::Money {
        wire::Money { amount: self.amount, currency: self.currency }
    }
}

/// What the reader puts into every payment.
#[derive(Clone)]
pub(super) struct Terminal {
    pub(super) serial: String,
    pub(super) country: [u8; 2],
    pub(super) pin_key: bool,
    /// Whether clear 57 and 5A stay inside.
    pub(super) secured: bool,
}

/// A card's decision: the template it comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// TC, E3.
    Approved,
    /// ARQC, E4.
    Online,
    /// AAC, E5.
    Declined,
}

/// How the cardholder was verified.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verified {
    NotAsked,
    /// A PIN was entered for the issuer.
    PinEntered,
    PinBypassed,
    /// The chip has found the PIN right.
    PinRight,
    /// The chip takes no PIN (any more).
    PinTriesExceeded,
}

/// Which PIN a card wants.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WantsPin {
    No,
    /// For the issuer.
    Online,
    /// For the chip.
    Offline,
}

/// How the card was presented.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Interface {
    Contact,
    Contactless,
}

/// One payment with one card.
pub(super) struct Payment {
    pub(super) card: &'static Card,
    pub(super) interface: Interface,
    /// PINs that were typed wrong so far.
    pub(super) mistakes: u8,
    application: Application,
    terminal: Terminal,
    terms: Terms,
    pub(super) atc: [u8; 2],
    unpredictable: [u8; 4],
    sequence: [u8; 4],
    verified: Verified,
    tvr: [u8; 5],
    tsi: [u8; 2],
    /// The card's CVR, bytes 2 to 4 (9F10 is 06 01 12 03 CVR; security: 1.5).
    cvr: [u8; 3],
    /// The TLVs that the ARQC covers and the ARQC, to check the issuer's answer.
    asked: Vec<u8>,
    /// Results of issuer scripts (9F5B).
    script_results: Vec<u8>,
    /// Bits of TVR byte 5 that were set after the last cryptogram.
    late: u8,
}

/// The numbers that make a payment its own.
pub(super) struct Numbers {
    pub(super) atc: u16,
    pub(super) unpredictable: u32,
    pub(super) sequence: u32,
}

/// Contents of ARQCDOL.CFG (readers: 2.5), and 9F42 for cards of other currencies.
const ARQC_DOL: &[u32] = &[
    0x4F, 0x50, 0x57, 0x5A, 0x5F20, 0x5F24, 0x5F28, 0x5F2A, 0x5F30, 0x5F34, 0x82, 0x84, 0x95, 0x9A, 0x9B, 0x9C, 0x9F02,
    0x9F03, 0x9F06, 0x9F09, 0x9F10, 0x9F12, 0x9F1A, 0x9F1C, 0x9F1E, 0x9F26, 0x9F27, 0x9F33, 0x9F34, 0x9F35, 0x9F36,
    0x9F37, 0x9F41, 0x9F42, 0xDF28, 0xDF30, 0xDFAE02, 0xDFAE03, 0xDFAE04, 0xDFAE05, 0xDFAE57, 0xDFAE5A,
];
/// Contents of TCDOL.CFG (readers: 2.5); 8A and 9B as in the E3 of 2.13, 5F2A so that an offline approval can be
/// checked.
const TC_DOL: &[u32] = &[
    0x8A, 0x4F, 0x50, 0x57, 0x5A, 0x5F20, 0x5F24, 0x5F28, 0x5F2A, 0x5F30, 0x5F34, 0x82, 0x84, 0x95, 0x9A, 0x9B, 0x9C,
    0x9F02, 0x9F03, 0x9F06, 0x9F09, 0x9F10, 0x9F12, 0x9F1A, 0x9F1C, 0x9F1E, 0x9F26, 0x9F27, 0x9F33, 0x9F34, 0x9F35,
    0x9F36, 0x9F37, 0x9F41, 0x9F5B, 0xDF28, 0xDF30, 0xDFAE02, 0xDFAE03, 0xDFAE57, 0xDFAE5A,
];
/// Contents of AACDOL.CFG: as ARQCDOL without 9B 9F41 DFAE57 (readers: 2.5); 8A as in the E5 of 2.13.
const AAC_DOL: &[u32] = &[
    0x8A, 0x4F, 0x50, 0x57, 0x5A, 0x5F20, 0x5F24, 0x5F28, 0x5F2A, 0x5F30, 0x5F34, 0x82, 0x84, 0x95, 0x9A, 0x9C, 0x9F02,
    0x9F03, 0x9F06, 0x9F09, 0x9F10, 0x9F12, 0x9F1A, 0x9F1C, 0x9F1E, 0x9F26, 0x9F27, 0x9F33, 0x9F34, 0x9F35, 0x9F36,
    0x9F37, 0xDF28, 0xDF30, 0xDFAE02, 0xDFAE03, 0xDFAE5A,
];

/// DF30, kernel and mode: `0301` was seen for Visa in EMV mode. The second byte of magstripe mode is UNCERTAIN
/// (readers: 10).
const KERNEL_EMV: [u8; 2] = [0x03, 0x01];
const KERNEL_MAGSTRIPE: [u8; 2] = [0x03, 0x02];
/// Kernel 2, Mastercard: made by analogy, UNCERTAIN.
const KERNEL_MASTERCARD: [u8; 2] = [0x02, 0x01];
/// Mastercard's part of an AID.
const MASTERCARD_RID: &[u8] = &[0xA0, 0x00, 0x00, 0x00, 0x04];

impl Payment {
    pub(super) fn new(
        card: &'static Card,
        application: Application,
        interface: Interface,
        terminal: Terminal,
        terms: Terms,
        numbers: &Numbers,
    ) -> Self {
        let contact = interface == Interface::Contact;
        // TVR byte 2 bit 7: expired application (EMV Book 3, 10.4.3 and C5).
        let expired = contact && bytes(card.expiry)[..] < terms.date[..2];
        Self {
            card,
            interface,
            mistakes: 0,
            application,
            terminal,
            terms,
            atc: numbers.atc.to_be_bytes(),
            unpredictable: numbers.unpredictable.to_be_bytes(),
            sequence: bcd(numbers.sequence),
            verified: Verified::NotAsked,
            // Byte 4 bit 8: transaction exceeds floor limit (EMV Book 3, C5).
            tvr: if contact { [0, u8::from(expired) << 6, 0, 0x80, 0] } else { [0; 5] },
            // CVM and terminal risk management performed, card risk management performed (EMV Book 3, C6).
            tsi: [0x68, 0],
            cvr: [0xA0, 0xB8, 0x00],
            asked: Vec::new(),
            script_results: Vec::new(),
            late: 0,
        }
    }

    fn cvm(&self) -> Cvm {
        match (self.interface, self.card.chip, self.card.tap) {
            (Interface::Contact, super::deck::Chip::Works { cvm, .. }, _) => cvm,
            (Interface::Contactless, _, Tap::Emv(cvm)) => cvm,
            _ => Cvm::None,
        }
    }

    /// Whether the cardholder must enter a PIN, and for whom.
    pub(super) fn wants_pin(&self) -> WantsPin {
        match self.cvm() {
            Cvm::OnlinePin if self.terminal.pin_key => WantsPin::Online,
            Cvm::OfflinePin => WantsPin::Offline,
            _ => WantsPin::No,
        }
    }

    /// Notes how PIN entry ended.
    pub(super) fn verified(&mut self, how: Verified) {
        self.verified = how;
        // TVR byte 3: bit 8 cardholder verification not successful, bit 6 PIN try limit exceeded, bit 4 PIN pad present
        // but PIN not entered, bit 3 online PIN entered (EMV Book 3, C5).
        self.tvr[2] |= match how {
            Verified::NotAsked | Verified::PinRight => 0,
            Verified::PinEntered => 0x04,
            Verified::PinBypassed => 0x08,
            Verified::PinTriesExceeded => 0xA0,
        };
    }

    /// The card's first decision; contactless cards always ask the issuer.
    pub(super) fn first(&mut self) -> Decision {
        let decision = match (self.interface, self.card.chip) {
            (Interface::Contact, super::deck::Chip::Works { first: First::Approves, .. }) => Decision::Approved,
            (Interface::Contact, super::deck::Chip::Works { first: First::Declines, .. }) => Decision::Declined,
            _ => Decision::Online,
        };
        // CVR byte 2 of Visa: bits 8-7 second cryptogram (10 not requested), bits 6-5 the first (00 AAC, 01 TC, 10
        // ARQC).
        self.cvr[0] = match decision {
            Decision::Approved => 0x90,
            Decision::Online => 0xA0,
            Decision::Declined => 0x80,
        };
        self.asked = self.signed(decision);
        decision
    }

    /// The card's decision after the host's answer (EMV Book 3, 10.9): `arc` 8A, `authentication` 91.
    pub(super) fn second(&mut self, arc: [u8; 2], authentication: Option<&[u8]>) -> Decision {
        if self.interface == Interface::Contactless {
            // The issuer's data are not given to the card (readers: 2.6).
            return if arc == *b"00" { Decision::Approved } else { Decision::Declined };
        }
        let issuer_agrees = authentication.map(|value| {
            // TSI byte 1 bit 5: issuer authentication was performed.
            self.tsi[0] |= 0x10;
            let right = self.key().accepts(&self.asked, value).unwrap_or(false);
            if !right {
                // TVR byte 5 bit 7: issuer authentication failed.
                self.tvr[4] |= 0x40;
            }
            right && value.get(5).is_some_and(|byte| byte & CSU_APPROVED[1] != 0)
        });
        let super::deck::Chip::Works { second, .. } = self.card.chip else { return Decision::Declined };
        let approved = match (second, issuer_agrees) {
            (Second::Refuses, _) | (_, Some(false)) | (Second::NeedsIssuer, None) => false,
            (Second::NeedsIssuer | Second::TakesNoIssuer, Some(true)) | (Second::TakesNoIssuer, None) => true,
        };
        let decision = if approved && arc == *b"00" { Decision::Approved } else { Decision::Declined };
        self.cvr[0] = if decision == Decision::Approved { 0x60 } else { 0x20 };
        decision
    }

    /// The ARQC, which scripts are bound to.
    pub(super) fn arqc(&self) -> Option<[u8; 8]> {
        wire::value(&self.asked, 0x9F26)?.try_into().ok()
    }

    /// Notes how a script ended (9F5B; EMV Book 4, A4): 20 done, 1n failed at command n. `before` the last cryptogram
    /// or after it.
    pub(super) fn script_ran(&mut self, id: [u8; 4], failed_at: Option<u8>, before: bool) {
        // TSI byte 1 bit 3: script processing was performed.
        self.tsi[0] |= 0x04;
        self.script_results.push(failed_at.map_or(0x20, |command| 0x10 | command.min(0x0F)));
        self.script_results.extend(id);
        // TVR byte 5: bit 6 failed before the final GENERATE AC, bit 5 after it (EMV Book 3, C5).
        match (failed_at, before) {
            (None, _) => {}
            (Some(_), true) => self.tvr[4] |= 0x20,
            (Some(_), false) => self.late |= 0x10,
        }
    }

    /// The template of a decision with its elements, in the order of the lists above. `card_data` has one block or two.
    pub(super) fn template(
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
            wire::put(&mut all, 0x8A, &arc);
        }
        if let Some(pin) = pin {
            wire::put(&mut all, 0xDFAE04, &pin.data);
            wire::put(&mut all, 0xDFAE05, &pin.ksn);
        }
        if let Some(first) = card_data.first() {
            wire::put(&mut all, 0xDFAE02, &first.data);
            wire::put(&mut all, 0xDFAE03, &first.ksn);
        }
        let mut inner = Vec::new();
        let [a, b, c, d, e] = self.tvr;
        let tvr = [a, b, c, d, e | self.late];
        for tag in dol {
            match wire::value(&all, *tag) {
                Some(_) if *tag == 0x95 => wire::put(&mut inner, 0x95, &tvr),
                Some(value) => wire::put(&mut inner, *tag, value),
                None => {}
            }
        }
        // Once more for the second mention in the device's lists (readers: 2.5, 2.13).
        for again in card_data.iter().skip(1) {
            wire::put(&mut inner, 0xDFAE02, &again.data);
            wire::put(&mut inner, 0xDFAE03, &again.ksn);
        }
        wire::object(tag, &inner)
    }

    /// All open elements, with the cryptogram of a decision over them.
    fn signed(&self, decision: Decision) -> Vec<u8> {
        let mut all = self.open_elements();
        if self.interface == Interface::Contactless && self.card.tap == Tap::Magstripe {
            wire::put(&mut all, 0xDF30, &KERNEL_MAGSTRIPE);
            return all;
        }
        if self.interface == Interface::Contactless {
            let mastercard = self.application.aid.starts_with(MASTERCARD_RID);
            wire::put(&mut all, 0xDF30, if mastercard { &KERNEL_MASTERCARD } else { &KERNEL_EMV });
        } else {
            wire::put(&mut all, 0x9B, &self.tsi);
        }
        let [a, b, c] = self.cvr;
        wire::put(&mut all, 0x9F10, &[0x06, 0x01, 0x12, 0x03, a, b, c]);
        wire::put(&mut all, 0x9F36, &self.atc);
        wire::put(&mut all, 0x95, &self.tvr);
        wire::put(&mut all, 0x9F34, &self.cvm_results());
        let cryptogram = self.key().cryptogram(&all).expect("every element the cryptogram covers has been put in");
        let tapped = self.interface == Interface::Contactless;
        let information = match decision {
            // A tap keeps its ARQC: the card is gone when the host has answered.
            _ if tapped => 0x80,
            Decision::Approved => 0x40,
            Decision::Online => 0x80,
            Decision::Declined => 0x00,
        };
        wire::put(&mut all, 0x9F26, &cryptogram);
        wire::put(&mut all, 0x9F27, &[information]);
        all
    }

    fn open_elements(&self) -> Vec<u8> {
        let Self { card, application, terminal, terms, .. } = self;
        let mut all = Vec::new();
        let mut put = |tag: u32, value: &[u8]| wire::put(&mut all, tag, value);
        let capabilities = if terminal.pin_key { [0xE0, 0xF8, 0xC8] } else { [0xE0, 0xB8, 0xC8] };
        put(0x4F, application.aid);
        put(0x50, application.label.as_bytes());
        put(0x5F20, card.holder.as_bytes());
        put(0x5F24, &[&bytes(card.expiry)[..], &[0x31]].concat());
        put(0x5F28, &card.country.unwrap_or(terminal.country));
        put(0x5F2A, &terms.currency);
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

    /// The PAN masked, everything after it open (readers: 2.13).
    fn masked_track2(&self) -> Vec<u8> {
        bytes(&self.card.track2_equivalent().replacen(self.card.pan, &self.card.masked_pan('F'), 1))
    }

    /// EMV Book 4, A4: method, condition, result.
    fn cvm_results(&self) -> [u8; 3] {
        match (self.verified, self.interface) {
            // Online PIN: the result is unknown to the terminal (00); failed (01) when bypassed.
            (Verified::PinEntered, _) => [0x42, 0x03, 0x00],
            (Verified::PinBypassed, _) if self.cvm() == Cvm::OnlinePin => [0x42, 0x03, 0x01],
            // Enciphered PIN checked by the chip, as in a capture (readers: 2.13).
            (Verified::PinBypassed | Verified::PinTriesExceeded, _) => [0x44, 0x03, 0x01],
            (Verified::PinRight, _) => [0x44, 0x03, 0x02],
            // Signature: only the cashier will know (00).
            (Verified::NotAsked, _) if self.cvm() == Cvm::Signature => [0x1E, 0x03, 0x00],
            // Verified by the cardholder's own device, as kernel 2 says it (EMV Contactless Book C-2, CVM selection).
            (Verified::NotAsked, _) if self.cvm() == Cvm::OwnDevice => [0x01, 0x00, 0x02],
            // No CVM: always successful (02).
            (Verified::NotAsked, Interface::Contact) => [0x1F, 0x03, 0x02],
            (Verified::NotAsked, Interface::Contactless) => [0x1F, 0x00, 0x02],
        }
    }

    fn key(&self) -> CardKey {
        Issuer::new(TEST_IMK_AC).card_key(self.card.pan, self.card.psn).expect("the deck holds valid card numbers")
    }
}

fn padded(mut digits: String) -> String {
    if digits.len() % 2 == 1 {
        digits.push('F');
    }
    digits
}

/// Eight decimal digits.
fn bcd(number: u32) -> [u8; 4] {
    let digits = format!("{:08}", number % 100_000_000);
    bytes(&digits).try_into().expect("eight digits are four bytes")
}
