//! The gateway client on real TLS, against servers that follow a script. The tests check the bytes that it sends, and
//! how it classifies each fault of an exchange.
//!
//! The bytes in the `EXPECTED_` constants are typed from the interface documents. They are never edited to make a test
//! pass.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, UNIX_EPOCH};

use crate::https::{Act, Authority, Event, Server};
use pos_agent::config;
use pos_core::transaction::{Answer, ApprovedAmount, Cause, Inquiry, ListedState, Reason, ReversalAnswer};
use pos_gateway::probe::GatewayProbe;
use pos_gateway::{
    CardPayment, CertificateClock, Client, Error, Expected, Found, RequestTarget, Token, WithoutCard, request,
};
use pos_terms::card::{CardFacts, EntryMode, FirstAnswer, Presented, SealedCard, SealedPin, Wiped};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Kind, PaymentId, SaleNumber};

const ID: &str = "8ac7a4a08f0c1d2e018f0c3b5a6b7c8d";
const REFERENCE: &str = "4711-42-000102030405060708090a0b0c0d0e0f";

/// The form as in the documents (interface: Basic payment parameters, Authentication parameters, Point of sale).
const EXPECTED_FORM: &str = "entityId=0123456789abcdef0123456789abcdef&amount=12.34&currency=EUR&paymentType=DB\
    &merchantTransactionId=4711-42-000102030405060708090a0b0c0d0e0f&testMode=EXTERNAL&paymentBrand=MASTER\
    &pos.entryMode=ICC&pos.terminalId=4711&pos.transactionSource=POS&pos.transactionSequenceNumber=42\
    &pos.deviceId=00123456&pos.deviceType=MIURA+M020+%2F+%C3%BC&pos.location.latitude=%2B52.520008\
    &pos.location.longitude=-13.4&pos.location.accuracy=15&pos.panSequenceNumber=01\
    &pos.pinEntryCapability=PIN_ENTRY_AVAILABLE&pos.encryptedSred.data=C1FFEE00AB&pos.encryptedSred.ksn=FFFF9876543210E00001\
    &pos.encryptedPin.data=1B9C1845EB993A7A&pos.encryptedPin.ksn=00000000000000000000000B&pos.iccDataRequest=9F02060000000012349F3704DEADBEEF";

/// The headers as in the documents (interface: Resources, Authentication). Header names are case-insensitive and may be
/// in any order.
const EXPECTED_HEAD: [&str; 6] = [
    "accept: application/json",
    "authorization: Bearer T0ken-of.the_shop==",
    "content-length: ",
    "content-type: application/x-www-form-urlencoded; charset=UTF-8",
    "host: ",
    "user-agent: pos-agent/",
];

#[tokio::test]
async fn the_request_is_exactly_what_the_interface_asks_for() {
    let shop = Shop::new(vec![Act::Answer(approved())]).await;
    assert!(matches!(shop.pay().await, Answer::Approved(_)));
    let requests = shop.server.requests();
    let (head, body) = requests[0].split_once("\r\n\r\n").unwrap();
    assert_eq!(body, EXPECTED_FORM);
    let mut lines = head.split("\r\n");
    assert_eq!(lines.next(), Some("POST /v1/payments HTTP/1.1"));
    let mut headers: Vec<String> = lines
        .map(|line| {
            let (name, value) = line.split_once(": ").unwrap();
            format!("{}: {value}", name.to_ascii_lowercase())
        })
        .collect();
    headers.sort();
    assert_eq!(headers.len(), EXPECTED_HEAD.len(), "{headers:?}");
    for (header, expected) in headers.iter().zip(EXPECTED_HEAD) {
        assert!(header.starts_with(expected), "{header}");
    }
    assert!(headers[2].ends_with(&format!(" {}", EXPECTED_FORM.len())));
    shop.server.finish();
}

#[tokio::test]
async fn what_a_card_does_not_have_is_left_out() {
    let shop = Shop::with(vec![Act::Answer(approved())], |gateway, terminal| {
        (gateway.test_mode, gateway.device_type, terminal.location) = (None, None, None);
    })
    .await;
    let mut swiped = presented();
    swiped.facts = facts(EntryMode::Magstripe);
    (swiped.facts.aid, swiped.facts.pan_sequence_number) = (None, None);
    (swiped.pin, swiped.icc) = (None, Wiped::default());
    let amount = Amount::parse("1200", Currency::from_code("JPY").unwrap()).unwrap();
    let payment = CardPayment { amount, device_serial: "M020-77", pin_entry: false, ..payment(&swiped) };
    let _ = shop.client.pay(shop.client.prepare(&payment).unwrap()).await;
    let requests = shop.server.requests();
    assert_eq!(
        requests[0].split_once("\r\n\r\n").unwrap().1,
        "entityId=0123456789abcdef0123456789abcdef&amount=1200.00&currency=JPY&paymentType=DB\
         &merchantTransactionId=4711-42-000102030405060708090a0b0c0d0e0f&pos.entryMode=MAGSTRIPE&pos.terminalId=4711\
         &pos.transactionSource=POS&pos.transactionSequenceNumber=42&pos.pinEntryCapability=PIN_ENTRY_UNAVAILABLE\
         &pos.encryptedSred.data=C1FFEE00AB&pos.encryptedSred.ksn=FFFF9876543210E00001"
    );
}

#[tokio::test]
async fn what_does_not_fit_the_interface_is_refused_before_anything_is_sent() {
    let shop = Shop::with(Vec::new(), |_, terminal| terminal.id = "47-11".to_owned()).await;
    let error = shop.client.prepare(&payment(&presented())).unwrap_err();
    assert_eq!(error.to_string(), "pos.terminalId must be 1 to 32 digits");

    let shop = Shop::new(Vec::new()).await;
    let refused = |change: fn(&mut Presented)| {
        let mut presented = presented();
        change(&mut presented);
        shop.client.prepare(&payment(&presented)).unwrap_err()
    };
    let three_decimals = Amount::parse("1.235", Currency::from_code("KWD").unwrap()).unwrap();
    let presented_ok = presented();
    let error = shop.client.prepare(&CardPayment { amount: three_decimals, ..payment(&presented_ok) }).unwrap_err();
    assert!(matches!(error, request::Error::Amount(_)), "{error}");
    for (change, name) in [
        ((|p| p.card.ksn = Wiped::copy_of(&[1; 11]).unwrap()) as fn(&mut Presented), "pos.encryptedSred.ksn"),
        (|p| p.pin.as_mut().unwrap().block = Wiped::copy_of(&[1; 9]).unwrap(), "pos.encryptedPin.data"),
        (|p| p.pin.as_mut().unwrap().ksn = Wiped::default(), "pos.encryptedPin.ksn"),
        (|p| p.card.data = Wiped::default(), "pos.encryptedSred.data"),
    ] {
        assert!(refused(change).to_string().starts_with(name), "{name}");
    }
    let error =
        shop.client.prepare(&CardPayment { merchant_transaction_id: "short", ..payment(&presented_ok) }).unwrap_err();
    assert_eq!(error.to_string(), "merchantTransactionId must be 8 to 255 characters without control characters");
    assert!(shop.server.events().is_empty());
}

#[tokio::test]
async fn the_longest_values_fit_the_form() {
    let shop = Shop::new(vec![Act::Answer(approved())]).await;
    let mut presented = presented();
    presented.card.data = Wiped::copy_of(&[0xAB; 1024]).unwrap();
    presented.icc = Wiped::copy_of(&[0xCD; 1024]).unwrap();
    let reference = "\u{1F600}".repeat(255);
    let payment = CardPayment {
        merchant_transaction_id: &reference,
        sequence_number: SaleNumber::new(u64::MAX),
        ..payment(&presented)
    };
    assert!(shop.client.prepare(&payment).is_ok());
}

#[tokio::test]
async fn warming_up_opens_tls_and_requests_nothing() {
    let shop = Shop::new(vec![Act::Answer(approved())]).await;
    shop.client.warm().await.unwrap();
    shop.client.warm().await.unwrap();
    shop.server.handshakes(1).await;
    let warm = [Event::Connected(1), Event::Handshake(1)];
    assert_eq!(shop.server.events(), warm);
    assert!(matches!(shop.pay().await, Answer::Approved(_)));
    assert_eq!(shop.server.events(), [&warm[..], &[Event::Request(1)]].concat());
    assert!(shop.server.requests()[0].starts_with("POST /v1/payments "));
    // The payment has left its connection open, so there is nothing to do.
    shop.client.warm().await.unwrap();
    assert_eq!(shop.server.events().len(), 3);
    shop.server.finish();
}

#[tokio::test]
async fn a_line_that_is_known_to_be_dead_is_replaced_when_warming_up() {
    let shop = Shop::new(vec![Act::AnswerAndClose(approved()), Act::Answer(approved())]).await;
    assert!(matches!(shop.pay().await, Answer::Approved(_)));
    shop.server.closed(1).await;
    // Another task notices that the connection has ended.
    until_a_line_is_opened(&shop, 2).await;
    assert!(matches!(shop.pay().await, Answer::Approved(_)));
    let events = shop.server.events();
    assert_eq!(events[events.len() - 1], Event::Request(2), "the payment needed no handshake: {events:?}");
    assert_eq!(events.len(), 6, "{events:?}");
    shop.server.finish();
}

/// Warms up repeatedly until the server has seen this many handshakes.
async fn until_a_line_is_opened(shop: &Shop, handshakes: usize) {
    let seen = || shop.server.events().iter().filter(|event| matches!(event, Event::Handshake(_))).count();
    while seen() < handshakes {
        shop.client.warm().await.unwrap();
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn warming_up_over_a_path_of_the_settings_makes_a_request() {
    let ping = |gateway: &mut config::Gateway, _: &mut config::Terminal| {
        gateway.assumptions.warm_path = Some("/v1/ping".to_owned());
    };
    let shop = Shop::with(vec![Act::Answer(http("404 Not Found", "{}")), Act::Answer(approved())], ping).await;
    shop.client.warm().await.unwrap();
    let warm = [Event::Connected(1), Event::Handshake(1), Event::Request(1)];
    assert_eq!(shop.server.events(), warm);
    assert!(matches!(shop.pay().await, Answer::Approved(_)));
    assert_eq!(shop.server.events(), [&warm[..], &[Event::Request(1)]].concat());
    let requests = shop.server.requests();
    assert!(requests[0].starts_with("GET /v1/ping HTTP/1.1\r\n") && requests[1].starts_with("POST /v1/payments "));
    // The warm-up sends a request, which reveals a wrong token. An open connection alone would not.
    let shop = Shop::with(vec![Act::Answer(http("403 Forbidden", "{}"))], ping).await;
    let why = shop.client.warm().await.unwrap_err().to_string();
    assert_eq!(why, "the gateway refuses the terminal's access token (HTTP 403); check token-file in [gateway]");
}

#[tokio::test]
async fn a_warm_connection_that_the_gateway_closed_costs_a_new_one_and_never_a_second_payment() {
    let ping = |gateway: &mut config::Gateway, _: &mut config::Terminal| {
        gateway.assumptions.warm_path = Some("/".to_owned());
    };
    let shop = Shop::with(vec![Act::AnswerAndClose(http("200 OK", "{}")), Act::Answer(approved())], ping).await;
    shop.client.warm().await.unwrap();
    shop.server.closed(1).await;
    assert!(matches!(shop.pay().await, Answer::Approved(_)));
    assert_eq!(shop.server.requests().iter().filter(|request| request.starts_with("POST")).count(), 1);
    shop.server.finish();
}

/// Checks a warm connection, new or used, that fails during a request. The gateway may have read the request, so the
/// client does not send it again.
#[tokio::test]
async fn a_warm_line_that_fails_under_the_request_is_unknown_and_nothing_is_sent_twice() {
    let head = || b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"id\":".to_vec();
    let half = || approved()[..approved().len() / 2].to_vec();
    let failures: [fn(Vec<u8>) -> Act; 2] = [Act::Cut, Act::AnswerAndClose];
    for bytes in [Vec::new(), b"HTTP/1.1".to_vec(), head(), half()] {
        for fails in failures {
            for used in [false, true] {
                let before = used.then(|| Act::Answer(http("404 Not Found", "{}")));
                let script = before.into_iter().chain([fails(bytes.clone()), Act::Answer(approved())]).collect();
                let shop = Shop::new(script).await;
                if used {
                    // An answered look-up leaves its connection open for the next request.
                    let _ = shop.client.reverse(&PaymentId::new(ID), eur("12.34"), "4711-43-ff").await;
                    let reversal = shop.client.reverse(&PaymentId::new(ID), eur("12.34"), "4711-43-ff").await;
                    assert!(matches!(reversal, ReversalAnswer::Unknown { .. }), "{bytes:?}: {reversal:?}");
                } else {
                    shop.client.warm().await.unwrap();
                    shop.server.handshakes(1).await;
                    let answer = shop.pay().await;
                    assert!(matches!(answer, Answer::Unknown { .. }), "{bytes:?}: {answer:?}");
                }
                let events = shop.server.events();
                let requests = 1 + usize::from(used);
                assert_eq!(events.iter().filter(|event| matches!(event, Event::Request(_))).count(), requests);
                assert_eq!(events.iter().filter(|event| matches!(event, Event::Connected(_))).count(), 1, "{events:?}");
            }
        }
    }
}

/// Checks faults after a 307. The first gateway received the request and may have processed it, so each of these faults
/// means an unknown outcome.
#[tokio::test]
async fn whatever_fails_after_a_307_is_unknown() {
    let redirect =
        || b"HTTP/1.1 307 Temporary Redirect\r\nLocation: /eu/v1/payments\r\nContent-Length: 0\r\n\r\n".to_vec();
    type Script = fn(Vec<u8>) -> Vec<Act>;
    let failures: [(&str, Script); 6] = [
        ("nobody listens any more", |redirect| vec![Act::AnswerAsTheLast(redirect)]),
        ("cut at once", |redirect| vec![Act::Answer(redirect), Act::Cut(Vec::new())]),
        ("cut on a new line", |redirect| vec![Act::AnswerAndClose(redirect), Act::Cut(Vec::new())]),
        ("half an answer", |redirect| vec![Act::AnswerAndClose(redirect), Act::Cut(approved()[..90].to_vec())]),
        ("HTTP 500", |redirect| vec![Act::Answer(redirect), Act::Answer(http("500 X", "{}"))]),
        ("not JSON", |redirect| vec![Act::Answer(redirect), Act::Answer(http("200 OK", "<html>"))]),
    ];
    for (what, script) in failures {
        let shop = Shop::new(script(redirect())).await;
        let answer = shop.pay().await;
        assert!(matches!(answer, Answer::Unknown { .. }), "{what}: {answer:?}");
        let shop = Shop::new(script(redirect())).await;
        let reversal = shop.client.reverse(&PaymentId::new(ID), eur("12.34"), "4711-43-ff").await;
        assert!(matches!(reversal, ReversalAnswer::Unknown { .. }), "{what}: {reversal:?}");
        let shop = Shop::new(script(redirect())).await;
        let inquiry = shop.client.query(REFERENCE).await;
        assert!(matches!(inquiry, Inquiry::CannotAsk { .. }), "{what}: {inquiry:?}");
    }
}

/// Checks that a failed look-up returns no list, not even an empty one.
#[tokio::test]
async fn a_question_that_fails_is_no_empty_list() {
    let mut failures = vec![Act::Cut(Vec::new()), Act::Cut(http("200 OK", "[]")[..30].to_vec()), Act::Mute(Vec::new())];
    failures.extend([Act::Silence, Act::Mute(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[".to_vec())]);
    for (status, body) in [
        ("500 X", "[]"),
        ("503 X", r#"{"payments":[]}"#),
        ("404 X", "[]"),
        ("400 X", r#"{"payments":[]}"#),
        ("401 X", "[]"),
        ("429 X", "[]"),
        ("204 X", ""),
        ("200 OK", ""),
        ("200 OK", "null"),
        ("200 OK", "[}"),
        ("200 OK", r#"{"payments":[],"result":{"code":"900.100.100"}}"#),
        ("200 OK", r#"{"payments":[],"result":{"code":"800.120.100"}}"#),
    ] {
        failures.push(Act::Answer(http(status, body)));
    }
    for (number, act) in failures.into_iter().enumerate() {
        let shop = Shop::with(vec![act], |gateway, _| gateway.answer_timeout_ms = 500).await;
        let inquiry = shop.client.query(REFERENCE).await;
        assert!(matches!(inquiry, Inquiry::CannotAsk { .. }), "{number}: {inquiry:?}");
    }
    // The second of two look-ups for one transaction fails, so the empty list from the first does not count either.
    let empty = || Act::Answer(http("200 OK", "[]"));
    let two = [REFERENCE.to_owned(), "4711-42-r1".to_owned()];
    for script in [vec![empty(), Act::Cut(Vec::new())], vec![empty(), Act::Answer(http("500 X", "[]"))]] {
        let shop = Shop::new(script).await;
        let inquiry = shop.client.look_up(&two).await;
        assert!(matches!(inquiry, Inquiry::CannotAsk { .. }), "{inquiry:?}");
    }
    let shop = Shop::new(vec![empty(), empty()]).await;
    assert_eq!(shop.client.look_up(&two).await, Inquiry::Payments(Vec::new()));
}

#[tokio::test]
async fn one_307_to_the_same_host_is_followed_with_the_same_body() {
    let elsewhere = "HTTP/1.1 307 Temporary Redirect\r\nLocation: /eu/v1/payments?x=1\r\nContent-Length: 2\r\n\r\n{}";
    let shop = Shop::new(vec![Act::Answer(elsewhere.into()), Act::Answer(approved())]).await;
    assert!(matches!(shop.pay().await, Answer::Approved(_)));
    let requests = shop.server.requests();
    assert_eq!(requests[1], requests[0].replace("POST /v1/payments ", "POST /eu/v1/payments?x=1 "));
    shop.server.finish();
}

#[tokio::test]
async fn every_other_redirect_is_unknown_and_not_followed() {
    let to = |status: &str, location: &str| {
        Act::Answer(format!("HTTP/1.1 {status}\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n").into())
    };
    for (script, posts) in [
        (vec![to("307 Temporary Redirect", "https://other.example/v1/payments")], 1),
        (vec![to("307 Temporary Redirect", "https://127.0.0.1:1/v1/payments")], 1),
        (vec![to("307 Temporary Redirect", "http://127.0.0.1/v1/payments")], 1),
        (vec![to("307 Temporary Redirect", "")], 2),
        (vec![Act::Answer(http("307 Temporary Redirect", ""))], 1),
        (vec![to("302 Found", "/v1/payments")], 1),
        (vec![to("303 See Other", "/v1/payments")], 1),
        (vec![to("308 Permanent Redirect", "/v1/payments")], 1),
    ] {
        let twice = posts == 2;
        let script = if twice { vec![to("307 X", "/v1/payments"), to("307 X", "/v1/payments")] } else { script };
        let shop = Shop::new(script).await;
        let answer = shop.pay().await;
        assert!(matches!(answer, Answer::Unknown { .. }), "{answer:?}");
        assert_eq!(shop.server.requests().len(), posts);
        shop.server.finish();
    }
}

#[tokio::test]
async fn one_307_is_followed_on_every_request() {
    let to = |location: &str| {
        Act::Answer(
            format!("HTTP/1.1 307 Temporary Redirect\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n").into(),
        )
    };
    let reversed = format!(r#"{{"id":"{}","paymentType":"RV","result":{{"code":"000.100.110"}}}}"#, "b".repeat(32));
    let list = format!(r#"{{"payments":[{}]}}"#, approval_json());
    let shop = Shop::new(vec![
        to("/eu/poll?x=1"),
        Act::Answer(approved()),
        to("/eu/query?y=2"),
        Act::Answer(http("200 OK", &list)),
        to("/eu/reverse"),
        Act::Answer(http("200 OK", &reversed)),
    ])
    .await;
    assert!(matches!(shop.client.payment(&PaymentId::new(ID), &expected()).await, Answer::Approved(_)));
    assert!(matches!(shop.client.query(REFERENCE).await, Inquiry::Payments(found) if found.len() == 1));
    let answer = shop.client.reverse(&PaymentId::new(ID), eur("12.34"), "4711-43-ff").await;
    assert!(matches!(answer, ReversalAnswer::Done { .. }), "{answer:?}");
    let requests = shop.server.requests();
    for (request, begins) in
        requests.iter().skip(1).step_by(2).zip(["GET /eu/poll?x=1 ", "GET /eu/query?y=2 ", "POST "])
    {
        assert!(request.starts_with(begins) && request.contains("Bearer T0ken-of.the_shop=="), "{request}");
    }
    assert_eq!(requests[5], requests[4].replace(&format!("POST /v1/payments/{ID} "), "POST /eu/reverse "));
    shop.server.finish();

    // The client does not follow a redirect to another host, nor a second redirect. Such a look-up has no result.
    for script in [
        vec![to("https://other.example/v1/query")],
        vec![to("/a"), to("/b")],
        vec![to("/a"), Act::AnswerAndClose(http("500 Internal Server Error", ""))],
        vec![to("/a"), Act::Cut(Vec::new())],
    ] {
        let requests = script.len();
        let shop = Shop::new(script).await;
        let inquiry = shop.client.query(REFERENCE).await;
        assert!(matches!(inquiry, Inquiry::CannotAsk { .. }), "{inquiry:?}");
        assert_eq!(shop.server.requests().len(), requests);
    }
}

#[tokio::test]
async fn a_307_that_speaks_of_a_payment_is_not_followed() {
    let to = |body: &str| {
        let length = body.len();
        let head = format!("HTTP/1.1 307 Temporary Redirect\r\nLocation: /eu/x\r\nContent-Length: {length}\r\n\r\n");
        Act::Answer((head + body).into())
    };
    let id = format!(r#"{{"id":"{ID}"}}"#);
    let ours = format!(r#"{{"merchantTransactionId":"{REFERENCE}"}}"#);
    let declined = format!(r#"{{"id":"{ID}","result":{{"code":"800.100.152"}}}}"#);
    for body in [
        &approval_json(),
        r#"{"result":{"code":"000.100.110"}}"#,
        r#"{"result":{"code":"000.200.000"}}"#,
        r#"{"redirect":{"url":"https://x"}}"#,
        &id,
        &ours,
        &declined,
    ] {
        // The client never requests the script's second answer.
        let shop = Shop::new(vec![to(body), to(body)]).await;
        let answer = shop.pay().await;
        assert!(matches!(answer, Answer::Unknown { .. }), "{body}: {answer:?}");
        assert_eq!(shop.server.requests().len(), 1, "{body}");
        let reversal = shop.client.reverse(&PaymentId::new(ID), eur("12.34"), REFERENCE).await;
        assert!(matches!(reversal, ReversalAnswer::Unknown { .. }), "{body}: {reversal:?}");
        assert_eq!(shop.server.requests().len(), 2, "{body}");
    }
    let another = r#"{"merchantTransactionId":"somebody-else","result":{"code":"200.300.404"}}"#;
    for body in ["", "<html>moved</html>", "{}", r#"{"id":"n-1"}"#, another] {
        let shop = Shop::new(vec![to(body), Act::Answer(approved())]).await;
        let answer = shop.pay().await;
        assert!(matches!(answer, Answer::Approved(_)), "{body}: {answer:?}");
        shop.server.finish();
    }
    // A look-up moves no money, so the client may follow a redirect with any body.
    let post = |gateway: &mut config::Gateway, _: &mut config::Terminal| {
        gateway.assumptions.query_method = config::QueryMethod::Post
    };
    let shop = Shop::with(vec![to(&approval_json()), Act::Answer(http("200 OK", "[]"))], post).await;
    assert_eq!(shop.client.query(REFERENCE).await, Inquiry::Payments(Vec::new()));
    shop.server.finish();
}

#[tokio::test]
async fn several_questions_about_one_sale_are_one_answer() {
    let own = format!("{REFERENCE}-r1");
    let entry = |id: char, kind: &str, reference: &str, code: &str| {
        let id = id.to_string().repeat(32);
        format!(
            r#"{{"id":"{id}","paymentType":"{kind}","amount":"12.34","currency":"EUR","merchantTransactionId":"{reference}","result":{{"code":"{code}"}}}}"#
        )
    };
    let list = |entries: &[&String]| {
        let entries: Vec<&str> = entries.iter().map(|entry| entry.as_str()).collect();
        Act::Answer(http("200 OK", &format!("[{}]", entries.join(","))))
    };
    let (approved, declined) = ("000.100.110", "800.100.152");
    let payment = entry('a', "DB", REFERENCE, approved);
    let (reversed, refused) = (entry('b', "RV", &own, approved), entry('b', "RV", &own, declined));
    let (linked, strange) = (entry('c', "RF", "back-office", approved), entry('d', "RF", "back-office-2", approved));
    let references = [REFERENCE.to_owned(), own.clone()];

    // The first look-up returns everything that is linked. The second returns the payments with that reference. Each
    // payment is listed once.
    let shop = Shop::new(vec![list(&[&payment, &linked]), list(&[&reversed, &strange])]).await;
    let Inquiry::Payments(found) = shop.client.look_up(&references).await else { panic!() };
    let kinds: Vec<_> = found.iter().map(|found| found.payment_type.as_str()).collect();
    assert_eq!(kinds, ["DB", "RF", "RV"]);
    shop.server.finish();
    let shop = Shop::new(vec![list(&[&payment, &reversed]), list(&[&reversed])]).await;
    assert!(matches!(shop.client.look_up(&references).await, Inquiry::Payments(found) if found.len() == 2));
    shop.server.finish();

    // Both look-ups must report the same about a payment, in either order.
    for (first, second) in [(&reversed, &refused), (&refused, &reversed)] {
        let shop = Shop::new(vec![list(&[&payment, first]), list(&[second])]).await;
        let Inquiry::CannotAsk { why } = shop.client.look_up(&references).await else { panic!() };
        let twice = format!("the gateway lists payment {} twice with different contents", "b".repeat(32));
        assert_eq!(why, Reason::GatewayCannotBeAsked.with(twice));
        shop.server.finish();
    }
    // If one look-up gets no answer, the whole result is unknown.
    for script in [vec![list(&[&payment]), Act::Cut(Vec::new())], vec![Act::Cut(Vec::new())]] {
        let shop = Shop::new(script).await;
        assert!(matches!(shop.client.look_up(&references).await, Inquiry::CannotAsk { .. }));
    }
}

#[tokio::test]
async fn a_query_may_be_a_post_with_the_same_parameters_in_its_body() {
    let empty = || Act::Answer(http("200 OK", "[]"));
    let shop = Shop::with(vec![empty(), empty(), empty()], |gateway, _| {
        gateway.assumptions.query_method = config::QueryMethod::Post;
        gateway.assumptions.query_path = "/v1/find".to_owned();
    })
    .await;
    assert_eq!(shop.client.query(REFERENCE).await, Inquiry::Payments(Vec::new()));
    assert_eq!(shop.client.find(&[("shortId".to_owned(), "1&2".to_owned())]).await, Ok(Vec::new()));
    assert_eq!(shop.client.references_between(&ours(), (0, 1_999), all).await, Ok(Found::default()));
    let entity = "entityId=0123456789abcdef0123456789abcdef";
    let bodies = [
        format!("{entity}&merchantTransactionId={REFERENCE}&includeLinkedTransactions=true"),
        format!("{entity}&shortId=1%262"),
        format!("{entity}&date.from=1970-01-01+00%3A00%3A00&date.to=1970-01-01+00%3A00%3A01&limit=100"),
    ];
    for (request, expected) in shop.server.requests().iter().zip(bodies) {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /v1/find HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("application/x-www-form-urlencoded; charset=UTF-8"), "{head}");
        assert_eq!(body, expected);
    }
    shop.server.finish();
}

#[tokio::test]
async fn how_a_gateway_says_that_nothing_is_there_is_a_setting() {
    let not_found = || http("404 Not Found", r#"{"result":{"code":"700.400.580","description":"cannot find"}}"#);
    let elsewhere = http("200 OK", &format!(r#"{{"data":[{}]}}"#, approval_json()));
    let shop = Shop::new(vec![Act::Answer(not_found()), Act::Answer(elsewhere.clone())]).await;
    let Inquiry::CannotAsk { why } = shop.client.query(REFERENCE).await else { panic!("404 means: cannot ask") };
    assert!(why.to_string().contains("query-path and query-not-found"), "{why}");
    let Inquiry::CannotAsk { why } = shop.client.query(REFERENCE).await else { panic!("no list") };
    assert!(why.to_string().contains("query-list"), "{why}");

    let other = http("404 Not Found", r#"{"result":{"code":"200.300.404"}}"#);
    let all_the_same =
        http("404 Not Found", &format!(r#"{{"result":{{"code":"700.400.580"}},"data":[{}]}}"#, approval_json()));
    let shop = Shop::with(
        vec![
            Act::Answer(not_found()),
            Act::Answer(elsewhere),
            Act::Answer(other),
            Act::Answer(http("404 Not Found", "")),
            Act::Answer(all_the_same),
            Act::Answer(not_found()),
        ],
        |gateway, _| {
            gateway.assumptions.query_list = vec!["data".to_owned()];
            gateway.assumptions.query_not_found = vec!["404 700.400.580".to_owned().try_into().unwrap()];
        },
    )
    .await;
    assert_eq!(shop.client.query(REFERENCE).await, Inquiry::Payments(Vec::new()));
    assert!(matches!(shop.client.query(REFERENCE).await, Inquiry::Payments(found) if found.len() == 1));
    for what in ["another code", "no code", "a payment is listed"] {
        assert!(matches!(shop.client.query(REFERENCE).await, Inquiry::CannotAsk { .. }), "{what}");
    }
    assert_eq!(shop.client.references_between(&ours(), (0, 1_000), all).await, Ok(Found::default()));
    shop.server.finish();
}

#[tokio::test]
async fn the_references_of_a_span_are_found_in_windows_that_are_halved() {
    let list = |references: &[&str]| {
        let entries: Vec<String> =
            references.iter().map(|text| format!(r#"{{"merchantTransactionId":"{text}"}}"#)).collect();
        Act::Answer(http("200 OK", &format!(r#"{{"payments":[{}]}}"#, entries.join(","))))
    };
    let full = vec!["9999-1-x"; 100];
    let script = vec![list(&full), list(&["4711-7-a", "471-1-b"]), list(&["4711-8-c", "4711-7-a"])];
    let shop = Shop::with(script, |gateway, _| {
        gateway.assumptions.query_date_zone = "+01:00".to_owned().try_into().unwrap();
    })
    .await;
    // The period is 2024-05-01 10:00:00 to 10:00:03 UTC.
    let found = shop.client.references_between(&ours(), (1_714_557_600_500, 1_714_557_603_400), all).await;
    let references = vec!["4711-7-a".to_owned(), "4711-8-c".to_owned()];
    assert_eq!(found, Ok(Found { references, incomplete: None }));
    let entity = "GET /v1/query?entityId=0123456789abcdef0123456789abcdef";
    for (request, (from, to)) in shop.server.requests().iter().zip([("00", "03"), ("00", "01"), ("02", "03")]) {
        let day = "2024-05-01+11%3A00%3A";
        let line = format!("{entity}&date.from={day}{from}&date.to={day}{to}&limit=100 HTTP/1.1\r\n");
        assert!(request.starts_with(&line), "{request}");
    }
    shop.server.finish();

    // If one window gets no answer, the whole result is unknown.
    for answer in
        [http("500 Internal Server Error", ""), http("400 Bad Request", r#"{"result":{"code":"800.120.100"}}"#)]
    {
        let shop = Shop::new(vec![list(&full), list(&["4711-7-a"]), Act::Answer(answer)]).await;
        assert!(shop.client.references_between(&ours(), (0, 9_000), all).await.is_err());
        shop.server.finish();
    }
    // If one second has a hundred or more entries, the client requests it again with the interface's highest limit.
    let most: Vec<_> = (0..500).map(|_| "9999-1-x").collect();
    for (entries, is_all) in [(&most[..499], true), (&most, false)] {
        let shop = Shop::new(vec![list(&full), list(entries)]).await;
        let found = shop.client.references_between(&ours(), (5_000, 5_999), all).await.unwrap();
        assert_eq!(found.incomplete.is_none(), is_all, "{found:?}");
        assert!(shop.server.requests()[1].contains("&limit=500 HTTP/1.1"), "{:?}", shop.server.requests());
        shop.server.finish();
    }
}

#[tokio::test]
async fn the_probe_carries_the_token_and_gives_the_gateways_time() {
    let dated = "HTTP/1.1 401 Unauthorized\r\nDate: Wed, 01 May 2024 10:00:00 GMT\r\nContent-Length: 2\r\n\r\n{}";
    let shop = Shop::new(vec![
        Act::Answer(dated.into()),
        Act::Answer(http("404 Not Found", "")),
        Act::AnswerAndClose(b"what?\r\n\r\n".to_vec()),
    ])
    .await;
    assert_eq!(shop.client.probe().await.map(|probed| probed.unix_s), Ok(Some(1_714_557_600)));
    assert_eq!(shop.client.probe().await.map(|probed| probed.unix_s), Ok(None), "without a date");
    assert!(shop.client.probe().await.is_err());
    let requests = shop.server.requests();
    assert!(requests[0].starts_with("GET / HTTP/1.1\r\n"), "{}", requests[0]);
    assert!(requests[0].to_ascii_lowercase().contains("authorization: bearer "), "{}", requests[0]);
    // Each call makes a handshake.
    assert_eq!(shop.server.events().iter().filter(|event| matches!(event, Event::Handshake(_))).count(), 3);

    let shop = Shop::with(vec![Act::Answer(http("200 OK", ""))], |gateway, _| {
        gateway.assumptions.probe_path = "/v1/ping".to_owned();
    })
    .await;
    assert!(shop.client.probe().await.is_ok());
    assert!(shop.server.requests()[0].starts_with("GET /v1/ping HTTP/1.1\r\n"));

    // The client sends no request to a gateway that it cannot verify.
    let (ours, other) = (Authority::new(), Authority::new());
    let shop = Shop::at(Server::start(other.server("127.0.0.1", (2020, 2090)), Vec::new()).await, &ours, |_, _| {});
    let why = shop.client.probe().await.unwrap_err().to_string();
    assert!(why.contains("not signed by a CA from ca-file in [gateway]"), "{why}");
    assert!(shop.server.requests().is_empty());
}

#[tokio::test]
async fn a_certificate_that_is_not_right_is_not_sent_and_says_why() {
    let ours = Authority::new();
    let other = Authority::new();
    let (past, soon) = ((2020, 2021), (2090, 2095));
    let now = (2020, 2090);
    for (server, names, why) in [
        (other.server("127.0.0.1", now), &ours, Reason::GatewayUntrustedCertificate.with("ca-not-trusted")),
        (ours.server("127.0.0.1", past), &ours, Reason::GatewayCertificateExpired.with("certificate-expired")),
        (ours.server("127.0.0.1", soon), &ours, Reason::GatewayUntrustedCertificate.with("certificate-not-valid-yet")),
        (
            ours.server("other.example", now),
            &ours,
            Reason::GatewayUntrustedCertificate.with("certificate-of-another-host"),
        ),
    ] {
        let server = Server::start(server, Vec::new()).await;
        let shop = Shop::at(server, names, |_, _| {});
        let detail = why.detail.clone();
        assert_eq!(shop.pay().await, Answer::NotSent { why });
        // This server is reached, but gives no answer to a look-up.
        let why = Cause { reason: Reason::GatewayCannotBeAsked, detail };
        assert_eq!(shop.client.query(REFERENCE).await, Inquiry::CannotAsk { why });
        assert!(shop.server.requests().is_empty());
    }
}

#[tokio::test]
async fn certificates_are_checked_no_earlier_than_the_clocks_floor() {
    let authority = Authority::new();
    let server = Server::start(authority.server("127.0.0.1", (2090, 2095)), vec![Act::Answer(approved())]).await;
    let mut shop = Shop::at(server, &authority, |_, _| {});
    // The floor is in 2092, while the machine's clock shows a time before 2090.
    let floor = UNIX_EPOCH + Duration::from_secs(3_850_000_000);
    shop.client = Client::new(&shop.gateway, &shop.terminal.point_of_sale(), shop.token(), floor).unwrap();
    assert!(matches!(shop.pay().await, Answer::Approved(_)));
}

#[tokio::test]
async fn without_a_connection_nothing_is_sent() {
    // No program listens at this port.
    let port = pos_test_kit::refusing_port();
    let shop = Shop::with(Vec::new(), |gateway, _| gateway.url = format!("https://127.0.0.1:{port}")).await;
    assert_eq!(shop.pay().await, Answer::NotSent { why: Reason::GatewayUnreachable.with("connection-refused") });
    let why = Reason::GatewayCannotBeAsked.with("connection-refused");
    assert_eq!(shop.client.query(REFERENCE).await, Inquiry::NotReached { why });
    // This server accepts the connection but never speaks TLS.
    let mute = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = mute.local_addr().unwrap();
    let shop = Shop::with(Vec::new(), |gateway, _| {
        (gateway.url, gateway.connect_timeout_ms) = (format!("https://{address}"), 300);
    })
    .await;
    let why = Reason::GatewayUnreachable.with("connect-timed-out");
    assert_eq!(shop.pay().await, Answer::NotSent { why });
    // This server speaks no TLS.
    let shop = Shop::with(Vec::new(), |gateway, _| gateway.url = "https://127.0.0.1:0".to_owned()).await;
    assert!(matches!(shop.pay().await, Answer::NotSent { .. }));
    let shop = Shop::with(Vec::new(), |gateway, _| gateway.url = "https://gateway.invalid".to_owned()).await;
    assert!(matches!(shop.pay().await, Answer::NotSent { .. }));
}

#[tokio::test]
async fn a_cut_line_after_the_request_is_unknown_wherever_it_is_cut() {
    let whole = approved();
    let cuts: Vec<usize> = (0..whole.len()).step_by(13).chain([1, whole.len() - 1]).collect();
    let script = cuts.iter().map(|cut| Act::Cut(whole[..*cut].to_vec())).collect();
    let shop = Shop::new(script).await;
    for cut in &cuts {
        let answer = shop.pay().await;
        assert!(matches!(answer, Answer::Unknown { .. }), "cut after {cut} bytes: {answer:?}");
    }
    assert_eq!(shop.server.requests().len(), cuts.len());
    shop.server.finish();
}

#[tokio::test]
async fn what_is_no_whole_answer_is_unknown() {
    let body = approval_json();
    let until_close = format!("HTTP/1.1 200 OK\r\n\r\n{body}");
    let ten_megabytes = "x".repeat(10 * 1024 * 1024);
    let chunked =
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{ten_megabytes}", ten_megabytes.len());
    for (name, act) in [
        ("half JSON", Act::Answer(http("200 OK", &body[..body.len() / 2]))),
        ("garbage in HTTP", Act::Answer(http("200 OK", "\0\u{1}garbage"))),
        ("garbage instead of HTTP", Act::AnswerAndClose(b"\x00\xFFgarbage\r\n\r\n".to_vec())),
        ("HTTP 500", Act::Answer(http("500 Internal Server Error", &body))),
        ("HTTP 502 of a proxy", Act::Answer(http("502 Bad Gateway", "<html>"))),
        ("HTTP 204", Act::Answer(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec())),
        ("10 MB, said so", Act::Answer(http("200 OK", &ten_megabytes))),
        ("10 MB, not said", Act::AnswerAndClose(format!("HTTP/1.1 200 OK\r\n\r\n{ten_megabytes}").into())),
        ("10 MB, chunked", Act::AnswerAndClose(chunked.into())),
        ("endless head", Act::Answer(format!("HTTP/1.1 200 OK\r\nX: {ten_megabytes}\r\n\r\n").into())),
        ("no length and no TLS end", Act::Cut(until_close.into())),
        ("silence", Act::Silence),
        ("silence in the head", Act::Mute(b"HTTP/1.1 200 OK\r\nContent".to_vec())),
        ("silence in the body", Act::Mute(http("200 OK", &body)[..200].to_vec())),
    ] {
        let shop = Shop::with(vec![act], |gateway, _| {
            // The time-out is short only if the server stays silent. Elsewhere it is long, so that a slow machine does
            // not make the test fail.
            gateway.answer_timeout_ms = if name.starts_with("silence") { 200 } else { 30_000 };
        })
        .await;
        let answer = shop.pay().await;
        assert!(matches!(answer, Answer::Unknown { .. }), "{name}: {answer:?}");
        assert_eq!(shop.server.requests().len(), 1, "{name}");
        shop.server.finish();
    }
}

#[tokio::test]
async fn an_answer_that_ends_with_the_connection_is_whole_when_tls_says_so() {
    let shop = Shop::new(vec![Act::AnswerAndClose(format!("HTTP/1.1 200 OK\r\n\r\n{}", approval_json()).into())]).await;
    assert!(matches!(shop.pay().await, Answer::Approved(_)));
}

#[tokio::test]
async fn what_the_gateway_did_not_process_was_not_sent_for_a_reason() {
    for (status, reason) in [
        ("401 Unauthorized", Reason::GatewayRefusesToken),
        ("403 Forbidden", Reason::GatewayRefusesToken),
        ("404 Not Found", Reason::GatewayWrongAddress),
    ] {
        let shop = Shop::new(vec![Act::Answer(http(status, "{}"))]).await;
        let Answer::NotSent { why } = shop.pay().await else { panic!("{status}") };
        assert_eq!(why, reason.with(format!("HTTP {}", &status[..3])));
    }
}

#[tokio::test]
async fn the_answers_of_the_interface_are_told_apart() {
    let coded = |status: &str, code: &str| {
        http(status, &format!(r#"{{"id":"{ID}","result":{{"code":"{code}","description":"a\u001b[2Jb"}}}}"#))
    };
    let partial = approval_json().replace("\"12.34\"", "\"10.00\"");
    let shop = Shop::new(vec![
        Act::Answer(coded("400 Bad Request", "800.120.100")),
        Act::Answer(coded("200 OK", "000.200.000")),
        Act::Answer(coded("400 Bad Request", "800.100.152")),
        Act::Answer(coded("200 OK", "000.000.000")),
        Act::Answer(http("200 OK", &partial)),
    ])
    .await;
    let Answer::Throttled(refusal) = shop.pay().await else { panic!() };
    assert_eq!(refusal.why, Reason::GatewayThrottles.with("a[2Jb"));
    assert_eq!(shop.pay().await, Answer::Pending { id: PaymentId::new(ID), redirect: None });
    assert!(matches!(shop.pay().await, Answer::Declined(_)));
    let Answer::Approved(approval) = shop.pay().await else { panic!() };
    assert_eq!(approval.amount, ApprovedAmount::NotSaid);
    let Answer::Approved(approval) = shop.pay().await else { panic!() };
    assert_eq!(approval.amount, ApprovedAmount::Said(eur("10.00")));
    // All requests use one connection.
    assert_eq!(shop.server.events().iter().filter(|event| matches!(event, Event::Connected(_))).count(), 1);
    shop.server.finish();
}

#[tokio::test]
async fn a_payment_is_retrieved_queried_and_reversed() {
    let list = format!(r#"{{"result":{{"code":"000.000.100"}},"payments":[{}]}}"#, approval_json());
    let reversed = format!(
        r#"{{"id":"{}","paymentType":"RV","amount":"12.34","currency":"EUR","result":{{"code":"000.100.110"}}}}"#,
        "b".repeat(32)
    );
    let shop = Shop::new(vec![
        Act::Answer(http("200 OK", &approval_json())),
        Act::Answer(http("404 Not Found", "{}")),
        Act::Answer(http("200 OK", &list)),
        Act::Answer(http("404 Not Found", "{}")),
        Act::Answer(http("200 OK", &reversed)),
        Act::Answer(http("403 Forbidden", "{}")),
        Act::Answer(http("500 Internal Server Error", "{}")),
        Act::Answer(http("400 Bad Request", r#"{"result":{"code":"800.120.100"}}"#)),
    ])
    .await;
    let client = &shop.client;
    assert!(matches!(client.payment(&PaymentId::new(ID), &expected()).await, Answer::Approved(_)));
    assert!(matches!(client.payment(&PaymentId::new(ID), &expected()).await, Answer::Unknown { .. }));
    let Inquiry::Payments(found) = client.query(REFERENCE).await else { panic!() };
    assert_eq!((found[0].id.as_str(), found[0].state), (ID, ListedState::Approved));
    assert!(matches!(client.query(REFERENCE).await, Inquiry::CannotAsk { .. }));
    let id = PaymentId::new(ID);
    let reverse = || client.reverse(&id, eur("12.34"), "4711-43-ff");
    let amount = ApprovedAmount::Said(eur("12.34"));
    assert_eq!(reverse().await, ReversalAnswer::Done { id: PaymentId::new("b".repeat(32)), amount });
    // A refused token gives no information about the payment.
    assert!(matches!(reverse().await, ReversalAnswer::NotSent { .. }));
    assert!(matches!(reverse().await, ReversalAnswer::Unknown { .. }));
    assert!(matches!(reverse().await, ReversalAnswer::NotSent { .. }));
    let requests = shop.server.requests();
    assert!(requests[0].starts_with(&format!("GET /v1/payments/{ID} HTTP/1.1\r\n")));
    assert!(requests[2].starts_with(&format!(
        "GET /v1/query?entityId=0123456789abcdef0123456789abcdef&merchantTransactionId={REFERENCE}&includeLinkedTransactions=true HTTP/1.1\r\n"
    )));
    let (head, body) = requests[4].split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with(&format!("POST /v1/payments/{ID} HTTP/1.1\r\n")));
    assert_eq!(
        body,
        "entityId=0123456789abcdef0123456789abcdef&amount=12.34&currency=EUR&paymentType=RV\
         &merchantTransactionId=4711-43-ff&testMode=EXTERNAL"
    );
    // The client sends no id that contains a path.
    assert!(matches!(client.payment(&PaymentId::new("../../x"), &expected()).await, Answer::Unknown { .. }));
    assert!(matches!(
        client.reverse(&PaymentId::new("x"), eur("12.34"), "4711-43-ff").await,
        ReversalAnswer::Refused { .. }
    ));
    shop.server.finish();
}

#[tokio::test]
async fn the_paths_that_the_interface_does_not_show_are_settings() {
    let answer = |kind: &str| {
        let body = format!(r#"{{"id":"{}","paymentType":"{kind}","result":{{"code":"000.100.110"}}}}"#, "b".repeat(32));
        Act::Answer(http("200 OK", &body))
    };
    let shop = Shop::with(vec![answer("CP"), answer("DB"), answer("RV")], |gateway, _| {
        gateway.assumptions.follow_up_path = "/v2/{id}/follow".to_owned();
        gateway.assumptions.registration_payment_path = "/v2/cards/{id}".to_owned();
    })
    .await;
    let ask = |kind, on| {
        let amount = eur("12.34");
        let (merchant_transaction_id, parameters) = (REFERENCE, &[][..]);
        let asked = WithoutCard { kind, on, amount, merchant_transaction_id, number: None, parameters };
        shop.client.pay(shop.client.prepare_without_card(&asked).unwrap())
    };
    let id = PaymentId::new(ID);
    assert!(matches!(ask(Kind::Capture, RequestTarget::Payment(&id)).await, Answer::Approved(_)));
    assert!(matches!(ask(Kind::ByRegistration, RequestTarget::Registration(ID)).await, Answer::Approved(_)));
    let reversal = shop.client.reverse(&PaymentId::new(ID), eur("12.34"), "4711-43-ff").await;
    assert!(matches!(reversal, ReversalAnswer::Done { .. }), "{reversal:?}");
    let requests = shop.server.requests();
    for (request, path) in requests.iter().zip(["/v2/@/follow", "/v2/cards/@", "/v2/@/follow"]) {
        assert!(request.starts_with(&format!("POST {} HTTP/1.1\r\n", path.replace('@', ID))), "{request}");
    }
    shop.server.finish();
}

#[tokio::test]
async fn what_the_doctor_asks_goes_the_way_of_the_settings() {
    let moved = "HTTP/1.1 307 Temporary Redirect\r\nLocation: /eu/find\r\nContent-Length: 0\r\n\r\n";
    let not_found = http("404 Not Found", r#"{"result":{"code":"700.400.580"}}"#);
    let shop = Shop::with(
        vec![Act::Answer(http("404 Not Found", "")), Act::Answer(moved.into()), Act::Answer(not_found)],
        |gateway, _| {
            gateway.assumptions.probe_path = "/ping".to_owned();
            gateway.assumptions.query_method = config::QueryMethod::Post;
            gateway.assumptions.query_not_found = vec!["404 700.400.580".to_owned().try_into().unwrap()];
        },
    )
    .await;
    let mut probe = GatewayProbe::new(&shop.gateway, Some(shop.token()), CertificateClock::from(UNIX_EPOCH)).unwrap();
    probe.connect().await.unwrap();
    probe.round_trip().await.unwrap();
    let asked = probe.ask(REFERENCE).await.unwrap();
    assert_eq!((asked.status, asked.inquiry), (404, Inquiry::Payments(Vec::new())));
    let requests = shop.server.requests();
    let (authorized, body) = ("Bearer T0ken-of.the_shop==", format!("&merchantTransactionId={REFERENCE}&"));
    assert!(requests[0].starts_with("GET /ping ") && !requests[0].contains(authorized), "{}", requests[0]);
    for (request, begins) in requests[1..].iter().zip(["POST /v1/query ", "POST /eu/find "]) {
        assert!(request.starts_with(begins) && request.contains(authorized) && request.contains(&body), "{request}");
    }
    shop.server.finish();
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused_with_their_remedy() {
    let shop = Shop::new(Vec::new()).await;
    let new = |change: &dyn Fn(&mut config::Gateway)| {
        let mut gateway = shop.gateway.clone();
        change(&mut gateway);
        Client::new(&gateway, &shop.terminal.point_of_sale(), shop.token(), UNIX_EPOCH).err().unwrap()
    };
    for url in
        ["http://gateway.example", "gateway.example", "https://u:p@gateway.example", "https://gateway.example/?a=1"]
    {
        assert!(matches!(new(&|gateway| gateway.url = url.to_owned()), Error::Url { .. }), "{url}");
    }
    assert!(matches!(new(&|gateway| gateway.ca_file = "/nowhere/ca.pem".into()), Error::CaUnreadable { .. }));
    let empty = shop.folder.path().join("empty.pem");
    std::fs::write(&empty, "no certificate").unwrap();
    assert!(matches!(new(&|gateway| gateway.ca_file = empty.clone()), Error::CaUnfit { .. }));
}

#[test]
fn a_token_file_must_exist_be_private_and_hold_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let mut gateway = gateway("https://gateway.example", &path, &path);
    let load = |gateway: &config::Gateway, content: Option<&str>, mode: u32| {
        let _ = std::fs::remove_file(&path);
        if let Some(content) = content {
            std::fs::write(&path, content).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        Token::load(gateway).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(load(&gateway, Some("abcdefghijklmnop"), 0o600), Ok(()));
    assert_eq!(load(&gateway, Some("abcdefghijklmnop\n"), 0o400), Ok(()));
    let named = |error: Result<(), String>, part: &str| {
        let error = error.unwrap_err();
        assert!(error.contains(path.to_str().unwrap()) && error.contains(part), "{error}");
    };
    named(load(&gateway, None, 0), "No such file");
    named(load(&gateway, Some("abcdefghijklmnop"), 0o644), "chmod 0600");
    named(load(&gateway, Some("abcdefghijklmnop"), 0o640), "mode 0640");
    named(load(&gateway, Some(""), 0o600), "one line");
    named(load(&gateway, Some("abc\ndef\n"), 0o600), "one line");
    named(load(&gateway, Some(&"x".repeat(9999)), 0o600), "one line");
    gateway.token_file = Some("/dev/null".into());
    assert!(Token::load(&gateway).unwrap_err().to_string().contains("not a regular file"));
}

#[test]
fn futures_can_go_to_another_thread() {
    fn send<T: Send>(_: impl FnOnce(&'static Client) -> T) {}
    send(|client| client.warm());
    send(|client| client.payment(Box::leak(Box::new(PaymentId::new(ID))), Box::leak(Box::new(expected()))));
    send(|client| client.look_up(&[]));
    send(|client| client.query(REFERENCE));
    send(|client| async move { client.references_between(&ours(), (0, 1), all).await });
    send(|client| client.probe());
    send(|client| client.reverse(Box::leak(Box::new(PaymentId::new(ID))), eur("1.00"), REFERENCE));
    fn pay(client: &'static Client, prepared: pos_gateway::PreparedPayment) -> impl Send {
        client.pay(prepared)
    }
    let _ = pay;
}

/// A client with its server, its settings and its folder.
struct Shop {
    client: Client,
    server: Server,
    gateway: config::Gateway,
    terminal: config::Terminal,
    folder: tempfile::TempDir,
}

impl Shop {
    async fn new(script: Vec<Act>) -> Self {
        Self::with(script, |_, _| {}).await
    }

    async fn with(script: Vec<Act>, change: impl FnOnce(&mut config::Gateway, &mut config::Terminal)) -> Self {
        let authority = Authority::new();
        let server = Server::start(authority.server("127.0.0.1", (2020, 2090)), script).await;
        Self::at(server, &authority, change)
    }

    fn at(
        server: Server,
        authority: &Authority,
        change: impl FnOnce(&mut config::Gateway, &mut config::Terminal),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (ca, token) = (folder.path().join("ca.pem"), folder.path().join("token"));
        std::fs::write(&ca, authority.pem()).unwrap();
        std::fs::write(&token, "T0ken-of.the_shop==\n").unwrap();
        std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
        let mut gateway = gateway(&format!("https://{}/", server.address()), &ca, &token);
        let mut terminal = terminal();
        change(&mut gateway, &mut terminal);
        let client =
            Client::new(&gateway, &terminal.point_of_sale(), Token::load(&gateway).unwrap(), UNIX_EPOCH).unwrap();
        Self { client, server, gateway, terminal, folder }
    }

    fn token(&self) -> Token {
        Token::load(&self.gateway).unwrap()
    }

    async fn pay(&self) -> Answer {
        let prepared = self.client.prepare(&payment(&presented())).unwrap();
        assert!(!format!("{prepared:?}").contains("C1FFEE"));
        self.client.pay(prepared).await
    }
}

fn gateway(url: &str, ca: &std::path::Path, token: &std::path::Path) -> config::Gateway {
    let text = format!(
        r#"
        url = "{url}"
        entity-id = "0123456789abcdef0123456789abcdef"
        token-file = "{}"
        ca-file = "{}"
        test-mode = "EXTERNAL"
        device-type = "MIURA M020 / ü"
        brand-by-aid = {{ A0000000 = "OTHER", A000000004 = "MASTER", A000000003 = "VISA" }}
        connect-timeout-ms = 30000
        answer-timeout-ms = 30000
        "#,
        token.display(),
        ca.display()
    );
    toml::from_str(&text).unwrap()
}

fn terminal() -> config::Terminal {
    toml::from_str(
        r#"
        id = "4711"
        merchant = ["Shop"]
        currency = "EUR"
        location = { latitude = "+52.520008", longitude = "-13.4", accuracy = "15" }
        "#,
    )
    .unwrap()
}

fn payment(presented: &Presented) -> CardPayment<'_> {
    CardPayment {
        amount: eur("12.34"),
        merchant_transaction_id: REFERENCE,
        sequence_number: SaleNumber::new(42),
        device_serial: "00123456",
        kind: Kind::Sale,
        parameters: &[],
        pin_entry: true,
        presented,
    }
}

/// Returns the values that an answer to [`payment`] must contain.
fn expected() -> Expected {
    let (merchant_transaction_id, payment_type) = (REFERENCE.to_owned(), "DB".to_owned());
    Expected { merchant_transaction_id, amount: eur("12.34"), payment_type }
}

fn presented() -> Presented {
    Presented {
        facts: facts(EntryMode::Icc),
        card: SealedCard {
            data: Wiped::copy_of(&[0xC1, 0xFF, 0xEE, 0x00, 0xAB]).unwrap(),
            ksn: Wiped::copy_of(&[0xFF, 0xFF, 0x98, 0x76, 0x54, 0x32, 0x10, 0xE0, 0x00, 0x01]).unwrap(),
        },
        pin: Some(SealedPin {
            block: Wiped::copy_of(&[0x1B, 0x9C, 0x18, 0x45, 0xEB, 0x99, 0x3A, 0x7A]).unwrap(),
            ksn: Wiped::copy_of(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0B]).unwrap(),
        }),
        icc: Wiped::copy_of(&[0x9F, 0x02, 6, 0, 0, 0, 0, 0x12, 0x34, 0x9F, 0x37, 4, 0xDE, 0xAD, 0xBE, 0xEF]).unwrap(),
        first_answer: FirstAnswer::GoOnline,
    }
}

fn facts(entry: EntryMode) -> CardFacts {
    CardFacts {
        entry,
        pan: None,
        pan_sequence_number: Some(1),
        aid: Some("A0000000041010".to_owned()),
        label: None,
        cvm: None,
        cryptogram: None,
        tvr: None,
        tsi: None,
        iad: None,
    }
}

fn eur(text: &str) -> Amount {
    Amount::parse(text, Currency::from_code("EUR").unwrap()).unwrap()
}

fn approval_json() -> String {
    format!(
        r#"{{"id":"{ID}","paymentType":"DB","paymentBrand":"MASTER","amount":"12.34","currency":"EUR","merchantTransactionId":"{REFERENCE}","result":{{"code":"000.100.110","description":"Request successfully processed"}},"ndc":"n-1"}}"#
    )
}

fn approved() -> Vec<u8> {
    http("200 OK", &approval_json())
}

fn http(status: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .into()
}

/// Returns the terminal ids to look up.
fn ours() -> BTreeSet<String> {
    BTreeSet::from(["4711".to_owned()])
}

/// Returns all references, as if the journal knew none of them.
async fn all(references: Vec<String>) -> Result<Vec<String>, String> {
    Ok(references)
}

/// Checks where the client sends the shop's own parameters and the terminal's id. The shop's parameters go with every
/// payment that a till begins. The terminal's id goes with the configured kinds. The agent's own reversal carries
/// neither, because a strict gateway could refuse it.
#[tokio::test]
async fn the_shops_own_goes_with_every_payment_but_the_terminals_own_reversal() {
    let answer = |kind: &str| {
        let body = format!(r#"{{"id":"{}","paymentType":"{kind}","result":{{"code":"000.100.110"}}}}"#, "b".repeat(32));
        Act::Answer(http("200 OK", &body))
    };
    let shop = Shop::with(vec![answer("CP"), answer("RF"), answer("DB"), answer("RV")], |gateway, _| {
        gateway.parameters.insert("merchant.name".to_owned(), "Corner Shop".into());
        gateway.terminal_with = vec![Kind::Capture, Kind::ByRegistration];
    })
    .await;
    let ask = async |kind, on, parameters: &[(String, String)]| {
        let (amount, merchant_transaction_id, number) = (eur("12.34"), REFERENCE, Some(SaleNumber::new(43)));
        let asked = WithoutCard { kind, on, amount, merchant_transaction_id, number, parameters };
        let answer = shop.client.pay(shop.client.prepare_without_card(&asked).unwrap()).await;
        assert!(matches!(answer, Answer::Approved(_)), "{answer:?}");
    };
    let id = PaymentId::new(ID);
    ask(Kind::Capture, RequestTarget::Payment(&id), &[]).await;
    ask(Kind::Refund, RequestTarget::Payment(&id), &[]).await;
    let stall = [("merchant.name".to_owned(), "Stall 7".to_owned())];
    ask(Kind::ByRegistration, RequestTarget::Registration(ID), &stall).await;
    let reversal = shop.client.reverse(&id, eur("12.34"), "4711-43-ff").await;
    assert!(matches!(reversal, ReversalAnswer::Done { .. }), "{reversal:?}");
    let requests = shop.server.requests();
    let terminal = "&pos.terminalId=4711&pos.transactionSource=POS&pos.transactionSequenceNumber=43";
    for (request, (shops, terminals)) in requests.iter().zip([
        (Some("Corner+Shop"), true),
        (Some("Corner+Shop"), false),
        (Some("Stall+7"), true),
        (None, false),
    ]) {
        let name = request.split_once("&merchant.name=").map(|(_, rest)| rest.split('&').next().unwrap());
        assert_eq!((name, request.contains(terminal)), (shops, terminals), "{request}");
        assert_eq!(request.contains("pos."), terminals, "{request}");
        assert!(!request.contains("entryMode"), "{request}");
    }
    shop.server.finish();
}
