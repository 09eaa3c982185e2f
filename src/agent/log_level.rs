//! More or less in the log for a while, and then again as the program was started: nobody has to remember that a board
//! writes its card full. It is asked for at the socket alone, by somebody with the right `service`, and stands in the
//! status as long as it lasts.

use std::time::Duration;

use crate::till::{LogLevel, LogView, Refused};
use pos_daemon::logging;
use pos_terms::transaction::Who;

use super::clock::Clock;

/// What is logged, as long as it is otherwise than the program was started with.
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
    /// As the program was started.
    pub(super) fn new(clock: Clock) -> Self {
        Self { changed: None, clock }
    }

    /// Somebody wants it changed; `None`: as the program was started.
    pub(super) fn change(
        &mut self,
        level: Option<LogLevel>,
        lasts: Duration,
        by: &Who,
    ) -> Result<Option<LogView>, Refused> {
        logging::set(level.map(LogLevel::as_str)).map_err(|error| Refused::NotPossible { why: error.to_string() })?;
        self.changed = level.map(|level| LogChange { level, until: self.clock.monotonic() + lasts });
        let (level, for_s) = (level.map_or("usual", LogLevel::as_str), lasts.as_secs());
        tracing::warn!(level, for_s, %by, "the log was changed");
        Ok(self.view())
    }

    /// Ends it when its time is over.
    pub(super) fn end_when_due(&mut self) {
        if self.changed.is_none_or(|changed| changed.until > self.clock.monotonic()) {
            return;
        }
        self.changed = None;
        match logging::set(None) {
            Ok(()) => tracing::info!("the log is as the program was started again"),
            Err(error) => tracing::error!(%error, "the log stays as it was changed"),
        }
    }

    /// When that is.
    pub(super) fn due(&self) -> Option<Duration> {
        self.changed.map(|changed| changed.until)
    }

    /// For the status.
    pub(super) fn view(&self) -> Option<LogView> {
        let LogChange { level, until } = self.changed?;
        let left = until.saturating_sub(self.clock.monotonic());
        // A part of a second is one that is left.
        Some(LogView { level, left_s: left.as_secs() + u64::from(left.subsec_nanos() > 0) })
    }
}
