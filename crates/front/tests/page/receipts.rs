//! Tests of the customer's receipt after a sale: on paper, as a QR code, or not at all, as the terminal is configured.

use pos_sim::reader::CardEntry;
use pos_sim::shop::Options;

use crate::browser::{Browser, By, Driver};
use crate::cashier::charge;
use crate::counter::Counter;
use crate::within;

const LARGE: (u32, u32) = (1024, 600);

/// Returns a shop with this section `[receipts]`.
fn receipts(section: &str) -> Options {
    let config = vec![("[till]\n".to_owned(), format!("[receipts]\n{section}\n\n[till]\n"))];
    Options { config, ..Options::default() }
}

/// Returns a shop that prints on demand and has a server for receipts.
pub(crate) fn on_demand() -> Options {
    receipts("customer = \"ask\"\nreceipt-url = \"https://shop.example/r/{reference}\"")
}

/// Makes a sale on the page.
async fn sell(page: &Browser, counter: &Counter) {
    charge(page, "1234").await;
    counter.present("tap", CardEntry::Tap).await;
    page.until_screen("sale-approved").await;
    page.until("!document.querySelector('main [aria-disabled=true]')").await;
}

async fn offered(page: &Browser) -> String {
    let ids = "return [...document.querySelectorAll('.end > .answers button')].map((one) => one.id).join(' ')";
    page.run(ids).await.as_str().unwrap().to_owned()
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn after_a_sale_the_receipt_is_printed_on_demand_and_once_or_shown_as_a_code() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let mut counter = Counter::open(on_demand()).await;
    page.open(&counter.url, "en", LARGE).await;
    page.until_link("up").await;
    sell(&page, &counter).await;
    assert_eq!(offered(&page).await, "new print code receipt");
    assert!(within("the shop's copy", counter.shop.printer.next_receipt()).await.contains("MERCHANT COPY"));

    page.press("#print", By::Pointer).await;
    let paper = within("the customer's copy", counter.shop.printer.next_receipt()).await;
    assert!(paper.contains("CUSTOMER COPY") && !paper.contains("DUPLICATE"), "{paper}");
    page.until("document.querySelector('.end .more[role=status]').textContent === 'It is being printed.'").await;
    page.until("document.querySelector('#print').getAttribute('aria-disabled') === 'true'").await;

    // The label of the code is the address in the agent's answer.
    page.press("#code", By::Pointer).await;
    page.until("document.querySelector('dialog[open] .picture path')").await;
    let label = page.run("return document.querySelector('dialog .picture svg').getAttribute('aria-label')").await;
    let reference = counter.get("/v1/latest").await["reference"].as_str().unwrap().to_owned();
    assert_eq!(label, format!("https://shop.example/r/{reference}"));
    // A code is no paper. The copies are still there, and another print is a duplicate.
    page.until("document.querySelector('dialog #print').hidden").await;
    page.press("dialog [data-copy=customer]", By::Pointer).await;
    page.until("/CUSTOMER COPY/.test(document.querySelector('dialog .paper').textContent)").await;
    page.press("dialog #print", By::Pointer).await;
    assert!(within("a duplicate", counter.shop.printer.next_receipt()).await.contains("DUPLICATE"));
    page.press("#close", By::Pointer).await;
    page.press("#new", By::Pointer).await;
    page.until_screen("pay").await;

    for (section, ids) in [
        ("customer = \"print\"", "new receipt"),
        ("customer = \"none\"", "new receipt"),
        ("customer = \"ask\"", "new print receipt"),
        ("customer = \"none\"\nreceipt-url = \"https://shop.example/r/{number}\"", "new code receipt"),
    ] {
        let counter = Counter::open(receipts(section)).await;
        page.open(&counter.url, "en", LARGE).await;
        page.until_link("up").await;
        sell(&page, &counter).await;
        assert_eq!(offered(&page).await, ids, "{section}");
    }
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}
