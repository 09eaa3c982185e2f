//! The evaluation of a look-up of a payment that is to be reversed. It computes how much is still charged. It makes no
//! decision and sends nothing.
//!
//! The entry with the transaction's own reference shows the outcome of its request. The remaining amount of the payment
//! is the approved amount minus **every** approved reversal and refund of it, by any sender. The interface names
//! `referencedId` in webhooks only, so the rules do not depend on it. They use it if a gateway does name it. A listed
//! reversal or refund belongs to the payment if it has the reference of one of this transaction's reversals of the
//! payment. It also belongs to the payment if the list has only one payment, because the query asks for all linked
//! transactions.
//!
//! Amounts, currencies and codes are checked as strictly as those of a direct answer. A value that cannot be read is
//! never guessed.

use pos_terms::money::Amount;
use pos_terms::transaction::PaymentId;

use super::record::Payment;
use super::reversals::{ConfirmedReversal, RecordedReversal, ReversalRequest, less};
use super::{ApprovedAmount, Cause, ListedState, ListedTransaction, Reason};

/// The reason why a list does not show the remaining amount.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inconclusive {
    /// A later look-up will show the amount.
    LookAgain(Cause),
    /// No look-up will show the amount. A person must handle the payment.
    ForPerson(Cause),
}

/// The result of the transaction's own reversal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum OwnReversal {
    /// Listed as approved.
    CarriedOut {
        /// The id of the reversal.
        id: PaymentId,
        /// The reversed amount.
        amount: Amount,
    },
    /// Listed as declined.
    Declined {
        /// The number of listed declines.
        times: u32,
    },
    /// Not listed.
    NotListed,
}

/// Returns the payments of a list. Linked captures and refunds are left out: other senders made them, and reversing a
/// refund would charge the customer.
pub(super) fn payments(found: &[ListedTransaction]) -> impl Iterator<Item = &ListedTransaction> {
    found.iter().filter(|one| is_payment(one))
}

fn is_payment(one: &ListedTransaction) -> bool {
    matches!(one.payment_type.as_str(), "DB" | "PA" | "CD")
}

/// Returns a transaction with the payment's own reference that is neither a payment nor a reversal or refund. The
/// gateway has received this transaction, but its effect is unknown.
pub(super) fn strange_kind<'a>(found: &'a [ListedTransaction], reference: &str) -> Option<&'a ListedTransaction> {
    found.iter().find(|one| {
        one.reference.as_deref() == Some(reference)
            && !is_payment(one)
            && !matches!(one.payment_type.as_str(), "RV" | "RF")
            && one.state != ListedState::Declined
    })
}

/// Returns whether a listed transaction may be charged. If so, it is reversed in the same way as a transaction that is
/// certainly charged. The gateway decides, and its refusal is shown to a person.
pub(super) fn may_be_charged(one: &ListedTransaction) -> bool {
    matches!(one.state, ListedState::Approved | ListedState::Unclear)
}

/// Returns the result of the requested reversal.
pub(super) fn own(request: &ReversalRequest, found: &[ListedTransaction]) -> Result<OwnReversal, Inconclusive> {
    let named = |one: &&ListedTransaction| one.reference.as_ref() == Some(&request.reference);
    // Earlier versions sent their reversals under the transaction's own reference.
    let another =
        |one: &&ListedTransaction| one.payment_type != "RV" && !is_payment(one) && one.state != ListedState::Declined;
    if let Some(strange) = found.iter().filter(named).find(another) {
        return Err(Inconclusive::ForPerson(another_kind(strange)));
    }
    let ours = |one: &&ListedTransaction| one.payment_type == "RV" && named(one);
    let other = |one: &&ListedTransaction| one.refers_to.as_ref().is_some_and(|id| *id != request.payment.id);
    if let Some(strange) = found.iter().filter(ours).find(other) {
        return Err(Inconclusive::ForPerson(Reason::ListContradicts.with(&strange.id)));
    }
    let asked = request.payment.amount;
    let mut times = 0;
    for one in found.iter().filter(ours) {
        match one.state {
            ListedState::Approved => {
                return match said(one.amount, asked) {
                    Some(amount) if amount.minor() <= asked.minor() => {
                        Ok(OwnReversal::CarriedOut { id: one.id.clone(), amount })
                    }
                    _ => Err(Inconclusive::ForPerson(another_amount(&one.id))),
                };
            }
            ListedState::Undecided => {
                return Err(Inconclusive::LookAgain(Reason::NotDecidedYet.with(&one.id)));
            }
            ListedState::Unclear => return Err(Inconclusive::ForPerson(strange_code(&one.id))),
            ListedState::Declined => times += 1,
        }
    }
    Ok(if times > 0 { OwnReversal::Declined { times } } else { OwnReversal::NotListed })
}

/// Returns the remaining amount of a payment, or `None` if all of it was given back. For a confirmed reversal, an
/// amount in the list takes precedence over the amount in the answer.
pub(super) fn left(
    is: &RecordedReversal,
    payment: &Payment,
    found: &[ListedTransaction],
) -> Result<Option<Amount>, Inconclusive> {
    let confirmed = is.confirmed.iter().filter(|done| done.payment == payment.id);
    let declined = |done: &&ConfirmedReversal| {
        found.iter().any(|one| is_listed(done, one)) && listed_as(done, found).next().is_none()
    };
    if let Some(done) = confirmed.clone().find(declined) {
        return Err(Inconclusive::ForPerson(Reason::ListContradicts.with(&done.id)));
    }
    let unlisted = confirmed.filter(|done| listed_as(done, found).next().is_none());
    let mut back: u64 = unlisted.map(|done| done.amount.minor()).sum();
    let later = |one: &&ListedTransaction| !is_payment(one) && one.state != ListedState::Declined;
    for one in found.iter().filter(later) {
        if !belongs(is, one, payment, found)? {
            continue;
        }
        if !matches!(one.payment_type.as_str(), "RV" | "RF") {
            // The interface lists kinds without their meanings, so the effect of this one is unknown. It may be a
            // capture. This terminal does not capture a payment that it reverses, so another sender made the capture on
            // purpose.
            return Err(Inconclusive::ForPerson(another_kind(one)));
        }
        let done = is.confirmed.iter().find(|done| is_listed(done, one));
        match one.state {
            ListedState::Approved => match (one.amount, done) {
                (ApprovedAmount::Said(said), _) if said.currency() == payment.amount.currency() => {
                    back = back.saturating_add(said.minor());
                }
                (ApprovedAmount::NotSaid, Some(done)) => back = back.saturating_add(done.amount.minor()),
                _ => {
                    return Err(Inconclusive::ForPerson(another_amount(&one.id)));
                }
            },
            ListedState::Undecided => {
                return Err(Inconclusive::LookAgain(Reason::NotDecidedYet.with(&one.id)));
            }
            ListedState::Unclear => return Err(Inconclusive::ForPerson(strange_code(&one.id))),
            ListedState::Declined => {}
        }
    }
    Ok(less(payment.amount, back))
}

/// Returns the entries of a list that belong to a confirmed reversal, except declined ones.
fn listed_as<'a>(
    done: &'a ConfirmedReversal,
    found: &'a [ListedTransaction],
) -> impl Iterator<Item = &'a ListedTransaction> {
    found.iter().filter(|one| one.state != ListedState::Declined && is_listed(done, one))
}

fn is_listed(done: &ConfirmedReversal, one: &ListedTransaction) -> bool {
    let ours = one.payment_type == "RV" && one.reference.as_ref() == Some(&done.reference);
    !is_payment(one) && (ours || done.id == one.id)
}

/// Returns the cause if the list and the answer name different amounts for a reversal.
pub(super) fn told_otherwise(is: &RecordedReversal, found: &[ListedTransaction]) -> Option<Cause> {
    is.confirmed.iter().find_map(|done| {
        let said = |one: &ListedTransaction| match one.amount {
            ApprovedAmount::Said(said) => Some(said.minor()),
            ApprovedAmount::NotSaid | ApprovedAmount::Unreadable => None,
        };
        let mut listed = listed_as(done, found).filter_map(said).peekable();
        listed.peek()?;
        let sum: u64 = listed.sum();
        (sum != done.amount.minor()).then(|| Reason::ListContradicts.with(&done.reference))
    })
}

/// Returns whether a reversal or refund belongs to this payment.
fn belongs(
    is: &RecordedReversal,
    one: &ListedTransaction,
    payment: &Payment,
    found: &[ListedTransaction],
) -> Result<bool, Inconclusive> {
    if let Some(id) = &one.refers_to {
        return Ok(*id == payment.id);
    }
    let asked = is.open.iter().chain(&is.unanswered).map(|open| (&open.reference, &open.payment.id));
    let confirmed = is.confirmed.iter().map(|done| (&done.reference, &done.payment));
    let of = asked.chain(confirmed).find(|(reference, _)| Some(*reference) == one.reference.as_ref());
    if let Some((_, id)) = of {
        return Ok(*id == payment.id);
    }
    if payments(found).filter(|other| may_be_charged(other)).count() <= 1 {
        return Ok(true);
    }
    Err(Inconclusive::ForPerson(Reason::WhoseIsNotSaid.with(&one.id)))
}

/// Returns the amount of an approved transaction. If the gateway names no amount, this is the requested amount. Returns
/// `None` if the amount is in another currency or cannot be read.
pub(super) fn said(amount: ApprovedAmount, asked: Amount) -> Option<Amount> {
    match amount {
        ApprovedAmount::NotSaid => Some(asked),
        ApprovedAmount::Said(said) if said.currency() == asked.currency() => Some(said),
        ApprovedAmount::Said(_) | ApprovedAmount::Unreadable => None,
    }
}

/// Returns the cause for an amount that differs from the requested one.
pub(super) fn another_amount(id: &PaymentId) -> Cause {
    Reason::AnotherAmountDone.with(id)
}

/// Returns the cause for a listed kind that differs from the requested one.
pub(super) fn another_kind(one: &ListedTransaction) -> Cause {
    Reason::AnotherKindListed.with(format_args!("{} {}", one.id, one.payment_type))
}

fn strange_code(id: &PaymentId) -> Cause {
    Reason::CodeUnknown.with(id)
}
