//! Every group of the data model at the simulated gateway. A payment accepts the group, the ledger keeps it, and the
//! answer returns it. If a value breaks a rule, the refusal names the parameter. The tests cover payments at the
//! counter, payments away from it, and follow-up payments.

use serde_json::Value;

use crate::gateway_counter::{Counter, INVALID, text};
use crate::page_shop::{CARD, PageShop};

/// A group: the parameters that are sent, and pointers to the values that the answer returns.
type Group = (&'static [(&'static str, &'static str)], &'static [(&'static str, &'static str)]);

/// One example of each group of the data model, in the model's order.
const GROUPS: &[Group] = &[
    (
        &[
            ("taxAmount", "1.60"),
            ("discountAmount", "0.50"),
            ("descriptor", "Corner shop"),
            ("merchantInvoiceId", "invoice-0001"),
            ("merchantMemo", "table seven"),
            ("transactionCategory", "EC"),
            ("promotionCode", "AUTUMN2026"),
            ("locale", "de_DE"),
            ("transactionPurposeCode", "ISSUE12"),
            ("integrationType", "SERVER"),
            ("transactionBai", "AA"),
            ("transactionTti", "C07"),
            ("transactionProcessingCode", "PURCHASE"),
            ("lifecycleId", "cycle-1"),
        ],
        &[
            ("/taxAmount", "1.60"),
            ("/descriptor", "Corner shop"),
            ("/promotionCode", "AUTUMN2026"),
            ("/transactionPurposeCode", "ISSUE12"),
            ("/integrationType", "SERVER"),
            ("/transactionBai", "AA"),
            ("/transactionTti", "C07"),
            ("/transactionProcessingCode", "PURCHASE"),
        ],
    ),
    (&[("forex.amount", "11.50"), ("forex.currency", "USD")], &[("/forex/currency", "USD")]),
    (
        &[
            ("customer.givenName", "Jane"),
            ("customer.surname", "Jones"),
            ("customer.email", "jane@shop.test"),
            ("customer.identificationDocType", "PASSPORT"),
            ("customer.identificationDocId", "C01X00T47"),
            ("shipping.customer.givenName", "Jack"),
            ("shipping.customer.surname", "Jones"),
        ],
        &[("/customer/surname", "Jones"), ("/shipping/customer/givenName", "Jack")],
    ),
    (
        &[
            ("billing.street1", "1 Test Street"),
            ("billing.postcode", "12345"),
            ("billing.country", "DE"),
            ("merchant.billing.city", "Bonn"),
            ("merchant.billing.companyName", "Corner Shop Ltd"),
        ],
        &[("/billing/street1", "1 Test Street"), ("/merchant/billing/city", "Bonn")],
    ),
    (
        &[
            ("shipping.street1", "Long Lane"),
            ("shipping.houseNumber1", "7"),
            ("shipping.city", "Bonn"),
            ("shipping.method", "PUDO"),
            ("shipping.cost", "3.90"),
            ("shipping.type", "SHIPMENT"),
            ("merchant.shipping.warehouse", "North"),
        ],
        &[("/shipping/method", "PUDO"), ("/shipping/cost", "3.90"), ("/merchant/shipping/warehouse", "North")],
    ),
    (&[("corporate.name", "Firm"), ("corporate.purchase", "Y")], &[("/corporate/purchase", "Y")]),
    (
        &[
            ("sender.name", "Sam Sender"),
            ("sender.country", "DEU"),
            ("sender.sourceOfFunds", "05"),
            ("recipient.givenName", "Rita"),
            ("recipient.accountNumberType", "IBAN"),
        ],
        &[("/sender/country", "DEU"), ("/recipient/givenName", "Rita")],
    ),
    (
        &[
            ("merchant.name", "SHOP*Tea"),
            ("merchant.mcc", "5812"),
            ("merchant.countryCode", "276"),
            ("merchant.geographicCoordinates", "50.7374,7.0982"),
            ("merchant.payFacId", "facilitator-1"),
            ("merchant.submerchantId", "sub-17"),
            ("merchant.isoId", "iso-1"),
            ("merchant.marketplaceId", "market-1"),
            ("merchant.legalName", "Corner Shop Ltd"),
            ("merchant.data[till.number]", "4"),
            ("merchant.app.schemeUrl", "cornershop://pay"),
        ],
        &[
            ("/merchant/name", "SHOP*Tea"),
            ("/merchant/submerchantId", "sub-17"),
            ("/merchant/data/till.number", "4"),
            ("/merchant/app/schemeUrl", "cornershop://pay"),
        ],
    ),
    (
        &[
            ("cart.items[0].name", "Tea"),
            ("cart.items[0].quantity", "2"),
            ("cart.items[0].price", "2.50"),
            ("cart.items[0].taxCategory", "S"),
            ("cart.items[0].sellerId", "seller-1"),
            ("cart.items[1].name", "Cake"),
            ("cart.items[1].recipient.city", "Ulm"),
            ("cart.payments[0].type", "GIFTCARD"),
            ("cart.payments[0].amount", "5.00"),
            ("cart.payments[0].status", "captured"),
            ("marketPlace.sellers[0].id", "seller-1"),
            ("marketPlace.sellers[0].amount", "5.00"),
        ],
        &[
            ("/cart/items/0/name", "Tea"),
            ("/cart/items/1/recipient/city", "Ulm"),
            ("/cart/payments/0/status", "captured"),
            ("/marketPlace/sellers/0/amount", "5.00"),
        ],
    ),
    (
        &[
            ("airline.bookingRefNum", "QX81AB"),
            ("airline.totalFareAmount", "9.00"),
            ("airline.passengers[0].name", "Jane Jones"),
            ("airline.passengers[0].legs[0].flightNumber", "QX17"),
            ("airline.passengers[0].legs[1].arrivalAirport", "ULM"),
        ],
        &[
            ("/airline/bookingRefNum", "QX81AB"),
            ("/airline/passengers/0/legs/0/flightNumber", "QX17"),
            ("/airline/passengers/0/legs/1/arrivalAirport", "ULM"),
        ],
    ),
    (
        &[("customParameters[a.b_c]", "x = y & z"), ("customParameters[123]", "")],
        &[("/customParameters/a.b_c", "x = y & z")],
    ),
    (&[("giftCard.message", "Happy birthday"), ("giftCard.type", "BIRTHDAY")], &[("/giftCard/type", "BIRTHDAY")]),
    (
        &[
            ("risk.amount", "10.00"),
            ("risk.channelId", "web"),
            ("risk.orderTimestamp", "2026-11-20 12:00:00"),
            ("risk.parameters[basket.age]", "3"),
        ],
        &[("/risk/score", "+00100"), ("/risk/parameters/basket.age", "3")],
    ),
];

fn all() -> Vec<(&'static str, &'static str)> {
    GROUPS.iter().flat_map(|(sent, _)| sent.iter().copied()).collect()
}

fn given_back(answer: &Value, back: &[(&str, &str)]) {
    for (pointer, value) in back {
        assert_eq!(text(answer, pointer), *value, "{pointer}");
    }
}

#[tokio::test]
async fn each_group_is_taken_kept_and_given_back() {
    let mut page = PageShop::open().await;
    for (sent, back) in GROUPS {
        let answer = page.paid("10.00", &[CARD, sent]).await;
        given_back(&answer, back);
        let kept = page.last_entry().details;
        for (name, value) in sent.iter().filter(|(_, value)| !value.is_empty()) {
            // Only the risk check uses an identity document, so the ledger does not keep it.
            let is_kept = kept.contains(&((*name).to_owned(), (*value).to_owned()));
            assert_eq!(is_kept, *name != "customer.identificationDocId", "{name}: {kept:?}");
        }
        // A later retrieval returns the same values.
        let (_, later) = page.shop.get(&format!("v1/payments/{}", text(&answer, "/id"))).await;
        given_back(&later, back);
    }
    let answer = page.paid("10.00", &[CARD, &all()]).await;
    GROUPS.iter().for_each(|(_, back)| given_back(&answer, back));
    // The longest cart that the interface permits.
    let items: Vec<(String, &str)> = (0..=1000).map(|n| (format!("cart.items[{n}].name"), "Tea")).collect();
    let items: Vec<(&str, &str)> = items.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let answer = page.paid("10.00", &[CARD, &items]).await;
    assert_eq!(answer["cart"]["items"].as_array().map(Vec::len), Some(1001));
    page.refused(&[CARD, &[("cart.items[1001].name", "Tea")]], INVALID, "cart.items[1001].name").await;
    // A list without a maximum is kept as it was sent. In the answer it has at most the length that this gateway
    // permits.
    let far = [("airline.passengers[99].name", "Jane"), ("airline.passengers[4000000000].name", "Jack")];
    let answer = page.paid("10.00", &[CARD, &far]).await;
    assert_eq!(answer["airline"]["passengers"].as_array().map(Vec::len), Some(100));
    assert_eq!(page.last_entry().details.iter().filter(|(name, _)| name.starts_with("airline.")).count(), 2);
}

#[tokio::test]
async fn each_group_is_taken_at_the_counter_too() {
    let mut counter = Counter::open().await;
    let (status, answer) = counter.pay("DB", "10.00", &all()).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(text(&answer, "/customParameters/a.b_c"), "x = y & z");
    assert!(answer.get("cart").is_none(), "a terminal has no use for its own cart: {answer}");
    let kept = counter.shop.gateway.ledger().entries()[0].details.clone();
    assert!(kept.iter().any(|(name, value)| name == "cart.items[1].name" && value == "Cake"));
    assert!(kept.iter().all(|(name, _)| !name.starts_with("pos.")), "{kept:?}");
}

#[tokio::test]
async fn captures_and_refunds_take_what_is_theirs() {
    let mut page = PageShop::open().await;
    let more: Vec<_> =
        all().into_iter().filter(|(name, _)| !name.starts_with("giftCard.") && !name.starts_with("forex.")).collect();
    let held = page.paid("10.00", &[CARD, &[("paymentType", "PA")]]).await;
    let path = format!("v1/payments/{}", text(&held, "/id"));
    let (status, capture) =
        page.post(&path, &[&more, &[("paymentType", "CP"), ("amount", "10.00"), ("sequence", "FINAL")]]).await;
    assert_eq!((status, text(&capture, "/cart/items/0/name").as_str()), (200, "Tea"), "{capture}");
    assert_eq!((text(&capture, "/shipping/method"), text(&capture, "/taxAmount")), ("PUDO".into(), "1.60".into()));
    assert!(page.last_entry().details.contains(&("taxAmount".to_owned(), "1.60".to_owned())));
    let path = format!("v1/payments/{}", text(&capture, "/id"));
    let (status, refund) =
        page.post(&path, &[&[("paymentType", "RF"), ("cart.items[0].name", "Tea"), ("taxAmount", "0.16")]]).await;
    assert_eq!((status, text(&refund, "/cart/items/0/name").as_str()), (200, "Tea"));
    // The tax may not exceed the amount. A follow-up payment may not ask a customer, read a card or store data.
    for (name, value) in [
        ("taxAmount", "1.01"),
        ("giftCard.message", "Hello"),
        ("threeDSecure.eci", "05"),
        ("shopperResultUrl", "https://shop.test/result"),
        ("pos.encryptedSred.data", "00"),
        ("createRegistration", "true"),
        ("job.hour", "8"),
        ("integrity", "yes"),
    ] {
        let before = page.entries();
        let (status, answer) = page.post(&path, &[&[("paymentType", "RF"), (name, value)]]).await;
        assert_eq!((status, text(&answer, "/result/parameterErrors/0/name").as_str()), (400, name), "{answer}");
        assert_eq!(page.entries(), before);
    }
}

#[tokio::test]
async fn what_breaks_a_rule_of_its_group_is_refused_by_name() {
    let mut page = PageShop::open().await;
    for (sent, name) in [
        (&[("taxAmount", "10.01")][..], "taxAmount"),
        (&[("promotionCode", "TWO WORDS")], "promotionCode"),
        (&[("transactionProcessingCode", "GIFT")], "transactionProcessingCode"),
        (&[("transactionProcessingCode", "PAYMENT")], "transactionProcessingCode"),
        (&[("sequence", "FINAL")], "sequence"),
        (&[("numberOfCaptures", "2")], "numberOfCaptures"),
        (&[("forex.amount", "11.50")], "forex.currency"),
        (&[("customer.email", "jane@shop.test")], "customer.givenName"),
        (
            &[
                ("customer.givenName", "Jane"),
                ("customer.surname", "Jones"),
                ("customer.identificationDocType", "PASSPORT"),
            ],
            "customer.identificationDocId",
        ),
        (&[("billing.street1", "12"), ("billing.street2", "34")], "billing.street1"),
        (&[("shipping.houseNumber2", "7")], "shipping.houseNumber1"),
        (&[("shipping.cost", "10.01")], "shipping.cost"),
        (&[("shipping.method", "BY_BOAT")], "shipping.method"),
        (&[("corporate.purchase", "MAYBE")], "corporate.purchase"),
        (&[("sender.sourceOfFunds", "10")], "sender.sourceOfFunds"),
        (&[("recipient.accountNumberType", "PIGGY_BANK")], "recipient.accountNumberType"),
        (&[("merchant.geographicCoordinates", "91.0,0.0")], "merchant.geographicCoordinates"),
        (&[("merchant.data[a]", "1")], "merchant.data[a]"),
        (&[("cart.items[0].quantity", "1.2345")], "cart.items[0].quantity"),
        (&[("cart.payments[0].status", "lost")], "cart.payments[0].status"),
        (&[("cart.items[0].sellerId", "b"), ("marketPlace.sellers[0].id", "a")], "cart.items[0].sellerId"),
        (&[("marketPlace.sellers[0].amount", "10.01")], "marketPlace.sellers[0].amount"),
        (&[("airline.passengers[0].residenceCountry", "DEU")], "airline.passengers[0].residenceCountry"),
        (&[("customParameters[ab]", "1")], "customParameters[ab]"),
        (&[("giftCard.type", "TUESDAY")], "giftCard.type"),
        (&[("risk.amount", "1")], "risk.amount"),
        (&[("standingInstruction.mode", "INITIAL")], "standingInstruction.type"),
        (&[("threeDSecure.challengeIndicator", "04")], "threeDSecure.exemptionFlag"),
        (&[("recurringMigration.paymentType", "DB")], "recurringMigration.paymentType"),
        (&[("job.hour", "24")], "job.hour"),
        (&[("Authorization", "Bearer abcdef")], "Authorization"),
    ] {
        page.refused(&[CARD, sent], INVALID, name).await;
    }
}
