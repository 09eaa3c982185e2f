//! The mark that this terminal has sold. It is in a separate folder, so removing the journal does not remove it too.
//!
//! It names the terminal and the identity of the journal on which it sold. It is written before the first request
//! leaves. A journal with another identity does not know the earlier sales: it is new, or another terminal's, and waits
//! for a person. A terminal without a mark is new, and sells immediately.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::chain::{Head, Mark};
use super::db::{Db, failed};
use super::open::beside;
use super::{Error, purpose};

/// The location of the mark of one terminal.
#[derive(Clone, Debug)]
pub struct SoldMark {
    terminal: String,
    /// The folder of the configuration, and the journal's own folder when a board has no such folder.
    files: [PathBuf; 2],
}

/// The statement of the mark about a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SoldOn {
    /// There is no mark.
    Nothing,
    /// This terminal sold on this journal, or on one that it has adopted.
    This,
    /// It sold on a journal that this one does not know; the text says how that is known.
    Another(String),
    /// It is unknown on which journal it sold; the text says why.
    Unknown(String),
}

/// The content of the mark file.
#[derive(Serialize, Deserialize)]
struct Content {
    terminal: String,
    journal: String,
}

impl SoldMark {
    /// Returns the mark of this terminal, in `folder`, or next to the journal.
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
                Ok(_) => return SoldOn::Another(format!("{} names another journal", file.display())),
                Err(_) => return SoldOn::Unknown(format!("{} is damaged", file.display())),
            }
        }
        says
    }

    /// Writes the mark. When it returns, it is on the disk.
    ///
    /// # Errors
    /// When neither folder can be written.
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

    /// Writes the mark again, and removes the one in the other folder.
    ///
    /// # Errors
    /// When it cannot be written, or the other one cannot be removed.
    pub fn write_anew(&self, journal: &str) -> io::Result<()> {
        for file in &self.files {
            match fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.write(journal)
    }

    /// Returns the folders in which there may be a rescue journal.
    pub fn folders(&self) -> impl DoubleEndedIterator<Item = &Path> {
        self.files.iter().filter_map(|file| file.parent())
    }
}

/// Records that a person confirmed that the journal at `path` is the terminal's, although the mark names another one.
/// The journal records the person first, and then the mark names this journal.
///
/// # Errors
/// [`Error::NotAdopted`] when the mark does not name another journal; or when one of the two cannot be written.
pub fn accept(path: &Path, mark: &SoldMark, by: &str, unix_ms: i64) -> Result<Head, Error> {
    let (mut db, _) = Db::open(path)?;
    let identities = purpose::identities(&db.connection)?;
    if matches!(mark.says_of(&identities), SoldOn::Nothing | SoldOn::This) {
        let why = "no mark contradicts this journal: it need not be accepted".to_owned();
        return Err(Error::NotAdopted { why });
    }
    db.mark(&Mark::Accepted { by: by.to_owned() }, unix_ms)?;
    let identity = identities.first().map_or("", String::as_str);
    mark.write_anew(identity).map_err(|error| failed(format!("the mark that this terminal has sold: {error}")))?;
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
