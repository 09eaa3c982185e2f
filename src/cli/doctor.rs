//! `pos-agent doctor`: checks everything that the terminal needs, and gives a remedy for each fault. This file holds
//! the output and the exit code; the checks are in `crate::doctor`.

use std::io;
use std::path::{Path, PathBuf};

use chrono::Utc;
use clap::Args;
use serde::Serialize;

use super::daemon::{self, Daemon};
use super::exit::{Exit, Stop};
use super::front::AtFront;
use super::out;
use crate::config::{self, DEFAULT_PATH};
use crate::doctor::{self, Agent, DoctorNews, Finding, Front, Probe, Scope, Severity};
use crate::support::{self, Archive};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Doctor {
    /// The configuration
    #[arg(long, value_name = "FILE", default_value = DEFAULT_PATH)]
    config: PathBuf,
    /// Print one JSON object on one line of standard output, and the progress on standard error
    #[arg(long)]
    json: bool,
    /// Also write a support archive with findings, configurations, logs, journal summary and system facts, but no card
    /// data or secrets
    #[arg(long, value_name = "FILE.tar")]
    bundle: Option<PathBuf>,
    /// Skip the checks of what the agent's first start creates: the journal's folder, the tills' socket and the service
    #[arg(long)]
    before_start: bool,
    #[command(flatten)]
    front: AtFront,
}

const AFTER_HELP: &str = "\
The doctor sends nothing that could move money, prints no receipt, and takes no
device from a running agent. Run the doctor as root: other users cannot read
the journal and the tokens.

Exit codes, the first that fits:
  78  a fault in the configuration or in a file that it names
  74  a fault of the disk or the journal
  69  a fault of the clock, the gateway, a device, a till's connection or the
      service
  75  only warnings: everything works, but something will fail later
   0  only notes

If the archive (--bundle) cannot be written, the exit code is also 74.";

/// The object that `--json` prints.
#[derive(Serialize)]
struct Findings<'a> {
    worst: Severity,
    findings: &'a [Finding],
}

impl Doctor {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        // The archive is created first, so a name that is in use is reported before the checks begin.
        let archive = self.bundle.as_deref().map(Archive::create).transpose()?;
        let (agent, front) = (agent(&self.config).await, self.front.ask().await);
        let json = self.json;
        let mut report = String::new();
        let mut tell = |told: DoctorNews<'_>| {
            let lines = match told {
                DoctorNews::Looking(probe) => probe.word().to_owned(),
                DoctorNews::Found(finding) => shown(finding),
            };
            report += &format!("{lines}\n");
            match told {
                DoctorNews::Looking(probe) if json => out::aside(&format!("checking: {}", probe.word())),
                DoctorNews::Found(_) if json => {}
                _ => out::say_lines(&lines),
            }
        };
        let scope = if self.before_start { Scope::BeforeStart } else { Scope::Everything };
        let findings = doctor::look(&self.config, (&agent, &front), scope, &mut tell).await;
        let worst = findings.iter().map(|finding| finding.judgement.severity()).max().unwrap_or(Severity::Ok);
        let whole = Findings { worst, findings: &findings };
        if !json {
            out::say(&sum(&findings));
        }
        if let (Some(archive), Some(file)) = (archive, &self.bundle) {
            let found = support::FoundBefore {
                config: &self.config,
                report: report + &sum(&findings) + "\n",
                report_json: in_json(&whole) + "\n",
                status_json: match &agent {
                    Agent::Answers(status) => Some(in_json(status)),
                    _ => None,
                },
                front_json: match front {
                    Front::Answers { status, .. } => Some(status),
                    _ => None,
                },
            };
            let parts = archive.write(found, Utc::now())?;
            out::aside(&format!("written: {} ({})", file.display(), parts.join(", ")));
        }
        // `--json` prints only one object. If the archive cannot be written, that object is the error, not the
        // findings.
        if json {
            out::say_json(&whole);
        }
        Ok(exit(&findings))
    }
}

/// Asks the agent for its status, at the configured socket or else at the usual one.
pub(super) async fn agent(config: &Path) -> Agent {
    let till = config::read(config).map_or_else(|_| config::Till::default(), |config| config.till);
    match Daemon::at(till.socket.path).get("/v1/status").await {
        Ok(status) => Agent::Answers(status),
        Err(daemon::Error::Closed { .. }) => Agent::Closed,
        Err(daemon::Error::Unreachable { cause, .. }) => match cause.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Agent::Absent,
            // The file is not a socket.
            _ if cause.raw_os_error() == Some(rustix::io::Errno::NOTSOCK.raw_os_error()) => Agent::Absent,
            _ => Agent::Silent(cause.to_string()),
        },
        Err(error) => Agent::Silent(error.to_string().split("; ").next().unwrap_or_default().to_owned()),
    }
}

impl From<support::Error> for Stop {
    fn from(error: support::Error) -> Self {
        Self::new(Exit::Io, error.to_string())
    }
}

fn in_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("findings and views hold only text and numbers")
}

fn shown(finding: &Finding) -> String {
    let word = match finding.judgement.severity() {
        Severity::Ok => "ok",
        Severity::Note => "note",
        Severity::Warning => "WARNING",
        Severity::Fault => "FAULT",
    };
    let mut lines = format!("  {:>3}  {word:<8} {}", finding.number, finding.seen);
    if let Some(remedy) = finding.judgement.remedy() {
        lines += &format!("\n                do: {remedy}");
    }
    lines
}

fn sum(findings: &[Finding]) -> String {
    let count = |severity| findings.iter().filter(|finding| finding.judgement.severity() == severity).count();
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let (faults, warnings) = (count(Severity::Fault), count(Severity::Warning));
    match (faults, warnings) {
        (0, 0) => format!("all checks passed ({})", plural(findings.len(), "finding")),
        _ => format!("{}, {}", plural(faults, "fault"), plural(warnings, "warning")),
    }
}

fn exit(findings: &[Finding]) -> Exit {
    let faulty = |probes: &[Probe]| {
        findings
            .iter()
            .any(|finding| finding.judgement.severity() == Severity::Fault && probes.contains(&finding.probe))
    };
    if faulty(&[Probe::Config]) {
        Exit::Config
    } else if faulty(&[Probe::Disk, Probe::Journal]) {
        Exit::Io
    } else if findings.iter().any(|finding| finding.judgement.severity() == Severity::Fault) {
        Exit::NotSent
    } else if findings.iter().any(|finding| finding.judgement.severity() == Severity::Warning) {
        Exit::Attention
    } else {
        Exit::Success
    }
}
