//! Payments at the simulated gateway that wait for their customer. A payment is pending until the customer acts on the
//! page. It is then decided, and the customer returns to the shop. The test posts the page's form as a browser does.

use chrono::TimeDelta;
use pos_sim::gateway::{HostRules, Method, Options, State};
use serde_json::Value;

use crate::gateway_counter::{INVALID, at, text};
use crate::page_shop::{Browser, PageShop};

const BACK: (&str, &str) = ("shopperResultUrl", "https://shop.test/result?cart=7");
const VIRTUAL: &[(&str, &str)] = &[("virtualAccount.accountId", "jane@shop.test"), ("paymentBrand", "SIMWALLET"), BACK];
const TRANSFER: &[(&str, &str)] = &[
    ("bankAccount.holder", "Jane Jones"),
    ("bankAccount.iban", "DE89370400440532013000"),
    ("bankAccount.bic", "COBADEFF"),
    ("paymentBrand", "ONLINETRANSFER"),
    BACK,
];

async fn code(page: &PageShop, id: &str) -> String {
    text(&page.shop.get(&format!("v1/payments/{id}")).await.1, "/result/code")
}

async fn pending(page: &mut PageShop, amount: &str, means: &[(&str, &str)]) -> (String, Value) {
    let (status, answer) = page.pay(amount, &[means]).await;
    assert_eq!(status, 200, "{answer}");
    let id = text(&answer, "/id");
    assert!(text(&answer, "/redirect/url").starts_with(&page.shop.gateway.base_url()));
    assert_eq!(code(page, &id).await, "000.200.000");
    assert_eq!(page.last_entry().state, State::Pending);
    (id, answer)
}

#[tokio::test]
async fn a_customer_pays_on_the_page_and_comes_back() {
    let mut page = PageShop::open().await;
    for (means, method) in [(VIRTUAL, Method::VirtualAccount), (TRANSFER, Method::OnlineTransfer)] {
        let (id, answer) = pending(&mut page, "10.00", means).await;
        assert_eq!(page.last_entry().method, method);
        let browser = Browser::sent(&page, &answer);
        let shown = browser.arrives().await;
        assert!(shown.status == 200 && shown.html.contains("10.00 EUR to the shop"), "{}", shown.html);
        for button in ["value=\"pay\"", "value=\"cancel\"", "value=\"expire\""] {
            assert!(shown.html.contains(button), "{button}: {}", shown.html);
        }
        // The customer has only viewed the page, so the payment is still pending.
        assert_eq!(code(&page, &id).await, "000.200.000");
        // The answer names the payee of a transfer before the customer makes it.
        let payee = answer.pointer("/merchant/bankAccount/holder").and_then(Value::as_str);
        assert_eq!(payee, (method == Method::OnlineTransfer).then_some("Shop of Tests"));
        let shown = browser.acts(&[("action", "pay")]).await;
        let back = format!("https://shop.test/result?cart=7&id={id}&resourcePath=%2Fv1%2Fpayments%2F{id}");
        assert_eq!((shown.status, shown.location), (303, Some(back)));
        // Both a retrieval with the shop's path and a query show the outcome.
        let (_, answer) = page.shop.get(&format!("v1/payments/{id}")).await;
        assert_eq!(text(&answer, "/result/code"), "000.100.110");
        assert!(answer.get("redirect").is_none(), "{answer}");
        let reference = page.last_entry().merchant_transaction_id.unwrap();
        assert_eq!(page.found(&format!("merchantTransactionId={reference}")).await, [id.as_str()]);
        assert_eq!(page.shop.gateway.ledger().charged(&reference).len(), 1);
        let (status, refund) = page.post(&format!("v1/payments/{id}"), &[&[("paymentType", "RF")]]).await;
        assert_eq!((status, text(&refund, "/paymentBrand")), (200, text(&answer, "/paymentBrand")));
    }
}

#[tokio::test]
async fn what_the_customer_does_is_what_becomes_of_it() {
    let mut page = PageShop::open().await;
    for (amount, action, code_at_end, state) in [
        ("10.00", "cancel", "100.396.101", State::Declined),
        ("10.00", "expire", "100.396.103", State::Declined),
        // The cents choose the outcome after the customer has paid.
        ("10.51", "pay", "800.100.155", State::Declined),
        ("10.62", "pay", "000.200.000", State::Pending),
    ] {
        let (id, answer) = pending(&mut page, amount, VIRTUAL).await;
        let shown = Browser::sent(&page, &answer).acts(&[("action", action)]).await;
        assert_eq!(shown.status, 303, "{action}");
        assert_eq!(code(&page, &id).await, code_at_end);
        let entry = page.last_entry();
        assert_eq!((entry.state, entry.code.as_str()), (state, code_at_end));
        // Posting the form again changes nothing, and the page says so.
        for again in ["pay", "cancel", "expire"] {
            let shown = Browser::sent(&page, &answer).acts(&[("action", again)]).await;
            assert!(shown.status == 409 && shown.html.contains("This payment has ended"), "{again}: {}", shown.html);
            assert!(shown.html.contains("Back to the shop") && shown.location.is_none());
        }
        assert_eq!(page.last_entry(), entry);
        // A payment that was not approved cannot be refunded.
        let (status, _) = page.post(&format!("v1/payments/{id}"), &[&[("paymentType", "RF")]]).await;
        assert_eq!(status, 400);
    }
    // The payment is pending, and approved at the second retrieval.
    let (id, answer) = pending(&mut page, "10.61", VIRTUAL).await;
    Browser::sent(&page, &answer).acts(&[("action", "pay")]).await;
    assert_eq!(code(&page, &id).await, "000.200.000");
    assert_eq!(code(&page, &id).await, "000.100.110");
}

#[tokio::test]
async fn a_page_that_nobody_comes_to_expires_and_cannot_be_captured() {
    let mut page = PageShop::open().await;
    let begin = at("2026-11-20T12:00:00Z");
    page.shop.gateway.set_clock(begin);
    let held = [VIRTUAL, &[("paymentType", "PA")]].concat();
    let (id, answer) = pending(&mut page, "10.00", &held).await;
    let capture = [("paymentType", "CP")];
    let path = format!("v1/payments/{id}");
    assert_eq!(page.post(&path, &[&capture]).await.0, 400, "it is not decided");
    page.shop.gateway.set_clock(begin + TimeDelta::minutes(30));
    assert_eq!(code(&page, &id).await, "000.200.000");
    page.shop.gateway.set_clock(begin + TimeDelta::minutes(30) + TimeDelta::seconds(1));
    let shown = Browser::sent(&page, &answer).acts(&[("action", "pay")]).await;
    assert!(shown.status == 409 && shown.html.contains("It has expired"), "{}", shown.html);
    assert_eq!(code(&page, &id).await, "100.396.103");
    let (status, answer) = page.post(&path, &[&capture]).await;
    assert_eq!((status, text(&answer, "/result/code").as_str()), (400, "700.400.510"));
    // A page expires automatically. The ledger shows this before any request.
    let (id, _) = pending(&mut page, "10.00", VIRTUAL).await;
    page.shop.gateway.set_clock(begin + TimeDelta::hours(2));
    assert_eq!(page.last_entry().state, State::Declined);
    let reference = page.last_entry().merchant_transaction_id.unwrap();
    assert_eq!(page.found(&format!("merchantTransactionId={reference}")).await, [id.as_str()]);
}

#[tokio::test]
async fn a_stranger_is_shown_nothing_and_a_page_must_lead_back() {
    let mut page = PageShop::open().await;
    let (id, answer) = pending(&mut page, "10.00", &[VIRTUAL, &[("merchant.name", "<b>SHOP</b>")]].concat()).await;
    let shown = Browser::sent(&page, &answer).arrives().await;
    assert!(shown.html.contains("&lt;b&gt;SHOP") && !shown.html.contains("<b>SHOP"), "{}", shown.html);
    let stranger = Browser::sent(&page, &answer).stranger();
    assert_eq!(stranger.arrives().await.status, 404);
    assert_eq!(stranger.acts(&[("action", "pay")]).await.status, 404);
    let browser = Browser::sent(&page, &answer);
    // An action that the page does not offer has no effect.
    assert_eq!(browser.acts(&[("action", "confirm"), ("password", "1234")]).await.status, 200);
    assert_eq!(browser.acts(&[("action", "steal")]).await.status, 200);
    assert_eq!(code(&page, &id).await, "000.200.000");
    // Without a return address, the payment does not begin.
    page.refused(&[VIRTUAL, &[("shopperResultUrl", "")]], INVALID, "shopperResultUrl").await;
    page.refused(&[VIRTUAL, &[("shopperResultUrl", "/result")]], INVALID, "shopperResultUrl").await;
    page.refused(&[VIRTUAL, &[("paymentBrand", "")]], INVALID, "paymentBrand").await;
}

#[tokio::test]
async fn a_lost_answer_is_found_pending_and_a_file_remembers_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Some(folder.path().join("ledger.db"));
    let mut page = PageShop::with(Options { ledger: ledger.clone(), ..Options::default() }).await;
    let form = page.form("10.73", &[VIRTUAL]);
    assert!(page.shop.send("v1/payments", &form).await.is_err(), "the line is cut");
    assert_eq!(page.last_entry().state, State::Pending);
    let (id, answer) = pending(&mut page, "10.00", VIRTUAL).await;
    drop(page);
    // The gateway runs as another process at another port.
    let page = PageShop::with(Options { ledger, ..Options::default() }).await;
    let mut answer = answer;
    let path = text(&answer, "/redirect/url").split_once("/redirect/").unwrap().1.to_owned();
    answer["redirect"]["url"] = Value::String(format!("{}redirect/{path}", page.shop.gateway.base_url()));
    assert_eq!(Browser::sent(&page, &answer).acts(&[("action", "pay")]).await.status, 303);
    assert_eq!(code(&page, &id).await, "000.100.110");
}

#[tokio::test]
async fn the_other_gateways_wait_too() {
    for host_rules in [HostRules::Literal, HostRules::Permissive] {
        let mut page = PageShop::with(Options { host_rules, ..Options::default() }).await;
        let (status, answer) = page.pay("10.00", &[VIRTUAL]).await;
        assert_eq!(status, 200, "{answer}");
        let id = text(&answer, "/id");
        Browser::sent(&page, &answer).acts(&[("action", "pay")]).await;
        let path = format!("v1/payments/{id}");
        let asked = page.shop.asked("GET", &path, None).await;
        let answer: Value = serde_json::from_slice(&asked.bytes().await.unwrap()).unwrap();
        assert_eq!(text(&answer, "/result/code"), "000.100.110");
    }
}
