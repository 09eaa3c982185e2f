//! Training over real connections. During whole transactions of every kind and outcome, no byte reaches the reader or
//! the gateway, and no count includes them. `src/agent/tests/training.rs` tests each outcome without connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pos_agent::till::{GatewayState, SaleState, SaleView};
use pos_sim::gateway::GatewayCounters;
use pos_sim::reader;
use pos_sim::reader::CardEntry::Tap;
use pos_sim::shop::Options;
use pos_terms::transaction::OutcomeWord;
use pos_test_kit::within;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::counter::{Counter, ended};

/// A shop that permits training. Its reader's connection counts the agent's bytes.
struct Watched {
    counter: Counter,
    to_reader: Arc<AtomicU64>,
}

/// The bytes to the reader, and the bytes and connections to the gateway.
#[derive(Debug, PartialEq, Eq)]
struct Heard {
    to_reader: u64,
    to_gateway: u64,
    connections: u64,
}

impl Watched {
    async fn open() -> Self {
        let reader =
            reader::Options { tcp: Some(([127, 0, 0, 1], 0).into()), removes_card: true, ..reader::Options::default() };
        let config = vec![("[journal]".to_owned(), "[training]\nallowed = true\n\n[journal]".to_owned())];
        let mut counter = Counter::closed(Options { reader, config, ..Options::default() }).await;
        let to_reader = Arc::new(AtomicU64::new(0));
        let place = counter.shop.reader.place();
        let wire = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let text = std::fs::read_to_string(counter.shop.config()).unwrap();
        let port = format!("tcp://{}", wire.local_addr().unwrap());
        std::fs::write(counter.shop.config(), text.replace(&place, &port)).unwrap();
        let (address, counts) = (place.trim_start_matches("tcp://").to_owned(), Arc::clone(&to_reader));
        tokio::spawn(async move {
            while let Ok((agent, _)) = wire.accept().await {
                let reader = TcpStream::connect(&address).await.unwrap();
                tokio::spawn(pass_on(agent, reader, Arc::clone(&counts)));
            }
        });
        counter.start_agent();
        let watched = Self { counter, to_reader };
        watched.until_quiet().await;
        watched
    }

    fn heard(&self) -> Heard {
        let GatewayCounters { connections, bytes_in, .. } = self.counter.shop.gateway.counters();
        Heard { to_reader: self.to_reader.load(Ordering::SeqCst), to_gateway: bytes_in, connections }
    }

    /// Waits until the agent has started: the reader is ready, the gateway was probed, and no data is in transit.
    async fn until_quiet(&self) -> Heard {
        let answers = |status: &pos_agent::till::StatusView| status.gateway.state == GatewayState::Answers;
        self.counter.until_status("the gateway", answers).await;
        self.counter.until_ready().await;
        within("quiet", async {
            let (mut before, mut same) = (self.heard(), 0);
            while same < 200 {
                self.counter.status().await;
                let now = self.heard();
                same = if now == before { same + 1 } else { 0 };
                before = now;
            }
            before
        })
        .await
    }

    async fn train(&self, result: &str, body: Value) -> SaleView {
        let mut body = body;
        body["training"] = result.into();
        let (status, begun) = self.counter.ask(body.clone()).await;
        assert_eq!((status, &begun["training"]), (201, &json!(true)), "{begun}");
        let path = format!("/v1/sales/{}?training=true&wait-s=100", body["reference"].as_str().unwrap());
        let (status, view) = within("its end", self.counter.get(&path)).await;
        assert_eq!(status, 200, "{view}");
        let view: SaleView = serde_json::from_value(view).unwrap();
        if view.state != SaleState::AwaitingSignature {
            assert_eq!(view.state, SaleState::Ended, "{view:?}");
            return view;
        }
        let path = format!("/v1/sales/{}/signature?training=true", view.reference);
        let (status, signed) = self.counter.post_json(&path, json!({ "accepted": true })).await;
        assert_eq!(status, 200, "{signed}");
        serde_json::from_value(signed).unwrap()
    }

    /// Returns the shop's list of transactions and its totals.
    async fn accounts(&self) -> Vec<Value> {
        let mut accounts = Vec::new();
        for path in ["/v1/sales", "/v1/totals"] {
            accounts.push(self.counter.get(path).await.1);
        }
        let status = self.counter.status().await;
        assert!(status.unconfirmed.is_empty() && status.current.is_none(), "{status:?}");
        accounts
    }
}

/// Passes bytes on and counts those that the agent sends.
async fn pass_on(agent: TcpStream, reader: TcpStream, counts: Arc<AtomicU64>) {
    let (mut from_agent, mut to_agent) = agent.into_split();
    let (mut from_reader, mut to_reader) = reader.into_split();
    tokio::spawn(async move { tokio::io::copy(&mut from_reader, &mut to_agent).await });
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = from_agent.read(&mut buffer).await {
        counts.fetch_add(read as u64, Ordering::SeqCst);
        if to_reader.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

#[tokio::test]
async fn no_byte_leaves_for_a_sale_of_any_outcome() {
    let watched = Watched::open().await;
    let accounts = watched.accounts().await;
    let before = watched.heard();
    for (result, outcome) in [
        ("approved", OutcomeWord::Approved),
        ("declined", OutcomeWord::Declined),
        ("partial", OutcomeWord::PartiallyApproved),
        ("signature", OutcomeWord::Approved),
        ("unconfirmed", OutcomeWord::Reversed),
        ("cancelled", OutcomeWord::Cancelled),
        ("not-sent", OutcomeWord::NotSent),
        ("reversed", OutcomeWord::Reversed),
    ] {
        let view =
            watched.train(result, json!({ "reference": result, "amount": "12.34", "acceptPartial": true })).await;
        assert_eq!(watched.heard(), before, "{result}: bytes to reader and gateway");
        assert_eq!(ended(&view), Some(outcome), "{result}: {view:?}");
        until_free(&watched, result).await;
    }
    assert_eq!(watched.accounts().await, accounts, "and nothing is counted");
    assert!(watched.counter.charged().is_empty());
    // The counters work: both count a real sale.
    watched.counter.sell("approved", "5.00", "tap", Tap).await;
    assert_eq!(ended(&watched.counter.until_ended("approved").await), Some(OutcomeWord::Approved));
    let after = watched.heard();
    assert!(after.to_reader > before.to_reader && after.to_gateway > before.to_gateway, "{after:?}");
    assert_eq!(watched.counter.charged(), ["5.00 EUR"], "the same reference is another sale's in training");
}

/// Waits until the reader is free again, which is a moment after the sale's end.
async fn until_free(watched: &Watched, result: &str) {
    within("the next one", async {
        loop {
            let body = json!({ "reference": format!("after {result}"), "amount": "1.00", "training": "approved" });
            let (status, said) = watched.counter.ask(body).await;
            if status == 201 {
                let path = format!("/v1/sales/after%20{result}/cancel?training=true");
                let (status, cancelled) = watched.counter.post_json(&path, json!({})).await;
                assert_eq!((status, &cancelled["outcome"]), (200, &json!("cancelled")), "{cancelled}");
                return;
            }
            assert_eq!(said["code"], "busy", "{said}");
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn no_byte_leaves_for_any_kind() {
    let watched = Watched::open().await;
    let accounts = watched.accounts().await;
    let before = watched.heard();
    for body in [
        json!({ "reference": "R1", "amount": "12.00", "tip": "ask" }),
        json!({ "reference": "R2", "kind": "pre-authorisation", "amount": "50.00" }),
        json!({ "reference": "R3", "kind": "credit", "amount": "7.00" }),
        json!({ "reference": "R4", "kind": "by-registration", "registration": "f".repeat(32), "amount": "9.00" }),
        json!({ "reference": "R5", "kind": "increment", "of": "R2", "amount": "5.00" }),
        json!({ "reference": "R6", "kind": "reauthorisation", "of": "R2" }),
        json!({ "reference": "R7", "kind": "capture", "of": "R6", "amount": "20.00" }),
        json!({ "reference": "R8", "kind": "refund", "of": "R1", "amount": "2.00" }),
        json!({ "reference": "R9", "kind": "reversal", "of": "R4" }),
    ] {
        let view = watched.train("approved", body.clone()).await;
        assert_eq!(watched.heard(), before, "{body}: bytes to reader and gateway");
        assert_eq!(ended(&view), Some(OutcomeWord::Approved), "{body}: {view:?}");
        let needs_card = matches!(body["reference"].as_str(), Some("R1" | "R2" | "R3"));
        if needs_card {
            until_free(&watched, view.reference.as_str()).await;
        }
    }
    assert_eq!(watched.accounts().await, accounts, "and nothing is counted");
    // The close of day does not include training transactions either.
    let (status, close) = watched.counter.post_json("/v1/closes", json!({ "reference": "day" })).await;
    assert_eq!(status, 201, "{close}");
    assert_eq!((&close["net"], &close["open"]), (&json!([]), &json!([])), "{close}");
    // A real transaction cannot refer to a training one, nor the reverse.
    let refund = json!({ "reference": "R10", "kind": "refund", "of": "R1", "amount": "1.00" });
    let (status, refused) = watched.counter.ask(refund).await;
    assert_eq!((status, &refused["code"]), (422, &json!("not-possible")), "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("training"), "{refused}");
    assert!(watched.counter.charged().is_empty());
}

/// Checks a power cut during an "unconfirmed" training payment. After the start, the agent sends no request to the
/// gateway for it, and the payment ends in training.
#[tokio::test]
async fn what_was_trained_is_never_recovered_towards_the_gateway() {
    let mut watched = Watched::open().await;
    let body = json!({ "reference": "R1", "amount": "12.34", "training": "unconfirmed" });
    assert_eq!(watched.counter.ask(body).await.0, 201);
    within("unconfirmed", async {
        while watched.counter.get("/v1/sales/R1?training=true").await.1["state"] != "unconfirmed" {
            tokio::task::yield_now().await;
        }
    })
    .await;
    watched.counter.cut_power().await;
    watched.counter.start_agent();
    let before = watched.until_quiet().await;
    let (_, view) = within("its end", watched.counter.get("/v1/sales/R1?training=true&wait-s=100")).await;
    assert_eq!((&view["outcome"], &view["training"]), (&json!("reversed"), &json!(true)), "{view}");
    assert_eq!(watched.heard(), before);
    assert!(watched.counter.charged().is_empty() && watched.counter.status().await.unconfirmed.is_empty());
}

/// Checks that a paying customer does not wait for training, and that training waits for a paying customer.
#[tokio::test]
async fn a_real_sale_goes_first() {
    let watched = Watched::open().await;
    let (status, _) = watched.counter.ask(json!({ "reference": "T1", "amount": "1.00", "training": "no-card" })).await;
    assert_eq!(status, 201);
    let (status, real) = watched.counter.begin("R1", "12.34").await;
    assert_eq!((status, real.get("training")), (201, None), "{real}");
    let (status, busy) =
        watched.counter.ask(json!({ "reference": "T2", "amount": "1.00", "training": "approved" })).await;
    assert_eq!((status, &busy["code"], &busy["reference"]), (409, &json!("busy"), &json!("R1")), "{busy}");
    let (_, shown) = watched.counter.get("/v1/sales/T1").await;
    assert_eq!(shown["code"], "no-such-sale", "{shown}");
}

/// Checks that the command line says before and after its output that this is training.
#[tokio::test]
async fn the_shell_trains_and_says_so() {
    let watched = Watched::open().await;
    let arguments = ["sale", "12.34", "--training", "declined", "--reference", "S1"];
    let output = within("the program", watched.counter.verb(&arguments)).await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let marks = said.lines().filter(|line| *line == "*** TRAINING: no card is read, and no money moves ***").count();
    assert!(marks == 2 && said.contains("declined: TRAINING 12.34 EUR"), "{said}");
    let output = within("the program", watched.counter.verb(&["show", "last", "--training"])).await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("TRAINING 12.34 EUR"), "{said}");
    let output = within("the program", watched.counter.verb(&["receipt", "S1", "--training"])).await.unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("NOT A PAYMENT"), "{output:?}");
    let output = within("the program", watched.counter.verb(&["show", "S1"])).await.unwrap();
    assert_eq!(output.status.code(), Some(65), "{output:?}");
}
