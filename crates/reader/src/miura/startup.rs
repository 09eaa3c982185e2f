//! The start-up (readers: 2.14). ABORT and RESET bring the reader to a known state. Then come its identity, keys,
//! capabilities and configuration files, the clock, card events, and the keypad.
//!
//! If the agent was killed, its transaction may still be running. The answers of that transaction may come before the
//! answer to RESET and are ignored.

use std::time::Duration;

use tracing::debug;

use super::idle;
use super::line::{CARD_STATUS_ON, CommandPurpose, PLAIN_ANSWER, PendingAnswer, ReaderLine};
use super::message::{
    ClockAnswer, ConfigurationAnswer, DeviceInfoAnswer, MpiCommand, P2peStatus, ResetAnswer, ResetKind, StatusWord,
};
use super::next::Next;
use crate::{ReaderIdentity, Unready};

/// The interval for asking a reader without a card-data key again. People inject keys within minutes.
const KEY_POLL: Duration = Duration::from_secs(30);

/// The start-up, with the part of the identity that is known so far.
pub(super) struct StartUp {
    identity: ReaderIdentity,
    /// The time of the next question, if the reader has no key.
    ask_again: Option<Duration>,
}

impl StartUp {
    pub(super) fn new(line: &mut ReaderLine, now: Duration) -> Self {
        line.extended = false;
        line.clock.forget();
        line.ask(CommandPurpose::FirstAbort, &MpiCommand::Abort, PLAIN_ANSWER, now);
        let identity = ReaderIdentity {
            serial: String::new(),
            model: String::new(),
            firmware: String::new(),
            configuration: Vec::new(),
            pin_key: false,
            clock: None,
        };
        Self { identity, ask_again: None }
    }

    pub(super) fn answered(
        mut self,
        line: &mut ReaderLine,
        pending: PendingAnswer,
        body: &[u8],
        status: StatusWord,
        now: Duration,
    ) -> Next<Self> {
        match pending.purpose {
            CommandPurpose::FirstAbort if body.is_empty() && status == StatusWord::OK => {
                line.ask(CommandPurpose::Reset, &MpiCommand::Reset(ResetKind::Soft), PLAIN_ANSWER, now);
            }
            // This is the end of a transaction from before the start-up, or the second answer to an ABORT.
            CommandPurpose::FirstAbort => line.wait_on(pending),
            CommandPurpose::Reset => match ResetAnswer::parse(body) {
                Ok(reset) if status == StatusWord::OK => return self.identified(line, reset, now),
                _ => line.wait_on(pending),
            },
            CommandPurpose::P2peStatus => match P2peStatus::parse(body) {
                Ok(p2pe) if status == StatusWord::OK => return self.keys(line, p2pe, now),
                _ => return Self::wrong_device(line, format!("it answers P2PE STATUS with {status:?}")),
            },
            // Every answer is accepted. A reader without this command has only the basic capabilities.
            CommandPurpose::DeviceInfo => {
                let info = DeviceInfoAnswer::parse(body).ok().filter(|_| status == StatusWord::OK);
                let name = line.miura.extended_apdu_capability.as_deref();
                line.extended = info.is_some_and(|info| info.extended_apdu(name));
                line.ask(CommandPurpose::Configuration, &MpiCommand::GetConfiguration, PLAIN_ANSWER, now);
            }
            // A reader without this command names no files.
            CommandPurpose::Configuration => {
                let configuration = ConfigurationAnswer::parse(body).ok().filter(|_| status == StatusWord::OK);
                self.identity.configuration = configuration.unwrap_or_default().files;
                self.clock(line, now);
            }
            CommandPurpose::ClockSet => self.card_events_on(line, now),
            CommandPurpose::ClockGet => {
                self.identity.clock = ClockAnswer::parse(body).ok().map(|clock| clock.0);
                self.card_events_on(line, now);
            }
            // Not every model has a backlight or keys, so the reader is ready after any answer.
            CommandPurpose::Keyboard => {
                line.ready(self.identity);
                line.check_at = now + idle::CHECK;
                return Next::Idle;
            }
            _ => debug!(name = pending.name, "unexpected answer during start-up"),
        }
        Next::Stay(self)
    }

    fn identified(mut self, line: &mut ReaderLine, reset: ResetAnswer, now: Duration) -> Next<Self> {
        self.identity.serial = reset.serial;
        if let Some(application) = reset.software.into_iter().next() {
            self.identity.model = application.name;
            self.identity.firmware = application.version;
        }
        let serials = &line.settings.serials;
        if !serials.is_empty() && !serials.contains(&self.identity.serial) {
            return Next::Reopen(Unready::NotListed { serial: self.identity.serial });
        }
        line.identity = Some(self.identity.clone());
        line.ask(CommandPurpose::P2peStatus, &MpiCommand::P2peStatus, PLAIN_ANSWER, now);
        Next::Stay(self)
    }

    fn keys(mut self, line: &mut ReaderLine, p2pe: P2peStatus, now: Duration) -> Next<Self> {
        if !p2pe.card_key() {
            line.out.unready(Unready::NoCardKey { serial: self.identity.serial.clone() });
            self.ask_again = Some(now + KEY_POLL);
            return Next::Stay(self);
        }
        self.identity.pin_key = p2pe.pin_key();
        line.ask(CommandPurpose::DeviceInfo, &MpiCommand::GetDeviceInfo, PLAIN_ANSWER, now);
        Next::Stay(self)
    }

    /// Sets the reader's clock if the board's clock is trusted (design: invariant 8). Otherwise asks for the reader's
    /// own time.
    fn clock(&self, line: &mut ReaderLine, now: Duration) {
        match (line.settings.clock)() {
            Some(time) => {
                line.clock.set(time, now);
                line.ask(CommandPurpose::ClockSet, &MpiCommand::ClockSet(time), PLAIN_ANSWER, now);
            }
            None => line.ask(CommandPurpose::ClockGet, &MpiCommand::ClockGet, PLAIN_ANSWER, now),
        }
    }

    fn card_events_on(&self, line: &mut ReaderLine, now: Duration) {
        line.ask(CommandPurpose::CardStatus, &CARD_STATUS_ON, PLAIN_ANSWER, now);
    }

    pub(super) fn card_status_came(self, line: &mut ReaderLine, now: Duration) -> Next<Self> {
        line.ask(CommandPurpose::Keyboard, &MpiCommand::Keyboard { keys: 1, light: 1 }, PLAIN_ANSWER, now);
        Next::Stay(self)
    }

    pub(super) fn timeout(
        mut self,
        line: &mut ReaderLine,
        overdue: Option<PendingAnswer>,
        now: Duration,
    ) -> Next<Self> {
        if let Some(pending) = overdue {
            return Self::wrong_device(line, format!("no answer to {}", pending.name));
        }
        if self.ask_again.is_some_and(|at| at <= now) {
            self.ask_again = None;
            line.ask(CommandPurpose::P2peStatus, &MpiCommand::P2peStatus, PLAIN_ANSWER, now);
        }
        Next::Stay(self)
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.ask_again
    }

    fn wrong_device(line: &ReaderLine, cause: String) -> Next<Self> {
        let port = line.settings.port.clone();
        Next::Reopen(Unready::WrongDevice { port, protocol: "Miura MPI", cause })
    }
}
