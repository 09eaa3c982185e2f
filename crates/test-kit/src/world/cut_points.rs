//! The cut points. Every externally visible event has a number, and the power and the connections can be cut there.

use std::collections::BTreeMap;

/// The kind of event at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PointKind {
    /// A write of the journal.
    Commit,
    /// A packet to the reader.
    FrameOut,
    /// A packet from the reader.
    FrameIn,
    /// A phase of a request.
    Gateway(Phase),
    /// A piece of a receipt.
    Print,
    /// A message to a till.
    Till,
}

/// The phases of a request in which the connection can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    BeforeConnect,
    InHandshake,
    HandshakeDone,
    RequestHalfSent,
    /// The whole request was read, but not processed. After a cut here, the bank carries it out later.
    RequestRead,
    Processed,
    AnswerHalfSent,
    AnswerRead,
}

/// All phases.
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

/// The kind of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cut {
    /// A power cut before the event.
    PowerBefore,
    /// A power cut directly after the event.
    PowerAfter,
    /// A cut of the event's connection; for the journal, a commit that fails.
    Line,
}

pub const CUTS: [Cut; 3] = [Cut::PowerBefore, Cut::PowerAfter, Cut::Line];

/// One cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pub at: usize,
    pub cut: Cut,
}

/// The result for the event at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Fate {
    Happens,
    /// The event happens, and then the caller cuts the power.
    Last,
    /// The connection is cut.
    Cut,
    /// The power is already off.
    Dead,
}

/// The passed points.
#[derive(Default)]
pub struct Points {
    counting: bool,
    seen: Vec<PointKind>,
    plan: Option<Plan>,
    /// The point of the planned cut, once it was made.
    fired: Option<PointKind>,
}

impl Points {
    /// Starts a new count, with the planned cut.
    pub fn plan(&mut self, plan: Option<Plan>) {
        *self = Self { counting: true, seen: Vec::new(), plan, fired: None };
    }

    /// Stops counting and cutting.
    pub fn rest(&mut self) {
        self.counting = false;
    }

    pub(super) fn pass(&mut self, place: PointKind) -> Option<Cut> {
        if !self.counting {
            return None;
        }
        let number = self.seen.len();
        self.seen.push(place);
        let cut = self.plan.filter(|plan| plan.at == number)?.cut;
        self.fired = Some(place);
        Some(cut)
    }

    pub fn seen(&self) -> &[PointKind] {
        &self.seen
    }

    pub fn fired(&self) -> Option<PointKind> {
        self.fired
    }
}

/// Counts the points of each kind.
pub fn count(places: &[PointKind]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for place in places {
        *counts.entry(format!("{place:?}")).or_default() += 1;
    }
    counts
}
