//! The rows that the server stores in a second, beside a bare `COPY` of the same rows into a table with the same key.
//! Both are durable. It needs Debian's `postgresql`: `cargo bench -p pos-fleet --bench store [-- ROWS]`.

#![allow(clippy::unwrap_used, reason = "a measurement that fails ends")]
#![allow(clippy::print_stdout, clippy::float_arithmetic, reason = "a measurement prints its figures")]
#![allow(dead_code, reason = "the test's cluster has more than a measurement needs")]

use std::fmt::Write as _;
use std::time::Instant;

use pos_fleet::database::{Database, connect};
use pos_fleet::store::{Round, Store};
use pos_fleet_terms::Batch;
use pos_till_api::JournalEntry;
use serde_json::json;

#[path = "../tests/fleet/postgres.rs"]
mod postgres;

use postgres::Cluster;

/// The entries of a batch, and the batches of a round, as a full queue fills them.
const BATCH: i64 = 50;
const ROUND: usize = 40;
/// The terminals, each with a journal of its own.
const TERMINALS: usize = 1_000;

fn main() {
    let rows = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(200_000_i64);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // The cluster reads it: everything must be on the disk.
    let cluster = Cluster::durable();
    let database = Database { url: cluster.create_database("fleet"), ca: None };
    let (stored, batches) = runtime.block_on(store(&database, rows));
    let copied = copy(&cluster, &batches);
    println!("stored  {stored:8.0} rows/s");
    println!("COPY    {copied:8.0} rows/s");
    println!("share   {:8.2}", stored / copied);
}

/// Stores rounds, one after the other as the consumer does. Returns the rows in a second, and the rows.
async fn store(database: &Database, rows: i64) -> (f64, Vec<(usize, Batch)>) {
    let mut store = Store::open(connect(database, "bench").await.unwrap()).await.unwrap();
    let mut batches = Vec::new();
    let mut after = 0;
    while i64::try_from(batches.len()).unwrap() * BATCH < rows {
        batches.extend((0..TERMINALS).map(|terminal| (terminal, batch(terminal, after))));
        after += BATCH;
    }
    let start = now();
    for round in batches.chunks(ROUND) {
        let mut stored = Round::default();
        for (terminal, batch) in round {
            stored.batches.push((format!("t-{terminal}").parse().unwrap(), batch.clone()));
        }
        store.store(stored).await.unwrap();
    }
    let count = f64::from(u32::try_from(batches.len() * usize::try_from(BATCH).unwrap()).unwrap());
    (count / (now() - start).as_secs_f64(), batches)
}

/// Copies the same rows with PostgreSQL's own program.
fn copy(cluster: &Cluster, batches: &[(usize, Batch)]) -> f64 {
    let mut text = String::new();
    for (terminal, batch) in batches {
        for entry in &batch.entries {
            let body = match entry.content.is_empty() {
                true => "\\N".to_owned(),
                false => json!(entry.content).to_string().replace('\\', "\\\\"),
            };
            let (kind, at) =
                if entry.content.is_empty() { ("\\N", "\\N") } else { ("step", "2026-11-20T10:00:07.250Z") };
            writeln!(
                text,
                "t-{terminal}\t{}\t{n}\t{n}\t\\\\x{}\t{kind}\t{at}\t{}\t2026-11-20T10:00:07.250Z",
                batch.journal,
                entry.hash,
                body,
                n = entry.entry,
            )
            .unwrap();
        }
    }
    let file = cluster.file("rows");
    std::fs::write(&file, text).unwrap();
    cluster.sql("fleet", "create table copied (like entry including all)");
    let start = now();
    cluster.sql("fleet", &format!("\\copy copied from '{}'", file.display()));
    let seconds = (now() - start).as_secs_f64();
    let rows: u32 = cluster.sql("fleet", "select count(*) from copied").parse().unwrap();
    assert_eq!(cluster.sql("fleet", "select count(*) from entry"), rows.to_string());
    f64::from(rows) / seconds
}

/// Entries as a shop sends them by default: one of six has its content.
fn batch(terminal: usize, after: i64) -> Batch {
    let entry = |number: i64| {
        let content = json!({
            "is": "step", "at": "2026-11-20T10:00:07.250Z", "number": number / 6, "till": "till-1",
            "reference": format!("order-{number}"), "records": [{ "at": "2026-11-20T10:00:07.250Z", "is": "ended" }],
            "facts": { "kind": "sale", "standing": "ended", "outcome": "approved", "total": "12.34", "currency": "EUR",
                       "approved": "12.34", "card": { "maskedPan": "************1111", "scheme": "VISA" } },
        });
        let content = if number % 6 == 0 { content.as_object().unwrap().clone() } else { serde_json::Map::new() };
        JournalEntry { entry: number, hash: format!("{number:032x}{terminal:032x}"), content }
    };
    Batch { journal: format!("{terminal:032x}"), after, entries: (after + 1..=after + BATCH).map(entry).collect() }
}

#[allow(clippy::disallowed_methods, reason = "a measurement")]
fn now() -> Instant {
    Instant::now()
}
