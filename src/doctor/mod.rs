//! The doctor: looks at everything a terminal stands on, says what it saw and what to do about it.
//!
//! ```text
//! settings ─▶ disk ─▶ journal ─▶ clock ─▶ gateway ─▶ reader ─▶ printer ─▶ till ─▶ service
//! ```
//!
//! It changes nothing, moves no money and takes nothing away from a running agent: what the agent holds (journal,
//! reader, printer) is looked at read-only or asked of the agent. Each probe has a deadline, and none stops the others:
//! what a probe needs and an earlier one did not find is said, too. What the findings look like on a screen is `cli`'s
//! business.

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

pub use front::{Front, FrontTill};
pub use reader::held_by;

/// How bad it is; the worst of all is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// As it should be.
    Ok,
    /// Worth knowing; nothing need be done.
    Note,
    /// Works now and will not for ever.
    Warning,
    /// Keeps the terminal from taking sales, or from settling them.
    Fault,
}

/// What is looked at, in this order.
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
    /// The way to the gateway.
    Gateway,
    /// The card reader.
    Reader,
    /// The receipt printer.
    Printer,
    /// The ways in for tills.
    Till,
    /// The agent as a service.
    Service,
}

impl Probe {
    /// As a word.
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

    /// Longer than everything inside of it that waits for somebody else; a probe that reaches it hangs.
    fn deadline(self) -> Duration {
        Duration::from_secs(match self {
            // Files on a local disk.
            Self::Config | Self::Clock | Self::Service => 5,
            // Five syncs; a card that takes longer is dying.
            Self::Disk => 20,
            // Reading 100 MB from a slow card.
            Self::Journal => 60,
            // Eight exchanges, each with a deadline of at most 10 s of its own.
            Self::Gateway => 120,
            // Start-up with a restart (readers: 2.14).
            Self::Reader => 30,
            Self::Printer => 15,
            Self::Till => 5,
        })
    }
}

/// What was found comes to this. Where something must be done, what; elsewhere nothing can be said to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "severity", rename_all = "kebab-case")]
pub enum Judgement {
    /// [`Severity::Ok`].
    Ok,
    /// [`Severity::Note`].
    Note,
    /// [`Severity::Warning`].
    Warning {
        /// What to do.
        remedy: String,
    },
    /// [`Severity::Fault`].
    Fault {
        /// What to do.
        remedy: String,
    },
}

impl Judgement {
    /// How bad it is.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::Ok => Severity::Ok,
            Self::Note => Severity::Note,
            Self::Warning { .. } => Severity::Warning,
            Self::Fault { .. } => Severity::Fault,
        }
    }

    /// What to do.
    #[must_use]
    pub fn remedy(&self) -> Option<&str> {
        match self {
            Self::Ok | Self::Note => None,
            Self::Warning { remedy } | Self::Fault { remedy } => Some(remedy),
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Counted from 1.
    pub number: usize,
    /// What was looked at.
    pub probe: Probe,
    /// What was seen.
    pub seen: String,
    /// How bad it is, and what to do.
    #[serde(flatten)]
    pub judgement: Judgement,
}

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of it.
    Everything,
    /// All but what the agent's first start makes: the journal's folder, the socket for tills, the service.
    BeforeStart,
}

/// What is told while it looks.
#[derive(Debug)]
pub enum DoctorNews<'a> {
    /// It begins to look at this.
    Looking(Probe),
    /// It found this.
    Found(&'a Finding),
}

/// The agent, as far as it answers.
#[derive(Clone, Debug)]
pub enum Agent {
    /// It answers.
    Answers(Box<StatusView>),
    /// Nobody listens at its socket.
    Absent,
    /// This user may not ask it.
    Closed,
    /// It does not answer as it should; its devices may be in use.
    Silent(String),
}

/// Everything found so far.
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

    /// A warning from a sentence as errors are written here: what is wrong, a semicolon, what to do.
    fn say_warning(&mut self, sentence: &str) {
        let (seen, remedy) = apart(sentence);
        self.warning(seen, remedy);
    }

    /// A fault from such a sentence.
    fn say_fault(&mut self, sentence: &str) {
        let (seen, remedy) = apart(sentence);
        self.fault(seen, remedy);
    }

    fn add(&mut self, seen: String, judgement: Judgement) {
        let finding = Finding { number: self.findings.len() + 1, probe: self.probe, seen, judgement };
        (self.tell)(DoctorNews::Found(&finding));
        self.findings.push(finding);
    }

    /// Looks at one thing within its deadline.
    async fn look<T>(&mut self, probe: Probe, look: impl AsyncFnOnce(&mut Self) -> T) -> Option<T> {
        self.probe = probe;
        (self.tell)(DoctorNews::Looking(probe));
        let limit = probe.deadline();
        let looked = timeout(limit, look(self)).await.ok();
        if looked.is_none() {
            let seen = format!("this check did not end within {} s", limit.as_secs());
            self.fault(seen, "check whether the board is very busy or the device hangs, and run the doctor again");
        }
        looked
    }
}

/// What is wrong, and what to do; an error of the system alone has no remedy of its own.
fn apart(sentence: &str) -> (&str, &str) {
    sentence.split_once("; ").unwrap_or((
        sentence,
        "run the doctor again; if the fault stays, ask for support with pos-agent doctor --bundle",
    ))
}

/// What the journal says that other probes need.
#[derive(Debug, Default)]
struct Past {
    latest: Latest,
    set_back: Option<SetBack>,
    approved: Option<Transaction>,
    doubted_declines: usize,
    invalid_request: Option<String>,
    reader: Option<ReaderChange>,
}

/// Looks at everything; `tell` hears of it at once, line by line.
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
            report.look(Probe::Service, async |report| service::look(report, agent)).await;
        }
        report.note("disk, journal, gateway, reader, printer and till were not checked: the configuration names them");
        return std::mem::take(&mut report.findings);
    };
    let agent = &match agent {
        Agent::Absent if pos_journal::is_held(&config.journal.path) => Agent::Silent(
            "no agent listens here, but one that is starting, or has another socket, holds the journal".to_owned(),
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
        report.look(Probe::Service, async |report| service::look(report, agent)).await;
    }
    std::mem::take(&mut report.findings)
}

/// Runs what may block for long on a thread of its own. One that never ends is left behind: the program ends all the
/// same.
async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (done, result) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || drop(done.send(work())));
    result.await.ok()
}

/// Whether this process may do everything.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
