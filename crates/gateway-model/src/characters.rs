//! The kinds of characters in values. `format` defines their number and order.

use super::format::Problem;

/// The set of characters that a value may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharacterSet {
    /// Free text: all except control characters.
    Text,
    /// All characters.
    Anything,
    /// 0 to 9.
    Digits,
    /// ASCII letters.
    Letters,
    /// A to Z.
    UpperLetters,
    /// 0 to 9 and a to f.
    LowerHex,
    /// ASCII letters and digits.
    LettersDigits,
    /// ASCII letters, digits and underscore.
    Word,
    /// Letters, digits and dot.
    LettersDigitsDot,
    /// Letters, digits and hyphen.
    LettersDigitsHyphen,
    /// ASCII letters, digits, dot and hyphen.
    LettersDigitsDotHyphen,
    /// Letters and hyphen.
    LettersHyphen,
    /// Letters, digits and spaces.
    LettersDigitsSpaces,
    /// Letters and spaces.
    LettersSpaces,
    /// Letters, with the spaces and marks between them: all characters except digits and control characters.
    NoDigits,
    /// Digits and dots.
    DigitsDots,
    /// Base64, padded.
    Base64,
}

impl CharacterSet {
    /// Checks the length of a value and each of its characters.
    pub(super) fn check(self, value: &str, min: u16, max: u16) -> Result<(), Problem> {
        let has = value.chars().count();
        if has < usize::from(min) {
            Err(if has == 0 { Problem::Empty } else { Problem::Short(has) })
        } else if has > usize::from(max) {
            Err(Problem::Long(has))
        } else if self == Self::Base64 {
            let bare = value.trim_end_matches('=');
            let padded = value.len() - bare.len() <= 2 && value.len().is_multiple_of(4);
            let allowed = bare.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'/'));
            if allowed && padded { Ok(()) } else { Err(Problem::Shape) }
        } else if value.chars().all(|c| self.holds(c)) {
            Ok(())
        } else {
            Err(Problem::Character)
        }
    }

    fn holds(self, c: char) -> bool {
        match self {
            Self::Anything | Self::Base64 => true,
            Self::Text => !c.is_control(),
            Self::Digits => c.is_ascii_digit(),
            Self::Letters => c.is_ascii_alphabetic(),
            Self::UpperLetters => c.is_ascii_uppercase(),
            Self::LowerHex => matches!(c, '0'..='9' | 'a'..='f'),
            Self::LettersDigits => c.is_ascii_alphanumeric(),
            Self::Word => c.is_ascii_alphanumeric() || c == '_',
            Self::LettersDigitsDot => c.is_alphanumeric() || c == '.',
            Self::LettersDigitsHyphen => c.is_ascii_alphanumeric() || c == '-',
            Self::LettersDigitsDotHyphen => c.is_ascii_alphanumeric() || matches!(c, '.' | '-'),
            Self::LettersHyphen => c.is_ascii_alphabetic() || c == '-',
            Self::LettersDigitsSpaces => c.is_alphanumeric() || c == ' ',
            Self::LettersSpaces => c.is_alphabetic() || c == ' ',
            Self::NoDigits => !c.is_numeric() && !c.is_control(),
            Self::DigitsDots => c.is_ascii_digit() || c == '.',
        }
    }

    /// Returns the set's name for a person.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Text => "characters without control characters",
            Self::Anything => "characters",
            Self::Digits => "digits",
            Self::Letters => "letters",
            Self::UpperLetters => "upper-case letters",
            Self::LowerHex => "lower-case hex digits",
            Self::LettersDigits => "letters and digits",
            Self::Word => "letters, digits and underscores",
            Self::LettersDigitsDot => "letters, digits and dots",
            Self::LettersDigitsHyphen => "letters, digits and hyphens",
            Self::LettersDigitsDotHyphen => "letters, digits, dots and hyphens",
            Self::LettersHyphen => "letters and hyphens",
            Self::LettersDigitsSpaces => "letters, digits and spaces",
            Self::LettersSpaces => "letters and spaces",
            Self::NoDigits => "letters, spaces and marks, no digits",
            Self::DigitsDots => "digits and dots",
            Self::Base64 => "characters of base64",
        }
    }

    /// Returns the letter code that the interface's conventions give the set, and its note.
    pub(super) fn code(self) -> (&'static str, &'static str) {
        match self {
            Self::Text | Self::Anything => ("AN", ""),
            Self::Digits => ("N", ""),
            Self::Letters | Self::NoDigits => ("A", ""),
            Self::UpperLetters => ("A", "uppercase"),
            _ => ("AN", self.noun()),
        }
    }
}
