//! The identity of this agent: its terminal, its account at the gateway, and whether it works for the shop or for
//! training. The agent neither completes nor follows transactions of another identity.

use crate::till::{Refused, Wanted};
use pos_core::training;
use pos_core::transaction::{Order, Transaction};
use pos_terms::transaction::PaymentId;
use pos_words::{Message, Sentence};

/// The purpose of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    /// The shop.
    Shop,
    /// Training, where no money moves.
    Training,
}

/// The identity of this agent for the journal and the gateway.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    ground: Ground,
    terminal_id: String,
    /// The identifier of the account at the gateway.
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

    /// Returns the account as an order stores it. Training has no account.
    pub(super) fn account(&self) -> Option<String> {
        (!self.trains()).then(|| self.account.clone())
    }

    /// Checks that a request is for this agent. Training requests are for the training agent; all others are for the
    /// shop's agent.
    pub(super) fn takes(&self, wanted: &Wanted) -> Result<(), Refused> {
        if wanted.training.is_some() == self.trains() {
            return Ok(());
        }
        Err(Refused::not_possible(Message::NotOfTraining))
    }

    /// Checks that a payment is this agent's. Training payments belong to the trainer; all others belong to the
    /// gateway.
    pub(super) fn has_payment(&self, payment: &PaymentId) -> Result<(), Refused> {
        match (self.trains(), training::is_of_training(payment)) {
            (true, false) => {
                Err(Refused::not_possible(Message::PaymentNotOfTraining.with("payment", payment.as_str())))
            }
            (false, true) => Err(Refused::not_possible(Message::PaymentOfTraining.with("payment", payment.as_str()))),
            _ => Ok(()),
        }
    }

    /// Checks that a transaction may be followed. No transaction follows one with the other purpose or with another
    /// account at the gateway, even if this journal holds it.
    pub(super) fn has_transaction(&self, sale: &Transaction) -> Result<(), Refused> {
        let order = sale.order();
        if order.training.is_some() != self.trains() {
            let trains = self.trains();
            let message = if trains { Message::TransactionNotOfTraining } else { Message::TransactionOfTraining };
            return Err(Refused::not_possible(message.with("number", order.number.to_string())));
        }
        if self.is_of_another_account(order) {
            return Err(Refused::not_possible(Message::OfAnotherAccount.with("number", order.number.to_string())));
        }
        sale.host().id.as_ref().map_or(Ok(()), |payment| self.has_payment(payment))
    }

    /// Returns whether a transaction was begun with another account at the gateway. Earlier versions of the program did
    /// not record the account. Their transactions count as this account's.
    pub(super) fn is_of_another_account(&self, order: &Order) -> bool {
        order.account.as_ref().is_some_and(|account| *account != self.account)
    }

    /// Returns the reason why this agent cannot complete an open transaction in its journal. A training transaction
    /// moved no money. A payment from another terminal or account can be neither found nor reversed with this agent's
    /// access to the gateway.
    pub(super) fn cannot_settle(&self, order: &Order) -> Option<Sentence> {
        let ours = &self.terminal_id;
        if order.training.is_some() && !self.trains() {
            return Some(Message::LeftAsTraining.into());
        }
        if self.is_of_another_account(order) {
            return Some(Message::LeftToAnotherAccount.into());
        }
        let theirs = order.terminal_id.as_str();
        let left = || Message::LeftToAnotherTerminal.with("theirs", theirs).with("ours", ours.as_str());
        (theirs != ours).then(left)
    }
}
