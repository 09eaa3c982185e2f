//! Whether this journal is an old copy of itself: restored from a backup, or taken over from a board that went on after
//! the copy was made. Such a journal holds sales as open that have ended long since, and would reverse what a till was
//! told is approved.
//!
//! So after each start no reversal of a sale of before leaves until the gateway was asked by date, from the last thing
//! that the journal knows until now, which references of this terminal it holds. If this journal does not know one of
//! them, it is an old copy: numbers go on above the highest, and the open sales wait for a person (`pos-agent settle`).
//! New sales go on meanwhile. Where a second has more transactions than the gateway lists, its list is not complete:
//! then what is to follow a transaction of before waits for the look-up of that transaction alone. A gateway that
//! cannot be asked by date is a setting (`query-by-date`), and then nothing waits for it.
//!
//! What was given back or taken since, such a journal does not know either: nothing follows a transaction of before it
//! was found, and until the gateway was asked nothing is given back, taken or paid out on what the journal says.
//!
//! The gateway's times are the gateway's: where its clock and the board's differ (the probe tells), the time that is
//! asked for is moved by the difference; a gateway that tells no time is taken to be within a day of ours. The sale
//! that was under way when the copy was made shows too: the journal says that its request was never sent, and the
//! gateway holds it. So what had not been sent when the power went is not told as cancelled before the gateway was
//! asked.

mod comparing;
mod looking_up;

use std::collections::BTreeSet;
use std::time::Duration;

use crate::till::{Attention, AttentionView, Refused};
use pos_core::transaction::{self, Action, Event, Transaction};
use pos_journal::Opened;
use pos_terms::transaction::SaleNumber;

use super::devices::GatewayControl;
use super::engine::open_transactions::{Gate, OpenTransaction, OpenTransactions};
use super::journal_writer::JournalWriter;
pub(super) use comparing::Beside;
use comparing::{mark_of, number_of};
pub(super) use looking_up::Linked;

/// How long after its first sale a new journal asks for payments of the board before it.
const AFTER_THE_FIRST: Duration = Duration::from_secs(600);

/// How far the comparison with the gateway has come.
#[derive(Debug)]
enum Comparison {
    /// To be asked at this time.
    Due(Duration),
    /// The gateway is being asked.
    Asking,
    /// It is no old copy, or nobody can say.
    Finished,
    /// It is one: how that shows.
    IsOldCopy(String),
    /// It is new, and the gateway holds so many references of this terminal: another board's, or a lost journal's.
    BeganAnew(usize),
}

/// What is known of it, and what waits for it.
#[derive(Debug)]
pub(super) struct OldCopy {
    comparison: Comparison,
    /// The wall clock of the last thing that the journal knew at the start.
    known_until_unix_ms: i64,
    /// The wall clock of the first thing that it holds: what the gateway holds from a day before that is another
    /// journal's, of a terminal that was set up anew.
    first_unix_ms: i64,
    /// The highest number at the start: what came later is this board's own.
    before: SaleNumber,
    /// What was found before: what was open then waits for a person already, and what was done then is not known.
    noticed: pos_journal::OldCopyFound,
    /// The journal had no transaction, and there is no mark that this terminal has sold. Then nothing waits for the
    /// answer.
    is_new: bool,
    tries: u32,
    /// Why the last question had no answer.
    trouble: Option<String>,
    /// The last list was not complete: a transaction that something is to follow is looked up by itself.
    lists_no_more: bool,
    /// The transaction whose look-up has shown that this journal knows all of it.
    vouched_for: Option<SaleNumber>,
    /// Reversals that wait, and since when.
    waiting: Vec<(SaleNumber, Action, Duration)>,
    /// Transactions of before that this journal never sent: cancelled, unless the gateway holds them.
    unsent: BTreeSet<SaleNumber>,
    /// What was found is not in the book yet.
    pub(super) unmarked: bool,
}

impl OldCopy {
    /// What the journal said when it was opened. A journal without a transaction is nobody's copy.
    pub(super) fn new(opened: &Opened, can_be_asked: bool) -> Self {
        let known = opened.known_until_unix_ms.filter(|_| can_be_asked);
        let is_new = can_be_asked && opened.known_until_unix_ms.is_none();
        Self {
            is_new,
            comparison: match (known, is_new) {
                (Some(_), _) => Comparison::Due(Duration::ZERO),
                (None, true) => Comparison::Due(Duration::MAX),
                (None, false) => Comparison::Finished,
            },
            known_until_unix_ms: known.unwrap_or_default(),
            first_unix_ms: opened.first_unix_ms,
            before: opened.last_number,
            noticed: opened.old_copy.clone(),
            tries: 0,
            trouble: None,
            lists_no_more: false,
            vouched_for: None,
            waiting: Vec::new(),
            unsent: BTreeSet::new(),
            unmarked: false,
        }
    }

    /// There is a mark: a person decides, or has decided, whose journal it is.
    pub(super) fn of_no_new_terminal(self) -> Self {
        let comparison = if self.is_new { Comparison::Finished } else { self.comparison };
        Self { is_new: false, comparison, ..self }
    }

    /// Why the gateway has not been asked yet.
    pub(super) fn cannot_be_asked(&mut self, why: String) {
        self.trouble = Some(why);
    }

    /// The gateway answers again: a good moment to ask.
    pub(super) fn nudge(&mut self, now: Duration) {
        if let Comparison::Due(at) = &mut self.comparison
            && !self.is_new
        {
            *at = now.min(*at);
        }
    }

    /// A transaction begins: of a new journal the gateway is asked a while later, when the first customer has gone.
    pub(super) fn sells(&mut self, now: Duration) {
        if let Comparison::Due(at @ Duration::MAX) = &mut self.comparison {
            *at = now + AFTER_THE_FIRST;
        }
    }

    /// Whether this transaction, which was open at the start, waits for the gateway's word.
    pub(super) fn holds_up(&self, number: SaleNumber) -> bool {
        self.unsent.contains(&number)
    }

    /// What a transaction that is taken up from the disk hears first; nothing as long as the gateway's word is waited
    /// for.
    pub(super) fn first_event(&mut self, order: &transaction::Order, never_sent: bool) -> Option<Event> {
        let number = order.number;
        // It was left alone when that was found, or it could not be recorded that it waits for a person.
        let is_known_as_sent = || self.noticed.references.contains(&mark_of(&order.merchant_transaction_id));
        match self.comparison {
            _ if never_sent && self.is_of_before_it_was_noticed(number) && is_known_as_sent() => {
                Some(held_for_person(number))
            }
            Comparison::Due(_) | Comparison::Asking if never_sent && number <= self.before => {
                self.unsent.insert(number);
                None
            }
            _ => Some(Event::Restarted),
        }
    }

    /// Whether this transaction was in the journal when that was found to be an old copy.
    fn is_of_before_it_was_noticed(&self, number: SaleNumber) -> bool {
        number <= self.noticed.before
    }

    /// When the gateway is asked next: after the first probe, which tells how far its clock is from ours, and wakes the
    /// loop itself.
    pub(super) fn due(&self, gateway: &GatewayControl) -> Option<Duration> {
        let Comparison::Due(at) = self.comparison else { return None };
        gateway.has_told_its_time().then_some(at)
    }

    /// What a person must know.
    pub(super) fn attention(&self) -> Option<AttentionView> {
        let (code, text) = match (&self.comparison, &self.trouble) {
            (Comparison::IsOldCopy(how), _) => (
                Attention::JournalOldCopy,
                format!(
                    "this journal is an old copy: {how}; open sales of before wait for pos-agent settle NUMBER --keep or --reverse"
                ),
            ),
            (Comparison::Due(_) | Comparison::Asking, Some(why)) if !self.is_new => (
                Attention::JournalNotCompared,
                format!(
                    "the gateway has not said whether this journal is an old copy ({why}); until it does, {} and reversals of before wait; if it cannot be asked by date, set [gateway.assumptions] query-by-date = false",
                    if self.lists_no_more {
                        "credits are refused, what follows a payment of before waits for the look-up of that payment"
                    } else {
                        "refunds, captures and credits are refused"
                    }
                ),
            ),
            (Comparison::BeganAnew(count), _) => (
                Attention::JournalBeganAnew,
                format!(
                    "this journal is new, and the gateway holds {count} payments of this terminal of the last days: adopt the journal of the \
                     board before this one (pos-agent journal adopt FILE)"
                ),
            ),
            _ if self.noticed.before > SaleNumber::BEFORE_ALL => (
                Attention::JournalOldCopy,
                format!(
                    "this journal was found to be an old copy: what was given back or taken of transactions up to number {} is not known \
                 here, and is the gateway's back office's business",
                    self.noticed.before
                ),
            ),
            _ => return None,
        };
        Some(AttentionView::new(code, text))
    }
}

/// What a transaction of before gets, once it is known whether the journal is an old copy.
pub(super) enum GoesOn {
    /// It hears this.
    Hears(Event),
    /// What it had wanted is done.
    Does(Action),
}

/// What the gateway's list has shown.
pub(super) enum ListShows {
    /// Nothing yet: it is asked again.
    Nothing,
    /// The journal is no old copy: what waited goes on.
    IsWhole(Vec<(SaleNumber, GoesOn)>),
    /// The journal is new, and there was another one before it.
    BeganAnew,
    /// The journal is an old copy: these references are missing.
    Missing(Vec<String>),
}

/// A journal that was found to be an old copy.
pub(super) struct OldCopyShown {
    /// What everybody is told.
    pub(super) told: String,
    /// What the transactions of before hear, in this order.
    pub(super) heard: Vec<(SaleNumber, Event)>,
}

impl OldCopy {
    /// Lets a reversal leave, unless the gateway's word is waited for; else what its transaction hears at once.
    /// `decided`: a person has said what becomes of it.
    pub(super) fn lets_leave(&mut self, number: SaleNumber, reversal: Action, decided: bool, now: Duration) -> Gate {
        if number > self.before || decided {
            return Gate::Opens(reversal);
        }
        match &self.comparison {
            // What was left alone when that was found goes on now, and waits for a person all the same.
            _ if self.is_of_before_it_was_noticed(number) => Gate::Holds(Some(held_for_person(number))),
            Comparison::Finished | Comparison::BeganAnew(_) => Gate::Opens(reversal),
            Comparison::Due(_) | Comparison::Asking => {
                self.waiting.push((number, reversal, now));
                Gate::Holds(None)
            }
            // It could not be recorded that it waits for a person: tried again here.
            Comparison::IsOldCopy(_) => Gate::Holds(Some(held_for_person(number))),
        }
    }

    /// The references that this journal does not know show that it is an old copy: numbers go on above the highest, and
    /// the transactions of before wait for a person.
    pub(super) fn turns_out_old(
        &mut self,
        strange: &[String],
        journal: &mut JournalWriter,
        sales: &OpenTransactions,
    ) -> OldCopyShown {
        let above = strange.iter().filter_map(|reference| number_of(reference)).max().unwrap_or_default();
        let (count, last) = (strange.len(), strange.last().map_or("", String::as_str));
        // Every till hears it, and the references are not every till's business.
        let how = format!(
            "the gateway holds {count} references of this terminal that the journal does not know (the log has the last one)"
        );
        tracing::error!(above = above.get(), %how, last, "ALARM: this journal is an old copy");
        let told = format!("ALARM: this journal is an old copy: {how}");
        journal.last_number = journal.last_number.max(above);
        self.waiting.clear();
        self.comparison = Comparison::IsOldCopy(how);
        let ours = |sale: &Transaction| strange.contains(&sale.order().merchant_transaction_id);
        let unsent = std::mem::take(&mut self.unsent).into_iter();
        let never_left = unsent.filter(|number| !sales.get(*number).is_some_and(|active| ours(active.sale())));
        let restarted = never_left.map(|number| (number, Event::Restarted));
        let held = sales.until(self.before).map(|active| (active.number(), held_for_person(active.number())));
        let heard = restarted.chain(held).collect();
        self.noticed.above = self.noticed.above.max(above);
        self.noticed.before = self.noticed.before.max(self.before);
        self.noticed.references.extend(strange.iter().map(|reference| mark_of(reference)));
        self.unmarked = true;
        OldCopyShown { told, heard }
    }

    /// Writes down what was found, once all of before wait for a person: until then the next start must find it again,
    /// and ask from where this one did.
    pub(super) fn mark(
        &mut self,
        journal: &mut JournalWriter,
        sales: &OpenTransactions,
        unix_ms: i64,
    ) -> Result<(), pos_journal::Error> {
        if !self.unmarked || journal.fault.is_some() || sales.until(self.before).any(OpenTransaction::is_stuck) {
            return Ok(());
        }
        journal.mark_old_copy(&self.noticed, unix_ms)?;
        self.unmarked = false;
        journal.look_is_answered();
        Ok(())
    }

    /// Whether the journal knows all that was done with the transaction of this number, as far as it can be known.
    /// `None` stands for what this journal does not know anyway, and for money that is given without a payment.
    pub(super) fn is_whole_for(&self, number: Option<SaleNumber>) -> Result<(), Refused> {
        let Self { comparison, before, noticed, is_new, lists_no_more, vouched_for, .. } = self;
        if let Some(number) = number.filter(|number| *number <= noticed.before) {
            let why = format!(
                "transaction {number} is older than the moment at which this journal was found to be an old copy: what was given \
                 back or taken of it since is not known here; see to it in the gateway's back office"
            );
            return Err(Refused::NotPossible { why });
        }
        if !is_new
            && number.is_none_or(|number| number <= *before)
            && matches!(comparison, Comparison::Due(_) | Comparison::Asking)
            && (number.is_none() || number != *vouched_for)
        {
            let why = if *lists_no_more {
                "the gateway's list by date is not complete, so nobody knows whether this journal is an old copy; without a payment \
                 that can be looked up nothing is given back or taken"
            } else {
                "the gateway has not said yet whether this journal is an old copy, which would not know what was given back; \
                 try again in a moment"
            };
            return Err(Refused::NotReady { why: why.to_owned() });
        }
        Ok(())
    }
}

/// What a transaction hears that waits for a person.
fn held_for_person(number: SaleNumber) -> Event {
    Event::OldCopy { why: waits_for_person(number) }
}

/// The number is what `pos-agent settle` is told.
fn waits_for_person(number: SaleNumber) -> transaction::Cause {
    transaction::Reason::OldCopy.with(number)
}
