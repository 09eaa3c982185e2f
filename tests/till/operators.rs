//! Operators at the real agent: sign-ins, operators' rights, and the handling of PIN tries. This test is the
//! administrator at the Unix socket. The cashiers' till is `till-1`, which uses its token at the port.

use pos_journal::{Db, Reading};
use pos_sim::reader::CardEntry;
use pos_sim::shop::{Options, TILL_TOKEN};
use pos_test_kit::within;
use serde_json::{Value, json};

use crate::counter::Counter;

pub(crate) const ANNA: (&str, &str) = ("Anna", "862435");
pub(crate) const BEN: (&str, &str) = ("Ben", "973546");
const TOM: (&str, &str) = ("Tom", "084657");

/// A request and its answer.
pub(crate) struct Asked {
    pub(crate) status: u16,
    pub(crate) body: Value,
    retry_after: Option<u64>,
}

impl Asked {
    pub(crate) fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }
}

/// An interface to the agent, with the data that it adds to each request.
#[derive(Clone)]
pub(crate) struct TestTill {
    http: reqwest::Client,
    base: String,
    token: Option<&'static str>,
    session: Option<String>,
    approval: Option<String>,
    place: Option<&'static str>,
}

impl TestTill {
    pub(crate) fn socket(counter: &Counter) -> Self {
        let http = reqwest::Client::builder().unix_socket(counter.shop.socket()).no_proxy().pool_max_idle_per_host(0);
        Self {
            http: http.build().unwrap(),
            base: "http://localhost".to_owned(),
            token: None,
            session: None,
            approval: None,
            place: None,
        }
    }

    /// Returns the till `till-1`.
    pub(crate) async fn till(counter: &Counter) -> Self {
        let port = within("the port", async {
            loop {
                if let Some(port) = counter.status().await.http {
                    return port;
                }
                tokio::task::yield_now().await;
            }
        });
        let base = format!("http://{}", port.await.address);
        let http = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
        Self { http, base, token: Some(TILL_TOKEN), session: None, approval: None, place: None }
    }

    /// Returns the same interface for a person at this address in the till's network.
    fn at(&self, place: &'static str) -> Self {
        Self { place: Some(place), ..self.clone() }
    }

    fn with(&self, session: &str) -> Self {
        Self { session: Some(session.to_owned()), ..self.clone() }
    }

    /// Returns the same interface with the supervisor's approval from an answer, if the answer contains one.
    pub(crate) fn with_word(&self, answer: &Asked) -> Self {
        Self { approval: answer.body["approval"].as_str().map(str::to_owned), ..self.clone() }
    }

    /// Returns the same interface with another caller's approval.
    pub(crate) fn with_word_of(&self, other: &Self) -> Self {
        Self { approval: other.approval.clone(), ..self.clone() }
    }

    async fn ask(&self, method: &str, path: &str, body: Value) -> Asked {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        request = request.header("content-type", "application/json");
        if let Some(token) = self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if let Some(session) = &self.session {
            request = request.header("Pos-Session", session);
        }
        if let Some(approval) = &self.approval {
            request = request.header("Pos-Supervisor", approval);
        }
        if let Some(place) = self.place {
            request = request.header("Pos-Place", place);
        }
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = within(path, request.body(body).send()).await.unwrap();
        let status = answer.status().as_u16();
        let retry_after = answer.headers().get("retry-after").map(|value| value.to_str().unwrap().parse().unwrap());
        let text = within(path, answer.text()).await.unwrap();
        let body = if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap_or(Value::Null) };
        Asked { status, body, retry_after }
    }

    async fn get(&self, path: &str) -> Asked {
        self.ask("GET", path, Value::Null).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Asked {
        self.ask("POST", path, body).await
    }

    pub(crate) async fn add(&self, (name, pin): (&str, &str), role: &str) {
        let added = self.post("/v1/operators", json!({ "name": name, "role": role, "pin": pin })).await;
        assert_eq!((added.status, &added.body["role"]), (201, &json!(role)), "{}", added.body);
    }

    async fn try_pin(&self, name: &str, pin: &str) -> Asked {
        self.post("/v1/sessions", json!({ "operator": name, "pin": pin })).await
    }

    /// Returns the same interface with this operator signed in.
    pub(crate) async fn signed_in(&self, (name, pin): (&str, &str)) -> Self {
        let opened = self.try_pin(name, pin).await;
        assert_eq!(opened.status, 201, "{}", opened.body);
        self.with(opened.body["session"].as_str().unwrap())
    }

    async fn sale(&self, reference: &str) -> Asked {
        self.post("/v1/sales", json!({ "reference": reference, "amount": "12.34" })).await
    }

    pub(crate) async fn cancelled(&self, reference: &str) {
        let cancelled = self.post(&format!("/v1/sales/{reference}/cancel"), Value::Null).await;
        assert_eq!(cancelled.status, 200, "{}", cancelled.body);
    }

    pub(crate) async fn ended(&self, reference: &str) -> Value {
        let path = format!("/v1/sales/{reference}?wait-s=30");
        let shown = self.get(&path).await;
        assert_eq!(shown.body["state"], "ended", "{}", shown.body);
        shown.body
    }
}

fn changed(with: &str) -> Options {
    Options { config: vec![("[journal]".to_owned(), format!("{with}\n[journal]"))], ..Options::default() }
}

/// Opens a shop that requires operators: Anna is a cashier, Ben a supervisor, Tom a technician.
pub(crate) async fn staffed(more: &str) -> (Counter, TestTill, TestTill) {
    let counter = Counter::open_with(changed(&format!("[operators]\nrequired = true\n{more}"))).await;
    let (root, till) = (TestTill::socket(&counter), TestTill::till(&counter).await);
    root.add(ANNA, "cashier").await;
    root.add(BEN, "supervisor").await;
    root.add(TOM, "technician").await;
    (counter, root, till)
}

#[tokio::test]
async fn without_operators_everything_is_as_it_was() {
    let counter = Counter::open().await;
    let (root, till) = (TestTill::socket(&counter), TestTill::till(&counter).await);
    let begun = till.sale("r").await;
    assert_eq!((begun.status, &begun.body["by"]), (201, &json!({ "token": "till-1" })), "{}", begun.body);
    till.cancelled("r").await;
    assert_eq!(till.get("/v1/operators").await.body, json!({ "required": false, "operators": [] }));
    assert_eq!(till.try_pin("Anna", "862435").await.code(), "wrong-pin");
    let level = root.post("/v1/log-level", json!({ "level": "usual" })).await;
    // The test process has no log whose level can change, but the request is permitted.
    assert_eq!(level.code(), "not-possible", "{}", level.body);
    assert!(!counter.shop.folder().join("journal.db.pin-key").exists());
}

#[tokio::test]
async fn a_cashier_signs_in_and_stands_in_the_sale_the_list_and_the_book() {
    let (mut counter, root, till) = staffed("").await;
    let refused = till.sale("r").await;
    assert_eq!((refused.status, refused.code()), (401, "operator-required"), "{}", refused.body);
    assert_eq!(root.sale("r").await.code(), "operator-required", "root too, for money");
    assert_eq!(till.get("/v1/status").await.status, 200, "to look needs nobody");
    let anna = till.signed_in(ANNA).await;
    let current = anna.get("/v1/sessions/current").await;
    assert_eq!(current.body, json!({ "operator": "Anna", "role": "cashier" }));
    let begun = anna.sale("r").await;
    assert_eq!((begun.status, &begun.body["by"]), (201, &json!({ "token": "till-1", "operator": "Anna" })));
    counter.present(any_card(), CardEntry::Tap).await;
    let ended = till.ended("r").await;
    assert_eq!((&ended["outcome"], &ended["by"]["operator"]), (&json!("approved"), &json!("Anna")), "{ended}");
    let paper = till.http.get(format!("{}/v1/sales/r/receipt?copy=merchant", till.base)).header("accept", "text/plain");
    let paper =
        paper.header("authorization", format!("Bearer {TILL_TOKEN}")).send().await.unwrap().text().await.unwrap();
    assert!(paper.lines().any(|line| line.starts_with("Operator") && line.ends_with("Anna")), "{paper}");
    let listed = counter.verb(&["journal"]).await.unwrap();
    assert!(String::from_utf8_lossy(&listed.stdout).contains("by Anna"), "{listed:?}");
    // Names are case-insensitive. The supervisor and the technician keep their roles.
    let ben = till.signed_in(("bEN", BEN.1)).await;
    assert_eq!(ben.get("/v1/sessions/current").await.body["operator"], "Ben");
    let tom = till.signed_in(TOM).await;
    let refused = tom.sale("t").await;
    assert_eq!((refused.status, refused.code()), (403, "operator-role"), "{}", refused.body);
    counter.stop_agent().await;
    let (mut book, path) = (Reading::open(&counter.shop.folder().join("journal.db")).unwrap(), counter.shop.folder());
    let entries = book.operator_entries().unwrap();
    let told: Vec<_> = entries.iter().map(|it| (it.done, it.name.as_str(), it.role.as_deref())).collect();
    let expected = [("Anna", "cashier"), ("Ben", "supervisor"), ("Tom", "technician")];
    assert_eq!(told, expected.map(|(name, role)| ("added", name, Some(role))));
    assert!(book.verify().unwrap().altered.is_none(), "{}", path.display());
}

pub(crate) fn any_card() -> &'static pos_sim::reader::Card {
    pos_sim::reader::card("tap").unwrap()
}

#[tokio::test]
async fn ten_wrong_pins_lock_and_a_restart_unlocks_nothing() {
    let (mut counter, root, till) = staffed("").await;
    let mut codes = Vec::new();
    for n in 0..10 {
        let tried = till.try_pin("Anna", &format!("11{n}395")).await;
        codes.push((tried.status, tried.code().to_owned(), tried.retry_after.is_some()));
    }
    let wrong = (401, "wrong-pin".to_owned(), false);
    let locked = (429, "operator-locked".to_owned(), true);
    assert_eq!(codes, [vec![wrong; 5], vec![locked; 5]].concat());
    let right = till.try_pin(ANNA.0, ANNA.1).await;
    assert_eq!(right.code(), "operator-locked", "the right PIN is not looked at either");
    assert!((1..=30).contains(&right.retry_after.unwrap()), "{:?}", right.retry_after);
    let shown = root.get("/v1/operators").await;
    assert!(shown.body["operators"][0]["lockedS"].as_u64().is_some_and(|s| s <= 30), "{}", shown.body);
    assert!(shown.body["operators"][1].get("lockedS").is_none(), "Ben is another one: {}", shown.body);

    counter.cut_power().await;
    counter.start_agent();
    counter.until_free().await;
    let (root, till) = (TestTill::socket(&counter), TestTill::till(&counter).await);
    assert_eq!(till.try_pin(ANNA.0, ANNA.1).await.code(), "operator-locked", "over a restart");
    assert_eq!(root.try_pin(ANNA.0, ANNA.1).await.code(), "operator-locked", "through another till");

    let ben = till.signed_in(BEN).await;
    let unlocked = ben.post("/v1/operators/Anna/unlock", Value::Null).await;
    assert_eq!(unlocked.status, 200, "a supervisor unlocks: {}", unlocked.body);
    let opened = till.try_pin(ANNA.0, ANNA.1).await;
    assert_eq!(opened.status, 201, "{}", opened.body);
    let anna = till.with(opened.body["session"].as_str().unwrap());
    assert_eq!(anna.post("/v1/operators/Ben/unlock", Value::Null).await.code(), "operator-role");
    assert_eq!(till.post("/v1/operators/Ben/unlock", Value::Null).await.status, 403, "and a till alone does not");
    drop(root);
    counter.stop_agent().await;
    let book = Reading::open(&counter.shop.folder().join("journal.db")).unwrap();
    let last = book.operator_entries().unwrap().pop().unwrap();
    assert_eq!((last.done, last.by.to_string().as_str()), ("unlocked", "the token of till till-1, operator Ben"));
}

/// Checks that the agent writes a PIN try to the disk before it compares the PIN. A power cut in between uses up the
/// try.
#[tokio::test]
async fn a_power_cut_gives_no_try() {
    let (mut counter, ..) = staffed("").await;
    for round in 0..5 {
        // The port differs after each start.
        let looking = {
            let till = TestTill::till(&counter).await;
            tokio::spawn(async move {
                let _ = till
                    .http
                    .post(format!("{}/v1/sessions", till.base))
                    .header("content-type", "application/json")
                    .header("authorization", format!("Bearer {TILL_TOKEN}"))
                    .body(json!({ "operator": "Anna", "pin": "110395" }).to_string())
                    .send()
                    .await;
            })
        };
        // The try is in the file as soon as it is counted. The answer takes much longer.
        let counted = async {
            loop {
                let path = counter.shop.folder().join("journal.db");
                let file =
                    rusqlite::Connection::open_with_flags(&path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
                let sql = "SELECT coalesce(max(tries), 0) FROM pin_try WHERE who = 'operator:anna'";
                let tries: i64 = file.query_row(sql, [], |row| row.get(0)).unwrap();
                if tries > round {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        within("the count of a try", counted).await;
        counter.cut_power().await;
        looking.abort();
        counter.start_agent();
        counter.until_free().await;
        let now = TestTill::till(&counter).await;
        assert_eq!(now.get("/v1/operators").await.body["operators"][0].get("lockedS").is_some(), round == 4, "{round}");
    }
}

/// Checks a stranger in the front's network who tries every operator and unknown names for as long as possible.
#[tokio::test]
async fn a_strangers_wrong_pins_lock_nobody_out_on_the_board_or_where_the_operators_are_at_work() {
    let (mut counter, root, till) = staffed("").await;
    let work = "192.0.2.7";
    let anna = root.at(work).signed_in(ANNA).await;
    for name in ["Anna", "Ben", "Tom", "Nobody"] {
        let mut codes = Vec::new();
        for _ in 0..6 {
            codes.push(root.at("192.0.2.66").try_pin(name, "110395").await.code().to_owned());
        }
        assert_eq!(codes.last().unwrap(), "operator-locked", "{name}: {codes:?}");
    }
    assert_eq!(root.at("192.0.2.67").try_pin(BEN.0, BEN.1).await.code(), "operator-locked", "nor from a third place");
    root.signed_in(BEN).await;
    till.signed_in(ANNA).await;
    root.at(work).signed_in(BEN).await;
    // The agent still checks the PIN of a supervisor who approves a command on the page of a signed-in cashier.
    let command = json!({ "kind": "credit", "reference": "g", "amount": "1.00" });
    let asked = json!({ "operator": "Ben", "pin": "110395", "for": command });
    assert_eq!(anna.post("/v1/approvals", asked).await.code(), "wrong-pin", "it is looked at");
    counter.cut_power().await;
    counter.start_agent();
    counter.until_free().await;
    let root = TestTill::socket(&counter);
    root.at(work).signed_in(BEN).await;
    assert_eq!(root.at("192.0.2.66").try_pin(ANNA.0, ANNA.1).await.code(), "operator-locked", "over a restart");
    root.post("/v1/operators/Anna/unlock", Value::Null).await;
    root.at("192.0.2.68").signed_in(ANNA).await;
    // A caller that acts only for itself must not send an address.
    let till = TestTill::till(&counter).await;
    let refused = till.at(work).try_pin(ANNA.0, ANNA.1).await;
    assert_eq!(refused.code(), "forbidden");
    assert!(refused.body["detail"].as_str().unwrap().starts_with("Pos-Place: "), "the header's name: {}", refused.body);
    assert_eq!(root.at("a b").try_pin(ANNA.0, ANNA.1).await.code(), "malformed");
}

#[tokio::test]
async fn names_that_nobody_has_are_answered_as_those_that_somebody_has() {
    let (_counter, _, till) = staffed("").await;
    let mut answers = Vec::new();
    for name in ["Anna", "Nobody"] {
        let tried = till.try_pin(name, "110395").await;
        answers.push((tried.status, tried.body));
    }
    assert_eq!(answers[0], answers[1]);
    // The till has one count for all names together.
    for n in 0..8 {
        assert_eq!(till.try_pin(&format!("Nobody {n}"), "110395").await.code(), "wrong-pin", "{n}");
    }
    assert_eq!(till.try_pin("Ben", BEN.1).await.code(), "operator-locked", "ten tries of one till");
}

#[tokio::test]
async fn a_session_is_its_own_callers_and_ends_with_its_operator_and_its_pin() {
    let (_counter, root, till) = staffed("").await;
    let anna = till.signed_in(ANNA).await;
    let session = anna.session.clone().unwrap();
    let stolen = root.with(&session).sale("stolen").await;
    assert_eq!((stolen.status, stolen.code()), (401, "session-ended"), "{}", stolen.body);
    assert_eq!(root.with(&session).ask("DELETE", "/v1/sessions/current", Value::Null).await.code(), "session-ended");
    assert_eq!(anna.get("/v1/sessions/current").await.status, 200, "nobody else signed it out");
    for nonsense in ["", "0", &session[1..], &format!("{session}0")] {
        assert_eq!(till.with(nonsense).get("/v1/status").await.code(), "session-ended", "{nonsense:?}");
    }

    // Signing out does not affect a running sale. The next caller cancels it.
    assert_eq!(anna.sale("r").await.status, 201);
    assert_eq!(anna.ask("DELETE", "/v1/sessions/current", Value::Null).await.status, 204);
    assert_eq!(anna.get("/v1/sessions/current").await.code(), "session-ended");
    assert_eq!(till.get("/v1/sales/r").await.body["state"], "waiting-for-card");
    assert_eq!(till.post("/v1/sales/r/cancel", Value::Null).await.code(), "operator-required");
    let ben = till.signed_in(BEN).await;
    ben.cancelled("r").await;

    // A new PIN signs the operator out, and the old PIN is invalid.
    let anna = till.signed_in(ANNA).await;
    let set = root.post("/v1/operators/anna/pin", json!({ "pin": "551902" })).await;
    assert_eq!(set.status, 200, "{}", set.body);
    assert_eq!(anna.sale("s").await.code(), "session-ended");
    assert_eq!(till.try_pin("Anna", ANNA.1).await.code(), "wrong-pin");
    let anna = till.signed_in(("Anna", "551902")).await;

    // A removed operator is signed out and unknown.
    assert_eq!(root.ask("DELETE", "/v1/operators/Anna", Value::Null).await.status, 204);
    assert_eq!(anna.sale("t").await.code(), "session-ended");
    assert_eq!(till.try_pin("Anna", "551902").await.code(), "wrong-pin");
    assert_eq!(root.ask("DELETE", "/v1/operators/Anna", Value::Null).await.code(), "no-such-operator");
    root.add(ANNA, "cashier").await;
    assert_eq!(anna.sale("t").await.code(), "session-ended", "the name alone is not the session");
}

#[tokio::test]
async fn who_may_manage_operators() {
    let (_counter, root, till) = staffed("").await;
    let new = || json!({ "name": "Eve", "role": "technician", "pin": "551902" });
    for (who, expected) in [(None, "forbidden"), (Some(TOM), "forbidden"), (Some(ANNA), "forbidden")] {
        let till = match who {
            Some(who) => till.signed_in(who).await,
            None => till.clone(),
        };
        assert_eq!(till.post("/v1/operators", new()).await.code(), expected, "by a token: {who:?}");
    }
    for who in [ANNA, BEN] {
        let till = root.signed_in(who).await;
        assert_eq!(till.post("/v1/operators", new()).await.code(), "operator-role", "{who:?}");
        assert_eq!(till.post("/v1/log-level", json!({ "level": "usual" })).await.code(), "operator-role");
    }
    let tom = root.signed_in(TOM).await;
    assert_eq!(tom.post("/v1/operators", new()).await.status, 201);
    let again = tom.post("/v1/operators", json!({ "name": "EVE", "role": "cashier", "pin": "551902" })).await;
    assert_eq!((again.status, again.code()), (409, "operator-exists"), "{}", again.body);
    for (body, code) in [
        (json!({ "name": "Fay", "role": "cashier", "pin": "1234" }), "pin"),
        (json!({ "name": "Fay", "role": "cashier", "pin": "12a4" }), "pin"),
        (json!({ "name": "<b>", "role": "cashier", "pin": "551902" }), "operator"),
        (json!({ "name": "Fay", "role": "owner", "pin": "551902" }), "malformed"),
        (json!({ "name": "Fay", "role": "cashier", "pin": 551_902 }), "malformed"),
    ] {
        let refused = tom.post("/v1/operators", body).await;
        assert_eq!(refused.code(), code, "{}", refused.body);
        assert!(!refused.body.to_string().contains("551902"), "{}", refused.body);
    }
}

#[tokio::test]
async fn a_pin_has_the_length_that_is_fixed() {
    let (_counter, root, till) = staffed("pin-digits = 6\n").await;
    assert_eq!(root.get("/v1/operators").await.body["pinDigits"], 6);
    for (path, body) in [
        ("/v1/operators", json!({ "name": "Eve", "role": "cashier", "pin": "5519" })),
        ("/v1/operators/Anna/pin", json!({ "pin": "55190284" })),
    ] {
        let refused = root.post(path, body).await;
        assert_eq!((refused.status, refused.code()), (422, "pin"), "{}", refused.body);
        let detail = refused.body["detail"].as_str().unwrap();
        assert!(detail.contains("6 digits") && detail.contains("pin-digits"), "{detail}");
        assert!(!refused.body.to_string().contains("5519"), "{}", refused.body);
    }
    till.signed_in(ANNA).await;
    let set = root.post("/v1/operators/Anna/pin", json!({ "pin": "551902" })).await;
    assert_eq!(set.status, 200, "{}", set.body);
    till.signed_in((ANNA.0, "551902")).await;
}

#[tokio::test]
async fn a_supervisor_confirms_what_a_cashier_may_not_do_alone() {
    let (counter, _, till) = staffed("supervisor-above = { refund = \"5.00\" }\n").await;
    let anna = till.signed_in(ANNA).await;
    assert_eq!(anna.sale("s").await.status, 201);
    counter.present(any_card(), CardEntry::Tap).await;
    assert_eq!(anna.ended("s").await["outcome"], "approved");
    let refund = |reference: &str, amount: &str| json!({ "kind": "refund", "of": "s", "reference": reference, "amount": amount });
    let small = anna.post("/v1/sales", refund("r-1", "5.00")).await;
    assert_eq!(small.status, 201, "up to the amount a cashier refunds alone: {}", small.body);
    anna.ended("r-1").await;
    let refused = anna.post("/v1/sales", refund("r-2", "5.01")).await;
    assert_eq!((refused.status, refused.code()), (403, "supervisor-needed"), "{}", refused.body);
    let approve = |who: (&str, &str), reference: &str, amount: &str| json!({ "operator": who.0, "pin": who.1, "for": { "kind": "refund", "of": "s", "reference": reference, "amount": amount } });
    assert_eq!(anna.post("/v1/approvals", approve(TOM, "r-2", "5.01")).await.code(), "no-supervisor");
    assert_eq!(anna.post("/v1/approvals", approve(("Ben", "110395"), "r-2", "5.01")).await.code(), "wrong-pin");
    let given = anna.post("/v1/approvals", approve(BEN, "r-2", "5.01")).await;
    assert_eq!((given.status, &given.body["supervisor"]), (201, &json!("Ben")), "{}", given.body);
    let confirmed = TestTill { approval: given.body["approval"].as_str().map(str::to_owned), ..anna.clone() };
    assert_eq!(confirmed.post("/v1/sales", refund("r-2", "5.02")).await.code(), "not-approved", "another amount");
    assert_eq!(confirmed.post("/v1/sales", refund("r-3", "5.01")).await.code(), "not-approved", "another reference");
    let done = confirmed.post("/v1/sales", refund("r-2", "5.01")).await;
    let by = json!({ "token": "till-1", "operator": "Anna", "supervisor": "Ben" });
    assert_eq!((done.status, &done.body["by"]), (201, &by), "{}", done.body);
    anna.ended("r-2").await;
    // The repeated request returns the same refund, with or without an approval.
    let again = anna.post("/v1/sales", refund("r-2", "5.01")).await;
    assert_eq!((again.status, &again.body["replayed"]), (200, &json!(true)), "{}", again.body);
    // A signed-in supervisor needs no approval. A cashier may reverse payments of the same day alone.
    let ben = till.signed_in(BEN).await;
    let own = ben.post("/v1/sales", refund("r-4", "1.00")).await;
    assert_eq!(own.status, 201, "{}", own.body);
    ben.ended("r-4").await;
    assert_eq!(anna.sale("s-2").await.status, 201);
    counter.present(any_card(), CardEntry::Tap).await;
    anna.ended("s-2").await;
    let void = anna.post("/v1/sales", json!({ "kind": "reversal", "of": "s-2", "reference": "v" })).await;
    assert_eq!(void.status, 201, "{}", void.body);
}

#[tokio::test]
async fn a_supervisors_word_covers_the_tip_that_the_till_names() {
    let (counter, _, till) = staffed("supervisor-above = { sale = \"10.00\" }\n").await;
    let anna = till.signed_in(ANNA).await;
    let sale = |reference: &str, tip: &str| json!({ "reference": reference, "amount": "9.50", "tip": tip });
    assert_eq!(
        anna.post("/v1/sales", sale("s-1", "0.50")).await.status,
        201,
        "with its tip it is what she may do alone"
    );
    anna.cancelled("s-1").await;
    let refused = anna.post("/v1/sales", sale("s-2", "0.51")).await;
    assert_eq!((refused.status, refused.code()), (403, "supervisor-needed"), "{}", refused.body);
    let confirmed_for = async |amount: &str| {
        let command = json!({ "kind": "sale", "reference": "s-2", "amount": amount });
        let given = anna.post("/v1/approvals", json!({ "operator": BEN.0, "pin": BEN.1, "for": command })).await;
        TestTill { approval: given.body["approval"].as_str().map(str::to_owned), ..anna.clone() }
    };
    let without_tip = confirmed_for("9.50").await;
    assert_eq!(
        without_tip.post("/v1/sales", sale("s-2", "0.51")).await.code(),
        "not-approved",
        "the tip was not confirmed"
    );
    let whole = confirmed_for("10.01").await;
    assert_eq!(whole.post("/v1/sales", sale("s-2", "0.60")).await.code(), "not-approved", "another tip");
    let begun = whole.post("/v1/sales", sale("s-2", "0.51")).await;
    let by = json!({ "token": "till-1", "operator": "Anna", "supervisor": "Ben" });
    assert_eq!((begun.status, &begun.body["by"]), (201, &by), "{}", begun.body);
    counter.present(any_card(), CardEntry::Tap).await;
    let ended = anna.ended("s-2").await;
    assert_eq!((&ended["outcome"], &ended["approvedAmount"]), (&json!("approved"), &json!("10.01")), "{ended}");
}

#[tokio::test]
async fn a_till_with_cashiers_of_its_own_needs_no_session_and_says_who_they_are() {
    let mut options = changed("[operators]\nrequired = true\n");
    options.config.push(("till = \"till-1\"".to_owned(), "till = \"till-1\"\noperator = false".to_owned()));
    let counter = Counter::open_with(options).await;
    let (root, till) = (TestTill::socket(&counter), TestTill::till(&counter).await);
    let sale =
        |reference: &str, operator: &str| json!({ "reference": reference, "amount": "12.34", "operator": operator });
    let begun = till.post("/v1/sales", sale("r", " 12 ")).await;
    let by = json!({ "token": "till-1", "statedOperator": "12" });
    assert_eq!((begun.status, &begun.body["by"]), (201, &by), "{}", begun.body);
    till.cancelled("r").await;
    for wrong in ["", "a\u{1b}[2J", &"x".repeat(41), "4111 1111 1111 1111"] {
        assert_eq!(till.post("/v1/sales", sale("s", wrong)).await.status, 422, "{wrong:?}");
    }
    assert_eq!(
        root.post("/v1/sales", sale("t", "12")).await.code(),
        "operator",
        "nobody is believed where they sign in"
    );
    assert_eq!(root.sale("t").await.code(), "operator-required");
}

/// Checks PIN tries at full speed through both interfaces during a sale. The sale is not affected, and each interface
/// is locked after its free tries.
#[tokio::test]
async fn a_flood_of_pins_does_not_hold_up_a_sale() {
    let (counter, root, till) = staffed("").await;
    let anna = till.signed_in(ANNA).await;
    let flood = |till: TestTill, name: &'static str| {
        tokio::spawn(async move {
            let mut answers = std::collections::BTreeMap::<String, u32>::new();
            for _ in 0..200 {
                *answers.entry(till.try_pin(name, "110395").await.code().to_owned()).or_default() += 1;
            }
            answers
        })
    };
    let floods = [flood(till.clone(), "Tom"), flood(till.clone(), "Nobody"), flood(root.clone(), "Tom")];
    assert_eq!(anna.sale("r").await.status, 201);
    counter.present(any_card(), CardEntry::Tap).await;
    assert_eq!(anna.ended("r").await["outcome"], "approved");
    for flood in floods {
        let answers = within("the flood", flood).await.unwrap();
        let looked_at = answers.get("wrong-pin").copied().unwrap_or_default();
        assert!(looked_at <= 5, "{answers:?}");
        let known = ["wrong-pin", "operator-locked", "pin-under-way"];
        assert!(answers.keys().all(|code| known.contains(&code.as_str())), "{answers:?}");
    }
}

/// Checks that the agent opens and continues the journal of an earlier version. The first operator creates the tables
/// of operators.
#[tokio::test]
async fn a_journal_without_operators_gets_them_and_stays_whole() {
    let mut counter = Counter::open().await;
    counter.sell("before", "1.00", any_card().name, CardEntry::Tap).await;
    counter.until_ended("before").await;
    let root = TestTill::socket(&counter);
    root.add(ANNA, "cashier").await;
    counter.sell("after", "1.00", any_card().name, CardEntry::Tap).await;
    counter.until_ended("after").await;
    counter.stop_agent().await;
    let path = counter.shop.folder().join("journal.db");
    let verdict = Reading::open(&path).unwrap().verify().unwrap();
    assert!(verdict.altered.is_none(), "{verdict:?}");
    let (db, opened) = Db::open(&path).unwrap();
    assert!(opened.unsettled.is_empty() && db.operators().unwrap().len() == 1);
}
