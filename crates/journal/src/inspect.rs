//! The inspection of the journal by a program other than the agent, for `pos-agent doctor`. It only reads, takes no
//! lock, and works while an agent runs.
//!
//! It repairs nothing and makes no decision about money. It replays transactions in the same way as the agent.

use std::path::Path;

use chrono::DateTime;
use rusqlite::{Connection, OpenFlags};

use pos_core::transaction::{Outcome, Reason, Standing, Transaction};

use super::db::{BUSY, Db, failed};
use super::lock::{self, is_held};
use super::open::{FORMAT, look_at, refused};
use super::reader::latest as latest_reader;
use super::set_back::{self, Latest, SetBack};
use super::verify::{Verdict, verify};
use super::{Error, Purpose, ReaderChange, SetAside, purpose};

/// The number of latest transactions in which the inspection looks for approvals, invalid requests and unusual
/// declines.
const LATEST: u32 = 200;
/// The number of lines kept from SQLite's own check.
const CHECK_LINES: u32 = 5;

/// The findings.
#[derive(Debug)]
pub struct Inspection {
    /// `PRAGMA application_id`. If it is not zero, the file belongs to another program.
    pub application_id: i64,
    /// `PRAGMA user_version`. It is zero in a file that no agent has written.
    pub format: i64,
    /// The latest format that this version reads.
    pub known_format: i64,
    /// `PRAGMA journal_mode`. It is `wal` in a journal.
    pub mode: String,
    /// The findings of SQLite's own check; empty if the file is sound.
    pub damage: Vec<String>,
    /// The verdict about the chain, entry by entry; `None` for a damaged file.
    pub book: Option<Verdict>,
    /// The latest change of the reader, if the chain contains one and can be read.
    pub reader: Option<ReaderChange>,
    /// The purpose of the journal, if it can be determined.
    pub purpose: Option<Purpose>,
    /// The identities of the journal; empty if an earlier version wrote it.
    pub identities: Vec<String>,
    /// The transactions, or the error if they cannot be read.
    pub sales: Result<Sales, Error>,
}

/// The transactions of the journal.
#[derive(Debug)]
pub struct Sales {
    /// The number of all transactions.
    pub count: u64,
    /// The references of the transactions without an outcome.
    pub open: Vec<String>,
    /// The references of the transactions that need a person.
    pub quarantined: Vec<String>,
    /// The open transactions that a later version wrote and this version cannot read.
    pub set_aside: Vec<SetAside>,
    /// The latest recorded time that counts.
    pub latest: Latest,
    /// The latest correction of the clock.
    pub set_back: Option<SetBack>,
    /// The latest transaction that the gateway approved.
    pub approved: Option<Transaction>,
    /// The number of recent transactions whose unusual decline was confirmed by a look-up.
    pub doubted_declines: usize,
    /// The reference and the till of the latest transaction that reached the gateway, if the gateway refused it as an
    /// invalid request.
    pub invalid_request: Option<String>,
    /// The latest close of day, if there is one.
    pub closed: Option<LastClose>,
}

/// The latest close of day and its age in days.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastClose {
    /// The number of the close.
    pub number: u64,
    /// The time of the close, local with its offset (RFC 3339).
    pub at: String,
    /// The number of dates after the close on which transactions began.
    pub days_since: u64,
}

/// Inspects the file and changes nothing in it.
///
/// # Errors
/// Returns an error if the file cannot be opened or is not an SQLite file.
pub fn inspect(path: &Path) -> Result<Inspection, Error> {
    let path = &lock::real(path)?;
    lock::has_one_name(path)?;
    let name = path.display().to_string();
    let cannot_open = |error: rusqlite::Error| refused(&name, &error);
    // A WAL that is being written may look damaged. If an agent holds the journal, only SQLite can check it.
    if !is_held(path) {
        look_at(path)?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(cannot_open)?;
    connection.busy_timeout(BUSY).map_err(cannot_open)?;
    let number = |pragma: &str| connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, i64>(0));
    // This first read fails if the file is not an SQLite file.
    let format = number("user_version").map_err(cannot_open)?;
    let application_id = number("application_id").map_err(cannot_open)?;
    let mode = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).map_err(cannot_open)?;
    let damage = check(&connection).unwrap_or_else(|error| vec![error.to_string()]);
    let is_ours = damage.is_empty() && (1..=FORMAT).contains(&format);
    let book = match connection.transaction() {
        Ok(moment) if is_ours => verify(&moment).ok(),
        _ => None,
    };
    let reader = latest_reader(&connection).unwrap_or_default();
    let purpose = purpose::found(&connection).unwrap_or_default();
    let identities = purpose::identities(&connection).unwrap_or_default();
    Ok(Inspection {
        application_id,
        format,
        known_format: FORMAT,
        mode,
        damage,
        book,
        reader,
        purpose,
        identities,
        sales: sales(connection),
    })
}

/// Runs SQLite's check of every page, without a comparison of the indices.
fn check(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut check = connection.prepare(&format!("PRAGMA quick_check({CHECK_LINES})"))?;
    let lines: Vec<String> = check.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

fn sales(connection: Connection) -> Result<Sales, Error> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(failed);
    let count = number("SELECT count(*) FROM sale")?.unsigned_abs();
    let set_back = set_back::all(&connection)?.pop();
    let last = set_back::latest(&connection, set_back.as_ref())?;
    let latest = latest(&connection)?;
    let mut db = Db::reading(connection);
    let (unsettled, set_aside) = db.open_transactions()?;
    let (open, quarantined) = (Vec::new(), Vec::new());
    let mut sales = Sales {
        count,
        open,
        quarantined,
        set_aside,
        latest: last,
        set_back,
        approved: None,
        doubted_declines: 0,
        invalid_request: None,
        closed: None,
    };
    // A journal written by an earlier version has no closes, and no table for them.
    sales.closed = last_close(&db).unwrap_or_default();
    for sale in unsettled {
        let reference = named(&sale);
        if matches!(sale.standing(), Standing::Unconfirmed { quarantined: Some(_), .. }) {
            sales.quarantined.push(reference.clone());
        }
        sales.open.push(reference);
    }
    let mut has_answered = false;
    for number in latest {
        let sale = match db.replay(number) {
            Err(Error::Unreadable { .. }) if db.is_as_written(number)? => continue,
            sale => sale?,
        };
        sales.doubted_declines += usize::from(sale.was_a_doubted_decline());
        let refused = matches!(sale.standing(), Standing::Ended(Outcome::NotSent { why })
            if sale.was_asked() && why.reason == Reason::RequestNotPossible);
        if refused && !has_answered {
            sales.invalid_request = Some(named(&sale));
        }
        has_answered |= refused || sale.host().id.is_some();
        let is_approved = matches!(sale.standing(), Standing::Ended(Outcome::Approved)) && sale.host().id.is_some();
        if is_approved && sales.approved.is_none() {
            sales.approved = Some(sale);
        }
    }
    Ok(sales)
}

fn named(sale: &Transaction) -> String {
    name_of(sale.order().reference.as_str(), &sale.order().till)
}

/// Returns the name of a transaction in [`Sales`].
#[must_use]
pub fn name_of(reference: &str, till: &str) -> String {
    format!("{reference} of till {till}")
}

/// Returns the numbers of the latest transactions, newest first.
fn latest(connection: &Connection) -> Result<Vec<i64>, Error> {
    let mut select = connection.prepare("SELECT number FROM sale ORDER BY number DESC LIMIT ?1").map_err(failed)?;
    let rows = select.query_map([LATEST], |row| row.get(0)).map_err(failed)?;
    rows.collect::<Result<_, _>>().map_err(failed)
}

fn last_close(db: &Db) -> Result<Option<LastClose>, Error> {
    let Some(close) = db.last_close()? else { return Ok(None) };
    let at = close.period.to;
    let days_since = match DateTime::parse_from_rfc3339(&at) {
        Ok(time) => db.days_after(time.timestamp_millis())?,
        Err(_) => 0,
    };
    Ok(Some(LastClose { number: close.number, at, days_since }))
}
