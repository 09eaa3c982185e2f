//! The SQL of the pages. Values are always parameters.
//!
//! The content of an entry is a foreign text. No query casts one to a number or a time without a check, because one
//! wrong value would then hide the whole page.

use std::collections::BTreeMap;

use pos_fleet_terms::{Id, Info, Metrics, State};
use serde::de::DeserializeOwned;
use serde_json::Value;
use time::{Date, Duration, OffsetDateTime, PrimitiveDateTime};
use tokio_postgres::{Row, Transaction};

use super::asked::{Filter, Standing};
use super::steered::SteeredView;
use crate::pool::NoDatabase;

/// The rows of a page.
pub(super) const ROWS: u32 = 100;
/// The greatest number of rows in a table for another program.
const MOST_ROWS: i64 = 50_000;
/// A terminal repeats its state each 600 s. After this time it is silent.
pub(super) const SILENT: Duration = Duration::seconds(900);
/// Two terminals with one identity are shown for this time.
const TWO_IDENTITIES: Duration = Duration::hours(24);

/// A time, with what a clock of the pages' time zone shows then. The database's session has that zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) at: OffsetDateTime,
    pub(super) local: PrimitiveDateTime,
}

impl Moment {
    /// Reads it from two columns: the time, and the same as `timestamp`.
    pub(super) fn of(row: &Row, at: usize) -> Option<Self> {
        Some(Self { at: row.get::<_, Option<_>>(at)?, local: row.get::<_, Option<_>>(at + 1)? })
    }
}

/// What is known about a terminal.
#[derive(Debug, Default)]
pub(super) struct Terminal {
    pub(super) id: String,
    pub(super) online: bool,
    pub(super) seen: Option<OffsetDateTime>,
    pub(super) state: Option<State>,
    pub(super) info: Option<Info>,
    pub(super) metrics: Option<Metrics>,
    pub(super) metrics_at: Option<OffsetDateTime>,
    /// The cursor of its present journal.
    pub(super) cursor: Option<Cursor>,
}

/// A cursor.
#[derive(Debug)]
pub(super) struct Cursor {
    pub(super) journal: String,
    pub(super) number: i64,
    pub(super) gap: bool,
    pub(super) moved: Option<Moment>,
}

impl Terminal {
    /// Each terminal that has sent something: a state, an info, or only entries. The present journal is the one in the
    /// state, or else the one of the last entries.
    const SELECT: &str = "select id.terminal, coalesce(t.online, false), t.seen, t.state, t.info, t.metrics,
            t.metrics_at, c.journal, c.number, c.gap, c.moved,
            c.moved::timestamp as moved_local
        from (select terminal from terminal union select terminal from terminal_cursor) id
        left join terminal t using (terminal)
        left join lateral (
            select journal, number, gap, moved from terminal_cursor own where own.terminal = id.terminal
            order by (own.journal = t.state ->> 'journal') desc nulls last, own.moved desc limit 1
        ) c on true";

    fn of(row: &Row) -> Self {
        let journal: Option<String> = row.get(7);
        let cursor = |journal| Cursor { journal, number: row.get(8), gap: row.get(9), moved: Moment::of(row, 10) };
        Self {
            id: row.get(0),
            online: row.get(1),
            seen: row.get(2),
            state: read(row.get(3)),
            info: read(row.get(4)),
            metrics: read(row.get(5)),
            metrics_at: row.get(6),
            cursor: journal.map(cursor),
        }
    }

    /// Returns whether nothing was heard of it for long.
    pub(super) fn is_silent(&self, now: OffsetDateTime) -> bool {
        self.seen.is_none_or(|seen| seen < now - SILENT)
    }

    /// Returns whether it is connected.
    pub(super) fn is_online(&self, now: OffsetDateTime) -> bool {
        self.online && !self.is_silent(now)
    }

    /// The number of entries that the terminal has and the database does not.
    pub(super) fn behind(&self) -> Option<i64> {
        let state = self.state.as_ref()?;
        let journal = state.journal.as_ref()?;
        // Another journal than the cursor's: nothing of the present one is here.
        let stored = self.cursor.as_ref().filter(|cursor| cursor.journal == *journal).map_or(0, |cursor| cursor.number);
        Some(state.last.saturating_sub(stored).max(0))
    }

    /// The shop's name and address.
    pub(super) fn shop(&self) -> String {
        self.info.as_ref().map(|info| info.merchant.join(", ")).unwrap_or_default()
    }
}

/// Reads a value that the store has written. A later version's value may be another one, and is then left out.
fn read<M: DeserializeOwned>(value: Option<Value>) -> Option<M> {
    value.and_then(|value| serde_json::from_value(value).ok())
}

/// A part of a list.
#[derive(Debug)]
pub(super) struct Found<T> {
    pub(super) rows: Vec<T>,
    /// The number of all rows, for terminals.
    pub(super) count: i64,
    /// True if there is a next page.
    pub(super) more: bool,
}

/// Which rows of a list are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    most: i64,
    offset: i64,
}

impl Part {
    pub(super) fn page(page: u32) -> Self {
        Self { most: ROWS.into(), offset: i64::from(ROWS) * i64::from(page.saturating_sub(1)) }
    }

    pub(super) fn whole() -> Self {
        Self { most: MOST_ROWS, offset: 0 }
    }

    /// Cuts off the row that only says that there are more.
    fn cut<T>(self, rows: impl Iterator<Item = T>) -> Found<T> {
        let mut rows: Vec<_> = rows.collect();
        let most = usize::try_from(self.most).unwrap_or(usize::MAX);
        let more = rows.len() > most;
        rows.truncate(most);
        Found { rows, count: 0, more }
    }
}

/// Finds terminals.
pub(super) async fn terminals(
    read: &Transaction<'_>,
    filter: &Filter,
    page: u32,
    now: OffsetDateTime,
) -> Result<Found<Terminal>, NoDatabase> {
    let matches = "
        where not exists (
            select from unnest($1::text[]) word
            where position(word in lower(concat_ws(' ', id.terminal, t.info ->> 'terminalId',
                t.info ->> 'readerSerial', t.info ->> 'merchant'))) = 0)
        and case $2::text
            when 'online' then t.online and t.seen >= $3::timestamptz
            when 'offline' then not (coalesce(t.online, false) and coalesce(t.seen >= $3, false))
            when 'not-ready' then t.state -> 'ready' is distinct from 'true'
            when 'faults' then t.state -> 'faults' <> '[]'
            when 'silent' then t.seen is null or t.seen < $3
            else true end
        and ($4::text = '' or t.state -> 'faults' @> jsonb_build_array(jsonb_build_object('code', $4::text)))
        and ($5::text = '' or t.info ->> 'agent' = $5)
        and ($6::text = '' or t.info ->> 'readerModel' = $6)
        and ($7::timestamptz is null or t.seen is null or t.seen < $7)";
    let (words, state) = (filter.words(), filter.state.map(Standing::word).unwrap_or_default());
    let (silent, older) = (now - SILENT, filter.hours.map(|hours| now - Duration::hours(hours.into())));
    let Filter { fault, version, model, .. } = filter;
    let part = Part::page(page);
    let select = format!(
        "with found as materialized ({} {matches})
        select found.*, (select count(*) from found) from found order by terminal limit $8 offset $9",
        Terminal::SELECT
    );
    let rows = read
        .query(&select, &[&words, &state, &silent, fault, version, model, &older, &(part.most + 1), &part.offset])
        .await?;
    let count = rows.first().map_or(0, |row| row.get(12));
    Ok(Found { count, ..part.cut(rows.iter().map(Terminal::of)) })
}

/// The values that the fleet has now, for the filters.
#[derive(Debug, Default)]
pub(super) struct Choices {
    pub(super) faults: Vec<String>,
    pub(super) versions: Vec<String>,
    pub(super) models: Vec<String>,
}

/// Reads the values that the fleet has now.
pub(super) async fn choices(read: &Transaction<'_>) -> Result<Choices, NoDatabase> {
    let select =
        "(select distinct 'fault', fault ->> 'code' from terminal, jsonb_array_elements(state -> 'faults') fault
            order by 2 limit 200)
        union all (select distinct 'version', info ->> 'agent' from terminal order by 2 limit 200)
        union all (select distinct 'model', info ->> 'readerModel' from terminal order by 2 limit 200)";
    let mut choices = Choices::default();
    for row in read.query(select, &[]).await? {
        let Some(value) = row.get::<_, Option<String>>(1).filter(|value| !value.is_empty()) else { continue };
        match row.get::<_, &str>(0) {
            "fault" => choices.faults.push(value),
            "version" => choices.versions.push(value),
            _ => choices.models.push(value),
        }
    }
    Ok(choices)
}

/// A look of a person at the alarms of a terminal.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub(super) by: String,
    pub(super) at: Moment,
}

impl Look {
    /// Joins the last look at this kind of alarms of the terminal `alarm.terminal`, as `look`.
    fn join(kind: &str) -> String {
        format!(
            "left join lateral (select seen.at, seen.by from alarm_seen seen
                where seen.terminal = alarm.terminal and seen.kind = '{kind}' order by seen.at desc limit 1) look on true"
        )
    }

    /// Reads it from three columns: the time, the same as `timestamp`, and the name. It is absent if the alarm is
    /// newer.
    fn of(row: &Row, at: usize, is_new: bool) -> Option<Self> {
        let moment = Moment::of(row, at).filter(|_| !is_new)?;
        Some(Self { by: row.get::<_, Option<_>>(at + 2)?, at: moment })
    }
}

/// What a person must look at before all else.
#[derive(Debug)]
pub(super) struct Alarm {
    pub(super) what: Fault,
    /// The look of a person, if nothing has happened since.
    pub(super) look: Option<Look>,
}

/// What has happened.
#[derive(Debug)]
pub(super) enum Fault {
    /// A terminal with two histories.
    Conflicts { terminal: String, entries: i64 },
    /// An identity that two terminals use.
    TwoIdentities { terminal: String, last: OffsetDateTime },
    /// A journal that several terminals have.
    Cloned { journal: String, terminals: Vec<String> },
}

/// The journals that several terminals have, with the last look at one of them, and the number of the terminals that
/// have sent entries since. A renamed terminal is one such terminal, and two of them are a clone that goes on.
const CLONED: &str = "select alarm.journal, alarm.terminals, look.at, look.at::timestamp, look.by,
        look.at is null or (select count(*) from terminal_cursor later
            where later.journal = alarm.journal and later.moved > look.at) > 1 as is_new
    from (select journal, (array_agg(terminal order by terminal))[1:20] as terminals, max(moved) as moved
        from terminal_cursor group by journal having count(*) > 1) alarm
    left join lateral (select seen.at, seen.by from terminal_cursor own join alarm_seen seen using (terminal)
        where own.journal = alarm.journal and seen.kind = 'cloned' order by seen.at desc limit 1) look on true";

/// Reads the alarms of the fleet, or of one terminal.
pub(super) async fn alarms(
    read: &Transaction<'_>,
    terminal: Option<&Id>,
    now: OffsetDateTime,
) -> Result<Vec<Alarm>, NoDatabase> {
    let terminal = terminal.map(Id::as_str);
    let conflicts = format!(
        "select alarm.terminal, alarm.entries, look.at, look.at::timestamp, look.by,
            coalesce(alarm.last > look.at, true)
        from (select terminal, count(*) as entries, max(received) as last from conflict
            where $1::text is null or terminal = $1 group by terminal) alarm
        {} order by alarm.last desc limit 100",
        Look::join("conflict")
    );
    let two = format!(
        "select alarm.terminal, alarm.two_identities, look.at, look.at::timestamp, look.by,
            coalesce(alarm.two_identities > look.at, true)
        from terminal alarm {} where alarm.two_identities > $2 and ($1::text is null or alarm.terminal = $1)
        order by alarm.two_identities desc limit 100",
        Look::join("two-identities")
    );
    let cloned = format!(
        "{CLONED} where $1::text is null or exists (select from terminal_cursor own
            where own.journal = alarm.journal and own.terminal = $1)
        order by alarm.moved desc limit 100"
    );
    let conflicts = read.query(&conflicts, &[&terminal]).await?;
    let two = read.query(&two, &[&terminal, &(now - TWO_IDENTITIES)]).await?;
    let cloned = read.query(&cloned, &[&terminal]).await?;
    let alarm = |row: &Row, what| Alarm { what, look: Look::of(row, 2, row.get(5)) };
    let conflict = |row: &Row| alarm(row, Fault::Conflicts { terminal: row.get(0), entries: row.get(1) });
    let identity = |row: &Row| alarm(row, Fault::TwoIdentities { terminal: row.get(0), last: row.get(1) });
    let clone = |row: &Row| alarm(row, Fault::Cloned { journal: row.get(0), terminals: row.get(1) });
    let all = conflicts.iter().map(conflict).chain(two.iter().map(identity)).chain(cloned.iter().map(clone));
    Ok(all.collect())
}

/// Reads one terminal.
pub(super) async fn terminal(read: &Transaction<'_>, id: &Id) -> Result<Option<Terminal>, NoDatabase> {
    let select = format!("{} where id.terminal = $1", Terminal::SELECT);
    Ok(read.query_opt(&select, &[&id.as_str()]).await?.as_ref().map(Terminal::of))
}

/// What a terminal's page shows in addition.
#[derive(Debug, Default)]
pub(super) struct Detail {
    /// The day so far.
    pub(super) day: Vec<Sum>,
    pub(super) sales: Vec<Sale>,
    pub(super) closes: Vec<Close>,
    pub(super) conflicts: Vec<Conflict>,
    pub(super) alarms: Vec<Alarm>,
    pub(super) steered: SteeredView,
}

/// The transactions of a kind and an outcome.
#[derive(Debug)]
pub(super) struct Sum {
    pub(super) kind: String,
    pub(super) training: bool,
    pub(super) outcome: String,
    pub(super) currency: String,
    pub(super) count: i64,
    /// The sum of what was approved, as a decimal.
    pub(super) approved: String,
}

/// An entry with another hash than the stored one.
#[derive(Debug)]
pub(super) struct Conflict {
    pub(super) journal: String,
    pub(super) number: i64,
    pub(super) received: Option<Moment>,
}

/// A transaction as its last stored step tells it.
#[derive(Debug)]
pub(super) struct Sale {
    pub(super) terminal: String,
    pub(super) shop: String,
    pub(super) at: Option<Moment>,
    pub(super) number: String,
    pub(super) till: String,
    pub(super) reference: String,
    pub(super) kind: String,
    pub(super) training: bool,
    pub(super) standing: String,
    pub(super) outcome: String,
    pub(super) reason: String,
    pub(super) total: String,
    pub(super) currency: String,
    pub(super) card: String,
    /// True if the terminal has another journal now. The same transaction may be in that one too.
    pub(super) is_earlier: bool,
}

impl Sale {
    /// The columns, for an entry `e` and a terminal `t`. A foreign text is cut, so a page has a bounded size.
    const COLUMNS: &str = "e.terminal, left(t.info ->> 'merchant', 600), e.at, e.at::timestamp,
        left(e.body ->> 'number', 20),
        left(e.body ->> 'till', 100), left(e.body ->> 'reference', 100),
        left(e.body -> 'facts' ->> 'kind', 40), e.body -> 'facts' -> 'training' = 'true',
        left(e.body -> 'facts' ->> 'standing', 40), left(e.body -> 'facts' ->> 'outcome', 40),
        left(e.body -> 'facts' ->> 'reason', 80), left(e.body -> 'facts' ->> 'total', 24),
        left(e.body -> 'facts' ->> 'currency', 8), left(e.body -> 'facts' -> 'card' ->> 'maskedPan', 40),
        coalesce(t.state ->> 'journal' <> e.journal, false)";

    fn of(row: &Row) -> Self {
        let text = |at: usize| row.get::<_, Option<String>>(at).unwrap_or_default();
        Self {
            terminal: text(0),
            shop: shop(&text(1)),
            at: Moment::of(row, 2),
            number: text(4),
            till: text(5),
            reference: text(6),
            kind: text(7),
            training: row.get::<_, Option<bool>>(8).unwrap_or_default(),
            standing: text(9),
            outcome: text(10),
            reason: text(11),
            total: text(12),
            currency: text(13),
            card: masked(&text(14)),
            is_earlier: row.get(15),
        }
    }

    /// The outcome, or the present state if there is none.
    pub(super) fn end(&self) -> &str {
        if self.outcome.is_empty() { &self.standing } else { &self.outcome }
    }
}

/// Reads the lines of a shop's name from their JSON. A cut text is shown as it is.
fn shop(lines: &str) -> String {
    serde_json::from_str::<Vec<String>>(lines).map_or_else(|_| lines.to_owned(), |lines| lines.join(", "))
}

/// Hides all digits but the last four. The terminal has masked the number already; a wrong one must not reach a page.
fn masked(pan: &str) -> String {
    let digits = pan.chars().filter(char::is_ascii_digit).count();
    let mut left = digits;
    let hide = |sign: char| {
        if !sign.is_ascii_digit() {
            return sign;
        }
        left -= 1;
        if left < 4 { sign } else { '*' }
    };
    pan.chars().map(hide).collect()
}

/// A close of day.
#[derive(Debug)]
pub(super) struct Close {
    pub(super) terminal: String,
    pub(super) shop: String,
    pub(super) at: Option<Moment>,
    pub(super) number: String,
    /// The business day, as the terminal names it.
    pub(super) day: String,
    pub(super) sha256: String,
    pub(super) journal: String,
    pub(super) entry: i64,
    /// The sums. Absent if the terminal has not sent them, which is not the same as no payments.
    pub(super) lines: Option<Vec<Line>>,
}

/// A sum of a close.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The kind of transaction, or [`Self::NET`].
    pub(super) kind: String,
    pub(super) currency: String,
    pub(super) count: i64,
    /// The amount, as a decimal.
    pub(super) amount: String,
}

impl Line {
    /// What was taken minus what was given.
    pub(super) const NET: &str = "net";

    fn of((kind, currency, count, amount): (String, String, i64, String)) -> Self {
        Self { kind, currency, count, amount }
    }
}

impl Close {
    /// The columns, for an entry `e` and a terminal `t`.
    fn columns() -> String {
        format!(
            "e.terminal, left(t.info ->> 'merchant', 600), e.at, e.at::timestamp,
            left(e.body -> 'what' ->> 'number', 20), left(e.body -> 'close' ->> 'day', 10),
            left(e.body -> 'what' ->> 'sha256', 64), e.journal, e.number, {}",
            lines()
        )
    }

    fn of(row: &Row) -> Self {
        let text = |at: usize| row.get::<_, Option<String>>(at).unwrap_or_default();
        let lines: Option<Vec<_>> = read(row.get(9));
        Self {
            terminal: text(0),
            shop: shop(&text(1)),
            at: Moment::of(row, 2),
            number: text(4),
            day: text(5),
            sha256: text(6),
            journal: text(7),
            entry: row.get(8),
            lines: lines.map(|lines| lines.into_iter().map(Line::of).collect()),
        }
    }
}

/// The sums of the close in an entry `e`: by kind, then net, each as `[kind, currency, count, amount]`.
///
/// It is null if a sum is not as expected, or if there are too many. A wrong sum must not look like another one, and
/// one terminal must not hide the sums of the others.
fn lines() -> String {
    let is_line = |amount: &str, more: &str| {
        format!(
            r#"(@.{amount} like_regex "^-?[0-9]{{1,12}}([.][0-9]{{1,4}})?$" && @.currency like_regex "^[A-Z]{{3}}$"
                && @.count >= 0 && @.count <= 1000000000 && @.count == @.count.floor(){more})"#
        )
    };
    let all = |list: &str, most: u32, is_line: &str| {
        // A field of another type makes the condition unknown, which is no line either.
        format!(
            r#"@.{list}.type() == "array" && @.{list}.size() <= {most}
                && !exists(@.{list}[*] ? (!{is_line} || ({is_line} is unknown)))"#
        )
    };
    let kinds = all("kinds", 40, &is_line("sum", r#" && @.kind like_regex "^[a-z-]{1,40}$""#));
    let net = all("net", 10, &is_line("net", ""));
    let list = |list: &str, kind: &str, amount: &str| {
        format!(
            "(select coalesce(jsonb_agg(jsonb_build_array({kind}, line ->> 'currency', (line -> 'count')::bigint,
                line ->> '{amount}') order by at), '[]')
            from jsonb_array_elements(e.body -> 'close' -> '{list}') with ordinality own(line, at))"
        )
    };
    format!(
        "case when jsonb_path_exists(e.body, 'strict $.close ? ({kinds} && {net})', '{{}}', true)
            then {} || {} end",
        list("kinds", "line ->> 'kind'", "sum"),
        list("net", &format!("'{}'", Line::NET), "net"),
    )
}

/// The condition of a close, as the index has it.
const IS_CLOSE: &str = "e.kind = 'mark' and e.body -> 'what' ->> 'is' = 'close'";

/// The sums of all closes of a day.
#[derive(Debug)]
pub(super) struct DayOfFleet {
    pub(super) day: Date,
    /// The number of closes.
    pub(super) closes: i64,
    /// The number of these whose sums are here.
    pub(super) with_sums: i64,
    pub(super) lines: Vec<Line>,
}

/// Adds up the closes of a day, or of today. A close that came from two terminals counts once: a disk was copied, or a
/// terminal has a new name.
pub(super) async fn day_of_fleet(
    read: &Transaction<'_>,
    day: Option<Date>,
    now: OffsetDateTime,
) -> Result<DayOfFleet, NoDatabase> {
    let select = "select coalesce($1::date, $2::timestamptz::date)";
    let day: Date = read.query_one(select, &[&day, &now]).await?.get(0);
    let select = format!(
        "with own as materialized (select distinct on (e.journal, e.number, e.digest) {} as lines from entry e
            where {IS_CLOSE} and e.at >= $1::date::timestamptz and e.at < ($1::date + 1)::timestamptz
            order by e.journal, e.number, e.digest)
        (select null, null, count(*), count(lines)::text from own)
        union all
        (select line ->> 0, line ->> 1, sum((line -> 2)::bigint)::bigint, sum((line ->> 3)::numeric)::text
            from own, jsonb_array_elements(lines) line group by 1, 2
            order by line ->> 1, line ->> 0 = '{}', line ->> 0 limit 1000)",
        lines(),
        Line::NET
    );
    let mut sums = DayOfFleet { day, closes: 0, with_sums: 0, lines: Vec::new() };
    for row in read.query(&select, &[&day]).await? {
        let (kind, currency): (Option<String>, Option<String>) = (row.get(0), row.get(1));
        match (kind, currency) {
            (Some(kind), Some(currency)) => sums.lines.push(Line::of((kind, currency, row.get(2), row.get(3)))),
            _ => {
                sums.closes = row.get(2);
                sums.with_sums = row.get::<_, String>(3).parse().unwrap_or_default();
            }
        }
    }
    Ok(sums)
}

/// Reads what a terminal's page shows in addition.
pub(super) async fn detail(read: &Transaction<'_>, id: &Id, now: OffsetDateTime) -> Result<Detail, NoDatabase> {
    let alarms = alarms(read, Some(id), now).await?;
    let steered = SteeredView::of(read, id).await?;
    let id = id.as_str();
    // The last step of each transaction counts, and only a plain decimal is added.
    let day = "select left(facts ->> 'kind', 40), coalesce(facts -> 'training' = 'true', false),
            left(coalesce(facts ->> 'outcome', facts ->> 'standing'), 40), left(facts ->> 'currency', 8), count(*),
            sum(case when facts ->> 'approved' ~ '^[0-9]{1,12}([.][0-9]{1,4})?$'
                then (facts ->> 'approved')::numeric else 0 end)::text
        from (select distinct on (journal, left(body ->> 'number', 20)) body -> 'facts' as facts from entry
            where terminal = $1 and kind = 'step' and at >= date_trunc('day', $2::timestamptz) and at <= $3 and body is not null
            order by journal, left(body ->> 'number', 20), number desc) last
        where facts is not null
        group by 1, 2, 3, 4 order by 2, 1, 3, 4 limit 200";
    let day = read.query(day, &[&id, &now, &(now + Duration::hours(1))]).await?;
    let text = |row: &Row, at: usize| row.get::<_, Option<String>>(at).unwrap_or_default();
    let day = day.iter().map(|row| Sum {
        kind: text(row, 0),
        training: row.get(1),
        outcome: text(row, 2),
        currency: text(row, 3),
        count: row.get(4),
        approved: text(row, 5),
    });
    let conflicts = "select journal, number, received, received::timestamp as local from conflict where terminal = $1
        order by received desc, number limit 50";
    let conflicts = read.query(conflicts, &[&id]).await?;
    let conflict = |row: &Row| Conflict { journal: row.get(0), number: row.get(1), received: Moment::of(row, 2) };
    let closes = format!(
        "select {} from entry e left join terminal t using (terminal)
        where e.terminal = $1 and {IS_CLOSE} order by e.at desc nulls last, e.number desc limit 10",
        Close::columns()
    );
    Ok(Detail {
        day: day.collect(),
        sales: last_sales(read, id).await?,
        closes: read.query(&closes, &[&id]).await?.iter().map(Close::of).collect(),
        conflicts: conflicts.iter().map(conflict).collect(),
        alarms,
        steered,
    })
}

/// Reads the last transactions of a terminal, each as its last step tells it.
async fn last_sales(read: &Transaction<'_>, id: &str) -> Result<Vec<Sale>, NoDatabase> {
    // Twenty transactions with all their steps are fewer rows than these.
    let select = format!(
        "select {}, e.journal from (select * from entry where terminal = $1 and kind = 'step' and body is not null
            order by at desc nulls last limit 400) e
        left join terminal t using (terminal) order by e.at desc nulls last, e.number desc",
        Sale::COLUMNS
    );
    let mut newest = BTreeMap::new();
    let mut sales = Vec::new();
    for row in read.query(&select, &[&id]).await? {
        let sale = Sale::of(&row);
        let journal: String = row.get(16);
        if sales.len() < 20 && newest.insert((journal, sale.number.clone()), ()).is_none() {
            sales.push(sale);
        }
    }
    Ok(sales)
}

/// Terminals whose state counts open payments.
pub(super) async fn counted(read: &Transaction<'_>) -> Result<Vec<Terminal>, NoDatabase> {
    let select = format!(
        "{} where t.state -> 'unconfirmed' > '0' or t.state -> 'held' > '0' order by id.terminal limit 500",
        Terminal::SELECT
    );
    Ok(read.query(&select, &[]).await?.iter().map(Terminal::of).collect())
}

/// Payments whose last stored step leaves the outcome open.
pub(super) async fn open(read: &Transaction<'_>, page: u32) -> Result<Found<Sale>, NoDatabase> {
    let part = Part::page(page);
    let select = format!(
        "select {} from entry e left join terminal t using (terminal)
        where e.kind = 'step' and e.body -> 'facts' ->> 'standing' in ('unconfirmed', 'needs-a-person')
            and not exists (select from entry later
                where later.kind = 'step' and later.terminal = e.terminal and later.journal = e.journal
                    and left(later.body ->> 'number', 20) = left(e.body ->> 'number', 20)
                    and later.number > e.number and later.body -> 'facts' is not null)
        order by e.received desc limit $1 offset $2",
        Sale::COLUMNS
    );
    Ok(part.cut(read.query(&select, &[&(part.most + 1), &part.offset]).await?.iter().map(Sale::of)))
}

/// Reads the last closes of all terminals, or those of a day.
pub(super) async fn closes(read: &Transaction<'_>, day: Option<Date>, part: Part) -> Result<Found<Close>, NoDatabase> {
    let when = match day {
        Some(_) => "and e.at >= $3::date::timestamptz and e.at < ($3::date + 1)::timestamptz",
        None => "and $3::date is null",
    };
    let select = format!(
        "select {} from entry e left join terminal t using (terminal)
        where {IS_CLOSE} {when} order by e.at desc nulls last, e.terminal limit $1 offset $2",
        Close::columns()
    );
    Ok(part.cut(read.query(&select, &[&(part.most + 1), &part.offset, &day]).await?.iter().map(Close::of)))
}

/// The whole fleet, for the metrics.
#[derive(Debug, Default)]
pub(super) struct Fleet {
    pub(super) terminals: Vec<Terminal>,
    pub(super) conflicts: i64,
    pub(super) two_identities: i64,
    pub(super) cloned: i64,
    /// An estimate: counting millions of rows would cost more than it tells.
    pub(super) entries: i64,
    pub(super) gaps: i64,
}

/// Reads the whole fleet.
pub(super) async fn fleet(read: &Transaction<'_>, now: OffsetDateTime) -> Result<Fleet, NoDatabase> {
    let select = format!("{} order by id.terminal", Terminal::SELECT);
    let terminals = read.query(&select, &[]).await?.iter().map(Terminal::of).collect();
    // What a person has looked at since is no alarm.
    let counts = format!(
        "select (select count(*) from conflict alarm {} where coalesce(alarm.received > look.at, true)),
        (select count(*) from terminal alarm {} where alarm.two_identities > $1
            and coalesce(alarm.two_identities > look.at, true)),
        (select count(*) from ({CLONED}) cloned where is_new),
        (select greatest(reltuples, 0)::bigint from pg_class where oid = 'entry'::regclass),
        (select count(*) from terminal_cursor where gap)",
        Look::join("conflict"),
        Look::join("two-identities")
    );
    let row = read.query_one(&counts, &[&(now - TWO_IDENTITIES)]).await?;
    Ok(Fleet {
        terminals,
        conflicts: row.get(0),
        two_identities: row.get(1),
        cloned: row.get(2),
        entries: row.get(3),
        gaps: row.get(4),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_four_digits_of_a_card_are_shown() {
        for (told, shown) in [
            ("************0119", "************0119"),
            ("541333******0119", "******______0119"),
            ("5413330089020011", "************0011"),
            ("12", "12"),
            ("", ""),
        ] {
            let shown = shown.replace('_', "*");
            assert_eq!(masked(told), shown);
        }
    }

    #[test]
    fn a_terminal_is_behind_by_what_its_journal_has_more() {
        let state = |journal: &str, last| State { journal: Some(journal.to_owned()), last, ..State::default() };
        let cursor = |number| Cursor { journal: "a1".to_owned(), number, gap: false, moved: None };
        let behind = |state, cursor| Terminal { state, cursor, ..Terminal::default() }.behind();
        assert_eq!(behind(Some(state("a1", 12)), Some(cursor(10))), Some(2));
        assert_eq!(behind(Some(state("a1", 9)), Some(cursor(10))), Some(0));
        assert_eq!(behind(Some(state("b2", 12)), Some(cursor(10))), Some(12));
        assert_eq!(behind(Some(State::default()), Some(cursor(10))), None);
        assert_eq!(behind(None, None), None);
    }
}
