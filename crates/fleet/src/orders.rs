//! Gives commands to terminals, and says what became of them.
//!
//! A command is signed here, with a key from outside the database, and stored as it is offered. `pos-fleet desk` offers
//! it to the terminal until a final result is stored.

use std::time::{Duration, SystemTime};

use pos_fleet_terms::{
    COMMAND_VERSION, CommandCode, CommandKind, DocumentKind, FleetCommand, Id, KeyKind, LARGEST_COMMAND, MessageError,
    write,
};
use pos_terms::emv::pan;
use ring::digest::{SHA256, digest};
use serde_json::Value;
use time::format_description::well_known::Rfc3339;
use tokio_postgres::{Client, Transaction};

use crate::ca::date;
use crate::signing::SigningKey;

/// The channel on which the database says that a terminal has a new command.
pub const COMMAND_CHANNEL: &str = "command";
/// The channel on which the database says that a command has a result.
pub const RESULT_CHANNEL: &str = "result";

/// A command to give.
#[derive(Clone, Debug)]
pub struct NewCommand {
    /// The organisation.
    pub org: Id,
    /// The terminal.
    pub terminal: Id,
    /// The kind.
    pub kind: CommandKind,
    /// The content, by kind.
    pub body: Value,
    /// The person or program that gives it, for the terminal's journal and for the database.
    pub author: String,
    /// The seconds until the command expires, at most [`CommandKind::longest_s`].
    pub lasts_s: u64,
    /// The cloud till that gives it. The command's reference is that of the body.
    pub till: Option<String>,
}

/// The reason why a command was not given. Nothing is stored then.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    /// The database does not know the terminal.
    #[error("the database has no terminal {0}")]
    NoTerminal(Id),
    /// The terminal is gone, or has no nonce.
    #[error("{0}: {1}")]
    NotNow(Id, NotNow),
    /// The key is of another kind.
    #[error("a {} key does not sign the command {}: it needs a {} key", key.word(), kind, kind.key().word())]
    Key {
        /// The kind of the key.
        key: KeyKind,
        /// The kind of the command.
        kind: CommandKind,
    },
    /// The time until the expiry.
    #[error("the command {0} lasts 1 to {most} seconds", most = .0.longest_s())]
    Lasts(CommandKind),
    /// The content is too long.
    #[error("the command is too long: {0} bytes, at most {LARGEST_COMMAND}")]
    TooLong(usize),
    /// A text of the command looks like a card number. It must reach neither the database nor the broker.
    #[error("the command contains what looks like a card number")]
    CardNumber,
    /// A text is too long.
    #[error("the command cannot be written: {0}")]
    Message(#[from] MessageError),
    /// The system gives no random numbers, or the time is none.
    #[error("the system gives no random numbers, or no time")]
    System,
    /// The database.
    #[error("the database: {0}")]
    Database(#[from] tokio_postgres::Error),
}

/// The reason why a terminal takes no command about money at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotNow {
    /// The broker says that it is gone.
    #[error("the terminal is not connected")]
    Offline,
    /// It has no nonce.
    #[error("the terminal takes no commands: its configuration has no [fleet], or its uplink lacks the right fleet")]
    NoCommands,
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The code.
    pub code: CommandCode,
    /// A sentence for a person.
    pub text: Option<String>,
    /// The transaction, the problem, or the facts of an archive.
    pub body: Value,
    /// True if no other result follows.
    pub is_final: bool,
}

/// Signs a command, stores it, and tells the desk.
///
/// # Errors
/// Fails if the terminal cannot take it, or if the database refuses. Nothing is stored then.
pub async fn give(
    client: &mut Client,
    key: &SigningKey,
    command: NewCommand,
    now: SystemTime,
) -> Result<Id, OrderError> {
    let change = client.transaction().await?;
    let id = give_within(&change, key, command, now).await?;
    change.commit().await?;
    Ok(id)
}

/// The same within a transaction of the caller. The desk hears of the command after the commit.
///
/// # Errors
/// Fails if the terminal cannot take it, or if the database refuses.
pub async fn give_within(
    change: &Transaction<'_>,
    key: &SigningKey,
    command: NewCommand,
    now: SystemTime,
) -> Result<Id, OrderError> {
    let NewCommand { org, terminal, kind, body, author, lasts_s, till } = command;
    if key.kind() != kind.key() {
        return Err(OrderError::Key { key: key.kind(), kind });
    }
    if !(1..=kind.longest_s()).contains(&lasts_s) {
        return Err(OrderError::Lasts(kind));
    }
    if has_card_number(&body) || pan::is_in(&author) {
        return Err(OrderError::CardNumber);
    }
    let key_id = key.id();
    // Two commands of one key wait for each other here, so each gets a counter of its own.
    let lock = format!("command {terminal} {key_id}");
    change.execute("select pg_advisory_xact_lock(hashtextextended($1, 0))", &[&lock]).await?;
    let Known { is_online, nonce, counter } = known(change, &terminal, &key_id).await?;
    if kind.is_about_money() {
        let why = match (is_online, &nonce) {
            (true, Some(_)) => None,
            (true, None) => Some(NotNow::NoCommands),
            (false, _) => Some(NotNow::Offline),
        };
        if let Some(why) = why {
            return Err(OrderError::NotNow(terminal, why));
        }
    }
    let id = new_id()?;
    let expires = date(now + Duration::from_secs(lasts_s));
    let reference = body["reference"].as_str().map(str::to_owned).filter(|_| kind.is_about_money());
    let document = write(&FleetCommand {
        v: COMMAND_VERSION,
        id: id.clone(),
        org,
        terminal: terminal.clone(),
        counter: counter.unsigned_abs(),
        kind: kind.word().to_owned(),
        body,
        expires: expires.format(&Rfc3339).map_err(|_| OrderError::System)?,
        nonce,
        author: author.clone(),
    })?;
    let sha256 = digest(&SHA256, &document).as_ref().to_vec();
    let envelope = key.sign(DocumentKind::Command, document).write();
    if envelope.len() > LARGEST_COMMAND {
        return Err(OrderError::TooLong(envelope.len()));
    }
    let insert = "insert into command
        (id, terminal, key, counter, kind, envelope, digest, author, till, reference, created, expires)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, clock_timestamp(), $11)";
    // The commands of a key are created in the order of their counters, because of the lock.
    let (name, word) = (terminal.as_str(), kind.word());
    change
        .execute(
            insert,
            &[&id.as_str(), &name, &key_id, &counter, &word, &envelope, &sha256, &author, &till, &reference, &expires],
        )
        .await?;
    change.execute("select pg_notify($1, $2)", &[&COMMAND_CHANNEL, &name]).await?;
    Ok(id)
}

/// Returns whether a text, a number or a field's name looks like a card number.
pub(crate) fn has_card_number(value: &Value) -> bool {
    match value {
        Value::String(text) => pan::is_in(text),
        Value::Number(number) => pan::is_in(&number.to_string()),
        Value::Array(values) => values.iter().any(has_card_number),
        Value::Object(fields) => fields.iter().any(|(name, value)| pan::is_in(name) || has_card_number(value)),
        Value::Null | Value::Bool(_) => false,
    }
}

/// What the database knows of a terminal for its next command.
struct Known {
    is_online: bool,
    nonce: Option<String>,
    /// The next counter.
    counter: i64,
}

async fn known(change: &Transaction<'_>, terminal: &Id, key: &str) -> Result<Known, OrderError> {
    // After a restored backup, the terminal knows greater counters than the database. After a restored disk, the
    // database does.
    let select = "select online, state ->> 'nonce',
            greatest(
                coalesce((select max(counter) from command where terminal = $1 and key = $2), 0),
                least(coalesce((state -> 'counters' ->> $2)::numeric, 0), $3::bigint)::bigint)
        from terminal where terminal = $1";
    // A terminal can say any number. Beyond this one, its own key could not sign any more. `least` ignores a null.
    let most = i64::MAX - 1;
    let row = change.query_opt(select, &[&terminal.as_str(), &key, &most]).await?;
    let row = row.ok_or_else(|| OrderError::NoTerminal(terminal.clone()))?;
    let counter: i64 = row.get(2);
    Ok(Known { is_online: row.get(0), nonce: row.get(1), counter: counter.saturating_add(1) })
}

fn new_id() -> Result<Id, OrderError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| OrderError::System)?;
    hex::encode(bytes).parse().map_err(|_| OrderError::System)
}

/// Returns what became of a command, `None` without a result.
///
/// # Errors
/// Fails if the database does not answer.
pub async fn result(client: &Client, id: &Id) -> Result<Option<Answered>, tokio_postgres::Error> {
    let select = "select code, text, body, is_final from command where id = $1 and code is not null";
    let Some(row) = client.query_opt(select, &[&id.as_str()]).await? else { return Ok(None) };
    // The desk stores only codes that it knows.
    let code = serde_json::from_value(Value::String(row.get(0))).unwrap_or(CommandCode::Failed);
    let body: Option<Value> = row.get(2);
    Ok(Some(Answered { code, text: row.get(1), body: body.unwrap_or_default(), is_final: row.get(3) }))
}
