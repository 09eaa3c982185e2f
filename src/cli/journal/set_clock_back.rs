//! `pos-agent journal set-clock-back`: a technician says that later times in the journal were written by a clock that
//! was ahead.

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
No clock before the journal's latest record is believed. When the board's clock was ahead for a while, that record keeps the right time from
being believed, and no sale is taken. The agent notices that by itself when the reader's clock and the gateway's agree. When they do not
(no network, another reader, a reader that was set by the wrong clock): set the board's clock right first (timedatectl set-time), stop the
agent (systemctl stop pos-agent.socket pos-agent), say it as its user, and start it:

  runuser -u pos-agent -- pos-agent journal set-clock-back --today 2026-11-22 --by 'J. Doe'

Who said it, when, and which time was taken back is in the journal's chain from then on; pos-agent doctor shows it. No record is changed.
What is open counts as no older than now: whether a lost payment may still appear is waited for as long as ever.

Exit codes: 0 done; 65 it need not be, or the board's clock does not say that it is that day; 74 the journal cannot be used, or the agent
runs.")]
pub(super) struct SetClockBack {
    /// Today's date, as you know it: the board's clock must say the same
    #[arg(long, value_name = "YYYY-MM-DD")]
    today: NaiveDate,
    /// Who says so, for the book
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
            "it is {}: the record of {} is no reason any more not to believe a clock that is earlier",
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
            why: format!("there is no journal at {}; name it with --journal", path.display()),
        });
    }
    let (mut db, _) = Db::open(path)?;
    let set_back = db.set_clock_back(now_unix_ms, by)?;
    let head = db.head()?;
    Ok((set_back, format!("head {}:{}", head.entry, head.hex())))
}

/// Whether the board's clock may be what the other times are held against.
fn can_be(now: DateTime<Utc>, today: NaiveDate) -> Result<(), String> {
    if now.timestamp_millis() < built_unix_ms() {
        let (now, built) = (said(now.timestamp_millis()), said(built_unix_ms()));
        return Err(format!(
            "the board's clock says {now}, and this program was built later, {built}; set it first (timedatectl set-time)"
        ));
    }
    let here = now.with_timezone(&Local).date_naive();
    if here != today && now.date_naive() != today {
        return Err(format!(
            "the board's clock says that it is {here}, and not {today}; set it first (timedatectl set-time)"
        ));
    }
    Ok(())
}
