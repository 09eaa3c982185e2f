//! What a reversal waits for before it leaves: that what a till had given back by the payment's id is in the list by
//! which its amount was reckoned, that the payment is none of training, and, of a sale of before the start, that this
//! journal is no old copy (`old_copy.rs`).
//!
//! How much is left to reverse is `sale`'s to reckon; a sale knows no other transaction, so what others gave back of it
//! is found here.

use crate::follow_up::{Held, History};
use crate::money::Amount;
use crate::sale::{self, Action, Event, Reason, Sale};
use crate::training;
use crate::transaction::{Kind, PaymentId, SaleNumber};

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
        let held_back = |reason: Reason, detail: &str, for_person| {
            Some(sale::ReversalAnswer::HeldBack { why: reason.with(detail), for_person })
        };
        let Ok(referring) = self.journal.book.referring_to(payment) else {
            return held_back(Reason::ReversalHeldBack, "", false);
        };
        let captured = |sale: &Sale| sale.order().kind() == Kind::Capture;
        let what = |sale: &Sale| History::of(sale, Vec::new());
        if referring.iter().any(|sale| captured(sale) && what(sale).possible() > 0) {
            return held_back(Reason::GivenBackById, payment.as_str(), true);
        }
        let gives = |sale: &&Sale| sale.order().kind().gives_back();
        let given: Vec<_> = referring.iter().filter(gives).map(what).collect();
        if given.iter().any(|given| given.held == Held::Perhaps) {
            if let Some(active) = self.sales.open.get_mut(&number) {
                active.given_by_id = None;
            }
            return held_back(Reason::ReversalHeldBack, payment.as_str(), false);
        }
        let sum: u64 = given.iter().map(History::possible).sum();
        if sum == 0 {
            return None;
        }
        // The list by which the amount was reckoned must be younger than the last of them.
        let mut active = self.sales.open.get_mut(&number);
        let looked = active.as_mut().and_then(|active| active.given_by_id.replace(sum)) == Some(sum);
        let whole = active.and_then(|active| active.sale.whole_to_reverse());
        if looked && whole.is_some_and(|whole| sum.saturating_add(amount.minor()) <= whole.minor()) {
            return None;
        }
        if looked {
            // The gateway does not list what it gave back among what is linked to the payment, and a look will not
            // change that.
            return held_back(Reason::GivenBackById, payment.as_str(), true);
        }
        held_back(Reason::ReversalHeldBack, payment.as_str(), false)
    }
}
