//! The settings for closes of day: the end of a business day, and the time zone.

use serde::Deserialize;

use pos_core::counter::{DayEnd, NoDayEnd};
use pos_daemon::settings::{ConfigFault, FaultList};

/// The settings for closes of day.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct CloseOfDay {
    /// The local time at which a business day ends, such as `04:00`. A close before this time belongs to the previous
    /// date. If the time is noon or later, a close after this time belongs to the next date.
    pub day_ends_at: String,
    /// The time zone of the closes, such as `Europe/Berlin` from the system's `/usr/share/zoneinfo`, or in POSIX form
    /// (`CET-1CEST,M3.5.0,M10.5.0/3`). The default is the board's own.
    pub time_zone: Option<String>,
}

impl Default for CloseOfDay {
    fn default() -> Self {
        // Shops that are open at night close before the first delivery in the morning.
        Self { day_ends_at: "04:00".to_owned(), time_zone: None }
    }
}

impl CloseOfDay {
    /// Returns the end of a business day.
    ///
    /// # Errors
    /// Returns an error if the setting is not a time of day. `config::load` refuses such a file.
    pub fn day_end(&self) -> Result<DayEnd, NoDayEnd> {
        self.day_ends_at.parse()
    }

    /// Returns the time zone, or `None` for the board's own.
    ///
    /// # Errors
    /// Returns an error if no zone has this name. `config::load` refuses such a file.
    pub fn zone(&self) -> Result<Option<tz::TimeZone>, tz::Error> {
        self.time_zone.as_deref().map(tz::TimeZone::from_posix_tz).transpose()
    }
}

/// Checks the section.
pub(super) fn check(found: &mut FaultList, close: &CloseOfDay) {
    let fault = |key: &str, wrong: String, remedy: &str| ConfigFault {
        line: None,
        key: format!("close.{key}"),
        wrong,
        remedy: remedy.to_owned(),
    };
    let end = close.day_end().map(drop);
    found.add(end.map_err(|error| fault("day-ends-at", error.to_string(), "write it as \"04:00\", or omit the key")));
    let zone = close.zone().map(drop).map_err(|error| {
        let named = close.time_zone.as_deref().unwrap_or_default();
        let remedy = "write the name of a zone in /usr/share/zoneinfo (package tzdata), or omit the key to use the \
            board's time zone";
        fault("time-zone", format!("there is no time zone {named:?} ({error})"), remedy)
    });
    found.add(zone);
}
