//! Webhooks: delivery of the agent's events to the configured servers, signed as in Standard Webhooks 1.0.0
//! (standardwebhooks.com).
//!
//! Each webhook has its own stream of events. It takes the next event only after the previous one is delivered or given
//! up. Events therefore keep their order, and no queue is needed. The position of a webhook is the id of one event,
//! stored on disk. After an interruption, the front asks the agent to continue after that id (`Last-Event-ID`). A
//! receiver that gets an id twice has already seen the event. This happens if its answer was lost, or if the front
//! stopped before it stored the position. The message is written to disk before it is sent. After a restart the agent
//! sends the event again, but the same id still has the same body.
//!
//! An event with the address of a receipt (`receiptUrl`) also contains that receipt. Its server is outside the shop's
//! network and cannot ask the agent.
//!
//! A failed delivery is retried after 1, 2, 4 … seconds, and then every five minutes, until `give-up-after-h`. Each
//! pause is a little shorter or longer, at random. A message cannot go to another server, because redirects are not
//! followed and no proxy is used.
//!
//! The events of a transaction whose till named an address (`callbacks`) go to that address, in the same stream. A
//! message of type `test`, which a person asks for, is sent once and is no part of the stream.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::StatusCode;
use pos_till_api::client::Event;
use pos_till_api::routes::encoded;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, RequestBuilder};
use ring::hmac;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};
use zeroize::Zeroizing;

use crate::agent::{Agent, Heard, Question, SILENCE, till_of};
use crate::callbacks::Callbacks;
use crate::config::WebhookConfig;
use crate::control::{rfc3339, unix_s};
use crate::deliveries::{Deliveries, DeliveryOutcome};
use crate::pairing::random;
use crate::problem::Problem;
use crate::state::StateFolder;

/// The prefix of every secret (Standard Webhooks, "Signature scheme").
const SECRET_PREFIX: &str = "whsec_";
/// The permitted number of bytes in a secret (Standard Webhooks).
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;
/// The time limits for the connection and for the whole answer (Standard Webhooks advises 15 to 30 s).
const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(15);
/// The step that reports missed events.
const MISSED: &str = "reset";
/// The type of the message that a person asks for. It is no step of the agent.
const TEST: &str = "test";
/// The state of a transaction that has an outcome.
const ENDED: &str = "ended";
/// The pause between the first two attempts, and the longest pause.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// The pause before the front asks the agent again, for its stream of events or for a receipt.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// The largest receipt in a message, in bytes: six times the size of a receipt whose lines all have their maximum
/// length.
const MOST_RECEIPT: usize = 64 * 1024;

/// Returns the key that a text `whsec_…` contains.
pub(crate) fn signing_key(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let key = Zeroizing::new(STANDARD.decode(text.strip_prefix(SECRET_PREFIX)?).ok()?);
    Some(key).filter(|key| SECRET_BYTES.contains(&key.len()))
}

/// Creates a new secret.
pub(crate) fn new_secret() -> String {
    format!("{SECRET_PREFIX}{}", STANDARD.encode(random::<32>()))
}

/// A webhook.
pub(crate) struct Webhook {
    config: WebhookConfig,
    key: hmac::Key,
    client: Client,
    standing: Mutex<HookStanding>,
    /// Locked during a test, so there is one at a time.
    testing: tokio::sync::Mutex<()>,
}

/// The state of a webhook.
#[derive(Debug, Default)]
struct HookStanding {
    delivered: u64,
    given_up: u64,
    delivered_at: Option<SystemTime>,
    /// The start, the number of attempts and the last error, while the delivery of the current event fails.
    failing: Option<(SystemTime, u32, String)>,
    deliveries: Deliveries,
}

/// An answer that accepts no message, or the reason why there is none.
#[derive(Debug)]
pub(crate) struct Unaccepted {
    pub(crate) status: Option<StatusCode>,
    pub(crate) why: String,
}

/// The message, which is the same in each attempt.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Message {
    id: String,
    body: String,
}

impl Webhook {
    pub(crate) fn new(config: &WebhookConfig) -> Result<Self, String> {
        let said = |(wrong, remedy): (String, &str)| format!("webhook {}: {wrong}; {remedy}", config.name);
        let key = hmac::Key::new(hmac::HMAC_SHA256, &config.secret().map_err(said)?);
        let ca = config.ca().map_err(said)?;
        let client = client(ca.as_deref()).map_err(|error| format!("webhook {}: ca-file: {error}", config.name))?;
        Ok(Self { config: config.clone(), key, client, standing: Mutex::default(), testing: Default::default() })
    }

    /// Returns the state for people and programs. The URL is left out because it may contain a secret.
    pub(crate) fn shown(&self) -> Value {
        let standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        let failing = standing.failing.as_ref();
        json!({
            "name": self.config.name,
            "state": if failing.is_some() { "failing" } else { "good" },
            "delivered": standing.delivered,
            "givenUp": standing.given_up,
            "deliveredAt": standing.delivered_at.map(rfc3339),
            "failingSince": failing.map(|(since, ..)| rfc3339(*since)),
            "attempts": failing.map(|(_, attempts, _)| attempts),
            "error": failing.map(|(.., error)| error),
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.config.name
    }

    /// Returns the last events with what became of them.
    pub(crate) fn deliveries(&self) -> Value {
        let standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        json!({ "name": self.config.name, "deliveries": standing.deliveries.shown() })
    }

    fn change(&self, change: impl FnOnce(&mut HookStanding)) {
        change(&mut self.standing.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Sends one message of type `test` to this address, or to the webhook's `url`, and returns the outcome.
    /// Events, their position and their counters are not affected.
    pub(crate) async fn test(&self, to: Option<&str>, now: fn() -> SystemTime) -> Result<Value, Problem> {
        let (name, title) = (&self.config.name, "The webhook cannot be tested");
        let Some(to) = to.or(self.config.url.as_deref()) else {
            let detail = format!("the webhook {name} has no url; name a permitted address: --callback ADDRESS");
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "no-url", title, detail));
        };
        let Ok(_testing) = self.testing.try_lock() else {
            let left = ANSWER.as_secs();
            let detail = format!("a test of the webhook {name} is under way; wait up to {left} s for its answer");
            return Err(Problem::new(StatusCode::CONFLICT, "test-under-way", title, detail));
        };
        let body = json!({ "type": TEST, "timestamp": rfc3339(now()), "data": { "webhook": name } }).to_string();
        let message = Message { id: format!("test_{}", hex::encode(random::<16>())), body };
        let began = Instant::now();
        let sent = self.send(to, &message, now()).await;
        let status = match &sent {
            Ok(status) => Some(*status),
            Err(error) => error.status,
        };
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(
            json!({ "accepted": sent.is_ok(), "id": message.id, "status": status.map(|status| status.as_u16()), "ms": ms,
                   "error": sent.err().map(|error| error.why) }),
        )
    }

    /// Delivers the agent's events. Never returns.
    pub(crate) async fn run(
        self: Arc<Self>,
        agent: Arc<Agent>,
        callbacks: Arc<Callbacks>,
        state: StateFolder,
        now: fn() -> SystemTime,
    ) {
        let file = format!("webhook-{}.json", self.config.name);
        // If the position cannot be read, the webhook continues with the next event.
        let mut after: Option<String> = state.read(&file).ok().flatten();
        loop {
            if let Ok(Heard::Events(mut events)) = agent.listen_for_itself(after.as_deref()).await {
                while let Ok(Ok(Some(event))) = timeout(SILENCE, events.next()).await {
                    let to = if self.wants(&event) { self.addresses(&event, &callbacks) } else { Vec::new() };
                    let taken = !to.is_empty();
                    if taken {
                        let message = self.message(&event, &agent, &state, now).await;
                        let step = event.step.as_deref().unwrap_or_default();
                        let began = Instant::now();
                        for to in &to {
                            self.deliver((&message, step), to, began, now).await;
                        }
                    }
                    note_end(&event, &callbacks);
                    let first = after.is_none();
                    if let Some(id) = event.id {
                        if taken || first {
                            keep(&state, &file, &id);
                        }
                        after = Some(id);
                    }
                }
            }
            sleep(ASK_AGAIN).await;
        }
    }

    /// Checks whether the event is for this webhook. The event must be about one of its tills or about the terminal.
    /// Its step must be a configured one or, by default, one that changes a transaction. A report of missed events is
    /// always for the webhook.
    fn wants(&self, event: &Event) -> bool {
        let Some(step) = &event.step else { return false };
        if step == MISSED {
            return true;
        }
        let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
        if data["training"] == true {
            // A receiver outside the shop could mistake it for a payment.
            return false;
        }
        let its_till = match (&self.config.tills, till_of(event)) {
            (None, _) => true,
            (Some(tills), Some(till)) => till.is_empty() || tills.contains(&till),
            (Some(_), None) => false,
        };
        let its_step = match &self.config.steps {
            Some(steps) => steps.contains(step),
            None => data.get("sale").is_some(),
        };
        its_till && its_step
    }

    /// Returns the addresses to which an event is sent: the one that the till named for the transaction, or else `url`.
    /// Missed events may be of any transaction, so a report of them goes to all these addresses.
    fn addresses(&self, event: &Event, callbacks: &Callbacks) -> Vec<String> {
        let url = || self.config.url.clone();
        if event.is_reset() {
            return url().into_iter().chain(callbacks.open(&self.config.name)).collect();
        }
        let (till, reference) = transaction_of(event).unwrap_or_default();
        let named = callbacks.address(&self.config.name, &till, &reference);
        named.or_else(url).into_iter().collect()
    }

    /// Returns the message of an event. If the event already has a message on disk, that message is used.
    async fn message(&self, event: &Event, agent: &Agent, state: &StateFolder, now: fn() -> SystemTime) -> Message {
        let (file, id) = (format!("webhook-{}-message.json", self.config.name), id_of(event));
        let kept: Option<Message> = state.read(&file).ok().flatten();
        if let Some(kept) = kept.filter(|kept| kept.id == id) {
            return kept;
        }
        let mut data: Value = serde_json::from_str(&event.data).unwrap_or_default();
        if let Some(receipt) = self.receipt(&data["sale"], agent, now).await {
            data["receipt"] = receipt;
        }
        let body = json!({ "type": event.step, "timestamp": rfc3339(now()), "data": data }).to_string();
        let message = Message { id, body };
        if let Err(error) = state.write(&file, &message) {
            tracing::error!(%error, "a webhook's message could not be saved: after a restart, the message has a \
                different time");
        }
        message
    }

    /// Asks the agent for the customer's copy of a transaction whose receipt has an address. While the agent does not
    /// answer, the front asks again until `give-up-after-h`. Then it sends the event without the receipt.
    async fn receipt(&self, sale: &Value, agent: &Agent, now: fn() -> SystemTime) -> Option<Value> {
        sale["receiptUrl"].as_str()?;
        let (till, reference) = (sale["till"].as_str()?, sale["reference"].as_str()?);
        let target = format!("/v1/sales/{}/receipt?copy=customer&till={}", encoded(reference), encoded(till));
        let (began, since) = (Instant::now(), now());
        for attempt in 1.. {
            let (why, may_change) = match agent.ask_json(Question::get(&target)).await {
                Ok((StatusCode::OK, receipt)) if receipt.to_string().len() <= MOST_RECEIPT => return Some(receipt),
                Ok((StatusCode::OK, _)) => (format!("it has more than {MOST_RECEIPT} bytes"), false),
                Ok((status, _)) => (format!("the agent answered {status}"), !status.is_client_error()),
                Err(error) => (error.to_string(), true),
            };
            if !may_change || began.elapsed() > self.config.give_up {
                tracing::error!(webhook = self.config.name, reference, why, "an event is sent without its receipt");
                break;
            }
            self.change(|standing| standing.failing = Some((since, attempt, format!("no receipt: {why}"))));
            sleep(ASK_AGAIN).await;
        }
        None
    }

    /// Sends a message until it is accepted or given up. `began` is the time of the first attempt to any address.
    async fn deliver(&self, (message, step): (&Message, &str), to: &str, began: Instant, now: fn() -> SystemTime) {
        let since = now();
        let is_callback = self.config.url.as_deref() != Some(to);
        self.change(|standing| standing.deliveries.begin(rfc3339(since), step, &message.id, is_callback));
        let failed = |attempt: u32, Unaccepted { status, why: error }: &Unaccepted| {
            let answered = status.map(|_| rfc3339(now()));
            if attempt == 1 {
                tracing::warn!(webhook = self.config.name, error, "an event was not accepted; it will be sent again");
            }
            self.change(|standing| {
                standing.failing = Some((since, attempt, error.clone()));
                standing.deliveries.tried(DeliveryOutcome::Retrying, answered, Some(error));
            });
        };
        let delivered = until_accepted(began + self.config.give_up, || self.send(to, message, now()), failed).await;
        let Err(Unaccepted { why: error, .. }) = delivered else {
            self.change(|standing| {
                standing.delivered += 1;
                (standing.delivered_at, standing.failing) = (Some(now()), None);
                standing.deliveries.tried(DeliveryOutcome::Delivered, Some(rfc3339(now())), None);
            });
            return;
        };
        let (webhook, id) = (&self.config.name, &message.id);
        tracing::error!(webhook, error, id, "an event could not be delivered and was dropped");
        self.change(|standing| {
            standing.given_up += 1;
            standing.deliveries.give_up();
        });
    }

    async fn send(&self, to: &str, message: &Message, now: SystemTime) -> Result<StatusCode, Unaccepted> {
        let seconds = unix_s(now);
        let request = self
            .client
            .post(to)
            .header("content-type", "application/json")
            .header("webhook-id", &message.id)
            .header("webhook-timestamp", seconds.to_string())
            .header("webhook-signature", signature(&self.key, &message.id, seconds, &message.body))
            .body(message.body.clone());
        accepted(request).await
    }
}

/// Creates a client for a receiver. It accepts only this CA, or the system's CAs.
pub(crate) fn client(ca: Option<&[u8]>) -> Result<Client, reqwest::Error> {
    let client = Client::builder()
        .user_agent(concat!("pos-front/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .no_proxy()
        .referer(false)
        .connect_timeout(CONNECT)
        .timeout(ANSWER)
        .pool_max_idle_per_host(1);
    match ca {
        Some(pem) => client.tls_certs_only(Certificate::from_pem_bundle(pem)?).build(),
        None => client.build(),
    }
}

/// Sends a request once. Only a status of success accepts it.
pub(crate) async fn accepted(request: RequestBuilder) -> Result<StatusCode, Unaccepted> {
    // The text of the error may contain the URL, which may contain a secret.
    let unanswered = |error: reqwest::Error| Unaccepted { status: None, why: cause(&error.without_url()) };
    let status = request.send().await.map_err(unanswered)?.status();
    let why = match status {
        status if status.is_success() => return Ok(status),
        status if status.is_redirection() => format!("{status}: redirects are not followed; correct url"),
        StatusCode::GONE => "410 Gone: the receiver wants no more events; remove the webhook".to_owned(),
        status => status.to_string(),
    };
    Err(Unaccepted { status: Some(status), why })
}

/// Sends a message until it is accepted, or until the next pause would end after `until`. `failed` gets each failure.
pub(crate) async fn until_accepted<S: Future<Output = Result<StatusCode, Unaccepted>>>(
    until: Instant,
    send: impl Fn() -> S,
    failed: impl Fn(u32, &Unaccepted),
) -> Result<(), Unaccepted> {
    let mut attempt = 1;
    loop {
        let Err(error) = send().await else { return Ok(()) };
        failed(attempt, &error);
        let [random] = random();
        let pause = pause(attempt, random);
        if Instant::now() + pause > until {
            return Err(error);
        }
        sleep(pause).await;
        attempt += 1;
    }
}

/// Returns the till and the reference of an event.
fn transaction_of(event: &Event) -> Option<(String, String)> {
    let data: Value = serde_json::from_str(&event.data).ok()?;
    Some((data["till"].as_str()?.to_owned(), data["reference"].as_str()?.to_owned()))
}

/// Notes the end of a transaction, after its message was delivered or given up.
fn note_end(event: &Event, callbacks: &Callbacks) {
    let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
    if data["sale"]["state"] == ENDED
        && data["training"] != true
        && let (Some(till), Some(reference)) = (data["till"].as_str(), data["reference"].as_str())
    {
        callbacks.ended(till, reference);
    }
}

fn keep(state: &StateFolder, file: &str, id: &str) {
    if let Err(error) = state.write(file, &id) {
        tracing::error!(%error, "a webhook's progress could not be saved: after a restart, events are sent twice");
    }
}

/// Returns the id of an event's message.
fn id_of(event: &Event) -> String {
    let id = match &event.id {
        Some(id) => id.chars().map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' }).collect(),
        None => hex::encode(random::<16>()),
    };
    format!("evt_{id}")
}

/// Returns the signature: `v1,` and the HMAC-SHA256 of id, timestamp and body (Standard Webhooks, "Signature scheme").
fn signature(key: &hmac::Key, id: &str, seconds: u64, body: &str) -> String {
    let signed = hmac::sign(key, format!("{id}.{seconds}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(signed))
}

/// Returns the pause before the next attempt. It doubles each time, and `random` makes it up to a quarter shorter or
/// longer.
fn pause(attempt: u32, random: u8) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1 << (attempt - 1).min(20)).min(LONGEST_PAUSE);
    doubled * 3 / 4 + doubled * u32::from(random) / 512
}

/// Returns the innermost text of an error. The outer texts say only that a request failed.
fn cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => cause(source),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The example in the libraries of the specification (standard-webhooks/libraries/python/tests/test_webhooks.py).
    #[test]
    fn the_signature_is_that_of_standard_webhooks() {
        let key = signing_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
        let signed = signature(&key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, "{\"test\": 2432232314}");
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    /// Creates a webhook for these tills and steps. It gives up an event after the first failure.
    fn webhook(url: &str, tills: Option<BTreeSet<String>>, steps: Option<BTreeSet<String>>) -> Webhook {
        // Another test may have installed the provider first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let folder = tempfile::tempdir().unwrap();
        let secret_file = folder.path().join("secret");
        std::fs::write(&secret_file, new_secret()).unwrap();
        std::fs::set_permissions(&secret_file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let (name, url, callbacks, ca_file) = ("x".to_owned(), Some(url.to_owned()), Vec::new(), None);
        let give_up = Duration::ZERO;
        Webhook::new(&WebhookConfig { name, url, callbacks, secret_file, ca_file, tills, steps, give_up }).unwrap()
    }

    #[tokio::test]
    async fn what_was_given_up_is_counted_and_the_next_event_is_tried() {
        let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let url = format!("http://{nobody}/");
        let webhook = webhook(&url, None, None);
        for given_up in 1..=2 {
            let message = Message { id: format!("evt_{given_up}"), body: "{}".to_owned() };
            webhook.deliver((&message, "ended"), &url, Instant::now(), || SystemTime::UNIX_EPOCH).await;
            let shown = webhook.shown();
            let listed = webhook.deliveries();
            assert_eq!(listed["deliveries"][given_up - 1]["outcome"], "given-up");
            assert!(!listed.to_string().contains(&nobody.to_string()), "{listed}");
            assert_eq!(
                (&shown["givenUp"], &shown["delivered"], &shown["attempts"]),
                (&json!(given_up), &json!(0), &json!(1))
            );
        }
    }

    /// Tests each field that decides. No event of training mode leaves the shop, regardless of the webhook's
    /// configuration.
    #[test]
    fn what_a_webhook_hears_row_by_row() {
        let set = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        let (all, one) = (
            webhook("http://127.0.0.1/", None, None),
            webhook("http://127.0.0.1/", set(&["a"]), set(&["ended", "idle"])),
        );
        let sale = json!({ "till": "a", "sale": {} });
        let with = |name: &str, value: Value| {
            let mut data = sale.clone();
            data[name] = value;
            data
        };
        for (step, data, by_all, by_one) in [
            ("ended", sale.clone(), true, true),
            ("present-card", sale.clone(), true, false),
            ("ended", with("till", "b".into()), true, false),
            ("ended", with("till", "".into()), true, true),
            ("idle", json!({ "till": "a" }), false, true),
            ("ended", with("training", true.into()), false, false),
            ("present-card", with("training", true.into()), false, false),
            ("idle", json!({ "till": "a", "training": true }), false, false),
            ("ended", with("training", false.into()), true, true),
            ("reset", json!({ "till": "" }), true, true),
        ] {
            let (raw, step) = (bytes::Bytes::new(), Some(step.to_owned()));
            let event = Event { raw, id: None, step, data: data.to_string() };
            assert_eq!((all.wants(&event), one.wants(&event)), (by_all, by_one), "{event:?}");
        }
    }

    #[test]
    fn a_secret_is_long_enough_and_in_base64() {
        assert!(signing_key(&new_secret()).is_some());
        assert_ne!(new_secret(), new_secret());
        for wrong in [
            "",
            "whsec_",
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS",
            "whsec_c2hvcnQ=",
        ] {
            assert_eq!(signing_key(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn pauses_grow_to_five_minutes_and_are_never_the_same_for_all() {
        assert_eq!([1, 2, 3, 10, 4_000_000].map(|attempt| pause(attempt, 128).as_secs()), [1, 2, 4, 300, 300]);
        assert_eq!((pause(3, 0).as_secs(), pause(3, 255).as_secs_f32().round()), (3, 5.0));
    }
}
