//! The elements of an EMV transaction: all clear data of the kernel and the card, and the cryptogram over them. Each
//! family adds its own elements, and sends those that its lists name.

use super::{Decision, EmvTransaction, Interface, Verified};
use crate::reader::deck::Cvm;
use crate::reader::keys::bytes;
use crate::reader::objects;

impl EmvTransaction {
    /// Returns the elements of `all` that `list` names, in the order of the list. The TVR is the current one.
    pub(in super::super) fn listed(&self, all: &[u8], list: &[u32]) -> Vec<u8> {
        let [a, b, c, d, e] = self.tvr;
        let tvr = [a, b, c, d, e | self.late];
        let mut listed = Vec::new();
        for tag in list {
            match objects::value(all, *tag) {
                Some(_) if *tag == 0x95 => objects::put(&mut listed, 0x95, &tvr),
                Some(value) => objects::put(&mut listed, *tag, value),
                None => {}
            }
        }
        listed
    }

    /// Returns all clear elements, with a decision's cryptogram over them.
    pub(in super::super) fn signed(&self, decision: Decision) -> Vec<u8> {
        let mut all = self.open_elements();
        if self.is_magstripe_mode() {
            return all;
        }
        if self.interface == Interface::Contact {
            objects::put(&mut all, 0x9B, &self.tsi);
        }
        let [a, b, c] = self.cvr;
        objects::put(&mut all, 0x9F10, &[0x06, 0x01, 0x12, 0x03, a, b, c]);
        objects::put(&mut all, 0x9F36, &self.atc);
        objects::put(&mut all, 0x95, &self.tvr);
        objects::put(&mut all, 0x9F34, &self.cvm_results());
        let cryptogram = self.key().cryptogram(&all).expect("every element the cryptogram covers has been put in");
        let tapped = self.interface == Interface::Contactless;
        let information = match decision {
            // A tapped card keeps its ARQC, because the card is gone when the issuer has answered.
            _ if tapped => 0x80,
            Decision::Approved => 0x40,
            Decision::Online => 0x80,
            Decision::Declined => 0x00,
        };
        objects::put(&mut all, 0x9F26, &cryptogram);
        objects::put(&mut all, 0x9F27, &[information]);
        all
    }

    pub(in super::super) fn open_elements(&self) -> Vec<u8> {
        let Self { card, application, terminal, terms, .. } = self;
        let mut all = Vec::new();
        let mut put = |tag: u32, value: &[u8]| objects::put(&mut all, tag, value);
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
        all
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
