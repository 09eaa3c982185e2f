//! Taking up what only the disk knows: sales found open at a start, and sales whose step could not be written. One path
//! for both: read from the disk, `Restarted`, go on.

use crate::journal;
use crate::sale::{self, Sale};
use crate::till::Refused;
use crate::transaction::SaleNumber;

use super::status::state_of_journal;
use super::{Active, Agent, JOURNAL_RETRY, JournalFault};

impl Agent {
    /// Takes up sales that were found open: after a start, and after the journal could not be written. One path for
    /// both.
    pub(super) fn resume(&mut self, unsettled: Vec<Sale>) {
        for sale in unsettled {
            let number = sale.order().number;
            tracing::info!(sale = number.get(), "found open, being settled");
            let never_sent = sale.standing() == sale::Standing::Waiting;
            let counted = self.sales.get(&number).is_some_and(|active| active.counted);
            self.sales.insert(number, Active { counted, ..Active::new(sale, self.clock.monotonic()) });
            let first = self.old_copy.first_event(number, never_sent);
            self.inbox.extend(first.map(|event| (number, event)));
        }
    }

    /// What cannot be recorded is not done: the card is declined, the till told that nothing is sure, and the sale
    /// taken up again from the disk, as after a power cut.
    pub(super) fn journal_failed(&mut self, number: SaleNumber, error: &journal::Error) {
        tracing::error!(sale = number.get(), %error, "the journal could not be written");
        self.journal_is_faulty(error);
        let why = error.to_string();
        let Some(active) = self.sales.get_mut(&number) else {
            return;
        };
        active.prepared = None;
        if active.sale.is_settled() {
            // The outcome is on the disk and stands; the card's last word alone is lost.
            self.print(number, sale::Paper::Copies);
            self.announce("journal-failed", &why);
            return;
        }
        active.stuck = true;
        if active.sale.card_waits() {
            self.decline_card(number);
        }
        self.tell(number);
        self.announce("journal-failed", &why);
    }

    /// Takes up again what only the disk knows; when that cannot be written either, it is tried again later.
    pub(super) fn retry_journal(&mut self) {
        // That it can be read says nothing about whether a sale can be written.
        match self.journal.try_to_write().and_then(|()| self.known_to_the_disk_alone()) {
            Ok(sales) => {
                self.journal_fault = None;
                self.resume(sales);
            }
            Err(error) => self.journal_is_faulty(&error),
        }
    }

    /// The sales whose last step could not be written. Every other open sale stands on the disk as it stands here, and
    /// goes on.
    fn known_to_the_disk_alone(&mut self) -> Result<Vec<Sale>, journal::Error> {
        let mut sales = self.journal.unsettled()?;
        sales.retain(|sale| self.sales.get(&sale.order().number).is_none_or(|active| active.stuck));
        for stuck in self.sales.values().filter(|active| active.stuck) {
            let order = stuck.sale.order();
            if !sales.iter().any(|sale| sale.order().number == order.number) {
                // A write that was reported as failed may have ended it all the same.
                sales.extend(self.journal.find(&order.till, &order.reference)?);
            }
        }
        Ok(sales)
    }

    /// Takes no sale until the journal can be written again.
    pub(super) fn journal_is_faulty(&mut self, error: &journal::Error) {
        let retry_at = self.clock.monotonic() + JOURNAL_RETRY;
        self.journal_fault = Some(JournalFault { state: state_of_journal(error), why: error.to_string(), retry_at });
    }
}

/// What a till hears when the journal cannot be used.
pub(super) fn refused_by_journal(error: journal::Error) -> Refused {
    Refused::Journal { why: error.to_string() }
}
