//! A Caisse-AP payment with the power cut, or the connection broken, at each of its points. The till's belief matches
//! the gateway's ledger and the paper, or the till knows that the outcome is open.
//!
//! One moment is excepted, because the protocol has no acknowledgement: the till has its answer, and the terminal has
//! not recorded that. After a power cut there, an approval without a confirmation is taken back.

use std::time::Duration;

use pos_terms::transaction::{Kind, OnSilence};
use tokio::time::sleep;

use crate::world::World;
use crate::world::asked::Belief;
use crate::world::bank::{Behaviour, LATE};
use crate::world::caisse_ap::{CaisseManner, CaisseMemory, CaisseTill};
use crate::world::cut_points::{CUTS, Cut, Phase, Plan, PointKind};
use crate::world::tills::{TillResult, Wish};

const AMOUNT: u64 = 1250;
const HANDS: [&str; 2] = ["on waiting: tap tap", "on waiting: insert chip-no-cvm"];
const RULES: [OnSilence; 2] = [OnSilence::Reverse, OnSilence::Keep];

/// The result of one run of a terminal.
struct Lived {
    believes: Belief,
    charged: u64,
    points: Vec<PointKind>,
    /// The number of points before the till got the answer "paid".
    paid_at: Option<usize>,
    waited: Duration,
}

fn live(hand: &str, behaviour: Behaviour, manner: CaisseManner, plan: Option<Plan>) -> Lived {
    let world = World::new(hand);
    {
        let mut state = world.lock();
        state.wishes.push(Wish::new(0, Kind::Sale, AMOUNT));
        state.bank.behaviours.push_back(behaviour);
    }
    let memory = CaisseMemory::default();
    world.boot(async |till| {
        till.until_ready().await;
        world.plan(plan);
        CaisseTill::new(&till, manner, &memory).pays(AMOUNT).await;
        sleep(Duration::from_secs(300)).await;
    });
    let points = world.lock().points.seen().to_vec();
    world.plan(None);
    // The terminal finds the outcome by itself. The judge did not hear the till confirm.
    world.lock().wishes[0].confirms = None;
    world.boot(async |mut till| {
        till.until_ready().await;
        sleep(LATE + Duration::from_secs(8 * 3600)).await;
        till.look(0).await;
        let began = !matches!(world.lock().wishes[0].told.last(), Some(TillResult::Unknown(_)) | None);
        if began {
            till.until_final(0, Duration::from_secs(8 * 3600)).await;
        }
        sleep(Duration::from_secs(60)).await;
    });
    let (violations, _) = world.judge();
    assert!(violations.is_empty(), "{hand} {behaviour:?} {manner:?} {plan:?}: {violations:?}");
    let state = world.lock();
    let charged = state.bank.ledger.iter().filter(|entry| entry.kind == "DB").map(|entry| entry.stands()).sum();
    assert_eq!(state.bank.booked_twice(), 0);
    let (believes, waited) = (memory.belief.get(), memory.waited.get());
    Lived { believes, charged, points, paid_at: memory.paid_at.get(), waited }
}

/// Checks that the till believes what the gateway holds, or knows that it does not know. An open outcome is not charged
/// for, unless such approvals are kept.
fn agrees(lived: &Lived, manner: CaisseManner, case: &str) {
    match lived.believes {
        Belief::Paid(minor) => assert_eq!(minor, lived.charged, "{case}"),
        Belief::NotPaid => assert_eq!(lived.charged, 0, "{case}"),
        Belief::Unknown if manner.unacknowledged == OnSilence::Reverse => assert_eq!(lived.charged, 0, "{case}"),
        Belief::Unknown => {}
    }
}

/// Returns whether the power was cut between the till's answer and the terminal's record of it.
fn is_between(lived: &Lived, plan: Plan) -> bool {
    let Some(paid_at) = lived.paid_at else { return false };
    let recorded = (paid_at..lived.points.len()).find(|at| lived.points[*at] == PointKind::Commit);
    let until = recorded.unwrap_or(lived.points.len());
    let before_record = plan.at + 1 >= paid_at && (plan.at < until || plan.at == until && plan.cut == Cut::PowerBefore);
    before_record && plan.cut != Cut::Line
}

#[test]
fn whatever_is_cut_the_till_believes_what_the_bank_holds_or_knows_that_it_does_not_know() {
    let (mut runs, mut paid, mut open, mut between) = (0, 0, 0, 0);
    for hand in HANDS {
        for behaviour in [Behaviour::Approves, Behaviour::Declines] {
            for manner in RULES.map(CaisseManner::new) {
                let uncut = live(hand, behaviour, manner, None);
                let approves = behaviour == Behaviour::Approves;
                assert_eq!((uncut.believes == Belief::Paid(AMOUNT), uncut.charged > 0), (approves, approves), "{hand}");
                assert!(uncut.points.len() > 15, "{}", uncut.points.len());
                for at in 0..uncut.points.len() {
                    for cut in CUTS {
                        let (plan, case) = (Plan { at, cut }, format!("{hand} {behaviour:?} {manner:?} {at} {cut:?}"));
                        let lived = live(hand, behaviour, manner, Some(plan));
                        runs += 1;
                        paid += u32::from(lived.charged > 0);
                        open += u32::from(lived.believes == Belief::Unknown);
                        if is_between(&lived, plan) && manner.unacknowledged == OnSilence::Reverse {
                            assert_eq!((lived.believes, lived.charged), (Belief::Paid(AMOUNT), 0), "{case}");
                            between += 1;
                            continue;
                        }
                        agrees(&lived, manner, &case);
                    }
                }
            }
        }
    }
    println!("{runs} runs, {paid} paid, {open} open, {between} between the answer and its record");
    assert!(paid > 50 && runs - paid > 50 && open > 50, "{runs} runs, {paid} paid, {open} open");
    assert!((1..=8).contains(&between), "{between} of {runs}");
}

#[test]
fn no_till_waits_longer_than_it_will_whatever_the_bank_does() {
    let (mut runs, mut gone, mut paid) = (0, 0, 0);
    for behaviour in Behaviour::ALL {
        for manner in RULES.map(CaisseManner::new) {
            let case = format!("{behaviour:?} {manner:?}");
            let lived = live(HANDS[0], behaviour, manner, None);
            assert!(lived.waited < Duration::from_secs(172), "{case}: {:?}", lived.waited);
            agrees(&lived, manner, &case);
            for patience in [1, 5, 20, 60, 100] {
                let manner = CaisseManner { patience: Duration::from_secs(patience), ..manner };
                let lived = live(HANDS[0], behaviour, manner, None);
                agrees(&lived, manner, &format!("{case} {patience}"));
                gone += u32::from(lived.waited >= manner.patience);
                (runs, paid) = (runs + 1, paid + u32::from(lived.charged > 0));
            }
        }
    }
    println!("{runs} runs, {gone} hung up, {paid} paid");
    assert!(gone > 20 && paid > 20, "{gone} of {runs} hung up, {paid} paid");
}

#[test]
fn an_answer_that_is_not_acknowledged_is_taken_back_or_kept() {
    for (unacknowledged, charged) in [(OnSilence::Reverse, 0), (OnSilence::Keep, AMOUNT)] {
        let manner = CaisseManner { is_deaf: true, ..CaisseManner::new(unacknowledged) };
        let uncut = live(HANDS[0], Behaviour::Approves, manner, None);
        assert_eq!((uncut.believes, uncut.charged), (Belief::Unknown, charged));
        for at in 0..uncut.points.len() {
            for cut in CUTS {
                let lived = live(HANDS[0], Behaviour::Approves, manner, Some(Plan { at, cut }));
                agrees(&lived, manner, &format!("{manner:?} {at} {cut:?}"));
            }
        }
    }
}

/// The agent needs so long for its status that the customer finds the card before or after second 110.
#[test]
fn a_card_after_second_110_asks_the_gateway_for_nothing() {
    for (wait, pays) in [("5s", true), ("15s", false)] {
        let hand = format!("on waiting: wait {wait}, tap tap");
        let slow = CaisseManner { slow: Duration::from_secs(100), ..CaisseManner::new(OnSilence::Reverse) };
        let lived = live(&hand, Behaviour::Approves, slow, None);
        let (believes, charged) = if pays { (Belief::Paid(AMOUNT), AMOUNT) } else { (Belief::NotPaid, 0) };
        assert_eq!((lived.believes, lived.charged), (believes, charged), "{wait}");
        let payment = PointKind::Gateway(Phase::RequestRead);
        assert_eq!(lived.points.contains(&payment), pays, "{wait}: {:?}", lived.points);
    }
}
