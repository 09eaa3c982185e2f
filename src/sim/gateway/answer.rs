//! The gateway's answers as JSON, in the documented formats (data-model: Payment response fields, Point of sale).

use chrono::Utc;
use serde_json::{Value, json};

use super::form::{Form, Invalid};
use super::host::Delivery;
use super::ledger::{Entry, State};
use super::outcomes::Outcome;
use super::sealed::Card;

/// What every answer names as `buildNumber`.
const BUILD: &str = concat!("pos-sim-", env!("CARGO_PKG_VERSION"));

/// `pos.statusText` of the outcome with control bytes: ESC/POS initialise and drawer kick, bell, escape sequences, C1.
const HOSTILE_TEXT: &str = "APPROVED\u{1B}@\u{1B}p\u{0}\u{19}\u{FA}\u{7}\r\n\u{1B}[31mTHANK YOU\u{9B}2J\u{7F}\nLINE 3";

/// An approval's code, description and state.
pub(super) fn approved(test_mode: Option<&str>) -> (&'static str, &'static str, State) {
    match test_mode {
        Some("EXTERNAL") => ("000.000.000", "Transaction succeeded", State::Approved),
        // INTERNAL is the default (data-model: testMode).
        _ => ("000.100.110", "Request successfully processed in 'Merchant in Integrator Test Mode'", State::Approved),
    }
}

/// A payment or reversal, with the result of an approval.
pub(super) fn payment(entry: &Entry, card: Option<&Card>, icc: Option<&str>, outcome: Outcome, form: &Form) -> Value {
    let (code, description, _) = approved(form.get("testMode"));
    let mut answer = json!({
        "id": entry.id,
        "paymentType": entry.kind.as_str(),
        "amount": entry.amount,
        "currency": entry.currency,
        "result": result(code, description),
    });
    if let Some(reference) = &entry.merchant_transaction_id {
        answer["merchantTransactionId"] = json!(reference);
    }
    if let Some(id) = &entry.refers_to {
        answer["referencedId"] = json!(id);
    }
    for name in ["descriptor", "merchantInvoiceId"] {
        if let Some(value) = form.get(name) {
            answer[name] = json!(value);
        }
    }
    if let Some(card) = card {
        answer["card"] = json!({ "bin": &card.pan[..6], "last4Digits": &card.pan[card.pan.len() - 4..] });
        if let Some((year, month)) = card.expiry.as_deref().and_then(|expiry| expiry.split_at_checked(2)) {
            answer["card"]["expiryMonth"] = json!(month);
            answer["card"]["expiryYear"] = json!(format!("20{year}"));
        }
        if let Some(brand) = brand(&card.pan) {
            answer["paymentBrand"] = json!(brand);
            if form.get("paymentBrand").is_none() {
                answer["brandResult"] = json!(brand);
            }
        }
    }
    answer["pos"] = pos(entry, icc, outcome);
    stamped(answer)
}

fn pos(entry: &Entry, icc: Option<&str>, outcome: Outcome) -> Value {
    // Codes that differ from payment to payment, letters and digits as documented.
    let digest: u64 = entry.id.bytes().fold(7, |sum, c| sum.wrapping_mul(31).wrapping_add(u64::from(c)));
    let mut pos = json!({
        "merchantId": "SIM0000000000001",
        "timestamp": Utc::now().format("%Y-%m-%d %H:%M:%S").to_string(),
        "statusText": match outcome {
            Outcome::ControlBytes => HOSTILE_TEXT,
            _ => "SIMULATED GATEWAY\nNO REAL MONEY HAS MOVED",
        },
    });
    if entry.state != State::Declined {
        pos["clearing"] = json!({
            "authorizationAcquirerCode": format!("A{:05}", digest % 100_000),
            "authorizationIssuerCode": format!("{:06}", digest / 7 % 1_000_000),
            "identifier": entry.id[..15].to_uppercase(),
        });
    }
    if let Some(icc) = icc {
        pos["iccDataResponse"] = json!(icc);
    }
    pos
}

/// The brand of a PAN by its first digits; `None` for one that is not known.
pub(super) fn brand(pan: &str) -> Option<&'static str> {
    let first = |n: usize| pan.get(..n).and_then(|digits| digits.parse::<u32>().ok()).unwrap_or_default();
    match (first(1), first(2), first(4)) {
        (4, ..) => Some("VISA"),
        (_, 51..=55, _) | (.., 2221..=2720) => Some("MASTER"),
        (_, 34 | 37, _) => Some("AMEX"),
        (_, 35, _) => Some("JCB"),
        (_, 36 | 38, _) => Some("DINERS"),
        (.., 6011) | (_, 65, _) => Some("DISCOVER"),
        (_, 50 | 56..=59 | 67, _) => Some("MAESTRO"),
        (_, 62, _) => Some("UNIONPAY"),
        _ => None,
    }
}

/// Adds what belongs to this answer and no other: build, time, id of the request.
pub(super) fn stamped(mut answer: Value) -> Value {
    answer["buildNumber"] = json!(BUILD);
    answer["timestamp"] = json!(Utc::now().format("%Y-%m-%d %H:%M:%S%z").to_string());
    answer["ndc"] = json!(format!("{}-{}", new_id(), new_id()));
    answer
}

/// The `result` object.
pub(super) fn result(code: &str, description: &str) -> Value {
    json!({ "code": code, "description": description })
}

/// HTTP 400: a parameter is not as documented.
pub(super) fn invalid(invalid: &Invalid) -> Delivery {
    let mut answer = json!({ "result": result("200.300.404", &format!("invalid or missing parameter: {invalid}")) });
    answer["result"]["parameterErrors"] = json!([{ "name": invalid.name, "message": invalid.why }]);
    Delivery::Answer(400, stamped(answer))
}

/// HTTP 400: a request that failed without becoming a payment.
pub(super) fn failed(code: &str, description: &str) -> Delivery {
    Delivery::Answer(400, stamped(json!({ "result": result(code, description) })))
}

/// Too many requests (behaviour: Errors). The HTTP status is not documented; 400 as for everything that failed.
pub(super) fn throttled() -> Delivery {
    let description = "Too many requests. Please try again later.";
    Delivery::Answer(400, stamped(json!({ "id": new_id(), "result": result("800.120.100", description) })))
}

/// HTTP 401: no Authorization header, or none of the Bearer scheme.
pub(super) fn unauthorized() -> Delivery {
    Delivery::Answer(401, stamped(json!({ "result": result("800.900.300", "invalid authentication information") })))
}

/// HTTP 403: an access token, but a wrong one.
pub(super) fn forbidden() -> Delivery {
    Delivery::Answer(403, stamped(json!({ "result": result("800.900.300", "invalid access token") })))
}

/// HTTP 404: no such path, or no payment with this id.
pub(super) fn not_found() -> Delivery {
    Delivery::Answer(404, stamped(json!({ "result": result("700.400.580", "cannot find transaction or endpoint") })))
}

/// The answer of a query.
pub(super) fn list(payments: Vec<Value>) -> Delivery {
    Delivery::Answer(
        200,
        stamped(json!({ "result": result("000.000.100", "successful request"), "payments": payments })),
    )
}

/// 32 letters and digits.
pub(super) fn new_id() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    hex::encode(bytes)
}
