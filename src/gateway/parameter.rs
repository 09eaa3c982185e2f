//! Names and formats of the request parameters, as a table: a value is checked against its row before anything is sent.
//!
//! Only the parameters this client sends have a row. What a row says is copied from the interface's tables; what a value
//! means is the business of `request`.

use std::fmt;

use Format::{Alphanumeric, AmountTwoDecimals, Decimal, Digits, LowerHex, OneOf, Text, UpperLetters, Word};

/// What a value must look like (interface: Conventions).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// amount10.2: 1 to 10 digits, a dot, exactly two decimals.
    AmountTwoDecimals,
    /// Free text of so many characters, none of them a control character.
    Text {
        /// Fewest characters.
        min: usize,
        /// Most characters.
        max: usize,
    },
    /// ASCII letters and digits, 1 to `max`.
    Alphanumeric {
        /// Most characters.
        max: usize,
    },
    /// ASCII letters, digits and underscore, 1 to `max`.
    Word {
        /// Most characters.
        max: usize,
    },
    /// Digits, 1 to `max`.
    Digits {
        /// Most characters.
        max: usize,
    },
    /// Exactly `len` letters A to Z.
    UpperLetters {
        /// How many.
        len: usize,
    },
    /// Exactly `len` of 0 to 9 and a to f.
    LowerHex {
        /// How many.
        len: usize,
    },
    /// Signed decimal: 1 to `integer` digits, a dot, 1 to 8 decimals.
    Decimal {
        /// Most digits before the dot.
        integer: usize,
    },
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// One parameter of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name on the wire.
    pub name: &'static str,
    /// What its value must look like.
    pub format: Format,
}

/// A value does not fit its parameter. The value itself is not shown: it may be card data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} must be {format}")]
pub struct Misfit {
    /// The parameter.
    pub name: &'static str,
    /// The rule it breaks.
    pub format: Format,
}

/// Every parameter this client sends, in the order of the interface's tables.
pub static TABLE: &[Parameter] = &[
    // interface: Basic payment parameters
    row("amount", AmountTwoDecimals),
    row("currency", UpperLetters { len: 3 }),
    row("paymentBrand", Word { max: 32 }),
    row("paymentType", UpperLetters { len: 2 }),
    row("merchantTransactionId", Text { min: 8, max: 255 }),
    row("testMode", OneOf(&["EXTERNAL", "INTERNAL"])),
    row("referenceUuid", Alphanumeric { max: 32 }),
    // interface: Authentication parameters
    row("entityId", LowerHex { len: 32 }),
    // interface: Point of sale
    row("pos.deviceId", Digits { max: 32 }),
    row("pos.deviceType", Text { min: 1, max: 32 }),
    row("pos.encryptedPin.data", Alphanumeric { max: 2048 }),
    row("pos.encryptedPin.ksn", Alphanumeric { max: 2048 }),
    row("pos.encryptedSred.data", Alphanumeric { max: 2048 }),
    row("pos.encryptedSred.ksn", Alphanumeric { max: 2048 }),
    row("pos.entryMode", OneOf(&["MANUAL", "MAGSTRIPE", "MAGSTRIPE_AS_FALLBACK", "ICC", "NFC_ICC", "NFC_MAGSTRIPE"])),
    row("pos.iccDataRequest", Alphanumeric { max: 2048 }),
    row("pos.location.accuracy", Digits { max: 32 }),
    row("pos.location.latitude", Decimal { integer: 2 }),
    row("pos.location.longitude", Decimal { integer: 3 }),
    row("pos.panSequenceNumber", Digits { max: 32 }),
    row("pos.pinEntryCapability", OneOf(&["PIN_ENTRY_AVAILABLE", "PIN_ENTRY_UNAVAILABLE"])),
    row("pos.terminalId", Digits { max: 32 }),
    row("pos.transactionSequenceNumber", Digits { max: 32 }),
    row("pos.transactionSource", OneOf(&["POS"])),
    // interface: Card on file
    row(
        "standingInstruction.industryPractice",
        OneOf(&["INCREMENTAL_AUTH", "RESUBMISSION", "REAUTHORIZATION", "DELAYED_CHARGES", "NO_SHOW"]),
    ),
    // interface: Query parameters
    row("includeLinkedTransactions", OneOf(&["true", "false"])),
];

const fn row(name: &'static str, format: Format) -> Parameter {
    Parameter { name, format }
}

/// The row of `name`, or `None` when this client does not know it.
#[must_use]
pub fn find(name: &str) -> Option<&'static Parameter> {
    TABLE.iter().find(|parameter| parameter.name == name)
}

impl Parameter {
    /// Whether `value` may be sent.
    ///
    /// # Errors
    /// [`Misfit`] with the rule.
    pub fn check(&self, value: &str) -> Result<(), Misfit> {
        if self.format.fits(value) { Ok(()) } else { Err(Misfit { name: self.name, format: self.format }) }
    }
}

impl Format {
    /// Whether `value` has this format.
    #[must_use]
    pub fn fits(self, value: &str) -> bool {
        let between = |min: usize, max: usize| (min..=max).contains(&value.chars().count());
        let all = |test: fn(&u8) -> bool| value.as_bytes().iter().all(test);
        match self {
            AmountTwoDecimals => decimal(value, 10, 2..=2),
            Text { min, max } => between(min, max) && !value.chars().any(char::is_control),
            Alphanumeric { max } => between(1, max) && all(u8::is_ascii_alphanumeric),
            Word { max } => between(1, max) && all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_'),
            Digits { max } => between(1, max) && all(u8::is_ascii_digit),
            UpperLetters { len } => between(len, len) && all(u8::is_ascii_uppercase),
            LowerHex { len } => between(len, len) && all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')),
            Decimal { integer } => decimal(value.strip_prefix(['+', '-']).unwrap_or(value), integer, 1..=8),
            OneOf(words) => words.contains(&value),
        }
    }
}

/// 1 to `integer` digits, a dot, and as many digits as `decimals` allows.
fn decimal(value: &str, integer: usize, decimals: std::ops::RangeInclusive<usize>) -> bool {
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    value.split_once('.').is_some_and(|(whole, fraction)| {
        (1..=integer).contains(&whole.len()) && decimals.contains(&fraction.len()) && digits(whole) && digits(fraction)
    })
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AmountTwoDecimals => write!(f, "1 to 10 digits, a dot and two decimals"),
            Text { min, max } => write!(f, "{min} to {max} characters without control characters"),
            Alphanumeric { max } => write!(f, "1 to {max} letters and digits"),
            Word { max } => write!(f, "1 to {max} letters, digits and underscores"),
            Digits { max } => write!(f, "1 to {max} digits"),
            UpperLetters { len } => write!(f, "{len} upper-case letters"),
            LowerHex { len } => write!(f, "{len} lower-case hex characters"),
            Decimal { integer } => {
                write!(f, "a decimal number with 1 to {integer} digits before the dot and 1 to 8 after it")
            }
            OneOf(words) => write!(f, "one of {}", words.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What fits and what does not, for each kind of format (interface: Conventions).
    #[test]
    fn values_are_held_to_the_format_of_their_parameter() {
        let long = |c: &str, n: usize| c.repeat(n);
        for (name, good, bad) in [
            (
                "amount",
                vec!["0.01".into(), "9999999999.99".into()],
                vec![
                    "1".into(),
                    "1.5".into(),
                    "1.555".into(),
                    ".50".into(),
                    "-1.00".into(),
                    "10000000000.00".into(),
                    "1,00".into(),
                ],
            ),
            ("currency", vec!["EUR".into()], vec!["eur".into(), "EU".into(), "EURO".into(), "ÉUR".into()]),
            ("paymentType", vec!["DB".into()], vec!["D".into(), "DBX".into(), "3D".into()]),
            ("paymentBrand", vec!["VISA".into(), long("A", 32)], vec![String::new(), long("A", 33), "VISA-X".into()]),
            (
                "merchantTransactionId",
                vec![long("x", 8), long("é", 255)],
                vec![long("x", 7), long("x", 256), "12345678\n".into()],
            ),
            ("testMode", vec!["EXTERNAL".into()], vec!["external".into(), String::new()]),
            ("entityId", vec![long("0a", 16)], vec![long("0A", 16), long("0", 31), long("g", 32)]),
            (
                "pos.deviceId",
                vec!["1".into(), long("9", 32)],
                vec![String::new(), long("9", 33), "12-3".into(), "١".into()],
            ),
            ("pos.encryptedSred.data", vec![long("F", 2048)], vec![String::new(), long("F", 2049), "F F".into()]),
            (
                "pos.location.latitude",
                vec!["52.5".into(), "-1.12345678".into(), "+52.5".into()],
                vec!["152.5".into(), "52".into(), "52.".into(), "--1.5".into(), "1.123456789".into()],
            ),
            ("pos.location.longitude", vec!["-179.5".into()], vec!["1179.5".into()]),
            ("pos.entryMode", vec!["NFC_ICC".into()], vec!["nfc_icc".into()]),
        ] {
            let parameter = find(name).unwrap();
            for value in good {
                assert_eq!(parameter.check(&value), Ok(()), "{name} = {value:?}");
            }
            for value in bad {
                assert!(parameter.check(&value).is_err(), "{name} = {value:?}");
            }
        }
    }

    #[test]
    fn a_misfit_names_parameter_and_rule_but_not_the_value() {
        let error = find("pos.terminalId").unwrap().check("4711-x").unwrap_err();
        assert_eq!(error.to_string(), "pos.terminalId must be 1 to 32 digits");
    }

    #[test]
    fn no_parameter_stands_twice() {
        let names: std::collections::HashSet<_> = TABLE.iter().map(|parameter| parameter.name).collect();
        assert_eq!(names.len(), TABLE.len());
    }
}
