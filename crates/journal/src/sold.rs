//! The mark file, which records that this terminal has sold. It is in a separate folder, so a person who removes the
//! journal does not also remove the mark.
//!
//! The mark names the terminal and the identity of the journal with which it sold. It is written before the first
//! request is sent. A journal with another identity does not contain the earlier sales, because it is new or belongs to
//! another terminal. The terminal then waits for a person. A terminal without a mark is new, and sells immediately.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::chain::{Head, Mark};
use super::db::{Db, failed};
use super::open::beside;
use super::{Error, purpose};

/// The location of a terminal's mark.
#[derive(Clone, Debug)]
pub struct SoldMark {
    terminal: String,
    /// The two possible files: in the folder from the configuration, and in the journal's own folder for a board
    /// without that folder.
    files: [PathBuf; 2],
}

/// The mark's statement about a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SoldOn {
    /// There is no mark.
    Nothing,
    /// This terminal sold with this journal, or with one that it has adopted.
    This,
    /// This terminal sold with another journal, which this one has not adopted. The text says how this is known.
    Another(String),
    /// It is unknown with which journal this terminal sold. The text says why.
    Unknown(String),
}

/// The content of the mark file.
#[derive(Serialize, Deserialize)]
struct Content {
    terminal: String,
    journal: String,
}

impl SoldMark {
    /// Returns the location of the terminal's mark, in `folder` or next to the journal.
    #[must_use]
    pub fn of(terminal: &str, folder: &Path, journal: &Path) -> Self {
        let name = format!("{terminal}.sold");
        let beside = journal.parent().unwrap_or(Path::new("."));
        Self { terminal: terminal.to_owned(), files: [folder.join(&name), beside.join(&name)] }
    }

    /// Returns the statement about a journal with these identities.
    #[must_use]
    pub fn says_of(&self, identities: &[String]) -> SoldOn {
        let mut says = SoldOn::Nothing;
        for file in &self.files {
            let content = match fs::read(file) {
                Ok(bytes) => serde_json::from_slice::<Content>(&bytes),
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return SoldOn::Unknown(format!("{} cannot be read: {error}", file.display())),
            };
            match content {
                Ok(content) if content.terminal != self.terminal => {}
                Ok(content) if identities.contains(&content.journal) => says = SoldOn::This,
                Ok(_) => return SoldOn::Another(format!("{} names a different journal", file.display())),
                Err(_) => return SoldOn::Unknown(format!("{} is damaged", file.display())),
            }
        }
        says
    }

    /// Writes the mark. When it returns, the mark is on the disk.
    ///
    /// # Errors
    /// Returns an error if neither folder can be written.
    pub fn write(&self, journal: &str) -> io::Result<()> {
        let content = Content { terminal: self.terminal.clone(), journal: journal.to_owned() };
        let content = serde_json::to_vec(&content)?;
        let [first, second] = &self.files;
        put(first, &content).or_else(|error| {
            tracing::warn!(
                %error, file = %first.display(),
                "the mark that this terminal has sold is written next to the journal"
            );
            put(second, &content)
        })
    }

    /// Removes the marks in both folders, and writes the mark again.
    ///
    /// # Errors
    /// Returns an error if the mark cannot be written, or if an old mark cannot be removed.
    pub fn write_anew(&self, journal: &str) -> io::Result<()> {
        for file in &self.files {
            match fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.write(journal)
    }

    /// Returns the folders that may contain a rescue journal.
    pub fn folders(&self) -> impl DoubleEndedIterator<Item = &Path> {
        self.files.iter().filter_map(|file| file.parent())
    }
}

/// Records that a person confirmed that the journal at `path` belongs to the terminal, although the mark names another
/// one. First the journal records the person, then the mark is changed to name this journal.
///
/// # Errors
/// Returns [`Error::NotAdopted`] if the mark does not contradict this journal. Returns another error if the journal or
/// the mark cannot be written.
pub fn accept(path: &Path, mark: &SoldMark, by: &str, unix_ms: i64) -> Result<Head, Error> {
    let (mut db, _) = Db::open(path)?;
    let identities = purpose::identities(&db.connection)?;
    if matches!(mark.says_of(&identities), SoldOn::Nothing | SoldOn::This) {
        let why = "no mark contradicts this journal, so it need not be accepted".to_owned();
        return Err(Error::NotAdopted { why });
    }
    db.mark(&Mark::Accepted { by: by.to_owned() }, unix_ms)?;
    let identity = identities.first().map_or("", String::as_str);
    mark.write_anew(identity)
        .map_err(|error| failed(format!("the mark that this terminal has sold cannot be written: {error}")))?;
    db.head()
}

fn put(file: &Path, content: &[u8]) -> io::Result<()> {
    let new = beside(file, ".new");
    let mut writing = File::create(&new)?;
    writing.write_all(content)?;
    writing.sync_all()?;
    fs::rename(&new, file)?;
    File::open(file.parent().unwrap_or(Path::new(".")))?.sync_all()
}
