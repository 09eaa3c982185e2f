//! The support archive: one file with everything that remote support needs from a terminal, without card data and
//! secrets.
//!
//! ```text
//! about.txt           what this is, and what was left out
//! doctor.txt .json    the doctor's findings
//! status.json         the agent's status; absent when no agent answers
//! config.toml         the configuration
//! log.txt             the end of the service's log
//! front-status.json   the front's status; absent when no front answers
//! front.toml          the front's configuration; absent without a front
//! front-log.txt       the end of the front's log; absent without a front
//! journal.json        whether it is intact, counts, open transactions
//! transactions.jsonl  the latest transactions: references and payment ids, no cards
//! system.txt          kernel, memory, disks, limits, the services' units
//! devices.txt         serial ports, USB devices and their names
//! ```
//!
//! The archive contains references and payment ids. They are not card data, and the gateway's support needs them to
//! find a payment. The archive contains no card numbers, not even masked ones. Every text passes through `cleaning`
//! before it is written, whatever its source.

mod cleaning;
mod journal;
mod system;

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};

use self::cleaning::Cleaning;
use crate::config::{self, Config, OwnConfig};
use crate::overlay;

/// The folder into which the archive is unpacked.
const FOLDER: &str = "pos-agent-support";

/// The front's configuration, in the folder of the agent's.
const FRONT: &str = "front.toml";

/// The reason why the archive cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file with this name already exists.
    #[error("{}: exists and was not overwritten; choose a different name, or move the file", file.display())]
    Exists {
        /// The file.
        file: PathBuf,
    },
    /// The file cannot be written.
    #[error("{}: cannot be written: {cause}; choose a folder that this user may write to, with some MiB free", file.display())]
    Unwritable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        #[source]
        cause: io::Error,
    },
}

/// The data that the caller has gathered.
#[derive(Debug)]
pub struct FoundBefore<'a> {
    /// The path of the configuration file.
    pub config: &'a Path,
    /// The doctor's report for people.
    pub report: String,
    /// The doctor's report as JSON.
    pub report_json: String,
    /// The agent's status as JSON, if an agent answers.
    pub status_json: Option<String>,
    /// The front's status as JSON, if a front answers.
    pub front_json: Option<String>,
}

/// A new file that only its owner can read. Until it is [written](Self::write), it is empty, and dropping this value
/// removes it.
#[derive(Debug)]
pub struct Archive {
    file: PathBuf,
    out: Option<fs::File>,
}

impl Archive {
    /// Creates the file, before any data is gathered. So a wrong name is reported early.
    ///
    /// # Errors
    /// Returns any [`Error`].
    pub fn create(file: &Path) -> Result<Self, Error> {
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
        let out = made.map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists { file: file.to_owned() },
            _ => Error::Unwritable { file: file.to_owned(), cause },
        })?;
        Ok(Self { file: file.to_owned(), out: Some(out) })
    }

    /// Gathers the other parts and writes all parts. Returns the names of the parts.
    ///
    /// # Errors
    /// Returns [`Error::Unwritable`].
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
            // A partial archive is useless. If it cannot be removed, it is empty or cut off, and unpacking reports
            // this.
            let _ = fs::remove_file(&self.file);
        }
    }
}

/// Returns the cleaned parts with their names.
fn gather(found: FoundBefore<'_>, now: DateTime<Utc>) -> Vec<(&'static str, String)> {
    let text = read(found.config);
    // A configuration with a fault is still included. In that case, the place of the journal is unknown.
    let config = config::parse(&text, found.config).ok();
    let front = found.config.with_file_name(FRONT);
    let front = front.exists().then(|| read(&front));
    let cleaning = Cleaning::of(&[&text, front.as_deref().unwrap_or_default()]);
    let mut parts = vec![
        ("about.txt", about(now)),
        ("doctor.txt", found.report),
        ("doctor.json", found.report_json),
        ("config.toml", cleaning::without_secrets(&text)),
        ("log.txt", system::log("pos-agent")),
        ("system.txt", system::facts(&places(config.as_ref(), found.config))),
        ("devices.txt", system::devices()),
    ];
    parts.extend(found.status_json.map(|status| ("status.json", cleaning::without_cards(&status))));
    parts.extend(found.front_json.map(|status| ("front-status.json", status + "\n")));
    if let Some(front) = &front {
        parts.push(("front.toml", cleaning::without_secrets_and_paths(front)));
        parts.push(("front-log.txt", system::log("pos-front")));
    }
    let mut parts: Vec<_> = parts.into_iter().map(|(name, text)| (name, cleaning.clean(&text))).collect();
    if let Some(config) = config.clone() {
        let given = overlay::shown_over(OwnConfig { config, text }).given;
        let report = given.map(|given| given.report(now.to_rfc3339_opts(SecondsFormat::Secs, true)));
        let report = report.and_then(|report| serde_json::to_string(&report).ok());
        parts.extend(report.map(|report| ("fleet.json", cleaning.clean(&(report + "\n")))));
    }
    if let Some(config) = &config {
        parts.extend(journal::parts(&config.journal.path, &cleaning));
    }
    parts
}

/// Returns the text of a file, or the reason why there is none.
fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| format!("{}: cannot be read: {error}\n", file.display()))
}

/// Returns the folders whose file systems the archive describes.
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
         It contains the findings of pos-agent doctor, the configurations of pos-agent and pos-front, and the ends of\n\
         their logs. It also contains facts about the journal and the system, and references and payment ids of transactions.\n\
         It contains no card data, not even masked card numbers, no tokens and no keys: they were removed from every part,\n\
         and [secret] or [card number] replaces them.\n"
    )
}

/// Packs the parts without compression. The code for compression would take 48 kB of the program, and the sender can
/// use gzip.
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
