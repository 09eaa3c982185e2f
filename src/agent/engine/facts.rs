//! The facts for the views of transactions, from memory, the journal and the clock. A view depends only on these facts.

use std::time::Duration;

use crate::agent::clock::Clock;
use crate::agent::devices::{PrinterControl, ReaderControl};
use crate::agent::earlier::KnownTransactions;
use crate::agent::views::sale::{SaleFacts, Wait, later_view, sale_view, utc};
use crate::till::{Refused, SaleView, ToConfirm};
use pos_core::transaction::{Reason, Standing, Transaction};
use pos_terms::transaction::Reference;
use pos_words::Words;

use super::OpenTransaction;

/// The sources of the facts.
#[derive(Clone, Copy)]
pub(in crate::agent) struct Facts<'a> {
    pub(super) known: KnownTransactions<'a>,
    pub(super) words: &'a Words,
    pub(super) clock: &'a Clock,
    pub(super) reader: &'a ReaderControl,
    pub(super) printers: &'a PrinterControl,
}

impl Facts<'_> {
    /// Returns the transaction as tills see it.
    pub(in crate::agent) fn view(&self, sale: &Transaction) -> SaleView {
        sale_view(self.words, sale, self.of(sale))
    }

    /// Finds the transaction with a till's reference, and returns it with its view.
    pub(in crate::agent) fn find(&self, till: &str, reference: &Reference) -> Result<(Transaction, SaleView), Refused> {
        let sale = self.known.find(till, reference)?;
        let view = self.view(&sale);
        Ok((sale, view))
    }

    /// Adds to the view of one transaction the transactions that refer to it, the amount left to capture or refund, and
    /// the gateway's whole answer.
    pub(in crate::agent) fn with_what_is_left(&self, sale: &Transaction, mut view: SaleView) -> SaleView {
        view.answer.clone_from(&sale.host().more);
        let later = self.known.later_than_this(sale).unwrap_or_default();
        view.later = later.iter().map(|one| later_view(self.view(one), &view.till)).collect();
        view.later.sort_by_key(|one| one.number);
        view.left = self.known.told_as_left(sale);
        view
    }

    fn of(&self, sale: &Transaction) -> SaleFacts {
        let order = sale.order();
        let of = order.operation.of().map(|of| match of.number {
            Some(number) => match self.known.journal.key(number) {
                Ok(Some((till, reference))) if till == order.till => reference.to_string(),
                // Another till's reference and payment id are not shown.
                _ => format!("number {number}"),
            },
            None => of.payment.to_string(),
        });
        let alone = self.known.sales.left_alone().get(&order.number);
        let alone = alone.map(|(.., why)| Reason::NotSettledHere.with(why));
        let live = self.known.sales.get(order.number);
        SaleFacts {
            of,
            stuck: live.is_some_and(OpenTransaction::is_stuck),
            held_up: self.known.old_copy.holds_up(order.number),
            rest: self.known.refund_of_rest(sale).map(|rest| later_view(self.view(&rest), &order.till)),
            to_confirm: self.awaited_confirmation(sale).filter(|_| alone.is_none()),
            alone,
            step: live.and_then(|active| active.step),
            language: live.and_then(|active| active.language),
            wait: live.and_then(|active| self.wait(sale, active)),
            offered: self.printers.offered(sale),
        }
    }

    /// Returns the amount that the till must confirm, and the deadline. For a transaction that is only in the journal,
    /// the whole time remains.
    pub(in crate::agent) fn awaited_confirmation(&self, sale: &Transaction) -> Option<ToConfirm> {
        let (Standing::AwaitingTill { approved }, Some(on_silence)) = (sale.standing(), sale.order().till_confirms)
        else {
            return None;
        };
        let now = self.clock.monotonic();
        let live = self.known.sales.get(sale.order().number).map_or(sale, OpenTransaction::sale);
        let left = live.deadline().unwrap_or(self.known.sales.deadlines().till + now).saturating_sub(now);
        Some(ToConfirm { amount: approved.decimal(), until: utc(self.clock.unix_ms_in(left)), on_silence })
    }

    /// Returns the rest of the transaction's current wait, for a countdown. It is only for display: the core, the
    /// gateway and the reader set the deadlines.
    fn wait(&self, sale: &Transaction, active: &OpenTransaction) -> Option<Wait> {
        let now = self.clock.monotonic();
        let (until, all) = self.waits_until(sale, active).filter(|(until, _)| *until > now)?;
        let left = until - now;
        Some(Wait { until_unix_ms: self.clock.unix_ms_in(left), left, all })
    }

    /// Returns the end of the transaction's current wait, and the length of the whole wait.
    fn waits_until(&self, sale: &Transaction, active: &OpenTransaction) -> Option<(Duration, Duration)> {
        if active.is_stuck() {
            return None;
        }
        let deadlines = self.known.sales.deadlines();
        match sale.standing() {
            Standing::Waiting => {
                let at_reader = || Some((active.card_until?, self.reader.card_timeout()));
                self.reader.slot.wait_of(sale.order().number).or_else(at_reader)
            }
            Standing::InProgress if let Some(until) = sale.pending_until() => Some((until, deadlines.pending)),
            Standing::InProgress if sale.may_ask_again() => {
                Some((active.times.handed_on_at()? + deadlines.pending, deadlines.pending))
            }
            Standing::AtSignature => Some((active.sale().deadline()?, deadlines.signature?)),
            Standing::AwaitingTill { .. } => Some((active.sale().deadline()?, deadlines.till)),
            Standing::InProgress | Standing::Unconfirmed { .. } | Standing::Ended(_) => None,
        }
    }
}
