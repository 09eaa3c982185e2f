//! The verification of the journal. It checks every entry in order, then every transaction against its key. It reads
//! row by row, and has at most one transaction in memory. The agent may run at the same time.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, Rows};

use pos_core::transaction::{Record, Transaction};

use super::chain::{Gap, GapsHash, Hash, Head, Mark};
use super::db::{STEPS_OF_SALE, failed};
use super::reading::Reading;
use super::{Error, chain, closes, open};

/// The result of the verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The last entry in the file.
    pub head: Option<Head>,
    /// The number of transactions.
    pub transactions: u64,
    /// The number of steps with a correct hash.
    pub steps: u64,
    /// The number of marks with a correct hash.
    pub marks: u64,
    /// The number of marks that are closes of day. The content of each has the correct hash.
    pub closes: u64,
    /// The number of removed entries that the gaps account for.
    pub pruned: u64,
    /// The number of steps that an earlier version wrote without a hash and a later version entered.
    pub entered_later: u64,
    /// The number of steps without an entry. An earlier version wrote them, and the agent enters them at its next
    /// start.
    pub not_entered: u64,
    /// The number of transactions that this version cannot read although their hashes are correct. A later version
    /// wrote them.
    pub unreadable: u64,
    /// The first altered row. Later rows were not checked.
    pub altered: Option<Altered>,
}

/// A row that has changed since it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Altered {
    /// The position in the chain, if it has one.
    pub entry: Option<i64>,
    /// The id of the step, if the row is a step.
    pub step: Option<i64>,
    /// The number of the row's transaction.
    pub number: Option<i64>,
    /// The till and the reference of the row's transaction, as they are in the file.
    pub key: Option<(String, String)>,
    /// The fault.
    pub why: &'static str,
}

/// The altered row, or the error if the file could not be read.
enum Stopped {
    Altered(Altered),
    Failed(Error),
}

impl From<rusqlite::Error> for Stopped {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(failed(error))
    }
}

impl Reading {
    /// Verifies the whole journal.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read. An altered journal is not an error but a [`Verdict`].
    pub fn verify(&mut self) -> Result<Verdict, Error> {
        // All queries see the same moment of the journal.
        let moment = self.connection.transaction().map_err(failed)?;
        verify(&moment)
    }

    /// Returns whether the entry with this number has this hash, which a person kept earlier. Returns false if the
    /// entry was removed and its hash is not known.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn holds(&self, entry: i64, hash: &str) -> Result<bool, Error> {
        if !open::has_chain(&self.connection)? {
            return Ok(false);
        }
        Ok(Head::at(&self.connection, entry)?.is_some_and(|head| head.hex() == hash))
    }
}

pub(super) fn verify(moment: &Connection) -> Result<Verdict, Error> {
    let mut verdict = Verdict::default();
    if !open::has_chain(moment)? {
        verdict.transactions = count(moment, "SELECT count(*) FROM sale")?;
        verdict.not_entered = count(moment, "SELECT count(*) FROM step")?;
        return Ok(verdict);
    }
    verdict.not_entered = count(moment, "SELECT count(*) FROM step WHERE entry IS NULL")?;
    let looked = entries(moment, &mut verdict)
        .and_then(|()| every_close_is_marked(moment, &verdict))
        .and_then(|()| transactions(moment, &mut verdict));
    match looked {
        Ok(()) => {}
        Err(Stopped::Altered(mut altered)) => {
            altered.number = altered.number.or(altered.step.map(|id| id / STEPS_OF_SALE));
            altered.key = altered.number.and_then(|number| key(moment, number));
            verdict.altered = Some(altered);
        }
        Err(Stopped::Failed(error)) => return Err(error),
    }
    Ok(verdict)
}

fn count(connection: &Connection, sql: &str) -> Result<u64, Error> {
    connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs).map_err(failed)
}

fn key(connection: &Connection, number: i64) -> Option<(String, String)> {
    let sql = "SELECT till, reference FROM sale WHERE number = ?1";
    connection.query_row(sql, [number], |row| Ok((row.get(0)?, row.get(1)?))).optional().ok().flatten()
}

const STEPS: &str = "SELECT entry, id, sale, unix_ms, records, chain FROM step WHERE entry IS NOT NULL ORDER BY entry";
const MARKS: &str = "SELECT entry, unix_ms, what, chain FROM mark ORDER BY entry";
const GAPS: &str = "SELECT first, last, chain FROM gap ORDER BY first";

/// A row of `step` that is being checked. A field is `None` if its value has a type that the agent never writes.
struct Step {
    entry: i64,
    id: i64,
    rest: Option<(i64, i64, String, Hash)>,
}

/// A row of `mark` that is being checked.
struct Marked {
    entry: i64,
    rest: Option<(i64, String, Hash)>,
}

/// Checks every entry against the one before it.
fn entries(moment: &Connection, verdict: &mut Verdict) -> Result<(), Stopped> {
    let (mut steps, mut marks, mut gaps) = (moment.prepare(STEPS)?, moment.prepare(MARKS)?, moment.prepare(GAPS)?);
    let (mut steps, mut marks, mut gaps) = (steps.query([])?, marks.query([])?, gaps.query([])?);
    let (mut step, mut mark, mut gap) = (next_step(&mut steps)?, next_mark(&mut marks)?, next_gap(&mut gaps)?);
    let (mut head, mut gaps_hash, mut gaps_marked) = (Head::BEGINNING, GapsHash::new(), None);
    loop {
        verdict.head = Some(head);
        let next = head.entry + 1;
        if let Some(there) = gap.filter(|gap| gap.first <= next) {
            if there.first != next || there.last < next {
                return Err(altered(Some(next), None, "the gaps overlap"));
            }
            head = Head { entry: there.last, hash: there.chain };
            verdict.pruned += there.last.abs_diff(there.first) + 1;
            gaps_hash.add(&there);
            gap = next_gap(&mut gaps)?;
        } else if let Some(row) = step.take_if(|step| step.entry <= next) {
            head = one_step(&row, head)?;
            verdict.steps += 1;
            step = next_step(&mut steps)?;
        } else if let Some(row) = mark.take_if(|mark| mark.entry <= next) {
            let what = one_mark(&row, &mut head)?;
            verdict.marks += 1;
            match what {
                Some(Mark::Pruned { gaps, .. }) => gaps_marked = Some((row.entry, gaps)),
                Some(Mark::EnteredLater { steps }) => verdict.entered_later += steps,
                Some(Mark::Close { number, sha256 }) => match closes::has_hash(moment, number, &sha256)? {
                    Some(true) => verdict.closes += 1,
                    Some(false) => {
                        return Err(altered(Some(row.entry), None, "the content of this close was changed"));
                    }
                    None => return Err(altered(Some(row.entry), None, "the content of this close is missing")),
                },
                // This version cannot interpret a mark from a later version, but the hash of the mark is correct.
                Some(
                    Mark::Adopted { .. }
                    | Mark::Accepted { .. }
                    | Mark::OldCopy { .. }
                    | Mark::Begun { .. }
                    | Mark::Reader { .. }
                    | Mark::ClockSetBack { .. }
                    | Mark::OperatorAdded { .. }
                    | Mark::OperatorRemoved { .. }
                    | Mark::OperatorPinSet { .. }
                    | Mark::OperatorUnlocked { .. }
                    | Mark::FleetCommand { .. }
                    | Mark::FleetSettings { .. }
                    | Mark::FleetKeys { .. },
                )
                | None => {}
            }
            mark = next_mark(&mut marks)?;
        } else if step.is_none() && mark.is_none() && gap.is_none() {
            break;
        } else {
            let why = "one or more entries before this row are missing";
            let (at_step, at_mark) = (step.map(|step| (step.entry, step.id)), mark.map(|mark| mark.entry));
            return Err(match at_step.filter(|(entry, _)| at_mark.is_none_or(|mark| *entry < mark)) {
                Some((entry, id)) => altered(Some(entry), Some(id), why),
                None => altered(at_mark.or(gap.map(|gap| gap.first)), None, why),
            });
        }
    }
    match gaps_marked {
        None if verdict.pruned > 0 => Err(altered(None, None, "entries were removed without a mark")),
        Some((entry, marked)) if marked != gaps_hash.hex() => {
            Err(altered(Some(entry), None, "the gaps differ from those that this mark records"))
        }
        _ => Ok(()),
    }
}

/// Checks that every close has a mark. A close without a mark was not written by the agent.
fn every_close_is_marked(moment: &Connection, verdict: &Verdict) -> Result<(), Stopped> {
    let there = "SELECT count(*) FROM pragma_table_info('close') WHERE name = 'content'";
    if moment.query_row(there, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(());
    }
    let closes: i64 = moment.query_row("SELECT count(*) FROM close", [], |row| row.get(0))?;
    if closes.unsigned_abs() == verdict.closes {
        return Ok(());
    }
    Err(altered(None, None, "a close of day is not in the chain"))
}

fn one_step(row: &Step, head: Head) -> Result<Head, Stopped> {
    let bad = |why| altered(Some(row.entry), Some(row.id), why);
    let (sale, unix_ms, records, hash) = row.rest.as_ref().ok_or_else(|| bad("one of its values has a wrong type"))?;
    let next = head.then_step(chain::StepRow { id: row.id, sale: *sale, unix_ms: *unix_ms, records });
    if row.entry != next.entry {
        return Err(bad("two rows have this position"));
    }
    if *hash != next.hash {
        return Err(bad("it was changed, or does not belong here"));
    }
    if *sale != row.id / STEPS_OF_SALE {
        return Err(bad("it belongs to a different transaction than its id shows"));
    }
    Ok(next)
}

fn one_mark(row: &Marked, head: &mut Head) -> Result<Option<Mark>, Stopped> {
    let bad = |why| altered(Some(row.entry), None, why);
    let (unix_ms, what, hash) = row.rest.as_ref().ok_or_else(|| bad("one of this mark's values has a wrong type"))?;
    *head = head.then_mark(*unix_ms, what);
    if row.entry != head.entry {
        return Err(bad("two rows have this position"));
    }
    if *hash != head.hash {
        return Err(bad("this mark was changed, or does not belong here"));
    }
    Ok(serde_json::from_str(what).ok())
}

fn next_step(rows: &mut Rows<'_>) -> Result<Option<Step>, Stopped> {
    let Some(row) = rows.next()? else { return Ok(None) };
    let rest = || -> rusqlite::Result<_> { Ok((row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?)) };
    Ok(Some(Step { entry: whole(row, 0), id: whole(row, 1), rest: rest().ok() }))
}

fn next_mark(rows: &mut Rows<'_>) -> Result<Option<Marked>, Stopped> {
    let Some(row) = rows.next()? else { return Ok(None) };
    let rest = || -> rusqlite::Result<_> { Ok((row.get(1)?, row.get(2)?, row.get(3)?)) };
    Ok(Some(Marked { entry: whole(row, 0), rest: rest().ok() }))
}

fn next_gap(rows: &mut Rows<'_>) -> Result<Option<Gap>, Stopped> {
    let Some(row) = rows.next()? else { return Ok(None) };
    let gap = || -> rusqlite::Result<_> { Ok(Gap { first: row.get(0)?, last: row.get(1)?, chain: row.get(2)? }) };
    gap().map(Some).map_err(|_| altered(None, None, "a gap has a value of a wrong type"))
}

/// Reads an integer. Any other value is read as `i64::MAX`, which is no position in the chain.
fn whole(row: &Row<'_>, at: usize) -> i64 {
    match row.get_ref(at) {
        Ok(ValueRef::Integer(number)) => number,
        _ => i64::MAX,
    }
}

/// Checks that each transaction's key matches its first record, and that each transaction marked as settled is settled.
/// Also checks that every transaction has steps, and that every step has a transaction.
fn transactions(moment: &Connection, verdict: &mut Verdict) -> Result<(), Stopped> {
    let mut sales = moment.prepare("SELECT number, till, reference, settled, earlier FROM sale ORDER BY number")?;
    let mut steps = moment.prepare("SELECT id, records FROM step ORDER BY id")?;
    let (mut sales, mut steps) = (sales.query([])?, steps.query([])?);
    let mut step = next_records(&mut steps)?;
    while let Some(row) = sales.next()? {
        let number = whole(row, 0);
        let bad =
            |why| Err(Stopped::Altered(Altered { entry: None, step: None, number: Some(number), key: None, why }));
        let mut records: Vec<Option<Vec<Record>>> = Vec::new();
        while let Some((id, text)) = step.take_if(|(id, _)| *id / STEPS_OF_SALE <= number) {
            if id / STEPS_OF_SALE < number {
                return Err(without_transaction(id));
            }
            records.push(serde_json::from_str(&text).ok());
            step = next_records(&mut steps)?;
        }
        if records.is_empty() {
            return bad("it has a key but no steps");
        }
        verdict.transactions += 1;
        let Some(records) = records.into_iter().collect::<Option<Vec<_>>>() else {
            verdict.unreadable += 1;
            continue;
        };
        let Some(sale) = Transaction::replay(&records) else { return bad("its first step is missing") };
        let order = sale.order();
        let key = |at| row.get_ref(at).ok().and_then(|value| value.as_str().ok().map(str::to_owned));
        let earlier = order.operation.of().and_then(|of| of.number).and_then(|number| i64::try_from(number).ok());
        let is_key = i64::try_from(order.number) == Ok(number)
            && key(1).as_ref() == Some(&order.till)
            && key(2).as_deref() == Some(order.reference.as_str())
            && row.get(4) == Ok(earlier);
        if !is_key {
            return bad("its number, till, reference or earlier transaction differs from its first record");
        }
        // The flag `settled` is written with the next transaction, so a settled transaction may lack it. An unsettled
        // transaction never has it.
        if whole(row, 3) != 0 && !sale.is_settled() {
            return bad("it is marked as settled, but its records show that it is open");
        }
    }
    match step {
        Some((id, _)) => Err(without_transaction(id)),
        None => Ok(()),
    }
}

fn next_records(rows: &mut Rows<'_>) -> Result<Option<(i64, String)>, Stopped> {
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some((whole(row, 0), row.get(1).unwrap_or_default())))
}

fn without_transaction(id: i64) -> Stopped {
    altered(None, Some(id), "the transaction of this step no longer has a key")
}

fn altered(entry: Option<i64>, step: Option<i64>, why: &'static str) -> Stopped {
    Stopped::Altered(Altered { entry, step, number: None, key: None, why })
}
