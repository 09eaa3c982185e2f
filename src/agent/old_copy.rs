//! Whether this journal is an old copy of itself: restored from a backup, or taken over from a board that went on after
//! the copy was made. Such a journal holds sales as open that have ended long since, and would reverse what a till was
//! told is approved.
//!
//! So after each start no reversal of a sale of before leaves until the gateway was asked by date, from the last thing
//! that the journal knows until now, which references of this terminal it holds. If this journal does not know one of
//! them, it is an old copy: numbers go on above the highest, and the open sales wait for a person (`pos-agent settle`).
//! New sales go on meanwhile. A gateway that cannot be asked by date is a setting (`query-by-date`), and then nothing
//! waits for it.
//!
//! What was given back or taken since, such a journal does not know either: nothing follows a transaction of before it
//! was found, and until the gateway was asked nothing is given back, taken or paid out on what the journal says.
//!
//! The gateway's times are the gateway's: where its clock and the board's differ (the probe tells), the time that is
//! asked for is moved by the difference; a gateway that tells no time is taken to be within a day of ours. The sale
//! that was under way when the copy was made shows too: the journal says that its request was never sent, and the
//! gateway holds it. So what had not been sent when the power went is not told as cancelled before the gateway was
//! asked.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::journal::{self, Opened};
use crate::sale::{self, Action, Event, Sale};
use crate::till::{Attention, AttentionView, Refused, SaleView};
use crate::transaction::{SaleNumber, Who};

use super::{Agent, Done};

/// A day before the last thing that is known: clocks of board and gateway may differ, and zones.
const SLACK_MS: i64 = 24 * 3600 * 1000;
/// The gateway's time has whole seconds, and its answer was on the way.
const BEGAN_SLACK_MS: i64 = 5_000;
/// 2024-01-01: no journal is older.
const OLDEST_MS: i64 = 1_704_067_200_000;
/// The wait after the first question without an answer; it doubles up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_secs(2);
/// No board went on for so many transactions after it was copied; a number further up is not one that ours may go on
/// above, for numbers end.
const MOST_MISSING: u64 = 1_000_000;
/// A shop's network comes back within minutes.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// How far the look has come.
#[derive(Debug)]
enum Look {
    /// To be asked at this time.
    Due(Duration),
    /// The gateway is being asked.
    Asking,
    /// It is no old copy, or nobody can say.
    Over,
    /// It is one: how that shows.
    Found(String),
}

/// What is known of it, and what waits for it.
#[derive(Debug)]
pub(super) struct OldCopy {
    look: Look,
    /// The wall clock of the last thing that the journal knew at the start.
    known_until_unix_ms: i64,
    /// The wall clock of the first thing that it holds: what the gateway holds from a day before that is another
    /// journal's, of a terminal that was set up anew.
    first_unix_ms: i64,
    /// The highest number at the start: what came later is this board's own.
    before: SaleNumber,
    /// What was found before: what was open then waits for a person already, and what was done then is not known.
    noticed: journal::OldCopy,
    tries: u32,
    /// Why the last question had no answer.
    trouble: Option<String>,
    /// Reversals that wait, and since when.
    waiting: Vec<(SaleNumber, Action, Duration)>,
    /// Transactions of before that this journal never sent: cancelled, unless the gateway holds them.
    unsent: BTreeSet<SaleNumber>,
    /// Those of them that the gateway holds.
    not_unsent: BTreeSet<SaleNumber>,
    /// What was found is not in the book yet.
    pub(super) unmarked: bool,
}

impl OldCopy {
    /// What the journal said when it was opened. A journal without a transaction is nobody's copy.
    pub(super) fn new(opened: &Opened, can_be_asked: bool) -> Self {
        let known = opened.known_until_unix_ms.filter(|_| can_be_asked);
        Self {
            look: if known.is_some() { Look::Due(Duration::ZERO) } else { Look::Over },
            known_until_unix_ms: known.unwrap_or_default(),
            first_unix_ms: opened.first_unix_ms,
            before: opened.last_number,
            noticed: opened.old_copy.clone(),
            tries: 0,
            trouble: None,
            waiting: Vec::new(),
            unsent: BTreeSet::new(),
            not_unsent: BTreeSet::new(),
            unmarked: false,
        }
    }

    /// Why the gateway has not been asked yet.
    pub(super) fn cannot_be_asked(&mut self, why: String) {
        self.trouble = Some(why);
    }

    /// The gateway answers again: a good moment to ask.
    pub(super) fn nudge(&mut self, now: Duration) {
        if let Look::Due(at) = &mut self.look {
            *at = now.min(*at);
        }
    }

    /// Whether this transaction, which was open at the start, waits for the gateway's word.
    pub(super) fn holds_up(&self, number: SaleNumber) -> bool {
        self.unsent.contains(&number)
    }

    /// What a transaction that is taken up from the disk hears first; nothing as long as the gateway's word is waited
    /// for.
    pub(super) fn first_event(&mut self, number: SaleNumber, never_sent: bool) -> Option<Event> {
        match self.look {
            Look::Due(_) | Look::Asking if never_sent && number <= self.before => {
                self.unsent.insert(number);
                None
            }
            // It could not be recorded that it waits for a person.
            Look::Found(_) if never_sent && self.not_unsent.contains(&number) => {
                Some(Event::OldCopy { why: waits_for_person(number) })
            }
            _ => Some(Event::Restarted),
        }
    }

    /// When it is asked next.
    fn due(&self) -> Option<Duration> {
        if let Look::Due(at) = self.look { Some(at) } else { None }
    }

    /// What a person must know.
    pub(super) fn attention(&self) -> Option<AttentionView> {
        let (code, text) = match (&self.look, &self.trouble) {
            (Look::Found(how), _) => (
                Attention::JournalOldCopy,
                format!(
                    "this journal is an old copy: {how}; open sales of before wait for pos-agent settle NUMBER --keep or --reverse"
                ),
            ),
            (Look::Due(_) | Look::Asking, Some(why)) => (
                Attention::JournalNotCompared,
                format!(
                    "the gateway has not said whether this journal is an old copy ({why}); until it does, refunds, captures and credits are \
                 refused and reversals of before wait; if it cannot be asked by date, set [gateway.assumptions] query-by-date = false"
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

impl Agent {
    /// Gives a reversal back, unless the gateway's word is waited for.
    pub(super) fn unless_old_copy(&mut self, number: SaleNumber, reversal: Action) -> Option<Action> {
        let decided = self.sales.get(&number).is_some_and(|active| active.sale.is_decided());
        if number > self.old_copy.before || decided {
            return Some(reversal);
        }
        match &self.old_copy.look {
            Look::Over => Some(reversal),
            Look::Due(_) | Look::Asking => {
                self.old_copy.waiting.push((number, reversal, self.clock.monotonic()));
                None
            }
            // It could not be recorded that it waits for a person: tried again here.
            Look::Found(_) => {
                self.inbox.push_back((number, Event::OldCopy { why: waits_for_person(number) }));
                None
            }
        }
    }

    /// When the gateway is asked next: after the first probe, which tells how far its clock is from ours, and wakes the
    /// loop itself.
    pub(super) fn old_copy_due(&self) -> Option<Duration> {
        self.old_copy.due().filter(|_| self.was_probed)
    }

    /// Asks the gateway when it is time.
    pub(super) fn look_for_old_copy(&mut self) {
        if self.old_copy_due().is_none_or(|at| at > self.clock.monotonic()) {
            return;
        }
        let (from, to) = match self.window() {
            Ok(window) => window,
            Err(error) => {
                self.old_copy.look = Look::Due(self.clock.monotonic() + FIRST_WAIT);
                return self.journal_is_faulty(&error);
            }
        };
        self.old_copy.look = Look::Asking;
        let (gateway, done, places) = (self.gateway.clone(), self.done.clone(), self.earlier_sales.clone());
        tokio::spawn(async move {
            let _turn = places.acquire_owned().await;
            let strange = |references| {
                let done = done.clone();
                async move {
                    let (reply, said) = oneshot::channel();
                    let _ = done.send(Done::SomeReferences { references, reply }).await;
                    said.await.unwrap_or_else(|_| Err("the terminal is being stopped".to_owned()))
                }
            };
            let references = gateway.references_between(from, to, strange).await;
            let _ = done.send(Done::References { references }).await;
        });
    }

    /// The time that the gateway is asked for, in its own clock; the journal keeps from when on, until there is an
    /// answer.
    fn window(&mut self) -> Result<(i64, i64), journal::Error> {
        let board = self.clock.unix_ms();
        // While no clock here can be right the gateway's is the only one.
        let (now, apart) = match (self.clock.local(), self.clock.gateway()) {
            (None, Some(gateway)) => (gateway, 0),
            _ => (board, self.gateway_is_ahead_s().saturating_mul(1000)),
        };
        // A record that is later was written by a clock that was ahead, and tells nothing of until when the journal
        // knows.
        let over = now.saturating_add(SLACK_MS);
        if self.old_copy.known_until_unix_ms > over {
            self.old_copy.known_until_unix_ms = self.journal.known_until(over)?.unwrap_or_default();
        }
        let OldCopy { known_until_unix_ms: known, first_unix_ms: first, .. } = self.old_copy;
        if self.old_copy.tries == 0 {
            self.journal.look_from(Some(known))?;
        }
        let began = self.journal.began()?;
        let (from, to) = window(known, first, began, now, apart);
        Ok((from.max(0), to.max(board.saturating_add(SLACK_MS))))
    }

    /// The gateway named the references that it holds, or could not be asked.
    pub(super) fn references_listed(&mut self, references: Result<Vec<String>, String>) {
        let strange = references.and_then(|all| self.strange(all).map_err(|error| error.to_string()));
        match strange {
            Err(why) => {
                let wait = (FIRST_WAIT * 2_u32.saturating_pow(self.old_copy.tries.min(16))).min(LONGEST_WAIT);
                self.old_copy.tries += 1;
                self.old_copy.look = Look::Due(self.clock.monotonic() + wait);
                if self.old_copy.trouble.as_ref() != Some(&why) {
                    tracing::warn!(%why, "the gateway cannot be asked by date whether this journal is an old copy");
                }
                self.old_copy.trouble = Some(why);
            }
            Ok(strange) if strange.is_empty() => {
                self.old_copy.look = Look::Over;
                self.look_is_answered();
                for number in std::mem::take(&mut self.old_copy.unsent) {
                    self.inbox.push_back((number, Event::Restarted));
                }
                for (number, reversal, since) in std::mem::take(&mut self.old_copy.waiting) {
                    self.goes_on(number, reversal, since);
                }
            }
            Ok(strange) => self.is_old_copy(&strange),
        }
    }

    /// A reversal that had to wait. When that was long, somebody may have given the payment back meanwhile: it is
    /// looked up again.
    fn goes_on(&mut self, number: SaleNumber, reversal: Action, since: Duration) {
        let waited = self.clock.monotonic().saturating_sub(since);
        match reversal {
            Action::Reverse { reference, .. } if waited > sale::FRESH => {
                let why = sale::Reason::ReversalHeldBack.into();
                let reversal = sale::Reversal::HeldBack { why, for_person: false };
                self.inbox.push_back((number, Event::ReversalAnswered { reference, reversal }));
                self.inbox.push_back((number, Event::Nudged));
            }
            reversal => self.act(number, reversal),
        }
    }

    /// The references that cannot be there when this journal is whole.
    pub(super) fn strange(&self, references: Vec<String>) -> Result<Vec<String>, journal::Error> {
        let mut strange = Vec::new();
        for reference in references {
            let Some(number) = number_of(&reference) else { continue };
            if number > self.last_number.saturating_add(MOST_MISSING) {
                // No board went on so far; who sent it is for a person to find out, and nothing here rests on it.
                tracing::error!(%reference, "ALARM: the gateway holds a reference like ours with a number that ours cannot have");
                continue;
            }
            let known = self.journal.knows(&reference)?
                && match self.journal.number(number) {
                    // One that was taken over has another number here.
                    Ok(sale) => {
                        sale.is_none_or(|sale| sale.order().merchant_transaction_id != reference || sale.was_asked())
                    }
                    // A later program's, set aside: it is in the book.
                    Err(journal::Error::Unreadable { .. }) => true,
                    Err(error) => return Err(error),
                };
            if !known && !self.old_copy.noticed.references.contains(&mark_of(&reference)) {
                strange.push(reference);
            }
        }
        Ok(strange)
    }

    fn is_old_copy(&mut self, strange: &[String]) {
        let above = strange.iter().filter_map(|reference| number_of(reference)).max().unwrap_or_default();
        let (count, last) = (strange.len(), strange.last().map_or("", String::as_str));
        // Every till hears it, and the references are not every till's business.
        let how = format!(
            "the gateway holds {count} references of this terminal that the journal does not know (the log has the last one)"
        );
        tracing::error!(above = above.get(), %how, last, "ALARM: this journal is an old copy");
        self.announce("alarm", &format!("ALARM: this journal is an old copy: {how}"));
        self.last_number = self.last_number.max(above);
        self.old_copy.waiting.clear();
        self.old_copy.look = Look::Found(how);
        let ours = |sale: &Sale| strange.contains(&sale.order().merchant_transaction_id);
        for number in std::mem::take(&mut self.old_copy.unsent) {
            if self.sales.get(&number).is_some_and(|active| ours(&active.sale)) {
                self.old_copy.not_unsent.insert(number);
            } else {
                self.advance(number, Event::Restarted);
            }
        }
        let before: Vec<SaleNumber> = self.sales.range(..=self.old_copy.before).map(|(number, _)| *number).collect();
        for number in &before {
            self.advance(*number, Event::OldCopy { why: waits_for_person(*number) });
        }
        let noticed = &mut self.old_copy.noticed;
        noticed.above = noticed.above.max(above);
        noticed.before = noticed.before.max(self.old_copy.before);
        noticed.references.extend(strange.iter().map(|reference| mark_of(reference)));
        self.old_copy.unmarked = true;
        self.mark_old_copy();
    }

    /// Writes down what was found, once all of before wait for a person: until then the next start must find it again,
    /// and ask from where this one did.
    pub(super) fn mark_old_copy(&mut self) {
        let mut before = self.sales.range(..=self.old_copy.before);
        if !self.old_copy.unmarked || self.journal_fault.is_some() || before.any(|(_, active)| active.stuck) {
            return;
        }
        let (found, unix_ms) = (self.old_copy.noticed.clone(), self.now().unix_ms);
        match self.journal.mark_old_copy(&found, unix_ms) {
            Ok(()) => {
                self.old_copy.unmarked = false;
                self.look_is_answered();
            }
            Err(error) => self.journal_is_faulty(&error),
        }
    }

    /// A journal without a transaction: what the gateway holds from before now is not its own.
    pub(super) fn journal_begins(&mut self, gateway_unix_s: Option<i64>) {
        let Some(gateway) = gateway_unix_s.filter(|_| self.last_number == SaleNumber::BEFORE_ALL) else { return };
        let now = self.now().unix_ms;
        if let Err(error) = self.journal.begin(gateway.saturating_mul(1000), now) {
            tracing::warn!(%error, "the journal could not note when it began");
        }
    }

    /// A start later it need not be asked from here any more.
    fn look_is_answered(&mut self) {
        if let Err(error) = self.journal.look_from(None) {
            tracing::warn!(%error, "the journal could not note that the gateway was asked; the next start asks from earlier");
        }
    }

    /// Whether the journal knows all that was done with the transaction of this number, as far as it can be known.
    /// `None` stands for what this journal does not know anyway, and for money that is given without a payment.
    pub(super) fn is_whole_for(&self, number: Option<SaleNumber>) -> Result<(), Refused> {
        let OldCopy { look, before, noticed, .. } = &self.old_copy;
        if let Some(number) = number.filter(|number| *number <= noticed.before) {
            let why = format!(
                "transaction {number} is older than the moment at which this journal was found to be an old copy: what was given \
                 back or taken of it since is not known here; see to it in the gateway's back office"
            );
            return Err(Refused::NotPossible { why });
        }
        if number.is_none_or(|number| number <= *before) && matches!(look, Look::Due(_) | Look::Asking) {
            let why = "the gateway has not said yet whether this journal is an old copy, which would not know what was given back; \
                       try again in a moment";
            return Err(Refused::NotReady { why: why.to_owned() });
        }
        Ok(())
    }

    /// By how much the gateway's clock is ahead of ours, in seconds, as the latest probe told.
    fn gateway_is_ahead_s(&self) -> i64 {
        let Some(gateway) = self.clock.gateway() else { return 0 };
        (gateway / 1000).saturating_sub(self.clock.unix_ms() / 1000)
    }

    /// A person has decided what becomes of a sale that waits.
    pub(super) fn settle_sale(&mut self, number: SaleNumber, keep: bool, by: &Who) -> Result<SaleView, Refused> {
        let waits = self.sales.get(&number).is_some_and(|active| active.sale.is_held() && !active.stuck);
        if !waits {
            let why = format!(
                "transaction {number} does not wait for a person's decision; pos-agent status lists those that do"
            );
            return Err(Refused::NotPossible { why });
        }
        tracing::warn!(sale = number.get(), keep, %by, "a person has decided what becomes of a sale of an old copy");
        self.advance(number, sale::Event::Settle { keep, by: Some(by.clone()) });
        let settled = self.sales.get(&number).map(|active| self.view_of(&active.sale));
        settled.ok_or_else(|| Refused::NotPossible { why: format!("transaction {number} has ended") })
    }
}

/// The time that the gateway is asked for, in its own clock: what happened after the last thing that the journal knows.
/// `first` is the first thing that it holds, `began` the gateway's time when it was empty, `apart` by how much the
/// gateway's clock is ahead; all in milliseconds.
fn window(known: i64, first: i64, began: Option<i64>, now: i64, apart: i64) -> (i64, i64) {
    // What lies in the future was written by a clock gone wrong, and bounds nothing.
    let before = |at: i64| if at <= now { at.saturating_sub(SLACK_MS).max(OLDEST_MS) } else { OLDEST_MS };
    // A clock that was ahead, or is behind, must not make the window too short, neither the gateway's nor ours.
    let from = before(known).max(before(first)).saturating_add(apart.min(0));
    // A clock that is ahead by more than that may have been ahead by even more when it told those times.
    let from = if apart < -SLACK_MS { from.min(OLDEST_MS) } else { from };
    let began = began.filter(|began| *began <= now.saturating_add(apart));
    let began = began.map_or(i64::MIN, |began| began.saturating_sub(BEGAN_SLACK_MS));
    (from.max(began), known.max(now).saturating_add(SLACK_MS).saturating_add(apart.max(0)))
}

/// The number is what `pos-agent settle` is told.
fn waits_for_person(number: SaleNumber) -> sale::Why {
    sale::Reason::OldCopy.with(number)
}

/// What of a reference is kept in the book, to know it again: all but the terminal and the second half of its random
/// bits.
fn mark_of(reference: &str) -> String {
    let mut parts = reference.split('-').skip(1);
    let (number, random) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let half = random.get(..16).unwrap_or(random);
    parts.fold(format!("{number}-{half}"), |mark, part| format!("{mark}-{part}"))
}

/// The number in one of our references: terminal, number, 128 random bits, and which reversal it is.
fn number_of(reference: &str) -> Option<SaleNumber> {
    let mut parts = reference.split('-').skip(1);
    let (number, random) = (parts.next()?, parts.next()?);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    let ours = random.len() == 32 && random.bytes().all(|digit| digit.is_ascii_hexdigit()) && digits(number);
    // Behind it stands nothing, or which reversal it is.
    let ends = match (parts.next(), parts.next()) {
        (None, _) => true,
        (Some(nth), None) => nth.strip_prefix('r').is_some_and(digits),
        _ => false,
    };
    number.parse().ok().filter(|_| ours && ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_holds_all_that_may_have_happened_since_whatever_the_clocks_say() {
        const HOUR: i64 = 3600 * 1000;
        let (old, now) = (0, 1_800_000_000_000);
        let holds = |known, first, apart, at| {
            let (from, to) = window(known, first, None, now, apart);
            (from..=to).contains(&at)
        };
        let copied = now - 48 * HOUR;
        for (known, what) in [(copied, "an hour ago"), (now + 365 * 24 * HOUR, "written a year ahead")] {
            assert!(holds(known, old, 0, now - HOUR), "{what}");
        }
        // Five days ahead when the copy was made, and right again: when that was, nobody knows.
        assert!(holds(now + 72 * HOUR, now - 300 * HOUR, 0, now - 47 * HOUR));
        // Two hours ahead when the journal began.
        assert!(holds(now - 2 * HOUR, now - 2 * HOUR, 0, now - 3 * HOUR));
        for apart in [-72 * HOUR, 72 * HOUR] {
            assert!(holds(copied, old, apart, now - HOUR + apart), "the gateway's clock is {apart} ms ahead");
            assert!(holds(copied, old, apart, copied + HOUR + apart), "the gateway's clock is {apart} ms ahead");
        }
        // The board was five days ahead when the copy was made, and stood still for two days.
        assert!(holds(now, old, -72 * HOUR, now - 120 * HOUR));
        // A terminal that was set up anew: what its predecessor did days before is not its own.
        let set_up = now - 2 * HOUR;
        assert!(!holds(now - HOUR, set_up, 0, now - 27 * HOUR));
        assert!(holds(now - HOUR, set_up, 0, now - HOUR));
        // Unless its clock was ahead then.
        assert!(holds(now - HOUR, now + HOUR, 0, now - 20 * HOUR));
        assert!(holds(now + HOUR, now + HOUR, 0, now - 27 * HOUR));
        // By the gateway's clock it is known when it began, to the second, whatever the board's clock said: a board
        // that takes another one's place holds nothing of that one's for its own.
        let (from, _) = window(now - HOUR, now - HOUR, Some(now - 2 * HOUR), now, 0);
        assert_eq!(from, now - 2 * HOUR - BEGAN_SLACK_MS);
        let (from, _) = window(now - HOUR, now - HOUR, Some(now + 2 * HOUR), now, 0);
        assert!(from < now - 20 * HOUR, "a time that is still to come bounds nothing");
        let (from, _) = window(now - HOUR, old, Some(now - 72 * HOUR), now, 0);
        assert!(from > now - 26 * HOUR, "what is known for long is not asked for again");
    }

    #[test]
    fn the_number_is_read_from_our_references_alone() {
        for (reference, number) in [
            ("12345678-7-00112233445566778899aabbccddeeff", Some(7)),
            ("12345678-4711-00112233445566778899aabbccddeeff-r2", Some(4711)),
            ("12345678-7-00112233445566778899aabbccddeeff-refund", None),
            ("12345678-7-00112233445566778899aabbccddeeff-r1-2", None),
            ("12345678-+7-00112233445566778899aabbccddeeff", None),
            ("12345678-7-0011", None),
            ("12345678-x-00112233445566778899aabbccddeeff", None),
            ("12345678", None),
            ("", None),
        ] {
            assert_eq!(number_of(reference), number.map(SaleNumber::new), "{reference}");
        }
    }
}
