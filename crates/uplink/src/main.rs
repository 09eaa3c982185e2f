//! `pos-uplink`: the program.

mod arguments;

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Parser;
use pos_broker::Waits;
use pos_broker::clock::Clock;
use pos_broker::tls;
use pos_daemon::systemd::{Notify, watchdog_interval};
use pos_daemon::{logging, stop};
use pos_uplink::board::{Board, renew, watch_files};
use pos_uplink::certificate::{Folder, Need, Which};
use pos_uplink::config::UplinkConfig;
use pos_uplink::enrol::{Port, enrol};
use pos_uplink::link::{Place, Standing, Uplink};
use pos_uplink::source::Agent;
use serde_json::json;
use tokio::sync::watch;

use crate::arguments::{Arguments, Verb};

/// The file in which a running uplink says what it does, for `pos-uplink status`.
const STATUS: &str = "/run/pos-uplink/status.json";
/// The longest first wait for a new connection: after a restart of the broker, a whole fleet comes back.
const FIRST_WAIT: Duration = Duration::from_secs(60);

/// The reason why a verb failed, with its exit code (sysexits.h).
type Stop = (u8, String);

#[allow(clippy::disallowed_methods, reason = "the one place where the clock is asked; everywhere else it is handed in")]
fn now() -> SystemTime {
    SystemTime::now()
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            pos_daemon::help::tell(&error.to_string(), error.use_stderr());
            return ExitCode::from(if error.use_stderr() { 64 } else { 0 });
        }
    };
    let Err((code, said)) = arguments.run() else { return ExitCode::SUCCESS };
    for line in said.lines() {
        // A closed output makes no difference.
        let _ = writeln!(io::stderr(), "{}pos-uplink: {line}", logging::error_prefix());
    }
    ExitCode::from(code)
}

impl Arguments {
    fn run(self) -> Result<(), Stop> {
        let config = UplinkConfig::load(&self.config).map_err(|error| (78, error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| (74, error.to_string()))?;
        match self.verb {
            Verb::Run => {
                let level = self.log.clone().or_else(|| std::env::var("RUST_LOG").ok());
                let level = level.as_deref().unwrap_or("info");
                let begun = logging::begin(level, Path::new(logging::SOCKET), "pos-uplink");
                begun.map_err(|error| (78, format!("--log {error}")))?;
                runtime.block_on(run(config))
            }
            Verb::Check => {
                tls::certificates(&config.ca).map_err(|error| (78, error.to_string()))?;
                say(&format!("{} is good", self.config.display()));
                Ok(())
            }
            Verb::Enrol { code } => runtime.block_on(enrolled(&config, &code)),
            Verb::Status => status(&config),
        }
    }
}

async fn run(config: UplinkConfig) -> Result<(), Stop> {
    let folder = Folder::open(&config.state, &config.terminal).map_err(|error| (74, error.to_string()))?;
    let clock = Clock::new(now);
    let files = watch_files(folder.clone());
    let board = Board::new(folder.clone(), config.ca.clone(), clock.clone(), files);
    let longest = Duration::from_secs(config.broker.longest_wait_s);
    let place = Place {
        host: config.broker.host,
        port: config.broker.port,
        keep_alive_s: config.broker.keep_alive_s,
        org: config.org,
        terminal: config.terminal,
        waits: Waits::new(FIRST_WAIT.min(longest), longest),
    };
    let uplink = Uplink::new(place, config.kinds, Agent::at(config.agent), board, clock.clone());
    let notify = Notify::from_env();
    tokio::spawn(renew(folder, config.enrol.host, config.enrol.port, config.ca, clock));
    tokio::spawn(tell(uplink.standing()));
    tokio::spawn(watchdog());
    notify.ready();
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "pos-uplink starts");
    uplink.run(stop::asked().map_err(|error| (74, error.to_string()))?).await;
    Ok(())
}

/// Writes what the uplink does, for `pos-uplink status` and for systemd.
async fn tell(mut standing: watch::Receiver<Standing>) {
    let notify = Notify::from_env();
    loop {
        let now = standing.borrow_and_update().clone();
        let said = match (&now.fault, now.connected) {
            (Some(fault), false) => format!("not connected: {fault}"),
            (None, false) => "connects".to_owned(),
            (_, true) => format!("connected; the server has entry {} of {}", now.stored.unwrap_or_default(), now.last),
        };
        notify.status(&said);
        let status = json!({
            "connected": now.connected, "fault": now.fault, "last": now.last, "stored": now.stored, "status": said,
        });
        // The folder exists only under systemd.
        let new = format!("{STATUS}.new");
        let _ = fs::write(&new, format!("{status:#}\n")).and_then(|()| fs::rename(&new, STATUS));
        if standing.changed().await.is_err() {
            return;
        }
        // A catch-up changes the standing often.
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

async fn watchdog() {
    let Some(interval) = watchdog_interval() else { return };
    let notify = Notify::from_env();
    loop {
        notify.watchdog();
        tokio::time::sleep(interval / 2).await;
    }
}

async fn enrolled(config: &UplinkConfig, code: &str) -> Result<(), Stop> {
    let folder = Folder::open(&config.state, &config.terminal).map_err(|error| (74, error.to_string()))?;
    let port = Port { host: &config.enrol.host, port: config.enrol.port, ca: &config.ca };
    let enrolled = enrol(port, &folder, code).await;
    let enrolled = enrolled.map_err(|error| (if error.needs_code() { 65 } else { 69 }, error.to_string()))?;
    say(&format!("{} has a certificate until {}", config.terminal, date(enrolled.validity.not_after)));
    Ok(())
}

fn status(config: &UplinkConfig) -> Result<(), Stop> {
    match fs::read_to_string(STATUS) {
        Ok(status) => say(status.trim_end()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            say("the uplink is not running: systemctl start pos-uplink")
        }
        Err(error) => return Err((74, format!("{STATUS}: {error}; run this as root"))),
    }
    let folder = Folder::look(&config.state, &config.terminal);
    let pair = folder.pair(Which::Present).map_err(|error| (74, error.to_string()))?;
    let ends = pair.map_or_else(|| "none".to_owned(), |pair| format!("until {}", date(pair.validity.not_after)));
    let need = match folder.need(now()) {
        Need::Nothing => "",
        Need::Renew => "; it is being renewed",
        Need::Code => "; it needs a code: pos-uplink enrol CODE",
    };
    say(&format!("certificate: {ends}{need}"));
    Ok(())
}

fn date(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    time::OffsetDateTime::from_unix_timestamp(seconds).map_or_else(|_| String::new(), |time| time.date().to_string())
}

fn say(lines: &str) {
    // A closed output makes no difference.
    let _ = writeln!(io::stdout(), "{lines}");
}
