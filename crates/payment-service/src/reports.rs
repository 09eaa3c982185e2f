//! The reports: transactions by their time, and reconciliation records by their settlement date (data-model: Reporting
//! parameters). The records are also available as a file, by `Accept: text/csv` or in a folder.
//!
//! Where the interface is silent, the gateway assumes the following:
//!
//! - The paths of the reports.
//! - A report includes its first and its last day.
//! - A report has at most [`MOST_DAYS`] days and [`MOST_ROWS`] rows. A larger report is refused with the parameter's
//!   name, never shortened.
//! - Without `sortValue` the rows are in the order of the ledger.
//! - The report of a future settlement date contains the entries booked so far.

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

/// The maximum number of days in a report, a little over a quarter.
const MOST_DAYS: i64 = 100;
/// The maximum number of rows in a report; each row has about a kilobyte.
const MOST_ROWS: u32 = 20_000;
/// The maximum number of files written in one round. The limit matters if the clock is set forward by more than a year.
const MOST_FILES: u32 = 400;

/// The kind of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// `GET /v1/reports/transactions`.
    Transactions,
    /// `GET /v1/reports/reconciliations`.
    Reconciliations,
}

impl Host {
    /// Makes the report for a query string. `as_file` is true if the client accepts a file.
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

    /// Returns the records of a settlement date.
    pub(super) fn settled_on(&self, date: NaiveDate) -> rusqlite::Result<Vec<settlement::Record>> {
        let options = self.options();
        settlement::settled_on(
            &self.books,
            date,
            Account { entity: &options.entity_id, currency: options.settlement_currency },
        )
    }

    /// Writes the missing settlement files up to the current date, and returns their number.
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

/// The reason why a settlement file could not be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum SettlementError {
    /// The books cannot be read.
    #[error("the ledger cannot be read: {0}")]
    Books(#[from] rusqlite::Error),
    /// The folder is not writable.
    #[error("the settlement folder cannot be written: {0}; check that it exists and is writable")]
    Folder(#[from] io::Error),
}

/// Writes a file so that a reader of the folder never sees a part of it.
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
        return Err(Invalid::new(
            "date.from",
            format!("{from} is after date.to, {to}: send the earlier day as date.from"),
        ));
    }
    if from.checked_add_days(Days::new(MOST_DAYS.unsigned_abs())).is_none_or(|end| to >= end) {
        return Err(Invalid::new("date.to", format!("a report has at most {MOST_DAYS} days; ask for fewer")));
    }
    Ok((from, to))
}
