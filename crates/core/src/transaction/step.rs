//! **A step holds the records to write and the actions to carry out afterwards. The actions are not available before
//! the records are written.**

use pos_terms::transaction::Who;

use super::{Action, Cause, Now, Record, Transaction};

/// The records to write, and the actions to carry out afterwards.
#[must_use = "a step that is dropped loses what it should have written and done"]
#[derive(Debug)]
pub struct Step {
    pub(super) records: Vec<Record>,
    pub(super) actions: Vec<Action>,
}

impl Step {
    /// Returns the records to write, in order. The list may be empty.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Applies the records to the transaction and returns the actions. [`crate::book`] calls this once the records are
    /// on the disk.
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

    /// Puts a record before the others.
    pub(super) fn after(mut self, record: Record) -> Self {
        self.records.insert(0, record);
        self
    }

    /// Joins two steps. The records and actions of the first come first.
    pub(super) fn and(mut self, next: Self) -> Self {
        self.records.extend(next.records);
        self.then(next.actions)
    }

    /// Adds the person or program that caused the step.
    pub(super) fn by(mut self, who: Option<Who>) -> Self {
        for record in &mut self.records {
            if let Record::Reversing { by, .. } | Record::Settled { by, .. } | Record::Ended { by, .. } = record {
                by.clone_from(&who);
            }
        }
        self
    }

    /// Adds the time to a record of the end.
    pub(super) fn at(mut self, now: Now) -> Self {
        for record in &mut self.records {
            if let Record::Ended { at_unix_ms, .. } = record {
                *at_unix_ms = Some(now.unix_ms);
            }
        }
        self
    }

    /// Adds an alarm for a person.
    pub(super) fn alarm(self, why: impl Into<Cause>) -> Self {
        self.then([Action::Alarm { why: why.into() }])
    }
}
