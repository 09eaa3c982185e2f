//! Tests of what reaches the shop's server from the real agent through the webhook: a receipt with its address, and the
//! events of a sale at the address that its till named.

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::process::json as json_of;
use crate::receiver::{Delivery, Mood, Receiver, hook};
use crate::{PATIENCE, begin, ended, front_with, shop_with, tap};

#[tokio::test]
async fn the_shops_server_gets_the_receipt_and_the_page_its_address() {
    let (shop, _stop) = shop_with("[receipts]\nreceipt-url = \"https://shop.example/r/{reference}\"").await;
    let mut receiver = Receiver::begin(Mood::Takes).await;
    let secret = tempfile::tempdir().unwrap();
    let front = front_with(&shop, &hook(secret.path(), &receiver, "steps = [\"ended\"]")).await;
    let client = front.client();
    // The webhook stores its position when its stream of events is open.
    let listens = async {
        while !front.folder.path().join("state/webhook-books.json").exists() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, listens).await.expect("the webhook listens");
    assert_eq!(begin(&front, &client, "R 1/a").await.status(), 201);
    tap(&shop).await;
    let sale = ended(&front, &client, "R%201%2Fa").await;
    let address = "https://shop.example/r/R%201%2Fa";
    assert_eq!(sale["receiptUrl"], address, "{sale}");
    let first = receiver.attempts(1).await.remove(0);
    let said: Value = serde_json::from_slice(&first.body).unwrap();
    assert_eq!((&said["type"], &said["data"]["sale"]["receiptUrl"]), (&"ended".into(), &address.into()));
    let receipt = &said["data"]["receipt"];
    let shown = client.get(front.https_url("/v1/sales/R%201%2Fa/receipt?copy=customer")).send().await.unwrap();
    assert_eq!(*receipt, json_of(shown).await, "the message has what the agent shows");
    let text = receipt["text"].as_str().unwrap();
    assert!(text.contains("CUSTOMER COPY") && text.contains("**** **** ****") && text.contains("12.34"), "{text}");
    // The front draws the address of the agent.
    let code = client.get(front.https_url("/front/qr/R%201%2Fa")).send().await.unwrap();
    assert!(json_of(code).await["size"].as_u64().unwrap() > 20);
}

/// The agent's answers decide which address of a transaction stays.
#[tokio::test]
async fn the_events_of_a_sale_reach_the_address_of_its_first_accepted_request() {
    let (shop, _stop) = shop_with("").await;
    let mut receiver = Receiver::begin(Mood::Takes).await;
    let secret = tempfile::tempdir().unwrap();
    let permitted = format!("callbacks = [\"http://{}/pos/\"]", receiver.address);
    let front = front_with(&shop, &hook(secret.path(), &receiver, &permitted)).await;
    let client = front.client();
    let listens = async {
        while !front.folder.path().join("state/webhook-books.json").exists() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, listens).await.expect("the webhook listens");
    let begins = async |reference: &str, amount: &str, path: &str| {
        let request = client.post(front.https_url("/v1/sales")).header("origin", front.https_url(""));
        let request = request.header("pos-callback", format!("http://{}{path}", receiver.address));
        let body = json!({ "reference": reference, "amount": amount }).to_string();
        request.header("content-type", "application/json").body(body).send().await.unwrap().status()
    };
    assert_eq!(begins("R-1", "no amount", "/pos/refused").await, 422);
    assert_eq!(begins("R-1", "12.34", "/pos/first").await, 201);
    assert_eq!(begins("R-1", "12.34", "/pos/second").await, 200);
    assert_eq!(begins("R-2", "12.34", "/pos/busy").await, 409);
    tap(&shop).await;
    assert_eq!(ended(&front, &client, "R-1").await["outcome"], "approved");
    let end =
        |all: &Vec<Delivery>| all.iter().any(|one| one.body.windows(14).any(|part| part == b"\"type\":\"ended\""));
    let all = timeout(PATIENCE, receiver.deliveries.wait_for(end)).await.expect("the end").unwrap().clone();
    assert!(all.len() >= 3 && all.iter().all(|one| one.path == "/pos/first"), "{}", all.len());
}
