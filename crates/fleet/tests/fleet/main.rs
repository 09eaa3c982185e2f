//! The fleet's server with a real broker, a real database and a real browser.
//!
//! | file | subject |
//! |---|---|
//! | `everything` | many simulated terminals and every fault: each entry is stored once, and each alarm rings |
//! | `chain` | a till's library sells through all programs to a real terminal; each program is killed at each step |
//! | `desk` | what the desk offers, and which results it believes |
//! | `enrol` | codes, certificates and their renewal |
//! | `pilot` | bad settings at a real pilot without a network: it goes back by itself, and no other gets them |
//! | `refused` | a terminal whose data the database refuses, and a broker that sends too much |
//! | `rollouts` | good settings reach many terminals in waves, and bad ones stop at the pilot |
//! | `serve` | the pages, and the metrics |
//! | `steered` | real agents obey commands of the fleet; each program is killed, and a thief of the broker moves no money |
//! | `tills` | cloud tills: a reference is one transaction, whatever is lost, repeated or killed |
//!
//! The tests need Debian's `mosquitto` and `postgresql`. `.ci/run fleet` installs them, and says how to run more
//! terminals: `POS_FLEET_TERMINALS=3000`.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]
#![allow(clippy::float_arithmetic, reason = "durations are printed and compared; no money is reckoned")]

mod agents;
#[allow(dead_code, reason = "benches/fleet.rs uses the rest")]
mod broker;
mod chain;
mod cloud;
mod database;
mod desk;
mod enrol;
mod everything;
mod library;
mod pilot;
mod pki;
#[allow(dead_code, reason = "the benchmarks use the rest")]
mod postgres;
mod process;
mod refused;
mod rollouts;
mod serve;
#[allow(dead_code, reason = "benches/fleet.rs uses the rest")]
mod server;
mod steered;
mod terminals;
mod tills;
mod traffic;
