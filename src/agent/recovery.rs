//! Taking up what only the disk knows: sales found open at a start, and sales whose step could not be written. One path
//! for both: read from the disk, `Restarted`, go on.

use pos_core::sale::{self, Sale};
use pos_terms::transaction::SaleNumber;

use super::Agent;
use super::sale_desk::OpenSale;

/// How a transaction of another account is told.
pub(super) const ANOTHER_ACCOUNT: &str = "was begun with another account at the gateway (another [gateway] entity-id)";

impl Agent {
    /// Takes up sales that were found open: after a start, and after the journal could not be written. One path for
    /// both.
    pub(super) fn resume(&mut self, unsettled: Vec<Sale>) {
        for sale in unsettled {
            let number = sale.order().number;
            if let Some(why) = self.is_not_its_own(sale.order()) {
                tracing::error!(sale = number.get(), %why, "ALARM: an open sale is left alone");
                self.sales.left_alone.insert(number, (sale.order().till.clone(), sale.order().reference.clone(), why));
                continue;
            }
            tracing::info!(sale = number.get(), "found open, being settled");
            let never_sent = sale.standing() == sale::Standing::Waiting;
            let first = self.old_copy.first_event(sale.order(), never_sent);
            let counted = self.sales.open.get(&number).is_some_and(|active| active.counted);
            self.sales.open.insert(number, OpenSale { counted, ..OpenSale::new(sale, self.clock.monotonic()) });
            self.sales.inbox.extend(first.map(|event| (number, event)));
        }
    }

    /// Whether a transaction was begun with another account at the gateway. Earlier programs did not write with which:
    /// then it counts as this one's.
    pub(super) fn is_of_another_account(&self, order: &sale::Order) -> bool {
        order.account.as_ref().is_some_and(|account| *account != self.gateway.client.account())
    }

    /// Why this agent cannot settle an open sale of its journal: what was trained never was, and what another terminal
    /// or another account sent cannot be found, or taken back, with this one's access to the gateway.
    fn is_not_its_own(&self, order: &sale::Order) -> Option<String> {
        let ours = &self.config.terminal.id;
        if order.training.is_some() && !self.trains() {
            return Some("it is one of training, which never was: nothing of it is sent to the gateway".to_owned());
        }
        if self.is_of_another_account(order) {
            return Some(format!("it {ANOTHER_ACCOUNT}"));
        }
        (order.terminal_id != *ours).then(|| {
            let theirs = &order.terminal_id;
            format!("terminal {theirs} made it, and this is {ours}: it cannot be settled from here; correct [terminal] id if this is {theirs}")
        })
    }

    /// What cannot be recorded is not done: the card is declined, the till told that nothing is sure, and the sale
    /// taken up again from the disk, as after a power cut.
    pub(super) fn journal_failed(&mut self, number: SaleNumber, error: &pos_journal::Error) {
        tracing::error!(sale = number.get(), %error, "the journal could not be written");
        self.journal_is_faulty(error);
        let why = error.to_string();
        let Some(active) = self.sales.open.get_mut(&number) else {
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
}
