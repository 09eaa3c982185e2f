//! Is: what survives the power: SQLite in WAL mode with `synchronous=FULL`, the account book of a terminal.
//! Is not: what decides about a sale, or what acts for it.
//! Invariant: a step's actions are given out only after its records are on the disk.
//!
//! It is the [`Book`] of the core: [`pos_core::book::commit`] has a step's records written, and gives out the actions
//! only when they are on the disk. What is kept, and what may not be, is said in `transaction::Record`.
//!
//! | table | a row is |
//! |---|---|
//! | `sale` | a transaction: its number, the till and reference that are its key, the earlier one it refers to, whether it is settled |
//! | `step` | what one step of a sale wrote, as a JSON list of records; `id` is the sale's number and the step's place in it; `entry` and `chain` are its place and hash in the book |
//! | `mark` | what the book says beside the sales, an entry like a step: begun, adopted, pruned, entered later, another reader, clock set back, close of day, a change of the operators |
//! | `close` | the content of a close of day; its mark holds the hash of it |
//! | `gap` | entries that were taken out, with the hash from which the chain goes on |
//! | `day` | a date on which transactions began, with the first of them: what retention counts |
//! | `payment` | an id at the gateway: a transaction's own payment, its reversal by itself, or a payment that the journal does not know |
//! | `program` | the program that uses the journal, and the one before it, with what answered them; no part of the book |
//! | `operator`, `pin_try` | the operators and the tries of their PINs, where there are operators; no part of the book (`operators.rs`) |
//! | `about` | what the journal is for (`purpose.rs`), and the format that the tables have; `PRAGMA user_version` is the oldest that may use them (`open.rs`) |
//!
//! **An account book.** Steps and marks are entries in the order of their commits, each with a hash over itself and the
//! entry before it ([`Head`], `chain.rs`); [`Reading::verify`] reads them all and names the first that is not as it was
//! written. A hash without a secret cannot show that somebody has reckoned the whole chain anew, or has cut off its
//! end: the head is shown by `journal verify` and at the end of each export, so that it can be kept elsewhere.
//!
//! **Versions.** What is new is added, never rewritten, so that an earlier program can go on with the file. A record of
//! a kind that this program does not know makes that one sale unreadable, not the journal: open, it stays open
//! ([`SetAside`]); its till hears that it cannot be read, and is never charged anew.
//!
//! **In place.** A commit counts as written when the files at the journal's path are those that are open (`place.rs`).
//! What is left of a journal that was taken away is saved (`rescue.rs`), and a mark elsewhere says that this terminal
//! has sold (`sold.rs`).
//!
//! A commit is made on the caller's thread: the sale can do nothing before it, and handing it to another thread and
//! back would cost as much again as the commit. What may take long (lists, copying the WAL into the file) has a thread
//! and a connection of its own. An operator can read the file with any SQLite tool meanwhile.

mod adopt;
mod chain;
mod closes;
mod db;
mod export;
mod housekeeping;
mod inspect;
mod known;
mod lock;
mod open;
mod operators;
mod payments;
mod place;
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
pub use export::{Closing, ExportedTransaction};
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

/// Why the journal cannot be used. Without it no payment is taken.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened or made.
    #[error("the journal {path} cannot be opened ({cause}); check that its folder exists, is writable and has space")]
    Open {
        /// The file.
        path: String,
        /// The system's words.
        cause: String,
    },
    /// The file is there and is no whole journal. Nothing of it is touched, and no other is made in its place.
    #[error(
        "the journal {path} cannot be opened: it is damaged or none ({cause}); leave it as it is, copy it with its -wal file to a \
         safe place and ask for support: sales may be open in it"
    )]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong.
        cause: String,
    },
    /// Another process holds it.
    #[error("the journal {path} is in use by another pos-agent; stop that one first")]
    InUse {
        /// The file.
        path: String,
    },
    /// The file has more than one name, by hard links.
    #[error(
        "the journal {path} has {names} names (hard links), and its -wal file belongs to one of them; find them (find / -xdev -samefile \
         {path}) and remove all but the one that the agent used last"
    )]
    Linked {
        /// The file.
        path: String,
        /// How many.
        names: u64,
    },
    /// SQLite did not accept a setting that the safety of payments rests on.
    #[error("the journal {path} cannot be written safely: SQLite reports {setting} = {found}; use a local disk")]
    Unsafe {
        /// The file.
        path: String,
        /// The setting.
        setting: &'static str,
        /// What SQLite reports.
        found: String,
    },
    /// Written by a later program.
    #[error("the journal {path} has format {found}, this program reads up to {known}; install the later version again")]
    Format {
        /// The file.
        path: String,
        /// Its format.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// A row that cannot be read.
    #[error("step {id} of the journal cannot be read ({cause}); keep the file and ask for support")]
    Unreadable {
        /// The record.
        id: i64,
        /// What is wrong.
        cause: String,
    },
    /// A close of day that this program cannot read.
    #[error(
        "close {number} of the journal cannot be read ({cause}); install the version that wrote it, or a later one"
    )]
    UnreadableClose {
        /// Its number.
        number: u64,
        /// What is wrong.
        cause: String,
    },
    /// The files at its path are not those that are open, or somebody else has written into them: what was written last
    /// may not be there after a start.
    #[error("the journal is not the file any more that the agent writes to: {what}; no payment is taken on it")]
    Gone {
        /// Which file, and what became of it.
        what: String,
    },
    /// A journal of training where one of payments belongs, or the other way round.
    #[error(
        "{path} is {found}; put the right journal in its place: payments belong in [journal] path, training in training.db beside it"
    )]
    OfAnotherPurpose {
        /// The file.
        path: String,
        /// What it is.
        found: Purpose,
    },
    /// A journal cannot be taken over.
    #[error("{why}")]
    NotAdopted {
        /// Why, with the remedy.
        why: String,
    },
    /// The clock need not, or may not, be set back.
    #[error("{why}")]
    ClockStays {
        /// Why, with the remedy.
        why: String,
    },
    /// The key of the operators' PINs cannot be used.
    #[error("{path}, the key of the operators' PINs, cannot be used: {cause}")]
    PinKey {
        /// The file.
        path: String,
        /// What is wrong.
        cause: String,
    },
    /// A read or write failed.
    #[error("the journal failed ({cause}); check the disk's space and health")]
    Failed {
        /// SQLite's words.
        cause: String,
    },
}

/// SQLite's own words for `SQLITE_FULL`.
const FULL: &str = "database or disk is full";

impl Error {
    /// Whether there is no room on the disk.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Failed { cause } | Self::Open { cause, .. } if cause.contains(FULL))
    }
}

/// The open journal.
#[derive(Debug)]
pub struct Journal {
    db: Db,
    path: PathBuf,
    /// How far the housekeeping has come.
    house: housekeeping::Housekeeping,
    /// The connection that lists are read through, once there was one.
    reader: Arc<tokio::sync::Mutex<Option<Db>>>,
}

impl Book for Journal {
    type Error = Error;

    fn write(&mut self, unix_ms: i64, entries: &[BookEntry<'_>]) -> Result<Duration, Error> {
        #[allow(clippy::disallowed_methods, reason = "measures the disk; nothing is decided by it")]
        let start = std::time::Instant::now();
        match entries {
            // The shortest way to the disk.
            [entry] => self.db.write_entry(unix_ms, entry)?,
            entries => self.db.write_as_one(unix_ms, entries)?,
        }
        Ok(start.elapsed())
    }
}

impl Journal {
    /// Opens or makes the file, checks its settings, and replays the open sales.
    ///
    /// # Errors
    /// See [`Error`]; nothing is overwritten.
    pub fn open(path: &Path) -> Result<(Self, Opened), Error> {
        Self::open_for(path, Purpose::Payments)
    }

    /// [`Self::open`], of a journal for this purpose.
    ///
    /// # Errors
    /// [`Error::OfAnotherPurpose`], and as [`Self::open`].
    pub fn open_for(path: &Path, purpose: Purpose) -> Result<(Self, Opened), Error> {
        let path = lock::real(path)?;
        let (db, opened) = Db::open_for(&path, purpose)?;
        for SetAside { number, till, reference, cause } in &opened.set_aside {
            tracing::error!(
                sale = number.get(), %till, %reference, %cause,
                "an open sale was written by a later program and cannot be read: it is not settled until that program is installed again"
            );
        }
        let journal = Self { db, path, house: housekeeping::Housekeeping::default(), reader: Arc::default() };
        Ok((journal, opened))
    }

    /// Whether the file can be written: something is, as it stands there already, and the sync waited for; and whether
    /// it is in place.
    ///
    /// # Errors
    /// When it cannot, or is not.
    pub fn try_to_write(&mut self) -> Result<(), Error> {
        self.db.try_to_write()?;
        self.is_in_place()
    }

    /// The identities of this journal: its own first, then those of the journals that it has taken over.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn identities(&self) -> Result<Vec<String>, Error> {
        purpose::identities(&self.db.connection)
    }

    /// Room on the journal's disk, in bytes; `None` when that cannot be asked.
    #[must_use]
    pub fn free_bytes(&self) -> Option<u64> {
        let facts = rustix::fs::statvfs(self.path.parent()?).ok()?;
        Some(facts.f_bavail.saturating_mul(facts.f_frsize))
    }

    /// The sale of one till's reference.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn find(&self, till: &str, reference: &Reference) -> Result<Option<Transaction>, Error> {
        self.db.find(till, reference)
    }

    /// The transaction of this number.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn number(&self, number: SaleNumber) -> Result<Option<Transaction>, Error> {
        self.db.at(number)
    }

    /// The reference of a till's latest transaction.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn latest(&self, till: &str) -> Result<Option<Reference>, Error> {
        self.db.latest(till)
    }

    /// The till and the reference of the transaction of this number.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn key(&self, number: SaleNumber) -> Result<Option<(String, Reference)>, Error> {
        self.db.key(number)
    }

    /// The number of the transaction whose own payment at the gateway has this id. A reversal that was made by itself
    /// is nobody's own payment. Whatever the index says, the transaction's steps name the id.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of_payment(&self, id: &PaymentId) -> Result<Option<SaleNumber>, Error> {
        self.db.of_payment(id)
    }

    /// The number of the transaction that was reversed by itself under this id.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of_reversal(&self, id: &PaymentId) -> Result<Option<SaleNumber>, Error> {
        self.db.of_reversal(id)
    }

    /// What refers to an earlier payment by this id because the journal did not know it, oldest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn referring_to(&self, id: &PaymentId) -> Result<Vec<Transaction>, Error> {
        self.db.referring_to(id)
    }

    /// Whether a transaction of this journal sent a request under this reference at the gateway
    /// (`merchantTransactionId`).
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn knows(&self, merchant_transaction_id: &str) -> Result<bool, Error> {
        self.db.knows(merchant_transaction_id)
    }

    /// The ids of the terminals that may have sent, since a time in milliseconds since 1970, what this journal does not
    /// know: it holds transactions of theirs.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn terminals_since(&self, unix_ms: i64) -> Result<BTreeSet<String>, Error> {
        self.db.terminals_since(unix_ms)
    }

    /// Writes into the book that it has begun, with the gateway's time, unless it has a transaction or says so already.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(&mut self, gateway_unix_ms: i64, unix_ms: i64) -> Result<(), Error> {
        self.db.begin(gateway_unix_ms, unix_ms)
    }

    /// What time it was at the gateway when this journal began, where that was written.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn began(&self) -> Result<Option<i64>, Error> {
        self.db.began()
    }

    /// Keeps from when on it is being looked whether this journal is an old copy, for the next start; `None`: the look
    /// was answered.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn look_from(&self, unix_ms: Option<i64>) -> Result<(), Error> {
        self.db.look_from(unix_ms)
    }

    /// Writes into the book that this journal was found to be an old copy: the gateway held references that it did not
    /// know.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn mark_old_copy(&mut self, found: &OldCopyFound, unix_ms: i64) -> Result<(), Error> {
        self.db.mark_old_copy(found, unix_ms)
    }

    /// Writes into the book which reader is connected: the first one, or another one than before.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn mark_reader(&mut self, reader: &KnownReader, unix_ms: i64) -> Result<(), Error> {
        self.db.mark_reader(reader, unix_ms)
    }

    /// The latest change of the reader; `None` when the book knows none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn latest_reader(&self) -> Result<Option<ReaderChange>, Error> {
        reader::latest(&self.db.connection)
    }

    /// What refers to the transaction of this number: captures, refunds, reversals, oldest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn later(&self, number: SaleNumber) -> Result<Vec<Transaction>, Error> {
        self.db.later(number)
    }

    /// The sales that are not settled, replayed from the disk.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn unsettled(&mut self) -> Result<Vec<Transaction>, Error> {
        self.db.unsettled()
    }

    /// The sales with a number above `since`, oldest first; read on a thread of its own, one list at a time: who asks
    /// meanwhile waits.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn list(
        &self,
        till: Option<String>,
        since: SaleNumber,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Transaction>, Error>> + Send + use<> {
        self.read_beside(move |db| db.list(till.as_deref(), since, limit))
    }

    /// The sales with a number between these two, newest first, or those of them whose reference has `reference` in
    /// it; read as a list is.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn list_newest(
        &self,
        till: Option<String>,
        between: (SaleNumber, SaleNumber),
        reference: Option<String>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Transaction>, Error>> + Send + use<> {
        self.read_beside(move |db| db.list_newest(till.as_deref(), between, reference.as_deref(), limit))
    }

    /// The closes with a number below this, the newest first; read as a list is.
    ///
    /// # Errors
    /// When they cannot be read.
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
            // The list itself holds the turn: it goes on when nobody waits for it any more.
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

    /// From now on the transactions of this many days are kept, counted as `retention.rs` says; `None` keeps all.
    pub fn keep_days(&mut self, days: Option<u32>) {
        self.db.keep_days(days);
    }
}
