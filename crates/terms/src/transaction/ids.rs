//! The identifiers of a transaction, and the name of an operator. A transaction's identifiers are its number in the
//! journal, its till's reference and its payment id at the gateway. Each has its own type, so they cannot be confused.

use std::fmt;
use std::num::{ParseIntError, TryFromIntError};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The number of a transaction, assigned by the journal (interface: `pos.transactionSequenceNumber`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct SaleNumber(u64);

impl SaleNumber {
    /// The number before the first number, which is 1. No transaction has it.
    pub const BEFORE_ALL: Self = Self(0);
    /// The number after the last number. No transaction has it.
    pub const AFTER_ALL: Self = Self(u64::MAX);

    /// Creates a number from a counter.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the plain number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the number in the range 1 to 9999, for tills whose protocol has four digits. After 9999, it starts again
    /// at 1.
    #[must_use]
    pub fn on_four_digits(self) -> u16 {
        u16::try_from(self.0.saturating_sub(1) % 9999 + 1).unwrap_or(0)
    }

    /// Returns the number increased by this count, or the greatest number.
    #[must_use]
    pub const fn saturating_add(self, sales: u64) -> Self {
        Self(self.0.saturating_add(sales))
    }

    /// Returns the number decreased by this count, or [`Self::BEFORE_ALL`].
    #[must_use]
    pub const fn saturating_sub(self, sales: u64) -> Self {
        Self(self.0.saturating_sub(sales))
    }
}

impl PartialEq<u64> for SaleNumber {
    fn eq(&self, other: &u64) -> bool {
        self.0 == *other
    }
}

impl From<u32> for SaleNumber {
    fn from(number: u32) -> Self {
        Self(number.into())
    }
}

impl TryFrom<SaleNumber> for u32 {
    type Error = TryFromIntError;

    fn try_from(number: SaleNumber) -> Result<Self, Self::Error> {
        number.0.try_into()
    }
}

/// Converts to the type of the journal's rows.
impl TryFrom<SaleNumber> for i64 {
    type Error = TryFromIntError;

    fn try_from(number: SaleNumber) -> Result<Self, Self::Error> {
        number.0.try_into()
    }
}

impl fmt::Display for SaleNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for SaleNumber {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// The id of a payment at the gateway. An id usually consists of hexadecimal digits, and a gateway may write them in
/// either case (interface: identifiers). Comparison ignores the case, and display keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct PaymentId(String);

impl PaymentId {
    /// Creates an id from the text of a gateway or a till.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// Returns the original text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether both ids have the same letters in the same case.
    #[must_use]
    pub fn is_written_as(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    /// Returns the lower-case form, for use in an index.
    #[must_use]
    pub fn in_lower_case(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

impl PartialEq for PaymentId {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for PaymentId {}

impl fmt::Display for PaymentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A till's reference for a transaction: 1 to 64 printable ASCII characters without spaces at the ends. `.` and `..`
/// are refused, because the path of a request cannot contain them. A reference is checked when a till gives it
/// ([`Reference::parse`]), but not when it is read from the journal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Reference(String);

/// The error for a text that is not a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("reference must be 1 to 64 printable ASCII characters without spaces at its ends, and neither . nor ..")]
pub struct ReferenceError;

impl Reference {
    /// Parses a reference from a till.
    ///
    /// # Errors
    /// Returns an error if the text is empty, too long, has other characters, or is the name of a folder.
    pub fn parse(text: impl Into<String>) -> Result<Self, ReferenceError> {
        let text = text.into();
        let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        let is_folder = matches!(text.as_str(), "." | "..");
        if (1..=64).contains(&text.len()) && printable && text.trim() == text && !is_folder {
            Ok(Self(text))
        } else {
            Err(ReferenceError)
        }
    }

    /// Takes a reference from the journal. It was checked when it was given, possibly by an earlier version.
    #[must_use]
    pub fn as_kept(text: String) -> Self {
        Self(text)
    }

    /// Returns the reference as the till wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Reference {
    fn eq(&self, other: &str) -> bool {
        self.0 == *other
    }
}

impl PartialEq<&str> for Reference {
    fn eq(&self, other: &&str) -> bool {
        self.0 == **other
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of an operator: 1 to 32 letters, digits, spaces, dots, dashes, underscores or apostrophes. Two names that
/// differ only in case are the same. The first spelling is shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct OperatorName(String);

/// The error for a text that is not an operator's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an operator's name is 1 to 32 letters, digits, spaces, dots, dashes, underscores or apostrophes; it begins and ends with a \
     letter or a digit, and has at most 8 digits"
)]
pub struct OperatorNameError;

impl OperatorName {
    /// Parses a typed name. A text with enough digits for a card number is refused.
    ///
    /// # Errors
    /// Returns an error if the text is empty, too long, or has other characters.
    pub fn parse(text: impl Into<String>) -> Result<Self, OperatorNameError> {
        let text = text.into();
        let allowed = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | '-' | '_' | '\'');
        let ends = text.starts_with(char::is_alphanumeric) && text.ends_with(|c: char| c.is_alphanumeric() || c == '.');
        let few_digits = text.chars().filter(|c| c.is_numeric()).count() <= 8;
        if text.chars().count() <= 32 && ends && few_digits && text.chars().all(allowed) {
            Ok(Self(text))
        } else {
            Err(OperatorNameError)
        }
    }

    /// Returns the name as it is shown.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the form that is used for comparison.
    #[must_use]
    pub fn folded(&self) -> String {
        self.0.to_lowercase()
    }
}

impl PartialEq for OperatorName {
    fn eq(&self, other: &Self) -> bool {
        self.folded() == other.folded()
    }
}

impl Eq for OperatorName {}

impl fmt::Display for OperatorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_same_in_every_form() {
        let seven = SaleNumber::new(7);
        assert!(seven == 7 && seven != 8);
        assert_eq!((SaleNumber::from(7_u32), u32::try_from(seven), i64::try_from(seven)), (seven, Ok(7), Ok(7)));
        assert_eq!((seven.to_string().as_str(), "7".parse()), ("7", Ok(seven)));
        assert_eq!((seven.saturating_add(2).get(), seven.saturating_sub(2).get()), (9, 5));
        let greatest = SaleNumber::new(u64::MAX);
        assert_eq!((greatest.saturating_add(1), seven.saturating_sub(8)), (greatest, SaleNumber::BEFORE_ALL));
        assert!(
            u32::try_from(greatest).is_err() && i64::try_from(greatest).is_err() && "-1".parse::<SaleNumber>().is_err()
        );
    }

    #[test]
    fn a_payment_id_is_the_same_in_either_case_and_shown_as_it_came() {
        let (came, other) = (PaymentId::new("8Ac7A4"), PaymentId::new("8aC7a4"));
        assert_eq!(came, other);
        assert_ne!(came, PaymentId::new("8ac7a5"));
        assert_eq!(came.to_string(), "8Ac7A4");
        assert!(came.is_written_as(&came.clone()) && !came.is_written_as(&other));
        assert_eq!(came.in_lower_case(), other.in_lower_case());
        assert_eq!(serde_json::to_string(&came).unwrap(), "\"8Ac7A4\"");
    }

    #[test]
    fn a_reference_is_printable_and_of_bounded_length() {
        let longest = "~".repeat(64);
        for right in ["1", "order 4711", "#", "...", ".1", &longest] {
            let reference = Reference::parse(right).unwrap();
            assert_eq!((reference.as_str(), reference.to_string().as_str()), (right, right));
            assert!(reference == right && reference == *right && reference != "2" && reference != *"2");
        }
        let too_long = "~".repeat(65);
        for wrong in ["", " ", " 1", "1 ", "a\tb", "ä", "a\u{7f}", ".", "..", &too_long] {
            assert_eq!(Reference::parse(wrong), Err(ReferenceError), "{wrong:?}");
        }
    }

    #[test]
    fn an_operators_name_is_a_name_in_any_language_and_no_number_of_a_card() {
        let longest = "a".repeat(32);
        for right in ["Anna", "7", "Jürgen M.", "O'Neill", "till_1-b", "東京", "Ann-Marie 2", &longest] {
            assert_eq!(OperatorName::parse(right).unwrap().as_str(), right);
        }
        let too_long = "a".repeat(33);
        for wrong in [
            "",
            " ",
            " Anna",
            "Anna ",
            "a\tb",
            "a\u{1b}[2J",
            "a/b",
            "<b>",
            "-a",
            "4111 1111 1111 1111",
            "123456789",
            &too_long,
        ] {
            assert_eq!(OperatorName::parse(wrong), Err(OperatorNameError), "{wrong:?}");
        }
        let (one, other) = (OperatorName::parse("ÄNNE").unwrap(), OperatorName::parse("änne").unwrap());
        assert_eq!(one, other);
        assert_eq!(one.to_string(), "ÄNNE");
    }

    #[test]
    fn what_an_earlier_program_kept_is_read_whatever_it_is() {
        let kept: Reference = serde_json::from_str("\" ä \"").unwrap();
        assert_eq!(kept.as_str(), " ä ");
    }
}
