//! The cart: items, earlier payments for them, and their sellers (interface: Cart items, Cart payments, Marketplace).

use super::{AMOUNT, BOOL, Format, Section, an, c, letters, n, o, one_of, section};

const URL: Format = Format::Url(1, super::OPEN);
const CURRENCY: Format = letters(3);

pub(super) const ITEMS: Section = section(
    "cart",
    "Cart items",
    &[
        c("cart.items[n].name", an(255), "name of the item"),
        c("cart.items[n].merchantItemId", an(255), "the merchant's number of the item"),
        c(
            "cart.items[n].quantity",
            Format::Decimal { signed: false, whole: 12, decimals: (1, 3), bare: true },
            "quantity",
        ),
        c(
            "cart.items[n].type",
            one_of(&["PHYSICAL", "DIGITAL", "MIXED", "ANONYMOUS_DONATION", "AUTHORITIES_PAYMENT"]),
            "kind of item",
        ),
        o("cart.items[n].sku", an(255), "stock-keeping number"),
        c("cart.items[n].currency", CURRENCY, "currency of the item's price, ISO 4217"),
        c("cart.items[n].description", an(2048), "description"),
        o("cart.items[n].commodityCode", n(8), "code of the item in a product classification"),
        o("cart.items[n].commodityDescription", an(50), "meaning of commodityCode"),
        o("cart.items[n].originalPrice", an(255), "unit price before tax and discount"),
        c("cart.items[n].price", AMOUNT, "unit price with tax and discount"),
        c("cart.items[n].totalAmount", AMOUNT, "total price of the item"),
        c("cart.items[n].taxAmount", AMOUNT, "tax per unit"),
        c("cart.items[n].totalTaxAmount", AMOUNT, "total tax of the item"),
        c("cart.items[n].tax", Format::Percent, "tax rate in per cent"),
        c("cart.items[n].taxCategory", one_of(&["AA", "S", "E", "Z"]), "kind of tax, for level 3 data"),
        c("cart.items[n].shipping", AMOUNT, "shipping cost of the item"),
        c("cart.items[n].discount", AMOUNT, "discount in per cent, written as an amount"),
        o("cart.items[n].giftMessage", an(255), "message that accompanies a gift"),
        o("cart.items[n].shippingMethod", an(255), "how the item is shipped"),
        o("cart.items[n].shippingInstructions", an(255), "instructions for the carrier"),
        o("cart.items[n].shippingTrackingNumber", an(255), "tracking number of the parcel"),
        o(
            "cart.items[n].quantityUnit",
            one_of(&["M", "CM", "KG", "G", "COUNT"]),
            "unit of the quantity; pieces if omitted",
        ),
        o("cart.items[n].productUrl", URL, "address of the item's page"),
        o("cart.items[n].imageUrl", URL, "address of the item's picture"),
        o("cart.items[n].totalDiscountAmount", AMOUNT, "total discount on the item"),
        o("cart.items[n].productCode", an(30), "code of the product"),
        o("cart.items[n].partNumber", an(30), "number of the part"),
        o("cart.items[n].itemNumber", Format::Number(1, 999), "line number on the invoice"),
        o("cart.items[n].vatReferenceNumber", an(30), "VAT reference"),
        o("cart.items[n].sellerId", an(255), "id of the marketplace seller who offers the item"),
        o("cart.items[n].recipient.salutation", an(5), "form of address of the recipient"),
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
        o("cart.items[n].deliveryDate", Format::Date, "date of delivery"),
    ],
);

pub(super) const PAYMENTS: Section = section(
    "cart-payments",
    "Cart payments",
    &[
        o("cart.payments[n].name", an(255), "name of an earlier payment for the cart"),
        o("cart.payments[n].type", one_of(&["GIFTCARD", "PROMOTION"]), "kind of payment"),
        o("cart.payments[n].amount", AMOUNT, "amount of the earlier payment"),
        o("cart.payments[n].currency", CURRENCY, "currency of the earlier payment"),
        o("cart.payments[n].status", one_of(&["pending", "authorized", "captured"]), "status of the earlier payment"),
        o("cart.payments[n].brand", an(255), "brand"),
        o("cart.payments[n].primary", BOOL, "whether this is the main payment for the cart"),
    ],
);

pub(super) const MARKETPLACE: Section = section(
    "marketplace",
    "Marketplace",
    &[
        o("marketPlace.sellers[n].id", an(255), "id of a seller; the seller's items have it as sellerId"),
        o("marketPlace.sellers[n].amount", AMOUNT, "amount that this seller receives"),
    ],
);
