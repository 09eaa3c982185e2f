//! A partial approval that the till accepts. Before the approval is reported, a look-up checks that the gateway booked
//! exactly this amount.
//!
//! If the gateway answered 9.00 but booked 10.00, the customer would pay more than the till and the receipt say
//! (design: invariant 4). The answer is therefore recorded, and the card waits as long as for a pending payment. If a
//! look-up shows exactly this payment with this amount, the transaction continues like any approval. If it shows
//! anything else, or nothing in that time, the full amount is reversed, because no one chose to pay it. `reversing`
//! decides which amount is reversed, and when.

use std::time::Duration;

use super::seen::Moment;
use super::state::{Entering, State};
use super::{
    ApprovedAmount, Deadlines, Event, ForChip, HostFacts, Inquiry, ListedState, ListedTransaction, Now, Payment,
    Reason, Record, Step, Transaction,
};

/// The interval between look-ups while the card waits and the gateway does not list the payment yet.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The part of the state that a power cut may erase.
#[derive(Clone, Debug, Default)]
pub(super) struct VolatilePart {
    /// The data for the card, sent once the partial approval is found.
    for_chip: Box<ForChip>,
    /// The time of the next look-up; `None` while one is on its way.
    due: Option<Duration>,
    /// The deadline by which a look-up must have shown the payment.
    until: Duration,
}

impl VolatilePart {
    /// See [`Transaction::seen_from`].
    pub(super) fn seen_from(&mut self, seen: Moment) {
        for at in self.due.iter_mut().chain([&mut self.until]) {
            seen.until(at);
        }
    }

    pub(super) fn due(&self) -> Option<Duration> {
        self.due
    }
}

/// The result of a look-up of a partial approval.
#[derive(Debug, PartialEq, Eq)]
enum Shown {
    /// The list shows this payment with this amount, and nothing else.
    JustThis,
    /// The list shows nothing, or an undecided transaction.
    NotYet,
    /// The list shows something else.
    SomethingElse,
}

impl Transaction {
    /// Records the partial approval and looks it up.
    pub(super) fn part_approved(
        &mut self,
        part: Payment,
        host: HostFacts,
        for_chip: ForChip,
        now: Now,
        deadlines: Deadlines,
    ) -> Step {
        let until = now.monotonic + deadlines.pending;
        let begun = VolatilePart { for_chip: Box::new(for_chip), due: None, until };
        self.volatile.entering = Some(Entering::Part(begun));
        let approved = Record::HostApproved { payment: part.id, approved: part.amount, host };
        Step::write([approved]).then([self.query(None)])
    }

    pub(super) fn handle_part(&mut self, event: Event, now: Now, deadlines: Deadlines) -> Step {
        let State::AtChip(chip) = &mut self.state else { return Step::none() };
        let part = chip.payment.clone();
        match event {
            Event::Inquired(Inquiry::Payments(found)) => match shown(&part, &found) {
                Shown::JustThis => {
                    let for_chip = std::mem::take(&mut *chip.volatile.for_chip);
                    self.stands_approved(part, self.host.clone(), for_chip, now, deadlines)
                }
                Shown::NotYet => self.look_again(part, now),
                Shown::SomethingElse => {
                    let why = Reason::AnotherAmountApproved.with(part.amount);
                    let step = self.reverse(why.clone(), Some(part), None).alarm(why);
                    if let Some(Entering::Reversing(begun)) = &mut self.volatile.entering {
                        begun.was_shown = true;
                    }
                    step
                }
            },
            Event::Inquired(Inquiry::CannotAsk { .. } | Inquiry::NotReached { .. }) => self.look_again(part, now),
            Event::DeadlinePassed if chip.volatile.due.is_some_and(|due| due <= now.monotonic) => {
                chip.volatile.due = None;
                Step::act([self.query(None)])
            }
            // A chip that was removed cannot confirm. A tap or a swipe need not confirm.
            Event::CardSaid { .. } | Event::ReaderLost => {
                let confirms = self.card.as_ref().is_some_and(|card| card.entry.card_confirms());
                let lost = self.order.kind().card_has_a_say() && confirms;
                self.volatile.card_open = false;
                if lost { self.reverse(Reason::CardLost, Some(part), None) } else { Step::none() }
            }
            Event::Restarted => self.reverse(Reason::RestartedBeforeAnswer, Some(part), None),
            _ => Step::none(),
        }
    }

    /// Schedules the next look-up if the card can still wait, or else reverses the payment.
    fn look_again(&mut self, part: Payment, now: Now) -> Step {
        let State::AtChip(chip) = &mut self.state else { return Step::none() };
        let at = now.monotonic + LOOK_EVERY;
        if at <= chip.volatile.until {
            chip.volatile.due = Some(at);
            return Step::none();
        }
        self.reverse(Reason::AnotherAmountApproved.with(part.amount), Some(part), None)
    }
}

fn shown(part: &Payment, found: &[ListedTransaction]) -> Shown {
    let mut listed = found.iter().filter(|one| one.state != ListedState::Declined || one.id == part.id);
    match (listed.next(), listed.next()) {
        (None, _) => Shown::NotYet,
        (Some(one), None) if one.id == part.id => match one.state {
            ListedState::Approved if one.amount == ApprovedAmount::Said(part.amount) => Shown::JustThis,
            ListedState::Undecided => Shown::NotYet,
            _ => Shown::SomethingElse,
        },
        _ => Shown::SomethingElse,
    }
}
