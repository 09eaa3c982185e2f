//! The adoption of another terminal's journal. Its transactions become entries of this terminal's journal, and this
//! terminal resolves its open transactions.
//!
//! The source is a copy of the other journal file with its `-wal`, not an export, because an export omits data that a
//! reversal needs. The source is never changed. SQLite writes when it opens a file, so the agent copies the source next
//! to this journal and opens that copy. It then checks the copy in the same way as the doctor and `verify`, and refuses
//! it if anything is wrong.
//!
//! The adoption is one SQLite transaction in this journal. The steps are written in their original order, followed by a
//! mark with their origin and the head of the other chain. If this journal already has transactions, its highest number
//! is added to each number of the other journal. This changes the key and the first record, because a program reads
//! numbers from both. The gateway references (`merchantTransactionId`) stay as they were sent.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Transaction as SqlTransaction, params};

use super::chain::{Head, Mark, StepRow};
use super::db::{Db, STEPS_OF_SALE, failed, unreadable};
use super::open::{MILLISECONDS_OF_A_DAY, beside, look_at};
use super::verify::verify;
use super::{Error, closes, known, lock, payments, purpose, receipts};
use pos_terms::transaction::{Reference, SaleNumber};

/// The adopted data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopted {
    /// The number of transactions.
    pub transactions: u64,
    /// The till and the reference of each open transaction. The agent resolves these transactions when it starts.
    pub open: Vec<(String, Reference)>,
    /// The number added to the adopted transactions' numbers.
    pub added: u64,
    /// The head of the other journal's chain.
    pub theirs: Head,
    /// The head of this journal's chain afterwards.
    pub head: Head,
    /// True if the other journal had a WAL next to it.
    pub with_wal: bool,
}

/// The copy next to this journal. It is always deleted.
struct Copy(PathBuf);

impl Drop for Copy {
    fn drop(&mut self) {
        // The remains of a copy do no harm, and the next adoption removes them.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Adopts the transactions of `file` into the journal at `path`, which no agent may hold at that time. If `terminal` is
/// known, each open transaction must belong to it. This terminal's access to the gateway cannot look up another
/// terminal's transactions.
///
/// # Errors
/// Returns an [`Error`] and leaves this journal unchanged. The other file is never changed.
pub fn adopt(path: &Path, file: &Path, terminal: Option<&str>, unix_ms: i64) -> Result<Adopted, Error> {
    if lock::are_same(path, file) {
        return Err(refused("this is the terminal's own journal; give a copy of the other board's journal".to_owned()));
    }
    if !file.is_file() {
        return Err(refused(format!(
            "there is no file {}; give a copy of the other board's journal.db",
            file.display()
        )));
    }
    let file = &lock::real(file)?;
    lock::has_one_name(file)?;
    // The lock keeps an agent that starts meanwhile from writing to the file during the copy.
    let still = lock::keep_still(file)?;
    look_at(file)?;
    // `Db::open` takes the lock first, because a running agent must not find entries that it did not write.
    let (mut db, _) = Db::open(path)?;
    let copy = Copy(beside(path, ".adopting"));
    let with_wal = copied(file, &copy.0).map_err(|error| {
        refused(format!("{} cannot be copied ({error}); check the disk's free space", file.display()))
    })?;
    drop(still);
    let (theirs, opened) = Db::open(&copy.0.join("journal.db")).map_err(|error| of_file(error, file))?;
    if let Some(aside) = opened.set_aside.first() {
        let why = format!(
            "the open sale {} of till {} cannot be read by this program ({}); install the version that wrote it first",
            aside.reference, aside.till, aside.cause
        );
        return Err(refused(why));
    }
    for sale in &opened.unsettled {
        let order = sale.order();
        if terminal.is_some_and(|terminal| terminal != order.terminal_id) {
            let why = format!(
                "the open sale {} of till {} belongs to terminal {}, but this terminal is {}; the sale cannot be \
                 resolved here; correct id in [terminal] if this board replaces that terminal",
                order.reference,
                order.till,
                order.terminal_id,
                terminal.unwrap_or_default()
            );
            return Err(refused(why));
        }
    }
    sound(&theirs.connection, file)?;
    let open = opened.unsettled.iter().map(|sale| (sale.order().till.clone(), sale.order().reference.clone()));
    let open = open.collect();
    take_over(&mut db, &theirs.connection, file, 0, unix_ms).map(|(transactions, added, theirs, head)| Adopted {
        transactions,
        open,
        added,
        theirs,
        head,
        with_wal,
    })
}

/// Replaces the path of the copy in an error with the path of the file.
fn of_file(error: Error, file: &Path) -> Error {
    let path = file.display().to_string();
    match error {
        Error::Open { cause, .. } => Error::Open { path, cause },
        Error::Damaged { cause, .. } => Error::Damaged { path, cause },
        Error::Format { found, known, .. } => Error::Format { path, found, known },
        Error::OfAnotherPurpose { found, .. } => refused(format!("{path} cannot be taken over: it is {found}")),
        other => other,
    }
}

/// Copies the file and its WAL. Returns whether there was a WAL.
fn copied(file: &Path, folder: &Path) -> io::Result<bool> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir(folder)?;
    fs::copy(file, folder.join("journal.db"))?;
    match fs::copy(beside(file, "-wal"), folder.join("journal.db-wal")) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Checks that the journal is neither damaged nor altered, because reversals based on its data move money.
pub(super) fn sound(theirs: &Connection, file: &Path) -> Result<(), Error> {
    let check: String =
        theirs.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).unwrap_or_else(|error| error.to_string());
    if check != "ok" {
        return Err(Error::Damaged { path: file.display().to_string(), cause: check });
    }
    if let Some(altered) = verify(theirs)?.altered {
        let which = altered.key.map(|(till, reference)| format!(" (sale {reference} of till {till})"));
        let why = format!(
            "{} was altered: {}{}; pos-agent journal verify shows the position. Nothing was taken over; ask for \
             support",
            file.display(),
            altered.why,
            which.unwrap_or_default()
        );
        return Err(refused(why));
    }
    Ok(())
}

/// Adopts the transactions with a number from `since` on, and all open ones with a lower number.
pub(super) fn take_over(
    db: &mut Db,
    theirs: &Connection,
    file: &Path,
    since: i64,
    unix_ms: i64,
) -> Result<(u64, u64, Head, Head), Error> {
    let their_head = Head::read(theirs)?;
    let before = Head::read(&db.connection)?;
    let transaction = db.connection.transaction().map_err(failed)?;
    let added: i64 =
        transaction.query_row("SELECT coalesce(max(number), 0) FROM sale", [], |row| row.get(0)).map_err(failed)?;
    let transactions = sales(&transaction, theirs, added, since)?;
    if transactions == 0 {
        return Err(refused(format!("{} holds no transaction: there is nothing to take over", file.display())));
    }
    let closed_to = closes::closed_to(theirs)?;
    let (head, closed) = steps(&transaction, theirs, before, (added, since), closed_to)?;
    receipts::take(&transaction, theirs, added, since)?;
    let mark = Mark::Adopted {
        file: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        entries: their_head.entry,
        head: their_head.hex(),
        transactions,
        added: added.unsigned_abs(),
        first: before.entry + 1,
        closed,
        identities: purpose::identities(theirs)?,
    };
    let mut head = mark.write(&transaction, head, unix_ms)?;
    // The agent will ask the gateway what the other terminal did after the copy was made, starting at the latest time
    // in the copy. A time in the future came from a clock that was ahead, and is ignored.
    let sql = "SELECT min(coalesce((SELECT whole_until FROM about), latest), latest)
               FROM (SELECT coalesce(max(unix_ms), 0) AS latest FROM step WHERE unix_ms <= ?1)";
    let over = unix_ms.saturating_add(MILLISECONDS_OF_A_DAY);
    let until: i64 = theirs.query_row(sql, [over], |row| row.get(0)).map_err(failed)?;
    let sql = "UPDATE about SET whole_until = min(coalesce(whole_until, ?1), ?1)";
    transaction.execute(sql, params![until]).map_err(failed)?;
    // References that are missing from the other journal are also missing from this one.
    let (ours, found) = (known::old_copy(&transaction)?, known::old_copy(theirs)?);
    // If one of the two was an outdated copy, later events of the adopted transactions are unknown too.
    let none = known::OldCopyFound::default();
    if found != none || ours != none {
        let last = "SELECT max(number) FROM sale";
        let last: i64 = transaction.query_row(last, [], |row| row.get(0)).map_err(failed)?;
        let of_theirs =
            found.before.get().checked_add(added.unsigned_abs()).filter(|_| found != none).unwrap_or_default();
        let all = if ours == none { 0 } else { last.unsigned_abs() };
        let found = known::OldCopyFound {
            above: ours.above.max(found.above),
            before: ours.before.max(SaleNumber::new(of_theirs.max(all))),
            references: ours.references.into_iter().chain(found.references).collect(),
        };
        head = Mark::OldCopy { found }.write(&transaction, head, unix_ms)?;
    }
    transaction.commit().map_err(failed)?;
    db.checkpoint()?;
    Ok((transactions, added.unsigned_abs(), their_head, head))
}

/// Adopts the keys. If both journals contain the same reference of a till, the adoption is refused, whether it is the
/// same transaction or a different one.
fn sales(transaction: &SqlTransaction<'_>, theirs: &Connection, added: i64, since: i64) -> Result<u64, Error> {
    let sql =
        "SELECT number, till, reference, settled, earlier FROM sale WHERE number >= ?1 OR settled = 0 ORDER BY number";
    let mut select = theirs.prepare(sql).map_err(failed)?;
    let mut rows = select.query([since]).map_err(failed)?;
    let mut count = 0;
    while let Some(row) = rows.next().map_err(failed)? {
        type Key = (i64, String, String, i64, Option<i64>);
        let read =
            || -> rusqlite::Result<Key> { Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)) };
        let (number, till, reference, settled, earlier) = read().map_err(failed)?;
        let known = "SELECT number FROM sale WHERE till = ?1 AND reference = ?2";
        let known: Option<i64> =
            transaction.query_row(known, [&till, &reference], |row| row.get(0)).optional().map_err(failed)?;
        if let Some(known) = known {
            return Err(known_already(transaction, theirs, (known, number), &till, &reference));
        }
        let raised = raised(number, added)?;
        let earlier = earlier.map(|earlier| self::raised(earlier, added)).transpose()?;
        let put = "INSERT INTO sale(number, till, reference, settled, earlier) VALUES (?1, ?2, ?3, ?4, ?5)";
        let mut put = transaction.prepare_cached(put).map_err(failed)?;
        put.execute(params![raised, till, reference, settled, earlier]).map_err(failed)?;
        count += 1;
    }
    Ok(count)
}

/// Returns the error for a reference that is in both journals.
fn known_already(ours: &Connection, theirs: &Connection, numbers: (i64, i64), till: &str, reference: &str) -> Error {
    let sent = |connection: &Connection, number: i64| -> Option<String> {
        let first = "SELECT records FROM step WHERE id = ?1";
        let text: String = connection.query_row(first, [number * STEPS_OF_SALE], |row| row.get(0)).ok()?;
        let records: serde_json::Value = serde_json::from_str(&text).ok()?;
        records.pointer("/0/order/merchantTransactionId").and_then(|id| id.as_str().map(str::to_owned))
    };
    let same = sent(ours, numbers.0).is_some_and(|ours| Some(ours) == sent(theirs, numbers.1));
    refused(if same {
        format!(
            "this journal was already taken over: sale {reference} of till {till} is here as number {}. Nothing was \
             changed",
            numbers.0
        )
    } else {
        format!(
            "both journals have a sale {reference} of till {till}, but the two sales differ; the till cannot tell them \
             apart. Nothing was taken over. Keep the other board running until its open sales are resolved, or ask for \
             support"
        )
    })
}

/// Adopts the steps, in the order in which they were written. `closed_to` is the last entry in the other journal that
/// its closes had counted. Returns the new head, and the corresponding entry in this journal.
fn steps(
    transaction: &SqlTransaction<'_>,
    theirs: &Connection,
    head: Head,
    (added, since): (i64, i64),
    closed_to: Option<i64>,
) -> Result<(Head, Option<i64>), Error> {
    let sql = "SELECT step.id, unix_ms, records, entry FROM sale
               JOIN step ON step.id >= number * ?2 AND step.id < (number + 1) * ?2
               WHERE number >= ?1 OR settled = 0 ORDER BY entry";
    let mut select = theirs.prepare(sql).map_err(failed)?;
    let mut rows = select.query([since, STEPS_OF_SALE]).map_err(failed)?;
    let (mut head, mut closed) = (head, None);
    while let Some(row) = rows.next().map_err(failed)? {
        let id: i64 = row.get(0).map_err(failed)?;
        let unix_ms: i64 = row.get(1).map_err(|error| unreadable(id, &error))?;
        let text = row.get_ref(2).map_err(failed)?.as_str().map_err(|error| unreadable(id, &error))?;
        let (sale, place) = (raised(id / STEPS_OF_SALE, added)?, id % STEPS_OF_SALE);
        let text = if added > 0 && place == 0 { renumbered(id, text, added)? } else { text.to_owned() };
        let id = sale * STEPS_OF_SALE + place;
        head = head.then_step(StepRow { id, sale, unix_ms, records: &text });
        let put = "INSERT INTO step(id, sale, unix_ms, records, entry, chain) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let mut put = transaction.prepare_cached(put).map_err(failed)?;
        put.execute(params![id, sale, unix_ms, text, head.entry, head.hash]).map_err(failed)?;
        payments::add_text(transaction, sale, &text)?;
        let entry: i64 = row.get(3).map_err(|error| unreadable(id, &error))?;
        if closed_to.is_some_and(|closed_to| entry <= closed_to) {
            closed = Some(head.entry);
        }
    }
    Ok((head, closed))
}

/// Returns the first step's records with raised numbers. All other data is unchanged, including data that this version
/// does not know.
fn renumbered(id: i64, text: &str, added: i64) -> Result<String, Error> {
    let mut records: serde_json::Value = serde_json::from_str(text).map_err(|error| unreadable(id, &error))?;
    for pointer in ["/0/order/number", "/0/order/kind/of/number"] {
        if let Some(number) = records.pointer_mut(pointer) {
            let old = number.as_i64().ok_or_else(|| unreadable(id, &"its number is not valid"))?;
            *number = raised(old, added)?.into();
        }
    }
    serde_json::to_string(&records).map_err(failed)
}

fn raised(number: i64, added: i64) -> Result<i64, Error> {
    let raised = number.checked_add(added).filter(|raised| raised.checked_mul(STEPS_OF_SALE).is_some());
    raised.ok_or_else(|| refused("the numbers of both journals together are too large; ask for support".to_owned()))
}

fn refused(why: String) -> Error {
    Error::NotAdopted { why }
}
