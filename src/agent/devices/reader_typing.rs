//! What belongs to no sale at the reader: an amount that a till asks for and then begins a sale with, and a text that a
//! till has shown there between sales.

use tokio::sync::oneshot;

use crate::till::Refused;
use pos_reader::{AmountToType, NoAmount, ReaderOrder, TypeAmount};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::SaleNumber;
use pos_words::clean;

use super::reader::ReaderDesk;
use super::reader_slot::TAKE_IT_OUT;

/// The number under which an amount is typed that belongs to no sale.
pub(in crate::agent) const NO_SALE: SaleNumber = SaleNumber::BEFORE_ALL;

/// A till that waits for an amount.
pub(super) type AmountAwaited = oneshot::Sender<Result<Amount, Refused>>;

impl ReaderDesk {
    /// Whether somebody is asked for an amount at it.
    pub(in crate::agent) fn awaits_amount(&self) -> bool {
        self.amount_awaited.is_some()
    }

    /// Lets the reader ask for an amount, when nobody else has it.
    pub(in crate::agent) fn type_amount(&mut self, currency: Currency, stopping: bool, reply: AmountAwaited) {
        let what = AmountToType::Amount { currency };
        let order = ReaderOrder::TypeAmount(TypeAmount { sale: NO_SALE, what, timeout: self.card_timeout() });
        match self.order_between_sales(order, stopping) {
            Err(refused) => drop(reply.send(Err(refused))),
            Ok(()) => self.amount_awaited = Some(reply),
        }
    }

    /// Whoever waited for an amount has hung up: the next customer does not find the question on the reader.
    pub(in crate::agent) fn unless_awaited(&mut self) {
        if self.amount_awaited.as_ref().is_some_and(oneshot::Sender::is_closed) {
            // A reader that is gone asks nobody: `typing_ends` is told.
            let _ = self.handle.order_now(ReaderOrder::Cancel { sale: NO_SALE });
        }
    }

    /// Shows a text on the reader until it shows something else.
    pub(in crate::agent) fn show_text(&mut self, text: &str, stopping: bool) -> Result<(), Refused> {
        self.order_between_sales(ReaderOrder::Show { text: clean::text(text) }, stopping)
    }

    /// An order that belongs to no sale, when nobody else has the reader.
    fn order_between_sales(&mut self, order: ReaderOrder, stopping: bool) -> Result<(), Refused> {
        let refused = if self.slot.card_is_in() {
            TAKE_IT_OUT.to_owned()
        } else if self.in_use_by.is_some() || self.amount_awaited.is_some() {
            "the reader is in use".to_owned()
        } else if stopping {
            "the terminal is being stopped".to_owned()
        } else if let Some(why) = self.state.trouble() {
            why
        } else {
            match self.handle.order_now(order) {
                Ok(()) => return Ok(()),
                Err(gone) => gone.to_string(),
            }
        };
        Err(Refused::NotReady { why: refused })
    }

    /// An amount that belongs to no sale was typed, or was not.
    pub(in crate::agent) fn amount_typed(&mut self, typed: Result<Option<Amount>, NoAmount>) {
        let answer = match typed {
            Ok(Some(amount)) => Ok(amount),
            Ok(None) => Err(Refused::NothingTyped { why: "no amount was typed".to_owned() }),
            Err(why) => Err(Refused::NothingTyped { why: why.to_string() }),
        };
        if let Some(reply) = self.amount_awaited.take() {
            let _ = reply.send(answer);
        }
    }

    /// The reader went away: nobody types any more.
    pub(in crate::agent) fn typing_ends(&mut self, why: &str) {
        if let Some(reply) = self.amount_awaited.take() {
            let _ = reply.send(Err(Refused::NotReady { why: why.to_owned() }));
        }
    }
}
