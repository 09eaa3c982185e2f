//! An amount or a tip typed on the reader (readers: 2.10). The result is an amount or a reason, never a guess.

use std::time::Duration;

use super::line::{ABORT_ANSWER, CommandPurpose, PendingAnswer, ReaderLine};
use super::message::{
    AMOUNT_LINE, GetDynamicTip, GetNumericData, MAX_INTEGER_DIGITS, MpiCommand, ShownAmount, StatusWord, minor_units,
    parse_numeric, prompts_of,
};
use super::next::Next;
use crate::config::TipEntry;
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
    /// The reason to report, if ABORT was sent.
    stop: Option<NoAmount>,
}

impl AmountEntry {
    pub(super) fn start(line: &mut ReaderLine, order: TypeAmount, now: Duration) -> Next<Self> {
        let TypeAmount { sale, what, timeout } = order;
        let timeout = timeout.clamp(Duration::from_secs(1), LONGEST);
        let command = match &what {
            AmountToType::Amount { currency } => MpiCommand::GetNumeric(GetNumericData {
                light: true,
                prompts: prompts_of(line.miura.prompts.amount),
                format: [MAX_INTEGER_DIGITS, currency.exponent()],
                // There is no amount yet, but the customer must see the currency.
                money: Some(ShownAmount {
                    currency: currency.to_bcd(),
                    exponent: currency.exponent(),
                    amount: [0; 6],
                    line: AMOUNT_LINE,
                }),
                timeout: Some(u16::try_from(timeout.as_secs()).unwrap_or(u16::MAX)),
            }),
            AmountToType::Tip { base, percentages, other } => match offered(percentages, *other) {
                Some(percentages) => MpiCommand::GetTip(GetDynamicTip {
                    total: line.miura.tip_entry == TipEntry::Total,
                    percentages,
                    template: line.miura.prompts.tip_template,
                    currency: base.currency().to_bcd(),
                    exponent: base.currency().exponent(),
                    amount: base.to_bcd(),
                }),
                None => return typed(line, sale, Err(NoAmount::WrongPercentages)),
            },
        };
        line.ask(CommandPurpose::Amount, &command, timeout + GRACE, now);
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
        body: &[u8],
        status: StatusWord,
    ) -> Next<Self> {
        // A number that arrives after ABORT was sent is not used.
        if pending.purpose != CommandPurpose::Amount || self.stop.is_some() {
            return Next::Stay(self);
        }
        let amount = match status {
            StatusWord::OK => {
                let digits = parse_numeric(body).map_err(|_| NoAmount::NotAnAmount);
                digits.and_then(|digits| self.judge(digits, line.miura.tip_entry))
            }
            StatusWord::NOT_READY | StatusWord::NOT_ALLOWED => return Next::reader_has_lost_it(status),
            StatusWord::CANCELLED => Err(NoAmount::CancelledAtReader),
            StatusWord::CONTACTLESS_TIMEOUT => Err(NoAmount::TimedOut),
            StatusWord::INVALID_INPUT => Err(NoAmount::NotAnAmount),
            StatusWord::UNKNOWN_INSTRUCTION | StatusWord::UNKNOWN_CLASS => Err(NoAmount::Unknown),
            other => Err(NoAmount::Refused { cause: other.words().to_owned() }),
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

/// Fills the four choices of GET DYNAMIC TIP with the order's percentages, "other" if it is wanted and fits, and
/// blanks.
fn offered(percentages: &[u8], other: bool) -> Option<[u8; 4]> {
    let right = percentages.iter().all(|percentage| (1..=100).contains(percentage));
    let mut places = [GetDynamicTip::BLANK; 4];
    for (place, percentage) in
        places.iter_mut().zip(percentages.iter().copied().chain(other.then_some(GetDynamicTip::OTHER)))
    {
        *place = percentage;
    }
    right.then_some(places)
}
