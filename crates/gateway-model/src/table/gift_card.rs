//! Gift cards (interface: Gift card).

use super::{Format, Section, o, one_of, section, text};

const TEXT: Format = text(2, 255);

pub(super) const SECTION: Section = section(
    "gift-card",
    "Gift card",
    &[
        o("giftCard.number", TEXT, "number of the gift card").secret(),
        o("giftCard.pin", TEXT, "PIN of the gift card").secret(),
        o("giftCard.holder", TEXT, "holder of the gift card"),
        o("giftCard.message", text(2, 160), "message that accompanies the gift card"),
        o(
            "giftCard.type",
            one_of(&[
                "ANNIVERSARY",
                "BIRTHDAY",
                "CONGRATULATIONS",
                "APRIL_FOOLS_DAY",
                "EASTER",
                "FATHERS_DAY",
                "GRADUATION",
                "HOLIDAY",
                "SEASONS_GREETINGS",
                "PASSOVER",
                "KWANZAA",
                "HALLOWEEN",
                "MOTHERS_DAY",
                "NEW_YEARS_DAY",
                "BOSSES_DAY",
                "ST_PATRICKS_DAY",
                "SWEETEST_DAY",
                "CHRISTMAS",
                "BABY_SHOWER",
                "THANKSGIVING",
                "OTHER",
                "VALENTINES_DAY",
                "WEDDING",
                "SECRETARYS_DAY",
                "CHINESE_NEW_YEAR",
                "HANUKKAH",
                "CELEBRATE_FALL",
                "GRANDPARENTS_DAY",
                "INDEPENDENCE_DAY",
            ]),
            "occasion",
        ),
    ],
);
