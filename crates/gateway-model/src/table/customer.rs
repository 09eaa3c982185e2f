//! The buyer and the recipient of the goods (interface: Customer).

use super::{BOOL, CharacterSet, Format, PHONE, Row, Section, an, c, n, o, one_of, section, text};

const ROWS: &[Row] = &[
    o("customer.merchantCustomerId", an(255), "the merchant's id of the customer"),
    c("customer.givenName", an(50), "given name; required with any other field of the customer"),
    o("customer.middleName", text(2, 50), "middle name"),
    c("customer.surname", an(50), "surname; required with any other field of the customer"),
    o("customer.sex", one_of(&["M", "F"]), "sex"),
    o("customer.birthDate", Format::Date, "date of birth"),
    o("customer.phone", PHONE, "telephone"),
    o("customer.mobile", PHONE, "mobile telephone"),
    o("customer.workPhone", an(25), "telephone at work"),
    o("customer.email", text(6, 128), "e-mail; risk checks and mandates may need it"),
    o("customer.companyName", an(60), "company"),
    c(
        "customer.identificationDocType",
        one_of(&["IDCARD", "PASSPORT", "TAXSTATEMENT"]),
        "kind of identification document; sent together with its number",
    ),
    c(
        "customer.identificationDocId",
        text(8, 64),
        "number of the identification document; sent together with its kind",
    )
    .secret(),
    o("customer.ip", an(255), "IP address of the customer"),
    o("customer.merchantReference", an(255), "reference of the payer, passed to the payee"),
    o("customer.salutation", one_of(&["MR", "MRS", "MS", "MX"]), "form of address"),
    o("customer.language", Format::Chars(CharacterSet::UpperLetters, 2, 2), "language"),
    o("customer.category", one_of(&["INDIVIDUAL", "COMPANY"]), "person or company"),
    o("customer.browserFingerprint.id", an(255), "id under which the browser's fingerprint is stored"),
    o("customer.browserFingerprint.value", an(4096), "the browser's fingerprint"),
    c("customer.browser.acceptHeader", an(2048), "Accept header of the browser; 3-D Secure 2 needs it"),
    c("customer.browser.language", an(8), "language of the browser, BCP 47; 3-D Secure 2 needs it"),
    c("customer.browser.screenHeight", an(6), "height of the screen in pixels; 3-D Secure 2 needs it"),
    c("customer.browser.screenWidth", an(6), "width of the screen in pixels; 3-D Secure 2 needs it"),
    c("customer.browser.timezone", an(5), "minutes from local time to UTC, positive west of it; 3-D Secure 2 needs it"),
    c("customer.browser.userAgent", an(2048), "User-Agent header of the browser; 3-D Secure 2 needs it"),
    c("customer.browser.javaEnabled", BOOL, "whether the browser runs Java; 3-D Secure 2 needs it"),
    o("customer.browser.screenColorDepth", n(2), "bits per pixel of the screen"),
    o("customer.browser.challengeWindow", n(1), "size of the window for a 3-D Secure challenge"),
    o("customer.browser.deviceId", an(32), "id of the browser's device"),
    o("customer.app.deviceId", an(40), "id of the mobile device"),
    o("customer.status", one_of(&["NEW", "EXISTING"]), "new or existing customer"),
];

pub(super) const SECTION: Section = section("customer", "Customer", ROWS);

pub(super) const SHIPPING: Section = section("shipping-customer", "Customer: shipping customer", ROWS).copied(
    "customer.",
    "shipping.customer.",
    &["customer.browserFingerprint.", "customer.browser.deviceId", "customer.app.deviceId"],
);
