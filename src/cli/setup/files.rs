//! Files that are written completely or not at all. Each file is written under a temporary name in the same folder,
//! synced, and then renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

/// The upper limit for the numbers in the names of kept earlier files.
const KEPT: usize = 1000;

/// A complete file under a temporary name. Dropping it removes the file, unless the file was renamed.
#[derive(Debug)]
pub(in crate::cli) struct Prepared {
    place: PathBuf,
    beside: PathBuf,
}

impl Prepared {
    /// Writes the content to a temporary file in the folder of `place`, and syncs it to the disk.
    pub(in crate::cli) fn write(place: &Path, content: &[u8], mode: u32) -> io::Result<Self> {
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        let beside = place.with_file_name(format!(".{name}.{}", std::process::id()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside)?;
        let prepared = Self { place: place.to_owned(), beside };
        // The umask can restrict the mode of `open`, but the agent's user must be able to read a configuration.
        rustix::fs::fchmod(&file, mode.into())?;
        file.write_all(content)?;
        file.sync_all()?;
        Ok(prepared)
    }

    /// Returns the temporary name, under which another program can read the file before it is in place.
    pub(super) fn beside(&self) -> &Path {
        &self.beside
    }

    /// Renames the file to its final name. An existing file is not kept.
    pub(super) fn put_over(self) -> io::Result<()> {
        fs::rename(&self.beside, &self.place)?;
        sync_folder(&self.place)
    }

    /// Gives the file to another user, which only root can do.
    pub(super) fn give_to(&self, user: u32) -> io::Result<()> {
        std::os::unix::fs::chown(&self.beside, Some(user), None)
    }

    /// Renames the file to its final name. Fails if a file with that name exists.
    pub(super) fn put(self) -> io::Result<()> {
        renameat_with(CWD, &self.beside, CWD, &self.place, RenameFlags::NOREPLACE)?;
        sync_folder(&self.place)
    }

    /// Renames the file to its final name. An existing file is kept in the same folder under a new name, which is
    /// returned.
    pub(in crate::cli) fn put_in_place_of_another(self) -> io::Result<Option<PathBuf>> {
        let kept = keep(&self.place)?;
        fs::rename(&self.beside, &self.place)?;
        sync_folder(&self.place)?;
        Ok(kept)
    }
}

/// A file under its final name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) place: PathBuf,
    /// The new path of the earlier file, if there was one.
    pub(super) kept: Option<PathBuf>,
}

/// Renames all files to their final names. The files in `last` follow at the end, because they name the others. With
/// `replace`, they may replace existing files. If a file fails, the files before it are removed and the earlier files
/// are restored.
pub(super) fn put_all(
    others: Vec<Prepared>,
    last: Vec<Prepared>,
    replace: bool,
) -> Result<Vec<Placed>, (PathBuf, io::Error)> {
    let mut placed = Vec::new();
    let count = others.len();
    for (n, file) in others.into_iter().chain(last).enumerate() {
        let place = file.place.clone();
        let put = if n < count || replace { file.put_in_place_of_another() } else { file.put().map(|()| None) };
        match put {
            Ok(kept) => placed.push(Placed { place, kept }),
            Err(error) => {
                placed.iter().rev().for_each(take_back);
                return Err((place, error));
            }
        }
    }
    Ok(placed)
}

/// Restores the earlier state at one path. If this fails, the new file stays, and so does the kept earlier file.
pub(super) fn take_back(Placed { place, kept }: &Placed) {
    let _ = match kept {
        Some(kept) => fs::rename(kept, place),
        None => fs::remove_file(place),
    };
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // After a rename, there is no temporary file to remove.
        let _ = fs::remove_file(&self.beside);
    }
}

/// Gives a file a second name: `config.toml.old`, or the first free name with a number.
fn keep(file: &Path) -> io::Result<Option<PathBuf>> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    for n in 1..KEPT {
        let kept = file.with_file_name(if n == 1 { format!("{name}.old") } else { format!("{name}.old{n}") });
        match fs::hard_link(file, &kept) {
            Ok(()) => return Ok(Some(kept)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Syncs the folder, because only this writes the file's name to the disk.
pub(super) fn sync_folder(file: &Path) -> io::Result<()> {
    File::open(file.parent().unwrap_or(Path::new("/")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_put_where_nothing_is_and_never_over_another() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("config.toml");
        Prepared::write(&place, b"one", 0o644).unwrap().put().unwrap();
        assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o644);
        let second = Prepared::write(&place, b"two", 0o600).unwrap();
        assert_eq!(second.put().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&place).unwrap(), b"one");
        assert_eq!(names(folder.path()), ["config.toml"]);
    }

    #[test]
    fn what_was_there_is_kept_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("config.toml");
        let put = |text: &[u8]| Prepared::write(&place, text, 0o644).unwrap().put_in_place_of_another().unwrap();
        assert_eq!(put(b"one"), None);
        assert_eq!(put(b"two"), Some(folder.path().join("config.toml.old")));
        assert_eq!(put(b"three"), Some(folder.path().join("config.toml.old2")));
        assert_eq!(names(folder.path()), ["config.toml", "config.toml.old", "config.toml.old2"]);
        assert_eq!(fs::read(folder.path().join("config.toml.old")).unwrap(), b"one");
        assert_eq!(fs::read(&place).unwrap(), b"three");
    }

    #[test]
    fn when_the_last_cannot_be_put_the_others_are_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let prepared = |name: &str| Prepared::write(&place(name), b"new", 0o600).unwrap();
        fs::write(place("config.toml"), "old").unwrap();
        fs::write(place("token"), "old").unwrap();
        let others = || vec![prepared("token"), prepared("ca.pem")];
        let (refused, error) =
            put_all(others(), vec![prepared("front.toml"), prepared("config.toml")], false).unwrap_err();
        assert_eq!((refused, error.kind()), (place("config.toml"), io::ErrorKind::AlreadyExists));
        assert_eq!(names(folder.path()), ["config.toml", "token"]);
        assert_eq!(fs::read(place("token")).unwrap(), b"old");
        let placed = put_all(others(), vec![prepared("config.toml")], true).unwrap();
        let kept: Vec<_> = placed.iter().map(|placed| placed.kept.clone()).collect();
        assert_eq!(kept, [Some(place("token.old")), None, Some(place("config.toml.old"))]);
        assert_eq!(names(folder.path()), ["ca.pem", "config.toml", "config.toml.old", "token", "token.old"]);
    }

    #[test]
    fn what_is_not_put_is_not_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        drop(Prepared::write(&folder.path().join("config.toml"), b"one", 0o600).unwrap());
        assert!(names(folder.path()).is_empty());
    }
}
