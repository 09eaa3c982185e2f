//! Connections: accepted on each address, with TLS or without, each with its place and its deadlines.
//!
//! | what is waited for | how long |
//! |---|---|
//! | the TLS handshake | `HANDSHAKE` |
//! | a request's head, from the connection or the last answer on | `HEADER_DEADLINE` |
//! | the body of a request | 10 s, of a stranger 3 s (`passage`) |
//! | an answer to be taken | `WRITE_DEADLINE` |

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

use crate::front::Front;
use crate::guard::Way;
use crate::nexo::Nexo;
use crate::places::{Place, Places};
use crate::problem::Answer;

const HANDSHAKE: Duration = Duration::from_secs(10);
/// Also closes idle connections.
const HEADER_DEADLINE: Duration = Duration::from_secs(10);
const WRITE_DEADLINE: Duration = Duration::from_secs(10);
/// The head of one request, and what is read ahead of it.
const READ_BUFFER: usize = 16 * 1024;
/// Lines of a head: browsers send some twenty.
const MOST_HEADERS: usize = 64;
/// How long answers under way may take after the shutdown was asked for.
const SHUTDOWN_DEADLINE: Duration = Duration::from_secs(2);
/// After the system refused a connection: too many files are open.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// Who answers the requests of a listener.
#[derive(Clone)]
pub(crate) enum Served {
    /// The page, paired tills, pairing.
    Front(Arc<Front>),
    /// Tills that speak nexo.
    Nexo(Arc<Nexo>),
}

impl Served {
    async fn answer(&self, request: Request<Incoming>, way: Way, place: &Arc<Place>) -> Answer {
        match self {
            Self::Front(front) => front.answer(request, way, place).await,
            Self::Nexo(nexo) => nexo.answer(request, way, place).await,
        }
    }

    /// Whether a connection from there is taken at all.
    fn may_connect(&self, peer: SocketAddr) -> bool {
        match self {
            Self::Front(_) => true,
            Self::Nexo(nexo) => nexo.may_connect(peer),
        }
    }
}

/// Where a till's connection may come from: this board, where nothing else is said.
pub(crate) fn may_connect(peer: SocketAddr, from: &[IpAddr]) -> bool {
    let ip = peer.ip().to_canonical();
    if from.is_empty() { ip.is_loopback() } else { from.iter().any(|known| known.to_canonical() == ip) }
}

/// An address that is listened on.
pub(crate) struct Listening {
    pub(crate) listener: TcpListener,
    /// Changes when the certificate is renewed; `None` without TLS.
    pub(crate) tls: Option<watch::Receiver<Arc<ServerConfig>>>,
}

impl Listening {
    pub(crate) async fn bind(
        address: SocketAddr,
        tls: Option<watch::Receiver<Arc<ServerConfig>>>,
        section: &str,
    ) -> Result<Self, String> {
        let listener = TcpListener::bind(address).await.map_err(|error| {
            format!(
                "{address} cannot be listened on: {error}; stop the other program, or change {section} in front.toml"
            )
        })?;
        Ok(Self { listener, tls })
    }

    /// As a person would type it.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        self.listener.local_addr().map_or_else(|_| scheme.to_owned(), |address| format!("{scheme}://{address}"))
    }

    /// Serves until the shutdown, and then what is under way.
    pub(crate) async fn serve(self, served: Served, places: Arc<Places>, mut stopped: watch::Receiver<bool>) {
        let mut tasks = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => {
                    let Ok((stream, peer)) = accepted else {
                        sleep(ACCEPT_AGAIN).await;
                        continue;
                    };
                    if !served.may_connect(peer) {
                        tracing::warn!(%peer, "a connection from an address that is not in from of [nexo] was closed");
                        continue;
                    }
                    // A connection that has no address has ended already.
                    let Ok(reached) = stream.local_addr() else { continue };
                    let way = Way { peer, reached, tls: self.tls.is_some() };
                    let Some(place) = places.enter(way.whence()) else { continue };
                    let tls = self.tls.as_ref().map(|tls| Arc::clone(&tls.borrow()));
                    let connection = Connection { served: served.clone(), place, stopped: stopped.clone() };
                    tasks.spawn(connection.serve(stream, way, tls));
                    // What is connected is heard before the next one comes, and has said who it is before it could have
                    // to leave.
                    tokio::task::yield_now().await;
                }
                Some(_) = tasks.join_next() => {}
                () = told(&mut stopped) => break,
            }
        }
        let _ = timeout(SHUTDOWN_DEADLINE, async { while tasks.join_next().await.is_some() {} }).await;
    }
}

/// Returns when the shutdown was asked for.
async fn told(stopped: &mut watch::Receiver<bool>) {
    // An error means that the other end is gone, which is a shutdown too.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

struct Connection {
    served: Served,
    place: Arc<Place>,
    stopped: watch::Receiver<bool>,
}

impl Connection {
    async fn serve(self, stream: TcpStream, way: Way, tls: Option<Arc<ServerConfig>>) {
        // An answer goes out as it is written; without it an event waits for the one before to be acknowledged.
        let _ = stream.set_nodelay(true);
        let stream = TimedWriter::new(stream, WRITE_DEADLINE);
        let ended = match tls {
            None => self.requests(stream, way).await,
            Some(tls) => {
                let handshake = timeout(HANDSHAKE, TlsAcceptor::from(tls).accept(stream));
                let shaken = tokio::select! {
                    shaken = handshake => shaken,
                    () = self.place.left() => return,
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
        let Self { served, place, mut stopped } = self;
        let service = {
            let place = Arc::clone(&place);
            service_fn(move |request| {
                let (served, place) = (served.clone(), Arc::clone(&place));
                async move { Ok::<_, Infallible>(served.answer(request, way, &place).await) }
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
            () = place.left() => Ok(()),
            () = told(&mut stopped) => {
                connection.as_mut().graceful_shutdown();
                timeout(SHUTDOWN_DEADLINE, connection).await.unwrap_or(Ok(()))
            }
        };
        ended.map_err(|error| error.to_string())
    }
}
