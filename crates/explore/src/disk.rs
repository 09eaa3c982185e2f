//! The disk: what survives the power; and what the power and the disk do while a step is written.

use std::time::Duration;

use pos_core::book::{Book, BookEntry};
use pos_core::sale::{Order, Sale};

/// What the disk and the power do while an event is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutAt {
    /// All goes well.
    Not,
    /// The power fails before the step is written.
    BeforeWriting,
    /// The power fails when it is written, and nothing of it was done.
    AfterWriting,
    /// The power fails after so many of its actions.
    AfterActions(u8),
    /// The disk takes no write.
    DiskFails,
}

impl CutAt {
    /// Every one that makes a difference to a step with so many actions.
    pub(crate) fn all(actions: usize) -> impl Iterator<Item = Self> {
        let between = (1..actions).filter_map(|after| u8::try_from(after).ok()).map(Self::AfterActions);
        [Self::BeforeWriting, Self::AfterWriting, Self::DiskFails].into_iter().chain(between)
    }

    /// So many actions of a step that is written are done before the power fails; all of them when it does not.
    pub(crate) fn done(self) -> usize {
        match self {
            Self::AfterWriting => 0,
            Self::AfterActions(most) => usize::from(most),
            _ => usize::MAX,
        }
    }
}

/// What survives the power: the transactions as their records tell them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    sales: Vec<Sale>,
    /// How they stood before, for a copy that is put back; kept only where one is.
    pub(crate) before: Option<Vec<Vec<Sale>>>,
    pub(crate) fails: bool,
}

/// The disk took no write.
#[derive(Debug)]
pub(crate) struct DiskFull;

impl Disk {
    /// The transaction of this order, as it is written.
    pub(crate) fn sale(&self, order: &Order) -> Option<&Sale> {
        self.sales.iter().find(|sale| sale.order().number == order.number)
    }

    /// All of them.
    pub(crate) fn sales(&self) -> &[Sale] {
        &self.sales
    }

    /// A copy of how it stood is put back, and nobody notices yet.
    pub(crate) fn is_put_back(&mut self, nth: usize) {
        let copy = self.before.take().and_then(|before| before.into_iter().nth(nth));
        self.sales = copy.unwrap_or_default();
    }
}

impl Book for Disk {
    type Error = DiskFull;

    fn write(&mut self, _: i64, entries: &[BookEntry<'_>]) -> Result<Duration, DiskFull> {
        if self.fails {
            return Err(DiskFull);
        }
        if let Some(before) = self.before.as_mut().filter(|_| !self.sales.is_empty()) {
            before.push(self.sales.clone());
        }
        for entry in entries {
            let BookEntry::Step { sale: number, records, .. } = entry else { continue };
            let records = [records.to_vec()];
            match self.sales.iter_mut().find(|sale| sale.order().number == *number) {
                Some(sale) => *sale = sale.clone().replay_on(&records),
                None => self.sales.extend(Sale::replay(&records)),
            }
        }
        Ok(Duration::ZERO)
    }
}
