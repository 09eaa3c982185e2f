//! The engine: it owns the open transactions, and is the only place where one of them changes. An event is handed to
//! its sale, the sale's step is written into the account book, and what the book gives out goes to the devices.
//!
//! It decides nothing about money: that is the core's business. Other rooms tell it what happened, or ask it to begin
//! what a till wants. They read the open transactions, and change none.

mod begin;
mod facts;
mod hearing;
mod leaving;
pub(super) mod open_transactions;
mod own_answers;
mod recovery;
mod till_words;

use std::time::Duration;

use tokio::sync::mpsc;

use crate::config::Config;
use crate::metrics::Metrics;
use pos_core::book;
use pos_core::transaction::{Action, Event, Paper};
use pos_reader::ReaderProgress;
use pos_terms::transaction::SaleNumber;

use super::clock::Clock;
use super::devices::Devices;
use super::earlier::KnownTransactions;
use super::identity::Identity;
use super::journal_writer::JournalWriter;
use super::limits::Limits;
use super::old_copy::OldCopy;
use super::operators::OperatorService;
use super::surroundings::Random;
use super::task_results::TaskResult;
use super::teller::{self, Teller};
use super::views::figures;
use super::views::sale::is_running;
use facts::Facts;
use open_transactions::{Afterwards, Gate, OpenTransaction, OpenTransactions};
use own_answers::Owner;

/// The open transactions, and all that a change of one needs.
pub(super) struct Engine {
    pub(super) config: Config,
    pub(super) identity: Identity,
    pub(super) limits: Limits,
    pub(super) clock: Clock,
    pub(super) random: Random,
    pub(super) journal: JournalWriter,
    pub(super) old_copy: OldCopy,
    pub(super) operators: OperatorService,
    /// Changed by the engine alone.
    pub(super) sales: OpenTransactions,
    pub(super) devices: Devices,
    pub(super) teller: Teller,
    pub(super) metrics: Metrics,
    /// What tasks bring back.
    pub(super) tasks: mpsc::Sender<TaskResult>,
    pub(super) stopping: bool,
}

impl Engine {
    /// The earlier transactions.
    pub(super) fn known(&self) -> KnownTransactions<'_> {
        KnownTransactions {
            sales: &self.sales,
            journal: self.journal.book(),
            limits: &self.limits,
            identity: &self.identity,
            old_copy: &self.old_copy,
        }
    }

    /// What the views of transactions are made of.
    pub(super) fn facts(&self) -> Facts<'_> {
        Facts { known: self.known(), words: self.teller.words(), clock: &self.clock, reader: &self.devices.reader }
    }

    /// One event of one sale: decide, write, and only then act.
    pub(super) fn hear(&mut self, number: SaleNumber, event: Event) {
        let now = self.clock.now();
        let Some(active) = self.sales.open.get_mut(&number) else {
            return;
        };
        if active.stuck {
            // Nothing can be recorded of it, and it will be taken up again from the disk.
            return;
        }
        let step = active.sale.handle(event, now, self.sales.deadlines);
        let written = self.journal.write(|book| book::commit(book, now.unix_ms, &mut active.sale, step));
        self.after_writing(number, written);
    }

    /// Hands on what actions left behind, until nothing is left.
    pub(super) fn hear_what_waits(&mut self) {
        while let Some((number, event)) = self.sales.inbox.pop_front() {
            self.hear(number, event);
        }
    }

    /// Carries out what the journal gave out, or, when it could not write, nothing but the safe end.
    fn after_writing(&mut self, number: SaleNumber, written: Result<(Vec<Action>, Duration), pos_journal::Error>) {
        match written {
            Ok((actions, took)) => {
                if let Some(active) = self.sales.open.get_mut(&number) {
                    active.times.journal += took;
                }
                for action in actions {
                    self.act(number, action);
                }
                let Some(active) = self.sales.open.get_mut(&number) else { return };
                // Once the devices are at work: figures can wait.
                active.counted |= figures::count_step(&self.metrics, &self.identity, active, took);
                // The card's data must not outlive the one request they were read for: not a cancel, not any end.
                if !active.sale.may_ask_again() {
                    active.prepared = None;
                }
            }
            Err(error) => self.journal_failed(number, &error),
        }
    }

    /// Carries out one action. Nothing here waits: answers come back through the loop.
    fn act(&mut self, number: SaleNumber, action: Action) {
        let action = match action {
            Action::Print(paper) => return self.sales.afterwards.push_back((number, Afterwards::Print(paper))),
            Action::Tell => return self.sales.afterwards.push_back((number, Afterwards::Tell)),
            Action::Alarm { why } => {
                let active = self.sales.open.get(&number);
                return active.map_or((), |active| self.teller.alarm(active.order(), &why));
            }
            action => action,
        };
        let Some(active) = self.sales.open.get_mut(&number) else { return };
        // The trainer takes back what never was.
        let gate = match self.identity.trains() {
            true => Gate::Opens(action),
            false => leaving::may_leave(active, action, self.journal.book(), &mut self.old_copy, &self.clock),
        };
        let heard = match gate {
            Gate::Opens(action) => self.devices.perform(active, action),
            Gate::Holds(heard) => heard,
        };
        self.sales.inbox.extend(heard.map(|event| (number, event)));
    }

    /// Those whose deadline has passed hear it.
    pub(super) fn deadline_passed(&mut self) {
        let now = self.clock.monotonic();
        self.sales.deadlines_passed(now);
        self.sales.inbox.extend(self.devices.reader.slot.gives_up_when_late(now));
    }

    /// Tells tills and prints, in the order it was asked for; then forgets the sales that are settled.
    pub(super) fn tell_and_print(&mut self) {
        while let Some((number, what)) = self.sales.afterwards.pop_front() {
            match what {
                Afterwards::Tell => self.tell(number),
                Afterwards::Print(paper) => print(self, number, paper),
                Afterwards::LogTimes => figures::log_times(&self.metrics, self.sales.open.get(&number)),
            }
        }
        self.sales.forget_settled(self.devices.reader.in_use_by);
    }

    /// Tells the till how the sale stands, and answers who waits for a cancel.
    fn tell(&mut self, number: SaleNumber) {
        let Some(active) = self.sales.open.get(&number) else {
            return;
        };
        let mut view = self.facts().view(&active.sale);
        let step = teller::step_of(&view);
        view.step = is_running(&active.sale).then(|| step.to_owned());
        if let Some(active) = self.sales.open.get_mut(&number) {
            active.step = Some(step);
            active.answer_cancels(&view);
        }
        self.teller.sale(step, view);
        self.ask_for_the_card_before();
    }

    /// A step of the reader, for the cashier.
    pub(super) fn announce_step(&mut self, number: SaleNumber, step: &ReaderProgress) {
        if let Some(active) = self.sales.open.get_mut(&number) {
            self.teller.step(active, step);
        }
    }

    /// Tells the sale that waits for the reader, once, what it waits for.
    fn ask_for_the_card_before(&mut self) {
        if let Some(number) = self.devices.reader.slot.waits_for_card_out() {
            self.announce_step(number, &ReaderProgress::RemoveCard);
        }
    }

    /// No sale begins any more, and the one that waits for its card is cancelled.
    pub(super) fn stop_taking_sales(&mut self) {
        self.stopping = true;
        let reader = &self.devices.reader;
        for number in reader.in_use_by.into_iter().chain(reader.slot.next()) {
            self.sales.inbox.push_back((number, Event::CancelAsked { by: None }));
        }
    }
}

/// Hands the receipts to the printers, and keeps what stands on them.
fn print(engine: &mut Engine, number: SaleNumber, paper: Paper) {
    let Some(active) = engine.sales.open.get(&number) else {
        return;
    };
    let handed = engine.devices.printers.hand_out(engine.journal.book(), &active.sale, paper);
    for why in handed.not_printed {
        engine.teller.about_number(engine.known(), number, "printer-failed", &why);
    }
    for (copy, page) in handed.to_keep {
        engine.journal.keep_receipt(number, copy, page);
    }
}

#[cfg(test)]
mod tests;
