//! The judge. It reads the gateway's ledger, the printed bytes and what the till was told, and never the agent's journal.
//!
//! A payment is found in the ledger by its amount, which belongs to one reference alone; what follows a payment by the payment
//! that it refers to.

use pos_agent::sim::gateway::{self, Entry, Ledger};
use pos_agent::till::{Kind, Outcome, SaleView};

use super::plan::{decimal, minor};
use super::till::Deal;

/// The payments of a sale or pre-authorisation, whatever became of them. A partial approval has half of the amount, rounded down to
/// a cent, and a wrong one a euro more (`pos-sim gateway --help`, .60 and .79).
fn payments<'a>(ledger: &'a Ledger, deal: &Deal) -> Vec<&'a Entry> {
    let asked = deal.wish.amount.unwrap_or_default();
    let kind = match deal.wish.kind {
        Kind::PreAuthorisation => gateway::Kind::PreAuthorisation,
        _ => gateway::Kind::Debit,
    };
    let ours = |entry: &&Entry| entry.kind == kind && [asked, asked / 2, asked + 100].contains(&minor(&entry.amount));
    ledger.entries().iter().filter(ours).collect()
}

/// The entries of a transaction: its payments, or what was done with the payment that it refers to.
fn entries<'a>(ledger: &'a Ledger, deals: &[Deal], deal: &Deal) -> Vec<&'a Entry> {
    let kind = match deal.wish.kind {
        Kind::Capture => gateway::Kind::Capture,
        Kind::Refund => gateway::Kind::Refund,
        Kind::Reversal => gateway::Kind::Reversal,
        _ => return payments(ledger, deal),
    };
    let first = deals.iter().find(|first| Some(&first.reference) == deal.of.as_ref());
    let ids: Vec<&str> =
        first.map_or_else(Vec::new, |first| payments(ledger, first)).iter().map(|one| &*one.id).collect();
    let refers = |entry: &&Entry| entry.kind == kind && entry.refers_to.as_deref().is_some_and(|id| ids.contains(&id));
    ledger.entries().iter().filter(refers).collect()
}

/// What the gateway holds of it as approved and not taken back, in minor units: two are a double charge.
pub fn holds(ledger: &Ledger, deals: &[Deal], deal: &Deal) -> Vec<u64> {
    let entries = entries(ledger, deals, deal);
    let reversed = |id: &str| {
        ledger.entries().iter().any(|other| {
            other.kind == gateway::Kind::Reversal
                && other.state == gateway::State::Approved
                && other.refers_to.as_deref() == Some(id)
        })
    };
    let held = entries.into_iter().filter(|entry| entry.state == gateway::State::Approved && !reversed(&entry.id));
    held.map(|entry| minor(&entry.amount)).collect()
}

/// What the gateway should hold after the till was told this.
fn due(view: &SaleView, deal: &Deal, held: &[u64]) -> Option<Vec<u64>> {
    match view.outcome? {
        // A reversal has the amount of its payment.
        Outcome::Approved if deal.wish.amount.is_none() => Some(held.iter().take(1).copied().collect()),
        Outcome::Approved => Some(deal.wish.amount.into_iter().collect()),
        Outcome::PartiallyApproved => Some(view.approved_amount.iter().map(|amount| minor(amount)).collect()),
        Outcome::Declined | Outcome::Cancelled | Outcome::NotSent => Some(Vec::new()),
    }
}

/// In the moment of telling: at most one charge, and what was told is what is held.
pub fn told(ledger: &Ledger, deals: &[Deal], at: usize, view: &SaleView) -> Result<(), String> {
    let deal = &deals[at];
    let held = holds(ledger, deals, deal);
    if held.len() > 1 {
        return Err(format!("DOUBLE CHARGE: {} holds {held:?}", deal.reference));
    }
    // Once a reversal was asked for, the gateway may have carried it out at any moment.
    let being_reversed =
        deals.iter().any(|later| later.wish.kind == Kind::Reversal && later.of.as_ref() == Some(&deal.reference));
    let Some(due) = due(view, deal, &held).filter(|_| !being_reversed) else { return Ok(()) };
    if held != due || (view.outcome == Some(Outcome::Approved) && due.is_empty()) {
        let (reference, outcome, text) = (&deal.reference, view.outcome, &view.text);
        return Err(format!("UNTRUE: {reference} was told {outcome:?} ({text}) while the gateway holds {held:?}"));
    }
    let approved = view.approved_amount.as_deref().map(minor);
    if view.outcome == Some(Outcome::Approved) && approved != due.first().copied() {
        return Err(format!("AMOUNT: {} was told {approved:?} and the gateway holds {held:?}", deal.reference));
    }
    Ok(())
}

/// At the end, when everything is settled.
pub fn settled(ledger: &Ledger, deals: &[Deal], receipts: &[String]) -> Result<(), String> {
    for deal in deals {
        one(ledger, deals, deal).map_err(|why| format!("{}: {why}", deal.reference))?;
    }
    stranger(ledger, deals)?;
    let papers: Vec<Paper> = receipts.iter().flat_map(|text| Paper::read(text)).collect();
    papers.iter().try_for_each(|paper| paper.check(ledger, deals))
}

fn one(ledger: &Ledger, deals: &[Deal], deal: &Deal) -> Result<(), String> {
    let (held, entries) = (holds(ledger, deals, deal), entries(ledger, deals, deal));
    let reversal = deals.iter().find(|later| {
        later.wish.kind == Kind::Reversal && later.of.as_ref() == Some(&deal.reference) && is_approved(later)
    });
    let mut ends: Vec<_> = deal.told.iter().filter_map(|told| told.view.outcome).collect();
    ends.dedup();
    if ends.len() > 1 {
        return Err(format!("the till was told more than one end: {ends:?}"));
    }
    // A payment is sent once. What follows one may be sent again, when it was looked up and not found.
    let carried_out = entries.iter().filter(|entry| entry.state != gateway::State::Declined).count();
    if carried_out > 1 || (deal.wish.card.is_some() && entries.len() > 1) {
        return Err(format!("carried out or sent more than once: {entries:#?}"));
    }
    let expected = match deal.end() {
        // The gateway does not know it.
        None => Vec::new(),
        Some(_) if reversal.is_some() => Vec::new(),
        Some(view) => due(view, deal, &held).unwrap_or_default(),
    };
    if held != expected || (deal.end().is_some_and(is_full) && reversal.is_none() && held.is_empty()) {
        let end = deal.end().map(|view| (view.outcome, &view.text));
        return Err(format!("the gateway holds {held:?}; the till was told {end:?}"));
    }
    // Not only now: no approval may have come after the till was told of no charge.
    for told in &deal.told {
        let uncharged = matches!(told.view.outcome, Some(Outcome::Declined | Outcome::Cancelled | Outcome::NotSent));
        let late =
            ledger.entries().iter().skip(told.entries).find(|entry| {
                entries.iter().any(|ours| ours.id == entry.id) && entry.state != gateway::State::Declined
            });
        if let Some(late) = late.filter(|_| uncharged) {
            return Err(format!("the till was told {:?}, and after that the gateway got {late:?}", told.view.text));
        }
    }
    Ok(())
}

fn is_full(view: &SaleView) -> bool {
    view.outcome == Some(Outcome::Approved)
}

fn is_approved(deal: &Deal) -> bool {
    deal.end().is_some_and(is_full)
}

/// Nothing is in the ledger for which no till has asked.
fn stranger(ledger: &Ledger, deals: &[Deal]) -> Result<(), String> {
    let asked: Vec<&str> = deals.iter().flat_map(|deal| entries(ledger, deals, deal)).map(|entry| &*entry.id).collect();
    let strange = ledger.entries().iter().find(|entry| {
        // The agent's own reversals are nobody's wish; what they refer to is.
        let id = entry.refers_to.as_ref().filter(|_| entry.kind == gateway::Kind::Reversal).unwrap_or(&entry.id);
        !asked.contains(&&**id)
    });
    strange.map_or(Ok(()), |entry| Err(format!("nobody has asked for {entry:?}")))
}

/// What a receipt says.
#[derive(Debug)]
struct Paper {
    reference: String,
    amount: u64,
    verdict: Verdict,
    /// The merchant's copy with the line to sign on: it is printed before anybody has looked at the signature.
    to_sign: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Approved,
    NotCharged,
    NotConfirmed,
}

impl Paper {
    /// The receipts on a piece of paper: one that was torn off by a kill has no cut behind it, and the next one follows it.
    fn read(text: &str) -> Vec<Self> {
        text.split("Corner Shop").filter_map(Self::read_one).collect()
    }

    /// None where the paper ends before it says anything.
    fn read_one(text: &str) -> Option<Self> {
        let mut lines = text.lines().map(str::trim);
        let reference = lines.find_map(|line| line.strip_prefix("Reference "))?.trim().to_owned();
        let mut amount = None;
        let verdict = lines.find_map(|line| {
            if amount.is_none() {
                amount = line.strip_suffix(" EUR").map(minor);
            }
            match line {
                "APPROVED" | "PARTIALLY APPROVED" => Some(Verdict::Approved),
                "DECLINED" | "REVERSED" | "CANCELLED" => Some(Verdict::NotCharged),
                line if line.starts_with("OUTCOME NOT CONFIRMED") => Some(Verdict::NotConfirmed),
                _ => None,
            }
        })?;
        Some(Self { reference, amount: amount?, verdict, to_sign: text.contains("Signature:") })
    }

    fn check(&self, ledger: &Ledger, deals: &[Deal]) -> Result<(), String> {
        let deal = deals.iter().find(|deal| deal.reference == self.reference);
        let deal = deal.ok_or_else(|| format!("a receipt for {}, for which nobody asked", self.reference))?;
        let held = holds(ledger, deals, deal);
        let ever = entries(ledger, deals, deal);
        let ever = ever.iter().any(|entry| {
            matches!(entry.state, gateway::State::Approved | gateway::State::Reversed)
                && minor(&entry.amount) == self.amount
        });
        let reversed_at_the_till = deals.iter().any(|later| {
            later.wish.kind == Kind::Reversal && later.of.as_ref() == Some(&deal.reference) && is_approved(later)
        });
        let is_true = match self.verdict {
            Verdict::Approved if self.to_sign || reversed_at_the_till => ever,
            Verdict::Approved => held == [self.amount],
            Verdict::NotCharged => held.is_empty(),
            Verdict::NotConfirmed => true,
        };
        if is_true {
            return Ok(());
        }
        let held: Vec<_> = held.into_iter().map(decimal).collect();
        Err(format!("PAPER: {self:?}, while the gateway holds {held:?}"))
    }
}

/// How many receipts of this reference say that it was approved, torn ones not counted: for a sale that nothing disturbed.
pub fn approvals_on_paper(receipts: &[String], reference: &str) -> usize {
    let papers = receipts.iter().flat_map(|text| Paper::read(text));
    papers.filter(|paper| paper.reference == reference && paper.verdict == Verdict::Approved).count()
}
