//! A payment of a till in the cloud form, with the power cut, or the connection broken, at each of its points: the
//! message, `ok`, each answer of the agent, and the answer at the till's server. After `ok`, the till hears the outcome
//! without asking. Its final belief matches the gateway's ledger.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use pos_terms::transaction::Kind;
use tokio::time::sleep;

use crate::world::World;
use crate::world::asked::Belief;
use crate::world::bank::{Behaviour, LATE};
use crate::world::cut_points::{CUTS, Plan, PointKind};
use crate::world::nexo::NexoTill;
use crate::world::nexo::cloud::{CloudFile, CloudHeard, CloudTill, LATE_S};
use crate::world::tills::Wish;

const AMOUNT: u64 = 1250;

/// What a till does after the cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// Waits for the answer. Without `ok`, it asks for the status.
    Waits,
    /// Sends the message again if it has heard no `ok`.
    SendsAgain,
    /// Waits for a terminal that starts again too late to begin anything.
    WaitsLong,
}

/// Simulates one run of a terminal, with its restarts. Returns the till's belief, the amount at the gateway and the
/// number of points passed.
fn live(hand: &str, behaviour: Behaviour, then: Then, plan: Option<Plan>) -> (Belief, u64, usize) {
    let world = World::new(hand);
    {
        let mut state = world.lock();
        state.wishes.push(Wish::new(0, Kind::Sale, AMOUNT));
        state.bank.behaviours.push_back(behaviour);
    }
    let (belief, file, heard) = (Cell::new(Belief::Unknown), RefCell::default(), CloudHeard::default());
    world.boot(async |till| {
        till.until_ready().await;
        world.plan(plan);
        CloudTill::new(&till, &belief, &file, &heard).leaves(AMOUNT).await;
        sleep(Duration::from_secs(60)).await;
    });
    let (points, began) = {
        let state = world.lock();
        let seen = state.points.seen();
        (seen.len(), seen.contains(&PointKind::Commit))
    };
    world.plan(None);
    let before = belief.get();
    let charged = || {
        let state = world.lock();
        let sales = state.bank.ledger.iter().filter(|entry| entry.kind == "DB");
        (sales.clone().count(), sales.map(|entry| entry.stands()).sum::<u64>())
    };
    if then == Then::WaitsLong {
        let mut file: std::cell::RefMut<'_, CloudFile> = file.borrow_mut();
        file.kept.iter_mut().for_each(|(_, at)| *at = at.saturating_sub(LATE_S + 1));
    }
    world.boot(async |till| {
        till.until_ready().await;
        let mut cloud = CloudTill::new(&till, &belief, &file, &heard);
        cloud.resumes().await;
        if then == Then::SendsAgain && !heard.ok.get() && belief.get() == Belief::Unknown {
            cloud.leaves(AMOUNT).await;
        }
        if heard.ok.get() {
            assert!(heard.posted.get() > 0, "{hand} {behaviour:?} {then:?} {plan:?}: ok, and then no answer");
        }
        // The till has heard no `ok`, or that the outcome is not known yet.
        NexoTill::new(&till, &belief).learns(Duration::from_secs(8 * 3600)).await;
        sleep(LATE + Duration::from_secs(60)).await;
    });
    assert!(file.borrow().kept.is_none(), "{plan:?}: {:?}", file.borrow());
    let after = belief.get();
    assert!(before == Belief::Unknown || before == after, "{plan:?}: {before:?}, and then {after:?}");
    let (requests, charged) = charged();
    if then == Then::WaitsLong && !began {
        assert_eq!(requests, 0, "{hand} {behaviour:?} {plan:?}: it began too late");
    }
    assert_eq!(world.lock().bank.booked_twice(), 0);
    (after, charged, points)
}

#[test]
fn whatever_is_cut_a_till_with_ok_hears_what_the_bank_holds() {
    let (mut runs, mut paid) = (0, 0);
    for hand in ["on waiting: tap tap", "on waiting: insert chip-no-cvm"] {
        for behaviour in [Behaviour::Approves, Behaviour::Declines] {
            for then in [Then::Waits, Then::SendsAgain, Then::WaitsLong] {
                let (belief, charged, points) = live(hand, behaviour, then, None);
                let approves = behaviour == Behaviour::Approves;
                assert_eq!((belief == Belief::Paid(AMOUNT), charged > 0), (approves, approves), "{hand}");
                assert!(points > 15, "{points}");
                for at in 0..points {
                    for cut in CUTS {
                        let (belief, charged, _) = live(hand, behaviour, then, Some(Plan { at, cut }));
                        let believes = match belief {
                            Belief::Paid(minor) => minor,
                            Belief::NotPaid => 0,
                            Belief::Unknown => panic!("{hand} {behaviour:?} {then:?} {at} {cut:?}: it never learns"),
                        };
                        assert_eq!(believes, charged, "{hand} {behaviour:?} {then:?} {at} {cut:?}");
                        (runs, paid) = (runs + 1, paid + u32::from(believes > 0));
                    }
                }
            }
        }
    }
    println!("{runs} runs, {paid} paid");
    assert!(paid > 50 && runs - paid > 50, "{runs} runs, {paid} paid");
}
