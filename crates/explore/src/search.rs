//! A breadth-first search over all possible moves. The first sequence of moves that leads to a result is therefore a
//! shortest one.
//!
//! A fingerprint of 128 bits identifies a state. It uses times relative to the state's current time
//! ([`Transaction::seen_from`](pos_core::transaction::Transaction::seen_from)). Only the fingerprint, the parent and
//! the move that led there are kept.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use siphasher::sip128::SipHasher13;

use crate::disk::CutAt;
use crate::invariants::{self, BrokenPromise};
use crate::life::Life;
use crate::moves::{Move, What};
use crate::world::World;

/// A visited state.
struct Node {
    parent: u32,
    by: Move,
    depth: u16,
}

/// A world from which a search begins, and the moves before it.
pub(crate) type Start = (World, Vec<Move>);

/// The result of a search.
#[derive(Debug, Default)]
pub(crate) struct Explored {
    pub(crate) states: usize,
    pub(crate) transitions: usize,
    pub(crate) depth: usize,
    /// True if the search reached its bound before it had visited all states.
    pub(crate) is_cut_short: bool,
    pub(crate) broken: Option<BrokenStory>,
    /// For each end, the number of states and the shortest path.
    pub(crate) ends: BTreeMap<String, (usize, Vec<Move>)>,
    /// For each transition between two descriptions of a state, the first move found.
    pub(crate) ways: BTreeMap<(String, String), Move>,
    /// One world for each distinct end, from which a follow-up can begin.
    pub(crate) ended: Vec<Start>,
}

/// A violation: the earlier moves, the world in which the search began, and the moves in it.
#[derive(Debug)]
pub(crate) struct BrokenStory {
    pub(crate) promise: BrokenPromise,
    pub(crate) before: Vec<Move>,
    pub(crate) root: World,
    pub(crate) moves: Vec<Move>,
}

impl Explored {
    /// Combines the results of two searches.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.states += other.states;
        self.transitions += other.transitions;
        self.depth = self.depth.max(other.depth);
        self.is_cut_short |= other.is_cut_short;
        self.broken = self.broken.or(other.broken);
        for (end, (states, story)) in other.ends {
            self.ends.entry(end).or_insert((0, story)).0 += states;
        }
        self
    }
}

/// Explores all courses that begin in these worlds.
pub(crate) fn explore(starts: Vec<Start>, most: usize) -> Explored {
    let mut search = Search::default();
    let mut level = Vec::new();
    for (world, before) in starts {
        if let Some(number) = search.root(&world, before) {
            level.push((number, world));
        }
    }
    while !level.is_empty() && search.found.broken.is_none() {
        let mut next = Vec::new();
        for (at, world) in level {
            search.goes_on(at, &world, &mut next);
            if search.found.broken.is_some() {
                break;
            }
            if search.nodes.len() > most {
                search.found.is_cut_short = true;
                return search.report();
            }
        }
        level = next;
    }
    if search.found.broken.is_none()
        && let Some((broken, at)) = search.without_an_end()
    {
        search.found.broken = Some(search.breaks(broken, at));
    }
    search.report()
}

#[derive(Default)]
struct Search {
    nodes: Vec<Node>,
    /// The starting worlds, with the moves before them.
    roots: HashMap<u32, Start>,
    seen: HashMap<u128, u32>,
    /// Transitions without a fault. The flag marks those of a normal continuation.
    edges: Vec<(u32, u32, bool)>,
    is_end: Vec<bool>,
    /// The distinct states of the bank, the line and the reported outcome at the ends found so far.
    ends: HashSet<u128>,
    text: String,
    found: Explored,
}

impl Search {
    fn root(&mut self, world: &World, before: Vec<Move>) -> Option<u32> {
        let number = self.number();
        if self.seen.insert(fingerprint(world, &mut self.text), number).is_some() {
            return None;
        }
        self.roots.insert(number, (world.clone(), before));
        self.nodes.push(Node { parent: number, by: Move { of_other: false, what: What::PowerFails }, depth: 0 });
        self.is_end.push(false);
        Some(number)
    }

    fn number(&self) -> u32 {
        u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)
    }

    fn goes_on(&mut self, at: u32, world: &World, next: &mut Vec<(u32, World)>) {
        let moves = world.moves();
        for one in &moves {
            let acts = self.goes(at, world, *one, &moves, next);
            // Adds all possible cuts, if the course may have another fault.
            let cuts = CutAt::all(acts).filter(|_| one.what.faults() < world.faults);
            for what in cuts.filter_map(|cut| one.what.with(cut)) {
                self.goes(at, world, Move { what, ..*one }, &moves, next);
            }
            if self.found.broken.is_some() {
                return;
            }
        }
    }

    /// Makes one move from a state, and returns the number of its actions.
    fn goes(&mut self, at: u32, world: &World, one: Move, moves: &[Move], next: &mut Vec<(u32, World)>) -> usize {
        let depth = self.nodes[at as usize].depth + 1;
        let mut after = world.make(one);
        let acts = after.acts;
        after.forgets();
        after.offers();
        self.found.transitions += 1;
        self.note_way(world, &after, one);
        let mark = fingerprint(&after, &mut self.text);
        let number = self.number();
        let known = *self.seen.entry(mark).or_insert(number);
        if one.what.faults() == 0 {
            self.edges.push((at, known, is_in_order(one.what, world, moves)));
        }
        if known != number {
            return acts;
        }
        self.nodes.push(Node { parent: at, by: one, depth });
        self.found.depth = self.found.depth.max(usize::from(depth));
        self.is_end.push(invariants::is_end(&after));
        self.note_end(number, &after);
        match invariants::broken(&after) {
            Some(broken) => self.found.broken = self.found.broken.take().or(Some(self.breaks(broken, number))),
            None => next.push((number, after)),
        }
        acts
    }

    fn note_way(&mut self, before: &World, after: &World, by: Move) {
        let way = (invariants::stands(before), invariants::stands(after));
        if way.0 != way.1 {
            self.found.ways.entry(way).or_insert(by);
        }
    }

    fn note_end(&mut self, number: u32, world: &World) {
        let Some(end) = invariants::end_of(world) else { return };
        if !self.found.ends.contains_key(&end) {
            let story = self.story(number);
            self.found.ends.insert(end.clone(), (0, story));
        }
        self.found.ends.entry(end).and_modify(|(states, _)| *states += 1);
        self.text.clear();
        write!(self.text, "{:?}{:?}{:?}", world.bank, world.wire, world.life.told).expect("a text takes all");
        if self.ends.insert(SipHasher13::new().hash(self.text.as_bytes()).as_u128()) {
            let story = self.story(number);
            self.found.ended.push((world.clone(), story));
        }
    }

    /// Returns the moves from the beginning to a state.
    fn story(&self, at: u32) -> Vec<Move> {
        let (root, moves) = self.way_to(at);
        self.roots.get(&root).into_iter().flat_map(|(_, before)| before.iter().copied()).chain(moves).collect()
    }

    fn breaks(&self, promise: BrokenPromise, at: u32) -> BrokenStory {
        let (root, moves) = self.way_to(at);
        let (root, before) = self.roots[&root].clone();
        BrokenStory { promise, before, root, moves }
    }

    /// Returns the root from which the search reached a state, and the moves to that state.
    fn way_to(&self, mut at: u32) -> (u32, Vec<Move>) {
        let mut moves = Vec::new();
        while self.nodes[at as usize].parent != at {
            let node = &self.nodes[at as usize];
            moves.push(node.by);
            at = node.parent;
        }
        moves.reverse();
        (at, moves)
    }

    /// Returns a state that can reach no end without a fault, or from which the moves repeat forever.
    fn without_an_end(&self) -> Option<(BrokenPromise, u32)> {
        let all: Vec<_> = self.edges.iter().map(|(from, to, _)| (*from, *to)).collect();
        let in_order: Vec<_> = self.edges.iter().filter(|edge| edge.2).map(|(from, to, _)| (*from, *to)).collect();
        let first = |reaches: Vec<bool>| (0..).zip(reaches).find(|(_, reaches)| !reaches).map(|(at, _)| at);
        let stuck = first(reach(&all, &self.is_end, false)).map(|at| (BrokenPromise::NoEnd, at));
        let round = || first(reach(&in_order, &self.is_end, true)).map(|at| (BrokenPromise::GoesRound, at));
        stuck.or_else(round)
    }

    fn report(self) -> Explored {
        Explored { states: self.nodes.len(), ..self.found }
    }
}

/// Returns whether a move belongs to a normal continuation. In it, the bank decides a pending transaction first, and no
/// decision is changed. A wait for a missing entry lasts until its absence is final.
fn is_in_order(one: What, world: &World, moves: &[Move]) -> bool {
    let has = |what: fn(&What) -> bool| moves.iter().any(|one| what(&one.what));
    match one {
        What::Decides { .. } => true,
        _ if world.bank.ponders() => false,
        What::Cancels(_) | What::OtherBegins(_) | What::Arrives { .. } => false,
        What::Deadline(_) => !has(|what| matches!(what, What::Long(_))),
        _ => true,
    }
}

/// Returns the states from which at least one path leads to a marked state. With `by_all`, every path must lead to one.
fn reach(edges: &[(u32, u32)], marked: &[bool], by_all: bool) -> Vec<bool> {
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); marked.len()];
    let mut open: Vec<u32> = vec![0; marked.len()];
    for (from, to) in edges {
        before[*to as usize].push(*from);
        open[*from as usize] += 1;
    }
    let mut reaches = marked.to_vec();
    let mut todo: Vec<u32> = (0..).zip(marked).filter(|(_, marked)| **marked).map(|(at, _)| at).collect();
    while let Some(at) = todo.pop() {
        for from in &before[at as usize] {
            let from = *from as usize;
            open[from] -= 1;
            if !reaches[from] && (!by_all || open[from] == 0) {
                reaches[from] = true;
                todo.push(u32::try_from(from).unwrap_or(u32::MAX));
            }
        }
    }
    reaches
}

fn fingerprint(world: &World, text: &mut String) -> u128 {
    text.clear();
    let World { rival, is_on, disk, wire, bank, is_strange, rest, faults, .. } = world;
    let (is_quiet, lists_lately) = (world.is_quiet(), world.was_booked_lately());
    let offered = world.follows.as_ref().map(|(_, most)| *most);
    let beside = (rival, is_on, is_strange, rest, faults, is_quiet, lists_lately, offered);
    write!(text, "{beside:?}{wire:?}{bank:?}").expect("a text takes all");
    for life in [Some(&world.life), world.other.as_deref()].into_iter().flatten() {
        let Life { has_begun, stuck, proceeds, reader, told, may_cancel, copy, .. } = life;
        let Life { was_declined, was_refused, was_taken, receipt, rest_is_told, .. } = life;
        let reversed_lately = world.now.monotonic.saturating_sub(life.reversed_at) < world.deadlines.resend;
        let first = (has_begun, stuck, proceeds, reader, told, may_cancel, copy);
        let then = (was_declined, was_refused, was_taken, receipt, rest_is_told, reversed_lately);
        let sale = life.sale.as_ref().map(|sale| sale.seen_from(world.now, world.deadlines));
        write!(text, "{first:?}{then:?}{sale:?}").expect("a text takes all");
    }
    let before = disk.before.iter().flatten().flatten().map(|written| &written.sale);
    for sale in disk.sales().chain(before) {
        write!(text, "{:?}", sale.seen_from(world.now, world.deadlines)).expect("a text takes all");
    }
    SipHasher13::new().hash(text.as_bytes()).as_u128()
}
