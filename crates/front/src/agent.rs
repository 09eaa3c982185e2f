//! The one way from here to the agent's Unix socket, and how the agent stands.
//!
//! The client is that of `pos_till_api`. Here it gets places, so that nobody takes another's. One stream of events is
//! always held: when it breaks or falls silent the agent is down, and requests are answered so at once until it can be
//! listened to again.
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

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Response, StatusCode};
use pos_till_api::client::{self, Client, ClientError, Event, Listened};
use pos_till_api::deadlines::AnswerDeadline;
use pos_till_api::routes::deadline_of;
use serde_json::Value;
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
    client: Client,
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
        Self { client: Client::at(socket, CONNECT), standing, rooms, pages_listen, tills_listen, not_named }
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
        headers: HeaderMap,
        patience: Duration,
        place: Option<OwnedSemaphorePermit>,
    ) -> Result<Heard, AgentError> {
        let listened = self.client.listen(headers, patience).await.map_err(|error| not_answered(error, false))?;
        Ok(match listened {
            Listened::Events(events) => Heard::Events(Events { events, _place: place }),
            Listened::Refused { status, body } => Heard::Refused { status, body },
        })
    }

    fn unless_down(&self) -> Result<(), AgentError> {
        match self.standing().up {
            Some(false) => Err(AgentError::Down(io::ErrorKind::NotConnected.into())),
            Some(true) | None => Ok(()),
        }
    }

    async fn send(&self, question: Question) -> Result<Response<Incoming>, AgentError> {
        let Question { method, target, headers, body, patience, room: _ } = question;
        let may_be_done = method != Method::GET;
        let question = client::Question { method, target, headers, body, patience };
        self.client.head(question).await.map_err(|error| not_answered(error, may_be_done))
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
            (true, true) => tracing::info!(socket = %self.client.socket().display(), "the agent is there"),
            (true, false) => tracing::warn!(socket = %self.client.socket().display(), "the agent is not there"),
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

/// The till that an event is about; empty for the terminal itself, `None` when it does not say.
pub(crate) fn till_of(event: &Event) -> Option<String> {
    let data: Value = serde_json::from_str(&event.data).ok()?;
    Some(data.get("till")?.as_str()?.to_owned())
}

/// Whether this till may hear it: what is its own, or the terminal's.
pub(crate) fn is_for(event: &Event, till: &str) -> bool {
    match (&event.step, till_of(event)) {
        (None, _) => true,
        (Some(_), Some(whose)) => whose.is_empty() || whose == till,
        (Some(_), None) => false,
    }
}

/// A stream of events, one after the other.
pub(crate) struct Events {
    events: client::Events,
    _place: Option<OwnedSemaphorePermit>,
}

impl Events {
    /// The next one; `None` at the end. Nothing is lost when this is dropped before it is ready.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, ClientError> {
        self.events.next().await
    }
}

/// What a client's failure means here. A connection that breaks under a question that changes nothing is as good as
/// none.
fn not_answered(error: ClientError, may_be_done: bool) -> AgentError {
    match error {
        ClientError::Unreachable(error) => AgentError::Down(error),
        ClientError::Unwritable(_) => AgentError::Down(io::Error::other(error)),
        ClientError::Broken(_) if !may_be_done => AgentError::Down(io::Error::other(error)),
        ClientError::Broken(_) | ClientError::Silent | ClientError::TooLong(_) => AgentError::NoAnswer,
    }
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
    fn an_event_that_does_not_say_whose_it_is_is_nobodys() {
        let is_for = |text: &'static str, till: &str| is_for(&Event::read(Bytes::from_static(text.as_bytes())), till);
        assert!(!is_for("event: ended\ndata: {}\n\n", "a"));
        assert!(!is_for("event: ended\ndata: {\"till\":7}\n\n", "a"));
        assert!(is_for("id: 7-3\nevent: reset\ndata: {\"till\":\"\",\"step\":\"reset\"}\n\n", "a"));
        let ended = "id: 7-1\nevent: ended\ndata: {\"till\":\"a\"}\n\n";
        assert!(is_for(ended, "a") && !is_for(ended, "b") && is_for(": listening\n\n", "b"));
    }
}
