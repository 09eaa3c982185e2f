//! The Terminal API as Adyen's cloud speaks it, for tills that cannot reach a terminal in the shop's network, or know
//! no other form: `POST /sync` and `POST /async` with the till's key in `x-api-key`, and messages without a seal.
//!
//! ```text
//!  till ── POST /async ──▶ written to disk ──▶ the till's session ──▶ agent
//!  till ◀── ok ────────────────┘                      │
//!  till's server ◀── POST notify ◀── written to disk ─┘ the answer
//! ```
//!
//! An answer `ok` means that the message is on disk. After a restart, the front asks its session again: a message is
//! carried out once, so this gives its outcome. The front does so before it accepts connections. Therefore no status
//! says that a message is unknown which is then carried out. A payment that did not begin within [`LATE`] does not
//! begin, because the customer may be gone.
//!
//! The answer goes to the one address that a person configured for the till. It is sent until a status of success
//! accepts it, or until [`GIVE_UP`]. A till may take any answer for that of the payment that it waits for. So no answer
//! is sent while a later message of the till is open, and the answer to the latest message is sent first.
//!
//! Only the fields that the terminal reads are on disk, in base64. A message with a refused field or a card number is
//! refused before it is written.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{HeaderMap, Response, StatusCode};
use pos_protocols::nexo::card_number::field_with_card_number;
use pos_protocols::nexo::envelope::{Envelope, Message};
use pos_protocols::nexo::request::{Request, RequestBody};
use pos_protocols::nexo::session::{Arrival, leaves_open};
use pos_protocols::nexo::trace;
use reqwest::Client;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, sleep};

use crate::attempts::Attempts;
use crate::config::nexo::{LONGEST_KEY, NexoConfig, NexoTillConfig};
use crate::control::unix_s;
use crate::guard::Way;
use crate::nexo::{Event, MOST_WAITING, NexoTill};
use crate::pairing::digest_of;
use crate::problem::{Answer, whole};
use crate::seen::SeenTill;
use crate::state::{StateError, StateFolder};
use crate::task;
use crate::webhooks::{Unaccepted, accepted, client, until_accepted};

/// The header with the till's key.
pub(crate) const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
/// The limit on wrong keys from one address. It allows for the mistakes of a person who types the key.
const WRONG_KEYS: (u32, Duration) = (20, Duration::from_secs(60));
/// The largest number of messages of one till that wait for an answer, or whose answer waits for the till. Their file
/// is written whole: 16 payments with their receipts are about 250 kB. After a restart, they all fit into the session's
/// queue.
const MOST: usize = MOST_WAITING;
/// The largest message in bytes. A payment has less than 5 kB.
pub(crate) const MOST_MESSAGE: usize = 8 * 1024;
/// The age from which on a message begins nothing. Adyen's tills wait for two minutes.
const LATE: Duration = Duration::from_secs(120);
/// The time from the message for which its answer is sent and an unknown outcome is asked for. It begins again when the
/// front is restarted.
const GIVE_UP: Duration = Duration::from_secs(24 * 3600);
/// The pause before the front asks for an outcome again.
const ASK_AGAIN: Duration = Duration::from_secs(5);
/// The greatest difference between the steps of the two clocks while the board runs and its clock is not set.
const STEP_S: u64 = 5;

/// The form of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `/nexo`: the terminal in the shop's network.
    Local,
    /// `/sync`: the cloud, which answers when the outcome is known.
    Sync,
    /// `/async`: the cloud, which answers immediately.
    Async,
}

/// The keys of all tills.
pub(crate) struct ApiKeys {
    /// SaleIDs by the digests of their keys.
    keys: Vec<(String, String)>,
    wrong: Mutex<Attempts>,
}

impl ApiKeys {
    pub(crate) fn of(config: &NexoConfig) -> Self {
        // The check of the configuration has already read the keys.
        let key = |till: &NexoTillConfig| Some((till.api_key().ok().flatten()?, till.sale_id.clone()));
        let keys = config.tills.iter().filter_map(key).collect();
        Self { keys, wrong: Mutex::new(Attempts::new(WRONG_KEYS.0, WRONG_KEYS.1)) }
    }

    /// Checks whether any till uses the cloud form.
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the SaleID to which the key of a request belongs. The refusal is a text with status 401, also after too
    /// many wrong keys: Odoo shows the text of this status, and takes any other answer for a payment in progress.
    pub(crate) fn sale_id(&self, headers: &HeaderMap, way: Way) -> Result<&str, Box<Answer>> {
        let mut given = headers.get_all(API_KEY).iter();
        let key =
            given.next().map(HeaderValue::as_bytes).filter(|key| key.len() <= LONGEST_KEY && given.next().is_none());
        let Some(key) = key.and_then(|key| str::from_utf8(key).ok()) else {
            let why = "x-api-key: send this header once, with the key in api-key-file of the till's [[nexo.till]]";
            return Err(Box::new(unauthorized(why)));
        };
        let digest = digest_of(key);
        let same = |known: &String| bool::from(known.as_bytes().ct_eq(digest.as_bytes()));
        // All keys are compared, so the time does not reveal which one fits.
        let mut found = None;
        for (known, sale_id) in &self.keys {
            if same(known) {
                found = Some(sale_id.as_str());
            }
        }
        found.ok_or_else(|| Box::new(self.wrong(way)))
    }

    /// Counts a wrong key for its address, and returns the refusal.
    fn wrong(&self, way: Way) -> Answer {
        let (now, whence) = (Instant::now(), way.whence());
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(left) = wrong.must_wait(whence, now) {
            let seconds = left.as_secs().max(1);
            let mut answer =
                unauthorized(&format!("x-api-key: too many wrong keys from this address; wait {seconds} s"));
            answer.headers_mut().insert(RETRY_AFTER, seconds.into());
            return answer;
        }
        wrong.count(whence, now);
        tracing::warn!(from = %way.peer, "a till's message was refused: no till has its x-api-key");
        unauthorized("x-api-key: unknown at this terminal; compare it with api-key-file in front.toml")
    }
}

fn unauthorized(why: &str) -> Answer {
    let mut answer = text(why);
    *answer.status_mut() = StatusCode::UNAUTHORIZED;
    answer
}

/// Creates the answer to a message that is on disk.
pub(crate) fn ok() -> Answer {
    text("ok")
}

fn text(text: &str) -> Answer {
    let mut answer = Response::new(whole(text.to_owned()));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}

/// The reason why a message is not accepted. Nothing of it was begun.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotKept {
    /// The queue is full.
    #[error("{MOST} messages of this till wait for their outcome; wait for it, or ask for it by TransactionStatus")]
    Full,
    /// The message is too large for the queue.
    #[error("the message is larger than {MOST_MESSAGE} bytes; send it to /sync")]
    TooLarge,
    /// The terminal refuses a field, which may contain card data.
    #[error("{0}: this terminal does not support it; omit it")]
    Field(String),
    /// A field looks like a card number.
    #[error("{0}: looks like a card number; omit it")]
    CardNumber(String),
    /// The state folder cannot be written.
    #[error("the terminal cannot write its state; nothing was begun")]
    Unwritten(#[source] StateError),
}

/// A message of the queue, with its answer when it has one.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    at: Moment,
    /// The time from which [`GIVE_UP`] counts.
    #[serde(skip, default = "Instant::now")]
    since: Instant,
    /// The message, in base64.
    message: String,
    /// The answer, in base64.
    answer: Option<String>,
}

/// A moment by two clocks of the board. A clock that was set, or a board that was restarted, shows in their difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Moment {
    /// Seconds since 1970, as far as the board knows.
    unix_s: u64,
    /// Seconds since the board was started.
    up_s: u64,
}

impl Moment {
    /// Returns the current moment, which is this time of the clock.
    pub(crate) fn of(now: SystemTime) -> Self {
        let up = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        Self { unix_s: unix_s(now), up_s: u64::try_from(up.tv_sec).unwrap_or_default() }
    }

    /// Returns the time since an earlier moment, or `None` if it is not certain.
    fn since(self, earlier: Self) -> Option<Duration> {
        let up = self.up_s.checked_sub(earlier.up_s)?;
        let by_clock = self.unix_s.checked_sub(earlier.unix_s)?;
        (by_clock.abs_diff(up) <= STEP_S).then(|| Duration::from_secs(up))
    }
}

/// The messages of one till on `/async`, and the way of their answers.
pub(crate) struct Outbox {
    seen: Arc<SeenTill>,
    /// The till's address with the client for it.
    notify: Option<(String, Client)>,
    state: StateFolder,
    file: String,
    now: Box<dyn Fn() -> Moment + Send + Sync>,
    kept: Mutex<BTreeMap<u64, Kept>>,
    /// The number of the next message. No number is used again while the front runs.
    next: AtomicU64,
    changed: Notify,
}

impl Outbox {
    /// Reads the queue from the state folder. If it cannot be read, the front must not forget it silently.
    pub(crate) fn restored(
        config: &NexoTillConfig,
        seen: &Arc<SeenTill>,
        state: &StateFolder,
        now: impl Fn() -> Moment + Send + Sync + 'static,
    ) -> Result<Self, String> {
        let till = &config.till;
        let ca = config.notify_ca().map_err(|(wrong, remedy)| format!("nexo.till {till:?}: {wrong}; {remedy}"))?;
        let notify = config.notify.clone().map(|to| Ok((to, client(ca.as_deref())?))).transpose();
        let notify = notify.map_err(|error: reqwest::Error| format!("nexo.till {till:?}: notify-ca-file: {error}"))?;
        let file = format!("nexo-async-{till}.json");
        let kept: BTreeMap<u64, Kept> = state.read(&file).map_err(|error| error.to_string())?.unwrap_or_default();
        let next = AtomicU64::new(kept.keys().next_back().map_or(0, |last| last + 1));
        seen.unsent(kept.len());
        let (seen, state, kept) = (Arc::clone(seen), state.clone(), Mutex::new(kept));
        Ok(Self { seen, notify, state, file, now: Box::new(now), kept, next, changed: Notify::new() })
    }

    /// Writes a message. Returns its number, or `None` if the same message is there already.
    pub(crate) fn keep(&self, request: &Request) -> Result<Option<u64>, NotKept> {
        let refused = match &request.body {
            RequestBody::Payment(payment) => &payment.refused,
            RequestBody::Reversal(reversal) => &reversal.refused,
            _ => &None,
        };
        if let Some(field) = refused {
            return Err(NotKept::Field(field.clone()));
        }
        if let Some(field) = field_with_card_number(request) {
            return Err(NotKept::CardNumber(field));
        }
        let message = Message::Request(request.clone()).write();
        if message.len() > MOST_MESSAGE {
            return Err(NotKept::TooLarge);
        }
        let message = STANDARD.encode(message);
        let mut kept = self.kept();
        if kept.values().any(|one| one.message == message) {
            return Ok(None);
        }
        let mut next = kept.clone();
        if next.len() >= MOST {
            let first = next.iter().find(|(_, one)| one.answer.is_some()).map(|(id, _)| *id).ok_or(NotKept::Full)?;
            tracing::error!(till = self.seen.till, "an answer could not be delivered and was dropped: too many wait");
            next.remove(&first);
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        next.insert(id, Kept { at: (self.now)(), since: Instant::now(), message, answer: None });
        self.state.write(&self.file, &next).map_err(|error| {
            tracing::error!(%error, till = self.seen.till, "a message could not be written and was refused");
            NotKept::Unwritten(error)
        })?;
        *kept = next;
        self.seen.unsent(kept.len());
        self.changed.notify_one();
        Ok(Some(id))
    }

    /// Returns the messages without an answer, in order.
    fn open(&self) -> Vec<(u64, Vec<u8>)> {
        let kept = self.kept();
        let open = kept.iter().filter(|(_, one)| one.answer.is_none());
        open.map(|(id, one)| (*id, STANDARD.decode(&one.message).unwrap_or_default())).collect()
    }

    /// Returns how a message comes to the session after an interruption. It is late too if its age is not certain.
    fn arrival(&self, id: u64) -> Arrival {
        let age = self.kept().get(&id).and_then(|one| (self.now)().since(one.at));
        age.and_then(|age| LATE.checked_sub(age)).map_or(Arrival::Late, |left| Arrival::Again { left })
    }

    /// Returns until when the outcome of a message is asked for and its answer is sent.
    fn end_of(&self, id: u64) -> Instant {
        self.kept().get(&id).map_or_else(Instant::now, |one| one.since + GIVE_UP)
    }

    /// Takes the answer to a message. A message without an answer, such as an abort, is done.
    fn answer(&self, id: u64, answer: Option<&Message>) {
        let mut kept = self.kept();
        match (answer.filter(|_| self.notify.is_some()), kept.get_mut(&id)) {
            (Some(answer), Some(one)) => one.answer = Some(STANDARD.encode(answer.write())),
            (None, Some(_)) => drop(kept.remove(&id)),
            (_, None) => return,
        }
        self.rewrite(&kept);
        drop(kept);
        self.changed.notify_one();
    }

    fn rewrite(&self, kept: &BTreeMap<u64, Kept>) {
        self.seen.unsent(kept.len());
        if let Err(error) = self.state.write(&self.file, kept) {
            tracing::error!(%error, till = self.seen.till, "an answer could not be saved: after a restart, it is sent again");
        }
    }

    /// Returns the answer to send next: that of the latest message, or none while that message is open.
    fn to_send(&self) -> Option<(u64, Vec<u8>)> {
        let kept = self.kept();
        let (id, one) = kept.last_key_value()?;
        Some((*id, STANDARD.decode(one.answer.as_ref()?).unwrap_or_default()))
    }

    /// Waits until this answer is not the next one any more, and no attempt to send it is in progress.
    async fn superseded(&self, id: u64, is_sending: &AtomicBool) {
        while is_sending.load(Ordering::Relaxed) || self.to_send().is_some_and(|(next, _)| next == id) {
            self.changed.notified().await;
        }
    }

    /// Sends the answers to the till's address. Never returns.
    pub(crate) async fn run(self: Arc<Self>) {
        let Some((to, client)) = &self.notify else { return };
        loop {
            let Some((id, body)) = self.to_send() else {
                self.changed.notified().await;
                continue;
            };
            let till = &self.seen.till;
            // The till may have the answer as soon as it is sent, so an attempt is not cut off.
            let is_sending = AtomicBool::new(false);
            let send = async || {
                is_sending.store(true, Ordering::Relaxed);
                let sent = accepted(client.post(to).header(CONTENT_TYPE, "application/json").body(body.clone())).await;
                is_sending.store(false, Ordering::Relaxed);
                self.changed.notify_one();
                sent
            };
            let failed = |attempt: u32, error: &Unaccepted| {
                self.seen.failing(Some(error.why.clone()));
                if attempt == 1 {
                    tracing::warn!(till, error = error.why, "an answer was not accepted; it will be sent again");
                }
            };
            let sent = tokio::select! {
                biased;
                sent = until_accepted(self.end_of(id), send, failed) => sent,
                () = self.superseded(id, &is_sending) => continue,
            };
            if let Err(error) = sent {
                tracing::error!(till, error = error.why, "an answer could not be delivered and was dropped");
            }
            self.seen.failing(None);
            let mut kept = self.kept();
            kept.remove(&id);
            self.rewrite(&kept);
        }
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<u64, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NexoTill {
    /// Gives the messages from before a restart to the session. When this returns, the session knows all of them.
    pub(crate) async fn resume(&self, outbox: &Arc<Outbox>) {
        for (id, message) in outbox.open() {
            let Ok(Envelope::Plain(Message::Request(request))) = Envelope::read_at_terminal(&message) else {
                tracing::error!(
                    till = self.seen.till,
                    "a message from before the restart cannot be read; it is dropped"
                );
                outbox.answer(id, None);
                continue;
            };
            tracing::info!(till = self.seen.till, "asks for the outcome of a message from before the restart");
            self.pursue(outbox, (id, outbox.arrival(id)), request).await;
        }
    }

    /// Gives a message to the session, and its answer to the outbox. When this returns, the session knows the message.
    /// Its way does not depend on the till's connection.
    pub(crate) async fn pursue(&self, outbox: &Arc<Outbox>, (id, arrival): (u64, Arrival), request: Request) {
        let (told, known) = oneshot::channel();
        let pursued = Pursued { outbox: Arc::clone(outbox), events: self.events.clone(), id, request };
        let exchanges = Arc::clone(&self.exchanges);
        let seen = Arc::clone(&self.seen);
        task::spawn(async move {
            let next = || exchanges.fetch_add(1, Ordering::Relaxed);
            let Some(answer) = pursued.until_answered(arrival, told, next).await else { return };
            if let Some(answer) = &answer {
                seen.said("is told ", || trace::line(answer));
            }
            pursued.outbox.answer(id, answer.as_ref());
        });
        // An error means that the front is stopping. The message is on disk.
        let _ = known.await;
    }
}

/// A message on its way to its answer.
struct Pursued {
    outbox: Arc<Outbox>,
    events: mpsc::Sender<Event>,
    id: u64,
    request: Request,
}

impl Pursued {
    /// Asks the session until it has an answer of the terminal's program. Returns `None` if the front is stopping.
    async fn until_answered(
        &self,
        mut arrival: Arrival,
        told: oneshot::Sender<()>,
        next: impl Fn() -> u32,
    ) -> Option<Option<Message>> {
        let mut told = Some(told);
        loop {
            let (answer, answered) = oneshot::channel();
            let received = Message::Request(self.request.clone()).write().into();
            let (exchange, request) = (next(), Box::new(self.request.clone()));
            self.events.send(Event::Asked { exchange, request, arrival, received, answer }).await.ok()?;
            if let Some(told) = told.take() {
                let _ = told.send(());
            }
            let message = answered.await.ok()?;
            let is_open = message.as_ref().is_some_and(leaves_open);
            if !is_open || Instant::now() >= self.outbox.end_of(self.id) {
                return Some(message);
            }
            sleep(ASK_AGAIN).await;
            // Meanwhile a status may have said that the message is unknown, so it must not begin any more.
            arrival = Arrival::Late;
        }
    }
}

#[cfg(test)]
mod tests {
    use pos_protocols::nexo::shared::Outcome;
    use tokio::time::timeout;

    use super::*;

    const UNIX_S: u64 = 1_795_430_096;

    fn at(seconds: u64) -> Moment {
        Moment { unix_s: UNIX_S + seconds, up_s: 1000 + seconds }
    }

    fn outbox(state: &StateFolder, notify: bool, now: fn() -> Moment) -> Outbox {
        // Another test may have installed the provider first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let notify = if notify { "notify = \"https://till.example/\"\n" } else { "" };
        let config = NexoTillConfig::of(&format!("till = \"t\"\nsale-id = \"Till\"\n{notify}"));
        Outbox::restored(&config, &Arc::new(SeenTill::new("t", "nexo", || SystemTime::UNIX_EPOCH)), state, now).unwrap()
    }

    fn payment(id: &str) -> Request {
        let text = format!(
            r#"{{"SaleToPOIRequest":{{"MessageHeader":{{"MessageClass":"Service","MessageCategory":"Payment",
            "MessageType":"Request","ServiceID":"{id}","SaleID":"Till","POIID":"A"}},"PaymentRequest":{{"Unknown":
            "4111111111111111","SaleData":{{"SaleTransactionID":{{"TransactionID":"1","TimeStamp":"t"}}}},
            "PaymentTransaction":{{"AmountsReq":{{"Currency":"EUR","RequestedAmount":5}}}}}}}}}}"#
        );
        match Envelope::read_at_terminal(text.as_bytes()) {
            Ok(Envelope::Plain(Message::Request(request))) => request,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the messages in the file as texts.
    fn written(file: &str) -> String {
        let kept: BTreeMap<u64, Kept> = serde_json::from_str(file).unwrap();
        kept.values().map(|one| String::from_utf8(STANDARD.decode(&one.message).unwrap()).unwrap()).collect()
    }

    fn answered(request: &Request) -> Message {
        let body = request.body.answered(Outcome::success()).unwrap();
        Message::Response(pos_protocols::nexo::response::Response { header: request.header.response(), body })
    }

    #[test]
    fn a_message_is_on_disk_when_it_is_accepted_and_gone_when_its_answer_is() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::open(folder.path()).unwrap();
        let one = outbox(&state, true, || at(0));
        let id = one.keep(&payment("1")).unwrap().unwrap();
        assert_eq!(one.keep(&payment("1")).unwrap(), None, "it is there already");
        let other = one.keep(&payment("2")).unwrap().unwrap();
        let file = std::fs::read_to_string(folder.path().join("nexo-async-t.json")).unwrap();
        let text = written(&file);
        assert!(
            text.contains("RequestedAmount") && !text.contains("4111"),
            "only fields that the terminal reads: {text}"
        );
        // After `kill -9`, both are asked for again, in order.
        let again = outbox(&state, true, || at(120));
        let open = again.open();
        assert_eq!(open.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [id, other]);
        let Ok(Envelope::Plain(read)) = Envelope::read_at_terminal(&open[0].1) else { panic!("{open:?}") };
        assert_eq!(read, Message::Request(payment("1")));
        assert_eq!(again.arrival(id), Arrival::Again { left: Duration::ZERO });
        for (moment, why) in [
            ((|| at(121)) as fn() -> Moment, "it is too old"),
            (|| Moment { unix_s: 3, ..at(5) }, "a clock without a time"),
            (|| Moment { unix_s: UNIX_S + 100, ..at(5) }, "a clock that was set"),
            (|| Moment { up_s: 5, ..at(5) }, "a board that was restarted"),
        ] {
            assert_eq!(outbox(&state, true, moment).arrival(id), Arrival::Late, "{why}");
        }
        // An answer is on disk too. The latest one is sent first, and none while a later message is open.
        again.answer(id, Some(&answered(&payment("1"))));
        assert_eq!(again.to_send(), None);
        again.answer(other, Some(&answered(&payment("2"))));
        let later = outbox(&state, true, || at(9999));
        assert!(later.open().is_empty());
        assert_eq!(later.seen.status()["unsent"], 2);
        assert_eq!(later.to_send(), Some((other, answered(&payment("2")).write())));
        assert_ne!(later.keep(&payment("3")).unwrap(), Some(id), "no number is used twice");
        // Without an address, an answer ends the message. So does an abort, which has no answer.
        let silent = outbox(&state, false, || at(0));
        let id = silent.keep(&payment("4")).unwrap().unwrap();
        silent.answer(id, Some(&answered(&payment("4"))));
        assert!(silent.kept().get(&id).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_sent_for_a_day_from_its_message_and_not_while_a_later_message_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::open(folder.path()).unwrap();
        let one = outbox(&state, true, || at(0));
        let id = one.keep(&payment("1")).unwrap().unwrap();
        tokio::time::sleep(GIVE_UP / 2).await;
        one.answer(id, Some(&answered(&payment("1"))));
        assert_eq!(one.end_of(id), Instant::now() + GIVE_UP / 2);
        let superseded = async {
            timeout(ASK_AGAIN, one.superseded(id, &AtomicBool::new(false))).await.expect("it is not sent any more");
            one.to_send()
        };
        let (sent, later) = tokio::join!(superseded, async { one.keep(&payment("2")).unwrap().unwrap() });
        assert_eq!(sent, None, "a till could take it for the later one");
        one.answer(later, None);
        assert_eq!(one.to_send().map(|(next, _)| next), Some(id));
    }

    #[test]
    fn a_message_with_a_card_number_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let one = outbox(&StateFolder::open(folder.path()).unwrap(), true, || at(0));
        let mut request = payment("1");
        let RequestBody::Payment(body) = &mut request.body else { panic!("{request:?}") };
        body.sale_data.sale_to_acquirer_data =
            Some(serde_json::from_value("metadata.pan=4111111111111111".into()).unwrap());
        let refused = one.keep(&request).unwrap_err().to_string();
        assert_eq!(refused, "SaleToAcquirerData: looks like a card number; omit it");
        assert!(one.kept().is_empty() && !folder.path().join("nexo-async-t.json").exists());
    }

    #[test]
    fn a_queue_without_answers_accepts_no_more_and_an_answer_makes_room() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::open(folder.path()).unwrap();
        let one = outbox(&state, true, || at(0));
        for n in 0..MOST {
            one.keep(&payment(&n.to_string())).unwrap().unwrap();
        }
        assert!(matches!(one.keep(&payment("x")), Err(NotKept::Full)));
        one.answer(7, Some(&answered(&payment("7"))));
        one.keep(&payment("x")).unwrap().unwrap();
        assert!(one.kept().get(&7).is_none() && one.kept().len() == MOST);
        // The last number is not given again, although its message is gone.
        let last = *one.kept().keys().next_back().unwrap();
        one.answer(last, None);
        assert_eq!(one.keep(&payment("y")).unwrap(), Some(last + 1));
        // A folder that cannot be written accepts nothing.
        one.answer(0, None);
        std::fs::remove_dir_all(folder.path()).unwrap();
        assert!(matches!(one.keep(&payment("z")), Err(NotKept::Unwritten(_))));
    }
}
