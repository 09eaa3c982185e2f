//! Identifiers of the resources (interface: Resources and their fields).

use super::{Binds, Call, CharacterSet, Format, ID, Section, c, r, section};

pub(super) const SECTION: Section = section(
    "resource",
    "Resources and their fields",
    &[
        r("id", Format::Chars(CharacterSet::LettersDigitsDotHyphen, 32, 48), "id of a checkout, as in its path")
            .of(Call::Checkout),
        r("id", ID, "id of a payment, as in its path"),
        r("id", ID, "id of the stored payment data").of(Call::Registration),
        c("registrationId", ID, "id of the payment data that this payment stored"),
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
