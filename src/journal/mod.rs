//! The journal: what survives the power. SQLite in WAL mode with `synchronous=FULL`, on a thread of its own.
//!
//! [`Journal::commit`] is the only way to carry out a sale's [`Step`]: it writes the step's records, waits until they are on
//! the disk, and only then gives out the actions. What is kept, and what may not be, is said in `sale::Record`.
//!
//! | table | a row is |
//! |---|---|
//! | `sale` | a sale: its number, the till and reference that are its key, and whether it is settled |
//! | `record` | one record of a sale as JSON, in the order of `id` |
//!
//! `PRAGMA user_version` is the format; an operator can read the file with any SQLite tool while the agent runs.

mod db;

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use tokio::sync::oneshot;

pub use db::{Db, Opened};

use crate::sale::{Action, Record, Sale, Step, Written};

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
    /// Another process holds it.
    #[error("the journal {path} is in use by another pos-agent; stop that one first")]
    InUse {
        /// The file.
        path: String,
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
    #[error("record {id} of the journal cannot be read ({cause}); keep the file and ask for support")]
    Unreadable {
        /// The record.
        id: i64,
        /// What is wrong.
        cause: String,
    },
    /// A read or write failed.
    #[error("the journal failed ({cause}); check the disk's space and health")]
    Failed {
        /// SQLite's words.
        cause: String,
    },
    /// The thread ended.
    #[error("the journal's thread has ended; restart pos-agent")]
    Gone,
}

/// A handle to the journal's thread.
#[derive(Clone, Debug)]
pub struct Journal {
    jobs: mpsc::Sender<Job>,
}

type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// What the thread is asked.
enum Job {
    Write { order: Box<Entry>, reply: Reply<Duration> },
    Find { till: String, reference: String, reply: Reply<Option<Sale>> },
    List { till: Option<String>, since: u64, limit: u32, reply: Reply<Vec<Sale>> },
    Open { reply: Reply<Vec<Sale>> },
}

/// Records to write for one sale.
#[derive(Debug)]
pub struct Entry {
    /// The sale's number.
    pub sale: u64,
    /// Wall clock, milliseconds since 1970.
    pub unix_ms: i64,
    /// The records, in order.
    pub records: Vec<Record>,
}

impl Journal {
    /// Opens or makes the file, checks its settings, replays the open sales, and starts the thread.
    ///
    /// # Errors
    /// See [`Error`]; nothing is overwritten.
    pub fn open(path: &Path) -> Result<(Self, Opened), Error> {
        let (db, opened) = Db::open(path)?;
        let (jobs, inbox) = mpsc::channel();
        std::thread::Builder::new()
            .name("journal".to_owned())
            // SQLite's deepest call needs far less; the default of 2 MiB is address space only.
            .spawn(move || serve(db, &inbox))
            .map_err(|error| Error::Open { path: path.display().to_string(), cause: error.to_string() })?;
        Ok((Self { jobs }, opened))
    }

    /// Writes a step and gives out its actions. With it the time the disk took.
    ///
    /// # Errors
    /// When it cannot be written: then nothing of the step may be done, and the sale stands as before.
    pub async fn commit(&self, sale: &mut Sale, step: Step, unix_ms: i64) -> Result<(Vec<Action>, Duration), Error> {
        let pending = self.begin(sale, step, unix_ms)?;
        pending.finish(sale).await
    }

    /// Starts to write a step; between this and [`Pending::finish`] the caller may prepare, but not do, what follows.
    ///
    /// # Errors
    /// [`Error::Gone`].
    pub fn begin(&self, sale: &Sale, step: Step, unix_ms: i64) -> Result<Pending, Error> {
        if step.records().is_empty() {
            return Ok(Pending { step, done: None });
        }
        let order = Box::new(Entry { sale: sale.order().number, unix_ms, records: step.records().to_vec() });
        let (reply, done) = oneshot::channel();
        self.jobs.send(Job::Write { order, reply }).map_err(|_| Error::Gone)?;
        Ok(Pending { step, done: Some(done) })
    }

    /// The sale of one till's reference.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn find(&self, till: &str, reference: &str) -> Result<Option<Sale>, Error> {
        let (till, reference) = (till.to_owned(), reference.to_owned());
        self.ask(|reply| Job::Find { till, reference, reply }).await
    }

    /// The sales with a number above `since`, oldest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn list(&self, till: Option<String>, since: u64, limit: u32) -> Result<Vec<Sale>, Error> {
        self.ask(|reply| Job::List { till, since, limit, reply }).await
    }

    /// The sales that are not settled, replayed from the disk.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn unsettled(&self) -> Result<Vec<Sale>, Error> {
        self.ask(|reply| Job::Open { reply }).await
    }

    async fn ask<T>(&self, job: impl FnOnce(Reply<T>) -> Job) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(job(reply)).map_err(|_| Error::Gone)?;
        answer.await.map_err(|_| Error::Gone)?
    }
}

/// A step on its way to the disk.
#[derive(Debug)]
#[must_use = "a step must be finished, or its actions are lost"]
pub struct Pending {
    step: Step,
    done: Option<oneshot::Receiver<Result<Duration, Error>>>,
}

impl Pending {
    /// Waits for the sync, moves the sale, and gives out the actions and the time the disk took.
    ///
    /// # Errors
    /// When it could not be written: then nothing of the step may be done, and the sale stands as before.
    pub async fn finish(self, sale: &mut Sale) -> Result<(Vec<Action>, Duration), Error> {
        let took = match self.done {
            Some(done) => done.await.map_err(|_| Error::Gone)??,
            None => Duration::ZERO,
        };
        Ok((self.step.commit(sale, Written::after_sync()), took))
    }
}

/// The thread: one job after the other until the last handle is gone.
fn serve(mut db: Db, inbox: &mpsc::Receiver<Job>) {
    while let Ok(job) = inbox.recv() {
        // A caller that no longer waits has nothing to be told.
        match job {
            Job::Write { order, reply } => {
                #[allow(clippy::disallowed_methods, reason = "measures the disk; nothing is decided by it")]
                let start = std::time::Instant::now();
                let written = db.write(&order).map(|()| start.elapsed());
                let _ = reply.send(written);
                db.tidy();
            }
            Job::Find { till, reference, reply } => drop(reply.send(db.find(&till, &reference))),
            Job::List { till, since, limit, reply } => drop(reply.send(db.list(till.as_deref(), since, limit))),
            Job::Open { reply } => drop(reply.send(db.unsettled())),
        }
    }
}
