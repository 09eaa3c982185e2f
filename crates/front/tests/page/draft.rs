//! Tests of the draft on the keypad. It stays on other screens and after a reload, until it is sent. The next operator
//! does not see it.

use pos_sim::gateway::Outcome;
use pos_sim::reader::CardEntry;
use pos_sim::shop::Options;
use serde_json::{Value, json};

use crate::browser::{Browser, By, Driver};
use crate::cashier::{PIN, sign_in};
use crate::counter::Counter;
use crate::training::taught;

const LARGE: (u32, u32) = (1024, 600);
const EMPTY: [&str; 4] = ["€0.00", "Reference", "Sale", "null"];

/// Returns the amount, the reference, the kind and the tip on the keypad.
async fn draft(page: &Browser) -> Value {
    let draft = "const text = (id) => document.getElementById(id).innerText.trim(); \
        const tip = document.querySelector('.tips:not([hidden]) [aria-pressed=true]'); \
        return [text('amount'), text('reference'), text('kind'), tip?.dataset.tip ?? 'null']";
    page.run(draft).await
}

/// Goes to each other screen and back, reloads the page on each screen, and compares the draft each time.
async fn stays(page: &Browser, expected: &[&str]) {
    for view in ["sales", "day", "terminal", "pay"] {
        for reloads in [false, true] {
            page.press(&format!("[data-view={view}]"), By::Pointer).await;
            page.until_screen(view).await;
            if reloads {
                page.reload().await;
                page.until_link("up").await;
            }
            page.press("[data-view=pay]", By::Pointer).await;
            page.until_screen("pay").await;
            assert_eq!(draft(page).await, json!(expected), "after {view}, reloaded: {reloads}");
        }
    }
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn what_is_typed_stays_until_it_is_sent() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let counter = Counter::open(taught()).await;
    page.open(&counter.url, "en", LARGE).await;
    page.until_link("up").await;
    page.until_screen("pay").await;
    assert_eq!(draft(&page).await, json!(EMPTY));
    page.press("#reference", By::Pointer).await;
    page.fill("#reference-field", "Table-7").await;
    page.press("#ok", By::Pointer).await;
    page.press("[data-tip='10']", By::Pointer).await;
    page.keys("4800").await;
    stays(&page, &["€48.00", "Table-7", "Sale", "10"]).await;

    counter.shop.gateway.force(Outcome::Approve);
    page.press("#charge", By::Pointer).await;
    page.until_screen("sale-card").await;
    counter.present("tap", CardEntry::Tap).await;
    page.until_screen("sale-approved").await;
    let ledger = counter.shop.gateway.ledger();
    assert_eq!(ledger.all_charged().map(|entry| entry.amount.as_str()).collect::<Vec<_>>(), ["52.80"]);
    page.press("#new", By::Pointer).await;
    page.until_screen("pay").await;
    stays(&page, &EMPTY).await;

    page.press("#kind", By::Pointer).await;
    page.press("[data-kind=credit]", By::Pointer).await;
    page.until("!document.querySelector('dialog[open]')").await;
    page.keys("350").await;
    stays(&page, &["− €3.50", "Reference", "Credit", "null"]).await;
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn the_next_operator_begins_with_an_empty_keypad() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let more = "[operators]\npin-digits = 4\n\n[gateway]";
    let options = Options { config: vec![("[gateway]".to_owned(), more.to_owned())], ..Options::default() };
    let counter = Counter::open_with(options, "[page]\nwithout-sign-in = \"nobody\"\n").await;
    for name in ["Anna", "Ben"] {
        counter.add_operator(name, "cashier", PIN).await;
    }
    page.open(&counter.url, "en", LARGE).await;
    for (name, next) in [("Anna", "locks"), ("Ben", "session ends while the page is reloaded")] {
        sign_in(&page, name).await;
        assert_eq!(draft(&page).await, json!(EMPTY), "{name}");
        page.keys("4800").await;
        page.reload().await;
        page.until_link("up").await;
        assert_eq!(draft(&page).await[0], "€48.00", "{name}");
        if next == "locks" {
            page.press("[data-view=lock]", By::Pointer).await;
        } else {
            page.promised(
                "fetch('/front/session', { method: 'DELETE', headers: { 'Content-Type': 'application/json' } })",
            )
            .await;
            page.reload().await;
        }
        page.until_screen("sign-in").await;
        assert_eq!(page.run("return JSON.parse(sessionStorage.getItem('pos.draft')).amount").await, "");
    }
    sign_in(&page, "Anna").await;
    assert_eq!(draft(&page).await, json!(EMPTY));
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}
