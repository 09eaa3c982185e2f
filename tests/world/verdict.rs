//! The judge: the invariants of the design, held against the bank's ledger, the printed bytes and what the tills were told. It
//! never asks the agent, and never reads its journal.
//!
//! | | at every moment |
//! |---|---|
//! | charged once | the ledger holds at most one un-reversed approval for a wish |
//! | the right amount | nothing is asked of the bank that no till wished |
//! | never told too early | a till that was told "nothing was charged" finds nothing held, then or ever after |
//! | never taken back | what a till was told is approved stays, with that amount |
//! | paper | what a receipt says of the outcome was or becomes what the till is told |
//! | | **when everything works again** |
//! | nothing stays open | every wish ends by itself, or waits loudly for a person |

use super::bank::{Entry, EntryState};
use super::hardware::lines;
use super::people::{Told, Wish};
use super::{State, World};

#[derive(Default)]
pub(crate) struct Verdict {
    pub(crate) violations: Vec<String>,
}

impl State {
    fn violation(&mut self, why: String) {
        let now = self.now();
        self.verdict.violations.push(format!("at {now:?}: {why}"));
    }

    /// The ledger's entries of a wish.
    pub(crate) fn entries(&self, wish: &Wish) -> impl Iterator<Item = &Entry> {
        let (kind, minor, of) = (wish.payment_type(), wish.minor, wish.of.clone());
        self.bank.ledger.iter().filter(move |entry| {
            entry.kind == kind
                && entry.reference != "of-an-earlier-day"
                && entry.asked == minor
                && (of.is_none() || entry.refers_to == of)
        })
    }

    fn held(&self, wish: &Wish) -> Vec<u64> {
        self.entries(wish).filter(|entry| entry.holds()).map(|entry| entry.approved).collect()
    }

    /// Something was booked.
    pub(super) fn booked(&mut self) {
        for number in 0..self.wishes.len() {
            let wish = self.wishes[number].clone();
            let held = self.held(&wish);
            if held.len() > 1 {
                self.violation(format!("{} is charged {} times", wish.reference, held.len()));
            }
            if !held.is_empty() && wish.told.iter().any(|told| matches!(told, Told::Nothing(_))) {
                self.violation(format!("{} is charged, and its till was told that nothing is", wish.reference));
            }
            let promised = wish.told.iter().any(|told| matches!(told, Told::Approved { .. }));
            if promised && held.is_empty() {
                self.violation(format!("{} was taken back, and its till was told that it is approved", wish.reference));
            }
        }
        let wishes = self.wishes.clone();
        let ours = |entry: &Entry| {
            entry.reference == "of-an-earlier-day"
                || wishes.iter().any(|wish| {
                    // A reversal undoes a wish's own payment, with what was approved of it.
                    let own = self.entries(wish).any(|own| {
                        entry.kind == "RV" && entry.refers_to.as_ref() == Some(&own.id) && entry.asked == own.approved
                    });
                    own || self.entries(wish).any(|own| own.id == entry.id)
                })
        };
        let strange: Vec<_> =
            self.bank.ledger.iter().filter(|entry| !ours(entry)).map(|entry| format!("{entry:?}")).collect();
        for entry in strange {
            self.violation(format!("nobody wished this: {entry}"));
        }
    }

    /// A till was told something.
    pub(super) fn judge_what_was_told(&mut self, number: usize) {
        let wish = self.wishes[number].clone();
        let held = self.held(&wish);
        match wish.told.last() {
            Some(Told::Nothing(text)) if !held.is_empty() => {
                self.violation(format!("{}: told {text:?} while the bank holds {held:?}", wish.reference));
            }
            Some(Told::Approved { minor }) if held != [*minor] => {
                self.violation(format!("{}: told approved {minor} while the bank holds {held:?}", wish.reference));
            }
            Some(Told::Approved { minor }) if *minor != wish.minor && !wish.accepts_part && wish.may_be_partial() => {
                self.violation(format!("{}: {minor} taken for {} without being asked", wish.reference, wish.minor));
            }
            _ => {}
        }
    }
}

impl Wish {
    /// What was decided before is finished with what the bank gives; a payment in part is the cashier's to take.
    fn may_be_partial(&self) -> bool {
        matches!(self.payment_type(), "DB" | "PA" | "CD")
    }
}

/// How a wish ended, for the count of end states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum EndState {
    Approved,
    ApprovedInPart,
    /// Told that nothing is charged; the ledger knows it as declined, or not at all.
    NothingCharged,
    /// Told that nothing is charged; it was, and was taken back.
    TakenBack,
    /// It was never recorded, and never asked of the bank.
    NeverBegan,
    /// Waits for a person, loudly.
    ForAPerson,
}

pub(crate) const END_STATES: [EndState; 6] = [
    EndState::Approved,
    EndState::ApprovedInPart,
    EndState::NothingCharged,
    EndState::TakenBack,
    EndState::NeverBegan,
    EndState::ForAPerson,
];

impl World {
    /// The last judgement, when everything has had its time: the violations, and how each wish ended.
    pub(crate) fn judge(&self) -> (Vec<String>, Vec<EndState>) {
        let mut state = self.lock();
        state.bank_goes_on();
        let mut ends = Vec::new();
        for number in 0..state.wishes.len() {
            let wish = state.wishes[number].clone();
            let held = state.held(&wish);
            let end = match wish.told.last() {
                Some(Told::Approved { minor }) => {
                    if held != [*minor] {
                        state.violation(format!("{}: approved {minor}, and the bank holds {held:?}", wish.reference));
                    }
                    if *minor == wish.minor { EndState::Approved } else { EndState::ApprovedInPart }
                }
                Some(Told::Nothing(_)) => {
                    if !held.is_empty() {
                        state.violation(format!("{}: nothing charged, and the bank holds {held:?}", wish.reference));
                    }
                    let taken_back = state.entries(&wish).any(|entry| entry.reversed);
                    if taken_back { EndState::TakenBack } else { EndState::NothingCharged }
                }
                Some(Told::Unconfirmed { needs_a_person: true }) => EndState::ForAPerson,
                Some(Told::Unknown(_)) | None => {
                    if state.entries(&wish).any(|entry| entry.state != EntryState::Declined) {
                        state
                            .violation(format!("{}: not known to the terminal, and asked of the bank", wish.reference));
                    }
                    EndState::NeverBegan
                }
                Some(told) => {
                    state.violation(format!("{} does not end: {told:?}", wish.reference));
                    EndState::ForAPerson
                }
            };
            ends.push(end);
            if let Err(why) = state.judge_paper(&wish) {
                state.violation(why);
            }
        }
        (state.verdict.violations.clone(), ends)
    }
}

impl State {
    /// The receipts of a wish against what its till was told in the end.
    fn judge_paper(&self, wish: &Wish) -> Result<(), String> {
        let amount = |minor: u64| format!("{}.{:02} EUR", minor / 100, minor % 100);
        for paper in &self.printer.papers {
            let lines = lines(paper);
            let is_ours = lines
                .iter()
                .any(|line| line.strip_prefix("Reference").is_some_and(|rest| rest.trim() == wish.reference));
            // A slip to be signed says what the host said; the outcome is on the paper that follows.
            let is_slip = lines.iter().any(|line| line.starts_with("Signature") || line.contains("SIGN"));
            if !is_ours || is_slip {
                continue;
            }
            let says = |word: &str| lines.iter().any(|line| line == word);
            let wrong = |what: &str| {
                Err(format!("{}: a receipt says {what}, its till was told {:?}", wish.reference, wish.told))
            };
            let last = wish.told.last();
            if says("APPROVED") {
                let approved = matches!(last, Some(Told::Approved { minor }) if *minor == wish.minor);
                if !approved {
                    return wrong("APPROVED");
                }
                if !lines.iter().any(|line| line.ends_with(&amount(wish.minor))) {
                    return wrong("another amount");
                }
            }
            if says("PARTIALLY APPROVED") && !matches!(last, Some(Told::Approved { minor }) if *minor < wish.minor) {
                return wrong("PARTIALLY APPROVED");
            }
            let nothing = ["DECLINED", "REVERSED", "CANCELLED"].iter().any(|word| says(word));
            if nothing && !matches!(last, Some(Told::Nothing(_))) {
                return wrong("that nothing was charged");
            }
        }
        Ok(())
    }
}
