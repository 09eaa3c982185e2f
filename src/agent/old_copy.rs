//! Whether this journal is an old copy of itself: restored from a backup, or taken over from a board that went on after the copy was
//! made. Such a journal holds sales as open that have ended long since, and would reverse what a till was told is approved.
//!
//! So after each start no reversal of a sale of before leaves until the gateway was asked by date, from the last thing that the journal
//! knows until now, which references of this terminal it holds. If this journal does not know one of them, it is an old copy: numbers
//! go on above the highest, and the open sales wait for a person (`pos-agent settle`). New sales go on meanwhile. A gateway that cannot
//! be asked by date is a setting (`query-by-date`), and then nothing waits for it.
//!
//! The sale that was under way when the copy was made shows too: the journal says that its request was never sent, and the gateway
//! holds it.

use std::time::Duration;

use crate::journal::{self, Opened};
use crate::sale::{self, Action, Event};
use crate::till::{Refused, SaleView};

use super::{Agent, Done};

/// A day before the last thing that is known: clocks of board and gateway may differ, and zones.
const SLACK_MS: i64 = 24 * 3600 * 1000;
/// The wait after the first question without an answer; it doubles up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_secs(2);
/// No board went on for so many transactions after it was copied; a number further up is not one that ours may go on above, for
/// numbers end.
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
    /// The highest number at the start: what came later is this board's own.
    before: u64,
    /// References up to this number were found to be missing before, and what was open then waits for a person already.
    noticed: u64,
    tries: u32,
    /// Why the last question had no answer.
    trouble: Option<String>,
    /// Reversals that wait.
    waiting: Vec<(u64, Action)>,
}

impl OldCopy {
    /// What the journal said when it was opened. A journal without a transaction is nobody's copy.
    pub(super) fn new(opened: &Opened, can_be_asked: bool) -> Self {
        let known = opened.known_until_unix_ms.filter(|_| can_be_asked);
        Self {
            look: if known.is_some() { Look::Due(Duration::ZERO) } else { Look::Over },
            known_until_unix_ms: known.unwrap_or_default(),
            before: opened.last_number,
            noticed: opened.old_copy_above,
            tries: 0,
            trouble: None,
            waiting: Vec::new(),
        }
    }

    /// When it is asked next.
    pub(super) fn due(&self) -> Option<Duration> {
        if let Look::Due(at) = self.look { Some(at) } else { None }
    }

    /// What a person must know.
    pub(super) fn attention(&self) -> Option<String> {
        match (&self.look, &self.trouble) {
            (Look::Found(how), _) => Some(format!(
                "this journal is an old copy: {how}; open sales of before wait for pos-agent settle NUMBER --keep or --reverse"
            )),
            (Look::Due(_) | Look::Asking, Some(why)) if !self.waiting.is_empty() => Some(format!(
                "{} reversals wait until the gateway says whether this journal is an old copy: {why}; if it cannot be asked by date, \
                 set [gateway.assumptions] query-by-date = false",
                self.waiting.len()
            )),
            _ => None,
        }
    }
}

impl Agent {
    /// Gives a reversal back when it may leave.
    pub(super) fn may_leave(&mut self, number: u64, reversal: Action) -> Option<Action> {
        let decided = self.sales.get(&number).is_some_and(|active| active.sale.is_decided());
        if number > self.old_copy.before || decided {
            return Some(reversal);
        }
        match &self.old_copy.look {
            Look::Over => Some(reversal),
            Look::Due(_) | Look::Asking => {
                self.old_copy.waiting.push((number, reversal));
                None
            }
            // It could not be recorded that it waits for a person: tried again here.
            Look::Found(_) => {
                self.inbox.push_back((number, Event::OldCopy { why: waits_for_person(number) }));
                None
            }
        }
    }

    /// Asks the gateway when it is time.
    pub(super) fn look_for_old_copy(&mut self) {
        if self.old_copy.due().is_none_or(|at| at > self.clock.monotonic()) {
            return;
        }
        self.old_copy.look = Look::Asking;
        let (now, known) = (self.clock.unix_ms(), self.old_copy.known_until_unix_ms);
        // A clock that was ahead, or is behind, must not make the window too short.
        let (from, to) = (known.min(now).saturating_sub(SLACK_MS), known.max(now).saturating_add(SLACK_MS));
        let (gateway, done, places) = (self.gateway.clone(), self.done.clone(), self.earlier_sales.clone());
        tokio::spawn(async move {
            let _turn = places.acquire_owned().await;
            let references = gateway.references_between(from, to).await;
            let _ = done.send(Done::References { references }).await;
        });
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
                for (number, reversal) in std::mem::take(&mut self.old_copy.waiting) {
                    self.act(number, reversal);
                }
            }
            Ok(strange) => self.is_old_copy(&strange),
        }
    }

    /// The references that cannot be there when this journal is whole.
    fn strange(&self, references: Vec<String>) -> Result<Vec<String>, journal::Error> {
        let mut strange = Vec::new();
        for reference in references {
            let Some(number) = number_of(&reference) else { continue };
            let known = self.journal.knows(&reference)? && {
                let sale = self.journal.number(number)?;
                // One that was taken over has another number here.
                sale.is_none_or(|sale| sale.order().merchant_transaction_id != reference || sale.was_asked())
            };
            if !known && number > self.old_copy.noticed {
                strange.push(reference);
            }
        }
        Ok(strange)
    }

    fn is_old_copy(&mut self, strange: &[String]) {
        let furthest = self.last_number.saturating_add(MOST_MISSING);
        let numbers = strange.iter().filter_map(|reference| number_of(reference));
        let above = numbers.filter(|number| *number <= furthest).max().unwrap_or_default();
        let (count, last) = (strange.len(), strange.last().map_or("", String::as_str));
        let how = format!("the gateway holds {count} references of this terminal that it does not know, as {last}");
        tracing::error!(above, %how, "ALARM: this journal is an old copy");
        self.announce("alarm", &format!("ALARM: this journal is an old copy: {how}"));
        self.last_number = self.last_number.max(above);
        self.old_copy.waiting.clear();
        self.old_copy.look = Look::Found(how);
        let before: Vec<u64> = self.sales.range(..=self.old_copy.before).map(|(number, _)| *number).collect();
        for number in &before {
            self.advance(*number, Event::OldCopy { why: waits_for_person(*number) });
        }
        // Only when all of them wait: else the next start must find it again.
        let all_wait = !before.iter().any(|number| self.sales.get(number).is_some_and(|active| active.stuck));
        let unix_ms = self.now().unix_ms;
        if all_wait && let Err(error) = self.journal.mark_old_copy(above, unix_ms) {
            self.journal_is_faulty(&error);
        }
    }

    /// A person has decided what becomes of a sale that waits.
    pub(super) fn settle_sale(&mut self, number: u64, keep: bool) -> Result<SaleView, Refused> {
        let waits = self.sales.get(&number).is_some_and(|active| active.sale.is_held() && !active.stuck);
        if !waits {
            let why = format!(
                "transaction {number} does not wait for a person's decision; pos-agent status lists those that do"
            );
            return Err(Refused::NotPossible { why });
        }
        tracing::warn!(sale = number, keep, "a person has decided what becomes of a sale of an old copy");
        self.advance(number, sale::Event::Settle { keep });
        let settled = self.sales.get(&number).map(|active| self.view_of(&active.sale));
        settled.ok_or_else(|| Refused::NotPossible { why: format!("transaction {number} has ended") })
    }
}

fn waits_for_person(number: u64) -> String {
    format!(
        "this journal is an old copy and does not know what became of the sale; find out at the gateway or on the receipts whether it \
         was paid, then: pos-agent settle {number} --keep, or --reverse"
    )
}

/// The number in one of our references: terminal, number, 128 random bits, and which reversal it is.
fn number_of(reference: &str) -> Option<u64> {
    let mut parts = reference.split('-').skip(1);
    let (number, random) = (parts.next()?, parts.next()?);
    let ours = random.len() == 32 && random.bytes().all(|digit| digit.is_ascii_hexdigit());
    number.parse().ok().filter(|_| ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_read_from_our_references_alone() {
        for (reference, number) in [
            ("12345678-7-00112233445566778899aabbccddeeff", Some(7)),
            ("12345678-4711-00112233445566778899aabbccddeeff-r2", Some(4711)),
            ("12345678-7-0011", None),
            ("12345678-x-00112233445566778899aabbccddeeff", None),
            ("12345678", None),
            ("", None),
        ] {
            assert_eq!(number_of(reference), number, "{reference}");
        }
    }
}
