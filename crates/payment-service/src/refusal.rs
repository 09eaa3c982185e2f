//! The reasons for refusing a request: it is not as documented, the payment's state does not allow it, its id is
//! unknown, or the books cannot be written.

use serde_json::{Value, json};

use super::delivery::Delivery;
use super::envelope::{new_id, result};
use super::host_rules::HostRules;
use super::invalid::Invalid;

/// The reason for a refusal.
#[derive(Debug)]
pub(super) enum Refusal {
    /// A parameter is not as documented.
    Invalid(Invalid),
    /// The payment's state does not allow the request.
    Rule(Rule),
    /// The id in the path is unknown.
    NotFound,
    /// SQLite failed.
    Books(rusqlite::Error),
}

/// A violated rule about money, and the parameter that violates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub name: &'static str,
    pub code: &'static str,
    pub description: &'static str,
}

/// Makes the refusal for a violated rule.
pub(super) const fn rule(name: &'static str, code: &'static str, description: &'static str) -> Refusal {
    Refusal::Rule(Rule { name, code, description })
}

/// The refusal of a used reference (behaviour: Basic payment parameters, "should be unique"). The interface does not
/// document the code.
pub(super) const USED: Refusal =
    rule("merchantTransactionId", "700.300.700", "this merchantTransactionId was used before");

impl From<Invalid> for Refusal {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid)
    }
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        Self::Books(error)
    }
}

impl Refusal {
    /// Returns the reason to record in the books; `None` for an unknown id.
    pub(super) fn note(&self) -> Option<String> {
        match self {
            Self::Invalid(invalid) => Some(invalid.to_string()),
            Self::Rule(rule) => Some(format!("{}: {} {}", rule.name, rule.code, rule.description)),
            Self::NotFound | Self::Books(_) => None,
        }
    }

    /// Returns the answer to the client.
    pub(super) fn answer(&self, host_rules: HostRules) -> Delivery {
        match self {
            Self::Invalid(invalid) => not_as_documented(invalid, host_rules),
            Self::Rule(rule) => not_allowed(rule, host_rules),
            Self::NotFound => not_found(),
            Self::Books(error) => {
                tracing::error!("gateway: the ledger failed: {error}");
                Delivery::Raw(500, b"the simulated gateway cannot use its ledger file".to_vec())
            }
        }
    }
}

/// Makes the answer for HTTP 400: a parameter is not as documented.
fn not_as_documented(invalid: &Invalid, host_rules: HostRules) -> Delivery {
    let description = format!("invalid or missing parameter: {invalid}");
    about(result("200.300.404", &shortened(description)), &invalid.name, &invalid.why, host_rules)
}

/// Makes the answer for HTTP 400: a rule about money forbids the request.
fn not_allowed(rule: &Rule, host_rules: HostRules) -> Delivery {
    about(result(rule.code, rule.description), rule.name, rule.description, host_rules)
}

/// Adds the invalid parameter; the interface does not document where to name it.
fn about(mut result: Value, name: &str, message: &str, host_rules: HostRules) -> Delivery {
    if !host_rules.is_literal() {
        result["parameterErrors"] = json!([{ "name": name, "message": message }]);
    }
    Delivery::Answer(400, json!({ "result": result }))
}

/// Shortens a text to 255 characters, the maximum for `result.description`.
fn shortened(text: String) -> String {
    if text.chars().count() <= 255 { text } else { text.chars().take(252).chain("...".chars()).collect() }
}

/// Makes the answer for too many requests (behaviour: Errors). The interface does not document the HTTP status. It is
/// 400, as for every failure.
pub(super) fn throttled() -> Delivery {
    let description = "Too many requests. Please try again later.";
    Delivery::Answer(400, json!({ "id": new_id(), "result": result("800.120.100", description) }))
}

/// Makes the answer for HTTP 401: the Authorization header is missing or does not use the Bearer scheme.
pub(super) fn unauthorized() -> Delivery {
    Delivery::Answer(401, json!({ "result": result("800.900.300", "invalid authentication information") }))
}

/// Makes the answer for HTTP 403: the access token is wrong.
pub(super) fn forbidden() -> Delivery {
    Delivery::Answer(403, json!({ "result": result("800.900.300", "invalid access token") }))
}

/// Makes the answer for HTTP 404: the path or the id is unknown.
pub(super) fn not_found() -> Delivery {
    Delivery::Answer(404, json!({ "result": result("700.400.580", "cannot find transaction or endpoint") }))
}
