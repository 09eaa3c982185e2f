//! A sale of a cloud till with the power cut, or a connection broken, at each of its points. The till hears what the
//! gateway's ledger says, and there is at most one payment.

use std::cell::Cell;
use std::time::Duration;

use pos_terms::transaction::{Kind, OnSilence};
use pos_test_kit::signed;
use tokio::time::sleep;

use crate::world::World;
use crate::world::asked::Belief;
use crate::world::bank::{Behaviour, LATE};
use crate::world::cloud::{CloudDatabase, CloudManner, CloudTill, TILL};
use crate::world::cut_points::{CUTS, Plan, PointKind};
use crate::world::tills::Wish;

const AMOUNT: u64 = 1250;
const HANDS: [&str; 2] = ["on waiting: tap tap", "on waiting: insert chip-no-cvm"];

/// The result of one run of a terminal.
struct Lived {
    believes: Belief,
    /// The amount that the gateway has charged.
    charged: u64,
    points: Vec<PointKind>,
}

fn live(hand: &str, behaviour: Behaviour, manner: CloudManner, plan: Option<Plan>) -> Lived {
    let world = World::new(hand);
    {
        let mut state = world.lock();
        let wish = Wish { till: TILL.to_owned(), ..Wish::new(0, Kind::Sale, AMOUNT) };
        state.wishes.push(wish);
        state.fleet = signed::section();
        state.bank.behaviours.push_back(behaviour);
    }
    let (belief, database) = (Cell::new(Belief::Unknown), CloudDatabase::default());
    world.boot(async |till| {
        till.until_ready().await;
        let cloud = CloudTill::connect(&till, &database, &belief, manner).await;
        world.plan(plan);
        cloud.pays(AMOUNT).await;
        sleep(Duration::from_secs(60)).await;
    });
    let points = world.lock().points.seen().to_vec();
    world.plan(None);
    world.boot(async |till| {
        till.until_ready().await;
        // The server offers what has no final result, with the earlier nonce.
        let cloud = CloudTill::connect(&till, &database, &belief, manner).await;
        cloud.learns(Duration::from_secs(8 * 3600)).await;
        sleep(LATE + Duration::from_secs(60)).await;
    });
    let state = world.lock();
    let charged = state.bank.ledger.iter().filter(|entry| entry.kind == "DB").map(|entry| entry.stands()).sum();
    assert_eq!(state.bank.booked_twice(), 0);
    Lived { believes: belief.get(), charged, points }
}

/// Checks that the till's belief matches the gateway. Returns whether there is a payment.
fn agrees(lived: &Lived, case: &str) -> bool {
    let believes = match lived.believes {
        Belief::Paid(minor) => minor,
        Belief::NotPaid => 0,
        Belief::Unknown => panic!("{case}: it never learns"),
    };
    assert_eq!(believes, lived.charged, "{case}");
    believes > 0
}

/// The behaviours of cloud tills that are cut at each point.
fn manners() -> Vec<CloudManner> {
    let plain = CloudManner::default();
    let confirms = |on_silence| CloudManner { confirms: Some(on_silence), ..plain };
    vec![
        plain,
        confirms(OnSilence::Reverse),
        confirms(OnSilence::Keep),
        CloudManner { twice: true, ..plain },
        CloudManner { cancels: true, ..plain },
    ]
}

#[test]
fn whatever_is_cut_the_cloud_till_hears_what_the_bank_holds() {
    let (mut runs, mut paid) = (0, 0);
    for hand in HANDS {
        for behaviour in [Behaviour::Approves, Behaviour::Declines] {
            for manner in manners() {
                // A chip is cut for the till that confirms; a tap, for all.
                if hand == HANDS[1] && manner.confirms != Some(OnSilence::Reverse) {
                    continue;
                }
                let uncut = live(hand, behaviour, manner, None);
                let case = format!("{hand} {behaviour:?} {manner:?}");
                let approves = behaviour == Behaviour::Approves && !manner.cancels;
                assert!(manner.cancels || agrees(&uncut, &case) == approves, "{case}");
                assert!(uncut.points.contains(&PointKind::Commit), "{case}");
                for at in 0..uncut.points.len() {
                    for cut in CUTS {
                        let case = format!("{case} {at} {:?} {cut:?}", uncut.points[at]);
                        let lived = live(hand, behaviour, manner, Some(Plan { at, cut }));
                        (runs, paid) = (runs + 1, paid + u32::from(agrees(&lived, &case)));
                    }
                }
            }
        }
    }
    println!("{runs} runs, {paid} paid");
    assert!(paid > 50 && runs - paid > 50, "{runs} runs, {paid} paid");
}

#[test]
fn whatever_the_bank_does_the_cloud_till_learns_it() {
    for behaviour in Behaviour::ALL {
        for manner in manners() {
            agrees(&live(HANDS[0], behaviour, manner, None), &format!("{behaviour:?} {manner:?}"));
        }
    }
}
