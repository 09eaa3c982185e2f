//! Tests of the customer's screen: its token opens one stream, and the stream says only what a customer may see.

use pos_till_api::routes::ROUTES;
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};

use crate::process::{Running, problem};
use crate::stand_in::{SESSION, front};

const ON: &str = "[page]\ncustomer = true";

/// The front's own paths that need no caller, or whose caller is judged by the path itself.
const OWN_PATHS: [(&str, &str); 12] = [
    ("GET", "/front/session"),
    ("POST", "/front/session"),
    ("DELETE", "/front/session"),
    ("POST", "/front/pair"),
    ("POST", "/front/pair/x"),
    ("POST", "/front/pairing"),
    ("GET", "/front/events"),
    ("GET", "/front/qr/acts"),
    ("GET", "/front/settings"),
    ("POST", "/front/customer/leave"),
    ("POST", "/front/customer/pair"),
    ("GET", "/"),
];

async fn post(front: &Running, path: &str, body: Value) -> reqwest::Response {
    let request = front.client().post(front.https_url(path)).header("origin", front.https_url(""));
    request.header("content-type", "application/json").body(body.to_string()).send().await.unwrap()
}

/// Pairs a screen as the cashier's page does, and returns its token.
async fn paired(front: &Running) -> String {
    let answer = post(front, "/front/customer/pair", json!({})).await;
    assert_eq!(answer.status(), StatusCode::CREATED);
    let answer = crate::process::json(answer).await;
    let (page, token) = answer["address"].as_str().unwrap().split_once('#').unwrap();
    assert_eq!(page, front.https_url("/customer"));
    assert!(answer["code"]["path"].as_str().is_some_and(|path| path.starts_with('M')), "{answer}");
    token.to_owned()
}

async fn listen(client: &Client, front: &Running, token: &str) -> reqwest::Response {
    client.get(front.https_url("/front/customer")).bearer_auth(token).send().await.unwrap()
}

/// Reads the stream until it has said all these words, and returns what it said.
async fn heard(stream: &mut reqwest::Response, words: &[&str]) -> String {
    let mut said = String::new();
    while !words.iter().all(|words| said.contains(words)) {
        let piece = pos_test_kit::within("the stream", stream.chunk()).await.unwrap();
        let piece = piece.unwrap_or_else(|| panic!("it ended: {said}"));
        said.push_str(std::str::from_utf8(&piece).unwrap());
    }
    said
}

/// The token is refused by name on every path but its own, even from this board, where a page needs no operator.
#[tokio::test]
async fn the_screens_token_opens_one_stream_and_is_refused_everywhere_else() {
    let (front, agent) = front(ON).await;
    let (token, client) = (paired(&front).await, front.client());
    let api = ROUTES.iter().map(|route| (route.method, route.path.replace("{reference}", "1").replace("{close}", "1")));
    let own = OWN_PATHS.into_iter().map(|(method, path)| (method, path.to_owned()));
    let more =
        [("GET", "/v1/nothing"), ("GET", "/customer"), ("HEAD", "/front/customer"), ("DELETE", "/front/customer")];
    let more = more.into_iter().map(|(method, path)| (method, path.to_owned()));
    for (method, path) in api.chain(own).chain(more) {
        let has_body = method != "HEAD";
        let request = client.request(Method::from_bytes(method.as_bytes()).unwrap(), front.https_url(&path));
        let request = request.bearer_auth(&token).header("content-type", "application/json");
        let answer = request.header("cookie", format!("pos_session={SESSION}")).body("{}").send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{method} {path}");
        let said = answer.text().await.unwrap();
        assert!(!has_body || said.contains("may only use GET /front/customer"), "{method} {path}: {said}");
    }
    assert_eq!(agent.heard().len(), 0, "the agent is not asked");
    assert_eq!(listen(&client, &front, &token).await.status(), StatusCode::OK);
    // A page of a listed origin may use a till's token, but not this one.
    let listed = client.get(front.https_url("/front/customer")).bearer_auth(&token);
    let listed = listed.header("origin", "https://till.example").send().await.unwrap();
    assert_eq!(problem(listed).await, (403, "forbidden".to_owned()));
}

#[tokio::test]
async fn only_the_screens_token_opens_the_stream_and_only_users_of_the_page_pair_a_display() {
    let (front, agent) = front(&format!("{ON}\nwithout-sign-in = \"nobody\"")).await;
    let client = front.client();
    let (status, code) = problem(client.get(front.https_url("/front/customer")).send().await.unwrap()).await;
    assert_eq!((status, code.as_str()), (401, "unauthorized"));
    assert_eq!(problem(listen(&client, &front, &"0".repeat(64)).await).await, (401, "unauthorized".to_owned()));
    for path in ["/front/customer/pair", "/front/customer/leave"] {
        assert_eq!(
            problem(post(&front, path, json!({ "till": "a", "reference": "1" })).await).await,
            (401, "sign-in".to_owned())
        );
    }
    // Without its origin, no page pairs a screen.
    let strange = client.post(front.https_url("/front/customer/pair")).header("content-type", "application/json");
    assert_eq!(problem(strange.body("{}").send().await.unwrap()).await, (403, "forbidden".to_owned()));
    assert!(agent.heard().is_empty());
}

#[tokio::test]
async fn without_its_switch_there_is_no_customers_screen() {
    let (front, _agent) = front("").await;
    let client = front.client();
    for path in ["/customer", "/front/customer"] {
        let answer = client.get(front.https_url(path)).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{path}");
        let said = answer.text().await.unwrap();
        assert!(said.contains("set customer = true in [page] of front.toml"), "{path}: {said}");
    }
    assert_eq!(problem(post(&front, "/front/customer/pair", json!({})).await).await, (403, "forbidden".to_owned()));
    assert_eq!(
        problem(post(&front, "/front/customer/leave", json!({ "till": "a", "reference": "1" })).await).await.0,
        403
    );
    let settings = client.get(front.https_url("/front/settings")).send().await.unwrap();
    assert_eq!(crate::process::json(settings).await["customer"], false);
}

#[tokio::test]
async fn a_screen_hears_the_present_state_then_each_event_and_what_the_cashier_leaves() {
    let (front, agent) = front(ON).await;
    let (token, client) = (paired(&front).await, front.client());
    let mut stream = listen(&client, &front, &token).await;
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    // The stand-in's transaction has no kind, so no customer sees it.
    let said = heard(&mut stream, &["event: current", "\n\n"]).await;
    assert!(said.contains("data: {\"current\":null}") && !said.contains("T-1"), "{said}");
    let sale = |state: &str| {
        json!({ "till": "kasse-2", "reference": "R-7", "kind": "sale", "amount": "12.34", "state": state,
                "outcome": "approved", "card": { "last4": "0119" }, "by": { "operator": "Anna" } })
    };
    agent.sale(&sale("in-progress"));
    agent.sale(&sale("ended"));
    let said = heard(&mut stream, &["event: ended", "id: e-2\n", "\n\n"]).await;
    assert!(said.contains("\"amount\":\"12.34\"") && said.contains("id: e-1\n"), "{said}");
    for secret in ["0119", "Anna", "R-7", "kasse-2"] {
        assert!(!said.contains(secret), "{secret}: {said}");
    }
    let name = said.split("\"reference\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
    let left = json!({ "till": "kasse-2", "reference": "R-7" });
    assert_eq!(post(&front, "/front/customer/leave", left).await.status(), StatusCode::NO_CONTENT);
    let said = heard(&mut stream, &["event: left", "\n\n"]).await;
    assert!(said.contains(&format!("data: {{\"reference\":\"{name}\"}}")), "{said}");
    for wrong in [json!({ "till": "a" }), json!({ "reference": "R-7" })] {
        assert_eq!(problem(post(&front, "/front/customer/leave", wrong).await).await.0, 400);
    }

    // After a lost connection it continues: it hears what it missed, and no state that may be older.
    drop(stream);
    agent.sale(
        &json!({ "till": "local", "reference": "R-8", "kind": "sale", "amount": "1.00", "state": "in-progress" }),
    );
    let after = |id: &'static str| {
        client.get(front.https_url("/front/customer")).bearer_auth(&token).header("last-event-id", id).send()
    };
    let said = heard(&mut after("e-2").await.unwrap(), &["\"amount\":\"1.00\""]).await;
    assert!(!said.contains("event: current") && !said.contains("12.34"), "{said}");
    // No one reads the transactions of earlier customers: these events were sent before, or never.
    for earlier in ["e-1", "e-0"] {
        let said = heard(&mut after(earlier).await.unwrap(), &["event: current", "\n\n"]).await;
        assert!(!said.contains("12.34"), "{earlier}: {said}");
    }
}

#[tokio::test]
async fn a_new_screen_replaces_the_earlier_one_and_a_restart_keeps_it() {
    let (front, agent) = front(ON).await;
    let (first, client) = (paired(&front).await, front.client());
    let mut stream = listen(&client, &front, &first).await;
    heard(&mut stream, &["event: current"]).await;
    let second = paired(&front).await;
    while pos_test_kit::within("the end of the stream", stream.chunk()).await.unwrap().is_some() {}
    assert_eq!(problem(listen(&client, &front, &first).await).await, (401, "unauthorized".to_owned()));
    assert_eq!(listen(&client, &front, &second).await.status(), StatusCode::OK);
    let front = front.kill().await.begin(ON).await;
    assert_eq!(listen(&front.client(), &front, &second).await.status(), StatusCode::OK);
    drop(agent);
}
