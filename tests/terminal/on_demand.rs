//! Receipts that are printed only on demand, over real connections: as the country's law or `[receipts]` says. Receipts
//! of other transactions are printed, and a copy that is demanded is printed once without the mark of a duplicate.

use crate::counter::{Counter, ended};
use pos_sim::printer::Sensors;
use pos_sim::reader::CardEntry::{Swipe, Tap};
use pos_sim::shop::Options;
use pos_terms::transaction::OutcomeWord;
use serde_json::{Value, json};

const FRANCE: (&str, &str) = ("currency = \"EUR\"", "country = \"FR\"\ncurrency = \"EUR\"");
const ADDRESS: (&str, &str) =
    ("[till]\n", "[receipts]\nreceipt-url = \"https://shop.example/r/{reference}?n={number}\"\n\n[till]\n");

fn with(changes: &[(&str, &str)]) -> Options {
    let config = changes.iter().map(|(what, instead)| ((*what).to_owned(), (*instead).to_owned())).collect();
    Options { config, ..Options::default() }
}

/// Demands a copy and returns the answer.
async fn demand(counter: &Counter, reference: &str, copy: &str) -> Value {
    let (code, body) = counter.post(&format!("/v1/sales/{reference}/receipt?copy={copy}")).await;
    assert_eq!(code, 202, "{body}");
    body
}

/// Checks that the next paper is this copy of this transaction.
async fn next_is(counter: &mut Counter, reference: &str, copy: &str, duplicate: bool) -> String {
    let paper = counter.paper().await;
    assert!(paper.contains(&format!("{copy} COPY")) && paper.contains(reference), "{reference} {copy}: {paper}");
    assert_eq!(paper.contains("DUPLICATE"), duplicate, "{paper}");
    paper
}

#[tokio::test]
async fn in_france_the_customers_copy_of_a_sale_is_printed_on_demand_and_once() {
    let mut counter = Counter::open_with(with(&[FRANCE, ADDRESS])).await;
    counter.sell("sale-1", "12.34", "tap", Tap).await;
    let view = counter.until_ended("sale-1").await;
    assert_eq!((ended(&view), view.receipt_on_demand), (Some(OutcomeWord::Approved), true));
    assert_eq!(view.receipt_url.as_deref(), Some("https://shop.example/r/sale-1?n=1"));
    next_is(&mut counter, "sale-1", "MERCHANT", false).await;

    // The printer prints in order, so the next paper would be the customer's copy of the first sale.
    counter.until_ready().await;
    counter.sell("sale-2", "2.00", "tap", Tap).await;
    counter.until_ended("sale-2").await;
    next_is(&mut counter, "sale-2", "MERCHANT", false).await;
    demand(&counter, "sale-1", "customer").await;
    next_is(&mut counter, "sale-1", "CUSTOMER", false).await;
    demand(&counter, "sale-1", "customer").await;
    next_is(&mut counter, "sale-1", "CUSTOMER", true).await;
    // The merchant's copy was printed before.
    demand(&counter, "sale-2", "merchant").await;
    next_is(&mut counter, "sale-2", "MERCHANT", true).await;
    demand(&counter, "sale-2", "customer").await;
    next_is(&mut counter, "sale-2", "CUSTOMER", false).await;
}

/// The card's last answer is on the receipt. A till that asks at once gets neither an incomplete receipt nor a
/// duplicate.
#[tokio::test]
async fn a_receipt_that_is_asked_for_before_the_cards_last_answer_waits_for_it() {
    let mut counter = Counter::open_with(with(&[FRANCE])).await;
    counter.shop.reader.run_script("on continue 1: delay 1s".parse().unwrap());
    counter.sell("sale-1", "12.34", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("sale-1").await), Some(OutcomeWord::Approved));
    let (shown, _) = tokio::join!(counter.receipt("sale-1", "customer"), demand(&counter, "sale-1", "customer"));
    for copy in ["MERCHANT", "CUSTOMER"] {
        next_is(&mut counter, "sale-1", copy, false).await;
    }
    assert_eq!(counter.receipt("sale-1", "customer").await, shown);
    demand(&counter, "sale-1", "customer").await;
    next_is(&mut counter, "sale-1", "CUSTOMER", true).await;
}

#[tokio::test]
async fn in_france_receipts_of_refunds_voids_and_declined_sales_are_printed() {
    let mut counter = Counter::open_with(with(&[FRANCE])).await;
    counter.sell("sale-1", "12.34", "tap", Tap).await;
    counter.until_ended("sale-1").await;
    counter.until_ready().await;
    counter.sell("sale-2", "2.00", "tap", Tap).await;
    counter.until_ended("sale-2").await;
    for sale in ["sale-1", "sale-2"] {
        next_is(&mut counter, sale, "MERCHANT", false).await;
    }
    let refund = counter.done(json!({ "kind": "refund", "reference": "back-1", "of": "sale-1" })).await;
    let void = counter.done(json!({ "kind": "reversal", "reference": "back-2", "of": "sale-2" })).await;
    counter.until_ready().await;
    counter.sell("sale-3", "10.51", "tap", Tap).await;
    let declined = counter.until_ended("sale-3").await;
    for (view, outcome) in
        [(&refund, OutcomeWord::Approved), (&void, OutcomeWord::Approved), (&declined, OutcomeWord::Declined)]
    {
        assert_eq!((ended(view), view.receipt_on_demand), (Some(outcome), false), "{}", view.reference);
        for copy in ["MERCHANT", "CUSTOMER"] {
            next_is(&mut counter, view.reference.as_str(), copy, false).await;
        }
    }
}

#[tokio::test]
async fn in_france_the_slip_to_sign_is_printed_and_a_refused_one_gives_the_customer_paper() {
    let mut counter = Counter::open_with(with(&[FRANCE])).await;
    counter.sell("signed", "12.34", "swipe", Swipe).await;
    assert!(next_is(&mut counter, "signed", "MERCHANT", false).await.contains("SIGNATURE"));
    assert!(counter.sign("signed", true).await.receipt_on_demand);
    counter.until_ready().await;
    counter.sell("refused", "2.00", "swipe", Swipe).await;
    next_is(&mut counter, "refused", "MERCHANT", false).await;
    counter.sign("refused", false).await;
    assert!(!counter.until_ended("refused").await.receipt_on_demand);
    for copy in ["MERCHANT", "CUSTOMER"] {
        assert!(next_is(&mut counter, "refused", copy, false).await.contains("REVERSED"));
    }
    demand(&counter, "signed", "customer").await;
    next_is(&mut counter, "signed", "CUSTOMER", false).await;
}

#[tokio::test]
async fn a_demanded_copy_waits_for_paper_and_after_a_power_cut_there_is_no_second_original() {
    let mut counter = Counter::open_with(with(&[FRANCE])).await;
    counter.sell("sale-1", "12.34", "tap", Tap).await;
    counter.until_ended("sale-1").await;
    next_is(&mut counter, "sale-1", "MERCHANT", false).await;
    counter.shop.printer.set_sensors(Sensors { paper_out: true, ..Sensors::default() });
    demand(&counter, "sale-1", "customer").await;
    counter.until_status("out of paper", |status| status.printers[0].waiting == 1).await;
    counter.shop.printer.set_sensors(Sensors::default());
    next_is(&mut counter, "sale-1", "CUSTOMER", false).await;

    counter.until_ready().await;
    counter.sell("sale-2", "2.00", "tap", Tap).await;
    counter.until_ended("sale-2").await;
    next_is(&mut counter, "sale-2", "MERCHANT", false).await;
    demand(&counter, "sale-2", "customer").await;
    next_is(&mut counter, "sale-2", "CUSTOMER", false).await;
    counter.cut_power().await;
    counter.start_agent();
    counter.until_ready().await;
    assert!(counter.show("sale-2").await.receipt_on_demand);
    demand(&counter, "sale-2", "customer").await;
    next_is(&mut counter, "sale-2", "CUSTOMER", true).await;
}

#[tokio::test]
async fn a_till_that_prints_itself_and_a_terminal_without_a_printer_offer_no_paper() {
    let mut counter = Counter::open_with(with(&[FRANCE, ADDRESS])).await;
    let (code, body) = counter.ask(json!({ "reference": "till-1", "amount": "12.34", "receipts": "till" })).await;
    assert_eq!(code, 201, "{body}");
    counter.present(pos_sim::reader::card("tap").unwrap(), Tap).await;
    let view = counter.until_ended("till-1").await;
    assert_eq!((ended(&view), view.receipt_on_demand), (Some(OutcomeWord::Approved), false));
    assert_eq!(view.receipt_url.as_deref(), Some("https://shop.example/r/till-1?n=1"));
    // The till asks for the receipt and gets it.
    assert!(counter.receipt("till-1", "customer").await.contains("CUSTOMER COPY"));
    demand(&counter, "till-1", "customer").await;
    next_is(&mut counter, "till-1", "CUSTOMER", true).await;

    let paperless = [FRANCE, ADDRESS, ("[[printer]]\nport = ", "#"), ("columns = 42\n", "")];
    let counter = Counter::open_with(with(&paperless)).await;
    counter.sell("sale-1", "12.34", "tap", Tap).await;
    let view = counter.until_ended("sale-1").await;
    assert_eq!((view.receipt_on_demand, view.receipt_url.is_some()), (false, true));
}

#[tokio::test]
async fn other_countries_print_unless_the_shop_says_otherwise() {
    for (customer, on_demand, printed) in [("", false, true), ("ask", true, false), ("none", false, false)] {
        let setting = format!("[receipts]\ncustomer = \"{customer}\"\n\n[till]\n");
        let setting = if customer.is_empty() { "[till]\n" } else { &setting };
        let mut counter = Counter::open_with(with(&[("[till]\n", setting)])).await;
        counter.sell("sale-1", "12.34", "tap", Tap).await;
        let view = counter.until_ended("sale-1").await;
        assert_eq!((view.receipt_on_demand, view.receipt_url), (on_demand, None), "{customer}");
        next_is(&mut counter, "sale-1", "MERCHANT", false).await;
        if printed {
            next_is(&mut counter, "sale-1", "CUSTOMER", false).await;
        }
        counter.done(json!({ "kind": "refund", "reference": "back-1", "of": "sale-1" })).await;
        for copy in ["MERCHANT", "CUSTOMER"] {
            next_is(&mut counter, "back-1", copy, false).await;
        }
    }
}
