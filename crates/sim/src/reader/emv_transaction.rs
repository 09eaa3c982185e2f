//! One EMV transaction between the kernel and a card: the signed data, the card's first decision, and its decision
//! after the issuer's answer (readers: 2.5, 2.6; EMV Book 3). This module contains no messages and no reader keys.
//! `elements` lists the output elements.

mod elements;

use super::deck::{Application, Card, Chip, Cvm, First, Second, Tap};
use super::display::CommandMoney;
use super::keys::bytes;
use super::objects::{self, ElementFault};
use crate::keys::TEST_IMK_AC;
use crate::keys::cryptogram::{CSU_APPROVED, CardKey, Issuer};

/// The parameters of START.
#[derive(Clone, Copy)]
pub(super) struct StartTerms {
    pub(super) kind: u8,
    pub(super) amount: [u8; 6],
    pub(super) other: [u8; 6],
    pub(super) date: [u8; 3],
    pub(super) currency: [u8; 2],
    /// The terminal's country (9F1A), if the host names it.
    pub(super) country: Option<[u8; 2]>,
}

impl StartTerms {
    /// Reads the elements that START and START CONTACTLESS share.
    pub(super) fn read(elements: &[u8]) -> Result<Self, ElementFault> {
        // The element is required, but no list of output elements contains it.
        let _time: [u8; 3] = objects::need(elements, 0x9F21)?;
        Ok(Self {
            kind: objects::need::<1>(elements, 0x9C)?[0],
            amount: objects::need(elements, 0x9F02)?,
            other: objects::get(elements, 0x9F03)?.unwrap_or_default(),
            date: objects::need(elements, 0x9A)?,
            currency: objects::need(elements, 0x5F2A)?,
            country: None,
        })
    }

    /// Returns the amount that the cardholder sees.
    pub(super) fn money(&self) -> CommandMoney {
        CommandMoney { amount: self.amount, currency: self.currency }
    }
}

/// The data that the reader adds to every transaction.
#[derive(Clone)]
pub(super) struct Terminal {
    pub(super) serial: String,
    pub(super) country: [u8; 2],
    pub(super) pin_key: bool,
    /// True if the clear tags 57 and 5A never leave the reader.
    pub(super) secured: bool,
}

/// A card's decision, which selects the template of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// TC, E3.
    Approved,
    /// ARQC, E4.
    Online,
    /// AAC, E5.
    Declined,
}

/// The method by which the cardholder was verified.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verified {
    NotAsked,
    /// A PIN was entered for the issuer to check.
    PinEntered,
    PinBypassed,
    /// The chip has accepted the PIN.
    PinRight,
    /// The chip accepts no PIN, or no further PIN.
    PinTriesExceeded,
}

/// The kind of PIN that a card requires.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WantsPin {
    No,
    /// For the issuer.
    Online,
    /// For the chip.
    Offline,
}

/// The way in which the card was presented.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Interface {
    Contact,
    Contactless,
}

/// One transaction with one card.
pub(super) struct EmvTransaction {
    pub(super) card: &'static Card,
    pub(super) interface: Interface,
    /// The number of wrong PINs so far.
    pub(super) mistakes: u8,
    pub(super) application: Application,
    terminal: Terminal,
    terms: StartTerms,
    pub(super) atc: [u8; 2],
    unpredictable: [u8; 4],
    sequence: [u8; 4],
    verified: Verified,
    /// True if the host declines, whatever the card decides.
    is_declined_by_host: bool,
    tvr: [u8; 5],
    tsi: [u8; 2],
    /// Bytes 2 to 4 of the card's CVR (9F10 is 06 01 12 03 CVR; security: 1.5).
    cvr: [u8; 3],
    /// The ARQC and the TLVs that it covers, which are needed to check the issuer's answer.
    asked: Vec<u8>,
    /// The results of the issuer scripts (9F5B).
    script_results: Vec<u8>,
    /// The bits of TVR byte 5 that were set after the last cryptogram.
    late: u8,
}

/// The numbers that make a transaction unique.
pub(super) struct Numbers {
    pub(super) atc: u16,
    pub(super) unpredictable: u32,
    pub(super) sequence: u32,
}

impl EmvTransaction {
    pub(super) fn new(
        card: &'static Card,
        application: Application,
        interface: Interface,
        terminal: Terminal,
        terms: StartTerms,
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
            is_declined_by_host: false,
            // Byte 4 bit 8: transaction exceeds floor limit (EMV Book 3, C5).
            tvr: if contact { [0, u8::from(expired) << 6, 0, 0x80, 0] } else { [0; 5] },
            // Cardholder verification, terminal risk management and card risk management were performed (EMV Book 3,
            // C6).
            tsi: [0x68, 0],
            cvr: [0xA0, 0xB8, 0x00],
            asked: Vec::new(),
            script_results: Vec::new(),
            late: 0,
        }
    }

    /// Returns whether a tapped card sends track 2 without a cryptogram.
    pub(super) fn is_magstripe_mode(&self) -> bool {
        self.interface == Interface::Contactless && self.card.tap == Tap::Magstripe
    }

    /// Records that the host declines, so that the card can only decline too.
    pub(super) fn host_declines(&mut self) {
        self.is_declined_by_host = true;
    }

    pub(super) fn terms(&self) -> StartTerms {
        self.terms
    }

    /// Replaces the terms, before the card signs them.
    pub(super) fn take_terms(&mut self, terms: StartTerms) {
        self.terms = terms;
        self.terminal.country = terms.country.unwrap_or(self.terminal.country);
    }

    /// Returns whether the clear card data never leave the reader.
    pub(super) fn is_secured(&self) -> bool {
        self.terminal.secured
    }

    fn cvm(&self) -> Cvm {
        match (self.interface, self.card.chip, self.card.tap) {
            (Interface::Contact, Chip::Works { cvm, .. }, _) => cvm,
            (Interface::Contactless, _, Tap::Emv(cvm)) => cvm,
            _ => Cvm::None,
        }
    }

    /// Returns whether the cardholder must enter a PIN, and who checks it.
    pub(super) fn wants_pin(&self) -> WantsPin {
        match self.cvm() {
            Cvm::OnlinePin if self.terminal.pin_key => WantsPin::Online,
            Cvm::OfflinePin => WantsPin::Offline,
            _ => WantsPin::No,
        }
    }

    /// Records the result of the PIN entry.
    pub(super) fn verified(&mut self, how: Verified) {
        self.verified = how;
        // TVR byte 3 (EMV Book 3, C5): bit 8 cardholder verification not successful; bit 6 PIN try limit exceeded; bit
        // 4 PIN pad present but PIN not entered; bit 3 online PIN entered.
        self.tvr[2] |= match how {
            Verified::NotAsked | Verified::PinRight => 0,
            Verified::PinEntered => 0x04,
            Verified::PinBypassed => 0x08,
            Verified::PinTriesExceeded => 0xA0,
        };
    }

    /// Makes the card's first decision. Contactless cards always request the issuer's decision.
    pub(super) fn first(&mut self) -> Decision {
        let decision = match (self.interface, self.card.chip) {
            _ if self.is_declined_by_host => Decision::Declined,
            (Interface::Contact, Chip::Works { first: First::Approves, .. }) => Decision::Approved,
            (Interface::Contact, Chip::Works { first: First::Declines, .. }) => Decision::Declined,
            _ => Decision::Online,
        };
        // Byte 2 of Visa's CVR: bits 8-7 are for the second cryptogram (10 not requested), and bits 6-5 are for the
        // first (00 AAC, 01 TC, 10 ARQC).
        self.cvr[0] = match decision {
            Decision::Approved => 0x90,
            Decision::Online => 0xA0,
            Decision::Declined => 0x80,
        };
        self.asked = self.signed(decision);
        decision
    }

    /// Makes the card's decision after the issuer's answer (EMV Book 3, 10.9). `arc` is tag 8A, and `authentication` is
    /// tag 91.
    pub(super) fn second(&mut self, arc: [u8; 2], authentication: Option<&[u8]>) -> Decision {
        if self.interface == Interface::Contactless {
            // A tapped card does not get the issuer's data (readers: 2.6).
            let is_approved = arc == *b"00" && !self.is_declined_by_host;
            return if is_approved { Decision::Approved } else { Decision::Declined };
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
        let Chip::Works { second, .. } = self.card.chip else { return Decision::Declined };
        let approved = match (second, issuer_agrees) {
            (Second::Refuses, _) | (_, Some(false)) | (Second::NeedsIssuer, None) => false,
            (Second::NeedsIssuer | Second::TakesNoIssuer, Some(true)) | (Second::TakesNoIssuer, None) => true,
        };
        let decision = if approved && arc == *b"00" && !self.is_declined_by_host {
            Decision::Approved
        } else {
            Decision::Declined
        };
        self.cvr[0] = if decision == Decision::Approved { 0x60 } else { 0x20 };
        decision
    }

    /// Returns the ARQC, to which the scripts are bound.
    pub(super) fn arqc(&self) -> Option<[u8; 8]> {
        objects::value(&self.asked, 0x9F26)?.try_into().ok()
    }

    /// Records the result of a script (9F5B; EMV Book 4, A4): 20 means success, and 1n means that command n failed.
    /// `before` says whether the script ran before or after the last cryptogram.
    pub(super) fn script_ran(&mut self, id: [u8; 4], failed_at: Option<u8>, before: bool) {
        // TSI byte 1 bit 3: script processing was performed.
        self.tsi[0] |= 0x04;
        self.script_results.push(failed_at.map_or(0x20, |command| 0x10 | command.min(0x0F)));
        self.script_results.extend(id);
        // TVR byte 5: bit 6 means a failure before the final GENERATE AC, and bit 5 a failure after it (EMV Book 3,
        // C5).
        match (failed_at, before) {
            (None, _) => {}
            (Some(_), true) => self.tvr[4] |= 0x20,
            (Some(_), false) => self.late |= 0x10,
        }
    }

    fn key(&self) -> CardKey {
        Issuer::new(TEST_IMK_AC).card_key(self.card.pan, self.card.psn).expect("the deck holds valid card numbers")
    }
}

/// Returns eight decimal digits.
fn bcd(number: u32) -> [u8; 4] {
    let digits = format!("{:08}", number % 100_000_000);
    bytes(&digits).try_into().expect("eight digits are four bytes")
}
