//! The window of a key's counters, like that of RFC 4303 (3.4.3): each counter is used once, and one that is more than
//! 63 below the greatest is too old.

use pos_core::fleet::UsedCounters;
use pos_fleet_terms::COUNTER_WINDOW;

/// The greatest counter, which the journal can store.
const GREATEST: u64 = i64::MAX.cast_unsigned();

/// Returns the used counters after this one is used, or `None` if it was used or is too old.
#[must_use]
pub fn taking(used: UsedCounters, counter: u64) -> Option<UsedCounters> {
    if !(1..=GREATEST).contains(&counter) {
        return None;
    }
    if counter > used.highest {
        let ahead = u32::try_from(counter - used.highest).unwrap_or(u32::MAX);
        let bits = used.bits.checked_shl(ahead).unwrap_or(0) | 1;
        return Some(UsedCounters { highest: counter, bits });
    }
    let behind = used.highest - counter;
    let bit = (behind < COUNTER_WINDOW).then(|| 1_u64 << behind)?;
    (used.bits & bit == 0).then_some(UsedCounters { bits: used.bits | bit, ..used })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_counter_is_taken_once_in_any_order_within_the_window() {
        let mut used = UsedCounters::default();
        for (counter, fits) in [
            (0, false),
            (1, true),
            (1, false),
            (3, true),
            (2, true),
            (2, false),
            (66, true),
            (2, false),
            (4, true),
            (66, false),
            (67, true),
            (3, false),
            (1000, true),
            (937, true),
            (936, false),
            (GREATEST, true),
            (GREATEST + 1, false),
            (u64::MAX, false),
        ] {
            let taken = taking(used, counter);
            assert_eq!(taken.is_some(), fits, "{counter} after {used:?}");
            used = taken.unwrap_or(used);
        }
    }

    proptest! {
        /// Compares the window with a set of all counters that were used.
        #[test]
        fn the_window_never_takes_a_counter_twice_and_never_goes_back(
            steps in prop::collection::vec((0_u64..200, any::<bool>()), 1..200),
        ) {
            let (mut used, mut all) = (UsedCounters::default(), BTreeSet::new());
            for (step, ahead) in steps {
                let counter = if ahead { used.highest + step } else { used.highest.saturating_sub(step) };
                let is_new = counter > 0 && !all.contains(&counter) && counter + COUNTER_WINDOW > used.highest;
                let taken = taking(used, counter);
                prop_assert_eq!(taken.is_some(), is_new);
                if let Some(taken) = taken {
                    prop_assert!(taken.highest == used.highest.max(counter));
                    all.insert(counter);
                    used = taken;
                }
            }
        }
    }
}
