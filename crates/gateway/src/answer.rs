//! Reads the meaning of the gateway's answer to one request from the HTTP status and the JSON. An incomplete or
//! inconsistent answer is unknown. From the body, a reason quotes only the gateway's own description, after cleaning.
//!
//! Assumed, where the interface is silent:
//! - an amount is a JSON string with two decimals (`"12.34"`), or a JSON number with at most two (`12.34`, `12.3`,
//!   `12`);
//! - an `amount` without a `currency` is in the requested currency; in a list, where no currency was requested, such an
//!   amount is "unreadable";
//! - a `merchantTransactionId` in an answer repeats that of the request; if it is different, the answer is not ours;
//! - a `paymentType` in an approval or pending answer repeats that of the request; if it is different, the answer is
//!   not ours;
//! - a later answer about a pending payment also repeats both values, even if it declines the payment;
//! - 800.120.100 says "not processed" at any HTTP status below 500;
//! - a code of `invalid-request` at HTTP 400 says "not processed", whichever parts of the request the body repeats;
//! - HTTP 401, 403 and 404 also say "not processed", and 307 says "not here". The exception is a body that names a
//!   payment or says that something was done.

use serde_json::Value;
use zeroize::Zeroize;

use super::chip;
use super::code::{self, Class};
use super::json;
use super::other_fields;
use super::request::Expected;
use super::text::{self, LineFeeds};
use crate::config::Assumptions;
use pos_core::transaction::{
    Answer, Approval, ApprovedAmount, Cause, ForChip, HostFacts, Reason, Refusal, ReversalAnswer,
};
use pos_terms::card::mask_pans;
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::PaymentId;

/// The codes for "registration does not exist" and "registration is already deregistered".
const GONE: [&str; 2] = ["100.150.200", "100.150.202"];
/// The maximum length of an address for the customer (interface: Asynchronous payments).
const MAX_REDIRECT: usize = 2048;

/// A complete HTTP answer.
pub(super) struct Reply {
    /// The HTTP status.
    pub(super) status: u16,
    /// The `Location` header, for a redirect.
    pub(super) location: Option<String>,
    /// The body, which is complete by HTTP framing and has at most `line::MAX_ANSWER` bytes.
    pub(super) body: Vec<u8>,
}

/// Wipes the body, which contains the gateway's data about a card, including the holder's name.
impl Drop for Reply {
    fn drop(&mut self) {
        self.body.zeroize();
    }
}

impl Reply {
    /// Returns the body to show to a person, or the reason why there is nothing to show.
    pub(super) fn shown(&self) -> Result<Value, String> {
        let body = json::read(&self.body);
        let said = body.as_ref().and_then(|body| text_at(body, "/result/description"));
        let said = said.and_then(|said| text::clean(said, LineFeeds::Join)).map(|said| format!(": {said}"));
        let said = said.unwrap_or_default();
        match (self.status, body) {
            // A declined payment is also answered with 400 (interface: Errors).
            (200 | 400, Some(body)) if self.status == 200 || payment_id(&body).is_some() => Ok(body),
            (404, _) => Err(format!("it knows no such payment (HTTP 404){said}")),
            (401 | 403, _) => Err(format!(
                "it refuses the terminal's access token (HTTP {}); check token-file in [gateway]",
                self.status
            )),
            (status, _) => Err(format!("HTTP {status}{said}")),
        }
    }
}

/// Reads the answer to the POST of a payment or a follow-up.
pub(super) fn payment(reply: &Reply, asked: &Expected, assumptions: &Assumptions) -> Answer {
    match refused_request(reply, asked, assumptions) {
        Some(Ok(why)) => Answer::NotSent { why },
        Some(Err(why)) => Answer::Unknown { why },
        None => read(reply, asked, assumptions),
    }
}

/// Reads the answer to the DELETE of a stored card. A card that no longer exists counts as deleted.
pub(super) fn deregistration(answer: Answer, id: &PaymentId) -> Answer {
    let is_gone = |refusal: &Refusal| refusal.facts.code.as_deref().is_some_and(|code| GONE.contains(&code));
    match answer {
        Answer::Declined(refusal) | Answer::DeclinedInDoubt(refusal) if is_gone(&refusal) => {
            let facts = HostFacts { id: Some(id.clone()), ..refusal.facts };
            let (amount, for_chip) = (ApprovedAmount::NotSaid, ForChip::default());
            Answer::Approved(Box::new(Approval { id: id.clone(), amount, for_chip, facts }))
        }
        Answer::Approved(approval) if approval.id != *id => {
            Answer::NotOurs { why: Reason::AnotherPaymentAnswered.with(&approval.id) }
        }
        answer => answer,
    }
}

/// Reads the answer to `GET /v1/payments/{id}`. The answer is about the payment only if it has the payment's id and a
/// field that only payments have. An answer about the request itself ("no such session", "too many requests") also has
/// an id and a code. It is never the outcome of the payment. HTTP 400, 401, 403 and 404 also concern the request
/// itself. A matching id is not enough: if the reference or kind differs from `asked`, the answer belongs to another
/// payment.
pub(super) fn retrieval(reply: &Reply, id: &PaymentId, asked: &Expected, assumptions: &Assumptions) -> Answer {
    let status = reply.status;
    if status != 200 {
        return unknown(Reason::GatewayCannotBeAsked.with(format_args!("HTTP {status}")));
    }
    let Some(body) = object(&reply.body) else {
        return unknown(Reason::AnswerUnclear.with("HTTP 200, not a JSON object"));
    };
    let is_there = |name: &str| body.get(name).is_some_and(|value| !value.is_null());
    if !["paymentType", "merchantTransactionId", "amount"].into_iter().any(is_there) {
        return unknown(Reason::AnswerUnclear.with("about the query, not about the payment"));
    }
    match payment_id(&body) {
        Some(said) if said == *id => {}
        Some(_) => {
            return Answer::NotOurs { why: Reason::AnotherPaymentAnswered.into() };
        }
        None => return unknown(Reason::AnswerUnclear.with("no payment id")),
    }
    let code = text_at(&body, "/result/code").unwrap_or("");
    let ours = |answer: Answer| {
        let why = another_reference(&body, asked).or_else(|| another_kind(&body, asked));
        why.map_or(answer, |why| Answer::NotOurs { why })
    };
    match code::class(code, assumptions) {
        Some(Class::Approved) => ours(approval(&body, asked)),
        Some(Class::Pending) => ours(pending(&body)),
        _ if is_redirected(&body) => ours(pending(&body)),
        Some(Class::Declined) => ours(Answer::Declined(Box::new(refusal(&body, why_declined(&body, assumptions))))),
        _ => unknown(strange_code(&body)),
    }
}

/// Reads the answer to a reversal of `payment`. It does not judge the reversed amount.
pub(super) fn reversal(
    reply: &Reply,
    payment: &PaymentId,
    asked: &Expected,
    assumptions: &Assumptions,
) -> ReversalAnswer {
    match refused_request(reply, asked, assumptions) {
        Some(Err(why)) => return ReversalAnswer::Unknown { why },
        Some(Ok(why)) => {
            // A refused token says nothing about the payment, so the answer counts as not sent. The reversal may be
            // retried immediately with a new token.
            let token = matches!(reply.status, 401 | 403);
            return if token { ReversalAnswer::NotSent { why } } else { ReversalAnswer::Refused { why } };
        }
        None => {}
    }
    let answer = read(reply, asked, assumptions);
    if let (Some(body), false) = (object(&reply.body), matches!(answer, Answer::Throttled(_))) {
        if text_at(&body, "/referencedId").is_some_and(|id| PaymentId::new(id) != *payment) {
            return ReversalAnswer::Unknown { why: Reason::AnotherPaymentAnswered.into() };
        }
        if text_at(&body, "/id").is_some_and(|id| PaymentId::new(id) == *payment) {
            return ReversalAnswer::Unknown { why: Reason::AnotherPaymentAnswered.with(payment) };
        }
    }
    match answer {
        Answer::Approved(approval) => ReversalAnswer::Done { id: approval.id, amount: approval.amount },
        // A declined reversal is always looked up.
        Answer::Declined(refusal) | Answer::DeclinedInDoubt(refusal) => {
            ReversalAnswer::Refused { why: Cause { reason: Reason::ReversalRefused, ..refusal.why } }
        }
        // A request that was not processed counts as not sent, so the reversal may be retried.
        Answer::Throttled(refusal) => ReversalAnswer::NotSent { why: refusal.why },
        Answer::Pending { id, .. } => ReversalAnswer::Unknown { why: Reason::NotDecidedYet.with(id) },
        // The request was sent and was invalid. Sending it again would give the same result.
        Answer::NotSent { why } => ReversalAnswer::Refused { why: Cause { reason: Reason::ReversalRefused, ..why } },
        Answer::Unknown { why } | Answer::NotOurs { why } => ReversalAnswer::Unknown { why },
    }
}

fn read(reply: &Reply, asked: &Expected, assumptions: &Assumptions) -> Answer {
    let status = reply.status;
    if status >= 500 {
        return unknown(Reason::GatewayOutOfOrder.with(format_args!("HTTP {status}")));
    }
    let Some(body) = object(&reply.body) else {
        return unknown(Reason::AnswerUnclear.with(format_args!("HTTP {status}, not a JSON object")));
    };
    if let Some(why) = another_reference(&body, asked) {
        return unknown(why);
    }
    let code = text_at(&body, "/result/code").unwrap_or("");
    let ours = |answer: Answer| another_kind(&body, asked).map_or(answer, |why| Answer::NotOurs { why });
    match code::class(code, assumptions) {
        // A throttled answer has the id of the request, and no field of a payment (interface: Behaviour).
        Some(Class::Throttled) if holds_a_payment(&body, asked) => unknown(contradictory(status)),
        Some(Class::Throttled) => Answer::Throttled(Box::new(refusal(&body, Reason::GatewayThrottles))),
        Some(Class::Approved) if status == 200 => ours(approval(&body, asked)),
        Some(Class::Pending) if status == 200 => ours(pending(&body)),
        Some(Class::Approved | Class::Pending) => unknown(contradictory(status)),
        _ if status == 200 && is_redirected(&body) => ours(pending(&body)),
        Some(Class::Declined) | None if status == 400 && code::is_invalid_request(code, assumptions) => {
            Answer::NotSent { why: refusal(&body, Reason::RequestNotPossible).why }
        }
        Some(Class::Declined) => {
            let refusal = Box::new(refusal(&body, why_declined(&body, assumptions)));
            // In the interface, a failed payment has HTTP status 400.
            let is_proved = status == 400 || (status == 200 && assumptions.believe_declines_at_200);
            if is_proved { Answer::Declined(refusal) } else { Answer::DeclinedInDoubt(refusal) }
        }
        None if status == 400 && code::is_declined_at_400(code, assumptions) => {
            Answer::Declined(Box::new(refusal(&body, why_declined(&body, assumptions))))
        }
        _ => unknown(strange_code(&body)),
    }
}

/// Returns the cause if an answer has another `merchantTransactionId`, because it then cannot belong to the request.
fn another_reference(body: &Value, asked: &Expected) -> Option<Cause> {
    let echo = text_at(body, "/merchantTransactionId")?;
    (echo != asked.merchant_transaction_id).then(|| Reason::AnotherPaymentAnswered.with("merchantTransactionId"))
}

/// Returns the cause if an answer has another `paymentType`, because it then cannot belong to the request.
fn another_kind(body: &Value, asked: &Expected) -> Option<Cause> {
    let kind = match body.get("paymentType") {
        None | Some(Value::Null) => return None,
        Some(kind) => kind.as_str().unwrap_or(""),
    };
    // The cause quotes the value only if it is two capital letters, which cannot contain other data.
    let shown = Some(kind).filter(|kind| kind.len() == 2 && kind.bytes().all(|byte| byte.is_ascii_uppercase()));
    let shown = shown.unwrap_or("?");
    (kind != asked.payment_type).then(|| Reason::AnotherPaymentAnswered.with(format_args!("paymentType {shown}")))
}

/// Checks whether the payment needs more steps and is therefore pending (interface: States and transitions).
fn is_redirected(body: &Value) -> bool {
    body.pointer("/redirect").is_some_and(Value::is_object)
}

/// Returns the address at which the customer must act (interface: Asynchronous payments), if it is safe to show. It
/// must use https and visible ASCII. It must not have a user name before the host that could pass for a host. It must
/// contain nothing that looks like a card number.
fn redirect_url(body: &Value) -> Option<String> {
    let url = text_at(body, "/redirect/url").filter(|url| url.len() <= MAX_REDIRECT)?;
    let host = url.strip_prefix("https://")?.split(['/', '?', '#', '\\']).next()?;
    let is_fit = !host.is_empty() && !host.contains('@') && url.bytes().all(|byte| byte.is_ascii_graphic());
    (is_fit && mask_pans(url) == url).then(|| url.to_owned())
}

fn approval(body: &Value, asked: &Expected) -> Answer {
    let Some(id) = payment_id(body) else {
        return unknown(Reason::AnswerUnclear.with("approved, no payment id"));
    };
    Answer::Approved(Box::new(Approval {
        id,
        amount: amount(body, Some(asked.amount.currency())),
        for_chip: for_chip(body),
        facts: facts(body),
    }))
}

fn pending(body: &Value) -> Answer {
    match payment_id(body) {
        Some(id) => Answer::Pending { id, redirect: redirect_url(body) },
        None => unknown(Reason::AnswerUnclear.with("not decided, no payment id")),
    }
}

fn refusal(body: &Value, reason: Reason) -> Refusal {
    let facts = facts(body);
    let detail = facts.description.clone().or_else(|| facts.code.clone());
    Refusal { why: Cause { reason, detail }, for_chip: for_chip(body), facts }
}

/// Returns the issuer's demand after a decline, if the gateway passes it on (interface: Payment response fields).
fn why_declined(body: &Value, assumptions: &Assumptions) -> Reason {
    let is_listed = |field: &str, list: &[String]| {
        let said = text_at(body, field).map(str::trim);
        said.is_some_and(|said| list.iter().any(|code| code.eq_ignore_ascii_case(said)))
    };
    let (response, advice) = ("/resultDetails/AcquirerResponse", "/resultDetails/MerchantAdviceCode");
    if is_listed(response, &assumptions.do_not_try_again) || is_listed(advice, &assumptions.advice_do_not_try_again) {
        return Reason::DoNotTryAgain;
    }
    if is_listed(response, &assumptions.insert_and_pin) { Reason::InsertAndPin } else { Reason::BankDeclined }
}

/// Checks whether HTTP status 401, 403 or 404 means that the gateway did not accept a POST (interface: Errors). If so,
/// it returns the cause. A body that names a payment or says that something was done contradicts the status. The
/// outcome is then unknown, and the cause is returned as an error.
fn refused_request(reply: &Reply, asked: &Expected, assumptions: &Assumptions) -> Option<Result<Cause, Cause>> {
    let status = reply.status;
    let reason = match status {
        401 | 403 => Reason::GatewayRefusesToken,
        404 => Reason::GatewayWrongAddress,
        _ => return None,
    };
    let what = reason.with(format_args!("HTTP {status}"));
    let Some(body) = object(&reply.body) else { return Some(Ok(what)) };
    let class = text_at(&body, "/result/code").and_then(|code| code::class(code, assumptions));
    if class == Some(Class::Throttled) {
        // The request was not processed; the id in the body is that of the request.
        return None;
    }
    if speaks_of_a_payment(&body, class, asked) {
        return Some(Err(contradictory(status)));
    }
    Some(Ok(what))
}

/// Checks that a 307 answer to a POST that moves money may be followed. It may not be followed if its body names a
/// payment or says that something was done.
///
/// # Errors
/// Returns the reason, as a sentence, if the redirect may not be followed.
pub(super) fn may_be_sent_elsewhere(reply: &Reply, asked: &Expected, assumptions: &Assumptions) -> Result<(), String> {
    let Some(body) = object(&reply.body) else { return Ok(()) };
    let class = text_at(&body, "/result/code").and_then(|code| code::class(code, assumptions));
    if speaks_of_a_payment(&body, class, asked) {
        let status = reply.status;
        return Err(format!("the gateway redirects (HTTP {status}), but its answer describes a payment"));
    }
    Ok(())
}

/// Checks whether the body contradicts an HTTP status that means "not accepted", because it names a payment or says
/// that something was done.
fn speaks_of_a_payment(body: &Value, class: Option<Class>, asked: &Expected) -> bool {
    let done = matches!(class, Some(Class::Approved | Class::Pending)) || is_redirected(body);
    done || payment_id(body).is_some() || holds_a_payment(body, asked)
}

/// Checks whether a body contains a payment at any depth, recognised by the gateway reference, the kind or the amount.
fn holds_a_payment(body: &Value, asked: &Expected) -> bool {
    match body {
        Value::Object(fields) => {
            let is_there = |name: &str| fields.get(name).is_some_and(|value| !value.is_null());
            let ours = text_at(body, "/merchantTransactionId") == Some(&asked.merchant_transaction_id);
            let foreign = !ours && is_there("merchantTransactionId");
            ours || (!foreign && ["paymentType", "amount"].into_iter().any(is_there))
                || fields.values().any(|value| holds_a_payment(value, asked))
        }
        Value::Array(values) => values.iter().any(|value| holds_a_payment(value, asked)),
        _ => false,
    }
}

/// Reads `amount` and `currency`. Without a `currency`, the amount is in `or_in`.
pub(super) fn amount(body: &Value, or_in: Option<Currency>) -> ApprovedAmount {
    let currency = match body.get("currency") {
        None | Some(Value::Null) => or_in,
        Some(Value::String(code)) => Currency::from_code(code).ok(),
        Some(_) => None,
    };
    let said = match body.get("amount") {
        // An unexpected currency is reported even without an amount.
        None | Some(Value::Null) if currency.is_some() && (or_in.is_none() || currency == or_in) => {
            return ApprovedAmount::NotSaid;
        }
        Some(Value::String(amount)) => currency.and_then(|currency| Amount::from_gateway(amount, currency).ok()),
        _ => None,
    };
    said.map_or(ApprovedAmount::Unreadable, ApprovedAmount::Said)
}

/// Returns the `id` if it consists of 32 letters and digits (interface: Resources).
pub(super) fn payment_id(body: &Value) -> Option<PaymentId> {
    text_at(body, "/id").filter(|id| is_payment_id(id)).map(PaymentId::new)
}

/// Checks that an id consists of 32 letters and digits.
pub(super) fn is_payment_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Parses the body as one JSON object with nothing after it.
fn object(body: &[u8]) -> Option<Value> {
    json::read(body).filter(Value::is_object)
}

/// Returns the text at a JSON pointer.
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

/// Returns the fields that may be kept, after cleaning them and checking their format. Holder and expiry are never
/// kept; of a PAN, at most these ten digits are kept.
fn facts(body: &Value) -> HostFacts {
    let text = |pointer: &str| text_at(body, pointer).and_then(|text| text::clean(text, LineFeeds::Join));
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
        status_text: text_at(body, "/pos/statusText").and_then(text::clean_lines),
        acquirer_code: text("/pos/clearing/authorizationAcquirerCode"),
        issuer_code: text("/pos/clearing/authorizationIssuerCode"),
        clearing_identifier: text("/pos/clearing/identifier"),
        merchant_id: text("/pos/merchantId"),
        pos_timestamp: text("/pos/timestamp"),
        timestamp: text("/timestamp"),
        ndc: text("/ndc"),
        more: other_fields::rest(body),
    }
}

fn unknown(why: Cause) -> Answer {
    Answer::Unknown { why }
}

/// Returns the cause of an answer whose HTTP status and body contradict each other.
fn contradictory(status: u16) -> Cause {
    Reason::AnswerUnclear.with(format_args!("HTTP {status} and the body contradict each other"))
}

/// Returns the cause of an answer whose result code is on no list. It shows the code only if the form of the code is
/// valid.
fn strange_code(body: &Value) -> Cause {
    let code = text_at(body, "/result/code").and_then(|code| text::clean(code, LineFeeds::Join)).unwrap_or_default();
    let is_one = code.len() <= 16 && code.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    Reason::CodeUnknown.with(if is_one { &code } else { "" })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ID: &str = "8ac7a4a08f0c1d2e018f0c3b5a6b7c8d";

    fn asked() -> Expected {
        let amount = Amount::parse("12.34", Currency::from_code("EUR").unwrap()).unwrap();
        Expected { merchant_transaction_id: "4711-1-aa".to_owned(), amount, payment_type: "DB".to_owned() }
    }

    /// Returns the same as [`asked`], for the reversal of `ID`.
    fn asked_reversal() -> Expected {
        Expected { payment_type: "RV".to_owned(), ..asked() }
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
    fn a_decline_says_what_the_issuer_wants() {
        let declined = |details: &str| {
            let body = format!(
                r#"{{"id":"{ID}","result":{{"code":"800.100.152","description":"no"}},"resultDetails":{details}}}"#
            );
            match answer(400, &body) {
                Answer::Declined(refusal) => refusal.why,
                other => panic!("{other:?}"),
            }
        };
        for (details, reason) in [
            (r#"{"AcquirerResponse":"65"}"#, Reason::InsertAndPin),
            (r#"{"AcquirerResponse":" 1a "}"#, Reason::InsertAndPin),
            (r#"{"AcquirerResponse":"43"}"#, Reason::DoNotTryAgain),
            (r#"{"MerchantAdviceCode":"03"}"#, Reason::DoNotTryAgain),
            (r#"{"AcquirerResponse":"65","MerchantAdviceCode":"21"}"#, Reason::DoNotTryAgain),
            (r#"{"AcquirerResponse":"03"}"#, Reason::BankDeclined),
            (r#"{"MerchantAdviceCode":"65"}"#, Reason::BankDeclined),
            (r#"{"AcquirerResponse":"651"}"#, Reason::BankDeclined),
            (r#"{"AcquirerResponse":65}"#, Reason::BankDeclined),
            ("{}", Reason::BankDeclined),
            ("null", Reason::BankDeclined),
        ] {
            assert_eq!(declined(details), reason.with("no"), "{details}");
        }
    }

    /// Lists the cases: HTTP status | the body's fields in addition to the reversal's id and kind | the outcome of the
    /// reversal.
    #[test]
    fn a_reversal_is_what_its_answer_says_and_nothing_of_what_was_asked() {
        let amount = |minor, code: &str| Amount::from_minor(minor, Currency::from_code(code).unwrap()).unwrap();
        let said = |minor, code: &str| Some(ApprovedAmount::Said(amount(minor, code)));
        let approved = r#""result":{"code":"000.100.110"}"#;
        let declined = r#""result":{"code":"800.100.152","description":"declined"}"#;
        for (status, more, done) in [
            (200, format!(r#"{approved},"amount":"12.34","currency":"EUR""#), said(1234, "EUR")),
            (200, format!(r#"{approved},"amount":"6.17","currency":"EUR""#), said(617, "EUR")),
            (200, format!(r#"{approved},"amount":"12.35","currency":"EUR""#), said(1235, "EUR")),
            (200, format!(r#"{approved},"amount":"12.34","currency":"USD""#), said(1234, "USD")),
            (200, format!(r#"{approved},"amount":"12.34""#), said(1234, "EUR")),
            (200, approved.to_owned(), Some(ApprovedAmount::NotSaid)),
            (200, format!(r#"{approved},"currency":"USD""#), Some(ApprovedAmount::Unreadable)),
            (200, format!(r#"{approved},"amount":"12,34","currency":"EUR""#), Some(ApprovedAmount::Unreadable)),
        ] {
            let body = format!(r#"{{"id":"{}","paymentType":"RV",{more}}}"#, "b".repeat(32));
            let reply = Reply { status, location: None, body: body.clone().into_bytes() };
            let answer = reversal(&reply, &PaymentId::new(ID), &asked_reversal(), &Assumptions::default());
            let ReversalAnswer::Done { id, amount } = answer else { panic!("HTTP {status} {body}: {answer:?}") };
            assert_eq!((id, Some(amount)), (PaymentId::new("b".repeat(32)), done), "{body}");
        }
        let is = |status, body: &str| {
            let reply = Reply { status, location: None, body: body.as_bytes().to_vec() };
            match reversal(&reply, &PaymentId::new(ID), &asked_reversal(), &Assumptions::default()) {
                ReversalAnswer::Done { .. } => "done",
                ReversalAnswer::Refused { .. } => "refused",
                ReversalAnswer::NotSent { .. } => "not sent",
                ReversalAnswer::HeldBack { .. } => "held back",
                ReversalAnswer::Unknown { .. } => "unknown",
            }
        };
        let of = |kind: &str, more: &str| format!(r#"{{"id":"{}","paymentType":"{kind}",{more}}}"#, "b".repeat(32));
        for (status, body, became) in [
            (200, of("RV", declined), "refused"),
            (400, of("RV", declined), "refused"),
            (400, r#"{"result":{"code":"200.300.404"}}"#.to_owned(), "refused"),
            (400, of("RV", approved), "unknown"),
            (201, of("RV", approved), "unknown"),
            (500, of("RV", declined), "unknown"),
            (200, of("DB", approved), "unknown"),
            (200, of("RV", r#""result":{"code":"000.200.000"}"#), "unknown"),
            (200, of("RV", r#""result":{"code":"100.400.500"}"#), "unknown"),
            (200, of("RV", r#""result":{"code":"800.120.100"}"#), "unknown"),
            (200, format!(r#"{{"id":"{ID}","result":{{"code":"800.120.100"}}}}"#), "not sent"),
            (401, "{}".to_owned(), "not sent"),
            (404, "{}".to_owned(), "refused"),
            (404, of("RV", approved), "unknown"),
            (200, String::new(), "unknown"),
        ] {
            assert_eq!(is(status, &body), became, "HTTP {status} {body}");
        }
    }

    #[test]
    fn what_is_not_an_approval_is_told_apart() {
        let coded = |code: &str| format!(r#"{{"id":"{ID}","result":{{"code":"{code}"}}}}"#);
        let kind = |status, body: &str| match answer(status, body) {
            Answer::Approved(_) => "approved",
            Answer::Declined(_) => "declined",
            Answer::DeclinedInDoubt(_) => "in doubt",
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
            (200, coded("800.100.152"), "in doubt"),
            (400, coded("800.100.152"), "declined"),
            (400, coded("800.120.100"), "throttled"),
            (429, coded("800.120.100"), "throttled"),
            (503, coded("800.120.100"), "unknown"),
            (200, redirect.clone(), "pending"),
            (400, redirect, "declined"),
            (400, coded("000.000.000"), "unknown"),
            (201, coded("000.000.000"), "unknown"),
            (202, coded("800.100.152"), "in doubt"),
            (402, coded("300.100.100"), "in doubt"),
            (200, coded("200.300.404"), "in doubt"),
            (400, coded("200.300.404"), "not sent"),
            (400, r#"{"amount":"12.34","result":{"code":"200.300.404"}}"#.to_owned(), "not sent"),
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
            (401, String::new(), "not sent"),
            (403, "garbage".to_owned(), "not sent"),
            (404, r#"{"result":{"code":"200.300.404"}}"#.to_owned(), "not sent"),
            (405, coded("200.300.404"), "in doubt"),
            (200, approved().replace("4711-1-aa", "4711-1-ab"), "unknown"),
        ] {
            assert_eq!(kind(status, &body), expected, "HTTP {status} {body}");
        }
    }

    #[test]
    fn a_refused_request_that_names_a_payment_is_unknown() {
        for status in [401, 403, 404] {
            for (body, refused) in [
                (String::new(), true),
                ("garbage".to_owned(), true),
                (r#"{"result":{"code":"200.300.404"}}"#.to_owned(), true),
                (r#"{"id":"n-1","result":{"code":"900.100.100"}}"#.to_owned(), true),
                (r#"{"merchantTransactionId":"4711-2-bb","result":{"code":"200.300.404"}}"#.to_owned(), true),
                // The body says that something was done, or names its payment.
                (r#"{"result":{"code":"000.000.000"}}"#.to_owned(), false),
                (r#"{"result":{"code":"000.200.000"}}"#.to_owned(), false),
                (r#"{"redirect":{"url":"https://x"}}"#.to_owned(), false),
                (format!(r#"{{"id":"{ID}","result":{{"code":"800.100.152"}}}}"#), false),
                (r#"{"merchantTransactionId":"4711-1-aa","result":{"code":"800.100.152"}}"#.to_owned(), false),
                (approved(), false),
                (format!(r#"{{"payments":[{}]}}"#, approved()), false),
                (format!(r#"{{"data":{{"payment":{}}}}}"#, approved()), false),
            ] {
                assert_eq!(matches!(answer(status, &body), Answer::NotSent { .. }), refused, "HTTP {status} {body}");
                assert_eq!(matches!(answer(status, &body), Answer::Unknown { .. }), !refused, "HTTP {status} {body}");
                let reply = Reply { status, location: None, body: body.as_bytes().to_vec() };
                let reversed =
                    reversal(&reply, &PaymentId::new("d".repeat(32)), &asked_reversal(), &Assumptions::default());
                assert_eq!(
                    matches!(reversed, ReversalAnswer::Unknown { .. }),
                    !refused,
                    "HTTP {status} {body}: {reversed:?}"
                );
            }
            // A throttled request was not processed; the id is that of the request.
            let throttled = format!(r#"{{"id":"{ID}","result":{{"code":"800.120.100"}}}}"#);
            assert!(matches!(answer(status, &throttled), Answer::Throttled(_)), "{status}");
            let reply = Reply { status, location: None, body: throttled.into_bytes() };
            let reversed = reversal(&reply, &PaymentId::new(ID), &asked_reversal(), &Assumptions::default());
            assert!(matches!(reversed, ReversalAnswer::NotSent { .. }), "{reversed:?}");
        }
        // With a payment in the body, the outcome is unknown.
        for status in [200, 400, 401, 403, 404, 429] {
            for more in [r#""merchantTransactionId":"4711-1-aa""#, r#""paymentType":"DB""#, r#""amount":"12.34""#] {
                let body = format!(r#"{{"id":"{ID}",{more},"result":{{"code":"800.120.100"}}}}"#);
                assert!(matches!(answer(status, &body), Answer::Unknown { .. }), "HTTP {status} {body}");
            }
        }
    }

    #[test]
    fn an_answer_of_another_kind_is_not_ours() {
        for kind in ["RV", "PA", "db", ""] {
            let body = approved().replace("\"DB\"", &format!("\"{kind}\""));
            assert!(matches!(answer(200, &body), Answer::NotOurs { .. }), "{body}");
            let pending = body.replace("000.100.110", "000.200.000");
            assert!(matches!(answer(200, &pending), Answer::NotOurs { .. }), "{pending}");
        }
        assert!(matches!(answer(200, &approved().replace("\"DB\"", "7")), Answer::NotOurs { .. }));
        assert!(matches!(answer(200, &approved().replace("\"DB\"", "null")), Answer::Approved(_)), "absent");
    }

    #[test]
    fn a_code_on_no_list_is_unknown_whatever_it_looks_like() {
        let coded = |code: &str| format!(r#"{{"id":"{ID}","result":{{"code":"{code}"}}}}"#);
        for code in
            ["00", "10", "000", "000.000.", "800.", "800.100", "1.2.3.4.5.6", "800.100.1522", "900.100.100", "999"]
        {
            for status in [200, 400, 402] {
                let kind = answer(status, &coded(code));
                assert!(matches!(kind, Answer::Unknown { .. }), "HTTP {status} {code}: {kind:?}");
            }
        }
        // Other gateways use these codes for pending, uncertain or a system error.
        for code in [
            "100.400.500",
            "800.400.500",
            "600.100.100",
            "800.500.100",
            "800.600.100",
            "800.700.100",
            "800.800.400",
            "800.800.800",
        ] {
            for status in [200, 400] {
                assert!(matches!(answer(status, &coded(code)), Answer::Unknown { .. }), "HTTP {status} {code}");
            }
        }
        for code in ["100.400.501", "800.400.100", "800.800.100", "600.200.100"] {
            assert!(matches!(answer(400, &coded(code)), Answer::Declined(_)), "{code}");
        }
    }

    #[test]
    fn a_decline_at_200_is_believed_where_the_gateway_is_known_to_decline_so() {
        let assumptions = Assumptions { believe_declines_at_200: true, ..Assumptions::default() };
        let read = |status| {
            let body = format!(r#"{{"id":"{ID}","result":{{"code":"300.100.100"}}}}"#).into_bytes();
            payment(&Reply { status, location: None, body }, &asked(), &assumptions)
        };
        assert!(matches!(read(200), Answer::Declined(_)) && matches!(read(400), Answer::Declined(_)));
        assert!(matches!(read(402), Answer::DeclinedInDoubt(_)));
    }

    #[test]
    fn further_codes_are_declined_with_400_alone() {
        let further = ["910.", "00", "900."].map(str::to_owned).to_vec();
        let assumptions = Assumptions { declined_at_400: further, ..Assumptions::default() };
        let read = |status, code: &str| {
            let body = format!(r#"{{"id":"{ID}","result":{{"code":"{code}"}}}}"#).into_bytes();
            payment(&Reply { status, location: None, body }, &asked(), &assumptions)
        };
        assert!(matches!(read(400, "910.100.100"), Answer::Declined(_)));
        assert!(matches!(read(400, "00"), Answer::Declined(_)));
        assert!(matches!(read(200, "910.100.100"), Answer::Unknown { .. }));
        assert!(matches!(read(402, "910.100.100"), Answer::Unknown { .. }));
        assert!(matches!(read(400, "900.100.100"), Answer::Unknown { .. }), "uncertain comes first");
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
    fn a_refused_request_is_not_sent_and_a_decline_is_the_banks() {
        for (status, reason) in
            [(401, Reason::GatewayRefusesToken), (403, Reason::GatewayRefusesToken), (404, Reason::GatewayWrongAddress)]
        {
            let Answer::NotSent { why } = answer(status, "") else { panic!() };
            assert_eq!(why, reason.with(format!("HTTP {status}")));
        }
        let Answer::Declined(refusal) = answer(400, r#"{"result":{"code":"800.100.152"}}"#) else { panic!() };
        assert_eq!(refusal.why, Reason::BankDeclined.with("800.100.152"));
    }

    #[test]
    fn a_card_number_in_the_wrong_field_is_not_kept() {
        let body = approved().replace("\"476173\"", "\"4761739001010119\"").replace("\"0119\"", "\"4761739001010119\"");
        let Answer::Approved(approval) = answer(200, &body) else { panic!() };
        assert_eq!((approval.facts.bin, approval.facts.last4), (None, None));
    }

    #[test]
    fn the_answer_to_a_question_is_the_payments_only_when_it_is_about_it() {
        let get = |status, body: &str| {
            let reply = Reply { status, location: None, body: body.as_bytes().to_vec() };
            retrieval(&reply, &PaymentId::new(ID), &asked(), &Assumptions::default())
        };
        assert!(matches!(get(200, &approved()), Answer::Approved(_)));
        // An answer about the request itself also has an id and a code.
        let said =
            |code: &str, more: &str| format!(r#"{{"id":"{ID}","result":{{"code":"{code}"}},"ndc":"n-1"{more}}}"#);
        for code in ["800.120.100", "200.300.404", "800.100.152", "000.000.000", "000.200.000", "700.400.580"] {
            assert!(matches!(get(200, &said(code, "")), Answer::Unknown { .. }), "{code}");
            assert!(matches!(get(400, &said(code, "")), Answer::Unknown { .. }), "{code}");
        }
        for more in [r#","paymentType":"DB""#, r#","merchantTransactionId":"4711-1-aa""#, r#","amount":"12.34""#] {
            assert!(matches!(get(200, &said("800.100.152", more)), Answer::Declined(_)), "{more}");
            assert!(matches!(get(200, &said("000.000.000", more)), Answer::Approved(_)), "{more}");
            assert!(matches!(get(200, &said("000.200.000", more)), Answer::Pending { .. }), "{more}");
            // A request can be throttled, but a payment cannot.
            assert!(matches!(get(200, &said("800.120.100", more)), Answer::Unknown { .. }), "{more}");
        }
        assert!(matches!(get(200, &said("800.100.152", r#","amount":null"#)), Answer::Unknown { .. }));
        // Another payment's id raises an alarm. An answer without an id is about the request.
        assert!(matches!(get(200, &approved().replace(ID, &"0".repeat(32))), Answer::NotOurs { .. }));
        assert!(matches!(get(200, &approved().replace(ID, "short")), Answer::Unknown { .. }));
        for status in [400, 401, 403, 404] {
            assert!(matches!(get(status, r#"{"result":{"code":"200.300.404"}}"#), Answer::Unknown { .. }), "{status}");
            assert!(
                matches!(get(status, &said("800.100.152", r#","amount":"12.34""#)), Answer::Unknown { .. }),
                "{status}"
            );
        }
    }

    #[test]
    fn what_is_said_of_a_pending_payment_is_held_against_what_was_asked() {
        let get = |body: &str| {
            let reply = Reply { status: 200, location: None, body: body.as_bytes().to_vec() };
            retrieval(&reply, &PaymentId::new(ID), &asked(), &Assumptions::default())
        };
        for code in ["000.100.110", "000.200.000", "800.100.152"] {
            let body = approved().replace("000.100.110", code);
            assert!(!matches!(get(&body), Answer::NotOurs { .. } | Answer::Unknown { .. }), "{body}");
            for (ours, other) in
                [("4711-1-aa", "somebody-else"), ("4711-1-aa", ""), ("\"DB\"", "\"RF\""), ("\"DB\"", "7")]
            {
                let body = body.replace(ours, other);
                assert!(matches!(get(&body), Answer::NotOurs { .. }), "{body}: {:?}", get(&body));
            }
            let redirected = body.replace(code, "100.100.101").replace("\"DB\"", "\"RF\"");
            let redirected = redirected.replace("\"ndc\"", "\"redirect\":{\"url\":\"https://x\"},\"ndc\"");
            assert!(matches!(get(&redirected), Answer::NotOurs { .. }), "{redirected}");
        }
        let Answer::Approved(approval) = get(&approved().replace("\"currency\":\"EUR\",", "")) else { panic!() };
        assert_eq!(approval.amount, ApprovedAmount::Said(asked().amount), "in the currency asked for");
    }

    #[test]
    fn where_the_customer_must_act_is_an_https_address_that_a_person_can_be_shown() {
        let redirect = |url: &str| {
            let body = serde_json::json!({"id": ID, "result": {"code": "000.200.000"}, "redirect": {"url": url}});
            match answer(200, &body.to_string()) {
                Answer::Pending { redirect, .. } => redirect,
                other => panic!("{url}: {other:?}"),
            }
        };
        let long = |length: usize| format!("https://bank.test/{}", "x".repeat(length - 18));
        for url in ["https://bank.test", "https://bank.test:8443/3ds?a=1#b", &long(2048)] {
            assert_eq!(redirect(url).as_deref(), Some(url));
        }
        for url in [
            "http://bank.test/",
            "javascript:alert(1)",
            "https://",
            "https:///path",
            "https://bank.test@evil.test/",
            "https://bank.test/\u{1b}[2J",
            "https://bank.test/\u{202e}",
            "https://bank.test/a b",
            "https://bank.test/4761739001010119",
            &long(2049),
        ] {
            assert_eq!(redirect(url), None, "{url}");
        }
    }

    #[test]
    fn a_card_that_is_not_there_any_more_is_forgotten() {
        let id = PaymentId::new(ID);
        for (code, is_done) in [("100.150.200", true), ("100.150.202", true), ("100.150.203", false)] {
            let body = format!(r#"{{"result":{{"code":"{code}"}}}}"#);
            let done = deregistration(answer(400, &body), &id);
            assert_eq!(matches!(done, Answer::Approved(ref approval) if approval.id == id), is_done, "{code}");
        }
        let other = deregistration(answer(200, &approved()), &PaymentId::new("f".repeat(32)));
        assert!(matches!(other, Answer::NotOurs { .. }), "another card was forgotten: {other:?}");
    }

    #[test]
    fn a_person_is_shown_a_payment_or_told_why_there_is_none() {
        let shown = |status, body: &str| Reply { status, location: None, body: body.as_bytes().to_vec() }.shown();
        let declined = format!(r#"{{"id":"{ID}","result":{{"code":"800.100.152"}}}}"#);
        let malformed = r#"{"result":{"code":"200.300.404","description":"no\u001b such parameter"}}"#;
        for (status, body) in [(200, "{}"), (200, malformed), (200, declined.as_str()), (400, &declined)] {
            assert_eq!(shown(status, body), Ok(serde_json::from_str(body).unwrap()), "HTTP {status} {body}");
        }
        for (status, body, why) in [
            (400, malformed, "HTTP 400: no such parameter"),
            (400, "{}", "HTTP 400"),
            (200, "no JSON", "HTTP 200"),
            (
                401,
                declined.as_str(),
                "it refuses the terminal's access token (HTTP 401); check token-file in [gateway]",
            ),
            (403, "", "it refuses the terminal's access token (HTTP 403); check token-file in [gateway]"),
            (404, malformed, "it knows no such payment (HTTP 404): no such parameter"),
            (500, &declined, "HTTP 500"),
        ] {
            assert_eq!(shown(status, body), Err(why.to_owned()), "HTTP {status} {body}");
        }
    }

    #[test]
    fn a_payment_that_wants_more_steps_is_pending_whatever_its_code() {
        let body = format!(r#"{{"id":"{ID}","paymentType":"DB","redirect":{{}},"result":{{"code":"999.1.1"}}}}"#);
        let reply = Reply { status: 200, location: None, body: body.into_bytes() };
        let of_question = retrieval(&reply, &PaymentId::new(ID), &asked(), &Assumptions::default());
        for answer in [of_question, payment(&reply, &asked(), &Assumptions::default())] {
            assert!(matches!(&answer, Answer::Pending { id, .. } if id.as_str() == ID), "{answer:?}");
        }
    }

    /// Returns the cause of an unknown outcome, as a technician reads it.
    #[test]
    fn a_status_that_contradicts_the_body_is_told_from_a_code_on_no_list() {
        for code in ["000.100.110", "000.200.000"] {
            for status in [201, 400] {
                let body = format!(r#"{{"id":"{ID}","paymentType":"DB","result":{{"code":"{code}"}}}}"#);
                let Answer::Unknown { why } = answer(status, &body) else { panic!("HTTP {status} {body}") };
                assert_eq!(why, contradictory(status), "{code}");
            }
        }
        let longest = "1".repeat(16);
        for (code, shown) in [
            ("999.999.999", Some("999.999.999")),
            (&longest, Some(&longest)),
            (&"1".repeat(17), None),
            ("declined", None),
            ("1,2", None),
        ] {
            let body = format!(r#"{{"id":"{ID}","result":{{"code":"{code}"}}}}"#);
            let Answer::Unknown { why } = answer(200, &body) else { panic!("{code}") };
            assert_eq!((why.reason, why.detail.as_deref()), (Reason::CodeUnknown, shown), "{code}");
        }
    }

    #[test]
    fn of_another_kind_only_two_capital_letters_are_repeated() {
        for (kind, shown) in [("CP", "CP"), ("cp", "?"), ("RVX", "?"), ("4761739001010119", "?"), ("", "?")] {
            let body = approved().replace("\"paymentType\":\"DB\"", &format!("\"paymentType\":\"{kind}\""));
            let Answer::NotOurs { why } = answer(200, &body) else { panic!("{kind}") };
            assert_eq!(why, Reason::AnotherPaymentAnswered.with(format_args!("paymentType {shown}")));
        }
    }

    #[test]
    fn what_speaks_of_a_payment_is_not_sent_elsewhere_and_not_taken_for_unsent() {
        let ours = r#"[{"merchantTransactionId":"4711-1-aa"}]"#;
        let others = r#"[{"merchantTransactionId":"4711-2-bb","amount":"1.00","paymentType":"DB"}]"#;
        for (body, speaks) in [
            ("{}".to_owned(), false),
            (format!(r#"{{"payments":{others}}}"#), false),
            (format!(r#"{{"payments":{ours}}}"#), true),
            (r#"{"payments":[{"amount":"1.00"}]}"#.to_owned(), true),
            (format!(r#"{{"id":"{ID}"}}"#), true),
            (r#"{"result":{"code":"000.100.110"}}"#.to_owned(), true),
            (r#"{"redirect":{}}"#.to_owned(), true),
        ] {
            let redirect = Reply { status: 307, location: None, body: body.clone().into_bytes() };
            assert_eq!(may_be_sent_elsewhere(&redirect, &asked(), &Assumptions::default()).is_err(), speaks, "{body}");
            let refused = answer(401, &body);
            assert_eq!(matches!(refused, Answer::Unknown { .. }), speaks, "{body}: {refused:?}");
            assert_eq!(matches!(refused, Answer::NotSent { .. }), !speaks, "{body}: {refused:?}");
        }
    }

    #[test]
    fn a_refused_reversal_is_told_from_a_declined_payment() {
        let body = r#"{"paymentType":"RV","result":{"code":"800.100.152","description":"too late"}}"#;
        let reply = Reply { status: 200, location: None, body: body.as_bytes().to_vec() };
        let answer = reversal(&reply, &PaymentId::new(ID), &asked_reversal(), &Assumptions::default());
        let ReversalAnswer::Refused { why } = answer else { panic!("{answer:?}") };
        assert_eq!(why, Reason::ReversalRefused.with("too late"));
    }

    #[test]
    fn a_reversal_that_a_wrong_token_stopped_may_be_asked_again() {
        let reversed = |status| {
            let reply = Reply { status, location: None, body: Vec::new() };
            reversal(&reply, &PaymentId::new(ID), &asked_reversal(), &Assumptions::default())
        };
        for status in [401, 403] {
            assert!(matches!(reversed(status), ReversalAnswer::NotSent { .. }), "{status}");
        }
        assert!(matches!(reversed(404), ReversalAnswer::Refused { .. }));
    }

    #[test]
    fn the_answer_to_another_reversal_confirms_nothing() {
        let reversed = |fields: &str| {
            let body = format!(r#"{{"id":"{}","result":{{"code":"000.000.000"}}{fields}}}"#, "b".repeat(32));
            let reply = Reply { status: 200, location: None, body: body.into_bytes() };
            reversal(&reply, &PaymentId::new(ID), &asked_reversal(), &Assumptions::default())
        };
        assert!(matches!(reversed(""), ReversalAnswer::Done { .. }), "what is absent proves nothing");
        assert!(matches!(reversed(&format!(r#","referencedId":"{ID}""#)), ReversalAnswer::Done { .. }));
        let other = format!(r#","referencedId":"{}""#, "c".repeat(32));
        assert!(matches!(reversed(&other), ReversalAnswer::Unknown { .. }));
        assert!(matches!(reversed(r#","paymentType":"RV""#), ReversalAnswer::Done { .. }));
        assert!(matches!(reversed(r#","paymentType":"RF""#), ReversalAnswer::Unknown { .. }));
        // The transaction judges the reversed amount.
        let amount = Amount::parse("1.00", asked().amount.currency()).unwrap();
        let ReversalAnswer::Done { amount: said, .. } = reversed(r#","amount":1.0,"currency":"EUR""#) else { panic!() };
        assert_eq!(said, ApprovedAmount::Said(amount));
        // The payment's own id is not the id of a reversal.
        for code in ["000.000.000", "800.100.152", "000.200.000"] {
            let body = format!(r#"{{"id":"{ID}","result":{{"code":"{code}"}}}}"#).into_bytes();
            let reply = Reply { status: 200, location: None, body };
            let reversed = reversal(&reply, &PaymentId::new(ID), &asked_reversal(), &Assumptions::default());
            assert!(matches!(reversed, ReversalAnswer::Unknown { .. }), "{code}: {reversed:?}");
        }
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
            let _ = reversal(&reply, &PaymentId::new(ID), &asked_reversal(), &Assumptions::default());
            let _ = retrieval(&reply, &PaymentId::new(ID), &asked(), &Assumptions::default());
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
