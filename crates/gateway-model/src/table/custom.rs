//! The merchant's own pairs, and data for one domestic scheme (interface: Custom parameters and scheme data).

use super::{CharacterSet, Format, Section, c, n, section, text};

pub(super) const SECTION: Section = section(
    "custom",
    "Custom parameters and scheme data",
    &[
        c(
            "customParameters[name]",
            Format::Chars(CharacterSet::Anything, 0, 2048),
            "our own pair, returned in the answer",
        ),
        c("threeDSecure.schemeData[CB-ITEMSNB]", n(2), "number of items; the domestic French scheme wants it"),
        c("threeDSecure.schemeData[CB-SCORE_MERCHANT]", text(1, 20), "the merchant's own score of the risk"),
        c("threeDSecure.schemeData[CB-USECASE]", n(2), "what the payment is for, as the scheme numbers it"),
    ],
);
