//! The customer's screen: a second device that shows the transaction in progress and can do nothing.
//!
//! ```text
//!  cashier's page                       front                          customer's screen
//!  POST /front/customer/pair ────────▶ an address with a token, once
//!  opens /customer#TOKEN ────────────────────────────────────────────▶ keeps the token
//!                                       the agent's events, thinned ◀─ GET /front/customer, with the token
//!  POST /front/customer/leave ───────▶ "the cashier has left it" ────▶ shows the shop again
//! ```
//!
//! The token opens this one stream and nothing else. The stream contains only [`FACTS`] of the transactions at which
//! the customer stands before the reader. It names no card, no operator, no receipt and no earlier transaction. A
//! till's reference can be a customer's name, so a digest stands for it. The list says what a customer may see, so a
//! new field of the agent reaches no customer before it is added here. The front keeps only the digest of the token. A
//! new token replaces the earlier one.

use std::collections::VecDeque;
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
use crate::forward::{LONGEST_HEADER, event_stream, refused};
use crate::pairing::{digest_of, random};
use crate::problem::{Answer, Problem};
use crate::qr;
use crate::state::{StateError, StateFolder};
use crate::task;

/// The file of the paired screen in the state folder.
const FILE: &str = "customer.json";
/// The members of a transaction that a customer may see.
const FACTS: [&str; 9] =
    ["kind", "state", "outcome", "amount", "tip", "approvedAmount", "currency", "step", "language"];
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
/// The states of a transaction whose customer stands before the reader.
const UNDER_WAY: [&str; 4] = ["waiting-for-card", "in-progress", "awaiting-signature", "awaiting-till"];
/// The number of transactions that may be on the screen in turn: one at the reader, and those that wait for it.
const MOST_SHOWN: usize = 4;
/// The number of events after which a stream may continue.
const MOST_EVENTS: usize = 256;

/// The paired screen, what it shows, and the transaction that the cashier has left.
#[derive(Debug)]
pub(crate) struct CustomersScreen {
    state: StateFolder,
    paired: Mutex<Option<PairedScreen>>,
    shown: Mutex<Shown>,
    left: watch::Sender<LeftTransaction>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PairedScreen {
    /// The SHA-256 digest of the token, hexadecimal.
    digest: String,
    /// The time of the pairing, RFC 3339.
    since: String,
}

/// A transaction whose outcome the cashier has left.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LeftTransaction {
    till: String,
    reference: String,
}

/// The transactions that were shown while they were under way, and the events sent since just before the latest one
/// began. A stream continues only after one of these events, so no one can ask for earlier transactions.
#[derive(Debug, Default)]
struct Shown {
    transactions: VecDeque<String>,
    events: VecDeque<String>,
}

impl Shown {
    /// Adds a transaction that is under way.
    fn begin(&mut self, name: &str) {
        if self.transactions.iter().any(|known| known == name) {
            return;
        }
        self.transactions.push_back(name.to_owned());
        if self.transactions.len() > MOST_SHOWN {
            self.transactions.pop_front();
        }
        // A screen that has heard everything of the earlier transaction continues after its last event.
        self.events.drain(..self.events.len().saturating_sub(1));
    }

    /// Takes an event about to be sent. Returns false if it is about a transaction that was never shown.
    fn admits(&mut self, part: &CustomersPart) -> bool {
        if let Some(name) = &part.transaction {
            if part.is_under_way {
                self.begin(name);
            } else if !self.transactions.contains(name) {
                return false;
            }
        }
        self.events.extend(part.id.clone());
        if self.events.len() > MOST_EVENTS {
            self.events.pop_front();
        }
        true
    }
}

impl CustomersScreen {
    pub(crate) fn restored(state: StateFolder) -> Result<Self, StateError> {
        let paired = Mutex::new(state.read(FILE)?);
        Ok(Self { state, paired, shown: Mutex::default(), left: watch::channel(LeftTransaction::default()).0 })
    }

    /// Pairs a screen, and returns its token. An earlier screen loses its token.
    pub(crate) fn pair(&self, since: String) -> Result<String, StateError> {
        let token = hex::encode(random::<32>());
        let screen = PairedScreen { digest: digest_of(&token), since };
        let mut paired = lock(&self.paired);
        self.state.write(FILE, &screen)?;
        *paired = Some(screen);
        drop(paired);
        *lock(&self.shown) = Shown::default();
        // An open stream of the earlier screen ends.
        self.left.send_modify(|_| {});
        tracing::info!("a customer's screen was paired");
        Ok(token)
    }

    /// Checks whether this is the screen's token.
    pub(crate) fn knows(&self, token: &str) -> bool {
        let digest = digest_of(token);
        lock(&self.paired).as_ref().is_some_and(|screen| bool::from(screen.digest.as_bytes().ct_eq(digest.as_bytes())))
    }

    /// Returns the paired screen, for a person at the terminal.
    pub(crate) fn status(&self) -> Value {
        lock(&self.paired).as_ref().map(|screen| json!({ "since": screen.since })).unwrap_or_default()
    }

    /// Checks whether a stream may continue after this event.
    fn has_sent(&self, id: &str) -> bool {
        lock(&self.shown).events.iter().any(|sent| sent == id)
    }

    /// Tells the screen that the cashier has left this transaction's outcome.
    pub(crate) fn leave(&self, left: LeftTransaction) {
        self.left.send_replace(left);
    }
}

/// Returns the data. Each change of it is complete even after a panic.
fn lock<T>(data: &Mutex<T>) -> MutexGuard<'_, T> {
    data.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens the screen's stream. It continues after the event `after`, if that event was sent. Otherwise its first event
/// is the present state.
pub(crate) async fn stream(
    agent: &Arc<Agent>,
    screen: &Arc<CustomersScreen>,
    (token, after): (&str, Option<&HeaderValue>),
) -> Result<Answer, Problem> {
    let after = after.filter(|id| id.len() <= LONGEST_HEADER && id.to_str().is_ok_and(|id| screen.has_sent(id)));
    let headers: HeaderMap = after.map(|id| (LAST_EVENT_ID, id.clone())).into_iter().collect();
    // The stream is opened before the state is asked for, so no change between the two is missed.
    let left = screen.left.subscribe();
    let events = match agent.listen(headers, Room::Page).await? {
        Heard::Events(events) => events,
        Heard::Refused { status, body } => return Ok(refused(status, body)),
    };
    let (sender, stream) = mpsc::channel(1);
    let thinning = Thinning::of(token);
    let mut source = Source {
        agent: Arc::clone(agent),
        screen: Arc::clone(screen),
        token: token.to_owned(),
        thinning,
        events,
        left,
    };
    let first = if after.is_none() { Some(source.current().await?) } else { None };
    task::spawn(async move { source.forward(first, sender).await });
    Ok(event_stream(stream))
}

/// The sources of a screen's stream.
struct Source {
    agent: Arc<Agent>,
    screen: Arc<CustomersScreen>,
    token: String,
    thinning: Thinning,
    events: Events,
    left: watch::Receiver<LeftTransaction>,
}

impl Source {
    /// Forwards what the customer may see. Ends when the agent falls silent or another screen is paired.
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
                    Ok(Ok(Some(event))) if event.is_reset() => match self.current().await {
                        Ok(current) => Some(current),
                        Err(_) => return,
                    },
                    Ok(Ok(Some(event))) => self.admitted(&event),
                    _ => return,
                },
                changed = self.left.changed() => match changed {
                    Ok(()) if self.screen.knows(&self.token) => {
                        let left = self.left.borrow_and_update();
                        let name = self.thinning.name(&left.till, &left.reference);
                        Some(format!("event: left\ndata: {}\n\n", json!({ "reference": name })).into())
                    }
                    _ => return,
                },
                () = listener.closed() => return,
            };
        }
    }

    /// Returns an event with the transaction in progress, if there is one.
    async fn current(&mut self) -> Result<Bytes, AgentError> {
        let (status, said) = self.agent.ask_json(Question::get("/v1/status")).await?;
        if status != StatusCode::OK {
            return Err(AgentError::NoAnswer);
        }
        let current = said.get("current").and_then(|sale| self.thinning.facts(sale));
        if let Some(name) = current.as_ref().and_then(|sale| sale["reference"].as_str()) {
            lock(&self.screen.shown).begin(name);
        }
        Ok(format!("event: current\ndata: {}\n\n", json!({ "current": current })).into())
    }

    /// Returns the part of an event that a customer may see, unless it is about a transaction that was never shown.
    fn admitted(&self, event: &Event) -> Option<Bytes> {
        let part = self.thinning.part(event)?;
        lock(&self.screen.shown).admits(&part).then_some(part.told)
    }
}

/// The part of an event that a customer may see.
struct CustomersPart {
    id: Option<String>,
    /// The name of its transaction, if it has one.
    transaction: Option<String>,
    is_under_way: bool,
    told: Bytes,
}

/// Takes from the agent's data what one screen may see.
struct Thinning {
    /// The digest of the screen's token, with which the names of transactions are made.
    token: String,
}

impl Thinning {
    fn of(token: &str) -> Self {
        Self { token: digest_of(token) }
    }

    /// Returns the name of a transaction on this screen. It tells nothing about till and reference.
    fn name(&self, till: &str, reference: &str) -> String {
        let mut name = digest_of(&format!("{} {till} {reference}", self.token));
        name.truncate(32);
        name
    }

    /// Returns the part of an event that a customer may see.
    fn part(&self, event: &Event) -> Option<CustomersPart> {
        let id = event.id.clone();
        let Some(step) = event.step.as_deref() else {
            let told = event.raw.clone();
            return event.data.is_empty().then_some(CustomersPart { id, transaction: None, is_under_way: false, told });
        };
        let said: Value = serde_json::from_str(&event.data).ok()?;
        if said["training"] == true {
            return None;
        }
        let (till, reference) = (said.get("till")?.as_str()?, said.get("reference")?.as_str()?);
        let transaction = (!reference.is_empty()).then(|| self.name(till, reference));
        let mut told = json!({ "reference": transaction.as_deref().unwrap_or_default() });
        let mut is_under_way = true;
        match said.get("sale") {
            Some(sale) => {
                told["sale"] = self.facts(sale)?;
                is_under_way = sale["state"].as_str().is_some_and(|state| UNDER_WAY.contains(&state));
            }
            None if STEPS.contains(&step) => {}
            None if step == IDLE && transaction.is_none() => {}
            None => return None,
        }
        let line = id.as_ref().map(|id| format!("id: {id}\n")).unwrap_or_default();
        let told = format!("{line}event: {step}\ndata: {told}\n\n").into();
        Some(CustomersPart { id, transaction, is_under_way, told })
    }

    /// Returns what a customer may see of a transaction, or `None` if no customer stands before the reader for it.
    fn facts(&self, sale: &Value) -> Option<Value> {
        let is_shown = sale.get("training") != Some(&Value::Bool(true));
        if !is_shown || !KINDS.contains(&sale.get("kind")?.as_str()?) {
            return None;
        }
        let known = FACTS.iter().filter_map(|name| Some(((*name).to_owned(), sale.get(*name)?.clone())));
        let mut facts: Map<String, Value> = known.collect();
        let (till, reference) = (sale.get("till")?.as_str()?, sale.get("reference")?.as_str()?);
        facts.insert("reference".to_owned(), self.name(till, reference).into());
        if let Some(code) = qr::address_of(sale).and_then(|address| qr::drawn(address).ok()) {
            facts.insert("qr".to_owned(), code);
        }
        Some(Value::Object(facts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a transaction with every member of the agent's description, and with some that it does not have.
    fn whole_sale() -> Value {
        let described: Value = serde_json::from_str(include_str!("../../../src/till/http/openapi.json")).unwrap();
        let members = described["components"]["schemas"]["Sale"]["properties"].as_object().unwrap();
        let mut sale: Map<String, Value> = members.keys().map(|name| (name.clone(), "secret".into())).collect();
        for (name, value) in [("kind", json!("sale")), ("training", json!(false)), ("state", json!("in-progress"))] {
            sale.insert(name.to_owned(), value);
        }
        sale.retain(|name, _| !["redirectUrl", "receiptUrl"].contains(&name.as_str()));
        sale.insert("later-member".to_owned(), "secret".into());
        assert!(sale.len() > 30 && FACTS.iter().all(|name| sale.contains_key(*name)), "{sale:?}");
        sale.into()
    }

    fn event(step: &str, data: &Value) -> Event {
        Event::read(format!("id: a-1\nevent: {step}\ndata: {data}\n\n").into())
    }

    fn thinning() -> Thinning {
        Thinning::of("token")
    }

    fn told(step: &str, data: &Value) -> Option<(Option<String>, Option<String>, Value)> {
        let told = Event::read(thinning().part(&event(step, data))?.told);
        Some((told.id, told.step, serde_json::from_str(&told.data).unwrap()))
    }

    #[test]
    fn a_screen_gets_the_listed_members_of_a_transaction_and_no_other() {
        let said = json!({ "till": "local", "reference": "R-1", "text": "for the cashier", "sale": whole_sale() });
        let (id, step, told) = told("ended", &said).unwrap();
        assert_eq!((id.as_deref(), step.as_deref()), (Some("a-1"), Some("ended")));
        let names: Vec<&String> = told.as_object().unwrap().keys().collect();
        assert_eq!(names, ["reference", "sale"]);
        let mut names: Vec<&str> = told["sale"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut expected = [FACTS.as_slice(), &["reference"]].concat();
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected);
    }

    #[test]
    fn a_transactions_name_depends_on_till_reference_and_screen_and_tells_none_of_them() {
        let names = [
            thinning().name("till-1", "Table 5, Miller"),
            thinning().name("till-2", "Table 5, Miller"),
            thinning().name("till-1", "Table 6"),
            Thinning::of("another token").name("till-1", "Table 5, Miller"),
        ];
        let said = json!({ "till": "till-1", "reference": "Table 5, Miller" });
        let (.., told) = told("pin-entry", &said).unwrap();
        assert_eq!(told, json!({ "reference": names[0] }));
        let mut different = names.to_vec();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), 4);
        assert!(names.iter().all(|name| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit())));
    }

    #[test]
    fn an_address_for_the_customer_is_sent_as_a_picture_only() {
        for name in ["redirectUrl", "receiptUrl"] {
            let mut sale = whole_sale();
            assert_eq!(thinning().facts(&sale).unwrap().get("qr"), None);
            sale[name] = "https://shop.example/r/4711".into();
            let told = thinning().facts(&sale).unwrap();
            assert!(told["qr"]["size"].as_u64().unwrap() > 20 && !told.to_string().contains("shop.example"), "{told}");
        }
    }

    #[test]
    fn training_and_transactions_without_a_customer_are_not_shown() {
        let of = |kind: &str| json!({ "kind": kind, "till": "a", "reference": "R", "amount": "1.00" });
        for kind in ["capture", "increment", "reauthorisation", "by-registration", "forget-card", "later-kind"] {
            assert_eq!(thinning().facts(&of(kind)), None, "{kind}");
        }
        for kind in KINDS {
            let mut sale = of(kind);
            let name = thinning().name("a", "R");
            assert_eq!(thinning().facts(&sale), Some(json!({ "kind": kind, "amount": "1.00", "reference": name })));
            sale["training"] = true.into();
            assert_eq!(thinning().facts(&sale), None);
        }
        assert_eq!(told("pin-entry", &json!({ "till": "a", "reference": "R", "training": true })), None);
    }

    #[test]
    fn the_readers_steps_are_sent_without_their_sentences_and_alarms_are_not_sent() {
        let of = |reference: &str| json!({ "till": "a", "reference": reference, "text": "3 tries" });
        for step in STEPS {
            let (_, word, told) = told(step, &of("R")).unwrap();
            assert_eq!((word.as_deref(), told), (Some(step), json!({ "reference": thinning().name("a", "R") })));
        }
        for step in ["alarm", "printer-waits", "printer-failed", "throttled", "reader-text", "later-step", IDLE] {
            assert_eq!(told(step, &of("R")), None, "{step}");
        }
        for step in ["alarm", "reader-changed", "clock-set-back"] {
            assert_eq!(told(step, &of("")), None, "{step}");
        }
        assert!(told(IDLE, &of("")).is_some());
        let comment = Bytes::from_static(b":\nid: a-2\n\n");
        assert_eq!(thinning().part(&Event::read(comment.clone())).unwrap().told, comment);
        let no_step = Bytes::from_static(b"data: {\"card\":1}\n\n");
        assert!(thinning().part(&Event::read(no_step)).is_none(), "data of no step");
        for unreadable in [json!([]), json!({ "till": 7, "reference": "R" }), json!({ "till": "a" })] {
            assert_eq!(told("pin-entry", &unreadable), None);
        }
    }

    #[test]
    fn the_page_has_a_picture_for_each_step_that_is_sent() {
        let pictures = include_str!("../page/picture.js");
        // The picture of a transaction without a step asks for the card.
        for step in STEPS.iter().filter(|step| **step != "present-card") {
            assert!(pictures.contains(&format!("\"{step}\": [")), "{step}");
        }
    }

    /// A sale of yesterday whose outcome arrives now is not this customer's.
    #[test]
    fn an_outcome_is_sent_only_of_a_transaction_that_was_shown_under_way() {
        let mut shown = Shown::default();
        let mut says = |number: u64, state: &str| {
            let sale = json!({ "kind": "sale", "till": "a", "reference": number.to_string(), "state": state });
            let said = json!({ "till": "a", "reference": number.to_string(), "sale": sale });
            shown.admits(&thinning().part(&event("a-step", &said)).unwrap())
        };
        for state in ["ended", "unconfirmed", "unconfirmed-finishing"] {
            assert!(!says(1, state), "{state}");
        }
        for state in UNDER_WAY.into_iter().chain(["unconfirmed", "ended"]) {
            assert!(says(2, state), "{state}");
        }
        // Another one begins while the outcome of the first is announced again.
        assert!(says(3, "waiting-for-card") && says(2, "ended") && says(3, "ended"));
        for number in 4..8 {
            assert!(says(number, "in-progress"));
        }
        assert!(!says(3, "ended"), "the oldest is forgotten");
    }

    #[test]
    fn a_stream_continues_after_the_last_event_of_the_earlier_transaction_or_a_later_one() {
        let folder = tempfile::tempdir().unwrap();
        let screen = CustomersScreen::restored(StateFolder::open(folder.path()).unwrap()).unwrap();
        let says = |number: u64, reference: &str| {
            let said = json!({ "till": "a", "reference": reference });
            let event = Event::read(format!("id: e-{number}\nevent: pin-entry\ndata: {said}\n\n").into());
            assert!(lock(&screen.shown).admits(&thinning().part(&event).unwrap()));
        };
        says(1, "R-1");
        says(2, "R-1");
        assert!(screen.has_sent("e-1") && screen.has_sent("e-2") && !screen.has_sent("e-0"));
        says(3, "R-2");
        assert!(!screen.has_sent("e-1") && screen.has_sent("e-2") && screen.has_sent("e-3"));
        for number in 4..400 {
            says(number, "R-2");
        }
        assert!(!screen.has_sent("e-3") && screen.has_sent("e-399"));
        screen.pair("2026-11-27T08:00:00Z".to_owned()).unwrap();
        assert!(!screen.has_sent("e-399"), "another screen begins anew");
    }

    #[test]
    fn a_token_is_known_until_another_screen_is_paired_and_only_its_digest_is_stored() {
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
