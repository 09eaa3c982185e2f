//! The training results, from which a cashier chooses the outcome of a training transaction. None of them moves money.

use serde::{Deserialize, Serialize};

macro_rules! training_results {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// The training result, one of a closed list.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
        pub enum TrainingResult { $($(#[$doc])* #[serde(rename = $word)] $name,)* }

        impl TrainingResult {
            /// All training results.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns the word that programs use.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

training_results! {
    /// The full amount is approved.
    Approved = "approved",
    /// The bank declines.
    Declined = "declined",
    /// The bank approves half of the amount. If the till accepts no partial approval, the payment is reversed.
    Partial = "partial",
    /// Approved, and the signature must be compared.
    Signature = "signature",
    /// The bank's answer is lost. The transaction is unconfirmed and then reversed, or, for a kind without a card,
    /// carried out.
    Unconfirmed = "unconfirmed",
    /// The customer presses the cancel key.
    Cancelled = "cancelled",
    /// No card is presented.
    NoCard = "no-card",
    /// The gateway cannot be reached.
    NotSent = "not-sent",
    /// The card refuses after the bank's approval, and the payment is reversed.
    Reversed = "reversed",
    /// The last two digits of the amount select one of the other results.
    ByAmount = "by-amount",
}
