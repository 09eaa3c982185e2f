//! The terms in `job.*`: the timetable, start and end, duration, and notice (data-model: Scheduling).
//!
//! Where the interface is silent, the gateway assumes the following:
//!
//! - If only one of the two day fields is sent, it alone selects the days. If neither is sent, the day of the month is
//!   1.
//! - No payment is made for due dates before the request.
//! - A duration begins with `job.startDate` or, without it, with the request. The schedule ends with the duration. If
//!   `job.noticeCallable` is DURATION_END, the duration repeats until notice is given.
//! - With ANYTIME (the default), a schedule ends after the notice period. With DURATION_END, it ends with the first
//!   duration that ends at or after that time.

use chrono::{DateTime, Months, NaiveDateTime, TimeDelta, Utc};

use super::timetable::Timetable;
use crate::form::Form;
use crate::invalid::Invalid;

/// Returns whether a payment's form requests a schedule.
pub(crate) fn is_asked(form: &Form) -> bool {
    form.iter().any(|(name, _)| name.starts_with("job."))
}

/// A schedule's terms.
#[derive(Clone, Debug)]
pub(super) struct Job {
    timetable: Timetable,
    start: Option<DateTime<Utc>>,
    end: Option<DateTime<Utc>>,
    notice: Option<Span>,
    duration: Option<Span>,
    begins_anew: bool,
    /// The parameter that an error names if there is no payment date.
    named_by: &'static str,
}

/// The default values of the fields, in the order of the expression.
const FIELDS: [(&str, &str); 7] = [
    ("job.second", "0"),
    ("job.minute", "0"),
    ("job.hour", "0"),
    ("job.dayOfMonth", "1"),
    ("job.month", "1"),
    ("job.dayOfWeek", "1"),
    ("job.year", "*"),
];

impl Job {
    /// Reads the terms. Their values were already checked against the interface's table.
    pub(super) fn read(form: &Form) -> Result<Self, Invalid> {
        let (timetable, named_by) = timetable(form)?;
        let time = |name: &str| {
            let read = |text| NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").map(|at| at.and_utc());
            form.get(name).map(read).transpose().map_err(|_| Invalid::new(name, "not a time of the calendar"))
        };
        let job = Self {
            timetable,
            start: time("job.startDate")?,
            end: time("job.endDate")?,
            notice: Span::read(form, "job.noticeNumber", "job.noticeUnit")?,
            duration: Span::read(form, "job.durationNumber", "job.durationUnit")?,
            begins_anew: form.get("job.noticeCallable") == Some("DURATION_END"),
            named_by,
        };
        if job.start.zip(job.end).is_some_and(|(start, end)| start > end) {
            return Err(Invalid::new("job.endDate", "before job.startDate"));
        }
        if job.begins_anew && job.duration.is_none() {
            return Err(Invalid::new(
                "job.noticeCallable",
                "DURATION_END needs job.durationNumber and job.durationUnit",
            ));
        }
        Ok(job)
    }

    /// Returns the time of the first payment of a schedule that is set up at `now`.
    pub(super) fn first(&self, now: DateTime<Utc>) -> Result<DateTime<Utc>, Invalid> {
        let from = self.start.map_or(now, |start| start.max(now));
        let never = || Invalid::new(self.named_by, "never occurs: no such day from now to the end of 2099");
        let first = self.timetable.next_from(from).ok_or_else(never)?;
        match self.last_by_itself(now)? {
            Some((last, name)) if first > last => {
                let first = first.format("%Y-%m-%d %H:%M:%S");
                Err(Invalid::new(name, format!("ends before the first payment, {first}")))
            }
            _ => Ok(first),
        }
    }

    /// Returns the time of the payment after the one at `at`; `None` if there is none.
    pub(super) fn after(&self, at: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.timetable.next_from(at + TimeDelta::seconds(1))
    }

    /// Returns the latest payment time if no notice is given, and the parameter that sets it.
    fn last_by_itself(&self, set_up: DateTime<Utc>) -> Result<Option<(DateTime<Utc>, &'static str)>, Invalid> {
        let by_date = self.end.map(|end| (end, "job.endDate"));
        let by_duration = match self.duration.as_ref().filter(|_| !self.begins_anew) {
            Some(duration) => Some((self.end_of(duration, set_up, 1)?, "job.durationNumber")),
            None => None,
        };
        Ok(by_date.into_iter().chain(by_duration).min())
    }

    /// Returns the latest payment time without the parameter.
    pub(super) fn last(&self, set_up: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, Invalid> {
        Ok(self.last_by_itself(set_up)?.map(|(last, _)| last))
    }

    /// Returns the last second of the n-th duration.
    fn end_of(&self, duration: &Span, set_up: DateTime<Utc>, nth: u64) -> Result<DateTime<Utc>, Invalid> {
        let begins = self.start.unwrap_or(set_up);
        Ok(duration.after(begins, nth)? - TimeDelta::seconds(1))
    }

    /// Returns the latest payment time after notice is given at `now`.
    pub(super) fn last_after_notice(
        &self,
        set_up: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<DateTime<Utc>, Invalid> {
        let soonest = match &self.notice {
            Some(notice) => notice.after(now, 1)? - TimeDelta::seconds(1),
            None => now - TimeDelta::seconds(1),
        };
        let Some(duration) = self.duration.as_ref().filter(|_| self.begins_anew) else { return Ok(soonest) };
        // If the duration is one second, a loop over all durations until the end of 2099 would take too long.
        let mut nth = 1;
        while self.end_of(duration, set_up, nth)? < soonest {
            nth = if self.end_of(duration, set_up, nth * 2).is_ok_and(|end| end < soonest) { nth * 2 } else { nth + 1 };
        }
        self.end_of(duration, set_up, nth)
    }
}

fn timetable(form: &Form) -> Result<(Timetable, &'static str), Invalid> {
    const EXPRESSION: &str = "job.expression";
    let mut fields = FIELDS.map(|(name, default)| form.get(name).unwrap_or(default));
    let days = [form.get("job.dayOfMonth"), form.get("job.dayOfWeek")];
    match days {
        [None, Some(_)] => fields[3] = "?",
        [_, None] => fields[5] = "?",
        _ => {}
    }
    let named = ["job.dayOfMonth", "job.dayOfWeek", "job.month", "job.year"];
    let mut named_by = named.into_iter().find(|name| form.get(name).is_some()).unwrap_or("job.dayOfMonth");
    if let Some(expression) = form.get(EXPRESSION) {
        // The expression overwrites all fields. It may omit the year.
        fields = ["*"; 7];
        for (field, text) in fields.iter_mut().zip(expression.split_ascii_whitespace()) {
            *field = text;
        }
        named_by = EXPRESSION;
    }
    let read = Timetable::read(fields);
    read.map(|table| (table, named_by)).ok_or_else(|| Invalid::new(named_by, "not a timetable"))
}

/// A number of time units.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    number: u64,
    unit: Unit,
    /// The parameter that contains the number.
    name: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Months(u64),
    Seconds(u64),
}

impl Span {
    fn read(form: &Form, name: &'static str, unit: &'static str) -> Result<Option<Self>, Invalid> {
        let (number, of) = match (form.get(name), form.get(unit)) {
            (None, None) => return Ok(None),
            (Some(number), Some(of)) => (number, of),
            (None, Some(_)) => return Err(Invalid::new(name, format!("required with {unit}"))),
            (Some(_), None) => return Err(Invalid::new(unit, format!("required with {name}"))),
        };
        let unit = match of {
            "YEAR" => Unit::Months(12),
            "MONTH" => Unit::Months(1),
            "WEEK" => Unit::Seconds(604_800),
            "DAY" => Unit::Seconds(86_400),
            "HOUR" => Unit::Seconds(3600),
            "MINUTE" => Unit::Seconds(60),
            _ => Unit::Seconds(1),
        };
        let number = number.parse().ok().filter(|number| *number > 0);
        Ok(Some(Self { number: number.ok_or_else(|| Invalid::new(name, "must be 1 or more"))?, unit, name }))
    }

    /// Returns `at` plus this many spans. The result must be before the year 2200.
    fn after(&self, at: DateTime<Utc>, times: u64) -> Result<DateTime<Utc>, Invalid> {
        let far = || Invalid::new(self.name, "too far away: beyond the year 2200");
        let number = self.number.checked_mul(times).ok_or_else(far)?;
        let later = match self.unit {
            Unit::Months(months) => {
                let months = number.checked_mul(months).and_then(|months| u32::try_from(months).ok());
                months.and_then(|months| at.checked_add_months(Months::new(months)))
            }
            Unit::Seconds(seconds) => {
                let seconds = number.checked_mul(seconds).and_then(|seconds| i64::try_from(seconds).ok());
                seconds.and_then(TimeDelta::try_seconds).and_then(|seconds| at.checked_add_signed(seconds))
            }
        };
        later.filter(|later| chrono::Datelike::year(later) <= 2200).ok_or_else(far)
    }
}
