//! The limit on a reader's messages. A reader that exceeds it floods the line, and the agent stops reading from it.
//!
//! The limit is an allowance of messages and of bytes. Faults count as messages. Each order of the agent fills the
//! allowance, because the answers to an order are requested. Otherwise it fills slowly. The longest known transaction
//! has about sixty messages, and a card with its PIN has two kilobytes. An idle reader sends a few events an hour. So
//! only a fault uses up the allowance: a reader that sends without end, a line that is open at the other end, or a
//! program that is not a reader.

use std::time::Duration;

/// Maximum number of messages and faults in one burst.
const MESSAGES: u64 = 512;
/// Number of messages added each second. A key that is held down sends about ten.
const MESSAGES_PER_S: u64 = 32;
/// Maximum number of bytes in one burst.
const BYTES: u64 = 64 * 1024;
/// Number of bytes added each second: a third of the capacity of a line with 115200 baud.
const BYTES_PER_S: u64 = 4 * 1024;

/// The reader's remaining allowance.
#[derive(Debug)]
pub(super) struct ReaderAllowance {
    messages: u64,
    bytes: u64,
    /// The time up to which the allowance is filled.
    filled: Duration,
}

impl Default for ReaderAllowance {
    fn default() -> Self {
        Self { messages: MESSAGES, bytes: BYTES, filled: Duration::ZERO }
    }
}

impl ReaderAllowance {
    /// Fills the allowance after an order, or for a new line.
    pub(super) fn fill(&mut self, now: Duration) {
        *self = Self { filled: now, ..Self::default() };
    }

    /// Deducts received messages and bytes. Returns `false` if they exceed the allowance.
    pub(super) fn take(&mut self, messages: u64, bytes: usize, now: Duration) -> bool {
        // Only whole steps are added. The rest of a step counts towards the next one.
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
        // A transaction each second for a day, with slow PIN entry, a list of applications and an answer in small
        // packets.
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
