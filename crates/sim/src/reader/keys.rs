//! The reader's keys and its encrypted output: card data (SRED) and PIN blocks, each under a separate DUKPT key set
//! (readers: 8.1).
//!
//! | | card data | PIN block | KSN |
//! |---|---|---|---|
//! | TDES DUKPT | TDES-CBC, 8 bytes a block | ISO format 0, 8 bytes | 10 bytes |
//! | AES DUKPT | AES-128-CBC, 16 bytes a block | ISO format 4, 16 bytes | 12 bytes |
//!
//! The initialisation vector, the padding and the content of the card data belong to the family.
//!
//! Every block uses the next key of its set. No vector from a real reader with AES was found. Mode and padding are
//! copied from TDES, so they are UNCERTAIN (readers: 8.2).

use super::Options;
use super::deck::Card;
use crate::keys::{
    Ksn, TEST_BDK_AES, TEST_BDK_PIN, TEST_BDK_SRED, TEST_KSN_PIN, TEST_KSN_PIN_AES, TEST_KSN_SRED, TEST_KSN_SRED_AES,
    aes_dukpt, pin_block, tdes_dukpt,
};

/// The kind of keys, and the last used KSN of both key sets; on a new device the counter is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dukpt {
    /// TDES DUKPT (X9.24-1).
    Tdes {
        /// The card-data (SRED) key set.
        card: Ksn,
        /// The PIN key set.
        pin: Ksn,
    },
    /// AES DUKPT (X9.24-3), AES-128.
    Aes {
        /// The card-data (SRED) key set.
        card: aes_dukpt::Ksn,
        /// The PIN key set.
        pin: aes_dukpt::Ksn,
    },
}

impl Dukpt {
    /// New TDES key sets, injected with the test BDK.
    pub const TDES: Self = Self::Tdes { card: TEST_KSN_SRED, pin: TEST_KSN_PIN };
    /// New AES key sets, injected with the test BDK.
    pub const AES: Self = Self::Aes { card: TEST_KSN_SRED_AES, pin: TEST_KSN_PIN_AES };

    /// Returns the key sets after this many uses of each.
    #[must_use]
    pub fn with_counter(self, counter: u32) -> Self {
        match self {
            Self::Tdes { card, pin } => Self::Tdes { card: card.with_counter(counter), pin: pin.with_counter(counter) },
            Self::Aes { card, pin } => Self::Aes { card: card.with_counter(counter), pin: pin.with_counter(counter) },
        }
    }

    /// Returns the key sets with this many keys left in each.
    #[must_use]
    pub fn with_keys_left(self, left: u32) -> Self {
        match self {
            Self::Tdes { card, pin } => Self::Tdes { card: card.with_keys_left(left), pin: pin.with_keys_left(left) },
            Self::Aes { card, pin } => Self::Aes { card: card.with_keys_left(left), pin: pin.with_keys_left(left) },
        }
    }
}

/// The two injected key sets and their use.
pub(super) struct Keys {
    card_data: KeySet,
    pin: KeySet,
    /// True if card data leave the reader encrypted; otherwise, tracks, 57 and 5A are sent in clear.
    pub(super) encrypts_card_data: bool,
    /// True if the reader reports an SRED key even when it does not encrypt.
    claims_card_key: bool,
    pub(super) holds_pin_key: bool,
}

/// The keys of one set.
enum KeySet {
    Tdes(Box<tdes_dukpt::Device>),
    Aes(Box<aes_dukpt::Device>),
}

impl KeySet {
    fn next_ksn(&self) -> Vec<u8> {
        match self {
            Self::Tdes(device) => device.next_ksn().map(|ksn| ksn.0.to_vec()),
            Self::Aes(device) => device.next_ksn().map(|ksn| ksn.0.to_vec()),
        }
        .unwrap_or_default()
    }

    fn has_keys_left(&self) -> bool {
        match self {
            Self::Tdes(device) => device.next_ksn().is_some(),
            Self::Aes(device) => device.next_ksn().is_some(),
        }
    }
}

/// An encrypted value, and the KSN of its key.
#[derive(Clone)]
pub(super) struct Sealed {
    pub(super) data: Vec<u8>,
    pub(super) ksn: Vec<u8>,
}

/// The initialisation vector of card data, for both kinds of keys.
#[derive(Clone, Copy)]
pub(super) struct Iv {
    pub(super) tdes: [u8; 8],
    pub(super) aes: [u8; 16],
}

/// The reason why encryption failed: the key set is used up, or the PIN is invalid.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoKey;

impl Keys {
    /// Injects both key sets with the test BDKs. The counters continue from those in the KSNs.
    pub(super) fn new(options: &Options) -> Self {
        let tdes = |bdk, ksn| KeySet::Tdes(Box::new(tdes_dukpt::Device::new(&tdes_dukpt::initial_key(bdk, ksn), ksn)));
        let aes = |ksn| KeySet::Aes(Box::new(aes_dukpt::Device::new(&aes_dukpt::initial_key(&TEST_BDK_AES, ksn), ksn)));
        let (card_data, pin) = match options.dukpt {
            Dukpt::Tdes { card, pin } => (tdes(&TEST_BDK_SRED, card), tdes(&TEST_BDK_PIN, pin)),
            Dukpt::Aes { card, pin } => (aes(card), aes(pin)),
        };
        Self {
            card_data,
            pin,
            encrypts_card_data: options.secured,
            claims_card_key: options.claims_card_key,
            holds_pin_key: options.pin_key,
        }
    }

    /// Returns whether the reader reports a key for card data.
    pub(super) fn reports_card_key(&self) -> bool {
        self.encrypts_card_data && self.card_keys_are_left() || self.claims_card_key
    }

    /// Returns whether the reader reports a key for PINs.
    pub(super) fn reports_pin_key(&self) -> bool {
        self.holds_pin_key && self.pin_keys_are_left()
    }

    /// Returns whether the card data are encrypted under AES.
    pub(super) fn are_aes(&self) -> bool {
        matches!(self.card_data, KeySet::Aes(_))
    }

    /// Returns the next KSN of both key sets; empty if a set is used up.
    pub(super) fn next_ksns(&self) -> (Vec<u8>, Vec<u8>) {
        (self.card_data.next_ksn(), self.pin.next_ksn())
    }

    /// Returns whether a key for card data is left.
    pub(super) fn card_keys_are_left(&self) -> bool {
        self.card_data.has_keys_left()
    }

    /// Returns whether a key for a PIN is left.
    pub(super) fn pin_keys_are_left(&self) -> bool {
        self.pin.has_keys_left()
    }

    /// Encrypts the cardholder's digits with the card's PAN. Format 4 also uses `random`.
    pub(super) fn seal_pin(&mut self, card: &Card, digits: &str, random: [u8; 8]) -> Result<Sealed, NoKey> {
        self.seal_pin_for(card.pan, digits, random)
    }

    /// Encrypts the cardholder's digits with a PAN.
    pub(super) fn seal_pin_for(&mut self, pan: &str, digits: &str, random: [u8; 8]) -> Result<Sealed, NoKey> {
        let pin = pin_block::Pin::new(digits).map_err(|_| NoKey)?;
        match &mut self.pin {
            KeySet::Tdes(device) => {
                let (ksn, key) = device.next().ok_or(NoKey)?;
                let block = pin_block::encrypt_0(&key.working(tdes_dukpt::Usage::Pin), &pin, pan);
                Ok(Sealed { data: block.map_err(|_| NoKey)?.to_vec(), ksn: ksn.0.to_vec() })
            }
            KeySet::Aes(device) => {
                let (ksn, key) = device.next().ok_or(NoKey)?;
                let block = pin_block::encrypt_4(&key.pin_key(), &pin, pan, random);
                Ok(Sealed { data: block.map_err(|_| NoKey)?.to_vec(), ksn: ksn.0.to_vec() })
            }
        }
    }

    /// Encrypts card data under the next key. The last block is filled with zeros.
    pub(super) fn seal(&mut self, iv: Iv, plain: &[u8]) -> Result<Sealed, NoKey> {
        let (data, ksn) = self.seal_all(iv, &[plain])?;
        Ok(Sealed { data: data.concat(), ksn })
    }

    /// Encrypts several values under the next key, each by itself. Returns them and the KSN.
    pub(super) fn seal_all(&mut self, iv: Iv, plains: &[impl AsRef<[u8]>]) -> Result<(Vec<Vec<u8>>, Vec<u8>), NoKey> {
        let plains = plains.iter().map(AsRef::as_ref);
        match &mut self.card_data {
            KeySet::Tdes(device) => {
                let (ksn, key) = device.next().ok_or(NoKey)?;
                let key = key.working(tdes_dukpt::Usage::DataRequest);
                Ok((plains.map(|plain| key.cbc_encrypt_zero_padded(&iv.tdes, plain)).collect(), ksn.0.to_vec()))
            }
            KeySet::Aes(device) => {
                let (ksn, key) = device.next().ok_or(NoKey)?;
                let key = key.data_key();
                Ok((plains.map(|plain| key.cbc_encrypt_zero_padded(&iv.aes, plain)).collect(), ksn.0.to_vec()))
            }
        }
    }
}

/// Converts hexadecimal digits of the deck to bytes.
pub(super) fn bytes(digits: &str) -> Vec<u8> {
    hex::decode(digits).expect("the deck holds whole bytes of hexadecimal digits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(dukpt: Dukpt) -> Keys {
        Keys::new(&Options { dukpt, ..Options::default() })
    }

    fn tdes(card: &str, pin: &str) -> Keys {
        let ksn = |text| Ksn::from_bytes(&bytes(text)).unwrap();
        with(Dukpt::Tdes { card: ksn(card), pin: ksn(pin) })
    }

    /// Published vectors, copied by hand from documents (readers: 8.4). Never edit them to make a test pass.
    mod frozen {
        use super::*;

        #[test]
        fn a_swipe_is_sealed_as_a_real_reader_did() {
            let mut keys = tdes("00000200000055400181", "FFFF0102628D12000000");
            let sealed = keys
                .seal_swipe(
                    Some("%B4761739001010010^VISA ACQUIRER TEST CARD 05^15122011143800575000000?"),
                    Some(";4761739001010010=15122011143857589?<"),
                )
                .unwrap();
            assert_eq!(hex::encode_upper(sealed.ksn), "00000200000055400182");
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
                ..*crate::reader::deck::card("tap").unwrap()
            };
            let mut keys = tdes("FFFF0102628D1100005D", "FFFF0102628D12000000");
            let (first, second) = (keys.seal_tap(&card).unwrap(), keys.seal_tap(&card).unwrap());
            assert_eq!(hex::encode_upper(first.ksn), "FFFF0102628D1100005E");
            assert_eq!(hex::encode_upper(second.ksn), "FFFF0102628D1100005F");
            assert_eq!(hex::encode_upper(first.data), "85D6E511F8844CEA0DC72883180AC081AF4593A8A3C5FDD8");
            assert_eq!(hex::encode_upper(second.data), "92FC2C940487F43AC64AB3DFD54C7B72F445FE409D80FDF5");
        }

        #[test]
        fn a_pin_is_sealed_as_a_real_reader_did() {
            let card = Card { pan: "5413330089099023", ..*crate::reader::deck::card("swipe-pin").unwrap() };
            let mut keys = tdes("FFFF0102628D11000000", "FFFF0102628D12000000");
            let sealed = keys.seal_pin(&card, "4315", [0; 8]).unwrap();
            assert_eq!(hex::encode_upper(sealed.ksn), "FFFF0102628D12000001");
            assert_eq!(hex::encode_upper(sealed.data), "8B68AF72199529B8");
        }
    }

    // Copied by hand from the publication (security: 1.3; X9.24-3, supplement): counter 1 of that device.
    #[test]
    fn a_pin_under_aes_is_that_of_the_standard() {
        let ksn = |text| aes_dukpt::Ksn::from_bytes(&bytes(text)).unwrap();
        let (card, pin) = (ksn("123456789012341100000000"), ksn("123456789012345600000000"));
        let mut keys = with(Dukpt::Aes { card, pin });
        let card = Card { pan: "4111111111111111", ..*crate::reader::deck::card("swipe-pin").unwrap() };
        let sealed = keys.seal_pin(&card, "1234", [0x2F, 0x69, 0xAD, 0xDE, 0x2E, 0x9E, 0x7A, 0xCE]).unwrap();
        assert_eq!(hex::encode_upper(sealed.ksn), "123456789012345600000001");
        assert_eq!(hex::encode_upper(sealed.data), "A912150391AB65A67E52883D81CE2D15");
    }

    #[test]
    fn each_set_wears_out_alone() {
        let card = crate::reader::deck::card("tap").unwrap();
        for dukpt in [Dukpt::TDES, Dukpt::AES] {
            let mut keys = with(dukpt.with_keys_left(2));
            assert!(keys.seal_tap(card).is_ok() && keys.seal_tap(card).is_ok() && keys.seal_tap(card).is_err());
            assert!(!keys.card_keys_are_left() && keys.pin_keys_are_left());
        }
    }

    #[test]
    fn the_counter_goes_as_the_standard_says() {
        // After a counter with ten one bits, the lowest of these bits is added (security: 1.2).
        let mut keys = tdes("FFFF9876543210E003FF", "FFFF0102628D12000000");
        let card = crate::reader::deck::card("tap").unwrap();
        assert_eq!(hex::encode_upper(keys.seal_tap(card).unwrap().ksn), "FFFF9876543210E00400");
        let mut keys = tdes("FFFF9876543210E007FE", "FFFF0102628D12000000");
        assert_eq!(hex::encode_upper(keys.seal_tap(card).unwrap().ksn), "FFFF9876543210E00800");
    }
}
