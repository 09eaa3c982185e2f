//! TDES DUKPT (ANSI X9.24-1:2009, Annex A): a separate key for every transaction, for the device and the host.
//!
//! The device ([`Device`]) holds only keys of future transactions and erases each key as it uses it. The host derives
//! any key from the base derivation key and the key serial number (KSN), which comes with the data. Both share only the
//! non-reversible key generation, and a test compares their keys one by one.
//!
//! ```text
//!  KSN, 10 bytes:  key set, device (59 bits) | transaction counter (21 bits, at most ten of them one)
//! ```

use std::fmt;

use super::counter::{self, Rule};
use super::tdes::{Key, des_encrypt, xor};

/// Number of bits of the transaction counter, and of future-key registers.
const COUNTER_BITS: u32 = 21;

/// The bits of the transaction counter in the KSN.
const COUNTER_MASK: u32 = (1 << COUNTER_BITS) - 1;

/// The rule for usable counters. It keeps each key within ten steps of the initial key (X9.24-1, A.3).
const COUNTERS: Rule = Rule { mask: COUNTER_MASK, most_ones: 10 };

/// The mask that makes the second half of a generated key different (X9.24-1, A.2 and A.6).
const HALF_MASK: [u8; 8] = [0xC0, 0xC0, 0xC0, 0xC0, 0, 0, 0, 0];

/// A key serial number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ksn(pub [u8; 10]);

impl Ksn {
    /// Creates a KSN from its ten bytes. Returns `None` for any other number of bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Returns the transaction counter, which has 21 bits.
    #[must_use]
    pub fn counter(self) -> u32 {
        let [.., a, b, c, d] = self.0;
        u32::from_be_bytes([a, b, c, d]) & COUNTER_MASK
    }

    /// Returns the KSN of the same key set and device with this counter, of which only 21 bits are used.
    #[must_use]
    pub fn with_counter(self, counter: u32) -> Self {
        let mut bytes = self.0;
        let [.., a, b, c, d] = self.0;
        let low = (u32::from_be_bytes([a, b, c, d]) & !COUNTER_MASK) | (counter & COUNTER_MASK);
        bytes[6..].copy_from_slice(&low.to_be_bytes());
        Self(bytes)
    }

    /// Returns the KSN at injection, with counter 0. It is the same for all transactions of a device and key set.
    #[must_use]
    pub fn initial(self) -> Self {
        self.with_counter(0)
    }

    /// Returns whether a device can have used this counter, which must not be zero or have more than ten one bits.
    #[must_use]
    pub fn is_usable(self) -> bool {
        COUNTERS.is_usable(self.counter())
    }

    /// Returns the KSN of the device's next transaction, or `None` after the last one (counter 1FF800).
    #[must_use]
    pub fn next(self) -> Option<Self> {
        COUNTERS.next(self.counter()).map(|counter| self.with_counter(counter))
    }

    /// Returns the KSN of a device that has `left` keys left.
    #[must_use]
    pub fn with_keys_left(self, left: u32) -> Self {
        self.with_counter(COUNTERS.with_left(left))
    }

    /// Returns the rightmost 64 bits, which go into the key generation.
    fn register(self) -> u64 {
        let [_, _, rest @ ..] = self.0;
        u64::from_be_bytes(rest)
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

/// The purpose of a working key (X9.24-1, A.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// PIN blocks. Some old readers also encrypt track data with this key (security: 1.2).
    Pin,
    /// MAC of a request, or of both directions.
    MacRequest,
    /// MAC of a response.
    MacResponse,
    /// Data of a request, or of both directions (SRED; readers: 8.1).
    DataRequest,
    /// Data of a response.
    DataResponse,
    /// Data of a request, without the one-way step. The standard does not define this key, but some readers use it
    /// (security: 1.2).
    DataRequestVariantOnly,
}

/// The key of one transaction, from which the working keys are derived. It does not encrypt data itself.
#[derive(Clone)]
pub struct TransactionKey(Key);

impl TransactionKey {
    /// Derives the working key for one usage.
    #[must_use]
    pub fn working(&self, usage: Usage) -> Key {
        let variant = |mask: u64| self.0.masked(mask.to_be_bytes());
        let one_way = |key: Key| {
            let (left, right) = key.halves();
            Key::from_halves(key.encrypt_block(left), key.encrypt_block(right))
        };
        match usage {
            Usage::Pin => variant(0x0000_0000_0000_00FF),
            Usage::MacRequest => variant(0x0000_0000_0000_FF00),
            Usage::MacResponse => variant(0x0000_0000_FF00_0000),
            Usage::DataRequest => one_way(variant(0x0000_0000_00FF_0000)),
            Usage::DataResponse => one_way(variant(0x0000_00FF_0000_0000)),
            Usage::DataRequestVariantOnly => variant(0x0000_0000_00FF_0000),
        }
    }

    /// Returns the transaction key itself, for tests against published values.
    #[must_use]
    pub fn expose(&self) -> &[u8; 16] {
        self.0.expose()
    }
}

impl fmt::Debug for TransactionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[transaction key]")
    }
}

/// Derives on the host's side the initial key that was injected into the device of `ksn`. The counter has no effect
/// (X9.24-1, A.6).
#[must_use]
pub fn initial_key(bdk: &Key, ksn: Ksn) -> Key {
    let [block @ .., _, _] = ksn.initial().0;
    Key::from_halves(bdk.encrypt_block(block), bdk.masked(HALF_MASK).encrypt_block(block))
}

/// Derives on the host's side the key of the transaction `ksn` from the device's initial key. Returns `None` if no
/// device can have used this counter.
#[must_use]
pub fn transaction_key(initial_key: &Key, ksn: Ksn) -> Option<TransactionKey> {
    if !ksn.is_usable() {
        return None;
    }
    Some(TransactionKey(derived_to(initial_key, ksn)))
}

/// Derives the key of a counter from the initial key. Each one bit of the counter takes one step, the highest bit
/// first.
fn derived_to(initial_key: &Key, ksn: Ksn) -> Key {
    let counter = ksn.counter();
    let mut key = initial_key.clone();
    let mut register = ksn.initial().register();
    for bit in (0..COUNTER_BITS).rev().map(|n| 1_u64 << n) {
        if u64::from(counter) & bit != 0 {
            register |= bit;
            key = generate(&key, register);
        }
    }
    key
}

/// A device with its future keys (X9.24-1, A.2): 21 registers, one for each bit of the counter.
///
/// A device cannot go back. The key of a transaction is erased when it is used, and no remaining key leads to it.
#[derive(Debug)]
pub struct Device {
    ksn: Ksn,
    /// The counter of the next transaction, or `None` if all keys are used.
    counter: Option<u32>,
    future: [Option<Key>; COUNTER_BITS as usize],
}

impl Device {
    /// Creates a device with this initial key. `ksn` has counter 0 for a new device, otherwise the counter of its last
    /// transaction.
    #[must_use]
    pub fn new(initial_key: &Key, ksn: Ksn) -> Self {
        let counter = COUNTERS.next(ksn.counter());
        let mut device = Self { ksn: ksn.initial(), counter, future: Default::default() };
        for (bit, counter) in counter.into_iter().flat_map(|next| counter::held(next, COUNTER_BITS)) {
            device.future[bit as usize] = Some(derived_to(initial_key, ksn.with_counter(counter)));
        }
        device
    }

    /// Starts a transaction and returns its KSN and key. Returns `None` if all keys are used and the device needs a new
    /// initial key.
    #[allow(clippy::should_implement_trait, reason = "a device is not a sequence to be mapped and collected")]
    pub fn next(&mut self) -> Option<(Ksn, TransactionKey)> {
        let counter = self.counter?;
        let lowest = counter.trailing_zeros();
        let key =
            self.future[lowest as usize].take().expect("the key of a counter's lowest one bit is made before its turn");
        // "New Key" (X9.24-1, A.2): a counter with ten ones has no deeper level, so the counter skips to one with fewer
        // ones.
        if counter.count_ones() < COUNTERS.most_ones {
            self.fill_below(lowest, &key, counter);
        }
        self.counter = COUNTERS.next(counter);
        Some((self.ksn.with_counter(counter), TransactionKey(key)))
    }

    /// Returns the KSN of the next transaction, or `None` if all keys are used.
    #[must_use]
    pub fn next_ksn(&self) -> Option<Ksn> {
        self.counter.map(|counter| self.ksn.with_counter(counter))
    }

    /// Fills the registers below `bit` with the keys that derive from `key`, the key of `counter`.
    fn fill_below(&mut self, bit: u32, key: &Key, counter: u32) {
        for n in (0..bit).rev() {
            let register = self.ksn.with_counter(counter | 1 << n).register();
            self.future[n as usize] = Some(generate(key, register));
        }
    }
}

/// Runs the non-reversible key generation process (X9.24-1, A.2).
fn generate(key: &Key, register: u64) -> Key {
    let half = |key: &Key| {
        let (left, right) = key.halves();
        xor(des_encrypt(left, xor(register.to_be_bytes(), right)), right)
    };
    Key::from_halves(half(&key.masked(HALF_MASK)), half(key))
}

#[cfg(test)]
mod tests {
    use super::super::{TEST_BDK_SRED, TEST_KSN_SRED};
    use super::*;

    #[test]
    fn device_and_host_agree_on_every_key_of_the_first_thousands() {
        walk_beside_the_host(0, 3000);
    }

    #[test]
    fn device_and_host_agree_where_the_counter_skips_and_rolls_over() {
        for start in [0x0_07F0, 0x0_0FFC, 0x0_1FF0, 0x0_3FE0] {
            walk_beside_the_host(start, 300);
        }
    }

    /// Walks through about a million keys: `cargo test --lib -- --ignored worn_out` (X9.24-1, A.3: 2^21 counters,
    /// without those with more than ten ones).
    #[test]
    #[ignore = "about a minute"]
    fn device_and_host_agree_until_the_device_is_worn_out() {
        let usable = (1..=COUNTER_MASK).filter(|counter| counter.count_ones() <= COUNTERS.most_ones).count();
        assert_eq!(usable, 1_048_575, "half of all counters, without zero");
        assert_eq!(walk_beside_the_host(0, usize::MAX), usable);
    }

    #[test]
    fn a_worn_out_device_gives_no_key_ever_again() {
        let ik = initial_key(&TEST_BDK_SRED, TEST_KSN_SRED);
        let mut device = Device { ksn: TEST_KSN_SRED, counter: Some(0x1F_F800), future: Default::default() };
        device.future[11] = Some(ik);
        assert_eq!(device.next().map(|(ksn, _)| ksn.counter()), Some(0x1F_F800));
        assert!(device.next().is_none());
        assert!(device.next().is_none());
        assert!(device.future.iter().all(Option::is_none), "nothing is left behind");
    }

    #[test]
    fn a_used_key_is_gone_from_the_device() {
        let ik = initial_key(&TEST_BDK_SRED, TEST_KSN_SRED);
        let mut device = Device::new(&ik, TEST_KSN_SRED);
        for _ in 0..200 {
            let (_, used) = device.next().unwrap();
            let held = device.future.iter().flatten();
            assert!(held.into_iter().all(|key| key.expose() != used.expose() && key.expose() != ik.expose()));
        }
    }

    /// Walks through `count` transactions after `start`, and returns their number.
    fn walk_beside_the_host(start: u32, count: usize) -> usize {
        let ik = initial_key(&TEST_BDK_SRED, TEST_KSN_SRED);
        let mut ksn = TEST_KSN_SRED.with_counter(start);
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
