//! The states of a reader. This module passes each message, order or time to the current stage, and sets the next
//! state.
//!
//! ```text
//! Closed ─opened─▶ StartUp ─▶ Idle ─Arm─▶ Sale ─▶ CardRemoval ─slot empty─▶ Idle
//!    ▲               │ │        └─TypeAmount─▶ AmountEntry ─▶ Idle
//!    │               │ └ no SRED key: asked again each KEY_POLL
//!    ├── closed, no or wrong answers ── any state;  clear card data ─▶ Distrusted until the port is opened again
//!    │── more data than any reader sends (`flood`) ── any state; closed, and opened after a longer while
//!    └── an impossible answer in this state, wrongly sealed data ─▶ StartUp
//! ```

use std::time::Duration;

use tracing::{debug, warn};

use super::card_removal::CardRemoval;
use super::display::display_text;
use super::idle;
use super::line::{PendingAnswer, ReaderLine};
use super::next::Next;
use super::sale::SaleAtReader;
use super::startup::StartUp;
use super::typing::AmountEntry;
use crate::family::{CommandAnswer, CommandFailure, MessageMeaning, Outstanding, ReaderNotice, Speaker};
use crate::outbox::PortAction;
use crate::{NoAmount, NoCard, ReaderEvent, ReaderOrder, ReaderSettings, Unready};

/// Maximum number of line faults since the last order that are logged as warnings. Further faults appear only in a
/// trace.
const TOLD_FAULTS: u32 = 16;

/// The reader's state and its line.
pub(super) struct SessionMachine {
    line: ReaderLine,
    state: SessionState,
    /// The number of line faults since the last order.
    faults: u32,
}

/// The state of the session. Each event consumes the state and produces the next one.
#[derive(Default)]
enum SessionState {
    /// The port is closed.
    #[default]
    Closed,
    /// Start-up.
    StartUp(StartUp),
    /// The reader sent clear card data. The agent accepts nothing from it until the port is opened again.
    Distrusted,
    /// Ready for a transaction.
    Idle,
    /// A transaction.
    Sale(Box<SaleAtReader>),
    /// An amount is being typed.
    AmountEntry(AmountEntry),
    /// A transaction is over. Its card may still be in the slot, or the display is being changed.
    CardRemoval(CardRemoval),
}

impl SessionMachine {
    pub(super) fn new(settings: ReaderSettings, speaker: Box<dyn Speaker>) -> Self {
        Self { line: ReaderLine::new(settings, speaker), state: SessionState::Closed, faults: 0 }
    }

    pub(super) fn opened(&mut self, now: Duration) {
        self.line.forget();
        self.state = SessionState::StartUp(StartUp::new(&mut self.line, now));
    }

    pub(super) fn closed(&mut self, cause: &str) {
        self.line.port_lost(cause);
        self.state = SessionState::Closed;
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self.state, SessionState::Closed)
    }

    /// Closes the line of a reader that sends without end.
    pub(super) fn flooded(&mut self, now: Duration) {
        self.state = SessionState::Closed;
        self.line.reopen_after_flood(now);
    }

    pub(super) fn poll(&mut self) -> Option<(PortAction, &'static str)> {
        self.line.out.poll()
    }

    /// Returns the outstanding commands.
    pub(super) fn awaited(&self) -> Outstanding {
        self.line.awaited()
    }

    /// Returns whether a start-up is running. What earlier messages have said is then forgotten.
    pub(super) fn starts_up(&self) -> bool {
        matches!(self.state, SessionState::StartUp(_))
    }

    /// Takes note of lost bytes.
    pub(super) fn fault(&mut self, fault: &dyn std::fmt::Display, may_be_a_message: bool, now: Duration) {
        self.warn(fault);
        if !may_be_a_message {
            return;
        }
        self.line.disturbed(now);
        // The message about a card that went in or out may be lost.
        if matches!(
            self.state,
            SessionState::Idle | SessionState::Sale(_) | SessionState::AmountEntry(_) | SessionState::CardRemoval(_)
        ) {
            self.line.ask_card_status(now);
        }
    }

    /// Logs a fault of the line. After the first ones, faults appear only in a trace.
    fn warn(&mut self, fault: &dyn std::fmt::Display) {
        self.faults = self.faults.saturating_add(1);
        if self.faults <= TOLD_FAULTS {
            warn!(%fault, "line");
        } else {
            debug!(%fault, "line");
        }
    }

    /// Takes a message that the family has read.
    pub(super) fn heard(&mut self, heard: MessageMeaning<'_>, now: Duration) {
        let is_deaf = matches!(self.state, SessionState::Closed | SessionState::Distrusted);
        match heard {
            MessageMeaning::AbortDone { command } => {
                debug!("ABORT answered");
                self.line.aborted(command, now);
            }
            // The line needs the answer only to know which command is answered.
            MessageMeaning::Answer(_) if is_deaf => {
                self.line.take_answered();
            }
            _ if is_deaf => {}
            MessageMeaning::ClearCardData => self.distrust(now),
            MessageMeaning::Answer(answer) => match self.line.take_answered() {
                Some(pending) => self.answered(pending, answer, now),
                None => debug!("unexpected answer"),
            },
            MessageMeaning::Begun => debug!("the command has begun"),
            MessageMeaning::Reply(frames) => self.line.reply(frames),
            MessageMeaning::Event(event) => self.event(event, now),
            MessageMeaning::NotUnderstood(why) => self.warn(&format_args!("message not understood: {why}")),
            MessageMeaning::Nothing => debug!("unexpected answer"),
        }
    }

    fn answered(&mut self, pending: PendingAnswer, answer: CommandAnswer<'_>, now: Duration) {
        match &answer {
            CommandAnswer::Failed(CommandFailure { code, words, .. }) => {
                debug!(name = pending.name, code = %format_args!("{code:04X}"), words, "answer");
            }
            _ => debug!(name = pending.name, "answer"),
        }
        let line = &mut self.line;
        match std::mem::take(&mut self.state) {
            SessionState::StartUp(startup) => {
                let next = startup.answered(line, pending, answer, now);
                self.follow(next, SessionState::StartUp, now);
            }
            SessionState::Sale(sale) => {
                let next = sale.answered(line, pending, answer, now);
                self.follow(next, SessionState::Sale, now);
            }
            SessionState::AmountEntry(entry) => {
                let next = entry.answered(line, pending, &answer);
                self.follow(next, SessionState::AmountEntry, now);
            }
            SessionState::CardRemoval(removal) => {
                let next = removal.answered(line, pending, &answer);
                self.follow(next, SessionState::CardRemoval, now);
            }
            other => self.state = other,
        }
    }

    fn event(&mut self, event: ReaderNotice<'_>, now: Duration) {
        debug!(name = event.name(), "unsolicited");
        let line = &mut self.line;
        match (std::mem::take(&mut self.state), event) {
            (state, ReaderNotice::Card { card_in, swipe }) => {
                let was_in = std::mem::replace(&mut line.slot, card_in);
                let answers = line.card_status_came();
                match state {
                    SessionState::StartUp(startup) if answers => {
                        let next = startup.card_status_came(line, now);
                        self.follow(next, SessionState::StartUp, now);
                    }
                    SessionState::Sale(sale) => {
                        let next = sale.card_status(line, swipe, was_in, now);
                        self.follow(next, SessionState::Sale, now);
                    }
                    // No state needs the message, so its bytes are wiped when this function returns.
                    other => self.state = other,
                }
            }
            // A restart is expected when a session opens, and after the agent's own RESET.
            (SessionState::StartUp(startup), ReaderNotice::Restarted) => self.state = SessionState::StartUp(startup),
            (_, ReaderNotice::Restarted) => {
                line.reopen(Unready::Restarting { cause: "the reader restarted".to_owned() });
            }
            (SessionState::Sale(sale), ReaderNotice::CancelKey) => {
                let next = sale.cancel_key(line, now);
                self.follow(next, SessionState::Sale, now);
            }
            (SessionState::Sale(sale), ReaderNotice::Step(step)) => {
                let next = sale.device_step(line, &step);
                self.follow(next, SessionState::Sale, now);
            }
            (other, _) => self.state = other,
        }
    }

    pub(super) fn order(&mut self, order: ReaderOrder, now: Duration) {
        self.faults = 0;
        let line = &mut self.line;
        match (std::mem::take(&mut self.state), order) {
            (SessionState::Idle, ReaderOrder::Arm(arm)) => {
                let next = SaleAtReader::arm(line, arm, now);
                self.follow(next, SessionState::Sale, now);
            }
            (SessionState::Idle, ReaderOrder::TypeAmount(order)) => {
                let next = AmountEntry::start(line, order, now);
                self.follow(next, SessionState::AmountEntry, now);
            }
            (SessionState::Idle, ReaderOrder::Show { text }) => {
                display_text(line, &text, now);
                self.state = SessionState::Idle;
            }
            (SessionState::Idle, ReaderOrder::SetClock) => {
                idle::set_clock(line, now);
                self.state = SessionState::Idle;
            }
            (state, ReaderOrder::SetClock) => {
                line.clock_is_due = true;
                self.state = state;
            }
            (state, ReaderOrder::TypeAmount(order)) => {
                line.report(ReaderEvent::Typed { sale: order.sale, amount: Err(NoAmount::NotReady) });
                self.state = state;
            }
            (state, ReaderOrder::Arm(arm)) => {
                line.report(ReaderEvent::NoCard { sale: arm.sale, why: NoCard::NotReady });
                self.state = state;
            }
            (SessionState::Sale(running), ReaderOrder::Complete { sale, completion }) if running.number() == sale => {
                let next = running.complete(line, &completion, now);
                self.follow(next, SessionState::Sale, now);
            }
            (SessionState::Sale(running), ReaderOrder::Cancel { sale }) if running.number() == sale => {
                let next = running.cancel(line, now);
                self.follow(next, SessionState::Sale, now);
            }
            (SessionState::AmountEntry(entry), ReaderOrder::Cancel { sale }) if entry.number() == sale => {
                let next = entry.cancel(line, now);
                self.follow(next, SessionState::AmountEntry, now);
            }
            (state, order) => {
                let name = match order {
                    ReaderOrder::Cancel { .. } => "cancel",
                    ReaderOrder::Show { .. } => "show",
                    _ => "complete",
                };
                debug!(name, "order not possible now");
                self.state = state;
            }
        }
    }

    pub(super) fn timeout(&mut self, now: Duration) {
        let line = &mut self.line;
        if line.abort_overdue(now) && !matches!(self.state, SessionState::Distrusted) {
            line.reopen(Unready::Restarting { cause: "no answer to ABORT".to_owned() });
            self.state = SessionState::Closed;
            return;
        }
        let overdue = line.overdue(now);
        match (std::mem::take(&mut self.state), overdue) {
            (SessionState::Distrusted, _) => {
                line.forget();
                self.state = SessionState::Distrusted;
            }
            (SessionState::StartUp(startup), overdue) => {
                let next = startup.timeout(line, overdue, now);
                self.follow(next, SessionState::StartUp, now);
            }
            (SessionState::Idle, overdue) => {
                let next = idle::timeout(line, overdue, now);
                self.follow(next, |()| SessionState::Idle, now);
            }
            (SessionState::Sale(_) | SessionState::AmountEntry(_), Some(pending)) if pending.purpose.is_aside() => {
                self.follow(Next::unanswered(pending.name), |()| SessionState::Closed, now);
            }
            (SessionState::Sale(sale), overdue) => {
                let next = sale.timeout(line, overdue, now);
                self.follow(next, SessionState::Sale, now);
            }
            (SessionState::AmountEntry(entry), overdue) => {
                let next = entry.timeout(line, overdue, now);
                self.follow(next, SessionState::AmountEntry, now);
            }
            (SessionState::CardRemoval(removal), overdue) => {
                let next = removal.timeout(line, overdue, now);
                self.follow(next, SessionState::CardRemoval, now);
            }
            (SessionState::Closed, _) => {}
        }
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        let own = match &self.state {
            SessionState::StartUp(startup) => startup.deadline(),
            SessionState::Sale(sale) => sale.deadline(),
            SessionState::CardRemoval(removal) => Some(removal.deadline()),
            SessionState::Idle if self.line.clock_is_due => Some(Duration::ZERO),
            SessionState::Idle => Some(self.line.check_at),
            SessionState::Closed | SessionState::Distrusted | SessionState::AmountEntry(_) => None,
        };
        own.into_iter().chain(self.line.deadline()).min()
    }

    /// Continues when the line is free: with the next queued command, the end of an ABORT, or the end of a transaction.
    pub(super) fn go_on(&mut self, now: Duration) {
        self.line.advance(now);
        if !self.line.is_free() {
            return;
        }
        match std::mem::take(&mut self.state) {
            SessionState::Sale(sale) => {
                let next = sale.line_is_free(&mut self.line, now);
                self.follow(next, SessionState::Sale, now);
            }
            SessionState::AmountEntry(entry) => {
                let next = entry.line_is_free(&mut self.line);
                self.follow(next, SessionState::AmountEntry, now);
            }
            state => self.state = state,
        }
        if matches!(self.state, SessionState::CardRemoval(_)) && self.line.is_free() && !self.line.slot {
            self.state = SessionState::Idle;
            self.line.report(ReaderEvent::Idle);
        }
    }

    /// Carries out the result of a stage. `stay` wraps the stage in its state.
    fn follow<S>(&mut self, next: Next<S>, stay: impl FnOnce(S) -> SessionState, now: Duration) {
        let line = &mut self.line;
        self.state = match next {
            Next::Stay(stage) => stay(stage),
            Next::Idle => SessionState::Idle,
            Next::SaleOver(over) => SessionState::CardRemoval(CardRemoval::start(line, over, now)),
            Next::StartAnew(why) => {
                line.out.unready(why);
                line.forget();
                SessionState::StartUp(StartUp::new(line, now))
            }
            Next::Reopen(why) => {
                line.reopen(why);
                SessionState::Closed
            }
            Next::Distrust => return self.distrust(now),
        };
    }

    /// Stops accepting data from a reader that sends clear card data.
    fn distrust(&mut self, now: Duration) {
        if self.line.runs_transaction() {
            self.line.abort(now);
        }
        let serial = self.line.serial();
        self.line.out.unready(Unready::ClearCardData { serial });
        self.state = SessionState::Distrusted;
    }
}
