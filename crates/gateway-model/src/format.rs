//! The formats of values in the interface's tables, each with a check and a sentence for people.
//!
//! A check judges one value and never repeats it, because it may be card data. The rules between fields are in `rule`.

use std::fmt;

use chrono::NaiveDate;

use super::characters::CharacterSet;
use super::cron::Cron;

/// The format of a value (interface: Conventions).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Characters of one set, with their minimum and maximum number.
    Chars(CharacterSet, u16, u16),
    /// Digits, a dot and digits.
    Decimal {
        /// `true` if a sign may come first.
        signed: bool,
        /// The maximum number of digits before the dot.
        whole: u8,
        /// The minimum and maximum number of digits after the dot.
        decimals: (u8, u8),
        /// `true` if the dot and the decimals may be omitted together.
        bare: bool,
    },
    /// 0 to 100 with at most two decimals.
    Percent,
    /// A whole number between two limits, with no more digits than the upper limit.
    Number(u32, u32),
    /// Two digits between two limits, for example `01` to `12`.
    TwoDigits(u8, u8),
    /// A whole number with at most this many digits, with or without a sign.
    Signed(u8),
    /// Four digits that begin with 19 or 20.
    Year,
    /// `date`: a day, yyyy-MM-dd, in a year that begins with 19 or 20.
    Date,
    /// A day, yyyy-MM-dd, in any year.
    Day,
    /// yyyy-MM-dd HH:mm:ss.
    Moment,
    /// yyyy-MM-dd HH:mm:ss and the offset from UTC: `+0000` or `+00:00`.
    Stamp,
    /// A telephone number: a plus or digit, then digits, spaces, dots, parentheses, slashes and hyphens. The two
    /// numbers are the minimum and maximum number of characters after the first.
    Phone(u8, u8),
    /// Two letters, two digits, then 11 to 27 letters or digits.
    Iban,
    /// 8 or 11 letters and digits.
    Bic,
    /// Two letters or three digits.
    CountryEither,
    /// Latitude, comma, longitude, both in degrees; 20 characters at most.
    Coordinates,
    /// A version such as `2.1.0`, whose major number is 1 or 2.
    Version,
    /// `000.100.2` followed by two digits.
    ChargebackCode,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Some of these words, separated by commas.
    List(&'static [&'static str]),
    /// A URL-encoded address with scheme and host. The numbers are its minimum and maximum length.
    Url(u16, u16),
    /// A URL-encoded address that may be relative. The numbers are its minimum and maximum length.
    UrlPart(u16, u16),
    /// One field of a schedule.
    Cron(Cron),
    /// A JSON value.
    Json,
    /// A JSON object of pairs, with names of 3 to 64 characters and values of at most 2048.
    Pairs,
    /// `Bearer` followed by an access token.
    Bearer,
}

/// The problem of a value. It never contains the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The value is empty, but a value is required.
    #[error("is empty")]
    Empty,
    /// The value is too short; it has this number of characters.
    #[error("is too short ({0} characters)")]
    Short(usize),
    /// The value is too long; it has this number of characters.
    #[error("is too long ({0} characters)")]
    Long(usize),
    /// The value contains a character that is not permitted.
    #[error("holds a character that is not allowed")]
    Character,
    /// The value is not one of the listed values.
    #[error("is not one of the values")]
    NotListed,
    /// The number is too small or too large.
    #[error("is out of bounds")]
    Bounds,
    /// The value has a different structure.
    #[error("does not have this form")]
    Shape,
}

/// The minimum and maximum length of a pair's name in [`Format::Pairs`].
pub(super) const PAIR_NAME: std::ops::RangeInclusive<usize> = 3..=64;
/// The format of the value of such a pair.
pub(super) const PAIR_VALUE: Format = Format::Chars(CharacterSet::Anything, 0, 2048);

impl Format {
    /// Checks whether `value` has this format.
    #[must_use]
    pub fn fits(self, value: &str) -> bool {
        self.check(value).is_ok()
    }

    /// Checks one value.
    ///
    /// # Errors
    /// Returns the [`Problem`] of the value.
    pub fn check(self, value: &str) -> Result<(), Problem> {
        let holds = |fits: bool, problem| if fits { Ok(()) } else { Err(problem) };
        if value.is_empty() && !matches!(self, Self::Chars(..) | Self::Cron(Cron::Year)) {
            return Err(Problem::Empty);
        }
        match self {
            Self::Chars(of, min, max) => of.check(value, min, max),
            Self::Decimal { signed, whole, decimals, bare } => decimal(value, signed, whole, decimals, bare),
            Self::Percent => percent(value),
            Self::Number(_, max) if value.len() > max.to_string().len() => Err(Problem::Bounds),
            Self::Number(min, max) => number(value, min, max),
            Self::TwoDigits(min, max) => {
                holds(value.len() == 2 && all_digits(value), Problem::Shape)?;
                number(value, u32::from(min), u32::from(max))
            }
            Self::Signed(most) => digits(value.strip_prefix(['+', '-']).unwrap_or(value), most),
            Self::Year => holds(value.len() == 4 && all_digits(value), Problem::Shape)
                .and(holds(in_this_or_the_last_century(value), Problem::Bounds)),
            Self::Date => day(value).and(holds(in_this_or_the_last_century(value), Problem::Bounds)),
            Self::Day => day(value),
            Self::Moment => moment(value),
            Self::Stamp => stamp(value),
            Self::Phone(min, max) => phone(value, min, max),
            Self::Iban => iban(value),
            Self::Bic => CharacterSet::LettersDigits
                .check(value, 8, 11)
                .and(holds(matches!(value.len(), 8 | 11), Problem::Shape)),
            Self::CountryEither => {
                let letters = value.len() == 2 && value.bytes().all(|c| c.is_ascii_alphabetic());
                holds(letters || value.len() == 3 && all_digits(value), Problem::Shape)
            }
            Self::Coordinates => coordinates(value),
            Self::Version => holds(version(value).is_some_and(|(major, _)| matches!(major, 1 | 2)), Problem::Shape),
            Self::ChargebackCode => {
                let rest = value.strip_prefix("000.100.2");
                holds(rest.is_some_and(|rest| rest.len() == 2 && all_digits(rest)), Problem::Shape)
            }
            Self::OneOf(words) => holds(words.contains(&value), Problem::NotListed),
            Self::List(words) => holds(value.split(',').all(|word| words.contains(&word)), Problem::NotListed),
            Self::Url(min, max) => url(value, min, max).and(holds(is_absolute(value), Problem::Shape)),
            Self::UrlPart(min, max) => url(value, min, max),
            Self::Cron(field) => field.check(value),
            Self::Json => holds(serde_json::from_str::<serde::de::IgnoredAny>(value).is_ok(), Problem::Shape),
            Self::Pairs => pairs(value),
            Self::Bearer => bearer(value),
        }
    }

    /// Returns the format, abbreviated as in the interface's tables: `AN255, 8-255`.
    #[must_use]
    pub fn code(self) -> String {
        match self {
            Self::Chars(of, min, max) => {
                let (letter, note) = of.code();
                let note = if note.is_empty() { String::new() } else { format!(", {note}") };
                match min {
                    0 | 1 => format!("{letter}{max}{note}"),
                    _ if min == max => format!("{letter}{max}{note}, exactly {max}"),
                    _ => format!("{letter}{max}{note}, {min}-{max}"),
                }
            }
            Self::Decimal { signed: false, whole, decimals: (2, 2), bare: false } => format!("amount{whole}.2"),
            Self::Decimal { signed, whole, decimals: (_, most), .. } => {
                format!("{}decimal{whole}.{most}", if signed { "signed " } else { "" })
            }
            Self::Percent => "percentage".to_owned(),
            Self::Number(min, max) => format!("N{}, {min}-{max}", max.to_string().len()),
            Self::TwoDigits(min, max) => format!("N2, {min:02}-{max:02}"),
            Self::Signed(most) => format!("signed N{most}"),
            Self::Year => "N4, 19.. or 20..".to_owned(),
            Self::Date => "date".to_owned(),
            Self::Day => "yyyy-MM-dd".to_owned(),
            Self::Moment => "yyyy-MM-dd HH:mm:ss".to_owned(),
            Self::Stamp => "yyyy-MM-dd HH:mm:ss+zone".to_owned(),
            Self::Phone(..) => "AN25, phone".to_owned(),
            Self::Iban => "AN31, IBAN".to_owned(),
            Self::Bic => "AN11, 8 or 11".to_owned(),
            Self::CountryEither => "A2 or N3".to_owned(),
            Self::Coordinates => "AN20, latitude,longitude".to_owned(),
            Self::Version => "version".to_owned(),
            Self::ChargebackCode => "000.100.2nn".to_owned(),
            Self::OneOf(words) => words.join("|"),
            Self::List(_) => "list".to_owned(),
            Self::Url(_, max) => format!("URL{max}, absolute"),
            Self::UrlPart(_, max) => format!("URL{max}"),
            Self::Cron(field) => field.code().to_owned(),
            Self::Json => "JSON".to_owned(),
            Self::Pairs => "JSON pairs".to_owned(),
            Self::Bearer => "Bearer token".to_owned(),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Chars(of, min, max) if min == max => write!(f, "{max} {}", of.noun()),
            Self::Chars(of, min, max) => write!(f, "{min} to {max} {}", of.noun()),
            Self::Decimal { signed, whole, decimals, bare } => {
                let sign = if signed { "a sign or none, " } else { "" };
                let behind = match decimals {
                    (2, 2) => "two decimals".to_owned(),
                    (fewest, most) => format!("{fewest} to {most} decimals"),
                };
                let joint = if bare { ", or these with a dot and" } else { ", a dot and" };
                write!(f, "{sign}1 to {whole} digits{joint} {behind}")
            }
            Self::Percent => write!(f, "0 to 100 with at most two decimals"),
            Self::Number(min, max) => write!(f, "a whole number from {min} to {max}"),
            Self::TwoDigits(min, max) => write!(f, "two digits from {min:02} to {max:02}"),
            Self::Signed(most) => write!(f, "a sign or none, and 1 to {most} digits"),
            Self::Year => write!(f, "four digits that begin with 19 or 20"),
            Self::Date => write!(f, "a day as yyyy-MM-dd in a year that begins with 19 or 20"),
            Self::Day => write!(f, "a day as yyyy-MM-dd"),
            Self::Moment => write!(f, "yyyy-MM-dd HH:mm:ss"),
            Self::Stamp => write!(f, "yyyy-MM-dd HH:mm:ss and the offset from UTC, such as +0000"),
            Self::Phone(min, max) => {
                write!(f, "plus or a digit, then {min} to {max} digits, spaces, dots, parentheses, slashes and hyphens")
            }
            Self::Iban => write!(f, "two letters, two digits, then 11 to 27 letters or digits"),
            Self::Bic => write!(f, "8 or 11 letters and digits"),
            Self::CountryEither => write!(f, "two letters or three digits"),
            Self::Coordinates => {
                write!(
                    f,
                    "a latitude from -90 to 90, a comma and a longitude from -180 to 180, of at most 20 characters"
                )
            }
            Self::Version => write!(f, "a version such as 2.1.0, whose first number is 1 or 2"),
            Self::ChargebackCode => write!(f, "000.100.2 and two digits"),
            Self::OneOf([word]) => write!(f, "{word}"),
            Self::OneOf(words) => write!(f, "one of {}", words.join(", ")),
            Self::List(words) => write!(f, "a list, separated by commas, of {}", words.join(", ")),
            Self::Url(min, max) => {
                write!(f, "an address with scheme and host, URL-encoded, of {min} to {max} characters")
            }
            Self::UrlPart(min, max) => write!(f, "an address, URL-encoded, of {min} to {max} characters"),
            Self::Cron(field) => write!(f, "{}", field.says()),
            Self::Json => write!(f, "JSON"),
            Self::Pairs => {
                write!(f, "a JSON object whose names have 3 to 64 characters and whose values have at most 2048")
            }
            Self::Bearer => write!(f, "Bearer, a space and the access token"),
        }
    }
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|c| c.is_ascii_digit())
}

fn digits(value: &str, most: u8) -> Result<(), Problem> {
    CharacterSet::Digits.check(value, 1, u16::from(most))
}

fn decimal(value: &str, signed: bool, whole: u8, (fewest, most): (u8, u8), bare: bool) -> Result<(), Problem> {
    let unsigned = if signed { value.strip_prefix(['+', '-']).unwrap_or(value) } else { value };
    if let Some(c) = unsigned.chars().find(|c| !c.is_ascii_digit() && *c != '.') {
        return Err(if c == ',' { Problem::Shape } else { Problem::Character });
    }
    let (before, behind) = match unsigned.split_once('.') {
        Some((before, behind)) => (before, Some(behind)),
        None => (unsigned, None),
    };
    let fits = match behind {
        Some(behind) => (usize::from(fewest)..=usize::from(most)).contains(&behind.len()) && all_digits(behind),
        None => bare,
    };
    if !fits || before.is_empty() {
        Err(Problem::Shape)
    } else if before.len() > usize::from(whole) {
        Err(Problem::Bounds)
    } else {
        Ok(())
    }
}

fn percent(value: &str) -> Result<(), Problem> {
    decimal(value, false, 3, (1, 2), true)?;
    let (whole, decimals) = value.split_once('.').unwrap_or((value, ""));
    let whole: u16 = whole.parse().map_err(|_| Problem::Shape)?;
    let more = decimals.bytes().any(|c| c != b'0');
    if whole < 100 || whole == 100 && !more { Ok(()) } else { Err(Problem::Bounds) }
}

fn number(value: &str, min: u32, max: u32) -> Result<(), Problem> {
    if !all_digits(value) {
        return Err(Problem::Character);
    }
    let number: u32 = value.parse().map_err(|_| Problem::Bounds)?;
    if (min..=max).contains(&number) { Ok(()) } else { Err(Problem::Bounds) }
}

fn in_this_or_the_last_century(value: &str) -> bool {
    value.starts_with("19") || value.starts_with("20")
}

/// Checks for yyyy-MM-dd and a day that exists in the calendar.
fn day(value: &str) -> Result<(), Problem> {
    let number = |at: std::ops::Range<usize>| {
        value.get(at).filter(|part| all_digits(part)).and_then(|part| part.parse::<u32>().ok())
    };
    let shaped = value.len() == 10 && value.get(4..5) == Some("-") && value.get(7..8) == Some("-");
    let (Some(year), Some(month), Some(day), true) = (number(0..4), number(5..7), number(8..10), shaped) else {
        return Err(Problem::Shape);
    };
    let year = i32::try_from(year).map_err(|_| Problem::Bounds)?;
    NaiveDate::from_ymd_opt(year, month, day).map(|_| ()).ok_or(Problem::Bounds)
}

fn moment(value: &str) -> Result<(), Problem> {
    let (date, time) = value.split_once(' ').ok_or(Problem::Shape)?;
    day(date)?;
    let mut parts = time.split(':');
    for most in [23, 59, 59] {
        let part = parts.next().filter(|part| part.len() == 2 && all_digits(part)).ok_or(Problem::Shape)?;
        number(part, 0, most)?;
    }
    if parts.next().is_none() { Ok(()) } else { Err(Problem::Shape) }
}

fn stamp(value: &str) -> Result<(), Problem> {
    let (local, zone) = value.split_at_checked(19).ok_or(Problem::Shape)?;
    moment(local)?;
    let digits = zone.strip_prefix(['+', '-']).ok_or(Problem::Shape)?;
    let digits = match digits.split_once(':') {
        Some((hours, minutes)) if hours.len() == 2 => format!("{hours}{minutes}"),
        Some(_) => return Err(Problem::Shape),
        None => digits.to_owned(),
    };
    if digits.len() == 4 && all_digits(&digits) { Ok(()) } else { Err(Problem::Shape) }
}

fn phone(value: &str, min: u8, max: u8) -> Result<(), Problem> {
    let Some(rest) = value.strip_prefix(|c: char| c == '+' || c.is_ascii_digit()) else { return Err(Problem::Shape) };
    if !rest.bytes().all(|c| c.is_ascii_digit() || b" .()/-".contains(&c)) {
        Err(Problem::Character)
    } else if rest.len() < usize::from(min) {
        Err(Problem::Short(value.len()))
    } else if rest.len() > usize::from(max) {
        Err(Problem::Long(value.len()))
    } else {
        Ok(())
    }
}

fn iban(value: &str) -> Result<(), Problem> {
    CharacterSet::LettersDigits.check(value, 15, 31)?;
    let fits = value[..2].bytes().all(|c| c.is_ascii_alphabetic()) && all_digits(&value[2..4]);
    if fits { Ok(()) } else { Err(Problem::Shape) }
}

/// Checks for a latitude and a longitude in degrees: 48.1351,11.582. The decimals may be missing, and the total length
/// limits them.
fn coordinates(value: &str) -> Result<(), Problem> {
    const LONGEST: u16 = 20;
    CharacterSet::Text.check(value, 1, LONGEST)?;
    let (latitude, longitude) = value.split_once(',').ok_or(Problem::Shape)?;
    let degrees = |text: &str, most: f64| {
        decimal(text, true, 3, (1, 20), true)?;
        let degrees: f64 = text.parse().map_err(|_| Problem::Shape)?;
        if degrees.abs() <= most { Ok(()) } else { Err(Problem::Bounds) }
    };
    degrees(latitude, 90.0)?;
    degrees(longitude, 180.0)
}

/// Returns the major and the minor number of a version such as `2.1.0`.
pub(super) fn version(value: &str) -> Option<(u32, u32)> {
    let mut parts = value.split('.').map(|part| part.parse::<u32>().ok().filter(|_| all_digits(part)));
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(Some(major)), Some(Some(minor)), Some(Some(_)), None) => Some((major, minor)),
        _ => None,
    }
}

/// Checks for URL-encoded text: visible ASCII without the characters that must be encoded.
fn url(value: &str, min: u16, max: u16) -> Result<(), Problem> {
    CharacterSet::Text.check(value, min, max)?;
    let allowed = |c: u8| c.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&c);
    if value.bytes().all(allowed) { Ok(()) } else { Err(Problem::Character) }
}

/// Checks for a scheme, `://` and at least one more character.
fn is_absolute(value: &str) -> bool {
    let Some((scheme, rest)) = value.split_once("://") else { return false };
    let named = scheme.bytes().all(|c| c.is_ascii_alphanumeric() || b"+-.".contains(&c));
    named && scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && !rest.is_empty() && !rest.starts_with(['/', '?'])
}

fn pairs(value: &str) -> Result<(), Problem> {
    let pairs: std::collections::BTreeMap<String, String> = serde_json::from_str(value).map_err(|_| Problem::Shape)?;
    let named = pairs.keys().all(|name| PAIR_NAME.contains(&name.chars().count()));
    if named && pairs.values().all(|value| PAIR_VALUE.fits(value)) { Ok(()) } else { Err(Problem::Bounds) }
}

fn bearer(value: &str) -> Result<(), Problem> {
    let token = value.strip_prefix("Bearer ").ok_or(Problem::Shape)?;
    if token.is_empty() {
        Err(Problem::Shape)
    } else if token.bytes().all(|c| c.is_ascii_graphic()) {
        Ok(())
    } else {
        Err(Problem::Character)
    }
}
