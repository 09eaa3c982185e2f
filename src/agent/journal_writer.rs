//! The journal, as the agent has it: the book itself, the number that was given last, and the fault that keeps new
//! sales from being taken until the book can be written again.

use std::time::Duration;

use crate::till::{JournalState, Refused};
use pos_core::counter::TryKey;
use pos_core::transaction::Transaction;
use pos_journal::{Journal, KnownReader, OldCopyFound, OperatorChange, Program, Rescued, SetBack, SoldMark, SoldOn};
use pos_terms::transaction::{ReceiptCopy, SaleNumber, Who};

use super::engine::open_transactions::{OpenTransaction, OpenTransactions};
use super::surroundings::{AnyBook, BookWrapper};
use super::views::states::state_of_journal;
use super::views::status::{is_nearly_full, little_room};

/// How often a journal that failed is tried again: a technician frees space by hand.
pub(super) const JOURNAL_RETRY: Duration = Duration::from_secs(5);

/// The book, and how it stands.
pub(super) struct JournalWriter {
    /// Each step of a sale and each close is written through [`Self::write`] alone; marks have a method each.
    book: Journal,
    /// Stands before the book in a world that cuts the power.
    wrapper: Option<BookWrapper>,
    /// It could not be written: no sale is taken until it can be again.
    pub(super) fault: Option<JournalFault>,
    pub(super) last_number: SaleNumber,
    /// The mark that this terminal has sold; training has none.
    sold: Option<SoldMark>,
    /// The mark names this journal.
    is_marked: bool,
    /// Why this journal waits for a person before anything is charged on it.
    barred: Option<String>,
    /// What was saved of it when it was taken away.
    rescued: Option<Rescued>,
    /// Its disk was nearly full at the last look.
    is_nearly_full: bool,
}

impl JournalWriter {
    /// A journal that was opened, with the mark that the terminal has sold.
    pub(super) fn new(
        book: Journal,
        last_number: SaleNumber,
        sold: Option<SoldMark>,
        wrapper: Option<BookWrapper>,
    ) -> Result<Self, pos_journal::Error> {
        let says = match &sold {
            Some(mark) => mark.says_of(&book.identities()?),
            None => SoldOn::Nothing,
        };
        let is_empty = last_number == SaleNumber::BEFORE_ALL;
        let (is_marked, barred) = match says {
            SoldOn::Nothing => (false, None),
            SoldOn::This => (true, None),
            SoldOn::Another(how) => (false, Some(how)),
            // Its own sales speak for it.
            SoldOn::Unknown(how) => (false, is_empty.then_some(how)),
        };
        let mut desk = Self {
            book,
            wrapper,
            fault: None,
            last_number,
            sold,
            is_marked,
            barred,
            rescued: None,
            is_nearly_full: false,
        };
        desk.fault = desk.bar();
        Ok(desk)
    }

    /// The agent's one way to write a step or a close.
    pub(super) fn write<T>(
        &mut self,
        write: impl FnOnce(&mut AnyBook<'_>) -> Result<T, pos_journal::Error>,
    ) -> Result<T, pos_journal::Error> {
        match &self.wrapper {
            None => write(&mut self.book),
            Some(wrapper) => write(&mut *wrapper(&mut self.book)),
        }
    }

    /// The journal, to be read.
    pub(super) fn book(&self) -> &Journal {
        &self.book
    }

    /// Writes who uses the journal; no part of the book.
    pub(super) fn program_began(&mut self, name: &str) -> Result<(Program, Option<Program>), pos_journal::Error> {
        self.book.program_began(name)
    }

    pub(super) fn program_heard(&mut self, program: &Program) -> Result<(), pos_journal::Error> {
        self.book.program_heard(program)
    }

    pub(super) fn change_operator(
        &mut self,
        change: &OperatorChange,
        by: &Who,
        unix_ms: i64,
    ) -> Result<(), pos_journal::Error> {
        self.book.change_operator(change, by, unix_ms)
    }

    pub(super) fn count_pin_tries(&mut self, counts: &[(TryKey, u32)]) -> Result<(), pos_journal::Error> {
        self.book.count_pin_tries(counts)
    }

    pub(super) fn mark_reader(&mut self, reader: &KnownReader, unix_ms: i64) -> Result<(), pos_journal::Error> {
        self.book.mark_reader(reader, unix_ms)
    }

    pub(super) fn mark_old_copy(&mut self, found: &OldCopyFound, unix_ms: i64) -> Result<(), pos_journal::Error> {
        self.book.mark_old_copy(found, unix_ms)
    }

    pub(super) fn set_clock_back(&mut self, now_unix_ms: i64, by: &str) -> Result<SetBack, pos_journal::Error> {
        self.book.set_clock_back(now_unix_ms, by)
    }

    pub(super) fn keep_receipt(&mut self, sale: SaleNumber, copy: ReceiptCopy, page: String) {
        self.book.keep_receipt(sale, copy, page);
    }

    pub(super) fn write_receipts(&mut self) -> Result<(), pos_journal::Error> {
        self.book.write_receipts()
    }

    pub(super) fn tidy(&mut self) {
        self.book.tidy();
    }

    pub(super) fn keep_small(&mut self, busy: bool) {
        self.book.keep_small(busy);
    }

    /// Whether a mark was found that this terminal has sold, on whatever journal.
    pub(super) fn is_of_a_terminal_that_sold(&self) -> bool {
        self.is_marked || self.is_barred()
    }

    /// Whether a person must decide first whose journal this is: nothing of it is settled, and nothing is charged.
    pub(super) fn is_barred(&self) -> bool {
        self.barred.is_some()
    }

    fn bar(&self) -> Option<JournalFault> {
        let how = self.barred.as_ref()?;
        let why = format!(
            "this terminal has sold on another journal ({how}): nothing is charged until a person decides. Stop the agent; then put the right \
             journal back, or take it over (pos-agent journal adopt FILE), or, when it is lost, say so (pos-agent journal accept)"
        );
        Some(JournalFault { state: JournalState::CannotBeWritten, why, retry_at: Duration::MAX })
    }

    /// Writes the mark that this terminal has sold, before its first sale.
    pub(super) fn mark_sold(&mut self) -> Result<(), pos_journal::Error> {
        let Some(sold) = self.sold.as_ref().filter(|_| !self.is_marked) else { return Ok(()) };
        let identities = self.book.identities()?;
        let failed =
            |error| pos_journal::Error::Failed { cause: format!("the mark that this terminal has sold: {error}") };
        sold.write(identities.first().map_or("", String::as_str)).map_err(failed)?;
        self.is_marked = true;
        Ok(())
    }
}

/// Why the journal could not be written, and when to try again.
pub(super) struct JournalFault {
    pub(super) state: JournalState,
    pub(super) why: String,
    pub(super) retry_at: Duration,
}

impl JournalWriter {
    /// Asks whether the journal is in place, before anything is promised on it.
    pub(super) fn is_in_place(&self) -> Result<(), pos_journal::Error> {
        if self.fault.is_some() { Ok(()) } else { self.book.is_in_place() }
    }

    /// Looks at the room on the journal's disk: the log hears once that it is nearly full, and once that it is not.
    pub(super) fn look_at_the_room(&mut self) {
        if let Some(free) = self.book.free_bytes() {
            self.room_is(free);
        }
    }

    fn room_is(&mut self, free_bytes: u64) {
        let was = self.is_nearly_full;
        self.is_nearly_full = is_nearly_full(was, free_bytes);
        match (was, self.is_nearly_full) {
            (false, true) => tracing::warn!(reason = "journal-nearly-full", "{}", little_room(free_bytes)),
            (true, false) => tracing::info!(free_mib = free_bytes >> 20, "the journal's disk has room again"),
            _ => {}
        }
    }

    /// Saves what is open in a journal that was taken away; the status says where it is. What everybody is told.
    pub(super) fn rescue(&mut self, unix_ms: i64) -> Option<String> {
        let is_gone = matches!(self.book.is_in_place(), Err(pos_journal::Error::Gone { .. }));
        if !is_gone || self.rescued.is_some() {
            return None;
        }
        // Training has no mark, and nothing of it is saved. The mark's folder comes first: it survives when the
        // journal's folder is emptied.
        let folders: Vec<_> = self.sold.as_ref()?.folders().collect();
        match self.book.rescue(&folders, unix_ms) {
            Ok(rescued) => {
                let said = said_of(&rescued);
                tracing::error!("ALARM: {said}");
                self.rescued = Some(rescued);
                Some(format!("ALARM: {said}"))
            }
            Err(error) => {
                tracing::error!(%error, "ALARM: what is open in the journal could not be saved; it is tried again");
                None
            }
        }
    }

    /// The sales whose last step could not be written, when the journal can be written again. Every other open sale
    /// stands on the disk as it stands here, and goes on.
    pub(super) fn try_again(&mut self, sales: &OpenTransactions) -> Result<Vec<Transaction>, pos_journal::Error> {
        // That it can be read says nothing about whether a sale can be written.
        self.book.try_to_write()?;
        let mut known = self.book.unsettled()?;
        known.retain(|sale| sales.get(sale.order().number).is_none_or(OpenTransaction::is_stuck));
        for stuck in sales.iter().filter(|active| active.is_stuck()) {
            let order = stuck.order();
            if !known.iter().any(|sale| sale.order().number == order.number) {
                // A write that was reported as failed may have ended it all the same.
                known.extend(self.book.find(&order.till, &order.reference)?);
            }
        }
        self.fault = self.bar();
        self.rescued = None;
        Ok(known)
    }

    /// No sale is taken until it can be written again. What everybody is told, when it was taken away.
    pub(super) fn failed(&mut self, error: &pos_journal::Error, now: Duration) -> Option<String> {
        let is_new = self.fault.is_none();
        let (mut why, mut retry_at) = (error.to_string(), now + JOURNAL_RETRY);
        let mut told = None;
        if let pos_journal::Error::Gone { .. } = error {
            match &self.rescued {
                Some(rescued) => why = format!("{why}; {}", said_of(rescued)),
                // The tills that wait are told first; then what is open is saved.
                None if is_new => retry_at = now,
                None => {}
            }
            if is_new {
                tracing::error!(%error, "ALARM: the journal was taken away");
                told = Some(format!("ALARM: {error}"));
            }
        }
        self.fault = Some(JournalFault { state: state_of_journal(error), why, retry_at });
        told
    }

    /// The number of a new transaction. It is given once, even when its transaction cannot be written: a write that
    /// failed may yet be on the disk.
    pub(super) fn next_number(&mut self) -> SaleNumber {
        self.last_number = self.last_number.saturating_add(1);
        self.last_number
    }

    /// A journal without a transaction: what the gateway holds from before now is not its own.
    pub(super) fn begins(&mut self, gateway_unix_s: Option<i64>, unix_ms: i64) {
        let Some(gateway) = gateway_unix_s.filter(|_| self.last_number == SaleNumber::BEFORE_ALL) else { return };
        if let Err(error) = self.book.begin(gateway.saturating_mul(1000), unix_ms) {
            tracing::warn!(%error, "the journal could not note when it began");
        }
    }

    /// The gateway was asked by date: a start later it need not be asked from there any more.
    pub(super) fn look_is_answered(&self) {
        if let Err(error) = self.book.look_from(None) {
            tracing::warn!(%error, "the journal could not note that the gateway was asked; the next start asks from earlier");
        }
    }
}

/// What was saved, and what is to be done.
fn said_of(rescued: &Rescued) -> String {
    match rescued {
        Rescued::IntoTheJournal => {
            "all of it was copied into the journal: restart the agent, and nothing is lost".to_owned()
        }
        Rescued::Into(file) => format!(
            "what is open, and the latest transactions, are in {file}: put the journal back if it was moved; if it is lost, stop the agent, \
             move away what is in its place, take that file over (pos-agent journal adopt {file}) and start the agent",
            file = file.display()
        ),
        Rescued::Nothing => "there was no transaction in it: restart the agent".to_owned(),
    }
}

/// What a till hears when the journal cannot be used.
pub(super) fn refused_by_journal(error: pos_journal::Error) -> Refused {
    Refused::Journal { why: error.to_string() }
}
