//! What `pos-front` adds to a sale at a till that speaks a till protocol: the real program, between a till and a
//! stand-in for the agent which both are in this process and take the times.
//!
//! | share | from | to |
//! |---|---|---|
//! | request | the command's last byte is written by the till | the agent has `POST /v1/sales` |
//! | outcome | the agent answers what became of the sale | the till has the outcome's first byte |
//!
//! Both have questions to the agent in them, which the stand-in answers at once: of ZVT the terminal's status before
//! the sale; of nexo whether the message and its transaction are known, and after the sale both copies of the receipt.
//! What both ends need to be woken up is counted as the front's.
//!
//! Each protocol is a function that gives [`Row`]s. Run by `cargo bench -p pos-front --bench share`.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark measures and prints")]
#![allow(clippy::unwrap_used, dead_code, reason = "the process's helpers are those of the tests")]

mod agent;
mod nexo;
#[path = "../../tests/front/process.rs"]
mod process;
mod zvt;

use std::time::Duration;

/// Sales of one measurement.
const SALES: usize = 200;
/// Not counted: caches.
const WARM_UP: usize = 20;
/// Between two sales everything is at rest, as at a counter.
const IDLE: Duration = Duration::from_millis(30);
/// How long the agent needs for a card and the bank: longer than what the front waits between two messages to a till.
const CARD: Duration = Duration::from_millis(70);

/// What was measured under one name, once for each sale.
struct Row {
    name: &'static str,
    times: Vec<Duration>,
}

fn main() {
    println!("pos-front's share of a sale, {SALES} sales, in microseconds\n");
    print("ZVT over TCP", &zvt::measure(CARD));
    print("ZVT over TCP, the agent has the outcome at once", &zvt::measure(Duration::ZERO));
    print("nexo, sealed", &nexo::measure(CARD));
}

fn print(name: &str, rows: &[Row]) {
    println!("{name:<50}{:>9}{:>9}{:>9}", "middle", "95 %", "worst");
    for Row { name, times } in rows {
        let mut times: Vec<_> = times.iter().skip(WARM_UP).map(Duration::as_micros).collect();
        times.sort_unstable();
        let at = |part: usize| times[(times.len() - 1) * part / 100];
        println!("  {name:<48}{:>9}{:>9}{:>9}", at(50), at(95), at(100));
    }
    println!();
}

/// The rows of one sale after the other.
fn rows<const N: usize>(names: [&'static str; N], sales: &[[Duration; N]]) -> Vec<Row> {
    let times = |at: usize| sales.iter().map(|sale| sale[at]).collect();
    names.into_iter().enumerate().map(|(at, name)| Row { name, times: times(at) }).collect()
}
