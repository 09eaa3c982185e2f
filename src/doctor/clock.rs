//! The board's clock: whether it can be right, and whether somebody keeps it right.

use std::path::Path;

use chrono::{DateTime, SecondsFormat, Utc};

use super::{Past, Report};
use crate::agent::clock::{built_unix_ms, floor_unix_ms};

/// Where systemd-timesyncd says that it has set the clock (systemd-timesyncd.service(8)).
const SYNCHRONIZED: &str = "/run/systemd/timesync/synchronized";
/// A record and the clock are asked one after the other.
const SAME: i64 = 5_000;

const SET_IT: &str = "give the board a network with time (timedatectl set-ntp true), or set it by hand (timedatectl set-time), and fit \
                      a battery if it comes back";

pub(super) fn look(report: &mut Report<'_>, past: &Past) {
    match judge(Utc::now().timestamp_millis(), built_unix_ms(), past.last_unix_ms) {
        Ok(seen) => report.ok(seen),
        Err(seen) => report.fault(seen, SET_IT),
    }
    let synchronized = Path::new(SYNCHRONIZED);
    if synchronized.exists() {
        report.ok("the network keeps the clock right (systemd-timesyncd)");
    } else if synchronized.parent().is_some_and(Path::exists) {
        report
            .warning("the clock was not set from the network since the start", "timedatectl timesync-status tells why");
    } else {
        report.note("whether the network keeps the clock right is not known: systemd-timesyncd does not run");
    }
}

fn judge(now: i64, built: i64, last: i64) -> Result<String, String> {
    let time = |unix_ms| {
        DateTime::<Utc>::from_timestamp_millis(unix_ms)
            .map_or_else(|| "no time".to_owned(), |time| time.to_rfc3339_opts(SecondsFormat::Secs, true))
    };
    if now < built {
        return Err(format!("the board's clock says {}, and this program was built later, {}", time(now), time(built)));
    }
    // A record that no clock of a terminal in service could have written stops nothing (agent::clock).
    if floor_unix_ms(last) > now + SAME {
        return Err(format!(
            "the board's clock says {}, and the journal's latest record is later, {}",
            time(now),
            time(last)
        ));
    }
    Ok(format!("the board's clock says {}, which can be right", time(now)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_before_the_build_or_the_last_record_is_a_fault() {
        let built = built_unix_ms();
        let day = 24 * 3600 * 1000;
        assert!(judge(built + day, built, 0).unwrap().ends_with("which can be right"));
        assert!(judge(0, built, 0).unwrap_err().contains("1970-01-01T00:00:00Z, and this program was built later"));
        assert!(judge(built + day, built, built + 2 * day).unwrap_err().contains("latest record is later"));
        assert!(judge(built + day, built, built + day + 1).is_ok());
        assert!(judge(built + day, built, i64::MAX).is_ok(), "a record from the far future stops nothing");
    }
}
