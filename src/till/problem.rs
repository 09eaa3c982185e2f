//! The object that answers a request that is not carried out (RFC 9457).

pub use pos_till_api::problem::ProblemType;
use serde::{Deserialize, Serialize};

use super::ConfirmedView;

/// The answer to a request that is not carried out: a problem details object (RFC 9457, 3).
///
/// The agent did nothing and charged nothing, except possibly after `no-answer`: then ask for the reference. There is
/// no `instance`: occurrences are not stored, but the terminal's log has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProblemView {
    /// The problem's type: `urn:pos-agent:problem:` and its `code`.
    #[serde(rename = "type")]
    pub type_uri: String,
    /// The title, the same for each occurrence.
    pub title: String,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The fault of this request and the remedy, for people.
    pub detail: String,
    /// The last part of `type`, for programs: a code of a closed list that never changes its meaning.
    pub code: String,
    /// The field or the parameter of the request that is wrong, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The till of the transaction concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub till: Option<String>,
    /// The reference of the transaction concerned; with `busy`, the one to wait for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The number of seconds after which the request may be repeated, like `Retry-After`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u32>,
    /// With `supervisor-needed`: the command for a supervisor to confirm.
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

    /// A client that only knows RFC 9457 reads its members, and the facts next to them.
    #[test]
    fn the_object_has_the_members_of_the_standard() {
        let view = ProblemView { retry_after_s: Some(1), ..ProblemView::new(ProblemType::TooManyRequests, "wait") };
        let wanted = serde_json::json!({
            "type": "urn:pos-agent:problem:too-many-requests", "title": "This caller sends too many requests at a time",
            "status": 429, "detail": "wait", "code": "too-many-requests", "retryAfterS": 1,
        });
        assert_eq!(serde_json::to_value(&view).unwrap(), wanted);
        assert_eq!(serde_json::from_value::<ProblemView>(wanted).unwrap(), view);
    }
}
