//! The probe of the board's clock: whether its time is possible, and whether the network sets it.

use std::path::Path;

use chrono::Utc;

use super::{Past, Report};
use crate::agent::clock::{built_unix_ms, floor_unix_ms, said};
use pos_journal::Latest;

/// The file that shows that systemd-timesyncd has set the clock (systemd-timesyncd.service(8)).
const SYNCHRONIZED: &str = "/run/systemd/timesync/synchronized";
/// The tolerance in milliseconds, because the latest record and the clock are not read at the same moment.
const SAME: i64 = 5_000;

const SET_IT: &str = "connect the board to a network with a time server (timedatectl set-ntp true), or set the clock \
                      by hand (timedatectl set-time); fit a battery if the fault comes back";

/// The second remedy if the board's clock is before the journal's latest record.
const OR_SET_BACK: &str = "; if the board's clock is right, that record was written while the clock was ahead: the \
    agent continues when the clocks of reader and gateway confirm the time; otherwise have a technician confirm the \
    time (pos-agent journal set-clock-back)";

pub(super) fn look(report: &mut Report<'_>, past: &Past) {
    match judge(Utc::now().timestamp_millis(), built_unix_ms(), past.latest) {
        Ok(seen) => report.ok(seen),
        Err(Wrong::BeforeBuild(seen)) => report.fault(seen, SET_IT),
        Err(Wrong::BeforeRecord(seen)) => report.fault(seen, format!("{SET_IT}{OR_SET_BACK}")),
    }
    if let Some(set_back) = &past.set_back {
        report.note(format!(
            "the clock was set back on {} by {}: earlier records, up to {}, were written while the clock was ahead",
            said(set_back.now_unix_ms),
            set_back.by,
            said(set_back.latest_unix_ms)
        ));
    }
    let synchronized = Path::new(SYNCHRONIZED);
    if clock_is_synchronised() {
        report.ok("the network sets the clock (systemd-timesyncd)");
    } else if synchronized.parent().is_some_and(Path::exists) {
        report.warning(
            "the network has not set the clock since the board started",
            "run timedatectl timesync-status to see why",
        );
    } else {
        report.note("systemd-timesyncd is not running, so it is unknown whether the network sets the clock");
    }
}

/// Returns whether systemd-timesyncd has set the clock since the board started.
#[must_use]
pub fn clock_is_synchronised() -> bool {
    Path::new(SYNCHRONIZED).exists()
}

/// The reason why the clock cannot be right.
#[derive(Debug)]
enum Wrong {
    BeforeBuild(String),
    BeforeRecord(String),
}

fn judge(now: i64, built: i64, latest: Latest) -> Result<String, Wrong> {
    if now < built {
        let (now, built) = (said(now), said(built));
        return Err(Wrong::BeforeBuild(format!(
            "the board's clock says {now}, but this program was built later, {built}"
        )));
    }
    // A record from so far in the future that it cannot be right has no effect (agent::clock).
    if floor_unix_ms(latest.unix_ms) > now + SAME {
        let whose = latest.number.map(|number| format!(" (transaction {number})")).unwrap_or_default();
        return Err(Wrong::BeforeRecord(format!(
            "the board's clock says {}, but the journal's latest record is later, {}{whose}",
            said(now),
            said(latest.unix_ms)
        )));
    }
    Ok(format!("the board's clock says {}, which is plausible", said(now)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_before_the_build_or_the_last_record_is_a_fault() {
        let built = built_unix_ms();
        let day = 24 * 3600 * 1000;
        let judge = |now, unix_ms| judge(now, built, Latest { unix_ms, number: Some(17) });
        assert!(judge(built + day, 0).unwrap().ends_with("which is plausible"));
        let Err(Wrong::BeforeBuild(seen)) = judge(0, 0) else { panic!("it can be right") };
        assert!(seen.contains("1970-01-01T00:00:00Z, but this program was built later"), "{seen}");
        let Err(Wrong::BeforeRecord(seen)) = judge(built + day, built + 2 * day) else { panic!("it can be right") };
        assert!(seen.contains("latest record is later") && seen.ends_with("(transaction 17)"), "{seen}");
        assert!(judge(built + day, built + day + 1).is_ok());
        assert!(judge(built + day, i64::MAX).is_ok(), "a record from the far future stops nothing");
    }
}
