//! One program per journal, by whatever name it is opened: two would give the same numbers to different sales.
//!
//! Two locks are taken, both `flock(2)`, and held until the last connection of this process is closed:
//!
//! | lock | for |
//! |---|---|
//! | `journal.lock` beside the file, where symbolic links end | the time before there is a journal; programs of before take this one alone |
//! | the journal itself | other names of it: a bind mount, a hard link |
//!
//! SQLite's own locks on the journal are POSIX record locks. On a local disk they and `flock` do not meet, but the
//! system takes **all** POSIX locks of a process on a file away when the process closes any descriptor of it. So the
//! descriptor that holds our lock must be closed after the last connection: whoever has one has a clone of [`Lock`] and
//! lets go of it later. Nothing else in a program that has the journal open opens the file past SQLite.
//!
//! A hard link is one name too many even when nobody uses it: SQLite keeps what was written last in a `-wal` file
//! beside the name by which the journal was opened, and whoever opens the other name does not see it. Such a journal is
//! refused ([`has_one_name`]). A symbolic link is followed first, so that all see the same `-wal`. A bind mount of the
//! file alone, without its folder, cannot be told from the file: two programs are kept apart by the lock, and which
//! name was used last only the technician knows.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Error;
use super::open::cannot_open;

/// Both locks, held as long as one clone is left.
#[derive(Clone, Debug)]
pub(super) struct Lock(#[allow(dead_code, reason = "held, and never asked")] Arc<Held>);

/// In the order in which they are let go: who finds `journal.lock` free finds the journal free.
#[derive(Debug)]
struct Held {
    journal: Locked,
    #[allow(dead_code, reason = "held, and never asked")]
    name: Name,
}

/// The lock beside the file, which is there before the file is.
#[derive(Debug)]
pub(super) struct Name(#[allow(dead_code, reason = "held, and never asked")] Locked);

/// A file whose lock ends with this. A program that is being started at that moment has a copy of the descriptor, and
/// closing ours alone would leave the lock to it.
#[derive(Debug)]
pub(super) struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing it ends the lock as well, a little later.
        let _ = self.0.unlock();
    }
}

/// Where the journal is, with all symbolic links followed; it need not be there yet.
///
/// # Errors
/// [`Error::Open`] when its folder cannot be looked at, or a link leads nowhere: then its disk may be missing, and a
/// new journal in its place would not know what is open.
pub(super) fn real(path: &Path) -> Result<PathBuf, Error> {
    let name = || path.display().to_string();
    match fs::canonicalize(path) {
        Ok(real) => Ok(real),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if fs::symlink_metadata(path).is_ok() {
                return Err(cannot_open(&name(), &"it is a symbolic link to a file that is not there"));
            }
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let folder = fs::canonicalize(folder).map_err(|error| cannot_open(&name(), &error))?;
            Ok(folder.join(path.file_name().unwrap_or_default()))
        }
        Err(error) => Err(cannot_open(&name(), &error)),
    }
}

impl Name {
    /// Takes the lock beside the journal at this real path.
    ///
    /// # Errors
    /// [`Error::InUse`], [`Error::Open`].
    pub(super) fn take(path: &Path) -> Result<Self, Error> {
        let file = File::options().create(true).truncate(false).write(true).open(path.with_extension("lock"));
        let file = file.map_err(|error| cannot_open(&path.display().to_string(), &error))?;
        locked(file, path).map(Self)
    }

    /// Takes the journal's own lock too; the journal is there now, and no connection of this process has it open.
    ///
    /// # Errors
    /// [`Error::InUse`], [`Error::Linked`], [`Error::Open`].
    pub(super) fn with_journal(self, path: &Path) -> Result<Lock, Error> {
        let journal = File::open(path).map_err(|error| cannot_open(&path.display().to_string(), &error))?;
        let journal = locked(journal, path)?;
        has_one_name(path)?;
        Ok(Lock(Arc::new(Held { journal, name: self })))
    }
}

impl Lock {
    /// What the system says of the file that is locked, by whatever name.
    pub(super) fn journal(&self) -> io::Result<Metadata> {
        self.0.journal.0.metadata()
    }

    /// That the name still stands for the file that is locked.
    ///
    /// # Errors
    /// [`Error::Open`] when somebody has put another file there.
    pub(super) fn is_of(&self, path: &Path) -> Result<(), Error> {
        let facts = fs::metadata(path).and_then(|there| Ok((there, self.0.journal.0.metadata()?)));
        let (there, held) = facts.map_err(|error| cannot_open(&path.display().to_string(), &error))?;
        if is_same(&there, &held) {
            return Ok(());
        }
        Err(cannot_open(&path.display().to_string(), &"another file was put in its place while it was opened"))
    }
}

/// That the file has no other name, by hard links.
///
/// # Errors
/// [`Error::Linked`]; a file that is not there has none.
pub(super) fn has_one_name(path: &Path) -> Result<(), Error> {
    match fs::metadata(path) {
        Ok(facts) if facts.is_file() && facts.nlink() > 1 => {
            Err(Error::Linked { path: path.display().to_string(), names: facts.nlink() })
        }
        _ => Ok(()),
    }
}

/// Whether two names stand for one file.
pub(super) fn are_same(one: &Path, other: &Path) -> bool {
    matches!((fs::metadata(one), fs::metadata(other)), (Ok(one), Ok(other)) if is_same(&one, &other))
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Locks a journal that is copied, so that no agent begins to write to it meanwhile.
///
/// # Errors
/// [`Error::InUse`], [`Error::Open`].
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

/// Whether a process holds a lock of this journal, by whatever name it opened it: looked up in the system's list, never
/// by taking it, for an agent that starts in this moment would find it taken.
#[must_use]
pub fn is_held(path: &Path) -> bool {
    let Ok(real) = real(path) else { return false };
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    [real.with_extension("lock"), real].iter().filter_map(|file| fs::metadata(file).ok()).any(|facts| {
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
