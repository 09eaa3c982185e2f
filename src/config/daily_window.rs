//! The daily time in which a fleet may restart the terminal or change its settings.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// The minutes of a day.
const DAY: u16 = 24 * 60;

/// A daily time, such as `02:00-05:00`, in the board's local time. It may span midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DailyWindow {
    /// The first minute of the day in it.
    from: u16,
    /// The first minute of the day after it.
    to: u16,
}

/// The reason why a text is no daily time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a daily time with two different ends from 00:00 to 23:59")]
pub struct NoDailyWindow;

impl DailyWindow {
    /// Returns whether a minute of the day is in it.
    #[must_use]
    pub fn contains(self, minute: u16) -> bool {
        let since = |start: u16, at: u16| (at + DAY - start) % DAY;
        since(self.from, minute % DAY) < since(self.from, self.to)
    }
}

impl FromStr for DailyWindow {
    type Err = NoDailyWindow;

    fn from_str(text: &str) -> Result<Self, NoDailyWindow> {
        let (from, to) = text.split_once('-').ok_or(NoDailyWindow)?;
        let (from, to) = (minute(from)?, minute(to)?);
        if from == to { Err(NoDailyWindow) } else { Ok(Self { from, to }) }
    }
}

/// Returns the minute of the day for a text such as `02:00`.
fn minute(text: &str) -> Result<u16, NoDailyWindow> {
    let number = |text: &str, below: u16| {
        let is_plain = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|number: &u16| is_plain && *number < below);
        number.ok_or(NoDailyWindow)
    };
    let (hours, minutes) = text.split_once(':').ok_or(NoDailyWindow)?;
    Ok(number(hours, 24)? * 60 + number(minutes, 60)?)
}

impl fmt::Display for DailyWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
        write!(f, "{}-{}", time(self.from), time(self.to))
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
            ("02:00-05:00", [120, 299], [119, 300]),
            ("22:30-01:15", [1350, 74], [1349, 75]),
            ("00:00-23:59", [0, 1438], [1439, 1439]),
        ] {
            let window: DailyWindow = text.parse().unwrap();
            assert!(inside.into_iter().all(|minute| window.contains(minute)), "{text}");
            assert!(!outside.into_iter().any(|minute| window.contains(minute)), "{text}");
            assert_eq!(window.to_string(), text);
        }
        for wrong in
            ["", "02:00", "02:00-02:00", "2:00-05:00", "24:00-05:00", "02:60-05:00", "02:00-05:00-06:00", "+1:00-05:00"]
        {
            assert_eq!(wrong.parse::<DailyWindow>(), Err(NoDailyWindow), "{wrong}");
        }
    }
}
