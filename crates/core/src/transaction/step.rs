//! **Every transition says what to write, then what to do; the doing cannot be had without the writing.**

use pos_terms::transaction::Who;

use super::{Action, Cause, Now, Record, Transaction};

/// What to write and then to do.
#[must_use = "a step that is dropped loses what it should have written and done"]
#[derive(Debug)]
pub struct Step {
    pub(super) records: Vec<Record>,
    pub(super) actions: Vec<Action>,
}

impl Step {
    /// What must be written, in order; may be nothing.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Moves the sale and gives out the actions. [`crate::book`] calls it once the records are on the disk.
    #[must_use]
    pub(crate) fn give_out(self, sale: &mut Transaction) -> Vec<Action> {
        sale.apply_step(&self.records);
        self.actions
    }

    pub(super) fn none() -> Self {
        Self { records: Vec::new(), actions: Vec::new() }
    }

    pub(super) fn act(actions: impl IntoIterator<Item = Action>) -> Self {
        Self { records: Vec::new(), actions: actions.into_iter().collect() }
    }

    pub(super) fn write(records: impl IntoIterator<Item = Record>) -> Self {
        Self { records: records.into_iter().collect(), actions: Vec::new() }
    }

    pub(super) fn then(mut self, actions: impl IntoIterator<Item = Action>) -> Self {
        self.actions.extend(actions);
        self
    }

    /// Writes first what comes before.
    pub(super) fn after(mut self, record: Record) -> Self {
        self.records.insert(0, record);
        self
    }

    /// One step of both: what the first writes and does comes first.
    pub(super) fn and(mut self, next: Self) -> Self {
        self.records.extend(next.records);
        self.then(next.actions)
    }

    /// A person caused it.
    pub(super) fn by(mut self, who: Option<Who>) -> Self {
        for record in &mut self.records {
            if let Record::Reversing { by, .. } | Record::Settled { by, .. } | Record::Ended { by, .. } = record {
                by.clone_from(&who);
            }
        }
        self
    }

    /// An end says when it was.
    pub(super) fn at(mut self, now: Now) -> Self {
        for record in &mut self.records {
            if let Record::Ended { at_unix_ms, .. } = record {
                *at_unix_ms = Some(now.unix_ms);
            }
        }
        self
    }

    /// A person must hear of it too.
    pub(super) fn alarm(self, why: impl Into<Cause>) -> Self {
        self.then([Action::Alarm { why: why.into() }])
    }
}
