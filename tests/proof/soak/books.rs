//! The judge. It compares the gateway's ledger with the messages to the tills and uses no other source.

use std::collections::BTreeMap;
use std::collections::HashMap;

use pos_sim::gateway::{Kind, Ledger, LedgerEntry, State};
use pos_terms::transaction::OutcomeWord;

use super::till::Deal;

/// Returns the faults, one per line, and the counts of the transactions' outcomes.
pub fn judge(ledger: &Ledger, deals: &[Deal]) -> (Vec<String>, String) {
    let books = Books::of(ledger);
    let mut wrong = Vec::new();
    let mut ends = BTreeMap::<String, usize>::new();
    let mut payments = 0;
    for deal in deals {
        *ends.entry(end_of(deal)).or_default() += 1;
        wrong.extend(deal.changed.iter().map(|how| format!("{}: {how}", deal.reference)));
        let held = if let Some(of) = &deal.of {
            let paid = deals.iter().find(|paid| paid.reference == *of).unwrap();
            books.given_back(paid, deal.minor)
        } else {
            payments += books.payments(deal).count();
            books.held(deal)
        };
        let is_true = match outcome(deal) {
            Some((OutcomeWord::Approved | OutcomeWord::PartiallyApproved, approved)) => held == [approved],
            // A person must resolve it, and the terminal says so.
            None if deal.view.as_ref().is_some_and(|view| view.needs_person.is_some()) => held.len() <= 1,
            Some(_) | None => held.is_empty(),
        };
        if !is_true {
            let text = deal.view.as_ref().map(|view| (&view.text, view.outcome, &view.approved_amount));
            wrong.push(format!("{} of {}: told {text:?}, and the gateway holds {held:?}", deal.reference, deal.minor));
        }
    }
    let booked = ledger.entries().iter().filter(|entry| entry.kind == Kind::Debit).count();
    if booked != payments {
        wrong.push(format!("the gateway has {booked} payments, and the tills asked for {payments} of them"));
    }
    let ends: Vec<String> = ends.iter().map(|(end, count)| format!("{count} {end}")).collect();
    (wrong, format!("{} transactions: {}", deals.len(), ends.join(", ")))
}

fn outcome(deal: &Deal) -> Option<(OutcomeWord, u64)> {
    let view = deal.view.as_ref()?;
    Some((view.outcome?, view.approved_amount.as_deref().map_or(0, minor)))
}

fn end_of(deal: &Deal) -> String {
    let Some(view) = &deal.view else { return "refused".to_owned() };
    match view.outcome {
        Some(outcome) => format!("{outcome:?}").to_lowercase(),
        None if view.needs_person.is_some() => "for a person".to_owned(),
        None => "unconfirmed, not at the gateway".to_owned(),
    }
}

/// The ledger, indexed by amount and by the payment that an entry refers to.
struct Books<'a> {
    payments: HashMap<u64, Vec<&'a LedgerEntry>>,
    later: HashMap<&'a str, Vec<&'a LedgerEntry>>,
}

impl<'a> Books<'a> {
    fn of(ledger: &'a Ledger) -> Self {
        let mut books = Self { payments: HashMap::new(), later: HashMap::new() };
        for entry in ledger.entries() {
            match &entry.refers_to {
                None => books.payments.entry(minor(&entry.amount)).or_default().push(entry),
                Some(id) => books.later.entry(id).or_default().push(entry),
            }
        }
        books
    }

    /// Returns the possible payments of a transaction. They have its amount, or for a partial approval half of it,
    /// rounded down.
    fn payments(&self, deal: &Deal) -> impl Iterator<Item = &'a LedgerEntry> {
        let of = |minor| self.payments.get(&minor).into_iter().flatten().copied();
        of(deal.minor).chain(of(deal.minor / 2))
    }

    /// Returns the amounts that are approved and not reversed.
    fn held(&self, deal: &Deal) -> Vec<u64> {
        let approved = self.payments(deal).filter(|entry| entry.state == State::Approved);
        let reversed =
            |entry: &LedgerEntry| self.later(&entry.id, Kind::Reversal).map(|one| minor(&one.amount)).sum::<u64>();
        approved.map(|entry| minor(&entry.amount).saturating_sub(reversed(entry))).filter(|rest| *rest > 0).collect()
    }

    fn given_back(&self, paid: &Deal, amount: u64) -> Vec<u64> {
        let refunds = self.payments(paid).flat_map(|entry| self.later(&entry.id, Kind::Refund));
        refunds.map(|entry| minor(&entry.amount)).filter(|minor| *minor == amount).collect()
    }

    fn later(&self, id: &str, kind: Kind) -> impl Iterator<Item = &'a LedgerEntry> {
        let all = self.later.get(id).into_iter().flatten().copied();
        all.filter(move |entry| entry.kind == kind && entry.state == State::Approved)
    }
}

fn minor(amount: &str) -> u64 {
    let (whole, cents) = amount.split_once('.').unwrap_or((amount, "00"));
    whole.parse::<u64>().unwrap() * 100 + cents.parse::<u64>().unwrap()
}
