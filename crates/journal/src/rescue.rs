//! What is saved of a journal that was taken away, or written over, while it was open: SQLite still has the file,
//! although it has no name any more.
//!
//! When the WAL alone is gone, all of it is copied into the journal, which is in place: nothing is lost then. Otherwise
//! a **rescue journal** is written under a free name: all that is open, with the latest transactions, so that a till
//! that repeats a reference is not charged again. It is a journal like any other, and `pos-agent journal adopt` takes
//! it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::adopt::{sound, take_over};
use super::db::{Db, failed};
use super::open::beside;
use super::{Error, Journal};

/// The latest transactions that are saved with the open ones: the days in which a till repeats what it has asked, and
/// in which the gateway is asked what an old copy does not know. They are written within a second on a small board.
const LATEST: i64 = 1000;
/// So many names are tried.
const NAMES: u32 = 100;

/// What was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rescued {
    /// The WAL was gone, and what was in it is in the journal: a start finds all of it.
    IntoTheJournal,
    /// What is open is in this rescue journal.
    Into(PathBuf),
    /// There was no transaction to be saved.
    Nothing,
}

impl Journal {
    /// That the files at the journal's path are those that are open, and have no second name.
    ///
    /// # Errors
    /// [`Error::Gone`], [`Error::Linked`].
    pub fn is_in_place(&self) -> Result<(), Error> {
        self.db.place.as_ref().map_or(Ok(()), super::place::Place::holds_alone)
    }

    /// Saves what can be saved of a journal that is not in place: into the first of these folders that takes it.
    ///
    /// # Errors
    /// When none does; then it may be tried again.
    pub fn rescue(&self, folders: &[&Path], unix_ms: i64) -> Result<Rescued, Error> {
        let Some(place) = &self.db.place else { return Ok(Rescued::Nothing) };
        // Into the file that is open, wherever it is now: whoever has moved it has all of it.
        let is_copied = self.db.checkpoint().unwrap_or(false);
        if is_copied && place.has_the_journal() {
            return Ok(Rescued::IntoTheJournal);
        }
        if place.has_the_journal() {
            // Somebody may have written over it: what is read now may be theirs, and the chain tells.
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
            // A start would read it as that of whatever journal is at the path then.
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
        // Made whole under another name first, as every journal is.
        let making = beside(&name, ".making");
        let made = self.written_to(&making, path, unix_ms).and_then(|()| {
            let named = fs::rename(making.join("journal.db"), &name).and_then(|()| File::open(folder)?.sync_all());
            named.map_err(failed)
        });
        // What is left of it is in nobody's way.
        let _ = fs::remove_dir_all(&making);
        made.map(|()| Rescued::Into(name))
    }

    fn written_to(&self, folder: &Path, path: &Path, unix_ms: i64) -> Result<(), Error> {
        // What an earlier try has left.
        let _ = fs::remove_dir_all(folder);
        fs::create_dir(folder).map_err(failed)?;
        let new = folder.join("journal.db");
        let (mut rescue, _) = Self::open(&new)?;
        let first = self.number("SELECT coalesce(max(number), 0) FROM sale")? - LATEST + 1;
        take_over(&mut rescue, &self.connection, path, first, unix_ms)?;
        if !rescue.checkpoint()? {
            return Err(failed("the rescue journal could not be written into one file"));
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
