//! Warnings in time: certificates, keys and tokens that end soon are told in the log once a day and stand in the
//! status.
//!
//! What ends is the gateway's business; here is only when it is said again.

use std::time::Duration;

use super::gateway::GatewayDesk;

/// How often it is looked, and each warning said again.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// When it was looked last, and what was said when.
#[derive(Debug, Default)]
pub(super) struct ExpiryWarnings {
    looked: Option<Duration>,
    said: Vec<(String, Duration)>,
}

impl ExpiryWarnings {
    /// A handshake may have shown another certificate.
    pub(super) fn look_again(&mut self) {
        self.looked = None;
    }

    /// Whether it is time to look.
    fn is_due(&mut self, now: Duration) -> bool {
        let due = self.looked.is_none_or(|looked| now.saturating_sub(looked) >= DAY);
        if due {
            self.looked = Some(now);
        }
        due
    }

    /// Those of `warnings` that were not said within the last day.
    fn new_ones(&mut self, warnings: Vec<String>, now: Duration) -> Vec<String> {
        self.said.retain(|(_, at)| now.saturating_sub(*at) < DAY);
        let new: Vec<String> =
            warnings.into_iter().filter(|warning| self.said.iter().all(|(said, _)| said != warning)).collect();
        self.said.extend(new.iter().map(|warning| (warning.clone(), now)));
        new
    }
}

impl GatewayDesk {
    /// Looks once a day, and after the gateway was spoken to; cheap when it is not time.
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
