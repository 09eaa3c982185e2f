//! The control socket of a running front, for people at the terminal: `pos-front pair`, `status` and `webhook`.
//!
//! The control socket is a Unix socket for HTTP with JSON. It is in a folder that only the front's user and root can
//! enter. Every user who can open the socket may use all its commands.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1 as client;
use hyper::header::HOST;
use hyper::server::conn::http1 as server;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use pos_daemon::access::way_in;
use serde::Deserialize;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use crate::forward::event_stream;
use crate::front::Front;
use crate::pairing::PairError;
use crate::problem::{Answer, Problem, json_answer};
use crate::task;

const PATIENCE: Duration = Duration::from_secs(5);
const MOST: usize = 64 * 1024;
/// The largest answer in bytes: the deliveries of four webhooks.
const MOST_ANSWERED: usize = 512 * 1024;
/// The time limit of a webhook's test, which itself ends after 15 s.
const TESTED_WITHIN: Duration = Duration::from_secs(20);
/// The largest number of trace lines that wait for the reader.
const TRACED: usize = 64;

/// Formats a time as in RFC 3339.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    let time = OffsetDateTime::from(time).replace_nanosecond(0).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    time.format(&Rfc3339).unwrap_or_default()
}

/// Returns a time in seconds since 1970.
pub(crate) fn unix_s(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Opens the socket, and replaces a socket file that an earlier front left.
pub(crate) fn bind(path: &Path) -> io::Result<UnixListener> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    if std::os::unix::net::UnixStream::connect(path).is_ok() {
        return Err(io::Error::new(io::ErrorKind::AddrInUse, "another pos-front is using this socket; stop that one"));
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Answers every user who can open the socket. Never returns.
pub(crate) async fn serve(listener: UnixListener, front: Arc<Front>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let front = Arc::clone(&front);
        task::spawn(async move {
            let answered = service_fn(move |request| {
                let front = Arc::clone(&front);
                async move { Ok::<_, std::convert::Infallible>(answer(&front, request).await) }
            });
            let connection = server::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .serve_connection(TokioIo::new(stream), answered);
            // A caller that closes the connection needs no answer.
            let _ = connection.await;
        });
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Asked {
    code: String,
    till: Option<String>,
    id: String,
    webhook: Option<String>,
    callback: Option<String>,
}

async fn answer(front: &Front, request: Request<Incoming>) -> Answer {
    if (request.method(), request.uri().path()) == (&Method::GET, "/trace") {
        return trace(front);
    }
    carried_out(front, request).await.unwrap_or_else(Answer::from)
}

/// Streams all messages to and from tills that speak a till protocol, beginning with the next one.
fn trace(front: &Front) -> Answer {
    let (sender, stream) = mpsc::channel(TRACED);
    for till in &front.tills {
        let (mut lines, sender) = (till.trace(), sender.clone());
        task::spawn(async move {
            loop {
                let line = match lines.recv().await {
                    Ok(line) => line,
                    Err(RecvError::Lagged(count)) => format!("… {count} lines were lost here\n"),
                    Err(RecvError::Closed) => return,
                };
                if sender.send(Bytes::from(line)).await.is_err() {
                    return;
                }
            }
        });
    }
    event_stream(stream)
}

async fn carried_out(front: &Front, request: Request<Incoming>) -> Result<Answer, Problem> {
    let (head, body) = request.into_parts();
    let (pairings, now) = (&front.pairings, Instant::now());
    let asked = async {
        let body = timeout(PATIENCE, Limited::new(body, MOST).collect()).await.ok().and_then(Result::ok);
        let body = body.ok_or_else(|| Problem::malformed("the body is incomplete"))?.to_bytes();
        serde_json::from_slice::<Asked>(&body).map_err(|error| Problem::malformed(error.to_string()))
    };
    let said = match (&head.method, head.uri.path()) {
        (&Method::GET, "/status") => front.status(),
        (&Method::GET, "/pair") => json!({ "waiting": pairings.waiting(now), "paired": pairings.paired(now),
                                         "openForS": pairings.open_for(now).map(|left| left.as_secs()) }),
        (&Method::POST, "/pair/open") => json!({ "openForS": pairings.open(now).as_secs() }),
        (&Method::POST, "/pair/approve") => {
            let Asked { code, till, .. } = asked.await?;
            json!({ "till": pairings.approve(&code, till.as_deref(), now)? })
        }
        (&Method::POST, "/pair/refuse") => {
            pairings.refuse(&asked.await?.code, now)?;
            json!({})
        }
        (&Method::POST, "/pair/revoke") => {
            pairings.revoke(&asked.await?.till.unwrap_or_default(), now)?;
            json!({})
        }
        (&Method::GET, "/pair/browser") => json!({ "browsers": front.browsers.list(None) }),
        (&Method::POST, "/pair/browser/open") => front.browser_link(None)?,
        (&Method::POST, "/pair/browser/revoke") => {
            front.browsers.remove(&asked.await?.id)?;
            json!({})
        }
        (&Method::POST, "/webhook/test") => {
            let Asked { webhook, callback, .. } = asked.await?;
            let webhook = front.webhook(&webhook.unwrap_or_default())?;
            let callback = callback.map(|text| front.callbacks.for_test(webhook.name(), &text)).transpose()?;
            webhook.test(callback.as_deref(), front.now).await?
        }
        (&Method::POST, "/webhook/list") => {
            let webhooks: Vec<Value> = match asked.await?.webhook {
                Some(name) => vec![front.webhook(&name)?.deliveries()],
                None => front.webhooks.iter().map(|webhook| webhook.deliveries()).collect(),
            };
            json!({ "webhooks": webhooks })
        }
        _ => return Err(Problem::not_found()),
    };
    Ok(json_answer(StatusCode::OK, &said))
}

impl From<PairError> for Problem {
    fn from(error: PairError) -> Self {
        let title = "The till cannot be paired";
        let of = |status, code| Self::new(status, code, title, error.to_string());
        match &error {
            PairError::Name => Self::malformed(error.to_string()),
            PairError::Closed => of(StatusCode::FORBIDDEN, "pairing-closed"),
            PairError::Paused { left } => Self::too_many(error.to_string(), left.as_secs().max(1)),
            PairError::NoRequest => of(StatusCode::NOT_FOUND, "no-such-request"),
            PairError::WrongCode { .. } => of(StatusCode::FORBIDDEN, "wrong-code"),
            PairError::UnknownTill { .. } => of(StatusCode::UNPROCESSABLE_ENTITY, "unknown-till"),
            PairError::State(_) => of(StatusCode::SERVICE_UNAVAILABLE, "state"),
        }
    }
}

/// The reason why a request to the running front failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ControlError {
    /// The front is unreachable.
    #[error("{path}: {cause}; check that pos-front is running (systemctl status pos-front)")]
    Unreachable {
        /// The path of the socket.
        path: String,
        /// The error from the operating system.
        cause: String,
    },
    /// This user may not connect.
    #[error("this user may not use {path}: {cause}; {way_in}")]
    Closed {
        /// The path of the socket.
        path: String,
        /// The error from the operating system.
        cause: io::Error,
        /// The remedy.
        way_in: String,
    },
    /// The front refused the request.
    #[error("{0}")]
    Refused(String),
}

impl ControlError {
    fn unreachable(path: &Path, cause: impl ToString) -> Self {
        Self::Unreachable { path: path.display().to_string(), cause: cause.to_string() }
    }
}

/// Connects to the running front.
async fn connected(path: &Path) -> Result<UnixStream, ControlError> {
    UnixStream::connect(path).await.map_err(|cause| match cause.kind() {
        io::ErrorKind::PermissionDenied => {
            ControlError::Closed { path: path.display().to_string(), cause, way_in: way_in(path) }
        }
        _ => ControlError::unreachable(path, cause),
    })
}

/// Requests a stream from the running front and writes its data until it ends.
pub(crate) async fn follow(path: &Path, target: &str, mut write: impl FnMut(&[u8])) -> Result<(), ControlError> {
    let unreachable = |cause: String| ControlError::unreachable(path, cause);
    let stream = connected(path).await?;
    let (mut sender, connection) =
        client::handshake(TokioIo::new(stream)).await.map_err(|error| unreachable(error.to_string()))?;
    tokio::spawn(connection);
    let request = Request::builder().uri(target).header(HOST, "localhost");
    let request = request.body(Full::new(Bytes::new())).expect("a path of this program");
    let mut answer = sender.send_request(request).await.map_err(|error| unreachable(error.to_string()))?;
    while let Some(frame) = answer.frame().await {
        let frame = frame.map_err(|error| unreachable(error.to_string()))?;
        frame.data_ref().into_iter().for_each(|bytes| write(bytes));
    }
    Ok(())
}

/// Sends a request to the running front and returns its answer.
pub(crate) async fn ask(path: &Path, method: Method, target: &str, body: &Value) -> Result<Value, ControlError> {
    let unreachable = |cause: String| ControlError::unreachable(path, cause);
    let asked = async {
        let stream = connected(path).await?;
        let (mut sender, connection) =
            client::handshake(TokioIo::new(stream)).await.map_err(|error| unreachable(error.to_string()))?;
        tokio::spawn(connection);
        let request = Request::builder().method(method).uri(target).header(HOST, "localhost");
        let request = request.body(Full::new(Bytes::from(body.to_string()))).expect("a path of this program");
        let answer = sender.send_request(request).await.map_err(|error| unreachable(error.to_string()))?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), MOST_ANSWERED).collect().await;
        let body = body.map_err(|error| unreachable(error.to_string()))?.to_bytes();
        let said: Value = serde_json::from_slice(&body).unwrap_or_default();
        match status.is_success() {
            true => Ok(said),
            false => Err(ControlError::Refused(said["detail"].as_str().unwrap_or("refused").to_owned())),
        }
    };
    let patience = if target == "/webhook/test" { TESTED_WITHIN } else { PATIENCE };
    timeout(patience, asked).await.unwrap_or_else(|_| Err(unreachable("no answer".to_owned())))
}
