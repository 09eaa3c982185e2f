//! The SQLite file of the journal. This module writes steps and reads transactions back. It blocks its caller and
//! starts no threads.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use pos_core::book::BookEntry;
use pos_core::transaction::{Record, Transaction};
use pos_terms::transaction::{Reference, SaleNumber};

use super::chain::{Head, Mark, StepRow};
use super::known::OldCopyFound;
use super::lock::{self, Lock};
use super::open_files::OpenFiles;
use super::retention::Retention;
use super::set_back::{self, SetBack};
use super::{Error, Purpose, open, payments, receipts};

/// The number of steps of one transaction that fit in `step.id`. A reversal that is retried every five minutes takes
/// nine years to use all of them.
pub(super) const STEPS_OF_SALE: i64 = 1 << 20;
/// The time that a commit waits for another program that is writing to the file. No other program should do so.
pub(super) const BUSY: Duration = Duration::from_secs(1);

/// The open file.
#[derive(Debug)]
pub struct Db {
    pub(super) connection: Connection,
    /// The last entry of the chain. It is `None` after a failed write, because the write may have reached the disk.
    pub(super) head: Option<Head>,
    /// The wall-clock time of the latest step that was written or found.
    pub(super) last_unix_ms: i64,
    /// The times when the clock was set back.
    pub(super) set_backs: Vec<SetBack>,
    /// The rules of retention and their state.
    pub(super) retention: Retention,
    /// The number of written steps and removed transactions.
    pub(super) written: u64,
    /// The number of steps since the progress of the payment index was recorded in the file. It is recorded when a
    /// transaction begins.
    unmarked: u64,
    /// The transactions that ended and are not marked as settled yet. They are marked when the next transaction begins.
    ended: Vec<i64>,
    /// The receipts that are not written yet. They are written when the next transaction begins.
    pub(super) receipts: Vec<receipts::WaitingReceipt>,
    /// The files that are open; `None` until they are known.
    pub(super) files: Option<OpenFiles>,
    /// The locks: one agent per journal. It is the last field, because it must be released after the connection
    /// (`lock.rs`).
    lock: Option<Lock>,
}

/// The state of the journal when it was opened.
#[derive(Debug)]
pub struct Opened {
    /// The transactions that are not settled.
    pub unsettled: Vec<Transaction>,
    /// The unsettled transactions that a later version wrote and that this version cannot read.
    pub set_aside: Vec<SetAside>,
    /// The highest number given to a transaction.
    pub last_number: SaleNumber,
    /// The wall-clock time of the latest record since the clock was last set back, in milliseconds since 1970. A clock
    /// that shows an earlier time is wrong.
    pub last_unix_ms: i64,
    /// The wall-clock time of the latest data in this journal; `None` if it has no transaction. The agent asks the
    /// gateway for later transactions. If the journal is an outdated copy, the missing transactions happened after this
    /// time. While an adopted transaction is open, the latest data of the adopted journal counts if it is earlier.
    pub known_until_unix_ms: Option<i64>,
    /// The wall-clock time of the first step in this journal. It is zero if the journal has no step, or has adopted
    /// another journal.
    pub first_unix_ms: i64,
    /// The references that were found to be missing from this journal. The set is empty if the journal was never an
    /// outdated copy.
    pub old_copy: OldCopyFound,
}

/// An open transaction that this version cannot read, because a later version wrote it. Its entries have correct
/// hashes, so a pos-agent wrote them. The transaction stays open and never counts as absent. The agent tells its till
/// that it cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// The number of the transaction.
    pub number: SaleNumber,
    /// The till.
    pub till: String,
    /// The till's reference.
    pub reference: Reference,
    /// The part that cannot be read.
    pub cause: String,
}

/// Reads the till and the reference from a row that has both.
fn key_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<(String, Reference)> {
    Ok((row.get(0)?, Reference::as_kept(row.get(1)?)))
}

impl Db {
    /// Opens or creates the file and checks its settings.
    ///
    /// # Errors
    /// Returns an [`Error`] and leaves an existing file unchanged.
    pub fn open(path: &Path) -> Result<(Self, Opened), Error> {
        Self::open_for(path, Purpose::Payments)
    }

    /// Opens a journal for this purpose, like [`Self::open`].
    ///
    /// # Errors
    /// Returns [`Error::OfAnotherPurpose`], or an error of [`Self::open`].
    pub fn open_for(path: &Path, purpose: Purpose) -> Result<(Self, Opened), Error> {
        let path = &lock::real(path)?;
        let (connection, lock) = open::writable(path, purpose)?;
        let held = lock.clone();
        let name = path.display().to_string();
        let mut db = Self { lock: Some(lock), ..Self::reading(connection) };
        let refused = |error| match error {
            // An unreadable page counts as damage in every query.
            Error::Failed { cause } if cause.contains("malformed") => Error::Damaged { path: name.clone(), cause },
            error => error,
        };
        let opened = db.read_all_that_is_open().map_err(refused)?;
        payments::catch_up(&mut db.connection).map_err(refused)?;
        open::trust(&db.connection, path)?;
        db.checkpoint()?;
        db.files = Some(OpenFiles::of(path, &held)?);
        Ok((db, opened))
    }

    /// Checks that the files at the journal's path are those that were written to.
    pub(super) fn in_place(&self) -> Result<(), Error> {
        self.files.as_ref().map_or(Ok(()), OpenFiles::holds)
    }

    fn read_all_that_is_open(&mut self) -> Result<Opened, Error> {
        self.head = Some(Head::read(&self.connection)?);
        let last_number = self.number("SELECT coalesce(max(number), 0) FROM sale")?;
        self.set_backs = set_back::all(&self.connection)?;
        self.last_unix_ms = set_back::latest(&self.connection, self.set_backs.last())?.unix_ms;
        let (unsettled, set_aside) = self.open_transactions()?;
        let open = unsettled.iter().map(|sale| sale.order().number);
        let aside = set_aside.iter().map(|aside| aside.number);
        let known_until_unix_ms = self.known_until(&open.chain(aside).collect::<Vec<_>>(), i64::MAX)?;
        let (last_number, last_unix_ms) = (SaleNumber::new(last_number.unsigned_abs()), self.last_unix_ms);
        let old_copy = self.old_copy()?;
        let first = "SELECT coalesce((SELECT unix_ms FROM step ORDER BY id LIMIT 1), 0)";
        // Adopted transactions are older than their position here suggests.
        let first_unix_ms = if self.has_taken()? { 0 } else { self.number(first)? };
        Ok(Opened { unsettled, set_aside, last_number, last_unix_ms, known_until_unix_ms, first_unix_ms, old_copy })
    }

    /// Opens a second connection, on any thread, for reading in parallel and for copying the WAL.
    pub(super) fn beside(&self, path: &Path) -> impl FnOnce() -> Result<Self, Error> + Send + use<> {
        let (path, lock, files) = (path.to_owned(), self.lock.clone(), self.files.clone());
        move || {
            // The path may name another file, which is not this journal. No file is created there.
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
            files.as_ref().map_or(Ok(()), OpenFiles::holds)?;
            connection.busy_timeout(BUSY).map_err(failed)?;
            // Half a megabyte of cache is enough, because each page is read once.
            connection.execute_batch("PRAGMA cache_size=-512;").map_err(failed)?;
            Ok(Self { lock, files, ..Self::reading(connection) })
        }
    }

    /// Wraps a connection that is used only for reading.
    pub(super) fn reading(connection: Connection) -> Self {
        Self {
            connection,
            head: None,
            last_unix_ms: 0,
            set_backs: Vec::new(),
            retention: Retention::default(),
            written: 0,
            unmarked: 0,
            ended: Vec::new(),
            receipts: Vec::new(),
            files: None,
            lock: None,
        }
    }

    /// Writes the records of step number `place` of a transaction. When it returns, they are on the disk, in the file
    /// at the journal's path.
    ///
    /// # Errors
    /// Returns an error if the records cannot be written. None of them is then written. Returns [`Error::Gone`] if they
    /// were written into a file that is no longer at the journal's path.
    pub fn write(&mut self, sale: SaleNumber, place: u32, unix_ms: i64, records: &[Record]) -> Result<(), Error> {
        let sale = i64::try_from(sale).map_err(failed)?;
        let id = sale.checked_mul(STEPS_OF_SALE).and_then(|id| id.checked_add(i64::from(place)));
        let id =
            id.filter(|_| i64::from(place) < STEPS_OF_SALE).ok_or_else(|| failed("the sale has too many steps"))?;
        let text = serde_json::to_string(records).map_err(failed)?;
        let head = self.take_head()?;
        let next = head.then_step(StepRow { id, sale, unix_ms, records: &text });
        let step = params![id, sale, unix_ms, text, next.entry, next.hash];
        if let Some(Record::Started { order }) = records.first() {
            // The savepoint is a part of the SQLite transaction of several steps, or a separate transaction.
            let transaction = self.connection.savepoint().map_err(failed)?;
            let earlier = order.operation.of().and_then(|of| of.number).and_then(|number| i64::try_from(number).ok());
            put(
                &transaction,
                "INSERT INTO sale(number, till, reference, earlier) VALUES (?1, ?2, ?3, ?4)",
                params![sale, order.till, order.reference.as_str(), earlier],
            )?;
            put(&transaction, INSERT_STEP, step)?;
            payments::add(&transaction, sale, records)?;
            if self.unmarked >= super::housekeeping::TIDY_AFTER {
                payments::all_until(&transaction, next.entry)?;
                // If the write fails, the next start reads a few more steps.
                self.unmarked = 0;
            }
            self.retention.began(&transaction, sale, unix_ms)?;
            for ended in &self.ended {
                put(&transaction, "UPDATE sale SET settled = 1 WHERE number = ?1", params![ended])?;
            }
            receipts::write(&transaction, &self.receipts)?;
            transaction.commit().map_err(failed)?;
            self.ended.clear();
            self.receipts.clear();
        } else if payments::name_one(records) {
            let transaction = self.connection.savepoint().map_err(failed)?;
            put(&transaction, INSERT_STEP, step)?;
            payments::add(&transaction, sale, records)?;
            transaction.commit().map_err(failed)?;
        } else {
            // A single statement is its own SQLite transaction, which is the fastest commit.
            put(&self.connection, INSERT_STEP, step)?;
        }
        if records.iter().any(|record| matches!(record, Record::Ended { .. })) {
            self.ended.push(sale);
        }
        self.head = Some(next);
        self.last_unix_ms = self.last_unix_ms.max(unix_ms);
        self.written += 1;
        self.unmarked += 1;
        self.in_place()
    }

    /// Writes one entry. When it returns, the entry is on the disk, in the file at the journal's path.
    ///
    /// # Errors
    /// Returns the errors of [`Self::write`].
    pub(super) fn write_entry(&mut self, unix_ms: i64, entry: &BookEntry<'_>) -> Result<(), Error> {
        match *entry {
            BookEntry::Step { sale, place, records } => self.write(sale, place, unix_ms, records),
            BookEntry::Close(close) => self.write_close(close, unix_ms),
            BookEntry::Command { command, accepted } => self.write_command(command, accepted),
            BookEntry::CommandAnswer { id, answer } => self.answer_command(id, answer),
        }
    }

    /// Writes all entries in this order, or none of them.
    ///
    /// # Errors
    /// Returns the errors of [`Self::write`].
    pub(super) fn write_as_one(&mut self, unix_ms: i64, entries: &[BookEntry<'_>]) -> Result<(), Error> {
        // If the commit fails, the lists of waiting work are restored.
        let (ended, receipts, unmarked) = (self.ended.clone(), self.receipts.clone(), self.unmarked);
        self.connection.execute_batch("BEGIN").map_err(failed)?;
        let written = entries
            .iter()
            .try_for_each(|entry| self.write_entry(unix_ms, entry))
            .and_then(|()| self.connection.execute_batch("COMMIT").map_err(failed));
        if written.is_err() {
            (self.head, self.ended, self.receipts, self.unmarked) = (None, ended, receipts, unmarked);
            // SQLite may already have rolled back the transaction.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        written.and_then(|()| self.in_place())
    }

    /// Takes the last entry of the chain for the next write. If that write fails, the field stays empty.
    pub(super) fn take_head(&mut self) -> Result<Head, Error> {
        match self.head.take() {
            Some(head) => Ok(head),
            None => Head::read(&self.connection),
        }
    }

    /// Writes a mark about the journal itself.
    pub(super) fn mark(&mut self, mark: &Mark, unix_ms: i64) -> Result<(), Error> {
        let head = self.take_head()?;
        self.head = Some(mark.write(&self.connection, head, unix_ms)?);
        self.in_place()
    }

    /// Returns the last entry of the chain.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn head(&self) -> Result<Head, Error> {
        Head::read(&self.connection)
    }

    /// Returns the number of steps written and transactions removed since the file was opened.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Copies the WAL into the file, except for parts that a reader still uses. Returns whether all of it was copied.
    /// If so, the next write begins at the start of the WAL, which keeps its size.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub fn checkpoint(&self) -> Result<bool, Error> {
        // A connection that has not read anything yet does not know that there is a WAL.
        self.number("SELECT count(*) FROM sale WHERE number < 0")?;
        let copied =
            |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?));
        let copy = || self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], copied).map_err(failed);
        let copied = self.files.as_ref().map_or_else(copy, |place| place.copying(copy))?;
        // The columns: busy, the frames in the WAL, and the copied frames.
        Ok(matches!(copied, (0, all, copied) if all == copied))
    }

    /// Returns the transaction of a till with this reference.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn find(&self, till: &str, reference: &Reference) -> Result<Option<Transaction>, Error> {
        let number: Option<i64> = self
            .connection
            .prepare_cached("SELECT number FROM sale WHERE till = ?1 AND reference = ?2")
            .and_then(|mut select| select.query_row([till, reference.as_str()], |row| row.get(0)).optional())
            .map_err(failed)?;
        number.map(|number| self.replay(number)).transpose()
    }

    /// Returns the transactions with a number above `since`, oldest first.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn list(&self, till: Option<&str>, since: SaleNumber, limit: u32) -> Result<Vec<Transaction>, Error> {
        let since = i64::try_from(since).unwrap_or(i64::MAX);
        let numbers = self.numbers(
            "SELECT number FROM sale WHERE number > ?1 AND (?2 IS NULL OR till = ?2) ORDER BY number LIMIT ?3",
            params![since, till, limit],
        )?;
        numbers.into_iter().map(|number| self.replay(number)).collect()
    }

    /// Returns the transactions with a number above `above` and below `below`, newest first. With `reference`, returns
    /// only those whose reference contains it (case-insensitive).
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn list_newest(
        &self,
        till: Option<&str>,
        (above, below): (SaleNumber, SaleNumber),
        reference: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Transaction>, Error> {
        let [above, below] = [above, below].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
        // If a transaction does not match, only its reference is read, and no record.
        let numbers = self.numbers(
            "SELECT number FROM sale WHERE number > ?1 AND number < ?2 AND (?3 IS NULL OR till = ?3) \
             AND (?4 IS NULL OR instr(lower(reference), lower(?4)) > 0) ORDER BY number DESC LIMIT ?5",
            params![above, below, till, reference, limit],
        )?;
        numbers.into_iter().map(|number| self.replay(number)).collect()
    }

    /// Returns the reference of a till's latest transaction.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn latest(&self, till: &str) -> Result<Option<Reference>, Error> {
        // The `+` makes SQLite read from the newest number downwards. With the index of references, it would read and
        // sort all transactions of the till.
        self.connection
            .prepare_cached("SELECT reference FROM sale WHERE +till = ?1 ORDER BY number DESC LIMIT 1")
            .and_then(|mut select| select.query_row([till], |row| row.get(0).map(Reference::as_kept)).optional())
            .map_err(failed)
    }

    /// Returns the transaction with this number.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn at(&self, number: SaleNumber) -> Result<Option<Transaction>, Error> {
        let known = self.key(number)?.is_some();
        known.then(|| self.replay(i64::try_from(number).map_err(failed)?)).transpose()
    }

    /// Returns the till and the reference of the transaction with this number.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn key(&self, number: SaleNumber) -> Result<Option<(String, Reference)>, Error> {
        // No transaction has a number that SQLite cannot store.
        let Ok(number) = i64::try_from(number) else { return Ok(None) };
        self.connection
            .prepare_cached("SELECT till, reference FROM sale WHERE number = ?1")
            .and_then(|mut select| select.query_row([number], key_of).optional())
            .map_err(failed)
    }

    /// Returns the transactions that refer to the one with this number: captures, refunds, reversals, oldest first.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn later(&self, number: SaleNumber) -> Result<Vec<Transaction>, Error> {
        let number = i64::try_from(number).map_err(failed)?;
        let numbers = self.numbers("SELECT number FROM sale WHERE earlier = ?1 ORDER BY number", params![number])?;
        numbers.into_iter().map(|number| self.replay(number)).collect()
    }

    /// Returns the transactions that are not settled and can be read, oldest first.
    ///
    /// # Errors
    /// Returns an error if they cannot be read for any reason other than a later version.
    pub fn unsettled(&mut self) -> Result<Vec<Transaction>, Error> {
        self.open_transactions().map(|(open, _)| open)
    }

    /// Returns the transactions that are not settled: those that can be read, and those that only a later version can
    /// read.
    pub(super) fn open_transactions(&mut self) -> Result<(Vec<Transaction>, Vec<SetAside>), Error> {
        let numbers = self.numbers("SELECT number FROM sale WHERE settled = 0 ORDER BY number", params![])?;
        let (mut open, mut set_aside) = (Vec::new(), Vec::new());
        self.ended.clear();
        for number in numbers {
            match self.replay(number) {
                Ok(sale) if sale.is_settled() => self.ended.push(number),
                Ok(sale) => open.push(sale),
                Err(Error::Unreadable { id, cause }) => {
                    if !self.is_as_written(number)? {
                        return Err(Error::Unreadable { id, cause });
                    }
                    let key = "SELECT till, reference FROM sale WHERE number = ?1";
                    let key = self.connection.query_row(key, [number], key_of);
                    let (till, reference) = key.map_err(failed)?;
                    set_aside.push(SetAside { number: SaleNumber::new(number.unsigned_abs()), till, reference, cause });
                }
                Err(error) => return Err(error),
            }
        }
        Ok((open, set_aside))
    }

    /// Returns whether each step of a transaction has the correct hash, given the entry before it. Returns false if the
    /// transaction has no entries.
    pub(super) fn is_as_written(&self, number: i64) -> Result<bool, Error> {
        if !open::has_chain(&self.connection)? {
            return Ok(false);
        }
        let sql = "SELECT id, sale, unix_ms, records, entry, chain FROM step WHERE id >= ?1 AND id < ?2";
        let mut select = self.connection.prepare_cached(sql).map_err(failed)?;
        let first = number.saturating_mul(STEPS_OF_SALE);
        let mut rows = select.query([first, first.saturating_add(STEPS_OF_SALE)]).map_err(failed)?;
        let mut steps = 0;
        while let Some(row) = rows.next().map_err(failed)? {
            let read = || -> rusqlite::Result<(Head, [i64; 3], String)> {
                let head = Head { entry: row.get(4)?, hash: row.get(5)? };
                Ok((head, [row.get(0)?, row.get(1)?, row.get(2)?], row.get(3)?))
            };
            let Ok((head, [id, sale, unix_ms], records)) = read() else { return Ok(false) };
            let before = Head::at(&self.connection, head.entry - 1)?;
            let row = StepRow { id, sale, unix_ms, records: &records };
            if before.is_none_or(|before| before.then_step(row) != head) {
                return Ok(false);
            }
            steps += 1;
        }
        Ok(steps > 0)
    }

    pub(super) fn replay(&self, number: i64) -> Result<Transaction, Error> {
        let first = number.saturating_mul(STEPS_OF_SALE);
        let sale = self.replay_through(number, first)?;
        sale.ok_or_else(|| unreadable(first, &"the sale's beginning is missing"))
    }

    /// Returns the records of each step of a transaction. The list is empty if there is no such transaction.
    pub(super) fn steps(&self, number: i64) -> Result<Vec<Vec<Record>>, Error> {
        let mut select = self
            .connection
            .prepare_cached("SELECT id, records FROM step WHERE id >= ?1 AND id < ?2 ORDER BY id")
            .map_err(failed)?;
        let first = number.saturating_mul(STEPS_OF_SALE);
        let mut rows = select.query([first, first.saturating_add(STEPS_OF_SALE)]).map_err(failed)?;
        let mut steps = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let id: i64 = row.get(0).map_err(failed)?;
            let text: String = row.get(1).map_err(|error| unreadable(id, &error))?;
            steps.push(serde_json::from_str(&text).map_err(|error| unreadable(id, &error))?);
        }
        Ok(steps)
    }

    pub(super) fn numbers(&self, sql: &str, params: impl rusqlite::Params) -> Result<Vec<i64>, Error> {
        let mut select = self.connection.prepare_cached(sql).map_err(failed)?;
        let rows = select.query_map(params, |row| row.get(0)).map_err(failed)?;
        rows.collect::<Result<_, _>>().map_err(failed)
    }

    /// Writes a value that is already in the file. The value is changed and changed back, because SQLite does not write
    /// unchanged values.
    pub(super) fn try_to_write(&mut self) -> Result<(), Error> {
        let transaction = self.connection.transaction().map_err(failed)?;
        for _ in 1..=2 {
            transaction.execute("UPDATE about SET format = -format", []).map_err(failed)?;
        }
        transaction.commit().map_err(failed)
    }

    pub(super) fn number(&self, sql: &str) -> Result<i64, Error> {
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(failed)
    }
}

const INSERT_STEP: &str = "INSERT INTO step(id, sale, unix_ms, records, entry, chain) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

pub(super) fn put(connection: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<(), Error> {
    let put = connection.prepare_cached(sql).and_then(|mut statement| statement.execute(values));
    put.map(|_| ()).map_err(failed)
}

pub(super) fn failed(error: impl std::fmt::Display) -> Error {
    Error::Failed { cause: error.to_string() }
}

pub(super) fn unreadable(id: i64, cause: &dyn std::fmt::Display) -> Error {
    Error::Unreadable { id, cause: cause.to_string() }
}
