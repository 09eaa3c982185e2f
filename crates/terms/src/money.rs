//! Money in integer minor units, and the currencies of ISO 4217 with their exponents. There are no floats, here or
//! anywhere else.
//!
//! This module does no arithmetic over transactions. A transaction carries one [`Amount`] unchanged from the till to
//! the receipt. Only a tip is added, before the card sees the amount (design: invariant 4).
#![deny(clippy::arithmetic_side_effects)]

mod typed;

use std::fmt;

pub use typed::Typed;

/// An ISO 4217 currency. It is stored in two bytes, as an index into the table of this file.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Currency(&'static Row);

#[derive(PartialEq, Eq, Hash)]
struct Row {
    code: &'static str,
    numeric: u16,
    exponent: u8,
}

impl Currency {
    /// Returns the currency with this ISO 4217 letter code, in upper case.
    ///
    /// # Errors
    /// Returns [`MoneyError::UnknownCurrency`] if there is none.
    pub fn from_code(code: &str) -> Result<Self, MoneyError> {
        TABLE.iter().find(|row| row.code == code).map(Self).ok_or_else(|| MoneyError::UnknownCurrency {
            code: code.chars().filter(|c| !c.is_control()).take(12).collect(),
        })
    }

    /// Returns the three letters, for example `EUR`.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.0.code
    }

    /// Returns the ISO 4217 number, for example 978.
    #[must_use]
    pub fn numeric(self) -> u16 {
        self.0.numeric
    }

    /// Returns the number of decimals of the minor unit: 2 for EUR, 0 for JPY, 3 for KWD.
    #[must_use]
    pub fn exponent(self) -> u8 {
        self.0.exponent
    }

    /// Returns the currency of tag 5F2A: four BCD digits. Returns `None` if no currency has this number.
    #[must_use]
    pub fn from_bcd(digits: [u8; 2]) -> Option<Self> {
        TABLE.iter().map(Self).find(|currency| currency.to_bcd() == digits)
    }

    /// Returns the value of tag 5F2A: four BCD digits.
    #[must_use]
    pub fn to_bcd(self) -> [u8; 2] {
        let [.., a, b] = bcd(u64::from(self.0.numeric));
        [a, b]
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.code)
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.code)
    }
}

/// An amount above zero in minor units of its currency. [`Amount::nothing`] is the only exception.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Amount {
    minor: u64,
    currency: Currency,
}

/// The largest amount in minor units: the capacity of tag 9F02 (n12).
const MAX_MINOR: u64 = 999_999_999_999;
/// The maximum number of integer digits that the gateway accepts (interface: amount10.2).
const MAX_INTEGER_DIGITS: usize = 10;

/// The reason why a text is not an accepted amount.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// It is not an ISO 4217 code.
    #[error("unknown currency \"{code}\"; use an ISO 4217 code such as EUR")]
    UnknownCurrency {
        /// The given text.
        code: String,
    },
    /// It is not digits with at most one dot.
    #[error("the amount is not a number; write it as 12.34")]
    NotANumber,
    /// The amount is below zero.
    #[error("the amount is negative; a sale needs an amount above zero")]
    Negative,
    /// The amount is zero.
    #[error("the amount is zero; a sale needs an amount above zero")]
    Zero,
    /// It has too many digits for the terminal or the gateway.
    #[error("the amount is too large; at most 10 digits before the dot and 12 digits in all can be charged")]
    TooLarge,
    /// It has a different number of decimals than the currency.
    #[error("{currency} amounts have {expected} decimals, but this one has {found}")]
    WrongDecimals {
        /// The currency.
        currency: Currency,
        /// The currency's exponent.
        expected: u8,
        /// The number of decimals found.
        found: usize,
    },
    /// It has more decimals than the currency, in a form that permits fewer.
    #[error("{currency} amounts have at most {most} decimals, but this one has {found}; write one thousand as 1000")]
    TooManyDecimals {
        /// The currency.
        currency: Currency,
        /// The currency's exponent.
        most: u8,
        /// The number of decimals typed.
        found: usize,
    },
    /// It has several points or commas.
    #[error("the amount has more than one point or comma; write it without thousands separators, as 1000.00")]
    Grouped,
    /// Two amounts to be added are in different currencies.
    #[error("{other} cannot be added to {one}")]
    OtherCurrency {
        /// The first currency.
        one: Currency,
        /// The different currency.
        other: Currency,
    },
    /// The gateway accepts two decimals, but this amount needs three (1.235 KWD).
    #[error("{amount} has more than the two decimals that the gateway accepts; round it")]
    NotInTwoDecimals {
        /// The amount.
        amount: Amount,
    },
}

impl Amount {
    /// Returns an amount of `minor` units (cents for EUR).
    ///
    /// # Errors
    /// Returns [`MoneyError::Zero`] or [`MoneyError::TooLarge`].
    pub fn from_minor(minor: u64, currency: Currency) -> Result<Self, MoneyError> {
        let amount = Self { minor, currency };
        match minor {
            0 => Err(MoneyError::Zero),
            1..=MAX_MINOR if amount.integer_digits() <= MAX_INTEGER_DIGITS => Ok(amount),
            _ => Err(MoneyError::TooLarge),
        }
    }

    /// Returns a zero amount, for a kind that moves no money, such as reading a card to store it. Tills, people and the
    /// gateway cannot give this amount.
    #[must_use]
    pub fn nothing(currency: Currency) -> Self {
        Self { minor: 0, currency }
    }

    /// Parses an amount that a program writes: `12.34` EUR, `1200` JPY, `1.230` KWD. The decimals must be exactly those
    /// of the currency, or absent together with the dot.
    ///
    /// # Errors
    /// Returns any [`MoneyError`] except `UnknownCurrency`.
    pub fn parse(text: &str, currency: Currency) -> Result<Self, MoneyError> {
        if let Some(rest) = text.strip_prefix('-') {
            return Err(if is_number(rest) { MoneyError::Negative } else { MoneyError::NotANumber });
        }
        if !is_number(text) {
            return Err(MoneyError::NotANumber);
        }
        let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
        let expected = currency.exponent();
        if text.contains('.') && fraction.len() != usize::from(expected) {
            return Err(MoneyError::WrongDecimals { currency, expected, found: fraction.len() });
        }
        let integer = integer.trim_start_matches('0');
        if integer.len() > MAX_INTEGER_DIGITS {
            return Err(MoneyError::TooLarge);
        }
        Self::from_digits(integer, fraction, currency)
    }

    /// Parses an amount from the gateway. It always has two decimals, for every exponent of the currency (interface:
    /// amount10.2).
    ///
    /// # Errors
    /// Returns any [`MoneyError`] except `UnknownCurrency`.
    pub fn from_gateway(text: &str, currency: Currency) -> Result<Self, MoneyError> {
        let (integer, fraction) = text.split_once('.').ok_or(MoneyError::NotANumber)?;
        if !is_number(text) || fraction.len() != 2 {
            return Err(MoneyError::NotANumber);
        }
        let lost = fraction.get(usize::from(currency.exponent())..).unwrap_or("");
        if lost.bytes().any(|digit| digit != b'0') {
            return Err(MoneyError::WrongDecimals { currency, expected: currency.exponent(), found: 2 });
        }
        let kept = fraction.get(..usize::from(currency.exponent())).unwrap_or(fraction);
        Self::from_digits(integer, kept, currency)
    }

    /// Combines integer and fraction digits. A short fraction is filled with zeros.
    fn from_digits(integer: &str, fraction: &str, currency: Currency) -> Result<Self, MoneyError> {
        let width = usize::from(currency.exponent());
        let digits = format!("{integer}{fraction:0<width$}");
        let minor = if digits.is_empty() { 0 } else { digits.parse().map_err(|_| MoneyError::TooLarge)? };
        Self::from_minor(minor, currency)
    }

    /// Adds `other`, for example a tip to an amount.
    ///
    /// # Errors
    /// Returns [`MoneyError::OtherCurrency`] or [`MoneyError::TooLarge`].
    pub fn plus(self, other: Self) -> Result<Self, MoneyError> {
        if self.currency != other.currency {
            return Err(MoneyError::OtherCurrency { one: self.currency, other: other.currency });
        }
        let minor = self.minor.checked_add(other.minor).ok_or(MoneyError::TooLarge)?;
        Self::from_minor(minor, self.currency)
    }

    /// Returns this percentage of the amount, rounded to the nearest minor unit, with half a unit rounded up. Returns
    /// `None` if the result is zero or too large.
    #[must_use]
    pub fn percent(self, percent: u8) -> Option<Self> {
        let minor = u128::from(self.minor).saturating_mul(percent.into()).saturating_add(50) / 100;
        Self::from_minor(u64::try_from(minor).ok()?, self.currency).ok()
    }

    /// Subtracts `other`. Returns `None` if nothing is left, or if the currencies differ.
    #[must_use]
    pub fn less(self, other: Self) -> Option<Self> {
        let minor = self.minor.checked_sub(other.minor).filter(|_| self.currency == other.currency)?;
        Self::from_minor(minor, self.currency).ok()
    }

    /// Returns the minor units (cents for EUR).
    #[must_use]
    pub fn minor(self) -> u64 {
        self.minor
    }

    /// Returns the currency.
    #[must_use]
    pub fn currency(self) -> Currency {
        self.currency
    }

    /// Returns only the number, with the currency's decimals: `12.34`, `1200`, `1.230`.
    #[must_use]
    pub fn decimal(self) -> String {
        let (integer, fraction) = self.split();
        match self.currency.exponent() {
            0 => integer.to_string(),
            exponent => format!("{integer}.{fraction:0width$}", width = usize::from(exponent)),
        }
    }

    /// Returns the amount in the gateway's format, always with two decimals (interface: amount10.2). 1200 JPY is
    /// `1200.00`, and 1.230 KWD is `1.23`.
    ///
    /// # Errors
    /// Returns [`MoneyError::NotInTwoDecimals`] if a third decimal is not zero.
    pub fn to_gateway(self) -> Result<String, MoneyError> {
        let (integer, fraction) = self.split();
        let digits = format!("{fraction:0width$}", width = usize::from(self.currency.exponent()));
        let (kept, lost) = digits.split_at_checked(2).unwrap_or((&digits, ""));
        if lost.bytes().any(|digit| digit != b'0') {
            return Err(MoneyError::NotInTwoDecimals { amount: self });
        }
        Ok(format!("{integer}.{kept:0<2}"))
    }

    /// Returns the value of tag 9F02: twelve BCD digits of minor units.
    #[must_use]
    pub fn to_bcd(self) -> [u8; 6] {
        bcd(self.minor)
    }

    fn split(self) -> (u64, u64) {
        let unit = 10_u64.checked_pow(u32::from(self.currency.exponent())).expect("ISO 4217 exponents are below 5");
        let integer = self.minor.checked_div(unit).expect("a power of ten is not zero");
        let fraction = self.minor.checked_rem(unit).expect("a power of ten is not zero");
        (integer, fraction)
    }

    fn integer_digits(self) -> usize {
        self.split().0.to_string().len()
    }
}

/// The form in the journal: `{"minor":1234,"currency":"EUR"}`.
#[derive(serde::Serialize, serde::Deserialize)]
struct Kept<'a> {
    minor: u64,
    currency: std::borrow::Cow<'a, str>,
}

impl serde::Serialize for Amount {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Kept { minor: self.minor, currency: self.currency.code().into() }.serialize(to)
    }
}

impl<'de> serde::Deserialize<'de> for Amount {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let kept = Kept::deserialize(from)?;
        Currency::from_code(&kept.currency)
            .and_then(|currency| match kept.minor {
                0 => Ok(Self::nothing(currency)),
                minor => Self::from_minor(minor, currency),
            })
            .map_err(serde::de::Error::custom)
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.decimal(), self.currency)
    }
}

/// Returns whether a text consists of digits with at most one dot, and begins and ends with a digit.
fn is_number(text: &str) -> bool {
    let (integer, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    digits(integer) && digits(fraction)
}

/// Returns twelve BCD digits.
fn bcd(mut number: u64) -> [u8; 6] {
    let mut out = [0; 6];
    for byte in out.iter_mut().rev() {
        let pair = u8::try_from(number % 100).expect("below 100");
        *byte = ((pair / 10) << 4) | (pair % 10);
        number /= 100;
    }
    out
}

macro_rules! currencies {
    ($($code:literal $numeric:literal $exponent:literal)*) => {
        &[$(Row { code: $code, numeric: $numeric, exponent: $exponent },)*]
    };
}

/// ISO 4217:2015 with its amendments to 2025, without funds codes and metals.
static TABLE: &[Row] = currencies! {
    "AED" 784 2 "AFN" 971 2 "ALL" 8 2 "AMD" 51 2 "AOA" 973 2 "ARS" 32 2 "AUD" 36 2 "AWG" 533 2 "AZN" 944 2 "BAM" 977 2
    "BBD" 52 2 "BDT" 50 2 "BGN" 975 2 "BHD" 48 3 "BIF" 108 0 "BMD" 60 2 "BND" 96 2 "BOB" 68 2 "BRL" 986 2 "BSD" 44 2
    "BTN" 64 2 "BWP" 72 2 "BYN" 933 2 "BZD" 84 2 "CAD" 124 2 "CDF" 976 2 "CHF" 756 2 "CLP" 152 0 "CNY" 156 2 "COP" 170 2
    "CRC" 188 2 "CUP" 192 2 "CVE" 132 2 "CZK" 203 2 "DJF" 262 0 "DKK" 208 2 "DOP" 214 2 "DZD" 12 2 "EGP" 818 2 "ERN" 232 2
    "ETB" 230 2 "EUR" 978 2 "FJD" 242 2 "FKP" 238 2 "GBP" 826 2 "GEL" 981 2 "GHS" 936 2 "GIP" 292 2 "GMD" 270 2 "GNF" 324 0
    "GTQ" 320 2 "GYD" 328 2 "HKD" 344 2 "HNL" 340 2 "HTG" 332 2 "HUF" 348 2 "IDR" 360 2 "ILS" 376 2 "INR" 356 2 "IQD" 368 3
    "IRR" 364 2 "ISK" 352 0 "JMD" 388 2 "JOD" 400 3 "JPY" 392 0 "KES" 404 2 "KGS" 417 2 "KHR" 116 2 "KMF" 174 0 "KPW" 408 2
    "KRW" 410 0 "KWD" 414 3 "KYD" 136 2 "KZT" 398 2 "LAK" 418 2 "LBP" 422 2 "LKR" 144 2 "LRD" 430 2 "LSL" 426 2 "LYD" 434 3
    "MAD" 504 2 "MDL" 498 2 "MGA" 969 2 "MKD" 807 2 "MMK" 104 2 "MNT" 496 2 "MOP" 446 2 "MRU" 929 2 "MUR" 480 2 "MVR" 462 2
    "MWK" 454 2 "MXN" 484 2 "MYR" 458 2 "MZN" 943 2 "NAD" 516 2 "NGN" 566 2 "NIO" 558 2 "NOK" 578 2 "NPR" 524 2 "NZD" 554 2
    "OMR" 512 3 "PAB" 590 2 "PEN" 604 2 "PGK" 598 2 "PHP" 608 2 "PKR" 586 2 "PLN" 985 2 "PYG" 600 0 "QAR" 634 2 "RON" 946 2
    "RSD" 941 2 "RUB" 643 2 "RWF" 646 0 "SAR" 682 2 "SBD" 90 2 "SCR" 690 2 "SDG" 938 2 "SEK" 752 2 "SGD" 702 2 "SHP" 654 2
    "SLE" 925 2 "SOS" 706 2 "SRD" 968 2 "SSP" 728 2 "STN" 930 2 "SVC" 222 2 "SYP" 760 2 "SZL" 748 2 "THB" 764 2 "TJS" 972 2
    "TMT" 934 2 "TND" 788 3 "TOP" 776 2 "TRY" 949 2 "TTD" 780 2 "TWD" 901 2 "TZS" 834 2 "UAH" 980 2 "UGX" 800 0 "USD" 840 2
    "UYU" 858 2 "UZS" 860 2 "VED" 926 2 "VES" 928 2 "VND" 704 0 "VUV" 548 0 "WST" 882 2 "XAF" 950 0 "XCD" 951 2 "XCG" 532 2
    "XOF" 952 0 "XPF" 953 0 "YER" 886 2 "ZAR" 710 2 "ZMW" 967 2 "ZWG" 924 2
};

#[cfg(test)]
mod tests {
    use super::*;

    fn currency(code: &str) -> Currency {
        Currency::from_code(code).unwrap()
    }

    /// A tip in percent, which a till calculates in the same way.
    #[test]
    fn percentages_are_rounded_to_the_nearest_unit_and_half_of_one_up() {
        for (amount, code, percent, wanted) in [
            ("12.34", "EUR", 10, Some("1.23")),
            ("12.35", "EUR", 10, Some("1.24")),
            ("0.09", "EUR", 5, None),
            ("0.10", "EUR", 5, Some("0.01")),
            ("12.34", "EUR", 100, Some("12.34")),
            ("12.34", "EUR", 0, None),
            ("1250", "JPY", 15, Some("188")),
            ("1249", "JPY", 10, Some("125")),
            ("1.230", "KWD", 5, Some("0.062")),
            ("9999999999.99", "EUR", 100, Some("9999999999.99")),
        ] {
            let tip = Amount::parse(amount, currency(code)).unwrap().percent(percent);
            assert_eq!(tip.map(Amount::decimal).as_deref(), wanted, "{percent} % of {amount} {code}");
        }
    }

    #[test]
    fn amounts_are_read_with_the_decimals_of_their_currency() {
        for (text, code, minor, gateway, bcd) in [
            ("12.34", "EUR", 1234, "12.34", "000000001234"),
            ("12", "EUR", 1200, "12.00", "000000001200"),
            ("0.01", "EUR", 1, "0.01", "000000000001"),
            ("1200", "JPY", 1200, "1200.00", "000000001200"),
            ("1.230", "KWD", 1230, "1.23", "000000001230"),
            ("9999999999.99", "EUR", 999_999_999_999, "9999999999.99", "999999999999"),
        ] {
            let amount = Amount::parse(text, currency(code)).unwrap();
            assert_eq!(amount.minor(), minor, "{text}");
            assert_eq!(amount.to_gateway().unwrap(), gateway);
            assert_eq!(hex::encode(amount.to_bcd()), bcd);
            assert_eq!(Amount::from_gateway(gateway, currency(code)).unwrap(), amount);
        }
        assert_eq!(hex::encode(currency("AUD").to_bcd()), "0036");
        assert_eq!(Currency::from_bcd([0x00, 0x36]), Some(currency("AUD")));
        assert_eq!(Currency::from_bcd([0x99, 0x9A]), None);
    }

    #[test]
    fn what_is_not_an_amount_is_refused_by_its_fault() {
        let eur = currency("EUR");
        let wrong = |expected, found, currency| MoneyError::WrongDecimals { currency, expected, found };
        for (text, error) in [
            ("", MoneyError::NotANumber),
            ("12,34", MoneyError::NotANumber),
            ("+1.00", MoneyError::NotANumber),
            ("1.", MoneyError::NotANumber),
            (".50", MoneyError::NotANumber),
            ("1e3", MoneyError::NotANumber),
            ("١٢", MoneyError::NotANumber),
            ("--1", MoneyError::NotANumber),
            ("-1.00", MoneyError::Negative),
            ("0", MoneyError::Zero),
            ("0.00", MoneyError::Zero),
            ("12.3", wrong(2, 1, eur)),
            ("12.345", wrong(2, 3, eur)),
            ("10000000000.00", MoneyError::TooLarge),
            ("99999999999999999999999999999999", MoneyError::TooLarge),
        ] {
            assert_eq!(Amount::parse(text, eur), Err(error), "{text}");
        }
        assert_eq!(Amount::parse("1.00", currency("JPY")), Err(wrong(0, 2, currency("JPY"))));
        assert_eq!(Amount::parse("9999999999", currency("KWD")), Err(MoneyError::TooLarge));
        assert!(Currency::from_code("eur").is_err());
    }

    #[test]
    fn a_third_decimal_is_refused_not_rounded() {
        let amount = Amount::parse("1.235", currency("KWD")).unwrap();
        assert_eq!(amount.to_gateway(), Err(MoneyError::NotInTwoDecimals { amount }));
        assert!(Amount::from_gateway("12.34", currency("JPY")).is_err());
    }

    #[test]
    fn no_more_digits_are_charged_than_terminal_and_gateway_take() {
        for (most, code) in [(999_999_999_999, "EUR"), (9_999_999_999, "JPY"), (999_999_999_999, "KWD")] {
            assert_eq!(Amount::from_minor(most, currency(code)).map(Amount::minor), Ok(most), "{code}");
            assert_eq!(Amount::from_minor(most + 1, currency(code)), Err(MoneyError::TooLarge), "{code}");
        }
        assert_eq!(Amount::from_minor(0, currency("EUR")), Err(MoneyError::Zero));
    }

    #[test]
    fn currencies_have_their_numbers_of_iso_4217() {
        for (code, numeric) in [("ALL", 8), ("CHF", 756), ("EUR", 978), ("JPY", 392), ("KWD", 414)] {
            assert_eq!(currency(code).numeric(), numeric, "{code}");
        }
    }

    #[test]
    fn a_code_that_is_none_is_shown_without_what_a_screen_obeys() {
        let unknown = |code: &str| MoneyError::UnknownCurrency { code: code.to_owned() };
        assert_eq!(Currency::from_code("\u{1b}[31mXX\n"), Err(unknown("[31mXX")));
        assert_eq!(Currency::from_code("EURO-AND-MORE-OF-IT"), Err(unknown("EURO-AND-MOR")));
    }

    #[test]
    fn the_table_has_no_code_or_number_twice() {
        let codes: std::collections::HashSet<_> = TABLE.iter().map(|row| row.code).collect();
        let numbers: std::collections::HashSet<_> = TABLE.iter().map(|row| row.numeric).collect();
        assert_eq!((codes.len(), numbers.len()), (TABLE.len(), TABLE.len()));
    }
}
