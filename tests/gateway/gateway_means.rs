//! Payments away from the counter at the simulated gateway: each means alone, what is said of it, and what is refused.

use pos_agent::sim::gateway::{HostRules, Kind, Method, Options, State};

use crate::card_reader::Reader;
use crate::gateway_counter::{INVALID, at, text};
use crate::page_shop::{CARD, PageShop};
use crate::shop_client::{Sales, with};

#[tokio::test]
async fn a_typed_card_pays_and_shows_what_it_is() {
    let mut page = PageShop::open().await;
    page.shop.gateway.set_clock(at("2026-11-20T12:00:00Z"));
    for (number, code, brand) in [
        ("4111111111111111", "123", "VISA"),
        ("5555555555554444", "123", "MASTER"),
        ("378282246310005", "1234", "AMEX"),
        ("6011111111111117", "123", "DISCOVER"),
        ("30569309025904", "123", "DINERS"),
        ("3530111333300000", "123", "JCB"),
    ] {
        let card = [("card.number", number), ("card.cvv", code), ("billing.postcode", "12345")];
        let answer = page.paid("10.00", &[CARD, &card]).await;
        assert_eq!((text(&answer, "/paymentBrand"), text(&answer, "/brandResult")), (brand.into(), brand.into()));
        let last4 = &number[number.len() - 4..];
        assert_eq!(
            (text(&answer, "/card/bin"), text(&answer, "/card/last4Digits")),
            (number[..6].into(), last4.into())
        );
        assert_eq!(
            (text(&answer, "/card/holder"), text(&answer, "/card/expiryYear")),
            ("Jane Jones".into(), "2034".into())
        );
        assert_eq!(
            (text(&answer, "/result/cvvResponse"), text(&answer, "/result/avsResponse")),
            ("M".into(), "Z".into())
        );
        for fact in ["/card/issuer/bank", "/card/issuer/phone", "/card/issuer/website", "/card/type", "/card/level"] {
            assert!(!text(&answer, fact).is_empty());
        }
        assert!(answer.get("pos").is_none(), "no terminal took part: {answer}");
        assert!(!answer.to_string().contains(number), "{answer}");
        let entry = page.last_entry();
        assert_eq!((entry.kind, entry.state, entry.method), (Kind::Debit, State::Approved, Method::Card));
        assert!(entry.details.iter().all(|(name, value)| !name.starts_with("card.") && value != number), "{entry:?}");
        // Found by its reference, refunded, and then not again.
        let id = text(&answer, "/id");
        let reference = entry.merchant_transaction_id.unwrap();
        assert_eq!(page.found(&format!("merchantTransactionId={reference}")).await, [id.as_str()]);
        let refund = [("paymentType", "RF"), ("merchantTransactionId", "")];
        let (status, refund) = page.post(&format!("v1/payments/{id}"), &[&refund]).await;
        assert_eq!((status, text(&refund, "/card/last4Digits")), (200, last4.into()));
        assert!(refund.get("pos").is_none());
    }
    // The brand that is named is the card's, and is not detected then.
    let answer = page.paid("10.00", &[CARD, &[("paymentBrand", "VISA")]]).await;
    assert!(answer.get("brandResult").is_none() && text(&answer, "/paymentBrand") == "VISA");
    assert!(answer["result"].get("cvvResponse").is_none(), "no code was sent: {answer}");
    // Reserved and captured; paid out; without a reference.
    let answer = page.paid("10.00", &[CARD, &[("paymentType", "PA"), ("numberOfCaptures", "2")]]).await;
    let (status, _) = page.post(&format!("v1/payments/{}", text(&answer, "/id")), &[&[("paymentType", "CP")]]).await;
    assert_eq!(status, 200);
    page.paid("10.00", &[CARD, &[("paymentType", "CD")]]).await;
    page.paid("10.00", &[CARD, &[("merchantTransactionId", "")]]).await;
}

#[tokio::test]
async fn what_is_wrong_with_a_typed_card() {
    let mut page = PageShop::open().await;
    page.shop.gateway.set_clock(at("2026-11-20T12:00:00Z"));
    for (change, code, name) in [
        // Right by its check digit, and nobody's test card; wrong by it; too short for any.
        (("card.number", "4539578763621486"), "100.100.101", "card.number"),
        (("card.number", "4111111111111112"), "100.100.101", "card.number"),
        (("card.number", "41111111"), "100.100.101", "card.number"),
        (("card.number", ""), INVALID, "card.number"),
        (("card.expiryMonth", ""), INVALID, "card.expiryMonth"),
        (("card.expiryYear", ""), INVALID, "card.expiryYear"),
        (("card.expiryMonth", "13"), INVALID, "card.expiryMonth"),
        (("paymentBrand", "MASTER"), INVALID, "paymentBrand"),
        (("customer.merchantReference", "4111111111111111"), INVALID, "customer.givenName"),
        (("descriptor", "card 4111111111111111"), INVALID, "descriptor"),
        (("paymentType", "CP"), INVALID, "paymentType"),
        (("amount", ""), INVALID, "amount"),
        (("overrideHolder", "true"), INVALID, "overrideHolder"),
        (("overridePaymentType[VISA]", "PA"), INVALID, "overridePaymentType[VISA]"),
        (("integrity", "true"), INVALID, "integrity"),
    ] {
        let answer = page.refused(&[CARD, &[change]], code, name).await;
        assert!(!answer.to_string().contains("4111111111111111") && !answer.to_string().contains("4539578763621486"));
    }
    let refusals = page.shop.gateway.ledger().refusals().join("\n");
    assert!(!refusals.contains("4111111111111111") && !refusals.contains("4539578763621486"), "{refusals}");
    // What an issuer declines is a payment that failed.
    for (change, code) in [
        (("card.cvv", "999"), "800.100.153"),
        (("card.expiryYear", "2025"), "100.100.303"),
        (("card.number", "4761739001010036"), "800.100.165"),
        (("amount", "10.51"), "800.100.155"),
    ] {
        let (status, answer) = page.pay("10.00", &[CARD, &[change]]).await;
        assert_eq!((status, text(&answer, "/result/code").as_str()), (400, code), "{answer}");
        assert_eq!(page.last_entry().state, State::Declined);
    }
}

#[tokio::test]
async fn a_payment_has_one_means() {
    let mut page = PageShop::open().await;
    page.refused(&[], INVALID, "pos.terminalId").await;
    page.refused(&[CARD, &[("tokenAccount.type", "NETWORK")]], INVALID, "tokenAccount.type").await;
    page.refused(&[CARD, &[("giftCard.number", "12345")]], INVALID, "giftCard.number").await;
    page.refused(&[CARD, &[("<wallet_a>.paymentToken", "abc")]], INVALID, "card.number").await;
    // A card that is read and a card that is typed; what is reserved again brings none.
    let form = with(Reader::new().chip_sale("10.00", "two-means-1"), &[("card.number", "4111111111111111")]);
    let (status, answer) = page.shop.pay(&form).await;
    assert_eq!((status, text(&answer, "/result/parameterErrors/0/name").as_str()), (400, "card.number"), "{answer}");
    let held = page.paid("10.00", &[CARD, &[("paymentType", "PA")]]).await;
    let more = [
        ("paymentType", "PA"),
        ("referenceUuid", held["id"].as_str().unwrap()),
        ("standingInstruction.industryPractice", "INCREMENTAL_AUTH"),
    ];
    page.refused(&[CARD, &more], INVALID, "card.number").await;
    page.paid("5.00", &[&more]).await;
    // A capture or refund brings no card either.
    let path = format!("v1/payments/{}", text(&held, "/id"));
    let (status, answer) = page.post(&path, &[CARD, &[("paymentType", "CP")]]).await;
    assert_eq!(
        (status, text(&answer, "/result/parameterErrors/0/name").as_str()),
        (400, "card.expiryMonth"),
        "{answer}"
    );
}

#[tokio::test]
async fn the_faults_of_the_wire_are_those_of_the_counter() {
    let mut page = PageShop::open().await;
    let form = page.form("10.73", &[CARD]);
    assert!(page.shop.send("v1/payments", &form).await.is_err(), "approved, then the line is cut");
    assert_eq!(page.last_entry().state, State::Approved);
    let (_, answer) = page.pay("10.60", &[CARD]).await;
    assert_eq!(text(&answer, "/amount"), "5.30");
    let (status, answer) = page.pay("10.61", &[CARD]).await;
    assert_eq!((status, text(&answer, "/result/code").as_str()), (200, "000.200.000"));
    let path = format!("v1/payments/{}", text(&answer, "/id"));
    assert_eq!(text(&page.shop.get(&path).await.1, "/result/code"), "000.200.000");
    assert_eq!(text(&page.shop.get(&path).await.1, "/result/code"), "000.100.110");
    assert_eq!(page.pay("10.63", &[CARD]).await.1["result"]["code"], "800.120.100");
}

#[tokio::test]
async fn the_other_gateways_take_typed_cards_too() {
    // Literal: a reference once; which parameter failed is not said.
    let mut page = PageShop::with(Options { host_rules: HostRules::Literal, ..Options::default() }).await;
    let own = [("merchantTransactionId", "used-once-1")];
    let own = [&own[..], &[("card.holder", "JONES")]].concat();
    page.paid("10.00", &[CARD, &own]).await;
    let (status, answer) = page.pay("10.00", &[CARD, &own]).await;
    assert_eq!((status, text(&answer, "/result/code").as_str()), (400, "700.300.700"));
    let foreign = [("card.number", "4539578763621486"), ("card.holder", "JONES")];
    let (status, answer) = page.pay("10.00", &[CARD, &foreign]).await;
    assert_eq!((status, text(&answer, "/result/code").as_str()), (400, "100.100.101"));
    assert!(answer["result"].get("parameterErrors").is_none());
    let (status, _) = page.pay("10.00", &[CARD, &[("card.holder", "JONES"), ("shipping.city", "Zürich")]]).await;
    assert_eq!(status, 400, "the letters are A to Z there");
    // Permissive: whatever can be read is booked, and still nobody's own card.
    let mut page = PageShop::with(Options { host_rules: HostRules::Permissive, ..Options::default() }).await;
    page.paid("10.00", &[CARD, &[("taxAmount", "99.00")]]).await;
    page.refused(&[CARD, &[("card.number", "4539578763621486")]], "100.100.101", "card.number").await;
}
