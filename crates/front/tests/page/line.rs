//! Tests in which the connection between page and front breaks. The page reports this within three seconds, marks its
//! data as old, and recovers automatically.

use pos_sim::reader::CardEntry;
use pos_sim::shop::Options;

use crate::browser::{Browser, Driver};
use crate::counter::Counter;

const LARGE: (u32, u32) = (1024, 600);

/// Records when the page last reached the front and when it reported the lost connection, both by the page's clock.
const WATCH: &str = "
  window.reached = performance.now();
  const ask = window.fetch;
  window.fetch = async (...what) => {
    const answer = await ask(...what);
    window.reached = performance.now();
    return answer;
  };
  new MutationObserver(() => { if (document.body.dataset.link === 'lost') window.said ??= performance.now(); })
    .observe(document.body, { attributes: true });";

async fn charged(page: &Browser, counter: &Counter) {
    page.open(&counter.url, "en", LARGE).await;
    page.until_link("up").await;
    page.until_screen("pay").await;
    page.keys("1234\u{e007}").await;
    page.until_screen("sale-card").await;
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn a_cut_connection_is_said_and_nothing_is_guessed() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let mut counter = Counter::open(Options::default()).await;
    charged(&page, &counter).await;
    page.run(WATCH).await;

    // Neither side closes the connection, as if a cable were pulled out.
    counter.stop_front();
    page.until_link("lost").await;
    page.until("document.querySelector('.sale').dataset.stale === 'true'").await;
    let took = page.run("return window.said - window.reached").await.as_f64().unwrap();
    println!("said {took:.0} ms after the last answer");
    assert!(took < 3000.0, "{took} ms");
    // The transaction continues without the page.
    counter.present("tap", CardEntry::Tap).await;
    let ledger = async {
        while counter.shop.gateway.ledger().entries().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    crate::within("the payment at the gateway", ledger).await;
    assert_eq!(page.screen().await, "sale-card", "nothing is guessed");
    counter.continue_front();
    page.until_screen("sale-approved").await;
    page.until("document.querySelector('.end').dataset.stale === 'false'").await;

    // An outcome on the screen is also marked as old, with the time of the last answer.
    counter.kill_front().await;
    page.until("document.querySelector('.end').dataset.stale === 'true'").await;
    page.until("/As of/.test(document.querySelector('.end').innerText)").await;
    counter.start_front().await;
    page.until("document.querySelector('.end').dataset.stale === 'false'").await;
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn two_pages_that_begin_at_once_begin_one_sale() {
    let driver = Driver::start().await;
    let (page, other) = (driver.browser().await, driver.browser().await);
    let counter = Counter::open(Options::default()).await;
    for (page, amount) in [(&page, "800"), (&other, "900")] {
        page.open(&counter.url, "en", LARGE).await;
        page.until_link("up").await;
        page.keys(amount).await;
    }
    tokio::join!(page.keys("\u{e007}"), other.keys("\u{e007}"));
    let shown = "/^sale-(card|refused)$/.test(document.body.dataset.screen)";
    tokio::join!(page.until(shown), other.until(shown));
    let sales = counter.get("/v1/sales").await;
    assert_eq!(sales["sales"].as_array().unwrap().len(), 1, "{sales}");
    counter.present("tap", CardEntry::Tap).await;
    let ended = counter.get(&format!("/v1/sales/{}?wait-s=60", sales["sales"][0]["reference"].as_str().unwrap())).await;
    assert_eq!(ended["outcome"], "approved", "{ended}");
    assert_eq!(counter.shop.gateway.ledger().all_charged().count(), 1);
    page.close().await;
    other.close().await;
}

/// A page that lost one part at its start would show nothing for ever.
#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn a_part_that_is_lost_at_the_start_is_loaded_again() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let counter = Counter::open(Options::default()).await;
    page.open(&counter.url, "en", LARGE).await;
    page.until_screen("pay").await;
    for part in ["/assets/en.json", "/assets/icons.svg"] {
        page.blocks(&[&format!("*{part}")]).await;
        page.reload().await;
        let asked = "performance.getEntriesByType('resource').filter((one) => one.name.endsWith";
        page.until(&format!("{asked}({part:?})).length > 1")).await;
        assert_eq!(page.screen().await, "", "without {part} there is no screen");
        page.blocks(&[]).await;
        page.until_screen("pay").await;
        page.until_link("up").await;
        page.until("document.querySelector('#icon-approved')").await;
    }
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}

/// Prints the time but sets no limit, because the time depends on the load of the machine.
#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn the_first_paint_is_measured() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let counter = Counter::open(Options::default()).await;
    let mut times = Vec::new();
    for _ in 0..7 {
        page.open(&counter.url, "en", LARGE).await;
        let painted = "performance.getEntriesByName('first-contentful-paint')[0]";
        page.until(painted).await;
        times.push(page.run(&format!("return {painted}.startTime")).await.as_f64().unwrap());
    }
    times.sort_by(f64::total_cmp);
    println!("first contentful paint, middle of seven: {:.0} ms", times[3]);
    assert!(times.iter().all(|time| *time > 0.0), "{times:?}");
    page.close().await;
}
