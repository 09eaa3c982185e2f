//! Tests of the customer's screen, in a second browser. It shows each step and outcome of the payment in progress,
//! nothing old, and it can do nothing.

use pos_sim::reader::{CardEntry, Key, PinPlan, WaitsFor};
use pos_sim::shop::Options;
use pos_words::Language;

use crate::browser::{Browser, By, Driver, ESCAPE};
use crate::cashier::{PIN, charge, sign_in};
use crate::counter::Counter;
use crate::line::cut_and_said;
use crate::screens::{Eye, pictures};

const LARGE: (u32, u32) = (1024, 600);
/// From the smallest screen to a large monitor, upright too.
const SIZES: [(u32, u32); 6] = [(480, 320), (320, 480), (800, 480), (768, 1024), (1024, 600), (1920, 1080)];

/// Records each text that the customer's screen shows.
const WATCH: &str = "
  window.texts = [];
  new MutationObserver(() => {
    window.texts.push(document.body.dataset.screen + ': ' + document.getElementById('main').innerText);
  }).observe(document.body, { attributes: true, childList: true, subtree: true });";

/// Opens a counter whose page offers tips and a customer's screen, in this language.
pub(crate) async fn open(language: &str) -> Counter {
    let terminal = format!("language = {language:?}\ncurrency = \"EUR\"");
    let config = vec![
        ("currency = \"EUR\"".to_owned(), terminal),
        // No code page has the letters of all languages.
        ("columns = 42".to_owned(), "columns = 42\ncode-page = \"ascii\"".to_owned()),
        ("[gateway]".to_owned(), "[tips]\npresets = [5, 10]\n\n[gateway]".to_owned()),
    ];
    Counter::open_with(Options { config, ..Options::default() }, "[page]\ncustomer = true\n").await
}

/// Opens the customer's screen from the cashier's page, and shows it in the other browser.
pub(crate) async fn open_customer(page: &Browser, customer: &Browser) {
    page.press("[data-view=terminal]", By::Pointer).await;
    page.run("window.open = (address) => { window.shownTo = address; }").await;
    page.press("#customer", By::Pointer).await;
    page.press("#customer-open", By::Pointer).await;
    page.until("window.shownTo").await;
    let address = page.run("return window.shownTo").await;
    customer.resize(LARGE).await;
    customer.go(address.as_str().unwrap()).await;
    customer.until_screen("idle").await;
    page.press("[data-view=pay]", By::Pointer).await;
    page.until_screen("pay").await;
}

async fn text(customer: &Browser) -> String {
    customer.run("return document.getElementById('main').innerText").await.as_str().unwrap().to_owned()
}

pub(crate) async fn until_text(customer: &Browser, words: &str) {
    customer.until(&format!("document.getElementById('main').innerText.includes({words:?})")).await;
}

async fn leave(page: &Browser, customer: &Browser) {
    page.press("#new, #done", By::Pointer).await;
    customer.until_screen("idle").await;
}

/// Lets the cardholder type the right PIN after a pause.
async fn types_pin(counter: &Counter) {
    for digit in [1, 2, 3, 4] {
        counter.shop.reader.key(Key::Digit(digit));
    }
    counter.shop.reader.key(Key::Enter);
}

/// Loses the bank's answer to a payment of 12.73, so its outcome is unknown.
async fn lose_the_answer(counter: &Counter, page: &Browser) {
    charge(page, "1273").await;
    let gateway = &counter.shop.gateway;
    counter.present("tap", CardEntry::Tap).await;
    crate::within("the payment at the gateway", async {
        while !gateway.ledger().entries().iter().any(|entry| entry.amount == "12.73") {
            tokio::task::yield_now().await;
        }
    })
    .await;
    gateway.set_offline(true).await.unwrap();
}

/// Returns a script that lets the next stream of the customer's screen say that this transaction stands.
fn stands(number: usize, members: &str) -> String {
    format!(
        "window.ask ??= window.fetch;
         performance.now = () => 1e6;
         const qr = {{ size: 29, path: 'M4 4h7v7h-7zM18 4h7v7h-7zM4 18h7v7h-7z' }};
         const sale = {{ reference: 'R-{number}', kind: 'sale', amount: '1234567.89', currency: 'EUR', {members} }};
         const event = 'event: current\\ndata: ' + JSON.stringify({{ current: sale }}) + '\\n\\n';
         const stream = (signal) => new ReadableStream({{ start(to) {{
           to.enqueue(new TextEncoder().encode(event));
           signal.addEventListener('abort', () => to.error(new Error('aborted')));
           document.body.dataset.shown = sale.reference;
         }} }});
         window.fetch = async (path, how) => path === '/front/customer' ? new Response(stream(how.signal)) : window.ask(path, how);
         dispatchEvent(new Event('hashchange'));"
    )
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn the_customer_sees_each_payment_and_can_do_nothing() {
    let driver = Driver::start().await;
    let (page, customer) = (driver.browser().await, driver.browser().await);
    let mut counter = open("en").await;
    page.open(&counter.url, "en", LARGE).await;
    page.until_link("up").await;
    open_customer(&page, &customer).await;
    assert_eq!(customer.run("return location.hash + location.pathname").await, "/customer", "the token is not shown");
    let shop = counter.get("/v1/status").await["merchant"][0].as_str().unwrap().to_owned();
    assert_eq!(text(&customer).await.trim(), shop);
    customer.run(WATCH).await;

    // A sale with a tip and a PIN.
    page.press("[data-tip='10']", By::Pointer).await;
    charge(&page, "1000").await;
    customer.until_screen("pay").await;
    until_text(&customer, "Tap, insert or swipe").await;
    let said = text(&customer).await;
    assert!(said.contains("€11.00") && said.contains("€1.00") && !said.contains("€10.00"), "{said}");
    // Keys and clicks do nothing, and there is nothing to press.
    let controls = "document.querySelectorAll('button, a, input, select, textarea, summary, dialog, [role=button]')";
    assert_eq!(customer.run(&format!("return {controls}.length")).await, 0);
    customer.keys(&format!("{ESCAPE}\u{e007}\u{e004}\u{e006}5")).await;
    customer.run("document.querySelectorAll('*').forEach((one) => one.click?.())").await;
    assert_eq!((page.screen().await, customer.screen().await), ("sale-card".to_owned(), "pay".to_owned()));
    counter.shop.reader.plan_pin(PinPlan::Hesitate);
    counter.present("chip-pin", CardEntry::Insert).await;
    crate::within("a PIN", counter.shop.reader.waits_for(WaitsFor::Pin)).await;
    until_text(&customer, "Enter the PIN on the reader").await;
    until_text(&customer, "Cover the keypad").await;
    // A customer's screen that is switched on during a payment shows it.
    customer.reload().await;
    until_text(&customer, "Enter the PIN on the reader").await;
    until_text(&customer, "€11.00").await;
    customer.run(WATCH).await;
    types_pin(&counter).await;
    customer.until_screen("approved").await;
    let said = text(&customer).await;
    assert!(said.contains("Approved – thank you") && said.contains("€11.00"), "{said}");
    page.until_screen("sale-approved").await;
    leave(&page, &customer).await;

    // A decline names no amount. It makes room for the shop's name after half a minute.
    page.press("[data-tip='null']", By::Pointer).await;
    charge(&page, "1251").await;
    counter.present("tap", CardEntry::Tap).await;
    customer.until_screen("declined").await;
    let said = text(&customer).await;
    assert!(said.contains("nothing was charged") && !said.contains('€'), "{said}");
    customer.run("const now = performance.now.bind(performance); performance.now = () => now() + 30000").await;
    customer.until_screen("idle").await;
    page.press("#new", By::Pointer).await;

    charge(&page, "1200").await;
    until_text(&customer, "€12.00").await;
    page.press("#cancel", By::Pointer).await;
    customer.until_screen("cancelled").await;
    page.until_screen("sale-cancelled").await;
    leave(&page, &customer).await;
    counter.until_ready().await;

    // The language of the card, and then the terminal's again.
    charge(&page, "1400").await;
    counter.present("foreign", CardEntry::Insert).await;
    customer.until_screen("approved").await;
    until_text(&customer, "Aprobada – gracias").await;
    assert_eq!(customer.run("return document.documentElement.lang").await, "es");
    page.until_screen("sale-approved").await;
    leave(&page, &customer).await;
    customer.until("document.documentElement.lang === 'en'").await;

    lose_the_answer(&counter, &page).await;
    customer.until("/^(unconfirmed|reversed)$/.test(document.body.dataset.screen)").await;
    let shown = customer.run("return window.texts.find((text) => text.startsWith('unconfirmed'))").await;
    let shown = shown.as_str().expect("it was unconfirmed").to_owned();
    assert!(shown.contains("Please wait for the staff") && !shown.contains("charged"), "{shown}");
    counter.shop.gateway.set_offline(false).await.unwrap();
    customer.until_screen("reversed").await;
    page.until_screen("sale-reversed").await;
    leave(&page, &customer).await;

    // No text names the card, lacks its words, or shows a missing value.
    let all = customer.run("return window.texts.join('\\n')").await.as_str().unwrap().to_owned();
    for wrong in ["0119", "customer.", "step.", "undefined", "null"] {
        assert!(!all.contains(wrong), "{wrong} in {all}");
    }
    counter.kill_agent().await;
    customer.until_screen("lost").await;
    counter.start_agent().await;
    customer.until_screen("idle").await;
    assert_eq!((page.complaints().await, customer.complaints().await), (vec![], vec![]));
    page.close().await;
    customer.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn a_lost_connection_is_said_within_three_seconds_and_no_old_amount_stays() {
    let driver = Driver::start().await;
    let (page, customer) = (driver.browser().await, driver.browser().await);
    let mut counter = open("en").await;
    page.open(&counter.url, "en", LARGE).await;
    page.until_link("up").await;
    open_customer(&page, &customer).await;
    charge(&page, "1234").await;
    until_text(&customer, "€12.34").await;
    cut_and_said(&customer, &mut counter, "document.body.dataset.screen === 'lost'").await;
    let said = text(&customer).await;
    assert!(said.contains("No connection") && !said.contains('€') && !said.contains("12"), "{said}");
    // What happened meanwhile is shown when the connection is back.
    counter.present("tap", CardEntry::Tap).await;
    counter.continue_front();
    customer.until_screen("approved").await;
    until_text(&customer, "€12.34").await;

    // A new customer's screen takes the right of the earlier one, which says so and shows nothing more.
    page.until_screen("sale-approved").await;
    leave(&page, &customer).await;
    let other = driver.browser().await;
    open_customer(&page, &other).await;
    customer.until_screen("unpaired").await;
    charge(&page, "1500").await;
    until_text(&other, "€15.00").await;
    assert!(!text(&customer).await.contains('€'));
    // A restart of the front keeps the pairing.
    counter.kill_front().await;
    other.until_screen("lost").await;
    counter.start_front().await;
    until_text(&other, "€15.00").await;
    assert_eq!(other.complaints().await, Vec::<String>::new());
    for browser in [page, customer, other] {
        browser.close().await;
    }
}

/// The right of the customer's screen is not the session of the operator who has opened it.
#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn the_customers_screen_works_when_the_operator_has_left() {
    let driver = Driver::start().await;
    let (page, customer) = (driver.browser().await, driver.browser().await);
    let operators = "[operators]\nrequired = true\npin-digits = 4\n\n[gateway]";
    let options = Options { config: vec![("[gateway]".to_owned(), operators.to_owned())], ..Options::default() };
    let front = "[page]\ncustomer = true\nwithout-sign-in = \"nobody\"\n";
    let counter = Counter::open_with(options, front).await;
    counter.add_operator("Anna", "cashier", PIN).await;
    page.open(&counter.url, "en", LARGE).await;
    sign_in(&page, "Anna").await;
    open_customer(&page, &customer).await;
    charge(&page, "1234").await;
    until_text(&customer, "€12.34").await;
    page.press("[data-view=lock]", By::Pointer).await;
    page.until_screen("sign-in").await;
    counter.present("tap", CardEntry::Tap).await;
    customer.until_screen("approved").await;
    customer.reload().await;
    customer.until_screen("idle").await;
    // Its browser has no right besides.
    let answer = customer.promised("fetch('/v1/latest').then((it) => it.json()).then((it) => it.code)").await;
    assert_eq!(answer, "sign-in");
    let token = "localStorage.getItem('pos.customer')";
    let asked = format!("fetch('/v1/latest', {{ headers: {{ Authorization: 'Bearer ' + {token} }} }})");
    let answer = customer.promised(&format!("{asked}.then((it) => it.json()).then((it) => it.code)")).await;
    assert_eq!(answer, "forbidden");
    page.close().await;
    customer.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium and axe-core: crates/front/tests/page/run installs them"]
async fn the_customers_screen_in_each_language_and_size() {
    let driver = Driver::start().await;
    let (page, customer) = (driver.browser().await, driver.browser().await);
    let mut faults = Vec::new();
    for (n, language) in Language::ALL.iter().enumerate() {
        let mut eye = Eye::of(&customer, language.code(), n, &SIZES);
        walk(&mut eye, &page).await;
        faults.append(&mut eye.faults);
        faults.extend(customer.complaints().await);
    }
    page.close().await;
    customer.close().await;
    println!("pictures are in {}", pictures().display());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The pictures of transactions: the name of the screen, and the transaction's own members.
const PICTURES: &[(&str, &str)] = &[
    ("pay", "tip: '123456.79', state: 'waiting-for-card', step: 'present-card'"),
    ("pay", "state: 'waiting-for-card', step: 'pin-entry'"),
    ("pay", "state: 'waiting-for-card', step: 'choosing-application'"),
    ("pay", "state: 'awaiting-signature'"),
    ("pay", "state: 'in-progress', qr"),
    ("approved", "tip: '123456.79', state: 'ended', outcome: 'approved', approvedAmount: '1358024.68'"),
    ("approved", "state: 'ended', outcome: 'approved', approvedAmount: '1234567.89', qr"),
    ("approved", "kind: 'refund', state: 'ended', outcome: 'approved', approvedAmount: '1234567.89'"),
    ("partial", "state: 'ended', outcome: 'partially-approved', approvedAmount: '6.30'"),
    ("declined", "state: 'ended', outcome: 'declined'"),
    ("cancelled", "state: 'ended', outcome: 'cancelled'"),
    ("not-sent", "state: 'ended', outcome: 'not-sent'"),
    ("reversed", "state: 'ended', outcome: 'reversed'"),
    ("unconfirmed", "state: 'unconfirmed'"),
];

/// Lets the front's stream say which transaction stands, so that each picture stays until it was looked at.
async fn walk(eye: &mut Eye<'_>, page: &Browser) {
    let customer = eye.page;
    let mut counter = open(eye.language).await;
    page.open(&counter.url, "en", LARGE).await;
    page.until_link("up").await;
    open_customer(page, customer).await;
    customer.until(&format!("document.documentElement.lang === {:?}", eye.language)).await;
    eye.look("customer-idle").await;
    for (n, (screen, members)) in PICTURES.iter().enumerate() {
        customer.run(&stands(n, members)).await;
        customer.until(&format!("document.body.dataset.shown === 'R-{n}'")).await;
        customer.until_screen(screen).await;
        assert_eq!(customer.run("return !!document.querySelector('.qr')").await, members.ends_with("qr"), "{members}");
        eye.look(&format!("customer-{n}-{screen}")).await;
    }
    customer.reload().await;
    customer.until_screen("idle").await;
    counter.kill_front().await;
    customer.until_screen("lost").await;
    eye.look("customer-lost").await;
    counter.start_front().await;
    customer.run("localStorage.removeItem('pos.customer')").await;
    customer.reload().await;
    customer.until_screen("unpaired").await;
    eye.look("customer-unpaired").await;
}
