//! The start of a transaction. This module checks one condition after another. The modules `limits`, `operators` and
//! `earlier` contain the rules.

use crate::agent::journal_writer::refused_by_journal;
use crate::agent::surroundings::Random;
use crate::agent::views::figures;
use crate::config::Right;
use crate::till::{Refused, SaleView, Wanted};
use pos_core::book;
use pos_core::transaction::{Event, Now, Order, Transaction};
use pos_core::wish::{WantedEntry, WantedTip};
use pos_gateway::till_parameters;
use pos_terms::emv::pan;
use pos_terms::money::Amount;
use pos_terms::transaction::{Kind, SaleNumber};
use pos_words::Message;

use super::{Engine, OpenTransaction};

impl Engine {
    /// Begins a transaction, or returns the stored one with the same till and reference (design: path of a sale, 1).
    pub(in crate::agent) fn begin(&mut self, wanted: Wanted) -> Result<SaleView, Refused> {
        self.identity.takes(&wanted)?;
        match self.facts().find(&wanted.till, &wanted.reference) {
            Ok((sale, mut view)) => {
                view.replayed = true;
                return if self.known().is_the_same(&wanted, &sale)? {
                    Ok(view)
                } else {
                    let (kind, amount) = (sale.order().kind(), sale.order().amount);
                    Err(Refused::AmountDiffers { reference: wanted.reference, kind, amount })
                };
            }
            Err(Refused::NoSuchSale { .. }) => {}
            Err(refused) => return Err(refused),
        }
        let parameters = till_parameters::parameters(&wanted.parameters, wanted.wish.kind, &self.config.gateway)
            .map_err(|problem| Refused::Parameter { name: problem.name, why: problem.why.into() })?;
        if till_parameters::say_how_authenticated(&parameters) {
            wanted.caller.needs(Right::ThreeDSecure, Message::ForAuthentication)?;
        }
        if pan::is_in(wanted.reference.as_str()) {
            let why = Message::LooksLikeCardNumber.into();
            return Err(Refused::Parameter { name: "reference".to_owned(), why });
        }
        if let Some(why) = wanted.till_side.fault() {
            return Err(Refused::Parameter { name: "tillData".to_owned(), why: why.into() });
        }
        if let Some(name) = wanted.till_side.data.iter().find(|(_, value)| pan::is_in(value)).map(|(name, _)| name) {
            let why = Message::RefusedParameter.with("name", name.as_str()).with("why", Message::LooksLikeCardNumber);
            return Err(Refused::Parameter { name: "tillData".to_owned(), why });
        }
        let (transaction, amount) = self.known().transaction_and_amount(&wanted)?;
        let given = match wanted.wish.tip {
            Some(WantedTip::Given(tip)) => Some(self.limits.may_tip(amount, tip)?),
            Some(WantedTip::Ask) | None => None,
        };
        let total = given.and_then(|tip| amount.plus(tip).ok()).unwrap_or(amount);
        let by = self.operators.confirmed_author(self.journal.book(), &wanted, &transaction, total)?;
        let approval = wanted.caller.present().approval;
        can_begin_now(self, transaction.kind(), amount)?;
        let Some(local) = self.clock.local() else {
            return Err(Refused::NotReady { why: self.clock.untrusted() });
        };
        let now = self.clock.now();
        let chip_alone = wanted.wish.entry == Some(WantedEntry::Chip)
            || (wanted.wish.entry.is_none() && self.known().chip_is_due(&wanted, now.unix_ms));
        self.journal.mark_sold().map_err(|error| cannot_be_written(self, error))?;
        self.old_copy.sells(now.monotonic);
        let number = self.journal.next_number();
        let order = Order {
            operation: transaction,
            parameters,
            number,
            till: wanted.till,
            reference: wanted.reference,
            by: Some(by),
            amount,
            ask_tip: wanted.wish.tip == Some(WantedTip::Ask),
            tip: given,
            manual: wanted.wish.entry == Some(WantedEntry::Typed),
            chip_alone,
            accept_partial: wanted.wish.accepts_part(),
            till_confirms: wanted.wish.till_confirms,
            gives_rest: false,
            till_prints: wanted.till_side.prints,
            till_data: wanted.till_side.data,
            training: wanted.training,
            terminal_id: self.config.terminal.id.clone(),
            account: self.identity.account(),
            merchant_transaction_id: merchant_transaction_id(&self.random, &self.config.terminal.id, number)?,
            started_unix_ms: now.unix_ms,
            local_time: local.format("%Y-%m-%d %H:%M:%S").to_string(),
        };
        let is_confirmed = order.by.as_ref().is_some_and(|by| by.supervisor.is_some());
        let begun = self.begin_recorded(order, now)?;
        // If the approval was not needed, it stays valid for its own command.
        self.operators.approval_used(approval.filter(|_| is_confirmed));
        Ok(begun)
    }

    /// Writes the transaction, and only then tells the till and acts.
    fn begin_recorded(&mut self, order: Order, now: Now) -> Result<SaleView, Refused> {
        let number = order.number;
        let (mut sale, step) = Transaction::begin(order);
        let written = self.journal.write(|book| book::commit(book, now.unix_ms, &mut sale, step));
        let (actions, took) = written.map_err(|error| cannot_be_written(self, error))?;
        figures::count_write(&self.metrics, took);
        self.sales.nudge_the_oldest();
        let view = self.facts().view(&sale);
        if sale.order().kind().needs_card() {
            self.devices.reader.goes_to(number);
        } else {
            self.sales.hear_later(number, Event::Proceed);
        }
        self.sales.open.insert(number, OpenTransaction::new(sale, self.clock.monotonic()));
        for action in actions {
            self.act(number, action);
        }
        Ok(view)
    }
}

/// Checks that a transaction of `amount` can begin now.
fn can_begin_now(engine: &Engine, kind: Kind, amount: Amount) -> Result<(), Refused> {
    let Engine { sales, devices, journal, limits, .. } = engine;
    if let Some(number) = devices.reader.is_kept_by().filter(|_| kind.needs_card())
        && let Some(active) = sales.get(number)
    {
        let order = active.order();
        return Err(Refused::Busy { till: order.till.clone(), reference: order.reference.clone() });
    }
    if devices.reader.awaits_amount() && kind.needs_card() {
        return Err(Refused::NotReady { why: Message::AmountBeingTyped.into() });
    }
    if let Some(fault) = &journal.fault {
        return Err(Refused::Journal { why: fault.why.clone() });
    }
    if engine.stopping {
        return Err(Refused::NotReady { why: Message::TerminalStopping.into() });
    }
    if let Some(why) = devices.reader_trouble().filter(|_| kind.needs_card()) {
        return Err(Refused::NotReady { why });
    }
    // A transaction without a card is sent later, or is known not to have been sent.
    if let Some(why) = devices.link_trouble().filter(|_| kind.needs_card()) {
        return Err(Refused::NotReady { why });
    }
    // A transaction that refers to an earlier one has the currency of the earlier one.
    if !kind.has_earlier() {
        limits.takes(amount.currency())?;
    }
    limits.may_begin(kind, amount).map_err(|why| Refused::Amount { why })
}

/// Refuses a transaction that could not be written and so has not begun.
fn cannot_be_written(engine: &mut Engine, error: pos_journal::Error) -> Refused {
    engine.journal_is_faulty(&error);
    refused_by_journal(error)
}

/// Makes the gateway reference: terminal id, number and 128 random bits. The number alone is not unique, because it
/// starts again after a reinstallation. Recovery must never find an older payment (design: Decisions).
pub(super) fn merchant_transaction_id(
    random: &Random,
    terminal_id: &str,
    number: SaleNumber,
) -> Result<String, Refused> {
    let random =
        random().map_err(|error| Refused::NotReady { why: Message::NoRandomNumbers.with("why", error.to_string()) })?;
    Ok(format!("{terminal_id}-{number}-{}", hex::encode(random)))
}
