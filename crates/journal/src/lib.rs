//! Is: the journal of a terminal, stored in SQLite in WAL mode with `synchronous=FULL`, which survives a power cut. Is
//! not: the decisions about a transaction, or the actions for it. Invariant: a step's actions are given out only after
//! its records are on the disk.
//!
//! It implements the core's [`Book`]. [`pos_core::book::commit`] writes the records of a step, and returns the actions
//! only after the records are on the disk. `transaction::Record` defines which data is kept and which must not be kept.
//!
//! | table | a row is |
//! |---|---|
//! | `sale` | a transaction: its number, its key (the till and the reference), the earlier transaction that it refers to, and whether it is settled |
//! | `step` | the records of one step of a transaction, as a JSON list; `id` combines the transaction's number and the step's position in it; `entry` and `chain` are the step's position and hash in the chain |
//! | `mark` | an entry about the journal itself, chained like a step: begun, adopted, pruned, entered later, another reader, clock set back, close of day, a change to the operators, a command of the fleet |
//! | `close` | the content of a close of day; its mark contains the hash of the content |
//! | `gap` | entries that were removed, with the hash from which the chain continues |
//! | `day` | a date on which transactions began, with the first of them: retention counts these dates |
//! | `payment` | an id at the gateway: a transaction's own payment, its automatic reversal, or a payment that the journal does not know |
//! | `program` | the program that uses the journal and the previous one, each with whether the reader and the gateway answered it; not part of the chain |
//! | `operator`, `pin_try` | the operators and their PIN attempts, if there are operators; not part of the chain (`operators.rs`) |
//! | `fleet_command`, `fleet_counter` | the fleet's commands with their answers, and the counters of its keys, if there were commands; not part of the chain (`fleet.rs`) |
//! | `about` | the purpose of the journal (`purpose.rs`), and the format of the tables; `PRAGMA user_version` is the oldest format whose programs may use them (`open.rs`) |
//!
//! **The chain.** Steps and marks are entries in the order of their commits. Each has a hash over itself and the entry
//! before it ([`Head`], `chain.rs`). [`Reading::verify`] reads all entries and names the first one that was altered.
//! Because the hashes use no secret, they cannot show that a person recomputed the whole chain or cut off its end.
//! `journal verify` and each export therefore show the head, which can be kept elsewhere.
//!
//! **Versions.** New data is added, and old data is never rewritten, so an earlier version can continue with the file.
//! A record of an unknown kind makes one transaction unreadable, not the whole journal. If that transaction is open, it
//! stays open ([`SetAside`]). The agent tells its till that it cannot be read, and never charges it again.
//!
//! **In place.** A commit counts as written only if the files at the journal's path are the open files
//! (`open_files.rs`). If a journal is removed while it is open, the agent saves its contents (`rescue.rs`). A mark file
//! outside the journal records that this terminal has sold (`sold.rs`).
//!
//! A commit runs on the caller's thread. The transaction has to wait for it anyway, and passing it to another thread
//! and back would double its cost. Slow work (lists, copying the WAL into the file) has its own thread and connection.
//! While the agent runs, a technician can read the file with any SQLite tool.

mod adopt;
mod cause;
mod chain;
mod closes;
mod db;
mod entries;
mod export;
mod fleet;
mod fleet_settings;
mod housekeeping;
mod inspect;
mod known;
mod lock;
mod open;
mod open_files;
mod operators;
mod payments;
mod program;
mod purpose;
mod reader;
mod reading;
mod receipts;
mod rescue;
mod retention;
mod set_back;
mod snapshot;
mod sold;
mod verify;
mod wal;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use adopt::{Adopted, adopt};
pub use chain::Head;
pub use db::{Db, Opened, SetAside};
pub use entries::{ChainEntry, Content, Entries};
pub use export::{Closing, ExportedTransaction};
pub use fleet_settings::{FleetChange, FleetStep};
pub use inspect::{Inspection, LastClose, Sales, inspect, name_of};
pub use known::OldCopyFound;
pub use lock::is_held;
pub use open::has_a_wal_alone;
pub use operators::{KeptOperator, OperatorChange, OperatorEntry, PinKeyFile, pin_salt};
pub use program::Program;
pub use purpose::Purpose;
pub use reader::{KnownReader, ReaderChange};
pub use reading::Reading;
pub use rescue::Rescued;
pub use set_back::{CLOCKS_DIFFER_MS, Latest, SetBack};
pub use snapshot::{Ended, Snapshot};
pub use sold::{SoldMark, SoldOn, accept};
pub use verify::{Altered, Verdict};

use pos_core::book::{Book, BookEntry};
use pos_core::counter::Close;
use pos_core::transaction::Transaction;
use pos_terms::transaction::{PaymentId, Reference, SaleNumber};

/// The reason why the journal cannot be used. Without a journal the agent takes no payment.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened or created.
    #[error(
        "the journal {path} cannot be opened ({cause}); check that its folder exists, is writable and has free space"
    )]
    Open {
        /// The file.
        path: String,
        /// The system's error.
        cause: String,
    },
    /// The files belong to another user, usually because root once ran the agent.
    #[error(
        "the journal {path} cannot be opened ({cause}), because this user may not write {files} (owner {owner}); run \
         as root: chown {user} {files}"
    )]
    Foreign {
        /// The journal.
        path: String,
        /// The error.
        cause: String,
        /// The files that belong to another user, separated by spaces.
        files: String,
        /// The uid of their owner.
        owner: u32,
        /// The uid of this process.
        user: u32,
    },
    /// The disk has no room for the journal's first writes.
    #[error(
        "the disk of the journal {path} is full, with {free_kib} KiB left ({cause}); free space on it, for example \
         with journalctl --vacuum-size=50M"
    )]
    Full {
        /// The journal.
        path: String,
        /// The free space.
        free_kib: u64,
        /// The error.
        cause: String,
    },
    /// The file exists but is not a complete journal. The agent neither changes it nor creates another journal in its
    /// place.
    #[error(
        "the journal {path} cannot be opened: it is damaged or not a journal ({cause}); do not change the file, \
         because sales may be open in it; copy it with its -wal file to a safe place and ask for support"
    )]
    Damaged {
        /// The file.
        path: String,
        /// The damage.
        cause: String,
    },
    /// Another process holds the journal.
    #[error("the journal {path} is in use by another pos-agent; stop that one first")]
    InUse {
        /// The file.
        path: String,
    },
    /// The file has more than one name, because of hard links.
    #[error(
        "the journal {path} has {names} names (hard links), and its -wal file belongs to one of them; find them (find / -xdev -samefile \
         {path}) and remove all but the one that the agent used last"
    )]
    Linked {
        /// The file.
        path: String,
        /// The number of names.
        names: u64,
    },
    /// SQLite did not accept a setting that the safety of payments depends on.
    #[error("the journal {path} cannot be written safely: SQLite reports {setting} = {found}; use a local disk")]
    Unsafe {
        /// The file.
        path: String,
        /// The setting.
        setting: &'static str,
        /// The value that SQLite reports.
        found: String,
    },
    /// A later version wrote the file.
    #[error(
        "the journal {path} has format {found}, but this program reads formats up to {known}; install the later \
         version again"
    )]
    Format {
        /// The file.
        path: String,
        /// The format of the file.
        found: i64,
        /// The latest format that this version knows.
        known: i64,
    },
    /// A row cannot be read.
    #[error("step {id} of the journal cannot be read ({cause}); keep the file and ask for support")]
    Unreadable {
        /// The id of the row.
        id: i64,
        /// The error.
        cause: String,
    },
    /// A close of day cannot be read by this version.
    #[error(
        "close {number} of the journal cannot be read ({cause}); install the version that wrote it, or a later one"
    )]
    UnreadableClose {
        /// The number of the close.
        number: u64,
        /// The error.
        cause: String,
    },
    /// The files at the journal's path are not the open files, or another program has written into them. The latest
    /// records may be missing after a restart.
    #[error("the journal is no longer the agent's file: {what}; the agent takes no payments")]
    Gone {
        /// The file, and what happened to it.
        what: String,
    },
    /// A training journal is in the place of a journal of payments, or the other way round.
    #[error(
        "{path} is {found}; put the right journal in its place: payments belong in the file named by path in \
         [journal], training in training.db next to it"
    )]
    OfAnotherPurpose {
        /// The file.
        path: String,
        /// The purpose of the file.
        found: Purpose,
    },
    /// A journal cannot be adopted.
    #[error("{why}")]
    NotAdopted {
        /// The cause, with the remedy.
        why: String,
    },
    /// The clock need not or must not be set back.
    #[error("{why}")]
    ClockStays {
        /// The cause, with the remedy.
        why: String,
    },
    /// The key for the operators' PINs cannot be used.
    #[error("{path}, the key of the operators' PINs, cannot be used: {cause}")]
    PinKey {
        /// The file.
        path: String,
        /// The error.
        cause: String,
    },
    /// A read or write failed.
    #[error("the journal failed ({cause}); check the disk's free space and health")]
    Failed {
        /// SQLite's error.
        cause: String,
    },
}

/// SQLite's text for `SQLITE_FULL`.
const FULL: &str = "database or disk is full";

impl Error {
    /// Returns whether the disk is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        match self {
            Self::Full { .. } => true,
            Self::Failed { cause } | Self::Open { cause, .. } => cause.contains(FULL),
            _ => false,
        }
    }
}

/// The open journal.
#[derive(Debug)]
pub struct Journal {
    db: Db,
    path: PathBuf,
    /// The progress of the housekeeping.
    house: housekeeping::Housekeeping,
    /// The connection for reading lists. It is opened when it is first needed.
    reader: Arc<tokio::sync::Mutex<Option<Db>>>,
}

impl Book for Journal {
    type Error = Error;

    fn write(&mut self, unix_ms: i64, entries: &[BookEntry<'_>]) -> Result<Duration, Error> {
        #[allow(clippy::disallowed_methods, reason = "measures the disk; nothing is decided by it")]
        let start = std::time::Instant::now();
        match entries {
            // A single entry has the fastest commit.
            [entry] => self.db.write_entry(unix_ms, entry)?,
            entries => self.db.write_as_one(unix_ms, entries)?,
        }
        Ok(start.elapsed())
    }
}

impl Journal {
    /// Opens or creates the file, checks its settings, and replays the open transactions.
    ///
    /// # Errors
    /// Returns an [`Error`] and overwrites nothing.
    pub fn open(path: &Path) -> Result<(Self, Opened), Error> {
        Self::open_for(path, Purpose::Payments)
    }

    /// Opens a journal for this purpose, like [`Self::open`].
    ///
    /// # Errors
    /// Returns [`Error::OfAnotherPurpose`], or an error of [`Self::open`].
    pub fn open_for(path: &Path, purpose: Purpose) -> Result<(Self, Opened), Error> {
        let path = lock::real(path)?;
        let (db, opened) = Db::open_for(&path, purpose).map_err(|error| cause::told(&path, error))?;
        for SetAside { number, till, reference, cause } in &opened.set_aside {
            tracing::error!(
                sale = number.get(), %till, %reference, %cause,
                "a later version wrote an open sale, which cannot be read or resolved; install that version again"
            );
        }
        let journal = Self { db, path, house: housekeeping::Housekeeping::default(), reader: Arc::default() };
        Ok((journal, opened))
    }

    /// Checks that the file can be written and is in place. It writes a value that is already in the file, and waits
    /// for the sync.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written or is not in place.
    pub fn try_to_write(&mut self) -> Result<(), Error> {
        self.db.try_to_write()?;
        self.is_in_place()
    }

    /// Returns the identities of this journal: its own first, then those of the journals that it has adopted.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn identities(&self) -> Result<Vec<String>, Error> {
        purpose::identities(&self.db.connection)
    }

    /// Returns the free space on the journal's disk, in bytes, or `None` if it is unknown.
    #[must_use]
    pub fn free_bytes(&self) -> Option<u64> {
        cause::free_bytes(&self.path)
    }

    /// Returns the transaction of a till with this reference.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn find(&self, till: &str, reference: &Reference) -> Result<Option<Transaction>, Error> {
        self.db.find(till, reference)
    }

    /// Returns the transaction with this number.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn number(&self, number: SaleNumber) -> Result<Option<Transaction>, Error> {
        self.db.at(number)
    }

    /// Returns the reference of a till's latest transaction.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn latest(&self, till: &str) -> Result<Option<Reference>, Error> {
        self.db.latest(till)
    }

    /// Returns the till and the reference of the transaction with this number.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn key(&self, number: SaleNumber) -> Result<Option<(String, Reference)>, Error> {
        self.db.key(number)
    }

    /// Returns the number of the transaction whose own payment at the gateway has this id. An automatic reversal does
    /// not count as an own payment. The index alone is not trusted: the transaction's steps must name the id.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn of_payment(&self, id: &PaymentId) -> Result<Option<SaleNumber>, Error> {
        self.db.of_payment(id)
    }

    /// Returns the number of the transaction that was automatically reversed under this id.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn of_reversal(&self, id: &PaymentId) -> Result<Option<SaleNumber>, Error> {
        self.db.of_reversal(id)
    }

    /// Returns the transactions that refer to an earlier payment by this id because the journal did not know it, oldest
    /// first.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn referring_to(&self, id: &PaymentId) -> Result<Vec<Transaction>, Error> {
        self.db.referring_to(id)
    }

    /// Returns whether a transaction of this journal sent a request under this gateway reference
    /// (`merchantTransactionId`).
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn knows(&self, merchant_transaction_id: &str) -> Result<bool, Error> {
        self.db.knows(merchant_transaction_id)
    }

    /// Returns the ids of the terminals that may have sent transactions since this time that are missing from this
    /// journal. The time is in milliseconds since 1970.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn terminals_since(&self, unix_ms: i64) -> Result<BTreeSet<String>, Error> {
        self.db.terminals_since(unix_ms)
    }

    /// Writes a mark that the journal has begun, with the gateway's time. It does nothing if the journal already has
    /// such a mark or a transaction.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub fn begin(&mut self, gateway_unix_ms: i64, unix_ms: i64) -> Result<(), Error> {
        self.db.begin(gateway_unix_ms, unix_ms)
    }

    /// Returns the gateway's time when this journal began, if it was recorded.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn began(&self) -> Result<Option<i64>, Error> {
        self.db.began()
    }

    /// Stores, for the next start, the time from which the agent checks whether this journal is an outdated copy.
    /// `None` means that the check is complete.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub fn look_from(&self, unix_ms: Option<i64>) -> Result<(), Error> {
        self.db.look_from(unix_ms)
    }

    /// Writes a mark that this journal is an outdated copy, because the gateway held references that it does not
    /// contain.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub fn mark_old_copy(&mut self, found: &OldCopyFound, unix_ms: i64) -> Result<(), Error> {
        self.db.mark_old_copy(found, unix_ms)
    }

    /// Writes a mark with the connected reader, if it is the first one or differs from the previous one.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub fn mark_reader(&mut self, reader: &KnownReader, unix_ms: i64) -> Result<(), Error> {
        self.db.mark_reader(reader, unix_ms)
    }

    /// Returns the latest change of the reader, or `None` if the journal contains none.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn latest_reader(&self) -> Result<Option<ReaderChange>, Error> {
        reader::latest(&self.db.connection)
    }

    /// Returns the transactions that refer to the one with this number: captures, refunds, reversals, oldest first.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn later(&self, number: SaleNumber) -> Result<Vec<Transaction>, Error> {
        self.db.later(number)
    }

    /// Returns the transactions that are not settled, replayed from the disk.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn unsettled(&mut self) -> Result<Vec<Transaction>, Error> {
        self.db.unsettled()
    }

    /// Returns the transactions with a number above `since`, oldest first. They are read on a separate thread, one list
    /// at a time, and other callers wait meanwhile.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn list(
        &self,
        till: Option<String>,
        since: SaleNumber,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Transaction>, Error>> + Send + use<> {
        self.read_beside(move |db| db.list(till.as_deref(), since, limit))
    }

    /// Returns the transactions with a number between these two, newest first. With `reference`, returns only those
    /// whose reference contains it. They are read in the same way as in [`Self::list`].
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn list_newest(
        &self,
        till: Option<String>,
        between: (SaleNumber, SaleNumber),
        reference: Option<String>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Transaction>, Error>> + Send + use<> {
        self.read_beside(move |db| db.list_newest(till.as_deref(), between, reference.as_deref(), limit))
    }

    /// Returns the closes of day with a number below this one, newest first. They are read in the same way as in
    /// [`Self::list`].
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn closes(&self, below: u64, limit: u32) -> impl Future<Output = Result<Vec<Close>, Error>> + Send + use<> {
        self.read_beside(move |db| db.closes(below, limit))
    }

    fn read_beside<T: Send + 'static, F>(&self, read: F) -> impl Future<Output = Result<T, Error>> + Send + use<T, F>
    where
        F: FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    {
        let (beside, reader) = (self.db.beside(&self.path), Arc::clone(&self.reader));
        async move {
            let ended = || Error::Failed { cause: "the reading thread ended".to_owned() };
            // The task that reads the list holds the lock. It continues even if its caller no longer waits for the
            // list.
            let mut kept = reader.lock_owned().await;
            let reading = tokio::task::spawn_blocking(move || {
                let db = kept.take().map_or_else(beside, Ok)?;
                let list = read(&db);
                *kept = list.is_ok().then_some(db);
                list
            });
            reading.await.map_err(|_| ended())?
        }
    }

    /// Sets the number of days whose transactions are kept. `retention.rs` says how days are counted. `None` keeps all.
    pub fn keep_days(&mut self, days: Option<u32>) {
        self.db.keep_days(days);
    }
}
