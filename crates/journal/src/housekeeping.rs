//! The housekeeping that keeps the file and its WAL small. Old transactions are removed. The WAL is copied into the
//! file, so it is written from its beginning again. Housekeeping depends on the amount written, by any caller. An idle
//! reader is only a good moment for it.
//!
//! A WAL restarts when the next commit finds all of it copied. A thread copies most of it in parallel with the commits.
//! The rest is little, and is copied immediately on the caller's thread, between two commits. Otherwise a terminal that
//! writes all the time would never find its WAL fully copied.
//!
//! A transaction at the reader is not disturbed until the WAL is several times as long as it should be.

use std::path::Path;

use tokio::task::JoinHandle;

use super::Journal;
use super::open::beside;

/// The number of steps after which the WAL is copied into the file: about ten sales. A step writes two to seven pages.
pub(super) const TIDY_AFTER: u64 = 40;
/// The number of steps after which it is copied even during a transaction at the reader. The thread then competes with
/// it for the disk.
const LATE: u64 = 4 * TIDY_AFTER;
/// The number of steps after which the rest is copied before any other write, even if transactions wait: about 8 MB of
/// pages.
const TOO_LATE: u64 = 8 * TIDY_AFTER;
/// The number of steps between two searches for old transactions: three transactions begin, and up to sixteen are
/// removed.
const PRUNE_AFTER: u64 = 8;

/// The progress of housekeeping. All numbers are values of [`super::Db::written`].
#[derive(Debug)]
pub(super) struct Housekeeping {
    /// The point up to which the WAL was copied, so it restarts.
    copied: u64,
    /// The point before which nothing is copied.
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
    /// Does the housekeeping between two transactions: removes a few old ones, and copies the WAL if needed.
    pub fn tidy(&mut self) {
        self.prune();
        self.see_to_the_wal(false);
    }

    /// Does the housekeeping after a possible write. It costs nothing when there is nothing to do. `busy` says that a
    /// transaction is at the reader.
    pub fn keep_small(&mut self, busy: bool) {
        if !busy && self.db.written().saturating_sub(self.house.pruned) >= PRUNE_AFTER {
            self.prune();
        }
        self.see_to_the_wal(busy);
    }

    /// Returns the size of the file and of its WAL, in bytes; zero for a file that cannot be read.
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

    /// Copies the present contents of the WAL on a separate thread.
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

    /// Copies here what was written while the thread copied. Nothing else is written meanwhile.
    fn copy_the_rest(&mut self, written: u64) {
        self.house.copying = None;
        match self.db.checkpoint() {
            Ok(true) => self.house.copied = written,
            // A reader holds it for a while.
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "the journal's WAL could not be copied into the file"),
        }
        self.house.next = written + TIDY_AFTER;
    }

    /// Waits until the thread has copied.
    pub async fn tidied(&mut self) {
        if let Some((thread, _)) = &mut self.house.copying {
            // A thread that panicked has copied nothing. The WAL grows until the next time.
            let _ = thread.await;
        }
    }
}
