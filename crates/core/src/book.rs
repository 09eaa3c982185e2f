//! **The account book: what is to be done is given out only after what is to be written is on the disk.**
//!
//! [`commit`] and [`commit_all`] are the only way to the actions of a [`Step`], and they come after [`Book::write`].

use std::time::Duration;

use pos_terms::transaction::SaleNumber;

use crate::counter::Close;
use crate::transaction::{Action, Record, Step, Transaction};

/// What survives the power.
pub trait Book {
    /// Why it cannot be written.
    type Error;

    /// Writes all entries as one: when it returns, they are on the disk. It tells how long that took.
    ///
    /// # Errors
    /// When they cannot be written: then none of them may be acted on. After a start all of them are there, or none.
    fn write(&mut self, unix_ms: i64, entries: &[BookEntry<'_>]) -> Result<Duration, Self::Error>;
}

/// What is written.
#[derive(Clone, Copy, Debug)]
pub enum BookEntry<'a> {
    /// A step of a transaction.
    Step {
        /// Whose.
        sale: SaleNumber,
        /// How many of its steps come before.
        place: u32,
        /// What it says; never nothing.
        records: &'a [Record],
    },
    /// A close of day.
    Close(&'a Close),
}

/// Writes a step and gives out its actions. With them comes the time that the writing took: zero when the step has
/// nothing to write.
///
/// # Errors
/// Those of the book: then nothing of the step may be done, and the sale stands as before.
pub fn commit<E>(
    book: &mut dyn Book<Error = E>,
    unix_ms: i64,
    sale: &mut Transaction,
    step: Step,
) -> Result<(Vec<Action>, Duration), E> {
    let ([actions], took) = commit_all(book, unix_ms, [(sale, step)])?;
    Ok((actions, took))
}

/// Writes a step of each of several transactions as one, and gives out the actions of each, in the same order.
///
/// # Errors
/// Those of the book: then nothing of any of them may be done.
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
/// Those of the book: then there is none.
pub fn close<E>(book: &mut dyn Book<Error = E>, unix_ms: i64, close: &Close) -> Result<(), E> {
    book.write(unix_ms, &[BookEntry::Close(close)]).map(drop)
}
