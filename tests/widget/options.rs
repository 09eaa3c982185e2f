//! A shop's options (language, words and style) and the sources that its content security policy must permit.

use crate::shop::{NONCE, Page, Shop};

#[tokio::test]
#[ignore = "needs Chromium: bash tests/widget/run"]
async fn each_language_is_taken_and_words_are_the_shops() {
    let shop = Shop::open().await;
    let script = shop.script_url(None);
    #[rustfmt::skip]
    let said = [
        ("en", "Pay now"), ("de", "Jetzt zahlen"), ("fr", "Payer"), ("es", "Pagar"), ("it", "Paga ora"),
        ("nl", "Nu betalen"), ("dk", "Betal nu"), ("fi", "Maksa nyt"), ("se", "Betala nu"), ("tr", "Şimdi öde"),
        ("ja", "支払う"), ("sl", "Plačaj zdaj"), ("pt", "Pagar agora"), ("pl", "Zapłać"), ("cz", "Zaplatit"),
        ("hu", "Fizetés"), ("bg", "Плащане"), ("ro", "Plătiți acum"), ("ru", "Оплатить"), ("cn", "立即支付"),
        ("gr", "Πληρωμή"), ("no", "Betal nå"), ("sk", "Zaplatiť"), ("ar", "ادفع الآن"), ("ko", "결제하기"),
    ];
    let mut asked: Vec<(String, &str)> =
        said.iter().map(|(code, words)| (format!("locale: '{code}'"), *words)).collect();
    asked.extend([
        ("locale: 'de-AT'".to_owned(), "Jetzt zahlen"),
        ("language: 'fr_CH'".to_owned(), "Payer"),
        ("locale: 'tlh'".to_owned(), "Pay now"),
        ("".to_owned(), "Pay now"),
        ("locale: 'de', labels: { payNow: 'Her damit' }".to_owned(), "Her damit"),
        ("checkout: { amount: '12.50' }".to_owned(), "Pay now 12.50"),
    ]);
    for (options, words) in &asked {
        shop.show(Page { brands: "VISA", options, script: Some(&script), ..Page::default() }).await;
        shop.browser.until(&format!("document.querySelector('.wpwl-button-pay')?.textContent === {words:?}")).await;
    }
    // The frame uses the labels too.
    let options = "locale: 'de', labels: { cvv: 'Die drei Ziffern hinten' }";
    shop.show(Page { brands: "VISA", options, script: Some(&script), ..Page::default() }).await;
    shop.browser.enter(Some("iframe.wpwl-frame-card")).await;
    shop.browser.until("document.querySelector('label[for=cvv]')?.textContent === 'Die drei Ziffern hinten'").await;
    let number = "return document.querySelector('label[for=cardNumber]').textContent";
    assert_eq!(shop.browser.run(number).await, "Kartennummer");
    assert_eq!(shop.browser.run("return document.documentElement.lang").await, "de");
    // The language tag for browsers and the text direction, inside and outside the frame.
    #[rustfmt::skip]
    let tags = [
        ("dk", "da", "ltr"), ("se", "sv", "ltr"), ("cz", "cs", "ltr"), ("cn", "zh-Hans", "ltr"), ("gr", "el", "ltr"),
        ("no", "nb", "ltr"), ("ar", "ar", "rtl"),
    ];
    for (code, tag, direction) in tags {
        let options = format!("locale: '{code}'");
        shop.show(Page { brands: "VISA", options: &options, script: Some(&script), ..Page::default() }).await;
        let outside = "document.querySelector('.wpwl-container')";
        shop.browser.until(&format!("{outside}?.lang === '{tag}' && {outside}.dir === '{direction}'")).await;
        shop.browser.enter(Some("iframe.wpwl-frame-card")).await;
        let inside = "document.documentElement";
        shop.browser.until(&format!("{inside}.lang === '{tag}' && {inside}.dir === '{direction}'")).await;
    }
    shop.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: bash tests/widget/run"]
async fn styles_brands_and_the_place_of_the_form() {
    let shop = Shop::open().await;
    let script = shop.script_url(None);
    let radius = "getComputedStyle(document.querySelector('.wpwl-form-card')).borderTopWidth";
    for (options, width) in [("style: 'card'", "1px"), ("style: 'plain'", "0px"), ("style: 'none'", "0px"), ("", "1px")]
    {
        shop.show(Page { brands: "VISA", options, script: Some(&script), ..Page::default() }).await;
        shop.browser.until(&format!("{radius} === '{width}'")).await;
        let sheets = shop.browser.run("return document.querySelectorAll('link[rel=stylesheet]').length").await;
        assert_eq!(sheets, u8::from(!options.contains("none")));
    }
    // All cards share one form, and each other brand has its own. An unknown brand is left out and reported.
    let brands = "VISA WALLET_C MASTER GIFTCARD FANTASY_PAY";
    shop.show(Page { brands, script: Some(&script), ..Page::default() }).await;
    let listed = "return [...document.querySelectorAll('form.wpwl-form')].map((form) => form.dataset.brands).join('|')";
    shop.browser.until("document.querySelector('form.wpwl-form')").await;
    assert_eq!(shop.browser.run(listed).await, "VISA MASTER|WALLET_C|GIFTCARD");
    let complaints = shop.browser.complaints().await.join("\n");
    assert!(complaints.contains("FANTASY_PAY"), "{complaints}");
    // A browser drops a form inside a form. The widget reports this and draws nothing.
    shop.show(Page { brands, around: "<form>", script: Some(&script), ..Page::default() }).await;
    shop.browser.until("document.readyState === 'complete'").await;
    assert_eq!(shop.browser.run("return document.querySelectorAll('.wpwl-form').length").await, 0);
    let complaints = shop.browser.complaints().await.join("\n");
    assert!(complaints.contains("inside another form"), "{complaints}");
    shop.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium: bash tests/widget/run"]
async fn a_policy_with_a_nonce_and_the_documented_sources_is_kept() {
    let shop = Shop::open().await;
    let service = shop.gateway.base_url().trim_end_matches('/').to_owned();
    // The policy permits style, frame, script, connection and image, and no other source.
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{NONCE}' {service}; style-src {service}; frame-src {service}; \
         connect-src {service}; img-src {service}"
    );
    let brands = "VISA MASTER DIRECTDEBIT_SEPA WALLET_B ONLINE_WALLET";
    shop.show(Page { brands, policy: Some(policy), ..Page::default() }).await;
    shop.browser.until("document.querySelectorAll('form.wpwl-form').length === 4").await;
    shop.browser
        .until("[...document.images].length === 4 && [...document.images].every((it) => it.naturalWidth > 0)")
        .await;
    shop.types_card("4111111111111111").await;
    assert_eq!(shop.browser.run("return violations").await, serde_json::json!([]));
    assert_eq!(shop.browser.run("return failed").await, 0);
    shop.presses_pay().await;
    assert_eq!(shop.comes_back().await, "000.100.110");
    assert_eq!(shop.browser.complaints().await, Vec::<String>::new());
    shop.close().await;
}
