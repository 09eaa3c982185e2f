//! Connections on each address, with or without TLS. Each connection has a slot and deadlines.
//!
//! | wait for | time limit |
//! |---|---|
//! | the TLS handshake | `HANDSHAKE` |
//! | a request's head, counted from the connection or from the last answer | `HEADER_DEADLINE` |
//! | the body of a request | 10 s, or 3 s from an unidentified caller (`forward`) |
//! | the peer to read an answer | `WRITE_DEADLINE` |

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use pos_daemon::writing::TimedWriter;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::first_boot::FirstBoot;
use crate::front::Front;
use crate::guard::Way;
use crate::nexo::Nexo;
use crate::problem::Answer;
use crate::slots::{Slot, Slots};
use crate::task;

const HANDSHAKE: Duration = Duration::from_secs(10);
/// The time limit for a request's head. It also closes idle connections.
const HEADER_DEADLINE: Duration = Duration::from_secs(10);
const WRITE_DEADLINE: Duration = Duration::from_secs(10);
/// The size of the read buffer in bytes. It holds the head of one request, and data that was read ahead.
const READ_BUFFER: usize = 16 * 1024;
/// The largest number of headers in a request. Browsers send about twenty.
const MOST_HEADERS: usize = 64;
/// The time within which answers in progress must end after a shutdown request.
const SHUTDOWN_DEADLINE: Duration = Duration::from_secs(2);
/// The pause after a connection could not be accepted because too many files are open.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// The service that answers the requests of a listener.
#[derive(Clone)]
pub(crate) enum Served {
    /// The page, paired tills, and pairing.
    Front(Arc<Front>),
    /// Tills that speak nexo.
    Nexo(Arc<Nexo>),
    /// The page of the first boot.
    FirstBoot(Arc<FirstBoot>),
}

impl Served {
    async fn answer(&self, request: Request<Incoming>, way: Way, slot: &Arc<Slot>) -> Answer {
        match self {
            Self::Front(front) => front.answer(request, way, slot).await,
            Self::Nexo(nexo) => nexo.answer(request, way, slot).await,
            Self::FirstBoot(first_boot) => first_boot.answer(request, way, slot).await,
        }
    }

    /// Checks whether a connection from this peer is accepted.
    fn may_connect(&self, peer: SocketAddr) -> bool {
        match self {
            Self::Front(_) | Self::FirstBoot(_) => true,
            Self::Nexo(nexo) => nexo.may_connect(peer),
        }
    }
}

/// Checks the source of a till's connection. An empty list permits only this board.
pub(crate) fn may_connect(peer: SocketAddr, from: &[IpAddr]) -> bool {
    let ip = peer.ip().to_canonical();
    if from.is_empty() { ip.is_loopback() } else { from.iter().any(|known| known.to_canonical() == ip) }
}

/// An address that the front listens on.
pub(crate) struct Listening {
    pub(crate) listener: TcpListener,
    /// The TLS configuration, which changes when the certificate is renewed; `None` without TLS.
    pub(crate) tls: Option<watch::Receiver<Arc<ServerConfig>>>,
}

impl Listening {
    pub(crate) async fn bind(
        address: SocketAddr,
        tls: Option<watch::Receiver<Arc<ServerConfig>>>,
        setting: &str,
    ) -> Result<Self, String> {
        let listener = TcpListener::bind(address).await.map_err(|error| {
            format!("cannot listen on {address}: {error}; stop the other program, or change {setting}")
        })?;
        Ok(Self { listener, tls })
    }

    /// Returns the address as a person would type it.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        self.listener.local_addr().map_or_else(|_| scheme.to_owned(), |address| format!("{scheme}://{address}"))
    }

    /// Serves until the shutdown and then finishes the requests in progress.
    pub(crate) async fn serve(self, served: Served, slots: Arc<Slots>, mut stopped: watch::Receiver<bool>) {
        let mut tasks = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => {
                    let Ok((stream, peer)) = accepted else {
                        sleep(ACCEPT_AGAIN).await;
                        continue;
                    };
                    if !served.may_connect(peer) {
                        tracing::warn!(%peer, "a connection was closed: its address is not allowed by from in [nexo]");
                        continue;
                    }
                    // A connection without an address has already ended.
                    let Ok(reached) = stream.local_addr() else { continue };
                    let way = Way { peer, reached, tls: self.tls.is_some() };
                    let Some(slot) = slots.enter(way.whence()) else { continue };
                    let tls = self.tls.as_ref().map(|tls| Arc::clone(&tls.borrow()));
                    let connection = Connection { served: served.clone(), slot, stopped: stopped.clone() };
                    task::spawn_in(&mut tasks, connection.serve(stream, way, tls));
                    // The new connection runs before the next one is accepted, so its caller can identify itself before
                    // the slot is lost.
                    tokio::task::yield_now().await;
                }
                Some(_) = tasks.join_next() => {}
                () = until_stopped(&mut stopped) => break,
            }
        }
        let _ = timeout(SHUTDOWN_DEADLINE, async { while tasks.join_next().await.is_some() {} }).await;
    }
}

/// Waits until the shutdown is requested.
pub(crate) async fn until_stopped(stopped: &mut watch::Receiver<bool>) {
    // An error means that the sender is gone, which is also a shutdown.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

struct Connection {
    served: Served,
    slot: Arc<Slot>,
    stopped: watch::Receiver<bool>,
}

impl Connection {
    async fn serve(self, stream: TcpStream, way: Way, tls: Option<Arc<ServerConfig>>) {
        // Each answer is sent immediately. Otherwise an event would wait until the peer acknowledges the previous one.
        let _ = stream.set_nodelay(true);
        let stream = TimedWriter::new(stream, WRITE_DEADLINE);
        let ended = match tls {
            None => self.requests(stream, way).await,
            Some(tls) => {
                let handshake = timeout(HANDSHAKE, TlsAcceptor::from(tls).accept(stream));
                let shaken = tokio::select! {
                    shaken = handshake => shaken,
                    () = self.slot.left() => return,
                };
                match shaken {
                    Ok(Ok(stream)) => self.requests(stream, way).await,
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(_) => Err("no handshake in time".to_owned()),
                }
            }
        };
        if let Err(error) = ended {
            tracing::debug!(peer = %way.peer, error, "a connection ended early");
        }
    }

    async fn requests<S>(self, stream: S, way: Way) -> Result<(), String>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let Self { served, slot, mut stopped } = self;
        let service = {
            let slot = Arc::clone(&slot);
            service_fn(move |request| {
                let (served, slot) = (served.clone(), Arc::clone(&slot));
                async move { Ok::<_, Infallible>(served.answer(request, way, &slot).await) }
            })
        };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_DEADLINE)
            .max_buf_size(READ_BUFFER)
            .max_headers(MOST_HEADERS)
            .serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = slot.left() => Ok(()),
            () = until_stopped(&mut stopped) => {
                connection.as_mut().graceful_shutdown();
                timeout(SHUTDOWN_DEADLINE, connection).await.unwrap_or(Ok(()))
            }
        };
        ended.map_err(|error| error.to_string())
    }
}
