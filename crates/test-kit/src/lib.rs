//! Is: the shared parts of several test programs, compiled once: worlds, counters, scripted peers, a browser. Is not: a
//! test, or a part of any program. Invariant: the agent is the released agent; only its surroundings are made for
//! tests.

#![allow(missing_docs, reason = "a helper of tests says by its name what it does")]
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]
#![allow(clippy::new_without_default, reason = "a default says nothing that `new` does not")]

// An agent's journal, with the commands that read it.
pub mod book;
// Chromium, controlled through chromedriver.
pub mod browser;
// The encrypted data of a reader, without its protocol.
pub mod card_reader;
// A shop of simulators with real connections, and the agent in the same process.
pub mod counter;
// The interface's data model, copied by hand.
pub mod data_model;
// The families of readers in a test.
pub mod families;
// An agent that follows a script, with real till connections.
pub mod fake_agent;
// A counter that uses the simulated gateway, without an agent.
pub mod gateway_counter;
// The help of a program.
pub mod help;
// A scripted HTTPS server.
pub mod https;
// The words of NEO2's traces.
pub mod neo2_trace;
// A shop's page that uses the simulated gateway.
pub mod page_shop;
// The pictures of the manual.
pub mod picture;
// The real program in a shop of simulators.
pub mod program;
// A shop's server that uses the simulated gateway.
pub mod shop_client;
// Recordings of readers, played to a session.
pub mod recording;
// Documents that a fleet signs, and the keys for them.
pub mod signed;
// Traces of reader sessions.
pub mod trace;
// The words of VIPA's traces.
pub mod vipa_trace;
// A world in memory with virtual time, a ledger and a judge.
pub mod world;

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

/// A time-out that is longer than any step of a test, so that a test that hangs fails with its name.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for an event that must happen, and fails after the time-out.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what} did not come within {} s", PATIENCE.as_secs()),
    }
}

/// Returns a free port below 32768. The system assigns only higher ports itself, so no other program gets this one.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Another process with such tests begins at another port.
    let first = 20_000 + u16::try_from(std::process::id() % 100).unwrap() * 100;
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    let ports = std::iter::repeat_with(|| first + NEXT.fetch_add(1, Ordering::Relaxed));
    ports.take(1000).find(is_free).expect("a free port")
}

/// Returns a port that refuses connections until the test program ends. No other program can use it during that time.
pub fn refusing_port() -> u16 {
    let socket = pos_sim::gateway::kept_port::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    Box::leak(Box::new(socket)).local_addr().unwrap().port()
}

/// Returns the path of the agent's program. Cargo builds it for the integration tests of its package, one folder above
/// them.
pub fn agent() -> PathBuf {
    built("pos-agent")
}

/// Returns the path of the front's program, in the same way.
pub fn front() -> PathBuf {
    built("pos-front")
}

fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join(name);
    assert!(program.exists(), "{} is missing; run: cargo build --package {name}", program.display());
    program
}
