//! Is: what each of our daemons needs beside its own business.
//! Is not: a rule of a sale, or a word for a customer.
//! Invariant: a secret file is opened once, is its owner's alone, and what was read of it is wiped.

// Secrets in files of their own.
pub mod secret;
// Who may use a Unix socket, and what a user is told who may not.
pub mod access;
// Faults of a configuration file, each with line, key and remedy.
pub mod settings;
// A wire that is given instead of opened.
pub mod wire;
// A connection whose other end has to take what it is given.
pub mod writing;
// What systemd is told, and the sockets that it gives.
pub mod systemd;
// The program's own log: where it goes, and how much of it.
pub mod logging;
