//! Whose answer it is: an answer that names another transaction's payment is none to this request.

use pos_core::transaction::{self, Answer, Inquiry, Order, ReversalAnswer};
use pos_journal::Journal;
use pos_terms::transaction::{Kind, PaymentId, SaleNumber};

use super::{OpenTransaction, OpenTransactions};

/// The transaction that was asked for, and the journal that knows whose each payment is.
pub(in crate::agent) struct Owner<'a> {
    number: SaleNumber,
    /// Its order, as long as it is open.
    order: Option<&'a Order>,
    journal: &'a Journal,
}

impl<'a> Owner<'a> {
    /// Who knows whether an answer is this transaction's.
    pub(in crate::agent) fn of(number: SaleNumber, sales: &'a OpenTransactions, journal: &'a Journal) -> Self {
        Self { number, order: sales.get(number).map(OpenTransaction::order), journal }
    }

    /// An answer with the id of another transaction is not one to this request, whatever else it says.
    pub(in crate::agent) fn answer(&self, answer: Answer) -> Answer {
        let id = match &answer {
            // Held against the id that was to be forgotten already: it is that of whoever stored the card.
            Answer::Approved(_) if self.order.is_some_and(|order| order.kind() == Kind::ForgetCard) => return answer,
            Answer::Approved(approval) => &approval.id,
            Answer::Pending { id, .. } => id,
            _ => return answer,
        };
        let earlier = self.order.and_then(|order| order.operation.of());
        let of_another = earlier.is_some_and(|of| of.payment == *id) || self.is_of_another(id);
        if of_another { Answer::NotOurs { why: self.another_transactions(id) } } else { answer }
    }

    /// A list that shows another transaction's payment under this one's reference says nothing: what would be done by
    /// it would be done to the other one.
    pub(in crate::agent) fn inquiry(&self, inquiry: Inquiry) -> Inquiry {
        let Inquiry::Payments(found) = &inquiry else { return inquiry };
        let Some(reference) = self.order.map(|order| &order.merchant_transaction_id) else {
            return inquiry;
        };
        let named = found.iter().filter(|one| one.reference.as_ref().is_none_or(|named| named == reference));
        let mut foreign = named.filter(|one| self.is_of_another(&one.id));
        match foreign.next() {
            Some(one) => Inquiry::CannotAsk { why: self.another_transactions(&one.id) },
            None => inquiry,
        }
    }

    /// A reversal has an id of its own.
    pub(in crate::agent) fn reversal(&self, reversal: ReversalAnswer) -> ReversalAnswer {
        match reversal {
            ReversalAnswer::Done { id, .. } if self.is_of_another(&id) => {
                ReversalAnswer::Unknown { why: self.another_transactions(&id) }
            }
            reversal => reversal,
        }
    }

    fn is_of_another(&self, id: &PaymentId) -> bool {
        self.journal.of_payment(id).is_ok_and(|owner| owner.is_some_and(|owner| owner != self.number))
    }

    /// The gateway named another transaction's payment, which may be another till's: its id is in the log alone.
    fn another_transactions(&self, id: &PaymentId) -> transaction::Cause {
        tracing::error!(
            sale = self.number.get(),
            payment = id.as_str(),
            "the gateway named a payment that is another transaction's"
        );
        transaction::Reason::AnotherPaymentAnswered.into()
    }
}
