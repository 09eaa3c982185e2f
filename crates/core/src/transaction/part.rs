//! A part was approved, and the till takes one: whether the gateway booked just that is looked up before anybody is
//! told that it is approved.
//!
//! An answer of 9.00 while 10.00 is booked would charge more than the till and the receipt say (design: invariant 4).
//! So the answer is written, and the card waits as long as for a pending payment. A look that shows just this payment
//! with just this amount lets it go on as any approval. One that shows anything else, or none in that time, takes the
//! whole of it back: nobody chose to pay that amount. What goes back, and when, is `reversing`'s business.

use std::time::Duration;

use super::seen::Moment;
use super::state::{Entering, State};
use super::{
    ApprovedAmount, Deadlines, Event, ForChip, HostFacts, Inquiry, ListedState, ListedTransaction, Now, Payment,
    Reason, Record, Step, Transaction,
};

/// A gateway that does not list it yet is asked so often, while the card waits.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What a power cut may forget.
#[derive(Clone, Debug, Default)]
pub(super) struct VolatilePart {
    /// What the card hears when the part is found.
    for_chip: Box<ForChip>,
    /// When to look again; `None` while a look is under way.
    due: Option<Duration>,
    /// Until when a look must have shown it.
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

/// What a look shows of a part.
#[derive(Debug, PartialEq, Eq)]
enum Shown {
    /// This payment with this amount, and nothing else.
    JustThis,
    /// Nothing, or nothing decided.
    NotYet,
    /// Something else.
    SomethingElse,
}

impl Transaction {
    /// Written first, then looked up.
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
            Event::Inquired(Inquiry::CannotAsk { .. }) => self.look_again(part, now),
            Event::DeadlinePassed if chip.volatile.due.is_some_and(|due| due <= now.monotonic) => {
                chip.volatile.due = None;
                Step::act([self.query(None)])
            }
            // A chip that is gone cannot confirm; a tap or a swipe needs not.
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

    /// In a moment, as long as the card waits; then it goes back.
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
