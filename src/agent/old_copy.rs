//! The check for an outdated journal copy: one restored from a backup, or taken over from a board that continued after
//! the copy was made. Such a journal holds transactions as open that have long ended, and would reverse payments that
//! were reported to a till as approved.
//!
//! So after each start the agent asks the gateway by date which references of this terminal it holds. The period begins
//! with the journal's latest knowledge and ends at the present. Until the answer, no reversal of an earlier transaction
//! leaves. If the gateway holds a reference that this journal does not know, the journal is an outdated copy. Numbers
//! then continue above the highest one, and the open transactions wait for a person (`pos-agent settle`). New
//! transactions continue meanwhile. If a second has more transactions than the gateway lists, the list is incomplete. A
//! transaction that follows an earlier one then waits only for the look-up of that one. A gateway that cannot be asked
//! by date is a setting (`query-by-date`), and then nothing waits for it.
//!
//! An outdated copy does not know later refunds and captures either. So nothing may follow a transaction from before
//! the finding. Until the gateway was asked, nothing is refunded, captured or paid out on the journal's evidence alone.
//!
//! The period uses the gateway's clock. If that clock and the board's differ (the probe measures it), the period is
//! moved by the difference. A gateway that reports no time is assumed to be within a day of the board's. A transaction
//! in progress when the copy was made is found too: by the journal, its request was never sent, but the gateway holds
//! it. So the agent reports a request that was not sent before a power cut as cancelled only after the gateway was
//! asked.

mod comparing;
mod looking_up;

use std::collections::BTreeSet;
use std::time::Duration;

use crate::till::{Attention, Refused};
use pos_core::transaction::{self, Action, Event, Transaction};
use pos_journal::Opened;
use pos_terms::transaction::SaleNumber;
use pos_words::{Message, Sentence};

use super::devices::GatewayControl;
use super::engine::open_transactions::{Gate, OpenTransaction, OpenTransactions};
use super::journal_writer::JournalWriter;
pub(super) use comparing::Beside;
use comparing::{mark_of, number_of};
pub(super) use looking_up::Linked;

/// How long after its first transaction a new journal asks for payments of an earlier board.
const AFTER_THE_FIRST: Duration = Duration::from_secs(600);

/// The progress of the comparison with the gateway.
#[derive(Debug)]
enum Comparison {
    /// To be asked at this time.
    Due(Duration),
    /// The gateway is being asked.
    Asking,
    /// It is no outdated copy, or that cannot be found out.
    Finished,
    /// It is an outdated copy, with the evidence.
    IsOldCopy(Sentence),
    /// It is new, and the gateway holds this many references of this terminal: those of another board or of a lost
    /// journal.
    BeganAnew(usize),
}

/// The state of the comparison, and the work that waits for it.
#[derive(Debug)]
pub(super) struct OldCopy {
    comparison: Comparison,
    /// The wall clock time of the journal's latest knowledge at the start, in milliseconds since 1970.
    known_until_unix_ms: i64,
    /// The wall clock time of the journal's first record, in milliseconds since 1970. References from more than a day
    /// earlier belong to another journal, from before the terminal was set up again.
    first_unix_ms: i64,
    /// The highest number at the start: higher ones are this board's own.
    before: SaleNumber,
    /// An earlier finding: the transactions open then already wait for a person, and later changes to them are unknown.
    noticed: pos_journal::OldCopyFound,
    /// True if the journal had no transaction and no mark shows that this terminal has sold. Then nothing waits for the
    /// answer.
    is_new: bool,
    tries: u32,
    /// Why the last request had no answer.
    trouble: Option<Sentence>,
    /// True if the last list was incomplete: each transaction that another is to follow is then looked up separately.
    lists_no_more: bool,
    /// The transaction whose look-up has shown that this journal knows all of it.
    vouched_for: Option<SaleNumber>,
    /// The reversals that wait, and since when.
    waiting: Vec<(SaleNumber, Action, Duration)>,
    /// Earlier transactions that, by this journal, were never sent: cancelled, unless the gateway holds them.
    unsent: BTreeSet<SaleNumber>,
    /// True if the finding is not in the journal yet.
    pub(super) unmarked: bool,
}

impl OldCopy {
    /// Creates the state from the opened journal. A journal without transactions is not a copy.
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

    /// Adapts it to a terminal with a mark: a person decides, or has decided, whose journal it is.
    pub(super) fn of_no_new_terminal(self) -> Self {
        let comparison = if self.is_new { Comparison::Finished } else { self.comparison };
        Self { is_new: false, comparison, ..self }
    }

    /// Records why the gateway has not been asked yet.
    pub(super) fn cannot_be_asked(&mut self, why: Sentence) {
        self.trouble = Some(why);
    }

    /// Makes the request due: the gateway answers again.
    pub(super) fn nudge(&mut self, now: Duration) {
        if let Comparison::Due(at) = &mut self.comparison
            && !self.is_new
        {
            *at = now.min(*at);
        }
    }

    /// Notes that a transaction begins. For a new journal the gateway is asked a while later, when the first customer
    /// has left.
    pub(super) fn sells(&mut self, now: Duration) {
        if let Comparison::Due(at @ Duration::MAX) = &mut self.comparison {
            *at = now + AFTER_THE_FIRST;
        }
    }

    /// Returns whether this transaction, which was open at the start, waits for the gateway's answer.
    pub(super) fn holds_up(&self, number: SaleNumber) -> bool {
        self.unsent.contains(&number)
    }

    /// Returns the first event for a transaction that is resumed from the disk, or none while the gateway's answer is
    /// awaited.
    pub(super) fn first_event(&mut self, order: &transaction::Order, never_sent: bool) -> Option<Event> {
        let number = order.number;
        // It was left alone at the finding, or its wait for a person could not be recorded.
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

    /// Returns whether this transaction was in the journal when that was found to be an outdated copy.
    fn is_of_before_it_was_noticed(&self, number: SaleNumber) -> bool {
        number <= self.noticed.before
    }

    /// Returns when the gateway is asked next. It is asked only after the first probe, which measures the difference of
    /// the clocks; that probe wakes the loop.
    pub(super) fn due(&self, gateway: &GatewayControl) -> Option<Duration> {
        let Comparison::Due(at) = self.comparison else { return None };
        gateway.has_told_its_time().then_some(at)
    }

    /// Returns the status entry for a person.
    pub(super) fn attention(&self) -> Option<(Attention, Sentence)> {
        Some(match (&self.comparison, &self.trouble) {
            (Comparison::IsOldCopy(how), _) => {
                (Attention::JournalOldCopy, Message::AttentionJournalOldCopy.with("why", how.clone()))
            }
            (Comparison::Due(_) | Comparison::Asking, Some(why)) if !self.is_new => {
                let lists = self.lists_no_more;
                let incomplete = Message::AttentionJournalListIncomplete;
                let message = if lists { incomplete } else { Message::AttentionJournalNotCompared };
                (Attention::JournalNotCompared, message.with("why", why.clone()))
            }
            (Comparison::BeganAnew(count), _) => {
                (Attention::JournalBeganAnew, Message::AttentionJournalBeganAnew.with("count", count.to_string()))
            }
            _ if self.noticed.before > SaleNumber::BEFORE_ALL => {
                let number = self.noticed.before.to_string();
                (Attention::JournalOldCopy, Message::AttentionJournalWasOldCopy.with("number", number))
            }
            _ => return None,
        })
    }
}

/// What an earlier transaction gets once the comparison has its result.
pub(super) enum GoesOn {
    /// It gets this event.
    Hears(Event),
    /// Its held action is carried out.
    Does(Action),
}

/// The result of the gateway's list.
pub(super) enum ListShows {
    /// No result yet: the agent asks again.
    Nothing,
    /// The journal is no outdated copy: the waiting transactions continue.
    IsWhole(Vec<(SaleNumber, GoesOn)>),
    /// The journal is new, and there was another one before it.
    BeganAnew,
    /// The journal is an outdated copy: it lacks these references.
    Missing(Vec<String>),
}

/// The consequences of finding an outdated copy.
pub(super) struct OldCopyShown {
    /// The alarm for all tills.
    pub(super) told: Sentence,
    /// The events for earlier transactions, in this order.
    pub(super) heard: Vec<(SaleNumber, Event)>,
}

impl OldCopy {
    /// Lets a reversal leave, or holds it with an event for its transaction while the gateway's answer is awaited.
    /// `decided`: a person has decided about the transaction.
    pub(super) fn lets_leave(&mut self, number: SaleNumber, reversal: Action, decided: bool, now: Duration) -> Gate {
        if number > self.before || decided {
            return Gate::Opens(reversal);
        }
        match &self.comparison {
            // It was left alone at the finding. It is active again, and waits for a person anyway.
            _ if self.is_of_before_it_was_noticed(number) => Gate::Holds(Some(held_for_person(number))),
            Comparison::Finished | Comparison::BeganAnew(_) => Gate::Opens(reversal),
            Comparison::Due(_) | Comparison::Asking => {
                self.waiting.push((number, reversal, now));
                Gate::Holds(None)
            }
            // Its wait for a person could not be recorded: this retries it.
            Comparison::IsOldCopy(_) => Gate::Holds(Some(held_for_person(number))),
        }
    }

    /// Handles references that this journal does not know, which show an outdated copy. Numbers continue above the
    /// highest, and earlier transactions wait for a person.
    pub(super) fn turns_out_old(
        &mut self,
        strange: &[String],
        journal: &mut JournalWriter,
        sales: &OpenTransactions,
    ) -> OldCopyShown {
        let above = strange.iter().filter_map(|reference| number_of(reference)).max().unwrap_or_default();
        let (count, last) = (strange.len(), strange.last().map_or("", String::as_str));
        // Every till gets this message, so it must not contain the references.
        let how = Message::CopyLacksReferences.with("count", count.to_string());
        tracing::error!(above = above.get(), %how, last, "ALARM: this journal is an outdated copy");
        let told = Message::JournalIsOldCopy.with("why", how.clone());
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

    /// Records the finding once all earlier transactions wait for a person. Until then the next start must find it
    /// again, and ask from the same time as this one.
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

    /// Checks that the journal knows everything that was done with this transaction, as far as that can be known.
    /// `None` means a payment that this journal does not know anyway, or money given without a payment.
    pub(super) fn is_whole_for(&self, number: Option<SaleNumber>) -> Result<(), Refused> {
        let Self { comparison, before, noticed, is_new, lists_no_more, vouched_for, .. } = self;
        if let Some(number) = number.filter(|number| *number <= noticed.before) {
            let why = Message::OlderThanCopy.with("number", number.to_string());
            return Err(Refused::NotPossible { why });
        }
        if !is_new
            && number.is_none_or(|number| number <= *before)
            && matches!(comparison, Comparison::Due(_) | Comparison::Asking)
            && (number.is_none() || number != *vouched_for)
        {
            let why = if *lists_no_more { Message::ListIncomplete } else { Message::NotComparedYet };
            return Err(Refused::NotReady { why: why.into() });
        }
        Ok(())
    }
}

/// Makes the event for a transaction that waits for a person.
fn held_for_person(number: SaleNumber) -> Event {
    Event::OldCopy { why: waits_for_person(number) }
}

/// Makes the reason, with the number for `pos-agent settle`.
fn waits_for_person(number: SaleNumber) -> transaction::Cause {
    transaction::Reason::OldCopy.with(number)
}
