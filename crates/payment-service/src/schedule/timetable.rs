//! The due dates of a subscription. The seven fields of a cron expression determine the next due time (data-model:
//! Scheduling). The functions are pure. The interface's table (`pos_gateway_model`) checks the form of the expression.
//!
//! The special characters have their usual meaning in expressions with seven fields. `5/20` means 5, 25 and 45. `L` is
//! the last day of the month, and `L-3` is three days before it. `LW` is the last weekday of the month, and `15W` is
//! the weekday nearest to the 15th within the month. `6L` is the last Friday, and `6#3` is the third. In the
//! day-of-week field, `L` alone is Saturday. Sunday is 1.
//!
//! The crate `croner` is not used, because it refuses `5/20` and `L-3`, and never matches a lone `L`.
//!
//! Where the interface is silent, the gateway assumes the following. Times are UTC. A day is due if either of the two
//! day fields names it. `*` and `?` name no day, so the other field alone decides.

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime, TimeDelta, Timelike, Utc, Weekday};

/// The years that the interface allows.
const YEARS: std::ops::RangeInclusive<u32> = 1970..=2099;
const NAMES: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// The fields of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timetable {
    seconds: u64,
    minutes: u64,
    hours: u64,
    /// The days of the month; an empty list allows every day.
    days: Vec<DayOfMonth>,
    months: u64,
    weekdays: Vec<DayOfWeek>,
    years: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DayOfMonth {
    Is(u32),
    /// The day that is this many days before the last one.
    BeforeLast(u32),
    LastWeekday,
    NearestWeekday(u32),
}

/// Days of the week with the interface's numbers; 1 is Sunday.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DayOfWeek {
    Is(u32),
    Last(u32),
    Nth(u32, u32),
}

impl Timetable {
    /// Reads second, minute, hour, day of month, month, day of week and year; `None` for an expression that the table
    /// would refuse.
    #[must_use]
    pub fn read(fields: [&str; 7]) -> Option<Self> {
        let [second, minute, hour, day, month, weekday, year] = fields;
        let bits = |text, from, to| Some(numbers(text, from, to)?.into_iter().fold(0_u64, |bits, n| bits | 1 << n));
        let year = if year.is_empty() { "*" } else { year };
        Some(Self {
            seconds: bits(second, 0, 59)?,
            minutes: bits(minute, 0, 59)?,
            hours: bits(hour, 0, 23)?,
            days: days(day)?,
            months: bits(month, 1, 12)?,
            weekdays: weekdays(weekday)?,
            years: numbers(year, *YEARS.start(), *YEARS.end())?,
        })
    }

    /// Returns the first due time at or after `from`; `None` if there is none before the end of 2099.
    #[must_use]
    pub fn next_from(&self, from: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let from = if from.nanosecond() > 0 { from.with_nanosecond(0)? + TimeDelta::seconds(1) } else { from };
        let mut date = from.date_naive();
        let mut earliest = from.time();
        while u32::try_from(date.year()).is_ok_and(|year| year <= *YEARS.end()) {
            if self.names(date)
                && let Some(time) = self.time_from(earliest)
            {
                return Some(date.and_time(time).and_utc());
            }
            date = date.checked_add_days(Days::new(1))?;
            earliest = NaiveTime::MIN;
        }
        None
    }

    fn names(&self, date: NaiveDate) -> bool {
        let in_year = u32::try_from(date.year()).is_ok_and(|year| self.years.contains(&year));
        in_year && has(self.months, date.month()) && {
            let by_month = self.days.iter().any(|day| day.is(date));
            let by_week = self.weekdays.iter().any(|day| day.is(date));
            by_month || by_week || self.days.is_empty() && self.weekdays.is_empty()
        }
    }

    fn time_from(&self, earliest: NaiveTime) -> Option<NaiveTime> {
        let (hour, minute, second) = (earliest.hour(), earliest.minute(), earliest.second());
        for h in (hour..24).filter(|h| has(self.hours, *h)) {
            let from_minute = if h == hour { minute } else { 0 };
            for m in (from_minute..60).filter(|m| has(self.minutes, *m)) {
                let from_second = if (h, m) == (hour, minute) { second } else { 0 };
                if let Some(s) = (from_second..60).find(|s| has(self.seconds, *s)) {
                    return NaiveTime::from_hms_opt(h, m, s);
                }
            }
        }
        None
    }
}

fn has(bits: u64, n: u32) -> bool {
    bits >> n & 1 == 1
}

impl DayOfMonth {
    fn is(self, date: NaiveDate) -> bool {
        let last = last_of_month(date);
        let day = match self {
            Self::Is(day) => Some(day),
            Self::BeforeLast(days) => last.checked_sub(days),
            Self::LastWeekday => nearest_weekday(date, last),
            Self::NearestWeekday(day) => nearest_weekday(date, day),
        };
        day == Some(date.day())
    }
}

impl DayOfWeek {
    fn is(self, date: NaiveDate) -> bool {
        let weekday = date.weekday().number_from_sunday();
        match self {
            Self::Is(day) => day == weekday,
            Self::Last(day) => day == weekday && date.day() + 7 > last_of_month(date),
            Self::Nth(day, nth) => day == weekday && date.day().div_ceil(7) == nth,
        }
    }
}

fn last_of_month(date: NaiveDate) -> u32 {
    (28..=31).rev().find(|day| date.with_day(*day).is_some()).unwrap_or(28)
}

/// Returns the weekday nearest to a day, within the same month.
fn nearest_weekday(of: NaiveDate, day: u32) -> Option<u32> {
    let last = last_of_month(of);
    Some(match of.with_day(day)?.weekday() {
        Weekday::Sat if day == 1 => 3,
        Weekday::Sat => day - 1,
        Weekday::Sun if day == last => day - 2,
        Weekday::Sun => day + 1,
        _ => day,
    })
}

/// Returns the numbers that a field selects. Each part between commas is a number, a range or `*`, with or without a
/// step.
fn numbers(text: &str, from: u32, to: u32) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for item in text.split(',') {
        all.extend(range(item, from, to)?);
    }
    Some(all)
}

fn range(item: &str, from: u32, to: u32) -> Option<impl Iterator<Item = u32> + use<>> {
    let (base, step) = match item.split_once('/') {
        Some((base, step)) => (base, Some(step.parse::<usize>().ok().filter(|step| *step > 0)?)),
        None => (item, None),
    };
    let (first, last) = match base.split_once('-') {
        _ if base == "*" => (from, to),
        Some((first, last)) => (number(first)?, number(last)?),
        // A number with a step is the beginning of a range.
        None => (number(base)?, if step.is_some() { to } else { number(base)? }),
    };
    (from <= first && first <= last && last <= to).then(|| (first..=last).step_by(step.unwrap_or(1)))
}

fn number(text: &str) -> Option<u32> {
    match NAMES.iter().position(|name| *name == text) {
        Some(place) => u32::try_from(place + 1).ok(),
        None => text.parse().ok(),
    }
}

fn days(text: &str) -> Option<Vec<DayOfMonth>> {
    let mut all = Vec::new();
    for item in text.split(',').filter(|item| !matches!(*item, "*" | "?")) {
        if item == "L" {
            all.push(DayOfMonth::BeforeLast(0));
        } else if item == "LW" {
            all.push(DayOfMonth::LastWeekday);
        } else if let Some(before) = item.strip_prefix("L-") {
            all.push(DayOfMonth::BeforeLast(number(before)?));
        } else if let Some(day) = item.strip_suffix('W') {
            all.push(DayOfMonth::NearestWeekday(number(day)?));
        } else {
            all.extend(range(item, 1, 31)?.map(DayOfMonth::Is));
        }
    }
    Some(all)
}

fn weekdays(text: &str) -> Option<Vec<DayOfWeek>> {
    let mut all = Vec::new();
    for item in text.split(',').filter(|item| !matches!(*item, "*" | "?")) {
        if item == "L" {
            all.push(DayOfWeek::Is(7));
        } else if let Some((day, nth)) = item.split_once('#') {
            all.push(DayOfWeek::Nth(number(day)?, number(nth)?));
        } else if let Some(day) = item.strip_suffix('L') {
            all.push(DayOfWeek::Last(number(day)?));
        } else {
            all.extend(range(item, 1, 7)?.map(DayOfWeek::Is));
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expressions, each with its first due times from noon on Monday, 23 November 2026.
    #[rustfmt::skip]
    const CASES: &[(&str, &[&str])] = &[
        // Numbers, lists, ranges, steps.
        ("0 0 9 * * ?",           &["Tue 2026-11-24 09:00:00", "Wed 2026-11-25 09:00:00"]),
        ("30 15 13 * * ? *",      &["Mon 2026-11-23 13:15:30", "Tue 2026-11-24 13:15:30"]),
        ("0 0,30 12-13 * * ?",    &["Mon 2026-11-23 12:00:00", "Mon 2026-11-23 12:30:00", "Mon 2026-11-23 13:00:00"]),
        ("0 5/20 12 * * ?",       &["Mon 2026-11-23 12:05:00", "Mon 2026-11-23 12:25:00", "Mon 2026-11-23 12:45:00", "Tue 2026-11-24 12:05:00"]),
        ("*/30 0 13 * * ?",       &["Mon 2026-11-23 13:00:00", "Mon 2026-11-23 13:00:30", "Tue 2026-11-24 13:00:00"]),
        ("0 0 0 1-10/4 * ?",      &["Tue 2026-12-01 00:00:00", "Sat 2026-12-05 00:00:00", "Wed 2026-12-09 00:00:00", "Fri 2027-01-01 00:00:00"]),
        ("0 0 0 1 */3 ?",         &["Fri 2027-01-01 00:00:00", "Thu 2027-04-01 00:00:00"]),
        ("0 0 0 1 1 ? 2030/5",    &["Tue 2030-01-01 00:00:00", "Mon 2035-01-01 00:00:00"]),
        ("0 0 0 1 1 ? 2027,2029", &["Fri 2027-01-01 00:00:00", "Mon 2029-01-01 00:00:00"]),
        // Days of the month.
        ("0 0 9 15 * ?",          &["Tue 2026-12-15 09:00:00", "Fri 2027-01-15 09:00:00"]),
        ("0 0 9 31 * ?",          &["Thu 2026-12-31 09:00:00", "Sun 2027-01-31 09:00:00", "Wed 2027-03-31 09:00:00"]),
        ("0 0 9 L * ?",           &["Mon 2026-11-30 09:00:00", "Thu 2026-12-31 09:00:00", "Sun 2027-01-31 09:00:00", "Sun 2027-02-28 09:00:00"]),
        ("0 0 9 L-3 * ?",         &["Fri 2026-11-27 09:00:00", "Mon 2026-12-28 09:00:00"]),
        ("0 0 9 LW * ?",          &["Mon 2026-11-30 09:00:00", "Thu 2026-12-31 09:00:00", "Fri 2027-01-29 09:00:00"]),
        ("0 0 9 15W * ?",         &["Tue 2026-12-15 09:00:00", "Fri 2027-01-15 09:00:00"]),
        ("0 0 9 16W 1 ?",         &["Fri 2027-01-15 09:00:00"]),
        ("0 0 9 17W 1 ?",         &["Mon 2027-01-18 09:00:00"]),
        ("0 0 9 1W 5 ?",          &["Mon 2027-05-03 09:00:00"]),
        ("0 0 9 31W 1 ?",         &["Fri 2027-01-29 09:00:00"]),
        ("0 0 9 30W 2 ?",         &[]),
        ("0 0 9 1,15W,L * ?",     &["Mon 2026-11-30 09:00:00", "Tue 2026-12-01 09:00:00", "Tue 2026-12-15 09:00:00", "Thu 2026-12-31 09:00:00"]),
        // Days of the week: Sunday is 1.
        ("0 0 9 ? * 1",           &["Sun 2026-11-29 09:00:00", "Sun 2026-12-06 09:00:00"]),
        ("0 0 9 ? * SUN",         &["Sun 2026-11-29 09:00:00"]),
        ("0 0 9 ? * 7",           &["Sat 2026-11-28 09:00:00"]),
        ("0 0 9 ? * 2-6",         &["Tue 2026-11-24 09:00:00", "Wed 2026-11-25 09:00:00", "Thu 2026-11-26 09:00:00", "Fri 2026-11-27 09:00:00", "Mon 2026-11-30 09:00:00"]),
        ("0 0 9 ? * MON,WED",     &["Wed 2026-11-25 09:00:00", "Mon 2026-11-30 09:00:00"]),
        ("0 0 9 ? * 1/3",         &["Wed 2026-11-25 09:00:00", "Sat 2026-11-28 09:00:00", "Sun 2026-11-29 09:00:00"]),
        ("0 0 9 ? * L",           &["Sat 2026-11-28 09:00:00", "Sat 2026-12-05 09:00:00"]),
        ("0 0 9 ? * 6L",          &["Fri 2026-11-27 09:00:00", "Fri 2026-12-25 09:00:00"]),
        ("0 0 9 ? * FRIL",        &["Fri 2026-11-27 09:00:00"]),
        ("0 0 9 ? * 6#3",         &["Fri 2026-12-18 09:00:00", "Fri 2027-01-15 09:00:00"]),
        ("0 0 9 ? * MON#5",       &["Mon 2026-11-30 09:00:00", "Mon 2027-03-29 09:00:00"]),
        ("0 0 9 ? * 2#1,6L",      &["Fri 2026-11-27 09:00:00", "Mon 2026-12-07 09:00:00", "Fri 2026-12-25 09:00:00"]),
        // Both day fields: a day that either field names is due. If one is `*` or `?`, the other decides alone.
        ("0 0 9 25 * 1",          &["Wed 2026-11-25 09:00:00", "Sun 2026-11-29 09:00:00"]),
        ("0 0 9 25 * *",          &["Wed 2026-11-25 09:00:00", "Fri 2026-12-25 09:00:00"]),
        ("0 0 9 * * SAT",         &["Sat 2026-11-28 09:00:00"]),
        // The end of February, and due times that never come.
        ("0 0 0 29 2 ?",          &["Tue 2028-02-29 00:00:00", "Sun 2032-02-29 00:00:00"]),
        ("0 0 0 ? 2 MON#5",       &["Mon 2044-02-29 00:00:00", "Mon 2072-02-29 00:00:00"]),
        ("0 0 0 30 2 ?",          &[]),
        ("0 0 0 31 2,4,6,9,11 ?", &[]),
        ("0 0 0 1 1 ? 2020",      &[]),
        ("59 59 23 31 12 ? 2099", &["Thu 2099-12-31 23:59:59"]),
    ];

    fn read(expression: &str) -> Option<Timetable> {
        let mut fields: Vec<&str> = expression.split(' ').collect();
        if fields.len() == 6 {
            fields.push("");
        }
        Timetable::read(fields.try_into().ok()?)
    }

    #[test]
    fn each_sign_of_the_interface_means_what_it_says() {
        use pos_gateway_model::find;
        for (expression, expected) in CASES {
            assert_eq!(find("job.expression").unwrap().check(expression), Ok(()), "{expression}");
            let table = read(expression).unwrap();
            let mut from = "2026-11-23T12:00:00Z".parse().unwrap();
            for expected in *expected {
                let at = table.next_from(from).unwrap_or_else(|| panic!("{expression}: never, not {expected}"));
                assert_eq!(at.format("%a %Y-%m-%d %H:%M:%S").to_string(), *expected, "{expression}");
                from = at + TimeDelta::seconds(1);
            }
            if expected.is_empty() || expression.ends_with("2099") {
                assert_eq!(table.next_from(from), None, "{expression}");
            }
        }
    }

    #[test]
    fn what_is_no_timetable_is_none() {
        for wrong in [
            "0 0 9 0 * ?",
            "60 0 9 1 * ?",
            "0 0 9 1 13 ?",
            "0 0/0 9 1 * ?",
            "0 0 9 5-1 * ?",
            "0 0 9 ? * 8",
            "x 0 9 1 * ?",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    proptest::proptest! {
        /// Checks that every expression that the table accepts can be read, and that its due times are correct and in
        /// order.
        #[test]
        fn whatever_has_the_form_can_be_read(
            fields in proptest::collection::vec(proptest::sample::select(vec![
                "*", "?", "0", "1", "5", "7", "12", "1-5", "*/2", "3/2", "1,2", "L", "LW", "L-2", "3W", "6L", "MONL", "2#2", "SUN", "2027-2030",
            ]), 6..8),
        ) {
            let expression = fields.join(" ");
            if pos_gateway_model::find("job.expression").unwrap().check(&expression).is_ok() {
                let table = read(&expression);
                proptest::prop_assert!(table.is_some(), "{}", expression);
                let from: DateTime<Utc> = "2026-11-23T12:00:00.5Z".parse().unwrap();
                if let Some(at) = table.unwrap().next_from(from) {
                    proptest::prop_assert!(at > from && at.nanosecond() == 0);
                }
            }
        }
    }
}
