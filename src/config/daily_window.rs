//! The daily time in which a fleet may restart the terminal or change its settings.

use std::fmt;
use std::str::FromStr;

use chrono::NaiveTime;
use pos_core::counter::time_of_day;
use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// A daily time, such as `02:00-05:00`, in the board's local time. It may span midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DailyWindow {
    /// The first moment in it.
    from: NaiveTime,
    /// The first moment after it.
    to: NaiveTime,
}

/// The reason why a text is no daily time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a daily time with two different ends from 00:00 to 23:59")]
pub struct NoDailyWindow;

impl DailyWindow {
    /// Returns whether a time of day is in it.
    #[must_use]
    pub fn contains(self, time: NaiveTime) -> bool {
        match self.from < self.to {
            true => (self.from..self.to).contains(&time),
            false => time >= self.from || time < self.to,
        }
    }
}

impl FromStr for DailyWindow {
    type Err = NoDailyWindow;

    fn from_str(text: &str) -> Result<Self, NoDailyWindow> {
        let (from, to) = text.split_once('-').ok_or(NoDailyWindow)?;
        let ends = time_of_day(from).zip(time_of_day(to)).filter(|(from, to)| from != to);
        ends.map(|(from, to)| Self { from, to }).ok_or(NoDailyWindow)
    }
}

impl fmt::Display for DailyWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.from.format("%H:%M"), self.to.format("%H:%M"))
    }
}

impl<'de> Deserialize<'de> for DailyWindow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|error| D::Error::custom(format_args!("{text:?} {error}; write it as \"02:00-05:00\"")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_may_span_midnight_and_its_end_is_not_in_it() {
        for (text, inside, outside) in [
            ("02:00-05:00", ["02:00", "04:59"], ["01:59", "05:00"]),
            ("22:30-01:15", ["22:30", "01:14"], ["22:29", "01:15"]),
            ("00:00-23:59", ["00:00", "23:58"], ["23:59", "23:59"]),
        ] {
            let window: DailyWindow = text.parse().unwrap();
            let has = |time: &str| window.contains(time_of_day(time).unwrap());
            assert!(inside.into_iter().all(has), "{text}");
            assert!(!outside.into_iter().any(has), "{text}");
            assert_eq!(window.to_string(), text);
        }
        for wrong in
            ["", "02:00", "02:00-02:00", "2:00-05:00", "24:00-05:00", "02:60-05:00", "02:00-05:00-06:00", "+1:00-05:00"]
        {
            assert_eq!(wrong.parse::<DailyWindow>(), Err(NoDailyWindow), "{wrong}");
        }
    }
}
