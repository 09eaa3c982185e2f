//! Tills that speak nexo: `POST /nexo/` over TLS, and the exchange between a session and the agent.
//! `pos_protocols::nexo::session` decides how a message is handled.
//!
//! A till is identified by its SaleID and by the key that it shares with the terminal. Unsealed messages are accepted
//! only from this board, unless the configuration permits other addresses. Messages from web pages are never accepted.
//! A till with a key for the cloud form may also use `POST /sync` and `POST /async` (`nexo_cloud`).

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, ORIGIN};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use pos_protocols::clock::rfc3339;
use pos_protocols::nexo::envelope::{Envelope, MAX_MESSAGE, Message, Opened, ReadError, header_of};
use pos_protocols::nexo::header::Header;
use pos_protocols::nexo::reject::Rejected;
use pos_protocols::nexo::request::Request as Asked;
use pos_protocols::nexo::seal::{BlobError, Key};
use pos_protocols::nexo::session::{Action, Arrival, Exchange, Now, Session, Settings};
use pos_protocols::nexo::trace;
use pos_till_api::{ProblemType, Said};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

use crate::agent::{Agent, Room};
use crate::asking::{begin_asking, until};
use crate::callbacks::CALLBACK;
use crate::config::nexo::{NexoConfig, NexoTillConfig};
use crate::control::unix_s;
use crate::forward::{self, STRANGERS_BODY};
use crate::guard::Way;
use crate::listen::{may_connect, until_stopped};
use crate::nexo_cloud::{self, ApiKeys, Form, Moment, NotKept, Outbox};
use crate::problem::{Answer, Problem};
use crate::seen::SeenTill;
use crate::slots::{Lasting, Owner, Slot};
use crate::state::StateFolder;
use crate::task;

/// The largest number of messages that wait for a till's session.
pub(crate) const MOST_WAITING: usize = 16;
/// The `DeviceID` in a notification about a message that reached no session.
const NO_NUMBER: &str = "0";

/// All tills that speak nexo, and their port.
pub(crate) struct Nexo {
    config: NexoConfig,
    api_keys: ApiKeys,
    /// The tills by their SaleIDs.
    tills: HashMap<String, NexoTill>,
    now: fn() -> SystemTime,
}

/// A till that speaks nexo.
pub(crate) struct NexoTill {
    key: Option<Key>,
    pub(crate) seen: Arc<SeenTill>,
    pub(crate) events: mpsc::Sender<Event>,
    pub(crate) exchanges: Arc<AtomicU32>,
    /// The messages on `/async`, if the till has a key for the cloud form.
    outbox: Option<Arc<Outbox>>,
}

/// The session of a till, ready to run.
pub(crate) struct Serving {
    session: Session,
    seen: Arc<SeenTill>,
    heard: mpsc::Receiver<Event>,
    now: fn() -> SystemTime,
}

/// An event that the port sends to a session.
pub(crate) enum Event {
    /// A request, and where its answer goes.
    Asked {
        /// The number of the request.
        exchange: Exchange,
        /// The request.
        request: Box<Asked>,
        /// How it comes to the session.
        arrival: Arrival,
        /// The message as it arrived.
        received: Bytes,
        /// Takes the answer.
        answer: oneshot::Sender<Option<Message>>,
    },
    /// The till no longer waits for this answer.
    Gone(Exchange),
}

/// A message that waits for its answer. If it is dropped unanswered, the till has closed the connection.
struct Waiting<'a> {
    exchange: Exchange,
    events: &'a mpsc::Sender<Event>,
    answered: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.answered {
            // If the queue is full, the session does not learn this and answers a till that is no longer connected.
            let _ = self.events.try_send(Event::Gone(self.exchange));
        }
    }
}

/// The reason why a message is refused.
#[derive(Debug, thiserror::Error)]
enum NotTaken {
    /// The message cannot be read.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    /// The seal of the message is wrong. The answer does not state the cause.
    #[error(transparent)]
    Sealed(#[from] BlobError),
    /// The message is not sealed, so any device on the network could have sent it.
    #[error("unsealed messages are accepted only from this board; seal them with this terminal's key (NexoBlob)")]
    NotSealed,
    /// No configured till has this SaleID.
    #[error("MessageHeader.SaleID: unknown at this terminal; check [[nexo.till]] in front.toml")]
    NoTill,
    /// The key belongs to another till.
    #[error("MessageHeader.SaleID: this x-api-key belongs to another SaleID; use the key of this till")]
    OtherTill,
    /// The terminal has another name.
    #[error("MessageHeader.POIID: this terminal is {0}")]
    OtherTerminal(String),
    /// The message is sealed, but came in the cloud form.
    #[error("a sealed message (NexoBlob) belongs to /nexo; send it there, or without a seal")]
    SealedInCloud,
    /// The message asks for an address of its own.
    #[error("Pos-Callback: answers go only to the address in notify of this till's [[nexo.till]]; omit the header")]
    Address,
    /// The message cannot be accepted for a later answer.
    #[error(transparent)]
    NotKept(#[from] NotKept),
}

/// A received message with its till, and with the key of its seal, if any.
struct Arrived<'a> {
    message: Message,
    till: &'a NexoTill,
    key: Option<&'a Key>,
}

impl Nexo {
    /// Creates the port and the sessions of its tills.
    pub(crate) fn new(
        config: &NexoConfig,
        state: &StateFolder,
        now: fn() -> SystemTime,
    ) -> Result<(Self, Vec<Serving>), String> {
        let (mut tills, mut serving) = (HashMap::new(), Vec::new());
        for till in &config.tills {
            let (events, heard) = mpsc::channel(MOST_WAITING);
            let seen = Arc::new(SeenTill::new(&till.till, "nexo", now));
            serving.push(Serving {
                session: Session::new(settings(till, config)),
                seen: Arc::clone(&seen),
                heard,
                now,
            });
            // The check of the configuration has already read the key.
            let key = till.key().ok().flatten();
            let outbox = match till.api_key() {
                Ok(Some(_)) => Some(Arc::new(Outbox::restored(till, &seen, state, move || Moment::of(now()))?)),
                _ => None,
            };
            let exchanges = Arc::default();
            tills.insert(till.sale_id.clone(), NexoTill { key, seen, events, exchanges, outbox });
        }
        Ok((Self { config: config.clone(), api_keys: ApiKeys::of(config), tills, now }, serving))
    }

    /// Continues with the messages on `/async` from before a restart. Call it before the port accepts connections.
    pub(crate) async fn resume(&self) {
        for till in self.tills.values() {
            if let Some(outbox) = &till.outbox {
                till.resume(outbox).await;
                task::spawn(Arc::clone(outbox).run());
            }
        }
    }

    /// Returns the technician's view of each till.
    pub(crate) fn seen(&self) -> Vec<Arc<SeenTill>> {
        let mut seen: Vec<_> = self.tills.values().map(|till| Arc::clone(&till.seen)).collect();
        seen.sort_by(|one, other| one.till.cmp(&other.till));
        seen
    }

    /// Checks whether a connection from this peer is accepted.
    pub(crate) fn may_connect(&self, peer: SocketAddr) -> bool {
        let on_board = self.config.listen.is_some_and(|listen| listen.ip().is_loopback());
        // If the list is empty and the port is on a network, each till has a key. The configuration is refused
        // otherwise.
        (self.config.from.is_empty() && !on_board) || may_connect(peer, &self.config.from)
    }

    /// Answers a request of any kind.
    pub(crate) async fn answer(&self, request: Request<Incoming>, way: Way, slot: &Arc<Slot>) -> Answer {
        self.taken(request, way, slot).await.unwrap_or_else(Answer::from)
    }

    /// Handles a request. Until its message is read, the request counts for the connection's identified caller, or else
    /// for an unidentified one.
    async fn taken(&self, request: Request<Incoming>, way: Way, slot: &Arc<Slot>) -> Result<Answer, Problem> {
        let reader = slot.known().unwrap_or_else(|| Owner::NexoUnread(slot.whence()));
        let reading = slot.begin(reader, Lasting::Answer)?;
        let form = judged(&request, !self.api_keys.is_empty())?;
        let (head, body) = request.into_parts();
        let sale_id = match form {
            Form::Local => None,
            Form::Sync | Form::Async => match self.api_keys.sale_id(&head.headers, way) {
                Ok(sale_id) => Some(sale_id),
                Err(refusal) => return Ok(reading.until_sent(*refusal)),
            },
        };
        let received = forward::body_of(body, &head.headers, (MAX_MESSAGE, STRANGERS_BODY)).await?;
        let arrived = match sale_id {
            None => self.read(&received, way),
            Some(_) if head.headers.contains_key(CALLBACK) => Err(NotTaken::Address),
            Some(sale_id) => self.read_in_cloud(&received, sale_id),
        };
        let arrived = match arrived {
            Ok(arrived) => arrived,
            Err(why) => {
                self.log(&received, &why, way);
                return Ok(reading.until_sent(self.rejected(&received, &why, form)));
            }
        };
        drop(reading);
        let under_way = slot.begin(Owner::Nexo(arrived.till.seen.till.clone()), Lasting::Answer)?;
        let answer = match form {
            Form::Async => self.accepted(arrived, &received, way).await,
            Form::Local | Form::Sync => self.answered(arrived, received, way).await?,
        };
        Ok(under_way.until_sent(answer))
    }

    /// Accepts a message whose answer is sent later.
    async fn accepted(&self, arrived: Arrived<'_>, received: &[u8], way: Way) -> Answer {
        let Arrived { message, till, .. } = arrived;
        till.seen.came(way.peer.to_string());
        till.seen.said("till says", || trace::line(&message));
        let kept = match (message, &till.outbox) {
            (Message::Request(request), Some(outbox)) => {
                outbox.keep(&request).map(|id| (outbox, id, request)).map_err(NotTaken::from)
            }
            // `read_in_cloud` has refused every other message.
            _ => Err(ReadError::Response.into()),
        };
        match kept {
            Ok((outbox, Some(id), request)) => till.pursue(outbox, (id, Arrival::New), request).await,
            Ok((_, None, _)) => {}
            Err(why) => {
                self.log(received, &why, way);
                return self.rejected(received, &why, Form::Async);
            }
        }
        nexo_cloud::ok()
    }

    /// Reads a message in the cloud form, whose key belongs to this SaleID.
    fn read_in_cloud(&self, received: &[u8], sale_id: &str) -> Result<Arrived<'_>, NotTaken> {
        let Envelope::Plain(message) = Envelope::read_at_terminal(received)? else {
            return Err(NotTaken::SealedInCloud);
        };
        belongs(message.header(), sale_id, &self.config.poi_id)?;
        let till = self.tills.get(sale_id).ok_or(NotTaken::NoTill)?;
        Ok(Arrived { till, message, key: None })
    }

    /// Returns the answer of the till's session.
    async fn answered(&self, arrived: Arrived<'_>, received: Bytes, way: Way) -> Result<Answer, Problem> {
        let Arrived { message, till, key } = arrived;
        till.seen.came(way.peer.to_string());
        till.seen.said("till says", || trace::line(&message));
        // `read` has refused every other message.
        let Message::Request(request) = message else {
            return Ok(self.rejected(&received, &ReadError::Response.into(), Form::Local));
        };
        let gone = || Problem::agent_down("the terminal is stopping; ask for the outcome with TransactionStatus");
        let (answer, answered) = oneshot::channel();
        let exchange = till.exchanges.fetch_add(1, Ordering::Relaxed);
        let request = Box::new(request);
        till.events
            .send(Event::Asked { exchange, request, arrival: Arrival::New, received, answer })
            .await
            .map_err(|_| gone())?;
        let mut waiting = Waiting { exchange, events: &till.events, answered: false };
        let message = answered.await.map_err(|_| gone())?;
        waiting.answered = true;
        if let Some(message) = &message {
            till.seen.said("is told ", || trace::line(message));
        }
        match (message, key) {
            (None, _) => Ok(Response::new(Empty::new().map_err(|never| match never {}).boxed_unsync())),
            (Some(message), None) => Ok(json(StatusCode::OK, message.write())),
            (Some(message), Some(key)) => {
                let mut nonce = [0; 16];
                // A repeated nonce would reveal what two messages have in common.
                SystemRandom::new().fill(&mut nonce).map_err(|_| gone())?;
                Ok(json(StatusCode::OK, message.seal_as_answer(key, nonce)))
            }
        }
    }

    /// Reads a message, identifies its till, and refuses an unsealed message that must be sealed.
    fn read(&self, received: &[u8], way: Way) -> Result<Arrived<'_>, NotTaken> {
        let till_of = |sale_id: Option<&String>| sale_id.and_then(|sale_id| self.tills.get(sale_id));
        match Envelope::read_at_terminal(received)? {
            Envelope::Sealed(sealed) => {
                let till = till_of(sealed.header.sale_id.as_ref());
                // An unknown till and a till without a key give the same error as a wrong key.
                let (till, key) = till.and_then(|till| Some((till, till.key.as_ref()?))).ok_or(BlobError)?;
                let Opened { message, .. } = sealed.open_at_terminal(std::slice::from_ref(key))?;
                Ok(Arrived { message: message?, till, key: Some(key) })
            }
            Envelope::Plain(message) if self.config.plain || way.is_local() => {
                let till = till_of(message.header().sale_id.as_ref()).ok_or(NotTaken::NoTill)?;
                Ok(Arrived { till, message, key: None })
            }
            Envelope::Plain(_) => Err(NotTaken::NotSealed),
        }
    }

    /// Logs details for the technician that no device on the network may learn: the till, the source, and the settings
    /// to compare. The logged name is from the configuration. A SaleID that is not configured has none.
    fn log(&self, received: &[u8], why: &NotTaken, way: Way) {
        let header = header_of(received);
        let till = header.and_then(|header| self.tills.get(header.sale_id.as_ref()?));
        let (name, from) = (till.map(|till| till.seen.till.as_str()), way.peer);
        match (why, till) {
            (NotTaken::Sealed(_), Some(NexoTill { key: None, .. })) => tracing::warn!(
                till = name, %from,
                "a till's sealed message was refused: front.toml has no passphrase-file for this till"
            ),
            (NotTaken::Sealed(_), Some(_)) => tracing::warn!(
                till = name, %from,
                "a till's sealed message was refused: its key differs; compare passphrase, key-identifier and \
                 key-version in its [[nexo.till]] in front.toml with the till's"
            ),
            (NotTaken::Sealed(_), None) => tracing::warn!(
                %from,
                "a sealed message was refused: no [[nexo.till]] in front.toml has its SaleID as sale-id"
            ),
            _ => tracing::info!(till = name, %from, %why, "a till's message was refused"),
        }
    }

    /// Returns the protocol's answer to a refused message. In the cloud form it has status 200, because Adyen's library
    /// reads an answer only with this status.
    fn rejected(&self, received: &[u8], why: &NotTaken, form: Form) -> Answer {
        let unix_s = unix_s((self.now)());
        let header = header_of(received);
        let rejected = Rejected {
            header: header.as_ref(),
            received,
            poi_id: &self.config.poi_id,
            device_id: NO_NUMBER,
            time_stamp: &rfc3339(unix_s),
        };
        let status = if form == Form::Local { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        json(status, rejected.notification(why).write())
    }
}

/// Checks whether a message is from the till to which its key belongs, and for this terminal.
fn belongs(header: &Header, sale_id: &str, poi_id: &str) -> Result<(), NotTaken> {
    match () {
        () if header.sale_id.as_deref() != Some(sale_id) => Err(NotTaken::OtherTill),
        () if header.poi_id != poi_id => Err(NotTaken::OtherTerminal(poi_id.to_owned())),
        () => Ok(()),
    }
}

/// Checks whether a till can have sent the request, and returns its form. A web page cannot be a till.
fn judged(request: &Request<Incoming>, has_cloud: bool) -> Result<Form, Problem> {
    let form = match request.uri().path() {
        "/nexo" | "/nexo/" => Form::Local,
        "/sync" | "/sync/" if has_cloud => Form::Sync,
        "/async" | "/async/" if has_cloud => Form::Async,
        _ => return Err(Problem::not_found()),
    };
    if request.method() != Method::POST {
        return Err(Problem::of(ProblemType::MethodNotAllowed, "a till must send its messages by POST"));
    }
    let headers: &HeaderMap = request.headers();
    if headers.contains_key(ORIGIN) || headers.contains_key("sec-fetch-site") {
        return Err(Problem::forbidden("a web page cannot be a nexo till; pair tills in a browser (see the manual)"));
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(Problem::of(ProblemType::MediaType, "send the message as application/json"));
    }
    Ok(form)
}

fn json(status: StatusCode, body: Vec<u8>) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed_unsync());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

fn settings(till: &NexoTillConfig, config: &NexoConfig) -> Settings {
    Settings {
        sale_id: till.sale_id.clone(),
        poi_id: config.poi_id.clone(),
        credit: till.credit,
        terminal_prints: till.terminal_prints,
        profile: till.profile,
        width: till.width,
        reserves: till.reserves,
        ignore: till.ignore.clone(),
        own_sums: till.own_sums.then(|| till.till.clone()),
    }
}

impl Serving {
    /// Serves until the shutdown.
    pub(crate) async fn run(mut self, agent: Arc<Agent>, mut stopped: watch::Receiver<bool>) {
        let start = Instant::now();
        let mut answers: HashMap<Exchange, oneshot::Sender<Option<Message>>> = HashMap::new();
        let mut asked: JoinSet<(u64, Said)> = JoinSet::new();
        let mut questions: HashMap<u64, AbortHandle> = HashMap::new();
        loop {
            let deadline = self.session.next_deadline().filter(|at| *at < Duration::from_secs(86_400 * 365));
            let actions = tokio::select! {
                event = self.heard.recv() => match event {
                    Some(Event::Asked { exchange, request, arrival, received, answer }) => {
                        answers.insert(exchange, answer);
                        let (request, now) = ((*request, arrival), self.time(start));
                        let actions = self.session.arrived(exchange, request, received.to_vec(), now);
                        let last = self.session.last_request().map(|(category, id)| format!("{category} {id}"));
                        self.seen.commanded(last);
                        actions
                    }
                    Some(Event::Gone(exchange)) => {
                        answers.remove(&exchange);
                        self.session.gone(exchange)
                    }
                    None => return,
                },
                Some(answered) = asked.join_next() => match answered {
                    Ok((ticket, said)) => {
                        questions.remove(&ticket);
                        self.session.said(ticket, said, self.time(start))
                    }
                    // The session gave up this request.
                    Err(_) => Vec::new(),
                },
                () = until(deadline.map(|at| start + at)) => self.session.tick(self.time(start)),
                () = until_stopped(&mut stopped) => return,
            };
            for action in actions {
                match action {
                    Action::Ask { ticket, ask: question } => {
                        let as_till = (&agent, Room::Nexo, self.seen.till.as_str());
                        questions.insert(ticket, begin_asking(&mut asked, as_till, (ticket, question)));
                    }
                    Action::GiveUp { ticket } => {
                        if let Some(question) = questions.remove(&ticket) {
                            // This closes the connection, so the agent notices that the request was given up.
                            question.abort();
                        }
                    }
                    Action::Answer { exchange, message } => {
                        if let Some(answer) = answers.remove(&exchange) {
                            // If the till has closed the connection, it asks again later.
                            let _ = answer.send(message.map(|message| *message));
                        }
                    }
                }
            }
            self.seen.open(answers.len());
        }
    }

    fn time(&self, start: Instant) -> Now {
        Now { steady: start.elapsed(), unix_s: unix_s((self.now)()) }
    }
}

#[cfg(test)]
mod tests {
    use pos_protocols::nexo::enums::Category;

    use super::*;

    #[test]
    fn a_key_opens_its_own_till_at_this_terminal_and_no_other() {
        let header = Header::request(Category::Payment, "1", "Till 1", "A-1");
        assert!(belongs(&header, "Till 1", "A-1").is_ok());
        for (sale_id, poi_id, why) in
            [("Till 2", "A-1", "SaleID"), ("till 1", "A-1", "SaleID"), ("Till 1", "A-2", "POIID")]
        {
            let refusal = belongs(&header, sale_id, poi_id).unwrap_err().to_string();
            assert!(refusal.contains(why), "{refusal}");
        }
        let nobody = Header { sale_id: None, ..header };
        assert!(belongs(&nobody, "Till 1", "A-1").is_err());
    }
}
