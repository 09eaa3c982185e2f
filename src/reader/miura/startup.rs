//! Start-up (readers: 2.14): ABORT and RESET bring the reader to a known state, then identity, its keys, what it can
//! do, what it is configured by, the clock, card events, the keypad.
//!
//! A transaction of a program that died may still be running: its answers may come before RESET's and are passed over.

use std::time::Duration;

use tracing::debug;

use super::idle;
use super::line::{Ask, CARD_STATUS_ON, Line, PLAIN_ANSWER, Pending};
use super::message::{Clock, Command, Configuration, DeviceInfo, P2peStatus, Reset, ResetAnswer, Status};
use super::session::State;
use crate::reader::{Identity, Unready};

/// How often a reader without a card-data key is asked whether it has one now; keys are injected by hand, in minutes.
const KEY_POLL: Duration = Duration::from_secs(30);

/// The identity as far as it is known.
pub(super) struct Starting {
    identity: Identity,
    /// No key: when to ask again.
    ask_again: Option<Duration>,
}

impl Starting {
    pub(super) fn new(line: &mut Line, now: Duration) -> Self {
        line.extended = false;
        line.clock.forget();
        line.ask(Ask::FirstAbort, &Command::Abort, PLAIN_ANSWER, now);
        let identity = Identity {
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
        line: &mut Line,
        pending: Pending,
        body: &[u8],
        status: Status,
        now: Duration,
    ) -> State {
        match pending.ask {
            Ask::FirstAbort if body.is_empty() && status == Status::OK => {
                line.ask(Ask::Reset, &Command::Reset(Reset::Soft), PLAIN_ANSWER, now);
            }
            // The end of somebody else's transaction, or an ABORT's second answer.
            Ask::FirstAbort => line.wait_on(pending),
            Ask::Reset => match ResetAnswer::parse(body) {
                Ok(reset) if status == Status::OK => {
                    self.identity.serial = reset.serial;
                    if let Some(application) = reset.software.into_iter().next() {
                        self.identity.model = application.name;
                        self.identity.firmware = application.version;
                    }
                    let serials = &line.settings.serials;
                    if !serials.is_empty() && !serials.contains(&self.identity.serial) {
                        line.reopen(Unready::NotListed { serial: self.identity.serial });
                        return State::Closed;
                    }
                    line.identity = Some(self.identity.clone());
                    line.ask(Ask::P2peStatus, &Command::P2peStatus, PLAIN_ANSWER, now);
                }
                _ => line.wait_on(pending),
            },
            Ask::P2peStatus => match P2peStatus::parse(body) {
                Ok(p2pe) if status == Status::OK => return self.keys(line, p2pe, now),
                _ => return wrong_device(line, format!("it answers P2PE STATUS with {status:?}")),
            },
            // Whatever it answers: a reader that knows no such command has no capability beyond the plain ones.
            Ask::DeviceInfo => {
                let info = DeviceInfo::parse(body).ok().filter(|_| status == Status::OK);
                let name = line.settings.extended_apdu_capability.as_deref();
                line.extended = info.is_some_and(|info| info.extended_apdu(name));
                line.ask(Ask::Configuration, &Command::GetConfiguration, PLAIN_ANSWER, now);
            }
            // A reader that knows no such command tells nothing.
            Ask::Configuration => {
                let configuration = Configuration::parse(body).ok().filter(|_| status == Status::OK);
                self.identity.configuration = configuration.unwrap_or_default().files;
                self.clock(line, now);
            }
            Ask::ClockSet => self.card_events_on(line, now),
            Ask::ClockGet => {
                self.identity.clock = Clock::parse(body).ok().map(|clock| clock.0);
                self.card_events_on(line, now);
            }
            // Not every model has a backlight or keys: whatever it says, it is ready.
            Ask::Keyboard => {
                line.ready(self.identity);
                line.check_at = now + idle::CHECK;
                return State::Idle;
            }
            _ => debug!(name = pending.name, "answer to nothing of the start-up"),
        }
        State::Starting(self)
    }

    fn keys(mut self, line: &mut Line, p2pe: P2peStatus, now: Duration) -> State {
        if !p2pe.card_key() {
            line.unready(Unready::NoCardKey { serial: self.identity.serial.clone() });
            self.ask_again = Some(now + KEY_POLL);
            return State::Starting(self);
        }
        self.identity.pin_key = p2pe.pin_key();
        line.ask(Ask::DeviceInfo, &Command::GetDeviceInfo, PLAIN_ANSWER, now);
        State::Starting(self)
    }

    /// Only a trusted clock may set the reader's (design: invariant 8); otherwise the reader's own is reported.
    fn clock(&self, line: &mut Line, now: Duration) {
        match (line.settings.clock)() {
            Some(time) => {
                line.clock.set(time, now);
                line.ask(Ask::ClockSet, &Command::ClockSet(time), PLAIN_ANSWER, now);
            }
            None => line.ask(Ask::ClockGet, &Command::ClockGet, PLAIN_ANSWER, now),
        }
    }

    fn card_events_on(&self, line: &mut Line, now: Duration) {
        line.ask(Ask::CardStatus, &CARD_STATUS_ON, PLAIN_ANSWER, now);
    }

    pub(super) fn card_status_came(self, line: &mut Line, now: Duration) -> State {
        line.ask(Ask::Keyboard, &Command::Keyboard { keys: 1, light: 1 }, PLAIN_ANSWER, now);
        State::Starting(self)
    }

    pub(super) fn timeout(mut self, line: &mut Line, overdue: Option<Pending>, now: Duration) -> State {
        if let Some(pending) = overdue {
            return wrong_device(line, format!("no answer to {}", pending.name));
        }
        if self.ask_again.is_some_and(|at| at <= now) {
            self.ask_again = None;
            line.ask(Ask::P2peStatus, &Command::P2peStatus, PLAIN_ANSWER, now);
        }
        State::Starting(self)
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.ask_again
    }
}

fn wrong_device(line: &mut Line, cause: String) -> State {
    let port = line.settings.port.clone();
    line.reopen(Unready::WrongDevice { port, protocol: "Miura MPI", cause });
    State::Closed
}
