//! The shared state of the server's connections, the clockwork and the outgoing calls: the host and the counters.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use hyper::http::request::Parts;
use tokio::sync::Notify;

use super::counters::{GatewayCounters, PaymentTimes, WireEvent};
use super::host::Host;
use super::measured_stream::{self, StreamTimes};
use super::options::Options;

/// The shared state.
pub(super) struct Shared {
    pub(super) options: Arc<Options>,
    host: Mutex<Host>,
    pub(super) bytes: Arc<measured_stream::ByteCounts>,
    pub(super) connections: AtomicU64,
    pub(super) handshakes: AtomicU64,
    pub(super) requests: AtomicU64,
    pub(super) last_payment: Mutex<Option<(Instant, Arc<StreamTimes>)>>,
    /// The bytes of the latest payment request, kept only in [`Mode::Fast`](super::Mode::Fast).
    last_request: Mutex<Vec<u8>>,
    watcher: OnceLock<Watcher>,
    /// Wakes the task that calls shops, because a new call may be due first.
    pub(super) clock_or_checkouts_changed: Notify,
    /// Wakes the clockwork.
    pub(super) called: Arc<Notify>,
    /// Wakes the task that sends webhooks.
    pub(super) posted: Arc<Notify>,
}

/// The function that receives every event on the connection immediately.
pub(super) type Watcher = Box<dyn Fn(WireEvent<'_>) + Send + Sync>;

impl Shared {
    pub(super) fn new(options: Arc<Options>, base_url: String) -> rusqlite::Result<Self> {
        let host = Host::new(Arc::clone(&options), base_url)?;
        Ok(Self {
            called: Arc::clone(&host.called),
            posted: Arc::clone(&host.posted),
            host: Mutex::new(host),
            options,
            bytes: Arc::default(),
            connections: AtomicU64::new(0),
            handshakes: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            last_payment: Mutex::new(None),
            last_request: Mutex::default(),
            watcher: OnceLock::new(),
            clock_or_checkouts_changed: Notify::new(),
        })
    }

    pub(super) fn watch(&self, watcher: Watcher) -> bool {
        self.watcher.set(watcher).is_ok()
    }

    pub(super) fn sees(&self, seen: WireEvent<'_>) {
        if let Some(watcher) = self.watcher.get() {
            watcher(seen);
        }
    }

    pub(super) fn host(&self) -> MutexGuard<'_, Host> {
        // If a thread panicked while it held the lock, the test has already failed.
        self.host.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn counters(&self) -> GatewayCounters {
        GatewayCounters {
            connections: self.connections.load(Ordering::Relaxed),
            handshakes: self.handshakes.load(Ordering::Relaxed),
            requests: self.requests.load(Ordering::Relaxed),
            bytes_in: self.bytes.received.load(Ordering::Relaxed),
            bytes_out: self.bytes.sent.load(Ordering::Relaxed),
        }
    }

    pub(super) fn last_payment(&self) -> Option<PaymentTimes> {
        let last = self.last_payment.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref()
            .map(|(request_in, clock)| PaymentTimes { request_in: *request_in, answer_out: clock.first_write() })
    }

    pub(super) fn last_request(&self) -> Vec<u8> {
        self.last_request.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn keep_request(&self, head: &Parts, body: &[u8]) {
        let mut request = format!("{} {} HTTP/1.1\r\n", head.method, head.uri).into_bytes();
        for (name, value) in &head.headers {
            request.extend_from_slice(name.as_str().as_bytes());
            request.extend_from_slice(b": ");
            request.extend_from_slice(value.as_bytes());
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        request.extend_from_slice(body);
        *self.last_request.lock().unwrap_or_else(PoisonError::into_inner) = request;
    }
}
