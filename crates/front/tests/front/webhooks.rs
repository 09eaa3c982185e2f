//! Tests of webhooks with receivers that hang, redirect and fail. They check order, signature and the absence of
//! duplicates.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use serde_json::{Value, json};

use crate::process::{self, Running};
use crate::receiver::{Delivery, Mood, Receiver, SECRET, hook};
use crate::stand_in::StandIn;

async fn front(receiver: &Receiver, more: &str) -> (Running, StandIn, String) {
    let folder = tempfile::tempdir().unwrap();
    let agent = StandIn::begin(folder.path());
    let config = hook(folder.path(), receiver, more);
    let front = Running::begin(folder, &config).await;
    agent.is_listened_to(2).await;
    (front, agent, config)
}

#[tokio::test]
async fn an_event_is_signed_and_what_it_says_is_the_agents() {
    let mut receiver = Receiver::begin(Mood::Takes).await;
    let (_front, agent, _) = front(&receiver, "tills = [\"kasse-2\"]\nsteps = [\"ended\"]").await;
    agent.event("local", "ended");
    agent.event("kasse-2", "present-card");
    agent.event("kasse-2", "ended");
    let Delivery { headers, body, .. } = receiver.attempts(1).await.remove(0);
    let of = |name: &str| headers[name].to_str().unwrap();
    assert_eq!(of("webhook-id"), "evt_e-3", "another till's and another step are not sent");
    let key = STANDARD.decode(&SECRET["whsec_".len()..]).unwrap();
    let signed = format!("{}.{}.{}", of("webhook-id"), of("webhook-timestamp"), std::str::from_utf8(&body).unwrap());
    let signature = STANDARD.decode(of("webhook-signature").strip_prefix("v1,").unwrap()).unwrap();
    hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, &key), signed.as_bytes(), &signature).unwrap();
    let said: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((&said["type"], &said["data"]["till"]), (&"ended".into(), &"kasse-2".into()));
}

/// The shop's server is outside the shop's network, so the message brings the receipt.
#[tokio::test]
async fn an_event_with_the_address_of_a_receipt_brings_the_receipt() {
    let mut receiver = Receiver::begin(Mood::Takes).await;
    let (_front, agent, _) = front(&receiver, "").await;
    let sale = json!({ "till": "kasse-2", "reference": "R/1", "receiptUrl": "https://shop.example/r/R%2F1" });
    // The agent's journal cannot be read for a moment.
    agent.fails_receipts(1);
    agent.event_of("kasse-2", "ended", sale);
    agent.event("kasse-2", "ended");
    receiver.taken(2).await;
    let said: Vec<Value> =
        receiver.attempts(2).await.iter().map(|one| serde_json::from_slice(&one.body).unwrap()).collect();
    assert_eq!(said[0]["data"]["receipt"]["text"], "CUSTOMER COPY\n");
    assert_eq!(said[1]["data"].get("receipt"), None);
    let asked: Vec<String> = agent.heard().into_iter().map(|heard| heard.target).collect();
    assert_eq!(asked, ["/v1/sales/R%2F1/receipt?copy=customer&till=kasse-2"; 2], "none for the second event");
}

/// An agent that does not have the receipt does not hold up the events.
#[tokio::test]
async fn an_event_is_sent_without_a_receipt_that_the_agent_refuses() {
    let mut receiver = Receiver::begin(Mood::Takes).await;
    let (_front, agent, _) = front(&receiver, "").await;
    // The agent does not name this till.
    agent.event_of(
        "kasse-2",
        "ended",
        json!({ "till": "kasse-3", "reference": "1", "receiptUrl": "https://s.example/1" }),
    );
    let first = receiver.attempts(1).await.remove(0);
    let said: Value = serde_json::from_slice(&first.body).unwrap();
    assert_eq!((&said["type"], said["data"].get("receipt")), (&"ended".into(), None));
}

#[tokio::test]
async fn a_receiver_that_fails_and_redirects_hears_everything_once_and_in_order() {
    let mut receiver = Receiver::begin(Mood::Fails).await;
    let (front, agent, _) = front(&receiver, "").await;
    for _ in 0..5 {
        agent.event("kasse-2", "ended");
    }
    receiver.attempts(1).await;
    receiver.becomes(Mood::Redirects);
    let all = receiver.attempts(2).await;
    assert_eq!(all[0].body, all[1].body, "the same at each attempt");
    let client = front.client();
    let failing = async || process::json(client.get(front.https_url("/front/health")).send().await.unwrap()).await;
    while !failing().await["webhooks"][0]["error"].as_str().unwrap_or_default().contains("redirects are not followed") {
        tokio::task::yield_now().await;
    }
    assert_eq!(failing().await["webhooks"][0]["state"], "failing");
    let status = String::from_utf8(front.verb(&["status"]).stdout).unwrap();
    assert!(status.contains("\"failing\"") && !status.contains(&receiver.address), "{status}");
    receiver.becomes(Mood::Takes);
    let expected: Vec<String> = (1..=5).map(|n| format!("evt_e-{n}")).collect();
    assert_eq!(receiver.taken(5).await, expected);
    while failing().await["webhooks"][0]["delivered"] != 5 {
        tokio::task::yield_now().await;
    }
    assert_eq!(failing().await["webhooks"][0]["state"], "good");
}

/// The receiver has no TLS, or a certificate that the front does not trust. No part of the event is sent, and the event
/// is kept.
#[tokio::test]
async fn a_receiver_that_does_not_prove_who_it_is_hears_nothing_and_the_event_is_kept() {
    let mut receiver = Receiver::begin(Mood::Takes).await;
    let folder = tempfile::tempdir().unwrap();
    let agent = StandIn::begin(folder.path());
    let plain = hook(folder.path(), &receiver, "").replace("http://", "https://");
    let front = Running::begin(folder, &plain).await;
    agent.is_listened_to(2).await;
    agent.event("kasse-2", "ended");
    let failing = async |front: &Running| {
        let client = front.client();
        let asked = async {
            loop {
                let health = process::json(client.get(front.https_url("/front/health")).send().await.unwrap()).await;
                if health["webhooks"][0]["state"] == "failing" {
                    return health["webhooks"][0]["error"].as_str().unwrap().to_owned();
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), asked).await.expect("the webhook fails")
    };
    let said = failing(&front).await;
    assert!(!said.contains(&receiver.address), "{said}");
    // The other front's HTTPS certificate is from a CA that the system does not trust.
    let other = Running::begin(tempfile::tempdir().unwrap(), "").await;
    let killed = front.kill().await;
    let front = killed.begin(&plain.replace(&receiver.address, &other.https)).await;
    agent.is_listened_to(2).await;
    agent.event("kasse-2", "ended");
    let said = failing(&front).await;
    assert!(said.contains("certificate") || said.contains("UnknownIssuer"), "{said}");
    // With the right configuration, both events arrive in order.
    let killed = front.kill().await;
    let _front = killed.begin(&plain.replace("https://", "http://")).await;
    assert_eq!(receiver.taken(2).await, ["evt_e-1", "evt_e-2"]);
    assert_eq!(receiver.attempts(2).await.len(), 2, "nothing was understood before");
}

/// The time in the message is that of the first attempt, so the same id always has the same content.
#[tokio::test]
async fn an_event_comes_again_as_it_was_after_the_front_was_killed() {
    let mut receiver = Receiver::begin(Mood::Fails).await;
    let (front, agent, config) = front(&receiver, "").await;
    agent.event("kasse-2", "ended");
    let first = receiver.attempts(1).await.remove(0);
    let killed = front.kill().await;
    // The message's time is in whole seconds, so the test waits until a new message would have another time.
    let second = || std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let then = second();
    while second() < then + 2 {
        tokio::task::yield_now().await;
    }
    let before = receiver.deliveries.borrow().len();
    receiver.becomes(Mood::Takes);
    let _front = killed.begin(&config).await;
    receiver.taken(1).await;
    let again = receiver.deliveries.borrow()[before].clone();
    assert_eq!(again.headers["webhook-id"], first.headers["webhook-id"]);
    assert_eq!(again.body, first.body);
    // The next event has its own message.
    agent.event("kasse-2", "ended");
    assert_eq!(receiver.taken(2).await, ["evt_e-1", "evt_e-2"]);
}

#[tokio::test]
async fn a_receiver_that_hangs_holds_up_nobody_else_and_is_asked_again() {
    let mut receiver = Receiver::begin(Mood::Hangs).await;
    let (front, agent, _) = front(&receiver, "").await;
    agent.event("kasse-2", "ended");
    receiver.attempts(1).await;
    let answer = front.client().get(front.https_url("/v1/latest")).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    receiver.becomes(Mood::Takes);
    assert_eq!(receiver.taken(1).await, ["evt_e-1"]);
}

#[tokio::test]
async fn what_happened_while_the_front_was_killed_or_the_agent_was_away_comes_later_and_once() {
    let mut receiver = Receiver::begin(Mood::Takes).await;
    let (front, agent, config) = front(&receiver, "").await;
    for number in 1..=2 {
        agent.event("kasse-2", "ended");
        receiver.taken(number).await;
    }
    // The receiver gets the event before the position is on disk. If the front is killed in between, the event arrives
    // again with the same id.
    let position = front.folder.path().join("state/webhook-books.json");
    while std::fs::read_to_string(&position).unwrap_or_default() != "\"e-2\"" {
        tokio::task::yield_now().await;
    }
    let killed = front.kill().await;
    for _ in 3..=4 {
        agent.event("kasse-2", "ended");
    }
    let front = killed.begin(&config).await;
    receiver.taken(4).await;
    let stopped = agent.stop();
    let agent = stopped.begin();
    agent.event("kasse-2", "ended");
    let ids = receiver.taken(5).await;
    drop(front);
    assert_eq!(ids, (1..=5).map(|n| format!("evt_e-{n}")).collect::<Vec<_>>());
}

/// Returns what a verb printed on standard output, and on standard error with its exit code.
async fn told(front: &Running, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = front.verb_beside(arguments).await;
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A test neither takes part in the order of the events nor in their counters.
#[tokio::test]
async fn a_test_is_one_signed_message_and_disturbs_no_event() {
    let mut receiver = Receiver::begin(Mood::Fails).await;
    let (front, agent, _) = front(&receiver, "").await;
    agent.event("kasse-2", "ended");
    receiver.attempts(1).await;
    let (code, _, said) = told(&front, &["webhook", "test", "books"]).await;
    assert_eq!(code, Some(65), "{said}");
    assert!(
        said.contains("webhook books: not accepted after ") && said.contains("500 Internal Server Error"),
        "{said}"
    );
    let is_test = |one: &Delivery| one.headers["webhook-id"].to_str().unwrap().starts_with("test_");
    assert_eq!(receiver.deliveries.borrow().iter().filter(|one| is_test(one)).count(), 1, "it is not sent again");
    receiver.becomes(Mood::Takes);
    let (code, said, wrong) = told(&front, &["webhook", "test", "books"]).await;
    assert_eq!((code, wrong.as_str()), (Some(0), ""), "{said}");
    assert!(said.starts_with("webhook books: accepted with status 204 after ") && said.ends_with(" ms\n"), "{said}");
    let tests: Vec<Delivery> = receiver.deliveries.borrow().iter().filter(|one| is_test(one)).cloned().collect();
    let said: Value = serde_json::from_slice(&tests[1].body).unwrap();
    assert_eq!((&said["type"], &said["data"]), (&"test".into(), &json!({ "webhook": "books" })));
    assert_ne!(tests[0].headers["webhook-id"], tests[1].headers["webhook-id"]);
    let key = STANDARD.decode(&SECRET["whsec_".len()..]).unwrap();
    let of = |name: &str| tests[1].headers[name].to_str().unwrap();
    let body = std::str::from_utf8(&tests[1].body).unwrap();
    let signed = format!("{}.{}.{body}", of("webhook-id"), of("webhook-timestamp"));
    let signature = STANDARD.decode(of("webhook-signature").strip_prefix("v1,").unwrap()).unwrap();
    hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, &key), signed.as_bytes(), &signature).unwrap();
    agent.event("kasse-2", "ended");
    let events = |ids: Vec<String>| ids.into_iter().filter(|id| id.starts_with("evt_")).collect::<Vec<_>>();
    assert_eq!(events(receiver.taken(3).await), ["evt_e-1", "evt_e-2"]);
    let status: Value = serde_json::from_slice(&front.verb(&["status"]).stdout).unwrap();
    assert!(status["webhooks"][0]["delivered"].as_u64().unwrap() <= 2, "{status}");
}

#[tokio::test]
async fn a_webhook_has_one_test_at_a_time_and_an_unknown_one_is_named() {
    let mut receiver = Receiver::begin(Mood::Hangs).await;
    let (front, _agent, _) = front(&receiver, "").await;
    let first = front.begin_verb(&["webhook", "test", "books"]);
    receiver.attempts(1).await;
    let (code, _, said) = told(&front, &["webhook", "test", "books"]).await;
    assert!(code == Some(65) && said.contains("a test of the webhook books is under way"), "{said}");
    // A person who does not wait for the first test may begin another one.
    drop(first);
    receiver.becomes(Mood::Takes);
    let again = async { while told(&front, &["webhook", "test", "books"]).await.0 != Some(0) {} };
    tokio::time::timeout(Duration::from_secs(60), again).await.expect("the first test has ended");
    for verb in ["test", "list"] {
        let (code, _, said) = told(&front, &["webhook", verb, "boks"]).await;
        assert!(code == Some(65) && said.contains("no webhook \"boks\"; its webhooks: books"), "{said}");
    }
    let (code, _, said) = told(&front, &["webhook", "test", "books", "--callback", "https://till.example/pos/1"]).await;
    assert!(code == Some(65) && said.contains("the webhook books may not send to this address"), "{said}");
}

#[tokio::test]
async fn the_last_events_are_listed_with_what_became_of_them_and_without_the_url() {
    let mut receiver = Receiver::begin(Mood::Fails).await;
    let (front, agent, _) = front(&receiver, "").await;
    agent.event("kasse-2", "ended");
    receiver.attempts(2).await;
    let listed = async || -> Value {
        serde_json::from_str(&told(&front, &["webhook", "list", "books", "--json"]).await.1).unwrap()
    };
    // The receiver has got the second attempt before the front knows its answer.
    let mut said = listed().await;
    while said["webhooks"][0]["deliveries"][0]["attempts"].as_u64().unwrap() < 2 {
        said = listed().await;
    }
    let first = &said["webhooks"][0]["deliveries"][0];
    assert_eq!((&first["outcome"], &first["error"]), (&"retrying".into(), &"500 Internal Server Error".into()));
    receiver.becomes(Mood::Takes);
    let sale = json!({ "till": "kasse-2", "reference": "R/1", "receiptUrl": "https://shop.example/r/R%2F1" });
    agent.event_of("kasse-2", "ended", sale);
    receiver.taken(2).await;
    while said["webhooks"][0]["deliveries"][1]["outcome"] != "delivered" {
        said = listed().await;
    }
    let [first, second] = [0, 1].map(|at| said["webhooks"][0]["deliveries"][at].clone());
    assert_eq!((&first["id"], &first["outcome"]), (&"evt_e-1".into(), &"delivered".into()));
    assert_eq!(first["error"], "500 Internal Server Error", "the last error stays");
    assert!(first["attempts"].as_u64().unwrap() >= 3, "{first}");
    assert_eq!((&second["id"], &second["attempts"], &second["error"]), (&"evt_e-2".into(), &1.into(), &Value::Null));
    assert!(second["answeredAt"].as_str().unwrap().ends_with('Z'), "{second}");
    let (code, lines, _) = told(&front, &["webhook", "list"]).await;
    assert_eq!(code, Some(0));
    assert!(lines.lines().all(|line| line.chars().count() <= 79), "{lines}");
    for part in ["books: 2 events", "when ", "delivered", "  evt_e-1  500 Internal Server Error", "  evt_e-2\n"] {
        assert!(lines.contains(part), "{part} in\n{lines}");
    }
    for text in [lines, said.to_string()] {
        assert!(!text.contains(&receiver.address) && !text.contains("COPY") && !text.contains("hook\""), "{text}");
    }
}

#[tokio::test]
async fn a_secret_needs_no_configuration() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_pos-front")).args(["webhook", "secret"]).output();
    let said = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(said.starts_with("whsec_") && said.trim().len() == 50, "{said}");
}
