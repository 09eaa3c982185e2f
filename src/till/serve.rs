//! The connections for tills, opened and closed together. The agent knows none of them; a new kind of connection is
//! added here.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::{Command, ProgressLog, http};
use crate::config;
use pos_daemon::systemd::Sockets;
use pos_terms::money::Currency;

/// How long the last answers may take at the stop.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// The reason why tills cannot connect.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of the JSON interface.
    #[error(transparent)]
    Http(#[from] http::Error),
}

/// The open connections for tills, until [`Served::close`].
#[derive(Debug)]
pub struct Served {
    http: http::Bound,
    stop: oneshot::Sender<()>,
}

/// Opens every connection that the settings demand, unless systemd has opened it and `gives` it.
///
/// `operators`: an operator must be signed in for anything that moves money, except on exempt connections. Requests of
/// tills go to `commands`, and all tills hear `progress`; `currency` is the default for requests without one.
///
/// # Errors
/// Every [`Error`]; then nothing is served.
pub async fn serve(
    settings: &config::Till,
    operators: bool,
    gives: Sockets,
    currency: Currency,
    commands: mpsc::Sender<Command>,
    progress: ProgressLog,
) -> Result<Served, Error> {
    let (stop, stopped) = oneshot::channel::<()>();
    let shutdown = async move { drop(stopped.await) };
    let http = http::serve(settings, operators, gives, currency, commands, progress, shutdown).await?;
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
