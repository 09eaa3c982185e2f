//! The metrics over the real socket, read by a third-party parser. They agree with the sales and with the files on the
//! disk, and contain no text from outside.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::counter::Counter;
use crate::fake_agent::{self, TOKENS};
use crate::program::{exchange, get};
use nom_openmetrics::MetricDescriptor;
use pos_agent::config::{Right, Rights};
use pos_agent::till::SaleState;
use pos_sim::reader::CardEntry::{Insert, Tap};
use pos_sim::shop::Options;
use pos_test_kit::within;
use rusqlite::Connection;
use serde_json::json;
use tokio::net::{TcpStream, UnixStream};

/// Every sample by its name, with its labels sorted by name.
struct Figures {
    samples: BTreeMap<String, f64>,
    types: BTreeMap<String, String>,
    text: String,
}

impl Figures {
    async fn of(socket: &Path) -> Self {
        let answer = exchange(UnixStream::connect(socket).await.unwrap(), &get("/v1/metrics", "")).await;
        assert_eq!(answer.0, 200, "{}", answer.2);
        let kind = "content-type: application/openmetrics-text; version=1.0.0; charset=utf-8";
        assert!(answer.1.contains(kind), "{}", answer.1);
        Self::read(answer.2)
    }

    fn read(text: String) -> Self {
        let (rest, families) =
            nom_openmetrics::parser::openmetrics(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(rest, "", "{text}");
        let (mut samples, mut types) = (BTreeMap::new(), BTreeMap::new());
        for family in &families {
            let mut described = BTreeSet::new();
            for descriptor in &family.descriptors {
                described.insert(descriptor.metric());
                if let MetricDescriptor::Type { metric, r#type } = descriptor {
                    // The parser knows some of the types by name and returns the others unchanged.
                    let kind = r#type.to_string().to_lowercase();
                    assert!(["counter", "gauge", "histogram", "info"].contains(&kind.as_str()), "{metric}: {kind}");
                    types.insert((*metric).to_owned(), kind);
                }
            }
            assert_eq!(described.len(), 1, "a family has one name: {described:?}");
            for sample in &family.samples {
                assert!(described.iter().all(|name| sample.name().starts_with(name)), "{sample:?} of {described:?}");
                let mut labels: Vec<String> =
                    sample.labels().iter().map(|label| format!("{}={}", label.name, label.value)).collect();
                labels.sort();
                let name = format!("{}{{{}}}", sample.name(), labels.join(","));
                assert_eq!(samples.insert(name.clone(), sample.number()), None, "{name} twice");
            }
        }
        Self { samples, types, text: text.clone() }
    }

    #[track_caller]
    fn at(&self, name: &str) -> f64 {
        *self.samples.get(name).unwrap_or_else(|| panic!("no {name}: {}", self.text))
    }

    /// Returns the samples whose names begin with `name`, without that prefix.
    fn all(&self, name: &str) -> BTreeMap<&str, f64> {
        self.samples.iter().filter_map(|(one, number)| Some((one.strip_prefix(name)?, *number))).collect()
    }
}

async fn figures(counter: &Counter) -> Figures {
    Figures::of(&counter.shop.socket()).await
}

/// A hostile text, used as the text of a till, a gateway and a person.
const HOSTILE: &str = r#"x"} 9 # {y="\n"#;

#[tokio::test]
async fn they_agree_with_the_sales_and_with_the_disk() {
    let counter = Counter::open().await;
    let before = figures(&counter).await;
    assert_eq!(before.all("pos_agent_sales_total"), BTreeMap::new());
    assert_eq!(before.at("pos_agent_journal_sync_seconds_count{}"), 0.0);

    // Two sales are approved. The reference and the answer of one try to look like a sample.
    counter.sell("approved", "12.34", "chip-pin", Insert).await;
    over(&counter, "approved").await;
    counter.ask(json!({"reference": HOSTILE, "amount": "12.74"})).await;
    counter.present(pos_sim::reader::card("tap").unwrap(), Tap).await;
    counter.until_ready().await;
    // One sale is declined by the gateway, one by the card alone, and one is cancelled at the till.
    counter.sell("declined", "12.54", "tap", Tap).await;
    over(&counter, "declined").await;
    counter.sell("by-the-card", "12.34", "chip-declines", Insert).await;
    over(&counter, "by-the-card").await;
    counter.begin("cancelled", "12.34").await;
    counter.post("/v1/sales/cancelled/cancel").await;
    over(&counter, "cancelled").await;
    // In the first sale, the card refuses the approval, and the agent reverses it. The second gets no answer and the
    // gateway does not list it, so it stays unconfirmed for a day. In the third, the card refuses the approval and the
    // gateway refuses the reversal, so a person must decide.
    counter.sell("reversed", "12.34", "chip-refuses", Insert).await;
    over(&counter, "reversed").await;
    counter.until_ended("reversed").await;
    counter.sell("unknown", "12.72", "tap", Tap).await;
    counter.until("unknown", "a doubt", |view| view.state == SaleState::Unconfirmed).await;
    counter.until_ready().await;
    counter.sell("for-a-person", "12.84", "chip-refuses", Insert).await;
    over(&counter, "for-a-person").await;
    counter.until("for-a-person", "a person", |view| view.needs_person.is_some()).await;
    counter.done(json!({"reference": "refund", "kind": "refund", "of": "approved", "amount": "1.00"})).await;
    counter.until_ready().await;

    let after = figures(&counter).await;
    let sales: BTreeMap<_, _> = [
        ("{kind=refund,outcome=approved,reason=}", 1.0),
        ("{kind=sale,outcome=approved,reason=}", 2.0),
        ("{kind=sale,outcome=cancelled,reason=till-cancelled}", 1.0),
        ("{kind=sale,outcome=declined,reason=bank-declined}", 1.0),
        ("{kind=sale,outcome=declined,reason=card-declined}", 1.0),
        ("{kind=sale,outcome=reversed,reason=card-refused}", 1.0),
    ]
    .into();
    assert_eq!(after.all("pos_agent_sales_total"), sales);
    assert_eq!(after.at("pos_agent_unconfirmed_sales{}"), 2.0);
    assert_eq!(after.at("pos_agent_open_reversals{}"), 1.0);
    assert_eq!(after.at("pos_agent_sales_for_person{}"), 1.0);
    // A card was read in every sale except the cancelled one.
    for part in ["reader", "gateway", "journal", "agent"] {
        assert_eq!(after.at(&format!("pos_agent_sale_part_seconds_count{{part={part}}}")), 7.0, "{part}");
        let everything = format!("pos_agent_sale_part_seconds_bucket{{le=+Inf,part={part}}}");
        assert_eq!(after.at(&everything), 7.0, "{part}");
        assert!(after.at(&format!("pos_agent_sale_part_seconds_sum{{part={part}}}")) > 0.0, "{part}");
    }
    // Each step that was written to the disk has its duration, and the files have the reported size.
    let journal = Connection::open(counter.shop.folder().join("journal.db")).unwrap();
    let steps: i64 = journal.query_row("SELECT count(*) FROM step", [], |row| row.get(0)).unwrap();
    let again = figures(&counter).await;
    assert_eq!(again.at("pos_agent_journal_sync_seconds_count{}"), f64::from(i32::try_from(steps).unwrap()));
    for (file, name) in [("journal", "journal.db"), ("wal", "journal.db-wal")] {
        let bytes = std::fs::metadata(counter.shop.folder().join(name)).unwrap().len();
        assert_eq!(again.at(&format!("pos_agent_journal_size_bytes{{file={file}}}")), bytes as f64, "{name}");
    }
    nothing_from_outside(&again.text);
}

/// Waits until the sale has ended or is unconfirmed, its card is removed, and the next sale can begin.
async fn over(counter: &Counter, reference: &str) {
    let told = |state| matches!(state, SaleState::Ended | SaleState::Unconfirmed);
    counter.until(reference, "the end or a doubt", |view| told(view.state)).await;
    counter.shop.reader.remove();
    counter.until_ready().await;
}

/// Checks that every label value is a word of the program or the name of a bound.
fn nothing_from_outside(text: &str) {
    let reasons = pos_core::transaction::Reason::ALL.iter().map(|reason| reason.as_str());
    let known: BTreeSet<&str> = [
        "",
        "sale",
        "refund",
        "approved",
        "declined",
        "reversed",
        "cancelled",
        "gateway",
        "terminal",
        "reader",
        "journal",
        "agent",
        "wal",
        "card",
        "pin",
        "1",
        "2",
        "+Inf",
        env!("CARGO_PKG_VERSION"),
    ]
    .into_iter()
    .chain(reasons)
    .collect();
    for value in text.lines().filter(|line| !line.starts_with('#')).flat_map(|line| line.split('"').skip(1).step_by(2))
    {
        let number = value.parse::<f64>().is_ok();
        assert!(number || known.contains(value), "{value:?}: {text}");
    }
    for foreign in
        ["x\"}", "till-1", "local", "approved-", "12345678", "VISA", "Corner", "do not honour", "GB", "12.34"]
    {
        assert!(!text.contains(foreign), "{foreign}: {text}");
    }
    assert!(text.len() < 16 * 1024, "{} bytes", text.len());
}

#[tokio::test]
async fn they_follow_the_devices() {
    let counter = Counter::open().await;
    let first = figures(&counter).await;
    assert_eq!(first.at("pos_agent_reader_ready{}"), 1.0);
    assert_eq!(first.at("pos_agent_journal_writable{}"), 1.0);
    assert_eq!(first.at("pos_agent_printer_ready{printer=1}"), 1.0);
    assert_eq!(first.at("pos_agent_printer_receipts_waiting{printer=1}"), 0.0);
    assert!(!first.samples.contains_key("pos_agent_printer_ready{printer=2}"), "{}", first.text);
    let built: Vec<_> = first.all("pos_agent_build_info").into_iter().collect();
    assert!(built[0].0.contains(concat!("version=", env!("CARGO_PKG_VERSION"))) && built[0].1 == 1.0, "{built:?}");
    let now = chrono::Utc::now().timestamp() as f64;
    let started = first.at("process_start_time_seconds{}");
    assert!((now - 120.0..=now).contains(&started), "{started} and now {now}");
    for (name, kind) in [
        ("process_start_time_seconds", "gauge"),
        ("pos_agent_build", "info"),
        ("pos_agent_reader_ready", "gauge"),
        ("pos_agent_journal_size_bytes", "gauge"),
        ("pos_agent_journal_sync_seconds", "histogram"),
    ] {
        assert_eq!(first.types[name], kind, "{name}");
    }
    until(&counter, "the gateway was reached", |now| now.at("pos_agent_gateway_reachable{}") == 1.0).await;
    counter.shop.reader.unplug();
    until(&counter, "the reader is gone", |now| now.at("pos_agent_reader_ready{}") == 0.0).await;
    counter.shop.reader.replug().unwrap();
    until(&counter, "the reader is back", |now| now.at("pos_agent_reader_ready{}") == 1.0).await;
    // The agent knows the number of remaining keys once it has read the first card.
    counter.until_ready().await;
    counter.sell("keys", "12.34", "tap", Tap).await;
    over(&counter, "keys").await;
    until(&counter, "the keys were told", |now| !now.all("pos_agent_reader_keys_left").is_empty()).await;
    // The gateway becomes unreachable, and the next sale notices it.
    counter.shop.gateway.set_offline(true).await.unwrap();
    counter.sell("offline", "12.34", "tap", Tap).await;
    over(&counter, "offline").await;
    let now = figures(&counter).await;
    assert_eq!(now.at("pos_agent_gateway_reachable{}"), 0.0);
    assert_eq!(now.at("pos_agent_sales_total{kind=sale,outcome=not-sent,reason=gateway-unreachable}"), 1.0);
}

async fn until(counter: &Counter, what: &str, wanted: impl Fn(&Figures) -> bool) {
    within(what, async { while !wanted(&figures(counter).await) {} }).await;
}

/// Checks that an ended sale is counted once, even over a restart and after a failed journal write.
#[tokio::test]
async fn a_sale_is_counted_by_the_run_in_which_it_ends() {
    let mut counter = Counter::open().await;
    counter.shop.gateway.set_delay(std::time::Duration::from_secs(3600));
    counter.sell("open", "12.34", "tap", Tap).await;
    counter.until("open", "the request", |view| view.state == SaleState::InProgress).await;
    counter.cut_power().await;
    counter.shop.gateway.set_delay(std::time::Duration::ZERO);
    counter.start_agent();
    counter.until_ready().await;
    counter.until_ended("open").await;
    let now = figures(&counter).await;
    let all: f64 = now.all("pos_agent_sales_total").values().sum();
    assert_eq!(all, 1.0, "{}", now.text);
    counter.stop_agent().await;
    counter.start_agent();
    counter.until_ready().await;
    assert_eq!(figures(&counter).await.all("pos_agent_sales_total"), BTreeMap::new());
}

/// Checks that the agent serves metrics over HTTP only if the setting allows it, and only to a token with the right to
/// totals.
#[tokio::test]
async fn over_http_they_are_served_where_that_is_set() {
    for (metrics, rights, expected) in [
        (false, Rights::till(), 403),
        (true, Rights::till(), 200),
        (true, [Right::Totals].into_iter().collect(), 200),
        (true, [Right::Read, Right::Sale].into_iter().collect(), 403),
    ] {
        let shop = fake_agent::open_with(16, |till| {
            till.metrics = metrics;
            till.token[0].rights = rights.clone();
        })
        .await;
        let token = format!("Authorization: Bearer {}\r\n", TOKENS[0]);
        let answer = exchange(TcpStream::connect(shop.http).await.unwrap(), &get("/v1/metrics", &token)).await;
        assert_eq!(answer.0, expected, "{metrics} {rights:?}: {}", answer.2);
        if !metrics {
            assert!(answer.2.contains("set metrics = true in [till]"), "{}", answer.2);
        }
        // A request without a token is refused as usual.
        let answer = exchange(TcpStream::connect(shop.http).await.unwrap(), &get("/v1/metrics", "")).await;
        assert_eq!(answer.0, 401);
        assert_eq!(exchange(UnixStream::connect(&shop.socket).await.unwrap(), &get("/v1/metrics", "")).await.0, 200);
    }
}

/// Checks that a configuration that permits no reader is refused, and that the message names the key.
#[tokio::test]
async fn metrics_without_a_token_that_may_read_them_is_a_fault_of_the_configuration() {
    let shop = Counter::closed(Options::default()).await.shop;
    let text = std::fs::read_to_string(shop.config()).unwrap();
    let check = |text: &str| {
        std::fs::write(shop.config(), text).unwrap();
        pos_agent::config::load(&shop.config()).map(drop).map_err(|error| error.to_string())
    };
    let on = text.replace("[till]\n", "[till]\nmetrics = true\n");
    assert_eq!(check(&on), Ok(()));
    let without = on.replace("[[till.token]]\n", "[[till.token]]\nrights = [\"read\"]\n");
    let said = check(&without).unwrap_err();
    assert!(said.contains("till.metrics: has no effect") && said.contains("rights = [\"totals\"]"), "{said}");
}
