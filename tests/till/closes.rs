//! Closes of day over the real socket and port, against the real program. The tests make closes, list them, show them
//! in three forms and reprint them. They also check how one till sees another till's close, and how invalid requests
//! are refused. A long count must not block other requests.

use std::sync::Arc;

use crate::book;
use crate::program::{Answer, Terminal, get, own_address, post, token};
use easy_ext::ext;
use pos_journal::Db;
use pos_sim::shop::Options;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Opens a terminal with this many sales of 12.34 by till-1 in its journal. Returns the terminal and the journal's
/// folder.
async fn terminal(sales: u64, place: u8) -> (Terminal, TempDir) {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let journal = book::file(&folder);
    {
        let mut db = Db::open(&journal).unwrap().0;
        for number in 1..=sales {
            book::sell(&mut db, number, &format!("R{number}"), book::NOON);
        }
    }
    let options = Options { journal: Some(journal), ..Options::default() };
    (Terminal::start(options, own_address(place)).await, folder)
}

#[ext(Closes)]
impl Terminal {
    async fn close(&self, body: Value) -> Answer {
        self.at_socket(&post("/v1/closes", "", &body.to_string())).await
    }

    async fn shown(&self, which: &str, accept: &str) -> Answer {
        self.at_socket(&get(&format!("/v1/closes/{which}"), &format!("Accept: {accept}\r\n"))).await
    }
}

fn code(answer: &Answer) -> (u16, String) {
    (answer.0, answer.json()["code"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn a_close_is_made_shown_in_three_forms_listed_and_printed_again() {
    let (terminal, _folder) = terminal(3, 20).await;
    let none = terminal.shown("last", "*/*").await;
    assert_eq!(code(&none), (404, "no-such-close".to_owned()));
    assert!(none.2.contains("no day has been closed yet"), "{}", none.2);
    let made = terminal.close(json!({ "reference": "Z1", "print": true })).await;
    let close = made.json();
    assert_eq!((made.0, &close["number"], &close["replayed"]), (201, &json!(1), &json!(false)), "{}", made.2);
    let net = json!([{ "currency": "EUR", "count": 3, "takenCount": 3, "givenCount": 0, "taken": "37.02", "given": "0.00", "net": "37.02" }]);
    assert_eq!(close["net"], net);
    assert_eq!(close["tills"][0]["name"], "till-1");
    let numbers = (&close["firstNumber"], &close["lastNumber"]);
    assert_eq!(numbers, (&json!(1), &json!(3)), "the receipts of the period");
    let own = &close["own"][0];
    assert_eq!((&own["till"], &own["firstNumber"], &own["lastNumber"]), (&json!("till-1"), &json!(1), &json!(3)));
    assert_eq!((&own["schemes"], &own["brands"]), (&close["schemes"], &close["brands"]), "it is the only till");
    assert_eq!(close["notPrinted"], Value::Null, "the printer has it, or keeps it until it can");
    // A repeated reference returns the same close. The agent neither makes nor prints another one.
    let again = terminal.close(json!({ "reference": "Z1", "print": true })).await;
    assert_eq!((again.0, &again.json()["replayed"]), (200, &json!(true)));
    assert_eq!(again.json()["period"], close["period"]);
    // Every request without a reference makes a new close, even on a day without sales.
    let second = terminal.close(json!({})).await;
    assert_eq!((second.0, &second.json()["number"], &second.json()["net"]), (201, &json!(2), &json!([])));
    assert!(second.json().get("firstNumber").is_none() && second.json().get("own").is_none(), "{}", second.2);
    // The list shows the newest close first, one page at a time.
    let page = terminal.at_socket(&get("/v1/closes?limit=1", "")).await.json();
    assert_eq!((&page["closes"][0]["number"], &page["next"]), (&json!(2), &json!("2")));
    let page = terminal.at_socket(&get("/v1/closes?limit=1&cursor=2", "")).await.json();
    assert_eq!((&page["closes"][0]["number"], &page["next"]), (&json!(1), &Value::Null));
    let all = terminal.at_socket(&get("/v1/closes", "")).await.json();
    assert_eq!(all["closes"].as_array().unwrap().len(), 2);
    // A close is available in three forms.
    let json = terminal.shown("1", "application/json").await;
    assert_eq!(json.json()["net"], net);
    let csv = terminal.shown("1", "text/csv").await;
    assert!(csv.1.contains("text/csv; charset=utf-8"), "{}", csv.1);
    assert!(csv.2.starts_with("close,day,section,name,kind,currency,count,amount\r\n1,"), "{}", csv.2);
    assert!(csv.2.contains(",net,,net,EUR,3,37.02\r\n"), "{}", csv.2);
    let slip = terminal.shown("last", "text/plain").await;
    assert!(slip.2.contains("CLOSE OF DAY") && slip.2.contains("NO MONEY MOVED"), "{}", slip.2);
    assert_eq!(code(&terminal.shown("1", "image/png").await), (406, "not-acceptable".to_owned()));
    // A close can be printed again.
    let printed = terminal.at_socket(&post("/v1/closes/1/print", "", "{}")).await;
    assert_eq!((printed.0, printed.json()["waiting"].is_u64()), (202, true), "{}", printed.2);
}

#[tokio::test]
async fn what_the_next_close_would_count_is_seen_and_closes_nothing() {
    let (terminal, _folder) = terminal(3, 25).await;
    for _ in 0..2 {
        let open = terminal.shown("open", "application/json").await;
        assert_eq!((open.0, &open.json()["number"]), (200, &json!(1)), "{}", open.2);
        assert_eq!(open.json()["net"][0]["net"], json!("37.02"));
    }
    assert_eq!(terminal.at_socket(&get("/v1/closes", "")).await.json()["closes"], json!([]));
    assert_eq!(
        code(&terminal.at_socket(&post("/v1/closes/open/print", "", "{}")).await),
        (404, "no-such-close".to_owned())
    );
    terminal.close(json!({})).await;
    let open = terminal.shown("open", "application/json").await.json();
    assert_eq!((&open["number"], &open["net"]), (&json!(2), &json!([])));
}

/// Checks a close with more transactions than a list can contain. The terminal computes the sums, so no till has to.
#[tokio::test]
async fn the_net_is_of_all_however_many_there_are() {
    let (terminal, _folder) = terminal(6_001, 26).await;
    let open = terminal.shown("open", "application/json").await.json();
    let net = json!([{ "currency": "EUR", "count": 6_001, "takenCount": 6_001, "givenCount": 0, "taken": "74052.34", "given": "0.00", "net": "74052.34" }]);
    assert_eq!(open["net"], net);
    let made = terminal.close(json!({})).await.json();
    assert_eq!(made["net"], net, "what was shown is what is closed");
}

#[tokio::test]
async fn a_till_sees_the_sums_of_all_and_the_references_of_its_own() {
    let (terminal, _folder) = terminal(2, 21).await;
    // The token identifies till-1. A caller at the socket acts for the terminal itself.
    let made = terminal.at_port(&post("/v1/closes", &token(), &json!({ "reference": "Z1" }).to_string())).await;
    assert_eq!((made.0, &made.json()["till"]), (201, &json!("till-1")), "{}", made.2);
    let other = terminal.close(json!({ "reference": "Z1" })).await;
    assert_eq!((other.0, &other.json()["number"]), (201, &json!(2)), "another till's reference is another one");
    let theirs = terminal.at_port(&get("/v1/closes/2", &token())).await.json();
    assert_eq!((&theirs["till"], &theirs["reference"]), (&json!("local"), &Value::Null));
    let own = terminal.at_port(&get("/v1/closes/1", &token())).await.json();
    assert_eq!((&own["reference"], &own["net"][0]["net"]), (&json!("Z1"), &json!("24.68")));
}

#[tokio::test]
async fn whatever_can_be_wrong_with_a_request_has_a_clear_answer() {
    let (terminal, _folder) = terminal(1, 22).await;
    terminal.close(json!({})).await;
    for (path, expected) in [
        ("/v1/closes/2", (404, "no-such-close")),
        ("/v1/closes/18446744073709551615", (404, "no-such-close")),
        ("/v1/closes/0", (404, "no-such-close")),
        ("/v1/closes/first", (400, "malformed")),
        ("/v1/closes/-1", (400, "malformed")),
        ("/v1/closes?cursor=nonsense", (400, "malformed")),
        ("/v1/closes?cursor=", (400, "malformed")),
        ("/v1/closes?cursor=-1", (400, "malformed")),
        ("/v1/closes?limit=0", (400, "malformed")),
        ("/v1/closes?limit=101", (400, "malformed")),
        ("/v1/closes?unknown=1", (400, "malformed")),
    ] {
        let answer = terminal.at_socket(&get(path, "")).await;
        assert_eq!(code(&answer), (expected.0, expected.1.to_owned()), "{path}: {}", answer.2);
    }
    let empty = terminal.at_socket(&get("/v1/closes?cursor=0", "")).await;
    assert_eq!((empty.0, &empty.json()["closes"]), (200, &json!([])));
    for (body, expected) in [
        (r#"{"reference":""}"#, (422, "reference")),
        (r#"{"reference":" x"}"#, (422, "reference")),
        (r#"{"reference":17}"#, (400, "malformed")),
        (r#"{"print":"yes"}"#, (400, "malformed")),
        (r#"{"until":"2026-11-20"}"#, (400, "malformed")),
        ("[]", (400, "malformed")),
    ] {
        let answer = terminal.at_socket(&post("/v1/closes", "", body)).await;
        assert_eq!(code(&answer), (expected.0, expected.1.to_owned()), "{body}: {}", answer.2);
    }
    let answer = terminal.at_socket(&post("/v1/closes/9/print", "", "{}")).await;
    assert_eq!(code(&answer), (404, "no-such-close".to_owned()));
    assert_eq!(terminal.at_socket(&get("/v1/closes", "")).await.json()["closes"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_long_count_stops_nobody_and_two_at_once_count_nothing_twice() {
    const SALES: u64 = 4000;
    let (terminal, _folder) = terminal(SALES, 23).await;
    let terminal = Arc::new(terminal);
    let two: Vec<_> = (0..2)
        .map(|_| {
            let terminal = Arc::clone(&terminal);
            tokio::spawn(async move { terminal.close(json!({})).await })
        })
        .collect();
    // The agent still serves requests: it answers several before the first close is counted.
    let mut answered = 0;
    while !two.iter().all(tokio::task::JoinHandle::is_finished) {
        assert_eq!(terminal.at_socket(&get("/v1/status", "")).await.0, 200);
        answered += 1;
    }
    assert!(answered > 3, "{answered} answers while {SALES} sales were counted twice over");
    let mut counted = Vec::new();
    for close in two {
        let close = close.await.unwrap();
        assert_eq!(close.0, 201, "{}", close.2);
        counted.push(close.json()["net"][0]["count"].as_u64().unwrap_or(0));
    }
    counted.sort_unstable();
    assert_eq!(counted, [0, SALES]);
}
