//! The business day: the date that a close belongs to. If a bar closes at two in the morning, the close belongs to the
//! previous day.

use std::str::FromStr;

use chrono::{Days, NaiveDate, NaiveDateTime, NaiveTime};

/// The local time at which a business day ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayEnd(NaiveTime);

/// The error for a text that is not a valid time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a time of day with two digits each, such as 04:00")]
pub struct NoDayEnd;

impl FromStr for DayEnd {
    type Err = NoDayEnd;

    fn from_str(text: &str) -> Result<Self, NoDayEnd> {
        time_of_day(text).map(Self).ok_or(NoDayEnd)
    }
}

/// Reads a time of day with two digits each, such as `04:00`.
#[must_use]
pub fn time_of_day(text: &str) -> Option<NaiveTime> {
    let (hour, minute) = text.split_once(':')?;
    let digits = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = |text: &str| text.parse().ok().filter(|_| digits(text));
    NaiveTime::from_hms_opt(number(hour)?, number(minute)?, 0)
}

impl DayEnd {
    /// The end of the calendar day.
    pub const MIDNIGHT: Self = Self(NaiveTime::MIN);

    /// Returns the business day of a local time. If the day ends before noon, the hours before that time belong to the
    /// previous date. If it ends at noon or later, the hours after that time belong to the next date.
    #[must_use]
    pub fn day_of(self, local: NaiveDateTime) -> NaiveDate {
        let (date, is_over) = (local.date(), local.time() >= self.0);
        let one = Days::new(1);
        match (self.0 < NOON, is_over) {
            (true, false) => date.checked_sub_days(one).unwrap_or(date),
            (false, true) => date.checked_add_days(one).unwrap_or(date),
            _ => date,
        }
    }
}

const NOON: NaiveTime = match NaiveTime::from_hms_opt(12, 0, 0) {
    Some(noon) => noon,
    None => NaiveTime::MIN,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_close_belongs_to_the_day_that_its_end_closes() {
        // Columns: the end of the day, the time of the close, the business day.
        for (end, local, day) in [
            ("00:00", "2026-11-22 00:00:00", "2026-11-22"),
            ("00:00", "2026-11-22 23:59:59", "2026-11-22"),
            ("04:00", "2026-11-22 23:30:00", "2026-11-22"),
            ("04:00", "2026-11-23 03:59:59", "2026-11-22"),
            ("04:00", "2026-11-23 04:00:00", "2026-11-23"),
            ("22:00", "2026-11-22 21:59:59", "2026-11-22"),
            ("22:00", "2026-11-22 22:00:00", "2026-11-23"),
            ("12:00", "2026-11-22 12:00:00", "2026-11-23"),
            ("04:00", "2027-01-01 01:00:00", "2026-12-31"),
            ("04:00", "2028-03-01 01:00:00", "2028-02-29"),
        ] {
            let local = NaiveDateTime::parse_from_str(local, "%Y-%m-%d %H:%M:%S").unwrap();
            assert_eq!(end.parse::<DayEnd>().unwrap().day_of(local).to_string(), day, "{end} {local}");
        }
    }

    #[test]
    fn an_end_is_a_time_of_day() {
        for wrong in ["", "4", "4:00", "04:0", "24:00", "04:60", "04:00:00", "+4:00", "aa:bb", "04.00"] {
            assert_eq!(wrong.parse::<DayEnd>(), Err(NoDayEnd), "{wrong}");
        }
    }
}
