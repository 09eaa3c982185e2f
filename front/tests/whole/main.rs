//! The front before the real agent, with reader, gateway and printer simulated on real wires: a sale from the network
//! to the gateway's ledger, and what interrupts it.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]
#![allow(dead_code, reason = "the process's helpers are for the other test program too")]

#[path = "../front/process.rs"]
mod process;

use std::time::Duration;

use pos_agent::sim::reader::{CardEntry, WaitsFor, card};
use pos_agent::sim::shop::{Options, Shop};
use reqwest::{Client, Response};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::process::{Running, json as json_of, problem};

/// Longer than anything here takes; a test that hangs fails by name.
const PATIENCE: Duration = Duration::from_secs(60);

/// A shop with the agent at work.
async fn shop() -> (Shop, oneshot::Sender<()>) {
    process::provider();
    let shop = Shop::open(Options::default()).await.unwrap();
    let config = pos_agent::config::load(&shop.config()).unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    tokio::spawn(pos_agent::agent::run(config, async move { drop(stopped.await) }));
    (shop, stop)
}

/// The front for this shop's socket, ready for a sale.
async fn front(shop: &Shop) -> Running {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(shop.socket(), folder.path().join("till.sock")).unwrap();
    let front = Running::begin(folder, "").await;
    let client = front.client();
    let ready = async {
        loop {
            let status = client.get(front.https_url("/v1/status")).send().await.unwrap();
            if status.status() == 200 && json_of(status).await["reader"]["state"] == "ready" {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, ready).await.expect("the reader is ready");
    front
}

async fn begin(front: &Running, client: &Client, reference: &str) -> Response {
    let sale = client.post(front.https_url("/v1/sales")).header("origin", front.https_url(""));
    let body = json!({ "reference": reference, "amount": "12.34" }).to_string();
    sale.header("content-type", "application/json").body(body).send().await.unwrap()
}

async fn ended(front: &Running, client: &Client, reference: &str) -> Value {
    let url = front.https_url(&format!("/v1/sales/{reference}?wait-s=60"));
    json_of(client.get(url).send().await.unwrap()).await
}

async fn tap(shop: &Shop) {
    timeout(PATIENCE, shop.reader.waits_for(WaitsFor::Card)).await.expect("the reader asks for a card");
    shop.reader.present(card("tap").unwrap(), CardEntry::Tap);
}

#[tokio::test]
async fn a_sale_from_the_network_is_in_the_gateways_ledger_and_on_the_receipt() {
    let (shop, _stop) = shop().await;
    let front = front(&shop).await;
    let client = front.client();
    let mut events = client.get(front.https_url("/v1/events")).send().await.unwrap();
    assert_eq!(begin(&front, &client, "R 1/a").await.status(), 201);
    tap(&shop).await;
    let sale = ended(&front, &client, "R%201%2Fa").await;
    assert_eq!((&sale["reference"], &sale["outcome"]), (&"R 1/a".into(), &"approved".into()), "{sale}");
    let heard = async {
        let mut heard = String::new();
        while !heard.contains("event: ended") {
            heard.push_str(std::str::from_utf8(&events.chunk().await.unwrap().unwrap()).unwrap());
        }
        heard
    };
    let heard = timeout(PATIENCE, heard).await.expect("the events of the sale");
    assert!(heard.contains("event: present-card"), "{heard}");
    let receipt = client.get(front.https_url("/v1/sales/R%201%2Fa/receipt?copy=customer")).send().await.unwrap();
    assert!(receipt.text().await.unwrap().contains("12.34"));
    assert_eq!(shop.gateway.ledger().all_charged().count(), 1);
    // What the agent refuses comes as it says it.
    let unknown = client.get(front.https_url("/v1/sales/none")).send().await.unwrap();
    assert_eq!(unknown.status(), 404);
}

#[tokio::test]
async fn a_sale_goes_on_when_the_front_is_killed_and_is_the_same_afterwards() {
    let (shop, _stop) = shop().await;
    let front = front(&shop).await;
    assert_eq!(begin(&front, &front.client(), "R-1").await.status(), 201);
    let killed = front.kill().await;
    tap(&shop).await;
    let front = killed.begin("").await;
    let client = front.client();
    assert_eq!(ended(&front, &client, "R-1").await["outcome"], "approved");
    let again = begin(&front, &client, "R-1").await;
    assert_eq!(again.status(), 200, "the same reference is the same sale");
    assert_eq!(json_of(again).await["replayed"], true);
    assert_eq!(shop.gateway.ledger().all_charged().count(), 1);
}

#[tokio::test]
async fn when_the_agent_ends_the_front_says_so() {
    let (shop, stop) = shop().await;
    let front = front(&shop).await;
    drop(stop);
    let client = front.client();
    let said = async {
        loop {
            let answer = client.get(front.https_url("/v1/latest")).send().await.unwrap();
            if answer.status() == 503 {
                return problem(answer).await;
            }
        }
    };
    assert_eq!(timeout(PATIENCE, said).await.expect("an answer").1, "agent-down");
}
