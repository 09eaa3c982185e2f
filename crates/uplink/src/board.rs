//! The identity of a board: the certificates in its state folder, which are renewed while the uplink runs.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pos_broker::clock::Clock;
use pos_broker::tls;
use tokio::sync::watch;

use crate::certificate::{Folder, Need, Pair, Turn, Which};
use crate::enrol::{self, Port};
use crate::identity::{Identity, Pass};

/// The time between two looks at the state folder, in which `pos-uplink enrol` may have stored a certificate.
const LOOK: Duration = Duration::from_secs(5);
/// The time between two tries to renew the certificate. A third of its life is left for them.
const RENEWS: Duration = Duration::from_secs(3600);

/// The certificates of a board.
#[derive(Debug)]
pub struct Board {
    folder: Folder,
    ca: PathBuf,
    clock: Clock,
    turn: Turn,
    used: Option<Which>,
    files: watch::Receiver<Stored>,
}

/// When the next pair was stored, to notice a new one.
type Stored = Option<SystemTime>;

impl Board {
    /// Creates the identity. `files` comes from [`watch_files`].
    #[must_use]
    pub fn new(folder: Folder, ca: PathBuf, clock: Clock, files: watch::Receiver<Stored>) -> Self {
        Self { folder, ca, clock, turn: Turn::default(), used: None, files }
    }

    fn pair(&self, which: Which) -> Option<Pair> {
        let pair = self.folder.pair(which);
        pair.inspect_err(|error| tracing::error!(%error, "a certificate cannot be used")).ok().flatten()
    }
}

impl Identity for Board {
    fn pass(&mut self) -> Result<Pass, String> {
        self.files.mark_unchanged();
        if self.folder.need(self.clock.wall()) == Need::Code {
            return Err(
                "there is no valid certificate: get a code from the fleet's desk, and run pos-uplink enrol".to_owned()
            );
        }
        let (present, next) = (self.pair(Which::Present), self.pair(Which::Next));
        let which = self.turn.pick(present.is_some(), next.is_some());
        self.used = which;
        let pair = match which {
            Some(Which::Next) => next,
            _ => present,
        };
        let pair = pair.ok_or_else(|| "there is no certificate".to_owned())?;
        let tls = tls::client(&self.ca, Some(pair.own())).map_err(|error| error.to_string())?;
        let signer = self.folder.signer(pair.which).map(Arc::new);
        Ok(Pass { tls, ends: pair.validity.not_after, signer })
    }

    fn accepted(&mut self) {
        let Some(which) = self.used.take() else { return };
        self.turn.ended(which, true);
        if let Err(error) = self.folder.has_connected(which) {
            tracing::error!(%error, "the new certificate cannot replace the old one");
        }
    }

    fn not_accepted(&mut self) {
        if let Some(which) = self.used.take() {
            self.turn.ended(which, false);
        }
    }

    async fn changed(&mut self) {
        if self.files.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Looks at the state folder until the receivers are gone.
#[must_use]
pub fn watch_files(folder: Folder) -> watch::Receiver<Stored> {
    let (tell, told) = watch::channel(folder.next_stored_at());
    tokio::spawn(async move {
        while !tell.is_closed() {
            tokio::time::sleep(LOOK).await;
            // A new pair is a change. That it takes the old one's place is none.
            tell.send_if_modified(|before| {
                let now = folder.next_stored_at();
                now.is_some() && std::mem::replace(before, now) != now
            });
        }
    });
    told
}

/// Renews the certificate when it is time.
pub async fn renew(folder: Folder, host: String, port: u16, ca: PathBuf, clock: Clock) {
    loop {
        if folder.need(clock.wall()) == Need::Renew {
            match enrol::renew(Port { host: &host, port, ca: &ca }, &folder).await {
                Ok(_) => {
                    tracing::info!("a new certificate has come; the old one stays until the new one has connected")
                }
                Err(error) if error.needs_code() => {
                    tracing::error!(%error, "the certificate cannot be renewed without a code; sales go on");
                }
                Err(error) => tracing::warn!(%error, "the certificate was not renewed; another try follows"),
            }
        }
        clock.sleep(pos_broker::Waits::new(RENEWS, RENEWS).next_wait().max(RENEWS / 2)).await;
    }
}
