//! The reader between two transactions: a card that is still in it, and orders that belong to no transaction. A till
//! may let the reader ask for an amount before a transaction, or show a text.
//!
//! After the reader's last report about a transaction, the card may still be in the slot, and the reader waits until
//! the slot is empty. A transaction that begins during this wait is recorded, but gets the reader only when the slot is
//! empty. So it is never charged to the previous card (design: invariant 5).

use std::time::Duration;

use tokio::sync::oneshot;

use crate::agent::engine::open_transactions::Gate;
use crate::till::Refused;
use pos_core::transaction::{Action, Cause, Event, Reason};
use pos_reader::{AmountToType, NoAmount, ReaderEvent, ReaderOrder, ReaderProgress, TypeAmount};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::SaleNumber;
use pos_words::{Message, Sentence, clean};

use super::ReaderControl;

/// The time that a transaction waits for the previous card to be removed. A customer who has forgotten the card rarely
/// returns sooner, and the till must learn soon that nothing was charged.
const CARD_OUT: Duration = Duration::from_secs(30);

/// The transaction number under which the reader asks for an amount that belongs to no transaction.
pub(in crate::agent) const NO_SALE: SaleNumber = SaleNumber::BEFORE_ALL;

/// The answer channel of a till that waits for an amount.
pub(super) type AmountAwaited = oneshot::Sender<Result<Amount, Refused>>;

/// The reader's state between its last report about a transaction and an empty slot.
#[derive(Default)]
pub(in crate::agent) struct Slot {
    /// True if the reader has sent its last report about the transaction that uses it.
    is_finishing: bool,
    /// True if that transaction's card is in the slot.
    card_is_in: bool,
    /// The next transaction, which waits for an empty slot.
    next: Option<NextSale>,
}

/// A transaction that waits for an empty slot.
struct NextSale {
    number: SaleNumber,
    until: Duration,
    /// The transaction's held action for the reader.
    held: Option<Action>,
}

impl Slot {
    /// Handles a reader event. An event about a transaction that no longer uses the reader is ignored.
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

    /// Returns the end of this transaction's wait for an empty slot, and the length of the whole wait.
    pub(in crate::agent) fn wait_of(&self, number: SaleNumber) -> Option<(Duration, Duration)> {
        self.next.as_ref().filter(|next| next.number == number).map(|next| (next.until, CARD_OUT))
    }

    /// Returns the deadline of the waiting transaction.
    pub(in crate::agent) fn due(&self) -> Option<Duration> {
        self.next.as_ref().map(|next| next.until)
    }

    /// Lets an action through, or holds a waiting transaction's action for the reader until the slot is empty. If the
    /// transaction is cancelled meanwhile, returns its event immediately.
    pub(in crate::agent) fn lets_through(&mut self, number: SaleNumber, action: Action) -> Gate {
        let Some(next) = self.next.as_mut().filter(|next| next.number == number) else { return Gate::Opens(action) };
        match action {
            Action::AskTip | Action::Arm => {
                next.held = Some(action);
                Gate::Holds(None)
            }
            Action::StopReader => {
                self.next = None;
                Gate::Holds(Some(Event::NoCard { why: Reason::TillCancelled.into() }))
            }
            action => Gate::Opens(action),
        }
    }

    /// Returns the waiting transaction as long as the previous card is in the slot.
    pub(in crate::agent) fn waits_for_card_out(&self) -> Option<SaleNumber> {
        self.next().filter(|_| self.card_is_in)
    }

    /// Handles an empty slot. Returns the waiting transaction and its held action.
    pub(in crate::agent) fn empties(&mut self) -> Option<(SaleNumber, Action)> {
        let next = self.next.take()?;
        next.held.map(|action| (next.number, action))
    }

    /// Ends the waiting transaction if the card was not removed in time. Returns its event.
    pub(in crate::agent) fn gives_up_when_late(&mut self, now: Duration) -> Option<(SaleNumber, Event)> {
        if self.due().is_none_or(|until| until > now) {
            return None;
        }
        self.gives_up(Reason::CardLeftIn.into())
    }

    /// Ends the waiting transaction, for which nothing was sent. Returns its event.
    pub(in crate::agent) fn gives_up(&mut self, why: Cause) -> Option<(SaleNumber, Event)> {
        self.next.take().map(|next| (next.number, Event::NoCard { why }))
    }
}

impl ReaderControl {
    /// Returns the transaction that prevents another from beginning at the reader. If only the card of the previous
    /// transaction is still in the slot, one further transaction may begin.
    pub(in crate::agent) fn is_kept_by(&self) -> Option<SaleNumber> {
        self.slot.next().or(self.in_use_by.filter(|_| !self.slot.is_finishing))
    }

    /// Gives the reader to a new transaction, or lets the transaction wait for an empty slot.
    pub(in crate::agent) fn goes_to(&mut self, number: SaleNumber) {
        if self.in_use_by.is_none() {
            self.in_use_by = Some(number);
            return;
        }
        let until = self.clock.monotonic() + CARD_OUT;
        self.slot.next = Some(NextSale { number, until, held: None });
    }

    /// Frees the reader from this transaction.
    pub(in crate::agent) fn is_freed_by(&mut self, number: SaleNumber) {
        self.in_use_by.take_if(|at_reader| *at_reader == number);
    }
}

impl ReaderControl {
    /// Returns whether the reader is asking for an amount.
    pub(in crate::agent) fn awaits_amount(&self) -> bool {
        self.amount_awaited.is_some()
    }

    /// Makes the reader ask for an amount, if it is free.
    pub(in crate::agent) fn type_amount(&mut self, currency: Currency, stopping: bool, reply: AmountAwaited) {
        let what = AmountToType::Amount { currency };
        let order = ReaderOrder::TypeAmount(TypeAmount { sale: NO_SALE, what, timeout: self.card_timeout() });
        match self.order_between_sales(order, stopping) {
            Err(refused) => drop(reply.send(Err(refused))),
            Ok(()) => self.amount_awaited = Some(reply),
        }
    }

    /// Cancels the question on the reader if the till that waited for the amount has disconnected.
    pub(in crate::agent) fn unless_awaited(&mut self) {
        if self.amount_awaited.as_ref().is_some_and(oneshot::Sender::is_closed) {
            // A disconnected reader shows no question, and `typing_ends` then answers the till.
            let _ = self.handle.order_now(ReaderOrder::Cancel { sale: NO_SALE });
        }
    }

    /// Shows a text on the reader until it shows something else.
    pub(in crate::agent) fn show_text(&mut self, text: &str, stopping: bool) -> Result<(), Refused> {
        self.order_between_sales(ReaderOrder::Show { text: clean::text(text) }, stopping)
    }

    /// Gives the reader an order that belongs to no transaction, if the reader is free.
    fn order_between_sales(&mut self, order: ReaderOrder, stopping: bool) -> Result<(), Refused> {
        let refused = if self.slot.card_is_in() {
            Message::AttentionReaderCardLeft.into()
        } else if self.in_use_by.is_some() || self.amount_awaited.is_some() {
            Message::ReaderInUse.into()
        } else if stopping {
            Message::TerminalStopping.into()
        } else if let Some(why) = self.state.trouble() {
            why
        } else {
            match self.handle.order_now(order) {
                Ok(()) => return Ok(()),
                Err(gone) => gone.to_string().into(),
            }
        };
        Err(Refused::NotReady { why: refused })
    }

    /// Answers the till with the amount that was typed, or with the reason why there is none.
    pub(in crate::agent) fn amount_typed(&mut self, typed: Result<Option<Amount>, NoAmount>) {
        let answer = match typed {
            Ok(Some(amount)) => Ok(amount),
            Ok(None) => Err(Refused::NothingTyped { why: Message::NothingTyped.into() }),
            Err(why) => Err(Refused::NothingTyped { why: why.to_string().into() }),
        };
        if let Some(reply) = self.amount_awaited.take() {
            let _ = reply.send(answer);
        }
    }

    /// Answers the till that the reader was lost and that no amount will be typed.
    pub(in crate::agent) fn typing_ends(&mut self, why: Sentence) {
        if let Some(reply) = self.amount_awaited.take() {
            let _ = reply.send(Err(Refused::NotReady { why }));
        }
    }
}
