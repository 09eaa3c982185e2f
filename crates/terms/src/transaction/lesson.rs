//! The training results: the outcomes that a cashier can choose in a transaction of training. None of them moves money.

use serde::{Deserialize, Serialize};

macro_rules! lessons {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// The training result, one of a closed list.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
        pub enum Lesson { $($(#[$doc])* #[serde(rename = $word)] $name,)* }

        impl Lesson {
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

lessons! {
    /// The full amount is approved.
    Approved = "approved",
    /// The bank declines.
    Declined = "declined",
    /// The bank approves half of it. If the till takes no part, it is reversed.
    Partial = "partial",
    /// Approved, and the signature must be compared.
    Signature = "signature",
    /// The bank's answer is lost: unconfirmed, and then reversed, or, for a kind without a card, carried out.
    Unconfirmed = "unconfirmed",
    /// The customer presses the cancel key.
    Cancelled = "cancelled",
    /// No card is presented.
    NoCard = "no-card",
    /// The gateway cannot be reached.
    NotSent = "not-sent",
    /// The card refuses after the bank has approved: it is reversed.
    Reversed = "reversed",
    /// The last two digits of the amount choose one of the others.
    ByAmount = "by-amount",
}
