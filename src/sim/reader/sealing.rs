//! What leaves the reader sealed: card data (SRED) and PIN blocks, each under a key set of its own (readers: 8.1).
//!
//! TDES DUKPT, TDES-CBC with IV 0 and zero padding for card data; ISO format 0 for PIN blocks. Every block takes the next
//! key of its set.

use super::deck::Card;
use super::wire;
use crate::sim::keys::tdes_dukpt::{Device, Usage, initial_key};
use crate::sim::keys::{Ksn, TEST_BDK_PIN, TEST_BDK_SRED, ZERO_IV, pin_block};

/// The two key sets as injected.
pub(super) struct Sealing {
    card_data: Device,
    pin: Device,
}

/// A sealed value and the KSN of its key.
#[derive(Clone)]
pub(super) struct Sealed {
    pub(super) data: Vec<u8>,
    pub(super) ksn: Ksn,
}

/// Why nothing could be sealed: the key set is used up, or the PIN is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoKey;

impl Sealing {
    /// Injects both key sets with the test BDKs. The counters go on after those of the KSNs.
    pub(super) fn new(card_data: Ksn, pin: Ksn) -> Self {
        Self {
            card_data: Device::new(&initial_key(&TEST_BDK_SRED, card_data), card_data),
            pin: Device::new(&initial_key(&TEST_BDK_PIN, pin), pin),
        }
    }

    /// A chip's PAN and track 2 (P2PEDOL 5A 57; readers: 2.5 and the computed vector of 8.4).
    pub(super) fn chip(&mut self, card: &Card) -> Result<Sealed, NoKey> {
        let mut plain = wire::object(0x5A, &bytes(&card.pan_digits()));
        wire::put(&mut plain, 0x57, &bytes(&card.track2_equivalent()));
        self.card_data(&plain)
    }

    /// A tap's track 2 (readers: 8.4, M2).
    pub(super) fn tap(&mut self, card: &Card) -> Result<Sealed, NoKey> {
        self.card_data(&wire::object(0x57, &bytes(&card.track2_equivalent())))
    }

    /// The stripe's tracks with their sentinels (readers: 8.4, M1).
    pub(super) fn swipe(&mut self, track1: Option<&str>, track2: Option<&str>) -> Result<Sealed, NoKey> {
        let mut plain = Vec::new();
        for (tag, track) in [(0x5F21, track1), (0x5F22, track2)] {
            if let Some(track) = track {
                wire::put(&mut plain, tag, track.as_bytes());
            }
        }
        self.card_data(&plain)
    }

    /// A card number that was typed: DFA210 elements and their digits, as DFA211 PAN, DFA214 expiry YYMM, DFA216 verification value.
    /// UNCERTAIN: how a device lays them out is not published (readers: 2.9); as ASCII digits here.
    pub(super) fn typed(&mut self, elements: &[(u8, String)]) -> Result<Sealed, NoKey> {
        let mut plain = Vec::new();
        for (element, digits) in elements {
            wire::put(&mut plain, 0xDFA210 + u32::from(*element), digits.as_bytes());
        }
        self.card_data(&plain)
    }

    /// What the cardholder typed, with the card's PAN.
    pub(super) fn pin(&mut self, card: &Card, digits: &str) -> Result<Sealed, NoKey> {
        let pin = pin_block::Pin::new(digits).map_err(|_| NoKey)?;
        let (ksn, key) = self.pin.next().ok_or(NoKey)?;
        let block = pin_block::encrypt_0(&key.working(Usage::Pin), &pin, card.pan).map_err(|_| NoKey)?;
        Ok(Sealed { data: block.to_vec(), ksn })
    }

    fn card_data(&mut self, plain: &[u8]) -> Result<Sealed, NoKey> {
        let (ksn, key) = self.card_data.next().ok_or(NoKey)?;
        Ok(Sealed { data: key.working(Usage::DataRequest).cbc_encrypt_zero_padded(&ZERO_IV, plain), ksn })
    }
}

/// The bytes of hexadecimal digits of the deck.
pub(super) fn bytes(digits: &str) -> Vec<u8> {
    hex::decode(digits).expect("the deck holds whole bytes of hexadecimal digits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ksn(text: &str) -> Ksn {
        Ksn::from_bytes(&bytes(text)).unwrap()
    }

    /// Published vectors, typed from readers 8.4. They are never edited to make a test pass.
    mod frozen {
        use super::*;

        #[test]
        fn a_swipe_is_sealed_as_a_real_reader_did() {
            let mut sealing = Sealing::new(ksn("00000200000055400181"), ksn("FFFF0102628D12000000"));
            let sealed = sealing
                .swipe(
                    Some("%B4761739001010010^VISA ACQUIRER TEST CARD 05^15122011143800575000000?"),
                    Some(";4761739001010010=15122011143857589?<"),
                )
                .unwrap();
            assert_eq!(sealed.ksn.to_string(), "00000200000055400182");
            assert_eq!(
                hex::encode_upper(sealed.data),
                "72212907C9B93D919511254CA428CE061009857EC1F129D3DE63CBF9F7D5452C36C961C881A11E84EF2F7D6C223C12CF2CC55A87AFC2D097F57D07BFF787A997CA5DB3E0FE46AF9C7C37580459EE6F6065CAD8E1BDACAE01B8ED4E06D232485F3B7A72C88119E3DF27F3553284411FCC8DC25EFC8ECF4AFA"
            );
        }

        #[test]
        fn a_tap_is_sealed_twice_as_a_real_reader_did() {
            let card = Card {
                pan: "4761739001010012234",
                expiry: "1512",
                service_code: "201",
                discretionary: "14524040",
                ..*crate::sim::reader::deck::card("tap").unwrap()
            };
            let mut sealing = Sealing::new(ksn("FFFF0102628D1100005D"), ksn("FFFF0102628D12000000"));
            let (first, second) = (sealing.tap(&card).unwrap(), sealing.tap(&card).unwrap());
            assert_eq!(first.ksn.to_string(), "FFFF0102628D1100005E");
            assert_eq!(second.ksn.to_string(), "FFFF0102628D1100005F");
            assert_eq!(hex::encode_upper(first.data), "85D6E511F8844CEA0DC72883180AC081AF4593A8A3C5FDD8");
            assert_eq!(hex::encode_upper(second.data), "92FC2C940487F43AC64AB3DFD54C7B72F445FE409D80FDF5");
        }

        #[test]
        fn a_pin_is_sealed_as_a_real_reader_did() {
            let card = Card { pan: "5413330089099023", ..*crate::sim::reader::deck::card("swipe-pin").unwrap() };
            let mut sealing = Sealing::new(ksn("FFFF0102628D11000000"), ksn("FFFF0102628D12000000"));
            let sealed = sealing.pin(&card, "4315").unwrap();
            assert_eq!(sealed.ksn.to_string(), "FFFF0102628D12000001");
            assert_eq!(hex::encode_upper(sealed.data), "8B68AF72199529B8");
        }
    }

    #[test]
    fn the_counter_goes_as_the_standard_says() {
        // security 1.2: after ten one bits the lowest of them is counted on.
        let mut sealing = Sealing::new(ksn("FFFF9876543210E003FF"), ksn("FFFF0102628D12000000"));
        let card = crate::sim::reader::deck::card("tap").unwrap();
        assert_eq!(sealing.tap(card).unwrap().ksn.to_string(), "FFFF9876543210E00400");
        let mut sealing = Sealing::new(ksn("FFFF9876543210E007FE"), ksn("FFFF0102628D12000000"));
        assert_eq!(sealing.tap(card).unwrap().ksn.to_string(), "FFFF9876543210E00800");
    }
}
