//! A close of day, as the journal keeps it and the agent shows and exports it. It has a number, a period, the sums of
//! the transactions that ended in the period, and a list of open items.

use serde::{Deserialize, Serialize};

use super::{DaySums, Turnover};
use crate::totals::TotalsLine;
use crate::transaction::{Standing, Transaction};
use pos_terms::money::Amount;
use pos_terms::transaction::{Kind, Reference, SaleNumber, Who};

/// A close of day. It never changes. A later event of a counted transaction counts in a later close.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Close {
    /// The number of the close. Numbers begin at 1 and have no gaps.
    pub number: u64,
    /// The terminal id.
    pub terminal_id: String,
    /// The business day of the close, as `2026-11-20`.
    pub day: String,
    /// The period that it covers.
    pub period: ClosePeriod,
    /// The till that requested the close.
    pub till: String,
    /// The till's reference for the close. A request with the same reference returns the same close. Absent if the till
    /// gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// The person or program that requested the close.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Who>,
    /// The lowest number of the counted transactions: the first receipt of the period. Absent if no transaction was
    /// counted, or if an earlier version made the close.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_number: Option<SaleNumber>,
    /// The highest number of the counted transactions: the last receipt. Absent under the same conditions as the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_number: Option<SaleNumber>,
    /// The taken, given and net amounts, by currency.
    pub net: Vec<Turnover>,
    /// The amounts moved or reserved, by kind and currency.
    pub kinds: Vec<Sum>,
    /// The same amounts, by card scheme.
    pub schemes: Vec<Sum>,
    /// The amounts taken and given, by card brand. Reservations and their reversals are not included. Absent if an
    /// earlier version made the close.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brands: Vec<Turnover>,
    /// The taken, given and net amounts, by till.
    pub tills: Vec<Turnover>,
    /// The sums of each till, as if each had made its own close. Absent if an earlier version made the close.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<TillSums>,
    /// The taken, given and net amounts, by operator. Empty if no operator signs in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operators: Vec<Turnover>,
    /// The sums of each operator's shift, by kind. Empty if no operator signs in. Absent if an earlier version made the
    /// close.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shifts: Vec<Shift>,
    /// The approved tips. The sums of the sales include them. Voiding such a sale does not reduce them.
    pub tips: Vec<Sum>,
    /// Reversals of payments that are not in this journal. They count as given, although only the gateway knows whether
    /// the reversed transaction was a payment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_unknown: Vec<Sum>,
    /// The number of transactions that the issuer, the card or the gateway declined.
    pub declined: u64,
    /// The number of transactions that were charged, or perhaps charged, and that the terminal itself then reversed.
    pub taken_back: u64,
    /// The number of transactions cancelled before anything was sent.
    pub cancelled: u64,
    /// The number of transactions not sent because the gateway could not be reached.
    pub not_sent: u64,
    /// Transactions without an outcome, and amounts still reserved. The sums above do not include them.
    pub open: Vec<OpenItem>,
}

/// The journal entries that a close covers, and the times at which its period begins and ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClosePeriod {
    /// The last entry of the previous close; zero before the first.
    pub after_entry: i64,
    /// The last entry of this close.
    pub to_entry: i64,
    /// The time of the previous close, local with its offset (RFC 3339). Absent in the first close.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The time of this close. It is for information only: the entries define the period.
    pub to: String,
}

/// The sums of one till in a close.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TillSums {
    /// The till.
    pub till: String,
    /// The lowest number of this till's counted transactions.
    pub first_number: SaleNumber,
    /// The highest number of this till's counted transactions.
    pub last_number: SaleNumber,
    /// The amounts taken and given, by card brand.
    pub brands: Vec<Turnover>,
    /// The amounts moved or reserved, by kind, card scheme and currency.
    pub schemes: Vec<Sum>,
}

/// The sums of one operator in a close. A void counts for the operator who made it, not for the operator of the voided
/// transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Shift {
    /// The operator.
    pub operator: String,
    /// The amounts moved or reserved, by kind and currency. The kind `reversal` has the voids.
    pub kinds: Vec<Sum>,
    /// The approved tips, by currency. The sums of the sales include them. Voiding such a sale does not reduce them.
    pub tips: Vec<Sum>,
}

/// One line of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Sum {
    /// The kind of transaction.
    pub kind: Kind,
    /// The card's brand. Absent if all brands are counted together, and `other` if the brand is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// The currency (ISO 4217).
    pub currency: String,
    /// The number of transactions.
    pub count: u64,
    /// The sum, as `12.34`.
    pub sum: String,
}

impl Sum {
    /// Converts a line of the sums to a line of the report.
    #[must_use]
    pub fn of(line: &TotalsLine, scheme: Option<&str>) -> Self {
        let TotalsLine { kind, currency, count, .. } = *line;
        Self {
            kind,
            scheme: scheme.map(str::to_owned),
            currency: currency.code().to_owned(),
            count,
            sum: line.decimal(),
        }
    }
}

/// A transaction that a close does not count yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OpenItem {
    /// The reason why it is open.
    pub is: OpenKind,
    /// The number of the transaction in the journal.
    pub number: SaleNumber,
    /// The till of the transaction. Absent for a caller that may not see that till's transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub till: Option<String>,
    /// The reference of the transaction. Absent under the same condition as the till.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// The kind of transaction; absent if it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The amount, as `12.34`; for a pre-authorisation, the remaining amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// The currency (ISO 4217).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
}

/// The reason why a transaction is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OpenKind {
    /// A person must handle it, because nothing continues automatically.
    NeedsPerson,
    /// It is not known yet whether money moved.
    Unconfirmed,
    /// The signature has not been compared yet.
    AwaitingSignature,
    /// The gateway approved the transaction, and the till has not answered yet whether it accepts the amount.
    AwaitingTill,
    /// The terminal waits for a card or for the gateway's answer.
    UnderWay,
    /// This version cannot read the transaction, or the transaction that it reversed. A later version wrote the record,
    /// or the record is damaged. The first close that can read the transaction counts it.
    Unreadable,
    /// The amount is reserved, and neither captured in full nor released.
    PreAuthorisation,
}

impl OpenKind {
    /// All values, the most urgent first.
    pub const ALL: [Self; 7] = [
        Self::NeedsPerson,
        Self::Unconfirmed,
        Self::AwaitingSignature,
        Self::AwaitingTill,
        Self::UnderWay,
        Self::Unreadable,
        Self::PreAuthorisation,
    ];

    /// Returns the word that programs use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NeedsPerson => "needs-person",
            Self::Unconfirmed => "unconfirmed",
            Self::AwaitingSignature => "awaiting-signature",
            Self::AwaitingTill => "awaiting-till",
            Self::UnderWay => "under-way",
            Self::Unreadable => "unreadable",
            Self::PreAuthorisation => "pre-authorisation",
        }
    }
}

impl OpenItem {
    /// Returns the reason why a transaction is open, or `None` if it has an outcome.
    #[must_use]
    pub fn without_end(sale: &Transaction) -> Option<Self> {
        let is = match sale.standing() {
            Standing::Ended(_) => return None,
            Standing::Waiting | Standing::InProgress => OpenKind::UnderWay,
            Standing::AtSignature => OpenKind::AwaitingSignature,
            Standing::AwaitingTill { .. } => OpenKind::AwaitingTill,
            Standing::Unconfirmed { quarantined: Some(_), .. } => OpenKind::NeedsPerson,
            Standing::Unconfirmed { .. } => OpenKind::Unconfirmed,
        };
        Some(Self::of(is, sale, sale.amount()))
    }

    /// Returns an item for a reservation, with its remaining amount.
    #[must_use]
    pub fn reserved(sale: &Transaction, left: Amount) -> Self {
        Self::of(OpenKind::PreAuthorisation, sale, left)
    }

    /// Returns an item for a reservation that an earlier close counted and that this version cannot read.
    #[must_use]
    pub fn reserved_unread(number: SaleNumber, key: (String, Reference)) -> Self {
        Self { is: OpenKind::PreAuthorisation, ..Self::unreadable(number, Some(key)) }
    }

    /// Returns an item for a transaction that this version cannot read.
    #[must_use]
    pub fn unreadable(number: SaleNumber, key: Option<(String, Reference)>) -> Self {
        let (till, reference) = key.unzip();
        Self { is: OpenKind::Unreadable, number, till, reference, kind: None, amount: None, currency: None }
    }

    fn of(is: OpenKind, sale: &Transaction, amount: Amount) -> Self {
        let order = sale.order();
        Self {
            is,
            number: order.number,
            till: Some(order.till.clone()),
            reference: Some(order.reference.clone()),
            kind: Some(order.kind()),
            amount: Some(amount.decimal()),
            currency: Some(amount.currency().code().to_owned()),
        }
    }
}

impl Close {
    /// Returns a close in which nothing was counted.
    #[must_use]
    pub fn empty(number: u64, terminal_id: String, day: String, period: ClosePeriod, till: String) -> Self {
        Self {
            number,
            terminal_id,
            day,
            period,
            till,
            reference: None,
            by: None,
            first_number: None,
            last_number: None,
            net: Vec::new(),
            kinds: Vec::new(),
            schemes: Vec::new(),
            brands: Vec::new(),
            tills: Vec::new(),
            own: Vec::new(),
            operators: Vec::new(),
            shifts: Vec::new(),
            tips: Vec::new(),
            of_unknown: Vec::new(),
            declined: 0,
            taken_back: 0,
            cancelled: 0,
            not_sent: 0,
            open: Vec::new(),
        }
    }

    /// Adds the sums. The caller provides all other values, because this module has no clock.
    #[must_use]
    pub fn with_sums(self, sums: &DaySums) -> Self {
        let totals = sums.totals();
        let (first_number, last_number) = sums.numbers().unzip();
        Self {
            first_number,
            last_number,
            net: sums.net(),
            kinds: totals.kinds().map(|line| Sum::of(line, None)).collect(),
            schemes: totals.schemes().map(|(scheme, line)| Sum::of(line, Some(scheme))).collect(),
            brands: sums.brands(),
            tills: sums.tills(),
            own: sums.own(),
            operators: sums.operators(),
            shifts: sums.shifts(),
            tips: totals.tips().map(|line| Sum::of(line, None)).collect(),
            of_unknown: sums.of_unknown(),
            declined: totals.declined,
            taken_back: totals.taken_back,
            cancelled: totals.cancelled,
            not_sent: totals.not_sent,
            ..self
        }
    }

    /// Returns the close for a caller that may see the transactions of some tills only. It keeps the sums of every
    /// till, because a close belongs to the terminal. It removes the till and the reference of other tills' open items.
    #[must_use]
    pub fn told_to(mut self, sees: impl Fn(&str) -> bool) -> Self {
        for item in &mut self.open {
            if !item.till.as_deref().is_none_or(&sees) {
                (item.till, item.reference) = (None, None);
            }
        }
        if !sees(&self.till) {
            self.reference = None;
        }
        self
    }

    /// Returns whether a person should check the close. This is the case if it lists an open item other than a
    /// pre-authorisation.
    #[must_use]
    pub fn waits_for_somebody(&self) -> bool {
        let waits = |item: &OpenItem| !matches!(item.is, OpenKind::PreAuthorisation);
        self.open.iter().any(waits)
    }
}
