//! The identity of this agent: its terminal, its account at the gateway, and whether it works for the shop or for
//! training. It neither completes nor follows transactions of another identity.

use crate::till::{Refused, Wanted};
use pos_core::training;
use pos_core::transaction::{Order, Transaction};
use pos_terms::transaction::PaymentId;

/// The message about a transaction of another account.
const ANOTHER_ACCOUNT: &str = "was begun with another account at the gateway (another [gateway] entity-id)";

/// The purpose of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    /// The shop.
    Shop,
    /// Training, where no money moves.
    Training,
}

/// The identity of this agent towards the journal and the gateway.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    ground: Ground,
    terminal_id: String,
    /// The mark of the account at the gateway.
    account: String,
}

impl Identity {
    pub(super) fn new(ground: Ground, terminal_id: &str, account: String) -> Self {
        Self { ground, terminal_id: terminal_id.to_owned(), account }
    }

    pub(super) fn trains(&self) -> bool {
        self.ground == Ground::Training
    }

    pub(super) fn terminal_id(&self) -> &str {
        &self.terminal_id
    }

    /// Returns the account as an order stores it; training has none.
    pub(super) fn account(&self) -> Option<String> {
        (!self.trains()).then(|| self.account.clone())
    }

    /// Checks that a request is for this agent: training requests are for the training agent, all others for the
    /// shop's.
    pub(super) fn takes(&self, wanted: &Wanted) -> Result<(), Refused> {
        if wanted.training.is_some() == self.trains() {
            return Ok(());
        }
        Err(not_possible("a transaction of training, and none but that, is for the trainer".to_owned()))
    }

    /// Checks that a payment is this agent's: training payments belong to the trainer, all others to the gateway.
    pub(super) fn has_payment(&self, payment: &PaymentId) -> Result<(), Refused> {
        match (self.trains(), training::is_of_training(payment)) {
            (true, false) => Err(not_possible(format!("{payment} is no payment of training"))),
            (false, true) => Err(not_possible(format!(
                "{payment} is a payment of training, which never was; say \"training\" with it"
            ))),
            _ => Ok(()),
        }
    }

    /// Checks that a transaction may be followed. Nothing follows one of the other purpose, or of another account at
    /// the gateway, even if it is in this journal.
    pub(super) fn has_transaction(&self, sale: &Transaction) -> Result<(), Refused> {
        let order = sale.order();
        if order.training.is_some() != self.trains() {
            let what = if self.trains() { "is none of training" } else { "is one of training, which never was" };
            return Err(not_possible(format!("transaction {} {what}", order.number)));
        }
        if self.is_of_another_account(order) {
            let number = order.number;
            return Err(not_possible(format!(
                "transaction {number} {ANOTHER_ACCOUNT}: nothing of this one's can follow it"
            )));
        }
        sale.host().id.as_ref().map_or(Ok(()), |payment| self.has_payment(payment))
    }

    /// Returns whether a transaction was begun with another account at the gateway. Earlier programs did not record the
    /// account; their transactions count as this one's.
    pub(super) fn is_of_another_account(&self, order: &Order) -> bool {
        order.account.as_ref().is_some_and(|account| *account != self.account)
    }

    /// Returns why this agent cannot complete an open transaction of its journal. A training transaction moved no
    /// money. What another terminal or another account sent can be neither found nor reversed with this one's access to
    /// the gateway.
    pub(super) fn cannot_settle(&self, order: &Order) -> Option<String> {
        let ours = &self.terminal_id;
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
}

fn not_possible(why: String) -> Refused {
    Refused::NotPossible { why }
}
