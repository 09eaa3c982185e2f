//! The common parts of every answer: `result`, ids, time and build.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::delivery::Delivery;
use super::entry::State;

/// The value of `buildNumber` in every answer.
const BUILD: &str = concat!("pos-sim-", env!("CARGO_PKG_VERSION"));

/// Returns the code, description and state of an approval.
pub(super) fn approved(test_mode: Option<&str>) -> (&'static str, &'static str, State) {
    match test_mode {
        Some("EXTERNAL") => ("000.000.000", "Transaction succeeded", State::Approved),
        // INTERNAL is the default value (data-model: testMode).
        _ => ("000.100.110", "Request successfully processed in 'Merchant in Integrator Test Mode'", State::Approved),
    }
}

/// Makes the `result` object.
pub(super) fn result(code: &str, description: &str) -> Value {
    json!({ "code": code, "description": description })
}

/// Adds the fields that are unique to this answer: build, time, and request id.
pub(super) fn stamped(mut answer: Value, at: DateTime<Utc>) -> Value {
    answer["buildNumber"] = json!(BUILD);
    answer["timestamp"] = json!(at.format("%Y-%m-%d %H:%M:%S%z").to_string());
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    answer["ndc"] = json!(format!("{}-{}", hex::encode(&bytes[..16]), hex::encode(&bytes[16..])));
    answer
}

/// Merges the second JSON object into the first. For a field in both, the second value wins.
pub(super) fn add(answer: &mut Value, more: &Value) {
    match (answer, more) {
        (Value::Object(answer), Value::Object(more)) => {
            for (name, value) in more {
                add(answer.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (place, value) => *place = value.clone(),
    }
}

/// Writes the JSON text directly; `to_string` would use the slower formatter.
pub(super) fn text(answer: &Value) -> String {
    serde_json::to_string(answer).expect("a JSON value with text for keys can be written")
}

/// Makes an id of 32 letters and digits.
pub(super) fn new_id() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    hex::encode(bytes)
}

/// Makes the answer to a query.
pub(super) fn list(payments: Vec<Value>) -> Delivery {
    Delivery::Answer(200, json!({ "result": result("000.000.100", "successful request"), "payments": payments }))
}
