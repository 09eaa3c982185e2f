//! The running daemon, as a verb sees it: one request per connection over its Unix socket, and the stream of events.
//!
//! It never asks twice by itself: what a lost answer means depends on the question.

use std::future::poll_fn;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use pos_till_api::deadlines::AnswerDeadline;
use pos_till_api::routes;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::net::UnixStream;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::person;
use crate::till::Progress;

/// The daemon takes a place in its queue at once unless all are taken.
const CONNECT_DEADLINE: Duration = Duration::from_secs(5);
/// What the daemon answers at once.
const ANSWER_DEADLINE: Duration = AnswerDeadline::AtOnce.page();
/// The daemon sends a comment each second; a slow disk holds it up for some.
const SILENCE_DEADLINE: Duration = Duration::from_secs(35);
/// A list of 1000 sales is below 1 MiB.
const MAX_ANSWER: usize = 8 * 1024 * 1024;
/// One event holds one sale.
const MAX_EVENT: usize = 256 * 1024;

/// Why the daemon's answer is not there.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// Nothing was asked.
    #[error("no daemon at {}: {cause}; is `pos-agent run` running (systemctl status pos-agent)? give its socket with --socket", socket.display())]
    Unreachable {
        socket: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// It may have been asked.
    #[error("the connection to the daemon was lost: {why}; see its log (journalctl -u pos-agent)")]
    Lost { why: String },
    /// Nobody typed the operator's PIN; nothing was asked.
    #[error("{why}")]
    NoPin { why: String },
    /// It answered with a refusal.
    #[error("{detail}")]
    Refused { code: String, detail: String },
}

impl Error {
    /// Whether the daemon may have carried out the request although it gave no answer.
    pub(super) fn may_have_been_heard(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::NoPin { .. } => false,
            Self::Lost { .. } => true,
            Self::Refused { code, .. } => code == "no-answer",
        }
    }

    /// Whether the daemon does not know the reference.
    pub(super) fn is_no_such_sale(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if code == "no-such-sale")
    }
}

/// The daemon's socket.
#[derive(Debug)]
pub(super) struct Daemon {
    socket: PathBuf,
    /// Whose requests these are, when an operator makes them.
    operator: Option<String>,
    /// That one's session, from the first request on. It ends by itself, and nobody else knows its token.
    session: Arc<OnceCell<SignIn>>,
}

/// What came of signing in: the session's token, or why there is none.
pub(super) type SignIn = Result<String, NoSession>;

/// Why nobody is signed in.
#[derive(Debug)]
pub(super) enum NoSession {
    /// As [`Error::NoPin`].
    NoPin { why: String },
    /// As [`Error::Refused`].
    Refused { code: String, detail: String },
}

/// What is needed of a session that was opened.
#[derive(Deserialize)]
struct Opened {
    session: String,
}

impl Daemon {
    pub(super) fn at(socket: PathBuf) -> Self {
        Self { socket, operator: None, session: Arc::default() }
    }

    /// The same, asked by this operator.
    pub(super) fn asked_by(self, operator: Option<String>, session: Arc<OnceCell<SignIn>>) -> Self {
        Self { operator, session, ..self }
    }

    /// The session of the operator; its PIN is asked for with the first request, and no deadline runs meanwhile. A
    /// refusal stands: nobody is asked for the PIN again by the same verb.
    async fn session(&self) -> Result<Option<&str>, Error> {
        let Some(operator) = &self.operator else { return Ok(None) };
        match self.session.get_or_try_init(|| self.sign_in(operator)).await? {
            Ok(session) => Ok(Some(session)),
            Err(NoSession::NoPin { why }) => Err(Error::NoPin { why: why.clone() }),
            Err(NoSession::Refused { code, detail }) => {
                Err(Error::Refused { code: code.clone(), detail: detail.clone() })
            }
        }
    }

    async fn sign_in(&self, operator: &str) -> Result<SignIn, Error> {
        let pin = match person::pin(operator) {
            Ok(pin) => pin,
            // Nothing was asked of the daemon.
            Err(stop) => return Ok(Err(NoSession::NoPin { why: stop.to_string() })),
        };
        let pin = String::from_utf8_lossy(&pin);
        let body = serde_json::json!({ "operator": operator, "pin": pin }).to_string();
        let answer = match within(
            patience(&Method::POST, "/v1/sessions"),
            self.send_as(None, "*/*", Method::POST, "/v1/sessions", body),
        )
        .await
        {
            Err(Error::Refused { code, detail }) => return Ok(Err(NoSession::Refused { code, detail })),
            answer => answer?,
        };
        let bytes = to_bytes(Body::new(answer.into_body()), MAX_ANSWER).await.map_err(lost)?;
        let Opened { session } = serde_json::from_slice(&bytes).map_err(lost)?;
        Ok(Ok(session))
    }

    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        self.answer(Method::GET, path, String::new()).await
    }

    pub(super) async fn post<T: DeserializeOwned>(&self, path: &str, body: &serde_json::Value) -> Result<T, Error> {
        self.answer(Method::POST, path, body.to_string()).await
    }

    /// Takes something away; the answer has nothing to say.
    pub(super) async fn delete(&self, path: &str) -> Result<(), Error> {
        self.session().await?;
        within(patience(&Method::DELETE, path), self.body(Method::DELETE, path, String::new())).await.map(drop)
    }

    /// What the path shows in the form of this media type.
    pub(super) async fn get_as(&self, path: &str, media: &str) -> Result<String, Error> {
        let session = self.session().await?;
        let text = async {
            let answer = self.send_as(session, media, Method::GET, path, String::new()).await?;
            to_bytes(Body::new(answer.into_body()), MAX_ANSWER).await.map_err(lost)
        };
        String::from_utf8(within(patience(&Method::GET, path), text).await?.into()).map_err(lost)
    }

    /// Events from now on; nothing that happens after this returned is missed.
    pub(super) async fn events(&self) -> Result<Events, Error> {
        self.session().await?;
        let asked = self.send(Method::GET, "/v1/events", String::new());
        let mut events = Events { body: within(ANSWER_DEADLINE, asked).await?.into_body(), buffer: Vec::new() };
        // The first thing sent is a comment: the daemon listens for us.
        within(ANSWER_DEADLINE, events.more()).await?;
        Ok(events)
    }

    async fn answer<T: DeserializeOwned>(&self, method: Method, path: &str, body: String) -> Result<T, Error> {
        self.session().await?;
        let bytes = within(patience(&method, path), self.body(method, path, body)).await?;
        serde_json::from_slice(&bytes).map_err(lost)
    }

    async fn body(&self, method: Method, path: &str, body: String) -> Result<Vec<u8>, Error> {
        let answer = self.send(method, path, body).await?;
        Ok(to_bytes(Body::new(answer.into_body()), MAX_ANSWER).await.map_err(lost)?.into())
    }

    async fn send(&self, method: Method, path: &str, body: String) -> Result<Response<Incoming>, Error> {
        let session = self.session().await?;
        self.send_as(session, "*/*", method, path, body).await
    }

    async fn send_as(
        &self,
        session: Option<&str>,
        media: &str,
        method: Method,
        path: &str,
        body: String,
    ) -> Result<Response<Incoming>, Error> {
        let unreachable = |cause| Error::Unreachable { socket: self.socket.clone(), cause };
        let stream = match timeout(CONNECT_DEADLINE, UnixStream::connect(&self.socket)).await {
            Ok(stream) => stream.map_err(unreachable)?,
            Err(_) => return Err(unreachable(io::ErrorKind::TimedOut.into())),
        };
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(lost)?;
        // Ends with the answer's body.
        tokio::spawn(connection);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, "localhost")
            .header(header::ACCEPT, media)
            .header(header::CONTENT_TYPE, "application/json");
        let request = session.into_iter().fold(request, |request, session| request.header("Pos-Session", session));
        let request = request.body(Body::from(body)).map_err(lost)?;
        let answer = sender.send_request(request).await.map_err(lost)?;
        if answer.status().is_success() { Ok(answer) } else { Err(refusal(answer).await) }
    }
}

/// The daemon's problem details, as far as they are told here.
#[derive(Deserialize)]
struct Refusal {
    code: String,
    detail: String,
}

async fn refusal(answer: Response<Incoming>) -> Error {
    let status: StatusCode = answer.status();
    let bytes = to_bytes(Body::new(answer.into_body()), MAX_ANSWER).await.unwrap_or_default();
    match serde_json::from_slice::<Refusal>(&bytes) {
        Ok(Refusal { code, detail }) => Error::Refused { code, detail },
        Err(_) => lost(format!("status {status} without a reason")),
    }
}

/// The stream of events.
#[derive(Debug)]
pub(super) struct Events {
    body: Incoming,
    /// What has arrived of the next event; it survives a caller that stops waiting.
    buffer: Vec<u8>,
}

/// What is heard on it.
#[derive(Debug)]
pub(super) enum Heard {
    /// A step.
    Step(Box<Progress>),
    /// Steps were missed.
    Missed,
}

impl Events {
    /// The next event. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Result<Heard, Error> {
        loop {
            while let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.buffer.drain(..end + 2).collect();
                if let Some(heard) = heard(&String::from_utf8_lossy(&block)) {
                    return Ok(heard);
                }
            }
            within(SILENCE_DEADLINE, self.more()).await?;
        }
    }

    async fn more(&mut self) -> Result<(), Error> {
        let frame = poll_fn(|cx| Pin::new(&mut self.body).poll_frame(cx)).await;
        let frame = frame.ok_or_else(|| lost("it ended the stream of events"))?.map_err(lost)?;
        if let Some(data) = frame.data_ref() {
            self.buffer.extend_from_slice(data);
        }
        if self.buffer.len() > MAX_EVENT { Err(lost("an event without an end")) } else { Ok(()) }
    }
}

/// Comments, and words of a newer daemon, are nothing.
fn heard(block: &str) -> Option<Heard> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    if field("event")? == "reset" {
        return Some(Heard::Missed);
    }
    serde_json::from_str(field("data")?).ok().map(Heard::Step)
}

/// How long the daemon may take for a request: longer than its own deadlines.
fn patience(method: &Method, path: &str) -> Duration {
    match routes::find(method.as_str(), path).map(|route| route.deadline) {
        Some(AnswerDeadline::AtOnce) | None => ANSWER_DEADLINE,
        Some(class) => class.caller(),
    }
}

async fn within<T>(deadline: Duration, asked: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    timeout(deadline, asked).await.unwrap_or_else(|_| Err(lost("it does not answer")))
}

pub(super) fn lost(why: impl ToString) -> Error {
    Error::Lost { why: why.to_string() }
}

/// A reference inside a path.
pub(super) fn in_path(reference: &str) -> String {
    // The form encoding's `+` for a space does not exist in a path.
    in_query(reference).replace('+', "%20")
}

/// The till that a question is about, as a parameter after `before`; none when the daemon is to take the caller's own.
pub(super) fn of_till(before: char, till: Option<&str>) -> String {
    till.map_or_else(String::new, |till| format!("{before}till={}", in_query(till)))
}

/// As [`of_till`], of a transaction that may be one of training.
pub(super) fn of_sale(before: char, till: Option<&str>, training: bool) -> String {
    let till = of_till(before, till);
    let before = if till.is_empty() { before } else { '&' };
    if training { format!("{till}{before}training=true") } else { till }
}

/// A value inside a query.
pub(super) fn in_query(value: &str) -> String {
    form_urlencoded::byte_serialize(value.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_survive_a_path() {
        assert_eq!(in_path("a b/c+d?e%#ü"), "a%20b%2Fc%2Bd%3Fe%25%23%C3%BC");
    }

    #[test]
    fn events_are_read_and_comments_are_not() {
        let step = "event: pin-entry\ndata: {\"till\":\"local\",\"reference\":\"r\",\"step\":\"pin-entry\",\"text\":\"PIN *\"}\n\n";
        assert!(matches!(heard(step), Some(Heard::Step(step)) if step.text == "PIN *" && step.sale.is_none()));
        assert!(matches!(heard("id: 7-1\nevent: reset\ndata: {}\n\n"), Some(Heard::Missed)));
        for nothing in [": listening\nid: 7-1\n\n", ":\n\n", "event: new\ndata: 7\n\n", "data: {}\n\n"] {
            assert!(heard(nothing).is_none());
        }
    }

    #[test]
    fn the_daemon_is_waited_for_as_long_as_it_may_take() {
        for (method, path, agent_s) in [
            (Method::POST, "/v1/closes?till=local", 120),
            (Method::GET, "/v1/totals", 60),
            (Method::GET, "/v1/payments/8ac7a4a1", 170),
            (Method::POST, "/v1/reader/amount", 660),
            (Method::POST, "/v1/sessions", 30),
            (Method::GET, "/v1/status", 10),
            (Method::GET, "/v1/nothing", 10),
        ] {
            assert!(patience(&method, path) > Duration::from_secs(agent_s), "{method} {path}");
        }
    }
}
