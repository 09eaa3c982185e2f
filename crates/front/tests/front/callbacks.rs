//! Tests of the addresses that tills name for the events of a transaction (`Pos-Callback`), with a real receiver.

use reqwest::{Client, Response};
use serde_json::{Value, json};

use crate::pairing::paired;
use crate::process::{Running, problem};
use crate::receiver::{Delivery, Mood, Receiver, hook};
use crate::stand_in::StandIn;

/// A front with one webhook, whose receiver also takes the tills' addresses below `/pos/`.
struct Shop {
    receiver: Receiver,
    agent: StandIn,
    front: Running,
    client: Client,
    token: String,
    config: String,
}

impl Shop {
    async fn begin(change: impl FnOnce(String) -> String) -> Self {
        let receiver = Receiver::begin(Mood::Takes).await;
        let folder = tempfile::tempdir().unwrap();
        let agent = StandIn::begin(folder.path());
        let permitted = format!("callbacks = [\"http://{}/pos/\"]", receiver.address);
        let config = change(hook(folder.path(), &receiver, &permitted));
        let front = Running::begin(folder, &config).await;
        agent.is_listened_to(2).await;
        let client = front.client();
        let token = paired(&front, &client).await;
        Self { receiver, agent, front, client, token, config }
    }

    fn at(&self, path: &str) -> String {
        format!("http://{}{path}", self.receiver.address)
    }

    /// Begins a transaction of the paired till with these addresses.
    async fn sale(&self, reference: &str, callbacks: &[&str]) -> Response {
        self.begins(json!({ "reference": reference }), callbacks).await
    }

    async fn begins(&self, body: Value, callbacks: &[&str]) -> Response {
        let mut request = self.client.post(self.front.https_url("/v1/sales")).bearer_auth(&self.token);
        for callback in callbacks {
            let value = reqwest::header::HeaderValue::from_bytes(callback.as_bytes()).unwrap();
            request = request.header("pos-callback", value);
        }
        request.header("content-type", "application/json").body(body.to_string()).send().await.unwrap()
    }

    /// Adds an event of a transaction of the paired till.
    fn event(&self, reference: &str, state: &str) {
        self.agent.sale(&json!({ "till": "kasse-2", "reference": reference, "state": state }));
    }

    /// Returns the references and paths of all accepted messages.
    async fn taken(&mut self, most: usize) -> Vec<(String, String)> {
        self.receiver.taken(most).await;
        let all: Vec<Delivery> = self.receiver.deliveries.borrow().clone();
        let said = |one: &Delivery| serde_json::from_slice::<Value>(&one.body).unwrap();
        all.iter().map(|one| (said(one)["data"]["reference"].as_str().unwrap().to_owned(), one.path.clone())).collect()
    }

    /// Returns the number of transactions that reached the agent.
    fn begun(&self) -> usize {
        self.agent.heard().iter().filter(|one| one.method == "POST").count()
    }
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(reference, path)| ((*reference).to_owned(), (*path).to_owned())).collect()
}

#[tokio::test]
async fn the_events_of_a_transaction_go_to_the_address_that_its_till_named_also_after_a_crash() {
    let mut shop = Shop::begin(|config| config).await;
    let address = shop.at("/pos/42");
    assert_eq!(shop.sale("R1", &[&address]).await.status(), 201);
    assert_eq!(shop.sale("R2", &[]).await.status(), 201);
    let heard = shop.agent.heard();
    assert!(heard.iter().all(|one| !one.headers.contains_key("pos-callback")), "the agent does not know the header");
    shop.event("R1", "waiting-for-card");
    shop.event("R2", "waiting-for-card");
    // The same reference of another till is another transaction.
    shop.agent.sale(&json!({ "till": "local", "reference": "R1", "state": "ended" }));
    shop.taken(3).await;
    // The position is on disk, so no event comes again.
    let position = shop.front.folder.path().join("state/webhook-books.json");
    while std::fs::read_to_string(&position).unwrap_or_default() != "\"e-3\"" {
        tokio::task::yield_now().await;
    }
    let Shop { receiver, agent, front, client: _, token, config } = shop;
    let front = front.kill().await.begin(&config).await;
    let client = front.client();
    let mut shop = Shop { receiver, agent, front, client, token, config };
    shop.event("R1", "ended");
    shop.event("R2", "ended");
    shop.event("R1", "ended");
    let after = [("R1", "/pos/42"), ("R2", "/hook"), ("R1", "/pos/42")];
    let expected = [&[("R1", "/pos/42"), ("R2", "/hook"), ("R1", "/hook")][..], &after].concat();
    assert_eq!(shop.taken(6).await, pairs(&expected));
}

/// A repeat is the same transaction, so its address changes nothing, unless the agent knows no such transaction.
#[tokio::test]
async fn the_first_address_of_a_transaction_stays() {
    let mut shop = Shop::begin(|config| config).await;
    let [first, second] = ["/pos/first", "/pos/second"].map(|path| shop.at(path));
    // The stand-in knows the transaction R1 and not the transaction `unknown`, although it has accepted both.
    for reference in ["R1", "unknown"] {
        for address in [&first, &first, &second] {
            assert_eq!(shop.sale(reference, &[address]).await.status(), 201);
        }
        assert_eq!(shop.sale(reference, &[]).await.status(), 201, "a repeat without the header");
        shop.event(reference, "ended");
    }
    // A refused request began nothing, so it leaves no address.
    assert_eq!(problem(shop.sale("busy", &[&first]).await).await, (409, "busy".to_owned()));
    shop.event("busy", "ended");
    let expected = [("R1", "/pos/first"), ("unknown", "/pos/second"), ("busy", "/hook")];
    assert_eq!(shop.taken(3).await, pairs(&expected));
}

#[tokio::test]
async fn an_address_that_no_webhook_permits_is_refused_and_nothing_is_passed_on() {
    let shop = Shop::begin(|config| config).await;
    let (host, good) = (shop.receiver.address.clone(), shop.at("/pos/1"));
    let port = host.rsplit_once(':').unwrap().1.to_owned();
    for wrong in [
        format!("http://{host}/post/1"),
        format!("http://{host}/pos/../x"),
        format!("http://{host}/pos/%2e%2e/x"),
        format!("http://{host}/pos/..%2Fx"),
        format!("http://{host}\\pos/1"),
        format!("http://{host}/pos\\..\\x"),
        format!("http://{host}/pos/1#x"),
        format!("http://user:secret@{host}/pos/1"),
        format!("http://{host}@evil.example/pos/1"),
        format!("http://{host}.evil.example/pos/1"),
        format!("http://127.0.0.1/pos/{port}"),
        format!("http://127.0.0.2:{port}/pos/1"),
        format!("https://{host}/pos/1"),
        format!("http://{host}/pos/{}", "a".repeat(300)),
        "https://till.example/pos/1".to_owned(),
        "ftp://127.0.0.1/pos/1".to_owned(),
        "/pos/1".to_owned(),
        "no address".to_owned(),
        String::new(),
    ] {
        let answer = shop.sale("R1", &[&wrong]).await;
        assert_eq!(answer.status(), 422, "{wrong}");
        let said: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        let detail = said["detail"].as_str().unwrap();
        assert_eq!(said["code"], "callback-not-allowed", "{wrong}");
        assert!(detail.contains("Pos-Callback: ") && detail.contains("callbacks of a [[webhook]]"), "{detail}");
        assert!(!detail.contains("secret"), "{detail}");
    }
    for wrong in [&[good.as_str(), good.as_str()][..], &["http://till.ex\u{e4}mple/pos/1"]] {
        assert_eq!(problem(shop.sale("R1", wrong).await).await, (400, "malformed".to_owned()), "{wrong:?}");
    }
    let status = shop.client.get(shop.front.https_url("/v1/status")).bearer_auth(&shop.token);
    let status = status.header("pos-callback", &good).send().await.unwrap();
    assert_eq!(problem(status).await, (400, "malformed".to_owned()), "it begins no transaction");
    assert_eq!(shop.begun(), 0);
    // What cannot be kept over a crash is not begun.
    std::fs::create_dir(shop.front.folder.path().join("state/callbacks.new")).unwrap();
    assert_eq!(problem(shop.sale("R1", &[&good]).await).await, (503, "state".to_owned()));
    assert_eq!(shop.begun(), 0);
    std::fs::remove_dir(shop.front.folder.path().join("state/callbacks.new")).unwrap();
    assert_eq!(shop.sale("R1", &[&good]).await.status(), 201);
}

/// No message of training mode leaves the shop, so its address is checked and not kept.
#[tokio::test]
async fn training_and_requests_without_a_reference_leave_no_address() {
    let shop = Shop::begin(|config| config).await;
    let good = shop.at("/pos/1");
    for body in [json!({ "reference": "R1", "training": "approved" }), json!({}), json!({ "reference": 7 })] {
        assert_eq!(shop.begins(body, &[&good]).await.status(), 201, "the stand-in takes everything");
    }
    assert!(!shop.front.folder.path().join("state/callbacks.json").exists());
    let training = shop.begins(json!({ "reference": "R1", "training": "approved" }), &["https://x.example/"]).await;
    assert_eq!(problem(training).await.1, "callback-not-allowed");
}

/// Missed events may be of any transaction that has not ended.
#[tokio::test]
async fn a_webhook_without_url_sends_to_the_addresses_of_tills_alone() {
    let mut shop =
        Shop::begin(|config| config.lines().filter(|line| !line.starts_with("url")).collect::<Vec<_>>().join("\n"))
            .await;
    for n in 1..=3 {
        let address = shop.at(&format!("/pos/{n}"));
        assert_eq!(shop.sale(&format!("R{n}"), &[&address]).await.status(), 201);
    }
    shop.event("none", "ended");
    shop.event("R2", "ended");
    shop.taken(1).await;
    shop.agent.event("", "reset");
    shop.event("R3", "ended");
    let taken = shop.taken(4).await;
    let expected = [("R2", "/pos/2"), ("3", "/pos/1"), ("3", "/pos/3"), ("R3", "/pos/3")];
    assert_eq!(taken, pairs(&expected));
    let said = shop.front.verb_beside(&["webhook", "test", "books"]).await;
    let wrong = String::from_utf8(said.stderr).unwrap();
    assert!(said.status.code() == Some(65) && wrong.contains("has no url; name a permitted address"), "{wrong}");
    let tested = shop.front.verb_beside(&["webhook", "test", "books", "--callback", &shop.at("/pos/test")]).await;
    assert!(tested.status.success(), "{tested:?}");
    assert_eq!(shop.receiver.attempts(5).await[4].path, "/pos/test");
    let said = String::from_utf8(shop.front.verb(&["webhook", "list"]).stdout).unwrap();
    assert!(said.contains("to the till's address") && !said.contains("/pos/"), "{said}");
    let said = String::from_utf8(shop.front.verb(&["check"]).stdout).unwrap();
    assert!(said.contains("webhook   books\n") && said.contains("books to addresses of tills below http://"), "{said}");
}

#[tokio::test]
async fn a_page_of_a_listed_origin_may_send_the_header() {
    let shop = Shop::begin(|config| config).await;
    let asked = shop.client.request(reqwest::Method::OPTIONS, shop.front.https_url("/v1/sales"));
    let asked = asked.header("origin", "https://till.example").header("access-control-request-method", "POST");
    let answer = asked.send().await.unwrap();
    assert!(answer.headers()["access-control-allow-headers"].to_str().unwrap().contains("Pos-Callback"));
}
