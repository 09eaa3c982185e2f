//! An operator's PIN, and the data stored for it. This module contains the rules. The agent computes the digests in
//! `operator_secrets.rs`, because the core contains no cryptography.
//!
//! A four-digit PIN has ten thousand combinations, so a plain hash cannot resist a search. The digest is therefore
//! keyed with 256 random bits, which are in a separate file next to the journal. A copy of the journal, such as one
//! sent to support, therefore reveals no PIN. An attacker with both files needs to run a slow function only ten
//! thousand times.
//!
//! No type in this module can be printed: neither a PIN nor a key nor a digest.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use zeroize::Zeroizing;

/// The number of iterations for a new PIN. Each digest stores its own number. The key protects the PIN, and the
/// iterations slow down an attacker who has both files. One digest takes 0.04 s on a desktop with SHA instructions
/// (measured). On a Cortex-A7 at 1 GHz it takes 0.4 s (computed from 2400 cycles a round), an acceptable wait for a
/// cashier.
pub const ITERATIONS: u32 = 150_000;

/// A PIN as it was typed. It is wiped from memory when it is dropped.
#[derive(Clone)]
pub struct Pin(Zeroizing<String>);

/// The reason why a PIN is refused. It reveals no part of the typed PIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PinError {
    /// The PIN does not have 4 to 12 digits.
    #[error("a PIN is 4 to 12 digits")]
    Malformed,
    /// The PIN is one of those that an attacker tries first.
    #[error("this PIN is too easy to guess: do not use consecutive digits or one repeated digit")]
    Obvious,
}

impl Pin {
    /// The permitted length of a PIN, in digits.
    pub const LENGTH: RangeInclusive<u8> = 4..=12;

    /// Parses a typed PIN.
    ///
    /// # Errors
    /// Returns [`PinError::Malformed`] if the PIN does not have 4 to 12 digits.
    pub fn parse(typed: Zeroizing<String>) -> Result<Self, PinError> {
        let fits = u8::try_from(typed.len()).is_ok_and(|length| Self::LENGTH.contains(&length))
            && typed.bytes().all(|byte| byte.is_ascii_digit());
        if fits { Ok(Self(typed)) } else { Err(PinError::Malformed) }
    }

    /// Parses a new PIN.
    ///
    /// # Errors
    /// Returns a [`PinError`] if the PIN is malformed or obvious.
    pub fn to_be_set(typed: Zeroizing<String>) -> Result<Self, PinError> {
        let pin = Self::parse(typed)?;
        if pin.is_obvious() { Err(PinError::Obvious) } else { Ok(pin) }
    }

    /// Returns the digits. Only the computation of the digest may use them.
    #[must_use]
    pub fn digits(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns whether the PIN repeats one digit, or counts upwards or downwards.
    fn is_obvious(&self) -> bool {
        let digits = self.0.as_bytes();
        let steps = |by: u8| digits.windows(2).all(|pair| (pair[0] - b'0' + by) % 10 == pair[1] - b'0');
        steps(0) || steps(1) || steps(9)
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pin")
    }
}

/// The key of this terminal's PIN digests. It is wiped from memory when it is dropped.
#[derive(Clone)]
pub struct PinKey(Zeroizing<[u8; 32]>);

impl PinKey {
    /// Creates a key from 256 random bits.
    #[must_use]
    pub fn new(bits: Zeroizing<[u8; 32]>) -> Self {
        Self(bits)
    }

    /// Returns the bits. Only the computation of the digest may use them.
    #[must_use]
    pub fn bits(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for PinKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PinKey")
    }
}

/// The data stored for a PIN.
#[derive(Clone, PartialEq, Eq)]
pub struct PinDigest {
    /// The random salt of this PIN.
    pub salt: [u8; 16],
    /// The number of iterations.
    pub iterations: NonZeroU32,
    /// The identifier of the key that made the digest.
    pub key: [u8; 8],
    /// The digest.
    pub hash: [u8; 32],
}

impl PinDigest {
    /// Returns a digest that matches no PIN, for a name that no operator has. Checking it takes as long as checking a
    /// real one.
    #[must_use]
    pub fn of_nobody() -> Self {
        let iterations = NonZeroU32::new(ITERATIONS).unwrap_or(NonZeroU32::MIN);
        Self { salt: [0; 16], iterations, key: [0; 8], hash: [0; 32] }
    }
}

impl fmt::Debug for PinDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PinDigest")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin(digits: &str) -> Pin {
        Pin::parse(Zeroizing::new(digits.to_owned())).unwrap()
    }

    #[test]
    fn a_pin_is_4_to_12_digits_and_the_obvious_ones_are_not_set() {
        let set = |typed: &str| Pin::to_be_set(Zeroizing::new(typed.to_owned()));
        for good in ["8624", "0042", "862486248624"] {
            assert!(set(good).is_ok(), "{good}");
        }
        for wrong in ["", "123", "8624862486248", "86 24", "86a4", "٨٦٢٤", "-8624", "8624\n"] {
            assert_eq!(set(wrong).unwrap_err(), PinError::Malformed, "{wrong}");
        }
        for obvious in ["0000", "1111", "1234", "4321", "7890", "0987654321", "123456789012"] {
            assert_eq!(set(obvious).unwrap_err(), PinError::Obvious, "{obvious}");
            assert!(Pin::parse(Zeroizing::new(obvious.to_owned())).is_ok(), "it may be typed");
        }
    }

    #[test]
    fn what_stands_for_nobody_takes_as_many_rounds_as_a_pin_that_is_set_now() {
        assert_eq!(PinDigest::of_nobody().iterations.get(), ITERATIONS);
    }

    #[test]
    fn nothing_of_it_can_be_printed() {
        let digest = PinDigest::of_nobody();
        assert_eq!(
            format!("{:?} {:?} {digest:?}", pin("8624"), PinKey::new(Zeroizing::new([1; 32]))),
            "Pin PinKey PinDigest"
        );
        assert!(!format!("{} {}", PinError::Malformed, PinError::Obvious).contains("8624"));
    }
}
