//! A test of a receipt on its way to the shop's server: from the agent through the webhook, with its address.

use serde_json::Value;
use tokio::time::timeout;

use crate::process::json as json_of;
use crate::receiver::{Mood, Receiver, hook};
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
