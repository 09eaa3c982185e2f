//! The connections for tills, which are opened and closed together. The agent does not know their kinds, so a new kind
//! is added only here.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::{Command, ProgressLog, http};
use crate::config;
use pos_daemon::systemd::Sockets;
use pos_terms::money::Currency;
use pos_words::Words;

/// The time allowed for the last answers when the agent stops.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// The reason why tills cannot connect.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error with the JSON interface.
    #[error(transparent)]
    Http(#[from] http::Error),
}

/// The settings of the terminal that affect the answers to tills.
#[derive(Clone, Debug)]
pub struct ServedTerminal {
    /// True if an operator must be signed in for anything that moves money, except on exempt connections.
    pub operators_required: bool,
    /// The currency for requests that name none.
    pub currency: Currency,
    /// The language.
    pub words: Words,
}

impl ServedTerminal {
    /// Creates the settings of a terminal that requires no operator and uses the default language.
    #[must_use]
    pub fn new(currency: Currency) -> Self {
        Self { operators_required: false, currency, words: Words::default() }
    }
}

/// The open connections for tills, until [`Served::close`].
#[derive(Debug)]
pub struct Served {
    http: http::Bound,
    stop: oneshot::Sender<()>,
}

/// Opens the sockets that the settings require, except those that systemd has already opened (`given`).
///
/// Requests of tills go to `commands`, and the steps in `progress` go to the tills.
///
/// # Errors
/// Returns any [`Error`]. In that case, nothing is served.
pub async fn serve(
    settings: &config::Till,
    terminal: ServedTerminal,
    gives: Sockets,
    commands: mpsc::Sender<Command>,
    progress: ProgressLog,
) -> Result<Served, Error> {
    let (stop, stopped) = oneshot::channel::<()>();
    let shutdown = async move { drop(stopped.await) };
    let http = http::serve(settings, terminal, gives, commands, progress, shutdown).await?;
    Ok(Served { http, stop })
}

impl Served {
    /// Returns the address for tills with a token. `None` if there are none, or another program uses the port.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.http.http
    }

    /// Sends the last answers and removes the socket's file.
    pub async fn close(self) {
        drop(self.stop);
        let _ = tokio::time::timeout(LAST_ANSWERS, self.http.done).await;
    }
}
