//! Unidentified callers that send slowly and tills that send too many requests, next to callers with real work.

use std::time::Duration;

use reqwest::{Client, Response, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::pairing::paired;
use crate::process::{Running, problem};
use crate::stand_in::front;

/// A longer wait counts as a hang.
const PATIENCE: Duration = Duration::from_secs(20);

async fn latest(front: &Running, client: &Client, token: &str) -> Response {
    let request = client.get(front.https_url("/v1/latest")).header("authorization", token);
    timeout(PATIENCE, request.send()).await.expect("an answer").unwrap()
}

/// Starts this many waits for a transaction with this token. Each takes a slot.
async fn waits(front: &Running, token: &str, count: usize) -> Vec<TcpStream> {
    let mut waits = Vec::new();
    for _ in 0..count {
        let mut stream = front.connect().await;
        let head =
            format!("GET /v1/sales/R-1?wait-s=60 HTTP/1.1\r\nHost: {}\r\nAuthorization: {token}\r\n\r\n", front.http);
        stream.write_all(head.as_bytes()).await.unwrap();
        waits.push(stream);
    }
    waits
}

/// Waits for the answer on a connection and reads it.
async fn answered(stream: &mut TcpStream) -> String {
    let mut piece = [0; 4096];
    let read = timeout(PATIENCE, stream.read(&mut piece)).await.expect("an answer").unwrap();
    String::from_utf8_lossy(&piece[..read]).into_owned()
}

/// Sends heads of pairing requests without bodies, from the address that the till and the page also use.
#[tokio::test]
async fn bodies_that_never_come_take_no_place_from_a_till_and_a_page_of_the_same_address() {
    let (front, _agent) = front("").await;
    let client = front.client();
    let token = format!("Bearer {}", paired(&front, &client).await);
    let head = format!(
        "POST /front/pair HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n",
        front.http
    );
    let mut slow = Vec::new();
    for round in 0..60 {
        let mut stream = front.connect().await;
        stream.write_all(head.as_bytes()).await.unwrap();
        slow.push(stream);
        if round % 10 == 9 {
            assert_eq!(latest(&front, &client, &token).await.status(), StatusCode::OK, "round {round}");
            let page = client.get(front.https_url("/v1/latest")).send().await.unwrap();
            assert_eq!(page.status(), StatusCode::OK, "round {round}");
        }
    }
    // A request that had a slot ends long before a request of an identified caller would.
    let mut last = slow.pop().unwrap();
    let said = answered(&mut last).await;
    assert!(said.starts_with("HTTP/1.1 408") || said.starts_with("HTTP/1.1 429"), "{said}");
    if said.starts_with("HTTP/1.1 408") {
        assert!(said.contains("within 3s"), "{said}");
    }
}

#[tokio::test]
async fn the_fifth_wait_of_a_till_ends_the_first_with_how_the_sale_stands() {
    let (front, agent) = front("").await;
    let token = format!("Bearer {}", paired(&front, &front.client()).await);
    let waiting = |agent: &crate::stand_in::StandIn| {
        agent.heard().iter().filter(|it| it.target == "/v1/sales/R-1?wait-s=60&till=kasse-2").count()
    };
    let mut held = waits(&front, &token, 1).await;
    let begun = |count: usize| {
        let agent = &agent;
        async move {
            while waiting(agent) < count {
                tokio::task::yield_now().await;
            }
        }
    };
    timeout(PATIENCE, begun(1)).await.expect("the first wait has begun");
    held.append(&mut waits(&front, &token, 4).await);
    let first = answered(&mut held[0]).await;
    assert!(first.starts_with("HTTP/1.1 200") && first.contains("{\"sales\":[]}"), "{first}");
    timeout(PATIENCE, begun(5)).await.expect("the fifth has its place");
    // The front asked for the current state without a wait.
    assert!(agent.heard().iter().any(|it| it.target == "/v1/sales/R-1?till=kasse-2"));
}

/// A till holds many connections with waits. Its own cancel requests and the page still have their slots.
#[tokio::test]
async fn a_till_that_waits_everywhere_keeps_nobody_from_acting() {
    let (front, agent) = front("").await;
    let client = front.client();
    let token = format!("Bearer {}", paired(&front, &client).await);
    let _held = waits(&front, &token, 40).await;
    let first = async {
        while !agent.heard().iter().any(|it| it.target.contains("wait-s")) {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, first).await.expect("it waits");
    assert_eq!(latest(&front, &client, &token).await.status(), StatusCode::OK);
    let page = client.get(front.https_url("/v1/latest")).send().await.unwrap();
    assert_eq!(page.status(), StatusCode::OK);
    // The stand-in accepts cancel requests and never answers them, so two stay in progress.
    let cancel = async || {
        let mut stream = front.connect().await;
        let head = format!(
            "POST /v1/sales/R-1/cancel HTTP/1.1\r\nHost: {}\r\nAuthorization: {token}\r\n\
             Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}",
            front.http
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    };
    let _cancels = [cancel().await, cancel().await];
    let heard = async {
        while agent.heard().iter().filter(|it| it.target.contains("/cancel")).count() < 2 {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, heard).await.expect("both cancels reach the agent");
    let third = answered(&mut cancel().await).await;
    assert!(third.starts_with("HTTP/1.1 429"), "{third}");
}

/// Requests with a session that the agent knew are counted separately. A caller with an invented session counts as
/// unidentified, and the front asks the agent about the session before it reads the body.
#[tokio::test]
async fn a_made_up_session_is_a_strangers() {
    let (front, agent) = front("[page]\nwithout-sign-in = \"nobody\"").await;
    let client = front.client();
    let head = |session: &str| {
        format!(
            "POST /v1/sales HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: pos_session={session}\r\n\
             Content-Type: application/json\r\nContent-Length: 20\r\n\r\n",
            host = front.http
        )
    };
    // The body never comes, and the front does not wait for it.
    let (status, said) = front.raw(&head("made-up")).await;
    assert_eq!(status, 401, "{said}");
    assert!(said.contains("session-ended"), "{said}");
    assert!(agent.heard().is_empty(), "{:?}", agent.heard());
    let cookie = format!("pos_session={}", crate::stand_in::SESSION);
    let latest = || client.get(front.https_url("/v1/latest")).header("cookie", &cookie).send();
    assert_eq!(latest().await.unwrap().status(), StatusCode::OK);
    // When unidentified callers use all their slots, the session still has its own.
    let mut slow = Vec::new();
    for _ in 0..12 {
        let mut stream = front.connect().await;
        let head = head("x").replace("/v1/sales", "/front/session").replace("Cookie", "X");
        stream.write_all(head.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    let refused = async {
        loop {
            let answer = client.get(front.https_url("/front/health")).send().await.unwrap();
            if answer.status() == StatusCode::TOO_MANY_REQUESTS {
                return problem(answer).await.1;
            }
        }
    };
    assert_eq!(timeout(PATIENCE, refused).await.expect("strangers have none"), "too-many-requests");
    assert_eq!(latest().await.unwrap().status(), StatusCode::OK);
}
