//! The check for an outdated journal copy. Such a copy was restored from a backup, or taken from a board that continued
//! to work after the copy was made. It shows transactions as open that have long ended. Without the check, the agent
//! would reverse payments that were reported to a till as approved.
//!
//! So after each start the agent asks the gateway by date which references of this terminal it holds. The period begins
//! at the journal's latest record and ends at the time of the request. Until the answer, the agent sends no reversal of
//! a transaction from before the start. If the gateway holds a reference that this journal does not know, the journal
//! is an outdated copy. Numbers then continue above the highest one, and the open transactions wait for a person
//! (`pos-agent settle`). New transactions continue meanwhile. If one second has more transactions than the gateway
//! lists, the list is incomplete. A transaction that follows an earlier one then waits only for the look-up of the
//! earlier one. If the gateway cannot be asked by date (setting `query-by-date`), no transaction waits for it.
//!
//! An outdated copy does not contain later refunds and captures either. So once a copy is found to be outdated, no
//! transaction may follow one from before that moment. Until the gateway has answered, nothing is refunded, captured or
//! paid out on the journal's evidence alone.
//!
//! The period uses the gateway's clock. If the gateway's clock differs from the board's, the period is shifted by the
//! difference, which the probe measures. The clock of a gateway that reports no time is assumed to be within a day of
//! the board's. A transaction that was in progress when the copy was made is also found: the journal says that its
//! request was never sent, but the gateway holds it. So, if a power cut prevented a request, the agent reports the
//! transaction as cancelled only after the gateway has answered.

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
use super::surroundings::Random;
pub(super) use comparing::Beside;
use comparing::{mark_of, number_of};
pub(super) use looking_up::Linked;

/// The time after a new journal's first transaction at which the agent asks for the payments of an earlier board.
const AFTER_THE_FIRST: Duration = Duration::from_secs(600);

/// The time over which terminals that start together spread their first requests. A list by date is long, and a shop's
/// terminals ask for one account.
const SPREAD: Duration = Duration::from_secs(30);

/// Returns when to ask the gateway first, if nothing waits for its answer.
pub(super) fn first_request(random: &Random, now: Duration) -> Duration {
    // Without random numbers it is asked at once, as if something waited.
    let part = random().map_or(0, |[byte, ..]| byte);
    now + SPREAD * u32::from(part) / u32::from(u8::MAX)
}

/// The progress of the comparison with the gateway.
#[derive(Debug)]
enum Comparison {
    /// The gateway is to be asked at this time.
    Due(Duration),
    /// The gateway is being asked.
    Asking,
    /// The journal is no outdated copy, or the agent cannot find out.
    Finished,
    /// The journal is an outdated copy, with the evidence.
    IsOldCopy(Sentence),
    /// The journal is new, but the gateway holds this many references of this terminal. They come from another board or
    /// a lost journal.
    BeganAnew(usize),
}

/// The state of the comparison, and the transactions that wait for it.
#[derive(Debug)]
pub(super) struct OldCopy {
    comparison: Comparison,
    /// The wall clock time of the journal's latest record at the start, in milliseconds since 1970.
    known_until_unix_ms: i64,
    /// The wall clock time of the journal's first record, in milliseconds since 1970. References more than a day older
    /// belong to another journal, from before the terminal was set up again.
    first_unix_ms: i64,
    /// The highest number at the start. Higher numbers are this board's own.
    before: SaleNumber,
    /// An earlier finding of an outdated copy. The transactions that were open then already wait for a person, and
    /// later changes to them are unknown.
    noticed: pos_journal::OldCopyFound,
    /// True if the journal had no transaction and no mark shows that this terminal has taken payments. Then nothing
    /// waits for the gateway's answer.
    is_new: bool,
    tries: u32,
    /// True if the first answer has not come in time for the requests that waited for it.
    is_late: bool,
    /// The reason why the last request had no answer.
    trouble: Option<Sentence>,
    /// True if the last list was incomplete. The agent then looks up each transaction separately before another one
    /// follows it.
    lists_no_more: bool,
    /// The transaction whose look-up has shown that this journal knows all its follow-ups.
    vouched_for: Option<SaleNumber>,
    /// The waiting reversals, each with the time when its wait began.
    waiting: Vec<(SaleNumber, Action, Duration)>,
    /// Earlier transactions that were never sent, according to this journal. They count as cancelled unless the gateway
    /// holds them.
    unsent: BTreeSet<SaleNumber>,
    /// True if the finding is not yet recorded in the journal.
    pub(super) unmarked: bool,
}

impl OldCopy {
    /// Creates the state from the opened journal. A journal without transactions is not a copy. `first` is the time of
    /// the first request, absent if the gateway cannot be asked by date.
    pub(super) fn new(opened: &Opened, first: Option<Duration>) -> Self {
        let known = opened.known_until_unix_ms.filter(|_| first.is_some());
        let is_new = first.is_some() && opened.known_until_unix_ms.is_none();
        Self {
            is_new,
            comparison: match (first, is_new) {
                (Some(_), true) => Comparison::Due(Duration::MAX),
                (Some(first), false) => Comparison::Due(first),
                (None, _) => Comparison::Finished,
            },
            known_until_unix_ms: known.unwrap_or_default(),
            first_unix_ms: opened.first_unix_ms,
            before: opened.last_number,
            noticed: opened.old_copy.clone(),
            tries: 0,
            is_late: false,
            trouble: None,
            lists_no_more: false,
            vouched_for: None,
            waiting: Vec::new(),
            unsent: BTreeSet::new(),
            unmarked: false,
        }
    }

    /// Adapts the state to a terminal with a mark. A person decides, or has decided, whose journal it is.
    pub(super) fn of_no_new_terminal(self) -> Self {
        let comparison = if self.is_new { Comparison::Finished } else { self.comparison };
        Self { is_new: false, comparison, ..self }
    }

    /// Records why the gateway has not been asked yet.
    pub(super) fn cannot_be_asked(&mut self, why: Sentence) {
        self.trouble = Some(why);
    }

    /// Makes the request due because the gateway answers again.
    pub(super) fn nudge(&mut self, now: Duration) {
        if let Comparison::Due(at) = &mut self.comparison
            && !self.is_new
        {
            *at = now.min(*at);
        }
    }

    /// Makes the first request due, because something waits for its answer. Later requests keep their waits.
    pub(super) fn ask_now(&mut self, now: Duration) {
        if self.tries == 0 {
            self.nudge(now);
        }
    }

    /// Returns whether the gateway's first answer is near, so that a request can wait for it.
    pub(super) fn is_soon_answered(&self, gateway: &GatewayControl) -> bool {
        let is_near = match self.comparison {
            Comparison::Due(_) => gateway.has_told_its_time(),
            Comparison::Asking => true,
            Comparison::Finished | Comparison::IsOldCopy(_) | Comparison::BeganAnew(_) => false,
        };
        is_near && !self.is_new && !self.is_late && self.tries == 0
    }

    /// Returns whether the gateway's first answer is about this transaction too.
    pub(super) fn compares(&self, number: SaleNumber) -> bool {
        number <= self.before
    }

    /// Records that the gateway's first answer is late, so nothing waits for it any longer.
    pub(super) fn give_up_waiting(&mut self) {
        self.is_late = true;
    }

    /// Notes that a transaction begins. For a new journal, the gateway is asked [`AFTER_THE_FIRST`] later, when the
    /// first customer has left.
    pub(super) fn sells(&mut self, now: Duration) {
        if let Comparison::Due(at @ Duration::MAX) = &mut self.comparison {
            *at = now + AFTER_THE_FIRST;
        }
    }

    /// Returns whether this transaction, which was open at the start, waits for the gateway's answer.
    pub(super) fn holds_up(&self, number: SaleNumber) -> bool {
        self.unsent.contains(&number)
    }

    /// Returns the first event for a transaction that is resumed from the disk. Returns `None` while the transaction
    /// waits for the gateway's answer.
    pub(super) fn first_event(&mut self, order: &transaction::Order, never_sent: bool) -> Option<Event> {
        let number = order.number;
        // The transaction was left open when the copy was found, or its wait for a person could not be recorded.
        let is_known_as_sent = || self.noticed.references.contains(&mark_of(&order.merchant_transaction_id));
        match self.comparison {
            _ if never_sent && self.is_of_before_it_was_noticed(number) && is_known_as_sent() => {
                Some(held_for_person(number))
            }
            Comparison::Due(_) | Comparison::Asking if never_sent && number <= self.before => {
                self.unsent.insert(number);
                self.ask_now(Duration::ZERO);
                None
            }
            _ => Some(Event::Restarted),
        }
    }

    /// Returns whether this transaction was in the journal when the journal was found to be an outdated copy.
    fn is_of_before_it_was_noticed(&self, number: SaleNumber) -> bool {
        number <= self.noticed.before
    }

    /// Returns when the gateway is asked next. It is asked only after the first probe, which measures the difference
    /// between the clocks and then wakes the loop.
    pub(super) fn due(&self, gateway: &GatewayControl) -> Option<Duration> {
        let Comparison::Due(at) = self.comparison else { return None };
        gateway.has_told_its_time().then_some(at)
    }

    /// Returns the entry in the status that asks for a person's attention.
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

/// The continuation of an earlier transaction once the comparison has a result.
pub(super) enum GoesOn {
    /// It receives this event.
    Hears(Event),
    /// Its held action is carried out.
    Does(Action),
}

/// The result of the gateway's list.
pub(super) enum ListShows {
    /// There is no result yet, so the agent asks again.
    Nothing,
    /// The journal is no outdated copy, so the waiting transactions continue.
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
    /// Lets a reversal be sent, or holds it back until the gateway has answered or a person has decided. `decided`
    /// means that a person has decided about the transaction.
    pub(super) fn lets_leave(&mut self, number: SaleNumber, reversal: Action, decided: bool, now: Duration) -> Gate {
        if number > self.before || decided {
            return Gate::Opens(reversal);
        }
        match &self.comparison {
            // The transaction was left open when the copy was found. Although it is active again, it waits for a
            // person.
            _ if self.is_of_before_it_was_noticed(number) => Gate::Holds(Some(held_for_person(number))),
            Comparison::Finished | Comparison::BeganAnew(_) => Gate::Opens(reversal),
            Comparison::Due(_) | Comparison::Asking => {
                self.waiting.push((number, reversal, now));
                self.ask_now(now);
                Gate::Holds(None)
            }
            // The transaction's wait for a person could not be recorded. This event tries to record it again.
            Comparison::IsOldCopy(_) => Gate::Holds(Some(held_for_person(number))),
        }
    }

    /// Handles references that this journal does not know, which show that it is an outdated copy. Numbers continue
    /// above the highest one, and earlier transactions wait for a person.
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

    /// Records the finding once all earlier transactions wait for a person. Until then, the next start must repeat the
    /// comparison, for a period that begins at the same time.
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

    /// Checks that the journal knows all follow-ups of this transaction, as far as the agent can find out. `None` means
    /// a payment that this journal does not know, or money paid out without a payment.
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
