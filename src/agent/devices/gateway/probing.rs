//! The daily probe of the gateway. It checks that the gateway answers, reads the gateway's time, and checks the token
//! unless a payment has already done so. No transaction depends on the probe.
//!
//! The log warns once a day about certificates, keys and tokens that expire soon, and the status shows them. The
//! gateway client knows the expiry times. This module only decides when to repeat a warning.

use std::time::Duration;

use super::GatewayControl;
use crate::agent::task_results::TaskResult;
use pos_gateway::{Fault, Probed};
use pos_words::{Message, Sentence};

/// The interval between probes, and between repeated expiry warnings.
const DAY: Duration = Duration::from_secs(24 * 3600);
/// The interval while no clock of the terminal can be right. The gateway's clock may be the missing evidence.
const AGAIN: Duration = Duration::from_secs(3600);
/// The first interval while the gateway does not answer or refuses the token. Each later interval is twice as long. A
/// board starts before its network does, and the status should show a repair without a transaction.
const SOON: Duration = Duration::from_secs(1);
/// The longest such interval. A shop's network comes back within minutes.
const LONGEST: Duration = Duration::from_secs(300);
/// The difference between clocks that causes a warning, in seconds.
const CLOCKS_DIFFER_S: u64 = pos_journal::CLOCKS_DIFFER_MS.unsigned_abs() / 1000;

/// The time of the next probe, and the results of earlier ones.
#[derive(Debug, Default)]
pub(super) struct Probing {
    /// The time of the next probe.
    pub(super) at: Duration,
    /// True if the gateway has answered a probe since the start.
    pub(super) was_answered: bool,
    tries: u8,
    /// The last logged reason for a failure.
    told: Option<&'static str>,
}

impl GatewayControl {
    /// Probes the gateway if the probe is due. This is cheap if it is not.
    pub(in crate::agent) fn probe_daily(&mut self) {
        let now = self.clock.monotonic();
        if now < self.probing.at {
            return;
        }
        // Without a clock that can be right, the agent begins no transaction, and the gateway's clock may be the
        // missing evidence.
        self.probing.at = now + if self.clock.local().is_some() { DAY } else { AGAIN };
        let (gateway, done) = (self.client.clone(), self.tasks.clone());
        // According to a wrong clock, the gateway's certificate may have expired.
        let doubted = self.clock.doubted().map(|time| pos_gateway::CertificateClock::new(move || time));
        tokio::spawn(async move {
            let probed = match doubted {
                Some(clock) => gateway.probe_at(clock).await,
                None => gateway.probe_with_token().await,
            };
            let _ = done.send(TaskResult::Probed { probed }).await;
        });
    }

    /// Returns when the gateway is probed again.
    pub(in crate::agent) fn due(&self) -> Duration {
        self.probing.at
    }

    /// While the gateway has a fault, schedules another probe, at growing intervals.
    pub(in crate::agent) fn probe_again_soon(&mut self) {
        if self.client.contact().fault().is_none() && self.probing.was_answered {
            return;
        }
        let soon = (SOON * 2_u32.saturating_pow(self.probing.tries.into())).min(LONGEST);
        let at = self.clock.monotonic() + soon;
        if at < self.probing.at {
            self.probing.at = at;
            self.probing.tries = self.probing.tries.saturating_add(1).min(16);
        }
    }

    /// If the gateway's clock and the terminal's differ too much, returns a warning with the remedy.
    pub(in crate::agent) fn clocks_differ(&self) -> Option<Sentence> {
        let theirs = self.clock.gateway()? / 1000;
        let (ours, message) = match self.clock.trusted_board() {
            Some(board) => (board, Message::AttentionClocksDiffer),
            None => (self.clock.local()?, Message::AttentionReaderClockDiffers),
        };
        let apart = far_apart(theirs, ours.timestamp())?;
        Some(message.with("seconds", apart.to_string()))
    }
}

/// The result of a probe for other modules.
pub(in crate::agent) enum ProbeBrought {
    /// The gateway has answered. `unix_s` is its time in seconds since 1970, if reported; `is_first_time` is true for
    /// the first one.
    Answers { unix_s: Option<i64>, is_first_time: bool },
    /// The gateway has not answered since the start, so its time is unknown.
    NeverAnswered { why: Sentence },
    /// The gateway does not answer, but has answered before.
    Silence,
}

impl GatewayControl {
    /// Handles the result of a probe.
    pub(in crate::agent) fn probed(&mut self, probed: Result<Probed, Fault>) -> ProbeBrought {
        // The gateway may have shown a new certificate in the handshake.
        self.expiry_warnings.look_again();
        let brought = match probed {
            Ok(Probed { unix_s, round_trip }) => {
                self.probing.was_answered = true;
                self.probing.told = None;
                tracing::debug!(unix_s, round_trip_us = round_trip.as_micros(), "the gateway is answering");
                let is_first_time = self.clock.gateway().is_none() && unix_s.is_some();
                self.clock.gateway_says(unix_s);
                if let Some(warning) = self.clocks_differ() {
                    tracing::warn!("{warning}");
                }
                ProbeBrought::Answers { unix_s, is_first_time }
            }
            Err(fault) => {
                // Each cause is logged only once, because probes repeat every few minutes.
                if self.probing.told.replace(fault.as_str()) != Some(fault.as_str()) {
                    tracing::warn!(fault = fault.as_str(), why = %fault, "the gateway is not answering");
                }
                if self.probing.was_answered {
                    ProbeBrought::Silence
                } else {
                    ProbeBrought::NeverAnswered { why: Message::GatewayTimeUnknown.with("why", fault.to_string()) }
                }
            }
        };
        if self.client.contact().fault().is_none() {
            self.probing.tries = 0;
        }
        self.probe_again_soon();
        brought
    }
}

/// Returns the difference between two clocks, in seconds, if it causes a warning.
fn far_apart(theirs: i64, ours: i64) -> Option<u64> {
    Some(theirs.abs_diff(ours)).filter(|apart| *apart > CLOCKS_DIFFER_S)
}

/// The time of the last expiry check, and the time of each logged warning.
#[derive(Debug, Default)]
pub(super) struct ExpiryWarnings {
    looked: Option<Duration>,
    said: Vec<(String, Duration)>,
}

impl ExpiryWarnings {
    /// Makes the next check due, because the gateway may have shown a new certificate in a handshake.
    pub(super) fn look_again(&mut self) {
        self.looked = None;
    }

    /// Returns whether a check is due.
    fn is_due(&mut self, now: Duration) -> bool {
        let due = self.looked.is_none_or(|looked| now.saturating_sub(looked) >= DAY);
        if due {
            self.looked = Some(now);
        }
        due
    }

    /// Returns the `warnings` that were not logged within the last day.
    fn new_ones(&mut self, warnings: Vec<String>, now: Duration) -> Vec<String> {
        self.said.retain(|(_, at)| now.saturating_sub(*at) < DAY);
        let new: Vec<String> =
            warnings.into_iter().filter(|warning| self.said.iter().all(|(said, _)| said != warning)).collect();
        self.said.extend(new.iter().map(|warning| (warning.clone(), now)));
        new
    }
}

impl GatewayControl {
    /// Warns about expiring certificates, keys and tokens once a day and after each new handshake or probe. This is
    /// cheap if no check is due.
    pub(in crate::agent) fn warn_of_expiry(&mut self) {
        let now = self.clock.monotonic();
        if !self.expiry_warnings.is_due(now) {
            return;
        }
        let warnings = self.client.attention().into_iter().map(|(_, text)| text).collect();
        for warning in self.expiry_warnings.new_ones(warnings, now) {
            tracing::warn!("{warning}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_may_be_five_minutes_apart() {
        assert_eq!(far_apart(1_000, 1_300), None);
        assert_eq!(far_apart(1_300, 1_000), None);
        for (theirs, ours, apart) in [(1_301, 1_000, 301), (1_000, 1_301, 301), (i64::MAX, i64::MIN, u64::MAX)] {
            assert_eq!(far_apart(theirs, ours), Some(apart));
        }
    }

    #[test]
    fn each_warning_is_said_once_a_day() {
        let mut log = ExpiryWarnings::default();
        let hour = Duration::from_secs(3600);
        let warnings = || vec!["a".to_owned(), "b".to_owned()];
        assert!(log.is_due(hour) && !log.is_due(2 * hour));
        assert_eq!(log.new_ones(warnings(), hour), ["a", "b"]);
        log.look_again();
        assert!(log.is_due(2 * hour));
        assert!(log.new_ones(warnings(), 2 * hour).is_empty());
        assert!(log.is_due(27 * hour));
        assert_eq!(log.new_ones(warnings(), 27 * hour), ["a", "b"]);
    }
}
