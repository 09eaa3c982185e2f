//! The locks that allow only one program per journal, under any name of the file. Two programs would give the same
//! numbers to different transactions.
//!
//! The program takes two locks with `flock(2)`, and holds them until its last connection is closed:
//!
//! | lock | covers |
//! |---|---|
//! | `journal.lock` next to the file, after all symbolic links are followed | the time before the journal exists, and earlier versions, which take only this lock |
//! | the journal itself | other names of the journal: a bind mount, a hard link |
//!
//! SQLite's own locks on the journal are POSIX record locks. On a local disk they do not affect `flock`. However, when
//! a process closes any descriptor of a file, the system removes **all** POSIX locks of the process on that file. The
//! descriptor that holds the lock must therefore be closed after the last connection. Every owner of a connection has a
//! clone of [`Lock`] and releases it after the connection. No other code in a program with an open journal may open the
//! file, except through SQLite.
//!
//! A journal with a hard link is refused, even if the link is unused ([`has_one_name`]). SQLite keeps the latest
//! commits in a `-wal` file next to the name under which the journal was opened. A program that opens the other name
//! does not see them. Symbolic links are followed first, so all programs see the same `-wal`. A bind mount of the file
//! without its folder cannot be distinguished from the file. The lock keeps two programs apart, but only the technician
//! knows which name was used last.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Error;
use super::open::cannot_open;

/// Both locks, held until the last clone is dropped.
#[derive(Clone, Debug)]
pub(super) struct Lock(#[allow(dead_code, reason = "held, and never asked")] Arc<Held>);

/// The locks, in the order in which they are released. A program that finds `journal.lock` free therefore also finds
/// the journal free.
#[derive(Debug)]
struct Held {
    journal: Locked,
    #[allow(dead_code, reason = "held, and never asked")]
    name: Name,
}

/// The lock next to the journal. It exists before the journal does.
#[derive(Debug)]
pub(super) struct Name(#[allow(dead_code, reason = "held, and never asked")] Locked);

/// A locked file, which is unlocked when this value is dropped. A child process that is starting at that moment has a
/// copy of the descriptor. If this process only closed its own descriptor, the child would keep the lock.
#[derive(Debug)]
pub(super) struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        // If this fails, closing the file ends the lock a little later.
        let _ = self.0.unlock();
    }
}

/// Returns the path of the journal with all symbolic links followed. The journal need not exist yet.
///
/// # Errors
/// Returns [`Error::Open`] if the folder cannot be read, or if a link points to nothing. The disk may then be missing,
/// and a new journal in its place would not contain the open transactions.
pub(super) fn real(path: &Path) -> Result<PathBuf, Error> {
    let name = || path.display().to_string();
    match fs::canonicalize(path) {
        Ok(real) => Ok(real),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if fs::symlink_metadata(path).is_ok() {
                return Err(cannot_open(&name(), &"it is a symbolic link to a missing file"));
            }
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let folder = fs::canonicalize(folder).map_err(|error| cannot_open(&name(), &error))?;
            Ok(folder.join(path.file_name().unwrap_or_default()))
        }
        Err(error) => Err(cannot_open(&name(), &error)),
    }
}

impl Name {
    /// Takes the lock next to the journal at this real path.
    ///
    /// # Errors
    /// Returns [`Error::InUse`] or [`Error::Open`].
    pub(super) fn take(path: &Path) -> Result<Self, Error> {
        let file = File::options().create(true).truncate(false).write(true).open(path.with_extension("lock"));
        let file = file.map_err(|error| cannot_open(&path.display().to_string(), &error))?;
        locked(file, path).map(Self)
    }

    /// Takes the journal's own lock in addition. The journal must exist, and no connection of this process may have it
    /// open.
    ///
    /// # Errors
    /// Returns [`Error::InUse`], [`Error::Linked`] or [`Error::Open`].
    pub(super) fn with_journal(self, path: &Path) -> Result<Lock, Error> {
        let journal = File::open(path).map_err(|error| cannot_open(&path.display().to_string(), &error))?;
        let journal = locked(journal, path)?;
        has_one_name(path)?;
        Ok(Lock(Arc::new(Held { journal, name: self })))
    }
}

impl Lock {
    /// Returns the metadata of the locked file, independent of its name.
    pub(super) fn journal(&self) -> io::Result<Metadata> {
        self.0.journal.0.metadata()
    }

    /// Checks that the path still names the locked file.
    ///
    /// # Errors
    /// Returns [`Error::Open`] if another file was put there.
    pub(super) fn is_of(&self, path: &Path) -> Result<(), Error> {
        let facts = fs::metadata(path).and_then(|there| Ok((there, self.0.journal.0.metadata()?)));
        let (there, held) = facts.map_err(|error| cannot_open(&path.display().to_string(), &error))?;
        if is_same(&there, &held) {
            return Ok(());
        }
        Err(cannot_open(&path.display().to_string(), &"it was replaced by a different file while it was being opened"))
    }
}

/// Checks that the file has no second name through a hard link.
///
/// # Errors
/// Returns [`Error::Linked`] if it has one. A file that does not exist has no second name.
pub(super) fn has_one_name(path: &Path) -> Result<(), Error> {
    match fs::metadata(path) {
        Ok(facts) if facts.is_file() && facts.nlink() > 1 => {
            Err(Error::Linked { path: path.display().to_string(), names: facts.nlink() })
        }
        _ => Ok(()),
    }
}

/// Returns whether two paths name the same file.
pub(super) fn are_same(one: &Path, other: &Path) -> bool {
    matches!((fs::metadata(one), fs::metadata(other)), (Ok(one), Ok(other)) if is_same(&one, &other))
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Locks a journal that is being copied, so that no agent writes to it meanwhile.
///
/// # Errors
/// Returns [`Error::InUse`] or [`Error::Open`].
pub(super) fn keep_still(path: &Path) -> Result<Locked, Error> {
    if is_held(path) {
        return Err(Error::InUse { path: path.display().to_string() });
    }
    let file = File::open(path).map_err(|error| cannot_open(&path.display().to_string(), &error))?;
    locked(file, path)
}

fn locked(file: File, path: &Path) -> Result<Locked, Error> {
    match file.try_lock() {
        Ok(()) => Ok(Locked(file)),
        Err(fs::TryLockError::WouldBlock) => Err(Error::InUse { path: path.display().to_string() }),
        Err(fs::TryLockError::Error(error)) => Err(cannot_open(&path.display().to_string(), &error)),
    }
}

/// The number of times that the system's list of locks is read. The system hands it out in parts of 4 kB. While other
/// programs release their locks, a lock between two parts can be missing.
const LOOKS: u32 = 5;

/// Returns whether a process holds a lock of this journal, under any name. It reads the system's list of locks and
/// never takes the lock itself. Otherwise an agent that starts at this moment would find the lock taken.
#[must_use]
pub fn is_held(path: &Path) -> bool {
    let Ok(real) = real(path) else { return false };
    (0..LOOKS).any(|_| is_listed(&real))
}

fn is_listed(real: &Path) -> bool {
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    [&real.with_extension("lock"), real].into_iter().filter_map(|file| fs::metadata(file).ok()).any(|facts| {
        // proc_locks(5): `1: FLOCK  ADVISORY  WRITE 4711 08:01:262153 0 EOF`, the device in hexadecimal.
        let (major, minor) = (rustix::fs::major(facts.dev()), rustix::fs::minor(facts.dev()));
        let file = format!("{major:02x}:{minor:02x}:{}", facts.ino());
        locks.lines().any(|line| line.contains("FLOCK") && line.split_whitespace().any(|word| word == file))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_although_a_program_that_is_being_started_has_a_copy_of_its_descriptor() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("journal.db");
        let name = Name::take(&path).unwrap();
        let copy = name.0.0.try_clone().unwrap();
        assert!(matches!(Name::take(&path), Err(Error::InUse { .. })));
        drop(name);
        Name::take(&path).unwrap();
        drop(copy);
    }
}
