//! Cards at the simulated gateway: stored, used for payments, deleted, and covered by standing instructions. Card
//! numbers typed by hand are tested too, with the result letters of the address check and the security-code check.

use crate::card_reader;
use crate::gateway_counter::{Counter, INVALID, at, read, refusal, text};
use crate::shop_client::{sealed_sale, with};

#[tokio::test]
async fn a_card_is_stored_with_a_sale_paid_with_and_deleted() {
    let mut counter = Counter::open().await;
    let (status, sale) = counter.pay("DB", "20.00", &[("createRegistration", "true")]).await;
    assert_eq!(status, 200, "{sale}");
    let stored = text(&sale, "/registrationId");
    assert_eq!((stored.len(), text(&sale, "/registration/id")), (32, stored.clone()));
    let (_, plain) = counter.pay("DB", "20.00", &[("createRegistration", "false")]).await;
    assert!(plain.get("registrationId").is_none());

    let (status, paid) = counter.with_stored(&stored, "3.00", &[]).await;
    assert_eq!(
        (status, text(&paid, "/card/last4Digits"), text(&paid, "/paymentBrand")),
        (200, "0119".into(), "VISA".into())
    );
    counter.followed(&text(&paid, "/id"), "RF", None).await;
    let (_, held) = counter.with_stored(&stored, "3.00", &[("paymentType", "PA"), ("numberOfCaptures", "1")]).await;
    counter.followed(&text(&held, "/id"), "CP", Some("1.00")).await;
    // For stored cards too, the cents choose the outcome.
    assert_eq!(counter.with_stored(&stored, "3.54", &[]).await.0, 400);

    let before = counter.shop.gateway.ledger().entries().to_vec();
    for (change, name) in [
        (("paymentType", "CP"), "paymentType"),
        (("paymentBrand", "MASTER"), "paymentBrand"),
        (("numberOfCaptures", "1"), "numberOfCaptures"),
        (("pos.encryptedSred.data", "00"), "pos.encryptedSred.data"),
        (("currency", "XXY"), "currency"),
    ] {
        let (status, answer) = counter.with_stored(&stored, "1.00", &[change]).await;
        assert_eq!((status, refusal(&answer).1.as_str()), (400, name));
    }
    assert_eq!(counter.with_stored(&"0".repeat(32), "1.00", &[]).await.0, 404);

    let (status, answer) = counter.delete(&stored).await;
    assert_eq!((status, text(&answer, "/id")), (200, stored.clone()));
    let (status, answer) = counter.delete(&stored).await;
    assert_eq!((status, refusal(&answer).0.as_str()), (400, "100.150.202"));
    let (status, answer) = counter.with_stored(&stored, "1.00", &[]).await;
    assert_eq!((status, refusal(&answer).0.as_str()), (400, "100.150.202"));
    assert_eq!(counter.delete(&"0".repeat(32)).await.0, 404);
    assert_eq!(counter.shop.gateway.ledger().entries(), before);

    // A declined payment stores no card. A pending payment stores one that cannot be used yet.
    let (_, declined) = counter.pay("DB", "9.54", &[("createRegistration", "true")]).await;
    assert!(declined.get("registrationId").is_none(), "{declined}");
    let (_, pending) = counter.pay("DB", "9.61", &[("createRegistration", "true")]).await;
    let stored = text(&pending, "/registrationId");
    let (_, answer) = counter.with_stored(&stored, "1.00", &[]).await;
    assert_eq!(refusal(&answer).0, "100.150.203");
    let path = format!("v1/payments/{}", text(&pending, "/id"));
    assert_eq!(counter.shop.get(&path).await.1["result"]["code"], "000.200.000");
    assert_eq!(text(&counter.shop.get(&path).await.1, "/registrationId"), stored);
    assert_eq!(counter.with_stored(&stored, "1.00", &[]).await.0, 200);
}

#[tokio::test]
async fn a_card_is_stored_without_a_payment() {
    let mut counter = Counter::open().await;
    let tap = counter.reader.tap();
    let mut form = sealed_sale("1.00", "unused-01", "NFC_MAGSTRIPE", &tap);
    form.retain(|(name, _)| {
        !["amount", "currency", "paymentType"].contains(&name.as_str()) && !name.starts_with("pos.location")
    });
    let (status, answer) = read(counter.shop.send("v1/registrations", &form).await.unwrap()).await;
    assert_eq!((status, text(&answer, "/card/bin")), (200, "476173".into()), "{answer}");
    let stored = text(&answer, "/id");
    assert_eq!(counter.with_stored(&stored, "2.00", &[]).await.0, 200);
    // The key was already used, and a payment needs more parameters than storing a card.
    let (status, answer) = read(counter.shop.send("v1/registrations", &form).await.unwrap()).await;
    assert_eq!((status, refusal(&answer).1.as_str()), (400, "pos.encryptedSred.ksn"));
    let amount = with(form, &[("amount", "1.00"), ("currency", "EUR")]);
    let (status, answer) = read(counter.shop.send("v1/registrations", &amount).await.unwrap()).await;
    assert_eq!((status, refusal(&answer).1.as_str()), (400, "amount"));
}

fn instruction(mode: &'static str, source: &'static str, kind: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![("standingInstruction.mode", mode), ("standingInstruction.source", source), ("standingInstruction.type", kind)]
}

#[tokio::test]
async fn an_agreement_begins_at_the_counter_and_binds_the_merchant() {
    let mut counter = Counter::open().await;
    counter.shop.gateway.set_clock(at("2026-01-01T10:00:00Z"));
    let terms = [
        ("createRegistration", "true"),
        ("standingInstruction.expiry", "2026-03-31"),
        ("standingInstruction.frequency", "28"),
        ("standingInstruction.numberOfInstallments", "3"),
        ("standingInstruction.agreementId", "agreement-7"),
    ];
    let first = [&terms[..], &instruction("INITIAL", "CIT", "INSTALLMENT")].concat();
    let (status, answer) = counter.pay("DB", "20.00", &first).await;
    assert_eq!(status, 200, "{answer}");
    let reference = text(&answer, "/standingInstruction/initialTransactionId");
    assert_eq!(text(&answer, "/resultDetails/CardholderInitiatedTransactionID"), reference);
    let stored = text(&answer, "/registrationId");

    let again = instruction("REPEATED", "MIT", "INSTALLMENT");
    let refused = async |counter: &mut Counter, form: &[(&str, &str)], code: &str, name: &str| {
        let before = counter.shop.gateway.ledger().entries().len();
        let (status, answer) = counter.with_stored(&stored, "20.00", form).await;
        assert_eq!((status, refusal(&answer)), (400, (code.to_owned(), name.to_owned())), "{answer}");
        assert_eq!(counter.shop.gateway.ledger().entries().len(), before);
    };
    counter.shop.gateway.set_clock(at("2026-01-29T09:59:59Z"));
    refused(&mut counter, &again, "800.100.190", "standingInstruction.frequency").await;
    counter.shop.gateway.set_clock(at("2026-01-29T10:00:00Z"));
    let (status, answer) = counter.with_stored(&stored, "20.00", &again).await;
    assert_eq!(
        (status, text(&answer, "/standingInstruction/initialTransactionId")),
        (200, reference.clone()),
        "{answer}"
    );
    assert_eq!(text(&answer, "/standingInstruction/agreementId"), "agreement-7");
    assert_eq!(text(&answer, "/timestamp"), "2026-01-29 10:00:00+0000");
    assert_eq!(text(&answer, "/pos/timestamp"), "2026-01-29 10:00:00");
    // These are refused: a wrong reference, another type without a reference, a missing type, and a wrong source.
    refused(
        &mut counter,
        &[&again[..], &[("standingInstruction.initialTransactionId", "1")]].concat(),
        INVALID,
        "standingInstruction.initialTransactionId",
    )
    .await;
    let other = instruction("REPEATED", "MIT", "RECURRING");
    refused(&mut counter, &other, INVALID, "standingInstruction.initialTransactionId").await;
    refused(&mut counter, &again[..1], INVALID, "standingInstruction.type").await;
    refused(&mut counter, &instruction("INITIAL", "MIT", "RECURRING"), INVALID, "standingInstruction.source").await;
    // A declined payment does not count. The third payment is the last.
    counter.shop.gateway.set_clock(at("2026-03-01T00:00:00Z"));
    assert_eq!(counter.with_stored(&stored, "20.54", &again).await.0, 400);
    let named = [&again[..], &[("standingInstruction.initialTransactionId", reference.as_str())]].concat();
    assert_eq!(counter.with_stored(&stored, "20.00", &named).await.0, 200);
    counter.shop.gateway.set_clock(at("2026-03-31T23:00:00Z"));
    refused(&mut counter, &again, "800.100.190", "standingInstruction.numberOfInstallments").await;
    counter.shop.gateway.set_clock(at("2026-04-01T00:00:00Z"));
    refused(&mut counter, &again, "800.100.190", "standingInstruction.expiry").await;

    // At the counter the customer presents the card, so the merchant cannot be the source.
    let (status, answer) = counter.pay("DB", "1.00", &again).await;
    assert_eq!((status, refusal(&answer).1.as_str()), (400, "standingInstruction.source"));
}

#[tokio::test]
async fn a_typed_card_gets_its_letters_and_a_risk_check_its_score() {
    let mut counter = Counter::open().await;
    counter.shop.gateway.set_clock(at("2026-11-20T12:00:00Z"));
    let typed = |expiry: &str, code: &str| {
        // DFA211, DFA214 and DFA216 contain digits (readers: 2.9).
        let mut clear = hex::decode("DFA21110").unwrap();
        clear.extend(card_reader::PAN.bytes());
        for (tag, digits) in [("DFA214", expiry), ("DFA216", code)] {
            clear.extend(hex::decode(tag).unwrap());
            clear.push(u8::try_from(digits.len()).unwrap());
            clear.extend(digits.bytes());
        }
        clear
    };
    for (expiry, code, street, postcode, status, result, avs, cvv) in [
        ("2612", "123", "1 Test Street", "12345", 200, "000.100.110", "F", "M"),
        ("2611", "123", "1 Test Street", "1", 200, "000.100.110", "A", "M"),
        ("2612", "123", "Elsewhere", "12345", 200, "000.100.110", "Z", "M"),
        ("2612", "124", "Elsewhere", "1", 400, "800.100.153", "N", "N"),
        ("2610", "123", "1 Test Street", "12345", 400, "100.100.303", "F", "M"),
    ] {
        let reference = counter.reference();
        let sealed = counter.reader.seal(&typed(expiry, code));
        let form = sealed_sale("5.00", &reference, "MANUAL", &sealed);
        let form = with(form, &[("billing.street1", street), ("billing.postcode", postcode)]);
        let (said, answer) = counter.shop.pay(&form).await;
        assert_eq!((said, text(&answer, "/result/code").as_str()), (status, result), "{answer}");
        assert_eq!(text(&answer, "/result/avsResponse"), avs);
        assert_eq!(text(&answer, "/result/cvvResponse"), cvv);
        assert_eq!(text(&answer, "/card/expiryYear"), "2026");
        assert!(answer.get("risk").is_none());
    }
    let reference = counter.reference();
    let sealed = counter.reader.seal(&typed("2612", "123"));
    let form = with(sealed_sale("5.56", &reference, "MANUAL", &sealed), &[("billing.postcode", "12345")]);
    let (_, answer) = counter.shop.pay(&form).await;
    assert_eq!((text(&answer, "/result/avsResponse"), text(&answer, "/result/cvvResponse")), ("U".into(), "U".into()));

    let (_, answer) =
        counter.pay("DB", "5.00", &[("risk.channelId", "counter"), ("customParameters[a.b]", "c d")]).await;
    assert_eq!((text(&answer, "/risk/score"), text(&answer, "/customParameters/a.b")), ("+00100".into(), "c d".into()));
    assert_eq!(text(&answer, "/resultDetails/AcquirerResponse"), "00");
    let (_, answer) = counter.pay("DB", "5.55", &[]).await;
    assert_eq!((text(&answer, "/result/code"), text(&answer, "/risk/score")), ("100.400.100".into(), "-00900".into()));
    let (_, answer) = counter.pay("DB", "5.51", &[]).await;
    assert_eq!(text(&answer, "/resultDetails/AcquirerResponse"), "51");
    assert_eq!(text(&answer, "/resultDetails/MerchantAdviceCode"), "02");
}
