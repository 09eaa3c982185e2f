//! What answers this program, kept for the update after it; and whether this program is good, by what answered the one
//! before.
//!
//! Written at each start (which shows that the journal can be written), when the reader or the gateway answers for the
//! first time in a run, and at an orderly end. What changes between is written at most once in [`AGAIN`]: a cable with
//! a loose contact must not wear out the board's card. Never while a sale is at the reader.

use std::time::Duration;

use crate::till::{Health, HealthView, JournalState};
use pos_journal::Program;

use super::clock;
use super::journal_writer::{JOURNAL_RETRY, JournalWriter};
use super::views::states::state_of_journal;

/// Between two writings of what went and came again.
const AGAIN: Duration = Duration::from_secs(600);

/// The name of this program, as the journal keeps it.
#[must_use]
pub fn this_program() -> String {
    format!("{}, built {}", env!("CARGO_PKG_VERSION"), clock::said(clock::built_unix_ms()))
}

/// What answers at this moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answers {
    pub(super) reader: bool,
    pub(super) gateway: bool,
}

/// What answered.
#[derive(Debug)]
pub(super) struct Answered {
    /// This program, as it stands on the disk; `None` as long as nothing of it does.
    written: Option<Program>,
    before: Option<Program>,
    /// When it was written, or tried, last.
    tried: Duration,
    /// Why it could not be.
    trouble: Option<(JournalState, String)>,
    /// In this run.
    reader_ever: bool,
    gateway_ever: bool,
}

impl Answered {
    /// Writes that this program has begun.
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

    /// Why the journal could not be written when that was tried last.
    pub(super) fn trouble(&self) -> Option<(JournalState, String)> {
        self.trouble.clone()
    }

    /// What is to be written now; nothing when that is on the disk, or is to wait.
    fn due(&self, reader: bool, gateway: bool, now: Duration) -> Option<Program> {
        let written = self.written.as_ref()?;
        let first = (reader && !self.reader_ever) || (gateway && !self.gateway_ever);
        let waited = now.saturating_sub(self.tried) >= if self.trouble.is_some() { JOURNAL_RETRY } else { AGAIN };
        let is_new = (written.reader, written.gateway) != (reader, gateway);
        (is_new && (first || waited)).then(|| as_it_is(written, reader, gateway))
    }

    /// Writes it.
    fn write(&mut self, journal: &mut JournalWriter, program: Program, now: Duration) {
        self.tried = now;
        match journal.program_heard(&program) {
            Ok(()) => (self.written, self.trouble) = (Some(program), None),
            Err(error) => {
                if self.trouble.is_none() {
                    tracing::warn!(%error, "what answers this program could not be written");
                }
                self.trouble = Some((state_of_journal(&error), error.to_string()));
            }
        }
    }
}

/// The program's row when these answer it.
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
    /// Keeps what answers now; cheap when there is nothing to write.
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

    /// The end of this program's run: what answers now is what an update is held against.
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

    /// Whether this program is good, as far as it can be seen. `fault` is why the journal cannot be written.
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
