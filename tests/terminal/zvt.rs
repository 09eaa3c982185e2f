//! A ZVT payment with the power cut, or the connection broken, at each of its points. The till's final belief matches
//! the gateway's ledger.

use std::cell::Cell;
use std::time::Duration;

use pos_terms::transaction::{Kind, OnSilence};
use tokio::time::sleep;

use crate::world::World;
use crate::world::asked::Belief;
use crate::world::bank::{Behaviour, LATE};
use crate::world::cut_points::{CUTS, Plan};
use crate::world::tills::Wish;
use crate::world::zvt::{Manner, ZvtTill};

const AMOUNT: u64 = 1250;

/// The result of one run of a terminal.
struct Lived {
    believes: Belief,
    /// The amount that the gateway has charged.
    charged: u64,
    /// The number of points passed. The next field is the number of the payment's frames that the till received.
    points: usize,
    heard: usize,
    /// True if the till gave up waiting.
    gave_up: bool,
}

fn live(hand: &str, behaviour: Behaviour, manner: Manner, plan: Option<Plan>) -> Lived {
    let world = World::new(hand);
    {
        let mut state = world.lock();
        state.wishes.push(Wish::new(0, Kind::Sale, AMOUNT));
        state.bank.behaviours.push_back(behaviour);
    }
    let (belief, heard, gave_up) = (Cell::new(Belief::Unknown), Cell::new(0), Cell::new(false));
    world.boot(async |till| {
        till.until_ready().await;
        world.plan(plan);
        let mut zvt = ZvtTill::new(&till, manner, &belief);
        zvt.pays(AMOUNT).await;
        heard.set(zvt.heard());
        gave_up.set(zvt.gave_up());
        sleep(Duration::from_secs(60)).await;
    });
    let points = world.lock().points.seen().len();
    world.plan(None);
    let paid = belief.get();
    if paid != Belief::Unknown {
        // The till asks again, as after it was switched off, and gets the same answer.
        belief.set(Belief::Unknown);
    }
    world.boot(async |till| {
        till.until_ready().await;
        let manner = Manner::new(manner.unacknowledged);
        ZvtTill::new(&till, manner, &belief).learns(Duration::from_secs(8 * 3600)).await;
        sleep(LATE + Duration::from_secs(60)).await;
    });
    assert!(paid == Belief::Unknown || paid == belief.get(), "{plan:?}: {paid:?}, and then {:?}", belief.get());
    let state = world.lock();
    let charged = state.bank.ledger.iter().filter(|entry| entry.kind == "DB").map(|entry| entry.stands()).sum();
    assert_eq!(state.bank.booked_twice(), 0);
    Lived { believes: belief.get(), charged, points, heard: heard.get(), gave_up: gave_up.get() }
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

const HANDS: [&str; 2] = ["on waiting: tap tap", "on waiting: insert chip-no-cvm"];
const RULES: [OnSilence; 2] = [OnSilence::Reverse, OnSilence::Keep];

#[test]
fn whatever_is_cut_the_till_believes_what_the_bank_holds() {
    let (mut runs, mut paid) = (0, 0);
    for hand in HANDS {
        for behaviour in [Behaviour::Approves, Behaviour::Declines] {
            for manner in RULES.map(Manner::new) {
                let uncut = live(hand, behaviour, manner, None);
                let approves = behaviour == Behaviour::Approves;
                assert_eq!((uncut.believes == Belief::Paid(AMOUNT), uncut.charged > 0), (approves, approves), "{hand}");
                assert!(uncut.points > 15, "{}", uncut.points);
                for at in 0..uncut.points {
                    for cut in CUTS {
                        let case = format!("{hand} {behaviour:?} {manner:?} {at} {cut:?}");
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
fn an_abort_after_any_frame_leaves_no_doubt() {
    let (mut runs, mut paid) = (0, 0);
    for hand in HANDS {
        for behaviour in [Behaviour::Approves, Behaviour::Declines, Behaviour::AnswersLate] {
            for hears in [false, true] {
                for manner in RULES.map(|rule| Manner { hears, ..Manner::new(rule) }) {
                    let frames = live(hand, behaviour, manner, None).heard;
                    for after in 1..=frames {
                        let case = format!("{hand} {behaviour:?} {manner:?} {after}");
                        let lived = live(hand, behaviour, Manner { aborts_after: Some(after), ..manner }, None);
                        (runs, paid) = (runs + 1, paid + u32::from(agrees(&lived, &case)));
                    }
                }
            }
        }
    }
    println!("{runs} runs, {paid} paid");
    assert!(paid > 10 && runs - paid > 10, "{runs} runs, {paid} paid");
}

#[test]
fn no_till_waits_longer_than_it_will_and_one_that_hangs_up_sooner_learns_the_truth() {
    let (mut runs, mut gone, mut paid) = (0, 0, 0);
    for behaviour in Behaviour::ALL {
        for hears in [false, true] {
            for manner in RULES.map(|rule| Manner { hears, ..Manner::new(rule) }) {
                // The till gives up neither with 180 s for the whole payment nor with 180 s between two frames.
                let lived = live(HANDS[0], behaviour, manner, None);
                assert!(!lived.gave_up, "{behaviour:?} {manner:?}");
                agrees(&lived, &format!("{behaviour:?} {manner:?}"));
                for patience in [1, 5, 20, 60, 100] {
                    let manner = Manner { patience: Duration::from_secs(patience), ..manner };
                    let lived = live(HANDS[0], behaviour, manner, None);
                    let stands = agrees(&lived, &format!("{behaviour:?} {manner:?}"));
                    (runs, gone, paid) = (runs + 1, gone + u32::from(lived.gave_up), paid + u32::from(stands));
                }
            }
        }
    }
    println!("{runs} runs, {gone} hung up, {paid} paid");
    assert!(gone > 50 && paid > 50, "{gone} of {runs} hung up, {paid} paid");
}

#[test]
fn a_till_that_answers_late_says_about_the_payment_what_it_says_to_04_0f() {
    let (mut runs, mut paid, mut cut) = (0, 0, 0);
    for unacknowledged in RULES {
        let hears = Manner { hears: true, ..Manner::new(unacknowledged) };
        for manner in [hears, Manner { refuses: true, ..hears }, Manner { shows_nothing: true, ..hears }] {
            let uncut = live(HANDS[0], Behaviour::Approves, manner, None);
            // The first frame answers the command, and the second is `04 FF`.
            for frame in 2..=uncut.heard {
                // These times are longer than T3 and shorter than three times T3. After three times T3, an approval is
                // not acknowledged.
                for length in [6, 9, 12] {
                    let manner = Manner { sleeps: Some((frame, Duration::from_secs(length))), ..manner };
                    let case = format!("{manner:?}");
                    let lived = live(HANDS[0], Behaviour::Approves, manner, None);
                    let stands = agrees(&lived, &case);
                    assert_eq!(stands, !manner.refuses, "{case}");
                    (runs, paid) = (runs + 1, paid + u32::from(stands));
                    // Only the pauses before `04 0F` and `06 0F` remain.
                    if (length, frame + 2, unacknowledged) != (6, uncut.heard, OnSilence::Reverse) {
                        continue;
                    }
                    for at in 0..lived.points {
                        for kind in CUTS {
                            let lived = live(HANDS[0], Behaviour::Approves, manner, Some(Plan { at, cut: kind }));
                            agrees(&lived, &format!("{case} {at} {kind:?}"));
                            cut += 1;
                        }
                    }
                }
            }
        }
    }
    println!("{runs} runs, {paid} paid, {cut} cut");
    assert!(paid > 10 && runs - paid > 10 && cut > 100, "{runs} runs, {paid} paid, {cut} cut");
}
