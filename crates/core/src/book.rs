//! **Makes the actions of a step available only after its records are on the disk.**
//!
//! Callers get the actions of a [`Step`] only from [`commit`] and [`commit_all`], which call [`Book::write`] first.

use std::time::Duration;

use pos_terms::transaction::SaleNumber;

use crate::counter::Close;
use crate::fleet::{AcceptedCommand, JudgedCommand};
use crate::transaction::{Action, Record, Step, Transaction};

/// Storage that survives a power cut.
pub trait Book {
    /// The error when the book cannot be written.
    type Error;

    /// Writes all entries together, and returns the duration of the write. When it returns, the entries are on the
    /// disk.
    ///
    /// # Errors
    /// Returns an error if the entries cannot be written. The caller must then act on none of them. After a restart,
    /// the book contains either all of them or none.
    fn write(&mut self, unix_ms: i64, entries: &[BookEntry<'_>]) -> Result<Duration, Self::Error>;
}

/// One entry to write.
#[derive(Clone, Copy, Debug)]
pub enum BookEntry<'a> {
    /// A step of a transaction.
    Step {
        /// The number of the transaction.
        sale: SaleNumber,
        /// The number of steps of this transaction that were written earlier.
        place: u32,
        /// The records of the step; never empty.
        records: &'a [Record],
    },
    /// A close of day.
    Close(&'a Close),
    /// A command of the fleet. One that is not accepted never acts.
    Command {
        /// The command.
        command: &'a JudgedCommand,
        /// The author and the used counters, if the terminal accepts it.
        accepted: Option<&'a AcceptedCommand>,
    },
    /// The final answer of a command. The first answer stays.
    CommandAnswer {
        /// The command's id.
        id: &'a str,
        /// The answer as JSON.
        answer: &'a str,
    },
}

/// Writes a step, then returns its actions and the duration of the write. The duration is zero if the step has no
/// records.
///
/// # Errors
/// Returns an error if the write fails. The transaction is then unchanged, and the caller must not carry out the step.
pub fn commit<E>(
    book: &mut dyn Book<Error = E>,
    unix_ms: i64,
    sale: &mut Transaction,
    step: Step,
) -> Result<(Vec<Action>, Duration), E> {
    let ([actions], took) = commit_all(book, unix_ms, [(sale, step)])?;
    Ok((actions, took))
}

/// Writes one step of each of several transactions together. Returns the actions of each step, in the same order.
///
/// # Errors
/// Returns an error if the write fails. The caller must then carry out none of the steps.
pub fn commit_all<E, const N: usize>(
    book: &mut dyn Book<Error = E>,
    unix_ms: i64,
    steps: [(&mut Transaction, Step); N],
) -> Result<([Vec<Action>; N], Duration), E> {
    let entries: Vec<BookEntry<'_>> = steps
        .iter()
        .filter(|(_, step)| !step.records().is_empty())
        .map(|(sale, step)| BookEntry::Step {
            sale: sale.order().number,
            place: sale.steps_written(),
            records: step.records(),
        })
        .collect();
    let took = if entries.is_empty() { Duration::ZERO } else { book.write(unix_ms, &entries)? };
    Ok((steps.map(|(sale, step)| step.give_out(sale)), took))
}

/// Writes a close of day.
///
/// # Errors
/// Returns an error if the write fails. The close of day then does not exist.
pub fn close<E>(book: &mut dyn Book<Error = E>, unix_ms: i64, close: &Close) -> Result<(), E> {
    book.write(unix_ms, &[BookEntry::Close(close)]).map(drop)
}
