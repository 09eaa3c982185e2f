//! The agent's client: the one way from here to the Unix socket, and how the agent stands.
//!
//! Each request has a connection of its own, which costs some fifty microseconds on a Unix socket and needs no mending
//! after a restart of either side. One stream of events is always held: when it breaks or falls silent the agent is
//! down, and requests are answered so at once until it can be listened to again.
//!
//! | what is waited for | how long |
//! |---|---|
//! | the connection; the front's own stream of events, which the agent opens at once | `CONNECT` |
//! | the head of an answer | as the route's line in `pos_till_api::routes` says |
//! | the rest of an answer | `REST`, and `MOST_ANSWER` bytes |
//! | the next event, or a comment that shows life | `SILENCE`; the agent sends one each second |

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use pos_till_api::deadlines::AnswerDeadline;
use pos_till_api::routes::deadline_of;
use serde_json::Value;
use tokio::net::UnixStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Sleep, sleep, timeout};

use crate::places::WAITS;
use crate::problem::BodyError;

/// A socket that systemd holds is connected to although nobody accepts; one that is nobody's refuses at once.
const CONNECT: Duration = Duration::from_secs(1);
/// From an answer's head to its end: a list of a thousand sales is read page by page.
const REST: Duration = Duration::from_secs(60);
/// A list of a thousand sales has some two million bytes.
const MOST_ANSWER: usize = 16 * 1024 * 1024;
/// The agent sends a comment each second; a slow disk holds it up for some.
pub(crate) const SILENCE: Duration = Duration::from_secs(25);
/// One event: a sale with everything that the gateway said of it.
const MOST_EVENT: usize = 256 * 1024;
/// Between two attempts to reach an agent that is down.
const AGAIN: Duration = Duration::from_millis(300);
/// Between two attempts when the agent is there and refuses the front.
const REFUSED_AGAIN: Duration = Duration::from_secs(5);
/// Usual questions of the front itself.
const PATIENCE: Duration = AnswerDeadline::AtOnce.caller();
/// A stream of events for somebody who asks the front.
const EVENTS: Duration = deadline_of("GET", "/v1/events").caller();

/// Whose places at the agent a question takes. The agent allows one user 96 requests at a time; whatever one room asks,
/// the others have theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// What is answered before anybody has said who it is.
    Strangers,
    /// PINs: each takes the agent a second on a slow board.
    Pins,
    /// The page.
    Page,
    /// Tills that are paired.
    Tills,
    /// Whatever ends a payment, of all of them.
    Cancels,
    /// Waits for the end of a sale, of the page and of paired tills.
    Waits,
    /// Tills that speak ZVT.
    Zvt,
    /// Tills that speak nexo.
    Nexo,
}

/// How many places each has, in that order: 60 of 96, and 24 streams of events. The rest is for requests that were
/// given up and that the agent has not let go of yet.
const ROOMS: [(Room, usize); 8] = [
    (Room::Strangers, 4),
    (Room::Pins, 4),
    (Room::Page, 8),
    (Room::Tills, 8),
    (Room::Cancels, 4),
    (Room::Waits, WAITS),
    (Room::Zvt, 10),
    (Room::Nexo, 10),
];
/// The agent allows one user 24 streams of events. The front itself listens once, its webhooks four times at most; a
/// page has one stream of events.
const PAGES_LISTEN: usize = 8;
const TILLS_LISTEN: usize = 11;
/// How long a question waits for its place: those before it take the agent some milliseconds each.
const TURN: Duration = Duration::from_secs(2);

/// The header with an operator's session.
pub(crate) const SESSION: HeaderName = HeaderName::from_static("pos-session");
/// The header of what a page asks: no till's exemption from operators is for it.
pub(crate) const PAGE: HeaderName = HeaderName::from_static("pos-page");
/// The header with the place that a PIN comes from.
pub(crate) const PLACE: HeaderName = HeaderName::from_static("pos-place");
/// Where an event stream is to go on.
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AgentError {
    /// Nothing was sent: it is not there.
    #[error("the agent is not there ({0}); systemctl status pos-agent")]
    Down(io::Error),
    /// It was sent, and nobody knows whether it was carried out.
    #[error("the agent gave no answer")]
    NoAnswer,
    /// As much is under way as the agent allows the front.
    #[error("as many requests are under way as the agent allows; ask again in a second")]
    Full,
}

/// How the agent stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Whether it answers; `None` before that was tried.
    pub(crate) up: Option<bool>,
    /// Since when.
    pub(crate) since: SystemTime,
}

/// One question.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) method: Method,
    /// Path and query.
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) patience: Duration,
    pub(crate) room: Room,
}

impl Question {
    /// Of the front itself, or of whoever has not said yet who it is.
    pub(crate) fn get(target: &str) -> Self {
        let (target, headers, room) = (target.to_owned(), HeaderMap::new(), Room::Strangers);
        Self { method: Method::GET, target, headers, body: Bytes::new(), patience: PATIENCE, room }
    }

    pub(crate) fn with_session(mut self, session: Option<&HeaderValue>) -> Self {
        if let Some(session) = session {
            self.headers.insert(SESSION, session.clone());
        }
        self
    }
}

/// The way to the agent.
#[derive(Debug)]
pub(crate) struct Agent {
    socket: PathBuf,
    standing: watch::Sender<Standing>,
    rooms: [(Room, Arc<Semaphore>); ROOMS.len()],
    pages_listen: Arc<Semaphore>,
    tills_listen: Arc<Semaphore>,
    not_named: watch::Sender<Vec<String>>,
}

/// A place at the agent, free again when this is dropped.
pub(crate) type AgentPlace = OwnedSemaphorePermit;

impl Agent {
    pub(crate) fn at(socket: PathBuf, now: SystemTime) -> Self {
        let (standing, _) = watch::channel(Standing { up: None, since: now });
        let (not_named, _) = watch::channel(Vec::new());
        let semaphore = |places| Arc::new(Semaphore::new(places));
        let rooms = ROOMS.map(|(room, places)| (room, semaphore(places)));
        let (pages_listen, tills_listen) = (semaphore(PAGES_LISTEN), semaphore(TILLS_LISTEN));
        Self { socket, standing, rooms, pages_listen, tills_listen, not_named }
    }

    pub(crate) fn standing(&self) -> Standing {
        *self.standing.borrow()
    }

    /// Tills of the front that the agent's configuration does not name: it refuses all that they ask for.
    pub(crate) fn not_named(&self) -> Vec<String> {
        self.not_named.borrow().clone()
    }

    /// Waits for the head of the answer; the rest is streamed.
    pub(crate) async fn ask(&self, question: Question) -> Result<Response<Rest>, AgentError> {
        let place = self.place(question.room).await?;
        Ok(Rest::of(self.head(question).await?, place))
    }

    /// A place in this room: its turn comes after those that asked before.
    pub(crate) async fn place(&self, room: Room) -> Result<AgentPlace, AgentError> {
        let places = self.rooms.iter().find(|(name, _)| *name == room).map(|(_, places)| Arc::clone(places));
        let places = places.expect("each room has its line in ROOMS");
        let turn = timeout(TURN, places.acquire_owned()).await;
        turn.ok().and_then(Result::ok).ok_or(AgentError::Full)
    }

    /// As [`Self::ask`], of whoever has a place already; the rest of the answer is read with [`Rest::of`].
    pub(crate) async fn head(&self, question: Question) -> Result<Response<Incoming>, AgentError> {
        self.unless_down()?;
        self.send(question).await
    }

    /// The answer as a JSON value, `Null` when it is none.
    pub(crate) async fn ask_json(&self, question: Question) -> Result<(StatusCode, Value), AgentError> {
        let (head, body) = self.ask(question).await?.into_parts();
        let bytes = body.collect().await.map_err(|_| AgentError::NoAnswer)?.to_bytes();
        Ok((head.status, serde_json::from_slice(&bytes).unwrap_or_default()))
    }

    /// The agent's events for somebody who asks the front: one of the places for that.
    pub(crate) async fn listen(&self, headers: HeaderMap, room: Room) -> Result<Heard, AgentError> {
        let listeners = if room == Room::Tills { &self.tills_listen } else { &self.pages_listen };
        let place = Arc::clone(listeners).try_acquire_owned().map_err(|_| AgentError::Full)?;
        self.unless_down()?;
        // Whose session it is, the agent asks its journal first.
        self.events(headers, EVENTS, Some(place)).await
    }

    /// The agent's events for the front itself.
    pub(crate) async fn listen_for_itself(&self, after: Option<&str>) -> Result<Heard, AgentError> {
        let mut headers = HeaderMap::new();
        if let Some(after) = after.and_then(|after| HeaderValue::from_str(after).ok()) {
            headers.insert(LAST_EVENT_ID, after);
        }
        self.events(headers, CONNECT, None).await
    }

    async fn events(
        &self,
        mut headers: HeaderMap,
        patience: Duration,
        place: Option<OwnedSemaphorePermit>,
    ) -> Result<Heard, AgentError> {
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let question = Question { headers, patience, ..Question::get("/v1/events") };
        let (head, body) = self.send(question).await?.into_parts();
        if head.status != StatusCode::OK {
            let all = timeout(PATIENCE, Limited::new(body, MOST_EVENT).collect()).await;
            let body = all.ok().and_then(Result::ok).map(|all| all.to_bytes()).unwrap_or_default();
            return Ok(Heard::Refused { status: head.status, body });
        }
        Ok(Heard::Events(Events { body, waiting: BytesMut::new(), _place: place }))
    }

    fn unless_down(&self) -> Result<(), AgentError> {
        match self.standing().up {
            Some(false) => Err(AgentError::Down(io::ErrorKind::NotConnected.into())),
            Some(true) | None => Ok(()),
        }
    }

    async fn send(&self, question: Question) -> Result<Response<Incoming>, AgentError> {
        let connecting = timeout(CONNECT, UnixStream::connect(&self.socket)).await;
        let stream = connecting.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(AgentError::Down)?;
        let Question { method, target, headers, body, patience, room: _ } = question;
        let may_be_done = method != Method::GET;
        let lost = |error: hyper::Error| match may_be_done {
            true => AgentError::NoAnswer,
            false => AgentError::Down(io::Error::other(error)),
        };
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(lost)?;
        // Ends when the answer was read, or is wanted no more.
        tokio::spawn(connection);
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = target.parse().expect("the passage writes only paths and queries that it has encoded");
        *request.headers_mut() = headers;
        request.headers_mut().insert(HOST, HeaderValue::from_static("localhost"));
        if may_be_done {
            request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        timeout(patience, sender.send_request(request)).await.map_err(|_| AgentError::NoAnswer)?.map_err(lost)
    }

    /// Holds one stream of events for ever, and says by it how the agent stands.
    pub(crate) async fn keep_watch(&self, now: impl Fn() -> SystemTime) {
        loop {
            let again = match self.listen_for_itself(None).await {
                Ok(Heard::Events(mut events)) => {
                    self.stands(true, now());
                    while let Ok(Ok(Some(_))) = timeout(SILENCE, events.next()).await {}
                    AGAIN
                }
                Ok(Heard::Refused { status, body }) => {
                    let said = String::from_utf8_lossy(&body[..body.len().min(500)]).into_owned();
                    tracing::warn!(%status, said, "the agent is there and refuses the front");
                    self.stands(true, now());
                    sleep(REFUSED_AGAIN).await;
                    continue;
                }
                Err(error) => {
                    tracing::debug!(%error, "the agent is down");
                    AGAIN
                }
            };
            self.stands(false, now());
            sleep(again).await;
        }
    }

    /// Looks, whenever the agent is there again, whether its configuration names these tills, before one of them asks
    /// for a payment.
    pub(crate) async fn watch_names(&self, tills: Vec<String>) {
        let mut standing = self.standing.subscribe();
        loop {
            let up = standing.borrow_and_update().up == Some(true);
            let asked = if up { self.ask_json(Question::get("/v1/status")).await.ok() } else { None };
            if let Some((StatusCode::OK, status)) = &asked {
                let not_named: Vec<String> = tills.iter().filter(|till| is_not_named(status, till)).cloned().collect();
                for till in &not_named {
                    tracing::warn!("{}", NotNamed(till));
                }
                self.not_named.send_replace(not_named);
            }
            let changed = standing.changed();
            match up && asked.is_none() {
                true => drop(timeout(REFUSED_AGAIN, changed).await),
                false if changed.await.is_err() => return,
                false => {}
            }
        }
    }

    fn stands(&self, up: bool, now: SystemTime) {
        let changed = self.standing.send_if_modified(|standing| {
            let changed = standing.up != Some(up);
            if changed {
                (standing.up, standing.since) = (Some(up), now);
            }
            changed
        });
        match (changed, up) {
            (true, true) => tracing::info!(socket = %self.socket.display(), "the agent is there"),
            (true, false) => tracing::warn!(socket = %self.socket.display(), "the agent is not there"),
            (false, _) => {}
        }
    }
}

/// Whether the agent's status tells for which tills the front speaks, and this one is not among them.
fn is_not_named(status: &Value, till: &str) -> bool {
    let named = status["tills"].as_array();
    named.is_some_and(|named| !named.is_empty() && !named.iter().any(|one| one == till))
}

/// What is wrong with such a till, and what to do.
pub(crate) struct NotNamed<'a>(pub(crate) &'a str);

impl std::fmt::Display for NotNamed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let till = self.0;
        write!(
            f,
            "the agent refuses the till {till}: write it into tills of the front's [[till.peer]] in the agent's config.toml"
        )
    }
}

/// The rest of an answer, with its deadline; the request's place is free when this is dropped.
pub(crate) struct Rest {
    body: Limited<Incoming>,
    ends: Pin<Box<Sleep>>,
    _place: OwnedSemaphorePermit,
}

impl Rest {
    /// The answer with this head, whose request has this place.
    pub(crate) fn of(head: Response<Incoming>, place: AgentPlace) -> Response<Self> {
        head.map(|body| Self { body: Limited::new(body, MOST_ANSWER), ends: Box::pin(sleep(REST)), _place: place })
    }
}

impl hyper::body::Body for Rest {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Pending => {
                let ended = self.ends.as_mut().poll(cx);
                ended.map(|()| Some(Err(io::Error::from(io::ErrorKind::TimedOut).into())))
            }
            ready => ready,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What somebody hears who asks for the events.
pub(crate) enum Heard {
    /// The stream.
    Events(Events),
    /// Why there is none, in the agent's words.
    Refused {
        /// HTTP status.
        status: StatusCode,
        /// A problem details object.
        body: Bytes,
    },
}

/// Why a stream of events broke off.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EventsError {
    /// The agent is gone.
    #[error("the agent's events broke off: {0}")]
    Broken(#[from] hyper::Error),
    /// Something else than events.
    #[error("an event of more than {MOST_EVENT} bytes")]
    TooLong,
}

impl From<LengthLimitError> for EventsError {
    fn from(_: LengthLimitError) -> Self {
        Self::TooLong
    }
}

/// One event, or a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentEvent {
    /// As it came, with the empty line at its end.
    pub(crate) raw: Bytes,
    /// What `Last-Event-ID` would name.
    pub(crate) id: Option<String>,
    /// The step's word; `None` for a comment.
    pub(crate) step: Option<String>,
    /// What it says.
    pub(crate) data: String,
}

impl AgentEvent {
    fn read(raw: Bytes) -> Self {
        let text = String::from_utf8_lossy(&raw);
        let mut event = Self { raw: Bytes::new(), id: None, step: None, data: String::new() };
        for line in text.lines() {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match name {
                "id" => event.id = Some(value.to_owned()).filter(|id| !id.is_empty()),
                "event" => event.step = Some(value.to_owned()),
                "data" => event.data.push_str(value),
                _ => {}
            }
        }
        Self { raw, ..event }
    }

    /// The till that it is about; empty for the terminal itself, `None` when it does not say.
    pub(crate) fn till(&self) -> Option<String> {
        let data: Value = serde_json::from_str(&self.data).ok()?;
        Some(data.get("till")?.as_str()?.to_owned())
    }

    /// Whether this till may hear it: what is its own, or the terminal's.
    pub(crate) fn is_for(&self, till: &str) -> bool {
        match (&self.step, self.till()) {
            (None, _) => true,
            (Some(_), Some(whose)) => whose.is_empty() || whose == till,
            (Some(_), None) => false,
        }
    }
}

/// A stream of events, one after the other.
pub(crate) struct Events {
    body: Incoming,
    waiting: BytesMut,
    _place: Option<OwnedSemaphorePermit>,
}

impl Events {
    /// The next one; `None` at the end. Nothing is lost when this is dropped before it is ready.
    pub(crate) async fn next(&mut self) -> Result<Option<AgentEvent>, EventsError> {
        loop {
            if let Some(event) = first(&mut self.waiting) {
                return Ok(Some(event));
            }
            if self.waiting.len() > MOST_EVENT {
                return Err(EventsError::TooLong);
            }
            match self.body.frame().await.transpose()? {
                Some(frame) => self.waiting.extend_from_slice(&frame.into_data().unwrap_or_default()),
                None => return Ok(None),
            }
        }
    }
}

fn first(waiting: &mut BytesMut) -> Option<AgentEvent> {
    let end = waiting.windows(2).position(|two| two == b"\n\n")?;
    Some(AgentEvent::read(waiting.split_to(end + 2).freeze()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_till_is_refused_when_the_agent_names_others_alone() {
        let status = serde_json::json!({ "tills": ["local", "kasse-2"] });
        assert!(is_not_named(&status, "kasse-1") && !is_not_named(&status, "kasse-2"));
        for silent in [serde_json::json!({}), serde_json::json!({ "tills": [] })] {
            assert!(!is_not_named(&silent, "kasse-1"));
        }
    }

    #[test]
    fn events_are_told_apart_wherever_the_bytes_are_divided() {
        let text = ": listening\n\nid: 7-1\nevent: ended\ndata: {\"till\":\"a\"}\n\n:\n\nevent: idle\ndata: {\"till\":\"\"}\n\n";
        for cut in 0..text.len() {
            let (mut waiting, mut events) = (BytesMut::new(), Vec::new());
            for part in [&text[..cut], &text[cut..]] {
                waiting.extend_from_slice(part.as_bytes());
                events.extend(std::iter::from_fn(|| first(&mut waiting)));
            }
            let steps: Vec<_> = events.iter().map(|event| event.step.as_deref()).collect();
            assert_eq!(steps, [None, Some("ended"), None, Some("idle")]);
            assert_eq!(events[1].id.as_deref(), Some("7-1"));
            assert_eq!(events.iter().map(|event| event.is_for("b")).collect::<Vec<_>>(), [true, false, true, true]);
            let raw: Vec<u8> = events.iter().flat_map(|event| event.raw.to_vec()).collect();
            assert_eq!(raw, text.as_bytes());
        }
    }

    #[test]
    fn an_event_that_does_not_say_whose_it_is_is_nobodys() {
        let event = |text: &'static str| AgentEvent::read(Bytes::from_static(text.as_bytes()));
        assert!(!event("event: ended\ndata: {}\n\n").is_for("a"));
        assert!(!event("event: ended\ndata: {\"till\":7}\n\n").is_for("a"));
        assert!(event("id: 7-3\nevent: reset\ndata: {\"till\":\"\",\"step\":\"reset\"}\n\n").is_for("a"));
    }
}
