//! A Miura reader without I/O. It takes bytes, orders and the time, and returns frames, events and deadlines. This
//! module turns bytes into messages and cuts off a flood. The effect of a message on the reader's state is in
//! `machine`.
//!
//! After each call of `opened`, `closed`, `order`, `bytes` or `timeout`, call [`MiuraSession::poll`] until it returns
//! `None`. Then wait for bytes, an order, or [`MiuraSession::deadline`]. `now` is the time since any fixed moment.

use std::time::Duration;

use super::machine::SessionMachine;
use super::settings::MiuraSettings;
use crate::flood::ReaderAllowance;
use crate::outbox::PortAction;
use crate::{ReaderOrder, ReaderSettings};
use pos_reader_link::apdu_link::Decoder;

/// The silence after which an unfinished packet is dropped. A whole packet takes 22 ms at 115200 baud, but a radio link
/// may pause.
const PACKET_GAP: Duration = Duration::from_secs(1);

/// A session with one reader.
pub struct MiuraSession {
    decoder: Decoder,
    silence_at: Option<Duration>,
    /// The reader's remaining allowance of messages and bytes.
    allowance: ReaderAllowance,
    machine: SessionMachine,
}

impl MiuraSession {
    /// Creates a session whose port is not open yet. Open the port, then call [`Self::opened`].
    #[must_use]
    pub fn new(settings: ReaderSettings, miura: MiuraSettings) -> Self {
        Self {
            decoder: Decoder::default(),
            silence_at: None,
            allowance: ReaderAllowance::default(),
            machine: SessionMachine::new(settings, miura),
        }
    }

    /// Records that the port is open.
    pub fn opened(&mut self, now: Duration) {
        self.forget_bytes();
        self.allowance.fill(now);
        self.machine.opened(now);
    }

    /// Records that the port could not be opened, or that the other end closed it.
    pub fn closed(&mut self, cause: &str) {
        self.forget_bytes();
        self.machine.closed(cause);
    }

    /// Takes an order from the agent.
    pub fn order(&mut self, order: ReaderOrder, now: Duration) {
        self.allowance.fill(now);
        self.machine.order(order, now);
        self.machine.go_on(now);
    }

    /// Takes received bytes.
    pub fn bytes(&mut self, bytes: &[u8], now: Duration) {
        let machine = &mut self.machine;
        if machine.is_closed() {
            // The port will be closed, so the bytes are not used.
            return;
        }
        let mut messages = 0;
        self.decoder.feed(bytes, |received| {
            messages += 1;
            machine.received(received, now);
        });
        if !self.allowance.take(messages, bytes.len(), now) {
            self.forget_bytes();
            return self.machine.flooded(now);
        }
        self.silence_at = self.decoder.is_unfinished().then_some(now + PACKET_GAP);
        self.machine.go_on(now);
    }

    /// Handles the passing of [`Self::deadline`]. Before the deadline it does nothing.
    pub fn timeout(&mut self, now: Duration) {
        if self.silence_at.is_some_and(|at| at <= now) {
            let machine = &mut self.machine;
            self.decoder.silence(|received| machine.received(received, now));
            self.silence_at = None;
        }
        self.machine.timeout(now);
        self.machine.go_on(now);
    }

    /// Returns the time at which to call [`Self::timeout`].
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        self.silence_at.into_iter().chain(self.machine.deadline()).min()
    }

    /// Returns the next action.
    pub fn poll(&mut self) -> Option<PortAction> {
        self.machine.poll()
    }

    fn forget_bytes(&mut self) {
        self.decoder = Decoder::default();
        self.silence_at = None;
    }
}
