//! Tests of payouts: a till asks for one, and a supervisor confirms it at the page, with the real programs.

use pos_protocols::caisse_ap::failure::Failure;
use pos_sim::gateway::{Kind, State};
use pos_sim::reader::{CardEntry, WaitsFor, card};
use pos_sim::shop::Shop;
use pos_test_kit::free_port;
use reqwest::Client;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::caisse_ap::{self, Till, latest};
use crate::process::{Running, problem};
use crate::zvt::{entries, front_user, until};
use crate::{PATIENCE, agent_adds, changes, json_of, shop_changed};

/// A credit of 12.50 as the module sends it.
const CREDIT: &str = "CZ0040300CJ012012345678901CA00201CE003978CD0011CB0041250";

/// Opens a shop with operators, whose agent lets the front's till pay out.
async fn shop() -> (Shop, tokio::sync::oneshot::Sender<()>) {
    let uid = front_user().0;
    let rights = r#"["sale", "reverse", "credit", "read", "totals", "service"]"#;
    let peer = format!(
        "[operators]\nrequired = true\n\n[[till.peer]]\nuid = {uid}\ntills = [\"local\", \"caisse-1\"]\n\
         rights = {rights}\nwithout-operator = [\"caisse-1\"]\n\n[journal]"
    );
    shop_changed(vec![("[journal]".to_owned(), peer)]).await
}

/// Starts the front with a till that may pay out, and adds the operators.
async fn front(shop: &Shop, port: u16) -> Running {
    let front = caisse_ap::front(shop, port, "credit = true").await;
    agent_adds(shop, ("Anna", "862435", "supervisor")).await;
    agent_adds(shop, ("Ben", "135791", "cashier")).await;
    front
}

async fn waiting(front: &Running, client: &Client) -> Vec<Value> {
    let answer = json_of(client.get(front.https_url("/front/payouts")).send().await.unwrap()).await;
    answer["payouts"].as_array().unwrap().clone()
}

/// Waits until the page shows one payout, and returns it with its path.
async fn shown(front: &Running, client: &Client) -> (String, Value) {
    let shown = async {
        loop {
            if let [payout] = waiting(front, client).await.as_slice() {
                return (format!("/front/payouts/{}", payout["reference"].as_str().unwrap()), payout.clone());
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, shown).await.expect("the page shows the payout")
}

async fn refuses(front: &Running, client: &Client, path: &str) -> u16 {
    let request = client.delete(front.https_url(path)).header("origin", front.https_url(""));
    request.send().await.unwrap().status().as_u16()
}

fn paid_out(shop: &Shop) -> usize {
    entries(shop, Kind::Credit, State::Approved)
}

#[tokio::test]
async fn a_supervisor_confirms_a_payout_and_the_journal_names_her() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = front(&shop, port).await;
    let client = front.client();
    let till = Till::asks(port, CREDIT.as_bytes()).await;
    let (path, payout) = shown(&front, &client).await;
    assert_eq!(
        (&payout["till"], &payout["amount"], &payout["currency"]),
        (&"caisse-1".into(), &"12.50".into(), &"EUR".into())
    );
    let health = json_of(client.get(front.https_url("/front/health")).send().await.unwrap()).await;
    assert_eq!(health["payouts"], 1);
    let decides = async |body: Value| changes(&front, &client, "", (&path, body)).await;
    let wrong = decides(json!({ "operator": "Anna", "pin": "000000" })).await;
    assert_eq!(problem(wrong).await, (401, "wrong-pin".to_owned()));
    let cashier = decides(json!({ "operator": "Ben", "pin": "135791" })).await;
    assert_eq!(problem(cashier).await, (403, "no-supervisor".to_owned()));
    assert_eq!(problem(decides(json!({ "operator": "Anna" })).await).await, (400, "malformed".to_owned()));
    assert_eq!(decides(json!({ "operator": "Anna", "pin": "862435" })).await.status(), 204);
    timeout(PATIENCE, shop.reader.waits_for(WaitsFor::Card)).await.expect("the reader asks for a card");
    shop.reader.present(card("tap").unwrap(), CardEntry::Tap);
    assert!(till.hears().await.unwrap().is_ok());
    assert_eq!(paid_out(&shop), 1);
    let credit = latest(&shop).await;
    assert_eq!((&credit["kind"], &credit["by"]["operator"]), (&"credit".into(), &"Anna".into()), "{credit}");
    assert_eq!(waiting(&front, &client).await, Vec::<Value>::new());
    // The same decision again finds nothing, and pays nothing.
    let again = decides(json!({ "operator": "Anna", "pin": "862435" })).await;
    assert_eq!(problem(again).await, (404, "not-found".to_owned()));
    assert_eq!(paid_out(&shop), 1);
}

#[tokio::test]
async fn a_payout_that_is_refused_not_permitted_or_whose_till_is_gone_begins_nothing() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = front(&shop, port).await;
    let client = front.client();
    let till = Till::asks(port, CREDIT.as_bytes()).await;
    let (path, _) = shown(&front, &client).await;
    assert_eq!(refuses(&front, &client, &path).await, 204);
    assert_eq!(till.hears().await, Some(Err(Failure::Forbidden)));
    // A till that leaves takes its payout from the page.
    let till = Till::asks(port, CREDIT.as_bytes()).await;
    let (path, _) = shown(&front, &client).await;
    drop(till);
    let gone = async {
        while !waiting(&front, &client).await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, gone).await.expect("the payout of a till that is gone is not shown");
    let late = changes(&front, &client, "", (&path, json!({ "operator": "Anna", "pin": "862435" }))).await;
    assert_eq!(problem(late).await, (404, "not-found".to_owned()));
    assert_eq!(refuses(&front, &client, &path).await, 404);
    // The terminal's limit is the agent's, also for a supervisor.
    let above = CREDIT.replace("CB0041250", "CB006150000");
    let till = Till::asks(port, above.as_bytes()).await;
    let (path, _) = shown(&front, &client).await;
    let confirmed = changes(&front, &client, "", (&path, json!({ "operator": "Anna", "pin": "862435" }))).await;
    assert_eq!(confirmed.status(), 204);
    assert_eq!(till.hears().await, Some(Err(Failure::Forbidden)));
    assert_eq!(paid_out(&shop), 0);
    until("nothing is charged", || shop.gateway.ledger().all_charged().count() == 0).await;
}

#[tokio::test]
async fn where_no_operator_has_a_pin_no_payout_is_confirmed() {
    let (shop, _stop) = shop().await;
    let port = free_port();
    let front = caisse_ap::front(&shop, port, "credit = true").await;
    let client = front.client();
    let till = Till::asks(port, CREDIT.as_bytes()).await;
    let (path, _) = shown(&front, &client).await;
    for credentials in [json!({ "operator": "Anna", "pin": "862435" }), json!({ "operator": "", "pin": "" })] {
        let answer = changes(&front, &client, "", (&path, credentials)).await;
        assert!(answer.status().is_client_error(), "{answer:?}");
    }
    assert_eq!(refuses(&front, &client, &path).await, 204);
    assert_eq!(till.hears().await, Some(Err(Failure::Forbidden)));
    assert_eq!(paid_out(&shop), 0);
}
