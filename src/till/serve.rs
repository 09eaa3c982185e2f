//! The connections for tills, opened and closed together. The agent knows none of them; a new kind of connection is
//! added here.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::{Command, ProgressLog, http};
use crate::config;
use pos_daemon::systemd::Sockets;
use pos_terms::money::Currency;
use pos_words::Words;

/// How long the last answers may take at the stop.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// The reason why tills cannot connect.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of the JSON interface.
    #[error(transparent)]
    Http(#[from] http::Error),
}

/// The terminal's settings that the answers to tills depend on.
#[derive(Clone, Debug)]
pub struct ServedTerminal {
    /// True if an operator must be signed in for anything that moves money, except on exempt connections.
    pub operators_required: bool,
    /// The currency of requests that name none.
    pub currency: Currency,
    /// The language.
    pub words: Words,
}

impl ServedTerminal {
    /// Creates the settings of a terminal that requires no operator, in the first language.
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

/// Opens every connection that the settings demand, unless systemd has opened it and `gives` it.
///
/// Requests of tills go to `commands`, and all tills hear `progress`.
///
/// # Errors
/// Every [`Error`]; then nothing is served.
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
    /// Returns the address for tills with a token; `None` when there are none, or while another program has the port.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.http.http
    }

    /// Sends the last answers and frees the socket's name.
    pub async fn close(self) {
        drop(self.stop);
        let _ = tokio::time::timeout(LAST_ANSWERS, self.http.done).await;
    }
}
