//! The books of schedules.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::database::Books;
use crate::form::Form;

/// The SQL schema of the schedules.
pub(crate) const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS schedule (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        registration TEXT NOT NULL,
        form TEXT NOT NULL,
        set_up INTEGER NOT NULL,
        next INTEGER,
        last INTEGER,
        paid INTEGER NOT NULL,
        state TEXT NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS schedule_next ON schedule (next) WHERE next IS NOT NULL;
";

/// The longest reference of a schedule. It leaves room for the number of a payment (data-model: merchantTransactionId,
/// AN255).
const LONGEST_REFERENCE: usize = 240;

/// A schedule.
pub(super) struct Schedule {
    pub id: String,
    /// The id of the stored card that pays.
    pub registration: String,
    /// The request without the card and reader data.
    pub form: Form,
    pub set_up: DateTime<Utc>,
    /// The time of the next payment; `None` if there are no more.
    pub next: Option<DateTime<Utc>>,
    /// The latest payment time.
    pub last: Option<DateTime<Utc>>,
    /// The number of payments so far, including declined ones.
    pub paid: u32,
    pub state: State,
}

/// The state of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Active: its payments are made when they are due.
    Active,
    /// Ended: all payments were made, or notice was given.
    Ended,
    /// Stopped: its stored card can no longer be used.
    Stopped,
}

impl State {
    const ALL: [Self; 3] = [Self::Active, Self::Ended, Self::Stopped];

    /// Returns the name in one word.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Ended => "ended",
            Self::Stopped => "stopped",
        }
    }
}

impl Schedule {
    /// Ends the schedule if its next payment would come after the latest payment time, or never.
    pub(super) fn end_if_over(&mut self) {
        self.next = self.next.filter(|next| self.last.is_none_or(|last| *next <= last));
        if self.next.is_none() {
            self.state = State::Ended;
        }
    }

    /// Makes the form of the latest payment, with a separate reference.
    pub(super) fn payment(&self) -> Form {
        let number = self.paid;
        let pairs = self.form.iter().filter(|(name, _)| !name.starts_with("job.")).map(|(name, value)| {
            let value = match name {
                "merchantTransactionId" => {
                    let begins: String = value.chars().take(LONGEST_REFERENCE).collect();
                    format!("{begins}-{number:04}")
                }
                _ => value.to_owned(),
            };
            (name.to_owned(), value)
        });
        Form::of(pairs.collect())
    }
}

impl Books {
    pub(super) fn enter_schedule(&mut self, new: &Schedule) -> rusqlite::Result<()> {
        let insert = "INSERT INTO schedule (id, registration, form, set_up, next, last, paid, state)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
        self.write_schedule(insert, new)?;
        // The reference counts as used, although it has no booking.
        let used = "INSERT OR IGNORE INTO registered (reference) SELECT ? WHERE ?1 IS NOT NULL";
        self.connection().prepare_cached(used)?.execute([new.form.get("merchantTransactionId")])?;
        Ok(())
    }

    pub(super) fn change_schedule(&mut self, schedule: &Schedule) -> rusqlite::Result<()> {
        let update = "UPDATE schedule SET registration = ?2, form = ?3, set_up = ?4, next = ?5, last = ?6, paid = ?7,
            state = ?8 WHERE id = ?1";
        self.write_schedule(update, schedule)
    }

    fn write_schedule(&mut self, sql: &str, schedule: &Schedule) -> rusqlite::Result<()> {
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(schedule.form.iter()).finish();
        let seconds = |at: DateTime<Utc>| at.timestamp();
        self.connection().prepare_cached(sql)?.execute(params![
            schedule.id,
            schedule.registration,
            form,
            seconds(schedule.set_up),
            schedule.next.map(seconds),
            schedule.last.map(seconds),
            schedule.paid,
            schedule.state.as_str(),
        ])?;
        Ok(())
    }

    pub(super) fn schedule(&self, id: &str) -> rusqlite::Result<Option<Schedule>> {
        one(self.connection(), "SELECT * FROM schedule WHERE id = ?", [id])
    }

    /// Returns the schedule with the next payment. If several are due at the same time, it is the oldest schedule.
    pub(super) fn next_schedule(&self) -> rusqlite::Result<Option<Schedule>> {
        one(self.connection(), "SELECT * FROM schedule WHERE next IS NOT NULL ORDER BY next, n LIMIT 1", [])
    }

    pub(super) fn active_schedules(&self) -> rusqlite::Result<u32> {
        let sql = "SELECT count(*) FROM schedule WHERE next IS NOT NULL";
        self.connection().prepare_cached(sql)?.query_row([], |row| row.get(0))
    }
}

fn one(db: &Connection, sql: &str, by: impl rusqlite::Params) -> rusqlite::Result<Option<Schedule>> {
    db.prepare_cached(sql)?.query_row(by, schedule).optional()
}

fn schedule(row: &Row<'_>) -> rusqlite::Result<Schedule> {
    let time = |seconds: i64| DateTime::from_timestamp(seconds, 0).unwrap_or_default();
    let (form, state): (String, String) = (row.get("form")?, row.get("state")?);
    let pairs = form_urlencoded::parse(form.as_bytes()).into_owned().collect();
    let known = State::ALL.into_iter().find(|known| known.as_str() == state);
    Ok(Schedule {
        id: row.get("id")?,
        registration: row.get("registration")?,
        form: Form::of(pairs),
        set_up: time(row.get("set_up")?),
        next: row.get::<_, Option<i64>>("next")?.map(time),
        last: row.get::<_, Option<i64>>("last")?.map(time),
        paid: row.get("paid")?,
        state: known.ok_or_else(|| rusqlite::Error::InvalidColumnName("state".to_owned()))?,
    })
}
