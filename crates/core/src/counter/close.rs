//! A close of day, as it is kept in the journal, shown and exported: a number, a period, the sums of what has ended in
//! it, and by name what had no end.

use serde::{Deserialize, Serialize};

use super::{DaySums, Turnover};
use crate::totals::TotalsLine;
use crate::transaction::{Standing, Transaction};
use pos_terms::money::Amount;
use pos_terms::transaction::{Kind, Reference, SaleNumber, Who};

/// A close. It never changes: what happens to one of its transactions later is in a later close.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Close {
    /// Counted from 1, without a gap.
    pub number: u64,
    /// Terminal id.
    pub terminal_id: String,
    /// The business day that it closes, as `2026-11-20`.
    pub day: String,
    /// What it covers.
    pub period: ClosePeriod,
    /// The till that asked for it.
    pub till: String,
    /// That till's own reference, by which the same close is asked for again; absent when it gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// Who asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Who>,
    /// The lowest number of what was counted: the first receipt of the period. Absent where nothing was counted, and in
    /// a close of an earlier program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_number: Option<SaleNumber>,
    /// The highest one: the last receipt. Absent as the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_number: Option<SaleNumber>,
    /// What was taken and given, net, by currency.
    pub net: Vec<Turnover>,
    /// What moved, or was reserved, by kind and currency.
    pub kinds: Vec<Sum>,
    /// The same by card scheme.
    pub schemes: Vec<Sum>,
    /// Taken and given by the card's brand: a reservation and its reversal are in none of it. Absent in a close of an
    /// earlier program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brands: Vec<Turnover>,
    /// By till.
    pub tills: Vec<Turnover>,
    /// Each till's own sums, as if it had closed by itself. Absent in a close of an earlier program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<TillSums>,
    /// By operator; empty where nobody signs in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operators: Vec<Turnover>,
    /// Tips, as they were approved; they are in the sums of the sales too. A void of such a sale takes none out.
    pub tips: Vec<Sum>,
    /// Reversals of payments that this journal does not know. They count as given, and only the gateway knows whether
    /// it was a payment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_unknown: Vec<Sum>,
    /// Declined by the host, the card or the gateway.
    pub declined: u64,
    /// Charged, or perhaps charged, and taken back by the terminal itself.
    pub taken_back: u64,
    /// Cancelled before anything was sent.
    pub cancelled: u64,
    /// The gateway could not be reached.
    pub not_sent: u64,
    /// What had no end, and what is still reserved: in no sum above.
    pub open: Vec<OpenItem>,
}

/// The entries of the journal that a close covers, and when its ends were.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClosePeriod {
    /// The last entry of the close before; zero before the first.
    pub after_entry: i64,
    /// The last entry of this one.
    pub to_entry: i64,
    /// When the close before was made, local with its offset (RFC 3339); absent in the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// When this one was made. For people: what it covers is said by the entries.
    pub to: String,
}

/// What a close counts of one till.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TillSums {
    /// The till.
    pub till: String,
    /// The lowest number of what was counted of it.
    pub first_number: SaleNumber,
    /// The highest one.
    pub last_number: SaleNumber,
    /// Taken and given by the card's brand.
    pub brands: Vec<Turnover>,
    /// What moved, or was reserved, by kind, card scheme and currency.
    pub schemes: Vec<Sum>,
}

/// One line of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Sum {
    /// What kind of transaction.
    pub kind: Kind,
    /// The card's brand; absent where all are counted together, `other` where the brand is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// ISO 4217.
    pub currency: String,
    /// How many.
    pub count: u64,
    /// How much, as `12.34`.
    pub sum: String,
}

impl Sum {
    /// A line of the sums.
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

/// Something that a close does not count yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OpenItem {
    /// Why it is open.
    pub is: OpenKind,
    /// Its number in the journal.
    pub number: SaleNumber,
    /// Its till; absent for a caller that may not see that till's transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub till: Option<String>,
    /// Its reference; absent as the till is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// What kind of transaction; absent when it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// How much it is about, as `12.34`; of a pre-authorisation what is left of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// ISO 4217.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
}

/// Why something is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OpenKind {
    /// Nothing goes on by itself: a person must see to it.
    NeedsPerson,
    /// Nobody knows yet whether money moved.
    Unconfirmed,
    /// The signature is to be compared.
    AwaitingSignature,
    /// Approved, and its till has not said yet whether it takes it.
    AwaitingTill,
    /// A card is waited for, or the gateway was asked.
    UnderWay,
    /// This program cannot read it, or what it reversed: a later program wrote that, or it is damaged. The first close
    /// that can counts it.
    Unreadable,
    /// Reserved, and neither captured in whole nor given free.
    PreAuthorisation,
}

impl OpenKind {
    /// All of them, the most urgent first.
    pub const ALL: [Self; 7] = [
        Self::NeedsPerson,
        Self::Unconfirmed,
        Self::AwaitingSignature,
        Self::AwaitingTill,
        Self::UnderWay,
        Self::Unreadable,
        Self::PreAuthorisation,
    ];

    /// As programs write it.
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
    /// A transaction without an end; `None` when it has one.
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

    /// A reservation of which so much is left.
    #[must_use]
    pub fn reserved(sale: &Transaction, left: Amount) -> Self {
        Self::of(OpenKind::PreAuthorisation, sale, left)
    }

    /// A reservation that was counted, and that this program cannot read now.
    #[must_use]
    pub fn reserved_unread(number: SaleNumber, key: (String, Reference)) -> Self {
        Self { is: OpenKind::PreAuthorisation, ..Self::unreadable(number, Some(key)) }
    }

    /// One that this program cannot read.
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
    /// A close in which nothing was counted.
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
            tips: Vec::new(),
            of_unknown: Vec::new(),
            declined: 0,
            taken_back: 0,
            cancelled: 0,
            not_sent: 0,
            open: Vec::new(),
        }
    }

    /// Puts the sums in. The rest is the caller's: nothing here knows a clock.
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
            tips: totals.tips().map(|line| Sum::of(line, None)).collect(),
            of_unknown: sums.of_unknown(),
            declined: totals.declined,
            taken_back: totals.taken_back,
            cancelled: totals.cancelled,
            not_sent: totals.not_sent,
            ..self
        }
    }

    /// As somebody may see it who sees the transactions of some tills alone. A close is the terminal's, with the sums
    /// of every till; what another till calls its transactions is that till's business.
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

    /// Whether somebody should look at it: something is without an end that should have one by now.
    #[must_use]
    pub fn waits_for_somebody(&self) -> bool {
        let waits = |item: &OpenItem| !matches!(item.is, OpenKind::PreAuthorisation);
        self.open.iter().any(waits)
    }
}
