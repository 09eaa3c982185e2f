//! Pages to which the shopper is redirected, in the whole window or in a frame of the widget, and the return to the
//! shop.

use pos_sim::gateway::State;

use crate::browser::By;
use crate::shop::{Page, Shop};

/// A card whose issuer asks for a one-time password.
const ASKS: &str = "4000000000001091";
/// The customer's data that 3-D Secure needs in addition to the browser's.
const CUSTOMER: &[(&str, &str)] = &[
    ("customer.givenName", "Jane"),
    ("customer.surname", "Jones"),
    ("billing.street1", "Main Street 1"),
    ("billing.city", "Bonn"),
    ("billing.postcode", "53111"),
    ("billing.country", "DE"),
];

#[tokio::test]
#[ignore = "needs Chromium: bash tests/widget/run"]
async fn the_right_password_pays_and_the_wrong_one_does_not() {
    let shop = Shop::open().await;
    shop.says(CUSTOMER);
    for (passwords, code) in
        [(&["1234"][..], "000.100.110"), (&["1", "2", "3"], "100.380.401"), (&["9", "1234"], "000.100.110")]
    {
        shop.show(Page { brands: "VISA", ..Page::default() }).await;
        shop.types_card(ASKS).await;
        shop.presses_pay().await;
        for (n, password) in passwords.iter().enumerate() {
            // Waits for the new page, which reports a wrong password after the first try.
            shop.browser.until(&format!("!window.isOld && !!document.querySelector('#wrong') === {}", n > 0)).await;
            shop.browser.fill("#password", password).await;
            shop.browser.run("window.isOld = true").await;
            shop.browser.press("#confirm", By::Pointer).await;
        }
        assert_eq!(shop.comes_back().await, code);
        let proof = shop.results().last().unwrap()["threeDSecure"]["authenticationStatus"].clone();
        assert_eq!(proof, if code.starts_with("000") { "Y" } else { "N" });
    }
    assert_eq!(shop.paid(), 2);
    // The customer's name is missing.
    shop.says(&CUSTOMER[2..]);
    shop.show(Page { brands: "VISA", ..Page::default() }).await;
    shop.types_card(ASKS).await;
    shop.presses_pay().await;
    shop.is_told("customer.givenName").await;
    shop.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: bash tests/widget/run"]
async fn a_wallet_with_a_page_of_its_own() {
    let shop = Shop::open().await;
    for (button, state) in [("#pay", State::Approved), ("#cancel", State::Declined)] {
        shop.show(Page { brands: "ONLINE_WALLET", ..Page::default() }).await;
        shop.browser.enter(Some("iframe.wpwl-frame-account")).await;
        shop.browser.fill("#accountId", "jane@example.com").await;
        shop.browser.enter(None).await;
        shop.presses_pay().await;
        shop.browser.press(button, By::Pointer).await;
        let code = shop.comes_back().await;
        assert_eq!(code.starts_with("000."), state == State::Approved, "{code}");
        assert_eq!(shop.gateway.ledger().entries().last().unwrap().state, state);
    }
    shop.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: bash tests/widget/run"]
async fn a_brand_of_the_inline_flow_stays_on_the_shops_page() {
    let shop = Shop::open().await;
    shop.says(CUSTOMER);
    let options = "inlineFlow: ['VISA', 'ONLINE_WALLET']";
    shop.show(Page { brands: "VISA", options, ..Page::default() }).await;
    shop.types_card(ASKS).await;
    shop.presses_pay().await;
    shop.browser.enter(Some("iframe.wpwl-inline")).await;
    shop.browser.fill("#password", "1234").await;
    shop.browser.enter(None).await;
    assert_eq!(shop.browser.run("return location.pathname").await, "/pay");
    shop.browser.enter(Some("iframe.wpwl-inline")).await;
    shop.browser.press("#confirm", By::Pointer).await;
    shop.browser.enter(None).await;
    assert_eq!(shop.comes_back().await, "000.100.110");
    assert_eq!(shop.paid(), 1);
    shop.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: bash tests/widget/run"]
async fn a_bank_account_and_a_gift_card() {
    let shop = Shop::open().await;
    let bank = [("#holder", "Jane Jones"), ("#iban", "DE89 3704 0044 0532 0130 00"), ("#bic", "COBADEFFXXX")];
    let gift = [("#giftNumber", "GIFT-0100-0001"), ("#giftPin", "1234")];
    for (brand, kind, fields) in [("DIRECTDEBIT_SEPA", "bank", &bank[..]), ("GIFTCARD", "gift", &gift)] {
        shop.show(Page { brands: brand, ..Page::default() }).await;
        shop.browser.enter(Some(&format!("iframe.wpwl-frame-{kind}"))).await;
        for (field, text) in fields {
            shop.browser.fill(field, text).await;
        }
        shop.browser.enter(None).await;
        shop.presses_pay().await;
        assert_eq!(shop.comes_back().await, "000.100.110", "{brand}");
    }
    assert_eq!(shop.paid(), 2);
    assert!(shop.requests().iter().all(|request| !request.contains("DE89") && !request.contains("GIFT-")));
    shop.close().await;
}
