//! What is typed at the reader before a card: a tip of a sale, or an amount that a till asks for and then begins a sale
//! with; and a text that a till has shown there between sales.

use std::time::Duration;

use tokio::sync::oneshot;

use crate::till::Refused;
use pos_core::sale::{Event, Reason, Standing};
use pos_reader::{AmountToType, NoAmount, ReaderOrder, TypeAmount};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::SaleNumber;
use pos_words::clean;

use super::card_left::TAKE_IT_OUT;
use super::sale_desk::OpenSale;
use super::{Agent, reasons};

/// The number under which an amount is typed that belongs to no sale.
const NO_SALE: SaleNumber = SaleNumber::BEFORE_ALL;

/// A till that waits for an amount.
pub(super) type AmountAwaited = oneshot::Sender<Result<Amount, Refused>>;

impl Agent {
    /// Lets the reader ask for a tip on top of a sale's amount.
    pub(super) fn ask_tip(&mut self, number: SaleNumber) {
        let Some(active) = self.sales.open.get(&number) else { return };
        let (percentages, other, timeout) = match &self.config.tips {
            Some(tips) => (&tips.presets, tips.custom, Duration::from_secs(tips.timeout_s)),
            None => (&self.config.reader.tip_percentages, true, self.patience()),
        };
        let percentages = heapless::Vec::from_slice(percentages).unwrap_or_default();
        let what = AmountToType::Tip { base: active.sale.amount(), percentages, other };
        self.order_reader(number, ReaderOrder::TypeAmount(TypeAmount { sale: number, what, timeout }));
    }

    /// Lets the reader ask for an amount, when nobody else has it.
    pub(super) fn type_amount(&mut self, currency: Currency, reply: AmountAwaited) {
        let order = ReaderOrder::TypeAmount(TypeAmount {
            sale: NO_SALE,
            what: AmountToType::Amount { currency },
            timeout: self.patience(),
        });
        match self.order_between_sales(order) {
            Err(refused) => drop(reply.send(Err(refused))),
            Ok(()) => self.reader.amount_awaited = Some(reply),
        }
    }

    /// Whoever waited for an amount has hung up: the next customer does not find the question on the reader.
    pub(super) fn unless_awaited(&mut self) {
        if self.reader.amount_awaited.as_ref().is_some_and(oneshot::Sender::is_closed) {
            // A reader that is gone asks nobody: `typing_ends` is told.
            let _ = self.reader.handle.order_now(ReaderOrder::Cancel { sale: NO_SALE });
        }
    }

    /// Shows a text on the reader until it shows something else.
    pub(super) fn show_text(&mut self, text: &str) -> Result<(), Refused> {
        self.order_between_sales(ReaderOrder::Show { text: clean::text(text) })
    }

    /// An order that belongs to no sale, when nobody else has the reader.
    fn order_between_sales(&mut self, order: ReaderOrder) -> Result<(), Refused> {
        let refused = if self.reader.slot.card_is_in() {
            TAKE_IT_OUT.to_owned()
        } else if self.reader.in_use_by.is_some() || self.reader.amount_awaited.is_some() {
            "the reader is in use".to_owned()
        } else if self.stopping {
            "the terminal is being stopped".to_owned()
        } else if let Some(why) = self.reader.state.trouble() {
            why
        } else {
            match self.reader.handle.order_now(order) {
                Ok(()) => return Ok(()),
                Err(gone) => gone.to_string(),
            }
        };
        Err(Refused::NotReady { why: refused })
    }

    /// An amount was typed, or was not.
    pub(super) fn typed(&mut self, number: SaleNumber, typed: Result<Option<Amount>, NoAmount>) {
        if number == NO_SALE {
            let answer = match typed {
                Ok(Some(amount)) => Ok(amount),
                Ok(None) => Err(Refused::NothingTyped { why: "no amount was typed".to_owned() }),
                Err(why) => Err(Refused::NothingTyped { why: why.to_string() }),
            };
            if let Some(reply) = self.reader.amount_awaited.take() {
                let _ = reply.send(answer);
            }
            return;
        }
        let Some(active) = self.sales.open.get(&number) else { return };
        let base = active.sale.amount();
        // Who walks off at the question has not refused to pay.
        let typed = match (typed, &self.config.tips) {
            (Err(NoAmount::TimedOut), Some(tips)) => Ok(base.percent(tips.default)),
            (typed, _) => typed,
        };
        let event = typed.map_err(|why| reasons::no_tip(&why)).and_then(|tip| {
            let total =
                tip.map_or(Ok(base), |tip| base.plus(tip)).map_err(|error| Reason::TipNotPossible.with(error))?;
            let charged = self.limits.may_charge(total).map_err(|_| Reason::TipNotPossible.with(total));
            let charged =
                charged.and_then(|()| match self.operators.tip_needs_supervisor(active.sale.order(), total) {
                    true => Err(Reason::TipNotPossible.with(total)),
                    false => Ok(()),
                });
            charged.map(|()| Event::TipTyped { tip })
        });
        self.advance(number, event.unwrap_or_else(|why| Event::NoCard { why }));
        // The reader waits for the next order, and says nothing more of a sale that does not ask for its card.
        if !self.asks_for_its_card(number) {
            self.reader.in_use_by.take_if(|at_reader| *at_reader == number);
        }
    }

    /// Whether a sale goes on at the reader once its tip is typed: not when it has ended, as one that was cancelled in
    /// the same moment, and not when that could not be recorded.
    fn asks_for_its_card(&self, number: SaleNumber) -> bool {
        let waits = |active: &OpenSale| !active.stuck && active.sale.standing() == Standing::Waiting;
        self.sales.open.get(&number).is_some_and(waits)
    }

    /// The reader went away: nobody types any more.
    pub(super) fn typing_ends(&mut self, why: &str) {
        if let Some(reply) = self.reader.amount_awaited.take() {
            let _ = reply.send(Err(Refused::NotReady { why: why.to_owned() }));
        }
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(self.config.terminal.card_timeout_s)
    }
}
