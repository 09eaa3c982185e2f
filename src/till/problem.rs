//! The object that answers a request that is not carried out (RFC 9457).

pub use pos_till_api::problem::ProblemType;
use serde::{Deserialize, Serialize};

use super::ConfirmedView;

/// The answer to a request that is not carried out, as a problem details object (RFC 9457, 3).
///
/// The agent did nothing and charged nothing, except possibly with `no-answer`. In that case, ask for the reference
/// again. There is no `instance`, because occurrences are only in the terminal's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProblemView {
    /// The problem's type: `urn:pos-agent:problem:` and its `code`.
    #[serde(rename = "type")]
    pub type_uri: String,
    /// The title, which is the same for each occurrence.
    pub title: String,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The fault in this request and the remedy, for people.
    pub detail: String,
    /// The last part of `type`, for programs. It is a code of a closed list and never changes its meaning.
    pub code: String,
    /// The field or parameter of the request that is wrong, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The till of the transaction that the problem concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub till: Option<String>,
    /// The reference of the transaction that the problem concerns. With `busy`, it is the transaction to wait for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The number of seconds after which the request may be repeated, like `Retry-After`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u32>,
    /// With `supervisor-needed`, the command that a supervisor must confirm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_confirm: Option<ConfirmedView>,
}

impl ProblemView {
    /// Creates a problem without further facts.
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

    /// Checks that a client that knows only RFC 9457 finds its members, and that the facts are next to them.
    #[test]
    fn the_object_has_the_members_of_the_standard() {
        let view = ProblemView { retry_after_s: Some(1), ..ProblemView::new(ProblemType::TooManyRequests, "wait") };
        let wanted = serde_json::json!({
            "type": "urn:pos-agent:problem:too-many-requests", "title": "This caller is sending too many requests at the same time",
            "status": 429, "detail": "wait", "code": "too-many-requests", "retryAfterS": 1,
        });
        assert_eq!(serde_json::to_value(&view).unwrap(), wanted);
        assert_eq!(serde_json::from_value::<ProblemView>(wanted).unwrap(), view);
    }
}
