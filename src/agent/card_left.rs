//! A card that is left in the reader: the sale it belongs to has had its say, and the reader waits for an empty slot.
//!
//! A sale that begins in those seconds is recorded and waits. It gets the reader only when the reader says that the
//! slot is empty, so that the card of the sale before can never pay for it (design: invariant 5).

use std::time::Duration;

use pos_core::sale::{Action, Event, Reason, Why};
use pos_reader::{ReaderEvent, ReaderProgress};
use pos_terms::transaction::SaleNumber;

use super::Agent;

/// How long a sale waits for the card of the one before: a customer who walked off without it does not come sooner, and
/// a till must hear in time that nothing was charged.
const CARD_OUT: Duration = Duration::from_secs(30);

/// What stands in the way of the next sale.
pub(super) const TAKE_IT_OUT: &str = "the card of the last payment is still in the reader: take it out";

/// The reader between its last word about a sale and its empty slot.
#[derive(Default)]
pub(super) struct Slot {
    /// The reader has said its last word about the sale that has it.
    is_finishing: bool,
    /// The card of that sale is in the slot.
    card_is_in: bool,
    /// The sale that waits for the reader.
    next: Option<NextSale>,
}

/// A sale that waits for an empty slot.
struct NextSale {
    number: SaleNumber,
    until: Duration,
    /// What it asked of the reader.
    held: Option<Action>,
}

impl Slot {
    /// A word about another sale than the one that has the reader comes too late: that sale has lost the reader.
    pub(super) fn hears(&mut self, event: &ReaderEvent, in_use_by: Option<SaleNumber>) {
        match event {
            ReaderEvent::NoCard { sale, .. } | ReaderEvent::Completed { sale, .. } if in_use_by == Some(*sale) => {
                self.is_finishing = true;
            }
            ReaderEvent::Progress { progress: ReaderProgress::RemoveCard, .. } => self.card_is_in = true,
            ReaderEvent::Idle | ReaderEvent::Unready(_) => (self.is_finishing, self.card_is_in) = (false, false),
            _ => {}
        }
    }

    pub(super) fn card_is_in(&self) -> bool {
        self.card_is_in
    }

    pub(super) fn next(&self) -> Option<SaleNumber> {
        self.next.as_ref().map(|next| next.number)
    }

    /// Until when this sale waits for an empty slot, and how long in all.
    pub(super) fn wait_of(&self, number: SaleNumber) -> Option<(Duration, Duration)> {
        self.next.as_ref().filter(|next| next.number == number).map(|next| (next.until, CARD_OUT))
    }

    pub(super) fn due(&self) -> Option<Duration> {
        self.next.as_ref().map(|next| next.until)
    }
}

impl Agent {
    /// The sale that keeps another one from beginning at the reader. One whose card only has to leave the slot does
    /// not, as long as nobody waits for that.
    pub(super) fn keeps_the_reader(&self) -> Option<SaleNumber> {
        let slot = &self.reader.slot;
        slot.next().or(self.reader.in_use_by.filter(|_| !slot.is_finishing))
    }

    /// Gives a new sale the reader, or has it wait for an empty slot.
    pub(super) fn take_the_reader(&mut self, number: SaleNumber) {
        if self.reader.in_use_by.is_none() {
            self.reader.in_use_by = Some(number);
            return;
        }
        let until = self.clock.monotonic() + CARD_OUT;
        self.reader.slot.next = Some(NextSale { number, until, held: None });
    }

    /// What is left to be done at once: what a sale that waits asks of the reader is held until the slot is empty.
    pub(super) fn left_by_the_slot(&mut self, number: SaleNumber, action: Action) -> Option<Action> {
        let Some(next) = self.reader.slot.next.as_mut().filter(|next| next.number == number) else {
            return Some(action);
        };
        match action {
            Action::AskTip | Action::Arm => {
                next.held = Some(action);
                None
            }
            Action::StopReader => {
                self.next_hears(Reason::TillCancelled.into());
                None
            }
            action => Some(action),
        }
    }

    /// Tells the sale that waits, once, what it waits for.
    pub(super) fn ask_for_the_card_before(&mut self) {
        let Some(number) = self.reader.slot.next().filter(|_| self.reader.slot.card_is_in) else { return };
        let ask = &ReaderProgress::RemoveCard;
        self.announce_step(number, ask);
    }

    /// The slot is empty: the sale that waits has the reader. `false` when none does.
    pub(super) fn next_sale_goes_on(&mut self) -> bool {
        let Some(NextSale { number, held: Some(action), .. }) = self.reader.slot.next.take() else { return false };
        // What could not be recorded is taken up again from the disk, and not with a card.
        if self.sales.open.get(&number).is_none_or(|active| active.stuck) {
            return false;
        }
        self.reader.in_use_by = Some(number);
        self.act(number, action);
        true
    }

    /// Nobody took the card out in time.
    pub(super) fn waited_for_the_slot(&mut self) {
        if self.reader.slot.due().is_some_and(|until| until <= self.clock.monotonic()) {
            self.next_hears(Reason::CardLeftIn.into());
        }
    }

    /// The sale that waits ends, and nothing of it was sent.
    pub(super) fn next_hears(&mut self, why: Why) {
        if let Some(next) = self.reader.slot.next.take() {
            self.sales.inbox.push_back((next.number, Event::NoCard { why }));
        }
    }
}
