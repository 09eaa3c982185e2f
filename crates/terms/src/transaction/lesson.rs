//! What is to happen in a transaction of training: the outcome that a cashier wants to see. No money moves by any of
//! them.

use serde::{Deserialize, Serialize};

macro_rules! lessons {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// One of a closed list.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
        pub enum Lesson { $($(#[$doc])* #[serde(rename = $word)] $name,)* }

        impl Lesson {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// As programs write it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

lessons! {
    /// All of it is approved.
    Approved = "approved",
    /// The bank declines.
    Declined = "declined",
    /// The bank approves the half; where the till takes no part, it is taken back.
    Partial = "partial",
    /// Approved, and the signature is to be compared.
    Signature = "signature",
    /// The bank's answer is lost: unconfirmed, and then taken back, or, of what needs no card, carried out.
    Unconfirmed = "unconfirmed",
    /// The customer presses the cancel key.
    Cancelled = "cancelled",
    /// Nobody presents a card.
    NoCard = "no-card",
    /// The gateway cannot be reached.
    NotSent = "not-sent",
    /// The card refuses after the bank has approved: it is taken back.
    Reversed = "reversed",
    /// The last two digits of the amount choose one of the others.
    ByAmount = "by-amount",
}
