//! From a file to a checked [`Config`]: what can go wrong on the way, in words that name the file, the place and the remedy.
//!
//! Not here: what the values must be (`check`).

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Config, Fault};

/// Why a file gives no configuration.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("{}: cannot be read: {cause}; give the right path with --config, or let this user read it", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's words.
        #[source]
        cause: io::Error,
    },
    /// Anyone on the board could change where payments go.
    #[error("{f}: every user may write it (mode {mode:04o}); run: chmod o-w {f}", f = file.display())]
    WorldWritable {
        /// The file.
        file: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Not TOML, an unknown key (as in a file for a later version), a missing key or a value of the wrong type.
    #[error("{}: line {line}: {place}{what}; correct that line, the keys of this version ({v}) are explained in the README", file.display(), v = env!("CARGO_PKG_VERSION"))]
    Toml {
        /// The file.
        file: PathBuf,
        /// Counted from 1.
        line: usize,
        /// The key as `gateway.url: `; empty when the file is not TOML at all.
        place: String,
        /// The fault, with the keys that are allowed when one is unknown.
        what: String,
    },
    /// A value that cannot be used.
    #[error("{}: {fault}", file.display())]
    Value {
        /// The file.
        file: PathBuf,
        /// Key, fault and remedy.
        #[source]
        fault: Fault,
    },
}

/// Reads the file and checks every value and every file it names.
///
/// # Errors
/// Every [`Error`]; the first fault found.
pub fn load(path: &Path) -> Result<Config, Error> {
    let config = read(path)?;
    config.check().map_err(|fault| Error::Value { file: path.to_owned(), fault })?;
    Ok(config)
}

/// Reads the file without checking the values: for a caller that may not open the secrets and only wants a path.
///
/// # Errors
/// Every [`Error`] but [`Error::Value`].
pub fn read(path: &Path) -> Result<Config, Error> {
    let unreadable = |cause| Error::Unreadable { file: path.to_owned(), cause };
    let mode = fs::metadata(path).map_err(unreadable)?.permissions().mode() & 0o7777;
    if mode & 0o002 != 0 {
        return Err(Error::WorldWritable { file: path.to_owned(), mode });
    }
    parse(&fs::read_to_string(path).map_err(unreadable)?, path)
}

/// Reads the text of a file; `name` is only for the error.
///
/// # Errors
/// [`Error::Toml`].
pub fn parse(text: &str, name: &Path) -> Result<Config, Error> {
    let toml = |error: &toml::de::Error, place| Error::Toml {
        file: name.to_owned(),
        line: line_of(text, error.span().map_or(0, |span| span.start)),
        place,
        what: error.message().replace(['\n', '\r'], " "),
    };
    let document = toml::Deserializer::parse(text).map_err(|error| toml(&error, String::new()))?;
    serde_path_to_error::deserialize(document).map_err(|error| {
        let place = match error.path().to_string() {
            path if path == "." => String::new(),
            path => format!("{path}: "),
        };
        toml(error.inner(), place)
    })
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}
