//! Every way in for tills, opened and closed together. Whoever has the answers knows none of them: a way in that is
//! added is added here.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::{Command, ProgressLog, http};
use crate::config;
use pos_daemon::systemd::Sockets;
use pos_terms::money::Currency;

/// How long the last answers may take at the end.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Why tills cannot connect.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// By the JSON interface.
    #[error(transparent)]
    Http(#[from] http::Error),
}

/// Tills are served, until [`Served::close`].
#[derive(Debug)]
pub struct Served {
    http: http::Bound,
    stop: oneshot::Sender<()>,
}

/// Opens every way in that the settings ask for, unless systemd has opened it and `gives` it.
///
/// `operators` says that somebody must be signed in for what moves money, unless a way in is exempt. What tills ask
/// goes to `commands`, and all of them hear `progress`; `currency` is that of a sale that names none.
///
/// # Errors
/// Every [`Error`]; nothing is served then.
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
    /// Where tills with a token connect; `None` when there are none, or as long as the port is another program's.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.http.http
    }

    /// Lets the last answers out and gives the socket's name free.
    pub async fn close(self) {
        drop(self.stop);
        let _ = tokio::time::timeout(LAST_ANSWERS, self.http.done).await;
    }
}
