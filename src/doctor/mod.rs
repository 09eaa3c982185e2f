//! The doctor checks everything that a terminal needs, and reports each result, with a remedy if there is a fault.
//!
//! ```text
//! settings ─▶ disk ─▶ journal ─▶ clock ─▶ gateway ─▶ reader ─▶ printer ─▶ till ─▶ service
//! ```
//!
//! The doctor changes nothing, moves no money and takes no device from a running agent. It reads the journal without a
//! change, and asks the agent about the devices that the agent uses. Each probe has a deadline, and no probe stops the
//! others. If an earlier probe did not find what a later probe needs, the doctor reports this. `cli` decides how the
//! findings look in a terminal window.

mod clock;
mod disk;
mod front;
mod gateway;
mod journal;
mod printer;
mod reader;
mod service;
mod settings;
mod till;

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use tokio::time::timeout;

use crate::till::StatusView;
use pos_core::transaction::Transaction;
use pos_journal::{Latest, ReaderChange, SetBack};

pub use clock::clock_is_synchronised;
pub use front::{Front, FrontTill};
pub use reader::held_by;

/// The severity of a finding, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The part is correct.
    Ok,
    /// The finding is worth knowing, but no action is necessary.
    Note,
    /// The part works today, but will fail later.
    Warning,
    /// The finding prevents sales, or the resolution of unconfirmed sales.
    Fault,
}

/// The parts that are checked, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Probe {
    /// The configuration and the files it names.
    Config,
    /// The file system of the journal.
    Disk,
    /// The journal.
    Journal,
    /// The board's clock.
    Clock,
    /// The connection to the gateway.
    Gateway,
    /// The card reader.
    Reader,
    /// The receipt printer.
    Printer,
    /// The connections for tills.
    Till,
    /// The agent as a service.
    Service,
}

impl Probe {
    /// Returns the part's name for the output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Disk => "disk",
            Self::Journal => "journal",
            Self::Clock => "clock",
            Self::Gateway => "gateway",
            Self::Reader => "reader",
            Self::Printer => "printer",
            Self::Till => "till",
            Self::Service => "service",
        }
    }

    /// Returns the deadline of a probe. It is longer than every wait in the probe, so a probe that reaches it hangs.
    fn deadline(self) -> Duration {
        Duration::from_secs(match self {
            // The files are on a local disk.
            Self::Config | Self::Clock | Self::Service => 5,
            // The probe makes five syncs. An SD card that takes longer is about to fail.
            Self::Disk => 20,
            // The probe may read 100 MB from a slow SD card.
            Self::Journal => 60,
            // The probe makes eight exchanges, each with its own deadline of at most 10 s.
            Self::Gateway => 120,
            // The reader may restart during start-up (readers: 2.14).
            Self::Reader => 30,
            Self::Printer => 15,
            Self::Till => 5,
        })
    }
}

/// The judgement about a finding. Only a warning and a fault have a remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "severity", rename_all = "kebab-case")]
pub enum Judgement {
    /// [`Severity::Ok`].
    Ok,
    /// [`Severity::Note`].
    Note,
    /// [`Severity::Warning`].
    Warning {
        /// The remedy.
        remedy: String,
    },
    /// [`Severity::Fault`].
    Fault {
        /// The remedy.
        remedy: String,
    },
}

impl Judgement {
    /// Returns the severity.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::Ok => Severity::Ok,
            Self::Note => Severity::Note,
            Self::Warning { .. } => Severity::Warning,
            Self::Fault { .. } => Severity::Fault,
        }
    }

    /// Returns the remedy, if there is one.
    #[must_use]
    pub fn remedy(&self) -> Option<&str> {
        match self {
            Self::Ok | Self::Note => None,
            Self::Warning { remedy } | Self::Fault { remedy } => Some(remedy),
        }
    }
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The number of the finding, from 1.
    pub number: usize,
    /// The part that was checked.
    pub probe: Probe,
    /// The observation.
    pub seen: String,
    /// The severity and the remedy.
    #[serde(flatten)]
    pub judgement: Judgement,
}

/// The extent of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The doctor checks every part.
    Everything,
    /// The doctor checks every part except those that exist only after the agent's first start: the journal and its
    /// disk, the tills' socket, and the service.
    BeforeStart,
}

/// The progress of the doctor.
#[derive(Debug)]
pub enum DoctorNews<'a> {
    /// The doctor begins to check this part.
    Looking(Probe),
    /// The doctor made this finding.
    Found(&'a Finding),
}

/// The state of the agent, as far as it answers.
#[derive(Clone, Debug)]
pub enum Agent {
    /// The agent answers.
    Answers(Box<StatusView>),
    /// No agent listens at the socket.
    Absent,
    /// This user may not connect to the agent.
    Closed,
    /// The agent does not answer correctly, and its devices may be in use.
    Silent(String),
}

/// The findings so far.
pub struct Report<'a> {
    probe: Probe,
    findings: Vec<Finding>,
    tell: &'a mut dyn FnMut(DoctorNews<'_>),
}

impl std::fmt::Debug for Report<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.findings.fmt(f)
    }
}

impl Report<'_> {
    fn ok(&mut self, seen: impl Into<String>) {
        self.add(seen.into(), Judgement::Ok);
    }

    fn note(&mut self, seen: impl Into<String>) {
        self.add(seen.into(), Judgement::Note);
    }

    fn warning(&mut self, seen: impl Into<String>, remedy: impl Into<String>) {
        self.add(seen.into(), Judgement::Warning { remedy: remedy.into() });
    }

    fn fault(&mut self, seen: impl Into<String>, remedy: impl Into<String>) {
        self.add(seen.into(), Judgement::Fault { remedy: remedy.into() });
    }

    /// Adds a warning from a sentence in the form of an error message: the fault, a semicolon, and the remedy.
    fn say_warning(&mut self, sentence: &str) {
        let (seen, remedy) = apart(sentence);
        self.warning(seen, remedy);
    }

    /// Adds a fault from a sentence in the same form.
    fn say_fault(&mut self, sentence: &str) {
        let (seen, remedy) = apart(sentence);
        self.fault(seen, remedy);
    }

    fn add(&mut self, seen: String, judgement: Judgement) {
        let finding = Finding { number: self.findings.len() + 1, probe: self.probe, seen, judgement };
        (self.tell)(DoctorNews::Found(&finding));
        self.findings.push(finding);
    }

    /// Runs one probe within its deadline.
    async fn look<T>(&mut self, probe: Probe, look: impl AsyncFnOnce(&mut Self) -> T) -> Option<T> {
        self.probe = probe;
        (self.tell)(DoctorNews::Looking(probe));
        let limit = probe.deadline();
        let looked = timeout(limit, look(self)).await.ok();
        if looked.is_none() {
            let seen = format!("this check did not end within {} s", limit.as_secs());
            self.fault(
                seen,
                "check for an overloaded board or a device that is not responding, then run the doctor again",
            );
        }
        looked
    }
}

/// Splits a sentence into the fault and the remedy. A system error has no remedy and gets a general one.
fn apart(sentence: &str) -> (&str, &str) {
    sentence.split_once("; ").unwrap_or((
        sentence,
        "run the doctor again; if the fault remains, ask for support with pos-agent doctor --bundle",
    ))
}

/// The facts from the journal that other probes need.
#[derive(Debug, Default)]
struct Past {
    latest: Latest,
    set_back: Option<SetBack>,
    approved: Option<Transaction>,
    doubted_declines: usize,
    invalid_request: Option<String>,
    reader: Option<ReaderChange>,
}

/// Checks everything in `scope`. `tell` receives each finding immediately.
pub async fn look(
    file: &Path,
    (agent, front): (&Agent, &Front),
    scope: Scope,
    tell: &mut dyn FnMut(DoctorNews<'_>),
) -> Vec<Finding> {
    let mut report = Report { probe: Probe::Config, findings: Vec::new(), tell };
    let report = &mut report;
    let config = report.look(Probe::Config, async |report| settings::look(report, file)).await.flatten();
    let Some(config) = config else {
        report.look(Probe::Clock, async |report| clock::look(report, &Past::default())).await;
        if scope == Scope::Everything {
            report.look(Probe::Service, async |report| service::look(report, agent, file)).await;
        }
        report.note(
            "disk, journal, gateway, reader, printer and till were not checked: they need a configuration without \
             faults",
        );
        return std::mem::take(&mut report.findings);
    };
    let agent = &match agent {
        Agent::Absent if pos_journal::is_held(&config.journal.path) => Agent::Silent(
            "no agent is listening here, but an agent that is starting or uses a different socket holds the journal"
                .to_owned(),
        ),
        other => other.clone(),
    };
    let past = match scope {
        Scope::Everything => {
            report.look(Probe::Disk, async |report| disk::look(report, &config.journal.path).await).await;
            report.look(Probe::Journal, async |report| journal::look(report, &config, agent).await).await
        }
        Scope::BeforeStart => None,
    };
    let past = past.unwrap_or_default();
    report.look(Probe::Clock, async |report| clock::look(report, &past)).await;
    report.look(Probe::Gateway, async |report| gateway::look(report, &config, &past).await).await;
    report.look(Probe::Reader, async |report| reader::look(report, &config, agent, &past).await).await;
    report.look(Probe::Printer, async |report| printer::look(report, &config, agent).await).await;
    if scope == Scope::Everything {
        let till = async |report: &mut Report<'_>| {
            till::look(report, &config, agent).await;
            front::look(report, front);
        };
        report.look(Probe::Till, till).await;
        report.look(Probe::Service, async |report| service::look(report, agent, file)).await;
    }
    std::mem::take(&mut report.findings)
}

/// Runs work that may block for a long time on a separate thread. A thread that never ends does not prevent the process
/// from ending.
async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (done, result) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || drop(done.send(work())));
    result.await.ok()
}

/// Returns whether this process runs as root.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
