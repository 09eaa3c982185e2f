//! The sums of all transactions after a given number. They are counted page by page, so a long list neither fills the
//! memory nor delays the transaction at the reader. The module `totals` of the core defines the sums.
//!
//! The report lists the transactions without an outcome, and the caller passes their numbers to the next count. So a
//! refund that is confirmed tomorrow is in tomorrow's sums. The agent does not store where a report ends: the caller
//! stores the last number.

use tokio::sync::oneshot;

use crate::till::{Refused, SaleState, SaleView, TotalsView};
use pos_core::counter::Sum;
use pos_core::totals::Totals;
use pos_core::transaction::Transaction;
use pos_journal::Journal;
use pos_terms::transaction::SaleNumber;

use super::journal_writer::refused_by_journal;

/// The number of transactions per page. A page is counted within a millisecond.
const PAGE: u32 = 200;

/// A count in progress.
pub(super) struct Counting {
    /// The till to count; `None` counts every till.
    till: Option<String>,
    since: SaleNumber,
    /// The greatest number read.
    seen: SaleNumber,
    /// The numbers without an outcome at the last count that are still to be read.
    carried: Vec<SaleNumber>,
    /// The part that is being read.
    reading: Reading,
    totals: Totals,
    reply: oneshot::Sender<Result<TotalsView, Refused>>,
}

#[derive(Clone, Copy)]
enum Reading {
    /// The page after the greatest number seen.
    Page,
    /// One transaction that had no outcome at the last count.
    Carried(SaleNumber),
}

impl Counting {
    /// Creates a count of the transactions after `since`, and of those in `carried`, which had no outcome at the last
    /// count.
    pub(super) fn new(
        till: Option<String>,
        since: SaleNumber,
        carried: Vec<SaleNumber>,
        reply: oneshot::Sender<Result<TotalsView, Refused>>,
    ) -> Self {
        Self { till, since, seen: since, carried, reading: Reading::Page, totals: Totals::default(), reply }
    }

    /// Reads the next page of the journal.
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

    /// Counts a page and returns whether the count continues. If the journal cannot be read, answers the caller with
    /// the error and returns `None`.
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

    /// Completes the count, adding the transactions that are still open.
    pub(super) fn ends(self, terminal_id: String, mut open: Vec<SaleView>) {
        let Self { till, since, seen, mut totals, reply, .. } = self;
        open.retain(|view| view.state != SaleState::Ended && till.as_ref().is_none_or(|till| *till == view.till));
        // The next count covers transactions that began after the last page.
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

/// The state of a count after one more page.
pub(super) enum CountedPage {
    /// More pages follow.
    GoesOn(Counting),
    /// The count is complete.
    Last(Counting),
}
