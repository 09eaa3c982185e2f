//! Closes of day, compared with the ledger of the world's gateway (`world/closes.rs`). Random days with every kind of
//! transaction pass midnight and both clock changes of the year. The clock jumps, and the power is cut at each step of
//! a close. Other tests compare closes with sums that were computed by hand.

use std::time::Duration;

use crate::world::World;
use crate::world::bank::Behaviour;
use crate::world::cut_points::{CUTS, Plan, PointKind};
use crate::world::disturbances::Dice;
use crate::world::host_rules;
use crate::world::tills::{By, Earlier, TillResult, Wish};
use chrono::{DateTime, NaiveTime, TimeDelta};
use pos_core::counter::{Close, OpenKind, Turnover};
use pos_terms::transaction::Kind;
use tokio::time::sleep;

const HOUR: Duration = Duration::from_secs(3600);

/// Fills the list of the tills' requests with each kind, and each kind that may follow it.
fn wishes(world: &World, dice: &mut Dice) {
    let kinds = [
        (Kind::Sale, None),
        (Kind::Refund, Some(0)),
        (Kind::Sale, None),
        (Kind::Reversal, Some(2)),
        (Kind::PreAuthorisation, None),
        (Kind::Increment, Some(4)),
        (Kind::Capture, Some(4)),
        (Kind::Reversal, Some(6)),
        (Kind::PreAuthorisation, None),
        (Kind::Reauthorisation, Some(8)),
        (Kind::Capture, Some(9)),
        (Kind::PreAuthorisation, None),
        (Kind::Reversal, Some(11)),
        (Kind::Credit, None),
        (Kind::Reversal, Some(13)),
        (Kind::ByRegistration, None),
        (Kind::Refund, Some(15)),
        (Kind::PreAuthorisationByRegistration, None),
        (Kind::Capture, Some(17)),
        (Kind::StoreCard, None),
    ];
    let mut state = world.lock();
    for (number, (kind, earlier)) in kinds.into_iter().enumerate() {
        let all = earlier.map_or(1000 + dice.below(900), |earlier: usize| state.wishes[earlier].minor);
        let minor = if kind == Kind::Refund && dice.once_in(2) { all / 2 } else { all };
        let by = dice.pick(&[By::Reference, By::Number, By::Payment]);
        let of = earlier.map(|number| Earlier::Wish { number, by });
        let till = format!("till-{}", dice.below(3) + 1);
        state.wishes.push(Wish { of, till, ..Wish::new(number, kind, minor) });
    }
    // The reversal of a payment that this journal does not contain.
    let number = kinds.len();
    let of = Some(Earlier::Payment(state.bank.earlier("DB", 700)));
    state.wishes.push(Wish { of, ..Wish::new(number, Kind::Reversal, 700) });
}

/// The closes and the open transactions of one seed.
struct Days {
    closes: Vec<Close>,
    violations: Vec<String>,
    story: String,
}

fn random_days(seed: u64) -> Days {
    let mut dice = Dice::new(seed);
    let script: String = (1..=40).map(|nth| format!("on waiting {nth}: tap tap\n")).collect();
    let world = World::new(&script);
    world.lock().bank.host_rules = dice.pick(host_rules::played());
    wishes(&world, &mut dice);
    let count = world.lock().wishes.len();
    let (mut next, mut closes) = (0, 0);
    while next < count {
        // The pause lasts from some hours to a day, so that the days pass midnight and the clock change.
        world.wait(HOUR * u32::try_from(dice.below(20)).unwrap());
        let until = count.min(next + 1 + usize::try_from(dice.below(6)).unwrap());
        let (first, inside) = (next, dice.roll());
        world.boot(async |till| part_of_a_day(&world, till, first..until, &mut closes, inside).await);
        next = until;
    }
    world.heal();
    world.boot(async |mut till| {
        till.until_ready().await;
        for wish in 0..count {
            till.look(wish).await;
            till.until_final(wish, 5 * 24 * HOUR).await;
        }
        for number in 0..=closes {
            assert!(till.close(&format!("Z{number}")).await, "seed {seed}: close {number} is not told");
        }
    });
    world.judge_closes();
    let (violations, _) = world.judge();
    let violations: Vec<String> = violations.iter().map(ToString::to_string).collect();
    let story = if violations.is_empty() { String::new() } else { world.story() };
    let closes = world.lock().closes.iter().map(|heard| heard.close.clone()).collect();
    Days { closes, violations, story }
}

/// Makes some of the requests in order. Between them it makes closes, at any hour and with a cut at any step.
async fn part_of_a_day(
    world: &World,
    mut till: crate::world::tills::Till,
    wishes: std::ops::Range<usize>,
    closes: &mut u64,
    seed: u64,
) {
    let mut dice = Dice::new(seed);
    till.until_ready().await;
    for wish in wishes {
        let fault =
            [Behaviour::Declines, Behaviour::SilentAfter, Behaviour::FailsBefore, Behaviour::PendingThenApproved];
        let behaviour = if dice.once_in(3) { dice.pick(&fault) } else { Behaviour::Approves };
        world.lock().bank.behaviours.push_back(behaviour);
        till.ask(wish).await;
        till.until_final(wish, dice.ms(60_000)).await;
        if dice.once_in(2) {
            continue;
        }
        // The clock jumps during the close. No order and no sum may depend on it.
        world.lock().clock_off_ms = dice.pick(&[0, 0, -3_600_000, 366 * 86_400_000, -40 * 366 * 86_400_000]);
        let cut = dice.once_in(4).then(|| Plan { at: usize::try_from(dice.below(3)).unwrap(), cut: dice.pick(&CUTS) });
        world.plan(cut);
        till.close(&format!("Z{closes}")).await;
        world.lock().points.rest();
        *closes += 1;
        world.lock().clock_off_ms = 0;
    }
}

#[test]
fn on_random_days_the_closes_are_the_ledger_but_for_what_is_open() {
    let (mut closes, mut open, mut offsets) = (0, 0, std::collections::BTreeSet::new());
    for seed in 1..=24 {
        let days = random_days(seed);
        assert!(days.violations.is_empty(), "seed {seed}: {:#?}\n{}", days.violations, days.story);
        closes += days.closes.len();
        open += days.closes.iter().filter(|close| close.waits_for_somebody()).count();
        for close in &days.closes {
            let at = DateTime::parse_from_rfc3339(&close.period.to).unwrap();
            offsets.insert(at.offset().to_string());
            // The day ends at four in the morning, local time of the shop.
            let four = NaiveTime::from_hms_opt(4, 0, 0).unwrap();
            let before = if at.time() < four { TimeDelta::days(1) } else { TimeDelta::zero() };
            assert_eq!(close.day, (at.date_naive() - before).to_string(), "seed {seed}: {:?}", close.period);
        }
    }
    assert!(closes > 60 && open > 5, "{closes} closes, {open} of them with something open");
    assert_eq!(offsets.into_iter().collect::<Vec<_>>(), ["+01:00", "+02:00"], "both halves of the year's clock");
}

fn sells(world: &World, kinds: &[(Kind, u64, Option<usize>)]) {
    let mut state = world.lock();
    for (number, (kind, minor, earlier)) in kinds.iter().copied().enumerate() {
        let of = earlier.map(|number| Earlier::Wish { number, by: By::Reference });
        state.wishes.push(Wish { of, ..Wish::new(number, kind, minor) });
    }
}

fn closes(world: &World) -> Vec<Close> {
    world.lock().closes.iter().map(|heard| heard.close.clone()).collect()
}

fn no_violation(world: &World) {
    world.judge_closes();
    let (violations, _) = world.judge();
    assert!(violations.is_empty(), "{violations:#?}\n{}", world.story());
}

fn net(close: &Close) -> Vec<(&str, &str, &str)> {
    close.net.iter().map(|Turnover { taken, given, net, .. }| (taken.as_str(), given.as_str(), net.as_str())).collect()
}

#[test]
fn a_void_after_a_close_is_in_the_next_one_and_changes_no_earlier_one() {
    let world = World::new("on waiting 1: tap tap\non waiting 2: tap tap\n");
    sells(&world, &[(Kind::Sale, 1234, None), (Kind::Reversal, 1234, Some(0)), (Kind::PreAuthorisation, 5000, None)]);
    world.boot(async |mut till| {
        till.until_ready().await;
        till.wants(0).await;
        till.close("Z0").await;
        till.wants(1).await;
        till.until_ready().await;
        till.wants(2).await;
        till.close("Z1").await;
        till.close("Z2").await;
        // A repeated request returns the same close.
        for again in ["Z0", "Z1", "Z2"] {
            assert!(till.close(again).await);
        }
    });
    no_violation(&world);
    let closes = closes(&world);
    let [first, second, third] = &closes[..] else { panic!("{closes:#?}") };
    assert_eq!(net(first), [("12.34", "0.00", "12.34")]);
    assert_eq!(net(second), [("0.00", "12.34", "-12.34")]);
    assert!(net(third).is_empty() && third.kinds.is_empty(), "{third:#?}");
    assert_eq!((first.period.after_entry, second.period.after_entry), (0, first.period.to_entry));
    assert_eq!((first.period.from.as_ref(), second.period.from.as_ref()), (None, Some(&first.period.to)));
    // Each close lists a reservation until it is captured or released.
    for close in [second, third] {
        let open: Vec<_> = close.open.iter().map(|item| (item.is, item.amount.as_deref())).collect();
        assert_eq!(open, [(OpenKind::PreAuthorisation, Some("50.00"))]);
        assert!(!close.waits_for_somebody());
    }
    let slips = world.lock().printer.papers.iter().filter(|paper| is_slip(paper)).count();
    assert_eq!(slips, 3, "each was printed once");
}

fn is_slip(paper: &[u8]) -> bool {
    crate::world::hardware::lines(paper).iter().any(|line| line == "CLOSE OF DAY")
}

/// Checks a cut of the power or the connection at each visible point of a close. After the request is repeated with the
/// same reference, there is one complete close.
#[test]
fn a_cut_at_any_step_of_a_close_leaves_one_or_none() {
    let places = cut_while_closing(&World::new("on waiting 1: tap tap\n"), None);
    let counted = |place| places.iter().filter(|one| **one == place).count();
    assert_eq!((counted(PointKind::Commit), counted(PointKind::Till)), (1, 1), "{places:?}");
    assert!(counted(PointKind::Print) > 0, "{places:?}");
    for at in 0..places.len() {
        for cut in CUTS {
            let world = World::new("on waiting 1: tap tap\n");
            cut_while_closing(&world, Some(Plan { at, cut }));
            world.heal();
            world.boot(async |till| {
                till.until_ready().await;
                assert!(till.close("Z0").await, "{cut:?} at {at}");
                assert!(till.close("Z1").await, "{cut:?} at {at}");
            });
            no_violation(&world);
            let closes = closes(&world);
            let told: Vec<_> = closes.iter().map(|close| (close.number, net(close))).collect();
            assert_eq!(told, [(1, vec![("10.00", "0.00", "10.00")]), (2, vec![])], "{cut:?} at {at}");
        }
    }
}

/// Makes a sale, then a close with this plan. Returns the points of the close.
fn cut_while_closing(world: &World, plan: Option<Plan>) -> Vec<PointKind> {
    sells(world, &[(Kind::Sale, 1000, None)]);
    let mut places = Vec::new();
    world.boot(async |mut till| {
        till.until_ready().await;
        till.wants(0).await;
        // The sale's receipts are printed first.
        sleep(HOUR).await;
        world.plan(plan);
        till.close("Z0").await;
        sleep(Duration::from_secs(30)).await;
        places = world.lock().points.seen().to_vec();
    });
    places
}

#[test]
fn two_at_once_are_two_and_two_of_the_same_reference_are_one() {
    let world = World::new("on waiting 1: tap tap\n");
    sells(&world, &[(Kind::Sale, 1000, None)]);
    world.boot(async |mut till| {
        till.until_ready().await;
        till.wants(0).await;
        let told = tokio::join!(till.close("Z0"), till.close("Z0"), till.close("Z1"), till.close("Z0"));
        assert_eq!(told, (true, true, true, true));
    });
    no_violation(&world);
    let closes = closes(&world);
    let told: Vec<_> = closes.iter().map(|close| (close.number, net(close).len())).collect();
    assert_eq!(told, [(1, 1), (2, 0)]);
}

#[test]
fn what_is_not_known_yet_is_named_and_counted_when_it_has_its_end() {
    let world = World::new("on waiting 1: tap tap\n");
    sells(&world, &[(Kind::Sale, 1000, None), (Kind::Refund, 400, Some(0))]);
    world.boot(async |mut till| {
        till.until_ready().await;
        till.wants(0).await;
        world.lock().bank.behaviours.push_back(Behaviour::SilentAfter);
        till.ask(1).await;
        while world.lock().bank.asked.len() < 2 {
            sleep(Duration::from_millis(50)).await;
        }
        world.lock().bank.away = true;
        till.until_final(1, Duration::from_secs(60)).await;
        assert!(matches!(world.lock().wishes[1].told.last(), Some(TillResult::Unconfirmed { .. })));
        till.close("Z0").await;
        world.lock().bank.away = false;
        till.until_final(1, 24 * HOUR).await;
        till.close("Z1").await;
    });
    no_violation(&world);
    let closes = closes(&world);
    let [first, second] = &closes[..] else { panic!("{closes:#?}") };
    assert_eq!(net(first), [("10.00", "0.00", "10.00")]);
    let [open] = &first.open[..] else { panic!("{first:#?}") };
    assert_eq!((open.is, open.kind, open.amount.as_deref()), (OpenKind::Unconfirmed, Some(Kind::Refund), Some("4.00")));
    assert!(first.waits_for_somebody() && second.open.is_empty());
    assert_eq!(net(second), [("0.00", "4.00", "-4.00")]);
}
