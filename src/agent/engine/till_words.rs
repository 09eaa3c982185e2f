//! A till's requests that change an open transaction: a cancel, and the acceptance of a part of the approved amount.
//! The acceptance and the refund of the rest are one commit in the journal.

use tokio::sync::oneshot;

use crate::till::{Refused, SaleView};
use pos_core::book;
use pos_core::transaction::{Event, Order, PartMisfit};
use pos_terms::money::Amount;
use pos_terms::transaction::{SaleNumber, Who};

use super::begin::merchant_transaction_id;
use super::{Engine, OpenTransaction};

impl Engine {
    /// Cancels a transaction, if its request has not been sent yet. Answers once it is known whether the cancel was in
    /// time.
    pub(in crate::agent) fn cancel(
        &mut self,
        number: SaleNumber,
        by: &Who,
        view: SaleView,
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    ) {
        match self.sales.open.get_mut(&number) {
            Some(active) if !active.stuck && !self.old_copy.holds_up(number) && active.sale.can_be_cancelled() => {
                active.cancels.push(reply);
                self.hear(number, Event::CancelAsked { by: Some(by.clone()) });
                let view = self.sales.open.get(&number).map(|active| self.facts().view(&active.sale));
                if let (Some(active), Some(view)) = (self.sales.open.get_mut(&number), view) {
                    active.answer_cancels(&view);
                }
            }
            _ => drop(reply.send(Ok(view))),
        }
    }

    /// Accepts a part of the approved amount. The end of the sale and the start of the refund are one commit.
    pub(in crate::agent) fn take_part(
        &mut self,
        number: SaleNumber,
        part: Amount,
        by: Option<Who>,
    ) -> Result<(), Refused> {
        let Some(active) = self.sales.open.get(&number) else { return Ok(()) };
        active.sale.rest_of(part).map_err(no_part)?;
        let order = active.sale.order().clone();
        let reference = self.known().reference_for_rest(&order)?;
        let Some(local) = self.clock.local() else {
            return Err(Refused::NotReady { why: self.clock.untrusted() });
        };
        let now = self.clock.now();
        let refund = self.journal.next_number();
        let names = Order {
            number: refund,
            reference,
            merchant_transaction_id: merchant_transaction_id(&self.random, &order.terminal_id, refund)?,
            started_unix_ms: now.unix_ms,
            local_time: local.format("%Y-%m-%d %H:%M:%S").to_string(),
            ..order
        };
        let Some(active) = self.sales.open.get_mut(&number) else { return Ok(()) };
        let (ends, mut back, begins) = active.sale.take_part(part, names, by, now).map_err(no_part)?;
        let steps = [(&mut active.sale, ends), (&mut back, begins)];
        match self.journal.write(|book| book::commit_all(book, now.unix_ms, steps)) {
            Ok(([actions, begun], took)) => {
                self.sales.open.insert(refund, OpenTransaction::new(back, self.clock.monotonic()));
                self.sales.hear_later(refund, Event::Proceed);
                self.after_writing(number, Ok((actions, took)));
                for action in begun {
                    self.act(refund, action);
                }
            }
            Err(error) => self.after_writing(number, Err(error)),
        }
        Ok(())
    }
}

fn no_part(misfit: PartMisfit) -> Refused {
    match misfit {
        PartMisfit::NoPart { .. } => Refused::Amount { why: misfit.to_string().into() },
        PartMisfit::NotAwaited | PartMisfit::NotOfReservation => {
            Refused::NotPossible { why: misfit.to_string().into() }
        }
    }
}
