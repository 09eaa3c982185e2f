//! An amount as a person types it: `12.34`, `3.5`, `3,5`, `12`. A comma and a point mean the same, and there may be
//! fewer decimals than the currency has. An ambiguous text is refused: a second separator, or more decimals than the
//! currency has (`1,000` in EUR).
//!
//! This form is only for people. [`Amount::parse`] reads the only form that programs write.

use super::{Amount, Currency, MAX_INTEGER_DIGITS, MoneyError};

/// A typed amount whose currency is not known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    integer: String,
    fraction: String,
}

impl Typed {
    /// Parses a typed text, as far as possible without a currency.
    ///
    /// # Errors
    /// Returns the faults that exist in every currency: [`MoneyError::NotANumber`], [`MoneyError::Grouped`],
    /// [`MoneyError::Negative`], [`MoneyError::Zero`], [`MoneyError::TooLarge`].
    pub fn read(text: &str) -> Result<Self, MoneyError> {
        let (is_negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let mut parts = unsigned.split(['.', ',']);
        let (integer, fraction) = (parts.next().unwrap_or_default(), parts.next());
        let rest: Vec<&str> = parts.collect();
        let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(integer) || !fraction.is_none_or(is_digits) || !rest.iter().all(|part| is_digits(part)) {
            return Err(MoneyError::NotANumber);
        }
        if !rest.is_empty() {
            return Err(MoneyError::Grouped);
        }
        if is_negative {
            return Err(MoneyError::Negative);
        }
        let (integer, fraction) = (integer.trim_start_matches('0'), fraction.unwrap_or_default());
        if integer.len() > MAX_INTEGER_DIGITS {
            return Err(MoneyError::TooLarge);
        }
        if integer.is_empty() && fraction.bytes().all(|digit| digit == b'0') {
            return Err(MoneyError::Zero);
        }
        Ok(Self { integer: integer.to_owned(), fraction: fraction.to_owned() })
    }

    /// Returns whether the value depends on the currency. A whole number has the same value in every currency.
    #[must_use]
    pub fn has_decimals(&self) -> bool {
        !self.fraction.is_empty()
    }

    /// Returns the amount in `currency`.
    ///
    /// # Errors
    /// Returns [`MoneyError::TooManyDecimals`] or [`MoneyError::TooLarge`].
    pub fn amount(&self, currency: Currency) -> Result<Amount, MoneyError> {
        let (most, found) = (currency.exponent(), self.fraction.len());
        if found > usize::from(most) {
            return Err(MoneyError::TooManyDecimals { currency, most, found });
        }
        Amount::from_digits(&self.integer, &self.fraction, currency)
    }

    /// Returns the form that [`Amount::parse`] accepts, with the typed decimals, for a caller that does not know the
    /// currency.
    #[must_use]
    pub fn as_written(&self) -> String {
        let integer = if self.integer.is_empty() { "0" } else { &self.integer };
        if self.has_decimals() { format!("{integer}.{}", self.fraction) } else { integer.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn currency(code: &str) -> Currency {
        Currency::from_code(code).unwrap()
    }

    fn read(text: &str, code: &str) -> Result<Amount, MoneyError> {
        Typed::read(text).and_then(|typed| typed.amount(currency(code)))
    }

    #[test]
    fn people_leave_out_decimals_and_write_commas() {
        for (text, code, amount) in [
            ("3.5", "EUR", "3.50"),
            ("3,5", "EUR", "3.50"),
            ("1,00", "EUR", "1.00"),
            ("12", "EUR", "12.00"),
            ("0,05", "EUR", "0.05"),
            ("0,5", "EUR", "0.50"),
            ("007.5", "EUR", "7.50"),
            ("1200", "JPY", "1200"),
            ("1.5", "KWD", "1.500"),
            ("1,000", "KWD", "1.000"),
            ("9999999999.9", "EUR", "9999999999.90"),
        ] {
            assert_eq!(read(text, code).map(Amount::decimal).as_deref(), Ok(amount), "{text} {code}");
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused_by_its_fault() {
        let many = |code, found| {
            let currency = currency(code);
            MoneyError::TooManyDecimals { currency, most: currency.exponent(), found }
        };
        for (text, code, error) in [
            ("1,000.00", "EUR", MoneyError::Grouped),
            ("1.000,00", "EUR", MoneyError::Grouped),
            ("1.000.000", "EUR", MoneyError::Grouped),
            ("-1.000,00", "EUR", MoneyError::Grouped),
            ("1,000", "EUR", many("EUR", 3)),
            ("1.000", "EUR", many("EUR", 3)),
            ("3.5", "JPY", many("JPY", 1)),
            ("1.2345", "KWD", many("KWD", 4)),
            ("1.", "EUR", MoneyError::NotANumber),
            (",5", "EUR", MoneyError::NotANumber),
            ("1,,5", "EUR", MoneyError::NotANumber),
            ("1 000", "EUR", MoneyError::NotANumber),
            ("1'000.00", "EUR", MoneyError::NotANumber),
            ("+1", "EUR", MoneyError::NotANumber),
            ("1e3", "EUR", MoneyError::NotANumber),
            ("٣,٥", "EUR", MoneyError::NotANumber),
            ("", "EUR", MoneyError::NotANumber),
            ("-", "EUR", MoneyError::NotANumber),
            ("--1", "EUR", MoneyError::NotANumber),
            ("-3,5", "EUR", MoneyError::Negative),
            ("0", "EUR", MoneyError::Zero),
            ("0,00", "EUR", MoneyError::Zero),
            ("10000000000", "EUR", MoneyError::TooLarge),
        ] {
            assert_eq!(read(text, code), Err(error), "{text} {code}");
        }
        let said = |text| read(text, "EUR").unwrap_err().to_string();
        assert_eq!(
            said("1,000"),
            "EUR amounts have at most 2 decimals, but this one has 3; write one thousand as 1000"
        );
        assert!(said("1,000.00").ends_with("write it without thousands separators, as 1000.00"));
    }

    proptest! {
        /// People may type every amount that programs may write, and it has the same value.
        #[test]
        fn all_that_programs_write_can_be_typed(minor in 1_u64..1_000_000_000, code in "EUR|JPY|KWD") {
            let amount = Amount::from_minor(minor, currency(&code)).unwrap();
            let written = amount.decimal();
            prop_assert_eq!(read(&written, &code), Ok(amount));
            prop_assert_eq!(read(&written.replace('.', ","), &code), Ok(amount));
            prop_assert_eq!(Amount::parse(&Typed::read(&written).unwrap().as_written(), currency(&code)), Ok(amount));
        }

        /// Zeros at the end may be omitted. The shorter text is never a different amount.
        #[test]
        fn zeros_at_the_end_may_be_left_out(minor in 1_u64..1_000_000_000, code in "EUR|KWD") {
            let amount = Amount::from_minor(minor, currency(&code)).unwrap();
            let short = amount.decimal();
            let short = short.trim_end_matches('0').trim_end_matches('.');
            prop_assert_eq!(read(short, &code), Ok(amount));
        }

        /// A text with two separators is never an amount.
        #[test]
        fn thousands_are_never_grouped(text in "[0-9]{1,4}[.,][0-9]{1,3}([.,][0-9]{1,3}){1,2}", code in "EUR|JPY|KWD") {
            prop_assert_eq!(read(&text, &code), Err(MoneyError::Grouped));
        }

        /// Any text gives an amount or a refusal, and the amount has the value of its digits.
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,16}|[0-9.,-]{0,8}", code in "EUR|JPY|KWD") {
            if let Ok(amount) = read(&text, &code) {
                let exponent = usize::from(currency(&code).exponent());
                let (integer, fraction) = text.split_once(['.', ',']).unwrap_or((&text, ""));
                let digits = format!("{integer}{fraction:0<exponent$}");
                prop_assert_eq!(digits.parse::<u64>().unwrap(), amount.minor());
            }
        }
    }
}
