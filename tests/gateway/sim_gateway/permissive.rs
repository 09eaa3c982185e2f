//! The permissive gateway: it books every readable request each time it arrives.

use pos_sim::gateway::{HostRules, Kind, LedgerEntry, Options, Outcome, State};
use serde_json::Value;

use crate::gateway_counter::{Counter, INVALID, text};
use crate::shop_client::{Sales, with};

async fn bank() -> Counter {
    Counter::with(Options { host_rules: HostRules::Permissive, ..Options::default() }).await
}

fn entries(counter: &Counter, kind: Kind) -> Vec<LedgerEntry> {
    counter.shop.gateway.ledger().entries().iter().filter(|entry| entry.kind == kind).cloned().collect()
}

fn booked(counter: &Counter, kind: Kind) -> Vec<String> {
    entries(counter, kind).iter().map(|entry| format!("{} {}", entry.amount, entry.currency)).collect()
}

fn state(counter: &Counter, id: &str) -> State {
    counter.shop.gateway.ledger().entries().iter().find(|entry| entry.id == id).unwrap().state
}

#[tokio::test]
async fn more_is_refunded_than_was_paid_and_it_is_reversed_after_that() {
    let mut counter = bank().await;
    let sale = counter.paid("DB", "10.00", &[]).await;
    counter.followed(&sale, "RF", Some("10.00")).await;
    counter.followed(&sale, "RF", Some("30.00")).await;
    assert_eq!(booked(&counter, Kind::Refund), ["10.00 EUR", "30.00 EUR"]);
    let refund = entries(&counter, Kind::Refund)[0].id.clone();
    counter.followed(&sale, "RV", Some("10.00")).await;
    counter.followed(&refund, "RV", None).await;
    counter.followed(&sale, "RV", None).await;
    assert_eq!(booked(&counter, Kind::Reversal), ["10.00 EUR"; 3]);
    assert_eq!(state(&counter, &sale), State::Reversed);
}

#[tokio::test]
async fn a_part_is_reversed_and_the_rest_stays_paid() {
    let mut counter = bank().await;
    let sale = counter.paid("DB", "10.00", &[]).await;
    counter.followed(&sale, "RV", Some("1.00")).await;
    assert_eq!((state(&counter, &sale), counter.left(&sale).as_deref()), (State::Approved, Some("9.00")));
    counter.followed(&sale, "RV", Some("9.00")).await;
    assert_eq!((state(&counter, &sale), counter.left(&sale)), (State::Reversed, None));
    counter.followed(&sale, "RV", Some("9.00")).await;
    assert_eq!(booked(&counter, Kind::Reversal), ["1.00 EUR", "9.00 EUR", "9.00 EUR"]);
}

#[tokio::test]
async fn what_nobody_knows_is_followed_too() {
    let mut counter = bank().await;
    let nobody = "0123456789abcdef0123456789abcdef";
    for (kind, amount) in [("CP", "20.00"), ("RF", "7.00"), ("RV", "3.00")] {
        counter.followed(nobody, kind, Some(amount)).await;
    }
    let (status, answer) = counter.by_reference(nobody, "INCREMENTAL_AUTH", "5.00", &[]).await;
    assert_eq!((status, text(&answer, "/amount")), (200, "5.00".to_owned()));
    let ledger = counter.shop.gateway.ledger();
    assert!(ledger.entries().iter().all(|entry| entry.refers_to.as_deref() == Some(nobody)));
    assert_eq!(ledger.entries().len(), 4);
    // A refund without an amount has no meaning for an unknown payment.
    let (status, answer) = counter.follow(nobody, "RF", None, &[]).await;
    assert_eq!((status, text(&answer, "/result/code")), (400, INVALID.to_owned()));
    // A sale is captured and a declined payment is refunded, even in another currency.
    let sale = counter.paid("DB", "10.00", &[]).await;
    counter.followed(&sale, "CP", Some("99.00")).await;
    let (_, declined) = counter.pay("DB", "9.51", &[]).await;
    let declined = text(&declined, "/id");
    counter.followed(&declined, "RF", None).await;
    let (status, answer) = counter.follow(&declined, "RF", None, &[("amount", "4.00"), ("currency", "USD")]).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(booked(&counter, Kind::Refund), ["7.00 EUR", "9.51 EUR", "4.00 USD"]);
}

#[tokio::test]
async fn each_request_is_booked_as_often_as_it_comes() {
    let mut counter = bank().await;
    let sale = counter.paid("DB", "10.00", &[]).await;
    let own = [("merchantTransactionId", "refund-0001")];
    for _ in 0..3 {
        let (status, answer) = counter.follow(&sale, "RF", Some("10.00"), &own).await;
        assert_eq!(status, 200, "{answer}");
    }
    for _ in 0..2 {
        let form = with(counter.reader.chip_sale("12.00", "twice-0001"), &[]);
        assert_eq!(counter.shop.pay(&form).await.0, 200);
    }
    assert_eq!(booked(&counter, Kind::Refund), ["10.00 EUR"; 3]);
    assert_eq!(counter.shop.gateway.ledger().charged("twice-0001").len(), 2);
    // A reservation can be captured beyond its amount, even after its last capture and its reversal.
    let held = counter.paid("PA", "50.00", &[("numberOfCaptures", "1")]).await;
    counter.follow(&held, "CP", Some("50.00"), &[("sequence", "FINAL")]).await;
    counter.followed(&held, "RV", None).await;
    counter.followed(&held, "CP", Some("80.00")).await;
    counter.followed(&held, "CP", None).await;
    assert_eq!(booked(&counter, Kind::Capture), ["50.00 EUR", "80.00 EUR", "50.00 EUR"]);
    for practice in ["INCREMENTAL_AUTH", "REAUTHORIZATION", "INCREMENTAL_AUTH"] {
        let (status, answer) = counter.by_reference(&held, practice, "70.00", &[]).await;
        assert_eq!(status, 200, "{practice}: {answer}");
    }
}

#[tokio::test]
async fn a_deleted_card_pays() {
    let mut counter = bank().await;
    let (_, answer) = counter.pay("DB", "10.00", &[("createRegistration", "true")]).await;
    let stored = text(&answer, "/registrationId");
    assert_eq!(counter.delete(&stored).await.0, 200);
    let (status, answer) = counter.with_stored(&stored, "5.00", &[]).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(booked(&counter, Kind::Debit), ["10.00 EUR", "5.00 EUR"]);
}

/// Checks that access and card are checked as at the other gateways: token, path, form and keys.
#[tokio::test]
async fn a_token_a_path_a_form_and_a_right_card_are_wanted() {
    let mut counter = bank().await;
    let form = counter.reader.chip_sale("1.00", "no-rules-1");
    let url = |path: &str| format!("{}{path}", counter.shop.gateway.base_url());
    let bare = counter.shop.client.post(url("v1/payments")).send().await.unwrap();
    assert_eq!(bare.status(), 401);
    let strange = counter.shop.client.post(url("v1/payments")).bearer_auth("wrong").send().await.unwrap();
    assert_eq!(strange.status(), 403);
    assert_eq!(counter.shop.get("v1/nothing").await.0, 404);
    counter.shop.refuses(&with(form.clone(), &[("amount", "1")]), AMOUNT).await;
    assert_eq!(counter.shop.pay(&form).await.0, 200);
    counter.shop.refuses(&form, "pos.encryptedSred.ksn: this KSN was used before").await;
    let lost = counter.pay("DB", "9.52", &[]).await;
    assert_eq!((lost.0, text(&lost.1, "/result/code")), (400, "800.100.165".to_owned()));
    assert_eq!(counter.shop.get(&format!("v1/payments/{}", "f".repeat(32))).await.0, 404);
}

const AMOUNT: &str = "amount: must be 1 to 10 digits, a dot and two decimals";

/// Checks that connection faults and the outcomes of a reversal are the same at every gateway.
#[tokio::test]
async fn the_cents_choose_here_too() {
    let mut counter = bank().await;
    assert!(counter.shop.send("v1/payments", &counter.reader.chip_sale("9.81", "no-rules-2")).await.is_err());
    let sale = counter.shop.gateway.ledger().charged("no-rules-2")[0].id.clone();
    let reversal = async |counter: &Counter| {
        let form = [("entityId", counter.shop.gateway.entity_id()), ("paymentType", "RV")];
        let answer = counter.shop.send(&format!("v1/payments/{sale}"), &crate::shop_client::owned(&form)).await;
        answer.unwrap().status().as_u16()
    };
    assert_eq!([reversal(&counter).await, reversal(&counter).await, reversal(&counter).await], [500, 200, 200]);
    // A gateway may approve a reversal partially.
    let sale = counter.paid("DB", "10.00", &[]).await;
    counter.shop.gateway.force(Outcome::Partial);
    let (status, answer) = counter.follow(&sale, "RV", Some("10.00"), &[]).await;
    assert_eq!((status, answer.get("amount").and_then(Value::as_str)), (200, Some("5.00")));
    assert_eq!(counter.left(&sale).as_deref(), Some("5.00"));
}

/// Checks two more outcomes of a reversal: half of it is carried out, or it is found late. This gateway books the
/// second request again, but the others refuse it.
#[tokio::test]
async fn a_reversal_of_a_half_and_one_that_is_found_late() {
    for host_rules in HostRules::ALL {
        let mut counter = Counter::with(Options { host_rules, ..Options::default() }).await;
        let sale = counter.paid("DB", "9.95", &[]).await;
        assert_eq!(counter.follow(&sale, "RV", Some("9.95"), &[]).await.0, 200);
        assert_eq!(booked(&counter, Kind::Reversal), ["4.97 EUR"], "{host_rules:?}");
        assert_eq!((state(&counter, &sale), counter.left(&sale).as_deref()), (State::Approved, Some("4.98")));
        assert_eq!(counter.follow(&sale, "RV", Some("4.98"), &[]).await.0, 200);
        assert_eq!(state(&counter, &sale), State::Reversed);

        let sale = counter.paid("DB", "9.96", &[]).await;
        let entity = counter.shop.gateway.entity_id().to_owned();
        let form = [("entityId", entity.as_str()), ("paymentType", "RV"), ("merchantTransactionId", "late-00001-r1")];
        let path = format!("v1/payments/{sale}");
        let reverse = async || counter.shop.send(&path, &crate::shop_client::owned(&form)).await;
        // The literal gateway may redirect the reversal first.
        let mut first = reverse().await;
        while first.as_ref().is_ok_and(|answer| answer.status() == 307) {
            first = reverse().await;
        }
        assert!(first.is_err() && state(&counter, &sale) == State::Reversed, "{host_rules:?}");
        for found in [0, 0, 0, 0, 1] {
            assert_eq!(counter.found("merchantTransactionId=late-00001-r1").await.len(), found, "{host_rules:?}");
        }
        let again = counter.shop.post(&path, &form).await.0;
        let expected = if host_rules == HostRules::Permissive { (200, 2) } else { (400, 1) };
        let times = booked(&counter, Kind::Reversal).iter().filter(|amount| *amount == "9.96 EUR").count();
        assert_eq!((again, times), expected, "{host_rules:?}");
    }
}
