//! The bank's ledger: what it booked, and every request that it read, with what became of it.
//!
//! Two requests with the same reference, payment, kind and amount are one thing that was asked. A bank that keeps no
//! rules may book it twice; that is the bank's doing, and marked (`Entry::again`). Whatever is asked under different
//! references is asked twice by the agent.

use std::collections::BTreeMap;
use std::time::Duration;

use super::State;

/// The reference of what was booked before the world began.
pub const EARLIER_DAY: &str = "of-an-earlier-day";
/// How long a request that got no answer may still be carried out, as far as the agent knows (`absence-final-after-h`
/// of the board's configuration).
pub const ABSENCE_FINAL: Duration = Duration::from_secs(3600);

/// One line of the ledger.
#[derive(Clone, Debug)]
pub struct Entry {
    pub id: String,
    pub kind: String,
    /// What was asked for, in minor units.
    pub asked: u64,
    pub approved: u64,
    pub currency: String,
    pub reference: String,
    /// The till's wish, by the note that its request carried; a reversal by the agent itself carries none.
    pub wish: Option<usize>,
    pub refers_to: Option<String>,
    pub practice: Option<Practice>,
    pub state: EntryState,
    /// The code that declines it.
    pub declined_with: &'static str,
    /// What went back by approved reversals, whoever asked for them.
    pub reversed: u64,
    /// What of that the agent sent back by itself.
    pub taken_back: u64,
    /// When it was booked.
    pub at: Duration,
    /// The same request was booked before.
    pub again: bool,
}

/// Why a card's data are used again (`standingInstruction.industryPractice`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Practice {
    /// More is reserved.
    Increment,
    /// It is reserved anew.
    Anew,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryState {
    Approved,
    Declined,
    Pending { until: Duration, approve: bool },
}

impl Entry {
    /// Money moved, and did not all move back.
    pub fn holds(&self) -> bool {
        self.state == EntryState::Approved && self.reversed < self.approved
    }

    /// What the terminal left standing of it: a till that reverses its own payment later takes nothing back from a
    /// promise.
    pub fn stands(&self) -> u64 {
        if self.state == EntryState::Approved { self.approved.saturating_sub(self.taken_back) } else { 0 }
    }

    /// What is certainly there, before anything went back.
    fn certain(&self) -> u64 {
        if self.state == EntryState::Approved { self.approved } else { 0 }
    }

    /// What is there, or may come.
    fn possible(&self) -> u64 {
        if matches!(self.state, EntryState::Pending { .. }) { self.asked } else { self.certain() }
    }
}

/// A request that the bank read whole.
#[derive(Clone, Debug)]
pub struct Asked {
    pub what: AskedThing,
    pub wish: Option<usize>,
    pub at: Duration,
    /// The board that asked.
    pub board: usize,
    pub fate: RequestFate,
}

/// What makes two requests one thing that was asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AskedThing {
    pub reference: String,
    /// The payment that it refers to.
    pub payment: Option<String>,
    pub kind: String,
    pub minor: u64,
    pub currency: String,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFate {
    /// Not processed, and said so: it may be sent again.
    NotProcessed,
    /// Refused, and nothing was booked.
    Refused,
    /// Nothing was done with it, and nothing said that the agent could know it by.
    Lost,
    /// It is carried out later.
    Late,
    /// A line of the ledger, by its place; it may be declined.
    Booked(usize),
}

/// What one thing that was asked moves.
#[derive(Default)]
struct Moves {
    surely: Option<u64>,
    perhaps: u64,
}

impl State {
    /// What moved, or may still move, by each thing that was asked of a payment.
    pub(super) fn asked_of(&self, payment: &str) -> BTreeMap<AskedThing, u64> {
        let (mut things, now) = (BTreeMap::<AskedThing, Moves>::new(), self.now());
        for asked in self.bank.asked.iter().filter(|asked| asked.what.payment.as_deref() == Some(payment)) {
            let moves = things.entry(asked.what.clone()).or_default();
            match asked.fate {
                RequestFate::NotProcessed | RequestFate::Refused => {}
                RequestFate::Late => moves.perhaps = asked.what.minor,
                RequestFate::Lost if now.saturating_sub(asked.at) < ABSENCE_FINAL => moves.perhaps = asked.what.minor,
                RequestFate::Lost => {}
                RequestFate::Booked(place) => {
                    let entry = &self.bank.ledger[place];
                    match entry.state {
                        EntryState::Declined => {}
                        EntryState::Pending { .. } => moves.perhaps = entry.asked,
                        // What goes back of a refund or capture was not given or taken in the end. A bank without rules
                        // books one request twice: that is one thing asked.
                        EntryState::Approved => {
                            let net = entry.approved.min(entry.asked).saturating_sub(entry.reversed);
                            moves.surely = moves.surely.max(Some(net));
                        }
                    }
                }
            }
        }
        things.into_iter().map(|(what, moves)| (what, moves.surely.unwrap_or(moves.perhaps))).collect()
    }

    /// Whether more was asked of a payment than there is: the rule that is broken, and how.
    pub(super) fn asked_too_much(&self, payment: &str) -> Option<(&'static str, String)> {
        let Some(entry) = self.bank.ledger.iter().find(|entry| entry.id == payment) else {
            let asked: u64 = self.asked_of(payment).values().sum();
            return (asked > 0).then(|| ("asked of a payment that never was", format!("{asked} of {payment}")));
        };
        // What is added to a reservation is part of it.
        let base = match entry.practice {
            Some(Practice::Increment) => {
                let base = entry.refers_to.as_deref();
                self.bank.ledger.iter().find(|entry| Some(entry.id.as_str()) == base).unwrap_or(entry)
            }
            _ => entry,
        };
        let parts: Vec<&Entry> = (self.bank.ledger.iter())
            .filter(|part| part.practice == Some(Practice::Increment) && part.refers_to.as_ref() == Some(&base.id))
            .chain([base])
            .collect();
        let mut all: Vec<(AskedThing, u64)> = Vec::new();
        for part in &parts {
            let asked = self.asked_of(&part.id).into_iter();
            let moves = |what: &AskedThing| matches!(what.kind.as_str(), "RV" | "RF" | "CP");
            // To reverse what was declined moves nothing.
            let nothing = |what: &AskedThing| what.kind == "RV" && part.state == EntryState::Declined;
            let of_part = asked.filter(|(what, may)| *may > 0 && moves(what) && !nothing(what)).collect::<Vec<_>>();
            let strange = |(what, _): &&(AskedThing, u64)| match what.kind.as_str() {
                "RF" => part.kind == "PA",
                "CP" => part.kind != "PA",
                _ => false,
            };
            if let Some((what, _)) = of_part.iter().find(strange) {
                return Some((
                    "a kind that cannot follow the other",
                    format!("{} of {}: {what:?}", what.kind, part.kind),
                ));
            }
            let back: u64 = of_part.iter().filter(|(what, _)| what.kind != "CP").map(|(_, may)| may).sum();
            // A reservation is given free together with what was added to it.
            let there = if part.kind == "PA" && part.id == base.id { u64::MAX } else { part.possible() };
            if back > there {
                return Some((
                    "more asked back than there is",
                    format!("{back} of {there} of {}: {of_part:?}", part.id),
                ));
            }
            all.extend(of_part);
        }
        // What is taken of a reservation, and what of it is given free, come out of what is certainly reserved.
        let sum = |kind: &str| all.iter().filter(|(what, _)| what.kind == kind).map(|(_, may)| may).sum::<u64>();
        let (taken, free) = (sum("CP"), sum("RV"));
        let reserved: u64 = parts.iter().map(|part| if taken > 0 { part.certain() } else { part.possible() }).sum();
        let how = || format!("{taken} captured and {free} given free of {reserved} of {}: {all:?}", base.id);
        (base.kind == "PA" && taken + free > reserved).then(|| ("more captured or given free than is reserved", how()))
    }
}
