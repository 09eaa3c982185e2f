//! The journal, as the agent has it: the book itself, the number that was given last, and the fault that keeps new
//! sales from being taken until the book can be written again.

use std::time::Duration;

use crate::journal::{self, Journal};
use crate::sale::Sale;
use crate::till::{JournalState, Refused};
use crate::transaction::SaleNumber;

use super::Agent;
use super::device_states::state_of_journal;

/// How often a journal that failed is tried again: a technician frees space by hand.
pub(super) const JOURNAL_RETRY: Duration = Duration::from_secs(5);

/// The book, and how it stands.
pub(super) struct JournalDesk {
    pub(super) book: Journal,
    /// It could not be written: no sale is taken until it can be again.
    pub(super) fault: Option<JournalFault>,
    pub(super) last_number: SaleNumber,
}

/// Why the journal could not be written, and when to try again.
pub(super) struct JournalFault {
    pub(super) state: JournalState,
    pub(super) why: String,
    pub(super) retry_at: Duration,
}

impl Agent {
    /// Takes up again what only the disk knows; when that cannot be written either, it is tried again later.
    pub(super) fn retry_journal(&mut self) {
        // That it can be read says nothing about whether a sale can be written.
        match self.journal.book.try_to_write().and_then(|()| self.known_to_the_disk_alone()) {
            Ok(sales) => {
                self.journal.fault = None;
                self.resume(sales);
            }
            Err(error) => self.journal_is_faulty(&error),
        }
    }

    /// The sales whose last step could not be written. Every other open sale stands on the disk as it stands here, and
    /// goes on.
    fn known_to_the_disk_alone(&mut self) -> Result<Vec<Sale>, journal::Error> {
        let mut sales = self.journal.book.unsettled()?;
        sales.retain(|sale| self.sales.open.get(&sale.order().number).is_none_or(|active| active.stuck));
        for stuck in self.sales.open.values().filter(|active| active.stuck) {
            let order = stuck.sale.order();
            if !sales.iter().any(|sale| sale.order().number == order.number) {
                // A write that was reported as failed may have ended it all the same.
                sales.extend(self.journal.book.find(&order.till, &order.reference)?);
            }
        }
        Ok(sales)
    }

    /// Takes no sale until the journal can be written again.
    pub(super) fn journal_is_faulty(&mut self, error: &journal::Error) {
        let retry_at = self.clock.monotonic() + JOURNAL_RETRY;
        self.journal.fault = Some(JournalFault { state: state_of_journal(error), why: error.to_string(), retry_at });
    }
}

/// What a till hears when the journal cannot be used.
pub(super) fn refused_by_journal(error: journal::Error) -> Refused {
    Refused::Journal { why: error.to_string() }
}
