//! Searches in lists. Page by page, with each filter, a search returns the same as filtering the whole list, even when
//! transactions begin meanwhile. One request examines only a limited number of transactions.

use std::sync::{Arc, Mutex};

use pos_agent::config::{Socket, Till};
use pos_agent::till::http;
use pos_agent::till::{Command, ProgressLog, SaleView, ServedTerminal};
use pos_daemon::systemd::Sockets;
use pos_journal::Db;
use pos_sim::shop::Options;
use pos_terms::money::Currency;
use pos_terms::transaction::SaleNumber;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::mpsc;

use crate::book;
use crate::program::{Terminal, get, own_address};

type Sales = Arc<Mutex<Vec<Value>>>;

/// Returns a transaction built from a few random choices. Its number is its position.
fn sale(number: usize, choices: u64) -> Value {
    let one_of = |list: &[&str], shift: u32| list[(choices >> shift) as usize % list.len()].to_owned();
    let ended = one_of(&["approved", "declined", "partially-approved", ""], 2);
    let mut sale = json!({
        "till": one_of(&["local", "till-1"], 0), "reference": format!("{}-{number}", one_of(&["Order", "room", "x"], 8)),
        "number": number, "kind": one_of(&["sale", "refund", "sale"], 12),
        "amount": one_of(&["1.00", "12.34", "100.00"], 16), "currency": "EUR", "text": "", "replayed": false,
        "state": if ended.is_empty() { "in-progress" } else { "ended" },
        "startedAt": format!("2026-11-20T12:{:02}:00Z", number % 60),
    });
    if !ended.is_empty() {
        sale["outcome"] = ended.clone().into();
    }
    if ended == "partially-approved" {
        sale["approvedAmount"] = "1.00".into();
    }
    if choices & 1 << 20 == 0 {
        sale["card"] = json!({ "entryMode": "CONTACTLESS_CHIP", "last4": one_of(&["0119", "4242"], 22) });
    }
    sale
}

/// A search: its parameters, and a function that tells whether a transaction matches.
type Search = (&'static str, fn(&Value) -> bool);

const SEARCHES: &[Search] = &[
    ("", |_| true),
    ("amount=1.00", |sale| sale["amount"] == "1.00" || sale["approvedAmount"] == "1.00"),
    ("amount=100", |sale| sale["amount"] == "100.00"),
    ("last4=4242", |sale| sale["card"]["last4"] == "4242"),
    ("reference=oRDer", |sale| sale["reference"].as_str().unwrap().starts_with("Order")),
    ("reference=-1", |sale| sale["reference"].as_str().unwrap().contains("-1")),
    ("kind=refund", |sale| sale["kind"] == "refund"),
    ("state=in-progress", |sale| sale["state"] == "in-progress"),
    ("outcome=declined&kind=sale", |sale| sale["outcome"] == "declined" && sale["kind"] == "sale"),
    ("from=2026-11-20T13:10:00%2B01:00&to=2026-11-20T12:20:00Z", |sale| (10..20).contains(&minute(sale))),
    ("from=2026-11-20T12:40:00Z", |sale| minute(sale) >= 40),
    ("till=till-1", |sale| sale["till"] == "till-1"),
    ("since=7&last4=0119", |sale| sale["number"].as_u64() > Some(7) && sale["card"]["last4"] == "0119"),
];

fn minute(sale: &Value) -> u32 {
    sale["startedAt"].as_str().unwrap()[14..16].parse().unwrap()
}

/// Opens an agent that serves lists over its socket and counts the transactions that it returns.
async fn list_at(folder: &tempfile::TempDir, sales: Sales) -> (std::path::PathBuf, Arc<Mutex<usize>>) {
    let socket = folder.path().join("till.sock");
    let config = Till { socket: Socket::at(&socket), ..Till::default() };
    let (commands, mut heard) = mpsc::channel(8);
    let terminal = ServedTerminal::new(Currency::from_code("EUR").unwrap());
    http::serve(&config, terminal, Sockets::default(), commands, ProgressLog::new(1), std::future::pending())
        .await
        .unwrap();
    let given = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&given);
    tokio::spawn(async move {
        while let Some(command) = heard.recv().await {
            let (till, above, below, limit, reply) = match command {
                Command::List { till, since, limit, reply } => (till, since, None, limit, reply),
                Command::ListNewest { till, above, below, limit, reply, .. } => {
                    (till, above, Some(below), limit, reply)
                }
                _ => continue,
            };
            let views = |sale: &Value| serde_json::from_value::<SaleView>(sale.clone()).unwrap();
            let mut page: Vec<SaleView> = sales.lock().unwrap().iter().map(views).collect();
            page.retain(|sale| sale.number > above && below.is_none_or(|below| sale.number < below));
            page.retain(|sale| till.as_ref().is_none_or(|till| *till == sale.till));
            if below.is_some() {
                page.reverse();
            }
            page.truncate(limit as usize);
            *counted.lock().unwrap() += page.len();
            let _ = reply.send(Ok(page));
        }
    });
    (socket, given)
}

async fn ask(socket: &std::path::Path, query: &str) -> (u16, Value) {
    let mut stream = UnixStream::connect(socket).await.unwrap();
    let request = format!("GET /v1/sales?{query} HTTP/1.0\r\nHost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}")))
}

/// Reads every page of a search in order and calls `between` after each page.
async fn all_pages(socket: &std::path::Path, query: &str, mut between: impl FnMut()) -> Vec<u64> {
    let (mut numbers, mut cursor) = (Vec::new(), String::new());
    loop {
        let (status, answer) = ask(socket, &format!("{query}{cursor}")).await;
        assert_eq!(status, 200, "{query}: {answer}");
        numbers.extend(answer["sales"].as_array().unwrap().iter().map(|sale| sale["number"].as_u64().unwrap()));
        let Some(next) = answer["next"].as_str() else { return numbers };
        assert!(format!("&cursor={next}") != cursor, "{query}: it stands still");
        cursor = format!("&cursor={next}");
        between();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn paging_with_any_filter_is_the_whole_list_filtered(
        choices in prop::collection::vec(any::<u64>(), 0..220), limit in 1_usize..70, newest: bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let before: Vec<Value> = choices.iter().enumerate().map(|(n, choices)| sale(n + 1, *choices)).collect();
            let sales = Sales::default();
            let (socket, _) = list_at(&folder, Arc::clone(&sales)).await;
            for (parameters, fits) in SEARCHES {
                *sales.lock().unwrap() = before.clone();
                let order = if newest { "newest" } else { "oldest" };
                let query = format!("order={order}&limit={limit}&{parameters}");
                let begin_another = || {
                    let mut sales = sales.lock().unwrap();
                    let number = sales.len() + 1;
                    if number < 300 {
                        sales.push(sale(number, 0));
                    }
                };
                let mut found = all_pages(&socket, &query, begin_another).await;
                if newest {
                    found.reverse();
                }
                // If the oldest come first, transactions that begin meanwhile come last.
                let listed = if newest { before.clone() } else { sales.lock().unwrap().clone() };
                let expected: Vec<u64> =
                    listed.iter().filter(|sale| fits(sale)).map(|sale| sale["number"].as_u64().unwrap()).collect();
                if newest {
                    assert_eq!(found, expected, "{query}");
                } else {
                    // A transaction that begins after the last page was read is missing from it.
                    assert_eq!(found, expected[..found.len()], "{query}");
                    assert!(before.iter().filter(|sale| fits(sale)).count() <= found.len(), "{query}");
                }
            }
        });
    }
}

/// Checks that a search among very many transactions is answered even without a match. The answer tells the client
/// where to continue.
#[tokio::test]
async fn one_request_looks_at_a_thousand_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let many: Vec<Value> = (1..=2500).map(|number| sale(number, 0)).collect();
    let (socket, given) = list_at(&folder, Arc::new(Mutex::new(many))).await;
    for (order, next) in [("newest", ["1501", "501"]), ("oldest", ["1000", "2000"])] {
        let query = format!("order={order}&reference=nowhere");
        let (mut cursor, mut looked_at) = (String::new(), 0);
        for next in next {
            let (status, answer) = ask(&socket, &format!("{query}{cursor}")).await;
            assert_eq!((status, answer), (200, json!({ "sales": [], "next": next })), "{query}{cursor}");
            assert_eq!(*given.lock().unwrap() - looked_at, 1000);
            looked_at = *given.lock().unwrap();
            cursor = format!("&cursor={next}");
        }
        assert_eq!(ask(&socket, &format!("{query}{cursor}")).await, (200, json!({ "sales": [] })));
        *given.lock().unwrap() = 0;
    }
}

#[tokio::test]
async fn what_cannot_be_looked_for_is_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let (socket, _) = list_at(&folder, Sales::default()).await;
    let wrong = [
        ("amount=1.234", "amount"),
        ("amount=-1.00", "amount"),
        ("last4=12", "last4"),
        ("last4=abcd", "last4"),
        ("from=yesterday", "from"),
        ("to=2026-11-20", "to"),
        ("to=2026-11-20T12:00:00+01:00", "to"),
        ("cursor=x", "cursor"),
        ("cursor=-1", "cursor"),
        ("limit=1001", "limit"),
    ];
    for (query, field) in wrong {
        let (status, problem) = ask(&socket, query).await;
        assert_eq!((status, &problem["field"]), (400, &field.into()), "{query}: {problem}");
    }
    for query in ["kind=lottery", "state=ready", "outcome=ok", "order=up", "unknown=1"] {
        assert_eq!(ask(&socket, query).await.0, 400, "{query}");
    }
}

/// Checks the same with a real journal.
#[tokio::test]
async fn a_real_journal_is_looked_through_from_both_ends() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let journal = book::file(&folder);
    {
        let mut db = Db::open(&journal).unwrap().0;
        for number in 1..=130 {
            book::sell(&mut db, number, &format!("reference-{number}"), book::NOON);
        }
        let newest = db.list_newest(None, (SaleNumber::new(3), SaleNumber::new(9)), None, 4).unwrap();
        let numbers: Vec<SaleNumber> = newest.iter().map(|sale| sale.order().number).collect();
        assert_eq!(numbers, [8, 7, 6, 5]);
        let all = (SaleNumber::BEFORE_ALL, SaleNumber::AFTER_ALL);
        assert!(db.list_newest(Some("till-7"), all, None, 4).unwrap().is_empty());
        let found = db.list_newest(None, all, Some("E-13"), 4).unwrap();
        let numbers: Vec<SaleNumber> = found.iter().map(|sale| sale.order().number).collect();
        assert_eq!(numbers, [130, 13], "only what is looked for is read");
    }
    let options = Options { journal: Some(journal), ..Options::default() };
    let terminal = Terminal::start(options, own_address(4)).await;
    terminal.until_status("a ready terminal", |status| status.ready).await;
    let numbers = async |query: &str| {
        let answer = terminal.at_socket(&get(&format!("/v1/sales?{query}"), "")).await;
        assert_eq!(answer.0, 200, "{query}");
        let sales: Vec<SaleView> = serde_json::from_value(answer.json()["sales"].clone()).unwrap();
        sales.iter().map(|sale| sale.number.get()).collect::<Vec<_>>()
    };
    assert_eq!(numbers("order=newest&limit=3").await, [130, 129, 128]);
    assert_eq!(numbers("order=newest&limit=3&cursor=128").await, [127, 126, 125]);
    assert_eq!(
        numbers("order=newest&reference=E-12&amount=12.34").await,
        [129, 128, 127, 126, 125, 124, 123, 122, 121, 120, 12]
    );
    assert_eq!(numbers("since=128").await, [129, 130]);
    assert_eq!(numbers("order=newest&amount=12.35").await, Vec::<u64>::new());
}
