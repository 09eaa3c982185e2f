//! A Miura reader without I/O: bytes, orders and time in; frames, events and deadlines out. Here bytes become messages
//! and a flood is cut off; what a message means for the reader's state is in `machine`.
//!
//! After each call of `opened`, `closed`, `order`, `bytes` or `timeout`, call [`MiuraSession::poll`] until it is empty,
//! then wait for bytes, an order, or [`MiuraSession::deadline`]. `now` is the time since any fixed moment.

use std::time::Duration;

use super::machine::SessionMachine;
use super::settings::MiuraSettings;
use crate::flood::ReaderAllowance;
use crate::outbox::PortAction;
use crate::{ReaderOrder, ReaderSettings};
use pos_reader_link::apdu_link::Decoder;

/// Silence after which an unfinished packet is given up: a whole packet takes 22 ms at 115200 baud; a radio link may
/// pause.
const PACKET_GAP: Duration = Duration::from_secs(1);

/// One reader.
pub struct MiuraSession {
    decoder: Decoder,
    silence_at: Option<Duration>,
    /// What the reader may still say.
    allowance: ReaderAllowance,
    machine: SessionMachine,
}

impl MiuraSession {
    /// A session whose port is not open yet: the port is to be opened, then [`Self::opened`] called.
    #[must_use]
    pub fn new(settings: ReaderSettings, miura: MiuraSettings) -> Self {
        Self {
            decoder: Decoder::default(),
            silence_at: None,
            allowance: ReaderAllowance::default(),
            machine: SessionMachine::new(settings, miura),
        }
    }

    /// The port is open.
    pub fn opened(&mut self, now: Duration) {
        self.forget_bytes();
        self.allowance.fill(now);
        self.machine.opened(now);
    }

    /// The port could not be opened, or was closed by the other end.
    pub fn closed(&mut self, cause: &str) {
        self.forget_bytes();
        self.machine.closed(cause);
    }

    /// The agent wants something.
    pub fn order(&mut self, order: ReaderOrder, now: Duration) {
        self.allowance.fill(now);
        self.machine.order(order, now);
        self.machine.settle(now);
    }

    /// Bytes came.
    pub fn bytes(&mut self, bytes: &[u8], now: Duration) {
        let machine = &mut self.machine;
        if machine.is_closed() {
            // The port is to be closed: nobody waits for it any more.
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
        self.machine.settle(now);
    }

    /// [`Self::deadline`] has passed (or not: then nothing happens).
    pub fn timeout(&mut self, now: Duration) {
        if self.silence_at.is_some_and(|at| at <= now) {
            let machine = &mut self.machine;
            self.decoder.silence(|received| machine.received(received, now));
            self.silence_at = None;
        }
        self.machine.timeout(now);
        self.machine.settle(now);
    }

    /// When to call [`Self::timeout`].
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        self.silence_at.into_iter().chain(self.machine.deadline()).min()
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<PortAction> {
        self.machine.poll()
    }

    fn forget_bytes(&mut self) {
        self.decoder = Decoder::default();
        self.silence_at = None;
    }
}
