//! Fast checkout: a script creates the checkout after the click, and the page contains the script's hash.

use crate::browser::By;
use crate::shop::{Page, Shop};

const ASKS_THE_SHOP: &str = "createCheckout: (asked) => { window.asked = asked; \
     return fetch('/checkout', { method: 'POST' }).then((answer) => answer.text()); }";

fn attributes(integrity: &str) -> String {
    format!("integrity=\"{integrity}\" crossorigin=\"anonymous\"")
}

#[tokio::test]
#[ignore = "needs Chromium: bash tests/widget/run"]
async fn the_checkout_is_made_by_the_click() {
    let shop = Shop::open().await;
    let (script, attributes) = (shop.script_url(None), attributes(&shop.integrity().await));
    let page = Page { brands: "WALLET_B VISA", attributes: &attributes, script: Some(&script), ..Page::default() };
    let calls = "prefetchPriceStatus: 'FINAL', displayItems: [{ label: 'Book', type: 'LINE_ITEM', price: '92.00' }], \
         onPaymentDataChanged: async (data) => { window.changed = data.callbackTrigger; return {}; }, \
         onPaymentAuthorized: (data) => new Promise((done) => { \
           window.token = data.paymentMethodData.tokenizationData.token; done({ transactionState: 'SUCCESS' }); })";
    let other = "merchantId: 'm', ledgerCurrency: 'EUR', sandbox: true, checkoutLanguage: 'de_DE', \
         productType: 'PayOnly', placement: 'Cart', buttonColor: 'Gold'";
    let options =
        format!("{ASKS_THE_SHOP}, walletB: {{ {calls} }}, walletC: {{ {other} }}, checkout: {{ amount: '92.00' }}");
    shop.show(Page { options: &options, ..page }).await;
    let made = || shop.requests().iter().filter(|request| request.contains("/checkout,")).count();
    assert_eq!(made(), 0, "nothing is made before the click");
    shop.browser.press(".wpwl-button-wallet", By::Pointer).await;
    shop.browser.enter(Some("iframe.wpwl-frame-wallet")).await;
    shop.browser.until("document.querySelector('#wallet-amount')?.textContent === '92.00 EUR'").await;
    shop.browser.press("#wallet-pay", By::Pointer).await;
    shop.browser.enter(None).await;
    assert_eq!(shop.comes_back().await, "000.100.110");
    assert_eq!(shop.paid(), 1);
    shop.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: bash tests/widget/run"]
async fn what_the_callbacks_say_is_done() {
    let shop = Shop::open().await;
    let script = shop.script_url(None);
    for (options, told) in [
        ("createCheckout: () => Promise.reject(new Error('sold out'))", "could not start"),
        ("createCheckout: () => ({ then: (done) => done('not an id') })", "could not start"),
        ("", "could not start"),
    ] {
        shop.show(Page { brands: "WALLET_A", options, script: Some(&script), ..Page::default() }).await;
        shop.browser.press(".wpwl-button-wallet", By::Pointer).await;
        shop.is_told(told).await;
    }
    // Either the customer refuses, or the shop refuses when the wallet asks it.
    let refuses =
        format!("{ASKS_THE_SHOP}, walletA: {{ onPaymentAuthorized: async () => ({{ transactionState: 'ERROR' }}) }}");
    for (options, button) in [(ASKS_THE_SHOP, "#wallet-cancel"), (&refuses, "#wallet-pay")] {
        shop.show(Page { brands: "WALLET_A", options, script: Some(&script), ..Page::default() }).await;
        shop.browser.press(".wpwl-button-wallet", By::Pointer).await;
        shop.browser.until("document.querySelector('iframe.wpwl-frame-wallet')").await;
        assert_eq!(shop.browser.run("return window.asked").await, serde_json::json!({ "brand": "WALLET_A" }));
        shop.browser.enter(Some("iframe.wpwl-frame-wallet")).await;
        shop.browser.press(button, By::Pointer).await;
        shop.browser.enter(None).await;
        shop.is_told("cancelled").await;
    }
    assert_eq!(shop.paid(), 0);
    shop.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: bash tests/widget/run"]
async fn a_changed_script_does_not_run() {
    let shop = Shop::open().await;
    let (true_hash, bytes) = (attributes(&shop.integrity().await), shop.script().await);
    let script = format!("{}/script.js", shop.url);
    for (changed, drawn) in [(bytes.replacen("'use strict'", "'use strict' ", 1), 0), (bytes.clone(), 1)] {
        assert_eq!(drawn == 1, changed == bytes);
        shop.serve_script(changed);
        let page = Page {
            brands: "VISA",
            options: ASKS_THE_SHOP,
            attributes: &true_hash,
            script: Some(&script),
            ..Page::default()
        };
        shop.show(page).await;
        shop.browser.until("document.readyState === 'complete'").await;
        assert_eq!(shop.browser.run("return document.querySelectorAll('.wpwl-form').length").await, drawn);
        let complaints = shop.browser.complaints().await.join("\n");
        assert_eq!(complaints.contains("integrity"), drawn == 0, "{complaints}");
    }
    // The gateway's own script runs.
    let own = shop.script_url(None);
    shop.show(Page {
        brands: "VISA",
        options: ASKS_THE_SHOP,
        attributes: &true_hash,
        script: Some(&own),
        ..Page::default()
    })
    .await;
    shop.types_card("4111111111111111").await;
    shop.presses_pay().await;
    assert_eq!(shop.comes_back().await, "000.100.110");
    shop.close().await;
}
