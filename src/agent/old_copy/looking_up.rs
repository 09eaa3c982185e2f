//! A transaction of before that something is to follow, while the gateway's list by date is not complete: its own
//! payment is looked up, with all that is linked to it. It may go on when this journal knows each of those.

use tokio::sync::oneshot;

use crate::agent::earlier::EarlierFound;
use crate::agent::journal_desk::refused_by_journal;
use crate::agent::{Agent, TaskResult};
use crate::till::{Refused, SaleView, Wanted};
use pos_core::sale::{Inquiry, ListedState, ListedTransaction, Sale};
use pos_terms::transaction::SaleNumber;

use super::{Comparison, OldCopy};

/// A wish that waits for the look-up of the transaction that it follows.
pub(in crate::agent) struct WaitingWish {
    wanted: Wanted,
    of: SaleNumber,
    reply: oneshot::Sender<Result<SaleView, Refused>>,
}

#[cfg(test)]
impl WaitingWish {
    pub(in crate::agent) fn new(
        wanted: Wanted,
        of: SaleNumber,
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    ) -> Self {
        Self { wanted, of, reply }
    }
}

impl Agent {
    /// Begins what a till wants, after a look-up where that is needed.
    pub(in crate::agent) fn begin_or_look_up(
        &mut self,
        wanted: Wanted,
        reply: oneshot::Sender<Result<SaleView, Refused>>,
    ) {
        let Some(earlier) = self.to_be_looked_up(&wanted) else {
            let answer = self.begin_sale(wanted);
            let _ = reply.send(answer);
            return;
        };
        let order = earlier.order();
        let (of, reference) = (order.number, order.merchant_transaction_id.clone());
        let wish = Box::new(WaitingWish { wanted, of, reply });
        let (gateway, done, places) = (self.gateway.client.clone(), self.tasks.clone(), self.gateway.turns.clone());
        tokio::spawn(async move {
            let _turn = places.acquire_owned().await;
            let inquiry = gateway.query_for_till(&reference).await;
            let _ = done.send(TaskResult::LookedUp { wish, inquiry }).await;
        });
    }

    /// The transaction that is to be looked up before this wish may begin.
    fn to_be_looked_up(&self, wanted: &Wanted) -> Option<Sale> {
        let OldCopy { comparison, before, lists_no_more, is_new, .. } = &self.old_copy;
        let is_open = *lists_no_more && !is_new && matches!(comparison, Comparison::Due(_) | Comparison::Asking);
        let of = wanted.wish.of.as_ref().filter(|_| is_open && self.find(&wanted.till, &wanted.reference).is_err())?;
        let EarlierFound::Here(earlier) = self.earlier(of).ok()? else { return None };
        (earlier.order().number <= *before).then_some(*earlier)
    }

    /// The look-up is answered.
    pub(in crate::agent) fn looked_up(&mut self, wish: WaitingWish, inquiry: Inquiry) {
        let WaitingWish { wanted, of, reply } = wish;
        // A till that gave up asks again under the same reference.
        if reply.is_closed() {
            return;
        }
        let answer = self.knows_all_of(of, inquiry).and_then(|()| {
            self.old_copy.vouched_for = Some(of);
            let begun = self.begin_sale(wanted);
            self.old_copy.vouched_for = None;
            begun
        });
        let _ = reply.send(answer);
    }

    /// Whether this journal knows each transaction that the gateway has linked to this one.
    fn knows_all_of(&mut self, number: SaleNumber, inquiry: Inquiry) -> Result<(), Refused> {
        let not_ready = |why: &str| Refused::NotReady {
            why: format!(
                "nobody knows whether this journal is an old copy, and transaction {number} cannot be looked up ({why}); try again later"
            ),
        };
        let list = match inquiry {
            Inquiry::Payments(list) => list,
            Inquiry::CannotAsk { why } => return Err(not_ready(&why.to_string())),
        };
        let sale = self.journal.book().number(number).map_err(refused_by_journal)?;
        let payment = sale.as_ref().and_then(|sale| sale.host().id.clone());
        let Some(payment) = payment.filter(|payment| list.iter().any(|one| one.id == *payment)) else {
            return Err(not_ready("the gateway does not list it"));
        };
        let references = list.iter().filter_map(|one| one.reference.clone()).collect();
        let strange = self.strange(references).map_err(refused_by_journal)?;
        if !strange.is_empty() {
            self.is_old_copy(&strange);
        }
        let mut unknown = 0;
        for one in list.iter().filter(|one| one.id != payment && one.state != ListedState::Declined) {
            unknown += usize::from(!self.is_known(one)?);
        }
        if unknown == 0 {
            return Ok(());
        }
        let why = format!(
            "the gateway holds {unknown} transactions linked to transaction {number} that this journal does not know; see to it in the \
             gateway's back office"
        );
        Err(Refused::NotPossible { why })
    }

    fn is_known(&self, one: &ListedTransaction) -> Result<bool, Refused> {
        let Some(reference) = &one.reference else { return Ok(false) };
        self.journal.book().knows(reference).map_err(refused_by_journal)
    }
}
