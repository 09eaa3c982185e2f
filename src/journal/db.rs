//! The SQLite file behind the journal: its tables, its settings, and reading sales back. Blocking; knows no thread.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};

use crate::sale::{Record, Sale};

use super::Error;

/// The format this program writes; earlier ones are brought up to it by adding, never by rewriting.
pub(super) const FORMAT: i64 = 2;
/// Steps after which the WAL is copied into the file: some ten sales. A step writes one to six pages.
const TIDY_AFTER: u32 = 40;
/// Size of the WAL file, in bytes, that is made at the start: [`TIDY_AFTER`] steps of six pages. A commit that overwrites a
/// file costs half of one that makes it longer (measured: one sync of the file's length less).
const WAL_BYTES: u64 = 1 << 20;
/// Steps of one sale that have room in `step.id`; a reversal that was tried every five minutes takes nine years for them.
pub(super) const STEPS_OF_SALE: i64 = 1 << 20;
/// Sales among whose records the latest time is looked for at the start.
const RECENT_SALES: i64 = 100;
/// How long a commit waits for another program that writes to the file, which none should.
pub(super) const BUSY: Duration = Duration::from_secs(1);

/// The open file.
#[derive(Debug)]
pub struct Db {
    connection: Connection,
    /// Steps written since the WAL was copied.
    writes: u32,
    /// Sales that ended and are not marked as settled yet: that is done with the next sale's beginning.
    ended: Vec<i64>,
    /// Held as long as the file is open for writing: one agent per journal.
    _lock: Option<File>,
}

/// What the journal said when it was opened.
#[derive(Debug)]
pub struct Opened {
    /// The sales that are not settled.
    pub unsettled: Vec<Sale>,
    /// The highest number given to a sale.
    pub last_number: u64,
    /// Wall clock of the latest record, milliseconds since 1970: no later clock can be right if it is earlier.
    pub last_unix_ms: i64,
}

impl Db {
    /// Opens or makes the file and asserts its settings.
    ///
    /// # Errors
    /// See [`Error`]; an existing file is not changed then.
    pub fn open(path: &Path) -> Result<(Self, Opened), Error> {
        let name = path.display().to_string();
        let cannot_open = |cause: &dyn std::fmt::Display| Error::Open { path: name.clone(), cause: cause.to_string() };
        let lock = lock(path, &name)?;
        let connection = Connection::open(path).map_err(|error| cannot_open(&error))?;
        connection.busy_timeout(BUSY).map_err(|error| cannot_open(&error))?;
        let setup = |sql: &str| connection.execute_batch(sql).map_err(|error| cannot_open(&error));
        let version: i64 =
            connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(|error| cannot_open(&error))?;
        if version > FORMAT {
            return Err(Error::Format { path: name, found: version, known: FORMAT });
        }
        setup(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=OFF; PRAGMA wal_autocheckpoint=0;",
        )?;
        // A journal is small: a few hundred pages of cache are plenty, and the board's memory is not ours alone.
        setup("PRAGMA cache_size=-512; PRAGMA temp_store=MEMORY;")?;
        assert_setting(&connection, &name, "journal_mode", "wal")?;
        assert_setting(&connection, &name, "synchronous", "2")?;
        if version < 1 {
            setup(
                "BEGIN;
                 CREATE TABLE sale(
                     number INTEGER PRIMARY KEY,
                     till TEXT NOT NULL,
                     reference TEXT NOT NULL,
                     settled INTEGER NOT NULL DEFAULT 0,
                     UNIQUE(till, reference));
                 CREATE INDEX sale_unsettled ON sale(number) WHERE settled = 0;
                 CREATE TABLE step(
                     id INTEGER PRIMARY KEY,
                     sale INTEGER NOT NULL,
                     unix_ms INTEGER NOT NULL,
                     records TEXT NOT NULL);
                 PRAGMA user_version=1;
                 COMMIT;",
            )?;
        }
        if version < 2 {
            setup(
                "BEGIN;
                 ALTER TABLE sale ADD COLUMN earlier INTEGER;
                 CREATE INDEX sale_earlier ON sale(earlier) WHERE earlier IS NOT NULL;
                 PRAGMA user_version=2;
                 COMMIT;",
            )?;
        }
        if std::fs::metadata(format!("{name}-wal")).map_or(0, |wal| wal.len()) < WAL_BYTES {
            setup(&format!(
                "DROP TABLE IF EXISTS room; CREATE TABLE room(filler BLOB); INSERT INTO room VALUES (zeroblob({WAL_BYTES})); DROP TABLE room;"
            ))?;
        }
        let mut db = Self { connection, writes: 0, ended: Vec::new(), _lock: Some(lock) };
        db.checkpoint()?;
        let last_number = db.number("SELECT coalesce(max(number), 0) FROM sale")?;
        // The latest sales have the latest records, give or take a reversal; reading all of them would make a start slow.
        let recent = last_number.saturating_sub(RECENT_SALES).saturating_mul(STEPS_OF_SALE);
        let last_unix_ms = db.number(&format!("SELECT coalesce(max(unix_ms), 0) FROM step WHERE id >= {recent}"))?;
        let unsettled = db.unsettled()?;
        Ok((db, Opened { unsettled, last_number: last_number.unsigned_abs(), last_unix_ms }))
    }

    /// A second connection, for reading beside the one that writes.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let connection = Connection::open(path).map_err(failed)?;
        connection.busy_timeout(BUSY).map_err(failed)?;
        Ok(Self::reading(connection))
    }

    /// Over a connection that nothing is written through.
    pub(super) fn reading(connection: Connection) -> Self {
        Self { connection, writes: 0, ended: Vec::new(), _lock: None }
    }

    /// Writes what step number `place` of a sale recorded; when it returns, that is on the disk.
    ///
    /// # Errors
    /// When it could not be written: then none of it is.
    pub fn write(&mut self, sale: u64, place: u32, unix_ms: i64, records: &[Record]) -> Result<(), Error> {
        let sale = i64::try_from(sale).map_err(failed)?;
        let id = sale.checked_mul(STEPS_OF_SALE).and_then(|id| id.checked_add(i64::from(place)));
        let id =
            id.filter(|_| i64::from(place) < STEPS_OF_SALE).ok_or_else(|| failed("the sale has too many steps"))?;
        let text = serde_json::to_string(records).map_err(failed)?;
        let step = params![id, sale, unix_ms, text];
        if let Some(Record::Started { order }) = records.first() {
            let transaction = self.connection.transaction().map_err(failed)?;
            let earlier = order.kind.of().and_then(|of| of.number).and_then(|number| i64::try_from(number).ok());
            put(
                &transaction,
                "INSERT INTO sale(number, till, reference, earlier) VALUES (?1, ?2, ?3, ?4)",
                params![sale, order.till, order.reference, earlier],
            )?;
            put(&transaction, INSERT_STEP, step)?;
            for ended in &self.ended {
                put(&transaction, "UPDATE sale SET settled = 1 WHERE number = ?1", params![ended])?;
            }
            transaction.commit().map_err(failed)?;
            self.ended.clear();
        } else {
            // One statement is one transaction: the shortest way to the disk.
            put(&self.connection, INSERT_STEP, step)?;
        }
        if records.iter().any(|record| matches!(record, Record::Ended { .. })) {
            self.ended.push(sale);
        }
        self.writes += 1;
        Ok(())
    }

    /// Whether enough was written since the WAL was copied; asking begins to count anew.
    pub fn wants_tidying(&mut self) -> bool {
        let wants = self.writes >= TIDY_AFTER;
        if wants {
            self.writes = 0;
        }
        wants
    }

    /// Copies the WAL into the file, as far as no reader holds it. The WAL keeps its size and is written from its beginning
    /// again.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn checkpoint(&self) -> Result<(), Error> {
        // A connection that has read nothing yet does not know that there is a WAL.
        self.number("SELECT count(*) FROM sale WHERE number < 0")?;
        self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).map_err(failed)
    }

    /// The sale of one till's reference.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn find(&self, till: &str, reference: &str) -> Result<Option<Sale>, Error> {
        let number: Option<i64> = self
            .connection
            .prepare_cached("SELECT number FROM sale WHERE till = ?1 AND reference = ?2")
            .and_then(|mut select| select.query_row([till, reference], |row| row.get(0)).optional())
            .map_err(failed)?;
        number.map(|number| self.replay(number)).transpose()
    }

    /// The sales with a number above `since`, oldest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn list(&self, till: Option<&str>, since: u64, limit: u32) -> Result<Vec<Sale>, Error> {
        let since = i64::try_from(since).unwrap_or(i64::MAX);
        let numbers = self.numbers(
            "SELECT number FROM sale WHERE number > ?1 AND (?2 IS NULL OR till = ?2) ORDER BY number LIMIT ?3",
            params![since, till, limit],
        )?;
        numbers.into_iter().map(|number| self.replay(number)).collect()
    }

    /// The till's reference of the transaction of this number.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn reference(&self, number: u64) -> Result<Option<String>, Error> {
        let number = i64::try_from(number).map_err(failed)?;
        self.connection
            .prepare_cached("SELECT reference FROM sale WHERE number = ?1")
            .and_then(|mut select| select.query_row([number], |row| row.get(0)).optional())
            .map_err(failed)
    }

    /// What refers to the transaction of this number: captures, refunds, reversals, oldest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn later(&self, number: u64) -> Result<Vec<Sale>, Error> {
        let number = i64::try_from(number).map_err(failed)?;
        let numbers = self.numbers("SELECT number FROM sale WHERE earlier = ?1 ORDER BY number", params![number])?;
        numbers.into_iter().map(|number| self.replay(number)).collect()
    }

    /// The sales that are not settled, oldest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn unsettled(&mut self) -> Result<Vec<Sale>, Error> {
        let numbers = self.numbers("SELECT number FROM sale WHERE settled = 0 ORDER BY number", params![])?;
        let mut open = Vec::new();
        self.ended.clear();
        for number in numbers {
            let sale = self.replay(number)?;
            if sale.is_settled() {
                self.ended.push(number);
            } else {
                open.push(sale);
            }
        }
        Ok(open)
    }

    pub(super) fn replay(&self, number: i64) -> Result<Sale, Error> {
        let mut select = self
            .connection
            .prepare_cached("SELECT id, records FROM step WHERE id >= ?1 AND id < ?2 ORDER BY id")
            .map_err(failed)?;
        let first = number.saturating_mul(STEPS_OF_SALE);
        let mut rows = select.query([first, first.saturating_add(STEPS_OF_SALE)]).map_err(failed)?;
        let (mut steps, mut last) = (Vec::new(), first);
        while let Some(row) = rows.next().map_err(failed)? {
            let id: i64 = row.get(0).map_err(failed)?;
            let text: String = row.get(1).map_err(|error| unreadable(id, &error))?;
            steps.push(serde_json::from_str(&text).map_err(|error| unreadable(id, &error))?);
            last = id;
        }
        Sale::replay(&steps).ok_or_else(|| unreadable(last, &"the sale has no beginning"))
    }

    fn numbers(&self, sql: &str, params: impl rusqlite::Params) -> Result<Vec<i64>, Error> {
        let mut select = self.connection.prepare_cached(sql).map_err(failed)?;
        let rows = select.query_map(params, |row| row.get(0)).map_err(failed)?;
        rows.collect::<Result<_, _>>().map_err(failed)
    }

    fn number(&self, sql: &str) -> Result<i64, Error> {
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(failed)
    }
}

const INSERT_STEP: &str = "INSERT INTO step(id, sale, unix_ms, records) VALUES (?1, ?2, ?3, ?4)";

fn put(connection: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<(), Error> {
    let put = connection.prepare_cached(sql).and_then(|mut statement| statement.execute(values));
    put.map(|_| ()).map_err(failed)
}

/// One agent per journal: two would give the same numbers to different sales.
fn lock(path: &Path, name: &str) -> Result<File, Error> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path.with_extension("lock"))
        .map_err(|error| Error::Open { path: name.to_owned(), cause: error.to_string() })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(Error::InUse { path: name.to_owned() }),
        Err(std::fs::TryLockError::Error(error)) => {
            Err(Error::Open { path: name.to_owned(), cause: error.to_string() })
        }
    }
}

fn assert_setting(connection: &Connection, path: &str, setting: &'static str, wanted: &str) -> Result<(), Error> {
    let found: rusqlite::types::Value =
        connection.query_row(&format!("PRAGMA {setting}"), [], |row| row.get(0)).map_err(failed)?;
    let found = match found {
        rusqlite::types::Value::Integer(number) => number.to_string(),
        rusqlite::types::Value::Text(text) => text,
        other => format!("{other:?}"),
    };
    if found == wanted { Ok(()) } else { Err(Error::Unsafe { path: path.to_owned(), setting, found }) }
}

pub(super) fn failed(error: impl std::fmt::Display) -> Error {
    Error::Failed { cause: error.to_string() }
}

pub(super) fn unreadable(id: i64, cause: &dyn std::fmt::Display) -> Error {
    Error::Unreadable { id, cause: cause.to_string() }
}
