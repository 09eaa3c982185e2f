//! What keeps the file and its WAL small: old transactions leave, and the WAL is copied into the file so that it is
//! written from its beginning again. It follows what was written, whoever wrote it; that the reader has nothing to do
//! is only a good moment.
//!
//! A WAL begins anew when the next commit finds all of it copied. One thread copies the bulk, beside the commits; what
//! was committed meanwhile is little, and is copied at once on the caller's thread, between two commits. Otherwise a
//! terminal that writes all the time would never find its WAL copied to the end.
//!
//! A sale at the reader is left alone until the WAL is several times as long as it should be.

use std::path::Path;

use tokio::task::JoinHandle;

use super::Journal;
use super::open::beside;

/// Steps after which the WAL is copied into the file: some ten sales. A step writes two to seven pages.
pub(super) const TIDY_AFTER: u64 = 40;
/// Steps after which it is copied although a sale is at the reader: the thread competes with it for the disk.
const LATE: u64 = 4 * TIDY_AFTER;
/// Steps after which the rest is copied before anything else is written, whatever waits: some 8 MB of pages.
const TOO_LATE: u64 = 8 * TIDY_AFTER;
/// Steps between two looks at what is old enough to leave: three transactions are begun, and up to sixteen leave.
const PRUNE_AFTER: u64 = 8;

/// How far it has come; all numbers are of [`super::Db::written`].
#[derive(Debug)]
pub(super) struct Housekeeping {
    /// Up to here the WAL was copied, and begins anew.
    copied: u64,
    /// Nothing is to be copied before.
    next: u64,
    /// Up to here it was looked who can leave.
    pruned: u64,
    /// The thread that copies, and what was written when it began.
    copying: Option<(JoinHandle<()>, u64)>,
}

impl Default for Housekeeping {
    fn default() -> Self {
        Self { copied: 0, next: TIDY_AFTER, pruned: 0, copying: None }
    }
}

impl Journal {
    /// Between two sales: takes out a few transactions that are old enough, and sees to the WAL.
    pub fn tidy(&mut self) {
        self.prune();
        self.see_to_the_wal(false);
    }

    /// To be called after whatever may have been written; costs nothing when there is nothing to do. `busy`: a sale is
    /// at the reader.
    pub fn keep_small(&mut self, busy: bool) {
        if !busy && self.db.written().saturating_sub(self.house.pruned) >= PRUNE_AFTER {
            self.prune();
        }
        self.see_to_the_wal(busy);
    }

    /// The size of the file and of its WAL, in bytes; zero of what cannot be looked at.
    #[must_use]
    pub fn bytes(&self) -> (u64, u64) {
        let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |facts| facts.len());
        (bytes(&self.path), bytes(&beside(&self.path, "-wal")))
    }

    fn prune(&mut self) {
        match self.db.prune() {
            Ok(0) => {}
            Ok(transactions) => tracing::info!(transactions, "old transactions were taken out of the journal"),
            Err(error) => tracing::warn!(%error, "old transactions could not be taken out of the journal"),
        }
        self.house.pruned = self.db.written();
    }

    fn see_to_the_wal(&mut self, busy: bool) {
        let written = self.db.written();
        if written < self.house.next {
            return;
        }
        let waits = written.saturating_sub(self.house.copied);
        match &self.house.copying {
            Some((thread, _)) if !thread.is_finished() => {}
            Some((_, began)) if written.saturating_sub(*began) > TIDY_AFTER && waits < TOO_LATE => self.copy(written),
            Some(_) if !busy || waits >= TOO_LATE => self.copy_the_rest(written),
            Some(_) => {}
            None if !busy || waits >= LATE => self.copy(written),
            None => {}
        }
    }

    /// Copies on a thread of its own what is in the WAL now.
    fn copy(&mut self, written: u64) {
        let beside = self.db.beside(&self.path);
        let thread = tokio::task::spawn_blocking(move || {
            if let Err(error) = beside().and_then(|db| db.checkpoint()) {
                tracing::warn!(%error, "the journal's WAL could not be copied into the file; it grows until it can");
            }
        });
        self.house.copying = Some((thread, written));
    }

    /// Copies here what was written while the thread copied: nothing else is written meanwhile.
    fn copy_the_rest(&mut self, written: u64) {
        self.house.copying = None;
        match self.db.checkpoint() {
            Ok(true) => self.house.copied = written,
            // Somebody reads it, for a while.
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "the journal's WAL could not be copied into the file"),
        }
        self.house.next = written + TIDY_AFTER;
    }

    /// Waits until the thread has copied.
    pub async fn tidied(&mut self) {
        if let Some((thread, _)) = &mut self.house.copying {
            // A thread that panicked has copied nothing: the WAL grows until the next time.
            let _ = thread.await;
        }
    }
}
