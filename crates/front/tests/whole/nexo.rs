//! Tests of tills that speak nexo, with the real agent. Each test acts as a till on a real TLS connection and compares
//! the answers with the gateway's ledger.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pos_protocols::nexo::envelope::{Envelope, Message};
use pos_protocols::nexo::response::ResponseBody;
use pos_protocols::nexo::seal::Key;
use pos_sim::gateway::{Kind, Outcome, State};
use pos_sim::printer::Sensors;
use pos_sim::reader::WaitsFor;
use pos_sim::shop::Shop;
use pos_test_kit::free_port;
use reqwest::{Client, Response};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::process::Running;
use crate::zvt::{begun, front_user};
use crate::{PATIENCE, shop_changed, shows, tap};

/// Starts a shop whose agent lets the front act for two tills.
pub(crate) async fn shop() -> (Shop, oneshot::Sender<()>) {
    let uid = front_user().0;
    let peer = format!("[[till.peer]]\nuid = {uid}\ntills = [\"local\", \"nexo-1\", \"nexo-2\"]\n\n[journal]");
    shop_changed(vec![("[journal]".to_owned(), peer)]).await
}

/// Returns a section of `front.toml` with two tills. The first has a key, and the second gets its receipts as pairs.
pub(crate) fn config(folder: &Path, port: u16) -> String {
    let passphrase = folder.join("passphrase").display().to_string();
    format!(
        "[nexo]\nlisten = \"127.0.0.1:{port}\"\npoi-id = \"PosAgent-1\"\n\
         certificate-name = \"PosAgent-1.test.terminal.adyen.com\"\n\n[[nexo.till]]\ntill = \"nexo-1\"\n\
         sale-id = \"Till 1\"\npassphrase-file = {passphrase:?}\nkey-identifier = \"mykey\"\nkey-version = 1\n\n\
         [[nexo.till]]\ntill = \"nexo-2\"\nsale-id = \"Till 2\"\nreceipt-form = \"pairs\"\n"
    )
}

/// Starts a front with both tills at this port.
async fn front(shop: &Shop, port: u16) -> Running {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(shop.socket(), folder.path().join("till.sock")).unwrap();
    prepared(shop, folder, port).await
}

/// Writes the file that [`config`] names.
pub(crate) fn write_passphrase(folder: &Path) -> PathBuf {
    let passphrase = folder.join("passphrase");
    std::fs::write(&passphrase, "mypassphrase\n").unwrap();
    std::fs::set_permissions(&passphrase, Permissions::from_mode(0o600)).unwrap();
    passphrase
}

async fn prepared(shop: &Shop, folder: TempDir, port: u16) -> Running {
    while !shop.socket().exists() {
        tokio::task::yield_now().await;
    }
    let passphrase = write_passphrase(folder.path());
    let (uid, by_root) = front_user();
    if by_root {
        std::fs::set_permissions(shop.folder(), Permissions::from_mode(0o711)).unwrap();
        std::fs::set_permissions(shop.socket(), Permissions::from_mode(0o666)).unwrap();
        std::os::unix::fs::chown(&passphrase, Some(uid), None).unwrap();
    }
    let config = config(folder.path(), port);
    begun(folder, &config).await
}

/// A till.
#[derive(Clone)]
pub(crate) struct Till {
    client: Client,
    url: String,
    sale_id: &'static str,
    key: Option<Key>,
}

impl Till {
    pub(crate) fn new(front: &Running, port: u16) -> Self {
        let key = Key::derive("mypassphrase", "mykey", 1).unwrap();
        let url = format!("https://127.0.0.1:{port}/nexo/");
        Self { client: front.client(), url, sale_id: "Till 1", key: Some(key) }
    }

    fn message(&self, category: &str, service_id: &str, body: &Value) -> Vec<u8> {
        let header = json!({
            "ProtocolVersion": "3.0", "MessageClass": "Service", "MessageCategory": category, "MessageType": "Request",
            "ServiceID": service_id, "SaleID": self.sale_id, "POIID": "PosAgent-1",
        });
        let mut message = serde_json::Map::from_iter([("MessageHeader".to_owned(), header)]);
        message.insert(format!("{category}Request"), body.clone());
        let plain = json!({ "SaleToPOIRequest": message }).to_string().into_bytes();
        let Some(key) = &self.key else { return plain };
        match Envelope::read(&plain) {
            Ok(Envelope::Plain(message)) => message.seal(key, [7; 16]),
            other => panic!("{other:?}"),
        }
    }

    async fn posts(&self, body: Vec<u8>) -> Response {
        let request = self.client.post(&self.url).header("content-type", "application/json").body(body);
        timeout(PATIENCE, request.send()).await.expect("an answer").unwrap()
    }

    /// Sends a message and returns the message in its answer.
    pub(crate) async fn asks(&self, category: &str, service_id: &str, body: &Value) -> Value {
        let answer = self.posts(self.message(category, service_id, body)).await;
        assert_eq!(answer.status(), 200);
        let bytes = answer.bytes().await.unwrap();
        if bytes.is_empty() {
            return Value::Null;
        }
        let message = match (Envelope::read(&bytes), &self.key) {
            (Ok(Envelope::Plain(message)), None) => message,
            (Ok(Envelope::Sealed(sealed)), Some(key)) => {
                sealed.open(std::slice::from_ref(key)).unwrap().message.unwrap()
            }
            (other, _) => panic!("{other:?}: {}", String::from_utf8_lossy(&bytes)),
        };
        if let Message::Response(response) = &message {
            assert!(!matches!(response.body, ResponseBody::Unserved(..)));
        }
        let value: Value = serde_json::from_slice(&message.write()).unwrap();
        value.as_object().unwrap().values().next().unwrap().clone()
    }

    pub(crate) async fn pays(&self, service_id: &str, amount: &str, transaction: &str) -> Value {
        self.asks("Payment", service_id, &payment("Normal", amount, transaction, json!({}))).await
    }

    async fn status(&self, service_id: &str, of: &str) -> Value {
        let named = json!({ "MessageCategory": "Payment", "SaleID": self.sale_id, "ServiceID": of });
        let body = json!({ "MessageReference": named, "ReceiptReprintFlag": true });
        self.asks("TransactionStatus", service_id, &body).await["TransactionStatusResponse"].clone()
    }
}

pub(crate) fn payment(kind: &str, amount: &str, transaction: &str, more: Value) -> Value {
    let amount: Value = serde_json::from_str(amount).unwrap();
    let mut of_payment = json!({ "AmountsReq": { "Currency": "EUR", "RequestedAmount": amount } });
    of_payment.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({
        "SaleData": { "SaleTransactionID": { "TransactionID": transaction, "TimeStamp": "2026-11-23T10:00:00Z" } },
        "PaymentTransaction": of_payment, "PaymentData": { "PaymentType": kind },
    })
}

pub(crate) fn original(response: &Value) -> Value {
    json!({ "POITransactionID": response["POIData"]["POITransactionID"] })
}

pub(crate) fn result(response: &Value) -> (String, String) {
    let word = |name: &str| response["Response"][name].as_str().unwrap_or_default().to_owned();
    (word("Result"), word("ErrorCondition"))
}

pub(crate) fn failure(condition: &str) -> (String, String) {
    ("Failure".to_owned(), condition.to_owned())
}

pub(crate) fn success() -> (String, String) {
    ("Success".to_owned(), String::new())
}

fn entries(shop: &Shop, kind: Kind, state: State) -> usize {
    shop.gateway.ledger().entries().iter().filter(|entry| entry.kind == kind && entry.state == state).count()
}

pub(crate) fn rejected(answer: &Value) -> String {
    let event = &answer["EventNotification"];
    assert_eq!(event["EventToNotify"], "Reject", "{answer}");
    event["EventDetails"].as_str().unwrap().replace("%20", " ")
}

#[tokio::test]
async fn a_till_pays_once_however_often_it_asks_and_has_it_undone() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = front(&shop, port).await;
    let till = Till::new(&front, port);
    let (paid, ()) = tokio::join!(till.pays("1", "12.5", "27908"), tap(&shop));
    let response = &paid["PaymentResponse"];
    assert_eq!(result(response), success(), "{paid}");
    let resulted = &response["PaymentResult"];
    assert_eq!(resulted["AmountsResp"], json!({ "Currency": "EUR", "AuthorizedAmount": 12.5 }));
    let card = &resulted["PaymentInstrumentData"]["CardData"];
    assert_eq!(card["EntryMode"], json!(["Contactless"]), "{card}");
    let receipts = response["PaymentReceipt"].as_array().unwrap();
    assert_eq!(receipts.len(), 2);
    assert!(receipts[1]["OutputContent"].to_string().contains("12.50"), "{receipts:?}");
    // The till sends the same message again, and then asks for its outcome.
    assert_eq!(result(&till.pays("1", "12.50", "27908").await["PaymentResponse"]), success());
    let status = till.status("2", "1").await;
    let repeated = &status["RepeatedMessageResponse"];
    assert_eq!(repeated["MessageHeader"]["ServiceID"], "1");
    let repeated = &repeated["RepeatedResponseMessageBody"]["PaymentResponse"];
    for field in ["Response", "SaleData", "POIData", "PaymentResult"] {
        assert_eq!(repeated[field], response[field], "{field}");
    }
    assert_eq!(repeated["PaymentReceipt"].as_array().unwrap().len(), 2);
    // The terminal rejects another message for the paid transaction, and another transaction with the same `ServiceID`.
    assert!(rejected(&till.pays("3", "12.5", "27908").await).contains("ServiceID 1"));
    assert!(rejected(&till.pays("1", "12.5", "27909").await).contains("48 hours"));
    assert!(rejected(&till.pays("1", "12.51", "27908").await).contains("another amount"));
    assert_eq!(shop.gateway.ledger().all_charged().count(), 1);
    // After a partial refund, only the rest can be refunded.
    let undo = |amount: Option<f64>| {
        let mut body = json!({ "OriginalPOITransaction": original(response), "ReversalReason": "CustCancel" });
        if let Some(amount) = amount {
            body["ReversedAmount"] = json!(amount);
        }
        body
    };
    let part = till.asks("Reversal", "4", &undo(Some(2.5))).await;
    assert_eq!(result(&part["ReversalResponse"]), success(), "{part}");
    assert_eq!(part["ReversalResponse"]["ReversedAmount"], 2.5);
    assert_eq!(result(&till.asks("Reversal", "4", &undo(Some(2.5))).await["ReversalResponse"]), success());
    assert_eq!(
        result(&till.asks("Reversal", "5", &undo(Some(10.01))).await["ReversalResponse"]),
        failure("NotAllowed")
    );
    assert_eq!(result(&till.asks("Reversal", "6", &undo(None)).await["ReversalResponse"]), success());
    assert_eq!(result(&till.asks("Reversal", "7", &undo(None)).await["ReversalResponse"]), failure("NotAllowed"));
    assert_eq!(entries(&shop, Kind::Refund, State::Approved), 2);
    // A reversal of the full amount is made only once.
    let (paid, ()) = tokio::join!(till.pays("8", "3", "27910"), tap(&shop));
    let all = json!({ "OriginalPOITransaction": original(&paid["PaymentResponse"]), "ReversalReason": "CustCancel" });
    for _ in 0..2 {
        assert_eq!(result(&till.asks("Reversal", "9", &all).await["ReversalResponse"]), success());
    }
    assert_eq!(entries(&shop, Kind::Reversal, State::Approved), 1);
    let other = Till { sale_id: "Till 2", key: None, ..till.clone() };
    assert_eq!(
        result(&other.asks("Reversal", "1", &all).await["ReversalResponse"]),
        failure("NotFound"),
        "another till"
    );
    assert_eq!(result(&other.status("2", "1").await), failure("NotFound"));
}

#[tokio::test]
async fn what_is_reserved_is_raised_taken_or_given_up() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = front(&shop, port).await;
    let till = Till::new(&front, port);
    let reserve = payment("FirstReservation", "50", "1", json!({}));
    let (reserved, ()) = tokio::join!(till.asks("Payment", "1", &reserve), tap(&shop));
    let reserved = &reserved["PaymentResponse"];
    assert_eq!(result(reserved), success());
    let of = json!({ "OriginalPOITransaction": original(reserved) });
    let raised = till.asks("Payment", "2", &payment("UpdateReservation", "70", "2", of.clone())).await;
    assert_eq!(result(&raised["PaymentResponse"]), success(), "{raised}");
    let too_much = till.asks("Payment", "3", &payment("Completion", "70.01", "3", of.clone())).await;
    assert_eq!(result(&too_much["PaymentResponse"]), failure("NotAllowed"));
    for _ in 0..2 {
        let taken = till.asks("Payment", "4", &payment("Completion", "65", "4", of.clone())).await;
        assert_eq!(result(&taken["PaymentResponse"]), success(), "{taken}");
        assert_eq!(taken["PaymentResponse"]["PaymentResult"]["PaymentType"], "Completion");
    }
    let ledger = shop.gateway.ledger();
    let captured: Vec<&str> =
        ledger.entries().iter().filter(|it| it.kind == Kind::Capture).map(|it| it.amount.as_str()).collect();
    assert_eq!(captured, ["65.00"]);
    // A reservation can be reversed in full. A payout without an earlier payment is refused.
    let reserve = payment("OneTimeReservation", "20", "5", json!({}));
    let (reserved, ()) = tokio::join!(till.asks("Payment", "5", &reserve), tap(&shop));
    let give_up = json!({
        "OriginalPOITransaction": original(&reserved["PaymentResponse"]), "ReversalReason": "MerchantCancel",
    });
    assert_eq!(result(&till.asks("Reversal", "6", &give_up).await["ReversalResponse"]), success());
    let credit = till.asks("Payment", "7", &payment("Refund", "5", "7", json!({}))).await;
    assert_eq!(result(&credit["PaymentResponse"]), failure("NotAllowed"));
    assert_eq!(entries(&shop, Kind::Credit, State::Approved), 0);
}

#[tokio::test]
async fn an_abort_stops_what_waits_for_a_card_and_the_terminal_tells_how_it_stands() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = front(&shop, port).await;
    let till = Till::new(&front, port);
    let stops = async {
        timeout(PATIENCE, shop.reader.waits_for(WaitsFor::Card)).await.expect("it asks for a card");
        let busy = till.pays("2", "5", "2").await;
        assert_eq!(result(&busy["PaymentResponse"]), failure("Busy"));
        assert_eq!(result(&till.status("3", "1").await), failure("InProgress"));
        let other = Till { sale_id: "Till 2", key: None, ..till.clone() };
        assert_eq!(result(&other.pays("1", "5", "1").await["PaymentResponse"]), failure("Busy"));
        for id in ["9", "1"] {
            let abort = json!({
                "AbortReason": "cash",
                "MessageReference": { "MessageCategory": "Payment", "SaleID": "Till 1", "ServiceID": id },
            });
            assert_eq!(till.asks("Abort", "4", &abort).await, Value::Null);
        }
    };
    let (paid, ()) = tokio::join!(till.pays("1", "12.5", "1"), stops);
    assert_eq!(result(&paid["PaymentResponse"]), failure("Aborted"));
    assert!(shop.gateway.ledger().entries().is_empty());
    let diagnosis = till.asks("Diagnosis", "5", &json!({ "HostDiagnosisFlag": true })).await;
    assert_eq!(diagnosis["DiagnosisResponse"]["POIStatus"]["CardReaderOKFlag"], true, "{diagnosis}");
    assert_eq!(result(&till.asks("Login", "6", &json!({ "DateTime": "t" })).await["LoginResponse"]), success());
    assert_eq!(result(&till.asks("GetTotals", "7", &json!({})).await["GetTotalsResponse"]), success());
    let (_, ()) = tokio::join!(till.pays("8", "5", "8"), tap(&shop));
    let closed = till.asks("Reconciliation", "9", &json!({ "ReconciliationType": "SaleReconciliation" })).await;
    let totals = &closed["ReconciliationResponse"]["TransactionTotals"][0]["PaymentTotals"];
    let expected = json!([{ "TransactionType": "Debit", "TransactionCount": 1, "TransactionAmount": 5 }]);
    assert_eq!(totals, &expected, "{closed}");
    let status = front.verb(&["status"]);
    let said = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(said.contains("nexo-1") && said.contains("Reconciliation 9"), "{said}");
}

/// Waits until the reader asks for an amount.
async fn asks_for_an_amount(shop: &Shop) {
    let asked = shop.reader.waits_for(WaitsFor::Number);
    timeout(PATIENCE, asked).await.expect("the reader asks for an amount");
}

/// The input lasts for the time that the till states, or until the till aborts it. Afterwards the reader is free
/// immediately.
#[tokio::test]
async fn an_amount_is_typed_for_as_long_as_the_till_says_and_no_longer() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = front(&shop, port).await;
    let till = Till::new(&front, port);
    let input = |seconds: u32| {
        json!({ "InputData": { "Device": "CustomerInput", "InfoQualify": "Input", "InputCommand": "DecimalString",
                               "MaxInputTime": seconds } })
    };
    let of = |answer: &Value| result(&answer["InputResponse"]["InputResult"]);
    let client = front.client();
    let is_free = async || is_free(&front, &client).await;
    assert_eq!(of(&till.asks("Input", "1", &input(1)).await), failure("Cancel"));
    is_free().await;
    let stopping = async {
        asks_for_an_amount(&shop).await;
        let named = json!({ "MessageCategory": "Input", "SaleID": "Till 1", "ServiceID": "2" });
        till.asks("Abort", "3", &json!({ "AbortReason": "x", "MessageReference": named })).await
    };
    let body = input(600);
    let began = tokio::time::Instant::now();
    let (stopped, aborted) = tokio::join!(till.asks("Input", "2", &body), stopping);
    assert_eq!((of(&stopped), aborted), (failure("Aborted"), Value::Null));
    is_free().await;
    let (paid, ()) = tokio::join!(till.pays("4", "12.5", "27908"), tap(&shop));
    assert_eq!(result(&paid["PaymentResponse"]), success(), "{paid}");
    assert!(began.elapsed() < Duration::from_secs(30), "the reader was asking still: {:?}", began.elapsed());
}

#[tokio::test]
async fn an_answer_that_is_lost_is_taken_back_and_what_came_to_nothing_may_be_paid_again() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = front(&shop, port).await;
    let till = Till::new(&front, port);
    shop.gateway.force(Outcome::Cut { processed: true });
    let (paid, ()) = tokio::join!(till.pays("1", "12.5", "1"), tap(&shop));
    let told = result(&paid["PaymentResponse"]);
    assert!(told == failure("UnreachableHost") || told == failure("Aborted"), "{paid}");
    let learns = async {
        loop {
            let status = till.status("2", "1").await;
            match result(&status) {
                unknown if unknown == failure("InProgress") => tokio::time::sleep(Duration::from_millis(50)).await,
                known => return (known, status),
            }
        }
    };
    let (known, status) = timeout(PATIENCE, learns).await.expect("it is settled");
    assert_eq!(known, success());
    let response = &status["RepeatedMessageResponse"]["RepeatedResponseMessageBody"]["PaymentResponse"];
    assert_eq!(result(response), failure("Aborted"), "it was taken back: {status}");
    assert_eq!(shop.gateway.ledger().all_charged().count(), 0);
    // Another message may pay a transaction that has no payment.
    shop.gateway.force(Outcome::Approve);
    let (paid, ()) = tokio::join!(till.pays("3", "12.5", "1"), tap(&shop));
    assert_eq!(result(&paid["PaymentResponse"]), success(), "{paid}");
    assert_eq!(shop.gateway.ledger().all_charged().count(), 1);
}

#[tokio::test]
async fn a_front_that_is_killed_in_the_middle_of_a_payment_loses_nothing() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = front(&shop, port).await;
    let till = Till::new(&front, port);
    let asked = till.client.post(&till.url).header("content-type", "application/json");
    let asked =
        tokio::spawn(asked.body(till.message("Payment", "1", &payment("Normal", "12.5", "1", json!({})))).send());
    timeout(PATIENCE, shop.reader.waits_for(WaitsFor::Card)).await.expect("it asks for a card");
    let killed = front.kill().await;
    assert!(asked.await.unwrap().is_err(), "no answer");
    tap(&shop).await;
    let folder = killed.folder();
    let config = config(folder.path(), port);
    let front = begun(folder, &config).await;
    let till = Till { client: front.client(), ..till };
    let learns = async {
        loop {
            let status = till.status("2", "1").await;
            if result(&status) == success() {
                return status;
            }
        }
    };
    let status = timeout(PATIENCE, learns).await.expect("it ends");
    let response = &status["RepeatedMessageResponse"]["RepeatedResponseMessageBody"]["PaymentResponse"];
    assert_eq!(result(response), success(), "{status}");
    assert_eq!(result(&till.pays("1", "12.5", "1").await["PaymentResponse"]), success());
    assert_eq!(shop.gateway.ledger().all_charged().count(), 1);
}

#[tokio::test]
async fn whatever_else_a_till_sends_has_a_documented_answer() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = front(&shop, port).await;
    let till = Till::new(&front, port);
    let plain = Till { key: None, ..till.clone() };
    let good = till.message("Payment", "1", &payment("Normal", "5", "1", json!({})));
    let deep = format!("{{\"SaleToPOIRequest\":{}{}}}", "[".repeat(20_000), "]".repeat(20_000));
    let text = |body: &[u8]| String::from_utf8(body.to_vec()).unwrap();
    let wrong = [
        (b"".to_vec(), "not JSON"),
        (b"{\"a\":1".to_vec(), "not JSON"),
        (b"{}".to_vec(), "SaleToPOIRequest"),
        (deep.into_bytes(), "SaleToPOIRequest"),
        (
            text(&plain.message("Payment", "1", &json!({})))
                .replace("Request\":{}", "Request\":{\"SaleData\":7}")
                .into_bytes(),
            "SaleData",
        ),
        (
            text(&plain.message("Diagnosis", "1", &json!({}))).replace("\"3.0\"", "\"2.0\"").into_bytes(),
            "ProtocolVersion",
        ),
        (text(&plain.message("Diagnosis", "1", &json!({}))).replace("Till 1", "Till 3").into_bytes(), "SaleID"),
        (text(&plain.message("Diagnosis", "12345678901", &json!({}))).into_bytes(), "ServiceID"),
    ];
    for (body, why) in wrong {
        let answer = till.posts(body.clone()).await;
        assert_eq!(answer.status(), 400);
        let answer: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        let said = rejected(&answer["SaleToPOIRequest"]);
        assert!(said.contains(why), "{}: {said}", String::from_utf8_lossy(&body[..body.len().min(200)]));
    }
    // All faults of a sealed message give the same answer.
    let mut answers = std::collections::BTreeSet::new();
    let sealed: Value = serde_json::from_slice(&good).unwrap();
    let changed = |path: &str, value: Value| {
        let mut message = sealed.clone();
        *message.pointer_mut(&format!("/SaleToPOIRequest{path}")).unwrap() = value;
        message.to_string().into_bytes()
    };
    let blob = sealed["SaleToPOIRequest"]["NexoBlob"].as_str().unwrap();
    let other_key = Till { key: Some(Key::derive("another", "mykey", 1).unwrap()), ..till.clone() };
    for body in [
        changed("/NexoBlob", json!("AAAA")),
        changed("/NexoBlob", json!("%")),
        changed("/NexoBlob", json!(blob[..blob.len() - 24])),
        changed("/SecurityTrailer/Hmac", json!("AAAA")),
        changed("/SecurityTrailer/Nonce", json!("AAAAAAAAAAAAAAAAAAAAAA==")),
        changed("/SecurityTrailer/KeyVersion", json!(2)),
        changed("/SecurityTrailer/KeyIdentifier", json!("other")),
        changed("/MessageHeader/ServiceID", json!("2")),
        changed("/MessageHeader/SaleID", json!("Till 2")),
        changed("/MessageHeader/SaleID", json!("Till 9")),
        other_key.message("Payment", "1", &payment("Normal", "5", "1", json!({}))),
    ] {
        let answer = till.posts(body).await;
        let status = answer.status().as_u16();
        let answer: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        answers.insert((status, rejected(&answer["SaleToPOIRequest"])));
    }
    assert_eq!(answers.len(), 1, "{answers:?}");
    // The log tells the technician more than the answer does: the till, its source, and the settings to compare.
    let line = front.until_logged("compare passphrase, key-identifier and key-version").await;
    assert!(line.contains("WARN") && line.contains("till=\"") && line.contains("from=127.0.0.1:"), "{line}");
    let line = front.until_logged("no [[nexo.till]] in front.toml has its SaleID").await;
    assert!(line.contains("from=127.0.0.1:") && !line.contains("till="), "{line}");
    // A request that a till cannot have sent is refused with problem details.
    let post = |path: &str| till.client.post(till.url.replace("/nexo/", path)).body(good.clone());
    for (request, status) in [
        (post("/nexo/"), 415),
        (post("/other").header("content-type", "application/json"), 404),
        (post("/nexo/").header("content-type", "application/json").header("origin", "https://shop.example"), 403),
        (till.client.get(&till.url), 405),
    ] {
        assert_eq!(request.send().await.unwrap().status(), status);
    }
    let large = post("/nexo").header("content-type", "application/json").body(vec![b' '; 300_000]);
    // The front refuses the body before it is complete and closes the connection. If the answer arrives, it has this
    // status and header.
    assert!(
        large.send().await.map_or(true, |answer| answer.status() == 413 && answer.headers()["connection"] == "close")
    );
    let unserved = plain.posts(plain.message("CardAcquisition", "5", &json!({}))).await.bytes().await.unwrap();
    assert!(String::from_utf8_lossy(&unserved).contains("UnavailableService"));
    assert!(shop.gateway.ledger().entries().is_empty());
    assert_eq!(result(&till.asks("Diagnosis", "6", &json!({})).await["DiagnosisResponse"]), success());
}

#[tokio::test]
async fn a_till_has_its_own_lines_and_its_receipts_printed_by_the_terminal() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = front(&shop, port).await;
    let till = Till::new(&front, port);
    let print = |text: Value| {
        json!({ "PrintOutput": { "DocumentQualifier": "Document", "ResponseMode": "PrintEnd",
            "OutputContent": { "OutputFormat": "Text", "OutputText": text } } })
    };
    let voucher = print(json!([
        { "Text": "VOUCHER", "Alignment": "Centred", "CharacterWidth": "DoubleWidth" },
        { "Text": "Points", "EndOfLineFlag": false }, { "Text": "120", "Alignment": "Right" },
    ]));
    let answer = till.asks("Print", "1", &voucher).await;
    assert_eq!(result(&answer["PrintResponse"]), success(), "{answer}");
    assert_eq!(answer["PrintResponse"]["DocumentQualifier"], "Document");
    let papers = shop.printer.receipts();
    let [paper] = papers.as_slice() else { panic!("{papers:?}") };
    let lines: Vec<&str> = paper.lines().map(str::trim).collect();
    assert!(lines[0] == "VOUCHER" && lines[1].starts_with("Points  ") && lines[1].ends_with("  120"), "{paper}");

    // The terminal prints the receipt from a payment's answer when the till sends it back unchanged. One till gets
    // lines and the other gets pairs.
    let takes_apart = Till { sale_id: "Till 2", key: None, ..till.clone() };
    for (till, transaction) in [(&till, "1"), (&takes_apart, "2")] {
        let (paid, ()) = tokio::join!(till.pays("2", "5", transaction), tap(&shop));
        let receipt = &paid["PaymentResponse"]["PaymentReceipt"][1]["OutputContent"];
        assert_eq!(receipt["OutputFormat"], "Text", "{paid}");
        if transaction == "2" {
            let texts = receipt["OutputText"].to_string();
            for key in ["header1", "tid", "txdate", "txtime", "mref", "pan", "aid", "authCode", "txtype", "approved"] {
                assert_eq!(texts.matches(&format!("key={key}\"")).count(), 1, "{key}: {texts}");
            }
            assert!(texts.contains("\"name=Amount&value=5.00%20EUR&key=totalAmount\""), "{texts}");
            assert!(texts.contains("key=cardholderHeader\""), "{texts}");
        }
        let again = print(receipt["OutputText"].clone());
        assert_eq!(result(&till.asks("Print", "3", &again).await["PrintResponse"]), success());
        let papers = shop.printer.receipts();
        let paper = papers.last().unwrap();
        assert!(paper.contains("APPROVED") && paper.contains("5.00 EUR") && !paper.contains("key="), "{papers:?}");
    }

    let show = json!({ "DisplayOutput": [{ "Device": "CustomerDisplay", "InfoQualify": "Display",
        "OutputContent": { "OutputFormat": "Text", "OutputText": [{ "Text": "See you\tsoon" }] } }] });
    let answer = till.asks("Display", "6", &show).await;
    assert_eq!(result(&answer["DisplayResponse"]["OutputResult"][0]), success(), "{answer}");
    shows(&shop, "See you soon").await;

    shop.printer.set_sensors(Sensors { paper_out: true, ..Sensors::default() });
    let answer = till.asks("Print", "4", &voucher).await;
    assert_eq!(result(&answer["PrintResponse"]), failure("DeviceOut"), "{answer}");
    let told = answer["PrintResponse"]["Response"]["AdditionalResponse"].as_str().unwrap();
    assert!(told.contains("nothing%20was%20printed"), "{told}");
    let many = print(json!(vec![json!({ "Text": "x" }); 201]));
    assert_eq!(result(&till.asks("Print", "5", &many).await["PrintResponse"]), failure("MessageFormat"));
}

#[derive(clap::Parser)]
struct Desk {
    #[command(flatten)]
    args: pos_sim::till::Args,
}

/// Runs `pos-sim till nexo …` and returns its exit code.
async fn desk(front: &Running, port: u16, words: &[&str]) -> u8 {
    let (ca, passphrase) = (front.folder.path().join("ca.pem"), front.folder.path().join("passphrase"));
    std::fs::write(&ca, front.verb(&["certificate", "--pem"]).stdout).unwrap();
    let at = format!("https://127.0.0.1:{port}/nexo/");
    let (ca, passphrase) = (ca.to_str().unwrap(), passphrase.to_str().unwrap());
    let own = ["pos-sim till", "nexo", "--at", &at, "--ca", ca, "--passphrase-file", passphrase];
    let words = own.into_iter().chain(["--sale-id", "Till 1", "--poi-id", "PosAgent-1"]).chain(words.iter().copied());
    pos_sim::till::run(<Desk as clap::Parser>::try_parse_from(words).unwrap().args).await.unwrap()
}

#[tokio::test]
async fn the_till_on_the_desk_pays_repeats_aborts_reverses_and_closes() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = front(&shop, port).await;
    let transaction = &["--transaction", "1", "2026-11-23T10:00:00Z"];
    let payment = [&["--service-id", "D1", "pay", "5.00"][..], transaction].concat();
    let (paid, ()) = tokio::join!(desk(&front, port, &payment), tap(&shop));
    assert_eq!(paid, 0);
    assert_eq!(desk(&front, port, &payment).await, 0, "the same message has the same answer");
    assert_eq!(desk(&front, port, &["repeat"]).await, 0);
    assert_eq!(desk(&front, port, &["repeat", "D1"]).await, 0);
    assert_eq!(desk(&front, port, &["repeat", "D9"]).await, 1, "of a message that nobody sent");
    assert_eq!(desk(&front, port, &[&["pay", "5.00"][..], transaction].concat()).await, 1, "paid already");
    let given_up = tokio::join!(desk(&front, port, &["--service-id", "D2", "pay", "7.00"]), async {
        timeout(PATIENCE, shop.reader.waits_for(WaitsFor::Card)).await.expect("the reader asks for a card");
        assert_eq!(desk(&front, port, &["abort", "D2"]).await, 0);
    });
    assert_eq!(given_up.0, 1);
    let repeated = Till::new(&front, port).status("S1", "D1").await;
    let paid = &repeated["RepeatedMessageResponse"]["RepeatedResponseMessageBody"]["PaymentResponse"];
    let paid = paid["POIData"]["POITransactionID"]["TransactionID"].as_str().unwrap();
    for (words, code) in [
        (&["reverse", paid, "1.50"][..], 0),
        (&["reverse", paid, "4.00"], 1),
        (&["reverse", paid], 0),
        (&["reverse", paid], 1),
        (&["refund", "1.00"], 1),
        (&["totals"], 0),
        (&["diagnosis"], 0),
        (&["end-of-day"], 0),
    ] {
        assert_eq!(desk(&front, port, words).await, code, "{words:?}");
    }
    let given_back = entries(&shop, Kind::Refund, State::Approved) + entries(&shop, Kind::Reversal, State::Approved);
    assert_eq!((shop.gateway.ledger().all_charged().count(), given_back), (0, 2), "5.00, which went back in two parts");
}

#[tokio::test]
#[ignore = "needs npm's packages: bash tests/clients/run"]
async fn a_till_made_of_adyens_library_works_unmodified() {
    let program = std::env::var("POS_TERMINAL_API_CLIENT").expect("POS_TERMINAL_API_CLIENT names till.js");
    let (shop, _stop) = shop().await;
    // The library supports only this port.
    let front = front(&shop, 8443).await;
    let ca = front.folder.path().join("ca.pem");
    std::fs::write(&ca, front.verb(&["certificate", "--pem"]).stdout).unwrap();
    for (form, sale_id) in [("sealed", "Till 1"), ("plain", "Till 2")] {
        let mut client = tokio::process::Command::new("node");
        let client = client.arg(&program).arg(&ca).args([form, sale_id]).kill_on_drop(true).status();
        let (status, ()) = timeout(PATIENCE, async { tokio::join!(client, tap(&shop)) }).await.expect("it ends");
        assert!(status.unwrap().success(), "{form}");
    }
    let ledger = shop.gateway.ledger();
    let charged: Vec<&str> =
        ledger.entries().iter().filter(|it| it.kind == Kind::Debit).map(|it| it.amount.as_str()).collect();
    assert_eq!((charged, entries(&shop, Kind::Refund, State::Approved)), (vec!["12.34", "12.34"], 2));
}

/// Waits until the reader is free. An earlier payment would get `Busy`.
pub(crate) async fn is_free(front: &Running, client: &reqwest::Client) {
    let status = || client.get(front.https_url("/v1/status")).send();
    let free = async { while crate::json_of(status().await.unwrap()).await["busy"] == true {} };
    timeout(PATIENCE, free).await.expect("the reader is free");
}

#[tokio::test]
async fn the_same_message_twice_within_milliseconds_is_one_payment_and_one_answer() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = front(&shop, port).await;
    let client = front.client();
    let till = Till::new(&front, port);
    for round in 0..30 {
        let (id, order) = (format!("t{round}"), format!("order {round}"));
        let once = || till.pays(&id, "1", &order);
        let taps = async {
            timeout(PATIENCE, shop.reader.waits_for(WaitsFor::Card)).await.expect("it asks for a card");
            tap(&shop).await;
        };
        // The till sends two messages, the second at the same time or a moment later.
        let behind = async {
            tokio::time::sleep(Duration::from_millis(round % 10)).await;
            once().await
        };
        let answers = async { tokio::join!(once(), behind) };
        tokio::pin!(answers);
        tokio::select! {
            () = taps => {}
            told = &mut answers => panic!("round {round}: answered without a card: {told:?}"),
        }
        let (one, other) = answers.await;
        is_free(&front, &client).await;
        assert_eq!(result(&one["PaymentResponse"]), success(), "round {round}: {one}");
        assert_eq!(one, other, "round {round}");
    }
    assert_eq!(shop.gateway.ledger().all_charged().count(), 30);
}
