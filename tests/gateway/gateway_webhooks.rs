//! Webhooks of the simulated gateway over real HTTPS: the notifications that a receiver gets, and receivers that are
//! down, hang, redirect or fail. No payment waits for a receiver.

use std::time::Duration;

use crate::gateway_counter::{Counter, INVALID, at, read, refusal, text};
use crate::https::{Act, Authority, Server};
use crate::shop_client::owned;
use pos_sim::gateway::{HostRules, Options};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use serde_json::{Value, json};

const NOON: &str = "2026-11-23T12:00:00Z";
const KEY: &str = "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F";

fn says(head: &str) -> Vec<u8> {
    format!("HTTP/1.1 {head}\r\ncontent-length: 0\r\n\r\n").into_bytes()
}

fn taken() -> Act {
    Act::Answer(says("200 OK"))
}

/// Opens a gateway and a receiver for its notifications. The receiver accepts every notification that its script does
/// not mention.
async fn open(script: Vec<Act>, options: Options) -> (Counter, Server) {
    let authority = Authority::new();
    let tls = authority.server("localhost", (2020, 2099));
    let mut script = std::collections::VecDeque::from(script);
    let receiver = Server::answering(tls, move |_| script.pop_front().unwrap_or_else(taken)).await;
    let url = format!("https://localhost:{}/notify?secret=4711", receiver.address().port());
    let counter = Counter::with(Options {
        webhooks: vec![url],
        webhook_ca: Some(authority.pem().to_owned()),
        clock: Some(at(NOON)),
        ..options
    })
    .await;
    counter.shop.gateway.set_clock(at(NOON));
    (counter, receiver)
}

/// Waits for this many requests and returns the head and body of each.
async fn told(receiver: &Server, count: usize) -> Vec<(String, String)> {
    let waiting = async {
        while receiver.requests().len() < count {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("the receiver is told");
    let split = |request: &String| {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    };
    receiver.requests().iter().map(split).collect()
}

fn bodies(told: &[(String, String)]) -> Vec<Value> {
    told.iter().map(|(_, body)| serde_json::from_str(body).unwrap()).collect()
}

async fn hooks(counter: &Counter) -> Vec<Value> {
    let path = format!("v1/webhooks?entityId={}", counter.shop.gateway.entity_id());
    let (status, answer) = read(counter.shop.asked("GET", &path, None).await).await;
    assert_eq!(status, 200, "{answer}");
    answer["webhooks"].as_array().unwrap().clone()
}

/// Waits until the only webhook has this state.
async fn until(counter: &Counter, wanted: impl Fn(&Value) -> bool) -> Value {
    let waiting = async {
        loop {
            let hook = hooks(counter).await.remove(0);
            if wanted(&hook) {
                return hook;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("the webhook stands as wanted")
}

#[tokio::test]
async fn a_receiver_is_told_what_was_answered() {
    for host_rules in [HostRules::Checked, HostRules::Literal] {
        let (mut counter, receiver) = open(Vec::new(), Options { host_rules, ..Options::default() }).await;
        let (status, sale) = counter.pay("DB", "20.00", &[]).await;
        assert_eq!(status, 200, "{sale}");
        let id = text(&sale, "/id");
        let (_, refund) = counter.follow(&id, "RF", Some("5.00"), &[]).await;
        let (status, declined) = counter.pay("DB", "9.51", &[]).await;
        assert_eq!(status, 400);
        let (_, held) = counter.pay("PA", "30.00", &[]).await;
        let (_, capture) = counter.follow(&text(&held, "/id"), "CP", None, &[]).await;
        let (_, void) = counter.follow(&text(&capture, "/id"), "RV", None, &[]).await;

        let requests = told(&receiver, 6).await;
        let all = bodies(&requests);
        let answered = [&sale, &refund, &declined, &held, &capture, &void];
        for ((head, body), answered) in requests.iter().zip(&all).map(|((head, _), body)| (head, body)).zip(answered) {
            assert!(head.starts_with("POST /notify?secret=4711 HTTP/1.1\r\n"), "{head}");
            assert!(head.to_lowercase().contains("content-type: application/json"), "{head}");
            assert_eq!((&body["type"], &body["action"]), (&json!("PAYMENT"), &json!("CREATED")));
            assert_eq!(&body["payload"], answered, "identical to the payment response");
            assert_eq!(body["presentationCurrency"], "EUR");
        }
        let amounts: Vec<&Value> = all.iter().map(|body| &body["presentationAmount"]).collect();
        assert_eq!(amounts, ["20.00", "5.00", "9.51", "30.00", "30.00", "30.00"]);
        // The referenced payment: only captures and refunds have one.
        let referenced: Vec<Option<&str>> = all.iter().map(|body| body["referencedId"].as_str()).collect();
        let of_held = text(&held, "/id");
        assert_eq!(referenced, [None, Some(id.as_str()), None, None, Some(&of_held), None]);
        assert!(answered.iter().all(|answer| answer.get("referencedId").is_none()), "in webhooks only");
    }
}

#[tokio::test]
async fn what_is_decided_later_and_stored_cards_are_told_too() {
    let (mut counter, receiver) = open(Vec::new(), Options::default()).await;
    let (_, pending) = counter.pay("DB", "9.61", &[]).await;
    let id = text(&pending, "/id");
    let entity = counter.shop.gateway.entity_id().to_owned();
    for _ in 0..2 {
        assert_eq!(counter.shop.get(&format!("v1/payments/{id}?entityId={entity}")).await.0, 200);
    }
    let (_, stored) = counter.pay("DB", "1.00", &[("createRegistration", "true")]).await;
    assert_eq!(counter.delete(&text(&stored, "/registrationId")).await.0, 200);
    let all = bodies(&told(&receiver, 5).await);
    let what: Vec<String> =
        all.iter().map(|body| format!("{} {}", text(body, "/type"), text(body, "/action"))).collect();
    assert_eq!(
        what,
        ["PAYMENT CREATED", "PAYMENT UPDATED", "PAYMENT CREATED", "REGISTRATION CREATED", "REGISTRATION DELETED"]
    );
    assert_eq!(text(&all[0], "/payload/result/code"), "000.200.000");
    assert_eq!((text(&all[1], "/payload/id"), text(&all[1], "/payload/result/code")), (id, "000.100.110".into()));
    assert_eq!(all[3]["payload"], stored);
    // A subscription's payments are notified too.
    let card = text(&counter.pay("DB", "1.00", &[("createRegistration", "true")]).await.1, "/registrationId");
    let form = [
        ("entityId", entity.as_str()),
        ("paymentType", "DB"),
        ("amount", "9.90"),
        ("currency", "EUR"),
        ("merchantTransactionId", "rent-2026"),
        ("job.expression", "0 0 9 * * ?"),
    ];
    let path = format!("v1/registrations/{card}/payments");
    assert_eq!(counter.shop.asked("POST", &path, Some(&owned(&form))).await.status(), 200);
    counter.shop.gateway.set_clock(at("2026-11-24T09:00:00Z"));
    let all = bodies(&told(&receiver, 8).await);
    assert_eq!(text(&all[7], "/payload/standingInstruction/source"), "MIT");
}

#[tokio::test]
async fn a_receiver_that_fails_is_tried_again_by_the_gateways_clock() {
    let script = vec![
        Act::Answer(says("500 Internal Server Error")),
        Act::Answer(says("307 Temporary Redirect\r\nlocation: /elsewhere")),
        Act::Cut(Vec::new()),
    ];
    let (mut counter, receiver) = open(script, Options::default()).await;
    let first = counter.paid("DB", "10.00", &[]).await;
    let second = counter.paid("DB", "11.00", &[]).await;
    let minutes = |minutes: i64| at(NOON) + chrono::TimeDelta::minutes(minutes);
    for (attempts, later, why) in [
        (1, 1, "500 Internal Server Error"),
        (2, 6, "307 Temporary Redirect: redirects are not followed; register the target address"),
        (3, 21, ""),
    ] {
        let hook = until(&counter, |hook| hook["attempts"] == attempts).await;
        let said = text(&hook, "/error");
        assert!(said.starts_with(why) && !said.contains("4711"), "{said}");
        assert_eq!((&hook["state"], &hook["waiting"]), (&json!("failing"), &json!(2)));
        let url = text(&hook, "/url");
        assert!(url.ends_with("/notify"), "what may be a secret is not shown: {url}");
        assert_eq!(receiver.requests().len(), attempts, "not before its pause is over, and the second one waits");
        counter.shop.gateway.set_clock(minutes(later));
    }
    let hook = until(&counter, |hook| hook["delivered"] == 2).await;
    assert_eq!((&hook["state"], &hook["error"], &hook["waiting"]), (&json!("good"), &Value::Null, &json!(0)));
    let ids: Vec<String> = bodies(&told(&receiver, 5).await).iter().map(|body| text(body, "/payload/id")).collect();
    assert_eq!(ids, [&first, &first, &first, &first, &second].map(String::clone));
    assert!(receiver.requests().iter().all(|request| request.starts_with("POST /notify")), "nothing went elsewhere");
}

#[tokio::test]
async fn a_receiver_that_hangs_or_is_not_there_holds_nobody_up() {
    let options = Options { webhook_timeout: Duration::from_secs(3), ..Options::default() };
    let (mut counter, receiver) = open(vec![Act::Silence], options).await;
    // No program listens at this port.
    let nobody = pos_test_kit::refusing_port();
    let entity = counter.shop.gateway.entity_id().to_owned();
    let url = format!("http://127.0.0.1:{nobody}/");
    let path = "v1/webhooks";
    let (status, answer) = counter.shop.post(path, &[("entityId", &entity), ("url", &url)]).await;
    assert_eq!(status, 200, "{answer}");
    let down = text(&answer, "/id");
    counter.paid("DB", "10.00", &[]).await;
    counter.paid("DB", "11.00", &[]).await;
    let hangs = until(&counter, |hook| hook["attempts"] == 1).await;
    assert_eq!(text(&hangs, "/error"), "no answer in time; the receiver hangs or is too slow");
    let is_down = async {
        loop {
            let hook = hooks(&counter).await.remove(1);
            if hook["attempts"] == 1 {
                return hook;
            }
        }
    };
    let is_down = tokio::time::timeout(Duration::from_secs(60), is_down).await.unwrap();
    assert!(text(&is_down, "/error").contains("refused"), "{is_down}");
    // One receiver does not wait for another, and a removed receiver gets no further notifications.
    let path = format!("v1/webhooks/{down}?entityId={entity}");
    assert_eq!(read(counter.shop.asked("DELETE", &path, None).await).await.0, 200);
    assert_eq!(read(counter.shop.asked("DELETE", &path, None).await).await.0, 404);
    counter.shop.gateway.set_clock(at("2026-11-23T12:01:00Z"));
    assert_eq!(bodies(&told(&receiver, 3).await).len(), 3);
    assert_eq!(until(&counter, |hook| hook["delivered"] == 2).await["givenUp"], 0);
}

#[tokio::test]
async fn with_a_key_only_its_holder_can_read() {
    let options = Options { webhook_key: Some(KEY.to_owned()), ..Options::default() };
    let (mut counter, receiver) = open(Vec::new(), options).await;
    let (_, sale) = counter.pay("DB", "10.00", &[]).await;
    let (_, again) = counter.pay("DB", "10.00", &[]).await;
    let requests = told(&receiver, 2).await;
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &hex::decode(KEY).unwrap()).unwrap());
    let mut vectors = Vec::new();
    for ((head, body), answered) in requests.iter().zip([&sale, &again]) {
        let header = |name: &str| {
            let line = head.lines().find(|line| line.to_lowercase().starts_with(name)).unwrap();
            hex::decode(line.split_once(": ").unwrap().1).unwrap()
        };
        assert!(!body.contains("PAYMENT"));
        let vector = header("x-initialization-vector");
        let mut sealed = [hex::decode(body).unwrap(), header("x-authentication-tag")].concat();
        let nonce = Nonce::try_assume_unique_for_key(&vector).unwrap();
        let opened = key.open_in_place(nonce, Aad::empty(), &mut sealed).unwrap();
        let opened: Value = serde_json::from_slice(opened).unwrap();
        assert_eq!(&opened["payload"], answered);
        vectors.push(vector);
    }
    assert_ne!(vectors[0], vectors[1]);
}

#[tokio::test]
async fn the_notification_url_of_a_request_is_told_of_its_payment() {
    let (mut counter, receiver) = open(Vec::new(), Options::default()).await;
    let hook = hooks(&counter).await.remove(0);
    let delete = format!("v1/webhooks/{}?entityId={}", text(&hook, "/id"), counter.shop.gateway.entity_id());
    assert_eq!(counter.shop.asked("DELETE", &delete, None).await.status(), 200);
    let url = format!("https://localhost:{}/of-this-one?order=7", receiver.address().port());
    let (_, other) = counter.pay("DB", "7.00", &[]).await;
    // The payment is pending until the retrieval decides it, so it is notified twice.
    let (status, answer) = counter.pay("DB", "9.61", &[("notificationUrl", &url)]).await;
    assert_eq!(status, 200, "{answer}");
    let id = text(&answer, "/id");
    for _ in 0..2 {
        counter.shop.get(&format!("v1/payments/{id}")).await;
    }
    let requests = told(&receiver, 2).await;
    assert!(
        requests.iter().all(|(head, _)| head.starts_with("POST /of-this-one?order=7 HTTP/1.1\r\n")),
        "{requests:?}"
    );
    let all = bodies(&requests);
    assert_eq!((&all[0]["type"], &all[0]["payload"]), (&json!("PAYMENT"), &answer));
    let actions: Vec<&Value> = all.iter().map(|body| &body["action"]).collect();
    assert_eq!(actions, ["CREATED", "UPDATED"]);
    assert!(all.iter().all(|body| body["payload"]["id"] == id.as_str()) && text(&other, "/id") != id);
    // The address is not registered. The gateway does not call a forbidden address, and the payment goes on.
    assert!(hooks(&counter).await.is_empty());
    for nowhere in ["/notify-me", "http://shop.example/notify"] {
        assert_eq!(counter.pay("DB", "8.00", &[("notificationUrl", nowhere)]).await.0, 200);
    }
}

#[tokio::test]
async fn what_cannot_be_registered_is_refused_by_name() {
    let counter = Counter::open().await;
    let entity = counter.shop.gateway.entity_id().to_owned();
    let long = format!("https://shop.example/{}", "x".repeat(2048));
    for (form, name) in [
        (&[][..], "url"),
        (&[("url", "shop.example")], "url"),
        (&[("url", "http://shop.example/")], "url"),
        (&[("url", "https://user:word@shop.example/")], "url"),
        (&[("url", "file:///etc/passwd")], "url"),
        (&[("url", &long)], "url"),
        (&[("url", "https://shop.example/"), ("key", "0011")], "key"),
        (&[("url", "https://shop.example/"), ("url", "https://shop.example/")], "url"),
        (&[("url", "https://shop.example/"), ("types", "PAYMENT")], "types"),
    ] {
        let form: Vec<(&str, &str)> =
            std::iter::once(("entityId", entity.as_str())).chain(form.iter().copied()).collect();
        let (status, answer) = counter.shop.post("v1/webhooks", &form).await;
        assert_eq!((status, refusal(&answer)), (400, (INVALID.to_owned(), name.to_owned())), "{answer}");
    }
    let register = [("entityId", entity.as_str()), ("url", "https://shop.example/")];
    let (status, answer) = counter.shop.post("v1/webhooks", &register[1..]).await;
    assert_eq!((status, refusal(&answer).1.as_str()), (400, "entityId"));
    for _ in 0..20 {
        assert_eq!(counter.shop.post("v1/webhooks", &register).await.0, 200);
    }
    let (status, answer) = counter.shop.post("v1/webhooks", &register).await;
    assert_eq!((status, refusal(&answer).1.as_str()), (400, "url"), "{answer}");
    for (options, why) in [
        (Options { webhooks: vec!["nowhere".to_owned()], ..Options::default() }, "url: must be absolute"),
        (
            Options {
                webhooks: vec!["https://shop.example/".to_owned()],
                webhook_key: Some("00".to_owned()),
                ..Options::default()
            },
            "must be 64 hex digits",
        ),
        (
            Options {
                webhooks: vec!["https://shop.example/".to_owned()],
                webhook_ca: Some("-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n".to_owned()),
                ..Options::default()
            },
            "webhooks: ",
        ),
    ] {
        let error = pos_sim::gateway::start(options).await.unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
