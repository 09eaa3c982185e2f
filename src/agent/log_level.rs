//! A log level for a limited time. Afterwards the level of the start returns, so a forgotten change does not fill the
//! board's storage. Only a caller at the local socket with the right `service` may change the level. The status shows
//! the change while it lasts.

use std::time::Duration;

use crate::till::{LogLevel, LogView, Refused};
use pos_daemon::logging;
use pos_terms::transaction::Who;

use super::clock::Clock;

/// The log level, while it differs from the level of the start.
pub(super) struct LogControl {
    changed: Option<LogChange>,
    clock: Clock,
}

#[derive(Clone, Copy, Debug)]
struct LogChange {
    level: LogLevel,
    until: Duration,
}

impl LogControl {
    /// Creates the control with the level of the start.
    pub(super) fn new(clock: Clock) -> Self {
        Self { changed: None, clock }
    }

    /// Changes the level; `None` returns to the level of the start.
    pub(super) fn change(
        &mut self,
        level: Option<LogLevel>,
        lasts: Duration,
        by: &Who,
    ) -> Result<Option<LogView>, Refused> {
        logging::set(level.map(LogLevel::as_str))
            .map_err(|error| Refused::NotPossible { why: error.to_string().into() })?;
        self.changed = level.map(|level| LogChange { level, until: self.clock.monotonic() + lasts });
        let (level, for_s) = (level.map_or("usual", LogLevel::as_str), lasts.as_secs());
        tracing::warn!(level, for_s, %by, "the log level was changed");
        Ok(self.view())
    }

    /// Ends the change when its time has passed.
    pub(super) fn end_when_due(&mut self) {
        if self.changed.is_none_or(|changed| changed.until > self.clock.monotonic()) {
            return;
        }
        self.changed = None;
        match logging::set(None) {
            Ok(()) => tracing::info!("the log level is the usual one again"),
            Err(error) => tracing::error!(%error, "the usual log level could not be restored"),
        }
    }

    /// Returns when the change ends.
    pub(super) fn due(&self) -> Option<Duration> {
        self.changed.map(|changed| changed.until)
    }

    /// Returns the change for the status.
    pub(super) fn view(&self) -> Option<LogView> {
        let LogChange { level, until } = self.changed?;
        let left = until.saturating_sub(self.clock.monotonic());
        // A fraction of a second counts as a whole second.
        Some(LogView { level, left_s: left.as_secs() + u64::from(left.subsec_nanos() > 0) })
    }
}
