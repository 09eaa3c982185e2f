//! Test of a till's payout. It appears on the screen of a cashier, and a supervisor confirms it with a PIN.

use pos_sim::gateway::Kind;
use pos_sim::reader::CardEntry;
use pos_sim::shop::Options;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::browser::{By, Driver};
use crate::cashier::{PIN, sign_in};
use crate::counter::Counter;
use crate::within;

/// A credit of 12.50 as the French module sends it.
const CREDIT: &[u8] = b"CZ0040300CJ012012345678901CA00201CE003978CD0011CB0041250";

async fn asks(port: u16) -> TcpStream {
    let mut till = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    till.write_all(CREDIT).await.unwrap();
    till
}

async fn hears(mut till: TcpStream) -> String {
    let mut answer = Vec::new();
    within("the till's answer", till.read_to_end(&mut answer)).await.unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn a_supervisor_confirms_a_tills_payout_on_the_cashiers_screen() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let more = "[operators]\nrequired = true\npin-digits = 4\n\n[gateway]";
    let options = Options { config: vec![("[gateway]".to_owned(), more.to_owned())], ..Options::default() };
    let port = pos_test_kit::free_port();
    let till = format!("[[caisse-ap]]\ntill = \"caisse-1\"\nlisten = \"127.0.0.1:{port}\"\ncredit = true\n");
    let counter = Counter::open_for_tills(options, &format!("{till}[page]\nwithout-sign-in = \"nobody\"\n")).await;
    counter.add_operator("Anna", "cashier", PIN).await;
    counter.add_operator("Berta", "supervisor", "1973").await;
    page.open(&counter.url, "en", (1024, 600)).await;
    sign_in(&page, "Anna").await;

    let till = asks(port).await;
    page.until("document.getElementById('bars').innerText.includes('Till caisse-1 pays out')").await;
    let words = page.run("return document.getElementById('bars').innerText").await;
    assert!(words.as_str().unwrap().contains("12.50"), "{words}");
    page.press("#bars button", By::Pointer).await;
    page.until("document.querySelector('#supervisor-what')").await;
    for digit in "1973".chars() {
        page.press(&format!("[data-pin='{digit}']"), By::Pointer).await;
    }
    counter.present("tap", CardEntry::Tap).await;
    let answer = hears(till).await;
    assert!(answer.contains("AE00210"), "{answer}");
    page.until("document.getElementById('bars').innerText === ''").await;
    assert_eq!(counter.moved(Kind::Credit), 1);

    // Closing the question refuses the payout, so the till does not wait.
    let till = asks(port).await;
    page.until("document.querySelector('#bars button')").await;
    page.press("#bars button", By::Pointer).await;
    page.until("document.querySelector('#supervisor-what')").await;
    page.press("dialog button.quiet", By::Pointer).await;
    let answer = hears(till).await;
    assert!(answer.contains("AE00201AF00205"), "{answer}");
    page.until("document.getElementById('bars').innerText === ''").await;
    assert_eq!(counter.moved(Kind::Credit), 1);
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}
