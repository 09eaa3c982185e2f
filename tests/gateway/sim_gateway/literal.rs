//! The literal gateway, which does exactly what the documents say.

use std::collections::BTreeSet;

use easy_ext::ext;
use pos_sim::gateway::{HostRules, Kind, Options, State};
use serde_json::Value;

use crate::gateway_counter::{Counter, at, text};
use crate::shop_client::{Form, Sales, owned, value, with};

async fn letter() -> Counter {
    with_options(Options::default()).await
}

async fn with_options(options: Options) -> Counter {
    Counter::with(Options { host_rules: HostRules::Literal, ..options }).await
}

const USED: &str = "700.300.700";

fn code(answer: &(u16, Value)) -> (u16, String) {
    (answer.0, text(&answer.1, "/result/code"))
}

#[tokio::test]
async fn the_bare_address_and_paths_that_are_not_named_are_not_found() {
    let counter = letter().await;
    for path in ["", "v1/nothing", "v1/payments", "checkouts", "paymentWidgets.js", "again", "again/"] {
        assert_eq!(counter.shop.get(path).await.0, 404, "{path}");
    }
    let bare = counter.shop.client.get(counter.shop.gateway.base_url()).send().await.unwrap();
    assert_eq!(bare.status(), 404);
    assert!(bare.headers().contains_key("date"));
    assert_eq!(counter.shop.asked("DELETE", "v1/payments", None).await.status(), 404);
}

#[tokio::test]
async fn a_reference_is_taken_once_whatever_it_is_for() {
    let mut counter = letter().await;
    let own = |reference: &'static str| [("merchantTransactionId", reference)];
    let sale = counter.paid("DB", "10.00", &own("sale-00001")).await;
    let count = |counter: &Counter| counter.shop.gateway.ledger().entries().len();
    assert_eq!(count(&counter), 1);
    // A reference cannot be used again: not for another payment, nor for a follow-up payment, nor with a stored card.
    let used = (400, USED.to_owned());
    assert_eq!(code(&counter.pay("DB", "10.00", &own("sale-00001")).await), used);
    for kind in ["RF", "RV"] {
        assert_eq!(code(&counter.follow(&sale, kind, Some("10.00"), &own("sale-00001")).await), used, "{kind}");
    }
    let (_, answer) = counter.pay("PA", "20.00", &[("createRegistration", "true")]).await;
    let (held, stored) = (text(&answer, "/id"), text(&answer, "/registrationId"));
    let more = counter.by_reference(&held, "INCREMENTAL_AUTH", "5.00", &own("sale-00001")).await;
    assert_eq!(code(&more), used);
    assert_eq!(code(&counter.with_stored(&stored, "5.00", &own("sale-00001")).await), used);
    assert_eq!(count(&counter), 2);
    // A follow-up payment uses up its reference too, and so does a declined payment.
    assert_eq!(counter.follow(&sale, "RF", Some("1.00"), &own("refund-001")).await.0, 200);
    assert_eq!(code(&counter.follow(&sale, "RF", Some("1.00"), &own("refund-001")).await), used);
    assert_eq!(counter.pay("DB", "9.51", &own("declined-1")).await.0, 400);
    assert_eq!(code(&counter.pay("DB", "10.00", &own("declined-1")).await), used);
    // A request that is not processed does not use up its reference.
    assert_eq!(counter.pay("DB", "9.63", &own("throttled1")).await.0, 400);
    assert_eq!(counter.pay("DB", "10.00", &own("throttled1")).await.0, 200);
    assert_eq!(counter.follow(&sale, "RF", Some("99.00"), &own("too-much-1")).await.0, 400);
    assert_eq!(counter.follow(&sale, "RF", Some("1.00"), &own("too-much-1")).await.0, 200);
    // Several requests may have no reference.
    for _ in 0..2 {
        assert_eq!(counter.follow(&sale, "RF", Some("1.00"), &[]).await.0, 200);
    }
    // The other gateways accept a repeated reference.
    let mut checked = Counter::open().await;
    checked.paid("DB", "10.00", &own("sale-00001")).await;
    checked.paid("DB", "10.00", &own("sale-00001")).await;
}

#[tokio::test]
async fn a_card_that_was_stored_alone_has_used_its_reference() {
    let mut counter = letter().await;
    let sealed = with(counter.reader.chip_sale("1.00", "stored-001"), &[]);
    let wanted = [
        "entityId",
        "merchantTransactionId",
        "pos.terminalId",
        "pos.entryMode",
        "pos.encryptedSred.data",
        "pos.encryptedSred.ksn",
    ];
    let form: Form = sealed.into_iter().filter(|(name, _)| wanted.contains(&name.as_str())).collect();
    let stored = counter.shop.asked("POST", "v1/registrations", Some(&form)).await;
    assert_eq!(stored.status(), 200);
    assert_eq!(code(&counter.pay("DB", "1.00", &[("merchantTransactionId", "stored-001")]).await), (400, USED.into()));
}

#[tokio::test]
async fn a_follow_up_says_all_but_what_it_refers_to() {
    let mut counter = letter().await;
    let sale = counter.paid("DB", "10.00", &[("merchantTransactionId", "linked-001")]).await;
    let own = [("merchantTransactionId", "linked-001-r1")];
    let (status, answer) = counter.follow(&sale, "RV", Some("10.00"), &own).await;
    assert_eq!(status, 200, "{answer}");
    let is_whole = |answer: &Value| {
        let own = [("/paymentType", "RV"), ("/currency", "EUR"), ("/merchantTransactionId", "linked-001-r1")];
        assert!(own.iter().all(|(pointer, said)| text(answer, pointer) == *said), "{answer}");
        assert_eq!(money(&answer["amount"]), 1000);
        for pointer in ["/id", "/result/code", "/result/description"] {
            assert!(!text(answer, pointer).is_empty(), "{pointer}");
        }
        assert!(answer.get("referencedId").is_none(), "{answer}");
    };
    is_whole(&answer);
    assert!(["buildNumber", "timestamp", "ndc"].iter().all(|name| answer[name].is_string()));
    let id = text(&answer, "/id");
    assert_ne!(id, sale);
    is_whole(&counter.shop.get(&format!("v1/payments/{id}")).await.1);
    let entity = counter.shop.gateway.entity_id().to_owned();
    let query = |more: &str| format!("v1/query?entityId={entity}&{more}");
    let linked = counter.shop.get(&query("merchantTransactionId=linked-001&includeLinkedTransactions=true")).await.1;
    let found = linked["payments"].as_array().unwrap();
    assert_eq!([text(&found[0], "/id"), text(&found[1], "/id")], [sale, id.clone()]);
    is_whole(&found[1]);
    let own = counter.shop.get(&query("merchantTransactionId=linked-001-r1")).await.1;
    assert_eq!(text(&own, "/payments/0/id"), id);
    // The answer names the invalid parameter only in its description.
    let (status, answer) = counter.pay("DB", "1.00", &[("currency", "eur")]).await;
    assert_eq!((status, answer["result"].get("parameterErrors")), (400, None));
    assert!(text(&answer, "/result/description").contains("currency"));
}

/// Checks that any request may get a 307 that leads to the same resource, but only one.
#[tokio::test]
async fn any_request_is_redirected_once_and_is_not_processed_before() {
    let mut counter = letter().await;
    let gateway = &counter.shop.gateway;
    let form = counter.reader.chip_sale("10.00", "redirect-01");
    let first = counter.shop.send("v1/payments", &form).await.unwrap();
    assert_eq!((first.status().as_u16(), gateway.ledger().entries().len()), (307, 0));
    let location = first.headers()["location"].to_str().unwrap().to_owned();
    assert_eq!(location, "/again/v1/payments");
    let paid = counter.shop.send(location.trim_start_matches('/'), &form).await.unwrap();
    assert_eq!(paid.status(), 200, "the redirect has used no key up");
    let id = gateway.ledger().charged("redirect-01")[0].id.clone();

    // The gateway redirects every third GET.
    let ask = async |url: String| {
        let answer = counter.shop.client.get(url).bearer_auth(counter.shop.gateway.token()).send().await.unwrap();
        let location = answer.headers().get("location").map(|there| there.to_str().unwrap().to_owned());
        (answer.status().as_u16(), location)
    };
    let base = counter.shop.gateway.base_url();
    let own = base.trim_end_matches('/').to_owned();
    let paths = [
        format!("v1/payments/{id}"),
        format!("v1/query?entityId={}&merchantTransactionId=redirect-01", counter.shop.gateway.entity_id()),
    ];
    let mut kinds = BTreeSet::new();
    let mut redirects = 0;
    for n in 0..24 {
        let path = &paths[n % 2];
        let (status, location) = ask(format!("{base}{path}")).await;
        let Some(location) = location else {
            assert_eq!(status, 200, "{path}");
            continue;
        };
        assert_eq!(status, 307);
        redirects += 1;
        let whole = if location.starts_with('/') { format!("{own}{location}") } else { location.clone() };
        assert!(whole.starts_with(&own) && whole != format!("{base}{path}"), "{location}");
        assert_eq!(ask(whole).await, (200, None), "{location}");
        kinds.insert((location.starts_with('/'), location.contains("/again/"), location.contains("again=1")));
    }
    assert_eq!((redirects, kinds.len()), (8, 4), "{kinds:?}");

    // The cents choose a 307. The gateway then sends no additional 307.
    for n in 0..4 {
        let form = counter.reader.chip_sale("9.78", &format!("redirect-1{n}"));
        assert_eq!(counter.shop.pay(&form).await.0, 200);
    }
    // The gateway does not redirect a request with a wrong token.
    let strange = || counter.shop.client.get(format!("{base}{}", paths[0])).bearer_auth("wrong").send();
    for _ in 0..3 {
        assert_eq!(strange().await.unwrap().status(), 403);
    }
}

#[tokio::test]
async fn the_query_is_served_by_get_and_by_post_and_keeps_its_limits() {
    let mut counter = letter().await;
    let sale = counter.paid("DB", "10.00", &[("merchantTransactionId", "asked-0001")]).await;
    let entity = counter.shop.gateway.entity_id().to_owned();
    let form = [("entityId", entity.as_str()), ("merchantTransactionId", "asked-0001")];
    let by_body = counter.shop.post("v1/query", &form).await;
    assert_eq!((by_body.0, text(&by_body.1, "/payments/0/id")), (200, sale.clone()));
    assert_eq!(counter.found("merchantTransactionId=asked-0001").await, [sale.as_str()]);
    // Every filter is optional.
    assert_eq!(counter.found("limit=100").await, [sale.as_str()]);
    for wrong in [
        "limit=99",
        "limit=501",
        "date.from=2026-01-01+00:00:00",
        "date.from=2026-01-01&date.to=2026-01-02",
        "date.from=2026-01-01T00:00:00&date.to=2026-01-02T00:00:00",
        "merchantTransactionId=asked-0001&date.from=2026-01-01+00:00:00&date.to=2026-01-02+00:00:00",
    ] {
        let (status, answer) = counter.shop.get(&format!("v1/query?entityId={entity}&{wrong}")).await;
        assert_eq!(status, 400, "{wrong}: {answer}");
    }
    let upper = entity.to_uppercase();
    let (status, answer) = counter.shop.get(&format!("v1/query?entityId={upper}")).await;
    assert_eq!(status, 400, "{answer}");
}

/// Checks the query by date. The agent sends it after each start, and halves its window until fewer than `limit`
/// entries come back.
#[tokio::test]
async fn a_query_by_date_gives_the_first_hundred_by_time() {
    for host_rules in HostRules::ALL {
        let mut counter = Counter::with(Options { host_rules, ..Options::default() }).await;
        let held = counter.paid("PA", "9999.00", &[]).await;
        for n in 0..130_u32 {
            // A gateway's clock may be behind its booked entries.
            let minute = if n == 129 { 0 } else { n / 10 };
            counter.shop.gateway.set_clock(at(&format!("2026-01-01T10:{minute:02}:{:02}Z", n % 60)));
            let reference = format!("window-{n:04}");
            let own = [("merchantTransactionId", reference.as_str())];
            assert_eq!(counter.follow(&held, "CP", Some("1.00"), &own).await.0, 200);
        }
        let entity = counter.shop.gateway.entity_id().to_owned();
        let found = async |from: &str, to: &str, limit: &str| {
            let form = [("entityId", entity.as_str()), ("date.from", from), ("date.to", to), ("limit", limit)];
            let path = form_urlencoded::Serializer::new("v1/query?".to_owned()).extend_pairs(form).finish();
            let (status, answer) = counter.shop.get(&path).await;
            assert_eq!(status, 200, "{answer}");
            let payments = answer["payments"].as_array().unwrap().clone();
            payments.iter().map(|one| text(one, "/merchantTransactionId")).collect::<Vec<_>>()
        };
        let all = found("2026-01-01 10:00:00", "2026-01-01 10:59:59", "500").await;
        assert_eq!(all.len(), 130, "{host_rules:?}");
        let first = found("2026-01-01 10:00:00", "2026-01-01 10:59:59", "100").await;
        assert_eq!(first, all[..100], "{host_rules:?}");
        // The entry that was booked last is among the first by time.
        assert!(first.contains(&"window-0129".to_owned()) && !first.contains(&"window-0128".to_owned()));
        let window = found("2026-01-01 10:03:00", "2026-01-01 10:03:59", "100").await;
        assert_eq!(window.len(), 10, "{host_rules:?}");
        assert!(window.iter().all(|reference| reference.starts_with("window-003")), "{window:?}");
        assert!(found("2026-01-01 11:00:00", "2026-01-01 11:59:59", "100").await.is_empty());
    }
}

/// Checks that result codes have two to eleven digits and dots. The ledger knows their meaning.
#[tokio::test]
async fn result_codes_are_short_too() {
    let mut counter = letter().await;
    for (amount, status, short, state) in [
        ("9.58", 400, "05", State::Declined),
        ("9.59", 400, "000.4", State::Declined),
        ("9.93", 400, "1.2.3", State::Declined),
        ("9.94", 200, "00", State::Approved),
    ] {
        let answer = counter.pay("DB", amount, &[]).await;
        assert_eq!(code(&answer), (status, short.to_owned()), "{amount}: {answer:?}");
        let ledger = counter.shop.gateway.ledger();
        let booked = ledger.entries().last().unwrap();
        assert_eq!((booked.state, booked.code.as_str(), booked.amount.as_str()), (state, short, amount));
    }
    let mut checked = Counter::open().await;
    for amount in ["9.58", "9.59", "9.93", "9.94"] {
        checked.paid("DB", amount, &[]).await;
    }
}

#[tokio::test]
async fn amounts_are_text_or_numbers_and_always_exact() {
    let mut counter = letter().await;
    let mut seen = BTreeSet::new();
    for n in 0..60 {
        let amount = ["10.00", "12.34", "0.10", "100.50"][n % 4];
        let id = counter.paid("DB", amount, &[]).await;
        let answer = counter.shop.get(&format!("v1/payments/{id}")).await.1;
        assert_eq!(money(&answer["amount"]), amount.replace('.', "").parse::<u64>().unwrap(), "{answer}");
        let by_id = &answer["amount"];
        assert_eq!(counter.found_amount(&id).await, *by_id, "the same of the same payment");
        seen.insert(by_id.is_string());
    }
    assert_eq!(seen.len(), 2, "text and number");
    let mut checked = Counter::open().await;
    let (_, answer) = checked.pay("DB", "10.00", &[]).await;
    assert_eq!(answer["amount"], "10.00");
}

#[ext(Finds)]
impl Counter {
    /// Returns the amount in the query's answer.
    async fn found_amount(&self, id: &str) -> Value {
        let entity = self.shop.gateway.entity_id();
        let all = "date.from=2000-01-01+00:00:00&date.to=2099-01-01+00:00:00&limit=500";
        let (_, answer) = self.shop.get(&format!("v1/query?entityId={entity}&{all}")).await;
        let found = answer["payments"].as_array().unwrap().iter().find(|payment| text(payment, "/id") == id);
        found.unwrap()["amount"].clone()
    }
}

/// Returns the minor units of an amount, whether text or number, from its digits alone.
fn money(amount: &Value) -> u64 {
    let text = amount.as_str().map_or_else(|| amount.to_string(), str::to_owned);
    let (whole, cents) = text.split_once('.').unwrap_or((&text, ""));
    assert!(cents.len() <= 2, "{text}");
    format!("{whole}{cents:0<2}").parse().unwrap()
}

#[tokio::test]
async fn hexadecimal_is_as_it_comes() {
    let mut counter = letter().await;
    let mut seen = BTreeSet::new();
    for n in 0..24 {
        let form = counter.reader.chip_sale("10.00", &format!("hex-{n:05}"));
        let lower = ["pos.encryptedSred.data", "pos.encryptedPin.data", "pos.iccDataRequest"];
        let changes: Vec<(&str, String)> =
            lower.iter().map(|name| (*name, value(&form, name).to_ascii_lowercase())).collect();
        let changes: Vec<(&str, &str)> = changes.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (status, answer) = counter.shop.pay(&with(form, &changes)).await;
        assert_eq!(status, 200, "{answer}");
        let icc = text(&answer, "/pos/iccDataResponse");
        assert!(icc.eq_ignore_ascii_case(&hex::encode(hex::decode(&icc).unwrap())));
        seen.insert(icc.bytes().any(|c| c.is_ascii_lowercase()));
        assert_ne!(
            icc.bytes().any(|c| c.is_ascii_lowercase()),
            icc.bytes().any(|c| c.is_ascii_uppercase()),
            "one case in one answer: {icc}"
        );
    }
    assert_eq!(seen.len(), 2);
}

#[tokio::test]
async fn each_operation_is_throttled_by_itself() {
    let mut counter = with_options(Options { throttle: Some(3), ..Options::default() }).await;
    counter.shop.gateway.set_clock(at("2026-01-01T10:00:00Z"));
    let sale = counter.paid("DB", "20.00", &[]).await;
    counter.paid("DB", "20.00", &[]).await;
    counter.paid("DB", "20.00", &[]).await;
    let throttled = (400, "800.120.100".to_owned());
    assert_eq!(code(&counter.pay("DB", "20.00", &[]).await), throttled);
    // Payments are throttled, but other requests are not.
    for _ in 0..3 {
        assert_eq!(counter.follow(&sale, "RF", Some("1.00"), &[]).await.0, 200);
    }
    assert_eq!(code(&counter.follow(&sale, "RF", Some("1.00"), &[]).await), throttled);
    for _ in 0..3 {
        assert_eq!(counter.shop.get(&format!("v1/payments/{sale}")).await.0, 200);
        assert!(counter.found("merchantTransactionId=nobody-knows").await.is_empty());
    }
    assert_eq!(code(&counter.shop.get(&format!("v1/payments/{sale}")).await), throttled);
    counter.shop.gateway.set_clock(at("2026-01-01T10:00:01Z"));
    counter.paid("DB", "20.00", &[]).await;
    assert_eq!(counter.shop.gateway.ledger().entries().len(), 7);
}

#[tokio::test]
async fn places_are_letters_where_the_interface_says_letters() {
    let mut letter = letter().await;
    let mut checked = Counter::open().await;
    for (place, fits) in [("Bavaria", true), ("Thüringen", false)] {
        let more = [("billing.state", place)];
        let (status, answer) = letter.pay("DB", "10.00", &more).await;
        assert_eq!(status == 200, fits, "{place}: {answer}");
        assert_eq!(checked.pay("DB", "10.00", &more).await.0, 200, "{place}");
    }
}

/// Checks that the gateway refuses a follow-up payment that the payment's state does not allow, and that nothing
/// changes.
#[tokio::test]
async fn what_is_not_left_is_refused() {
    let mut counter = letter().await;
    let sale = counter.paid("DB", "10.00", &[]).await;
    let refused = async |counter: &Counter, kind: &str, amount: &str, expected: &str| {
        let answer = counter.follow(&sale, kind, Some(amount), &[]).await;
        assert_eq!(code(&answer), (400, expected.to_owned()), "{kind} {amount}");
    };
    refused(&counter, "RF", "10.01", "700.400.200").await;
    refused(&counter, "RV", "10.01", "700.100.200").await;
    refused(&counter, "CP", "1.00", "700.400.510").await;
    assert_eq!(counter.follow(&sale, "RF", Some("4.00"), &[]).await.0, 200);
    refused(&counter, "RV", "10.00", "700.400.300").await;
    refused(&counter, "RF", "6.01", "700.400.200").await;
    let nobody = format!("v1/payments/{}", "f".repeat(32));
    let form = owned(&[("entityId", counter.shop.gateway.entity_id()), ("paymentType", "RV")]);
    assert_eq!(counter.shop.asked("POST", &nobody, Some(&form)).await.status(), 404);
    let kinds: Vec<Kind> = counter.shop.gateway.ledger().entries().iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [Kind::Debit, Kind::Refund]);
}
