//! The requests and answers of tills about closes of day.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use pos_core::counter::Close;
use pos_terms::transaction::{Reference, Who};

/// A request for a close.
#[derive(Clone, Debug)]
pub struct CloseAsked {
    /// The till that requests the close.
    pub till: String,
    /// The till's own reference. A repeated request with the same reference returns the same close.
    pub reference: Option<Reference>,
    /// The author of the request.
    pub by: Who,
    /// True to print the close as soon as it is recorded.
    pub print: bool,
}

/// A close as the answer to its request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CloseView {
    /// The close.
    #[serde(flatten)]
    pub close: Close,
    /// True if the reference was already known. Then no new close was made or printed.
    pub replayed: bool,
    /// The reason why the close is not printed, although the request asked for it. The close is recorded anyway, and
    /// can be printed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_printed: Option<String>,
}

/// The choice of a close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhichClose {
    /// The latest close.
    Last,
    /// The close with this number.
    Number(u64),
    /// The next close, as it would be now. It is shown but not made.
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

/// A close and its slip.
#[derive(Clone, Debug)]
pub struct ShownClose {
    /// The close.
    pub close: Close,
    /// The slip as lines of text.
    pub text: String,
}
