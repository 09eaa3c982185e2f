//! The SQLite file behind the journal: its tables, its settings, and reading sales back. Blocking; knows no thread.

use std::fs::File;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

use crate::sale::{Record, Sale};

use super::{Entry, Error};

/// The format this program writes; earlier ones are brought up to it by adding, never by rewriting.
const FORMAT: i64 = 1;
/// WAL pages after which it is copied into the file: 4 MiB, some 500 sales. Done after a commit has been answered.
const CHECKPOINT_PAGES: i64 = 1000;

/// The open file.
#[derive(Debug)]
pub struct Db {
    connection: Connection,
    writes: i64,
    /// Held as long as the file is open: one agent per journal.
    _lock: File,
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
        let setup = |sql: &str| connection.execute_batch(sql).map_err(|error| cannot_open(&error));
        let version: i64 =
            connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(|error| cannot_open(&error))?;
        if version > FORMAT {
            return Err(Error::Format { path: name, found: version, known: FORMAT });
        }
        setup(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA wal_autocheckpoint=0;",
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
                 CREATE TABLE record(
                     id INTEGER PRIMARY KEY,
                     sale INTEGER NOT NULL REFERENCES sale(number),
                     unix_ms INTEGER NOT NULL,
                     body TEXT NOT NULL);
                 CREATE INDEX record_of_sale ON record(sale);
                 PRAGMA user_version=1;
                 COMMIT;",
            )?;
        }
        let db = Self { connection, writes: 0, _lock: lock };
        let opened = Opened {
            unsettled: db.unsettled()?,
            last_number: db.number("SELECT coalesce(max(number), 0) FROM sale")?.unsigned_abs(),
            last_unix_ms: db.number("SELECT coalesce(max(unix_ms), 0) FROM record")?,
        };
        Ok((db, opened))
    }

    /// Writes records in one transaction; when it returns they are on the disk.
    ///
    /// # Errors
    /// When they could not be written: then none of them is.
    pub fn write(&mut self, entry: &Entry) -> Result<(), Error> {
        let sale = i64::try_from(entry.sale).map_err(failed)?;
        let transaction = self.connection.transaction().map_err(failed)?;
        for record in &entry.records {
            if let Record::Started { order } = record {
                transaction
                    .prepare_cached("INSERT INTO sale(number, till, reference) VALUES (?1, ?2, ?3)")
                    .and_then(|mut insert| insert.execute(params![sale, order.till, order.reference]))
                    .map_err(failed)?;
            }
            let body = serde_json::to_string(record).map_err(failed)?;
            transaction
                .prepare_cached("INSERT INTO record(sale, unix_ms, body) VALUES (?1, ?2, ?3)")
                .and_then(|mut insert| insert.execute(params![sale, entry.unix_ms, body]))
                .map_err(failed)?;
            if let Record::Ended { .. } = record {
                transaction
                    .prepare_cached("UPDATE sale SET settled = 1 WHERE number = ?1")
                    .and_then(|mut update| update.execute([sale]))
                    .map_err(failed)?;
            }
        }
        transaction.commit().map_err(failed)?;
        self.writes += 1;
        Ok(())
    }

    /// Copies the WAL into the file now and then, outside of any sale's way.
    pub fn tidy(&mut self) {
        // At least two pages a write; a checkpoint that fails is tried again after as many.
        if self.writes * 2 >= CHECKPOINT_PAGES {
            self.writes = 0;
            if let Err(error) = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)") {
                tracing::warn!(%error, "the journal's WAL could not be copied into the file");
            }
        }
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

    /// The sales that are not settled, oldest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn unsettled(&self) -> Result<Vec<Sale>, Error> {
        let numbers = self.numbers("SELECT number FROM sale WHERE settled = 0 ORDER BY number", params![])?;
        numbers.into_iter().map(|number| self.replay(number)).collect()
    }

    fn replay(&self, number: i64) -> Result<Sale, Error> {
        let mut select = self
            .connection
            .prepare_cached("SELECT id, body FROM record WHERE sale = ?1 ORDER BY id")
            .map_err(failed)?;
        let mut rows = select.query([number]).map_err(failed)?;
        let (mut records, mut last) = (Vec::new(), 0);
        while let Some(row) = rows.next().map_err(failed)? {
            let id: i64 = row.get(0).map_err(failed)?;
            let body: String = row.get(1).map_err(|error| unreadable(id, &error))?;
            records.push(serde_json::from_str(&body).map_err(|error| unreadable(id, &error))?);
            last = id;
        }
        Sale::replay(&records).ok_or_else(|| unreadable(last, &"the sale has no beginning"))
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

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Failed { cause: error.to_string() }
}

fn unreadable(id: i64, cause: &dyn std::fmt::Display) -> Error {
    Error::Unreadable { id, cause: cause.to_string() }
}
