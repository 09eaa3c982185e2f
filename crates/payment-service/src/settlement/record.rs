//! A reconciliation record. Its fields have the interface's names and are written as a line of the file or as JSON
//! (data-model: Reconciliation file).
//!
//! Where the interface is silent, the gateway assumes the following:
//!
//! - `TransactionId` and `InvoiceId` are the last columns.
//! - Commas separate the ids in `MatchedTransactions`.
//! - A follow-up without a reference has the reference of its payment.
//! - `TransactionId` is required. For a payment without a reference, it is the payment's id. For a record without a
//!   payment, such as an account fee, it is the `SettlementTxId`.
//! - `Brand` has at most sixteen characters and only letters; all other characters are omitted.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::{Map, Value, json};

use super::{fees, fx};
use crate::books::Booking;
use pos_terms::money::Currency;

/// The maximum number of payments in `MatchedTransactions`.
pub(super) const MOST_MATCHES: u32 = 10;

/// The maximum length of `Brand` (A16).
const LONGEST_BRAND: usize = 16;

/// The columns in their order, with the interface's names. The column of an array holds a list.
const COLUMNS: [(&str, &str); 38] = [
    ("ReconciliationType", "recordType"),
    ("PaymentType", "transactionType"),
    ("Cashflow", "settlement.cashflow"),
    ("ClearingInstituteMerchantId", "clearingInstitute.merchantId"),
    ("MerchantAccountId", "merchantAccount.id"),
    ("MerchantAccountName", "merchantAccount.name"),
    ("PspId", "pspEntityId"),
    ("DivisionId", "divisionEntityId"),
    ("MerchantId", "merchantEntityId"),
    ("SettlementTxId", "settlement.id"),
    ("UniqueID", "payment.id"),
    ("ShortId", "ShortId"),
    ("ConnectorTxId1", "clearingInstitute.txId1"),
    ("ConnectorTxId2", "clearingInstitute.txId2"),
    ("ConnectorTxId3", "clearingInstitute.txId3"),
    ("Amount", "amount"),
    ("Currency", "currency"),
    ("Brand", "paymentBrand"),
    ("TxRequestTime", "presentmentDate"),
    ("SettlementAmount", "settlement.amount"),
    ("SettlementCurrency", "settlement.currency"),
    ("SettlementFee", "settlement.fee"),
    ("SettlementFxRate", "settlement.fxRate"),
    ("SettlementDate", "settlement.date"),
    ("SettlementStatus", "settlement.status"),
    ("Descriptor", "descriptor"),
    ("AccountNumberLast4", "card.last4Digits"),
    ("BankCode", "bankAccount.bankCode"),
    ("AccountHolder", "card.holder"),
    ("ReasonCode", "result.code"),
    ("ReasonDesc", "result.description"),
    ("SettlementFileFormat", "settlement.format"),
    // This is the interface's spelling.
    ("ClearingInsitituteName", "clearingInstitute.name"),
    ("MatchingStatus", "matchedTransactions.status"),
    ("MatchedTransactions", "matchedTransactions.payment[n].id"),
    ("ChargebackId", "chargebackTransaction.id"),
    ("TransactionId", "merchantTransactionId"),
    ("InvoiceId", "merchantInvoiceId"),
];

/// The merchant's entity and account currency, for a settlement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account<'a> {
    /// The entity that received the payments.
    pub entity: &'a str,
    /// The currency of the merchant's account.
    pub currency: Currency,
}

/// A record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record(BTreeMap<&'static str, String>);

impl Record {
    /// Makes the record of an entry, without the record's kind.
    pub(super) fn of(booking: &Booking, account: Account<'_>, date: NaiveDate) -> Self {
        let entry = &booking.entry;
        let text = |pointer: &str| booking.answer.pointer(pointer).and_then(Value::as_str);
        let currency = entry.currency().unwrap_or(account.currency);
        let mut record = Self::empty(account, date);
        let account_of = |name: &str| booking.account.as_ref().and_then(|account| account[name].as_str());
        for (name, value) in [
            ("payment.id", Some(entry.id.as_str())),
            ("ShortId", Some(booking.short_id.as_str())),
            ("clearingInstitute.txId1", text("/pos/clearing/identifier")),
            ("clearingInstitute.txId2", text("/pos/clearing/authorizationAcquirerCode")),
            ("clearingInstitute.txId3", text("/standingInstruction/initialTransactionId")),
            ("merchantTransactionId", entry.merchant_transaction_id.as_deref()),
            ("merchantInvoiceId", text("/merchantInvoiceId")),
            ("amount", Some(entry.amount.as_str())),
            ("currency", Some(entry.currency.as_str())),
            ("descriptor", text("/descriptor")),
            ("card.last4Digits", text("/card/last4Digits")),
            ("card.holder", text("/card/holder")),
            ("bankAccount.last4Digits", account_of("last4Digits")),
            ("bankAccount.bankCode", account_of("bankCode")),
            ("bankAccount.holder", account_of("holder")),
        ] {
            if let Some(value) = value {
                record.set(name, value);
            }
        }
        if let Some(brand) = text("/paymentBrand") {
            let letters = brand.chars().filter(char::is_ascii_alphabetic).take(LONGEST_BRAND);
            record.set("paymentBrand", letters.collect::<String>());
        }
        record.set("presentmentDate", time(booking.at));
        record.set("settlement.fxRate", decimal(fx::rate(currency, account.currency)));
        record.set("settlement.amount", decimal(fx::convert(hundredths(&entry.amount), currency, account.currency)));
        record
    }

    /// Makes the record of a fee. Some fees have no payment.
    pub(super) fn fee(
        what: &'static str,
        cents: u64,
        of: Option<&Booking>,
        account: Account<'_>,
        date: NaiveDate,
    ) -> Self {
        let mut record = of.map_or_else(|| Self::empty(account, date), |booking| Self::of(booking, account, date));
        let eur = Currency::from_code("EUR").unwrap_or(account.currency);
        let cost = decimal(fx::convert(cents, eur, account.currency).max(1));
        for (name, value) in [
            ("recordType", "FEE"),
            ("transactionType", what),
            ("settlement.cashflow", "NEG"),
            ("amount", &cost),
            ("currency", account.currency.code()),
            ("settlement.amount", &cost),
            ("settlement.fxRate", "1.00"),
            ("settlement.status", "SUCCESS"),
        ] {
            record.set(name, value);
        }
        record
    }

    fn empty(account: Account<'_>, date: NaiveDate) -> Self {
        let mut record = Self::default();
        for (name, value) in [
            ("clearingInstitute.merchantId", "SIM0000000000001"),
            ("clearingInstitute.name", "Simulated Clearing"),
            ("merchantAccount.id", "8ac7a4c97ba4e2d5017ba6b1c2d30a01"),
            ("merchantAccount.name", "Simulated account"),
            ("pspEntityId", "8ac7a4c97ba4e2d5017ba6b1c2d30a02"),
            ("divisionEntityId", "8ac7a4c97ba4e2d5017ba6b1c2d30a03"),
            ("merchantEntityId", account.entity),
            ("settlement.currency", account.currency.code()),
            ("settlement.format", "SIM1"),
        ] {
            record.set(name, value);
        }
        record.set("settlement.date", date.format("%Y-%m-%d").to_string());
        record
    }

    pub(super) fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.0.insert(name, value.into());
    }

    fn value(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Sets the record's settlement id, and uses it as `TransactionId` if that is missing.
    pub(super) fn number(&mut self, settlement: String) {
        if self.value("merchantTransactionId").is_empty() {
            let payment = self.value("payment.id");
            let reference = if payment.is_empty() { settlement.as_str() } else { payment }.to_owned();
            self.set("merchantTransactionId", reference);
        }
        self.set("settlement.id", settlement);
    }

    /// Returns the value of a column from the card or the bank account.
    fn column(&self, name: &str) -> &str {
        let of_account = match name {
            "card.last4Digits" => "bankAccount.last4Digits",
            "card.holder" => "bankAccount.holder",
            name => name,
        };
        match self.value(name) {
            "" => self.value(of_account),
            value => value,
        }
    }

    /// Sets the fee for settling a sale. A payment that could not be settled has no fee.
    pub(super) fn price(&mut self, booking: &Booking, account: Account<'_>, failed: bool) {
        let settled = hundredths(self.value("settlement.amount"));
        let fee = fees::on_sale(booking.answer["paymentBrand"].as_str(), settled);
        let step = if account.currency.exponent() == 0 { 100 } else { 1 };
        self.set("settlement.fee", if failed { "0.00".to_owned() } else { decimal(fee.div_ceil(step) * step) });
    }

    /// Sets the payments that match the clearing institute's record.
    pub(super) fn match_to(&mut self, ids: &[String]) {
        let status = match ids.len() {
            0 => "NOT_MATCHED",
            1 => "MATCHED",
            _ => "MULTIPLE_MATCHES",
        };
        self.set("matchedTransactions.status", status);
        self.set("matchedTransactions.payment[n].id", ids.join(","));
        if ids.is_empty() {
            self.0.remove("payment.id");
            self.0.remove("ShortId");
        }
    }

    /// Turns the record into a chargeback or a chargeback reversal.
    pub(super) fn charge_back(&mut self, payment: &str, is_won: bool, code: &'static str, reason: &'static str) {
        self.match_to(&[payment.to_owned()]);
        self.0.remove("settlement.fee");
        self.set("recordType", if is_won { "CHARGEBACK REVERSAL" } else { "CHARGEBACK" });
        self.set("settlement.cashflow", if is_won { "POS" } else { "NEG" });
        self.set("result.code", code);
        self.set("result.description", reason);
        // The id is derived from the payment's id, so a chargeback has the same id in every report.
        let turned: String = payment.chars().rev().collect();
        self.set("chargebackTransaction.id", turned);
    }
}

/// Writes the file: a header, and then one record per line.
pub(crate) fn csv(records: &[Record]) -> String {
    let line = |fields: Vec<String>| fields.join(";") + "\r\n";
    let mut file = line(COLUMNS.iter().map(|(column, _)| (*column).to_owned()).collect());
    for record in records {
        file.push_str(&line(COLUMNS.iter().map(|(_, name)| quoted(record.column(name))).collect()));
    }
    file
}

/// Formats a time as the clearing institute does.
pub(super) fn time(at: i64) -> String {
    DateTime::<Utc>::from_timestamp(at, 0).unwrap_or_default().format("%Y-%m-%d %H:%M:%S").to_string()
}

/// Writes a field in a form that every CSV reader accepts: in quotes if it contains a special character. A line break
/// in an unquoted field would begin a new line.
fn quoted(value: &str) -> String {
    let value = value.replace(|c: char| c.is_control(), " ");
    if value.contains([';', '"']) { format!("\"{}\"", value.replace('"', "\"\"")) } else { value }
}

/// Returns the records as JSON, for the report.
pub(crate) fn json(records: &[Record]) -> Vec<Value> {
    records.iter().map(Record::json).collect()
}

impl Record {
    fn json(&self) -> Value {
        let mut object = Map::new();
        for (name, value) in self.0.iter().filter(|(_, value)| !value.is_empty()) {
            if let Some((array, rest)) = name.split_once("[n].") {
                let items: Vec<Value> = value.split(',').map(|item| json!({ rest: item })).collect();
                insert(&mut object, array, Value::Array(items));
            } else {
                insert(&mut object, name, json!(value));
            }
        }
        Value::Object(object)
    }
}

fn insert(object: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('.') {
        Some((first, rest)) => {
            if let Value::Object(inner) = object.entry(first).or_insert_with(|| Value::Object(Map::new())) {
                insert(inner, rest, value);
            }
        }
        None => {
            object.insert(name.to_owned(), value);
        }
    }
}

/// Converts an amount in the gateway's format to hundredths of a unit.
fn hundredths(amount: &str) -> u64 {
    amount.replacen('.', "", 1).parse().unwrap_or_default()
}

fn decimal(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_gateway_model as parameter;

    #[test]
    fn the_columns_are_those_of_the_interface() {
        for (column, name) in COLUMNS {
            if column == "ShortId" {
                continue;
            }
            let row = parameter::all().find(|known| known.row.column == Some(column) && known.row.name == name);
            assert!(row.is_some(), "{column} is not {name}");
        }
        let known = parameter::all().filter_map(|parameter| parameter.row.column);
        assert!(known.into_iter().all(|column| COLUMNS.iter().any(|(ours, _)| *ours == column)));
    }

    #[test]
    fn a_field_ends_no_line_and_no_field() {
        for (value, written) in [("a;b", "\"a;b\""), ("say \"hi\"", "\"say \"\"hi\"\"\""), ("a\r\nb", "a  b"), ("", "")]
        {
            assert_eq!(quoted(value), written);
        }
    }
}
