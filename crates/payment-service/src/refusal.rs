//! Why a request is not processed: it is not as documented, the state of what it refers to does not allow it, there is
//! no such thing, or the books cannot be written.

use serde_json::{Value, json};

use super::delivery::Delivery;
use super::envelope::{new_id, result};
use super::host_rules::HostRules;
use super::invalid::Invalid;

/// Why not.
#[derive(Debug)]
pub(super) enum Refusal {
    /// A parameter is not as documented.
    Invalid(Invalid),
    /// What it asks for is not allowed as things are.
    Rule(Rule),
    /// The id in the path names nothing.
    NotFound,
    /// SQLite failed.
    Books(rusqlite::Error),
}

/// A rule about money, and the parameter that breaks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub name: &'static str,
    pub code: &'static str,
    pub description: &'static str,
}

/// A broken rule.
pub(super) const fn rule(name: &'static str, code: &'static str, description: &'static str) -> Refusal {
    Refusal::Rule(Rule { name, code, description })
}

/// A reference that was used (behaviour: Basic payment parameters, "should be unique"). Which code says so is not
/// documented.
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
    /// What is noted about it; nothing of what names nothing.
    pub(super) fn note(&self) -> Option<String> {
        match self {
            Self::Invalid(invalid) => Some(invalid.to_string()),
            Self::Rule(rule) => Some(format!("{}: {} {}", rule.name, rule.code, rule.description)),
            Self::NotFound | Self::Books(_) => None,
        }
    }

    /// What is answered.
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

/// HTTP 400: a parameter is not as documented.
fn not_as_documented(invalid: &Invalid, host_rules: HostRules) -> Delivery {
    let description = format!("invalid or missing parameter: {invalid}");
    about(result("200.300.404", &shortened(description)), &invalid.name, &invalid.why, host_rules)
}

/// HTTP 400: a rule about money does not allow it.
fn not_allowed(rule: &Rule, host_rules: HostRules) -> Delivery {
    about(result(rule.code, rule.description), rule.name, rule.description, host_rules)
}

/// Which parameter failed; how that is answered is not documented.
fn about(mut result: Value, name: &str, message: &str, host_rules: HostRules) -> Delivery {
    if !host_rules.is_literal() {
        result["parameterErrors"] = json!([{ "name": name, "message": message }]);
    }
    Delivery::Answer(400, json!({ "result": result }))
}

/// `result.description` has up to 255 characters.
fn shortened(text: String) -> String {
    if text.chars().count() <= 255 { text } else { text.chars().take(252).chain("...".chars()).collect() }
}

/// Too many requests (behaviour: Errors). The HTTP status is not documented; 400 as for everything that failed.
pub(super) fn throttled() -> Delivery {
    let description = "Too many requests. Please try again later.";
    Delivery::Answer(400, json!({ "id": new_id(), "result": result("800.120.100", description) }))
}

/// HTTP 401: no Authorization header, or none of the Bearer scheme.
pub(super) fn unauthorized() -> Delivery {
    Delivery::Answer(401, json!({ "result": result("800.900.300", "invalid authentication information") }))
}

/// HTTP 403: an access token, but a wrong one.
pub(super) fn forbidden() -> Delivery {
    Delivery::Answer(403, json!({ "result": result("800.900.300", "invalid access token") }))
}

/// HTTP 404: no such path, or nothing with this id.
pub(super) fn not_found() -> Delivery {
    Delivery::Answer(404, json!({ "result": result("700.400.580", "cannot find transaction or endpoint") }))
}
