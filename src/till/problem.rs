//! The object that a till is answered with when its request is not carried out (RFC 9457).

pub use pos_till_api::problem::ProblemType;
use serde::{Deserialize, Serialize};

use super::ConfirmedView;

/// What a till is told when its request is not carried out: a problem details object (RFC 9457, 3).
///
/// Nothing was done and nothing was charged, but after `no-answer`: then the reference tells what became of it. There
/// is no `instance`: an occurrence is kept nowhere, and the terminal's log tells of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProblemView {
    /// The problem's type: `urn:pos-agent:problem:` and its `code`.
    #[serde(rename = "type")]
    pub type_uri: String,
    /// What it is; the same whenever it occurs.
    pub title: String,
    /// The HTTP status of the answer.
    pub status: u16,
    /// What is wrong this time and what to do, for people.
    pub detail: String,
    /// The last part of `type`, for programs: one word of a closed list that never changes its meaning.
    pub code: String,
    /// The field or the parameter of the request that is wrong, when it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The till of the transaction that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub till: Option<String>,
    /// The reference of the transaction that it is about: with `busy` the one that is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// After so many seconds it may be asked again, as `Retry-After` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u32>,
    /// With `supervisor-needed`: what a supervisor would confirm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_confirm: Option<ConfirmedView>,
}

impl ProblemView {
    /// One of which no more is known.
    pub fn new(problem: ProblemType, detail: impl Into<String>) -> Self {
        Self {
            type_uri: problem.type_uri().to_owned(),
            title: problem.title().to_owned(),
            status: problem.status(),
            detail: detail.into(),
            code: problem.code().to_owned(),
            field: None,
            till: None,
            reference: None,
            retry_after_s: None,
            to_confirm: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client that knows nothing of this program reads the members of RFC 9457, and the facts beside them.
    #[test]
    fn the_object_has_the_members_of_the_standard() {
        let view = ProblemView { retry_after_s: Some(1), ..ProblemView::new(ProblemType::TooManyRequests, "wait") };
        let wanted = serde_json::json!({
            "type": "urn:pos-agent:problem:too-many-requests", "title": "This caller asks too much at a time",
            "status": 429, "detail": "wait", "code": "too-many-requests", "retryAfterS": 1,
        });
        assert_eq!(serde_json::to_value(&view).unwrap(), wanted);
        assert_eq!(serde_json::from_value::<ProblemView>(wanted).unwrap(), view);
    }
}
