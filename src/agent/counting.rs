//! Counting for the closing of a day: page by page over the journal, so that neither memory nor the sale at the reader
//! feels how long the list is. What is summed is `totals`' business.
//!
//! What has no end yet is named, and its number handed to the next count, so that a refund that is confirmed tomorrow
//! is in tomorrow's sums. It keeps no mark of its own: who counts keeps the number that the report ends with.

use tokio::sync::oneshot;

use crate::till::{Refused, SaleState, SaleView, TotalsView};
use pos_core::counter::Sum;
use pos_core::totals::Totals;
use pos_core::transaction::Transaction;
use pos_journal::Journal;
use pos_terms::transaction::SaleNumber;

use super::journal_writer::refused_by_journal;

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
    totals: Totals,
    reply: oneshot::Sender<Result<TotalsView, Refused>>,
}

#[derive(Clone, Copy)]
enum Reading {
    /// The page after the greatest number seen.
    Page,
    /// One transaction that had no end the last time.
    Carried(SaleNumber),
}

impl Counting {
    /// A count after this number; `carried` had no end the last time.
    pub(super) fn new(
        till: Option<String>,
        since: SaleNumber,
        carried: Vec<SaleNumber>,
        reply: oneshot::Sender<Result<TotalsView, Refused>>,
    ) -> Self {
        Self { till, since, seen: since, carried, reading: Reading::Page, totals: Totals::default(), reply }
    }

    /// The next page of the journal.
    pub(super) fn next_page(
        &self,
        journal: &Journal,
    ) -> impl Future<Output = Result<Vec<Transaction>, pos_journal::Error>> + Send + use<> {
        let (since, limit) = match self.reading {
            Reading::Page => (self.seen, PAGE),
            Reading::Carried(number) => (number.saturating_sub(1), 1),
        };
        journal.list(self.till.clone(), since, limit)
    }

    /// Counts a page. Whether the count goes on; nothing, when the journal cannot be read and that was answered.
    pub(super) fn counted(mut self, page: Result<Vec<Transaction>, pos_journal::Error>) -> Option<CountedPage> {
        let page = match page {
            Ok(page) => page,
            Err(error) => {
                let _ = self.reply.send(Err(refused_by_journal(error)));
                return None;
            }
        };
        let goes_on = match self.reading {
            Reading::Page => {
                page.iter().for_each(|sale| self.totals.take(sale));
                self.seen = page.last().map_or(self.seen, |sale| sale.order().number);
                u32::try_from(page.len()).is_ok_and(|read| read == PAGE)
            }
            Reading::Carried(number) => {
                page.iter().filter(|sale| sale.order().number == number).for_each(|sale| self.totals.take(sale));
                false
            }
        };
        if !goes_on {
            let Some(number) = self.carried.pop() else { return Some(CountedPage::Last(self)) };
            self.reading = Reading::Carried(number);
        }
        Some(CountedPage::GoesOn(self))
    }

    /// All is counted: what is open now is named.
    pub(super) fn ends(self, terminal_id: String, mut open: Vec<SaleView>) {
        let Self { till, since, seen, mut totals, reply, .. } = self;
        open.retain(|view| view.state != SaleState::Ended && till.as_ref().is_none_or(|till| *till == view.till));
        // What began after the last page is the next count's anyway.
        totals.open.extend(open.iter().map(|view| view.number).filter(|number| *number <= seen));
        let _ = reply.send(Ok(TotalsView {
            terminal_id,
            till,
            open,
            since,
            next: seen,
            kinds: totals.kinds().map(|line| Sum::of(line, None)).collect(),
            schemes: totals.schemes().map(|(scheme, line)| Sum::of(line, Some(scheme))).collect(),
            tips: totals.tips().map(|line| Sum::of(line, None)).collect(),
            declined: totals.declined,
            taken_back: totals.taken_back,
            cancelled: totals.cancelled,
            not_sent: totals.not_sent,
            carried: totals.open.into_iter().collect(),
        }));
    }
}

/// A count after one more page.
pub(super) enum CountedPage {
    /// There is more to read.
    GoesOn(Counting),
    /// That was the last one.
    Last(Counting),
}
