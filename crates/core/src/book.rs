//! **The account book: gives out the actions of a step only after its records are on the disk.**
//!
//! [`commit`] and [`commit_all`] are the only way to the actions of a [`Step`]. They call [`Book::write`] first.

use std::time::Duration;

use pos_terms::transaction::SaleNumber;

use crate::counter::Close;
use crate::transaction::{Action, Record, Step, Transaction};

/// Storage that survives a power cut.
pub trait Book {
    /// The error when the book cannot be written.
    type Error;

    /// Writes all entries together. When it returns, they are on the disk. Returns how long
    /// the write took.
    ///
    /// # Errors
    /// When the entries cannot be written. None of them may then be acted on. After a restart either all of them are
    /// there, or none.
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
}

/// Writes a step and gives out its actions, with the time that the write took. The time is zero when the step has
/// nothing to write.
///
/// # Errors
/// The errors of the book. Nothing of the step may then be done, and the transaction is unchanged.
pub fn commit<E>(
    book: &mut dyn Book<Error = E>,
    unix_ms: i64,
    sale: &mut Transaction,
    step: Step,
) -> Result<(Vec<Action>, Duration), E> {
    let ([actions], took) = commit_all(book, unix_ms, [(sale, step)])?;
    Ok((actions, took))
}

/// Writes one step of each of several transactions together. Gives out the actions of each, in the same order.
///
/// # Errors
/// The errors of the book. No action of any of them may then be done.
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
/// The errors of the book. There is then no close of day.
pub fn close<E>(book: &mut dyn Book<Error = E>, unix_ms: i64, close: &Close) -> Result<(), E> {
    book.write(unix_ms, &[BookEntry::Close(close)]).map(drop)
}
