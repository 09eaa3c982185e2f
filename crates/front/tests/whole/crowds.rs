//! Tests the front under a flood of requests from an unidentified caller and from a greedy till. Meanwhile, the page
//! and tills of each kind (paired, ZVT and nexo) make sales, cancel sales and close the day. No request waits longer
//! than the manual states (`docs/src/front.md`).

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use pos_protocols::zvt::answer::TerminalMessage;
use pos_protocols::zvt::bmp::Fields;
use pos_protocols::zvt::command::Command;
use pos_sim::reader::WaitsFor;
use pos_sim::shop::Shop;
use pos_test_kit::free_port;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::memory::memory_kb;
use crate::process::{Running, json as json_of};
use crate::zvt::{self, code, front_user, guarded, money};
use crate::{PATIENCE, nexo, shop_changed, tap};

/// The time within which a request is answered under a flood, according to the manual. It excludes the time of the
/// customer and the bank.
const AT_MOST: Duration = Duration::from_secs(5);

/// The greatest growth of the front's memory under the flood, in kB. It covers 112 connections with their buffers.
const MOST_GROWN_KB: u64 = 12 * 1024;

/// Starts the shop, and the front with a till of each kind.
async fn shop_with_everybody(zvt_port: u16, nexo_port: u16) -> (Shop, tokio::sync::oneshot::Sender<()>, Running) {
    let (uid, by_root) = front_user();
    let tills = "[\"local\", \"kasse-2\", \"zvt-1\", \"nexo-1\", \"nexo-2\"]";
    let peer = format!("[[till.peer]]\nuid = {uid}\ntills = {tills}\n\n[journal]");
    let (shop, stop) = shop_changed(vec![
        ("[journal]".to_owned(), peer),
        ("[terminal]".to_owned(), "[terminal]\ntill-confirm-s = 600".to_owned()),
    ])
    .await;
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(shop.socket(), folder.path().join("till.sock")).unwrap();
    let passphrase = nexo::write_passphrase(folder.path());
    if by_root {
        std::os::unix::fs::chown(&passphrase, Some(uid), None).unwrap();
    }
    let config = [nexo::config(folder.path(), nexo_port), zvt::zvt_config(folder.path(), zvt_port, "")].concat();
    assert_eq!(passphrase.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let front = zvt::prepared(&shop, folder, &config).await;
    (shop, stop, front)
}

/// Pairs a till and returns its token.
async fn paired(front: &Running, client: &Client) -> String {
    let post = async |path: String, body: Value| {
        let request = client.post(front.https_url(&path)).header("content-type", "application/json");
        json_of(request.body(body.to_string()).send().await.unwrap()).await
    };
    assert!(front.verb(&["pair", "open"]).status.success());
    let asked = post("/front/pair".to_owned(), json!({ "name": "kasse-2" })).await;
    let list = String::from_utf8(front.verb(&["pair", "list"]).stdout).unwrap();
    let line = list.lines().find(|line| line.contains("kasse-2 at")).unwrap();
    let code = line.split(' ').next().unwrap();
    assert!(front.verb(&["pair", "approve", code]).status.success());
    let path = format!("/front/pair/{}", asked["request"].as_str().unwrap());
    let token = post(path, json!({ "code": code })).await["token"].as_str().unwrap().to_owned();
    format!("Bearer {token}")
}

/// Opens one connection after another from this address. Each sends its text and waits until the front closes it.
async fn again_and_again(from: [u8; 4], to: String, says: String) {
    loop {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((from, 0).into()).unwrap();
        let connected: std::io::Result<TcpStream> = socket.connect(to.parse().unwrap()).await;
        if let Ok(mut stream) = connected
            && stream.write_all(says.as_bytes()).await.is_ok()
        {
            let mut piece = [0; 1024];
            while matches!(stream.read(&mut piece).await, Ok(read) if read > 0) {}
        }
        tokio::task::yield_now().await;
    }
}

/// A running flood.
struct Flood(Option<tokio::sync::oneshot::Sender<()>>, Option<std::thread::JoinHandle<()>>);

impl Drop for Flood {
    fn drop(&mut self) {
        drop(self.0.take());
        self.1.take().map(std::thread::JoinHandle::join);
    }
}

/// Starts a flood that runs until it is dropped. It has its own thread, so it takes no time from the agent and the
/// tills.
fn flood(front: &Running, token: &str) -> Flood {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let floods = everything(front, token);
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut flood = JoinSet::new();
            for (from, to, says) in floods {
                flood.spawn(again_and_again(from, to, says));
            }
            let _ = stopped.await;
        });
    });
    Flood(Some(stop), Some(thread))
}

/// Returns each connection of the flood: its source, its destination and its text.
fn everything(front: &Running, token: &str) -> Vec<([u8; 4], String, String)> {
    let host = &front.http;
    let mut flood = Vec::new();
    let mut add = |from: [u8; 4], says: String, times: usize| {
        for _ in 0..times {
            flood.push((from, front.http.clone(), says.clone()));
        }
    };
    let slow = format!(
        "POST /front/pair HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n"
    );
    // The unidentified caller has an address for itself and shares another with other callers.
    add([127, 0, 0, 2], slow.clone(), 30);
    add([127, 0, 0, 1], slow, 10);
    add([127, 0, 0, 2], format!("GET /v1/sales HTTP/1.1\r\nHost: {host}"), 30);
    let wrong = format!("GET /v1/latest HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer wrong\r\n\r\n");
    add([127, 0, 0, 1], wrong, 4);
    // The till has two addresses and sends as many waits, lists and streams as it can.
    for (target, times) in [("/v1/sales/R-0?wait-s=120", 12), ("/v1/sales?limit=100", 4), ("/v1/events", 4)] {
        let asks = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {token}\r\n\r\n");
        add([127, 0, 0, 1], asks.clone(), times);
        add([127, 0, 0, 3], asks, times);
    }
    flood
}

/// Durations by name.
#[derive(Default)]
struct Times(Vec<(String, Duration)>);

impl Times {
    async fn of<T>(&mut self, what: &str, act: impl Future<Output = T>) -> T {
        let began = Instant::now();
        let done = timeout(PATIENCE, act).await.unwrap_or_else(|_| panic!("{what} hangs"));
        self.0.push((what.to_owned(), began.elapsed()));
        done
    }
}

/// Sends a request as the page or as a paired till, and returns the status and the body.
async fn asks(front: &Running, client: &Client, token: Option<&str>, what: (Method, &str, Value)) -> (u16, Value) {
    let (method, path, body) = what;
    let request = client.request(method, front.https_url(path)).header("content-type", "application/json");
    let request = match token {
        Some(token) => request.header("authorization", token),
        None => request.header("origin", front.https_url("")),
    };
    let answer = request.body(if body.is_null() { String::new() } else { body.to_string() }).send().await.unwrap();
    (answer.status().as_u16(), json_of(answer).await)
}

async fn waits_for_a_card(shop: &Shop) {
    timeout(PATIENCE, shop.reader.waits_for(WaitsFor::Card)).await.expect("the reader asks for a card");
}

#[tokio::test]
async fn under_a_flood_each_way_in_sells_cancels_and_closes_in_time() {
    let (zvt_port, nexo_port) = (free_port(), free_port());
    let (shop, _stop, front) = shop_with_everybody(zvt_port, nexo_port).await;
    let client = front.client();
    let token = paired(&front, &client).await;
    let mut times = Times::default();
    // The greedy till needs a transaction that it can wait for and list.
    let zero = json!({ "reference": "R-0", "amount": "1.00" });
    assert_eq!(asks(&front, &client, Some(&token), (Method::POST, "/v1/sales", zero)).await.0, 201);
    waits_for_a_card(&shop).await;
    let alone_kb = memory_kb(front.pid());
    let _flood = flood(&front, &token);
    let cancel = asks(&front, &client, Some(&token), (Method::POST, "/v1/sales/R-0/cancel", json!({})));
    assert_eq!(times.of("the greedy till's own cancel", cancel).await.0, 200);

    for (who, token) in [("page", None), ("paired till", Some(token.as_str()))] {
        let reference = |n: u8| format!("{}-{n}", &who[..4]);
        let sale = |n: u8| (Method::POST, "/v1/sales", json!({ "reference": reference(n), "amount": "2.00" }));
        let sold = times.of(&format!("{who}: sale"), asks(&front, &client, token, sale(1))).await;
        assert_eq!(sold.0, 201, "{who}: {sold:?}");
        tap(&shop).await;
        let path = format!("/v1/sales/{}?wait-s=60", reference(1));
        let ended = timeout(PATIENCE, async {
            loop {
                // The greedy till's waits in the flood may end this wait.
                let (status, sale) = asks(&front, &client, token, (Method::GET, &path, Value::Null)).await;
                if (who, status) == ("paired till", 429) {
                    continue;
                }
                assert_eq!(status, 200, "{who}: {sale}");
                if sale["state"] == "ended" {
                    return sale;
                }
            }
        });
        assert_eq!(ended.await.expect("it ends")["outcome"], "approved");
        // The reader becomes free a moment after the first transaction has ended.
        let begun = timeout(PATIENCE, async {
            loop {
                let (status, told) = asks(&front, &client, token, sale(2)).await;
                if status != 409 {
                    return (status, told);
                }
            }
        });
        assert_eq!(begun.await.expect("a reader that is free").0, 201);
        waits_for_a_card(&shop).await;
        let path = format!("/v1/sales/{}/cancel", reference(2));
        let cancel = asks(&front, &client, token, (Method::POST, &path, json!({})));
        let cancelled = times.of(&format!("{who}: cancel"), cancel).await;
        assert_eq!((cancelled.0, &cancelled.1["cancel"]), (200, &"in-time".into()), "{who}: {cancelled:?}");
    }
    let close = asks(&front, &client, None, (Method::POST, "/v1/closes", json!({})));
    assert_eq!(times.of("page: close", close).await.0, 201);

    let mut till = times.of("zvt: connection", zvt::Till::at(zvt_port)).await;
    assert_eq!(code(&times.of("zvt: registration", till.registers(0x02)).await), 0);
    assert_eq!(times.of("zvt: sale", till.asks(&Command::Authorisation(money(300)))).await, TerminalMessage::Ok);
    tap(&shop).await;
    assert_eq!(code(&timeout(PATIENCE, till.until_over()).await.unwrap()), 0);
    assert_eq!(till.asks(&Command::Authorisation(money(300))).await, TerminalMessage::Ok);
    let abort = async {
        assert_eq!(till.asks(&Command::Abort(Fields::default())).await, TerminalMessage::Ok);
        till.until_over().await
    };
    assert_eq!(code(&times.of("zvt: abort", abort).await), 0x6C);
    let end_of_day = Command::EndOfDay(guarded(Fields::default()));
    assert_eq!(code(&times.of("zvt: end of day", till.does(&end_of_day)).await), 0);

    let till = nexo::Till::new(&front, nexo_port);
    let paid = async {
        waits_for_a_card(&shop).await;
        let waited = Instant::now();
        tap(&shop).await;
        waited
    };
    let began = Instant::now();
    let (paid, asked) = tokio::join!(till.pays("1", "4", "1"), paid);
    assert_eq!(paid["PaymentResponse"]["Response"]["Result"], "Success", "{paid}");
    times.0.push(("nexo: payment, until the card is asked for".to_owned(), asked - began));
    let stops = async {
        waits_for_a_card(&shop).await;
        let named = json!({ "MessageCategory": "Payment", "SaleID": "Till 1", "ServiceID": "2" });
        let began = Instant::now();
        till.asks("Abort", "3", &json!({ "AbortReason": "x", "MessageReference": named })).await;
        began
    };
    let (aborted, began) = tokio::join!(till.pays("2", "4", "2"), stops);
    assert_eq!(aborted["PaymentResponse"]["Response"]["ErrorCondition"], "Aborted", "{aborted}");
    times.0.push(("nexo: abort".to_owned(), began.elapsed()));
    let closing = json!({ "ReconciliationType": "SaleReconciliation" });
    let closed = times.of("nexo: reconciliation", till.asks("Reconciliation", "4", &closing)).await;
    assert_eq!(closed["ReconciliationResponse"]["Response"]["Result"], "Success", "{closed}");

    let late: Vec<_> = times.0.iter().filter(|(_, took)| *took > AT_MOST).collect();
    assert!(late.is_empty(), "{late:?} of {:?}", times.0);
    assert_eq!(shop.gateway.ledger().all_charged().count(), 4);
    let grown_kb = memory_kb(front.pid()).saturating_sub(alone_kb);
    assert!(grown_kb < MOST_GROWN_KB, "the front took {grown_kb} kB more");
    say(&times, grown_kb);
}

/// Prints the figures for the manual.
#[allow(clippy::print_stdout, reason = "the figures are for the manual")]
fn say(times: &Times, grown_kb: u64) {
    println!("memory: {grown_kb} kB more");
    times.0.iter().for_each(|(what, took)| println!("{what}: {} ms", took.as_millis()));
}
