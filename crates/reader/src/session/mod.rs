//! A session with one reader, without I/O. It takes bytes, orders and the time, and returns frames, events and
//! deadlines. The rules are the same for every family of readers. The session arms every interface, checks amount and
//! currency, and accepts each key once. It refuses clear card data, ends the race between a card and an abort, and
//! waits for nothing without a deadline.
//!
//! After each call of `opened`, `closed`, `order`, `bytes` or `timeout`, call [`ReaderSession::poll`] until it returns
//! `None`. Then wait for bytes, an order, or [`ReaderSession::deadline`]. `now` is the time since any fixed moment.
//!
//! The files in order. Each uses only those above it:
//!
//! | file | content |
//! |---|---|
//! | `line` | one command at a time, its deadline, the abort |
//! | `display` | the session's own texts on the reader |
//! | `next` | the result of a stage |
//! | `completing` | from the read card to the card's last answer, with the gateway's answer |
//! | `sale`, then `waiting`, `contact`, `swipe`, `manual`, `stopping` | a transaction up to the read card |
//! | `idle`, `startup`, `typing`, `card_removal` | idle, start-up, a typed amount or tip, the end of a transaction |
//! | `machine` | the choice of the stage that takes an event, and the next state |
//! | this file | the outer layer with bytes, floods and deadlines, which a `driver` runs |

mod card_removal;
mod completing;
mod contact;
mod display;
mod idle;
mod line;
mod machine;
mod manual;
mod next;
mod sale;
mod startup;
mod stopping;
mod swipe;
mod typing;
mod waiting;

use std::time::Duration;

use tracing::debug;

use self::machine::SessionMachine;
use crate::family::{Family, FamilyParts, Framed, Framing, Listener};
use crate::flood::ReaderAllowance;
use crate::outbox::PortAction;
use crate::recording::SessionRecorder;
use crate::{ReaderOrder, ReaderSettings};

/// The silence after which an unfinished message is dropped. A whole packet of Miura takes 22 ms at 115200 baud, but a
/// radio link may pause.
const MESSAGE_GAP: Duration = Duration::from_secs(1);

/// A session with one reader.
pub struct ReaderSession {
    framing: Box<dyn Framing>,
    listener: Box<dyn Listener>,
    silence_at: Option<Duration>,
    /// The reader's remaining allowance of messages and bytes.
    allowance: ReaderAllowance,
    machine: SessionMachine,
    recorder: Option<SessionRecorder>,
}

impl ReaderSession {
    /// Creates a session whose port is not open yet. Open the port, then call [`Self::opened`].
    #[must_use]
    pub fn new(mut settings: ReaderSettings, family: impl Family) -> Self {
        let FamilyParts { framing, listener, speaker, recording } = family.parts();
        let recorder = SessionRecorder::of(&mut settings, recording);
        Self {
            framing,
            listener,
            silence_at: None,
            allowance: ReaderAllowance::default(),
            machine: SessionMachine::new(settings, speaker),
            recorder,
        }
    }

    /// Records that the port is open.
    pub fn opened(&mut self, now: Duration) {
        self.record(|recorder| recorder.opened(now));
        self.forget_bytes();
        self.allowance.fill(now);
        self.machine.opened(now);
    }

    /// Records that the port could not be opened, or that the other end closed it.
    pub fn closed(&mut self, cause: &str) {
        self.record(|recorder| recorder.closed(cause));
        self.forget_bytes();
        self.machine.closed(cause);
    }

    /// Takes an order from the agent.
    pub fn order(&mut self, order: ReaderOrder, now: Duration) {
        self.record(|recorder| recorder.ordered(&order, now));
        self.allowance.fill(now);
        self.machine.order(order, now);
        self.machine.go_on(now);
    }

    /// Takes received bytes.
    pub fn bytes(&mut self, bytes: &[u8], now: Duration) {
        if self.machine.is_closed() {
            // The port will be closed, so the bytes are not used.
            return;
        }
        self.record(|recorder| recorder.received(bytes, now));
        let mut messages = 0;
        let Self { framing, listener, machine, recorder, .. } = self;
        framing.feed(bytes, &mut |framed| {
            messages += 1;
            take(machine, &mut **listener, recorder, framed, now);
        });
        self.record(SessionRecorder::write);
        if !self.allowance.take(messages, bytes.len(), now) {
            self.forget_bytes();
            return self.machine.flooded(now);
        }
        self.silence_at = self.framing.is_unfinished().then_some(now + MESSAGE_GAP);
        self.machine.go_on(now);
    }

    /// Handles the passing of [`Self::deadline`]. Before the deadline it does nothing.
    pub fn timeout(&mut self, now: Duration) {
        self.record(|recorder| recorder.passed(now));
        if self.silence_at.is_some_and(|at| at <= now) {
            self.record(SessionRecorder::silence);
            let Self { framing, listener, machine, recorder, .. } = self;
            framing.silence(&mut |framed| take(machine, &mut **listener, recorder, framed, now));
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
        let (action, command) = self.machine.poll()?;
        self.record(|recorder| recorder.did(&action, command));
        Some(action)
    }

    fn record(&mut self, what: impl FnOnce(&mut SessionRecorder)) {
        self.recorder.as_mut().map(what);
    }

    fn forget_bytes(&mut self) {
        self.framing.forget();
        self.listener.forget();
        self.silence_at = None;
    }
}

fn take(
    machine: &mut SessionMachine,
    listener: &mut dyn Listener,
    recorder: &mut Option<SessionRecorder>,
    framed: Framed<'_>,
    now: Duration,
) {
    match framed {
        Framed::Message(message) => {
            if machine.starts_up() {
                listener.forget();
            }
            debug!(bytes = message.bytes.len(), unsolicited = message.unsolicited, "message");
            let heard = listener.read(&message, machine.awaited());
            if let Some(recorder) = recorder {
                recorder.meant(&heard);
            }
            machine.heard(heard, now);
        }
        Framed::Fault { fault, may_be_a_message } => machine.fault(fault, may_be_a_message, now),
    }
}
