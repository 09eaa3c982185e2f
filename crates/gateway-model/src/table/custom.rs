//! The merchant's own pairs, and data for one domestic scheme (interface: Custom parameters and scheme data).

use super::{CharacterSet, Format, Section, c, n, section, text};

pub(super) const SECTION: Section = section(
    "custom",
    "Custom parameters and scheme data",
    &[
        c(
            "customParameters[name]",
            Format::Chars(CharacterSet::Anything, 0, 2048),
            "a pair of the merchant's own, returned in the answer",
        ),
        c("threeDSecure.schemeData[CB-ITEMSNB]", n(2), "number of items, for the domestic French scheme"),
        c("threeDSecure.schemeData[CB-SCORE_MERCHANT]", text(1, 20), "the merchant's own risk score"),
        c("threeDSecure.schemeData[CB-USECASE]", n(2), "purpose of the payment, as a number of the scheme"),
    ],
);
