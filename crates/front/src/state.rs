//! The state folder: small files that only the front's user can open, each written so that a cut of power leaves the
//! earlier one or the new one, whole.
//!
//! Nothing of money is kept here: the certificate, the digests of paired tills' tokens, and how far each webhook has
//! come. A file that is lost is made anew, or its tills are paired again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The largest file that is read: a webhook's message with the largest event, whose quotes are escaped.
const MOST_BYTES: u64 = 768 * 1024;

/// Why a file of the state folder cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StateError {
    /// The system refused.
    #[error("{}: {cause}; the folder must be this user's own, mode 0700, with room on its disk", file.display())]
    Refused {
        /// The file.
        file: PathBuf,
        /// The system's words.
        #[source]
        cause: io::Error,
    },
    /// It holds something else than the front writes.
    #[error("{}: is not what pos-front has written ({cause}); move it away, and it is made anew", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        #[source]
        cause: serde_json::Error,
    },
}

/// The folder.
#[derive(Clone, Debug)]
pub(crate) struct StateFolder(PathBuf);

impl StateFolder {
    /// Makes the folder unless it is there.
    pub(crate) fn open(path: &Path) -> Result<Self, StateError> {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|cause| StateError::Refused { file: path.to_owned(), cause })?;
        Ok(Self(path.to_owned()))
    }

    /// What a file holds; `None` where there is none.
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

    /// Writes a file in the place of the one before; it is on the disk when this returns.
    pub(crate) fn write(&self, name: &str, value: &impl Serialize) -> Result<(), StateError> {
        let file = self.0.join(name);
        let bytes = serde_json::to_vec(value).expect("state holds only text and numbers");
        self.replace(&file, &bytes).map_err(|cause| StateError::Refused { file, cause })
    }

    fn replace(&self, file: &Path, bytes: &[u8]) -> io::Result<()> {
        let new = file.with_extension("new");
        // A file that an earlier cut left behind may have any mode.
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
        // What a cut left behind in the middle of writing is not taken for the file.
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
