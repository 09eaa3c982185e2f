//! The follow-up payments of a payment at the simulated gateway over real HTTPS. The payment's state decides which ones
//! are allowed. A refusal changes nothing. Every answer is checked against the interface's table (`shop_client`).

use crate::gateway_counter::{Counter, INVALID, at, refusal, text};
use crate::shop_client;
use pos_sim::gateway::{Kind, Outcome, State};
use serde_json::Value;

#[tokio::test]
async fn captures_take_what_is_left_and_no_more() {
    let mut counter = Counter::open().await;
    let held = counter.paid("PA", "100.00", &[]).await;
    assert_eq!(counter.left(&held).as_deref(), Some("100.00"));
    assert_eq!(counter.shop.gateway.ledger().all_charged().count(), 0, "held is not charged");
    counter.followed(&held, "CP", Some("30.00")).await;
    assert_eq!(counter.left(&held).as_deref(), Some("70.00"));
    counter.refused(&held, "CP", Some("70.01"), "700.400.100", "amount").await;
    let rest = counter.followed(&held, "CP", None).await;
    assert_eq!(counter.shop.gateway.ledger().entries().last().unwrap().amount, "70.00");
    assert_eq!(counter.left(&held), None);
    counter.refused(&held, "CP", Some("0.01"), "700.300.300", "amount").await;
    counter.refused(&held, "RV", None, "700.400.300", "paymentType").await;
    counter.refused(&held, "RF", Some("1.00"), "700.400.520", "paymentType").await;

    // Reversing a capture makes its amount available again.
    counter.followed(&rest, "RV", Some("70.00")).await;
    assert_eq!(counter.left(&held).as_deref(), Some("70.00"));
    counter.refused(&rest, "RF", Some("1.00"), "700.400.200", "paymentType").await;
    counter.followed(&held, "CP", Some("70.00")).await;

    // FINAL releases the rest.
    let held = counter.paid("PA", "50.00", &[]).await;
    let (status, answer) = counter.follow(&held, "CP", Some("10.00"), &[("sequence", "FINAL")]).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(counter.left(&held), None);
    counter.refused(&held, "CP", Some("1.00"), "700.300.300", "sequence").await;

    // `numberOfCaptures` limits the number of captures.
    let held = counter.paid("PA", "50.00", &[("numberOfCaptures", "2")]).await;
    counter.followed(&held, "CP", Some("10.00")).await;
    counter.followed(&held, "CP", Some("10.00")).await;
    counter.refused(&held, "CP", Some("10.00"), "700.400.100", "numberOfCaptures").await;

    // Only an approved pre-authorisation can be captured.
    let sale = counter.paid("DB", "10.00", &[]).await;
    counter.refused(&sale, "CP", Some("1.00"), "700.400.510", "paymentType").await;
    let (_, declined) = counter.pay("PA", "9.54", &[]).await;
    counter.refused(&text(&declined, "/id"), "CP", Some("1.00"), "700.400.510", "paymentType").await;
    let (_, pending) = counter.pay("PA", "9.62", &[]).await;
    counter.refused(&text(&pending, "/id"), "CP", Some("1.00"), "700.400.510", "paymentType").await;
    let gone = counter.paid("PA", "10.00", &[]).await;
    counter.followed(&gone, "RV", None).await;
    counter.refused(&gone, "CP", Some("1.00"), "700.400.100", "paymentType").await;
    // Half of the amount was approved, so only that half can be captured.
    let half = counter.paid("PA", "10.60", &[]).await;
    counter.refused(&half, "CP", Some("5.31"), "700.400.100", "amount").await;
    counter.followed(&half, "CP", Some("5.30")).await;
}

#[tokio::test]
async fn a_payment_is_named_by_the_path_by_a_reference_or_by_both() {
    let mut counter = Counter::open().await;
    let entity = counter.shop.gateway.entity_id().to_owned();
    let held = counter.paid("PA", "100.00", &[]).await;
    let other = counter.paid("PA", "100.00", &[]).await;
    let asks = async |path: String, kind: &str, reference: &str, more: &[(&str, &str)]| {
        let form = [("entityId", entity.as_str()), ("paymentType", kind), ("amount", "10.00"), ("currency", "EUR")];
        let reference = (!reference.is_empty()).then_some(("referenceUuid", reference));
        let form: Vec<_> = form.into_iter().chain(reference).chain(more.iter().copied()).collect();
        counter.shop.post(&path, &form).await
    };
    let by_path = |id: &str| format!("v1/payments/{id}");
    // A capture names its payment in both ways or by the reference alone. A refund and a reversal name it by the
    // reference.
    for path in [by_path(&held), "v1/payments".to_owned()] {
        let (status, capture) = asks(path, "CP", &held, &[]).await;
        assert_eq!((status, text(&capture, "/paymentType").as_str()), (200, "CP"), "{capture}");
        let id = text(&capture, "/id");
        let (status, refund) = asks("v1/payments".to_owned(), "RF", &id, &[("sequence", "FINAL")]).await;
        assert_eq!(status, 200, "{refund}");
    }
    assert_eq!(counter.left(&held).as_deref(), Some("80.00"));
    let (status, answer) = asks("v1/payments".to_owned(), "RV", &other, &[]).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(counter.left(&other).as_deref(), Some("90.00"));
    // An increment may name its payment by the path alone or in both ways.
    let adds =
        [("standingInstruction.industryPractice", "INCREMENTAL_AUTH"), ("merchantTransactionId", "raised by its path")];
    for reference in ["", held.as_str()] {
        let (status, answer) = asks(by_path(&held), "PA", reference, &adds).await;
        assert_eq!((status, text(&answer, "/paymentType").as_str()), (200, "PA"), "{answer}");
    }
    assert_eq!(counter.left(&held).as_deref(), Some("100.00"));
    // These requests name two different payments, or an unknown payment.
    let before = counter.shop.gateway.ledger().entries().to_vec();
    let nobody = "0".repeat(32);
    for (path, kind, reference, more) in [
        (by_path(&held), "CP", &other, &[][..]),
        (by_path(&held), "RV", &nobody, &[]),
        (by_path(&held), "PA", &other, &adds),
        ("v1/payments".to_owned(), "CP", &nobody, &[]),
        ("v1/payments".to_owned(), "RF", &nobody, &[]),
    ] {
        let (status, answer) = asks(path, kind, reference, more).await;
        assert_eq!((status, refusal(&answer)), (400, (INVALID.to_owned(), "referenceUuid".to_owned())), "{answer}");
    }
    assert_eq!(asks(by_path(&nobody), "PA", "", &adds).await.0, 404);
    assert_eq!(counter.shop.gateway.ledger().entries(), before);
}

#[tokio::test]
async fn a_reversal_in_parts_ends_with_the_last_one() {
    let mut counter = Counter::open().await;
    for kind in ["PA", "DB"] {
        let id = counter.paid(kind, "100.00", &[]).await;
        counter.followed(&id, "RV", Some("30.00")).await;
        assert_eq!(counter.left(&id).as_deref(), Some("70.00"));
        counter.refused(&id, "RV", Some("70.01"), "700.100.200", "amount").await;
        // FINAL ends the reversals. The rest stays charged.
        let (status, answer) = counter.follow(&id, "RV", Some("20.00"), &[("sequence", "FINAL")]).await;
        assert_eq!((status, text(&answer, "/amount").as_str()), (200, "20.00"), "{answer}");
        counter.refused(&id, "RV", Some("1.00"), "700.300.300", "sequence").await;
        counter.refused(&id, "RV", None, "700.300.300", "sequence").await;
        assert_eq!(counter.left(&id).as_deref(), Some("50.00"));
        let (follows, code) = if kind == "PA" { ("CP", "700.400.100") } else { ("RF", "700.400.200") };
        counter.refused(&id, follows, Some("50.01"), code, "amount").await;
        counter.followed(&id, follows, Some("50.00")).await;
    }
    // Parts are reversed until nothing is left. The payment is then reversed.
    let sale = counter.paid("DB", "10.00", &[]).await;
    for part in [Some("4.00"), Some("5.00"), None] {
        counter.followed(&sale, "RV", part).await;
    }
    let ledger = counter.shop.gateway.ledger();
    assert_eq!(ledger.entries().last().unwrap().amount, "1.00");
    assert_eq!(ledger.entries().iter().find(|entry| entry.id == sale).unwrap().state, State::Reversed);
    counter.refused(&sale, "RV", None, "700.300.300", "paymentType").await;
}

#[tokio::test]
async fn sequence_is_text_of_which_final_has_a_meaning() {
    let mut counter = Counter::open().await;
    let held = counter.paid("PA", "50.00", &[]).await;
    for sequence in ["FIRST", "2 of 3", "final"] {
        let (status, answer) = counter.follow(&held, "CP", Some("10.00"), &[("sequence", sequence)]).await;
        assert_eq!(status, 200, "{sequence}: {answer}");
    }
    assert_eq!(counter.left(&held).as_deref(), Some("20.00"));
    assert_eq!(counter.follow(&held, "CP", Some("10.00"), &[("sequence", "FINAL")]).await.0, 200);
    counter.refused(&held, "CP", Some("1.00"), "700.300.300", "sequence").await;
}

#[tokio::test]
async fn refunds_give_back_what_was_paid_and_no_more() {
    let mut counter = Counter::open().await;
    let sale = counter.paid("DB", "20.00", &[]).await;
    let refund = counter.followed(&sale, "RF", Some("5.00")).await;
    assert_eq!(counter.left(&sale).as_deref(), Some("15.00"));
    counter.refused(&sale, "RF", Some("15.01"), "700.400.200", "amount").await;
    counter.refused(&sale, "RV", None, "700.400.300", "paymentType").await;
    counter.refused(&refund, "RF", Some("1.00"), "700.400.520", "paymentType").await;
    counter.refused(&refund, "RV", None, "700.400.530", "paymentType").await;
    assert_eq!(counter.shop.gateway.ledger().all_charged().count(), 1);
    counter.followed(&sale, "RF", None).await;
    assert_eq!(counter.shop.gateway.ledger().all_charged().count(), 0);
    counter.refused(&sale, "RF", Some("0.01"), "700.300.300", "amount").await;

    // Refunds of a capture: another currency and zero are refused, and FINAL ends the refunds.
    let held = counter.paid("PA", "20.00", &[]).await;
    let capture = counter.followed(&held, "CP", None).await;
    let entity = counter.shop.gateway.entity_id().to_owned();
    let other = [("entityId", entity.as_str()), ("paymentType", "RF"), ("amount", "1.00"), ("currency", "USD")];
    let (status, answer) = counter.shop.post(&format!("v1/payments/{capture}"), &other).await;
    assert_eq!((status, refusal(&answer)), (400, ("700.100.500".to_owned(), "currency".to_owned())));
    counter.refused(&capture, "RF", Some("0.00"), INVALID, "amount").await;
    assert_eq!(counter.follow(&capture, "RF", Some("1.00"), &[("sequence", "FINAL")]).await.0, 200);
    counter.refused(&capture, "RF", Some("1.00"), "700.300.300", "sequence").await;

    // A credit pays money to a card without an earlier payment. The chip usually answers with an AAC. The credit can be
    // reversed.
    let credit = counter.paid("CD", "7.00", &[]).await;
    counter.refused(&credit, "RF", Some("1.00"), "700.400.520", "paymentType").await;
    counter.refused(&credit, "CP", Some("1.00"), "700.400.510", "paymentType").await;
    counter.followed(&credit, "RV", Some("7.00")).await;
    counter.refused(&credit, "RV", None, "700.300.300", "paymentType").await;
    let ledger = counter.shop.gateway.ledger();
    let credit = ledger.entries().iter().find(|entry| entry.kind == Kind::Credit).unwrap();
    assert_eq!(credit.state, State::Reversed);
}

#[tokio::test]
async fn unknown_ids_are_404_and_wrong_types_are_named() {
    let mut counter = Counter::open().await;
    let nobody = "0".repeat(32);
    for kind in ["CP", "RV", "RF"] {
        assert_eq!(counter.follow(&nobody, kind, None, &[]).await.0, 404);
    }
    let sale = counter.paid("DB", "20.00", &[]).await;
    for kind in ["DB", "PA", "CD", "XX"] {
        counter.refused(&sale, kind, None, INVALID, "paymentType").await;
    }
    for kind in ["CP", "RV", "RF"] {
        let (status, answer) = counter.pay(kind, "1.00", &[]).await;
        assert_eq!((status, refusal(&answer)), (400, (INVALID.to_owned(), "paymentType".to_owned())));
    }
    for (kind, name, value) in
        [("DB", "numberOfCaptures", "2"), ("PA", "numberOfCaptures", "99"), ("CD", "createRegistration", "true")]
    {
        let (status, answer) = counter.pay(kind, "1.00", &[(name, value)]).await;
        assert_eq!((status, refusal(&answer)), (400, (INVALID.to_owned(), name.to_owned())));
    }
    assert_eq!(counter.shop.gateway.ledger().entries().len(), 1);
}

#[tokio::test]
async fn increments_add_and_a_reauthorisation_takes_the_place() {
    let mut counter = Counter::open().await;
    let held = counter.paid("PA", "100.00", &[]).await;
    let (status, more) = counter.by_reference(&held, "INCREMENTAL_AUTH", "20.00", &[]).await;
    assert_eq!((status, text(&more, "/paymentType"), text(&more, "/amount")), (200, "PA".into(), "20.00".into()));
    assert_eq!(counter.shop.gateway.ledger().entries().last().unwrap().refers_to.as_deref(), Some(held.as_str()));
    assert_eq!((more.get("referencedId"), text(&more, "/card/last4Digits")), (None, "0119".into()));
    assert_eq!(counter.left(&held).as_deref(), Some("120.00"));
    let more = text(&more, "/id");
    counter.refused(&more, "CP", Some("1.00"), "700.400.510", "paymentType").await;
    counter.refused(&held, "CP", Some("120.01"), "700.400.100", "amount").await;
    // Neither a declined nor a pending increment adds anything.
    for (amount, status) in [("9.54", 400), ("9.62", 200)] {
        assert_eq!(counter.by_reference(&held, "INCREMENTAL_AUTH", amount, &[]).await.0, status);
    }
    assert_eq!(counter.left(&held).as_deref(), Some("120.00"));
    // An increment can be reversed until it is captured.
    let (_, second) = counter.by_reference(&held, "INCREMENTAL_AUTH", "5.00", &[]).await;
    counter.followed(&text(&second, "/id"), "RV", None).await;
    assert_eq!(counter.left(&held).as_deref(), Some("120.00"));
    counter.followed(&held, "CP", Some("110.00")).await;
    counter.refused(&more, "RV", None, "700.400.300", "paymentType").await;

    // A reversal of the payment can cover the whole amount. An increment can only be reversed in full.
    let held = counter.paid("PA", "10.00", &[]).await;
    let (_, more) = counter.by_reference(&held, "INCREMENTAL_AUTH", "5.00", &[]).await;
    counter.refused(&held, "RV", Some("15.01"), "700.100.200", "amount").await;
    counter.refused(&text(&more, "/id"), "RV", Some("4.00"), "700.100.200", "amount").await;
    counter.followed(&held, "RV", Some("15.00")).await;
    assert_eq!(counter.by_reference(&held, "INCREMENTAL_AUTH", "1.00", &[]).await.0, 400);

    // A reauthorisation closes the earlier authorisation. Reversing it opens the earlier one again.
    let held = counter.paid("PA", "50.00", &[]).await;
    let (_, again) = counter.by_reference(&held, "REAUTHORIZATION", "40.00", &[]).await;
    let again = text(&again, "/id");
    assert_eq!((counter.left(&held), counter.left(&again).as_deref()), (None, Some("40.00")));
    counter.refused(&held, "CP", Some("1.00"), "700.400.100", "paymentType").await;
    counter.refused(&held, "RV", None, "700.400.300", "paymentType").await;
    counter.followed(&again, "RV", None).await;
    assert_eq!(counter.left(&held).as_deref(), Some("50.00"));
    counter.followed(&held, "CP", Some("50.00")).await;
}

#[tokio::test]
async fn increments_that_are_refused() {
    let mut counter = Counter::open().await;
    let held = counter.paid("PA", "100.00", &[]).await;
    let sale = counter.paid("DB", "100.00", &[]).await;
    let large = counter.paid("PA", "9999999999.00", &[]).await;
    let (_, more) = counter.by_reference(&held, "INCREMENTAL_AUTH", "1.00", &[]).await;
    let more = text(&more, "/id");
    let before = counter.shop.gateway.ledger().entries().to_vec();
    let nobody = "f".repeat(32);
    let (add, again) = ("INCREMENTAL_AUTH", "REAUTHORIZATION");
    for (id, practice, amount, change, code, name) in [
        (&nobody, add, "1.00", ("", ""), INVALID, "referenceUuid"),
        (&sale, add, "1.00", ("", ""), "700.100.700", "referenceUuid"),
        (&more, add, "1.00", ("", ""), "700.100.700", "referenceUuid"),
        (&held, add, "1.00", ("currency", "USD"), "700.100.500", "currency"),
        (&held, add, "1.00", ("paymentType", "DB"), INVALID, "paymentType"),
        (&held, "DELAYED_CHARGES", "1.00", ("", ""), INVALID, "standingInstruction.industryPractice"),
        (
            &held,
            add,
            "1.00",
            ("standingInstruction.industryPractice", ""),
            INVALID,
            "standingInstruction.industryPractice",
        ),
        (&held, add, "1.00", ("referenceUuid", ""), INVALID, "referenceUuid"),
        (&held, add, "1.00", ("merchantTransactionId", ""), INVALID, "merchantTransactionId"),
        (&held, add, "1.00", ("pos.encryptedSred.data", "00"), INVALID, "pos.encryptedSred.data"),
        (&held, add, "0.00", ("", ""), INVALID, "amount"),
        (&large, add, "1.00", ("", ""), "700.100.300", "amount"),
        (&held, again, "101.01", ("", ""), "700.100.300", "amount"),
    ] {
        let changes: &[(&str, &str)] = if change.0.is_empty() { &[] } else { &[change] };
        let (status, answer) = counter.by_reference(id, practice, amount, changes).await;
        assert_eq!(
            (status, refusal(&answer)),
            (400, (code.to_owned(), name.to_owned())),
            "{practice} {amount} {change:?}"
        );
        assert_eq!(counter.shop.gateway.ledger().entries(), before);
    }
    counter.follow(&held, "CP", Some("1.00"), &[("sequence", "FINAL")]).await;
    let (_, answer) = counter.by_reference(&held, add, "1.00", &[]).await;
    assert_eq!(refusal(&answer), ("700.300.300".to_owned(), "referenceUuid".to_owned()));
}

#[tokio::test]
async fn the_query_filters() {
    let mut counter = Counter::open().await;
    counter.shop.gateway.set_clock(at("2026-01-01T10:00:00Z"));
    let held = counter.paid("PA", "100.00", &[("merchantTransactionId", "the same one")]).await;
    counter.shop.gateway.set_clock(at("2026-01-02T10:00:00Z"));
    let sale = counter.paid("DB", "10.00", &[("merchantTransactionId", "the same one")]).await;
    counter.shop.gateway.set_clock(at("2026-01-03T10:00:00Z"));
    let capture = counter.followed(&held, "CP", Some("10.00")).await;
    let refund = counter.followed(&capture, "RF", Some("1.00")).await;

    // Two payments with the same reference are both found. With linked payments, the whole tree follows.
    assert_eq!(counter.found("merchantTransactionId=the+same+one").await, [&*held, &sale]);
    let linked = counter.found("merchantTransactionId=the+same+one&includeLinkedTransactions=true").await;
    assert_eq!(linked, [&*held, &sale, &capture, &refund]);
    assert_eq!(counter.found("merchantTransactionId=the+same+one&paymentTypes=DB").await, [&*sale]);
    let linked =
        counter.found("merchantTransactionId=the+same+one&paymentTypes=PA&includeLinkedTransactions=true").await;
    assert_eq!(linked, [&*held, &capture, &refund]);

    let frame = |from: &str, to: &str| format!("date.from=2026-01-{from}&date.to=2026-01-{to}");
    assert_eq!(counter.found(&frame("01+10:00:00", "01+10:00:00")).await, [&*held]);
    assert_eq!(counter.found(&frame("01+10:00:01", "02+10:00:00")).await, [&*sale]);
    let all = frame("01+00:00:00", "31+00:00:00");
    assert_eq!(counter.found(&all).await, [&*held, &sale, &capture, &refund]);
    assert_eq!(counter.found(&format!("{all}&paymentTypes=CP,RF")).await, [&*capture, &refund]);
    assert_eq!(counter.found(&format!("{all}&paymentMethods=CC,DC")).await.len(), 4);
    assert_eq!(counter.found(&format!("{all}&paymentMethods=DD")).await.len(), 0);
    let (_, answer) = counter.shop.get(&format!("v1/payments/{capture}")).await;
    let short = text(&answer, "/resultDetails/ShortId");
    assert_eq!(counter.found(&format!("{all}&shortId={short}")).await, [&*capture]);
    assert_eq!(counter.found(&format!("{all}&shortId=9999.9999.9999")).await.len(), 0);

    for n in 0..110 {
        counter
            .by_reference(&held, "INCREMENTAL_AUTH", "0.01", &[("merchantTransactionId", &format!("many-{n:04}"))])
            .await;
    }
    assert_eq!(counter.found(&all).await.len(), 100);
    assert_eq!(counter.found(&format!("{all}&limit=111")).await.len(), 111);
}

#[tokio::test]
async fn the_cents_choose_for_what_follows_as_well() {
    let mut counter = Counter::open().await;
    let held = counter.paid("PA", "500.00", &[]).await;
    let entries = |counter: &Counter| counter.shop.gateway.ledger().entries().len();
    // Cents, HTTP status (0: no answer or no JSON), booked entries, remaining amount.
    for (amount, status, booked, left) in [
        ("1.51", 400, 1, "500.00"),
        ("1.62", 200, 1, "498.38"),
        ("1.63", 400, 0, "498.38"),
        ("1.64", 0, 0, "498.38"),
        ("1.65", 0, 1, "496.73"),
        ("1.66", 0, 1, "495.07"),
        ("1.67", 0, 1, "493.40"),
        ("1.72", 0, 0, "493.40"),
        ("1.73", 0, 1, "491.67"),
        ("1.60", 200, 1, "490.87"),
        ("1.79", 200, 1, "489.08"),
    ] {
        let before = entries(&counter);
        let entity = counter.shop.gateway.entity_id().to_owned();
        let form = [("entityId", entity.as_str()), ("paymentType", "CP"), ("amount", amount), ("currency", "EUR")];
        let sent = counter.shop.send(&format!("v1/payments/{held}"), &shop_client::owned(&form)).await;
        let said = match sent {
            Ok(response) => {
                let status = response.status().as_u16();
                let bytes = response.bytes().await.unwrap_or_default();
                if serde_json::from_slice::<Value>(&bytes).is_ok() { status } else { 0 }
            }
            Err(_) => 0,
        };
        assert_eq!((said, entries(&counter) - before), (status, booked), "{amount}");
        assert_eq!(counter.left(&held).as_deref(), Some(left), "{amount}");
    }
    // The refund is carried out but not answered. A look-up still finds it.
    let sale = counter.paid("DB", "100.00", &[]).await;
    let before = entries(&counter);
    let entity = counter.shop.gateway.entity_id().to_owned();
    let form = [("entityId", entity.as_str()), ("paymentType", "RF"), ("amount", "1.71"), ("currency", "EUR")];
    let waiting = tokio::spawn(counter.shop.request(&format!("v1/payments/{sale}"), &shop_client::owned(&form)).send());
    while entries(&counter) == before {
        tokio::task::yield_now().await;
    }
    assert_eq!(counter.left(&sale).as_deref(), Some("98.29"));
    assert!(!waiting.is_finished());
    waiting.abort();
    // The refund is pending, then approved. It counts throughout.
    let (_, pending) = counter.follow(&sale, "RF", Some("1.61"), &[]).await;
    assert_eq!(text(&pending, "/result/code"), "000.200.000");
    let path = format!("v1/payments/{}", text(&pending, "/id"));
    for code in ["000.200.000", "000.100.110"] {
        assert_eq!(counter.shop.get(&path).await.1["result"]["code"], code);
        assert_eq!(counter.left(&sale).as_deref(), Some("96.68"));
    }
    counter.shop.gateway.force(Outcome::LateApproval);
    assert!(
        counter
            .shop
            .send(
                &format!("v1/payments/{held}"),
                &shop_client::owned(&[
                    ("entityId", &entity),
                    ("paymentType", "CP"),
                    ("amount", "1.00"),
                    ("currency", "EUR"),
                    ("merchantTransactionId", "late-capture"),
                ])
            )
            .await
            .is_err()
    );
    for found in [0, 0, 1] {
        assert_eq!(counter.found("merchantTransactionId=late-capture").await.len(), found);
    }
}

#[tokio::test]
async fn the_payments_cents_choose_what_its_first_reversal_meets() {
    let mut counter = Counter::open().await;
    // Cents, HTTP status of the first reversal (0: no answer or no JSON), whether the payment is then reversed, status
    // of the second reversal.
    for (amount, status, reversed, second) in [
        ("1.84", 400, false, 200),
        ("1.85", 200, false, 400),
        ("1.87", 400, false, 200),
        ("1.88", 0, true, 400),
        ("1.91", 0, false, 200),
        ("1.92", 0, true, 400),
    ] {
        let sale = counter.paid("DB", amount, &[]).await;
        let entity = counter.shop.gateway.entity_id().to_owned();
        let form = shop_client::owned(&[
            ("entityId", &entity),
            ("paymentType", "RV"),
            ("amount", amount),
            ("currency", "EUR"),
            ("merchantTransactionId", &format!("reversal {amount}")),
        ]);
        let said = match counter.shop.send(&format!("v1/payments/{sale}"), &form).await {
            Ok(response) => {
                let status = response.status().as_u16();
                let bytes = response.bytes().await.unwrap_or_default();
                if serde_json::from_slice::<Value>(&bytes).is_ok() { status } else { 0 }
            }
            Err(_) => 0,
        };
        let state = |counter: &Counter| {
            let ledger = counter.shop.gateway.ledger();
            ledger.entries().iter().find(|entry| entry.id == sale).unwrap().state
        };
        assert_eq!((said, state(&counter) == State::Reversed), (status, reversed), "{amount}");
        assert_eq!(counter.follow(&sale, "RV", None, &[]).await.0, second, "{amount}");
        if amount == "1.85" {
            assert_eq!(counter.left(&sale), None, "nothing may follow while a reversal is pending");
            for _ in 0..2 {
                assert_eq!(counter.found("merchantTransactionId=reversal+1.85").await.len(), 1);
            }
        }
        assert_eq!(state(&counter), State::Reversed, "{amount}");
    }
    assert_eq!(counter.shop.gateway.ledger().all_charged().count(), 0);
}
