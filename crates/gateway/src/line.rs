//! The connection to the gateway: one TLS connection with HTTP/1.1, which is kept while it is idle.
//!
//! The code knows exactly when the gateway may have read a request. [`GatewayLines::take`] returns a connection only
//! after its TLS handshake is complete. A request that is handed to [`GatewayLine::exchange`] may come back whole, and
//! then none of its bytes was written (hyper: `TrySendError`). Otherwise its outcome is unknown. This module sends
//! nothing twice.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use chrono::DateTime;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{DATE, HeaderValue, LOCATION};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use zeroize::{Zeroize, Zeroizing};

use super::address::Address;
use super::answer::Reply;
use super::fault::Fault;
use super::files::Files;
use super::tls;
use pos_daemon::wire::{Connector, Stream};

/// The maximum size of an answer, in bytes. The interface's longest response is below 32 KiB; the answer to a query of
/// 500 entries fits.
const MAX_ANSWER: usize = 5 * 256 * 1024;
/// The time for which an idle connection is used. Load balancers close idle connections after 60 s, mobile networks
/// later. A card after that time needs a new handshake; if it fails, the result is a clear "not sent". When a
/// transaction begins, a connection older than half this time is replaced, so that it lasts while the customer looks
/// for the card.
const IDLE: Duration = Duration::from_secs(50);

/// Opens connections, and keeps one while it is idle.
pub(super) struct GatewayLines {
    address: Address,
    files: Arc<Files>,
    connect_timeout: Duration,
    /// The stream below TLS, if the caller provides it.
    way: Option<Connector>,
    idle: Mutex<Option<GatewayLine>>,
}

/// An open connection.
pub(super) struct GatewayLine {
    sender: SendRequest<Body>,
    kept_at: Option<Instant>,
    /// The edition of the files with which the connection was opened.
    edition: u64,
    made: Connection,
    /// The time of the gateway's clock in its latest answer.
    date: Option<HeaderValue>,
    /// The reason why TLS ended. In TLS 1.3, a gateway refuses our certificate only after the handshake.
    ended: TlsEnd,
}

pub(super) type TlsEnd = Arc<Mutex<Option<Fault>>>;

/// The data about the opening of a connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The gateway's address.
    pub to: SocketAddr,
    /// The duration of opening the TCP connection.
    pub tcp: Duration,
    /// The duration of the TLS handshake.
    pub tls: Duration,
    /// The TLS version, for example `TLSv1_3`.
    pub version: String,
    /// The cipher suite, for example `TLS13_AES_256_GCM_SHA384`.
    pub cipher: String,
}

/// The result of a request that was handed to an open connection.
pub(super) enum Exchange {
    /// A whole answer.
    Answered(Reply),
    /// The connection was already closed; none of the request's bytes was written.
    HandedBack(Request<Body>),
    /// The gateway may have read the request, but there is no complete answer.
    Broken(Fault),
}

impl GatewayLines {
    pub(super) fn new(address: Address, files: Arc<Files>, connect_timeout: Duration) -> Self {
        Self { address, files, connect_timeout, way: None, idle: Mutex::new(None) }
    }

    /// Uses streams that the caller provides.
    pub(super) fn over(self, way: Option<Connector>) -> Self {
        Self { way, ..self }
    }

    /// Returns the idle connection or a new one. If this fails, nothing was sent.
    pub(super) async fn take(&self) -> Result<GatewayLine, Fault> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
        match idle.filter(|line| line.is_usable() && line.edition == self.files.edition()) {
            Some(line) => Ok(line),
            None => self.open().await,
        }
    }

    /// Ensures that a connection is open and stays open for a while: the idle one, or a new one. It sends nothing over
    /// the connection. An idle connection counts as lost only when its end was received.
    pub(super) async fn warm(&self) -> Result<(), Fault> {
        let (edition, half) = (self.files.edition(), IDLE / 2);
        let fresh = |line: &GatewayLine| {
            line.is_usable() && line.edition == edition && line.kept_at.is_none_or(|at| at.elapsed() < half)
        };
        if self.idle.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(fresh) {
            return Ok(());
        }
        let line = self.open().await?;
        self.keep(line);
        Ok(())
    }

    /// Keeps a connection whose answer was read to its end, or over which nothing has been sent yet.
    pub(super) fn keep(&self, line: GatewayLine) {
        if !line.sender.is_closed() {
            let kept = GatewayLine { kept_at: Some(Instant::now()), ..line };
            *self.idle.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
        }
    }

    /// Opens a new connection: TCP, TLS, HTTP, within the deadline for connecting.
    pub(super) async fn open(&self) -> Result<GatewayLine, Fault> {
        match timeout(self.connect_timeout, self.connect()).await {
            Ok(opened) => opened,
            Err(_) => Err(Fault::ConnectTimedOut { ms: self.connect_timeout.as_millis() }),
        }
    }

    /// Resolves the gateway's name to its addresses.
    pub(super) async fn resolve(&self) -> Result<Vec<SocketAddr>, Fault> {
        let (host, port) = (self.address.host(), self.address.port());
        let places = lookup_host((host, port)).await.map_err(|_| Fault::NameNotResolved)?;
        Ok(places.collect())
    }

    async fn connect(&self) -> Result<GatewayLine, Fault> {
        self.files.refresh();
        let (tls, edition) = self.files.tls();
        let (stream, to, tcp) = self.wire().await?;
        let start = Instant::now();
        let name = ServerName::try_from(self.address.host().to_owned()).map_err(|_| Fault::NoHost)?;
        let connector = TlsConnector::from(Arc::clone(&tls.config));
        let stream = connector.connect(name, stream).await.map_err(|error| no_handshake(&error))?;
        let session = stream.get_ref().1;
        let version = session.protocol_version().map_or_else(String::new, |version| format!("{version:?}"));
        let cipher = session.negotiated_cipher_suite().map_or_else(String::new, |suite| format!("{:?}", suite.suite()));
        let made = Connection { to, tcp, tls: start.elapsed(), version, cipher };
        let ended = TlsEnd::default();
        let stream = AlertRecorder { stream, ended: Arc::clone(&ended) };
        GatewayLine::over(stream, made, edition, ended).await
    }

    /// Opens the stream below TLS. Also returns its address and the duration.
    async fn wire(&self) -> Result<(Box<dyn Stream>, SocketAddr, Duration), Fault> {
        if let Some(way) = &self.way {
            let stream = way().await.map_err(|error| no_connection(&error))?;
            return Ok((stream, SocketAddr::from(([0; 4], self.address.port())), Duration::ZERO));
        }
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for place in self.resolve().await? {
            let start = Instant::now();
            match TcpStream::connect(place).await {
                Ok(stream) => {
                    // A request is one write, so it must be sent without delay.
                    stream.set_nodelay(true).map_err(|error| no_connection(&error))?;
                    return Ok((Box::new(stream), place, start.elapsed()));
                }
                Err(error) => last = error,
            }
        }
        Err(no_connection(&last))
    }
}

impl GatewayLine {
    /// Starts HTTP over an open stream.
    pub(super) async fn over(
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        made: Connection,
        edition: u64,
        ended: TlsEnd,
    ) -> Result<Self, Fault> {
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|_| Fault::NoHttp)?;
        // The task ends with the sender, or when the gateway closes the connection. The exchange reports any fault.
        tokio::spawn(async move { drop(connection.await) });
        Ok(Self { sender, kept_at: None, edition, made, date: None, ended })
    }

    /// Checks whether the connection has been idle. If so, the gateway may have closed it in the meantime.
    pub(super) fn was_kept(&self) -> bool {
        self.kept_at.is_some()
    }

    fn is_usable(&self) -> bool {
        !self.sender.is_closed() && self.kept_at.is_none_or(|at| at.elapsed() < IDLE)
    }

    /// Returns the data about the opening of this connection.
    pub(super) fn connection(&self) -> &Connection {
        &self.made
    }

    /// Returns the `Date` of the latest answer, in seconds since 1970.
    pub(super) fn gateway_unix_s(&self) -> Option<i64> {
        let date = self.date.as_ref()?.to_str().ok()?;
        DateTime::parse_from_rfc2822(date).ok().map(|date| date.timestamp())
    }

    /// Sends one request and reads its complete answer.
    pub(super) async fn exchange(&mut self, request: Request<Body>) -> Exchange {
        if self.sender.ready().await.is_err() {
            return Exchange::HandedBack(request);
        }
        match self.sender.try_send_request(request).await {
            Ok(response) => {
                self.date = response.headers().get(DATE).cloned();
                whole(response).await
            }
            Err(mut error) => match error.take_message() {
                Some(request) => Exchange::HandedBack(request),
                None => Exchange::Broken(self.why_ended().unwrap_or(Fault::AnswerNotWhole)),
            },
        }
    }

    /// Returns the gateway's reason for ending TLS, if it gave one.
    pub(super) fn why_ended(&self) -> Option<Fault> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Reads the answer with its body, of which it never holds more than [`MAX_ANSWER`] bytes.
async fn whole(response: Response<Incoming>) -> Exchange {
    let too_long = || Exchange::Broken(Fault::AnswerTooLong { most: MAX_ANSWER });
    let (head, mut incoming) = response.into_parts();
    if incoming.size_hint().lower() > MAX_ANSWER as u64 {
        return too_long();
    }
    let location = head.headers.get(LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let mut body = Zeroizing::new(Vec::new());
    loop {
        match std::future::poll_fn(|context| Pin::new(&mut incoming).poll_frame(context)).await {
            None => {
                let body = std::mem::take(&mut *body);
                return Exchange::Answered(Reply { status: head.status.as_u16(), location, body });
            }
            Some(Err(_)) => return Exchange::Broken(Fault::AnswerNotWhole),
            Some(Ok(frame)) => {
                let Some(data) = frame.data_ref() else { continue };
                if body.len() + data.len() > MAX_ANSWER {
                    return too_long();
                }
                append(&mut body, data);
            }
        }
    }
}

/// Appends `data`. When the body grows, no unwiped copy is left behind.
fn append(body: &mut Vec<u8>, data: &[u8]) {
    if body.capacity() - body.len() < data.len() {
        let mut longer = Vec::with_capacity((body.len() + data.len()).max(body.capacity() * 2));
        longer.extend_from_slice(body);
        body.zeroize();
        *body = longer;
    }
    body.extend_from_slice(data);
}

/// The TLS stream, which records why it ended. HTTP treats an alert on an idle connection as the end of the connection,
/// and drops the reason.
struct AlertRecorder {
    stream: TlsStream<Box<dyn Stream>>,
    ended: TlsEnd,
}

impl AsyncRead for AlertRecorder {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if let Poll::Ready(Err(error)) = &read
            && let Some(fault) = tls_fault(error)
        {
            *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(tls::explain(fault));
        }
        read
    }
}

impl AsyncWrite for AlertRecorder {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// A request's body in one piece.
#[derive(Default)]
pub(super) struct Body(Option<Bytes>);

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self(Some(bytes))
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

fn no_connection(error: &io::Error) -> Fault {
    use io::ErrorKind as E;
    let cause = error.to_string();
    match error.kind() {
        E::ConnectionRefused => Fault::ConnectionRefused,
        E::HostUnreachable | E::NetworkUnreachable | E::NetworkDown | E::AddrNotAvailable => Fault::NoRoute { cause },
        _ => Fault::ConnectionLost { cause },
    }
}

/// Returns the fault of a failed handshake.
fn no_handshake(error: &io::Error) -> Fault {
    match tls_fault(error) {
        Some(fault) => tls::explain(fault),
        None => Fault::ConnectionLost { cause: error.to_string() },
    }
}

fn tls_fault(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    /// Opens a connection without TLS to a gateway that sends the given bytes.
    async fn line() -> (GatewayLine, DuplexStream) {
        let (ours, gateways) = duplex(64 * 1024);
        let made = Connection {
            to: SocketAddr::from(([127, 0, 0, 1], 443)),
            tcp: Duration::ZERO,
            tls: Duration::ZERO,
            version: String::new(),
            cipher: String::new(),
        };
        (GatewayLine::over(ours, made, 0, TlsEnd::default()).await.unwrap(), gateways)
    }

    /// Returns the result of a request with this answer.
    async fn exchanged(answer: Vec<u8>) -> Exchange {
        let (mut line, mut gateway) = line().await;
        let serve = async move {
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(gateway.read_u8().await.unwrap());
            }
            // The client closes the connection when it has read enough.
            let _ = gateway.write_all(&answer).await;
            gateway
        };
        let request = Request::builder().uri("/v1/query").header("host", "gateway").body(Body::default()).unwrap();
        let (exchange, _gateway) = tokio::join!(line.exchange(request), serve);
        exchange
    }

    #[tokio::test]
    async fn no_more_of_an_answer_is_held_than_the_longest() {
        let whole =
            |length: usize| format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{}", "x".repeat(length));
        let in_pieces = |length: usize| {
            let pieces: Vec<usize> = vec![length / 4, length / 4, length / 4, length - length / 4 * 3];
            let pieces: String =
                pieces.iter().map(|piece| format!("{piece:x}\r\n{}\r\n", "x".repeat(*piece))).collect();
            format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{pieces}0\r\n\r\n")
        };
        for answer in [whole(MAX_ANSWER), in_pieces(MAX_ANSWER)] {
            let Exchange::Answered(reply) = exchanged(answer.into_bytes()).await else { panic!("the longest is read") };
            assert_eq!((reply.status, reply.body.len()), (200, MAX_ANSWER));
        }
        for answer in [whole(MAX_ANSWER + 1), in_pieces(MAX_ANSWER + 1), in_pieces(MAX_ANSWER * 2)] {
            let exchange = exchanged(answer.into_bytes()).await;
            assert!(matches!(exchange, Exchange::Broken(Fault::AnswerTooLong { most: MAX_ANSWER })));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_line_is_trusted_for_fifty_seconds_as_long_as_it_stands() {
        let (line, gateway) = line().await;
        assert!(line.is_usable() && !line.was_kept(), "a new one");
        let line = GatewayLine { kept_at: Some(Instant::now()), ..line };
        assert!(line.was_kept());
        tokio::time::advance(IDLE - Duration::from_millis(1)).await;
        assert!(line.is_usable());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(!line.is_usable(), "a load balancer may have closed it");

        let line = GatewayLine { kept_at: Some(Instant::now()), ..line };
        drop(gateway);
        while !line.sender.is_closed() {
            tokio::task::yield_now().await;
        }
        assert!(!line.is_usable(), "the gateway has hung up");
    }
}
