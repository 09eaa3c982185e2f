//! Why a request is not processed: it is not as documented, the state of what it refers to does not allow it, there is
//! no such thing, or the books cannot be written.

use super::answer;
use super::form::Invalid;
use super::host::Delivery;
use super::host_rules::HostRules;

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
            Self::Invalid(invalid) => answer::invalid(invalid, host_rules),
            Self::Rule(rule) => answer::failed(rule, host_rules),
            Self::NotFound => answer::not_found(),
            Self::Books(error) => {
                tracing::error!("gateway: the ledger failed: {error}");
                Delivery::Raw(500, b"the simulated gateway cannot use its ledger file".to_vec())
            }
        }
    }
}
