//! An operator's PIN, and what is kept of it.
//!
//! Four digits are ten thousand tries: no hash of them alone resists whoever has it. So the digest is keyed, with 256
//! random bits that lie in a file of their own beside the journal: a copy of the journal, as support may ask for, gives
//! no PIN away. Whoever has both files has a slow function to run ten thousand times, and no more than that.
//!
//! ```text
//! digest = PBKDF2-HMAC-SHA-256( HMAC-SHA-256(key, PIN), salt of 16 bytes, ITERATIONS )
//! ```
//!
//! Nothing here can be printed: no PIN, no key, no digest.

use std::fmt;
use std::num::NonZeroU32;

use ring::{digest, hmac, pbkdf2};
use zeroize::Zeroizing;

/// How often the function is repeated for a PIN that is set now; each digest keeps its own number. What protects a PIN
/// is the key; this is what remains to whoever has both files. 0.04 s on a desktop with SHA instructions (measured);
/// reckoned from 2400 cycles a round, 0.4 s on a Cortex-A7 at 1 GHz, as long as a cashier waits without a doubt.
pub const ITERATIONS: u32 = 150_000;

/// Digits of a PIN.
const LENGTH: std::ops::RangeInclusive<usize> = 4..=12;

/// A PIN as it was typed; wiped when dropped.
#[derive(Clone)]
pub struct Pin(Zeroizing<String>);

/// Why it is no PIN. It says nothing of what was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PinError {
    /// It has not 4 to 12 digits.
    #[error("a PIN is 4 to 12 digits")]
    Malformed,
    /// It is among the first that anybody tries.
    #[error("this PIN is among the first that anybody tries: no row of digits, and not one digit alone")]
    Obvious,
}

impl Pin {
    /// From what was typed.
    ///
    /// # Errors
    /// [`PinError::Malformed`].
    pub fn parse(typed: Zeroizing<String>) -> Result<Self, PinError> {
        let fits = LENGTH.contains(&typed.len()) && typed.bytes().all(|byte| byte.is_ascii_digit());
        if fits { Ok(Self(typed)) } else { Err(PinError::Malformed) }
    }

    /// The same, for a PIN that is to be set.
    ///
    /// # Errors
    /// Every [`PinError`].
    pub fn to_be_set(typed: Zeroizing<String>) -> Result<Self, PinError> {
        let pin = Self::parse(typed)?;
        if pin.is_obvious() { Err(PinError::Obvious) } else { Ok(pin) }
    }

    /// One digit alone, or a row of them upwards or downwards.
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

/// The key of this board's digests; wiped when dropped.
#[derive(Clone)]
pub struct PinKey(Zeroizing<[u8; 32]>);

impl PinKey {
    /// From 256 random bits.
    #[must_use]
    pub fn new(bits: Zeroizing<[u8; 32]>) -> Self {
        Self(bits)
    }

    /// Which key it is; says nothing about its bits.
    #[must_use]
    pub fn id(&self) -> [u8; 8] {
        let mut context = digest::Context::new(&digest::SHA256);
        context.update(b"pos-agent pin key");
        context.update(&*self.0);
        let mut id = [0; 8];
        id.copy_from_slice(&context.finish().as_ref()[..8]);
        id
    }

    fn keyed(&self, pin: &Pin) -> Zeroizing<[u8; 32]> {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &*self.0), pin.0.as_bytes());
        let mut keyed = Zeroizing::new([0; 32]);
        keyed.copy_from_slice(tag.as_ref());
        keyed
    }
}

impl fmt::Debug for PinKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PinKey")
    }
}

/// What is kept of a PIN.
#[derive(Clone, PartialEq, Eq)]
pub struct PinDigest {
    /// Random, of this PIN alone.
    pub salt: [u8; 16],
    /// How often the function was repeated.
    pub iterations: NonZeroU32,
    /// Which key it was made with.
    pub key: [u8; 8],
    /// The digest.
    pub hash: [u8; 32],
}

impl PinDigest {
    /// Of a PIN that is being set. It takes its time: not for a thread on which others wait.
    #[must_use]
    pub fn make(pin: &Pin, key: &PinKey, salt: [u8; 16], iterations: NonZeroU32) -> Self {
        let mut hash = [0; 32];
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, &salt, &*key.keyed(pin), &mut hash);
        Self { salt, iterations, key: key.id(), hash }
    }

    /// Matches nothing, and takes as long as any other to find that out: for a name that nobody has.
    #[must_use]
    pub fn of_nobody() -> Self {
        let iterations = NonZeroU32::new(ITERATIONS).unwrap_or(NonZeroU32::MIN);
        Self { salt: [0; 16], iterations, key: [0; 8], hash: [0; 32] }
    }

    /// Whether this is the PIN, in the same time whatever the answer. It takes its time, as [`Self::make`].
    #[must_use]
    pub fn is_of(&self, pin: &Pin, key: &PinKey) -> bool {
        let keyed = key.keyed(pin);
        let same = pbkdf2::verify(pbkdf2::PBKDF2_HMAC_SHA256, self.iterations, &self.salt, &*keyed, &self.hash);
        same.is_ok() && self.key == key.id()
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

    fn key(byte: u8) -> PinKey {
        PinKey::new(Zeroizing::new([byte; 32]))
    }

    const ONCE: NonZeroU32 = NonZeroU32::MIN;

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
    fn only_the_pin_matches_and_only_with_the_key() {
        let digest = PinDigest::make(&pin("8624"), &key(1), [7; 16], ONCE);
        assert!(digest.is_of(&pin("8624"), &key(1)));
        assert!(!digest.is_of(&pin("8625"), &key(1)) && !digest.is_of(&pin("86240"), &key(1)));
        assert!(!digest.is_of(&pin("8624"), &key(2)));
        let more = NonZeroU32::new(2).unwrap();
        for (salt, iterations) in [([8; 16], ONCE), ([7; 16], more)] {
            let other = PinDigest { salt, iterations, ..digest };
            assert!(!other.is_of(&pin("8624"), &key(1)));
        }
    }

    #[test]
    fn the_digest_is_the_one_that_another_program_reckons() {
        // Python: hashlib.pbkdf2_hmac("sha256", hmac.digest(bytes([1] * 32), b"8624", "sha256"), bytes([7] * 16), 1000)
        let digest = PinDigest::make(&pin("8624"), &key(1), [7; 16], NonZeroU32::new(1000).unwrap());
        assert_eq!(hex::encode(digest.hash), "93cae6a375206728c0ec2671a024d25788a7c200f841fcb6c57c21c31cb032f4");
    }

    #[test]
    fn nobody_has_a_pin_and_takes_as_many_rounds() {
        let nobody = PinDigest::of_nobody();
        assert_eq!(nobody.iterations.get(), ITERATIONS);
        assert!(!PinDigest { iterations: ONCE, ..nobody }.is_of(&pin("8624"), &key(1)));
    }

    #[test]
    fn nothing_of_it_can_be_printed() {
        let digest = PinDigest::make(&pin("8624"), &key(1), [7; 16], ONCE);
        assert_eq!(format!("{:?} {:?} {digest:?}", pin("8624"), key(1)), "Pin PinKey PinDigest");
        assert!(!format!("{} {}", PinError::Malformed, PinError::Obvious).contains("8624"));
    }
}
