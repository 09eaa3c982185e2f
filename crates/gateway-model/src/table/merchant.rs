//! The merchant who accepts the payment (interface: Merchant).

use super::{CharacterSet, Format, Section, an, letters, n, o, of, section};

const VALUE: Format = Format::Chars(CharacterSet::Anything, 0, 2048);

pub(super) const SECTION: Section = section(
    "merchant",
    "Merchant (acceptor)",
    &[
        o("merchant.name", an(100), "name on the statement, usually its first line"),
        o("merchant.mcc", of(CharacterSet::LettersDigits, 4), "merchant category code"),
        o("merchant.street", an(100), "street"),
        o("merchant.city", an(100), "second line on the statement: town, or how to reach the merchant"),
        o("merchant.state", an(50), "state or county"),
        o("merchant.countryCode", n(3), "country as a number, ISO 3166-1"),
        o("merchant.country", letters(2), "country, ISO 3166-1"),
        o("merchant.postcode", of(CharacterSet::LettersDigitsHyphen, 16), "postcode"),
        o("merchant.geographicCoordinates", Format::Coordinates, "latitude and longitude"),
        o("merchant.serviceLocationCity", an(100), "town where the service was provided, if different"),
        o("merchant.serviceLocationState", an(50), "state where the service was provided"),
        o("merchant.serviceLocationCountryCode", an(3), "country where the service was provided"),
        o("merchant.serviceLocationPostCode", an(16), "postcode where the service was provided"),
        o(
            "merchant.serviceLocationGeographicCoordinates",
            Format::Coordinates,
            "latitude and longitude of the place where the service was provided",
        ),
        o("merchant.additionalContact", an(255), "another way to reach the merchant"),
        o("merchant.phone", an(25), "telephone"),
        o("merchant.customerContactPhone", an(25), "telephone for customers"),
        o("merchant.websiteId", an(255), "random id of the shop's session, new for each transaction"),
        o("merchant.url", an(255), "web site"),
        o("merchant.partnerIdCode", an(60), "id of the partner"),
        o("merchant.isoId", an(255), "id of the independent sales organisation"),
        o("merchant.payFacId", an(255), "id of the payment facilitator"),
        o("merchant.payFacName", an(255), "name of the payment facilitator"),
        o("merchant.submerchantId", an(100), "the facilitator's id of the merchant; for one card scheme only"),
        o("merchant.marketplaceId", an(255), "id of the marketplace"),
        o("merchant.taxId", an(60), "tax number"),
        o("merchant.data[key]", VALUE, "further data about the merchant"),
        o("merchant.foreignRetailIndicator", an(25), "whether the seller is abroad"),
        o("merchant.legalName", an(100), "registered name of the merchant"),
        o("merchant.app.schemeUrl", an(255), "address that opens the merchant's app"),
    ],
);
