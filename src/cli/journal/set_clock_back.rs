//! `pos-agent journal set-clock-back`: records that a technician declares later times in the journal wrong, because the
//! clock was ahead.

use std::path::Path;

use chrono::{DateTime, Local, NaiveDate, Utc};
use clap::Args;

use super::super::exit::{Exit, Stop};
use super::super::out;
use super::{Which, name, stop};
use crate::agent::clock::{built_unix_ms, said};
use pos_journal::{Db, Error, SetBack};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
The agent does not accept a clock that is earlier than the latest record in the
journal. If the board's clock was ahead for a while, the agent rejects the
right time and takes no sale. The agent corrects this automatically when the
reader's clock and the gateway's clock agree. If they do not agree (no network,
a different reader, a reader with the wrong time), first set the board's clock
(timedatectl set-time). Then stop the agent (systemctl stop pos-agent.socket
pos-agent), run this verb as the agent's user, and start the agent:

  runuser -u pos-agent -- pos-agent journal set-clock-back \\
    --today 2026-11-22 --by 'J. Doe'

The journal's chain then records who set the clock back, when, and the rejected
time; pos-agent doctor shows them. No record changes. Open transactions count
as begun now, so the agent still waits the full time for a lost payment to
appear.

Exit codes: 0 done; 65 not necessary, or the board's clock shows a different
day; 74 the journal cannot be used, or the agent is running.")]
pub(super) struct SetClockBack {
    /// Today's date; the board's clock must show the same date
    #[arg(long, value_name = "YYYY-MM-DD")]
    today: NaiveDate,
    /// The name of the person who declares this, for the record
    #[arg(long, value_name = "NAME", value_parser = name)]
    by: String,
    #[command(flatten)]
    which: Which,
}

impl SetClockBack {
    pub(super) fn run(self) -> Result<Exit, Stop> {
        let (path, _) = self.which.journal()?;
        let now = Utc::now();
        can_be(now, self.today).map_err(|why| Stop::new(Exit::Data, why))?;
        let by = format!("{} (user {})", self.by, rustix::process::getuid().as_raw());
        let (set_back, head) = set_back(&path, now.timestamp_millis(), &by).map_err(|error| stop(&error))?;
        out::say(&format!(
            "the time is {}: the agent accepts an earlier clock again, despite the record of {}",
            said(set_back.now_unix_ms),
            said(set_back.latest_unix_ms)
        ));
        out::say(&head);
        Ok(Exit::Success)
    }
}

fn set_back(path: &Path, now_unix_ms: i64, by: &str) -> Result<(SetBack, String), Error> {
    if !path.exists() {
        return Err(Error::ClockStays {
            why: format!("there is no journal at {}; give its path with --journal", path.display()),
        });
    }
    let (mut db, _) = Db::open(path)?;
    let set_back = db.set_clock_back(now_unix_ms, by)?;
    let head = db.head()?;
    Ok((set_back, format!("head {}:{}", head.entry, head.hex())))
}

/// Checks that the board's clock can be right, because it is the standard for the times in the journal.
fn can_be(now: DateTime<Utc>, today: NaiveDate) -> Result<(), String> {
    if now.timestamp_millis() < built_unix_ms() {
        let (now, built) = (said(now.timestamp_millis()), said(built_unix_ms()));
        return Err(format!(
            "the board's clock says {now}, but this program was built later, {built}; set the clock first (timedatectl \
             set-time)"
        ));
    }
    let here = now.with_timezone(&Local).date_naive();
    if here != today && now.date_naive() != today {
        return Err(format!("the board's clock says {here}, not {today}; set the clock first (timedatectl set-time)"));
    }
    Ok(())
}
