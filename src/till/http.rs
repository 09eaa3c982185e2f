//! The JSON interface for tills: HTTP/1.1 on a Unix socket and, for tills with a token, on loopback TCP.
//!
//! ```text
//!  Unix socket (0660), by its user ─┐                        rights (may it?)
//!                                   ├─▶ guard (who asks?) ─▶ api (one function per verb) ─▶ Command ─▶ agent
//!  127.0.0.1:8650, bearer token ────┘                        events (server-sent)         ◀─ Progress ◀─┘
//! ```
//!
//! This file binds, accepts and limits. It decides nothing about a sale: a request that breaks off leaves the sale as the
//! agent knows it, and the till asks for its reference again.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::response::Response;
use axum::serve::Listener;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use self::api::App;
use self::guard::{Door, HasPeer, Peer};
use super::{Command, Progress};
use crate::config::{self, SecretError};
use crate::money::Currency;

mod api;
mod events;
mod failure;
mod guard;

/// Connections of one listener; further ones wait in the system's queue. A shop has a handful of tills, each with a listener
/// for events and a request; one connection costs about 20 KiB.
const MAX_CONNECTIONS: usize = 32;
/// From a connection's first byte, or its last answer, to the end of the next request's head. Also closes idle connections.
const HEADER_DEADLINE: Duration = Duration::from_secs(10);
/// The head of one request, and what is read ahead of it.
const READ_BUFFER: usize = 16 * 1024;
/// How long answers under way may take after the shutdown was asked for.
const SHUTDOWN_DEADLINE: Duration = Duration::from_secs(2);

/// Where tills can connect, until `done`.
#[derive(Debug)]
pub struct Bound {
    /// The Unix socket.
    pub socket: PathBuf,
    /// The loopback address; `None` when no till has a token.
    pub http: Option<SocketAddr>,
    /// Ends when the shutdown was carried out: nothing listens any more and the socket's name is gone.
    pub done: JoinHandle<()>,
}

/// Why tills cannot connect.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another program answers at the socket.
    #[error("another pos-agent answers at {}; stop it, or give this one another [till] socket", socket.display())]
    SocketInUse {
        /// The socket.
        socket: PathBuf,
    },
    /// Something that is not a socket has its name.
    #[error("{} is not a socket and is left alone; move it away, or change [till] socket", socket.display())]
    NotASocket {
        /// The path.
        socket: PathBuf,
    },
    /// The system refused the socket.
    #[error("no socket at {}: {cause}; create its folder, owned by the agent's user, or change [till] socket", socket.display())]
    Socket {
        /// The socket.
        socket: PathBuf,
        /// The system's words.
        #[source]
        cause: io::Error,
    },
    /// The system refused the address.
    #[error("tills cannot be served at {address}: {cause}; stop the program that has this port, or change [till] http")]
    Address {
        /// The address.
        address: SocketAddr,
        /// The system's words.
        #[source]
        cause: io::Error,
    },
    /// A till's token cannot be read.
    #[error("the token of till {till}: {cause}")]
    Token {
        /// The till.
        till: String,
        /// Why, with the remedy.
        #[source]
        cause: SecretError,
    },
}

/// Binds the socket, and the loopback address when there are tokens; serves both until `shutdown`.
///
/// `currency` is that of a sale that names none. Nothing is spawned unless everything was bound.
///
/// # Errors
/// Every [`Error`].
pub async fn serve(
    config: &config::Till,
    currency: Currency,
    commands: mpsc::Sender<Command>,
    progress: broadcast::Sender<Progress>,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<Bound, Error> {
    let door = Door::loopback(&config.token)?;
    let tcp = if config.token.is_empty() { None } else { Some(bind_loopback(config.http).await?) };
    let unix = bind_socket(&config.socket.path).await?;
    let address = tcp.as_ref().and_then(|tcp| tcp.local_addr().ok());

    let (stop, stopped) = watch::channel(false);
    let stopped = Stopped(stopped);
    let app = Arc::new(App { commands, progress, currency, stopped: stopped.clone() });
    let local = listen(unix, api::router(Arc::clone(&app), Door::Local(config.clone())), stopped.clone());
    let remote = tcp.map(|tcp| tokio::spawn(listen(tcp, api::router(app, door), stopped)));
    let socket = config.socket.path.clone();
    let identity = identity(&socket);
    tokio::spawn(async move {
        shutdown.await;
        // Without receivers everything has ended already.
        let _ = stop.send(true);
    });
    let done = tokio::spawn(async move {
        local.await;
        if let Some(remote) = remote {
            let _ = remote.await;
        }
        if identity.is_some() && self::identity(&socket) == identity {
            let _ = std::fs::remove_file(&socket);
        }
    });
    Ok(Bound { socket: config.socket.path.clone(), http: address, done })
}

/// Tells everything that is being served when the shutdown was asked for.
#[derive(Clone)]
struct Stopped(watch::Receiver<bool>);

impl Stopped {
    async fn wait(&mut self) {
        // An error means that the other end is gone, which is a shutdown too.
        let _ = self.0.wait_for(|stopped| *stopped).await;
    }
}

async fn bind_loopback(address: SocketAddr) -> Result<TcpListener, Error> {
    TcpListener::bind(address).await.map_err(|cause| Error::Address { address, cause })
}

/// Takes the socket's name from a program that died, never from one that lives.
async fn bind_socket(path: &Path) -> Result<UnixListener, Error> {
    let failed = |cause| Error::Socket { socket: path.to_owned(), cause };
    match std::fs::symlink_metadata(path) {
        Ok(facts) if !facts.file_type().is_socket() => return Err(Error::NotASocket { socket: path.to_owned() }),
        Ok(_) if UnixStream::connect(path).await.is_ok() => return Err(Error::SocketInUse { socket: path.to_owned() }),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    // Bound under another name first: the known name never stands for a socket with the wrong mode.
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".new");
    let fresh = PathBuf::from(fresh);
    let _ = std::fs::remove_file(&fresh);
    let listener = UnixListener::bind(&fresh).map_err(failed)?;
    std::fs::set_permissions(&fresh, std::fs::Permissions::from_mode(0o660)).map_err(failed)?;
    std::fs::rename(&fresh, path).map_err(failed)?;
    Ok(listener)
}

/// Which file a name stands for, so that a successor's socket is not removed.
fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::symlink_metadata(path).ok().map(|facts| (facts.dev(), facts.ino()))
}

async fn listen<L: Listener>(mut listener: L, router: Router, mut stopped: Stopped)
where
    L::Io: HasPeer + Send + Unpin + 'static,
{
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let accepted = async {
            let slot = Arc::clone(&slots).acquire_owned().await.expect("the semaphore is never closed");
            (listener.accept().await.0, slot)
        };
        tokio::select! {
            (stream, slot) = accepted => {
                tokio::spawn(connection(stream, router.clone(), stopped.clone(), slot));
            }
            () = stopped.wait() => break,
        }
    }
    drop(listener);
    let all = u32::try_from(MAX_CONNECTIONS).expect("a small number");
    let _ = timeout(SHUTDOWN_DEADLINE, slots.acquire_many(all)).await;
}

async fn connection<S>(stream: S, router: Router, mut stopped: Stopped, _slot: OwnedSemaphorePermit)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + HasPeer + Send + Unpin + 'static,
{
    let router = from_peer(stream.peer(), router);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_DEADLINE)
        .max_buf_size(READ_BUFFER)
        .serve_connection(TokioIo::new(stream), router);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stopped.wait() => {
            connection.as_mut().graceful_shutdown();
            timeout(SHUTDOWN_DEADLINE, connection).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a till's connection ended early");
    }
}

/// The routes, each request of which carries who is at the other end.
fn from_peer(
    peer: Peer,
    router: Router,
) -> impl Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send> {
    let router = TowerToHyperService::new(router);
    service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        router.call(request)
    })
}
