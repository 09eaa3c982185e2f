//! The comparison with the gateway: the period to ask for, this terminal's references at the gateway, and those that
//! this journal lacks.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::agent::clock::Clock;
use crate::agent::devices::GatewayControl;
use crate::agent::engine::open_transactions::OpenTransactions;
use crate::agent::identity::Identity;
use crate::agent::journal_writer::JournalWriter;
use pos_core::transaction::{self, Action, Event};
use pos_gateway::Found;
use pos_terms::transaction::SaleNumber;

use super::{Comparison, GoesOn, ListShows, OldCopy};

/// A tolerance of one day, because the clocks and time zones of board and gateway may differ.
const SLACK_MS: i64 = 24 * 3600 * 1000;
/// The tolerance for the gateway's time, which is in whole seconds and arrives with a delay.
const BEGAN_SLACK_MS: i64 = 5_000;
/// The period for which a new journal asks for payments of an earlier board: three days, to cover a weekend.
const FORERUNNER_MS: i64 = 3 * SLACK_MS;
/// The oldest possible time of a journal, 2024-01-01.
const OLDEST_MS: i64 = 1_704_067_200_000;
/// The wait after the first request without an answer. It doubles each time, up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_secs(2);
/// The greatest number of transactions that a board can have made after it was copied. Higher numbers are ignored,
/// because numbers are finite and this journal continues above the highest one.
const MOST_MISSING: u64 = 1_000_000;
/// The longest wait. A shop's network comes back within minutes.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// The data for the comparison, which changes none of it.
#[derive(Clone, Copy)]
pub(in crate::agent) struct Beside<'a> {
    pub(in crate::agent) journal: &'a JournalWriter,
    pub(in crate::agent) sales: &'a OpenTransactions,
    pub(in crate::agent) identity: &'a Identity,
    pub(in crate::agent) clock: &'a Clock,
}

impl OldCopy {
    /// Asks the gateway if the request is due.
    pub(in crate::agent) fn look(
        &mut self,
        gateway: &GatewayControl,
        beside: Beside<'_>,
    ) -> Result<(), pos_journal::Error> {
        let now = beside.clock.monotonic();
        if self.due(gateway).is_none_or(|at| at > now) {
            return Ok(());
        }
        match self.what_is_asked(beside) {
            Ok((terminals, times)) => {
                self.comparison = Comparison::Asking;
                gateway.list_references(terminals, times);
                Ok(())
            }
            Err(error) => {
                self.comparison = Comparison::Due(now + FIRST_WAIT);
                Err(error)
            }
        }
    }

    /// Returns the terminal ids and the period to ask for. The ids are this terminal's and those in the journal in that
    /// period, because a copy may be restored with another id.
    fn what_is_asked(&mut self, beside: Beside<'_>) -> Result<(BTreeSet<String>, (i64, i64)), pos_journal::Error> {
        let (from, to) = self.times(beside)?;
        let mut terminals = beside.journal.book().terminals_since(from)?;
        terminals.insert(beside.identity.terminal_id().to_owned());
        Ok((terminals, (from, to)))
    }

    /// Returns the period to ask for, in the gateway's clock. The journal stores the start of the period until there is
    /// an answer.
    fn times(&mut self, beside: Beside<'_>) -> Result<(i64, i64), pos_journal::Error> {
        let (clock, book) = (beside.clock, beside.journal.book());
        let board = clock.unix_ms();
        // If no clock of the terminal can be right, only the gateway's can be used.
        let (now, apart) = match (clock.local(), clock.gateway()) {
            (None, Some(gateway)) => (gateway, 0),
            _ => (board, gateway_is_ahead_s(clock).saturating_mul(1000)),
        };
        if self.is_new {
            // This uses the gateway's clock, if known, because this board's clock says nothing about another board's
            // payments.
            let now = clock.gateway().unwrap_or(now);
            return Ok((now.saturating_sub(FORERUNNER_MS).max(0), now.saturating_add(SLACK_MS)));
        }
        // A record from a later time was written by a clock that was ahead, so it is no evidence of what the journal
        // knows.
        let over = now.saturating_add(SLACK_MS);
        if self.known_until_unix_ms > over {
            self.known_until_unix_ms = book.known_until(over)?.unwrap_or_default();
        }
        if let Some(begun) = self.open_before_another_account(beside) {
            self.known_until_unix_ms = begun.min(self.known_until_unix_ms);
        }
        let (known, first) = (self.known_until_unix_ms, self.first_unix_ms);
        if self.tries == 0 {
            book.look_from(Some(known))?;
        }
        let (from, to) = window(known, first, book.began()?, now, apart);
        Ok((from.max(0), to.max(board.saturating_add(SLACK_MS))))
    }

    /// Returns when the first open transaction began, if the latest transaction was begun with another account. In the
    /// meantime, the agent asked that account and not this one.
    fn open_before_another_account(&self, Beside { journal, sales, identity, .. }: Beside<'_>) -> Option<i64> {
        let latest = journal.book().number(self.before).ok().flatten()?;
        let open = sales.until(self.before).filter(|_| identity.is_of_another_account(latest.order()));
        open.map(|active| active.order().started_unix_ms).min()
    }

    /// Handles the gateway's list of references, or the failure to get it.
    pub(in crate::agent) fn references_listed(
        &mut self,
        found: Result<Found, String>,
        journal: &JournalWriter,
        now: Duration,
    ) -> ListShows {
        self.lists_no_more = found.as_ref().is_ok_and(|found| found.incomplete.is_some());
        let strange = found.and_then(|Found { references, incomplete }| {
            let strange = self.strange(references, journal).map_err(|error| error.to_string())?;
            // An unknown reference shows an outdated copy, even in an incomplete list.
            incomplete.filter(|_| strange.is_empty()).map_or(Ok(strange), Err)
        });
        match strange {
            Err(why) => {
                let wait = (FIRST_WAIT * 2_u32.saturating_pow(self.tries.min(16))).min(LONGEST_WAIT);
                self.tries += 1;
                self.comparison = Comparison::Due(now + wait);
                let why = why.into();
                if self.trouble.as_ref() != Some(&why) {
                    tracing::warn!(%why, "the gateway cannot be asked by date whether this journal is an outdated \
                        copy");
                }
                self.trouble = Some(why);
                ListShows::Nothing
            }
            Ok(strange) if strange.is_empty() => {
                self.comparison = Comparison::Finished;
                journal.look_is_answered();
                let unsent = std::mem::take(&mut self.unsent).into_iter();
                let restarted = unsent.map(|number| (number, GoesOn::Hears(Event::Restarted)));
                let waited = std::mem::take(&mut self.waiting).into_iter();
                let goes_on = waited.flat_map(|(number, reversal, since)| {
                    goes_on(reversal, now.saturating_sub(since)).into_iter().map(move |one| (number, one))
                });
                ListShows::IsWhole(restarted.chain(goes_on).collect())
            }
            Ok(strange) if self.is_new => {
                let count = strange.len();
                tracing::warn!(count, "this journal is new, but the gateway has payments of this terminal");
                self.comparison = Comparison::BeganAnew(count);
                ListShows::BeganAnew
            }
            Ok(strange) => ListShows::Missing(strange),
        }
    }

    /// Returns the references that this journal does not know, which show that it is an outdated copy.
    pub(in crate::agent) fn strange(
        &self,
        references: Vec<String>,
        journal: &JournalWriter,
    ) -> Result<Vec<String>, pos_journal::Error> {
        let mut strange = Vec::new();
        for reference in references {
            let Some(number) = number_of(&reference) else { continue };
            if number > journal.last_number.saturating_add(MOST_MISSING) {
                // No board makes so many transactions. A person must find the sender. The agent draws no conclusion.
                tracing::error!(%reference, "ALARM: the gateway has a reference in the agent's format with an \
                    impossible number");
                continue;
            }
            let known = journal.book().knows(&reference)?
                && match journal.book().number(number) {
                    // A transaction from another board's journal has another number here.
                    Ok(sale) => {
                        sale.is_none_or(|sale| sale.order().merchant_transaction_id != reference || sale.was_asked())
                    }
                    // The journal knows a transaction that a later version of the program wrote, although it cannot be
                    // read.
                    Err(pos_journal::Error::Unreadable { .. }) => true,
                    Err(error) => return Err(error),
                };
            if !known && !self.noticed.references.contains(&mark_of(&reference)) {
                strange.push(reference);
            }
        }
        Ok(strange)
    }
}

/// Returns how a waiting reversal continues. After a long wait, the payment may have been refunded, so the agent looks
/// it up again.
fn goes_on(reversal: Action, waited: Duration) -> Vec<GoesOn> {
    match reversal {
        Action::Reverse { reference, .. } if waited > transaction::FRESH => {
            let why = transaction::Reason::ReversalHeldBack.into();
            let reversal = transaction::ReversalAnswer::HeldBack { why, for_person: false };
            let answered = Event::ReversalAnswered { reference, reversal };
            vec![GoesOn::Hears(answered), GoesOn::Hears(Event::RetryNow)]
        }
        reversal => vec![GoesOn::Does(reversal)],
    }
}

/// Returns how far the gateway's clock is ahead of the board's, in seconds, according to the latest probe.
fn gateway_is_ahead_s(clock: &Clock) -> i64 {
    let Some(gateway) = clock.gateway() else { return 0 };
    (gateway / 1000).saturating_sub(clock.unix_ms() / 1000)
}

/// Returns the period to ask for, in the gateway's clock. `known` is the time of the journal's latest record, `first`
/// that of its first record, and `began` the gateway's time when the journal was empty. `apart` is how far the
/// gateway's clock is ahead. All are in milliseconds.
fn window(known: i64, first: i64, began: Option<i64>, now: i64, apart: i64) -> (i64, i64) {
    // A time in the future was written by a wrong clock, so it is no limit.
    let before = |at: i64| if at <= now { at.saturating_sub(SLACK_MS).max(OLDEST_MS) } else { OLDEST_MS };
    // The period must not become shorter because the gateway's or the board's clock was ahead or is behind.
    let from = before(known).max(before(first)).saturating_add(apart.min(0));
    // If the board's clock is ahead by more than the tolerance, it may have been ahead by even more when it wrote those
    // times.
    let from = if apart < -SLACK_MS { from.min(OLDEST_MS) } else { from };
    let began = began.filter(|began| *began <= now.saturating_add(apart));
    let began = began.map_or(i64::MIN, |began| began.saturating_sub(BEGAN_SLACK_MS));
    (from.max(began), known.max(now).saturating_add(SLACK_MS).saturating_add(apart.max(0)))
}

/// Returns the part of a reference by which the journal recognises it: everything except the terminal and the second
/// half of the random bits.
pub(super) fn mark_of(reference: &str) -> String {
    let mut parts = reference.split('-').skip(1);
    let (number, random) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let half = random.get(..16).unwrap_or(random);
    parts.fold(format!("{number}-{half}"), |mark, part| format!("{mark}-{part}"))
}

/// Returns the number in a reference that has the agent's form: terminal, number, 128 random bits, and optionally the
/// number of the reversal.
pub(super) fn number_of(reference: &str) -> Option<SaleNumber> {
    let mut parts = reference.split('-').skip(1);
    let (number, random) = (parts.next()?, parts.next()?);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    let ours = random.len() == 32 && random.bytes().all(|digit| digit.is_ascii_hexdigit()) && digits(number);
    // The rest is empty or gives the number of the reversal.
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
        // The board's clock was five days ahead when the copy was made, and was set right later.
        assert!(holds(now + 72 * HOUR, now - 300 * HOUR, 0, now - 47 * HOUR));
        // The clock was two hours ahead when the journal began.
        assert!(holds(now - 2 * HOUR, now - 2 * HOUR, 0, now - 3 * HOUR));
        for apart in [-72 * HOUR, 72 * HOUR] {
            assert!(holds(copied, old, apart, now - HOUR + apart), "the gateway's clock is {apart} ms ahead");
            assert!(holds(copied, old, apart, copied + HOUR + apart), "the gateway's clock is {apart} ms ahead");
        }
        // The board's clock was five days ahead when the copy was made, and later it stopped for two days.
        assert!(holds(now, old, -72 * HOUR, now - 120 * HOUR));
        // The terminal was set up again. Its predecessor's transactions from days earlier are not its own.
        let set_up = now - 2 * HOUR;
        assert!(!holds(now - HOUR, set_up, 0, now - 27 * HOUR));
        assert!(holds(now - HOUR, set_up, 0, now - HOUR));
        // They may be its own if the clock was ahead at that time.
        assert!(holds(now - HOUR, now + HOUR, 0, now - 20 * HOUR));
        assert!(holds(now + HOUR, now + HOUR, 0, now - 27 * HOUR));
        // The gateway's clock gives the start of the journal to the second, independent of the board's clock. A board
        // that replaces another does not take the other's transactions for its own.
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
