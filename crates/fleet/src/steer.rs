//! The verbs of a technician: keys, commands, and settings and command keys for single terminals.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use pos_fleet::config::FleetConfig;
use pos_fleet::database::{Notes, connect_with_notes};
use pos_fleet::desk;
use pos_fleet::documents::{self, NewKeys, NewSettings};
use pos_fleet::orders::{self, Answered, NewCommand, RESULT_CHANNEL};
use pos_fleet::signing::SigningKey;
use pos_fleet_terms::{CommandCode, CommandKind, Id, KeyKind};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tokio_postgres::Client;

use crate::arguments::{CommandVerb, KeyVerb, KeysVerb, Order, SettingsVerb};
use crate::{Stop, now, opened, say};

/// The name of a connection to the database.
const NAME: &str = "pos-fleet";
/// The longest time between two looks at the results. A note of the database ends it earlier.
const LOOK: Duration = Duration::from_secs(5);
/// The time after a command's expiry in which the terminal's last word arrives.
const LATE: Duration = Duration::from_secs(10);

fn unreachable(error: impl std::error::Error) -> Stop {
    Stop::Unreachable(error.to_string())
}

fn key_of(file: &Path) -> Result<SigningKey, Stop> {
    SigningKey::load(file).map_err(|error| Stop::Failed(error.to_string()))
}

fn text_of(file: &Path) -> Result<String, Stop> {
    fs::read_to_string(file).map_err(|error| Stop::Failed(format!("{}: {error}", file.display())))
}

impl KeyVerb {
    pub(crate) fn run(&self) -> Result<(), Stop> {
        let key = match self {
            Self::New { name, kind, out } => {
                SigningKey::generate(out, *kind, name).map_err(|error| Stop::Failed(error.to_string()))?
            }
            Self::Show { file } => key_of(file)?,
        };
        say(&lines(&key));
        Ok(())
    }
}

/// Returns the lines of a key for a terminal's configuration.
fn lines(key: &SigningKey) -> String {
    let (name, kind, public) = (Value::from(key.name()), key.kind().word(), hex::encode(key.public()));
    let mut lines = format!(
        "# Add this to /etc/pos-agent/config.toml of each terminal that shall obey this key.\n\
         [[fleet.key]]\nname = {name}\nkind = \"{kind}\"\npublic = \"{public}\"\n"
    );
    match key.kind() {
        KeyKind::Till => lines.push_str(
            "till = \"web\"                 # a till that the terminal has for this key alone\n\
             rights = [\"sale\", \"read\"]    # what this till may do at the terminal",
        ),
        KeyKind::Desk => lines.push_str("# It signs messages, archives, restarts and log levels, and moves no money."),
        KeyKind::Config => lines.push_str("# It signs settings. Two config keys together sign a change of the keys."),
    }
    lines
}

impl Order {
    fn kind(&self) -> CommandKind {
        match self {
            Self::Message { .. } => CommandKind::Message,
            Self::Archive { .. } => CommandKind::Archive,
            Self::Restart => CommandKind::Restart,
            Self::LogLevel { .. } => CommandKind::LogLevel,
        }
    }

    fn body(&self) -> Value {
        match self {
            Self::Message { text } => json!({ "text": text }),
            Self::Archive { .. } | Self::Restart => json!({}),
            Self::LogLevel { level, lasts } => json!({ "level": level, "forS": lasts }),
        }
    }

    fn out(&self) -> Option<&Path> {
        match self {
            Self::Archive { out } => out.as_deref(),
            _ => None,
        }
    }
}

impl CommandVerb {
    pub(crate) async fn run(&self, config: &FleetConfig) -> Result<(), Stop> {
        let file = self.key.as_ref().ok_or_else(|| Stop::Usage("--key FILE names the key that signs".to_owned()))?;
        if self.order.out().is_some() && self.terminals.len() > 1 {
            return Err(Stop::Usage("--out is for the archive of one terminal".to_owned()));
        }
        if let Some(out) = self.order.out().filter(|out| out.exists()) {
            return Err(Stop::Failed(format!("{}: the file exists", out.display())));
        }
        let key = key_of(file)?;
        opened(config).await?;
        let (mut client, notes) = connect_with_notes(&config.database, NAME).await.map_err(unreachable)?;
        client.batch_execute(&format!("listen {RESULT_CHANNEL}")).await.map_err(unreachable)?;
        let begun = now();
        let mut given = BTreeMap::new();
        for terminal in &self.terminals {
            let command = NewCommand {
                org: config.org.clone(),
                terminal: terminal.clone(),
                kind: self.order.kind(),
                body: self.order.body(),
                author: self.by.name(),
                lasts_s: self.lasts,
                till: None,
            };
            match orders::give(&mut client, &key, command, now()).await {
                Ok(id) => {
                    say(&format!("{terminal}: {} {id} is given", self.order.kind()));
                    given.insert(id, terminal.clone());
                }
                Err(orders::OrderError::Database(error)) => return Err(unreachable(error)),
                Err(error) => return Err(Stop::Usage(error.to_string())),
            }
        }
        if !self.wait && self.order.out().is_none() {
            return Ok(());
        }
        let ends = begun + Duration::from_secs(self.lasts) + LATE;
        let answers = wait_for(&client, &notes, given, ends).await?;
        self.tell(&client, answers).await
    }

    /// Says how it ended, and writes the archive.
    async fn tell(&self, client: &Client, answers: Answers) -> Result<(), Stop> {
        if let (Some(out), [(id, answered)]) = (self.order.out(), &answers.done[..])
            && answered.code == CommandCode::Done
        {
            let archive = desk::archive(client, id).await.map_err(unreachable)?;
            let archive = archive.ok_or_else(|| Stop::NotDone("the terminal has sent no archive".to_owned()))?;
            write_new(out, &archive).map_err(|error| Stop::Failed(format!("{}: {error}", out.display())))?;
            say(&format!("{}: {} bytes", out.display(), archive.len()));
        }
        let failed = answers.done.iter().filter(|(_, answered)| answered.code != CommandCode::Done).count();
        match (failed, answers.open.len()) {
            (0, 0) => Ok(()),
            (0, open) => Err(Stop::NoAnswer(format!(
                "{open} without a final answer: {}. A terminal that comes back later still says what became of it",
                answers.open.join(", ")
            ))),
            (failed, _) => Err(Stop::NotDone(format!("{failed} of {} not carried out", self.terminals.len()))),
        }
    }
}

/// What the terminals have said.
struct Answers {
    done: Vec<(Id, Answered)>,
    /// The terminals without a final answer.
    open: Vec<String>,
}

/// Waits until each command has a final result, and says what happens.
async fn wait_for(
    client: &Client,
    notes: &Notes,
    mut given: BTreeMap<Id, Id>,
    ends: SystemTime,
) -> Result<Answers, Stop> {
    let (mut done, mut said) = (Vec::new(), BTreeMap::new());
    while !given.is_empty() && now() < ends {
        for (id, terminal) in given.clone() {
            let Some(answered) = orders::result(client, &id).await.map_err(unreachable)? else { continue };
            let line = line(&terminal, &answered);
            if said.insert(id.clone(), line.clone()).as_ref() != Some(&line) {
                say(&line);
            }
            if answered.is_final {
                given.remove(&id);
                done.push((id, answered));
            }
        }
        if !given.is_empty() {
            // The notes say that there is something new. Without one, the next look does.
            let _ = timeout(LOOK, notes.take()).await;
            // The parts of an archive come close together.
            sleep(Duration::from_millis(50)).await;
        }
    }
    Ok(Answers { done, open: given.into_values().map(|terminal| terminal.to_string()).collect() })
}

fn line(terminal: &Id, answered: &Answered) -> String {
    let code = serde_json::to_value(answered.code).unwrap_or_default();
    let code = code.as_str().unwrap_or_default();
    let text = answered.text.as_deref().or_else(|| answered.body["detail"].as_str()).unwrap_or_default();
    let text: String = text.chars().filter(|char| !char.is_control()).collect();
    let more = if answered.code == CommandCode::Done && !answered.is_final { ", and its archive arrives" } else { "" };
    match text.is_empty() {
        true => format!("{terminal}: {code}{more}"),
        false => format!("{terminal}: {code}: {text}{more}"),
    }
}

/// Writes a new file that only its owner can open.
fn write_new(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?.write_all(bytes)
}

impl SettingsVerb {
    pub(crate) async fn run(&self, config: &FleetConfig) -> Result<(), Stop> {
        let key = key_of(&self.sign)?;
        let settings = documents::settings_of(&text_of(&self.set)?);
        let settings = settings.map_err(|error| Stop::Usage(format!("{}: {error}", self.set.display())))?;
        let mut client = opened(config).await?;
        for terminal in &self.terminals {
            let new = NewSettings {
                org: config.org.clone(),
                terminal: terminal.clone(),
                settings: settings.clone(),
                over_local: self.over_local.clone(),
                author: self.by.name(),
            };
            let version = documents::give_settings(&mut client, &key, new).await.map_err(document)?;
            say(&format!("{terminal}: settings {version} are given"));
        }
        Ok(())
    }
}

impl KeysVerb {
    pub(crate) async fn run(&self, config: &FleetConfig) -> Result<(), Stop> {
        let signers = self.sign.iter().map(|file| key_of(file)).collect::<Result<Vec<_>, _>>()?;
        let keys = documents::keys_of(&text_of(&self.keys)?);
        let keys = keys.map_err(|error| Stop::Usage(format!("{}: {error}", self.keys.display())))?;
        let mut client = opened(config).await?;
        let terminals = if self.all { all(&client).await? } else { self.terminals.clone() };
        for terminal in &terminals {
            let new = NewKeys {
                org: config.org.clone(),
                terminal: terminal.clone(),
                keys: keys.clone(),
                author: self.by.name(),
            };
            let version = documents::give_keys(&mut client, &signers, new).await.map_err(document)?;
            say(&format!("{terminal}: keys {version} are given"));
        }
        Ok(())
    }
}

/// Returns every terminal that the database knows.
async fn all(client: &Client) -> Result<Vec<Id>, Stop> {
    let rows = client.query("select terminal from terminal order by terminal", &[]).await.map_err(unreachable)?;
    Ok(rows.iter().filter_map(|row| row.get::<_, String>(0).parse().ok()).collect())
}

fn document(error: documents::DocumentError) -> Stop {
    match error {
        documents::DocumentError::Database(error) => unreachable(error),
        error => Stop::Usage(error.to_string()),
    }
}
