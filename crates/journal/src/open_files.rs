//! The check that the files at the journal's path are still the files that the agent has open.
//!
//! A person may remove the journal, or put another file in its place, while the agent runs. The system lets the agent
//! continue with the file, although it no longer has a name, and each commit succeeds. After the next start these
//! commits are missing. After each commit, the agent therefore makes two queries to the system. The commit counts as
//! written only if both files are in place.
//!
//! A file is identified by its device and inode, which are read immediately after the journal is opened. Both files
//! stay open as long as this value exists, so the system cannot give the same inode to another file. SQLite creates the
//! `-wal` once, when it opens the journal. Until it closes the journal, SQLite restarts and truncates this `-wal` in
//! place, and never creates another one.
//!
//! A person may also write into the same file (`cp old.db journal.db`). A commit goes into the `-wal`, and the journal
//! changes only when the agent copies the `-wal` into it ([`OpenFiles::copying`]). Between two copies, the journal's
//! size and the time of its last change stay the same, even if the clock changes. If they differ, another program has
//! written to the journal.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::Error;
use super::lock::{Lock, has_one_name};
use super::open::{beside, cannot_open};

/// The open files.
#[derive(Clone, Debug)]
pub(super) struct OpenFiles(Arc<Files>);

#[derive(Debug)]
struct Files {
    journal: Named,
    lock: Lock,
    /// The state of the journal after the agent's last write to it.
    written: Mutex<Written>,
    wal: Named,
    /// The open WAL. SQLite holds no POSIX lock on it, so closing this descriptor removes none (`lock.rs`).
    #[allow(dead_code, reason = "held, and never asked")]
    open_wal: File,
}

/// The values that change when a file is written: its size in bytes, and the seconds and nanoseconds of its last
/// change.
type Written = (u64, i64, i64);

/// A path, and the file that it named.
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

    /// Returns the fault of the path, or `None` if it still names the same file.
    fn fault(&self) -> Option<String> {
        let path = self.path.display();
        match id(&self.path) {
            Ok(there) if there == self.file => None,
            Ok(_) => Some(format!("{path} has become a different file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(format!("{path} was removed")),
            Err(error) => Some(format!("{path} cannot be checked: {error}")),
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

impl OpenFiles {
    /// Identifies the files of a journal that was just opened with this lock. The WAL must exist.
    ///
    /// # Errors
    /// Returns [`Error::Open`] if the files cannot be read, or if another file was put there meanwhile.
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

    /// Checks that both files are in place, and that no other program has written to the journal.
    ///
    /// # Errors
    /// Returns [`Error::Gone`].
    pub(super) fn holds(&self) -> Result<(), Error> {
        match self.0.journal.fault().or_else(|| self.0.wal.fault()) {
            None => {}
            Some(what) => return Err(Error::Gone { what }),
        }
        // The journal may change while the WAL is being copied into it.
        match self.0.written.try_lock() {
            Ok(as_left) => self.is_as(*as_left),
            Err(_) => Ok(()),
        }
    }

    /// Lets `copy` write into the journal, unless another program has written to it. If both wrote to it, the file
    /// would no longer be a journal.
    ///
    /// # Errors
    /// Returns [`Error::Gone`], or an error of `copy`.
    pub(super) fn copying<T>(&self, copy: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let mut as_left = self.0.written.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_as(*as_left)?;
        let copied = copy();
        if let Ok(now) = written(&self.0.lock) {
            *as_left = now;
        }
        copied
    }

    /// Checks that no other program has written to the journal since this state was recorded.
    fn is_as(&self, as_left: Written) -> Result<(), Error> {
        let path = self.0.journal.path.display();
        let what = match written(&self.0.lock) {
            Ok(now) if now == as_left => return Ok(()),
            Ok(_) => format!("another program has written to {path}"),
            Err(error) => format!("{path} cannot be checked: {error}"),
        };
        Err(Error::Gone { what })
    }

    /// Checks that both files are in place, and that the journal has no second name through a hard link. The next start
    /// would refuse a journal with a second name.
    ///
    /// # Errors
    /// Returns [`Error::Gone`] or [`Error::Linked`].
    pub(super) fn holds_alone(&self) -> Result<(), Error> {
        self.holds()?;
        has_one_name(&self.0.journal.path)
    }

    /// Returns whether the journal itself is in place.
    pub(super) fn has_the_journal(&self) -> bool {
        self.0.journal.fault().is_none()
    }

    /// Returns whether the WAL is in place, and the journal is not.
    pub(super) fn has_the_wal_alone(&self) -> bool {
        !self.has_the_journal() && self.0.wal.fault().is_none()
    }
}
