//! The gateway's answer to one request, read: HTTP status and JSON to meaning. Anything but a complete, consistent answer is
//! unknown; no text of the body is quoted in a reason but the gateway's own description, cleaned.
//!
//! Assumed, where the interface is silent:
//! - an amount is a JSON string with two decimals (`"12.34"`), or a JSON number with at most two (`12.34`, `12.3`, `12`);
//! - an `amount` without a `currency` is in the currency asked for; where none was, it is "unreadable";
//! - a `merchantTransactionId` in an answer echoes the request's; another one means the answer is not ours;
//! - 800.120.100 says "not processed" at any HTTP status below 500.

use serde_json::Value;

use super::chip;
use super::code::{self, Class};
use super::json;
use super::kept;
use super::request::Asked;
use super::text::{self, Lines};
use crate::config::Assumptions;
use crate::money::{Amount, Currency};
use crate::sale::{Answer, Approval, ApprovedAmount, ForChip, HostFacts, Refusal, Reversal};

/// A whole HTTP answer.
pub(super) struct Reply {
    /// HTTP status.
    pub(super) status: u16,
    /// The `Location` header, for a redirect.
    pub(super) location: Option<String>,
    /// The body, complete as HTTP frames it, at most `client::MAX_ANSWER` bytes.
    pub(super) body: Vec<u8>,
}

impl Reply {
    /// The body for a person, or why there is nothing to show.
    pub(super) fn shown(&self) -> Result<Value, String> {
        let body = json::read(&self.body);
        let said = body.as_ref().and_then(|body| text_at(body, "/result/description"));
        let said = said.and_then(|said| text::clean(said, Lines::Join)).map(|said| format!(": {said}"));
        let said = said.unwrap_or_default();
        match (self.status, body) {
            // What was declined is answered with 400 too (interface: Errors).
            (200 | 400, Some(body)) if self.status == 200 || payment_id(&body).is_some() => Ok(body),
            (404, _) => Err(format!("it knows no such payment (HTTP 404){said}")),
            (401 | 403, _) => {
                Err(format!("it refuses our access token (HTTP {}); check [gateway] token-file", self.status))
            }
            (status, _) => Err(format!("HTTP {status}{said}")),
        }
    }
}

/// The answer to `POST /v1/payments`.
pub(super) fn payment(reply: &Reply, asked: &Asked, assumptions: &Assumptions) -> Answer {
    if let Some(why) = refused_request(reply.status) {
        // Status alone decides: the gateway did not take the request, whatever the body says.
        let facts = object(&reply.body).map(|body| facts(&body)).unwrap_or_default();
        let reason = format!("not charged: {why}");
        return Answer::Declined(Box::new(Refusal { reason, for_chip: ForChip::default(), facts }));
    }
    read(reply, Some(asked), assumptions, &[200, 400])
}

/// The answer to `GET /v1/payments/{id}`. Here 400, 401, 403 and 404 speak of our question, not of the payment.
pub(super) fn retrieval(reply: &Reply, id: &str, assumptions: &Assumptions) -> Answer {
    match object(&reply.body) {
        // Without an id it is a word about our question, as 700.400.580 "cannot find transaction". Another payment's id is the
        // sale's business: it knows which one it asked for.
        Some(body)
            if reply.status == 200 && text_at(&body, "/id").is_none_or(|said| said != id && !is_payment_id(said)) =>
        {
            unknown("the gateway answered without the id of the payment that was asked for")
        }
        _ => read(reply, None, assumptions, &[200]),
    }
}

/// The answer to a reversal of `payment`.
pub(super) fn reversal(reply: &Reply, payment: &str, asked: &Asked, assumptions: &Assumptions) -> Reversal {
    if let Some(why) = refused_request(reply.status) {
        let why = format!("not reversed: {why}");
        // A token is mended without the payment's help: as good as not sent, it may be asked again at once then.
        return if matches!(reply.status, 401 | 403) { Reversal::NotSent { why } } else { Reversal::Refused { why } };
    }
    let refers_to = object(&reply.body).and_then(|body| text_at(&body, "/referencedId").map(str::to_owned));
    if refers_to.is_some_and(|id| id != payment) {
        return Reversal::Unknown { why: "the gateway's answer is for the reversal of another payment".to_owned() };
    }
    match read(reply, Some(asked), assumptions, &[200, 400]) {
        Answer::Approved(approval) => Reversal::Done { id: approval.id, amount: approval.amount },
        Answer::Declined(refusal) => Reversal::Refused { why: refusal.reason },
        // Not processed is as good as not sent: it may be asked again.
        Answer::Throttled(refusal) => Reversal::NotSent { why: refusal.reason },
        Answer::Pending { .. } => Reversal::Unknown { why: "the gateway has not decided the reversal yet".to_owned() },
        Answer::NotSent { why } => Reversal::NotSent { why },
        Answer::Unknown { why } | Answer::NotOurs { why } => Reversal::Unknown { why },
    }
}

fn read(reply: &Reply, asked: Option<&Asked>, assumptions: &Assumptions, may_decline: &[u16]) -> Answer {
    let status = reply.status;
    if status >= 500 {
        return unknown(&format!("the gateway failed (HTTP {status})"));
    }
    let Some(body) = object(&reply.body) else {
        return unknown(&format!("the gateway's answer (HTTP {status}) is not a JSON object"));
    };
    let echo = text_at(&body, "/merchantTransactionId").zip(asked);
    if echo.is_some_and(|(echo, asked)| echo != asked.merchant_transaction_id) {
        return unknown("the gateway's answer is for another merchantTransactionId");
    }
    let code = text_at(&body, "/result/code").unwrap_or("");
    match code::class(code, assumptions) {
        Some(Class::Throttled) => Answer::Throttled(Box::new(refusal(&body, "too many requests"))),
        Some(Class::Approved) if status == 200 => approval(&body, asked),
        Some(Class::Pending) if status == 200 => pending(&body),
        Some(Class::Approved | Class::Pending) => {
            unknown(&format!("the gateway's result code and its HTTP status ({status}) contradict each other"))
        }
        _ if status == 200 && body.pointer("/redirect").is_some_and(Value::is_object) => pending(&body),
        Some(Class::Declined) if may_decline.contains(&status) => {
            Answer::Declined(Box::new(refusal(&body, "declined")))
        }
        _ => unknown(&format!("the gateway's result code says nothing this program knows (HTTP {status})")),
    }
}

fn approval(body: &Value, asked: Option<&Asked>) -> Answer {
    let Some(id) = payment_id(body) else {
        return unknown("the gateway approved without a payment id of 32 letters and digits");
    };
    Answer::Approved(Box::new(Approval {
        id,
        amount: amount(body, asked.map(|asked| asked.amount.currency())),
        for_chip: for_chip(body),
        facts: facts(body),
    }))
}

fn pending(body: &Value) -> Answer {
    match payment_id(body) {
        Some(id) => Answer::Pending { id },
        None => unknown("the gateway has not decided, and names no payment id of 32 letters and digits"),
    }
}

fn refusal(body: &Value, otherwise: &str) -> Refusal {
    let facts = facts(body);
    let reason = facts.description.clone().unwrap_or_else(|| {
        let code = facts.code.as_deref().unwrap_or("no code");
        format!("{otherwise} by the gateway ({code})")
    });
    Refusal { reason, for_chip: for_chip(body), facts }
}

/// What a POST that the gateway did not take needs, by HTTP status (interface: Errors).
fn refused_request(status: u16) -> Option<&'static str> {
    match status {
        401 => Some("the gateway did not find an access token it can read (HTTP 401); check [gateway] token-file"),
        403 => Some("the gateway refused our access token (HTTP 403); check [gateway] token-file"),
        404 => Some("the gateway has nothing at this address (HTTP 404); check [gateway] url"),
        _ => None,
    }
}

/// `amount` and `currency`; without a currency the amount is in `or_in`.
pub(super) fn amount(body: &Value, or_in: Option<Currency>) -> ApprovedAmount {
    let currency = match body.get("currency") {
        None | Some(Value::Null) => or_in,
        Some(Value::String(code)) => Currency::from_code(code).ok(),
        Some(_) => None,
    };
    let said = match body.get("amount") {
        // A strange currency is worth knowing even without an amount.
        None | Some(Value::Null) if currency.is_some() && (or_in.is_none() || currency == or_in) => {
            return ApprovedAmount::NotSaid;
        }
        Some(Value::String(amount)) => currency.and_then(|currency| Amount::from_gateway(amount, currency).ok()),
        _ => None,
    };
    said.map_or(ApprovedAmount::Unreadable, ApprovedAmount::Said)
}

/// `id`, when it is one: 32 letters and digits (interface: Resources).
pub(super) fn payment_id(body: &Value) -> Option<String> {
    text_at(body, "/id").filter(|id| is_payment_id(id)).map(str::to_owned)
}

/// 32 letters and digits.
pub(super) fn is_payment_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The body as one JSON object with nothing behind it.
fn object(body: &[u8]) -> Option<Value> {
    json::read(body).filter(Value::is_object)
}

/// The text at a JSON pointer.
pub(super) fn text_at<'a>(body: &'a Value, pointer: &str) -> Option<&'a str> {
    body.pointer(pointer).and_then(Value::as_str)
}

fn for_chip(body: &Value) -> ForChip {
    match body.pointer("/pos/iccDataResponse") {
        None | Some(Value::Null) => ForChip::default(),
        Some(Value::String(field)) => chip::read(field),
        Some(_) => chip::malformed(),
    }
}

/// What may be kept, cleaned and held to its format: never holder or expiry, never more of a PAN than these ten digits.
fn facts(body: &Value) -> HostFacts {
    let text = |pointer: &str| text_at(body, pointer).and_then(|text| text::clean(text, Lines::Join));
    let digits = |pointer: &str, count: usize| {
        text_at(body, pointer)
            .filter(|text| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit()))
            .map(str::to_owned)
    };
    HostFacts {
        id: payment_id(body),
        code: text("/result/code"),
        description: text("/result/description"),
        brand: text("/paymentBrand").or_else(|| text("/brandResult")),
        bin: digits("/card/bin", 6),
        last4: digits("/card/last4Digits", 4),
        status_text: text_at(body, "/pos/statusText").and_then(|text| text::clean(text, Lines::Keep)),
        acquirer_code: text("/pos/clearing/authorizationAcquirerCode"),
        issuer_code: text("/pos/clearing/authorizationIssuerCode"),
        clearing_identifier: text("/pos/clearing/identifier"),
        merchant_id: text("/pos/merchantId"),
        pos_timestamp: text("/pos/timestamp"),
        timestamp: text("/timestamp"),
        ndc: text("/ndc"),
        more: kept::rest(body),
    }
}

fn unknown(why: &str) -> Answer {
    Answer::Unknown { why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ID: &str = "8ac7a4a08f0c1d2e018f0c3b5a6b7c8d";

    fn asked() -> Asked {
        let amount = Amount::parse("12.34", Currency::from_code("EUR").unwrap()).unwrap();
        Asked { merchant_transaction_id: "4711-1-aa".to_owned(), amount }
    }

    fn answer(status: u16, body: &str) -> Answer {
        let reply = Reply { status, location: None, body: body.as_bytes().to_vec() };
        payment(&reply, &asked(), &Assumptions::default())
    }

    fn approved() -> String {
        format!(
            r#"{{"id":"{ID}","paymentType":"DB","paymentBrand":"VISA","amount":"12.34","currency":"EUR",
            "merchantTransactionId":"4711-1-aa",
            "result":{{"code":"000.100.110","description":"Request successfully processed"}},
            "card":{{"bin":"476173","last4Digits":"0119","holder":"A B","expiryMonth":"12","expiryYear":"2031"}},
            "pos":{{"iccDataResponse":"8A02303091081122334455667788","statusText":"Danke\r\n\u001b@bis bald",
            "clearing":{{"authorizationIssuerCode":"123456","identifier":"77"}},"merchantId":"M1","timestamp":"2024-05-01 12:00:00"}},
            "buildNumber":"x","timestamp":"2024-05-01 12:00:00+0000","ndc":"abc-1","tomorrow":{{"new":[1,2,{{}}]}}}}"#
        )
    }

    #[test]
    fn an_approval_is_read_whole_and_new_fields_do_no_harm() {
        let Answer::Approved(approval) = answer(200, &approved()) else { panic!() };
        assert_eq!((approval.id.as_str(), approval.amount), (ID, ApprovedAmount::Said(asked().amount)));
        assert_eq!(approval.for_chip.arc, Some(*b"00"));
        let facts = approval.facts;
        assert_eq!(facts.status_text.as_deref(), Some("Danke\n@bis bald"));
        assert_eq!((facts.bin.as_deref(), facts.last4.as_deref()), (Some("476173"), Some("0119")));
        assert_eq!((facts.brand.as_deref(), facts.issuer_code.as_deref()), (Some("VISA"), Some("123456")));
        assert!(!format!("{facts:?}").contains("2031"));
    }

    #[test]
    fn what_is_not_an_approval_is_told_apart() {
        let coded = |code: &str| format!(r#"{{"id":"{ID}","result":{{"code":"{code}"}}}}"#);
        let kind = |status, body: &str| match answer(status, body) {
            Answer::Approved(_) => "approved",
            Answer::Declined(_) => "declined",
            Answer::Pending { .. } => "pending",
            Answer::Throttled(_) => "throttled",
            Answer::NotSent { .. } => "not sent",
            Answer::Unknown { .. } => "unknown",
            Answer::NotOurs { .. } => "not ours",
        };
        let redirect = format!(r#"{{"id":"{ID}","result":{{"code":"100.100.101"}},"redirect":{{"url":"https://x"}}}}"#);
        for (status, body, expected) in [
            (200, coded("000.000.000"), "approved"),
            (200, coded("000.200.000"), "pending"),
            (200, coded("800.100.152"), "declined"),
            (400, coded("800.100.152"), "declined"),
            (400, coded("800.120.100"), "throttled"),
            (429, coded("800.120.100"), "throttled"),
            (503, coded("800.120.100"), "unknown"),
            (200, redirect.clone(), "pending"),
            (400, redirect, "declined"),
            (400, coded("000.000.000"), "unknown"),
            (201, coded("000.000.000"), "unknown"),
            (202, coded("800.100.152"), "unknown"),
            (500, coded("000.000.000"), "unknown"),
            (500, coded("800.100.152"), "unknown"),
            (302, coded("000.000.000"), "unknown"),
            (200, coded("900.100.100"), "unknown"),
            (200, coded("000.000.0"), "unknown"),
            (200, coded(""), "unknown"),
            (200, format!(r#"{{"id":"{ID}"}}"#), "unknown"),
            (200, format!(r#"{{"id":"{ID}","result":{{"code":0}}}}"#), "unknown"),
            (200, format!(r#"{{"id":"{ID}","result":["000.000.000"]}}"#), "unknown"),
            (200, r#"{"result":{"code":"000.000.000"}}"#.to_owned(), "unknown"),
            (200, r#"{"id":"short","result":{"code":"000.000.000"}}"#.to_owned(), "unknown"),
            (200, r#"{"id":"short","result":{"code":"000.200.000"}}"#.to_owned(), "unknown"),
            (200, format!("[{}]", coded("000.000.000")), "unknown"),
            (200, coded("000.000.000") + "x", "unknown"),
            (200, String::new(), "unknown"),
            (200, "<html>hello</html>".to_owned(), "unknown"),
            (200, "{".repeat(5000), "unknown"),
            (401, String::new(), "declined"),
            (403, "garbage".to_owned(), "declined"),
            (404, coded("200.300.404"), "declined"),
            (405, coded("200.300.404"), "unknown"),
            (200, approved().replace("4711-1-aa", "4711-1-ab"), "unknown"),
        ] {
            assert_eq!(kind(status, &body), expected, "HTTP {status} {body}");
        }
    }

    #[test]
    fn the_approved_amount_is_what_the_gateway_says() {
        let eur = Currency::from_code("EUR").unwrap();
        let usd = Currency::from_code("USD").unwrap();
        let said = |text: &str, currency| ApprovedAmount::Said(Amount::parse(text, currency).unwrap());
        for (fields, expected) in [
            ("", ApprovedAmount::NotSaid),
            (r#","currency":"EUR""#, ApprovedAmount::NotSaid),
            (r#","currency":"USD""#, ApprovedAmount::Unreadable),
            (r#","amount":"10.00""#, said("10.00", eur)),
            (r#","amount":"12.34","currency":"USD""#, said("12.34", usd)),
            (r#","amount":"12.34","currency":"ZZZ""#, ApprovedAmount::Unreadable),
            (r#","amount":"12.3","currency":"EUR""#, ApprovedAmount::Unreadable),
            (r#","amount":"0.00","currency":"EUR""#, ApprovedAmount::Unreadable),
            (r#","amount":12.34,"currency":"EUR""#, said("12.34", eur)),
            (r#","amount":12.3,"currency":"EUR""#, said("12.30", eur)),
            (r#","amount":12"#, said("12.00", eur)),
            (r#","amount":10.00,"currency":"EUR""#, said("10.00", eur)),
            (r#","amount":12.340,"currency":"EUR""#, ApprovedAmount::Unreadable),
            (r#","amount":1.234e1,"currency":"EUR""#, ApprovedAmount::Unreadable),
            (r#","amount":-12.34,"currency":"EUR""#, ApprovedAmount::Unreadable),
            (r#","amount":0.00,"currency":"EUR""#, ApprovedAmount::Unreadable),
            (r#","amount":"12","currency":"EUR""#, ApprovedAmount::Unreadable),
            (r#","amount":null,"currency":null"#, ApprovedAmount::NotSaid),
        ] {
            let body = format!(r#"{{"id":"{ID}","result":{{"code":"000.000.000"}}{fields}}}"#);
            let Answer::Approved(approval) = answer(200, &body) else { panic!("{body}") };
            assert_eq!(approval.amount, expected, "{body}");
        }
    }

    #[test]
    fn a_refused_request_names_its_remedy() {
        let Answer::Declined(refusal) = answer(403, "") else { panic!() };
        assert_eq!(
            refusal.reason,
            "not charged: the gateway refused our access token (HTTP 403); check [gateway] token-file"
        );
        let Answer::Declined(refusal) = answer(400, r#"{"result":{"code":"800.100.152"}}"#) else { panic!() };
        assert_eq!(refusal.reason, "declined by the gateway (800.100.152)");
    }

    #[test]
    fn a_card_number_in_the_wrong_field_is_not_kept() {
        let body = approved().replace("\"476173\"", "\"4761739001010119\"").replace("\"0119\"", "\"4761739001010119\"");
        let Answer::Approved(approval) = answer(200, &body) else { panic!() };
        assert_eq!((approval.facts.bin, approval.facts.last4), (None, None));
    }

    #[test]
    fn asking_for_a_payment_says_nothing_about_it_by_http_status() {
        let get = |status, body: &str| {
            let reply = Reply { status, location: None, body: body.as_bytes().to_vec() };
            retrieval(&reply, ID, &Assumptions::default())
        };
        assert!(matches!(get(200, &approved()), Answer::Approved(_)));
        assert!(matches!(get(200, &approved().replace(ID, "short")), Answer::Unknown { .. }));
        // Another payment's id is handed on: the sale knows which one it asked for.
        let other = "0".repeat(32);
        assert!(
            matches!(get(200, &approved().replace(ID, &other)), Answer::Approved(approval) if approval.id == other)
        );
        let absent = r#"{"result":{"code":"700.400.580","description":"cannot find transaction"}}"#;
        assert!(matches!(get(200, absent), Answer::Unknown { .. }), "a pending payment is not declined by it");
        for status in [400, 401, 403, 404] {
            assert!(matches!(get(status, r#"{"result":{"code":"200.300.404"}}"#), Answer::Unknown { .. }), "{status}");
        }
    }

    #[test]
    fn a_reversal_that_a_wrong_token_stopped_may_be_asked_again() {
        let reversed = |status| {
            let reply = Reply { status, location: None, body: Vec::new() };
            reversal(&reply, ID, &asked(), &Assumptions::default())
        };
        for status in [401, 403] {
            assert!(matches!(reversed(status), Reversal::NotSent { .. }), "{status}");
        }
        assert!(matches!(reversed(404), Reversal::Refused { .. }));
    }

    #[test]
    fn the_answer_to_another_reversal_confirms_nothing() {
        let reversed = |fields: &str| {
            let body = format!(r#"{{"id":"{}","result":{{"code":"000.000.000"}}{fields}}}"#, "b".repeat(32));
            let reply = Reply { status: 200, location: None, body: body.into_bytes() };
            reversal(&reply, ID, &asked(), &Assumptions::default())
        };
        assert!(matches!(reversed(""), Reversal::Done { .. }), "what is absent proves nothing");
        assert!(matches!(reversed(&format!(r#","referencedId":"{ID}""#)), Reversal::Done { .. }));
        let other = format!(r#","referencedId":"{}""#, "c".repeat(32));
        assert!(matches!(reversed(&other), Reversal::Unknown { .. }));
    }

    #[test]
    fn an_answer_cut_anywhere_decides_nothing() {
        let whole = approved();
        for end in 0..whole.len() {
            let reply = Reply { status: 200, location: None, body: whole.as_bytes()[..end].to_vec() };
            let answer = payment(&reply, &asked(), &Assumptions::default());
            assert!(matches!(answer, Answer::Unknown { .. }), "cut at {end}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(status in 100_u16..600, body in proptest::collection::vec(any::<u8>(), 0..512)) {
            let reply = Reply { status, location: None, body };
            let _ = payment(&reply, &asked(), &Assumptions::default());
            let _ = reversal(&reply, ID, &asked(), &Assumptions::default());
        }

        #[test]
        fn a_damaged_answer_never_panics(at in 0_usize..900, byte in any::<u8>()) {
            let mut body = approved().into_bytes();
            let at = at % body.len();
            body[at] = byte;
            let _ = payment(&Reply { status: 200, location: None, body }, &asked(), &Assumptions::default());
        }
    }
}
