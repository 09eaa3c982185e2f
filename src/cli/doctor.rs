//! `pos-agent doctor`: everything the terminal stands on, looked at, with what to do. Here are only its words on the screen and
//! its exit code; what is looked at is in `crate::doctor`.

use std::io;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::daemon::{self, Daemon};
use super::exit::{Exit, Stop};
use super::out;
use crate::config::{self, DEFAULT_PATH};
use crate::doctor::{self, Agent, Finding, Probe, Severity, Told};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Doctor {
    /// The configuration
    #[arg(long, value_name = "FILE", default_value = DEFAULT_PATH)]
    config: PathBuf,
    /// One JSON object on one line of standard output; what is being looked at goes to standard error
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
It sends nothing that could move money, prints nothing, and takes nothing from a running agent. Run it as root: other users may
not look at the journal and the tokens.

Exit codes, the first that fits:
  78  a fault of the configuration or of a file that it names
  74  a fault of the disk or the journal
  69  a fault of the clock, the gateway, a device, a till's way in or the service
  75  warnings alone: it works now, and will not for ever
   0  nothing but notes";

/// With `--json`.
#[derive(Serialize)]
struct Findings<'a> {
    worst: Severity,
    findings: &'a [Finding],
}

impl Doctor {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        let agent = self.agent().await;
        let json = self.json;
        let mut tell = |told: Told<'_>| match told {
            Told::Looking(probe) if json => out::aside(&format!("looking at: {}", probe.word())),
            Told::Looking(probe) => out::say(probe.word()),
            Told::Found(_) if json => {}
            Told::Found(finding) => show(finding),
        };
        let findings = doctor::look(&self.config, &agent, &mut tell).await;
        if json {
            let worst = findings.iter().map(|finding| finding.severity).max().unwrap_or(Severity::Ok);
            out::say_json(&Findings { worst, findings: &findings });
        } else {
            out::say(&sum(&findings));
        }
        Ok(exit(&findings))
    }

    /// The agent at the socket of the configuration, or at the usual one.
    async fn agent(&self) -> Agent {
        let till = config::read(&self.config).map_or_else(|_| config::Till::default(), |config| config.till);
        match Daemon::at(till.socket.path).get("/v1/status").await {
            Ok(status) => Agent::Answers(status),
            Err(daemon::Error::Unreachable { cause, .. }) => match cause.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Agent::Absent,
                io::ErrorKind::PermissionDenied => Agent::Closed,
                // A file that is no socket.
                _ if cause.raw_os_error() == Some(rustix::io::Errno::NOTSOCK.raw_os_error()) => Agent::Absent,
                _ => Agent::Silent(cause.to_string()),
            },
            Err(error) => Agent::Silent(error.to_string().split("; ").next().unwrap_or_default().to_owned()),
        }
    }
}

fn show(finding: &Finding) {
    let word = match finding.severity {
        Severity::Ok => "ok",
        Severity::Note => "note",
        Severity::Warning => "WARNING",
        Severity::Fault => "FAULT",
    };
    out::say(&format!("  {:>3}  {word:<8} {}", finding.number, finding.seen));
    if let Some(remedy) = &finding.remedy {
        out::say(&format!("                do: {remedy}"));
    }
}

fn sum(findings: &[Finding]) -> String {
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let (faults, warnings) = (count(Severity::Fault), count(Severity::Warning));
    match (faults, warnings) {
        (0, 0) => format!("all is well ({})", plural(findings.len(), "finding")),
        _ => format!("{}, {}", plural(faults, "fault"), plural(warnings, "warning")),
    }
}

fn exit(findings: &[Finding]) -> Exit {
    let faulty = |probes: &[Probe]| {
        findings.iter().any(|finding| finding.severity == Severity::Fault && probes.contains(&finding.probe))
    };
    if faulty(&[Probe::Config]) {
        Exit::Config
    } else if faulty(&[Probe::Disk, Probe::Journal]) {
        Exit::Io
    } else if findings.iter().any(|finding| finding.severity == Severity::Fault) {
        Exit::NotSent
    } else if findings.iter().any(|finding| finding.severity == Severity::Warning) {
        Exit::Attention
    } else {
        Exit::Success
    }
}
