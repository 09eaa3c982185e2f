//! The pages and the metrics over HTTP, with a real PostgreSQL.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::postgres::Cluster;
use pos_fleet::database::{Database, connect};
use pos_fleet::serve::{Serve, run_on};
use pos_fleet::store::{Round, Store};
use pos_fleet_terms::{Batch, Fault, Info, Metrics, State};
use pos_till_api::JournalEntry;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

const HOSTILE: &str = "<script>alert(1)</script>";

/// The time for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The seconds that the movable clock is ahead. One test alone uses it.
static AHEAD: AtomicU64 = AtomicU64::new(0);

#[allow(clippy::disallowed_methods, reason = "the database has the machine's time too")]
fn now() -> SystemTime {
    SystemTime::now()
}

fn ahead() -> SystemTime {
    now() + Duration::from_secs(AHEAD.load(Ordering::Relaxed))
}

/// Sends bytes to a server. Returns the answer's head and body.
async fn exchange(address: SocketAddr, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    // Chromium's driver keeps the connection open, so the length in the head counts.
    let whole = |bytes: &[u8]| -> Option<(String, String)> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (head, body) = text.split_once("\r\n\r\n")?;
        let length = head.to_lowercase().split("content-length:").nth(1)?.lines().next()?.trim().parse().ok()?;
        (body.len() >= length).then(|| (head.to_owned(), body.to_owned()))
    };
    loop {
        if let Some(answer) = whole(&bytes) {
            return answer;
        }
        let read = tokio::time::timeout(PATIENCE, stream.read_buf(&mut bytes)).await.expect("no answer");
        if read.unwrap() == 0 {
            // The answer to HEAD has a length and no body.
            let text = String::from_utf8(bytes).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("the answer is cut: {text:?}"));
            return (head.to_owned(), body.to_owned());
        }
    }
}

/// The pages of a database.
struct Pages {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Pages {
    async fn of(url: &str, settings: Serve) -> Self {
        Self::at(url, settings, now).await
    }

    async fn at(url: &str, settings: Serve, now: fn() -> SystemTime) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        let database = Database { url: url.to_owned(), ca: None };
        let task = tokio::spawn(async move { run_on(listener, settings, database, now, stopped).await.unwrap() });
        Self { address, stop, task }
    }

    async fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, &["Host: localhost"]).await
    }

    async fn ask(&self, method: &str, target: &str, headers: &[&str]) -> Answer {
        let headers = headers.join("\r\n");
        let request = format!("{method} {target} HTTP/1.1\r\n{headers}\r\nConnection: close\r\n\r\n");
        let (head, body) = exchange(self.address, &request).await;
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_lowercase(), body }
    }

    async fn end(self) {
        self.stop.send(true).unwrap();
        self.task.await.unwrap();
    }
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    /// Returns whether the page lists this terminal.
    fn lists(&self, terminal: &str) -> bool {
        assert_eq!(self.status, 200, "{}", self.body);
        self.body.contains(&format!("<a href=\"/terminal/{terminal}\">"))
    }

    fn has(&self, text: &str) -> bool {
        assert_eq!(self.status, 200, "{}", self.body);
        self.body.contains(text)
    }
}

fn journal(of: u8) -> String {
    format!("{of:02x}").repeat(16)
}

fn entry(number: i64, content: &Value) -> JournalEntry {
    let mut whole = json!({ "entry": number, "hash": format!("{number:064x}") });
    whole.as_object_mut().unwrap().extend(content.as_object().unwrap().clone());
    serde_json::from_value(whole).unwrap()
}

fn utc() -> String {
    let now = time::OffsetDateTime::from(now());
    now.format(&time::format_description::well_known::Rfc3339).unwrap()
}

fn step(transaction: i64, facts: &Value) -> Value {
    json!({
        "is": "step", "at": utc(), "number": transaction, "till": "till-1", "reference": format!("order-{transaction}"),
        "records": [{ "at": utc(), "is": "ended" }], "facts": facts,
    })
}

fn approved(total: &str) -> Value {
    json!({
        "kind": "sale", "standing": "ended", "outcome": "approved", "total": total, "approved": total,
        "currency": "EUR", "card": { "maskedPan": "5413330089020011" },
    })
}

fn state(of: u8, last: i64) -> State {
    let journal = Some(journal(of));
    State { online: true, boot: format!("b{of}"), journal, last, ready: Some(true), ..State::default() }
}

fn info(merchant: &str, model: &str) -> Info {
    Info {
        agent: "1.0.0".to_owned(),
        terminal_id: "gw-4711".to_owned(),
        merchant: vec![merchant.to_owned(), "High Street".to_owned()],
        reader_model: model.to_owned(),
        reader_serial: "sn-77".to_owned(),
        ..Info::default()
    }
}

fn batch(of: u8, after: i64, entries: Vec<JournalEntry>) -> Batch {
    Batch { journal: journal(of), after, entries }
}

/// The mark of a close, with its content if there is one.
fn close(at: &str, content: &Value) -> Value {
    let what = json!({ "is": "close", "number": 7, "sha256": "ab".repeat(32) });
    let mut mark = json!({ "is": "mark", "at": at, "what": what });
    if !content.is_null() {
        mark["close"] = content.clone();
    }
    mark
}

fn sum(kind: &str, currency: &str, count: u64, sum: &str) -> Value {
    json!({ "kind": kind, "currency": currency, "count": count, "sum": sum })
}

fn net(currency: &str, count: u64, net: &str) -> Value {
    json!({ "currency": currency, "count": count, "taken": net, "given": "0.00", "net": net })
}

/// The content of a close of day.
fn content(kinds: &[Value], net: &[Value]) -> Value {
    json!({ "number": 7, "day": "2026-11-20", "kinds": kinds, "net": net })
}

/// A row of the sums of a day.
fn row(kind: &str, currency: &str, count: u64, amount: &str) -> String {
    let numbers = [count.to_string().as_str(), amount].map(|text| format!("<td class=\"number\">{text}</td>")).concat();
    format!("<tr><th scope=\"row\">{kind}</th><td>{currency}</td>{numbers}</tr>")
}

/// Runs a verb of the program with a database.
fn program(url: &str, verb: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("fleet.toml");
    std::fs::write(&config, format!("org = \"corner\"\n[database]\nurl = \"{url}\"")).unwrap();
    let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_pos-fleet")));
    command.args(verb).arg("--config").arg(config).output().unwrap()
}

/// A fleet of four: `t-1` sells, `t-2` has a fault and hostile names, `t-3` is gone, `t-4` has only entries.
async fn fill(url: &str) -> Store {
    let database = Database { url: url.to_owned(), ca: None };
    let mut store = Store::open(connect(&database, "test").await.unwrap()).await.unwrap();
    let id = |name: &str| name.parse().unwrap();
    let mut round = Round::default();
    let open = json!({ "kind": "sale", "standing": "needs-a-person", "total": "7.00", "currency": "EUR" });
    let money = content(&[sum("sale", "EUR", 2, "20.00"), sum("refund", "EUR", 1, "0.50")], &[net("EUR", 3, "19.50")]);
    let two_currencies = content(
        &[sum("sale", "EUR", 1, "1.25"), sum("sale", "CHF", 1, "5.00")],
        &[net("EUR", 1, "1.25"), net("CHF", 1, "5.00")],
    );
    let no_decimal = json!({ "kind": "sale", "standing": "ended", "outcome": "approved", "total": HOSTILE,
        "approved": "1e999", "currency": "EUR" });
    round.batches.push((
        id("t-1"),
        batch(
            1,
            0,
            vec![
                entry(1, &step(1, &approved("12.34"))),
                entry(2, &step(2, &approved("0.66"))),
                entry(3, &step(3, &open)),
                entry(4, &step(4, &open)),
                entry(5, &step(4, &approved("7.00"))),
                entry(6, &json!({})),
                entry(7, &close(&utc(), &money)),
                entry(8, &step(5, &no_decimal)),
            ],
        ),
    ));
    // An earlier agent sends no content of a close.
    round.batches.push((id("t-2"), batch(2, 0, vec![entry(1, &close(&utc(), &Value::Null))])));
    round.batches.push((id("t-3"), batch(3, 0, vec![entry(1, &close(&utc(), &two_currencies))])));
    round.batches.push((id("t-4"), batch(4, 0, vec![entry(1, &json!({}))])));
    round.states.push((
        id("t-1"),
        State { held: 1, certificate_ends: Some("2020-01-01T00:00:00Z".to_owned()), ..state(1, 10) },
    ));
    let fault = Fault { code: "reader-absent".to_owned(), text: format!("Look: {HOSTILE}") };
    round.states.push((id("t-2"), State { ready: Some(false), faults: vec![fault], ..state(2, 0) }));
    round.states.push((id("t-3"), state(3, 0)));
    round.states.push((id("t-3"), State { boot: "b3".to_owned(), ..State::default() }));
    round.infos.push((id("t-1"), info("Corner Shop", "M010")));
    round.infos.push((id("t-2"), info(HOSTILE, "\"><img src=x>")));
    round.infos.push((id("t-3"), info("100% Küche", "M020")));
    let values =
        [("approved_total".to_owned(), 3.0), ("gateway_reachable".to_owned(), 1.0), ("other".to_owned(), 9.0)].into();
    round.metrics.push((id("t-1"), Metrics { at: utc(), values }));
    store.store(round).await.unwrap();
    store
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/run fleet"]
async fn a_fleet_is_listed_searched_and_filtered() {
    let cluster = Cluster::start();
    let url = cluster.create_database("pages");
    let mut store = fill(&url).await;
    let pages = Pages::of(&url, Serve::default()).await;
    for (query, listed) in [
        ("/", "1234"),
        ("/?text=&state=&fault=&version=&model=&hours=", "1234"),
        ("/?text=corner", "1"),
        ("/?text=HIGH+corner", "1"),
        ("/?text=t-2", "2"),
        ("/?text=sn-77", "123"),
        ("/?text=gw-4711+k%C3%BCche", "3"),
        ("/?text=%25", "3"),
        ("/?text='+or+1%3D1", ""),
        ("/?state=online", "12"),
        ("/?state=offline", "34"),
        ("/?state=not-ready", "24"),
        ("/?state=faults", "2"),
        ("/?state=silent", "4"),
        ("/?fault=reader-absent", "2"),
        ("/?version=1.0.0", "123"),
        ("/?model=M010", "1"),
        ("/?model=%22%3E%3Cimg+src%3Dx%3E", "2"),
        ("/?hours=1", "4"),
        ("/?page=2", ""),
    ] {
        let page = pages.get(query).await;
        let shown: String = (1..=4).filter(|one| page.lists(&format!("t-{one}"))).map(|one| one.to_string()).collect();
        assert_eq!(shown, listed, "{query}");
    }
    assert!(pages.get("/?text=t-").await.has("4 terminals"));
    // No text of a terminal becomes a tag.
    for target in
        ["/", "/terminal/t-2", "/terminal/t-1", "/open", "/closes", "/?text=%3Cscript%3E", "/?model=%3Cimg%3E"]
    {
        let page = pages.get(target).await;
        assert!(!page.has("<script") && !page.has("<img"), "{target}");
    }
    assert!(pages.get("/terminal/t-2").await.has("Look: &lt;script&gt;"));

    let page = pages.get("/terminal/t-1").await;
    for text in
        ["Corner Shop, High Street", "ended 2020-01-01", "20.00", "order-3", "************0011", "needs-a-person"]
    {
        assert!(page.has(text), "{text}");
    }
    assert!(!page.has("5413330089020011"));
    for gone in ["/terminal/t-9", "/terminal/T", "/terminal/t-1'", "/terminal/", "/x", "/terminal/t-1/x"] {
        assert_eq!(pages.get(gone).await.status, 404, "{gone}");
    }
    for wrong in ["/?state=x", "/?page=0", "/?hours=x", "/closes?day=x", "/closes?format=xml", "/open?page=1001"] {
        assert_eq!(pages.get(wrong).await.status, 400, "{wrong}");
    }

    // The second step of payment 4 has ended it.
    let open = pages.get("/open").await;
    assert!(open.lists("t-1") && open.has("order-3") && !open.has("order-4"));
    let day = &utc()[..10];
    let table = pages.get(&format!("/closes?day={day}&format=csv")).await;
    for sum in ["sale,EUR,2,20.00", "refund,EUR,1,0.50", "net,EUR,3,19.50"] {
        let row = format!(",7,{},{},7,2026-11-20,{sum}\r\n", "ab".repeat(32), journal(1));
        assert!(table.has(&row), "{row}{}", table.body);
    }
    assert!(table.has(&format!("{},1,,not-sent,,,\r\n", journal(2))), "{}", table.body);
    assert!(table.has("t-1,\"Corner Shop, High Street\",") && table.head.contains("text/csv"));
    assert!(pages.get("/closes").await.lists("t-1"));
    assert!(!pages.get("/closes?day=2001-01-01").await.lists("t-1"));
    // The sums of the day, of each close, and of the terminal.
    let sums = [
        row("sale", "CHF", 1, "5.00"),
        row("net", "CHF", 1, "5.00"),
        row("refund", "EUR", 1, "0.50"),
        row("sale", "EUR", 3, "21.25"),
        row("net", "EUR", 4, "20.75"),
    ];
    for target in ["/closes", &format!("/closes?day={day}")] {
        let page = pages.get(target).await;
        assert!(page.has(&sums.concat()) && page.has("3 closes on this day (UTC)"), "{}", page.body);
        assert!(page.has("1 without sums: the table does not contain them.") && page.has("sums not sent"));
    }
    assert!(pages.get("/closes?day=2001-01-01").await.has("0 closes on this day"));
    let page = pages.get("/terminal/t-1").await;
    assert!(page.has("refund: 1, <span class=\"number\">0.50 EUR</span>"), "{}", page.body);
    assert!(pages.get("/terminal/t-2").await.has("sums not sent"));

    // Alarms.
    assert!(!pages.get("/").await.has("Alarms"));
    let mut round = Round::default();
    let other = JournalEntry { hash: "f".repeat(64), ..entry(2, &step(2, &approved("1.00"))) };
    round.batches.push(("t-1".parse().unwrap(), batch(1, 1, vec![other])));
    // The clone sends the same close. It counts once.
    let same = content(&[sum("sale", "EUR", 2, "20.00"), sum("refund", "EUR", 1, "0.50")], &[net("EUR", 3, "19.50")]);
    round.batches.push(("t-4".parse().unwrap(), batch(1, 6, vec![entry(7, &close(&utc(), &same))])));
    for boot in ["x", "y", "x"] {
        round.states.push(("t-2".parse().unwrap(), State { boot: boot.to_owned(), ..state(2, 0) }));
    }
    store.store(round).await.unwrap();
    let page = pages.get("/").await;
    for text in ["Two histories", "Two terminals with one identity", "Cloned journal"] {
        assert!(page.has(text), "{text}");
    }
    let page = pages.get("/terminal/t-1").await;
    assert!(page.has("The first one stays stored") && page.has("Cloned journal") && page.lists("t-4"));
    let page = pages.get("/closes").await;
    assert!(page.has(&sums.concat()) && page.has("3 closes on this day"), "{}", page.body);
    pages.end().await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/run fleet"]
async fn an_alarm_that_a_person_has_seen_is_shown_as_seen_until_it_rings_again() {
    let cluster = Cluster::start();
    let url = cluster.create_database("seen");
    let mut store = fill(&url).await;
    let pages = Pages::of(&url, Serve::default()).await;
    let alarms = async |conflicts: u8, identities: u8, cloned: u8| {
        let metrics = pages.get("/metrics").await;
        for (name, count) in [("conflicts", conflicts), ("two_identities", identities), ("cloned_journals", cloned)] {
            let line = format!("\npos_fleet_{name} {count}\n");
            assert!(metrics.has(&line), "{line}{}", metrics.body);
        }
        let page = pages.get("/").await;
        assert_eq!(page.has("id=\"alarms\""), conflicts + identities + cloned > 0, "{}", page.body);
        page
    };
    let another = |number: i64, hash: &str| {
        let other = JournalEntry { hash: hash.repeat(64), ..entry(number, &step(2, &approved("1.00"))) };
        ("t-1".parse().unwrap(), batch(1, number - 1, vec![other]))
    };
    let twins = |round: &mut Round| {
        for boot in ["x", "y", "x"] {
            round.states.push(("t-2".parse().unwrap(), State { boot: boot.to_owned(), ..state(2, 0) }));
        }
    };
    alarms(0, 0, 0).await;
    let mut round = Round::default();
    round.batches.push(another(2, "f"));
    round.begins.push(("t-4".parse().unwrap(), journal(1)));
    twins(&mut round);
    store.store(round).await.unwrap();
    assert!(!alarms(1, 1, 1).await.has("id=\"seen\""));

    let said = program(&url, &["seen", "t-9"]);
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.status.code() == Some(64) && text.contains("the database has no terminal t-9"), "{text}");
    alarms(1, 1, 1).await;
    let said = program(&url, &["seen", "t-1", "--by", "Anna <b>"]);
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    assert!(alarms(0, 1, 0).await.has("Seen by Anna &lt;b&gt; at "));
    assert!(program(&url, &["seen", "t-2"]).status.success());
    let page = alarms(0, 0, 0).await;
    for text in ["Two histories", "Two terminals with one identity", "Cloned journal", "Alarms that a person has seen"]
    {
        assert!(page.has(text), "{text}");
    }
    let page = pages.get("/terminal/t-1").await;
    assert!(page.has("The first one stays stored") && page.has("Seen by Anna") && !page.has("class=\"alarm\""));

    // Everything happens again. That one of the clones sends entries is no new alarm: it may be a renamed terminal.
    let mut round = Round::default();
    round.batches.push(another(3, "e"));
    store.store(round).await.unwrap();
    assert!(alarms(1, 0, 0).await.has("Cloned journal"));
    let mut round = Round::default();
    round.begins.push(("t-4".parse().unwrap(), journal(1)));
    twins(&mut round);
    store.store(round).await.unwrap();
    assert!(!alarms(1, 1, 1).await.has("id=\"seen\""));
    pages.end().await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/run fleet"]
async fn days_and_times_are_those_of_the_time_zone() {
    let cluster = Cluster::start();
    let url = cluster.create_database("zone");
    let mut store = fill(&url).await;
    // The day on which Berlin loses an hour.
    let mut round = Round::default();
    let times = ["2026-03-28T22:59:59Z", "2026-03-28T23:30:00Z", "2026-03-29T21:59:59Z", "2026-03-29T22:00:00Z"];
    for (at, number) in times.iter().zip(1..) {
        let one = content(&[sum("sale", "EUR", 1, "1.00")], &[net("EUR", 1, "1.00")]);
        round
            .batches
            .push((format!("z-{number}").parse().unwrap(), batch(10 + number, 0, vec![entry(1, &close(at, &one))])));
    }
    store.store(round).await.unwrap();
    for (zone, day, listed, shown) in [
        ("Europe/Berlin", "2026-03-29", "23", "2026-03-29 00:30:00"),
        ("UTC", "2026-03-28", "12", "2026-03-28 23:30:00"),
    ] {
        let pages = Pages::of(&url, Serve { time_zone: zone.to_owned(), ..Serve::default() }).await;
        let page = pages.get(&format!("/closes?day={day}")).await;
        let found: String = (1..=4).filter(|one| page.lists(&format!("z-{one}"))).map(|one| one.to_string()).collect();
        assert_eq!(found, listed, "{zone}");
        for text in [shown, &format!("Time ({zone})"), &row("sale", "EUR", 2, "2.00"), "2 closes on this day"] {
            assert!(page.has(text), "{zone}: {text} {}", page.body);
        }
        assert!(pages.get("/terminal/t-1").await.has(&format!("midnight ({zone})")));
        pages.end().await;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (_stop, stopped) = watch::channel(false);
    let wrong = Serve { time_zone: "Europe/Nowhere".to_owned(), ..Serve::default() };
    let error = run_on(listener, wrong, Database { url, ca: None }, now, stopped).await.unwrap_err().to_string();
    assert!(error.starts_with("serve.time-zone: \"Europe/Nowhere\" is no time zone"), "{error}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/run fleet"]
async fn sums_that_are_not_as_expected_are_told_and_hide_no_others() {
    let cluster = Cluster::start();
    let url = cluster.create_database("wrong");
    let mut store = fill(&url).await;
    let (good, whole) = (sum("sale", "EUR", 1, "1.00"), [net("EUR", 1, "1.00")]);
    let with = |field: &str, value: Value| {
        let mut line = good.clone();
        line[field] = value;
        content(&[good.clone(), line], &whole)
    };
    let wrong = [
        with("sum", json!("1e9")),
        with("sum", json!(1)),
        with("sum", json!(HOSTILE)),
        with("sum", json!("1.00\n")),
        with("sum", Value::Null),
        with("count", json!(-1)),
        with("count", json!(1.5)),
        with("count", json!("1")),
        with("count", json!(1e300)),
        with("currency", json!("eur")),
        with("kind", json!(HOSTILE)),
        with("kind", json!(["sale"])),
        content(&vec![good.clone(); 41], &whole),
        content(&[json!([good.clone()])], &whole),
        content(&[json!(7)], &whole),
        content(std::slice::from_ref(&good), &[json!({ "currency": "EUR", "count": 1 })]),
        json!({ "kinds": [good] }),
        json!({ "kinds": { "0": good }, "net": [] }),
        json!([content(std::slice::from_ref(&good), &whole)]),
        json!("close"),
    ];
    let count = wrong.len();
    let mut entries: Vec<_> =
        wrong.iter().zip(1..).map(|(content, number)| entry(number, &close("2026-10-01T10:00:00Z", content))).collect();
    entries.push(entry(entries.len() as i64 + 1, &close("2026-10-01T10:00:00Z", &content(&[], &[]))));
    let mut more = content(std::slice::from_ref(&good), &whole);
    more["later"] = json!({ "x": 1 });
    entries.push(entry(entries.len() as i64 + 1, &close("2026-10-01T10:00:00Z", &more)));
    let mut round = Round::default();
    round.batches.push(("w-1".parse().unwrap(), batch(9, 0, entries)));
    store.store(round).await.unwrap();
    let pages = Pages::of(&url, Serve::default()).await;
    let page = pages.get("/closes?day=2026-10-01").await;
    assert!(page.has(&format!("{count} without sums")) && page.has("no payments"), "{}", page.body);
    assert!(page.has(&[row("sale", "EUR", 1, "1.00"), row("net", "EUR", 1, "1.00")].concat()), "{}", page.body);
    assert_eq!(page.body.matches("sums not sent").count(), count);
    assert!(pages.get("/closes?day=2026-10-01&format=csv").await.has("no-payments,,0,\r\n"));
    pages.end().await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/run fleet"]
async fn only_those_who_may_read_are_answered_and_nobody_writes() {
    let cluster = Cluster::start();
    let url = cluster.create_database("guard");
    let store = fill(&url).await;
    let pages = Pages::of(&url, Serve::default()).await;
    for target in ["/", "/terminal/t-1", "/open", "/closes", "/metrics", "/style.css", "/x"] {
        for method in ["POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE"] {
            let answer = pages.ask(method, target, &["Host: localhost", "Content-Length: 0"]).await;
            assert!(answer.status == 405 && answer.head.contains("allow: get"), "{method} {target}: {}", answer.head);
        }
        assert_eq!(pages.ask("GET", target, &["Host: evil.example"]).await.status, 421, "{target}");
        let answer = pages.get(target).await;
        for header in [
            "content-security-policy: default-src 'none'; style-src 'self';",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
        ] {
            assert!(answer.head.contains(header), "{target}: {header}");
        }
    }
    assert_eq!(pages.ask("GET", "/", &["Host: localhost", "Content-Length: 3"]).await.status, 413);
    let long = format!("/?text={}", "x".repeat(40_000));
    assert!((400..500).contains(&pages.get(&long).await.status));
    pages.end().await;

    let pages = Pages::of(&url, Serve { user_header: Some("x-user".to_owned()), ..Serve::default() }).await;
    for target in ["/", "/terminal/t-1", "/open", "/closes?format=csv"] {
        let refused = pages.get(target).await;
        assert!(refused.status == 403 && refused.body.contains("named no user"), "{target}");
        assert_eq!(pages.ask("GET", target, &["Host: localhost", "X-User: anna"]).await.status, 200, "{target}");
    }
    assert_eq!(pages.get("/metrics").await.status, 200);
    pages.end().await;

    // A table whose reading writes: the connection of the pages refuses, and that of the test does not.
    drop(store);
    let database = Database { url, ca: None };
    let client = connect(&database, "test").await.unwrap();
    let trap = "create table probe (x int);
        create function probe() returns boolean volatile language plpgsql
            as 'begin insert into probe values (1); return true; end';
        alter table terminal rename to terminal_before;
        create view terminal as select * from terminal_before where probe()";
    client.batch_execute(trap).await.unwrap();
    let probes = async || client.query("select from probe", &[]).await.unwrap().len();
    let pages = Pages::of(&database.url, Serve::default()).await;
    for target in ["/", "/terminal/t-1", "/open", "/metrics"] {
        assert_eq!(pages.get(target).await.status, 503, "{target}");
    }
    assert_eq!(probes().await, 0);
    client.query("select from terminal", &[]).await.unwrap();
    assert!(probes().await > 0);
    pages.end().await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/run fleet"]
async fn metrics_tell_no_old_value_and_a_lost_database_is_told_and_found_again() {
    let mut cluster = Cluster::start();
    let url = cluster.create_database("metrics");
    let store = fill(&url).await;
    let pages = Pages::at(&url, Serve::default(), ahead).await;
    let metrics = pages.get("/metrics").await;
    for line in [
        "pos_fleet_terminals 4\n",
        "pos_fleet_conflicts 0\n",
        "pos_fleet_gaps 0\n",
        "pos_terminal_online{terminal=\"t-1\"} 1.0\n",
        "pos_terminal_online{terminal=\"t-3\"} 0.0\n",
        "pos_terminal_online{terminal=\"t-4\"} 0.0\n",
        "pos_terminal_ready{terminal=\"t-2\"} 0.0\n",
        "pos_terminal_faults{terminal=\"t-2\"} 1.0\n",
        "pos_terminal_sales_for_person{terminal=\"t-1\"} 1.0\n",
        "pos_terminal_behind_entries{terminal=\"t-1\"} 2.0\n",
        "pos_terminal_approved_total{terminal=\"t-1\"} 3.0\n",
        "pos_terminal_gateway_reachable{terminal=\"t-1\"} 1.0\n",
    ] {
        assert!(metrics.has(line), "{line}{}", metrics.body);
    }
    for foreign in ["other", "12.34", "order-", "Corner", "reader-absent", "script"] {
        assert!(!metrics.has(foreign), "{foreign}");
    }
    AHEAD.store(600, Ordering::Relaxed);
    let metrics = pages.get("/metrics").await;
    assert!(metrics.has("pos_terminal_ready{terminal=\"t-1\"}") && !metrics.has("approved_total{"));
    AHEAD.store(1_000, Ordering::Relaxed);
    let metrics = pages.get("/metrics").await;
    assert!(metrics.has("pos_terminal_online{terminal=\"t-1\"} 0.0") && !metrics.has("pos_terminal_ready{"));
    assert!(metrics.has("pos_terminal_last_seen_seconds{terminal=\"t-1\"}"));
    AHEAD.store(0, Ordering::Relaxed);

    drop(store);
    cluster.stop();
    for target in ["/", "/terminal/t-1", "/metrics"] {
        let answer = pages.get(target).await;
        assert!(answer.status == 503 && answer.body.contains("The database does not answer"), "{target}");
    }
    cluster.resume();
    assert_eq!(pages.get("/").await.status, 200);
    pages.end().await;
}

/// The variable with the folder of the npm package axe-core. `crates/front/tests/page/run` creates the folder.
const NPM: &str = "POS_FRONT_PAGE_NPM";
const RULES: &str = "const done = arguments[0];
    axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    }).then((result) => done(result.violations.map((one) =>
      one.id + ': ' + one.nodes.slice(0, 3).map((node) => node.target.join(' ') + ' ' + (node.any[0]?.message ?? ''))
    )), (error) => done(String(error)))";

/// A headless Chromium, through its driver's protocol: plain HTTP on loopback.
struct Chromium {
    driver: Child,
    address: SocketAddr,
    session: String,
}

impl Chromium {
    async fn start() -> Self {
        let mut command = Command::new("chromedriver");
        let mut driver = command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
        let port = |line: String| line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok();
        let address = SocketAddr::from(([127, 0, 0, 1], lines.filter_map(port).next().unwrap()));
        let mut browser = Self { driver, address, session: String::new() };
        let options = json!({ "args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage"] });
        let session = json!({ "capabilities": { "alwaysMatch": { "goog:chromeOptions": options } } });
        browser.session = format!("/{}", browser.ask("", &session).await["sessionId"].as_str().unwrap());
        browser
    }

    async fn ask(&self, path: &str, body: &Value) -> Value {
        let (body, session) = (body.to_string(), &self.session);
        let head = format!("POST /session{session}{path} HTTP/1.1\r\nHost: {}\r\nConnection: close", self.address);
        let request = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let (head, body) = exchange(self.address, &request).await;
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {body}");
        serde_json::from_str::<Value>(&body).unwrap()["value"].take()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL, Chromium and axe-core: .ci/run fleet"]
async fn axe_finds_nothing_on_any_page_in_either_scheme() {
    let npm = std::env::var(NPM).unwrap_or_else(|_| panic!("{NPM} names no folder: see crates/front/tests/page/run"));
    let axe = std::fs::read_to_string(format!("{npm}/node_modules/axe-core/axe.min.js")).unwrap();
    let cluster = Cluster::start();
    let url = cluster.create_database("axe");
    let mut store = fill(&url).await;
    let mut round = Round::default();
    let other = JournalEntry { hash: "f".repeat(64), ..entry(2, &step(2, &approved("1.00"))) };
    round.batches.push(("t-1".parse().unwrap(), batch(1, 1, vec![other])));
    round.begins.push(("t-4".parse().unwrap(), journal(1)));
    store.store(round).await.unwrap();
    // One of the alarms is seen.
    assert!(program(&url, &["seen", "t-4"]).status.success());
    let pages = Pages::of(&url, Serve::default()).await;
    let browser = Chromium::start().await;
    let mut faults = Vec::new();
    for scheme in ["light", "dark"] {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        let media = json!({ "cmd": "Emulation.setEmulatedMedia", "params": media });
        browser.ask("/goog/cdp/execute", &media).await;
        for (width, target) in [
            (1280, "/"),
            (400, "/?state=faults"),
            (1280, "/?text=nothing"),
            (1280, "/terminal/t-1"),
            (400, "/terminal/t-2"),
            (1280, "/open"),
            (400, "/closes"),
            (1280, "/terminal/t-9"),
        ] {
            browser.ask("/window/rect", &json!({ "width": width, "height": 900 })).await;
            browser.ask("/url", &json!({ "url": format!("http://{}{target}", pages.address) })).await;
            browser.ask("/execute/sync", &json!({ "script": axe, "args": [] })).await;
            let found = browser.ask("/execute/async", &json!({ "script": RULES, "args": [] })).await;
            let found = found.as_array().unwrap_or_else(|| panic!("axe-core did not run: {found}"));
            faults.extend(found.iter().map(|fault| format!("{scheme} {width} {target}: {fault}")));
            let wide = json!({ "script": "return document.documentElement.scrollWidth - innerWidth", "args": [] });
            let wide = browser.ask("/execute/sync", &wide).await;
            if wide.as_i64().unwrap() > 0 {
                faults.push(format!("{scheme} {width} {target}: {wide} px too wide"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    pages.end().await;
}
