//! The sums of a close of day: the amounts taken from cards and given back, and the net, by kind, brand, till, operator
//! and currency. The caller reads the journal and passes in each ended transaction.
//!
//! | kind | counted as |
//! |---|---|
//! | sale, payment with a stored card, capture | taken |
//! | refund, credit | given |
//! | reversal of a kind that counts as taken | given |
//! | reversal of a credit | taken, because the money came back |
//! | pre-authorisation, increment, reauthorisation, and a reversal of one | nothing, because the amount was only reserved or released |
//! | reversal of a payment that is not in this journal | given, and counted separately as well, because only the gateway knows whether it was a payment |

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Shift, Sum, TillSums};
use crate::totals::{Totals, TotalsLine, decimal, scheme};
use crate::transaction::{Outcome, Standing, Transaction};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Kind, SaleNumber, Who};

/// The sums so far.
#[derive(Clone, Debug, Default)]
pub struct DaySums {
    totals: Totals,
    net: BTreeMap<&'static str, Moved>,
    brands: BTreeMap<(String, &'static str), Moved>,
    tills: BTreeMap<(String, &'static str), Moved>,
    operators: BTreeMap<(String, &'static str), Moved>,
    /// The sums of each operator by kind, and the tips.
    shifts: BTreeMap<String, Totals>,
    of_unknown: BTreeMap<&'static str, TotalsLine>,
    /// The lowest and the highest number of the counted transactions, including those without a payment.
    numbers: Option<(SaleNumber, SaleNumber)>,
    /// The sums of each till.
    own: BTreeMap<String, Self>,
}

/// The amounts taken and given in one currency.
#[derive(Clone, Copy, Debug)]
struct Moved {
    currency: Currency,
    taken_count: u64,
    given_count: u64,
    taken: u128,
    given: u128,
}

/// The amounts taken and given in one currency, for a shop, a card brand, a till or an operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Turnover {
    /// The brand, the till or the operator; absent if all are counted together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The currency (ISO 4217).
    pub currency: String,
    /// The number of transactions that moved money.
    pub count: u64,
    /// The number of these that took money. Absent if an earlier version made the close.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_count: Option<u64>,
    /// The number of these that gave money. Absent if an earlier version made the close.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_count: Option<u64>,
    /// The amount taken from cards, as `12.34`.
    pub taken: String,
    /// The amount given back or paid out.
    pub given: String,
    /// The amount taken minus the amount given. It has a minus sign if more was given than taken.
    pub net: String,
}

/// The direction in which the money moves, from the shop's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Taken,
    Given,
    Neither,
}

/// Returns the person who requested the transaction.
fn operator_of(sale: &Transaction) -> Option<&str> {
    sale.order().by.as_ref().and_then(Who::person)
}

/// Returns the direction of an approved transaction. For a reversal, `of` is the kind of the reversed transaction, if
/// it is known.
fn way(kind: Kind, of: Option<Kind>) -> Way {
    match (kind, of) {
        (Kind::Reversal, Some(of)) if of.reserves_money() => Way::Neither,
        (Kind::Reversal, Some(of)) if of.gives_money() => Way::Taken,
        (Kind::Reversal, _) => Way::Given,
        (kind, _) if kind.reserves_money() || !kind.moves_money() => Way::Neither,
        (kind, _) if kind.takes_money() => Way::Taken,
        _ => Way::Given,
    }
}

impl DaySums {
    /// Counts a transaction that has ended, and ignores one without an outcome. For a reversal, `of` is the kind of the
    /// reversed transaction, if the journal contains it.
    pub fn take(&mut self, sale: &Transaction, of: Option<Kind>) {
        self.own.entry(sale.order().till.clone()).or_default().add(sale, of);
        self.add(sale, of);
        if let (Standing::Ended(_), Some(operator)) = (sale.standing(), operator_of(sale)) {
            self.shifts.entry(operator.to_owned()).or_default().take(sale);
        }
    }

    fn add(&mut self, sale: &Transaction, of: Option<Kind>) {
        let Standing::Ended(outcome) = sale.standing() else { return };
        self.totals.take(sale);
        if sale.order().kind().moves_money() {
            let number = sale.order().number;
            let (first, last) = self.numbers.unwrap_or((number, number));
            self.numbers = Some((first.min(number), last.max(number)));
        }
        let amount = match outcome {
            Outcome::Approved => sale.amount(),
            Outcome::PartiallyApproved { amount } => *amount,
            Outcome::Declined { .. }
            | Outcome::Reversed { .. }
            | Outcome::Cancelled { .. }
            | Outcome::NotSent { .. } => return,
        };
        let (kind, currency) = (sale.order().kind(), amount.currency());
        let way = way(kind, of);
        if kind == Kind::Reversal && of.is_none() {
            let line = TotalsLine { kind, currency, count: 0, minor: 0 };
            self.of_unknown.entry(currency.code()).or_insert(line).add(amount);
        }
        if way == Way::Neither {
            return;
        }
        let none = Moved { currency, taken_count: 0, given_count: 0, taken: 0, given: 0 };
        self.net.entry(currency.code()).or_insert(none).add(way, amount);
        self.brands.entry((scheme(sale).to_owned(), currency.code())).or_insert(none).add(way, amount);
        self.tills.entry((sale.order().till.clone(), currency.code())).or_insert(none).add(way, amount);
        if let Some(operator) = operator_of(sale) {
            self.operators.entry((operator.to_owned(), currency.code())).or_insert(none).add(way, amount);
        }
    }

    /// Returns the sums by kind and card scheme, the tips, and the counts of transactions without a payment.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Returns the amounts by currency.
    #[must_use]
    pub fn net(&self) -> Vec<Turnover> {
        self.net.values().map(|moved| moved.turnover(None)).collect()
    }

    /// Returns the amounts by card brand and currency.
    #[must_use]
    pub fn brands(&self) -> Vec<Turnover> {
        named(&self.brands)
    }

    /// Returns the amounts by till and currency.
    #[must_use]
    pub fn tills(&self) -> Vec<Turnover> {
        named(&self.tills)
    }

    /// Returns the lowest and the highest number of the counted transactions.
    #[must_use]
    pub fn numbers(&self) -> Option<(SaleNumber, SaleNumber)> {
        self.numbers
    }

    /// Returns the sums of each till.
    #[must_use]
    pub fn own(&self) -> Vec<TillSums> {
        let of = |(till, sums): (&String, &Self)| {
            let (first_number, last_number) = sums.numbers?;
            let schemes = sums.totals.schemes().map(|(scheme, line)| Sum::of(line, Some(scheme))).collect();
            Some(TillSums { till: till.clone(), first_number, last_number, brands: sums.brands(), schemes })
        };
        self.own.iter().filter_map(of).collect()
    }

    /// Returns the amounts by operator and currency. A transaction that was begun without an operator is not included.
    #[must_use]
    pub fn operators(&self) -> Vec<Turnover> {
        named(&self.operators)
    }

    /// Returns the sums of each operator by kind, and the tips. An operator without a payment is not included.
    #[must_use]
    pub fn shifts(&self) -> Vec<Shift> {
        let of = |(operator, totals): (&String, &Totals)| {
            let kinds: Vec<Sum> = totals.kinds().map(|line| Sum::of(line, None)).collect();
            let tips = totals.tips().map(|line| Sum::of(line, None)).collect();
            (!kinds.is_empty()).then(|| Shift { operator: operator.clone(), kinds, tips })
        };
        self.shifts.iter().filter_map(of).collect()
    }

    /// Returns the reversals of payments that are not in this journal, by currency.
    #[must_use]
    pub fn of_unknown(&self) -> Vec<Sum> {
        self.of_unknown.values().map(|line| Sum::of(line, None)).collect()
    }
}

fn named(moved: &BTreeMap<(String, &'static str), Moved>) -> Vec<Turnover> {
    moved.iter().map(|((name, _), moved)| moved.turnover(Some(name.clone()))).collect()
}

impl Moved {
    fn add(&mut self, way: Way, amount: Amount) {
        let (count, sum) = match way {
            Way::Taken => (&mut self.taken_count, &mut self.taken),
            Way::Given => (&mut self.given_count, &mut self.given),
            Way::Neither => return,
        };
        *count += 1;
        *sum += u128::from(amount.minor());
    }

    fn turnover(&self, name: Option<String>) -> Turnover {
        let Self { currency, taken_count, given_count, taken, given } = *self;
        let sign = if given > taken { "-" } else { "" };
        Turnover {
            name,
            currency: currency.code().to_owned(),
            count: taken_count + given_count,
            taken_count: Some(taken_count),
            given_count: Some(given_count),
            taken: decimal(taken, currency),
            given: decimal(given, currency),
            net: format!("{sign}{}", decimal(taken.abs_diff(given), currency)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::transaction::Record;

    fn eur(minor: u64) -> Amount {
        Amount::from_minor(minor, Currency::from_code("EUR").unwrap()).unwrap()
    }

    fn ended(kind: Kind, till: &str, minor: u64, outcome: Outcome) -> Transaction {
        ended_by(json!({ "token": till }), kind, till, minor, outcome)
    }

    fn ended_by(by: serde_json::Value, kind: Kind, till: &str, minor: u64, outcome: Outcome) -> Transaction {
        let of = json!({ "payment": "8ac7a4a1845f7e19018461a00b366a74", "number": 1 });
        let kind = match kind {
            Kind::ByRegistration | Kind::PreAuthorisationByRegistration | Kind::ForgetCard => {
                json!({ "is": kind, "registration": "8ac7a4a1845f7e19018461a00b366a74" })
            }
            kind if kind.has_earlier() => json!({ "is": kind, "of": of }),
            kind => json!({ "is": kind }),
        };
        let order = serde_json::from_value(json!({
            "kind": kind, "number": 2, "till": till, "by": by, "reference": "R2", "amount": eur(minor), "terminalId": "12345678",
            "merchantTransactionId": "12345678-2-0", "startedUnixMs": 0, "localTime": "2026-11-20 13:00:00",
        }))
        .unwrap();
        let end = Record::Ended { outcome, host: None, card: None, by: None, at_unix_ms: None };
        Transaction::replay(&[vec![Record::Started { order }], vec![end]]).unwrap()
    }

    #[test]
    fn each_kind_moves_money_one_way() {
        // Columns: the kind, the kind that it reversed, the amounts taken and given of 10.00.
        for (kind, of, taken, given) in [
            (Kind::Sale, None, "10.00", "0.00"),
            (Kind::ByRegistration, None, "10.00", "0.00"),
            (Kind::Capture, None, "10.00", "0.00"),
            (Kind::Refund, None, "0.00", "10.00"),
            (Kind::Credit, None, "0.00", "10.00"),
            (Kind::Reversal, Some(Kind::Sale), "0.00", "10.00"),
            (Kind::Reversal, Some(Kind::Capture), "0.00", "10.00"),
            (Kind::Reversal, Some(Kind::ByRegistration), "0.00", "10.00"),
            (Kind::Reversal, Some(Kind::Credit), "10.00", "0.00"),
            (Kind::Reversal, None, "0.00", "10.00"),
        ] {
            let mut sums = DaySums::default();
            sums.take(&ended(kind, "till-1", 1000, Outcome::Approved), of);
            let [net] = &sums.net()[..] else { panic!("{kind:?}") };
            assert_eq!((net.taken.as_str(), net.given.as_str(), net.count), (taken, given, 1), "{kind:?} of {of:?}");
            assert_eq!(sums.of_unknown().len(), usize::from(kind == Kind::Reversal && of.is_none()), "{kind:?}");
        }
        for kind in [Kind::StoreCard, Kind::ForgetCard] {
            let mut sums = DaySums::default();
            sums.take(&ended(kind, "till-1", 1000, Outcome::Approved), None);
            assert!(sums.net().is_empty() && sums.tills().is_empty(), "{kind:?}");
            assert_eq!(sums.totals().kinds().count(), 0, "{kind:?} is no payment");
        }
        for (kind, of) in [
            (Kind::PreAuthorisation, None),
            (Kind::PreAuthorisationByRegistration, None),
            (Kind::Increment, None),
            (Kind::Reauthorisation, None),
            (Kind::Reversal, Some(Kind::PreAuthorisation)),
            (Kind::Reversal, Some(Kind::Increment)),
            (Kind::Reversal, Some(Kind::Reauthorisation)),
        ] {
            let mut sums = DaySums::default();
            sums.take(&ended(kind, "till-1", 1000, Outcome::Approved), of);
            assert!(sums.net().is_empty() && sums.tills().is_empty(), "{kind:?} of {of:?}");
            assert_eq!(sums.totals().kinds().count(), 1, "it is counted, and moves nothing");
        }
    }

    #[test]
    fn net_is_what_was_taken_less_what_was_given_by_till_too() {
        let mut sums = DaySums::default();
        let why = || crate::transaction::Reason::BankDeclined.into();
        sums.take(&ended(Kind::Sale, "till-1", 1234, Outcome::Approved), None);
        sums.take(&ended(Kind::Sale, "till-2", 2000, Outcome::PartiallyApproved { amount: eur(500) }), None);
        sums.take(&ended(Kind::Refund, "till-2", 700, Outcome::Approved), None);
        sums.take(&ended(Kind::Sale, "till-1", 9900, Outcome::Declined { why: why() }), None);
        sums.take(&ended(Kind::Sale, "till-1", 9900, Outcome::Reversed { why: why() }), None);
        let told = |of: Vec<Turnover>| -> Vec<(Option<String>, String)> {
            of.into_iter().map(|one| (one.name, one.net)).collect()
        };
        assert_eq!(told(sums.net()), [(None, "10.34".to_owned())]);
        let tills = [("till-1", "12.34"), ("till-2", "-2.00")];
        assert_eq!(told(sums.tills()), tills.map(|(till, net)| (Some(till.to_owned()), net.to_owned())));
        assert_eq!((sums.totals().declined, sums.totals().taken_back), (1, 1));
    }

    #[test]
    fn each_till_has_its_own_sums_with_its_first_and_last_number() {
        let numbered = |number: u64, kind: Kind, till: &str, minor: u64, outcome: Outcome| {
            let mut order = serde_json::to_value(ended(kind, till, minor, Outcome::Approved).order()).unwrap();
            order["number"] = json!(number);
            let order = serde_json::from_value(order).unwrap();
            let end = Record::Ended { outcome, host: None, card: None, by: None, at_unix_ms: None };
            Transaction::replay(&[vec![Record::Started { order }], vec![end]]).unwrap()
        };
        let mut sums = DaySums::default();
        assert!(sums.numbers().is_none() && sums.own().is_empty());
        // The transactions are in the order in which they ended, which differs from the order of their numbers.
        for (number, kind, till, minor) in [
            (12, Kind::Sale, "bar", 500),
            (11, Kind::Sale, "kasse-1", 1234),
            (14, Kind::Refund, "kasse-1", 34),
            (15, Kind::StoreCard, "kasse-1", 1),
        ] {
            sums.take(&numbered(number, kind, till, minor, Outcome::Approved), None);
        }
        // A declined transaction has a receipt too.
        let why = crate::transaction::Reason::BankDeclined.into();
        sums.take(&numbered(13, Kind::Sale, "bar", 100, Outcome::Declined { why }), None);
        let of = |first: u64, last: u64| (SaleNumber::new(first), SaleNumber::new(last));
        assert_eq!(sums.numbers(), Some(of(11, 14)));
        let own = sums.own();
        let told: Vec<_> = own.iter().map(|own| (own.till.as_str(), (own.first_number, own.last_number))).collect();
        assert_eq!(told, [("bar", of(12, 13)), ("kasse-1", of(11, 14))]);
        let brand = &own[1].brands[0];
        assert_eq!((brand.taken.as_str(), brand.given.as_str(), own[1].brands.len()), ("12.34", "0.34", 1));
        let schemes: Vec<_> = own[1].schemes.iter().map(|sum| (sum.kind, sum.sum.as_str())).collect();
        assert_eq!(schemes, [(Kind::Refund, "0.34"), (Kind::Sale, "12.34")]);
        assert_eq!(own[0].schemes.len(), 1, "the declined one is in no sum");
    }

    #[test]
    fn a_close_of_an_earlier_program_is_read_without_numbers_and_own_sums() {
        let period = json!({ "afterEntry": 0, "toEntry": 9, "to": "2026-11-20T23:02:00+01:00" });
        let earlier = json!({
            "number": 7, "terminalId": "12345678", "day": "2026-11-20", "till": "till-1", "period": period, "net": [],
            "kinds": [], "schemes": [], "tills": [], "tips": [], "declined": 0, "takenBack": 0, "cancelled": 0,
            "notSent": 0, "open": [],
        });
        let close: super::super::Close = serde_json::from_value(earlier.clone()).unwrap();
        assert_eq!((close.first_number, close.last_number, close.own.len()), (None, None, 0));
        assert_eq!(serde_json::to_value(close).unwrap(), earlier);
    }

    #[test]
    fn an_operators_sums_are_what_was_begun_by_that_operator() {
        let anna = json!({ "token": "till-1", "operator": "Anna", "supervisor": "Berta" });
        let stated = json!({ "token": "till-2", "statedOperator": "12" });
        let mut sums = DaySums::default();
        for (by, kind, minor) in [
            (anna.clone(), Kind::Sale, 1000),
            (anna, Kind::Refund, 300),
            (stated, Kind::Sale, 500),
            (json!({ "token": "till-1" }), Kind::Sale, 4000),
        ] {
            sums.take(&ended_by(by, kind, "till-1", minor, Outcome::Approved), None);
        }
        let told: Vec<_> = sums.operators().into_iter().map(|one| (one.name, one.net)).collect();
        let told: Vec<_> = told.iter().map(|(name, net)| (name.as_deref(), net.as_str())).collect();
        assert_eq!(told, [(Some("12"), "5.00"), (Some("Anna"), "7.00")]);
    }

    #[test]
    fn a_shift_has_the_kinds_and_tips_of_one_operator() {
        let by = |name: &str| json!({ "token": "till-1", "operator": name });
        let (anna, ben) = (by("Anna"), by("Ben"));
        let mut sums = DaySums::default();
        for (by, kind, of, minor) in [
            (&anna, Kind::Sale, None, 1000),
            (&ben, Kind::Sale, None, 500),
            // Ben voids a payment of Anna, and the void is his.
            (&ben, Kind::Reversal, Some(Kind::Sale), 1000),
            (&anna, Kind::Reversal, Some(Kind::PreAuthorisation), 7000),
            (&anna, Kind::Refund, None, 300),
        ] {
            sums.take(&ended_by(by.clone(), kind, "till-1", minor, Outcome::Approved), of);
        }
        let why = crate::transaction::Reason::BankDeclined.into();
        sums.take(&ended_by(by("Carl"), Kind::Sale, "till-1", 100, Outcome::Declined { why }), None);
        sums.take(&with_tip(&ben, 2000, 250), None);

        let lines = |sums: &[Sum]| -> Vec<String> {
            sums.iter().map(|one| format!("{} {} {}", one.kind.as_str(), one.count, one.sum)).collect()
        };
        let [annas, bens] = &sums.shifts()[..] else { panic!("{:?}", sums.shifts()) };
        assert_eq!((annas.operator.as_str(), bens.operator.as_str()), ("Anna", "Ben"));
        // The release of a reservation is a void, although it moves no money.
        assert_eq!(lines(&annas.kinds), ["refund 1 3.00", "reversal 1 70.00", "sale 1 10.00"]);
        assert_eq!(lines(&annas.tips), Vec::<String>::new());
        assert_eq!(lines(&bens.kinds), ["reversal 1 10.00", "sale 2 27.50"]);
        assert_eq!(lines(&bens.tips), ["sale 1 2.50"]);
    }

    /// Returns an approved sale of this amount with a tip.
    fn with_tip(by: &serde_json::Value, minor: u64, tip: u64) -> Transaction {
        let mut order = serde_json::to_value(ended(Kind::Sale, "till-1", minor, Outcome::Approved).order()).unwrap();
        (order["by"], order["askTip"]) = (by.clone(), json!(true));
        let order = serde_json::from_value(order).unwrap();
        let tipped = Record::TipTyped { tip: Some(eur(tip)), total: eur(minor + tip) };
        let end = Record::Ended { outcome: Outcome::Approved, host: None, card: None, by: None, at_unix_ms: None };
        Transaction::replay(&[vec![Record::Started { order }], vec![tipped], vec![end]]).unwrap()
    }
}
