//! The technician's view of a till that speaks ZVT, Caisse-AP or nexo: its connection, its last command, and a trace of
//! all messages.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::control::rfc3339;

/// The largest number of trace lines that wait for a reader. A slower reader misses lines.
const MOST_WAITING: usize = 64;

/// A till that speaks one of these protocols.
#[derive(Debug)]
pub(crate) struct SeenTill {
    /// The till's name at the agent.
    pub(crate) till: String,
    protocol: &'static str,
    last: Mutex<Last>,
    trace: broadcast::Sender<String>,
    now: fn() -> SystemTime,
}

#[derive(Debug, Default)]
struct Last {
    /// The number of open lines (ZVT, Caisse-AP), or of requests that wait for an answer (nexo).
    open: usize,
    from: Option<String>,
    command: Option<String>,
    at: Option<SystemTime>,
    /// The number of messages whose answer has not reached the till's address, and the last error there.
    unsent: usize,
    error: Option<String>,
}

impl SeenTill {
    pub(crate) fn new(till: &str, protocol: &'static str, now: fn() -> SystemTime) -> Self {
        let trace = broadcast::channel(MOST_WAITING).0;
        Self { till: till.to_owned(), protocol, last: Mutex::default(), trace, now }
    }

    /// Returns the trace from this moment on. Each message is one line, without card data.
    pub(crate) fn trace(&self) -> broadcast::Receiver<String> {
        self.trace.subscribe()
    }

    /// Adds a message to the trace. The line is created only if the trace has a reader.
    pub(crate) fn said(&self, direction: &str, line: impl FnOnce() -> String) {
        if self.trace.receiver_count() > 0 {
            // The reader may have left in the meantime.
            let _ = self.trace.send(format!("{} {} {direction} {}\n", rfc3339((self.now)()), self.till, line()));
        }
    }

    /// Sets the number of open lines or requests.
    pub(crate) fn open(&self, open: usize) {
        self.last().open = open;
    }

    /// Sets the source of the till's connection.
    pub(crate) fn came(&self, from: String) {
        self.last().from = Some(from);
    }

    /// Sets the till's last command.
    pub(crate) fn commanded(&self, command: Option<String>) {
        let mut last = self.last();
        (last.command, last.at) = (command, Some((self.now)()));
    }

    /// Sets the number of messages whose answer has not reached the till's address.
    pub(crate) fn unsent(&self, unsent: usize) {
        self.last().unsent = unsent;
    }

    /// Sets the last error at the till's address.
    pub(crate) fn failing(&self, error: Option<String>) {
        self.last().error = error;
    }

    /// Returns the state of the till, for `pos-front status`.
    pub(crate) fn status(&self) -> Value {
        let last = self.last();
        json!({
            "till": self.till, "protocol": self.protocol, "connected": last.open, "from": last.from,
            "lastCommand": last.command, "at": last.at.map(rfc3339), "unsent": last.unsent, "error": last.error,
        })
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
