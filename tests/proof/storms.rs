//! Storms: shops with several tills and many sales, in which several random faults occur at the same time. The faults
//! affect power, gateway, reader, printer, disk, clock, token and certificate. Then the faults end, and every
//! transaction must be resolved automatically. The ledger, the messages to the tills and the receipts must agree
//! (`world/verdict.rs`). The closes of day that a person makes meanwhile must agree with the ledger, except for the
//! transactions that they list as open (`world/closes.rs`).
//!
//! A seed gives the same storm each time: `POS_AGENT_SEED=17 cargo test --test storms -- --nocapture`. A storm that
//! fails prints its story. `POS_AGENT_STORMS=100000` runs that many storms. The seed also chooses the reader's family,
//! and `POS_READER_FAMILY=miura|vipa|neo2` selects one for all storms.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]
#![allow(clippy::disallowed_methods, reason = "the rate is printed; nothing is decided by it")]
#![allow(clippy::float_arithmetic, reason = "as above")]
#![allow(clippy::print_stdout, reason = "the story of one storm is for who asks for it by its seed")]

#[path = "storms/stored_names.rs"]
mod stored_names;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pos_sim::reader::Family;
use pos_test_kit::{families, world};
use tokio::time::sleep;
use world::World;
use world::disturbances::{self, DISTURBANCES, Dice, Disturbance};
use world::host_rules::{self, HostRules};
use world::tills::{Till, TillResult, Wish};
use world::verdict::{Broken, EndState, Violation};

/// The number of storms in a plain `cargo test`, which stays short.
const FEW: u64 = 300;
/// The number of boards in one storm, which limits the power cuts.
const BOARDS: usize = 4;

/// The result of a storm.
struct Storm {
    host_rules: HostRules,
    /// The family of the reader.
    family: Family,
    violations: Vec<Violation>,
    /// All visible events, if the storm failed.
    story: String,
    /// The kinds of the requests.
    kinds: Vec<&'static str>,
    /// The tills' confirmations, and the setting for silence in their requests.
    confirmed: Vec<String>,
    ends: Vec<EndState>,
    boards: usize,
    faults: Vec<Disturbance>,
    /// The number of payments that the permissive gateway booked twice for one request.
    twice: usize,
    closes: usize,
    /// The number of closes with open transactions.
    open: usize,
    /// The storm's duration in virtual time.
    lasted: Duration,
    /// The names in the last board's journal.
    names: BTreeSet<String>,
}

fn storm(seed: u64) -> Storm {
    let mut dice = Dice::new(seed);
    let family = families::of_number(seed);
    let world = World::of_family(family, &disturbances::customers(&mut dice));
    let host_rules = dice.pick(host_rules::played());
    {
        let bank = &mut world.lock().bank;
        bank.host_rules = host_rules;
        bank.redirects = dice.pick(&[0, 0, 1, 3, 7]);
        bank.asked_by_post = dice.once_in(2);
    }
    disturbances::wishes(&world, &mut dice);
    let count = world.lock().wishes.len();
    let faults = Mutex::new(Vec::new());
    // The number of requested closes. If the answer to a close was lost, the close is requested again at the end.
    let asked = AtomicU64::new(0);
    let mut boards = 0;
    while boards < BOARDS {
        boards += 1;
        let (mut outside, inside) = (Dice::new(dice.roll()), dice.roll());
        let day = dice.ms(300_000);
        let end = world.boot(async |till| {
            let weather = async {
                for _ in 0..outside.below(4) {
                    sleep(outside.ms(30_000)).await;
                    let fault = outside.pick(&DISTURBANCES);
                    if fault == Disturbance::GatewayAwayForDays && !outside.once_in(6) {
                        continue;
                    }
                    faults.lock().unwrap().push(fault);
                    disturbances::happens(&world, fault, &mut outside).await;
                }
                sleep(day).await;
            };
            tokio::select! {
                () = weather => {}
                () = async { tokio::join!(shop(&till, &world, inside), days(till.another(), &asked, inside)); } => {}
            }
        });
        if end == world::board::End::Done && dice.once_in(2) {
            break;
        }
        // Messages in transit reach the gateway while there is no power.
        world.wait(dice.ms(600_000));
    }
    world.heal();
    world.boot(async |mut till| {
        till.until_ready().await;
        for wish in 0..count {
            till.look(wish).await;
            till.until_final(wish, Duration::from_secs(5 * 24 * 3600)).await;
        }
        sleep(Duration::from_secs(300)).await;
        // After a start, the agent retries a transaction that waits for a person, so it may have ended since.
        for wish in 0..count {
            till.look(wish).await;
            till.until_rest_is_final(wish, Duration::from_secs(5 * 24 * 3600)).await;
        }
        let last = asked.fetch_add(1, Ordering::Relaxed);
        for number in 0..=last {
            assert!(till.close(&format!("Z{number}")).await, "everything works again, and no close is told");
        }
    });
    world.judge_closes();
    let (violations, ends) = world.judge();
    let faults = faults.into_inner().unwrap();
    let story = if violations.is_empty() { String::new() } else { world.story() };
    let names = stored_names::of(&world.journal());
    let state = world.lock();
    let kinds = state.wishes.iter().map(|wish| wish.kind.as_str()).collect();
    let confirmed = state.wishes.iter().filter_map(Wish::was_asked_to_confirm).collect();
    let twice = state.bank.booked_twice();
    let (closes, open) = (state.closes.len(), state.closes.iter().filter(|heard| !heard.close.open.is_empty()).count());
    Storm {
        host_rules,
        family,
        violations,
        story,
        kinds,
        confirmed,
        ends,
        boards,
        faults,
        twice,
        closes,
        open,
        lasted: state.now(),
        names,
    }
}

/// Closes the day at random times, even during transactions. Sometimes requests the same close again.
async fn days(till: Till, asked: &AtomicU64, seed: u64) {
    let mut dice = Dice::new(seed ^ 0xC105E);
    for _ in 0..dice.below(4) {
        sleep(dice.ms(60_000)).await;
        let number = asked.fetch_add(1, Ordering::Relaxed);
        let again = if dice.once_in(3) { dice.below(number + 1) } else { number };
        let (one, other) = (format!("Z{number}"), format!("Z{again}"));
        tokio::join!(till.close(&one), async {
            if dice.once_in(2) {
                sleep(dice.ms(3)).await;
                till.close(&other).await;
            }
        });
    }
}

/// Runs three tills at the same time, each with its requests in order.
async fn shop(till: &Till, world: &World, seed: u64) {
    let mut dice = Dice::new(seed);
    let seeds = [dice.roll(), dice.roll(), dice.roll()];
    let one = |number: usize| one_till(till.another(), world, number, seeds[number]);
    tokio::join!(one(0), one(1), one(2));
}

async fn one_till(mut till: Till, world: &World, number: usize, seed: u64) {
    let mut dice = Dice::new(seed);
    let name = format!("till-{}", number + 1);
    let own = |(at, wish): (usize, &Wish)| (wish.till == name).then_some(at);
    let wishes: Vec<usize> = world.lock().wishes.iter().enumerate().filter_map(own).collect();
    for wish in wishes {
        sleep(dice.ms(8000)).await;
        // Before it refers to a transaction, a till mostly waits until the transaction has ended.
        let patience = if dice.once_in(6) { 0 } else { 1 + dice.below(120) };
        for _ in 0..patience {
            if world.lock().earlier_has_ended(wish) {
                break;
            }
            sleep(Duration::from_secs(1)).await;
        }
        for _ in 0..1 + dice.below(4) {
            match world.lock().wishes[wish].told.last() {
                Some(told) if told.is_final() && !matches!(told, TillResult::Unknown(_)) => break,
                _ => {}
            }
            // A till without an answer repeats its request.
            till.ask(wish).await;
            if dice.once_in(8) {
                sleep(dice.ms(3000)).await;
                till.cancel(wish).await;
            }
            till.until_final(wish, dice.ms(90_000)).await;
            sleep(dice.ms(4000)).await;
        }
    }
}

/// The totals of all storms.
#[derive(Default)]
struct Tally {
    storms: u64,
    wishes: usize,
    boards: usize,
    faults: BTreeMap<Disturbance, usize>,
    ends: BTreeMap<EndState, usize>,
    /// The numbers of transactions, by gateway and kind.
    kinds: BTreeMap<(HostRules, &'static str), usize>,
    /// The numbers of storms and of transactions, by the reader's family.
    families: BTreeMap<&'static str, (u64, usize)>,
    confirmed: BTreeMap<String, usize>,
    twice: BTreeMap<HostRules, usize>,
    closes: usize,
    open: usize,
    lasted: Duration,
    names: BTreeSet<String>,
    wrong: Vec<String>,
    broken: Broken,
}

#[test]
fn after_every_storm_ledger_tills_and_receipts_agree() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let (first, storms) = match (number("POS_AGENT_SEED"), number("POS_AGENT_STORMS")) {
        (Some(seed), storms) => (seed, storms.unwrap_or(1)),
        (None, storms) => (1, storms.unwrap_or(FEW)),
    };
    let (next, tally) = (AtomicU64::new(0), Mutex::new(Tally::default()));
    let start = Instant::now();
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= storms {
                        return;
                    }
                    let seed = first + number;
                    let storm = storm(seed);
                    let mut tally = tally.lock().unwrap();
                    tally.storms += 1;
                    tally.wishes += storm.ends.len();
                    tally.boards += storm.boards + 1;
                    tally.lasted += storm.lasted;
                    tally.closes += storm.closes;
                    if number < FEW {
                        tally.names.extend(storm.names);
                    }
                    tally.open += storm.open;
                    let of_family = tally.families.entry(storm.family.as_str()).or_default();
                    *of_family = (of_family.0 + 1, of_family.1 + storm.ends.len());
                    for fault in storm.faults {
                        *tally.faults.entry(fault).or_default() += 1;
                    }
                    for kind in storm.kinds {
                        *tally.kinds.entry((storm.host_rules, kind)).or_default() += 1;
                    }
                    for said in storm.confirmed {
                        *tally.confirmed.entry(said).or_default() += 1;
                    }
                    *tally.twice.entry(storm.host_rules).or_default() += storm.twice;
                    for end in storm.ends {
                        *tally.ends.entry(end).or_default() += 1;
                    }
                    if storms == 1 {
                        println!("{}", storm.story);
                    }
                    let place = format!("{:?}, {:?}, POS_AGENT_SEED={seed}", storm.host_rules, storm.family);
                    tally.broken.add(&storm.violations, &place);
                    tally.wrong.extend(storm.violations.iter().map(|violation| format!("{place}: {violation}")));
                }
            });
        }
    });
    let tally = tally.into_inner().unwrap();
    let took = start.elapsed();
    println!(
        "storms {}, transactions {}, boards booted {}, {} days of shop in {:.1} s: {:.0} storms and {:.0} transactions a second, \
         violations {}",
        tally.storms,
        tally.wishes,
        tally.boards,
        tally.lasted.as_secs() / 86_400,
        took.as_secs_f64(),
        tally.storms as f64 / took.as_secs_f64(),
        tally.wishes as f64 / took.as_secs_f64(),
        tally.wrong.len()
    );
    println!("  closes of day: {}, of them with something open {}", tally.closes, tally.open);
    println!("  storms and transactions by reader: {:?}", tally.families);
    println!("  faults: {:?}", tally.faults);
    println!("  end states: {:?}", tally.ends);
    println!("  tills that were asked to confirm: {:?}", tally.confirmed);
    for (host_rules, twice) in &tally.twice {
        let kinds: Vec<_> = (tally.kinds.iter())
            .filter(|((of, _), _)| of == host_rules)
            .map(|((_, kind), count)| format!("{kind} {count}"))
            .collect();
        println!("  {host_rules:?}: {}; booked twice of one request: {twice}", kinds.join(", "));
    }
    assert!(
        tally.wrong.is_empty(),
        "{} violations\n{}{}",
        tally.wrong.len(),
        tally.broken,
        tally.wrong[..tally.wrong.len().min(20)].join("\n")
    );
    if storms >= FEW {
        // The names include those of each reader's files.
        let of_every_reader = first == 1 && families::only().is_none();
        let changed = stored_names::changed(&tally.names);
        assert!(changed.is_empty() || !of_every_reader, "the names that a journal keeps:\n{}", changed.join("\n"));
        for family in families::played() {
            assert!(tally.families.contains_key(family.as_str()), "no storm with a {} reader", family.as_str());
        }
        for host_rules in host_rules::played() {
            assert!(tally.twice.contains_key(host_rules), "no storm with the {host_rules:?} gateway");
        }
        assert_eq!(tally.confirmed.len(), 8, "not every answer to what a till was asked to confirm");
        for fault in DISTURBANCES {
            assert!(tally.faults.contains_key(&fault), "no storm with {fault:?}");
        }
        for end in world::verdict::END_STATES {
            assert!(tally.ends.contains_key(&end), "no storm ended with {end:?}");
        }
    }
}
