//! Traffic counters of the gateway, for tests and benchmarks.

use std::time::Instant;

/// The traffic counters since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GatewayCounters {
    /// TCP connections accepted.
    pub connections: u64,
    /// TLS handshakes completed.
    pub handshakes: u64,
    /// HTTP requests whose headers were read.
    pub requests: u64,
    /// Bytes received, including TLS records.
    pub bytes_in: u64,
    /// Bytes sent, including TLS records.
    pub bytes_out: u64,
}

/// The times of the latest `POST /v1/payments` and its answer, measured at the TCP socket.
#[derive(Clone, Copy, Debug)]
pub struct PaymentTimes {
    /// The time when the last bytes of the request were read.
    pub request_in: Instant,
    /// The time when the first bytes of the answer were written; `None` before that.
    pub answer_out: Option<Instant>,
}

/// An event on the connection, reported immediately, for a test that acts at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireEvent<'a> {
    /// A client has connected, and nothing was read.
    Connection,
    /// A whole request was read, but not processed.
    Request {
        /// The request's method.
        method: &'a str,
        /// The request's path.
        path: &'a str,
    },
    /// The request was processed or refused, and nothing of the answer was written.
    Answer {
        /// The request's method.
        method: &'a str,
        /// The request's path.
        path: &'a str,
    },
}
