//! The owner of an answer. An answer with another transaction's payment id does not answer this request.

use pos_core::transaction::{self, Answer, Inquiry, Order, ReversalAnswer};
use pos_journal::Journal;
use pos_terms::transaction::{Kind, PaymentId, SaleNumber};

use super::{OpenTransaction, OpenTransactions};

/// The transaction that sent the request, and the journal that knows the owner of each payment.
pub(in crate::agent) struct Owner<'a> {
    number: SaleNumber,
    /// The transaction's order, as long as the transaction is open.
    order: Option<&'a Order>,
    journal: &'a Journal,
}

impl<'a> Owner<'a> {
    /// Creates the check for one transaction's answers.
    pub(in crate::agent) fn of(number: SaleNumber, sales: &'a OpenTransactions, journal: &'a Journal) -> Self {
        Self { number, order: sales.get(number).map(OpenTransaction::order), journal }
    }

    /// Returns the answer, or [`Answer::NotOurs`] if it has the id of another transaction's payment.
    pub(in crate::agent) fn answer(&self, answer: Answer) -> Answer {
        let id = match &answer {
            // The client has already compared this id with that of the card to forget. It belongs to the transaction
            // that stored the card, so it is expected here.
            Answer::Approved(_) if self.order.is_some_and(|order| order.kind() == Kind::ForgetCard) => return answer,
            Answer::Approved(approval) => &approval.id,
            Answer::Pending { id, .. } => id,
            _ => return answer,
        };
        let earlier = self.order.and_then(|order| order.operation.of());
        let of_another = earlier.is_some_and(|of| of.payment == *id) || self.is_of_another(id);
        if of_another { Answer::NotOurs { why: self.another_transactions(id) } } else { answer }
    }

    /// Returns the list, or a failed look-up if the list shows another transaction's payment with this reference.
    /// Acting on such a list would affect the other transaction.
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

    /// Returns the reversal's answer, or an unknown one if its id belongs to another transaction's payment. A reversal
    /// has its own id.
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

    /// Makes the reason and logs the id. The payment may belong to another till, so only the log contains its id.
    fn another_transactions(&self, id: &PaymentId) -> transaction::Cause {
        tracing::error!(
            sale = self.number.get(),
            payment = id.as_str(),
            "the gateway named a payment of a different transaction"
        );
        transaction::Reason::AnotherPaymentAnswered.into()
    }
}
