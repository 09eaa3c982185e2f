//! `pos-agent health`: tells RAUC, SWUpdate or Mender whether an update works. The result depends only on the agent's
//! answer.

use std::fmt;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use tokio::time::{Instant, sleep};

use super::daemon;
use super::exit::{Exit, Stop};
use super::{Where, out};
use crate::agent::this_program;
use crate::till::{Health as Part, HealthView, StatusView};

/// The interval between requests to the agent with `--wait`.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
An updater (RAUC, SWUpdate, Mender) runs this verb after an update, and
restores the previous system if the check fails; packages/UPDATE.md shows how.
`pos-agent status` says whether the terminal can take a sale. `pos-agent
doctor` finds faults and gives remedies.

The parts:
  agent    has told systemd that it is ready, answers, and is the same program
           as this one
  journal  this program has opened it and has written to it
  reader   has answered this program, or did not answer the previous one either
  gateway  the same: a device that did not answer before the update does not
           cause a rollback

Exit codes: 0 good; 69 the agent, or a device that answered before, does not
answer; 74 the journal cannot be written; 64 wrong usage; 77 this user has no
permission.")]
pub(super) struct Health {
    /// Wait up to this many seconds for a good result; the progress goes to standard error
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=3600))]
    wait: u64,
    /// Print one JSON object on one line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

/// The result of the check.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    healthy: bool,
    /// The version of the agent that answered; absent when none answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    /// The previous version; absent when it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    checks: Vec<Check>,
    #[serde(skip)]
    exit: Exit,
}

/// The check of one part.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Check {
    what: &'static str,
    state: State,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Good,
    /// The part did not answer before the update either.
    NotCounted,
    Bad,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Good => "good",
            Self::NotCounted => "not counted",
            Self::Bad => "BAD",
        })
    }
}

impl Health {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let daemon = self.daemon.daemon()?;
        let until = now() + Duration::from_secs(self.wait);
        let mut told = String::new();
        let found = loop {
            let status: Result<StatusView, daemon::Error> = daemon.get("/v1/status").await;
            let found = match status {
                Ok(status) => judge(&status),
                Err(error) => silent(error)?,
            };
            if found.healthy || now() >= until {
                break found;
            }
            let waits = found.bad();
            if waits != told {
                out::aside(&format!("waiting, {} s left: {waits}", (until - now()).as_secs()));
                told = waits;
            }
            sleep(ASK_AGAIN.min(until - now())).await;
        };
        if self.json {
            out::say_json(&found);
        } else {
            found
                .checks
                .iter()
                .for_each(|check| out::say(&format!("{:<8} {:<12} {}", check.what, check.state, check.text)));
        }
        Ok(found.exit)
    }
}

#[allow(clippy::disallowed_methods, reason = "a person waits, and no sale")]
fn now() -> Instant {
    Instant::now()
}

impl Found {
    fn of(program: Option<String>, before: Option<String>, checks: Vec<Check>) -> Self {
        let bad = |check: &Check| check.state == State::Bad;
        let exit = match checks.iter().find(|check| bad(check)) {
            None => Exit::Success,
            Some(_) if checks.iter().any(|check| bad(check) && check.what == "journal") => Exit::Io,
            Some(_) => Exit::NotSent,
        };
        Self { healthy: exit == Exit::Success, program, before, checks, exit }
    }

    /// Returns the failed checks on one line.
    fn bad(&self) -> String {
        let bad = self.checks.iter().filter(|check| check.state == State::Bad);
        bad.map(|check| format!("{}: {}", check.what, check.text)).collect::<Vec<_>>().join("; ")
    }
}

fn judge(status: &StatusView) -> Found {
    let other = |name: &str| {
        format!("the running agent is {name}, not this program ({}); run: systemctl restart pos-agent", this_program())
    };
    let bad = |text| vec![Check { what: "agent", state: State::Bad, text }];
    let Some(health) = &status.health else {
        return Found::of(None, None, bad(other(&format!("pos-agent {}", status.version))));
    };
    let HealthView { program, before, journal, reader, gateway } = health.clone();
    if program != this_program() {
        let checks = bad(other(&program));
        return Found::of(Some(program), before, checks);
    }
    let written = match journal {
        None => Check { what: "journal", state: State::Good, text: "opened and written by this program".to_owned() },
        Some(why) => Check { what: "journal", state: State::Bad, text: why },
    };
    let agent = Check { what: "agent", state: State::Good, text: format!("ready, {program}") };
    let line = format!("{}: {}", status.gateway.url, status.gateway.text);
    let checks = vec![agent, written, device("reader", reader, &status.reader.text), device("gateway", gateway, &line)];
    Found::of(Some(program), before, checks)
}

/// Checks a device. `shown` is the device's text in the status.
fn device(what: &'static str, part: Part, shown: &str) -> Check {
    let (state, text) = match part {
        Part::Answered => (State::Good, format!("has answered this program; now: {shown}")),
        Part::Awaited => (State::Bad, format!("answered the previous program, but not yet this one: {shown}")),
        Part::NotCounted => {
            (State::NotCounted, format!("is not known to have answered before the update; now: {shown}"))
        }
    };
    Check { what, state, text }
}

/// Returns a failed check if no agent answers, because waiting may help. Returns a stop for other errors, for example
/// if the user has no permission.
fn silent(error: daemon::Error) -> Result<Found, Stop> {
    let text = error.to_string();
    match Stop::from(error) {
        stop if matches!(stop.exit(), Exit::NotSent | Exit::Software | Exit::Io) => {
            Ok(Found::of(None, None, vec![Check { what: "agent", state: State::Bad, text }]))
        }
        stop => Err(stop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::till::{
        ClockState, ClockView, GatewayState, GatewayView, JournalState, JournalView, ReaderState, ReaderView,
    };

    fn status(health: Option<HealthView>) -> StatusView {
        StatusView {
            tills: Vec::new(),
            version: "0.0.9".to_owned(),
            terminal_id: "1".to_owned(),
            merchant: Vec::new(),
            currency: None,
            currency_number: None,
            currency_decimals: None,
            language: None,
            tips: None,
            may_train: false,
            may_begin: Vec::new(),
            waits: None,
            ready: false,
            busy: false,
            attention: Vec::new(),
            reader: ReaderView::new(ReaderState::Absent, "no reader at /dev/x"),
            gateway: GatewayView {
                state: GatewayState::Answers,
                text: "answers".to_owned(),
                url: "https://g".to_owned(),
                cause: None,
            },
            printers: Vec::new(),
            clock: ClockView { state: ClockState::Ready, text: "the board's".to_owned(), time: None },
            journal: JournalView { state: JournalState::Ready, text: "written".to_owned(), free_bytes: None },
            http: None,
            logging: None,
            health,
            current: None,
            unconfirmed: Vec::new(),
        }
    }

    fn health(journal: Option<&str>, reader: Part, gateway: Part) -> HealthView {
        let (program, before) = (this_program(), Some("0.0.9, built long ago".to_owned()));
        HealthView { program, before, journal: journal.map(str::to_owned), reader, gateway }
    }

    #[test]
    fn each_cause_has_its_exit_code() {
        use Part::{Answered, Awaited, NotCounted};
        let exit = |health| judge(&status(Some(health))).exit;
        assert_eq!(exit(health(None, Answered, Answered)), Exit::Success);
        assert_eq!(exit(health(None, NotCounted, NotCounted)), Exit::Success);
        assert_eq!(exit(health(None, Awaited, Answered)), Exit::NotSent);
        assert_eq!(exit(health(None, Answered, Awaited)), Exit::NotSent);
        assert_eq!(exit(health(Some("the disk is full"), Answered, Answered)), Exit::Io);
        assert_eq!(exit(health(Some("the disk is full"), Awaited, Awaited)), Exit::Io);
        // An update is good even if the terminal is not ready for a sale.
        assert!(!status(None).ready);
    }

    #[test]
    fn the_program_of_before_that_still_runs_is_told() {
        let old = judge(&status(None));
        assert_eq!((old.exit, old.checks.len()), (Exit::NotSent, 1));
        assert!(old.bad().contains("is pos-agent 0.0.9, not this program"), "{}", old.bad());
        let other = HealthView { program: "0.0.8".to_owned(), ..health(None, Part::Answered, Part::Answered) };
        let other = judge(&status(Some(other)));
        assert_eq!(other.exit, Exit::NotSent);
        assert!(other.bad().contains("systemctl restart pos-agent"), "{}", other.bad());
    }

    #[test]
    fn what_is_bad_names_the_device_and_what_is_wrong_with_it() {
        let found = judge(&status(Some(health(None, Part::Awaited, Part::Answered))));
        let said = "reader: answered the previous program, but not yet this one: no reader at /dev/x";
        assert_eq!(found.bad(), said);
        let json = serde_json::to_value(&found).unwrap();
        assert_eq!((&json["healthy"], &json["checks"][2]["state"]), (&false.into(), &"bad".into()), "{json}");
    }
}
