//! The journal's transactions in a form that can be searched a million times, by our reference or by a payment id.
//!
//! A transaction takes 32 bytes, its reference 12, and each payment 12. The usual transaction takes 56 bytes, and
//! [`MOST_SALES`] take 53 MiB. A reference is stored as a keyed 64-bit hash, not as text. With a file of a million rows
//! and a journal of a million transactions, the probability of a false match is one in ten million. Such a row would be
//! reported as an amount that differs. Each run uses a new key.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};

use chrono::NaiveDate;

use pos_core::transaction::{Record, Transaction};
use pos_terms::money::Currency;
use pos_terms::transaction::{PaymentId, SaleNumber};

use super::due::{self, Charged};

/// The maximum number of transactions that are kept, which take 53 MiB. Of a longer journal, the latest are kept. A
/// busy shop needs nine years for this number.
pub const MOST_SALES: u64 = 1_000_000;
/// The maximum number of payments that are kept, which take 14 MiB. A reversed transaction has two.
const MOST_PAYMENTS: usize = 1_200_000;
/// The number of elements by which a list grows. Doubling its size would temporarily need three times the memory.
const GROWS_BY: usize = 1 << 16;

/// The reason why a journal cannot be searched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There are more transactions than expected.
    #[error("the journal returned more than {MOST_SALES} sales; run the command again")]
    TooManySales,
    /// Transactions have too many payments.
    #[error("the journal names more than {MOST_PAYMENTS} payments, too many for the memory; ask for support")]
    TooManyPayments,
    /// An entry has no first record.
    #[error("the journal has a sale without its beginning; keep the file and ask for support")]
    NoBeginning,
}

/// The transactions of a journal. The ledger is empty at first, and must be [sorted](Self::sorted) after all
/// transactions are added.
#[derive(Debug, Default)]
pub struct Ledger {
    sales: Vec<Entry>,
    references: Vec<Key>,
    payments: Vec<Key>,
    /// The currencies that occur. An entry refers to its currency by the position in this list.
    currencies: Vec<Currency>,
    /// The terminals of the transactions. There is nearly always only one.
    terminals: BTreeSet<String>,
    hasher: RandomState,
}

/// A transaction, and the file's rows about it so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) number: u32,
    /// The latest line about the transaction; 0 if there was none yet.
    pub(super) line: u32,
    /// The expected amount in minor units, which is below zero if the shop pays.
    pub(super) due: i64,
    /// The settled amount in minor units, which is below zero if more was returned than charged.
    pub(super) settled: i64,
    pub(super) day: NaiveDate,
    pub(super) charged: Charged,
    /// True if a row settled an amount.
    pub(super) is_settled: bool,
    currency: u8,
}

/// The calculation at the top of this file depends on these sizes.
const _: () = assert!(size_of::<Entry>() == 32 && size_of::<Key>() == 12);

/// A reference or payment id of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// The hash in two halves, so the struct needs no padding.
    hash: [u32; 2],
    /// The position in `sales`.
    sale: u32,
}

/// The position of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LedgerPlace(u32);

impl Ledger {
    /// Creates an empty ledger. `terminal` is the configured terminal, whose rows are checked even if it has no
    /// transactions.
    #[must_use]
    pub fn new(terminal: Option<String>) -> Self {
        Self { terminals: terminal.into_iter().collect(), ..Self::default() }
    }

    /// Adds a transaction, given by the records of its steps in the order of the journal.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn add(&mut self, steps: &[Vec<Record>]) -> Result<(), Error> {
        let sale = Transaction::replay(steps).ok_or(Error::NoBeginning)?;
        let place = u32::try_from(self.sales.len()).map_err(|_| Error::TooManySales)?;
        let number = u32::try_from(sale.order().number).map_err(|_| Error::TooManySales)?;
        if u64::from(place) >= MOST_SALES {
            return Err(Error::TooManySales);
        }
        let order = sale.order();
        let (charged, amount) = due::due(&sale);
        let currency = self.place_of(amount.currency());
        let day = due::day(&sale);
        let minor = i64::try_from(amount.minor()).map_err(|_| Error::NoBeginning)?;
        let minor = if due::is_paid_out(&sale) { -minor } else { minor };
        // A reversal has its own reference and payment ids. Its rows count for the transaction that it reversed.
        let counts_for = due::takes_back(&sale).and_then(|(number, amount)| self.take_back(number, amount.minor()));
        let counts_for = counts_for.unwrap_or(place);
        let entry = Entry { number, line: 0, due: minor, settled: 0, day, charged, is_settled: false, currency };
        push(&mut self.sales, entry);
        push(&mut self.references, key(&self.hasher, &order.merchant_transaction_id, counts_for));
        if !self.terminals.contains(&order.terminal_id) {
            self.terminals.insert(order.terminal_id.clone());
        }
        // The terminal's automatic reversals have their own references.
        for reference in steps.iter().flatten().filter_map(due::own_reference) {
            push(&mut self.references, key(&self.hasher, reference, counts_for));
        }
        let mut last = "";
        for id in steps.iter().flatten().flat_map(due::payments).flatten().map(PaymentId::as_str) {
            // Consecutive records name the same payment, which is kept once.
            if id != last && !id.is_empty() {
                push(&mut self.payments, key(&self.hasher, id, counts_for));
                last = id;
            }
        }
        if self.payments.len() > MOST_PAYMENTS { Err(Error::TooManyPayments) } else { Ok(()) }
    }

    /// Reduces an earlier transaction that was reversed in full or in part. Returns its position. The search relies on
    /// entries that are added in the order of their numbers.
    fn take_back(&mut self, number: SaleNumber, minor: u64) -> Option<u32> {
        let place = self.sales.binary_search_by_key(&number, |entry| entry.number.into()).ok()?;
        let entry = self.sales.get_mut(place)?;
        let minor = i64::try_from(minor).unwrap_or(i64::MAX);
        entry.due -= entry.due.signum() * minor.min(entry.due.abs());
        if entry.due == 0 && entry.charged == Charged::Yes {
            entry.charged = Charged::Reversed;
        }
        u32::try_from(place).ok()
    }

    /// Sorts the ledger after all transactions are added. Before that, searches find nothing.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.references.sort_unstable();
        self.payments.sort_unstable();
        self
    }

    /// Returns the number of transactions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sales.len()
    }

    /// Returns whether there are no transactions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sales.is_empty()
    }

    pub(super) fn by_reference(&self, reference: &str) -> Option<LedgerPlace> {
        self.find(&self.references, reference)
    }

    pub(super) fn by_payment(&self, id: &str) -> Option<LedgerPlace> {
        self.find(&self.payments, id)
    }

    fn find(&self, keys: &[Key], name: &str) -> Option<LedgerPlace> {
        let Key { hash, .. } = key(&self.hasher, name, 0);
        let at = keys.partition_point(|key| key.hash < hash);
        keys.get(at).filter(|key| key.hash == hash).map(|key| LedgerPlace(key.sale))
    }

    pub(super) fn entry(&mut self, place: LedgerPlace) -> &mut Entry {
        &mut self.sales[place.0 as usize]
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.sales
    }

    pub(super) fn currency(&self, entry: Entry) -> Currency {
        self.currencies[usize::from(entry.currency)]
    }

    pub(super) fn is_ours(&self, terminal: &str) -> bool {
        self.terminals.contains(terminal)
    }

    /// Returns the number of the first transaction that is kept. Earlier transactions are unknown here.
    pub(super) fn first_number(&self) -> SaleNumber {
        self.sales.first().map_or(SaleNumber::BEFORE_ALL, |entry| entry.number.into())
    }

    fn place_of(&mut self, currency: Currency) -> u8 {
        let known = self.currencies.iter().position(|known| *known == currency);
        let place = known.unwrap_or_else(|| {
            self.currencies.push(currency);
            self.currencies.len() - 1
        });
        u8::try_from(place).expect("ISO 4217 has fewer than 256 currencies")
    }
}

fn key(hasher: &RandomState, name: &str, sale: u32) -> Key {
    let hash = hasher.hash_one(name).to_be_bytes();
    let [a, b, c, d, e, f, g, h] = hash;
    Key { hash: [u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])], sale }
}

fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() == list.capacity() {
        list.reserve_exact(GROWS_BY);
    }
    list.push(item);
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_core::transaction::{HostFacts, Order, Outcome};
    use pos_terms::money::Amount;

    const PAYMENT: &str = "8ac7a4a1000000000000000000000009";

    /// Returns the records of an approved transaction of 10.00, as the journal has them.
    fn approved(number: u64, kind: &str, currency: &str) -> Vec<Vec<Record>> {
        let amount = Amount::from_minor(1000, Currency::from_code(currency).unwrap()).unwrap();
        let order: Order = serde_json::from_value(serde_json::json!({
            "kind": { "is": kind, "of": { "payment": PAYMENT, "number": 1 } }, "number": number, "till": "till-1",
            "reference": format!("R{number}"), "amount": amount, "terminalId": "12345678",
            "merchantTransactionId": format!("12345678-{number}-00000000000000000000000000000001"),
            "startedUnixMs": 0, "localTime": "2026-11-20 13:00:00",
        }))
        .unwrap();
        let host = HostFacts { id: Some(PaymentId::new(format!("{number:032}"))), ..HostFacts::default() };
        let payment = PaymentId::new(format!("{number:032}"));
        let host_approved = Record::HostApproved { payment, approved: amount, host: host.clone() };
        let (outcome, host) = (Outcome::Approved, Some(host));
        let ended = Record::Ended { outcome, host, card: None, by: None, at_unix_ms: None };
        vec![vec![Record::Started { order }], vec![host_approved, ended]]
    }

    fn ledger(entries: &[(&str, &str)]) -> Ledger {
        let mut ledger = Ledger::new(None);
        for (number, (kind, currency)) in (1..).zip(entries) {
            ledger.add(&approved(number, kind, currency)).unwrap();
        }
        ledger.sorted()
    }

    #[test]
    fn what_is_paid_out_is_due_below_zero() {
        let ledger = ledger(&[("sale", "EUR"), ("refund", "EUR"), ("credit", "EUR"), ("capture", "EUR")]);
        let due: Vec<_> = ledger.entries().iter().map(|entry| (entry.due, entry.charged)).collect();
        assert_eq!(due, [1000, -1000, -1000, 1000].map(|minor| (minor, Charged::Yes)));
        assert!(ledger.entries().iter().all(|entry| entry.settled == 0 && !entry.is_settled));
    }

    #[test]
    fn what_was_reversed_is_due_no_more() {
        let ledger = ledger(&[("sale", "EUR"), ("sale", "EUR"), ("reversal", "EUR")]);
        let due: Vec<_> = ledger.entries().iter().map(|entry| (entry.due, entry.charged)).collect();
        assert_eq!(due, [(0, Charged::Reversed), (1000, Charged::Yes), (1000, Charged::No)]);
    }

    #[test]
    fn each_entry_keeps_its_currency_and_is_found_by_its_names() {
        let mut ledger = ledger(&[("sale", "EUR"), ("sale", "JPY"), ("sale", "EUR")]);
        let currencies: Vec<_> = ledger.entries().iter().map(|entry| ledger.currency(*entry).code()).collect();
        assert_eq!(currencies, ["EUR", "JPY", "EUR"]);
        for number in 1_u64..=3 {
            let reference = format!("12345678-{number}-00000000000000000000000000000001");
            let place = ledger.by_reference(&reference).unwrap();
            assert_eq!(ledger.by_payment(&format!("{number:032}")), Some(place));
            assert_eq!(u64::from(ledger.entry(place).number), number);
        }
        assert!(ledger.by_reference("12345678-4-00000000000000000000000000000001").is_none());
        assert!(ledger.by_payment(&format!("{:032}", 4)).is_none());
        assert_eq!(ledger.payments.len(), 3, "record after record names the same payment, which is kept once");
    }

    #[test]
    fn a_terminal_is_ours_that_is_configured_or_has_sold() {
        let empty = Ledger::new(Some("87654321".to_owned()));
        assert!(empty.is_ours("87654321") && !empty.is_ours("12345678"));
        assert!(empty.is_empty() && empty.first_number() == SaleNumber::BEFORE_ALL);
        let sold = ledger(&[("sale", "EUR")]);
        assert!(sold.is_ours("12345678") && !sold.is_ours("87654321"));
        assert!(!sold.is_empty() && sold.len() == 1 && sold.first_number() == SaleNumber::new(1));
    }
}
