//! The program's own log: where it goes, and how much of it.
//!
//! Under systemd each event goes to the journal with its fields (`journalctl -u pos-agent POS_SALE=42`, `journald.rs`);
//! else it is a line of text on standard error. How much is logged is said at the start and can be changed while the
//! program runs, for there is one log in a process. What may be logged is not decided here: nothing of a card is in any
//! event, at any level (`tests/secrets/card_data.rs`).

mod journald;

use std::path::Path;
use std::sync::OnceLock;

use tracing_subscriber::filter::{ParseError, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{Registry, fmt, reload};

pub use journald::{Journald, SOCKET, is_stderr};

/// The filter of this process's log, once [`begin`] has made one.
static FILTER: OnceLock<Filter> = OnceLock::new();

struct Filter {
    handle: reload::Handle<Targets, Registry>,
    /// As the program was started.
    usual: String,
}

/// Why the log cannot be begun or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not a level, nor a list of them.
    #[error("{level}: {cause}; use error, warn, info, debug or trace")]
    Level {
        /// What was asked for.
        level: String,
        /// What is wrong with it.
        cause: String,
    },
    /// Another part of this process has a log already.
    #[error("the log of this process was begun already")]
    Begun(#[from] TryInitError),
    /// The log was begun elsewhere.
    #[error("the log of this process is not the agent's to change")]
    NotOurs,
}

/// Begins the log: to the journal's socket when standard error leads there, else to standard error.
///
/// # Errors
/// See [`Error`].
pub fn begin(level: &str, journal_socket: &Path) -> Result<(), Error> {
    let (filter, handle) = reload::Layer::new(filter(level)?);
    let journald = is_stderr().then(|| Journald::to(journal_socket).ok()).flatten();
    // A line that cannot be written is lost: telling so would go the same way, and end the terminal.
    let text = || fmt::layer().with_writer(std::io::stderr).with_target(false).log_internal_errors(false);
    let lines = journald.is_none().then(text);
    tracing_subscriber::registry().with(filter).with(journald).with(lines).try_init()?;
    // Whoever began first has it.
    let _ = FILTER.set(Filter { handle, usual: level.to_owned() });
    Ok(())
}

/// From now on this much is logged; `None`: as the program was started.
///
/// # Errors
/// [`Error::NotOurs`] where [`begin`] has not begun the log, and [`Error::Level`].
pub fn set(level: Option<&str>) -> Result<(), Error> {
    let Filter { handle, usual } = FILTER.get().ok_or(Error::NotOurs)?;
    handle.reload(filter(level.unwrap_or(usual))?).map_err(|_| Error::NotOurs)
}

fn filter(level: &str) -> Result<Targets, Error> {
    level.parse().map_err(|error: ParseError| Error::Level { level: level.to_owned(), cause: error.to_string() })
}
