//! Shows a terminal through one connection to the broker, and the next.

use std::convert::Infallible;
use std::time::{Duration, Instant, SystemTime};

use pos_broker::clock::Clock;
use pos_broker::{Connection, Endpoint, Heard, Message, Waits, Will};
use pos_fleet_terms::{Ack, Channel, Id, Info, MessageError, Metrics, State, Topic, read, write};
use pos_till_api::{Entries, LastEntry};
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::sync::watch;

use crate::choose::Kinds;
use crate::cursor::{Cursor, Next};
use crate::identity::{Identity, Pass};
use crate::shown;
use crate::source::Source;

/// No entry has a greater number.
const LAST_NUMBER: i64 = pos_till_api::GREATEST_NUMBER.cast_signed();
/// The time between two looks at the agent.
const LOOK: Duration = Duration::from_secs(10);
/// The time between two messages of metrics.
const METRICS: Duration = Duration::from_secs(60);
/// The time after which an unchanged state is sent again, so that a server sees that it is not stale.
const STATE_AGAIN: Duration = Duration::from_secs(600);
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
        let Pass { tls, ends } = self.identity.pass().map_err(Lost::NoPass)?;
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
        (self.sent, self.early) = ((None, None), None);
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
                        self.heard(&mut cursor, &message);
                        connection.done(&message).await?;
                    }
                },
                () = tokio::time::sleep_until(accepted), if !is_connected => return Err(Lost::Silent),
                () = clock.sleep_until(look), if is_connected => {
                    self.look(&connection, &mut cursor, ends).await?;
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
    ) -> Result<(), Lost> {
        // An answer without entries is short, and says which one is the last.
        match self.source.entries(LAST_NUMBER).await {
            Ok(read) => self.learn(&read, cursor)?,
            Err(error) => tracing::warn!(%error, "the journal cannot be read"),
        }
        let status = self.source.status().await;
        let status = status.inspect_err(|error| tracing::warn!(%error, "the status cannot be read")).ok();
        self.show(connection, status.as_ref(), ends).await?;
        if self.clock.now() < self.metrics_at {
            return Ok(());
        }
        self.metrics_at = self.clock.now() + METRICS;
        match self.source.metrics().await {
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
        let state = status.map_or_else(|| state.clone(), |status| shown::with_status(state.clone(), status));
        let now = self.clock.now();
        let is_known = self.sent.0.as_ref().is_some_and(|(sent, at)| *sent == state && now < *at + STATE_AGAIN);
        if !is_known {
            let at = self.time(self.clock.wall());
            connection.publish(&self.topic(Channel::State), write(&State { at, ..state.clone() })?).await?;
            self.sent.0 = Some((state, now));
        }
        let Some(info) = status.map(shown::info).filter(|info| self.sent.1.as_ref() != Some(info)) else {
            return Ok(());
        };
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
                    tracing::warn!(%error, "the journal cannot be read");
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

    fn heard(&mut self, cursor: &mut Option<Cursor>, message: &Message) {
        if message.topic() != self.topic(Channel::Ack).to_string() {
            return;
        }
        match (read::<Ack>(message.payload()), cursor) {
            (Ok(ack), Some(cursor)) => {
                cursor.heard(&ack, self.clock.now());
                let stored = cursor.acked();
                self.standing.send_if_modified(|standing| std::mem::replace(&mut standing.stored, stored) != stored);
            }
            (Ok(ack), None) => self.early = Some(ack),
            (Err(error), _) => tracing::warn!(%error, "a message of the server is wrong"),
        }
    }

    fn time(&self, time: SystemTime) -> Option<String> {
        OffsetDateTime::from(time).format(&Rfc3339).ok()
    }

    fn topic(&self, channel: Channel) -> Topic {
        Topic::new(self.place.org.clone(), self.place.terminal.clone(), channel)
    }
}

async fn until(clock: &Clock, time: Option<Instant>) {
    match time {
        Some(time) => clock.sleep_until(time).await,
        None => std::future::pending().await,
    }
}
