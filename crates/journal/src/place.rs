//! Whether the files at the journal's path are still the files that are open.
//!
//! Somebody may remove the journal, or put another file in its place, while the agent runs. The system lets the agent
//! go on with the file that has no name any more, and each commit succeeds; after the next start nothing of it is
//! there. So each commit is followed by two questions to the system, and counts as written only when both files are in
//! place.
//!
//! A file is known by its device and inode, as they were right after the journal was opened. Both files are held open
//! as long as this is kept, so that the system cannot give the same inode to another file. SQLite makes the `-wal`
//! once, when it opens the journal; until it closes it, it starts it anew and cuts it in place, and never makes another
//! one.
//!
//! Somebody may write into the same file, too (`cp old.db journal.db`). A commit goes into the `-wal`, and the journal
//! changes only when the agent copies the `-wal` into it ([`Place::copying`]). Between two copies its size and the time
//! of its last change stay what they are, whatever the clock shows: others mean that somebody else has written.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::Error;
use super::lock::{Lock, has_one_name};
use super::open::{beside, cannot_open};

/// The files that are open.
#[derive(Clone, Debug)]
pub(super) struct Place(Arc<Files>);

#[derive(Debug)]
struct Files {
    journal: Named,
    lock: Lock,
    /// How the journal was when the agent had written to it last.
    written: Mutex<Written>,
    wal: Named,
    /// SQLite holds no POSIX lock on it, so closing this descriptor takes none away (`lock.rs`).
    #[allow(dead_code, reason = "held, and never asked")]
    open_wal: File,
}

/// What changes when somebody writes to a file: its size in bytes, and the seconds and nanoseconds of its last change.
type Written = (u64, i64, i64);

/// A path, and the file that it stood for.
#[derive(Debug)]
struct Named {
    path: PathBuf,
    file: (u64, u64),
}

impl Named {
    fn now(path: PathBuf) -> io::Result<Self> {
        let file = id(&path)?;
        Ok(Self { path, file })
    }

    /// What is wrong with the path; nothing, while it stands for the same file.
    fn fault(&self) -> Option<String> {
        let path = self.path.display();
        match id(&self.path) {
            Ok(there) if there == self.file => None,
            Ok(_) => Some(format!("{path} is another file now")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(format!("{path} was removed")),
            Err(error) => Some(format!("{path} cannot be looked at: {error}")),
        }
    }
}

fn id(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|facts| (facts.dev(), facts.ino()))
}

fn written(lock: &Lock) -> io::Result<Written> {
    let facts = lock.journal()?;
    Ok((facts.len(), facts.mtime(), facts.mtime_nsec()))
}

impl Place {
    /// The files of a journal that was just opened, with its lock; its WAL is there.
    ///
    /// # Errors
    /// [`Error::Open`] when they cannot be looked at, or another file was put there meanwhile.
    pub(super) fn of(path: &Path, lock: &Lock) -> Result<Self, Error> {
        let wal = beside(path, "-wal");
        let files = || {
            Ok(Files {
                open_wal: File::open(&wal)?,
                journal: Named::now(path.to_owned())?,
                lock: lock.clone(),
                written: Mutex::new(written(lock)?),
                wal: Named::now(wal.clone())?,
            })
        };
        let files = files().map_err(|error: io::Error| cannot_open(&path.display().to_string(), &error))?;
        lock.is_of(path)?;
        Ok(Self(Arc::new(files)))
    }

    /// That both files are in place, and the journal is as the agent wrote it.
    ///
    /// # Errors
    /// [`Error::Gone`].
    pub(super) fn holds(&self) -> Result<(), Error> {
        match self.0.journal.fault().or_else(|| self.0.wal.fault()) {
            None => {}
            Some(what) => return Err(Error::Gone { what }),
        }
        // While it is being copied to, it changes by that.
        match self.0.written.try_lock() {
            Ok(as_left) => self.is_as(*as_left),
            Err(_) => Ok(()),
        }
    }

    /// Lets `copy` write into the journal, unless somebody else has: what both write together is no journal.
    ///
    /// # Errors
    /// [`Error::Gone`], and those of `copy`.
    pub(super) fn copying<T>(&self, copy: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let mut as_left = self.0.written.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_as(*as_left)?;
        let copied = copy();
        if let Ok(now) = written(&self.0.lock) {
            *as_left = now;
        }
        copied
    }

    /// That nobody else has written to the journal since it was so.
    fn is_as(&self, as_left: Written) -> Result<(), Error> {
        let path = self.0.journal.path.display();
        let what = match written(&self.0.lock) {
            Ok(now) if now == as_left => return Ok(()),
            Ok(_) => format!("somebody else has written into {path}"),
            Err(error) => format!("{path} cannot be looked at: {error}"),
        };
        Err(Error::Gone { what })
    }

    /// That both are in place and the journal has no second name, by a hard link: the next start would refuse it.
    ///
    /// # Errors
    /// [`Error::Gone`], [`Error::Linked`].
    pub(super) fn holds_alone(&self) -> Result<(), Error> {
        self.holds()?;
        has_one_name(&self.0.journal.path)
    }

    /// Whether the journal itself is in place, so that only its WAL is gone.
    pub(super) fn has_the_journal(&self) -> bool {
        self.0.journal.fault().is_none()
    }

    /// Whether the WAL is in place, and the journal is not.
    pub(super) fn has_the_wal_alone(&self) -> bool {
        !self.has_the_journal() && self.0.wal.fault().is_none()
    }
}
