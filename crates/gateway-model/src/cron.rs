//! The fields of a subscription's schedule (interface: Scheduling). They contain numbers, `,` `-` `*` `/`, and for days
//! also `?` `L` `W` `#`.
//!
//! Assumed from the usual meaning of such expressions, because the interface only lists the characters:
//! - each item between commas is checked separately, even with `L`, `W` or `#`;
//! - a range is ascending;
//! - `/` follows `*`, a number or a range;
//! - `?`, which means that the field has no condition, must be the whole field;
//! - `job.minute` is a single number, because its row lists no other characters. The minutes of `job.expression` may be
//!   written like its seconds.

use super::format::Problem;

/// The fields of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cron {
    /// 0-59.
    Second,
    /// 0-59, a single number.
    Minute,
    /// 0-23.
    Hour,
    /// 1-31.
    DayOfMonth,
    /// 1-12.
    Month,
    /// 1-7 or SUN-SAT.
    DayOfWeek,
    /// Empty, or 1970-2099.
    Year,
    /// All fields in this order; the year may be omitted.
    Expression,
}

const DAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
/// The maximum length of an expression: AN256.
const LONGEST: usize = 256;

impl Cron {
    pub(super) fn check(self, value: &str) -> Result<(), Problem> {
        if value.len() > LONGEST {
            return Err(Problem::Long(value.chars().count()));
        }
        match self {
            Self::Expression => expression(value),
            Self::Minute => self.number(value).map(|_| ()),
            Self::Year if value.is_empty() => Ok(()),
            _ => self.field(value),
        }
    }

    /// Checks a whole field.
    fn field(self, value: &str) -> Result<(), Problem> {
        match self {
            Self::DayOfMonth | Self::DayOfWeek if value == "?" => Ok(()),
            _ => value.split(',').try_for_each(|item| self.item(item)),
        }
    }

    /// Checks one item between commas: a day with `L`, `W` or `#`; or `*`, `5` or `1-5`, with or without a step.
    fn item(self, item: &str) -> Result<(), Problem> {
        match self {
            Self::DayOfMonth if self.last_or_nearest(item) => return Ok(()),
            Self::DayOfWeek if self.last_or_nth(item) => return Ok(()),
            _ => {}
        }
        let (base, step) = match item.split_once('/') {
            Some((base, step)) => (base, Some(step)),
            None => (item, None),
        };
        if base != "*" {
            let (from, to) = base.split_once('-').unwrap_or((base, base));
            if self.number(from)? > self.number(to)? {
                return Err(Problem::Bounds);
            }
        }
        match step {
            Some(step) => {
                plain(step).filter(|step| (1..=self.bounds().1).contains(step)).map(|_| ()).ok_or(Problem::Bounds)
            }
            None => Ok(()),
        }
    }

    /// Checks for `L`, `LW`, `L-3`, `15W`.
    fn last_or_nearest(self, value: &str) -> bool {
        let day = |text: &str| self.number(text).is_ok();
        matches!(value, "L" | "LW") || value.strip_prefix("L-").or(value.strip_suffix('W')).is_some_and(day)
    }

    /// Checks for `L`, `6L`, `FRIL`, `6#3`.
    fn last_or_nth(self, value: &str) -> bool {
        let day = |text: &str| self.number(text).is_ok();
        let nth = |(of, nth): (&str, &str)| day(of) && matches!(nth, "1" | "2" | "3" | "4" | "5");
        value == "L" || value.strip_suffix('L').is_some_and(day) || value.split_once('#').is_some_and(nth)
    }

    /// Parses one number of this field, or the name of a day.
    fn number(self, text: &str) -> Result<u32, Problem> {
        if let (Self::DayOfWeek, Some(day)) = (self, DAYS.iter().position(|day| *day == text)) {
            return u32::try_from(day + 1).map_err(|_| Problem::Bounds);
        }
        let (min, max) = self.bounds();
        let number = plain(text).ok_or(if text.is_empty() { Problem::Shape } else { Problem::Character })?;
        if (min..=max).contains(&number) { Ok(number) } else { Err(Problem::Bounds) }
    }

    fn bounds(self) -> (u32, u32) {
        match self {
            Self::Second | Self::Minute | Self::Expression => (0, 59),
            Self::Hour => (0, 23),
            Self::DayOfMonth => (1, 31),
            Self::Month => (1, 12),
            Self::DayOfWeek => (1, 7),
            Self::Year => (1970, 2099),
        }
    }

    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Second => "0-59 and , - * /",
            Self::Minute => "0-59",
            Self::Hour => "0-23 and , - * /",
            Self::DayOfMonth => "1-31 and , - * ? / L W",
            Self::Month => "1-12 and , - * /",
            Self::DayOfWeek => "1-7 or SUN-SAT and , - * ? / L #",
            Self::Year => "empty, 1970-2099, and , - * /",
            Self::Expression => "AN256, cron",
        }
    }

    pub(super) fn says(self) -> &'static str {
        match self {
            Self::Expression => {
                "second, minute, hour, day of month, month, day of week and, if wanted, year, with spaces between"
            }
            other => other.code(),
        }
    }
}

fn expression(value: &str) -> Result<(), Problem> {
    // The minutes of an expression are written like its seconds.
    const FIELDS: [Cron; 7] =
        [Cron::Second, Cron::Second, Cron::Hour, Cron::DayOfMonth, Cron::Month, Cron::DayOfWeek, Cron::Year];
    let given = value.split_ascii_whitespace().count();
    if !matches!(given, 6 | 7) {
        return Err(Problem::Shape);
    }
    FIELDS.iter().zip(value.split_ascii_whitespace()).try_for_each(|(field, text)| field.field(text))
}

/// Parses a text of one to four digits.
fn plain(text: &str) -> Option<u32> {
    let digits = (1..=4).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}
