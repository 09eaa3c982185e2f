//! The simulated gateway as a server: throttling, delay, the file of its ledger, and invalid requests.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests are tests")]

use crate::card_reader;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::gateway_counter::{Counter, INVALID, at, read, refusal, text};
use crate::page_shop::{CARD, PageShop};
use crate::shop_client::{Sales, Shop, with};
use pos_sim::gateway::{HostRules, Options};
use serde_json::Value;

#[tokio::test]
async fn throttled_requests_are_not_processed() {
    let mut counter = Counter::with(Options { throttle: Some(2), ..Options::default() }).await;
    counter.shop.gateway.set_clock(at("2026-01-01T10:00:00Z"));
    let sale = counter.paid("DB", "20.00", &[]).await;
    counter.followed(&sale, "RF", Some("1.00")).await;
    let throttled = |answer: (u16, Value)| {
        let (status, answer) = answer;
        let said = (text(&answer, "/result/code"), text(&answer, "/result/description"), text(&answer, "/id").len());
        let expected = ("800.120.100".to_owned(), "Too many requests. Please try again later.".to_owned(), 32);
        assert_eq!((status, said), (400, expected));
    };
    throttled(counter.follow(&sale, "RF", Some("1.00"), &[]).await);
    throttled(counter.pay("DB", "20.00", &[]).await);
    throttled(counter.shop.get(&format!("v1/payments/{sale}")).await);
    assert_eq!(counter.shop.gateway.ledger().entries().len(), 2);
    counter.shop.gateway.set_clock(at("2026-01-01T10:00:01Z"));
    counter.followed(&sale, "RF", Some("1.00")).await;
    counter.shop.gateway.set_clock(at("2026-01-01T10:00:02Z"));
    counter.shop.gateway.throttle_next(1);
    throttled(counter.follow(&sale, "RF", Some("1.00"), &[]).await);
    counter.followed(&sale, "RF", Some("1.00")).await;
    assert_eq!(counter.left(&sale).as_deref(), Some("17.00"));
}

#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "a delay is at least as long as it is told, on any machine")]
async fn an_answer_waits_as_long_as_it_is_told() {
    let counter = Counter::open().await;
    let delay = Duration::from_millis(80);
    counter.shop.gateway.set_delay(delay);
    let before = Instant::now();
    counter.shop.get("").await;
    assert!(before.elapsed() >= delay);
}

#[tokio::test]
async fn the_ledger_survives_in_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ledger.db");
    let options = || Options { ledger: Some(file.clone()), ..Options::default() };
    let mut counter = Counter::with(options()).await;
    let sale = counter.paid("DB", "20.00", &[("createRegistration", "true")]).await;
    let (_, pending) = counter.pay("DB", "9.61", &[]).await;
    let held = counter.paid("PA", "50.00", &[]).await;
    counter.followed(&held, "CP", Some("20.00")).await;
    counter.refused(&held, "CP", Some("31.00"), "700.400.100", "amount").await;
    let (_, retrieved) = counter.shop.get(&format!("v1/payments/{sale}")).await;
    let before = counter.shop.gateway.ledger();
    let Counter { shop, reader, count } = counter;
    shop.gateway.stop().await;

    let counter = Counter { shop: Shop::with(options()).await, reader, count };
    let after = counter.shop.gateway.ledger();
    assert_eq!((after.entries(), after.refusals()), (before.entries(), before.refusals()));
    let (_, again) = counter.shop.get(&format!("v1/payments/{sale}")).await;
    for field in ["id", "amount", "card", "pos", "registrationId", "result"] {
        assert_eq!(again[field], retrieved[field], "{field}");
    }
    counter.refused(&held, "CP", Some("30.01"), "700.400.100", "amount").await;
    counter.followed(&held, "CP", Some("30.00")).await;
    let path = format!("v1/payments/{}", text(&pending, "/id"));
    assert_eq!(counter.shop.get(&path).await.1["result"]["code"], "000.200.000");
    assert_eq!(counter.shop.get(&path).await.1["result"]["code"], "000.100.110");
    // No file of the ledger contains the card number.
    let number = card_reader::PAN.as_bytes();
    for part in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(part.unwrap().path()).unwrap();
        assert!(!bytes.windows(number.len()).any(|window| window == number));
    }
    // A file that is not a ledger is not opened, and the error says so.
    let other = folder.path().join("letter.txt");
    std::fs::write(
        &other,
        "Dear Sir or Madam, this is no database at all, whatever the file's name may say about it.".repeat(9),
    )
    .unwrap();
    let refused = pos_sim::gateway::start(Options { ledger: Some(other), ..Options::default() }).await;
    let said = refused.err().unwrap().to_string();
    assert!(said.contains("letter.txt cannot be used") && said.contains("use a new file"), "{said}");
}

/// Description, path, content type, body, HTTP status and the parameter that the answer names.
type Wrong<'a> = (&'a str, &'a str, Option<&'a str>, String, u16, &'a str);

#[tokio::test]
async fn whatever_is_no_right_request_is_refused_by_name() {
    let mut counter = Counter::open().await;
    let sale = counter.paid("DB", "20.00", &[]).await;
    let before = counter.shop.gateway.ledger().entries().to_vec();
    let entity = format!("entityId={}", counter.shop.gateway.entity_id());
    let refund = format!("v1/payments/{sale}");
    let right = format!("{entity}&paymentType=RF&amount=1.00&currency=EUR");
    let typed = "application/x-www-form-urlencoded; charset=UTF-8";
    let huge = format!("{right}&descriptor={}", "a".repeat(20 << 20));
    let cases: &[Wrong<'_>] = &[
        ("unknown parameter", &refund, Some(typed), format!("{right}&colour=red"), 400, "colour"),
        ("duplicate parameter", &refund, Some(typed), format!("{right}&amount=2.00"), 400, "amount"),
        (
            "no closing bracket",
            "v1/payments",
            Some(typed),
            format!("{entity}&cart.items%5B0.name=a"),
            400,
            "cart.items[0.name",
        ),
        (
            "index 1001",
            "v1/payments",
            Some(typed),
            format!("{entity}&cart.items%5B1001%5D.name=a"),
            400,
            "cart.items[1001].name",
        ),
        (
            "index with a letter",
            "v1/payments",
            Some(typed),
            format!("{entity}&cart.items%5Bx%5D.name=a"),
            400,
            "cart.items[x].name",
        ),
        ("20 MB", &refund, Some(typed), huge, 400, "body"),
        ("not UTF-8", &refund, Some(typed), format!("{right}&descriptor=%FF%FE"), 400, "descriptor"),
        ("half an escape", &refund, Some(typed), format!("{right}&descriptor=%F"), 400, "descriptor"),
        ("JSON", &refund, Some("application/json"), "{}".to_owned(), 400, "Content-Type"),
        ("no content type", &refund, None, right.clone(), 400, "Content-Type"),
        (
            "another charset",
            &refund,
            Some("application/x-www-form-urlencoded; charset=latin1"),
            right.clone(),
            400,
            "Content-Type",
        ),
        ("in the path", &format!("{refund}?{right}"), Some(typed), right.clone(), 400, "query string"),
        ("amount alone", &refund, Some(typed), format!("{entity}&paymentType=RF&amount=1.00"), 400, "amount"),
        ("no type", &refund, Some(typed), entity.clone(), 400, "paymentType"),
        ("no entity", &refund, Some(typed), "paymentType=RF".to_owned(), 400, "entityId"),
        ("card in clear", &refund, Some(typed), format!("{right}&card.number=4111111111111111"), 400, "card.number"),
        ("an empty sequence", &refund, Some(typed), format!("{right}&sequence="), 400, "sequence"),
        ("nothing at all", "v1/payments", Some(typed), String::new(), 400, "entityId"),
    ];
    for (what, path, content_type, body, status, name) in cases {
        let gateway = &counter.shop.gateway;
        let request = counter
            .shop
            .client
            .post(format!("{}{path}", gateway.base_url()))
            .bearer_auth(gateway.token())
            .body(body.clone());
        let request = match content_type {
            Some(content_type) => request.header("Content-Type", *content_type),
            None => request,
        };
        let (said, answer) = read(request.send().await.unwrap_or_else(|why| panic!("{what}: {why}"))).await;
        assert_eq!((said, refusal(&answer)), (*status, (INVALID.to_owned(), (*name).to_owned())), "{what}");
        assert!(!answer.to_string().contains("41111111"), "{what}");
        assert_eq!(counter.shop.gateway.ledger().entries(), before, "{what}");
    }
    for path in ["v1/payments/short", "v1/registrations", "v1/registrations/short/payments", "v2/query", "v1/query/"] {
        assert_eq!(counter.shop.get(path).await.0, 404, "{path}");
    }
    // The connection can still be used.
    assert_eq!(counter.shop.get(&refund).await.0, 200);
}

/// Arguments, path, form, HTTP status and a text that the answer contains.
type Asked<'a> = (&'a [&'a str], &'a str, [String; 4], &'a str, &'a str);

#[tokio::test]
async fn curl_captures_refunds_and_hears_why_not() {
    let mut counter = Counter::open().await;
    let held = counter.paid("PA", "100.00", &[]).await;
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, counter.shop.gateway.ca_pem()).unwrap();
    let token = format!("Authorization: Bearer {}", counter.shop.gateway.token());
    let entity = format!("entityId={}", counter.shop.gateway.entity_id());
    let (right, path, nobody) =
        (["-H", &token], format!("v1/payments/{held}"), format!("v1/payments/{}", "0".repeat(32)));
    let form = |kind: &str, amount: &str| {
        [entity.clone(), format!("paymentType={kind}"), format!("amount={amount}"), "currency=EUR".to_owned()]
    };
    let cases: &[Asked<'_>] = &[
        (&[], &path, form("CP", "1.00"), "401", "800.900.300"),
        (&["-H", "Authorization: Bearer"], &path, form("CP", "1.00"), "401", "800.900.300"),
        (&["-H", "Authorization: Basic YTpi"], &path, form("CP", "1.00"), "401", "800.900.300"),
        (&["-H", "Authorization: Bearer other"], &path, form("CP", "1.00"), "403", "800.900.300"),
        (&right, &nobody, form("CP", "1.00"), "404", "700.400.580"),
        (&right, "v1/payment", form("CP", "1.00"), "404", "700.400.580"),
        (&right, &path, form("CP", "100.01"), "400", "\"name\":\"amount\""),
        (&right, &path, form("CP", "40.00"), "200", "\"paymentType\":\"CP\""),
        (&right, &path, form("RF", "1.00"), "400", "700.400.520"),
        (&right, &path, form("CP", "60.01"), "400", "700.400.100"),
    ];
    for (arguments, path, form, status, says) in cases {
        let curl = tokio::process::Command::new("curl")
            .args(["-q", "-sS", "--noproxy", "*", "--max-time", "20", "-w", "\n%{http_code}", "--cacert"])
            .arg(&ca)
            .args(*arguments)
            .args(form.iter().flat_map(|pair| ["-d", pair]))
            .arg(format!("{}{path}", counter.shop.gateway.base_url()))
            .stdin(Stdio::null())
            .output()
            .await;
        let output = match curl {
            Ok(output) => output,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => {
                return eprintln!("curl is not installed: nothing proved");
            }
            Err(why) => panic!("{why}"),
        };
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.ends_with(status) && said.contains(says), "{arguments:?} {path} {form:?}: {said}");
    }
    assert_eq!(counter.left(&held).as_deref(), Some("60.00"));
}

#[tokio::test]
async fn terminals_and_currencies_that_the_merchant_has_not_are_refused() {
    let mut counter = Counter::open().await;
    let (status, answer) = counter.pay("DB", "5.00", &[("pos.terminalId", "99999999")]).await;
    assert_eq!(status, 200, "without the options all are taken: {answer}");
    let euro = pos_terms::money::Currency::from_code("EUR").unwrap();
    let options = Options {
        terminals: vec!["10000001".to_owned(), "4712".to_owned()],
        currencies: vec![euro],
        ..Options::default()
    };
    let mut counter = Counter::with(options).await;
    let reserved = counter.paid("PA", "5.00", &[("pos.terminalId", "4712")]).await;
    let before = counter.shop.gateway.ledger().entries().to_vec();
    let (status, answer) = counter.pay("DB", "5.00", &[("pos.terminalId", "4713")]).await;
    assert_eq!((status, refusal(&answer)), (400, (INVALID.to_owned(), "pos.terminalId".to_owned())), "{answer}");
    let reference = counter.reference();
    let dollars = counter.reader.chip_sale_in("5.00", "USD", 840, 500, &reference);
    let (status, answer) = counter.shop.pay(&dollars).await;
    assert_eq!((status, refusal(&answer)), (400, ("600.200.500".to_owned(), "currency".to_owned())), "{answer}");
    let (status, answer) = counter.follow(&reserved, "CP", None, &[("pos.terminalId", "4713")]).await;
    assert_eq!((status, refusal(&answer).1.as_str()), (400, "pos.terminalId"), "{answer}");
    assert_eq!(counter.shop.gateway.ledger().entries(), before);
}

#[tokio::test]
async fn a_payment_gives_the_hash_of_the_script_when_it_is_asked() {
    let mut page = PageShop::open().await;
    let integrity = page.shop.asked("GET", "v1/fastcheckout/integrity", None).await.bytes().await.unwrap();
    let integrity: Value = serde_json::from_slice(&integrity).unwrap();
    let answer = page.paid("10.00", &[CARD, &[("integrity", "true")]]).await;
    assert_eq!(answer["integrity"], integrity["integrity"]);
    assert!(page.paid("10.00", &[CARD, &[("integrity", "false")]]).await.get("integrity").is_none());
    let id = text(&answer, "/id");
    let (status, refund) =
        page.post(&format!("v1/payments/{id}"), &[&[("paymentType", "RF"), ("integrity", "true")]]).await;
    assert_eq!((status, &refund["integrity"]), (200, &integrity["integrity"]), "{refund}");
    let (status, _) = page.post("v1/registrations", &[CARD, &[("integrity", "true"), ("paymentType", "")]]).await;
    assert_eq!(status, 400, "nothing is paid there");
}

#[tokio::test]
async fn hexadecimal_of_a_terminal_is_taken_in_either_case_and_a_latitude_alone() {
    for host_rules in HostRules::ALL {
        let mut counter = Counter::with(Options { host_rules, ..Options::default() }).await;
        let reference = counter.reference();
        let form = counter.reader.chip_sale("5.00", &reference);
        let is_hex = |name: &str| name.starts_with("pos.encrypted") || name == "pos.iccDataRequest";
        let lower: Vec<(String, String)> = form
            .iter()
            .filter(|(name, _)| is_hex(name))
            .map(|(name, value)| (name.clone(), value.to_lowercase()))
            .collect();
        assert!(lower.len() >= 3, "{lower:?}");
        let mut lower: Vec<(&str, &str)> = lower.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        lower.push(("pos.location.latitude", "52.5"));
        let (status, answer) = counter.shop.pay(&with(form.clone(), &lower)).await;
        assert_eq!(status, 200, "{host_rules:?}: {answer}");
    }
}
