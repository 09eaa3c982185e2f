//! The form of parameter names: words separated by dots, with `[0]` as an index and `[key]` as a key. Some words are
//! settings.
//!
//! A name is parsed once and then compared with the names of the table, which have the same form.

use std::fmt;

use super::format::{Format, PAIR_NAME};
use super::{Call, Need};

/// The maximum length of a name. The longest name in the table has 62 characters, a key has 64, and there are two
/// indexes.
pub(super) const LONGEST: usize = 160;
/// The only list whose indexes have a limit (interface: Cart items; Limits, cart item index). The limit is the next
/// constant.
const ITEMS: &str = "cart.items[n]";
pub(super) const LARGEST_ITEM: usize = 1000;

/// The names that the document leaves open and that settings define. The document's placeholder is the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The prefixes of the wallets a, b and c, in this order.
    pub wallets: Vec<String>,
    /// The names of card schemes in `threeDSecure.v2.<scheme>`; at most six.
    pub schemes: Vec<String>,
}

impl Names {
    /// Creates the names from the settings. A missing name keeps the document's placeholder.
    #[must_use]
    pub fn new(wallets: &[String], schemes: &[String]) -> Self {
        let mut names = Self::default();
        names.wallets.iter_mut().zip(wallets).for_each(|(name, wallet)| name.clone_from(wallet));
        if !schemes.is_empty() {
            names.schemes = schemes.to_vec();
        }
        names
    }
}

impl Default for Names {
    fn default() -> Self {
        Self { wallets: WALLETS.map(str::to_owned).to_vec(), schemes: vec![SCHEME.to_owned()] }
    }
}

/// The wallets, as written in the table.
pub(super) const WALLETS: [&str; 3] = ["<wallet_a>", "<wallet_b>", "<wallet_c>"];
const SCHEME: &str = "<scheme>";

/// The reason why the table has no such name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// No row has this name.
    #[error("unknown")]
    Unknown,
    /// The name is longer than any name.
    #[error("the name is longer than {LONGEST} characters")]
    Long,
    /// A word between dots is empty.
    #[error("the name has an empty part; separate parts with one dot, as in billing.city")]
    EmptyPart,
    /// A bracket is missing, empty, doubled, or in the wrong place.
    #[error("wrong brackets; write an index as cart.items[0].name and a key as customParameters[NAME]")]
    Brackets,
    /// The row has an index or key here, but the name has none.
    #[error("the name needs brackets, as in {0}")]
    Missing(String),
    /// The row has no brackets here.
    #[error("the name has brackets where {0} has none")]
    Surplus(String),
    /// The index is not a number.
    #[error("the index must be a whole number without leading zeros: 0, 1, 2, …")]
    Index,
    /// The index is not a number, or is larger than the index of any item.
    #[error("the index must be a whole number from 0 to {LARGEST_ITEM}")]
    ItemIndex,
    /// The key is not valid for this row.
    #[error("the key in brackets must be {0}")]
    Key(&'static str),
    /// The parameter belongs to other calls.
    #[error("not a parameter of this call, but of {}", list(of))]
    OtherCall {
        /// The calls that have the parameter.
        of: Vec<Call>,
    },
}

fn list(calls: &[Call]) -> String {
    calls.iter().map(|call| call.as_str()).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One word of a name, with the content of its brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment<'a> {
    word: &'a str,
    inside: Option<&'a str>,
}

/// Returns the part before the first dot or bracket.
pub(super) fn first_word(name: &str) -> &str {
    name.split(['.', '[', ']']).next().unwrap_or(name)
}

/// Parses a name.
pub(super) fn parse(name: &str) -> Result<Vec<Segment<'_>>, Unfit> {
    if name.chars().count() > LONGEST {
        return Err(Unfit::Long);
    }
    let mut segments = Vec::new();
    let mut rest = name;
    loop {
        let end = rest.find(['.', '[', ']']).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        if word.is_empty() {
            return Err(if behind.starts_with(['[', ']']) { Unfit::Brackets } else { Unfit::EmptyPart });
        }
        let (inside, behind) = match behind.strip_prefix('[') {
            Some(opened) => {
                let (inside, behind) = opened.split_once(']').ok_or(Unfit::Brackets)?;
                if inside.is_empty() || inside.contains('[') {
                    return Err(Unfit::Brackets);
                }
                (Some(inside), behind)
            }
            None => (None, behind),
        };
        segments.push(Segment { word, inside });
        match behind.strip_prefix('.') {
            Some(next) => rest = next,
            None if behind.is_empty() => return Ok(segments),
            None => return Err(Unfit::Brackets),
        }
    }
}

/// Checks whether a name matches the name of a row.
///
/// # Errors
/// Returns an error if the words match the row but the content of the brackets does not.
pub(super) fn against(pattern: &str, segments: &[Segment<'_>], format: Format, names: &Names) -> Result<bool, Unfit> {
    let mut words = pattern.split('.');
    let mut brackets = Ok(true);
    for (at, segment) in segments.iter().enumerate() {
        let Some(known) = words.next() else {
            // The segment is one of the pairs in a field of pairs.
            let one_more = at + 1 == segments.len() && format == Format::Pairs && segment.inside.is_none();
            return Ok(one_more && PAIR_NAME.contains(&segment.word.chars().count()));
        };
        let (word, inside) = match known.strip_suffix(']').and_then(|known| known.split_once('[')) {
            Some((word, inside)) => (word, Some(inside)),
            None => (known, None),
        };
        if !same(word, segment.word, names) {
            return Ok(false);
        }
        if brackets == Ok(true) {
            brackets = bracket(pattern, inside, segment.inside);
        }
    }
    if words.next().is_none() { brackets } else { Ok(false) }
}

fn same(known: &str, word: &str, names: &Names) -> bool {
    if known == SCHEME {
        return names.schemes.iter().any(|scheme| scheme == word);
    }
    match WALLETS.iter().position(|wallet| *wallet == known) {
        Some(at) => names.wallets.get(at).is_some_and(|wallet| wallet == word),
        None => known == word,
    }
}

fn bracket(pattern: &str, known: Option<&str>, given: Option<&str>) -> Result<bool, Unfit> {
    let (known, given) = match (known, given) {
        (None, None) => return Ok(true),
        (Some(_), None) => return Err(Unfit::Missing(pattern.to_owned())),
        (None, Some(_)) => return Err(Unfit::Surplus(pattern.to_owned())),
        (Some(known), Some(given)) => (known, given),
    };
    match known {
        "n" => {
            let plain = given.bytes().all(|c| c.is_ascii_digit()) && (given == "0" || !given.starts_with('0'));
            if pattern.starts_with(ITEMS) {
                let small = given.parse::<usize>().is_ok_and(|index| index <= LARGEST_ITEM);
                if plain && small { Ok(true) } else { Err(Unfit::ItemIndex) }
            } else if plain {
                Ok(true)
            } else {
                Err(Unfit::Index)
            }
        }
        "brand" => key(given, 1..=32, "", "1 to 32 letters, digits and underscores"),
        "name" | "key" => key(given, 3..=64, ".", "3 to 64 letters, digits, dots and underscores"),
        _ => Ok(known == given),
    }
}

fn key(given: &str, length: std::ops::RangeInclusive<usize>, more: &str, rule: &'static str) -> Result<bool, Unfit> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || more.contains(c);
    if length.contains(&given.len()) && given.chars().all(allowed) { Ok(true) } else { Err(Unfit::Key(rule)) }
}

/// Returns an external name in a form that may be shown: shortened, and without control characters. If it has more
/// digits than two item indexes have, the digits are hidden, because they could be a card number in the wrong place.
#[must_use]
pub fn shown(name: &str) -> String {
    const LONGEST_SHOWN: usize = 96;
    let hide = name.chars().filter(|c| c.is_numeric()).count() > 2 * LARGEST_ITEM.to_string().len();
    let show = |c: char| match c {
        c if c.is_control() => '\u{FFFD}',
        c if hide && c.is_numeric() => '*',
        c => c,
    };
    let more = if name.chars().nth(LONGEST_SHOWN).is_some() { "…" } else { "" };
    name.chars().take(LONGEST_SHOWN).map(show).chain(more.chars()).collect()
}
