//! Closes of day. A separate thread counts each close from a snapshot of the journal, so the transaction at the reader
//! is not delayed. The agent then writes the close, tells the till and prints the close. It counts one close at a time;
//! further requests wait.
//!
//! A close stops no transaction and changes nothing at the gateway. The module `counter` of the core defines the
//! counts.

use std::collections::VecDeque;

use tokio::sync::{mpsc, oneshot};

use crate::config::Config;
use crate::till::{CloseAsked, CloseView, Permit, PrintView, Refused, ShownClose, WhichClose};
use pos_core::book;
use pos_core::counter::{Close, ClosePeriod};
use pos_journal::Journal;

use super::clock::Clock;
use super::close_count::{Counted, count};
use super::devices::PrinterControl;
use super::journal_writer::{JournalWriter, refused_by_journal};
use super::shop_time::ShopTime;
use super::task_results::TaskResult;

/// The control of closes.
pub(super) struct CloseControl {
    time: ShopTime,
    /// The request that is being counted.
    under_way: Option<ClosingWish>,
    waiting: VecDeque<ClosingWish>,
    terminal_id: String,
    clock: Clock,
    /// The channel that returns the counts.
    tasks: mpsc::Sender<TaskResult>,
}

/// A request that needs a count, and the channel for its answer.
enum ClosingWish {
    /// Makes a close.
    Make(CloseAsked, oneshot::Sender<Result<CloseView, Refused>>),
    /// Shows the next close as it would be if it were made now.
    Look(Permit, oneshot::Sender<Result<ShownClose, Refused>>),
}

impl CloseControl {
    pub(super) fn new(config: &Config, clock: Clock, tasks: mpsc::Sender<TaskResult>) -> Self {
        let (time, terminal_id) = (ShopTime::new(&config.close), config.terminal.id.clone());
        Self { time, under_way: None, waiting: VecDeque::new(), terminal_id, clock, tasks }
    }

    /// Makes a close, or returns the stored close with the same till and reference.
    pub(super) fn make(
        &mut self,
        journal: &JournalWriter,
        wish: CloseAsked,
        reply: oneshot::Sender<Result<CloseView, Refused>>,
    ) {
        self.waiting.push_back(ClosingWish::Make(wish, reply));
        self.next(journal);
    }

    /// Shows a stored close, or the next one as it would be if it were made now.
    pub(super) fn show(
        &mut self,
        (journal, printers): (&JournalWriter, &PrinterControl),
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

    /// Starts the next count, unless one is in progress.
    pub(super) fn next(&mut self, journal: &JournalWriter) {
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

    /// Writes the close, and only then tells the till and prints the close. An error means that the journal could not
    /// be written.
    pub(super) fn counted(
        &mut self,
        (journal, printers): (&mut JournalWriter, &PrinterControl),
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
            let _ = reply.send(Err(Refused::Journal { why: error.to_string().into() }));
            return Err(error);
        }
        tracing::info!(close = close.number, open = close.open.len(), "close of day");
        let printed = if print { printers.print_close(&close, false).map(drop) } else { Ok(()) };
        let not_printed = printed.err().map(|refused| printers.letterhead.words.tell(&refused.sentence()));
        // A caller that has disconnected gets no answer, but the close is recorded.
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

/// Returns the close that this request has already made, if it is a repetition.
fn that_was_made(journal: &JournalWriter, wish: &CloseAsked) -> Result<Option<CloseView>, Refused> {
    if let Some(fault) = &journal.fault {
        return Err(Refused::Journal { why: fault.why.clone() });
    }
    let Some(reference) = &wish.reference else { return Ok(None) };
    let known = journal.book().close_of(&wish.till, reference).map_err(refused_by_journal)?;
    Ok(known.map(|close| CloseView { close, replayed: true, not_printed: None }))
}

/// Returns a close and its slip as text, limited to what the caller may see.
fn shown(printers: &PrinterControl, close: Close, permit: &Permit) -> ShownClose {
    let close = close.told_to(|till| permit.sees(till));
    let columns = printers.columns;
    let page = pos_printer::compose_close(&close, &printers.letterhead);
    ShownClose { close, text: pos_printer::plain(&page.lines(columns), columns) }
}

/// Prints a close again, marked as a duplicate.
pub(super) fn print_again(
    journal: &Journal,
    printers: &PrinterControl,
    which: WhichClose,
) -> Result<PrintView, Refused> {
    printers.print_close(&find(journal, which)?, true)
}

fn find(journal: &Journal, which: WhichClose) -> Result<Close, Refused> {
    let found = match which {
        WhichClose::Last => journal.last_close(),
        // The next close does not exist yet.
        WhichClose::Open => Ok(None),
        WhichClose::Number(number) => journal.close(number),
    };
    found.map_err(refused_by_journal)?.ok_or(Refused::NoSuchClose { which })
}
