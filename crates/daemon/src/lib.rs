//! Is: the functions that every daemon of this project needs in addition to its own task.
//! Is not: a rule of a transaction, or a text for a customer.
//! Invariant: a secret file is opened once, only its owner has access to it, and its content is wiped from memory.

// Secrets in separate files.
pub mod secret;
// Access to Unix sockets, and the remedy for a user without access.
pub mod access;
// Faults of a configuration file, each with line, key and remedy.
pub mod settings;
// A configuration file that a program reads into one type.
pub mod config_file;
// The signals that end a daemon.
pub mod stop;
// Connections that are supplied instead of opened.
pub mod wire;
// Connections with a deadline for the other end to read.
pub mod writing;
// Messages to systemd, and the sockets that systemd passes.
pub mod systemd;
// A service that cannot start, and that systemd starts again.
pub mod start_again;
// The log of the process: its destination and its level.
pub mod logging;
// Help texts in 80 columns.
pub mod help;
