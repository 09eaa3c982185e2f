//! Closes of day, as tills ask for them and see them.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use pos_core::counter::Close;
use pos_terms::transaction::{Reference, Who};

/// A wish for a close.
#[derive(Clone, Debug)]
pub struct CloseAsked {
    /// The till that asks.
    pub till: String,
    /// Its own reference: the same one again is the same close.
    pub reference: Option<Reference>,
    /// Who asks.
    pub by: Who,
    /// Print it as soon as it is recorded.
    pub print: bool,
}

/// A close as the answer to the wish for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CloseView {
    /// It.
    #[serde(flatten)]
    pub close: Close,
    /// Whether this answers a reference that was known already: nothing was made, and nothing printed.
    pub replayed: bool,
    /// Why it is not being printed although that was wanted. It is recorded all the same, and can be printed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_printed: Option<String>,
}

/// Which close is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhichClose {
    /// The latest.
    Last,
    /// The one of this number.
    Number(u64),
    /// The next one, as it would be by now; it is not made.
    Open,
}

impl FromStr for WhichClose {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        match text {
            "last" => Ok(Self::Last),
            "open" => Ok(Self::Open),
            number => number.parse().map(Self::Number),
        }
    }
}

impl fmt::Display for WhichClose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last => f.write_str("last"),
            Self::Open => f.write_str("open"),
            Self::Number(number) => number.fmt(f),
        }
    }
}

/// A close with its slip.
#[derive(Clone, Debug)]
pub struct ShownClose {
    /// It.
    pub close: Close,
    /// What is printed of it, as lines of text.
    pub text: String,
}
