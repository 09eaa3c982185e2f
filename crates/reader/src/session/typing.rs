//! An amount or a tip typed on the reader (readers: 2.10). The result is an amount or a reason, never a guess.

use std::time::Duration;

use super::line::{ABORT_ANSWER, PendingAnswer, ReaderLine};
use super::next::Next;
use crate::capability::Capability;
use crate::config::TipEntry;
use crate::family::{CommandAnswer, CommandPurpose, FailureKind, ReaderQuestion};
use crate::typed_amount::minor_units;
use crate::{AmountToType, NoAmount, ReaderEvent, ReaderProgress, TypeAmount};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::SaleNumber;

/// The longest time for typing. A person who needs longer has gone away.
const LONGEST: Duration = Duration::from_secs(300);
/// The margin after the reader's own time-out, so that no ABORT coincides with the last key press.
const GRACE: Duration = ABORT_ANSWER;

/// An entry in progress.
pub(super) struct AmountEntry {
    sale: SaleNumber,
    what: AmountToType,
    /// The reason to report, if the abort was sent.
    stop: Option<NoAmount>,
}

impl AmountEntry {
    pub(super) fn start(line: &mut ReaderLine, order: TypeAmount, now: Duration) -> Next<Self> {
        let TypeAmount { sale, what, timeout } = order;
        let timeout = timeout.clamp(Duration::from_secs(1), LONGEST);
        let (ask, needed) = match &what {
            AmountToType::Amount { currency } => {
                (ReaderQuestion::Amount { currency: *currency, timeout }, Capability::AmountEntry)
            }
            AmountToType::Tip { base, percentages, other } => {
                if !percentages.iter().all(|percentage| (1..=100).contains(percentage)) {
                    return typed(line, sale, Err(NoAmount::WrongPercentages));
                }
                (ReaderQuestion::Tip { base: *base, percentages, other: *other, timeout }, Capability::TipEntry)
            }
        };
        if !line.speaker.can(needed) {
            return typed(line, sale, Err(NoAmount::Unknown));
        }
        line.ask(&ask, timeout + GRACE, now);
        if matches!(what, AmountToType::Tip { .. }) {
            line.progress(sale, ReaderProgress::ChoosingTip);
        }
        Next::Stay(Self { sale, what, stop: None })
    }

    pub(super) fn number(&self) -> SaleNumber {
        self.sale
    }

    pub(super) fn answered(
        self,
        line: &mut ReaderLine,
        pending: PendingAnswer,
        answer: &CommandAnswer<'_>,
    ) -> Next<Self> {
        // A number that arrives after the abort was sent is not used.
        if pending.purpose != CommandPurpose::Amount || self.stop.is_some() {
            return Next::Stay(self);
        }
        let amount = match answer {
            CommandAnswer::Digits(digits) => self.judge(digits, line.speaker.tip_entry()),
            CommandAnswer::Failed(failure) => match failure.kind {
                FailureKind::StateLost => return Next::reader_has_lost_it(*failure),
                FailureKind::Cancelled => Err(NoAmount::CancelledAtReader),
                FailureKind::TimedOut => Err(NoAmount::TimedOut),
                FailureKind::InvalidInput | FailureKind::Damaged => Err(NoAmount::NotAnAmount),
                FailureKind::UnknownCommand => Err(NoAmount::Unknown),
                _ => Err(NoAmount::Refused { cause: failure.words.to_owned() }),
            },
            _ => Err(NoAmount::NotAnAmount),
        };
        typed(line, self.sale, amount)
    }

    /// Turns digits into an amount, or rejects an implausible one.
    fn judge(&self, digits: &[u8], entry: TipEntry) -> Result<Option<Amount>, NoAmount> {
        let amount = |minor: u64, currency: Currency| {
            Amount::from_minor(minor, currency).map(Some).map_err(|_| NoAmount::NotAnAmount)
        };
        match &self.what {
            AmountToType::Amount { currency } => {
                amount(minor_units(digits, currency.exponent()).ok_or(NoAmount::NotAnAmount)?, *currency)
            }
            AmountToType::Tip { base, .. } => {
                let minor = minor_units(digits, base.currency().exponent()).ok_or(NoAmount::NotAnAmount)?;
                let tip = match entry {
                    TipEntry::Tip => Some(minor),
                    TipEntry::Total => minor.checked_sub(base.minor()),
                };
                // If the tip is above the bill, it is a typing error, or the reader has returned the total instead of
                // the tip.
                let tip = tip.filter(|tip| *tip <= base.minor()).ok_or(NoAmount::DoesNotFit)?;
                if tip == 0 { Ok(None) } else { amount(tip, base.currency()) }
            }
        }
    }

    pub(super) fn cancel(mut self, line: &mut ReaderLine, now: Duration) -> Next<Self> {
        if self.stop.is_none() {
            line.abort(now);
            self.stop = Some(NoAmount::CancelledByTill);
        }
        Next::Stay(self)
    }

    pub(super) fn timeout(
        mut self,
        line: &mut ReaderLine,
        overdue: Option<PendingAnswer>,
        now: Duration,
    ) -> Next<Self> {
        match (overdue, &self.stop) {
            (None, _) => {}
            (Some(pending), None) => {
                line.abort(now);
                self.stop = Some(match pending.disturbed {
                    true => NoAmount::Refused { cause: "the line to the reader is disturbed".to_owned() },
                    false => NoAmount::TimedOut,
                });
            }
            (Some(pending), Some(_)) => {
                return Next::unanswered(pending.name);
            }
        }
        Next::Stay(self)
    }

    /// Completes a stop when no answer is outstanding.
    pub(super) fn line_is_free(self, line: &mut ReaderLine) -> Next<Self> {
        match self.stop {
            Some(why) => typed(line, self.sale, Err(why)),
            None => Next::Stay(self),
        }
    }
}

fn typed(line: &mut ReaderLine, sale: SaleNumber, amount: Result<Option<Amount>, NoAmount>) -> Next<AmountEntry> {
    line.report(ReaderEvent::Typed { sale, amount });
    Next::Idle
}
