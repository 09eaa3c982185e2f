//! A payment by ZVT with the power cut, or the line broken, at each of its points: what the till believes in the end is
//! what the bank's ledger holds.

use std::cell::Cell;
use std::time::Duration;

use pos_agent::transaction::{Kind, OnSilence};
use tokio::time::sleep;

use crate::world::World;
use crate::world::asked::Belief;
use crate::world::bank::{Behaviour, LATE};
use crate::world::cut_points::{CUTS, Plan};
use crate::world::tills::Wish;
use crate::world::zvt::ZvtTill;

const AMOUNT: u64 = 1250;

/// One life of a terminal: what the till believes, what the bank holds, and the points that were passed.
fn live(hand: &str, behaviour: Behaviour, unacknowledged: OnSilence, plan: Option<Plan>) -> (Belief, u64, usize) {
    let world = World::new(hand);
    {
        let mut state = world.lock();
        state.wishes.push(Wish::new(0, Kind::Sale, AMOUNT));
        state.bank.behaviours.push_back(behaviour);
    }
    let belief = Cell::new(Belief::Unknown);
    world.boot(async |till| {
        till.until_ready().await;
        world.plan(plan);
        ZvtTill::new(&till, unacknowledged, &belief).pays(AMOUNT).await;
        sleep(Duration::from_secs(60)).await;
    });
    let points = world.lock().points.seen().len();
    world.plan(None);
    let paid = belief.get();
    if paid != Belief::Unknown {
        // It asks all the same, as a till does that was switched off: the answer is the same.
        belief.set(Belief::Unknown);
    }
    world.boot(async |till| {
        till.until_ready().await;
        ZvtTill::new(&till, unacknowledged, &belief).learns(Duration::from_secs(8 * 3600)).await;
        sleep(LATE + Duration::from_secs(60)).await;
    });
    assert!(paid == Belief::Unknown || paid == belief.get(), "{plan:?}: {paid:?}, and then {:?}", belief.get());
    let state = world.lock();
    let charged = state.bank.ledger.iter().filter(|entry| entry.kind == "DB").map(|entry| entry.stands()).sum();
    assert_eq!(state.bank.booked_twice(), 0);
    (belief.get(), charged, points)
}

#[test]
fn whatever_is_cut_the_till_believes_what_the_bank_holds() {
    let (mut runs, mut paid) = (0, 0);
    for hand in ["on waiting: tap tap", "on waiting: insert chip-no-cvm"] {
        for behaviour in [Behaviour::Approves, Behaviour::Declines] {
            for unacknowledged in [OnSilence::Reverse, OnSilence::Keep] {
                let (belief, charged, points) = live(hand, behaviour, unacknowledged, None);
                let approves = behaviour == Behaviour::Approves;
                assert_eq!((belief == Belief::Paid(AMOUNT), charged > 0), (approves, approves), "{hand}");
                assert!(points > 15, "{points}");
                for at in 0..points {
                    for cut in CUTS {
                        let (belief, charged, _) = live(hand, behaviour, unacknowledged, Some(Plan { at, cut }));
                        let believes = match belief {
                            Belief::Paid(minor) => minor,
                            Belief::NotPaid => 0,
                            Belief::Unknown => panic!("{hand} {behaviour:?} {at} {cut:?}: it never learns"),
                        };
                        assert_eq!(believes, charged, "{hand} {behaviour:?} {unacknowledged:?} {at} {cut:?}");
                        (runs, paid) = (runs + 1, paid + u32::from(believes > 0));
                    }
                }
            }
        }
    }
    println!("{runs} runs, {paid} paid");
    assert!(paid > 50 && runs - paid > 50, "{runs} runs, {paid} paid");
}
