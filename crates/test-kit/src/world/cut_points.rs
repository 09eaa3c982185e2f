//! The cut points: everything that is seen from outside, numbered, where the power and the lines can be cut.

use std::collections::BTreeMap;

/// What happens at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The journal writes.
    Commit,
    /// A packet to the reader.
    FrameOut,
    /// A packet from it.
    FrameIn,
    /// A request on its way.
    Gateway(Phase),
    /// A piece of a receipt.
    Print,
    /// A till is told something.
    Till,
}

/// Where a request can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    BeforeConnect,
    InHandshake,
    HandshakeDone,
    RequestHalfSent,
    /// The whole request is there, and nothing was done with it. Cut here, the bank carries it out later.
    RequestRead,
    Processed,
    AnswerHalfSent,
    AnswerRead,
}

/// All of them.
pub const PHASES: [Phase; 8] = [
    Phase::BeforeConnect,
    Phase::InHandshake,
    Phase::HandshakeDone,
    Phase::RequestHalfSent,
    Phase::RequestRead,
    Phase::Processed,
    Phase::AnswerHalfSent,
    Phase::AnswerRead,
];

/// What is cut at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cut {
    /// The power, before it happens.
    PowerBefore,
    /// The power, when it has happened and nothing else has.
    PowerAfter,
    /// The line over which it happens; a commit that fails, for the journal.
    Line,
}

pub const CUTS: [Cut; 3] = [Cut::PowerBefore, Cut::PowerAfter, Cut::Line];

/// One cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pub at: usize,
    pub cut: Cut,
}

/// What becomes of what is about to happen at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Fate {
    Happens,
    /// It happens, and then the power is gone: whoever asked cuts it.
    Last,
    /// The line is cut.
    Cut,
    /// The power is gone already.
    Dead,
}

/// The points that were passed.
#[derive(Default)]
pub struct Points {
    counting: bool,
    seen: Vec<Place>,
    plan: Option<Plan>,
    /// Whether the plan's cut was made.
    fired: Option<Place>,
}

impl Points {
    /// Begins to count anew, and to cut where the plan says.
    pub fn plan(&mut self, plan: Option<Plan>) {
        *self = Self { counting: true, seen: Vec::new(), plan, fired: None };
    }

    /// Nothing is counted, and nothing cut.
    pub fn rest(&mut self) {
        self.counting = false;
    }

    pub(super) fn pass(&mut self, place: Place) -> Option<Cut> {
        if !self.counting {
            return None;
        }
        let number = self.seen.len();
        self.seen.push(place);
        let cut = self.plan.filter(|plan| plan.at == number)?.cut;
        self.fired = Some(place);
        Some(cut)
    }

    pub fn seen(&self) -> &[Place] {
        &self.seen
    }

    pub fn fired(&self) -> Option<Place> {
        self.fired
    }
}

/// How often each kind of point is there.
pub fn count(places: &[Place]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for place in places {
        *counts.entry(format!("{place:?}")).or_default() += 1;
    }
    counts
}
