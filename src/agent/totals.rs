//! Counting for the closing of a day: page by page over the journal, so that neither memory nor the sale at the reader
//! feels how long the list is.
//!
//! What has no end yet is in no sum. It is named, and its number handed to the next count, so that a refund that is
//! confirmed tomorrow is in tomorrow's sums. It keeps no mark of its own: who counts keeps the number that the report
//! ends with.

use std::collections::{BTreeMap, BTreeSet};

use tokio::sync::oneshot;

use crate::journal;
use crate::money::{Amount, Currency};
use crate::sale::{Outcome, Sale, Standing};
use crate::till::{Refused, State, Sum, TotalsView};
use crate::transaction::{Kind, SaleNumber};

use super::recovery::refused_by_journal;
use super::{Agent, Done};

/// Transactions of one page: counted within a millisecond.
const PAGE: u32 = 200;

/// A count under way.
pub(super) struct Counting {
    /// Whose; `None` is every till's.
    till: Option<String>,
    since: SaleNumber,
    /// The greatest number seen.
    seen: SaleNumber,
    /// Numbers of the last count that had no end then, still to be looked at.
    carried: Vec<SaleNumber>,
    /// What is being read.
    reading: Reading,
    open: BTreeSet<SaleNumber>,
    sums: Sums,
    reply: oneshot::Sender<Result<TotalsView, Refused>>,
}

#[derive(Clone, Copy)]
enum Reading {
    /// The page after the greatest number seen.
    Page,
    /// One transaction that had no end the last time.
    Carried(SaleNumber),
}

/// The sums so far, in minor units.
#[derive(Default)]
struct Sums {
    kinds: BTreeMap<(&'static str, &'static str), Line>,
    schemes: BTreeMap<(&'static str, String, &'static str), Line>,
    tips: BTreeMap<&'static str, Line>,
    declined: u64,
    taken_back: u64,
    cancelled: u64,
    not_sent: u64,
}

#[derive(Clone, Copy)]
struct Line {
    kind: Kind,
    currency: Currency,
    count: u64,
    minor: u128,
}

impl Agent {
    pub(super) fn begin_count(
        &self,
        till: Option<String>,
        since: SaleNumber,
        carried: Vec<SaleNumber>,
        reply: oneshot::Sender<Result<TotalsView, Refused>>,
    ) {
        let (seen, open, sums) = (since, BTreeSet::new(), Sums::default());
        self.read_on(Counting { till, since, seen, carried, reading: Reading::Page, open, sums, reply });
    }

    /// Reads the next page, on a thread of the journal's own.
    fn read_on(&self, counting: Counting) {
        let (since, limit) = match counting.reading {
            Reading::Page => (counting.seen, PAGE),
            Reading::Carried(number) => (number.saturating_sub(1), 1),
        };
        let (list, done) = (self.journal.list(counting.till.clone(), since, limit), self.done.clone());
        tokio::spawn(async move {
            let page = list.await;
            let _ = done.send(Done::Counted { page, counting: Box::new(counting) }).await;
        });
    }

    pub(super) fn counted(&self, page: Result<Vec<Sale>, journal::Error>, mut counting: Counting) {
        let page = match page {
            Ok(page) => page,
            Err(error) => {
                let _ = counting.reply.send(Err(refused_by_journal(error)));
                return;
            }
        };
        let goes_on = match counting.reading {
            Reading::Page => {
                page.iter().for_each(|sale| counting.take(sale));
                counting.seen = page.last().map_or(counting.seen, |sale| sale.order().number);
                u32::try_from(page.len()).is_ok_and(|read| read == PAGE)
            }
            Reading::Carried(number) => {
                page.iter().filter(|sale| sale.order().number == number).for_each(|sale| counting.take(sale));
                false
            }
        };
        if !goes_on {
            let Some(number) = counting.carried.pop() else { return self.end_count(counting) };
            counting.reading = Reading::Carried(number);
        }
        self.read_on(counting);
    }

    fn end_count(&self, counting: Counting) {
        let Counting { till, since, seen, mut open, sums, reply, .. } = counting;
        let mut views: Vec<_> = self.sales.values().map(|active| self.view_of(&active.sale)).collect();
        views.retain(|view| view.state != State::Ended && till.as_ref().is_none_or(|till| *till == view.till));
        // What began after the last page is the next count's anyway.
        open.extend(views.iter().map(|view| view.number).filter(|number| *number <= seen));
        let _ = reply.send(Ok(TotalsView {
            terminal_id: self.config.terminal.id.clone(),
            till,
            open: views,
            since,
            next: seen,
            carried: open.into_iter().collect(),
            kinds: sums.kinds.into_values().map(|line| line.sum(None)).collect(),
            schemes: sums.schemes.into_iter().map(|((_, scheme, _), line)| line.sum(Some(scheme))).collect(),
            tips: sums.tips.into_values().map(|line| line.sum(None)).collect(),
            declined: sums.declined,
            taken_back: sums.taken_back,
            cancelled: sums.cancelled,
            not_sent: sums.not_sent,
        }));
    }
}

impl Counting {
    fn take(&mut self, sale: &Sale) {
        let outcome = match sale.standing() {
            Standing::Ended(outcome) => outcome,
            _ => {
                self.open.insert(sale.order().number);
                return;
            }
        };
        let sums = &mut self.sums;
        match outcome {
            Outcome::Approved => sums.moved(sale, sale.amount()),
            Outcome::PartiallyApproved { amount } => sums.moved(sale, *amount),
            Outcome::Declined { .. } => sums.declined += 1,
            Outcome::Reversed { .. } => sums.taken_back += 1,
            Outcome::Cancelled { .. } => sums.cancelled += 1,
            Outcome::NotSent { .. } => sums.not_sent += 1,
        }
    }
}

impl Sums {
    fn moved(&mut self, sale: &Sale, amount: Amount) {
        let (kind, currency) = (sale.order().kind(), amount.currency());
        let label = sale.card().and_then(|card| card.label.as_deref());
        let scheme = sale.host().brand.as_deref().or(label).unwrap_or("other").to_owned();
        let line = || Line { kind, currency, count: 0, minor: 0 };
        self.kinds.entry((kind.as_str(), currency.code())).or_insert_with(line).add(amount);
        self.schemes.entry((kind.as_str(), scheme, currency.code())).or_insert_with(line).add(amount);
        // What was approved pays for the sale first: of a part only what is above it is a tip.
        if let Some(tip) = sale.tip().and_then(|_| amount.less(sale.order().amount)) {
            self.tips.entry(currency.code()).or_insert_with(line).add(tip);
        }
    }
}

impl Line {
    fn add(&mut self, amount: Amount) {
        self.count += 1;
        self.minor += u128::from(amount.minor());
    }

    fn sum(self, scheme: Option<String>) -> Sum {
        let Self { kind, currency, count, minor } = self;
        Sum { kind, scheme, currency: currency.code().to_owned(), count, sum: decimal(minor, currency) }
    }
}

/// A sum with the decimals of its currency; it may be larger than any amount.
fn decimal(minor: u128, currency: Currency) -> String {
    let width = usize::from(currency.exponent());
    let unit = 10_u128.pow(u32::from(currency.exponent()));
    match width {
        0 => minor.to_string(),
        _ => format!("{}.{:0width$}", minor / unit, minor % unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sale::{Order, Record};

    #[test]
    fn a_tip_counts_as_far_as_it_was_approved() {
        let eur = |minor| Amount::from_minor(minor, Currency::from_code("EUR").unwrap()).unwrap();
        let order: Order = serde_json::from_value(serde_json::json!({
            "number": 1, "till": "till-1", "reference": "R1", "amount": eur(1000), "askTip": true, "acceptPartial": true,
            "terminalId": "12345678", "merchantTransactionId": "12345678-1-00000000000000000000000000000001",
            "startedUnixMs": 0, "localTime": "2026-11-20 13:00:00",
        }))
        .unwrap();
        for (approved, tip) in [(1500, Some(500)), (1400, Some(400)), (1001, Some(1)), (1000, None), (999, None)] {
            let outcome = match approved {
                1500 => Outcome::Approved,
                part => Outcome::PartiallyApproved { amount: eur(part) },
            };
            let steps = [
                vec![Record::Started { order: order.clone() }],
                vec![Record::TipTyped { tip: Some(eur(500)), total: eur(1500) }],
                vec![Record::Ended { outcome, host: None, card: None, by: None, at_unix_ms: None }],
            ];
            let sale = Sale::replay(&steps).unwrap();
            let mut sums = Sums::default();
            sums.moved(&sale, eur(approved));
            assert_eq!(sums.tips.values().next().map(|line| line.minor), tip, "{approved}");
        }
    }

    #[test]
    fn sums_have_the_decimals_of_their_currency() {
        for (minor, code, text) in [
            (5, "EUR", "0.05"),
            (123_456, "EUR", "1234.56"),
            (1200, "JPY", "1200"),
            (1230, "KWD", "1.230"),
            (999_999_999_999_000, "EUR", "9999999999990.00"),
        ] {
            assert_eq!(decimal(minor, Currency::from_code(code).unwrap()), text);
        }
    }
}
