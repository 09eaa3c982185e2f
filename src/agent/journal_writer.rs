//! The agent's access to the journal. It holds the journal, the last transaction number, and the fault that stops new
//! transactions until the journal can be written again.

use std::time::Duration;

use crate::till::{JournalState, Refused};
use pos_core::book::BookEntry;
use pos_core::counter::TryKey;
use pos_core::fleet::{AcceptedCommand, JudgedCommand};
use pos_core::transaction::Transaction;
use pos_journal::{
    FleetChange, Journal, KnownReader, OldCopyFound, OperatorChange, Program, Rescued, SetBack, SoldMark, SoldOn,
};
use pos_terms::transaction::{ReceiptCopy, SaleNumber, Who};
use pos_words::{Message, Sentence};

use super::engine::open_transactions::{OpenTransaction, OpenTransactions};
use super::surroundings::{AnyBook, BookWrapper};
use super::views::states::state_of_journal;
use super::views::status::{is_nearly_full, little_room};

/// The interval between retries after the journal failed. Meanwhile, a technician frees space by hand.
pub(super) const JOURNAL_RETRY: Duration = Duration::from_secs(5);

/// The journal and its state.
pub(super) struct JournalWriter {
    /// The journal. Each step of a transaction and each close is written only with [`Self::write`]. Each mark has its
    /// own method.
    book: Journal,
    /// The wrapper with which a simulator cuts the power during a write.
    wrapper: Option<BookWrapper>,
    /// The fault, if the journal could not be written. No transaction begins until it can be written again.
    pub(super) fault: Option<JournalFault>,
    pub(super) last_number: SaleNumber,
    /// The mark that this terminal has taken payments. Training has no such mark.
    sold: Option<SoldMark>,
    /// True if the mark names this journal.
    is_marked: bool,
    /// The reason why this journal waits for a person before anything is charged.
    barred: Option<String>,
    /// The rescued transactions of a journal that was removed.
    rescued: Option<Rescued>,
    /// True if the journal's disk was nearly full at the last check.
    is_nearly_full: bool,
}

impl JournalWriter {
    /// Creates the access from an opened journal and the mark that the terminal has taken payments.
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
            // If the journal has transactions, they show that it is this terminal's.
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

    /// Writes a step, a close, or a command. The agent has no other way to write one.
    pub(super) fn write<T>(
        &mut self,
        write: impl FnOnce(&mut AnyBook<'_>) -> Result<T, pos_journal::Error>,
    ) -> Result<T, pos_journal::Error> {
        match &self.wrapper {
            None => write(&mut self.book),
            Some(wrapper) => write(&mut *wrapper(&mut self.book)),
        }
    }

    /// Returns the journal, for reading.
    pub(super) fn book(&self) -> &Journal {
        &self.book
    }

    /// Records the running program, apart from the transactions.
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

    pub(super) fn write_command(
        &mut self,
        command: &JudgedCommand,
        accepted: Option<&AcceptedCommand>,
    ) -> Result<(), pos_journal::Error> {
        self.write(|book| book.write(command.unix_ms, &[BookEntry::Command { command, accepted }])).map(drop)
    }

    pub(super) fn answer_command(&mut self, id: &str, answer: &str, unix_ms: i64) -> Result<(), pos_journal::Error> {
        self.write(|book| book.write(unix_ms, &[BookEntry::CommandAnswer { id, answer }])).map(drop)
    }

    pub(super) fn forget_commands(&mut self, unix_ms: i64) -> Result<u64, pos_journal::Error> {
        self.book.forget_commands(unix_ms)
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

    /// Writes a mark about the fleet's settings. Returns the journal's identity and the entry.
    pub(super) fn mark_fleet_settings(
        &mut self,
        change: &FleetChange,
        unix_ms: i64,
    ) -> Result<(String, i64), pos_journal::Error> {
        let entry = self.book.mark_fleet_settings(change, unix_ms)?;
        Ok((self.book.identities()?.into_iter().next().unwrap_or_default(), entry))
    }

    /// Writes a mark about the fleet's command keys.
    pub(super) fn mark_fleet_keys(&mut self, change: &FleetChange, unix_ms: i64) -> Result<(), pos_journal::Error> {
        self.book.mark_fleet_keys(change, unix_ms)
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

    /// Returns whether a mark shows that this terminal has taken payments, with any journal.
    pub(super) fn is_of_a_terminal_that_sold(&self) -> bool {
        self.is_marked || self.is_barred()
    }

    /// Returns whether a person must first decide whose journal this is. Until then, the agent completes no transaction
    /// and charges nothing.
    pub(super) fn is_barred(&self) -> bool {
        self.barred.is_some()
    }

    fn bar(&self) -> Option<JournalFault> {
        let why = Message::SoldOnAnotherJournal.with("why", self.barred.as_deref()?);
        Some(JournalFault { state: JournalState::CannotBeWritten, why, retry_at: Duration::MAX })
    }

    /// Before the terminal's first transaction, writes the mark that it has taken payments.
    pub(super) fn mark_sold(&mut self) -> Result<(), pos_journal::Error> {
        let Some(sold) = self.sold.as_ref().filter(|_| !self.is_marked) else { return Ok(()) };
        let identities = self.book.identities()?;
        let failed = |error| pos_journal::Error::Failed {
            cause: format!("the mark that this terminal has sold cannot be written: {error}"),
        };
        sold.write(identities.first().map_or("", String::as_str)).map_err(failed)?;
        self.is_marked = true;
        Ok(())
    }
}

/// The reason why the journal could not be written, and the time of the next retry.
pub(super) struct JournalFault {
    pub(super) state: JournalState,
    pub(super) why: Sentence,
    pub(super) retry_at: Duration,
}

impl JournalWriter {
    /// Checks that the journal is in place, before the agent promises anything that depends on it.
    pub(super) fn is_in_place(&self) -> Result<(), pos_journal::Error> {
        if self.fault.is_some() { Ok(()) } else { self.book.is_in_place() }
    }

    /// Checks the free space on the journal's disk. Logs once when the disk becomes nearly full, and once when it has
    /// space again.
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
            (true, false) => tracing::info!(free_mib = free_bytes >> 20, "the journal's disk has free space again"),
            _ => {}
        }
    }

    /// Saves the open transactions of a journal that was removed; the status shows where. Returns the alarm for all
    /// tills.
    pub(super) fn rescue(&mut self, unix_ms: i64) -> Option<Sentence> {
        let is_gone = matches!(self.book.is_in_place(), Err(pos_journal::Error::Gone { .. }));
        if !is_gone || self.rescued.is_some() {
            return None;
        }
        // Training has no mark and saves nothing. The mark's folder comes first because it remains if the journal's
        // folder is emptied.
        let folders: Vec<_> = self.sold.as_ref()?.folders().collect();
        match self.book.rescue(&folders, unix_ms) {
            Ok(rescued) => {
                let said = said_of(&rescued);
                tracing::error!("ALARM: {said}");
                self.rescued = Some(rescued);
                Some(said)
            }
            Err(error) => {
                tracing::error!(%error, "ALARM: the open transactions of the journal could not be saved; the agent \
                    retries");
                None
            }
        }
    }

    /// Once the journal can be written again, returns the transactions whose last step could not be written. All other
    /// open transactions are in the same state on the disk and simply continue.
    pub(super) fn try_again(&mut self, sales: &OpenTransactions) -> Result<Vec<Transaction>, pos_journal::Error> {
        // A journal that can be read may still refuse a write.
        self.book.try_to_write()?;
        let mut known = self.book.unsettled()?;
        known.retain(|sale| sales.get(sale.order().number).is_none_or(OpenTransaction::is_stuck));
        for stuck in sales.iter().filter(|active| active.is_stuck()) {
            let order = stuck.order();
            if !known.iter().any(|sale| sale.order().number == order.number) {
                // A write that was reported as failed may have recorded its end.
                known.extend(self.book.find(&order.till, &order.reference)?);
            }
        }
        self.fault = self.bar();
        self.rescued = None;
        Ok(known)
    }

    /// Stops new transactions until the journal can be written again. Returns the alarm for all tills if the journal
    /// was removed.
    pub(super) fn failed(&mut self, error: &pos_journal::Error, now: Duration) -> Option<Sentence> {
        let is_new = self.fault.is_none();
        let (mut why, mut retry_at) = (Sentence::from(error.to_string()), now + JOURNAL_RETRY);
        let mut told = None;
        if let pos_journal::Error::Gone { .. } = error {
            match &self.rescued {
                Some(rescued) => why = Message::JournalGone.with("why", why).with("rescued", said_of(rescued)),
                // The agent first informs the waiting tills and then saves the open transactions.
                None if is_new => retry_at = now,
                None => {}
            }
            if is_new {
                tracing::error!(%error, "ALARM: the journal was removed");
                told = Some(error.to_string().into());
            }
        }
        self.fault = Some(JournalFault { state: state_of_journal(error), why, retry_at });
        told
    }

    /// Returns the number for a new transaction. Each number is used once, even if its transaction cannot be written,
    /// because a failed write may be on the disk.
    pub(super) fn next_number(&mut self) -> SaleNumber {
        self.last_number = self.last_number.saturating_add(1);
        self.last_number
    }

    /// Records the start of a journal without transactions. Earlier payments at the gateway are not this journal's.
    pub(super) fn begins(&mut self, gateway_unix_s: Option<i64>, unix_ms: i64) {
        let Some(gateway) = gateway_unix_s.filter(|_| self.last_number == SaleNumber::BEFORE_ALL) else { return };
        if let Err(error) = self.book.begin(gateway.saturating_mul(1000), unix_ms) {
            tracing::warn!(%error, "the journal could not record its start");
        }
    }

    /// Records that the gateway has answered by date, so the next start need not ask for the same period again.
    pub(super) fn look_is_answered(&self) {
        if let Err(error) = self.book.look_from(None) {
            tracing::warn!(%error, "the journal could not record that the gateway was asked; the next start asks for a \
                longer period");
        }
    }
}

/// Describes what was saved and what a person must do.
fn said_of(rescued: &Rescued) -> Sentence {
    match rescued {
        Rescued::IntoTheJournal => Message::RescuedIntoJournal.into(),
        Rescued::Into(file) => Message::RescuedIntoFile.with("file", file.display().to_string()),
        Rescued::Nothing => Message::RescuedNothing.into(),
    }
}

/// Converts a journal error to the refusal of a till's request.
pub(super) fn refused_by_journal(error: pos_journal::Error) -> Refused {
    Refused::Journal { why: error.to_string().into() }
}
