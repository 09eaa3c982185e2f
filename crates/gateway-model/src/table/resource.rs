//! Identifiers of the resources (interface: Resources and their fields).

use super::{Binds, Call, CharacterSet, Format, ID, Section, c, r, section};

pub(super) const SECTION: Section = section(
    "resource",
    "Resources and their fields",
    &[
        r("id", Format::Chars(CharacterSet::LettersDigitsDotHyphen, 32, 48), "a checkout, as in its path")
            .of(Call::Checkout),
        r("id", ID, "a payment, as in its path"),
        r("id", ID, "stored payment data").of(Call::Registration),
        c("registrationId", ID, "payment data that this payment stored"),
    ],
)
.response()
.binds(Binds::Always(&[
    Call::Payment,
    Call::FollowUp,
    Call::ByRegistration,
    Call::Increment,
    Call::Checkout,
    Call::Registration,
]));
