//! Kills of the real program, after which nothing is lost and no customer is charged twice. The program is a separate
//! process and is killed with SIGKILL at random moments. Every fourth time it is stopped with SIGTERM instead, as
//! systemd does.
//!
//! The moments are in sales, pre-authorisations, increments, captures, refunds, reversals, credits and payments with a
//! stored card. These refer to earlier transactions by reference and by payment id. They come from two tills that share
//! the terminal. Kills also occur during recoveries, even while the gateway is unreachable.
//!
//! Every run uses three gateways: one that follows the project's reading of the interface, one without rules, and one
//! that does exactly what the interface says. The checks judge what the agent requested, not what a gateway permitted.
//!
//! The program, the pty to the reader, TLS to the gateway, the till's socket, the printer's TCP connection and the
//! SQLite file are real. The devices are simulators, which keep running. The judge (`checker`) reads the gateway's
//! ledger, the printed bytes and the messages to the till, but never the agent's journal.
//!
//! `POS_AGENT_SEED=N` draws other rounds, `POS_AGENT_ROUNDS=N` sets their number, `POS_AGENT_ROUND=N` runs one of them
//! alone, and `POS_AGENT_GATEWAY=literal` runs them with that gateway only. Each shop of a terminal has a reader of
//! another family, and `POS_READER_FAMILY=miura|vipa|neo2` selects one. A seed repeats the plan, but the exact time
//! of a moment depends on the machine.
//!
//! The test has two limits. First, it does not cut the machine's power: the system still writes to the disk what a
//! killed process has written. SQLite guarantees that synced data survives a power cut. Second, a sale that the gateway
//! never received stays "not confirmed" here, because it ends a day later (`till`).

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test may panic, and tells its seed; its parts are modules"
)]
#![allow(clippy::disallowed_methods, reason = "the seconds are printed, and a remembered life only says when to kill")]

#[path = "kill_rounds/checker.rs"]
mod checker;
#[path = "kill_rounds/plan.rs"]
mod plan;
#[path = "kill_rounds/scenario.rs"]
mod scenario;
#[path = "kill_rounds/taken.rs"]
mod taken;
#[path = "kill_rounds/terminal.rs"]
mod terminal;
#[path = "kill_rounds/till.rs"]
mod till;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use plan::{By, Named, Plan, Wish};
use pos_sim::gateway::HostRules;
use pos_sim::reader::Family;
use pos_terms::transaction::Kind;
use pos_test_kit::families;
use scenario::Stage;
use terminal::{Restart, Terminal, customer};
use till::{Refusal, Till};

/// The number of rounds in a plain `cargo test`.
const ROUNDS: u64 = 12;
/// From this number of rounds on, kills must have occurred in every stage.
const ENOUGH: usize = 300;
/// The number of terminals, each on its own thread: two for each gateway. A terminal waits half of the time, for a
/// silent gateway or for a retry, and the others work meanwhile.
const TERMINALS: u64 = 6;
/// The number of sales that wait for the end of the day before a terminal gets a new shop. The terminal looks up each
/// of them at every start and at every sale.
const WAITING_OF_A_SHOP: usize = 3;
/// The number of rounds of a shop. The next shop has a reader of another family.
const ROUNDS_OF_A_SHOP: usize = 8;
/// A time that exceeds any round. A round that hangs fails and prints its story.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Tally {
    /// The numbers of rounds, by the reader's family.
    families: BTreeMap<&'static str, usize>,
    /// The counts by gateway.
    gateways: BTreeMap<HostRules, Counted>,
    fell: BTreeMap<Stage, usize>,
}

#[derive(Default)]
struct Counted {
    rounds: usize,
    restarts: usize,
    /// The number of restarts after a stop by SIGTERM.
    gentle: usize,
    /// The number of restarts without a reachable gateway.
    away: usize,
    /// The number of entries that the permissive gateway booked in addition to the requested ones.
    residual: usize,
    kinds: BTreeMap<String, usize>,
    ends: BTreeMap<&'static str, usize>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        for (stage, count) in other.fell {
            *self.fell.entry(stage).or_default() += count;
        }
        for (family, count) in other.families {
            *self.families.entry(family).or_default() += count;
        }
        for (host_rules, theirs) in other.gateways {
            let mine = self.gateways.entry(host_rules).or_default();
            for (sum, more) in [
                (&mut mine.rounds, theirs.rounds),
                (&mut mine.restarts, theirs.restarts),
                (&mut mine.gentle, theirs.gentle),
                (&mut mine.away, theirs.away),
                (&mut mine.residual, theirs.residual),
            ] {
                *sum += more;
            }
            theirs.kinds.into_iter().for_each(|(name, count)| *mine.kinds.entry(name).or_default() += count);
            theirs.ends.into_iter().for_each(|(name, count)| *mine.ends.entry(name).or_default() += count);
        }
    }

    fn rounds(&self) -> usize {
        self.gateways.values().map(|counted| counted.rounds).sum()
    }

    fn print(&self, seconds: f64) {
        println!("{} rounds, {seconds:.1} s, violations 0", self.rounds());
        println!("rounds by reader: {:?}", self.families);
        println!("kills by what was seen from outside:");
        for (stage, words) in Stage::ALL {
            println!("{:6}  {words}", self.fell.get(&stage).unwrap_or(&0));
        }
        let columns: Vec<_> = HostRules::ALL.iter().map(|one| format!("{:>11}", one.as_str())).collect();
        println!("by gateway:\n{}", columns.concat());
        let row = |name: &str, count: &dyn Fn(&Counted) -> usize| {
            let counts = HostRules::ALL.iter().map(|one| self.gateways.get(one).map_or(0, count));
            println!("{}  {name}", counts.map(|count| format!("{count:11}")).collect::<String>());
        };
        row("rounds", &|counted| counted.rounds);
        row("restarts", &|counted| counted.restarts);
        row("of these after SIGTERM", &|counted| counted.gentle);
        row("of these with the gateway away", &|counted| counted.away);
        row("booked more often than asked (residual)", &|counted| counted.residual);
        let names: BTreeSet<&String> = self.gateways.values().flat_map(|counted| counted.kinds.keys()).collect();
        names.iter().for_each(|name| row(name, &|counted| counted.kinds.get(*name).copied().unwrap_or(0)));
        println!("ends:");
        let names: BTreeSet<&str> = self.gateways.values().flat_map(|counted| counted.ends.keys().copied()).collect();
        names.iter().for_each(|name| row(name, &|counted| counted.ends.get(name).copied().unwrap_or(0)));
    }
}

/// Returns the family of the reader in a terminal's nth shop. Each terminal begins with another pair of gateway and
/// family, and each new shop has the next family.
fn family_of(seed: u64, terminal: u64, shop: u64) -> Family {
    families::of_number(seed + terminal + terminal / 3 + shop)
}

/// Returns a terminal's gateway. The gateways alternate, so that all three take part in every run.
fn gateway_of(seed: u64, terminal: u64) -> HostRules {
    let Ok(only) = std::env::var("POS_AGENT_GATEWAY") else { return HostRules::in_turn(terminal + seed) };
    let known = HostRules::ALL.into_iter().find(|one| one.as_str() == only);
    known.unwrap_or_else(|| panic!("POS_AGENT_GATEWAY is checked, permissive or literal"))
}

#[test]
fn a_kill_at_any_moment_loses_nothing_and_charges_nobody_twice() {
    let number = |name: &str| {
        std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap_or_else(|_| panic!("{name} is a number")))
    };
    let (seed, rounds) = (number("POS_AGENT_SEED").unwrap_or(1), number("POS_AGENT_ROUNDS").unwrap_or(ROUNDS));
    let all: Vec<u64> = number("POS_AGENT_ROUND").map_or_else(|| (0..rounds).collect(), |one| vec![one]);
    println!("POS_AGENT_SEED={seed} POS_AGENT_ROUNDS={rounds}");
    let _ = rustls::crypto::ring::default_provider().install_default();
    let begun = Instant::now();
    let terminals = (0..TERMINALS).map(|terminal| {
        let mine: Vec<u64> = all.iter().copied().filter(|round| round % TERMINALS == terminal).collect();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(terminal_runs(seed, terminal, &mine))
        })
    });
    let mut tally = Tally::default();
    let mut failed = Vec::new();
    for terminal in terminals.collect::<Vec<_>>() {
        match terminal.join().unwrap() {
            Ok(one) => tally.add(one),
            Err(story) => failed.push(story),
        }
    }
    assert!(failed.is_empty(), "{} VIOLATIONS\n{}", failed.len(), failed.join("\n"));
    tally.print(begun.elapsed().as_secs_f64());
    if tally.rounds() >= ENOUGH {
        let never: Vec<_> = Stage::ALL.iter().filter(|(stage, _)| !tally.fell.contains_key(stage)).collect();
        assert!(never.is_empty(), "no kill fell into {never:?}");
    }
}

/// Checks a journal that is removed or replaced. These rounds are a tenth of the usual number, and at most one per way
/// and moment.
#[test]
fn a_journal_that_is_taken_away_charges_nobody_twice_and_lets_nothing_begin() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let (seed, all) = (number("POS_AGENT_SEED").unwrap_or(1), number("POS_AGENT_ROUNDS").unwrap_or(ROUNDS));
    let rounds = (all / 10).clamp(4, taken::MOST);
    let _ = rustls::crypto::ring::default_provider().install_default();
    let threads = (0..TERMINALS.min(rounds)).map(|first| {
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let mine = (first..rounds).step_by(TERMINALS as usize);
            mine.map(|round| runtime.block_on(taken::round(seed, round))).collect::<Vec<_>>()
        })
    });
    let played: Vec<_> = threads.collect::<Vec<_>>().into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    let failed: Vec<_> = played.iter().filter_map(|round| round.as_ref().err()).map(String::as_str).collect();
    assert!(failed.is_empty(), "{} VIOLATIONS\n{}", failed.len(), failed.join("\n"));
    let mut ways = BTreeMap::<taken::How, usize>::new();
    let (mut ends, mut adopted) = (BTreeMap::<String, usize>::new(), 0);
    for round in played.iter().flatten() {
        *ways.entry(round.how).or_default() += 1;
        *ends.entry(format!("{:?}", round.ended)).or_default() += 1;
        adopted += usize::from(round.adopted);
    }
    println!("{rounds} journals taken away {ways:?}, rescue journals adopted {adopted}, ends {ends:?}, violations 0");
}

async fn terminal_runs(seed: u64, number: u64, rounds: &[u64]) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let host_rules = gateway_of(seed, number);
    let counted = tally.gateways.entry(host_rules).or_default();
    let mut lives = Lives::default();
    let mut rounds = rounds.iter().copied().peekable();
    for shop in 0.. {
        if rounds.peek().is_none() {
            break;
        }
        let family = family_of(seed, number, shop);
        let mut terminal = Terminal::open(host_rules, family).await;
        let mut rounds = rounds.by_ref().take(ROUNDS_OF_A_SHOP);
        let till = Till::new(&terminal.shop, &terminal.scenario, terminal.loopback.clone());
        while till.waiting() < WAITING_OF_A_SHOP
            && let Some(round) = rounds.next()
        {
            let plan = Plan::of_round(seed, round, 100_000 + 2 * round);
            terminal.round_begins();
            let name = format!("S{seed}R{round}");
            let ran = tokio::time::timeout(PATIENCE, run(&mut terminal, &till, &plan, &name, &mut lives)).await;
            let ran = ran.unwrap_or_else(|_| Err(format!("not settled within {} s", PATIENCE.as_secs())));
            ran.map_err(|why| story(seed, round, &plan, &why, &terminal))?;
            counted.rounds += 1;
            *tally.families.entry(family.as_str()).or_default() += 1;
            let fell = terminal.scenario.fell();
            counted.restarts += fell.len();
            counted.away += terminal.scenario.times_away();
            counted.gentle += terminal.scenario.times_gentle();
            fell.into_iter().for_each(|stage| *tally.fell.entry(stage).or_default() += 1);
        }
        for deal in till.book.deals().iter() {
            *counted.kinds.entry(name_of(&deal.wish)).or_default() += 1;
            *counted.ends.entry(deal.ended_as()).or_default() += 1;
        }
        counted.residual += checker::Books::of(&terminal.shop.gateway.ledger()).residual(host_rules)?;
    }
    Ok(tally)
}

/// The durations of undisturbed transactions. A random moment is a fraction of such a duration.
#[derive(Default)]
struct Lives(HashMap<(&'static str, Option<&'static str>, u64), Duration>);

impl Lives {
    fn of(&self, wish: &Wish) -> Duration {
        self.0.get(&wish.like()).copied().unwrap_or(Duration::from_millis(150))
    }

    fn learn(&mut self, wish: &Wish, life: Duration) {
        let known = self.0.entry(wish.like()).or_insert(life);
        *known = (*known + life) / 2;
    }
}

/// Runs one round: the requests, the kills, and then the checks.
async fn run(terminal: &mut Terminal, till: &Till, plan: &Plan, name: &str, lives: &mut Lives) -> Result<(), String> {
    let (shop, scenario) = (terminal.shop.clone(), terminal.scenario.clone());
    let later = terminal.later.clone();
    // The agent starts once more after the plan's last kill.
    let kills = plan.kills[1..].iter().copied().map(Some).chain([None]);
    *later.lock().unwrap() = kills.zip(&plan.away).map(|(kill, away)| Restart { kill, away: *away }).collect();
    let first = till.book.deals().len();
    let work = async {
        till.until_serving().await;
        till.until_idle().await;
        for (n, wish) in plan.deals.iter().enumerate() {
            let reference = format!("{name}.{n}");
            let of = wish.of.map(|of| format!("{name}.{of}"));
            if let Some(of) = &of
                && let Some(why) = nothing_to_follow(till, of, wish)
            {
                scenario.note(why);
                break;
            }
            if let Some(once) = wish.once {
                shop.gateway.force(once);
            }
            scenario.deal_begins();
            let begun = Instant::now();
            if n == plan.victim {
                scenario.arm(plan.kills[0], lives.of(wish));
            }
            till.follows(&reference);
            let rival = plan.rival.as_ref().filter(|_| n + 1 == plan.deals.len());
            let carried_out = async {
                let refusal = if rival.is_some() { Refusal::May } else { Refusal::Never };
                let first = till.carry_out(wish, &reference, of.as_deref(), plan.twice, refusal);
                let Some(rival) = rival else { return first.await };
                let reference = format!("{name}.rival");
                let is_his = rival.by == By::Socket || plan.deals[0].by == By::Token;
                let refusal = if is_his { Refusal::May } else { Refusal::Must };
                let second = till.carry_out(rival, &reference, of.as_deref(), false, refusal);
                let (first, second) = tokio::join!(first, second);
                first.and(second)
            };
            let guest = async {
                match wish.card {
                    Some(card) => customer(&shop, &scenario, card).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                ended = carried_out => ended?,
                () = guest => {}
            }
            if scenario.fell().is_empty() {
                lives.learn(wish, begun.elapsed());
            }
            till.until_idle().await;
        }
        scenario.over();
        // Carries out the remaining kills, whose moment has not come or has passed. After the last start, the agent is
        // left running.
        let more = || later.lock().unwrap().iter().any(|restart| restart.kill.is_some());
        while scenario.is_armed() || more() || scenario.fell().is_empty() {
            scenario.strike();
            leave_alone(&later);
            until_settled_again(till, first).await?;
        }
        until_settled_again(till, first).await?;
        for reference in &begun(till, first) {
            till.ask_again(reference).await?;
        }
        Ok::<_, String>(())
    };
    tokio::select! {
        worked = work => worked?,
        why = terminal.keep_running() => return Err(why),
    }
    let (ledger, receipts) = (terminal.shop.gateway.ledger(), terminal.shop.printer.receipts());
    let deals = till.book.deals();
    checker::settled(&ledger, &deals, &receipts)?;
    checker::Books::of(&ledger).residual(terminal.shop.gateway.host_rules())?;
    // A transaction that ended before the first kill has all its receipts.
    let undisturbed = terminal.scenario.fell().first() == Some(&Stage::Over);
    for deal in deals[first..].iter().filter(|deal| undisturbed && deal.ended_as() == "approved") {
        let (whole, torn) = checker::approvals_on_paper(&receipts, &deal.reference);
        if (whole, torn) != (2, 0) {
            let reference = &deal.reference;
            return Err(format!(
                "{reference} was approved and has {whole} whole and {torn} torn receipts instead of 2 and 0"
            ));
        }
    }
    Ok(())
}

/// Cancels the remaining kills. The next start is the last one, with the gateway as in the plan.
fn leave_alone(later: &Mutex<VecDeque<Restart>>) {
    let mut later = later.lock().unwrap();
    let away = later.front().is_some_and(|next| next.away);
    *later = [Restart { kill: None, away }].into();
}

/// Returns the reason why a transaction cannot have a follow-up.
fn nothing_to_follow(till: &Till, of: &str, wish: &Wish) -> Option<&'static str> {
    let deals = till.book.deals();
    let Some(earlier) = deals.iter().find(|deal| deal.reference == of).filter(|deal| deal.ended_as() == "approved")
    else {
        return Some("the earlier one was not approved: nothing can follow it");
    };
    let kept = earlier.end().and_then(|end| end.registration.as_ref());
    (wish.named == Named::StoredCard && kept.is_none())
        .then_some("the gateway has not told under which id it keeps the card")
}

/// Returns the references of the transactions that the round has begun.
fn begun(till: &Till, first: usize) -> Vec<String> {
    let deals = till.book.deals();
    deals[first..].iter().filter(|deal| deal.refused.is_none()).map(|deal| deal.reference.clone()).collect()
}

async fn until_settled_again(till: &Till, first: usize) -> Result<(), String> {
    till.until_serving().await;
    for reference in &begun(till, first) {
        till.look_again(reference).await?;
    }
    till.until_idle().await;
    Ok(())
}

fn name_of(wish: &Wish) -> String {
    use pos_sim::reader::CardEntry;
    let what = match (wish.kind, wish.card.map(|(_, entry)| entry)) {
        (Kind::Sale, Some(CardEntry::Insert)) => "sale, chip",
        (Kind::Sale, Some(CardEntry::Tap)) => "sale, tap",
        (Kind::Sale, _) => "sale, swipe",
        (kind, _) => kind.as_str(),
    };
    let named = if wish.of.is_some() && wish.named == Named::Payment { ", by payment id" } else { "" };
    format!("{what}{named}")
}

/// Returns everything that a person needs to understand and repeat the failure.
fn story(seed: u64, round: u64, plan: &Plan, why: &str, terminal: &Terminal) -> String {
    let ledger = terminal.shop.gateway.ledger();
    let entries = ledger.entries().iter().rev().take(12).rev().map(|entry| {
        format!(
            "{} {:?} {} {} {:?} refers to {:?}",
            entry.id,
            entry.merchant_transaction_id,
            entry.kind.as_str(),
            entry.amount,
            entry.state,
            entry.refers_to
        )
    });
    let entries: Vec<_> = entries.collect();
    format!(
        "\n==== {why}\nthe gateway: {}\nthe reader: {}\nagain: POS_AGENT_SEED={seed} POS_AGENT_ROUND={round} cargo test --test kill_rounds\n\
         with the rounds before it: POS_AGENT_SEED={seed} POS_AGENT_ROUNDS={} cargo test --test kill_rounds\nthe plan: {}\n\
         what happened:\n{}\nthe end of the gateway's ledger:\n{}\nthe agent's log:\n{}",
        terminal.shop.gateway.host_rules().as_str(),
        terminal.shop.family().as_str(),
        round + 1,
        plan.told(),
        terminal.scenario.story().join("\n"),
        entries.join("\n"),
        terminal.log_of_round(),
    )
}
