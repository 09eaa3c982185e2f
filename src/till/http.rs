//! The JSON interface for tills. It uses HTTP/1.1 on a Unix socket and, for tills with a token, on loopback TCP.
//!
//! ```text
//!  Unix socket (0660), by its user ─┐                  rights (permission check)
//!                                   ├─▶ guard ─▶ places ─▶ api (one function per verb) ─▶ Command ─▶ agent
//!  127.0.0.1:8650, bearer token ────┘  (caller) (limits)    events (server-sent)         ◀─ Progress ◀─┘
//! ```
//!
//! Between `places` and the verbs, `sessions` identifies the signed-in operator. This file accepts connections and sets
//! their deadlines, and `places` decides which connection is closed if there are too many. Nothing here decides about a
//! transaction. If a request is cut off, the transaction continues, and the till asks again with the same reference.
//!
//! | wait | time-out | where |
//! |---|---|---|
//! | for a request's head, since the connection or the last answer | `HEADER_DEADLINE` | here |
//! | for a request's body | 10 s | `asked` |
//! | for the caller to read an answer, or a page of a list | `WRITE_DEADLINE` | here |

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
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
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use self::api::App;
use self::guard::{Entrance, HasPeer, Peer};
use self::slots::{ConnectionSlot, ConnectionSlots};
use super::{Command, PortView, ProgressLog, ServedTerminal};
use crate::config::{self, SecretError};
use pos_daemon::systemd::Sockets;
use pos_daemon::writing::TimedWriter;

mod accept;
mod api;
mod asked;
mod bind;
mod closes;
mod confirm;
mod credentials;
#[cfg(feature = "docs")]
pub mod description;
mod entries;
mod events;
#[cfg(feature = "docs")]
mod examples;
mod failure;
mod fleet;
mod fleet_settings;
mod guard;
mod lists;
mod operators;
mod payments;
mod receipt_page;
mod receipts;
mod sales;
mod searching;
mod sessions;
mod slots;
mod terminal;
mod values;

/// The time from the start of a connection, or its last answer, to the end of the next request's head. It also closes
/// idle connections.
const HEADER_DEADLINE: Duration = Duration::from_secs(10);
/// The greatest size of a request's head and the data read with it, in bytes.
const READ_BUFFER: usize = 16 * 1024;
/// The time that the caller has to read an answer, counted from when the answer cannot be sent immediately. A working
/// till reads within milliseconds.
const WRITE_DEADLINE: Duration = Duration::from_secs(10);
/// The time allowed for running answers after a shutdown is requested.
const SHUTDOWN_DEADLINE: Duration = Duration::from_secs(2);

/// The open sockets for tills, until `done` ends.
#[derive(Debug)]
pub struct Bound {
    /// The Unix socket.
    pub socket: PathBuf,
    /// The loopback address. `None` if no till has a token, or another program uses the port.
    pub http: Option<SocketAddr>,
    /// The task that ends when the shutdown is complete. Then nothing listens, and the socket's file is removed.
    pub done: JoinHandle<()>,
}

/// The reason why tills cannot connect.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another program answers at the socket.
    #[error("another pos-agent is already listening on {}; stop it, or set a different socket in [till] for this one", socket.display())]
    SocketInUse {
        /// The socket.
        socket: PathBuf,
    },
    /// The path exists but is not a socket.
    #[error("{} is not a socket and was not replaced; move the file, or change socket in [till]", socket.display())]
    NotASocket {
        /// The path.
        socket: PathBuf,
    },
    /// The system refused to open the socket.
    #[error("cannot create the socket {}: {cause}; create its folder, owned by the agent's user, or change socket in \
        [till]", socket.display())]
    Socket {
        /// The socket.
        socket: PathBuf,
        /// The system's error.
        #[source]
        cause: io::Error,
    },
    /// The socket that systemd passes is not the one in the configuration.
    #[error(
        "systemd is listening on {given}, but {key} is {configured}; make both equal: change {key}, or ListenStream= \
         in {unit}"
    )]
    Elsewhere {
        /// The address where systemd listens.
        given: String,
        /// The key in the configuration.
        key: &'static str,
        /// The key's value.
        configured: String,
        /// The systemd unit that listens.
        unit: &'static str,
    },
    /// The socket that systemd passes cannot be used.
    #[error("the socket of {unit} cannot be used: {cause}; run: systemctl restart {unit}")]
    Unusable {
        /// The systemd unit that listens.
        unit: &'static str,
        /// The system's error.
        #[source]
        cause: io::Error,
    },
    /// Users outside its group may open the socket that systemd passes.
    #[error("every user may open {} (mode {mode:o}); set SocketMode=0660 in pos-agent.socket", socket.display())]
    OpenToAll {
        /// The socket.
        socket: PathBuf,
        /// The mode of the socket's file.
        mode: u32,
    },
    /// A till's token cannot be read.
    #[error("the token of till {till}: {cause}")]
    Token {
        /// The till.
        till: String,
        /// The reason, with the remedy.
        #[source]
        cause: SecretError,
    },
}

/// Serves the socket and, if tills have tokens, the loopback address, until `shutdown`. Binds those that systemd has
/// not passed in `given`.
///
/// If the port is not available, the agent retries. Meanwhile it serves the socket, and the status shows the reason.
///
/// # Errors
/// Returns any [`Error`] before it spawns a task.
pub async fn serve(
    config: &config::Till,
    ServedTerminal { operators_required, currency, words }: ServedTerminal,
    given: Sockets,
    commands: mpsc::Sender<Command>,
    progress: ProgressLog,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<Bound, Error> {
    let entrance = Entrance::loopback(&config.token)?;
    let is_ours = given.unix.is_none();
    let unix = match given.unix {
        Some(unix) => bind::given_socket(unix, &config.socket.path)?,
        None => bind::socket(&config.socket.path).await?,
    };
    let tcp = match given.tcp {
        Some(tcp) => Some(Ok(bind::given_port(tcp, config.http)?)),
        None if config.token.is_empty() => None,
        None => Some(TcpListener::bind(config.http).await),
    };
    let address = tcp.as_ref().and_then(|tcp| tcp.as_ref().ok()?.local_addr().ok());
    let refused = tcp.as_ref().and_then(|tcp| tcp.as_ref().err());

    let (stop, stopped) = watch::channel(false);
    let stopped = Stopped(stopped);
    let (port, seen) = watch::channel(tcp.as_ref().map(|_| bind::seen(address.unwrap_or(config.http), refused)));
    let (stops, metrics_at_port) = (stopped.clone(), config.metrics);
    let app =
        App { commands, progress, currency, stopped: stops, port: seen, metrics_at_port, operators_required, words };
    let app = Arc::new(app);
    let local = listen(unix, api::router(Arc::clone(&app), Entrance::Local(config.clone())), stopped.clone());
    let wanted = config.http;
    let remote = tcp.map(|tcp| tokio::spawn(loopback(tcp, wanted, port, api::router(app, entrance), stopped)));
    let socket = config.socket.path.clone();
    let identity = bind::identity(&socket);
    tokio::spawn(async move {
        shutdown.await;
        // If there are no receivers, all tasks have already ended.
        let _ = stop.send(true);
    });
    let done = tokio::spawn(async move {
        local.await;
        if let Some(remote) = remote {
            let _ = remote.await;
        }
        if is_ours && identity.is_some() && bind::identity(&socket) == identity {
            let _ = std::fs::remove_file(&socket);
        }
    });
    Ok(Bound { socket: config.socket.path.clone(), http: address, done })
}

/// Serves the loopback address as soon as it is available.
async fn loopback(
    bound: io::Result<TcpListener>,
    address: SocketAddr,
    port: watch::Sender<Option<PortView>>,
    router: Router,
    mut stopped: Stopped,
) {
    let listener = match bound {
        Ok(listener) => listener,
        Err(refused) => tokio::select! {
            listener = bind::port_once_free(address, refused, &port) => listener,
            () = stopped.wait() => return,
        },
    };
    listen(listener, router, stopped).await;
}

/// The signal that tells all running tasks to shut down.
#[derive(Clone)]
struct Stopped(watch::Receiver<bool>);

impl Stopped {
    async fn wait(&mut self) {
        // An error means that the sender was dropped, which also is a shutdown.
        let _ = self.0.wait_for(|stopped| *stopped).await;
    }
}

async fn listen<L>(mut listener: L, router: Router, mut stopped: Stopped)
where
    L: Listener<Io: HasPeer>,
{
    let places = Arc::new(ConnectionSlots::default());
    let mut served = JoinSet::new();
    loop {
        tokio::select! {
            (stream, _) = listener.accept() => {
                let place = places.enter(stream.peer().0);
                served.spawn(connection(stream, router.clone(), stopped.clone(), place));
                // A new connection is served before the next one is accepted. So it can identify its caller before it
                // is closed to make room for another.
                tokio::task::yield_now().await;
            }
            Some(_) = served.join_next() => {}
            () = stopped.wait() => break,
        }
    }
    drop(listener);
    let _ = timeout(SHUTDOWN_DEADLINE, async { while served.join_next().await.is_some() {} }).await;
}

async fn connection<S>(stream: S, router: Router, mut stopped: Stopped, place: Arc<ConnectionSlot>)
where
    S: AsyncRead + AsyncWrite + HasPeer + Send + Unpin + 'static,
{
    let router = from_peer(stream.peer(), Arc::clone(&place), router);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_DEADLINE)
        .max_buf_size(READ_BUFFER)
        .serve_connection(TokioIo::new(TimedWriter::new(stream, WRITE_DEADLINE)), router);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = place.left() => Ok(()),
        () = stopped.wait() => {
            connection.as_mut().graceful_shutdown();
            timeout(SHUTDOWN_DEADLINE, connection).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a till's connection ended early");
    }
}

/// Adds to each request the caller's user and the connection's slot.
fn from_peer(
    peer: Peer,
    place: Arc<ConnectionSlot>,
    router: Router,
) -> impl Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send> {
    let router = TowerToHyperService::new(router);
    service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        request.extensions_mut().insert(Arc::clone(&place));
        router.call(request)
    })
}
