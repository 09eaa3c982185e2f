//! How much a reader may say: more than any reader says is a flood, and a reader that floods is not listened to.
//!
//! An allowance of messages (faults are counted like them) and of bytes. Each order of the agent fills it, for what
//! follows an order is asked for; otherwise it fills slowly. The longest sale that is known has some sixty messages, a
//! card with its PIN two kilobytes, and an idle reader a few events an hour, so that what spends it is none of these: a
//! reader that sends without end, a line that is open at the other end, a program that is no reader.

use std::time::Duration;

/// Most messages and faults at once.
const MESSAGES: u64 = 512;
/// So many more each second: a key that is held down has some ten.
const MESSAGES_PER_S: u64 = 32;
/// Most bytes at once.
const BYTES: u64 = 64 * 1024;
/// So many more each second, a third of what a line of 115200 baud carries.
const BYTES_PER_S: u64 = 4 * 1024;

/// What it may still say.
#[derive(Debug)]
pub(super) struct ReaderAllowance {
    messages: u64,
    bytes: u64,
    /// Filled up to this time.
    filled: Duration,
}

impl Default for ReaderAllowance {
    fn default() -> Self {
        Self { messages: MESSAGES, bytes: BYTES, filled: Duration::ZERO }
    }
}

impl ReaderAllowance {
    /// Fills it: something is asked for, or the line is new.
    pub(super) fn fill(&mut self, now: Duration) {
        *self = Self { filled: now, ..Self::default() };
    }

    /// So much was said; false when it was more than is allowed.
    pub(super) fn take(&mut self, messages: u64, bytes: usize, now: Duration) -> bool {
        // Whole steps only: what is left of a step counts for the next one.
        let passed = u64::try_from(now.saturating_sub(self.filled).as_millis()).unwrap_or(u64::MAX);
        let steps = passed.saturating_mul(MESSAGES_PER_S) / 1000;
        self.filled += Duration::from_millis(steps.saturating_mul(1000) / MESSAGES_PER_S);
        self.messages = self.messages.saturating_add(steps).min(MESSAGES);
        self.bytes = self.bytes.saturating_add(steps.saturating_mul(BYTES_PER_S / MESSAGES_PER_S)).min(BYTES);
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let allowed = messages <= self.messages && bytes <= self.bytes;
        self.messages = self.messages.saturating_sub(messages);
        self.bytes = self.bytes.saturating_sub(bytes);
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_at_work_is_never_a_flood() {
        let mut allowance = ReaderAllowance::default();
        // A sale each second for a day, with a slow PIN, a list of applications and an answer in small packets.
        for second in 0..86_400 {
            let now = Duration::from_secs(second);
            allowance.fill(now);
            assert!(allowance.take(60, 8 * 1024, now));
        }
        // A person leans on a key.
        for event in 0..100_000 {
            assert!(allowance.take(1, 12, Duration::from_millis(86_400_000 + 40 * event)));
        }
    }

    #[test]
    fn whoever_sends_without_end_is_found_however_it_is_cut() {
        for (messages, bytes, gap_ms) in [(0, 1024, 0), (1, 6, 0), (0, 1, 0), (1, 8, 10), (0, 1024, 100)] {
            let mut allowance = ReaderAllowance::default();
            let found =
                (0..70_000_u64).position(|n| !allowance.take(messages, bytes, Duration::from_millis(gap_ms * n)));
            assert!(found.is_some(), "{messages} messages, {bytes} bytes each {gap_ms} ms");
        }
    }

    #[test]
    fn it_fills_with_time() {
        let mut allowance = ReaderAllowance::default();
        assert!(allowance.take(MESSAGES, 0, Duration::ZERO) && !allowance.take(1, 0, Duration::from_millis(31)));
        assert!(allowance.take(1, 128, Duration::from_millis(32)) && !allowance.take(1, 0, Duration::from_millis(32)));
        assert!(allowance.take(MESSAGES, BYTES as usize, Duration::from_secs(60)));
    }
}
