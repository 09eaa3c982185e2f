//! The state folder contains small files that only the front's user can open. After a power cut, each file is complete,
//! in its earlier or its new version.
//!
//! The folder holds no record of money. Its main content is the certificate, and the digests of paired tills' tokens.
//! It also holds the position of each webhook, and the nexo messages that wait for their outcome. A lost certificate is
//! created again. If the tokens are lost, the tills must be paired again. If the messages are lost, the tills must ask
//! for the outcomes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The size of the largest file in bytes, which is a webhook's message with the largest event and escaped quotes.
const MOST_BYTES: u64 = 768 * 1024;

/// The reason why a file of the state folder cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StateError {
    /// The system refused access.
    #[error("{}: {cause}; make this user the owner of the folder, with mode 0700, and check the free disk space", file.display())]
    Refused {
        /// The file.
        file: PathBuf,
        /// The error from the operating system.
        #[source]
        cause: io::Error,
    },
    /// The file contains data that the front did not write.
    #[error("{}: was not written by pos-front ({cause}); move the file away, and pos-front creates a new one", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
        /// The error in the data.
        #[source]
        cause: serde_json::Error,
    },
}

/// The state folder.
#[derive(Clone, Debug)]
pub(crate) struct StateFolder(PathBuf);

impl StateFolder {
    /// Opens the folder, and creates it if it does not exist.
    pub(crate) fn open(path: &Path) -> Result<Self, StateError> {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|cause| StateError::Refused { file: path.to_owned(), cause })?;
        Ok(Self(path.to_owned()))
    }

    /// Returns the content of a file, or `None` if there is no such file.
    pub(crate) fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, StateError> {
        let file = self.0.join(name);
        let opened = match File::open(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened,
        };
        let mut bytes = Vec::new();
        let read = opened.and_then(|opened| opened.take(MOST_BYTES).read_to_end(&mut bytes));
        read.map_err(|cause| StateError::Refused { file: file.clone(), cause })?;
        serde_json::from_slice(&bytes).map(Some).map_err(|cause| StateError::Foreign { file, cause })
    }

    /// Replaces a file. The new content is on disk when this returns.
    pub(crate) fn write(&self, name: &str, value: &impl Serialize) -> Result<(), StateError> {
        let file = self.0.join(name);
        let bytes = serde_json::to_vec(value).expect("state holds only text and numbers");
        self.replace(&file, &bytes).map_err(|cause| StateError::Refused { file, cause })
    }

    fn replace(&self, file: &Path, bytes: &[u8]) -> io::Result<()> {
        let new = file.with_extension("new");
        // A file that an earlier power cut left behind may have any mode.
        let _ = fs::remove_file(&new);
        let mut opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        opened.write_all(bytes)?;
        opened.sync_all()?;
        fs::rename(&new, file)?;
        File::open(&self.0)?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_is_nobody_elses() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("front");
        let state = StateFolder::open(&path).unwrap();
        assert_eq!(state.read::<String>("a.json").unwrap(), None);
        // A file that a power cut left incomplete is never read.
        fs::write(path.join("a.new"), "hal").unwrap();
        for text in ["one", "two"] {
            state.write("a.json", &text).unwrap();
            assert_eq!(state.read::<String>("a.json").unwrap().as_deref(), Some(text));
        }
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&path.join("a.json"))), (0o700, 0o600));
        fs::write(path.join("a.json"), "no").unwrap();
        assert!(matches!(state.read::<String>("a.json"), Err(StateError::Foreign { .. })));
    }
}
