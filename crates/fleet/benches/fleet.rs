//! What one machine needs for a fleet: memory and processor time of the broker, the server and the database. Then the
//! time until all terminals are back after a restart of the broker.
//!
//! It needs Debian's `mosquitto` and `postgresql`, and the terminals' simulator:
//!
//! ```sh
//! cargo build --profile bench --bin pos-sim
//! cargo bench --package pos-fleet --bench fleet -- 3000
//! ```

#![allow(clippy::unwrap_used, reason = "a measurement that fails ends")]
#![allow(clippy::print_stdout, clippy::float_arithmetic, reason = "a measurement prints its figures")]
#![allow(dead_code, reason = "the tests' helpers have more than a measurement needs")]

use std::fs;
use std::time::Duration;

#[path = "../tests/fleet/broker.rs"]
mod broker;
#[path = "../tests/fleet/pki.rs"]
mod pki;
#[path = "../tests/fleet/postgres.rs"]
mod postgres;
#[path = "../tests/fleet/process.rs"]
mod process;
#[path = "../tests/fleet/server.rs"]
mod server;
#[path = "../tests/fleet/terminals.rs"]
mod terminals;

use broker::Broker;
use pki::Pki;
use postgres::Cluster;
use process::{now, until};
use server::{ORG, Server};
use terminals::Terminals;

const LIMIT: Duration = Duration::from_secs(900);
/// The steps of the measured hour, and their length in seconds. Each step takes a second.
const STEPS: (u32, u32) = (60, 60);
/// The sales of a terminal in a day, with six entries each.
const SALES_PER_DAY: &str = "300";
/// The clock ticks of a second in `/proc`.
const TICKS: f64 = 100.0;

/// Memory in kilobytes and processor time in seconds.
#[derive(Clone, Copy)]
struct Used {
    kb: f64,
    seconds: f64,
}

fn main() {
    let count = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(1_000_u64);
    let pki = Pki::new();
    for at in 1..=count {
        pki.make(&format!("sim-{at:04}"), false);
    }
    let cluster = Cluster::durable();
    let database = cluster.create_database("fleet");
    let mut broker = Broker::start(&pki, ORG);
    let server = Server::start(&pki, &broker, &database);
    let stored = || cluster.sql("fleet", "select count(*) from entry").parse::<f64>().unwrap();
    until("shape of the database", LIMIT, || {
        (cluster.sql("fleet", "select to_regclass('entry') is not null") == "t").then_some(())
    });
    let parts = |broker: &Broker| [used(broker.id()), used(server.id()), used(cluster.id())];
    let before = parts(&broker);

    let start = now();
    let mut fleet = Terminals::start(&pki, broker.port, ORG, count, &["--sales-per-day", SALES_PER_DAY]);
    fleet.until_connected(LIMIT);
    fleet.until_stored("first storing", LIMIT);
    println!("{count} terminals, connected and stored in {:.0} s", (now() - start).as_secs_f64());
    let connected = parts(&broker);

    // An hour of the day.
    let (rows, start) = (stored(), now());
    for step in 1..=STEPS.0 {
        fleet.ask(&format!("clock {}", STEPS.1));
        std::thread::sleep((start + Duration::from_secs(1) * step).saturating_duration_since(now()));
    }
    fleet.until_stored("storing of the hour", LIMIT);
    let (after, took) = (parts(&broker), (now() - start).as_secs_f64());
    let rows = stored() - rows;
    println!("an hour of their day in {took:.0} s: {rows:.0} entries, {:.0} in a second", rows / took);
    let terminals = f64::from(u32::try_from(count).unwrap());
    println!("{:10} {:>14} {:>22} {:>26}", "", "kB a terminal", "then, in all (MB)", "processor, s of the hour");
    for (name, at) in [("broker", 0), ("server", 1), ("database", 2)] {
        println!(
            "{name:10} {:14.1} {:22.1} {:26.2}",
            (connected[at].kb - before[at].kb) / terminals,
            after[at].kb / 1_000.0,
            after[at].seconds - connected[at].seconds,
        );
    }
    println!("a row of the database: {} bytes with its indexes", {
        let bytes: f64 = cluster.sql("fleet", "select pg_total_relation_size('entry')").parse().unwrap();
        (bytes / stored()).round()
    });

    // The broker restarts, and every terminal comes back at a random time. Nothing moves the clock.
    let start = now();
    broker.restart();
    let mut connected = || fleet.ask("standing")["connected"].as_u64().unwrap();
    until("loss of each connection", LIMIT, || (connected() < count / 2).then_some(()));
    let mut back = |part: u64| {
        until("return of the terminals", LIMIT, || (connected() >= part).then_some(()));
        (now() - start).as_secs_f64()
    };
    let (half, most, all) = (back(count / 2), back(count * 95 / 100), back(count));
    println!(
        "after a restart of the broker: half are back in {half:.0} s, 95 of 100 in {most:.0} s, all in {all:.0} s"
    );
    println!("processor of the broker for that: {:.1} s", used(broker.id()).seconds);
}

/// Returns what a process and its children use. Shared memory counts in equal parts.
fn used(process: u32) -> Used {
    let read = |id: u32, file: &str| fs::read_to_string(format!("/proc/{id}/{file}")).unwrap_or_default();
    let numbers = |text: &str| text.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<f64>>();
    let children = read(process, &format!("task/{process}/children"));
    let children = children.split_whitespace().filter_map(|child| child.parse().ok()).map(used);
    let memory = read(process, "smaps_rollup");
    let memory = memory.lines().find_map(|line| line.strip_prefix("Pss:")).map(numbers);
    // The name may contain spaces. Times are the 12th and 13th number after it.
    let times = read(process, "stat");
    let times = times.rsplit_once(')').map_or_else(Vec::new, |(_, rest)| numbers(rest));
    let own = Used {
        kb: memory.and_then(|memory| memory.first().copied()).unwrap_or_default(),
        seconds: (times.get(10).unwrap_or(&0.0) + times.get(11).unwrap_or(&0.0)) / TICKS,
    };
    children.fold(own, |sum, child| Used { kb: sum.kb + child.kb, seconds: sum.seconds + child.seconds })
}
