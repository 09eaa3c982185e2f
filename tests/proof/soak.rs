//! A shop that works among hostile neighbours. The real program makes sales, payments with a stored card, and refunds.
//! At the same time there are silent and dribbling connections, floods, listings, a pulled reader, an unreachable
//! gateway, kills and clocks that jump. At the end, every transaction agrees with the gateway's ledger. Memory,
//! threads, files and answer times have not grown.
//!
//! `POS_AGENT_SOAK=1800 cargo test --test soak -- --nocapture` runs for that many seconds and prints a line for each
//! minute. Its clock jumps need Debian's `libfaketime`. Without the variable, there are too few transactions for
//! meaningful figures. The test then shows only that every transaction ends with a correct outcome.
//! `POS_AGENT_SOAK_DEALS` sets the number of transactions per till.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test may panic, and prints what it measured"
)]
#![allow(clippy::disallowed_methods, reason = "it measures how long answers take")]

#[path = "soak/books.rs"]
mod books;
#[path = "soak/neighbours.rs"]
mod neighbours;
#[path = "soak/terminal.rs"]
mod terminal;
#[path = "soak/till.rs"]
mod till;
#[path = "soak/watch.rs"]
mod watch;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use terminal::Terminal;
use till::Tills;
use watch::Watch;

/// The number of transactions per till in a plain `cargo test`.
const FEW: &str = "8";
/// The time within which every open transaction must end after the neighbours have stopped.
const PATIENCE: Duration = Duration::from_secs(180);

/// The condition that ends the run.
#[derive(Clone, Copy)]
enum Until {
    /// The run ends at this moment.
    Time(Instant),
    /// The run ends after this many transactions of each till.
    Count(usize),
}

impl Until {
    fn is_over(self, count: usize) -> bool {
        match self {
            Self::Time(end) => Instant::now() >= end,
            Self::Count(most) => count >= most,
        }
    }
}

#[test]
fn a_terminal_among_hostile_neighbours_stays_up_and_true() {
    let seconds = std::env::var("POS_AGENT_SOAK").ok().map(|text| text.parse().expect("POS_AGENT_SOAK is a number"));
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let terminal = Arc::new(Terminal::open(seconds.is_some()).await);
        let deals = std::env::var("POS_AGENT_SOAK_DEALS").unwrap_or_else(|_| FEW.to_owned());
        let deals = deals.parse().expect("POS_AGENT_SOAK_DEALS is a number");
        let until =
            seconds.map_or(Until::Count(deals), |seconds| Until::Time(Instant::now() + Duration::from_secs(seconds)));
        soak(terminal, until).await;
    });
}

async fn soak(terminal: Arc<Terminal>, until: Until) {
    let over = Arc::new(AtomicBool::new(false));
    let tills = Arc::new(Tills::new(&terminal));
    let watch = Arc::new(Watch::default());
    let trouble: Vec<_> = [
        tokio::spawn(neighbours::silent(Arc::clone(&terminal))),
        tokio::spawn(neighbours::dribbling(Arc::clone(&terminal))),
        tokio::spawn(neighbours::shouting(Arc::clone(&terminal))),
        tokio::spawn(neighbours::deaf_listeners(Arc::clone(&terminal))),
        tokio::spawn(neighbours::listings(Arc::clone(&terminal))),
        tokio::spawn(neighbours::cable(Arc::clone(&terminal))),
        tokio::spawn(neighbours::floods(Arc::clone(&terminal))),
        tokio::spawn(neighbours::gateway(Arc::clone(&terminal))),
        tokio::spawn(neighbours::kills(Arc::clone(&terminal))),
        tokio::spawn(neighbours::clocks(Arc::clone(&terminal))),
    ]
    .into_iter()
    .collect();
    let running = tokio::spawn({
        let (terminal, over) = (Arc::clone(&terminal), Arc::clone(&over));
        async move { terminal.keep_running(&over).await }
    });
    let customer = tokio::spawn(till::customer(Arc::clone(&terminal)));
    let measuring = tokio::spawn(watch::measure(Arc::clone(&watch), Arc::clone(&terminal), Arc::clone(&tills)));
    let cashier = tills.cashier(until);
    let stored = tills.stored_cards(until);
    tokio::join!(cashier, stored);
    for task in trouble {
        task.abort();
        let _ = task.await;
    }
    terminal.everything_is_well_again().await;
    let open = tokio::time::timeout(PATIENCE, tills.until_settled()).await;
    measuring.abort();
    customer.abort();
    over.store(true, Ordering::SeqCst);
    watch.print();
    let deals = tills.deals();
    let (wrong, counts) = books::judge(&terminal.shop.gateway.ledger(), &deals);
    println!("{counts}");
    assert!(open.is_ok(), "not settled within {} s: {:#?}", PATIENCE.as_secs(), tills.open());
    assert!(wrong.is_empty(), "{} VIOLATIONS\n{}\n{}", wrong.len(), wrong.join("\n"), terminal.log_end());
    watch.is_flat();
    running.abort();
    assert!(
        running.await.is_err_and(|ended| ended.is_cancelled()),
        "the agent ended by itself\n{}",
        terminal.log_end()
    );
}
