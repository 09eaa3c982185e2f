//! The health of this program, by which an update is judged. It compares the devices that have answered this program
//! with those that answered the previous one.
//!
//! The agent writes its record at each start, which also shows that the journal can be written. It writes again at the
//! first answer of reader or gateway in a run, and at an orderly stop. It writes other changes at most once per
//! [`AGAIN`], because a loose cable must not wear out the board's storage. It never writes while a transaction is at
//! the reader.

use std::time::Duration;

use crate::till::{Health, HealthView, JournalState};
use pos_journal::Program;
use pos_words::Sentence;

use super::clock;
use super::journal_writer::{JOURNAL_RETRY, JournalWriter};
use super::views::states::state_of_journal;

/// The shortest interval between two writes of repeated changes.
const AGAIN: Duration = Duration::from_secs(600);

/// Returns the name of this program, as the journal stores it.
#[must_use]
pub fn this_program() -> String {
    format!("{}, built {}", env!("CARGO_PKG_VERSION"), clock::said(clock::built_unix_ms()))
}

/// The devices that answer at this moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answers {
    pub(super) reader: bool,
    pub(super) gateway: bool,
}

/// The devices that have answered.
#[derive(Debug)]
pub(super) struct Answered {
    /// This program's row on the disk; `None` while it has none.
    written: Option<Program>,
    before: Option<Program>,
    /// The time when the row was last written, or when a write last failed.
    tried: Duration,
    /// The reason why the last write failed.
    trouble: Option<(JournalState, String)>,
    /// True if the device has answered in this run.
    reader_ever: bool,
    gateway_ever: bool,
}

impl Answered {
    /// Records that this program has started.
    pub(super) fn begin(journal: &mut JournalWriter) -> Self {
        let mut answered = Self {
            written: None,
            before: None,
            tried: Duration::ZERO,
            trouble: None,
            reader_ever: false,
            gateway_ever: false,
        };
        answered.try_to_begin(journal);
        answered
    }

    fn try_to_begin(&mut self, journal: &mut JournalWriter) {
        match journal.program_began(&this_program()) {
            Ok((now, before)) => (self.written, self.before, self.trouble) = (Some(now), before, None),
            Err(error) => {
                if self.trouble.is_none() {
                    tracing::error!(%error, "the journal could not be written at the start");
                }
                self.trouble = Some((state_of_journal(&error), error.to_string()));
            }
        }
    }

    /// Returns the reason why the last write to the journal failed.
    pub(super) fn trouble(&self) -> Option<(JournalState, Sentence)> {
        self.trouble.as_ref().map(|(state, why)| (*state, why.as_str().into()))
    }

    /// Returns the row to write. Returns `None` if the row is on the disk already or must wait.
    fn due(&self, reader: bool, gateway: bool, now: Duration) -> Option<Program> {
        let written = self.written.as_ref()?;
        let first = (reader && !self.reader_ever) || (gateway && !self.gateway_ever);
        let waited = now.saturating_sub(self.tried) >= if self.trouble.is_some() { JOURNAL_RETRY } else { AGAIN };
        let is_new = (written.reader, written.gateway) != (reader, gateway);
        (is_new && (first || waited)).then(|| as_it_is(written, reader, gateway))
    }

    /// Writes the row.
    fn write(&mut self, journal: &mut JournalWriter, program: Program, now: Duration) {
        self.tried = now;
        match journal.program_heard(&program) {
            Ok(()) => (self.written, self.trouble) = (Some(program), None),
            Err(error) => {
                if self.trouble.is_none() {
                    tracing::warn!(%error, "the record of the devices that answered this program could not be written");
                }
                self.trouble = Some((state_of_journal(&error), error.to_string()));
            }
        }
    }
}

/// Returns the program's row with these answers.
fn as_it_is(written: &Program, reader: bool, gateway: bool) -> Program {
    Program {
        name: written.name.clone(),
        reader_ever: written.reader_ever || reader,
        gateway_ever: written.gateway_ever || gateway,
        reader,
        gateway,
    }
}

impl Answered {
    /// Records the devices that answer. This is cheap if nothing has to be written.
    pub(super) fn note(&mut self, journal: &mut JournalWriter, Answers { reader, gateway }: Answers, now: Duration) {
        if self.written.is_none() && now.saturating_sub(self.tried) >= JOURNAL_RETRY {
            self.tried = now;
            self.try_to_begin(journal);
        }
        if let Some(program) = self.due(reader, gateway, now) {
            self.write(journal, program, now);
            self.reader_ever |= reader;
            self.gateway_ever |= gateway;
        }
    }

    /// Records the end of this run. The next program is compared with the devices that answer at this moment.
    pub(super) fn note_the_end(
        &mut self,
        journal: &mut JournalWriter,
        Answers { reader, gateway }: Answers,
        now: Duration,
    ) {
        let Some(written) = &self.written else { return };
        let program = as_it_is(written, reader, gateway);
        if program != *written {
            self.write(journal, program, now);
        }
    }

    /// Returns the health of this program, as far as it can be seen. `fault` is the reason why the journal cannot be
    /// written.
    pub(super) fn health(&self, fault: Option<String>, Answers { reader, gateway }: Answers) -> HealthView {
        let Self { written, before, trouble, .. } = self;
        let ever = |part: fn(&Program) -> bool| written.as_ref().is_some_and(part);
        let judge = |ever: bool, before: Option<bool>| match (ever, before) {
            (true, _) => Health::Answered,
            (false, Some(true)) => Health::Awaited,
            (false, _) => Health::NotCounted,
        };
        let reader = reader || ever(|program| program.reader_ever);
        let gateway = gateway || ever(|program| program.gateway_ever);
        HealthView {
            program: this_program(),
            before: before.as_ref().map(|before| before.name.clone()),
            journal: fault.or_else(|| trouble.as_ref().map(|(_, why)| why.clone())),
            reader: judge(reader, before.as_ref().map(|before| before.reader)),
            gateway: judge(gateway, before.as_ref().map(|before| before.gateway)),
        }
    }
}
