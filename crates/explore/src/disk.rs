//! The disk: the data that survives a power cut, and the faults of power and disk during a write.

use std::rc::Rc;
use std::time::Duration;

use pos_core::book::{Book, BookEntry};
use pos_core::transaction::{Order, Record, Transaction};
use pos_terms::transaction::SaleNumber;

/// The fault of disk or power while an event is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutAt {
    /// No fault.
    Not,
    /// The power fails before the step is written.
    BeforeWriting,
    /// The power fails after the write, before the first action.
    AfterWriting,
    /// The power fails after this many actions.
    AfterActions(u8),
    /// The disk refuses the write.
    DiskFails,
}

impl CutAt {
    /// Returns every fault that makes a difference for a step with this many actions.
    pub(crate) fn all(actions: usize) -> impl Iterator<Item = Self> {
        let between = (1..actions).filter_map(|after| u8::try_from(after).ok()).map(Self::AfterActions);
        [Self::BeforeWriting, Self::AfterWriting, Self::DiskFails].into_iter().chain(between)
    }

    /// Returns how many actions of a written step are carried out before the power fails. Without a power cut, all are.
    pub(crate) fn done(self) -> usize {
        match self {
            Self::AfterWriting => 0,
            Self::AfterActions(most) => usize::from(most),
            _ => usize::MAX,
        }
    }
}

/// The data that survives a power cut: the records of the transactions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    written: Vec<Written>,
    /// The earlier states, for a restored copy; `None` if no copy is used.
    pub(crate) before: Option<Vec<Vec<Written>>>,
    pub(crate) fails: bool,
}

/// One transaction.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    steps: Vec<Rc<[Record]>>,
    /// The transaction's state after these records.
    pub(crate) sale: Transaction,
}

/// The error when the disk refuses a write.
#[derive(Debug)]
pub(crate) struct DiskFull;

impl Disk {
    /// Returns the written transaction for this order.
    pub(crate) fn sale(&self, order: &Order) -> Option<&Transaction> {
        self.of(order.number).map(|written| &written.sale)
    }

    /// Returns the same transaction as the terminal reads it at a start.
    pub(crate) fn replayed(&self, order: &Order) -> Option<Transaction> {
        let steps: Vec<Vec<Record>> = self.of(order.number)?.steps.iter().map(|step| step.to_vec()).collect();
        Transaction::replay(&steps)
    }

    fn of(&self, number: SaleNumber) -> Option<&Written> {
        self.written.iter().find(|written| written.sale.order().number == number)
    }

    /// Returns all transactions.
    pub(crate) fn sales(&self) -> impl Iterator<Item = &Transaction> {
        self.written.iter().map(|written| &written.sale)
    }

    /// Restores a copy of an earlier state. The terminal has not noticed this yet.
    pub(crate) fn is_put_back(&mut self, nth: usize) {
        let copy = self.before.take().and_then(|before| before.into_iter().nth(nth));
        self.written = copy.unwrap_or_default();
    }
}

impl Book for Disk {
    type Error = DiskFull;

    fn write(&mut self, _: i64, entries: &[BookEntry<'_>]) -> Result<Duration, DiskFull> {
        if self.fails {
            return Err(DiskFull);
        }
        if let Some(before) = self.before.as_mut().filter(|_| !self.written.is_empty()) {
            before.push(self.written.clone());
        }
        for entry in entries {
            let BookEntry::Step { sale: number, records, .. } = entry else { continue };
            let step: Rc<[Record]> = Rc::from(*records);
            let records = [records.to_vec()];
            match self.written.iter_mut().find(|written| written.sale.order().number == *number) {
                Some(written) => {
                    written.sale = written.sale.clone().replay_on(&records);
                    written.steps.push(step);
                }
                None => {
                    let sale = Transaction::replay(&records);
                    self.written.extend(sale.map(|sale| Written { steps: vec![step], sale }));
                }
            }
        }
        Ok(Duration::ZERO)
    }
}
