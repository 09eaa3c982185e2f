//! The meaning of one line of the settlement file: the used columns, and the values that the document permits.
//!
//! The holder, number and bank of an account are not among the columns, because data that is never read is never shown.
//! For the same reason, an error names its column but not the value.

use chrono::NaiveDate;

use pos_terms::money::{Amount, Currency, MoneyError};

use super::file::date;

/// The reason why a line cannot be counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowFault {
    /// The line is longer than any line of such a file.
    #[error("is longer than {most} bytes")]
    TooLong {
        /// The limit.
        most: usize,
    },
    /// The bytes are not UTF-8 text.
    #[error("is not UTF-8")]
    NotUtf8,
    /// A quote is not closed before the next semicolon or the end of the line.
    #[error("has a quote that is not closed")]
    Quote,
    /// The line has fewer or more fields than the header has columns.
    #[error("has {found} columns, the header has {expected}")]
    Fields {
        /// The number of fields on the line.
        found: usize,
        /// The number of columns in the header.
        expected: usize,
    },
    /// The document does not permit a value.
    #[error("{column} must be {expected}")]
    Value {
        /// The column.
        column: &'static str,
        /// The permitted values.
        expected: &'static str,
    },
    /// A settled record has a payment type that settles nothing of a transaction.
    #[error("a SETTLED record has PaymentType {found}; the types that settle a payment are DEBIT, CREDIT and REFUND")]
    NotSettling {
        /// The kind.
        found: &'static str,
    },
    /// No value identifies the payment.
    #[error("names neither TransactionId nor UniqueID")]
    Nameless,
}

macro_rules! columns {
    ($($column:ident $name:literal)*) => {
        /// A column that is read. The others are skipped.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Column { $($column,)* }

        impl Column {
            pub(super) const COUNT: usize = [$($name),*].len();

            pub(super) fn name(self) -> &'static str {
                match self { $(Self::$column => $name,)* }
            }

            /// Returns the column with this name in the header.
            pub(super) fn named(name: &str) -> Option<Self> {
                match name.trim_ascii() {
                    $($name => Some(Self::$column),)*
                    // The names above have the document's own spelling. A gateway's corrected spelling is also
                    // accepted.
                    "ClearingInstituteName" => Some(Self::ClearingInstituteName),
                    _ => None,
                }
            }
        }
    };
}

columns! {
    ReconciliationType "ReconciliationType" PaymentType "PaymentType" Cashflow "Cashflow" UniqueId "UniqueID"
    TransactionId "TransactionId" InvoiceId "InvoiceId" Amount "Amount" Currency "Currency" TxRequestTime "TxRequestTime"
    SettlementAmount "SettlementAmount" SettlementCurrency "SettlementCurrency" SettlementFee "SettlementFee"
    SettlementDate "SettlementDate" SettlementStatus "SettlementStatus" ReasonCode "ReasonCode" ReasonDesc "ReasonDesc"
    ClearingInstituteName "ClearingInsitituteName"
}

impl Column {
    /// The required columns. In addition, one of `TransactionId` and `UniqueID` is required.
    pub(super) const NEEDED: [Self; 9] = [
        Self::ReconciliationType,
        Self::PaymentType,
        Self::Cashflow,
        Self::Amount,
        Self::Currency,
        Self::SettlementAmount,
        Self::SettlementCurrency,
        Self::SettlementDate,
        Self::SettlementStatus,
    ];
}

impl Column {
    /// Returns whether [`SettlementRow::read`] itself reports an invalid value.
    pub(super) fn is_judged(self) -> bool {
        Self::NEEDED.contains(&self) || matches!(self, Self::TxRequestTime | Self::SettlementFee)
    }
}

/// `ReconciliationType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordType {
    /// The money of a payment.
    Settled,
    /// The cardholder reclaimed a payment.
    Chargeback,
    /// A chargeback was reversed, and the shop has the money again.
    ChargebackReversal,
    /// The price of the service.
    Fee,
}

macro_rules! payment_types {
    ($($kind:ident $name:literal)*) => {
        /// `PaymentType`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the document names them and says no more")]
        pub enum PaymentType { $($kind,)* }

        impl PaymentType {
            /// Returns the name in the file.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$kind),)* _ => None }
            }
        }
    };
}

payment_types! {
    Debit "DEBIT" Credit "CREDIT" Refund "REFUND" Batch "BATCH" Monthly "MONTHLY" Submerchant "SUBMERCHANT"
    PaymentFacilitator "PAYMENT_FACILITATOR" AuthFee "AUTH_FEE" CaptureFee "CAPTURE_FEE" CancelFee "CANCEL_FEE"
    RefundFee "REFUND_FEE"
}

/// A valid line.
#[derive(Debug)]
pub struct SettlementRow<'a> {
    /// The type of the record.
    pub record_type: RecordType,
    /// The payment type.
    pub payment_type: PaymentType,
    /// The amount in minor units. It is below zero if it leaves the shop's balance (`Cashflow` NEG).
    pub amount: i64,
    /// The currency of `amount`.
    pub currency: Currency,
    /// The same amount on the shop's account.
    pub settlement: i64,
    /// The currency of `settlement` and `fee`.
    pub settlement_currency: Currency,
    /// The cost of the payment, in minor units.
    pub fee: i64,
    /// The date of the order, or else of the settlement, in the clearing institute's time zone.
    pub date: NaiveDate,
    /// True if `SettlementStatus` is FAILED, which means that no money moved.
    pub failed: bool,
    /// Our reference.
    pub transaction: Option<&'a str>,
    /// The payment id.
    pub payment: Option<&'a str>,
    /// The merchant's invoice.
    pub invoice: Option<&'a str>,
    /// The reason code of a chargeback.
    pub reason_code: Option<&'a str>,
    /// The reason of a chargeback.
    pub reason: Option<&'a str>,
    /// The clearing institute, which can be asked about the payment.
    pub institute: Option<&'a str>,
}

impl<'a> SettlementRow<'a> {
    /// Reads the values of one line, one for each column. The value of a column that the file lacks is empty.
    pub(super) fn read(values: &[&'a str; Column::COUNT]) -> Result<Self, RowFault> {
        use Column as C;
        let value = |column: C| values[column as usize];
        let wrong = |column: C, expected| RowFault::Value { column: column.name(), expected };
        let some = |column: C| Some(value(column)).filter(|value| !value.is_empty());
        let currency =
            |column: C| Currency::from_code(value(column)).map_err(|_| wrong(column, "an ISO 4217 code such as EUR"));
        let amount = |column: C, currency| {
            let expected = "1 to 10 digits, a dot and 2 digits, no finer than the currency";
            minor(value(column), currency).ok_or_else(|| wrong(column, expected))
        };
        let record_type = match value(C::ReconciliationType) {
            "SETTLED" => RecordType::Settled,
            "CHARGEBACK" => RecordType::Chargeback,
            "CHARGEBACK REVERSAL" => RecordType::ChargebackReversal,
            "FEE" => RecordType::Fee,
            _ => return Err(wrong(C::ReconciliationType, "SETTLED, CHARGEBACK, CHARGEBACK REVERSAL or FEE")),
        };
        let payment_type = PaymentType::named(value(C::PaymentType)).ok_or_else(|| {
            wrong(
                C::PaymentType,
                "DEBIT, CREDIT, REFUND, BATCH, MONTHLY, SUBMERCHANT, PAYMENT_FACILITATOR, AUTH_FEE, CAPTURE_FEE, \
                 CANCEL_FEE or REFUND_FEE",
            )
        })?;
        use PaymentType as P;
        if record_type == RecordType::Settled && !matches!(payment_type, P::Debit | P::Credit | P::Refund) {
            return Err(RowFault::NotSettling { found: payment_type.name() });
        }
        let sign = match value(C::Cashflow) {
            "POS" => 1,
            "NEG" => -1,
            _ => return Err(wrong(C::Cashflow, "POS or NEG")),
        };
        let failed = match value(C::SettlementStatus) {
            "SUCCESS" => false,
            "FAILED" => true,
            _ => return Err(wrong(C::SettlementStatus, "SUCCESS or FAILED")),
        };
        let day = |column: C| date(value(column)).ok_or_else(|| wrong(column, "a date such as 2026-11-20"));
        let settled_on = day(C::SettlementDate)?;
        let settlement_currency = currency(C::SettlementCurrency)?;
        let currency = currency(C::Currency)?;
        let row = Self {
            record_type,
            payment_type,
            amount: sign * amount(C::Amount, currency)?,
            currency,
            settlement: sign * amount(C::SettlementAmount, settlement_currency)?,
            settlement_currency,
            fee: some(C::SettlementFee).map_or(Ok(0), |_| amount(C::SettlementFee, settlement_currency))?,
            date: some(C::TxRequestTime).map_or(Ok(settled_on), |_| day(C::TxRequestTime))?,
            failed,
            transaction: some(C::TransactionId),
            payment: some(C::UniqueId),
            invoice: some(C::InvoiceId),
            reason_code: some(C::ReasonCode),
            reason: some(C::ReasonDesc),
            institute: some(C::ClearingInstituteName),
        };
        // A fee may be for a month. Every other record is about one payment.
        let nameless = row.transaction.is_none() && row.payment.is_none();
        if nameless && record_type != RecordType::Fee { Err(RowFault::Nameless) } else { Ok(row) }
    }
}

/// Returns the amount in minor units. Unlike a transaction's amount, a row's amount may be zero.
fn minor(text: &str, currency: Currency) -> Option<i64> {
    let (integer, _) = text.split_once('.')?;
    if integer.len() > 10 {
        return None;
    }
    match Amount::from_gateway(text, currency) {
        Ok(amount) => i64::try_from(amount.minor()).ok(),
        Err(MoneyError::Zero) => Some(0),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_has_up_to_ten_digits_and_two_decimals_and_may_be_zero() {
        let eur = Currency::from_code("EUR").unwrap();
        for (text, minor_units) in [
            ("0.00", Some(0)),
            ("12.34", Some(1234)),
            ("9999999999.99", Some(999_999_999_999)),
            ("10000000000.00", None),
            ("00000000001.00", None),
            ("12.3", None),
            ("12", None),
            ("-1.00", None),
        ] {
            assert_eq!(minor(text, eur), minor_units, "{text}");
        }
        let jpy = Currency::from_code("JPY").unwrap();
        assert_eq!((minor("1200.00", jpy), minor("1200.50", jpy)), (Some(1200), None), "no finer than the currency");
    }
}
