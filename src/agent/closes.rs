//! Closes of day: counted on a thread of its own from one moment of the journal, so that a sale at the reader feels
//! nothing of it, then written, then told and printed. One at a time; who asks meanwhile waits for the turn.
//!
//! It refuses nothing and changes nothing at the gateway. What is counted, and how, is `counter`'s business.

use std::collections::{BTreeSet, VecDeque};

use tokio::sync::{mpsc, oneshot};

use crate::config::Config;
use crate::till::{CloseAsked, CloseView, Permit, PrintView, Refused, ShownClose, WhichClose};
use pos_core::book;
use pos_core::counter::{Close, ClosePeriod, DaySums, OpenItem, OpenKind};
use pos_core::follow_up::{Held, History, Left};
use pos_core::sale::{Outcome, Sale, Standing};
use pos_journal::{Ended, Journal, Snapshot};
use pos_terms::transaction::{Kind, SaleNumber, Transaction};

use super::clock::Clock;
use super::devices::PrinterDesk;
use super::journal_desk::{JournalDesk, refused_by_journal};
use super::shop_time::ShopTime;
use super::tasks::TaskResult;

/// The desk.
pub(super) struct ClosingDesk {
    time: ShopTime,
    /// The one that is being counted.
    under_way: Option<ClosingWish>,
    waiting: VecDeque<ClosingWish>,
    terminal_id: String,
    clock: Clock,
    /// What is counted comes back there.
    tasks: mpsc::Sender<TaskResult>,
}

/// A wish that needs a count, and who waits for it.
enum ClosingWish {
    /// A close.
    Make(CloseAsked, oneshot::Sender<Result<CloseView, Refused>>),
    /// To see what the next one would be by now.
    Look(Permit, oneshot::Sender<Result<ShownClose, Refused>>),
}

/// What was counted at one moment of the journal.
pub(super) struct Counted {
    before: Option<Close>,
    to_entry: i64,
    sums: DaySums,
    open: Vec<OpenItem>,
}

impl ClosingDesk {
    pub(super) fn new(config: &Config, clock: Clock, tasks: mpsc::Sender<TaskResult>) -> Self {
        let (time, terminal_id) = (ShopTime::new(&config.close), config.terminal.id.clone());
        Self { time, under_way: None, waiting: VecDeque::new(), terminal_id, clock, tasks }
    }

    /// A new close, or the stored one under the same till and reference.
    pub(super) fn make(
        &mut self,
        journal: &JournalDesk,
        wish: CloseAsked,
        reply: oneshot::Sender<Result<CloseView, Refused>>,
    ) {
        self.waiting.push_back(ClosingWish::Make(wish, reply));
        self.next(journal);
    }

    /// A close as it is kept, or as the next one would be by now.
    pub(super) fn show(
        &mut self,
        (journal, printers): (&JournalDesk, &PrinterDesk),
        which: WhichClose,
        permit: Permit,
        reply: oneshot::Sender<Result<ShownClose, Refused>>,
    ) {
        if which == WhichClose::Open {
            self.waiting.push_back(ClosingWish::Look(permit, reply));
            self.next(journal);
        } else {
            let _ = reply.send(find(journal.book(), which).map(|close| shown(printers, close, &permit)));
        }
    }

    /// Begins the next count, unless one is under way.
    pub(super) fn next(&mut self, journal: &JournalDesk) {
        while self.under_way.is_none() {
            let Some(wish) = self.waiting.pop_front() else { return };
            let known = match &wish {
                ClosingWish::Make(wish, _) => that_was_made(journal, wish),
                ClosingWish::Look(..) => Ok(None),
            };
            match (known, wish) {
                (Ok(None), wish) => {
                    self.under_way = Some(wish);
                    let (count, done) = (journal.book().at_one_moment(count), self.tasks.clone());
                    tokio::spawn(async move {
                        let counted = count.await;
                        let _ = done.send(TaskResult::CloseCounted { counted: Box::new(counted) }).await;
                    });
                }
                (Ok(Some(known)), ClosingWish::Make(_, reply)) => drop(reply.send(Ok(known))),
                (Err(refused), ClosingWish::Make(_, reply)) => drop(reply.send(Err(refused))),
                (Ok(Some(_)) | Err(_), ClosingWish::Look(..)) => {}
            }
        }
    }

    /// Written first; only then it is told and printed. An error is one of writing: the journal is faulty.
    pub(super) fn counted(
        &mut self,
        (journal, printers): (&mut JournalDesk, &PrinterDesk),
        counted: Result<Counted, pos_journal::Error>,
    ) -> Result<(), pos_journal::Error> {
        let unix_ms = self.clock.unix_ms();
        let (wish, reply) = match self.under_way.take() {
            Some(ClosingWish::Make(wish, reply)) => (wish, reply),
            Some(ClosingWish::Look(permit, reply)) => {
                let by = permit.caller().who().clone();
                let asked = CloseAsked { till: String::new(), reference: None, by, print: false };
                let open = counted.map(|counted| shown(printers, self.compose(asked, counted, unix_ms), &permit));
                let _ = reply.send(open.map_err(refused_by_journal));
                return Ok(());
            }
            None => return Ok(()),
        };
        let counted = match counted {
            Ok(counted) => counted,
            Err(error) => {
                let _ = reply.send(Err(refused_by_journal(error)));
                return Ok(());
            }
        };
        let print = wish.print;
        let close = self.compose(wish, counted, unix_ms);
        if let Err(error) = journal.write(|book| book::close(book, unix_ms, &close)) {
            let _ = reply.send(Err(Refused::Journal { why: error.to_string() }));
            return Err(error);
        }
        tracing::info!(close = close.number, open = close.open.len(), "close of day");
        let printed = if print { printers.print_close(&close, false).map(drop) } else { Ok(()) };
        let not_printed = printed.err().map(|refused| refused.to_string());
        // Who hung up has nothing to be told; the close is recorded all the same.
        let _ = reply.send(Ok(CloseView { close, replayed: false, not_printed }));
        Ok(())
    }

    fn compose(&self, wish: CloseAsked, counted: Counted, unix_ms: i64) -> Close {
        let Counted { before, to_entry, sums, open } = counted;
        let (to, day) = self.time.tell(unix_ms);
        let after_entry = before.as_ref().map_or(0, |before| before.period.to_entry);
        let number = before.as_ref().map_or(0, |before| before.number).saturating_add(1);
        let period = ClosePeriod { after_entry, to_entry, from: before.map(|before| before.period.to), to };
        let CloseAsked { till, reference, by, print: _ } = wish;
        let terminal_id = self.terminal_id.clone();
        let close = Close { reference, by: Some(by), open, ..Close::empty(number, terminal_id, day, period, till) };
        close.with_sums(&sums)
    }
}

/// The close that this wish has made before.
fn that_was_made(journal: &JournalDesk, wish: &CloseAsked) -> Result<Option<CloseView>, Refused> {
    if let Some(fault) = &journal.fault {
        return Err(Refused::Journal { why: fault.why.clone() });
    }
    let Some(reference) = &wish.reference else { return Ok(None) };
    let known = journal.book().close_of(&wish.till, reference).map_err(refused_by_journal)?;
    Ok(known.map(|close| CloseView { close, replayed: true, not_printed: None }))
}

/// A close with its slip as text, as this caller may see it.
fn shown(printers: &PrinterDesk, close: Close, permit: &Permit) -> ShownClose {
    let close = close.told_to(|till| permit.sees(till));
    let columns = printers.columns;
    let page = pos_printer::compose_close(&close, &printers.letterhead);
    ShownClose { close, text: pos_printer::plain(&page.lines(columns), columns) }
}

/// Prints a close again, with the mark that says so.
pub(super) fn print_again(journal: &Journal, printers: &PrinterDesk, which: WhichClose) -> Result<PrintView, Refused> {
    printers.print_close(&find(journal, which)?, true)
}

fn find(journal: &Journal, which: WhichClose) -> Result<Close, Refused> {
    let found = match which {
        WhichClose::Last => journal.last_close(),
        // It is not made yet.
        WhichClose::Open => Ok(None),
        WhichClose::Number(number) => journal.close(number),
    };
    found.map_err(refused_by_journal)?.ok_or(Refused::NoSuchClose { which })
}

/// What a close counts: everything that has ended since the last one, and what is open at this moment.
fn count(book: &mut Snapshot) -> Result<Counted, pos_journal::Error> {
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

/// A count under way.
struct Count<'a> {
    book: &'a Snapshot,
    sums: DaySums,
    /// Ended, and not to be read by this program.
    unreadable: Vec<SaleNumber>,
    /// Reservations of which something may be left.
    reserved: BTreeSet<SaleNumber>,
}

impl Count<'_> {
    fn ended_after(&mut self, entry: i64) -> Result<(), pos_journal::Error> {
        let book = self.book;
        book.ended_after(entry, |ended| self.take(ended))
    }

    /// One that could not be read when the last close was made: it is counted now, if it had ended by then.
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
                // Which way its money went nobody can say before that one can be read.
                Reversed::Unreadable => self.unreadable.push(sale.order().number),
            }
        }
        Ok(())
    }

    fn what_it_reversed(&self, sale: &Sale) -> Result<Reversed, pos_journal::Error> {
        let Transaction::Reversal { of } = &sale.order().transaction else { return Ok(Reversed::Nothing) };
        let Some(number) = of.number else { return Ok(Reversed::Nothing) };
        Ok(match self.book.number(number)? {
            Some(undone) => Reversed::Of(undone.order().kind()),
            None if self.book.key(number)?.is_some() => Reversed::Unreadable,
            None => Reversed::Nothing,
        })
    }
}

/// What a transaction reversed.
enum Reversed {
    /// Nothing, or what this journal does not know.
    Nothing,
    /// A transaction of this kind.
    Of(Kind),
    /// A transaction of this journal that this program cannot read.
    Unreadable,
}

fn stands(sale: &Sale) -> bool {
    matches!(sale.standing(), Standing::Ended(Outcome::Approved | Outcome::PartiallyApproved { .. }))
}

/// A reservation of which something is left to be captured, or may be as long as something that refers to it is open.
fn reserved_item(book: &Snapshot, number: SaleNumber) -> Result<Option<OpenItem>, pos_journal::Error> {
    let Some(sale) = book.number(number)? else {
        // It cannot be read now: it stays named, so that the next close looks at it again.
        return Ok(book.key(number)?.map(|key| OpenItem::reserved_unread(number, key)));
    };
    if !stands(&sale) {
        return Ok(None);
    }
    let history = match History::read(&sale, &|one| book.later(one.order().number, one.host().id.as_ref())) {
        // What of it was taken nobody can say.
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
