//! Cards are typed in the gateway's frame. The shop's page and server never see them.

use pos_sim::gateway::{HostRules, Outcome, State};

use crate::shop::{Page, Shop};

const NUMBER: &str = "4111111111111111";

#[tokio::test]
#[ignore = "needs Chromium: bash tests/widget/run"]
async fn a_card_is_paid_and_the_shop_sees_nothing_of_it() {
    let shop = Shop::open().await;
    shop.says(&[("merchantTransactionId", "order-0815")]);
    shop.show(Page {
        brands: "VISA MASTER",
        fields: "<input type=hidden name=\"customParameters[SHOPPER_note]\" value=\"blue\">",
        ..Page::default()
    })
    .await;
    shop.types_card("4111 1111 1111 1111").await;
    let read =
        "return document.querySelector('iframe').contentDocument === null && !document.documentElement.innerHTML";
    assert_eq!(shop.browser.run(&format!("{read}.includes('{NUMBER}')")).await, true);
    shop.presses_pay().await;
    assert_eq!(shop.comes_back().await, "000.100.110");
    let [result] = &shop.results()[..] else { panic!("asked once") };
    assert_eq!(result["amount"], "92.00");
    assert_eq!(result["merchantTransactionId"], "order-0815");
    assert_eq!(result["customParameters"]["SHOPPER_note"], "blue");
    assert_eq!((result["paymentBrand"].as_str(), result["card"]["last4Digits"].as_str()), (Some("VISA"), Some("1111")));
    assert!(shop.requests().iter().all(|request| !request.contains("4111") && !request.contains("Jones")));
    assert_eq!(shop.browser.complaints().await, Vec::<String>::new());
    shop.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: bash tests/widget/run"]
async fn a_card_is_paid_however_the_gateway_reads_the_interface() {
    // The literal gateway redirects requests and permits no space in a name.
    for host_rules in [HostRules::Permissive, HostRules::Literal] {
        let shop = Shop::at(host_rules).await;
        for _ in 0..3 {
            shop.show(Page { brands: "VISA", ..Page::default() }).await;
            shop.types_card_of(NUMBER, "Jane").await;
            shop.presses_pay().await;
            assert_eq!(shop.comes_back().await, "000.100.110", "{host_rules:?}");
        }
        assert_eq!(shop.paid(), 3);
        shop.close().await;
    }
}

#[tokio::test]
#[ignore = "needs Chromium: bash tests/widget/run"]
async fn a_declined_card_comes_back_declined() {
    let shop = Shop::open().await;
    shop.costs("92.51");
    shop.show(Page { brands: "VISA", ..Page::default() }).await;
    shop.types_card(NUMBER).await;
    shop.presses_pay().await;
    assert!(shop.comes_back().await.starts_with("800.100."));
    assert_eq!(shop.gateway.ledger().entries()[0].state, State::Declined);
    shop.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: bash tests/widget/run"]
async fn a_slip_is_said_and_nothing_is_sent() {
    let shop = Shop::open().await;
    shop.show(Page { brands: "VISA", ..Page::default() }).await;
    shop.types_card("4111111111111112").await;
    shop.presses_pay().await;
    shop.is_told("Card number").await;
    shop.browser.enter(Some("iframe.wpwl-frame-card")).await;
    assert_eq!(shop.browser.run("return document.activeElement.id").await, "cardNumber");
    assert_eq!(shop.browser.run("return document.querySelectorAll('[aria-invalid]').length").await, 1);
    shop.browser.enter(None).await;
    // The page does not list this card's brand.
    shop.types_card("5555555555554444").await;
    shop.presses_pay().await;
    shop.is_told("not accepted").await;
    let ledger = shop.gateway.ledger();
    assert!(ledger.entries().is_empty() && ledger.refusals().is_empty(), "{ledger:?}");
    // The gateway refuses a card that is not a test card. The checkout can still be used.
    shop.types_card("4000000000000002").await;
    shop.presses_pay().await;
    shop.is_told("card number").await;
    shop.types_card(NUMBER).await;
    shop.presses_pay().await;
    assert_eq!(shop.comes_back().await, "000.100.110");
    shop.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: bash tests/widget/run"]
async fn the_shops_callback_stops_a_card() {
    let shop = Shop::open().await;
    let options = "onBeforeSubmitCard: (event) => { window.asked = (window.asked ?? 0) + 1; \
                   window.form = event.target.className; if (asked === 2) throw new Error('no'); return asked > 2; }";
    shop.show(Page { brands: "VISA", options, ..Page::default() }).await;
    shop.types_card(NUMBER).await;
    for asked in [1, 2] {
        shop.presses_pay().await;
        shop.browser.until(&format!("window.asked === {asked}")).await;
        shop.is_told("not started").await;
        assert!(shop.gateway.ledger().entries().is_empty());
    }
    assert!(shop.browser.run("return form").await.as_str().unwrap().contains("wpwl-form-card"));
    shop.presses_pay().await;
    assert_eq!(shop.comes_back().await, "000.100.110");
    shop.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: bash tests/widget/run"]
async fn a_lost_answer_is_asked_for_by_the_shop() {
    let shop = Shop::open().await;
    shop.show(Page { brands: "VISA", ..Page::default() }).await;
    shop.types_card(NUMBER).await;
    shop.gateway.force(Outcome::Cut { processed: true });
    shop.presses_pay().await;
    assert_eq!(shop.comes_back().await, "000.100.110");
    assert_eq!(shop.paid(), 1);
    shop.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: bash tests/widget/run"]
async fn what_a_page_must_not_send_is_refused_and_said() {
    let shop = Shop::open().await;
    let fields = "<input type=hidden name=\"customParameters[note]\" value=\"blue\">";
    shop.show(Page { brands: "VISA", fields, ..Page::default() }).await;
    shop.types_card(NUMBER).await;
    shop.presses_pay().await;
    shop.is_told("SHOPPER_").await;
    let fields = "<input type=hidden name=\"amount\" value=\"0.01\">";
    shop.show(Page { brands: "VISA", fields, ..Page::default() }).await;
    shop.types_card(NUMBER).await;
    shop.presses_pay().await;
    shop.is_told("amount").await;
    // A page of another origin uses this shop's checkout.
    shop.says(&[("shopperResultUrl", "https://elsewhere.test/result")]);
    shop.show(Page { brands: "VISA", ..Page::default() }).await;
    shop.types_card(NUMBER).await;
    shop.presses_pay().await;
    shop.is_told("another origin").await;
    assert!(shop.gateway.ledger().entries().is_empty());
    shop.close().await;
}
