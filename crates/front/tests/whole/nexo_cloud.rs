//! Tests of tills that use the cloud form of nexo, with the real agent. Each test acts as a till and as its server. It
//! breaks the ways between them at each moment and compares the answers with the gateway's ledger.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pos_sim::gateway::Outcome;
use pos_sim::reader::WaitsFor;
use pos_sim::shop::Shop;
use pos_test_kit::free_port;
use reqwest::{Client, Response};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::client::TlsStream;

use crate::nexo::{failure, original, payment, rejected, result, shop, success};
use crate::process::Running;
use crate::receiver::{Mood, Receiver};
use crate::zvt::{begun, front_user};
use crate::{PATIENCE, json_of, tap};

/// The keys of the tills `Till 1` and `Till 2`.
pub(crate) const KEYS: [&str; 2] = ["AQEnhmfuXNWTK0Qc+iSEh3aAlVyz", "AQEvhmfxLI3MaBFLw0m/n3Q5qf3V"];
/// Odoo's signature of a payment. It has more digits than a card number.
const HMAC: &str = "ba6c62413839eb32030a3ee6400af4d367b8fb889b54ea85dffcb5a13625c318";

/// Writes the key files, and returns a section of `front.toml` with two tills. The answers to the first one go to this
/// address.
fn config(folder: &Path, port: u16, notify: &str) -> String {
    let (uid, by_root) = front_user();
    let [one, two] = [0, 1].map(|n| {
        let file = folder.join(format!("key-{n}"));
        std::fs::write(&file, format!("{}\n", KEYS[n])).unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        if by_root {
            std::os::unix::fs::chown(&file, Some(uid), None).unwrap();
        }
        file.display().to_string()
    });
    format!(
        "[nexo]\nlisten = \"127.0.0.1:{port}\"\npoi-id = \"PosAgent-1\"\n\n[[nexo.till]]\ntill = \"nexo-1\"\n\
         sale-id = \"Till 1\"\napi-key-file = {one:?}\nnotify = \"{notify}\"\n\n\
         [[nexo.till]]\ntill = \"nexo-2\"\nsale-id = \"Till 2\"\napi-key-file = {two:?}\nreceipt-form = \"pairs\"\n"
    )
}

async fn front(shop: &Shop, port: u16, receiver: &str) -> Running {
    again(prepared(shop).await, port, receiver).await
}

/// Returns a folder for the front, which may use the agent's socket.
async fn prepared(shop: &Shop) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(shop.socket(), folder.path().join("till.sock")).unwrap();
    while !shop.socket().exists() {
        tokio::task::yield_now().await;
    }
    if front_user().1 {
        std::fs::set_permissions(shop.folder(), Permissions::from_mode(0o711)).unwrap();
        std::fs::set_permissions(shop.socket(), Permissions::from_mode(0o666)).unwrap();
    }
    folder
}

/// Starts the front in a folder that another one may have left.
async fn again(folder: TempDir, port: u16, receiver: &str) -> Running {
    let config = config(folder.path(), port, &format!("http://{receiver}/pos_adyen/notification"));
    begun(folder, &config).await
}

/// Restarts the front after `kill -9`.
async fn killed_and_begun(front: Running, port: u16, receiver: &str) -> Running {
    again(front.kill().await.folder(), port, receiver).await
}

/// A till in the cloud form.
#[derive(Clone)]
pub(crate) struct Till {
    pub(crate) client: Client,
    pub(crate) port: u16,
    pub(crate) sale_id: &'static str,
    pub(crate) key: &'static str,
}

impl Till {
    fn new(front: &Running, port: u16) -> Self {
        Self { client: front.client(), port, sale_id: "Till 1", key: KEYS[0] }
    }

    fn message(&self, category: &str, service_id: &str, body: &Value) -> String {
        let header = json!({
            "ProtocolVersion": "3.0", "MessageClass": "Service", "MessageCategory": category, "MessageType": "Request",
            "ServiceID": service_id, "SaleID": self.sale_id, "POIID": "PosAgent-1",
        });
        let mut message = serde_json::Map::from_iter([("MessageHeader".to_owned(), header)]);
        message.insert(format!("{category}Request"), body.clone());
        json!({ "SaleToPOIRequest": message }).to_string()
    }

    async fn posts(&self, path: &str, body: String) -> Response {
        let request = self.client.post(format!("https://127.0.0.1:{}{path}", self.port)).header("x-api-key", self.key);
        let request = request.header("content-type", "application/json").body(body).send();
        timeout(PATIENCE, request).await.expect("an answer").unwrap()
    }

    /// Sends a message to `/sync`, and returns the answer's content.
    pub(crate) async fn asks(&self, category: &str, service_id: &str, body: &Value) -> Value {
        let answer = self.posts("/sync", self.message(category, service_id, body)).await;
        assert_eq!(answer.status(), 200);
        let text = answer.text().await.unwrap();
        if text.is_empty() {
            return Value::Null;
        }
        let value: Value = serde_json::from_str(&text).unwrap();
        value.as_object().unwrap().values().next().unwrap().clone()
    }

    /// Sends a message to `/async`, which must be accepted.
    pub(crate) async fn leaves(&self, category: &str, service_id: &str, body: &Value) {
        let answer = self.posts("/async", self.message(category, service_id, body)).await;
        assert_eq!(
            (answer.status(), &answer.headers()["content-type"]),
            (200.try_into().unwrap(), &"text/plain; charset=utf-8".parse().unwrap())
        );
        assert_eq!(answer.text().await.unwrap(), "ok");
    }

    async fn status(&self, service_id: &str, of: &str) -> Value {
        let named = json!({ "MessageCategory": "Payment", "SaleID": self.sale_id, "ServiceID": of });
        let copies = json!(["CustomerReceipt", "CashierReceipt"]);
        let body = json!({ "MessageReference": named, "ReceiptReprintFlag": true, "DocumentQualifier": copies });
        self.asks("TransactionStatus", service_id, &body).await["TransactionStatusResponse"].clone()
    }

    fn abort(&self, of: &str) -> Value {
        let named = json!({ "MessageCategory": "Payment", "SaleID": self.sale_id, "ServiceID": of });
        json!({ "AbortReason": "MerchantAbort", "MessageReference": named })
    }
}

/// Returns a payment as Odoo sends it.
fn odoos(amount: &str, transaction: &str) -> Value {
    let mut payment = payment("Normal", amount, transaction, json!({}));
    payment["SaleData"]["SaleToAcquirerData"] =
        json!(format!("applicationInfo.externalPlatform.name=Odoo&metadata.pos_hmac={HMAC}"));
    payment
}

/// Waits for this many posts, and returns their content.
async fn posted(receiver: &mut Receiver, most: usize) -> Vec<Value> {
    let all = receiver.attempts(most).await;
    let of = |body: &[u8]| {
        let value: Value = serde_json::from_slice(body).unwrap();
        value["SaleToPOIResponse"].clone()
    };
    all.iter().map(|one| of(&one.body)).collect()
}

fn id_of(posted: &Value) -> &str {
    posted["MessageHeader"]["ServiceID"].as_str().unwrap()
}

fn charged(shop: &Shop) -> usize {
    shop.gateway.ledger().all_charged().count()
}

async fn asks_for_a_card(shop: &Shop) {
    timeout(PATIENCE, shop.reader.waits_for(WaitsFor::Card)).await.expect("the reader asks for a card");
}

/// Returns the texts in base64 that a file contains.
fn decoded(file: &str) -> String {
    let texts = file.split('"').filter_map(|text| STANDARD.decode(text).ok());
    texts.map(|text| String::from_utf8_lossy(&text).into_owned()).collect()
}

/// Waits until the queue of a till on disk has this many messages.
async fn on_disk(front: &Running, most: usize) {
    let file = front.folder.path().join("state/nexo-async-nexo-1.json");
    let count = || {
        let kept: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        kept.as_object().unwrap().len()
    };
    let until = async {
        while count() != most {
            tokio::time::sleep(Duration::from_millis(20)).await
        }
    };
    timeout(PATIENCE, until).await.expect("the queue");
}

#[tokio::test]
async fn a_payment_is_paid_declined_or_aborted_and_its_answer_comes_at_once_or_later() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let mut receiver = Receiver::begin(Mood::Takes).await;
    let front = front(&shop, port, &receiver.address).await;
    let till = Till::new(&front, port);
    let body = odoos("12.5", "order 1--3");
    let (paid, ()) = tokio::join!(till.asks("Payment", "S1", &body), tap(&shop));
    let of_sync = &paid["PaymentResponse"];
    assert_eq!(result(of_sync), success(), "{paid}");

    till.leaves("Payment", "A1", &odoos("7", "order 2--3")).await;
    assert_eq!(result(&till.status("s1", "A1").await), failure("InProgress"));
    tap(&shop).await;
    let all = posted(&mut receiver, 1).await;
    let answer = &all[0]["PaymentResponse"];
    assert_eq!((result(answer), id_of(&all[0])), (success(), "A1"), "{answer}");
    let delivery = receiver.deliveries.borrow()[0].clone();
    assert_eq!(
        (delivery.path.as_str(), &delivery.headers["content-type"]),
        ("/pos_adyen/notification", &"application/json".parse::<hyper::header::HeaderValue>().unwrap())
    );
    for response in [of_sync, answer] {
        let additional = response["Response"]["AdditionalResponse"].as_str().unwrap();
        assert!(additional.ends_with(&format!("&metadata.pos_hmac={HMAC}")), "{additional}");
        assert!(additional.contains("&pspReference=") && additional.contains("&cardType="), "{additional}");
        assert_eq!(response["PaymentReceipt"].as_array().unwrap().len(), 2);
    }
    assert_eq!(answer["SaleData"]["SaleTransactionID"]["TransactionID"], "order 2--3");

    shop.gateway.force(Outcome::Decline { code: "800.100.152", description: "declined", arc: *b"05" });
    till.leaves("Payment", "A2", &odoos("5", "order 3--3")).await;
    tap(&shop).await;
    let all = posted(&mut receiver, 2).await;
    let answer = &all[1]["PaymentResponse"];
    assert_eq!(result(answer), failure("Refusal"));
    assert!(answer.to_string().contains(HMAC), "{answer}");
    shop.gateway.force(Outcome::Approve);

    // Odoo cancels by `/async`, and expects `ok`. The cloud answers an abort on `/sync` with nothing.
    for (count, id, path) in [(3, "A3", "/async"), (4, "A4", "/sync")] {
        till.leaves("Payment", id, &odoos("5", &format!("order {id}--3"))).await;
        asks_for_a_card(&shop).await;
        let aborted = till.posts(path, till.message("Abort", &format!("x{id}"), &till.abort(id))).await;
        let text = if path == "/async" { "ok" } else { "" };
        assert_eq!((aborted.status().as_u16(), aborted.text().await.unwrap().as_str()), (200, text));
        let answer = posted(&mut receiver, count).await.pop().unwrap();
        assert_eq!((id_of(&answer), result(&answer["PaymentResponse"])), (id, failure("Aborted")), "{answer}");
        assert!(answer.to_string().contains(HMAC), "{answer}");
    }
    // A message that is refused after `ok` is answered later too.
    till.leaves("Payment", "A5", &odoos("5", "order 5--3").to_string().replace("EUR", "USD").parse().unwrap()).await;
    till.leaves("Diagnosis", "A6", &json!({ "HostDiagnosisFlag": false })).await;
    // The module for Odoo keeps the `%s` of Odoo's own address in the query.
    let answer = till.posts("/async?test", till.message("Diagnosis", "A8", &json!({}))).await;
    assert_eq!(answer.text().await.unwrap(), "ok");
    let all = posted(&mut receiver, 7).await;
    let of = |id: &str| all.iter().find(|one| id_of(one) == id).unwrap();
    assert_eq!(result(&of("A5")["PaymentResponse"]), failure("NotAllowed"));
    assert_eq!(of("A6")["DiagnosisResponse"]["POIStatus"]["CardReaderOKFlag"], true);
    // A refund is reversed by the name in the answer, as Odoo's newer versions do.
    let mut back = json!({ "OriginalPOITransaction": original(of_sync), "ReversalReason": "MerchantCancel", "ReversedAmount": 12.5 });
    back["SaleData"] = json!({ "SaleToAcquirerData": "currency=EUR",
        "SaleTransactionID": { "TransactionID": "order 9--3", "TimeStamp": "2026-11-23T10:00:00Z" } });
    till.leaves("Reversal", "A7", &back).await;
    let all = posted(&mut receiver, 8).await;
    assert_eq!(result(&all[7]["ReversalResponse"]), success(), "{}", all[7]);
    on_disk(&front, 0).await;
    assert_eq!(charged(&shop), 1);

    // After a restart of the front, the status has the till's texts from the agent's journal.
    let front = killed_and_begun(front, port, &receiver.address).await;
    let till = Till::new(&front, port);
    let status = till.status("s2", "A1").await;
    let repeated = &status["RepeatedMessageResponse"]["RepeatedResponseMessageBody"]["PaymentResponse"];
    assert_eq!(result(repeated), success(), "{status}");
    assert!(repeated["Response"]["AdditionalResponse"].as_str().unwrap().contains(HMAC), "{status}");
    assert_eq!(result(&till.status("s3", "none").await), failure("NotFound"));
}

#[tokio::test]
async fn a_front_that_is_killed_after_ok_asks_again_and_the_till_hears_the_outcome_once_it_is_back() {
    let (shop, _stop) = shop().await;
    let (port, at) = (free_port(), free_port());
    let address = format!("127.0.0.1:{at}");
    let front = front(&shop, port, &address).await;
    let till = Till::new(&front, port);
    till.leaves("Payment", "1", &odoos("12.5", "1")).await;
    asks_for_a_card(&shop).await;
    let front = killed_and_begun(front, port, &address).await;
    let till = Till { client: front.client(), ..till };
    assert_eq!(result(&till.status("s1", "1").await), failure("InProgress"));
    tap(&shop).await;
    // The answer is on disk, and no server takes it.
    front.until_logged("an answer was not accepted").await;
    let status: Value = serde_json::from_slice(&front.verb(&["status"]).stdout).unwrap_or_default();
    let shown = status["tills"].as_array().into_iter().flatten().find(|till| till["till"] == "nexo-1");
    assert!(shown.is_some_and(|till| till["unsent"] == 1 && till["error"].is_string()), "{status}");
    let front = killed_and_begun(front, port, &address).await;
    let till = Till { client: front.client(), ..till };
    assert_eq!(result(&till.status("s2", "1").await), success());
    let mut receiver = Receiver::begin_at(at, Mood::Takes).await;
    let all = posted(&mut receiver, 1).await;
    assert_eq!((id_of(&all[0]), result(&all[0]["PaymentResponse"])), ("1", success()));
    on_disk(&front, 0).await;
    // Once delivered, it is not sent again.
    let front = killed_and_begun(front, port, &address).await;
    let till = Till { client: front.client(), ..till };
    till.leaves("Diagnosis", "2", &json!({})).await;
    let all = posted(&mut receiver, 2).await;
    assert_eq!((all.len(), id_of(&all[1])), (2, "2"));
    assert_eq!(charged(&shop), 1);
}

#[tokio::test]
async fn the_latest_answer_goes_first_to_a_server_that_fails_redirects_or_hangs() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let mut receiver = Receiver::begin(Mood::Fails).await;
    let front = front(&shop, port, &receiver.address).await;
    let till = Till::new(&front, port);
    till.leaves("Diagnosis", "1", &json!({})).await;
    posted(&mut receiver, 1).await;
    for id in ["2", "3"] {
        till.leaves("Diagnosis", id, &json!({})).await;
    }
    let mut count = 1;
    while !posted(&mut receiver, count).await.iter().any(|one| id_of(one) == "3") {
        count = receiver.deliveries.borrow().len() + 1;
    }
    receiver.becomes(Mood::Redirects);
    let before = receiver.deliveries.borrow().len();
    posted(&mut receiver, before + 1).await;
    receiver.becomes(Mood::Hangs);
    let before = receiver.deliveries.borrow().len();
    posted(&mut receiver, before + 1).await;
    // The time limit for an answer ends the attempt.
    receiver.becomes(Mood::Takes);
    let before = receiver.deliveries.borrow().len();
    let all = posted(&mut receiver, before + 3).await;
    let order: Vec<&str> = all.iter().map(id_of).collect();
    // A till that waits for an answer could take an earlier one for it.
    assert_eq!(order[before - 1..], ["3", "3", "2", "1"], "{order:?}");
    // Each attempt has the same answer.
    assert_eq!(all[before - 1], all[before]);
    on_disk(&front, 0).await;
}

#[tokio::test]
async fn a_full_queue_drops_the_first_answer_and_a_repeated_message_takes_no_place() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let receiver = Receiver::begin(Mood::Fails).await;
    let front = front(&shop, port, &receiver.address).await;
    let till = Till::new(&front, port);
    for n in 0..16 {
        till.leaves("Diagnosis", &n.to_string(), &json!({})).await;
    }
    let all_answered = async {
        let file = front.folder.path().join("state/nexo-async-nexo-1.json");
        loop {
            let kept: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            if kept.as_object().unwrap().values().all(|one| one["answer"].is_string()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, all_answered).await.expect("all are answered");
    till.leaves("Diagnosis", "15", &json!({})).await;
    till.leaves("Diagnosis", "16", &json!({})).await;
    front.until_logged("dropped: too many wait").await;
    on_disk(&front, 16).await;
    receiver.becomes(Mood::Takes);
    on_disk(&front, 0).await;
    let last = receiver.deliveries.borrow().last().unwrap().body.clone();
    assert!(String::from_utf8_lossy(&last).contains("\"ServiceID\":\"1\""), "the answer to 0 was dropped");
}

/// Connects with TLS, without an HTTP client.
async fn raw(front: &Running, port: u16) -> TlsStream<TcpStream> {
    let pem = front.verb(&["certificate", "--pem"]).stdout;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&pem).unwrap()).unwrap();
    let config = rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}

fn request(path: &str, length: usize, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}",
        KEYS[0]
    )
}

#[tokio::test]
async fn a_line_that_breaks_before_ok_or_during_the_message_leaves_one_payment_or_none() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let mut receiver = Receiver::begin(Mood::Takes).await;
    let front = front(&shop, port, &receiver.address).await;
    let till = Till::new(&front, port);
    let message = till.message("Payment", "1", &odoos("12.5", "1"));
    // Half a message, and a message that announces more than it has.
    for (length, body) in [(message.len(), &message[..message.len() / 2]), (message.len() + 9, message.as_str())] {
        let mut stream = raw(&front, port).await;
        stream.write_all(request("/async", length, body).as_bytes()).await.unwrap();
        drop(stream);
    }
    // A whole message, whose sender never reads `ok`.
    let mut stream = raw(&front, port).await;
    stream.write_all(request("/async", message.len(), &message).as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    asks_for_a_card(&shop).await;
    drop(stream);
    // The till does not know whether it was accepted, and sends it again, in both forms.
    till.leaves("Payment", "1", &odoos("12.5", "1")).await;
    let body = odoos("12.5", "1");
    let (paid, ()) = tokio::join!(till.asks("Payment", "1", &body), tap(&shop));
    let all = posted(&mut receiver, 1).await;
    assert_eq!(all[0]["PaymentResponse"], paid["PaymentResponse"]);
    on_disk(&front, 0).await;
    // Afterwards it is the same payment still, and its answer is sent again.
    till.leaves("Payment", "1", &odoos("12.50", "1")).await;
    let all = posted(&mut receiver, 2).await;
    assert_eq!(all[1]["PaymentResponse"]["POIData"], paid["PaymentResponse"]["POIData"]);
    assert_eq!((all.len(), charged(&shop)), (2, 1));
    // An announced length above the limit is refused at once.
    let mut stream = raw(&front, port).await;
    stream.write_all(request("/async", 300_000_000, "{").as_bytes()).await.unwrap();
    let mut answer = vec![0; 1024];
    let read = timeout(Duration::from_secs(5), stream.read(&mut answer)).await.expect("an answer").unwrap();
    assert!(String::from_utf8_lossy(&answer[..read]).starts_with("HTTP/1.1 413"));
}

#[tokio::test]
async fn two_tills_have_their_own_keys_answers_and_payments() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let mut receiver = Receiver::begin(Mood::Takes).await;
    let front = front(&shop, port, &receiver.address).await;
    let one = Till::new(&front, port);
    let two = Till { sale_id: "Till 2", key: KEYS[1], ..one.clone() };
    one.leaves("Payment", "1", &odoos("12.5", "1")).await;
    asks_for_a_card(&shop).await;
    // The second till has no address, so it asks for the outcome.
    two.leaves("Payment", "1", &odoos("5", "1")).await;
    let busy = async { while result(&two.status("s", "1").await) != failure("NotFound") {} };
    timeout(PATIENCE, busy).await.expect("the reader is busy, so nothing was begun");
    assert_eq!(result(&two.asks("Payment", "2", &odoos("5", "2")).await["PaymentResponse"]), failure("Busy"));
    tap(&shop).await;
    let all = posted(&mut receiver, 1).await;
    assert_eq!(result(&all[0]["PaymentResponse"]), success());
    assert_eq!(result(&two.status("s1", "1").await), failure("NotFound"), "it is of the other till");
    two.leaves("Payment", "3", &odoos("5", "3")).await;
    tap(&shop).await;
    let paid = async {
        loop {
            let status = two.status("s2", "3").await;
            if result(&status) == success() {
                return status;
            }
        }
    };
    let paid = timeout(PATIENCE, paid).await.expect("it ends");
    let receipt = &paid["RepeatedMessageResponse"]["RepeatedResponseMessageBody"]["PaymentResponse"]["PaymentReceipt"];
    assert!(receipt.to_string().contains("key=totalAmount"), "{receipt}");
    assert_eq!((charged(&shop), receiver.deliveries.borrow().len()), (2, 1));
}

#[tokio::test]
async fn a_wrong_key_hears_a_text_with_401_and_no_key_opens_another_till() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let receiver = Receiver::begin(Mood::Takes).await;
    let front = front(&shop, port, &receiver.address).await;
    let till = Till::new(&front, port);
    let message = till.message("Payment", "1", &odoos("5", "1"));
    let url = |path: &str| format!("https://127.0.0.1:{port}{path}");
    let post =
        |path: &str| till.client.post(url(path)).header("content-type", "application/json").body(message.clone());
    let long = "x".repeat(300);
    for path in ["/sync", "/async"] {
        for request in [
            post(path),
            post(path).header("x-api-key", ""),
            post(path).header("x-api-key", "AQEnhmfuXNWTK0Qc+iSEh3aAlVyZ"),
            post(path).header("x-api-key", long.as_str()),
            post(path).header("x-api-key", KEYS[0]).header("x-api-key", KEYS[0]),
            post(path).header("authorization", format!("Bearer {}", KEYS[0])),
        ] {
            let answer = request.send().await.unwrap();
            assert_eq!(
                (answer.status().as_u16(), &answer.headers()["content-type"]),
                (401, &"text/plain; charset=utf-8".parse::<hyper::header::HeaderValue>().unwrap())
            );
            assert!(answer.text().await.unwrap().starts_with("x-api-key: "));
        }
        let stolen = Till { key: KEYS[1], ..till.clone() };
        let answer = json_of(stolen.posts(path, message.clone()).await).await;
        assert!(rejected(&answer["SaleToPOIRequest"]).contains("MessageHeader.SaleID"), "{answer}");
    }
    // Guesses are limited, but do not lock out the till with the key.
    let last = async {
        loop {
            let answer = post("/async").header("x-api-key", "another wrong key of a guesser").send().await.unwrap();
            assert_eq!(answer.status(), 401);
            if let Some(wait) = answer.headers().get("retry-after").cloned() {
                return (wait, answer.text().await.unwrap());
            }
        }
    };
    let (wait, said) = timeout(PATIENCE, last).await.expect("the limit");
    assert!(wait.to_str().unwrap().parse::<u64>().unwrap() <= 60 && said.contains("too many wrong keys"), "{said}");
    assert_eq!(result(&till.asks("Diagnosis", "2", &json!({})).await["DiagnosisResponse"]), success());
    assert!(shop.gateway.ledger().entries().is_empty());
    // The log has no key.
    let log = front.until_logged("no till has its x-api-key").await;
    assert!(!log.contains("AQE"), "{log}");
}

#[tokio::test]
async fn whatever_else_a_till_sends_has_a_documented_answer_and_begins_nothing() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let receiver = Receiver::begin(Mood::Takes).await;
    let front = front(&shop, port, &receiver.address).await;
    let till = Till::new(&front, port);
    let began = Instant::now();
    let pays = |body: Value| till.message("Payment", "1", &body);
    let with = |pointer: &str, value: Value| {
        let mut body = odoos("5", "1");
        *body.pointer_mut(pointer).unwrap() = value;
        body
    };
    let acquirer = "/SaleData/SaleToAcquirerData";
    let card =
        json!({ "PaymentInstrumentType": "Card", "CardData": { "SensitiveCardData": { "PAN": "4111111111111111" } } });
    let mut keyed = odoos("5", "1");
    keyed["PaymentData"]["PaymentInstrumentData"] = card;
    let padded = |size: usize| json!({ "SaleData": "x".repeat(size) });
    // These are rejected at once, in both forms.
    let rejects = [
        (String::new(), "not JSON"),
        ("{\"a\"".to_owned(), "not JSON"),
        ("{}".to_owned(), "SaleToPOIRequest"),
        (pays(json!({})), "SaleData"),
        (pays(padded(64 * 1024)), "SaleData"),
        (pays(with("/PaymentTransaction/AmountsReq/RequestedAmount", json!(-5))), "RequestedAmount"),
        (pays(odoos("5", "1")).replace("PosAgent-1", "PosAgent-2"), "POIID"),
        (pays(odoos("5", "1")).replace("Till 1", "Till 9"), "SaleID"),
        (pays(odoos("5", "1")).replace("\"Request\"", "\"Response\""), "MessageType"),
    ];
    for path in ["/sync", "/async"] {
        for (body, why) in &rejects {
            let answer = till.posts(path, body.clone()).await;
            assert_eq!(answer.status(), 200, "{why}");
            let answer = json_of(answer).await;
            let said = rejected(&answer["SaleToPOIRequest"]);
            assert!(said.contains(why), "{why}: {said}");
        }
    }
    // These are refused by a response on `/sync`, and later on `/async`.
    for (body, condition, why) in [
        (with("/PaymentTransaction/AmountsReq/Currency", json!("USD")), "NotAllowed", "Currency"),
        (with("/PaymentTransaction/AmountsReq/RequestedAmount", json!(0)), "MessageFormat", "RequestedAmount"),
        (with(acquirer, json!("notificationUrl=https%3a%2f%2fevil.example%2f")), "NotAllowed", "notificationUrl"),
        (with(acquirer, json!("metadata.x=4111111111111111")), "MessageFormat", "card%20number"),
        (with(acquirer, json!("authorisationType=PreAuth")), "NotAllowed", "authorisationType"),
        (keyed.clone(), "NotAllowed", "SensitiveCardData"),
    ] {
        let answer = till.asks("Payment", "1", &body).await;
        let response = &answer["PaymentResponse"];
        assert_eq!(result(response), failure(condition), "{answer}");
        assert!(response["Response"]["AdditionalResponse"].as_str().unwrap().contains(why), "{answer}");
    }
    // A message with card data, or one too large for the queue, is not written to disk.
    for (body, why) in
        [(keyed, "SensitiveCardData"), (with(acquirer, json!("metadata.x=4111111111111111")), "SaleToAcquirerData")]
    {
        let answer = json_of(till.posts("/async", pays(body)).await).await;
        assert!(rejected(&answer["SaleToPOIRequest"]).contains(why), "{answer}");
    }
    let mut large = odoos("5", "1");
    large["SaleData"]["SaleReferenceID"] = json!("x".repeat(20 * 1024));
    let answer = json_of(till.posts("/async", pays(large)).await).await;
    assert!(rejected(&answer["SaleToPOIRequest"]).contains("larger than 8192 bytes"), "{answer}");
    let state = front.folder.path().join("state");
    for file in std::fs::read_dir(&state).unwrap() {
        let path = file.unwrap().path();
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        assert!(!text.contains("4111") && !decoded(&text).contains("4111"), "{path:?}");
    }
    // A web page, another method, another kind of body, an own address, and a body above the limit.
    let post = |path: &str| {
        let request = till.client.post(format!("https://127.0.0.1:{port}{path}")).header("x-api-key", KEYS[0]);
        request.header("content-type", "application/json")
    };
    let good = pays(odoos("5", "1"));
    for path in ["/sync", "/async"] {
        for (request, status) in [
            (post(path).header("origin", "https://till.example").body(good.clone()), 403),
            (post(path).header("sec-fetch-site", "same-origin").body(good.clone()), 403),
            (post(path).body("x".repeat(256 * 1024 + 1)), 413),
            (till.client.get(format!("https://127.0.0.1:{port}{path}")).header("x-api-key", KEYS[0]), 405),
            (
                till.client
                    .post(format!("https://127.0.0.1:{port}{path}"))
                    .header("x-api-key", KEYS[0])
                    .body(good.clone()),
                415,
            ),
        ] {
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status().as_u16(), status, "{path}");
        }
        let answer =
            post(path).header("pos-callback", "https://evil.example/").body(good.clone()).send().await.unwrap();
        let answer = json_of(answer).await;
        assert!(rejected(&answer["SaleToPOIRequest"]).contains("Pos-Callback"), "{answer}");
    }
    assert_eq!(till.client.post(format!("https://127.0.0.1:{port}/asyncs")).send().await.unwrap().status(), 404);
    // The key does not open the local form, which still asks for this board or a seal.
    assert!(shop.gateway.ledger().entries().is_empty() && receiver.deliveries.borrow().is_empty());
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[tokio::test]
#[ignore = "needs npm's packages: bash tests/clients/run"]
async fn a_till_made_of_adyens_library_works_unmodified_in_the_cloud_form() {
    let program = std::env::var("POS_TERMINAL_API_CLOUD").expect("POS_TERMINAL_API_CLOUD names cloud.js");
    let (shop, _stop) = shop().await;
    let (port, at) = (free_port(), free_port());
    // The till's server has a certificate of its own.
    let certified = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    };
    let server_key = write("server-key.pem", certified.signing_key.serialize_pem());
    let server_certificate = write("server.pem", certified.cert.pem());
    // The front may run as another user.
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let own = prepared(&shop).await;
    let plain = config(own.path(), port, &format!("https://127.0.0.1:{at}/notify"));
    let second = "\n\n[[nexo.till]]\ntill = \"nexo-2\"";
    let text = plain.replacen(second, &format!("\nnotify-ca-file = {server_certificate:?}{second}"), 1);
    let front = begun(own, &text).await;
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, front.verb(&["certificate", "--pem"]).stdout).unwrap();
    let mut client = tokio::process::Command::new("node");
    let client = client.arg(program).arg(format!("https://127.0.0.1:{port}")).arg(front.folder.path().join("key-0"));
    let client = client.arg("Till 1").arg(&server_key).arg(&server_certificate).arg(at.to_string());
    let client = client.env("NODE_EXTRA_CA_CERTS", &ca).kill_on_drop(true).status();
    let taps = async {
        tap(&shop).await;
        while charged(&shop) == 0 {
            tokio::task::yield_now().await;
        }
        tap(&shop).await;
    };
    let (status, ()) = timeout(PATIENCE, async { tokio::join!(client, taps) }).await.expect("it ends");
    assert!(status.unwrap().success());
    assert_eq!(charged(&shop), 2);
}
