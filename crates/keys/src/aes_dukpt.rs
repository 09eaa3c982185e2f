//! AES DUKPT (ANSI X9.24-3:2017): a key of its own for every transaction, from both sides, for keys of 128, 192 and 256
//! bits.
//!
//! As [`super::tdes_dukpt`], with AES for the derivation and a working key for each purpose and algorithm. The device
//! ([`Device`]) holds only keys of the future; the host derives any key from the base derivation key and the KSN.
//!
//! ```text
//!  KSN, 12 bytes:  BDK id (4) | derivation id (4) | transaction counter (32 bits, at most sixteen of them one)
//!                  └── initial key id (8) ──────┘
//! ```

use std::fmt;

use super::aes::AesKey;
use super::counter::{self, Rule};
use super::tdes::Key;

/// Bits of the transaction counter, and number of intermediate keys.
const COUNTER_BITS: u32 = 32;

/// Which counters are used (X9.24-3, 6.1).
const COUNTERS: Rule = Rule { mask: u32::MAX, most_ones: 16 };

/// A key serial number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ksn(pub [u8; 12]);

impl Ksn {
    /// Takes the twelve bytes of a KSN; `None` for any other number.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The initial key id: key set and device.
    #[must_use]
    pub fn initial_key_id(self) -> [u8; 8] {
        let [id @ .., _, _, _, _] = self.0;
        id
    }

    /// The transaction counter.
    #[must_use]
    pub fn counter(self) -> u32 {
        let [.., a, b, c, d] = self.0;
        u32::from_be_bytes([a, b, c, d])
    }

    /// The same key set and device with another counter.
    #[must_use]
    pub fn with_counter(self, counter: u32) -> Self {
        let mut bytes = self.0;
        bytes[8..].copy_from_slice(&counter.to_be_bytes());
        Self(bytes)
    }

    /// The KSN of a device that has `left` keys left.
    #[must_use]
    pub fn with_keys_left(self, left: u32) -> Self {
        self.with_counter(COUNTERS.with_left(left))
    }

    /// The KSN as injected: counter 0. Equal for all transactions of one device and key set.
    #[must_use]
    pub fn initial(self) -> Self {
        self.with_counter(0)
    }

    /// Whether a device can have used this counter: not zero, and at most sixteen one bits.
    #[must_use]
    pub fn is_usable(self) -> bool {
        COUNTERS.is_usable(self.counter())
    }

    /// The KSN of the device's next transaction; `None` after the last (counter FFFF0000).
    #[must_use]
    pub fn next(self) -> Option<Self> {
        COUNTERS.next(self.counter()).map(|counter| self.with_counter(counter))
    }
}

impl fmt::Display for Ksn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode_upper(self.0))
    }
}

impl fmt::Debug for Ksn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a working key is for (X9.24-3, 6.3.2, table 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// Keys of the next initial key.
    KeyEncryption,
    /// PIN blocks.
    Pin,
    /// MAC of a request.
    MacGeneration,
    /// MAC of an answer.
    MacVerification,
    /// Data of a request: SRED.
    DataEncrypt,
    /// Data of an answer.
    DataDecrypt,
}

impl Usage {
    fn code(self) -> [u8; 2] {
        match self {
            Self::KeyEncryption => [0x00, 0x02],
            Self::Pin => [0x10, 0x00],
            Self::MacGeneration => [0x20, 0x00],
            Self::MacVerification => [0x20, 0x01],
            Self::DataEncrypt => [0x30, 0x00],
            Self::DataDecrypt => [0x30, 0x01],
        }
    }
}

/// Usages of the derivation itself (X9.24-3, 6.3.2, table 2).
const DERIVATION: [u8; 2] = [0x80, 0x00];
const INITIAL_KEY: [u8; 2] = [0x80, 0x01];

/// For which algorithm a working key is (X9.24-3, 6.3.2, table 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Two-key triple DES.
    Tdea2,
    /// AES with 128 bits.
    Aes128,
    /// AES with 192 bits.
    Aes192,
    /// AES with 256 bits.
    Aes256,
    /// HMAC with a key of 128 bits.
    Hmac128,
    /// HMAC with a key of 256 bits.
    Hmac256,
}

impl Algorithm {
    /// Code and length of the key in bits.
    fn code(self) -> (u16, u16) {
        match self {
            Self::Tdea2 => (0, 128),
            Self::Aes128 => (2, 128),
            Self::Aes192 => (3, 192),
            Self::Aes256 => (4, 256),
            Self::Hmac128 => (5, 128),
            Self::Hmac256 => (5, 256),
        }
    }

    /// AES with a key as long as this one.
    fn aes(key: &AesKey) -> Self {
        match key.bits() {
            128 => Self::Aes128,
            192 => Self::Aes192,
            _ => Self::Aes256,
        }
    }
}

/// The key of one transaction, from which the working keys come; it encrypts nothing itself.
#[derive(Clone)]
pub struct TransactionKey {
    key: AesKey,
    ksn: Ksn,
}

impl TransactionKey {
    /// The working key for one use and algorithm. `None` when it would be longer than the transaction key (X9.24-3,
    /// 6.2).
    #[must_use]
    pub fn working(&self, usage: Usage, algorithm: Algorithm) -> Option<AesKey> {
        let fits = algorithm.code().1 <= self.key.bits();
        fits.then(|| derive(&self.key, algorithm, derivation_data(usage.code(), algorithm, self.ksn)))
    }

    /// The AES-128 key for PIN blocks of format 4.
    #[must_use]
    pub fn pin_key(&self) -> Key {
        let key = self.working(Usage::Pin, Algorithm::Aes128);
        key.and_then(|key| key.short()).expect("no transaction key is shorter than 128 bits")
    }

    /// The AES-128 key for card data (SRED).
    #[must_use]
    pub fn data_key(&self) -> AesKey {
        self.working(Usage::DataEncrypt, Algorithm::Aes128).expect("no transaction key is shorter than 128 bits")
    }

    /// The transaction key itself, for tests against published values.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        self.key.expose()
    }
}

impl fmt::Debug for TransactionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[transaction key]")
    }
}

/// Host: the initial key that was injected into the device of `ksn`, whatever its counter is; as long as the base
/// derivation key (X9.24-3, 6.3).
#[must_use]
pub fn initial_key(bdk: &AesKey, ksn: Ksn) -> AesKey {
    let algorithm = Algorithm::aes(bdk);
    let mut data = derivation_data(INITIAL_KEY, algorithm, ksn);
    data[8..].copy_from_slice(&ksn.initial_key_id());
    derive(bdk, algorithm, data)
}

/// The key under which the next initial key is sent to a device (X9.24-3, 6.3: key encryption at counter FFFFFFFF).
#[must_use]
pub fn update_key(initial_key: &AesKey, ksn: Ksn) -> AesKey {
    let (algorithm, ksn) = (Algorithm::aes(initial_key), ksn.with_counter(u32::MAX));
    derive(&derived_to(initial_key, ksn), algorithm, derivation_data(Usage::KeyEncryption.code(), algorithm, ksn))
}

/// Host: the key of the transaction `ksn`, from the device's initial key. `None` when no device can have used this
/// counter.
#[must_use]
pub fn transaction_key(initial_key: &AesKey, ksn: Ksn) -> Option<TransactionKey> {
    ksn.is_usable().then(|| TransactionKey { key: derived_to(initial_key, ksn), ksn })
}

/// From the initial key to a counter, a step for each of its one bits, the highest first.
fn derived_to(initial_key: &AesKey, ksn: Ksn) -> AesKey {
    let mut key = initial_key.clone();
    let mut reached = 0;
    for bit in (0..COUNTER_BITS).rev().map(|n| 1 << n).filter(|bit| ksn.counter() & bit != 0) {
        reached |= bit;
        key = step(&key, ksn.with_counter(reached));
    }
    key
}

/// A device with its intermediate keys (X9.24-3, 6.4): 32 registers, one for each bit of the counter.
///
/// It cannot go back: the key of a transaction is erased when it is handed out, and no key it still holds leads to it.
#[derive(Debug)]
pub struct Device {
    ksn: Ksn,
    /// The counter of the next transaction; `None` when the device is worn out.
    counter: Option<u32>,
    intermediate: [Option<AesKey>; COUNTER_BITS as usize],
}

impl Device {
    /// Injects the initial key. `ksn` has counter 0 for a new device, else the counter of the last transaction it made.
    #[must_use]
    pub fn new(initial_key: &AesKey, ksn: Ksn) -> Self {
        let counter = COUNTERS.next(ksn.counter());
        let mut device = Self { ksn: ksn.initial(), counter, intermediate: Default::default() };
        for (bit, counter) in counter.into_iter().flat_map(|next| counter::held(next, COUNTER_BITS)) {
            device.intermediate[bit as usize] = Some(derived_to(initial_key, ksn.with_counter(counter)));
        }
        device
    }

    /// Starts a transaction: its KSN and key. `None` when all keys are used and the device must be injected anew.
    #[allow(clippy::should_implement_trait, reason = "a device is not a sequence to be mapped and collected")]
    pub fn next(&mut self) -> Option<(Ksn, TransactionKey)> {
        let counter = self.counter?;
        let lowest = counter.trailing_zeros();
        let key = self.intermediate[lowest as usize]
            .take()
            .expect("the key of a counter's lowest one bit is made before its turn");
        // With sixteen ones there is no deeper level; the counter then skips to one with fewer.
        if counter.count_ones() < COUNTERS.most_ones {
            for n in 0..lowest {
                self.intermediate[n as usize] = Some(step(&key, self.ksn.with_counter(counter | 1 << n)));
            }
        }
        self.counter = COUNTERS.next(counter);
        let ksn = self.ksn.with_counter(counter);
        Some((ksn, TransactionKey { key, ksn }))
    }

    /// The KSN that the next transaction will have; `None` when worn out.
    #[must_use]
    pub fn next_ksn(&self) -> Option<Ksn> {
        self.counter.map(|counter| self.ksn.with_counter(counter))
    }

    /// The intermediate key of one bit, for tests against published values.
    #[must_use]
    pub fn register(&self, bit: usize) -> Option<&AesKey> {
        self.intermediate.get(bit)?.as_ref()
    }
}

/// One derivation key further.
fn step(key: &AesKey, ksn: Ksn) -> AesKey {
    let algorithm = Algorithm::aes(key);
    derive(key, algorithm, derivation_data(DERIVATION, algorithm, ksn))
}

/// X9.24-3, 6.3.2: version 01, block counter, usage, algorithm, bits, right half of the initial key id, counter.
fn derivation_data(usage: [u8; 2], algorithm: Algorithm, ksn: Ksn) -> [u8; 16] {
    let (code, bits) = algorithm.code();
    let mut data = [0x01, 0x01, usage[0], usage[1], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    data[4..6].copy_from_slice(&code.to_be_bytes());
    data[6..8].copy_from_slice(&bits.to_be_bytes());
    data[8..].copy_from_slice(&ksn.0[4..]);
    data
}

/// X9.24-3, 6.3.1: as many encrypted blocks of the data as the new key needs, counted in its second byte.
fn derive(key: &AesKey, algorithm: Algorithm, mut data: [u8; 16]) -> AesKey {
    let length = usize::from(algorithm.code().1 / 8);
    let mut blocks = [0; 32];
    for (block, n) in blocks.as_chunks_mut::<16>().0.iter_mut().zip(1..) {
        data[1] = n;
        *block = key.encrypt_block(data);
    }
    let derived = AesKey::from_bytes(&blocks[..length]).expect("algorithms have keys of 16, 24 or 32 bytes");
    zeroize::Zeroize::zeroize(&mut blocks);
    derived
}

#[cfg(test)]
mod tests {
    use super::super::{TEST_BDK_AES, TEST_KSN_SRED_AES};
    use super::*;

    #[test]
    fn device_and_host_agree_on_every_key_of_the_first_thousands() {
        walk_beside_the_host(0, 3000);
    }

    #[test]
    fn device_and_host_agree_where_the_counter_skips_rolls_over_and_ends() {
        for start in [0x0000_FFF0, 0x0001_FFF0, 0x0003_FFFC, 0x7FFF_0000, 0xFFFE_0000] {
            walk_beside_the_host(start, 300);
        }
        assert_eq!(walk_beside_the_host(TEST_KSN_SRED_AES.with_keys_left(40).counter(), 300), 40);
    }

    #[test]
    fn a_worn_out_device_gives_no_key_ever_again_and_holds_none() {
        let ik = initial_key(&TEST_BDK_AES, TEST_KSN_SRED_AES);
        let mut device = Device::new(&ik, TEST_KSN_SRED_AES.with_keys_left(1));
        assert_eq!(device.next().map(|(ksn, _)| ksn.counter()), Some(0xFFFF_0000));
        assert!(device.next().is_none() && device.next().is_none() && device.next_ksn().is_none());
        assert!(device.intermediate.iter().all(Option::is_none), "nothing is left behind");
        assert!(Device::new(&ik, TEST_KSN_SRED_AES.with_keys_left(0)).next().is_none());
    }

    #[test]
    fn a_used_key_is_gone_from_the_device() {
        let ik = initial_key(&TEST_BDK_AES, TEST_KSN_SRED_AES);
        let mut device = Device::new(&ik, TEST_KSN_SRED_AES);
        for _ in 0..200 {
            let (_, used) = device.next().unwrap();
            let mut held = device.intermediate.iter().flatten();
            assert!(held.all(|key| key.expose() != used.expose() && key.expose() != ik.expose()));
        }
    }

    /// Walks `count` transactions from the one after `start`; gives how many there were.
    fn walk_beside_the_host(start: u32, count: usize) -> usize {
        let ik = initial_key(&TEST_BDK_AES, TEST_KSN_SRED_AES);
        let mut ksn = TEST_KSN_SRED_AES.with_counter(start);
        let mut device = Device::new(&ik, ksn);
        for done in 0..count {
            let Some(expected) = ksn.next() else {
                assert!(device.next().is_none());
                return done;
            };
            let (used, key) = device.next().unwrap();
            assert_eq!(used, expected);
            assert!(used.is_usable());
            assert_eq!(key.expose(), transaction_key(&ik, used).unwrap().expose(), "{used}");
            ksn = used;
        }
        count
    }
}
