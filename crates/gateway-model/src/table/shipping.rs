//! The shipping address and method (interface: Shipping address), and the merchant's own address.

use super::{AMOUNT, CharacterSet, Format, OPEN, PHONE, Row, Section, an, c, letters, o, of, one_of, section, text};

const ROWS: &[Row] = &[
    c("shipping.street1", an(100), "street, first line"),
    c("shipping.street2", an(100), "street, second line"),
    o("shipping.houseNumber1", an(100), "house number; street1 is then only the street, and street2 is ignored"),
    o("shipping.houseNumber2", an(100), "addition to the house number; only with houseNumber1"),
    c("shipping.city", of(CharacterSet::NoDigits, 80), "town"),
    c("shipping.state", of(CharacterSet::LettersDigitsDot, 50), "state or county"),
    c("shipping.postcode", of(CharacterSet::LettersDigits, 16), "postcode"),
    c("shipping.country", letters(2), "country, ISO 3166-1"),
    c(
        "shipping.method",
        one_of(&[
            "CARRIER_DESIGNATED_BY_CUSTOMER",
            "ELECTRONIC_DELIVERY",
            "EXPEDITED",
            "GROUND",
            "INTERNATIONAL",
            "LOWEST_COST",
            "MILITARY",
            "NEXT_DAY_OVERNIGHT",
            "OTHER",
            "POINT_PICKUP",
            "PUDO",
            "SAME_DAY_SERVICE",
            "STORE_PICKUP",
            "THREE_DAY_SERVICE",
            "TWO_DAY_SERVICE",
        ]),
        "how the goods are shipped",
    ),
    c("shipping.cost", AMOUNT, "total cost of shipping"),
    c("shipping.comment", an(160), "a note for the carrier"),
    o("shipping.expectedDate", Format::Date, "expected date of delivery"),
    o("shipping.logisticsProvider", an(255), "company that ships the goods"),
    o("shipping.trackingNumber", an(255), "tracking number of the parcel"),
    o("shipping.returnTrackingNumber", an(255), "tracking number of a return parcel"),
    o("shipping.normalized", an(255), "the address as a service normalised it"),
    o("shipping.validationStatus", an(255), "whether the customer confirmed the normalised address"),
    o("shipping.warehouse", an(100), "where the goods were packed"),
    o(
        "shipping.preference",
        one_of(&["GET_FROM_FILE", "NO_SHIPPING", "SET_PROVIDED_ADDRESS"]),
        "which address a wallet shows",
    ),
    o("shipping.middleName", an(OPEN), "middle name"),
    o("shipping.companyName", an(60), "company"),
    o("shipping.phone", PHONE, "telephone"),
    o("shipping.workPhone", an(25), "telephone at work"),
    o("shipping.mobile", PHONE, "mobile telephone"),
    o("shipping.email", text(6, 128), "e-mail"),
    o("shipping.type", one_of(&["RETURN", "SHIPMENT"]), "whether the goods are sent out or returned"),
];

pub(super) const SECTION: Section = section("shipping", "Shipping address", ROWS);

pub(super) const MERCHANT: Section = section("merchant-shipping", "Shipping address: merchant shipping address", ROWS)
    .copied("shipping.", "merchant.shipping.", &[]);
