//! Tests of requests that are passed on, and of requests from misused browsers, proxies and slow peers.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::process::{NO_TILLS, Running, answer_on, json, problem};
use crate::stand_in::front;

#[tokio::test]
async fn the_page_comes_by_tls_with_a_policy_and_is_not_sent_twice() {
    let (front, _agent) = front("").await;
    let client = front.client();
    let page = client.get(front.https_url("/")).send().await.unwrap();
    assert_eq!(page.status(), StatusCode::OK);
    let headers = page.headers().clone();
    let policy = headers["content-security-policy"].to_str().unwrap();
    for part in
        ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]
    {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"));
    assert_eq!(headers["x-content-type-options"], "nosniff");
    assert_eq!(headers["referrer-policy"], "no-referrer");
    assert_eq!(headers["cache-control"], "no-cache");
    assert_eq!(headers["content-type"], "text/html; charset=utf-8");
    let text = page.text().await.unwrap();
    let again = client.get(front.https_url("/")).header("if-none-match", &headers["etag"]).send().await.unwrap();
    assert_eq!((again.status(), again.text().await.unwrap()), (StatusCode::NOT_MODIFIED, String::new()));
    let settings = json(client.get(front.https_url("/front/settings")).send().await.unwrap()).await;
    assert!(text.contains(settings["version"].as_str().unwrap()), "{text} {settings}");
    let of_agent = ["terminal", "currency", "exponent", "operators"].map(|name| settings[name].to_string());
    assert_eq!(of_agent, ["\"T-1\"", "\"EUR\"", "2", "false"]);
    // The page offers pairing if the configuration lists a till that may be paired.
    assert_eq!(settings["mayPair"], true);
    let front = front.kill().await.begin(NO_TILLS).await;
    let settings = json(front.client().get(front.https_url("/front/settings")).send().await.unwrap()).await;
    assert_eq!(settings["mayPair"], false);
}

#[tokio::test]
async fn the_shops_colour_and_logo_are_told_and_served() {
    let (front, _agent) = front("").await;
    let told = async |front: &Running| {
        let settings = json(front.client().get(front.https_url("/front/settings")).send().await.unwrap()).await;
        (settings["accent"].clone(), settings["logo"].clone())
    };
    let logo = async |front: &Running| front.client().get(front.https_url("/front/logo")).send().await.unwrap();
    assert_eq!(told(&front).await, (Value::Null, json!(false)));
    assert_eq!(logo(&front).await.status(), StatusCode::NOT_FOUND);

    let picture = b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>";
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("logo");
    std::fs::write(&file, picture).unwrap();
    let page = format!("[page]\naccent = \"#e2001a\"\nlogo = {file:?}\n");
    let front = front.kill().await.begin(&page).await;
    assert_eq!(told(&front).await, (json!("#e2001a"), json!(true)));
    let answer = logo(&front).await;
    assert_eq!(answer.headers()["content-type"], "image/svg+xml");
    assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
    // A script in an image runs neither as a picture nor as a page.
    assert!(answer.headers()["content-security-policy"].to_str().unwrap().contains("default-src 'none'"));
    assert_eq!(answer.bytes().await.unwrap(), picture.as_slice());
}

/// The agent supplies the address in a QR code. The front draws no text of a caller.
#[tokio::test]
async fn a_code_shows_the_address_of_a_transaction_and_nothing_else() {
    let (front, agent) = front("").await;
    let client = front.client();
    let get = async |path: &str| client.get(front.https_url(path)).send().await.unwrap();
    for (path, asked) in [
        ("/front/qr/paid%2F1", "/v1/sales/paid%2F1?till=local"),
        ("/front/qr/acts?till=kasse-2&wait-s=60", "/v1/sales/acts?till=kasse-2"),
    ] {
        let drawn = json(get(path).await).await;
        assert!(drawn["size"].as_u64().unwrap() > 20 && drawn["path"].as_str().unwrap().starts_with('M'), "{drawn}");
        let heard = agent.heard().pop().unwrap();
        assert_eq!((heard.target.as_str(), heard.headers.contains_key("pos-page")), (asked, true));
    }
    let asked = agent.heard().len();
    for (path, status) in [
        ("/front/qr?text=https://elsewhere.example", 404),
        ("/front/qr/", 404),
        ("/front/qr/a/b", 404),
        ("/front/qr/paid%2F1?text=x", 400),
    ] {
        assert_eq!(get(path).await.status().as_u16(), status, "{path}");
    }
    assert_eq!(agent.heard().len(), asked);
    assert_eq!(problem(get("/front/qr/unknown").await).await, (404, "no-such-sale".to_owned()));
    assert_eq!(get("/front/qr/without").await.status().as_u16(), 404, "it has no address");
}

#[tokio::test]
async fn what_browsers_ask_for_by_themselves_is_empty_and_what_is_written_for_people_is_not_there() {
    let (front, agent) = front("").await;
    let client = front.client();
    let status = async |path: &str| client.get(front.https_url(path)).send().await.unwrap().status().as_u16();
    assert_eq!(status("/favicon.ico").await, 204);
    for path in ["/assets/README.md", "/assets/package.json", "/assets/state.test.js", "/README.md", "/robots.txt"] {
        assert_eq!(status(path).await, 404, "{path}");
    }
    assert!(agent.heard().is_empty());
}

#[tokio::test]
async fn no_other_ca_is_trusted_for_it_and_nothing_is_said_without_tls() {
    let (front, _agent) = front("").await;
    let strangers = crate::process::client().build().unwrap();
    assert!(strangers.get(front.https_url("/")).send().await.is_err());
    // The TLS port does not answer a request without TLS.
    let mut plain = tokio::net::TcpStream::connect(&front.https).await.unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut said = Vec::new();
    let _ = plain.read_to_end(&mut said).await;
    assert!(!String::from_utf8_lossy(&said).contains("HTTP/"));
}

#[tokio::test]
async fn a_sale_is_passed_on_with_its_till_and_nothing_of_the_browser() {
    let (front, agent) = front("").await;
    let client = front.client();
    let sale = client
        .post(front.https_url("/v1/sales"))
        .header("origin", front.https_url(""))
        .header("content-type", "application/json")
        .header("x-forwarded-for", "192.0.2.1")
        .body("{\"reference\":\"R-1\",\"amount\":\"1.00\"}")
        .send()
        .await
        .unwrap();
    assert_eq!(sale.status(), StatusCode::CREATED);
    assert!(sale.headers().get("x-inside").is_none());
    assert_eq!(sale.headers()["cache-control"], "no-store");
    assert_eq!(json(sale).await["reference"], "R-1");
    let heard = agent.heard().pop().unwrap();
    assert_eq!((heard.method.as_str(), heard.target.as_str()), ("POST", "/v1/sales?till=local"));
    assert_eq!(heard.body, "{\"reference\":\"R-1\",\"amount\":\"1.00\"}");
    let mut names: Vec<&str> = heard.headers.keys().map(reqwest::header::HeaderName::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["accept", "content-length", "content-type", "host", "pos-page"]);
}

#[tokio::test]
async fn a_receipt_is_asked_for_in_the_form_and_width_that_the_page_wants() {
    let (front, agent) = front("").await;
    let receipt = front.client().get(front.https_url("/v1/sales/R%2F1/receipt?copy=customer&width=32"));
    receipt.header("accept", "text/html").send().await.unwrap();
    let heard = agent.heard().pop().unwrap();
    assert_eq!(heard.target, "/v1/sales/R%2F1/receipt?copy=customer&width=32&till=local");
    assert_eq!(heard.headers["accept"], "text/html");
}

/// The settings tell a browser with an earlier version of the page that there is another version, and the browser loads
/// it.
#[tokio::test]
async fn a_page_of_an_earlier_version_is_told_so_and_gets_this_one() {
    let (front, _agent) = front("").await;
    let client = front.client();
    let settings = json(client.get(front.https_url("/front/settings")).send().await.unwrap()).await;
    let version = settings["version"].as_str().unwrap().to_owned();
    assert_ne!(version, "0123456789abcdef");
    for path in ["/", "/assets/later.js"] {
        let kept = client.get(front.https_url(path)).header("if-none-match", "\"0123456789abcdef\"");
        let page = kept.send().await.unwrap();
        assert_eq!((page.status(), &page.headers()["cache-control"]), (StatusCode::OK, &"no-cache".parse().unwrap()));
        assert!(path != "/" || page.text().await.unwrap().contains(&version));
    }
}

#[tokio::test]
async fn a_till_that_the_agent_does_not_give_is_refused_in_the_agents_words() {
    let (front, _agent) = front("[page]\ntill = \"bar\"").await;
    let answer = front.client().get(front.https_url("/v1/latest")).send().await.unwrap();
    assert_eq!(problem(answer).await, (403, "forbidden".to_owned()));
}

#[tokio::test]
async fn what_is_in_no_table_never_reaches_the_agent() {
    let (front, agent) = front("").await;
    let host = front.http.clone();
    for target in [
        "/v1/settle/7",
        "/v1/metrics",
        "/v1/query",
        "/v1/payments/x",
        "/v1/log-level",
        "/v1/sessions",
        "/v1/operators/Anna",
        "/v1/../v1/metrics",
        "/v1/sales/../metrics",
        "/v1/%2e%2e/metrics",
        "/v1/sales/%2e%2e",
        "/v1//sales",
        "//v1/sales",
        "/v1/sales/%2e%2e%2fmetrics/x",
        "/%76%31/sales",
        "/v1/sales/a%00",
        "/assets/../../etc/passwd",
        "/assets/%2e%2e/x",
    ] {
        let (status, answer) = front.raw(&format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")).await;
        assert!(matches!(status, 400 | 404), "{target}: {answer}");
    }
    for head in [
        format!("GET http://{host}/v1/sales HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        format!("GET http://evil.example/v1/sales HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        format!("TRACE /v1/sales HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        format!("GET /v1/sales?till=local&till=bar HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        format!("GET /v1/sales?x=1 HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        format!("PUT /v1/sales HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: 0\r\n\r\n"),
    ] {
        let (status, answer) = front.raw(&head).await;
        assert!((400..500).contains(&status), "{head}: {answer}");
    }
    assert!(agent.heard().is_empty(), "{:?}", agent.heard());
    // A request that is in the table and is sent in the same way is passed on.
    assert_eq!(front.raw(&format!("GET /v1/sales HTTP/1.1\r\nHost: {host}\r\n\r\n")).await.0, 200);
    assert_eq!(agent.heard().len(), 1);
}

#[tokio::test]
async fn a_page_that_renamed_itself_and_a_foreign_page_are_refused() {
    let (front, agent) = front("").await;
    let host = front.http.clone();
    let body = "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    for (head, wanted) in [
        (format!("POST /v1/sales HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n{body}"), 421),
        (format!("GET /v1/sales HTTP/1.1\r\nHost: evil.example:{}\r\n\r\n", host.rsplit_once(':').unwrap().1), 421),
        ("GET /v1/sales HTTP/1.1\r\n\r\n".to_owned(), 421),
        (format!("POST /v1/sales HTTP/1.1\r\nHost: {host}\r\nOrigin: http://evil.example\r\n{body}"), 403),
        (format!("POST /v1/sales HTTP/1.1\r\nHost: {host}\r\nOrigin: null\r\n{body}"), 403),
        (format!("POST /v1/sales HTTP/1.1\r\nHost: {host}\r\nOrigin: https://{host}\r\n{body}"), 403),
        (format!("POST /v1/sales HTTP/1.1\r\nHost: {host}\r\n{body}"), 403),
        (format!("GET /v1/events HTTP/1.1\r\nHost: {host}\r\nOrigin: http://evil.example\r\n\r\n"), 403),
        (format!("GET /v1/sales HTTP/1.1\r\nHost: {host}\r\nSec-Fetch-Site: cross-site\r\n\r\n"), 403),
        (format!("DELETE /front/session HTTP/1.1\r\nHost: {host}\r\n\r\n"), 403),
        (format!("POST /v1/sales HTTP/1.1\r\nHost: {host}\r\nOrigin: https://till.example\r\n{body}"), 401),
        (format!("OPTIONS /v1/sales HTTP/1.1\r\nHost: {host}\r\nOrigin: http://evil.example\r\n\r\n"), 403),
        (
            format!(
                "POST /v1/sales HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{{}}"
            ),
            415,
        ),
    ] {
        let (status, answer) = front.raw(&head).await;
        assert_eq!(status, wanted, "{head}{answer}");
        if !head.contains("till.example") {
            assert!(!answer.to_ascii_lowercase().contains("access-control-allow-origin"), "{answer}");
        }
    }
    assert!(agent.heard().is_empty());
    let (status, answer) =
        front.raw(&format!("OPTIONS /v1/sales HTTP/1.1\r\nHost: {host}\r\nOrigin: https://till.example\r\n\r\n")).await;
    let answer = answer.to_ascii_lowercase();
    assert_eq!(status, 204);
    assert!(answer.contains("access-control-allow-origin: https://till.example\r\n"), "{answer}");
    assert!(answer.contains("authorization") && !answer.contains("allow-credentials"), "{answer}");
}

#[tokio::test]
async fn ten_megabytes_are_refused_before_they_are_sent_and_while_they_are() {
    let (front, agent) = front("").await;
    let host = &front.http;
    let head = format!(
        "POST /v1/sales HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Type: application/json\r\n"
    );
    // If the size is announced, the front does not wait for the body.
    let (status, _) = front.raw(&format!("{head}Content-Length: 10485760\r\n\r\n")).await;
    assert_eq!(status, 413);
    // If the size is not announced, the request ends with the first piece above the limit.
    let piece = "a".repeat(40_000);
    let chunk = format!("{:x}\r\n{piece}\r\n", piece.len());
    let (status, _) = front.raw(&format!("{head}Transfer-Encoding: chunked\r\n\r\n{chunk}{chunk}")).await;
    assert_eq!(status, 413);
    // A caller that writes on hears the refusal, and its connection is closed at the end of the body, not reset.
    let mut stream = front.connect().await;
    stream.write_all(format!("{head}Content-Length: 200000\r\n\r\n").as_bytes()).await.unwrap();
    assert_eq!(answer_on(&mut stream).await.0, 413);
    for _ in 0..5 {
        stream.write_all(piece.as_bytes()).await.unwrap();
    }
    assert_eq!(stream.read(&mut [0; 64]).await.unwrap(), 0);
    // With both headers, two programs could disagree on whether the bytes are one request or two.
    let both = format!("{head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    let mut stream = front.connect().await;
    stream.write_all(both.as_bytes()).await.unwrap();
    let _ = stream.read(&mut [0; 64]).await.unwrap();
    let heard = agent.heard();
    assert!(heard.len() <= 1 && heard.iter().all(|it| it.headers.get("transfer-encoding").is_none()), "{heard:?}");
}

#[tokio::test]
async fn whoever_sends_slowly_is_given_up_and_takes_no_place_from_others() {
    let (front, _agent) = front("").await;
    let mut slow = Vec::new();
    for _ in 0..200 {
        let mut stream = front.connect().await;
        stream.write_all(b"GET /v1/sales HTTP/1.1\r\nHost: 127").await.unwrap();
        slow.push(stream);
    }
    assert_eq!(front.raw(&format!("GET /front/health HTTP/1.1\r\nHost: {}\r\n\r\n", front.http)).await.0, 200);
    let last = slow.pop().unwrap();
    for mut stream in slow {
        // The connection ends because a newer one replaces it, or at its deadline.
        let mut said = Vec::new();
        let ended = tokio::time::timeout(Duration::from_secs(60), stream.read_to_end(&mut said)).await;
        assert!(ended.is_ok());
    }
    drop(last);
}

/// Six pages from one address get the events. The seventh must ask again later, and gets the slot of a page that was
/// closed.
#[tokio::test]
async fn one_page_too_many_is_told_so_and_takes_the_place_of_one_that_was_closed() {
    let (front, agent) = front("").await;
    let client = front.client();
    let listen = async || client.get(front.https_url("/v1/events")).send().await.unwrap();
    let mut pages = Vec::new();
    for _ in 0..6 {
        let mut page = listen().await;
        assert_eq!(page.status(), StatusCode::OK);
        assert_eq!(page.chunk().await.unwrap().unwrap(), ": listening\nid: e-0\n\n");
        pages.push(page);
    }
    let refused = listen().await;
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(problem(refused).await, (429, "too-many-requests".to_owned()));
    // Other requests are not delayed, and the pages with a slot continue.
    assert_eq!(client.get(front.https_url("/v1/latest")).send().await.unwrap().status(), StatusCode::OK);
    agent.event("local", "ended");
    for page in &mut pages {
        let event = page.chunk().await.unwrap().unwrap();
        assert!(std::str::from_utf8(&event).unwrap().contains("event: ended"));
    }
    pages.pop();
    let again = async {
        while listen().await.status() != StatusCode::OK {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), again).await.expect("the place of the page that was closed");
}

#[tokio::test]
async fn events_come_as_they_happen_through_tls() {
    let (front, agent) = front("").await;
    let mut stream = front.client().get(front.https_url("/v1/events")).send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let first = stream.chunk().await.unwrap().unwrap();
    assert_eq!(first, ": listening\nid: e-0\n\n");
    for step in ["present-card", "ended"] {
        agent.event("local", step);
        let event = stream.chunk().await.unwrap().unwrap();
        let text = String::from_utf8(event.to_vec()).unwrap();
        assert!(text.contains(&format!("event: {step}\n")) && text.ends_with("\n\n"), "{text}");
    }
    // The stream continues after the given id.
    let again = front.client().get(front.https_url("/v1/events")).header("last-event-id", "e-1").send();
    let mut again = again.await.unwrap();
    let mut text = String::new();
    while !text.contains("event: ended") {
        text.push_str(std::str::from_utf8(&again.chunk().await.unwrap().unwrap()).unwrap());
    }
    assert!(!text.contains("present-card"), "{text}");
}
