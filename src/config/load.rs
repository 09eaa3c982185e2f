//! The way from a file to a checked [`Config`]: the possible errors, in messages that name the file, the place and the
//! remedy.
//!
//! Not here: the checks of the values (`check`).

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Config, ConfigFault, form};

/// The reason why a file gives no configuration.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("{}: cannot be read: {cause}; give the right path with --config, or allow this user to read it", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        #[source]
        cause: io::Error,
    },
    /// Every user may write the file, and so could redirect payments.
    #[error("{f}: every user may write it (mode {mode:04o}); run: chmod o-w {f}", f = file.display())]
    WorldWritable {
        /// The file.
        file: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The content cannot be used: all faults that were found, one per line.
    #[error("{}", lines(file, faults))]
    Faulty {
        /// The file.
        file: PathBuf,
        /// The faults; never empty.
        faults: Vec<ConfigFault>,
    },
}

fn lines(file: &Path, faults: &[ConfigFault]) -> String {
    faults.iter().map(|fault| format!("{}: {fault}", file.display())).collect::<Vec<_>>().join("\n")
}

/// Reads the file and checks every value and every file it names.
///
/// # Errors
/// Every [`Error`]; [`Error::Faulty`] contains all faults that were found.
pub fn load(path: &Path) -> Result<Config, Error> {
    let (text, mode) = text(path)?;
    let form = form::read(&text);
    let mut faults: Vec<ConfigFault> = writable_by_all(path, mode).into_iter().collect();
    let further = form.config.iter().flat_map(Config::faults).filter(|fault| form.wrote(&fault.key));
    let further: Vec<ConfigFault> = further.collect();
    faults.extend(form.faults);
    faults.extend(further);
    good(form.config, faults, path)
}

/// Reads the file without checking the values: for a caller that may not open the secrets and only wants a path.
///
/// # Errors
/// [`Error::Unreadable`]; [`Error::WorldWritable`]; [`Error::Faulty`] with the faults of its form.
pub fn read(path: &Path) -> Result<Config, Error> {
    let (text, mode) = text(path)?;
    if writable_by_all(path, mode).is_some() {
        return Err(Error::WorldWritable { file: path.to_owned(), mode });
    }
    parse(&text, path)
}

/// Reads the text of a file; `name` is only for the error.
///
/// # Errors
/// [`Error::Faulty`] with the faults of its form.
pub fn parse(text: &str, name: &Path) -> Result<Config, Error> {
    let form = form::read(text);
    good(form.config, form.faults, name)
}

fn good(config: Option<Config>, faults: Vec<ConfigFault>, file: &Path) -> Result<Config, Error> {
    match config.filter(|_| faults.is_empty()) {
        Some(config) => Ok(config),
        None => Err(Error::Faulty { file: file.to_owned(), faults }),
    }
}

/// Reads the text of a file, and its permission bits.
fn text(path: &Path) -> Result<(String, u32), Error> {
    let unreadable = |cause| Error::Unreadable { file: path.to_owned(), cause };
    let mode = fs::metadata(path).map_err(unreadable)?.permissions().mode() & 0o7777;
    Ok((fs::read_to_string(path).map_err(unreadable)?, mode))
}

/// Returns the fault of a file that every user may write: any of them could redirect payments.
fn writable_by_all(path: &Path, mode: u32) -> Option<ConfigFault> {
    let wrong = format!("every user may write it (mode {mode:04o})");
    let remedy = format!("run: chmod o-w {}", path.display());
    (mode & 0o002 != 0).then(|| ConfigFault { line: None, key: String::new(), wrong, remedy })
}
