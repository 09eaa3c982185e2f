//! Tests of training mode and tips on the page. Training is marked on each screen and moves no money. A chosen tip is
//! charged.

use pos_sim::shop::Options;

use crate::browser::{Browser, By, Driver};
use crate::counter::Counter;

const LARGE: (u32, u32) = (1024, 600);
const MARKED: &str = "document.body.dataset.training === 'true' && !document.getElementById('training').hidden";

/// Returns the options of a shop that allows training and offers tips.
pub(crate) fn taught() -> Options {
    let more = "[training]\nallowed = true\n\n[tips]\npresets = [5, 10]\n\n[gateway]";
    Options { config: vec![("[gateway]".to_owned(), more.to_owned())], ..Options::default() }
}

/// Enters training mode with this training result, from the keypad.
pub(crate) async fn train(page: &Browser, result: &str) {
    page.press("#kind", By::Pointer).await;
    page.press("#train", By::Pointer).await;
    page.press(&format!("[data-result={result}]"), By::Pointer).await;
    page.until(MARKED).await;
    page.until_screen("pay").await;
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn training_is_marked_on_each_screen_and_reaches_nobody() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let counter = Counter::open(taught()).await;
    page.open(&counter.url, "en", LARGE).await;
    page.until_link("up").await;
    page.until_screen("pay").await;
    assert_eq!(page.run(&format!("return {MARKED}")).await, false, "nobody trains yet");
    for (result, screen) in
        [("approved", "sale-approved"), ("declined", "sale-declined"), ("signature", "sale-signature")]
    {
        train(&page, result).await;
        page.keys("1234\u{e007}").await;
        page.until_screen("sale-card").await;
        page.until(MARKED).await;
        // After a reload, the page shows the same transaction.
        page.reload().await;
        page.until_screen(screen).await;
        page.until(MARKED).await;
        if result == "signature" {
            page.press("#accept", By::Pointer).await;
            page.until_screen("sale-approved").await;
        }
        page.until("document.querySelector('#new:not([aria-disabled=true])')").await;
        page.press("#new", By::Pointer).await;
        page.until_screen("pay").await;
        page.until(MARKED).await;
        page.press("[data-view=end-training]", By::Pointer).await;
        page.until(&format!("!({MARKED})")).await;
    }
    let trained = counter.get("/v1/sales?training=true").await;
    assert_eq!(trained["sales"].as_array().unwrap().len(), 3, "{trained}");
    let real = counter.get("/v1/sales").await;
    assert_eq!(real["sales"].as_array().unwrap().len(), 0, "{real}");
    assert!(counter.shop.gateway.ledger().entries().is_empty());
    // The list shows real transactions again.
    page.press("[data-view=sales]", By::Pointer).await;
    page.until("document.querySelector('.sales') && !document.querySelector('.entry')").await;
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn a_tip_that_is_chosen_is_charged() {
    use pos_sim::reader::CardEntry;

    let driver = Driver::start().await;
    let page = driver.browser().await;
    let counter = Counter::open(taught()).await;
    page.open(&counter.url, "en", LARGE).await;
    page.until_link("up").await;
    for (chosen, charged) in [("10", "11.00"), ("null", "10.00"), ("5", "10.50")] {
        page.until_screen("pay").await;
        page.press(&format!("[data-tip='{chosen}']"), By::Pointer).await;
        page.keys("1000\u{e007}").await;
        page.until_screen("sale-card").await;
        counter.present("tap", CardEntry::Tap).await;
        page.until_screen("sale-approved").await;
        let ledger = counter.shop.gateway.ledger();
        let last = ledger.entries().last().map(|entry| entry.amount.clone());
        assert_eq!(last.as_deref(), Some(charged), "a tip of {chosen} %");
        page.until("document.querySelector('#new:not([aria-disabled=true])')").await;
        page.press("#new", By::Pointer).await;
    }
    page.close().await;
}
