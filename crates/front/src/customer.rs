//! The customer's screen: a display that shows the transaction in progress and can do nothing.
//!
//! ```text
//!  cashier's page                  front                               display
//!  POST /front/display ──────────▶ an address with a token, once
//!  opens /customer#TOKEN ────────────────────────────────────────────▶ keeps the token
//!                                  the agent's events, thinned ◀────── GET /front/customer, with the token
//!  POST /front/customer ─────────▶ "the cashier has left it" ────────▶ shows the shop again
//! ```
//!
//! The display's token opens this one stream and nothing else. The stream contains only [`FACTS`] of the transactions
//! at which the customer stands before the reader. It names no card, no operator, no receipt and no other transaction.
//! The list says what a customer may see, so a new field of the agent reaches no display before it is added here. The
//! front keeps only the digest of the token. A new token replaces the earlier one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use pos_till_api::client::Event;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use subtle::ConstantTimeEq;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::agent::{Agent, AgentError, Events, Heard, LAST_EVENT_ID, Question, Room, SILENCE};
use crate::forward::{event_stream, refused};
use crate::pairing::{digest_of, random};
use crate::problem::{Answer, Problem};
use crate::qr;
use crate::state::{StateError, StateFolder};

/// The file of the paired display in the state folder.
const FILE: &str = "display.json";
/// The members of a transaction that a customer may see.
const FACTS: [&str; 11] = [
    "till",
    "reference",
    "kind",
    "state",
    "outcome",
    "amount",
    "tip",
    "approvedAmount",
    "currency",
    "step",
    "language",
];
/// The addresses that a customer opens on a phone: for the payment in progress, or for the receipt.
const ADDRESSES: [&str; 2] = ["redirectUrl", "receiptUrl"];
/// The kinds of transactions at which the customer stands before the reader.
const KINDS: [&str; 6] = ["sale", "pre-authorisation", "credit", "store-card", "refund", "reversal"];
/// The reader's steps that a customer may see. Their sentences are for the cashier, so only the words are sent.
const STEPS: [&str; 12] = [
    "choosing-tip",
    "present-card",
    "insert-card",
    "swipe-card",
    "try-again",
    "type-card",
    "choosing-application",
    "reading-card",
    "pin-entry",
    "pin-wrong",
    "pin-done",
    "remove-card",
];
/// The step of the terminal that says that the reader's slot is empty.
const IDLE: &str = "idle";

/// The paired display, and the transaction that the cashier has left.
#[derive(Debug)]
pub(crate) struct CustomersScreen {
    state: StateFolder,
    paired: Mutex<Option<PairedDisplay>>,
    left: watch::Sender<LeftTransaction>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PairedDisplay {
    /// The SHA-256 digest of the token, hexadecimal.
    digest: String,
    /// The time of the pairing, RFC 3339.
    since: String,
}

/// A transaction whose outcome the cashier has left.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LeftTransaction {
    reference: String,
}

impl CustomersScreen {
    pub(crate) fn restored(state: StateFolder) -> Result<Self, StateError> {
        let paired = Mutex::new(state.read(FILE)?);
        Ok(Self { state, paired, left: watch::channel(LeftTransaction::default()).0 })
    }

    /// Pairs a display, and returns its token. An earlier display loses its token.
    pub(crate) fn pair(&self, since: String) -> Result<String, StateError> {
        let token = hex::encode(random::<32>());
        let display = PairedDisplay { digest: digest_of(&token), since };
        let mut paired = self.paired();
        self.state.write(FILE, &display)?;
        *paired = Some(display);
        drop(paired);
        // An open stream of the earlier display ends.
        self.left.send_modify(|_| {});
        tracing::info!("a customer's screen was paired");
        Ok(token)
    }

    /// Checks whether this is the display's token.
    pub(crate) fn knows(&self, token: &str) -> bool {
        let digest = digest_of(token);
        self.paired().as_ref().is_some_and(|display| bool::from(display.digest.as_bytes().ct_eq(digest.as_bytes())))
    }

    /// Returns the paired display, for a person at the terminal.
    pub(crate) fn status(&self) -> Value {
        self.paired().as_ref().map(|display| json!({ "since": display.since })).unwrap_or_default()
    }

    /// Tells the display that the cashier has left this transaction's outcome.
    pub(crate) fn leave(&self, left: LeftTransaction) {
        self.left.send_replace(left);
    }

    fn paired(&self) -> MutexGuard<'_, Option<PairedDisplay>> {
        // Each change is one assignment, so the data is complete even after a panic.
        self.paired.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the display's stream. It continues after the event `after`. Otherwise its first event is the present state.
pub(crate) async fn stream(
    agent: &Arc<Agent>,
    screen: &Arc<CustomersScreen>,
    (token, after): (&str, Option<&HeaderValue>),
) -> Result<Answer, Problem> {
    let after = after.filter(|id| !id.is_empty() && id.len() <= 256);
    let headers: HeaderMap = after.map(|id| (LAST_EVENT_ID, id.clone())).into_iter().collect();
    // The stream is opened before the state is asked for, so no change between the two is missed.
    let left = screen.left.subscribe();
    let events = match agent.listen(headers, Room::Page).await? {
        Heard::Events(events) => events,
        Heard::Refused { status, body } => return Ok(refused(status, body)),
    };
    let (sender, stream) = mpsc::channel(1);
    let first = if after.is_none() { Some(current(agent).await?) } else { None };
    let shown = Shown { agent: Arc::clone(agent), screen: Arc::clone(screen), token: token.to_owned(), events, left };
    tokio::spawn(async move { shown.forward(first, sender).await });
    Ok(event_stream(stream))
}

/// The sources of a display's stream.
struct Shown {
    agent: Arc<Agent>,
    screen: Arc<CustomersScreen>,
    token: String,
    events: Events,
    left: watch::Receiver<LeftTransaction>,
}

impl Shown {
    /// Forwards what the customer may see. Ends when the agent falls silent or another display is paired.
    async fn forward(mut self, first: Option<Bytes>, listener: mpsc::Sender<Bytes>) {
        let mut next = first;
        loop {
            if let Some(told) = next.take()
                && listener.send(told).await.is_err()
            {
                return;
            }
            next = tokio::select! {
                event = timeout(SILENCE, self.events.next()) => match event {
                    Ok(Ok(Some(event))) if event.is_reset() => match current(&self.agent).await {
                        Ok(current) => Some(current),
                        Err(_) => return,
                    },
                    Ok(Ok(Some(event))) => thinned(&event),
                    _ => return,
                },
                changed = self.left.changed() => match changed {
                    Ok(()) if self.screen.knows(&self.token) => {
                        let left = json!(*self.left.borrow_and_update());
                        Some(format!("event: left\ndata: {left}\n\n").into())
                    }
                    _ => return,
                },
                () = listener.closed() => return,
            };
        }
    }
}

/// Returns an event with the transaction in progress, if there is one.
async fn current(agent: &Agent) -> Result<Bytes, AgentError> {
    let (status, said) = agent.ask_json(Question::get("/v1/status")).await?;
    if status != StatusCode::OK {
        return Err(AgentError::NoAnswer);
    }
    let current = said.get("current").and_then(facts);
    Ok(format!("event: current\ndata: {}\n\n", json!({ "current": current })).into())
}

/// Returns the part of an event that a customer may see.
fn thinned(event: &Event) -> Option<Bytes> {
    let Some(step) = event.step.as_deref() else { return Some(event.raw.clone()).filter(|_| event.data.is_empty()) };
    let said: Value = serde_json::from_str(&event.data).ok()?;
    if said["training"] == true {
        return None;
    }
    let mut told = json!({ "till": said.get("till")?.as_str()?, "reference": said.get("reference")?.as_str()? });
    match said.get("sale") {
        Some(sale) => told["sale"] = facts(sale)?,
        None if STEPS.contains(&step) => {}
        None if step == IDLE && told["reference"] == "" => {}
        None => return None,
    }
    let id = event.id.as_ref().map(|id| format!("id: {id}\n")).unwrap_or_default();
    Some(format!("{id}event: {step}\ndata: {told}\n\n").into())
}

/// Returns what a customer may see of a transaction, or `None` if no customer stands before the reader for it.
fn facts(sale: &Value) -> Option<Value> {
    let sale = sale.as_object()?;
    let is_shown = sale.get("training") != Some(&Value::Bool(true));
    if !is_shown || !KINDS.contains(&sale.get("kind")?.as_str()?) {
        return None;
    }
    let known = FACTS.iter().filter_map(|name| Some(((*name).to_owned(), sale.get(*name)?.clone())));
    let mut facts: Map<String, Value> = known.collect();
    let address = ADDRESSES.iter().find_map(|name| sale.get(*name)?.as_str());
    if let Some(code) = address.and_then(|address| qr::drawn(address).ok()) {
        facts.insert("qr".to_owned(), code);
    }
    Some(Value::Object(facts))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a transaction with every member of the agent's description, and with some that it does not have.
    fn whole_sale() -> Value {
        let described: Value = serde_json::from_str(include_str!("../../../src/till/http/openapi.json")).unwrap();
        let members = described["components"]["schemas"]["SaleView"]["properties"].as_object().unwrap();
        let mut sale: Map<String, Value> = members.keys().map(|name| (name.clone(), "secret".into())).collect();
        for (name, value) in [("kind", json!("sale")), ("training", json!(false)), ("till", json!("local"))] {
            sale.insert(name.to_owned(), value);
        }
        ADDRESSES.iter().for_each(|name| drop(sale.remove(*name)));
        sale.insert("later-member".to_owned(), "secret".into());
        assert!(sale.len() > 30 && FACTS.iter().all(|name| sale.contains_key(*name)), "{sale:?}");
        sale.into()
    }

    fn event(step: &str, data: &Value) -> Event {
        Event::read(format!("id: a-1\nevent: {step}\ndata: {data}\n\n").into())
    }

    fn told(step: &str, data: &Value) -> Option<(Option<String>, Option<String>, Value)> {
        let told = Event::read(thinned(&event(step, data))?);
        Some((told.id, told.step, serde_json::from_str(&told.data).unwrap()))
    }

    #[test]
    fn a_display_gets_the_listed_members_of_a_transaction_and_no_other() {
        let said = json!({ "till": "local", "reference": "R-1", "text": "for the cashier", "sale": whole_sale() });
        let (id, step, told) = told("ended", &said).unwrap();
        assert_eq!((id.as_deref(), step.as_deref()), (Some("a-1"), Some("ended")));
        let names: Vec<&String> = told.as_object().unwrap().keys().collect();
        assert_eq!(names, ["reference", "sale", "till"]);
        let mut names: Vec<&str> = told["sale"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut expected = FACTS.to_vec();
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected);
    }

    #[test]
    fn an_address_for_the_customer_is_sent_as_a_picture_only() {
        for name in ADDRESSES {
            let mut sale = whole_sale();
            sale.as_object_mut().unwrap().retain(|name, _| !ADDRESSES.contains(&name.as_str()));
            assert_eq!(facts(&sale).unwrap().get("qr"), None);
            sale[name] = "https://shop.example/r/4711".into();
            let told = facts(&sale).unwrap();
            assert!(told["qr"]["size"].as_u64().unwrap() > 20 && !told.to_string().contains("shop.example"), "{told}");
        }
    }

    #[test]
    fn training_and_transactions_without_a_customer_are_not_shown() {
        for kind in ["capture", "increment", "reauthorisation", "by-registration", "forget-card", "later-kind"] {
            assert_eq!(facts(&json!({ "kind": kind, "amount": "1.00" })), None, "{kind}");
        }
        for kind in KINDS {
            assert_eq!(facts(&json!({ "kind": kind })), Some(json!({ "kind": kind })));
            assert_eq!(facts(&json!({ "kind": kind, "training": true })), None);
        }
        assert_eq!(told("pin-entry", &json!({ "till": "a", "reference": "R", "training": true })), None);
    }

    #[test]
    fn the_readers_steps_are_sent_without_their_sentences_and_alarms_are_not_sent() {
        let of = |reference: &str| json!({ "till": "a", "reference": reference, "text": "3 tries" });
        for step in STEPS {
            let (_, word, told) = told(step, &of("R")).unwrap();
            assert_eq!((word.as_deref(), told), (Some(step), json!({ "till": "a", "reference": "R" })));
        }
        for step in ["alarm", "printer-waits", "printer-failed", "throttled", "reader-text", "later-step", IDLE] {
            assert_eq!(told(step, &of("R")), None, "{step}");
        }
        for step in ["alarm", "reader-changed", "clock-set-back"] {
            assert_eq!(told(step, &of("")), None, "{step}");
        }
        assert!(told(IDLE, &of("")).is_some());
        let comment = Bytes::from_static(b":\nid: a-2\n\n");
        assert_eq!(thinned(&Event::read(comment.clone())), Some(comment));
        assert_eq!(thinned(&Event::read(Bytes::from_static(b"data: {\"card\":1}\n\n"))), None, "data of no step");
        for unreadable in [json!([]), json!({ "till": 7, "reference": "R" }), json!({ "till": "a" })] {
            assert_eq!(told("pin-entry", &unreadable), None);
        }
    }

    #[test]
    fn a_token_is_known_until_another_display_is_paired_and_only_its_digest_is_stored() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::open(folder.path()).unwrap();
        let screen = CustomersScreen::restored(state.clone()).unwrap();
        assert!(!screen.knows("") && !screen.knows("x"));
        let first = screen.pair("2026-11-27T08:00:00Z".to_owned()).unwrap();
        let stored = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert!(screen.knows(&first) && !stored.contains(&first), "{stored}");
        let again = CustomersScreen::restored(state).unwrap();
        assert!(again.knows(&first), "after a restart");
        assert_eq!(again.status(), json!({ "since": "2026-11-27T08:00:00Z" }));
        let second = again.pair("2026-11-27T09:00:00Z".to_owned()).unwrap();
        assert!(again.knows(&second) && !again.knows(&first));
    }
}
