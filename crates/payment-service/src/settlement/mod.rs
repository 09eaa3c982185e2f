//! The records of one settlement date, made from the ledger (data-model: Reconciliation file). The functions are pure:
//! they read entries and return records. `record` writes the records, `fees` has the prices, and `disputes` has the
//! events that the cents choose.
//!
//! Where the interface is silent, the gateway assumes the following:
//!
//! - The clearing institute uses UTC. Its cut-off is midnight, and it settles on the next day.
//! - If a payment was fully reversed before the cut-off, neither the payment nor its reversal is settled.
//! - A later or partial reversal is a separate row, with the reversal's reference.
//! - `SettlementAmount` is gross, and the fee is in a separate column.
//! - A record shows the state at the cut-off, so a date's file is always the same, no matter when it is written.
//!
//! | booked | record |
//! |---|---|
//! | DB, CP approved | SETTLED DEBIT POS |
//! | RF approved | SETTLED REFUND NEG |
//! | CD approved | SETTLED CREDIT NEG |
//! | RV of a payment, approved | SETTLED REFUND NEG |
//! | RV of a CD, approved | SETTLED CREDIT POS |
//! | PA and its increments, RV of a PA | only a FEE |
//! | declined, pending | none |

mod disputes;
mod fees;
mod fx;
mod record;

use std::collections::HashMap;

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime};

use super::books::Booking;
use super::database::Books;
use super::entry::{Kind, LedgerEntry, State};
use disputes::Dispute;

pub(super) use disputes::help;
pub(super) use record::{Account, Record, csv, json};

/// The days from a payment's settlement to its chargeback, and from the chargeback to its reversal.
const CHARGEBACK_DAYS: u64 = 5;

/// The length of the chain of pre-authorisation, capture and refund. A refund is two steps from its pre-authorisation.
const LONGEST_CHAIN: usize = 3;

/// Returns the records of a settlement date: first payments in the order of the ledger, then chargebacks, then fees.
pub(super) fn settled_on(books: &Books, date: NaiveDate, account: Account<'_>) -> rusqlite::Result<Vec<Record>> {
    let mut records = Vec::new();
    let day = |before: u64| date.checked_sub_days(Days::new(before));
    let (Some(day_before), Some(disputed), Some(won)) =
        (day(1), day(1 + CHARGEBACK_DAYS), day(1 + 2 * CHARGEBACK_DAYS))
    else {
        return Ok(records);
    };
    let presented = Presented::on(books, day_before)?;
    for booking in &presented.bookings {
        let Some(mut record) = presented.settled(booking, account, date) else { continue };
        record.match_to(&presented.matches(books, booking)?);
        records.push(record);
    }
    for (day, is_won) in [(disputed, false), (won, true)] {
        let presented = Presented::on(books, day)?;
        for booking in &presented.bookings {
            let Some(Dispute::Chargeback { code, reason, is_reversed }) = disputes::of(&booking.entry) else {
                continue;
            };
            if is_won && !is_reversed {
                continue;
            }
            if let Some(mut record) = presented.settled(booking, account, date) {
                record.charge_back(&booking.entry.id, is_won, code, reason);
                records.push(record);
            }
        }
    }
    let mut costs = Vec::new();
    for booking in &presented.bookings {
        costs.extend(fees::of(booking).map(|(what, cents)| Record::fee(what, cents, Some(booking), account, date)));
    }
    if !records.is_empty() {
        let (what, cents) = fees::BATCH;
        costs.push(Record::fee(what, cents, None, account, date));
    }
    if date.day() == 1 && books.count_between(seconds(day_before.with_day(1).unwrap_or(day_before), day_before))? > 0 {
        let (what, cents) = fees::MONTHLY;
        costs.push(Record::fee(what, cents, None, account, date));
    }
    records.extend(costs);
    for (number, record) in (1..).zip(&mut records) {
        record.number(format!("S-{}-{number:06}", date.format("%Y%m%d")));
    }
    Ok(records)
}

/// Returns the first and the last day with an entry; `None` if there are no entries.
pub(super) fn booked_days(books: &Books) -> rusqlite::Result<Option<(NaiveDate, NaiveDate)>> {
    let at = |seconds| DateTime::from_timestamp(seconds, 0).unwrap_or_default().date_naive();
    Ok(books.first_and_last()?.map(|(first, last)| (at(first), at(last))))
}

/// Returns the latest settlement date that can include an entry booked on `day`.
pub(super) fn last_date(day: NaiveDate) -> NaiveDate {
    day.checked_add_days(Days::new(1 + 2 * CHARGEBACK_DAYS)).unwrap_or(day)
}

/// The entries of a day, with their reversals before the cut-off.
struct Presented {
    bookings: Vec<Booking>,
    /// The amount reversed on the same day for each payment, in minor units.
    taken_back: HashMap<String, u64>,
    /// The payments that the day's follow-ups refer to.
    earlier: HashMap<String, Booking>,
    /// The day's first and last second.
    span: (i64, i64),
}

impl Presented {
    fn on(books: &Books, day: NaiveDate) -> rusqlite::Result<Self> {
        let span = seconds(day, day);
        let bookings = books.between(span)?;
        let mut taken_back: HashMap<String, u64> = HashMap::new();
        let mut earlier = HashMap::new();
        for entry in bookings.iter().map(|booking| &booking.entry) {
            let Some(of) = entry.refers_to.as_deref() else { continue };
            if is_reversal(entry) {
                let sum = taken_back.entry(of.to_owned()).or_default();
                *sum = sum.saturating_add(entry.minor());
            }
            let mut of = Some(of.to_owned());
            for _ in 0..LONGEST_CHAIN {
                let Some(payment) = of.map(|id| books.find(&id)).transpose()?.flatten() else { break };
                of = payment.entry.refers_to.clone();
                earlier.insert(payment.entry.id.clone(), payment);
            }
        }
        Ok(Self { bookings, taken_back, earlier, span })
    }

    /// Returns the payment that an entry follows.
    fn followed(&self, entry: &LedgerEntry) -> Option<&Booking> {
        self.earlier.get(entry.refers_to.as_deref()?)
    }

    /// Returns the record of an entry; `None` if no part of the entry is settled.
    fn settled(&self, booking: &Booking, account: Account<'_>, date: NaiveDate) -> Option<Record> {
        let entry = &booking.entry;
        if entry.minor() == 0 {
            return None;
        }
        let (payment_type, flow) = match entry.kind {
            Kind::Debit | Kind::Capture if entry.has_moved() && !self.is_cancelled(entry) => ("DEBIT", "POS"),
            Kind::Refund if entry.has_moved() => ("REFUND", "NEG"),
            Kind::Credit if entry.has_moved() && !self.is_cancelled(entry) => ("CREDIT", "NEG"),
            Kind::Reversal if is_reversal(entry) => {
                match self.followed(entry) {
                    // The entry was fully reversed before the cut-off, so nothing is settled.
                    Some(of) if self.is_of_today(of) && self.is_cancelled(&of.entry) => return None,
                    Some(of) if of.entry.kind == Kind::Credit => ("CREDIT", "POS"),
                    Some(of) if of.entry.kind == Kind::PreAuthorisation => return None,
                    _ => ("REFUND", "NEG"),
                }
            }
            _ => return None,
        };
        let mut record = Record::of(booking, account, date);
        if let Some(reference) = self.reference(entry) {
            record.set("merchantTransactionId", reference);
        }
        record.set("recordType", "SETTLED");
        record.set("transactionType", payment_type);
        record.set("settlement.cashflow", flow);
        let failed = disputes::of(entry) == Some(Dispute::Failed);
        record.set("settlement.status", if failed { "FAILED" } else { "SUCCESS" });
        if flow == "POS" && payment_type == "DEBIT" {
            record.price(booking, account, failed);
        }
        Some(record)
    }

    /// Returns the entry's reference or, without one, the reference of its payment.
    fn reference<'a>(&'a self, entry: &'a LedgerEntry) -> Option<&'a str> {
        let chain = std::iter::successors(Some(entry), |entry| self.followed(entry).map(|of| &of.entry));
        chain.take(1 + LONGEST_CHAIN).find_map(|entry| entry.merchant_transaction_id.as_deref())
    }

    fn is_of_today(&self, of: &Booking) -> bool {
        (self.span.0..=self.span.1).contains(&of.at)
    }

    /// Returns whether the payment was fully reversed on the day of its booking.
    fn is_cancelled(&self, payment: &LedgerEntry) -> bool {
        self.taken_back.get(&payment.id).is_some_and(|taken| *taken >= payment.minor())
    }

    /// Returns the payments that may match the clearing institute's record, by reference and kind.
    fn matches(&self, books: &Books, booking: &Booking) -> rusqlite::Result<Vec<String>> {
        if disputes::of(&booking.entry) == Some(Dispute::NotMatched) {
            return Ok(Vec::new());
        }
        let Some(reference) = booking.entry.merchant_transaction_id.as_deref() else {
            return Ok(vec![booking.entry.id.clone()]);
        };
        let all = books.search(&super::books::SearchFilter {
            reference: Some(reference),
            limit: record::MOST_MATCHES,
            ..Default::default()
        })?;
        let same = |other: &Booking| other.entry.kind == booking.entry.kind && other.entry.has_moved();
        let others = all.into_iter().filter(|other| same(other) && other.entry.id != booking.entry.id);
        Ok(std::iter::once(booking.entry.id.clone()).chain(others.map(|other| other.entry.id)).collect())
    }
}

fn is_reversal(entry: &LedgerEntry) -> bool {
    entry.kind == Kind::Reversal && entry.state == State::Approved
}

/// Returns the first second of one day and the last second of another.
pub(super) fn seconds(first: NaiveDate, last: NaiveDate) -> (i64, i64) {
    let midnight = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc().timestamp();
    (midnight(first), midnight(last) + 86_399)
}
