//! The files of the overlay, in the folder `fleet` beside the journal.
//!
//! A file is replaced whole: it is written under another name, synced, renamed, and the folder is synced. Its first
//! line is the SHA-256 of the rest. A file that a person or a fault has changed therefore counts as damaged. This is no
//! protection against an attacker: the documents have signatures, which each start checks again.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The greatest size of a file. It holds all key documents.
const LARGEST_FILE: u64 = 8 * 1024 * 1024;

/// The folder of the overlay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlayFolder(PathBuf);

/// A file of the overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OverlayFile {
    /// The settings, and how far they are.
    Settings,
    /// The key documents.
    Keys,
}

impl OverlayFile {
    fn name(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Keys => "keys",
        }
    }
}

impl OverlayFolder {
    /// Returns the folder beside this journal.
    #[must_use]
    pub fn beside(journal: &Path) -> Self {
        Self(journal.parent().unwrap_or(Path::new("/")).join("fleet"))
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Reads a file. Returns `None` if there is none.
    ///
    /// # Errors
    /// Fails if it cannot be read or is damaged.
    pub(super) fn read<T: DeserializeOwned>(&self, file: OverlayFile) -> Result<Option<T>, String> {
        let path = self.0.join(file.name());
        let told = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        match fs::metadata(&path) {
            Ok(facts) if facts.len() > LARGEST_FILE => return Err(told(&"it is too large")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            _ => {}
        }
        content(&fs::read(&path).map_err(|error| told(&error))?).map(Some).map_err(|why| told(&why))
    }

    /// Replaces a file. When it returns, the new content is on the disk.
    ///
    /// # Errors
    /// Fails if the folder or the file cannot be written. The former content stays, or the new one is in its place.
    pub(super) fn write<T: Serialize>(&self, file: OverlayFile, value: &T) -> io::Result<()> {
        if let Err(error) = DirBuilder::new().mode(0o700).create(&self.0)
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(error);
        }
        let (path, new) = (self.0.join(file.name()), self.0.join(format!("{}.new", file.name())));
        let text = serde_json::to_string(value).map_err(io::Error::other)?;
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        written.write_all(format!("{}\n{text}", sum(text.as_bytes())).as_bytes())?;
        written.sync_all()?;
        fs::rename(&new, &path)?;
        File::open(&self.0)?.sync_all()?;
        // A folder that is new needs its own name on the disk.
        File::open(self.0.parent().unwrap_or(Path::new("/")))?.sync_all()
    }
}

/// Reads the content of a file.
pub(super) fn content<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not a text")?;
    let (first, rest) = text.split_once('\n').ok_or("it has no content")?;
    if first != sum(rest.as_bytes()) {
        return Err("it was changed by hand or is damaged".to_owned());
    }
    serde_json::from_str(rest).map_err(|error| error.to_string())
}

fn sum(bytes: &[u8]) -> String {
    hex::encode(digest(&SHA256, bytes))
}
