//! The housekeeping that keeps the file and its WAL small. It removes old transactions, and copies the WAL into the
//! file so that the next write begins at its start. The amount that all callers have written decides when housekeeping
//! is due. A moment when the card reader is idle is preferred.
//!
//! A WAL restarts if all of it has been copied when the next commit begins. A thread copies most of it in parallel with
//! the commits. The small rest is then copied on the caller's thread, between two commits. Otherwise the WAL of a
//! terminal that writes all the time would never be fully copied.
//!
//! Housekeeping does not disturb a transaction at the reader until the WAL is several times as long as it should be.

use std::path::Path;

use tokio::task::JoinHandle;

use super::Journal;
use super::open::beside;

/// The number of steps after which the WAL is copied into the file, which is about ten sales. A step writes two to
/// seven pages.
pub(super) const TIDY_AFTER: u64 = 40;
/// The number of steps after which the WAL is copied even during a transaction at the reader. The thread and the
/// transaction then compete for the disk.
const LATE: u64 = 4 * TIDY_AFTER;
/// The number of steps after which the rest is copied before any other write, even if transactions wait. It corresponds
/// to about 8 MB of pages.
const TOO_LATE: u64 = 8 * TIDY_AFTER;
/// The number of steps between two searches for old transactions. In this time about three transactions begin, and a
/// search removes up to sixteen.
const PRUNE_AFTER: u64 = 8;

/// The progress of housekeeping. All numbers are values of [`super::Db::written`].
#[derive(Debug)]
pub(super) struct Housekeeping {
    /// The point up to which the WAL was fully copied, so that it restarts.
    copied: u64,
    /// The point before which no copy is due.
    next: u64,
    /// The point of the last search for old transactions.
    pruned: u64,
    /// The thread that copies, and the amount written when it began.
    copying: Option<(JoinHandle<()>, u64)>,
}

impl Default for Housekeeping {
    fn default() -> Self {
        Self { copied: 0, next: TIDY_AFTER, pruned: 0, copying: None }
    }
}

impl Journal {
    /// Does the housekeeping between two transactions: removes a few old transactions, and copies the WAL if needed.
    pub fn tidy(&mut self) {
        self.prune();
        self.see_to_the_wal(false);
    }

    /// Does the housekeeping after a possible write. It has no cost if nothing is due. `busy` is true while a
    /// transaction is at the reader.
    pub fn keep_small(&mut self, busy: bool) {
        if !busy && self.db.written().saturating_sub(self.house.pruned) >= PRUNE_AFTER {
            self.prune();
        }
        self.see_to_the_wal(busy);
    }

    /// Returns the sizes of the file and of its WAL, in bytes. The size is zero for a file that cannot be read.
    #[must_use]
    pub fn bytes(&self) -> (u64, u64) {
        let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |facts| facts.len());
        (bytes(&self.path), bytes(&beside(&self.path, "-wal")))
    }

    fn prune(&mut self) {
        match self.db.prune() {
            Ok(0) => {}
            Ok(transactions) => tracing::info!(transactions, "old transactions were removed from the journal"),
            Err(error) => tracing::warn!(%error, "old transactions could not be removed from the journal"),
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

    /// Copies the current contents of the WAL on a separate thread.
    fn copy(&mut self, written: u64) {
        let beside = self.db.beside(&self.path);
        let thread = tokio::task::spawn_blocking(move || {
            if let Err(error) = beside().and_then(|db| db.checkpoint()) {
                tracing::warn!(
                    %error,
                    "the journal's WAL could not be copied into the file; it grows until this succeeds"
                );
            }
        });
        self.house.copying = Some((thread, written));
    }

    /// Copies, on this thread, the data that was written while the other thread copied. Nothing else is written
    /// meanwhile.
    fn copy_the_rest(&mut self, written: u64) {
        self.house.copying = None;
        match self.db.checkpoint() {
            Ok(true) => self.house.copied = written,
            // A reader still uses a part of the WAL.
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "the journal's WAL could not be copied into the file"),
        }
        self.house.next = written + TIDY_AFTER;
    }

    /// Waits until the thread has finished copying.
    pub async fn tidied(&mut self) {
        if let Some((thread, _)) = &mut self.house.copying {
            // If the thread panicked, it copied nothing. The WAL then grows until the next copy.
            let _ = thread.await;
        }
    }
}
