//! What the database keeps, and the one transaction that stores what has arrived.
//!
//! Every message may arrive twice, late, or after the database was replaced by an older backup. An entry is stored once
//! by terminal, journal and number. The cursor moves in the same transaction, and the terminals hear it after the
//! commit.

use std::collections::BTreeSet;

use pos_fleet_terms::{Batch, Id, Info, Metrics, State};
use pos_till_api::JournalEntry;
use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio_postgres::{Client, Transaction};

/// The changes of the database's shape, in their order. One that was published never changes.
const MIGRATIONS: &[&str] = &[include_str!("store/0001.sql")];
/// The longest name of a person that is stored, in characters.
const LONGEST_NAME: usize = 100;
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

/// One row of `entry` for each index.
#[derive(Default)]
struct Columns {
    terminal: Vec<String>,
    journal: Vec<String>,
    number: Vec<i64>,
    first: Vec<i64>,
    digest: Vec<Vec<u8>>,
    kind: Vec<Option<String>>,
    at: Vec<Option<OffsetDateTime>>,
    body: Vec<Option<Value>>,
}

impl Columns {
    fn push(&mut self, terminal: &Id, journal: &str, entry: JournalEntry) {
        let kind = entry.is().map(clean);
        let at = entry.content.get("at").and_then(Value::as_str);
        self.at.push(at.and_then(|at| OffsetDateTime::parse(at, &Rfc3339).ok()));
        self.first.push(entry.first().unwrap_or(entry.entry));
        self.terminal.push(terminal.to_string());
        self.journal.push(journal.to_owned());
        self.number.push(entry.entry);
        // The batch was checked when it was read, so these are 32 bytes.
        self.digest.push(hex::decode(&entry.hash).unwrap_or_default());
        self.kind.push(kind);
        self.body.push((!entry.content.is_empty()).then(|| Value::Object(without_nul(entry.content))));
    }
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
    pub async fn store(&mut self, round: Round) -> Result<Stored, StoreError> {
        let change = self.client.transaction().await?;
        let mut stored = Stored::default();
        let begins = round.begins.into_iter().map(|(terminal, journal)| (terminal.to_string(), clean(&journal)));
        let mut journals: BTreeSet<_> = begins.collect();
        let mut columns = Columns::default();
        for (terminal, batch) in round.batches {
            journals.insert((terminal.to_string(), batch.journal.clone()));
            for entry in batch.entries {
                columns.push(&terminal, &batch.journal, entry);
            }
        }
        if !journals.is_empty() {
            lock(&change, &journals).await?;
            stored.entries = insert(&change, &columns).await?;
            // A comparison takes longer than everything else. Without a repeated entry there is nothing to compare.
            if stored.entries < columns.number.len() as u64 {
                stored.conflicts = conflicts(&change, &columns).await?;
            }
            stored.positions = advance(&change, &journals).await?;
        }
        for (terminal, state) in round.states {
            stored.conflicts.extend(show(&change, &terminal, &state).await?);
        }
        for (terminal, info) in round.infos {
            put(&change, &terminal, "info = excluded.info", "info", serde_json::to_value(info)).await?;
        }
        for (terminal, metrics) in round.metrics {
            let set = "metrics = excluded.metrics, metrics_at = now()";
            put(&change, &terminal, set, "metrics", serde_json::to_value(metrics)).await?;
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

fn position(row: &tokio_postgres::Row) -> Position {
    Position { terminal: row.get(0), journal: row.get(1), number: row.get(2), gap: row.get(3) }
}

/// Locks the cursors of these journals, in one order, so that two consumers do not wait for each other.
async fn lock(change: &Transaction<'_>, journals: &BTreeSet<(String, String)>) -> Result<(), StoreError> {
    let (terminals, names): (Vec<_>, Vec<_>) = journals.iter().cloned().unzip();
    let insert = "insert into terminal_cursor (terminal, journal) select * from unnest($1::text[], $2::text[])
        on conflict (terminal, journal) do nothing";
    change.execute(insert, &[&terminals, &names]).await?;
    let select = "select 1 from terminal_cursor c join unnest($1::text[], $2::text[]) k(terminal, journal)
        using (terminal, journal) order by c.terminal, c.journal for update of c";
    change.execute(select, &[&terminals, &names]).await?;
    Ok(())
}

/// Stores the entries that are new. Returns their number.
async fn insert(change: &Transaction<'_>, columns: &Columns) -> Result<u64, StoreError> {
    let Columns { terminal, journal, number, first, digest, kind, at, body } = columns;
    let insert = "insert into entry (terminal, journal, number, first, digest, kind, at, body)
        select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bytea[], $6::text[],
            $7::timestamptz[], $8::jsonb[])
        on conflict (terminal, journal, number) do nothing";
    Ok(change.execute(insert, &[terminal, journal, number, first, digest, kind, at, body]).await?)
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
async fn conflicts(change: &Transaction<'_>, columns: &Columns) -> Result<Vec<(String, String, i64)>, StoreError> {
    let Columns { terminal, journal, number, digest, body, .. } = columns;
    let insert = "insert into conflict (terminal, journal, number, digest, body)
        select b.* from unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[], $5::jsonb[])
            b(terminal, journal, number, digest, body)
        join entry e using (terminal, journal, number) where e.digest <> b.digest
        on conflict do nothing returning terminal, journal, number";
    let rows = change.query(insert, &[terminal, journal, number, digest, body]).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect())
}

/// Moves each cursor to the last entry before the first gap, and returns it.
async fn advance(change: &Transaction<'_>, journals: &BTreeSet<(String, String)>) -> Result<Vec<Position>, StoreError> {
    let (terminals, names): (Vec<_>, Vec<_>) = journals.iter().cloned().unzip();
    let update = "update terminal_cursor c set number = f.number, gap = f.gap, moved = now()
        from unnest($1::text[], $2::text[]) k(terminal, journal)
        join terminal_cursor o using (terminal, journal)
        cross join lateral (
            select coalesce(min(before) filter (where first > before + 1), max(number), o.number) as number,
                coalesce(bool_or(first > before + 1), false) as gap
            from (select e.number, e.first, lag(e.number, 1, o.number) over (order by e.number) as before
                from entry e
                where e.terminal = o.terminal and e.journal = o.journal and e.number > o.number) as later
        ) f
        where c.terminal = k.terminal and c.journal = k.journal
        returning c.terminal, c.journal, c.number, c.gap";
    Ok(change.query(update, &[&terminals, &names]).await?.iter().map(position).collect())
}

/// Stores a state. Returns the entry whose hash differs from the stored one, if it does.
async fn show(
    change: &Transaction<'_>,
    terminal: &Id,
    state: &State,
) -> Result<Option<(String, String, i64)>, StoreError> {
    let name = terminal.as_str();
    // The last will says that the terminal is gone. What was known before stays.
    let kept =
        state.online.then(|| serde_json::to_value(state)).transpose().map_err(StoreError::Json)?.map(clean_value);
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
    let value = clean_value(value.map_err(StoreError::Json)?);
    let upsert =
        format!("insert into terminal (terminal, {column}) values ($1, $2) on conflict (terminal) do update set {set}");
    change.execute(&upsert, &[&terminal.as_str(), &value]).await?;
    Ok(())
}

/// PostgreSQL's texts contain no NUL. One in a foreign text must not stop the whole round.
fn clean(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

fn clean_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean(&text)),
        Value::Array(values) => Value::Array(values.into_iter().map(clean_value).collect()),
        Value::Object(fields) => Value::Object(without_nul(fields)),
        other => other,
    }
}

fn without_nul(fields: Map<String, Value>) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (clean(&name), clean_value(value))).collect()
}

/// The reason why the database did not store something.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database refuses, or is gone.
    #[error("the database: {}", with_detail(.0))]
    Database(#[from] tokio_postgres::Error),
    /// A later version has changed the database to this shape.
    #[error("a later version of pos-fleet has changed the database to version {0}: install that version again")]
    Later(i32),
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
            Self::Later(_) => false,
            Self::Json(_) => true,
        }
    }
}

/// The message of the database, without the values of a row.
fn with_detail(error: &tokio_postgres::Error) -> String {
    error
        .as_db_error()
        .map_or_else(|| error.to_string(), |error| format!("{} ({})", error.message(), error.code().code()))
}
