//! The support archive: what somebody who helps from afar has to see of a terminal, in one file, without card data and
//! secrets.
//!
//! ```text
//! about.txt         what this is, and what was left out
//! doctor.txt .json  what the doctor found
//! status.json       what the agent says of itself; absent when none answers
//! config.toml       the configuration
//! log.txt           the end of the service's log
//! journal.json      whether it is as it was written, counts, what is open
//! transactions.jsonl  the latest transactions: references and payment ids, no cards
//! system.txt        kernel, memory, disks, limits, the service's unit
//! devices.txt       serial ports, USB devices and their names
//! ```
//!
//! References and payment ids are in it: they are no card data, and the gateway's support finds a payment by them. Card
//! numbers are not, not even masked. Everything goes through `cleaning` on its way into the file, whoever wrote it.

mod cleaning;
mod journal;
mod system;

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};

use self::cleaning::Cleaning;
use crate::config::{self, Config};

/// The folder that the archive unpacks into.
const FOLDER: &str = "pos-agent-support";

/// Why there is no archive.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of that name is there.
    #[error("{}: is there already and is not overwritten; choose another name, or move it away", file.display())]
    Exists {
        /// The file.
        file: PathBuf,
    },
    /// It cannot be written.
    #[error("{}: cannot be written: {cause}; choose a folder that this user may write into, with some MiB free", file.display())]
    Unwritable {
        /// The file.
        file: PathBuf,
        /// The system's words.
        #[source]
        cause: io::Error,
    },
}

/// What the caller has found out already.
#[derive(Debug)]
pub struct FoundBefore<'a> {
    /// The configuration's file.
    pub config: &'a Path,
    /// The doctor's report as a person reads it.
    pub report: String,
    /// The same as JSON.
    pub report_json: String,
    /// What the agent says of itself, as JSON, when it answers.
    pub status_json: Option<String>,
}

/// A file that nobody else can read and that is not there yet. Until it is [written](Self::write) it is empty, and goes
/// again.
#[derive(Debug)]
pub struct Archive {
    file: PathBuf,
    out: Option<fs::File>,
}

impl Archive {
    /// Makes the file, so that a wrong name is noticed before anything is looked at.
    ///
    /// # Errors
    /// Every [`Error`].
    pub fn create(file: &Path) -> Result<Self, Error> {
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
        let out = made.map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists { file: file.to_owned() },
            _ => Error::Unwritable { file: file.to_owned(), cause },
        })?;
        Ok(Self { file: file.to_owned(), out: Some(out) })
    }

    /// Gathers what else belongs to it and writes all of it: the names of what is in it.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub fn write(mut self, found: FoundBefore<'_>, now: DateTime<Utc>) -> Result<Vec<String>, Error> {
        let parts = gather(found, now);
        let written = pack(&parts, now).and_then(|bytes| {
            let Some(out) = &mut self.out else { return Ok(()) };
            out.write_all(&bytes)?;
            out.sync_all()
        });
        written.map_err(|cause| Error::Unwritable { file: self.file.clone(), cause })?;
        self.out = None;
        Ok(parts.into_iter().map(|(name, _)| name.to_owned()).collect())
    }
}

impl Drop for Archive {
    fn drop(&mut self) {
        if self.out.is_some() {
            // Half an archive helps nobody; one that cannot be removed is empty or cut off, and unpacking it says so.
            let _ = fs::remove_file(&self.file);
        }
    }
}

/// Every part with its name, clean.
fn gather(found: FoundBefore<'_>, now: DateTime<Utc>) -> Vec<(&'static str, String)> {
    let text = fs::read_to_string(found.config);
    // A file with a fault in it is still looked at; what it names is then not known.
    let config = text.as_ref().ok().and_then(|text| config::parse(text, found.config).ok());
    let cleaning = Cleaning::of(config.as_ref());
    let written = text.unwrap_or_else(|error| format!("{}: cannot be read: {error}\n", found.config.display()));
    let mut parts = vec![
        ("about.txt", about(now)),
        ("doctor.txt", found.report),
        ("doctor.json", found.report_json),
        ("config.toml", cleaning::without_secrets(&written)),
        ("log.txt", system::log()),
        ("system.txt", system::facts(&places(config.as_ref(), found.config))),
        ("devices.txt", system::devices()),
    ];
    parts.extend(found.status_json.map(|status| ("status.json", cleaning::without_cards(&status))));
    if let Some(config) = &config {
        parts.extend(journal::parts(&config.journal.path));
    }
    parts.into_iter().map(|(name, text)| (name, cleaning.clean(&text))).collect()
}

/// Folders whose file systems matter.
fn places(config: Option<&Config>, file: &Path) -> Vec<PathBuf> {
    let journal = config.and_then(|config| config.journal.path.parent()).map(Path::to_owned);
    let beside = file.parent().map(Path::to_owned);
    [Some(PathBuf::from("/")), beside, journal].into_iter().flatten().collect()
}

fn about(now: DateTime<Utc>) -> String {
    let at = now.to_rfc3339_opts(SecondsFormat::Secs, true);
    let (version, machine) = (env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    format!(
        "Support archive of pos-agent {version} ({machine}), made {at} by the board's clock.\n\
         \n\
         It holds what pos-agent doctor found, the configuration, the end of the service's log, what the journal says of\n\
         itself, and facts of the system. References and payment ids of transactions are in it.\n\
         It holds no card data, not even masked card numbers, no tokens and no keys: they were taken out of every part, and\n\
         [secret] or [card number] stands where one was.\n"
    )
}

/// Not compressed: the code for it takes 48 kB of a board's program, and gzip does it where the file is sent from.
fn pack(parts: &[(&str, String)], now: DateTime<Utc>) -> io::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, text) in parts {
        let mut header = tar::Header::new_ustar();
        header.set_size(text.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(now.timestamp().unsigned_abs());
        tar.append_data(&mut header, format!("{FOLDER}/{name}"), text.as_bytes())?;
    }
    tar.into_inner()
}
