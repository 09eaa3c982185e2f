//! The content of a close of day: all transactions that have ended since the last close, and those still open. Both are
//! read from the same snapshot of the journal.

use std::collections::BTreeSet;

use pos_core::counter::{Close, DaySums, OpenItem, OpenKind};
use pos_core::follow_up::{Held, History, Left};
use pos_core::transaction::{Outcome, Standing, Transaction};
use pos_journal::{Ended, Snapshot};
use pos_terms::transaction::{Kind, Operation, SaleNumber};

/// The counts of one journal snapshot.
pub(super) struct Counted {
    pub(super) before: Option<Close>,
    pub(super) to_entry: i64,
    pub(super) sums: DaySums,
    pub(super) open: Vec<OpenItem>,
}

/// Counts a close: all transactions that have ended since the last close, and those still open.
pub(super) fn count(book: &mut Snapshot) -> Result<Counted, pos_journal::Error> {
    let before = book.last_close()?;
    let after = before.as_ref().map_or(0, |before| before.period.to_entry);
    let mut count = Count { book, sums: DaySums::default(), unreadable: Vec::new(), reserved: BTreeSet::new() };
    for item in before.iter().flat_map(|close| &close.open) {
        match item.is {
            OpenKind::Unreadable => count.again(item.number, after)?,
            OpenKind::PreAuthorisation => drop(count.reserved.insert(item.number)),
            OpenKind::NeedsPerson
            | OpenKind::Unconfirmed
            | OpenKind::AwaitingSignature
            | OpenKind::AwaitingTill
            | OpenKind::UnderWay => {}
        }
    }
    count.ended_after(after)?;
    count.unreadable.extend(count.book.settled_without_an_end(after)?);
    let Count { sums, unreadable, reserved, .. } = count;
    let mut open = Vec::new();
    for number in reserved {
        open.extend(reserved_item(book, number)?);
    }
    for number in unreadable {
        open.push(OpenItem::unreadable(number, book.key(number)?));
    }
    let (without_end, set_aside) = book.open()?;
    open.extend(without_end.iter().filter_map(OpenItem::without_end));
    let aside = set_aside.into_iter().map(|aside| (aside.number, Some((aside.till, aside.reference))));
    open.extend(aside.map(|(number, key)| OpenItem::unreadable(number, key)));
    open.sort_by_key(|item| (item.is, item.number));
    open.dedup_by_key(|item| item.number);
    Ok(Counted { before, to_entry: book.last_entry(), sums, open })
}

/// A count in progress.
struct Count<'a> {
    book: &'a Snapshot,
    sums: DaySums,
    /// The ended transactions that this program cannot read.
    unreadable: Vec<SaleNumber>,
    /// The reservations that may have an amount left.
    reserved: BTreeSet<SaleNumber>,
}

impl Count<'_> {
    fn ended_after(&mut self, entry: i64) -> Result<(), pos_journal::Error> {
        let book = self.book;
        book.ended_after(entry, |ended| self.take(ended))
    }

    /// Counts a transaction that was unreadable at the last close, if it had ended by then.
    fn again(&mut self, number: SaleNumber, closed_to: i64) -> Result<(), pos_journal::Error> {
        match self.book.ended_by(number, closed_to)? {
            Some(ended) => self.take(ended)?,
            None if self.book.is_settled_without_an_end(number)? => self.unreadable.push(number),
            None => {}
        }
        Ok(())
    }

    fn take(&mut self, ended: Ended) -> Result<(), pos_journal::Error> {
        let sale = match ended.sale {
            Ok(sale) => sale,
            Err(number) => {
                self.unreadable.push(number);
                return Ok(());
            }
        };
        if sale.order().kind().is_reservation() && stands(&sale) {
            self.reserved.insert(sale.order().number);
        }
        if !ended.counted_elsewhere {
            match self.what_it_reversed(&sale)? {
                Reversed::Nothing => self.sums.take(&sale, None),
                Reversed::Of(kind) => self.sums.take(&sale, Some(kind)),
                // The direction of the money is unknown until the reversed transaction can be read.
                Reversed::Unreadable => self.unreadable.push(sale.order().number),
            }
        }
        Ok(())
    }

    fn what_it_reversed(&self, sale: &Transaction) -> Result<Reversed, pos_journal::Error> {
        let Operation::Reversal { of } = &sale.order().operation else { return Ok(Reversed::Nothing) };
        let Some(number) = of.number else { return Ok(Reversed::Nothing) };
        Ok(match self.book.number(number)? {
            Some(undone) => Reversed::Of(undone.order().kind()),
            None if self.book.key(number)?.is_some() => Reversed::Unreadable,
            None => Reversed::Nothing,
        })
    }
}

/// The transaction that a reversal refers to.
enum Reversed {
    /// No transaction, or one that this journal does not know.
    Nothing,
    /// A transaction of this kind.
    Of(Kind),
    /// A transaction in this journal that this program cannot read.
    Unreadable,
}

fn stands(sale: &Transaction) -> bool {
    matches!(sale.standing(), Standing::Ended(Outcome::Approved | Outcome::PartiallyApproved { .. }))
}

/// Returns the reservation as an open item if part of it can still be captured, or if a transaction that refers to it
/// is open.
fn reserved_item(book: &Snapshot, number: SaleNumber) -> Result<Option<OpenItem>, pos_journal::Error> {
    let Some(sale) = book.number(number)? else {
        // The reservation cannot be read. Its number stays in the list, so the next close tries again.
        return Ok(book.key(number)?.map(|key| OpenItem::reserved_unread(number, key)));
    };
    if !stands(&sale) {
        return Ok(None);
    }
    let history = match History::read(&sale, &|one| book.later(one.order().number, one.host().id.as_ref())) {
        // The captured part is unknown.
        Err(pos_journal::Error::Unreadable { .. }) => {
            let whole = History::of(&sale, Vec::new()).amount;
            return Ok(Some(OpenItem::reserved(&sale, whole)));
        }
        history => history?,
    };
    Ok(match history.left(Kind::Capture, None) {
        Ok(Left::UpTo(left)) => Some(OpenItem::reserved(&sale, left)),
        _ if is_open(&history) => Some(OpenItem::reserved(&sale, history.amount)),
        Ok(Left::Nothing | Left::Any(_)) | Err(_) => None,
    })
}

fn is_open(history: &History) -> bool {
    history.held == Held::Perhaps || history.later.iter().any(is_open)
}
