//! Results of the agent's own tasks: answers of the gateway, pages of the journal, and digests of PINs.

use crate::till::Refused;
use pos_core::training::TrainingEvent;
use pos_core::transaction::{Inquiry, Transaction};
use pos_reader::ReaderProgress;
use pos_terms::transaction::SaleNumber;

use super::Agent;
use super::close_count::Counted;
use super::counting::{CountedPage, Counting};
use super::devices::ProbeBrought;
use super::journal_writer::refused_by_journal;
use super::old_copy::Linked;
use super::task_results::{TaskResult, WaitingWish};

impl Agent {
    pub(super) fn task_brought(&mut self, result: TaskResult) {
        let engine = &mut self.engine;
        match result {
            TaskResult::Said { sale, said } => engine.gateway_says(sale, said),
            TaskResult::Warmed => engine.devices.gateway.warmed(),
            TaskResult::Probed { probed } => self.probed(probed),
            TaskResult::References { found } => {
                engine.references_listed(found);
                self.handle_what_waited();
            }
            TaskResult::ListIsLate => {
                engine.old_copy.give_up_waiting();
                self.handle_what_waited();
            }
            TaskResult::LookedUp { wish, inquiry } => self.looked_up(*wish, inquiry),
            TaskResult::SomeReferences { references, reply } => {
                let strange = engine.old_copy.strange(references, &engine.journal);
                let _ = reply.send(strange.map_err(|error| error.to_string()));
            }
            TaskResult::Pin(reckoned) => {
                let resolved = reckoned.confirms().map(|wanted| engine.known().transaction_and_amount(wanted));
                if let Some(Err(Refused::NotReady { .. })) = &resolved {
                    // The request may be refused until the gateway has been asked.
                    engine.old_copy.ask_now(engine.clock.monotonic());
                }
                engine.operators.pin_reckoned(&mut engine.journal, *reckoned, resolved);
            }
            TaskResult::Counted { page, counting } => self.counted(page, *counting),
            TaskResult::CloseCounted { counted } => self.close_counted(*counted),
            TaskResult::Played { sale, event } => self.played(sale, event),
            TaskResult::ArchiveMade(made) => self.archive_made(made),
            TaskResult::Listed { sales, reply } => {
                let sales = sales.map_err(refused_by_journal);
                let _ = reply.send(sales.map(|sales| sales.iter().map(|sale| engine.facts().view(sale)).collect()));
            }
        }
    }

    /// Handles the result of a probe of the gateway.
    pub(super) fn probed(&mut self, probed: Result<pos_gateway::Probed, pos_gateway::Fault>) {
        let engine = &mut self.engine;
        match engine.devices.gateway.probed(probed) {
            ProbeBrought::Answers { unix_s, is_first_time } => {
                if is_first_time {
                    // When the reader was connected, its clock could not be set yet. Setting it makes the clock
                    // evidence after the next start.
                    engine.devices.reader.set_clock();
                }
                engine.journal.begins(unix_s, engine.clock.unix_ms());
            }
            ProbeBrought::NeverAnswered { why } => engine.old_copy.cannot_be_asked(why),
            ProbeBrought::Silence => {}
        }
    }

    /// Handles the look-up result of the transaction that a request follows.
    pub(super) fn looked_up(&mut self, wish: WaitingWish, inquiry: Inquiry) {
        let WaitingWish { wanted, of, reply } = wish;
        // A till that has disconnected asks again with the same reference.
        if reply.is_closed() {
            return;
        }
        let asked = (wanted.till.clone(), wanted.reference.clone());
        let answer = self.knows_all_of(of, inquiry).and_then(|()| {
            self.engine.old_copy.vouches_for(Some(of));
            let begun = self.engine.begin(wanted);
            self.engine.old_copy.vouches_for(None);
            begun
        });
        self.answer_begin(&asked, answer, reply);
    }

    /// Checks that this journal knows each transaction that the gateway has linked to this one.
    fn knows_all_of(&mut self, number: SaleNumber, inquiry: Inquiry) -> Result<(), Refused> {
        let engine = &mut self.engine;
        let linked = Linked::of(number, inquiry, engine.journal.book())?;
        let strange = engine.old_copy.strange(linked.references(), &engine.journal).map_err(refused_by_journal)?;
        if !strange.is_empty() {
            engine.journal_is_old_copy(&strange);
        }
        linked.are_known(engine.journal.book())
    }

    /// Reads the next page of a count, on the journal's separate thread.
    pub(super) fn read_on(&self, counting: Counting) {
        let engine = &self.engine;
        let (list, done) = (counting.next_page(engine.journal.book()), engine.tasks.clone());
        tokio::spawn(async move {
            let page = list.await;
            let _ = done.send(TaskResult::Counted { page, counting: Box::new(counting) }).await;
        });
    }

    fn counted(&self, page: Result<Vec<Transaction>, pos_journal::Error>, counting: Counting) {
        let engine = &self.engine;
        match counting.counted(page) {
            Some(CountedPage::GoesOn(counting)) => self.read_on(counting),
            Some(CountedPage::Last(counting)) => {
                let facts = engine.facts();
                let open = engine.sales.iter().map(|active| facts.view(active.sale())).collect();
                counting.ends(engine.config.terminal.id.clone(), open);
            }
            None => {}
        }
    }

    fn close_counted(&mut self, counted: Result<Counted, pos_journal::Error>) {
        let engine = &mut self.engine;
        let written = self.closing.counted((&mut engine.journal, &engine.devices.printers), counted);
        written.unwrap_or_else(|error| engine.journal_is_faulty(&error));
        self.closing.next(&engine.journal);
    }

    /// Handles an event of the trainer's scenario.
    fn played(&mut self, number: SaleNumber, event: TrainingEvent) {
        let engine = &mut self.engine;
        match event {
            TrainingEvent::PresentCard => engine.announce_step(number, &ReaderProgress::PresentCard),
            TrainingEvent::PinEntry => engine.announce_step(number, &ReaderProgress::PinEntry { digits: None }),
            TrainingEvent::RemoveCard => engine.announce_step(number, &ReaderProgress::RemoveCard),
            TrainingEvent::Heard(event) => engine.hear(number, event),
            TrainingEvent::Free => engine.devices.reader.is_freed_by(number),
        }
    }
}
