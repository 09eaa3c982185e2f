//! A card that is left in the reader: the sale it belongs to has had its say, and the reader waits for an empty slot.
//!
//! A sale that begins in those seconds is recorded and waits. It gets the reader only when the reader says that the
//! slot is empty, so that the card of the sale before can never pay for it (design: invariant 5).

use std::time::Duration;

use pos_core::sale::{Action, Event, Reason, Why};
use pos_reader::{ReaderEvent, ReaderProgress};
use pos_terms::transaction::SaleNumber;

use super::reader::ReaderDesk;

/// How long a sale waits for the card of the one before: a customer who walked off without it does not come sooner, and
/// a till must hear in time that nothing was charged.
const CARD_OUT: Duration = Duration::from_secs(30);

/// What stands in the way of the next sale.
pub(in crate::agent) const TAKE_IT_OUT: &str = "the card of the last payment is still in the reader: take it out";

/// The reader between its last word about a sale and its empty slot.
#[derive(Default)]
pub(in crate::agent) struct Slot {
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
    pub(in crate::agent) fn hears(&mut self, event: &ReaderEvent, in_use_by: Option<SaleNumber>) {
        match event {
            ReaderEvent::NoCard { sale, .. } | ReaderEvent::Completed { sale, .. } if in_use_by == Some(*sale) => {
                self.is_finishing = true;
            }
            ReaderEvent::Progress { progress: ReaderProgress::RemoveCard, .. } => self.card_is_in = true,
            ReaderEvent::Idle | ReaderEvent::Unready(_) => (self.is_finishing, self.card_is_in) = (false, false),
            _ => {}
        }
    }

    pub(in crate::agent) fn card_is_in(&self) -> bool {
        self.card_is_in
    }

    pub(in crate::agent) fn next(&self) -> Option<SaleNumber> {
        self.next.as_ref().map(|next| next.number)
    }

    /// Until when this sale waits for an empty slot, and how long in all.
    pub(in crate::agent) fn wait_of(&self, number: SaleNumber) -> Option<(Duration, Duration)> {
        self.next.as_ref().filter(|next| next.number == number).map(|next| (next.until, CARD_OUT))
    }

    /// When the sale that waits has waited long enough.
    pub(in crate::agent) fn due(&self) -> Option<Duration> {
        self.next.as_ref().map(|next| next.until)
    }

    /// What is left to be done at once: what a sale that waits asks of the reader is held until the slot is empty. A
    /// sale that is cancelled meanwhile hears it at once.
    pub(super) fn lets_through(&mut self, number: SaleNumber, action: Action) -> Result<Action, Option<Event>> {
        let Some(next) = self.next.as_mut().filter(|next| next.number == number) else { return Ok(action) };
        match action {
            Action::AskTip | Action::Arm => {
                next.held = Some(action);
                Err(None)
            }
            Action::StopReader => {
                self.next = None;
                Err(Some(Event::NoCard { why: Reason::TillCancelled.into() }))
            }
            action => Ok(action),
        }
    }

    /// The sale that waits, as long as the card of the one before is in the slot.
    pub(in crate::agent) fn waits_for_card_out(&self) -> Option<SaleNumber> {
        self.next().filter(|_| self.card_is_in)
    }

    /// The slot is empty: the sale that waits, and what it asked of the reader.
    pub(in crate::agent) fn is_empty(&mut self) -> Option<(SaleNumber, Action)> {
        let next = self.next.take()?;
        next.held.map(|action| (next.number, action))
    }

    /// The sale that waits, when nobody took the card out in time.
    pub(in crate::agent) fn was_waited_for(&mut self, now: Duration) -> Option<(SaleNumber, Event)> {
        if self.due().is_none_or(|until| until > now) {
            return None;
        }
        self.gives_up(Reason::CardLeftIn.into())
    }

    /// The sale that waits ends, and nothing of it was sent.
    pub(in crate::agent) fn gives_up(&mut self, why: Why) -> Option<(SaleNumber, Event)> {
        self.next.take().map(|next| (next.number, Event::NoCard { why }))
    }
}

impl ReaderDesk {
    /// The sale that keeps another one from beginning at the reader. One whose card only has to leave the slot does
    /// not, as long as nobody waits for that.
    pub(in crate::agent) fn is_kept_by(&self) -> Option<SaleNumber> {
        self.slot.next().or(self.in_use_by.filter(|_| !self.slot.is_finishing))
    }

    /// Gives a new sale the reader, or has it wait for an empty slot.
    pub(in crate::agent) fn is_taken_by(&mut self, number: SaleNumber) {
        if self.in_use_by.is_none() {
            self.in_use_by = Some(number);
            return;
        }
        let until = self.clock.monotonic() + CARD_OUT;
        self.slot.next = Some(NextSale { number, until, held: None });
    }

    /// The sale has it no more.
    pub(in crate::agent) fn is_left_by(&mut self, number: SaleNumber) {
        self.in_use_by.take_if(|at_reader| *at_reader == number);
    }
}
