//! How long is waited before something is tried again: twice as long each time, up to five minutes, and a little apart
//! from other terminals, so that a gateway that comes back is not met by all of them in one moment.
//!
//! No random numbers: the same sale waits the same after each start, and the references that tell terminals apart are
//! random.

use std::time::Duration;

/// Longest wait, before what sets terminals apart; a shop's network comes back within minutes.
pub(super) const LONGEST: Duration = Duration::from_secs(300);

/// After so many tries the wait is the longest.
pub(super) const MOST_TRIES: u32 = 10;

/// The wait after the `tries`th try that settled nothing: 1 s, 2 s, 4 s, … [`LONGEST`], and up to a quarter of it on
/// top.
pub(super) fn wait(reference: &str, tries: u32) -> Duration {
    let wait = Duration::from_secs(1 << tries.saturating_sub(1).min(16)).min(LONGEST);
    wait + apart(reference, tries, wait / 4)
}

/// Between nothing and `most`: the same for the same sale and try, another for every other.
pub(super) fn apart(reference: &str, tries: u32, most: Duration) -> Duration {
    // FNV-1a; what counts is that the terminals' references, which end in 128 random bits, come out evenly.
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
