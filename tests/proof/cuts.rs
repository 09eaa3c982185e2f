//! Every cut. For each kind of transaction and each behaviour of the gateway, the power is cut before and after every
//! event that is visible from outside. The connection is cut there too. After any cut, nothing is lost and no customer
//! is charged twice.
//!
//! First, a run without a cut counts the points (`world/cut_points.rs`). These are every commit of the journal, every
//! packet to and from the reader, and eight phases of every request. Every piece of paper and every message to a till
//! is also a point. Then there is one run for each point and each way to cut, and the test checks that the cut was
//! made. `world/verdict.rs` judges by the gateway's ledger, the printed bytes and the messages to the tills.
//!
//! `POS_AGENT_CUTS=1` cuts at every point. `POS_AGENT_CUTS=48` (the default) cuts at every 48th. Every kind and every
//! behaviour is always included. A sale that the gateway does not know is looked up for an hour, and these look-ups are
//! alike. Therefore, after the first 120 points of a run, only a tenth of the points is cut. `POS_AGENT_PAIRS=1` makes
//! every pair of cuts. `POS_AGENT_PAIRS=48` (the default) makes a sample. Each scenario runs with each gateway
//! (`world/host_rules.rs`), and the gateways share a sample of cuts. `POS_AGENT_SCENARIO=sale, chip / Approves / []`
//! runs only the scenarios whose names contain this text. If no name contains it, the text itself describes the
//! scenario. The scenarios are spread over the families of readers, and `POS_READER_FAMILY=miura|vipa|neo2` selects
//! one.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]
#![allow(clippy::disallowed_methods, reason = "the rate is printed; nothing is decided by it")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pos_sim::reader::{AbortRace, Family, card};
use pos_terms::transaction::{Kind, OnSilence};
use pos_test_kit::{families, world};
use tokio::time::sleep;
use world::World;
use world::bank::{Behaviour, LATE, Trouble};
use world::board::End;
use world::cut_points::{CUTS, Cut, PHASES, Phase, Plan, PointKind};
use world::host_rules::{self, HostRules};
use world::tills::{By, Confirms, Earlier, Says, Till, TillResult, Wish};
use world::verdict::{Broken, END_STATES, EndState, Violation};

/// A request for a transaction, the transaction that it refers to, and the gateway's behaviour.
#[derive(Clone, Debug)]
struct Scenario {
    host_rules: HostRules,
    /// The family of the reader.
    family: Family,
    name: &'static str,
    kind: Kind,
    /// The transaction that the request refers to in this world. It ended before the cuts begin.
    of: Option<(Kind, By)>,
    /// The cardholder's actions when the reader waits.
    hand: &'static str,
    behaviour: Behaviour,
    troubles: Vec<Trouble>,
    accepts_part: bool,
    /// The till's confirmation, and the gateway's behaviour when the rest is refunded.
    confirms: Option<(Confirms, Behaviour)>,
}

impl Scenario {
    fn title(&self) -> String {
        let Self { name, behaviour, troubles, host_rules, family, .. } = self;
        format!("{name} / {behaviour:?} / {troubles:?} / {host_rules:?} / {family:?}")
    }
}

/// Returns each scenario with every gateway. The families of readers take turns, so that every scenario and every
/// gateway meets each family.
fn with_every_gateway(scenarios: impl IntoIterator<Item = Scenario>) -> Vec<Scenario> {
    let mut all = Vec::new();
    for (number, scenario) in (0_u64..).zip(scenarios) {
        for (turn, host_rules) in (0_u64..).zip(host_rules::played()) {
            let family = families::of_number(number + turn);
            all.push(Scenario { host_rules: *host_rules, family, ..scenario.clone() });
        }
    }
    all
}

const CHIP: &str = "on waiting: insert chip-no-cvm";

type OneKind = (&'static str, Kind, &'static str, Option<(Kind, By)>);

const KINDS: [OneKind; 21] = [
    ("sale, chip", Kind::Sale, CHIP, None),
    ("sale, tap", Kind::Sale, "on waiting: tap tap", None),
    ("sale, swipe", Kind::Sale, "on waiting: swipe swipe", None),
    ("sale, chip that refuses", Kind::Sale, "on waiting: insert chip-refuses", None),
    ("pre-authorisation", Kind::PreAuthorisation, CHIP, None),
    ("credit", Kind::Credit, CHIP, None),
    ("by registration", Kind::ByRegistration, "", None),
    ("pre-authorisation, by registration", Kind::PreAuthorisationByRegistration, "", None),
    ("card to store, chip", Kind::StoreCard, CHIP, None),
    ("card to store, swipe", Kind::StoreCard, "on waiting: swipe swipe", None),
    ("card to forget", Kind::ForgetCard, "", None),
    ("capture", Kind::Capture, "", None),
    ("refund", Kind::Refund, "", None),
    ("reversal", Kind::Reversal, "", None),
    ("increment", Kind::Increment, "", None),
    ("reauthorisation", Kind::Reauthorisation, "", None),
    ("capture, by number", Kind::Capture, CHIP, Some((Kind::PreAuthorisation, By::Number))),
    ("capture of a stored card's", Kind::Capture, "", Some((Kind::PreAuthorisationByRegistration, By::Number))),
    ("refund, by reference", Kind::Refund, CHIP, Some((Kind::Sale, By::Reference))),
    ("reversal, by payment", Kind::Reversal, CHIP, Some((Kind::Sale, By::Payment))),
    ("increment, by reference", Kind::Increment, CHIP, Some((Kind::PreAuthorisation, By::Reference))),
];

/// The result of a run.
struct Run {
    points: [Vec<PointKind>; 2],
    fired: [Option<PointKind>; 2],
    violations: Vec<Violation>,
    end: EndState,
    /// The number of payments that the gateway booked twice for one request.
    twice: usize,
}

const AMOUNT: u64 = 1234;

/// Simulates one run of a terminal with one request. There are up to two boards, and the second one may be cut too.
fn live(scenario: &Scenario, first: Option<Plan>, second: Option<Plan>) -> Run {
    let world = World::of_family(scenario.family, scenario.hand);
    prepare(&world, scenario);
    world.boot(async |mut till| {
        before(&mut till, &world).await;
        world.plan(first);
        till.wants(0).await;
        sleep(Duration::from_secs(60)).await;
    });
    let seen = |world: &World| {
        let state = world.lock();
        (state.points.seen().to_vec(), state.points.fired())
    };
    let one = seen(&world);
    world.plan(second);
    let end = finish(&world);
    let two = seen(&world);
    if end == End::Cut {
        world.plan(None);
        finish(&world);
    }
    let (violations, ends) = world.judge();
    let twice = world.lock().bank.booked_twice();
    Run { points: [one.0, two.0], fired: [one.1, two.1], violations, end: ends[0], twice }
}

/// Makes the transaction that the request refers to, at another till.
async fn before(till: &mut Till, world: &World) {
    till.until_ready().await;
    if world.lock().wishes.len() > 1 {
        let behaviours = std::mem::take(&mut world.lock().bank.behaviours);
        till.wants(1).await;
        till.until_ready().await;
        world.lock().bank.behaviours = behaviours;
    }
}

fn prepare(world: &World, scenario: &Scenario) {
    let mut state = world.lock();
    state.bank.host_rules = scenario.host_rules;
    // A gateway with redirects first redirects every third request.
    state.bank.redirects = 3;
    state.bank.asked_by_post = true;
    let of = match scenario.kind {
        _ if scenario.of.is_some() => None,
        Kind::Capture | Kind::Increment | Kind::Reauthorisation => Some(("PA", 5000)),
        Kind::Refund => Some(("DB", 5000)),
        Kind::Reversal => Some(("DB", AMOUNT)),
        _ => None,
    };
    let of = of.map(|(kind, minor)| Earlier::Payment(state.bank.earlier(kind, minor)));
    // Another shop's payment has the same amount.
    state.bank.earlier("DB", AMOUNT);
    let of = of.or(scenario.of.map(|(_, by)| Earlier::Wish { number: 2, by }));
    let confirms = scenario.confirms.map(|(confirms, _)| confirms);
    state.wishes.push(Wish {
        of,
        accepts_part: scenario.accepts_part,
        confirms,
        ..Wish::new(1, scenario.kind, AMOUNT)
    });
    if let Some((kind, _)) = scenario.of {
        state.wishes.push(Wish::new(2, kind, AMOUNT));
    }
    state.bank.behaviours.push_back(scenario.behaviour);
    state.bank.behaviours.extend(scenario.confirms.map(|(_, of_rest)| of_rest));
    state.bank.troubles.extend(&scenario.troubles);
}

/// Starts the next board and waits until everything has ended. The till asks for the outcome of its request.
fn finish(world: &World) -> End {
    world.boot(async |mut till| {
        till.look(0).await;
        till.until_final(0, Duration::from_secs(6 * 3600)).await;
        let known = !matches!(world.lock().wishes[0].told.last(), Some(TillResult::Unknown(_)) | None);
        if known {
            // A till without an answer repeats its request. The same reference means the same sale.
            till.wants(0).await;
        }
        sleep(LATE + Duration::from_secs(60)).await;
        // After a start, the agent retries a transaction that waits for a person, so it may have ended since.
        till.look(0).await;
        till.until_rest_is_final(0, Duration::from_secs(6 * 3600)).await;
    })
}

/// Returns every kind with every behaviour, and every kind of trouble during the look-up after a lost answer.
fn scenarios() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for (name, kind, hand, of) in KINDS {
        let scenario = |behaviour, troubles: &[Trouble]| Scenario {
            host_rules: HostRules::Checked,
            family: Family::default(),
            name,
            kind,
            of,
            hand,
            behaviour,
            troubles: troubles.to_vec(),
            accepts_part: false,
            confirms: None,
        };
        scenarios.extend(Behaviour::ALL.map(|behaviour| scenario(behaviour, &[])));
        if matches!(name, "sale, chip" | "sale, tap" | "refund" | "reversal" | "by registration") {
            scenarios.extend(Trouble::ALL.map(|trouble| scenario(Behaviour::SilentAfter, &[trouble; 3])));
        }
    }
    let partial = |(name, kind, hand, of): OneKind| Scenario {
        host_rules: HostRules::Checked,
        family: Family::default(),
        name,
        kind,
        of,
        hand,
        behaviour: Behaviour::ApprovesPart,
        troubles: Vec::new(),
        accepts_part: true,
        confirms: None,
    };
    scenarios.extend(KINDS.into_iter().filter(|(_, kind, ..)| *kind == Kind::Sale).map(partial));
    let answers_a_part = |one: OneKind| Scenario { behaviour: Behaviour::AnswersAPart, ..partial(one) };
    let may_take_part = |kind: Kind| kind.till_may_refuse_a_part() && !kind.has_earlier();
    scenarios.extend(KINDS.into_iter().filter(|(_, kind, ..)| may_take_part(*kind)).map(answers_a_part));
    scenarios.extend(long_troubles());
    scenarios.extend(confirmed_by_tills());
    let all = with_every_gateway(scenarios.iter().cloned());
    let Some(part) = chosen() else { return all };
    let chosen: Vec<_> = all.into_iter().filter(|scenario| scenario.title().contains(&part)).collect();
    if !chosen.is_empty() {
        return chosen;
    }
    let told = told(&part, &scenarios)
        .expect("POS_AGENT_SCENARIO: no scenario has this in its name, and it is not one itself");
    with_every_gateway([told])
}

/// Parses a scenario from its title: `sale, chip, parts taken / SilentAfter / [Fails, Silent]`.
fn told(title: &str, scenarios: &[Scenario]) -> Option<Scenario> {
    let mut parts = title.split(" / ");
    let (name, behaviour, troubles) = (parts.next()?, parts.next()?, parts.next()?);
    let behaviour = Behaviour::ALL.into_iter().find(|one| format!("{one:?}") == behaviour)?;
    let words = troubles.strip_prefix('[')?.strip_suffix(']')?.split(", ").filter(|word| !word.is_empty());
    let known = |word: &str| Trouble::ALL.into_iter().find(|one| format!("{one:?}") == word);
    let troubles = words.map(known).collect::<Option<Vec<_>>>()?;
    let (name, accepts_part) = match name.strip_suffix(", parts taken") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let like = scenarios.iter().find(|scenario| scenario.name == name)?.clone();
    Some(Scenario { behaviour, troubles, accepts_part: accepts_part || like.confirms.is_some(), ..like })
}

#[test]
fn a_scenario_is_told_by_its_title() {
    let scenarios = [scenarios(), confirmed_by_tills()].concat();
    let scenario = told("sale, chip, parts taken / SilentAfter / [Fails, Silent]", &scenarios).unwrap();
    assert_eq!((scenario.kind, scenario.behaviour, scenario.accepts_part), (Kind::Sale, Behaviour::SilentAfter, true));
    assert_eq!(scenario.troubles, [Trouble::Fails, Trouble::Silent]);
    assert!(told("confirmed, a part / SilentAfter / []", &scenarios).unwrap().confirms.is_some());
    assert!(told("sale, chip / SilentAfter / [Fial]", &scenarios).is_none(), "an unknown word is not passed over");
}

/// Returns scenarios in which look-ups fail longer than the agent waits about a lost refund or an answer with another
/// amount. One scenario has a gateway whose lists contain all payments.
fn long_troubles() -> [Scenario; 5] {
    let scenario = |name, kind, hand, behaviour, troubles| {
        let (host_rules, family) = (HostRules::Checked, Family::default());
        let (accepts_part, confirms) = (false, None);
        Scenario { host_rules, family, name, kind, of: None, hand, behaviour, troubles, accepts_part, confirms }
    };
    [
        scenario("refund", Kind::Refund, "", Behaviour::SilentAfter, vec![Trouble::CannotFind; 16]),
        scenario("sale, chip", Kind::Sale, CHIP, Behaviour::SilentBefore, vec![Trouble::ListsAll; 3]),
        // In these scenarios, look-ups fail for longer than the agent looks up an answer with another amount. The agent
        // then reverses that amount.
        scenario("sale, chip", Kind::Sale, CHIP, Behaviour::AnswersAPart, vec![Trouble::CannotTell; 16]),
        scenario(
            "sale, tap",
            Kind::Sale,
            "on waiting: tap tap",
            Behaviour::ApprovesMore,
            vec![Trouble::CannotTell; 16],
        ),
        scenario("sale, chip", Kind::Sale, CHIP, Behaviour::BooksAndDeclines, vec![Trouble::CannotTell; 16]),
    ]
}

/// Returns scenarios of tills that confirm, with every answer. They include a part of a partial approval, and a rest
/// whose refund is lost.
fn confirmed_by_tills() -> Vec<Scenario> {
    let scenario = |name, kind, hand, (says, on_silence), behaviour, of_rest| Scenario {
        host_rules: HostRules::Checked,
        family: Family::default(),
        name,
        kind,
        of: None,
        hand,
        behaviour,
        troubles: Vec::new(),
        accepts_part: true,
        confirms: Some((Confirms { says, on_silence }, of_rest)),
    };
    use Behaviour::{Approves, ApprovesPart, Declines, SilentAfter, SilentBefore};
    use OnSilence::{Keep, Reverse};
    let (sale, reserve, tap) = (Kind::Sale, Kind::PreAuthorisation, "on waiting: tap tap");
    vec![
        scenario("confirmed, all", sale, CHIP, (Says::All, Reverse), Approves, Approves),
        scenario("confirmed, nothing", sale, CHIP, (Says::Nothing, Keep), Approves, Approves),
        scenario("confirmed, a part", sale, CHIP, (Says::Part, Reverse), Approves, Approves),
        scenario("confirmed, a part, rest lost after", sale, CHIP, (Says::Part, Reverse), Approves, SilentAfter),
        scenario("confirmed, a part, rest lost before", sale, CHIP, (Says::Part, Keep), Approves, SilentBefore),
        scenario("confirmed, a part, rest declined", sale, CHIP, (Says::Part, Reverse), Approves, Declines),
        scenario("confirmed, a part of a part", sale, CHIP, (Says::Part, Reverse), ApprovesPart, Approves),
        scenario("confirmed, all, another booked", sale, CHIP, (Says::All, Keep), Behaviour::AnswersAPart, Approves),
        scenario("confirmed, silence reverses", sale, CHIP, (Says::Silent, Reverse), Approves, Approves),
        scenario("confirmed, silence keeps", sale, CHIP, (Says::Silent, Keep), Approves, Approves),
        scenario("confirmed, all, tap", sale, tap, (Says::All, Reverse), Approves, Approves),
        scenario("confirmed, nothing, tap", sale, tap, (Says::Nothing, Reverse), Approves, SilentAfter),
        scenario("confirmed, all, answer lost", sale, CHIP, (Says::All, Keep), SilentAfter, Approves),
        scenario("confirmed, reservation", reserve, CHIP, (Says::All, Reverse), Approves, Approves),
        scenario("confirmed, reservation not taken", reserve, CHIP, (Says::Nothing, Keep), Approves, Approves),
    ]
}

impl Scenario {
    /// Returns the outcome without a cut, as far as the till's confirmation decides it.
    fn ends_as(&self) -> Option<EndState> {
        let (Confirms { says, on_silence }, _) = self.confirms?;
        Some(match (says, on_silence) {
            _ if matches!(self.behaviour, Behaviour::SilentAfter | Behaviour::AnswersAPart) => EndState::TakenBack,
            (Says::Nothing, _) | (Says::Silent, OnSilence::Reverse) => EndState::TakenBack,
            _ if self.behaviour == Behaviour::ApprovesPart => EndState::ApprovedInPart,
            _ => EndState::Approved,
        })
    }
}

/// Returns the text that selects scenarios. Selected scenarios need not include every kind of event.
fn chosen() -> Option<String> {
    std::env::var("POS_AGENT_SCENARIO").ok()
}

/// Runs `work` for each item, on every core and in any order.
fn everywhere<T: Sync>(all: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(one);
                }
            });
        }
    });
}

/// The totals of all runs of a test.
#[derive(Default)]
struct Tally {
    runs: usize,
    /// The numbers of runs and of cuts made, by gateway, kind and behaviour.
    cuts: BTreeMap<(HostRules, &'static str, String), (usize, usize)>,
    /// The number of payments that the permissive gateway booked twice for one request.
    twice: BTreeMap<HostRules, usize>,
    /// The number of runs, by the reader's family.
    families: BTreeMap<&'static str, usize>,
    /// The number of cuts made, by place.
    places: BTreeMap<PointKind, usize>,
    ends: BTreeMap<EndState, usize>,
    wrong: Vec<String>,
    broken: Broken,
}

impl Tally {
    fn add(&mut self, scenario: &Scenario, plans: &[Plan], run: &Run) {
        self.runs += 1;
        *self.families.entry(scenario.family.as_str()).or_default() += 1;
        *self.ends.entry(run.end).or_default() += 1;
        *self.twice.entry(scenario.host_rules).or_default() += run.twice;
        let cuts =
            self.cuts.entry((scenario.host_rules, scenario.name, format!("{:?}", scenario.behaviour))).or_default();
        cuts.0 += 1;
        cuts.1 += run.fired.iter().take(plans.len()).flatten().count();
        let story = || format!("{} cut at {plans:?} ({:?})", scenario.title(), run.fired);
        self.broken.add(&run.violations, &scenario.title());
        for violation in &run.violations {
            self.wrong.push(format!("{}: {violation}", story()));
        }
        if scenario.hand.ends_with("chip-refuses") && matches!(run.end, EndState::Approved | EndState::ApprovedInPart) {
            self.wrong.push(format!("{}: the card refused, and the sale stands", story()));
        }
        for (plan, fired) in plans.iter().zip(&run.fired) {
            match fired {
                Some(place) => {
                    *self.places.entry(*place).or_default() += 1;
                }
                None => self.wrong.push(format!("{}: the cut at {} was not made", story(), plan.at)),
            }
        }
    }

    fn report(&self, title: &str, start: Instant) -> String {
        let mut text =
            format!("{title}: {} runs in {:?}, {} violations\n", self.runs, start.elapsed(), self.wrong.len());
        let mut kinds: BTreeMap<(HostRules, &str), Vec<String>> = BTreeMap::new();
        for ((host_rules, kind, behaviour), (_, cuts)) in &self.cuts {
            kinds.entry((*host_rules, kind)).or_default().push(format!("{behaviour} {cuts}"));
        }
        for ((host_rules, kind), behaviours) in kinds {
            let _ = writeln!(text, "  cuts, {host_rules:?}, {kind}: {}", behaviours.join(", "));
        }
        let _ = writeln!(text, "  booked twice of one request: {:?}", self.twice);
        let _ = writeln!(text, "  runs by reader: {:?}", self.families);
        let _ = writeln!(text, "  cuts by place: {:?}", self.places);
        let _ = writeln!(text, "  end states: {:?}", self.ends);
        text += &self.broken.to_string();
        for wrong in self.wrong.iter().take(12) {
            let _ = writeln!(text, "  WRONG {wrong}");
        }
        text
    }
}

/// Reads the distance between the cuts in a sample.
fn every(name: &str) -> usize {
    let text = std::env::var(name).unwrap_or_else(|_| "48".to_owned());
    text.parse::<std::num::NonZeroUsize>().unwrap_or_else(|_| panic!("{name} is every so manieth, a number")).get()
}

/// Returns which of the `points` to cut. Each scenario begins with another point, so that a sample covers all kinds of
/// points.
fn sampled(points: usize, every: usize, scenario: usize) -> impl Iterator<Item = usize> {
    // The gateways share a sample. Without a sample, each gateway gets every cut.
    let every = if every == 1 { 1 } else { every * host_rules::played().len() };
    (0..points).filter(move |at| (at + scenario * 7).is_multiple_of(if *at < 120 { every } else { every * 10 }))
}

#[test]
fn whatever_is_cut_nothing_is_lost_and_nobody_is_charged_twice() {
    let start = Instant::now();
    let stride = every("POS_AGENT_CUTS");
    let tally = Mutex::new(Tally::default());
    let scenarios: Vec<_> = scenarios().into_iter().enumerate().collect();
    everywhere(&scenarios, |(number, scenario)| {
        let whole = live(scenario, None, None);
        tally.lock().unwrap().add(scenario, &[], &whole);
        if let Some(end) = scenario.ends_as().filter(|end| *end != whole.end) {
            tally.lock().unwrap().wrong.push(format!("{}: ends as {:?}, not {end:?}", scenario.title(), whole.end));
        }
        for at in sampled(whole.points[0].len(), stride, *number) {
            for cut in CUTS {
                let plan = Plan { at, cut };
                let run = live(scenario, Some(plan), None);
                tally.lock().unwrap().add(scenario, &[plan], &run);
            }
        }
    });
    let tally = tally.into_inner().unwrap();
    println!("{}", tally.report("cuts", start));
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
    if chosen().is_some() {
        return;
    }
    for end in END_STATES {
        assert!(tally.ends.contains_key(&end), "no run ended as {end:?}");
    }
    for family in families::played() {
        assert!(tally.families.contains_key(family.as_str()), "no run with a {} reader", family.as_str());
    }
    for host_rules in host_rules::played() {
        for behaviour in Behaviour::ALL {
            for (name, kind, ..) in KINDS {
                let seen = tally.cuts.contains_key(&(*host_rules, name, format!("{behaviour:?}")));
                assert!(seen, "no {kind:?} ({name}) that {behaviour:?} with the {host_rules:?} gateway");
            }
        }
    }
    for place in PHASES.map(PointKind::Gateway).into_iter().chain([
        PointKind::Commit,
        PointKind::FrameIn,
        PointKind::FrameOut,
        PointKind::Print,
        PointKind::Till,
    ]) {
        assert!(tally.places.contains_key(&place), "nothing was cut at {place:?}");
    }
}

/// Checks a second power cut while the next board recovers.
#[test]
fn a_second_cut_during_the_recovery_changes_nothing() {
    let start = Instant::now();
    let stride = every("POS_AGENT_PAIRS");
    let tally = Mutex::new(Tally::default());
    let twice_cut = |scenario: &Scenario| {
        matches!(scenario.kind, Kind::Sale | Kind::PreAuthorisation | Kind::StoreCard | Kind::ForgetCard)
    };
    // A sample leaves out some scenarios too.
    let scenarios = scenarios().into_iter().filter(twice_cut).enumerate();
    // Selects one scenario out of this many, and each gateway in turn.
    let (gateways, one_of) = (host_rules::played().len(), (stride / 8).max(1));
    let turn = |number: usize| number / gateways + number % gateways * one_of.div_ceil(gateways);
    let scenarios: Vec<_> = scenarios.filter(|(number, _)| turn(*number).is_multiple_of(one_of)).collect();
    everywhere(&scenarios, |(scenario_number, scenario)| {
        let whole = live(scenario, None, None);
        // The reader's packets matter only for the first board.
        let matters = |place: &PointKind| matches!(place, PointKind::Commit | PointKind::Gateway(_));
        let points = (0..whole.points[0].len()).filter(|at| matters(&whole.points[0][*at]));
        let mut number = 0;
        for (at, cut) in points.flat_map(|at| [(at, Cut::PowerBefore), (at, Cut::PowerAfter)]) {
            number += 1;
            if (number + scenario_number) % stride != 0 {
                continue;
            }
            let first = Plan { at, cut };
            let recovery = live(scenario, Some(first), None);
            for at in sampled(recovery.points[1].len(), stride, *scenario_number) {
                for cut in [Cut::PowerBefore, Cut::PowerAfter] {
                    let plans = [first, Plan { at, cut }];
                    let run = live(scenario, Some(plans[0]), Some(plans[1]));
                    tally.lock().unwrap().add(scenario, &plans, &run);
                }
            }
        }
    });
    let tally = tally.into_inner().unwrap();
    println!("{}", tally.report("second cuts", start));
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
    assert!(tally.runs > 50, "{} runs", tally.runs);
}

/// Checks a recovery with only the payment id. The host's approval is on the disk, and the gateway never answers a
/// look-up. The agent therefore resolves the payment by the id in the answer. It reverses a payment that the chip did
/// not confirm. A tap or a swipe stays approved.
#[test]
fn a_payment_that_the_answer_named_is_settled_without_a_question() {
    let start = Instant::now();
    let tally = Mutex::new(Tally::default());
    let of_a_card = KINDS.into_iter().filter(|(_, kind, ..)| matches!(kind, Kind::Sale | Kind::PreAuthorisation));
    let scenarios = of_a_card.map(|(name, kind, hand, of)| Scenario {
        host_rules: HostRules::Checked,
        family: Family::default(),
        name,
        kind,
        of,
        hand,
        behaviour: Behaviour::Approves,
        troubles: vec![Trouble::NeverFinds],
        accepts_part: false,
        confirms: None,
    });
    let mut scenarios = with_every_gateway(scenarios);
    scenarios.retain(|scenario| chosen().is_none_or(|part| scenario.title().contains(&part)));
    everywhere(&scenarios, |scenario| {
        let points = &live(scenario, None, None).points[0];
        let answered = points.iter().rposition(|place| *place == PointKind::Gateway(Phase::AnswerRead)).unwrap();
        let kept = answered + points[answered..].iter().position(|place| *place == PointKind::Commit).unwrap();
        let cuts = (kept..points.len()).flat_map(|at| [(at, Cut::PowerBefore), (at, Cut::PowerAfter)]);
        for (at, cut) in cuts.skip(1) {
            let plan = Plan { at, cut };
            let run = live(scenario, Some(plan), None);
            let card_is_done = matches!(scenario.name, "sale, tap" | "sale, swipe");
            let settled = run.end == EndState::Approved || (run.end == EndState::TakenBack && !card_is_done);
            let mut tally = tally.lock().unwrap();
            tally.add(scenario, &[plan], &run);
            if !settled {
                tally.wrong.push(format!(
                    "{} cut at {plan:?}: approved by the host, and ends as {:?}",
                    scenario.title(),
                    run.end
                ));
            }
        }
    });
    let tally = tally.into_inner().unwrap();
    println!("{}", tally.report("named payments", start));
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
}

/// Checks a cancelled sale that is followed by the next customer's payment. A card that is read at the moment of the
/// cancel is not charged for the next sale. If the request has already been sent, the cancel is not reported as in
/// time.
#[test]
fn a_sale_that_is_cancelled_leaves_nothing_to_the_next() {
    let too_late = AbortRace::CardWins(card("tap").unwrap());
    for family in families::played() {
        for (race, first_hand, behaviour, end) in [
            (AbortRace::AbortWins, "wait 70s", Behaviour::Approves, EndState::NothingCharged),
            (too_late, "wait 70s", Behaviour::Approves, EndState::NothingCharged),
            (AbortRace::AbortWins, "tap tap", Behaviour::SilentAfter, EndState::TakenBack),
            (AbortRace::AbortWins, "tap tap", Behaviour::PendingThenApproved, EndState::Approved),
        ] {
            let what = format!("{family:?}, {first_hand}, {race:?}, {behaviour:?}");
            let world = World::with(family, race, &format!("on waiting 1: {first_hand}\non waiting 2: tap tap\n"));
            let (violations, ends) = cancelled(&world, behaviour);
            assert!(violations.is_empty(), "{what}: {}", in_lines(&violations));
            assert_eq!(ends, [end, EndState::Approved], "{what}");
        }
    }
}

/// Cancels a sale, makes the next one, and returns the verdict.
fn cancelled(world: &World, behaviour: Behaviour) -> (Vec<Violation>, Vec<EndState>) {
    world.lock().wishes.extend([1, 2].map(|number| Wish::new(number, Kind::Sale, AMOUNT + number as u64)));
    // This behaviour applies to the sale that reaches the gateway first.
    world.lock().bank.behaviours.push_back(behaviour);
    world.boot(async |mut till| {
        till.until_ready().await;
        let other = till.another();
        tokio::join!(till.wants(0), async {
            sleep(Duration::from_secs(1)).await;
            other.cancel(0).await;
        });
        till.until_ready().await;
        till.wants(1).await;
        sleep(LATE).await;
    });
    world.judge()
}

fn in_lines(violations: &[Violation]) -> String {
    violations.iter().map(|violation| format!("{violation}\n")).collect()
}

/// Checks an answer that breaks off after each of its bytes.
#[test]
fn an_answer_that_ends_after_any_byte_is_no_answer() {
    let start = Instant::now();
    let tally = Mutex::new(Tally::default());
    let named = |scenario: &Scenario| {
        let names = ["sale, chip", "sale, tap", "refund", "by registration", "card to store, chip", "card to forget"];
        names.contains(&scenario.name) && matches!(scenario.behaviour, Behaviour::Approves | Behaviour::Declines)
    };
    let scenarios: Vec<_> = scenarios().into_iter().filter(named).collect();
    let mut bytes = 0;
    for scenario in &scenarios {
        let length = answered(scenario, None).1;
        bytes += length;
        let ends: Vec<_> =
            (0..length).filter(|end| end % every("POS_AGENT_CUTS").min(8) == 0 || end + 2 > length).collect();
        everywhere(&ends, |end| {
            let run = answered(scenario, Some(*end)).0;
            tally.lock().unwrap().add(scenario, &[], &run);
        });
    }
    let tally = tally.into_inner().unwrap();
    println!("{} of {} scenarios and {bytes} bytes", tally.report("answers cut", start), scenarios.len());
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
    assert!(tally.ends[&EndState::TakenBack] > 0, "no answer was cut where it mattered");
}

/// Simulates a run in which the answer breaks off after this many bytes. Also returns the length of the answer.
fn answered(scenario: &Scenario, ends_after: Option<usize>) -> (Run, usize) {
    let world = World::of_family(scenario.family, scenario.hand);
    prepare(&world, scenario);
    world.lock().bank.answers_end_after = ends_after;
    world.boot(async |mut till| {
        till.until_ready().await;
        till.wants(0).await;
        sleep(LATE).await;
    });
    let length = world.lock().bank.last_answer;
    let (violations, ends) = world.judge();
    (Run { points: Default::default(), fired: [None; 2], violations, end: ends[0], twice: 0 }, length)
}

/// The length of the WAL's header in bytes. The next constant is the length of a WAL frame: a page with its header.
const WAL_HEAD: usize = 32;
const FRAME: usize = 24 + 4096;

/// Checks a power failure between two commits while the disk writes. Any part of the unsynced bytes may be on the disk.
#[test]
fn whatever_of_a_commit_reached_the_disk_the_journal_opens_and_the_sale_settles() {
    let start = Instant::now();
    let tally = Mutex::new(Tally::default());
    let named = |scenario: &Scenario| {
        matches!(scenario.name, "sale, chip" | "sale, tap" | "refund")
            && matches!(scenario.behaviour, Behaviour::Approves | Behaviour::SilentAfter)
            && scenario.troubles.is_empty()
            // The gateway has no effect on which part of a commit survives a power cut.
            && scenario.host_rules == host_rules::played()[0]
    };
    let mut jobs = Vec::new();
    for scenario in scenarios().into_iter().filter(named) {
        let whole = live(&scenario, None, None);
        let commits = (0..whole.points[0].len()).filter(|at| whole.points[0][*at] == PointKind::Commit);
        for at in commits {
            let count = damaged(&scenario, at, None).1;
            let some = (0..count).filter(|variant| variant % every("POS_AGENT_CUTS").min(8) == 0);
            jobs.extend(some.map(|variant| (scenario.clone(), at, variant)));
        }
    }
    everywhere(&jobs, |(scenario, at, variant)| {
        let run = damaged(scenario, *at, Some(*variant)).0;
        let plan = Plan { at: *at, cut: Cut::PowerAfter };
        tally.lock().unwrap().add(scenario, &[plan], &run);
    });
    let tally = tally.into_inner().unwrap();
    println!("{}", tally.report("damaged disks", start));
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
    assert!(tally.runs > 100, "{} runs", tally.runs);
}

/// Simulates a run in which the power is cut after the commit at `at`, with only a part of the commit on the disk. Also
/// returns the number of such parts.
fn damaged(scenario: &Scenario, at: usize, variant: Option<usize>) -> (Run, usize) {
    let world = World::of_family(scenario.family, scenario.hand);
    world.has_sold_before();
    prepare(&world, scenario);
    world.boot(async |mut till| {
        till.until_ready().await;
        world.plan(Some(Plan { at, cut: Cut::PowerAfter }));
        till.wants(0).await;
        sleep(Duration::from_secs(60)).await;
    });
    let fired = world.lock().points.fired();
    let wal = |path: std::path::PathBuf| std::path::PathBuf::from(format!("{}-wal", path.display()));
    let (before, now) = (wal(world.journal_before()), wal(world.journal()));
    let (old, new) = (std::fs::read(before).unwrap(), std::fs::read(&now).unwrap());
    let parts = parts(&old, &new);
    if let Some(part) = variant.map(|variant| &parts[variant]) {
        std::fs::write(&now, part).unwrap();
    }
    finish(&world);
    let (violations, ends) = world.judge();
    (Run { points: Default::default(), fired: [fired, None], violations, end: ends[0], twice: 0 }, parts.len())
}

/// Returns the possible states of the disk for the frames between `old` and `new`: every choice of whole frames, every
/// frame torn at a sector, and the frames in reverse order.
fn parts(old: &[u8], new: &[u8]) -> Vec<Vec<u8>> {
    let frame = |number: usize| WAL_HEAD + number * FRAME..WAL_HEAD + (number + 1) * FRAME;
    let frames = (new.len() - WAL_HEAD) / FRAME;
    let of_old = |range: std::ops::Range<usize>| {
        let mut bytes = old.get(range.start..old.len().min(range.end)).unwrap_or_default().to_vec();
        bytes.resize(range.len(), 0);
        bytes
    };
    let changed: Vec<_> = (0..frames).filter(|number| new[frame(*number)] != of_old(frame(*number))).collect();
    let mut base = of_old(0..new.len());
    // The WAL's header is rewritten with its first frame, and synced before that frame.
    base[..WAL_HEAD].copy_from_slice(&new[..WAL_HEAD]);
    let mut parts = Vec::new();
    for choice in 0..1_u32 << changed.len().min(6) {
        let mut bytes = base.clone();
        for (bit, number) in changed.iter().enumerate().filter(|(bit, _)| choice >> bit & 1 == 1) {
            let _ = bit;
            bytes[frame(*number)].copy_from_slice(&new[frame(*number)]);
        }
        parts.push(bytes);
    }
    for (nth, number) in changed.iter().enumerate() {
        for torn_at in [8, 24, 512, 2048, FRAME - 512] {
            let mut bytes = base.clone();
            for earlier in &changed[..nth] {
                bytes[frame(*earlier)].copy_from_slice(&new[frame(*earlier)]);
            }
            let range = frame(*number);
            let torn = range.start..range.start + torn_at;
            bytes[torn.clone()].copy_from_slice(&new[torn]);
            parts.push(bytes);
        }
    }
    parts
}
