//! The log of the process: its destination and its level.
//!
//! Under systemd, each event goes to systemd's journal with its fields (`journalctl -u pos-agent POS_SALE=42`,
//! `journald.rs`). Otherwise, it is a line of text on standard error. A process has one log. Its level is set at the
//! start and can be changed while the program runs. This module does not decide what may be logged: no event contains
//! card data, at any level (`tests/secrets/card_data.rs`).

mod journald;

use std::path::Path;
use std::sync::OnceLock;

use tracing_subscriber::filter::{ParseError, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{Registry, fmt, reload};

pub use journald::{Journald, SOCKET, is_stderr};

/// The filter of this process's log, after [`begin`] has set it.
static FILTER: OnceLock<Filter> = OnceLock::new();

struct Filter {
    handle: reload::Handle<Targets, Registry>,
    /// The level at which the program was started.
    usual: String,
}

/// The reason why the log cannot be started or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The level is neither a level nor a list of levels.
    #[error("{level}: {cause}; use error, warn, info, debug or trace")]
    Level {
        /// The requested level.
        level: String,
        /// The fault in that level.
        cause: String,
    },
    /// Another part of this process already has a log.
    #[error("the log of this process was already started")]
    Begun(#[from] TryInitError),
    /// The log was started elsewhere.
    #[error("the agent cannot change the log of this process")]
    NotOurs,
}

/// Starts the log. It goes to the journal's socket if standard error is connected to the journal, and otherwise to
/// standard error. `identifier` is the program's name in the journal.
///
/// # Errors
/// See [`Error`].
pub fn begin(level: &str, journal_socket: &Path, identifier: &'static str) -> Result<(), Error> {
    let (filter, handle) = reload::Layer::new(filter(level)?);
    let journald = is_stderr().then(|| Journald::to(journal_socket, identifier).ok()).flatten();
    // A line that cannot be written is lost. A message about the loss would go to the same destination, and would end
    // the terminal.
    let text = || fmt::layer().with_writer(std::io::stderr).with_target(false).log_internal_errors(false);
    let lines = journald.is_none().then(text);
    tracing_subscriber::registry().with(filter).with(journald).with(lines).try_init()?;
    // The first caller keeps the filter.
    let _ = FILTER.set(Filter { handle, usual: level.to_owned() });
    Ok(())
}

/// Returns the text that makes a line on standard error an error of systemd's journal (sd-daemon(3)). Elsewhere it is
/// empty.
#[must_use]
pub fn error_prefix() -> &'static str {
    if is_stderr() { "<3>" } else { "" }
}

/// Changes the level of the log. `None` restores the level of the start.
///
/// # Errors
/// Returns [`Error::NotOurs`] if [`begin`] has not started the log, or [`Error::Level`].
pub fn set(level: Option<&str>) -> Result<(), Error> {
    let Filter { handle, usual } = FILTER.get().ok_or(Error::NotOurs)?;
    handle.reload(filter(level.unwrap_or(usual))?).map_err(|_| Error::NotOurs)
}

fn filter(level: &str) -> Result<Targets, Error> {
    level.parse().map_err(|error: ParseError| Error::Level { level: level.to_owned(), cause: error.to_string() })
}
