//! What a reversal waits for before it leaves: that what a till had given back by the payment's id is in the list by
//! which its amount was reckoned, that the payment is none of training, and, of a sale of before the start, that this
//! journal is no old copy (`old_copy.rs`).
//!
//! How much is left to reverse is `sale`'s to reckon; a sale knows no other transaction, so what others gave back of it
//! is found here. What that holds back decides `follow_up/by_id.rs`.

use pos_core::follow_up::GivenById;
use pos_core::sale::{self, Action, Event, Reason};
use pos_core::training;
use pos_terms::money::Amount;
use pos_terms::transaction::{PaymentId, SaleNumber};

use super::Agent;

impl Agent {
    /// Gives a reversal back when it may leave.
    pub(super) fn may_leave(&mut self, number: SaleNumber, reversal: Action) -> Option<Action> {
        if let Action::Reverse { payment, reference, .. } = &reversal
            && training::is_of_training(payment)
        {
            let why = Reason::RequestNotPossible.with("a payment of training, which never was");
            let held_back = sale::ReversalAnswer::HeldBack { why, for_person: true };
            let answered = Event::ReversalAnswered { reference: reference.clone(), reversal: held_back };
            self.sales.inbox.push_back((number, answered));
            return None;
        }
        if let Action::Reverse { payment, amount, reference } = &reversal
            && let Some(held_back) = self.given_back_by_id(number, payment, *amount)
        {
            let answered = Event::ReversalAnswered { reference: reference.clone(), reversal: held_back };
            self.sales.inbox.push_back((number, answered));
            return None;
        }
        self.unless_old_copy(number, reversal)
    }

    /// Whether a till had this payment given back by its id before the journal knew whose it is, and together it would
    /// be too much, or nobody knows yet.
    fn given_back_by_id(
        &mut self,
        number: SaleNumber,
        payment: &PaymentId,
        amount: Amount,
    ) -> Option<sale::ReversalAnswer> {
        let Ok(referring) = self.journal.book().referring_to(payment) else {
            return Some(sale::ReversalAnswer::HeldBack { why: Reason::ReversalHeldBack.into(), for_person: false });
        };
        let given = GivenById::of(&referring);
        let may_leave = match self.sales.open.get_mut(&number) {
            Some(active) => given.may_leave(amount, active.sale.whole_to_reverse(), &mut active.given_by_id),
            None => given.may_leave(amount, None, &mut None),
        };
        may_leave.err().map(|held_back| held_back.answer(payment))
    }
}
