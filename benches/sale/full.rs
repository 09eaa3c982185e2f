//! The same sale with a journal of many sales and with an empty one. The measurements alternate, so that other work of
//! the machine affects both. The benchmark also measures the time from a start to systemd's READY=1.
//!
//! A plain run leaves it out. To run it, use `POS_AGENT_BENCH_SALES=1000000 cargo bench --bench sale`, which first
//! fills a journal and takes some minutes.

use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::{Duration, Instant};

use pos_core::transaction::Record;
use pos_journal::Db;
use pos_terms::transaction::SaleNumber;
use serde_json::{Value, json};

use pos_sim::reader::Family;

use super::{Agent, Bench, SALES, WARM_UP, median, ms, open_shop};

/// The number of starts per measurement.
const STARTS: usize = 11;
/// The permitted cost of a sale with a full journal, as a multiple of its cost with an empty one.
const MOST: f64 = 1.05;
/// The number of sales after which the WAL is copied into the file.
const REOPENED: u64 = 5000;
/// The number of progress lines while the journal is filled.
const LINES: u64 = 10;
/// 2026-11-20, 12:00 UTC.
const NOON: i64 = 1_795_176_000_000;

/// Fills a journal with this many sales and compares it with an empty one.
pub(super) fn compare(bench: &Bench, sales: u64) {
    // Commits in memory cost almost no time. The resulting file is the same as on a disk.
    let folder = tempfile::tempdir_in("/dev/shm").expect("a writable folder");
    let full = folder.path().join("full.db");
    fill(&full, sales);
    for (name, place) in [("in memory", Path::new("/dev/shm")), ("on disk", Path::new(env!("CARGO_TARGET_TMPDIR")))] {
        println!("\njournal {name}");
        let at = tempfile::tempdir_in(place).expect("a writable folder");
        let (with, without) = (at.path().join("full.db"), at.path().join("empty.db"));
        std::fs::copy(&full, &with).expect("space for a copy");
        let full_start = starts(&with);
        let empty_start = starts(&without);
        println!("  start to READY=1: {} with {sales} sales, {} with none", ms(full_start), ms(empty_start));
        sales_in_turn(bench, &with, &without);
    }
}

#[allow(clippy::float_arithmetic, reason = "a ratio of two times")]
fn sales_in_turn(bench: &Bench, with: &Path, without: &Path) {
    let shops = [open_shop(with.to_owned(), Family::Miura), open_shop(without.to_owned(), Family::Miura)];
    let mut agents = shops.each_ref().map(Agent::start);
    let mut sums = [const { Vec::new() }; 2];
    for n in 0..WARM_UP + SALES {
        for (shop, sums) in shops.iter().zip(&mut sums) {
            let (out, back) = bench.sale(shop, n);
            sums.push(out + back);
        }
    }
    let resident = agents.each_ref().map(Agent::resident);
    for agent in &mut agents {
        agent.stop();
    }
    let [full, empty] = sums.map(median);
    let ratio = full.as_secs_f64() / empty.as_secs_f64();
    let word = if ratio <= MOST { "within" } else { "ABOVE" };
    println!(
        "  agent's own share of a sale: {} with them, {} with none: {ratio:.3}, {word} {MOST}",
        ms(full),
        ms(empty)
    );
    println!("  idle resident memory: {} with them, {} with none", resident[0], resident[1]);
}

/// Returns the median time from the program's start to READY=1.
fn starts(journal: &Path) -> Duration {
    let shop = open_shop(journal.to_owned(), Family::Miura);
    let manager = shop.folder().join("notify");
    let told = UnixDatagram::bind(&manager).expect("the shop's own folder");
    let times = (0..STARTS).map(|_| {
        let begun = Instant::now();
        let mut agent = Agent::spawn(&shop, Some(&manager));
        let mut words = [0; 256];
        let took = loop {
            let length = told.recv(&mut words).expect("a socket of our own");
            if words[..length].starts_with(b"READY=1") {
                break begun.elapsed();
            }
        };
        agent.until_ready(&shop);
        agent.stop();
        took
    });
    let mut times: Vec<_> = times.collect();
    times.sort_unstable();
    times[STARTS / 2]
}

/// Writes the sales as the agent does, with three steps each.
fn fill(path: &Path, sales: u64) {
    let (mut db, _) = Db::open(path).expect("a journal of our own");
    for number in 1..=sales {
        let started = json!({"kind": "started", "order": order(number)});
        let ended = json!({"kind": "ended", "outcome": {"is": "approved"}, "host": {"id": format!("{number:032x}"), "code": "000.000.000"}});
        for (step, record) in (0..).zip([started, json!({"kind": "asked"}), ended]) {
            let record: Record = serde_json::from_value(record).expect("a record as the journal has it");
            db.write(SaleNumber::new(number), step, NOON, &[record]).expect("space for it");
        }
        if number % REOPENED == 0 {
            // When the database is closed, SQLite copies the WAL into the file. The agent does that on a separate
            // thread.
            drop(db);
            (db, _) = Db::open(path).expect("a journal of our own");
        }
        if number % (sales / LINES).max(1) == 0 {
            println!("{number} of {sales} sales written");
        }
    }
}

fn order(number: u64) -> Value {
    json!({
        "number": number, "till": "till-1", "reference": format!("old-{number}"), "amount": {"minor": 1234, "currency": "EUR"},
        "terminalId": "12345678", "merchantTransactionId": format!("12345678-{number}-{number:032x}"),
        "startedUnixMs": NOON, "localTime": "2026-11-20 13:00:00",
    })
}
