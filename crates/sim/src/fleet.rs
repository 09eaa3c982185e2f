//! Many terminals in one process, for the server of a fleet: each with an identity, a connection and a journal of its
//! own. The connections and the uplink are real; the terminal behind is not.
//!
//! Typed lines control it. Each is answered by one line of JSON.
//!
//! | line | effect |
//! |---|---|
//! | `standing` | counts the connected terminals, the entries, and those that the server has confirmed; without twins |
//! | `mark` | remembers the last entry of each journal: `behind` counts the terminals that are not confirmed up to it |
//! | `clock SECONDS` | moves the clock of all terminals forward |
//! | `sell N` | adds N sales to each journal |
//! | `close` | closes the shops: no more sales |
//! | `settings` | counts the terminals that use each version of the fleet's settings, and those that got any |
//! | `cut`, `join` | cuts all connections without a farewell, and lets them begin again |
//! | `journals FILE` | writes each entry of each journal: terminal, journal, first, number, hash |

pub(crate) mod demo;
mod journal;
mod steered;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use clap::Args;
use pos_broker::Waits;
use pos_broker::clock::Clock;
use pos_broker::tls::{self, Own};
use pos_fleet_terms::Id;
use pos_till_api::Entries;
use pos_uplink::choose::Kinds;
use pos_uplink::identity::{Identity, Pass};
use pos_uplink::link::{Place, Standing, Uplink};
use pos_uplink::signer::ResultSigner;
use pos_uplink::source::{Source, SourceError};
use serde_json::{Value, json};
use tokio::sync::watch;

pub use self::journal::Journal;
use self::steered::SteeredAgent;
use crate::typed;

/// The entries of one answer.
const ENTRIES: usize = 50;
/// The end of a certificate, as the state says it.
const CERTIFICATE: Duration = Duration::from_secs(300 * 86_400);
/// The waits between two connections, as on a board.
const WAITS: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(300));

/// Terminals of a fleet, without readers and shops.
#[derive(Args, Debug)]
pub struct FleetArgs {
    /// The number of terminals: sim-0001, sim-0002, …
    #[arg(value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    count: u64,
    /// The broker
    #[arg(long, value_name = "HOST:PORT")]
    broker: String,
    /// The fleet's CA
    #[arg(long, value_name = "FILE")]
    ca: PathBuf,
    /// The folder with the terminals' certificates: NAME.pem and NAME-key.pem
    #[arg(long, value_name = "FOLDER")]
    certificates: PathBuf,
    /// The organisation
    #[arg(long, value_name = "ORG")]
    org: Id,
    /// The number of sales of a terminal in a day
    #[arg(long, value_name = "N", default_value_t = 300)]
    sales_per_day: u64,
    /// The days for which the shops have been open
    #[arg(long, value_name = "N", default_value_t = 0)]
    days: u32,
    /// Send every entry with its content
    #[arg(long)]
    all: bool,
    /// The number of terminals of which a copy runs under the same identity
    #[arg(long, value_name = "N", default_value_t = 0)]
    twins: u64,
    /// The number of terminals whose journal was copied to another terminal
    #[arg(long, value_name = "N", default_value_t = 0)]
    clones: u64,
    /// The seconds after which a silent connection is asked
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    keep_alive_s: u16,
    /// The public key, in hexadecimal, that signs settings; without it, the terminals take none
    #[arg(long, value_name = "HEX", value_parser = public_key)]
    config_key: Option<PublicKey>,
}

/// The bytes of a public key.
#[derive(Clone, Debug)]
struct PublicKey(Vec<u8>);

fn public_key(text: &str) -> Result<PublicKey, String> {
    hex::decode(text).map(PublicKey).map_err(|error| error.to_string())
}

/// A simulated terminal.
struct Terminal {
    id: Id,
    journal: Arc<Mutex<Journal>>,
    standing: watch::Receiver<Standing>,
    /// The entry up to which the terminal must be confirmed.
    marked: i64,
    /// True if another terminal has the same identity. Neither can then be stored whole.
    is_twin: bool,
    /// The agent, if the fleet steers it.
    steered: Option<SteeredAgent>,
}

/// Where the entries of a simulated terminal come from.
struct Shop {
    at: u64,
    journal: Arc<Mutex<Journal>>,
    clock: Clock,
    open: watch::Receiver<bool>,
    steered: Option<SteeredAgent>,
}

impl Shop {
    fn journal(&self) -> MutexGuard<'_, Journal> {
        let mut journal = locked(&self.journal);
        if *self.open.borrow() {
            journal.grow(self.clock.wall());
        }
        journal
    }
}

impl Source for Shop {
    async fn entries(&mut self, after: i64) -> Result<Entries, SourceError> {
        Ok(self.journal().after(after, ENTRIES))
    }

    async fn status(&mut self) -> Result<Value, SourceError> {
        let fault = |code: &str, text: &str| json!([{ "code": code, "text": text }]);
        let attention = match self.at % 29 {
            3 => fault("printer-no-paper", "The printer has no paper."),
            5 => fault("sale-unconfirmed", "A payment has no outcome yet."),
            7 => fault("sale-needs-person", "A payment needs a decision."),
            _ => json!([]),
        };
        Ok(json!({
            "version": if self.at.is_multiple_of(10) { "0.0.9" } else { "0.1.0" },
            "terminalId": format!("{:08}", self.at), "currency": "EUR", "ready": self.at % 29 != 3,
            "merchant": [format!("Corner Shop {}", self.at), format!("{} High Street", self.at % 500 + 1)],
            "reader": { "model": if self.at.is_multiple_of(3) { "M020" } else { "M010" }, "serial": format!("{:010}", self.at),
                        "firmware": "MPI 1-55" },
            "attention": attention,
        }))
    }

    async fn metrics(&mut self) -> Result<String, SourceError> {
        let sales = self.journal().last() / 6;
        Ok(format!(
            "pos_agent_sales_total{{kind=\"sale\",outcome=\"approved\",reason=\"\"}} {sales}\npos_agent_gateway_reachable 1\n"
        ))
    }

    type Steered = SteeredAgent;

    fn steering(&self) -> Option<SteeredAgent> {
        self.steered.clone()
    }
}

/// A certificate behind a network that can be cut.
struct Line {
    pass: Pass,
    joined: watch::Receiver<bool>,
}

impl Identity for Line {
    fn pass(&mut self) -> Result<Pass, String> {
        match *self.joined.borrow_and_update() {
            true => Ok(self.pass.clone()),
            false => Err("the network is cut".to_owned()),
        }
    }

    fn accepted(&mut self) {}

    fn not_accepted(&mut self) {}

    async fn changed(&mut self) {
        if self.joined.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Runs the terminals until standard input ends.
///
/// # Errors
/// Fails if a file cannot be used.
pub async fn run(args: FleetArgs) -> io::Result<()> {
    raise_the_limit_of_files();
    let clock = Clock::new(now);
    let (_stop, stopped) = watch::channel(false);
    let (joins, joined) = watch::channel(true);
    let (opens, open) = watch::channel(true);
    let begun = clock.wall() - Duration::from_secs(86_400) * args.days;
    let (host, port) = args
        .broker
        .rsplit_once(':')
        .and_then(|(host, port)| Some((host, port.parse().ok()?)))
        .ok_or_else(|| wrong("--broker is HOST:PORT"))?;
    let mut terminals = Vec::new();
    for at in 1..=args.count {
        let removed = if at.is_multiple_of(10) { 40 } else { 0 };
        let mut first = Journal::begin(at, removed, args.sales_per_day, begun);
        first.grow(clock.wall());
        let id: Id = format!("sim-{at:04}").parse().map_err(wrong)?;
        let mut made = vec![(id.clone(), first.clone())];
        if at <= args.twins {
            made.push((id, first.copied()));
        } else if at <= args.twins + args.clones {
            made.push((format!("clone-{at:04}").parse().map_err(wrong)?, first.copied()));
        }
        for (id, journal) in made {
            let pass = pass(&args, &id, &clock)?;
            let journal = Arc::new(Mutex::new(journal));
            let place = Place {
                host: host.to_owned(),
                port,
                keep_alive_s: args.keep_alive_s,
                org: args.org.clone(),
                terminal: id.clone(),
                waits: Waits::new(WAITS.0, WAITS.1),
            };
            let steered = args
                .config_key
                .clone()
                .map(|PublicKey(key)| SteeredAgent::new(args.org.clone(), id.clone(), key, clock.clone()));
            let (for_shop, for_agent) = (Arc::clone(&journal), steered.clone());
            let shop = Shop { at, journal: for_shop, clock: clock.clone(), open: open.clone(), steered: for_agent };
            let is_twin = at <= args.twins;
            let kinds = if args.all { Kinds::All } else { Kinds::Outcomes };
            let uplink = Uplink::new(place, kinds, shop, Line { pass, joined: joined.clone() }, clock.clone());
            terminals.push(Terminal { id, journal, standing: uplink.standing(), marked: 0, is_twin, steered });
            tokio::spawn(uplink.run(stopped.clone()));
        }
    }
    tell(&json!({ "terminals": terminals.len() }));
    let mut lines = typed::lines();
    while let Some(line) = lines.recv().await {
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match (word, rest.parse::<u64>()) {
            ("standing", _) => tell(&standing(&terminals)),
            ("mark", _) => {
                for terminal in &mut terminals {
                    terminal.marked = locked(&terminal.journal).last();
                }
                tell(&standing(&terminals));
            }
            ("clock", Ok(seconds)) => {
                clock.move_on(Duration::from_secs(seconds));
                if *opens.borrow() {
                    terminals.iter().for_each(|terminal| locked(&terminal.journal).grow(clock.wall()));
                }
                tell(&json!({ "clock": "moved" }));
            }
            ("sell", Ok(count)) => {
                for terminal in &terminals {
                    (0..count).for_each(|_| locked(&terminal.journal).sell(clock.wall()));
                }
                tell(&json!({ "sold": count }));
            }
            ("settings", _) => tell(&settings(&terminals)),
            ("close", _) => {
                opens.send_replace(false);
                tell(&json!({ "open": false }));
            }
            ("cut", _) => {
                joins.send_replace(false);
                tell(&json!({ "joined": false }));
            }
            ("join", _) => {
                joins.send_replace(true);
                tell(&json!({ "joined": true }));
            }
            ("journals", _) => {
                write_journals(&terminals, Path::new(rest))?;
                tell(&standing(&terminals));
            }
            _ => tell(&json!({ "unknown": line })),
        }
    }
    Ok(())
}

fn standing(terminals: &[Terminal]) -> Value {
    let (mut connected, mut entries, mut stored, mut behind, mut listed) = (0, 0, 0, 0, 0);
    for terminal in terminals.iter().filter(|terminal| !terminal.is_twin) {
        listed += locked(&terminal.journal).count();
        let (standing, last) = (terminal.standing.borrow(), locked(&terminal.journal).last());
        connected += u64::from(standing.connected);
        entries += last;
        let confirmed = standing.stored.unwrap_or_default();
        stored += confirmed;
        behind += u64::from(confirmed < terminal.marked);
    }
    json!({ "connected": connected, "entries": entries, "stored": stored, "behind": behind, "listed": listed })
}

fn settings(terminals: &[Terminal]) -> Value {
    let (mut versions, mut touched) = (BTreeMap::<String, u64>::new(), 0);
    for agent in terminals.iter().filter_map(|terminal| terminal.steered.as_ref()) {
        let (version, taken) = agent.standing();
        *versions.entry(version.to_string()).or_default() += 1;
        touched += u64::from(taken > 0);
    }
    json!({ "versions": versions, "touched": touched })
}

fn write_journals(terminals: &[Terminal], file: &Path) -> io::Result<()> {
    let mut out = io::BufWriter::new(fs::File::create(file)?);
    for terminal in terminals {
        let journal = locked(&terminal.journal);
        for (first, number, hash) in journal.every() {
            writeln!(out, "{}\t{}\t{first}\t{number}\t\\\\x{hash}", terminal.id, journal.id())?;
        }
    }
    out.flush()
}

fn pass(args: &FleetArgs, id: &Id, clock: &Clock) -> io::Result<Pass> {
    let (certificate, key) =
        (args.certificates.join(format!("{id}.pem")), args.certificates.join(format!("{id}-key.pem")));
    let tls = tls::client(&args.ca, Some(Own { certificate: &certificate, key: &key })).map_err(wrong)?;
    let signer = match args.config_key {
        Some(_) => ResultSigner::read(&fs::read_to_string(&key)?).map(Arc::new),
        None => None,
    };
    Ok(Pass { tls, ends: clock.wall() + CERTIFICATE, signer })
}

/// Each terminal has a connection.
fn raise_the_limit_of_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Without the limit, a connection fails later and says so.
    let _ = setrlimit(Resource::Nofile, limit);
}

fn locked(journal: &Mutex<Journal>) -> MutexGuard<'_, Journal> {
    journal.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wrong(error: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error.to_string())
}

#[allow(clippy::disallowed_methods, reason = "the simulated terminals' clock; they are moved together")]
fn now() -> SystemTime {
    SystemTime::now()
}

#[allow(clippy::print_stdout, reason = "the answer to a typed line")]
fn tell(value: &Value) {
    println!("{value}");
}
