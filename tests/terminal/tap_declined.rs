//! A tap that the issuer declines. The agent asks the customer to insert the card, and the next try accepts only the
//! chip.

use pos_sim::reader::CardEntry::{Insert, Tap};
use pos_sim::reader::card;
use pos_sim::shop::Options;
use pos_terms::transaction::OutcomeWord;
use serde_json::json;

use crate::counter::{Counter, ended};

/// START CONTACTLESS. The next constant is START for a chip.
const TAPS: u16 = 0xDEC1;
const CHIP: u16 = 0xDED1;

async fn open() -> Counter {
    let mut options = Options::default();
    options.reader.removes_card = true;
    Counter::open_with(options).await
}

/// Returns the commands to read a card, without the first `before` commands to the reader.
fn armed(counter: &Counter, before: usize) -> Vec<u16> {
    let told = counter.told_to_reader();
    told[before..].iter().copied().filter(|command| [TAPS, CHIP].contains(command)).collect()
}

#[tokio::test]
async fn a_tap_that_its_issuer_does_not_take_is_followed_by_the_chip_alone() {
    let mut counter = open().await;
    counter.sell("tapped", "5.93", "tap", Tap).await;
    let view = counter.until_ended("tapped").await;
    assert_eq!((ended(&view), view.reason.as_deref()), (Some(OutcomeWord::Declined), Some("insert-and-pin")));
    assert!(view.text.contains("ask the customer to insert the card"), "{}", view.text);
    let paper = counter.paper().await;
    assert!(paper.contains("PLEASE INSERT THE CARD") && paper.contains("NOT CHARGED"), "{paper}");

    // The same till requests the same amount without the option for the chip. The terminal remembers that only the chip
    // is allowed.
    counter.until_free().await;
    let before = counter.told_to_reader().len();
    assert_eq!(counter.begin("inserted", "5.93").await.0, 201);
    counter.until_display("insert card").await;
    counter.shop.reader.present(card("chip-pin").unwrap(), Insert);
    let view = counter.until_ended("inserted").await;
    assert_eq!(ended(&view), Some(OutcomeWord::Approved));
    assert_eq!((armed(&counter, before), counter.charged()), (vec![CHIP], vec!["5.93 EUR".to_owned()]));
    // A till that repeats its request gets the same sale, not a conflict.
    let (status, again) = counter.begin("inserted", "5.93").await;
    assert_eq!((status, again["replayed"].as_bool()), (200, Some(true)));

    // The next sale accepts any card.
    counter.until_free().await;
    let before = counter.told_to_reader().len();
    counter.sell("next", "5.00", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("next").await), Some(OutcomeWord::Approved));
    assert_eq!(armed(&counter, before), [TAPS]);
    counter.audit("the next");
}

#[tokio::test]
async fn another_amount_after_it_is_for_any_card() {
    let counter = open().await;
    counter.sell("tapped", "5.93", "tap", Tap).await;
    assert_eq!(counter.until_ended("tapped").await.reason.as_deref(), Some("insert-and-pin"));
    counter.until_free().await;
    counter.sell("other", "6.00", "tap", Tap).await;
    assert_eq!(ended(&counter.until_ended("other").await), Some(OutcomeWord::Approved));
}

/// Checks that a customer who has inserted the card is not asked to insert it.
#[tokio::test]
async fn a_till_asks_for_the_chip_itself_and_no_swipe_takes_its_place() {
    let counter = open().await;
    counter.until_ready().await;
    let before = counter.told_to_reader().len();
    let body = json!({ "reference": "R1", "amount": "7.00", "entry": "chip" });
    assert_eq!(counter.ask(body.clone()).await.0, 201);
    counter.until_display("insert card").await;
    counter.shop.reader.present(card("swipe").unwrap(), pos_sim::reader::CardEntry::Swipe);
    counter.until_display("insert card").await;
    counter.shop.reader.present(card("chip-pin").unwrap(), Insert);
    assert_eq!(ended(&counter.until_ended("R1").await), Some(OutcomeWord::Approved));
    assert_eq!(armed(&counter, before), [CHIP]);
    assert_eq!(counter.ask(body).await.0, 200);
    // Without the option, the request means the same sale. With a typed card, it means another one.
    assert_eq!(counter.begin("R1", "7.00").await.0, 200);
    let typed = json!({ "reference": "R1", "amount": "7.00", "entry": "manual" });
    assert_eq!(counter.ask(typed).await.1["code"], "amount-differs");
    // A sale for any card does not become a sale for the chip.
    counter.until_free().await;
    counter.sell("R2", "7.00", "tap", Tap).await;
    counter.until_ended("R2").await;
    let chip = json!({ "reference": "R2", "amount": "7.00", "entry": "chip" });
    assert_eq!(counter.ask(chip).await.1["code"], "amount-differs");
}

#[tokio::test]
async fn a_card_that_its_issuer_has_given_up_is_not_tried_again() {
    let mut counter = open().await;
    counter.sell("R1", "5.52", "tap", Tap).await;
    let view = counter.until_ended("R1").await;
    assert_eq!((ended(&view), view.reason.as_deref()), (Some(OutcomeWord::Declined), Some("do-not-try-again")));
    assert!(view.text.contains("do not try this card again"), "{}", view.text);
    let paper = counter.paper().await;
    assert!(paper.contains("DECLINED BY THE BANK"), "{paper}");
}
