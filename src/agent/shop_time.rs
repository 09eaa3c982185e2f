//! The shop's time: local times with their offset, and business days, in the time zone of the closes. It is only for
//! people. No order and no sum depends on it.

use chrono::{DateTime, FixedOffset, Local, SecondsFormat, Utc};

use crate::config::CloseOfDay;
use pos_core::counter::DayEnd;

/// The time zone, and the time of day at which a business day ends.
pub(super) struct ShopTime {
    /// The configured zone; `None` is the board's, which may change while the agent runs.
    zone: Option<tz::TimeZone>,
    day_end: DayEnd,
}

impl ShopTime {
    /// Creates the shop's time from a configuration that has been checked. If the zone's file has since been removed
    /// from the disk, the board's zone is used.
    pub(super) fn new(config: &CloseOfDay) -> Self {
        let zone = config.zone().unwrap_or_else(|error| {
            tracing::warn!(%error, "the time zone of the closes cannot be read; the board's time zone is used");
            None
        });
        Self { zone, day_end: config.day_end().unwrap_or(DayEnd::MIDNIGHT) }
    }

    /// Formats a moment for people, and returns it with its business day.
    pub(super) fn tell(&self, unix_ms: i64) -> (String, String) {
        let local = self.local(unix_ms);
        let day = self.day_end.day_of(local.naive_local());
        (local.to_rfc3339_opts(SecondsFormat::Secs, false), day.to_string())
    }

    fn local(&self, unix_ms: i64) -> DateTime<FixedOffset> {
        let utc = DateTime::<Utc>::from_timestamp_millis(unix_ms).unwrap_or_default();
        let Some(zone) = &self.zone else { return utc.with_timezone(&Local).fixed_offset() };
        let seconds = zone.find_local_time_type(utc.timestamp()).map_or(0, tz::LocalTimeType::ut_offset);
        utc.with_timezone(&FixedOffset::east_opt(seconds).unwrap_or(UTC))
    }
}

const UTC: FixedOffset = match FixedOffset::east_opt(0) {
    Some(utc) => utc,
    None => panic!("zero is an offset"),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_told_in_the_shops_own_time_through_both_changes_of_it() {
        let berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
        // Columns: time zone | end of the day | UTC | local | business day.
        for (zone, end, utc, local, day) in [
            (berlin, "04:00", "2026-11-22T22:30:00Z", "2026-11-22T23:30:00+01:00", "2026-11-22"),
            (berlin, "04:00", "2026-11-23T01:30:00Z", "2026-11-23T02:30:00+01:00", "2026-11-22"),
            // In this night, the hour from 02:00 to 03:00 is missing. In the other, it occurs twice.
            (berlin, "02:30", "2026-03-29T00:59:59Z", "2026-03-29T01:59:59+01:00", "2026-03-28"),
            (berlin, "02:30", "2026-03-29T01:00:00Z", "2026-03-29T03:00:00+02:00", "2026-03-29"),
            (berlin, "02:30", "2026-10-25T00:15:00Z", "2026-10-25T02:15:00+02:00", "2026-10-24"),
            (berlin, "02:30", "2026-10-25T00:45:00Z", "2026-10-25T02:45:00+02:00", "2026-10-25"),
            (berlin, "02:30", "2026-10-25T01:15:00Z", "2026-10-25T02:15:00+01:00", "2026-10-24"),
            ("EST5EDT,M3.2.0,M11.1.0", "00:00", "2026-07-01T03:59:59Z", "2026-06-30T23:59:59-04:00", "2026-06-30"),
            ("<+14>-14", "00:00", "2026-06-30T10:00:00Z", "2026-07-01T00:00:00+14:00", "2026-07-01"),
        ] {
            let config = CloseOfDay { day_ends_at: end.to_owned(), time_zone: Some(zone.to_owned()) };
            let utc = DateTime::parse_from_rfc3339(utc).unwrap().timestamp_millis();
            assert_eq!(ShopTime::new(&config).tell(utc), (local.to_owned(), day.to_owned()));
        }
    }
}
