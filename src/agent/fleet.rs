//! The fleet's commands: who may give one, what it does, and what became of it.
//!
//! A command is judged by `crate::fleet`. An accepted one is written into the journal with its counter, and acts only
//! then. One about a transaction goes back to the interface, which carries it out like a till's request; the others
//! act here. After a power cut, a command without an answer is answered from the ledger: it never acts again.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use pos_fleet_terms::{CommandCode, CommandKind, CommandResult, DocumentKind, Envelope, FleetCommand, Id, read};
use ring::digest::{SHA256, digest};
use serde_json::Value;

use super::Agent;
use super::restart::RestartWanted;
use crate::config;
use crate::fleet::{AskedCommand, CommandSigner, CommandVerdict, FleetKeys, FleetTill, JudgingNow, OwnPlace, judge};
use crate::till::{
    Caller, CancelView, CommandEnd, FleetConnection, FleetOrder, FleetRefused, FleetRequest, FleetTaken, SaleState,
};
use pos_core::fleet::{AcceptedCommand, JudgedCommand};
use pos_core::transaction::Transaction;
use pos_terms::emv::pan;
use pos_terms::transaction::{FleetAuthor, Reference};
use pos_words::{Message, Sentence};

mod archive;

use archive::ArchiveDesk;
pub(super) use archive::ArchiveMade;

/// The number of judged commands after which old ones are removed from the journal.
const TIDY_AFTER: u32 = 100;
/// The least time between two lines in the log about documents without a known signature.
const LOG_AGAIN: Duration = Duration::from_secs(3600);
/// The greatest number of characters of a message to the people at the terminal.
const LONGEST_MESSAGE: usize = 300;
/// The time after which an accepted command no longer counts as being carried out. The interface needs less for each
/// request, also if it first looks up an earlier payment at the gateway. Then the ledger alone answers.
const ACTS_AT_MOST: Duration = Duration::from_secs(600);
/// The time for which a message is shown, unless another one replaces it.
const MESSAGE_LASTS: Duration = Duration::from_secs(24 * 3600);

/// The fleet's part of the agent.
pub(super) struct FleetControl {
    place: Option<OwnPlace>,
    keys: FleetKeys,
    /// True if operators must be signed in at the terminal.
    operators_required: bool,
    nonce: Option<String>,
    not_signed: u64,
    logged_at: Option<Duration>,
    /// The accepted commands that have not ended in this run, and until when each counts as being carried out.
    acting: BTreeMap<Id, Duration>,
    judged: u32,
    message: Option<FleetNote>,
    archives: ArchiveDesk,
}

/// A message to the people at the terminal.
struct FleetNote {
    author: String,
    text: String,
    until: Duration,
}

impl FleetControl {
    /// Creates the control with the keys of the terminal's own configuration.
    pub(super) fn new(config: &config::Config) -> Self {
        let place = config.fleet.as_ref().and_then(|fleet| {
            let (org, terminal) = (fleet.org.parse().ok()?, fleet.terminal.parse().ok()?);
            Some(OwnPlace { org, terminal })
        });
        Self {
            place,
            keys: config.fleet.as_ref().map(FleetKeys::own).unwrap_or_default(),
            operators_required: config.operators.required,
            nonce: None,
            not_signed: 0,
            logged_at: None,
            acting: BTreeMap::new(),
            judged: 0,
            message: None,
            archives: ArchiveDesk::new(config),
        }
    }

    /// Replaces the keys in force.
    pub(super) fn use_keys(&mut self, keys: FleetKeys) {
        self.keys = keys;
    }

    /// Returns the message for the status.
    pub(super) fn message(&self, now: Duration) -> Option<Sentence> {
        let note = self.message.as_ref().filter(|note| note.until > now)?;
        Some(Message::AttentionFleetMessage.with("author", note.author.as_str()).with("text", note.text.as_str()))
    }

    /// Returns whether another command than this one is being carried out. An accepted sale may be about to begin.
    pub(super) fn acts_besides(&self, own: Option<&Id>, now: Duration) -> bool {
        self.acting.iter().any(|(id, until)| Some(id) != own && now < *until)
    }

    /// Counts a document that no known key has signed. The log says so now and then.
    pub(super) fn count_not_signed(&mut self, now: Duration) {
        self.not_signed += 1;
        if self.logged_at.is_none_or(|at| now.saturating_sub(at) >= LOG_AGAIN) {
            self.logged_at = Some(now);
            tracing::warn!(
                count = self.not_signed,
                "the fleet sent a document that no key of this terminal has signed"
            );
        }
    }
}

impl Agent {
    /// Answers a request of the program that connects the terminal to its fleet.
    pub(super) fn fleet_asks(&mut self, request: FleetRequest) {
        match request {
            FleetRequest::Connect { reply } => drop(reply.send(self.fleet_connects())),
            FleetRequest::Take { envelope, reply } => drop(reply.send(self.take_command(&envelope))),
            FleetRequest::Finish { id, end, reply } => drop(reply.send(self.command_ended(&id, end))),
            FleetRequest::Result { id, reply } => drop(reply.send(self.command_result(&id))),
            FleetRequest::Archive { id, reply } => {
                let file = self.fleet.archives.file_of(&id);
                drop(reply.send(file.ok_or(FleetRefused::NoSuchCommand)));
            }
        }
    }

    /// Begins a connection with a new nonce, which exists in memory alone: no earlier command can contain it.
    fn fleet_connects(&mut self) -> Result<FleetConnection, FleetRefused> {
        if self.fleet.place.is_none() {
            return Err(FleetRefused::NoFleet);
        }
        let random = (self.engine.random)().map_err(|error| FleetRefused::Journal(error.to_string()))?;
        let nonce = hex::encode(random);
        let book = self.engine.journal.book();
        let counters =
            self.fleet.keys.all().iter().map(|key| Ok((key.id.clone(), book.used_counters(&key.id)?.highest)));
        let counters = counters.collect::<Result<BTreeMap<_, _>, pos_journal::Error>>().map_err(by_journal)?;
        self.fleet.nonce = Some(nonce.clone());
        let commands = CommandKind::ALL.iter().map(|kind| kind.word().to_owned()).collect();
        Ok(FleetConnection { nonce, counters, not_signed: self.fleet.not_signed, commands })
    }

    /// Judges a command, writes it into the journal, and only then begins to act.
    fn take_command(&mut self, bytes: &[u8]) -> Result<FleetTaken, FleetRefused> {
        let place = self.fleet.place.clone().ok_or(FleetRefused::NoFleet)?;
        let envelope = &Envelope::read(bytes).map_err(|error| FleetRefused::Malformed(format!("the body: {error}")))?;
        if envelope.kind != DocumentKind::Command {
            return Err(FleetRefused::Malformed("the body: it is not a command".to_owned()));
        }
        let keys = self.fleet.keys.clone();
        let signers = keys.signers_of(envelope);
        if signers.is_empty() {
            self.fleet.count_not_signed(self.engine.clock.monotonic());
            return Err(FleetRefused::NotSigned);
        }
        let command: FleetCommand =
            read(&envelope.document).map_err(|error| FleetRefused::Malformed(error.to_string()))?;
        let asked = AskedCommand { command, sha256: hex::encode(digest(&SHA256, &envelope.document)) };
        let book = self.engine.journal.book();
        let known = book.command(asked.command.id.as_str()).map_err(by_journal)?;
        let unix_ms = self.engine.clock.local().map(|local| local.timestamp_millis());
        let now = JudgingNow { unix_ms, nonce: self.fleet.nonce.as_deref() };
        let verdict = judge(&asked, &signers, &place, known, now, |key| book.used_counters(key)).map_err(by_journal)?;
        match verdict {
            CommandVerdict::Elsewhere => Ok(self.plain(&asked, CommandCode::WrongTerminal)),
            CommandVerdict::IdTaken => Ok(self.plain(&asked, CommandCode::IdTaken)),
            CommandVerdict::Known(known) => Ok(FleetTaken::Answered(Box::new(self.result_of(&known)?))),
            CommandVerdict::Refused(code) => self.refuse(&asked, &signers, code, None),
            CommandVerdict::Accepted { kind, key, used } => match Content::of(kind, key, &asked.command) {
                Err(why) => self.refuse(&asked, &[key], CommandCode::Malformed, Some(why)),
                Ok(content) => {
                    let author = asked.command.author.clone();
                    let accepted = AcceptedCommand { key_name: key.name.clone(), author, used };
                    self.write_command(&self.judged_command(&asked, key, &content, None), Some(&accepted))?;
                    self.begin_to_act(asked, kind, key, content)
                }
            },
        }
    }

    /// Refuses a command for this terminal. The refusal is stored, so the same id never acts later.
    fn refuse(
        &mut self,
        asked: &AskedCommand,
        signers: &[&CommandSigner],
        code: CommandCode,
        why: Option<String>,
    ) -> Result<FleetTaken, FleetRefused> {
        let result = CommandResult { text: why, ..self.told(asked, code) };
        let (id, kind, key) = (&asked.command.id, &asked.command.kind, signers.first().map_or("", |key| &key.name));
        tracing::warn!(%id, %kind, key, ?code, "a command of the fleet is refused");
        let stored = serde_json::to_string(&result).ok();
        let row = signers.first().map(|key| self.judged_command(asked, key, &Content::default(), stored));
        if let Some(row) = row {
            self.write_command(&row, None)?;
        }
        Ok(FleetTaken::Answered(Box::new(result)))
    }

    fn judged_command(
        &self,
        AskedCommand { command, sha256 }: &AskedCommand,
        key: &CommandSigner,
        content: &Content,
        answer: Option<String>,
    ) -> JudgedCommand {
        JudgedCommand {
            id: command.id.to_string(),
            sha256: sha256.clone(),
            kind: command.kind.clone(),
            key: key.id.clone(),
            counter: command.counter.min(i64::MAX.unsigned_abs()),
            till: content.reference.as_ref().and(key.till.as_ref()).map(|till| till.name.clone()),
            reference: content.reference.as_ref().map(Reference::to_string),
            answer,
            unix_ms: self.engine.clock.unix_ms(),
        }
    }

    fn write_command(
        &mut self,
        command: &JudgedCommand,
        accepted: Option<&AcceptedCommand>,
    ) -> Result<(), FleetRefused> {
        let journal = &mut self.engine.journal;
        if let Some(fault) = &journal.fault {
            return Err(FleetRefused::Journal(self.engine.teller.words().tell(&fault.why)));
        }
        if let Err(error) = journal.write_command(command, accepted) {
            self.engine.journal_is_faulty(&error);
            return Err(by_journal(error));
        }
        self.fleet.judged += 1;
        if self.fleet.judged >= TIDY_AFTER {
            self.forget_commands();
        }
        Ok(())
    }

    /// Removes the commands that are answered and old, or too many.
    fn forget_commands(&mut self) {
        self.fleet.judged = 0;
        if let Err(error) = self.engine.journal.forget_commands(self.engine.clock.unix_ms()) {
            tracing::warn!(%error, "old commands of the fleet could not be removed from the journal");
        }
    }

    /// Begins to do what an accepted command asks. It is in the journal.
    fn begin_to_act(
        &mut self,
        asked: AskedCommand,
        kind: CommandKind,
        key: &CommandSigner,
        content: Content,
    ) -> Result<FleetTaken, FleetRefused> {
        let running = self.told(&asked, CommandCode::Running);
        let AskedCommand { command, .. } = asked;
        tracing::info!(id = %command.id, %kind, key = key.name, author = command.author, "a command of the fleet");
        let lasts = match kind {
            CommandKind::Restart => self.left_until(&command.expires, kind),
            _ => ACTS_AT_MOST,
        };
        let until = self.engine.clock.monotonic() + lasts;
        self.fleet.acting.insert(command.id.clone(), until);
        let by = FleetAuthor { key: key.name.clone(), author: command.author };
        let end = match kind {
            CommandKind::Sale | CommandKind::Cancel | CommandKind::Confirm | CommandKind::LogLevel => {
                let till = key.till.clone().map(|FleetTill { name, rights, operator }| (name, rights, operator));
                let caller = Caller::fleet(by, till, self.fleet.operators_required);
                return Ok(FleetTaken::Act(Box::new(FleetOrder { id: command.id, kind, caller, body: command.body })));
            }
            CommandKind::Message => {
                let until = self.engine.clock.monotonic() + MESSAGE_LASTS;
                let text = content.message.filter(|text| !text.is_empty());
                self.fleet.message = text.map(|text| FleetNote { author: by.author, text, until });
                CommandEnd::Done(Value::Null)
            }
            CommandKind::Archive => match self.fleet.archives.begin(command.id.clone(), &self.engine.tasks) {
                Ok(()) => return Ok(FleetTaken::Answered(Box::new(running))),
                Err(why) => return self.fail(&command.id, why).map(|result| FleetTaken::Answered(Box::new(result))),
            },
            CommandKind::Restart => {
                self.restart_when_idle(RestartWanted { until, command: Some(command.id) });
                return Ok(FleetTaken::Answered(Box::new(running)));
            }
        };
        self.command_ended(&command.id, end).map(|result| FleetTaken::Answered(Box::new(result)))
    }

    /// Returns the time until a command's expiry, at most the longest time of its kind.
    fn left_until(&self, expires: &str, kind: CommandKind) -> Duration {
        let longest = Duration::from_secs(kind.longest_s());
        let (now, expires) = (self.engine.clock.local(), DateTime::parse_from_rfc3339(expires));
        let left = now.zip(expires.ok()).map(|(now, expires)| expires.signed_duration_since(now).to_std());
        left.map_or(longest, |left| left.unwrap_or_default().min(longest))
    }

    /// Stores how carrying out a command ended, and returns its result.
    fn command_ended(&mut self, id: &Id, end: CommandEnd) -> Result<CommandResult, FleetRefused> {
        let stored = self.stored(id)?;
        let result = match end {
            CommandEnd::Began => {
                self.fleet.acting.remove(id);
                return self.result_of(&stored);
            }
            // It may still begin, for example after a look-up at the gateway, so it still counts as acting.
            CommandEnd::Unknown => return self.result_of(&stored),
            CommandEnd::Done(body) => CommandResult { body, ..self.result(&stored, CommandCode::Done) },
            CommandEnd::Malformed(text) => {
                CommandResult { text: Some(text), ..self.result(&stored, CommandCode::Malformed) }
            }
            CommandEnd::Refused { text, problem } => {
                CommandResult { text: Some(text), body: problem, ..self.result(&stored, CommandCode::Refused) }
            }
        };
        self.answer(result)
    }

    fn fail(&mut self, id: &Id, why: String) -> Result<CommandResult, FleetRefused> {
        let stored = self.stored(id)?;
        self.answer(CommandResult { text: Some(why), ..self.result(&stored, CommandCode::Failed) })
    }

    /// Stores a final answer.
    fn answer(&mut self, result: CommandResult) -> Result<CommandResult, FleetRefused> {
        let text = serde_json::to_string(&result).map_err(|error| FleetRefused::Journal(error.to_string()))?;
        let unix_ms = self.engine.clock.unix_ms();
        self.engine.journal.answer_command(result.id.as_str(), &text, unix_ms).map_err(by_journal)?;
        self.fleet.acting.remove(&result.id);
        Ok(result)
    }

    /// Answers a command that waited for an idle terminal.
    pub(super) fn was_not_idle(&mut self, id: &Id) {
        let answered = self.stored(id).map(|stored| self.result(&stored, CommandCode::NotIdle));
        if let Err(error) = answered.and_then(|result| self.answer(result)) {
            tracing::warn!(%id, ?error, "the answer of a command could not be stored");
        }
    }

    /// Takes the result of making a support archive.
    pub(super) fn archive_made(&mut self, ArchiveMade { id, made }: ArchiveMade) {
        let answered = match self.fleet.archives.ended(&id, made) {
            Ok(facts) => self.command_ended(&id, CommandEnd::Done(facts)),
            Err(why) => self.fail(&id, why),
        };
        if let Err(error) = answered {
            tracing::warn!(%id, ?error, "the answer of a command could not be stored");
        }
    }

    fn command_result(&self, id: &Id) -> Result<CommandResult, FleetRefused> {
        self.result_of(&self.stored(id)?)
    }

    fn stored(&self, id: &Id) -> Result<JudgedCommand, FleetRefused> {
        let stored = self.engine.journal.book().command(id.as_str()).map_err(by_journal)?;
        stored.ok_or(FleetRefused::NoSuchCommand)
    }

    /// Returns what became of a command: the stored answer, or what the ledger says.
    fn result_of(&self, stored: &JudgedCommand) -> Result<CommandResult, FleetRefused> {
        if let Some(answer) = &stored.answer {
            return serde_json::from_str(answer).map_err(|error| FleetRefused::Journal(error.to_string()));
        }
        let kind = CommandKind::of(&stored.kind);
        let now = self.engine.clock.monotonic();
        let acts = self.fleet.acting.iter().any(|(id, until)| id.as_str() == stored.id && now < *until);
        // A write that failed may be on the disk, so a faulty journal proves nothing.
        let is_open = acts || self.engine.journal.fault.is_some();
        let sale = match kind {
            Some(CommandKind::Sale) => self.sale_of(stored)?,
            _ if is_open => return Ok(self.result(stored, CommandCode::Running)),
            Some(CommandKind::Cancel | CommandKind::Confirm) => self.sale_of(stored)?,
            _ => return Ok(self.result(stored, CommandCode::Failed)),
        };
        let Some(sale) = sale else {
            let code = if is_open { CommandCode::Running } else { CommandCode::NotBegun };
            return Ok(self.result(stored, code));
        };
        let view = self.engine.facts().view(&sale);
        let code = match (kind, view.state) {
            (Some(CommandKind::Confirm), _) if sale.till_said().is_some() => CommandCode::Done,
            (Some(CommandKind::Confirm), _) => return Ok(self.result(stored, CommandCode::NotBegun)),
            (_, SaleState::Ended) => CommandCode::Done,
            _ => CommandCode::Running,
        };
        let body = match kind {
            Some(CommandKind::Cancel) => serde_json::to_value(CancelView::from(view)),
            _ => serde_json::to_value(view),
        };
        Ok(CommandResult { body: body.unwrap_or_default(), ..self.result(stored, code) })
    }

    /// Returns the transaction that a command began.
    fn sale_of(&self, stored: &JudgedCommand) -> Result<Option<Transaction>, FleetRefused> {
        let (Some(till), Some(reference)) = (&stored.till, &stored.reference) else { return Ok(None) };
        let Ok(reference) = Reference::parse(reference.clone()) else { return Ok(None) };
        // One that is open, or whose last step could not be written, is in memory.
        match self.engine.known().find(till, &reference) {
            Ok(sale) => Ok(Some(sale)),
            Err(_) => self.engine.journal.book().find(till, &reference).map_err(by_journal),
        }
    }

    /// Answers the commands that a power cut or a restart has left without an answer.
    pub(super) fn recover_commands(&mut self) {
        let unanswered = self.engine.journal.book().unanswered_commands();
        let unanswered = unanswered.unwrap_or_else(|error| {
            tracing::warn!(%error, "the commands of the fleet cannot be read");
            Vec::new()
        });
        for stored in unanswered {
            let kind = CommandKind::of(&stored.kind);
            let result = match kind {
                Some(CommandKind::Restart) => Ok(self.result(&stored, CommandCode::Done)),
                Some(kind) if kind.is_about_money() => self.result_of(&stored),
                _ => Ok(self.result(&stored, CommandCode::NotBegun)),
            };
            // A transaction answers for its command itself, and one that goes on answers for its cancel later.
            let is_stored = |result: &CommandResult| match kind {
                Some(CommandKind::Sale) => result.code == CommandCode::NotBegun,
                _ => result.code.is_final(),
            };
            let answered =
                result.and_then(|result| if is_stored(&result) { self.answer(result).map(drop) } else { Ok(()) });
            if let Err(error) = answered {
                tracing::warn!(id = stored.id, ?error, "the answer of a command could not be stored");
            }
        }
        self.forget_commands();
    }

    fn result(&self, stored: &JudgedCommand, code: CommandCode) -> CommandResult {
        CommandResult {
            id: stored.id.parse().expect("an id is stored as it was read"),
            command: stored.sha256.clone(),
            code,
            text: None,
            body: Value::Null,
            part: None,
            at: self.now(),
        }
    }

    fn told(&self, asked: &AskedCommand, code: CommandCode) -> CommandResult {
        CommandResult {
            id: asked.command.id.clone(),
            command: asked.sha256.clone(),
            code,
            text: None,
            body: Value::Null,
            part: None,
            at: self.now(),
        }
    }

    fn plain(&self, asked: &AskedCommand, code: CommandCode) -> FleetTaken {
        FleetTaken::Answered(Box::new(self.told(asked, code)))
    }

    fn now(&self) -> String {
        let at: DateTime<Utc> = DateTime::from_timestamp_millis(self.engine.clock.unix_ms()).unwrap_or_default();
        at.to_rfc3339_opts(SecondsFormat::Secs, true)
    }
}

/// The parts of a command's content that the agent needs before it acts.
#[derive(Default)]
struct Content {
    reference: Option<Reference>,
    message: Option<String>,
}

impl Content {
    /// Reads the content. The interface reads the rest of one about a transaction.
    fn of(kind: CommandKind, key: &CommandSigner, command: &FleetCommand) -> Result<Self, String> {
        if pan::is_in(&command.author) || command.author.chars().any(char::is_control) {
            return Err("author: write the name of a person or a program".to_owned());
        }
        match kind {
            CommandKind::Sale | CommandKind::Cancel | CommandKind::Confirm => {
                let reference = command.body["reference"].as_str().ok_or("reference: missing")?;
                let reference = Reference::parse(reference).map_err(|error| format!("reference: {error}"))?;
                if key.till.is_none() || pan::is_in(reference.as_str()) {
                    return Err("reference: it looks like a card number".to_owned());
                }
                Ok(Self { reference: Some(reference), message: None })
            }
            CommandKind::Message => {
                let text = command.body["text"].as_str().ok_or("text: missing")?;
                let text: String = text.chars().filter(|c| !c.is_control()).collect();
                match text.chars().count() <= LONGEST_MESSAGE && !pan::is_in(&text) {
                    true => Ok(Self { reference: None, message: Some(text) }),
                    false => Err(format!("text: at most {LONGEST_MESSAGE} characters, and no card number")),
                }
            }
            CommandKind::Archive | CommandKind::Restart => {
                let is_empty =
                    command.body.is_null() || command.body.as_object().is_some_and(serde_json::Map::is_empty);
                if is_empty { Ok(Self::default()) } else { Err("the body must be empty".to_owned()) }
            }
            CommandKind::LogLevel => Ok(Self::default()),
        }
    }
}

fn by_journal(error: pos_journal::Error) -> FleetRefused {
    FleetRefused::Journal(error.to_string())
}
