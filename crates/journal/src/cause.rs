//! The cause of a journal that cannot be opened, if a person can mend it: files of another user, or a full disk. SQLite
//! and the system name the failed call, but not these causes.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;

use super::Error;
use super::open::beside;

/// The free space, in bytes, below which a failed write means that the disk is full. SQLite reports only some of these
/// failures as such. A step needs at most six pages in the WAL, and the first start needs several times as much.
const NO_ROOM: u64 = 64 << 10;

/// Adds the cause to the error of an agent that starts.
pub(super) fn told(path: &Path, error: Error) -> Error {
    match error {
        Error::Open { path: name, cause } => by_owner(path, &cause, |file| {
            fs::metadata(file).ok().filter(|_| may_not_write(file)).map(|facts| facts.uid())
        })
        .or_else(|| by_room(path, &cause, free_bytes(path)?))
        .unwrap_or(Error::Open { path: name, cause }),
        Error::Failed { cause } => {
            let full = free_bytes(path).and_then(|free| by_room(path, &cause, free));
            full.unwrap_or(Error::Failed { cause })
        }
        error => error,
    }
}

/// Returns the free space on the disk of this file, in bytes, or `None` if it is unknown.
pub(super) fn free_bytes(path: &Path) -> Option<u64> {
    let facts = rustix::fs::statvfs(path.parent()?).ok()?;
    Some(facts.f_bavail.saturating_mul(facts.f_frsize))
}

/// Checks whether the file's permissions keep this process from writing it. On a read-only disk they do not.
fn may_not_write(file: &Path) -> bool {
    access(file, Access::WRITE_OK) == Err(Errno::ACCESS)
}

/// Names the journal's files that this process may not write. `owner_of` returns the owner of such a file.
fn by_owner(path: &Path, cause: &str, owner_of: impl Fn(&Path) -> Option<u32>) -> Option<Error> {
    let user = rustix::process::geteuid().as_raw();
    let files = [path.to_owned(), beside(path, "-wal"), beside(path, "-shm"), path.with_extension("lock")];
    let foreign = |file: PathBuf| owner_of(&file).filter(|owner| *owner != user).map(|owner| (file, owner));
    let foreign: Vec<(PathBuf, u32)> = files.into_iter().filter_map(foreign).collect();
    let owner = foreign.first()?.1;
    let files: Vec<String> = foreign.iter().map(|(file, _)| file.display().to_string()).collect();
    let (path, cause) = (path.display().to_string(), cause.to_owned());
    Some(Error::Foreign { path, cause, files: files.join(" "), owner, user })
}

fn by_room(path: &Path, cause: &str, free: u64) -> Option<Error> {
    let is_full = free < NO_ROOM || cause.contains(super::FULL);
    let (path, cause) = (path.display().to_string(), cause.to_owned());
    is_full.then_some(Error::Full { path, free_kib: free >> 10, cause })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_called_full_whatever_sqlite_calls_it() {
        let path = Path::new("/var/lib/pos-agent/journal.db");
        for (cause, free, is_full) in [
            ("disk I/O error", 0, true),
            ("unable to open database file", NO_ROOM - 1, true),
            ("disk I/O error", NO_ROOM, false),
            ("database or disk is full", 1 << 30, true),
        ] {
            let told = by_room(path, cause, free);
            assert_eq!(told.as_ref().is_some_and(Error::is_full), is_full, "{cause} {free}");
            if let Some(told) = told {
                let told = told.to_string();
                assert!(told.contains("journal.db is full, with ") && told.contains(cause), "{told}");
            }
        }
    }

    #[test]
    fn files_of_another_user_are_named_with_the_command() {
        let path = Path::new("/var/lib/pos-agent/journal.db");
        let user = rustix::process::geteuid().as_raw();
        assert!(by_owner(path, "it is read-only", |_| None).is_none());
        assert!(by_owner(path, "it is read-only", |_| Some(user)).is_none(), "the mode is wrong, not the owner");
        let of_root = |file: &Path| {
            let name = file.to_str().unwrap();
            (name.ends_with(".lock") || name.ends_with(".db")).then_some(user + 1)
        };
        let told = by_owner(path, "Permission denied", of_root).unwrap().to_string();
        let files = "/var/lib/pos-agent/journal.db /var/lib/pos-agent/journal.lock";
        assert!(told.ends_with(&format!("run as root: chown {user} {files}")), "{told}");
        assert!(told.contains(&format!("may not write {files} (owner {})", user + 1)), "{told}");
    }
}
