//! What a technician is shown of a till that speaks a protocol of tills: whether it is connected, its last command, and
//! everything that is said, for whoever looks on.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::control::rfc3339;

/// Lines that wait for whoever looks on; who is slower misses some.
const MOST_WAITING: usize = 64;

/// One till.
#[derive(Debug)]
pub(crate) struct SeenTill {
    /// Its name towards the agent.
    pub(crate) till: String,
    protocol: &'static str,
    last: Mutex<Last>,
    trace: broadcast::Sender<String>,
    now: fn() -> SystemTime,
}

#[derive(Debug, Default)]
struct Last {
    /// Lines, or requests that wait for their answer.
    open: usize,
    from: Option<String>,
    command: Option<String>,
    at: Option<SystemTime>,
}

impl SeenTill {
    pub(crate) fn new(till: &str, protocol: &'static str, now: fn() -> SystemTime) -> Self {
        let trace = broadcast::channel(MOST_WAITING).0;
        Self { till: till.to_owned(), protocol, last: Mutex::default(), trace, now }
    }

    /// What is said from now on, a line each, without card data.
    pub(crate) fn trace(&self) -> broadcast::Receiver<String> {
        self.trace.subscribe()
    }

    /// Something is said; the line is made only when somebody looks on.
    pub(crate) fn said(&self, direction: &str, line: impl FnOnce() -> String) {
        if self.trace.receiver_count() > 0 {
            // Who looked on may have gone.
            let _ = self.trace.send(format!("{} {} {direction} {}\n", rfc3339((self.now)()), self.till, line()));
        }
    }

    /// So many lines or requests are open.
    pub(crate) fn open(&self, open: usize) {
        self.last().open = open;
    }

    /// It comes from there.
    pub(crate) fn came(&self, from: String) {
        self.last().from = Some(from);
    }

    /// Its last command.
    pub(crate) fn commanded(&self, command: Option<String>) {
        let mut last = self.last();
        (last.command, last.at) = (command, Some((self.now)()));
    }

    /// How it stands, for `pos-front status`.
    pub(crate) fn status(&self) -> Value {
        let last = self.last();
        json!({
            "till": self.till, "protocol": self.protocol, "connected": last.open, "from": last.from,
            "lastCommand": last.command, "at": last.at.map(rfc3339),
        })
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
