//! The rescue of a journal that was removed or overwritten while it was open. SQLite still has the file open, although
//! the file no longer has a name.
//!
//! If only the WAL is gone, its contents are copied into the journal, which is still in place, and nothing is lost.
//! Otherwise a **rescue journal** is written under an unused name. It contains all open transactions and the latest
//! ones, so that a till that repeats a reference does not charge the customer again. It is a normal journal, and
//! `pos-agent journal adopt` accepts it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::adopt::{sound, take_over};
use super::db::{Db, failed};
use super::open::beside;
use super::{Error, Journal};

/// The number of latest transactions that are saved in addition to the open ones. They cover the days for which a till
/// may repeat a request, and for which the agent checks for an outdated copy. A small board writes them within a
/// second.
const LATEST: i64 = 1000;
/// The maximum number of file names that are tried.
const NAMES: u32 = 100;

/// The result of a rescue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rescued {
    /// The WAL was gone, and its contents are in the journal. The next start finds all of them.
    IntoTheJournal,
    /// The open and the latest transactions are in this rescue journal.
    Into(PathBuf),
    /// There was no transaction to save.
    Nothing,
}

impl Journal {
    /// Checks that the files at the journal's path are the open files, and have no second name.
    ///
    /// # Errors
    /// Returns [`Error::Gone`] or [`Error::Linked`].
    pub fn is_in_place(&self) -> Result<(), Error> {
        self.db.files.as_ref().map_or(Ok(()), super::open_files::OpenFiles::holds_alone)
    }

    /// Saves a journal that is not in place, into the first of these folders that can be written.
    ///
    /// # Errors
    /// Returns an error if no folder can be written. The rescue may then be tried again.
    pub fn rescue(&self, folders: &[&Path], unix_ms: i64) -> Result<Rescued, Error> {
        let Some(place) = &self.db.files else { return Ok(Rescued::Nothing) };
        // The WAL is copied into the open file, wherever it is. If a person moved the file, it is then complete.
        let is_copied = self.db.checkpoint().unwrap_or(false);
        if is_copied && place.has_the_journal() {
            return Ok(Rescued::IntoTheJournal);
        }
        if place.has_the_journal() {
            // Another program may have overwritten the journal with other data. The check of the chain detects this.
            sound(&self.db.connection, &self.path)?;
        }
        let mut last = Err(failed("there is no folder for a rescue journal"));
        for folder in folders {
            last = self.db.rescue_into(folder, &self.path, unix_ms);
            if last.is_ok() {
                break;
            }
        }
        if is_copied && last.is_ok() && place.has_the_wal_alone() {
            // The next start would use this WAL for any journal that is then at the path.
            fs::remove_file(beside(&self.path, "-wal")).map_err(failed)?;
        }
        last
    }
}

impl Db {
    fn rescue_into(&self, folder: &Path, path: &Path, unix_ms: i64) -> Result<Rescued, Error> {
        if self.number("SELECT count(*) FROM (SELECT 1 FROM sale LIMIT 1)")? == 0 {
            return Ok(Rescued::Nothing);
        }
        let stem = path.file_stem().unwrap_or_default();
        let name = free_name(folder, stem).ok_or_else(|| failed("every name for a rescue journal is taken"))?;
        // Like every journal, it is completed under another name first.
        let making = beside(&name, ".making");
        let made = self.written_to(&making, path, unix_ms).and_then(|()| {
            let named = fs::rename(making.join("journal.db"), &name).and_then(|()| File::open(folder)?.sync_all());
            named.map_err(failed)
        });
        // The remains of an unfinished rescue journal do no harm.
        let _ = fs::remove_dir_all(&making);
        made.map(|()| Rescued::Into(name))
    }

    fn written_to(&self, folder: &Path, path: &Path, unix_ms: i64) -> Result<(), Error> {
        // Removes the remains of an earlier attempt.
        let _ = fs::remove_dir_all(folder);
        fs::create_dir(folder).map_err(failed)?;
        let new = folder.join("journal.db");
        let (mut rescue, _) = Self::open(&new)?;
        let first = self.number("SELECT coalesce(max(number), 0) FROM sale")? - LATEST + 1;
        take_over(&mut rescue, &self.connection, path, first, unix_ms)?;
        if !rescue.checkpoint()? {
            return Err(failed("the rescue journal could not be written to one file"));
        }
        drop(rescue);
        File::open(&new).and_then(|file| file.sync_all()).map_err(failed)
    }
}

fn free_name(folder: &Path, stem: &std::ffi::OsStr) -> Option<PathBuf> {
    let name = |number: u32| {
        let mut name = OsString::from(stem);
        name.push(if number == 1 { "-rescue.db".to_owned() } else { format!("-rescue-{number}.db") });
        folder.join(name)
    };
    (1..=NAMES).map(name).find(|name| matches!(name.try_exists(), Ok(false)))
}
