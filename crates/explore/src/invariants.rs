//! The properties that must hold in every state, which are the invariants of `docs/src/design.md`. They are checked
//! with the bank's bookings and the outcomes reported to the till.

use pos_core::transaction::{Standing, Transaction};
use pos_terms::transaction::{Kind, OutcomeWord};

use crate::life::{Life, ReaderDoes};
use crate::world::{World, is_finished};

/// The violated property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BrokenPromise {
    /// Invariant 1: the bank holds more than one payment.
    ChargedTwice { sums: Vec<u64> },
    /// Invariant 3: the till got the outcome that nothing was charged, but the bank holds a payment.
    ToldFreeAndCharged { told: OutcomeWord, sums: Vec<u64> },
    /// Invariant 4: the amount reported to the till differs from the booked amount.
    AnotherAmount { told: u64, booked: u64 },
    /// Invariant 3: the till got a different outcome earlier.
    ToldOtherwise { first: OutcomeWord, then: OutcomeWord },
    /// After the gateway's approval, a contactless transaction must end, or wait for the signature or the till's
    /// answer. No card confirms it later.
    ApprovedTapWaits,
    /// Invariant 6: the transaction waits for no device, and it has no deadline.
    WaitsForNothing,
    /// The chip, the signature check or the till refused the payment, but the till got the outcome that it is paid.
    RefusedAndPaid,
    /// The till accepted the payment, but got the outcome that it is not paid.
    TakenAndNotPaid,
    /// The same reversal was sent again before `resend-after-s`, while the earlier request could still arrive.
    ReversedTooEarly,
    /// The gateway declined, and the request was sent again although the terminal had received the decline.
    AskedAfterADecline,
    /// Invariant 2: a terminal with an outdated journal copy sent a request before a person had decided.
    LeftByItself,
    /// A receipt said paid before the transaction had ended as paid.
    PrintedTooEarly,
    /// The last receipt contradicts the outcome reported to the till.
    ReceiptSaysOtherwise { paid: bool },
    /// A person must act, but no alarm was raised.
    NobodyHears,
    /// A person must act, although the gateway did nothing wrong.
    CalledForNothing { reason: &'static str },
    /// Invariant 10: more was reversed or refunded than was paid.
    OverGiven { given: u64, paid: u64 },
    /// Invariant 10: the till accepted a part of a payment, but more than the rest was refunded.
    MoreThanTheRest { given: u64, rest: u64 },
    /// The refund owed to the customer was abandoned without an alarm.
    RestForgotten { given: u64, rest: u64 },
    /// Invariant 10: another transaction could have used the amount that this transaction has used.
    OfferedTwice { given: u64, offered: u64, paid: u64 },
    /// Invariant 11: the request was carried out more than once.
    DoneTwice { times: usize },
    /// Invariant 2: from this state, no end can be reached, even without further faults.
    NoEnd,
    /// Invariant 2: without further faults, the transaction repeats forever and never ends.
    GoesRound,
}

/// Returns the property that this state violates.
pub(crate) fn broken(world: &World) -> Option<BrokenPromise> {
    if let Some((given, paid)) = world.bank.over_given() {
        return Some(BrokenPromise::OverGiven { given, paid });
    }
    if let Some((payment, offered)) = &world.follows {
        let (given, paid) = payment.host().id.as_ref().map_or((0, 0), |id| world.bank.given_back_of(id));
        if given + offered > paid {
            return Some(BrokenPromise::OfferedTwice { given, offered: *offered, paid });
        }
        if let Some(rest) = world.rest.filter(|rest| given > *rest) {
            return Some(BrokenPromise::MoreThanTheRest { given, rest });
        }
    }
    let lives = [Some(&world.life), world.other.as_deref()];
    lives.into_iter().flatten().find_map(|life| broken_of(world, life))
}

fn broken_of(world: &World, life: &Life) -> Option<BrokenPromise> {
    let sale = life.sale.as_ref().or(world.disk.sale(&life.order))?;
    let kind = sale.order().kind();
    if let Some((first, then)) = life.told_otherwise {
        return Some(BrokenPromise::ToldOtherwise { first, then });
    }
    let has_no_say = !life.entry.card_confirms() && !sale.order().accept_partial;
    let flags = [
        (life.was_taken && life.told.0.is_some() && !life.told.is_paid(), BrokenPromise::TakenAndNotPaid),
        (life.was_refused && life.told.is_paid(), BrokenPromise::RefusedAndPaid),
        (life.reversed_again, BrokenPromise::ReversedTooEarly),
        (life.asked_after_decline, BrokenPromise::AskedAfterADecline),
        (life.left_by_itself, BrokenPromise::LeftByItself),
        (life.printed_too_early, BrokenPromise::PrintedTooEarly),
        (
            has_no_say && sale.host().id.is_some() && sale.standing() == Standing::InProgress,
            BrokenPromise::ApprovedTapWaits,
        ),
    ];
    if let Some((_, broken)) = flags.into_iter().find(|(is_broken, _)| *is_broken) {
        return Some(broken);
    }
    let reference = &sale.order().merchant_transaction_id;
    let (own, charged) = if is_finished(kind) {
        let own = world.bank.approved(kind.payment_type()).filter(|one| one.reference == *reference);
        let own: Vec<u64> = own.map(|one| one.amount.minor()).collect();
        // It does no harm to delete a stored card twice.
        if own.len() > 1 && kind != Kind::ForgetCard {
            return Some(BrokenPromise::DoneTwice { times: own.len() });
        }
        (own.clone(), own)
    } else {
        (world.bank.stands(reference), world.bank.charged(reference))
    };
    match life.told.0 {
        Some((_, told)) if life.told.is_paid() => match &own[..] {
            [booked, ..] if *booked == told && told <= sale.amount().minor() => {}
            // A person has decided to keep the remaining amount.
            _ if sale.is_decided() && charged == [told] => {}
            sums => return Some(BrokenPromise::AnotherAmount { told, booked: sums.iter().sum() }),
        },
        Some((told, _)) if !charged.is_empty() => {
            return Some(BrokenPromise::ToldFreeAndCharged { told, sums: charged });
        }
        _ => {}
    }
    // Until the outcome is final, the bank may hold more than one payment.
    if own.len() > 1 && matches!(sale.standing(), Standing::Ended(_)) && kind != Kind::ForgetCard {
        return Some(BrokenPromise::ChargedTwice { sums: own });
    }
    people_of(world, life, sale).or_else(|| waits_for_nothing(world, life))
}

/// Checks the alarms, receipts and refunds that people depend on.
fn people_of(world: &World, life: &Life, sale: &Transaction) -> Option<BrokenPromise> {
    if let Standing::Unconfirmed { quarantined: Some(why), .. } = sale.standing() {
        if !world.is_strange {
            return Some(BrokenPromise::CalledForNothing { reason: why.reason.as_str() });
        }
        if life.nobody_hears {
            return Some(BrokenPromise::NobodyHears);
        }
    }
    if !sale.is_settled() || life.told.0.is_none() {
        return None;
    }
    if let Some(paid) = life.receipt.filter(|paid| *paid != life.told.is_paid()) {
        return Some(BrokenPromise::ReceiptSaysOtherwise { paid });
    }
    let rest = world.rest.filter(|_| sale.order().gives_rest && !life.rest_is_told)?;
    let (given, _) = world.follows.as_ref()?.0.host().id.as_ref().map(|id| world.bank.given_back_of(id))?;
    (given != rest).then_some(BrokenPromise::RestForgotten { given, rest })
}

/// Checks that a transaction on a running terminal waits for a device or a person, or has a deadline.
fn waits_for_nothing(world: &World, life: &Life) -> Option<BrokenPromise> {
    let sale = life.sale.as_ref().filter(|sale| !sale.is_settled() && !life.stuck)?;
    let waits = world.wire.iter().any(|on_wire| on_wire.awaited && on_wire.whose == life.order.number)
        || life.reader != ReaderDoes::Idle
        || sale.deadline().is_some()
        || sale.is_held()
        || life.proceeds;
    (!waits).then_some(BrokenPromise::WaitsForNothing)
}

/// Returns whether every transaction has ended and was reported, waits for a person, or never began.
pub(crate) fn is_end(world: &World) -> bool {
    let has_ended = |sale: &Transaction| {
        sale.is_settled() || matches!(sale.standing(), Standing::Unconfirmed { quarantined: Some(_), .. })
    };
    let is_over = |life: &Life| match (&life.sale, world.disk.sale(&life.order)) {
        (Some(sale), _) => has_ended(sale),
        (None, None) => true,
        (None, Some(_)) => false,
    };
    is_over(&world.life) && world.other.as_deref().is_none_or(is_over)
}

/// Returns a short description of the state.
pub(crate) fn stands(world: &World) -> String {
    if let Some(end) = end_of(world) {
        return end;
    }
    let word = match world.life.sale.as_ref().map(Transaction::standing) {
        None if !world.is_on => "dark",
        None => "not begun",
        Some(Standing::Waiting) => "waits for its card",
        Some(Standing::InProgress) => "in progress",
        Some(Standing::AtSignature) => "waits for the signature",
        Some(Standing::AwaitingTill { .. }) => "waits for its till",
        Some(Standing::Unconfirmed { .. }) => "unconfirmed",
        Some(Standing::Ended(_)) => "ended, its card is in the reader",
    };
    word.to_owned()
}

/// Returns the outcome of the transaction or, if there are two, both outcomes.
pub(crate) fn end_of(world: &World) -> Option<String> {
    let end = |life: &Life| {
        let sale = life.sale.as_ref()?;
        match sale.standing() {
            Standing::Ended(outcome) if sale.is_settled() => Some(outcome.word().as_str().to_owned()),
            Standing::Unconfirmed { quarantined: Some(why), .. } => {
                Some(format!("for a person: {}", why.reason.as_str()))
            }
            _ => None,
        }
    };
    let first = end(&world.life)?;
    Some(match &world.other {
        Some(other) => format!("{first}; the other: {}", end(other)?),
        None => first,
    })
}
