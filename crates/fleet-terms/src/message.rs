//! The messages, and how they are read and written.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{LARGEST, MOST_KEYS};

/// The greatest length of a text in a message, in characters.
const LONGEST_TEXT: usize = 500;
/// The greatest number of faults in a state.
const MOST_FAULTS: usize = 32;
/// The greatest number of values in one message of metrics. More would be series without a bound.
const MOST_VALUES: usize = 16;

/// The terminal's present state. It is retained, so a server that starts later has it at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// True while the terminal is connected. The last will has false, and no other field but `boot`.
    pub online: bool,
    /// A random name of this start of the uplink. Two names that alternate are two terminals with one identity.
    pub boot: String,
    /// The number of connections since that start.
    #[serde(default)]
    pub connections: u64,
    /// The time in UTC (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The identity of the journal. Absent if the agent does not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
    /// The number of the journal's last entry.
    #[serde(default)]
    pub last: i64,
    /// The hash of that entry. If the server has another one for it, the terminal has two histories.
    #[serde(default)]
    pub hash: String,
    /// True if the terminal can take a payment by card. Absent if the agent does not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Faults, and tasks for a person.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// The number of transactions with an unknown outcome.
    #[serde(default)]
    pub unconfirmed: u32,
    /// The number of transactions that wait for a decision of a person.
    #[serde(default)]
    pub held: u32,
    /// The end of the uplink's certificate, in UTC (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_ends: Option<String>,
    /// The nonce of this connection, which a command about money must contain. Absent if the agent takes no commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
    /// The greatest counter of each command key that was used, by the key's name (SHA-256 in hexadecimal).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
    /// The number of commands since the agent's start that no known key has signed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_signed: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A fault of a terminal, or a task for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The agent's word for it.
    pub code: String,
    /// A sentence in the terminal's language.
    #[serde(default)]
    pub text: String,
}

/// What seldom changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Info {
    /// The uplink's version.
    pub uplink: String,
    /// The agent's version.
    #[serde(default)]
    pub agent: String,
    /// The terminal's id at the gateway.
    #[serde(default)]
    pub terminal_id: String,
    /// The shop's name and address.
    #[serde(default)]
    pub merchant: Vec<String>,
    /// The currency (ISO 4217).
    #[serde(default)]
    pub currency: String,
    /// The reader's model.
    #[serde(default)]
    pub reader_model: String,
    /// The reader's serial number.
    #[serde(default)]
    pub reader_serial: String,
    /// The version of the reader's firmware.
    #[serde(default)]
    pub reader_firmware: String,
    /// The kinds of commands that the terminal knows. Empty if it takes none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
}

/// Numbers of a terminal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// The time in UTC (RFC 3339).
    pub at: String,
    /// The values by name. No amount and no reference is among them.
    pub values: BTreeMap<String, f64>,
}

/// The cursor: the database holds every entry of the journal up to this number.
///
/// It may be lower than one before, if the database comes from a backup. The terminal then sends again from there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ack {
    /// The identity of the journal.
    pub journal: String,
    /// The number of the entry, 0 if there is none.
    pub number: i64,
    /// A random name of the server's connection. Messages to an earlier one may be lost.
    #[serde(default)]
    pub server: String,
}

/// A message of a channel, with the bounds of its content.
pub(crate) trait Bounded {
    /// Checks the bounds.
    fn check(&self) -> Result<(), MessageError>;
}

impl Bounded for State {
    fn check(&self) -> Result<(), MessageError> {
        at_most(MOST_FAULTS, "faults", self.faults.len())?;
        at_most(MOST_KEYS, "counters", self.counters.len())?;
        let texts = [&self.boot, &self.hash].into_iter().chain(&self.at).chain(&self.journal);
        let texts = texts.chain(&self.certificate_ends).chain(&self.nonce).chain(self.counters.keys());
        short(texts.chain(self.faults.iter().flat_map(|fault| [&fault.code, &fault.text])))
    }
}

impl Bounded for Info {
    fn check(&self) -> Result<(), MessageError> {
        at_most(MOST_FAULTS, "merchant", self.merchant.len())?;
        at_most(MOST_FAULTS, "commands", self.commands.len())?;
        let Self { uplink, agent, terminal_id, currency, reader_model, reader_serial, reader_firmware, .. } = self;
        let texts = [uplink, agent, terminal_id, currency, reader_model, reader_serial, reader_firmware];
        short(texts.into_iter().chain(&self.merchant).chain(&self.commands))
    }
}

impl Bounded for Metrics {
    fn check(&self) -> Result<(), MessageError> {
        at_most(MOST_VALUES, "values", self.values.len())?;
        short([&self.at].into_iter().chain(self.values.keys()))
    }
}

impl Bounded for Ack {
    fn check(&self) -> Result<(), MessageError> {
        short([&self.journal, &self.server])
    }
}

pub(crate) fn at_most(most: usize, field: &'static str, count: usize) -> Result<(), MessageError> {
    if count > most { Err(MessageError::TooMany { field, most }) } else { Ok(()) }
}

pub(crate) fn short<'a>(texts: impl IntoIterator<Item = &'a String>) -> Result<(), MessageError> {
    match texts.into_iter().any(|text| text.chars().count() > LONGEST_TEXT) {
        true => Err(MessageError::LongText),
        false => Ok(()),
    }
}

/// Reads a message.
///
/// # Errors
/// Fails if the bytes are too many, are not such a message, or exceed one of its bounds.
#[expect(private_bounds, reason = "the messages of this crate are all that can be read")]
pub fn read<M: DeserializeOwned + Bounded>(bytes: &[u8]) -> Result<M, MessageError> {
    if bytes.len() > LARGEST {
        return Err(MessageError::TooLong(bytes.len()));
    }
    let message: M = serde_json::from_slice(bytes).map_err(|error| MessageError::NotOne(error.to_string()))?;
    message.check()?;
    Ok(message)
}

/// Writes a message.
///
/// # Errors
/// Fails if a reader would refuse it.
#[expect(private_bounds, reason = "the messages of this crate are all that can be written")]
pub fn write<M: Serialize + Bounded>(message: &M) -> Result<Vec<u8>, MessageError> {
    message.check()?;
    let bytes = serde_json::to_vec(message).map_err(|error| MessageError::NotOne(error.to_string()))?;
    match bytes.len() > LARGEST {
        true => Err(MessageError::TooLong(bytes.len())),
        false => Ok(bytes),
    }
}

/// The reason why bytes are no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// It has this number of bytes.
    #[error("{0} bytes are more than {LARGEST}")]
    TooLong(usize),
    /// It is not JSON, or a field is missing or of another type.
    #[error("{0}")]
    NotOne(String),
    /// A list is longer than its bound.
    #[error("{field}: more than {most}")]
    TooMany {
        /// The field.
        field: &'static str,
        /// The bound.
        most: usize,
    },
    /// A text is longer than its bound.
    #[error("a text has more than {LONGEST_TEXT} characters")]
    LongText,
    /// The entries of a batch do not belong together.
    #[error("{0}")]
    Batch(#[from] crate::BatchFault),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn state() -> State {
        let fault = Fault { code: "reader-absent".to_owned(), text: "The card reader cannot be found.".to_owned() };
        State {
            online: true,
            boot: "b1".to_owned(),
            last: 42,
            ready: Some(false),
            faults: vec![fault],
            ..State::default()
        }
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        assert_eq!(read::<State>(&write(&state()).unwrap()), Ok(state()));
        let info = Info { uplink: "0.1.0".to_owned(), merchant: vec!["Corner Shop".to_owned()], ..Info::default() };
        assert_eq!(read::<Info>(&write(&info).unwrap()), Ok(info));
        let metrics = Metrics { at: "2026-11-20T10:00:00Z".to_owned(), values: [("sales".to_owned(), 3.0)].into() };
        assert_eq!(read::<Metrics>(&write(&metrics).unwrap()), Ok(metrics));
        let ack = Ack { journal: "5f0c7d1e".to_owned(), number: 42, server: "s1".to_owned() };
        assert_eq!(read::<Ack>(&write(&ack).unwrap()), Ok(ack));
    }

    #[test]
    fn a_later_version_may_add_fields_and_a_last_will_has_two() {
        let will = json!({ "online": false, "boot": "b1", "later": { "x": 1 } });
        let read = read::<State>(will.to_string().as_bytes()).unwrap();
        assert_eq!(read, State { boot: "b1".to_owned(), ..State::default() });
    }

    #[test]
    fn what_exceeds_a_bound_is_refused_at_both_ends() {
        let long = Ack { journal: "a".repeat(501), number: 0, server: String::new() };
        assert_eq!(write(&long), Err(MessageError::LongText));
        assert_eq!(read::<Ack>(&serde_json::to_vec(&long).unwrap()), Err(MessageError::LongText));
        let many = State { faults: vec![state().faults[0].clone(); 33], ..state() };
        assert_eq!(write(&many), Err(MessageError::TooMany { field: "faults", most: 32 }));
        assert_eq!(read::<State>(b"{}").unwrap_err().to_string(), "missing field `online` at line 1 column 2");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = (read::<State>(&bytes), read::<Info>(&bytes), read::<Metrics>(&bytes), read::<Ack>(&bytes));
        }
    }
}
