//! The whole terminal with a gateway whose answers the test chooses. The tests check unusual answers to a reversal, and
//! card numbers that a gateway writes into its texts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::counter::{Counter, ended};
use crate::https::{Act, Authority, Server};
use crate::leak::{Kept, Secret};
use crate::log::LOG;
use pos_agent::till::SaleState;
use pos_sim::reader::CardEntry::Tap;
use pos_sim::shop::Options;
use pos_terms::transaction::OutcomeWord;
use serde_json::{Value, json};

/// A request as the gateway receives it.
struct Asked<'a> {
    /// The request line, such as `POST /v1/payments`.
    line: &'a str,
    form: HashMap<String, String>,
}

impl Asked<'_> {
    fn says(&self, name: &str) -> &str {
        self.form.get(name).map_or("", String::as_str)
    }
}

/// Opens a counter with a gateway that takes the HTTP status and the body of each answer from this function.
async fn before_a_bank(mut answers: impl FnMut(&Asked<'_>) -> (u16, Value) + Send + 'static) -> (Counter, Server) {
    std::sync::LazyLock::force(&LOG);
    let authority = Authority::new();
    let server = Server::answering(authority.server("127.0.0.1", (2020, 2090)), move |request| {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let line = head.lines().next().unwrap().trim_end_matches(" HTTP/1.1");
        let query = line.split_once('?').map_or("", |(_, query)| query);
        let form = form_urlencoded::parse(body.as_bytes()).chain(form_urlencoded::parse(query.as_bytes()));
        let asked = Asked { line, form: form.map(|(name, value)| (name.into_owned(), value.into_owned())).collect() };
        let (status, body) = answers(&asked);
        let body = body.to_string();
        let head = format!("HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}", body.len());
        Act::Answer(format!("{head}\r\n\r\n{body}").into())
    })
    .await;
    let url = format!("url = \"https://{}/\" # ", server.address());
    let config = [("url = \"https", url.as_str()), ("/ca.pem\"", "/bank.pem\"")];
    let config = config.map(|(what, with)| (what.to_owned(), with.to_owned())).to_vec();
    let mut counter = Counter::closed(Options { config, ..Options::default() }).await;
    std::fs::write(counter.shop.folder().join("bank.pem"), authority.pem()).unwrap();
    counter.start_agent();
    counter.until_ready().await;
    (counter, server)
}

fn id(letter: char, number: usize) -> String {
    format!("{letter}{number:031}")
}

/// The gateway's answer to a reversal of 6.00 EUR: HTTP status, result code, amount and currency.
type Answered = (&'static str, u16, &'static str, Option<(&'static str, &'static str)>, Then);

/// The expected result of a reversal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// The payment is reversed, and the till gets "declined".
    Back,
    /// The agent requests the reversal of this rest too. The payment is then reversed.
    Rest(&'static str),
    /// A person must decide, and the till gets no outcome.
    Person,
}

const APPROVED: &str = "000.100.110";
const DECLINED: &str = "800.100.152";

#[rustfmt::skip]
const REVERSALS: &[Answered] = &[
    ("as asked",               200, APPROVED, Some(("6.00", "EUR")), Then::Back),
    ("without an amount",      200, APPROVED, None,                  Then::Back),
    ("a part",                 200, APPROVED, Some(("2.50", "EUR")), Then::Rest("3.50")),
    ("declined at HTTP 200",   200, DECLINED, Some(("6.00", "EUR")), Then::Person),
    ("declined at HTTP 400",   400, DECLINED, Some(("6.00", "EUR")), Then::Person),
    ("another amount",         200, APPROVED, Some(("6.01", "EUR")), Then::Person),
    ("another currency",       200, APPROVED, Some(("6.00", "USD")), Then::Person),
];

/// Checks reversals. The gateway approves 6.00 of 12.34 and the till accepts no partial approval, so the agent must
/// reverse the approved amount.
#[tokio::test]
async fn a_reversal_is_never_taken_for_more_than_its_answer_says() {
    let reversed: Arc<Mutex<Vec<(usize, String)>>> = Arc::default();
    let (sales, heard) = (Arc::new(Mutex::new(0_usize)), Arc::clone(&reversed));
    let mut references = Vec::new();
    let (mut counter, _server) = before_a_bank(move |asked| {
        let result = |code: &str| json!({"code": code});
        match asked.says("paymentType") {
            "DB" => {
                let mut sales = sales.lock().unwrap();
                *sales += 1;
                references.push(asked.says("merchantTransactionId").to_owned());
                (200, json!({"id": id('d', *sales), "paymentType": "DB", "amount": "6.00", "currency": "EUR", "result": result(APPROVED)}))
            }
            "RV" => {
                let mut heard = heard.lock().unwrap();
                let sale = *sales.lock().unwrap();
                let (_, status, code, said, _) = REVERSALS[sale - 1];
                let is_first = heard.iter().all(|(of, _)| *of != sale);
                heard.push((sale, format!("{} {}", asked.says("amount"), asked.says("currency"))));
                let mut body = json!({"id": id('e', heard.len()), "paymentType": "RV", "result": result(if is_first { code } else { APPROVED })});
                if let Some((amount, currency)) = said.filter(|_| is_first) {
                    (body["amount"], body["currency"]) = (amount.into(), currency.into());
                }
                (if is_first { status } else { 200 }, body)
            }
            // The list contains the payment and, once a reversal has been requested, the outcome of that request.
            _ if asked.line.starts_with("GET /v1/query") => {
                let reference = asked.says("merchantTransactionId");
                let sale = references.iter().position(|known| reference.starts_with(known.as_str()));
                let Some(sale) = sale.map(|sale| sale + 1) else { return (200, json!([])) };
                let payment = json!({"id": id('d', sale), "paymentType": "DB", "amount": "6.00", "currency": "EUR",
                    "merchantTransactionId": references[sale - 1], "result": result(APPROVED)});
                let (_, _, code, said, _) = REVERSALS[sale - 1];
                let (amount, currency) = said.filter(|_| code == APPROVED).unwrap_or(("6.00", "EUR"));
                let first = json!({"id": id('f', sale), "paymentType": "RV", "amount": amount, "currency": currency,
                    "merchantTransactionId": format!("{}-r1", references[sale - 1]),
                    "result": result(if code == APPROVED { APPROVED } else { DECLINED })});
                let was_asked = heard.lock().unwrap().iter().any(|(of, _)| *of == sale);
                (200, json!({"payments": if was_asked { vec![payment, first] } else { vec![payment] }}))
            }
            _ => (404, json!({})),
        }
    })
    .await;
    for (number, (what, .., then)) in REVERSALS.iter().enumerate() {
        let reference = format!("R{}", number + 1);
        counter.sell(&reference, "12.34", "tap", Tap).await;
        let over = |view: &pos_agent::till::SaleView| view.state == SaleState::Ended || view.needs_person.is_some();
        let view = counter.until(&reference, what, over).await;
        let asked = |sale: usize| -> Vec<String> {
            reversed.lock().unwrap().iter().filter(|(of, _)| *of == sale).map(|(_, amount)| amount.clone()).collect()
        };
        match then {
            Then::Back => {
                assert_eq!(ended(&view), Some(OutcomeWord::Reversed), "{what}: {}", view.text);
                assert_eq!(asked(number + 1), ["6.00 EUR"], "{what}");
            }
            Then::Rest(rest) => {
                assert_eq!(ended(&view), Some(OutcomeWord::Reversed), "{what}: {}", view.text);
                assert_eq!(asked(number + 1), ["6.00 EUR".to_owned(), format!("{rest} EUR")], "{what}");
            }
            Then::Person => {
                assert_eq!((view.state, view.outcome), (SaleState::Unconfirmed, None), "{what}: {}", view.text);
                assert!(asked(number + 1).iter().all(|amount| amount == "6.00 EUR"), "{what}: {:?}", asked(number + 1));
            }
        }
        counter.until_ready().await;
    }
    let charged = REVERSALS.iter().filter(|row| row.4 == Then::Person).count();
    assert_eq!(counter.status().await.unconfirmed.len(), charged, "each of them is shown");
    let (_, totals) = counter.get("/v1/totals").await;
    assert_eq!(totals["carried"].as_array().unwrap().len(), charged, "{totals}");
    counter.stop_agent().await;
}

/// Card numbers with 13, 15, 16 and 19 digits, each with a valid check digit.
const PANS: [&str; 4] = ["4222222222222", "374245001751006", "4761739001010119", "6799998900000074316"];

/// The text that follows the number on a track: expiry, service code, discretionary data.
const BEHIND: &str = "25122011234567890";

fn in_groups(pan: &str, between: &str) -> String {
    let groups: Vec<_> = pan.as_bytes().chunks(4).map(|four| std::str::from_utf8(four).unwrap()).collect();
    groups.join(between)
}

/// The ways in which a gateway writes a card number into a text, and whether the agent masks the number. False means
/// that the agent does not recognise it yet.
type Writing = (&'static str, bool, fn(&str) -> String);

const WRITINGS: &[Writing] = &[
    ("alone", true, |pan| pan.to_owned()),
    ("in a sentence", true, |pan| format!("declined, card {pan}.")),
    ("between letters", true, |pan| format!("PAN{pan}end")),
    ("as a track", true, |pan| format!(";{pan}=2512201?")),
    ("with unseen characters between", true, |pan| pan.chars().flat_map(|digit| [digit, '\u{200B}']).collect()),
    ("with control characters between", true, |pan| pan.chars().flat_map(|digit| [digit, '\u{7}']).collect()),
    ("with the rest of its track", true, |pan| format!(";{pan}={BEHIND}?")),
    ("in groups with spaces", true, |pan| in_groups(pan, " ")),
    ("in groups with dashes", true, |pan| in_groups(pan, "-")),
    ("with a space between all digits", true, |pan| pan.chars().flat_map(|digit| [digit, ' ']).collect()),
];

/// True if the agent also masks the names of a gateway's own fields.
const NAMES_TOO: bool = true;

/// Returns an answer with the card number in every text.
fn full_of(text: &str, code: &str, payment: &str, kind: &str) -> Value {
    let mut body = json!({
        "id": payment, "paymentType": kind, "amount": "12.34", "currency": "EUR",
        "paymentBrand": text, "brandResult": text, "descriptor": text, "ndc": text, "buildNumber": text,
        "timestamp": text, "registrationId": text, "shortId": text,
        "result": {"code": code, "description": text, "avsResponse": text, "cvvResponse": text},
        "resultDetails": {"AcquirerResponse": text, "ConnectorTxID1": text, "deep": {"er": [text, {"still": text}]}},
        "pos": {"statusText": text, "merchantId": text, "timestamp": text,
            "clearing": {"identifier": text, "authorizationAcquirerCode": text, "authorizationIssuerCode": text}},
        "card": {"bin": text, "last4Digits": text, "holder": text, "number": text, "type": text, "level": text,
            "issuer": {"bank": text, "phone": text}},
        "customParameters": {"note": text}, "merchant": {"name": text}, "risk": {"score": text},
        "customer": {"givenName": text}, "billing": {"street1": text},
        "unheardOf": text,
    });
    if NAMES_TOO {
        body[text] = json!("x");
        body["customParameters"][text] = json!("x");
    }
    body
}

#[tokio::test]
async fn card_numbers_in_a_banks_texts_go_no_further() {
    let writings = || WRITINGS.iter().filter(|(_, is_masked, _)| *is_masked);
    let texts: Vec<_> = writings().flat_map(|(_, _, write)| PANS.map(write)).collect();
    let (mut sales, answers) = (0, texts.clone());
    let (mut counter, _server) = before_a_bank(move |asked| {
        let text = |n: usize| &answers[n % answers.len()];
        match asked.says("paymentType") {
            // Payments are first approved, then declined, then answered without any meaning.
            "DB" => {
                sales += 1;
                let n = sales - 1;
                let (status, code) = [(200, APPROVED), (400, DECLINED), (500, text(n))][n / answers.len() % 3];
                (status, full_of(text(n), code, &id('d', sales), "DB"))
            }
            "RV" => (200, full_of(text(sales - 1), text(sales), &id('e', sales), "RV")),
            _ => (404, full_of(text(sales), text(sales), "", "DB")),
        }
    })
    .await;
    let mut ears = counter.listen().await;
    let mut told = String::new();
    // Each text occurs in an approval and in a decline, and a few texts occur when the gateway fails.
    for number in 0..2 * texts.len() + 4 {
        let reference = format!("R{number}");
        counter.sell(&reference, "12.34", "tap", Tap).await;
        let over = |state| matches!(state, SaleState::Ended | SaleState::Unconfirmed);
        let view = counter.until(&reference, "its end or a doubt", |view| over(view.state)).await;
        let expected = [Some(OutcomeWord::Approved), Some(OutcomeWord::Declined), None][number / texts.len()];
        assert_eq!(view.outcome, expected, "{}", view.text);
        // A listener that is too slow gets a message about this and misses the events.
        ears.hear().await;
        told.push_str(&serde_json::to_string(&view).unwrap());
        for copy in ["merchant", "customer"] {
            told.push_str(&counter.receipt(&reference, copy).await);
        }
        counter.until_ready().await;
    }
    told.push_str(&serde_json::to_string(&counter.status().await).unwrap());
    for path in ["/v1/sales?limit=1000", "/v1/totals", &format!("/v1/payments/{}", id('d', 1)), "/v1/query?limit=100"] {
        told.push_str(&counter.get(path).await.1.to_string());
    }
    ears.hear().await;
    let steps: Vec<_> = ears.heard.iter().map(|step| serde_json::to_string(step).unwrap()).collect();
    let mut kept = vec![
        Kept::new("what tills are told", told.as_bytes()),
        Kept::new("events", steps.join("\n").as_bytes()),
        Kept::new("paper", counter.shop.printer.receipts().join("\n").as_bytes()),
    ];
    counter.stop_agent().await;
    for file in std::fs::read_dir(counter.shop.folder()).unwrap().map(Result::unwrap) {
        if file.file_type().unwrap().is_file() {
            kept.push(Kept::new(file.file_name().to_str().unwrap(), &std::fs::read(file.path()).unwrap()));
        }
    }
    kept.push(Kept::new("log", &LOG.so_far()));
    for pan in PANS {
        // The masked number must occur. Otherwise the agent has kept none of these texts, and the search proves
        // nothing.
        let masked = format!("{}{}{}", &pan[..6], "*".repeat(pan.len() - 10), &pan[pan.len() - 4..]);
        assert!(told.contains(&masked), "{masked}");
        for secret in [Secret::text("a card number", pan), Secret::text("the rest of a track", BEHIND)] {
            for kept in &kept {
                assert_eq!(kept.shows(&secret), None, "{}: {}", kept.name, secret.what);
            }
        }
    }
}
