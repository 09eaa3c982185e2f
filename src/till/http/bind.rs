//! The socket and the port for tills. The agent replaces the socket of a program that died, but never that of a running
//! one. If another program uses the port, the agent retries. If systemd has opened them at the configured addresses,
//! the agent uses those.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::watch;

use super::Error;
use crate::till::PortView;

/// The wait before the port is tried again. It doubles each time, up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait. Once the port is free, tills should soon be able to connect.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Binds the socket. Replaces the socket of a program that died, but never that of a running one.
pub(super) async fn socket(path: &Path) -> Result<UnixListener, Error> {
    let failed = |cause| Error::Socket { socket: path.to_owned(), cause };
    match std::fs::symlink_metadata(path) {
        Ok(facts) if !facts.file_type().is_socket() => return Err(Error::NotASocket { socket: path.to_owned() }),
        Ok(_) if UnixStream::connect(path).await.is_ok() => return Err(Error::SocketInUse { socket: path.to_owned() }),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    // The socket is first bound under another name, so the known name never refers to a socket with the wrong mode.
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".new");
    let fresh = PathBuf::from(fresh);
    let _ = std::fs::remove_file(&fresh);
    let listener = UnixListener::bind(&fresh).map_err(failed)?;
    std::fs::set_permissions(&fresh, std::fs::Permissions::from_mode(0o660)).map_err(failed)?;
    std::fs::rename(&fresh, path).map_err(failed)?;
    Ok(listener)
}

/// Takes over the socket that systemd has opened.
pub(super) fn given_socket(given: std::os::unix::net::UnixListener, path: &Path) -> Result<UnixListener, Error> {
    const UNIT: &str = "pos-agent.socket";
    let failed = |cause| Error::Unusable { unit: UNIT, cause };
    let address = given.local_addr().map_err(failed)?;
    if address.as_pathname() != Some(path) {
        let given = address
            .as_pathname()
            .map_or_else(|| "the socket has no path".to_owned(), |path| path.display().to_string());
        let configured = path.display().to_string();
        return Err(Error::Elsewhere { given, key: "socket in [till]", configured, unit: UNIT });
    }
    let mode = std::fs::metadata(path).map_err(failed)?.permissions().mode() & 0o777;
    if mode & 0o007 != 0 {
        return Err(Error::OpenToAll { socket: path.to_owned(), mode });
    }
    given.set_nonblocking(true).and_then(|()| UnixListener::from_std(given)).map_err(failed)
}

/// Takes over the port that systemd has opened. Even without tokens, the port is served and refuses every request,
/// because a client must not wait for ever.
pub(super) fn given_port(given: std::net::TcpListener, wanted: SocketAddr) -> Result<TcpListener, Error> {
    const UNIT: &str = "pos-agent-http.socket";
    let failed = |cause| Error::Unusable { unit: UNIT, cause };
    let address = given.local_addr().map_err(failed)?;
    if address != wanted {
        let (given, configured) = (address.to_string(), wanted.to_string());
        return Err(Error::Elsewhere { given, key: "http in [till]", configured, unit: UNIT });
    }
    given.set_nonblocking(true).and_then(|()| TcpListener::from_std(given)).map_err(failed)
}

/// Identifies the file that a name refers to. At its end, the agent must not remove another program's socket.
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::symlink_metadata(path).ok().map(|facts| (facts.dev(), facts.ino()))
}

/// Returns the port for the status, with the reason if tills cannot connect.
pub(super) fn seen(address: SocketAddr, refused: Option<&io::Error>) -> PortView {
    let trouble = refused.map(|cause| {
        format!(
            "tills with a token cannot connect to {address}: {cause}; stop the program that is using this port, or \
            change http in [till]"
        )
    });
    PortView { address: address.to_string(), trouble }
}

/// Retries the port until it is free, and reports its state in `port`.
pub(super) async fn port_once_free(
    address: SocketAddr,
    mut refused: io::Error,
    port: &watch::Sender<Option<PortView>>,
) -> TcpListener {
    let mut wait = FIRST_WAIT;
    let mut told = None;
    loop {
        let now = Some(seen(address, Some(&refused)));
        // The reason is logged once, not with each retry.
        if told != now {
            let why = now.as_ref().and_then(|port| port.trouble.as_deref());
            tracing::error!(why, "the agent retries the port until it is free; everything else works");
            port.send_replace(now.clone());
            told = now;
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LONGEST_WAIT);
        match TcpListener::bind(address).await {
            Ok(listener) => {
                tracing::info!(%address, "the port is free: tills are served");
                port.send_replace(Some(seen(address, None)));
                return listener;
            }
            Err(error) => refused = error,
        }
    }
}
