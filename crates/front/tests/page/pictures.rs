//! The pictures of the manual: the cashier's page and the customer's screen during a sale. What depends on the moment
//! is replaced before the picture.

use pos_sim::reader::CardEntry;
use pos_test_kit::picture::{self, Picture, Same};

use crate::browser::{Browser, Driver};
use crate::cashier::charge;
use crate::customer;

const SIZE: (u32, u32) = (800, 480);
/// The rows below the last object on the page.
const MARGIN: usize = 16;
/// Every time on the page becomes the same one.
const SAME_TIME: &str = "Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', { value: () => '10:00:00' });";
/// Replaces each countdown with a copy that stands still.
const STOP_COUNTDOWN: &str = "document.querySelectorAll('.ring').forEach((ring) => {
    const still = ring.cloneNode(true);
    still.querySelector('strong').textContent = '60';
    still.querySelector('.arc').setAttribute('stroke-dashoffset', '0');
    ring.replaceWith(still);
  });";

/// Replaces the address of a simulated gateway, which has another port each time.
const NAME_GATEWAY: &str = "const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: text } = texts;
    text.data = text.data.replace(/localhost:\\d+/, 'gateway.example');
  }";

/// Compares the page with the manual's picture, or makes the picture.
pub(crate) async fn is_in_the_manual(page: &Browser, name: &str) {
    // With its font, the page has other sizes. After a change of screen, new controls look blocked for a moment.
    page.until("document.body.dataset.complete").await;
    page.until("!document.querySelector('main [aria-disabled=true]')").await;
    page.run(NAME_GATEWAY).await;
    page.promised(crate::screens::SETTLED).await;
    let made = Picture::read(&page.picture().await).without_empty_end(MARGIN);
    picture::is_in_the_manual(name, &made, Same::Look, "bash crates/front/tests/page/run");
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn a_sale_looks_as_in_the_manual() {
    let driver = Driver::start().await;
    let (page, customer) = (driver.browser().await, driver.browser().await);
    let counter = customer::open("en").await;
    page.run_first(SAME_TIME).await;
    page.open(&counter.url, "en", SIZE).await;
    page.until_link("up").await;
    customer::open_customer(&page, &customer).await;
    customer.resize(SIZE).await;
    page.keys("1234").await;
    page.until("document.getElementById('main').innerText.includes('€12.34')").await;
    is_in_the_manual(&page, "page-amount").await;

    charge(&page, "1234").await;
    page.until("document.querySelector('.ring[data-counts=true]:not([hidden])')").await;
    page.run(STOP_COUNTDOWN).await;
    is_in_the_manual(&page, "page-card").await;
    customer::until_text(&customer, "€12.34").await;
    is_in_the_manual(&customer, "customer-card").await;

    counter.present("tap", CardEntry::Tap).await;
    page.until_screen("sale-approved").await;
    is_in_the_manual(&page, "page-approved").await;
    page.close().await;
    customer.close().await;
}
