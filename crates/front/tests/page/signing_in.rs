//! Test of the sign-in. It reports the connection's state. A wrong PIN and its wait are marked as faults, and no key
//! moves when they appear.

use pos_sim::shop::Options;
use serde_json::Value;

use crate::browser::{Browser, By, Driver};
use crate::cashier::PIN;
use crate::counter::Counter;

const SIZES: [(u32, u32); 2] = [(480, 320), (800, 480)];

async fn until_said(page: &Browser, words: &str) {
    page.until(&format!("document.getElementById('link').innerText === {words:?}")).await;
}

/// Returns the place of each key of the PIN pad.
async fn keys(page: &Browser) -> Value {
    page.run(
        "return [...document.querySelectorAll('[data-pin]')].map((key) => JSON.stringify(key.getBoundingClientRect()))",
    )
    .await
}

/// Types a wrong PIN, and returns the answer. It must have the colour of a fault.
async fn wrong(page: &Browser) -> String {
    // The last digit sends the PIN.
    page.keys("1379").await;
    page.until("document.querySelector('.sign-in > .wrong')?.innerText").await;
    let answer = "const said = document.querySelector('.sign-in > .wrong'); \
        const probe = document.body.appendChild(document.createElement('i')); probe.style.color = 'var(--bad)'; \
        const bad = getComputedStyle(probe).color; probe.remove(); \
        return [said.innerText, getComputedStyle(said).color === bad]";
    let answer = page.run(answer).await;
    assert_eq!(answer[1], true, "{answer} is in another colour");
    answer[0].as_str().unwrap().to_owned()
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn the_sign_in_reports_the_connection_and_a_wrong_pin() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let more = "[operators]\nrequired = true\npin-digits = 4\n\n[gateway]";
    let options = Options { config: vec![("[gateway]".to_owned(), more.to_owned())], ..Options::default() };
    let mut counter = Counter::open_with(options, "[page]\nwithout-sign-in = \"nobody\"\n").await;
    for name in ["Anna", "Ben"] {
        counter.add_operator(name, "cashier", PIN).await;
    }
    page.open(&counter.url, "en", SIZES[0]).await;
    until_said(&page, "Not signed in").await;
    counter.kill_agent().await;
    until_said(&page, "Terminal restarting").await;
    counter.start_agent().await;
    until_said(&page, "Not signed in").await;
    counter.kill_front().await;
    until_said(&page, "No connection").await;
    counter.start_front().await;
    until_said(&page, "Not signed in").await;

    // Anna types one wrong PIN; Ben types them until he must wait.
    for (size, name, last) in [(SIZES[0], "Anna", "The PIN is wrong."), (SIZES[1], "Ben", "Too many wrong PINs.")] {
        page.resize(size).await;
        page.press(&format!("[data-operator={name}]"), By::Pointer).await;
        page.until("document.querySelectorAll('[data-pin]').length === 12").await;
        let before = keys(&page).await;
        loop {
            let answer = wrong(&page).await;
            assert_eq!(keys(&page).await, before, "a key moves at {size:?} with {answer}");
            if answer.starts_with(last) {
                break;
            }
            assert_eq!(answer, "The PIN is wrong.");
        }
        page.press("#other", By::Pointer).await;
    }
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}
