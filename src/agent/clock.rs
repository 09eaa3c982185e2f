//! The clocks: a monotonic one for deadlines, and a wall clock for people, which is used only if it can be trusted.
//!
//! A board without a battery boots in 1970 (design: invariant 8; security: 4.3). A time before the build of this
//! program or before the journal's latest record cannot be right. If the board's clock shows such a time, the agent
//! uses the reader's clock, provided its time can be right. Otherwise the agent begins no transaction.
//!
//! # A clock that was ahead
//!
//! The agent trusts no clock that is earlier than the journal's latest record. If the board's clock was briefly ahead,
//! that record blocks all correct clocks. So the agent accepts an earlier time if the reader's clock and the gateway's
//! `Date` agree on it. It writes the time into the journal and then trusts it. The two clocks may differ by at most
//! five minutes, and neither may be earlier than the build of this program. An attacker who controls the connection to
//! only one of the two devices cannot set the clock back. The reader's clock is independent evidence only if the
//! board's clock does not set it (see [`Clock::for_the_reader`]). The agent sets the reader's clock as soon as the
//! gateway confirms the board's clock, whichever of the two devices answers first. A reader whose clock was never set
//! is no evidence after a restart.
//!
//! If that record's time is too late, the gateway's certificate may seem to have expired. So the probe, which sends no
//! token, checks the certificate against the reader's time instead ([`Clock::doubted`]). All other connections still
//! check it against the floor. To misuse this, an impostor would need the key of an expired certificate and control of
//! the reader's clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Datelike, Local, NaiveDate, NaiveDateTime, SecondsFormat, TimeZone, Timelike, Utc};
use tokio::time::Instant;

use super::BoardClock;
use pos_core::transaction::Now;
use pos_journal::CLOCKS_DIFFER_MS;
use pos_reader::LocalTime;
use pos_words::{Message, Sentence};

/// The longest service life of a program after its build: 15 years.
const LONGEST_SERVICE_MS: i64 = 15 * 366 * 24 * 3600 * 1000;

/// Returns the build time of this program, in milliseconds since 1970. No earlier clock can be right.
pub(crate) fn built_unix_ms() -> i64 {
    env!("POS_AGENT_BUILD_UNIX_S").parse::<i64>().unwrap_or(0).saturating_mul(1000)
}

/// Returns the earliest time that can be right, in milliseconds since 1970. It is the build or the journal's latest
/// record, whichever is later.
pub(crate) fn floor_unix_ms(last_unix_ms: i64) -> i64 {
    let built_ms = built_unix_ms();
    // A record from the far future, written by a wrong clock, must not stop the terminal for ever.
    if last_unix_ms < built_ms + LONGEST_SERVICE_MS { built_ms.max(last_unix_ms) } else { built_ms }
}

/// The clocks.
#[derive(Clone)]
pub(super) struct Clock {
    start: Instant,
    board: BoardClock,
    floor_unix_ms: Arc<AtomicI64>,
    reader: Witness,
    /// True once the reader has been ready, whatever time it reported.
    reader_was_asked: Arc<AtomicBool>,
    gateway: Witness,
}

/// The clock of another device, as the difference between its time and the age of this process, in milliseconds. The
/// value is zero until the device reports a time.
#[derive(Clone, Default)]
struct Witness(Arc<AtomicI64>);

impl Witness {
    fn says(&self, unix_ms: i64, age_ms: i64) {
        self.0.store(unix_ms.saturating_sub(age_ms), Ordering::Relaxed);
    }

    fn says_nothing(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    fn time(&self, age_ms: i64) -> Option<i64> {
        let base = self.0.load(Ordering::Relaxed);
        (base != 0).then(|| base.saturating_add(age_ms))
    }
}

impl Clock {
    /// Creates the clocks; `last_unix_ms` is the time of the journal's latest record.
    pub(super) fn new(board: BoardClock, last_unix_ms: i64) -> Self {
        let floor_unix_ms = Arc::new(AtomicI64::new(floor_unix_ms(last_unix_ms)));
        let (reader, gateway) = (Witness::default(), Witness::default());
        Self { start: Instant::now(), board, floor_unix_ms, reader, reader_was_asked: Arc::default(), gateway }
    }

    /// Returns the floor: no earlier clock can be right.
    fn floor(&self) -> i64 {
        self.floor_unix_ms.load(Ordering::Relaxed)
    }

    /// Returns the age of the process, in milliseconds.
    pub(super) fn age_ms(&self) -> i64 {
        i64::try_from(self.monotonic().as_millis()).unwrap_or(i64::MAX)
    }

    /// Returns the time of the reader's clock, even if it is before the journal's latest record. The time is never
    /// before the build.
    fn reader(&self) -> Option<i64> {
        self.reader.time(self.age_ms())
    }

    /// Returns the time of the gateway's clock, in milliseconds since 1970, if the gateway has reported it.
    pub(super) fn gateway(&self) -> Option<i64> {
        self.gateway.time(self.age_ms())
    }

    /// Returns the time since the start of the process.
    pub(super) fn monotonic(&self) -> Duration {
        Instant::now().saturating_duration_since(self.start)
    }

    /// Converts a [`Self::monotonic`] time to an instant.
    pub(super) fn instant(&self, at: Duration) -> Instant {
        self.start + at
    }

    /// Returns the time for checking the gateway's certificates: the best time, or the earliest possible one.
    pub(super) fn for_gateway(&self) -> pos_gateway::Time {
        let board = (self.board)().timestamp_millis();
        if board >= self.floor() {
            return pos_gateway::Time::Known(system(board));
        }
        match self.local() {
            Some(local) => pos_gateway::Time::Known(system(local.timestamp_millis())),
            None => pos_gateway::Time::AtLeast(system(self.floor())),
        }
    }

    /// Returns the reader's time for the probe, if only a journal record contradicts it. That record may come from a
    /// wrong clock and lie in the future, so the probe does not check the certificate against it.
    pub(super) fn doubted(&self) -> Option<pos_gateway::Time> {
        self.reader().filter(|_| self.local().is_none()).map(|reader| pos_gateway::Time::Known(system(reader)))
    }

    /// Returns the board's local time, if it can be right.
    pub(super) fn trusted_board(&self) -> Option<DateTime<Local>> {
        let board = (self.board)().with_timezone(&Local);
        (board.timestamp_millis() >= self.floor()).then_some(board)
    }

    /// Returns the best time: the board's, or else the reader's. Returns `None` if neither can be right.
    pub(super) fn local(&self) -> Option<DateTime<Local>> {
        self.trusted_board().or_else(|| {
            let reader = self.reader().filter(|reader| *reader >= self.floor())?;
            Local.timestamp_millis_opt(reader).single()
        })
    }

    /// Returns the time for records: the best time, or the floor when there is none.
    pub(super) fn unix_ms(&self) -> i64 {
        // This uses UTC only: a look-up of the local time zone would delay the request after a card is read.
        let board = (self.board)().timestamp_millis();
        let floor = self.floor();
        if board >= floor {
            return board;
        }
        self.local().map_or(floor, |local| local.timestamp_millis())
    }

    /// Returns both times, for a step of the core.
    pub(super) fn now(&self) -> Now {
        Now { monotonic: self.monotonic(), unix_ms: self.unix_ms() }
    }

    /// Returns the wall clock time after `left`.
    pub(super) fn unix_ms_in(&self, left: Duration) -> i64 {
        self.unix_ms().saturating_add(i64::try_from(left.as_millis()).unwrap_or(i64::MAX))
    }

    /// Records the reader's clock, as read when the reader started, if it can be right.
    pub(super) fn reader_says(&self, time: Option<LocalTime>) {
        self.reader_was_asked.store(true, Ordering::Relaxed);
        // If the reader's clock was set immediately, the agent did not ask for its time.
        let Some(time) = time else { return };
        let local = naive(time).and_then(|naive| Local.from_local_datetime(&naive).earliest());
        // The year has two digits: a reader that starts in 1970 reports 2070.
        let possible = built_unix_ms()..built_unix_ms() + LONGEST_SERVICE_MS;
        match local.map(|local| local.timestamp_millis()).filter(|unix_ms| possible.contains(unix_ms)) {
            Some(unix_ms) => self.reader.says(unix_ms, self.age_ms()),
            None => self.reader.says_nothing(),
        }
    }

    /// Records the gateway's clock (`Date`), in seconds since 1970, if the answer contained one.
    pub(super) fn gateway_says(&self, unix_s: Option<i64>) {
        if let Some(unix_s) = unix_s {
            self.gateway.says(unix_s.saturating_mul(1000), self.age_ms());
        }
    }

    /// Returns the time for setting the reader's clock, if it may be set. The reader's clock is evidence against the
    /// board's, so the agent changes it by a large amount only if the gateway confirms the board's clock. Until the
    /// gateway has answered, the agent sets the reader's clock only if it is close to the board's or cannot be right.
    pub(super) fn for_the_reader(&self) -> Option<LocalTime> {
        let board = self.trusted_board()?;
        let unix_ms = board.timestamp_millis();
        let may_be_set = match (self.gateway(), self.reader()) {
            (Some(gateway), _) => are_near(gateway, unix_ms),
            (None, Some(reader)) => are_near(reader, unix_ms),
            (None, None) => self.reader_was_asked.load(Ordering::Relaxed),
        };
        may_be_set.then(|| {
            self.reader.says(unix_ms, self.age_ms());
            for_reader(&board)
        })
    }

    /// Returns the time on which the reader and the gateway agree, if only the journal's latest record contradicts it.
    pub(super) fn agreed_earlier(&self) -> Option<i64> {
        // This uses UTC only, as in `unix_ms`, because each turn of the loop calls it.
        if (self.board)().timestamp_millis() >= self.floor() {
            return None;
        }
        let (reader, gateway) = (self.reader()?, self.gateway()?);
        let now = reader.max(gateway);
        let agree = are_near(reader, gateway) && reader.min(gateway) >= built_unix_ms();
        (agree && now.saturating_add(CLOCKS_DIFFER_MS) < self.floor()).then_some(now)
    }

    /// Sets the floor back to about `now_unix_ms`. Clocks may then be earlier than the journal's latest record.
    pub(super) fn set_back(&self, now_unix_ms: i64) {
        let floor = floor_unix_ms(now_unix_ms.saturating_sub(CLOCKS_DIFFER_MS));
        self.floor_unix_ms.store(floor, Ordering::Relaxed);
    }

    /// Returns the reason why no clock can be right, and the remedy.
    pub(super) fn untrusted(&self) -> Sentence {
        let board = (self.board)().timestamp_millis();
        if board < built_unix_ms() {
            return Message::AttentionClockUntrusted.into();
        }
        Message::AttentionClockBehindJournal.with("board", said(board)).with("latest", said(self.floor()))
    }
}

/// The state of the clock in the log.
#[derive(Debug, Default)]
pub(super) struct ClockWatch {
    /// True if the log says that no clock can be right.
    is_told: bool,
}

impl ClockWatch {
    /// Logs once that no clock can be right, and once that one can be again.
    pub(super) fn look(&mut self, clock: &Clock) {
        let board_ms = (clock.board)().timestamp_millis();
        // Each turn of the loop makes this check, so it uses UTC only, as in `unix_ms`.
        let is_right = board_ms >= clock.floor() || clock.local().is_some();
        if self.is_told != is_right {
            return;
        }
        self.is_told = !is_right;
        let board = said(board_ms);
        if is_right {
            tracing::info!(board, "a clock can be right again");
        } else {
            tracing::warn!(reason = "clock-untrusted", board, "no sale can begin: {}", clock.untrusted());
        }
    }
}

/// Formats a time for messages.
pub(crate) fn said(unix_ms: i64) -> String {
    let time = DateTime::<Utc>::from_timestamp_millis(unix_ms);
    time.map_or_else(|| "no time".to_owned(), |time| time.to_rfc3339_opts(SecondsFormat::Secs, true))
}

fn are_near(one: i64, other: i64) -> bool {
    one.abs_diff(other) <= CLOCKS_DIFFER_MS.unsigned_abs()
}

fn system(unix_ms: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(unix_ms.unsigned_abs())
}

/// Converts a reader's time, whose year has two digits, to a date.
fn naive(time: LocalTime) -> Option<NaiveDateTime> {
    NaiveDate::from_ymd_opt(2000 + i32::from(time.year), time.month.into(), time.day.into())?.and_hms_opt(
        time.hour.into(),
        time.minute.into(),
        time.second.into(),
    )
}

/// Converts a date to the reader's format.
pub(crate) fn for_reader(local: &DateTime<Local>) -> LocalTime {
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
    use chrono::TimeDelta;

    use super::*;

    /// Returns the clocks, and a time ten years after the build, which is later than any board clock in these tests.
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
        assert_eq!(clock.for_gateway(), pos_gateway::Time::AtLeast(floor));
        clock.reader_says(Some(for_reader(&(last - TimeDelta::days(2)))));
        assert!(clock.local().is_none(), "before the floor");
        clock.reader_says(Some(for_reader(&(last + TimeDelta::days(2)))));
        assert!(clock.local().is_some_and(|local| local > last));
        assert!(matches!(clock.for_gateway(), pos_gateway::Time::Known(time) if time > floor));
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

    /// Returns clocks whose journal has a record from a year after the build. The board's time is a day after the
    /// build.
    fn held_up() -> (Clock, DateTime<Local>) {
        let day = 24 * 3600 * 1000;
        let now = DateTime::<Utc>::from_timestamp_millis(built_unix_ms() + day).unwrap();
        (Clock::new(Arc::new(move || now), built_unix_ms() + 365 * day), now.with_timezone(&Local))
    }

    #[tokio::test(start_paused = true)]
    async fn the_clock_goes_back_only_when_reader_and_gateway_agree() {
        let minutes = TimeDelta::minutes;
        let built = Local.timestamp_millis_opt(built_unix_ms()).unwrap();
        let (_, now) = held_up();
        // Columns: the reader's time | the gateway's time | whether they agree.
        for (reader, gateway, agree) in [
            (Some(now), Some(now), true),
            (Some(now), Some(now + minutes(4)), true),
            (Some(now + minutes(4)), Some(now), true),
            (Some(now), Some(now + minutes(6)), false),
            (Some(now + minutes(6)), Some(now), false),
            // Only one of the two devices reports a time.
            (Some(now), None, false),
            (None, Some(now), false),
            (Some(now - TimeDelta::hours(20)), Some(now), false),
            (Some(now), Some(now - TimeDelta::hours(20)), false),
            // The reader's time is before the build.
            (Some(built - minutes(1)), Some(built + minutes(1)), false),
            (Some(built + minutes(1)), Some(built - minutes(1)), false),
            // The times are after the journal's record, or only slightly before it.
            (Some(now + TimeDelta::days(365)), Some(now + TimeDelta::days(365)), false),
            (Some(now + TimeDelta::days(363)), Some(now + TimeDelta::days(363)), true),
        ] {
            let (clock, _) = held_up();
            clock.reader_says(reader.as_ref().map(for_reader));
            clock.gateway_says(gateway.map(|gateway| gateway.timestamp()));
            assert_eq!(clock.agreed_earlier().is_some(), agree, "{reader:?} {gateway:?}");
        }
    }

    #[test]
    fn a_clock_that_was_set_back_goes_on_from_there() {
        let (clock, now) = held_up();
        assert!(clock.local().is_none());
        let said = clock.untrusted().to_string();
        assert!(said.contains("the journal's latest record is from") && said.contains("set-clock-back"), "{said}");
        clock.set_back(now.timestamp_millis());
        assert_eq!(clock.trusted_board(), Some(now));
        assert!(clock.agreed_earlier().is_none());
        // The floor is never before the build.
        clock.set_back(0);
        assert_eq!(clock.floor(), built_unix_ms());
    }

    #[test]
    fn the_log_says_once_that_no_clock_can_be_right_and_once_that_one_can_be_again() {
        let board_ms = Arc::new(AtomicI64::new(0));
        let says = Arc::clone(&board_ms);
        let board = move || DateTime::from_timestamp_millis(says.load(Ordering::Relaxed)).unwrap();
        let (clock, mut watch) = (Clock::new(Arc::new(board), 0), ClockWatch::default());
        let log = tempfile::NamedTempFile::new().unwrap();
        let lines = tracing_subscriber::fmt().with_writer(std::sync::Mutex::new(log.reopen().unwrap())).finish();
        tracing::subscriber::with_default(lines, || {
            for unix_ms in [0, 1000, built_unix_ms() + 1, built_unix_ms() + 2, built_unix_ms() - 1] {
                board_ms.store(unix_ms, Ordering::Relaxed);
                watch.look(&clock);
            }
        });
        let log = std::fs::read_to_string(log.path()).unwrap();
        let [first, right, last] = log.lines().collect::<Vec<_>>()[..] else { panic!("{log}") };
        assert!(first.contains("WARN") && first.contains("1970-01-01T00:00:00Z"), "{first}");
        assert!(first.contains("clock-untrusted") && first.contains("timedatectl"), "{first}");
        assert!(right.contains("INFO") && last.contains("WARN"), "{log}");
    }

    #[test]
    fn the_probe_is_held_against_the_readers_time_only_while_no_clock_can_be_right() {
        let (clock, now) = held_up();
        assert_eq!(clock.doubted(), None);
        clock.reader_says(Some(for_reader(&now)));
        let Some(pos_gateway::Time::Known(time)) = clock.doubted() else { panic!("no time") };
        let unix_s = time.duration_since(UNIX_EPOCH).unwrap().as_secs();
        assert!(unix_s.abs_diff(now.timestamp().unsigned_abs()) <= 1);
        assert!(matches!(clock.for_gateway(), pos_gateway::Time::AtLeast(_)), "payments and questions are not");
        clock.set_back(now.timestamp_millis());
        assert_eq!(clock.doubted(), None);
    }

    #[test]
    fn a_board_that_the_gateway_contradicts_does_not_set_the_readers_clock() {
        let board = Utc::now();
        let local = board.with_timezone(&Local);
        let hour = TimeDelta::hours(1);
        let long_ago = Local.timestamp_millis_opt(0).unwrap();
        // Columns: the reader's time | the gateway's time | whether the reader's clock is set.
        for (reader, gateway, is_set) in [
            (None, None, false),
            (Some(long_ago), None, true),
            (Some(local), None, true),
            (Some(local + hour), None, false),
            (Some(local + hour), Some(local), true),
            (Some(local), Some(local - hour), false),
            (None, Some(local - hour), false),
        ] {
            let clock = Clock::new(Arc::new(move || board), 0);
            if let Some(reader) = &reader {
                clock.reader_says(Some(for_reader(reader)));
            }
            clock.gateway_says(gateway.map(|gateway| gateway.timestamp()));
            assert_eq!(clock.for_the_reader().is_some(), is_set, "{reader:?} {gateway:?}");
        }
    }
}
