//! Recovery from the disk, for transactions that were open at the start and those whose step could not be written. Both
//! are read from the disk, receive the event `Restarted`, and continue.

use pos_core::transaction::{Paper, Standing, Transaction};
use pos_terms::transaction::SaleNumber;

use super::{Engine, OpenTransaction, print};

impl Engine {
    /// Resumes the transactions that were found open, after a start or after the journal could not be written.
    pub(in crate::agent) fn resume(&mut self, unsettled: Vec<Transaction>) {
        for sale in unsettled {
            let number = sale.order().number;
            if let Some(why) = self.identity.cannot_settle(sale.order()) {
                tracing::error!(sale = number.get(), %why, "ALARM: the agent cannot resolve an open sale");
                self.sales.left_alone.insert(number, (sale.order().till.clone(), sale.order().reference.clone(), why));
                continue;
            }
            let (reference, till) = (sale.order().reference.as_str(), &sale.order().till);
            tracing::info!(sale = number.get(), reference, till, "an open transaction was found and is being resolved");
            let never_sent = sale.standing() == Standing::Waiting;
            let first = self.old_copy.first_event(sale.order(), never_sent);
            let counted = self.sales.open.get(&number).is_some_and(|active| active.counted);
            self.sales
                .open
                .insert(number, OpenTransaction { counted, ..OpenTransaction::new(sale, self.clock.monotonic()) });
            self.sales.inbox.extend(first.map(|event| (number, event)));
        }
    }

    /// Handles a step that could not be recorded and so is not carried out. The card is declined, and the till learns
    /// that the state is uncertain. The transaction is resumed from the disk, as after a power cut.
    pub(super) fn journal_failed(&mut self, number: SaleNumber, error: &pos_journal::Error) {
        tracing::error!(sale = number.get(), %error, "the journal could not be written");
        self.journal_is_faulty(error);
        let why = error.to_string();
        let Some(active) = self.sales.open.get_mut(&number) else {
            return;
        };
        active.prepared = None;
        if active.sale.is_settled() {
            // The outcome is on the disk and final. Only the card's last report is lost.
            print(self, number, Paper::Copies);
            self.teller.terminal("journal-failed", &why);
            return;
        }
        active.stuck = true;
        if active.sale.card_waits() {
            let heard = self.devices.reader.decline_card(number);
            self.sales.inbox.extend(heard.map(|event| (number, event)));
        }
        self.tell(number);
        self.teller.terminal("journal-failed", &why);
    }

    /// Stops new transactions until the journal can be written again.
    pub(in crate::agent) fn journal_is_faulty(&mut self, error: &pos_journal::Error) {
        if let Some(why) = self.journal.failed(error, self.clock.monotonic()) {
            self.teller.terminal_alarm(why);
        }
    }
}
