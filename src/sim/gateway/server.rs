//! The wire: TCP, TLS, HTTP/1.1, the access token and the paths (behaviour: Endpoints, Authentication).

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::answer;
use super::form::Invalid;
use super::host::{Delivery, Host};
use super::metered::{self, Clock, Metered};
use super::{Counters, Mode, Options, Times};

/// Longest body of a request; the largest that the interface allows at the counter is about 12 kB.
const MAX_BODY: usize = 64 << 10;

/// What all connections share.
pub(super) struct Shared {
    options: Arc<Options>,
    host: Mutex<Host>,
    bytes: Arc<metered::Bytes>,
    connections: AtomicU64,
    handshakes: AtomicU64,
    requests: AtomicU64,
    last_payment: Mutex<Option<(Instant, Arc<Clock>)>>,
    /// The latest payment as it was sent; kept in [`Mode::Fast`] only.
    last_request: Mutex<Vec<u8>>,
}

/// An order to the running server.
pub(super) enum Control {
    /// Refuse connections and cut the open ones, or take connections again.
    Offline(bool, oneshot::Sender<io::Result<()>>),
}

impl Shared {
    pub(super) fn new(options: Arc<Options>) -> Self {
        Self {
            host: Mutex::new(Host::new(Arc::clone(&options))),
            options,
            bytes: Arc::default(),
            connections: AtomicU64::new(0),
            handshakes: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            last_payment: Mutex::new(None),
            last_request: Mutex::default(),
        }
    }

    pub(super) fn host(&self) -> MutexGuard<'_, Host> {
        // A test that panicked while it held the lock has failed already.
        self.host.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn counters(&self) -> Counters {
        Counters {
            connections: self.connections.load(Ordering::Relaxed),
            handshakes: self.handshakes.load(Ordering::Relaxed),
            requests: self.requests.load(Ordering::Relaxed),
            bytes_in: self.bytes.received.load(Ordering::Relaxed),
            bytes_out: self.bytes.sent.load(Ordering::Relaxed),
        }
    }

    pub(super) fn last_payment(&self) -> Option<Times> {
        let last = self.last_payment.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().map(|(request_in, clock)| Times { request_in: *request_in, answer_out: clock.first_write() })
    }

    pub(super) fn last_request(&self) -> Vec<u8> {
        self.last_request.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep_request(&self, head: &Parts, body: &[u8]) {
        let mut request = format!("{} {} HTTP/1.1\r\n", head.method, head.uri).into_bytes();
        for (name, value) in &head.headers {
            request.extend_from_slice(name.as_str().as_bytes());
            request.extend_from_slice(b": ");
            request.extend_from_slice(value.as_bytes());
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        request.extend_from_slice(body);
        *self.last_request.lock().unwrap_or_else(PoisonError::into_inner) = request;
    }
}

/// Serves until the other end of `control` is dropped.
pub(super) async fn serve(
    listener: TcpListener,
    address: SocketAddr,
    tls: TlsAcceptor,
    shared: Arc<Shared>,
    mut control: mpsc::Receiver<Control>,
) {
    let mut listener = Some(listener);
    let mut connections = JoinSet::new();
    loop {
        let accept = async {
            match &listener {
                Some(listener) => listener.accept().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            accepted = accept => if let Ok((stream, _)) = accepted {
                shared.connections.fetch_add(1, Ordering::Relaxed);
                connections.spawn(connection(stream, tls.clone(), Arc::clone(&shared)));
            },
            Some(_) = connections.join_next() => {}
            order = control.recv() => match order {
                None => return,
                Some(Control::Offline(true, done)) => {
                    listener = None;
                    connections.shutdown().await;
                    let _ = done.send(Ok(()));
                }
                Some(Control::Offline(false, done)) => {
                    let bound = if listener.is_some() { Ok(()) } else {
                        TcpListener::bind(address).await.map(|bound| listener = Some(bound))
                    };
                    let _ = done.send(bound);
                }
            },
        }
    }
}

async fn connection(stream: TcpStream, tls: TlsAcceptor, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let clock = Arc::new(Clock::default());
    let metered = Metered::new(stream, Arc::clone(&shared.bytes), Arc::clone(&clock));
    let stream = match tls.accept(metered).await {
        Ok(stream) => stream,
        Err(why) => return tracing::debug!("gateway: no TLS: {why}"),
    };
    shared.handshakes.fetch_add(1, Ordering::Relaxed);
    let service = service_fn(|request| handle(request, Arc::clone(&shared), Arc::clone(&clock)));
    if let Err(why) = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!("gateway: connection ended: {why}");
    }
}

/// The line is to be cut.
#[derive(Debug, thiserror::Error)]
#[error("the outcome of this payment cuts the line")]
struct CutLine;

async fn handle(
    request: Request<Incoming>,
    shared: Arc<Shared>,
    clock: Arc<Clock>,
) -> Result<Response<Reply>, CutLine> {
    shared.requests.fetch_add(1, Ordering::Relaxed);
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(axum::body::Body::new(body), MAX_BODY).await;
    let query = head.uri.query().unwrap_or_default().as_bytes();
    let path = head.uri.path();
    let payment = head.method == Method::POST && path == "/v1/payments";
    if payment && let Some(read) = clock.last_read() {
        *shared.last_payment.lock().unwrap_or_else(PoisonError::into_inner) = Some((read, Arc::clone(&clock)));
    }
    if payment && shared.options.mode == Mode::Fast {
        shared.keep_request(&head, body.as_deref().unwrap_or_default());
    }
    let delivery = if head.method == Method::GET && path == "/" {
        Delivery::Raw(200, b"{}".to_vec())
    } else if let Err(refused) = authorized(&head.headers, &shared.options.token) {
        refused
    } else {
        route(&shared, &head.method, path, query, &head.headers, body.as_deref().ok())
    };
    deliver(delivery).await
}

/// Finds what the path and the method mean. A method that a path does not take is an endpoint that does not exist.
fn route(
    shared: &Shared,
    method: &Method,
    path: &str,
    query: &[u8],
    headers: &HeaderMap,
    body: Option<&[u8]>,
) -> Delivery {
    let id = path.strip_prefix("/v1/payments/").filter(|id| is_id(id));
    let mut host = shared.host();
    match (method, path, id) {
        (&Method::GET, _, Some(id)) => host.retrieve(id, query),
        (&Method::GET, "/v1/query", _) => host.query(query),
        (&Method::POST, "/v1/payments", _) | (&Method::POST, _, Some(_)) => match (check_form(headers, query), body) {
            (Err(invalid), _) => host.refuse(&invalid),
            (Ok(()), None) => host.refuse(&Invalid::new("body", "too long, or ends early")),
            (Ok(()), Some(body)) => match id {
                Some(id) => host.referencing(id, body),
                None => host.payment(body),
            },
        },
        _ => answer::not_found(),
    }
}

/// Exactly 32 letters and digits.
fn is_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|c| c.is_ascii_alphanumeric())
}

/// The access token (behaviour: Authentication, 2 and 5).
fn authorized(headers: &HeaderMap, token: &str) -> Result<(), Delivery> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let (Some(header), None) = (sent.next(), sent.next()) else { return Err(answer::unauthorized()) };
    let said = header.to_str().ok().and_then(|value| value.split_once(' '));
    match said {
        Some((scheme, said)) if scheme.eq_ignore_ascii_case("bearer") && !said.is_empty() && !said.contains(' ') => {
            if said == token {
                Ok(())
            } else {
                Err(answer::forbidden())
            }
        }
        _ => Err(answer::unauthorized()),
    }
}

/// Request data are body parameters, form-encoded and UTF-8 (data-model: What the service does; behaviour: Authentication, 6).
fn check_form(headers: &HeaderMap, query: &[u8]) -> Result<(), Invalid> {
    if !query.is_empty() {
        return Err(Invalid::new("query string", "parameters of a POST belong into its body"));
    }
    let said = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_ascii_lowercase();
    let mut parts = said.split(';').map(str::trim);
    let form = parts.next() == Some("application/x-www-form-urlencoded");
    let utf8 = parts.all(|parameter| matches!(parameter, "charset=utf-8" | "charset=\"utf-8\""));
    if form && utf8 {
        Ok(())
    } else {
        Err(Invalid::new("Content-Type", "must be application/x-www-form-urlencoded; charset=UTF-8"))
    }
}

async fn deliver(delivery: Delivery) -> Result<Response<Reply>, CutLine> {
    const JSON: HeaderValue = HeaderValue::from_static("application/json;charset=UTF-8");
    let (status, reply) = match delivery {
        Delivery::Answer(status, value) => (status, Reply::whole(value.to_string().into_bytes())),
        Delivery::Raw(status, bytes) => (status, Reply::whole(bytes)),
        Delivery::Half(bytes) => return Ok(half(bytes)),
        Delivery::Redirect(location) => {
            let mut response = Response::new(Reply::whole(Vec::new()));
            *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
            let location = HeaderValue::try_from(location).expect("made of a path and letters and digits");
            response.headers_mut().insert(LOCATION, location);
            return Ok(response);
        }
        Delivery::Silence => std::future::pending().await,
        Delivery::Cut => return Err(CutLine),
    };
    let mut response = Response::new(reply);
    *response.status_mut() = StatusCode::from_u16(status).expect("only documented statuses are used");
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    Ok(response)
}

/// Announces the whole body, sends half of it and cuts the line.
fn half(mut bytes: Vec<u8>) -> Response<Reply> {
    let announced = bytes.len();
    bytes.truncate(announced / 2);
    let steps = [Step::Data(bytes.into()), Step::Flush, Step::Cut];
    let mut response = Response::new(Reply { steps: steps.into() });
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(announced));
    response
}

/// The body of an answer.
struct Reply {
    steps: VecDeque<Step>,
}

enum Step {
    Data(Bytes),
    /// Lets the bytes so far go out.
    Flush,
    Cut,
}

impl Reply {
    fn whole(bytes: Vec<u8>) -> Self {
        Self { steps: if bytes.is_empty() { VecDeque::new() } else { [Step::Data(bytes.into())].into() } }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = CutLine;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, CutLine>>> {
        match self.steps.pop_front() {
            Some(Step::Data(bytes)) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            Some(Step::Flush) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Some(Step::Cut) => Poll::Ready(Some(Err(CutLine))),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.steps.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        match self.steps.iter().collect::<Vec<_>>().as_slice() {
            [] => SizeHint::with_exact(0),
            [Step::Data(bytes)] => SizeHint::with_exact(bytes.len() as u64),
            _ => SizeHint::default(),
        }
    }
}
