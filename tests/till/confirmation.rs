//! Sales that need the till's confirmation, requested and answered over the real socket. Until the till confirms a
//! sale, no caller sees it as approved. The confirmation is then final, even after a power cut.

use easy_ext::ext;
use pos_agent::till::{Attention, SaleState, SaleView};
use pos_sim::reader::CardEntry::Insert;
use pos_sim::reader::card;
use pos_sim::shop::Options;
use pos_terms::transaction::{Kind, OnSilence, OutcomeWord};
use pos_test_kit::within;
use serde_json::{Value, json};

use crate::counter::{Counter, ended};

const ALL: &str = "all";
const NOTHING: &str = "nothing";

/// Opens a shop whose tills have this many seconds to confirm a sale.
async fn open(seconds: u64) -> Counter {
    let mut options = Options::default();
    options.reader.removes_card = true;
    options.config.push(("[terminal]".to_owned(), format!("[terminal]\ntill-confirm-s = {seconds}")));
    Counter::open_with(options).await
}

#[ext(Confirms)]
impl Counter {
    /// Makes an approved sale that waits for its till's confirmation.
    async fn sell_confirmed(&self, reference: &str, amount: &str, more: Value) -> SaleView {
        self.until_ready().await;
        let mut body = json!({ "reference": reference, "amount": amount, "confirm": "till" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let (status, said) = self.ask(body).await;
        assert_eq!(status, 201, "{said}");
        self.present(card("chip-no-cvm").unwrap(), Insert).await;
        let view = self.until(reference, "its confirmation", |view| view.state == SaleState::AwaitingTill).await;
        assert_eq!((view.outcome, &view.approved_amount, &view.status_text), (None, &None, &None), "{view:?}");
        assert!(!view.text.contains("APPROVED"), "{}", view.text);
        view
    }
}

fn error(answer: &(u16, Value)) -> (u16, &str, &str) {
    let word = |key: &str| answer.1[key].as_str().unwrap_or_default();
    (answer.0, word("code"), word("detail"))
}

#[tokio::test]
async fn all_is_taken_and_only_then_it_is_approved() {
    let mut counter = open(600).await;
    let mut ears = counter.listen().await;
    let view = counter.sell_confirmed("R1", "12.34", json!({})).await;
    let to_confirm = view.to_confirm.unwrap();
    assert_eq!((to_confirm.amount.as_str(), to_confirm.on_silence), ("12.34", OnSilence::Reverse));
    let heard = within("the step", async {
        loop {
            if let Some(step) = ears.hear().await.into_iter().find(|step| step.step == "confirm-needed") {
                return step;
            }
        }
    });
    assert_eq!(heard.await.sale.unwrap().to_confirm.unwrap().amount, "12.34");
    assert!(counter.status().await.needs(Attention::ConfirmationAwaited));
    let receipt = counter.get("/v1/sales/R1/receipt").await;
    assert_eq!(error(&receipt).1, "no-receipt-yet", "{receipt:?}");
    let totals = counter.get("/v1/totals").await.1;
    assert_eq!(totals["carried"], json!([view.number.get()]), "it is open: {totals}");
    let late = counter.post("/v1/sales/R1/cancel").await.1;
    assert_eq!((&late["cancel"], &late["state"]), (&json!("too-late"), &json!("awaiting-till")), "{late}");
    // A repeated request returns the same sale. A different request is refused.
    let again = json!({ "reference": "R1", "amount": "12.34", "confirm": "till" });
    assert_eq!(counter.ask(again).await.0, 200);
    for other in [json!({}), json!({ "confirm": "till", "onSilence": "keep" })] {
        let mut body = json!({ "reference": "R1", "amount": "12.34" });
        body.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
        assert_eq!(error(&counter.ask(body).await).1, "amount-differs", "{other}");
    }
    for _ in 0..2 {
        let (status, said) = counter.confirm("R1", json!({ "taken": ALL })).await;
        assert_eq!((status, &said["outcome"]), (200, &json!("approved")), "{said}");
    }
    let other = counter.confirm("R1", json!({ "taken": NOTHING })).await;
    let (status, code, said) = error(&other);
    assert_eq!((status, code), (409, "no-confirmation-awaited"));
    assert!(said.contains("the till has already accepted the full amount: APPROVED 12.34"), "{said}");
    assert!(counter.paper().await.contains("APPROVED"));
    assert_eq!(counter.charged(), ["12.34 EUR"]);
}

#[tokio::test]
async fn nothing_is_taken_and_the_payment_is_reversed() {
    let counter = open(600).await;
    counter.sell_confirmed("R1", "12.34", json!({ "onSilence": "keep" })).await;
    for _ in 0..2 {
        assert_eq!(counter.confirm("R1", json!({ "taken": NOTHING })).await.0, 200);
    }
    let view = counter.until_ended("R1").await;
    assert_eq!((view.outcome, view.reason.as_deref()), (Some(OutcomeWord::Reversed), Some("not-taken")));
    assert!(counter.charged().is_empty());
    let other = counter.confirm("R1", json!({ "taken": ALL })).await;
    assert!(error(&other).2.contains("the till has already refused the payment"), "{other:?}");
}

#[tokio::test]
async fn a_part_is_taken_and_the_rest_is_refunded_under_its_own_reference() {
    let counter = open(600).await;
    counter.sell_confirmed("R1", "12.00", json!({})).await;
    for (said, code) in [
        (json!({ "taken": "part" }), "malformed"),
        (json!({ "taken": "part", "amount": "12.00" }), "amount"),
        (json!({ "taken": "part", "amount": "13.00" }), "amount"),
        (json!({ "taken": "all", "amount": "12.00" }), "malformed"),
    ] {
        assert_eq!(error(&counter.confirm("R1", said.clone()).await).1, code, "{said}");
    }
    let part = || json!({ "taken": "part", "amount": "8.00" });
    for _ in 0..2 {
        let (status, said) = counter.confirm("R1", part()).await;
        assert_eq!((status, &said["outcome"], &said["approvedAmount"]), (200, &json!("approved"), &json!("12.00")));
        assert_eq!(said["later"].as_array().map(Vec::len), Some(1), "{said}");
        assert_eq!((&said["later"][0]["reference"], &said["later"][0]["amount"]), (&json!("R1-rest"), &json!("4.00")));
        // The outcome "approved" does not show that the rest is refunded. A separate field does.
        assert_eq!((&said["rest"]["reference"], &said["rest"]["amount"]), (&json!("R1-rest"), &json!("4.00")));
    }
    let other = counter.confirm("R1", json!({ "taken": "part", "amount": "7.00" })).await;
    assert!(error(&other).2.contains("the till has already accepted a part, 8.00 EUR"), "{other:?}");
    let refund = counter.until_ended("R1-rest").await;
    assert_eq!(
        (refund.kind, refund.outcome, refund.of.as_deref()),
        (Kind::Refund, Some(OutcomeWord::Approved), Some("R1"))
    );
    let view = counter.show("R1").await;
    assert_eq!(view.left.as_deref(), Some("8.00"));
    assert_eq!(view.rest.and_then(|rest| rest.outcome), Some(OutcomeWord::Approved));

    // A reservation can only be confirmed in full.
    counter.sell_confirmed("R2", "12.00", json!({ "kind": "pre-authorisation" })).await;
    assert_eq!(error(&counter.confirm("R2", part()).await).1, "not-possible");
    assert_eq!(counter.show("R2").await.state, SaleState::AwaitingTill);
    assert_eq!(counter.confirm("R2", json!({ "taken": ALL })).await.0, 200);
}

#[tokio::test]
async fn a_silent_till_has_it_reversed_or_kept() {
    let counter = open(20).await;
    counter.sell_confirmed("R1", "12.34", json!({})).await;
    let view = counter.until_ended("R1").await;
    assert_eq!((view.outcome, view.reason.as_deref()), (Some(OutcomeWord::Reversed), Some("till-silent")));
    assert_eq!(error(&counter.confirm("R1", json!({ "taken": ALL })).await).1, "no-confirmation-awaited");
    counter.sell_confirmed("R2", "2.00", json!({ "onSilence": "keep" })).await;
    assert_eq!(ended(&counter.until_ended("R2").await), Some(OutcomeWord::Approved));
    assert_eq!(counter.charged(), ["2.00 EUR"]);
}

/// Checks that the sale still waits after a power cut, and that the command line can then confirm it.
#[tokio::test]
async fn a_power_cut_before_the_answer_changes_nothing() {
    let mut counter = open(600).await;
    counter.sell_confirmed("R1", "12.34", json!({})).await;
    counter.cut_power().await;
    counter.start_agent();
    counter.until_ready().await;
    assert_eq!(counter.show("R1").await.state, SaleState::AwaitingTill);
    let output = within("the verb", counter.verb(&["confirm", "R1", "--taken", "all", "--json"])).await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said: SaleView = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(ended(&said), Some(OutcomeWord::Approved));
    let output = within("the verb", counter.verb(&["confirm", "R1", "--taken", "nothing"])).await.unwrap();
    assert_eq!(output.status.code(), Some(65), "{output:?}");
    assert_eq!(counter.charged(), ["12.34 EUR"]);
}

#[tokio::test]
async fn what_no_till_can_confirm_is_refused_by_name() {
    let counter = open(600).await;
    for (body, said) in [
        (
            json!({ "reference": "R1", "amount": "1.00", "kind": "credit", "confirm": "till" }),
            "confirm: a credit has none",
        ),
        (
            json!({ "reference": "R1", "amount": "1.00", "onSilence": "keep" }),
            "onSilence: allowed only with \"confirm\":\"till\"",
        ),
    ] {
        let answer = counter.ask(body).await;
        assert_eq!(error(&answer), (400, "malformed", said));
    }
    counter.sell("R2", "2.00", "chip-no-cvm", Insert).await;
    counter.until_ended("R2").await;
    assert_eq!(error(&counter.confirm("R2", json!({ "taken": ALL })).await).1, "no-confirmation-awaited");
}

#[tokio::test]
async fn a_till_that_prints_has_its_own_data_back_and_the_terminal_prints_nothing() {
    let counter = open(600).await;
    counter.until_ready().await;
    let data = json!({ "bill": "4711/12", "shift": "2" });
    let body = json!({ "reference": "R1", "amount": "12.34", "receipts": "till", "tillData": data });
    assert_eq!(counter.ask(body).await.0, 201);
    counter.present(card("chip-no-cvm").unwrap(), Insert).await;
    let view = counter.until("R1", "its end", |view| view.outcome == Some(OutcomeWord::Approved)).await;
    assert_eq!((json!(view.till_data), view.receipt_number), (data.clone(), 1));
    // When a later sale has printed, any earlier receipt would have printed too.
    let body = json!({ "reference": "R2", "amount": "5.00" });
    assert_eq!(counter.ask(body).await.0, 201);
    counter.present(card("chip-no-cvm").unwrap(), Insert).await;
    counter.until("R2", "its end", |view| view.outcome == Some(OutcomeWord::Approved)).await;
    let paper = within("both copies", async {
        let mut receipts = counter.shop.printer.watch();
        receipts.wait_for(|receipts| receipts.len() > 1).await.unwrap();
        counter.shop.printer.receipts().concat()
    })
    .await;
    assert!(paper.contains("R2") && !paper.contains("12.34"), "{paper}");
    // The agent keeps the data for the till.
    assert_eq!(counter.get("/v1/sales/R1").await.1["tillData"], data);
    for (wrong, why) in [
        (json!({ "bill": "4111 1111 1111 1111" }), "card number"),
        (json!({ "bill": "\u{7}" }), "printable"),
        (json!({ "": "1" }), "a name"),
    ] {
        let said = counter.ask(json!({ "reference": "R3", "amount": "5.00", "tillData": wrong })).await;
        let (status, code, detail) = error(&said);
        assert!((status, code) == (422, "parameter") && detail.contains(why) && !detail.contains("4111"), "{detail}");
    }
}
