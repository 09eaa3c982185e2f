//! Tips: a tip that the till sends with the amount, and a tip that the customer types at the reader or omits.

use easy_ext::ext;
use pos_agent::till::TipsView;
use pos_sim::reader::CardEntry::Tap;
use pos_sim::reader::{WaitsFor, card};
use pos_sim::shop::Options;
use pos_terms::transaction::OutcomeWord;
use pos_test_kit::within;
use serde_json::{Value, json};

use crate::counter::{Counter, ended};

/// Opens a shop with these tip settings.
async fn open(tips: &str) -> Counter {
    let config = vec![("[journal]".to_owned(), format!("[tips]\n{tips}\n\n[journal]"))];
    let mut options = Options { config, ..Options::default() };
    options.reader.removes_card = true;
    Counter::open_with(options).await
}

#[ext(Tips)]
impl Counter {
    async fn sell_with(&self, reference: &str, body: Value) -> pos_agent::till::SaleView {
        self.until_ready().await;
        let (status, begun) = self.ask(body).await;
        assert_eq!(status, 201, "{begun}");
        self.present(card("tap").unwrap(), Tap).await;
        self.until_ended(reference).await
    }
}

#[tokio::test]
async fn a_tip_that_the_till_names_is_charged_on_top() {
    let mut counter = open("presets = [5, 10, 15, 20]").await;
    let status = counter.status().await;
    let presets = vec![5, 10, 15, 20];
    assert_eq!(status.tips, Some(TipsView { presets, custom: true, default: 0, timeout_s: 30 }));
    let body = json!({ "reference": "R1", "amount": "12.34", "tip": "1.23" });
    let view = counter.sell_with("R1", body.clone()).await;
    let figures = (view.amount.as_str(), view.tip.as_deref(), view.approved_amount.as_deref());
    assert_eq!((ended(&view), figures), (Some(OutcomeWord::Approved), ("12.34", Some("1.23"), Some("13.57"))));
    assert_eq!(counter.charged(), ["13.57 EUR"]);
    let receipt = counter.paper().await;
    let line = |label: &str, value: &str| receipt.lines().any(|line| line.starts_with(label) && line.ends_with(value));
    assert!(line("Amount", "12.34 EUR") && line("Tip", "1.23 EUR"), "{receipt}");
    assert_eq!(counter.get("/v1/totals").await.1["tips"][0]["sum"], "1.23");
    // A repeated request returns the same sale. A request with another tip is refused.
    assert_eq!(counter.ask(body).await.0, 200);
    for other in [json!("1.24"), json!("ask"), Value::Null] {
        let mut body = json!({ "reference": "R1", "amount": "12.34" });
        if !other.is_null() {
            body["tip"] = other.clone();
        }
        assert_eq!(counter.ask(body).await.1["code"], "amount-differs", "{other}");
    }
    // Exactly the whole amount with the tip can be refunded.
    assert_eq!(counter.show("R1").await.left.as_deref(), Some("13.57"));
    let view = counter.done(json!({ "reference": "R2", "kind": "refund", "of": "R1" })).await;
    assert_eq!((view.amount.as_str(), ended(&view)), ("13.57", Some(OutcomeWord::Approved)));
}

#[tokio::test]
async fn a_tip_that_cannot_be_is_refused_before_the_card() {
    let mut options = Options::default();
    options.config.push(("card-timeout-s = 60".to_owned(), "card-timeout-s = 60\nmax-amount = \"20.00\"".to_owned()));
    let counter = Counter::open_with(options).await;
    assert_eq!(counter.status().await.tips, None, "no screen offers any");
    for (amount, tip, said) in [
        ("5.00", "5.01", "more than the amount of 5.00 EUR"),
        ("15.00", "5.01", "amount and tip together"),
        ("5.00", "0.00", "omit it for no tip"),
        ("5.00", "-1.00", "tip: "),
        ("5.00", "1.001", "tip: "),
        ("5.00", "5%", "tip: "),
    ] {
        let (status, refused) = counter.ask(json!({ "reference": "R1", "amount": amount, "tip": tip })).await;
        let facts = (status, refused["code"].as_str().unwrap(), refused["field"].as_str());
        assert_eq!(facts, (422, "amount", Some("tip")), "{tip}: {refused}");
        assert!(refused["detail"].as_str().unwrap().contains(said), "{tip}: {refused}");
    }
    for kind in ["pre-authorisation", "credit"] {
        let (status, refused) =
            counter.ask(json!({ "reference": "R1", "kind": kind, "amount": "5.00", "tip": "1.00" })).await;
        assert_eq!((status, refused["detail"].as_str().unwrap().contains("has none")), (400, true), "{refused}");
    }
    assert_eq!(counter.find("R1").await, None);
    let output = within("the program", counter.verb(&["sale", "5.00", "--tip=0,5", "--reference", "R2"]));
    let sale = async {
        within("armed", counter.shop.reader.waits_for(WaitsFor::Card)).await;
        counter.present(card("tap").unwrap(), Tap).await;
    };
    let (output, ()) = tokio::join!(output, sale);
    let said = String::from_utf8_lossy(&output.unwrap().stdout).into_owned();
    assert!(said.contains("approved: 5.00 EUR and 0.50 tip"), "{said}");
}

/// Checks a customer who does not answer the question. The preset tip applies, and the reader asks for the card.
#[tokio::test]
async fn a_customer_who_chooses_no_tip_in_time_gives_the_one_that_is_set() {
    for (default, tip, charged) in [(0, None, "12.30 EUR"), (15, Some("1.85"), "14.15 EUR")] {
        let counter = open(&format!("presets = [10]\ncustom = false\ndefault = {default}\ntimeout-s = 5")).await;
        let (status, begun) = counter.ask(json!({ "reference": "R1", "amount": "12.30", "tip": "ask" })).await;
        assert_eq!(status, 201, "{begun}");
        within("the question", counter.shop.reader.waits_for(WaitsFor::Number)).await;
        counter.shop.reader.wait_too_long();
        within("the card", counter.shop.reader.waits_for(WaitsFor::Card)).await;
        counter.present(card("tap").unwrap(), Tap).await;
        let view = counter.until_ended("R1").await;
        assert_eq!((ended(&view), view.tip.as_deref()), (Some(OutcomeWord::Approved), tip));
        assert_eq!(counter.charged(), [charged]);
    }
}
