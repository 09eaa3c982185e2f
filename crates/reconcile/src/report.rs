//! The report: one finding for each difference that a person must check, and a summary at the end. Both can be written
//! as text and as JSON.
//!
//! Texts from the file are shortened here. Control bytes are removed when the program writes the text (`cli/out.rs`).

use std::collections::BTreeMap;
use std::fmt;

use chrono::NaiveDate;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use pos_terms::money::Currency;
use pos_terms::transaction::SaleNumber;

use super::row::SettlementRow;

/// The maximum number of characters of a text from the file, which is the longest that the document permits.
const LONGEST_TEXT: usize = 255;

/// The column that contains our reference.
const BY_REFERENCE: &str = "TransactionId";

/// The kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DifferenceKind {
    /// An approved transaction has no row that settles it.
    MissingAtGateway,
    /// A settled row names a payment that the journal does not know.
    MissingAtTerminal,
    /// The rows of a transaction do not add up to the charged amount.
    AmountDiffers,
    /// A cardholder reclaimed a payment.
    Chargeback,
    /// A chargeback was reversed, and the shop has the money again.
    ChargebackReversal,
    /// The currency of a row differs from that of its transaction.
    CurrencyDiffers,
    /// The payment was settled, although the journal contains its reversal.
    SettledThoughReversed,
    /// The payment was settled, although the transaction was declined, cancelled or never sent.
    SettledThoughNotCharged,
    /// The payment was settled, although the journal does not contain the outcome yet.
    SettledThoughUnconfirmed,
    /// The clearing institute could not settle the payment.
    SettlementFailed,
    /// A line cannot be read.
    Malformed,
    /// A column that is in no sum contains values that the document does not permit.
    NotAsDocumented,
    /// A file in a folder cannot be read.
    Unreadable,
}

impl DifferenceKind {
    /// All kinds, in the order of the summary.
    const ALL: [Self; 13] = [
        Self::MissingAtGateway,
        Self::MissingAtTerminal,
        Self::AmountDiffers,
        Self::Chargeback,
        Self::ChargebackReversal,
        Self::CurrencyDiffers,
        Self::SettledThoughReversed,
        Self::SettledThoughNotCharged,
        Self::SettledThoughUnconfirmed,
        Self::SettlementFailed,
        Self::Malformed,
        Self::NotAsDocumented,
        Self::Unreadable,
    ];

    /// Returns the name of the kind, for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::MissingAtGateway => "missing at the gateway",
            Self::MissingAtTerminal => "missing at the terminal",
            Self::AmountDiffers => "amount differs",
            Self::Chargeback => "chargeback",
            Self::ChargebackReversal => "chargeback reversal",
            Self::CurrencyDiffers => "currency differs",
            Self::SettledThoughReversed => "settled though reversed",
            Self::SettledThoughNotCharged => "settled though not charged",
            Self::SettledThoughUnconfirmed => "settled though unconfirmed",
            Self::SettlementFailed => "settlement failed",
            Self::Malformed => "malformed line",
            Self::NotAsDocumented => "not as documented",
            Self::Unreadable => "unreadable file",
        }
    }

    /// Returns whether the summary names the kind even if it has no findings.
    fn is_always_told(self) -> bool {
        matches!(self, Self::MissingAtGateway | Self::MissingAtTerminal | Self::AmountDiffers | Self::Chargeback)
    }
}

/// An amount that may be zero, negative or a sum.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Money {
    /// The minor units.
    pub minor: i128,
    /// The currency.
    pub currency: Currency,
}

impl Money {
    fn decimal(self) -> String {
        let width = usize::from(self.currency.exponent());
        let digits = format!("{:0least$}", self.minor.unsigned_abs(), least = width + 1);
        let (integer, fraction) = digits.split_at(digits.len() - width);
        let (sign, dot) = (if self.minor < 0 { "-" } else { "" }, if width == 0 { "" } else { "." });
        format!("{sign}{integer}{dot}{fraction}")
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.decimal(), self.currency.code())
    }
}

impl fmt::Debug for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `{"amount":"-12.34","currency":"EUR"}`.
impl Serialize for Money {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut money = to.serialize_struct("Money", 2)?;
        money.serialize_field("amount", &self.decimal())?;
        money.serialize_field("currency", self.currency.code())?;
        money.end()
    }
}

/// One difference to check. Values that are unknown, or that have no meaning for its kind, are absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The kind of the finding.
    #[serde(rename = "finding")]
    pub kind: DifferenceKind,
    /// The file, if a folder was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of the file; for a transaction, the latest line that settles it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The transaction's number in the journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale: Option<SaleNumber>,
    /// The date of the transaction in the journal, or else the date in the row.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    pub date: Option<NaiveDate>,
    /// The charged amount according to the journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<Money>,
    /// The sum of all rows of the transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled: Option<Money>,
    /// The amount of this row.
    #[serde(rename = "row", skip_serializing_if = "Option::is_none")]
    pub amount: Option<Money>,
    /// `TransactionId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<String>,
    /// `UniqueID`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_id: Option<String>,
    /// `InvoiceId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invoice_id: Option<String>,
    /// `ClearingInsitituteName`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clearing_institute: Option<String>,
    /// `ReasonCode` of a chargeback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<String>,
    /// `ReasonDesc` of a chargeback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The reason why a line cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Difference {
    pub(super) fn new(kind: DifferenceKind) -> Self {
        Self {
            kind,
            file: None,
            line: None,
            sale: None,
            date: None,
            due: None,
            settled: None,
            amount: None,
            transaction_id: None,
            payment_id: None,
            invoice_id: None,
            clearing_institute: None,
            reason_code: None,
            reason: None,
            why: None,
        }
    }

    pub(super) fn at(kind: DifferenceKind, line: u64) -> Self {
        Self { line: Some(line), ..Self::new(kind) }
    }

    /// Copies the identifiers with which a person can ask about the payment.
    pub(super) fn name_payment(&mut self, row: &SettlementRow<'_>) {
        let text = |text: Option<&str>| text.map(|text| text.chars().take(LONGEST_TEXT).collect::<String>());
        self.transaction_id = text(row.transaction);
        self.payment_id = text(row.payment);
        self.invoice_id = text(row.invoice);
        self.clearing_institute = text(row.institute);
        if matches!(self.kind, DifferenceKind::Chargeback | DifferenceKind::ChargebackReversal) {
            self.reason_code = text(row.reason_code);
            self.reason = text(row.reason);
        }
    }
}

/// Writes one line for people.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn text(value: Option<&impl ToString>) -> Option<String> {
            value.map(ToString::to_string)
        }
        let parts = [
            ("in ", self.file.clone()),
            ("line ", text(self.line.as_ref())),
            ("sale ", text(self.sale.as_ref())),
            ("of ", text(self.date.as_ref())),
            ("due ", text(self.due.as_ref())),
            ("settled ", text(self.settled.as_ref())),
            ("row ", text(self.amount.as_ref())),
            ("TransactionId ", self.transaction_id.clone()),
            ("UniqueID ", self.payment_id.clone()),
            ("InvoiceId ", self.invoice_id.clone()),
            ("from ", self.clearing_institute.clone()),
            ("reason ", self.reason_code.clone()),
            ("", self.reason.clone()),
            ("", self.why.clone()),
        ];
        write!(f, "{:<26}", self.kind.words())?;
        parts.iter().try_for_each(|(name, value)| value.iter().try_for_each(|value| write!(f, "  {name}{value}")))
    }
}

/// A count, and the sums by currency.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// The number.
    pub count: u64,
    /// The sum in each currency.
    #[serde(serialize_with = "values")]
    pub amounts: BTreeMap<&'static str, Money>,
}

impl Tally {
    pub(super) fn add(&mut self, money: Option<Money>) {
        self.count += 1;
        if let Some(Money { minor, currency }) = money {
            self.amounts.entry(currency.code()).or_insert(Money { minor: 0, currency }).minor += minor;
        }
    }

    fn words(&self) -> String {
        self.amounts.values().map(Money::to_string).collect::<Vec<_>>().join(", ")
    }
}

/// The period that was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Days {
    /// The first day.
    #[serde(serialize_with = "day_as_text")]
    pub from: NaiveDate,
    /// The last day.
    #[serde(serialize_with = "day_as_text")]
    pub to: NaiveDate,
    /// True if a person gave the first day. Otherwise, it is the earliest in the file.
    pub from_given: bool,
    /// True if a person gave the last day. Otherwise, it is the latest in the file.
    pub to_given: bool,
}

impl Days {
    pub(super) fn include(self, day: NaiveDate) -> bool {
        (self.from..=self.to).contains(&day)
    }
}

/// The summary at the end of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The column by which the rows were matched. In a row without a `TransactionId`, `UniqueID` replaces it.
    pub matched_by: &'static str,
    /// The days whose transactions should have been settled. Absent if the file settles nothing and no days were given.
    pub period: Option<Days>,
    /// The number of the journal's transactions that were checked.
    pub sales: usize,
    /// The number of the first checked transaction in the journal.
    pub first_sale: SaleNumber,
    /// The number of files that were read, at least in part.
    pub files: u64,
    /// The number of lines in the files, without their headers.
    pub rows: u64,
    /// The transactions whose rows add up to the charged amount.
    pub matched: Tally,
    /// The findings, by kind.
    #[serde(serialize_with = "kinds")]
    pub findings: BTreeMap<DifferenceKind, Tally>,
    /// The cost of settling payments (`SettlementFee`). The count is the number of settled rows.
    pub settlement_fees: Tally,
    /// The fee records by `PaymentType`. Amounts that were paid back are subtracted.
    pub fees: BTreeMap<&'static str, Tally>,
    /// Rows of other terminals, and of no terminal. They are not checked.
    pub other_terminals: Tally,
    /// Rows of this terminal from before `firstSale`. They are not checked.
    pub earlier_sales: Tally,
}

impl Summary {
    pub(super) fn new(sales: usize, first_sale: SaleNumber) -> Self {
        Self {
            matched_by: "UniqueID",
            files: 0,
            period: None,
            sales,
            first_sale,
            rows: 0,
            matched: Tally::default(),
            findings: BTreeMap::new(),
            settlement_fees: Tally::default(),
            fees: BTreeMap::new(),
            other_terminals: Tally::default(),
            earlier_sales: Tally::default(),
        }
    }

    /// Records whether another file has the column with our reference. One such file is enough to recognise the
    /// terminal.
    pub(super) fn match_by(&mut self, has_transaction_ids: bool) {
        if has_transaction_ids {
            self.matched_by = BY_REFERENCE;
        }
    }

    pub(super) fn found(&mut self, finding: Difference, counts: Option<Money>, out: &mut impl FnMut(Difference)) {
        self.findings.entry(finding.kind).or_default().add(counts);
        out(finding);
    }

    /// Returns whether there is nothing to check.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Writes a table for people.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "matched by {}, {} sales of the journal", self.matched_by, self.sales)?;
        match self.period {
            Some(Days { from, to, from_given, to_given }) => {
                let whose = |given| if given { "given" } else { "of the file" };
                writeln!(f, "period {from} ({}) to {to} ({})", whose(from_given), whose(to_given))?;
            }
            None => writeln!(f, "no period: the file settles nothing; give --from and --to to find missing sales")?,
        }
        writeln!(f)?;
        let mut row = |what: &str, tally: &Tally| writeln!(f, "{what:<36} {:>9}  {}", tally.count, tally.words());
        if self.files != 1 {
            row("files", &Tally { count: self.files, ..Tally::default() })?;
        }
        row("rows", &Tally { count: self.rows, ..Tally::default() })?;
        row("matched", &self.matched)?;
        let none = Tally::default();
        for kind in DifferenceKind::ALL {
            let tally = self.findings.get(&kind).unwrap_or(&none);
            if tally.count > 0 || kind.is_always_told() {
                row(kind.words(), tally)?;
            }
        }
        row("settled rows, and their fees", &self.settlement_fees)?;
        for (payment_type, tally) in &self.fees {
            row(&format!("fee records, {payment_type}"), tally)?;
        }
        for (what, tally) in
            [("rows of other terminals", &self.other_terminals), ("rows of earlier sales", &self.earlier_sales)]
        {
            if tally.count > 0 {
                row(what, tally)?;
            }
        }
        writeln!(f)?;
        f.write_str(if self.agrees() {
            "everything agrees"
        } else {
            "there are differences: see the lines above the table"
        })
    }
}

fn day_as_text<S: Serializer>(day: &NaiveDate, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(day)
}

fn as_text<S: Serializer>(day: &Option<NaiveDate>, to: S) -> Result<S::Ok, S::Error> {
    match day {
        Some(day) => to.collect_str(day),
        None => to.serialize_none(),
    }
}

fn values<S: Serializer>(amounts: &BTreeMap<&'static str, Money>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(amounts.values())
}

/// Writes every kind, so that programs need not know which kinds are absent.
fn kinds<S: Serializer>(found: &BTreeMap<DifferenceKind, Tally>, to: S) -> Result<S::Ok, S::Error> {
    let none = Tally::default();
    to.collect_map(DifferenceKind::ALL.iter().map(|kind| (kind, found.get(kind).unwrap_or(&none))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_written_with_the_decimals_of_their_currency() {
        for (minor, code, text) in [
            (0, "EUR", "0.00 EUR"),
            (-5, "EUR", "-0.05 EUR"),
            (123_456, "EUR", "1234.56 EUR"),
            (1200, "JPY", "1200 JPY"),
            (-1230, "KWD", "-1.230 KWD"),
        ] {
            assert_eq!(Money { minor, currency: Currency::from_code(code).unwrap() }.to_string(), text);
        }
    }
}
