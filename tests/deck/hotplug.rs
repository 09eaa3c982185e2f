//! The reader's cable is pulled and put back at seeded random moments, while the reader is idle and during sales. After
//! each pull, the terminal works, and the till's result matches the ledger. A moment is the n-th event or command at
//! the simulated reader, never a time.
//!
//! `POS_AGENT_SEED=N` draws other moments.

use crate::row::End::{Approved, Declined, Nothing, Reversed};
use crate::row::{Moment, Row, run};
use pos_sim::reader::CardEntry;
use pos_sim::reader::card;

/// The cable is pulled at least this many times.
const PULLS: usize = 200;
/// The number of sales per round. Some of the drawn moments do not occur in their sale.
const ROUND: usize = 160;
/// The number of shops that run at the same time. The tests mostly wait until a port is opened again.
const SHOPS: usize = 24;

const CARDS: &[(&str, CardEntry)] = &[
    ("chip-pin", CardEntry::Insert),
    ("chip-choice", CardEntry::Insert),
    ("chip-offline", CardEntry::Insert),
    ("chip-offline-pin", CardEntry::Insert),
    ("chip-broken", CardEntry::Insert),
    ("expired", CardEntry::Insert),
    ("tap", CardEntry::Tap),
    ("tap-pin", CardEntry::Tap),
    ("tap-insert", CardEntry::Tap),
    ("swipe", CardEntry::Swipe),
    ("swipe-pin", CardEntry::Swipe),
];

const EVENTS: &[&str] =
    &["waiting", "inserted", "start", "choice", "pin", "answer", "asked", "continue", "ended", "removed"];

#[tokio::test]
async fn a_cable_that_is_pulled_again_and_again_leaves_a_working_terminal() {
    let seed = std::env::var("POS_AGENT_SEED").ok().map_or(1, |seed| seed.parse().expect("POS_AGENT_SEED is a number"));
    println!("POS_AGENT_SEED={seed}");
    let mut random = Random(seed);
    let (mut pulls, mut sales) = (0, 0);
    while pulls < PULLS {
        let rows = (0..ROUND).map(|_| row(&mut random)).collect();
        pulls += run("sales with a cable that is pulled", SHOPS, rows).await;
        sales += ROUND;
    }
    println!("{pulls} times put back, in and after {sales} sales");
}

/// Draws a sale in which the cable is pulled once or twice.
fn row(random: &mut Random) -> Row {
    let &(name, entry) = random.of(CARDS);
    let (at, script) = match random.below(10) {
        // The cable is pulled after the sale, while the reader is idle.
        0 => (Moment::After, "after 0ms: unplug 1ms".to_owned()),
        // It is pulled while the agent waits for the gateway.
        1 => (Moment::Host, "after 0ms: unplug 1ms".to_owned()),
        // It is pulled again while the agent starts the reader again.
        2 | 3 => {
            let first = 1 + random.below(3);
            let again = first + 1 + random.below(7);
            (Moment::Waiting, format!("on frame {first}: unplug 1ms\non frame {again}: unplug 1ms"))
        }
        4 | 5 => (Moment::Waiting, format!("on frame {}: unplug 1ms", 1 + random.below(5))),
        _ => (Moment::Waiting, format!("on {} 1: unplug 1ms", random.of(EVENTS))),
    };
    let usual = if name == "expired" { Declined } else { Approved };
    let pulled = Row::plain(card(name).unwrap(), entry, usual);
    Row {
        what: format!("{} with {script:?} at {at:?}", pulled.what),
        amount: if at == Moment::Host { "10.61" } else { "12.34" }.to_owned(),
        script,
        at,
        starts_again: at == Moment::After,
        allowed: vec![usual, Nothing, Reversed],
        ..pulled
    }
}

/// SplitMix64, a pseudo-random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[usize::try_from(self.below(list.len() as u64)).unwrap()]
    }
}
