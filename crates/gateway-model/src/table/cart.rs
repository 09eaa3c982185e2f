//! The cart: items, earlier payments for them, and their sellers (interface: Cart items, Cart payments, Marketplace).

use super::{AMOUNT, BOOL, Format, Section, an, c, letters, n, o, one_of, section};

const URL: Format = Format::Url(1, super::OPEN);
const CURRENCY: Format = letters(3);

pub(super) const ITEMS: Section = section(
    "cart",
    "Cart items",
    &[
        c("cart.items[n].name", an(255), "name"),
        c("cart.items[n].merchantItemId", an(255), "our number of it"),
        c(
            "cart.items[n].quantity",
            Format::Decimal { signed: false, whole: 12, decimals: (1, 3), bare: true },
            "how many, or how much",
        ),
        c(
            "cart.items[n].type",
            one_of(&["PHYSICAL", "DIGITAL", "MIXED", "ANONYMOUS_DONATION", "AUTHORITIES_PAYMENT"]),
            "kind of item",
        ),
        o("cart.items[n].sku", an(255), "number in stock"),
        c("cart.items[n].currency", CURRENCY, "currency of its price, ISO 4217"),
        c("cart.items[n].description", an(2048), "description"),
        o("cart.items[n].commodityCode", n(8), "code in a classification of products"),
        o("cart.items[n].commodityDescription", an(50), "what that code means"),
        o("cart.items[n].originalPrice", an(255), "price of one before tax and discount"),
        c("cart.items[n].price", AMOUNT, "price of one with tax and discount"),
        c("cart.items[n].totalAmount", AMOUNT, "price of all"),
        c("cart.items[n].taxAmount", AMOUNT, "tax of one"),
        c("cart.items[n].totalTaxAmount", AMOUNT, "tax of all"),
        c("cart.items[n].tax", Format::Percent, "rate of tax in per cent"),
        c("cart.items[n].taxCategory", one_of(&["AA", "S", "E", "Z"]), "kind of tax, for level 3 data"),
        c("cart.items[n].shipping", AMOUNT, "what shipping it costs"),
        c("cart.items[n].discount", AMOUNT, "discount in per cent, written as an amount"),
        o("cart.items[n].giftMessage", an(255), "words that go with a gift"),
        o("cart.items[n].shippingMethod", an(255), "how it is shipped"),
        o("cart.items[n].shippingInstructions", an(255), "what the carrier must know"),
        o("cart.items[n].shippingTrackingNumber", an(255), "the parcel's number"),
        o(
            "cart.items[n].quantityUnit",
            one_of(&["M", "CM", "KG", "G", "COUNT"]),
            "unit of the quantity; pieces if not said",
        ),
        o("cart.items[n].productUrl", URL, "its page"),
        o("cart.items[n].imageUrl", URL, "its picture"),
        o("cart.items[n].totalDiscountAmount", AMOUNT, "discount on all"),
        o("cart.items[n].productCode", an(30), "code of the product"),
        o("cart.items[n].partNumber", an(30), "number of the part"),
        o("cart.items[n].itemNumber", Format::Number(1, 999), "line on the invoice"),
        o("cart.items[n].vatReferenceNumber", an(30), "VAT reference"),
        o("cart.items[n].sellerId", an(255), "the seller of a marketplace whose item it is"),
        o("cart.items[n].recipient.salutation", an(5), "how to address who gets it"),
        o("cart.items[n].recipient.firstName", an(48), "given name"),
        o("cart.items[n].recipient.middleName", an(50), "middle name"),
        o("cart.items[n].recipient.lastName", an(48), "surname"),
        o("cart.items[n].recipient.apartment", an(100), "apartment"),
        o("cart.items[n].recipient.street", an(100), "first line of the address"),
        o("cart.items[n].recipient.address", an(100), "second line of the address"),
        o("cart.items[n].recipient.city", an(80), "town"),
        o("cart.items[n].recipient.state", an(50), "state or county"),
        o("cart.items[n].recipient.postcode", an(16), "postcode"),
        o("cart.items[n].recipient.country", Format::CountryEither, "country, in letters or as a number"),
        o("cart.items[n].recipient.phone", n(25), "telephone"),
        o("cart.items[n].recipient.email", an(128), "e-mail"),
        o("cart.items[n].deliveryDate", Format::Date, "when it is delivered"),
    ],
);

pub(super) const PAYMENTS: Section = section(
    "cart-payments",
    "Cart payments",
    &[
        o("cart.payments[n].name", an(255), "name of a payment made before"),
        o("cart.payments[n].type", one_of(&["GIFTCARD", "PROMOTION"]), "kind of payment"),
        o("cart.payments[n].amount", AMOUNT, "how much"),
        o("cart.payments[n].currency", CURRENCY, "its currency"),
        o("cart.payments[n].status", one_of(&["pending", "authorized", "captured"]), "how far it is"),
        o("cart.payments[n].brand", an(255), "brand"),
        o("cart.payments[n].primary", BOOL, "whether the cart is mainly paid with it"),
    ],
);

pub(super) const MARKETPLACE: Section = section(
    "marketplace",
    "Marketplace",
    &[
        o("marketPlace.sellers[n].id", an(255), "a seller; its items carry this as sellerId"),
        o("marketPlace.sellers[n].amount", AMOUNT, "what this seller gets"),
    ],
);
