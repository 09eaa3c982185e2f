//! Passes signed commands, settings and keys to the agent, and says what the agent answers.
//!
//! The uplink judges none of them: it passes the bytes on as they came, one document after the other. The agent alone
//! knows the keys. What it cannot take at this moment is dropped, because the server offers each command again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pos_broker::clock::Clock;
use pos_fleet_terms::{
    ARCHIVE_PART, Ack, ArchivePart, CommandCode, CommandResult, Id, LARGEST, LARGEST_ARCHIVE, MOST_KEYS, Reported,
    SettingsState, read,
};
use pos_till_api::ProblemType;
use pos_till_api::client::ClientError;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::source::may_have_restarted;

/// The wait for an answer. The agent writes to its disk before it answers.
const ANSWER: Duration = Duration::from_secs(30);
/// The seconds for which the agent may wait with the result of a command that runs. A result that has changed by then
/// is sent, so a cloud till sees where its sale stands.
const WAIT_S: u64 = 5;
/// The time after which the agent is asked again that did not answer.
const AGAIN: Duration = Duration::from_secs(2);
/// The time between two looks at the report.
const LOOK: Duration = Duration::from_secs(5);
/// The documents that wait for the agent. A server offers few at a time, and offers again what was dropped.
pub(crate) const INBOX: usize = 16;
/// The results that wait for the connection.
pub(crate) const OUTBOX: usize = 8;
/// The commands that are followed at a time. The server hears of the others when it offers them again.
const MOST_FOLLOWED: usize = 16;
/// The greatest number of kinds of commands, and the greatest length of a word.
const MOST_WORDS: (usize, usize) = (32, 100);

/// The part of the agent's interface that is for the fleet.
pub trait Steering: Clone + Send + Sync + 'static {
    /// Asks the agent, with a body or without one. Returns the status and the answer.
    fn ask(
        &self,
        target: String,
        body: Option<Vec<u8>>,
        patience: Duration,
    ) -> impl Future<Output = Result<(u16, Vec<u8>), ClientError>> + Send;
}

/// A terminal that takes no commands.
#[derive(Clone, Copy, Debug)]
pub enum NoSteering {}

impl Steering for NoSteering {
    async fn ask(&self, _: String, _: Option<Vec<u8>>, _: Duration) -> Result<(u16, Vec<u8>), ClientError> {
        match *self {}
    }
}

/// What the agent says at the begin of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Begun {
    /// The nonce of the connection.
    pub nonce: String,
    /// The greatest counter of each key.
    #[serde(default)]
    pub counters: BTreeMap<String, u64>,
    /// The number of documents that no known key has signed.
    #[serde(default)]
    pub not_signed: u64,
    /// The kinds of commands that the agent knows.
    #[serde(default)]
    pub commands: Vec<String>,
}

/// The reason why the agent did not take a document.
#[derive(Debug, thiserror::Error)]
pub enum SteerError {
    /// No answer. The agent may have acted: its journal knows.
    #[error("the agent cannot be asked: {0}")]
    Client(#[from] ClientError),
    /// A refusal, in the agent's word.
    #[error("the agent refuses: {0}")]
    Refused(String),
    /// An answer that this version cannot read.
    #[error("the agent's answer cannot be read: {0}")]
    Unreadable(String),
}

/// Tells the agent that a connection begins. Returns `None` if the agent takes no commands: it has no keys, does not
/// let this user steer, or is an earlier version.
///
/// # Errors
/// Fails if there is no answer, or none that can be read.
pub async fn begin(agent: &impl Steering) -> Result<Option<Begun>, SteerError> {
    let (status, body) = agent.ask("/v1/fleet/connection".to_owned(), Some(b"{}".to_vec()), ANSWER).await?;
    match status {
        200 => {}
        400..=499 => return Ok(None),
        _ => return Err(SteerError::Refused(status.to_string())),
    }
    let begun: Begun = serde_json::from_slice(&body).map_err(|error| SteerError::Unreadable(error.to_string()))?;
    // A state with more would be refused by its readers.
    let texts = || [&begun.nonce].into_iter().chain(begun.counters.keys()).chain(&begun.commands);
    let is_short = texts().all(|text| text.len() <= MOST_WORDS.1);
    match is_short && begun.counters.len() <= MOST_KEYS && begun.commands.len() <= MOST_WORDS.0 {
        true => Ok(Some(begun)),
        false => Err(SteerError::Unreadable("it is too long".to_owned())),
    }
}

/// What comes from the broker.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A command.
    Command(Vec<u8>),
    /// Settings.
    Settings(Vec<u8>),
    /// Command keys.
    Keys(Vec<u8>),
    /// The server's cursor in the agent's journal.
    Ack(Ack),
}

/// What goes to the broker, or to the connection.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// A result.
    Result(Box<CommandResult>),
    /// A part of an archive. The next part follows when the broker has this one.
    Part(Box<CommandResult>, oneshot::Sender<()>),
    /// The report about settings and keys.
    Reported(Box<Reported>),
    /// A document that no known key has signed.
    NotSigned,
    /// A doubt about the agent's nonce that came up at this time.
    Doubt(Doubt, Instant),
}

/// A reason to doubt that the agent still has the nonce of the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Doubt {
    /// A command names another connection than the agent knows. It may be an old command.
    Stale,
    /// The agent was gone for a moment, so it may have started again.
    Cut,
}

/// Passes documents on, for one connection.
pub(crate) struct Steer<A> {
    agent: A,
    clock: Clock,
    tell: mpsc::Sender<Outgoing>,
    /// The commands that are followed.
    followed: BTreeSet<Id>,
    follows: JoinSet<Id>,
    /// The settings and keys that the agent has not answered yet. The broker sends them once.
    waiting: [Option<(&'static str, Vec<u8>)>; 2],
    /// The last report that was sent.
    reported: Option<Reported>,
    /// The server's cursor.
    ack: Option<Ack>,
}

/// The link is gone, and another one begins with its own task.
struct Gone;

impl<A: Steering> Steer<A> {
    pub(crate) fn new(agent: A, clock: Clock, tell: mpsc::Sender<Outgoing>) -> Self {
        Self {
            agent,
            clock,
            tell,
            followed: BTreeSet::new(),
            follows: JoinSet::new(),
            waiting: [None, None],
            reported: None,
            ack: None,
        }
    }

    /// Passes on until the connection ends.
    pub(crate) async fn run(mut self, mut inbox: mpsc::Receiver<Incoming>) {
        let clock = self.clock.clone();
        let mut look = clock.now();
        loop {
            let passed = tokio::select! {
                incoming = inbox.recv() => match incoming {
                    None => return,
                    Some(incoming) => self.take(incoming).await,
                },
                Some(ended) = self.follows.join_next() => {
                    if let Ok(id) = ended {
                        self.followed.remove(&id);
                    }
                    Ok(())
                }
                () = clock.sleep_until(look) => {
                    look = clock.now() + LOOK;
                    self.look().await
                }
            };
            if passed.is_err() {
                return;
            }
        }
    }

    async fn take(&mut self, incoming: Incoming) -> Result<(), Gone> {
        match incoming {
            Incoming::Command(envelope) => return self.command(envelope).await,
            Incoming::Settings(envelope) => self.waiting[0] = Some(("/v1/fleet/settings", envelope)),
            Incoming::Keys(envelope) => self.waiting[1] = Some(("/v1/fleet/keys", envelope)),
            Incoming::Ack(ack) => {
                self.ack = Some(ack);
                return self.acknowledge().await;
            }
        }
        self.give().await
    }

    async fn command(&mut self, envelope: Vec<u8>) -> Result<(), Gone> {
        let result = match asked(&self.agent, "/v1/fleet/commands".to_owned(), Some(envelope)).await {
            Ok(body) => read::<CommandResult>(&body).map_err(|error| SteerError::Unreadable(error.to_string())),
            Err(error) => Err(error),
        };
        let result = match result {
            Ok(result) => result,
            Err(error) => return self.failed(error).await,
        };
        if result.code == CommandCode::StaleConnection {
            self.tell(Outgoing::Doubt(Doubt::Stale, self.clock.now())).await?;
        }
        let goes_on = result.code == CommandCode::Running || archive(&result).is_some();
        self.tell(Outgoing::Result(Box::new(result.clone()))).await?;
        if goes_on && self.followed.len() < MOST_FOLLOWED && self.followed.insert(result.id.clone()) {
            self.follows.spawn(follow(self.agent.clone(), self.clock.clone(), self.tell.clone(), result));
        }
        Ok(())
    }

    /// Gives the agent the settings and keys that it has not answered yet.
    async fn give(&mut self) -> Result<(), Gone> {
        for at in 0..self.waiting.len() {
            let Some((target, envelope)) = self.waiting[at].clone() else { continue };
            match asked(&self.agent, target.to_owned(), Some(envelope)).await {
                Ok(body) => {
                    self.waiting[at] = None;
                    self.report(&body).await?;
                }
                Err(SteerError::Client(error)) => {
                    tracing::warn!(%error, "the agent cannot be asked");
                    self.no_answer(&error).await?;
                }
                // The broker does not send the document again in this connection, and the journal may be whole again.
                Err(SteerError::Refused(word)) if word == ProblemType::Journal.code() => {
                    tracing::warn!("the agent cannot write its journal, and is asked again");
                }
                Err(error) => {
                    self.waiting[at] = None;
                    self.failed(error).await?;
                }
            }
        }
        Ok(())
    }

    /// Looks at what the agent reports: a trial ends without a message.
    async fn look(&mut self) -> Result<(), Gone> {
        self.give().await?;
        match asked(&self.agent, "/v1/fleet/settings".to_owned(), None).await {
            Ok(body) => self.report(&body).await?,
            Err(error) => {
                tracing::debug!(%error, "the report cannot be read");
                if let SteerError::Client(error) = &error {
                    self.no_answer(error).await?;
                }
            }
        }
        self.acknowledge().await
    }

    async fn report(&mut self, body: &[u8]) -> Result<(), Gone> {
        let reported = match read::<Reported>(body) {
            Ok(reported) => reported,
            Err(error) => {
                tracing::warn!(%error, "the agent's report cannot be read");
                return Ok(());
            }
        };
        // The time alone is no change.
        let is_known =
            self.reported.as_ref().is_some_and(|known| *known == Reported { at: known.at.clone(), ..reported.clone() });
        if !is_known {
            self.reported = Some(reported.clone());
            self.tell(Outgoing::Reported(Box::new(reported))).await?;
        }
        Ok(())
    }

    /// Tells the agent the server's cursor, as long as a trial waits for it. Each start of the trial must hear it.
    async fn acknowledge(&mut self) -> Result<(), Gone> {
        let entry = match &self.reported {
            Some(reported) if reported.state == SettingsState::Trial => reported.entry,
            _ => return Ok(()),
        };
        let Some(ack) = self.ack.as_ref().filter(|ack| ack.number >= entry) else { return Ok(()) };
        let body = serde_json::json!({ "journal": ack.journal, "number": ack.number }).to_string();
        match asked(&self.agent, "/v1/fleet/acks".to_owned(), Some(body.into_bytes())).await {
            Ok(body) => self.report(&body).await,
            Err(error) => {
                tracing::warn!(%error, "the agent does not take the server's acknowledgement");
                match &error {
                    SteerError::Client(error) => self.no_answer(error).await,
                    _ => Ok(()),
                }
            }
        }
    }

    async fn failed(&self, error: SteerError) -> Result<(), Gone> {
        match error {
            // Its sender hears nothing.
            SteerError::Refused(word) if word == ProblemType::NotSigned.code() => self.tell(Outgoing::NotSigned).await,
            SteerError::Client(error) => {
                tracing::warn!(%error, "a command did not reach the agent; the server offers it again");
                self.no_answer(&error).await
            }
            error => {
                tracing::warn!(%error, "a document of the server is dropped");
                Ok(())
            }
        }
    }

    /// Handles an answer of the agent that did not come.
    async fn no_answer(&self, error: &ClientError) -> Result<(), Gone> {
        match may_have_restarted(error) {
            true => self.tell(Outgoing::Doubt(Doubt::Cut, self.clock.now())).await,
            false => Ok(()),
        }
    }

    async fn tell(&self, outgoing: Outgoing) -> Result<(), Gone> {
        self.tell.send(outgoing).await.map_err(|_| Gone)
    }
}

/// Waits for the end of a command, and tells each change. Then it sends the archive, if the command has made one.
async fn follow<A: Steering>(agent: A, clock: Clock, tell: mpsc::Sender<Outgoing>, first: CommandResult) -> Id {
    let id = first.id.clone();
    let mut last = first;
    while !last.code.is_final() {
        let target = format!("/v1/fleet/commands/{id}?wait-s={WAIT_S}");
        match asked(&agent, target, None).await {
            Ok(body) => {
                let Ok(result) = read::<CommandResult>(&body) else { return id };
                let is_new = (result.code, &result.body) != (last.code, &last.body);
                if is_new && tell.send(Outgoing::Result(Box::new(result.clone()))).await.is_err() {
                    return id;
                }
                if !is_new {
                    // An agent that does not wait must not be asked without end.
                    clock.sleep(AGAIN / 4).await;
                }
                last = result;
            }
            Err(SteerError::Client(error)) => {
                // It starts again, and then knows what became of the command.
                if may_have_restarted(&error) && tell.send(Outgoing::Doubt(Doubt::Cut, clock.now())).await.is_err() {
                    return id;
                }
                clock.sleep(AGAIN).await;
            }
            Err(error) => {
                tracing::warn!(%id, %error, "a command cannot be followed");
                return id;
            }
        }
    }
    if let Some(size) = archive(&last) {
        send_archive(&agent, &tell, &last, size).await;
    }
    id
}

/// Returns the size of the archive that a command has made.
fn archive(result: &CommandResult) -> Option<usize> {
    let size = result.body["size"].as_u64().and_then(|size| usize::try_from(size).ok())?;
    let is_one = result.code == CommandCode::Done && result.body["sha256"].is_string();
    (is_one && (1..=LARGEST_ARCHIVE).contains(&size)).then_some(size)
}

/// Sends the parts of an archive, each after the broker has the one before, so that it holds up no result.
async fn send_archive(agent: &impl Steering, tell: &mpsc::Sender<Outgoing>, done: &CommandResult, size: usize) {
    let of = size.div_ceil(ARCHIVE_PART);
    for number in 0..of {
        let target = format!("/v1/fleet/commands/{}/archive?part={number}", done.id);
        let bytes = match asked(agent, target, None).await {
            Ok(bytes) if bytes.len() <= ARCHIVE_PART => bytes,
            Ok(_) => return,
            Err(error) => {
                tracing::warn!(id = %done.id, number, %error, "an archive cannot be read");
                return;
            }
        };
        let counted = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let part = ArchivePart { number: counted(number), of: counted(of), bytes: STANDARD.encode(&bytes) };
        let part = CommandResult { body: Value::Null, part: Some(part), ..done.clone() };
        let (arrives, arrived) = oneshot::channel();
        if tell.send(Outgoing::Part(Box::new(part), arrives)).await.is_err() || arrived.await.is_err() {
            return;
        }
    }
}

/// Asks, and returns the body of a good answer.
async fn asked(agent: &impl Steering, target: String, body: Option<Vec<u8>>) -> Result<Vec<u8>, SteerError> {
    let (status, body) = agent.ask(target, body, ANSWER).await?;
    if status == 200 {
        return match body.len() > LARGEST {
            true => Err(SteerError::Unreadable("it is too long".to_owned())),
            false => Ok(body),
        };
    }
    let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
    let word = problem["type"].as_str().and_then(|word| word.rsplit(['/', ':']).next());
    let word: String = word.unwrap_or_default().chars().take(MOST_WORDS.1).collect();
    Err(SteerError::Refused(if word.is_empty() { status.to_string() } else { word }))
}
