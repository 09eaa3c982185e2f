//! Server-sent events over a real Unix socket and real TCP, line by line. The agent follows a script.

use pos_agent::till::{Progress, ProgressLog};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::{Duration, Instant};

use crate::fake_agent::{self, Shop};
use crate::till_http::{Asks, get_request, sale, token};

/// A listener for the agent's events.
pub(super) struct Listener<S> {
    pub(super) lines: BufReader<S>,
    /// The last received id.
    last: String,
}

/// An event's name and data.
type Event = (String, Value);

impl Listener<UnixStream> {
    pub(super) async fn at_socket(shop: &Shop, headers: &str) -> Self {
        Self::over(UnixStream::connect(&shop.socket).await.unwrap(), headers).await
    }
}

impl Listener<TcpStream> {
    async fn at_port(shop: &Shop, till: usize, after: &str) -> Self {
        let headers = format!("{}{}", token(till), last_event_id(after));
        Self::over(TcpStream::connect(shop.http).await.unwrap(), &headers).await
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Listener<S> {
    /// Opens the stream and returns once the agent counts the listener.
    async fn over(mut stream: S, headers: &str) -> Self {
        stream.write_all(&get_request("/v1/events", headers)).await.unwrap();
        let mut lines = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with(": listening\n") {
            assert_ne!(lines.read_line(&mut head).await.unwrap(), 0, "{head}");
        }
        assert!(head.starts_with("HTTP/1.1 200") && head.contains("text/event-stream"), "{head}");
        let mut listener = Self { lines, last: String::new() };
        assert!(listener.line().await.starts_with("id: "));
        listener
    }

    /// Reads the next line. Keeps the id if the line has one.
    async fn line(&mut self) -> String {
        let mut line = String::new();
        assert_ne!(self.lines.read_line(&mut line).await.unwrap(), 0, "the stream ended");
        if let Some(id) = line.strip_prefix("id: ") {
            self.last = id.trim_end().to_owned();
        }
        line
    }

    /// Reads the next event. Skips keep-alives and chunk sizes.
    async fn event(&mut self) -> Event {
        let mut word = String::new();
        loop {
            let line = self.line().await;
            if let Some(name) = line.strip_prefix("event: ") {
                word = name.trim_end().to_owned();
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return (word, serde_json::from_str(data).unwrap());
            }
        }
    }
}

fn last_event_id(id: &str) -> String {
    if id.is_empty() { String::new() } else { format!("Last-Event-ID: {id}\r\n") }
}

fn step(till: &str, reference: &str) -> Progress {
    Progress {
        till: till.into(),
        reference: reference.into(),
        step: "present-card".into(),
        text: "Card".into(),
        training: false,
        sale: None,
    }
}

/// Checks that a reset contains no till's data, and that its text asks the till to query everything again.
fn assert_reset((word, data): Event) {
    assert_eq!(word, "reset");
    let text = data["text"].clone();
    assert_eq!(data, serde_json::json!({ "till": "", "reference": "", "step": "reset", "text": text }));
}

#[tokio::test]
async fn events_reach_those_they_concern() {
    let shop = fake_agent::open(16).await;
    let mut till = Listener::at_port(&shop, 1, "").await;
    let mut local = Listener::at_socket(&shop, "").await;
    for (name, reference) in [("till-2", "b"), ("", ""), ("till-1", "a")] {
        shop.progress.send(step(name, reference));
    }
    for expected in ["", "till-1"] {
        let (name, data) = till.event().await;
        assert_eq!((name.as_str(), &data["till"], &data["text"]), ("present-card", &expected.into(), &"Card".into()));
    }
    for expected in ["till-2", "", "till-1"] {
        assert_eq!(local.event().await.1["till"], expected);
    }
    shop.post("/v1/sales", &sale("approved", "1.00")).await;
    let mut heard = Vec::new();
    while heard.last().is_none_or(|(name, _): &Event| name != "ended") {
        heard.push(local.event().await);
    }
    let names: Vec<_> = heard.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["present-card", "pin-entry", "authorising", "ended"]);
    assert_eq!(heard[3].1["sale"]["outcome"], "approved");
}

#[tokio::test]
async fn a_listener_that_is_too_slow_is_told_and_goes_on() {
    let shop = fake_agent::open(4).await;
    let mut slow = Listener::at_socket(&shop, "").await;
    // There is no pause, so the listener's task cannot run between these events.
    for n in 0..10 {
        shop.progress.send(step("local", &n.to_string()));
    }
    assert_reset(slow.event().await);
    for n in 10..14 {
        shop.progress.send(step("local", &n.to_string()));
        assert_eq!(slow.event().await.1["reference"], n.to_string());
    }
}

/// Checks a till whose connection breaks repeatedly, even in the middle of an event. Sales of this till and of another
/// till go on.
#[tokio::test]
async fn whoever_comes_back_in_time_loses_nothing_and_hears_nothing_twice() {
    let shop = fake_agent::open(64).await;
    let (mut told, mut heard, mut after) = (Vec::new(), Vec::new(), String::new());
    let sell = |round: usize, told: &mut Vec<String>| {
        for n in 0..20 {
            let reference = format!("{round}-{n}");
            shop.progress.send(step(if n % 3 == 0 { "till-2" } else { "till-1" }, &reference));
            told.extend(Some(reference).filter(|_| n % 3 != 0));
        }
    };
    for round in 0..40 {
        // Half of the sales run while the till is disconnected, and the other half while it listens.
        if round > 0 && round % 2 == 0 {
            sell(round, &mut told);
        }
        let mut till = Listener::at_port(&shop, 1, &after).await;
        if round % 2 == 1 {
            sell(round, &mut told);
        }
        let left = if round == 39 { 0 } else { round % 20 };
        while heard.len() + left < told.len() {
            let (word, data) = till.event().await;
            assert_eq!(word, "present-card");
            heard.push(data["reference"].as_str().unwrap().to_owned());
        }
        after = till.last.clone();
        // The connection breaks in the middle of one more event, so the agent sends that event again.
        while heard.len() < told.len() && !till.line().await.starts_with("event: ") {}
    }
    assert_eq!(heard, told);
}

#[tokio::test]
async fn an_id_that_cannot_be_gone_on_from_is_answered_with_one_reset() {
    let shop = fake_agent::open(4).await;
    let mut till = Listener::at_port(&shop, 1, "").await;
    let begun = till.last.clone();
    for n in 0..5 {
        shop.progress.send(step("till-1", &n.to_string()));
        till.event().await;
    }
    let newest = till.last.clone();
    let (start, number) = newest.split_once('-').unwrap();
    let not_yet = format!("{start}-{}", number.parse::<u64>().unwrap() + 1);
    let other_start = ProgressLog::new(4);
    (0..5).for_each(|n| other_start.send(step("till-1", &n.to_string())));
    let other_start = {
        let mut listener = other_start.listen();
        while listener.try_next().is_some() {}
        listener.heard().to_string()
    };
    let long = "7".repeat(4000);
    let strange = ["0", "-", "x-1", "7-7", "../../etc/passwd", "\u{e4}\u{0101}", "0000000000000000-0", &long];
    for id in strange.into_iter().chain([begun.as_str(), &not_yet, &other_start]) {
        let mut back = Listener::at_port(&shop, 1, id).await;
        assert_reset(back.event().await);
        // The till can continue from the reset's id and gets no second reset.
        let mut again = Listener::at_port(&shop, 1, &back.last).await;
        shop.progress.send(step("till-1", "next"));
        assert_eq!(back.event().await.1["reference"], "next", "{id}");
        assert_eq!(again.event().await.1["reference"], "next", "{id}");
    }
}

/// Checks that a till never receives another till's events, even when it continues from that till's id.
#[tokio::test]
async fn another_tills_id_shows_none_of_its_events() {
    let shop = fake_agent::open(16).await;
    let mut other = Listener::at_socket(&shop, "").await;
    for (till, reference) in [("till-2", "a"), ("till-2", "b"), ("till-1", "c"), ("till-2", "d")] {
        shop.progress.send(step(till, reference));
    }
    other.event().await;
    let mut till = Listener::at_port(&shop, 1, &other.last).await;
    shop.progress.send(step("till-1", "e"));
    for reference in ["c", "e"] {
        let (_, data) = till.event().await;
        assert_eq!((&data["till"], &data["reference"]), (&"till-1".into(), &reference.into()));
    }
}

/// Checks that a page notices a broken connection within three seconds, and that its id stays valid during other tills'
/// sales.
#[tokio::test(start_paused = true)]
async fn a_comment_comes_each_second_and_moves_the_id_on() {
    let shop = fake_agent::open(4).await;
    let mut till = Listener::at_port(&shop, 1, "").await;
    let begun = till.last.clone();
    for _ in 0..3 {
        let before = Instant::now();
        while till.line().await != ":\n" {}
        assert!(before.elapsed() <= Duration::from_secs(1), "{:?}", before.elapsed());
    }
    assert_eq!(till.last, begun);
    for n in 0..20 {
        shop.progress.send(step("till-2", &n.to_string()));
        tokio::task::yield_now().await;
    }
    let before = till.last.clone();
    while till.last == before {
        assert!(!till.line().await.starts_with("data: "), "another till's");
    }
    let mut back = Listener::at_port(&shop, 1, &till.last).await;
    shop.progress.send(step("till-1", "own"));
    assert_eq!(back.event().await.1["reference"], "own", "there is nothing to be asked again");
}

#[tokio::test]
async fn a_user_at_the_socket_has_so_many_listeners() {
    let shop = fake_agent::open(4).await;
    let mut held = Vec::new();
    for _ in 0..24 {
        held.push(Listener::at_socket(&shop, "").await);
    }
    let refused = tokio::time::timeout(Duration::from_secs(60), shop.get("/v1/events")).await;
    let answer = refused.expect("it is listened for once more");
    assert_eq!((answer.0, answer.code().as_str()), (429, "too-many-listeners"));
    assert_eq!(shop.get("/v1/status").await.0, 200, "other questions are answered");
    held.pop();
    while shop.progress.listeners() == 24 {
        tokio::task::yield_now().await;
    }
    Listener::at_socket(&shop, "").await;
}
