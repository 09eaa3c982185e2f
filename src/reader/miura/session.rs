//! The rules of a Miura reader without I/O: bytes, orders and time in; packets, events and deadlines out.
//!
//! ```text
//! Closed ─opened─▶ Starting ─▶ Idle ─Arm─▶ Sale ─▶ Removing ─slot empty─▶ Idle
//!    ▲                │ │        └──Type─▶ Typing ─▶ Idle
//!    │                │ └ no SRED key: asked again each KEY_POLL
//!    ├── closed, no or wrong answers ── any state;  clear card data ─▶ Distrusted until the port is opened anew
//!    │── more than any reader says (`flood`) ── any state; closed, and opened after a longer while
//!    └── what cannot be right in this state, sealed data that are not ─▶ Starting
//! ```
//!
//! After each call of `opened`, `closed`, `order`, `bytes` or `timeout`, call [`Session::poll`] until it is empty, then
//! wait for bytes, an order, or [`Session::deadline`]. `now` is the time since any fixed moment.

use std::time::Duration;

use tracing::{debug, warn};

use super::completing::Removing;
use super::idle;
use super::line::{Answered, Line};
use super::message::{Outcome, Status, Unsolicited, split};
use super::reading;
use super::sale::Sale;
use super::startup::Starting;
use super::typing::Asking;
use crate::reader::flood::Allowance;
use crate::reader::link::{Decoder, Fault, MIN_PACKET, Message, Packet, Received};
use crate::reader::miura::event::DeviceStatus;
use crate::reader::{Event, NoAmount, NoCard, Order, Settings, Unready};

/// Silence after which an unfinished packet is given up: a whole packet takes 22 ms at 115200 baud; a radio link may
/// pause.
const PACKET_GAP: Duration = Duration::from_secs(1);

/// Faults of the line that are told since the last order; the others are for who traces.
const TOLD_FAULTS: u32 = 16;

/// What to do.
#[derive(Debug)]
pub enum Output {
    /// Send the packet, in one write.
    Transmit(Packet),
    /// Tell the agent.
    Event(Event),
    /// Close the port, and open it again after this time. What is not sent yet is not sent any more.
    Reopen {
        /// How long to wait.
        after: Duration,
    },
}

/// One reader.
pub struct Session {
    decoder: Decoder,
    silence_at: Option<Duration>,
    /// What the reader may still say.
    allowance: Allowance,
    machine: Machine,
}

impl Session {
    /// A session whose port is not open yet: the port is to be opened, then [`Self::opened`] called.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let machine = Machine { line: Line::new(settings), state: State::Closed, faults: 0 };
        Self { decoder: Decoder::default(), silence_at: None, allowance: Allowance::default(), machine }
    }

    /// The port is open.
    pub fn opened(&mut self, now: Duration) {
        self.decoder = Decoder::default();
        self.silence_at = None;
        self.allowance.fill(now);
        let line = &mut self.machine.line;
        line.forget();
        self.machine.state = State::Starting(Starting::new(line, now));
    }

    /// The port could not be opened, or was closed by the other end.
    pub fn closed(&mut self, cause: &str) {
        self.decoder = Decoder::default();
        self.silence_at = None;
        let line = &mut self.machine.line;
        let port = line.settings.port.clone();
        line.reopen(Unready::Absent { port, cause: cause.to_owned() });
        self.machine.state = State::Closed;
    }

    /// The agent wants something.
    pub fn order(&mut self, order: Order, now: Duration) {
        self.allowance.fill(now);
        self.machine.faults = 0;
        self.machine.order(order, now);
        self.machine.settle(now);
    }

    /// Bytes came.
    pub fn bytes(&mut self, bytes: &[u8], now: Duration) {
        let machine = &mut self.machine;
        if matches!(machine.state, State::Closed) {
            // The port is to be closed: nobody waits for it any more.
            return;
        }
        let mut messages = 0;
        self.decoder.feed(bytes, |received| {
            messages += 1;
            machine.received(received, now);
        });
        if !self.allowance.take(messages, bytes.len(), now) {
            self.decoder = Decoder::default();
            self.silence_at = None;
            self.machine.state = State::Closed;
            return self.machine.line.reopen_after_flood(now);
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
    pub fn poll(&mut self) -> Option<Output> {
        self.machine.line.poll()
    }
}

struct Machine {
    line: Line,
    state: State,
    /// Faults of the line since the last order.
    faults: u32,
}

/// Where the session is. Each state is consumed by what happens and gives the next one.
#[derive(Default)]
pub(super) enum State {
    /// The port is closed.
    #[default]
    Closed,
    /// Start-up.
    Starting(Starting),
    /// The reader sent clear card data. Nothing is taken from it until the port is opened anew.
    Distrusted,
    /// Ready for a sale.
    Idle,
    /// A sale.
    Sale(Box<Sale>),
    /// An amount is typed.
    Typing(Asking),
    /// A sale is over; its card is still in the slot, or the display is being changed.
    Removing(Removing),
}

impl Machine {
    fn received(&mut self, received: Received<'_>, now: Duration) {
        match received {
            Received::Message(message) => self.message(&message, now),
            Received::Fault(fault) => {
                self.faults = self.faults.saturating_add(1);
                if self.faults <= TOLD_FAULTS {
                    warn!(%fault, "line");
                } else {
                    debug!(%fault, "line");
                }
                // Fewer bytes than the shortest packet has are noise: no message can be lost with them.
                if !matches!(fault, Fault::Garbage { bytes: 0..MIN_PACKET }) {
                    self.line.disturbed(now);
                    // A card may have gone in or out unheard.
                    if matches!(self.state, State::Idle | State::Sale(_) | State::Typing(_) | State::Removing(_)) {
                        self.line.ask_card_status(now);
                    }
                }
            }
        }
    }

    fn message(&mut self, message: &Message<'_>, now: Duration) {
        let Ok((body, status)) = split(message.bytes) else { return };
        if matches!(self.state, State::Closed | State::Distrusted) {
            // Only so that the line knows what is answered.
            self.line.answered(body, status);
            return;
        }
        if reading::has_clear_card_data(body) {
            self.state = distrust(&mut self.line, now);
            return;
        }
        if message.unsolicited {
            match Unsolicited::parse(body) {
                Ok(event) => self.unsolicited(event, now),
                Err(error) => {
                    self.faults = self.faults.saturating_add(1);
                    if self.faults <= TOLD_FAULTS {
                        warn!(bytes = message.bytes.len(), %error, "unsolicited message not understood");
                    }
                }
            }
            return;
        }
        let state = std::mem::take(&mut self.state);
        self.state = match self.line.answered(body, status) {
            Answered::Abort => {
                debug!("ABORT answered");
                state
            }
            Answered::Command(pending) => {
                debug!(name = pending.name, ?status, bytes = body.len(), "answer");
                match state {
                    State::Starting(starting) => starting.answered(&mut self.line, pending, body, status, now),
                    State::Sale(sale) => sale.answered(&mut self.line, pending, body, status, now),
                    State::Typing(asking) => asking.answered(&mut self.line, pending, body, status, now),
                    State::Removing(removing) => removing.answered(&mut self.line, pending, body, status, now),
                    other => other,
                }
            }
            Answered::Nobody => {
                debug!(?status, bytes = body.len(), "answer nobody waits for");
                state
            }
        };
    }

    fn unsolicited(&mut self, event: Unsolicited<'_>, now: Duration) {
        debug!(name = event.name(), "unsolicited");
        if let Unsolicited::Card(status) = &event {
            let was_in = std::mem::replace(&mut self.line.slot, status.card_in());
            let answers = self.line.card_status_came();
            self.state = match std::mem::take(&mut self.state) {
                State::Starting(starting) if answers => starting.card_status_came(&mut self.line, now),
                State::Sale(sale) => sale.card_status(&mut self.line, status, was_in, now),
                // For nobody: the bytes are wiped when this returns.
                other => other,
            };
            return;
        }
        if let Unsolicited::Device(DeviceStatus {
            code:
                DeviceStatus::POWERED_ON
                | DeviceStatus::POWERING_OFF
                | DeviceStatus::REBOOTING
                | DeviceStatus::RESTARTING,
            ..
        }) = event
            // On opening a session, and after our own RESET, it is expected.
            && !matches!(self.state, State::Starting(_))
        {
            self.state = State::Closed;
            self.line.reopen(Unready::Restarting { cause: "the reader restarted".to_owned() });
            return;
        }
        self.state = match (std::mem::take(&mut self.state), event) {
            (State::Sale(sale), Unsolicited::Key(key)) => sale.key(&mut self.line, key, now),
            (State::Sale(sale), Unsolicited::Device(status)) => sale.device_status(&mut self.line, &status),
            (other, _) => other,
        };
    }

    fn order(&mut self, order: Order, now: Duration) {
        self.state = match (std::mem::take(&mut self.state), order) {
            (State::Idle, Order::Arm(arm)) => Sale::arm(&mut self.line, arm, now),
            (State::Idle, Order::Type(order)) => Asking::start(&mut self.line, order, now),
            (state, Order::Type(order)) => {
                self.line.emit(Event::Typed { sale: order.sale, amount: Err(NoAmount::NotReady) });
                state
            }
            (state, Order::Arm(arm)) => {
                self.line.emit(Event::NoCard { sale: arm.sale, why: NoCard::NotReady });
                state
            }
            (State::Sale(running), Order::Complete { sale, completion }) if running.number() == sale => {
                running.complete(&mut self.line, &completion, now)
            }
            (State::Sale(running), Order::Cancel { sale }) if running.number() == sale => {
                running.cancel(&mut self.line, now)
            }
            (State::Typing(asking), Order::Cancel { sale }) if asking.number() == sale => {
                asking.cancel(&mut self.line, now)
            }
            (state, order) => {
                let name = if matches!(order, Order::Cancel { .. }) { "cancel" } else { "complete" };
                debug!(name, "order for no sale that is under way");
                state
            }
        };
    }

    fn timeout(&mut self, now: Duration) {
        if self.line.abort_overdue(now) && !matches!(self.state, State::Distrusted) {
            self.state = State::Closed;
            self.line.reopen(Unready::Restarting { cause: "no answer to ABORT".to_owned() });
            return;
        }
        let overdue = self.line.overdue(now);
        self.state = match (std::mem::take(&mut self.state), overdue) {
            (State::Distrusted, _) => {
                self.line.forget();
                State::Distrusted
            }
            (State::Starting(starting), overdue) => starting.timeout(&mut self.line, overdue, now),
            (State::Idle, overdue) => idle::timeout(&mut self.line, overdue, now),
            (State::Sale(_) | State::Typing(_), Some(pending)) if pending.ask.is_aside() => {
                self.line.reopen(Unready::Restarting { cause: format!("no answer to {}", pending.name) });
                State::Closed
            }
            (State::Sale(sale), overdue) => sale.timeout(&mut self.line, overdue, now),
            (State::Typing(asking), overdue) => asking.timeout(&mut self.line, overdue, now),
            (State::Removing(removing), overdue) => removing.timeout(&mut self.line, overdue, now),
            (State::Closed, _) => State::Closed,
        };
    }

    fn deadline(&self) -> Option<Duration> {
        let own = match &self.state {
            State::Starting(starting) => starting.deadline(),
            State::Sale(sale) => sale.deadline(),
            State::Removing(removing) => Some(removing.deadline()),
            State::Idle => Some(self.line.check_at),
            State::Closed | State::Distrusted | State::Typing(_) => None,
        };
        own.into_iter().chain(self.line.deadline()).min()
    }

    /// What follows by itself once the line is free: the next queued command, the end of an ABORT, the end of a sale.
    fn settle(&mut self, now: Duration) {
        self.line.advance(now);
        if !self.line.is_free() {
            return;
        }
        self.state = match std::mem::take(&mut self.state) {
            State::Sale(sale) => sale.line_is_free(&mut self.line, now),
            State::Typing(asking) => asking.line_is_free(&mut self.line),
            state => state,
        };
        if matches!(self.state, State::Removing(_)) && self.line.is_free() && !self.line.slot {
            self.state = State::Idle;
            self.line.emit(Event::Idle);
        }
    }
}

/// Begins anew without closing the port: tells why, and asks for everything again, the keys among it.
pub(super) fn restart(line: &mut Line, why: Unready, now: Duration) -> State {
    line.unready(why);
    line.forget();
    State::Starting(Starting::new(line, now))
}

/// The reader answers that it is in another state than it must be in (9F22, 9F26): it has restarted, and its word about
/// that was lost or never sent.
pub(super) fn lost(line: &mut Line, status: Status, now: Duration) -> State {
    let cause = format!("the reader has lost what it was doing ({})", status.words());
    restart(line, Unready::Restarting { cause }, now)
}

/// The reader sends card data in clear: nothing of it is kept, nothing more is asked of it.
pub(super) fn distrust(line: &mut Line, now: Duration) -> State {
    if line.runs_transaction() {
        line.abort(now);
    }
    let serial = line.serial();
    line.unready(Unready::ClearCardData { serial });
    State::Distrusted
}

/// Reads an answer of START, START CONTACTLESS or CONTINUE: a template, or the status that came instead.
pub(super) fn outcome(body: &[u8], status: Status) -> Result<Outcome<'_>, Status> {
    match status {
        Status::OK => Outcome::parse(body).map_err(|error| {
            warn!(bytes = body.len(), %error, "answer not understood");
            Status::OK
        }),
        other => Err(other),
    }
}
