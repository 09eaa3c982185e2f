//! AES DUKPT (ANSI X9.24-3:2017): a separate key for every transaction, for the device and the host, with keys of 128,
//! 192 and 256 bits.
//!
//! It works like [`super::tdes_dukpt`], but uses AES for the derivation and a working key for each purpose and
//! algorithm. The device ([`Device`]) holds only keys of future transactions. The host derives any key from the base
//! derivation key and the KSN.
//!
//! ```text
//!  KSN, 12 bytes:  BDK id (4) | derivation id (4) | transaction counter (32 bits, at most sixteen of them one)
//!                  └── initial key id (8) ──────┘
//! ```

use std::fmt;

use super::aes::AesKey;
use super::counter::{self, Rule};
use super::tdes::Key;

/// Number of bits of the transaction counter, and of intermediate keys.
const COUNTER_BITS: u32 = 32;

/// The rule for usable counters (X9.24-3, 6.1).
const COUNTERS: Rule = Rule { mask: u32::MAX, most_ones: 16 };

/// A key serial number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ksn(pub [u8; 12]);

impl Ksn {
    /// Creates a KSN from its twelve bytes. Returns `None` for any other number of bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Returns the initial key ID: key set and device.
    #[must_use]
    pub fn initial_key_id(self) -> [u8; 8] {
        let [id @ .., _, _, _, _] = self.0;
        id
    }

    /// Returns the transaction counter.
    #[must_use]
    pub fn counter(self) -> u32 {
        let [.., a, b, c, d] = self.0;
        u32::from_be_bytes([a, b, c, d])
    }

    /// Returns the KSN of the same key set and device with another counter.
    #[must_use]
    pub fn with_counter(self, counter: u32) -> Self {
        let mut bytes = self.0;
        bytes[8..].copy_from_slice(&counter.to_be_bytes());
        Self(bytes)
    }

    /// Returns the KSN of a device that has `left` keys left.
    #[must_use]
    pub fn with_keys_left(self, left: u32) -> Self {
        self.with_counter(COUNTERS.with_left(left))
    }

    /// Returns the KSN at injection, with counter 0. It is the same for all transactions of a device and key set.
    #[must_use]
    pub fn initial(self) -> Self {
        self.with_counter(0)
    }

    /// Returns whether a device can have used this counter, which must not be zero or have more than sixteen one bits.
    #[must_use]
    pub fn is_usable(self) -> bool {
        COUNTERS.is_usable(self.counter())
    }

    /// Returns the KSN of the device's next transaction, or `None` after the last one (counter FFFF0000).
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

/// The purpose of a working key (X9.24-3, 6.3.2, table 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// Encryption of the next initial key.
    KeyEncryption,
    /// PIN blocks.
    Pin,
    /// MAC of a request.
    MacGeneration,
    /// MAC of a response.
    MacVerification,
    /// Data of a request (SRED).
    DataEncrypt,
    /// Data of a response.
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

/// The algorithm of a working key (X9.24-3, 6.3.2, table 3).
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
    /// Returns the code of the algorithm, and the length of its key in bits.
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

    /// Returns AES with the length of this key.
    fn aes(key: &AesKey) -> Self {
        match key.bits() {
            128 => Self::Aes128,
            192 => Self::Aes192,
            _ => Self::Aes256,
        }
    }
}

/// The key of one transaction, from which the working keys are derived. It does not encrypt data itself.
#[derive(Clone)]
pub struct TransactionKey {
    key: AesKey,
    ksn: Ksn,
}

impl TransactionKey {
    /// Derives the working key for one usage and algorithm. Returns `None` if it would be longer than the transaction
    /// key (X9.24-3, 6.2).
    #[must_use]
    pub fn working(&self, usage: Usage, algorithm: Algorithm) -> Option<AesKey> {
        let fits = algorithm.code().1 <= self.key.bits();
        fits.then(|| derive(&self.key, algorithm, derivation_data(usage.code(), algorithm, self.ksn)))
    }

    /// Derives the AES-128 key for PIN blocks of format 4.
    #[must_use]
    pub fn pin_key(&self) -> Key {
        let key = self.working(Usage::Pin, Algorithm::Aes128);
        key.and_then(|key| key.short()).expect("no transaction key is shorter than 128 bits")
    }

    /// Derives the AES-128 key for card data (SRED).
    #[must_use]
    pub fn data_key(&self) -> AesKey {
        self.working(Usage::DataEncrypt, Algorithm::Aes128).expect("no transaction key is shorter than 128 bits")
    }

    /// Returns the transaction key itself, for tests against published values.
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

/// Derives on the host's side the initial key that was injected into the device of `ksn`. The counter has no effect.
/// The key is as long as the base derivation key (X9.24-3, 6.3).
#[must_use]
pub fn initial_key(bdk: &AesKey, ksn: Ksn) -> AesKey {
    let algorithm = Algorithm::aes(bdk);
    let mut data = derivation_data(INITIAL_KEY, algorithm, ksn);
    data[8..].copy_from_slice(&ksn.initial_key_id());
    derive(bdk, algorithm, data)
}

/// Derives the key that encrypts the next initial key for a device (X9.24-3, 6.3: key encryption at counter FFFFFFFF).
#[must_use]
pub fn update_key(initial_key: &AesKey, ksn: Ksn) -> AesKey {
    let (algorithm, ksn) = (Algorithm::aes(initial_key), ksn.with_counter(u32::MAX));
    derive(&derived_to(initial_key, ksn), algorithm, derivation_data(Usage::KeyEncryption.code(), algorithm, ksn))
}

/// Derives on the host's side the key of the transaction `ksn` from the device's initial key. Returns `None` if no
/// device can have used this counter.
#[must_use]
pub fn transaction_key(initial_key: &AesKey, ksn: Ksn) -> Option<TransactionKey> {
    ksn.is_usable().then(|| TransactionKey { key: derived_to(initial_key, ksn), ksn })
}

/// Derives the key of a counter from the initial key. Each one bit of the counter takes one step, the highest bit
/// first.
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
/// A device cannot go back. The key of a transaction is erased when it is used, and no remaining key leads to it.
#[derive(Debug)]
pub struct Device {
    ksn: Ksn,
    /// The counter of the next transaction, or `None` if all keys are used.
    counter: Option<u32>,
    intermediate: [Option<AesKey>; COUNTER_BITS as usize],
}

impl Device {
    /// Creates a device with this initial key. `ksn` has counter 0 for a new device, otherwise the counter of its last
    /// transaction.
    #[must_use]
    pub fn new(initial_key: &AesKey, ksn: Ksn) -> Self {
        let counter = COUNTERS.next(ksn.counter());
        let mut device = Self { ksn: ksn.initial(), counter, intermediate: Default::default() };
        for (bit, counter) in counter.into_iter().flat_map(|next| counter::held(next, COUNTER_BITS)) {
            device.intermediate[bit as usize] = Some(derived_to(initial_key, ksn.with_counter(counter)));
        }
        device
    }

    /// Starts a transaction and returns its KSN and key. Returns `None` if all keys are used and the device needs a new
    /// initial key.
    #[allow(clippy::should_implement_trait, reason = "a device is not a sequence to be mapped and collected")]
    pub fn next(&mut self) -> Option<(Ksn, TransactionKey)> {
        let counter = self.counter?;
        let lowest = counter.trailing_zeros();
        let key = self.intermediate[lowest as usize]
            .take()
            .expect("the key of a counter's lowest one bit is made before its turn");
        // A counter with sixteen ones has no deeper level, so the counter skips to one with fewer ones.
        if counter.count_ones() < COUNTERS.most_ones {
            for n in 0..lowest {
                self.intermediate[n as usize] = Some(step(&key, self.ksn.with_counter(counter | 1 << n)));
            }
        }
        self.counter = COUNTERS.next(counter);
        let ksn = self.ksn.with_counter(counter);
        Some((ksn, TransactionKey { key, ksn }))
    }

    /// Returns the KSN of the next transaction, or `None` if all keys are used.
    #[must_use]
    pub fn next_ksn(&self) -> Option<Ksn> {
        self.counter.map(|counter| self.ksn.with_counter(counter))
    }

    /// Returns the intermediate key of one bit, for tests against published values.
    #[must_use]
    pub fn register(&self, bit: usize) -> Option<&AesKey> {
        self.intermediate.get(bit)?.as_ref()
    }
}

/// Derives the next derivation key.
fn step(key: &AesKey, ksn: Ksn) -> AesKey {
    let algorithm = Algorithm::aes(key);
    derive(key, algorithm, derivation_data(DERIVATION, algorithm, ksn))
}

/// Builds the derivation data of X9.24-3, 6.3.2: version 01, block counter, usage, algorithm, bits, right half of the
/// initial key ID, counter.
fn derivation_data(usage: [u8; 2], algorithm: Algorithm, ksn: Ksn) -> [u8; 16] {
    let (code, bits) = algorithm.code();
    let mut data = [0x01, 0x01, usage[0], usage[1], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    data[4..6].copy_from_slice(&code.to_be_bytes());
    data[6..8].copy_from_slice(&bits.to_be_bytes());
    data[8..].copy_from_slice(&ksn.0[4..]);
    data
}

/// Derives a key as in X9.24-3, 6.3.1. It encrypts the data for as many blocks as the new key needs, and counts the
/// blocks in the second byte.
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

    /// Walks through `count` transactions after `start`, and returns their number.
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
