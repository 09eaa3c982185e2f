//! `pos-fleet`: the programs of a fleet's server.

mod arguments;
mod rollout_verb;
mod steer;
mod till_token;

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::Parser;
use pos_broker::clock::Clock;
use pos_broker::tls::{self, Own};
use pos_broker::{Endpoint, Waits};
use pos_daemon::systemd::Notify;
use pos_daemon::{logging, stop};
use pos_fleet::ca::{self, CONSUMER, Ca, DESK};
use pos_fleet::config::{Broker, ConfigError, FleetConfig};
use pos_fleet::consume::Consumer;
use pos_fleet::desk::Desk;
use pos_fleet::store::{self, Store};
use pos_fleet::{database, enrol, serve, tills};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::arguments::{Arguments, Author, CaVerb, Code, Revoke, Verb};

/// The waits between two connections to the broker or to the database.
const WAITS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// The messages of terminals that wait for the database.
const UNACKNOWLEDGED: u16 = 1_000;
/// The memory for them, in bytes: everything that the recipe's broker keeps for the server.
const MOST_UNREAD: usize = 128 * 1024 * 1024;
/// The days for which the certificates of the servers last. Some systems refuse longer ones.
const SERVER_DAYS: u32 = 820;

impl Author {
    /// Returns the person's name. Someone who became another user with sudo is still the same person.
    fn name(&self) -> String {
        let named = |name| std::env::var(name).ok().filter(|name| !name.trim().is_empty());
        let name = self.by.clone().filter(|name| !name.trim().is_empty());
        name.or_else(|| named("SUDO_USER")).or_else(|| named("USER")).unwrap_or_else(|| "unknown".to_owned())
    }
}

/// The reason why a verb failed, with its exit code (sysexits.h).
enum Stop {
    /// Exit code 64.
    Usage(String),
    /// Exit code 78.
    Config(String),
    /// Exit code 69.
    Unreachable(String),
    /// Exit code 74.
    Failed(String),
    /// Exit code 65.
    NotDone(String),
    /// Exit code 75.
    NoAnswer(String),
}

impl From<ConfigError> for Stop {
    fn from(error: ConfigError) -> Self {
        Self::Config(error.to_string())
    }
}

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
    let (code, said) = match arguments.run() {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Stop::Usage(said)) => (64, said),
        Err(Stop::Config(said)) => (78, said),
        Err(Stop::Unreachable(said)) => (69, said),
        Err(Stop::Failed(said)) => (74, said),
        Err(Stop::NotDone(said)) => (65, said),
        Err(Stop::NoAnswer(said)) => (75, said),
    };
    for line in said.lines() {
        // A closed output makes no difference.
        let _ = writeln!(io::stderr(), "{}pos-fleet: {line}", logging::error_prefix());
    }
    ExitCode::from(code)
}

impl Arguments {
    fn run(self) -> Result<(), Stop> {
        let level = self.log.clone().or_else(|| std::env::var("RUST_LOG").ok());
        let begun = logging::begin(level.as_deref().unwrap_or("info"), Path::new(logging::SOCKET), "pos-fleet");
        begun.map_err(|error| Stop::Config(format!("--log {error}")))?;
        match &self.verb {
            Verb::Ca(verb) => return verb.run(),
            Verb::Key(verb) => return verb.run(),
            _ => {}
        }
        let config = FleetConfig::load(&self.config)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Stop::Unreachable(error.to_string()))?;
        let missing = |section| ConfigError::Missing { file: self.config.clone(), section, verb: section };
        match &self.verb {
            Verb::Consume => runtime.block_on(consume(&self.config, config)),
            Verb::Desk => runtime.block_on(desk(&self.config, config)),
            Verb::Command(verb) => runtime.block_on(verb.run(&config)),
            Verb::Settings(verb) => runtime.block_on(verb.run(&config)),
            Verb::Keys(verb) => runtime.block_on(verb.run(&config)),
            Verb::Serve => runtime.block_on(async {
                let stopped = stop::asked().map_err(|error| Stop::Unreachable(error.to_string()))?;
                let ready = || Notify::from_env().ready();
                let served = serve::run(config.serve, config.database, now, ready, stopped).await;
                served.map_err(|error| match error {
                    serve::ServeError::Listen(..) => Stop::Unreachable(error.to_string()),
                    setting => Stop::Config(format!("{}: {setting}", self.config.display())),
                })
            }),
            Verb::Enrol => runtime.block_on(async {
                let stopped = stop::asked().map_err(|error| Stop::Unreachable(error.to_string()))?;
                let enrol = config.enrol.ok_or_else(|| missing("enrol"))?;
                let ready = || Notify::from_env().ready();
                let served = enrol::run(enrol, config.database, now, ready, stopped).await;
                served.map_err(|error| Stop::Unreachable(error.to_string()))
            }),
            Verb::Tills => runtime.block_on(async {
                let stopped = stop::asked().map_err(|error| Stop::Unreachable(error.to_string()))?;
                let settings = config.tills.ok_or_else(|| missing("tills"))?;
                let ready = || Notify::from_env().ready();
                let served = tills::run(settings, (config.org, config.database), now, ready, stopped).await;
                served.map_err(|error| match error.is_of_the_settings() {
                    true => Stop::Config(format!("{}: {error}", self.config.display())),
                    false => Stop::Unreachable(error.to_string()),
                })
            }),
            Verb::TillToken(verb) => {
                let settings = config.tills.as_ref().ok_or_else(|| missing("tills"))?;
                let client = runtime.block_on(opened(&config))?;
                runtime.block_on(verb.run(&client, settings))
            }
            Verb::Rollout(verb) => runtime.block_on(verb.run(&config)),
            Verb::Check => check(&self.config, &config),
            Verb::Code(Code { terminal, hours }) => {
                let client = runtime.block_on(opened(&config))?;
                let code = runtime.block_on(enrol::new_code(&client, terminal, *hours, now()));
                say(&code.map_err(|error| Stop::Unreachable(error.to_string()))?);
                Ok(())
            }
            Verb::Revoke(Revoke { terminal, crl }) => {
                let enrol = config.enrol.as_ref().ok_or_else(|| missing("enrol"))?;
                let files = Own { certificate: &enrol.ca_certificate, key: &enrol.ca_key };
                let ca = Ca::open(files).map_err(|error| Stop::Config(error.to_string()))?;
                let mut client = runtime.block_on(opened(&config))?;
                let count = runtime.block_on(ca::revoke(&mut client, &ca, terminal, crl, now()));
                let count = count.map_err(|error| Stop::Unreachable(error.to_string()))?;
                say(&format!("{count} revoked in {}; now run: systemctl reload mosquitto", crl.display()));
                Ok(())
            }
            Verb::Seen(seen) => {
                let client = runtime.block_on(opened(&config))?;
                let (terminal, by) = (&seen.terminal, seen.by.name());
                let is_known = runtime.block_on(store::seen(&client, terminal, &by));
                if !is_known.map_err(|error| Stop::Unreachable(error.to_string()))? {
                    return Err(Stop::Usage(format!("the database has no terminal {terminal}")));
                }
                say(&format!("the alarms of {terminal} up to now are seen by {by}"));
                Ok(())
            }
            Verb::Ca(_) | Verb::Key(_) => Ok(()),
        }
    }
}

impl CaVerb {
    fn run(&self) -> Result<(), Stop> {
        let path = |name: &str| self.folder.join(name);
        let failed = |error: ca::CaError| Stop::Failed(error.to_string());
        let (certificate, key) = (path("ca.pem"), path("ca-key.pem"));
        let files = Own { certificate: &certificate, key: &key };
        let desk = (path("desk.pem"), path("desk-key.pem"));
        let desk = Own { certificate: &desk.0, key: &desk.1 };
        if self.only_desk {
            let ca = Ca::open(files).map_err(failed)?;
            ca.desk(desk, SERVER_DAYS, now(), false).map_err(failed)?;
            say(&format!("{}: the certificate of the desk", self.folder.display()));
            return Ok(());
        }
        if let Some(folder) = &self.only_tills {
            let ca = Ca::open(files).map_err(failed)?;
            let (certificate, key) = (folder.join("port.pem"), folder.join("port-key.pem"));
            let files = Own { certificate: &certificate, key: &key };
            ca.server(files, &self.names, SERVER_DAYS, now(), false).map_err(failed)?;
            say(&format!("{}: the certificate of the port for cloud tills", folder.display()));
            return Ok(());
        }
        let ca = Ca::create(files, &path("crl.pem"), now(), false).map_err(failed)?;
        for server in ["broker", "enrol"] {
            let (certificate, key) = (path(&format!("{server}.pem")), path(&format!("{server}-key.pem")));
            let files = Own { certificate: &certificate, key: &key };
            ca.server(files, &self.names, SERVER_DAYS, now(), false).map_err(failed)?;
        }
        let (certificate, key) = (path("consumer.pem"), path("consumer-key.pem"));
        ca.consumer(Own { certificate: &certificate, key: &key }, SERVER_DAYS, now(), false).map_err(failed)?;
        ca.desk(desk, SERVER_DAYS, now(), false).map_err(failed)?;
        say(&format!("{}: the CA, and the certificates of broker, enrol, consumer and desk", self.folder.display()));
        Ok(())
    }
}

fn check(file: &Path, config: &FleetConfig) -> Result<(), Stop> {
    let wrong = |error: &dyn std::error::Error| Stop::Config(format!("{}: {error}", file.display()));
    if let Some(broker) = &config.broker {
        endpoint(broker, CONSUMER)?;
        // An installation of an earlier version has none.
        if broker.desk_certificate.exists() {
            endpoint(broker, DESK)?;
        }
    }
    config.serve.check().map_err(|error| wrong(&error))?;
    if let Some(enrol) = &config.enrol {
        enrol.check().map_err(|error| wrong(&error))?;
    }
    if let Some(tills) = &config.tills {
        tills.check().map_err(|error| wrong(&error))?;
    }
    say(&format!("{} is good", file.display()));
    Ok(())
}

/// Connects to the database, and brings it to this version's shape.
async fn opened(config: &FleetConfig) -> Result<tokio_postgres::Client, Stop> {
    let unreachable = |error: &dyn std::error::Error| Stop::Unreachable(error.to_string());
    let client = database::connect(&config.database, "pos-fleet").await.map_err(|error| unreachable(&error))?;
    Store::open(client).await.map_err(|error| unreachable(&error))?;
    database::connect(&config.database, "pos-fleet").await.map_err(|error| unreachable(&error))
}

fn say(lines: &str) {
    // A closed output makes no difference.
    let _ = writeln!(io::stdout(), "{lines}");
}

fn endpoint(broker: &Broker, name: &str) -> Result<Endpoint, Stop> {
    let own = match name {
        DESK => Own { certificate: &broker.desk_certificate, key: &broker.desk_key },
        _ => Own { certificate: &broker.certificate, key: &broker.key },
    };
    let tls = tls::client(&broker.ca, Some(own)).map_err(|error| Stop::Config(error.to_string()))?;
    Ok(Endpoint {
        host: broker.host.clone(),
        port: broker.port,
        tls,
        name: name.to_owned(),
        keep_alive_s: 30,
        unacknowledged: UNACKNOWLEDGED,
        most_unread: MOST_UNREAD,
    })
}

/// Stores until a signal comes. A database that is gone is waited for.
async fn consume(file: &Path, config: FleetConfig) -> Result<(), Stop> {
    let missing = || ConfigError::Missing { file: file.to_owned(), section: "broker", verb: "consume" };
    let endpoint = endpoint(config.broker.as_ref().ok_or_else(missing)?, CONSUMER)?;
    with_database("nothing is stored, and the terminals wait", async |notify, stopped| {
        let client = database::connect(&config.database, CONSUMER).await.map_err(|error| error.to_string())?;
        let store = Store::open(client).await.map_err(|error| error.to_string())?;
        notify.ready();
        let waits = Waits::new(WAITS.0, WAITS.1);
        let mut consumer = Consumer::new(endpoint.clone(), config.org.clone(), waits, store, Clock::new(now));
        consumer.run(stopped).await.map_err(|error| error.to_string())
    })
    .await
}

/// Offers until a signal comes. A database that is gone is waited for.
async fn desk(file: &Path, config: FleetConfig) -> Result<(), Stop> {
    let missing = || ConfigError::Missing { file: file.to_owned(), section: "broker", verb: "desk" };
    let endpoint = endpoint(config.broker.as_ref().ok_or_else(missing)?, DESK)?;
    with_database("nothing is offered, and the terminals wait", async |notify, stopped| {
        let client = database::connect(&config.database, DESK).await.map_err(|error| error.to_string())?;
        Store::open(client).await.map_err(|error| error.to_string())?;
        let with_notes = database::connect_with_notes(&config.database, DESK).await;
        let with_notes = with_notes.map_err(|error| error.to_string())?;
        notify.ready();
        let waits = Waits::new(WAITS.0, WAITS.1);
        let mut desk = Desk::new(endpoint.clone(), config.org.clone(), waits, with_notes, Clock::new(now));
        desk.run(stopped).await.map_err(|error| error.to_string())
    })
    .await
}

/// Repeats work that needs the database, until a signal comes.
async fn with_database(
    without: &str,
    mut work: impl AsyncFnMut(&Notify, watch::Receiver<bool>) -> Result<(), String>,
) -> Result<(), Stop> {
    let mut stopped = stop::asked().map_err(|error| Stop::Unreachable(error.to_string()))?;
    let notify = Notify::from_env();
    let mut waits = Waits::new(WAITS.0, WAITS.1);
    while !*stopped.borrow() {
        let began = tokio::time::Instant::now();
        let Err(error) = work(&notify, stopped.clone()).await else { return Ok(()) };
        if began.elapsed() > WAITS.1 {
            waits.begin_again();
        }
        let wait = waits.next_wait();
        tracing::error!(%error, wait_s = wait.as_secs(), "{without}");
        tokio::select! {
            () = sleep(wait) => {}
            _ = stopped.wait_for(|stopped| *stopped) => {}
        }
    }
    Ok(())
}
