//! `pos-uplink`: shows a terminal to its fleet's server, and passes signed documents to the agent. It can read the
//! journal and the status. It judges no document: the agent alone knows the keys, and decides.
//!
//! ```text
//!  pos-agent ── Unix socket ──▶ source ─▶ choose ─┬▶ link ── MQTT 5, mutual TLS ──▶ broker ──▶ pos-fleet
//!      ▲                                   shown ─┤    ▲                                          │
//!      │                                  signer ─┘  cursor ◀──────────────── ack ───────────────┤
//!      └──── /v1/fleet/… ──────── steer ◀──────────────┴── link ◀────── cmd, config, keys ────────┘
//! ```
//!
//! The uplink is a process of its own, with a user and a certificate of its own. Without it, or without the broker,
//! nothing changes at the counter. It stores no entry: the journal is the only queue, and the server's cursor says
//! where to continue.

// The terminal's certificate: its files, and when it needs a new one.
pub mod certificate;
// What leaves the terminal: the choice of entries, in batches.
pub mod choose;
// The position in the journal, and what to send next.
pub mod cursor;
// The identity of a board: its certificates, and their renewal.
pub mod board;
// The configuration file.
pub mod config;
// Who the terminal is at the broker.
pub mod identity;
// Asks the fleet's server for a certificate.
pub mod enrol;
// The connection to the broker.
pub mod link;
// The messages about the terminal.
pub mod shown;
// The signature of results.
pub mod signer;
// Where entries and status come from.
pub mod source;
// Signed documents for the agent, and its answers.
pub mod steer;
