//! The running daemon, as a verb sees it: one request per connection over its Unix socket, and the stream of events.
//!
//! It never asks twice by itself: what a lost answer means depends on the question.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use pos_daemon::access::way_in;
use pos_till_api::client::{Client, ClientError, Event, Events as Stream, Listened, Question};
use pos_till_api::deadlines::AnswerDeadline;
use pos_till_api::problem::ProblemType;
use pos_till_api::routes::{self, encoded};
use serde::Deserialize;
use serde::de::DeserializeOwned;
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
/// The header with an operator's session.
const SESSION: HeaderName = HeaderName::from_static("pos-session");

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
    /// This user may not use the socket; nothing was asked.
    #[error("this user may not use {}: {cause}; {}", socket.display(), way_in(socket))]
    Closed {
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
            Self::Unreachable { .. } | Self::Closed { .. } | Self::NoPin { .. } => false,
            Self::Lost { .. } => true,
            Self::Refused { code, .. } => code == ProblemType::NoAnswer.code(),
        }
    }

    /// Whether the daemon does not know the reference.
    pub(super) fn is_no_such_sale(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if code == ProblemType::NoSuchSale.code())
    }
}

/// The daemon's socket.
#[derive(Debug)]
pub(super) struct Daemon {
    client: Client,
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
        Self { client: Client::at(socket, CONNECT_DEADLINE), operator: None, session: Arc::default() }
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
        let answer = match self.asked(None, "*/*", Method::POST, "/v1/sessions", body).await {
            Err(Error::Refused { code, detail }) => return Ok(Err(NoSession::Refused { code, detail })),
            answer => answer?,
        };
        let Opened { session } = serde_json::from_slice(&answer).map_err(lost)?;
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
        let session = self.session().await?;
        self.asked(session, "*/*", Method::DELETE, path, String::new()).await.map(drop)
    }

    /// What the path shows in the form of this media type.
    pub(super) async fn get_as(&self, path: &str, media: &'static str) -> Result<String, Error> {
        let session = self.session().await?;
        let text = self.asked(session, media, Method::GET, path, String::new()).await?;
        String::from_utf8(text).map_err(lost)
    }

    /// Events from now on; nothing that happens after this returned is missed.
    pub(super) async fn events(&self) -> Result<Events, Error> {
        let headers = headers(self.session().await?, "text/event-stream")?;
        let mut events = match self.client.listen(headers, ANSWER_DEADLINE).await.map_err(|error| self.failed(error))? {
            Listened::Events(events) => Events(events),
            Listened::Refused { status, body } => return Err(refusal(status, &body)),
        };
        // The first thing sent is a comment: the daemon listens for us.
        events.one(ANSWER_DEADLINE).await?;
        Ok(events)
    }

    async fn answer<T: DeserializeOwned>(&self, method: Method, path: &str, body: String) -> Result<T, Error> {
        let session = self.session().await?;
        serde_json::from_slice(&self.asked(session, "*/*", method, path, body).await?).map_err(lost)
    }

    /// The body of a good answer.
    async fn asked(
        &self,
        session: Option<&str>,
        media: &'static str,
        method: Method,
        path: &str,
        body: String,
    ) -> Result<Vec<u8>, Error> {
        let (headers, patience) = (headers(session, media)?, patience(&method, path));
        let question = Question { method, target: path.to_owned(), headers, body: body.into(), patience };
        let (status, body) = self.client.ask(question, MAX_ANSWER).await.map_err(|error| self.failed(error))?;
        if status.is_success() { Ok(body.into()) } else { Err(refusal(status, &body)) }
    }

    fn failed(&self, error: ClientError) -> Error {
        match error {
            ClientError::Unreachable(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {
                Error::Closed { socket: self.client.socket().to_owned(), cause }
            }
            ClientError::Unreachable(cause) => Error::Unreachable { socket: self.client.socket().to_owned(), cause },
            error => lost(error),
        }
    }
}

fn headers(session: Option<&str>, media: &'static str) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(media))]);
    if let Some(session) = session {
        headers.insert(SESSION, HeaderValue::from_str(session).map_err(lost)?);
    }
    Ok(headers)
}

/// The daemon's problem details, as far as they are told here.
#[derive(Deserialize)]
struct Refusal {
    code: String,
    detail: String,
}

fn refusal(status: StatusCode, body: &[u8]) -> Error {
    match serde_json::from_slice::<Refusal>(body) {
        Ok(Refusal { code, detail }) => Error::Refused { code, detail },
        Err(_) => lost(format!("status {status} without a reason")),
    }
}

/// The stream of events.
#[derive(Debug)]
pub(super) struct Events(Stream);

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
            if let Some(heard) = heard(&self.one(SILENCE_DEADLINE).await?) {
                return Ok(heard);
            }
        }
    }

    /// The next event or comment.
    async fn one(&mut self, deadline: Duration) -> Result<Event, Error> {
        let next = timeout(deadline, self.0.next()).await.unwrap_or(Err(ClientError::Silent));
        next.map_err(lost)?.ok_or_else(|| lost("it ended the stream of events"))
    }
}

/// Comments, and words of a newer daemon, are nothing.
fn heard(event: &Event) -> Option<Heard> {
    event.step.as_ref()?;
    if event.is_reset() {
        return Some(Heard::Missed);
    }
    serde_json::from_str(&event.data).ok().map(Heard::Step)
}

/// How long the daemon may take for a request: longer than its own deadlines.
fn patience(method: &Method, path: &str) -> Duration {
    match routes::find(method.as_str(), path).map(|route| route.deadline) {
        Some(AnswerDeadline::AtOnce) | None => ANSWER_DEADLINE,
        Some(class) => class.caller(),
    }
}

pub(super) fn lost(why: impl ToString) -> Error {
    Error::Lost { why: why.to_string() }
}

/// The till that a question is about, as a parameter after `before`; none when the daemon is to take the caller's own.
pub(super) fn of_till(before: char, till: Option<&str>) -> String {
    till.map_or_else(String::new, |till| format!("{before}till={}", encoded(till)))
}

/// As [`of_till`], of a transaction that may be one of training.
pub(super) fn of_sale(before: char, till: Option<&str>, training: bool) -> String {
    let till = of_till(before, till);
    let before = if till.is_empty() { before } else { '&' };
    if training { format!("{till}{before}training=true") } else { till }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_and_comments_are_not() {
        let step = "event: pin-entry\ndata: {\"till\":\"local\",\"reference\":\"r\",\"step\":\"pin-entry\",\"text\":\"PIN *\"}\n\n";
        let heard = |text: &'static str| heard(&Event::read(text.as_bytes().into()));
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
