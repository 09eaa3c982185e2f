//! Changes of the reader, its firmware or its configuration. They are recorded, logged and shown. Otherwise no one
//! would notice that the device at the counter was replaced.

use std::collections::VecDeque;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};

use crate::agent::journal_writer::JournalWriter;
use crate::till::{ConfigFileView, ReaderView};
use pos_journal::{KnownReader, ReaderChange};
use pos_reader::ReaderIdentity;

use super::ReaderControl;

/// The greatest number of changes that are recorded within a [`DAY`]. A reader that differs at each start must not fill
/// the disk.
const RECORDED: usize = 20;
const DAY: Duration = Duration::from_secs(24 * 3600);

/// The journal's record of the reader, and the times of recent writes.
#[derive(Debug, Default)]
pub(in crate::agent) struct RecordedReader {
    latest: Option<ReaderChange>,
    written: VecDeque<Duration>,
}

impl RecordedReader {
    /// Creates the record from the journal's latest change at the start.
    pub(in crate::agent) fn new(latest: Option<ReaderChange>) -> Self {
        Self { latest, written: VecDeque::new() }
    }

    /// Returns whether one more change may be recorded, and counts it.
    fn may_record(&mut self, now: Duration) -> bool {
        self.written.retain(|at| now.saturating_sub(*at) < DAY);
        let may = self.written.len() < RECORDED;
        if may {
            self.written.push_back(now);
        }
        may
    }
}

impl ReaderControl {
    /// Compares the reader with the recorded one. If they differ, returns the message for every till.
    pub(in crate::agent) fn compare(
        &mut self,
        identity: &ReaderIdentity,
        journal: &mut JournalWriter,
    ) -> Option<String> {
        let reader = known(identity);
        let before = self.recorded.latest.as_ref().map(|change| change.reader.clone());
        if before.as_ref() == Some(&reader) {
            return None;
        }
        let change = ReaderChange { unix_ms: self.clock.unix_ms(), reader, before };
        let told = change.before.as_ref().map(|_| {
            let words = change.words();
            tracing::warn!("the card reader changed: {words}; if this change was not intended, stop using the reader");
            format!("The card reader changed: {words}")
        });
        if !self.recorded.may_record(self.clock.monotonic()) {
            tracing::warn!("the reader changes repeatedly; this change was not recorded");
        } else if let Err(error) = journal.mark_reader(&change.reader, change.unix_ms) {
            // At its next start, the reader is compared with the same record again.
            tracing::warn!(%error, "the change of the reader was not recorded");
            return told;
        }
        self.recorded.latest = Some(change);
        told
    }

    /// Returns the reader for the status, with its configuration and its latest change.
    pub(in crate::agent) fn with_its_change(&self, identity: &ReaderIdentity, view: ReaderView) -> ReaderView {
        let change = self.recorded.latest.as_ref().filter(|change| change.before.is_some());
        let at = change.and_then(|change| DateTime::<Utc>::from_timestamp_millis(change.unix_ms));
        ReaderView {
            configuration: identity
                .configuration
                .iter()
                .map(|file| ConfigFileView { name: file.name.clone(), version: file.version.clone() })
                .collect(),
            changed_at: at.map(|at| at.to_rfc3339_opts(SecondsFormat::Secs, true)),
            changed: change.map(ReaderChange::words),
            ..view
        }
    }
}

fn known(identity: &ReaderIdentity) -> KnownReader {
    KnownReader {
        serial: identity.serial.clone(),
        model: identity.model.clone(),
        firmware: identity.firmware.clone(),
        files: identity.configuration.iter().map(|file| (file.name.clone(), file.version.clone())).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_changes_at_each_start_does_not_fill_the_disk() {
        let mut known = RecordedReader::new(None);
        let mut day = |from: u64| (from..from + 1000).filter(|at| known.may_record(Duration::from_secs(*at))).count();
        assert_eq!((day(0), day(24 * 3600 + 1000)), (RECORDED, RECORDED));
    }
}
