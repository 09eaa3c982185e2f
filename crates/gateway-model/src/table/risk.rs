//! Risk checks (interface: Risk).

use super::{AMOUNT, CharacterSet, Format, Section, an, o, section};

pub(super) const SECTION: Section = section(
    "risk",
    "Risk",
    &[
        o("risk.channelId", an(255), "channel of the risk system; one service reads 12 characters of it"),
        o("risk.serviceId", an(255), "service of the risk system; one service reads 1 character of it"),
        o("risk.amount", AMOUNT, "amount to assess; 3-D Secure then uses it too"),
        o("risk.orderTimestamp", Format::Moment, "time of the order, if not now"),
        o("risk.brand", an(255), "brand to assess, if not paymentBrand"),
        o(
            "risk.parameters[name]",
            Format::Chars(CharacterSet::Anything, 0, 2048),
            "a pair of the merchant's own, for the risk system",
        ),
        o("risk.merchantWebsite", an(60), "the merchant's web site"),
        o("risk.accountToken", an(64), "the merchant's token for the account").secret(),
    ],
);
