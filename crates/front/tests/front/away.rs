//! Tests with an agent that is down, comes back, or stops during a request.

use std::time::Duration;

use tokio::net::UnixListener;

use crate::process::{Running, json, problem};
use crate::stand_in::{StandIn, front};

#[tokio::test]
async fn without_an_agent_it_says_so_and_recovers_by_itself() {
    let (front, agent) = front("").await;
    let client = front.client();
    let health = async || json(client.get(front.https_url("/front/health")).send().await.unwrap()).await;
    assert_eq!(health().await["agent"], "up");
    let settings = json(client.get(front.https_url("/front/settings")).send().await.unwrap()).await;
    let stopped = agent.stop();
    let answer = client.get(front.https_url("/v1/latest")).send().await.unwrap();
    assert_eq!(answer.headers()["retry-after"], "1");
    assert_eq!(problem(answer).await, (503, "agent-down".to_owned()));
    // The front's own stream of events may end a moment after the agent stops accepting connections.
    until(|| async { health().await["agent"] == "down" }).await;
    // The page starts anyway, with the terminal's last known settings.
    assert_eq!(json(client.get(front.https_url("/front/settings")).send().await.unwrap()).await, settings);
    let agent = stopped.begin();
    agent.is_listened_to(1).await;
    until(|| async { client.get(front.https_url("/v1/latest")).send().await.unwrap().status() == 200 }).await;
    assert_eq!(health().await["agent"], "up");
}

#[tokio::test]
async fn it_begins_before_the_agent_does() {
    let folder = tempfile::tempdir().unwrap();
    let front = Running::begin(folder, "").await;
    let answer = front.client().get(front.https_url("/v1/latest")).send().await.unwrap();
    assert_eq!(problem(answer).await, (503, "agent-down".to_owned()));
    assert_eq!(front.client().get(front.https_url("/")).send().await.unwrap().status(), 200);
    let agent = StandIn::begin(front.folder.path());
    agent.is_listened_to(1).await;
    until(|| async { front.client().get(front.https_url("/v1/latest")).send().await.unwrap().status() == 200 }).await;
}

/// The socket accepts connections, as if systemd held it and the agent did not start.
#[tokio::test]
async fn an_agent_that_takes_connections_and_says_nothing_is_down_and_nobody_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let _held = UnixListener::bind(folder.path().join("till.sock")).unwrap();
    let front = Running::begin(folder, "").await;
    let client = front.client();
    for _ in 0..20 {
        let answer = client.get(front.https_url("/v1/latest")).send().await.unwrap();
        assert_eq!(problem(answer).await, (503, "agent-down".to_owned()));
    }
    let health = json(client.get(front.https_url("/front/health")).send().await.unwrap()).await;
    assert_eq!(health["agent"], "down");
}

#[tokio::test]
async fn a_request_that_the_agent_may_have_carried_out_is_not_called_undone() {
    let (front, agent) = front("").await;
    let client = front.client();
    let cancelled = client
        .post(front.https_url("/v1/sales/R-1/cancel"))
        .header("origin", front.https_url(""))
        .header("content-type", "application/json")
        .body("{}")
        .send();
    let cancelled = tokio::spawn(cancelled);
    while agent.heard().is_empty() {
        tokio::task::yield_now().await;
    }
    let _stopped = agent.stop();
    assert_eq!(problem(cancelled.await.unwrap().unwrap()).await, (503, "no-answer".to_owned()));
}

#[tokio::test]
async fn a_page_hears_at_once_that_its_events_have_ended() {
    let (front, agent) = front("").await;
    let mut stream = front.client().get(front.https_url("/v1/events")).send().await.unwrap();
    stream.chunk().await.unwrap().unwrap();
    let _stopped = agent.stop();
    let ended = tokio::time::timeout(Duration::from_secs(10), stream.chunk()).await;
    assert!(matches!(ended, Ok(Ok(None) | Err(_))), "{ended:?}");
}

/// Waits until a condition is true.
async fn until<F: Future<Output = bool>>(is_so: impl Fn() -> F) {
    let asked = async {
        while !is_so().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), asked).await.expect("it becomes so");
}
