//! Counting for the closing of a day: page by page over the journal, so that neither memory nor the sale at the reader
//! feels how long the list is. What is summed is `totals`' business.
//!
//! What has no end yet is named, and its number handed to the next count, so that a refund that is confirmed tomorrow
//! is in tomorrow's sums. It keeps no mark of its own: who counts keeps the number that the report ends with.

use tokio::sync::oneshot;

use crate::till::{Refused, SaleState, TotalsView};
use pos_core::counter::Sum;
use pos_core::sale::Sale;
use pos_core::totals::Totals;
use pos_terms::transaction::SaleNumber;

use super::journal_desk::refused_by_journal;
use super::{Agent, TaskResult};

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

impl Agent {
    pub(super) fn begin_count(
        &self,
        till: Option<String>,
        since: SaleNumber,
        carried: Vec<SaleNumber>,
        reply: oneshot::Sender<Result<TotalsView, Refused>>,
    ) {
        let (seen, totals) = (since, Totals::default());
        self.read_on(Counting { till, since, seen, carried, reading: Reading::Page, totals, reply });
    }

    /// Reads the next page, on a thread of the journal's own.
    fn read_on(&self, counting: Counting) {
        let (since, limit) = match counting.reading {
            Reading::Page => (counting.seen, PAGE),
            Reading::Carried(number) => (number.saturating_sub(1), 1),
        };
        let (list, done) = (self.journal.book().list(counting.till.clone(), since, limit), self.tasks.clone());
        tokio::spawn(async move {
            let page = list.await;
            let _ = done.send(TaskResult::Counted { page, counting: Box::new(counting) }).await;
        });
    }

    pub(super) fn counted(&self, page: Result<Vec<Sale>, pos_journal::Error>, mut counting: Counting) {
        let page = match page {
            Ok(page) => page,
            Err(error) => {
                let _ = counting.reply.send(Err(refused_by_journal(error)));
                return;
            }
        };
        let goes_on = match counting.reading {
            Reading::Page => {
                page.iter().for_each(|sale| counting.totals.take(sale));
                counting.seen = page.last().map_or(counting.seen, |sale| sale.order().number);
                u32::try_from(page.len()).is_ok_and(|read| read == PAGE)
            }
            Reading::Carried(number) => {
                page.iter().filter(|sale| sale.order().number == number).for_each(|sale| counting.totals.take(sale));
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
        let Counting { till, since, seen, mut totals, reply, .. } = counting;
        let mut views: Vec<_> = self.sales.open.values().map(|active| self.view_of(&active.sale)).collect();
        views.retain(|view| view.state != SaleState::Ended && till.as_ref().is_none_or(|till| *till == view.till));
        // What began after the last page is the next count's anyway.
        totals.open.extend(views.iter().map(|view| view.number).filter(|number| *number <= seen));
        let _ = reply.send(Ok(TotalsView {
            terminal_id: self.config.terminal.id.clone(),
            till,
            open: views,
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
