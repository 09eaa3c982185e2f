//! Explores every course of a transaction up to a bound, with the core itself and not with a model of it. `pos-explore`
//! prints the shortest sequence of events that violates an invariant.
//!
//! *Is* the smallest world around one transaction in which every kind of fault can happen, and a search through all of
//! it. *Is not* a proof without a bound, because the number of faults is limited, and the bank, the reader and the till
//! are minimal. *Invariant*: the driver makes no decisions, and the core itself has run every printed sequence.

#![allow(clippy::print_stdout, reason = "its report is what it is for")]

mod bank;
mod board;
mod disk;
mod invariants;
mod life;
mod moves;
mod scenario;
mod search;
mod shapes;
mod story;
mod wire;
mod world;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Parser;

use moves::{Move, What};
use scenario::PlayableScenario;
use search::{BrokenStory, Explored, Start};
use shapes::Shape;

/// Run every course of a sale up to a bound, with the core itself, and check each invariant in every state
#[derive(Parser)]
struct Arguments {
    /// Maximum number of faults in one course: power cuts, lost answers, a failing disk, …
    #[arg(long, default_value_t = 1)]
    faults: u8,
    /// Maximum number of faults in the transaction that follows
    #[arg(long, default_value_t = 1)]
    faults_after: u8,
    /// Maximum number of faults in two transactions that race for one payment
    #[arg(long, default_value_t = 1)]
    faults_racing: u8,
    /// Maximum number of faults if an earlier journal can be restored (the restore is one fault) [default: the same]
    #[arg(long)]
    faults_copied: Option<u8>,
    /// Explore only the shapes whose names begin with this text: chip, tap, refund, …
    #[arg(long, default_value = "")]
    shape: String,
    /// Show the shortest path to each end
    #[arg(long)]
    ways: bool,
    /// Show the transitions between states as a table for the manual
    #[arg(long)]
    graph: bool,
    /// Maximum number of states for each shape
    #[arg(long, default_value_t = 20_000_000)]
    most: usize,
}

/// The report on a shape: its exploration, and the explorations of the follow-ups.
struct Report {
    rows: Vec<String>,
    is_whole: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    println!("{:<28} {:>9} {:>12} {:>6} {:>7}  ends", "what is wished", "states", "transitions", "depth", "s");
    let chosen: Vec<&Shape> = shapes::ALL.iter().filter(|shape| shape.name.starts_with(&arguments.shape)).collect();
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(chosen.len().max(1));
    let is_whole = std::thread::scope(|scope| {
        let work = || {
            let mut is_whole = true;
            while let Some(shape) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                let report = lives(shape, &arguments);
                is_whole &= report.is_whole;
                // A violation must be fixed first, so no further shapes are explored.
                next.fetch_add(if report.is_whole { 0 } else { chosen.len() }, Ordering::Relaxed);
                println!("{}", report.rows.join("\n"));
            }
            is_whole
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().all(|worker| worker.join().unwrap_or(false))
    });
    if is_whole && !chosen.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Explores a shape, and the follow-ups of each of its ends.
#[allow(clippy::disallowed_methods, reason = "the rate is printed; nothing is decided by it")]
fn lives(shape: &Shape, arguments: &Arguments) -> Report {
    let mut report = Report { rows: Vec::new(), is_whole: true };
    let began = Instant::now();
    let faults = match () {
        // Two transactions that race get a smaller search.
        () if shape.is_race() => arguments.faults_racing,
        () if shape.is_copied => arguments.faults_copied.unwrap_or(arguments.faults),
        () => arguments.faults,
    };
    let first = search::explore(vec![(shape.world(faults), Vec::new())], arguments.most);
    report.tell(shape.name, &first, began, arguments.ways);
    if arguments.graph {
        report.rows = graph(&first);
        return report;
    }
    for kind in shape.follow_ups() {
        let began = Instant::now();
        // All ends that lead to the same order are explored in one search.
        let mut orders: BTreeMap<String, Vec<Start>> = BTreeMap::new();
        for (world, story) in &first.ended {
            let Some(world) = shapes::follow_up(*kind, world, arguments.faults_after) else { continue };
            orders.entry(format!("{:?}", world.life.order)).or_default().push((world, story.clone()));
        }
        let searched = orders.into_values().map(|starts| search::explore(starts, arguments.most));
        let Some(found) = searched.reduce(Explored::and) else { continue };
        report.tell(&format!("{}, then {}", shape.name, kind.as_str()), &found, began, arguments.ways);
    }
    report
}

/// Returns the transitions between states. Those by a power cut or a restart are omitted, because the terminal can lose
/// power in every state. It then starts in the same state, or the transaction is unconfirmed.
fn graph(found: &Explored) -> Vec<String> {
    let mut above = String::new();
    let row = |((from, to), by): (&(String, String), &Move)| {
        // A state with several ways is named once.
        let state = if *from == above { "″" } else { from };
        let row = format!("| {state} | {to} | {} |", by.to_string().split(';').next().unwrap_or_default());
        above.clone_from(from);
        row
    };
    let is_told = |((from, to), by): &(&(String, String), &Move)| {
        from != "dark" && to != "dark" && !matches!(by.what, What::Boots(_) | What::DiskIsBack(_))
    };
    let head = ["| state | then | when |".to_owned(), "|---|---|---|".to_owned()];
    head.into_iter().chain(found.ways.iter().filter(is_told).map(row)).collect()
}

impl Report {
    fn tell(&mut self, name: &str, found: &Explored, began: Instant, ways: bool) {
        let ends: Vec<String> = found.ends.iter().map(|(end, (states, _))| format!("{end} {states}")).collect();
        let short = if found.is_cut_short { " NOT COMPLETELY EXPLORED" } else { "" };
        let Explored { states, transitions, depth, .. } = found;
        let seconds = began.elapsed().as_secs();
        let ends = ends.join(", ");
        self.rows.push(format!("{name:<28} {states:>9} {transitions:>12} {depth:>6} {seconds:>7}  {ends}{short}"));
        for (end, (_, story)) in found.ends.iter().filter(|_| ways) {
            self.tell_story(&format!("{name}, the shortest way to {end}"), story);
        }
        if let Some(BrokenStory { promise, before, root, moves }) = &found.broken {
            let story: Vec<Move> = before.iter().chain(moves).copied().collect();
            self.tell_story(&format!("{name}: {promise:?}"), &story);
            self.rows.push(format!("{}\n", PlayableScenario::of(root, moves)));
        }
        self.is_whole &= found.broken.is_none() && !found.is_cut_short;
    }

    fn tell_story(&mut self, what: &str, story: &[Move]) {
        self.rows.push(format!("\n{what}"));
        self.rows.extend(story.iter().enumerate().map(|(nth, one)| format!("  {:>2}. {one}", nth + 1)));
        self.rows.push(String::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_life_with_one_fault_holds() {
        for shape in shapes::ALL {
            let arguments = Arguments {
                faults: 1,
                faults_after: 0,
                faults_racing: 1,
                faults_copied: None,
                shape: String::new(),
                ways: false,
                graph: false,
                most: 1_000_000,
            };
            let report = lives(shape, &arguments);
            assert!(report.is_whole, "{}", report.rows.join("\n"));
        }
    }

    #[test]
    fn the_manual_has_the_graph_that_is_drawn() {
        let manual = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/proof.md");
        let manual = std::fs::read_to_string(manual).expect("the manual");
        let shape = shapes::ALL.iter().find(|shape| shape.name == "chip, parts taken").expect("the shape");
        let found = search::explore(vec![(shape.world(1), Vec::new())], 1_000_000);
        let drawn = graph(&found).join("\n");
        assert!(manual.contains(&drawn), "docs/src/proof.md is to have this:\n{drawn}");
    }

    #[test]
    fn a_bound_that_is_too_small_is_said() {
        let arguments = Arguments {
            faults: 1,
            faults_after: 0,
            faults_racing: 0,
            faults_copied: None,
            shape: String::new(),
            ways: false,
            graph: false,
            most: 100,
        };
        let report = lives(&shapes::ALL[0], &arguments);
        assert!(!report.is_whole && report.rows[0].ends_with("NOT COMPLETELY EXPLORED"), "{:?}", report.rows);
    }
}
