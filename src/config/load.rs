//! The loading of a file into a checked [`Config`]. The messages of its errors name the file, the line and the remedy.
//!
//! The module `check` checks the values.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Config, ConfigFault, form};

/// The reason why a file cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file does not exist, for example on a board that was never set up.
    #[error("{}: does not exist; run pos-agent setup as root, which writes it, or give the right path with --config", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
    },
    /// The file cannot be read.
    #[error("{}: cannot be read: {cause}; give the right path with --config, or allow this user to read the file", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        #[source]
        cause: io::Error,
    },
    /// Every user may write to the file, and so could redirect payments.
    #[error("{f}: every user may write to it (mode {mode:04o}); run: chmod o-w {f}", f = file.display())]
    WorldWritable {
        /// The file.
        file: PathBuf,
        /// The file's permission bits.
        mode: u32,
    },
    /// The content cannot be used. The message lists all faults that were found, one per line.
    #[error("{}", lines(file, faults))]
    Faulty {
        /// The file.
        file: PathBuf,
        /// The faults, of which there is at least one.
        faults: Vec<ConfigFault>,
    },
}

fn lines(file: &Path, faults: &[ConfigFault]) -> String {
    faults.iter().map(|fault| format!("{}: {fault}", file.display())).collect::<Vec<_>>().join("\n")
}

/// Reads the file, and checks every value and every file that it names.
///
/// # Errors
/// Returns any [`Error`]. [`Error::Faulty`] contains all faults that were found.
pub fn load(path: &Path) -> Result<Config, Error> {
    load_own(path).map(|own| own.config)
}

/// A checked configuration, with the text of its file.
#[derive(Clone, Debug)]
pub struct OwnConfig {
    /// The configuration.
    pub config: Config,
    /// The text of the file.
    pub text: String,
}

/// Reads and checks the file like [`load`], and keeps its text.
///
/// # Errors
/// Fails like [`load`].
pub fn load_own(path: &Path) -> Result<OwnConfig, Error> {
    let (text, mode) = text(path)?;
    let (config, found) = checked(&text);
    let mut faults: Vec<ConfigFault> = writable_by_all(path, mode).into_iter().collect();
    faults.extend(found);
    good(config, faults, path).map(|config| OwnConfig { config, text })
}

/// Reads a text, and checks every value and every file that it names. The second result has the faults.
pub fn checked(text: &str) -> (Option<Config>, Vec<ConfigFault>) {
    let form = form::read(text);
    let further = form.config.iter().flat_map(Config::faults).filter(|fault| form.wrote(&fault.key));
    let further: Vec<ConfigFault> = further.collect();
    let mut faults = form.faults;
    faults.extend(further);
    (form.config, faults)
}

/// Reads the file without checking the values, for a caller that may not open the secrets and only needs a path.
///
/// # Errors
/// Returns [`Error::Missing`], [`Error::Unreadable`], [`Error::WorldWritable`], or [`Error::Faulty`] with the faults of
/// the form.
pub fn read(path: &Path) -> Result<Config, Error> {
    let (text, mode) = text(path)?;
    if writable_by_all(path, mode).is_some() {
        return Err(Error::WorldWritable { file: path.to_owned(), mode });
    }
    parse(&text, path)
}

/// Returns the file's section `[reader]` as TOML for a recording, with a dummy as its port.
///
/// # Errors
/// Fails like [`read`].
pub fn reader_section(path: &Path) -> Result<String, Error> {
    let (text, _) = text(path)?;
    let file: toml::Table = text.parse().unwrap_or_default();
    let mut reader = file.get("reader").and_then(toml::Value::as_table).cloned().unwrap_or_default();
    reader.insert("port".to_owned(), "/dev/recording".into());
    Ok(toml::Table::from_iter([("reader".to_owned(), reader.into())]).to_string())
}

/// Parses the text of a file. `name` is only for the error.
///
/// # Errors
/// Returns [`Error::Faulty`] with the faults of the form.
pub fn parse(text: &str, name: &Path) -> Result<Config, Error> {
    let form = form::read(text);
    good(form.config, form.faults, name)
}

fn good(config: Option<Config>, faults: Vec<ConfigFault>, file: &Path) -> Result<Config, Error> {
    match config.filter(|_| faults.is_empty()) {
        Some(config) => Ok(Config { file: Some(file.to_owned()), ..config }),
        None => Err(Error::Faulty { file: file.to_owned(), faults }),
    }
}

/// Reads the text of a file and the file's permission bits.
fn text(path: &Path) -> Result<(String, u32), Error> {
    let unreadable = |cause: io::Error| match cause.kind() {
        io::ErrorKind::NotFound => Error::Missing { file: path.to_owned() },
        _ => Error::Unreadable { file: path.to_owned(), cause },
    };
    let mode = fs::metadata(path).map_err(unreadable)?.permissions().mode() & 0o7777;
    Ok((fs::read_to_string(path).map_err(unreadable)?, mode))
}

/// Returns the fault of a file to which every user may write, because any user could redirect payments.
fn writable_by_all(path: &Path, mode: u32) -> Option<ConfigFault> {
    let wrong = format!("every user may write to it (mode {mode:04o})");
    let remedy = format!("run: chmod o-w {}", path.display());
    (mode & 0o002 != 0).then(|| ConfigFault { line: None, key: String::new(), wrong, remedy })
}
