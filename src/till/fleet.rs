//! The requests of the program that connects this terminal to its fleet, and the answers.
//!
//! The agent judges a command and writes it into the journal. A command about a transaction then takes the path of a
//! till's request: the agent returns a [`FleetOrder`] with its caller. The interface carries it out like a request of
//! that caller, so a command can do nothing that the interface refuses.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pos_fleet_terms::{CommandKind, CommandResult, Id};
#[cfg(feature = "docs")]
use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::oneshot;

use super::Caller;

/// A request about the fleet.
#[derive(Debug)]
pub enum FleetRequest {
    /// Begin a connection. The nonce of the one before is void.
    Connect {
        /// The answer.
        reply: oneshot::Sender<Result<FleetConnection, FleetRefused>>,
    },
    /// Judge a command, and write it into the journal.
    Take {
        /// The bytes of the signed command.
        envelope: Vec<u8>,
        /// The result, or what to carry out.
        reply: oneshot::Sender<Result<FleetTaken, FleetRefused>>,
    },
    /// Store how carrying out a command ended.
    Finish {
        /// The command.
        id: Id,
        /// How it ended.
        end: CommandEnd,
        /// The result.
        reply: oneshot::Sender<Result<CommandResult, FleetRefused>>,
    },
    /// Return what became of a command.
    Result {
        /// The command.
        id: Id,
        /// The result.
        reply: oneshot::Sender<Result<CommandResult, FleetRefused>>,
    },
    /// Return the file of a support archive.
    Archive {
        /// The command that asked for it.
        id: Id,
        /// The file.
        reply: oneshot::Sender<Result<PathBuf, FleetRefused>>,
    },
}

/// The begin of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "docs", derive(Deserialize, schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FleetConnection {
    /// The nonce that commands about money must contain until the next connection.
    pub nonce: String,
    /// The greatest counter that each key has used, by the key's id.
    pub counters: BTreeMap<String, u64>,
    /// The number of documents that no key of this terminal has signed, since the agent started.
    pub not_signed: u64,
    /// The kinds of commands that the agent knows.
    pub commands: Vec<String>,
}

/// A command that the agent has judged.
#[derive(Debug)]
pub enum FleetTaken {
    /// There is nothing to carry out.
    Answered(Box<CommandResult>),
    /// The interface carries it out now, and reports how it ended.
    Act(Box<FleetOrder>),
}

/// An accepted command to carry out. It is in the journal.
#[derive(Debug)]
pub struct FleetOrder {
    /// The command's id.
    pub id: Id,
    /// The kind.
    pub kind: CommandKind,
    /// The caller, with the rights that the terminal's configuration gives the key.
    pub caller: Caller,
    /// The content.
    pub body: Value,
}

/// How carrying out a command ended.
#[derive(Debug)]
pub enum CommandEnd {
    /// A transaction began, and answers for it from now on.
    Began,
    /// It is done, with this body.
    Done(Value),
    /// Its content is wrong.
    Malformed(String),
    /// The interface refuses it, with this problem.
    Refused {
        /// The sentence for a person.
        text: String,
        /// The problem.
        problem: Value,
    },
    /// The agent did not answer. What became of it is in the journal.
    Unknown,
}

/// The reason why a request about the fleet has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetRefused {
    /// The configuration has no section `[fleet]`.
    NoFleet,
    /// No key of this terminal has signed the document.
    NotSigned,
    /// The document is not a command.
    Malformed(String),
    /// No command has this id, or its archive is gone.
    NoSuchCommand,
    /// The journal cannot be read or written. Nothing was done.
    Journal(String),
}
