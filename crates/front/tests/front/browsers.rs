//! Tests of paired browsers: a link pairs one browser, which may then use the page without an operator until it is
//! removed. The doctor's findings are shown to users of the page.

use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixListener;

use crate::process::{Running, json as body_of, problem};
use crate::stand_in::front;

const ON: &str = "[page]\nwithout-sign-in = \"paired\"";

/// Sends a request as the page does, with this cookie.
async fn ask(front: &Running, method: &str, path: &str, body: Value, cookie: Option<&str>) -> Response {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let request = front.client().request(method, front.https_url(path)).header("origin", front.https_url(""));
    let request = request.header("content-type", "application/json").body(body.to_string());
    let request = cookie.into_iter().fold(request, |request, cookie| request.header("cookie", cookie));
    request.send().await.unwrap()
}

/// Makes a link at the terminal, and returns its token.
fn token(front: &Running) -> String {
    let said = String::from_utf8(front.verb(&["pair", "browser", "open"]).stdout).unwrap();
    let link = said.lines().find(|line| line.starts_with("https://kasse.local:")).unwrap();
    assert!(said.contains('█') && said.contains("CA ") && said.contains("300 s"), "{said}");
    link.split_once("/#pair=").unwrap().1.to_owned()
}

async fn pair(front: &Running, token: &str, name: &str) -> Response {
    ask(front, "POST", "/front/browser", json!({ "token": token, "name": name }), None).await
}

/// Pairs a browser, and returns its cookie.
async fn paired(front: &Running, name: &str) -> String {
    let answer = pair(front, &token(front), name).await;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    for part in ["pos_browser=", "; HttpOnly", "; SameSite=Strict", "; Secure", "; Path=/", "; Max-Age=31536000"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    cookie.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn only_a_paired_browser_uses_the_page_without_an_operator() {
    let (front, agent) = front(ON).await;
    let nobody = front.client().get(front.https_url("/front/session")).send().await.unwrap();
    assert_eq!(nobody.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(body_of(nobody).await["toPair"], true);
    let users = [
        ("GET", "/v1/latest"),
        ("GET", "/front/browsers"),
        ("POST", "/front/browser/open"),
        ("DELETE", "/front/browsers/1"),
        ("GET", "/front/doctor"),
        ("GET", "/front/events"),
    ];
    for cookie in [None, Some("pos_browser=0000"), Some("pos_browser=")] {
        for (method, path) in users {
            let refused = problem(ask(&front, method, path, json!({}), cookie).await).await;
            assert_eq!(refused, (401, "sign-in".to_owned()), "{method} {path}");
        }
    }
    assert!(agent.heard().is_empty(), "the agent is not asked");
    let cookie = paired(&front, "Tablet").await;
    let session = ask(&front, "GET", "/front/session", json!({}), Some(&cookie)).await;
    let again = session.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(again.starts_with(&cookie) && again.contains("; Max-Age=31536000"), "its year begins again: {again}");
    assert_eq!(body_of(session).await, json!({ "operator": null }));
    assert_eq!(ask(&front, "GET", "/v1/latest", json!({}), Some(&cookie)).await.status(), StatusCode::OK);
    let heard = agent.heard().pop().unwrap();
    assert!(heard.headers.get("cookie").is_none(), "the cookie is the front's");
    // A paired browser makes the link for the next one.
    let link = ask(&front, "POST", "/front/browser/open", json!({}), Some(&cookie)).await;
    assert_eq!(link.status(), StatusCode::CREATED);
    let link = body_of(link).await;
    assert!(link["code"]["path"].as_str().is_some_and(|path| path.starts_with('M')), "{link}");
    let (_, token) = link["address"].as_str().unwrap().split_once("#pair=").unwrap();
    assert_eq!(pair(&front, token, "Phone").await.status(), StatusCode::NO_CONTENT);
    let list = body_of(ask(&front, "GET", "/front/browsers", json!({}), Some(&cookie)).await).await;
    let names: Vec<_> = list["browsers"].as_array().unwrap().iter().map(|it| (&it["name"], &it["own"])).collect();
    assert_eq!(names, [(&json!("Tablet"), &json!(true)), (&json!("Phone"), &json!(false))]);
    // After a restart, it is still paired.
    let front = front.kill().await.begin(ON).await;
    assert_eq!(ask(&front, "GET", "/v1/latest", json!({}), Some(&cookie)).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_link_is_for_one_browser_and_no_till_and_no_foreign_page_uses_it() {
    let (front, _agent) = front(ON).await;
    let token = token(&front);
    let client = front.client();
    let url = front.https_url("/front/browser");
    let body = json!({ "token": token, "name": "Tablet" }).to_string();
    let post = || client.post(&url).header("content-type", "application/json").body(body.clone());
    for refused in [
        post(),
        post().header("origin", "https://till.example"),
        post().header("origin", "https://evil.example"),
        post().bearer_auth("0".repeat(64)),
        post().header("origin", front.https_url("")).bearer_auth("0".repeat(64)),
    ] {
        assert_eq!(problem(refused.send().await.unwrap()).await, (403, "forbidden".to_owned()));
    }
    for (name, code) in [("", "malformed"), ("a\u{1b}[2J", "malformed"), (&"a".repeat(41), "malformed")] {
        assert_eq!(problem(pair(&front, &token, name).await).await, (400, code.to_owned()));
    }
    assert_eq!(pair(&front, &token, "Tablet").await.status(), StatusCode::NO_CONTENT);
    assert_eq!(problem(pair(&front, &token, "Tablet").await).await, (403, "wrong-link".to_owned()), "it was used");
    let refused = async |token: &str| problem(pair(&front, token, "Tablet").await).await.0;
    let mut answers = Vec::new();
    for n in 0..20 {
        answers.push(refused(&format!("{n:032}")).await);
    }
    assert_eq!((answers[0], answers[19]), (403, 429), "no address guesses for ever: {answers:?}");
    let token = self::token(&front);
    assert_eq!(pair(&front, &token, "Phone").await.status(), StatusCode::NO_CONTENT, "a right token always passes");
    let log = front.until_logged("a browser was paired").await;
    assert!(!log.contains(&token), "{log}");
}

#[tokio::test]
async fn a_removed_browser_is_out_at_once_and_its_streams_end() {
    let (front, _agent) = front(ON).await;
    let (cookie, other) = (paired(&front, "Tablet").await, paired(&front, "Phone").await);
    let mut streams = Vec::new();
    for path in ["/v1/events", "/front/events"] {
        let stream = ask(&front, "GET", path, json!({}), Some(&cookie)).await;
        assert_eq!(stream.status(), StatusCode::OK, "{path}");
        streams.push(stream);
    }
    let list = String::from_utf8(front.verb(&["pair", "browser", "list"]).stdout).unwrap();
    let ids: Vec<&str> = list.lines().map(|line| line.split("  ").next().unwrap()).collect();
    assert!(ids.len() == 2 && list.lines().next().unwrap().contains("Tablet since 20"), "{list}");
    assert!(front.verb(&["pair", "browser", "revoke", ids[0]]).status.success());
    for mut stream in streams {
        let ends = async { while stream.chunk().await.is_ok_and(|piece| piece.is_some()) {} };
        pos_test_kit::within("the end of the stream", ends).await;
    }
    let refused = ask(&front, "GET", "/v1/latest", json!({}), Some(&cookie)).await;
    assert_eq!(problem(refused).await, (401, "sign-in".to_owned()));
    assert_eq!(front.verb(&["pair", "browser", "revoke", ids[0]]).status.code(), Some(65));
    // A browser removes another one, and itself.
    let removed = ask(&front, "DELETE", &format!("/front/browsers/{}", ids[1]), json!({}), Some(&other)).await;
    assert_eq!(removed.status(), StatusCode::NO_CONTENT);
    assert_eq!(ask(&front, "GET", "/v1/latest", json!({}), Some(&other)).await.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn where_browsers_are_not_paired_the_remedy_is_said() {
    let (front, _agent) = front("").await;
    let said = front.verb(&["pair", "browser", "open"]);
    assert_eq!(said.status.code(), Some(65));
    assert!(String::from_utf8(said.stderr).unwrap().contains("set without-sign-in = \"paired\" in [page]"));
    let refused = ask(&front, "POST", "/front/browser/open", json!({}), None).await;
    assert_eq!(problem(refused).await, (403, "forbidden".to_owned()));
}

#[tokio::test]
async fn users_of_the_page_see_the_doctors_findings_even_while_the_agent_is_down() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("doctor.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let found = json!({ "worst": "fault", "findings": [{ "number": 1, "probe": "service", "seen": "no agent answers",
        "severity": "fault", "remedy": "start the agent" }] });
    let output = format!("{found}\n");
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(output.as_bytes()).await.unwrap();
        }
    });
    let front = Running::begin(folder, "").await;
    let answer = front.client().get(front.https_url("/front/doctor")).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "this board needs no operator");
    assert_eq!(body_of(answer).await, found);
    std::fs::remove_file(&socket).unwrap();
    let absent = front.client().get(front.https_url("/front/doctor")).send().await.unwrap();
    assert_eq!(problem(absent).await, (503, "no-doctor".to_owned()));
}
