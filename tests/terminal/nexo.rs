//! A nexo payment with the power cut, or the connection broken, at each of its points. The till queries the status or
//! repeats its message. Its final belief matches the gateway's ledger.

use std::cell::Cell;
use std::time::Duration;

use pos_terms::transaction::Kind;
use tokio::time::sleep;

use crate::world::World;
use crate::world::asked::Belief;
use crate::world::bank::{Behaviour, LATE};
use crate::world::cut_points::{CUTS, Plan};
use crate::world::nexo::NexoTill;
use crate::world::tills::Wish;

const AMOUNT: u64 = 1250;

/// The moment when the till aborts its payment: the number of its requests so far, and the delay after the last one.
type Stop = Option<(usize, Duration)>;

/// Simulates one run of a terminal, with its restarts. Returns the till's belief, the amount at the gateway, the number
/// of points passed, and the number of requests that the payment took.
fn live(
    hand: &str,
    behaviour: Behaviour,
    (again, stop): (bool, Stop),
    plan: Option<Plan>,
) -> (Belief, u64, usize, usize) {
    let world = World::new(hand);
    {
        let mut state = world.lock();
        state.wishes.push(Wish::new(0, Kind::Sale, AMOUNT));
        state.bank.behaviours.push_back(behaviour);
    }
    let (belief, asked) = (Cell::new(Belief::Unknown), Cell::new(0));
    world.boot(async |till| {
        till.until_ready().await;
        world.plan(plan);
        let mut nexo = NexoTill::new(&till, &belief).that_aborts(stop);
        nexo.pays(AMOUNT).await;
        asked.set(nexo.asked);
        sleep(Duration::from_secs(60)).await;
    });
    let points = world.lock().points.seen().len();
    world.plan(None);
    let before = belief.replace(Belief::Unknown);
    world.boot(async |till| {
        till.until_ready().await;
        let mut nexo = NexoTill::new(&till, &belief);
        if again && before == Belief::Unknown {
            nexo.pays(AMOUNT).await;
        }
        nexo.learns(Duration::from_secs(8 * 3600)).await;
        sleep(LATE + Duration::from_secs(60)).await;
    });
    let after = belief.get();
    assert!(before == Belief::Unknown || before == after, "{plan:?}: {before:?}, and then {after:?}");
    let state = world.lock();
    let charged = state.bank.ledger.iter().filter(|entry| entry.kind == "DB").map(|entry| entry.stands()).sum();
    assert_eq!(state.bank.booked_twice(), 0);
    (after, charged, points, asked.get())
}

#[test]
fn whatever_is_cut_the_till_believes_what_the_bank_holds() {
    let (mut runs, mut paid) = (0, 0);
    for hand in ["on waiting: tap tap", "on waiting: insert chip-no-cvm"] {
        for behaviour in [Behaviour::Approves, Behaviour::Declines] {
            for again in [false, true] {
                let (belief, charged, points, _) = live(hand, behaviour, (again, None), None);
                let approves = behaviour == Behaviour::Approves;
                assert_eq!((belief == Belief::Paid(AMOUNT), charged > 0), (approves, approves), "{hand}");
                assert!(points > 15, "{points}");
                for at in 0..points {
                    for cut in CUTS {
                        let (belief, charged, ..) = live(hand, behaviour, (again, None), Some(Plan { at, cut }));
                        let believes = match belief {
                            Belief::Paid(minor) => minor,
                            Belief::NotPaid => 0,
                            Belief::Unknown => panic!("{hand} {behaviour:?} {at} {cut:?}: it never learns"),
                        };
                        assert_eq!(believes, charged, "{hand} {behaviour:?} {again} {at} {cut:?}");
                        (runs, paid) = (runs + 1, paid + u32::from(believes > 0));
                    }
                }
            }
        }
    }
    println!("{runs} runs, {paid} paid");
    assert!(paid > 50 && runs - paid > 50, "{runs} runs, {paid} paid");
}

#[test]
fn wherever_a_payment_is_stopped_the_till_believes_what_the_bank_holds() {
    let (mut runs, mut stopped, mut paid) = (0, 0, 0);
    let mut holds = |hand: &str, stop: Stop, plan: Option<Plan>| {
        let (belief, charged, ..) = live(hand, Behaviour::Approves, (false, stop), plan);
        let believes = match belief {
            Belief::Paid(minor) => minor,
            Belief::NotPaid => 0,
            Belief::Unknown => panic!("{hand} {stop:?} {plan:?}: it never learns"),
        };
        assert_eq!(believes, charged, "{hand} {stop:?} {plan:?}");
        (runs, stopped, paid) = (runs + 1, stopped + u32::from(believes == 0), paid + u32::from(believes > 0));
    };
    for hand in ["on waiting: tap tap", "on waiting: insert chip-no-cvm"] {
        let (_, _, points, asked) = live(hand, Behaviour::Approves, (false, None), None);
        assert!(asked > 4, "{asked}");
        for before in 0..asked {
            for later_ms in [0, 100, 500, 1000, 2000, 5000, 60_000] {
                holds(hand, Some((before, Duration::from_millis(later_ms))), None);
            }
            for at in 0..points {
                for cut in CUTS {
                    holds(hand, Some((before, Duration::ZERO)), Some(Plan { at, cut }));
                }
            }
        }
    }
    println!("{runs} runs, {stopped} stopped, {paid} paid");
    assert!(stopped > 50 && paid > 50, "{runs} runs, {stopped} stopped, {paid} paid");
}
