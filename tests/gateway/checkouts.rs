//! Checkouts over real HTTPS: the merchant's server with its token, the shopper's browser without a token, and a shop
//! that the gateway calls unasked. `tests/widget` tests the widget itself.

use chrono::TimeDelta;
use pos_gateway_model::Call;
use pos_sim::gateway::{Gateway, HostRules, Kind, LateShopCall, Options, Outcome, State};
use reqwest::header::{HeaderMap, HeaderName, ORIGIN};
use serde_json::Value;

use crate::gateway_counter::{at, refusal, text};
use crate::https::{Act, Authority, Server};
use crate::shop_client::{Form, Shop, owned, read, read_as, with};

/// The shop's page, to which customers return.
const SHOP: &str = "https://shop.test";
const RESULT_URL: &str = "https://shop.test/result";
const START: &str = "2026-11-20T12:00:00Z";
const CARD: &[(&str, &str)] = &[
    ("paymentBrand", "VISA"),
    ("card.number", "4111111111111111"),
    ("card.expiryMonth", "12"),
    ("card.expiryYear", "2034"),
    ("card.holder", "Jane"),
    ("shopperResultUrl", RESULT_URL),
];

async fn open(host_rules: HostRules) -> Shop {
    Shop::with(Options { host_rules, clock: Some(at(START)), ..Options::default() }).await
}

/// Returns the parameters that the merchant's server sends to describe a payment.
fn to_pay(gateway: &Gateway, more: &[(&str, &str)]) -> Form {
    let basic = [("entityId", gateway.entity_id()), ("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
    with(owned(&basic), more)
}

trait Merchant {
    async fn creates(&self, more: &[(&str, &str)]) -> (u16, Value);
    /// Creates a checkout and returns its id.
    async fn checkout(&self, more: &[(&str, &str)]) -> String;
    async fn result(&self, path: &str) -> (u16, Value);
}

impl Merchant for Shop {
    async fn creates(&self, more: &[(&str, &str)]) -> (u16, Value) {
        let form = to_pay(&self.gateway, more);
        read_as(Call::Checkout, self.asked("POST", "v1/checkouts", Some(&form)).await).await
    }

    async fn checkout(&self, more: &[(&str, &str)]) -> String {
        let (status, answer) = self.creates(more).await;
        assert_eq!((status, text(&answer, "/result/code").as_str()), (200, "000.200.100"), "{answer}");
        text(&answer, "/id")
    }

    async fn result(&self, path: &str) -> (u16, Value) {
        read_as(Call::Checkout, self.asked("GET", path.trim_start_matches('/'), None).await).await
    }
}

/// Sends a request as a shopper's browser does: without a token, but with the origin of its page.
async fn browser(shop: &Shop, path: &str, form: &Form, headers: HeaderMap) -> reqwest::Response {
    let url = format!("{}{}", shop.gateway.base_url(), path.trim_start_matches('/'));
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
    let send = async |url: String| {
        let kind = "application/x-www-form-urlencoded; charset=UTF-8";
        let request = shop.client.post(url).headers(headers.clone()).header("Content-Type", kind);
        request.body(body.clone()).send().await.unwrap()
    };
    let first = send(url.clone()).await;
    if first.status() != 307 {
        return first;
    }
    let there = reqwest::Url::parse(&url).unwrap().join(first.headers()["location"].to_str().unwrap()).unwrap();
    send(there.to_string()).await
}

fn from(origin: &str) -> HeaderMap {
    HeaderMap::from_iter([(ORIGIN, origin.parse().unwrap())])
}

/// Pays as the shopper, with the values that the shopper typed.
async fn pays(shop: &Shop, id: &str, typed: &[(&str, &str)]) -> (u16, Value) {
    let form = with(owned(CARD), typed);
    read(browser(shop, &format!("v1/checkouts/{id}/payment"), &form, from(SHOP)).await).await
}

#[tokio::test]
async fn a_checkout_is_paid_by_the_browser_and_asked_for_by_the_server() {
    for host_rules in HostRules::ALL {
        let shop = open(host_rules).await;
        let more = [("merchantTransactionId", "order-4711"), ("customParameters[cart]", "7"), ("integrity", "true")];
        let (status, answer) = shop.creates(&more).await;
        assert_eq!(status, 200, "{answer}");
        assert!(text(&answer, "/integrity").starts_with("sha384-"));
        let id = text(&answer, "/id");
        assert!((32..=48).contains(&id.len()) && id.contains('.') && id.contains('-'), "{id}");

        // The interface allows the path with and without `v1/`.
        let (status, answer) = shop.result(&format!("checkouts/{id}/payment")).await;
        assert_eq!((status, text(&answer, "/result/code").as_str()), (200, "000.200.100"));
        let form = with(owned(CARD), &[("customParameters[SHOPPER_note]", "blue")]);
        let response = browser(&shop, &format!("checkouts/{id}/payment"), &form, from(SHOP)).await;
        assert_eq!(response.headers()["access-control-allow-origin"], "*");
        let (status, paid) = read(response).await;
        assert_eq!((status, text(&paid, "/result/code").as_str()), (200, "000.100.110"), "{paid}");
        let path = text(&paid, "/resourcePath");
        assert_eq!(path, format!("/v1/checkouts/{id}/payment"));
        let back = reqwest::Url::parse(&text(&paid, "/shopperResultUrl")).unwrap();
        assert_eq!(back.origin().ascii_serialization(), SHOP);
        let told: Vec<(String, String)> = back.query_pairs().into_owned().collect();
        assert_eq!(told, owned(&[("id", &id), ("resourcePath", &path)]));

        let (status, result) = shop.result(&path).await;
        assert_eq!(status, 200, "{result}");
        assert_eq!(text(&result, "/id"), text(&paid, "/id"));
        assert_eq!(text(&result, "/merchantTransactionId"), "order-4711");
        assert_eq!(text(&result, "/customParameters/cart"), "7");
        assert_eq!(text(&result, "/customParameters/SHOPPER_note"), "blue");
        assert!(!result.to_string().contains("4111111111111111"));
        let ledger = shop.gateway.ledger();
        let [entry] = ledger.entries() else { panic!("{ledger:?}") };
        assert_eq!((entry.amount.as_str(), entry.kind, entry.state), ("92.00", Kind::Debit, State::Approved));
    }
}

#[tokio::test]
async fn the_amount_and_all_that_the_server_has_said_is_the_servers() {
    let shop = open(HostRules::Checked).await;
    let id = shop.checkout(&[("customer.givenName", "Jane"), ("customer.surname", "Jones")]).await;
    for (typed, name) in [
        (("amount", "0.01"), "amount"),
        (("amount", "92.00"), "amount"),
        (("currency", "JPY"), "currency"),
        (("paymentType", "CD"), "paymentType"),
        (("entityId", "8ac7a4c97ba4e2d5017ba6b1c2d30a51"), "entityId"),
        (("merchantTransactionId", "stolen-order"), "merchantTransactionId"),
        (("threeDSecure.disable", "true"), "threeDSecure.disable"),
        (("customParameters[note]", "x"), "customParameters[note]"),
        (("customParameters[shopper_note]", "x"), "customParameters[shopper_note]"),
        (("customer.givenName", "John"), "customer.givenName"),
        (("card.number", "4000000000000002"), "card.number"),
        (("card.number", "4111-1111"), "card.number"),
        (("shopperResultUrl", "javascript:alert(1)"), "shopperResultUrl"),
    ] {
        let (status, answer) = pays(&shop, &id, &[typed]).await;
        assert_eq!((status, refusal(&answer).1.as_str()), (400, name), "{answer}");
        assert!(shop.gateway.ledger().entries().is_empty(), "{name}");
    }
    // A refused try does not use up the checkout, and resending an identical value is not a change.
    let (status, answer) = pays(&shop, &id, &[("customer.givenName", "Jane")]).await;
    assert_eq!(status, 200, "{answer}");
}

#[tokio::test]
async fn a_checkout_is_paid_once_approved_declined_or_lost() {
    for (amount, state) in [("92.00", State::Approved), ("92.51", State::Declined), ("92.73", State::Approved)] {
        let shop = open(HostRules::Checked).await;
        let id = shop.checkout(&[("amount", amount)]).await;
        if state == State::Approved && amount == "92.73" {
            let form = owned(CARD);
            let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(&form).finish();
            let url = format!("{}v1/checkouts/{id}/payment", shop.gateway.base_url());
            let kind = ("Content-Type", "application/x-www-form-urlencoded");
            let lost = shop.client.post(url).header(kind.0, kind.1).header(ORIGIN, SHOP).body(body).send().await;
            assert!(lost.is_err(), "{lost:?}");
        } else {
            let (status, answer) = pays(&shop, &id, &[]).await;
            assert_eq!(status, if state == State::Approved { 200 } else { 400 }, "{answer}");
            assert!(answer["resourcePath"].is_string(), "{answer}");
        }
        let (status, answer) = pays(&shop, &id, &[]).await;
        assert_eq!((status, refusal(&answer)), (400, ("700.300.700".to_owned(), "id".to_owned())), "{answer}");
        assert!(text(&answer, "/result/description").contains("create another"));
        let (status, result) = shop.result(&format!("v1/checkouts/{id}/payment")).await;
        let ledger = shop.gateway.ledger();
        let [entry] = ledger.entries() else { panic!("{ledger:?}") };
        assert_eq!((status, text(&result, "/id"), entry.state), (200, entry.id.clone(), state), "{result}");
    }
    // The permissive gateway accepts all of these.
    let shop = open(HostRules::Permissive).await;
    let id = shop.checkout(&[]).await;
    for _ in 0..2 {
        assert_eq!(pays(&shop, &id, &[]).await.0, 200);
    }
    assert_eq!(shop.gateway.ledger().entries().len(), 2);
}

#[tokio::test]
async fn what_was_not_processed_leaves_it_open() {
    let shop = open(HostRules::Checked).await;
    let id = shop.checkout(&[]).await;
    shop.gateway.throttle_next(1);
    let (status, answer) = pays(&shop, &id, &[]).await;
    assert_eq!((status, text(&answer, "/result/code").as_str()), (400, "800.120.100"));
    shop.gateway.force(Outcome::ServerError { processed: false });
    let failed = browser(&shop, &format!("v1/checkouts/{id}/payment"), &owned(CARD), from(SHOP)).await;
    assert_eq!(failed.status(), 500);
    assert_eq!(pays(&shop, &id, &[]).await.0, 200);
    assert_eq!(shop.gateway.ledger().entries().len(), 1);
}

#[tokio::test]
async fn an_id_is_valid_for_30_minutes_of_the_gateways_clock() {
    let shop = open(HostRules::Checked).await;
    let start = at(START);
    shop.gateway.set_clock(start);
    let (paid, open) = (shop.checkout(&[]).await, shop.checkout(&[]).await);
    assert_eq!(pays(&shop, &paid, &[]).await.0, 200);
    let script = |id: &str| format!("v1/paymentWidgets.js?checkoutId={id}");
    shop.gateway.set_clock(start + TimeDelta::minutes(30) - TimeDelta::seconds(1));
    assert_eq!(shop.result(&format!("v1/checkouts/{paid}/payment")).await.0, 200);
    assert_eq!(shop.asked("GET", &script(&open), None).await.status(), 200);

    shop.gateway.set_clock(start + TimeDelta::minutes(30));
    let expired = (400, ("200.300.404".to_owned(), "id".to_owned()));
    let (status, answer) = pays(&shop, &open, &[]).await;
    assert_eq!((status, refusal(&answer)), expired, "{answer}");
    assert!(text(&answer, "/result/description").contains("expired"));
    let (status, answer) = shop.result(&format!("v1/checkouts/{paid}/payment")).await;
    assert_eq!((status, refusal(&answer)), expired, "{answer}");
    let (status, answer) = shop.result(&script(&open)).await;
    assert_eq!((status, refusal(&answer).1.as_str()), (400, "checkoutId"), "{answer}");
    assert_eq!(shop.gateway.ledger().entries().len(), 1);
}

#[tokio::test]
async fn a_wrong_id_path_method_or_token_finds_nothing() {
    let shop = open(HostRules::Checked).await;
    let id = shop.checkout(&[]).await;
    let strange = "A".repeat(41);
    for (method, path, status) in [
        ("GET", format!("v1/checkouts/{strange}/payment"), 404),
        ("GET", format!("v1/checkouts/{id}x/payment"), 404),
        ("GET", format!("v1/checkouts/{id}/refund"), 404),
        ("DELETE", format!("v1/checkouts/{id}/payment"), 404),
        ("GET", format!("v1/checkouts/{id}"), 404),
        ("GET", format!("v1/checkouts/{id}/return"), 404),
        ("GET", format!("v1/paymentWidgets.js?checkoutId={strange}"), 404),
        ("GET", "v1/widget/secrets.txt".to_owned(), 404),
        ("GET", format!("v1/checkouts/{id}/payment?entityId={}", "0".repeat(32)), 400),
        ("GET", format!("v1/checkouts/{id}/registration"), 400),
    ] {
        let (said, answer) = read_as(Call::Checkout, shop.asked(method, &path, None).await).await;
        assert_eq!(said, status, "{method} {path}: {answer}");
    }
    let at_strange = browser(&shop, &format!("v1/checkouts/{strange}/payment"), &owned(CARD), from(SHOP)).await;
    assert_eq!(at_strange.status(), 404);
    // The merchant's server sends a token with each request, but a browser never does.
    let base = shop.gateway.base_url();
    for (path, status) in [
        (format!("v1/checkouts/{id}/payment"), 401),
        ("v1/paymentWidgets.js".to_owned(), 200),
        ("v1/widget/frame.html".to_owned(), 200),
        ("v1/fastcheckout/integrity".to_owned(), 200),
    ] {
        assert_eq!(shop.client.get(format!("{base}{path}")).send().await.unwrap().status(), status, "{path}");
    }
    let wrong = shop.client.get(format!("{base}v1/fastcheckout/integrity")).bearer_auth("wrong").send().await.unwrap();
    assert_eq!(wrong.status(), 403);
    let created = shop.client.post(format!("{base}v1/checkouts")).send().await.unwrap();
    assert_eq!(created.status(), 401);
}

#[tokio::test]
async fn a_page_of_another_origin_is_refused() {
    let shop = open(HostRules::Checked).await;
    let id = shop.checkout(&[]).await;
    let own = shop.gateway.base_url().trim_end_matches('/').to_owned();
    let widget = HeaderName::from_static("widget-origin");
    let framed = |shop: &str| {
        let mut headers = from(&own);
        headers.insert(widget.clone(), shop.parse().unwrap());
        headers
    };
    let path = format!("v1/checkouts/{id}/payment");
    for (headers, name) in [
        (HeaderMap::new(), "Origin"),
        (from("https://evil.test"), "Origin"),
        (from("https://shop.test:8443"), "Origin"),
        (from("http://shop.test"), "Origin"),
        (from("null"), "Origin"),
        (from(&own), "widget-origin"),
        (framed("https://evil.test"), "Origin"),
    ] {
        let (status, answer) = read(browser(&shop, &path, &owned(CARD), headers.clone()).await).await;
        assert_eq!((status, refusal(&answer).1.as_str()), (400, name), "{headers:?}: {answer}");
    }
    assert!(shop.gateway.ledger().entries().is_empty());
    // The frame with the card fields names the page that contains it.
    assert_eq!(read(browser(&shop, &path, &owned(CARD), framed(SHOP)).await).await.0, 200);

    // If the server has set the return address, no page can set a different one.
    let id = shop.checkout(&[("shopperResultUrl", RESULT_URL)]).await;
    let evil = with(owned(CARD), &[("shopperResultUrl", "https://evil.test/result")]);
    let path = format!("v1/checkouts/{id}/payment");
    let (status, answer) = read(browser(&shop, &path, &evil, from("https://evil.test")).await).await;
    assert_eq!((status, refusal(&answer).1.as_str()), (400, "Origin"), "{answer}");
    let (status, answer) = read(browser(&shop, &path, &evil, from(SHOP)).await).await;
    assert_eq!((status, refusal(&answer).1.as_str()), (400, "shopperResultUrl"), "{answer}");
    let nowhere = with(owned(CARD), &[]).into_iter().filter(|(name, _)| name != "shopperResultUrl").collect();
    assert_eq!(read(browser(&shop, &path, &nowhere, from(SHOP)).await).await.0, 200);
}

#[tokio::test]
async fn what_a_checkout_is_made_of_is_checked_when_it_is_made() {
    let shop = open(HostRules::Checked).await;
    for (more, name) in [
        (("amount", "92"), "amount"),
        (("currency", "XXX"), "currency"),
        (("paymentType", "RF"), "paymentType"),
        (("overridePaymentType[VISA]", "CP"), "overridePaymentType[VISA]"),
        (("card.number", "4111111111111111"), "card.number"),
        (("bankAccount.iban", "DE89370400440532013000"), "bankAccount.iban"),
        (("pos.terminalId", "1"), "pos.terminalId"),
        (("entityId", "00000000000000000000000000000000"), "entityId"),
        (("shopperResultUrl", "https://shop@evil.test/"), "shopperResultUrl"),
        (("integrity", "yes"), "integrity"),
    ] {
        let (status, answer) = shop.creates(&[more]).await;
        assert_eq!((status, refusal(&answer).1.as_str()), (400, name), "{answer}");
    }
    let bare = owned(&[("entityId", shop.gateway.entity_id()), ("currency", "EUR")]);
    let (status, answer) = read_as(Call::Checkout, shop.asked("POST", "v1/checkouts", Some(&bare)).await).await;
    assert_eq!((status, refusal(&answer).1.as_str()), (400, "amount"), "{answer}");
}

#[tokio::test]
async fn the_script_knows_the_options_of_the_wallets_by_their_names() {
    let shop = open(HostRules::Checked).await;
    let script = shop.asked("GET", "v1/paymentWidgets.js", None).await.text().await.unwrap();
    for (list, names) in [
        (
            "OPTIONS_OF_B",
            "gatewayMerchantId merchantId merchantName currencyCode prefetchPriceStatus amount displayItems \
             onPaymentDataChanged billingAddressRequired billingAddressParameters onPaymentAuthorized",
        ),
        ("OPTIONS_OF_C", "merchantId ledgerCurrency sandbox checkoutLanguage productType placement buttonColor"),
    ] {
        let (_, behind) = script.split_once(&format!("const {list} = [")).unwrap();
        let (listed, _) = behind.split_once(']').unwrap();
        let listed: Vec<&str> =
            listed.split(',').map(|name| name.trim().trim_matches('\'')).filter(|name| !name.is_empty()).collect();
        assert_eq!(listed, names.split_whitespace().collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn each_brand_may_have_a_type_of_its_own() {
    let shop = open(HostRules::Checked).await;
    let types = [("overridePaymentType[VISA]", "PA")];
    let master = [("card.number", "5555555555554444"), ("paymentBrand", "MASTER")];
    for (typed, kind) in [(&[][..], Kind::PreAuthorisation), (&master[..], Kind::Debit)] {
        let id = shop.checkout(&types).await;
        let (status, answer) = pays(&shop, &id, typed).await;
        assert_eq!(status, 200, "{answer}");
        assert_eq!(shop.gateway.ledger().entries().last().unwrap().kind, kind);
    }
}

#[tokio::test]
async fn a_card_is_stored_with_a_payment_or_alone_and_pays_again() {
    let shop = open(HostRules::Checked).await;
    let id = shop.checkout(&[("createRegistration", "true")]).await;
    let (_, paid) = pays(&shop, &id, &[]).await;
    assert!(paid["registration"]["id"].is_string() || paid["registrationId"].is_string(), "{paid}");

    let alone = owned(&[("entityId", shop.gateway.entity_id()), ("createRegistration", "true")]);
    let (status, answer) = read_as(Call::Checkout, shop.asked("POST", "v1/checkouts", Some(&alone)).await).await;
    assert_eq!(status, 200, "{answer}");
    let id = text(&answer, "/id");
    assert_eq!(pays(&shop, &id, &[]).await.0, 400, "it is at another path");
    let entries = shop.gateway.ledger().entries().len();
    let path = format!("checkouts/{id}/registration");
    let (status, stored) = read(browser(&shop, &path, &owned(CARD), from(SHOP)).await).await;
    assert_eq!(status, 200, "{stored}");
    assert_eq!(text(&stored, "/resourcePath"), format!("/v1/checkouts/{id}/registration"));
    assert_eq!(shop.gateway.ledger().entries().len(), entries);
    let (status, answer) = read(browser(&shop, &path, &owned(CARD), from(SHOP)).await).await;
    assert_eq!((status, refusal(&answer).1.as_str()), (400, "id"), "{answer}");
    let (status, result) = shop.result(&format!("/v1/{path}")).await;
    assert_eq!((status, text(&result, "/id")), (200, text(&stored, "/id")));
    let form = with(to_pay(&shop.gateway, &[]), &[("merchantTransactionId", "again-0001")]);
    let with_it = format!("v1/registrations/{}/payments", text(&stored, "/id"));
    let agreed = with(
        form,
        &[
            ("standingInstruction.mode", "INITIAL"),
            ("standingInstruction.type", "UNSCHEDULED"),
            ("standingInstruction.source", "CIT"),
        ],
    );
    let (status, answer) = read(shop.asked("POST", &with_it, Some(&agreed)).await).await;
    assert_eq!(status, 200, "{answer}");
}

#[tokio::test]
async fn the_hash_is_that_of_the_bytes_that_are_served() {
    use base64::Engine;
    for host_rules in HostRules::ALL {
        let shop = open(host_rules).await;
        let (_, made) = shop.creates(&[("integrity", "true")]).await;
        let with_checkout = format!("v1/paymentWidgets.js?checkoutId={}", text(&made, "/id"));
        let hash = shop.asked("GET", "v1/fastcheckout/integrity", None).await.bytes().await.unwrap();
        let hash: Value = serde_json::from_slice(&hash).unwrap();
        assert_eq!(hash.as_object().unwrap().len(), 1, "one field: {hash}");
        for path in ["v1/paymentWidgets.js", &with_checkout] {
            let script = shop.asked("GET", path, None).await;
            assert_eq!(script.status(), 200);
            assert!(script.headers()["content-type"].to_str().unwrap().starts_with("text/javascript"));
            assert_eq!(script.headers()["access-control-allow-origin"], "*", "crossorigin=anonymous needs it");
            let bytes = script.bytes().await.unwrap();
            let digest = ring::digest::digest(&ring::digest::SHA384, &bytes);
            let expected = format!("sha384-{}", base64::engine::general_purpose::STANDARD.encode(digest));
            assert_eq!(hash["integrity"], expected.as_str());
            assert_eq!(made["integrity"], expected.as_str());
        }
        // The literal gateway requires a token with every request.
        let url = format!("{}v1/fastcheckout/integrity", shop.gateway.base_url());
        let bare = shop.client.get(url).send().await.unwrap().status();
        assert_eq!(bare, if host_rules == HostRules::Literal { 401 } else { 200 });
    }
}

/// Opens a gateway and the shop that it calls. The shop gives these answers.
async fn called(answers: impl FnMut(&str) -> Act + Send + 'static) -> (Shop, Server, String) {
    called_with(Options::default(), answers).await
}

async fn called_with(options: Options, answers: impl FnMut(&str) -> Act + Send + 'static) -> (Shop, Server, String) {
    let authority = Authority::new();
    let server = Server::answering(authority.server("localhost", (2020, 2099)), answers).await;
    let options = Options { clock: Some(at(START)), shop_ca: Some(authority.pem().to_owned()), ..options };
    let shop = Shop::with(options).await;
    shop.gateway.set_clock(at(START));
    let origin = format!("https://localhost:{}", server.address().port());
    (shop, server, origin)
}

fn ok() -> Act {
    Act::AnswerAndClose(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec())
}

#[tokio::test]
async fn a_shop_that_has_not_asked_is_called_once_after_29_minutes() {
    let (shop, server, origin) = called(|_| ok()).await;
    let url = format!("{origin}/result?cart=7");
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(shop.checkout(&[("shopperResultUrl", &url)]).await);
    }
    let [silent, asked, unpaid] = &ids[..] else { unreachable!() };
    for id in [silent, asked] {
        let form: Form = owned(CARD).into_iter().filter(|(name, _)| name != "shopperResultUrl").collect();
        let path = format!("v1/checkouts/{id}/payment");
        assert_eq!(read(browser(&shop, &path, &form, from(&origin)).await).await.0, 200);
    }
    assert_eq!(shop.result(&format!("v1/checkouts/{asked}/payment")).await.0, 200);
    shop.gateway.set_clock(at(START) + TimeDelta::seconds(29 * 60 - 1));
    shop.gateway.set_clock(at(START) + TimeDelta::minutes(29));
    server.closed(1).await;
    // Moving the clock again calls no shop a second time.
    shop.gateway.set_clock(at(START) + TimeDelta::seconds(29 * 60 + 30));
    let (status, result) = shop.result(&format!("v1/checkouts/{silent}/payment")).await;
    assert_eq!((status, text(&result, "/result/code").as_str()), (200, "000.100.110"));
    assert_eq!(shop.result(&format!("v1/checkouts/{unpaid}/payment")).await.0, 200);
    let requests = server.requests();
    let [request] = &requests[..] else { panic!("{requests:?}") };
    let line = request.lines().next().unwrap();
    assert_eq!(line, format!("GET /result?cart=7&resourcePath=%2Fv1%2Fcheckouts%2F{silent}%2Fpayment HTTP/1.1"));
    assert!(!request.to_lowercase().contains("authorization"), "{request}");
}

#[tokio::test]
async fn the_29_minutes_begin_with_the_submission_and_a_setting_says_what_comes_after_the_id() {
    // Two times in minutes after the creation of the checkout: one before the shop is called, one when it is called.
    for (late, before, due) in
        [(LateShopCall::After, 38, Some(39)), (LateShopCall::Before, 28, Some(29)), (LateShopCall::Never, 120, None)]
    {
        let options = Options { late_shop_call: late, ..Options::default() };
        let (shop, server, origin) = called_with(options, |_| ok()).await;
        let url = format!("{origin}/result");
        let id = shop.checkout(&[("shopperResultUrl", &url)]).await;
        let form: Form = owned(CARD).into_iter().filter(|(name, _)| name != "shopperResultUrl").collect();
        shop.gateway.set_clock(at(START) + TimeDelta::minutes(10));
        let path = format!("v1/checkouts/{id}/payment");
        assert_eq!(read(browser(&shop, &path, &form, from(&origin)).await).await.0, 200);
        shop.gateway.set_clock(at(START) + TimeDelta::minutes(before));
        // This second checkout is submitted when it is created, so its shop is certainly called. A call that was due
        // earlier would arrive first.
        let (first, other) =
            (at(START) + TimeDelta::minutes(before), shop.checkout(&[("shopperResultUrl", &url)]).await);
        let path = format!("v1/checkouts/{other}/payment");
        assert_eq!(read(browser(&shop, &path, &form, from(&origin)).await).await.0, 200);
        assert!(server.requests().is_empty(), "{late:?}: {:?}", server.requests());
        match due {
            Some(due) => shop.gateway.set_clock(at(START) + TimeDelta::minutes(due)),
            None => shop.gateway.set_clock(first + TimeDelta::minutes(29)),
        }
        server.closed(1).await;
        let requests = server.requests();
        let called = if due.is_some() { &id } else { &other };
        assert!(requests.len() == 1 && requests[0].contains(called.as_str()), "{late:?}: {requests:?}");
    }
}

#[tokio::test]
async fn a_shop_that_hangs_or_redirects_stops_nothing() {
    let mut calls = 0;
    let (shop, server, origin) = called(move |_| {
        calls += 1;
        match calls {
            1 => Act::AnswerAndClose(
                b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    .to_vec(),
            ),
            _ => Act::Silence,
        }
    })
    .await;
    let url = format!("{origin}/result");
    let mut ids = Vec::new();
    for _ in 0..2 {
        let id = shop.checkout(&[("shopperResultUrl", &url)]).await;
        let form: Form = owned(CARD).into_iter().filter(|(name, _)| name != "shopperResultUrl").collect();
        let path = format!("v1/checkouts/{id}/payment");
        assert_eq!(read(browser(&shop, &path, &form, from(&origin)).await).await.0, 200);
        ids.push(id);
    }
    // A person moves the clock forward.
    let forward = owned(&[("at", "2026-11-20T12:29:00Z")]);
    assert_eq!(shop.asked("POST", "simulator/clock", Some(&forward)).await.status(), 200);
    // One call is redirected and one hangs. Payments go on meanwhile.
    server.closed(1).await;
    server.handshakes(2).await;
    for id in &ids {
        assert_eq!(shop.result(&format!("v1/checkouts/{id}/payment")).await.0, 200);
    }
    let id = shop.checkout(&[]).await;
    assert_eq!(pays(&shop, &id, &[]).await.0, 200);
    assert!(server.requests().iter().all(|request| request.starts_with("GET /result?")), "not followed");
}

#[tokio::test]
async fn a_checkout_is_changed_until_something_is_submitted() {
    let shop = open(HostRules::Checked).await;
    let id = shop.checkout(&[("merchantMemo", "the first")]).await;
    let path = format!("v1/checkouts/{id}");
    let entity = shop.gateway.entity_id().to_owned();
    let changes = |more: &[(&str, &str)]| with(owned(&[("entityId", entity.as_str())]), more);
    let update = async |form: Form| read_as(Call::Checkout, shop.asked("POST", &path, Some(&form)).await).await;
    let (status, answer) = update(changes(&[("amount", "10.00"), ("merchantMemo", "the second")])).await;
    assert_eq!((status, text(&answer, "/result/code")), (200, "000.200.101".into()), "{answer}");
    // Invalid settings change nothing.
    for (wrong, name) in [
        (&[("amount", "ten")][..], "amount"),
        (&[("paymentType", "RF")], "paymentType"),
        (&[("shopperResultUrl", "nonsense")], "shopperResultUrl"),
        // This parameter is accepted when the checkout is created, and refused afterwards.
        (&[("overridePaymentType[VISA]", "PA")], "overridePaymentType[VISA]"),
    ] {
        let (status, answer) = update(changes(wrong)).await;
        assert_eq!((status, refusal(&answer).1), (400, name.to_owned()), "{answer}");
    }
    let stranger = read_as(
        Call::Checkout,
        shop.asked("POST", &format!("v1/checkouts/{}", "0".repeat(32)), Some(&changes(&[]))).await,
    );
    assert_eq!(stranger.await.0, 404);
    let (status, paid) = pays(&shop, &id, CARD).await;
    assert_eq!(
        (status, text(&paid, "/amount"), text(&paid, "/merchantMemo")),
        (200, "10.00".into(), "the second".into()),
        "{paid}"
    );
    let (status, answer) = update(changes(&[("amount", "11.00")])).await;
    assert_eq!(status, 400, "{answer}");
}
