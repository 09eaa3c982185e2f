//! The sequence of a DUKPT transaction counter (X9.24-1, A.2 and A.3; X9.24-3, 6.1). Only counters with few one bits
//! are used, because each one bit is a step from the initial key. This file handles numbers rather than keys.
//!
//! | | bits | one bits | last counter |
//! |---|---|---|---|
//! | TDES | 21 | 10 | `1FF800` |
//! | AES | 32 | 16 | `FFFF0000` |

/// The rule of one scheme.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    /// The largest number that the counter's bits can hold.
    pub(super) mask: u32,
    /// Maximum number of one bits in a counter.
    pub(super) most_ones: u32,
}

impl Rule {
    /// Returns whether a device can have used this counter, which must not be zero or have too many one bits.
    pub(super) fn is_usable(self, counter: u32) -> bool {
        (1..=self.most_ones).contains(&counter.count_ones()) && counter <= self.mask
    }

    /// Returns the next usable counter after `counter`, which may be any number, or `None` after the last one ("New
    /// Key", X9.24-1, A.2).
    pub(super) fn next(self, counter: u32) -> Option<u32> {
        let counter = self.at_most(counter);
        let step = if counter.count_ones() < self.most_ones { 1 } else { 1 << counter.trailing_zeros() };
        counter.checked_add(step).filter(|next| *next <= self.mask)
    }

    /// Returns the last counter of a device that has `left` keys left, or 0 if all keys are left.
    pub(super) fn with_left(self, left: u32) -> u32 {
        let mut counter = self.at_most(self.mask);
        for _ in 0..left {
            if counter == 0 {
                break;
            }
            counter = self.at_most(counter - 1);
        }
        counter
    }

    /// Returns the highest usable counter (or 0) up to this one. It keeps as many of this counter's
    /// highest 1 bits as the standard allows.
    fn at_most(self, mut counter: u32) -> u32 {
        while counter.count_ones() > self.most_ones {
            counter &= counter - 1;
        }
        counter
    }
}

/// Returns the counters whose keys a device must hold before it uses counter `next`. Each comes with its register,
/// which is the number of its lowest one bit. The counters are `next` itself and, for every higher zero bit, the first
/// counter that ends with that bit.
pub(super) fn held(next: u32, bits: u32) -> impl Iterator<Item = (u32, u32)> {
    let lowest = next.trailing_zeros();
    (lowest..bits).filter(move |bit| *bit == lowest || next & (1 << bit) == 0).map(move |bit| {
        let above = next & !((1_u64 << (bit + 1)) - 1) as u32;
        (bit, above | 1 << bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule for counters that are small enough to test all values.
    const SMALL: Rule = Rule { mask: 0xFFF, most_ones: 4 };

    #[test]
    fn every_usable_counter_comes_once_and_in_order() {
        let all: Vec<u32> = std::iter::successors(SMALL.next(0), |counter| SMALL.next(*counter)).collect();
        let usable: Vec<u32> = (1..=0xFFF_u32).filter(|counter| counter.count_ones() <= 4).collect();
        assert_eq!(all, usable);
        for (n, counter) in all.iter().rev().enumerate() {
            assert_eq!(SMALL.with_left(u32::try_from(n).unwrap()), *counter, "{n} left");
        }
        assert_eq!(SMALL.with_left(u32::try_from(usable.len()).unwrap()), 0, "a new device");
        assert_eq!(SMALL.with_left(u32::MAX), 0);
        for any in 0..=0xFFF {
            assert_eq!(SMALL.next(any), usable.iter().copied().find(|counter| *counter > any), "{any:X}");
        }
    }

    #[test]
    fn what_a_device_holds_leads_to_every_later_counter_and_to_no_earlier_one() {
        let usable: Vec<u32> = (1..=0xFFF_u32).filter(|counter| SMALL.is_usable(*counter)).collect();
        for next in &usable {
            let held: Vec<(u32, u32)> = held(*next, 12).collect();
            // A key leads to all counters that share its bits from its lowest one bit upwards, with any bits below.
            let reached = |counter: u32| {
                held.iter().any(|(bit, holds)| {
                    holds.trailing_zeros() == *bit && counter >> bit == holds >> bit && counter >= *holds
                })
            };
            for counter in &usable {
                assert_eq!(reached(*counter), counter >= next, "{next:X} {counter:X}");
            }
        }
    }
}
