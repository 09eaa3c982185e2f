//! The sums of a close of day, by kind, card scheme and currency. They cover the money moved or reserved, the tips in
//! it, and the number of transactions without a payment. This module is pure: the caller reads the journal and shows
//! the sums.
//!
//! A transaction without an outcome is in no sum. Its number is kept, so that the next count includes it.

use std::collections::{BTreeMap, BTreeSet};

use crate::transaction::{Outcome, Standing, Transaction};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Kind, SaleNumber};

/// The sums so far.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    kinds: BTreeMap<(&'static str, &'static str), TotalsLine>,
    schemes: BTreeMap<(&'static str, String, &'static str), TotalsLine>,
    tips: BTreeMap<&'static str, TotalsLine>,
    /// The numbers of the transactions without an outcome.
    pub open: BTreeSet<SaleNumber>,
    /// The number of transactions that the issuer, the card or the gateway declined.
    pub declined: u64,
    /// The number of transactions that were charged, or perhaps charged, and then reversed.
    pub taken_back: u64,
    /// The number of transactions cancelled before anything was sent.
    pub cancelled: u64,
    /// The number of transactions not sent or not processed.
    pub not_sent: u64,
}

/// One line of the sums, for all transactions that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TotalsLine {
    /// The kind of transaction.
    pub kind: Kind,
    /// The currency of the transactions.
    pub currency: Currency,
    /// The number of transactions.
    pub count: u64,
    /// The sum in minor units. It can exceed the highest amount of one transaction.
    pub minor: u128,
}

impl Totals {
    /// Counts a transaction according to its current state.
    pub fn take(&mut self, sale: &Transaction) {
        let Standing::Ended(outcome) = sale.standing() else {
            self.open.insert(sale.order().number);
            return;
        };
        match outcome {
            // Storing or deleting a card moves no money.
            _ if !sale.order().kind().moves_money() => {}
            Outcome::Approved => self.moved(sale, sale.amount()),
            Outcome::PartiallyApproved { amount } => self.moved(sale, *amount),
            Outcome::Declined { .. } => self.declined += 1,
            Outcome::Reversed { .. } => self.taken_back += 1,
            Outcome::Cancelled { .. } => self.cancelled += 1,
            Outcome::NotSent { .. } => self.not_sent += 1,
        }
    }

    /// Returns the lines by kind and currency.
    pub fn kinds(&self) -> impl Iterator<Item = &TotalsLine> {
        self.kinds.values()
    }

    /// Returns the lines by kind, card scheme and currency.
    pub fn schemes(&self) -> impl Iterator<Item = (&str, &TotalsLine)> {
        self.schemes.iter().map(|((_, scheme, _), line)| (scheme.as_str(), line))
    }

    /// Returns the tips by currency. The sums of the sales include them.
    pub fn tips(&self) -> impl Iterator<Item = &TotalsLine> {
        self.tips.values()
    }

    fn moved(&mut self, sale: &Transaction, amount: Amount) {
        let (kind, currency) = (sale.order().kind(), amount.currency());
        let scheme = scheme(sale).to_owned();
        let line = || TotalsLine { kind, currency, count: 0, minor: 0 };
        self.kinds.entry((kind.as_str(), currency.code())).or_insert_with(line).add(amount);
        self.schemes.entry((kind.as_str(), scheme, currency.code())).or_insert_with(line).add(amount);
        if let Some(tip) = sale.tip_in(amount) {
            self.tips.entry(currency.code()).or_insert_with(line).add(tip);
        }
    }
}

impl TotalsLine {
    /// Adds a transaction's amount.
    pub fn add(&mut self, amount: Amount) {
        self.count += 1;
        self.minor += u128::from(amount.minor());
    }

    /// Returns the sum with the decimals of its currency.
    #[must_use]
    pub fn decimal(&self) -> String {
        decimal(self.minor, self.currency)
    }
}

/// Formats minor units with the decimals of their currency. The value can exceed the highest amount of one transaction.
#[must_use]
pub fn decimal(minor: u128, currency: Currency) -> String {
    let width = usize::from(currency.exponent());
    let unit = 10_u128.pow(u32::from(currency.exponent()));
    match width {
        0 => minor.to_string(),
        _ => format!("{}.{:0width$}", minor / unit, minor % unit),
    }
}

/// Returns the brand under which a transaction is counted: the gateway's brand, or else the card's brand, or else
/// `other`.
#[must_use]
pub fn scheme(sale: &Transaction) -> &str {
    let label = sale.card().and_then(|card| card.label.as_deref());
    sale.host().brand.as_deref().or(label).unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transaction::{HostFacts, Order, Reason, Record};

    #[test]
    fn a_tip_counts_as_far_as_it_was_approved() {
        let eur = |minor| Amount::from_minor(minor, Currency::from_code("EUR").unwrap()).unwrap();
        let order: Order = serde_json::from_value(serde_json::json!({
            "number": 1, "till": "till-1", "reference": "R1", "amount": eur(1000), "askTip": true, "acceptPartial": true,
            "terminalId": "12345678", "merchantTransactionId": "12345678-1-00000000000000000000000000000001",
            "startedUnixMs": 0, "localTime": "2026-11-20 13:00:00",
        }))
        .unwrap();
        for (approved, tip) in [(1500, Some(500)), (1400, Some(400)), (1001, Some(1)), (1000, None), (999, None)] {
            let outcome = match approved {
                1500 => Outcome::Approved,
                part => Outcome::PartiallyApproved { amount: eur(part) },
            };
            let steps = [
                vec![Record::Started { order: order.clone() }],
                vec![Record::TipTyped { tip: Some(eur(500)), total: eur(1500) }],
                vec![Record::Ended { outcome, host: None, card: None, by: None, at_unix_ms: None }],
            ];
            let sale = Transaction::replay(&steps).unwrap();
            let mut sums = Totals::default();
            sums.moved(&sale, eur(approved));
            assert_eq!(sums.tips().next().map(|line| line.minor), tip, "{approved}");
        }
    }

    #[test]
    fn each_transaction_is_counted_once_and_where_it_belongs() {
        let amount = |minor, code| Amount::from_minor(minor, Currency::from_code(code).unwrap()).unwrap();
        let sale = |number: u64, kind: &str, asked: Amount, brand: Option<&str>, outcome: Option<Outcome>| {
            let order: Order = serde_json::from_value(serde_json::json!({
                "kind": { "is": kind }, "number": number, "till": "till-1", "reference": format!("R{number}"),
                "amount": asked, "acceptPartial": true, "terminalId": "12345678",
                "merchantTransactionId": format!("12345678-{number}-00000000000000000000000000000001"),
                "startedUnixMs": 0, "localTime": "2026-11-20 13:00:00",
            }))
            .unwrap();
            let host = Some(HostFacts { brand: brand.map(str::to_owned), ..HostFacts::default() });
            let ended = outcome.map(|outcome| Record::Ended { outcome, host, card: None, by: None, at_unix_ms: None });
            Transaction::replay(&[vec![Record::Started { order }], ended.into_iter().collect()]).unwrap()
        };
        let why = || Reason::BankDeclined.into();
        let part = Outcome::PartiallyApproved { amount: amount(600, "EUR") };
        let outcomes = [
            ("sale", amount(1000, "EUR"), Some("VISA"), Some(Outcome::Approved)),
            ("sale", amount(1000, "EUR"), Some("MASTER"), Some(part)),
            ("sale", amount(500, "JPY"), Some("VISA"), Some(Outcome::Approved)),
            ("sale", amount(50, "EUR"), None, Some(Outcome::Approved)),
            ("pre-authorisation", amount(7000, "EUR"), Some("VISA"), Some(Outcome::Approved)),
            ("sale", amount(1, "EUR"), None, Some(Outcome::Declined { why: why() })),
            ("sale", amount(1, "EUR"), None, Some(Outcome::Reversed { why: why() })),
            ("sale", amount(1, "EUR"), None, Some(Outcome::Reversed { why: why() })),
            ("sale", amount(1, "EUR"), None, Some(Outcome::Cancelled { why: why() })),
            ("sale", amount(1, "EUR"), None, Some(Outcome::NotSent { why: why() })),
            ("sale", amount(1, "EUR"), None, None),
        ];
        let mut sums = Totals::default();
        for (number, (kind, asked, brand, outcome)) in (1_u64..).zip(outcomes) {
            sums.take(&sale(number, kind, asked, brand, outcome));
        }
        let shown =
            |line: &TotalsLine| format!("{} {} {} {}", line.kind.as_str(), line.currency, line.count, line.minor);
        let mut kinds: Vec<_> = sums.kinds().map(shown).collect();
        kinds.sort();
        assert_eq!(kinds, ["pre-authorisation EUR 1 7000", "sale EUR 3 1650", "sale JPY 1 500"]);
        let mut schemes: Vec<_> = sums.schemes().map(|(scheme, line)| format!("{scheme}: {}", shown(line))).collect();
        schemes.sort();
        assert_eq!(
            schemes,
            [
                "MASTER: sale EUR 1 600",
                "VISA: pre-authorisation EUR 1 7000",
                "VISA: sale EUR 1 1000",
                "VISA: sale JPY 1 500",
                "other: sale EUR 1 50",
            ]
        );
        assert_eq!((sums.declined, sums.taken_back, sums.cancelled, sums.not_sent), (1, 2, 1, 1));
        assert_eq!(sums.open, BTreeSet::from([SaleNumber::new(11)]));
        assert_eq!(sums.tips().count(), 0);
    }

    #[test]
    fn sums_have_the_decimals_of_their_currency() {
        for (minor, code, text) in [
            (5, "EUR", "0.05"),
            (123_456, "EUR", "1234.56"),
            (1200, "JPY", "1200"),
            (1230, "KWD", "1.230"),
            (999_999_999_999_000, "EUR", "9999999999990.00"),
        ] {
            let currency = Currency::from_code(code).unwrap();
            let line = TotalsLine { kind: Kind::Sale, currency, count: 1, minor };
            assert_eq!(line.decimal(), text);
        }
    }

    #[test]
    fn tips_are_counted_in_the_currency_that_they_were_paid_in() {
        let amount = |minor, code| Amount::from_minor(minor, Currency::from_code(code).unwrap()).unwrap();
        let mut sums = Totals::default();
        for (number, code, bill, tip) in
            [(1, "EUR", 1000, 200), (2, "USD", 5000, 700), (3, "EUR", 300, 50), (4, "JPY", 900, 90)]
        {
            let order: Order = serde_json::from_value(serde_json::json!({
                "number": number, "till": "till-1", "reference": format!("R{number}"), "amount": amount(bill, code),
                "askTip": true, "terminalId": "12345678",
                "merchantTransactionId": format!("12345678-{number}-00000000000000000000000000000001"),
                "startedUnixMs": 0, "localTime": "2026-11-20 13:00:00",
            }))
            .unwrap();
            let typed = Record::TipTyped { tip: Some(amount(tip, code)), total: amount(bill + tip, code) };
            let outcome = Outcome::Approved;
            let ended = Record::Ended { outcome, host: None, card: None, by: None, at_unix_ms: None };
            sums.take(&Transaction::replay(&[vec![Record::Started { order }], vec![typed], vec![ended]]).unwrap());
        }
        let shown = |line: &TotalsLine| format!("{} {} {}", line.currency, line.count, line.decimal());
        assert_eq!(sums.tips().map(shown).collect::<Vec<_>>(), ["EUR 2 2.50", "JPY 1 90", "USD 1 7.00"]);
        assert_eq!(
            sums.kinds().map(shown).collect::<Vec<_>>(),
            ["EUR 2 15.50", "JPY 1 990", "USD 1 57.00"],
            "a tip is in the sum of the sales too"
        );
    }
}
