//! The till's answer about an approved transaction that it wants to confirm: the amount that it accepts.

use serde::{Deserialize, Serialize};

use crate::money::Amount;

/// The till's answer about an approved transaction that waits for this answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Taken {
    /// The till accepts the full approved amount.
    All,
    /// The till accepts this amount, and the rest is refunded.
    Part {
        /// The accepted amount, which is less than the approved amount.
        amount: Amount,
    },
    /// The till accepts nothing, and the payment is reversed.
    Nothing,
}

impl Taken {
    /// Returns the word that programs use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Part { .. } => "part",
            Self::Nothing => "nothing",
        }
    }
}

/// The action if the till does not answer in time.
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
    /// Returns the word that programs use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reverse => "reverse",
            Self::Keep => "keep",
        }
    }
}
