//! Tests of the front with the real agent, and with a simulated reader, gateway and printer on real connections. The
//! tests follow a sale from the network to the gateway's ledger, and interrupt it.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]
#![allow(dead_code, reason = "the process's helpers are for the other test program too")]

mod caisse_ap;
mod crowds;
mod memory;
mod nexo;
mod nexo_cloud;
mod payouts;
#[path = "../front/process.rs"]
mod process;
mod receipts;
#[path = "../front/receiver.rs"]
mod receiver;
mod recorded;
mod zvt;
mod zvt_faults;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use pos_sim::reader::{CardEntry, WaitsFor, card};
use pos_sim::shop::{Options, Shop};
use reqwest::{Client, Response};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::process::{Running, json as json_of, problem};

/// A time that no step of these tests exceeds. A test that hangs fails with its own name.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a shop with a running agent.
async fn shop() -> (Shop, oneshot::Sender<()>) {
    shop_with("").await
}

/// Starts a shop with this text added to the agent's configuration.
async fn shop_with(more: &str) -> (Shop, oneshot::Sender<()>) {
    shop_changed(vec![("[journal]".to_owned(), format!("{more}\n[journal]"))]).await
}

/// Starts a shop and replaces these texts in the agent's configuration.
async fn shop_changed(config: Vec<(String, String)>) -> (Shop, oneshot::Sender<()>) {
    process::provider();
    let shop = Shop::open(Options { config, ..Options::default() }).await.unwrap();
    let config = pos_agent::config::load(&shop.config()).unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    tokio::spawn(pos_agent::agent::run(config, async move { drop(stopped.await) }));
    (shop, stop)
}

/// Starts the front for this shop, and returns when a sale can begin.
async fn front(shop: &Shop) -> Running {
    front_with(shop, "").await
}

/// Does the same with this text added to the front's configuration.
async fn front_with(shop: &Shop, more: &str) -> Running {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(shop.socket(), folder.path().join("till.sock")).unwrap();
    let front = Running::begin(folder, more).await;
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

/// Waits until the reader shows this text to the customer.
async fn shows(shop: &Shop, text: &str) {
    let until = shop.reader.until(|screen| screen.lines.iter().any(|line| line.contains(text)));
    timeout(PATIENCE, until).await.expect("the reader shows it");
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
    // The front passes on a refusal by the agent unchanged.
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

/// Adds an operator through the agent's own socket, without the front.
async fn agent_adds(shop: &Shop, operator: (&str, &str, &str)) {
    let agent = Client::builder().unix_socket(shop.socket()).no_proxy().build().unwrap();
    let body = json!({ "name": operator.0, "pin": operator.1, "role": operator.2 }).to_string();
    let request = agent.post("http://agent/v1/operators").header("content-type", "application/json").body(body);
    assert_eq!(request.send().await.unwrap().status(), 201);
}

async fn signs_in(front: &Running, client: &Client, pin: &str) -> Response {
    let request = client.post(front.https_url("/front/session")).header("origin", front.https_url(""));
    let body = json!({ "operator": "Anna", "pin": pin }).to_string();
    request.header("content-type", "application/json").body(body).send().await.unwrap()
}

/// Sends a request that changes data, in the form that the page sends.
async fn changes(front: &Running, client: &Client, cookie: &str, (path, body): (&str, Value)) -> Response {
    let request = client.post(front.https_url(path)).header("origin", front.https_url("")).header("cookie", cookie);
    request.header("content-type", "application/json").body(body.to_string()).send().await.unwrap()
}

#[tokio::test]
async fn an_operator_signs_in_sells_and_signs_out_and_the_session_is_nothing_afterwards() {
    let (shop, _stop) = shop_with("[operators]\nrequired = true\n").await;
    let front = front(&shop).await;
    let client = front.client();
    agent_adds(&shop, ("Anna", "862435", "supervisor")).await;
    let settings = json_of(client.get(front.https_url("/front/settings")).send().await.unwrap()).await;
    let of_shop = (&settings["operators"], &settings["merchant"][0], &settings["waits"]["cardS"]);
    assert_eq!(of_shop, (&true.into(), &"Corner Shop".into(), &60.into()), "{settings}");
    let nobody = client.get(front.https_url("/front/session")).send().await.unwrap();
    assert_eq!(nobody.status(), 401);
    assert_eq!(json_of(nobody).await["operators"], json!([{ "name": "Anna", "role": "supervisor" }]));
    let sale = |reference: &str| ("/v1/sales", json!({ "reference": reference, "amount": "12.34" }));
    let refused = changes(&front, &client, "", sale("R-1")).await;
    assert_eq!(problem(refused).await, (401, "operator-required".to_owned()));
    assert_eq!(problem(signs_in(&front, &client, "000000").await).await, (401, "wrong-pin".to_owned()));
    let signed_in = signs_in(&front, &client, "862435").await;
    assert_eq!(signed_in.status(), 200);
    let cookie = signed_in.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let said = json_of(signed_in).await;
    assert_eq!(
        (&said["operator"], &said["role"], &said["idleLockS"]),
        (&"Anna".into(), &"supervisor".into(), &300.into())
    );
    assert_eq!(changes(&front, &client, &cookie, sale("R-1")).await.status(), 201);
    tap(&shop).await;
    let ended = ended(&front, &client, "R-1").await;
    assert_eq!((&ended["outcome"], &ended["by"]["operator"]), (&"approved".into(), &"Anna".into()), "{ended}");
    // The close of day is made by the page's till and in Anna's name.
    let close = changes(&front, &client, &cookie, ("/v1/closes", json!({}))).await;
    assert_eq!(close.status(), 201);
    let close = json_of(close).await;
    assert_eq!((&close["till"], &close["by"]["operator"]), (&"local".into(), &"Anna".into()), "{close}");
    let out = client.delete(front.https_url("/front/session")).header("origin", front.https_url(""));
    assert_eq!(out.header("cookie", &cookie).send().await.unwrap().status(), 204);
    let refused = changes(&front, &client, &cookie, sale("R-2")).await;
    assert_eq!(problem(refused).await, (401, "session-ended".to_owned()));
    assert_eq!(shop.gateway.ledger().all_charged().count(), 1);
}

#[tokio::test]
async fn ten_wrong_pins_lock_the_operator_and_the_page_is_told_for_how_long() {
    let (shop, _stop) = shop_with("[operators]\nrequired = true\n").await;
    let front = front(&shop).await;
    let client = front.client();
    agent_adds(&shop, ("Anna", "862435", "cashier")).await;
    let mut said = Vec::new();
    for _ in 0..10 {
        let answer = signs_in(&front, &client, "000000").await;
        let wait = answer.headers().get("retry-after").map(|wait| wait.to_str().unwrap().parse::<u64>().unwrap());
        said.push((problem(answer).await, wait));
    }
    let (last, wait) = said.pop().unwrap();
    assert_eq!(last, (429, "operator-locked".to_owned()), "{said:?}");
    assert!(wait.is_some_and(|seconds| seconds > 0), "{said:?}");
    // The agent does not check even the right PIN.
    assert_eq!(problem(signs_in(&front, &client, "862435").await).await, (429, "operator-locked".to_owned()));
}

/// The agent's configuration gives this user one till, but the front acts for another.
#[tokio::test]
async fn a_till_that_the_agents_configuration_does_not_give_the_front_is_refused_and_nothing_begins() {
    // The agent does not restrict root. When root runs these tests, the front runs as another user.
    let (own, other) = (rustix::process::getuid().as_raw(), 60_001);
    let uid = if own == 0 { other } else { own };
    let (shop, _stop) = shop_with(&format!("[[till.peer]]\nuid = {uid}\ntills = [\"counter\"]\n")).await;
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(shop.socket(), folder.path().join("till.sock")).unwrap();
    while !shop.socket().exists() {
        tokio::task::yield_now().await;
    }
    let may = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let front = if own == 0 {
        may(shop.folder(), 0o711);
        may(&shop.socket(), 0o666);
        Running::begin_as(uid, folder, "[page]\ntill = \"bar\"").await
    } else {
        Running::begin(folder, "[page]\ntill = \"bar\"").await
    };
    let client = front.client();
    let refused = begin(&front, &client, "R-1").await;
    let status = refused.status();
    let said = json_of(refused).await;
    assert_eq!((status.as_u16(), &said["code"]), (403, &"forbidden".into()), "{said}");
    assert!(said["detail"].as_str().unwrap().contains("bar"), "{said}");
    for path in ["/v1/latest", "/v1/sales", "/v1/sales/R-1", "/v1/totals", "/v1/sales?till=local"] {
        assert_eq!(client.get(front.https_url(path)).send().await.unwrap().status(), 403, "{path}");
    }
    let own = client.get(front.https_url("/v1/sales?till=counter")).send().await.unwrap();
    assert_eq!(json_of(own).await["sales"], json!([]));
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
