//! What the database keeps, and the one transaction that stores what has arrived.
//!
//! Every message may arrive twice, late, or after the database was replaced by an older backup. An entry is stored once
//! by terminal, journal and number. The cursor moves in the same transaction, and the terminals hear it after the
//! commit.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;

use pos_fleet_terms::{Batch, Id, Info, Metrics, State};
use pos_till_api::JournalEntry;
use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Transaction};

use crate::database::without_values;

/// The changes of the database's shape, in their order. One that was published never changes.
const MIGRATIONS: &[&str] =
    &[include_str!("store/0001.sql"), include_str!("store/0002.sql"), include_str!("store/0003.sql")];
/// The longest name of a person that is stored, in characters.
const LONGEST_NAME: usize = 100;
/// The entries by which one round moves a cursor. A terminal that fills no gap must not make the database read all that
/// it has sent since, again and again.
const FARTHEST: i64 = 10_000;
/// The lock of a migration, so that two programs do not make it at once.
const MIGRATION_LOCK: i64 = 0x706f_735f_666c_6565;

/// The database.
#[derive(Debug)]
pub struct Store {
    client: Client,
}

/// What has arrived, in the order of its arrival.
#[derive(Debug, Default)]
pub struct Round {
    /// Batches of entries.
    pub batches: Vec<(Id, Batch)>,
    /// Journals of which the database may have nothing: terminal and journal. Their terminals wait for a cursor.
    pub begins: Vec<(Id, String)>,
    /// States, also those of last wills.
    pub states: Vec<(Id, State)>,
    /// What seldom changes.
    pub infos: Vec<(Id, Info)>,
    /// Numbers.
    pub metrics: Vec<(Id, Metrics)>,
}

/// A cursor of a terminal's journal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The terminal.
    pub terminal: String,
    /// The journal.
    pub journal: String,
    /// The last entry up to which every one is stored.
    pub number: i64,
    /// True if an entry after it is missing.
    pub gap: bool,
}

/// What a round has changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// The cursors of the journals in the round.
    pub positions: Vec<Position>,
    /// The number of new entries.
    pub entries: u64,
    /// The entries with two histories: terminal, journal, number.
    pub conflicts: Vec<(String, String, i64)>,
}

/// A row of `entry`.
struct Row {
    terminal: String,
    journal: String,
    number: i64,
    first: i64,
    digest: Vec<u8>,
    kind: Option<String>,
    at: Option<OffsetDateTime>,
    body: Option<Value>,
}

impl Row {
    fn new(terminal: &Id, journal: &str, mut entry: JournalEntry) -> Self {
        clean_fields(&mut entry.content);
        let at = entry.content.get("at").and_then(Value::as_str);
        Self {
            terminal: terminal.to_string(),
            journal: journal.to_owned(),
            number: entry.entry,
            first: entry.first().unwrap_or(entry.entry),
            // The batch was checked when it was read, so these are 32 bytes.
            digest: hex::decode(&entry.hash).unwrap_or_default(),
            kind: entry.is().map(str::to_owned),
            at: at.and_then(|at| OffsetDateTime::parse(at, &Rfc3339).ok()),
            body: (!entry.content.is_empty()).then_some(Value::Object(entry.content)),
        }
    }
}

/// The journals without a gap: terminal and journal.
type WholeJournals = BTreeMap<(String, String), End>;

/// The end of a journal without a gap.
struct End {
    /// The last stored entry.
    number: i64,
    /// False if a row of this round leaves a gap.
    is_whole: bool,
}

impl Store {
    /// Takes over a connection, and brings the database to this version's shape.
    ///
    /// # Errors
    /// Fails if the database refuses, or if a later version has changed it.
    pub async fn open(client: Client) -> Result<Self, StoreError> {
        let mut store = Self { client };
        store.migrate().await?;
        Ok(store)
    }

    async fn migrate(&mut self) -> Result<(), StoreError> {
        let change = self.client.transaction().await?;
        change.execute("select pg_advisory_xact_lock($1)", &[&MIGRATION_LOCK]).await?;
        change.batch_execute("create table if not exists shape (version int primary key)").await?;
        let row = change.query_one("select coalesce(max(version), 0) from shape", &[]).await?;
        let version: i32 = row.get(0);
        let have = usize::try_from(version).unwrap_or_default();
        if have > MIGRATIONS.len() {
            return Err(StoreError::Later(version));
        }
        for (at, migration) in MIGRATIONS.iter().enumerate().skip(have) {
            change.batch_execute(migration).await?;
            let version = i32::try_from(at + 1).unwrap_or(i32::MAX);
            change.execute("insert into shape values ($1)", &[&version]).await?;
        }
        change.commit().await?;
        Ok(())
    }

    /// Stores a round in one transaction. Nothing of it is stored if the transaction fails.
    ///
    /// # Errors
    /// Fails if the database does not commit.
    pub async fn store(&mut self, mut round: Round) -> Result<Stored, StoreError> {
        let begins = std::mem::take(&mut round.begins).into_iter();
        let mut journals: BTreeSet<_> =
            begins.map(|(terminal, journal)| (terminal.to_string(), clean(&journal))).collect();
        let mut rows = Vec::new();
        for (terminal, batch) in std::mem::take(&mut round.batches) {
            journals.insert((terminal.to_string(), batch.journal.clone()));
            rows.extend(batch.entries.into_iter().map(|entry| Row::new(&terminal, &batch.journal, entry)));
        }
        match self.attempt(&journals, &rows, &round, true).await {
            // An entry after the cursor is stored, although the cursor says that there is none.
            Err(StoreError::Database(error)) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                self.attempt(&journals, &rows, &round, false).await
            }
            stored => stored,
        }
    }

    /// Stores a round in one transaction. `trusts` means that entries after a cursor without a gap are new.
    async fn attempt(
        &mut self,
        journals: &BTreeSet<(String, String)>,
        rows: &[Row],
        round: &Round,
        trusts: bool,
    ) -> Result<Stored, StoreError> {
        let change = self.client.transaction().await?;
        let mut stored = Stored::default();
        if !journals.is_empty() {
            let mut whole = lock(&change, journals).await?;
            if !trusts {
                whole.clear();
            }
            let (new, others) = parted(rows, &mut whole);
            stored.entries = copy(&change, &new).await? + insert(&change, &others).await?;
            // Without a repeated entry there is nothing to compare.
            if stored.entries < rows.len() as u64 {
                stored.conflicts = conflicts(&change, &others).await?;
            }
            whole.retain(|_, end| end.is_whole);
            stored.positions = set(&change, &whole).await?;
            let others = journals.iter().filter(|journal| !whole.contains_key(*journal));
            stored.positions.extend(advance(&change, others).await?);
        }
        for (terminal, state) in &round.states {
            stored.conflicts.extend(show(&change, terminal, state).await?);
        }
        for (terminal, info) in &round.infos {
            put(&change, terminal, "info = excluded.info", "info", serde_json::to_value(info)).await?;
        }
        for (terminal, metrics) in &round.metrics {
            let set = "metrics = excluded.metrics, metrics_at = now()";
            put(&change, terminal, set, "metrics", serde_json::to_value(metrics)).await?;
        }
        change.commit().await?;
        Ok(stored)
    }

    /// Returns the cursors of all journals, or of those with a gap, in the order of their last change.
    ///
    /// # Errors
    /// Fails if the database does not answer.
    pub async fn positions(&self, only_gaps: bool) -> Result<Vec<Position>, StoreError> {
        let select = "select terminal, journal, number, gap from terminal_cursor where gap or not $1
            order by moved";
        Ok(self.client.query(select, &[&only_gaps]).await?.iter().map(position).collect())
    }
}

/// Checks that the database has this version's shape, for a program that must not change it.
///
/// # Errors
/// Fails if the database has another shape, or does not answer.
pub async fn check_shape(client: &Client) -> Result<(), StoreError> {
    let row = client.query_one("select coalesce(max(version), 0) from shape", &[]).await?;
    let version: i32 = row.get(0);
    match usize::try_from(version).unwrap_or_default() {
        have if have > MIGRATIONS.len() => Err(StoreError::Later(version)),
        have if have < MIGRATIONS.len() => Err(StoreError::Earlier(version)),
        _ => Ok(()),
    }
}

fn position(row: &tokio_postgres::Row) -> Position {
    Position { terminal: row.get(0), journal: row.get(1), number: row.get(2), gap: row.get(3) }
}

/// Locks the cursors of these journals, in one order, so that two consumers do not wait for each other. Returns those
/// without a gap.
async fn lock(change: &Transaction<'_>, journals: &BTreeSet<(String, String)>) -> Result<WholeJournals, StoreError> {
    let (terminals, names): (Vec<_>, Vec<_>) = journals.iter().cloned().unzip();
    let select = "select c.terminal, c.journal, c.number, c.gap from terminal_cursor c
        join unnest($1::text[], $2::text[]) k(terminal, journal)
        using (terminal, journal) order by c.terminal, c.journal for update of c";
    let mut rows = change.query(select, &[&terminals, &names]).await?;
    if rows.len() < journals.len() {
        let insert = "insert into terminal_cursor (terminal, journal) select * from unnest($1::text[], $2::text[])
            on conflict (terminal, journal) do nothing";
        change.execute(insert, &[&terminals, &names]).await?;
        rows = change.query(select, &[&terminals, &names]).await?;
    }
    let whole = rows.iter().map(position).filter(|position| !position.gap);
    Ok(whole
        .map(|Position { terminal, journal, number, .. }| ((terminal, journal), End { number, is_whole: true }))
        .collect())
}

/// Parts the rows that the database cannot have from those that it may have, and moves the ends.
fn parted<'a>(rows: &'a [Row], whole: &mut WholeJournals) -> (Vec<&'a Row>, Vec<&'a Row>) {
    rows.iter().partition(|row| match whole.get_mut(&(row.terminal.clone(), row.journal.clone())) {
        Some(end) if row.number > end.number => {
            end.is_whole &= row.first <= end.number.saturating_add(1);
            end.number = row.number;
            true
        }
        _ => false,
    })
}

/// Sets the cursors of journals that have no gap, and returns them.
async fn set(change: &Transaction<'_>, whole: &WholeJournals) -> Result<Vec<Position>, StoreError> {
    if whole.is_empty() {
        return Ok(Vec::new());
    }
    let (terminals, journals): (Vec<_>, Vec<_>) = whole.keys().cloned().unzip();
    let numbers: Vec<_> = whole.values().map(|end| end.number).collect();
    let update = "update terminal_cursor c set number = k.number, moved = now()
        from unnest($1::text[], $2::text[], $3::bigint[]) k(terminal, journal, number)
        where c.terminal = k.terminal and c.journal = k.journal
        returning c.terminal, c.journal, c.number, c.gap";
    Ok(change.query(update, &[&terminals, &journals, &numbers]).await?.iter().map(position).collect())
}

/// Stores entries that are new. Returns their number.
async fn copy(change: &Transaction<'_>, rows: &[&Row]) -> Result<u64, StoreError> {
    if rows.is_empty() {
        return Ok(0);
    }
    let copy = "copy entry (terminal, journal, number, first, digest, kind, at, body) from stdin binary";
    let types =
        [Type::TEXT, Type::TEXT, Type::INT8, Type::INT8, Type::BYTEA, Type::TEXT, Type::TIMESTAMPTZ, Type::JSONB];
    let mut writer = pin!(BinaryCopyInWriter::new(change.copy_in(copy).await?, &types));
    for Row { terminal, journal, number, first, digest, kind, at, body } in rows {
        writer.as_mut().write(&[terminal, journal, number, first, digest, kind, at, body]).await?;
    }
    Ok(writer.finish().await?)
}

/// Stores those entries that are new. Returns their number.
async fn insert(change: &Transaction<'_>, rows: &[&Row]) -> Result<u64, StoreError> {
    if rows.is_empty() {
        return Ok(0);
    }
    let insert = "insert into entry (terminal, journal, number, first, digest, kind, at, body)
        select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bytea[], $6::text[],
            $7::timestamptz[], $8::jsonb[])
        on conflict (terminal, journal, number) do nothing";
    Ok(change
        .execute(
            insert,
            &[
                &column(rows, |row| &row.terminal),
                &column(rows, |row| &row.journal),
                &column(rows, |row| &row.number),
                &column(rows, |row| &row.first),
                &column(rows, |row| &row.digest),
                &column(rows, |row| &row.kind),
                &column(rows, |row| &row.at),
                &column(rows, |row| &row.body),
            ],
        )
        .await?)
}

/// Returns one column of these rows.
fn column<'a, T>(rows: &[&'a Row], of: impl Fn(&'a Row) -> &'a T) -> Vec<&'a T> {
    rows.iter().map(|row| of(row)).collect()
}

/// Stores that a person has looked at the alarms of a terminal. Returns false if the database has no such terminal.
///
/// # Errors
/// Fails if the database refuses.
pub async fn seen(client: &Client, terminal: &Id, by: &str) -> Result<bool, StoreError> {
    // The alarms have the database's time, so the look has it too.
    let insert = "insert into alarm_seen (terminal, kind, by)
        select $1, kind, $2 from unnest(array['conflict', 'two-identities', 'cloned']) kind
        where exists (select from terminal where terminal = $1)
            or exists (select from terminal_cursor where terminal = $1)";
    let by: String = clean(by).chars().take(LONGEST_NAME).collect();
    Ok(client.execute(insert, &[&terminal.as_str(), &by]).await? > 0)
}

/// Stores each entry whose hash differs from the stored one, and names it.
async fn conflicts(change: &Transaction<'_>, rows: &[&Row]) -> Result<Vec<(String, String, i64)>, StoreError> {
    let insert = "insert into conflict (terminal, journal, number, digest, body)
        select b.* from unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[], $5::jsonb[])
            b(terminal, journal, number, digest, body)
        join entry e using (terminal, journal, number) where e.digest <> b.digest
        on conflict do nothing returning terminal, journal, number";
    let columns: [&(dyn ToSql + Sync); 5] = [
        &column(rows, |row| &row.terminal),
        &column(rows, |row| &row.journal),
        &column(rows, |row| &row.number),
        &column(rows, |row| &row.digest),
        &column(rows, |row| &row.body),
    ];
    let rows = change.query(insert, &columns).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect())
}

/// Moves each cursor to the last entry before the first gap, at most [`FARTHEST`] further, and returns it. Until it has
/// passed all stored entries, it counts as one before a gap.
async fn advance(
    change: &Transaction<'_>,
    journals: impl Iterator<Item = &(String, String)>,
) -> Result<Vec<Position>, StoreError> {
    let (terminals, names): (Vec<_>, Vec<_>) = journals.cloned().unzip();
    if terminals.is_empty() {
        return Ok(Vec::new());
    }
    let update = "update terminal_cursor c set number = f.number, gap = f.gap, moved = now()
        from unnest($1::text[], $2::text[]) k(terminal, journal)
        join terminal_cursor o using (terminal, journal)
        cross join lateral (
            select coalesce(min(before) filter (where first > before + 1), max(number), o.number) as number,
                coalesce(bool_or(first > before + 1), false) or count(*) = $3 as gap
            from (select e.number, e.first, lag(e.number, 1, o.number) over (order by e.number) as before
                from (select number, first from entry
                    where terminal = o.terminal and journal = o.journal and number > o.number
                    order by number limit $3) as e) as later
        ) f
        where c.terminal = k.terminal and c.journal = k.journal
        returning c.terminal, c.journal, c.number, c.gap";
    Ok(change.query(update, &[&terminals, &names, &FARTHEST]).await?.iter().map(position).collect())
}

/// Stores a state. Returns the entry whose hash differs from the stored one, if it does.
async fn show(
    change: &Transaction<'_>,
    terminal: &Id,
    state: &State,
) -> Result<Option<(String, String, i64)>, StoreError> {
    let name = terminal.as_str();
    // The last will says that the terminal is gone. What was known before stays.
    let mut kept = state.online.then(|| serde_json::to_value(state)).transpose().map_err(StoreError::Json)?;
    kept.iter_mut().for_each(clean_value);
    // A last will is no sign of life, and counts only for the start that left it: it may come after the next start.
    let upsert = "insert into terminal as t (terminal, online, state, seen, boot) values
        ($1, $2, $3, case when $2 then now() end, $4)
        on conflict (terminal) do update set
            online = case when excluded.online or t.boot = excluded.boot then excluded.online else t.online end,
            state = coalesce(excluded.state, t.state),
            seen = coalesce(excluded.seen, t.seen),
            boot = case when excluded.online then excluded.boot else t.boot end,
            boot_before = case when excluded.online and t.boot <> excluded.boot then t.boot else t.boot_before end,
            two_identities = case when excluded.online and t.boot <> excluded.boot and t.boot_before = excluded.boot
                then now() else t.two_identities end";
    change.execute(upsert, &[&name, &state.online, &kept, &clean(&state.boot)]).await?;
    let (Some(journal), Ok(digest)) = (&state.journal, hex::decode(&state.hash)) else { return Ok(None) };
    if digest.is_empty() {
        return Ok(None);
    }
    let insert = "insert into conflict (terminal, journal, number, digest)
        select terminal, journal, number, $4 from entry
        where terminal = $1 and journal = $2 and number = $3 and digest <> $4
        on conflict do nothing returning terminal, journal, number";
    let row = change.query_opt(insert, &[&name, &clean(journal), &state.last, &digest]).await?;
    Ok(row.map(|row| (row.get(0), row.get(1), row.get(2))))
}

async fn put(
    change: &Transaction<'_>,
    terminal: &Id,
    set: &str,
    column: &str,
    value: Result<Value, serde_json::Error>,
) -> Result<(), StoreError> {
    let mut value = value.map_err(StoreError::Json)?;
    clean_value(&mut value);
    let upsert =
        format!("insert into terminal (terminal, {column}) values ($1, $2) on conflict (terminal) do update set {set}");
    change.execute(&upsert, &[&terminal.as_str(), &value]).await?;
    Ok(())
}

/// PostgreSQL's texts contain no NUL. One in a foreign text must not stop the whole round.
pub(crate) fn clean(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

pub(crate) fn clean_value(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\0') => *text = clean(text),
        Value::Array(values) => values.iter_mut().for_each(clean_value),
        Value::Object(fields) => clean_fields(fields),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn clean_fields(fields: &mut Map<String, Value>) {
    if fields.keys().any(|name| name.contains('\0')) {
        *fields = std::mem::take(fields).into_iter().map(|(name, value)| (clean(&name), value)).collect();
    }
    fields.values_mut().for_each(clean_value);
}

/// The reason why the database did not store something.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database refuses, or is gone.
    #[error("the database: {}", without_values(.0))]
    Database(#[from] tokio_postgres::Error),
    /// A later version has changed the database to this shape.
    #[error("a later version of pos-fleet has changed the database to version {0}: install that version again")]
    Later(i32),
    /// The database still has an earlier version's shape.
    #[error("the database has the shape of version {0}: start pos-fleet-consume first, which changes it")]
    Earlier(i32),
    /// A value cannot be written.
    #[error("a value cannot be written: {0}")]
    Json(serde_json::Error),
}

impl StoreError {
    /// Returns whether the database refuses the data itself, so that another try would fail too (SQLSTATE classes 22,
    /// 23 and 54).
    #[must_use]
    pub fn is_of_the_data(&self) -> bool {
        match self {
            Self::Database(error) => {
                let code = error.code().map_or("", |code| code.code());
                ["22", "23", "54"].iter().any(|class| code.starts_with(class))
            }
            Self::Later(_) | Self::Earlier(_) => false,
            Self::Json(_) => true,
        }
    }
}
