//! Commands to a terminal, and their results.
//!
//! A command is a JSON document in an [`Envelope`](crate::Envelope), signed with Ed25519 by a key that the terminal's
//! own configuration names. The agent checks it. The uplink, the broker and the database only pass it on.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Id;
use crate::message::{Bounded, MessageError, short};

/// The version of the command's form. A later one that this version cannot read has another number.
pub const COMMAND_VERSION: u32 = 1;
/// The greatest size of a signed command in bytes.
pub const LARGEST_COMMAND: usize = 16 * 1024;
/// The greatest size of one part of a support archive in bytes. In base64 and in an envelope it fits into a message.
pub const ARCHIVE_PART: usize = 16 * 1024;
/// The greatest size of a support archive in bytes.
pub const LARGEST_ARCHIVE: usize = 4 * 1024 * 1024;
/// The counters up to this distance below a key's greatest one may still be used, each once.
pub const COUNTER_WINDOW: u64 = 64;

/// The kind of a key, which decides the documents that it may sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyKind {
    /// Signs sales and what belongs to them, as one till of the terminal.
    Till,
    /// Signs what a technician needs: messages, archives, restarts, the log level.
    Desk,
    /// Signs settings. Two of them sign a change of the command keys.
    Config,
}

impl KeyKind {
    /// Returns the word for the configuration.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Till => "till",
            Self::Desk => "desk",
            Self::Config => "config",
        }
    }
}

/// The kind of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommandKind {
    /// Begins a transaction. The body is that of `POST /v1/sales`.
    Sale,
    /// Cancels a transaction. The body is `{"reference": …}`.
    Cancel,
    /// Confirms how much the till takes. The body is that of `POST /v1/sales/{reference}/confirm` and `reference`.
    Confirm,
    /// Shows a text to the cashier. The body is `{"text": …}`.
    Message,
    /// Makes a support archive. The body is empty.
    Archive,
    /// Restarts the agent when it is idle. The body is empty.
    Restart,
    /// Changes the log level for a limited time. The body is that of `POST /v1/log-level`.
    LogLevel,
}

impl CommandKind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Sale, Self::Cancel, Self::Confirm, Self::Message, Self::Archive, Self::Restart, Self::LogLevel];

    /// Returns the word in the document.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Sale => "sale",
            Self::Cancel => "cancel",
            Self::Confirm => "confirm",
            Self::Message => "message",
            Self::Archive => "archive",
            Self::Restart => "restart",
            Self::LogLevel => "log-level",
        }
    }

    /// Returns the kind with this word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Returns the kind of key that may sign it.
    #[must_use]
    pub fn key(self) -> KeyKind {
        if self.is_about_money() { KeyKind::Till } else { KeyKind::Desk }
    }

    /// Returns whether the command can move money. It then needs the nonce of the terminal's present connection.
    #[must_use]
    pub fn is_about_money(self) -> bool {
        matches!(self, Self::Sale | Self::Cancel | Self::Confirm)
    }

    /// Returns the greatest time between the command's arrival and its expiry, in seconds.
    #[must_use]
    pub fn longest_s(self) -> u64 {
        match self {
            Self::Sale => 60,
            Self::Cancel | Self::Confirm => 120,
            Self::Message | Self::Archive | Self::Restart | Self::LogLevel => 24 * 3600,
        }
    }
}

impl fmt::Display for CommandKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A command to one terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetCommand {
    /// [`COMMAND_VERSION`].
    pub v: u32,
    /// The command's id. The terminal acts once on it, and repeats its answer.
    pub id: Id,
    /// The organisation.
    pub org: Id,
    /// The terminal. There is no command to all terminals.
    pub terminal: Id,
    /// The counter of the signing key, at least 1. Each is used once.
    pub counter: u64,
    /// The kind, as a word: a later version may have more.
    pub kind: String,
    /// The content, by kind.
    #[serde(default)]
    pub body: Value,
    /// The time in UTC (RFC 3339) after which the command is refused.
    pub expires: String,
    /// The nonce of the terminal's present connection, for commands about money. Without a trusted clock, other
    /// commands need it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
    /// The person or program that gave the command, for the terminal's journal.
    pub author: String,
}

impl Bounded for FleetCommand {
    fn check(&self) -> Result<(), MessageError> {
        short([&self.kind, &self.expires, &self.author].into_iter().chain(&self.nonce))
    }
}

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandCode {
    /// The terminal works on it. Another result follows.
    Running,
    /// It is carried out. A sale is: its body says with which outcome.
    Done,
    /// It is for another organisation or another terminal.
    WrongTerminal,
    /// The key may not sign this kind.
    KeyNotAllowed,
    /// The terminal does not know the kind or the form's version.
    Unsupported,
    /// It came after its expiry.
    Expired,
    /// Its expiry is later than this kind permits.
    ExpiresTooLate,
    /// The terminal does not know the time, and the command needs it.
    ClockUnknown,
    /// It does not contain the nonce of the present connection.
    StaleConnection,
    /// Its counter was used, or is too old.
    UsedCounter,
    /// Its content is wrong.
    Malformed,
    /// Another command has this id.
    IdTaken,
    /// The terminal's interface refuses the request. The body has its problem.
    Refused,
    /// The terminal was not idle before the expiry.
    NotIdle,
    /// The terminal stopped before it could act. Nothing was done.
    NotBegun,
    /// It could not be carried out.
    Failed,
}

impl CommandCode {
    /// Returns whether no other result follows.
    #[must_use]
    pub fn is_final(self) -> bool {
        self != Self::Running
    }
}

/// The result of a command. Its document is signed with the key of the terminal's certificate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandResult {
    /// The command's id.
    pub id: Id,
    /// SHA-256 of the command's document, in hexadecimal.
    #[serde(default)]
    pub command: String,
    /// What became of it.
    pub code: CommandCode,
    /// A sentence for a person. Absent if the code says it all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The transaction or the problem in the form of the terminal's interface, or the size and SHA-256 of an archive.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
    /// A part of a support archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<ArchivePart>,
    /// The time in UTC (RFC 3339).
    #[serde(default)]
    pub at: String,
}

/// A part of a support archive.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivePart {
    /// The number of the part, from 0.
    pub number: u32,
    /// The number of parts.
    pub of: u32,
    /// The bytes in base64: [`ARCHIVE_PART`] of them, fewer in the last part.
    pub bytes: String,
}

impl fmt::Debug for ArchivePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "part {} of {}", self.number, self.of)
    }
}

impl Bounded for CommandResult {
    fn check(&self) -> Result<(), MessageError> {
        short([&self.command, &self.at].into_iter().chain(&self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{read, write};

    #[test]
    fn each_kind_has_its_word_and_only_a_till_key_moves_money() {
        for kind in CommandKind::ALL {
            assert_eq!(CommandKind::of(kind.word()), Some(kind));
            assert_eq!(kind.is_about_money(), kind.key() == KeyKind::Till);
            assert!(!kind.is_about_money() || kind.longest_s() <= 120);
        }
        assert_eq!(CommandKind::of("shell"), None);
    }

    #[test]
    fn a_command_keeps_what_it_does_not_know_out_and_a_later_kind_in() {
        let text = r#"{"v":1,"id":"0f","org":"corner","terminal":"t-1","counter":3,"kind":"self-destruct",
            "expires":"2026-11-30T10:00:00Z","author":"anna","later":7}"#;
        let command: FleetCommand = read(text.as_bytes()).unwrap();
        assert_eq!((command.kind.as_str(), &command.body, &command.nonce), ("self-destruct", &Value::Null, &None));
        assert!(read::<FleetCommand>(&write(&command).unwrap()).is_ok());
        assert!(read::<FleetCommand>(text.replace("anna", &"a".repeat(501)).as_bytes()).is_err());
        assert!(read::<FleetCommand>(text.replace("t-1", "+").as_bytes()).is_err());
    }
}
