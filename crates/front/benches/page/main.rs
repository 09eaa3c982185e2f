//! Measures how soon a cashier can use the page in Chromium, and how much is loaded for it. The real program serves the
//! page, and a stand-in for the agent answers immediately.
//!
//! | figure | meaning |
//! |---|---|
//! | usable | the time from the start of the navigation until a digit key changes the amount |
//! | document | the bytes of the first document, compressed, without its head |
//! | all | the bytes of all answers until the page and its font are loaded, compressed, without their heads |
//!
//! Each run begins with an empty cache. The slow network is Chromium's own: it delays each answer, but not the start of
//! a connection. To run the benchmark: `cargo bench -p pos-front --bench page`. It needs Chromium and its driver.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark measures and prints")]
#![allow(clippy::unwrap_used, dead_code, reason = "the process's helpers are those of the tests")]

#[path = "../share/agent.rs"]
mod agent;
#[path = "../../tests/front/process.rs"]
mod process;

use std::time::Duration;

use agent::Desk;
use pos_test_kit::browser::{Browser, Driver};
use serde_json::Value;

/// The number of times that the page is loaded over each network.
const RUNS: usize = 15;
const KIOSK: (u32, u32) = (1024, 600);
/// The slow network: 400 ms for a round trip, and 400 kbit/s.
const ROUND_TRIP: Duration = Duration::from_millis(400);
const BYTES_PER_S: u32 = 50_000;

/// Presses a digit key until the amount changes, once for each picture that the browser draws.
const PRESS: &str = "
  const press = () => {
    const [key, amount] = [document.querySelector('[data-key=\"1\"]'), document.querySelector('#amount')];
    const before = amount?.textContent;
    key?.click();
    if (amount && amount.textContent !== before) window.usableMs = performance.now();
    else requestAnimationFrame(press);
  };
  press();";
/// The condition that the page has everything.
const COMPLETE: &str = "window.usableMs && document.body.dataset.complete";
const FIGURES: &str = "
  const bytes = (kind) => performance.getEntriesByType(kind).reduce((sum, one) => sum + one.encodedBodySize, 0);
  return [window.usableMs, bytes('navigation'), bytes('navigation') + bytes('resource')];";

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let desk = Desk::begin(Duration::ZERO, &[], String::new());
    let driver = Driver::start().await;
    println!("{:<36}{:>12}{:>12}{:>14}{:>12}", "the page", "usable", "worst", "document", "all");
    measure("loopback", &desk, &driver.browser().await).await;
    let slow = driver.browser().await;
    slow.slow_network(ROUND_TRIP, BYTES_PER_S).await;
    measure("400 ms round trip, 400 kbit/s", &desk, &slow).await;
}

async fn measure(name: &str, desk: &Desk, browser: &Browser) {
    browser.resize(KIOSK).await;
    browser.run_first(PRESS).await;
    let (mut times, mut bytes) = (Vec::new(), (0, 0));
    for _ in 0..RUNS {
        browser.go("about:blank").await;
        browser.forget_files().await;
        browser.go(desk.page()).await;
        browser.until(COMPLETE).await;
        let figures = browser.run(FIGURES).await;
        times.push(figures[0].as_f64().unwrap());
        let of = |figure: &Value| figure.as_u64().unwrap();
        bytes = (bytes.0.max(of(&figures[1])), bytes.1.max(of(&figures[2])));
    }
    times.sort_by(f64::total_cmp);
    let (middle, worst) = (times[RUNS / 2], times[RUNS - 1]);
    println!("{name:<36}{middle:>9.0} ms{worst:>9.0} ms{:>12} B{:>10} B", bytes.0, bytes.1);
}
