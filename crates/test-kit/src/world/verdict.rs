//! The judge. It checks the invariants of the design with the bank's requests and bookings, the printed bytes and the
//! messages to the tills. It neither asks the agent nor reads the journal.
//!
//! | | at every moment |
//! |---|---|
//! | charged once | for each wish, the ledger holds at most one approval that is not reversed |
//! | the right amount | every request to the bank is for a till's wish |
//! | no more than approved | the refunds, reversals and captures of a payment under different references together do not exceed the approved amount |
//! | sent once | a payment is never sent twice; a capture or refund is sent again only under the same reference |
//! | not too early | from the moment when the till gets the outcome "nothing was charged", the bank holds no charge for the wish |
//! | lasting approval | an approval that a till has received stays, with that amount, until a till reverses it |
//! | confirmed first | a transaction that needs a confirmation is approved only after the till has accepted it, or after the till was silent and its rule for silence is to keep it |
//! | refund of the rest | if a till accepts a part, exactly the rest is refunded once, or the refund ends with a message that asks for a person |
//! | cards | a card is stored once, by its own request, and its till gets its id; if the outcome says that it was not stored, it is not usable; nothing is paid with it |
//! | paper | the outcome on a receipt is the till's outcome, at that time or later |
//! | | **when everything works again** |
//! | nothing stays open | every wish ends automatically, or waits for a person and reports this |
//!
//! The judge counts the agent's requests, not the bookings of a bank with permissive rules. If such a bank books one
//! request twice, this is counted separately (`Bank::booked_twice`).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use pos_terms::transaction::{Kind, OnSilence};

use super::hardware::lines;
use super::host_rules::HostRules;
use super::ledger::{ABSENCE_FINAL, Entry, EntryState, RequestFate};
use super::tills::{Earlier, Says, TillResult, Wish};
use super::{State, World};

const NOTHING_TOLD: &str = "nothing is charged, its till was told, and the bank holds something";
const ANOTHER_TOLD: &str = "its till was told that it is approved, and the bank holds something else";

#[derive(Default)]
pub struct Verdict {
    pub violations: Vec<Violation>,
}

/// The violated rule.
#[derive(Clone, Debug)]
pub struct Violation {
    pub rule: &'static str,
    /// The details of the violation.
    how: String,
    at: Duration,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at {:?}: {}: {}", self.at, self.rule, self.how)
    }
}

/// The violated rules, with the number of violations of each, and where the first occurred.
#[derive(Default)]
pub struct Broken(BTreeMap<(&'static str, String), usize>);

impl Broken {
    pub fn add(&mut self, violations: &[Violation], place: &str) {
        for violation in violations {
            *self.0.entry((violation.rule, place.to_owned())).or_default() += 1;
        }
    }
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut rules: BTreeMap<&str, (usize, Vec<&str>)> = BTreeMap::new();
        for ((rule, place), count) in &self.0 {
            let (all, places) = rules.entry(rule).or_default();
            *all += count;
            places.push(place);
        }
        for (rule, (count, places)) in rules {
            let some = places[..places.len().min(4)].join("; ");
            writeln!(f, "  BROKEN {count} times, in {} plays: {rule}: {some}", places.len())?;
        }
        Ok(())
    }
}

impl State {
    pub(super) fn violation(&mut self, rule: &'static str, how: String) {
        let at = self.now();
        self.verdict.violations.push(Violation { rule, how, at });
    }

    /// Returns the ledger entries of a wish.
    pub fn entries(&self, wish: &Wish) -> impl Iterator<Item = &Entry> {
        let number = wish.number;
        self.bank.ledger.iter().filter(move |entry| entry.wish == Some(number))
    }

    /// Returns the amounts that the bank holds for a wish. If a request may be sent twice, a double booking is the
    /// bank's fault and does not count.
    fn held(&self, wish: &Wish) -> Vec<u64> {
        let may_be_sent_again = wish.is_later();
        if !wish.kind.moves_money() {
            // For a card, the storage or deletion counts.
            let done = self.entries(wish).filter(|entry| entry.state == EntryState::Approved);
            return done.map(Entry::stands).collect();
        }
        let counts = |entry: &&Entry| entry.stands() > 0 && !(entry.again && may_be_sent_again);
        self.entries(wish).filter(counts).map(Entry::stands).collect()
    }

    /// Judges a booking.
    pub(super) fn booked(&mut self) {
        for number in 0..self.wishes.len() {
            let wish = self.wishes[number].clone();
            let held = self.held(&wish);
            if held.len() > 1 {
                self.violation("charged more than once", format!("{}, {} times", wish.reference, held.len()));
            }
            if !held.is_empty() && wish.told.iter().any(|told| matches!(told, TillResult::Nothing(_))) {
                self.violation("charged after its till was told that nothing is", wish.reference.clone());
            }
            let promised = wish.told.iter().any(|told| matches!(told, TillResult::Approved { .. }));
            if promised && held.is_empty() {
                self.violation("reversed after its till was told that it is approved", wish.reference.clone());
            }
        }
    }

    /// Judges a request that was read and whose result is known.
    pub(super) fn judge_asked(&mut self, place: usize) {
        let asked = self.bank.asked[place].clone();
        let what = &asked.what;
        if let Some(why) = self.not_wished(place) {
            self.violation(why, format!("{asked:?}"));
        }
        let others = || self.bank.asked.iter().take(place).filter(|other| other.fate != RequestFate::NotProcessed);
        let under_it = others().filter(|other| other.what.reference == what.reference).max_by_key(|other| other.at);
        if let Some(before) = under_it.cloned() {
            let absent = asked.at.saturating_sub(before.at) >= ABSENCE_FINAL;
            let may_be_sooner = self.bank.host_rules == HostRules::Literal;
            let why = match what.kind.as_str() {
                "RV" if before.what != *what => Some("a reversal has another request's reference"),
                "RV" => None,
                "CP" | "RF" if before.what != *what => Some("something else was sent under the same reference"),
                "CP" | "RF" if !absent && !may_be_sooner => Some("sent again before its absence was final"),
                "CP" | "RF" => None,
                // Deleting a card twice is harmless.
                "DR" if before.what == *what => None,
                _ => Some("a payment was sent again"),
            };
            if let Some(why) = why {
                self.violation(why, format!("{asked:?} after {before:?}"));
            }
        }
        let too_much = what.payment.clone().and_then(|payment| self.asked_too_much(&payment));
        if let Some((rule, how)) = too_much {
            self.violation(rule, how);
        }
    }

    /// Returns why a request is neither for a till's wish nor an allowed automatic request of the agent.
    fn not_wished(&self, place: usize) -> Option<&'static str> {
        let asked = &self.bank.asked[place];
        let what = &asked.what;
        if let Some(wish) = asked.wish.map(|number| self.wishes.iter().find(|wish| wish.number == number)) {
            let Some(wish) = wish else { return Some("no till wished this") };
            let of = match &wish.of {
                None => what.payment.is_none(),
                Some(Earlier::Payment(id)) => what.payment.as_ref() == Some(id),
                Some(Earlier::Wish { number, .. }) => {
                    let by_id = wish.named.as_ref().is_some_and(|id| Some(id) == what.payment.as_ref());
                    let earlier = self.wishes.iter().find(|earlier| earlier.number == *number);
                    let mut entries = earlier.into_iter().flat_map(|earlier| self.entries(earlier));
                    by_id || entries.any(|entry| Some(&entry.id) == what.payment.as_ref())
                }
            };
            let right = what.kind == wish.payment_type() && what.minor == wish.minor && what.currency == "EUR" && of;
            return (!right).then_some("the till wished something else");
        }
        // These are the agent's automatic requests. It reverses the payment of a wish in the payment's currency, or
        // refunds the amount that the till did not accept.
        let undone = self.bank.ledger.iter().find(|entry| Some(&entry.id) == what.payment.as_ref());
        if let ("RF", Some(paid)) = (what.kind.as_str(), undone) {
            let wish = self.wishes.iter().find(|wish| Some(wish.number) == paid.wish);
            let took_part = wish.is_some_and(|wish| wish.confirms.is_some_and(|confirms| confirms.says == Says::Part));
            let is_rest = what.minor == rest_of(paid.approved) && what.currency == paid.currency;
            return (!took_part || !is_rest).then_some("a refund that is not the rest of a part that a till took");
        }
        let Some(undone) = undone.filter(|entry| entry.wish.is_some() && what.kind == "RV") else {
            return Some("no till wished this");
        };
        let own = what.reference.strip_prefix(&undone.reference);
        if own.is_none() || what.minor > undone.approved || what.currency != undone.currency {
            return Some("a reversal of another transaction");
        }
        let number = own.and_then(|end| end.strip_prefix("-r")).and_then(|number| number.parse::<u32>().ok());
        if number.is_none() {
            return Some("a reversal without its own reference");
        }
        if undone.kind == "CD" {
            return Some("a credit was reversed automatically");
        }
        let begun = self.bank.asked.iter().find(|asked| asked.what.reference == undone.reference);
        let of_before = begun.is_some_and(|begun| begun.board < asked.board);
        (of_before && self.bank.dates_told_to != Some(asked.board))
            .then_some("reversed after a start, before the gateway had answered what it knows of this terminal")
    }

    /// Judges a message to a till.
    pub(super) fn judge_what_was_told(&mut self, number: usize) {
        let wish = self.wishes[number].clone();
        let held = self.held(&wish);
        match wish.told.last() {
            Some(TillResult::Nothing(text)) if !held.is_empty() => {
                self.violation(NOTHING_TOLD, format!("{}: told {text:?}, held {held:?}", wish.reference));
            }
            Some(TillResult::Approved { minor }) if held != [*minor] => {
                self.violation(ANOTHER_TOLD, format!("{}: told {minor}, held {held:?}", wish.reference));
            }
            Some(TillResult::Approved { .. })
                if wish.kind == Kind::StoreCard
                    && self.entries(&wish).all(|entry| Some(&entry.id) != wish.payment.as_ref()) =>
            {
                self.violation("told of another stored card", format!("{}: {:?}", wish.reference, wish.payment));
            }
            Some(TillResult::Approved { .. }) if !wish.may_be_approved() => {
                self.violation("told as approved before its till took it", wish.reference.clone());
            }
            Some(TillResult::Approved { minor })
                if *minor != wish.minor && !wish.accepts_part && wish.may_be_partial() =>
            {
                self.violation("a part was taken unasked", format!("{}: {minor} of {}", wish.reference, wish.minor));
            }
            _ => {}
        }
    }
}

/// Returns the amount to refund if a till accepts half.
fn rest_of(approved: u64) -> u64 {
    approved - approved / 2
}

impl Wish {
    /// Returns whether the till has accepted the transaction, or was silent and its rule for silence is to keep it.
    fn may_be_approved(&self) -> bool {
        let Some(confirms) = self.confirms else { return true };
        let takes = matches!(confirms.says, Says::All | Says::Part);
        let was_asked = self.told.iter().any(|told| matches!(told, TillResult::ToConfirm { .. }));
        self.confirmed != Some(Says::Nothing) && ((takes && was_asked) || confirms.on_silence == OnSilence::Keep)
    }

    /// Returns whether the till decides about a partial approval. Follow-ups are completed with the approved amount,
    /// and a paid credit stays.
    fn may_be_partial(&self) -> bool {
        matches!(self.payment_type(), "DB" | "PA")
    }

    /// Returns whether the wish is a capture, refund or reversal. These are completed instead of reversed, so their
    /// request may be sent again.
    fn is_later(&self) -> bool {
        matches!(self.payment_type(), "CP" | "RF" | "RV")
    }
}

/// The final state of a wish, for statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndState {
    Approved,
    ApprovedInPart,
    /// The outcome is "nothing charged", and the ledger has a decline or no entry.
    NothingCharged,
    /// The outcome is "nothing charged", after a charge and its reversal.
    TakenBack,
    /// The wish was neither recorded nor sent to the bank.
    NeverBegan,
    /// The transaction waits for a person and reports this.
    ForAPerson,
}

pub const END_STATES: [EndState; 6] = [
    EndState::Approved,
    EndState::ApprovedInPart,
    EndState::NothingCharged,
    EndState::TakenBack,
    EndState::NeverBegan,
    EndState::ForAPerson,
];

impl World {
    /// Judges at the end, when all work is finished. Returns the violations, and how each wish ended.
    pub fn judge(&self) -> (Vec<Violation>, Vec<EndState>) {
        let mut state = self.lock();
        state.bank_goes_on();
        let mut ends = Vec::new();
        for number in 0..state.wishes.len() {
            let wish = state.wishes[number].clone();
            let held = state.held(&wish);
            let end = match wish.told.last() {
                Some(TillResult::Approved { minor }) => {
                    if held != [*minor] {
                        state.violation(ANOTHER_TOLD, format!("{}: in the end {minor}, held {held:?}", wish.reference));
                    }
                    if *minor == wish.minor { EndState::Approved } else { EndState::ApprovedInPart }
                }
                Some(TillResult::Nothing(_)) => {
                    if !held.is_empty() {
                        state.violation(NOTHING_TOLD, format!("{}: in the end, held {held:?}", wish.reference));
                    }
                    let taken_back = state.entries(&wish).any(|entry| entry.taken_back > 0);
                    if taken_back { EndState::TakenBack } else { EndState::NothingCharged }
                }
                Some(TillResult::Unconfirmed { needs_a_person: true }) => EndState::ForAPerson,
                Some(TillResult::Unknown(_)) | None => {
                    if state.entries(&wish).any(|entry| entry.state != EntryState::Declined) {
                        state.violation("asked of the bank, and not known to the terminal", wish.reference.clone());
                    }
                    EndState::NeverBegan
                }
                Some(told) => {
                    state.violation("does not end", format!("{}: {told:?}", wish.reference));
                    EndState::ForAPerson
                }
            };
            ends.push(end);
            if let Some((rule, how)) = state.judge_rest(&wish) {
                state.violation(rule, how);
            }
            if let Err(why) = state.judge_paper(&wish) {
                state.violation("a receipt says something else", why);
            }
        }
        (state.verdict.violations.clone(), ends)
    }
}

impl World {
    /// Describes all wishes, requests, bookings, messages and papers, to help find the reason for a violation.
    pub fn story(&self) -> String {
        let state = self.lock();
        let mut text = String::new();
        for wish in &state.wishes {
            let Wish { number, till, reference, kind, minor, of, accepts_part, told, confirms, rest, .. } = wish;
            let part = if *accepts_part { ", or a part" } else { "" };
            let _ = writeln!(
                text,
                "wish {number}: {till} {reference} {kind:?} {minor}{part} of {of:?} {confirms:?}\n  told {told:?}\n  rest {rest:?}"
            );
        }
        for asked in &state.bank.asked {
            let _ = writeln!(text, "{asked:?}");
        }
        for entry in &state.bank.ledger {
            let _ = writeln!(text, "{entry:?}");
        }
        for paper in &state.printer.papers {
            let _ = writeln!(text, "paper: {}", lines(paper).join(" | "));
        }
        text
    }
}

impl State {
    /// Judges the refund of the rest of a sale if its till accepted a part.
    fn judge_rest(&self, wish: &Wish) -> Option<(&'static str, String)> {
        let payments: Vec<_> = self.entries(wish).map(|entry| entry.id.clone()).collect();
        let is_rest = |entry: &&Entry| {
            let of = entry.refers_to.as_ref();
            entry.kind == "RF" && entry.wish.is_none() && of.is_some_and(|id| payments.contains(id))
        };
        let back: Vec<_> =
            self.bank.ledger.iter().filter(is_rest).filter(|entry| !entry.again && entry.holds()).collect();
        let given: u64 = back.iter().map(|entry| entry.stands()).sum();
        let how =
            || format!("{}: told {:?}, of its rest {:?}, given back {given}", wish.reference, wish.told, wish.rest);
        match &wish.rest {
            Some(TillResult::Approved { minor }) => {
                let whole = wish.told.iter().rev().find_map(|told| match told {
                    TillResult::Approved { minor } => Some(*minor),
                    _ => None,
                });
                // Only the bank can reduce the refund, by approving less than the requested amount.
                let right = back.len() == 1
                    && given == *minor
                    && whole.is_none_or(|whole| back.iter().all(|entry| entry.asked == rest_of(whole)))
                    && back.iter().all(|entry| entry.approved == *minor);
                (!right).then(|| ("another rest was refunded", how()))
            }
            Some(TillResult::Unconfirmed { needs_a_person: true }) => None,
            Some(TillResult::Nothing(_)) => {
                (given > 0).then(|| ("its till was told that no rest is refunded, but one was", how()))
            }
            Some(TillResult::Unknown(_)) | None if wish.confirmed == Some(Says::Part) || given > 0 => {
                Some(("a part was taken, but the rest is not known", how()))
            }
            Some(TillResult::Unknown(_)) | None => None,
            Some(_) => Some(("the refund of the rest does not end", how())),
        }
    }

    /// Compares the receipts of a wish with the final outcome at the till.
    fn judge_paper(&self, wish: &Wish) -> Result<(), String> {
        let amount = |minor: u64| format!("{}.{:02} EUR", minor / 100, minor % 100);
        for paper in &self.printer.papers {
            let lines = lines(paper);
            // The first reference counts, because the reference of an earlier transaction may follow below it.
            let reference = lines.iter().find_map(|line| line.strip_prefix("Reference"));
            let is_ours = reference.is_some_and(|reference| reference.trim() == wish.reference);
            // A signature slip shows the issuer's answer; the next paper shows the outcome.
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
                let approved = matches!(last, Some(TillResult::Approved { minor }) if *minor == wish.minor);
                if !approved {
                    return wrong("APPROVED");
                }
                if !lines.iter().any(|line| line.ends_with(&amount(wish.minor))) {
                    return wrong("another amount");
                }
            }
            if says("PARTIALLY APPROVED")
                && !matches!(last, Some(TillResult::Approved { minor }) if *minor < wish.minor)
            {
                return wrong("PARTIALLY APPROVED");
            }
            let nothing = ["DECLINED", "REVERSED", "CANCELLED", "NOT CARRIED OUT"].iter().any(|word| says(word));
            if nothing && !matches!(last, Some(TillResult::Nothing(_))) {
                return wrong("that nothing was charged");
            }
        }
        Ok(())
    }
}
