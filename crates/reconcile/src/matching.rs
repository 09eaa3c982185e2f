//! Matches each row of the file with a transaction, and reports the differences.
//!
//! A row is matched by `TransactionId`, which is our `merchantTransactionId`. If that is empty or the file has no such
//! column, the row is matched by `UniqueID`, the payment id. A transaction agrees if its settled rows, each with the
//! sign of its `Cashflow`, add up to the charged amount in the journal.
//!
//! Rows of other terminals are recognised by the beginning of `TransactionId`, and are not checked. `UniqueID` alone
//! does not show the terminal. With `UniqueID` alone, every row that the journal does not know counts as missing at the
//! terminal.

use chrono::NaiveDate;

use pos_terms::money::Currency;

use super::due::Charged;
use super::file::{HeaderError, SettlementLine, WrongColumn};
use super::ledger::{Entry, Ledger, LedgerPlace};
use super::report::{Days, Difference, DifferenceKind, Money, Summary};
use super::row::{RecordType, SettlementRow};

/// The local dates of the transactions that the file should settle. A missing date is taken from the file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Period {
    /// The first date.
    pub from: Option<NaiveDate>,
    /// The last date.
    pub to: Option<NaiveDate>,
}

/// The matching of one or more files.
#[derive(Debug)]
pub struct Matching {
    ledger: Ledger,
    given: Period,
    /// The earliest and the latest date of the settled rows that may be ours.
    settles: Option<(NaiveDate, NaiveDate)>,
    summary: Summary,
}

/// The owner of a row.
enum Whose {
    /// A row of this transaction.
    Known(LedgerPlace),
    /// A row that the journal does not know, and that may be of this terminal.
    Unknown,
    /// A row of this terminal that is older than the checked transactions.
    Earlier,
    /// A row of another terminal, or of no terminal.
    Other,
    /// A row that is not about a payment: a monthly fee.
    NoOnes,
}

impl Matching {
    /// Starts with the sorted transactions.
    #[must_use]
    pub fn new(ledger: Ledger, given: Period) -> Self {
        let summary = Summary::new(ledger.len(), ledger.first_number());
        Self { ledger, given, settles: None, summary }
    }

    /// Starts the first or another file. `has_transaction_ids` comes from its header.
    pub fn next_file(&mut self, has_transaction_ids: bool) {
        self.summary.files += 1;
        self.summary.match_by(has_transaction_ids);
    }

    /// Reports a file that is skipped. Its findings so far are kept.
    pub fn unreadable(&mut self, why: &HeaderError, out: &mut impl FnMut(Difference)) {
        let finding = Difference { why: Some(why.to_string()), ..Difference::new(DifferenceKind::Unreadable) };
        self.summary.found(finding, None, out);
    }

    /// Reports the columns whose values differ from the document, after a file was read to its end.
    pub fn take_columns(&mut self, wrong: impl Iterator<Item = WrongColumn>, out: &mut impl FnMut(Difference)) {
        for column in wrong {
            let finding = Difference {
                why: Some(column.to_string()),
                ..Difference::at(DifferenceKind::NotAsDocumented, column.line)
            };
            self.summary.found(finding, None, out);
        }
    }

    /// Counts a line, and reports the findings about this line alone.
    pub fn take(&mut self, line: SettlementLine<'_>, out: &mut impl FnMut(Difference)) {
        self.summary.rows += 1;
        let row = match line.row {
            Ok(row) => row,
            Err(fault) => {
                let finding = Difference {
                    why: Some(fault.to_string()),
                    ..Difference::at(DifferenceKind::Malformed, line.number)
                };
                return self.summary.found(finding, None, out);
            }
        };
        let whose = self.whose(&row);
        let amount = Money { minor: row.amount.into(), currency: row.currency };
        let settles = row.record_type == RecordType::Settled && !row.failed;
        if matches!(whose, Whose::Other) {
            return self.summary.other_terminals.add(settles.then_some(amount));
        }
        if row.record_type == RecordType::Settled {
            let (first, last) = self.settles.unwrap_or((row.date, row.date));
            self.settles = Some((first.min(row.date), last.max(row.date)));
        }
        match (row.record_type, &whose) {
            _ if row.failed => {
                if let (Whose::Known(place), RecordType::Settled) = (&whose, row.record_type) {
                    self.ledger.entry(*place).line = short(line.number);
                }
                self.row_found(DifferenceKind::SettlementFailed, line.number, &row, &whose, out);
            }
            (RecordType::Settled, _) => self.settled(line.number, &row, &whose, out),
            (RecordType::Chargeback, _) => self.row_found(DifferenceKind::Chargeback, line.number, &row, &whose, out),
            (RecordType::ChargebackReversal, _) => {
                self.row_found(DifferenceKind::ChargebackReversal, line.number, &row, &whose, out);
            }
            (RecordType::Fee, _) => {
                // The amount that leaves the shop's account is the cost.
                let cost = Money { minor: -i128::from(row.settlement), currency: row.settlement_currency };
                self.summary.fees.entry(row.payment_type.name()).or_default().add(Some(cost));
            }
        }
    }

    /// Ends the matching after the last line, and reports the findings about the whole file.
    pub fn finish(mut self, out: &mut impl FnMut(Difference)) -> Summary {
        let from = self.given.from.or(self.settles.map(|(first, _)| first));
        let to = self.given.to.or(self.settles.map(|(_, last)| last));
        let (from_given, to_given) = (self.given.from.is_some(), self.given.to.is_some());
        let days = from.zip(to).map(|(from, to)| Days { from, to, from_given, to_given });
        for entry in self.ledger.entries() {
            let currency = self.ledger.currency(*entry);
            match sale_ends(*entry, currency, days) {
                Some((finding, counts)) => self.summary.found(finding, Some(counts), out),
                None if entry.charged == Charged::Yes && entry.is_settled => {
                    self.summary.matched.add(Some(Money { minor: entry.due.into(), currency }));
                }
                None => {}
            }
        }
        self.summary.period = days;
        self.summary
    }

    fn whose(&self, row: &SettlementRow<'_>) -> Whose {
        if let Some(reference) = row.transaction {
            if let Some(place) = self.ledger.by_reference(reference) {
                return Whose::Known(place);
            }
            // The parts are the terminal id, the number and random bits (design: Decisions).
            let mut parts = reference.split('-');
            let (terminal, number) =
                (parts.next().unwrap_or_default(), parts.next().and_then(|part| part.parse().ok()));
            return match number {
                _ if !self.ledger.is_ours(terminal) => Whose::Other,
                Some(number) if self.ledger.first_number() > number => Whose::Earlier,
                _ => Whose::Unknown,
            };
        }
        row.payment.map_or(Whose::NoOnes, |id| self.ledger.by_payment(id).map_or(Whose::Unknown, Whose::Known))
    }

    fn settled(&mut self, line: u64, row: &SettlementRow<'_>, whose: &Whose, out: &mut impl FnMut(Difference)) {
        let amount = Money { minor: row.amount.into(), currency: row.currency };
        self.summary
            .settlement_fees
            .add((row.fee != 0).then_some(Money { minor: row.fee.into(), currency: row.settlement_currency }));
        let place = match whose {
            Whose::Known(place) => *place,
            Whose::Earlier => return self.summary.earlier_sales.add(Some(amount)),
            Whose::Unknown | Whose::Other | Whose::NoOnes => {
                return self.row_found(DifferenceKind::MissingAtTerminal, line, row, whose, out);
            }
        };
        let entry = *self.ledger.entry(place);
        let is_same = self.ledger.currency(entry) == row.currency;
        let entry = self.ledger.entry(place);
        entry.line = short(line);
        if is_same {
            // A sum that exceeds every real amount stays at the limit, and therefore differs.
            entry.settled = entry.settled.saturating_add(row.amount);
            entry.is_settled = true;
        } else {
            self.row_found(DifferenceKind::CurrencyDiffers, line, row, whose, out);
        }
    }

    fn row_found(
        &mut self,
        kind: DifferenceKind,
        line: u64,
        row: &SettlementRow<'_>,
        whose: &Whose,
        out: &mut impl FnMut(Difference),
    ) {
        let amount = Money { minor: row.amount.into(), currency: row.currency };
        let mut finding = Difference { date: Some(row.date), amount: Some(amount), ..Difference::at(kind, line) };
        if let Whose::Known(place) = whose {
            let entry = *self.ledger.entry(*place);
            finding.sale = Some(entry.number.into());
            finding.due = (entry.charged == Charged::Yes)
                .then(|| Money { minor: entry.due.into(), currency: self.ledger.currency(entry) });
        }
        finding.name_payment(row);
        self.summary.found(finding, Some(amount), out);
    }
}

/// Returns the finding about a transaction after the file was read, and the amount that counts for it.
fn sale_ends(entry: Entry, currency: Currency, days: Option<Days>) -> Option<(Difference, Money)> {
    let due = Money { minor: entry.due.into(), currency };
    let settled = Money { minor: entry.settled.into(), currency };
    let of_sale = |kind| Difference {
        sale: Some(entry.number.into()),
        date: Some(entry.day),
        line: (entry.line != 0).then_some(entry.line.into()),
        ..Difference::new(kind)
    };
    let settled_though = |kind| {
        let finding = Difference { settled: Some(settled), ..of_sale(kind) };
        // A payment that was settled and refunded counts as never settled.
        (settled.minor != 0).then_some((finding, settled))
    };
    match entry.charged {
        Charged::Yes if entry.is_settled && settled.minor != due.minor => {
            let finding =
                Difference { due: Some(due), settled: Some(settled), ..of_sale(DifferenceKind::AmountDiffers) };
            Some((finding, Money { minor: settled.minor - due.minor, currency }))
        }
        // A line without a sum was already reported, because it failed or is in another currency.
        Charged::Yes if entry.line == 0 && days.is_some_and(|days| days.include(entry.day)) => {
            Some((Difference { due: Some(due), ..of_sale(DifferenceKind::MissingAtGateway) }, due))
        }
        Charged::Yes => None,
        Charged::Reversed => settled_though(DifferenceKind::SettledThoughReversed),
        Charged::No => settled_though(DifferenceKind::SettledThoughNotCharged),
        Charged::Unsure => settled_though(DifferenceKind::SettledThoughUnconfirmed),
    }
}

/// Converts a line number to the type that an entry uses. No file has more than four thousand million lines.
fn short(line: u64) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}
