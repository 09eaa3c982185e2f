//! Tests of paired devices and of the doctor's findings. A device is paired by a link, uses the page, and is locked out
//! when it is removed. The real doctor answers.

use std::os::fd::OwnedFd;
use std::process::Stdio;

use pos_sim::shop::Options;
use pos_words::Language;
use tokio::net::UnixListener;

use crate::browser::{Browser, By, Driver};
use crate::cashier::sell;
use crate::counter::Counter;
use crate::screens::Eye;

const SIZES: [(u32, u32); 3] = [(480, 320), (320, 640), (1024, 600)];
const PAIRED: &str = "[page]\nwithout-sign-in = \"paired\"\n";

/// Runs the doctor for each connection, as systemd does.
fn serve_doctor(counter: &Counter) {
    let listener = UnixListener::bind(counter.shop.folder().join("front/doctor.sock")).unwrap();
    let (program, config) = (counter.agent_program(), counter.shop.config());
    tokio::spawn(async move {
        loop {
            let stream = listener.accept().await.unwrap().0.into_std().unwrap();
            stream.set_nonblocking(false).unwrap();
            let mut doctor = tokio::process::Command::new(&program);
            doctor.args(["doctor", "--json", "--config"]).arg(&config).stderr(Stdio::null());
            doctor.stdout(OwnedFd::from(stream)).spawn().unwrap().wait().await.unwrap();
        }
    });
}

/// Makes a link at the terminal, and returns its token.
fn token(counter: &Counter) -> String {
    let said = counter.front_verb(&["pair", "browser", "open"]);
    said.split_once("/#pair=").unwrap().1.split_whitespace().next().unwrap().to_owned()
}

/// Opens the link in a browser, which is then asked for the device's name.
async fn open_link(counter: &Counter, page: &Browser) {
    // The same document with another mark would not be loaded again.
    page.go("about:blank").await;
    page.go(&format!("{}/#pair={}", counter.url, token(counter))).await;
    page.until("document.querySelector('dialog #browser-name')").await;
    page.until("location.hash === '' && !document.querySelector('dialog [aria-disabled=true]')").await;
}

/// Pairs a browser that has opened the link.
async fn pair(page: &Browser, name: &str) {
    page.fill("#browser-name", name).await;
    page.press("#browser-this", By::Keyboard).await;
    page.until_screen("pay").await;
    page.until_link("up").await;
}

async fn open_terminal(page: &Browser) {
    page.press("[data-view=terminal]", By::Pointer).await;
    page.until_screen("terminal").await;
    page.until("document.querySelector('#browser-pair .line') && document.querySelector('#doctor-look')").await;
}

async fn until_unpaired(page: &Browser) {
    page.until_screen("sign-in").await;
    page.until("document.querySelector('h1').innerText === 'This device is not paired'").await;
}

#[tokio::test]
#[ignore = "needs Chromium and axe-core: crates/front/tests/page/run installs them"]
async fn a_device_is_paired_by_a_link_and_is_out_when_it_is_removed() {
    let driver = Driver::start().await;
    let (page, phone) = (driver.browser().await, driver.browser().await);
    let counter = Counter::open_with(Options::default(), PAIRED).await;
    page.open(&counter.url, "en", SIZES[2]).await;
    until_unpaired(&page).await;
    open_link(&counter, &page).await;
    pair(&page, "Counter").await;
    sell(&page, &counter, "1234").await;
    page.reload().await;
    page.until_screen("pay").await;

    open_terminal(&page).await;
    page.press("#browser-open", By::Pointer).await;
    page.until("document.querySelector('dialog .qr path')").await;
    let dialog = page.run("return document.querySelector('dialog').innerText").await;
    assert!(dialog.as_str().unwrap().contains("visit this website"), "{dialog}");
    assert!(!dialog.as_str().unwrap().contains("pair="), "{dialog}");
    // A phone reads the code's address with its camera; here the terminal gives the phone a link of its own.
    phone.open(&counter.url, "en", SIZES[1]).await;
    until_unpaired(&phone).await;
    open_link(&counter, &phone).await;
    pair(&phone, "Phone").await;
    page.until("document.querySelector('#browser-pair [role=status]').innerText === 'Phone is paired.'").await;
    assert_eq!(page.run("return document.querySelector('dialog')").await, serde_json::Value::Null);

    page.press("#browser-pair li:nth-child(2) button", By::Pointer).await;
    page.press("#browser-remove", By::Pointer).await;
    page.until("document.querySelectorAll('#browser-pair .line').length === 1").await;
    until_unpaired(&phone).await;
    assert_eq!(page.complaints().await, Vec::<String>::new());
    phone.close().await;
    page.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium and axe-core: crates/front/tests/page/run installs them"]
async fn the_doctors_faults_are_shown_with_their_remedies() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let mut counter = Counter::open(Options::default()).await;
    page.open(&counter.url, "en", SIZES[2]).await;
    page.until_link("up").await;
    page.press("[data-view=terminal]", By::Pointer).await;
    page.until("document.querySelector('#doctor-look')").await;
    assert_eq!(page.run("return document.querySelector('#browser-pair')").await, serde_json::Value::Null);
    let said = "document.querySelector('#doctor [role=status]').innerText";
    page.press("#doctor-look", By::Keyboard).await;
    page.until(&format!("{said}.startsWith('The check does not work from here.')")).await;
    serve_doctor(&counter);
    counter.kill_agent().await;
    page.press("#doctor-look", By::Keyboard).await;
    page.until("document.querySelector('#doctor [data-level]')").await;
    let fault = page.run("return document.querySelector('#doctor [data-level]').innerText").await;
    assert!(fault.as_str().unwrap().contains("agent") && fault.as_str().unwrap().lines().count() > 1, "{fault}");
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium and axe-core: crates/front/tests/page/run installs them"]
async fn each_part_for_devices_in_each_language_and_size() {
    let driver = Driver::start().await;
    let counter = Counter::open_with(Options::default(), PAIRED).await;
    serve_doctor(&counter);
    let mut faults = Vec::new();
    for (n, language) in Language::ALL.iter().enumerate() {
        let page = driver.browser().await;
        let mut eye = Eye::of(&page, language.code(), n, &SIZES);
        page.open(&counter.url, language.code(), SIZES[2]).await;
        page.until_screen("sign-in").await;
        page.until("document.querySelector('.sign-in > .hint').innerText").await;
        eye.look("unpaired").await;
        open_link(&counter, &page).await;
        eye.look("pair-this").await;
        pair(&page, language.code()).await;
        open_terminal(&page).await;
        page.press("#doctor-look", By::Pointer).await;
        page.until("document.querySelector('#doctor .technical')").await;
        eye.look("devices").await;
        page.press("#browser-open", By::Pointer).await;
        page.until("document.querySelector('dialog .qr path')").await;
        eye.look("pair-device").await;
        page.press("#close", By::Pointer).await;
        faults.append(&mut eye.faults);
        faults.extend(page.complaints().await);
        page.close().await;
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
