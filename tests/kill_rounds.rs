//! Nothing is lost and nobody is charged twice: the real program in a process of its own, killed with SIGKILL at random moments of
//! sales, pre-authorisations, captures, refunds and reversals, and of the recoveries after them.
//!
//! Real are the program, the pty to the reader, TLS to the gateway, the socket of the till, the printer's TCP and the SQLite file; the
//! devices are the simulators, which live on. The judge (`checker`) reads the gateway's ledger, the printed bytes and what the till
//! was told, and never the agent's journal.
//!
//! `POS_AGENT_SEED=N` draws other rounds, `POS_AGENT_ROUNDS=N` sets how many, `POS_AGENT_ROUND=N` runs one of them alone. A seed
//! repeats the plan; a moment that is a time falls where the machine lets it fall.
//!
//! What it does not show: the power of the machine itself. What a killed process had written the system still writes; that what is
//! synced outlives the power is SQLite's business. And a sale that the gateway never got stays "not confirmed" here: it ends a day
//! later (`till`).

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
#[path = "kill_rounds/scene.rs"]
mod scene;
#[path = "kill_rounds/terminal.rs"]
mod terminal;
#[path = "kill_rounds/till.rs"]
mod till;

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use plan::{Plan, Random, Wish};
use pos_agent::till::Kind;
use scene::Stage;
use terminal::{Terminal, customer};
use till::Till;

/// Rounds of a plain `cargo test`.
const ROUNDS: u64 = 12;
/// From so many rounds on, a kill must have fallen into every stage.
const ENOUGH: u64 = 300;
/// Each on a thread of its own: half of the time one waits (for a silent gateway, or to try again) the others work.
const TERMINALS: u64 = 4;
/// With so many sales that wait for the end of the day a terminal gets a new shop: at every start and every sale it asks for each.
const WAITING_OF_A_SHOP: usize = 3;
/// Longer than any round takes; one that hangs fails with its story.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Tally {
    rounds: u64,
    restarts: usize,
    fell: BTreeMap<Stage, usize>,
    kinds: BTreeMap<&'static str, usize>,
    ends: BTreeMap<&'static str, usize>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.restarts += other.restarts;
        for (stage, count) in other.fell {
            *self.fell.entry(stage).or_default() += count;
        }
        for (mine, theirs) in [(&mut self.kinds, other.kinds), (&mut self.ends, other.ends)] {
            for (name, count) in theirs {
                *mine.entry(name).or_default() += count;
            }
        }
    }

    fn print(&self, seconds: f64) {
        println!("{} rounds, {} restarts, {seconds:.1} s, violations 0", self.rounds, self.restarts);
        println!("kills by what was seen from outside:");
        for (stage, words) in Stage::ALL {
            println!("{:6}  {words}", self.fell.get(&stage).unwrap_or(&0));
        }
        for (what, counts) in [("transactions:", &self.kinds), ("ends:", &self.ends)] {
            println!("{what}");
            counts.iter().for_each(|(name, count)| println!("{count:6}  {name}"));
        }
    }
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
            runtime.block_on(terminal_runs(seed, &mine))
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
    if tally.rounds >= ENOUGH {
        let never: Vec<_> = Stage::ALL.iter().filter(|(stage, _)| !tally.fell.contains_key(stage)).collect();
        assert!(never.is_empty(), "no kill fell into {never:?}");
    }
}

async fn terminal_runs(seed: u64, rounds: &[u64]) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let mut lives = Lives::default();
    let mut rounds = rounds.iter().copied().peekable();
    while rounds.peek().is_some() {
        let mut terminal = Terminal::open().await;
        let till = Till::new(&terminal.shop, &terminal.scene);
        while till.waiting() < WAITING_OF_A_SHOP
            && let Some(round) = rounds.next()
        {
            let plan = Plan::draw(&mut Random::of_round(seed, round), 100_000 + 2 * round);
            terminal.round_begins();
            let name = format!("S{seed}R{round}");
            let ran = tokio::time::timeout(PATIENCE, run(&mut terminal, &till, &plan, &name, &mut lives)).await;
            let ran = ran.unwrap_or_else(|_| Err(format!("not settled within {} s", PATIENCE.as_secs())));
            ran.map_err(|why| story(seed, round, &plan, &why, &terminal))?;
            tally.rounds += 1;
            let fell = terminal.scene.fell();
            tally.restarts += fell.len();
            fell.into_iter().for_each(|stage| *tally.fell.entry(stage).or_default() += 1);
        }
        for deal in till.book.deals().iter() {
            *tally.kinds.entry(name_of(&deal.wish)).or_default() += 1;
            *tally.ends.entry(deal.ended_as()).or_default() += 1;
        }
    }
    Ok(tally)
}

/// How long transactions take that nobody disturbs: a random moment is a part of that.
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

/// One round: what is asked for, the kills, and after them the judgement.
async fn run(terminal: &mut Terminal, till: &Till, plan: &Plan, name: &str, lives: &mut Lives) -> Result<(), String> {
    let (shop, scene) = (terminal.shop.clone(), terminal.scene.clone());
    let later = terminal.later.clone();
    *later.lock().unwrap() = plan.kills[1..].iter().copied().collect();
    let first = till.book.deals().len();
    let work = async {
        till.until_serving().await;
        till.until_idle().await;
        for (n, wish) in plan.deals.iter().enumerate() {
            let reference = format!("{name}.{n}");
            let of = (n > 0).then(|| format!("{name}.0"));
            if n > 0 && !approved(till, first) {
                scene.note("the first was not approved: nothing can follow it");
                break;
            }
            if let Some(once) = wish.once {
                shop.gateway.force(once);
            }
            scene.deal_begins();
            let begun = Instant::now();
            if n == plan.victim {
                scene.arm(plan.kills[0], lives.of(wish));
            }
            let carried_out = till.carry_out(wish, &reference, of.as_deref(), plan.twice);
            let guest = async {
                match wish.card {
                    Some(card) => customer(&shop, &scene, card).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                ended = carried_out => ended?,
                () = guest => {}
            }
            if scene.fell().is_empty() {
                lives.learn(wish, begun.elapsed());
            }
            till.until_idle().await;
        }
        scene.over();
        // The kills that are left: their moment has not come, or has gone by. The last of them leaves the agent alone.
        while scene.is_armed() || !later.lock().unwrap().is_empty() || scene.fell().is_empty() {
            scene.strike();
            later.lock().unwrap().clear();
            until_settled_again(till, first).await?;
        }
        until_settled_again(till, first).await?;
        let references: Vec<String> = till.book.deals()[first..].iter().map(|deal| deal.reference.clone()).collect();
        for reference in &references {
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
    // What was over before the first kill has all its paper.
    let undisturbed = terminal.scene.fell().first() == Some(&Stage::Over);
    for deal in deals[first..].iter().filter(|deal| undisturbed && deal.ended_as() == "approved") {
        let papers = checker::approvals_on_paper(&receipts, &deal.reference);
        if papers != 2 {
            return Err(format!("{} was approved and has {papers} receipts instead of 2", deal.reference));
        }
    }
    Ok(())
}

/// Whether the round's first transaction was approved in full.
fn approved(till: &Till, first: usize) -> bool {
    till.book.deals().get(first).is_some_and(|deal| deal.ended_as() == "approved")
}

async fn until_settled_again(till: &Till, first: usize) -> Result<(), String> {
    till.until_serving().await;
    let references: Vec<String> = till.book.deals()[first..].iter().map(|deal| deal.reference.clone()).collect();
    for reference in &references {
        till.look_again(reference).await?;
    }
    till.until_idle().await;
    Ok(())
}

fn name_of(wish: &Wish) -> &'static str {
    match (wish.kind, wish.card.map(|(_, entry)| entry)) {
        (Kind::Sale, Some(pos_agent::sim::reader::Entry::Insert)) => "sale, chip",
        (Kind::Sale, Some(pos_agent::sim::reader::Entry::Tap)) => "sale, tap",
        (Kind::Sale, _) => "sale, swipe",
        (kind, _) => kind.as_str(),
    }
}

/// All that a person needs to see what happened, and to have it happen again.
fn story(seed: u64, round: u64, plan: &Plan, why: &str, terminal: &Terminal) -> String {
    let ledger = terminal.shop.gateway.ledger();
    let entries = ledger.entries().iter().rev().take(12).rev().map(|entry| {
        format!(
            "{} {} {} {:?} refers to {:?}",
            entry.id,
            entry.kind.as_str(),
            entry.amount,
            entry.state,
            entry.refers_to
        )
    });
    let entries: Vec<_> = entries.collect();
    format!(
        "\n==== {why}\nagain: POS_AGENT_SEED={seed} POS_AGENT_ROUND={round} cargo test --test kill_rounds\n\
         with the rounds before it: POS_AGENT_SEED={seed} POS_AGENT_ROUNDS={} cargo test --test kill_rounds\nthe plan: {}\n\
         what happened:\n{}\nthe end of the gateway's ledger:\n{}\nthe agent's log:\n{}",
        round + 1,
        plan.told(),
        terminal.scene.story().join("\n"),
        entries.join("\n"),
        terminal.log_of_round(),
    )
}
