//! Tests of the cookie, and of the rights of an operator's session.

use reqwest::{Response, StatusCode};
use serde_json::json;

use crate::process::{Running, json, problem};
use crate::stand_in::{SESSION, front};

async fn sign_in(front: &Running, pin: &str) -> Response {
    let url = front.https_url("/front/session");
    let body = json!({ "operator": "Anna", "pin": pin }).to_string();
    let request =
        front.client().post(url).header("origin", front.https_url("")).header("content-type", "application/json");
    request.body(body).send().await.unwrap()
}

#[tokio::test]
async fn without_operators_nobody_signs_in_on_this_board() {
    let (front, _agent) = front("").await;
    let answer = front.client().get(front.https_url("/front/session")).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(json(answer).await, json!({ "operator": null }));
}

#[tokio::test]
async fn a_session_is_a_cookie_that_no_script_reads_and_becomes_the_agents_header() {
    let (front, agent) = front("").await;
    agent.has_operators();
    let client = front.client();
    let nobody = client.get(front.https_url("/front/session")).send().await.unwrap();
    assert_eq!(nobody.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(json(nobody).await["operators"], json!([{ "name": "Anna", "role": "cashier" }]));
    assert_eq!(problem(sign_in(&front, "0000").await).await, (401, "wrong-pin".to_owned()));
    let signed_in = sign_in(&front, "1234").await;
    let cookie = signed_in.headers()["set-cookie"].to_str().unwrap().to_owned();
    for part in ["; HttpOnly", "; SameSite=Strict", "; Secure", "; Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let said = signed_in.text().await.unwrap();
    assert!(!said.contains(SESSION) && said.contains("\"idleLockS\":300"), "{said}");
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let current = client.get(front.https_url("/front/session")).header("cookie", &cookie).send().await.unwrap();
    assert_eq!(json(current).await["operator"], "Anna");
    client.get(front.https_url("/v1/latest")).header("cookie", &cookie).send().await.unwrap();
    assert_eq!(agent.heard().pop().unwrap().headers["pos-session"], SESSION);
    // A header `Pos-Session` from a browser does not count as a session.
    client.get(front.https_url("/v1/latest")).header("pos-session", "x").send().await.unwrap();
    assert!(agent.heard().pop().unwrap().headers.get("pos-session").is_none());
    // The agent refuses any request with a session that has ended.
    let ended = client.get(front.https_url("/v1/latest")).header("cookie", "pos_session=old").send().await.unwrap();
    assert_eq!(problem(ended).await, (401, "session-ended".to_owned()));
    let out = client.delete(front.https_url("/front/session")).header("origin", front.https_url(""));
    let out = out.header("cookie", &cookie).send().await.unwrap();
    assert_eq!(out.status(), StatusCode::NO_CONTENT);
    assert!(out.headers()["set-cookie"].to_str().unwrap().contains("; Max-Age=0"));
}

#[tokio::test]
async fn one_address_cannot_try_pins_for_ever() {
    let (front, agent) = front("").await;
    agent.has_operators();
    let mut answers = Vec::new();
    for _ in 0..25 {
        answers.push(problem(sign_in(&front, "0000").await).await.0);
    }
    assert_eq!((answers[0], answers[24]), (401, 429));
    let heard = agent.heard().iter().filter(|it| it.target == "/v1/sessions").count();
    assert_eq!(heard, 20, "the agent is asked no more");
}

#[tokio::test]
async fn where_it_takes_an_operator_nothing_is_passed_on_without_one() {
    let (front, agent) = front("[page]\nwithout-sign-in = \"nobody\"").await;
    let client = front.client();
    let get = async |path: &str, cookie: &str| {
        problem(client.get(front.https_url(path)).header("cookie", cookie).send().await.unwrap()).await
    };
    for path in ["/v1/latest", "/v1/events", "/front/events", "/front/qr/acts", "/front/session"] {
        assert_eq!(get(path, "").await, (401, "sign-in".to_owned()), "{path}");
    }
    assert!(agent.heard().is_empty());
    agent.has_operators();
    let agent = agent.stop().begin();
    agent.is_listened_to(1).await;
    // A PIN that was not checked never counts as wrong, however often it is sent.
    let signed_in = loop {
        let answer = sign_in(&front, "1234").await;
        if answer.status() == StatusCode::OK {
            break answer;
        }
        assert_eq!(problem(answer).await, (503, "agent-down".to_owned()));
    };
    let cookie = signed_in.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let latest = client.get(front.https_url("/v1/latest")).header("cookie", &cookie).send().await.unwrap();
    assert_eq!(latest.status(), StatusCode::OK);
    let events = client.get(front.https_url("/front/events")).header("cookie", &cookie).send().await.unwrap();
    assert_eq!(events.status(), StatusCode::OK);
    assert_eq!(get("/v1/latest", "pos_session=x").await, (401, "session-ended".to_owned()));
    assert_eq!(get("/front/events", "pos_session=x").await, (401, "sign-in".to_owned()));
}

/// The front checks a session only in a request without a token, so a token must not be passed over.
#[tokio::test]
async fn a_token_beside_a_made_up_session_opens_nothing_of_the_page() {
    let (front, agent) = front("[page]\nwithout-sign-in = \"nobody\"\ncustomer = true").await;
    let client = front.client();
    let till = crate::pairing::paired(&front, &client).await;
    for (token, refused) in [("x", (401, "unauthorized")), (&till, (403, "forbidden"))] {
        for (method, path) in [
            ("POST", "/front/pairing"),
            ("GET", "/front/events"),
            ("POST", "/front/customer/pair"),
            ("POST", "/front/customer/leave"),
            ("GET", "/front/qr/acts"),
        ] {
            let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
            let request = client.request(method, front.https_url(path)).bearer_auth(token);
            let request = request.header("cookie", "pos_session=made-up").header("origin", front.https_url(""));
            let answer = request.header("content-type", "application/json").body("{}").send().await.unwrap();
            assert_eq!(problem(answer).await, (refused.0, refused.1.to_owned()), "{path}");
        }
    }
    assert!(agent.heard().is_empty());
}
