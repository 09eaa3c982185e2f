//! Offers signed commands, settings and keys to the terminals, and stores what the terminals say about them.
//!
//! The desk signs nothing and judges no command. It offers a command again, with the same bytes, until the database has
//! a final result: after each new connection of its terminal, and from time to time. Nothing relies on the broker:
//! after a loss, everything comes back from the database.
//!
//! A result counts only with the signature of the terminal's own certificate. The broker can drop one, but not invent
//! one.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pos_broker::clock::Clock;
use pos_broker::{Connection, Endpoint, Heard, Message, Waits};
use pos_fleet_terms::{
    ARCHIVE_PART, ArchivePart, Channel, CommandCode, CommandKind, CommandResult, DocumentKind, Envelope, EnvelopeError,
    Id, LARGEST_ARCHIVE, MessageError, Reported, State, Topic, TopicError, read,
};
use ring::digest::{Context, SHA256};
use serde_json::Value;
use time::OffsetDateTime;
use tokio::sync::watch;
use tokio_postgres::{Client, Row};

use crate::ca::point_of;
use crate::database::Notes;
use crate::documents::SETTINGS_CHANNEL;
use crate::orders::{COMMAND_CHANNEL, RESULT_CHANNEL};
use crate::rollout_run;
use crate::signing::is_signed_by_terminal;
use crate::store::{StoreError, clean, clean_value};

/// The channel on which the database says that a terminal has reported something new.
pub const REPORTED_CHANNEL: &str = "reported";
/// The time after which a command without a final result is offered again.
const AGAIN: Duration = Duration::from_secs(30);
/// The time between two looks for such commands.
const LOOK: Duration = Duration::from_secs(5);
/// The time for which an archive whose parts arrive is not offered again.
const ARCHIVE_AGAIN: Duration = Duration::from_secs(120);
/// The time after a command's expiry in which the rest of its archive may arrive.
const ARCHIVE_LOST: Duration = Duration::from_secs(600);
/// The commands without any result that one terminal gets at a time, and those that it works on.
const MOST_OFFERED: (i64, i64) = (8, 4);
/// The time for which the broker keeps an expired command. The terminal still says what became of it.
const LATE: Duration = Duration::from_secs(60);
/// The documents that are read from the database at a time.
const DOCUMENTS: i64 = 100;
/// The connection counts as good after this time, and the next wait is short again.
const GOOD: Duration = Duration::from_secs(60);

/// Offers what the database has for the terminals of an organisation.
#[derive(Debug)]
pub struct Desk {
    broker: Endpoint,
    org: Id,
    waits: Waits,
    client: Client,
    notes: Notes,
    clock: Clock,
    /// The terminals that take commands now, with the connection to which commands were offered.
    connected: BTreeMap<Id, ConnectionName>,
    /// The messages that were left out.
    dropped: u64,
}

/// What names a connection of a terminal: the start of its uplink, the number of the connection, and the agent's nonce.
type ConnectionName = (String, u64, String);

/// The reason why a connection ended.
#[derive(Debug, thiserror::Error)]
enum DeskLost {
    #[error("the broker: {0}")]
    Broker(#[from] pos_broker::Lost),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<tokio_postgres::Error> for DeskLost {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Store(error.into())
    }
}

/// The reason why a message is left out.
#[derive(Debug, thiserror::Error)]
pub enum LeftOut {
    /// Its topic is none of the fleet's.
    #[error("{0}")]
    Topic(#[from] TopicError),
    /// Its document is not what it should be.
    #[error("{0}")]
    Message(#[from] MessageError),
    /// It is no envelope.
    #[error("{0}")]
    Envelope(#[from] EnvelopeError),
    /// Its channel is not the desk's.
    #[error("the desk does not read the channel {0:?}")]
    Channel(Channel),
    /// Its document is signed as something else.
    #[error("the document is of another kind")]
    Kind,
    /// No key that the database knows has signed it.
    #[error("no certificate of the terminal has signed it")]
    Signature,
    /// The topic and the document name different commands.
    #[error("the result is for another command than its topic says")]
    OtherId,
    /// The command is unknown.
    #[error("the database has no such command for this terminal, or it was another document")]
    NoCommand,
    /// A part of an archive.
    #[error("the part of an archive is wrong")]
    Part,
}

/// What a terminal has signed.
#[derive(Debug)]
pub enum Said {
    /// The result of a command.
    Result(CommandResult),
    /// What it reports about settings and keys.
    Reported(Reported),
}

impl Desk {
    /// Creates a desk. The notes come from the client's own connection.
    #[must_use]
    pub fn new(broker: Endpoint, org: Id, waits: Waits, (client, notes): (Client, Notes), clock: Clock) -> Self {
        Self { broker, org, waits, client, notes, clock, connected: BTreeMap::new(), dropped: 0 }
    }

    /// Works until it is stopped, or until the database fails: then a new connection to it is needed.
    ///
    /// # Errors
    /// Fails if the database fails.
    pub async fn run(&mut self, mut stopped: watch::Receiver<bool>) -> Result<(), StoreError> {
        self.client.batch_execute(&format!("listen {COMMAND_CHANNEL}; listen {SETTINGS_CHANNEL}")).await?;
        loop {
            let began = self.clock.now();
            let lost = tokio::select! {
                Err(lost) = self.connected() => lost,
                _ = stopped.wait_for(|stopped| *stopped) => return Ok(()),
            };
            let lost = match lost {
                DeskLost::Store(error) => return Err(error),
                DeskLost::Broker(lost) => lost,
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

    async fn connected(&mut self) -> Result<Infallible, DeskLost> {
        let mut connection = Connection::open(&self.broker, None);
        self.connected.clear();
        let (clock, notes) = (self.clock.clone(), self.notes.clone());
        let mut is_connected = false;
        let mut look = clock.now();
        loop {
            tokio::select! {
                heard = connection.heard() => match heard? {
                    Heard::Connected => {
                        self.begin(&connection).await?;
                        is_connected = true;
                    }
                    Heard::Refused(why) => tracing::error!(%why, "the broker refuses a message of the desk"),
                    Heard::Message(message) => {
                        self.heard(&connection, &message).await?;
                        connection.done(&message).await?;
                    }
                },
                new = notes.take(), if is_connected => {
                    for (channel, terminal) in new {
                        let Ok(terminal) = terminal.parse::<Id>() else { continue };
                        match channel.as_str() {
                            COMMAND_CHANNEL => self.offer(&connection, &terminal, false).await?,
                            _ => self.give(&connection, Some(&terminal)).await?,
                        }
                    }
                }
                () = clock.sleep_until(look), if is_connected => {
                    self.advance_rollout().await?;
                    self.offer_again(&connection).await?;
                    look = clock.now() + LOOK;
                }
            }
        }
    }

    /// Lets the roll-out of settings go on. A fault of it holds up no command.
    async fn advance_rollout(&mut self) -> Result<(), DeskLost> {
        match rollout_run::advance(&mut self.client, self.clock.wall()).await {
            Err(error) if self.client.is_closed() => Err(error.into()),
            Err(error) => {
                tracing::error!(error = %StoreError::from(error), "the roll-out does not go on");
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Subscribes, and gives every terminal its settings and keys: the broker may have lost them.
    async fn begin(&mut self, connection: &Connection) -> Result<(), DeskLost> {
        let up = [Channel::State, Channel::CommandResult, Channel::Reported];
        connection.subscribe(up.map(|channel| Topic::of_all(&self.org, channel))).await?;
        tracing::info!(broker = %self.broker.host, "the broker is connected");
        self.give(connection, None).await
    }

    /// Gives a terminal, or all of them, the newest settings and keys. The broker keeps them for later.
    async fn give(&self, connection: &Connection, only: Option<&Id>) -> Result<(), DeskLost> {
        for (table, channel) in [("settings", Channel::Settings), ("keys_document", Channel::Keys)] {
            // In parts, so that a large fleet does not fill the memory.
            let select = format!(
                "select distinct on (terminal) terminal, envelope from {table}
                where terminal > $1 and ($2::text is null or terminal = $2)
                order by terminal, version desc limit $3"
            );
            let mut after = String::new();
            loop {
                let only = only.map(Id::as_str);
                let rows = self.client.query(&select, &[&after, &only, &DOCUMENTS]).await?;
                for row in &rows {
                    after = row.get(0);
                    let Ok(terminal) = after.parse::<Id>() else { continue };
                    let topic = Topic::new(self.org.clone(), terminal, channel);
                    connection.publish(&topic, row.get(1)).await?;
                }
                if i64::try_from(rows.len()).is_ok_and(|count| count < DOCUMENTS) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Offers the commands again that have no final result, to the terminals that are there.
    async fn offer_again(&self, connection: &Connection) -> Result<(), DeskLost> {
        // A terminal keeps its last archive only, and none over a restart.
        let lost = "update command set is_final = true, text = $2
            where not is_final and code = 'done' and greatest(expires, offered) < $1 returning pg_notify($3, id)";
        let before = OffsetDateTime::from(self.clock.wall()) - ARCHIVE_LOST;
        self.client.query(lost, &[&before, &"the archive did not arrive as a whole", &RESULT_CHANNEL]).await?;
        let select = "select distinct terminal from command
            where not is_final and (offered is null or offered < $1) order by terminal";
        let before = OffsetDateTime::from(self.clock.wall()) - AGAIN;
        for row in self.client.query(select, &[&before]).await? {
            let Ok(terminal) = row.get::<_, String>(0).parse::<Id>() else { continue };
            self.offer(connection, &terminal, false).await?;
        }
        Ok(())
    }

    /// Offers a terminal the commands that have no final result, in the order in which they were signed. `all` means
    /// that those are due which were offered to an earlier connection.
    async fn offer(&self, connection: &Connection, terminal: &Id, all: bool) -> Result<(), DeskLost> {
        if !self.connected.contains_key(terminal) {
            return Ok(());
        }
        // What the terminal works on never holds up a new command, such as the cancel of a sale.
        let select = "(select id, envelope, expires, created from command
                where terminal = $1 and not is_final and code is null and ($2 or offered is null or offered < $3)
                order by created limit $4)
            union all
            (select id, envelope, expires, created from command
                where terminal = $1 and not is_final and code is not null and ($2 or offered is null or offered < $3)
                order by offered nulls first limit $5)
            order by created";
        let now = self.clock.wall();
        let before = OffsetDateTime::from(now) - AGAIN;
        let (new, known) = MOST_OFFERED;
        let rows = self.client.query(select, &[&terminal.as_str(), &all, &before, &new, &known]).await?;
        for row in &rows {
            let Ok(id) = row.get::<_, String>(0).parse::<Id>() else { continue };
            let left = SystemTime::from(row.get::<_, OffsetDateTime>(2)).duration_since(now);
            let lasts = left.unwrap_or(LATE).max(Duration::from_secs(1));
            let seconds = u32::try_from(lasts.as_secs()).unwrap_or(u32::MAX);
            let topic = Topic::of_command(self.org.clone(), terminal.clone(), Channel::Command, id.clone());
            // Marked first: a command that was never offered can be withdrawn, and one that may be on its way cannot.
            let mark = "update command set offered = $2 where id = $1 and not is_final";
            if self.client.execute(mark, &[&id.as_str(), &OffsetDateTime::from(now)]).await? == 0 {
                continue;
            }
            connection.publish_for(&topic, row.get(1), seconds).await?;
            tracing::info!(%terminal, %id, "a command is offered");
        }
        Ok(())
    }

    async fn heard(&mut self, connection: &Connection, message: &Message) -> Result<(), DeskLost> {
        match self.take(connection, message).await? {
            Ok(()) => {}
            // The broker's access list names who may send what. This is a terminal with a fault, or a forged message.
            Err(why) => {
                self.dropped += 1;
                tracing::warn!(topic = %message.topic(), %why, dropped = self.dropped, "a message is left out");
            }
        }
        Ok(())
    }

    async fn take(&mut self, connection: &Connection, message: &Message) -> Result<Result<(), LeftOut>, DeskLost> {
        let topic: Topic = match message.topic().parse() {
            Ok(topic) => topic,
            Err(error) => return Ok(Err(LeftOut::Topic(error))),
        };
        if topic.channel == Channel::State {
            let state = match read::<State>(message.payload()) {
                Ok(state) => state,
                Err(error) => return Ok(Err(error.into())),
            };
            self.state(connection, topic.terminal, state).await?;
            return Ok(Ok(()));
        }
        let points = self.points(&topic.terminal).await?;
        match understood(&topic, message.payload(), &points) {
            Err(why) => Ok(Err(why)),
            Ok(Said::Result(result)) => self.result(&topic.terminal, result).await,
            Ok(Said::Reported(reported)) => {
                self.reported(&topic.terminal, &reported).await?;
                Ok(Ok(()))
            }
        }
    }

    /// Takes over whether a terminal takes commands, and offers what waits for a new connection.
    async fn state(&mut self, connection: &Connection, terminal: Id, state: State) -> Result<(), DeskLost> {
        let State { online, boot, connections, nonce, .. } = state;
        let Some(nonce) = nonce.filter(|_| online) else {
            // A last will counts only for the start that left it: it may come after the next start.
            if online || self.connected.get(&terminal).is_some_and(|(known, ..)| *known == boot) {
                self.connected.remove(&terminal);
            }
            return Ok(());
        };
        let name = (boot, connections, nonce);
        if self.connected.insert(terminal.clone(), name.clone()).as_ref() != Some(&name) {
            self.offer(connection, &terminal, true).await?;
        }
        Ok(())
    }

    /// Returns the keys of a terminal's certificates.
    async fn points(&self, terminal: &Id) -> Result<Vec<Vec<u8>>, DeskLost> {
        let select = "select pem from certificate where terminal = $1 and revoked is null and not_after > $2";
        let now = OffsetDateTime::from(self.clock.wall());
        let rows = self.client.query(select, &[&terminal.as_str(), &now]).await?;
        Ok(rows.iter().filter_map(|row| point_of(row.get(0))).collect())
    }

    /// Stores a result. A final one never changes.
    async fn result(&mut self, terminal: &Id, mut result: CommandResult) -> Result<Result<(), LeftOut>, DeskLost> {
        let select = "select kind, is_final, digest, body from command where id = $1 and terminal = $2";
        let row = self.client.query_opt(select, &[&result.id.as_str(), &terminal.as_str()]).await?;
        let is_of = |row: &Row| {
            let digest: Vec<u8> = row.get(2);
            hex::decode(&result.command).is_ok_and(|it| it == digest)
        };
        let Some(row) = row.filter(is_of) else { return Ok(Err(LeftOut::NoCommand)) };
        if row.get::<_, bool>(1) {
            return Ok(Ok(()));
        }
        let is_archive = row.get::<_, &str>(0) == CommandKind::Archive.word();
        if let Some(part) = result.part.take() {
            return match is_archive {
                true => self.part(&result.id, &part).await,
                false => Ok(Err(LeftOut::Part)),
            };
        }
        clean_value(&mut result.body);
        // A done archive is final when its parts are here.
        let waits = is_archive && result.code == CommandCode::Done && Archive::of(&result.body).is_some();
        let code = serde_json::to_value(result.code).map_err(StoreError::Json)?;
        let (code, text) = (code.as_str().unwrap_or_default(), result.text.as_deref().map(clean));
        let is_final = result.code.is_final() && !waits;
        let update = "update command set code = $2, text = $3, body = $4, is_final = $5, result_at = now()
            where id = $1 and not is_final";
        let id = result.id.as_str();
        self.client.execute(update, &[&id, &code, &text, &result.body, &is_final]).await?;
        if waits {
            self.client.execute("update command set offered = $2 where id = $1", &[&id, &self.archive_again()]).await?;
            self.complete(&result.id).await?;
        }
        self.client.execute("select pg_notify($1, $2)", &[&RESULT_CHANNEL, &id]).await?;
        Ok(Ok(()))
    }

    /// An archive counts as offered a little later, while its parts arrive.
    fn archive_again(&self) -> OffsetDateTime {
        OffsetDateTime::from(self.clock.wall()) + (ARCHIVE_AGAIN - AGAIN)
    }

    async fn part(&mut self, id: &Id, part: &ArchivePart) -> Result<Result<(), LeftOut>, DeskLost> {
        let most = u32::try_from(LARGEST_ARCHIVE.div_ceil(ARCHIVE_PART)).unwrap_or(u32::MAX);
        let bytes = STANDARD.decode(&part.bytes).ok().filter(|bytes| (1..=ARCHIVE_PART).contains(&bytes.len()));
        let (number, of) = (i32::try_from(part.number), i32::try_from(part.of));
        let (Some(bytes), Ok(number), Ok(of), true) = (bytes, number, of, part.of <= most && part.number < part.of)
        else {
            return Ok(Err(LeftOut::Part));
        };
        let insert = "insert into archive_part (command, number, of, bytes) values ($1, $2, $3, $4)
            on conflict (command, number) do update set of = excluded.of, bytes = excluded.bytes";
        self.client.execute(insert, &[&id.as_str(), &number, &of, &bytes]).await?;
        let update = "update command set offered = $2 where id = $1";
        self.client.execute(update, &[&id.as_str(), &self.archive_again()]).await?;
        self.complete(id).await?;
        Ok(Ok(()))
    }

    /// Makes the result of an archive final when all of its parts are here, and are what the terminal has said.
    async fn complete(&mut self, id: &Id) -> Result<(), DeskLost> {
        let select = "select c.body, (select count(*) from archive_part where command = c.id) from command c
            where id = $1 and not is_final and code = 'done'";
        let Some(row) = self.client.query_opt(select, &[&id.as_str()]).await? else { return Ok(()) };
        let Some(archive) = row.get::<_, Option<Value>>(0).as_ref().and_then(Archive::of) else { return Ok(()) };
        if row.get::<_, i64>(1) < archive.parts() {
            return Ok(());
        }
        if archive.is_whole(&bytes_of_archive(&self.client, id).await?) {
            let update = "update command set is_final = true, result_at = now() where id = $1";
            self.client.execute(update, &[&id.as_str()]).await?;
            self.client.execute("select pg_notify($1, $2)", &[&RESULT_CHANNEL, &id.as_str()]).await?;
            tracing::info!(%id, bytes = archive.size, "an archive is here");
        } else {
            // The next offer brings them again.
            self.client.execute("delete from archive_part where command = $1", &[&id.as_str()]).await?;
            tracing::warn!(%id, "the parts of an archive are not what the terminal has said");
        }
        Ok(())
    }

    async fn reported(&self, terminal: &Id, reported: &Reported) -> Result<(), DeskLost> {
        let mut report = serde_json::to_value(reported).map_err(StoreError::Json)?;
        clean_value(&mut report);
        let upsert = "insert into reported (terminal, report) values ($1, $2)
            on conflict (terminal) do update set report = excluded.report, at = now()";
        let name = terminal.as_str();
        self.client.execute(upsert, &[&name, &report]).await?;
        self.client.execute("select pg_notify($1, $2)", &[&REPORTED_CHANNEL, &name]).await?;
        Ok(())
    }
}

/// Reads a message that a terminal signs. Anything may be in it. `points` are the keys of the terminal's certificates.
///
/// # Errors
/// Fails if none of the keys has signed it, or if it is not what the topic says.
pub fn understood(topic: &Topic, bytes: &[u8], points: &[Vec<u8>]) -> Result<Said, LeftOut> {
    let wanted = match topic.channel {
        Channel::CommandResult => DocumentKind::Result,
        Channel::Reported => DocumentKind::Report,
        other => return Err(LeftOut::Channel(other)),
    };
    let envelope = Envelope::read(bytes)?;
    if envelope.kind != wanted {
        return Err(LeftOut::Kind);
    }
    if !points.iter().any(|point| is_signed_by_terminal(&envelope, point)) {
        return Err(LeftOut::Signature);
    }
    if wanted == DocumentKind::Report {
        return Ok(Said::Reported(read(&envelope.document)?));
    }
    let result: CommandResult = read(&envelope.document)?;
    if topic.id.as_ref() != Some(&result.id) {
        return Err(LeftOut::OtherId);
    }
    Ok(Said::Result(result))
}

/// What a terminal says about an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Archive {
    size: usize,
    sha256: Vec<u8>,
}

impl Archive {
    fn of(body: &Value) -> Option<Self> {
        let size = body["size"].as_u64().and_then(|size| usize::try_from(size).ok())?;
        let sha256 = hex::decode(body["sha256"].as_str()?).ok().filter(|digest| digest.len() == 32)?;
        (1..=LARGEST_ARCHIVE).contains(&size).then_some(Self { size, sha256 })
    }

    fn parts(&self) -> i64 {
        i64::try_from(self.size.div_ceil(ARCHIVE_PART)).unwrap_or(i64::MAX)
    }

    fn is_whole(&self, parts: &[Vec<u8>]) -> bool {
        let mut digest = Context::new(&SHA256);
        parts.iter().for_each(|part| digest.update(part));
        parts.iter().map(Vec::len).sum::<usize>() == self.size && digest.finish().as_ref() == self.sha256
    }
}

async fn bytes_of_archive(client: &Client, id: &Id) -> Result<Vec<Vec<u8>>, tokio_postgres::Error> {
    let select = "select bytes from archive_part where command = $1 order by number";
    Ok(client.query(select, &[&id.as_str()]).await?.iter().map(|row| row.get(0)).collect())
}

/// Returns the archive of a command, if all of it is here.
///
/// # Errors
/// Fails if the database does not answer.
pub async fn archive(client: &Client, id: &Id) -> Result<Option<Vec<u8>>, tokio_postgres::Error> {
    let select = "select body from command where id = $1 and is_final and code = 'done'";
    let body: Option<Value> = client.query_opt(select, &[&id.as_str()]).await?.and_then(|row| row.get(0));
    let Some(archive) = body.as_ref().and_then(Archive::of) else { return Ok(None) };
    let parts = bytes_of_archive(client, id).await?;
    Ok(archive.is_whole(&parts).then(|| parts.concat()))
}
