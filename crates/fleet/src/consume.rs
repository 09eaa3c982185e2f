//! From the broker into the database, and the cursors back to the terminals.
//!
//! Messages are collected for a moment and stored in one transaction. After the commit the terminals hear their
//! cursors, and then the broker that the messages need not come again. If the server ends in between, the terminals
//! send again from the cursor, and what is stored already stays as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::time::Duration;

use pos_broker::clock::Clock;
use pos_broker::{Connection, Endpoint, Heard, Message, Waits};
use pos_fleet_terms::{Ack, Channel, Id, MessageError, Topic, TopicError, read, write};
use tokio::sync::watch;
use tokio::time::timeout_at;

use crate::store::{Position, Round, Store, StoreError, Stored};

/// The number of entries in a round, and the time for which it is collected.
const ROUND: (usize, Duration) = (2_000, Duration::from_millis(100));
/// The time after which a cursor before a gap is sent again.
const GAPS: Duration = Duration::from_secs(30);
/// The connection counts as good after this time, and the next wait is short again.
const GOOD: Duration = Duration::from_secs(60);

/// Stores what the terminals of an organisation send.
#[derive(Debug)]
pub struct Consumer {
    broker: Endpoint,
    org: Id,
    waits: Waits,
    store: Store,
    clock: Clock,
    /// A random name of this connection. With it the terminals learn that what they have sent before may be lost.
    server: String,
    /// The journals whose terminal has heard a cursor of this connection.
    told: BTreeSet<(String, String)>,
}

/// The reason why a connection ended.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// The broker.
    #[error("the broker: {0}")]
    Broker(#[from] pos_broker::Lost),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The reason why a message is left out.
#[derive(Debug, thiserror::Error)]
enum Wrong {
    #[error("{0}")]
    Topic(#[from] TopicError),
    #[error("{0}")]
    Message(#[from] MessageError),
    #[error("a terminal does not send on the channel {0:?}")]
    Down(Channel),
}

impl Consumer {
    /// Creates a consumer.
    #[must_use]
    pub fn new(broker: Endpoint, org: Id, waits: Waits, store: Store, clock: Clock) -> Self {
        Self { broker, org, waits, store, clock, server: String::new(), told: BTreeSet::new() }
    }

    /// Stores until it is stopped, or until the database fails: then a new connection to it is needed.
    ///
    /// # Errors
    /// Fails if the database fails.
    pub async fn run(&mut self, mut stopped: watch::Receiver<bool>) -> Result<(), StoreError> {
        loop {
            let began = self.clock.now();
            let lost = tokio::select! {
                Err(lost) = self.connected() => lost,
                _ = stopped.wait_for(|stopped| *stopped) => return Ok(()),
            };
            let lost = match lost {
                Lost::Store(error) => return Err(error),
                Lost::Broker(lost) => lost,
            };
            if self.clock.now() >= began + GOOD {
                self.waits.begin_again();
            }
            let wait = self.waits.next_wait();
            tracing::warn!(error = %lost, wait_s = wait.as_secs(), "the broker is not connected");
            tokio::select! {
                () = self.clock.sleep(wait) => {}
                _ = stopped.wait_for(|stopped| *stopped) => return Ok(()),
            }
        }
    }

    async fn connected(&mut self) -> Result<Infallible, Lost> {
        let mut connection = Connection::open(&self.broker, None);
        self.told.clear();
        let clock = self.clock.clone();
        let mut gaps = clock.now() + GAPS;
        loop {
            tokio::select! {
                heard = connection.heard() => match heard? {
                    Heard::Connected => self.begin(&connection).await?,
                    Heard::Refused(why) => tracing::error!(%why, "the broker refuses a message of the server"),
                    Heard::Message(first) => self.round(&mut connection, first).await?,
                },
                () = clock.sleep_until(gaps) => {
                    self.tell(&connection, self.store.positions(true).await?).await?;
                    gaps = clock.now() + GAPS;
                }
            }
        }
    }

    /// Subscribes, and tells every terminal its cursor: the broker may have lost the last one, and what was sent to an
    /// earlier connection may be lost.
    async fn begin(&mut self, connection: &Connection) -> Result<(), Lost> {
        self.server = format!("{:016x}", getrandom::u64().unwrap_or_default());
        // `pos-fleet desk` reads the results and the reports.
        let up = [Channel::State, Channel::Info, Channel::Log, Channel::Metric];
        connection.subscribe(up.map(|channel| Topic::of_all(&self.org, channel))).await?;
        tracing::info!(broker = %self.broker.host, "the broker is connected");
        let positions = self.store.positions(false).await?;
        self.tell(connection, positions).await
    }

    /// Collects what arrives in a moment, stores it, and tells the terminals.
    async fn round(&mut self, connection: &mut Connection, first: Message) -> Result<(), Lost> {
        let ends = tokio::time::Instant::now() + ROUND.1;
        let (mut round, mut messages, mut entries) = (Round::default(), Vec::new(), 0);
        let mut next = Some(first);
        while let Some(message) = next.take() {
            match self.sort(&message, &mut round) {
                Ok(count) => entries += count,
                // The broker's access list names who may send what. This is a terminal with a fault, or a later one.
                Err(wrong) => tracing::warn!(topic = %message.topic(), %wrong, "a message is left out"),
            }
            messages.push(message);
            while entries < ROUND.0 && next.is_none() {
                match timeout_at(ends, connection.heard()).await {
                    Err(_) => break,
                    Ok(Ok(Heard::Message(message))) => next = Some(message),
                    Ok(Ok(Heard::Refused(why))) => tracing::error!(%why, "the broker refuses a message of the server"),
                    Ok(Ok(Heard::Connected)) => {}
                    Ok(Err(lost)) => return Err(lost.into()),
                }
            }
        }
        let stored = match self.store.store(round).await {
            Err(error) if error.is_of_the_data() => self.one_by_one(&messages).await?,
            stored => stored?,
        };
        let Stored { positions, entries, conflicts } = stored;
        tracing::debug!(entries, journals = positions.len(), "stored");
        for (terminal, journal, number) in conflicts {
            tracing::error!(%terminal, %journal, number, "two histories: another hash for a stored entry");
        }
        self.tell(connection, positions).await?;
        for message in &messages {
            connection.done(message).await?;
        }
        Ok(())
    }

    /// Stores messages one after the other, and leaves out those that the database refuses. A terminal with such data
    /// must not hold up the others.
    async fn one_by_one(&mut self, messages: &[Message]) -> Result<Stored, StoreError> {
        let mut all = Stored::default();
        for message in messages {
            let mut round = Round::default();
            // What is wrong with a message was said when it came.
            if self.sort(message, &mut round).is_err() {
                continue;
            }
            match self.store.store(round).await {
                Ok(Stored { positions, entries, conflicts }) => {
                    all.positions.extend(positions);
                    all.entries += entries;
                    all.conflicts.extend(conflicts);
                }
                Err(error) if error.is_of_the_data() => {
                    tracing::error!(topic = %message.topic(), %error, "the database refuses a message: it is left out");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    /// Adds a message to a round. Returns the number of its entries.
    fn sort(&mut self, message: &Message, round: &mut Round) -> Result<usize, Wrong> {
        let Topic { terminal, channel, .. } = message.topic().parse()?;
        match channel {
            Channel::Log => {
                let batch: pos_fleet_terms::Batch = read(message.payload())?;
                let entries = batch.entries.len();
                round.batches.push((terminal, batch));
                return Ok(entries);
            }
            Channel::State => {
                let state: pos_fleet_terms::State = read(message.payload())?;
                // A terminal that the database does not know waits for a cursor, or for a long time.
                let journal = state.journal.clone().filter(|_| state.online);
                if let Some(journal) =
                    journal.filter(|journal| self.told.insert((terminal.to_string(), journal.clone())))
                {
                    round.begins.push((terminal.clone(), journal));
                }
                round.states.push((terminal, state));
            }
            Channel::Info => round.infos.push((terminal, read(message.payload())?)),
            Channel::Metric => round.metrics.push((terminal, read(message.payload())?)),
            // `pos-fleet desk` reads the results and the reports.
            Channel::Ack
            | Channel::Command
            | Channel::CommandResult
            | Channel::Settings
            | Channel::Keys
            | Channel::Reported => return Err(Wrong::Down(channel)),
        }
        Ok(0)
    }

    /// Tells terminals their cursors. A terminal has one journal at a time, and hears about the newest.
    async fn tell(&mut self, connection: &Connection, positions: Vec<Position>) -> Result<(), Lost> {
        // Positions come in the order of their last change.
        let newest: BTreeMap<String, Position> =
            positions.into_iter().map(|position| (position.terminal.clone(), position)).collect();
        for Position { terminal, journal, number, .. } in newest.into_values() {
            let Ok(terminal) = terminal.parse::<Id>() else { continue };
            self.told.insert((terminal.to_string(), journal.clone()));
            let topic = Topic::new(self.org.clone(), terminal, Channel::Ack);
            match write(&Ack { journal, number, server: self.server.clone() }) {
                Ok(ack) => connection.publish(&topic, ack).await?,
                Err(error) => tracing::error!(%topic, %error, "a cursor cannot be written"),
            }
        }
        Ok(())
    }
}
