//! Shows a terminal through one connection to the broker, and the next, and passes signed documents on.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use pos_broker::clock::Clock;
use pos_broker::{Connection, Endpoint, Heard, Message, Waits, Will};
use pos_fleet_terms::{
    Ack, Channel, CommandResult, DocumentKind, Id, Info, LARGEST, LARGEST_COMMAND, MessageError, Metrics, State, Topic,
    read, write,
};
use pos_till_api::{Entries, LastEntry};
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::choose::Kinds;
use crate::cursor::{Cursor, Next};
use crate::identity::{Identity, Pass};
use crate::shown;
use crate::signer::ResultSigner;
use crate::source::{Source, SourceError};
use crate::steer::{self, Begun, Doubt, INBOX, Incoming, OUTBOX, Outgoing, Steer};

/// No entry has a greater number.
const LAST_NUMBER: i64 = pos_till_api::GREATEST_NUMBER.cast_signed();
/// The time between two looks at the agent.
const LOOK: Duration = Duration::from_secs(10);
/// The time between two messages of metrics.
const METRICS: Duration = Duration::from_secs(60);
/// The time after which an unchanged state is sent again, so that a server sees that it is not stale.
const STATE_AGAIN: Duration = Duration::from_secs(600);
/// The time after which an agent that takes no commands is asked again.
const NO_COMMANDS: Duration = Duration::from_secs(300);
/// The time for which a nonce stays, even if commands name another one. A thief that repeats old commands must not make
/// new ones fail.
const NONCE: Duration = Duration::from_secs(30);
/// Start times of an agent that differ by fewer seconds are one: its clock may have been corrected.
const SAME_START_S: u64 = 5;
/// The connection counts as good after this time, and the next wait is short again.
const GOOD: Duration = Duration::from_secs(60);
/// The time for a connection to be accepted.
const ACCEPTED: Duration = Duration::from_secs(30);
/// The number of messages that the broker may send without an acknowledgement. A terminal hears cursors only.
const UNACKNOWLEDGED: u16 = 20;
/// The memory for them, in bytes.
const MOST_UNREAD: usize = 1024 * 1024;

/// The terminal's place at its broker.
#[derive(Clone, Debug)]
pub struct Place {
    /// The broker's host name, which its certificate must contain.
    pub host: String,
    /// The broker's port.
    pub port: u16,
    /// The seconds after which a silent connection is asked.
    pub keep_alive_s: u16,
    /// The organisation.
    pub org: Id,
    /// The terminal, which is also the name in its certificate.
    pub terminal: Id,
    /// The waits between two connections.
    pub waits: Waits,
}

/// What the uplink does, for `pos-uplink status`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// True while the broker has accepted the terminal.
    pub connected: bool,
    /// The last fault of the connection.
    pub fault: Option<String>,
    /// The last entry of the journal.
    pub last: i64,
    /// The last entry up to which the server has every one.
    pub stored: Option<i64>,
    /// The end of the certificate.
    pub certificate_ends: Option<SystemTime>,
}

/// The uplink of one terminal.
#[derive(Debug)]
pub struct Uplink<S, I> {
    place: Place,
    kinds: Kinds,
    source: S,
    identity: I,
    clock: Clock,
    standing: watch::Sender<Standing>,
    /// A random name of this start.
    boot: String,
    connections: u64,
    /// What was sent last in this connection.
    sent: (Option<(State, Instant)>, Option<Info>),
    metrics_at: Instant,
    /// The journal of the agent, and its last entry.
    journal: Option<(String, LastEntry)>,
    /// The server's cursor, until the journal is known.
    early: Option<Ack>,
    /// The server's cursor that the agent has not heard.
    acked: Option<Ack>,
    /// Whether the agent takes commands.
    steered: Steered,
    /// True if a command named another connection than the agent knows.
    is_stale: bool,
    /// The start of the agent, in seconds since 1970.
    started: Option<u64>,
}

/// Whether the agent takes commands.
#[derive(Debug)]
enum Steered {
    /// It has not been asked in this connection, or has started again.
    Unknown,
    /// It does not, and is asked again at this time.
    No(Instant),
    /// It does, since this time.
    Yes(Begun, Instant),
}

/// The ways to and from the task that passes documents to the agent. It ends with the connection.
#[derive(Debug)]
struct Steering {
    signer: Option<Arc<ResultSigner>>,
    tell: mpsc::Sender<Outgoing>,
    told: mpsc::Receiver<Outgoing>,
    inbox: Option<mpsc::Sender<Incoming>>,
    task: JoinSet<()>,
}

/// The reason why a connection ended.
#[derive(Debug, thiserror::Error)]
enum Lost {
    /// There is no certificate.
    #[error("{0}")]
    NoPass(String),
    /// The terminal has another certificate now.
    #[error("the terminal has a new certificate")]
    NewPass,
    /// The network, the broker, or its certificate.
    #[error("{0}")]
    Connection(#[from] pos_broker::Lost),
    /// The broker is there, but does not answer.
    #[error("the broker does not answer")]
    Silent,
    /// A message of the uplink itself is wrong.
    #[error("a message cannot be written: {0}")]
    Message(#[from] MessageError),
    /// The agent has another journal now. The next connection begins with it.
    #[error("the agent has another journal")]
    OtherJournal,
    /// No acknowledgement comes from the server.
    #[error("the server has acknowledged nothing for a long time")]
    NoServer,
}

impl<S: Source, I: Identity> Uplink<S, I> {
    /// Creates an uplink.
    #[must_use]
    pub fn new(place: Place, kinds: Kinds, source: S, identity: I, clock: Clock) -> Self {
        // Two starts with one name would only hide that two terminals have one identity.
        let boot = format!("{:016x}", getrandom::u64().unwrap_or_default());
        Self {
            place,
            kinds,
            source,
            identity,
            standing: watch::Sender::default(),
            boot,
            connections: 0,
            sent: (None, None),
            metrics_at: clock.now(),
            journal: None,
            early: None,
            acked: None,
            steered: Steered::Unknown,
            is_stale: false,
            started: None,
            clock,
        }
    }

    /// Returns what the uplink does, at each change.
    #[must_use]
    pub fn standing(&self) -> watch::Receiver<Standing> {
        self.standing.subscribe()
    }

    /// Shows the terminal until it is stopped.
    pub async fn run(mut self, mut stopped: watch::Receiver<bool>) {
        // Shops open at the same hour.
        let mut wait = self.place.waits.next_wait() / 6;
        self.place.waits.begin_again();
        loop {
            let clock = self.clock.clone();
            tokio::select! {
                () = clock.sleep(wait) => {}
                _ = stopped.wait_for(|stopped| *stopped) => return,
            }
            let began = clock.now();
            let lost = tokio::select! {
                Err(lost) = self.connected() => lost,
                _ = stopped.wait_for(|stopped| *stopped) => return,
            };
            let was_connected = self.standing.borrow().connected;
            let fault = Some(lost.to_string());
            self.standing.send_modify(|standing| (standing.connected, standing.fault) = (false, fault));
            if !was_connected && matches!(lost, Lost::Connection(_) | Lost::Silent) {
                self.identity.not_accepted();
            }
            if was_connected && clock.now() >= began + GOOD {
                self.place.waits.begin_again();
            }
            wait = match lost {
                Lost::NewPass => Duration::ZERO,
                _ => self.place.waits.next_wait(),
            };
            tracing::warn!(error = %lost, wait_s = wait.as_secs(), "the fleet's broker is not connected");
            if let Lost::NoPass(_) = lost {
                tokio::select! {
                    () = self.identity.changed() => wait = Duration::ZERO,
                    () = clock.sleep(wait) => wait = Duration::ZERO,
                    _ = stopped.wait_for(|stopped| *stopped) => return,
                }
            }
        }
    }

    /// Makes one connection, and shows the terminal until it ends.
    async fn connected(&mut self) -> Result<Infallible, Lost> {
        let Pass { tls, ends, signer } = self.identity.pass().map_err(Lost::NoPass)?;
        self.standing.send_modify(|standing| standing.certificate_ends = Some(ends));
        let will = Will {
            topic: self.topic(Channel::State),
            message: write(&State { boot: self.boot.clone(), ..State::default() })?,
        };
        let Place { host, port, keep_alive_s, terminal, .. } = &self.place;
        let endpoint = Endpoint {
            host: host.clone(),
            port: *port,
            tls,
            name: terminal.to_string(),
            keep_alive_s: *keep_alive_s,
            unacknowledged: UNACKNOWLEDGED,
            most_unread: MOST_UNREAD,
        };
        let mut connection = Connection::open(&endpoint, Some(will));
        (self.sent, self.early, self.acked, self.steered) = ((None, None), None, None, Steered::Unknown);
        let (tell, told) = mpsc::channel(OUTBOX);
        let mut steering = Steering { signer, tell, told, inbox: None, task: JoinSet::new() };
        let mut cursor: Option<Cursor> = None;
        let clock = self.clock.clone();
        let mut is_connected = false;
        // Sockets take their time, even where a test moves the clock.
        let accepted = tokio::time::Instant::now() + ACCEPTED;
        let mut look = clock.now();
        let mut wakes = None;
        loop {
            tokio::select! {
                heard = connection.heard() => match heard? {
                    Heard::Connected => {
                        is_connected = true;
                        self.connections += 1;
                        self.identity.accepted();
                        self.standing.send_modify(|standing| (standing.connected, standing.fault) = (true, None));
                        connection.subscribe([self.topic(Channel::Ack).to_string()]).await?;
                        tracing::info!(broker = %self.place.host, "the fleet's broker is connected");
                        look = clock.now();
                    }
                    Heard::Refused(why) => {
                        tracing::error!(%why, "the broker refuses a message of this terminal: look at its access list");
                    }
                    Heard::Message(message) => {
                        self.heard(&mut cursor, &message, steering.inbox.as_ref());
                        connection.done(&message).await?;
                    }
                },
                Some(outgoing) = steering.told.recv() => {
                    self.outgoing(&connection, steering.signer.as_deref(), outgoing).await?;
                }
                () = tokio::time::sleep_until(accepted), if !is_connected => return Err(Lost::Silent),
                () = clock.sleep_until(look), if is_connected => {
                    self.look(&connection, &mut cursor, ends, &mut steering).await?;
                    look = clock.now() + LOOK;
                }
                () = until(&clock, wakes), if is_connected => {}
                () = self.identity.changed() => return Err(Lost::NewPass),
            }
            wakes = if is_connected { self.send(&connection, &mut cursor).await? } else { None };
        }
    }

    /// Looks at the agent, and sends what has changed.
    async fn look(
        &mut self,
        connection: &Connection,
        cursor: &mut Option<Cursor>,
        ends: SystemTime,
        steering: &mut Steering,
    ) -> Result<(), Lost> {
        // An answer without entries is short, and says which one is the last.
        match self.source.entries(LAST_NUMBER).await {
            Ok(read) => self.learn(&read, cursor)?,
            Err(error) => tracing::warn!(error = %self.unread(error), "the journal cannot be read"),
        }
        let status = self.source.status().await;
        let status =
            status.map_err(|error| tracing::warn!(error = %self.unread(error), "the status cannot be read")).ok();
        let is_due = self.clock.now() >= self.metrics_at;
        let metrics = match is_due || steering.signer.is_some() {
            true => Some(self.source.metrics().await.map_err(|error| self.unread(error))),
            false => None,
        };
        // They say when the agent has started: another start has another nonce. A connection that begins before this
        // is known would begin twice, and a sale between the two would be refused.
        if let Some(Ok(text)) = &metrics {
            self.has_started(shown::started(text));
        }
        if status.is_some() {
            self.steer(connection, steering).await?;
            self.pass_ack(steering.inbox.as_ref());
        }
        self.show(connection, status.as_ref(), ends).await?;
        let Some(metrics) = metrics.filter(|_| is_due) else { return Ok(()) };
        self.metrics_at = self.clock.now() + METRICS;
        match metrics {
            Ok(text) => {
                let metrics =
                    Metrics { at: self.time(self.clock.wall()).unwrap_or_default(), values: shown::values(&text) };
                Ok(connection.publish(&self.topic(Channel::Metric), write(&metrics)?).await?)
            }
            Err(error) => {
                tracing::warn!(%error, "the metrics cannot be read");
                Ok(())
            }
        }
    }

    /// Handles an answer of the agent that did not come.
    fn unread(&mut self, error: SourceError) -> SourceError {
        if error.is_cut() {
            self.was_gone();
        }
        error
    }

    /// Handles an agent that was gone. If it has started again, it has another nonce now.
    fn was_gone(&mut self) {
        (self.steered, self.started) = (Steered::Unknown, None);
    }

    /// Handles a doubt about the agent's nonce. One from the time before the connection began says nothing about it.
    fn doubts(&mut self, doubt: Doubt, at: Instant) {
        match doubt {
            _ if matches!(&self.steered, Steered::Yes(_, begun) if at < *begun) => {}
            Doubt::Stale => self.is_stale = true,
            Doubt::Cut => self.was_gone(),
        }
    }

    /// Takes over when the agent has started.
    fn has_started(&mut self, started: Option<u64>) {
        let before = std::mem::replace(&mut self.started, started);
        if before.zip(started).is_some_and(|(before, now)| before.abs_diff(now) > SAME_START_S) {
            self.steered = Steered::Unknown;
        }
    }

    /// Asks the agent whether it takes commands, unless that is known, and subscribes to them.
    async fn steer(&mut self, connection: &Connection, steering: &mut Steering) -> Result<(), Lost> {
        let is_known = match &self.steered {
            Steered::Unknown => false,
            Steered::No(again) => self.clock.now() < *again,
            Steered::Yes(_, since) => !self.is_stale || self.clock.now() < *since + NONCE,
        };
        let Some(agent) = self.source.steering().filter(|_| steering.signer.is_some() && !is_known) else {
            return Ok(());
        };
        self.is_stale = false;
        self.steered = match steer::begin(&agent).await {
            Ok(None) => Steered::No(self.clock.now() + NO_COMMANDS),
            Ok(Some(begun)) => Steered::Yes(begun, self.clock.now()),
            Err(error) => {
                tracing::warn!(%error, "the agent does not say whether it takes commands");
                Steered::Unknown
            }
        };
        if steering.inbox.is_none() && matches!(self.steered, Steered::Yes(..)) {
            let (give, inbox) = mpsc::channel(INBOX);
            steering.inbox = Some(give);
            steering.task.spawn(Steer::new(agent, self.clock.clone(), steering.tell.clone()).run(inbox));
            let Place { org, terminal, .. } = &self.place;
            let down = [Channel::Command, Channel::Settings, Channel::Keys];
            connection.subscribe(down.map(|channel| Topic::of_one(org, terminal, channel))).await?;
            tracing::info!("the fleet may steer this terminal");
        }
        Ok(())
    }

    /// Sends what the agent says about a document.
    async fn outgoing(
        &mut self,
        connection: &Connection,
        signer: Option<&ResultSigner>,
        outgoing: Outgoing,
    ) -> Result<(), Lost> {
        let Some(signer) = signer else { return Ok(()) };
        match outgoing {
            Outgoing::Result(result) => {
                let Some(message) = signed_result(signer, &result) else { return Ok(()) };
                connection.publish(&self.topic_of(result.id), message).await?;
            }
            Outgoing::Part(part, arrives) => {
                let Some(message) = signed_result(signer, &part) else { return Ok(()) };
                let delivery = connection.deliver(&self.topic_of(part.id), message).await?;
                tokio::spawn(async move {
                    if delivery.arrived().await {
                        // Without a listener, no part follows.
                        let _ = arrives.send(());
                    }
                });
            }
            Outgoing::Reported(reported) => {
                let Ok(document) = write(&*reported) else { return Ok(()) };
                let Some(envelope) = signer.sign(DocumentKind::Report, document) else { return Ok(()) };
                connection.publish(&self.topic(Channel::Reported), envelope.write()).await?;
            }
            Outgoing::NotSigned => {
                if let Steered::Yes(begun, _) = &mut self.steered {
                    begun.not_signed = begun.not_signed.saturating_add(1);
                }
            }
            Outgoing::Doubt(doubt, at) => self.doubts(doubt, at),
        }
        Ok(())
    }

    /// Takes over which journal the agent has, and its last entry.
    fn learn(&mut self, read: &Entries, cursor: &mut Option<Cursor>) -> Result<(), Lost> {
        self.standing
            .send_if_modified(|standing| std::mem::replace(&mut standing.last, read.last.entry) != read.last.entry);
        let before = self.journal.replace((read.journal.clone(), read.last.clone()));
        if before.is_some_and(|(known, _)| known != read.journal) {
            return Err(Lost::OtherJournal);
        }
        if cursor.is_none() {
            let now = self.clock.now();
            let mut new = Cursor::connected(&read.journal, now);
            if let Some(ack) = self.early.take() {
                new.heard(&ack, now);
                self.acked = Some(ack);
            }
            *cursor = Some(new);
        }
        Ok(())
    }

    async fn show(&mut self, connection: &Connection, status: Option<&Value>, ends: SystemTime) -> Result<(), Lost> {
        let (journal, last) = self.journal.clone().unzip();
        let last = last.unwrap_or_else(|| LastEntry { entry: 0, hash: String::new() });
        let state = State {
            online: true,
            boot: self.boot.clone(),
            connections: self.connections,
            journal: journal.filter(|_| status.is_some()),
            last: last.entry,
            hash: last.hash,
            certificate_ends: self.time(ends),
            ..State::default()
        };
        let state = match &self.steered {
            Steered::Yes(Begun { nonce, counters, not_signed, .. }, _) => {
                State { nonce: Some(nonce.clone()), counters: counters.clone(), not_signed: *not_signed, ..state }
            }
            Steered::Unknown | Steered::No(_) => state,
        };
        let state = status.map_or_else(|| state.clone(), |status| shown::with_status(state.clone(), status));
        let now = self.clock.now();
        let is_known = self.sent.0.as_ref().is_some_and(|(sent, at)| *sent == state && now < *at + STATE_AGAIN);
        if !is_known {
            let at = self.time(self.clock.wall());
            connection.publish(&self.topic(Channel::State), write(&State { at, ..state.clone() })?).await?;
            self.sent.0 = Some((state, now));
        }
        let commands = match &self.steered {
            Steered::Yes(begun, _) => begun.commands.clone(),
            Steered::Unknown | Steered::No(_) => Vec::new(),
        };
        let info = status.map(|status| Info { commands, ..shown::info(status) });
        let Some(info) = info.filter(|info| self.sent.1.as_ref() != Some(info)) else { return Ok(()) };
        connection.publish(&self.topic(Channel::Info), write(&info)?).await?;
        self.sent.1 = Some(info);
        Ok(())
    }

    /// Sends batches until the cursor waits. Returns the time at which it must be asked again.
    async fn send(&mut self, connection: &Connection, cursor: &mut Option<Cursor>) -> Result<Option<Instant>, Lost> {
        loop {
            let (Some(position), Some((_, last))) = (cursor.as_mut(), &self.journal) else { return Ok(None) };
            let after = match position.next(last.entry, self.clock.now()) {
                Next::Wait(until) => return Ok(until),
                Next::Send { after } => after,
                Next::Reconnect => return Err(Lost::NoServer),
            };
            let read = match self.source.entries(after).await {
                Ok(read) => read,
                Err(error) => {
                    tracing::warn!(error = %self.unread(error), "the journal cannot be read");
                    return Ok(None);
                }
            };
            self.learn(&read, cursor)?;
            let batch = self.kinds.batch(after, read);
            if batch.entries.is_empty() {
                return Ok(None);
            }
            connection.publish(&self.topic(Channel::Log), write(&batch)?).await?;
            if let Some(position) = cursor {
                position.sent(batch.last(), self.clock.now());
            }
        }
    }

    fn heard(&mut self, cursor: &mut Option<Cursor>, message: &Message, inbox: Option<&mpsc::Sender<Incoming>>) {
        let Ok(Topic { org, terminal, channel, .. }) = message.topic().parse::<Topic>() else { return };
        if (&org, &terminal) != (&self.place.org, &self.place.terminal) {
            return;
        }
        let (bytes, most, incoming): (_, _, fn(Vec<u8>) -> Incoming) = match channel {
            Channel::Command => (message.payload(), LARGEST_COMMAND, Incoming::Command),
            Channel::Settings => (message.payload(), LARGEST, Incoming::Settings),
            Channel::Keys => (message.payload(), LARGEST, Incoming::Keys),
            Channel::Ack => return self.heard_ack(cursor, message, inbox),
            _ => return,
        };
        // An empty message only removes a retained one.
        let fits = (1..=most).contains(&bytes.len());
        let is_passed = fits && inbox.is_some_and(|inbox| inbox.try_send(incoming(bytes.to_vec())).is_ok());
        if !is_passed {
            // The server offers it again.
            tracing::debug!(bytes = bytes.len(), "a document of the server is dropped");
        }
    }

    fn heard_ack(&mut self, cursor: &mut Option<Cursor>, message: &Message, inbox: Option<&mpsc::Sender<Incoming>>) {
        match (read::<Ack>(message.payload()), cursor) {
            (Ok(ack), Some(cursor)) => {
                cursor.heard(&ack, self.clock.now());
                self.acked = Some(ack);
                self.pass_ack(inbox);
                let stored = cursor.acked();
                self.standing.send_if_modified(|standing| std::mem::replace(&mut standing.stored, stored) != stored);
            }
            (Ok(ack), None) => self.early = Some(ack),
            (Err(error), _) => tracing::warn!(%error, "a message of the server is wrong"),
        }
    }

    /// Tells the agent the server's cursor in its own journal, which the trial of settings may need.
    fn pass_ack(&mut self, inbox: Option<&mpsc::Sender<Incoming>>) {
        let is_own = |ack: &mut Ack| self.journal.as_ref().is_some_and(|(journal, _)| *journal == ack.journal);
        let Some(inbox) = inbox else { return };
        if let Some(ack) = self.acked.take_if(is_own) {
            // If there is no room, the next one says the same, and more.
            let _ = inbox.try_send(Incoming::Ack(ack));
        }
    }

    fn time(&self, time: SystemTime) -> Option<String> {
        OffsetDateTime::from(time).format(&Rfc3339).ok()
    }

    fn topic(&self, channel: Channel) -> Topic {
        Topic::new(self.place.org.clone(), self.place.terminal.clone(), channel)
    }

    /// Returns the topic of a command's result.
    fn topic_of(&self, id: Id) -> Topic {
        Topic::of_command(self.place.org.clone(), self.place.terminal.clone(), Channel::CommandResult, id)
    }
}

/// Signs a result. A body that is too long for a message is left out: the code says what became of the command.
fn signed_result(signer: &ResultSigner, result: &CommandResult) -> Option<Vec<u8>> {
    let signed = |result: &CommandResult| Some(signer.sign(DocumentKind::Result, write(result).ok()?)?.write());
    match signed(result).filter(|message| message.len() <= LARGEST) {
        Some(message) => Some(message),
        None => {
            let text = Some("the rest of the result is too long for a message".to_owned());
            signed(&CommandResult { text, body: Value::Null, ..result.clone() })
        }
    }
}

async fn until(clock: &Clock, time: Option<Instant>) {
    match time {
        Some(time) => clock.sleep_until(time).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steer::NoSteering;

    /// An agent that does not answer.
    struct NoAgent;

    impl Source for NoAgent {
        async fn entries(&mut self, _: i64) -> Result<Entries, SourceError> {
            Err(SourceError::Refused("test".to_owned()))
        }

        async fn status(&mut self) -> Result<Value, SourceError> {
            Err(SourceError::Refused("test".to_owned()))
        }

        async fn metrics(&mut self) -> Result<String, SourceError> {
            Err(SourceError::Refused("test".to_owned()))
        }

        type Steered = NoSteering;

        fn steering(&self) -> Option<NoSteering> {
            None
        }
    }

    /// A terminal without a certificate.
    struct NoPass;

    impl Identity for NoPass {
        fn pass(&mut self) -> Result<Pass, String> {
            Err("test".to_owned())
        }

        fn accepted(&mut self) {}

        fn not_accepted(&mut self) {}

        async fn changed(&mut self) {}
    }

    fn uplink(clock: &Clock) -> Uplink<NoAgent, NoPass> {
        let place = Place {
            host: "localhost".to_owned(),
            port: 1,
            keep_alive_s: 20,
            org: "org".parse().unwrap(),
            terminal: "shop-1".parse().unwrap(),
            waits: Waits::new(LOOK, LOOK),
        };
        Uplink::new(place, Kinds::All, NoAgent, NoPass, clock.clone())
    }

    #[test]
    fn a_doubt_from_before_the_connection_began_does_not_end_it() {
        let clock = Clock::new(|| SystemTime::UNIX_EPOCH);
        let mut uplink = uplink(&clock);
        let before = clock.now();
        clock.move_on(LOOK);
        let after = clock.now() + LOOK;
        let begins = |uplink: &mut Uplink<_, _>| {
            (uplink.steered, uplink.started) = (Steered::Yes(Begun::default(), clock.now()), Some(1_795_000_000));
            uplink.is_stale = false;
        };
        let standing = |uplink: &Uplink<_, _>| {
            (matches!(uplink.steered, Steered::Yes(..)), uplink.is_stale, uplink.started.is_some())
        };
        for (doubt, at, left) in [
            (Doubt::Cut, before, (true, false, true)),
            (Doubt::Stale, before, (true, false, true)),
            (Doubt::Stale, after, (true, true, true)),
            (Doubt::Cut, after, (false, false, false)),
        ] {
            begins(&mut uplink);
            uplink.doubts(doubt, at);
            assert_eq!(standing(&uplink), left, "{doubt:?}");
        }
    }

    #[test]
    fn an_agent_that_was_gone_begins_one_connection_and_one_that_started_unseen_another() {
        let mut uplink = uplink(&Clock::new(|| SystemTime::UNIX_EPOCH));
        let begins = |uplink: &mut Uplink<_, _>| {
            uplink.steered = Steered::Yes(Begun::default(), uplink.clock.now());
        };
        let holds = |uplink: &Uplink<_, _>| matches!(uplink.steered, Steered::Yes(..));
        uplink.has_started(Some(1_795_000_000));
        begins(&mut uplink);
        uplink.has_started(Some(1_795_000_003));
        assert!(holds(&uplink), "the clock was corrected");
        // The agent starts again, and a request was cut meanwhile.
        uplink.was_gone();
        uplink.has_started(Some(1_795_000_100));
        begins(&mut uplink);
        uplink.has_started(Some(1_795_000_100));
        assert!(holds(&uplink));
        // It starts again between two looks.
        uplink.has_started(Some(1_795_000_200));
        assert!(!holds(&uplink));
    }
}
