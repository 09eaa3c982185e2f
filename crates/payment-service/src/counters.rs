//! What the wire has seen, for tests and benchmarks that ask.

use std::time::Instant;

/// What the wire has seen since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GatewayCounters {
    /// TCP connections accepted.
    pub connections: u64,
    /// TLS handshakes completed.
    pub handshakes: u64,
    /// HTTP requests, of which the head was read.
    pub requests: u64,
    /// Bytes received, TLS records and all.
    pub bytes_in: u64,
    /// Bytes sent, TLS records and all.
    pub bytes_out: u64,
}

/// When the latest `POST /v1/payments` came and went, at the TCP socket.
#[derive(Clone, Copy, Debug)]
pub struct PaymentTimes {
    /// The last bytes of the request were read.
    pub request_in: Instant,
    /// The first bytes of the answer were written; `None` while there are none.
    pub answer_out: Option<Instant>,
}

/// What the wire sees in the moment it does, for a test that acts in that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireEvent<'a> {
    /// Somebody has connected; nothing was read yet.
    Connection,
    /// A whole request was read; nothing was done about it yet.
    Request {
        /// Its method.
        method: &'a str,
        /// Its path.
        path: &'a str,
    },
    /// The request was carried out, or not; nothing of the answer was written yet.
    Answer {
        /// The request's method.
        method: &'a str,
        /// The request's path.
        path: &'a str,
    },
}
