//! A configuration file that a program reads into one type.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

/// The reason why a configuration file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigFileError {
    /// It cannot be read.
    #[error("{}: cannot be read: {cause}", file.display())]
    NotRead {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        #[source]
        cause: io::Error,
    },
    /// It is not TOML, or a key is wrong, missing or not known.
    #[error("{}: {why}", file.display())]
    Wrong {
        /// The file.
        file: PathBuf,
        /// The place and the error.
        why: String,
    },
}

impl ConfigFileError {
    /// Creates the fault of a value that the type alone does not exclude.
    #[must_use]
    pub fn wrong(file: &Path, why: &str) -> Self {
        Self::Wrong { file: file.to_owned(), why: why.to_owned() }
    }
}

/// Reads a file (TOML).
///
/// # Errors
/// Fails if the file cannot be read, or names the place and the error.
pub fn load<T: DeserializeOwned>(file: &Path) -> Result<T, ConfigFileError> {
    let text = fs::read_to_string(file);
    let text = text.map_err(|cause| ConfigFileError::NotRead { file: file.to_owned(), cause })?;
    toml::from_str(&text).map_err(|error| ConfigFileError::wrong(file, error.to_string().trim()))
}
