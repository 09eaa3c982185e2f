//! The agent's share with each family of readers, side by side: three shops, whose sales alternate. A pty has no time
//! of its own, so nothing is taken off for the wire.

use std::time::Duration;

use pos_sim::reader::Family;
use pos_sim::shop::Shop;

use super::{Agent, Bench, SALES, Share, WARM_UP, ms, open_shop};

/// The permitted time from the card to the request for another family, in addition to that of Miura. It is the noise of
/// two medians.
const NOISE: Duration = Duration::from_micros(30);

/// A shop with its agent.
struct Counter {
    family: Family,
    shop: Shop,
    agent: Agent,
    shares: Vec<(Duration, Duration)>,
}

/// Measures and prints the share with each family.
pub(super) fn compare(bench: &Bench) {
    println!("each family of readers, journal in memory, {SALES} sales each, medians");
    let folder = tempfile::tempdir_in("/dev/shm").expect("a writable folder");
    let mut counters: Vec<Counter> = Family::ALL
        .into_iter()
        .map(|family| {
            let shop = open_shop(folder.path().join(family.as_str()).with_extension("db"), family);
            let agent = Agent::start(&shop);
            Counter { family, shop, agent, shares: Vec::new() }
        })
        .collect();
    for n in 0..WARM_UP + SALES {
        for counter in &mut counters {
            counter.shares.push(bench.sale(&counter.shop, n));
        }
    }
    let mut miura = Duration::ZERO;
    for Counter { family, mut agent, shares, .. } in counters {
        agent.stop();
        let share = Share::of(shares);
        if family == Family::Miura {
            miura = share.out;
        }
        let word = if share.out <= miura + NOISE { "within" } else { "ABOVE" };
        println!("  {:<28}{}   {word} Miura + {}", family.as_str(), share.words(), ms(NOISE));
    }
}
