//! The reports: transactions by their time, and the records of the reconciliation by their settlement date (data-model:
//! Reporting parameters). The same records as a file: with `Accept: text/csv`, and in a folder.
//!
//! Assumed, as the interface is silent: the paths; both days belong to the report; a report has at most [`MOST_DAYS`]
//! days and [`MOST_ROWS`] rows, and one of more is refused by name, never cut; without `sortValue` the order is that of
//! the ledger. A settlement date that has not come holds what was booked so far.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use chrono::{Days, NaiveDate};
use serde_json::json;

use super::delivery::Delivery;
use super::envelope;
use super::form::{self, Form};
use super::host::Host;
use super::invalid::Invalid;
use super::refusal::Refusal;
use super::settlement::{self, Account};

/// Days of a report: a quarter and a little more.
const MOST_DAYS: i64 = 100;
/// Rows of a report; each is about a kilobyte.
const MOST_ROWS: u32 = 20_000;
/// Files that are written at once, when the clock was put forward by more than a year.
const MOST_FILES: u32 = 400;

/// Which report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// `GET /v1/reports/transactions`.
    Transactions,
    /// `GET /v1/reports/reconciliations`.
    Reconciliations,
}

impl Host {
    /// A report by its query string; `as_file` is what the client accepts.
    pub(super) fn report(&mut self, report: Report, query: &[u8], as_file: bool) -> Result<Delivery, Refusal> {
        let form = Form::parse(query, form::REPORT, self.reading())?;
        self.check_entity(&form, true)?;
        let (from, to) = range(&form)?;
        let down = form.get("sortOrder").is_some_and(|order| order.eq_ignore_ascii_case("desc"));
        let too_many = |rows: u32| match rows {
            0..=MOST_ROWS => Ok(()),
            _ => Err(Invalid::new("date.to", format!("a report has at most {MOST_ROWS} rows; ask for fewer days"))),
        };
        if report == Report::Transactions {
            let seconds = settlement::seconds(from, to);
            too_many(self.books.count_between(seconds)?)?;
            let mut payments = Vec::new();
            for booking in self.books.between(seconds)? {
                payments.extend(self.ask(booking)?);
            }
            if down {
                payments.reverse();
            }
            return Ok(envelope::list(payments));
        }
        let mut records = Vec::new();
        for date in from.iter_days().take_while(|date| *date <= to) {
            records.extend(self.settled_on(date)?);
            too_many(u32::try_from(records.len()).unwrap_or(u32::MAX))?;
        }
        if down {
            records.reverse();
        }
        if as_file {
            return Ok(Delivery::File("text/csv; charset=utf-8", settlement::csv(&records).into_bytes()));
        }
        let result = envelope::result("000.000.100", "successful request");
        Ok(Delivery::Answer(200, json!({ "result": result, "reconciliations": settlement::json(&records) })))
    }

    /// The records of a settlement date.
    pub(super) fn settled_on(&self, date: NaiveDate) -> rusqlite::Result<Vec<settlement::Record>> {
        let options = self.options();
        settlement::settled_on(
            &self.books,
            date,
            Account { entity: &options.entity_id, currency: options.settlement_currency },
        )
    }

    /// Writes the file of each settlement date that has come, unless it is there; how many.
    pub(super) fn write_settlements(&self, folder: &Path) -> Result<u32, SettlementError> {
        let today = self.clock.now().date_naive();
        let Some((first, last)) = settlement::booked_days(&self.books)? else { return Ok(0) };
        let last = settlement::last_date(last).min(today);
        let mut written = 0;
        for date in first.iter_days().skip(1).take_while(|date| *date <= last) {
            let file = folder.join(format!("reconciliation-{date}.csv"));
            if file.exists() {
                continue;
            }
            write_whole(&file, &settlement::csv(&self.settled_on(date)?))?;
            written += 1;
            if written == MOST_FILES {
                break;
            }
        }
        Ok(written)
    }
}

/// Why a settlement file was not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum SettlementError {
    /// The books.
    #[error("the ledger cannot be read: {0}")]
    Books(#[from] rusqlite::Error),
    /// The folder.
    #[error("the settlement folder cannot be written: {0}; see that it is there and writable")]
    Folder(#[from] io::Error),
}

/// A reader of the folder sees a whole file, or none.
fn write_whole(file: &Path, text: &str) -> io::Result<()> {
    let part = file.with_extension("csv.part");
    let mut new = fs::File::create(&part)?;
    new.write_all(text.as_bytes())?;
    new.sync_all()?;
    fs::rename(&part, file)
}

fn range(form: &Form) -> Result<(NaiveDate, NaiveDate), Invalid> {
    let day = |name: &'static str| -> Result<NaiveDate, Invalid> {
        let text = form.required(name)?;
        NaiveDate::parse_from_str(text, "%Y-%m-%d").map_err(|_| Invalid::new(name, "not a day of the calendar"))
    };
    let (from, to) = (day("date.from")?, day("date.to")?);
    if from > to {
        return Err(Invalid::new("date.from", format!("{from} is after date.to, {to}: give the earlier day first")));
    }
    if from.checked_add_days(Days::new(MOST_DAYS.unsigned_abs())).is_none_or(|end| to >= end) {
        return Err(Invalid::new("date.to", format!("a report has at most {MOST_DAYS} days; ask for parts")));
    }
    Ok((from, to))
}
