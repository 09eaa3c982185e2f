//! Access to the agent through its Unix socket, and the agent's state. No other module of the front uses that socket.
//!
//! This module adds request slots to the client of `pos_till_api`. Each group of callers has its own slots, so no group
//! can take the slots of another. The front always keeps one stream of events open. When that stream breaks or falls
//! silent, the agent counts as down. The front then refuses requests immediately until the stream is open again.
//!
//! | wait for | time limit |
//! |---|---|
//! | the connection; the front's own stream of events, which the agent opens immediately | `CONNECT` |
//! | the head of an answer | the deadline of the route in `pos_till_api::routes` |
//! | the rest of an answer | `BODY_DEADLINE`, with `MOST_ANSWER` bytes at most |
//! | the next event or comment on a stream of events | `SILENCE`; the agent sends a comment each second |

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
use pos_till_api::headers;
use pos_till_api::routes::deadline_of;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Sleep, sleep, timeout};

use crate::problem::BodyError;
use crate::slots::WAITS;

/// The time limit of a connection attempt. A socket held by systemd accepts the connection even when no program serves
/// it. A socket without a listener refuses immediately.
const CONNECT: Duration = Duration::from_secs(1);
/// The time limit from the head of an answer to its end. The agent writes a list of a thousand transactions in parts.
const BODY_DEADLINE: Duration = Duration::from_secs(60);
/// The largest answer in bytes. A list of a thousand transactions has about two million bytes.
const MOST_ANSWER: usize = 16 * 1024 * 1024;
/// The longest silence on a stream of events. The agent sends a comment each second, but a slow disk can delay it by
/// some seconds.
pub(crate) const SILENCE: Duration = Duration::from_secs(25);
/// The pause between two attempts to reach an agent that is down.
const AGAIN: Duration = Duration::from_millis(300);
/// The pause between two attempts when the agent is running but refuses the front.
const REFUSED_AGAIN: Duration = Duration::from_secs(5);
/// The deadline of the front's own ordinary requests.
const PATIENCE: Duration = AnswerDeadline::AtOnce.caller();
/// The deadline for opening a stream of events on behalf of a caller.
const EVENTS: Duration = deadline_of("GET", "/v1/events").caller();

/// The group of request slots to which a request belongs. The agent allows one user 96 requests at a time. Each group
/// has its own slots, regardless of the load on the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// Requests that are answered before the caller is identified.
    Strangers,
    /// PIN checks, each of which takes the agent a second on a slow board.
    Pins,
    /// The page.
    Page,
    /// Paired tills.
    Tills,
    /// Cancel requests from all callers.
    Cancels,
    /// Requests from the page and from paired tills that wait for the end of a transaction.
    Waits,
    /// Tills that speak ZVT.
    Zvt,
    /// Tills that speak Caisse-AP over IP.
    CaisseAp,
    /// Tills that speak nexo.
    Nexo,
}

/// The number of slots in each group, 66 in total. The streams of events take up to 24 more of the agent's 96 slots.
/// The rest are for requests that the front gave up and the agent has not finished.
const ROOMS: [(Room, usize); 9] = [
    (Room::Strangers, 4),
    (Room::Pins, 4),
    (Room::Page, 8),
    (Room::Tills, 8),
    (Room::Cancels, 4),
    (Room::Waits, WAITS),
    (Room::Zvt, 10),
    (Room::CaisseAp, 6),
    (Room::Nexo, 10),
];
/// The number of streams of events for pages and the customer's screen, each of which has one. The agent allows one
/// user 24 streams. The front itself uses one, and its webhooks use at most four.
const PAGES_LISTEN: usize = 8;
const TILLS_LISTEN: usize = 11;
/// The longest time that a request waits for a slot. The agent needs a few milliseconds for each earlier request.
const SLOT_WAIT: Duration = Duration::from_secs(2);

/// The header with an operator's session.
pub(crate) const SESSION: HeaderName = HeaderName::from_static(headers::SESSION);
/// The header that marks requests from the page. A till's exemption from sign-in does not apply to them.
pub(crate) const PAGE: HeaderName = HeaderName::from_static(headers::PAGE);
/// The header with the sign-in source of a PIN.
pub(crate) const PLACE: HeaderName = HeaderName::from_static(headers::PLACE);
/// The header with the id of the event after which a stream continues.
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The reason why the agent gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AgentError {
    /// The agent is unreachable, and nothing was sent.
    #[error("the agent is not running ({0}); run: systemctl status pos-agent")]
    Down(io::Error),
    /// The request was sent, and the agent may have carried it out.
    #[error("the agent did not answer")]
    NoAnswer,
    /// No slot for the request is free.
    #[error("the agent has reached its maximum of open requests; ask again in a second")]
    Full,
}

/// The state of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// True when the agent answers. `None` before the first attempt.
    pub(crate) up: Option<bool>,
    /// The time at which this state began.
    pub(crate) since: SystemTime,
}

/// A request to the agent.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) method: Method,
    /// The path and query.
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) patience: Duration,
    pub(crate) room: Room,
}

impl Question {
    /// Creates a GET request for the front itself or for an unidentified caller.
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

/// The connection to the agent.
#[derive(Debug)]
pub(crate) struct Agent {
    client: Client,
    standing: watch::Sender<Standing>,
    rooms: [(Room, Arc<Semaphore>); ROOMS.len()],
    pages_listen: Arc<Semaphore>,
    tills_listen: Arc<Semaphore>,
    not_named: watch::Sender<Vec<String>>,
}

/// A request slot at the agent. Dropping this value frees the slot.
pub(crate) type AgentSlot = OwnedSemaphorePermit;

impl Agent {
    pub(crate) fn at(socket: PathBuf, now: SystemTime) -> Self {
        let (standing, _) = watch::channel(Standing { up: None, since: now });
        let (not_named, _) = watch::channel(Vec::new());
        let semaphore = |slots| Arc::new(Semaphore::new(slots));
        let rooms = ROOMS.map(|(room, slots)| (room, semaphore(slots)));
        let (pages_listen, tills_listen) = (semaphore(PAGES_LISTEN), semaphore(TILLS_LISTEN));
        Self { client: Client::at(socket, CONNECT), standing, rooms, pages_listen, tills_listen, not_named }
    }

    pub(crate) fn standing(&self) -> Standing {
        *self.standing.borrow()
    }

    /// Returns the front's tills that are missing from the agent's configuration. The agent refuses all requests for
    /// them.
    pub(crate) fn not_named(&self) -> Vec<String> {
        self.not_named.borrow().clone()
    }

    /// Sends a request and waits for the head of the answer. The rest is streamed.
    pub(crate) async fn ask(&self, question: Question) -> Result<Response<AnswerBody>, AgentError> {
        let slot = self.slot(question.room).await?;
        Ok(AnswerBody::of(self.head(question).await?, slot))
    }

    /// Waits for a slot of this group. Requests get slots in their order of arrival.
    pub(crate) async fn slot(&self, room: Room) -> Result<AgentSlot, AgentError> {
        let slots = self.rooms.iter().find(|(name, _)| *name == room).map(|(_, slots)| Arc::clone(slots));
        let slots = slots.expect("each room has its line in ROOMS");
        let slot = timeout(SLOT_WAIT, slots.acquire_owned()).await;
        slot.ok().and_then(Result::ok).ok_or(AgentError::Full)
    }

    /// Does the same as [`Self::ask`] for a caller that already has a slot. [`AnswerBody::of`] reads the rest of the
    /// answer.
    pub(crate) async fn head(&self, question: Question) -> Result<Response<Incoming>, AgentError> {
        self.unless_down()?;
        self.send(question).await
    }

    /// Returns the status and the answer as a JSON value, which is `Null` if the answer is not JSON.
    pub(crate) async fn ask_json(&self, question: Question) -> Result<(StatusCode, Value), AgentError> {
        let (head, body) = self.ask(question).await?.into_parts();
        let bytes = body.collect().await.map_err(|_| AgentError::NoAnswer)?.to_bytes();
        Ok((head.status, serde_json::from_slice(&bytes).unwrap_or_default()))
    }

    /// Opens the agent's stream of events for a caller of the front. The stream takes one of the slots for streams.
    pub(crate) async fn listen(&self, headers: HeaderMap, room: Room) -> Result<Heard, AgentError> {
        let listeners = if room == Room::Tills { &self.tills_listen } else { &self.pages_listen };
        let slot = Arc::clone(listeners).try_acquire_owned().map_err(|_| AgentError::Full)?;
        self.unless_down()?;
        // The agent first looks up the session in its journal, so the deadline is longer than `CONNECT`.
        self.events(headers, EVENTS, Some(slot)).await
    }

    /// Opens the agent's stream of events for the front itself.
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
        slot: Option<OwnedSemaphorePermit>,
    ) -> Result<Heard, AgentError> {
        let listened = self.client.listen(headers, patience).await.map_err(|error| not_answered(error, false))?;
        Ok(match listened {
            Listened::Events(events) => Heard::Events(Events { events, _slot: slot }),
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

    /// Keeps one stream of events open and derives the agent's state from it. Never returns.
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
                    tracing::warn!(%status, said, "the agent is running but refuses the front");
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

    /// Checks whether the agent's configuration names these tills, each time the agent becomes reachable. A missing
    /// name is therefore reported before the till's first payment.
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
            (true, true) => tracing::info!(socket = %self.client.socket().display(), "the agent is running"),
            (true, false) => tracing::warn!(socket = %self.client.socket().display(), "the agent is not running"),
            (false, _) => {}
        }
    }
}

/// Checks whether the agent's status lists the front's tills but not this one.
fn is_not_named(status: &Value, till: &str) -> bool {
    let named = status["tills"].as_array();
    named.is_some_and(|named| !named.is_empty() && !named.iter().any(|one| one == till))
}

/// The error message for a till that the agent does not name, with its remedy.
pub(crate) struct NotNamed<'a>(pub(crate) &'a str);

impl std::fmt::Display for NotNamed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let till = self.0;
        write!(
            f,
            "the agent refuses the till {till}; add it to tills in the front's [[till.peer]] in the agent's config.toml"
        )
    }
}

/// The rest of an answer, with its deadline. Dropping this value frees the slot of the request.
pub(crate) struct AnswerBody {
    body: Limited<Incoming>,
    ends: Pin<Box<Sleep>>,
    _slot: OwnedSemaphorePermit,
}

impl AnswerBody {
    /// Limits the time and size of an answer's body, and keeps the request's slot until the body ends.
    pub(crate) fn of(head: Response<Incoming>, slot: AgentSlot) -> Response<Self> {
        head.map(|body| Self {
            body: Limited::new(body, MOST_ANSWER),
            ends: Box::pin(sleep(BODY_DEADLINE)),
            _slot: slot,
        })
    }
}

impl hyper::body::Body for AnswerBody {
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

/// The answer to a request for the stream of events.
pub(crate) enum Heard {
    /// The stream of events.
    Events(Events),
    /// The refusal, in the agent's words.
    Refused {
        /// The HTTP status.
        status: StatusCode,
        /// The problem details object.
        body: Bytes,
    },
}

/// Returns the till of an event. It is empty for the terminal itself, and `None` if the event names no till.
pub(crate) fn till_of(event: &Event) -> Option<String> {
    let data: Value = serde_json::from_str(&event.data).ok()?;
    Some(data.get("till")?.as_str()?.to_owned())
}

/// Checks whether this till may receive the event. Events about the till and about the terminal are allowed.
pub(crate) fn is_for(event: &Event, till: &str) -> bool {
    match (&event.step, till_of(event)) {
        (None, _) => true,
        (Some(_), Some(whose)) => whose.is_empty() || whose == till,
        (Some(_), None) => false,
    }
}

/// A stream of events.
pub(crate) struct Events {
    events: client::Events,
    _slot: Option<OwnedSemaphorePermit>,
}

impl Events {
    /// Returns the next event, or `None` at the end. Dropping the future before it is ready loses no data.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, ClientError> {
        self.events.next().await
    }
}

/// Converts an error of the client. If the connection breaks during a read-only request, the agent counts as down.
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
