//! The properties of every state: the invariants of `docs/src/design.md`. They are judged by the bank's bookings and by
//! the outcomes reported to the till.

use pos_core::transaction::{Standing, Transaction};
use pos_terms::transaction::{Kind, OutcomeWord};

use crate::life::{Life, ReaderDoes};
use crate::world::{World, is_finished};

/// The violated property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BrokenPromise {
    /// 1: more than one payment is held.
    ChargedTwice { sums: Vec<u64> },
    /// 3: the till heard that nothing was charged, but the bank holds a payment.
    ToldFreeAndCharged { told: OutcomeWord, sums: Vec<u64> },
    /// 4: the till heard another amount than the booked one.
    AnotherAmount { told: u64, booked: u64 },
    /// 3: the till heard a different outcome earlier.
    ToldOtherwise { first: OutcomeWord, then: OutcomeWord },
    /// After the gateway's approval, a tap must end, or wait for the signature or the till's answer. No card confirms
    /// after it.
    ApprovedTapWaits,
    /// 6: the transaction waits for no device, and nothing is due.
    WaitsForNothing,
    /// The chip, the signature or the till refused it, but the till heard that it is paid.
    RefusedAndPaid,
    /// The till took it, but heard that it is not paid.
    TakenAndNotPaid,
    /// The same reversal was sent again before `resend-after-s`, while the earlier one may still arrive.
    ReversedTooEarly,
    /// The gateway declined, the terminal heard it, and the request was sent again.
    AskedAfterADecline,
    /// 2: an outdated journal copy sent a request before a person had decided.
    LeftByItself,
    /// A paper says that it is paid before it has ended so.
    PrintedTooEarly,
    /// The last receipt contradicts the outcome reported to the till.
    ReceiptSaysOtherwise { paid: bool },
    /// A person must handle it, but no alarm was raised.
    NobodyHears,
    /// A person must handle it, although the gateway did nothing wrong.
    CalledForNothing { reason: &'static str },
    /// 10: more was given back than was paid.
    OverGiven { given: u64, paid: u64 },
    /// 10: of a payment of which the till took a part, more than the rest was given back.
    MoreThanTheRest { given: u64, rest: u64 },
    /// The refund owed to the customer was abandoned without an alarm.
    RestForgotten { given: u64, rest: u64 },
    /// 10: another transaction was offered the amount that this one has taken.
    OfferedTwice { given: u64, offered: u64, paid: u64 },
    /// 11: carried out more than once.
    DoneTwice { times: usize },
    /// 2: no end can be reached from here, even without further faults.
    NoEnd,
    /// 2: without further faults it repeats forever and never ends.
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
        // Deleting a stored card twice does no harm.
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
            // A person has decided that what is left stays.
            _ if sale.is_decided() && charged == [told] => {}
            sums => return Some(BrokenPromise::AnotherAmount { told, booked: sums.iter().sum() }),
        },
        Some((told, _)) if !charged.is_empty() => {
            return Some(BrokenPromise::ToldFreeAndCharged { told, sums: charged });
        }
        _ => {}
    }
    // More than one may be held until the outcome is final.
    if own.len() > 1 && matches!(sale.standing(), Standing::Ended(_)) && kind != Kind::ForgetCard {
        return Some(BrokenPromise::ChargedTwice { sums: own });
    }
    people_of(world, life, sale).or_else(|| waits_for_nothing(world, life))
}

/// Checks what people see and hear.
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

/// Checks that a running terminal waits for a device or a person, or has a deadline.
fn waits_for_nothing(world: &World, life: &Life) -> Option<BrokenPromise> {
    let sale = life.sale.as_ref().filter(|sale| !sale.is_settled() && !life.stuck)?;
    let waits = world.wire.iter().any(|on_wire| on_wire.awaited && on_wire.whose == life.order.number)
        || life.reader != ReaderDoes::Idle
        || sale.deadline().is_some()
        || sale.is_held()
        || life.proceeds;
    (!waits).then_some(BrokenPromise::WaitsForNothing)
}

/// Returns whether everything is at its end: ended and reported, or passed to a person, or never begun.
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

/// Returns the standing in one word.
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

/// Returns the outcome, or both outcomes of two.
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
