//! What a till may still say of an approved transaction that it wanted to confirm itself: whether it takes it.

use serde::{Deserialize, Serialize};

use crate::money::Amount;

/// What a till says of an approved transaction that waits for its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Taken {
    /// It takes all that was approved.
    All,
    /// It takes so much, and the rest is given back.
    Part {
        /// Less than what was approved.
        amount: Amount,
    },
    /// It does not take it: the payment is reversed.
    Nothing,
}

impl Taken {
    /// As programs write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Part { .. } => "part",
            Self::Nothing => "nothing",
        }
    }
}

/// What becomes of it when the till says nothing in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OnSilence {
    /// The payment is reversed.
    #[default]
    Reverse,
    /// It stays approved.
    Keep,
}

impl OnSilence {
    /// As programs write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reverse => "reverse",
            Self::Keep => "keep",
        }
    }
}
