//! The client of the running agent. It sends each request over a new connection to the agent's Unix socket. It can also
//! listen to the agent's event stream.
//!
//! The client never repeats a request automatically, because the meaning of a lost answer depends on the request.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use pos_daemon::access::way_in;
use pos_till_api::client::{Client, ClientError, Event, Events as Stream, Listened, Question};
use pos_till_api::deadlines::AnswerDeadline;
use pos_till_api::headers;
use pos_till_api::problem::ProblemType;
use pos_till_api::routes::{self, encoded};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::person;
use crate::config::DEFAULT_PATH;
use crate::till::Progress;

/// The deadline for connecting. The agent accepts a connection immediately unless all its connection slots are taken.
const CONNECT_DEADLINE: Duration = Duration::from_secs(5);
/// The deadline for requests that the agent answers immediately.
const ANSWER_DEADLINE: Duration = AnswerDeadline::AtOnce.page();
/// The longest permitted silence on the event stream. The agent sends a comment every second; a slow disk can delay it
/// by several seconds.
const SILENCE_DEADLINE: Duration = Duration::from_secs(35);
/// The maximum size of an answer, in bytes. A list of 1000 sales takes less than 1 MiB.
const MAX_ANSWER: usize = 8 * 1024 * 1024;
/// The header that carries the token of an operator's session.
const SESSION: HeaderName = HeaderName::from_static(headers::SESSION);

/// The reason why a request failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// The agent could not be reached, so it did not receive the request.
    #[error("no agent answers at {}: {cause}; {}, or give the agent's socket with --socket", socket.display(),
        start(*is_set_up))]
    Unreachable {
        socket: PathBuf,
        #[source]
        cause: io::Error,
        /// See [`Daemon::is_set_up`].
        is_set_up: bool,
    },
    /// This user may not use the socket, so the agent did not receive the request.
    #[error("this user may not use {}: {cause}; {}", socket.display(), way_in(socket))]
    Closed {
        socket: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// The connection was lost; the agent may have received the request.
    #[error("the connection to the agent was lost: {why}; see the agent's log (journalctl -u pos-agent)")]
    Lost { why: String },
    /// No PIN was entered, so the agent did not receive the request.
    #[error("{why}")]
    NoPin { why: String },
    /// The agent refused the request.
    #[error("{detail}")]
    Refused { code: String, detail: String },
}

/// Returns the remedy for an agent that does not run.
fn start(is_set_up: bool) -> String {
    match is_set_up {
        true => "check that `pos-agent run` is running (systemctl status pos-agent)".to_owned(),
        false => format!("this board has no {DEFAULT_PATH}: run pos-agent setup as root, which writes it"),
    }
}

impl Error {
    /// Returns whether the agent may have carried out the request although it gave no answer.
    pub(super) fn may_have_been_heard(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Closed { .. } | Self::NoPin { .. } => false,
            Self::Lost { .. } => true,
            Self::Refused { code, .. } => code == ProblemType::NoAnswer.code(),
        }
    }

    /// Returns whether the agent answered that it does not know the reference.
    pub(super) fn is_no_such_sale(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if code == ProblemType::NoSuchSale.code())
    }
}

/// The client of the agent at one socket.
#[derive(Debug)]
pub(super) struct Daemon {
    client: Client,
    /// False if the board has no configuration, so the service of the agent cannot run.
    is_set_up: bool,
    /// The operator who makes the requests, if any.
    operator: Option<String>,
    /// The operator's session, which the first request opens. It ends automatically; no other client knows its token.
    session: Arc<OnceCell<SignIn>>,
}

/// The result of the sign-in: the session's token, or the reason why there is none.
pub(super) type SignIn = Result<String, NoSession>;

/// The reason why no operator is signed in.
#[derive(Debug)]
pub(super) enum NoSession {
    /// No PIN was entered, as in [`Error::NoPin`].
    NoPin { why: String },
    /// The agent refused the sign-in, as in [`Error::Refused`].
    Refused { code: String, detail: String },
}

/// The field of the sign-in's answer that this client uses.
#[derive(Deserialize)]
struct Opened {
    session: String,
}

impl Daemon {
    pub(super) fn at(socket: PathBuf) -> Self {
        let client = Client::at(socket, CONNECT_DEADLINE);
        Self { client, is_set_up: true, operator: None, session: Arc::default() }
    }

    /// Sets whether the board has a configuration.
    pub(super) fn set_up(self, is_set_up: bool) -> Self {
        Self { is_set_up, ..self }
    }

    /// Sets the operator who makes the requests.
    pub(super) fn asked_by(self, operator: Option<String>, session: Arc<OnceCell<SignIn>>) -> Self {
        Self { operator, session, ..self }
    }

    /// Returns the operator's session. The first request asks for the PIN; no deadline runs while the operator types. A
    /// refusal is kept, so a verb never asks for the PIN twice.
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
            // No request was sent to the agent.
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

    /// Sends a request whose answer has the fields of two types. Each type ignores the fields of the other.
    pub(super) async fn post_for_two<A: DeserializeOwned, B: DeserializeOwned>(
        &self,
        path: &str,
        body: &serde_json::Value,
    ) -> Result<(A, B), Error> {
        let session = self.session().await?;
        let answer = self.asked(session, "*/*", Method::POST, path, body.to_string()).await?;
        Ok((serde_json::from_slice(&answer).map_err(lost)?, serde_json::from_slice(&answer).map_err(lost)?))
    }

    /// Deletes the resource at this path. A successful answer has no content.
    pub(super) async fn delete(&self, path: &str) -> Result<(), Error> {
        let session = self.session().await?;
        self.asked(session, "*/*", Method::DELETE, path, String::new()).await.map(drop)
    }

    /// Returns the resource at this path in the given media type.
    pub(super) async fn get_as(&self, path: &str, media: &'static str) -> Result<String, Error> {
        let session = self.session().await?;
        let text = self.asked(session, media, Method::GET, path, String::new()).await?;
        String::from_utf8(text).map_err(lost)
    }

    /// Starts listening to events. No event is missed after this function returns.
    pub(super) async fn events(&self) -> Result<Events, Error> {
        let headers = headers(self.session().await?, "text/event-stream")?;
        let mut events = match self.client.listen(headers, ANSWER_DEADLINE).await.map_err(|error| self.failed(error))? {
            Listened::Events(events) => Events(events),
            Listened::Refused { status, body } => return Err(refusal(status, &body)),
        };
        // The first line is a comment, which shows that the agent has added this listener.
        events.one(ANSWER_DEADLINE).await?;
        Ok(events)
    }

    async fn answer<T: DeserializeOwned>(&self, method: Method, path: &str, body: String) -> Result<T, Error> {
        let session = self.session().await?;
        serde_json::from_slice(&self.asked(session, "*/*", method, path, body).await?).map_err(lost)
    }

    /// Returns the body of a successful answer.
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
        let (socket, is_set_up) = (self.client.socket().to_owned(), self.is_set_up);
        match error {
            ClientError::Unreachable(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {
                Error::Closed { socket, cause }
            }
            ClientError::Unreachable(cause) => Error::Unreachable { socket, cause, is_set_up },
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

/// The fields of the agent's problem details that this client uses.
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

/// The agent's event stream.
#[derive(Debug)]
pub(super) struct Events(Stream);

/// A message on the stream.
#[derive(Debug)]
pub(super) enum Heard {
    /// A step of a transaction or of the terminal.
    Step(Box<Progress>),
    /// Some steps were missed.
    Missed,
}

impl Events {
    /// Returns the next event. The caller may drop the future without losing an event.
    pub(super) async fn next(&mut self) -> Result<Heard, Error> {
        loop {
            if let Some(heard) = heard(&self.one(SILENCE_DEADLINE).await?) {
                return Ok(heard);
            }
        }
    }

    /// Returns the next event or comment.
    async fn one(&mut self, deadline: Duration) -> Result<Event, Error> {
        let next = timeout(deadline, self.0.next()).await.unwrap_or(Err(ClientError::Silent));
        next.map_err(lost)?.ok_or_else(|| lost("the agent closed the event stream"))
    }
}

/// Parses an event. Returns `None` for a comment, and for an event that only a newer agent knows.
fn heard(event: &Event) -> Option<Heard> {
    event.step.as_ref()?;
    if event.is_reset() {
        return Some(Heard::Missed);
    }
    serde_json::from_str(&event.data).ok().map(Heard::Step)
}

/// Returns the time-out of a request, which is longer than the agent's own deadline.
fn patience(method: &Method, path: &str) -> Duration {
    match routes::find(method.as_str(), path).map(|route| route.deadline) {
        Some(AnswerDeadline::AtOnce) | None => ANSWER_DEADLINE,
        Some(class) => class.caller(),
    }
}

pub(super) fn lost(why: impl ToString) -> Error {
    Error::Lost { why: why.to_string() }
}

/// Returns the query parameter for a till, preceded by `before`. Without a till it returns an empty text, and the agent
/// uses the caller's own till.
pub(super) fn of_till(before: char, till: Option<&str>) -> String {
    till.map_or_else(String::new, |till| format!("{before}till={}", encoded(till)))
}

/// Returns the query parameters of a transaction: the till, as in [`of_till`], and `training=true` for a training
/// transaction.
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
