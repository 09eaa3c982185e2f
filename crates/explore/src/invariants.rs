//! What holds in every state: the invariants of `docs/src/design.md`, judged by the bank's books and by what the till
//! was told.

use pos_core::sale::{Sale, Standing};
use pos_terms::transaction::OutcomeWord;

use crate::world::{ReaderDoes, World, is_finished};

/// What does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BrokenPromise {
    /// 1: more than one payment stands.
    ChargedTwice { sums: Vec<u64> },
    /// 3: the till heard that nothing was charged, and the bank holds it.
    ToldFreeAndCharged { told: OutcomeWord, sums: Vec<u64> },
    /// 4: what the till heard is not what is booked.
    AnotherAmount { told: u64, booked: u64 },
    /// 3: the till heard of another end before.
    ToldOtherwise { first: OutcomeWord, then: OutcomeWord },
    /// The host's approval of a tap is its end, or the slip's, or the till's word: no card has a say after it.
    ApprovedTapWaits,
    /// 6: nothing is waited for, and nothing is due.
    WaitsForNothing,
    /// The chip refused, and the till heard that it is paid.
    RefusedByChipAndPaid,
    /// The same reversal leaves again before `resend-after-s`, while the one before may still arrive.
    ReversedTooEarly,
    /// 10: more was given back than was paid.
    OverGiven { given: u64, paid: u64 },
    /// 10: another transaction was offered what this one has taken.
    OfferedTwice { given: u64, offered: u64, paid: u64 },
    /// 11: carried out more than once.
    DoneTwice { times: usize },
    /// 2: no end can be reached from here, with everything in order again.
    NoEnd,
}

/// What does not hold in this state.
pub(crate) fn broken(world: &World) -> Option<BrokenPromise> {
    let sale = world.board.sale.as_ref().or(world.disk.sale.as_ref())?;
    let order = sale.order();
    if let Some((first, then)) = world.told_otherwise {
        return Some(BrokenPromise::ToldOtherwise { first, then });
    }
    let is_paid = matches!(world.told.0, Some((OutcomeWord::Approved | OutcomeWord::PartiallyApproved, _)));
    if world.chip_refused && is_paid && world.entry.card_confirms() && order.kind().card_has_a_say() {
        return Some(BrokenPromise::RefusedByChipAndPaid);
    }
    if world.reversed_again {
        return Some(BrokenPromise::ReversedTooEarly);
    }
    let has_no_say = !world.entry.card_confirms() && !order.accept_partial;
    if has_no_say && sale.host().id.is_some() && sale.standing() == Standing::InProgress {
        return Some(BrokenPromise::ApprovedTapWaits);
    }
    if let Some((given, paid)) = world.bank.over_given() {
        return Some(BrokenPromise::OverGiven { given, paid });
    }
    if let Some((payment, offered)) = &world.follows {
        let (given, paid) = world.bank.given_back_of(payment.host().id.as_ref()?);
        if given + offered > paid {
            return Some(BrokenPromise::OfferedTwice { given, offered: *offered, paid });
        }
    }
    if is_finished(order.kind()) {
        return broken_of_finished(world, sale);
    }
    let sums: Vec<u64> = world.bank.charged(&order.merchant_transaction_id).collect();
    match world.told.0 {
        Some((OutcomeWord::Approved | OutcomeWord::PartiallyApproved, told)) => match &sums[..] {
            [booked] if *booked == told && told <= sale.amount().minor() => {}
            [booked] => return Some(BrokenPromise::AnotherAmount { told, booked: *booked }),
            _ => return Some(BrokenPromise::ChargedTwice { sums }),
        },
        Some((told, _)) if !sums.is_empty() => return Some(BrokenPromise::ToldFreeAndCharged { told, sums }),
        _ => {}
    }
    if sums.len() > 1 && !may_settle(sale) {
        return Some(BrokenPromise::ChargedTwice { sums });
    }
    waits_for_nothing(world)
}

fn broken_of_finished(world: &World, sale: &Sale) -> Option<BrokenPromise> {
    let order = sale.order();
    let own =
        world.bank.approved(order.kind().payment_type()).filter(|one| one.reference == order.merchant_transaction_id);
    let sums: Vec<u64> = own.map(|one| one.amount.minor()).collect();
    if sums.len() > 1 {
        return Some(BrokenPromise::DoneTwice { times: sums.len() });
    }
    match world.told.0 {
        Some((OutcomeWord::Approved | OutcomeWord::PartiallyApproved, told)) => match &sums[..] {
            [booked] if *booked == told => {}
            sums => return Some(BrokenPromise::AnotherAmount { told, booked: sums.iter().sum() }),
        },
        Some((told, _)) if !sums.is_empty() => return Some(BrokenPromise::ToldFreeAndCharged { told, sums }),
        _ => {}
    }
    waits_for_nothing(world)
}

/// Whether it is still being settled.
fn may_settle(sale: &Sale) -> bool {
    !matches!(sale.standing(), Standing::Ended(_))
}

/// A board that is on has somebody to wait for, or a deadline.
fn waits_for_nothing(world: &World) -> Option<BrokenPromise> {
    let sale = world.board.sale.as_ref().filter(|sale| !sale.is_settled() && !world.board.stuck)?;
    let waits = world.wire.iter().any(|on_wire| on_wire.awaited)
        || world.reader != ReaderDoes::Idle
        || sale.deadline().is_some()
        || world.board.proceeds;
    (!waits).then_some(BrokenPromise::WaitsForNothing)
}

/// Whether the life is at its end: ended and told, or told to a person; or nothing has ever begun.
pub(crate) fn is_end(world: &World) -> bool {
    let has_ended = |sale: &Sale| {
        sale.is_settled() || matches!(sale.standing(), Standing::Unconfirmed { quarantined: Some(_), .. })
    };
    match (&world.board.sale, &world.disk.sale) {
        (Some(sale), _) => has_ended(sale),
        (None, None) => true,
        (None, Some(_)) => false,
    }
}

/// How it stands, in a word.
pub(crate) fn stands(world: &World) -> String {
    if let Some(end) = end_of(world) {
        return end;
    }
    let word = match world.board.sale.as_ref().map(Sale::standing) {
        None if !world.board.is_on => "dark",
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

/// How it ended.
pub(crate) fn end_of(world: &World) -> Option<String> {
    let sale = world.board.sale.as_ref()?;
    match sale.standing() {
        Standing::Ended(outcome) if sale.is_settled() => Some(outcome.word().as_str().to_owned()),
        Standing::Unconfirmed { quarantined: Some(why), .. } => Some(format!("for a person: {}", why.reason.as_str())),
        _ => None,
    }
}
