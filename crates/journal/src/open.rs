//! Opens the journal file. Only one agent may open it, a file that cannot be trusted is not changed, and tables are
//! migrated by additions only.
//!
//! | number | location | meaning |
//! |---|---|---|
//! | oldest reader | `PRAGMA user_version` | the oldest format whose programs may read and write this file |
//! | format | `about.format` | the newest format to which a program has migrated this file |
//!
//! Programs up to format 2 know only `user_version`, and refuse a number above their own. That number therefore means
//! the oldest reader. It stays 2 as long as only columns, tables and indices are added that an earlier version can
//! ignore. A system that is rolled back to an earlier version therefore continues to sell with the same journal. Steps
//! that an earlier version writes have no entry and no hash. The next start of a later version enters them. A program
//! that may read a journal of a later format leaves `format` unchanged.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, params};

use super::chain::{Head, Mark, StepRow};
use super::db::{BUSY, failed, unreadable};
use super::lock::{self, Lock};
use super::{Error, Purpose, purpose, wal};

/// The format to which this version migrates a journal. Format 3 added entries and hashes, 4 an index of payments, 5
/// reversals in that index, 6 receipts, and 7 closes of day.
pub(super) const FORMAT: i64 = 7;
/// The oldest format whose programs may read and write a journal that this version has written.
const OLDEST_READER: i64 = 2;
/// The size of the WAL file that is created at the start, in bytes. It holds `TIDY_AFTER` steps (housekeeping.rs) of
/// six pages. A commit that overwrites a file costs half as much as one that extends it (measured). The difference is
/// one sync of the file's length.
const WAL_BYTES: u64 = 1 << 20;
/// The number of steps of earlier versions that are entered in one SQLite transaction.
const ENTERED_AT_ONCE: u32 = 10_000;
pub(super) const MILLISECONDS_OF_A_DAY: i64 = 24 * 3600 * 1000;

/// The tables of a new file.
const TABLES: &str = "
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
        records TEXT NOT NULL);";
/// Format 2: a column and an index for the transactions that refer to an earlier one.
const EARLIER: &str = "
    ALTER TABLE sale ADD COLUMN earlier INTEGER;
    CREATE INDEX sale_earlier ON sale(earlier) WHERE earlier IS NOT NULL;";
/// Format 3: entries, hashes, and the days on which transactions began.
const BOOK: &str = "
    ALTER TABLE step ADD COLUMN entry INTEGER;
    ALTER TABLE step ADD COLUMN chain BLOB;
    CREATE UNIQUE INDEX step_entry ON step(entry);
    CREATE TABLE mark(entry INTEGER PRIMARY KEY, unix_ms INTEGER NOT NULL, what TEXT NOT NULL, chain BLOB NOT NULL);
    CREATE TABLE gap(first INTEGER PRIMARY KEY, last INTEGER NOT NULL, chain BLOB NOT NULL);
    CREATE TABLE day(date INTEGER PRIMARY KEY, first INTEGER NOT NULL);
    CREATE TABLE about(format INTEGER NOT NULL);
    INSERT INTO about VALUES (3);";
/// Format 4: the index of payments, and the last entry up to which it is complete.
const PAYMENTS: &str = "
    CREATE TABLE payment(id TEXT NOT NULL, own INTEGER NOT NULL, sale INTEGER NOT NULL, PRIMARY KEY(id, own, sale)) WITHOUT ROWID;
    ALTER TABLE about ADD COLUMN payments INTEGER NOT NULL DEFAULT 0;
    UPDATE about SET format = 4;";
/// Format 5: the time from which the check for an outdated copy continues. The index is rebuilt from the beginning,
/// because it now includes the ids of reversals.
const LOOK: &str = "
    ALTER TABLE about ADD COLUMN whole_until INTEGER;
    UPDATE about SET payments = 0, format = 5;";
/// Format 6: receipts as they were printed.
const RECEIPTS: &str = "
    CREATE TABLE receipt(sale INTEGER NOT NULL, copy TEXT NOT NULL, page TEXT NOT NULL, PRIMARY KEY(sale, copy)) WITHOUT ROWID;
    UPDATE about SET format = 6;";

/// Format 7: closes of day. `to_entry` is the last entry that a close covers.
const CLOSES: &str = "
    CREATE TABLE close(
        number INTEGER PRIMARY KEY,
        till TEXT NOT NULL,
        reference TEXT,
        to_entry INTEGER NOT NULL,
        content TEXT NOT NULL,
        UNIQUE(till, reference));
    UPDATE about SET format = 7;";

/// Opens the file at its real path, or creates it. The settings are then checked, and every step has an entry.
pub(super) fn writable(path: &Path, wanted: Purpose) -> Result<(Connection, Lock), Error> {
    let name = path.display().to_string();
    let by_name = lock::Name::take(path)?;
    look_at(path)?;
    if !path.try_exists().map_err(|error| cannot_open(&name, &error))? {
        make(path, &name, wanted)?;
    }
    // The lock is taken before the connection is opened, so that it is released after the connection is closed.
    let lock = by_name.with_journal(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(|error| refused(&name, &error))?;
    lock.is_of(path)?;
    plan_once(&connection).map_err(|error| refused(&name, &error))?;
    // Until the file is known to be sound, closing the connection must not copy the WAL into the file.
    leave_the_wal(&connection, true).map_err(|error| refused(&name, &error))?;
    connection.busy_timeout(BUSY).map_err(|error| refused(&name, &error))?;
    if connection.is_readonly("main").map_err(|error| refused(&name, &error))? {
        return Err(cannot_open(&name, &"it is read-only"));
    }
    let version = oldest_reader(&connection, &name)?;
    sound(&connection).map_err(|error| refused(&name, &error))?;
    wanted.must_be(purpose::found(&connection)?, &name)?;
    settings(&connection, &name)?;
    migrate(&mut connection, version, &name)?;
    enter_later(&mut connection)?;
    purpose::enter(&connection, wanted)?;
    Ok((connection, lock))
}

/// Completes the opening, once all data that the agent needs could be read. It extends the WAL to its full size. From
/// then on, closing the connection leaves a single file.
pub(super) fn trust(connection: &Connection, path: &Path) -> Result<(), Error> {
    let trusted = make_room(connection, path).and_then(|()| leave_the_wal(connection, false));
    trusted.map_err(|error| refused(&path.display().to_string(), &error))
}

/// Makes a statement keep its query plan for all bound values. SQLite as built here (STAT4) would otherwise plan a
/// statement again for each value (SQLite, `SQLITE_DBCONFIG_ENABLE_QPSG`). That would cost time between reading the
/// card and sending the request.
pub(super) fn plan_once(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

fn leave_the_wal(connection: &Connection, leave: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leave).map(drop)
}

/// Refuses, before SQLite opens it, a file that SQLite would treat as an empty database or would overwrite.
///
/// # Errors
/// Returns [`Error::Damaged`] with the cause.
pub(super) fn look_at(path: &Path) -> Result<(), Error> {
    let name = path.display().to_string();
    let damaged = |cause: &str| Err(Error::Damaged { path: name.clone(), cause: cause.to_owned() });
    match fs::metadata(path) {
        Ok(facts) if facts.is_file() && facts.len() == 0 => return damaged("it is empty, 0 bytes long"),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return if has_a_wal_alone(path) { damaged("it is missing, but its -wal file exists") } else { Ok(()) };
        }
        Err(error) => return Err(cannot_open(&name, &error)),
    }
    match wal::fault(&beside(path, "-wal")).map_err(|error| cannot_open(&name, &error))? {
        Some(fault) => damaged(fault),
        None => Ok(()),
    }
}

/// Returns whether a journal is missing while its `-wal` file with the latest commits exists.
#[must_use]
pub fn has_a_wal_alone(path: &Path) -> bool {
    let is_missing = matches!(fs::metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound);
    is_missing && fs::metadata(beside(path, "-wal")).is_ok_and(|wal| wal.len() > 0)
}

/// Returns the oldest format whose programs may read this file, if this program may read it.
pub(super) fn oldest_reader(connection: &Connection, name: &str) -> Result<i64, Error> {
    let found = connection.query_row("PRAGMA user_version", [], |row| row.get(0));
    match found.map_err(|error| refused(name, &error))? {
        // No journal has the number 0, because every new journal is completed under another name first.
        0 => Err(Error::Damaged { path: name.to_owned(), cause: "it is not a journal of pos-agent".to_owned() }),
        found if found > FORMAT => Err(Error::Format { path: name.to_owned(), found, known: FORMAT }),
        found => Ok(found),
    }
}

/// Returns whether a journal that is open for reading has entries and hashes. A journal written by an earlier version
/// has none until this version opens it for writing.
pub(super) fn has_chain(connection: &Connection) -> Result<bool, Error> {
    let found = "SELECT count(*) FROM pragma_table_info('step') WHERE name = 'chain'";
    connection.query_row(found, [], |row| row.get::<_, i64>(0)).map(|found| found == 1).map_err(failed)
}

/// Reads the beginning of each table before anything is written.
fn sound(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("SELECT count(*) FROM (SELECT 1 FROM sale LIMIT 1)", [], |_| Ok(()))?;
    connection.query_row("SELECT coalesce(max(id), 0) FROM step", [], |_| Ok(()))?;
    connection.query_row("SELECT count(*) FROM sale WHERE settled = 0", [], |_| Ok(()))
}

fn settings(connection: &Connection, name: &str) -> Result<(), Error> {
    let setup = |sql: &str| connection.execute_batch(sql).map_err(|error| refused(name, &error));
    setup("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=OFF; PRAGMA wal_autocheckpoint=0;")?;
    // A journal is small, so a cache of a few hundred pages is enough. Other programs also need the board's memory.
    setup("PRAGMA cache_size=-512; PRAGMA temp_store=MEMORY;")?;
    assert_setting(connection, name, "journal_mode", "wal")?;
    assert_setting(connection, name, "synchronous", "2")
}

/// Creates a new journal. It is completed under another name first, so an incomplete journal never has the final name.
fn make(path: &Path, name: &str, purpose: Purpose) -> Result<(), Error> {
    let new = beside(path, ".new");
    for left in [new.clone(), beside(&new, "-journal")] {
        match fs::remove_file(&left) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(cannot_open(name, &error)),
            _ => {}
        }
    }
    let connection = Connection::open(&new).map_err(|error| refused(name, &error))?;
    let sql = format!(
        "PRAGMA synchronous=FULL; BEGIN; {TABLES} {EARLIER} {BOOK} {PAYMENTS} {LOOK} {RECEIPTS} {CLOSES} PRAGMA user_version={OLDEST_READER}; COMMIT;"
    );
    connection.execute_batch(&sql).map_err(|error| refused(name, &error))?;
    purpose::enter(&connection, purpose)?;
    connection.close().map_err(|(_, error)| refused(name, &error))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let named = fs::rename(&new, path).and_then(|()| File::open(folder)?.sync_all());
    named.map_err(|error| cannot_open(name, &error))
}

/// Migrates the tables of an earlier version by additions, so that the earlier version can still use them.
fn migrate(connection: &mut Connection, version: i64, name: &str) -> Result<(), Error> {
    let refused = |error: rusqlite::Error| refused(name, &error);
    let has = |table: &str, column: &str| {
        let sql = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2";
        connection.query_row(sql, [table, column], |row| row.get::<_, i64>(0)).map(|found| found > 0).map_err(refused)
    };
    let (has_book, has_payments) = (has("about", "format")?, has("payment", "id")?);
    let (has_look, has_receipts) = (has("about", "whole_until")?, has("receipt", "page")?);
    if has("close", "content")? {
        return Ok(());
    }
    // This check runs once per migration. Every row is read or rewritten afterwards, which must not happen in a damaged
    // file.
    let check: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(refused)?;
    if check != "ok" {
        return Err(Error::Damaged { path: name.to_owned(), cause: check });
    }
    let transaction = connection.transaction().map_err(refused)?;
    if version < 2 {
        transaction.execute_batch(&format!("{EARLIER} PRAGMA user_version=2;")).map_err(refused)?;
    }
    if !has_book {
        transaction.execute_batch(BOOK).map_err(refused)?;
        let days = "INSERT INTO day SELECT unix_ms / ?1, min(sale) FROM step WHERE id & 0xFFFFF = 0 GROUP BY 1";
        transaction.execute(days, [MILLISECONDS_OF_A_DAY]).map_err(refused)?;
    }
    // The new index is empty. It is filled after all open transactions could be read.
    if !has_payments {
        transaction.execute_batch(PAYMENTS).map_err(refused)?;
    }
    if !has_look {
        transaction.execute_batch(LOOK).map_err(refused)?;
    }
    if !has_receipts {
        transaction.execute_batch(RECEIPTS).map_err(refused)?;
    }
    transaction.execute_batch(CLOSES).map_err(refused)?;
    transaction.commit().map_err(refused)
}

/// Enters the steps that a version without entries wrote, in the order of the transactions, and writes a mark about
/// this.
fn enter_later(connection: &mut Connection) -> Result<(), Error> {
    let mut head = Head::read(connection)?;
    let first = head.entry + 1;
    loop {
        let transaction = connection.transaction().map_err(failed)?;
        let (mut entered, mut last_unix_ms) = (Vec::new(), 0);
        {
            let sql = "SELECT id, sale, unix_ms, records FROM step WHERE entry IS NULL ORDER BY id LIMIT ?1";
            let mut select = transaction.prepare_cached(sql).map_err(failed)?;
            let mut rows = select.query([ENTERED_AT_ONCE]).map_err(failed)?;
            while let Some(row) = rows.next().map_err(failed)? {
                let id: i64 = row.get(0).map_err(failed)?;
                let get = |at| row.get::<_, i64>(at).map_err(|error| unreadable(id, &error));
                let (sale, unix_ms) = (get(1)?, get(2)?);
                let records = row.get_ref(3).map_err(failed)?.as_str().map_err(|error| unreadable(id, &error))?;
                head = head.then_step(StepRow { id, sale, unix_ms, records });
                last_unix_ms = unix_ms.max(last_unix_ms);
                entered.push((id, head));
            }
        }
        if entered.is_empty() {
            break;
        }
        for (id, head) in &entered {
            let sql = "UPDATE step SET entry = ?2, chain = ?3 WHERE id = ?1";
            let mut update = transaction.prepare_cached(sql).map_err(failed)?;
            update.execute(params![id, head.entry, head.hash]).map_err(failed)?;
        }
        let mark = Mark::EnteredLater { steps: entered.len() as u64 };
        head = mark.write(&transaction, head, last_unix_ms)?;
        transaction.commit().map_err(failed)?;
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).map_err(failed)?;
    }
    if head.entry >= first {
        let entries = head.entry - first;
        tracing::warn!(
            entries,
            "steps that an earlier program wrote without a hash were entered in the journal's chain"
        );
    }
    Ok(())
}

/// Extends the WAL file to its full size.
fn make_room(connection: &Connection, path: &Path) -> rusqlite::Result<()> {
    if fs::metadata(beside(path, "-wal")).map_or(0, |wal| wal.len()) >= WAL_BYTES {
        return Ok(());
    }
    connection.execute_batch(&format!(
        "DROP TABLE IF EXISTS room; CREATE TABLE room(filler BLOB); INSERT INTO room VALUES (zeroblob({WAL_BYTES})); DROP TABLE room;"
    ))
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

/// Returns the path of a file next to the journal.
pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    PathBuf::from(name)
}

pub(super) fn cannot_open(name: &str, cause: &dyn std::fmt::Display) -> Error {
    Error::Open { path: name.to_owned(), cause: cause.to_string() }
}

/// Converts SQLite's error for a file, and distinguishes damage from all other errors.
pub(super) fn refused(name: &str, error: &rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Error::Damaged { path: name.to_owned(), cause: error.to_string() }
        }
        _ => cannot_open(name, error),
    }
}
