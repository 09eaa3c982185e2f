//! Tests in which the connection between page and front breaks. The page reports this within three seconds, marks its
//! data as old, and recovers automatically.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pos_sim::reader::CardEntry;
use pos_sim::shop::Options;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::browser::{Browser, By, Driver};
use crate::cashier::charge;
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
  new MutationObserver(() => { if ([document.body.dataset.link, document.body.dataset.screen].includes('lost')) window.said ??= performance.now(); })
    .observe(document.body, { attributes: true });";

/// Stops the front, and checks how soon the page reports it. Neither side closes the connection, as if a cable were
/// pulled out. `lost` is the JavaScript condition for the report.
pub(crate) async fn cut_and_said(page: &Browser, counter: &mut Counter, lost: &str) {
    page.run(WATCH).await;
    counter.stop_front();
    page.until(lost).await;
    let took = page.run("return window.said - window.reached").await.as_f64().unwrap();
    assert!(took < 3000.0, "{took} ms");
}

async fn charged(page: &Browser, counter: &Counter) {
    page.open(&counter.url, "en", LARGE).await;
    page.until_link("up").await;
    charge(page, "1234").await;
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn a_cut_connection_is_said_and_nothing_is_guessed() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let mut counter = Counter::open(Options::default()).await;
    charged(&page, &counter).await;
    cut_and_said(&page, &mut counter, "document.body.dataset.link === 'lost'").await;
    page.until("document.querySelector('.sale').dataset.stale === 'true'").await;
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

/// A part that is lost on the way is loaded again, and no screen needs the connection afterwards.
#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn the_keypad_needs_only_the_document_and_a_lost_part_comes_later() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let mut counter = Counter::open(Options::default()).await;
    page.block(&["*/assets/later.*", "*/assets/*-rest.json", "*.woff2"]).await;
    page.open(&counter.url, "de", LARGE).await;
    page.until_link("up").await;
    page.until_screen("pay").await;
    page.keys("1234").await;
    assert_eq!(page.run("return document.documentElement.lang").await, "de");
    let amount = "return document.getElementById('amount').textContent.replace(/\\s/g, ' ')";
    assert_eq!(page.run(amount).await, "12,34 €");
    page.press("[data-view=sales]", By::Pointer).await;
    page.until_screen("loading").await;
    // Another screen is possible meanwhile, and the amount stays.
    page.press("[data-view=pay]", By::Pointer).await;
    page.until_screen("pay").await;
    assert_eq!(page.run(amount).await, "12,34 €");
    page.press("[data-view=sales]", By::Pointer).await;
    page.until_screen("loading").await;
    page.block(&[]).await;
    page.until_screen("sales").await;
    page.until("document.body.dataset.complete").await;

    counter.kill_front().await;
    page.until_link("lost").await;
    for view in ["terminal", "day", "sales", "pay"] {
        page.press(&format!("[data-view={view}]"), By::Pointer).await;
        page.until_screen(view).await;
        let blank = "return [...document.querySelectorAll('main use')].filter((use) => \
            !document.querySelector(use.getAttribute('href'))).length";
        assert_eq!(page.run(blank).await, 0, "{view} has no image");
    }
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}

/// The end of a document is lost, and its connection stays open. After twenty seconds, the first script loads the page
/// again.
#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn a_document_that_stops_on_the_way_is_loaded_again() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let counter = Counter::open(Options::default()).await;
    let front: SocketAddr = counter.url.trim_start_matches("http://").parse().unwrap();
    let whole = reqwest::get(&counter.url).await.unwrap().bytes().await.unwrap();
    // The front answers each port of its own address.
    let relay = TcpListener::bind((front.ip(), 0)).await.unwrap();
    let url = format!("http://{}", relay.local_addr().unwrap());
    let half = whole.slice(..whole.len() - 100);
    let broke_off = Arc::new(AtomicBool::new(false));
    let breaks_off = Arc::clone(&broke_off);
    tokio::spawn(async move {
        loop {
            let (mut browser, _) = relay.accept().await.unwrap();
            let (broke_off, half) = (Arc::clone(&breaks_off), half.clone());
            tokio::spawn(async move {
                let mut head = vec![0; 4096];
                let read = browser.read(&mut head).await.unwrap_or_default();
                if head.starts_with(b"GET / ") && !broke_off.swap(true, Ordering::Relaxed) {
                    let said =
                        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 999999\r\n\r\n";
                    let _ = browser.write_all(&[said.as_bytes(), &half].concat()).await;
                    return std::future::pending().await;
                }
                let mut front = TcpStream::connect(front).await.unwrap();
                let _ = front.write_all(&head[..read]).await;
                let _ = tokio::io::copy_bidirectional(&mut browser, &mut front).await;
            });
        }
    });
    // This returns when a document is complete.
    page.go(&url).await;
    page.until_screen("pay").await;
    assert!(broke_off.load(Ordering::Relaxed));
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
