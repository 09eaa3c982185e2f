//! The reader's keys, as far as their serial numbers (KSN) reveal them: the number of keys left, and whether a key is
//! reused.
//!
//! DUKPT gives each block its own key, which the KSN counts (readers: 8.1, 8.2). The device skips counters with more
//! one bits than the standard allows, so the remaining keys cannot be found by subtraction. KSNs never leave this
//! module, which returns only numbers of keys.

use super::NotEncrypting;
use pos_terms::card::{SealedCard, SealedPin};

/// The counting rule of a KSN.
#[derive(Clone, Copy)]
struct DukptCounter {
    /// The width of the counter in bits.
    bits: u32,
    /// Maximum number of one bits in a counter.
    ones: u32,
}

/// 10 bytes: ANSI X9.24-1, 21 bits, at most 10 ones. The last counter is 1FF800.
const TDES: DukptCounter = DukptCounter { bits: 21, ones: 10 };
/// 12 bytes: ANSI X9.24-3, 32 bits, at most 16 ones. The last counter is FFFF0000.
const AES: DukptCounter = DukptCounter { bits: 32, ones: 16 };

impl DukptCounter {
    /// Returns how many numbers above `count` have no more one bits than allowed.
    fn left(self, count: u64) -> u64 {
        let mut left = 0;
        let mut ones = 0;
        for bit in (0..self.bits).rev() {
            if count >> bit & 1 == 1 {
                ones += 1;
            } else if ones < self.ones {
                // Counts the numbers that equal `count` above this bit, have a one at this bit, and have any bits
                // below.
                left += (0..=bit.min(self.ones - ones - 1)).map(|k| choose(bit, k)).sum::<u64>();
            }
            if ones > self.ones {
                break;
            }
        }
        left
    }
}

/// Returns the binomial coefficient "n over k".
fn choose(n: u32, k: u32) -> u64 {
    (0..u64::from(k)).fold(1, |product, i| product * (u64::from(n) - i) / (i + 1))
}

/// A decoded KSN: the key set with its device, and the counter.
#[derive(Clone, Copy)]
struct Ksn {
    counter: DukptCounter,
    set: u128,
    count: u64,
}

impl Ksn {
    fn new(ksn: &[u8]) -> Option<Self> {
        let counter = match ksn.len() {
            10 => TDES,
            12 => AES,
            _ => return None,
        };
        let number = ksn.iter().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
        let count = u64::try_from(number & ((1 << counter.bits) - 1)).expect("at most 32 bits");
        Some(Self { counter, set: number >> counter.bits, count })
    }
}

/// Returns the number of keys left after the one of this KSN, or `None` if the KSN does not have 10 or 12 bytes.
#[must_use]
pub fn left(ksn: &[u8]) -> Option<u64> {
    Ksn::new(ksn).map(|serial| serial.counter.left(serial.count))
}

/// A key set with its latest KSN.
#[derive(Default)]
struct KeySet {
    last: Option<Ksn>,
    /// The number of keys left that the reader named at its start-up, until a key is used.
    told: Option<u64>,
}

impl KeySet {
    /// Takes the KSN and the block that it belongs to.
    fn take(&mut self, ksn: &[u8], block: &[u8]) -> Result<(), NotEncrypting> {
        let serial = Ksn::new(ksn).filter(|_| !block.is_empty()).ok_or(NotEncrypting::Nothing)?;
        if block.iter().all(|byte| *byte == 0) {
            return Err(NotEncrypting::Zeros);
        }
        // A different key set or device starts a new count: keys were injected, or the reader was replaced.
        let again = |last: &Ksn| last.set == serial.set && serial.count <= last.count;
        if self.last.as_ref().is_some_and(again) {
            return Err(NotEncrypting::KeyAgain);
        }
        *self = Self { last: Some(serial), told: None };
        Ok(())
    }

    fn left(&self) -> Option<u64> {
        self.told.or(self.last.map(|last| last.counter.left(last.count)))
    }
}

/// The reader's two key sets. They are kept for the life of the process, so unplugging the reader does not reset them.
#[derive(Default)]
pub(super) struct KeySets {
    card: KeySet,
    pin: KeySet,
}

impl KeySets {
    /// Takes the KSNs and blocks of a card and its PIN.
    pub(super) fn take(&mut self, card: &SealedCard, pin: Option<&SealedPin>) -> Result<(), NotEncrypting> {
        self.card.take(card.ksn.expose(), card.data.expose())?;
        pin.map_or(Ok(()), |pin| self.pin.take(pin.ksn.expose(), pin.block.expose()))
    }

    /// Forgets the keys left that the reader has named, because it starts again or is another one.
    pub(super) fn forget_told(&mut self) {
        (self.card.told, self.pin.told) = (None, None);
    }

    /// Takes the keys left that the reader names at its start-up.
    pub(super) fn told(&mut self, card: Option<u64>, pin: Option<u64>) {
        self.card.told = card.or(self.card.told);
        self.pin.told = pin.or(self.pin.told);
    }

    /// Returns whether the reader has named keys since the last card.
    pub(super) fn were_told(&self) -> bool {
        self.card.told.is_some() || self.pin.told.is_some()
    }

    /// Returns the keys left for card data and for PINs, each `None` before the first KSN.
    pub(super) fn left(&self) -> (Option<u64>, Option<u64>) {
        (self.card.left(), self.pin.left())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_terms::card::Wiped;

    #[test]
    fn counting_is_exact_on_small_counters() {
        for bits in 1..=12 {
            for ones in 1..=bits {
                let counter = DukptCounter { bits, ones };
                for count in 0_u64..1 << bits {
                    let by_hand = (count + 1..1 << bits).filter(|number| number.count_ones() <= ones).count() as u64;
                    assert_eq!(counter.left(count), by_hand, "{bits} bits, {ones} ones, after {count:b}");
                }
            }
        }
    }

    #[test]
    fn a_new_key_set_and_a_used_up_one() {
        let left_of = |ksn: &str| left(&hex::decode(ksn).unwrap());
        // "More than a million" (ANSI X9.24-1): the numbers below 2^21 with one to ten ones.
        assert_eq!(left_of("FFFF9876543210E00000"), Some(1_048_575));
        assert_eq!(left_of("FFFF9876543210E00001"), Some(1_048_574));
        assert_eq!(left_of("FFFF9876543210FFF800"), Some(0));
        // One step before the end: 1FF400 also has ten ones.
        assert_eq!(left_of("FFFF9876543210FFF400"), Some(1));
        // After a counter with ten ones, the lowest one is incremented: 00400 follows 003FF.
        assert_eq!(left_of("FFFF9876543210E003FF"), left_of("FFFF9876543210E00400").map(|left| left + 1));
        assert_eq!(left_of("FFFF9876543210E003FF").unwrap() - left_of("FFFF9876543210E00800").unwrap(), 1 + 1023);
        assert_eq!(left_of("123456789012345600000000"), Some(2_448_023_842));
        assert_eq!(left_of("1234567890123456FFFF0000"), Some(0));
        assert_eq!(left_of("1234567890123456FFFE8000"), Some(1));
        assert_eq!(left_of("00"), None);
    }

    #[test]
    fn what_the_reader_names_counts_until_a_key_is_used() {
        let mut keys = KeySets::default();
        let seal = |count: &str| SealedCard {
            data: Wiped::copy_of(&[1; 8]).unwrap(),
            ksn: Wiped::copy_of(&hex::decode(format!("FFFF9876543210E{count}")).unwrap()).unwrap(),
        };
        assert_eq!((keys.left(), keys.were_told()), ((None, None), false));
        keys.told(Some(7), None);
        keys.told(None, Some(9));
        assert_eq!((keys.left(), keys.were_told()), ((Some(7), Some(9)), true));
        assert_eq!(keys.take(&seal("00001"), None), Ok(()));
        assert_eq!(keys.left(), (Some(1_048_574), Some(9)));
        // New keys were injected. The key that the reader names is not used yet, so a card may use it.
        keys.told(Some(1_048_573), None);
        assert_eq!(keys.left().0, Some(1_048_573));
        assert_eq!(keys.take(&seal("00002"), None), Ok(()));
        // The next reader at the port names none.
        keys.forget_told();
        assert_eq!((keys.left(), keys.were_told()), ((Some(1_048_573), None), false));
    }

    #[test]
    fn a_key_is_never_used_again() {
        let mut set = KeySet::default();
        let mut take = |ksn: &str, block: &[u8]| set.take(&hex::decode(ksn).unwrap(), block);
        assert_eq!(take("FFFF9876543210E00001", &[0; 8]), Err(NotEncrypting::Zeros));
        assert_eq!(take("FFFF9876543210E00001", &[]), Err(NotEncrypting::Nothing));
        assert_eq!(take("FFFF9876543210E00005", &[1]), Ok(()));
        assert_eq!(take("FFFF9876543210E00005", &[2]), Err(NotEncrypting::KeyAgain));
        assert_eq!(take("FFFF9876543210E00004", &[2]), Err(NotEncrypting::KeyAgain));
        assert_eq!(take("FFFF9876543210E00006", &[2]), Ok(()));
        // Another device or another set.
        assert_eq!(take("FFFF9876543211000001", &[1]), Ok(()));
        assert_eq!(take("123456789012345600000001", &[1]), Ok(()));
        assert_eq!(take("123456789012345600000001", &[1]), Err(NotEncrypting::KeyAgain));
    }
}
