//! Amounts, which are decimal numbers in JSON. They are read as exact digits and never as binary floats.
//!
//! serde_json would read a number as a float. Its feature `arbitrary_precision` keeps the digits, but applies to every
//! crate of the build. So a number is read as a raw value, which is its text in the message. It can be written only as
//! text, not into a `serde_json::Value`.
//!
//! This module does not know currencies. The caller knows the currency and its exponent.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::value::RawValue;

/// Maximum length of the text of a number, in characters. All digits of a float are shorter.
const LONGEST: usize = 40;
/// The largest accepted power of ten, positive or negative.
const MOST_EXPONENT: usize = 20;
/// Number of digits that always fit into a `u64`.
const MOST_DIGITS: usize = 18;
/// The largest amount in minor units: twelve digits, as in tag 9F02.
const MAX_MINOR: u64 = 999_999_999_999;

/// The reason why a text is not an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    /// The text is not a JSON number. A number in quotes is a text.
    #[error("must be a number, as 12.34 without quotes")]
    NotANumber,
    /// The number is negative, or `-0`.
    #[error("must not be negative")]
    Negative,
    /// The number has more digits than an amount can have.
    #[error("has too many digits; an amount has at most 12")]
    TooLarge,
    /// The number has more decimals than the currency. It is not rounded, because `0.30000000000000004` is a till's
    /// mistake.
    #[error("has {found} decimals, but the currency has {most}")]
    TooManyDecimals {
        /// The currency's exponent.
        most: u8,
        /// Number of decimals, without trailing zeros.
        found: u8,
    },
}

/// A non-negative exact decimal number. Numbers are compared by value: `12.5` equals `12.50`.
#[derive(Clone, Copy, Debug)]
pub struct Decimal {
    digits: u64,
    /// The number of digits after the decimal point.
    scale: u8,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self { digits: 0, scale: 0 };

    /// Adds two numbers. Returns the largest possible number if the sum does not fit.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let scale = self.scale.max(other.scale);
        let raised = |it: Self| {
            let power = 10_u64.checked_pow(u32::from(scale - it.scale))?;
            it.digits.checked_mul(power)
        };
        let sum = raised(self).and_then(|own| own.checked_add(raised(other)?));
        Self { digits: sum.unwrap_or(u64::MAX), scale }
    }

    /// Converts minor units of a currency with this exponent. The result has all decimals of the currency.
    ///
    /// # Errors
    /// Returns [`DecimalError::TooLarge`].
    pub fn from_minor(minor: u64, exponent: u8) -> Result<Self, DecimalError> {
        if minor > MAX_MINOR || usize::from(exponent) > MOST_EXPONENT {
            return Err(DecimalError::TooLarge);
        }
        Ok(Self { digits: minor, scale: exponent })
    }

    /// Returns the number in minor units of a currency with this exponent.
    ///
    /// # Errors
    /// [`DecimalError::TooManyDecimals`], [`DecimalError::TooLarge`].
    pub fn to_minor(self, exponent: u8) -> Result<u64, DecimalError> {
        let (digits, scale) = self.shortest();
        let Some(missing) = exponent.checked_sub(scale) else {
            return Err(DecimalError::TooManyDecimals { most: exponent, found: scale });
        };
        let minor = 10_u64.checked_pow(missing.into()).and_then(|power| digits.checked_mul(power));
        minor.filter(|minor| *minor <= MAX_MINOR).ok_or(DecimalError::TooLarge)
    }

    /// Returns a unique spelling of the value: `12.5` for `12.50` and `1250e-2`.
    #[must_use]
    pub fn plain(self) -> String {
        let (digits, scale) = self.shortest();
        Self { digits, scale }.to_string()
    }

    /// Removes trailing zeros from the decimals.
    fn shortest(self) -> (u64, u8) {
        let (mut digits, mut scale) = (self.digits, self.scale);
        while scale > 0 && digits % 10 == 0 {
            digits /= 10;
            scale -= 1;
        }
        (digits, scale)
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    /// Reads a JSON number. An exponent is accepted if the number is exact and not too large for an amount, because
    /// Java's `BigDecimal` writes one hundred as `1E+2`.
    fn from_str(text: &str) -> Result<Self, DecimalError> {
        let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (number, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let power = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let leading_zero = whole.len() > 1 && whole.starts_with('0');
        if !is_digits(whole) || !is_digits(fraction) || !is_digits(power) || leading_zero {
            return Err(DecimalError::NotANumber);
        }
        if negative {
            return Err(DecimalError::Negative);
        }
        let power = power.trim_start_matches('0');
        if text.len() > LONGEST || power.len() > 2 {
            return Err(DecimalError::TooLarge);
        }
        let power = power.parse().unwrap_or(0_usize);
        if power > MOST_EXPONENT {
            return Err(DecimalError::TooLarge);
        }
        let mut digits = format!("{whole}{}", fraction.trim_end_matches('0'));
        let mut scale = digits.len() - whole.len();
        if exponent.starts_with('-') {
            scale += power;
        } else {
            let up = power.saturating_sub(scale);
            scale = scale.saturating_sub(power);
            digits.extend(std::iter::repeat_n('0', up));
        }
        let digits = digits.trim_start_matches('0');
        if digits.is_empty() {
            return Ok(Self { digits: 0, scale: 0 });
        }
        let scale = u8::try_from(scale).map_err(|_| DecimalError::TooLarge)?;
        if digits.len() > MOST_DIGITS {
            return Err(DecimalError::TooLarge);
        }
        Ok(Self { digits: digits.parse().map_err(|_| DecimalError::TooLarge)?, scale })
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = usize::from(self.scale);
        let digits = format!("{:0width$}", self.digits, width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        f.write_str(whole)?;
        if fraction.is_empty() { Ok(()) } else { write!(f, ".{fraction}") }
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.shortest() == other.shortest()
    }
}

impl Eq for Decimal {}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.to_string()).map_err(ser::Error::custom)?.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(from)?;
        raw.get().parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn minor(text: &str, exponent: u8) -> Result<u64, DecimalError> {
        text.parse::<Decimal>()?.to_minor(exponent)
    }

    #[test]
    fn digits_are_read_as_they_stand() {
        for (text, exponent, expected) in [
            ("12.5", 2, 1250),
            ("12.50", 2, 1250),
            ("12.500000", 2, 1250),
            ("0.1", 2, 10),
            ("0", 2, 0),
            ("0.00", 0, 0),
            ("1200", 0, 1200),
            ("1200.0", 0, 1200),
            ("1.23", 3, 1230),
            ("9999999999.99", 2, 999_999_999_999),
            ("1E+2", 2, 10_000),
            ("1.25e1", 2, 1250),
            ("1250e-2", 2, 1250),
            ("1e-2", 2, 1),
            ("0e20", 2, 0),
        ] {
            assert_eq!(minor(text, exponent), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_amount_is_refused_and_never_rounded() {
        let decimals = |most, found| Err(DecimalError::TooManyDecimals { most, found });
        assert_eq!(minor("0.3000000000000004", 2), decimals(2, 16));
        assert_eq!(
            (minor("12.345", 2), minor("0.5", 0), minor("1e-3", 2)),
            (decimals(2, 3), decimals(0, 1), decimals(2, 3))
        );
        for text in ["10000000000", "10000000000.00", "1e11", "1e21", "1e999999999999999999999"] {
            assert_eq!(minor(text, 2), Err(DecimalError::TooLarge), "{text}");
        }
        for text in ["-1", "-0", "-0.01", "-1e5"] {
            assert_eq!(minor(text, 2), Err(DecimalError::Negative), "{text}");
        }
        for text in ["", ".5", "5.", "01", "1,5", "+1", "1e", "1e+", "NaN", "\"1\"", "1 ", "0x1", "1.2.3", "--1", "٣"]
        {
            assert_eq!(minor(text, 2), Err(DecimalError::NotANumber), "{text}");
        }
    }

    #[test]
    fn amounts_are_written_with_the_currencys_decimals() {
        for (minor, exponent, text) in
            [(1250, 2, "12.50"), (5, 2, "0.05"), (0, 2, "0.00"), (1200, 0, "1200"), (1, 3, "0.001")]
        {
            assert_eq!(Decimal::from_minor(minor, exponent).unwrap().to_string(), text);
        }
        assert_eq!(Decimal::from_minor(1_000_000_000_000, 2), Err(DecimalError::TooLarge));
        assert_eq!("12.5".parse(), Decimal::from_minor(1250, 2));
        assert_eq!(serde_json::to_string(&Decimal::from_minor(1250, 2).unwrap()).unwrap(), "12.50");
    }

    proptest! {
        #[test]
        fn minor_units_come_back(minor in 0..=MAX_MINOR, exponent in 0_u8..=4) {
            let decimal = Decimal::from_minor(minor, exponent).unwrap();
            let json = serde_json::to_string(&decimal).unwrap();
            let read: Decimal = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(read.to_minor(exponent), Ok(minor));
            prop_assert_eq!(read, decimal);
        }

        #[test]
        fn any_text_is_a_number_or_refused(text in "\\PC*|-?[0-9]{0,20}(\\.[0-9]{0,20})?([eE][+-]?[0-9]{0,4})?") {
            if let Ok(decimal) = text.parse::<Decimal>() {
                prop_assert_eq!(decimal.to_string().parse::<Decimal>(), Ok(decimal));
            }
        }
    }
}
