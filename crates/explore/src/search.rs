//! Breadth-first over all that may happen, so that the first story that is found of anything is a shortest one.
//!
//! A state is known by a fingerprint of 128 bits of its form as it is seen from its own moment
//! ([`Sale::seen_from`](pos_core::sale::Sale::seen_from)). Kept of it are that, its parent and the move that led there.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use pos_core::sale::Order;

use siphasher::sip128::SipHasher13;

use crate::invariants::{self, BrokenPromise};
use crate::world::{DEADLINES, Move, World};

/// A state that was seen.
struct Node {
    parent: u32,
    by: Move,
    depth: u16,
}

/// A world in which a life begins, and what happened before.
pub(crate) type Start = (World, Vec<Move>);

/// What was explored.
#[derive(Debug, Default)]
pub(crate) struct Explored {
    pub(crate) states: usize,
    pub(crate) transitions: usize,
    pub(crate) depth: usize,
    /// The bound was reached before everything was seen.
    pub(crate) is_cut_short: bool,
    pub(crate) broken: Option<(BrokenPromise, Vec<Move>)>,
    /// How many states each end has, and the shortest way to it.
    pub(crate) ends: BTreeMap<String, (usize, Vec<Move>)>,
    /// From one standing to another: by the move that was met first.
    pub(crate) ways: BTreeMap<(String, String), Move>,
    /// A world of each distinct end: another follows there.
    pub(crate) ended: Vec<Start>,
}

impl Explored {
    /// This and another search, told as one.
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

/// All lives of an order that begin so.
pub(crate) fn explore(order: &Order, starts: Vec<Start>, most: usize) -> Explored {
    let mut search = Search::new(order);
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
        && let Some(stuck) = without_an_end(&search.edges, &search.is_end)
    {
        search.found.broken = Some((BrokenPromise::NoEnd, search.story(stuck)));
    }
    search.report()
}

struct Search<'a> {
    order: &'a Order,
    nodes: Vec<Node>,
    /// What happened before each root.
    before: HashMap<u32, Vec<Move>>,
    seen: HashMap<u128, u32>,
    /// From state to state without a fault.
    edges: Vec<(u32, u32)>,
    is_end: Vec<bool>,
    /// What the bank and the wire are like at each end that was found.
    ends: HashSet<u128>,
    text: String,
    found: Explored,
}

impl<'a> Search<'a> {
    fn new(order: &'a Order) -> Self {
        let (nodes, before, seen, edges) = Default::default();
        let (is_end, ends, text, found) = Default::default();
        Self { order, nodes, before, seen, edges, is_end, ends, text, found }
    }

    fn root(&mut self, world: &World, before: Vec<Move>) -> Option<u32> {
        let number = self.number();
        if self.seen.insert(fingerprint(world, false, &mut self.text), number).is_some() {
            return None;
        }
        self.before.insert(number, before);
        self.nodes.push(Node { parent: number, by: Move::PowerFails, depth: 0 });
        self.is_end.push(false);
        Some(number)
    }

    fn number(&self) -> u32 {
        u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)
    }

    fn goes_on(&mut self, at: u32, world: &World, next: &mut Vec<(u32, World)>) {
        let depth = self.nodes[at as usize].depth + 1;
        for one in world.moves(depth > 1) {
            let mut after = world.make(one, self.order);
            after.forgets();
            after.offers();
            self.found.transitions += 1;
            self.note_way(world, &after, one);
            let mark = fingerprint(&after, true, &mut self.text);
            let number = self.number();
            let known = *self.seen.entry(mark).or_insert(number);
            if one.faults() == 0 {
                self.edges.push((at, known));
            }
            if known != number {
                continue;
            }
            self.nodes.push(Node { parent: at, by: one, depth });
            self.found.depth = self.found.depth.max(usize::from(depth));
            self.is_end.push(invariants::is_end(&after));
            self.note_end(number, &after);
            if let Some(broken) = invariants::broken(&after) {
                self.found.broken = Some((broken, self.story(number)));
                return;
            }
            next.push((number, after));
        }
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
        write!(self.text, "{:?}{:?}{:?}", world.bank, world.wire, world.told).expect("a text takes all");
        if self.ends.insert(SipHasher13::new().hash(self.text.as_bytes()).as_u128()) {
            let story = self.story(number);
            self.found.ended.push((world.clone(), story));
        }
    }

    /// The moves from the beginning to a state.
    fn story(&self, mut at: u32) -> Vec<Move> {
        let mut moves = Vec::new();
        while self.nodes[at as usize].parent != at {
            let node = &self.nodes[at as usize];
            moves.push(node.by);
            at = node.parent;
        }
        moves.extend(self.before.get(&at).into_iter().flatten().rev());
        moves.reverse();
        moves
    }

    fn report(self) -> Explored {
        Explored { states: self.nodes.len(), ..self.found }
    }
}

/// A state from which no end can be reached without another fault.
fn without_an_end(edges: &[(u32, u32)], ended: &[bool]) -> Option<u32> {
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); ended.len()];
    for (from, to) in edges {
        before[*to as usize].push(*from);
    }
    let mut reaches = ended.to_vec();
    let mut todo: Vec<u32> = (0..).zip(ended).filter(|(_, ended)| **ended).map(|(at, _)| at).collect();
    while let Some(at) = todo.pop() {
        for from in &before[at as usize] {
            if !std::mem::replace(&mut reaches[*from as usize], true) {
                todo.push(*from);
            }
        }
    }
    (0..).zip(reaches).find(|(_, reaches)| !reaches).map(|(at, _)| at)
}

fn fingerprint(world: &World, has_begun: bool, text: &mut String) -> u128 {
    text.clear();
    let seen = world.board.sale.as_ref().map(|sale| sale.seen_from(world.now, DEADLINES));
    let disk = world.disk.sale.as_ref().map(|sale| sale.seen_from(world.now, DEADLINES));
    // Whether something may still be on its way.
    let is_quiet = world.is_quiet();
    let World { board, reader, wire, bank, told, may_cancel, faults, .. } = world;
    let (is_on, stuck, proceeds) = (board.is_on, board.stuck, board.proceeds);
    let beside =
        (is_on, stuck, proceeds, reader, told, may_cancel, faults, has_begun, is_quiet, world.was_booked_lately());
    let chip_refused = world.chip_refused;
    let reversed_lately = world.now.monotonic.saturating_sub(world.reversed_at) < DEADLINES.resend;
    let offered = world.follows.as_ref().map(|(_, most)| *most);
    write!(text, "{beside:?}{offered:?}{reversed_lately}{chip_refused}{seen:?}{disk:?}{wire:?}{bank:?}")
        .expect("a text takes all");
    SipHasher13::new().hash(text.as_bytes()).as_u128()
}
