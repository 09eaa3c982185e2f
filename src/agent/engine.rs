//! The engine owns the open transactions and alone changes them. It passes an event to its transaction and writes the
//! resulting step to the journal. It then passes the step's actions to the devices.
//!
//! The engine decides nothing about money. The core does. Other modules report events to the engine, or ask it to begin
//! a till's transaction. They read the open transactions but change none.

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
use crate::till::Command;
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

/// The open transactions, and all parts that are needed to change one.
pub(super) struct Engine {
    pub(super) config: Config,
    pub(super) identity: Identity,
    pub(super) limits: Limits,
    pub(super) clock: Clock,
    pub(super) random: Random,
    pub(super) journal: JournalWriter,
    pub(super) old_copy: OldCopy,
    pub(super) operators: OperatorService,
    /// The open transactions; only the engine changes them.
    pub(super) sales: OpenTransactions,
    pub(super) devices: Devices,
    pub(super) teller: Teller,
    pub(super) metrics: Metrics,
    /// The channel that returns the results of tasks.
    pub(super) tasks: mpsc::Sender<TaskResult>,
    pub(super) stopping: bool,
}

impl Engine {
    /// Returns the transactions that a request can refer to.
    pub(super) fn known(&self) -> KnownTransactions<'_> {
        KnownTransactions {
            sales: &self.sales,
            journal: self.journal.book(),
            limits: &self.limits,
            identity: &self.identity,
            old_copy: &self.old_copy,
        }
    }

    /// Returns the facts for the views of transactions.
    pub(super) fn facts(&self) -> Facts<'_> {
        let Devices { reader, printers, .. } = &self.devices;
        Facts { known: self.known(), words: self.teller.words(), clock: &self.clock, reader, printers }
    }

    /// Handles one event of one transaction: decides, writes the step, and only then acts.
    pub(super) fn hear(&mut self, number: SaleNumber, event: Event) {
        let now = self.clock.now();
        let Some(active) = self.sales.open.get_mut(&number) else {
            return;
        };
        if active.stuck {
            // The transaction's steps cannot be recorded. It will be resumed from the disk.
            return;
        }
        let step = active.sale.handle(event, now, self.sales.deadlines);
        let written = self.journal.write(|book| book::commit(book, now.unix_ms, &mut active.sale, step));
        self.after_writing(number, written);
    }

    /// Handles the queued events until none is left.
    pub(super) fn hear_what_waits(&mut self) {
        while let Some((number, event)) = self.sales.inbox.pop_front() {
            self.hear(number, event);
        }
    }

    /// Carries out the actions of a written step. If the step could not be written, only brings the transaction to a
    /// safe end.
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
                // The devices are already working, so this does not delay them.
                active.counted |= figures::count_step(&self.metrics, &self.identity, active, took);
                // The card's data must not outlive the one request for which it was read. So a cancel or any outcome
                // deletes it.
                if !active.sale.may_ask_again() {
                    active.prepared = None;
                }
            }
            Err(error) => self.journal_failed(number, &error),
        }
    }

    /// Starts one action without waiting: answers come back through the loop.
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
        // The trainer reverses only training payments, so no check is needed.
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

    /// Queues an event for each transaction whose deadline has passed.
    pub(super) fn deadline_passed(&mut self) {
        let now = self.clock.monotonic();
        self.sales.deadlines_passed(now);
        self.sales.inbox.extend(self.devices.reader.slot.gives_up_when_late(now));
    }

    /// Tells the tills and prints, in the order in which this was requested. Then forgets the completed transactions.
    /// Returns the requests for receipts that are now complete.
    pub(super) fn tell_and_print(&mut self) -> Vec<Command> {
        while let Some((number, what)) = self.sales.afterwards.pop_front() {
            match what {
                Afterwards::Tell => self.tell(number),
                Afterwards::Print(paper) => print(self, number, paper),
                Afterwards::LogTimes => figures::log_times(&self.metrics, self.sales.open.get(&number)),
            }
        }
        let due = self.sales.receipts_due();
        self.sales.forget_settled(self.devices.reader.in_use_by);
        due
    }

    /// Tells the till the transaction's state, and answers the callers that wait for the result of a cancel.
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

    /// Announces a step of the reader, for the cashier.
    pub(super) fn announce_step(&mut self, number: SaleNumber, step: &ReaderProgress) {
        if let Some(active) = self.sales.open.get_mut(&number) {
            self.teller.step(active, step);
        }
    }

    /// Announces once, for the transaction that waits for the reader, that the previous card must be removed.
    fn ask_for_the_card_before(&mut self) {
        if let Some(number) = self.devices.reader.slot.waits_for_card_out() {
            self.announce_step(number, &ReaderProgress::RemoveCard);
        }
    }

    /// Accepts no more transactions, and cancels the one that waits for its card.
    pub(super) fn stop_taking_sales(&mut self) {
        self.stopping = true;
        let reader = &self.devices.reader;
        for number in reader.in_use_by.into_iter().chain(reader.slot.next()) {
            self.sales.inbox.push_back((number, Event::CancelAsked { by: None }));
        }
    }
}

/// Passes the receipts to the printers, and stores their content.
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
