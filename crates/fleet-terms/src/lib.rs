//! What the terminals of a fleet and its server say to each other, through an MQTT 5 broker.
//!
//! ```text
//!  pos-agent ── /v1/journal ──▶ pos-uplink ── pos/1/ORG/TERMINAL/CHANNEL ──▶ broker ──▶ pos-fleet ──▶ PostgreSQL
//!      ▲                             ▲                                                      │
//!      └────── /v1/fleet/… ──────────┴──── ack: the cursor; cmd, config, keys: signed ◀─────┘
//! ```
//!
//! | channel | direction | retained | content |
//! |---|---|---|---|
//! | [`state`](Channel::State) | up | yes | [`State`]; the last will says that the terminal is gone |
//! | [`info`](Channel::Info) | up | yes | [`Info`]: what seldom changes |
//! | [`log`](Channel::Log) | up | no | [`Batch`]: entries of the journal |
//! | [`metric`](Channel::Metric) | up | no | [`Metrics`] |
//! | [`ack`](Channel::Ack) | down | yes | [`Ack`]: the last entry up to which the database holds every one |
//! | [`cmd`](Channel::Command) | down | no | [`FleetCommand`], signed by a command key |
//! | [`cmd-result`](Channel::CommandResult) | up | no | [`CommandResult`], signed by the terminal |
//! | [`config`](Channel::Settings) | down | yes | [`SettingsDocument`], signed by a config key |
//! | [`keys`](Channel::Keys) | down | yes | [`KeysDocument`], signed by two config keys |
//! | [`reported`](Channel::Reported) | up | yes | [`Reported`], signed by the terminal |
//!
//! Each signed document travels in an [`Envelope`]. Only the agent decides about one: the uplink, the broker and the
//! database pass it on.
//!
//! The journal is the only queue. A message may come twice, late or never: the terminal sends again from the cursor,
//! and the server stores each entry once. Nothing relies on the broker's disk.
//!
//! Every message is JSON of at most [`LARGEST`] bytes. A reader ignores unknown fields, because a later version may
//! send more, and refuses everything else that it does not expect by name.

mod batch;
mod command;
mod document;
mod envelope;
mod message;
mod topic;

pub use batch::{Batch, BatchFault};
pub use command::{
    ARCHIVE_PART, ArchivePart, COMMAND_VERSION, COUNTER_WINDOW, CommandCode, CommandKind, CommandResult, FleetCommand,
    KeyKind, LARGEST_ARCHIVE, LARGEST_COMMAND,
};
pub use document::{
    CommandKey, DOCUMENT_VERSION, KeysDocument, MOST_KEYS, Reported, SETTINGS, SettingsDocument, SettingsState,
};
pub use envelope::{DocumentKind, DocumentSignature, Envelope, EnvelopeError};
pub use message::{Ack, Fault, Info, MessageError, Metrics, State, read, write};
pub use topic::{Channel, Id, Topic, TopicError};

/// The greatest size of a message in bytes. A broker must accept packets of this size and of the topic's.
pub const LARGEST: usize = 48 * 1024;
/// The seconds after which the broker publishes the last will of a terminal that is gone. A short cut is no event.
pub const WILL_DELAY_S: u32 = 90;
/// The names of the numbers in [`Metrics`]. Each becomes a series for each terminal, so there are few.
pub const VALUES: [&str; 4] = ["approved_total", "not_approved_total", "gateway_reachable", "reader_keys_left"];
