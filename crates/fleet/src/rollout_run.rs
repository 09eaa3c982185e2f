//! Roll-outs in the database. A person starts one, and signs each terminal's document then; the key stays with the
//! person. The desk releases the documents wave by wave ([`advance`]).

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use pos_fleet_terms::{DocumentKind, Envelope, Id, SettingsDocument, read};
use ring::digest::{SHA256, digest};
use serde_json::Value;
use time::OffsetDateTime;
use tokio_postgres::{Client, GenericClient, Row, Transaction};

use crate::ca::date;
use crate::documents::{DocumentError, NewSettings, SETTINGS_CHANNEL, give_settings_within, sign_settings_within};
use crate::rollout::{Payments, ReleasedTerminal, RolloutStanding, RolloutStep, WAVES, step, waves};
use crate::signing::SigningKey;

/// The lock of everything that changes a roll-out.
const LOCK: i64 = 0x706f_735f_726f_6c6c;
/// A terminal repeats its state each 600 s. After this time it is not here.
const SILENT: Duration = Duration::from_secs(900);
/// The author of what the desk does by itself.
const DESK: &str = "desk";

/// A roll-out to start.
#[derive(Clone, Debug)]
pub struct NewRollout {
    /// The organisation.
    pub org: Id,
    /// The settings by their names.
    pub settings: BTreeMap<String, Value>,
    /// The settings that replace a local edit.
    pub over_local: Vec<String>,
    /// The first terminal.
    pub pilot: Id,
    /// The time for which each wave is watched.
    pub soak: Duration,
    /// True if that time must contain a close of day of each terminal.
    pub with_close: bool,
    /// The person.
    pub author: String,
}

/// The reason why a roll-out is not changed.
#[derive(Debug, thiserror::Error)]
pub enum RolloutError {
    /// Another one is running.
    #[error("the roll-out {0} is running; stop it first")]
    Running(i64),
    /// There is none with this number.
    #[error("there is no roll-out {0}")]
    None(i64),
    /// It is not in the state for this.
    #[error("the roll-out {0} is {1}")]
    State(i64, String),
    /// The pilot takes no settings.
    #[error("the pilot {0} takes no settings: the database has no terminal of this name that lets the fleet steer it")]
    Pilot(Id),
    /// A document cannot be signed.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The database.
    #[error("the database: {0}")]
    Database(#[from] tokio_postgres::Error),
}

/// A roll-out, as lists show it.
#[derive(Clone, Debug)]
pub struct ShownRollout {
    /// Its number.
    pub id: i64,
    /// running, stopped or done.
    pub state: String,
    /// What it waits for, or why it has stopped.
    pub reason: String,
    /// The wave that has begun last, -1 for none.
    pub wave: i32,
    /// The settings.
    pub settings: Value,
    /// The time of the start.
    pub started: OffsetDateTime,
    /// The soak in seconds, and whether it must contain a close.
    pub soak: (i64, bool),
    /// The numbers of each wave.
    pub waves: Vec<ShownWave>,
    /// Who did what, the oldest first.
    pub acts: Vec<ShownAct>,
}

/// The numbers of a wave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShownWave {
    /// All terminals.
    pub all: i64,
    /// Those that have got the settings.
    pub released: i64,
    /// Those that keep them.
    pub kept: i64,
    /// Those that went back, or refuse them.
    pub failed: i64,
}

/// An act.
#[derive(Clone, Debug)]
pub struct ShownAct {
    /// The time.
    pub at: OffsetDateTime,
    /// The person, or `desk`.
    pub by: String,
    /// start, wave, stop, go-on, done or back.
    pub act: String,
    /// More about it.
    pub text: String,
}

/// Starts a roll-out to all terminals that take settings: signs a document for each, and lets the desk release them.
/// Returns its number, and the number of its terminals.
///
/// # Errors
/// Fails if another one is running, or if a document cannot be signed. Nothing is stored then.
pub async fn start(
    client: &mut Client,
    key: &SigningKey,
    new: NewRollout,
    now: SystemTime,
) -> Result<(i64, usize), RolloutError> {
    let NewRollout { org, settings, over_local, pilot, soak, with_close, author } = new;
    let change = locked(client).await?;
    if let Some(row) = change.query_opt("select id from rollout where state = 'running'", &[]).await? {
        return Err(RolloutError::Running(row.get(0)));
    }
    // A terminal that has never said a nonce takes no settings.
    let select = "select terminal from terminal where state ->> 'nonce' is not null order by terminal";
    let names = change.query(select, &[]).await?;
    let terminals: Vec<Id> = names.iter().filter_map(|row| row.get::<_, String>(0).parse().ok()).collect();
    if !terminals.contains(&pilot) {
        return Err(RolloutError::Pilot(pilot));
    }
    let shown = Value::Object(settings.clone().into_iter().collect());
    let soak_s = i64::try_from(soak.as_secs()).unwrap_or(i64::MAX);
    let insert = "insert into rollout (settings, over_local, soak_s, with_close, reason, started)
        values ($1, $2, $3, $4, 'waits for the desk', $5) returning id";
    let row = change.query_one(insert, &[&shown, &over_local, &soak_s, &with_close, &date(now)]).await?;
    let id: i64 = row.get(0);
    let salt = digest(&SHA256, shown.to_string().as_bytes());
    let planned = waves(&pilot, &terminals, salt.as_ref());
    let insert = "insert into rollout_document (rollout, terminal, wave, version, envelope, author)
        values ($1, $2, $3, $4, $5, $6)";
    let insert = change.prepare(insert).await?;
    for (terminal, wave) in &planned {
        let settings = NewSettings {
            org: org.clone(),
            terminal: terminal.clone(),
            settings: settings.clone(),
            over_local: over_local.clone(),
            author: author.clone(),
        };
        let (version, envelope) = sign_settings_within(&change, key, settings).await?;
        let wave = i32::try_from(*wave).unwrap_or(i32::MAX);
        change.execute(&insert, &[&id, &terminal.as_str(), &wave, &version, &envelope, &author]).await?;
    }
    let text = format!("{} terminals, pilot {pilot}", planned.len());
    act(&change, id, (&author, "start", &text), now).await?;
    change.commit().await?;
    Ok((id, planned.len()))
}

/// Stops a roll-out: no further terminal gets the settings. With `back`, those that have got them get the settings
/// before, as a new version signed with this key. Returns their number.
///
/// # Errors
/// Fails if there is none with this number, or if a document cannot be signed. Nothing is changed then.
pub async fn stop(
    client: &mut Client,
    id: i64,
    by: &str,
    back: Option<(&Id, &SigningKey)>,
    now: SystemTime,
) -> Result<usize, RolloutError> {
    let change = locked(client).await?;
    let state = state(&change, id).await?;
    // Also a finished one can be taken back.
    if state == "done" && back.is_none() {
        return Err(RolloutError::State(id, state));
    }
    let reason = format!("stopped by {by}");
    change.execute("update rollout set state = 'stopped', reason = $2 where id = $1", &[&id, &reason]).await?;
    act(&change, id, (by, "stop", ""), now).await?;
    let mut given = 0;
    if let Some((org, key)) = back {
        let select = "select d.terminal, (select s.envelope from settings s
                where s.terminal = d.terminal and s.version < d.version order by s.version desc limit 1)
            from rollout_document d
            where d.rollout = $1 and d.released is not null
                and not exists (select from settings s where s.terminal = d.terminal and s.version > d.version)";
        for row in change.query(select, &[&id]).await? {
            let Ok(terminal) = row.get::<_, String>(0).parse::<Id>() else { continue };
            let before = row.get::<_, Option<Vec<u8>>>(1).and_then(|envelope| document(&envelope));
            // Without one, the terminal's own settings count again.
            let (settings, over_local) = before.map(|it| (it.settings, it.over_local)).unwrap_or_default();
            let new = NewSettings { org: org.clone(), terminal, settings, over_local, author: by.to_owned() };
            give_settings_within(&change, key, new).await?;
            given += 1;
        }
        act(&change, id, (by, "back", &format!("{given} terminals get the settings before")), now).await?;
    }
    change.commit().await?;
    Ok(given)
}

fn document(envelope: &[u8]) -> Option<SettingsDocument> {
    let envelope = Envelope::read(envelope).ok().filter(|it| it.kind == DocumentKind::Settings)?;
    read(&envelope.document).ok()
}

/// Lets a stopped roll-out go on. The terminals that have failed until now, and a rise in the present wave, are let
/// pass.
///
/// # Errors
/// Fails if it is not stopped, or if another one is running.
pub async fn go_on(client: &mut Client, id: i64, by: &str, now: SystemTime) -> Result<(), RolloutError> {
    let change = locked(client).await?;
    let state = state(&change, id).await?;
    if state != "stopped" {
        return Err(RolloutError::State(id, state));
    }
    if let Some(row) = change.query_opt("select id from rollout where state = 'running'", &[]).await? {
        return Err(RolloutError::Running(row.get(0)));
    }
    let update = "update rollout set state = 'running', reason = 'waits for the desk', forgiven_wave = wave,
            forgiven = (select count(*) from rollout_document where rollout = $1 and failed is not null)
        where id = $1";
    change.execute(update, &[&id]).await?;
    act(&change, id, (by, "go-on", ""), now).await?;
    change.commit().await?;
    Ok(())
}

async fn locked(client: &mut Client) -> Result<Transaction<'_>, tokio_postgres::Error> {
    let change = client.transaction().await?;
    change.execute("select pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    Ok(change)
}

async fn state(change: &Transaction<'_>, id: i64) -> Result<String, RolloutError> {
    let row = change.query_opt("select state from rollout where id = $1 for update", &[&id]).await?;
    row.map(|row| row.get(0)).ok_or(RolloutError::None(id))
}

async fn act(
    change: &Transaction<'_>,
    id: i64,
    (by, act, text): (&str, &str, &str),
    now: SystemTime,
) -> Result<(), tokio_postgres::Error> {
    let insert = "insert into rollout_act (rollout, at, by, act, text) values ($1, $2, $3, $4, $5)";
    change.execute(insert, &[&id, &date(now), &by, &act, &text]).await?;
    Ok(())
}

/// Does what is to be done now for the running roll-out. Several programs may call it: one of them does it.
///
/// # Errors
/// Fails if the database does. Nothing is half done then.
pub async fn advance(client: &mut Client, now: SystemTime) -> Result<(), tokio_postgres::Error> {
    let select = "select exists (select from rollout where state = 'running')";
    if !client.query_one(select, &[]).await?.get::<_, bool>(0) {
        return Ok(());
    }
    let change = client.transaction().await?;
    if !change.query_one("select pg_try_advisory_xact_lock($1)", &[&LOCK]).await?.get::<_, bool>(0) {
        return Ok(());
    }
    let select = "select id, wave, soak_s, with_close, forgiven, forgiven_wave from rollout where state = 'running'";
    for row in change.query(select, &[]).await? {
        let id: i64 = row.get(0);
        let standing = standing(&row);
        hear(&change, id, now).await?;
        let released = released(&change, id, &standing, now).await?;
        match step(&standing, &released, now) {
            RolloutStep::Wait(why) => {
                let update = "update rollout set reason = $2 where id = $1 and reason <> $2";
                change.execute(update, &[&id, &why]).await?;
            }
            RolloutStep::Begin(wave) => begin(&change, id, wave, now).await?,
            RolloutStep::Stop(why) => {
                tracing::warn!(rollout = id, %why, "the roll-out stops");
                change.execute("update rollout set state = 'stopped', reason = $2 where id = $1", &[&id, &why]).await?;
                act(&change, id, (DESK, "stop", &why), now).await?;
            }
            RolloutStep::Done => {
                tracing::info!(rollout = id, "the roll-out is done");
                change.execute("update rollout set state = 'done', reason = '' where id = $1", &[&id]).await?;
                act(&change, id, (DESK, "done", ""), now).await?;
            }
        }
    }
    change.commit().await
}

fn standing(row: &Row) -> RolloutStanding {
    let wave = |at| u32::try_from(row.get::<_, i32>(at)).ok();
    RolloutStanding {
        wave: wave(1),
        soak: Duration::from_secs(u64::try_from(row.get::<_, i64>(2)).unwrap_or_default()),
        with_close: row.get(3),
        forgiven: usize::try_from(row.get::<_, i32>(4)).unwrap_or_default(),
        forgiven_wave: wave(5),
    }
}

/// Takes over what the terminals have reported about their documents. A first report counts, also if later settings
/// follow.
async fn hear(change: &Transaction<'_>, id: i64, now: SystemTime) -> Result<(), tokio_postgres::Error> {
    // A terminal writes its numbers as texts of at most 16 digits, which always fit.
    let tried = "case when r.report ->> 'tried' ~ '^[0-9]{1,16}$' then (r.report ->> 'tried')::bigint end";
    let update = format!(
        "update rollout_document d set
            kept = case when r.report ->> 'state' = 'kept' then $2::timestamptz end,
            failed = case when r.report ->> 'state' <> 'kept' then $2::timestamptz end,
            failure = left(r.report #>> '{{reason,text}}', 500)
        from reported r
        where d.rollout = $1 and d.released is not null and d.kept is null and d.failed is null
            and r.terminal = d.terminal and {tried} = d.version
            and r.report ->> 'state' in ('kept', 'returned', 'refused')"
    );
    change.execute(&update, &[&id, &date(now)]).await?;
    // A version that was kept may still be returned from, for example after failed starts.
    let update = format!(
        "update rollout_document d set kept = null, failed = $2, failure = left(r.report #>> '{{reason,text}}', 500)
        from reported r
        where d.rollout = $1 and d.kept is not null and r.terminal = d.terminal and {tried} = d.version
            and r.report ->> 'state' = 'returned'"
    );
    change.execute(&update, &[&id, &date(now)]).await?;
    Ok(())
}

/// Reads what is known of the terminals that have got the settings. Payments are counted only where a wave has soaked.
async fn released(
    change: &Transaction<'_>,
    id: i64,
    standing: &RolloutStanding,
    now: SystemTime,
) -> Result<Vec<ReleasedTerminal>, tokio_postgres::Error> {
    let wave = standing.wave.and_then(|wave| i32::try_from(wave).ok()).unwrap_or(-1);
    let select = "select d.wave, d.kept, d.failed is not null,
            coalesce(t.online and t.seen > d.released and t.seen > $2, false),
            exists (select from settings s where s.terminal = d.terminal and s.version > d.version),
            d.kept is not null and exists (select from entry e where e.terminal = d.terminal
                and e.kind = 'mark' and e.body -> 'what' ->> 'is' = 'close' and e.at > d.kept),
            coalesce((select bool_or(not fault ->> 'code' = any(d.faults))
                from jsonb_array_elements(t.state -> 'faults') fault), false),
            d.terminal
        from rollout_document d left join terminal t using (terminal)
        where d.rollout = $1 and d.released is not null";
    let silent = date(now) - SILENT;
    let rows = change.query(select, &[&id, &silent]).await?;
    let mut released: Vec<ReleasedTerminal> = rows
        .iter()
        .map(|row| ReleasedTerminal {
            wave: u32::try_from(row.get::<_, i32>(0)).unwrap_or_default(),
            kept: row.get::<_, Option<OffsetDateTime>>(1).map(SystemTime::from),
            failed: row.get(2),
            is_here: row.get(3),
            is_superseded: row.get(4),
            has_closed: row.get(5),
            has_new_fault: row.get(6),
            payments: Default::default(),
        })
        .collect();
    // Counting reads many entries, so it is done only where the rest says that the next wave may begin.
    if !matches!(step(standing, &released, now), RolloutStep::Begin(_) | RolloutStep::Done) || wave < 0 {
        return Ok(released);
    }
    let count = "select d.terminal,
            count(*) filter (where e.at <= d.released and e.body -> 'facts' ->> 'outcome' like '%approved'),
            count(*) filter (where e.at <= d.released and e.body -> 'facts' ->> 'outcome' in ('declined', 'not-sent')),
            count(*) filter (where e.at > d.kept and e.body -> 'facts' ->> 'outcome' like '%approved'),
            count(*) filter (where e.at > d.kept and e.body -> 'facts' ->> 'outcome' in ('declined', 'not-sent'))
        from rollout_document d join entry e on e.terminal = d.terminal and e.kind = 'step'
            and e.at > d.released - make_interval(secs => $2) and e.body -> 'facts' ->> 'standing' = 'ended'
        where d.rollout = $1 and d.kept is not null group by d.terminal";
    let counts = change.query(count, &[&id, &standing.soak.as_secs_f64()]).await?;
    let of = |row: &Row, at: usize| u64::try_from(row.get::<_, i64>(at)).unwrap_or_default();
    let counts: BTreeMap<String, (Payments, Payments)> = counts
        .iter()
        .map(|row| {
            let before = Payments { approved: of(row, 1), other: of(row, 2) };
            (row.get(0), (before, Payments { approved: of(row, 3), other: of(row, 4) }))
        })
        .collect();
    for (terminal, row) in released.iter_mut().zip(&rows) {
        terminal.payments = counts.get(&row.get::<_, String>(7)).copied().unwrap_or_default();
    }
    Ok(released)
}

/// Begins a wave: its documents become the terminals' settings.
async fn begin(change: &Transaction<'_>, id: i64, wave: u32, now: SystemTime) -> Result<(), tokio_postgres::Error> {
    let number = i32::try_from(wave).unwrap_or(i32::MAX);
    let update = "update rollout_document d set released = $3,
            faults = array(select fault ->> 'code' from terminal t, jsonb_array_elements(t.state -> 'faults') fault
                where t.terminal = d.terminal)
        where rollout = $1 and wave = $2 and released is null returning terminal";
    let terminals = change.query(update, &[&id, &number, &date(now)]).await?;
    let insert = "insert into settings (terminal, version, envelope, author, created)
        select terminal, version, envelope, author, $3 from rollout_document where rollout = $1 and wave = $2
        on conflict do nothing";
    change.execute(insert, &[&id, &number, &date(now)]).await?;
    for row in &terminals {
        change.execute("select pg_notify($1, $2)", &[&SETTINGS_CHANNEL, &row.get::<_, &str>(0)]).await?;
    }
    let reason = format!("wave {wave} has begun");
    change.execute("update rollout set wave = $2, reason = $3 where id = $1", &[&id, &number, &reason]).await?;
    act(change, id, (DESK, "wave", &format!("wave {wave}: {} terminals", terminals.len())), now).await?;
    tracing::info!(rollout = id, wave, terminals = terminals.len(), "a wave of the roll-out begins");
    Ok(())
}

/// Reads the roll-outs, the newest first, or one of them.
///
/// # Errors
/// Fails if the database does not answer.
pub async fn show(client: &impl GenericClient, only: Option<i64>) -> Result<Vec<ShownRollout>, tokio_postgres::Error> {
    let select = "select id, state, reason, wave, settings, started, soak_s, with_close from rollout
        where $1::bigint is null or id = $1 order by id desc limit 50";
    let mut shown: Vec<ShownRollout> = client
        .query(select, &[&only])
        .await?
        .iter()
        .map(|row| ShownRollout {
            id: row.get(0),
            state: row.get(1),
            reason: row.get(2),
            wave: row.get(3),
            settings: row.get(4),
            started: row.get(5),
            soak: (row.get(6), row.get(7)),
            waves: vec![ShownWave::default(); usize::try_from(WAVES).unwrap_or_default()],
            acts: Vec::new(),
        })
        .collect();
    for rollout in &mut shown {
        let select = "select wave, count(*), count(released), count(kept), count(failed) from rollout_document
            where rollout = $1 group by wave";
        for row in client.query(select, &[&rollout.id]).await? {
            let at = usize::try_from(row.get::<_, i32>(0)).unwrap_or(usize::MAX);
            if let Some(wave) = rollout.waves.get_mut(at) {
                *wave = ShownWave { all: row.get(1), released: row.get(2), kept: row.get(3), failed: row.get(4) };
            }
        }
        let select = "select at, by, act, text from rollout_act where rollout = $1 order by at";
        let acts = client.query(select, &[&rollout.id]).await?;
        rollout.acts = acts
            .iter()
            .map(|row| ShownAct { at: row.get(0), by: row.get(1), act: row.get(2), text: row.get(3) })
            .collect();
    }
    Ok(shown)
}

/// Returns the terminals of a roll-out that went back or refuse the settings, with the reason.
///
/// # Errors
/// Fails if the database does not answer.
pub async fn failures(client: &Client, id: i64) -> Result<Vec<(String, String)>, tokio_postgres::Error> {
    let select = "select terminal, coalesce(failure, '') from rollout_document
        where rollout = $1 and failed is not null order by failed limit 100";
    Ok(client.query(select, &[&id]).await?.iter().map(|row| (row.get(0), row.get(1))).collect())
}
