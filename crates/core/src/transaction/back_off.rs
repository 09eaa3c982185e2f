//! The wait before a retry. It doubles each time, up to five minutes. It varies between terminals, so that they do not
//! all contact the gateway at the moment when it comes back.
//!
//! The variation is derived from the transaction's gateway reference, not from new random numbers. The same transaction
//! therefore waits equally long after each restart, and terminals differ because the references are random.

use std::time::Duration;

/// The longest wait, without the variation between terminals. A failed network in a shop usually works again within
/// minutes.
pub(super) const LONGEST: Duration = Duration::from_secs(300);

/// The number of attempts after which the wait no longer grows.
pub(super) const MOST_TRIES: u32 = 10;

/// Returns the wait after the `tries`th attempt without a result: 1 s, 2 s, 4 s, … [`LONGEST`], plus up to a quarter of
/// it.
pub(super) fn wait(reference: &str, tries: u32) -> Duration {
    let wait = Duration::from_secs(1 << tries.saturating_sub(1).min(16)).min(LONGEST);
    wait + apart(reference, tries, wait / 4)
}

/// Returns a duration between zero and `most`. It is the same for the same transaction and attempt, and otherwise
/// different.
pub(super) fn apart(reference: &str, tries: u32, most: Duration) -> Duration {
    // This is FNV-1a. The references end in 128 random bits, which this hash spreads evenly.
    let bytes = reference.bytes().chain(tries.to_le_bytes());
    let hash = bytes.fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    most * (hash >> 16) / (1 << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_five_minutes_and_a_quarter() {
        for tries in 0..100 {
            let least = Duration::from_secs(1 << (tries.clamp(1, 20) - 1)).min(LONGEST);
            let wait = wait("12345678-7-00112233445566778899aabbccddeeff", tries);
            assert!(wait >= least && wait <= least + least / 4, "{tries}: {wait:?}");
        }
    }

    #[test]
    fn the_wait_grows_until_the_most_tries_and_no_longer() {
        let grown = |tries: u32| Duration::from_secs(1 << (tries - 1));
        assert!(grown(MOST_TRIES - 1) < LONGEST && grown(MOST_TRIES) >= LONGEST);
    }

    #[test]
    fn terminals_are_set_apart_evenly() {
        let most = Duration::from_secs(60);
        let mut quarters = [0; 4];
        for terminal in 0..1000 {
            let apart = apart(&format!("{terminal:08}-7-{:032x}", terminal * 7919), 9, most);
            assert!(apart < most);
            quarters[usize::try_from(apart.as_secs() / 15).unwrap()] += 1;
        }
        assert!(quarters.iter().all(|count| (150..350).contains(count)), "{quarters:?}");
    }
}
