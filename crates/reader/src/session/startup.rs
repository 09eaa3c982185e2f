//! The start-up (readers: 2.14). The family's steps bring the reader to a known state, and report its identity, keys,
//! capabilities and configuration files. The session sets the clock, and checks identity and keys.
//!
//! If the agent was killed, its transaction may still be running. The answers of that transaction may come before the
//! answer to the first steps and are ignored.

use std::time::Duration;

use tracing::debug;

use super::idle;
use super::line::{PLAIN_ANSWER, PendingAnswer, ReaderLine};
use super::next::Next;
use crate::capability::Capability;
use crate::family::{CommandAnswer, CommandPurpose, KeyStatus, ReaderQuestion, StartUpStep};
use crate::{ReaderIdentity, Unready};

/// The interval for asking a reader without a card-data key again. People inject keys within minutes.
const KEY_POLL: Duration = Duration::from_secs(30);

/// The deadline of an answer while a reader is searched. A reader at work answers within half a second.
const SEARCHED_ANSWER: Duration = Duration::from_secs(2);

/// The start-up, with the part of the identity that is known so far.
pub(super) struct StartUp {
    identity: ReaderIdentity,
    /// The number of the current step.
    step: usize,
    /// The time of the next question, if the reader has no key.
    ask_again: Option<Duration>,
}

impl StartUp {
    pub(super) fn new(line: &mut ReaderLine, now: Duration) -> Self {
        line.extended = false;
        line.clock.forget();
        line.keys.forget_told();
        let startup = Self { identity: ReaderIdentity::default(), step: 0, ask_again: None };
        startup.ask(line, now);
        startup
    }

    fn current(&self, line: &ReaderLine) -> Option<StartUpStep> {
        line.speaker.startup().get(self.step).copied()
    }

    /// Asks the question of the current step.
    fn ask(&self, line: &mut ReaderLine, now: Duration) {
        let Some(step) = self.current(line) else { return };
        // A search asks several families, and most of them do not answer.
        let patience = if line.settings.identity_only { SEARCHED_ANSWER } else { PLAIN_ANSWER };
        match step {
            StartUpStep::Keys => line.ask(&ReaderQuestion::KeyStatus, PLAIN_ANSWER, now),
            StartUpStep::CardEvents => line.ask(&ReaderQuestion::CardStatus, PLAIN_ANSWER, now),
            StartUpStep::Clock => idle::ask_clock(line, now),
            step => line.ask(&ReaderQuestion::StartUp(step), patience, now),
        }
    }

    /// Continues with the next step. After the last one, the reader is ready.
    fn go_on(mut self, line: &mut ReaderLine, now: Duration) -> Next<Self> {
        self.step += 1;
        if line.settings.identity_only && self.current(line).is_some_and(|step| !step.is_of_identity()) {
            line.check_at = now + idle::CHECK;
            line.ready(self.identity);
            return Next::Idle;
        }
        let has_no_time = (line.settings.clock)().is_none() && !line.speaker.can(Capability::ClockReading);
        if self.current(line) == Some(StartUpStep::Clock) && has_no_time {
            self.step += 1;
        }
        if self.current(line).is_none() {
            line.ready(self.identity);
            if line.keys.were_told() {
                line.keys_left();
            }
            line.check_at = now + idle::CHECK;
            return Next::Idle;
        }
        self.ask(line, now);
        Next::Stay(self)
    }

    pub(super) fn answered(
        mut self,
        line: &mut ReaderLine,
        pending: PendingAnswer,
        answer: CommandAnswer<'_>,
        now: Duration,
    ) -> Next<Self> {
        match (pending.purpose, answer) {
            (_, CommandAnswer::NotYet) => {
                line.wait_on(pending);
                Next::Stay(self)
            }
            (_, CommandAnswer::Identity { serial, model, firmware, files, tampered }) => {
                let ReaderIdentity { clock, pin_key, .. } = self.identity;
                self.identity =
                    ReaderIdentity { serial, model, firmware, configuration: files, pin_key, tampered, clock };
                self.identified(line, now)
            }
            // The time follows.
            (CommandPurpose::DateSet, _) => Next::Stay(self),
            (_, CommandAnswer::Firmware { model, firmware }) => {
                (self.identity.model, self.identity.firmware) = (model, firmware);
                line.identity = Some(self.identity.clone());
                self.go_on(line, now)
            }
            (_, CommandAnswer::Keys(keys)) => self.keys(line, keys, now),
            (
                CommandPurpose::KeyStatus | CommandPurpose::StartUp(StartUpStep::Identity),
                CommandAnswer::Failed(failure),
            ) => {
                let cause = format!("it answers {} with {:04X} {}", pending.name, failure.code, failure.words);
                Self::wrong_device(line, cause)
            }
            // Every answer to the other steps is accepted. A reader without such a command has only the basic
            // capabilities, names no files, and has no backlight or keys.
            (_, answer) => {
                match answer {
                    CommandAnswer::PinKey { present, left } => {
                        self.identity.pin_key = present;
                        line.keys.told(None, left);
                    }
                    CommandAnswer::Capabilities { extended } => line.extended = extended,
                    CommandAnswer::Files(files) => self.identity.configuration = files,
                    CommandAnswer::Time(time) => self.identity.clock = Some(time),
                    _ => debug!(name = pending.name, "a step of the start-up is done"),
                }
                self.go_on(line, now)
            }
        }
    }

    fn identified(self, line: &mut ReaderLine, now: Duration) -> Next<Self> {
        let serials = &line.settings.serials;
        if !serials.is_empty() && !serials.contains(&self.identity.serial) {
            return Next::Reopen(Unready::NotListed { serial: self.identity.serial });
        }
        line.identity = Some(self.identity.clone());
        self.go_on(line, now)
    }

    fn keys(mut self, line: &mut ReaderLine, keys: KeyStatus, now: Duration) -> Next<Self> {
        if !keys.card {
            line.out.unready(Unready::NoCardKey { serial: self.identity.serial.clone() });
            self.ask_again = Some(now + KEY_POLL);
            return Next::Stay(self);
        }
        self.identity.pin_key = keys.pin.unwrap_or(self.identity.pin_key);
        line.keys.told(keys.card_left, keys.pin_left);
        self.go_on(line, now)
    }

    /// Takes the answer to [`ReaderQuestion::CardStatus`], which is an event in some families.
    pub(super) fn card_status_came(self, line: &mut ReaderLine, now: Duration) -> Next<Self> {
        self.go_on(line, now)
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
            // The step that found no usable key is repeated. Another step's answer cannot replace it.
            self.ask(line, now);
        }
        Next::Stay(self)
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.ask_again
    }

    fn wrong_device(line: &ReaderLine, cause: String) -> Next<Self> {
        let (port, protocol) = (line.settings.port.clone(), line.speaker.protocol());
        Next::Reopen(Unready::WrongDevice { port, protocol, cause })
    }
}
