//! Miura's encrypted card data: whole TLVs with IV 0 and zero padding (readers: 8.1, 8.4).

use super::message::StatusWord;
use crate::keys::{ZERO_IV, ZERO_IV_16};
use crate::reader::deck::Card;
use crate::reader::emv_transaction::{EmvTransaction, Interface};
use crate::reader::family::Failure;
use crate::reader::keys::{Iv, Keys, NoKey, Sealed, bytes};
use crate::reader::objects;

impl Keys {
    /// Returns P2PE STATUS (readers: 2.2): bit 0 initialised, bit 1 a PIN key, bit 2 an SRED key.
    pub(super) fn p2pe_status(&self) -> u8 {
        0x01 | if self.reports_pin_key() { 0x02 } else { 0 } | if self.reports_card_key() { 0x04 } else { 0 }
    }

    /// Encrypts the card data this many times, each time under the next key. Returns nothing on a device without an
    /// SRED key.
    pub(super) fn seal_card_data(&mut self, transaction: &EmvTransaction, blocks: usize) -> Result<Vec<Sealed>, NoKey> {
        if !self.encrypts_card_data {
            return Ok(Vec::new());
        }
        let blocks = (0..blocks).map(|_| match transaction.interface {
            Interface::Contact => self.seal_chip(transaction.card),
            Interface::Contactless => self.seal_tap(transaction.card),
        });
        blocks.collect()
    }

    /// Encrypts the PAN and track 2 of a chip (readers: 2.5, P2PEDOL.CFG; 8.4).
    pub(in crate::reader) fn seal_chip(&mut self, card: &Card) -> Result<Sealed, NoKey> {
        let mut plain = objects::object(0x5A, &bytes(&card.pan_digits()));
        objects::put(&mut plain, 0x57, &bytes(&card.track2_equivalent()));
        self.seal_zero_padded(&plain)
    }

    /// Encrypts the track 2 data of a tap (readers: 8.4, M2).
    pub(in crate::reader) fn seal_tap(&mut self, card: &Card) -> Result<Sealed, NoKey> {
        self.seal_zero_padded(&objects::object(0x57, &bytes(&card.track2_equivalent())))
    }

    /// Encrypts the tracks of the stripe with their sentinels (readers: 8.4, M1).
    pub(in crate::reader) fn seal_swipe(
        &mut self,
        track1: Option<&str>,
        track2: Option<&str>,
    ) -> Result<Sealed, NoKey> {
        let mut plain = Vec::new();
        for (tag, track) in [(0x5F21, track1), (0x5F22, track2)] {
            if let Some(track) = track {
                objects::put(&mut plain, tag, track.as_bytes());
            }
        }
        self.seal_zero_padded(&plain)
    }

    /// Encrypts a typed card number. The DFA210 elements and their digits become DFA211 PAN, DFA214 expiry YYMM, and
    /// DFA216 verification value. Their layout on a device is not published, so it is UNCERTAIN (readers: 2.9). Here
    /// they are ASCII digits.
    pub(super) fn seal_typed(&mut self, elements: &[(u8, String)]) -> Result<Sealed, NoKey> {
        let mut plain = Vec::new();
        for (element, digits) in elements {
            objects::put(&mut plain, 0xDFA210 + u32::from(*element), digits.as_bytes());
        }
        self.seal_zero_padded(&plain)
    }

    fn seal_zero_padded(&mut self, plain: &[u8]) -> Result<Sealed, NoKey> {
        self.seal(Iv { tdes: ZERO_IV, aes: ZERO_IV_16 }, plain)
    }
}

impl From<Failure> for StatusWord {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NoCard => Self::NO_CARD,
            Failure::UnreadableChip => Self::CARD_READ_ERROR,
            Failure::UnsupportedCard => Self::UNSUPPORTED_CARD,
            Failure::BlockedCard => Self::BAD_CARD,
            Failure::NeedsContacts => Self::INSERT_CARD,
            Failure::Cancelled | Failure::Aborted | Failure::CardPulled | Failure::NotEntered => Self::CANCELLED,
            Failure::TimedOut => Self::TIMED_OUT,
            // The answer of a real device is UNCERTAIN, because the protocol defines no code for used-up keys. Here it
            // is the code for a failed encryption (readers: 2.9). P2PE STATUS then no longer has the key's bit.
            Failure::NoCardKey => Self::NO_KEY_LEFT,
            Failure::NoPinKey => Self::NO_PIN_KEY,
            Failure::InvalidNumber => Self::INVALID_INPUT,
        }
    }
}
