//! `pos-agent operator`: adds and removes operators, sets their PINs, and lifts the lock after wrong PINs.
//!
//! The running agent makes the change, which takes effect on its sessions immediately. If no agent runs, this verb
//! changes the journal directly. In both cases, the journal's chain gets an entry that names the author.

use std::num::NonZeroU32;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};
use clap::{Args, Subcommand, ValueEnum};
use pos_till_api::routes::encoded;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::daemon;
use super::exit::{Exit, Stop};
use super::{Where, out, person};
use crate::config::{self, DEFAULT_PATH};
use crate::operator_secrets;
use crate::till::{OperatorRefused, OperatorView, OperatorsView, ProblemType};
use pos_core::counter::{ITERATIONS, Pin, PinDigest, Role};
use pos_journal::{Db, KeptOperator, OperatorChange, OperatorEntry, PinKeyFile, Reading};
use pos_terms::transaction::{OperatorName, Who};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
Roles: a cashier takes payments. A supervisor also takes payments, and approves
the actions that a cashier cannot do alone. A technician manages the terminal
and its operators, and moves no money. In the configuration, required in
[operators] makes sign-in compulsory.

The caller needs the right service. Where operators are required, a technician
must also sign in (--operator), except for root and the agent's user. When the
agent is not running, this verb changes the journal directly; run it as the
agent's user: runuser -u pos-agent -- pos-agent operator …

Examples:
  pos-agent operator add Anna --role cashier  asks for the PIN twice
  printf '%s' \"$PIN\" | pos-agent operator add Anna --role cashier \\
    --pin-stdin
  pos-agent operator unlock Anna              after too many wrong PINs
  pos-agent operator history                  every change, by whom and when

Exit codes: 0 done; 64 wrong usage; 65 the name does not exist, or already
exists; 69 no agent; 74 the journal cannot be used; 77 not permitted.")]
pub(super) struct Operator {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Add an operator; asks for the PIN twice
    Add(Add),
    /// Remove an operator and end its sessions
    Remove(Named),
    /// Set a new PIN for an operator
    Pin(SetPin),
    /// Lift the lock after wrong PINs, for an operator and for every till
    Unlock(Named),
    /// List the operators
    List(List),
    /// Show the changes to the operators and who made them, from the journal's chain
    History(History),
}

#[derive(Debug, Args)]
struct Add {
    #[command(flatten)]
    named: Named,
    /// The role
    #[arg(long, value_enum, value_name = "ROLE")]
    role: RoleName,
    #[command(flatten)]
    pin: PinFrom,
    /// Make the journal of a new terminal, whose agent has never started. Setup uses this option
    #[arg(long, hide = true)]
    new_journal: bool,
}

#[derive(Debug, Args)]
struct SetPin {
    #[command(flatten)]
    named: Named,
    #[command(flatten)]
    pin: PinFrom,
}

/// The operator that a verb is about.
#[derive(Debug, Args)]
struct Named {
    /// The operator's name
    #[arg(value_name = "NAME", value_parser = name)]
    name: OperatorName,
    /// Print the operator as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

/// The source of the new PIN.
#[derive(Debug, Args)]
struct PinFrom {
    /// Read the new PIN from standard input: one line, 4 to 12 digits
    #[arg(long)]
    pin_stdin: bool,
}

#[derive(Debug, Args)]
struct List {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    daemon: Where,
}

#[derive(Debug, Args)]
struct History {
    /// Print each change as a JSON object on one line
    #[arg(long)]
    json: bool,
    /// The agent's configuration, which names the journal [default: /etc/pos-agent/config.toml if it can be read]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RoleName {
    /// Takes payments
    Cashier,
    /// Takes payments, and approves the actions that a cashier cannot do alone
    Supervisor,
    /// Manages the terminal and its operators, but moves no money
    Technician,
}

impl RoleName {
    fn role(self) -> Role {
        match self {
            Self::Cashier => Role::Cashier,
            Self::Supervisor => Role::Supervisor,
            Self::Technician => Role::Technician,
        }
    }
}

fn name(text: &str) -> Result<OperatorName, String> {
    OperatorName::parse(text).map_err(|error| error.to_string())
}

impl PinFrom {
    /// Asks for the new PIN, which a person types twice.
    fn ask(&self, name: &OperatorName) -> Result<NewPin, Stop> {
        if self.pin_stdin {
            return NewPin::judged(person::line_from_input()?);
        }
        if !person::is_there() {
            return Err(Stop::new(
                Exit::Usage,
                "the PIN cannot be typed here; send it to standard input with --pin-stdin",
            ));
        }
        let first = NewPin::judged(person::ask_secret(&format!("New PIN of {name} (it is not shown)"))?)?;
        let again = NewPin::judged(person::ask_secret("Repeat the PIN")?)?;
        if first.typed == again.typed {
            return Ok(first);
        }
        Err(Stop::new(Exit::Usage, "the two PINs differ; nothing was changed"))
    }
}

/// A PIN that follows the rules for new PINs.
struct NewPin {
    typed: Zeroizing<String>,
    pin: Pin,
}

impl NewPin {
    fn judged(typed: Zeroizing<Vec<u8>>) -> Result<Self, Stop> {
        let typed = Zeroizing::new(String::from_utf8_lossy(&typed).into_owned());
        let pin = Pin::to_be_set(typed.clone()).map_err(|error| Stop::new(Exit::Usage, error.to_string()))?;
        Ok(Self { typed, pin })
    }
}

impl Operator {
    pub(super) async fn run(self) -> Result<Exit, Stop> {
        match self.verb {
            Verb::Add(Add { named, role, pin, new_journal }) => {
                let (name, role, pin) = (named.name.clone(), role.role(), pin.ask(&named.name)?);
                let body = json!({ "name": name, "role": role, "pin": pin.typed.as_str() });
                let change = |stopped: &Stopped| {
                    Ok(OperatorChange::Added(KeptOperator { name, role, pin: stopped.digest(&pin.pin)? }))
                };
                named.change(Asked::Post(OPERATORS.to_owned(), body), "was added", new_journal, change).await
            }
            Verb::Pin(SetPin { named, pin }) => {
                let (name, pin) = (named.name.clone(), pin.ask(&named.name)?);
                let asked = Asked::Post(named.path("/pin"), json!({ "pin": pin.typed.as_str() }));
                let change = |stopped: &Stopped| Ok(OperatorChange::PinSet(name, stopped.digest(&pin.pin)?));
                named.change(asked, "has the new PIN", false, change).await
            }
            Verb::Remove(named) => {
                let (asked, name) = (Asked::Delete(named.path("")), named.name.clone());
                named.change(asked, "was removed", false, |_| Ok(OperatorChange::Removed(name))).await
            }
            Verb::Unlock(named) => {
                let (asked, name) = (Asked::Post(named.path("/unlock"), json!({})), named.name.clone());
                named.change(asked, "may try the PIN again", false, |_| Ok(OperatorChange::Unlocked(name))).await
            }
            Verb::List(List { json, daemon }) => list(json, &daemon).await,
            Verb::History(History { json, config }) => history(json, config.as_deref()),
        }
    }
}

/// The path of the operators at the agent.
const OPERATORS: &str = "/v1/operators";

/// The request to the agent.
enum Asked {
    Post(String, Value),
    Delete(String),
}

impl Named {
    fn path(&self, end: &str) -> String {
        format!("/v1/operators/{}{end}", encoded(self.name.as_str()))
    }

    /// Makes the change through the agent, or in the journal if no agent runs.
    async fn change(
        self,
        asked: Asked,
        done: &str,
        new_journal: bool,
        change: impl FnOnce(&Stopped) -> Result<OperatorChange, Stop>,
    ) -> Result<Exit, Stop> {
        let daemon = self.daemon.daemon()?;
        let answer: Result<Option<OperatorView>, daemon::Error> = match asked {
            Asked::Post(path, body) => daemon.post(&path, &body).await.map(Some),
            Asked::Delete(path) => daemon.delete(&path).await.map(|()| None),
        };
        let view = match answer {
            Ok(view) => view,
            Err(error) => {
                let stopped = Stopped::found(&self.daemon, error, new_journal)?;
                let change = change(&stopped)?;
                change_stopped(&stopped.journal, &self.name, &change)?
            }
        };
        match view {
            _ if !self.json => out::say(&format!("{} {done}", self.name)),
            Some(view) => out::say_json(&view),
            None => out::say_json(&json!({ "name": self.name })),
        }
        Ok(Exit::Success)
    }
}

async fn list(json: bool, daemon: &Where) -> Result<Exit, Stop> {
    let view: OperatorsView = match daemon.daemon()?.get(OPERATORS).await {
        Ok(view) => view,
        Err(error) => {
            let Stopped { journal, operators: config } = Stopped::found(daemon, error, false)?;
            let (db, _) = Db::open(&journal).map_err(|error| stop(&error))?;
            let key = PinKeyFile::beside(&journal).read().map_err(|error| stop(&error))?;
            let key = key.as_ref().map(operator_secrets::id_of_key);
            let view = |kept: KeptOperator| OperatorView {
                needs_pin: key != Some(kept.pin.key),
                name: kept.name,
                role: kept.role,
                locked_s: None,
            };
            let operators = db.operators().map_err(|error| stop(&error))?.into_iter().map(view).collect();
            OperatorsView { required: config.required, pin_digits: config.pin_digits, operators }
        }
    };
    if json {
        out::say_json(&view);
        return Ok(Exit::Success);
    }
    for OperatorView { name, role, locked_s, needs_pin } in &view.operators {
        let locked =
            locked_s.map_or_else(String::new, |s| format!("  locked for {s} s; run: pos-agent operator unlock"));
        let key = if *needs_pin { "  the PIN was set on a different board; run: pos-agent operator pin" } else { "" };
        out::say(&format!("{:<32}  {}{locked}{key}", name.as_str(), role.as_str()));
    }
    if view.operators.is_empty() {
        out::say("no operators; the tills act without one");
    } else if !view.required {
        out::say("operators need not sign in; see required in [operators]");
    }
    Ok(Exit::Success)
}

fn history(json: bool, file: Option<&Path>) -> Result<Exit, Stop> {
    let config = match file {
        Some(file) => Some(config::read(file)?),
        None => config::read(Path::new(DEFAULT_PATH)).ok(),
    };
    let path = config.map_or_else(config::Journal::default, |config| config.journal).path;
    let entries = Reading::open(&path).and_then(|journal| journal.operator_entries()).map_err(|error| stop(&error))?;
    for OperatorEntry { entry, unix_ms, done, name, role, by } in entries {
        let at = DateTime::<Utc>::from_timestamp_millis(unix_ms).unwrap_or_default();
        let at = at.to_rfc3339_opts(SecondsFormat::Secs, true);
        if json {
            out::say_json(&json!({ "entry": entry, "at": at, "done": done, "name": name, "role": role, "by": by }));
        } else {
            let role = role.map_or_else(String::new, |role| format!(" as a {role}"));
            out::say(&format!("{entry:>6}  {at}  {done:<8}  {name}{role}, by {by}"));
        }
    }
    Ok(Exit::Success)
}

/// Returns the configuration that the option names, or else the usual one if it can be read.
fn configured(daemon: &Where) -> Result<Option<config::Config>, Stop> {
    match &daemon.config {
        Some(file) => Ok(Some(config::read(file)?)),
        None => Ok(config::read(Path::new(DEFAULT_PATH)).ok()),
    }
}

/// An agent that is not running.
struct Stopped {
    /// The path of its journal.
    journal: PathBuf,
    /// Its settings for operators.
    operators: config::Operators,
}

impl Stopped {
    /// Finds the stopped agent. Nothing may listen at the socket, and this user must own the journal. If the journal
    /// may be made and does not exist, this user must own its folder.
    fn found(daemon: &Where, error: daemon::Error, may_make: bool) -> Result<Self, Stop> {
        // A user who names a socket means a running agent. A socket that this user may not open belongs to a running
        // agent.
        let nobody_listens = |cause: &std::io::Error| {
            matches!(cause.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused)
        };
        match &error {
            daemon::Error::Unreachable { cause, .. } if daemon.socket.is_none() && nobody_listens(cause) => {}
            _ => return Err(error.into()),
        }
        let (journal, operators) =
            configured(daemon)?.map(|config| (config.journal, config.operators)).unwrap_or_default();
        let journal = journal.path;
        let folder = journal.parent().filter(|_| may_make);
        let facts = journal.metadata().or_else(|absent| folder.map_or(Err(absent), Path::metadata));
        let Ok(facts) = facts else { return Err(error.into()) };
        let (owner, we) = (facts.uid(), rustix::process::geteuid().as_raw());
        if owner == we {
            return Ok(Self { journal, operators });
        }
        let why = format!(
            "the agent is not running, and its journal {} belongs to user {owner}; run this command as that user \
             (runuser -u), or start the agent",
            journal.display()
        );
        Err(Stop::new(Exit::NoPermission, why))
    }

    /// Returns the digest of a new PIN, for the journal.
    fn digest(&self, pin: &Pin) -> Result<PinDigest, Stop> {
        OperatorRefused::check_length(pin, self.operators.pin_digits)
            .map_err(|refused| Stop::coded(ProblemType::Pin, refused.to_string()))?;
        let key = PinKeyFile::beside(&self.journal).read_or_make().map_err(|error| stop(&error))?;
        let salt = pos_journal::pin_salt().map_err(|error| stop(&error))?;
        let iterations = NonZeroU32::new(ITERATIONS).unwrap_or(NonZeroU32::MIN);
        Ok(operator_secrets::digest_of_pin(pin, &key, salt, iterations))
    }
}

fn change_stopped(path: &Path, name: &OperatorName, change: &OperatorChange) -> Result<Option<OperatorView>, Stop> {
    let (mut db, _) = Db::open(path).map_err(|error| stop(&error))?;
    let is_there = |db: &Db| -> Result<Option<KeptOperator>, Stop> {
        let operators = db.operators().map_err(|error| stop(&error))?;
        Ok(operators.into_iter().find(|operator| operator.name == *name))
    };
    let refused = match (change, is_there(&db)?) {
        (OperatorChange::Added(_), Some(_)) => {
            Some((ProblemType::OperatorExists, OperatorRefused::Exists { name: name.clone() }))
        }
        (OperatorChange::Added(_), None) | (_, Some(_)) => None,
        (_, None) => Some((ProblemType::NoSuchOperator, OperatorRefused::Unknown { name: name.clone() })),
    };
    if let Some((code, refused)) = refused {
        return Err(Stop::coded(code, refused.to_string()));
    }
    let by = Who { uid: Some(rustix::process::getuid().as_raw()), ..Who::default() };
    db.change_operator(change, &by, Utc::now().timestamp_millis()).map_err(|error| stop(&error))?;
    let view = |kept: KeptOperator| OperatorView { name: kept.name, role: kept.role, locked_s: None, needs_pin: false };
    Ok(is_there(&db)?.map(view))
}

fn stop(error: &pos_journal::Error) -> Stop {
    Stop::coded(ProblemType::Journal, error.to_string())
}
