//! A card that is stored without a payment, used for a reservation and a charge, and deleted. The test uses real
//! connections from the till to the simulated gateway's ledger.

use pos_agent::till::SaleState;
use pos_sim::reader::CardEntry::Insert;
use pos_sim::reader::card;
use pos_sim::shop::Options;
use pos_terms::transaction::OutcomeWord;
use serde_json::json;

use crate::counter::{Counter, ended};

#[tokio::test]
async fn a_card_is_stored_reserved_on_charged_and_forgotten() {
    let mut options = Options::default();
    options.reader.removes_card = true;
    let mut counter = Counter::open_with(options).await;
    counter.until_ready().await;
    let (status, begun) = counter.ask(json!({ "reference": "S1", "kind": "store-card" })).await;
    assert_eq!((status, begun["state"].as_str()), (201, Some("waiting-for-card")), "{begun}");
    assert!(begun["text"].as_str().unwrap().contains("nothing is charged"), "{begun}");
    counter.present(card("chip-no-cvm").unwrap(), Insert).await;
    let stored = counter.until_ended("S1").await;
    assert_eq!((stored.state, ended(&stored)), (SaleState::Ended, Some(OutcomeWord::Approved)), "{stored:?}");
    assert_eq!((stored.approved_amount, stored.payment_id), (None, None), "it is no payment");
    let id = stored.registration.expect("its till is told the id");
    let receipt = counter.paper().await;
    assert!(receipt.contains("CARD STORED, NOTHING CHARGED"), "{receipt}");
    assert!(!receipt.contains("0.00 EUR") && !receipt.contains("APPROVED"), "{receipt}");
    assert!(counter.charged().is_empty());

    let held = json!({ "reference": "P1", "kind": "pre-authorisation-by-registration", "registration": id, "amount": "50.00" });
    assert_eq!(ended(&counter.done(held).await), Some(OutcomeWord::Approved));
    let taken = counter.done(json!({ "reference": "P2", "kind": "capture", "of": "P1", "amount": "20.00" })).await;
    assert_eq!(ended(&taken), Some(OutcomeWord::Approved));
    let paid = json!({ "reference": "P3", "kind": "by-registration", "registration": id, "amount": "3.00" });
    assert_eq!(ended(&counter.done(paid).await), Some(OutcomeWord::Approved));
    // The transaction that stored the card moved no money, so it can have no follow-up.
    for kind in ["refund", "reversal", "capture"] {
        let (status, refused) = counter.ask(json!({ "reference": "X", "kind": kind, "of": "S1" })).await;
        assert_eq!((status, refused["code"].as_str()), (422, Some("not-possible")), "{refused}");
    }

    for reference in ["F1", "F2"] {
        let forget = json!({ "reference": reference, "kind": "forget-card", "registration": id });
        let view = counter.done(forget).await;
        assert_eq!((ended(&view), view.registration.as_ref()), (Some(OutcomeWord::Approved), Some(&id)), "{view:?}");
    }
    let paid = json!({ "reference": "P4", "kind": "by-registration", "registration": id, "amount": "3.00" });
    assert_eq!(ended(&counter.done(paid).await), Some(OutcomeWord::Declined));
    let totals = counter.get("/v1/totals").await.1.to_string();
    assert!(!totals.contains("store-card") && !totals.contains("forget-card"), "{totals}");
}

#[tokio::test]
async fn what_a_stored_card_has_none_of_is_refused_before_the_card() {
    let counter = Counter::open_with(Options::default()).await;
    for (body, field) in [
        (json!({ "reference": "S1", "kind": "store-card", "amount": "1.00" }), "amount"),
        (json!({ "reference": "S1", "kind": "store-card", "registration": "f".repeat(32) }), "registration"),
        (json!({ "reference": "S1", "kind": "forget-card" }), "registration"),
        (json!({ "reference": "S1", "kind": "store-card", "parameters": { "taxAmount": "1.00" } }), "taxAmount"),
    ] {
        let (status, refused) = counter.ask(body).await;
        assert!(matches!(status, 400 | 422), "{refused}");
        assert!(refused["detail"].as_str().unwrap().contains(field), "{refused}");
    }
}
