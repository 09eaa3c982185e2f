//! The judge. It reads the gateway's ledger, the printed bytes and the messages to the till, but never the agent's
//! journal.
//!
//! The judge finds a payment in the ledger by its amount, which belongs to only one reference. It finds a follow-up
//! payment by the payment that it refers to. If two tills request a part of that payment, the amount identifies the
//! follow-up. The judge assumes no gateway rules and counts what the agent requested.

use pos_agent::till::SaleView;
use pos_sim::gateway::{self, HostRules, Ledger, LedgerEntry};
use pos_terms::transaction::{Kind, OutcomeWord};

use super::plan::{Named, Wish, decimal, minor};
use super::till::Deal;

/// The requests that the gateway carried out. Follow-up requests with the same reference, payment, kind and amount
/// count as one request. The permissive gateway books each of them. This is not the agent's fault and is counted
/// separately.
pub struct Books {
    entries: Vec<LedgerEntry>,
    /// Entries that a gateway booked in addition to the requested ones.
    residual: Vec<LedgerEntry>,
}

impl Books {
    pub fn of(ledger: &Ledger) -> Self {
        let (mut entries, mut residual) = (Vec::<LedgerEntry>::new(), Vec::new());
        for entry in ledger.entries() {
            let is_same = |other: &LedgerEntry| {
                let what = |one: &LedgerEntry| {
                    (one.merchant_transaction_id.clone(), one.refers_to.clone(), one.kind, one.amount.clone())
                };
                carried_out(other) && what(other) == what(entry) && other.currency == entry.currency
            };
            let again = entry.refers_to.is_some() && entry.merchant_transaction_id.is_some() && carried_out(entry);
            if again && entries.iter().any(is_same) {
                residual.push(entry.clone());
            } else {
                entries.push(entry.clone());
            }
        }
        Self { entries, residual }
    }

    /// Returns the number of entries that were booked in addition to the requested ones. Only the permissive gateway
    /// may book such entries.
    pub fn residual(&self, host_rules: HostRules) -> Result<usize, String> {
        match self.residual.first() {
            Some(twice) if host_rules != HostRules::Permissive => Err(format!("carried out more than once: {twice:?}")),
            _ => Ok(self.residual.len()),
        }
    }

    /// Returns whether the permissive gateway has booked more of a transaction than requested. The terminal then says
    /// that a person must decide.
    pub fn is_residual(&self, deals: &[Deal], deal: &Deal) -> bool {
        let once = entries(self, deals, deal);
        let is_of =
            |twice: &LedgerEntry| once.iter().any(|one| one.merchant_transaction_id == twice.merchant_transaction_id);
        self.residual.iter().any(is_of)
    }

    /// Returns the carried-out entries that refer to this entry.
    fn after(&self, id: &str, kind: gateway::Kind) -> impl Iterator<Item = &LedgerEntry> {
        self.entries
            .iter()
            .filter(move |entry| entry.kind == kind && carried_out(entry) && entry.refers_to.as_deref() == Some(id))
    }

    /// Returns the reversed amount in minor units.
    fn taken_back(&self, id: &str) -> u64 {
        let approved = |entry: &&LedgerEntry| entry.state == gateway::State::Approved;
        self.after(id, gateway::Kind::Reversal).filter(approved).map(|entry| minor(&entry.amount)).sum()
    }
}

fn carried_out(entry: &LedgerEntry) -> bool {
    entry.state != gateway::State::Declined
}

fn kind_of(wish: &Wish) -> gateway::Kind {
    match wish.kind {
        Kind::PreAuthorisation | Kind::PreAuthorisationByRegistration | Kind::Increment | Kind::Reauthorisation => {
            gateway::Kind::PreAuthorisation
        }
        Kind::Capture => gateway::Kind::Capture,
        Kind::Refund => gateway::Kind::Refund,
        Kind::Reversal => gateway::Kind::Reversal,
        Kind::Credit => gateway::Kind::Credit,
        Kind::Sale | Kind::ByRegistration => gateway::Kind::Debit,
        Kind::StoreCard | Kind::ForgetCard => unreachable!("no wish of the plan: it books nothing"),
    }
}

/// Returns the entries of a transaction in any state: its payments, or the follow-up payments of the payment that it
/// refers to. The entry of a partial approval has half of the amount, rounded down to a cent. A wrong entry has a euro
/// more (`pos-sim gateway --help`, .60 and .79).
fn entries<'a>(books: &'a Books, deals: &[Deal], deal: &Deal) -> Vec<&'a LedgerEntry> {
    let kind = kind_of(&deal.wish);
    let of_kind = books.entries.iter().filter(|entry| entry.kind == kind);
    if deal.of.is_none() || deal.wish.named == Named::StoredCard {
        let asked = deal.wish.amount.unwrap_or_default();
        let amounts = [asked, asked / 2, asked + 100];
        return of_kind.filter(|entry| entry.refers_to.is_none() && amounts.contains(&minor(&entry.amount))).collect();
    }
    let first = deals.iter().find(|first| Some(&first.reference) == deal.of.as_ref());
    let ids: Vec<&str> =
        first.map_or_else(Vec::new, |first| entries(books, deals, first)).iter().map(|one| &*one.id).collect();
    // Two tills may request parts of the same payment at the same time, with different amounts.
    let amount = deal.wish.amount.filter(|_| deal.wish.kind != Kind::Reversal);
    let ours = |entry: &&LedgerEntry| amount.is_none_or(|asked| minor(&entry.amount) == asked);
    of_kind.filter(|entry| entry.refers_to.as_deref().is_some_and(|id| ids.contains(&id))).filter(ours).collect()
}

/// Returns the amounts that the gateway holds as approved and not reversed, in minor units. Two amounts are a double
/// charge.
pub fn holds(books: &Books, deals: &[Deal], deal: &Deal) -> Vec<u64> {
    let held = entries(books, deals, deal).into_iter().filter(|entry| entry.state == gateway::State::Approved);
    held.map(|entry| minor(&entry.amount).saturating_sub(books.taken_back(&entry.id)))
        .filter(|rest| *rest > 0)
        .collect()
}

/// Returns the amounts that the gateway should hold after this message to the till.
fn due(view: &SaleView, deal: &Deal, held: &[u64]) -> Option<Vec<u64>> {
    match view.outcome? {
        // A reversal has the amount of its payment.
        OutcomeWord::Approved if deal.wish.amount.is_none() => Some(held.iter().take(1).copied().collect()),
        OutcomeWord::Approved => Some(deal.wish.amount.into_iter().collect()),
        OutcomeWord::PartiallyApproved => Some(view.approved_amount.iter().map(|amount| minor(amount)).collect()),
        OutcomeWord::Declined | OutcomeWord::Cancelled | OutcomeWord::NotSent | OutcomeWord::Reversed => {
            Some(Vec::new())
        }
    }
}

/// Checks the moment of a message. There is at most one charge, and the gateway holds what the message says.
pub fn told(books: &Books, deals: &[Deal], at: usize, view: &SaleView) -> Result<(), String> {
    let deal = &deals[at];
    let held = holds(books, deals, deal);
    if held.len() > 1 {
        return Err(format!("DOUBLE CHARGE: {} holds {held:?}", deal.reference));
    }
    // Once a reversal was requested, the gateway may have carried it out at any moment.
    let being_reversed = reversals(deals, deal).next().is_some();
    let Some(due) = due(view, deal, &held).filter(|_| !being_reversed) else { return Ok(()) };
    if held != due || (view.outcome == Some(OutcomeWord::Approved) && due.is_empty()) {
        let (reference, outcome, text) = (&deal.reference, view.outcome, &view.text);
        return Err(format!("UNTRUE: {reference} was told {outcome:?} ({text}) while the gateway holds {held:?}"));
    }
    let approved = view.approved_amount.as_deref().map(minor);
    if view.outcome == Some(OutcomeWord::Approved) && approved != due.first().copied() {
        return Err(format!("AMOUNT: {} was told {approved:?} and the gateway holds {held:?}", deal.reference));
    }
    Ok(())
}

/// Checks the final state, in which every transaction is resolved.
pub fn settled(ledger: &Ledger, deals: &[Deal], receipts: &[String]) -> Result<(), String> {
    let books = Books::of(ledger);
    for deal in deals {
        one(ledger, &books, deals, deal).map_err(|why| format!("{}: {why}", deal.reference))?;
    }
    stranger(&books, deals)?;
    books.entries.iter().try_for_each(|payment| beyond(&books, payment))?;
    let papers: Vec<Paper> = receipts.iter().flat_map(|text| Paper::read(text)).collect();
    papers.iter().try_for_each(|paper| paper.check(&books, deals))
}

fn one(ledger: &Ledger, books: &Books, deals: &[Deal], deal: &Deal) -> Result<(), String> {
    let (held, entries) = (holds(books, deals, deal), entries(books, deals, deal));
    if deal.refused.is_some() {
        return if entries.is_empty() && deal.told.is_empty() {
            Ok(())
        } else {
            Err(format!("the terminal refused it, and the gateway has {entries:#?}"))
        };
    }
    // The amounts that were reported to the tills as reversed.
    let taken_back: u64 = reversals(deals, deal).filter_map(|reversal| reversed(books, deals, reversal)).sum();
    let mut ends: Vec<_> = deal.told.iter().filter_map(|told| told.view.outcome).collect();
    ends.dedup();
    if ends.len() > 1 {
        return Err(format!("the till was told more than one end: {ends:?}"));
    }
    // A payment is sent once. A follow-up payment may be sent again if a look-up did not find it.
    if entries.iter().filter(|entry| carried_out(entry)).count() > 1 || (deal.wish.card.is_some() && entries.len() > 1)
    {
        return Err(format!("carried out or sent more than once: {entries:#?}"));
    }
    let expected: Vec<u64> = match deal.end() {
        // A person refunds the euro that was charged too much.
        None if deal.needs_a_person() && books.is_residual(deals, deal) => {
            deal.wish.amount.map_or_else(|| held.iter().take(1).copied().collect(), |asked| vec![asked])
        }
        None if deal.needs_a_person() => deal.wish.amount.iter().map(|asked| asked + 100).collect(),
        // The gateway does not know the transaction.
        None => Vec::new(),
        Some(view) => {
            let due = due(view, deal, &held).unwrap_or_default();
            due.into_iter().map(|due| due.saturating_sub(taken_back)).filter(|rest| *rest > 0).collect()
        }
    };
    if held != expected || (deal.end().is_some_and(is_full) && taken_back == 0 && held.is_empty()) {
        let end = deal.end().map(|view| (view.outcome, &view.text));
        return Err(format!("the gateway holds {held:?}; the till was told {end:?}"));
    }
    // No approval may have arrived after the till got "not charged", neither at the end nor earlier.
    for told in &deal.told {
        let uncharged = matches!(
            told.view.outcome,
            Some(OutcomeWord::Declined | OutcomeWord::Cancelled | OutcomeWord::NotSent | OutcomeWord::Reversed)
        );
        let late = ledger
            .entries()
            .iter()
            .skip(told.entries)
            .find(|entry| entries.iter().any(|ours| ours.id == entry.id) && carried_out(entry));
        if let Some(late) = late.filter(|_| uncharged) {
            return Err(format!("the till was told {:?}, and after that the gateway got {late:?}", told.view.text));
        }
    }
    Ok(())
}

/// Returns the reversals of this transaction that a till has requested. For an increment, this includes the reversals
/// of its reservation.
fn reversals<'a>(deals: &'a [Deal], deal: &'a Deal) -> impl Iterator<Item = &'a Deal> {
    let of_it = move |later: &Deal| {
        let with_all = deal.wish.kind == Kind::Increment && later.of == deal.of;
        later.of.as_ref() == Some(&deal.reference) || with_all
    };
    deals.iter().filter(move |later| later.wish.kind == Kind::Reversal && of_it(later))
}

/// Returns the reversed amount, as reported to the till. If a person must decide about two entries, returns the amount
/// of one of them.
fn reversed(books: &Books, deals: &[Deal], reversal: &Deal) -> Option<u64> {
    if reversal.needs_a_person() && books.is_residual(deals, reversal) {
        return holds(books, deals, reversal).first().copied();
    }
    reversal.end()?.approved_amount.as_deref().map(minor)
}

fn is_full(view: &SaleView) -> bool {
    view.outcome == Some(OutcomeWord::Approved)
}

/// Checks that transactions with different references do not charge or refund more than the payment permits, in any
/// state.
fn beyond(books: &Books, payment: &LedgerEntry) -> Result<(), String> {
    use gateway::Kind::{Capture, Credit, Debit, PreAuthorisation, Refund, Reversal, RiskCheck};
    let sum = |kind, counts: fn(&LedgerEntry) -> bool| -> u64 {
        books.after(&payment.id, kind).filter(|entry| counts(entry)).map(|entry| minor(&entry.amount)).sum()
    };
    let increments = books.after(&payment.id, PreAuthorisation);
    let increments = increments.map(|more| minor(&more.amount).saturating_sub(books.taken_back(&more.id)));
    let most = if carried_out(payment) { minor(&payment.amount) + increments.sum::<u64>() } else { 0 };
    let stands = |entry: &LedgerEntry| entry.state != gateway::State::Reversed;
    let used = match payment.kind {
        Debit | Capture | PreAuthorisation => sum(Capture, stands) + sum(Refund, |_| true) + sum(Reversal, |_| true),
        Credit => sum(Refund, |_| true) + sum(Reversal, |_| true),
        Refund | Reversal | RiskCheck => [Capture, Refund, Reversal].into_iter().map(|kind| sum(kind, |_| true)).sum(),
    };
    let foreign = books.entries.iter().find(|entry| {
        entry.refers_to.as_deref() == Some(&payment.id) && carried_out(entry) && entry.currency != payment.currency
    });
    if let Some(foreign) = foreign {
        return Err(format!("CURRENCY: {foreign:?} of {payment:?}"));
    }
    let most = if matches!(payment.kind, Refund | Reversal) { 0 } else { most };
    if used <= most {
        return Ok(());
    }
    let after: Vec<_> = books.entries.iter().filter(|entry| entry.refers_to.as_deref() == Some(&payment.id)).collect();
    Err(format!("BEYOND: {} of {} was taken or given back: {payment:?}, then {after:#?}", decimal(used), decimal(most)))
}

/// Checks that every entry of the ledger was requested by a till.
fn stranger(books: &Books, deals: &[Deal]) -> Result<(), String> {
    let asked: Vec<&str> = deals.iter().flat_map(|deal| entries(books, deals, deal)).map(|entry| &*entry.id).collect();
    let strange = books.entries.iter().find(|entry| {
        // No till requests the agent's own reversals, but tills have requested the payments that they refer to.
        let id = entry.refers_to.as_ref().filter(|_| entry.kind == gateway::Kind::Reversal).unwrap_or(&entry.id);
        !asked.contains(&&**id)
    });
    strange.map_or(Ok(()), |entry| Err(format!("nobody has asked for {entry:?}")))
}

/// The last line of each copy of a receipt.
const LAST_LINES: [&str; 2] = ["MERCHANT COPY", "CUSTOMER COPY"];

/// The content of a receipt.
#[derive(Debug)]
struct Paper {
    reference: String,
    amount: u64,
    verdict: Verdict,
    /// True for the merchant's copy with the line to sign on. It is printed before the cashier has checked the
    /// signature.
    to_sign: bool,
    /// True if a kill ended the receipt before its last line. The line to sign on may be missing.
    is_torn: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Approved,
    NotCharged,
    NotConfirmed,
}

impl Paper {
    /// Reads the receipts on a piece of paper. If a kill interrupted a receipt, the paper is not cut, and the next
    /// receipt follows it.
    fn read(text: &str) -> Vec<Self> {
        text.split("Corner Shop").filter_map(Self::read_one).collect()
    }

    /// Reads one receipt. Returns `None` if the paper ends before any content.
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
                "DECLINED" | "REVERSED" | "CANCELLED" | "NOT CARRIED OUT" => Some(Verdict::NotCharged),
                line if line.starts_with("NOT CONFIRMED") => Some(Verdict::NotConfirmed),
                _ => None,
            }
        })?;
        Some(Self {
            reference,
            amount: amount?,
            verdict,
            to_sign: text.contains("Signature:"),
            is_torn: !LAST_LINES.iter().any(|last| text.contains(last)),
        })
    }

    fn check(&self, books: &Books, deals: &[Deal]) -> Result<(), String> {
        let deal = deals.iter().find(|deal| deal.reference == self.reference);
        let deal = deal.ok_or_else(|| format!("a receipt for {}, for which nobody asked", self.reference))?;
        let held = holds(books, deals, deal);
        let ever = entries(books, deals, deal);
        let ever = ever.iter().any(|entry| {
            matches!(entry.state, gateway::State::Approved | gateway::State::Reversed)
                && minor(&entry.amount) == self.amount
        });
        let reversed_at_the_till = reversals(deals, deal).any(|reversal| reversed(books, deals, reversal).is_some());
        let to_sign = self.to_sign || self.is_torn && deal.wish.is_signed();
        let is_true = match self.verdict {
            Verdict::Approved if to_sign || reversed_at_the_till => ever,
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

/// Counts the receipts with this reference that show an approval. Returns the numbers of whole and of torn ones.
pub fn approvals_on_paper(receipts: &[String], reference: &str) -> (usize, usize) {
    let papers = receipts.iter().flat_map(|text| Paper::read(text));
    let (torn, whole): (Vec<_>, Vec<_>) = papers
        .filter(|paper| paper.reference == reference && paper.verdict == Verdict::Approved)
        .partition(|paper| paper.is_torn);
    (whole.len(), torn.len())
}

/// Checks a slip for signing that a kill cuts off at any place. The judge must read it as empty, as torn, or as a slip
/// to sign.
#[test]
fn a_slip_that_ends_early_is_never_an_approval_without_a_line_to_sign() {
    let slip = "Corner Shop\nReference R1\n10.00 EUR\nAPPROVED\nSIGNATURE\nSignature:\nMERCHANT COPY\n";
    for end in 0..=slip.len() {
        let papers = Paper::read(&slip[..end]);
        assert!(papers.iter().all(|paper| paper.is_torn || paper.to_sign), "cut at {end}: {papers:?}");
    }
    assert!(!Paper::read(slip)[0].is_torn);
}
