//! The checks that an action must pass before it is sent to the gateway.
//!
//! - A request must not follow a training transaction.
//! - A look-up needs a reference by which the gateway can find a payment.
//! - A reversal must not concern a training payment. Its amount must allow for refunds that tills requested by the
//!   payment's id. If the transaction was open at the start, this journal must not be an outdated copy (`old_copy.rs`).
//!
//! The core calculates how much is left to reverse. A transaction does not know other transactions, so this file finds
//! the refunds of its payment. `follow_up/by_id.rs` decides whether they hold the reversal back.

use pos_core::follow_up::GivenById;
use pos_core::training;
use pos_core::transaction::{Action, Event, Inquiry, Order, Reason, ReversalAnswer};
use pos_journal::Journal;
use pos_terms::money::Amount;
use pos_terms::transaction::{Kind, PaymentId};

use super::open_transactions::{Gate, OpenTransaction};
use crate::agent::clock::Clock;
use crate::agent::old_copy::OldCopy;

/// Lets an action be sent, or holds it back and returns the event for its transaction.
pub(in crate::agent) fn may_leave(
    active: &mut OpenTransaction,
    action: Action,
    journal: &Journal,
    old_copy: &mut OldCopy,
    clock: &Clock,
) -> Gate {
    let (payment, amount, reference) = match &action {
        Action::Reverse { payment, amount, reference } => (payment, amount, reference),
        Action::Ask if is_trained(active.order()) => {
            let why = Reason::RequestNotPossible.with("it refers to a transaction of training mode");
            return Gate::Holds(Some(Event::CannotAsk { why }));
        }
        // A request to forget a card cannot be looked up by a reference. It is sent again instead.
        Action::Query { .. } if active.order().kind() == Kind::ForgetCard => {
            return Gate::Holds(Some(Event::Inquired(Inquiry::Payments(Vec::new()))));
        }
        _ => return Gate::Opens(action),
    };
    let held_back = if training::is_of_training(payment) {
        let why = Reason::RequestNotPossible.with("the payment was made in training mode");
        Some(ReversalAnswer::HeldBack { why, for_person: true })
    } else {
        given_back_by_id(active, payment, *amount, journal)
    };
    match held_back {
        Some(reversal) => Gate::Holds(Some(Event::ReversalAnswered { reference: reference.clone(), reversal })),
        None => old_copy.lets_leave(active.number(), action, active.sale.is_decided(), clock.monotonic()),
    }
}

/// Returns the reason to hold a reversal back, if tills refunded this payment by its id before the journal knew its
/// transaction. The refunds and the reversal together would exceed the payment, or their sum is not known yet.
fn given_back_by_id(
    active: &mut OpenTransaction,
    payment: &PaymentId,
    amount: Amount,
    journal: &Journal,
) -> Option<ReversalAnswer> {
    let Ok(referring) = journal.referring_to(payment) else {
        return Some(ReversalAnswer::HeldBack { why: Reason::ReversalHeldBack.into(), for_person: false });
    };
    let given = GivenById::of(&referring);
    let may_leave = given.may_leave(amount, active.sale.whole_to_reverse(), &mut active.given_by_id);
    may_leave.err().map(|held_back| held_back.answer(payment))
}

/// Returns whether a transaction is a training transaction or follows one. Such a transaction must not reach the
/// gateway.
fn is_trained(order: &Order) -> bool {
    order.training.is_some() || order.operation.of().is_some_and(|of| training::is_of_training(&of.payment))
}
