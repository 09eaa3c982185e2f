//! The library of `pos-front`: the part of a payment terminal that faces the shop's network.
//!
//! ```text
//!  browsers, tills ── HTTPS ──▶ listen ─▶ guard ─▶ front ─┬▶ page          the cashier's page, part of the program
//!                               slots     (may this       ├▶ session       an operator's cookie
//!                               (how      be asked?)      ├▶ pairing       a till's token
//!                               many?)                    └▶ forward ─▶ agent ── Unix socket ──▶ pos-agent
//!  tills that speak ZVT ── TCP, serial ──▶ zvt ──┬▶ asking ─▶ agent
//!  tills that speak Caisse-AP ── TCP ──▶ caisse_ap ──┤
//!  tills that speak nexo ── HTTPS ─────▶ nexo ──┘
//!  tills' servers ◀── HTTPS ── webhooks ◀──────────── events ──────────┘
//! ```
//!
//! The front is a separate process that runs as a separate user. It shares three crates with the agent: `pos-till-api`
//! for the routes of the agent's interface, `pos-daemon` for reading secret files, and `pos-terms` for recognising card
//! numbers. The process with the gateway's
//! token, the reader and the journal therefore has no parser, TLS server or cookie that faces a network. The agent
//! treats the front like any other client. The agent's configuration gives the front's user its tills and rights. The
//! front may be killed at any time. Its state consists of the certificate, the paired tills, the positions of the
//! webhooks, and nexo messages that wait for their outcome.
//!
//! | file | content |
//! |---|---|
//! | `arguments` | the command line |
//! | `run` | the start of all parts |
//! | `config` | `front.toml`, and the report of its faults |
//! | `listen`, `slots`, `writing` | connections: accepted, counted, closed |
//! | `found` | the announcement by which tills find the terminal |
//! | `guard`, `attempts` | checks of a request; limits on guessing |
//! | `front`, `problem` | permission checks; answers and refusals |
//! | `forward`, `agent` | requests that the front passes on to the agent; access to the agent |
//! | `page`, `logo`, `session`, `qr` | the page; the shop's logo; the signed-in operator; web addresses as QR codes |
//! | `customer` | the customer's screen: its token, and the events that a customer may see |
//! | `browsers`, `devices` | browsers that may use the page without an operator |
//! | `doctor` | the doctor's findings, for the page |
//! | `pairing`, `certificate`, `state` | tills' tokens; the certificate; the state folder |
//! | `payouts` | payouts of tills that wait for a supervisor at the page |
//! | `webhooks`, `deliveries` | events for the servers of tills; what became of the last ones |
//! | `callbacks` | the addresses that tills name for the events of a transaction |
//! | `zvt`, `caisse_ap`, `nexo` | tills that speak ZVT, Caisse-AP over IP, and nexo |
//! | `nexo_cloud` | nexo as Adyen's cloud speaks it: keys, and messages whose answers are sent later |
//! | `till_lines`, `delivered` | connections of tills on plain TCP; the proof that an answer was delivered |
//! | `asking`, `seen` | requests to the agent for these tills; the technician's view of them |
//! | `first_boot` | the page that sets up a terminal without a configuration |
//! | `task` | the tasks of all parts |
//! | `control` | the connection from the command line to the running front |

mod agent;
mod arguments;
mod asking;
mod attempts;
mod browsers;
mod caisse_ap;
mod callbacks;
mod certificate;
mod config;
mod control;
mod customer;
mod delivered;
mod deliveries;
mod devices;
mod doctor;
mod first_boot;
mod forward;
mod found;
mod front;
mod guard;
mod listen;
mod logo;
mod nexo;
mod nexo_cloud;
mod page;
mod pairing;
mod payouts;
mod problem;
mod qr;
mod run;
mod seen;
mod session;
mod slots;
mod state;
mod task;
mod till_lines;
mod webhooks;
mod writing;
mod zvt;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use clap::{CommandFactory, Parser};
use hyper::Method;
use pos_daemon::logging;
use pos_daemon::start_again::Starts;
use pos_daemon::systemd::{Notify, Sockets};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use crate::arguments::{
    Arguments, BrowserVerb, CertificateVerb, FirstBootVerb, Log, Pair, PairVerb, Run, Trace, Verb, WebhookArguments,
    WebhookVerb, Where,
};
use crate::certificate::{HostCertificate, Purpose, host_names};
use crate::config::{ConfigError, FrontConfig};
use crate::control::{ControlError, rfc3339};
use crate::state::StateFolder;

/// The reason why a verb failed, with its exit code (sysexits.h).
enum Stop {
    /// Exit code 78.
    Config(String),
    /// Exit code 69.
    Unreachable(String),
    /// Exit code 65.
    Refused(String),
    /// Exit code 74.
    Failed(String),
    /// The start failed again, with this exit code. The cause is in the log already.
    Again(u8),
}

impl Stop {
    /// Returns the exit code and the sentence for a person.
    fn told(&self) -> (u8, &str) {
        match self {
            Self::Config(said) => (78, said),
            Self::Unreachable(said) => (69, said),
            Self::Refused(said) => (65, said),
            Self::Failed(said) => (74, said),
            Self::Again(code) => (*code, ""),
        }
    }
}

impl From<ConfigError> for Stop {
    fn from(error: ConfigError) -> Self {
        Self::Config(error.to_string())
    }
}

impl From<ControlError> for Stop {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::Unreachable { .. } | ControlError::Closed { .. } => Self::Unreachable(error.to_string()),
            ControlError::Refused(detail) => Self::Refused(detail),
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "the one place where the clock is asked; everywhere else it is handed in")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// Runs the program with these arguments, of which the first is its name, and returns the exit code (sysexits.h).
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // The error is a wrong command line, or a request for help or the version.
            pos_daemon::help::tell(&error.to_string(), error.use_stderr());
            return ExitCode::from(if error.use_stderr() { 64 } else { 0 });
        }
    };
    // This comes before the first key is read. It keeps keys out of core dumps, and other programs of this user cannot
    // read them.
    let kept = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    if let Err(error) = kept {
        complain(&format!("other programs can read this program's memory: {error}"));
    }
    // This fails only if a provider is already installed, and no other code here installs one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let stop = match arguments.verb.run() {
        Ok(()) => return ExitCode::SUCCESS,
        Err(stop) => stop,
    };
    let (code, said) = stop.told();
    complain(said);
    ExitCode::from(code)
}

/// Returns the definition of the command line, for man pages and completions.
#[must_use]
pub fn command() -> clap::Command {
    Arguments::command()
}

impl Verb {
    fn run(self) -> Result<(), Stop> {
        match self {
            Self::Run(run) => run.run(),
            Self::Check(at) => check(&at),
            Self::Pair(pair) => pair.run(),
            Self::Certificate(certificate) => certificate.run(),
            Self::Status(at) => {
                let said = asked(&config::load(&at.config)?, Method::GET, "/status", &json!({}))?;
                say(&serde_json::to_string_pretty(&said).unwrap_or_default());
                Ok(())
            }
            Self::Trace(trace) => trace.run(),
            Self::FirstBoot(first_boot) => first_boot.run(),
            Self::Webhook(webhook) => webhook.run(),
        }
    }
}

impl Run {
    fn run(self) -> Result<(), Stop> {
        self.log.begin()?;
        wait_for(served(&self.at.config))?
    }
}

impl FirstBootVerb {
    fn run(self) -> Result<(), Stop> {
        self.log.begin()?;
        wait_for(first_boot::run(self, now))?
    }
}

impl Log {
    /// Begins the log.
    fn begin(&self) -> Result<(), Stop> {
        let level = self.level.clone().or_else(|| std::env::var("RUST_LOG").ok());
        let level = level.as_deref().unwrap_or("info");
        let journal = self.journal_socket.as_deref().unwrap_or(Path::new(logging::SOCKET));
        let begun = logging::begin(level, journal, env!("CARGO_PKG_NAME"));
        begun.map_err(|error| Stop::Config(format!("--log {error}")))
    }
}

/// Serves until a signal stops the front. A start that fails again with the same cause waits before it ends.
async fn served(file: &Path) -> Result<(), Stop> {
    let starts = Starts::of(file);
    let started = || {
        starts.forget();
        tracing::info!(version = env!("CARGO_PKG_VERSION"), config = %file.display(), "pos-front starts");
    };
    let serves = async { run::run(config::load(file)?, now, started).await.map_err(Stop::Failed) };
    let Err(stop) = serves.await else { return Ok(()) };
    let (code, said) = stop.told();
    let Some(again) = starts.failed(said) else { return Err(stop) };
    let stopping = |kind| signal(kind).map_err(|error| Stop::Failed(error.to_string()));
    let (mut terminate, mut interrupt) = (stopping(SignalKind::terminate())?, stopping(SignalKind::interrupt())?);
    let notify = Notify::from_env();
    tokio::select! {
        () = again.wait(&notify, Sockets::default(), "") => Err(Stop::Again(code)),
        _ = terminate.recv() => {
            starts.forget();
            Ok(())
        }
        _ = interrupt.recv() => {
            starts.forget();
            Ok(())
        }
    }
}

impl Pair {
    fn run(self) -> Result<(), Stop> {
        let config = config::load(&self.at.config)?;
        match self.verb {
            PairVerb::Open => {
                let said = asked(&config, Method::POST, "/pair/open", &json!({}))?;
                say(&format!("tills can request pairing for {} s; then run: pos-front pair list", said["openForS"]));
            }
            PairVerb::List => {
                let said = asked(&config, Method::GET, "/pair", &json!({}))?;
                match said["openForS"].as_u64() {
                    Some(left) => say(&format!("open for {left} s")),
                    None => say("closed; to let tills request pairing for five minutes, run: pos-front pair open"),
                }
                for it in said["waiting"].as_array().into_iter().flatten() {
                    let approved = it["approvedAs"].as_str().map(|till| format!(", approved as {till}"));
                    let (name, from) = (text(&it["name"]), text(&it["from"]));
                    say(&format!("{}  {name} at {from}{}", text(&it["code"]), approved.unwrap_or_default()));
                }
                for it in said["paired"].as_array().into_iter().flatten() {
                    say(&format!("paired  {} ({}) since {}", text(&it["till"]), text(&it["name"]), text(&it["since"])));
                }
            }
            PairVerb::Approve { code, till } => {
                let said = asked(&config, Method::POST, "/pair/approve", &json!({ "code": code, "till": till }))?;
                say(&format!("approved as {}; type the code at the till", text(&said["till"])));
            }
            PairVerb::Refuse { code } => {
                asked(&config, Method::POST, "/pair/refuse", &json!({ "code": code }))?;
            }
            PairVerb::Browser { verb } => return verb.run(&config),
            PairVerb::Revoke { till } => {
                asked(&config, Method::POST, "/pair/revoke", &json!({ "till": till }))?;
            }
        }
        Ok(())
    }
}

impl BrowserVerb {
    fn run(self, config: &FrontConfig) -> Result<(), Stop> {
        match self {
            Self::Open => {
                let said = asked(config, Method::POST, "/pair/browser/open", &json!({}))?;
                let address = text(&said["address"]);
                say(&qr::in_text(&address).unwrap_or_default());
                say(&address);
                say(&format!("for one browser, within {} s; the browser warns of the certificate", said["goodForS"]));
                say(&format!("CA {}", text(&said["fingerprint"])));
            }
            Self::List => {
                let said = asked(config, Method::GET, "/pair/browser", &json!({}))?;
                for it in said["browsers"].as_array().into_iter().flatten() {
                    say(&format!("{}  {} since {}", text(&it["id"]), text(&it["name"]), text(&it["since"])));
                }
            }
            Self::Revoke { id } => {
                asked(config, Method::POST, "/pair/browser/revoke", &json!({ "id": id }))?;
            }
        }
        Ok(())
    }
}

impl WebhookArguments {
    fn run(self) -> Result<(), Stop> {
        let config = || config::load(&self.at.config);
        match self.verb {
            WebhookVerb::Secret => say(&webhooks::new_secret()),
            WebhookVerb::Test { name, callback } => {
                let body = json!({ "webhook": name, "callback": callback });
                let said = asked(&config()?, Method::POST, "/webhook/test", &body)?;
                let ms = &said["ms"];
                if said["accepted"] != true {
                    let wrong = format!("webhook {name}: not accepted after {ms} ms: {}", text(&said["error"]));
                    return Err(Stop::Refused(wrong));
                }
                say(&format!("webhook {name}: accepted with status {} after {ms} ms", said["status"]));
            }
            WebhookVerb::List { name, json } => {
                let said = asked(&config()?, Method::POST, "/webhook/list", &json!({ "webhook": name }))?;
                match json {
                    true => say(&serde_json::to_string_pretty(&said).unwrap_or_default()),
                    false => deliveries::lines(&said).iter().for_each(|line| say(line)),
                }
            }
        }
        Ok(())
    }
}

impl Trace {
    fn run(self) -> Result<(), Stop> {
        let config = config::load(&self.at.config)?;
        let mut out: Box<dyn io::Write> = match self.file.as_os_str() == "-" {
            true => Box::new(io::stdout()),
            false => {
                let opened = std::fs::OpenOptions::new().create(true).append(true).open(&self.file);
                let named = |error| Stop::Failed(format!("{}: {error}", self.file.display()));
                Box::new(opened.map_err(named)?)
            }
        };
        let mut failed = None;
        let write = |bytes: &[u8]| {
            let line = String::from_utf8_lossy(bytes);
            if let Err(error) = writeln!(out, "{}", cleaned(line.trim_end())) {
                failed.get_or_insert(error);
            }
        };
        wait_for(control::follow(&config.control, "/trace", write))??;
        failed.map_or(Ok(()), |error| Err(Stop::Failed(format!("{}: {error}", self.file.display()))))
    }
}

impl CertificateVerb {
    fn run(self) -> Result<(), Stop> {
        let config = config::load(&self.at.config)?;
        let failed = |error: &dyn std::error::Error| Stop::Failed(error.to_string());
        let state = StateFolder::open(&config.state).map_err(|error| failed(&error))?;
        let names = host_names(&config.names, &config.addresses());
        let certificate =
            HostCertificate::open(&state, &Purpose::page(), &names, now()).map_err(|error| failed(&error))?;
        if self.pem {
            say(certificate.ca_pem().trim_end());
            return Ok(());
        }
        say(&format!("CA           {}", certificate.ca_fingerprint().map_err(|error| failed(&error))?));
        say(&format!("certificate  {}", certificate.fingerprint().map_err(|error| failed(&error))?));
        say(&format!("until        {}", rfc3339(certificate.ends())));
        say(&format!("for          {}", certificate.names().join(", ")));
        Ok(())
    }
}

fn check(at: &Where) -> Result<(), Stop> {
    let config = config::load(&at.config)?;
    say(&format!("{} is good", at.config.display()));
    let addresses = |scheme, of: &[std::net::SocketAddr]| {
        of.iter().map(|address| format!("{scheme}://{address}")).collect::<Vec<_>>().join(" ")
    };
    say(&format!("  listens   {} {}", addresses("https", &config.https), addresses("http", &config.http)));
    let announced = config.announcement().map_or_else(|| "nothing".to_owned(), |announced| announced.shown());
    say(&format!("  announces {announced}"));
    say(&format!("  agent     {}", config.agent.display()));
    let page = match config.page.on {
        false => "not served".to_owned(),
        true => format!("till {}; without signing in: {}", config.page.till, config.page.without_sign_in.word()),
    };
    say(&format!("  page      {page}"));
    for till in &config.tills {
        say(&format!("  till      {till} may be paired"));
    }
    for till in &config.zvt {
        say(&format!("  zvt       {} {}", till.till, till.line));
    }
    for till in &config.caisse_ap {
        say(&format!("  caisse-ap {} {}", till.till, till.listen));
    }
    for till in &config.nexo.tills {
        let listen = config.nexo.listen.map(|listen| listen.to_string()).unwrap_or_default();
        say(&format!("  nexo      {} {listen} SaleID {}", till.till, till.sale_id));
    }
    for webhook in &config.webhooks {
        let url = if webhook.url.is_some() { " to its url" } else { "" };
        say(&format!("  webhook   {}{url}", webhook.name));
        for callback in &webhook.callbacks {
            say(&format!("  webhook   {} to addresses of tills below {callback}", webhook.name));
        }
    }
    // Only a running front knows which tills the agent's configuration names.
    let running = asked(&config, Method::GET, "/status", &json!({})).unwrap_or_default();
    for till in running["agent"]["notNamed"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        say(&format!("  WRONG     {}", agent::NotNamed(till)));
    }
    Ok(())
}

fn asked(config: &FrontConfig, method: Method, target: &str, body: &Value) -> Result<Value, Stop> {
    Ok(wait_for(control::ask(&config.control, method, target, body))??)
}

fn wait_for<T>(future: impl Future<Output = T>) -> Result<T, Stop> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(4).build();
    Ok(runtime.map_err(|error| Stop::Failed(error.to_string()))?.block_on(future))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Writes lines to standard output. Text from outside cannot control the user's console. A closed output makes no
/// difference.
fn say(lines: &str) {
    for line in lines.lines() {
        let _ = writeln!(io::stdout(), "{}", cleaned(line));
    }
}

fn complain(lines: &str) {
    for line in lines.lines() {
        let _ = writeln!(io::stderr(), "{}pos-front: {}", logging::error_prefix(), cleaned(line));
    }
}

/// Replaces control characters, and characters that change the text direction, with a visible character.
fn cleaned(text: &str) -> String {
    let harmful = |c: char| {
        c.is_control()
            || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
    };
    text.chars().map(|c| if harmful(c) { '\u{FFFD}' } else { c }).collect()
}
