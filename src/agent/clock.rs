//! The clocks: one that only goes forward, for deadlines, and one that tells people the time, when it can be trusted.
//!
//! A board without a battery boots in 1970 (design: invariant 8; security: 4.3). No time before the build of this program
//! or before the journal's latest record can be right. Until the board's clock is later, the reader's own clock serves, when
//! that one is later; otherwise no sale is taken.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use chrono::{DateTime, Datelike, Local, NaiveDate, NaiveDateTime, TimeZone, Timelike};
use tokio::time::Instant;

use super::Board;
use crate::gateway;
use crate::reader::LocalTime;

/// What a till hears when no clock can be trusted.
pub(super) const UNTRUSTED: &str = "neither the board's clock nor the reader's can be right; set the board's clock \
     (timedatectl) and wait a moment";

/// No program is in service for longer after its build: 15 years.
const LONGEST_SERVICE_MS: i64 = 15 * 366 * 24 * 3600 * 1000;

/// When this program was built, in milliseconds since 1970: no clock that is earlier can be right.
pub(crate) fn built_unix_ms() -> i64 {
    env!("POS_AGENT_BUILD_UNIX_S").parse::<i64>().unwrap_or(0).saturating_mul(1000)
}

/// The earliest time that can be right, in milliseconds since 1970: of the build and the journal's latest record the later.
pub(crate) fn floor_unix_ms(last_unix_ms: i64) -> i64 {
    let built_ms = built_unix_ms();
    // A record from the far future was written by a clock gone wrong; it must not stop the terminal for ever.
    if last_unix_ms < built_ms + LONGEST_SERVICE_MS { built_ms.max(last_unix_ms) } else { built_ms }
}

/// The clocks.
#[derive(Clone)]
pub(super) struct Clock {
    start: Instant,
    board: Board,
    floor_unix_ms: i64,
    /// What must be added to `start`'s age to get the reader's time; zero while it gave none.
    reader_base_unix_ms: Arc<AtomicI64>,
}

impl Clock {
    /// `last_unix_ms` is the time of the journal's latest record.
    pub(super) fn new(board: Board, last_unix_ms: i64) -> Self {
        let floor_unix_ms = floor_unix_ms(last_unix_ms);
        Self { start: Instant::now(), board, floor_unix_ms, reader_base_unix_ms: Arc::default() }
    }

    /// Since the start of the process.
    pub(super) fn monotonic(&self) -> Duration {
        Instant::now().saturating_duration_since(self.start)
    }

    /// The instant of a [`Self::monotonic`] time.
    pub(super) fn instant(&self, at: Duration) -> Instant {
        self.start + at
    }

    /// For the gateway's certificates: the best time, or the earliest that it can be.
    pub(super) fn for_gateway(&self) -> gateway::Time {
        let time = |unix_ms: i64| UNIX_EPOCH + Duration::from_millis(unix_ms.unsigned_abs());
        let board = (self.board)().timestamp_millis();
        if board >= self.floor_unix_ms {
            return gateway::Time::Known(time(board));
        }
        match self.local() {
            Some(local) => gateway::Time::Known(time(local.timestamp_millis())),
            None => gateway::Time::AtLeast(time(self.floor_unix_ms)),
        }
    }

    /// Local time of the board, when it can be right.
    pub(super) fn trusted_board(&self) -> Option<DateTime<Local>> {
        let board = (self.board)().with_timezone(&Local);
        (board.timestamp_millis() >= self.floor_unix_ms).then_some(board)
    }

    /// The best time there is: the board's, else the reader's; `None` when neither can be right.
    pub(super) fn local(&self) -> Option<DateTime<Local>> {
        self.trusted_board().or_else(|| {
            let base = self.reader_base_unix_ms.load(Ordering::Relaxed);
            let age = i64::try_from(self.monotonic().as_millis()).unwrap_or(i64::MAX);
            (base != 0).then(|| Local.timestamp_millis_opt(base.saturating_add(age)).single()).flatten()
        })
    }

    /// For records: the best time, or the floor when there is none.
    pub(super) fn unix_ms(&self) -> i64 {
        // UTC alone: the local time zone would be looked up between a card and its request.
        let board = (self.board)().timestamp_millis();
        if board >= self.floor_unix_ms {
            return board;
        }
        self.local().map_or(self.floor_unix_ms, |local| local.timestamp_millis())
    }

    /// Takes the reader's clock as read at its start-up, when it can be right.
    pub(super) fn reader_says(&self, time: Option<LocalTime>) {
        let Some(unix_ms) = time.and_then(naive).and_then(|naive| Local.from_local_datetime(&naive).earliest()) else {
            return;
        };
        let unix_ms = unix_ms.timestamp_millis();
        if unix_ms >= self.floor_unix_ms {
            let age = i64::try_from(self.monotonic().as_millis()).unwrap_or(0);
            self.reader_base_unix_ms.store(unix_ms - age, Ordering::Relaxed);
        }
    }
}

/// A reader's time as a date; its year has no century.
fn naive(time: LocalTime) -> Option<NaiveDateTime> {
    NaiveDate::from_ymd_opt(2000 + i32::from(time.year), time.month.into(), time.day.into())?.and_hms_opt(
        time.hour.into(),
        time.minute.into(),
        time.second.into(),
    )
}

/// A date as the reader wants it.
pub(super) fn for_reader(local: &DateTime<Local>) -> LocalTime {
    let small = |number: u32| u8::try_from(number).expect("parts of a date are below 100");
    LocalTime {
        year: small(local.year().unsigned_abs() % 100),
        month: small(local.month()),
        day: small(local.day()),
        hour: small(local.hour()),
        minute: small(local.minute()),
        second: small(local.second()),
    }
}

#[cfg(test)]
mod tests {
    use chrono::Utc;

    use super::*;

    /// Ten years from the build: later than any board clock these tests meet.
    fn later() -> (Clock, DateTime<Local>) {
        let built_ms = env!("POS_AGENT_BUILD_UNIX_S").parse::<i64>().unwrap() * 1000;
        let last = built_ms + 10 * 365 * 24 * 3600 * 1000;
        (Clock::new(Arc::new(Utc::now), last), Local.timestamp_millis_opt(last).unwrap())
    }

    #[test]
    fn a_board_in_the_past_uses_the_readers_clock_when_that_can_be_right() {
        let (clock, last) = later();
        assert!(clock.local().is_none() && clock.trusted_board().is_none());
        let floor = UNIX_EPOCH + Duration::from_millis(last.timestamp_millis().unsigned_abs());
        assert_eq!(clock.for_gateway(), gateway::Time::AtLeast(floor));
        clock.reader_says(Some(for_reader(&(last - chrono::TimeDelta::days(2)))));
        assert!(clock.local().is_none(), "before the floor");
        clock.reader_says(Some(for_reader(&(last + chrono::TimeDelta::days(2)))));
        assert!(clock.local().is_some_and(|local| local > last));
        assert!(matches!(clock.for_gateway(), gateway::Time::Known(time) if time > floor));
        assert!(Clock::new(Arc::new(Utc::now), 0).trusted_board().is_some());
    }

    #[test]
    fn a_record_from_the_far_future_does_not_stop_the_terminal() {
        assert!(Clock::new(Arc::new(Utc::now), 4_102_444_800_000 * 10).local().is_some());
    }

    #[test]
    fn impossible_dates_of_a_reader_are_ignored() {
        let (clock, _) = later();
        clock.reader_says(Some(LocalTime { year: 99, month: 13, day: 40, hour: 0, minute: 0, second: 0 }));
        assert!(clock.local().is_none());
    }
}
