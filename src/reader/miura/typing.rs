//! An amount or a tip that is typed on the reader (readers: 2.10). What comes back is an amount or a reason, never a
//! guess.

use std::time::Duration;

use super::answer::parse_numeric;
use super::line::{ABORT_ANSWER, Ask, Line, Pending};
use super::message::{Command, Money, Numeric, Status, Tip};
use super::number::{AMOUNT_LINE, MAX_INTEGER_DIGITS, minor_units, prompts_of};
use super::session::{State, lost};
use crate::money::{Amount, Currency};
use crate::reader::{Event, NoAmount, TipEntry, Type, Typing, Unready};
use crate::transaction::SaleNumber;

/// Longest time for typing: whoever takes longer has gone away.
const LONGEST: Duration = Duration::from_secs(300);
/// The reader's own time-out must come before ours, so that no ABORT meets the last key.
const GRACE: Duration = ABORT_ANSWER;

/// Something is being typed.
pub(super) struct Asking {
    sale: SaleNumber,
    what: Typing,
    /// ABORT was sent; this is what will be said.
    stop: Option<NoAmount>,
}

impl Asking {
    pub(super) fn start(line: &mut Line, order: Type, now: Duration) -> State {
        let Type { sale, what, timeout } = order;
        let timeout = timeout.clamp(Duration::from_secs(1), LONGEST);
        let command = match &what {
            Typing::Amount { currency } => Command::GetNumeric(Numeric {
                light: true,
                prompts: prompts_of(line.settings.prompts.amount),
                format: [MAX_INTEGER_DIGITS, currency.exponent()],
                // No amount yet: its currency is what the customer must see.
                money: Some(Money {
                    currency: currency.to_bcd(),
                    exponent: currency.exponent(),
                    amount: [0; 6],
                    line: AMOUNT_LINE,
                }),
                timeout: Some(u16::try_from(timeout.as_secs()).unwrap_or(u16::MAX)),
            }),
            Typing::Tip { base, percentages } => match offered(percentages) {
                Some(percentages) => Command::GetTip(Tip {
                    total: line.settings.tip_entry == TipEntry::Total,
                    percentages,
                    template: line.settings.prompts.tip_template,
                    currency: base.currency().to_bcd(),
                    exponent: base.currency().exponent(),
                    amount: base.to_bcd(),
                }),
                None => return typed(line, sale, Err(NoAmount::WrongPercentages)),
            },
        };
        line.ask(Ask::Amount, &command, timeout + GRACE, now);
        State::Typing(Self { sale, what, stop: None })
    }

    pub(super) fn number(&self) -> SaleNumber {
        self.sale
    }

    pub(super) fn answered(
        self,
        line: &mut Line,
        pending: Pending,
        body: &[u8],
        status: Status,
        now: Duration,
    ) -> State {
        // A number that met our ABORT is not used.
        if pending.ask != Ask::Amount || self.stop.is_some() {
            return State::Typing(self);
        }
        let amount = match status {
            Status::OK => {
                let digits = parse_numeric(body).map_err(|_| NoAmount::NotAnAmount);
                digits.and_then(|digits| self.judge(digits, line.settings.tip_entry))
            }
            Status::NOT_READY | Status::NOT_ALLOWED => return lost(line, status, now),
            Status::CANCELLED => Err(NoAmount::CancelledAtReader),
            Status::CONTACTLESS_TIMEOUT => Err(NoAmount::TimedOut),
            Status::INVALID_INPUT => Err(NoAmount::NotAnAmount),
            Status::UNKNOWN_INSTRUCTION | Status::UNKNOWN_CLASS => Err(NoAmount::Unknown),
            other => Err(NoAmount::Refused { cause: other.words().to_owned() }),
        };
        typed(line, self.sale, amount)
    }

    /// Digits as an amount that makes sense.
    fn judge(&self, digits: &[u8], entry: TipEntry) -> Result<Option<Amount>, NoAmount> {
        let amount = |minor: u64, currency: Currency| {
            Amount::from_minor(minor, currency).map(Some).map_err(|_| NoAmount::NotAnAmount)
        };
        match &self.what {
            Typing::Amount { currency } => {
                amount(minor_units(digits, currency.exponent()).ok_or(NoAmount::NotAnAmount)?, *currency)
            }
            Typing::Tip { base, .. } => {
                let minor = minor_units(digits, base.currency().exponent()).ok_or(NoAmount::NotAnAmount)?;
                let tip = match entry {
                    TipEntry::Tip => Some(minor),
                    TipEntry::Total => minor.checked_sub(base.minor()),
                };
                // Above the bill it is a typing error, or a reader that gives the total where the tip was asked for.
                let tip = tip.filter(|tip| *tip <= base.minor()).ok_or(NoAmount::DoesNotFit)?;
                if tip == 0 { Ok(None) } else { amount(tip, base.currency()) }
            }
        }
    }

    pub(super) fn cancel(mut self, line: &mut Line, now: Duration) -> State {
        if self.stop.is_none() {
            line.abort(now);
            self.stop = Some(NoAmount::CancelledByTill);
        }
        State::Typing(self)
    }

    pub(super) fn timeout(mut self, line: &mut Line, overdue: Option<Pending>, now: Duration) -> State {
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
                line.reopen(Unready::Restarting { cause: format!("no answer to {}", pending.name) });
                return State::Closed;
            }
        }
        State::Typing(self)
    }

    /// Nothing is outstanding: a stop is complete.
    pub(super) fn line_is_free(self, line: &mut Line) -> State {
        match self.stop {
            Some(why) => typed(line, self.sale, Err(why)),
            None => State::Typing(self),
        }
    }
}

fn typed(line: &mut Line, sale: SaleNumber, amount: Result<Option<Amount>, NoAmount>) -> State {
    line.emit(Event::Typed { sale, amount });
    State::Idle
}

/// The four places of GET DYNAMIC TIP: what the order offers, "other" where there is room, blanks.
fn offered(percentages: &[u8]) -> Option<[u8; 4]> {
    let right = percentages.iter().all(|percentage| (1..=100).contains(percentage));
    let mut places = [Tip::BLANK; 4];
    for (place, percentage) in places.iter_mut().zip(percentages.iter().copied().chain([Tip::OTHER])) {
        *place = percentage;
    }
    right.then_some(places)
}
