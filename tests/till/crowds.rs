//! Hostile callers at the tills' socket and port. Connections send no bytes, few bytes or wrong bytes, clients do not
//! read, and another program uses the port. A till with its token is still answered.
//!
//! Tests that measure time use real connections and tokio's clock, which stops while any task has work.

mod given;

use std::io::ErrorKind;
use std::process::Command;
use std::time::Duration;

use crate::fake_agent::{self, Shop, TOKENS};
use crate::program::{self, Answer, Terminal, exchange, get, own_address, post};
use pos_agent::till::{Progress, SaleView};
use pos_sim::reader::{CardEntry, WaitsFor, card};
use pos_sim::shop::Options;
use pos_terms::transaction::OutcomeWord;
use pos_test_kit::within;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::Instant;

/// Returns the header with this till's token at the fake agent.
fn token(till: usize) -> String {
    format!("Authorization: Bearer {}\r\n", TOKENS[till - 1])
}

async fn at_port(shop: &Shop, request: &str) -> Answer {
    exchange(TcpStream::connect(shop.http).await.unwrap(), request).await
}

async fn at_socket(shop: &Shop, request: &str) -> Answer {
    exchange(UnixStream::connect(&shop.socket).await.unwrap(), request).await
}

fn code(answer: &Answer) -> String {
    let error = answer.json();
    assert!(!error["detail"].as_str().unwrap().is_empty());
    error["code"].as_str().unwrap().to_owned()
}

/// Returns whether the peer has closed the connection.
fn is_closed(stream: &TcpStream) -> bool {
    match stream.try_read(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

// ---- Callers without a token

/// Checks the real program. It answers the till before it closes any of these connections, so it closed none to make
/// room. The test uses no clock.
#[tokio::test]
async fn silent_and_slow_connections_take_no_place_from_a_till() {
    let terminal = Terminal::start(Options::default(), own_address(1)).await;
    let mut strangers = Vec::new();
    for n in 0..48 {
        let mut stream = TcpStream::connect(&terminal.http).await.unwrap();
        if n % 2 == 0 {
            stream.write_all(b"GET /v1/status HTTP/1.1\r\nHost: loc").await.unwrap();
        }
        strangers.push(stream);
    }
    let answer = terminal.at_port(&get("/v1/status", &program::token())).await;
    assert_eq!(answer.0, 200);
    assert!(!strangers.iter().any(is_closed), "the till waited until somebody was given up");
}

#[tokio::test(start_paused = true)]
async fn hundreds_of_strangers_delay_no_till() {
    let shop = fake_agent::open(16).await;
    let (mut strangers, mut answered) = (Vec::new(), 0);
    let began = Instant::now();
    for round in 0..100 {
        for manner in ["silent", "dribbling", "half open", "with a wrong token", "asking for more than is answered"] {
            let mut stream = TcpStream::connect(shop.http).await.unwrap();
            // Errors are ignored: the agent may have closed the connection already.
            let _ = match manner {
                "dribbling" => stream.write_all(b"GET /v1/sta").await,
                "half open" => stream.shutdown().await,
                "with a wrong token" => {
                    stream.write_all(get("/v1/status", "").replace("close", "keep-alive").as_bytes()).await
                }
                "asking for more than is answered" => {
                    let head = "POST /v1/sales HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n{";
                    stream.write_all(head.as_bytes()).await
                }
                _ => Ok(()),
            };
            strangers.push(stream);
        }
        // Each dribbling connection sends one more byte.
        for stream in strangers.iter().skip(1).step_by(5) {
            let _ = stream.try_write(b"t");
        }
        // The till connects. More strangers connect before the till sends its token.
        let mut till = TcpStream::connect(shop.http).await.unwrap();
        for _ in 0..100 {
            strangers.push(TcpStream::connect(shop.http).await.unwrap());
        }
        till.write_all(get("/v1/status", &token(1 + round % 2)).as_bytes()).await.unwrap();
        let mut answer = String::new();
        till.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "round {round}: {answer}");
        answered += 1;
        // The operating system limits the number of open connections.
        if strangers.len() > 1000 {
            strangers.drain(..600);
        }
    }
    assert_eq!(answered, 100);
    assert!(began.elapsed() < Duration::from_secs(1), "tills waited for a deadline: {:?}", began.elapsed());
}

// ---- Callers with too many requests

#[tokio::test(start_paused = true)]
async fn a_till_has_so_many_listeners_and_requests_and_another_till_has_its_own() {
    let shop = fake_agent::open(16).await;
    let held = async |path: &str, till: usize| {
        let mut stream = TcpStream::connect(shop.http).await.unwrap();
        stream.write_all(get(path, &token(till)).as_bytes()).await.unwrap();
        stream
    };
    let mut listeners = Vec::new();
    for _ in 0..4 {
        let mut stream = held("/v1/events", 1).await;
        let mut head = Vec::new();
        while !head.ends_with(b"\n\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        listeners.push(stream);
    }
    let answer = at_port(&shop, &get("/v1/events", &token(1))).await;
    assert_eq!((answer.0, code(&answer).as_str()), (429, "too-many-listeners"));
    assert!(answer.1.contains("retry-after: 1"), "{}", answer.1);
    // Another till can still listen, and this till can still send other requests.
    drop(held("/v1/events", 2).await);
    let status = at_port(&shop, &get("/v1/status", &token(1))).await;
    assert_eq!(status.0, 200);
    assert!(status.2.contains(r#""tills":["till-1"]"#), "it hears which till it is: {}", status.2);

    let sale = at_port(&shop, &post("/v1/sales", &token(1), r#"{"reference":"r","amount":"1.00"}"#)).await;
    assert_eq!(sale.0, 201, "{}", sale.2);
    let before = shop.progress.listeners();
    let mut waiting = Vec::new();
    for n in 1..=4 {
        waiting.push(held("/v1/sales/r?wait-s=120", 1).await);
        while shop.progress.listeners() < before + n {
            tokio::task::yield_now().await;
        }
    }
    let answer = at_port(&shop, &get("/v1/status", &token(1))).await;
    assert_eq!((answer.0, code(&answer).as_str()), (429, "too-many-requests"));
    assert_eq!(at_port(&shop, &get("/v1/status", &token(2))).await.0, 200);
    // A closed connection frees its slot.
    drop(listeners);
    while at_port(&shop, &get("/v1/status", &token(1))).await.0 != 200 {}
    drop(waiting);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_reads_nothing_is_given_up() {
    let shop = fake_agent::open(4).await;
    let mut listener = UnixStream::connect(&shop.socket).await.unwrap();
    listener.write_all(get("/v1/events", "").as_bytes()).await.unwrap();
    while shop.progress.listeners() == 0 {
        tokio::task::yield_now().await;
    }
    let long = Progress {
        till: String::new(),
        reference: String::new(),
        step: "present-card".into(),
        text: "Card ".repeat(2000),
        training: false,
        sale: None,
    };
    let began = Instant::now();
    while shop.progress.listeners() > 0 {
        assert!(began.elapsed() < Duration::from_secs(300), "it is kept for ever");
        shop.progress.send(long.clone());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    drop(listener);
}

#[tokio::test(start_paused = true)]
async fn one_list_at_a_time_is_read_and_one_that_is_not_taken_is_given_up() {
    let shop = fake_agent::open(16).await;
    for n in 0..1000 {
        let body = format!(r#"{{"reference":"{}{n}","amount":"1.00"}}"#, "r".repeat(60 - n.to_string().len()));
        assert_eq!(at_socket(&shop, &post("/v1/sales", "", &body)).await.0, 201);
    }
    let references = |answer: &Answer| answer.json()["sales"].as_array().unwrap().len();
    let list = get("/v1/sales?limit=1000", "");
    let answer = at_socket(&shop, &list).await;
    assert_eq!((answer.0, references(&answer)), (200, 1000));
    for (limit, since, count) in
        [(1, 0, 1), (49, 0, 49), (50, 0, 50), (51, 0, 51), (100, 0, 100), (100, 950, 50), (9, 1000, 0)]
    {
        let answer = at_socket(&shop, &get(&format!("/v1/sales?limit={limit}&since={since}"), "")).await;
        assert_eq!((answer.0, references(&answer)), (200, count), "{limit} since {since}");
    }
    // The list is larger than any system buffer, and the client does not read it.
    let mut idle = UnixStream::connect(&shop.socket).await.unwrap();
    idle.write_all(list.as_bytes()).await.unwrap();
    idle.readable().await.unwrap();
    let began = Instant::now();
    let answer = at_socket(&shop, &list).await;
    assert_eq!((answer.0, code(&answer).as_str()), (429, "list-under-way"));
    let answer = at_socket(&shop, &list).await;
    assert_eq!((answer.0, references(&answer)), (200, 1000), "its turn was given back");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    // Two simultaneous lists are read one after the other.
    let (one, other) = tokio::join!(at_socket(&shop, &list), at_socket(&shop, &list));
    assert_eq!([references(&one), references(&other)], [1000, 1000]);
}

// ---- A port that another program uses

#[tokio::test]
async fn while_the_port_is_taken_the_terminal_sells_and_says_so() {
    let address = own_address(2);
    let taken = std::net::TcpListener::bind(&address).unwrap();
    let terminal = Terminal::start(Options::default(), address.clone()).await;
    let status = terminal.until_status("a ready terminal", |status| status.ready).await;
    let port = status.http.unwrap();
    let trouble = port.trouble.unwrap();
    assert_eq!(port.address, address);
    assert!(
        trouble.contains(&address) && trouble.contains("in use") && trouble.contains("http in [till]"),
        "{trouble}"
    );
    assert!(status.attention.iter().any(|one| one.text == trouble), "{:?}", status.attention);
    let doctor = tokio::task::spawn_blocking({
        let config = terminal.shop.config();
        move || Command::new(env!("CARGO_BIN_EXE_pos-agent")).args(["doctor", "--config"]).arg(config).output().unwrap()
    });
    let doctor = String::from_utf8(doctor.await.unwrap().stdout).unwrap();
    let said = format!("FAULT    tills with a token cannot connect to {address}");
    assert!(doctor.contains(&said) && doctor.contains("do: stop the program that is using this port"), "{doctor}");

    // A sale runs meanwhile.
    let begun = terminal.at_socket(&post("/v1/sales", "", r#"{"reference":"r","amount":"12.34"}"#)).await;
    assert_eq!(begun.0, 201, "{}", begun.2);
    within("the reader asking for a card", terminal.shop.reader.waits_for(WaitsFor::Card)).await;
    terminal.shop.reader.present(card("tap").unwrap(), CardEntry::Tap);
    let ended = terminal.at_socket(&get("/v1/sales/r?wait-s=60", "")).await;
    let ended: SaleView = serde_json::from_str(&ended.2).unwrap();
    assert_eq!(ended.outcome, Some(OutcomeWord::Approved), "{}", ended.text);

    drop(taken);
    let free = |status: &pos_agent::till::StatusView| status.http.as_ref().is_some_and(|port| port.trouble.is_none());
    let status = terminal.until_status("a port that is free", free).await;
    assert!(!status.attention.iter().any(|one| one.text == trouble), "{:?}", status.attention);
    assert_eq!(terminal.at_port(&get("/v1/status", &program::token())).await.0, 200);
}
