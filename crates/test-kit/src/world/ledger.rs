//! The bank's ledger: its bookings, and every request that it read, with the result.
//!
//! Requests with the same reference, payment, kind and amount are one operation. With permissive rules, the bank may
//! book an operation twice. This is the bank's fault, and the second entry is marked (`Entry::again`). Requests with
//! different references are separate operations of the agent.

use std::collections::BTreeMap;
use std::time::Duration;

use super::State;

/// The reference of bookings from the time before the world began.
pub const EARLIER_DAY: &str = "of-an-earlier-day";
/// The time in which a request without an answer may still be carried out, as the agent assumes
/// (`absence-final-after-h` in the board's configuration).
pub const ABSENCE_FINAL: Duration = Duration::from_secs(3600);

/// An entry of the ledger.
#[derive(Clone, Debug)]
pub struct Entry {
    pub id: String,
    pub kind: String,
    /// The requested amount, in minor units.
    pub asked: u64,
    pub approved: u64,
    pub currency: String,
    pub reference: String,
    /// The till's wish, from the note in the request. The agent's automatic reversal has no note.
    pub wish: Option<usize>,
    pub refers_to: Option<String>,
    pub practice: Option<Practice>,
    pub state: EntryState,
    /// The result code of the decline.
    pub declined_with: &'static str,
    /// The sum of all approved reversals.
    pub reversed: u64,
    /// The part of that sum that the agent reversed automatically.
    pub taken_back: u64,
    /// The time of the booking.
    pub at: Duration,
    /// True if the same request was already booked.
    pub again: bool,
}

/// The reason for the reuse of a card's data (`standingInstruction.industryPractice`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Practice {
    /// A pre-authorisation is raised.
    Increment,
    /// A pre-authorisation is replaced.
    Anew,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryState {
    Approved,
    Declined,
    Pending { until: Duration, approve: bool },
}

impl Entry {
    /// Returns whether money moved and was not completely returned.
    pub fn holds(&self) -> bool {
        self.state == EntryState::Approved && self.reversed < self.approved
    }

    /// Returns the amount that the terminal did not reverse automatically. A till's later reversal of its payment does
    /// not reduce it.
    pub fn stands(&self) -> u64 {
        if self.state == EntryState::Approved { self.approved.saturating_sub(self.taken_back) } else { 0 }
    }

    /// Returns the amount that was certainly approved, before any reversal.
    fn certain(&self) -> u64 {
        if self.state == EntryState::Approved { self.approved } else { 0 }
    }

    /// Returns the amount that was approved or may still be approved.
    fn possible(&self) -> u64 {
        if matches!(self.state, EntryState::Pending { .. }) { self.asked } else { self.certain() }
    }
}

/// A request that the bank read completely.
#[derive(Clone, Debug)]
pub struct Asked {
    pub what: AskedThing,
    pub wish: Option<usize>,
    pub at: Duration,
    /// The board that sent it.
    pub board: usize,
    pub fate: RequestFate,
}

/// An operation. Requests with equal values belong to one operation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AskedThing {
    pub reference: String,
    /// The payment that the operation refers to.
    pub payment: Option<String>,
    pub kind: String,
    pub minor: u64,
    pub currency: String,
}

/// The result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFate {
    /// Not processed, as the answer says, so it may be sent again.
    NotProcessed,
    /// Refused without a booking.
    Refused,
    /// Not processed, but the agent cannot know this.
    Lost,
    /// To be carried out later.
    Late,
    /// Booked in the ledger at this position, perhaps as declined.
    Booked(usize),
}

/// The money that one operation moves.
#[derive(Default)]
struct Moves {
    surely: Option<u64>,
    perhaps: u64,
}

impl State {
    /// Returns the money that each operation on a payment has moved or may still move.
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
                        // A reversal of a refund or capture reduces the amount of that operation. If permissive rules
                        // book one request twice, it is still one operation.
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

    /// Returns the violated rule and its details, if the requests exceed the amount of a payment.
    pub(super) fn asked_too_much(&self, payment: &str) -> Option<(&'static str, String)> {
        let Some(entry) = self.bank.ledger.iter().find(|entry| entry.id == payment) else {
            let asked: u64 = self.asked_of(payment).values().sum();
            return (asked > 0)
                .then(|| ("the request names a payment that does not exist", format!("{asked} of {payment}")));
        };
        // An increment is part of its pre-authorisation.
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
            // A reversal of a declined payment moves nothing.
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
            // A pre-authorisation is released together with its increments.
            let there = if part.kind == "PA" && part.id == base.id { u64::MAX } else { part.possible() };
            if back > there {
                return Some((
                    "more was reversed or refunded than was charged",
                    format!("{back} of {there} of {}: {of_part:?}", part.id),
                ));
            }
            all.extend(of_part);
        }
        // The captured and released amounts together must not exceed the amount that is certainly reserved.
        let sum = |kind: &str| all.iter().filter(|(what, _)| what.kind == kind).map(|(_, may)| may).sum::<u64>();
        let (taken, free) = (sum("CP"), sum("RV"));
        let reserved: u64 = parts.iter().map(|part| if taken > 0 { part.certain() } else { part.possible() }).sum();
        let how = || format!("{taken} captured and {free} given free of {reserved} of {}: {all:?}", base.id);
        (base.kind == "PA" && taken + free > reserved)
            .then(|| ("more was captured or released than was reserved", how()))
    }
}
