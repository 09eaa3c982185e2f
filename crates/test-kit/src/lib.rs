//! Is: the shared parts of several test programs, compiled once: worlds, counters, scripted peers, a browser. Is not: a
//! test, or a part of any program. Invariant: the agent in it is the agent as it ships; only its surroundings are made
//! for tests.

#![allow(missing_docs, reason = "a helper of tests says by its name what it does")]
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]
#![allow(clippy::new_without_default, reason = "a default says nothing that `new` does not")]

// An agent's journal, read as an account book.
pub mod book;
// Chromium, controlled through its own driver.
pub mod browser;
// The encrypted data of a reader, without a reader.
pub mod card_reader;
// A shop of simulators with real connections, and the agent in the same process.
pub mod counter;
// The interface's data model, as people typed it.
pub mod data_model;
// An agent that plays a script, behind the real connections of the tills.
pub mod fake_agent;
// A counter at the simulated gateway, without an agent.
pub mod gateway_counter;
// A scripted HTTPS server.
pub mod https;
// A shop's page at the simulated gateway.
pub mod page_shop;
// The real program in a shop of simulators.
pub mod program;
// A shop's server at the simulated gateway.
pub mod shop_client;
// Traces of a reader.
pub mod trace;
// A world of memory and virtual time, with a ledger and a judge.
pub mod world;

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;

/// A time longer than any step of a test; a test that hangs fails by name.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for something that must come.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what} did not come within {} s", PATIENCE.as_secs()),
    }
}

/// Returns a port at which connections are refused, until the test's program ends; no other program gets it meanwhile.
pub fn refusing_port() -> u16 {
    let socket = pos_sim::gateway::kept_port::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    Box::leak(Box::new(socket)).local_addr().unwrap().port()
}

/// Returns the agent's program. Cargo builds it for the integration tests of its package, one folder above them.
pub fn agent() -> PathBuf {
    built("pos-agent")
}

/// Returns the front's program, found in the same way.
pub fn front() -> PathBuf {
    built("pos-front")
}

fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join(name);
    assert!(program.exists(), "{} is missing; run: cargo build --package {name}", program.display());
    program
}
