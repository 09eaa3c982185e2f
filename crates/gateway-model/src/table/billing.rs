//! The billing address (interface: Billing address), and the merchant's own address.

use super::{CharacterSet, Format, OPEN, Row, Section, an, c, o, of, section, text};

const ROWS: &[Row] = &[
    c("billing.street1", an(100), "street, first line; 3-D Secure 2 needs it"),
    c("billing.street2", an(100), "street, second line; both lines together must not be only digits"),
    o("billing.houseNumber1", an(100), "house number; street1 is then only the street, and street2 is ignored"),
    o("billing.houseNumber2", an(100), "addition to the house number; only with houseNumber1"),
    c("billing.city", an(80), "town; 3-D Secure 2 needs it"),
    c("billing.state", of(CharacterSet::LettersDigitsDot, 50), "state or county"),
    c("billing.postcode", of(CharacterSet::LettersDigits, 16), "postcode; 3-D Secure 2 needs it"),
    c("billing.country", Format::Chars(CharacterSet::UpperLetters, 2, 2), "country, ISO 3166-1; 3-D Secure 2 needs it"),
    o("billing.normalized", an(255), "the address as a service normalised it"),
    o("billing.validationStatus", an(255), "whether the customer confirmed the normalised address"),
];

pub(super) const SECTION: Section = section("billing", "Billing address", ROWS);

pub(super) const MERCHANT: Section = section("merchant-billing", "Billing address: merchant billing address", ROWS)
    .copied("billing.", "merchant.billing.", &[]);

pub(super) const MERCHANT_MORE: Section = section(
    "merchant-billing",
    "Billing address: merchant billing address",
    &[
        o("merchant.billing.givenName", an(OPEN), "given name"),
        o("merchant.billing.surname", an(OPEN), "surname"),
        o("merchant.billing.middleName", an(OPEN), "middle name"),
        o("merchant.billing.companyName", an(60), "company"),
        o("merchant.billing.phone", an(25), "telephone"),
        o("merchant.billing.workPhone", an(25), "telephone at work"),
        o("merchant.billing.mobile", Format::Phone(5, 25), "mobile telephone"),
        o("merchant.billing.email", text(6, 128), "e-mail"),
    ],
);
