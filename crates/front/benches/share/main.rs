//! Measures the time that `pos-front` adds to a sale at a till that speaks ZVT or nexo. The real program runs between a
//! till and a stand-in for the agent. Both of these are in this process, where the times are measured.
//!
//! | share | from | to |
//! |---|---|---|
//! | request | the till has written the command's last byte | the agent has received `POST /v1/sales` |
//! | outcome | the agent answers with the outcome of the sale | the till has received the outcome's first byte |
//!
//! Both shares contain requests to the agent, which the stand-in answers immediately. A ZVT till causes a request for
//! the terminal's status before the sale. A nexo till causes requests that look for the message and its transaction,
//! and for both receipt copies after the sale. The time that the till and the stand-in need to wake up counts as the
//! front's.
//!
//! Each protocol has a function that returns [`Row`]s. To run the benchmark: `cargo bench -p pos-front --bench share`.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark measures and prints")]
#![allow(clippy::unwrap_used, dead_code, reason = "the process's helpers are those of the tests")]

mod agent;
mod nexo;
#[path = "../../tests/front/process.rs"]
mod process;
mod zvt;

use std::time::Duration;

/// The number of sales in one measurement.
const SALES: usize = 200;
/// The number of sales at the start that are not counted, because the caches are still empty.
const WARM_UP: usize = 20;
/// The pause between two sales, in which all programs are idle, as at a real counter.
const IDLE: Duration = Duration::from_millis(30);
/// The time that the agent needs for a card and the bank. It is longer than the front's pause between two messages to a
/// till.
const CARD: Duration = Duration::from_millis(70);

/// The measurements under one name, one per sale.
struct Row {
    name: &'static str,
    times: Vec<Duration>,
}

fn main() {
    println!("pos-front's share of a sale, {SALES} sales, in microseconds\n");
    print("ZVT over TCP", &zvt::measure(CARD));
    print("ZVT over TCP, the agent has the outcome immediately", &zvt::measure(Duration::ZERO));
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

/// Converts the times of each sale into rows.
fn rows<const N: usize>(names: [&'static str; N], sales: &[[Duration; N]]) -> Vec<Row> {
    let times = |at: usize| sales.iter().map(|sale| sale[at]).collect();
    names.into_iter().enumerate().map(|(at, name)| Row { name, times: times(at) }).collect()
}
