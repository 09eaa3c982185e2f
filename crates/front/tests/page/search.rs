//! Tests of the history. The terminal searches for the typed text in all its transactions, and not only in those on the
//! screen. Older transactions are loaded in parts.

use pos_sim::reader::CardEntry;
use pos_sim::shop::Options;
use serde_json::json;

use crate::browser::{Browser, By, Driver};
use crate::counter::Counter;

const LARGE: (u32, u32) = (1024, 600);
const BACKSPACE: char = '\u{e003}';
/// The number of refunds, which is more than the history loads at first.
const REFUNDS: usize = 101;

/// Waits until these references are shown in this order.
async fn until_shown(page: &Browser, references: &[&str]) {
    let wanted = serde_json::to_string(references).unwrap();
    page.until(&format!(
        "JSON.stringify([...document.querySelectorAll('.entry')].map((one) => one.dataset.reference)) === '{wanted}'"
    ))
    .await;
}

async fn look_for(page: &Browser, words: &str, references: &[&str]) {
    page.keys(words).await;
    until_shown(page, references).await;
    page.keys(&words.chars().map(|_| BACKSPACE).collect::<String>()).await;
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn a_payment_is_found_by_what_is_known_of_it_and_older_ones_come_page_by_page() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let counter = Counter::open(Options::default()).await;
    let mut last4 = Vec::new();
    for (reference, amount, card, entry) in
        [("cake-1", "12.00", "tap", CardEntry::Tap), ("tea-2", "5.00", "chip-pin", CardEntry::Insert)]
    {
        let sale = json!({ "reference": reference, "amount": amount });
        let ended = counter.beside(sale, Some((card, entry))).await;
        assert_eq!(ended["outcome"], "approved", "{ended}");
        last4.push(ended["card"]["last4"].as_str().unwrap().to_owned());
    }
    assert_ne!(last4[0], last4[1], "the cards are told apart");
    page.open(&counter.url, "en", LARGE).await;
    page.until_link("up").await;
    page.press("[data-view=sales]", By::Pointer).await;
    let both = ["tea-2", "cake-1"];
    until_shown(&page, &both).await;
    assert_eq!(page.run("return document.getElementById('more').hidden").await, true);

    look_for(&page, "12.00", &["cake-1"]).await;
    look_for(&page, &last4[1], &["tea-2"]).await;
    look_for(&page, "tea", &["tea-2"]).await;
    look_for(&page, "12.01", &[]).await;
    until_shown(&page, &both).await;

    for n in 0..REFUNDS {
        let refund = json!({ "kind": "refund", "of": "cake-1", "reference": format!("back-{n}"), "amount": "0.01" });
        let ended = counter.beside(refund, None).await;
        assert_eq!(ended["outcome"], "approved", "{ended}");
    }
    page.reload().await;
    page.until_link("up").await;
    page.press("[data-view=sales]", By::Pointer).await;
    page.until("document.querySelectorAll('.entry').length === 100").await;
    // The page has not loaded this transaction yet.
    look_for(&page, "cake", &["cake-1"]).await;
    page.until("document.querySelectorAll('.entry').length === 100").await;
    // The rows that are drawn already stay; only the older ones are added.
    page.run("document.querySelectorAll('.entry').forEach((row) => { row.isDrawn = true; })").await;
    page.press("#more", By::Pointer).await;
    page.until(&format!("document.querySelectorAll('.entry').length === {}", REFUNDS + 2)).await;
    assert_eq!(
        page.run("return [...document.querySelectorAll('.entry')].filter((row) => row.isDrawn).length").await,
        100
    );
    assert_eq!(page.run("return document.getElementById('more').hidden").await, true);
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}
